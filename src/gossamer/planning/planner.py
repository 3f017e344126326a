"""The planner: from a network and a task to a verified schedule beside a lower bound, by one loop over offers."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gossamer.bounds import Bounds
from gossamer.errors import GossamerError, ModelError, NotApplicableError, TooLargeError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.allreduce_variants import VariantTime, counted_alike, forms_of, in_seconds, in_slots
from gossamer.planning.offer_search import ProgressCallback, Search, asked_case, best_of, stopped_text, within
from gossamer.planning.outcome import Comparison, Outcome
from gossamer.planning.switching import SWITCHINGS, named
from gossamer.planning.switching.resource_limits import FittingCandidates, ResourceLimits, limits
from gossamer.processes.trials import MOST, Trials
from gossamer.questions.cases import EFFORTS
from gossamer.questions.costs import AskedCost, Clock, Cost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.reading import choice, whole
from gossamer.reading.quantities import Bytes

__all__ = ["compare", "lower_bounds", "plan", "rules_and_cost"]

# Rules and costs in words, as the command line and studies have them: which belong to which switching.


def rules_and_cost(switching: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the switching, rules and cost of options; ModelError if an option goes with another switching."""
    kind = named(switching)
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
    asked = {"rules": Rules(**rules)} if rules else {}
    return {"switching": switching, "cost": types[0](**cost), **asked}


def _fields(cost: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cost)


def _flag(name: str) -> str:
    return name.replace("_", "-")


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
    allowed = limits(memory, budget, choice(effort, "effort", EFFORTS))
    with Trials(whole(jobs, "jobs", 1, MOST), allowed.memory, progress) as tries:
        search = Search(asked_case(network, task, switching, rules, cost, seed, allowed.budget, tries), progress)
        if not (stream or options) and algorithm == "best":
            searches = _forms(search, network, rules, cost, progress)
            if list(searches.values()) != [search]:
                return _best_form(searches, effort, allowed)
        else:
            _in_blocks(cost)
        candidates = search.candidates(algorithm, options or {}, effort, stream)
        # of a stream nothing is kept, so that there is nothing to choose from
        chosen = FittingCandidates(candidates[:1]) if stream else search.fitting(candidates, allowed)
        return best_of(search, chosen, allowed, stream, search.bounds(at_first=True))


def _in_blocks(cost: AskedCost | None) -> None:
    """Raise ModelError if another form than blocks is asked for."""
    if isinstance(cost, TimeCost) and cost.form in ("root", "gather"):
        raise ModelError(
            f"form {cost.form!r} goes with a plan by the best algorithm; algorithms by name, their options, "
            "comparisons and streams are of blocks"
        )


def _forms(
    search: Search, network: Any, rules: Rules | None, cost: AskedCost | None, progress: ProgressCallback | None
) -> dict[str, Search]:
    """Return the forms of a task whose times are in seconds, by their words."""
    asked, clock = search.case, search.case.cost
    if not isinstance(cost, TimeCost):
        return {"": search}
    assert isinstance(clock, Clock)
    found: dict[str, Search] = {}
    for form in forms_of(as_network(network), asked.task, rules, cost):
        if form.task == asked.task:
            found[form.words] = search
            continue
        new = asked_case(
            network, form.task, search.kind.name, rules, form.cost, asked.seed, asked.budget, search.planned.tries
        )
        told = counted_alike(new.case.cost, clock, cost.bytes)
        cases = new.case.told_by(told), new.planned.told_by(told)
        found[form.words] = Search(new._replace(case=cases[0], planned=cases[1]), progress)
    return found


def _best_form(searches: dict[str, Search], effort: str, allowed: ResourceLimits) -> Outcome:
    """Return the best outcome of the form that takes least; one whose bound is no less than that is not planned."""
    began = time.monotonic()
    known = {words: Bounds(search.bounds(at_first=True)) for words, search in searches.items()}
    least = {words: in_seconds(bounds, searches[words].case.cost) for words, bounds in known.items()}
    found: dict[str, Outcome] = {}
    times: list[VariantTime] = []
    refused: list[GossamerError] = []
    for words in sorted(searches, key=least.__getitem__):
        search = searches[words]
        if least[words] >= min((t.seconds for t in times), default=least[words] + 1):
            times.append(VariantTime(words, least[words], True))
            continue
        try:
            chosen = search.fitting(search.candidates("best", {}, effort), allowed)
        except (NotApplicableError, TooLargeError) as error:
            refused.append(error)
            continue
        left = None if allowed.budget is None else max(allowed.budget - (time.monotonic() - began), 1e-3)
        found[words] = best_of(search, chosen, replace(allowed, budget=left), False, known[words])
        known[words] = Bounds(found[words].bounds)
        times.append(VariantTime(words, found[words].seconds or Fraction(0), False))
    if not found:
        raise refused[0]
    times.sort(key=lambda form: (form.seconds, form.at_least))
    best = found[times[0].words]
    return replace(best, forms=tuple(times), bounds=_lowest(searches, known, best.case.cost))


def _lowest(searches: dict[str, Search], bounds: dict[str, Bounds], clock: Cost) -> Bounds:
    """Return the bounds of the form that they allow the least time, which hold whatever the form, by a clock."""
    least = min(bounds, key=lambda words: in_seconds(bounds[words], searches[words].case.cost))
    return in_slots(bounds[least], least, searches[least].case.cost, clock)


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
    search = Search(asked_case(network, task, switching, rules, cost, 0), None)
    searches = _forms(search, network, rules, cost, None)
    found = {words: Bounds(form.bounds()) for words, form in searches.items()}
    return found[""] if "" in found else _lowest(searches, found, search.case.cost)
