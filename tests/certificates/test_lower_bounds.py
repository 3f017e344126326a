"""The checker counts bounds again from witnesses, and no witness, whatever it says, proves too much."""

from __future__ import annotations

import datetime
import random
from fractions import Fraction

import networkx as nx
import pytest

import gossamer
import gossamer_check
from bounds.test_any_form import far_apart
from bounds.timed_cases import random_case
from certificates.random_witnesses import changed, items_of, network_of, random_witness
from certificates.samples import sample
from gossamer import Rules
from gossamer.bounds import bounds
from gossamer.bounds.partitions import rooted_gossip_bounds
from gossamer.bounds.witnesses import witnesses_of
from gossamer.errors import ScheduleError
from gossamer.networks import from_networkx
from gossamer.planning.certificates import bound_certificate, certificate, strongest
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Allreduce, Grouped, includes
from gossamer_check import Bound, Item, Net, Refused

FREE = {
    "send": None, "receive": None, "cut_through": False, "switches_copy": True, "switches_add": False,
    "buffer": None, "buffer_counts": "transit",
}  # fmt: skip
ONCE = FREE | {"switches_copy": False}
ONE = FREE | {"send": 1, "receive": 1}


def net_of(nodes, pairs, ranks=None, rules=FREE, symmetry=None, **more):
    """A network whose links lead both ways between pairs of nodes, sorted by source."""
    ends = sorted([*pairs, *((v, u) for u, v in pairs)])
    source, target = ([end[side] for end in ends] for side in (0, 1))
    given = {"nodes": nodes, "ranks": ranks or nodes, "source": source, "target": target}
    given |= {"capacity": 1, "occupancy": 1, "latency": 0, **more}
    return Net({"network": given, "rules": rules} | ({"symmetry": symmetry} if symmetry else {}))


def proved(net, items, witness, slots):
    """Whether a witness proves that a task takes so many slots."""
    if not gossamer_check.fits(witness, gossamer_check.CERTIFICATE["bound"]):
        raise Refused("the witness has not its form")
    slack = Bound(net, {}, items, witness).slack(Fraction(slots))
    return slack < 0 or (slack == 0 and not witness["whole"])


