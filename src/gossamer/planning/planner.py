"""The planner: from a network and a task to a verified schedule beside a lower bound, by one loop over offers."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

from gossamer.algorithms.any_network.repeated_trees import even_generation, even_trees
from gossamer.atomic_files import quantity
from gossamer.bounds import Bound, Bounds, bounds
from gossamer.bounds.bound import largest
from gossamer.bounds.registry import counted_bounds, whole_scope
from gossamer.errors import GossamerError, ModelError, NotApplicableError, ScheduleError, TooLargeError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks import as_network
from gossamer.networks.derived import Renumbered
from gossamer.networks.network import Network, has_speeds
from gossamer.networks.recognition import recognized
from gossamer.networks.structures import SwitchAbilities
from gossamer.planning.allreduce_variants import (
    VariantTime,
    counted_alike,
    exact_bounds,
    forms_of,
    of_question,
    split_sums,
    told_time,
)
from gossamer.planning.chunk_counts import NEAR, Planned, best_counts, count_words, open_to_choice
from gossamer.planning.offer_search import Bounding, ProgressCallback, Search, asked_case, best_of, stopped_text, within
from gossamer.planning.outcome import Comparison, Expense, Outcome, peak_memory
from gossamer.planning.plan_resizing import MOST_HOPS, best_repetition, promised
from gossamer.planning.switching import SWITCHINGS, named
from gossamer.planning.switching.resource_limits import FittingCandidates, ResourceLimits, limits
from gossamer.processes.search_trials import MOST, Trials
from gossamer.questions.cases import EFFORTS, Case, Offer
from gossamer.questions.costs import AskedCost, Clock, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialSumAllreduce, Task, in_packets, includes, packets_of
from gossamer.questions.tasks.chunked import MAX_CHUNKS
from gossamer.reading import choice, whole
from gossamer.reading.quantities import Bytes

__all__ = ["as_usual", "compare", "lower_bounds", "plan", "rules_and_cost"]

# Rules and costs in words, as the command line and studies have them: which belong to which switching.


def rules_and_cost(switching: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the switching, rules and cost of options; ModelError if an option goes with another switching."""
    kind = named(switching)
    given = {"segmented" if name == "split" else name: value for name, value in given.items()}
    takes = {s.name: {f.name: c for c in reversed(s.cost_types) for f in _fields(c)} for s in SWITCHINGS.values()}
    cost = {name: value for name, value in given.items() if name in takes[kind.name]}
    rules = {name: value for name, value in given.items() if name in kind.rules}
    types = list(dict.fromkeys(takes[kind.name][name] for name in cost)) or list(kind.cost_types[:1])
    if len(types) > 1:
        first, second = (next(name for name in cost if takes[kind.name][name] is t) for t in types[:2])
        raise ModelError(f"--{_flag(first)} does not go with --{_flag(second)}")
    if missing := [f.name for f in _fields(types[0]) if f.default is dataclasses.MISSING and f.name not in cost]:
        raise ModelError(f"--{_flag(next(iter(cost)))} goes with --{_flag(missing[0])}")
    for name in (name for name in given if name not in cost and name not in rules):
        others = [other for other in SWITCHINGS if name in takes[other] or name in SWITCHINGS[other].rules]
        raise ModelError(f"--{_flag(name)} goes with --switching {' or '.join(others)}, not {switching}")
    if types[0] is TimeCost and rules.get("segmented") is False:
        cost["whole"] = True
    asked = {"rules": Rules(**rules)} if rules else {}
    return {"switching": switching, "cost": types[0](**cost), **asked}


def _fields(cost: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cost)


def _flag(name: str) -> str:
    return name.replace("_", "-")


