"""What a failure costs: a task planned on a network without each of its cables."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.atomic_files import Rows, attributes, plain, quantity, seconds_text
from gossamer.errors import FileFormatError, GossamerError, ModelError
from gossamer.networks import as_network
from gossamer.networks.cable_orbits import cable_orbits, orbits_of_sets
from gossamer.networks.derived import cables
from gossamer.networks.network import Network
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions import tasks
from gossamer.questions.costs import AskedCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, as_task
from gossamer.reading import seed as read_seed
from gossamer.reading import whole
from gossamer.studies.sweeps.executors import run_points

__all__ = ["Fault", "FaultReport", "faults", "planned_failures"]

Say = Callable[[str], None]

_ALIKE = (
    *(tasks.MultinodeBroadcast, tasks.TotalExchange, tasks.ReduceScatter),
    *(tasks.Allreduce, tasks.PartialSumAllreduce),
)
"""Tasks that look the same after any symmetry of the network."""
_ROOTED = (tasks.Broadcast, tasks.Scatter, tasks.Gather, tasks.Reduce)
"""Tasks that look the same after any symmetry that leaves the root where it is."""


@dataclass(frozen=True)
class Fault:
    """One failure, and what it costs.

    * `links` (str): the cables that fail.
    * `stands_for` (int): how many failures are equal to it by a symmetry of the network, itself included.
    * `time`, `bound` (Fraction or None): completion time and largest lower bound, in seconds or in the unit of the
      cost; None if nothing was planned.
    * `slowdown` (float or None): the time over that of the sound network.
    * `algorithm` (str): by which algorithm.
    * `refusal` (str): why nothing was planned, or an empty text.
    * `file` (str): where the schedule is, or an empty text.
    """

    links: str
    stands_for: int
    time: Fraction | None = None
    bound: Fraction | None = None
    slowdown: float | None = None
    algorithm: str = ""
    refusal: str = ""
    file: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON and tables."""
        texts = attributes(self, "algorithm refusal file")
        numbers = attributes(self, "links stands_for time bound slowdown")
        return numbers | {name: text or None for name, text in texts.items()}


@dataclass(frozen=True)
class FaultReport(Rows):
    """What failures of a network cost a task.

    Iterating gives one mapping of plain values a failure, which pandas reads.

    Attributes
    ----------
    sound : Outcome
        What the task takes on the sound network.
    faults : tuple of Fault
        Each failure that was planned or refused, those that cost most first.
    possible : int
        How many failures there are.
    stopped : str
        Why not all were planned, or an empty text.
    """

    sound: Outcome
    faults: tuple[Fault, ...]
    possible: int
    stopped: str = ""

    @property
    def planned(self) -> tuple[Fault, ...]:
        """The failures of which there is a schedule."""
        return tuple(f for f in self.faults if f.time is not None)

    @property
    def refused(self) -> tuple[Fault, ...]:
        """The failures of which there is none."""
        return tuple(f for f in self.faults if f.time is None)

    @property
    def covered(self) -> int:
        """How many failures are looked at, those that are equal by symmetry included."""
        return sum(f.stands_for for f in self.faults)

    @property
    def worst(self) -> Fault | None:
        """The failure that costs most."""
        return self.planned[0] if self.planned else None

    @property
    def mean_slowdown(self) -> float | None:
        """The slowdown on the average of the failures that were planned."""
        weight = sum(f.stands_for for f in self.planned)
        return sum((f.slowdown or 0) * f.stands_for for f in self.planned) / weight if weight else None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (fault.to_dict() for fault in self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "summary": self.summary,
            "asked_task": self.sound.word,
            "network": self.sound.case.network.spec,
            "task": self.sound.case.task.name,
            "unit": self.unit,
            "sound_time": plain(_times(self.sound)[0]),
            "sound_bound": plain(_times(self.sound)[1]),
            "sound_algorithm": self.sound.algorithm,
            **attributes(self, "possible covered"),
            "planned": sum(f.stands_for for f in self.planned),
            "worst_slowdown": None if self.worst is None else self.worst.slowdown,
            "mean_slowdown": self.mean_slowdown,
            "faults": list(self),
            "stopped": self.stopped or None,
        }

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return self.sound.case.cost.unit if self.sound.clock is None else "second"

    @property
    def summary(self) -> str:
        """What a failure costs at worst and on the average, in a sentence."""
        sound, worst = self.sound, self.worst
        told = sound.measured
        if worst is None or worst.time is None:
            return f"{told}; no failure could be planned"
        mean = "" if len(self.planned) == 1 else f"; on the average {self.mean_slowdown:.4g} times"
        return f"{told}; at worst {self.time_text(worst.time)}, {self._slower(worst)}, without {worst.links}{mean}"

    def _slower(self, fault: Fault) -> str:
        """Return how a time compares with that without failures."""
        return "no slower" if fault.slowdown == 1 else f"{fault.slowdown:.4g} times as long"

    def _alike(self) -> str:
        """Say so where one failure was looked at for several."""
        return f", {len(self.faults):,} of them different by symmetry" if len(self.faults) < self.covered else ""

    def time_text(self, time: Fraction) -> str:
        """Return a time of the report for people, with its unit."""
        if self.sound.clock is not None:
            return seconds_text(time)
        return self.sound.switching.time_text(self.sound.case.cost, time)

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        sound, text = self.sound, self.time_text
        time, bound = _times(sound)
        found = [
            ("network", f"{sound.case.network.spec}: {quantity(sound.case.network.node_count, 'node')}"),
            *([("task", sound.task.describe())] if sound.task.describe() != sound.word else []),
            ("no failures", f"{text(time)}, by {sound.algorithm}; lower bound {text(bound)}{_holds(sound)}"),
            ("failures", f"{self.covered:,} of {self.possible:,}{self._alike()}"),
        ]
        if (worst := self.worst) is not None and worst.time is not None and worst.bound is not None:
            slower = f"{text(worst.time)}, {self._slower(worst)}, without {worst.links}"
            found.append(("worst", f"{slower}; lower bound {text(worst.bound)}; by {worst.algorithm}"))
            found.append(("average", f"{self.mean_slowdown:.4g} times as long"))
        if self.refused:
            first = self.refused[0]
            count = sum(f.stands_for for f in self.refused)
            found.append(("not planned", f"{count:,}; without {first.links}: {first.refusal}"))
        return found + ([("stopped", self.stopped)] if self.stopped else [])

    def __repr__(self) -> str:
        return self.summary


