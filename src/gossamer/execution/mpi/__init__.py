"""Collectives over MPI that carry out verified schedules.

They need the extra `mpi` (mpi4py, and the wheel of an MPI for those who have none). One rank plans; every rank gets its
own operations. Nothing here imports MPI before it is used.
"""

from __future__ import annotations

from gossamer.execution.executor import Execution
from gossamer.execution.mpi.collectives import (
    Allgather,
    Allreduce,
    Alltoall,
    Broadcast,
    Gather,
    MPICollective,
    Reduce,
    ReduceScatter,
    Scatter,
)

__all__ = [
    "Allgather",
    "Allreduce",
    "Alltoall",
    "Broadcast",
    "Execution",
    "Gather",
    "MPICollective",
    "Reduce",
    "ReduceScatter",
    "Scatter",
]
