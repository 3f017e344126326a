"""The smallest schedule that breaks each rule, and the words in which the checker says so."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.errors import ScheduleError, VerificationError
from gossamer.networks import SharedPorts
from gossamer.schedules import CONTROL, Packets, Phase, Schedule
from gossamer.verification import KINDS, verify
from schedules import timed_twin

pytestmark = pytest.mark.uncompiled


def schedule(task, *columns, spec="array:3", **options) -> Schedule:
    """On a line, link 0 leads 0->1, link 1 leads 1->2, link 2 leads 1->0, link 3 leads 2->1."""
    name, fields = task if isinstance(task, tuple) else (task, {})
    names = ("ports", "split", "buffer", "buffer_counts", "cut_through", "replication", "reduction")
    rules = gossamer.Rules(**{n: options.pop(n) for n in names if n in options})
    cost = gossamer.StepCost(options.pop("control_time", 0))
    task = gossamer.task(name, **fields)
    network = gossamer.network(spec)
    network = network.with_times(*options.pop("times")) if "times" in options else network
    if options.pop("shared", False):
        network = network.with_ports(SharedPorts(network.link_source, network.link_target))
    return Schedule(network, task, rules, *(columns or ([], [], [])), cost=cost, **options)


ONE_MOVE = ("permutation", {"destination": [2, -1, -1]})
EDGE_MOVE = ("permutation", {"destination": [-1, 2, -1]})
MIDDLE, TO_MIDDLE = ("broadcast", {"root": 1}), ("gather", {"root": 1})
FLOOD = ([0, 1], [0, 1], [0, 0])
TWO_PARTS = ([0, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1])
FOUR_PARTS = ([0, 1, 2, 2, 3, 3, 4, 4, 5], [0, 0, 0, 1, 0, 1, 0, 1, 1], [CONTROL, 0, 1, 0, 2, 1, 3, 2, 3])

SMALLEST = {
    "causality of a copy": (
        schedule("broadcast", [0, 0], [0, 1], [0, 0]),
        "causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet",
        "delivery: node (2) never gets packet 0 (message 0, part 0)",
    ),
    "causality of a moved packet": (
        schedule(ONE_MOVE, [0, 0], [0, 1], [0, 0]),
        "causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet",
        "delivery: packet 0 (message 0, part 0) ends at node (1) instead of (2)",
    ),
    "causality at a node that only passes on": (
        schedule("reduce", [0, 0], [1, 2], [0, 0], spec="fat-tree:k=2,h=1", reduction=True),
        "causality: slot 0: (1,0)->(0,0) carries packet 0, of which node (1,0) has nothing to send on",
        "delivery: node (1,0) never sends its contribution to packet 0 (message 0, part 0)",
    ),
    "link capacity": (
        schedule("scatter", [0, 0, 1], [0, 0, 1], [0, 1, 1]),
        "link capacity: slot 0: (0)->(1) carries packets 0, 1, capacity 1",
    ),
    "link capacity with a control packet": (
        schedule("broadcast", [0, 0, 1], [0, 0, 1], [0, CONTROL, 0]),
        "link capacity: slot 0: (0)->(1) carries packets 0, control, capacity 1",
    ),
    "link capacity above 1": (
        schedule("broadcast", [0, 0, 0, 1], [0, 0, 0, 3], [CONTROL, CONTROL, 0, 0], spec="fat-tree:k=2,h=1,capacity=2"),
        "link capacity: slot 0: (0,0)->(1,0) carries packets control, control, 0, capacity 2",
    ),
    "send port": (
        schedule(MIDDLE, [0, 0], [1, 2], [0, 0], ports="one-send"),
        "send port: slot 0: node (1) sends packet 0 to (0) besides another packet; it has one send port",
    ),
    "send port of a control packet": (
        schedule(MIDDLE, [0, 0, 1], [1, 2, 2], [0, CONTROL, 0], ports="one"),
        "send port: slot 0: node (1) sends a control packet to (0) besides another packet; it has one send port",
    ),
    "receive port": (
        schedule(TO_MIDDLE, [0, 0], [0, 3], [0, 1], ports="one"),
        "receive port: slot 0: node (1) gets packet 1 from (2) besides another packet; it has one receive port",
    ),
    "duplicate copy": (
        schedule("broadcast", [0, 1, 1], [0, 1, 2], [0, 0, 0]),
        "duplicate: slot 1: (1)->(0) carries packet 0, which node (0) has already",
    ),
    "duplicate of a moved packet": (
        schedule(EDGE_MOVE, [0, 0], [1, 2], [0, 0]),
        "duplicate: slot 0: (1)->(0) carries packet 0, which node (1) has sent already",
    ),
    "duplicate contribution": (
        schedule("reduce", [0, 0, 1, 2], [0, 1, 3, 2], [0, 0, 0, 0]),
        "duplicate: slot 1: (2)->(1) carries packet 0 with the contribution of node (1), "
        "which would count twice in the sum of node (1)",
        "delivery: node (0) ends packet 0 (message 0, part 0) without the contribution of node (2)",
    ),
    "lost contribution": (
        schedule("reduce", [0, 0], [3, 2], [0, 0]),
        "lost contribution: slot 0: (2)->(1) carries packet 0 to node (1), whose own contribution has left",
    ),
    "delivery of a copy to all": (
        schedule("broadcast", [0], [0], [0]),
        "delivery: node (2) never gets packet 0 (message 0, part 0)",
    ),
    "delivery of a copy to some": (
        schedule(("one-to-many-routing", {"destinations": [[2], [], []]}), [0], [0], [0]),
        "delivery: node (2) never gets packet 0 (message 0, part 0)",
    ),
    "delivery of a moved packet": (
        schedule(ONE_MOVE, [0], [0], [0]),
        "delivery: packet 0 (message 0, part 0) ends at node (1) instead of (2)",
    ),
    "delivery that never starts": (
        schedule(EDGE_MOVE),
        "delivery: node (2) never gets packet 0 (message 1, part 0)",
    ),
    "delivery of a contribution": (
        schedule("reduce", [0], [2], [0]),
        "delivery: node (2) never sends its contribution to packet 0 (message 0, part 0)",
    ),
    "buffer in transit": (
        schedule(
            "gather", [0, 1, 2, 3, 4, 5], [5, 4, 4, 2, 2, 2], [2, 1, 2, 1, 2, 0], spec="array:4", buffer=1
        ),
        "buffer: before slot 3: node (1) holds 2 packets, buffer 1",
    ),
    "buffer of all that a node holds": (
        schedule("gather", [0, 1, 2], [2, 3, 2], [0, 1, 1], buffer=1, buffer_counts="all"),
        "buffer: at the end: node (0) holds 2 packets, buffer 1",
    ),
    "buffer before the first slot": (
        schedule("scatter", [0, 1, 1], [0, 0, 1], [1, 0, 1], buffer=1, buffer_counts="all"),
        "buffer: before slot 0: node (0) holds 2 packets, buffer 1",
    ),
    "delivery, and no word of buffers": (
        schedule("scatter", [0, 1], [0, 1], [1, 1], buffer=1, buffer_counts="all"),
        "delivery: node (1) never gets packet 0 (message 1, part 0)",
    ),
    "wrong payload of no message": (
        schedule("broadcast", packets=Packets([0], [7], [0])),
        "wrong payload: packet 0 is of message 7, which the task does not have",
        "wrong payload: no packet carries part 0 of message 0",
    ),
    "wrong payload of no part": (
        schedule("broadcast", packets=Packets([0], [0], [1])),
        "wrong payload: packet 0 is part 1; parts are 0..0",
        "wrong payload: no packet carries part 0 of message 0",
    ),
    "wrong payload at another origin": (
        schedule("broadcast", [0, 0], [1, 2], [0, 0], packets=Packets([1], [0], [0])),
        "wrong payload: packet 0 of message 0 cannot start at node 1",
    ),
    "wrong payload twice": (
        schedule("broadcast", [0, 1], [0, 1], [0, 1], packets=Packets([0, 0], [0, 0], [0, 0])),
        "wrong payload: packet 1 repeats part 0 of message 0",
    ),
    "wrong payload of one message for another": (
        schedule("scatter", packets=Packets([0, 0], [1, 1], [0, 0])),
        "wrong payload: packet 1 repeats part 0 of message 1",
        "wrong payload: no packet carries part 0 of message 2",
    ),
    "wrong payload of a message below the first": (
        schedule(("permutation", {"destination": [-1, -1, 1]}), [0], [3], [0], packets=Packets([2], [0], [0])),
        "wrong payload: packet 0 is of message 0, which the task does not have",
        "wrong payload: no packet carries part 0 of message 2",
    ),
    "slot length of a packet": (
        schedule("broadcast", *FLOOD, phases=[Phase("flood", 2, Fraction(1, 2))]),
        "slot length: phase 'flood' has slots of 1/2 step; a packet needs 1",
    ),
    "slot length of a part": (
        schedule("broadcast", *TWO_PARTS, parts=2, split=True, phases=[Phase("flood", 3, Fraction(1, 3))]),
        "slot length: phase 'flood' has slots of 1/3 step; a part of 1/2 message needs 1/2",
    ),
    "slot length of a control packet": (
        schedule(
            "broadcast", [0, 1, 2], [0, 0, 1], [CONTROL, 0, 0], control_time="1/4",
            phases=[Phase("learn", 1, Fraction(1, 5)), Phase("flood", 2)],
        ),
        "slot length: phase 'learn' has slots of 1/5 step; a control packet needs 1/4",
    ),
    "slot length of a control packet longer than a part": (
        schedule(
            "broadcast", *FOUR_PARTS, control_time="1/2", parts=4, split=True,
            phases=[Phase("learn", 1, Fraction(1, 4)), Phase("flood", 5, Fraction(1, 4))],
        ),
        "slot length: phase 'learn' has slots of 1/4 step; a control packet needs 1/2",
    ),
    "splitting": (
        schedule("broadcast", *TWO_PARTS, parts=2),
        "splitting: messages are cut into 2 parts; the rules have whole ones",
    ),
    "order": (
        schedule("allreduce", [0, 1, 1, 2], [0, 1, 0, 1], [1, 0, 2, 3], spec="array:2"),
        "order: slot 1: message 2 leaves before message 0 is complete in slot 1",
    ),
    "order of a message that goes on later": (
        schedule(
            "allreduce", [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4], [0, 3, 0, 1, 2, 0, 1, 3, 2, 3, 1, 2],
            [2, 0, 3, 2, 0, 1, 3, 5, 5, 1, 4, 4],
        ),
        "order: slot 1: message 3 leaves before message 0 is complete in slot 1",
    ),
    "unfinished": (
        schedule("broadcast", [0, 5], [0, 1], [0, 0], phases=[Phase("flood", 6)], times=([3, 2, 1, 1], [2, 0, 0, 0])),
        "unfinished: slot 5: (1)->(2) carries packet 0 until slot 7, after the last of 6 slots",
    ),
    "control packet": (
        schedule("broadcast", [0, 0, 2], [0, 2, 1], [0, CONTROL, 0], times=(2, 0)),
        "control packet: slot 0: (1)->(0) carries a control packet; "
        "where links take time or share ports there are none",
    ),
    "shared port": (
        schedule(MIDDLE, [0, 0], [1, 2], [0, 0], shared=True),
        "shared port: slot 0: (1)->(0) carries packet 0 through a shared NIC or uplink that is full",
    ),
    "link capacity on a slow link": (
        schedule("scatter", [0, 1, 3, 6], [0, 0, 1, 1], [1, 0, 1, 0], times=(3, 0)),
        "link capacity: slot 1: (0)->(1) carries packets 1, 0, capacity 1",
        "delivery: packet 0 (message 1, part 0) ends at node (2) instead of (1)",
    ),
    "causality of a copy that a switch has sent on": (
        schedule("broadcast", [0, 1, 1], [0, 4, 5], [0, 0, 0], spec="fat-tree:k=3,h=1", replication=False),
        "causality: slot 1: (1,0)->(0,2) carries packet 0, of which switch (1,0) has no copy left to send on",
        "delivery: node (0,2) never gets packet 0 (message 0, part 0)",
    ),
    "delivery from a switch": (
        schedule("reduce", [0, 0, 1], [1, 2, 3], [0, 0, 0], spec="fat-tree:k=3,h=1"),
        "delivery: switch (1,0) never sends on all that it has of packet 0 (message 0, part 0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALLEST)
def test_the_checker_names_what_is_broken(name):
    broken, *lines = SMALLEST[name]
    result = verify(broken)
    assert [str(v) for v in result.violations] == lines
    assert name.startswith(result.violations[0].kind)
    assert result.counts == dict(timed_twin.counted(broken))
    assert not result


def test_every_kind_has_an_example():
    assert {line.partition(":")[0] for _, *lines in SMALLEST.values() for line in lines} == set(KINDS)


def test_a_violation_names_slot_nodes_link_and_packets():
    causality, delivery = verify(SMALLEST["causality of a copy"][0]).violations
    assert (causality.slot, causality.nodes, causality.link, causality.packets) == (0, (1, 2), 1, (0,))
    assert (delivery.slot, delivery.nodes, delivery.link, delivery.packets) == (None, (2,), None, (0,))
    (capacity,) = verify(SMALLEST["link capacity"][0]).violations
    assert (capacity.slot, capacity.nodes, capacity.link, capacity.packets) == (0, (0, 1), 0, (0, 1))
    (buffer,) = verify(SMALLEST["buffer in transit"][0]).violations
    assert (buffer.slot, buffer.nodes) == (3, (1,))


@pytest.mark.parametrize(
    ("ports", "kinds"),
    [("all", set()), ("one-send", {"send port"}), ("one", {"send port", "receive port"})],
)
def test_ports_limit_what_they_say(ports, kinds):
    through = schedule("scatter", [0, 1, 1], [0, 0, 1], [1, 0, 1], ports=ports)
    assert verify(through).ok  # a node may send and receive in one slot
    there = schedule(MIDDLE, [0, 0], [1, 2], [0, 0], ports=ports)
    back = schedule(TO_MIDDLE, [0, 0], [0, 3], [0, 1], ports=ports)
    assert {*verify(there).counts, *verify(back).counts} == kinds


def test_packets_in_any_order_are_the_same_payload():
    assert verify(schedule("broadcast", *TWO_PARTS, parts=2, split=True)).ok
    swapped = ([0, 1, 1, 2], [0, 0, 1, 1], [1, 0, 1, 0])
    packets = Packets([0, 0], [0, 0], [1, 0])
    assert verify(schedule("broadcast", *swapped, parts=2, split=True, packets=packets)).ok


def test_the_limit_names_the_first_and_counts_the_rest():
    silent = schedule("broadcast", spec="array:8")
    everything = verify(silent)
    assert (everything.total, len(everything.violations)) == (7, 7)
    some = verify(silent, limit=2)
    assert some.counts == {"delivery": 7}
    assert some.violations == everything.violations[:2]
    assert str(some).splitlines() == [
        "invalid: 7 violations (7 delivery)",
        "  delivery: node (1) never gets packet 0 (message 0, part 0)",
        "  delivery: node (2) never gets packet 0 (message 0, part 0)",
        "  ... and 5 more",
    ]
    assert verify(silent, limit=0).counts == {"delivery": 7}
    with pytest.raises(ScheduleError, match=r"^limit must be 0 or more, got -1$"):
        verify(silent, limit=-1)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_limit_holds_for_every_kind(limit):
    for broken, *lines in SMALLEST.values():
        result = verify(broken, limit=limit)
        assert [str(v) for v in result.violations] == lines[:limit]
        assert result.total == len(lines)


def test_verification_speaks_in_one_line():
    good = verify(schedule("broadcast", *FLOOD))
    assert str(good) == "valid: 2 transfers checked, no violation"
    everywhere = verify(gossamer.plan("torus:4x4", "allgather").schedule)
    assert str(everywhere) == "valid: 240 transfers (15 checked, the rest by symmetry), no violation"
    again = gossamer.plan("ring:4", "broadcast", cost=gossamer.TimeCost("1GiB", bandwidth="1GB/s"))
    told = again.verification
    assert told.transfers == again.schedule.hop_count > told.hops
    assert told.checked == f"{told.transfers:,} transfers ({told.hops:,} checked, the rest by repetition)"
    assert good
    good.raise_if_invalid()
    bad = verify(SMALLEST["splitting"][0])
    assert str(bad).splitlines()[0] == "invalid: 1 violation (1 splitting)"
    with pytest.raises(VerificationError) as error:
        bad.raise_if_invalid()
    assert str(error.value) == (
        "the schedule is not valid: splitting: messages are cut into 2 parts; the rules have whole ones"
    )
    with pytest.raises(VerificationError) as error:
        verify(schedule("broadcast"), limit=0).raise_if_invalid()
    assert str(error.value) == "the schedule is not valid: delivery (and 1 more)"
