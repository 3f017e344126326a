"""One case that is asked, its candidates and bounds, and the loop over offers that builds, verifies and compares."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.registry import current_name
from gossamer.atomic_files import memory_text
from gossamer.bounds import Bound, Bounds
from gossamer.bounds.bound import largest, largest_first
from gossamer.bounds.registry import case_scope
from gossamer.errors import ModelError, NotApplicableError, few_of, nearest, shown
from gossamer.networks import as_network
from gossamer.networks.derived import Renumbered
from gossamer.networks.recognition import recognized
from gossamer.planning import switching as switchings
from gossamer.planning.outcome import Expense, Outcome, peak_memory
from gossamer.planning.switching import Switching
from gossamer.planning.switching.resource_limits import (
    Candidate,
    FittingCandidates,
    ResourceLimits,
    Told,
    expected,
    fitting,
    hardly_worth,
    hardly_worth_text,
    in_turn,
    time_text,
)
from gossamer.processes.search_trials import ALONE, Trials
from gossamer.questions.cases import Case, Needs, Offer, Refusal
from gossamer.questions.costs import AskedCost, Clock
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, as_task
from gossamer.reading import seed as read_seed
from gossamer.schedules import expand, relabel

ProgressCallback = Callable[[str], None]
Bounding = Callable[[Any], tuple[Bound, ...]]

_CLOSE = Fraction(51, 50)
"""Times the bound: so near to it, no bounds that take long are looked for."""

_WORTH_SAYING = 5.0
"""Seconds from which on it is said how long a schedule takes to build."""


class Question(NamedTuple):
    """What is asked.

    * `kind`: how messages travel.
    * `case`: what the user asked.
    * `planned`: what is planned: the same, or the same on the network that the user's turned out to be, of which more
      is known.
    * `names` (int64[N] or None): the node of the user's network that each node of the planned one is; None where it is
      the same network.
    """

    kind: Switching[Any, Any]
    case: Case
    planned: Case
    names: npt.NDArray[np.int64] | None


class Search:
    """One case, its candidates and bounds, and the loop that builds and verifies.

    With `bounding` no other bounds are looked for than those that it gives for the planned case. `times` has the best
    time of each algorithm that was carried out. `cost` and `buffer` are as it was asked for: of a form of a task with
    another cost, and the bytes that bandwidths count.
    """

    def __init__(
        self,
        asked: Question,
        progress: ProgressCallback | None,
        bounding: Bounding | None = None,
        cost: AskedCost | None = None,
        buffer: int = 0,
    ) -> None:
        self.cost, self.buffer = cost, buffer
        self.kind, self.case, self.planned, self.names = asked
        self._bounding = bounding
        self.say: ProgressCallback = progress or (lambda stage: None)
        self.refusals: dict[str, str] = {}
        self.times: dict[str, Fraction] = {}
        self._quick = False

    def candidates(
        self, algorithm: str, options: Mapping[str, Any], effort: str, streamed: bool = False
    ) -> list[Candidate[Any]]:
        """Return what is to be tried, in order; NotApplicableError with the reasons if there is nothing."""
        if not isinstance(options, Mapping):
            raise ModelError(f"options must be a dict of words and values, got {shown(options)}")
        task = self.case.task
        of_task = {a.name: a for a in self.kind.algorithms(type(task))}
        algorithm = current_name(algorithm) if isinstance(algorithm, str) else algorithm
        if algorithm == "best":
            named = list(of_task.values())
        elif algorithm in of_task:
            named = [of_task[algorithm]]
        else:
            names = few_of(algorithm, of_task) or "none yet"
            hint = nearest(algorithm, of_task) or f"; there are: {names}"
            raise NotApplicableError(f"no {self.kind.noun} {shown(algorithm)} for {task.word}{hint}")
        found: list[Candidate[Any]] = []
        for each in named:
            offers = each.offers(self.planned, streamed=streamed)
            if isinstance(offers, Refusal):
                self.refusals[each.name] = offers.why
                continue
            suit = [o for o in offers if options.items() <= o.options.items()]
            usual = suit if options else [o for o in suit if not o.on_request]
            chosen = usual or (suit if algorithm != "best" else [])
            if not chosen:
                self.refusals[each.name] = _no_such_option(offers, options) if options else "is built when it is named"
            found += [Candidate(each.name, offer) for offer in (chosen if algorithm == "best" else chosen[:1])]
        if not found:
            raise NotApplicableError(self._nothing(algorithm, bool(of_task)))
        return in_turn(found, effort)

    def knows(self, algorithm: object) -> bool:
        """Return whether an algorithm of this name is for the task."""
        name = current_name(algorithm) if isinstance(algorithm, str) else algorithm
        return any(each.name == name for each in self.kind.algorithms(type(self.case.task)))

    def closed_forms(self, effort: str) -> bool:
        """Return whether algorithms in closed form are offered: the network has a structure."""
        try:
            return any(each.offer.effort == "closed form" for each in self.candidates("best", {}, effort))
        except NotApplicableError:
            return False

    def _nothing(self, algorithm: str, known: bool) -> str:
        case = self.case
        where = f"{case.task.word} on {case.network.spec}"
        if not known:
            return f"no {self.kind.noun} for {case.task.word} yet; its lower bounds are known (gossamer bounds)"
        if algorithm != "best":
            return f"algorithm {algorithm!r} does not cover {where}: it {self.refusals[algorithm]}"
        large = {name: why for name, why in self.refusals.items() if "are allowed" in why}
        told = "; ".join(f"{name} {why}" for name, why in (large or self.refusals).items())
        if large:
            told = f"it is too large; fewer ranks at once (--groups), or a symmetric network, would fit: {told}"
        return f"no {self.kind.noun} covers {where} with {self.kind.describe(case)}: {told}"

    def fitting(self, candidates: list[Candidate[Any]], allowed: ResourceLimits) -> FittingCandidates[Any]:
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
        if self._bounding is not None:
            found = self._bounding(self.planned)
        else:
            quick = self.kind.quick_bounds(self.planned) if at_first else None
            self._quick = quick is not None
            found = self.kind.bounds(self.planned) if quick is None else quick
        if found:
            self.planned.tell_floor(largest(found))
        return found

    def improved(self, found: Outcome, *, first: bool) -> tuple[Bound, ...]:
        """Return the bounds of an outcome, and those that take long if the first one is not close to what it has."""
        least = largest(found.bounds)
        if not first or not self._quick or found.completion_time <= least * _CLOSE:
            return found.bounds
        more = {(bound.name, bound.scope): bound for bound in (*self.bounds(), *found.bounds)}
        return largest_first(more.values())

    def built(self, schedule: Any, algorithm: str) -> Any:
        """Return what an algorithm built for the planned case as a schedule of the case, with its clock."""
        schedule = schedule.replace(algorithm=algorithm)
        if self.names is not None:
            schedule = relabel(expand(schedule), self.names, self.case.network).replace(task=self.case.task)
        return schedule.replace(cost=self.case.cost) if isinstance(self.case.cost, Clock) else schedule

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
            schedule = self.built(offer.build(), candidate.algorithm)
            built = time.process_time() + tries.seconds - began
            self.say(f"verifying the schedule of {candidate.algorithm}")
            verification = kind.verify(schedule, 20)
            completion, held = kind.completion(schedule), schedule.nbytes
        verification.raise_if_invalid()
        self.times[candidate.algorithm] = min(completion, self.times.get(candidate.algorithm, completion))
        if schedule is not None:
            self.say("measuring links and buffers")
            facts = kind.facts(schedule)
        expense = Expense(built, verification.seconds, held, peak_memory())
        proof = None if offer.proof is None else offer.proof()
        if proof is not None:
            proved = Bound(proof.name, proof.value, proof.witness, "search", candidate.algorithm, self.case.cost.unit)
            if all(bound.scope or bound.value < proof.value for bound in limits):
                proved = proved.within(case_scope(self.case))
            limits = Bounds(largest_first((*limits, proved)))
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


def asked_case(
    network: Any,
    task: Task | str,
    switching: str,
    rules: Rules | None,
    cost: AskedCost | None,
    seed: int,
    budget: float | None = None,
    tries: Trials = ALONE,
) -> Question:
    """Return the switching and the case of what a user asks, and the case that is planned for it."""
    kind = switchings.named(switching)
    if rules is not None and not isinstance(rules, Rules):
        raise ModelError(f"rules must be gossamer.Rules, got {shown(rules)}")
    made = as_task(task)
    net = recognized(as_network(network))
    case = kind.case(net, made, rules, cost, read_seed(seed)).within(budget, tries)
    known = net.find(Renumbered)
    if known is None or not kind.renames:
        return Question(kind, case, case, None)
    place = known.place.astype(np.int64)
    names = np.empty_like(place)
    names[place] = np.arange(place.size)
    inner = kind.case(known.original, made.renamed(lambda x: place[x]), rules, cost, seed).within(budget, tries)
    return Question(kind, case, inner, names)


def within(
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


def stopped_text(budget: float | None, left: list[Candidate[Any]]) -> str:
    """Say that the budget is spent and what was not tried."""
    names = ", ".join(dict.fromkeys(c.algorithm for c in left))
    return f"the budget of {budget:g} s was spent; not tried: {names}"


def best_of(
    search: Search, chosen: FittingCandidates[Any], allowed: ResourceLimits, stream: bool, bounds: tuple[Bound, ...]
) -> Outcome:
    """Return the best outcome of some candidates, beside all bounds."""
    least = largest(bounds)
    best: Outcome | None = None
    said = [chosen.left_out]
    long: list[Told] = []
    for candidate, left in within(chosen.candidates, allowed.budget):
        if best is not None and best.completion_time <= max(least, candidate.offer.floor):
            continue
        if left and best is not None:
            said.insert(0, stopped_text(allowed.budget, left))
            break
        if best is not None and not allowed.thorough and candidate.offer.effort == "search":
            needs = search.needs(candidate)
            if hardly_worth(needs, best.completion_time, least):
                long.append((candidate, needs))
                continue
        found = search.carried_out(candidate, bounds, stream)
        bounds = search.improved(found, first=best is None)  # with what was proved on the way
        least = largest(bounds)
        if best is None or _better(found, best):
            best = found
    assert best is not None  # candidates is never empty
    best = replace(best, bounds=bounds)
    said.append(hardly_worth_text(long))
    return best if best.completion_time == least else replace(best, stopped="; ".join(filter(None, said)))
