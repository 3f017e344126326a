"""What 16 ranks do: every collective on several networks, equal to MPI's own; started by test_mpi.py."""

from __future__ import annotations

import array
import sys

import numpy as np
import pytest
from mpi4py import MPI

import gossamer
from gossamer.errors import GossamerError, ModelError, NetworkError, TaskError
from gossamer.execution import mpi

comm = MPI.COMM_WORLD
n, me = comm.size, comm.rank
rng = np.random.default_rng(me)
done = 0


def same(got, want, what):
    global done
    equal = bool(comm.allreduce(int(np.array_equal(got, want)), op=MPI.MIN))
    assert equal, f"{what}: rank {me} got {got}, wants {want}"
    done += 1


def refused(kind, words, work):
    """Every rank must raise the same error."""
    global done
    with pytest.raises(kind, match=words):
        work()
    done += 1


def fresh(*shape, dtype=np.int64):
    return rng.integers(0, 100, shape).astype(dtype)


def every_collective(network, size, **choices):
    mine, vectors = fresh(size), fresh(n, size)
    got, want = np.zeros((n, size), np.int64), np.zeros((n, size), np.int64)
    comm.Allgather(mine, want)
    mpi.Allgather(comm, network, **choices)(mine, got)
    same(got, want, f"allgather on {network}")
    comm.Alltoall(vectors, want)
    mpi.Alltoall(comm, network)(vectors, got)
    same(got, want, f"alltoall on {network}")
    one, other = np.zeros(size, np.int64), np.zeros(size, np.int64)
    comm.Reduce_scatter_block(vectors, other)
    mpi.ReduceScatter(comm, network, **choices)(vectors, one)
    same(one, other, f"reduce-scatter on {network}")
    comm.Allreduce(vectors, want, op=MPI.MAX)
    mpi.Allreduce(comm, network, **choices)(vectors, got, op=MPI.MAX)
    same(got, want, f"allreduce on {network}")
    for root in (0, n - 1):
        comm.Reduce(mine, other, root=root)
        one[:] = other if me != root else 0
        mpi.Reduce(comm, network, root=root)(mine, one if me == root else None)
        same(one, other, f"reduce on {network}")
        buffer = mine.copy()
        mpi.Broadcast(comm, network, root=root)(buffer)
        same(buffer, comm.bcast(mine, root), f"broadcast on {network}")
        mpi.Gather(comm, network, root=root)(mine, got if me == root else None)
        comm.Gather(mine, want if me == root else None, root)
        same(got if me == root else 0, want if me == root else 0, f"gather on {network}")
        mpi.Scatter(comm, network, root=root)(vectors if me == root else None, one)
        comm.Scatter(vectors if me == root else None, other, root)
        same(one, other, f"scatter on {network}")


every_collective("torus:4x4", 5)
every_collective("hypercube:4", 6, rules=gossamer.Rules(split=True))  # parts that do not divide the message

# an irregular network, known on rank 0 only
graph = None
if me == 0:
    import networkx as nx

    graph = gossamer.network(nx.random_regular_graph(3, n, seed=1))
mine = fresh(3)
got, want = np.zeros((n, 3), np.int64), np.zeros((n, 3), np.int64)
comm.Allgather(mine, want)
irregular = mpi.Allgather(comm, graph if me == 0 else "")
irregular(mine, got)
same(got, want, "allgather on an irregular network")
irregular(mine, got)  # again, with what was prepared

# persistent, with other data each time
allreduce = mpi.Allreduce(comm, "torus:4x4")
vector, total, own = fresh(35), np.zeros(35, np.int64), np.zeros(35, np.int64)  # not a multiple of the ranks
execution = allreduce.init(vector, total)
for _ in range(3):
    vector[:] = fresh(35)
    execution.start()
    execution.wait()
    comm.Allreduce(vector, own)
    same(total, own, "persistent allreduce")
refused(ModelError, "has not been started", execution.wait)
execution.free()

