"""Transformations keep a schedule valid, and undo each other."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, ScheduleError, TaskError
from gossamer.networks import Network
from gossamer.questions.tasks import TASKS
from gossamer.schedules import (
    CONTROL,
    Packets,
    Phase,
    Schedule,
    Symmetry,
    expand,
    relabel,
    repeated_on_torus,
    reverse,
    then,
)
from gossamer.schedules.hop_table import summed_packets
from gossamer.verification import verify
from schedules import twin
from schedules.strategies import NAMES, build, mutated, mutations, phased, schedules

NO_DUAL = ("one-to-many-routing", "group-multinode-broadcast", "allreduce")
DUAL = tuple(name for name in NAMES if name not in (*NO_DUAL, "demands"))  # of which copies may end anywhere
SIMPLE = tuple(name for name in NAMES if name not in ("uneven-exchange", "demands"))


def by_message(schedule: Schedule) -> Schedule:
    """The schedule with its packets in the order of messages and parts."""
    table = schedule.packets
    order = np.lexsort((table.part, table.message))
    where = np.append(np.argsort(order), CONTROL).astype(np.int32)
    packets = Packets(table.origin[order], table.message[order], table.part[order])
    return schedule.replace(packets=packets, packet=where[schedule.packet])


# -- reversal ------------------------------------------------------------------------------------------------


def reversible(schedule: Schedule) -> bool:
    """No copy ends at a node that only passes on."""
    sent, got = set(), set()
    for e, p in zip(schedule.link.tolist(), schedule.packet.tolist(), strict=True):
        sent.add((p, int(schedule.network.link_source[e])))
        got.add((p, int(schedule.network.link_target[e])))
    dead_ends = {(p, v) for p, v in got - sent if p != CONTROL and v >= schedule.network.terminal_count}
    return not dead_ends


@settings(max_examples=120)
@given(schedules(names=DUAL, two_way=True))
def test_reversal_carries_out_the_dual_task_in_the_same_time(schedule):
    assume(reversible(schedule))
    back = reverse(schedule)
    event(back.task.name)
    assert back.task == schedule.task.dual(schedule.network)
    assert back.rules == schedule.rules.dual.on(schedule.network)
    assert verify(back).ok, str(verify(back))
    assert not twin.violations(back)
    assert (back.completion_time, back.hop_count) == (schedule.completion_time, schedule.hop_count)
    assert back.algorithm == "reverse of random"


@settings(max_examples=120)
@given(schedules(names=DUAL, two_way=True), mutations)
def test_reversing_twice_changes_nothing_even_in_a_broken_schedule(schedule, changes):
    changed = mutated(schedule, changes)
    assume("wrong payload" not in verify(changed).counts)
    try:
        again = changed.reverse().reverse()
    except ScheduleError:
        try:
            told = refusal(changed.reverse())
        except ScheduleError:
            told = refusal(changed)
        assert told.startswith(("control packets hop after", "a partial sum of packet"))
        return
    assert by_message(again) == by_message(changed)


def refusal(schedule: Schedule) -> str:
    with pytest.raises(GossamerError) as error:
        reverse(schedule)
    assert "\n" not in str(error.value)
    return str(error.value)


@settings(max_examples=100)
@given(schedules(names=DUAL, two_way=True), mutations)
def test_a_schedule_broken_in_its_hops_is_broken_when_reversed(schedule, changes):
    changed = mutated(schedule, changes)
    assume(reversible(changed) and "wrong payload" not in verify(changed).counts)
    # control packets at the start keep their direction, so that one-way limits of ports mean another thing for them
    assume(changed.rules.ports in ("all", "one") or not np.any(changed.packet == CONTROL))
    try:
        back = changed.reverse()
    except ScheduleError:
        return
    assume(not summed_packets(back).any())  # a copy that comes again is a sum that is sent again, which may be right
    assert verify(back).ok == verify(changed).ok
    assert verify(back).counts == dict(twin.violations(back))


def test_control_phases_alone_stay_as_they_are():
    phases = [Phase("ask", 1, control=True), Phase("answer", 2, control=True)]
    columns = [0, 1], [0, 1], [CONTROL, CONTROL]
    forth = Schedule(gossamer.network("array:3"), gossamer.task("broadcast"), gossamer.Rules(), *columns, phases=phases)
    back = forth.reverse()
    assert back.phases == forth.phases
    assert back.slot.tolist() == [0, 1]
    assert verify(back).counts == {"delivery": 2} == verify(forth).counts


def test_leading_control_phases_stay_in_front():
    line = gossamer.network("array:3")
    phases = [Phase("learn", 2, Fraction(1, 4)), Phase("wait", 1), Phase("go", 1), Phase("on", 2, Fraction(3, 2))]
    rules, cost = gossamer.Rules(), gossamer.StepCost("1/4")
    columns = [0, 0, 1, 3, 4], [0, 3, 1, 0, 1], [CONTROL, CONTROL, CONTROL, 0, 0]
    forth = Schedule(line, gossamer.task("broadcast"), rules, *columns, cost=cost, phases=phases)
    back = forth.reverse()
    assert [(p.name, p.slots, p.slot_length) for p in back.phases] == [
        ("learn", 2, Fraction(1, 4)), ("on", 2, Fraction(3, 2)), ("go", 1, 1), ("wait", 1, 1),
    ]  # fmt: skip
    assert back.slot.tolist() == [0, 0, 1, 3, 4]
    assert back.link.tolist() == [0, 3, 1, 3, 2]
    assert verify(back).ok
    assert back.reverse() == forth


@settings(max_examples=60)
@given(schedules(names=DUAL))
def test_a_schedule_over_one_way_links_is_reversed_on_the_transposed_network(schedule):
    assume(reversible(schedule) and not any(p.control for p in schedule.phases))
    back = schedule.reverse()
    assert back.network is schedule.network.transposed
    assert verify(back).ok, str(verify(back))
    again = back.reverse()
    assert again.network is schedule.network
    assert by_message(again) == by_message(schedule)


@pytest.mark.parametrize("name", NO_DUAL)
def test_tasks_without_a_dual_are_refused(name):
    pair = gossamer.network("array:2")
    fields = {"one-to-many-routing": {"destinations": [[1], []]}, "group-multinode-broadcast": {"active": [0]}}
    task = gossamer.task(name, **fields.get(name, {}))
    schedule = Schedule(pair, task, gossamer.Rules(), [], [], [])
    with pytest.raises(TaskError) as error:
        schedule.reverse()
    assert str(error.value) == f"{name} has no dual by time reversal"


def test_what_cannot_be_reversed_says_why():
    one_way = Network("one way", 2, [0], [1], links_only=True)
    broadcast = gossamer.task("broadcast")
    told = Schedule(
        one_way, broadcast, gossamer.Rules(), [0, 1], [0, 0], [CONTROL, 0], phases=[Phase("tell", 1), Phase("go", 1)]
    )
    assert refusal(told) == "control packets go over one-way links of one way, so the schedule cannot be reversed"
    pair = gossamer.network("array:2")
    late = Schedule(pair, broadcast, gossamer.Rules(), [0, 1], [0, 0], [0, CONTROL])
    assert refusal(late) == "control packets hop after the first phases, so the schedule cannot be reversed"
    wrong = Schedule(pair, broadcast, gossamer.Rules(), [], [], [], packets=Packets([0], [5], [0]))
    assert refusal(wrong) == "packet 0 is of message 5, which the task does not have"


# -- composition ---------------------------------------------------------------------------------------------

COMPOSED = (("array:3x2", False), ("ring:5", True), ("torus:3x3", True), ("fat-tree:k=2,h=2", False), ("star:3", True))


@settings(max_examples=40)
@given(st.sampled_from(COMPOSED), st.integers(0, 2**32), st.sampled_from(["all", "one", "one-send"]), st.integers(1, 2))
def test_reduce_scatter_then_multinode_broadcast_is_an_allreduce(case, seed, ports, parts):
    spec, invariant = case
    network = gossamer.network(spec)
    symmetry = Symmetry(network) if invariant else None
    first, second = (
        build(seed, network, gossamer.task(name), ports=ports, parts=parts, symmetry=symmetry)
        for name in ("reduce-scatter", "multinode-broadcast")
    )
    both = then(first, second)
    assert both.task == gossamer.task("allreduce")
    assert both.symmetry == symmetry
    assert both.algorithm == "random, then random"
    assert [p.name for p in both.phases] == ["reduce-scatter", "multinode-broadcast"]
    assert both.completion_time == first.completion_time + second.completion_time
    assert verify(both).ok, str(verify(both))
    assert not twin.violations(twin.expanded(both))
    mixed = first.expand().then(second)
    assert mixed.symmetry is None
    assert verify(mixed).ok
    assert by_message(mixed) == by_message(both.expand())


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.data())
def test_composition_keeps_phases_and_control_packets(seed, data):
    network = gossamer.network("array:2x2")
    pair = [build(seed, network, gossamer.task(n)) for n in ("reduce-scatter", "multinode-broadcast")]
    first, second = (data.draw(phased(s)) for s in pair)
    both = first.then(second)
    assert [p.slot_length for p in both.phases] == [p.slot_length for p in first.phases + second.phases]
    assert both.phases[0].name == f"reduce-scatter: {first.phases[0].name}"
    assert verify(both).ok, str(verify(both))


def chunks(count, network="array:2", **how):
    """Return a plan of an allgather in chunks."""
    return gossamer.plan(network, gossamer.task("allgather", packets=count), **how).schedule


@pytest.mark.parametrize("network", ["ring:5", "torus:3x3", "complete:4", "leaf-spine:2,2,2"])
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("rules", [gossamer.Rules(), gossamer.Rules(ports="one"), gossamer.Rules(segmented=True)])
def test_a_reversed_allgather_in_chunks_and_itself_are_an_allreduce(network, count, rules):
    gather = chunks(count, network, rules=rules)
    both = gather.reverse().then(gather)
    assert both.task == gossamer.task("allreduce", packets=count)
    assert both.completion_time == 2 * gather.completion_time
    assert verify(both).ok, str(verify(both))


def test_switches_of_what_is_composed_do_what_both_need():
    gather = gossamer.plan("leaf-spine:2,2,2", "allgather").schedule
    both = gather.reverse().then(gather)
    assert (both.rules.replication, both.rules.reduction) == (True, True)
    assert verify(both).ok


def test_what_cannot_be_composed_says_why():
    line = gossamer.network("array:2")
    first, second = (build(0, line, gossamer.task(n)) for n in ("reduce-scatter", "multinode-broadcast"))
    other = build(0, gossamer.network("ring:3"), gossamer.task("allgather"))
    split = build(0, line, gossamer.task("allgather"), parts=2)
    for a, b, kind, message in (
        (second, first, TaskError, "multinode-broadcast then reduce-scatter is not a known task; "
         "reduce-scatter then allgather is"),
        (first, other, ScheduleError, "the schedules are on different networks, array:2 and ring:3"),
        (first, split, ScheduleError, "the schedules have different rules"),
        (first.replace(rules=split.rules), split, ScheduleError, "the schedules have different numbers of parts"),
        (chunks(3).reverse(), chunks(2), TaskError,
         "messages of 3 packets cannot be followed by messages of 2"),
    ):  # fmt: skip
        with pytest.raises(GossamerError) as error:
            a.then(b)
        assert type(error.value) is kind
        assert str(error.value) == message


# -- renaming ------------------------------------------------------------------------------------------------


def isomorphism(rng: random.Random, sides: tuple[int, ...]) -> list[int]:
    """A random translation of a torus, after a swap of equal sides and reflections."""
    axes = list(range(len(sides)))
    rng.shuffle(axes)
    if tuple(sides[a] for a in axes) != sides:
        axes = list(range(len(sides)))
    shift = [rng.randrange(s) for s in sides]
    sign = [rng.choice([1, -1]) for _ in sides]
    mapping = []
    for x in np.ndindex(*sides):
        y = [(sign[i] * x[axes[i]] + shift[i]) % sides[i] for i in range(len(sides))]
        mapping.append(int(np.ravel_multi_index(y, sides)))
    return mapping


@settings(max_examples=120)
@given(st.sampled_from([(3, 3), (2, 4), (5,), (2, 2, 3)]), st.sampled_from(SIMPLE), st.integers(0, 2**32), mutations)
def test_renaming_by_an_isomorphism_keeps_verdict_and_time(sides, name, seed, changes):
    rng = random.Random(seed)
    network = gossamer.network("torus:" + "x".join(map(str, sides)))
    n = network.node_count
    fields = {
        "counts": {"counts": [rng.randrange(3) for _ in range(n)]},
        "root": {"root": rng.randrange(n)},
        "active": {"active": rng.sample(range(n), 3)},
        "destination": {"destination": rng.sample(range(n), n)},
        "destinations": {"destinations": [[v] if v % 3 else [] for v in rng.sample(range(n), n)]},
    }
    kind = TASKS[name]
    task = kind(**next((v for k, v in fields.items() if k in kind.__dataclass_fields__), {}))
    schedule = mutated(build(seed, network, task, ports=rng.choice(["all", "one"])), changes)
    mapping = isomorphism(rng, sides)
    try:
        moved = schedule.relabel(mapping)
    except ScheduleError:
        assert "wrong payload" in verify(schedule).counts
        return
    assert verify(moved).counts == verify(schedule).counts
    assert moved.completion_time == schedule.completion_time
    back = moved.relabel(np.argsort(mapping))
    assert back == schedule


def test_renaming_leads_to_another_network():
    line = build(1, gossamer.network("array:4"), gossamer.task("scatter", root=1))
    ring = gossamer.network("ring:4")
    on_ring = relabel(line, [2, 3, 0, 1], ring)
    assert on_ring.network == ring
    assert on_ring.task == gossamer.task("scatter", root=3)
    assert verify(on_ring).ok


def test_renaming_leaves_keeps_a_fat_tree_schedule():
    tree = gossamer.network("fat-tree:k=2,h=2")
    schedule = build(3, tree, gossamer.task("permutation", destination=[2, 3, 0, -1]))
    swapped = relabel(schedule, [2, 3, 0, 1, 5, 4, 6])
    assert swapped.task == gossamer.task("permutation", destination=[2, -1, 0, 1])
    assert verify(swapped).ok


def test_what_cannot_be_renamed_says_why():
    ring = gossamer.network("ring:4")
    schedule = build(0, ring, gossamer.task("allgather"))
    tree = build(0, gossamer.network("fat-tree:k=2,h=1"), gossamer.task("permutation", destination=[1, 0]))
    wrong = schedule.replace(packets=Packets([0] * 4, [0, 1, 2, 9], [0] * 4))
    lonely = Network("no links", 4, [], [], links_only=True)
    once = "the mapping must list each of the 4 nodes of ring:4 once"
    for given_schedule, mapping, network, message in (
        (schedule, [0, 1, 2], None, once),
        (schedule, [0, 1, 2, 2], None, once),
        (schedule, [0, 1, 2, 4], None, once),
        (schedule, [0.0, 1.0, 2.0, 3.0], None, once),
        (schedule, ["a", "b", "c", "d"], None, once),
        (schedule, [[0, 1], [2, 3]], None, once),
        (schedule, [0, 2, 1, 3], None, "link (0)->(1) has no image in ring:4"),
        (schedule, [0, 1, 2, 3], lonely, "link (0)->(1) has no image in no links"),
        (schedule, range(4), gossamer.network("ring:5"), "the mapping must list each of the 5 nodes of ring:5 once"),
        (tree, [0, 2, 1], None, "the mapping must lead the terminals to the 2 terminals of fat-tree:k=2,h=1,"
         "capacity=constant"),
        (wrong, range(4), None, "packet 3 is of message 9, which the task does not have"),
        (build(0, ring, gossamer.task("allgather"), symmetry=Symmetry(ring)), range(4), None,
         "an invariant schedule cannot be relabeled; expand() it first"),
    ):  # fmt: skip
        with pytest.raises(ScheduleError) as error:
            given_schedule.relabel(mapping, network)
        assert str(error.value) == message


# -- expansion and replacement -------------------------------------------------------------------------------


def test_expansion_of_too_many_packets_is_refused_before_anything_is_built():
    huge = gossamer.network("hypercube:16")
    schedule = Schedule(huge, gossamer.task("total-exchange"), gossamer.Rules(), [], [], [], symmetry=Symmetry(huge))
    with pytest.raises(ScheduleError) as error:
        expand(schedule)
    assert str(error.value) == "the expansion would hold 4294901760 packets; at most 2147483647 are allowed"


def test_expansion_of_too_many_hops_is_refused_before_anything_is_built():
    schedule = gossamer.plan("torus:200x200", "allgather").schedule
    with pytest.raises(ScheduleError) as error:
        expand(schedule)
    assert str(error.value) == "the expansion would write out 1,599,960,000 hops; at most 1,000,000,000 are allowed"


def test_expansion_of_an_explicit_schedule_is_itself():
    schedule = build(0, gossamer.network("ring:4"), gossamer.task("allgather"))
    assert schedule.expand() is schedule


def test_replacement_leaves_the_original_alone():
    schedule = build(0, gossamer.network("ring:4"), gossamer.task("allgather"))
    other = schedule.replace(rules=replace(schedule.rules, ports="one"), algorithm="mine")
    assert (schedule.rules.ports, schedule.algorithm) == ("all", "random")
    assert (other.rules.ports, other.algorithm) == ("one", "mine")
    assert np.shares_memory(other.slot, schedule.slot)


@pytest.mark.parametrize("spec", ["ring:20", "ring:4", "torus:8x8"])
def test_no_schedule_is_repeated_on_a_torus_of_other_sides(spec):
    task = gossamer.task("allgather", groups=[[0, 1], [2, 3], [4, 5], [6, 7]])
    small = gossamer.plan("ring:8", task).schedule
    with pytest.raises(ScheduleError, match="not multiples"):
        repeated_on_torus(small, gossamer.network(spec))
