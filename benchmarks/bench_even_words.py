"""All-to-all at its bound on Cayley networks: named ones, a row each, and random ones of every kind of group.

    python benchmarks/bench_even_words.py [--networks "star:4 ccc:9"] [--count 200] [--seed 0] [--most 1200]

Plans by `even-words`, verifies, and prints steps, bound, their ratio and the CPU time of star, pancake and bubble-sort
networks of 4 to 7 symbols and of butterflies and cube-connected cycles of 3 to 8 bits, or of the networks named. Then
draws a kind of group, an order, a group and a connected set of generators closed under inverses, as often as asked, the
kinds in turn; prints each network that takes more slots than its bound, then how many met it, by kind of group.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from math import ceil

import numpy as np

import gossamer
from gossamer.networks import Network
from gossamer.networks.group_specs import group_named
from gossamer.studies.design.random_groups import GROUP_FAMILIES, random_group

NAMED = [f"{family}:{m}" for family in ("star", "pancake", "bubble-sort") for m in range(4, 8)]
NAMED += [f"{family}:{d}" for family in ("butterfly", "ccc") for d in range(3, 9)]


def table(specs: list[str]) -> None:
    """Plan the exchange on networks by name; print a row of each."""
    print(f"{'network':28}{'nodes':>7}{'steps':>8}{'bound':>8}{'ratio':>8}{'CPU s':>8}  verified")
    for spec in specs:
        network, began = gossamer.network(spec), time.process_time()
        found = gossamer.plan(network, "alltoall", algorithm="even-words")
        seconds = time.process_time() - began
        steps, bound = int(found.completion_time), ceil(found.bound)
        told = "yes" if found.verification.ok else "no"
        shown = spec if len(spec) < 28 else f"{spec[:24]}..."
        print(
            f"{shown:28}{network.node_count:7,}{steps:8,}{bound:8,}{steps / bound:8.4f}{seconds:8.2f}  {told}",
            flush=True,
        )


def drawn(kind: str, most: int, rng: np.random.Generator) -> Network | None:
    """Return a random connected Cayley network of a kind of group; None where the draw had no luck."""
    order = round(np.exp(rng.uniform(np.log(12), np.log(most))))
    if kind in ("2-group", "wreath", "matrices", "permutations"):  # which have few orders
        order = int(rng.choice(
            {"2-group": [16, 32, 64, 128, 256, 512, 1024], "wreath": [18, 24, 64, 81, 98, 160, 324, 384, 648, 896],
             "matrices": [24, 27, 48, 60, 64, 120, 125, 168, 336, 480, 660, 720, 1024],
             "permutations": [20, 24, 42, 60, 110, 120, 156, 272, 360, 506, 720]}[kind]
        ))  # fmt: skip
    text = random_group(kind, order, rng)
    if order > most or text is None:
        return None
    group = group_named(text).group
    degree = int(rng.integers(2, 9))
    chosen: set[int] = set()
    while len(chosen) < min(degree, group.order - 1):
        g = int(rng.integers(1, group.order))
        chosen |= {g, int(group.inverse(np.array(g)))}
    try:
        network = gossamer.network(f"cayley:{text};{','.join(map(str, sorted(chosen)))}")
    except gossamer.GossamerError:
        return None
    return network if int(network.distances(0).min()) >= 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=1200)
    parser.add_argument("--networks", default=" ".join(NAMED), help="specs, separated by spaces")
    asked = parser.parse_args()
    table(asked.networks.split())
    if asked.count > 0:
        print()
        random_networks(asked.count, asked.seed, asked.most)


def random_networks(count: int, seed: int, most: int) -> None:
    """Plan the exchange on random Cayley networks; print those that miss the bound, and how many met it."""
    rng = np.random.default_rng(seed)
    met, tried = Counter[str](), Counter[str]()
    kinds, began = list(GROUP_FAMILIES), time.process_time()
    while sum(tried.values()) < count:
        kind = kinds[sum(tried.values()) % len(kinds)]
        network = drawn(kind, most, rng)
        if network is None:
            continue
        found = gossamer.plan(network, "alltoall", algorithm="even-words")
        tried[kind] += 1
        met[kind] += found.completion_time == found.bound
        if found.completion_time > found.bound:
            print(f"{found.completion_time} of at least {found.bound}: {network.spec}", flush=True)
    for kind in kinds:
        print(f"{kind:14}{met[kind]:5} of {tried[kind]:4} at the bound")
    seconds = time.process_time() - began
    print(f"{sum(met.values())} of {sum(tried.values())} verified at the bound; {seconds:.0f} s of CPU time")


if __name__ == "__main__":
    main()
