"""Cayley networks by the text of a group: they parse back, and every text of another form is refused in a line."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.networks import network_size, parse
from gossamer.networks.group_specs import PolycyclicGroup, group_named, permutations
from gossamer.studies.design.random_groups import GROUP_FAMILIES, random_group


@pytest.mark.parametrize("kind", GROUP_FAMILIES)
@settings(max_examples=12, deadline=None)
@given(order=st.sampled_from([8, 12, 16, 20, 24, 27, 32, 42, 60, 64, 81, 96]), seed=st.integers(0, 10**6))
def test_random_groups_are_groups(kind: str, order: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = random_group(kind, order, rng)
    if text is None:
        return
    group = group_named(text).group
    assert group.order == order
    every = np.arange(order)
    table = group.compose(every[:, None], every)
    assert np.array_equal(np.sort(table, axis=1), np.broadcast_to(every, table.shape))
    assert np.array_equal(table[0], every)
    assert not table[every, group.inverse(every)].any()
    a, b, c = rng.integers(0, order, (3, 200))
    assert np.array_equal(table[table[a, b], c], table[a, table[b, c]])
    assert group.abelian == bool((table == table.T).all())


SPECS = [
    "cayley:abelian(4,6);1,5,6,18",
    "cayley:semidirect(32,16,11);46,226,372,385,399,412",
    "cayley:wreath(2,4);2,44,53,59",
    "cayley:symmetric(4);1,2,6",
    "cayley:alternating(5);1,13,31,47",
    "cayley:permutations(1.2.3.0/1.0.2.3);1,2,6",
    "cayley:projective(5,1.1.0.1/1.0.1.1);1,17,40",
    "cayley:direct(semidirect(7,3,2);abelian(2));1,2,5,9",
    "cayley:polycyclic(2,001.001.000,001.000.000);2,3,4,5",
    "cayley:abelian(7);1,3;one-way",
    "switched-cubes:side=3,group=abelian(2,2),x=1.2.3.0.1.2.3.0.1,y=1,z=2",
]


@pytest.mark.parametrize("spec", SPECS)
def test_specs_parse_back(spec: str, tmp_path: object) -> None:
    try:
        network = parse(spec)
    except gossamer.GossamerError as error:
        if "inverse" not in str(error):
            raise
        text, numbers = spec.removeprefix("cayley:").rsplit(";", 1)
        group = group_named(text).group
        some = np.array([int(g) for g in numbers.split(",")])
        closed = sorted({*some.tolist(), *group.inverse(some).tolist()})
        network = parse(f"cayley:{text};{','.join(map(str, closed))}")
    assert parse(network.spec) == network
    assert parse(f"  {network.spec.upper()} ") == network
    assert tuple(network_size(network.spec)) == (network.node_count, network.link_count)


def test_a_schedule_on_a_found_network_is_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    spec = "cayley:wreath(2,4);2,44,53,59"
    made = gossamer.plan(spec, "alltoall").schedule
    gossamer.save(made, tmp_path / "s.parquet")
    back = gossamer.load(tmp_path / "s.parquet")
    assert back.network.spec == spec
    assert back.network == parse(spec)
    assert not gossamer.verify(back).violations


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("cayley:semidirect(8,2,2);1", "must have power 2"),
        ("cayley:semidirekt(8,2,3);1", "did you mean 'semidirect'"),
        ("cayley:abelian(8);1", "without its inverse 7"),
        ("cayley:abelian(8);2,6", "reach only 4 of 8"),
        ("cayley:abelian(8);0", "at least one generator"),
        ("cayley:abelian(8);1,9", "a generator must be"),
        ("cayley:abelian(8)", "expected GROUP;g,g"),
        ("cayley:abelian(8);1,7;both-ways", "expected GROUP;g,g"),
        ("cayley:8;1,7", "expected a group"),
        ("cayley:permutations(0.0.1);1", "is no permutation"),
        ("cayley:matrices(5,1.1.1.1);1", "must be invertible"),
        ("cayley:matrices(6,1.1.0.1);1", "prime power"),
        ("cayley:matrices(5,1.1.0);1", "as many rows as columns"),
        ("cayley:polycyclic(2,011.010.000,000.000.000);1", "0 up to its own generator"),
        ("cayley:polycyclic(2,010.000.000,001.000.001);1", "cayley"),
        ("cayley:polycyclic(4,00.00,00);1", "must be a prime"),
        ("cayley:wreath(2,40);1", "k of a wreath product"),
        ("switched-cubes:side=2,group=abelian(2),x=0,y=0,z=0", "side"),
        ("switched-cubes:side=4,group=abelian(2),x=0.1,y=0,z=0", "needs 1 element or 16"),
        ("switched-cubes:side=4,group=abelian(2),x=2,y=0,z=0", "an element of x"),
        ("lift:abelian(5)", "expected GROUP;a-b"),
        ("lift:abelian(5);0+1", "edges are such as 0-1"),
        ("lift:abelian(5);0-1*5", "an element"),
        ("lift:abelian(5);0-0", "other than the identity"),
        ("lift:abelian(5);0-1,1-0", "two edges join the same nodes"),
        ("lift:abelian(6);0-1,0-0*2", "reach only 6 of 12"),
    ],
)
def test_bad_specs_are_refused_in_a_line(spec: str, told: str) -> None:
    with pytest.raises(gossamer.GossamerError, match=told.replace("(", r"\(")) as error:
        parse(spec)
    assert "\n" not in str(error.value)


def test_relations_that_collapse_are_refused() -> None:
    bad = PolycyclicGroup(2, ((0, 1, 0), (0, 0, 0), (0, 0, 0)), ((0, 0, 1), (0, 0, 0), (0, 0, 0)))
    assert bad.fault() is not None  # g1 and its square commute, but the relations say that they do not
    assert permutations([(1, 0)]).order == 2


def test_the_torus_as_switched_cubes() -> None:
    cubes = parse("switched-cubes:side=4,group=abelian(2,2,2),x=4,y=2,z=1")
    torus = parse("torus:8x8x8")
    assert cubes.diameter == torus.diameter
    assert sorted(cubes.distances(0).tolist()) == sorted(torus.distances(0).tolist())


def test_lifts_are_the_networks_they_should_be() -> None:
    petersen = gossamer.networks.as_network(nx.petersen_graph())
    found = parse("lift:abelian(5);0-1,0-0*1,1-1*2")
    assert nx.is_isomorphic(_graph(found), _graph(petersen))
    # one vertex: the Cayley network, generators and their inverses
    lift, cayley = parse("lift:semidirect(7,3,2);0-0*1,0-0*3"), parse("cayley:semidirect(7,3,2);1,2,3,18")
    assert nx.is_isomorphic(_graph(lift), _graph(cayley))
    # the group of one element: any graph, an element of order two: one link a node
    assert parse("lift:abelian(1);0-1,1-2,2-0") == parse("lift:abelian(1);0-1*0,1-2*0,2-0*0")
    assert parse("lift:abelian(4);0-0*1,0-0*2").degree == 3


def _graph(network: gossamer.Network) -> nx.Graph:
    return nx.Graph(list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)))
