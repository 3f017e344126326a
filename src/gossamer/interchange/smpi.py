"""Time-independent traces for SimGrid's SMPI, with a platform and the hosts: what ``smpirun -replay`` takes.

A slot is a number of receives and sends and a wait for all of them. ``trace.txt`` lists the files of the ranks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText
from gossamer.interchange.smpi_platform import write_platform
from gossamer.programs import SEND, Operations

__all__ = ["SMPI", "rank_rows"]

_TEXT = RowText("{0} irecv {1} 0 {2}\n", "{0} isend {1} 0 {2}\n", "{0} waitall\n", "{0} init\n", "{0} finalize\n")


def rank_rows(mine: Operations, part_bytes: int) -> bytes:
    """Return the trace of a rank.

    >>> import gossamer
    >>> program = gossamer.lower(gossamer.plan("array:2", "allgather").schedule)
    >>> rank_rows(program.rank(1), 100).decode().splitlines()
    ['1 init', '1 irecv 0 0 100', '1 isend 0 0 100', '1 waitall', '1 finalize']
    """
    # a slot begins with its receives and ends with a wait
    order = np.lexsort((mine.kind == SEND, mine.slot))
    slot, peer = mine.slot[order], mine.peer[order]
    last = np.flatnonzero(np.append(slot[1:] != slot[:-1], True)) if slot.size else np.zeros(0, np.intp)
    which = np.insert((mine.kind[order] == SEND).astype(np.int64), last + 1, 2)
    peers = np.insert(peer, last + 1, 0)
    which, peers = np.concatenate([[3], which, [4]]), np.concatenate([[0], peers, [0]])
    return b"".join(_TEXT.rows(which, [mine.rank, peers, part_bytes]))


def _write(plan: Plan, folder: Path) -> None:
    names = []
    for mine in plan.program:
        name = f"rank-{mine.rank}.txt"
        (folder / name).write_bytes(rank_rows(mine, plan.part_bytes))
        names.append(name)
    (folder / "trace.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    write_platform(plan.schedule.network, folder)


SMPI = Format("smpi", "traces and a platform for SimGrid's smpirun -replay", _write, folder=True, sized=True)
