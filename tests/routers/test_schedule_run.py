"""Wormhole schedules, flit by flit: as the model predicts without contention, and seen to contend with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ModelError, ScheduleError
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.simulation.flits import Routers, simulate_schedule
from gossamer.wormhole import PayloadTable, StepPhase, WormholeSchedule, verify
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS
from gossamer.wormhole.sequential_broadcasts import sequential_broadcasts
from routers.flit_twin import bare_messages

SPECS = ("torus:4x4", "torus:6x6", "array:3x4", "torus:3x4x2")
CASES = [
    (spec, algorithm)
    for spec in SPECS
    for algorithm in WORMHOLE_ALGORITHMS
    if algorithm.covers(WormholeCase(gossamer.network(spec), PartialMultinodeBroadcast((0, 2, 3, 7)), LinearCost()))
]


def chain(targets, sizes=12, spec="array:5"):
    """A message of node 0 handed on along a line: step k takes it from node k to node k+1."""
    table = PayloadTable()
    row = table.row([0])
    model = LinearCost(startup=40, message_bytes=sizes)
    count = len(targets)
    return WormholeSchedule(
        gossamer.network(spec), gossamer.task("broadcast"), model, list(range(count)), [0, *targets[:-1]],
        [[1]] * count, [row] * count, payloads=table.payloads(),
    )  # fmt: skip


@pytest.mark.parametrize(("spec", "algorithm"), CASES, ids=lambda x: x if isinstance(x, str) else x.name)
def test_every_algorithm_takes_exactly_what_the_model_predicts(spec, algorithm):
    """With barriers: start-up + head latency + flits of the slowest message, step by step, and nobody waits."""
    network, model = gossamer.network(spec), LinearCost(startup=20, message_bytes=32)
    schedule = algorithm.build(WormholeCase(network, PartialMultinodeBroadcast((0, 2, 3, 7)), model))
    assert verify(schedule)
    run = simulate_schedule(schedule)
    assert (run.blocked, run.stalled, run.deadlock) == (0, 0, None)
    flits = np.maximum(-(-schedule.length // 4), 1)
    slowest = np.zeros(schedule.step_count, np.int64)
    np.maximum.at(slowest, schedule.step, 1 + 2 * schedule.hops + flits)
    fixed = np.repeat(
        [-1 if p.length is None else -(-p.length // 4) for p in schedule.phases], [p.steps for p in schedule.phases]
    )
    longest = np.maximum(np.where(slowest > 0, slowest, -1), fixed)
    expected = np.where(longest >= 0, 5 + longest, 0)
    assert run.step_cycles.tolist() == expected.tolist()
    assert run.cycles == run.predicted_cycles
    assert run.flit_hops == int((flits * schedule.hops).sum())
    assert run.crossings.sum() == run.flit_hops


def test_routers_without_delay_take_the_models_time_and_one_cycle_a_hop():
    """Where the longest message of a step is also the one that goes furthest."""
    network, model = gossamer.network("torus:6x6"), LinearCost(startup=40, message_bytes=64, hop_time=4)
    schedule = sequential_broadcasts(WormholeCase(network, MultinodeBroadcast(), model))
    run = simulate_schedule(schedule, settings=Routers(routing_delay=0))
    assert run.model_cycles == run.cycles == run.predicted_cycles


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize(("spec", "algorithm"), CASES, ids=lambda x: x if isinstance(x, str) else x.name)
def test_every_algorithm_delivers_without_barriers(spec, algorithm):
    network, model = gossamer.network(spec), LinearCost(startup=20, message_bytes=32)
    schedule = algorithm.build(WormholeCase(network, PartialMultinodeBroadcast((0, 2, 3, 7)), model))
    run = simulate_schedule(schedule, starts="dependencies")
    assert run.deadlock is None
    assert (run.latency > 0).all()
    order = np.argsort(schedule.step, kind="stable")
    for m in order.tolist():  # nothing starts before its source has what it carries
        needed = set(schedule.pieces_of(m).tolist()) - set(
            np.flatnonzero(schedule.packets.origin == schedule.source[m]).tolist()
        )
        if needed:
            earlier = np.flatnonzero((schedule.target == schedule.source[m]) & (schedule.step < schedule.step[m]))
            arrived = [k for k in earlier if run.released[k] + run.latency[k] + run.startup_cycles <= run.released[m]]
            assert needed <= {p for k in arrived for p in schedule.pieces_of(k).tolist()}


@pytest.mark.uncompiled
def test_a_chain_without_barriers_pays_a_start_up_a_hop():
    run = simulate_schedule(chain([1, 2, 3, 4]), starts="dependencies")
    assert run.released.tolist() == [10, 26, 42, 58]
    assert run.cycles == 4 * (10 + 3 + 3) == run.predicted_cycles


def test_dependencies_overlap_what_barriers_keep_apart():
    """Two chains side by side, one with long messages: with barriers the short one waits in each step."""
    network = gossamer.network("array:2x4")
    step = np.repeat(np.arange(3), 2)
    source = [0, 4, 1, 5, 2, 6]
    table, model = PayloadTable(), LinearCost(startup=0, message_bytes=400)
    task = PartialMultinodeBroadcast((0, 4))
    a, b = table.row([0]), table.row([1])
    schedule = WormholeSchedule(network, task, model, step, source, [[0, 1]] * 6, [a, b] * 3, payloads=table.payloads())
    slow = bare_messages(network, [0, 0, 1, 1], [0, 4, 1, 5], [[0, 1]] * 4, [100, 1, 1, 100])
    assert simulate_schedule(slow).cycles == 206
    assert simulate_schedule(schedule, starts="dependencies").cycles == simulate_schedule(schedule).cycles == 3 * 103
    assert simulate_schedule(slow, starts="dependencies").cycles < 206


def test_messages_that_collide_are_seen_to_contend():
    """The checker refuses the schedule; the routers show why."""
    network, table = gossamer.network("array:4"), PayloadTable()
    rows = [table.row([0]), table.row([1])]
    schedule = WormholeSchedule(
        network, PartialMultinodeBroadcast((0, 1)), LinearCost(startup=0, message_bytes=40), [0, 0], [0, 1],
        [[3], [2]], rows, payloads=table.payloads(),
    )  # fmt: skip
    assert verify(schedule).counts["channel"] > 0
    run = simulate_schedule(schedule)
    assert run.predicted_cycles == 1 + 3 * 2 + 10
    assert run.cycles > run.predicted_cycles
    assert run.blocked >= 8
    assert run.flit_hops == 50


def test_messages_of_one_source_queue_wait_for_each_other():
    network = gossamer.network("array:4")
    run = simulate_schedule(bare_messages(network, [0, 0], [0, 0], [[1], [3]], [10, 10]))
    assert run.latency.tolist() == [13, 10 + 1 + 6 + 10 + 1]  # the first's tail is in the next buffer
    assert run.blocked == 10
    node = simulate_schedule(
        bare_messages(network, [0, 0], [1, 1], [[1], [-1]], [10, 10]), settings=Routers(injection="node")
    )
    assert node.latency.tolist() == [13, 23]


@settings(max_examples=40)
@given(
    st.integers(0, 2**32), st.sampled_from(["torus:4x3", "array:6", "torus:5"]), st.sampled_from(["channels", "node"])
)
def test_collisions_never_make_a_step_faster_than_predicted(seed, spec, injection):
    network, random = gossamer.network(spec), np.random.default_rng(seed)
    source, move = random.integers(0, network.node_count, 8), np.zeros((8, network.grid.dimensions), np.int64)
    move[:, -1] = random.choice([-1, 1], 8)
    if spec.startswith("array"):
        move[source == 0] = 1
        move[source == 5] = -1
    step = np.sort(random.integers(0, 3, 8))
    schedule = bare_messages(network, step, source, move, random.integers(1, 9, 8), startup=8)
    run = simulate_schedule(schedule, settings=Routers(injection=injection))
    assert (run.step_cycles >= run.predicted_step_cycles).all()
    assert (run.cycles == run.predicted_cycles) or run.blocked > 0


def test_a_phase_with_a_length_lasts_even_without_messages():
    schedule = chain([1, 2]).replace(phases=[StepPhase("empty", 0), StepPhase("all", 3, length=400)])
    run = simulate_schedule(schedule)
    assert run.step_cycles.tolist() == [10 + 100] * 3 == run.predicted_step_cycles.tolist()


def test_a_run_as_plain_values():
    fields = simulate_schedule(chain([1, 2])).to_dict()
    assert fields["cycles"] == fields["predicted_cycles"] == 32
    assert fields["routers"]["buffer_depth"] == 4


def test_bad_input_is_told_in_one_line():
    with pytest.raises(ModelError, match=r"starts must be 'barrier' or 'dependencies', got 'barriers' \(did you mean"):
        simulate_schedule(chain([1, 2]), starts="barriers")
    with pytest.raises(ModelError, match=r"startup_cycles must be a whole number in 0\.\.2147483647, got -1"):
        simulate_schedule(chain([1, 2]), startup_cycles=-1)
    with pytest.raises(
        ScheduleError, match=r"message 1 in step 1 carries pieces that its source \(1\) has not received"
    ):
        simulate_schedule(chain([1, 2]).replace(source=[3, 1]), starts="dependencies")


def test_a_message_of_no_bytes_has_a_flit():
    assert simulate_schedule(chain([1], sizes=1)).flits.tolist() == [1]


@pytest.mark.parametrize("wrong", [None, "atd.parquet", gossamer.plan("ring:4", "allgather").schedule])
def test_only_wormhole_schedules_run(wrong):
    with pytest.raises(ScheduleError, match=f"runs wormhole schedules, got {type(wrong).__name__}"):
        simulate_schedule(wrong)