def as_usual(network: Network, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the rules of a question are on a machine, where they leave it open: whether its switches copy."""
    known = network.find(SwitchAbilities)
    return {} if known is None or known.copies or "replication" in rules else {"replication": False}


def _left_open(
    network: Any, switching: str, rules: Rules | None, cost: AskedCost | None
) -> tuple[Network, Rules | None, AskedCost | None]:
    """Return network, rules and cost of a question, with what is left open as it is usual for the network."""
    net = as_network(network)
    if switching == "store-and-forward":
        if cost is None and has_speeds(net):
            cost = TimeCost()
        if rules is None and (usual := as_usual(net, {})):
            rules = Rules(**usual)
    return net, rules, cost


def plan(
    network: Network | Any,
    task: Task | str,
    *,
    switching: str = "store-and-forward",
    rules: Rules | None = None,
    cost: AskedCost | None = None,
    algorithm: str = "best",
    options: Mapping[str, Any] | None = None,
    effort: str = "search",
    memory: Bytes | None = None,
    budget: float | None = None,
    stream: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Plan a task on a network: choose an algorithm, build its schedule, verify it, and set it beside the bounds.

    Parameters
    ----------
    network : Network, str, path or networkx graph
        A network, its spec such as ``"torus:8x8"``, a graph of NetworkX, or a file of links.
    task : Task or str
        A task such as ``gossamer.task("broadcast", root=3)``, or the name of one such as ``"allgather"``.
    switching : {"store-and-forward", "wormhole"}
        How messages travel.
    rules : Rules, optional
        What the schedule must respect. Default: all ports, unsegmented messages, no limit of the buffers; switches copy
        packets, except those of machines that cannot (`gossamer.networks.SwitchAbilities`).
    cost : StepCost, TimeCost or LinearCost, optional
        What the schedule costs: steps, or seconds for so many bytes (store and forward), or start-ups and bytes
        (wormhole). Default: seconds for 64 MiB where the links of the network have speeds, ``StepCost()`` for steps
        all the same; else the defaults of StepCost and LinearCost.
    algorithm : str
        ``"best"`` for the fastest that covers the case, or a name.
    options : mapping, optional
        Options that the algorithm must be used with, such as ``{"h": 5}``, the side of the blocks of a partition. An
        algorithm that is named makes its source's own choice of what is left open; ``"best"`` tries every choice.
    effort : {"closed form", "search", "solver"}
        How hard algorithms may work: closed form, search or solver; more finds better schedules and takes longer.
    memory : int or str, optional
        Bytes that a plan may take, such as ``"8GiB"``: what is estimated to take more is not begun. Default: what the
        machine has left.
    budget : float, optional
        Seconds after which no further algorithm is begun; the best found so far is returned, and `Outcome.stopped`
        says so. An algorithm that is estimated to take over twice as long is not begun if there is another.
        A solver stops after so many seconds, too. Without one, no search of over about a second is begun for less than
        1 % of the time.
    stream : bool
        Check hops as they are made and keep none, for schedules too large to keep; not every algorithm can.
    seed : int
        For algorithms that make random choices.
    jobs : int
        Tries of a search at once, each in a process of its own; the plan is the same whatever their number. Most plans
        take less time than a process to start, so that only searches of over about a second use several. Each takes the
        memory of a plan; as many are started as fit.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Outcome
        Never of a schedule that the checker refused.

    Raises
    ------
    GossamerError
        If what is asked is illegal, no algorithm covers the case, or none is estimated to fit into memory.

    Notes
    -----
    Where an allreduce has a `TimeCost`, the fastest of its forms is planned (`gossamer.planning.allreduce_variants`).

    ``"best"`` builds in the order of effort and promise, verifies every schedule that it builds, and passes over what
    certainly is no better than the best found: an exact promise or a floor that is as large, or a best time that meets
    the lower bound. Within 1 % of that, it passes over searches that are estimated to take more than a second, unless
    there is a budget or the effort is that of a solver.

    A network that came as a list of links and is a torus, an array, a hypercube or another network whose structure
    `gossamer.networks.recognition` finds is planned as that, and the schedule renamed to its nodes before it is
    verified; with `stream` it is verified before.

    Examples
    --------
    >>> import gossamer
    >>> p = gossamer.plan("torus:4x4", "allgather")
    >>> p.completion_time, p.bound, p.optimal
    (Fraction(4, 1), Fraction(4, 1), True)
    >>> cost = gossamer.LinearCost(startup=10, message_bytes=8)
    >>> gossamer.plan("torus:3x3", "broadcast", switching="wormhole", cost=cost).bound
    Fraction(124, 5)
    """
    network, rules, cost = _left_open(network, switching, rules, cost)
    allowed = limits(memory, budget, choice(effort, "effort", EFFORTS))
    with Trials(whole(jobs, "jobs", 1, MOST), allowed.memory, progress) as tries:
        question = asked_case(network, task, switching, rules, cost, seed, allowed.budget, tries)
        search = Search(question, progress, cost=cost)
        asked = _Asked(network, search, rules, cost)
        if not (stream or options) and algorithm == "best":
            forms = _forms(search, network, rules, cost, progress)
            searches = _until_sums(forms)
            if list(searches.values()) != [search] or asked.may_cut(search):
                return _best_form(asked, search, searches, forms, effort, allowed)
        else:
            _in_blocks(cost)
        candidates = search.candidates(algorithm, options or {}, effort, stream)
        # of a stream nothing is kept, so that there is nothing to choose from
        chosen = FittingCandidates(candidates[:1]) if stream else search.fitting(candidates, allowed)
        return asked.told(best_of(search, chosen, allowed, stream, search.bounds(at_first=True)), search)


class _Asked:
    """A question whose bounds are told: with network, rules and cost as given, and its own search."""

    def __init__(self, network: Any, search: Search, rules: Rules | None, cost: AskedCost | None) -> None:
        self._given = network, search.planned.task, rules
        self.search = search
        self.network, self.rules, self.cost = network, rules, cost

    @cached_property
    def much_to_send(self) -> bool:
        """Whether an allreduce in seconds takes time for its bytes rather than for latencies."""
        loads = [bound.value for bound in self.exact if bound.name in ("calls in any form", "parts in any form")]
        return bool(loads) and max(loads) * 2 > largest(self.exact)

    def may_cut(self, search: Search) -> bool:
        """Return whether the planner says how many packets a message has: in seconds, of the task's own form."""
        if not isinstance(self.cost, TimeCost) or self.cost.whole:
            return False
        return search is self.search and open_to_choice(search.case.task, self.rules)

    def least(self, search: Search, words: str, known: tuple[Bound, ...]) -> Fraction:
        """Return the largest of some bounds of a form, in seconds or steps; however it is cut, if it may be cut."""
        if not self.may_cut(search):
            return told_time(largest(known), search.case.cost)
        if not words:
            return largest(self.exact)
        return told_time(largest(_cut(search.case, known)), search.case.cost)

    @cached_property
    def exact(self) -> list[Bound]:
        """The bounds of a task that is asked for in seconds, however it is cut."""
        network, task, rules = self._given
        if not isinstance(self.cost, TimeCost):
            return []
        net = recognized(as_network(network))
        known = net.find(Renumbered)
        return exact_bounds(net if known is None else known.original, task, rules, self.cost)

    def bounds(self, search: Search, bounds: Iterable[Bound], words: str = "") -> Bounds:
        """Return the bounds of a search, those that hold for the question first."""
        return of_question(self.exact, search.planned, self.cost, bounds, words)

    def told(self, outcome: Outcome, search: Search, words: str = "") -> Outcome:
        """Return an outcome with the bounds of the question first."""
        return replace(outcome, bounds=self.bounds(search, outcome.bounds, words))


def _in_blocks(cost: AskedCost | None) -> None:
    """Raise ModelError if another form than blocks is asked for."""
    if isinstance(cost, TimeCost) and cost.form not in ("best", "blocks"):
        raise ModelError(
            f"form {cost.form!r} goes with a plan by the best algorithm; algorithms by name, their options, "
            "comparisons and streams are of blocks"
        )


def _forms(
    search: Search, network: Any, rules: Rules | None, cost: AskedCost | None, progress: ProgressCallback | None
) -> Iterator[tuple[str, Search]]:
    """Yield the forms of a task with their words; of one in steps only where messages are split."""
    asked = search.case
    if isinstance(cost, TimeCost):
        for form in forms_of(as_network(network), asked.task, rules, cost):
            own = form.task == asked.task
            yield (
                form.words,
                (search if own else _like(search, network, form.task, rules, form.cost, progress, cost.bytes)),
            )
        return
    sums = split_sums(asked) if search.kind.name == "store-and-forward" else None
    yield "" if sums is None else "reduce-scatter + allgather", search
    if sums is not None:
        yield "partial sums", _like(search, network, sums, rules, cost, progress)


def _until_sums(forms: Iterator[tuple[str, Search]]) -> dict[str, Search]:
    """Return the forms up to the first by partial sums."""
    found: dict[str, Search] = {}
    for words, each in forms:
        found[words] = each
        if _of_sums(each):
            break
    return found


def _of_sums(search: Search) -> bool:
    """Return whether partial sums are exchanged."""
    return includes(search.case.task, PartialSumAllreduce)


def _like(
    search: Search, network: Any, task: Task, rules: Rules | None, cost: AskedCost | None,
    progress: ProgressCallback | None, buffer: int = 0, bounding: Bounding | None = None,
) -> Search:  # fmt: skip
    """Return the search of another task that does the same; with the `buffer` counted that it is of, if it has one."""
    asked, clock = search.case, search.case.cost
    new = asked_case(network, task, search.kind.name, rules, cost, asked.seed, asked.budget, search.planned.tries)
    if buffer:
        assert isinstance(clock, Clock)
        told = counted_alike(new.case.cost, clock, buffer)
        new = new._replace(case=new.case.told_by(told), planned=new.planned.told_by(told))
    return Search(new, progress, bounding, cost, buffer)


def _in_packets(asked: _Asked, of: Search, packets: int) -> Search:
    """Return the search of a form with its messages cut into some packets; bounds are those that are found quickly."""
    task, quick = in_packets(of.case.task, packets), partial(bounds, quick=True)
    return _like(of, asked.network, task, asked.rules, of.cost, of.say, of.buffer, quick)


def _best_form(
    asked: _Asked, search: Search, searches: dict[str, Search], more: Iterator[tuple[str, Search]], effort: str,
    allowed: ResourceLimits,
) -> Outcome:  # fmt: skip
    """Return the best outcome of all forms of a task, with as many packets a message as take least.

    A form whose bound is no less than the best time is not planned; `more` are asked for if the first do not do.
    """
    began = time.monotonic()
    least: dict[str, Fraction] = {}
    plans: dict[str, _Packets] = {}
    found, passed = list[_Found](), list[VariantTime]()
    refused: list[GossamerError] = []

    def add(words: str, each: Search) -> None:
        least[words] = asked.least(each, words, counted_bounds(each.planned))
        plans[words] = _Packets(asked, each, asked.may_cut(each), effort, allowed, began)

    def late() -> bool:
        return allowed.budget is not None and time.monotonic() - began > allowed.budget

    def repeated(parts: Iterable[_Part]) -> None:
        shortest = min(found, key=lambda each: each.time, default=None)
        done = shortest is not None and _large_orbits(search.case, shortest.outcome.schedule) and near(shortest.time)
        if not late() and not done:
            found.extend(_repeated(asked, found, parts, lowest(), late))

    def lowest() -> Fraction:
        return max([min(least.values()), *(bound.value for bound in asked.exact)])

    def near(time: Fraction) -> bool:
        large = search.case.network.terminal_count >= _LARGE
        return asked.may_cut(asked.search) and time <= lowest() * (_ENOUGH_LARGE if large else _ENOUGH)

    for words, each in searches.items():
        add(words, each)
    sums = next((words for words, each in searches.items() if _of_sums(each)), None)
    if sums is not None and asked.much_to_send:
        repeated(plans[sums].even(sums))
    settled = bool(found) and near(found[-1].time) and not search.closed_forms(effort)
    for words, each in () if settled else more:
        searches[words] = each
        add(words, each)
    for words in () if settled else sorted(searches, key=least.__getitem__):
        each, planning, shortest = searches[words], plans[words], min((f.time for f in found), default=None)
        if shortest is None or least[words] < shortest:
            known = each.bounds(at_first=True)
            least[words] = max(least[words], asked.least(each, words, known))
        if shortest is not None and least[words] >= shortest:
            passed.append(VariantTime(words, least[words], True))
            continue
        try:
            whole = planning.plan_whole(known)
        except (NotApplicableError, TooLargeError) as error:
            refused.append(error)
            continue
        far = whole > 2 * least[words]  # so that the number of packets matters
        if far and planning.may_cut:
            repeated(planning.even(words))
        planning.plan_cut(least[words], min([whole, *(f.time for f in found)]))
        found += [_Found(words, *each) for each in planning.found.values()]
        if planning.may_cut and not far:
            repeated(planning.even(words))
    if not found:
        raise refused[0]
    repeated(_as_parts(found))
    forms = [each.form for each in found]
    several = {form for form in forms if plans[form].may_cut and forms.count(form) > 1}
    told = [VariantTime(each.words(each.form in several), each.time, False) for each in found]
    times = sorted([*passed, *told], key=lambda form: (form.time, form.at_least))
    best = min(found, key=lambda each: each.time)
    words = "" if list(searches.values()) == [search] else best.words(best.form in several)
    shown = tuple(times) if times[1:] or words else ()
    return asked.told(replace(best.outcome, forms=shown, asked=search.case.task), best.search, words)


class _Part(NamedTuple):
    """What may be repeated: the form of the task in words, the search of its packets, and a schedule."""

    form: str
    search: Search
    generation: Generation
    offer: Offer[Any]
    expense: Expense


def _as_parts(found: Iterable[_Found]) -> Iterator[_Part]:
    """Yield plans as what may be repeated, as far as they can be."""
    for each in found:
        schedule = each.outcome.schedule
        if getattr(schedule, "repetition", None) is None and schedule.hop_count <= MOST_HOPS:
            with suppress(ScheduleError):
                yield _Part(each.form, each.search, Generation(schedule), each.outcome.offer, each.outcome.expense)


def _repeated(
    asked: _Asked, found: list[_Found], parts: Iterable[_Part], least: Fraction, late: Callable[[], bool]
) -> list[_Found]:
    """Return the parts that promise most as generations which are repeated, as far as these take less time.

    `least` holds for all plans, in seconds.
    """
    shortest = min((each.time for each in found), default=None)
    if not asked.may_cut(asked.search) or (shortest is not None and shortest <= least * NEAR):
        return []
    some, better = list(parts), list[_Found]()
    promises = sorted((promised(part.generation), i) for i, part in enumerate(some))
    for promise, i in promises[:_REPEATED]:
        if late() or (shortest is not None and promise > shortest * _GAIN):
            break
        new = _as_generations(asked, some[i])
        if new is not None and (shortest is None or new.time < shortest * _GAIN):
            shortest = new.time
            better.append(new)
    return better


def _as_generations(asked: _Asked, part: _Part) -> _Found | None:
    """Return what is repeated as often as takes least; None if it cannot be."""
    of, packets = part.search, part.generation.packets
    of.say(f"repeating {quantity(packets, 'packet')} a message")
    searches: dict[int, Search] = {}

    def timed(generations: int) -> tuple[Network, Clock]:
        new = searches[generations] = _in_packets(asked, of, generations * packets)
        assert isinstance(new.case.cost, Clock)
        return new.case.network, new.case.cost

    clock = of.case.cost
    assert isinstance(clock, Clock)
    started = time.process_time()
    try:
        schedule = best_repetition(part.generation, timed, clock.message_bytes, 2, clock.least_packet(of.case.network))
    except ScheduleError:
        return None
    new = searches[schedule.generations]
    verification = new.kind.verify(schedule, 20)
    if not verification.ok:  # partial sums that depended on when they were sent
        return None
    built = part.expense.build_seconds + time.process_time() - started - verification.seconds
    offer = replace(part.offer, time=None, least=Fraction(0), optimal=False)
    return _Found(part.form, new, Outcome(
        new.case, new.kind, schedule.algorithm, offer, schedule, schedule.completion_time, verification, new.bounds(),
        new.kind.facts(schedule), Expense(built, verification.seconds, schedule.nbytes, peak_memory()),
    ))  # fmt: skip


def _cut(case: Case, bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the bounds that hold however the messages of a case are cut."""
    whole = whole_scope(case)
    return tuple(bound for bound in bounds if not bound.scope.startswith(whole))


class _Found(NamedTuple):
    """A plan: the form of the task in words, the search of its packets, and its outcome."""

    form: str
    search: Search
    outcome: Outcome

    @property
    def time(self) -> Fraction:
        """In seconds of a clock, or steps."""
        return told_time(self.outcome.completion_time, self.search.case.cost)

    def words(self, several: bool) -> str:
        """Return the form, and how messages are cut where there are plans of several cuts."""
        schedule, form = self.outcome.schedule, self.form
        if schedule is not None and getattr(schedule, "repetition", None) is not None:
            packets, times = schedule.repetition.packets, schedule.generations
            repeated = f"{count_words(packets * times)} ({times:,} times {packets:,})"
            return ", ".join(filter(None, [form.partition(" in ")[0], repeated]))
        return ", ".join(filter(None, [form, count_words(packets_of(self.search.case.task)) if several else ""]))


_MANY = 256
"""Packets a message for which trees to be repeated are looked for."""
_REPEATED, _GAIN = 3, Fraction(995, 1000)
"""Plans that are repeated at the most, and the share of the best time that is worth it."""
_ENOUGH, _ENOUGH_LARGE, _LARGE = Fraction(203, 200), Fraction(26, 25), 256
"""Times the bound: where a plan is so near to it, and the network has no structure, no further form is planned; the
same from so many terminals on, where other forms take long."""


def _large_orbits(case: Case, schedule: Any) -> bool:
    """Return whether a schedule of many ranks stands for others by symmetry."""
    return case.network.terminal_count >= _LARGE and getattr(schedule, "symmetry", None) is not None


class _Packets:
    """The plans of one form of a task by the number of packets that each of its messages is cut into.

    Attributes
    ----------
    found : dict
        Search and outcome of each number that was planned, the fastest first.
    """

    def __init__(
        self, asked: _Asked, search: Search, may_cut: bool, effort: str, allowed: ResourceLimits, began: float
    ) -> None:
        self.asked, self.effort, self.allowed, self.began = asked, effort, allowed, began
        self.search, self.may_cut = search, may_cut
        self.found: dict[int, tuple[Search, Outcome]] = {}
        self._slow: set[str] = set()
        self._whole = Planned(Fraction(0), 0)
        self._best = self._least = Fraction(1, 10**12)

    def plan_whole(self, known: tuple[Bound, ...]) -> Fraction:
        """Plan unsegmented messages, of which bounds are known, and return the time.

        Raises
        ------
        NotApplicableError
            If there is no plan.
        """
        self._whole = self._planned(1, self.search, Bounds(known))
        return self._whole.seconds

    def plan_cut(self, least: Fraction, best: Fraction) -> None:
        """Plan with as many packets as take least, after `plan_whole`.

        `least` holds for all numbers, and there is another plan that takes the time `best`, in seconds.
        """
        clock = self.search.case.cost
        if self.may_cut and isinstance(clock, Clock):
            self._least, self._best = max(least, self._least), best
            most = max(1, clock.message_bytes // clock.least_packet(self.search.case.network))
            counts = best_counts(self._cut, self._whole, least, most, best)
            self.found = {packets: self.found[packets] for packets in counts}

    def even(self, form: str) -> Iterator[_Part]:
        """Yield plans of few packets that use the busiest link little."""
        of = self.search
        clock = of.case.cost
        many = 0
        if isinstance(clock, Clock):
            many = min(_MANY, clock.message_bytes // clock.least_packet(of.case.network), MAX_CHUNKS)
        if many < 2:
            return
        of.say("looking for trees to be repeated")
        for packets, trees, _ in even_trees(_in_packets(self.asked, of, many).planned)[:_REPEATED]:
            search, started = _in_packets(self.asked, of, packets), time.process_time()
            offer: Offer[Any] = Offer(partial(even_generation, search.planned, trees), effort="search")
            schedule = search.built(offer.build(), "periodic-trees")
            expense = Expense(time.process_time() - started, 0.0, schedule.nbytes, 0)
            yield _Part(form, search, Generation(schedule), offer, expense)

    def _cut(self, packets: int) -> Planned | None:
        of, budget = self.search, self.allowed.budget
        if budget is not None and time.monotonic() - self.began > budget:
            return None
        of.say(f"cutting every message in {packets:,} packets")
        search = _in_packets(self.asked, of, packets)
        best = min(self._best, *(found.seconds or Fraction(0) for _, found in self.found.values()))
        try:
            return self._planned(packets, search, search.bounds(), _WORTH * float(best / self._least - 1))
        except (NotApplicableError, TooLargeError):
            return None

    def _planned(self, packets: int, search: Search, known: tuple[Bound, ...], worth: float = math.inf) -> Planned:
        """Plan with a number of packets, by what is estimated to take no more than the seconds that it is worth."""
        tried = search.candidates("best", {}, self.effort)
        tried = [c for c in tried if c.algorithm not in self._slow] or tried
        if worth < math.inf:
            about = [0.0 if needs is None else needs.seconds for needs in map(search.needs, tried)]
            tried = [c for c, seconds in zip(tried, about, strict=True) if seconds <= max(1.0, worth, min(about))]
        if not self.allowed.thorough and search.case.network.terminal_count >= _LARGE:
            composed = [
                c for c in tried if "hierarchical" in c.algorithm
            ]  # the others do for each rank what it does once
            tried = composed or tried
        chosen = search.fitting(tried, self.allowed)
        allowed, budget = self.allowed, self.allowed.budget
        if budget is not None:
            allowed = replace(allowed, budget=max(budget - (time.monotonic() - self.began), 1e-3))
        found = best_of(search, chosen, allowed, False, known)
        self.found[packets] = search, found
        if packets > 1:
            self._slow |= {name for name, time in search.times.items() if time > _SLOW * found.completion_time}
        size = found.schedule.stored_hops if _large_orbits(search.case, found.schedule) else found.facts.size
        return Planned(told_time(found.completion_time, search.case.cost), size)


_WORTH = 10.0
"""Seconds that an algorithm may take for each time the bound that may be gained."""
_SLOW = 2
"""Times the best: an algorithm that takes more with some packets a message is not tried with other numbers."""


def compare(
    network: Network | Any,
    task: Task | str,
    *,
    switching: str = "store-and-forward",
    rules: Rules | None = None,
    cost: AskedCost | None = None,
    options: Mapping[str, Any] | None = None,
    effort: str = "search",
    memory: Bytes | None = None,
    budget: float | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Carry out a task by every algorithm that covers it, and rank them.

    Parameters
    ----------
    network, task, switching, rules, cost, options, effort, memory, budget, seed, progress
        As for `plan`.

    Returns
    -------
    Comparison
        Rows of plain values that pandas reads, the fastest first, and why the other algorithms do not cover the case.
        Every schedule was verified; none is kept.

    Raises
    ------
    GossamerError
        If what is asked is illegal or no algorithm covers the case.

    Examples
    --------
    >>> import gossamer
    >>> [(row["algorithm"], row["time"]) for row in gossamer.compare("ring:6", "broadcast")][0]
    ('shortest-path-tree', 3)
    """
    network, rules, cost = _left_open(network, switching, rules, cost)
    allowed = limits(memory, budget)
    _in_blocks(cost)
    search = Search(asked_case(network, task, switching, rules, cost, seed, allowed.budget), progress)
    candidates = search.candidates("best", options or {}, choice(effort, "effort", EFFORTS))
    chosen = search.fitting(candidates, allowed)
    bounds = search.bounds()
    found: list[Outcome] = []
    stopped = chosen.left_out
    for candidate, left in within(chosen.candidates, allowed.budget):
        if left:
            stopped = "; ".join(filter(None, [stopped_text(budget, left), stopped]))
            break
        found.append(replace(search.carried_out(candidate, bounds, stream=False), schedule=None))
        bounds = found[-1].bounds
    found.sort(key=lambda outcome: outcome.completion_time)
    bounds = _Asked(network, search, rules, cost).bounds(search, bounds)
    proved = tuple(replace(outcome, bounds=bounds) for outcome in found)
    return Comparison(search.case, proved, search.refusals, stopped)


def lower_bounds(
    network: Network | Any,
    task: Task | str,
    *,
    switching: str = "store-and-forward",
    rules: Rules | None = None,
    cost: AskedCost | None = None,
) -> Bounds:
    """Return lower bounds on the completion time of a task, the largest first.

    Parameters
    ----------
    network, task, switching, rules, cost
        As for `plan`.

    Returns
    -------
    tuple of Bound
        At least one; values in the unit of the cost.

    Raises
    ------
    GossamerError
        If what is asked is illegal, or a message has no path to a target.

    Examples
    --------
    >>> import gossamer
    >>> print(gossamer.lower_bounds("torus:8x8", "alltoall")[0])
    64 steps, total hops: all messages together need 16,384 hops, and 256 links make at most 256 a step
    """
    network, rules, cost = _left_open(network, switching, rules, cost)
    search = Search(asked_case(network, task, switching, rules, cost, 0), None)
    asked = _Asked(network, search, rules, cost)
    words, first = next(_forms(search, network, rules, cost, None))  # its own form, or the one that is asked for
    return asked.bounds(first, first.bounds(), words)
