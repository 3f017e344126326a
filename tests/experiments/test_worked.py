"""The worked figures of the papers: what their texts say of them, found in our own runs."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from gossamer.cli import main
from gossamer.errors import TaskError
from gossamer.planning.planner import plan
from gossamer.plots.paper_figures import named_parts, part_name
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task
from gossamer.studies.reproductions import (
    REPRODUCTIONS,
    chen_chen,
    dimakopoulos,
    han,
    varvarigos_bertsekas,
    yeh_varvarigos_lee,
)


def by_first(table):
    return {row[0]: row[1:] for row in table.rows}


# Varvarigos and Bertsekas


def test_every_prefix_step_uses_links_of_one_dimension_and_the_reverse_undoes_the_forward():
    rows = varvarigos_bertsekas.parallel_prefix().rows
    assert [row[3] for row in rows] == [0, 0, 1, 1, 1, 1, 0, 0]
    ends = [re.findall(r"(\d)>(\d)", row[4]) for row in rows]
    back = [[(b, a) for a, b in some] for some in reversed(ends)]
    assert ends == back
    assert sum(map(len, ends)) == 2 * (9 - 1)


def test_positions_of_fig_3_are_exchanged_in_the_least_time():
    for part, p, count, by_cut, bound, time in varvarigos_bertsekas.slow_positions().rows:
        assert bound == time
        assert time >= math.ceil(by_cut) or (part, p, count) == ("b", 7, 28)  # erratum X6: odd p


def test_an_interval_serves_one_request_of_each_node_that_waits():
    rows = varvarigos_bertsekas.interval_diagram().rows
    waiting = 0
    for before, row in zip((None, *rows), rows, strict=False):
        _, begins, active, reservation, broadcast, ends, came = row
        assert before is None or begins == before[5]
        assert ends == begins + reservation + broadcast
        assert active <= waiting
        waiting += came - active
    assert rows[0][2] == 0 < rows[-1][2]


@pytest.mark.parametrize(("p", "d", "count"), [(3, 2, 7), (3, 3, 11), (2, 4, 16)])
def test_theorem_5_after_each_subphase_a_submesh_has_all_its_packets(p, d, count):
    active = sorted(np.random.default_rng(1).choice(p**d, count, replace=False).tolist())
    asked = task("partial-multinode-broadcast", active=active)
    spec = "array:" + "x".join([str(p)] * d)
    made = plan(spec, asked, algorithm="rotated-dimensions-segmented", rules=Rules(split=True)).schedule
    end = {phase.name: phase.first_slot + phase.slots for phase in made.phases}
    of_class_0 = np.flatnonzero(made.packets.part == 0).tolist()  # of rank 0, 1, ...
    first_wanting = []
    for turn in range(1, d + 1):
        for before in (True, False):
            slot = end.get(f"broadcast {turn - 1}", end.get("packing", 0)) if before else end[f"broadcast {turn}"]
            known = {(packet, int(made.packets.origin[packet])) for packet in of_class_0}
            hops = np.flatnonzero(made.slot < slot)
            known |= set(
                zip(made.packet[hops].tolist(), made.network.link_target[made.link[hops]].tolist(), strict=True)
            )
            alike = p ** (d - turn)  # S_l(beta): the d - l less significant digits of the rank are those of the node
            wanted = {(of_class_0[r], v) for r in range(count) for v in range(p**d) if (r - v) % alike == 0}
            if before:
                first_wanting.append(wanted <= known)
            else:
                assert wanted <= known
    assert not any(first_wanting)


# Yeh, Varvarigos and Lee


def test_a_broadcast_in_the_5_ary_2_cube_has_n_minus_1_urgent_copies_and_reaches_all():
    cells = [cell for row in yeh_varvarigos_lee.priority_broadcast().rows for cell in row[1:]]
    assert sum("high" in c for c in cells) == 4
    assert sum("low" in c for c in cells) == 20
    assert max(int(c.split()[0]) for c in cells if c != "source") == 4


def test_arc_leaves_the_inner_mesh_spreads_on_a_face_and_comes_back_as_fig_2_says():
    rows = yeh_varvarigos_lee.arc_broadcast().rows
    inner = [cell for row in rows[1:5] for cell in row[2:6]]
    assert all(inner)
    assert rows[0][1:] == ("",) * 6  # the face on the other side is not used
    assert all("high" in cell for cell in rows[5][2:6])
    assert rows[5][1] == rows[5][6] == ""  # nothing lies behind the corners


def test_classes_of_the_unbalanced_tree_are_the_printed_ones():
    rows = yeh_varvarigos_lee.unbalanced_tree().rows
    assert len(rows) == 15
    assert all(row[4] == row[5] for row in rows)
    assert sorted(row[3] for row in rows if row[1] == "0000") == [1, 2, 4, 8]


# Chen and Chen


def test_the_example_of_fig_10_is_among_the_destination_lists():
    lists = by_first(chen_chen.destination_lists())
    assert lists["1,6"] == (1, 9, 3, "4 0 1", "-2 -1 0")
    assert sum(row[2] for row in lists.values()) == 20
    loads = dict.fromkeys(range(5), 0)
    for ddn, _, beta, *_ in lists.values():
        loads[ddn] += beta
    assert list(loads.values()) == [1, 6, 9, 2, 2]


def test_movements_of_figs_12_14_and_15_make_the_offsets():
    for offset, *steps in chen_chen.far_movement().rows:
        moves = [tuple(map(int, step.split(", "))) for step in steps]
        assert tuple(map(sum, zip(*moves, strict=True))) == (offset, offset)
    ways = {}
    for step, start, end, *_ in chen_chen.data_movement().rows:
        ways.setdefault(step, []).append((start, end))
    assert [len(w) for w in ways.values()] == [16, 16]
    assert {end for _, end in ways[1]} == {start for start, _ in ways[2]}


def test_prefix_sums_of_five_nodes_go_over_the_corners_of_fig_4():
    steps = [row[2] for row in chen_chen.five_prefix_sums().rows]
    assert steps[0] == "0,0 > 2,0, 1,1 > 1,2, 3,3 > 3,2, 4,4 > 2,4"  # P(k, k-2), P(k-1, k), P(k+1, k), P(k, k+2)
    assert len(steps) == 4
    assert [row[2] for row in chen_chen.diagonal_sums().rows] == [10, 8, 8, 1, 1, 1, 1, 8, 8, 10]


def test_larger_examples_end_with_everything_known():
    assert [row[:2] for row in chen_chen.aggregation_levels().rows if row[0] == 2] == [(2, 0)]
    assert chen_chen.larger_all_to_all().rows[-1][-1] == 25
    assert chen_chen.result().rows[-1][2:] == (20, 20, 100)


# Han


def test_row_movements_are_those_that_the_text_of_fig_2_1_describes():
    rows = by_first(han.row_movements())
    assert sum(han.ROW_MOVEMENTS[0][1]) == 19
    flow = list(map(int, rows["a"][2].split()))
    assert [f > 0 for f in flow[:4]] == [True, False, True, True]
    assert all(f < 0 for f in flow[4:])
    assert rows["b"][3:5] == (4, 6)
    assert rows["c"][3] == rows["c"][4] == 1
    assert rows["d"][3] == rows["d"][4] == 8
    for _, before, after in han.ROW_MOVEMENTS:
        assert set(after) <= {sum(before) // 8, -(-sum(before) // 8)}


def test_first_stage_of_q_does_what_the_text_of_fig_3_1_says():
    rows = by_first(han.first_stage())
    assert [word for word, row in rows.items() if row[2] == "0,1"] == ["A", "B", "C", "D"]
    after_rows = [rows[word][3] for word in "ABCDK"]
    assert {place[0] for place in after_rows} == {"0"}
    assert len({row[4] for row in rows.values()}) == 10
    for _, to, _, _, at in rows.values():  # in the right quadrant, one in each processor
        assert [int(x) // 4 for x in to.split(",")] == [int(x) // 4 for x in at.split(",")]


def test_five_messages_meet_in_the_move_of_fig_3_3():
    rows = by_first(han.buffers_in_the_move())
    assert rows[2] == ("A B C D E", "J", 5)
    assert rows[4][1] == "H J K"
    assert max(row[2] for row in rows.values()) == 5


def test_smoothing_leaves_at_most_one_message_in_a_processor():
    for row in han.smoothing().rows:
        moved, rows, columns = (list(map(int, row[k].split())) for k in (1, 6, 7))
        assert sum(moved) == sum(rows) == row[2]
        assert max(rows) - min(rows) <= 1
        assert max(columns) <= 1
        assert max(moved) <= 4
    spread = np.array([list(map(int, row[6].split())) for row in han.smoothing().rows])
    assert spread.sum(axis=0).max() <= 8  # Lemma 3.3


def test_copies_are_those_that_the_text_of_figs_3_11_and_4_1_says():
    rows = by_first(han.spread_messages())
    assert rows["A"][2] == "0,1; 4,1"
    assert len(rows["E"][2].split("; ")) == 4
    doubled = [word for word, row in rows.items() if len(row[3].split("; ")) == 2]
    assert doubled == ["B", "E"]  # in the first move of H
    kept = [word for word, row in rows.items() if row[3] == row[0]]
    assert {"A", "F", "H"} <= set(kept)


def test_the_worst_move_of_the_k_partition_and_the_odd_squares_are_as_printed():
    assert by_first(han.worst_move())[64] == (128, 192, 192)
    assert han.odd_squares().rows[-1] == ("most", 9, 6, 5)
    assert by_first(han.partitions())["4.4"][2] == "9x9, 9x5, 5x5, 5x3, 3x3, 3x2, 2x2, 2x1"


# Dimakopoulos


def test_batches_of_table_5_1_leave_one_after_the_other_and_table_5_2_ends_with_the_schedule():
    rows = dimakopoulos.messages_of_a2().rows
    leave = [[int(cell.split()[0]) for cell in row[2:]] for row in rows]
    assert all(max(a) < min(b) for a, b in itertools.pairwise(leave))
    last = [int(cell.split()[-1]) for row in dimakopoulos.messages_of_a3().rows for cell in row[1:] if cell]
    assert len(last) == 8
    assert max(last) == 6


# The command


def test_names_of_tables_and_figures_are_unique_and_chosen():
    for name in REPRODUCTIONS:
        tables, figures = named_parts(name)
        for parts in (tables, figures):
            names = [part_name(part) for part in parts]
            assert len(set(names)) == len(names)
    assert [len(part) for part in named_parts("dimakopoulos", "torus-areas")] == [1, 1]
    with pytest.raises(TaskError, match=r"no table or figure of han is called 'family-r' \(did you mean 'family-q'"):
        named_parts("han", "family-r")


def test_command_makes_the_tables_and_figures_named_alone(capsys, tmp_path):
    assert main(["reproduce", "han", "--only", "row-movements,partitions"]) == 0
    out = capsys.readouterr().out
    assert "(Fig. 2.1)" in out
    assert "(Figs. 4.2 to 4.4)" in out
    assert "Table" not in out
    assert main(["reproduce", "dimakopoulos", "--only", "binomial-tree"]) == 0
    assert "(Fig. 3.1): drawn with -o FOLDER" in capsys.readouterr().out
    assert main(["reproduce", "dimakopoulos", "--only", "binomial-tree", "-o", str(tmp_path / "figures")]) == 0
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["binomial_tree.svg"]
    assert main(["reproduce", "han", "--only", "nothing"]) == 2
