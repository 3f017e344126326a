"""The planner: from a network and a task to a verified schedule beside a lower bound, by one loop over offers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import switching as switchings
from gossamer.bounds import Bound, Bounds, counted_bounds, node_bounds
from gossamer.cases import EFFORTS, Case, Needs, Offer, Refusal
from gossamer.costs import AskedCost, Clock, Cost, TimeCost
from gossamer.errors import GossamerError, ModelError, NotApplicableError, TooLargeError, nearest
from gossamer.forms import FormTime, counted_alike, forms_of, in_seconds, in_slots
from gossamer.networks import as_network
from gossamer.networks.network import Failed, IntArray, Network
from gossamer.networks.recognition import recognized
from gossamer.networks.renumbering import Renumbered
from gossamer.outcome import Comparison, Expense, Outcome, peak_memory
from gossamer.processes.tries import ALONE, MOST, Tries
from gossamer.reading import choice, whole
from gossamer.reading import seed as read_seed
from gossamer.reading.quantities import Bytes
from gossamer.rules import Rules
from gossamer.schedules import Schedule, expand, relabel
from gossamer.switching import Switching
from gossamer.switching.limits import (
    Candidate,
    Fitting,
    Limits,
    Told,
    expected,
    fitting,
    hardly_worth,
    hardly_worth_text,
    in_turn,
    limits,
    time_text,
)
from gossamer.synthesis.repair import repaired
from gossamer.tasks import Task, as_task
from gossamer.writing import memory_text

__all__ = ["compare", "lower_bounds", "plan", "replan"]

Say = Callable[[str], None]

_CLOSE = Fraction(51, 50)
"""Times the bound: so near to it, no bounds that take long are looked for."""

_WORTH_SAYING = 5.0
"""Seconds from which on it is said how long a schedule takes to build."""


class _Asked(NamedTuple):
    """What is asked.

    Attributes
    ----------
    kind : Switching
        How messages travel.
    case : Case
        What the user asked.
    planned : Case
        What is planned: the same, or the same on the network that the user's turned out to be, of which more is known.
    names : int64[N] or None
        The node of the user's network that each node of the planned one is; None where it is the same network.
    """

    kind: Switching[Any, Any]
    case: Case
    planned: Case
    names: npt.NDArray[np.int64] | None


class _Search:
    """One case, its candidates and bounds, and the loop that builds and verifies."""

    def __init__(self, asked: _Asked, progress: Say | None) -> None:
        self.kind, self.case, self.planned, self.names = asked
        self.say: Say = progress or (lambda stage: None)
        self.refusals: dict[str, str] = {}
        self._quick = False

    def candidates(
        self, algorithm: str, options: Mapping[str, Any], effort: str, streamed: bool = False
    ) -> list[Candidate[Any]]:
        """Return what is to be tried, in order; NotApplicableError with the reasons if there is nothing."""
        task = self.case.task
        of_task = {a.name: a for a in self.kind.algorithms if isinstance(task, a.tasks)}
        if algorithm == "best":
            named = list(of_task.values())
        elif algorithm in of_task:
            named = [of_task[algorithm]]
        else:
            hint, names = nearest(algorithm, of_task), ", ".join(of_task) or "none yet"
            raise NotApplicableError(f"no {self.kind.noun} {algorithm!r} for {task.name}{hint}; there are: {names}")
        found: list[Candidate[Any]] = []
        for each in named:
            offers = each.offers(self.planned, streamed=streamed)
            if isinstance(offers, Refusal):
                self.refusals[each.name] = offers.why
                continue
            chosen = [o for o in offers if options.items() <= o.options.items() and (options or not o.on_request)]
            if not chosen:
                self.refusals[each.name] = _no_such_option(offers, options)
            found += [Candidate(each.name, offer) for offer in (chosen if algorithm == "best" else chosen[:1])]
        if not found:
            raise NotApplicableError(self._nothing(algorithm, bool(of_task)))
        return in_turn(found, effort)

    def _nothing(self, algorithm: str, known: bool) -> str:
        case = self.case
        where = f"{case.task.name} on {case.network.spec}"
        if not known:
            return f"no {self.kind.noun} for {case.task.name} yet; its lower bounds are known (gossamer bounds)"
        if algorithm != "best":
            return f"algorithm {algorithm!r} does not cover {where}: it {self.refusals[algorithm]}"
        told = "; ".join(f"{name} {why}" for name, why in self.refusals.items())
        return f"no {self.kind.noun} covers {where} with {self.kind.describe(case)}: {told}"

    def fitting(self, candidates: list[Candidate[Any]], allowed: Limits) -> Fitting[Any]:
        """Return the candidates that are estimated to stay within the limits; TooLargeError if none does."""
        return fitting(self.kind, self.planned, candidates, allowed, self.names is not None)

    def needs(self, candidate: Candidate[Any]) -> Needs | None:
        """Return what a candidate needs, about; None if that is not known."""
        return expected(self.kind, self.planned, candidate, self.names is not None)

    def _about(self, candidate: Candidate[Any]) -> str:
        """Return what a candidate needs in words, where it is worth saying; who carries out tries is told, too."""
        found = self.needs(candidate)
        self.planned.tries.expect(candidate.algorithm, *((0.0, 0) if found is None else (found.seconds, found.bytes)))
        if found is None or found.seconds < _WORTH_SAYING:
            return ""
        return f" (about {time_text(found.seconds)} and {memory_text(found.bytes)})"

    def bounds(self, at_first: bool = False) -> tuple[Bound, ...]:
        """Return the lower bounds; `at_first`, those that do not take long."""
        self.say("computing lower bounds")
        quick = self.kind.quick_bounds(self.planned) if at_first else None
        self._quick = quick is not None
        found = self.kind.bounds(self.planned) if quick is None else quick
        if found:
            self.planned.tell_floor(found[0].value)
        return found

    def improved(self, found: Outcome, *, first: bool) -> tuple[Bound, ...]:
        """Return the bounds of an outcome, and those that take long if the first one is not close to what it has."""
        least = found.bounds[0].value if found.bounds else Fraction(0)
        if not first or not self._quick or found.completion_time <= least * _CLOSE:
            return found.bounds
        more = {bound.name: bound for bound in (*self.bounds(), *found.bounds)}
        return tuple(sorted(more.values(), key=lambda bound: -bound.value))

    def carried_out(self, candidate: Candidate[Any], limits: tuple[Bound, ...], stream: bool) -> Outcome:
        """Build an offer, verify what came out, and measure it; VerificationError if the checker refuses it."""
        kind, offer = self.kind, candidate.offer
        self.say(f"building with {candidate.algorithm}{self._about(candidate)}")
        tries = self.planned.tries
        began = time.process_time() + tries.seconds
        if stream:
            seen = kind.stream(self.planned, offer, self.say)
            schedule, held, verification, facts = None, 0, seen.verification, seen.facts
            completion, built = seen.completion_time, time.process_time() + tries.seconds - began - verification.seconds
        else:
            schedule = offer.build().replace(algorithm=candidate.algorithm)
            if self.names is not None:
                schedule = relabel(expand(schedule), self.names, self.case.network).replace(task=self.case.task)
            if isinstance(self.case.cost, Clock):
                schedule = schedule.replace(cost=self.case.cost)
            built = time.process_time() + tries.seconds - began
            self.say(f"verifying the schedule of {candidate.algorithm}")
            verification = kind.verify(schedule, 20)
            completion, held = kind.completion(schedule), schedule.nbytes
        verification.raise_if_invalid()
        if schedule is not None:
            self.say("measuring links and buffers")
            facts = kind.facts(schedule)
        expense = Expense(built, verification.seconds, held, peak_memory())
        proof = None if offer.proof is None else offer.proof()
        if proof is not None:
            proved = Bound(proof.name, proof.value, proof.witness, "search", candidate.algorithm, self.case.cost.unit)
            limits = Bounds(sorted((*limits, proved), key=lambda bound: -bound.value))
        return Outcome(
            self.case, kind, candidate.algorithm, offer, schedule, completion, verification, limits, facts, expense
        )


def _no_such_option(offers: tuple[Offer[Any], ...], options: Mapping[str, Any]) -> str:
    for name, value in options.items():
        known = [offer.options[name] for offer in offers if name in offer.options]
        if not known:
            return f"takes no {name}"
        if value not in known:
            return f"takes {name} = {', '.join(map(str, known))} here, not {value!r}"
    return f"takes no {', '.join(f'{name} = {value}' for name, value in options.items())}"


def _asked(
    network: Any,
    task: Task | str,
    switching: str,
    rules: Rules | None,
    cost: AskedCost | None,
    seed: int,
    budget: float | None = None,
    tries: Tries = ALONE,
) -> _Asked:
    """Return the switching and the case of what a user asks, and the case that is planned for it."""
    kind = switchings.named(switching)
    if rules is not None and not isinstance(rules, Rules):
        raise ModelError(f"rules must be gossamer.Rules, got {rules!r}")
    made = as_task(task)
    net = recognized(as_network(network))
    case = kind.case(net, made, rules, cost, read_seed(seed)).within(budget, tries)
    known = net.find(Renumbered)
    if known is None or not kind.renames:
        return _Asked(kind, case, case, None)
    place = known.place.astype(np.int64)
    names = np.empty_like(place)
    names[place] = np.arange(place.size)
    inner = kind.case(known.original, made.renamed(lambda x: place[x]), rules, cost, seed).within(budget, tries)
    return _Asked(kind, case, inner, names)


def _within(
    candidates: list[Candidate[Any]], budget: float | None
) -> Iterator[tuple[Candidate[Any], list[Candidate[Any]]]]:
    """Yield the candidates in order, each with those that are left after the budget's end (none before it)."""
    deadline = None if budget is None else time.monotonic() + budget
    for i, candidate in enumerate(candidates):
        late = i > 0 and deadline is not None and time.monotonic() > deadline
        yield candidate, candidates[i:] if late else []


