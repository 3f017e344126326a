"""The checker on random demands against plain Python: copies, moves and reductions mixed, in groups, waiting; links
with times, switches, limited ports. The same schedules with faults, and each fault told alike."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from bounds.demand_cases import random_demands
from gossamer.algorithms.any_network.dependent_collectives import together
from gossamer.algorithms.any_network.priced_routing import routed
from gossamer.errors import GossamerError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import COMBINE
from gossamer.schedules import CONTROL, Schedule
from gossamer.verification import verify
from schedules import timed_twin
from schedules.test_waiting_tasks import early
from schedules.timed_strategies import mutated, random_network, random_rules

SEEDS = range(150)


def demand_schedule(seed: int) -> Schedule | None:
    """A legal schedule of random demands on a random network, None where it has fewer than two terminals."""
    rng = random.Random(seed)
    network = random_network(rng, plain=seed % 3 == 0)
    if network.terminal_count < 2:
        return None
    rules = random_rules(rng).on(network)
    case = Case(network, random_demands(rng, network.terminal_count), rules, seed=seed)
    mixed = case.messages.waits or bool((case.messages.discipline == COMBINE).any())
    return together(case) if mixed else routed(case)


def told(schedule: Schedule) -> dict[str, int]:
    """The violations by kind, in plain Python."""
    found = timed_twin.counted(schedule)
    if schedule.messages.waits and not found["wrong payload"]:
        moved = schedule.packet != CONTROL
        columns = {name: getattr(schedule, name)[moved] for name in ("slot", "link", "packet")}
        found["order"] += early(schedule.replace(**columns))
    return dict(+found)


def test_schedules_of_demands_are_valid_to_both():
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        schedule = demand_schedule(seed)
        if schedule is None:
            continue
        assert verify(schedule).ok, (seed, str(verify(schedule)))
        assert told(schedule) == {}, seed
        messages = schedule.messages
        seen.update(np.unique(messages.discipline).tolist())
        seen.update({"waits": bool(messages.waits), "times": not schedule.network.plain, schedule.rules.ports: 1})
    assert min(seen[key] for key in (0, 1, 2, "waits", "times", "one", "one-send", "one-receive", "all")) > 10


def test_faults_are_counted_alike():
    seen: Counter[str] = Counter()
    caught = tried = 0
    for seed in SEEDS:
        schedule = demand_schedule(seed)
        for way in range(3) if schedule is not None else ():
            try:
                changed = mutated(3 * seed + way, schedule)
            except GossamerError:
                continue
            expected = told(changed)
            assert dict(verify(changed, limit=4).counts) == expected, (seed, way)
            seen.update(expected)
            tried += 1
            caught += bool(expected)
    assert caught > tried / 2
    assert set(seen) >= {"causality", "delivery", "duplicate", "lost contribution", "order", "link capacity"}


@pytest.mark.parametrize("kind", ["drop", "early"])
def test_every_lost_or_earlier_hop_of_a_tight_schedule_is_caught(kind):
    """A reduction, what waits for it, and a result that goes on, on a line of slow links: nothing can be left out."""
    import gossamer
    from gossamer.questions.tasks import DemandTable, Together, task

    line = gossamer.network("array:4").with_times(2, 1)
    table = DemandTable.of([(0, [3], 1)], [([1, 3], [0, 2], 1)])
    schedule = together(Case(line, Together([task("reduce"), table], waits=[(1, 0)])))
    assert verify(schedule).ok
    for k in range(schedule.slot.size):
        keep = np.arange(schedule.slot.size) != k
        columns = {name: getattr(schedule, name) for name in ("slot", "link", "packet")}
        if kind == "drop":
            changed = schedule.replace(**{name: column[keep] for name, column in columns.items()})
        else:
            earlier = columns["slot"].copy()
            earlier[k] -= 1
            if earlier[k] < 0:
                continue
            order = np.argsort(earlier, kind="stable")
            changed = schedule.replace(**{n: c[order] for n, c in (columns | {"slot": earlier}).items()})
        assert not verify(changed).ok, (kind, k)
        assert told(changed), (kind, k)
