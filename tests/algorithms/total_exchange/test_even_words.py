"""Even words: every exchange on a Cayley network at its bound, or the reason why not."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.total_exchange.even_words import even_words, even_words_exchange, listed
from gossamer.algorithms.total_exchange.even_words.words import subgroups_by_signs
from gossamer.bounds import best_bound
from gossamer.cases import Case
from gossamer.design.groups import GROUP_FAMILIES, random_group
from gossamer.networks import Network, parse
from gossamer.networks.cayley_groups import group_named
from gossamer.schedules import Symmetry
from gossamer.tasks import TotalExchange

SLOW = pytest.mark.slow
NAMED = [
    *("star:4", "star:5", "star:6", "pancake:4", "pancake:5", "bubble-sort:4", "bubble-sort:5", "bubble-sort:6"),
    *("butterfly:3", "butterfly:4", "butterfly:5", "ccc:3", "ccc:4", "ccc:5"),
    *(pytest.param(spec, marks=SLOW) for spec in ("star:7", "pancake:6", "pancake:7", "bubble-sort:7")),
    *(pytest.param(f"{name}:{d}", marks=SLOW) for name in ("butterfly", "ccc") for d in (6, 7, 8)),
]


@pytest.mark.parametrize("spec", NAMED)
def test_named_cayley_networks_meet_their_bound(spec: str) -> None:
    found = gossamer.plan(spec, "alltoall", algorithm="even-words")
    assert found.completion_time == found.bound


def random_cayley(kind: str, order: int, rng: np.random.Generator) -> Network | None:
    """Return a random Cayley network of a kind of groups, or None if the generators drawn make a subgroup."""
    text = random_group(kind, order, rng)
    if text is None:
        return None
    group = group_named(text).group
    some = rng.choice(np.arange(1, order), int(rng.integers(1, 4)), replace=False)
    numbers = np.unique(np.concatenate([some, group.inverse(some)]))
    try:
        return parse(f"cayley:{text};{','.join(map(str, numbers))}")
    except gossamer.GossamerError:
        return None


def meets(network: Network) -> tuple[int, int]:
    """Return the slots of a verified schedule and the bound."""
    found = gossamer.plan(network, "alltoall", algorithm="even-words")
    return int(found.completion_time), int(-(-found.bound // 1))


@pytest.mark.parametrize("kind", GROUP_FAMILIES)
def test_random_cayley_networks_of_every_kind_meet_their_bound(kind: str) -> None:
    count = 3
    rng = np.random.default_rng(len(kind))
    done = missed = tries = 0
    while done < count and tries < 200:
        tries += 1
        order = int(rng.choice([16, 20, 21, 24, 32, 42, 48, 54, 60, 64, 72, 96, 100, 128]))
        network = random_cayley(kind, order, rng)
        if network is not None:
            done += 1
            time, bound = meets(network)
            missed += time > bound
            assert time <= bound + 1
    assert done == count
    assert missed == 0


def test_signs_forbid_the_bound_to_words_that_are_the_same_at_every_node_of_the_pancake_network() -> None:
    case = Case(parse("pancake:6"), TotalExchange())
    odd = [g for g in range(5) if (g + 2) * (g + 1) // 2 % 2]  # reversing i symbols makes i(i-1)/2 exchanges
    words = even_words(case)
    assert int(words.load[odd].sum()) % 2 == 360 % 2  # as many letters, modulo 2, as odd arrangements
    assert 3 * 659 % 2 == 1
    assert words.largest_load == 660
    found = even_words_exchange(case)
    assert found.completion_time == 659 == best_bound(case).value
    assert found.symmetry is not None
    assert found.symmetry.order == 360


@pytest.mark.parametrize("spec", ["star:4", "torus:4x4", "ccc:3", "pancake:4", "complete:5"])
def test_subgroups_by_signs_have_index_two_or_four(spec: str) -> None:
    network = parse(spec)
    orders = [Symmetry(network, by).orbit_count for by in subgroups_by_signs(network)]
    assert set(orders) <= {2, 4}


def test_words_lead_where_they_should() -> None:
    case = Case(parse("ccc:3"), TotalExchange())
    words = even_words(case)
    onward = case.network.link_target.reshape(case.network.node_count, -1)
    for y in range(24):
        x = 0
        for g in words.letters[y, : words.length[y]]:
            x = onward[x, g]
        assert x == y
    assert int(words.length.sum()) == int(words.load.sum())
    assert listed(case, words).completion_time == words.largest_load


def test_a_network_with_one_way_links() -> None:
    found = gossamer.plan("cayley:abelian(7);1,3;one-way", "alltoall", algorithm="even-words")
    assert found.completion_time == found.bound
