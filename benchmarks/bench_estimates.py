"""How close the estimates of memory and time before a plan are to what the plan then takes.

    python benchmarks/bench_estimates.py [--only WORD]

For each case and algorithm: estimated and measured bytes (the peak of what Python and NumPy allocate while the plan is
made), estimated and measured seconds of CPU, and estimated over measured. An estimate is good if it is within a factor
of two. Each plan is made once before: then its kernels are compiled.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.questions.cases import Case
from gossamer.questions.cases.algorithm_offers import needs

CASES = (
    # network, task, algorithm
    ("array:20x20", "alltoall", "array-rounds"),
    ("array:16x16", "alltoall", "congestion-priced-paths"),
    ("array:300x300", "scatter", "furthest-first"),
    ("torus:200x200", "gather", "reversed-furthest-first"),
    ("torus:300x300", "scatter", "furthest-first"),
    ("array:1000x1000", "broadcast", "shortest-path-tree"),
    ("torus:500x500", "reduce", "reversed-shortest-path-tree"),
    ("array:40x40", "allgather", "torus-on-array"),
    ("array:40x40", "reduce-scatter", "reversed-torus-on-array"),
    ("array:30x30", "allreduce", "two-way-torus-on-array"),
    ("fat-tree:k=4,h=5", "alltoall", "fat-tree-digitwise"),
    ("fat-tree:k=4,h=5", "allgather", "greedy-flooding"),
    ("kautz:2,9", "allgather", "greedy-flooding"),
    ("jellyfish:n=1024,d=4,seed=1", "allgather", "greedy-flooding"),
    ("jellyfish:n=256,d=4,seed=1", "allgather", "congestion-priced-trees"),
    ("jellyfish:n=128,d=4,seed=1", "alltoall", "congestion-priced-paths"),
    ("torus:10x10", "alltoall", "congestion-priced-paths"),
    ("jellyfish:n=96,d=4,seed=1", "allreduce", "pipelined-trees"),
    ("jellyfish:n=192,d=4,seed=1", "allreduce", "pipelined-trees"),
    ("fat-tree:k=4,h=3", "allreduce", "pipelined-trees"),
    ("array:10x10", "allreduce", "pipelined-trees"),
    ("array:24x24", "alltoall", "array-rounds"),
    ("hypercube:16", "scatter", "furthest-first"),
    ("torus:48x48", "alltoall", "edge-colored"),
)


def measured(spec: str, task: str, algorithm: str) -> tuple[float, int]:
    """Return seconds of CPU and the peak of allocated bytes of a plan that has been made before."""
    gossamer.plan(spec, task, algorithm=algorithm)
    began = time.process_time()
    gossamer.plan(spec, task, algorithm=algorithm)
    seconds = time.process_time() - began
    gc.collect()
    tracemalloc.start()
    gossamer.plan(spec, task, algorithm=algorithm)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    print(f"{'case':58}{'hops':>11}{'MB est.':>9}{'MB':>8}{'ratio':>7}{'s est.':>8}{'s':>8}{'ratio':>7}")
    ratios: list[tuple[float, float]] = []
    for spec, task, algorithm in CASES:
        if only not in f"{spec} {task} {algorithm}":
            continue
        case = Case(gossamer.network(spec), gossamer.task(task))
        (offer,) = [a.offer(case) for a in ALGORITHMS if a.name == algorithm and isinstance(case.task, a.tasks)]
        found = needs(case, offer)
        seconds, peak = measured(spec, task, algorithm)
        ratios.append((found.bytes / peak, found.seconds / seconds))
        print(
            f"{spec + ' ' + task + ' ' + algorithm:58}{found.hops:11,}{found.bytes / 1e6:9.1f}{peak / 1e6:8.1f}"
            f"{ratios[-1][0]:7.2f}{found.seconds:8.2f}{seconds:8.2f}{ratios[-1][1]:7.2f}",
            flush=True,
        )
    for what, column in zip(("memory", "time"), zip(*ratios, strict=True), strict=True):
        good = sum(0.5 <= r <= 2 for r in column)
        print(f"{what}: {good} of {len(column)} within a factor of two; {min(column):.2f} to {max(column):.2f}")


if __name__ == "__main__":
    main()
