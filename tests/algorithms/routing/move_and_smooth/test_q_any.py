"""Algorithm Q on arrays of any sides: valid schedules within the guaranteed lengths, 5.5n on squares, few buffers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.routing.move_and_smooth.enumeration import column_movement, worst_row
from gossamer import Rules
from gossamer.algorithms.routing.move_and_smooth import odd_sided_regions as q_any
from gossamer.algorithms.routing.move_and_smooth.mappings import MAPPINGS, multiplicity, second_mapping, variant_c
from gossamer.algorithms.routing.move_and_smooth.odd_sided_regions import (
    Q_ANY,
    any_stages,
    buffers_seen,
    move_by_mapping,
    run,
    worst_lengths,
)
from gossamer.algorithms.routing.move_and_smooth.regions import RegionCells, Regions, Routes, halves
from gossamer.algorithms.routing.move_and_smooth.smoothing import MovingItems, column_bound, row_movement
from gossamer.algorithms.routing.move_and_smooth.stages import family, guaranteed_times
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.tasks import OneToManyRouting, Permutation, Task
from gossamer.questions.tasks.patterns import pattern
from gossamer.schedules import Phase, Schedule
from gossamer.schedules.hop_sinks import RecordingSink
from gossamer.verification.metrics import buffer_peak

BOTH_KINDS = Rules(), StepCost(1)
"""Counts a step of a control packet like one of a message, as the totals of the thesis do."""


def algorithm(name: str, task: Task) -> gossamer.algorithms.Algorithm:
    return next(a for a in Q_ANY if a.name == name and type(task) in a.tasks)


def packed(r: int, c: int, variant: str, draw: np.random.Generator) -> Permutation:
    """Return a permutation in which the cells that share most targets send to one quadrant, filling it."""
    part = draw.integers(4)
    down, right = (part >= 2) & (r > 1), (part % 2 == 1) & (c > 1)
    i, j = (grid.reshape(-1) for grid in np.indices((r, c)))
    routes = MAPPINGS[variant](RegionCells.of((r, c), (i, j), (down, right)))
    load = multiplicity(MAPPINGS[variant], r, c)[routes.row, routes.column]
    inside = np.flatnonzero(((i >= halves(r)[0]) == down) & ((j >= halves(c)[0]) == right))
    sources = np.argsort(-load - draw.random(load.size) / 2)[: inside.size]
    destination = np.full(r * c, -1)
    destination[sources] = draw.permutation(inside)
    others, free = np.setdiff1d(np.arange(r * c), sources), np.setdiff1d(np.arange(r * c), inside)
    if draw.random() < 0.5:
        destination[others] = draw.permutation(free)
    return Permutation(tuple(destination.tolist()))


def broadcasts(n: int, sources: int, draw: np.random.Generator) -> OneToManyRouting:
    """Return messages of some nodes, every node being the destination of one of them with probability 0.9."""
    origin = draw.choice(n, sources, replace=False)
    sets: list[list[int]] = [[] for _ in range(n)]
    for node in range(n):
        if draw.random() < 0.9:
            sets[origin[draw.integers(sources)]].append(node)
    return OneToManyRouting(tuple(map(tuple, sets)))


def instances(r: int, c: int, variant: str, draw: np.random.Generator) -> list[Task]:
    n = r * c
    full = draw.permutation(n)
    tasks: list[Task] = [
        Permutation(tuple(full.tolist())),
        Permutation(tuple(np.where(draw.random(n) < draw.random(), full, -1).tolist())),
        Permutation(tuple(range(n - 1, -1, -1))),
        *(packed(r, c, variant, draw) for _ in range(3)),
        *(broadcasts(n, int(draw.integers(1, n + 1)), draw) for _ in range(2)),
        broadcasts(n, 1, draw),
    ]
    if r == c:
        tasks.append(Permutation(tuple(np.arange(n).reshape(r, r).T.reshape(-1).tolist())))
    return tasks


def routed(r: int, c: int, task: Task, variant: str) -> tuple[Schedule, RecordingSink]:
    network, recording = gossamer.network(f"array:{r}x{c}"), RecordingSink()
    run(MovingItems.of(Case(network, task), recording), any_stages((r, c), variant))
    return recording.schedule(Case(network, task, *BOTH_KINDS)), recording


def checked(r: int, c: int, task: Task, variant: str) -> tuple[int, int]:
    """Return the steps and the buffers of a run that the checker accepts and that keeps to its guaranteed lengths."""
    schedule, recording = routed(r, c, task, variant)
    found = gossamer.verify(schedule)
    assert found, f"{task} on {r}x{c} by {variant}: {found}"
    for phase in recording.phases:
        assert phase.guaranteed is not None
        assert phase.steps <= phase.guaranteed, f"{task} on {r}x{c} by {variant}: {phase}"
    return int(schedule.completion_time), buffer_peak(schedule, "all").packets


@pytest.mark.exhaustive(always=10)
@pytest.mark.parametrize("variant", ["A", "C"])
@pytest.mark.parametrize("n", range(2, 20))
def test_squares_take_at_most_5_5_n_steps_and_few_buffers(n: int, variant: str) -> None:
    draw = np.random.default_rng(n)
    runs = [checked(n, n, task, variant) for task in instances(n, n, variant, draw)]
    assert max(steps for steps, _ in runs) <= 5.5 * n
    small_odd = any(shape in ((7, 7), (9, 9)) for stage in any_stages((n, n), "C") for shape in stage.before.shapes())
    assert max(held for _, held in runs) <= (9 if variant == "A" else 7 if small_odd else 5)
    assert max(held for _, held in runs) <= buffers_seen(any_stages((n, n), variant))


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from("AC"), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_arrays_of_any_sides_are_routed_within_the_guaranteed_lengths(r: int, c: int, variant: str, seed: int) -> None:
    for task in instances(r, c, variant, np.random.default_rng(seed)):
        _, held = checked(r, c, task, variant)
        assert held <= buffers_seen(any_stages((r, c), variant))


@pytest.mark.slow
@pytest.mark.parametrize("r", range(1, 13))
def test_every_array_with_sides_up_to_12_is_routed_within_the_guaranteed_lengths(r: int) -> None:
    for c in range(1, 13):
        for variant in "AC":
            draw = np.random.default_rng(12 * r + c)
            for task in instances(r, c, variant, draw):
                _, held = checked(r, c, task, variant)
                assert held <= buffers_seen(any_stages((r, c), variant))


@pytest.mark.parametrize("variant", ["A", "C"])
@pytest.mark.parametrize("shape", [(8, 8), (16, 4), (4, 16), (32, 2)])
def test_powers_of_two_are_routed_as_by_the_algorithm_of_the_thesis(shape: tuple[int, int], variant: str) -> None:
    draw = np.random.default_rng(8)
    network = gossamer.network(f"array:{shape[0]}x{shape[1]}")
    for task in instances(*shape, variant, draw):
        usual = algorithm("Q", task).build(Case(network, task, *BOTH_KINDS))
        assert algorithm(f"Q-{variant}", task).build(Case(network, task, *BOTH_KINDS)).replace(algorithm="Q") == usual


@pytest.mark.parametrize("name", ["Q", "Q-A", "Q-C"])
@pytest.mark.parametrize("spec", ["array:7x7", "array:10x7", "array:5x12", "array:1x9", "array:3x3", "array:1x1"])
def test_clock_version_takes_exactly_the_guaranteed_time(name: str, spec: str) -> None:
    network = gossamer.network(spec)
    task = Permutation(tuple(np.random.default_rng(3).permutation(network.node_count).tolist()))
    case = Case(network, task, Rules(), StepCost("1/4"))
    actual, clock = algorithm(name, task), algorithm(f"{name}-clock", task)
    schedule = clock.build(case)
    assert gossamer.verify(schedule)
    assert schedule.completion_time == clock.offer(case).time == actual.offer(case).time
    assert actual.build(case).completion_time <= schedule.completion_time


def test_one_name_covers_every_array_of_two_dimensions() -> None:
    draw = np.random.default_rng(0)
    model = Rules()
    for spec in ("array:8x8", "array:6x6", "array:13x5", "array:16x4"):
        network = gossamer.network(spec)
        task = Permutation(tuple(draw.permutation(network.node_count).tolist()))
        assert gossamer.plan(network, task, algorithm="Q", rules=model).verification
    with pytest.raises(NotApplicableError, match="two dimensions"):
        algorithm("Q", Permutation(tuple(range(30)))).build(
            Case(gossamer.network("array:2x3x5"), Permutation(tuple(range(30))), model)
        )


def test_five_buffers_are_accepted_where_five_are_enough_and_declined_where_they_are_not() -> None:
    model = Rules(buffer=5, buffer_counts="all")
    for n, enough in ((6, True), (7, False), (9, False), (10, True), (11, True), (13, False), (16, True)):
        network, task = gossamer.network(f"array:{n}x{n}"), packed(n, n, "C", np.random.default_rng(n))
        assert algorithm("Q-C", task).covers(Case(network, task, model)) == enough
        if enough:
            assert gossamer.verify(algorithm("Q-C", task).build(Case(network, task, model)))
    network, task = gossamer.network("array:7x7"), Permutation(tuple(range(49)))
    with pytest.raises(NotApplicableError, match="may keep 9 packets at one node, more than the buffer of 5"):
        algorithm("Q-A", task).build(Case(network, task, model))


def test_five_buffers_are_enough_for_variant_c_up_to_side_6_for_powers_of_two_and_from_10_to_12_times_a_power() -> None:
    enough = {n for n in range(2, 130) if buffers_seen(any_stages((n, n), "C")) == 5}
    doubled = {n for i in range(5) for n in range(10 * 2**i, 12 * 2**i + 1)}
    assert enough == {2, 3, 4, 5, 6, 8, 16, 32, 64, 128} | {n for n in doubled if n < 130}


def test_erratum_9_some_permutation_of_a_7x7_or_9x9_takes_more_than_five_buffers() -> None:
    for n in (7, 9):
        draw = np.random.default_rng(n)
        assert max(checked(n, n, packed(n, n, "C", draw), "C")[1] for _ in range(40)) > 5


def test_guaranteed_total_exceeds_5_5_n_on_some_squares_and_stays_below_6_2_n() -> None:
    ratio = {}
    for n in (*range(2, 70), 129):
        for variant in "AC":
            times = guaranteed_times(any_stages((n, n), variant))
            ratio[n, variant] = (times.data + times.control) / n
    assert ratio[17, "A"] > 5.5
    assert ratio[17, "C"] > 5.5
    assert max(ratio.values()) < 6.2


@pytest.mark.parametrize("name", ["1", "2", "3"])
@pytest.mark.parametrize("n", [7, 9, 11, 13])
def test_a_move_to_distinct_targets_is_a_valid_schedule_of_n_plus_3_steps_at_most(name: str, n: int) -> None:
    draw = np.random.default_rng(n)
    network = gossamer.network(f"array:{n}x{n}")
    i, j = (grid.reshape(-1) for grid in np.indices((n, n)))
    mapping, limit = MAPPINGS[name], n + {"1": 1, "2": 3, "3": 2}[name]
    for crowd in (None, (True, True), (False, True), (True, False)):
        down, right = (draw.random((2, n * n)) < 0.5) if crowd is None else np.broadcast_to(crowd, (n * n, 2)).T
        routes = mapping(RegionCells.of((n, n), (i, j), (down, right)))
        order = draw.permutation(n * n)
        _, first = np.unique((routes.row * n + routes.column)[order], return_index=True)
        destination = np.full(n * n, -1)
        destination[order[first]] = (routes.row * n + routes.column)[order[first]]
        task, recording = Permutation(tuple(destination.tolist())), RecordingSink()
        traffic = MovingItems.of(Case(network, task), recording)
        steps = move_by_mapping(traffic, Regions.whole((n, n)), mapping)
        assert (traffic.node == traffic.destination).all()  # in the right quadrant, and there in the target cell
        schedule = recording.schedule(Case(network, task, Rules()))
        assert gossamer.verify(schedule)
        assert schedule.phases == (Phase("move", steps),)
        assert steps <= limit


def test_erratum_8_the_second_mapping_takes_12_steps_on_a_9x9() -> None:
    sources = [*((8, j) for j in range(5)), *((3, j) for j in range(5)), (4, 3), (4, 4)]
    destination = np.full(81, -1)
    destination[[9 * i + j for i, j in sources]] = [9 * i + j for i in range(5, 9) for j in range(5, 8)]
    network, task = gossamer.network("array:9x9"), Permutation(tuple(destination.tolist()))
    traffic = MovingItems.of(Case(network, task), RecordingSink())
    assert move_by_mapping(traffic, Regions.whole((9, 9)), MAPPINGS["2"]) == 12  # 11 as printed


def test_lengths_for_equal_cells_are_those_of_theorems_2_1_and_2_3() -> None:
    for b in range(1, 8):
        for side in range(b, 15):
            load = np.full((side, side), b, np.int32)
            assert worst_lengths(load) == (worst_row(b, side), column_bound(b, side))


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_contents_of_lines_take_longer_than_the_lengths_for_their_cells(r: int, c: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    load = draw.integers(0, 7, (r, c)) * (draw.random((r, c)) < 0.8)
    row, column = worst_lengths(load.astype(np.int32))
    for line in load:
        held = (
            [int(draw.choice([x, 0, draw.integers(0, x + 1)])) for x in line] if draw.random() < 0.6 else line.tolist()
        )
        while sum(held) > r * c:
            held[held.index(max(held))] -= 1
        few, more = divmod(sum(held), c)
        for turn in range(c):
            final = [few + ((k - turn) % c < more) for k in range(c)]
            assert row_movement(held, final)[0] <= row
    most = -(-np.minimum(load.sum(axis=1), r * c) // c)
    stack = [int(draw.choice([x, 0])) for x in most]
    while sum(stack) > r:
        stack[stack.index(max(stack))] -= 1
    assert column_movement(stack)[0] <= column


def second_where_it_can(cells: RegionCells) -> Routes:
    """Map odd squares of side 7 or more by the second mapping, other regions by variant C."""
    routes = variant_c(cells)
    some = np.flatnonzero((cells.rows == cells.columns) & (cells.rows % 2 == 1) & (cells.rows >= 7))
    if not some.size:
        return routes
    second = second_mapping(RegionCells(*(np.broadcast_to(column, routes.row.shape)[some] for column in cells)))
    columns = {}
    for name in ("row", "column", "axis", "hops", "not_before"):
        columns[name] = getattr(routes, name).copy()
        columns[name][some] = getattr(second, name)
    return replace(routes, **columns)


def test_the_second_mapping_as_a_router_holds_more_than_the_third(monkeypatch):
    """On 15x15: about as many steps on random permutations, but 6 packets in a node where variant C has 5."""
    monkeypatch.setitem(q_any.VARIANTS, "2", second_where_it_can)
    plain_length = q_any._move_length
    monkeypatch.setattr(q_any, "_move_length", lambda v, r, c: 10 * (r + c) if v == "2" else plain_length(v, r, c))
    network, found = gossamer.network("array:15x15"), {}
    for variant in ("C", "2"):
        router = family(
            variant, stages=partial(any_stages, variant=variant), refuse=lambda sides: None, buffers=buffers_seen,
            run=run, networks="", source="", summary="",
        )[0]  # fmt: skip
        rows = []
        for seed in range(10):
            task = Permutation(pattern("random", network, seed=seed).tolist())
            schedule = router.build(Case(network, task))
            assert gossamer.verify(schedule).ok
            rows.append((float(schedule.completion_time), buffer_peak(schedule, "all").packets))
        found[variant] = np.mean([steps for steps, _ in rows]), max(packets for _, packets in rows)
    assert abs(found["2"][0] / found["C"][0] - 1) < 0.02
    assert (found["C"][1], found["2"][1]) == (5, 6)
