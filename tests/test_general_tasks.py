"""Tables of demands, groups, tasks together, counts per rank, neighbors: their messages, duals, names, refusals."""

from __future__ import annotations

import json
from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.errors import FileFormatError, TaskError
from gossamer.questions.tasks import (
    COMBINE,
    COPY,
    MOVE,
    Broadcast,
    Chunked,
    DemandTable,
    Grouped,
    MultinodeBroadcast,
    MultipleBroadcast,
    NeighborExchange,
    Together,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
    along_dimensions,
    as_table,
    task,
    task_from_dict,
)
from gossamer.questions.tasks.patterns import TRAFFIC, traffic_matrix
from gossamer.reading.traffic_files import read_traffic
from schedules.strategies import networks, tasks

REAL = "%%MatrixMarket matrix coordinate real general\n"
RING = gossamer.network("ring:6")


def said(messages) -> list[tuple]:
    """Return a tuple for each message: origin, discipline, targets, size, row of what it waits for."""
    n = messages.count
    sizes = [1] * n if messages.sizes is None else messages.sizes.tolist()
    after = [-1] * n if messages.after is None else messages.after.tolist()
    ends = [
        None
        if messages.targets is None
        else tuple(messages.targets[messages.target_start[i] : messages.target_start[i + 1]].tolist())
        for i in range(n)
    ]
    return list(zip(messages.origin.tolist(), messages.discipline.tolist(), ends, sizes, after, strict=True))


@st.composite
def tables(draw, n: int = 6, *, dual: bool = False) -> DemandTable:
    """Any small table; with `dual`, one that has a dual."""
    nodes = st.integers(0, n - 1)
    demands, contributions = [], []
    for _ in range(draw(st.integers(0, 4))):
        u = draw(nodes)
        ends = draw(st.lists(nodes.filter(lambda v, u=u: v != u), min_size=1, max_size=4, unique=True))
        demands.append((u, ends, draw(st.integers(1, 3))))
    for _ in range(draw(st.integers(0, 3))):
        shares = draw(st.lists(nodes, min_size=2, max_size=4, unique=True))
        ends = draw(st.lists(nodes, min_size=1, max_size=1 if dual else 3, unique=True))
        contributions.append((shares, ends, draw(st.integers(1, 3))))
    return DemandTable.of(demands, contributions)


def test_what_a_table_says():
    table = DemandTable.of([(0, [1], 2), (3, [4, 5], 1)], [([0, 1, 2], [2], 1), ([3, 4], [5, 3], 4)])
    assert said(table.messages(RING)) == [
        (0, MOVE, (1,), 2, -1),
        (3, COPY, (4, 5), 1, -1),
        (2, COMBINE, (0, 1, 2), 1, -1),
        (5, COMBINE, (3, 4), 4, -1),
        (5, COPY, (3,), 4, 3),
    ]
    assert table.messages(RING).ids.tolist() == [0, 2, 4, 6, 7]


@given(tables())
def test_plain_values_give_a_table_back(table):
    again = task_from_dict(json.loads(json.dumps(table.to_dict())))
    assert again == table
    assert hash(again) == hash(table)
    rows = table.to_rows()
    again = DemandTable.of(
        [(r["origin"], r["destinations"], r["packets"]) for r in rows if "origin" in r],
        [(r["contributors"], r["destinations"], r["packets"]) for r in rows if "contributors" in r],
    )
    assert again == table


@given(tables(dual=True))
def test_the_dual_of_the_dual_asks_for_the_same(table):
    twice = table.dual(RING).dual(RING)

    def goals(of):
        """What must move: shares of the root itself do not, and one share is a message that moves."""
        found = []
        for origin, kind, ends, size, _ in said(of.messages(RING)):
            others = tuple(v for v in ends if v != origin)
            single = len(others) == 1
            back = single and kind == COMBINE
            found.append((others[0] if back else origin, -1 if single else kind, (origin,) if back else others, size))
        return found

    assert goals(twice) == goals(table)


