"""``gossamer run``: what one of many ranks does."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gossamer.cli.console import print_json, progress
from gossamer.errors import GossamerError, NotApplicableError, ScheduleError
from gossamer.reading import whole

__all__ = ["run", "simulate"]


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
    from gossamer.execution.mpi.running import run_file

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


def simulate(
    file: Path,
    sizes: list[int],
    model: str,
    own: bool | list[str],
    words: dict[str, str | None],
    platform: Path | None,
    output: list[Path],
    json: bool,
) -> None:
    """Replay a schedule file in a model, for messages of several sizes, and print and draw the times."""
    from gossamer.execution import replay
    from gossamer.interchange.smpi import write_platform
    from gossamer.plots.drawing import picture_format
    from gossamer.reading.quantities import bandwidth, duration
    from gossamer.schedules import load
    from gossamer.writing import check_writable, whole_folder

    read = {"bandwidth": bandwidth, "latency": duration, "overhead": duration}
    machine = {name: None if text is None else float(read[name](text, f"--{name}")) for name, text in words.items()}
    for path in output:
        picture_format(path)
        check_writable(path)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        rows = replay.replay(schedule, sizes, model=model, own=own, say=stage, **machine)  # type: ignore[arg-type]
    text = f"{schedule.task.describe()} on {schedule.network.spec}"
    if platform is not None:
        with whole_folder(platform) as part:
            write_platform(schedule.network, part, machine["bandwidth"], machine["latency"])
    if output:
        from gossamer.plots.curves import draw_replays

        for path in output:
            draw_replays(rows, path, f"{text}, {model}")
    if json:
        print_json({"what": text, "model": model, "runs": [asdict(row) for row in rows]})
        return
    print(f"{text}, {schedule.slot_count} slots, {model}")
    _print_replays(rows)
    for made in ([] if platform is None else [platform]) + output:
        print(f"wrote {made}")


def _print_replays(rows: list[Any]) -> None:
    """Print a line for each size, or, beside MPI's own algorithms, a line for each of these and each size."""
    print(f"{'message':>14} {'simulated':>14} {'slots':>14} {'ratio':>7} {'/ bound':>8}" + "  by" * bool(rows[0].own))
    for row in rows:
        ratio = row.seconds / row.slots_seconds if row.slots_seconds else 1.0
        line = f"{row.message_bytes:>12,} B {_micro(row.seconds)} {_micro(row.slots_seconds)} {ratio:>7.3f} "
        print(line + _over(row.seconds, row.bound_seconds) + "  this schedule" * bool(row.own))
        known = sorted((t, name) for name, t in row.own.items() if t is not None)
        for seconds, name in known:
            print(f"{'':>14} {_micro(seconds)} {'':>14} {'':>7} {_over(seconds, row.bound_seconds)}  {name}")
        failed = [name for name, t in row.own.items() if t is None]
        if failed:
            print(f"{'':>14} SMPI fails with {', '.join(failed)}")


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:>11,.1f} us"


def _over(seconds: float, bound: float | None) -> str:
    return f"{seconds / bound:>8.3f}" if bound else f"{'':>8}"
