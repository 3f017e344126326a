"""The tables of Dimakopoulos 1996 as reproduced, against the values of the thesis as printed and as corrected."""

from __future__ import annotations

import math

import pytest

import gossamer
from gossamer.studies.reproductions import dimakopoulos
from gossamer.studies.reproductions.dimakopoulos import small_network
from gossamer.studies.reproductions.table import computed_tables


@pytest.fixture(scope="module")
def tables():
    return {make.__name__: make() for make in dimakopoulos.TABLES}


def column(table, name, which=0):
    places = [i for i, c in enumerate(table.columns) if c == name]
    return [row[places[which]] for row in table.rows]


def rows(table):
    return {row[0]: row[1:] for row in table.rows}


# k, h, n; one send at a time: broadcast, scatter, multinode broadcast, total exchange as printed and true; all ports:
# broadcast, multinode broadcast, the same without queues, total exchange with capacities 1: bound, by phases; with
# exponential capacities by phases
CHAPTER_6 = (
    (2, 2, 4, 5, 5, 9, 11, 11, 4, 5, 6, 7, 8, 6),
    (2, 3, 8, 8, 9, 20, 43, 43, 6, 9, 12, 21, 26, 12),
    (2, 4, 16, 11, 17, 39, 165, 165, 8, 17, 22, 71, 92, 22),
    (2, 5, 32, 14, 33, 74, 647, 647, 10, 33, 40, 265, 350, 40),
    (3, 2, 9, 7, 9, 28, 43, 57, 4, 9, 11, 21, 23, 11),
    (3, 3, 27, 11, 27, 86, 381, 491, 6, 27, 31, 167, 187, 31),
    (4, 2, 16, 9, 16, 65, 109, 195, 4, 16, 18, 51, 54, 18),
    (4, 3, 64, 14, 64, 262, 1731, 3077, 6, 64, 68, 773, 824, 68),
)


def test_fat_trees_take_the_times_of_chapter_6(tables):
    found = [row[:12] for row in tables["fat_tree_times"].rows]
    assert found == [(*v[:6], v[7], v[8], v[9], v[10], v[12], v[11]) for v in CHAPTER_6]


def test_exponential_capacities_are_beaten_by_one_step_for_two_children(tables):
    table = tables["fat_tree_times"]
    phases, best = column(table, "TE exp., phases"), column(table, "best", 1)
    assert phases == [v[13] for v in CHAPTER_6]
    gains = [a - b for a, b in zip(phases, best, strict=True)]
    assert gains == [k == 2 and h >= 3 for k, h in dimakopoulos.SHAPES]


@pytest.mark.parametrize("name", ["table_6_1", "table_6_2"])
def test_measured_times_are_the_corrected_ones_and_meet_the_bound(tables, name):
    table = tables[name]
    assert len(table.rows) == 4 * len(dimakopoulos.SHAPES)
    assert column(table, "measured") == column(table, "corrected") == column(table, "bound")


def test_printed_times_are_wrong_where_the_errata_say_so(tables):
    wrong = {
        (row[0], row[1])
        for name in ("table_6_1", "table_6_2")
        for row in tables[name].rows
        if row[4] != row[5]
        if name == "table_6_1" or row[0] == "broadcast"
    }
    assert wrong == {("total-exchange", 3), ("total-exchange", 4), ("broadcast", 2), ("broadcast", 3), ("broadcast", 4)}
    printed = [row[4] for row in tables["table_6_1"].rows if row[0] == "total-exchange"]
    assert printed == [v[6] for v in CHAPTER_6]


def test_every_formula_is_printed_and_corrected(tables):
    assert [row[2:] for row in tables["formulas"].rows] == [(f.printed, f.corrected) for f in dimakopoulos.FORMULAS]


def test_broadcasts_meet_their_claims_and_bounds(tables):
    table = tables["broadcasts"]
    assert column(table, "claimed") == column(table, "measured") == column(table, "bound", 0)
    times = rows(table)
    assert times["array:3x4x2"][0] == "(1,2,0)"  # (2, 3, 1) counted from 1
    assert {name: times[name][3] for name in ("array:3x4x2", "extended-ring:14,2", "extended-ring:6,2")} == {
        "array:3x4x2": 4, "extended-ring:14,2": 4, "extended-ring:6,2": 2,
    }  # fmt: skip
    one_port = zip(column(table, "bound", 1), column(table, "one port: measured"), strict=True)
    assert all(bound <= measured <= bound + 1 for bound, measured in one_port)