@given(tables(), st.permutations(range(6)))
def test_renaming_renames_every_node(table, to):
    names = np.array(to)
    moved = said(table.renamed(lambda x: names[x]).messages(RING))
    expected = [
        (to[o], k, tuple(to[v] for v in ends), size, after) for o, k, ends, size, after in said(table.messages(RING))
    ]
    assert moved == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"demands": [(0, [], 1)]}, "row 0: there is no destination"),
        ({"demands": [(0, [0], 1)]}, "row 0: node 0 sends a message to itself"),
        ({"demands": [(0, [1], 1), (0, [1, 1], 1)]}, "row 1: destination 1 is listed twice"),
        ({"demands": [(0, [1], 0)]}, "row 0: packets must be a whole number in 1"),
        ({"demands": [(0, [1], 2**31)]}, "row 0: packets must be a whole number in 1"),
        ({"demands": [(0.5, [1], 1)]}, "row 0: origin must be a node number"),
        ({"contributions": [([2], [2], 1)]}, "row 0: node 2 contributes to itself alone"),
        ({"contributions": [([1, 1], [2], 1)]}, "row 0: contributor 1 is listed twice"),
    ],
)
def test_rows_that_are_refused(rows, message):
    with pytest.raises(TaskError, match=message):
        DemandTable.of(**rows)


def test_a_node_that_the_network_does_not_have_is_named_with_its_row():
    with pytest.raises(TaskError, match=r"row 1: destination 6 is outside 0..5 of ring:6"):
        DemandTable.of([(0, [1], 1), (2, [6], 1)]).check(RING)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], "must be square"),
        ([[0, 1.5], [0, 0]], "of whole numbers"),
        ([[0, 1], [-2, 0]], "row 1: -2 packets to node 0"),
        ([[0, 1], [2, 3]], "row 1: node 1 sends a message to itself"),
        ([[0, 2**40], [0, 0]], "row 0: 1099511627776 packets to node 1"),
    ],
)
def test_matrices_that_are_refused(matrix, message):
    with pytest.raises(TaskError, match=message):
        DemandTable.from_matrix(matrix)


# -- named tasks as tables -----------------------------------------------------------------------------------

NAMED = [
    *(task(name, root=2) for name in ("broadcast", "scatter", "gather", "reduce")),
    *(task(name) for name in ("allgather", "alltoall", "reduce-scatter", "allreduce", "neighbor-exchange")),
    *(task(name, active=[1, 4]) for name in ("partial-exchange", "group-allgather", "partial-reduce-scatter")),
    task("allgatherv", counts=[2, 0, 1, 1, 0, 3]),
    task("alltoallv", counts=[[0, 2, 0, 0, 1, 0], *([[0] * 6] * 5)]),
    task("scatterv", counts=[5, 1, 0, 2, 0, 1], root=1),
    task("gatherv", counts=[5, 1, 0, 2, 0, 1], root=1),
    task("permutation", destination=[1, 0, -1, 4, 3, 5]),
    task("allgather", packets=3),
    task("alltoall", groups=[[0, 2, 4], [1, 3]]),
]


@pytest.mark.parametrize("named", NAMED, ids=lambda t: t.describe())
def test_every_named_task_is_a_table(named):
    table = as_table(named, RING)
    held, asked = {}, {}
    for of, into in ((named, held), (table, asked)):
        messages = of.messages(RING)
        for origin, kind, ends, size, after in said(messages):
            goal = frozenset(range(6) if ends is None else ends) - {origin}
            if goal:
                key = (origin, kind if len(goal) > 1 else -1, goal, after >= 0)
                into[key] = into.get(key, 0) + size
    assert held == asked


def test_tasks_that_wait_are_no_table():
    with pytest.raises(TaskError, match="wait for others"):
        as_table(Together([Broadcast(0), Broadcast(1)], waits=[(1, 0)]), RING)


# -- groups --------------------------------------------------------------------------------------------------


def test_ranks_of_a_group_are_its_nodes_in_order():
    made = Grouped(Broadcast(1), [[4, 2, 0], [5, 3]])
    assert said(made.messages(RING)) == [(2, COPY, (4, 2, 0), 1, -1), (3, COPY, (5, 3), 1, -1)]
    assert made.messages(RING).ids.tolist() == [1, 3]


def test_reductions_of_a_group_have_its_contributors():
    made = task("reduce-scatter", groups=[[1, 3]])
    assert said(made.messages(RING)) == [(1, COMBINE, (1, 3), 1, -1), (3, COMBINE, (1, 3), 1, -1)]
    assert made.dual(RING) == task("allgather", groups=[[1, 3]])


@pytest.mark.parametrize("name", ["allgather", "alltoall", "allreduce"])
def test_groups_of_all_nodes_in_order_are_the_task_itself(name):
    whole = said(task(name).messages(RING))
    grouped = said(task(name, groups=[list(range(6))]).messages(RING))
    every = tuple(range(6))
    assert [(o, k, every if e is None else e, s, a) for o, k, e, s, a in whole] == grouped


