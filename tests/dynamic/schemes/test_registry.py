from __future__ import annotations

import pytest

import gossamer
from dynamic.networks_for_schemes import holt, petersen
from gossamer.errors import NotApplicableError
from gossamer.simulation.random_arrivals.scheme_evaluation import TreeBroadcasts
from gossamer.simulation.random_arrivals.schemes import PRIORITIES, SCHEMES, covering, scheme
from gossamer.simulation.random_arrivals.theory import delay_bounds, link_loads, stability_limit

SPECS = (
    "ring:5", "ring:6", "hypercube:2", "hypercube:4", "torus:4x4", "torus:3x4", "torus:2x4x3", "array:5", "array:4x4",
    "array:4x5", "array:3x4x4", "complete:5", "generalized-hypercube:3x4", "star:4", "pancake:4", "ccc:3",
    "butterfly:3", "circulant:13,1,5", "bubble-sort:4", "product:(star:3)x(complete:3)", "product:(array:3)x(ring:4)",
)  # fmt: skip
TREES = [name for name, known in SCHEMES.items() if known.simulated is TreeBroadcasts]
CASES = [(name, spec) for spec in SPECS for name in covering(gossamer.network(spec)) if name in TREES]


@pytest.mark.parametrize(("name", "spec"), CASES)
def test_every_scheme_serves_every_receiver_once_and_states_its_limit(name, spec):
    network = gossamer.network(spec)
    table = scheme(name, network)
    table.check()
    loads, limit = link_loads(table), stability_limit(table)
    assert loads.total >= int(table.counted_receivers[0])
    assert 0 < limit.load <= 1
    assert loads[limit.link] == loads.largest
    # at the limit the busiest link is busy all the time
    assert limit.rate * table.source_nodes.size * loads.largest == 1
    assert table.load_factor(float(limit.rate)) == pytest.approx(float(limit.load))
    assert SCHEMES[name].summary
    assert SCHEMES[name].source


@pytest.mark.parametrize("network", [holt(), petersen()], ids=lambda n: n.spec)
def test_networks_of_no_family_have_schemes(network):
    assert {"symmetric", "priority", "varvarigos-banerjee-direct"} <= set(covering(network))
    for name in covering(network):
        scheme(name, network).check()


SMALL = ("hypercube:3", "array:4x4", "ring:5", "star:3")
"""Every scheme covers one of these."""


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("rule", list(PRIORITIES))
def test_schemes_named_for_their_trees_take_every_priority_rule(name, rule):
    network = next(net for net in map(gossamer.network, SMALL) if name in covering(net))
    if "priority" not in SCHEMES[name].options:
        pytest.skip("ranks copies by a rule of its own")
    table = scheme(name, network, priority=rule)
    assert table.class_count == 1 or rule != "fifo"


def test_the_general_names_take_star_on_products_and_rotated_trees_elsewhere():
    assert (
        scheme("priority", gossamer.network("torus:4x8")).row_count
        == scheme("star", gossamer.network("torus:4x8")).row_count
    )
    assert scheme("Two_Class", gossamer.network("star:4")).name == "priority"
    assert (
        scheme("priority", gossamer.network("star:4")).row_count
        == scheme("symmetric", gossamer.network("star:4")).row_count
    )


@pytest.mark.parametrize(
    ("name", "spec", "options", "line"),
    [
        ("stare", "hypercube:3", {}, "unknown scheme 'stare' (did you mean 'star'?)"),
        ("zzzz", "hypercube:3", {}, "unknown scheme 'zzzz'; known schemes: fifo, priority"),
        ("arc", "torus:4x4", {}, "scheme 'arc' does not cover torus:4x4: it needs an array (mesh); fifo, priority"),
        ("mini-packets", "fat-tree:k=2,h=2", {}, "it needs a Cayley network"),
        ("star", "hypercube:3", {"color": 1}, "scheme 'star' has no option 'color'; it takes priority, coin, target"),
        ("star", "hypercube:3", {"priorty": "fifo"}, "(did you mean 'priority'?)"),
        ("star", "hypercube:3", {"priority": "fifi"}, "unknown priority rule 'fifi' (did you mean 'fifo'?)"),
        ("fifo", "hypercube:3", {"priority": "fifo"}, "scheme 'fifo' has no option 'priority'; it takes none"),
    ],
)
def test_bad_input_gets_one_line(name, spec, options, line):
    with pytest.raises(NotApplicableError) as caught:
        scheme(name, gossamer.network(spec), **options)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "spec"), [c for c in CASES if c[1] in ("hypercube:4", "array:4x5", "ccc:3", "torus:3x4")]
)
def test_bounds_grow_with_the_load_and_no_tree_is_shorter_than_the_distance(name, spec):
    table = scheme(name, gossamer.network(spec))
    limit = float(stability_limit(table).load)
    low, high = delay_bounds(table, 0.1 * limit), delay_bounds(table, 0.9 * limit)
    by_name = {b.name: b for b in low}
    assert by_name["tree"].reception >= by_name["distance"].reception - 1e-12
    assert by_name["tree"].broadcast >= by_name["distance"].broadcast - 1e-12
    for a, b in zip(low, high, strict=True):
        assert a.name == b.name
        assert b.reception >= a.reception - 1e-12
