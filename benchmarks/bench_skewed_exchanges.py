"""Skewed exchanges one after the other on a network that is known, as mixtures of experts make them: CPU milliseconds
to plan, bound and verify each, and its time beside the bound.

Tables of packets and of bytes on 256 GPUs in 32 servers: experts that are asked for by Zipf's law and in shares by
Dirichlet's, ranks with tastes of their own, one rank that sends most, one pair, what is spread evenly, pairs of which
each has a count of its own, and experts that drop what is beyond their capacity. With --varied no two pairs of a table
have the same bytes.

    python benchmarks/bench_skewed_exchanges.py [--network dgx-h100:32] [--tables 1000] [--packets 64]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import gossamer
from gossamer.planning.outcome import peak_memory

Matrix = npt.NDArray[np.int64]
Draw = np.random.Generator


def _drawn(draw: Draw, packets: int, shares: npt.NDArray[np.float64]) -> Matrix:
    """Return a table in which each rank sends so many packets, by the shares of each, float64[n, n], less its own."""
    table = np.array([draw.multinomial(packets, row / row.sum()) for row in shares], np.int64)
    np.fill_diagonal(table, 0)
    return table


def _zipf(draw: Draw, n: int, packets: int) -> Matrix:
    share = draw.permutation(np.arange(1, n + 1) ** -draw.uniform(0.2, 1.5))
    return _drawn(draw, packets, np.tile(share, (n, 1)))


def _dirichlet(draw: Draw, n: int, packets: int) -> Matrix:
    return _drawn(draw, packets, np.tile(draw.dirichlet(np.full(n, draw.uniform(0.2, 2.0))) + 1e-9, (n, 1)))


def _tastes(draw: Draw, n: int, packets: int) -> Matrix:
    return _drawn(draw, packets, draw.lognormal(0.0, draw.uniform(0.5, 2.5), (n, n)))


def _one_sends_most(draw: Draw, n: int, packets: int) -> Matrix:
    table = _tastes(draw, n, packets)
    table[draw.integers(n)] *= 20
    return table


def _one_pair(draw: Draw, n: int, packets: int) -> Matrix:
    table = _dirichlet(draw, n, packets // 2)
    u, v = draw.choice(n, 2, replace=False)
    table[u, v] += 10 * packets
    return table


def _even(draw: Draw, n: int, packets: int) -> Matrix:
    return _drawn(draw, packets, np.ones((n, n)))


def _heavy_tailed(draw: Draw, n: int, packets: int) -> Matrix:
    """Each pair has a count of its own, by Pareto's law: most pairs little, few very much."""
    table = draw.pareto(draw.uniform(1.1, 2.5), (n, n))
    table = np.floor(table * (packets / (n * table.mean())) + draw.random((n, n))).astype(np.int64)
    np.fill_diagonal(table, 0)
    return table


def _dropped(draw: Draw, n: int, packets: int) -> Matrix:
    """Ranks ask for experts by tastes of their own; what is beyond the capacity of an expert is dropped.

    Some ranks have no expert, and some have nothing to send.
    """
    shares = draw.lognormal(0.0, draw.uniform(0.5, 1.5), (n, n)) * draw.permutation(np.arange(1, n + 1) ** -0.8)
    shares[:, draw.random(n) < draw.uniform(0.0, 0.5)] = 0.0
    table = _drawn(draw, packets, shares + 1e-12)
    table[draw.random(n) < draw.uniform(0.0, 0.3)] = 0
    capacity = int(packets * draw.uniform(1.0, 2.0))
    kept = np.diff(np.minimum(np.cumsum(table, axis=0), capacity), axis=0, prepend=0)  # the first tokens are kept
    return np.asarray(kept, np.int64)


KINDS: dict[str, Callable[[Draw, int, int], Matrix]] = {
    "experts by Zipf's law": _zipf,
    "experts by Dirichlet's": _dirichlet,
    "ranks with own tastes": _tastes,
    "one rank sends most": _one_sends_most,
    "one pair": _one_pair,
    "spread evenly": _even,
    "pairs by Pareto's law": _heavy_tailed,
    "experts that drop tokens": _dropped,
}
TOKEN = 14_336
"""Bytes of a token of 7,168 numbers."""


class Kept:
    """CPU milliseconds and ratios of the tables of a kind."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self.ratios: list[float] = []
        self.verified = 0

    def row(self, name: str) -> str:
        """Return the row of a kind."""
        middle, most = np.percentile(self.took, (50, 95))
        usual, high = np.percentile(self.ratios, (50, 95))
        return (
            f"{name:<30} {len(self.took):>6} {self.verified:>8} {middle:>9.1f} {most:>8.1f} {max(self.took):>8.1f} "
            f"{usual:>8.4f} {high:>8.4f} {max(self.ratios):>8.4f}"
        )


def main() -> None:
    """Print a row for each kind of table, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="dgx-h100:32")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--packets", type=int, default=64)
    parser.add_argument("--byte-packets", type=int, help="packets that tables of bytes are cut into, at most")
    parser.add_argument("--varied", action="store_true", help="pairs have tokens at random, not multiples of 64")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.process_time()
    planner = gossamer.planner_for(given.network)
    prepared = time.process_time() - began
    n, draw = planner.network.terminal_count, np.random.default_rng(given.seed)
    kinds = [(name, in_bytes) for name in KINDS for in_bytes in (False, True)]
    found = {kind: Kept() for kind in kinds}
    for i in range(given.tables):
        name, in_bytes = kind = kinds[i % len(kinds)]
        table = KINDS[name](draw, n, given.packets)
        if in_bytes:  # each token by itself
            tokens = draw.poisson(64 * table) if given.varied else 64 * table
            table = tokens * TOKEN + draw.integers(0, TOKEN, table.shape) * (table > 0)
        began = time.process_time()
        outcome = planner.plan_bytes(table, packets=given.byte_packets) if in_bytes else planner.plan(table)
        kept = found[kind]
        kept.took.append(1000 * (time.process_time() - began))
        kept.ratios.append(float(outcome.completion_time / outcome.bound))
        kept.verified += bool(outcome.verification)
    print(f"{planner.network.spec}: {n} ranks; prepared in {prepared:.2f} s of CPU")
    columns = f"{'median ms':>9} {'95 % ms':>8} {'most ms':>8} {'ratio':>8} {'95 %':>8} {'largest':>8}"
    print(f"{'tables':<30} {'number':>6} {'verified':>8} {columns}")
    for (name, in_bytes), kept in found.items():
        if kept.took:
            print(kept.row(name + (", bytes" if in_bytes else "")))
    every = Kept()
    for kept in found.values():
        every.took += kept.took
        every.ratios += kept.ratios
        every.verified += kept.verified
    print(every.row("all"))
    print(f"peak memory {peak_memory() / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
