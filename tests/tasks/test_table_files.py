"""Tables of demands into files and out of them, and every named task as the table that it is."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import gossamer
from bounds.demand_cases import random_table
from gossamer import Rules
from gossamer.bounds import best_bound
from gossamer.bounds.allreduce_any_form import ANY_FORM
from gossamer.cli import main
from gossamer.errors import FileFormatError, TaskError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import DemandTable, UnevenExchange, as_table, read_table, task, write_table
from gossamer.questions.tasks.patterns import traffic_matrix
from gossamer.schedules import Packets
from gossamer.verification import verify

RING = gossamer.network("ring:6")
ROWS = (".csv", ".parquet", ".json")
MATRICES = (".npy", ".mtx", ".mtx.gz", ".mtx.bz2")


@pytest.mark.parametrize("ending", ROWS)
def test_tables_come_back_from_files_of_rows(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    for seed in range(20):
        table = random_table(random.Random(seed), 6, seed % 5, 2**31 - 1)
        order = np.random.default_rng(seed).permutation(table.rows).tolist()
        rows = [table.to_rows()[i] for i in order]  # demands and contributions in any order
        mixed = DemandTable.from_rows(
            (r.get("origin", -1), r.get("contributors", ()), r["destinations"], r["packets"]) for r in rows
        )
        if not mixed.rows and ending == ".json":
            continue
        write_table(mixed, path)
        assert read_table(path, RING) == mixed


@pytest.mark.parametrize("ending", MATRICES)
def test_tables_of_pairs_come_back_from_matrices(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    for seed in range(5):
        table = DemandTable.from_matrix(traffic_matrix("zipf", RING, packets=7, seed=seed))
        write_table(table, path, RING)
        assert read_table(path, "ring:6") == table


def test_any_task_is_written_as_its_table(tmp_path):
    write_table(task("alltoall"), tmp_path / "t.npy", RING)
    assert np.load(tmp_path / "t.npy").tolist() == (1 - np.eye(6, dtype=int)).tolist()
    write_table(task("allreduce", groups=[[0, 1], [3, 5]], packets=2), tmp_path / "t.csv", RING)
    assert read_table(tmp_path / "t.csv", RING).describe() == "demands (4 contributions of 8 packets)"


@pytest.mark.parametrize(
    ("made", "name", "network", "message"),
    [
        (task("broadcast"), "t.npy", RING, "row 0 has 5 destinations, which a matrix does not tell"),
        (task("reduce"), "t.mtx", RING, "row 0 combines contributions, which a matrix does not tell"),
        (task("scatter"), "t.csv", None, "scatter is a table on a network only; give the network"),
        (task("scatter"), "t.xls", RING, "of no known kind; tables are .csv, .parquet"),
        (DemandTable.of([(0, [7], 1)]), "t.csv", RING, "row 0: destination 7 is outside 0..5"),
    ],
)
def test_what_cannot_be_written(tmp_path, made, name, network, message):
    with pytest.raises((TaskError, FileFormatError), match=message):
        write_table(made, tmp_path / name, network)
    assert not list(tmp_path.iterdir())


# -- every named task is a table -----------------------------------------------------------------------------

NAMED = [
    task("broadcast", root=1), task("reduce", root=2), task("scatter"), task("gather", root=5), task("allgather"),
    task("reduce-scatter"), task("alltoall"), task("allgather", packets=2),
    task("allgatherv", counts=[1, 0, 2, 1, 1, 3]),
    task("scatterv", counts=[0, 2, 0, 1, 3, 1]), task("gatherv", counts=[0, 2, 0, 1, 3, 1], root=3),
    task("MPI_Reduce_scatter", counts=[1, 0, 2, 1, 1, 3]), task("neighbor-exchange"),
    UnevenExchange(traffic_matrix("zipf", RING, packets=6).tolist()),
    task("permutation", destination=[1, 2, 0, 4, 5, 3]),
    task("allgather", groups=[[0, 1, 2], [5, 3]]), task("reduce-scatter", groups=[[4, 2, 0]]),
    task("alltoall", groups=[[0, 3], [1, 4]]), task("allreduce"), task("allreduce", groups=[[0, 1, 2], [3, 4, 5]]),
]  # fmt: skip


def as_rows(schedule, table, network):
    """The schedule with the packets that it has as those of the table: message by message, in the order of ids."""
    ours, theirs = schedule.messages, table.messages(network)

    def keys(messages):
        found = []
        for row in range(messages.count):
            ends = range(network.terminal_count)
            if messages.targets is not None:
                ends = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
            goal = tuple(sorted(set(ends) - {int(messages.origin[row])}))
            kind = int(messages.discipline[row]) if len(goal) > 1 or messages.discipline[row] == 2 else -1
            result = messages.after is not None and messages.after[row] >= 0
            found.append((int(messages.origin[row]), kind, goal, result))
        return found

    place: dict = {}
    for row, key in enumerate(keys(theirs)):
        place.setdefault(key, []).append(row)
    mine = {row: place[key].pop(0) for row, key in enumerate(keys(ours)) if key in place}
    row_of = {int(number): row for row, number in enumerate(ours.ids)}
    packets, first = Packets.of(theirs), theirs.first_packet()
    seen: dict[int, int] = {}
    number = []
    for message in schedule.packets.message.tolist():
        row, part = row_of[message], seen.setdefault(message, 0)
        seen[message] += 1
        number.append(int(first[mine[row]]) + part if row in mine else -1)
    return schedule.replace(task=table, packets=packets, packet=np.array(number, np.int32)[schedule.packet])


@pytest.mark.parametrize("named", NAMED, ids=lambda t: t.describe())
def test_a_schedule_and_the_bound_of_a_task_are_those_of_its_table(named):
    table = as_table(named, RING)
    for rules in (Rules(), Rules(ports="one")):
        mine, of_table = (best_bound(Case(RING, asked, rules)) for asked in (named, table))
        assert mine.value == of_table.value or (mine.name in ANY_FORM and mine.value > of_table.value)
    schedule = gossamer.schedules.expand(gossamer.plan(RING, named).schedule)
    moved = as_rows(schedule, table, RING)
    assert verify(moved).ok, str(verify(moved))
    assert moved.completion_time == schedule.completion_time
    if schedule.slot.size:
        late = moved.replace(slot=np.minimum(moved.slot, 0))
        assert verify(late).ok == verify(schedule.replace(slot=np.minimum(schedule.slot, 0))).ok


# -- on the command line -------------------------------------------------------------------------------------


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_groups_demands_and_traffic_as_json(capsys, tmp_path):
    status, out, _ = run(capsys, "plan", "torus:4x4", "allgather", "--groups", "dimension 1", "--json")
    found = json.loads(out)
    assert (status, found["task_in_words"], found["optimal"]) == (
        0, "allgather in 4 groups of 4 nodes", True,
    )  # fmt: skip
    status, out, _ = run(capsys, "plan", "ring:8", "alltoallv", "--traffic", "zipf:packets=5", "--seed", "3", "--json")
    assert (status, json.loads(out)["task"]) == (0, "uneven-exchange")
    path = tmp_path / "t.csv"
    assert run(capsys, "demands", "ring:8", "reduce", "--groups", "0-3;4,5", "-o", path)[0] == 0
    status, out, _ = run(capsys, "bounds", "ring:8", "demands", "--demands", path, "--json")
    assert status == 0
    assert json.loads(out)["bounds"][0]["value"] == 3
    status, out, _ = run(capsys, "plan", "ring:8", "allreduce", "--group", "0-3", "--json")
    assert (status, json.loads(out)["task_in_words"]) == (0, "allreduce in a group of 4 nodes")
    status, out, _ = run(capsys, "demands", "ring:3", "broadcast", "--json")
    assert json.loads(out)["destinations"] == [1, 2]


def test_bytes_are_counted_in_packets_of_a_unit(tmp_path):
    (tmp_path / "t.csv").write_text("origin,destinations,bytes\n0,1,3000\n1,2,1024\n")
    assert read_table(tmp_path / "t.csv", "ring:4", unit="1KiB").size.tolist() == [3, 1]
    with pytest.raises(TaskError, match="give --unit"):
        read_table(tmp_path / "t.csv", "ring:4")


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("origin,destinations\n0,1\n0,9\n", "t.csv", "t.csv', line 3: destination"),
        ("origin,destinations\n2,2\n", "t.csv", "line 2: node 2 sends a message to itself"),
        ("origin,destinations,packets\n0,1,-3\n", "t.csv", "line 2: an amount must be"),
        ("origin,destinations,packets\n0,1,3000000000\n", "t.csv", "line 2: packets must be a whole number in 1.."),
        ("origin,destinations,packets\n0,1,0\n", "t.csv", "line 2: packets must be a whole number in 1.."),
        ("contributors,destinations\n0 1 1,2\n", "t.csv", "line 2: contributor 1 is listed twice"),
        ("origin,destinations\n0,1 3 1\n", "t.csv", "line 2: destination 1 is listed twice"),
        ("contributors,destinations\n2,2\n", "t.csv", "line 2: node 2 contributes to itself alone"),
        ("0,1,0\n0,0,1\n1,0,0\n", "t.csv", "the matrix has 3 rows; ring:4 has 4 terminals"),
        ("0,1,0,0\n0,0,1,0\n1,0,4,0\n0,0,0,0\n", "t.csv", "row 2: node 2 sends a message to itself"),
        ("origin,destinations,bytes\n0,1,3\n", "t.csv", "give --unit"),
        ('{"demands": [{"origin": 0, "destinations": [1]}, {"origin": 4, "destinations": [1]}]}', "t.json",
         "demands 1: origin 4 is outside 0..3"),
    ],
)  # fmt: skip
def test_bad_tables_get_one_line_with_the_row(capsys, tmp_path, content, name, told):
    (tmp_path / name).write_text(content)
    status, out, err = run(capsys, "plan", "ring:4", "demands", "--demands", tmp_path / name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("allgather", "--groups", "0-2;3,3"), "group 1: node 3 is listed twice"),
        (("allgather", "--groups", "0-9"), "node 9 is outside 0..3"),
        (("allgather", "--groups", "dimension 5"), "dimensions must be in 0..0"),
        (("alltoallv",), "needs --demands FILE or --traffic NAME"),
        (("alltoallv", "--traffic", "zipf:packets=0"), "packets must be"),
        (("alltoallv", "--traffic", "zipf:exponent"), "zipf:exponent"),
        (("neighbor-exchange", "--graph", "ring:5"), "edge"),
        (("broadcast", "--graph", "ring:4"), "takes no --graph"),
        (("broadcast", "--group", "0-1", "--groups", "0-1"), "give --groups once: --group is its old name"),
    ],
)
def test_bad_words_get_one_line(capsys, words, told):
    status, out, err = run(capsys, "plan", "ring:4", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_neighbors_along_a_graph():
    halo = task("neighbor-exchange", edges=[[0, 3], [3, 0], [1, 5]])
    assert halo.messages(RING).ids.tolist() == [3, 11, 18]
    assert halo.dual(RING).dual(RING) == halo
    assert halo.renamed(lambda x: 5 - x).edges == ((5, 2), (2, 5), (4, 0))
    assert gossamer.questions.tasks.task_from_dict(halo.to_dict()) == halo
    for edges, said in (
        ([[0, 0]], "two different nodes"),
        ([[0, 1], [0, 1]], "listed twice"),
        ([[0]], "two different"),
    ):
        with pytest.raises(TaskError, match=said):
            task("neighbor-exchange", edges=edges)
    with pytest.raises(TaskError, match="edge 0: node 7 is outside"):
        gossamer.plan(RING, task("neighbor-exchange", edges=[[7, 1]]))
