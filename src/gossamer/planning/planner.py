"""The planner: from a network and a task to a verified schedule beside a lower bound, by one loop over offers."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from gossamer.algorithms.any_network.repeated_trees import REPEATED_TREES
from gossamer.algorithms.registry import current_name
from gossamer.atomic_files import quantity
from gossamer.bounds import Bounds
from gossamer.bounds.bound import largest
from gossamer.bounds.registry import counted_bounds
from gossamer.errors import GossamerError, ModelError, NotApplicableError, TooLargeError
from gossamer.networks import as_network
from gossamer.networks.network import Network, has_speeds
from gossamer.networks.structures import SwitchAbilities
from gossamer.planning.allreduce_variants import (
    VariantTime,
    forms_of,
    split_sums,
    told_time,
)
from gossamer.planning.chunk_counts import (
    LARGE,
    LITTLE_WORK,
    AskedQuestion,
    FoundPlan,
    PacketPlans,
    Repeatable,
    as_repeatable,
    large_orbits,
    repeated,
    similar,
)
from gossamer.planning.offer_search import ProgressCallback, Search, asked_case, best_of, stopped_text, within
from gossamer.planning.outcome import Comparison, Outcome
from gossamer.planning.switching import SWITCHINGS, named
from gossamer.planning.switching.resource_limits import FittingCandidates, ResourceLimits, limits, time_text
from gossamer.planning.usual_algorithms import USUAL, UnknownNameError, meant, reversed_kind
from gossamer.processes.search_trials import MOST, Trials
from gossamer.questions.cases import EFFORTS
from gossamer.questions.costs import AskedCost, FineTimeCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MOVE, Allreduce, Grouped, PartialSumAllreduce, Task, includes, packets_of
from gossamer.reading import choice, whole
from gossamer.reading.quantities import Bytes

__all__ = ["as_usual", "by_name", "compare", "lower_bounds", "plan", "question_of", "rules_and_cost"]

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
        asked = AskedQuestion(network, search, rules, cost)
        if algorithm != "best":
            _in_blocks(cost)
            return by_name(asked, algorithm, options or {}, effort, allowed, stream)
        if not (stream or options):
            forms = _forms(search, network, rules, cost, progress)
            searches = _until_sums(forms)
            if list(searches.values()) != [search] or asked.may_cut(search):
                return _best_form(asked, search, searches, forms, effort, allowed)
        else:
            _in_blocks(cost)
        return _single(asked, search, search.candidates("best", options or {}, effort, stream), allowed, stream)


def _single(
    asked: AskedQuestion, search: Search, candidates: list[Any], allowed: ResourceLimits, stream: bool
) -> Outcome:
    """Return the best outcome of some candidates of one case."""
    # of a stream nothing is kept, so that there is nothing to choose from
    chosen = FittingCandidates(candidates[:1]) if stream else search.fitting(candidates, allowed)
    return asked.told(best_of(search, chosen, allowed, stream, search.bounds(at_first=True)), search)


def question_of(
    network: Network, task: Task, rules: Rules, cost: AskedCost, progress: ProgressCallback | None
) -> AskedQuestion:
    """Return a question of packets, which algorithms are asked one after the other by their names."""
    search = Search(asked_case(network, task, "store-and-forward", rules, cost, 0), progress, cost=cost)
    return AskedQuestion(network, search, rules, cost)


def by_name(
    asked: AskedQuestion, name: str, options: Mapping[str, Any] | None = None, effort: str = "search",
    allowed: ResourceLimits | None = None, stream: bool = False, allow: Callable[[float], bool] = lambda seconds: True,
) -> Outcome:  # fmt: skip
    """Return the best outcome of an algorithm that is named, in the form of the task that it is for.

    In seconds, with as many packets a message as take least, unless options are given or nothing is kept. `allow` is
    told how many seconds a plan is estimated to take before it is made, and says whether it is made.

    Raises
    ------
    NotApplicableError
        If no algorithm has the name, or it does not cover the case.
    TooLargeError
        If the first plan is not allowed.
    """
    search, began, options = asked.search, time.monotonic(), options or {}
    allowed = allowed or limits(None, None)
    cut = asked.may_cut(search) and not (stream or options)
    if cut and isinstance(name, str) and current_name(name) == REPEATED_TREES.name:
        return _repeated_trees(asked, effort, allowed)
    by = _named(asked, name, options, effort, stream, cut)
    if not allow(by.seconds):
        raise TooLargeError(f"building it takes about {time_text(by.seconds)}")
    if cut:
        plans = PacketPlans(asked, by.search, True, effort, allowed, began, by.algorithm, by.options)
        plans.plan_cut(largest(asked.exact), plans.plan_whole(by.search.bounds(at_first=True)))
        plans.plan_finer()
        return _best_packets(asked, [FoundPlan(by.words, *each) for each in plans.found.values()], allowed, began)
    best = _single(asked, by.search, by.candidates, allowed, stream)
    if not by.words:
        return best
    forms = (VariantTime(by.words, told_time(best.completion_time, by.search.case.cost), False),)
    return asked.told(replace(best, forms=forms, asked=search.case.task), by.search, by.words)


class _Named(NamedTuple):
    """An algorithm that a name stands for: the form of the task in words, its search, its options, what it offers."""

    words: str
    search: Search
    algorithm: str
    options: Callable[[Any], Mapping[str, Any]]
    candidates: list[Any]

    @property
    def seconds(self) -> float:
        """About how long the first of the candidates takes."""
        needs = self.search.needs(self.candidates[0])
        return 0.0 if needs is None else needs.seconds


def _named(asked: AskedQuestion, name: str, options: Mapping[str, Any], effort: str, stream: bool, cut: bool) -> _Named:
    """Return what a name stands for; where messages may be `cut`, with as many packets as it needs.

    Raises
    ------
    NotApplicableError
        If no algorithm has the name, or it does not cover the case.
    """
    search = asked.search
    try:
        return _Named("", search, name, _no_options, search.candidates(name, options, effort, stream))
    except NotApplicableError as error:
        try:
            found = meant(
                name, asked.network, search.case.task, asked.rules or Rules(), search.kind.name, exactly=not cut
            )
        except NotApplicableError as none:
            raise (error if search.knows(name) or isinstance(none, UnknownNameError) else none) from None
    words, of = ("", search) if found.task == search.case.task else _another_form(asked, found.task)
    told = options or found.options_for(of.planned)
    name = found.algorithm.name
    return _Named(words, of, name, found.options_for, of.candidates(name, told, effort, stream))


def _no_options(case: Any) -> Mapping[str, Any]:
    """Return no options of an algorithm."""
    return {}


def _another_form(asked: AskedQuestion, task: Task) -> tuple[str, Search]:
    """Return the search of another task that does what is asked for, with what it is called."""
    search, cost = asked.search, asked.cost
    if not includes(task, PartialSumAllreduce):
        return "", similar(search, asked.network, task, asked.rules, cost, search.say, search.buffer)
    chunks = packets_of(task.task if isinstance(task, Grouped) else task)
    words = f"partial sums in {quantity(chunks, 'chunk')}"
    if not isinstance(cost, TimeCost):
        return words, similar(search, asked.network, task, asked.rules, cost, search.say)
    fine = FineTimeCost(cost.bytes, bandwidth=cost.bandwidth, latency=cost.latency, overhead=cost.overhead)
    return words, similar(search, asked.network, task, asked.rules, fine, search.say, cost.bytes)


def _repeated_trees(asked: AskedQuestion, effort: str, allowed: ResourceLimits) -> Outcome:
    """Return the best outcome of trees that are repeated for all chunks, of all forms; they are found for no task."""
    search, began = asked.search, time.monotonic()
    forms = _until_sums(_forms(search, asked.network, asked.rules, asked.cost, search.say))
    parts = (
        part
        for words, each in forms.items()
        for part in PacketPlans(asked, each, True, effort, allowed, began).even(words)
    )
    found = repeated(asked, [], parts, largest(asked.exact), lambda: False)
    if not found:
        raise NotApplicableError(f"no trees are found that may be repeated for {search.case.task.word}")
    return _best_packets(asked, found, allowed, began)


def _best_packets(asked: AskedQuestion, found: list[FoundPlan], allowed: ResourceLimits, began: float) -> Outcome:
    """Return the best outcome of one algorithm's plans with several numbers of packets, or of their repetition."""

    def late() -> bool:
        return allowed.budget is not None and time.monotonic() - began > allowed.budget

    some = [
        *found,
        *repeated(asked, found, as_repeatable(found), largest(asked.exact), late, gain=Fraction(1), near=Fraction(1)),
    ]
    best = min(some, key=lambda each: each.time)
    told = sorted((VariantTime(each.words(True), each.time, False) for each in some), key=lambda form: form.time)
    shown = tuple(told) if told[1:] or best.form else ()
    outcome = replace(best.outcome, forms=shown, asked=asked.search.case.task)
    return asked.told(outcome, best.search, told[0].words)


