"""MPI's own collectives in SimGrid's SMPI: what a rank's trace says of them, and the algorithms that SMPI knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gossamer.errors import NotApplicableError
from gossamer.tasks import (
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

__all__ = ["SELECTORS", "Own", "own_collective"]

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
"""How four MPI libraries choose an algorithm by the size, as SMPI imitates them."""


class Own(NamedTuple):
    """A collective of MPI in a trace.

    Attributes
    ----------
    name : str
        What SMPI's settings call it.
    action : callable
        Takes the number of ranks, the bytes of a message and the root, and gives the words after the rank.
    algorithms : tuple of str
        What SMPI knows for it.
    """

    name: str
    action: Callable[[int, int, int], str]
    algorithms: tuple[str, ...]


_REDUCTION = " 0"  # computing takes no time
_KNOWN: dict[type[Task], Own] = {
    MultinodeBroadcast: Own(
        "allgather", lambda n, size, root: f"allgather {size} {size}",
        ("ring", "rdb", "bruck", "pair", "NTSLR", "NTSLR_NB", "GB", "rhv", "spreading_simple", "loosely_lr",
         "ompi_neighborexchange"),
    ),
    TotalExchange: Own(
        "alltoall", lambda n, size, root: f"alltoall {size} {size}",
        ("basic_linear", "pair", "ring", "bruck", "rdb", "2dmesh", "3dmesh", "pair_light_barrier", "pair_one_barrier",
         "ring_light_barrier", "mvapich2_scatter_dest"),
    ),
    Allreduce: Own(
        "allreduce", lambda n, size, root: f"allreduce {n * size}{_REDUCTION}",
        ("lr", "rab1", "rab2", "rab", "rab_rdb", "rdb", "redbcast", "ompi_ring_segmented", "mvapich2_rs",
         "smp_binomial", "smp_rdb", "smp_rsag", "smp_rsag_lr"),
    ),
    ReduceScatter: Own(
        "reduce_scatter", lambda n, size, root: f"reducescatter {' '.join([str(size)] * n)}{_REDUCTION}",
        ("mpich_pair", "mpich_rdb", "mpich_noncomm", "ompi_basic_recursivehalving", "ompi_ring"),
    ),
    Broadcast: Own(
        "bcast", lambda n, size, root: f"bcast {size} {root}",
        ("binomial_tree", "flattree", "flattree_pipeline", "scatter_LR_allgather", "scatter_rdb_allgather",
         "ompi_pipeline", "ompi_split_bintree", "SMP_binary", "SMP_linear"),
    ),
    Reduce: Own(
        "reduce", lambda n, size, root: f"reduce {size}{_REDUCTION} {root}",
        ("binomial", "flat_tree", "scatter_gather", "ompi_chain", "ompi_pipeline", "ompi_binary", "rab"),
    ),
    Gather: Own(
        "gather", lambda n, size, root: f"gather {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial", "ompi_linear_sync"),
    ),
    Scatter: Own(
        "scatter", lambda n, size, root: f"scatter {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial"),
    ),
}  # fmt: skip


def own_collective(task: Task) -> Own:
    """Return what MPI has for a task; NotApplicableError if there is no such thing.

    >>> import gossamer
    >>> own_collective(gossamer.task("allgather")).action(64, 100, 0)
    'allgather 100 100'
    """
    found = _KNOWN.get(type(task))
    if found is None:
        raise NotApplicableError(
            f"MPI has no collective for {task.name}, so that there is nothing of its own to replay"
        )
    return found
