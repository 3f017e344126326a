"""Algorithms Q and H: every class of instance, within the guaranteed steps and buffers; the thesis's vectors."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.routing.move_and_smooth.instances import (
    algorithm,
    broadcasts,
    every_class,
    partial,
    permutation,
    run,
)
from gossamer.algorithms.routing.move_and_smooth.stages import guaranteed_times, h_stages, q_stages
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.questions.tasks.patterns import pattern
from gossamer.verification.metrics import buffer_peak

SQUARES = {2: (2, 0, 3, 0), 4: (9, 1, 12, 3), 8: (24, 5, 32, 13), 16: (55, 15, 74, 37), 32: (118, 37, 160, 89),
           64: (244, 83, 334, 197), 1024: (4034, 1515, 5606, 3541)}  # fmt: skip
"""Guaranteed steps: messages and counting of Q, then of H."""


@pytest.mark.parametrize("n", SQUARES)
def test_guaranteed_steps_on_squares_are_those_of_the_tables(n):
    q, h = guaranteed_times(q_stages((n, n))), guaranteed_times(h_stages((n, n)))
    assert (q.data, q.control, h.data, h.control) == SQUARES[n]


@pytest.mark.parametrize("p", range(2, 13))
def test_guaranteed_steps_on_squares_follow_the_closed_forms(p):
    n = 2**p
    q, h = guaranteed_times(q_stages((n, n))), guaranteed_times(h_stages((n, n)))
    assert q.control == 1.5 * n - 2 * p - 1
    assert q.data <= 3.95 * n - 6.4 + 1e-9
    assert (h.data, h.control) == (5.5 * n - 6 - 2 * p, 3.5 * n - 3 - 4 * p)
    moves = sum(stage.move for stage in q_stages((n, n)))
    assert moves == 2 * n - 2 == sum(stage.move for stage in h_stages((n, n)))


@pytest.mark.parametrize("n", [2, 4, 8, 16, 32, 64])
def test_every_class_is_routed_on_squares_in_the_guaranteed_steps_and_buffers(n):
    network = gossamer.network(f"array:{n}x{n}")
    for task in every_class(network, n):
        for name, buffer, (data, control) in (("Q", 5, SQUARES[n][:2]), ("H", 3, SQUARES[n][2:])):
            _, messages, counting = run(name, network, task, buffer)
            assert messages <= data
            assert counting == control


@pytest.mark.parametrize("name", ["Q-clock", "H-clock"])
def test_under_the_clock_a_run_takes_exactly_the_guaranteed_steps(name):
    network = gossamer.network("array:16x16")
    for task in every_class(network, 1):
        _, messages, counting = run(name, network, task)
        assert (messages, counting) == (SQUARES[16][:2] if name[0] == "Q" else SQUARES[16][2:])


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("batch", range(5))
def test_many_instances_on_squares_stay_in_the_guaranteed_steps_and_buffers(n, batch):
    network = gossamer.network(f"array:{n}x{n}")
    for seed in range({2: 8, 4: 8, 8: 8, 16: 4, 32: 2, 64: 1}[n]):
        for task in every_class(network, 1000 * batch + seed):
            for name, buffer, most in (("Q", 5, SQUARES[n][:2]), ("H", 3, SQUARES[n][2:])):
                _, messages, counting = run(name, network, task, buffer)
                assert messages <= most[0]
                assert counting == most[1]


def test_every_restricted_broadcasting_on_a_2x2_array():
    network = gossamer.network("array:2x2")
    for of in np.ndindex(5, 5, 5, 5):
        task = OneToManyRouting(tuple(tuple(v for v in range(4) if of[v] == u) for u in range(4)))
        for name, buffer, most in (("Q", 3, 2), ("H", 2, 3)):
            schedule, messages, _ = run(name, network, task)
            assert messages <= most
            assert buffer_peak(schedule, "all").packets <= buffer


@settings(max_examples=60)
@given(st.sampled_from(["array:8x8", "array:16x4", "array:4x16", "array:4x4x4", "array:8x2x4", "array:5x7",
                        "array:3x11", "array:2x9", "array:1x8", "array:7", "array:3x3x5"]),
       st.integers(0, 10**6), st.booleans(), st.sampled_from(["Q", "H"]))  # fmt: skip
def test_random_instances_on_any_array_keep_claim_and_buffers(spec, seed, copied, name):
    network = gossamer.network(spec)
    draw = np.random.default_rng(seed)
    density = float(draw.random())
    sources = int(draw.integers(1, network.node_count + 1))
    task = broadcasts(network, sources, draw, density) if copied else partial(network, density, draw)
    case = Case(network, task, gossamer.Rules(), gossamer.StepCost(Fraction(1, 3)))
    if not algorithm(name, type(task)).covers(case):
        assert name == "Q"
        assert network.grid.dimensions > 2
        return
    schedule = algorithm(name, type(task)).build(case)
    assert gossamer.verify(schedule)
    assert schedule.completion_time <= algorithm(name, type(task)).offer(case).time
    dimensions = sum(side > 1 for side in network.grid.sides)
    power = all(side & (side - 1) == 0 for side in network.grid.sides)
    most = 3 if name == "H" or dimensions == 1 else 2**dimensions + 1 if power else 9
    assert buffer_peak(schedule, "all").packets <= most


def steps_of(schedule, phases):
    return tuple(p.slots for p in schedule.phases[:phases])


@pytest.mark.parametrize("n", [4, 8, 16, 32])
def test_totals_for_named_permutations(n):
    network = gossamer.network(f"array:{n}x{n}")
    totals = {}
    for name in ("transpose", "reversal", "complement", "identity"):
        task = Permutation(tuple(pattern(name, network).tolist()))
        totals[name] = run("Q", network, task)[1:]
        if name == "reversal":
            totals["H"] = run("H", network, task)[1:]
    control, counting = SQUARES[n][1], SQUARES[n][3]
    assert totals == {"transpose": (2 * n - 2, control), "reversal": (2 * n - 2, control), "complement": (n, control),
                      "identity": (0, control), "H": (2 * n - 2, counting)}  # fmt: skip


LEVEL_0 = {
    ("Q", "bit-reversal"): {4: (4, 1, 2, 1), 8: (8, 4, 2, 1), 16: (16, 10, 2, 1), 32: (32, 22, 2, 1)},
    ("Q", "shuffle"): {4: (4, 1, 2, 1), 8: (8, 4, 4, 2), 16: (16, 10, 8, 4), 32: (32, 22, 16, 8)},
    ("H", "transpose"): {4: (2, 2, 0, 2), 8: (4, 6, 0, 4), 16: (8, 14, 0, 8), 32: (16, 30, 0, 16)},
}
"""Move, count, row, column of the first split."""


@pytest.mark.parametrize(("name", "named"), LEVEL_0)
def test_first_level_of_named_permutations(name, named):
    for n, steps in LEVEL_0[name, named].items():
        network = gossamer.network(f"array:{n}x{n}")
        schedule, _, _ = run(name, network, Permutation(tuple(pattern(named, network).tolist())))
        assert steps_of(schedule, 4) == steps


def held_after(schedule, slots):
    """Return the origins of the packets at each node after the first slots."""
    network = schedule.network
    at = {p: {int(u)} for p, u in enumerate(schedule.packets.origin)}
    for t in range(slots):
        hops = [(p, ln) for s, ln, p in zip(schedule.slot, schedule.link, schedule.packet, strict=True) if s == t]
        leaving = [(int(p), int(network.link_source[ln])) for p, ln in hops if p >= 0]
        for p, u in leaving:
            at[p].discard(u)
        for p, ln in hops:
            if p >= 0:
                at[int(p)].add(int(network.link_target[ln]))
    sides = network.grid.sides
    result = {}
    for p, nodes in at.items():
        for v in nodes:
            key = tuple(int(x) for x in np.unravel_index(v, sides))
            result.setdefault(key, []).append(int(schedule.packets.origin[p]))
    return result


def test_five_packets_meet_at_a_node_of_a_4x4_array():
    network = gossamer.network("array:4x4")
    task = permutation(network, {(1, 1): (1, 1), (1, 0): (1, 2), (1, 2): (1, 0), (0, 1): (2, 1), (2, 1): (0, 1)})
    schedule, _, _ = run("Q", network, task)
    assert len(held_after(schedule, 1)[1, 1]) == 5 == buffer_peak(schedule, "all").packets


def test_three_packets_meet_at_a_node_of_a_4x4_array():
    network = gossamer.network("array:4x4")
    schedule, _, _ = run("H", network, permutation(network, {(0, 1): (0, 1), (0, 0): (0, 2), (0, 2): (0, 0)}))
    assert len(held_after(schedule, 1)[0, 1]) == 3 == buffer_peak(schedule, "all").packets


def test_figure_3_3_five_packets_after_two_steps():
    network = gossamer.network("array:8x8")
    moves = {(2, 2): (2, 2), (0, 2): (4, 6), (4, 2): (0, 2), (2, 0): (2, 4), (2, 4): (2, 0)}
    schedule, _, _ = run("Q", network, permutation(network, moves))
    assert len(held_after(schedule, 2)[2, 2]) == 5


def test_figure_3_2_four_packets_end_at_one_node():
    network = gossamer.network("array:8x8")
    moves = {(2, 1): (7, 7), (6, 1): (6, 6), (2, 5): (5, 5), (6, 5): (6, 5), (0, 1): (0, 5)}
    schedule, _, _ = run("Q", network, permutation(network, moves))
    assert schedule.phases[0].slots == 8
    after = held_after(schedule, 8)
    assert sorted(after[6, 5]) == [2 * 8 + 1, 2 * 8 + 5, 6 * 8 + 1, 6 * 8 + 5]
    assert after[0, 5] == [1]


def test_figure_3_1_four_packets_in_the_top_left_quadrant():
    network = gossamer.network("array:8x8")
    moves = {(0, 1): (2, 0), (0, 5): (2, 1), (4, 1): (2, 2), (4, 5): (2, 3), (0, 0): (3, 1), (1, 1): (3, 0)}
    schedule, _, _ = run("Q", network, permutation(network, moves))
    after = held_after(schedule, 8)
    assert len(after[0, 1]) == 4
    assert sum(len(after.get((0, j), [])) for j in range(4)) == 5


SOURCES = {"A": (0, 1), "B": (4, 1), "C": (0, 5), "D": (4, 2), "E": (5, 2), "F": (6, 0), "G": (4, 5), "H": (6, 6),
           "J": (1, 2)}  # fmt: skip
TARGETS = {
    "A": [(2, 0), (5, 3)], "B": [(2, 1), (6, 6), (7, 3)], "C": [(2, 2)], "D": [(2, 3)],
    "E": [(0, 1), (6, 7), (3, 4), (5, 0), (3, 5), (5, 1)], "F": [(1, 0)], "G": [(0, 2), (6, 3)],
    "H": [(0, 6), (1, 6), (2, 6)], "J": [(1, 7)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "lengths", "after"), [
    ("Q", (8, 4, 3, 1), {(0, 1): "ABCG", (0, 2): "D", (1, 2): "E", (1, 6): "EJ", (2, 0): "F", (2, 6): "H",
                         (4, 1): "ABG", (4, 5): "B", (5, 2): "E", (5, 6): "E"}),
    ("H", (4, 6, 3, 3), {(0, 1): "AC", (1, 6): "J", (4, 1): "BG", (4, 2): "D", (4, 5): "B", (5, 2): "E", (5, 6): "E",
                         (6, 0): "F", (6, 6): "H"}),
])  # fmt: skip
def test_restricted_broadcasting_of_figures_3_11_and_4_1(name, lengths, after):
    from gossamer.algorithms.routing.move_and_smooth.smoothing import MovingItems
    from gossamer.algorithms.routing.move_and_smooth.stages import split_and_move
    from gossamer.schedules.hop_sinks import RecordingSink

    network = gossamer.network("array:8x8")
    sets = [()] * 64
    for letter, (i, j) in SOURCES.items():
        sets[8 * i + j] = tuple(8 * a + b for a, b in TARGETS[letter])
    task = OneToManyRouting(tuple(sets))
    schedule, _, _ = run(name, network, task, 5 if name == "Q" else 3)
    assert steps_of(schedule, 4) == lengths
    traffic = MovingItems.of(Case(network, task), RecordingSink())
    split_and_move(traffic, (q_stages if name == "Q" else h_stages)((8, 8))[0])
    origin = task.messages(network).origin
    letters = {8 * i + j: letter for letter, (i, j) in SOURCES.items()}
    held = {}
    for packet, node in zip(traffic.packet, traffic.node, strict=True):
        key = divmod(int(node), 8)
        held[key] = "".join(sorted(held.get(key, "") + letters[int(origin[packet])]))
    assert held == after


@pytest.mark.exhaustive(always=3)
@pytest.mark.parametrize("spec", ["4x2", "8x2", "16x2", "64x2", "8x4", "32x4", "32x16", "2x8", "16x32"])
def test_rectangles_keep_the_exact_parts_and_the_bounds(spec):
    network = gossamer.network(f"array:{spec}")
    r, c = sorted(network.grid.sides, reverse=True)
    q, h = q_stages(network.grid.sides), h_stages(network.grid.sides)
    for stages in (q, h):
        assert sum(stage.move for stage in stages) == r + c - 2
    tq, th = guaranteed_times(q), guaranteed_times(h)
    assert tq.control == r / 2 - r / (2 * c) + c - 1 - 2 * log2(c)
    assert tq.data - (r + c - 2) <= 0.75 * r * (1 - 1 / c) + 1.2 * (c - 1)
    assert th.control == 1.5 * r * (1 - 1 / c) + 2 * c - 2 - 4 * log2(c)
    assert th.data - (r + c - 2) == 1.5 * r * (1 - 1 / c) + 2 * c - 2 - 2 * log2(c)
    assert tq.data <= 1.75 * r + 2.2 * c
    assert tq.control <= r / 2 + c
    assert th.data <= 2.5 * r + 3 * c
    assert th.control <= 1.5 * r + 2 * c
    for task in every_class(network, 5):
        for name, buffer, most in (("Q", 5, tq), ("H", 3, th)):
            _, messages, counting = run(name, network, task, buffer)
            assert messages <= most.data
            assert counting <= most.control


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_three_dimensional_h_follows_the_closed_forms_with_3_buffers(n):
    times = guaranteed_times(h_stages((n, n, n)))
    assert (times.data, times.control) == (12.5 * n - 13 - 6 * log2(n), 9.5 * n - 9 - 9 * log2(n))
    network = gossamer.network(f"array:{n}x{n}x{n}")
    draw = np.random.default_rng(n)
    for task in (partial(network, 1, draw), broadcasts(network, n, draw)):
        _, messages, counting = run("H", network, task, 3)
        assert messages <= times.data
        assert counting == times.control


@pytest.mark.parametrize("n", [2, 4])
def test_h_in_any_dimension_stays_below_its_leading_terms(n):
    for k in (2, 3, 4):
        times = guaranteed_times(h_stages((n,) * k))
        assert times.data <= (1.5 * k * k - k / 2 + 0.5) * n
        assert times.control <= (1.5 * k * k - 1.5 * k + 0.5) * n
    network = gossamer.network("array:" + "x".join([str(n)] * 4))
    run("H", network, partial(network, 1, np.random.default_rng(n)), 3)


@pytest.mark.parametrize("spec", ["4x4x4", "8x8x8", "4x4x4x4"])
def test_q_in_three_and_four_dimensions_keeps_its_buffers(spec):
    network = gossamer.network(f"array:{spec}")
    buffer = 2**network.grid.dimensions + 1
    for task in (*list(every_class(network, 3))[:2], partial(network, 1, np.random.default_rng(1))):
        schedule, messages, _ = run("Q", network, task, buffer)
        assert messages <= guaranteed_times(q_stages(network.grid.sides)).data
        assert schedule.phases[0].slots <= 2 ** (network.grid.dimensions - 2) * network.grid.sides[0]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["16x16x16", "4x4x4x4", "8x8x8", "2x2x2x2"])
def test_more_cubes_keep_the_buffers_of_q_and_h(spec):
    network = gossamer.network(f"array:{spec}")
    sides = network.grid.sides
    for seed in range(3):
        for task in every_class(network, seed):
            for name, buffer, stages in (("Q", 2 ** len(sides) + 1, q_stages), ("H", 3, h_stages)):
                _, messages, counting = run(name, network, task, buffer)
                assert messages <= guaranteed_times(stages(sides)).data
                assert counting == guaranteed_times(stages(sides)).control


def test_k_strips_take_the_steps_of_the_thesis():
    for n in (4, 16, 64, 256):
        times = guaranteed_times(h_stages((n, n), 4))
        assert times.data <= 4.05 * n
        assert times.control <= 1.5 * n
    for n, k in ((36, 6), (64, 8), (1000, 10)):
        times = guaranteed_times(h_stages((n, n), k))
        assert times.data <= (2 + 1.5 + (2 * k + 1) / (2 * (k * k - 1)) + 1 / k) * n
        assert times.control <= (0.5 + 3 / (k - 1)) * n


def test_k_squared_partitions_take_the_steps_of_the_thesis():
    for n, k in ((16, 4), (64, 4), (256, 4), (36, 6), (64, 8)):
        times = guaranteed_times(q_stages((n, n), k))
        assert times.data <= (5 * k + 3) / 4 * n
        assert times.control <= 1.5 / (k - 1) * n


@pytest.mark.parametrize("n", [4, 16, 36])
def test_k_strips_and_k_squared_partitions_keep_their_buffers(n):
    network = gossamer.network(f"array:{n}x{n}")
    k = 6 if n == 36 else 4
    for task in every_class(network, n):
        for name, buffer, stages in (("H-k-strips", k + 1, h_stages), ("Q-k-partition", k * k + 2, q_stages)):
            if name == "Q-k-partition" and isinstance(task, OneToManyRouting):
                buffer = None  # the thesis says nothing of copies here
            _, messages, counting = run(name, network, task, buffer)
            times = guaranteed_times(stages((n, n), k))
            assert messages <= times.data
            assert counting <= times.control


@pytest.mark.parametrize("n", [3, 5, 6, 7, 9, 10, 11, 12, 13, 15, 17, 19])
def test_h_on_any_square_keeps_3_buffers_and_its_guaranteed_steps(n):
    network = gossamer.network(f"array:{n}x{n}")
    times = guaranteed_times(h_stages((n, n)))
    for task in every_class(network, n):
        _, messages, counting = run("H", network, task, 3)
        assert messages <= times.data
        assert counting <= times.control
        assert messages + counting <= 9 * n


def test_h_on_small_rectangles_takes_at_most_4r_plus_5c_with_3_buffers():
    draw = np.random.default_rng(7)
    for r in range(1, 13):
        for c in range(1, r + 1):
            network = gossamer.network(f"array:{r}x{c}")
            _, messages, counting = run("H", network, partial(network, 1, draw), 3)
            assert messages + counting <= 4 * r + 5 * c


def test_three_packets_in_a_column_of_three_take_two_steps():
    network = gossamer.network("array:3x3")
    schedule, _, _ = run("H", network, permutation(network, {(0, 0): (0, 2), (0, 1): (1, 2), (0, 2): (2, 2)}))
    phases = {p.name: p.slots for p in schedule.phases}
    assert len(held_after(schedule, 2)[0, 2]) == 3
    assert phases["column 3x2"] == 2


def test_what_is_not_covered_is_said():
    net = gossamer.network("array:6x2x3")
    task = gossamer.task("permutation", destination=list(range(36)))
    with pytest.raises(NotApplicableError, match="powers of two"):
        gossamer.plan(net, task, algorithm="Q")
    with pytest.raises(NotApplicableError, match="more than the buffer of 2"):
        gossamer.plan(net, task, algorithm="H", rules=gossamer.Rules(buffer=2, buffer_counts="all"))
    with pytest.raises(NotApplicableError, match="needs an array"):
        gossamer.plan("torus:6x6", task, algorithm="H")
    with pytest.raises(NotApplicableError, match="power of an even number"):
        gossamer.plan("array:9x4", task, algorithm="H-k-strips")
