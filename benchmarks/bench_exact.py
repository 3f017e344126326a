"""The planner's best schedules beside exact optima: all connected graphs to 5 nodes, and random ones of 6 to 8.

Prints for each task and port model how often both are equal, how many optima are proved, and the worst ratio to the
least time that is known, or to what is proved if that is less certain.

    python benchmarks/bench_exact.py [--sample N] [--budget SECONDS]
    python benchmarks/bench_exact.py --sums N

The second form judges so many small reductions by partial sums: no bound above the exact optimum, and no plan that is
said to be optimal and takes longer; it stops at the first that is wrong, and counts the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import networkx as nx
import numpy as np

import gossamer
from gossamer import Rules
from gossamer.networks import from_networkx

TASKS = ("broadcast", "scatter", "allgather", "alltoall", "allreduce")


def graphs(sample: int) -> list[nx.Graph]:
    """Return all connected graphs of 2 to 5 nodes, and so many random ones of 6 to 8."""
    draw = np.random.default_rng(8)
    tried = (
        nx.gnm_random_graph(n, int(draw.integers(n, 2 * n)), seed=int(draw.integers(999)))
        for n in [6, 7, 8] * (sample + 50)
    )
    larger = islice((g for g in tried if nx.is_connected(g)), sample)
    return [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 5 and nx.is_connected(g)] + list(larger)


def sums(count: int) -> None:
    """Judge so many reductions by partial sums, those of the tests, and print how many were decided."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from bounds.test_any_form import judge

    began = time.process_time()
    met = Counter(judge(seed) for seed in range(count))
    print(
        f"{count} cases, {count - met[None]} decided: no bound above the optimum, {met[True]} bounds equal to it, no "
        f"plan said to be optimal that is not; {time.process_time() - began:.0f} s"
    )


def main() -> None:
    """Print a row a task and port model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=12)
    parser.add_argument("--budget", type=float, default=2.0)
    parser.add_argument("--sums", type=int, metavar="N", help="judge so many reductions by partial sums instead")
    asked = parser.parse_args()
    for task in TASKS if not asked.sums else ():
        for ports in ("all", "one"):
            began, rows = time.process_time(), []
            for i, graph in enumerate(graphs(asked.sample)):
                network, rules = from_networkx(graph, f"graph {i}"), Rules(ports=ports)
                best = gossamer.plan(network, task, rules=rules)
                found = gossamer.plan(network, task, rules=rules, algorithm="exact", budget=asked.budget)
                least = min(best.completion_time, found.completion_time)
                rows.append((best.completion_time / least, least == found.bound))
            equal, proved = sum(ratio == 1 for ratio, _ in rows), sum(known for _, known in rows)
            worst = float(max(ratio for ratio, _ in rows))
            print(
                f"{task:10} ports {ports:4} {len(rows)} graphs: equal {equal}, proved optimal {proved}, "
                f"worst {worst:.3f}, {time.process_time() - began:.1f} s",
                flush=True,
            )
    if asked.sums:
        sums(asked.sums)


if __name__ == "__main__":
    main()
