"""Cayley networks of any group, and their status values, counted independently."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import AbelianGroup, CubeRotationGroup, PermutationGroup, cayley, parse


def links(net):
    return set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ("complete:5", 4), ("ring:7", 12), ("ring:8", 16), ("extended-ring:14,2", 28), ("extended-ring:12,3", 16),
        ("extended-ring:9,2", 12), ("extended-ring:10,3", 12), ("circulant:13,1,5", 20), ("circulant:12,2,3", 18),
        ("hypercube:3", 12), ("hypercube:4", 32), ("hypercube:5", 80), ("hypercube:6", 192),
        ("ccc:3", 74), ("ccc:4", 296), ("ccc:5", 952), ("butterfly:3", 55), ("butterfly:4", 216), ("butterfly:5", 690),
        ("star:3", 9), ("star:4", 62), ("star:5", 442), ("pancake:4", 60), ("bubble-sort:4", 72),
        ("torus:4x3", 20), ("torus:5x5", 60), ("torus:3x4x2", 52),
    ],
)  # fmt: skip
def test_reference_status_values(spec, status):
    net = parse(spec)
    assert {int(net.distances(v).sum()) for v in (0, net.node_count // 2, net.node_count - 1)} == {status}


@st.composite
def random_cayley(draw):
    group = draw(
        st.one_of(
            st.builds(AbelianGroup, st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)),
            st.builds(PermutationGroup, st.integers(1, 4)),
            st.builds(CubeRotationGroup, st.integers(1, 3)),
        )
    )
    chosen = draw(st.lists(st.integers(0, group.order - 1), max_size=4))
    return group, chosen + group.inverse(np.array(chosen, np.int64)).tolist()


@given(random_cayley())
@settings(deadline=None)
def test_cayley_accepts_exactly_the_generating_sets(case):
    group, generators = case
    kept = [g for g in dict.fromkeys(generators) if g]
    everything = range(group.order)
    graph = nx.DiGraph((u, int(group.compose(u, g))) for u in everything for g in kept)
    graph.add_nodes_from(everything)
    reached = len(nx.descendants(graph, 0)) + 1
    if reached == group.order:
        net = cayley("mine", group, generators)
        assert links(net) == set(graph.edges)
        assert net.generators.tolist() == kept
        assert net.links_only
    else:
        with pytest.raises(NetworkError, match=f"reach only {reached} of {group.order} elements"):
            cayley("mine", group, generators)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cayley("mine", AbelianGroup((6,)), [1]), "mine: generator 1 is given without its inverse 5"),
        (
            lambda: cayley("mine", AbelianGroup((6,)), [1, 6]),
            r"mine: a generator must be a whole number in 0\.\.5, got 6",
        ),
        (lambda: cayley("mine", AbelianGroup((6,)), []), "mine: the generators reach only 1 of 6 elements"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(call, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
