"""The halves of an allreduce follow each other."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound, bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, Reduce, ReduceScatter


def sequences(network, model):
    return {b.name: b.value for b in bounds(Case(network, Allreduce(), model)) if b.method == "sequence"}


def test_each_block_is_reduced_and_then_broadcast():
    for spec, diameter in (("array:7", 6), ("torus:5x5", 4), ("ccc:3", 6)):
        found = sequences(gossamer.network(spec), Rules())
        assert found["reduce, then broadcast"] == 2 * diameter


def test_a_half_is_followed_or_preceded_by_one_block_from_the_best_root():
    network, model = from_networkx(nx.star_graph(4)), Rules()
    found = sequences(network, model)
    radius = 1
    assert found["reduce-scatter, then broadcast"] == best_bound(Case(network, ReduceScatter(), model)).value + radius
    assert (
        found["reduce, then multinode broadcast"]
        == best_bound(Case(network, MultinodeBroadcast(), model)).value + radius
    )


def test_one_port_blocks_double():
    found = sequences(gossamer.network("complete:9"), Rules(ports="one"))
    assert found["reduce, then broadcast"] == 8
    assert found["reduce-scatter, then broadcast"] == 8 + 4


def test_split_blocks_take_their_loads():
    found = sequences(gossamer.network("ring:5"), Rules(split=True))
    assert found["reduce-scatter, then broadcast"] == 2 + Fraction(1, 2)


def test_other_tasks_have_no_such_bound():
    assert all(b.method != "sequence" for b in bounds(Case(gossamer.network("ring:5"), Reduce(0), Rules())))
