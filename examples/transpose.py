"""Transposing a sparse matrix with a few dense rows and columns on a parallel machine.

Each node of an interconnection network holds a block of rows, and is to hold the same block of columns: what a node has
for another one is one message. In a total exchange every node has one for every other. In a sparse matrix most of them
are empty, but a dense row has something for every node and a dense column something from every node. So the nodes
with dense rows carry out a partial exchange, those with dense columns a partial gather, and the others only pass
messages on. Each message must come from an active node of the exchange or go to an active node of the gather; the
fewest such nodes are a minimum vertex cover, which a maximum matching gives (Koenig).

    python examples/transpose.py
    python examples/transpose.py --matrix arrow.mtx --network array:8x8 torus:4x4x4
    python examples/transpose.py --control-time 1/4
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

import gossamer


def made_matrix(order: int, seed: int = 0) -> scipy.sparse.coo_array:
    """Return a matrix with two dense rows, three dense columns, and small blocks along the diagonal."""
    draw = np.random.default_rng(seed)
    dense = draw.choice(order, 5, replace=False)
    rows, columns = np.indices((order, order)).reshape(2, -1)
    kept = rows // 4 == columns // 4
    kept |= (np.isin(rows, dense[:2]) | np.isin(columns, dense[2:])) & (draw.random(rows.size) < 0.9)
    return scipy.sparse.coo_array((draw.random(int(kept.sum())), (rows[kept], columns[kept])), shape=(order, order))


def read_matrix(path: Path) -> scipy.sparse.coo_array:
    """Return the square matrix in a Matrix Market file, entries that are stored twice added up."""
    try:
        matrix = scipy.sparse.coo_array(scipy.io.mmread(path))
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not a Matrix Market file: {error}") from None
    matrix.sum_duplicates()
    if matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ValueError(f"{str(path)!r} holds a {matrix.shape[0]} x {matrix.shape[1]} matrix; it must be square")
    return matrix


def owners(order: int, nodes: int) -> np.ndarray:
    """Return the node that holds each row: blocks of equal size, but for one row."""
    return np.arange(order) * nodes // order


def active_sets(source: np.ndarray, target: np.ndarray, nodes: int) -> tuple[list[int], list[int]]:
    """Return the fewest active nodes of an exchange and of a gather that together carry all messages.

    A matching from sources to targets as large as can be; from the unmatched sources go along any message to targets
    and back along matched ones. The sources not reached and the targets reached are the cover.
    """
    graph = scipy.sparse.csr_array((np.ones(source.size), (source, target)), shape=(nodes, nodes))
    partner = maximum_bipartite_matching(graph, perm_type="column")  # of each source
    source_of = np.full(nodes, -1)
    source_of[partner[partner >= 0]] = np.flatnonzero(partner >= 0)
    found = [int(u) for u in np.flatnonzero((partner < 0) & (np.diff(graph.indptr) > 0))]
    reached, targets = set(found), set()
    while found:
        u = found.pop()
        for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist():
            if v not in targets:
                targets.add(v)
                if source_of[v] not in reached:
                    reached.add(int(source_of[v]))
                    found.append(int(source_of[v]))
    return [int(u) for u in np.flatnonzero(partner >= 0) if u not in reached], sorted(targets)


def arrivals(plan: gossamer.Outcome) -> dict[tuple[int, int], int]:
    """Replay a schedule and return where the message from each source to each target comes to rest."""
    schedule = plan.schedule
    at = schedule.packets.origin.copy()
    for link, packet in zip(schedule.link.tolist(), schedule.packet.tolist(), strict=True):
        if packet >= 0:
            at[packet] = schedule.network.link_target[link]
    n = schedule.network.node_count
    return {divmod(m, n): v for m, v in zip(schedule.packets.message.tolist(), at.tolist(), strict=True)}


def transposed(
    matrix: scipy.sparse.coo_array, owner: np.ndarray, plans: list[gossamer.Outcome]
) -> scipy.sparse.csr_array:
    """Return the matrix that the nodes hold after the messages arrived; entries that are lost or astray are missing."""
    where: dict[tuple[int, int], int] = {}
    for plan in plans:
        where |= arrivals(plan)
    i, j = matrix.coords
    ends = zip(owner[i].tolist(), owner[j].tolist(), strict=True)
    here = np.array([u == v or where.get((u, v)) == v for u, v in ends], bool)
    return scipy.sparse.csr_array((matrix.data[here], (j[here], i[here])), shape=matrix.shape[::-1])


def steps(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.2f}"


def run(matrix: scipy.sparse.coo_array, spec: str, control_time: Fraction) -> bool:
    """Transpose on one network, print what it takes, and say whether the result is right."""
    network = gossamer.network(spec)
    nodes, order = network.node_count, matrix.shape[0]
    owner = owners(order, nodes)
    i, j = matrix.coords
    key, entries = np.unique(owner[i].astype(np.int64) * nodes + owner[j], return_counts=True)
    source, target = np.divmod(key, nodes)
    leaves = source != target
    source, target, entries = source[leaves], target[leaves], entries[leaves]
    print(f"\n{network.spec}: {nodes} nodes, {-(-order // nodes)} rows of the matrix on a node at the most")
    most = entries.max(initial=0)
    print(f"{source.size} messages of {most} entries at the most; a total exchange has {nodes * (nodes - 1)}")
    cost = gossamer.StepCost(control_time)
    rows, columns = active_sets(source, target, nodes)
    plans = [
        gossamer.plan(network, gossamer.task(task, active=active), cost=cost)
        for task, active in (("partial-exchange", rows), ("partial-gather", columns))
        if active
    ]
    full = gossamer.plan(network, "total-exchange", rules=gossamer.Rules())
    counts = [len(active) for active in (rows, columns) if active]
    print(f"\n{'task':>18}  active  steps  lower bound  algorithm")
    for count, p in zip([*counts, nodes], [*plans, full], strict=True):
        times = f"{steps(p.completion_time):>5}  {steps(p.bound):>11}"
        print(f"{p.schedule.task.name:>18}  {count:>6}  {times}  {p.algorithm}")
    partial = sum((p.completion_time for p in plans), Fraction(0))
    print(f"\nby exchange and gather {steps(partial)} steps, by total exchange {steps(full.completion_time)}")
    right = (transposed(matrix, owner, plans) != scipy.sparse.csr_array(matrix.T)).nnz == 0
    print(f"transposed: {matrix.nnz} entries, {'all where they belong' if right else 'NOT all where they belong'}")
    return right


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="transpose.py", description=__doc__.splitlines()[0])
    parser.add_argument("--matrix", type=Path, metavar="FILE", help="a square matrix in a Matrix Market file")
    parser.add_argument("--network", nargs="+", default=["array:8x8", "torus:4x4x4"], metavar="SPEC")
    parser.add_argument("--control-time", default="0", metavar="FRACTION", help="steps of a control packet, 0 to 1")
    options = parser.parse_args(arguments)
    try:
        matrix = made_matrix(256) if options.matrix is None else read_matrix(options.matrix)
        control_time = gossamer.StepCost(options.control_time).control_time
        name = "a matrix made up" if options.matrix is None else str(options.matrix)
        print(f"{name}: order {matrix.shape[0]}, {matrix.nnz} entries")
        right = [run(matrix, spec, control_time) for spec in options.network]
        return 0 if all(right) else 1
    except (gossamer.GossamerError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
