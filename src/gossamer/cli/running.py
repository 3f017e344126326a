"""``gossamer run``: what one of many ranks does."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gossamer.cli.console import print_json
from gossamer.errors import GossamerError, NotApplicableError, ScheduleError
from gossamer.reading import whole

__all__ = ["run"]


def run(file: Path, sizes: list[int], check: bool, repeat: int, nodes: Path | None, json: bool) -> int:
    """Run a schedule file on the ranks that this process is one of; return the exit status.

    What is wrong on all ranks is told once; what goes wrong on one ends all.
    """
    whole(repeat, "--repeat", 1, error=ScheduleError)
    try:
        from mpi4py import MPI
    except ImportError:
        raise NotApplicableError("gossamer run needs MPI for Python: pip install 'gossamer[mpi]'") from None
    except RuntimeError as error:
        raise NotApplicableError(f"MPI cannot be loaded: {str(error).splitlines()[0]}") from None
    from gossamer.mpi.running import run_file

    comm = MPI.COMM_WORLD
    try:
        text, found = run_file(comm, file, sizes, check=check, repeat=repeat, nodes=nodes)
    except GossamerError:  # raised on all ranks
        if comm.rank == 0:
            raise
        return 2
    except BaseException as error:
        print(f"gossamer: rank {comm.rank}: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        sys.stderr.flush()
        comm.Abort(2)
        raise
    if comm.rank == 0:
        _print(text, comm.size, found, json)
    return 0 if all(row.equal is not False for row in found) else 1


def _print(text: str, ranks: int, found: list[Any], json: bool) -> None:
    if json:
        print_json({"what": text, "ranks": ranks, "runs": [asdict(row) for row in found]})
        return
    print(f"{text}, {ranks} ranks")
    compared = any(row.equal is not None for row in found)
    print(f"{'message':>14} {'time':>12}" + (f" {'own of MPI':>12} {'ratio':>7}  bytes" if compared else ""))
    for row in found:
        line = f"{row.message_bytes:>12,} B {row.seconds * 1e6:>9,.1f} us"
        if row.equal is not None:
            ratio = row.own_seconds / row.seconds
            line += f" {row.own_seconds * 1e6:>9,.1f} us {ratio:>7.2f}  {'equal' if row.equal else 'DIFFERENT'}"
        print(line)
