"""Uneven counts, tables of demands, groups, and several collectives at once in bytes: time beside bound and optimum.

    python benchmarks/bench_uneven_sizes.py [--only WORD] [--task TASK ...] [--bytes SIZE ...]

The optimum is that of an independent linear program, for messages that are cut as finely as wanted: what must get to
each target is a flow, and the flows of one collective that carry the same data share a link's bandwidth. Of sums every
rank but one must come to some rank, as switches do not add. A mark stands where 1.02 x the optimum is missed at 1 GiB,
or 1.15 x the bound at 1 MiB; the last line counts them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import networkx as nx
import numpy as np
from bench_every_size import LIMITS, SIZES, balance, speeds, terminals
from machines import machines, speeded
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack, kron

import gossamer
from gossamer.networks import from_networkx
from gossamer.questions.tasks import DemandTable, Grouped, Task, Together
from gossamer.reading.quantities import size as byte_count

Family = np.ndarray
"""Flows that may carry the same data, float64[k, terminals]: what each terminal sends, less what it takes, in each."""


def optimum(graph: nx.DiGraph, families: list[Family]) -> float:
    """Return the least seconds in which all families can be carried, of messages of a GB."""
    ends, every, links = terminals(graph), list(graph), speeds(graph)
    place = [every.index(v) for v in ends]
    supplies = np.zeros((sum(map(len, families)), len(every)))
    supplies[:, place] = np.concatenate(families)
    kinds, count = len(supplies), len(links)
    shared = [f for f in families if len(f) > 1]  # these have a load of their own on each link
    extra = count * len(shared)
    conserved = hstack([kron(eye_array(kinds), balance(graph)), coo_array((kinds * len(every), extra + 1))])
    rows, first, loads, least = list[Any](), 0, list[Family](), list[float]()
    for f in families:
        if len(f) > 1:
            for k in range(first, first + len(f)):
                flow = coo_array(
                    (np.ones(count), (np.arange(count), k * count + np.arange(count))), (count, kinds * count)
                )
                own = coo_array(
                    (-np.ones(count), (np.arange(count), len(loads) * count + np.arange(count))), (count, extra)
                )
                rows.append(hstack([flow, own, coo_array((count, 1))]))
                least += [0.0] * count
            if (f > 0).sum(axis=1).max() == 1:  # of a reduction: so much comes into ranks, as only these add
                into = np.array([-1.0 if graph.nodes[v].get("terminal", True) else 0.0 for _, v in graph.edges])
                own = coo_array((into, (np.zeros(count, int), len(loads) * count + np.arange(count))), (1, extra))
                rows.append(hstack([coo_array((1, kinds * count)), own, coo_array((1, 1))]))
                least.append(-f[f > 0].sum())
            loads.append(f)
        first += len(f)
    alone = np.concatenate([np.full(len(f), float(len(f) == 1)) for f in families])[None, :]
    total = hstack(
        [kron(alone, eye_array(count)), kron(np.ones((1, len(shared))), eye_array(count)), coo_array(-links[:, None])]
        if shared
        else [kron(alone, eye_array(count)), coo_array(-links[:, None])]
    )
    limits = block_array([[row] for row in (*rows, total)], format="csr")
    cost = np.zeros(kinds * count + extra + 1)
    cost[-1] = 1
    told = linprog(
        cost, csr_array(limits), np.array(least + [0.0] * count), csr_array(conserved), supplies.ravel(), method="highs"
    )
    return float(told.fun)


def gathered(counts: np.ndarray, ranks: list[int], size: int) -> Family:
    """Return the flows to each rank of what the others have: one family, as copies may be made anywhere."""
    found = np.zeros((len(ranks), size))
    for row, v in enumerate(ranks):
        found[row, ranks] = counts
        found[row, v] = counts[ranks.index(v)] - counts.sum()
    return found


def exchanged(table: np.ndarray) -> list[Family]:
    """Return the flows from each origin, each a family of its own."""
    own = np.diag(table.sum(axis=1)) - table
    return [row[None, :].astype(float) for row in own if row.any()]


def questions(n: int) -> dict[str, tuple[Task, list[Family]]]:
    """Return the tasks for so many terminals, and their flows in messages."""
    draw = np.random.default_rng(n)
    counts, rank = draw.integers(1, 9, n), np.arange(n)
    table = draw.integers(0, 5, (n, n)) * (rank[:, None] != rank)
    sparse = table * (draw.random((n, n)) < 0.2)
    rooted = np.where(rank == 0, 0, counts)
    into = np.where(rank == 0, -rooted.sum(), rooted)[None, :].astype(float)
    unequal = [list(range(n // 4)), list(range(n // 4, n))]
    over = [list(range(n // 2 + 2)), list(range(n // 2 - 2, n))]
    half = [list(range(0, n, 2)), list(range(1, n, 2))]
    ones = {k: np.ones(k) for k in range(n + 1)}

    def grouped(name: str, groups: list[list[int]]) -> Task:
        return Grouped(gossamer.task(name), groups)

    def all_to_all(groups: list[list[int]]) -> list[Family]:
        found = np.zeros((n, n))
        for group in groups:
            found[np.ix_(group, group)] += 1 - np.eye(len(group))
        return exchanged(found)

    gathers = {
        name: [gathered(ones[len(g)], g, n) for g in groups]
        for name, groups in (("u", unequal), ("o", over), ("h", half))
    }
    demands = [(int(u), [int(v)], int(sparse[u, v])) for u, v in np.argwhere(sparse)]
    return {
        "allgatherv": (gossamer.task("allgatherv", counts=counts.tolist()), [gathered(counts, list(rank), n)]),
        "reduce-scatterv": (
            gossamer.task("reduce-scatterv", counts=counts.tolist()),
            [-gathered(counts, list(rank), n)],
        ),
        "gatherv": (gossamer.task("gatherv", counts=rooted.tolist()), [into]),
        "scatterv": (gossamer.task("scatterv", counts=rooted.tolist()), [-into]),
        "alltoallv": (gossamer.task("alltoallv", counts=table.tolist()), exchanged(table)),
        "demands": (DemandTable.of(demands), exchanged(sparse)),
        "allgather, unequal groups": (grouped("allgather", unequal), gathers["u"]),
        "allgather, overlapping": (grouped("allgather", over), gathers["o"]),
        "reduce-scatter, unequal": (grouped("reduce-scatter", unequal), [-f for f in gathers["u"]]),
        "alltoall, unequal groups": (grouped("alltoall", unequal), all_to_all(unequal)),
        "alltoall, overlapping": (grouped("alltoall", over), all_to_all(over)),
        "allgather and alltoall": (
            Together([grouped("allgather", half), gossamer.task("alltoall")]),
            [*gathers["h"], *all_to_all([list(rank)])],
        ),
        "reduce-scatter and allgather": (
            Together([gossamer.task("reduce-scatter"), gossamer.task("allgather")]),
            [-gathered(ones[n], list(rank), n), gathered(ones[n], list(rank), n)],
        ),
    }


def places() -> dict[str, nx.DiGraph]:
    """Return the networks."""
    known = dict(machines())
    torus = speeded(nx.grid_graph([4, 4], periodic=True), 0, (50,))
    names = ("2 x 8 A100", "2 x 16 MI250", "two DGX-1", "leaf-spine 2:1")
    return {**{name: known[name] for name in names}, "torus 4x4": torus}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--task", nargs="*", help="tasks with one of these in their name")
    parser.add_argument("--bytes", nargs="*", default=SIZES, help="sizes of a message")
    asked = parser.parse_args()
    count = missed = 0
    for name, graph in places().items():
        if asked.only not in name:
            continue
        network = from_networkx(graph, name)
        for what, (task, families) in questions(len(terminals(graph))).items():
            if asked.task and not any(word in what for word in asked.task):
                continue
            least = optimum(graph, families)
            print(f"{name[:16]:16} {what:28} {least:9.5f} s/GB", end=" ", flush=True)
            for text in asked.bytes:
                began = time.process_time()
                found = gossamer.plan(network, task, cost=gossamer.TimeCost(text))
                took = time.process_time() - began
                ratio = float(found.seconds) / float(found.bound_seconds)
                fluid = float(found.seconds) / (least * byte_count(text, "bytes") / 1e9)
                over = float(found.bound_seconds) / float(found.seconds) * fluid
                last, limit = text == "1GiB", LIMITS.get(text)
                far = limit is not None and (fluid if last else ratio) > limit + 5e-4
                count, missed = count + 1, missed + far
                told = (
                    f"{text} {float(found.seconds) * 1e6:11.1f} us, {ratio:5.3f}, fluid {fluid:5.3f}, bound {over:5.3f}"
                )
                print(f"| {told} {took:5.1f} s {found.algorithm}{' <--' if far else ''}", end=" ", flush=True)
            print(flush=True)
    print(f"{missed} of {count} cells miss their aim")


if __name__ == "__main__":
    main()
