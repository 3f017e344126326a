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


def simulate(file: Path, sizes: list[int], model: str, machine: tuple[str, str, str], json: bool) -> None:
    """Replay a schedule file in a model, for messages of several sizes, and print the times."""
    from gossamer import runtime
    from gossamer.programs import lower
    from gossamer.reading.quantities import bandwidth, duration
    from gossamer.schedules import load

    rate = float(bandwidth(machine[0], "--bandwidth"))
    latency, overhead = (
        float(duration(t, name)) for t, name in zip(machine[1:], ("--latency", "--overhead"), strict=True)
    )
    if model == "smpi" and overhead:
        raise ScheduleError("--overhead goes with --model loggp")
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        program = lower(schedule)
        rows = []
        for size in sizes:
            stage(f"replaying {size:,} bytes")
            block = -(-size // program.parts)
            slots = schedule.slot_count * (block / rate + latency)
            if model == "smpi":
                seconds = runtime.smpi_time(program, block, bandwidth=rate, latency=latency)
            else:
                # a block of b bytes takes b bytes of time on a link, and a link is free again after its latency
                seconds = runtime.loggp_time(
                    program, block + 1, L=latency, o=overhead, g=block / rate + latency, G=1 / rate
                )
            rows.append({"message_bytes": size, "seconds": seconds, "slots_seconds": slots})
    text = f"{schedule.task.describe()} on {schedule.network.spec}"
    if json:
        print_json({"what": text, "model": model, "runs": rows})
        return
    print(f"{text}, {schedule.slot_count} slots, {model}")
    print(f"{'message':>14} {'simulated':>14} {'slots':>14} {'ratio':>7}")
    for row in rows:
        ratio = row["seconds"] / row["slots_seconds"] if row["slots_seconds"] else 1.0
        times = f"{row['seconds'] * 1e6:>11,.1f} us {row['slots_seconds'] * 1e6:>11,.1f} us"
        print(f"{row['message_bytes']:>12,} B {times} {ratio:>7.3f}")
