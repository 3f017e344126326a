"""Forms of an allreduce, of which the fastest depends on the bytes.

The fewest bytes move where each rank reduces a block of the buffer and sends it out; but then each block goes the
longest way twice. Short messages need little but the latencies of the links. All may then be reduced at one rank in
the middle, from which no way is long; or every rank sends its whole buffer to all and combines what it gets, so that
nothing goes a way twice; or ranks exchange partial sums in stages, whole or in chunks; or chunks are summed along trees
to any nodes, those of no group and of other groups too. In groups the same holds for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.allreduce.staged_allreduce import likely_chunks
from gossamer.algorithms.any_network.free_root_trees import tree_chunks
from gossamer.bounds import Bound, Bounds
from gossamer.bounds.allreduce_any_form import ANY_FORM, any_form_bounds, sums_of
from gossamer.bounds.bound import asked_first, largest
from gossamer.bounds.earliest_arrivals import searches, spread
from gossamer.bounds.registry import WHOLE, case_scope, slow
from gossamer.bounds.registry import bounds as all_bounds
from gossamer.errors import ModelError
from gossamer.networks.hierarchy import hierarchy
from gossamer.networks.network import Network
from gossamer.networks.recognition.missing_links import almost_torus
from gossamer.networks.recognition.switch_shifts import switch_shift
from gossamer.questions.cases import Case
from gossamer.questions.costs import AskedCost, Clock, Cost, FineTimeCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Grouped,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    Task,
    Together,
    chunked,
    in_packets,
)
from gossamer.questions.tasks.byte_counts import sizing_of

__all__ = [
    "AllreduceVariant",
    "VariantTime",
    "asked_scopes",
    "counted_alike",
    "exact_bounds",
    "forms_of",
    "of_question",
    "split_sums",
    "told_time",
]


class AllreduceVariant(NamedTuple):
    """A form of a task.

    * `name` (str): as `gossamer.TimeCost` takes it.
    * `words` (str): for people.
    * `task` (Task): what is carried out.
    * `cost` (TimeCost): with the bytes of its messages, as many as the task that is asked for has.
    """

    name: str
    words: str
    task: Task
    cost: TimeCost


class VariantTime(NamedTuple):
    """A form in words with its time, or with what it takes at least where it was not planned.

    In seconds, or in steps where no bytes are asked for.
    """

    words: str
    time: Fraction
    at_least: bool


def forms_of(network: Network, task: Task, rules: Rules | None, cost: TimeCost) -> Iterator[AllreduceVariant]:
    """Yield the forms of a task as far as they are asked for, its own first: several of an allreduce.

    * `network` (Network): without the times that `cost` gives it.
    * `task` (Task): as it is asked for.
    * `rules` (Rules or None): for how long ways take.
    * `cost` (TimeCost): says which form is asked for.

    Raises `ModelError` if a form is asked for of another task.

    The root is one from which the furthest terminal, there and back, is nearest: O(N L log L), some nodes for all of
    large networks.

    >>> from gossamer.networks import array
    >>> cost = TimeCost(1000, bandwidth="1GB/s", latency="1us")
    >>> for form in [*forms_of(array(5), Allreduce(), None, cost)][:4]:
    ...     print(form.words)
    reduce-scatter + allgather
    reduce + broadcast at (2)
    allgather and reduce locally
    partial sums in 80 chunks
    """
    groups = _ranks_of(network, task)
    if not groups and cost.form not in ("best", "blocks"):
        raise ModelError(f"form {cost.form!r} is one of an allreduce, not of {task.word}")
    if cost.form == "blocks" or max(map(len, groups), default=0) < 2:
        yield AllreduceVariant("blocks", "", task, cost)
        return
    if cost.form == "best":
        yield AllreduceVariant("blocks", "reduce-scatter + allgather", task, cost)
        ranks = network.terminal_count * (2 if cost.bytes >= _MUCH else 1)
        if isinstance(task, Allreduce) and ranks >= _LARGE and _composed(network, rules):
            return  # its bound is met nearly, and sets of contributions of so many ranks take minutes
    # messages are whole buffers, and forms are close to each other
    whole = FineTimeCost(
        cost.bytes, bandwidth=cost.bandwidth, latency=cost.latency, overhead=cost.overhead, form=cost.form
    )

    def among(inner: Task) -> Task:
        return Grouped(inner, groups) if isinstance(task, Grouped) else inner

    timed, clock = whole.on(network, among(PartialSumAllreduce()))
    most = max(1, cost.bytes // clock.least_packet(timed))
    case = Case(timed, among(MultinodeBroadcast()), rules)
    if cost.form in ("best", "root") and len(groups) <= _MOST_ROOTS:
        roots = [_middle(case, row) for row in groups]
        words = "reduce + broadcast"
        if len(groups) == 1:
            words += f" at {network.node_name(groups[0][roots[0]])}"
        yield AllreduceVariant("root", words, _through(task, groups, roots), whole)
    if cost.form in ("best", "gather"):
        yield AllreduceVariant("gather", "allgather and reduce locally", case.task, whole)
    if cost.form in ("best", "sums"):
        seen = set[int]()
        for chunks in (1,) if cost.whole else _likely(timed, case.rules, groups):
            if chunks <= most and chunks not in seen:
                seen.add(chunks)
                words = "partial sums" + (f" in {chunks} chunks" if chunks > 1 else "")
                yield AllreduceVariant("sums", words, among(chunked(PartialSumAllreduce(), chunks)), whole)


def _composed(network: Network, rules: Rules | None) -> bool:
    """Return whether an allreduce of blocks is planned by symmetry, and hardly any other form is better."""
    if rules is not None and (rules.reduction or rules.ports != "all"):
        return False
    found = hierarchy(network)
    if found is not None:
        return bool(found.translations)
    return almost_torus(network) is not None or switch_shift(network) is not None


def _likely(network: Network, rules: Rules, groups: tuple[tuple[int, ...], ...]) -> Iterator[int]:
    """Yield numbers of chunks in which partial sums may go quickly; first, of many ranks, one that costs nothing."""
    if max(map(len, groups)) >= _LARGE:
        yield _FIRST
    yield from likely_chunks(network, groups)
    yield from tree_chunks(network, rules, groups)


def split_sums(case: Case) -> Task | None:
    """Return an allreduce in steps as partial sums, a packet for each block, where messages are split; None elsewhere.

    >>> import gossamer
    >>> split_sums(Case(gossamer.network("ring:8"), Allreduce(), Rules(segmented=True)))
    Chunked(task=PartialSumAllreduce(), packets=8)
    """
    groups = _ranks_of(case.network, case.task)
    if case.whole or isinstance(case.cost, Clock) or case.control_time or len({len(row) for row in groups}) != 1:
        return None
    ranks = len(groups[0])
    if ranks < 2 or ranks * len(groups) * case.network.link_count > _SPLIT:
        return None
    sums = chunked(PartialSumAllreduce(), ranks)
    return Grouped(sums, groups) if isinstance(case.task, Grouped) else sums


_SPLIT = 20_000
"""Ranks times links up to which an allreduce in steps is planned as partial sums, too."""
_LARGE, _MUCH = 512, 2**26
"""Ranks from which on little else is tried: no other forms on hierarchies, dragonflies and tori with few links missing
(half of them from so many bytes on), and trees before stages."""
_FIRST = 8
"""Chunks of sums among many, for which it takes long to say into how many they are cut best."""
_MOST_ROOTS = 1_000
"""Groups at most that are reduced to a root each."""


def _ranks_of(network: Network, task: Task) -> tuple[tuple[int, ...], ...]:
    """Return the ranks among which an allreduce is asked for: all, or those of each group; none of other tasks."""
    if isinstance(task, Grouped) and isinstance(task.task, Allreduce):
        return task.groups
    return (tuple(range(network.terminal_count)),) if isinstance(task, Allreduce) else ()


def _through(task: Task, groups: Sequence[Sequence[int]], roots: list[int]) -> Task:
    """Return the reduction to a root of each group, and the broadcast of its result; roots are ranks of groups."""
    if isinstance(task, Allreduce):
        return Together((Reduce(roots[0]), Broadcast(roots[0])), waits=((1, 0),))
    pairs: list[Task] = []
    for row, root in zip(groups, roots, strict=True):
        pairs += [Grouped(Reduce(root), (tuple(row),)), Grouped(Broadcast(root), (tuple(row),))]
    return Together(tuple(pairs), waits=tuple((k + 1, k) for k in range(0, len(pairs), 2)))


def _middle(case: Case, ranks: Sequence[int]) -> int:
    """Return the rank from which the furthest other is nearest, there and back: its place among the ranks."""
    links, members = case.links, np.array(ranks, np.int64)
    best, root = -1, 0
    for i in spread(np.arange(1 if case.invariant else members.size), searches(links)).tolist():
        far = sum(int(way.travel(members[[i]]).usable[members].max()) for way in (links, links.turned))
        if best < 0 or far < best:
            best, root = far, i
    return root


def counted_alike(found: Cost, asked: Clock, size: int) -> Clock:
    """Return the clock of a form with the buffer and the bandwidths of what is asked for.

    >>> counted_alike(Clock(packet_bytes=1000, message_bytes=1000), Clock(bus=Fraction(7, 4)), 1000).bus
    Fraction(7, 4)
    """
    assert isinstance(found, Clock)
    return replace(found, buffer_bytes=size, bus=asked.bus)


def told_time(time: Fraction, cost: Cost) -> Fraction:
    """Return a time in seconds of a clock, or in steps as it is.

    >>> told_time(Fraction(3), Clock(slot_seconds="1/2"))
    Fraction(3, 2)
    """
    return cost.seconds(time) if isinstance(cost, Clock) else time


# The bounds of the question: which of the bounds of a case hold for what was asked, and those of an allreduce in any
# form, by the exact times of links.


def asked_scopes(case: Case, bounds: Iterable[Bound], cost: AskedCost | None = None) -> frozenset[str]:
    """Return the scopes to which what was asked is restricted: all, where it was steps of unsegmented messages.

    Where seconds or segmented messages are asked for, cutting and form are the planner's, unless a form was asked for.
    """
    scopes = frozenset(bound.scope for bound in bounds)
    if case.whole and not isinstance(case.cost, Clock):
        return scopes
    if not isinstance(cost, TimeCost):
        return frozenset()
    form = ("schedules by ",) if cost.form != "best" else ()
    return frozenset(s for s in scopes if s.startswith((*form, *([WHOLE] if cost.whole else ()))))


def exact_bounds(network: Network, task: Task, rules: Rules | None, cost: AskedCost | None) -> list[Bound]:
    """Return what a task takes at least however it is cut, by the exact times of links, in seconds; none of steps.

    Of an allreduce the bounds are those in any form.

    * `network` (Network): without the times of `cost`.
    * `task` (Task): as asked.
    * `rules`: Rules or None.
    * `cost` (StepCost, TimeCost or LinearCost): as asked.

    Packets of one size are rounded up to slots otherwise than those of another, so what holds for all is not rounded.
    """
    if not isinstance(cost, TimeCost):
        return []
    sums = bool(sums_of(network, task))
    if sums:  # of the buffers that bytes are of
        task = Grouped(PartialSumAllreduce(), task.groups) if isinstance(task, Grouped) else PartialSumAllreduce()
    else:
        task = in_packets(task, 1)
    size = (
        cost.bytes if sums else sizing_of(task, network).message_bytes(cost.bytes, whole_buffer=cost.counting == "nccl")
    )
    overhead, asked = cost.overhead or Fraction(0), replace(rules or Rules(), segmented=True)
    timed, clock = cost.exactly_on(network, size)
    found = dict[str, Bound]()
    for each in [timed, *([_delayed(timed, int(overhead / clock.slot_seconds), asked)] if overhead else [])]:
        parts = Case(each, task, asked, clock)
        for bound in any_form_bounds(parts) if sums else all_bounds(parts, quick=slow(parts)):
            if bound.name not in found or found[bound.name].value < bound.value:
                found[bound.name] = bound
    return [replace(bound, value=clock.seconds(bound.value)) for bound in found.values()]


def _delayed(network: Network, slots: int, rules: Rules) -> Network:
    """Return a network on which packets come as late, but links and ports are free so many slots earlier.

    What a packet costs beyond its bytes is a share of what a whole message costs in `exact_bounds`, as large as its
    share of the message; each packet, how small it may be, needs the time to come, though. What holds on either network
    holds on the links as they are. A switch that cuts through passes a packet on before it has come.
    """
    busy = np.maximum(network.link_occupancy.astype(np.int64) - slots, 1)
    spared = network.link_occupancy - busy
    if rules.cut_through:
        spared[network.link_target >= network.terminal_count] = 0
    ports = network.shared_ports
    held = None if ports is None else np.maximum(np.asarray(ports.occupancy, np.int64) - slots, 1)
    return network.with_times(busy, network.link_latency + spared, ports=held)


def of_question(
    exact: list[Bound], case: Case, cost: AskedCost | None, bounds: Iterable[Bound], words: str = ""
) -> Bounds:
    """Return the bounds of a case with those of the question first.

    * `exact` (list of Bound): as of `exact_bounds`.
    * `case` (Case): in a form of the task.
    * `cost` (StepCost, TimeCost or LinearCost): as asked.
    * `bounds` (iterable of Bound): those of the case.
    * `words` (str): the form in words, if it is one of several.
    """
    found = list(bounds)
    if exact:
        assert isinstance(case.cost, Clock)
        slot, unit = case.cost.slot_seconds, case.cost.unit
        told = [replace(bound, value=bound.value / slot, unit=unit) for bound in exact]
        least = largest(told)
        if words or sums_of(case.network, case.task):
            own = [bound for bound in found if bound.name not in ANY_FORM]
            found = [*told, *(_of_form(bound, case, words, least) for bound in own)]
        else:
            found = [*told, *(bound for bound in found if bound.scope and bound.value > least)]
    return Bounds(asked_first(found, asked_scopes(case, found, cost)))


def _of_form(bound: Bound, case: Case, words: str, least: Fraction) -> Bound:
    """Return a bound of a form with the schedules that it holds for: all, if it is at most what holds for all."""
    if bound.value <= least:
        return bound.within("")
    if sums_of(case.network, case.task):  # an allreduce of blocks or partial sums says itself what it is
        parts = case.related(rules=replace(case.rules, segmented=True))
        return bound if bound.scope else bound.within(case_scope(parts) or case_scope(case))
    return bound.within(f"{bound.scope or 'schedules'} by {words}")
