"""Run a schedule or program file over sockets: all ranks on this machine, or one of them on a box of its own."""

from __future__ import annotations

import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import errors
from gossamer.errors import GossamerError, NetworkError, NotApplicableError
from gossamer.execution.sockets import Address, Addresses, SocketCollective, read_addresses
from gossamer.programs.files import MAGIC, description, read_rank
from gossamer.questions.tasks import task_from_dict
from gossamer.reading.files import read_bytes

__all__ = ["COLLECTIVES", "Collective", "Timing", "run_over_sockets"]

Rows = npt.NDArray[np.int64]
_Size = Callable[[int, bool], int]


@dataclass(frozen=True)
class Timing:
    """What running messages of one size came to.

    Attributes
    ----------
    message_bytes : int
        Bytes of a message.
    seconds : float
        The least time of all repetitions, of the slowest rank; of this rank where it runs alone.
    own_seconds : float or None
        The same of MPI's own collective; None where there is none.
    equal : bool or None
        Whether every rank got what it should, None where that was not asked for.
    """

    message_bytes: int
    seconds: float
    own_seconds: float | None = None
    equal: bool | None = None


@dataclass(frozen=True)
class Collective:
    """What a collective is among the members of a group.

    Attributes
    ----------
    given, got : callable
        Messages that a member brings and gets, by the number of members and whether it is the root.
    result : callable
        What a member gets, int64[got, elements]: of what all members give, int64[given, elements] each, the member's
        place among them, and the root's.
    """

    given: _Size
    got: _Size
    result: Callable[[list[Rows], int, int], Rows]


def _one(ranks: int, root: bool) -> int:
    return 1


def _each(ranks: int, root: bool) -> int:
    return ranks


def _one_at_root(ranks: int, root: bool) -> int:
    return int(root)


def _each_at_root(ranks: int, root: bool) -> int:
    return ranks if root else 0


def _sum(given: list[Rows]) -> Rows:
    total: Rows = np.sum(np.stack(given), axis=0)
    return total


COLLECTIVES = {
    "multinode-broadcast": Collective(_one, _each, lambda given, me, root: np.concatenate(given)),
    "total-exchange": Collective(_each, _each, lambda given, me, root: np.stack([rows[me] for rows in given])),
    "reduce-scatter": Collective(_each, _one, lambda given, me, root: _sum(given)[me : me + 1]),
    "allreduce": Collective(_each, _each, lambda given, me, root: _sum(given)),
    "partial-sum-allreduce": Collective(_one, _one, lambda given, me, root: _sum(given)),
    "broadcast": Collective(_one_at_root, _one, lambda given, me, root: given[root]),
    "reduce": Collective(_one, _one_at_root, lambda given, me, root: _sum(given) if me == root else given[me][:0]),
    "gather": Collective(
        _one, _each_at_root, lambda given, me, root: np.concatenate(given) if me == root else given[me][:0]
    ),
    "scatter": Collective(_each_at_root, _one, lambda given, me, root: given[root][me : me + 1]),
}
"""What is compared when a run is checked, by the name of the task."""


def _given(rank: int, messages: int, elements: int) -> Rows:
    """Return what a rank gives: numbers that every rank can draw again."""
    return np.random.default_rng(rank).integers(0, 2**40, (messages, elements))


def _wanted(task: dict[str, Any], ranks: int, rank: int, elements: int) -> Rows:
    """Return what a rank must get, int64[messages, elements]."""
    kind, root = COLLECTIVES[task["name"]], task.get("root", 0)
    groups = task.get("groups") or [list(range(ranks))]
    rows: list[Rows] = []
    sizes = [[kind.given(len(group), i == root) for i in range(len(group))] for group in groups]
    for g, group in enumerate(groups):
        if rank not in group:
            continue
        given = []
        for i, member in enumerate(group):
            inside = [(sizes[k][other.index(member)], k) for k, other in enumerate(groups) if member in other]
            whole = _given(member, sum(size for size, _ in inside), elements)
            first = sum(size for size, k in inside if k < g)
            given.append(whole[first : first + sizes[g][i]])
        rows.append(kind.result(given, group.index(rank), root))
    return np.concatenate(rows) if rows else np.empty((0, elements), np.int64)


