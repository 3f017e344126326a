"""The tasks: their messages, duals, new names, plain values, and what they refuse."""

from __future__ import annotations

import dataclasses
import json
import random
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, TaskError
from gossamer.questions.tasks import (
    ALIASES,
    ALLCOMBINE,
    COMBINE,
    COPY,
    MOVE,
    TASKS,
    Allreduce,
    Broadcast,
    DemandTable,
    Gather,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    NeighborExchange,
    OneToManyRouting,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    PartialSumAllreduce,
    Permutation,
    Reduce,
    ReduceScatter,
    Scatter,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
    kind_of,
    task,
    task_from_dict,
)
from schedules.strategies import networks, tasks


def rows(of, network, origins=None) -> list[tuple[int, int, str, tuple[int, ...] | None]]:
    """The messages as (number, origin, discipline, targets); targets None means all terminals."""
    m = of.messages(network, origins)
    name = {int(COPY): "copy", int(MOVE): "move", int(COMBINE): "combine", int(ALLCOMBINE): "allcombine"}
    return [
        (
            int(m.ids[i]),
            int(m.origin[i]),
            name[int(m.discipline[i])],
            None if m.targets is None else tuple(m.targets[m.target_start[i] : m.target_start[i + 1]].tolist()),
        )
        for i in range(m.count)
    ]


LINE = gossamer.network("array:3")
MESSAGES = {
    Broadcast(1): [(1, 1, "copy", None)],
    Reduce(1): [(1, 1, "combine", None)],
    Scatter(1): [(0, 1, "move", (0,)), (2, 1, "move", (2,))],
    Gather(1): [(0, 0, "move", (1,)), (2, 2, "move", (1,))],
    MultinodeBroadcast(): [(v, v, "copy", None) for v in range(3)],
    ReduceScatter(): [(v, v, "combine", None) for v in range(3)],
    Allreduce(): [(v, v, "combine", None) for v in range(3)] + [(3 + v, v, "copy", None) for v in range(3)],
    PartialSumAllreduce(): [(0, 0, "allcombine", None)],
    PartialMultinodeBroadcast((2, 0)): [(0, 0, "copy", None), (2, 2, "copy", None)],
    GroupMultinodeBroadcast((2, 0)): [(0, 0, "copy", (0, 2)), (2, 2, "copy", (0, 2))],
    PartialReduceScatter((2, 0)): [(0, 0, "combine", None), (2, 2, "combine", None)],
    MultipleBroadcast((2, 0, 1)): [(0, 0, "copy", None), (1, 0, "copy", None), (2, 2, "copy", None)],
    MultipleReduce((0, 1, 1)): [(0, 1, "combine", None), (1, 2, "combine", None)],
    MultipleBroadcast((0, 0, 0)): [],
    TotalExchange(): [(3 * a + b, a, "move", (b,)) for a in range(3) for b in range(3) if a != b],
    PartialExchange((1,)): [(3, 1, "move", (0,)), (5, 1, "move", (2,))],
    PartialGather((1,)): [(1, 0, "move", (1,)), (7, 2, "move", (1,))],
    Permutation((2, -1, 0)): [(0, 0, "move", (2,)), (2, 2, "move", (0,))],
    Permutation((0, 2, 1)): [(0, 0, "move", (0,)), (1, 1, "move", (2,)), (2, 2, "move", (1,))],
    OneToManyRouting(((2, 1), (), (0,))): [(0, 0, "copy", (1, 2)), (2, 2, "copy", (0,))],
    UnevenExchange(((0, 2, 0), (0, 0, 0), (1, 0, 0))): [(1, 0, "move", (1,)), (6, 2, "move", (0,))],
    UnevenScatter((4, 0, 2), 0): [(2, 0, "move", (2,))],
    UnevenGather((4, 0, 2), 0): [(2, 2, "move", (0,))],
    NeighborExchange(): [(1, 0, "move", (1,)), (3, 1, "move", (0,)), (5, 1, "move", (2,)), (7, 2, "move", (1,))],
    DemandTable.of([(0, [2, 1], 3)], [([0, 1], [2], 1)]): [(0, 0, "copy", (2, 1)), (2, 2, "combine", (0, 1))],
}


