"""Every task on networks of all kinds: which schedules have certificates, and how many of their bounds are certified.

``python tests/certificates/table.py [FIRST LAST]`` prints, for these of the networks, the share of bounds that the
checker counts again, and a list of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

import gossamer
import gossamer_check
from gossamer.bounds import Bound, bounds
from gossamer.errors import GossamerError, ScheduleError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks import Network
from gossamer.planning.certificates import certificate, certificate_text
from gossamer.questions.cases import Case
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import TASKS, DemandTable, Grouped, OneToManyRouting, Permutation, Task, UnevenExchange
from gossamer.schedules import Schedule

NETWORKS = (
    "ring:4", "ring:7", "array:6", "array:2x3", "array:3x3", "torus:3x3", "torus:4x4", "torus:2x2x3", "hypercube:3",
    "hypercube:4", "complete:5", "star:3", "ccc:3", "kautz:2,2", "kautz:3,2", "de-bruijn:2,3", "circulant:7,1,2",
    "circulant:12,1,5", "fat-tree:k=2,h=2", "fat-tree:k=2,h=3", "fat-tree:k=2,h=2,capacity=exponential",
    "leaf-spine:leaves=2,spines=2,hosts=2", "leaf-spine:leaves=3,spines=1,hosts=2", "dragonfly:a=2,h=1,g=2,p=1",
    "servers:s=2,g=2,inside=2", "array:8", "array:3x3,capacity=2x1", "torus:2x3,occupancy=2x1,latency=1x0",
    "torus:4x3,occupancy=1x2", "array:2x2x2", "ring:5", "ring:6", "array:5", "array:2x4", "torus:3x4", "complete:4",
    "circulant:9,1,2", "circulant:8,1,3", "hypercube:2", "ring:8",
)  # fmt: skip
KINDS = ("plain", "timed", "grouped", "steady")

NOT_CERTIFIED = {
    "fat-tree:k=2,h=2,capacity=exponential plain total-exchange": "the mean time on the way has no law",
}
"""The schedules whose largest bound is not certified, with the reasons."""


class Row(NamedTuple):
    """A schedule: why it has no certificate, or its time there; the largest bound, and the one certified."""

    kind: str
    task: str
    refused: str
    time: Fraction
    claimed: Fraction | None
    bound: Bound | None
    certified: Fraction | None

    @property
    def missed(self) -> bool:
        """Whether the checker counts less than the largest bound."""
        return self.bound is not None and self.bound.value > (self.certified or 0)


def task_of(name: str, ranks: int) -> Task:
    """A task of the table for so many ranks, some of them active."""
    table: dict[str, Any] = TASKS
    some = tuple(range(0, ranks, 2))
    counts = [1 + v % 2 for v in range(ranks)]
    made: Task
    if name == "demands":
        made = DemandTable.of([(0, [1, ranks - 1], 2), (ranks - 1, [1], 1)], contributions=[([0, 1], [ranks - 1], 1)])
    elif name == "one-to-many-routing":
        made = OneToManyRouting(((1, 2), (0,), *(((),) * (ranks - 2))))
    elif name == "permutation":
        made = Permutation(tuple(ranks - 1 - v for v in range(ranks)))
    elif name == "uneven-exchange":
        made = UnevenExchange(tuple(tuple((u + 2 * v) % 3 * (u != v) for v in range(ranks)) for u in range(ranks)))
    elif name in ("multiple-broadcast", "multiple-reduce"):
        made = table[name](counts)
    elif name in ("uneven-gather", "uneven-scatter"):
        made = table[name](counts, 0)
    elif ("partial-" in name and name != "partial-sum-allreduce") or name == "group-multinode-broadcast":
        made = table[name](list(some))
    else:
        made = gossamer.task(name)
    return made


def planned(kind: str, network: Network, name: str) -> Schedule:
    """A plan of a task: as it is, over links that take times, in two groups, or again and again."""
    ranks = network.terminal_count
    if kind == "timed":
        network = network.with_times(2, 1)
    task = task_of(name, ranks)
    if kind == "grouped":
        half = ranks // 2
        task = Grouped(task_of(name, half), (tuple(range(half)), tuple(range(half, 2 * half))))
    found = gossamer.plan(network, task).schedule
    return Generation(found).repeated(3) if kind == "steady" else found


def rows(spec: str, kinds: tuple[str, ...] = KINDS) -> Iterator[Row]:
    """Yield what is certified of all tasks on a network; nothing of those that cannot be planned there."""
    network = gossamer.network(spec)
    for kind in kinds:
        for name in sorted(TASKS):
            try:
                schedule = planned(kind, network, name)
            except GossamerError:
                continue
            if not gossamer.verify(schedule).ok:
                continue  # partial sums that are repeated may be wrong
            known = bounds(Case(schedule.network, schedule.task, schedule.rules, schedule.cost))
            most = max(known, key=lambda b: b.value, default=None)
            try:
                data = certificate(schedule, known)
                gossamer_check.check(certificate_text(data))
            except (ScheduleError, gossamer_check.Refused) as reason:
                yield Row(kind, name, str(reason), schedule.completion_time, None, most, None)
                continue
            length = schedule.cost.slot_seconds if isinstance(schedule.cost, Clock) else Fraction(1)
            time, bound = (None if value is None else Fraction(value) / length for value in data["claim"].values())
            yield Row(kind, name, "", schedule.completion_time, time, most, bound)


def main() -> None:
    """Print the bounds that are not certified, and how many are."""
    count = certified = 0
    for spec in NETWORKS[slice(*map(int, sys.argv[1:]))] if sys.argv[1:] else NETWORKS:
        for row in rows(spec):
            count += 1
            certified += not row.refused and not row.missed
            if row.refused or row.missed:
                known = NOT_CERTIFIED.get(f"{spec} {row.kind} {row.task}", "")
                why = row.refused or known or f"{row.bound.text if row.bound else ''}; certified {row.certified}"
                print(f"{spec} {row.kind} {row.task}: {why}")
        print(f"{spec}: so far {count} schedules, {certified} certified with the largest bound", flush=True)


if __name__ == "__main__":
    main()
