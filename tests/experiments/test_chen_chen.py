"""The tables of Chen and Chen as reproduced, against reference values, and every time against its bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.studies.reproductions import chen_chen
from gossamer.studies.reproductions.chen_chen import comparison, operations, schedule_costs
from gossamer.studies.reproductions.chen_chen import comparison as choices
from gossamer.studies.reproductions.chen_chen.operations import flit_by_flit
from gossamer.studies.reproductions.chen_chen.schedule_costs import smallest_cases
from gossamer.wormhole.aggregation_distribution import ATD_5, best_h

# n, s, tau, Theorem 1 as printed, its best h, EDST as printed
FORMULAS = (
    (10, 10, 0.1, 24.6, 10, 31.2), (10, 10, 1, 46, 5, 42), (10, 10, 10, 223, 2, 150), (10, 10, 100, 1933, 2, 1230),
    (10, 100, 0.1, 132.6, 10, 301.2), (10, 100, 1, 156, 10, 312), (10, 100, 10, 390, 10, 420),
    (10, 100, 100, 2203, 2, 1500), (16, 64, 0.1, 85.2, 16, 289.8), (16, 64, 1, 114, 16, 306),
    (16, 64, 10, 367, 4, 468), (16, 64, 100, 2347, 4, 2088), (20, 100, 0.1, 123.6, 20, 552.2),
    (20, 100, 1, 156, 20, 572), (20, 100, 10, 433, 5, 770), (20, 100, 100, 2428, 4, 2750),
    (25, 25, 0.1, 41.1, 25, 165.1), (25, 25, 1, 76, 5, 188.5), (25, 25, 10, 283, 5, 422.5),
    (25, 25, 100, 2200, 1, 2762.5), (25, 156, 1, 219.48, 25, 1040), (25, 156, 10, 545, 5, 1274),
    (25, 625, 0.1, 689.1, 25, 4065.1), (25, 625, 100, 3553, 5, 6662.5), (30, 225, 0.1, 289.9, 30, 1803.2),
    (30, 225, 100, 3522.5, 6, 5000),
)  # fmt: skip


def column(table, name, which=0):
    places = [i for i, c in enumerate(table.columns) if c == name]
    return [row[places[which]] for row in table.rows]


def rows(table, keys=1):
    return {row[0] if keys == 1 else row[:keys]: row[keys:] for row in table.rows}


def exactly(number):
    return Fraction(str(number))


@pytest.mark.parametrize("case", FORMULAS)
def test_formulas_at_the_points_of_the_comparison(case):
    n, s, tau, printed, h, trees = case
    assert schedule_costs.best_theorem_1(n, s, exactly(tau)) == (h, exactly(printed))
    assert schedule_costs.trees(n, s).time(exactly(tau)) == exactly(trees)


def test_points_of_the_comparison_that_do_not_depend_on_the_sources():
    """With every node a source the reference times are ours, but for rounding."""
    for tau, published, rings, sequential in (
        (Fraction(1, 10), 138.6, 28.5, 660), (Fraction(1), 162, 37.5, 1200), (Fraction(10), 365, 127.5, 6600),
        (Fraction(100), 2075, 1027.5, 60600),
    ):  # fmt: skip
        point = comparison.compared(10, 100, tau)
        assert float(point.times["ATD-5"]) == pytest.approx(published, abs=0.05)
        assert (point.times["rings"], point.times["sequential"]) == (exactly(rings), sequential)


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(("n", "s"), [(10, 10), (10, 100), (16, 64)])
@pytest.mark.parametrize("tau", comparison.TAUS)
def test_no_time_is_below_the_bound_and_the_variants_improve_on_the_published_schedule(n, s, tau):
    point = comparison.compared(n, s, tau)
    measured = {name: time for name, time in point.times.items() if name not in ("Theorem 1", "EDST as printed")}
    assert min(measured.values()) >= point.bound
    assert max(measured["ATD-opt"], measured["ATD-piece"]) < measured["ATD-5"] < measured["EDST"]
    assert measured["EDST pipelined"] <= measured["EDST"]
    assert measured["ATD-piece"] < measured["EDST pipelined"]


def test_a_time_of_the_comparison_is_that_of_the_plan():
    tau = Fraction(10)
    h, time = schedule_costs.fastest(10, 10, "atd-piece", tau)
    model = gossamer.LinearCost(startup=10240, message_bytes=1024)
    active = list(gossamer.reading.node_lists.named_nodes("random:10", 100, seed=0))
    plan = gossamer.plan(
        "torus:10x10",
        gossamer.task("partial-multinode-broadcast", active=active),
        algorithm="atd-piece",
        switching="wormhole",
        cost=model,
        options={"h": h},
    )
    assert time == plan.completion_time / 1024
    assert schedule_costs.bound(10, 10, tau) == plan.bound / 1024


@pytest.mark.slow
def test_headlines_of_the_32_points():
    found = {row[:2]: row[2:5] for row in comparison.headlines().rows}
    assert found["ATD-5", "EDST"] == (32, 0, 0)
    assert found["ATD-5", "EDST as printed"] == (28, 0, 4)
    assert found["ATD-5", "rings"] == (2, 0, 30)
    assert found["ATD-opt", "ATD-5"] == (32, 0, 0)
    assert found["ATD-piece", "EDST pipelined"] == (32, 0, 0)
    best = {row[0]: row[1] for row in comparison.standing().rows}
    assert (best["ATD-piece"], best["rings"]) == (26, 6)
    assert sum(best.values()) == 32


def test_headlines_count_every_point_once(monkeypatch):
    monkeypatch.setattr(comparison, "POINTS", ((10, 10), (10, 100)))
    table = comparison.headlines()
    assert all(sum(row[2:5]) == 8 for row in table.rows)
    told = {row[:2]: row[5] for row in table.rows}
    assert told["ATD-5", "EDST as printed"] == "slower at 10, 10: 10 100; 10, 100: 100"
    assert all(row[2] >= 1 for row in comparison.standing().rows)


def test_close_points_depend_on_the_source_set(monkeypatch):
    monkeypatch.setattr(comparison, "POINTS", ((10, 10), (10, 100)))
    table = comparison.source_sets()
    assert [row[:3] for row in table.rows] == [(10, 10, tau) for tau in comparison.TAUS]
    for row in table.rows:
        faster, least, most, bound = row[3:]
        assert bound < min(1, least)
        assert (faster == 5) == (least > 1)
        assert (faster == 0) == (most <= 1)
    assert table.rows[1][3] in range(1, 5)  # tau = 1: some this way, some that


def test_full_load_is_the_reference_table():
    """Section 14.8: start-ups and messages, phase by phase."""
    found = [row[:3] + row[-4:-2] for row in operations.full_load().rows]
    assert found == [
        (5, 5, "atd-5", 13, 33), (5, 5, "atd-opt", 11, 14), (10, 5, "atd-5", 22, 158), (16, 4, "atd-5", 22, 423),
        (25, 5, "atd-5", 23, 933), (25, 5, "atd-opt", 19, 459), (30, 6, "atd-5", 31, 1276), (50, 10, "atd-5", 36, 3376),
        (50, 10, "atd-opt", 27, 1425),
    ]  # fmt: skip
    last = operations.full_load().rows[-1]
    assert last[3:11] == ("2 (6)", "10", "3 (9)", "1 (10)", "2 (150)", "1 (250)", "3 (375)", "5 (625)")


def test_twenty_sources_are_the_reference_ones():
    """Section 14.4."""
    found = {row[2]: row[3:13] for row in operations.twenty_sources().rows}
    assert found["atd-5"] == ("1 (1)", "10", "2 (2)", "1 (2)", "1 (2)", "1 (4)", "2 (8)", "4 (16)", 22, 35)
    assert found["atd-opt"] == ("1 (1)", "8", "2 (3)", "1 (2)", "1 (2)", "1 (4)", "2 (4)", "2 (4)", 18, 20)
    assert found["atd-piece"] == ("1 (1)", "-", "2 (1.8)", "1 (1.6)", "1 (2.6)", "1 (4)", "2 (4)", "2 (4)", 10, 19)


def test_lemma_1_is_met_at_powers_of_five_and_an_upper_bound_elsewhere():
    table = operations.aggregation()
    assert column(table, "measured", 0) == column(table, "start-ups")
    assert column(table, "measured", 1) == column(table, "corrected") == [1, 1, 1, 1, 4, 5, 6, 6, 6, 20]
    bounds = zip(column(table, "bound"), column(table, "measured", 1), column(table, "closed form"), strict=True)
    assert all(low <= measured <= high for low, measured, high in bounds)
    gaps = {
        h: most - sent
        for h, sent, most in zip(*(column(table, c) for c in ("h", "corrected", "closed form")), strict=True)
    }
    assert gaps[5] == gaps[25] == 0
    assert gaps[6] == 2
    assert gaps[26] == 11


def test_prefix_sums_take_the_printed_steps_and_groups_of_three_no_more():
    table = operations.prefix_sums()
    assert column(table, "groups of 5") == column(table, "printed")
    found = zip(column(table, "bound"), column(table, "groups of 3"), column(table, "printed"), strict=True)
    assert all(bound <= three <= five for bound, three, five in found)


def test_tuning_takes_the_reference_steps_and_messages():
    table = rows(operations.tuning())
    volumes = {6: (6, 4, 3), 10: (10, 9, 4), 25: (20, 24, 7)}
    assert {h: (table[h][2], table[h][4], table[h][6]) for h in volumes} == volumes
    claim_holds = [h for h, row in table.items() if row[5] <= row[0] and row[6] <= row[0]]
    assert claim_holds == [2, 3, 4, 5, 6, 8, 10, 13]
    assert all(row[7] > row[0] for h, row in table.items() if h >= 16)
    assert all(min(row[2], row[4], row[6]) >= row[8] for row in table.values())


def test_all_to_all_pattern_collides_between_n_thirds_and_n():
    for nodes in range(2, 90):
        units = [u for u in (1, 5, 25) if u < nodes]
        assert operations.plain_pattern_collides(nodes) == any(nodes < 3 * u for u in units)
    for row in operations.all_to_all().rows:
        _, _, steps, messages, four, sent, two, pairs, least, bound = row
        assert least <= two <= four <= steps
        assert bound <= min(sent, pairs)
        assert max(sent, pairs) <= messages


def test_rows_inside_the_blocks_take_more_steps_than_printed():
    table = rows(operations.collection())
    assert [h for h, row in table.items() if row[1] > row[0]] == [3, 6, 7, 8, 9, 15, 25]
    for h, row in table.items():
        assert row[2] == row[0] == row[3]
        assert (row[5], row[6], row[7]) == (h - 1, h // 2, h // 2)
        assert row[11] <= row[10] <= row[9] == row[8]


def test_lemmas_and_theorem_are_met_by_the_corrected_closed_form():
    table = chen_chen.lemmas()
    assert column(table, "corrected", 0) == column(table, "measured", 0)
    pairs = zip(column(table, "corrected", 1), column(table, "measured", 1), strict=True)
    assert all(measured <= most for most, measured in pairs)
    start_ups = zip(column(table, "start-ups"), column(table, "measured", 0), strict=True)
    assert all(measured <= printed for printed, measured in start_ups)
    at = rows(table, 3)
    assert at[25, 5, "Theorem 1"][:8] == (23, 23, 23, 1253, 933, 933, 6, 10)
    assert at[25, 5, "Lemma 2"][:1] + at[25, 5, "Lemma 2"][3:4] == (13, 3)


def test_table_1_stands_beside_measured_schedules(monkeypatch):
    monkeypatch.setattr(chen_chen, "SHAPES", chen_chen.SHAPES[:5])
    for row in chen_chen.table_1().rows:
        n, h, ours, measured, trees, found, least = row[:7]
        assert ours == max(h, *(t for t in range(9) if 5 ** (t - 1) < n <= 5**t))
        assert least <= min(measured, found)
        assert trees == 2 * (n // 2) < found
        assert row[-1] <= min(row[8], row[10])


def test_erratum_x10_the_scheme_transmits_more_than_trees_up_to_n_5(monkeypatch):
    monkeypatch.setattr(chen_chen, "SIDES", chen_chen.SIDES[:8])
    table = chen_chen.transmission()
    verdict = dict(zip(column(table, "n"), column(table, "Theorem 1 has"), strict=True))
    assert [n for n, word in verdict.items() if word == "more"] == [3, 4, 5]
    at = rows(table)
    assert at[4][:2] == (Fraction(5, 4), 1)
    assert at[5][:2] == (Fraction(6, 5), 1)
    for row in table.rows:
        published, halves, pipelined, rings, bound = row[4], row[5], row[8], row[9], row[10]
        assert bound <= rings < pipelined < published
        assert (halves < pipelined) == (row[0] in (5, *range(8, 31)))


def test_erratum_x11_start_ups_are_fewer_from_n_22_on_and_not_for_26_to_29():
    table = chen_chen.startups()
    verdict = dict(zip(column(table, "n"), column(table, "Theorem 1 has"), strict=True))
    assert [n for n, word in verdict.items() if word == "fewer"] == [22, 23, 24, 25, 30]
    assert [n for n, word in verdict.items() if word == "equal"] == [20, 21, 31]
    at = rows(table)
    assert at[22][1:3] == (20, 22)
    assert [(n, row[4]) for n, row in at.items() if row[4] != "-"] == [(25, "h = 5"), (30, "h = 2")]
    assert all(row[6] <= row[5] <= row[1] for row in at.values())


def test_erratum_x13_trees_are_one_level_lower_than_printed():
    for n, printed, a, b, found, bound, arcs, edges, there in chen_chen.tree_heights().rows:
        assert (a, b) == (2 * n - 1, n + n // 2)
        assert found == (printed if n == 5 else printed - 1)
        assert bound <= found
        assert edges < arcs <= there


def test_erratum_x15_the_best_h_falls_with_the_start_up():
    times = {row[:2]: row[4] for row in choices.larger_is_slower().rows}
    best = {tau: min((1, 5, 25), key=lambda h: times[tau, h]) for tau in comparison.TAUS}
    assert list(best.values()) == [25, 5, 5, 1]


@pytest.mark.parametrize("name", schedule_costs.VARIANTS)
def test_map_of_h_is_what_the_closed_form_chooses(name):
    taus = np.array([0.125, 3, 64])
    found = choices.chosen(30, name, (1, 20, 300), taus)
    for row, tau in enumerate((Fraction(1, 8), Fraction(3), Fraction(64))):
        for place, s in enumerate((1, 20, 300)):
            assert found[row, place] == best_h((30, 30), s, schedule_costs.cost_of(tau), schedule_costs.VARIANTS[name])


def test_the_automatic_h_is_never_faster_than_the_best(monkeypatch):
    monkeypatch.setattr(choices, "POINTS", ((10, 10), (16, 64)))
    for row in choices.automatic_choice().rows:
        assert 0 <= row[2] <= row[3] < 30
        assert (row[3] == 0) == (row[1] == 8)


def test_flits_take_the_predicted_cycles_with_barriers_and_meet_without(monkeypatch):
    chosen = ("atd-5", "atd-piece", "ring-all-gather", "spanning-trees")
    monkeypatch.setattr(operations, "ALGORITHMS", chosen)
    table = flit_by_flit()
    for _, _, model, predicted, barriers, blocked, free, meeting, deadlock in table.rows:
        assert model <= predicted == barriers
        assert blocked == 0
        assert deadlock == "none"
        assert meeting > 0 or free <= barriers
    meeting = dict(zip(column(table, "algorithm"), column(table, "blocked", 1), strict=True))
    assert [name for name, cycles in meeting.items() if cycles] == ["atd-5", "atd-piece"]


def test_smallest_cases_are_those_of_the_errata():
    found = {row[0]: row[3:] for row in smallest_cases().rows}
    assert found == {
        "X1": ("0 3", "0 2 4"), "X3": (-2, 1), "X7": (Fraction(1, 2), 1), "X8": (2, 41), "X14": (6, 10),
        "X16": (Fraction(3, 2), "2 1"),
    }  # fmt: skip


def test_curves_lie_between_their_bounds(monkeypatch):
    monkeypatch.setattr(comparison, "CURVES", comparison.CURVES[:2])
    for curve in chen_chen.curves():
        assert curve.unit == "m T_c"
        assert all(a <= b <= c for a, b, c in zip(curve.lower, curve.measured, curve.upper, strict=True))


def test_runs_add_up_their_phases():
    run = schedule_costs.partitioned(10, 20, ATD_5, 5)
    assert run.steps == run.startups == sum(cost.startups for cost in run.phases.values()) == 22
    assert run.time(Fraction(2)) == 44 + sum(cost.messages for cost in run.phases.values())
    assert run.data.messages < Fraction(run.bytes_, run.message)