@pytest.mark.parametrize("of", MESSAGES, ids=str)
def test_messages_are_what_the_task_says(of):
    assert rows(of, LINE) == MESSAGES[of]


def test_every_task_is_in_the_table_of_examples():
    assert {type(t) for t in MESSAGES} == set(TASKS.values())


def test_only_leaves_of_a_fat_tree_take_part():
    tree = gossamer.network("fat-tree:k=2,h=1")
    assert rows(TotalExchange(), tree) == [(1, 0, "move", (1,)), (2, 1, "move", (0,))]
    assert rows(MultinodeBroadcast(), tree) == [(0, 0, "copy", None), (1, 1, "copy", None)]


def test_results_of_an_allreduce_wait_for_the_reductions():
    assert Allreduce().messages(LINE).after.tolist() == [-1, -1, -1, 0, 1, 2]
    assert Allreduce().messages(LINE, [2]).after.tolist() == [-1, 0]


@given(st.data())
def test_message_numbers_are_unique_and_ascending(data):
    network = data.draw(networks)
    messages = data.draw(tasks(network)).messages(network)
    assert np.all(np.diff(messages.ids) > 0)
    assert messages.ids.dtype == np.int64
    assert messages.origin.dtype == np.int32
    assert messages.discipline.dtype == np.uint8
    sizes = {messages.count, messages.origin.size, messages.discipline.size}
    assert len(sizes) == 1
    assert np.all((messages.origin >= 0) & (messages.origin < network.terminal_count))
    if messages.targets is not None:
        assert (messages.target_start[0], messages.target_start[-1]) == (0, messages.targets.size)
        assert np.all(np.diff(messages.target_start) >= 1)
        assert np.all((messages.targets >= 0) & (messages.targets < network.terminal_count))


@pytest.mark.parametrize("of", [t for t in MESSAGES if t.invariant], ids=str)
@given(st.data())
def test_messages_of_some_origins_are_those_of_all_restricted(of, data):
    network = data.draw(networks)
    some = sorted(data.draw(st.sets(st.integers(0, network.terminal_count - 1), min_size=1)))
    assert rows(of, network, np.array(some)) == [row for row in rows(of, network) if row[1] in some]


# -- duals ---------------------------------------------------------------------------------------------------

DUALS = {
    "broadcast": "reduce",
    "scatter": "gather",
    "multinode-broadcast": "reduce-scatter",
    "partial-multinode-broadcast": "partial-reduce-scatter",
    "multiple-broadcast": "multiple-reduce",
    "total-exchange": "total-exchange",
    "partial-exchange": "partial-gather",
    "permutation": "permutation",
}
DUALS |= {b: a for a, b in DUALS.items()}


@given(st.data())
def test_the_dual_of_the_dual_is_the_task(data):
    network = data.draw(networks)
    of = data.draw(tasks(network, tuple(DUALS)))
    dual = of.dual(network)
    dual.check(network)
    assert dual.name == DUALS[of.name]
    assert dual.dual(network) == of
    ids = of.messages(network).ids
    there = of.dual_ids(network, ids)
    assert sorted(there.tolist()) == dual.messages(network).ids.tolist()
    assert dual.dual_ids(network, there).tolist() == ids.tolist()


@given(st.data())
def test_a_moved_message_goes_the_other_way_in_the_dual(data):
    network = data.draw(networks)
    of = data.draw(tasks(network, ("scatter", "gather", "total-exchange", "partial-exchange", "partial-gather",
                                   "permutation")))  # fmt: skip
    dual = of.dual(network)
    forth = {number: (a, b) for number, a, _, (b,) in rows(of, network)}
    back = {number: (b, a) for number, a, _, (b,) in rows(dual, network)}
    there = of.dual_ids(network, np.array(list(forth), np.int64)).tolist()
    assert dict(zip(there, forth.values(), strict=True)) == back