def _better(found: Outcome, best: Outcome) -> bool:
    """Whether an outcome takes less time, or as much with fewer hops if a solver looked for these."""
    fewer = found.offer.effort == "solver" and found.facts.size < best.facts.size
    return found.completion_time < best.completion_time or (fewer and found.completion_time == best.completion_time)


def _stopped(budget: float | None, left: list[Candidate[Any]]) -> str:
    names = ", ".join(dict.fromkeys(c.algorithm for c in left))
    return f"the budget of {budget:g} s was spent; not tried: {names}"


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
    progress: Say | None = None,
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
        What the schedule must respect. Default: all ports, whole messages, no limit of the buffers.
    cost : StepCost, TimeCost or LinearCost, optional
        What the schedule costs: steps, or seconds for so many bytes (store and forward), or start-ups and bytes
        (wormhole). Default: the defaults of StepCost and LinearCost.
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
    Where an allreduce has a `TimeCost`, the fastest of its forms is planned (`gossamer.forms`).

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
    allowed = limits(memory, budget, choice(effort, "effort", EFFORTS))
    with Tries(whole(jobs, "jobs", 1, MOST), allowed.memory, progress) as tries:
        search = _Search(_asked(network, task, switching, rules, cost, seed, allowed.budget, tries), progress)
        if not (stream or options) and algorithm == "best":
            searches = _forms(search, network, rules, cost, progress)
            if list(searches.values()) != [search]:
                return _best_form(searches, effort, allowed)
        else:
            _in_blocks(cost)
        candidates = search.candidates(algorithm, options or {}, effort, stream)
        # of a stream nothing is kept, so that there is nothing to choose from
        chosen = Fitting(candidates[:1]) if stream else search.fitting(candidates, allowed)
        return _best(search, chosen, allowed, stream, search.bounds(at_first=True))