def _in_blocks(cost: AskedCost | None) -> None:
    """Raise ModelError if another form than blocks is asked for."""
    if isinstance(cost, TimeCost) and cost.form not in ("best", "blocks"):
        raise ModelError(
            f"form {cost.form!r} goes with a plan by the best algorithm; one that is named has its own form, and "
            "options, comparisons and streams are of blocks"
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
                (search if own else similar(search, network, form.task, rules, form.cost, progress, cost.bytes)),
            )
        return
    sums = split_sums(asked) if search.kind.name == "store-and-forward" else None
    yield "" if sums is None else "reduce-scatter + allgather", search
    if sums is not None:
        yield "partial sums", similar(search, network, sums, rules, cost, progress)


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


def _best_form(
    asked: AskedQuestion, search: Search, searches: dict[str, Search], more: Iterator[tuple[str, Search]], effort: str,
    allowed: ResourceLimits,
) -> Outcome:  # fmt: skip
    """Return the best outcome of all forms of a task, with as many packets a message as take least.

    A form whose bound is no less than the best time is not planned; `more` are asked for if the first do not do.
    """
    began = time.monotonic()
    least: dict[str, Fraction] = {}
    plans: dict[str, PacketPlans] = {}
    found, passed = list[FoundPlan](), list[VariantTime]()
    refused: list[GossamerError] = []

    def add(words: str, each: Search) -> None:
        least[words] = asked.least(each, words, counted_bounds(each.planned))
        plans[words] = PacketPlans(asked, each, asked.may_cut(each), effort, allowed, began)

    def late() -> bool:
        return allowed.budget is not None and time.monotonic() - began > allowed.budget

    def repeat(parts: Iterable[Repeatable]) -> None:
        shortest = min(found, key=lambda each: each.time, default=None)
        done = shortest is not None and large_orbits(search.case, shortest.outcome.schedule) and near(shortest.time)
        if not late() and not done:
            # the textbooks' formulas for what is only moved are at the bound
            finely = {"gain": _GAINED, "near": _MET, "alike": _SAME} if moved else {}
            found.extend(repeated(asked, found, parts, lowest(), late, **finely))

    moved = search.case.network.terminal_count < LARGE and bool((search.case.messages.discipline == MOVE).all())

    def lowest() -> Fraction:
        return max([min(least.values()), *(bound.value for bound in asked.exact)])

    ranks = search.case.network.terminal_count

    def near(time: Fraction, enough: Fraction = _ENOUGH_LARGE if ranks >= LARGE else _ENOUGH) -> bool:
        return asked.may_cut(asked.search) and time <= lowest() * enough

    for words, each in searches.items():
        add(words, each)
    sums = next((words for words, each in searches.items() if _of_sums(each)), None)
    if sums is not None and asked.much_to_send:
        repeat(plans[sums].even(sums))
    first = found[-1:] if not search.closed_forms(effort) else []
    settled = any(near(each.time, _ENOUGH_SUMS) if ranks >= 2 * LARGE else near(each.time) for each in first)
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
            repeat(planning.even(words))
        planning.plan_cut(least[words], min([whole, *(f.time for f in found)]))
        found += [FoundPlan(words, *each) for each in planning.found.values()]
        if planning.may_cut and not far:
            repeat(planning.even(words))
    if not found:
        raise refused[0]
    own = next((words for words, each in searches.items() if each is search), "")
    found += _usual(asked, own, found, lowest(), effort, allowed, late)
    repeat(as_repeatable(found))
    found += _finer(asked, found, plans, lowest(), late)
    forms = [each.form for each in found]
    several = {form for form in forms if (form not in plans or plans[form].may_cut) and forms.count(form) > 1}
    told = [VariantTime(each.words(each.form in several), each.time, False) for each in found]
    times = sorted([*passed, *told], key=lambda form: (form.time, form.at_least))
    best = min(found, key=lambda each: each.time)
    words = "" if list(searches.values()) == [search] else best.words(best.form in several)
    shown = tuple(times) if times[1:] or words else ()
    return asked.told(replace(best.outcome, forms=shown, asked=search.case.task), best.search, words)


