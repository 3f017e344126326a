"""The tables of a scheme: what is refused, and what `check` finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError, ScheduleError
from gossamer.simulation.random_arrivals import scheme_from_parents

CUBE = gossamer.network("hypercube:3")
LINE = gossamer.network("array:3")
DOWN, UP = ([LINE.link_between(a, b), LINE.link_between(b, c)] for a, b, c in ((0, 1, 2), (2, 1, 0)))


def cube_tree():
    """Return one tree of the 3-cube: dimension 0, then 1, then 2."""
    return scheme_from_parents("tree", CUBE, parent=[-1, -1, 0, -1, 0, 1, 2], step=[0, 1, 1, 2, 2, 2, 2])


def from_the_end(**changes):
    """Return the broadcast of node 0 down a line of three nodes."""
    tables = {"parent": [-1, 0], "step": DOWN, "translated": False, "sources": [0]} | changes
    return scheme_from_parents("line", LINE, **tables)


def test_a_spanning_tree_passes():
    cube_tree().check()
    from_the_end().check()


def test_load_factor_is_rate_times_receivers_over_mean_degree():
    assert cube_tree().load_factor(0.3) == pytest.approx(0.3 * 7 / 3)
    assert from_the_end(receivers=2).rate(0.5) == pytest.approx(0.25)


def test_children_are_queued_in_the_order_of_their_rows():
    scheme = cube_tree()
    entry = scheme.children[scheme.entry_first[0, 0, 0] : scheme.entry_last[0, 0, 0]]
    assert entry.tolist() == [0, 1, 3]
    assert scheme.children[scheme.child_first[0] : scheme.child_last[0]].tolist() == [2, 4]


def test_check_names_a_node_that_is_reached_twice():
    double = scheme_from_parents("double", CUBE, parent=[-1, -1, 0, 1], step=[0, 1, 1, 0], receivers=3)
    with pytest.raises(ScheduleError, match=r"source 0: node .* has 2 counted receipts instead of 1"):
        double.check(sources=[0])


def test_check_finds_a_missing_receiver():
    short = scheme_from_parents("short", CUBE, parent=[-1], step=[0])
    with pytest.raises(ScheduleError, match="source 0 reaches 1 receivers instead of 7"):
        short.check()


def test_check_finds_choices_that_serve_different_nodes():
    uneven = scheme_from_parents(
        "uneven", CUBE, parent=[-1, -1], step=[0, 1], tree=[0, 1], probability=[0.5, 0.5], receivers=1
    )
    with pytest.raises(ScheduleError, match="choice 1, part 0"):
        uneven.check()


def test_check_finds_a_link_from_another_node():
    with pytest.raises(ScheduleError, match=r"row 1 is sent on link \(2\)->\(1\), but its packet is at node \(1\)"):
        from_the_end(step=[DOWN[0], UP[0]]).check()


def test_check_finds_rows_in_a_circle():
    scheme = cube_tree()
    circle = replace(scheme, children=np.zeros_like(scheme.children))
    with pytest.raises(ScheduleError, match="go round in a circle"):
        circle.check()


def test_check_refuses_a_node_that_generates_nothing():
    with pytest.raises(ScheduleError, match="node 2 generates no broadcasts"):
        from_the_end().check(sources=[2])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": [0, 9]}, r"step must be in 0\.\.3"),
        ({"parent": [-1, 5]}, "one entry in range for each of 2 rows"),
        ({"tree": [1, 0]}, r"must be in 0\.\.0"),
        ({"probability": [0.5, 0.4]}, "sum to 1"),
        ({"priority": -1}, "classes start at 0, got -1"),
        ({"sources": [2, 0]}, "ascending nodes"),
        ({"receivers": 0}, "receivers must be at least 1"),
    ],
)
def test_malformed_tables_are_refused(changes, message):
    with pytest.raises(ScheduleError, match=message):
        from_the_end(**changes)


def test_dimensions_are_those_of_all_links():
    with pytest.raises(ScheduleError, match="dimension must have 4 entries"):
        replace(from_the_end(), dimension=np.zeros(2, np.int32))


def test_a_message_has_at_least_one_part():
    with pytest.raises(ModelError, match=r"parts must be a whole number in .*, got 0"):
        from_the_end(parts=0)


def test_translated_rows_need_a_link_table_where_degrees_differ():
    with pytest.raises(ScheduleError, match="differ in degree"):
        from_the_end(translated=True)


def test_restricted_keeps_the_tables_of_the_nodes_left():
    both = scheme_from_parents(
        "ends", LINE, parent=[-1, 0, -1, 2], step=DOWN + UP, tree=[0, 0, 1, 1], translated=False, sources=[0, 2]
    )
    both.check()
    one = both.restricted([2])
    one.check()
    assert one.source_nodes.tolist() == [2]
    assert one.children[one.entry_first[0, 0, 0]] == 2
    with pytest.raises(ScheduleError, match="node 1 generates no broadcasts"):
        both.restricted([1])
    with pytest.raises(ScheduleError, match="no node would generate broadcasts"):
        both.restricted([])
