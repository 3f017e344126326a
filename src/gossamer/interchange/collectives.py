"""What the chunks of a collective are here: tasks with their packets, for formats that number chunks in buffers.

A *place* is a chunk of a rank's input or output, numbered as the formats do: an input that is for all ranks, or an
output from all, has those of rank 0 first, then those of rank 1, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gossamer.errors import FileFormatError, nearest
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Gather,
    MultinodeBroadcast,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)

__all__ = ["COLLECTIVES", "Collective", "collective"]


@dataclass(frozen=True)
class Collective:
    """A collective on n ranks, with messages in k chunks.

    Attributes
    ----------
    task : callable
        Takes the root and gives the task.
    key : callable
        Takes rank, place in the input, n and k, and gives message and part; of reductions the part of all chunks.
    goal : callable
        Takes rank, n, k and root, and gives the keys that the rank's output must have, in the order of places.
    wide_input, wide_output : bool
        Whether an input or output has k chunks for each rank, or k chunks.
    reduces : bool
        Whether contributions are added.
    root_input, root_output : bool
        Whether only the root has an input or output.
    """

    task: Callable[[int], Task]
    key: Callable[[int, int, int, int], tuple[int, int]]
    goal: Callable[[int, int, int, int], list[tuple[int, int]]]
    wide_input: bool = False
    wide_output: bool = False
    reduces: bool = False
    root_input: bool = False
    root_output: bool = False


def _all_of(n: int, k: int) -> list[tuple[int, int]]:
    return [(u, j) for u in range(n) for j in range(k)]


COLLECTIVES = {
    "allgather": Collective(
        lambda root: MultinodeBroadcast(), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True,
    ),
    "alltoall": Collective(
        lambda root: TotalExchange(), lambda v, i, n, k: (v * n + i // k, i % k),
        lambda v, n, k, root: [(u * n + v, j) for u, j in _all_of(n, k)], wide_input=True, wide_output=True,
    ),
    "reduce_scatter": Collective(
        lambda root: ReduceScatter(), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)], wide_input=True, reduces=True,
    ),
    "allreduce": Collective(
        lambda root: Allreduce(), lambda v, i, n, k: (0, i),
        lambda v, n, k, root: [(0, i) for i in range(n * k)], wide_input=True, wide_output=True, reduces=True,
    ),
    "broadcast": Collective(
        lambda root: Broadcast(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: [(root, j) for j in range(k)],
        root_input=True,
    ),
    "reduce": Collective(
        lambda root: Reduce(root), lambda v, i, n, k: (0, i), lambda v, n, k, root: [(0, j) for j in range(k)],
        reduces=True, root_output=True,
    ),
    "scatter": Collective(
        lambda root: Scatter(root), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)],
        wide_input=True, root_input=True,
    ),
    "gather": Collective(
        lambda root: Gather(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True, root_output=True,
    ),
}  # fmt: skip
"""The collectives that can be read, by the names of the formats."""


def collective(name: str, file: str) -> Collective:
    """Return the collective of a name in any spelling; FileFormatError if it is none that can be judged.

    >>> collective("AllGather", "x.xml").wide_output
    True
    """
    plain = {key.replace("_", ""): value for key, value in COLLECTIVES.items()}
    found = plain.get(name.lower().replace("_", "").replace("-", ""))
    if found is None:
        hint = nearest(name, COLLECTIVES) or f"; there are: {', '.join(COLLECTIVES)}"
        raise FileFormatError(f"{file!r} is of collective {name!r}, which has no task here{hint}")
    return found