# other types: structured elements move, complex ones are added, an operator of the user's combines
pairs = np.zeros(2, [("a", "i4"), ("b", "f8")])
pairs["a"] = me
all_pairs, want_pairs = np.zeros((n, 2), pairs.dtype), np.zeros((n, 2), pairs.dtype)
want_pairs["a"] = np.arange(n)[:, None]
mpi.Allgather(comm, "torus:4x4")(pairs, all_pairs)
same(all_pairs, want_pairs, "structured elements")
letters, gathered = array.array("b", [me, 2 * me]), bytearray(2 * n)
mpi.Allgather(comm, "torus:4x4")(letters, gathered)
same(np.frombuffer(gathered, np.uint8), np.repeat(np.arange(n), 2) * np.tile([1, 2], n), "buffers of Python")
numbers, sums = fresh(n).astype(complex), np.zeros(n, complex)
allreduce(numbers, sums)
same(sums, sum(comm.allgather(numbers)), "complex sums")


def largest(given, total, datatype):
    one, other = (np.frombuffer(b, np.int64) for b in (given, total))
    np.maximum(one, other, out=other)


combine = MPI.Op.Create(largest, commute=True)
allreduce(vector, total, op=combine)
comm.Allreduce(vector, own, op=MPI.MAX)
same(total, own, "an operator of the user's")
bad = MPI.Op.Create(largest, commute=False)
refused(ModelError, "must be commutative", lambda: allreduce(vector, total, op=bad))

# groups: every other rank, with a network of its own; and a group among all
half = comm.Split(0 if me % 2 == 0 else MPI.UNDEFINED, me)
parts = np.zeros((8, 3), np.int64)
if half != MPI.COMM_NULL:
    mpi.Allgather(half, "hypercube:3")(mine, parts)
same(parts, np.array(half.allgather(mine)) if me % 2 == 0 else 0 * parts, "a communicator of half the ranks")
active = (5, 6, 9, 10)


def group():
    return gossamer.plan("array:4x4", gossamer.task("group-multinode-broadcast", active=active))


some = np.zeros((4, 3), np.int64)
mpi.MPICollective(comm, group)(mine if me in active else None, some if me in active else None)
theirs = np.array([comm.bcast(mine, a) for a in active])
same(some if me in active else 0, theirs if me in active else 0, "a group")

# ranks that run other nodes, and a Cartesian communicator
nodes = [(7 * r + 3) % n for r in range(n)]
mpi.Allgather(comm, "torus:4x4", nodes=nodes)(mine, got)
comm.Allgather(mine, want)
same(got, want, "ranks that run other nodes")
buffer = mine.copy()
mpi.Broadcast(comm, "torus:4x4", nodes=nodes, root=2)(buffer)
same(buffer, comm.bcast(mine, 2), "a root that runs another node")
grid = comm.Create_cart([4, 4], [True, True])
mpi.Allgather(grid)(mine, got)
same(got, want, "a Cartesian communicator")

# what is wrong is told on every rank
refused(NetworkError, "torus:4x8 has 32 nodes; there are 16 ranks", lambda: mpi.Allgather(comm, "torus:4x8"))
refused(GossamerError, "did you mean 'torus'", lambda: mpi.Allgather(comm, "tours:4x4"))
refused(NetworkError, "name the network", lambda: mpi.Allgather(comm))
refused(NetworkError, "every node of torus:4x4 once", lambda: mpi.Allgather(comm, "torus:4x4", nodes=[0] * n))
refused(GossamerError, "a switch runs no rank", lambda: mpi.Allgather(comm, "fat-tree:k=2,h=3,capacity=constant"))
gather = mpi.Allgather(comm, "torus:4x4")
wrong, longer, strided = got.ravel()[1:], 2 + (me == 4), np.zeros((3, 2), np.int64)[:, 0]
refused(TaskError, "rank 3: the receive buffer", lambda: gather(mine, wrong if me == 3 else got))
refused(TaskError, "ranks have messages", lambda: gather(fresh(longer), np.zeros(n * longer, np.int64)))
refused(TaskError, "rank 0: the elements of the send buffer must lie", lambda: gather(mine if me else strided, got))

comm.Barrier()
if me == 0:
    print(f"{done} checks passed")
sys.stdout.flush()