def _finer(
    asked: AskedQuestion, found: list[FoundPlan], plans: Mapping[str, PacketPlans], least: Fraction,
    late: Callable[[], bool],
) -> list[FoundPlan]:  # fmt: skip
    """Return the best plan with more packets a message, where that is little work.

    `plans`: those of each form. `least` holds for all plans, in seconds.
    """
    best = min(found, key=lambda each: each.time)
    if not asked.may_cut(asked.search) or best.time <= least * _MET or late():
        return []
    own = plans.get(best.form)
    if own is None or not own.may_cut or next(iter(own.found), None) != packets_of(best.search.case.task):
        return []
    before = set(own.found)
    own.plan_finer()
    some = [FoundPlan(best.form, *each) for packets, each in own.found.items() if packets not in before]
    return [each for each in some if each.time < best.time * _GAINED]


def _usual(
    asked: AskedQuestion, own: str, found: list[FoundPlan], least: Fraction, effort: str, allowed: ResourceLimits,
    late: Callable[[], bool],
) -> list[FoundPlan]:  # fmt: skip
    """Return the plans of usual algorithms, and of some others, that may take less time than the best plan.

    `own`: the form of the task's own messages in words. `least` holds for all plans, in seconds.

    An algorithm is planned with as few packets as it needs. No cutting makes its longest chain of latencies shorter, or
    its busiest link much less busy. If these leave room below the best plan, it is planned with many packets; what
    falls with their number says what it takes at best, and only then it is planned with as many as take least.
    """
    search, began, better = asked.search, time.monotonic(), list[FoundPlan]()
    best = min(each.time for each in found)
    built = {each.outcome.algorithm: each for each in sorted(found, key=lambda each: -each.time)}
    if not asked.may_cut(search) or best <= least * _MET or search.case.network.terminal_count >= LARGE:
        return better
    assert isinstance(asked.cost, TimeCost)
    form, tried = asked.cost.form, set[tuple[str, ...]]()
    kind = reversed_kind(search.case.task)
    also = _ALSO.get(kind, ())
    for name in (*(usual.name for usual in USUAL if kind in usual.uses), *also):
        if late():
            break
        try:
            by = _named(asked, name, {}, effort, False, True)
            if form not in ("best", "sums" if _of_sums(by.search) else "blocks"):
                continue
            before = built.get(by.algorithm)
            one = by.algorithm, by.words, *map(str, by.options(by.search.planned).items())
            behind = before and name not in also and before.time > best * _LIKE
            if one in tried or by.seconds > _QUICK or behind:
                continue
            tried.add(one)
            plans = PacketPlans(asked, by.search, True, effort, allowed, began, by.algorithm, by.options)
            if plans.promises(best * _GAINED):
                plans.plan_cut(least, plans.whole)
                plans.plan_finer()
        except (NotApplicableError, TooLargeError):
            continue
        some = [FoundPlan(by.words or own, *each) for each in plans.found.values()]
        if min(each.time for each in some) <= best * _ALIKE:
            little = [each for each in some if each.outcome.facts.size <= 4 * LITTLE_WORK]
            some += repeated(asked, some, as_repeatable(little), least, late, gain=Fraction(1), near=Fraction(1))
        better += [each for each in some if each.time < best * _GAINED]
        best = min([best, *(each.time for each in better)])
    return better