@pytest.mark.parametrize("of", [Allreduce(), OneToManyRouting(((1,), (), ()))], ids=str)
def test_tasks_without_a_dual_say_so(of):
    with pytest.raises(TaskError) as error:
        of.dual(LINE)
    assert str(error.value) == f"{of.name} has no dual by time reversal"


# -- new names -----------------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(st.data(), st.integers(0, 2**32))
def test_renaming_renames_origins_and_targets_of_every_message(data, seed):
    network = data.draw(networks)
    of = data.draw(tasks(network))
    assume(not isinstance(of, NeighborExchange))  # whose messages are those of the links
    n = network.terminal_count
    to = np.array(random.Random(seed).sample(range(n), n), np.int64)
    renamed = of.renamed(lambda x: to[x])
    renamed.check(network)
    numbers = of.renamed_ids(network, of.messages(network).ids, lambda x: to[x]).tolist()
    expected = {
        number: (
            int(to[origin]) if discipline != "allcombine" else origin,
            discipline,
            None if targets is None else sorted(to[list(targets)].tolist()),
        )
        for number, (_, origin, discipline, targets) in zip(numbers, rows(of, network), strict=True)
    }
    found = {number: (o, d, None if t is None else sorted(t)) for number, o, d, t in rows(renamed, network)}
    assert found == expected
    back = np.argsort(to)
    assert renamed.renamed(lambda x: back[x]) == of


# -- plain values --------------------------------------------------------------------------------------------


@given(st.data())
def test_plain_values_give_the_task_back(data):
    network = data.draw(networks)
    of = data.draw(tasks(network))
    again = task_from_dict(json.loads(json.dumps(of.to_dict())))
    assert again == of
    assert hash(again) == hash(of)
    assert type(again) is type(of)
    of.check(network)


def test_tasks_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Broadcast(1).root = 2


def test_names_old_and_new():
    assert set(TASKS) == {t.name for t in TASKS.values()}
    assert set(ALIASES.values()) <= set(TASKS)
    names = [re.sub("[-_]", "", name.lower()) for name in [*TASKS, *ALIASES]]
    assert len(set(names)) == len(names)
    assert task("gossip") == task("Multinode_Broadcast ") == MultinodeBroadcast()
    assert task("restricted-broadcasting", destinations=[[1], []]) == OneToManyRouting(((1,), ()))
    assert all(t.summary for t in TASKS.values())


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Broadcast, "broadcast bcast MPI_Bcast ncclBroadcast ncclBcast"),
        (Scatter, "scatter MPI_Scatter ncclScatter"),
        (Gather, "gather MPI_Gather ncclGather"),
        (Reduce, "reduce MPI_Reduce ncclReduce"),
        (
            Allreduce,
            "allreduce all_reduce all-reduce AllReduce MPI_Allreduce MPI_ALLREDUCE ncclAllReduce ncclxAllReduce",
        ),
        (MultinodeBroadcast, "allgather all_gather all-gather AllGather MPI_Allgather ncclAllGather ncclXAllGather"),
        (TotalExchange, "alltoall all_to_all all-to-all AllToAll MPI_Alltoall ncclAllToAll"),
        (ReduceScatter, "reduce_scatter ReduceScatter reduce-scatter MPI_Reduce_scatter_block ncclReduceScatter"),
        (MultipleReduce, "MPI_Reduce_scatter mpi_reduce_scatter reduce_scatterv multiple_reduce"),
        (MultipleBroadcast, "allgatherv all_gather_v AllGatherV MPI_Allgatherv ncclAllGatherV multiple-broadcast"),
    ],
)
def test_names_of_mpi_and_nccl_mean_what_they_mean_there(kind, names):
    for name in names.split():
        assert kind_of(name) is kind, name


def test_names_may_be_written_with_spaces():
    assert kind_of(" All Gather ") is MultinodeBroadcast


