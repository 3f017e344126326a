"""Uneven exchanges: steps beside the bound, and CPU milliseconds to build and verify, and to bound as well,
at once and after a search.

Traffic of experts (Zipf) and of other kinds on 64 ranks, and on 32 servers of 8; a table whose row sums differ
100-fold, one with empty rows, and one with a rank that only receives.

    python benchmarks/bench_uneven_exchange.py [--repeat 3] [--seed 1]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import gossamer
from gossamer.bounds import best_bound
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import UnevenExchange
from gossamer.questions.tasks.patterns import traffic_matrix

Matrix = npt.NDArray[np.int64]

NETWORKS = ("torus:8x8", "hypercube:6", "dgx-a100:servers=8", "dgx-a100:servers=32")
AT_ONCE = "load-balanced-shortest-paths"


def tables(network: Network, seed: int) -> Iterator[tuple[str, Matrix]]:
    """Yield tables with their names."""
    n = network.terminal_count
    draw = np.random.default_rng(seed)
    zipf = traffic_matrix("zipf", network, packets=64, seed=seed)
    yield "zipf", zipf
    yield "zipf, exponent 1/2", traffic_matrix("zipf", network, packets=64, exponent=0.5, seed=seed)
    uneven = np.zeros((n, n), np.int64)
    for u, packets in enumerate(draw.permutation(np.geomspace(2, 200, n).astype(np.int64)).tolist()):
        others = np.delete(np.arange(n), u)
        uneven[u, others] = draw.multinomial(packets, np.full(n - 1, 1 / (n - 1)))
    yield "row sums 2 to 200", uneven
    empty = zipf.copy()
    empty[draw.permutation(n)[: n // 2]] = 0
    yield "half the rows empty", empty
    receiving = traffic_matrix("uniform", network)
    receiving[n // 3] = 0
    yield "one only receives", receiving


def measured(network: Network, matrix: Matrix, algorithm: str, repeat: int) -> tuple[int, float, float]:
    """Return the steps of a schedule, and the CPU milliseconds to build and verify it, and with its bound."""
    task, took, whole = UnevenExchange(matrix.tolist()), [], []
    for _ in range(repeat):
        began = time.process_time()
        outcome = gossamer.plan(network, task, algorithm=algorithm)
        whole.append(time.process_time() - began)
        took.append(outcome.expense.build_seconds + outcome.expense.verify_seconds)
    return int(outcome.completion_time), 1000 * min(took), 1000 * min(whole)


def main() -> None:
    """Print a row for each network and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    each = f"{'ratio':>6} {'ms':>6} {'+bound':>6}"
    columns = f"{'bound':>6}  {'at once':>8} {each}  {'searched':>8} {each}"
    print(f"{'network':<20} {'table':<20} {'packets':>8} {columns}")
    for spec in NETWORKS:
        network = gossamer.network(spec)
        for name, matrix in tables(network, given.seed):
            bound = int(best_bound(Case(network, UnevenExchange(matrix.tolist()))).value)
            cells = []
            for algorithm, repeat in ((AT_ONCE, given.repeat), ("congestion-priced-paths", 1)):
                steps, took, whole = measured(network, matrix, algorithm, repeat)
                cells.append(f"{steps:>8,} {steps / bound:>6.3f} {took:>6.0f} {whole:>6.0f}")
            print(f"{spec:<20} {name:<20} {int(matrix.sum()):>8,} {bound:>6,}  {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
