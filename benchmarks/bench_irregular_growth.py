"""How CPU seconds and memory grow with the nodes of random regular graphs: alltoall, or another task.

Each size is planned, verified and bounded in a process of its own; the exponent is that of the seconds from one size to
the next. To compare with another version of the package, run this file with PYTHONPATH set to its src.

    python benchmarks/bench_irregular_growth.py [--task alltoall] [--degree 8] [--sizes 256 512 1024 2048 4096]
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import networkx as nx

import gossamer
from gossamer.errors import GossamerError
from gossamer.jit import uninterpreted
from gossamer.networks import from_networkx
from gossamer.planning.outcome import peak_memory

Row = tuple[float, int, float, float, str]


def planned(task: str, degree: int, nodes: int, size: str | None) -> Row | str:
    """Return CPU seconds, bytes, time, bound and algorithm; a refusal as it is."""
    network = from_networkx(nx.random_regular_graph(degree, nodes, seed=1), f"random {degree}-regular {nodes}")
    cost = None if size is None else gossamer.TimeCost(size, bandwidth="25GB/s", latency="1us")
    with uninterpreted():
        gossamer.plan(from_networkx(nx.random_regular_graph(degree, 64, seed=1), "to compile"), task, cost=cost)
        began = time.process_time()
        try:
            found = gossamer.plan(network, task, cost=cost)
        except GossamerError as error:
            return str(error)
        took = time.process_time() - began
    return took, peak_memory(), float(found.completion_time), float(found.bound), found.algorithm


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="alltoall")
    parser.add_argument("--bytes", help="as 1GiB: in seconds, on links of 25 GB/s and 1 us; in steps without")
    parser.add_argument("--degree", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024, 2048, 4096])
    given = parser.parse_args()
    print(f"{given.task} on random {given.degree}-regular graphs")
    print(f"{'nodes':>6} {'CPU s':>8} {'exponent':>8} {'MB':>8} {'steps':>8} {'bound':>8} {'ratio':>6}  algorithm")
    before: tuple[int, float] | None = None
    for nodes in given.sizes:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            found = alone.submit(planned, given.task, given.degree, nodes, given.bytes).result()
        if isinstance(found, str):
            print(f"{nodes:>6,} refused: {found[-300:]}", flush=True)
            continue
        took, held, steps, bound, algorithm = found
        grows = "" if before is None else f"{math.log(took / before[1]) / math.log(nodes / before[0]):.2f}"
        print(
            f"{nodes:>6,} {took:>8.1f} {grows:>8} {held / 1e6:>8,.0f} {steps:>8,.0f} {bound:>8,.1f} "
            f"{steps / bound:>6.3f}  {algorithm}",
            flush=True,
        )
        before = nodes, took


if __name__ == "__main__":
    main()