_MET, _LIKE, _GAINED, _QUICK = Fraction(1001, 1000), Fraction(5, 4), Fraction(999, 1000), 1.0
"""Times the bound up to which no usual algorithm is tried; times the best plan from which on one that was planned is
not planned again; the share of its time that is worth it; seconds that building one may take."""
_ALSO: dict[type[Task], tuple[str, ...]] = {Allreduce: ("exchange-in-blocks",)}
"""Algorithms that are tried as usual ones are, whatever they take with few packets."""
_SAME = Fraction(9995, 10_000)
"""The share of the time for which packets that are only moved are not cut further."""
_ALIKE = Fraction(51, 50)
"""Times the best: usual algorithms up to that are repeated."""
_ENOUGH, _ENOUGH_LARGE, _ENOUGH_SUMS = Fraction(203, 200), Fraction(26, 25), Fraction(27, 25)
"""Times the bound: where a plan is so near to it, and the network has no structure, no further form is planned; the
same of large networks, where other forms take long, and of trees of sums on twice as large ones."""


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
    bounds = AskedQuestion(network, search, rules, cost).bounds(search, bounds)
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
    asked = AskedQuestion(network, search, rules, cost)
    words, first = next(_forms(search, network, rules, cost, None))  # its own form, or the one that is asked for
    return asked.bounds(first, first.bounds(), words)
