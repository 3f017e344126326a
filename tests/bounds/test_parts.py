"""What enters and leaves the parts of a network, all counted together."""

from __future__ import annotations

import random

import numpy as np
import pytest

import gossamer
from bounds.demand_cases import random_demands
from gossamer import Rules
from gossamer.bounds import bounds
from gossamer.bounds.partitions import moves_between, time_between
from gossamer.networks import Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import COMBINE, COPY
from gossamer.questions.tasks.composite_tasks import with_targets

LINKS = sorted(
    [(v, 8 + v // 2) for v in range(8)]
    + [(8 + v // 2, v) for v in range(8)]
    + [(8 + s, 12) for s in range(4)]
    + [(12, 8 + s) for s in range(4)]
)
THIN = Network("thin", 13, *zip(*LINKS, strict=True), terminal_count=8)
"""4 servers of 2 terminals with a switch, and one switch that joins the servers."""


def listed(messages, part, copies, combines):
    """The same count from the messages, one by one."""
    enter = leave = 0
    for row in range(messages.count):
        ends = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
        others = {part[v] for v in ends} - {part[messages.origin[row]]}
        size = 1 if messages.sizes is None else int(messages.sizes[row])
        kind = messages.discipline[row]
        enter += size * (min(len(others), 1) if kind == COMBINE and combines else len(others))
        leave += size * (min(len(others), 1) if kind == COPY and copies else len(others))
    return enter, leave


@pytest.mark.parametrize("seed", range(80))
def test_entering_and_leaving_are_counted_as_message_by_message(seed):
    rng = random.Random(seed)
    network = gossamer.network(rng.choice(["fat-tree:k=2,h=2", "fat-tree:k=3,h=2", "ring:6"]))
    task = rng.choice([random_demands(rng, network.terminal_count), gossamer.task("allreduce")])
    parts = rng.randint(1, network.terminal_count)
    part = np.array([rng.randrange(parts) for _ in range(network.terminal_count)])
    part = np.unique(part, return_inverse=True)[1]
    part = np.append(part, np.full(network.node_count - part.size, -1))
    copies, combines = rng.random() < 0.5, rng.random() < 0.5
    case = Case(network, task)
    found = [moves_between(d, part, copies, combines) for d in case.demands]
    told = with_targets(case.messages, network.terminal_count)
    assert tuple(sum(side) for side in zip((0, 0), *found, strict=True)) == listed(told, part, copies, combines)


def test_reductions_enter_every_server_whose_switches_do_not_combine():
    """Rails of 4 servers of 2: each of 4 blocks of a rail enters 3 servers to be added up and 3 with its result."""
    rails = gossamer.task("allreduce", groups=[[0, 2, 4, 6], [1, 3, 5, 7]])
    part = np.array([0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3, -1])
    time, load, links = time_between(Case(THIN, rails), part, True)
    assert (time, load.needed, links.size) == (
        15,
        2 * 4 * (3 + 3),
        4,
    )  # 12 into each server, 2 before, 1 after
    reducing = Case(THIN, rails, Rules(reduction=True))
    assert time_between(reducing, part, True)[1].needed == 2 * 4 * (1 + 3)


def test_the_bound_between_servers_is_met_nearly():
    rails = gossamer.task("allreduce", packets=4, groups=[[0, 2, 4, 6], [1, 3, 5, 7]])
    outcome = gossamer.plan(THIN, rails)
    names = {b.name: b.value for b in bounds(Case(THIN, rails))}
    assert names["between parts"] == outcome.bound > names["cut around nodes"]
    assert outcome.completion_time <= outcome.bound * 11 / 10


def test_a_single_message_or_plain_links_without_switches_have_no_such_bound():
    for spec, name in (("ring:8", "allgather"), ("fat-tree:k=2,h=2", "alltoall")):
        assert all(b.name != "between parts" for b in bounds(Case(gossamer.network(spec), gossamer.task(name))))
