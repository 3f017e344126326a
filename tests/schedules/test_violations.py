"""The smallest schedule that breaks each rule, and the words in which the checker says so."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.errors import ScheduleError, VerificationError
from gossamer.schedules import CONTROL, KINDS, Packets, Phase, Schedule, verify

pytestmark = pytest.mark.uncompiled

LINE = "array:3"  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->1


def schedule(task, slot=(), link=(), packet=(), spec=LINE, model=None, **options) -> Schedule:
    name, fields = task if isinstance(task, tuple) else (task, {})
    model = gossamer.Model(**(model or {}))
    return Schedule(gossamer.network(spec), gossamer.task(name, **fields), model, slot, link, packet, **options)


def ends(spec: str = LINE) -> list[tuple[int, int]]:
    network = gossamer.network(spec)
    return list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))


SCATTER = [0, 0, 1], [0, 0, 1]  # slots 0, 1, 2: packet 1 then 0 over 0->1, then packet 1 over 1->2
SMALLEST = {
    "causality of a copy": (
        schedule("broadcast", [0, 0], [0, 1], [0, 0]),
        ["causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet",
         "delivery: node (2) never gets packet 0 (message 0, part 0)"],
    ),
    "causality of a moved packet": (
        schedule(("permutation", {"destination": [2, -1, -1]}), [0, 0], [0, 1], [0, 0]),
        ["causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet",
         "delivery: packet 0 (message 0, part 0) ends at node (1) instead of (2)"],
    ),
    "causality at the root of a reduction": (
        schedule("reduce", [0, 1, 2], [3, 2, 0], [0, 0, 0]),
        ["causality: slot 2: (0)->(1) carries packet 0, of which node (0) has nothing to send on"],
    ),
    "causality at a node that only passes on": (
        schedule("reduce", [0, 1], [1, 2], [0, 0], spec="fat-tree:k=2,h=1"),
        ["causality: slot 1: (1,0)->(0,0) carries packet 0, of which node (1,0) has nothing to send on",
         "delivery: node (1,0) never sends its contribution to packet 0 (message 0, part 0)"],
    ),
    "link capacity": (
        schedule("scatter", [0, 0, 1], [0, 0, 1], [0, 1, 1]),
        ["link capacity: slot 0: (0)->(1) carries packets 0, 1, capacity 1"],
    ),
    "link capacity with a control packet": (
        schedule("broadcast", [0, 0, 1], [0, 0, 1], [0, CONTROL, 0]),
        ["link capacity: slot 0: (0)->(1) carries packets 0, control, capacity 1"],
    ),
    "link capacity above 1": (
        schedule("broadcast", [0, 0, 0, 1], [0, 0, 0, 3], [CONTROL, CONTROL, 0, 0], spec="fat-tree:k=2,h=1,capacity=2"),
        ["link capacity: slot 0: (0,0)->(1,0) carries packets control, control, 0, capacity 2"],
    ),
    "send port": (
        schedule("broadcast", [0, 0], [1, 2], [0, 0], spec="array:3", model={"ports": "one-send"}),
        ["causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet",
         "send port: slot 0: node (1) sends packet 0 to (0) besides another packet; it has one send port",
         "causality: slot 0: (1)->(0) carries packet 0, which node (1) does not hold yet",
         "delivery: node (1) never gets packet 0 (message 0, part 0)",
         "delivery: node (2) never gets packet 0 (message 0, part 0)"],
    ),
    "send port only": (
        schedule(("broadcast", {"root": 1}), [0, 0], [1, 2], [0, 0], model={"ports": "one"}),
        ["send port: slot 0: node (1) sends packet 0 to (0) besides another packet; it has one send port"],
    ),
    "receive port": (
        schedule(("gather", {"root": 1}), [0, 0], [0, 3], [0, 1], model={"ports": "one"}),
        ["receive port: slot 0: node (1) gets packet 1 from (2) besides another packet; it has one receive port"],
    ),
    "receive port with a control packet": (
        schedule(("broadcast", {"root": 1}), [0, 1, 1], [1, 2, 3], [0, 0, CONTROL], model={"ports": "one"}),
        [],
    ),
    "duplicate copy": (
        schedule("broadcast", [0, 1, 1], [0, 1, 2], [0, 0, 0]),
        ["duplicate: slot 1: (1)->(0) carries packet 0, which node (0) has already"],
    ),
    "duplicate of a moved packet": (
        schedule(("permutation", {"destination": [-1, 2, -1]}), [0, 0], [1, 2], [0, 0]),
        ["duplicate: slot 0: (1)->(0) carries packet 0, which node (1) has sent already"],
    ),
    "duplicate contribution": (
        schedule("reduce", [0, 1, 2], [3, 2, 2], [0, 0, 0]),
        ["duplicate: slot 2: (1)->(0) carries packet 0, which node (1) has contributed already"],
    ),
    "lost contribution": (
        schedule("reduce", [0, 0], [3, 2], [0, 0]),
        ["lost contribution: slot 0: (2)->(1) carries packet 0 to node (1), whose own contribution has left"],
    ),
    "delivery of a copy": (
        schedule("broadcast", [0], [0], [0]),
        ["delivery: node (2) never gets packet 0 (message 0, part 0)"],
    ),
    "delivery to a target": (
        schedule(("one-to-many-routing", {"destinations": [[2], [], []]}), [0], [0], [0]),
        ["delivery: node (2) never gets packet 0 (message 0, part 0)"],
    ),
    "delivery that never starts": (
        schedule(("permutation", {"destination": [-1, 2, -1]})),
        ["delivery: node (2) never gets packet 0 (message 1, part 0)"],
    ),
    "delivery of a contribution": (
        schedule("reduce", [0], [2], [0]),
        ["delivery: node (2) never sends its contribution to packet 0 (message 0, part 0)"],
    ),
    "buffer": (
        schedule(("partial-exchange", {"active": [0]}), [0, 1, 2, 3], [0, 0, 1, 1], [0, 1, 1, 1]),
        ["causality: slot 3: (1)->(2) carries packet 1, which node (1) does not hold yet"],
    ),
    "buffer in transit": (
        schedule(
            ("partial-gather", {"active": [0]}), [0, 1, 2, 3, 4, 5], [5, 3, 5, 2, 2, 2], [2, 1, 2, 0, 1, 2],
            spec="array:4", model={"buffer": 1},
        ),
        [],
    ),
    "wrong payload of no message": (
        schedule("broadcast", packets=Packets([0], [7], [0])),
        ["wrong payload: packet 0 is of message 7, which the task does not have",
         "wrong payload: no packet carries part 0 of message 0"],
    ),
    "wrong payload of no part": (
        schedule("broadcast", packets=Packets([0], [0], [1])),
        ["wrong payload: packet 0 is part 1; parts are 0..0",
         "wrong payload: no packet carries part 0 of message 0"],
    ),
    "wrong payload at another origin": (
        schedule("broadcast", [0, 0], [1, 2], [0, 0], packets=Packets([1], [0], [0])),
        ["wrong payload: packet 0 of message 0 cannot start at node 1"],
    ),
    "wrong payload twice": (
        schedule("broadcast", [0, 1], [0, 1], [0, 1], packets=Packets([0, 0], [0, 0], [0, 0])),
        ["wrong payload: packet 1 repeats part 0 of message 0"],
    ),
    "slot length of packets": (
        schedule("broadcast", [0, 1], [0, 1], [0, 0], phases=[Phase("flood", 2, Fraction(1, 2))]),
        ["slot length: phase 'flood' has slots of 1/2 step; a packet needs 1"],
    ),
    "slot length of parts": (
        schedule(
            "broadcast", [0, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1], parts=2, model={"split": True},
            phases=[Phase("flood", 3, Fraction(1, 3))],
        ),
        ["slot length: phase 'flood' has slots of 1/3 step; a part of 1/2 message needs 1/2"],
    ),
    "slot length of control packets": (
        schedule(
            "broadcast", [0, 1, 2], [0, 0, 1], [CONTROL, 0, 0], model={"control_time": "1/4"},
            phases=[Phase("learn", 1, Fraction(1, 5)), Phase("flood", 2)],
        ),
        ["slot length: phase 'learn' has slots of 1/5 step; a control packet needs 1/4"],
    ),
    "splitting": (
        schedule("broadcast", [0, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1], parts=2),
        ["splitting: messages are cut into 2 parts; the model has whole ones"],
    ),
    "order": (
        schedule("allreduce", [0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 2, 3], spec="fat-tree:k=2,h=1,capacity=2")
        if False
        else schedule("allreduce", [0, 1, 1, 2], [0, 1, 0, 1], [1, 0, 2, 3], spec="array:2"),
        ["order: slot 1: message 2 leaves before message 0 is complete in slot 1"],
    ),
}  # fmt: skip


def test_links_of_the_examples_are_as_written():
    assert ends() == [(0, 1), (1, 2), (1, 0), (2, 1)]
