"""Tori of which a few links failed, and dragonflies: recognized, planned by one rank of each orbit, verified whole."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.sound_paths import sound_exchange
from gossamer.algorithms.any_network.translated_paths import (
    TRANSLATED_PATHS,
    TRANSLATED_REDUCTION,
    TRANSLATED_TREES,
    translated_exchange,
    translated_trees,
)
from gossamer.algorithms.multinode_broadcast import translated_flooding as flooding
from gossamer.algorithms.multinode_broadcast.translated_flooding import (
    spared,
    translated_allreduce,
    translated_flooding,
)
from gossamer.errors import NetworkError, ScheduleError
from gossamer.graphs import modulo_scheduling
from gossamer.networks import Network, parse
from gossamer.networks.derived import renumbered
from gossamer.networks.recognition.missing_links import almost_torus
from gossamer.networks.recognition.switch_shifts import switch_groups, switch_shift
from gossamer.questions.cases import Case
from gossamer.schedules import RepairedSchedule
from gossamer.verification.repairs import follow_repairs

DRAGONFLY = "dragonfly:a=4,h=2,p=2,arrangement=relative"


def without(spec, *links):
    return parse(spec).without(links=list(links))


def scrambled(network, seed=0):
    """The same links as a plain list, with nodes in another order."""
    order = np.random.default_rng(seed).permutation(network.terminal_count)
    rest = np.arange(network.terminal_count, network.node_count)
    new = renumbered(network, np.append(order, np.random.default_rng(seed).permutation(rest)), "scrambled")
    ends = np.stack([new.link_source, new.link_target], axis=1)
    return Network(
        "scrambled", new.node_count, ends[:, 0], ends[:, 1], terminal_count=new.terminal_count, links_only=True
    )


def valid(schedule):
    """The stored orbit is accepted, and so is every transfer written out."""
    found, every = gossamer.verify(schedule), gossamer.verify(schedule.expand())
    assert found.violations == every.violations
    return bool(found) and bool(every)


@pytest.mark.parametrize(
    ("spec", "gone"),
    [
        ("torus:16x16", [(0, 1), (100, 116)]),
        ("torus:8x8x8", [(0, 1), (0, 8), (300, 301)]),
        ("torus:12x10x6", [(4, 5)]),
        ("hypercube:9", [(0, 1), (77, 333)]),
        ("torus:16x3x4", [(0, 1)]),
    ],
)
def test_a_damaged_torus_is_found_under_any_numbering(spec, gone):
    sound = parse(spec)
    found = almost_torus(scrambled(without(spec, *gone)))
    assert found.original.node_count == sound.node_count
    network = found.network
    assert len(found.missing) == len(gone)
    step = np.abs(found.place[network.link_source] - found.place[network.link_target])
    step = np.minimum(step, np.array(found.sides) - step)
    assert (step.sum(axis=1) == 1).all()  # every link there is joins neighbors
    lost = np.abs(found.place[found.missing[:, 0]] - found.place[found.missing[:, 1]])
    assert (np.minimum(lost, np.array(found.sides) - lost).sum(axis=1) == 1).all()


@pytest.mark.parametrize("spec", ["torus:8x8", "array:8x8", "random-regular:n=64,d=4", "fat-tree:k=4,h=2"])
def test_nothing_is_found_where_nothing_is_missing(spec):
    assert almost_torus(parse(spec)) is None


def test_words_name_what_is_missing():
    left = scrambled(without("torus:16x16", (0, 1)))
    told = gossamer.describe(left)
    assert told.structure.startswith("torus:16x16")
    assert "with 1 cable missing: " in told.structure
    assert "256 translations" in told.symmetry
    assert told.cut.links <= 32


def test_what_failed_costs_no_node_more_links_than_now():
    found = spared(without("torus:16x16x16", (0, 1), (700, 701), (2000, 2016)))
    network, broken = found.torus.network, found.symmetry.broken
    entering = np.bincount(network.link_target[~broken], minlength=network.node_count)
    assert int(entering.min()) == 5
    assert found.symmetry.order >= 32


@pytest.mark.parametrize("times", [None, (3, 1), (2, 5)])
@pytest.mark.parametrize("spec", ["torus:16x16", "torus:8x8x4", "hypercube:8"])
def test_flooding_takes_little_more_than_the_damaged_node_must(spec, times):
    left = without(spec, (0, 1))
    left = left.with_times(*times) if times else left
    case = Case(left, gossamer.task("allgather"))
    schedule = translated_flooding(case)
    assert schedule.symmetry.order > 1
    assert valid(schedule)
    least = max(bound.value for bound in gossamer.lower_bounds(left, "allgather"))
    assert schedule.completion_time <= 1.06 * float(least) + 12 * sum(times or (1, 0))


def test_flooding_refuses_what_it_does_not_know():
    with pytest.raises(NetworkError, match="no torus with a few links missing"):
        translated_flooding(Case(parse("array:4x4"), gossamer.task("allgather")))


def test_an_allreduce_uses_links_of_damaged_nodes_less():
    left = without("torus:8x8x8", (0, 1))
    schedule = translated_allreduce(Case(left, gossamer.task("allreduce")))
    assert valid(schedule)
    plain = translated_flooding(Case(left, gossamer.task("allgather")))
    load = np.bincount(schedule.expand().link, minlength=left.link_count)
    once = np.bincount(plain.expand().link, minlength=left.link_count)
    assert load.max() < (once + once[left.reverse_link]).max()


@pytest.mark.parametrize("times", [(1, 0), (50, 5)])
def test_an_allreduce_in_stages_overlaps(monkeypatch, times):
    left = without("torus:16x16x4", (0, 1)).with_times(*times)
    case = Case(left, gossamer.task("allreduce"))
    before = translated_allreduce(case)
    monkeypatch.setattr(flooding, "_MANY", 256)
    schedule = translated_allreduce(case)
    assert valid(schedule)
    assert schedule.stored_hops == before.stored_hops
    assert schedule.completion_time < before.completion_time


@pytest.mark.parametrize(("blocks", "beside"), [(100, 100), (100, 400), (300, 100)])
def test_loads_of_links_leave_nodes_what_must_come_to_them(blocks, beside):
    left = without("torus:16x16x4", (0, 1), (100, 104), (700, 764))
    found = flooding.spared(left)
    quotient = flooding._Blocks(Case(left, gossamer.task("allgather")), found)
    tail, head = quotient.tail, quotient.head
    most = flooding._limits(blocks, beside, tail, head)
    links = np.bincount(head)
    turns = (blocks + beside) * links.size / tail.size * flooding._OVER
    assert links.min() < links.max()  # a few links are missing
    assert np.bincount(head, most).min() >= blocks
    assert (links * turns - np.bincount(tail, most) > beside - 1 - links).all()  # loads are rounded up


@pytest.mark.parametrize(
    ("spec", "gone", "times"),
    [
        ("torus:16x16", [(0, 1), (100, 116)], None),
        ("torus:8x8", [(0, 1)], (50, 76)),
        ("torus:7x6x5", [(0, 1)], (3, 1)),
        ("hypercube:7", [(0, 1)], (2, 5)),
    ],
)
def test_what_crosses_missing_links_is_sent_again(spec, gone, times):
    left = scrambled(without(spec, *gone))
    left = left.with_times(*times) if times else left
    schedule = sound_exchange(Case(left, gossamer.task("alltoall")))
    every = schedule.expand()
    assert bool(gossamer.verify(schedule))
    assert bool(gossamer.verify(every))
    assert (schedule.hop_count, schedule.packet_count) == (every.hop_count, every.packet_count)
    assert schedule.completion_time == every.completion_time
    assert gossamer.verification.link_utilization(schedule) == gossamer.verification.link_utilization(every)
    assert gossamer.verification.buffer_peak(schedule).packets >= gossamer.verification.buffer_peak(every).packets


def test_wrong_repairs_are_not_accepted():
    left = without("torus:8x8", (0, 1))
    good = sound_exchange(Case(left, gossamer.task("alltoall")))
    columns = {
        "packet": good.again, "source": good.source, "hops": good.hops_again, "port": good.port, "turn": good.turn,
    }  # fmt: skip
    draw = np.random.default_rng(0)
    for name, values in columns.items():
        for _ in range(6):
            changed = values.copy()
            at, other = draw.choice(values.size, 2, replace=False)
            if values[at] == values[other]:
                continue
            changed[at] = changed[other]
            try:
                bad = RepairedSchedule(good.sound, left, good.place, **{**columns, name: changed})
            except ScheduleError:
                continue
            found, every = follow_repairs(bad)[0], False
            with contextlib.suppress(ScheduleError, IndexError):
                every = bool(gossamer.verify(bad.expand()))
            assert found == every, name
    few = {name: values[:-1] for name, values in columns.items() if name in ("packet", "source", "hops")}
    rest = {name: columns[name][: int(few["hops"].sum())] for name in ("port", "turn")}
    assert not follow_repairs(RepairedSchedule(good.sound, left, good.place, **few, **rest))[0]


def test_one_orbit_is_repeated(monkeypatch):
    monkeypatch.setattr(modulo_scheduling, "_MOST_EXPANDED", 0)
    left = without("torus:8x8", (0, 1))
    schedule = translated_allreduce(Case(left, gossamer.task("allreduce")))
    repeated = modulo_scheduling.Generation(schedule).repeated(12)
    assert repeated.symmetry.order == schedule.symmetry.order
    assert repeated.generations == 12
    assert bool(gossamer.verify(repeated))
    assert bool(gossamer.verify(repeated.unrolled().expand()))
    assert repeated.completion_time < 12 * schedule.completion_time


@pytest.mark.parametrize("spec", ["torus:16x16", "torus:8x8x4", "hypercube:8"])
def test_exchanges_go_round_what_failed(spec):
    left = without(spec, (0, 1))
    schedule = translated_exchange(Case(left, gossamer.task("alltoall")))
    assert valid(schedule)
    least = max(bound.value for bound in gossamer.lower_bounds(left, "alltoall"))
    assert schedule.completion_time <= 1.25 * float(least)


@pytest.mark.parametrize("h", [2, 3])
def test_dragonflies_in_the_absolute_arrangement_are_turned_round(h):
    net = scrambled(parse(f"dragonfly:a={2 * h},h={h},p={h},arrangement=absolute"))
    found = switch_groups(net)
    groups = 2 * h * h + 1
    assert (found.groups, found.routers, found.terminals, found.order) == (groups, 2 * h, h, 2)
    assert np.count_nonzero(found.lengths == 2) == groups * (groups - 1)
    assert gossamer.describe(net).structure.startswith(f"dragonfly of {groups} groups of {2 * h} switches")
    if h == 2:
        schedule = translated_trees(Case(net, gossamer.task("allgather")))
        assert schedule.symmetry.order == 2
        assert valid(schedule)
        least = max(bound.value for bound in gossamer.lower_bounds(net, "allgather"))
        assert schedule.completion_time <= 1.1 * float(least)


def test_a_dragonfly_is_found_under_any_numbering():
    found = switch_shift(scrambled(parse(DRAGONFLY)))
    assert (found.groups, found.routers, found.terminals, found.order) == (9, 4, 2, 9)
    assert int((found.lengths == 2).sum()) == 72
    assert switch_shift(parse("leaf-spine:leaves=4,spines=2,hosts=4")) is None


@pytest.mark.parametrize("copies", [True, False])
def test_allgathers_of_dragonflies(copies):
    net = scrambled(parse(DRAGONFLY))
    schedule = translated_trees(Case(net, gossamer.task("allgather"), gossamer.Rules(replication=copies)))
    assert schedule.symmetry.order == 9
    assert valid(schedule)
    assert schedule.completion_time <= 1.15 * (net.terminal_count - 1) + 5


@pytest.mark.parametrize("task", ["reduce-scatter", "allreduce"])
@pytest.mark.parametrize("times", [(1, 0), (20, 1)])
def test_reductions_of_dragonflies_need_no_switches_that_combine(task, times):
    net = scrambled(parse(DRAGONFLY)).with_times(*times)
    name = {"reduce-scatter": "reversed-translated-switch-trees", "allreduce": "translated-switch-trees-both-ways"}
    plan = gossamer.plan(net, task, algorithm=name[task])
    assert plan.schedule.symmetry.order == 9
    assert valid(plan.schedule)


@pytest.mark.parametrize(
    ("algorithm", "task"),
    [(TRANSLATED_TREES, "allgather"), (TRANSLATED_REDUCTION, "allreduce"), (TRANSLATED_PATHS, "alltoall")],
)
def test_what_is_planned_for_one_rank_of_an_orbit_says_so(algorithm, task):
    assert algorithm.propose(Case(parse(DRAGONFLY), gossamer.task(task))).composed


def test_exchanges_of_dragonflies():
    net = scrambled(parse(DRAGONFLY))
    schedule = translated_exchange(Case(net, gossamer.task("alltoall")))
    assert valid(schedule)
    assert schedule.completion_time <= 1.3 * (net.terminal_count - 1) + 5


@pytest.mark.parametrize("task", ["allgather", "reduce-scatter", "allreduce", "alltoall"])
def test_plans_from_a_list_of_links(task):
    net = scrambled(without("torus:8x8" if task == "allreduce" else "torus:8x8x8", (0, 1)))
    plan = gossamer.plan(net, task, cost=gossamer.TimeCost("1GiB", bandwidth="50GB/s", latency="1us"))
    assert plan.verification.ok
    assert plan.ratio <= (1.03 if task == "allreduce" else 1.25)
    assert "translated" in plan.algorithm or task != "alltoall"


@pytest.mark.parametrize("column", ["again", "source", "hops_again", "port", "turn"])
def test_columns_of_repairs_are_equally_long(column):
    good = sound_exchange(Case(without("torus:8x8", (0, 1)), gossamer.task("alltoall")))
    columns = {name: getattr(good, name) for name in ("again", "source", "hops_again", "port", "turn")}
    columns[column] = columns[column][:-1]
    with pytest.raises(ScheduleError, match="columns of different lengths"):
        RepairedSchedule(good.sound, good.network, good.place, *columns.values())