@pytest.mark.parametrize("name", ["allgatherv", "MPI_Reduce_scatter"])
def test_counts_per_rank_are_counts_of_messages(name):
    """Rank u has counts[u] of them, as in MPI: gathered by all, or reduced with u as root."""
    made = task(name, counts=[2, 0, 1])
    assert rows(made, LINE) == [
        (k, u, "copy" if name == "allgatherv" else "combine", None) for k, u in enumerate((0, 0, 2))
    ]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("MPI_Alltoallv", {"counts": [[0, 2], [1, 0]]}),
        ("alltoallw", {"counts": [[0, 2], [1, 0]]}),
        ("MPI_Gatherv", {"counts": [1, 2]}),
        ("scatter_v", {"counts": [1, 2], "root": 1}),
        ("MPI_Neighbor_alltoall", {}),
    ],
)
def test_names_of_mpi_with_counts(name, fields):
    assert task(name, **fields).messages(gossamer.network("array:2")).count


def test_descriptions_are_for_people():
    assert TotalExchange().describe() == "alltoall"
    assert Scatter(2).describe() == "scatter (root 2)"
    assert PartialExchange([4, 1]).describe() == "partial-exchange (active: 2 nodes)"
    assert MultipleBroadcast([4, 0, 1]).describe() == "allgatherv (5 messages of 2 nodes)"
    assert MultipleReduce([3, 0, 1]).describe() == "reduce-scatterv (4 messages of 2 nodes)"


def test_any_iterable_of_integers_will_do():
    expected = PartialExchange((0, 2, 5))
    for given_nodes in ([5, 0, 2], {0, 2, 5}, np.array([2, 5, 0], np.uint8), (x for x in (0, 2, 5))):
        made = PartialExchange(given_nodes)
        assert made == expected
        assert all(type(v) is int for v in made.active)
    assert Permutation(np.array([1, 0])).destination == (1, 0)
    assert OneToManyRouting(np.array([[1], [0]])).destinations == ((1,), (0,))
    assert type(Broadcast(np.int8(3)).root) is int


# -- what is refused -----------------------------------------------------------------------------------------

USUAL = "broadcast, reduce, allgather, reduce-scatter, allreduce, alltoall, gather, scatter"
KNOWN = f"; tasks are {USUAL} and {len(TASKS) - 8} others"

