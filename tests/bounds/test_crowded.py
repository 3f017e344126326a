"""Leavings and enterings that have the fewest links: by enumeration of all sets, and on a de Bruijn network."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gossamer
from gossamer.bounds.allreduce_congestion import crowded, region_bounds
from gossamer.questions.cases import Case


def need(crowd, source, target, server, rate, amount):
    """The packets of a set over the rate of all that serves one of them."""
    leaves, enters = np.array(crowd[0], bool), np.array(crowd[1], bool)
    used = np.unique(server[leaves[source] | enters[target]])
    return (amount[leaves].sum() + amount[enters].sum()) / rate[used].sum()


@pytest.mark.parametrize("seed", range(10))
def test_the_crowd_is_the_one_of_all_sets_that_needs_longest(seed):
    draw, regions, links = np.random.default_rng(seed), 4, 8
    source = np.concatenate([np.arange(regions), draw.integers(0, regions, links - regions)])
    target = (source + np.concatenate([np.ones(regions, int), draw.integers(1, regions, links - regions)])) % regions
    server = draw.integers(0, 7, links) if seed % 2 else np.arange(links)
    server = np.unique(server, return_inverse=True)[1]
    rate = draw.integers(1, 4, int(server.max()) + 1).astype(float)
    amount = draw.integers(0, 6, regions) + (np.arange(regions) == 0)
    given = source, target, server, rate, amount
    found = [need(crowd, *given) for crowd in crowded(*given)]
    subsets = list(product([False, True], repeat=regions))
    sets = [(a, b) for a in subsets for b in subsets if amount[list(a)].sum() + amount[list(b)].sum()]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(max(need(each, *given) for each in sets))


def test_ends_of_a_de_bruijn_network_share_three_links():
    """Of nodes 0, 1 and 32 the links 32-0, 32-1 and 0-1 carry what 0 and 32 send and 0 and 1 receive, 252 packets."""
    case = Case(gossamer.network("de-bruijn:2,6"), gossamer.task("allreduce"))
    best = max(region_bounds(case), key=lambda bound: bound.value)
    assert (best.name, best.value) == ("between regions", 84)
    assert gossamer.plan("de-bruijn:2,6", "allreduce").ratio <= 1.1