def _run(
    program: str, rank: int, addresses: Addresses, elements: Sequence[int], repeat: int, check: bool, **how: Any
) -> list[Timing]:
    """Run a rank: for each number of elements, as often as asked."""
    told, mine = description(program), read_rank(program, rank)
    found = []
    with SocketCollective(program, rank, addresses, **how) as collective:
        for count in elements:
            given = _given(rank, mine.input_size // told["parts"], count)
            got = np.full((mine.output_size // told["parts"], count), -1, np.int64)
            seconds = float("inf")
            for _ in range(repeat):
                began = time.perf_counter()
                collective(
                    given if given.size else None, got if got.size else None, elements=count, dtype=np.dtype(np.int64)
                )
                seconds = min(seconds, time.perf_counter() - began)
            equal = bool(np.array_equal(got, _wanted(told["task"], told["ranks"], rank, count))) if check else None
            found.append(Timing(8 * count, seconds, None, equal))
    return found


def _child(pipe: Connection, program: str, rank: int, *how: Any, listener: socket.socket) -> None:
    """Run a rank in a process of its own, and tell what came of it."""
    try:
        pipe.send(_run(program, rank, *how, listener=listener))
    except GossamerError as error:
        pipe.send((type(error).__name__, str(error)))
    except KeyboardInterrupt:
        pass


def _all_here(program: str, ranks: int, *how: Any) -> list[Timing]:
    """Run all ranks on this machine, in a process each, over the loopback interface."""
    listeners = [socket.create_server(("127.0.0.1", 0), backlog=128) for _ in range(ranks)]
    addresses: dict[int, Address] = {rank: one.getsockname() for rank, one in enumerate(listeners)}
    context = multiprocessing.get_context("spawn")
    started = []
    try:
        for rank, listener in enumerate(listeners):
            here, there = context.Pipe()
            child = context.Process(
                target=_child, args=(there, program, rank, addresses, *how), kwargs={"listener": listener}, daemon=True
            )
            child.start()
            there.close()
            started.append((child, here))
        found = []
        for rank, (_, pipe) in enumerate(started):
            try:
                answer = pipe.recv()
            except EOFError:
                raise NetworkError(f"rank {rank} died") from None
            if isinstance(answer, tuple):
                raise getattr(errors, answer[0])(answer[1])
            found.append(answer)
    finally:
        for child, pipe in started:
            pipe.close()
            child.terminate() if len(started) < ranks or child.is_alive() else None
            child.join()
        for listener in listeners:
            listener.close()
    return [
        Timing(
            rows[0].message_bytes,
            max(row.seconds for row in rows),
            None,
            None if rows[0].equal is None else all(row.equal for row in rows),
        )
        for rows in zip(*found, strict=True)
    ]


def run_over_sockets(
    path: str | os.PathLike[str],
    sizes: Sequence[int] | None = None,
    *,
    check: bool = False,
    repeat: int = 5,
    rank: int | None = None,
    addresses: str | os.PathLike[str] | None = None,
    seconds: float = 60.0,
) -> tuple[str, int, list[Timing]]:
    """Run a schedule file or program file over TCP with real data.

    Parameters
    ----------
    path : path
        The file; of a network with switches, these are left out.
    sizes : sequence of int, optional
        Bytes of a message, rounded up to whole 8-byte integers. Default: those that a plan in seconds is for, else
        1 MiB.
    check : bool
        Whether to compare with what the collective is.
    repeat : int
        Repetitions.
    rank : int, optional
        The rank that this machine runs. Default: all, in a process each, over the loopback interface.
    addresses : path, optional
        Where the ranks are, as `gossamer.execution.sockets.read_addresses` reads it; with `rank`.
    seconds : float
        How long to wait for a rank that does not answer.

    Returns
    -------
    tuple of str, int, and list of Timing
        What was run, in words, the number of ranks, and a result for each size.

    Raises
    ------
    GossamerError
        If a file cannot be read, a rank cannot be reached or ends, or there is nothing to compare with.
    """
    if (rank is None) != (addresses is None):
        raise NotApplicableError(
            "one rank needs both its number and the addresses of all; without both, all ranks run here"
        )
    with tempfile.TemporaryDirectory(prefix="gossamer-") as folder:
        program, message = _program(path, Path(folder))
        told = description(program)
        name, ranks = told["task"]["name"], told["ranks"]
        if check and name not in COLLECTIVES:
            raise NotApplicableError(f"--check knows {', '.join(COLLECTIVES)}; {name} is none of them")
        elements = [max(1, -(-size // 8)) for size in sizes or [message]]
        how = elements, repeat, check
        if rank is not None and rank >= ranks:
            raise NetworkError(f"{told['network']} has ranks 0..{ranks - 1}, not {rank}")
        if rank is None or addresses is None:
            found = _all_here(program, ranks, *how)
        else:
            found = _run(program, rank, read_addresses(addresses, ranks), *how, seconds=seconds)
        return f"{task_from_dict(told['task']).describe()} on {told['network']}", ranks, found


def _program(path: str | os.PathLike[str], folder: Path) -> tuple[str, int]:
    """Return the program file of a schedule or program file, and the bytes of a message that it is for."""
    if read_bytes(path)[: len(MAGIC)] == MAGIC:
        return str(path), 2**20
    from gossamer.interchange.format import between_ranks
    from gossamer.programs import lower
    from gossamer.programs.files import write_program
    from gossamer.questions.costs import Clock
    from gossamer.schedules import load

    schedule = load(path)
    write_program(lower(between_ranks(schedule)), folder / "run.program")
    cost = schedule.cost
    return str(folder / "run.program"), cost.message_bytes if isinstance(cost, Clock) else 2**20