def faults(
    network: Network | Any,
    task: Task | str,
    *,
    links: int = 1,
    sample: int = 200,
    save: str | os.PathLike[str] | None = None,
    switching: str = "store-and-forward",
    rules: Rules | None = None,
    cost: AskedCost | None = None,
    algorithm: str = "best",
    options: Mapping[str, Any] | None = None,
    effort: str = "search",
    memory: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    jobs: int | None = 1,
    progress: Say | None = None,
) -> FaultReport:
    """Plan a task on a network without each of its cables, and say what that costs.

    Parameters
    ----------
    network, task, switching, rules, cost, algorithm, options, effort, memory, budget, progress
        As for `gossamer.plan`; the budget is for each failure.
    links : int
        Cables that fail at once, both ways.
    sample : int
        Failures to plan at most; a random choice of them where there are more.
    save : path, optional
        A folder for the schedules, one file for each failure; it is made if it is not there.
    seed : int
        For the choice of failures, and for algorithms that make random choices.
    jobs : int or None
        Failures planned at once; None for one a processor. The report is the same.

    Returns
    -------
    FaultReport
        The worst and the mean slowdown beside the bounds. Every schedule was verified. An interrupt ends the search:
        what was found until then is returned, and `stopped` says so.

    Raises
    ------
    GossamerError
        If what is asked is illegal, or nothing covers the case on the sound network.

    Notes
    -----
    Failures that a symmetry of the network takes into each other are planned once: the schedule of one, renamed, is
    that of the others. Where the task looks the same from everywhere (multinode broadcast, total exchange,
    reduce-scatter, allreduce) it may be any symmetry, where it has a root one that leaves the root where it is.

    Examples
    --------
    >>> import gossamer
    >>> found = gossamer.faults("torus:4x4", "allgather")
    >>> len(found), found.covered, found.worst.time, found.worst.bound
    (1, 32, Fraction(5, 1), Fraction(5, 1))
    """
    net = as_network(network)
    made = as_task(task)
    ends = cables(net)
    how = {"switching": switching, "rules": rules, "cost": cost, "algorithm": algorithm, "options": options,
           "effort": effort, "memory": memory, "budget": budget, "seed": seed}  # fmt: skip
    say = progress or (lambda stage: None)
    chosen = planned_failures(net, made, links, sample, seed)
    sound = plan(net, made, **how, progress=lambda stage: say(f"without failures, {stage}"))  # type: ignore[arg-type]
    folder = None if save is None else _folder(save)
    before = _times(sound)[0]
    points = [
        FaultPoint(net, tuple((int(u), int(v)) for u, v in ends[list(failing)]), made, weight, before, how, folder)
        for failing, weight in chosen
    ]
    known: dict[int, Fault] = {}
    stopped = ""
    try:
        run_points(points, jobs=jobs, progress=progress, found=known.__setitem__)
    except KeyboardInterrupt:
        left = len(chosen) - len(known)
        stopped = f"interrupted; {quantity(left, 'failure')} {'is' if left == 1 else 'are'} not planned"
    found = [known[place] for place in sorted(known)]
    found.sort(key=lambda fault: -(fault.time or Fraction(0)))
    possible = math.comb(len(ends), links)
    if not stopped and sum(w for _, w in chosen) < possible:
        stopped = f"a sample of {sample:,} failures, at random"
    return FaultReport(sound, tuple(found), possible, stopped)


