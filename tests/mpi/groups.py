"""What the ranks do: every schedule file that is named, beside MPI's own collectives in groups; see test_mpi.py."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import gossamer
from gossamer.errors import TaskError
from gossamer.execution import mpi
from gossamer.execution.mpi.run_file import run_file

comm = MPI.COMM_WORLD
for path in sys.argv[1:]:
    _, found = run_file(comm, path, [8, 1000], check=True, repeat=1)
    if comm.rank == 0:
        print(Path(path).stem, "equal" if all(row.equal for row in found) else "DIFFERENT")

# vectors that are no multiple of their groups, by the names of collectives; ranks of no group only pass on
groups = ((0, 3), (5, 4, 2))
mine = next((group for group in groups if comm.rank in group), ())
rng = np.random.default_rng(comm.rank)
vector = rng.random(7) if mine else None
total = np.zeros(7) if mine else None
allreduce = mpi.Allreduce(comm, "ring:6", groups=groups)
allreduce(vector, total, op=MPI.MAX)
every = comm.allgather(vector)
assert not mine or np.array_equal(total, np.max([every[v] for v in mine], axis=0))
block = np.zeros(3, np.int16)
scatter = mpi.Scatter(comm, "ring:6", groups=groups, root=1)
given = np.arange(3 * len(mine), dtype=np.int16) + 100 * comm.rank if mine and comm.rank == mine[1] else None
scatter(given, block if mine else None)
assert not mine or block.tolist() == [100 * mine[1] + 3 * mine.index(comm.rank) + i for i in range(3)]

# a type, a size or an operator of one rank that does not fit is told on all
with pytest.raises(TaskError, match="ranks have elements of types float32 and float64"):
    allreduce(vector if comm.rank != 3 else vector.astype("f4"), total if comm.rank != 3 else total.astype("f4"))
with pytest.raises(TaskError, match="rank 4: the elements of the send buffer are of type float64, of the receive"):
    allreduce(vector, total if comm.rank != 4 else total.astype("f4"))
pairs = np.zeros(7, [("a", "f4"), ("b", "f4")])
with pytest.raises(TaskError, match="rank 5: MPI cannot add elements of type"):
    allreduce(vector if comm.rank != 5 else pairs, total if comm.rank != 5 else pairs)

# a table of demands with a sum, at a rank that does not contribute
table = gossamer.questions.tasks.DemandTable.of([(1, [4, 5], 1)], [([0, 2], [1], 1), ([3, 5], [0, 3], 1)])
demands = mpi.MPICollective(comm, lambda: gossamer.plan("ring:6", table))
sizes = [(1, 1), (1, 1), (1, 0), (1, 1), (0, 1), (1, 1)][comm.rank]
given, got = (np.full(2 * size, 10**comm.rank) if size else None for size in sizes)
demands(given, got)
want = {0: [101000], 1: [101], 3: [101000], 4: [10], 5: [10]}.get(comm.rank)
assert want is None or got.tolist() == 2 * [100000 + 1000 if want == [101000] else want[0]]
comm.Barrier()
if comm.rank == 0:
    print("all is well")