LINE = net_of(4, [(0, 1), (1, 2), (2, 3)])
RING = net_of(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
STAR = net_of(5, [(0, 4), (1, 4), (2, 4), (3, 4)], ranks=4)
EXCHANGE = [Item(False, [u], [v], 1) for u in range(4) for v in range(4) if u != v]
GOSSIP = [Item(False, [u], [v for v in range(4) if v != u], 1) for u in range(4)]
REDUCTIONS = [Item(True, [u], [0, 1, 2, 3], 1) for u in range(4)]
SUM = [Item(True, [0, 1, 2, 3], [0, 1, 2, 3], 4)]
NOTHING = {"whole": True, "blocks": False}
PARTS = {"whole": False, "blocks": False}
HALF = {"kind": "load", "price": {"link": 1}, "only": [2], "groups": [{"serve": "distance"}]}
RANKS = {
    "kind": "load",
    "price": {"link": 1},
    "groups": [{"serve": "sets", "sets": [[0], [1], [2], [3]], "weights": 1}],
}
TREES = {"kind": "load", "price": {"link": 1}, "groups": [{"serve": "trees"}]}


@pytest.mark.parametrize(
    ("net", "items", "witness", "value"),
    [
        # the middle link of a line: four messages cross, from slot 0 on, or later
        (LINE, EXCHANGE, NOTHING | HALF, 4),
        (LINE, EXCHANGE, PARTS | HALF, 4),
        (net_of(4, [(0, 1), (1, 2), (2, 3)], occupancy=3), EXCHANGE, NOTHING | HALF, 12),
        (net_of(4, [(0, 1), (1, 2), (2, 3)], latency=2), EXCHANGE, PARTS | HALF, 6),
        # of these, one from 0 to 3: it comes to the link after a slot, and needs one more
        (LINE, EXCHANGE, NOTHING | HALF | {"groups": [{"serve": "distance", "from": [0], "to": [3]}]}, 3),
        # hops: 20 over 6 links; 12 copies; 12 contributions
        (LINE, EXCHANGE, PARTS | HALF | {"only": [0, 1, 2, 3, 4, 5]}, Fraction(20, 6)),
        (RING, GOSSIP, PARTS | RANKS, Fraction(12, 8)),
        (RING, REDUCTIONS, NOTHING | RANKS, 2),
        # one port: each node sends one packet a slot
        (net_of(4, [(0, 1), (1, 2), (2, 3)], rules=ONE), EXCHANGE,
         NOTHING | {"kind": "load", "price": {"send": 1}, "groups": [{"serve": "distance"}]}, 5),
        # two calls of each of three links of a tree, for each of four packets, over eight links
        (RING, SUM, PARTS | TREES, Fraction(24, 8)),
        # through a switch that cannot copy, each call takes two hops
        (net_of(5, [(0, 4), (1, 4), (2, 4), (3, 4)], 4, ONCE), SUM,
         PARTS | TREES, Fraction(48, 8)),
        # sets that overlap, with weights: {0} and {0, 1} are both entered by what comes from 2 and 3 to node 0
        (LINE, GOSSIP, PARTS | RANKS | {"price": {"link": [1, 1, 1, 1, 1, 1]},
                                        "groups": [{"serve": "sets", "sets": [[0], [0, 1]], "weights": [1, 1]}]},
         Fraction(5, 6)),
        (LINE, GOSSIP, NOTHING | {"kind": "reach"}, 3),
        (net_of(4, [(0, 1), (1, 2), (2, 3)], latency=2), GOSSIP, PARTS | {"kind": "reach"}, 6),
        # in blocks, 3 slots to collect at an end of the line, and 3 to tell from there
        (LINE, SUM, {"whole": True, "blocks": True, "kind": "reach"}, 6),
        # with one port: in 2 slots 4 nodes know something; two others are at least a hop away from one that sends once
        (net_of(4, [(0, 1), (1, 2), (2, 3)], rules=ONE), GOSSIP, NOTHING | {"kind": "reach", "far": 0}, 3),
        (net_of(4, [(0, 1), (0, 2), (0, 3)], rules=ONE), [Item(False, [0], [1, 2, 3], 1)],
         NOTHING | {"kind": "reach", "far": 0}, 2),
        (net_of(3, [(0, 1), (0, 2)], rules=ONE), [Item(False, [0], [1, 2], 1)],
         NOTHING | {"kind": "reach", "far": 1}, 2),
        # a switch that does not copy: a rank tells the first one in 2 slots, and both tell another each two slots on
        (net_of(5, [(0, 4), (1, 4), (2, 4), (3, 4)], 4, ONCE), GOSSIP,
         NOTHING | {"kind": "reach", "far": 0}, 4),
        # a scatter of node 0 of a line, over one link; and the gather
        (LINE, EXCHANGE[:3], NOTHING | {"kind": "cut", "price": {"link": 1}, "since": [0, 3, 3, 3]}, 3),
        (LINE, [Item(False, [u], [0], 1) for u in (1, 2, 3)],
         NOTHING | {"kind": "cut", "price": {"link": 1}, "since": [3, 0, 0, 0]}, 3),
        # what comes to the second link a slot later: of 4 packets in 4 slots, one too many
        (LINE, [Item(False, [0], [2], 4)],
         NOTHING | {"kind": "cut", "price": {"link": 1}, "since": [0, 4, 5, 5]}, 5),
    ],
)  # fmt: skip
def test_laws_by_hand(net, items, witness, value):
    assert proved(net, items, witness, value)
    assert not proved(net, items, witness, value + (1 if witness["whole"] else Fraction(1, 1000)))


def test_what_takes_a_port_longer_counts_its_slots():
    """Over links of one and of three slots, node 0 sends four packets, in 2 x 1 + 2 x 3 slots."""
    net = net_of(3, [(0, 1), (0, 2)], rules=FREE | {"send": 1}, occupancy=[1, 3, 1, 3])
    items = [Item(False, [0], [v], 2) for v in (1, 2)]
    witness = NOTHING | {"kind": "load", "price": {"send": [1, 0, 0]}, "groups": [{"serve": "distance"}]}
    assert proved(net, items, witness, 8)
    assert not proved(net, items, witness, 9)


def test_a_shared_port_is_left_before_the_link():
    for receiving in (False, True):
        port = {"links": [0], "capacity": 1, "occupancy": 1, "receiving": receiving}
        net = net_of(2, [(0, 1)], occupancy=3, latency=1, shared=[port])
        witness = NOTHING | {"kind": "load", "price": {"shared": 1}, "groups": [{"serve": "distance"}]}
        assert proved(net, [Item(False, [0], [1], 5)], witness, 5 + 2 + 1)
        assert not proved(net, [Item(False, [0], [1], 5)], witness, 5 + 2 + 2)


def test_switches_that_cut_through_pass_heads():
    net = net_of(3, [(0, 2), (1, 2)], 2, FREE | {"cut_through": True}, occupancy=4, latency=1)
    items = [Item(False, [0], [1], 1)]
    assert proved(net, items, NOTHING | {"kind": "reach"}, 1 + 4 + 1)
    assert not proved(net, items, NOTHING | {"kind": "reach"}, 1 + 4 + 2)


def test_what_cannot_be_passed_in_time_offers_nothing():
    """Of two links into node 2, nothing comes to the slow one before all has passed the other."""
    net = net_of(3, [(0, 1), (0, 2), (1, 2)], latency=[9, 0, 9, 0, 0, 9])
    witness = PARTS | {"kind": "load", "price": {"link": 1}, "only": [1, 3], "groups": [{"serve": "distance"}]}
    assert proved(net, [Item(False, [0], [2], 5)], witness, 5)
    assert proved(net, [Item(False, [0], [2], 11)], witness, 10)
    assert not proved(net, [Item(False, [0], [2], 11)], witness, Fraction(1001, 100))


def test_with_a_symmetry_orbits_are_looked_at():
    turn = [2, 3, 0, 1]
    net = net_of(4, [(0, 1), (1, 2), (2, 3), (0, 3)],
                 symmetry={"generators": [turn], "commuting": [[1, 2, 3, 0]]})  # fmt: skip
    assert net.order == 2
    even = NOTHING | RANKS
    assert proved(net, GOSSIP[:2], even, 2)
    assert not proved(net, GOSSIP[:2], even, 3)
    # the price of an orbit is that of its lowest link
    uneven = even | {"price": {"link": [1, 1, 1, 1, 9, 9, 9, 9]}}
    assert not proved(net, GOSSIP[:2], uneven, 3)
    with pytest.raises(Refused, match="does not take sets to sets"):
        proved(net, GOSSIP[:2], even | {"groups": [{"serve": "sets", "sets": [[0]], "weights": 1}]}, 2)
    with pytest.raises(Refused, match="sets of the same weight"):
        proved(net, GOSSIP[:2], even | {"groups": [RANKS["groups"][0] | {"weights": [1, 1, 0, 0]}]}, 2)


@pytest.mark.parametrize(
    ("net", "items", "witness", "words"),
    [
        (LINE, GOSSIP, {"kind": ["load"]}, "the witness"),
        (LINE, GOSSIP, NOTHING | {"kind": "reach", "only": [0]}, "has not its form"),
        (LINE, GOSSIP, NOTHING | HALF | {"groups": [{"serve": "guess"}]}, "has not its form"),
        (LINE, GOSSIP, NOTHING | HALF | {"groups": [{"serve": "distance"}, {"serve": "distance"}]}, "counts twice"),
        (LINE, GOSSIP, NOTHING | HALF | {"price": {"link": [1]}}, "6 numbers"),
        (LINE, GOSSIP, NOTHING | HALF | {"price": {"link": -1}}, "has not its form"),
        (LINE, GOSSIP, NOTHING | RANKS | {"groups": [{"serve": "sets", "sets": [[0], [0, 1]], "weights": [1, 2]}]},
         "count more than a packet pays"),
        (net_of(4, [(0, 1), (1, 2), (2, 3)], 3, FREE | {"cut_through": True}), GOSSIP[:1],
         NOTHING | {"kind": "cut", "price": {"link": 1}, "since": [0, 0, 0, 0]}, "no switch cuts through"),
        (LINE, [SUM[0]._replace(packets=3)], {"whole": True, "blocks": True, "kind": "reach"},
         "equally many packets"),
    ],
)  # fmt: skip
def test_what_is_no_witness_is_refused(net, items, witness, words):
    with pytest.raises(Refused, match=words):
        proved(net, items, witness, 2)


SPECS = ("array:7", "torus:3x4", "ring:8", "hypercube:4", "circulant:13,1,5", "ccc:3", "kautz:2,2", "fat-tree:k=2,h=3",
         "leaf-spine:leaves=2,spines=2,hosts=2", "dragonfly:a=2,h=1,g=2,p=1", "servers:s=2,g=2,inside=2")  # fmt: skip
TASKS = ("broadcast", "scatter", "gather", "reduce", "allgather", "reduce-scatter", "alltoall", "allreduce",
         "partial-sum-allreduce")  # fmt: skip


def asked_of(spec, seed):
    """The case of a collective on a network, perhaps with times and in groups, under random rules."""
    rng = random.Random(f"{spec} {seed}")
    network = gossamer.network(spec)
    if rng.random() < 0.5:
        network = network.with_times(rng.randint(1, 3), rng.randint(0, 3))
    switches = network.terminal_count < network.node_count
    rules = Rules(
        ports=rng.choice(["all", "all", "one", "one-send"]), segmented=rng.random() < 0.4,
        cut_through=switches and rng.random() < 0.3, replication=not switches or rng.random() < 0.6,
    )  # fmt: skip
    task = gossamer.task(rng.choice(TASKS))
    if rng.random() < 0.2 and network.terminal_count % 2 == 0 and task.name not in ("broadcast", "reduce"):
        size = network.terminal_count // 2
        task = Grouped(task, [tuple(range(size)), tuple(range(size, 2 * size))])
    return Case(network, task, rules)


NOT_COUNTED = {
    "tree broadcast", "routing node sends", "routing node receives", "reduce, then broadcast",
    "reduce, then multinode broadcast", "reduce-scatter, then broadcast", "one after the other", "prices of slots",
    "idle leaves", "time on the way", "cut node sends", "cut node receives", "doubling with few neighbors",
    "between parts", "late copies", "few neighbors",
}  # fmt: skip
"""Bounds for some of which no law of the checker proves as much."""


def most_proved(case, known):
    """The most that witnesses of the largest bounds prove."""
    net, items, most = network_of(case), items_of(case), Fraction(0)
    for bound in known:
        for witness in witnesses_of(case, bound) if bound.value == known[0].value else ():
            most = max(most, strongest(net, items, witness, bound.value)[0])
            if most >= bound.value:
                return most
    return most


def test_nearly_all_bounds_are_counted_again():
    cases = [asked_of(spec, seed) for spec in SPECS for seed in range(6)]
    missed = []
    for case in cases:
        known = bounds(case)
        if most_proved(case, known) < known[0].value:
            missed.append(known[0].name)
    assert set(missed) <= NOT_COUNTED
    assert len(missed) <= len(cases) // 16


def test_a_cut_that_nothing_crosses_in_time_has_witnesses_with_shared_ports():
    network, task, rules, _ = random_case(192, 4)
    case = Case(network, task, rules)
    cut = next(bound for bound in bounds(case) if bound.name == "cut over time")
    assert network.shared_ports is not None
    assert most_proved(case, [cut]) >= cut.value


@pytest.mark.parametrize("task", ["broadcast", "reduce", "allreduce"])
def test_a_quickest_flow_is_a_cut_over_time(task):
    network = from_networkx(nx.petersen_graph()).with_times(1, 2)
    if task == "allreduce":
        network = gossamer.network("torus:2x3,occupancy=2x1,latency=1x4")
    case = Case(network, gossamer.task(task, packets=50), Rules(segmented=True))
    first = bounds(case)[0]
    found = bound_certificate(case, [first])
    assert (first.name, found["bound"]["kind"], found["bound"]["whole"]) == ("quickest flow", "cut", False)
    assert found["claim"]["bound"] == str(first.value) == ("619/3" if task == "allreduce" else "68/3")


@pytest.mark.parametrize("task", ["allreduce", "broadcast", "reduce"])
def test_parts_over_time_are_ends_that_are_drawn(task):
    network = gossamer.network("array:4x2").with_times(1, 3)
    case = Case(network, gossamer.task(task, packets=50), Rules(segmented=True))
    known = bounds(case) if task == "allreduce" else rooted_gossip_bounds(case)
    best = next(bound for bound in known if bound.name == "parts over time")
    certified = bound_certificate(case, [best])
    assert certified["bound"]["draw"]
    assert Fraction(certified["claim"]["bound"]) >= best.value > 0


def drawn_witness(rng, net, rooted):
    """Lists of ranks from which one is drawn, of parts or at random, and prices, mostly of links between parts."""
    part = [rng.randrange(4) for _ in range(net.nodes)]
    held = [some for some in ([v for v in range(net.ranks) if part[v] == k] for k in range(4)) if some]
    size = max(map(len, held))
    draw = [[some[i % len(some)] for i in range(size)] for some in held]
    if rng.random() < 0.4:
        draw = [rng.choices(range(net.ranks), k=2) for _ in range(rng.randint(1, 3))]
    price = [int(part[u] != part[v]) * rng.choice([1, 1, 2]) for u, v in zip(net.source, net.target, strict=True)]
    sets = [[v for v in range(net.nodes) if part[v] == k] for k in range(4)]
    group = {"serve": "sets", "sets": sets, "weights": 1} if rooted else {"serve": "trees"}
    law = {"kind": "load", "whole": rng.random() < 0.5, "blocks": False, "price": {"link": price}, "draw": draw}
    return law | {"groups": [group]}


@pytest.mark.exhaustive(always=3)
@pytest.mark.solver
@pytest.mark.parametrize("seed", range(40))
def test_no_ends_that_are_drawn_beat_an_optimum(seed):
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    from bounds.oracle import UndecidedError
    from bounds.sums_oracle import sums_within

    network, task, rules = far_apart(seed)
    case, rng, slots = Case(network, task, rules), random.Random(seed), 1
    net, items = network_of(case), items_of(case)
    item = items[0]._replace(packets=sum(one.packets for one in items))
    try:
        while sums_within(network, task, rules, slots) is None:
            slots += 1
    except UndecidedError:
        return
    for _ in range(100):
        witness = drawn_witness(rng, net, len(item.root) == 1)
        more = slots + (1 if witness["whole"] else Fraction(1, 10**6))
        assert not proved(net, [item], witness, more), witness


def judged(rng, net, items, known, slots, times, blocks):
    """Yield random and changed witnesses, with whether they prove so many slots, and whether more."""
    for _ in range(times):
        if known and rng.random() < 0.35:
            witness = changed(rng, rng.choice(known))
        else:
            witness = random_witness(rng, net, rng.random() < 0.6, rng.random() < 0.4)
        if not blocks:
            witness["blocks"] = False
        more = slots + (1 if witness["whole"] is True else Fraction(1, 10**6))
        try:
            yield proved(net, items, witness, slots), proved(net, items, witness, more), witness
        except Refused:
            continue


@pytest.mark.parametrize("seed", range(8))
def test_no_witness_beats_a_schedule(seed):
    rng = random.Random(seed)
    plan = sample(seed)
    try:
        found = certificate(plan)
    except ScheduleError:
        pytest.skip("no certificate")
    net = Net(found)
    if net.ranks < 2:
        pytest.skip("a single rank")
    items = gossamer_check.read_task(found["task"], net)[1]
    slots = Fraction(found["claim"]["time"]) / Fraction(found["time"]["slot"])
    known = [found["bound"]] if found["bound"] else []
    for _, more, witness in judged(rng, net, items, known, slots, 60, blocks=False):
        assert not more, (seed, witness)


CASES, SAMPLE = 480, 12


def beaten(seed, times):
    """Return the witnesses that prove more than the exact optimum of a random case, and how many proved as much."""
    pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")
    from bounds.oracle import UndecidedError
    from bounds.timed_oracle import schedule_within

    network, task, rules, parts = random_case(seed, 4)
    case = Case(network, task, rules)
    net, items, rng, known = network_of(case, parts), items_of(case, parts), random.Random(seed), bounds(case)
    slots = int(-(-known[0].value * parts // 1))
    try:
        while schedule_within(network, task, rules, slots, parts) is None:
            slots += 1
    except UndecidedError:
        return [], 0
    good = [strongest(net, items, one, bound.value)[1] for bound in known for one in witnesses_of(case, bound)]
    found = list(judged(rng, net, items, good, Fraction(slots), times, blocks=includes(task, Allreduce)))
    return [witness for _, more, witness in found if more], sum(met for met, _, _ in found)


@pytest.mark.solver
def test_no_witness_beats_the_optimum():
    first = datetime.date.today().toordinal() % (CASES // SAMPLE) * SAMPLE
    found = [beaten(seed, 80) for seed in range(first, first + SAMPLE)]
    assert not [one for bad, _ in found for one in bad]
    assert sum(tight for _, tight in found) > SAMPLE  # the witnesses are no weak ones


@pytest.mark.slow
@pytest.mark.solver
@pytest.mark.parametrize("first", range(0, CASES, 40))
def test_no_witness_beats_any_optimum(first):
    for seed in range(first, first + 40):
        assert not beaten(seed, 150)[0], seed


@pytest.mark.parametrize(
    ("spec", "task"), [("ring:5", "alltoall"), ("torus:3x4", "allgather"), ("ring:6", "allreduce")]
)
def test_with_a_symmetry_no_more_is_proved(spec, task):
    found = certificate(gossamer.plan(spec, task).schedule)
    net = Net(found)
    items = gossamer_check.read_task(found["task"], net)[1]
    full, rng = images(items, found["symmetry"]["generators"], net.order), random.Random(1)
    free = Net({name: value for name, value in found.items() if name != "symmetry"})
    tried = 0
    for _ in range(400):
        witness = random_witness(rng, net, rng.random() < 0.6, False)
        for group in witness.get("groups", [witness]):
            group.pop("from", None)
            group.pop("to", None)
        price = witness.get("price", {})
        for name, values in price.items():
            orbit = net.link_orbit if name == "link" else net.orbit
            price[name] = [values[low] for low in orbit] if isinstance(values, list) else values
        for group in witness.get("groups", []):
            if isinstance(group.get("weights"), list):
                group["weights"] = [group["weights"][low] for low in net.orbit[: net.ranks]]
        for slots in range(1, 12):
            try:
                if not proved(net, items, witness, slots):
                    break
            except Refused:
                break
            tried += 1
            assert proved(free, full, witness, slots), witness
    assert tried > 40


def images(items, generators, order):
    """All images of items, each with its share of the packets."""
    found = []
    for item in items:
        todo, orbit = [(item.back, tuple(sorted(item.root)), tuple(sorted(item.leaves)))], set()
        while todo:
            one = todo.pop()
            if one not in orbit:
                orbit.add(one)
                todo += [(one[0], *(tuple(sorted(g[v] for v in end)) for end in one[1:])) for g in generators]
        found += [Item(k, list(a), list(b), item.packets * order // len(orbit)) for k, a, b in sorted(orbit)]
    return found
