"""``gossamer compile``: everything that is compiled once, compiled beforehand, such as while a container is built."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

import typer

from gossamer.cli.options import Json

__all__ = ["command"]

_NETWORKS = ("torus:4x4", "array:3x4", "hypercube:3", "star:4", "fat-tree:2,2", "leaf-spine:2,2,1", "kautz:2,2")
_TASKS = (
    *("broadcast", "scatter", "gather", "allgather", "alltoall", "reduce", "reduce-scatter", "allreduce"),
    *("partial-multinode-broadcast --active 0,1,3", "partial-exchange --active 0,1,3", "permutation --pattern random"),
    *("neighbor-exchange", "uneven-exchange --traffic zipf"),
)
_OTHERS = (
    "plan torus:4x4 allgather --ports one",
    "plan torus:4x4 allgather --segmented",
    "plan torus:4x4 allgather --buffer 3",
    "plan ring:4 allreduce --bytes 64kB --bandwidth 50GB/s --latency 2us",
    "plan torus:4x4 alltoall --stream",
    "compare torus:4x4 alltoall",
    "compare array:4x4 permutation --pattern random",
    "compare torus:4x4 allgather --switching wormhole",
    "compare torus:4x4 alltoall --switching wormhole",
    "compare torus:4x4 broadcast --switching wormhole",
    "plan kautz:2,2 alltoall --switching wormhole",
    "simulate arrivals torus:4x4 --load 0.5 --steps 200",
    "simulate arrivals torus:4x4 --load 0.2 --steps 200 --arrivals on-off",
    "simulate traffic torus:4x4 --load 0.2 --measured 200",
    "simulate traffic kautz:2,2 --load 0.2 --measured 200",
    "deadlock torus:4x4",
    "network torus:4x4",
    "design --nodes 16 --degree 4 --budget 1",
)


def command(
    context: typer.Context,
    json: Json = False,
) -> None:
    """Compile beforehand what is compiled when it is first used, such as while a container is built."""
    from gossamer.cli.console import print_json, progress
    from gossamer.jit import telling, uninterpreted

    made: list[str] = []
    began = time.monotonic()
    lines = [f"plan {network} {task}" for task in _TASKS for network in _NETWORKS] + list(_OTHERS)
    with progress() as stage, uninterpreted():
        for i, line in enumerate(lines):
            stage(f"{i + 1} of {len(lines)}: {line}")
            with telling(lambda name, seconds: made.append(name)):
                _carry_out(context.find_root().command, line)
    seconds = time.monotonic() - began
    if json:
        print_json({"compiled": len(made), "seconds": round(seconds, 1)})
    else:
        print(f"compiled {len(made)} kernels in {seconds:.0f} s; those that were kept already were not compiled again")


def _carry_out(root: Any, line: str) -> None:
    """Carry out a command, and print nothing; one that is refused compiles nothing."""
    from gossamer.errors import GossamerError

    with suppress(GossamerError), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        root.main(args=line.split(), prog_name="gossamer", standalone_mode=False)
