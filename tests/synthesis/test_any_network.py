"""No refusal: every task has an algorithm on every connected network, under all rules of ports and switches."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.bounds import bounds
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TASKS, Chunked, Grouped, Together
from gossamer.testing import tasks_of

from .zoo import zoo

NETWORKS = zoo()
PORTS = ("all", "one", "one-send", "one-receive")


def covering(case):
    return [a for a in ALGORITHMS if a.timed and not a.name.endswith("exact") and a.covers(case)]


def rules_of(draw, network):
    switches = {name: bool(draw.integers(2)) for name in ("cut_through", "replication", "reduction")}
    return Rules(ports=str(draw.choice(PORTS)), **switches).on(network)


@pytest.mark.exhaustive(always=15)
@pytest.mark.parametrize("number", range(len(NETWORKS)), ids=lambda i: f"{i}-{NETWORKS[i].spec}")
def test_every_task_on_every_network(number):
    network, draw = NETWORKS[number], np.random.default_rng(number)
    for k, kind in enumerate((*TASKS.values(), Chunked, Grouped, Together)):
        samples = list(tasks_of(kind, network, number))
        if not samples:  # no terminal has a neighbor
            continue
        task = samples[draw.integers(len(samples))]
        case = Case(network, task, rules_of(draw, network), seed=number)
        found = covering(case)
        assert found, f"{task.describe()} on {network.spec} with {case.rules}"
        if (number + k) % 3:  # each network builds for another third of the tasks
            continue
        schedule = found[draw.integers(len(found))].build(case)
        verification = gossamer.verify(schedule)
        assert verification.ok, f"{schedule.algorithm} for {task.describe()}, {case.rules}: {verification}"
        limits = bounds(case)
        if not case.rules.cut_through and limits:
            assert schedule.completion_time >= limits[0].value, schedule.algorithm


def test_same_seed_gives_the_same_schedule():
    network = NETWORKS[8]
    for name in ("allgather", "alltoall", "allreduce"):
        case, again = (Case(network, gossamer.task(name), seed=4) for _ in range(2))
        assert [a.build(case) for a in covering(case)] == [a.build(again) for a in covering(again)]