def _in_blocks(cost: AskedCost | None) -> None:
    """Raise ModelError if another form than blocks is asked for."""
    if isinstance(cost, TimeCost) and cost.form in ("root", "gather"):
        raise ModelError(
            f"form {cost.form!r} goes with a plan by the best algorithm; algorithms by name, their options, "
            "comparisons and streams are of blocks"
        )


def _forms(
    search: _Search, network: Any, rules: Rules | None, cost: AskedCost | None, progress: Say | None
) -> dict[str, _Search]:
    """Return the forms of a task whose times are in seconds, by their words."""
    asked, clock = search.case, search.case.cost
    if not isinstance(cost, TimeCost):
        return {"": search}
    assert isinstance(clock, Clock)
    found: dict[str, _Search] = {}
    for form in forms_of(as_network(network), asked.task, rules, cost):
        if form.task == asked.task:
            found[form.words] = search
            continue
        new = _asked(
            network, form.task, search.kind.name, rules, form.cost, asked.seed, asked.budget, search.planned.tries
        )
        told = counted_alike(new.case.cost, clock, cost.bytes)
        cases = new.case.told_by(told), new.planned.told_by(told)
        found[form.words] = _Search(new._replace(case=cases[0], planned=cases[1]), progress)
    return found


def _best_form(searches: dict[str, _Search], effort: str, allowed: Limits) -> Outcome:
    """Return the best outcome of the form that takes least; one whose bound is no less than that is not planned."""
    began = time.monotonic()
    known = {words: Bounds(search.bounds(at_first=True)) for words, search in searches.items()}
    least = {words: in_seconds(bounds, searches[words].case.cost) for words, bounds in known.items()}
    found: dict[str, Outcome] = {}
    times: list[FormTime] = []
    refused: list[GossamerError] = []
    for words in sorted(searches, key=least.__getitem__):
        search = searches[words]
        if least[words] >= min((t.seconds for t in times), default=least[words] + 1):
            times.append(FormTime(words, least[words], True))
            continue
        try:
            chosen = search.fitting(search.candidates("best", {}, effort), allowed)
        except (NotApplicableError, TooLargeError) as error:
            refused.append(error)
            continue
        left = None if allowed.budget is None else max(allowed.budget - (time.monotonic() - began), 1e-3)
        found[words] = _best(search, chosen, replace(allowed, budget=left), False, known[words])
        known[words] = Bounds(found[words].bounds)
        times.append(FormTime(words, found[words].seconds or Fraction(0), False))
    if not found:
        raise refused[0]
    times.sort(key=lambda form: (form.seconds, form.at_least))
    best = found[times[0].words]
    return replace(best, forms=tuple(times), bounds=_lowest(searches, known, best.case.cost))


