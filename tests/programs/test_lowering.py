"""Programs of every kind of task move real blocks to where the task wants them, in any order that they allow."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ScheduleError, VerificationError
from gossamer.programs import INPUT, OUTPUT, RECEIVE, REDUCE, SCRATCH, SEND
from gossamer.questions.tasks import OneToManyRouting, Permutation
from programs.oracle import check_program

TASKS = {
    "broadcast": {"root": 3},
    "reduce": {"root": 2},
    "scatter": {"root": 1},
    "gather": {"root": 5},
    "allgather": {},
    "reduce-scatter": {},
    "allreduce": {},
    "alltoall": {},
    "partial-multinode-broadcast": {"active": (1, 4, 6)},
    "partial-reduce-scatter": {"active": (0, 7)},
    "group-multinode-broadcast": {"active": (5, 6, 10)},
    "partial-exchange": {"active": (0, 3, 5)},
    "partial-gather": {"active": (2, 3)},
    "multiple-broadcast": {"counts": (1, 0, 2, 1, 0, 0, 3, 1)},
    "multiple-reduce": {"counts": (0, 2, 0, 1, 1, 0, 0, 1)},
    "permutation": {"destination": (3, 1, -1, 0, 7, -1, 2, 4)},
    "one-to-many-routing": {"destinations": ((1, 2), (), (7,), (3, 4), (), (), (), (0,))},
}
FAT_TREE = "fat-tree:k=2,h=3,capacity=constant"


def irregular():
    graph = nx.gnm_random_graph(8, 12, seed=3)
    assert nx.is_connected(graph)
    return gossamer.network(graph)


def check(schedule, flows=1):
    program = gossamer.lower(schedule)
    check_program(program, flows)
    return program


def covered():
    """Pair each task with networks for which there is an algorithm."""
    everywhere = ("broadcast", "reduce", "scatter", "gather", "allgather", "reduce-scatter", "allreduce", "alltoall",
                  "partial-multinode-broadcast", "partial-reduce-scatter")  # fmt: skip
    for task in TASKS:
        if task in everywhere:
            yield from ((task, network) for network in ("hypercube:3", "array:2x4", FAT_TREE, "irregular"))
        elif task.startswith("multiple"):
            yield from ((task, network) for network in ("array:8", "ring:8"))
        elif task == "group-multinode-broadcast":
            yield task, "array:4x4"
        elif task == "one-to-many-routing":
            yield task, "array:2x4"
        else:
            yield from ((task, network) for network in ("hypercube:3", "array:2x4", "torus:2x4"))


@pytest.mark.exhaustive(always=30)
@pytest.mark.parametrize(("task", "network"), [pair for pair in covered() if pair != ("alltoall", "irregular")])
def test_every_task_ends_as_it_must(task, network):
    found = irregular() if network == "irregular" else network
    rules = gossamer.Rules(reduction=network == FAT_TREE)
    check(gossamer.plan(found, gossamer.task(task, **TASKS[task]), rules=rules).schedule)


def test_a_switch_that_does_not_add_passes_partial_sums_on_one_by_one():
    net = gossamer.Network("hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3, links_only=True)
    rows = [0, 0, 1, 2], [1, 2, 3, 3], [0, 0, 0, 0]
    program = check(gossamer.Schedule(net, gossamer.task("reduce"), gossamer.Rules(), *rows), flows=5)
    hub = program.rank(3)
    assert hub.kind.tolist() == [RECEIVE, RECEIVE, SEND, SEND]
    assert hub.after.tolist() == [-1, -1, 0, 1]
    together = gossamer.Schedule(net, gossamer.task("reduce"), gossamer.Rules(reduction=True), *(r[:3] for r in rows))
    assert check(together).rank(3).kind.tolist() == [RECEIVE, REDUCE, SEND]


def test_a_packet_that_cuts_through_a_switch_has_no_program():
    net = gossamer.Network("hub", 3, [0, 1, 2, 2], [2, 2, 0, 1], terminal_count=2, links_only=True)
    rules = gossamer.Rules(cut_through=True)
    schedule = gossamer.Schedule(net, gossamer.task("broadcast"), rules, [0, 0], [0, 3], [0, 0])
    assert gossamer.verify(schedule)
    with pytest.raises(ScheduleError, match="slot 0: node 2 passes a packet on in the slot in which it comes"):
        gossamer.lower(schedule)


def test_a_share_that_cuts_through_a_switch_behind_another_has_no_program():
    net = gossamer.Network("hub", 4, [0, 1, 3], [3, 3, 2], terminal_count=3, links_only=True)
    table = gossamer.questions.tasks.DemandTable.of([], [([0, 1], [2], 1)])
    rules = gossamer.Rules(cut_through=True, reduction=True)
    schedule = gossamer.Schedule(net, table, rules, [0, 1, 1], [0, 1, 2], [0, 0, 0])
    assert gossamer.verify(schedule)
    with pytest.raises(ScheduleError, match="slot 1: node 3 passes a packet on in the slot in which it comes"):
        gossamer.lower(schedule)
    late = gossamer.Schedule(net, table, rules, [0, 1, 2], [0, 1, 2], [0, 0, 0])
    assert check(late).rank(3).kind.tolist() == [RECEIVE, REDUCE, SEND]


def described(mine):
    """Return the sizes of buffers and the operations without places in scratch, whose order may differ."""
    known = np.where(mine.buffer == SCRATCH, 0, mine.offset)
    sizes = mine.input_size, mine.output_size, mine.scratch_size
    return sizes, sorted(zip(mine.slot, mine.kind, mine.peer, mine.buffer, known, strict=True))


@pytest.mark.exhaustive(always=6)
@pytest.mark.parametrize("task", ["allgather", "alltoall", "reduce-scatter", "allreduce", "broadcast"])
@pytest.mark.parametrize("network", ["star:3", "torus:3x3", "ring:6", "ccc:3"])
def test_a_program_of_an_invariant_schedule_is_that_of_its_expansion(network, task):
    schedule = gossamer.plan(network, task).schedule
    program, explicit = check(schedule), check(schedule.expand())
    for mine, other in zip(program, explicit, strict=True):
        assert described(mine) == described(other)
    assert program.operation_count == explicit.operation_count == sum(mine.count for mine in explicit)


@pytest.mark.parametrize("network", ["hypercube:3", "torus:2x4"])
@pytest.mark.parametrize("task", ["allgather", "reduce-scatter", "allreduce"])
def test_split_messages_move_part_by_part(network, task):
    schedule = gossamer.plan(network, task, rules=gossamer.Rules(split=True)).schedule
    assert schedule.parts > 1
    program = check(schedule)
    assert program.rank(0).output_size % schedule.parts == 0


@pytest.mark.parametrize("network", ["ring:5", "array:2x3"])
@pytest.mark.parametrize("task", ["allgather", "allreduce", "alltoall", "reduce-scatter"])
def test_messages_of_several_packets(network, task):
    chunked = gossamer.task(task, packets=3)
    program = check(in_turns(gossamer.plan(network, task).schedule, chunked))
    assert program.parts == 3


def in_turns(schedule, task):
    """Return a schedule of messages of several packets in which packet after packet goes the way of a whole message."""
    whole, k = schedule.expand(), task.packets
    table = gossamer.Packets.of(task.messages(schedule.network))
    rows = np.searchsorted(task.messages(schedule.network).ids, whole.packets.message)
    turn = np.arange(k)
    slot = (whole.slot[:, None] * k + turn).reshape(-1)
    packet = (rows[whole.packet][:, None] * k + turn).reshape(-1)
    order = np.argsort(slot, kind="stable")
    return whole.replace(
        task=task,
        slot=slot[order],
        link=np.repeat(whole.link, k)[order],
        packet=packet[order],
        packets=table,
        phases=[gossamer.Phase("turns", whole.slot_count * k)],
    )


def test_an_orbit_of_several_representatives():
    schedule = gossamer.plan("ring:6", "allgather").schedule
    halves = gossamer.Symmetry(schedule.network, [2])
    whole = schedule.expand()
    stored = np.isin(whole.packets.origin, halves.representatives)
    packet = np.flatnonzero(stored[whole.packet])
    number = np.cumsum(stored) - 1
    table = gossamer.Packets(*(getattr(whole.packets, c)[stored] for c in ("origin", "message", "part")))
    folded = whole.replace(
        slot=whole.slot[packet],
        link=whole.link[packet],
        packet=number[whole.packet[packet]],
        packets=table,
        symmetry=halves,
    )
    check(folded)


def test_the_smallest_program_by_hand():
    program = gossamer.lower(gossamer.plan("array:3", "gather").schedule)  # 2 -> 1 -> 0, after 1 -> 0
    middle, root = program.rank(1), program.rank(0)
    assert middle.slot.tolist() == [0, 0, 1]
    assert middle.kind.tolist() == [SEND, RECEIVE, SEND]
    assert middle.peer.tolist() == [0, 2, 0]
    assert middle.buffer.tolist() == [INPUT, SCRATCH, SCRATCH]
    assert middle.offset.tolist() == [0, 0, 0]
    assert middle.after.tolist() == [-1, -1, 1]
    assert (middle.input_size, middle.output_size, middle.scratch_size) == (1, 0, 1)
    assert root.buffer.tolist() == [OUTPUT, OUTPUT]
    assert root.offset.tolist() == [1, 2]
    assert root.copies.tolist() == [[0, 0]]
    assert root.length.tolist() == [1, 1]


def test_a_reduction_adds_to_the_input_first_and_then_in_place():
    program = gossamer.lower(gossamer.plan("complete:4", "reduce").schedule)
    root = program.rank(0)
    assert set(root.kind.tolist()) == {REDUCE}
    assert root.operand.tolist() == [0] + [-1] * (root.count - 1)
    assert root.after.tolist() == list(range(-1, root.count - 1))


def test_scratch_is_used_again():
    program = gossamer.lower(gossamer.plan("torus:4x4", "alltoall").schedule)
    received = [int(np.count_nonzero((m.buffer == SCRATCH) & (m.kind == RECEIVE))) for m in program]
    assert all(m.scratch_size < r for m, r in zip(program, received, strict=True))
    assert all(m.scratch_size <= 15 for m in program)


def test_an_invalid_schedule_has_no_program():
    net = gossamer.network("array:3")
    wrong = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 0], [0, 1], [0, 0])
    with pytest.raises(VerificationError, match=r"not valid has no program: slot 0: .* does not hold yet"):
        gossamer.lower(wrong)


@pytest.mark.parametrize("value", [None, "plan.parquet", 3])
def test_only_schedules_have_programs(value):
    with pytest.raises(ScheduleError, match="a program is made of a store-and-forward schedule, got"):
        gossamer.lower(value)


@pytest.mark.parametrize("rank", [-1, 3, 1.5, "a", None])
def test_a_rank_that_is_not_there_is_refused(rank):
    program = gossamer.lower(gossamer.plan("ring:3", "allgather").schedule)
    with pytest.raises(ScheduleError, match="the rank"):
        program.rank(rank)


def test_a_single_node_copies_for_itself():
    net = gossamer.network(nx.empty_graph(1))
    for task, fields in (("allgather", {}), ("allreduce", {}), ("reduce", {"root": 0}), ("alltoall", {})):
        check(gossamer.Schedule(net, gossamer.task(task, **fields), gossamer.Rules(), [], [], []))


@settings(max_examples=40)
@given(st.permutations(range(9)), st.integers(0, 2**32))
def test_permutations_with_fixed_points(destination, seed):
    check(gossamer.plan("array:3x3", Permutation(tuple(destination))).schedule)


@settings(max_examples=20)
@given(st.lists(st.integers(-1, 8), min_size=9, max_size=9))
def test_one_to_many_routings(owner):
    sets = [[v for v in range(9) if owner[v] == u] for u in range(9)]
    check(gossamer.plan("array:3x3", OneToManyRouting(sets)).schedule)


@pytest.mark.uncompiled
@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce", "gather"])
def test_small_programs_without_the_compiler(task):
    check(gossamer.plan("ring:4", task).schedule)