_MOST_SETS = 200_000
"""Sets of cables up to which all are looked at, and those that are alike found."""


def planned_failures(
    network: Network, task: Task, links: int = 1, sample: int = 200, seed: int = 0
) -> list[tuple[tuple[int, ...], int]]:
    """Return the cables of each failure that `faults` plans, and for how many failures it stands.

    `network`, `task`, `links`, `sample`, `seed`: as for `faults`, a network and a task.

    >>> from gossamer.networks import ring
    >>> planned_failures(ring(5), as_task("allgather"), links=2)
    [((0, 1), 5), ((0, 3), 5)]
    """
    rng = np.random.default_rng(read_seed(seed))
    count = len(cables(network))
    links, sample = whole(links, "links", 1, max(1, count)), whole(sample, "sample", 1, 10**6)
    inner = task.task if isinstance(task, tasks.Chunked) else task
    root = inner.root if isinstance(inner, _ROOTED) else None
    every: list[tuple[tuple[int, ...], int]]
    if math.comb(count, links) > _MOST_SETS:
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < sample:
            drawn[tuple(sorted(rng.choice(count, links, replace=False).tolist()))] = None
        return [(chosen, 1) for chosen in drawn]
    sets = [*itertools.combinations(range(count), links)]
    if root is not None or isinstance(inner, _ALIKE):
        marked = () if root is None else (root,)
        orbit = cable_orbits(network, marked) if links == 1 else orbits_of_sets(network, links, marked)
        _, first, size = np.unique(orbit, return_index=True, return_counts=True)
        every = [(sets[i], n) for i, n in zip(first.tolist(), size.tolist(), strict=True)]
    else:
        every = [(chosen, 1) for chosen in sets]
    if len(every) > sample:
        every = [every[i] for i in np.sort(rng.choice(len(every), sample, replace=False))]
    return every


@dataclass(frozen=True)
class FaultPoint:
    """A failure to be planned.

    * `network`: the sound network.
    * `failing`: the ends of the cables that fail.
    * `task`: what is planned.
    * `weight`: for how many failures it stands.
    * `before`: the time on the sound network.
    * `how`: further arguments of `gossamer.plan`.
    * `folder`: where the schedule is saved.
    """

    network: Network
    failing: tuple[tuple[int, int], ...]
    task: Task
    weight: int
    before: Fraction
    how: Mapping[str, Any]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """The task, the network and the cables."""
        return f"{self.task.name} on {self.network.spec} without {', '.join(f'{u}-{v}' for u, v in self.failing)}"

    def run(self, progress: Say) -> Fault:
        """Plan the task on what is left, and save the schedule."""
        left = self.network.without(links=list(self.failing))
        words = left.spec.removeprefix(f"{self.network.spec} without ")
        try:
            found = plan(left, self.task, **self.how, progress=progress)
        except ModelError:
            raise
        except GossamerError as error:
            return Fault(words, self.weight, refusal=str(error))
        file = ""
        if self.folder is not None:
            path = self.folder / f"without-{re.sub('[^A-Za-z0-9]+', '-', words).strip('-')[:100]}.parquet"
            found.save(path)
            file = str(path)
        time, bound = _times(found)
        slowdown = float(time / self.before) if self.before else 1.0
        return Fault(words, self.weight, time, bound, slowdown, found.algorithm, file=file)


def _holds(outcome: Outcome) -> str:
    """Return the schedules for which the bound of an outcome holds, for people; nothing if all."""
    return f", for {outcome.bound_scope}" if outcome.bound_scope else ""


def _times(outcome: Outcome) -> tuple[Fraction, Fraction]:
    """Return completion time and bound, in seconds where there is a clock: that of each network is its own."""
    if outcome.seconds is not None and outcome.bound_seconds is not None:
        return outcome.seconds, outcome.bound_seconds
    return outcome.completion_time, outcome.bound


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot make the folder {str(path)!r}: {error.strerror}") from None
    return Path(path)
