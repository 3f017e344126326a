from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.simulation.random_arrivals import scheme_from_parents
from gossamer.simulation.random_arrivals.schemes import arc, scheme, stamoulis_tsitsiklis_indirect, star
from gossamer.simulation.random_arrivals.theory import link_loads, load_factor, rate_of, stability_limit

F = Fraction


@pytest.mark.parametrize(
    ("spec", "per_rate"),
    [
        ("hypercube:5", F(2**5 - 1, 5)),
        ("torus:5x6x7", F(209, 6)),
        ("torus:2x5", F(9, 3)),
        ("array:4x4", F(4 * 5, 4)),
        ("array:9x9", F(9 * 10, 4)),
        ("array:3x4x5", F(59, 2) / (3 - F(1, 3) - F(1, 4) - F(1, 5))),
        ("star:5", F(119, 4)),
    ],
)
def test_load_factors_of_section_1(spec, per_rate):
    network = gossamer.network(spec)
    assert load_factor(network, F(1)) == per_rate
    assert rate_of(network, F(1, 2)) == F(1, 2) / per_rate
    assert load_factor(network, rate_of(network, 0.4)) == pytest.approx(0.4)


def test_load_factor_of_the_inner_mesh_counts_inner_nodes():
    table = arc(gossamer.network("array:6x8"))
    assert table.load_factor(1.0) == pytest.approx((4 * 6 - 1) / 4)


@pytest.mark.parametrize(
    "table",
    [
        star(gossamer.network("torus:3x4")),
        arc(gossamer.network("array:4x5")),
        stamoulis_tsitsiklis_indirect(gossamer.network("hypercube:3")),
        scheme("mini-packets", gossamer.network("hypercube:3")),
        scheme("varvarigos-banerjee-indirect", gossamer.network("array:3x3")),
    ],
    ids=lambda t: t.name,
)
def test_link_loads_are_what_walking_every_tree_counts(table):
    total = [F(0)] * table.network.link_count
    for s, node in enumerate(table.source_nodes):
        chances = table.exact_probability[0 if table.translated else s]
        for choice, p in enumerate(chances):
            for part in range(table.parts):
                for _, _, link in table.walk((0 if table.translated else s, choice, part), [node]):
                    for k in link:
                        total[k] += p / table.parts / table.source_nodes.size
    loads = link_loads(table)
    assert [loads[k] for k in range(table.network.link_count)] == total
    assert loads.largest == max(total) == loads[loads.busiest]
    assert loads.utilization(2.0) == pytest.approx([2 * float(t) for t in total])


def test_a_translated_scheme_of_few_sources_is_walked():
    from dataclasses import replace

    table = star(gossamer.network("ring:4"))
    one = replace(table, sources=np.array([0], np.int32))
    loads = link_loads(one)
    # each way round is taken: 1 hop surely, the second with a half
    assert [loads[k] for k in one.network.out_links(0)] == [F(1), F(1)]
    assert loads.total == 3
    assert stability_limit(one).rate == 1


def test_rounded_probabilities_are_taken_back_to_fractions():
    network = gossamer.network("ring:3")
    table = scheme_from_parents(
        "thirds", network, parent=[-1, 0, -1, 2], step=[0, 0, 1, 1], tree=[0, 0, 1, 1], probability=[1 / 3, 2 / 3]
    )
    assert table.exact_probability is None
    assert [link_loads(table)[k] for k in (0, 1)] == [F(2, 9), F(4, 9)]
