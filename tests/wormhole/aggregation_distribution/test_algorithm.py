"""Aggregation-then-distribution as a whole: reference vectors and tables, closed forms, errata, extensions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.networks import torus
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.simulation.flits import simulate_schedule
from gossamer.wormhole import verify
from gossamer.wormhole.aggregation_distribution import (
    ATD,
    ATD_5,
    ATD_OPT,
    ATD_PIECE,
    aggregation_distribution,
    best_h,
    closed_form,
    closed_form_time,
    with_tuning,
)
from gossamer.wormhole.aggregation_distribution.closed_forms import MOVEMENTS, movement
from gossamer.wormhole.contraction_trees import group_tree
from gossamer.wormhole.partition import TorusPartition, common_divisors
from wormhole.aggregation_distribution_checks import (
    ATD_OPT_MIX3,
    ATD_PIECE_MIX3,
    VARIANTS,
    build,
    check,
    log,
    s5,
    steps_opt,
)
from wormhole.twenty_sources import SOURCES


def sources_of(n, kind, rng):
    if kind == "single":
        return [int(rng.integers(n * n))]
    if kind == "full":
        return list(range(n * n))
    if kind == "clustered":
        side = max(1, n // 3)
        i, j = rng.integers(n, size=2)
        return [int((i + a) % n * n + (j + b) % n) for a in range(side) for b in range(side)]
    count = int(rng.integers(1, n * n + 1 if n <= 21 else 3 * n))
    return rng.choice(n * n, count, replace=False).tolist()


def check_size(n, kinds, rng):
    for h in common_divisors((n, n)):
        for kind in kinds:
            sources = sources_of(n, kind, rng)
            assert check((n, n), h, sources, ATD_5).step_count == s5(n, h)
            for movement_name in MOVEMENTS:
                s = check((n, n), h, sources, replace(ATD_OPT, tuning=movement_name))
                assert s.step_count == steps_opt(n, h, movement_name, prefix=True)
            if len(sources) * h <= 4000:
                s = check((n, n), h, sources, ATD_PIECE_MIX3, message_bytes=2 * h)
                assert s.step_count == steps_opt(n, h, "mix3", prefix=False)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 9, 10, 12])
def test_all_divisors_are_valid_in_the_steps_of_the_closed_forms(n):
    check_size(n, ["single", "clustered", "random", "full"], np.random.default_rng(n))


@pytest.mark.slow
@pytest.mark.parametrize("n", [*range(2, 22), 24, 25, 30, 50])
def test_all_divisors_of_all_sizes_are_valid_in_the_steps_of_the_closed_forms(n):
    rng = np.random.default_rng(1000 + n)
    check_size(n, ["single", "clustered", "random", "random", "full"], rng)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_set_of_sources_is_served(data):
    n = data.draw(st.integers(1, 12))
    h = data.draw(st.sampled_from(common_divisors((n, n))))
    sources = data.draw(st.sets(st.integers(0, n * n - 1), min_size=1).map(sorted))
    variant = data.draw(st.sampled_from([*VARIANTS.values(), replace(ATD_5, rows="block")]))
    check((n, n), h, sources, variant, message_bytes=data.draw(st.integers(1, 70)), hop_time=3, per_byte="0.1")


def by_phase(schedule):
    """Return for each phase but the prefix sums its steps and volume in messages, and the totals."""
    m = schedule.cost.message_bytes
    rows, total = {}, Fraction(0)
    for p in schedule.phases:
        volume = Fraction(int(schedule.step_length[p.first_step : p.first_step + p.steps].clip(0).sum()), m)
        if p.name == "prefix sums":
            rows[p.name] = p.steps
        else:
            rows[p.name] = (p.steps, float(volume))
            total += volume
    return rows, schedule.step_count, float(total)


PHASES = ["aggregation", "prefix sums", "tuning", "alignment", "all-gather", "broadcast", "rows", "columns"]


@pytest.mark.parametrize(
    ("variant", "expected", "steps", "volume"),
    [
        (ATD_5, [(1, 1), 10, (2, 2), (1, 2), (1, 2), (1, 4), (2, 8), (4, 16)], 22, 35),
        (ATD_OPT_MIX3, [(1, 1), 8, (2, 3), (1, 2), (1, 2), (1, 4), (2, 4), (2, 4)], 18, 20),
        (ATD_PIECE_MIX3, [(1, 1), None, (2, 1.8), (1, 1.6), (1, 2.6), (1, 4), (2, 4), (2, 4)], 10, 19),
    ],
)
def test_vector_of_twenty_sources(variant, expected, steps, volume):
    s = check((10, 10), 5, SOURCES, variant)
    wanted = {name: row for name, row in zip(PHASES, expected, strict=True) if row is not None}
    assert by_phase(s) == (wanted, steps, volume)


FULL_LOAD = [
    (5, 5, ATD_5, [(1, 1), 4, (2, 2), None, None, None, (2, 10), (4, 20)], 13, 33),
    (5, 5, ATD_OPT_MIX3, [(1, 1), 4, (2, 3), None, None, None, (2, 5), (2, 5)], 11, 14),
    (10, 5, ATD_5, [(1, 1), 10, (2, 2), (1, 5), (1, 10), (1, 20), (2, 40), (4, 80)], 22, 158),
    (16, 4, ATD_5, [(1, 1), 10, (2, 2), (1, 4), (2, 32), (1, 64), (2, 128), (3, 192)], 22, 423),
    (25, 5, ATD_5, [(1, 1), 10, (2, 2), (1, 5), (2, 50), (1, 125), (2, 250), (4, 500)], 23, 933),
    (25, 5, ATD_OPT_MIX3, [(1, 1), 8, (2, 3), (1, 5), (2, 75), (1, 125), (2, 125), (2, 125)], 19, 459),
    (30, 6, ATD_5, [(2, 4), 14, (4, 6), (1, 6), (2, 60), (1, 150), (2, 300), (5, 750)], 31, 1276),
    (50, 10, ATD_5, [(2, 6), 14, (4, 10), (1, 10), (2, 100), (1, 250), (3, 750), (9, 2250)], 36, 3376),
    (50, 10, ATD_OPT_MIX3, [(2, 6), 10, (3, 9), (1, 10), (2, 150), (1, 250), (3, 375), (5, 625)], 27, 1425),
]


@pytest.mark.parametrize(("n", "h", "variant", "expected", "steps", "volume"), FULL_LOAD)
def test_table_of_full_load(n, h, variant, expected, steps, volume):
    s = check((n, n), h, range(n * n), variant)
    wanted = {name: row for name, row in zip(PHASES, expected, strict=True) if row is not None}
    assert by_phase(s) == (wanted, steps, volume)


def printed_theorem_1(n, h):
    """Return the printed start-ups, and the coefficients of M, of m and of the constant term."""
    N = -(-n // h)
    startups = 6 * log(5, N) + 3 * log(5, h) + log(3, h) + 4 * log(5, n) + h - 1
    m = 2 * log(5, h) + (5 ** log(5, h) - 1) // 4
    return startups, 4 * log(5, N) + log(3, h) + h - 1, m, 4 * log(5, h) + 2 * log(5, N)


def test_vector_of_theorem_1_at_25_and_5():
    assert printed_theorem_1(25, 5) == (23, 10, 3, 6)
    assert s5(25, 5) == 23


def test_erratum_x14_the_counters_of_theorem_1_depend_on_n_and_not_on_h():
    s = build((25, 25), 5, range(625), ATD_5, counter_bytes=1)
    prefix = next(p for p in s.phases if p.name == "prefix sums")
    measured = int(s.step_length[prefix.first_step : prefix.first_step + prefix.steps].sum())
    assert (measured, printed_theorem_1(25, 5)[3]) == (10, 6)


def test_startups_of_theorem_1_are_never_exceeded_and_not_always_needed():
    sizes = [(n, h) for n in range(1, 130) for h in common_divisors((n, n))]
    assert all(s5(n, h) <= printed_theorem_1(n, h)[0] for n, h in sizes)
    assert s5(10, 5) == 22 < printed_theorem_1(10, 5)[0] == 23


def test_the_corrected_volume_bounds_the_closed_form():
    for n, s in [(10, 20), (25, 25), (25, 156), (30, 225), (50, 2500)]:
        for h in common_divisors((n, n)):
            N, q = n // h, -(-s // h)
            model = LinearCost(message_bytes=1, counter_bytes=1)
            phases = {p.name: sum(p.bytes) for p in closed_form((n, n), s, h, model, ATD_5)}
            t = log(5, N)
            r5 = s5(n, h) - 3 * log(5, h) - 4 * t - 4 * log(5, n) - log(3, h) - h + 1
            ways = [np.unique(step[step.any(axis=1)], axis=0, return_counts=True)[1] for step in movement("mix5", h)]
            mix5 = sum(counts.max() for counts in ways)
            v5 = sum(group_tree(h).loads) + mix5 + sum(min(q, h * 5 ** (k - 1)) for k in range(1, t + 1))
            v5 += r5 * q + (t + log(3, h) + h - 1) * q
            assert sum(phases.values()) - phases.get("prefix sums", 0) <= v5
            assert sum(phases.get(p, 0) for p in ("broadcast", "rows", "columns")) == (t + log(3, h) + h - 1) * q


def test_erratum_x7_a_step_carries_whole_messages():
    s = check((2, 2), 2, [0], ATD_5, message_bytes=10)
    rows = next(p for p in s.phases if p.name == "rows")
    assert s.step_length[rows.first_step] == 10
    assert Fraction(1 * 10, 2) == 5  # s m / h
    cut = check((2, 2), 2, [0], ATD_PIECE, message_bytes=12)
    assert max(cut.step_length[next(p for p in cut.phases if p.name == "rows").first_step :]) == 3


def test_erratum_x8_start_ups_grow_like_h_and_not_like_the_logarithm_of_n():
    phases = closed_form((125, 125), 125, 125, LinearCost(), ATD_5)
    assert sum(len(p.bytes) for p in phases) == s5(125, 125) >= 124
    assert log(5, 125) == 3


def test_erratum_x15_the_largest_h_is_not_the_fastest():
    sources = np.random.default_rng(0).choice(625, 25, replace=False).tolist()
    times = {h: build((25, 25), h, sources, ATD_5, startup=6000).completion_time for h in (1, 5, 25)}
    assert times[1] < times[5] < times[25]
    few = {h: build((25, 25), h, sources, ATD_5, startup=6).completion_time for h in (1, 5, 25)}
    assert few[25] < few[5] < few[1]


def test_pieces_balance_exactly_without_ranks():
    s = check((10, 10), 5, SOURCES, ATD_PIECE, message_bytes=50)
    assert "prefix sums" not in [p.name for p in s.phases]
    assert (s.control_bytes == 0).all()
    broadcast = next(p for p in s.phases if p.name == "broadcast")
    rows = s.phase_messages("broadcast")
    assert set(s.length[rows].tolist()) == {20 * 50 // 5}
    assert broadcast.steps == 1


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
@pytest.mark.parametrize("n", [2, 5, 6])
def test_h_1_has_no_aggregation_and_h_n_no_distribution_in_ddns(variant, n):
    least = [p.name for p in check((n, n), 1, [0, n * n - 1], variant).phases]
    assert not {"aggregation", "tuning", "rows", "columns"} & set(least)
    most = [p.name for p in check((n, n), n, [0, n * n - 1], variant).phases]
    assert not {"alignment", "all-gather", "broadcast"} & set(most)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_a_single_node_has_nothing_to_do(variant):
    s = check((1, 1), 1, [0], variant)
    assert (s.step_count, s.message_count, s.completion_time) == (0, 0, 0)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_a_broadcast_is_one_source(variant):
    network, model = torus(6, 6), LinearCost()
    one = aggregation_distribution(WormholeCase(network, Broadcast(7), model), h=2, variant=variant)
    assert verify(one)
    same = aggregation_distribution(WormholeCase(network, PartialMultinodeBroadcast([7]), model), h=2, variant=variant)
    assert one.completion_time == same.completion_time


@pytest.mark.parametrize("algorithm", ATD, ids=lambda a: a.name)
def test_registered_algorithms_keep_their_claims_and_repeat_themselves(algorithm):
    network = torus(6, 6)
    for task in (MultinodeBroadcast(), PartialMultinodeBroadcast([1, 2, 30])):
        for startup in (0, 10, 10000):
            model = LinearCost(startup=startup, hop_time="1/3")
            case = WormholeCase(network, task, model)
            s = algorithm.build(case)
            assert verify(s)
            assert s.algorithm == algorithm.name
            offers = algorithm.offers(case)
            assert offers[0].at_most
            assert s.completion_time <= offers[0].time == min(offer.time for offer in offers)
            assert algorithm.build(WormholeCase(network, task, model, seed=3)) == s
            assert sorted(offer.options["h"] for offer in offers) == [1, 2, 3, 6]
            for offer in offers:
                assert offer.build().completion_time <= offer.time


@pytest.mark.parametrize("h", [4, 0, -1, 2.0, "5", True, None, 60])
def test_other_h_get_one_clear_line(h):
    line = r"needs an h that divides every side of torus:6x6, 'auto' or one of 1, 2, 3, 6; got "
    with pytest.raises(NotApplicableError, match=line) as error:
        aggregation_distribution(WormholeCase(torus(6, 6), MultinodeBroadcast()), h=h)
    assert "\n" not in str(error.value)


def test_arrays_are_declined():
    with pytest.raises(NotApplicableError, match="it needs a torus"):
        ATD[0].build(WormholeCase(gossamer.network("array:4x4"), MultinodeBroadcast(), LinearCost()))
    with pytest.raises(NotApplicableError, match="needs a torus"):
        aggregation_distribution(WormholeCase(gossamer.network("array:4x4"), MultinodeBroadcast(), LinearCost()))


def test_schedules_too_large_to_check_are_declined():
    with pytest.raises(NotApplicableError, match="would tell 10,000 nodes of 2,000,000 pieces; too many to check"):
        aggregation_distribution(WormholeCase(torus(100, 100), MultinodeBroadcast()), h=100, variant=ATD_PIECE)
    model = LinearCost(startup=0, message_bytes=2000)
    cheapest = [best_h((100, 100), 10000, model, variant) for variant in (ATD_OPT, ATD_PIECE)]
    assert cheapest == [100, 25]  # for ATD_PIECE the largest below the limit


def test_of_large_schedules_only_the_h_of_the_least_closed_form_is_tried_unasked():
    """50 x 50 nodes, all of them sources: 6.25 million nodes times messages."""
    case = WormholeCase(torus(50, 50), MultinodeBroadcast(), LinearCost(startup=1000))
    for algorithm, variant in zip(ATD, (ATD_5, ATD_OPT, ATD_PIECE), strict=True):
        first, *others = algorithm.offers(case)
        assert first.options == {"h": best_h((50, 50), 2500, case.cost, variant)}
        assert not first.on_request
        assert len(others) == 5  # 1, 2, 5, 10, 25 and 50 divide the sides
        assert all(offer.on_request for offer in others)


def test_auto_takes_the_h_of_the_least_closed_form():
    sources = list(range(0, 900, 4))
    for variant in VARIANTS.values():
        chosen = set()
        for startup in (100, 1000, 10000, 100000):
            model = LinearCost(startup=startup, message_bytes=1000)
            times = {
                h: closed_form_time(closed_form((30, 30), len(sources), h, model, variant), model)
                for h in common_divisors((30, 30))
            }
            h = best_h((30, 30), len(sources), model, variant)
            assert times[h] == min(times.values())
            chosen.add(h)
        assert len(chosen) > 2
        task = PartialMultinodeBroadcast(sources)
        auto = aggregation_distribution(WormholeCase(torus(30, 30), task, model), variant=variant)
        assert auto == aggregation_distribution(WormholeCase(torus(30, 30), task, model), h=h, variant=variant)


def test_the_tuning_is_the_cheapest():
    p = TorusPartition((25, 25), 25)
    assert with_tuning(p, 625, LinearCost(startup=0), ATD_OPT).tuning == "direct"
    assert with_tuning(p, 625, LinearCost(startup=10**6), ATD_OPT).tuning == "mix3"
    assert with_tuning(p, 625, LinearCost(), ATD_5).tuning == "mix5"


def test_with_h_n_the_volume_tends_to_a_quarter_of_all():
    ratios = []
    for n in (9, 27, 81):
        phases = closed_form((n, n), n * n, n, LinearCost(message_bytes=2 * n), ATD_PIECE)
        collection = sum(sum(p.bytes) for p in phases if p.name in ("rows", "columns"))
        ratios.append(collection / (n * n * 2 * n) * 4)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < 1.2


@pytest.mark.parametrize(
    ("n", "tau", "atd5", "opt", "piece"),
    [
        (10, 0.1, (138.6, 10), (56.9, 10), (56.3, 10)),
        (10, 1, (162.0, 10), (74.0, 10), (68.0, 10)),
        (10, 10, (365.0, 2), (245.0, 10), (179.0, 5)),
        (10, 100, (2075.0, 2), (1734.0, 2), (934.0, 2)),
        (25, 0.1, (705.1, 25), (220.1, 25), (219.5, 25)),
        (25, 1, (742.0, 25), (243.5, 25), (237.5, 25)),
        (25, 10, (1111.0, 25), (477.5, 25), (417.5, 25)),
        (25, 100, (3233.0, 5), (2359.0, 5), (1559.0, 5)),
    ],
)
def test_table_of_costs_where_all_nodes_are_sources(n, tau, atd5, opt, piece):
    """Reference table for s = n^2: costs in units of a message, and the best h."""
    m = 51200  # a multiple of all numbers of pieces; counters are 4 bytes in 1024
    for variant, (cost, best) in zip((ATD_5, ATD_OPT_MIX3, ATD_PIECE_MIX3), (atd5, opt, piece), strict=True):
        times = {
            h: build((n, n), h, range(n * n), variant, message_bytes=m, counter_bytes=200, startup=int(tau * m))
            for h in common_divisors((n, n))
        }
        times = {h: float(s.completion_time / m) for h, s in times.items()}
        assert min(times.values()) == pytest.approx(cost, abs=0.06)
        assert times[best] == min(times.values())


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
@pytest.mark.parametrize(("sides", "h"), [((6, 6), 2), ((5, 5), 5), ((4, 4, 4), 2), ((4, 8), 2)])
def test_flit_by_flit_no_message_waits_for_another(sides, h, variant):
    s = build(sides, h, range(int(np.prod(sides))), variant, message_bytes=48, hop_time=1)
    run = simulate_schedule(s, starts="barrier")
    assert run.deadlock is None
    assert (run.blocked, run.stalled) == (0, 0)
    assert np.array_equal(run.step_cycles, run.predicted_step_cycles)
