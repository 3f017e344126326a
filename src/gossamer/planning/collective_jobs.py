"""Jobs: several collectives planned as one schedule, with the time of each alone beside its time among the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.atomic_files import Tabled, seconds_text
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.costs import AskedCost, Clock, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, Task, in_packets, packets_of
from gossamer.questions.tasks.job import Job
from gossamer.schedules import CONTROL
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows

__all__ = ["CollectiveTimes", "JobOutcome", "plan_job"]


@dataclass(frozen=True)
class CollectiveTimes:
    """When a collective of a job happens; times in slots of the job's clock.

    * `name`: the collective.
    * `begin`, `end`: the slot of its first hop among the others, and the slot at whose beginning its last hop has
      ended.
    * `alone`: how long it takes by itself.
    * `bound`: what no schedule of it by itself can beat.
    """

    name: str
    begin: int
    end: int
    alone: Fraction
    bound: Fraction


@dataclass(frozen=True)
class JobOutcome(Tabled):
    """What planning a job came to.

    * `job`: what was asked.
    * `outcome`: the schedule of all collectives together, verified, beside its bounds.
    * `collectives`: each collective, in the order of the job.
    """

    job: Job
    outcome: Outcome
    collectives: tuple[CollectiveTimes, ...]

    @property
    def clock(self) -> Clock:
        """The clock of the job."""
        assert self.outcome.clock is not None
        return self.outcome.clock

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people: a collective a row."""
        columns = ("collective", "begins", "ends", "takes", "alone", "bound alone")
        rows = []
        for c in self.collectives:
            times = (Fraction(c.begin), Fraction(c.end), Fraction(c.end - c.begin), c.alone, c.bound)
            rows.append((c.name, *(seconds_text(self.clock.seconds(t)) for t in times)))
        return columns, tuple(rows)

    @property
    def summary(self) -> str:
        """What a person wants to know, in a sentence."""
        return self.outcome.summary

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        return [*self.outcome.rows(), *super().rows()]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        seconds = {
            c.name: {
                "begin_seconds": float(self.clock.seconds(Fraction(c.begin))),
                "end_seconds": float(self.clock.seconds(Fraction(c.end))),
                "alone_seconds": float(self.clock.seconds(c.alone)),
                "bound_seconds": float(self.clock.seconds(c.bound)),
            }
            for c in self.collectives
        }
        return {**self.outcome.to_dict(), "collectives": seconds}


def plan_job(
    network: Network | Any,
    job: Job,
    *,
    cost: Mapping[str, Any] | None = None,
    rules: Rules | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **search: Any,
) -> JobOutcome:
    """Plan all collectives of a job as one schedule, and each of them alone.

    * `network`, `rules`, `seed`, `progress`: as for `gossamer.plan`.
    * `job`: as `gossamer.questions.tasks.job.read_job` reads it.
    * `cost`: ``bandwidth`` and ``latency`` of every link, where the network has none of its own.
    * `**search`: ``algorithm``, ``effort`` and ``budget`` of `gossamer.plan`.

    Returns: of schedules that were all verified. Raises `GossamerError`: as `gossamer.plan` does.

    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.questions.tasks.job import read_job
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.toml"
    >>> _ = path.write_text('''
    ... collectives = [{task = "reduce", bytes = 1000}, {task = "broadcast", bytes = 1000, after = "reduce"}]
    ... packet = 1000
    ... ''')
    >>> net = gossamer.network("ring:8")
    >>> found = plan_job(net, read_job(path, net), cost={"bandwidth": "1GB/s"})
    >>> [(c.begin, c.end, int(c.alone)) for c in found.collectives]
    [(0, 4, 4), (4, 8, 4)]
    """
    say = progress or (lambda stage: None)

    def planned(net: Network, task: Task, cost: AskedCost, **options: Any) -> Outcome:
        return plan(net, task, cost=cost, rules=rules, seed=seed, progress=progress, **options)

    union = planned(as_network(network), job.together, TimeCost(job.packet_bytes, **dict(cost or {})), **search)
    times = _times(union)
    found = []
    for i, collective in enumerate(job.collectives):
        say(f"planning {collective.name} alone")
        # on links of the same slots, by the same clock
        task, effort = collective.packets(job.packet_bytes), search.get("effort", "search")
        task = in_packets(task, packets_of(task) * packets_of(union.case.task))
        alone = planned(union.case.network, task, union.case.cost, effort=effort)
        found.append(CollectiveTimes(collective.name, *times[i], alone.completion_time, alone.bound))
    return JobOutcome(job, union, tuple(found))


def _times(union: Outcome) -> list[tuple[int, int]]:
    """Return the first slot and the end of the hops of each collective; (0, 0) of one that needs none."""
    schedule = union.schedule
    task: Any = schedule.task.task if isinstance(schedule.task, Chunked) else schedule.task
    first = task.first_ids(schedule.network)
    table = schedule.packets
    assert int(message_rows(schedule.messages, table).min(initial=0)) >= 0  # it was verified
    which = np.searchsorted(first, table.message, "right") - 1
    hop = schedule.packet != CONTROL
    collective = which[schedule.packet[hop]]
    end = hop_ends(schedule.network, schedule.parts, schedule.slot[hop], schedule.link[hop])
    found = []
    for i in range(len(first)):
        mine = collective == i
        found.append((int(schedule.slot[hop][mine].min()), int(end[mine].max())) if mine.any() else (0, 0))
    return found