def _lowest(searches: dict[str, _Search], bounds: dict[str, Bounds], clock: Cost) -> Bounds:
    """Return the bounds of the form that they allow the least time, which hold whatever the form, by a clock."""
    least = min(bounds, key=lambda words: in_seconds(bounds[words], searches[words].case.cost))
    return in_slots(bounds[least], least, searches[least].case.cost, clock)


def _best(search: _Search, chosen: Fitting[Any], allowed: Limits, stream: bool, bounds: tuple[Bound, ...]) -> Outcome:
    """Return the best outcome of some candidates, beside all bounds."""
    least = bounds[0].value if bounds else Fraction(0)
    best: Outcome | None = None
    said = [chosen.left_out]
    long: list[Told] = []
    for candidate, left in _within(chosen.candidates, allowed.budget):
        if best is not None and best.completion_time <= max(least, candidate.offer.floor):
            continue
        if left and best is not None:
            said.insert(0, _stopped(allowed.budget, left))
            break
        if best is not None and not allowed.thorough and candidate.offer.effort == "search":
            needs = search.needs(candidate)
            if hardly_worth(needs, best.completion_time, least):
                long.append((candidate, needs))
                continue
        found = search.carried_out(candidate, bounds, stream)
        bounds = search.improved(found, first=best is None)  # with what was proved on the way
        least = bounds[0].value if bounds else least
        if best is None or _better(found, best):
            best = found
    assert best is not None  # candidates is never empty
    best = replace(best, bounds=bounds)
    said.append(hardly_worth_text(long))
    return best if best.optimal else replace(best, stopped="; ".join(filter(None, said)))


