from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.simulation.random_arrivals.schemes import PRIORITIES, scheme
from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows, add_tree, classes

#        0
#      1   2        a path 0-1-3-4 and two leaves below 2
#      3  5 6
#      4
PARENT = [-1, 0, 0, 1, 3, 2, 2]


def _classes(rule):
    rows = SchemeRows()
    add_tree(rows, PARENT, [-1, 0, 1, 2, 3, 4, 5], range(7))
    given = classes(rule, rows.size, rows.height, rows.low)
    return {node: int(given[rows.step.index(node - 1)]) for node in range(1, 7)}


def test_rules_order_a_small_tree_by_hand():
    assert set(_classes("fifo").values()) == {0}
    assert _classes("two-class") == {1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1}
    assert _classes("optimal") == {1: 0, 2: 0, 3: 1, 4: 2, 5: 2, 6: 2}  # sizes 3, 3, 2, 1, 1, 1
    assert _classes("critical-path") == {1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2}  # heights 3, 2, 2, 1, 1, 1
    assert _classes("reversed") == {1: 2, 2: 2, 3: 1, 4: 0, 5: 0, 6: 0}


@pytest.mark.parametrize("spec", ["hypercube:5", "torus:4x5", "star:4"])
@pytest.mark.parametrize("rule", [r for r in PRIORITIES if r != "reversed"])
def test_nothing_that_follows_is_more_urgent(spec, rule):
    table = scheme("priority" if rule == "two-class" else rule, gossamer.network(spec))
    parent = np.repeat(np.arange(table.row_count), table.child_last - table.child_first)
    child = np.concatenate([table.children[a:b] for a, b in zip(table.child_first, table.child_last, strict=True)])
    assert (table.priority[child] >= table.priority[parent]).all()


def test_hypercube_classes_are_the_phases():
    table = scheme("optimal", gossamer.network("hypercube:6"))
    assert table.class_count == 6
    copies = np.bincount(np.concatenate([table.priority[row] for _, row, _ in table.walk((0, 0, 0), [0])]))
    assert copies.tolist() == [1, 2, 4, 8, 16, 32]


def test_equal_subtrees_are_one_row():
    rows = SchemeRows()
    add_tree(rows, [-1, 0, 0, 1, 2], [-1, 0, 1, 7, 7], range(5))
    assert len(rows.step) == 3


def test_unknown_rules_get_one_line():
    with pytest.raises(NotApplicableError, match="did you mean 'optimal'"):
        classes("optimum", [], [], [])