def test_scatters_meet_their_claims_and_a_scatter_beats_all_trees(tables):
    table = tables["scatters"]
    assert column(table, "claimed") == column(table, "measured")
    assert column(table, "one port: measured") == column(table, "bound", 1)
    found = {row[1]: row[3] for row in table.rows if row[0] == "Fig. 3.4b"}
    assert found == {"furthest-first": 4, "flow-over-time": 3}
    others = [row for row in table.rows if row[0] != "Fig. 3.4b"]
    assert all(row[3] == row[4] for row in others)


def test_tori_have_the_areas_of_the_thesis(tables):
    assert rows(tables["torus_areas"]) == {
        "7x7": (12, 12, 12, 12, 12, 12, 12), "5x5": (6, 6, 6, 6, 6, 6, 6), "4x5": (5, 4, 5, 5, 5, 5, 5),
        "5x4": (5, 5, 4, 5, 5, 5, 5), "4x6": (6, 6, 5, 6, 6, 6, 6), "6x4": (6, 6, 6, 5, 6, 6, 6),
        "6x6": (9, 9, 8, 9, 9, 9, 9), "8x5": (10, 9, 10, 10, 10, 10, 10), "3x3": (2, 2, 2, 2, 2, 2, 2),
        "4x4": (4, 4, 4, 3, 4, 4, 4),
    }  # fmt: skip


def test_linear_arrays_take_the_times_of_theorem_4_3(tables):
    table = tables["arrays"]
    assert column(table, "measured") == column(table, "bound") == [1, 2, 4, 6, 9, 12, 16, 20, 25]
    consecutive = [sum(max(i - 1, n - i) for i in range(1, n + 1)) for n in range(2, 11)]
    assert column(table, "n scatters in turn") == consecutive


def test_nodes_of_the_array_of_6_send_what_fig_4_2_shows(tables):
    table = tables["six_node_array"]
    assert [[cell for cell in column(table, f"node {i} sends") if cell] for i in range(1, 6)] == [
        ["1 > 6", "1 > 5", "1 > 4", "1 > 3", "1 > 2"],
        ["2 > 6", "1 > 6", "1 > 5", "2 > 5", "1 > 4", "2 > 4", "1 > 3", "2 > 3"],
        ["3 > 6", "2 > 6", "1 > 6", "1 > 5", "2 > 5", "3 > 5", "1 > 4", "2 > 4", "3 > 4"],
        ["4 > 6", "3 > 6", "2 > 6", "1 > 6", "1 > 5", "2 > 5", "3 > 5", "4 > 5"],
        ["5 > 6", "4 > 6", "3 > 6", "2 > 6", "1 > 6"],
    ]


def test_linear_arrays_with_one_port_meet_the_load_of_the_middle_and_not_4_4(tables):
    table = tables["single_port_arrays"]
    assert column(table, "measured") == column(table, "bound")
    assert all(
        mean < time for mean, time in zip(column(table, "(4.4)")[1:], column(table, "measured")[1:], strict=True)
    )
    assert all(a - b >= 0 for a, b in zip(column(table, "measured"), column(table, "floor((n^2-1)/2)"), strict=True))


def test_rings_take_the_times_of_theorems_4_5_and_4_6(tables):
    table = tables["rings"]
    assert column(table, "measured") == column(table, "claimed") == [1, 2, 3, 5, 6, 8, 10, 13, 15, 18]
    assert column(table, "bound") == column(table, "measured")


def test_nodes_of_the_rings_of_7_and_6_send_what_fig_4_4_shows(tables):
    table = tables["ring_queues"]
    assert column(table, "of 7: node 0 sends") == ["0 > 3", "0 > 2", "0 > 1", "6 > 2", "6 > 1", "5 > 1"]
    assert column(table, "of 6: node 0 sends") == ["0 > 3", "0 > 2", "0 > 1", "5 > 1", "4 > 1", ""]
    assert column(table, "of 6: node 1 sends") == ["1 > 3", "1 > 2", "0 > 3", "0 > 2", "", ""]


