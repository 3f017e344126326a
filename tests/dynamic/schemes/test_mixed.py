"""Unicasts and multicasts beside broadcasts: tables, loads, priorities between kinds, and what cannot be asked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError
from gossamer.questions.tasks.patterns import pattern
from gossamer.simulation.random_arrivals import Settings, simulate
from gossamer.simulation.random_arrivals.schemes import Mix, mixed, scheme
from gossamer.simulation.random_arrivals.schemes.mixed_traffic import at_each_source
from gossamer.simulation.random_arrivals.theory import link_loads, stability_limit
from gossamer.studies.sweeps import delay_load

TORUS = gossamer.network("torus:4x4")
ALL = {"broadcast": 1, "unicast": 8, "multicast": 1}


@pytest.mark.parametrize(
    ("spec", "name"), [("torus:4x4", "priority"), ("hypercube:3", "optimal"), ("star:4", "fifo"),
                       ("array:5x5", "arc"), ("array:3x4", "varvarigos-banerjee-direct")],
)  # fmt: skip
@pytest.mark.parametrize("order", [(), ("unicast",), ("multicast", "broadcast")])
def test_every_request_reaches_its_nodes_once(spec, name, order):
    both = mixed(scheme(name, gossamer.network(spec)), ALL, order=order, size=3)
    both.check()
    assert both.traffic.names == ("broadcast", "unicast", "multicast")
    assert both.traffic.share == pytest.approx((0.1, 0.8, 0.1))
    assert sum(both.exact_probability[0]) == 1


@pytest.mark.parametrize("name", ["star", "optimal", "mini-packets"])
def test_tables_of_each_source_are_the_same_scheme(name):
    shared = scheme(name, gossamer.network("hypercube:3"))
    each = at_each_source(shared)
    each.check()
    assert stability_limit(each).load == stability_limit(shared).load
    assert link_loads(each).largest == link_loads(shared).largest


def test_the_load_counts_the_links_of_unicasts_and_the_nodes_of_broadcasts():
    """In a ring of 5 the mean distance is 3/2, and a link carries 3/4 of a transmission a unicast of a node."""
    ring = gossamer.network("ring:5")
    alone = mixed(scheme("star", ring), {"unicast": 1})
    assert alone.needed == pytest.approx([1.5])
    assert stability_limit(alone).load == 1
    half = mixed(scheme("star", ring), {"unicast": 1, "broadcast": 1})
    assert half.needed == pytest.approx([(1.5 + 4) / 2])
    assert stability_limit(half).rate == Fraction(2 * 2, 4 + Fraction(3, 2))


def test_unicasts_alone_on_a_link_are_one_queue():
    """One node sends to the other: an M/D/1 queue, 1 + rho / (2 (1 - rho))."""
    pair = gossamer.network("array:2")
    alone = mixed(scheme("varvarigos-banerjee-direct", pair), {"unicast": 1})
    found = simulate(alone, load=0.5, settings=Settings(broadcasts=40_000))
    assert found.kinds[0].name == "unicast"
    assert found.kinds[0].reception.covers(1.5, 2)
    assert found.kinds[0].last.mean == found.kinds[0].reception.mean


def test_the_kind_that_goes_first_waits_less_and_the_mean_wait_stays():
    base = scheme("fifo", gossamer.network("torus:5x5"))
    by_order = {}
    for first in ("unicast", "broadcast"):
        both = mixed(base, {"broadcast": 1, "unicast": 12}, order=[first])
        found = simulate(both, load=0.8, settings=Settings(steps=4000))
        by_order[first] = {kind.name: kind.reception.mean for kind in found.kinds}
        assert found.kinds[0].reception.mean >= found.kinds[0].reception_bound
    assert by_order["unicast"]["unicast"] < by_order["broadcast"]["unicast"] - 1
    assert by_order["broadcast"]["broadcast"] < by_order["unicast"]["broadcast"] - 1


def test_a_pattern_sends_unicasts_where_it_says():
    destination = pattern("transpose", TORUS)
    both = mixed(scheme("fifo", TORUS), {"unicast": 3, "broadcast": 1}, destination=destination, ways=2)
    both.check()
    unicasts = np.flatnonzero(both.traffic.kind == 1)
    for source in range(16):
        if destination[source] == source:
            assert both.probability[source, unicasts].sum() == 0
            continue
        ends = set()
        for choice in unicasts.tolist():
            *_, (_, row, link) = both.walk((source, choice, 0), [source])
            assert both.counted[row].all()
            ends |= set(TORUS.link_target[link].tolist())
        assert ends == {int(destination[source])}


def test_the_words_of_a_mix():
    assert Mix("unicast:1", unicasts_to="transpose").of(scheme("fifo", TORUS)).source_nodes.size == 12
    assert Mix("broadcast:1").of(made := scheme("fifo", TORUS)) is made
    found = delay_load(TORUS, ["fifo"], [0.4], settings=Settings(steps=300), traffic=Mix("broadcast:1,unicast:4"))
    line = found[0].to_dict()
    assert line["unicast_share"] == pytest.approx(0.8)
    assert line["broadcast_last"] >= line["broadcast_reception"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Mix("broadcast:1,broadcast:2"), lambda: Mix("unicast:x"), lambda: Mix("unicast:-1"), lambda: Mix(""),
        lambda: Mix("unicast:0"), lambda: Mix("unicast:1e400"), lambda: Mix("unicast:nan"),
        lambda: Mix("unicast:1", order="broadcast"), lambda: Mix("broadcast:1", unicasts_to="transpose"),
        lambda: Mix("unicast:1", order="unicast,unicast"), lambda: Mix("unicast:1", set_size=0),
        lambda: Mix("unicast:1", unicasts_to="nowhere").of(scheme("fifo", TORUS)),
        lambda: mixed(scheme("mini-packets", TORUS), {"unicast": 1}),
        lambda: mixed(scheme("fifo", TORUS), {"unicast": 1}, destination=[1, 2]),
        lambda: mixed(scheme("fifo", TORUS), {"unicast": 1}, destination=np.arange(16)),
        lambda: mixed(scheme("fifo", TORUS), {"multicast": 1}, size=16),
        lambda: mixed(scheme("fifo", gossamer.network("hypercube:11")), {"unicast": 1}, destination=np.arange(2048)),
        lambda: delay_load(TORUS, ["varvarigos-bertsekas"], [0.1], traffic=Mix("unicast:1")),
        lambda: delay_load(TORUS, ["fifo"], [0.1], scheme_options={"control_time": 1}),
        lambda: simulate(mixed(scheme("fifo", TORUS), ALL), load=0.2, settings=Settings(choose="local")),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(wrong):
    with pytest.raises(GossamerError) as refused:
        wrong()
    assert "\n" not in str(refused.value)