def test_numbers_in_groups_follow_renaming_and_duals():
    made = task("scatter", groups=[[4, 2, 0], [5, 3]])
    ids = made.messages(RING).ids
    assert sorted(made.dual_ids(RING, ids).tolist()) == made.dual(RING).messages(RING).ids.tolist()
    names = np.array([3, 4, 5, 0, 1, 2])
    moved = made.renamed(lambda x: names[x])
    assert moved.groups == ((1, 5, 3), (2, 0))
    assert moved.messages(RING).ids.tolist() == made.renamed_ids(RING, ids, lambda x: names[x]).tolist()


def test_groups_along_dimensions():
    torus = gossamer.network("torus:2x3x4")
    rows = along_dimensions(torus, [2])
    assert len(rows) == 6
    assert rows[0] == (0, 1, 2, 3)
    assert len(along_dimensions(torus, [0, 2])) == 3
    assert along_dimensions(torus, [0, 1, 2]) == (tuple(range(24)),)
    with pytest.raises(TaskError, match=r"dimensions must be in 0..2"):
        along_dimensions(torus, [3])
    with pytest.raises(TaskError, match="has no coordinates"):
        along_dimensions(gossamer.network("complete:4"), [0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "there is no group"),
        ([[0], []], "group 1 is empty"),
        ([[0, 1, 0]], "group 0 lists node 0 twice"),
        ([[0, 1], [2, -1]], "group 1: node -1 is outside 0..5 of ring:6"),
        ([[0, 6]], "group 0: node 6 is outside 0..5 of ring:6"),
        ([["x"]], "node of group 0 must be a node number"),
    ],
)
def test_groups_that_are_refused(groups, message):
    with pytest.raises(TaskError, match=message):
        task("allgather", groups=groups).check(RING)


def test_a_root_outside_its_group_is_refused():
    with pytest.raises(TaskError, match=r"group 1 has 2 nodes: root node 2 is outside 0..1"):
        task("broadcast", root=2, groups=[[0, 1, 2], [3, 4]])


# -- together ------------------------------------------------------------------------------------------------


def test_messages_of_tasks_together():
    made = Together([task("reduce", root=1), task("broadcast", root=2), TotalExchange()], waits=[(2, 0), (2, 1)])
    messages = made.messages(gossamer.network("ring:3"))
    assert messages.waits == ((2, 0), (2, 1))
    assert messages.stage.tolist() == [0, 1] + [2] * 6
    assert len(set(messages.ids.tolist())) == 8
    assert task_from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert made.describe() == "job of 3 collectives (reduce, broadcast, total-exchange after reduce and broadcast)"


def test_sizes_and_results_of_tasks_together():
    made = Together([Chunked(MultinodeBroadcast(), 2), task("allreduce")])
    messages = made.messages(gossamer.network("ring:3"))
    assert messages.sizes.tolist() == [2] * 3 + [1] * 6
    assert messages.after.tolist() == [-1] * 6 + [3, 4, 5]


@settings(max_examples=80)
@given(st.data(), st.integers(0, 2**32))
def test_numbers_of_tasks_together_and_in_groups_follow_renaming_and_duals(data, seed):
    network = data.draw(networks)
    names = (
        *("scatter", "gather", "partial-exchange", "partial-gather", "permutation", "multiple-broadcast"),
        *("reduce", "partial-reduce-scatter"),
    )
    parts = [data.draw(tasks(network, names)) for _ in range(data.draw(st.integers(1, 3)))]
    n = network.terminal_count
    to = np.array(Random(seed).sample(range(n), n), np.int64)
    for made in (Together(parts), *(Grouped(part, [range(n), to.tolist()]) for part in parts)):
        ids = made.messages(network).ids
        assert sorted(made.dual_ids(network, ids).tolist()) == made.dual(network).messages(network).ids.tolist()
        renamed = made.renamed(lambda x: to[x])
        there = made.renamed_ids(network, ids, lambda x: to[x])
        assert sorted(there.tolist()) == renamed.messages(network).ids.tolist()


def test_a_job_with_numbers_that_reach_less_far_backwards_in_time(tmp_path):
    (tmp_path / "slow.edges").write_text("columns source target occupancy\n0 2 1\n1 2 2\n")
    exchange, reduce = NeighborExchange([(0, 1), (2, 1)]), task("reduce")
    for parts in ([exchange, reduce], [reduce, exchange]):
        for ports, time in (("one", 5), ("all", 4)):
            rules = gossamer.Rules(ports=ports)
            found = gossamer.plan(str(tmp_path / "slow.edges"), Together(parts), rules=rules)
            assert found.completion_time == time