def replan(
    schedule: Schedule | Outcome, network: Network | Any, *, seed: int = 0, progress: Say | None = None
) -> Outcome:
    """Repair a schedule after links failed instead of planning anew: in a tenth of the time, and about as good.

    Parameters
    ----------
    schedule : Schedule or Outcome
        What was planned on the sound network, store and forward, in whole messages.
    network : Network
        What is left of it, `Network.without` links.
    seed : int
        For the order in which packets are led elsewhere.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Outcome
        Verified, beside the bounds of an outcome that is repaired, which no failure makes smaller, and what is counted
        of the network that is left: at first of its nodes alone, and all if these and the others are not met.

    Raises
    ------
    GossamerError
        If the network is not what is left of the schedule's after links failed, some target is cut off, or the schedule
        is of a kind that is not repaired.

    Examples
    --------
    >>> import gossamer
    >>> sound = gossamer.plan("torus:4x4", "allgather")
    >>> gossamer.replan(sound, sound.case.network.without(links=[(0, 1)])).ratio
    1.0
    """
    found = schedule.schedule if isinstance(schedule, Outcome) else schedule
    if not isinstance(found, Schedule):
        raise NotApplicableError("only store-and-forward schedules that were kept are repaired; plan anew")
    left = as_network(network)
    link = _links_left(found.network, left)
    kind = switchings.named(found.switching)
    case = kind.case(left, found.task, found.rules, found.cost, read_seed(seed))
    search = _Search(_Asked(kind, case, case, None), progress)
    known = schedule.bounds if isinstance(schedule, Outcome) and int((link >= 0).sum()) == left.link_count else ()
    told = [replace(bound, witness=f"before links failed: {bound.witness}") for bound in known]
    # what nodes must send and receive holds up what is copied, not what goes far
    copied = any(demand.shared for demand in case.demands)
    limits = _together(told, node_bounds(case) if copied else ()) if told else counted_bounds(case)
    case.tell_floor(limits[0].value)
    offer = Offer(lambda: repaired(found, case, link), effort="search")
    name = found.algorithm if found.algorithm.endswith(_REPAIRED) else f"{found.algorithm}{_REPAIRED}"
    best: Outcome | None = None
    for candidate in [*_flooded_anew(kind, case), Candidate(name, offer)]:
        if best is None or best.completion_time > limits[0].value:
            now = search.carried_out(candidate, limits, stream=False)
            best = now if best is None or now.completion_time < best.completion_time else best
        if told and best.completion_time > limits[0].value:  # all that is counted, where the first does not do
            limits, told = _together(told, counted_bounds(case)), []
            case.tell_floor(limits[0].value)
    assert best is not None
    return replace(best, bounds=limits)


def _together(*bounds: Iterable[Bound]) -> Bounds:
    """Return bounds in one table, the largest first."""
    return Bounds(sorted(itertools.chain(*bounds), key=lambda bound: -bound.value))


def _flooded_anew(kind: Switching[Any, Any], case: Case) -> Iterator[Candidate[Any]]:
    """Yield what floods a small network anew, which is as quick as a repair."""
    if case.network.terminal_count * case.network.node_count > _FLOODED:
        return
    for algorithm in kind.algorithms:
        if algorithm.name in _FLOODING and isinstance(case.task, algorithm.tasks):
            offers = algorithm.offers(case)
            if not isinstance(offers, Refusal):
                yield Candidate(algorithm.name, offers[0])


_FLOODING = ("greedy-flooding", "reversed-greedy-flooding", "two-way-greedy-flooding")
_FLOODED = 100_000
"""Packets to be brought somewhere up to which flooding anew takes some hundredths of a second."""


def _links_left(network: Network, left: Network) -> IntArray:
    """Return the number in what is left of a network of each of its links, -1 for those that failed."""
    failed, before = left.find(Failed), network.find(Failed)
    numbers = np.arange(network.link_count, dtype=np.int32)
    if failed is not None and before is not None and failed.sound != network:
        network, numbers = before.sound, before.links  # some had failed already
    if failed is None or failed.sound != network:
        raise NotApplicableError(f"{left.spec} is not what is left of {network.spec} after links failed")
    if left.node_count != network.node_count or left.terminal_count != network.terminal_count:
        raise NotApplicableError("a schedule is repaired after links failed, not nodes; plan anew")
    number = np.full(network.link_count, -1, np.int32)
    number[failed.links] = np.arange(left.link_count)
    return np.asarray(number[numbers], np.int32)


_REPAIRED = ", repaired"


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
    progress: Say | None = None,
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
    allowed = limits(memory, budget)
    _in_blocks(cost)
    search = _Search(_asked(network, task, switching, rules, cost, seed, allowed.budget), progress)
    candidates = search.candidates("best", options or {}, choice(effort, "effort", EFFORTS))
    chosen = search.fitting(candidates, allowed)
    bounds = search.bounds()
    found: list[Outcome] = []
    stopped = chosen.left_out
    for candidate, left in _within(chosen.candidates, allowed.budget):
        if left:
            stopped = "; ".join(filter(None, [_stopped(budget, left), stopped]))
            break
        found.append(replace(search.carried_out(candidate, bounds, stream=False), schedule=None))
        bounds = found[-1].bounds
    found.sort(key=lambda outcome: outcome.completion_time)
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
    64 steps, total hops: all messages together need 16,384 hops, made over 256 links
    """
    search = _Search(_asked(network, task, switching, rules, cost, 0), None)
    searches = _forms(search, network, rules, cost, None)
    found = {words: Bounds(form.bounds()) for words, form in searches.items()}
    return found[""] if "" in found else _lowest(searches, found, search.case.cost)