def test_node_0_of_hypercubes_sends_along_the_leftmost_bit(tables):
    table = tables["hypercube_queues"]
    assert [cell for cell in column(table, "Q_2: node 0 sends") if cell] == [
        "0 > 3 to node 2", "0 > 2 to node 2", "0 > 1 to node 1", "2 > 1 to node 1",
    ]  # fmt: skip
    assert column(table, "Q_3: node 0 sends") == [
        "0 > 7 to node 4", "0 > 6 to node 4", "0 > 5 to node 4", "0 > 4 to node 4", "0 > 3 to node 2",
        "0 > 2 to node 2", "0 > 1 to node 1", "4 > 3 to node 2", "4 > 2 to node 2", "4 > 1 to node 1",
        "2 > 1 to node 1", "6 > 1 to node 1",
    ]  # fmt: skip


def test_one_port_exchanges_take_the_status_of_every_named_network(tables):
    table = tables["statuses"]
    assert len(table.rows) == len(dimakopoulos.STATUSES) == 29
    assert column(table, "status") == column(table, "measured") == column(table, "bound")


@pytest.mark.parametrize(("spec", "status"), dimakopoulos.STATUSES)
def test_named_statuses_are_sums_of_distances(spec, status):
    assert int(gossamer.network(spec).distances(0).sum()) == status


def test_products_take_the_times_of_corollary_5_4(tables):
    table = tables["single_port_products"]
    times = rows(table)
    assert column(table, "n sum T_i/n_i") == column(table, "A2 measured")
    assert {name: times[name][2] for name in ("torus:4x3", "torus:5x5", "torus:3x4x2")} == {
        "torus:4x3": 20, "torus:5x5": 60, "torus:3x4x2": 52,
    }  # fmt: skip
    assert [name for name, row in times.items() if row[2] > row[4]] == ["array:3x4"]
    assert all(bound <= best <= by_a2 for _, _, by_a2, best, bound in times.values())


def test_homogeneous_products_take_what_corollary_5_7_says(tables):
    table = tables["products"]
    claimed = rows(table)
    assert column(table, "n^(d-1) T_H") == column(table, "A3 measured")
    squares = [claimed[f"array {n}^2"][1] for n in range(2, 8)], [claimed[f"torus {n}^2"][1] for n in range(3, 9)]
    assert squares == ([2, 6, 16, 30, 54, 84], [3, 8, 15, 30, 42, 64])
    assert [claimed[name][1] for name in ("array 2^4", "torus 3^4", "array 3^4")] == [8, 27, 54]
    better = {name: row[1:3] for name, row in claimed.items() if row[2] < row[1]}
    assert better == {"torus 6^2": (30, 27), "torus 10^2": (130, 125)}
    assert column(table, "best measured") == column(table, "bound")


def test_curves_lie_between_their_bounds():
    found = list(dimakopoulos.curves())
    assert [curve.title for curve in found[:2]] == [
        "total exchange, k = 2, constant capacities", "total exchange, k = 4, constant capacities",
    ]  # fmt: skip
    for curve in found:
        assert list(curve.x) == sorted(set(curve.x))
        assert all(a <= b <= c for a, b, c in zip(curve.lower, curve.measured, curve.upper, strict=True))


def test_tables_have_titles_of_their_own_and_are_told_as_they_begin(tables, monkeypatch):
    assert len({table.title for table in tables.values()}) == len(dimakopoulos.TABLES)
    monkeypatch.setattr(dimakopoulos, "TABLES", dimakopoulos.TABLES[:1])
    heard = []
    assert [table.title for table in computed_tables(dimakopoulos.TABLES, heard.append)] == [tables["broadcasts"].title]
    assert heard == ["Chapter 3: broadcasts down the trees of 3.1, and with one port"]


def test_small_network_is_that_of_fig_3_4b():
    network = small_network()
    assert network.node_count == 6
    assert network.link_count == 12
    assert network.distances(0).tolist() == [0, 1, 1, 2, 3, 3]
    assert math.ceil(5 / 2) == gossamer.plan(network, gossamer.task("scatter", root=0)).completion_time