BAD = [
    (lambda: task("broadcats"), "unknown task 'broadcats' (did you mean 'broadcast'?)"),
    (lambda: task("all-gathers"), "unknown task 'all-gathers' (did you mean 'allgather'?)"),
    (lambda: task("MPI_"), "unknown task 'MPI_'" + KNOWN),
    (lambda: task("allgatherv", active=[1]), "task multiple-broadcast has no field 'active'; it takes counts"),
    (lambda: task(""), "unknown task ''" + KNOWN),
    (lambda: task("broadcast", source=1), "task broadcast has no field 'source'; it takes root"),
    (lambda: task("alltoall", root=1), "task total-exchange has no field 'root'; it takes none"),
    (lambda: task("partial-exchange"), "task partial-exchange needs 'active'"),
    (lambda: task_from_dict({"root": 1}), "a task is described by its name and its fields, got {'root': 1}"),
    (lambda: task_from_dict(7), "a task is described by its name and its fields, got 7"),
    (lambda: Broadcast("0"), "the root must be a node number, got '0'"),
    (lambda: Broadcast(1.0), "the root must be a node number, got 1.0"),
    (lambda: Broadcast(True), "the root must be a node number, got True"),
    (lambda: PartialExchange([]), "the set of active nodes is empty; at least one node is needed"),
    (lambda: PartialGather([1, 0, 1]), "active node 1 is listed twice"),
    (lambda: PartialMultinodeBroadcast(["x"]), "the active node must be a node number, got 'x'"),
    (lambda: PartialMultinodeBroadcast("12"), "the active nodes must be a list, got '12'"),
    (lambda: PartialReduceScatter(3), "the active nodes must be a list, got 3"),
    (lambda: MultipleBroadcast(5), "the counts must be a list, got 5"),
    (lambda: MultipleReduce([1, 0.5]), "a count must be a whole number, got 0.5"),
    (lambda: MultipleReduce([1, -2]), "the count of node 1 is -2; a node has 0 messages or more"),
    (
        lambda: MultipleBroadcast([2**31, 0]),
        "the counts add up to 2,147,483,648 messages; at most 2,147,483,647 are allowed",
    ),
    (lambda: Permutation(5), "the destinations must be a list, got 5"),
    (lambda: Permutation([0, 1.5]), "the destination must be a node number, got 1.5"),
    (lambda: Permutation([1, -2]), "the destination of node 1 is -2; use a node number, or -1 for no message"),
    (lambda: Permutation([-1, 2, 2]), "nodes 1 and 2 both send to node 2; only one may"),
    (lambda: OneToManyRouting(4), "the destination sets must be a list, got 4"),
    (lambda: OneToManyRouting([[1], 2]), "the destinations of node 1 must be a list, got 2"),
    (lambda: OneToManyRouting([["a"]]), "the destination must be a node number, got 'a'"),
    (lambda: OneToManyRouting([[1, 2], [2]]), "nodes 0 and 1 both send to node 2; only one may"),
    (lambda: OneToManyRouting([[2, 1, 2]]), "node 0 lists destination 2 twice"),
]
MISFITS = [
    (Broadcast(3), "root node 3 is outside 0..2 of array:3"),
    (Gather(-1), "root node -1 is outside 0..2 of array:3"),
    (PartialExchange([0, 3]), "active node 3 is outside 0..2 of array:3"),
    (PartialGather([-1, 2]), "active node -1 is outside 0..2 of array:3"),
    (Permutation([1, 0]), "the permutation lists 2 nodes; array:3 has 3"),
    (Permutation([1, 0, 3]), "the destination of node 2 is 3, outside 0..2 of array:3"),
    (MultipleBroadcast([1, 0]), "the counts list 2 nodes; array:3 has 3"),
    (OneToManyRouting([[1], [0]]), "the destination sets list 2 nodes; array:3 has 3"),
    (OneToManyRouting([[1], [0], [3]]), "a destination of node 2 is 3, outside 0..2 of array:3"),
    (OneToManyRouting([[-1], [0], []]), "a destination of node 0 is -1, outside 0..2 of array:3"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_malformed_tasks_are_refused(make, message):
    with pytest.raises(GossamerError) as error:
        make()
    assert type(error.value) is TaskError
    assert str(error.value) == message


@pytest.mark.parametrize(("of", "message"), MISFITS)
def test_tasks_that_do_not_fit_the_network_are_refused(of, message):
    with pytest.raises(TaskError) as error:
        of.check(LINE)
    assert str(error.value) == message


@given(st.data())
def test_a_task_of_a_larger_network_does_not_fit(data):
    larger = gossamer.network("ring:5")
    of = data.draw(tasks(larger, ("permutation", "one-to-many-routing", "partial-exchange", "scatter")))
    nodes = getattr(of, "active", (getattr(of, "root", 4),))
    assume(max(nodes) >= 3)
    with pytest.raises(TaskError):
        of.check(LINE)


def test_a_root_is_named_by_coordinates_where_the_network_is_given():
    assert task("reduce", network="torus:4x4", root=(1, 2)) == task("reduce", root=6)
    assert task("gather", network=gossamer.network("ring:5"), root="(3)") == task("gather", root=3)
    with pytest.raises(
        TaskError, match=r"the root must be a node number, got \(1, 2\); task\(\) takes coordinates with"
    ) as e:
        task("reduce", root=(1, 2))
    assert "\n" not in str(e.value)
    with pytest.raises(TaskError, match="has no field 'network'"):
        task("allgather", network="torus:4x4")
