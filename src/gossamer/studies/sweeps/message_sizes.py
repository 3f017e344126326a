"""What is best for how many bytes: a task planned or compared over sizes, with the sizes at which the best changes."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from gossamer.atomic_files import Tabled, bandwidth_text, bytes_text, seconds_text
from gossamer.bounds.allreduce_any_form import sums_of
from gossamer.errors import ModelError, ScheduleError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.allreduce_variants import exact_bounds, of_question
from gossamer.planning.explaining.advice import AskedAgain
from gossamer.planning.explaining.explanation import Beside, beside
from gossamer.planning.outcome import Comparison, Outcome
from gossamer.planning.plan_resizing import resized
from gossamer.planning.planner import compare, plan
from gossamer.planning.switching.resource_limits import time_text
from gossamer.questions.cases import Case
from gossamer.questions.costs import Clock, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, as_task
from gossamer.reading.quantities import sizes as read_sizes
from gossamer.studies.sweeps.executors import run_points

_NEAR, _ABOUT = 1.02, 1.1
"""A crossover is found to within these factors, the latter of usual algorithms."""
_USUAL_BUDGET = 60.0
"""Seconds of each size after which no further usual algorithm is begun."""
_MOST_SIZES = 200

Say = Callable[[str], None]


class Crossover(NamedTuple):
    """From `bytes` on, within 2 %, `after` is faster than `before`, which is best for fewer bytes."""

    bytes: int
    before: str
    after: str


@dataclass(frozen=True)
class SizeComparison(Tabled):
    """A task compared for several numbers of bytes.

    Iterating gives one mapping of plain values a size, which pandas reads.

    `sizes`: the bytes, ascending. `comparisons`: every algorithm, ranked, for each size. `crossovers`: where the best
    algorithm changes, ascending.
    """

    sizes: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    crossovers: tuple[Crossover, ...]

    @property
    def best(self) -> tuple[Outcome, ...]:
        """The fastest for each size."""
        return tuple(c.best for c in self.comparisons)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that cover the case at some size, those that are best somewhere first."""
        winners = (o.algorithm for o in self.best)
        others = (o.algorithm for c in self.comparisons for o in c.outcomes)
        return tuple(dict.fromkeys([*winners, *others]))

    def times(self) -> Iterator[tuple[str, list[Fraction | None]]]:
        """Yield each algorithm with its seconds for each size, None where it does not cover the case."""
        for name in self.algorithms:
            found = [next((o for o in c.outcomes if o.algorithm == name), None) for c in self.comparisons]
            yield name, [None if o is None else o.seconds for o in found]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for size, outcome in zip(self.sizes, self.best, strict=True):
            yield {"bytes": size, "algorithm": outcome.algorithm, **outcome.in_seconds(), "ratio": outcome.ratio}

    def __len__(self) -> int:
        return len(self.sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        case = self.comparisons[0].case
        return {
            "network": case.network.spec,
            "task": case.task.name,
            "rules": case.rules.to_dict(),
            "sizes": list(self),
            "crossovers": [c._asdict() for c in self.crossovers],
            "algorithms": {
                name: [_seconds(c, name) for c in self.comparisons] for name in self.algorithms
            },
        }  # fmt: skip

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people: a size a row."""
        return _table(self.sizes, self.best, "fastest", [outcome.algorithm for outcome in self.best])

    def remarks(self) -> list[tuple[str, str]]:
        """Return where the best algorithm changes."""
        starred = {outcome.among for outcome in self.best if outcome.optimal and outcome.among}
        found = [("optimal*", f"among {scope}") for scope in sorted(starred)]
        case = self.comparisons[0].case
        if sums_of(case.network, case.task):
            found.append(
                ("compared", "unsegmented messages by reduce-scatter + allgather; 'gossamer plan' tries all forms")
            )
        return found + [("crossover", crossover_text(c)) for c in self.crossovers]


def _table(
    sizes: Sequence[int], outcomes: Sequence[Outcome], what: str, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return columns and rows of outcomes that have names, a size a row."""
    columns = ("bytes", what, "time", "bound", "x bound", "algorithm bandwidth", "bus bandwidth")
    rows = []
    for size, outcome, name in zip(sizes, outcomes, names, strict=True):
        times = ["-" if t is None else seconds_text(t) for t in (outcome.seconds, outcome.bound_seconds)]
        rates = ["-" if r is None else bandwidth_text(r) for r in (outcome.bandwidth, outcome.bus_bandwidth)]
        rows.append((bytes_text(size), name, *times, outcome.ratio_text, *rates))
    return columns, tuple(rows)


@dataclass(frozen=True)
class SizePlans(Tabled):
    """A task planned for several numbers of bytes.

    Iterating gives one mapping of plain values a size, which pandas reads.

    * `sizes`: the bytes, ascending.
    * `best`: the plan for each size.
    * `crossovers`: from where on the plan for more bytes is faster than that for fewer, ascending, told of other plans
      alone; of usual algorithms, where the fastest of these changes.
    * `beside`: for each size the usual rings, trees and exchanges, each with the number of packets a message that takes
      least; none where they were not asked for.
    * `remark`: why there are none, or an empty text.
    """

    sizes: tuple[int, ...]
    best: tuple[Outcome, ...]
    crossovers: tuple[Crossover, ...]
    beside: tuple[tuple[Beside, ...], ...] = ()
    remark: str = ""

    @property
    def usual(self) -> dict[str, tuple[Beside, ...]]:
        """What each usual algorithm takes, a size each; those that run at some size."""
        names = sorted({each.name for row in self.beside for each in row if each.time is not None})
        rows = [{each.name: each for each in row} for row in self.beside]
        return {name: tuple(row[name] for row in rows) for name in names}

    def times(self) -> Iterator[tuple[str, list[Fraction | None]]]:
        """Yield the plan and each usual algorithm with its seconds for each size, None where it does not run."""
        yield "plan", [outcome.seconds for outcome in self.best]
        for name, row in self.usual.items():
            yield name, [each.time for each in row]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for k, (size, outcome) in enumerate(zip(self.sizes, self.best, strict=True)):
            told = {"bytes": size, "algorithm": outcome.algorithm, "form": _form(outcome)}
            usual = {name: float(row[k].time or 0) or None for name, row in self.usual.items()}
            yield {**told, **outcome.in_seconds(), "ratio": outcome.ratio, **({"usual": usual} if usual else {})}

    def __len__(self) -> int:
        return len(self.sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        case = self.best[0].case
        task = self.best[0].asked or case.task
        told = {"network": case.network.spec, "task": task.name, "rules": case.rules.to_dict()}
        packets = {name: [each.packets for each in row] for name, row in self.usual.items()}
        found = {**told, "sizes": list(self), "crossovers": [c._asdict() for c in self.crossovers]}
        return {**found, **({"packets": packets} if packets else {})}

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people: a size a row."""
        usual = self.usual
        if not usual:
            return _table(self.sizes, self.best, "plan", [_name(outcome) for outcome in self.best])
        rows = []
        for k, (size, outcome) in enumerate(zip(self.sizes, self.best, strict=True)):
            times = ["-" if t is None else seconds_text(t) for t in (outcome.seconds, outcome.bound_seconds)]
            rows.append((bytes_text(size), *(_cut_text(row[k]) for row in usual.values()), *times, outcome.ratio_text))
        return ("bytes", *usual, "plan", "bound", "plan / bound"), tuple(rows)

    def remarks(self) -> list[tuple[str, str]]:
        """Return where the plan changes; of usual algorithms where the fastest of them does, and which do not run."""
        found = [("not compared", self.remark)] if self.remark else []
        if any(each.packets > 1 for row in self.usual.values() for each in row):
            found.append(("in parentheses", "packets a message, where several take less than one"))
        first = self.beside[0] if self.beside else ()
        found += [(each.name, each.skipped) for each in first if each.name not in self.usual]
        return found + [("crossover", crossover_text(c)) for c in self.crossovers]


def _cut_text(each: Beside) -> str:
    """Return what a usual algorithm takes, with its packets a message if there are several."""
    if each.time is None:
        return "-"
    return seconds_text(each.time) + (f" ({each.packets})" if each.packets > 1 else "")


def _form(outcome: Outcome) -> str:
    """Return the form of a plan in words."""
    return outcome.forms[0].words if outcome.forms else ""


def _name(outcome: Outcome) -> str:
    """Return what a plan is called: its form without numbers of packets, and its algorithm."""
    form = _form(outcome).partition(",")[0].partition(" in ")[0]
    plain = not form or form[0].isdigit() or form == "unsegmented"
    return outcome.algorithm if plain else f"{form}: {outcome.algorithm}"


def crossover_text(crossover: Crossover) -> str:
    """Return a crossover in words.

    >>> crossover_text(Crossover(4096, "a", "b")), crossover_text(Crossover(1582472, "a", "b"))
    ('from 4 KiB on b is faster than a', 'from about 1.51 MiB on b is faster than a')
    """
    size = bytes_text(crossover.bytes)
    if len(size) > len("1023 KiB"):  # known to within a few percent
        power = (crossover.bytes.bit_length() - 1) // 10
        size = f"about {crossover.bytes / 1024**power:.3g} {' KMGTP'[power]}iB"
    return f"from {size} on {crossover.after} is faster than {crossover.before}"


def compare_sizes(
    network: Network | Any,
    task: Task | str,
    sizes: str | Sequence[int],
    *,
    cost: Mapping[str, Any] | None = None,
    rules: Rules | None = None,
    options: Mapping[str, Any] | None = None,
    effort: str = "search",
    memory: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    jobs: int | None = 1,
    progress: Say | None = None,
) -> SizeComparison:
    """Compare every algorithm for several numbers of bytes, and find the sizes at which the best changes.

    Parameters
    ----------
    network, task, rules, options, effort, memory, budget, seed, progress
        As for `gossamer.compare`; the budget is for each size.
    sizes : str or sequence of int
        Bytes: numbers, or a text such as ``"1KiB,1MiB"`` or ``"1KiB:1GiB"`` (each four times the one before;
        ``"1KiB:1GiB:2"`` twice).
    jobs : int or None
        Sizes compared at once; None for one a processor. What is found is the same.
    cost : mapping, optional
        Further fields of `gossamer.TimeCost`: ``counting``, ``bandwidth``, ``latency``.

    Returns
    -------
    SizeComparison
        Of schedules that were all verified.

    Raises
    ------
    GossamerError
        If what is asked is illegal or no algorithm covers the case.

    Notes
    -----
    Links whose times are in the same proportions for two sizes are compared once.

    Examples
    --------
    >>> found = compare_sizes("ring:6", "allgather", "1KiB:1MiB", cost={"bandwidth": "50GB/s"})
    >>> found.sizes, found.best[0].algorithm, found.crossovers
    ((1024, 4096, 16384, 65536, 262144, 1048576), 'translated-tree', ())
    """
    ordered, made = _ascending(sizes), as_task(task)
    how = {"rules": rules, "options": options, "effort": effort, "memory": memory, "budget": budget, "seed": seed}
    ladder = _Ladder(as_network(network), made, dict(cost or {}), how, progress)
    found = dict(zip(ordered, ladder.at(ordered, jobs), strict=True))
    crossovers = [c for a, b in itertools.pairwise(ordered) for c in _between(a, b, found[a], found[b], ladder)]
    return SizeComparison(tuple(ordered), tuple(found.values()), tuple(crossovers))


def _ascending(sizes: str | Sequence[int]) -> list[int]:
    """Return the sizes that are asked for, each once, the smallest first; ModelError if there are none, or too many."""
    asked = read_sizes(sizes, "sizes") if isinstance(sizes, str) else [int(s) for s in sizes]
    if not 1 <= len(asked) <= _MOST_SIZES:
        raise ModelError(f"sizes must be 1 to {_MOST_SIZES}, got {len(asked)}")
    return sorted(set(asked))


def plan_sizes(
    network: Network | Any,
    task: Task | str,
    sizes: str | Sequence[int],
    *,
    cost: Mapping[str, Any] | None = None,
    usual: bool = False,
    progress: Say | None = None,
    **how: Any,
) -> SizePlans:
    """Plan a task for several numbers of bytes, and find from where on each plan is faster than the one before.

    * `network`, `task`, `progress`: as for `gossamer.plan`.
    * `sizes`: bytes: numbers, or a text such as ``"1KiB,1MiB"`` or ``"1KiB:1GiB"`` (each four times the one before).
    * `cost`: further fields of `gossamer.TimeCost`: ``counting``, ``bandwidth``, ``latency``, ``overhead``, ``form``,
      ``whole``.
    * `usual`: set the rings, trees and exchanges of libraries beside the plans, each with the number of packets a
      message that takes least, and find where the fastest of them changes.
    * `how`: further arguments of `gossamer.plan`.

    Returns: of schedules that were all verified. Raises `GossamerError` if what is asked is illegal or no algorithm
    covers the case.

    A plan for a size, a search each. A crossing lies where the plans for two sizes, each with its packets made larger
    or smaller (`gossamer.resized`), take the same time; where that is not possible, at the larger of the two sizes.
    One of usual algorithms is found to within 10 %.

    >>> found = plan_sizes("ring:6", "allgather", "1KiB:1MiB:1024", cost={"bandwidth": "50GB/s", "latency": "2us"})
    >>> [(row["bytes"], row["algorithm"]) for row in found], len(found.crossovers)
    ([(1024, 'multi-ring'), (1048576, 'greedy-flooding')], 1)
    """
    made, ordered = as_network(network), _ascending(sizes)
    found: list[Outcome] = []
    began = time.monotonic()
    for size in ordered:
        if progress is not None:
            progress(_stage("planning", size, len(found), len(ordered), began))
        found.append(plan(made, task, cost=TimeCost(size, **dict(cost or {})), progress=progress, **how))
    if usual:
        return _with_usual(_Usual(made, as_task(task), dict(cost or {}), how, progress), tuple(ordered), tuple(found))
    pairs = zip(itertools.pairwise(ordered), itertools.pairwise(found), strict=True)
    crossings = [
        Crossover(_crossing(sizes, plans), _name(plans[0]), _name(plans[1]))
        for sizes, plans in pairs
        if _name(plans[0]) != _name(plans[1])
    ]
    return SizePlans(tuple(ordered), tuple(found), tuple(crossings))


def _stage(does: str, size: int, done: int, count: int, began: float) -> str:
    """Return what is done for a size, which of how many it is, and about how long all that are left take.

    >>> _stage("planning", 4096, 0, 11, 0.0)
    'planning 4 KiB, 1 of 11'
    """
    text = f"{does} {bytes_text(size)}" + (f", {done + 1} of {count}" if count > 1 else "")
    if not done:
        return text
    return f"{text}, about {time_text((time.monotonic() - began) / done * (count - done))} left"


class _Usual:
    """What the usual algorithms take by size."""

    def __init__(
        self, network: Network, task: Task, fields: dict[str, Any], how: Mapping[str, Any], progress: Say | None
    ) -> None:
        self._network, self._task, self._fields, self._how = network, task, fields, how
        self._say = progress or (lambda stage: None)

    def at(self, size: int, stage: str = "") -> tuple[tuple[Beside, ...], str]:
        """Return usual algorithms, the fastest first, and why there are none; `stage` is said meanwhile."""
        cost = TimeCost(size, **self._fields)
        asked = AskedAgain(self._network, self._task, "store-and-forward", self._how.get("rules"), cost, Fraction(0))
        stage = stage or f"comparing {bytes_text(size)}"
        self._say(stage)
        return beside(asked, self._how.get("budget") or _USUAL_BUDGET, lambda does: self._say(f"{stage}: {does}"))


def _with_usual(usual: _Usual, sizes: tuple[int, ...], plans: tuple[Outcome, ...]) -> SizePlans:
    """Return plans with usual algorithms beside them."""
    rows: list[tuple[tuple[Beside, ...], str]] = []
    began = time.monotonic()
    for size in sizes:
        rows.append(usual.at(size, _stage("comparing", size, len(rows), len(sizes), began)))
    pairs = zip(itertools.pairwise(sizes), itertools.pairwise(row for row, _ in rows), strict=True)
    changes = [c for (low, high), (first, last) in pairs for c in _changes(low, high, first, last, usual)]
    return SizePlans(sizes, plans, tuple(changes), tuple(row for row, _ in rows), rows[0][1])


def _changes(
    low: int, high: int, first: Sequence[Beside], last: Sequence[Beside], usual: _Usual
) -> Iterator[Crossover]:
    """Yield the sizes between two at which the fastest usual algorithm changes."""
    if not first or not last or first[0].time is None or last[0].time is None:
        return
    before, after = first[0].name, last[0].name
    if before == after or last[0].time == next((each.time for each in last if each.name == before), None):
        return
    middle = math.isqrt(low * high)
    if high <= low * _ABOUT or not low < middle < high:
        yield Crossover(high, before, after)
        return
    between, _ = usual.at(middle)
    yield from _changes(low, middle, first, between, usual)
    yield from _changes(middle, high, between, last, usual)


def _crossing(sizes: tuple[int, int], plans: tuple[Outcome, Outcome]) -> int:
    """Return from how many bytes on the plan for the larger of two sizes is faster than that for the smaller."""
    low, high = sizes

    def faster(size: int) -> bool:
        times = []
        for each in plans:
            assert each.schedule is not None
            new = resized(each.schedule, size)
            assert isinstance(new.cost, Clock)
            times.append(new.cost.seconds(new.completion_time))
        return times[1] < times[0]

    try:
        while high > low * _NEAR:
            middle = math.isqrt(low * high)
            if not low < middle < high:
                break
            low, high = (low, middle) if faster(middle) else (middle, high)
    except (ScheduleError, ModelError):
        return sizes[1]
    return high


@dataclass(frozen=True)
class ComparedPoint:
    """A task to be compared on links with times for some number of bytes.

    `network`: with its times in slots. `task`: what is planned. `clock`: what tells seconds. `how`: further arguments
    of `gossamer.compare`.
    """

    network: Network
    task: Task
    clock: Clock
    how: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The task, the network and the bytes."""
        return f"comparing {self.task.name} on {self.network.spec} at {bytes_text(self.clock.message_bytes)}"

    def run(self, progress: Say) -> Comparison:
        """Compare every algorithm; the builders stay behind, as they cannot be sent to another process."""
        found = compare(self.network, self.task, cost=self.clock, progress=progress, **self.how)
        kept = tuple(replace(o, offer=replace(o.offer, build=_left_behind, stream=None)) for o in found.outcomes)
        return replace(found, outcomes=kept)


def _left_behind() -> Any:
    """Stand for a builder that was left where the comparison was made."""
    raise ScheduleError("of a comparison no builders are kept; plan with the algorithm and its options instead")


class _Ladder:
    """Comparisons by size: links whose times are in the same proportions for two sizes are compared once."""

    def __init__(
        self, network: Network, task: Task, fields: dict[str, Any], how: Mapping[str, Any], progress: Say | None
    ) -> None:
        self._network, self._task, self._fields, self._how = network, task, fields, how
        self._progress = progress
        self._known: dict[Network, Comparison] = {}

    def at(self, sizes: Sequence[int], jobs: int | None = 1) -> list[Comparison]:
        """Return the comparison for each size; those that are known are only told another clock, and other bounds."""
        costs = [TimeCost(size, **self._fields) for size in sizes]
        timed = [cost.on(self._network, self._task) for cost in costs]
        new = {net: clock for net, clock in reversed(timed) if net not in self._known}
        points = [ComparedPoint(net, self._task, clock, self._how) for net, clock in reversed(new.items())]
        for point, found in zip(points, run_points(points, jobs=jobs, progress=self._progress), strict=True):
            self._known[point.network] = found
        return [self._told(self._known[net], clock, cost) for (net, clock), cost in zip(timed, costs, strict=True)]

    def _told(self, before: Comparison, clock: Clock, cost: TimeCost) -> Comparison:
        """Return a comparison with another clock, beside the bounds by the exact times of links."""
        case = Case(before.case.network, before.case.task, before.case.rules, clock, seed=before.case.seed)
        exact = exact_bounds(self._network, self._task, before.case.rules, cost)
        told = [replace(o, case=case, bounds=of_question(exact, case, cost, o.bounds)) for o in before.outcomes]
        return replace(before, case=case, outcomes=tuple(told))


def _between(low: int, high: int, first: Comparison, last: Comparison, ladder: _Ladder) -> Iterator[Crossover]:
    """Yield the sizes between two at which the best algorithm changes."""
    before, after = first.best.algorithm, last.best.algorithm
    if before == after or _seconds(last, after) == _seconds(last, before):
        return
    middle = math.isqrt(low * high)
    if high <= low * _NEAR or not low < middle < high:
        yield Crossover(high, before, after)
        return
    (between,) = ladder.at([middle])
    yield from _between(low, middle, first, between, ladder)
    yield from _between(middle, high, between, last, ladder)


def _seconds(comparison: Comparison, algorithm: str) -> float | None:
    """Return the seconds of an algorithm in a comparison, its best choice of options; None if it does not cover it."""
    found = [o.seconds for o in comparison.outcomes if o.algorithm == algorithm and o.seconds is not None]
    return float(min(found)) if found else None
