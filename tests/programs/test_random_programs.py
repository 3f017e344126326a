"""Programs of random tables of demands and of collectives in random groups, on random networks, in random orders."""

from __future__ import annotations

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import ScheduleError
from gossamer.programs import Program
from gossamer.programs.program import Columns
from gossamer.questions.tasks import DemandTable
from programs.oracle import StuckError, carry_out, check_program, contributions_of, wanted

COLLECTIVES = ("allgather", "alltoall", "reduce-scatter", "allreduce", "broadcast", "reduce", "gather", "scatter")
NAMED = ("ring:5", "array:2x3", "hypercube:3", "torus:3x3", "star:3", "fat-tree:k=2,h=2,capacity=constant")


def some_network(rng):
    """Return a network of a family, or a random connected one whose last nodes may be switches."""
    if rng.random() < 0.4:
        return gossamer.network(str(rng.choice(NAMED)))
    n = int(rng.integers(3, 9))
    graph = nx.Graph()
    while not (len(graph) and nx.is_connected(graph)):
        graph = nx.gnm_random_graph(n, int(rng.integers(n - 1, 2 * n)), seed=int(rng.integers(2**31)))
    net = gossamer.network(graph)
    terminals = int(rng.integers(2, n + 1))
    return gossamer.Network("random", n, net.link_source, net.link_target, terminal_count=terminals, links_only=True)


def some_nodes(rng, nodes):
    return rng.choice(nodes, int(rng.integers(1, len(nodes) + 1)), replace=False).tolist()


def some_table(rng, n):
    rows, packets = [], int(rng.integers(1, 3))
    while len(rows) < int(rng.integers(1, 6)):
        if rng.random() < 0.5:
            origin = int(rng.integers(n))
            rows.append((origin, (), some_nodes(rng, [v for v in range(n) if v != origin]), packets))
        else:
            shares, ends = some_nodes(rng, range(n)), some_nodes(rng, range(n))
            if shares != ends[:1]:
                rows.append((-1, shares, ends, packets))
    return DemandTable.from_rows(rows)


def some_groups(rng, n):
    """Return groups that share no node and may leave some idle, or any that may overlap."""
    if rng.random() < 0.3:
        return [some_nodes(rng, range(n)) for _ in range(int(rng.integers(1, 4)))]
    nodes = some_nodes(rng, range(n))
    cuts = [0, *sorted(rng.integers(1, len(nodes) + 1, int(rng.integers(0, 3))).tolist()), len(nodes)]
    return [nodes[a:b] for a, b in itertools.pairwise(cuts) if b > a]


def some_collective(rng, n):
    name, groups, fields = str(rng.choice(COLLECTIVES)), some_groups(rng, n), {}
    if name in COLLECTIVES[4:]:
        fields["root"] = int(rng.integers(min(map(len, groups))))
    if rng.random() < 0.3:
        fields["packets"] = 2
    return gossamer.task(name, groups=groups, **fields)


@pytest.mark.exhaustive(always=3)
@pytest.mark.parametrize("kind", [some_table, some_collective])
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 11))])
def test_random_tasks_end_as_they_must_in_any_order(kind, part):
    for seed in range(900 + 100 * part, 1000 + 100 * part) if part else range(60):
        rng = np.random.default_rng(seed)
        net = some_network(rng)
        if rng.random() < 0.4:
            net = net.with_times(rng.integers(1, 4, net.link_count), rng.integers(0, 3, net.link_count))
        split, reduction, replication, through = (bool(rng.random() < share) for share in (0.3, 0.5, 0.7, 0.2))
        rules = gossamer.Rules(split=split, reduction=reduction, replication=replication, cut_through=through)
        schedule = gossamer.plan(net, kind(rng, net.terminal_count), rules=rules).schedule
        try:
            check_program(gossamer.lower(schedule))
        except ScheduleError as error:
            if not through or "in the slot in which it comes" not in str(error):
                raise
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {schedule.task.to_dict()} on {net}: {error}") from None


def test_a_destination_that_does_not_contribute_adds_nothing_of_its_own():
    table = DemandTable.of([(1, [2], 1)], [([0, 2], [1], 1), ([0], [1], 1)])
    program = gossamer.lower(gossamer.plan("ring:3", table).schedule)
    check_program(program)
    middle = program.rank(1)
    assert (middle.input_size, middle.output_size) == (1, 2)


def altered(program, rank, **columns):
    """Return a program in which a rank has other columns."""
    names = ("slot", "kind", "peer", "buffer", "offset", "operand", "after", "part")
    ranks = [replace(mine, **columns) if mine.rank == rank else mine for mine in program]
    first = np.cumsum([0, *(mine.count for mine in ranks)])
    rows = tuple(np.concatenate([getattr(mine, name) for mine in ranks]) for name in names)
    copies = np.concatenate([np.insert(mine.copies, 0, mine.rank, axis=1) for mine in ranks])
    sizes = np.array([(mine.input_size, mine.output_size, mine.scratch_size) for mine in ranks])
    stored = Columns(first, rows, copies, sizes)
    return Program(program.network, program.task, stored, parts=program.parts, slots=program.slots, hops=program.hops)


def test_the_interpreter_sees_what_is_wrong():
    program = gossamer.lower(gossamer.plan("torus:3x3", "reduce-scatter").schedule)
    check_program(altered(program, 0), 5)  # nothing is
    mine = program.rank(4)
    sums = np.flatnonzero(mine.kind == 2)
    kind, operand, after = mine.kind.copy(), mine.operand.copy(), mine.after.copy()
    kind[sums[-1]] = 1  # replaces what it should be added to
    operand[sums[-1]] = (operand[sums[-1]] + 1) % 9 if operand[sums[-1]] >= 0 else 0
    for wrong in ({"kind": kind}, {"operand": operand}, {"offset": mine.offset[::-1].copy()}):
        with pytest.raises(AssertionError):
            check_program(altered(program, 4, **wrong), 5)
    after[:] = -1  # sends may leave, and places be taken again, before what they wait for
    with pytest.raises(AssertionError):
        check_program(altered(program, 4, after=after), 20)


def test_a_place_that_is_taken_again_too_early_is_seen():
    program = gossamer.lower(gossamer.plan("torus:4x4", "alltoall").schedule)
    mine = program.rank(0)
    again = np.flatnonzero((mine.kind == 1) & (mine.after >= 0))
    assert again.size
    with pytest.raises(AssertionError):
        check_program(altered(program, 0, after=np.where(mine.kind == 1, -1, mine.after).astype(np.int32)), 20)


def test_operations_that_wait_for_each_other_are_told():
    program = gossamer.lower(gossamer.plan("ring:4", "allgather").schedule)
    inputs = contributions_of(program)
    assert len(carry_out(program, inputs)) == len(wanted(program, inputs)) == 4
    for mine in list(program):
        last = np.where(mine.kind == 0, mine.count - 1, mine.after)  # all sends wait for the last receive
        program = altered(program, mine.rank, after=last.astype(np.int32))
    with pytest.raises(
        StuckError, match=r"operations cannot be carried out: operation \d+ of rank \d waits for rank \d"
    ):
        carry_out(program, inputs)