@pytest.mark.parametrize("ports", ["all", "one"])
def test_a_task_that_waits_may_have_nothing_to_send(ports):
    nothing, some = MultipleBroadcast([0] * 4), MultipleBroadcast([0, 2, 0, 0])
    for parts, waits in (
        ([Broadcast(), nothing], [(1, 0)]),
        ([nothing, Broadcast()], [(1, 0)]),
        ([Broadcast(), nothing, some], [(1, 0), (2, 1)]),
        ([Broadcast(), some, nothing, nothing], [(1, 0), (2, 1), (3, 2)]),
    ):
        found = gossamer.plan("ring:4", Together(parts, waits=waits), rules=gossamer.Rules(ports=ports))
        assert found.completion_time >= found.bound >= 2
        assert found.verification.ok


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tasks": []}, "together must be 1 to 10,000 tasks"),
        ({"tasks": [Broadcast(), 1]}, "together must be 1 to 10,000 tasks"),
        ({"tasks": [Together([Broadcast()])]}, "cannot be put together again"),
        ({"tasks": [Broadcast(), Broadcast(1)], "waits": [(0, 1), (1, 0)]}, "wait for each other: broadcast 1, broad"),
        ({"tasks": [Broadcast()], "waits": [(0, 1)]}, "a wait is a pair"),
        ({"tasks": [Broadcast(), Broadcast(1)], "names": ["a", "a"]}, "needs a name of its own"),
    ],
)
def test_tasks_together_that_are_refused(fields, message):
    with pytest.raises(TaskError, match=message):
        Together(**fields)


@pytest.mark.parametrize("counts", [[0, 2, 0, 2, 0], [0, 4, 0, 0, 0], [0, 1, 2, 0, 1]])
@pytest.mark.parametrize("kind", [UnevenScatter, UnevenGather])
def test_messages_of_several_packets_are_cut_into_so_many_times_as_many(kind, counts):
    ring, whole = gossamer.network("ring:5"), kind(counts, 0)
    assert Chunked(whole, 3).messages(ring).packet_count == 3 * sum(counts)
    found = gossamer.plan(ring, Chunked(whole, 3), rules=gossamer.Rules(ports="one"))
    assert found.completion_time >= found.bound >= 12
    assert found.verification.ok


# -- counts, neighbors ---------------------------------------------------------------------------------------


def test_counts_of_pairs():
    made = UnevenExchange([[0, 2, 0], [1, 0, 0], [0, 5, 0]])
    assert said(made.messages(gossamer.network("ring:3"))) == [
        (0, MOVE, (1,), 2, -1),
        (1, MOVE, (0,), 1, -1),
        (2, MOVE, (1,), 5, -1),
    ]
    assert made.dual(RING).counts == ((0, 1, 0), (2, 0, 5), (0, 0, 0))


def test_counts_with_a_root():
    scatter = UnevenScatter([9, 2, 0], 0)
    assert said(scatter.messages(gossamer.network("ring:3"))) == [(0, MOVE, (1,), 2, -1)]
    assert scatter.dual(RING) == UnevenGather([9, 2, 0], 0)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[0, 1]], "row 0: there are 2 counts for 1 nodes"),
        ([[1]], "row 0: node 0 sends 1 packets to itself"),
        ([[0, -1], [0, 0]], "row 0: the count for node 1 is -1"),
        ([[0, "x"], [0, 0]], "a count must be a whole number"),
    ],
)
def test_counts_that_are_refused(counts, message):
    with pytest.raises(TaskError, match=message):
        UnevenExchange(counts)


def test_neighbors_are_terminals_with_a_link():
    assert NeighborExchange().messages(gossamer.network("array:2x2")).count == 8
    with pytest.raises(TaskError, match=r"no terminal of .* is linked to another"):
        NeighborExchange().check(gossamer.network("fat-tree:k=2,h=2"))


# -- traffic by name and from files --------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRAFFIC)
def test_patterns_of_traffic(name):
    network = gossamer.network("torus:4x4")
    matrix = traffic_matrix(name, network, packets=7, seed=3)
    assert np.array_equal(matrix, traffic_matrix(name, network, packets=7, seed=3))
    DemandTable.from_matrix(matrix).check(network)
    if name in ("zipf", "h-relation", "permutation"):
        assert set(matrix.sum(axis=1).tolist()) == {7}
        assert not np.array_equal(matrix, traffic_matrix(name, network, packets=7, seed=4))
    if name in ("h-relation", "permutation"):
        assert set(matrix.sum(axis=0).tolist()) == {7}
    if name == "stencil":
        assert set((matrix > 0).sum(axis=1).tolist()) == {8}


def test_a_matrix_by_every_kind_of_file(tmp_path):
    import scipy.io
    import scipy.sparse

    matrix = traffic_matrix("zipf", RING, packets=20, seed=1)
    np.save(tmp_path / "t.npy", matrix)
    scipy.io.mmwrite(tmp_path / "t.mtx", scipy.sparse.coo_array(matrix))
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in matrix.tolist()))
    for name in ("t.npy", "t.mtx", "t.csv"):
        assert np.array_equal(read_traffic(tmp_path / name, 6).matrix, matrix), name


def test_a_table_by_every_kind_of_file(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    table = DemandTable.of([(0, [1, 2, 3], 2), (4, [5], 1)], [([0, 1, 2], [2], 3)])
    (tmp_path / "t.csv").write_text(
        "origin,contributors,destinations,packets\n0,,1-3,2\n4,,5,\n\n# a comment\n,0 1 2,2,3\n"
    )
    columns = {"origin": [0, 4, None], "contributors": [None, None, [0, 1, 2]]}
    columns |= {"destinations": [[1, 2, 3], [5], [2]], "packets": [2, 1, 3]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    (tmp_path / "t.json").write_text(
        json.dumps(
            {
                "demands": [{"origin": 0, "destinations": "1-3", "packets": 2}, {"origin": 4, "destinations": 5}],
                "contributions": [{"contributors": "0-2", "destinations": [2], "packets": 3}],
            }
        )
    )
    for name in ("t.csv", "t.parquet", "t.json"):
        found = read_traffic(tmp_path / name, 6)
        assert DemandTable.from_rows(found.rows, found.where) == table, name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "1,2\n3\n", "line 1: there are 2 values in a matrix of 2 rows|line 2"),
        ("t.csv", "0,1\n-1,0\n", "line 2: an amount must be a whole number"),
        ("t.csv", "0,1\n1e3,0\n", "column '0' is unknown|line 2"),
        ("t.csv", "from,to\n0,1\n", "column 'from' is unknown"),
        ("t.csv", "origin,packets\n0,1\n", "needs columns destinations"),
        ("t.csv", "origin,destinations,packets,bytes\n0,1,1,1\n", "packets or bytes, not both"),
        ("t.csv", "origin,destinations\n0,1,2\n", "line 2: there are 3 values for 2 columns"),
        ("t.csv", "origin,destinations\n0,x\n", "line 2: destinations 'x' is no node number"),
        ("t.csv", "origin,destinations\n0,5-2\n", "line 2: destinations: the range 5-2 is empty"),
        ("t.csv", "origin,destinations\n,1\n", "line 2: a row has an origin or contributors"),
        ("t.csv", "origin,contributors,destinations\n1,2,3\n", "line 2: a row has an origin or contributors, not both"),
        ("t.csv", "origin,destinations,packets\n0,1,-3\n", "line 2: an amount must be a whole number"),
        ("t.csv", "origin,destinations,packets\n0,1,99999999999999999999\n", "line 2: an amount must be"),
        ("t.json", "[1]", "must hold an object"),
        ("t.json", '{"demands": 3}', "'demands' must be a list"),
        ("t.json", '{"demands": [3]}', "demands 0: a row must be an object"),
        ("t.json", '{"demands": [{"origin": true, "destinations": [1]}]}', "origin True is no node number"),
        ("t.json", "{", "cannot read"),
        ("t.json", "[" * 100_000, "cannot read"),
        ("t.parquet", "PAR1", "cannot read"),
        ("t.xlsx", "", "is of no known kind"),
        (
            "t.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.5\n",
            "row 0: the value for node 1 is 1.5",
        ),
        ("t.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 0\n", "complex values"),
        (
            "t.mtx",
            "%%MatrixMarket matrix coordinate real general\n99999999 99999999 1\n1 2 1\n",
            "at most 2,048 a side",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises((FileFormatError, TaskError), match=message):
        read_traffic(tmp_path / name, 6)


def test_a_range_beyond_the_network_is_refused_before_it_is_written_out(tmp_path):
    (tmp_path / "t.csv").write_text("origin,destinations\n0,1-4000000000\n")
    with pytest.raises(TaskError, match=r"line 2: destinations 4000000000 is outside 0..5"):
        read_traffic(tmp_path / "t.csv", 6)
