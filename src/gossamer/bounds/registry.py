"""The table of bounds, and the functions that evaluate it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from gossamer.bounds.allreduce_any_form import any_form_bounds, sums_of
from gossamer.bounds.allreduce_congestion import region_bounds
from gossamer.bounds.bound import Bound, largest, largest_first
from gossamer.bounds.broadcast_growth import broadcast_bounds, copy_bounds, spread_bounds
from gossamer.bounds.concurrent_flow import concurrent_flow_bounds, sending_price_bounds
from gossamer.bounds.cut_nodes import cluster_bounds, cut_node_bounds, separator_bounds, sweep_bounds
from gossamer.bounds.cuts_over_time import (
    cut_over_time_bounds,
    fat_tree_time_bounds,
    root_flow_bounds,
    target_over_time_bounds,
)
from gossamer.bounds.dependency_chains import chain_bounds, sequence_bounds
from gossamer.bounds.earliest_arrivals import arrival_bounds, searches, spread, takes_time
from gossamer.bounds.fat_trees import branch_bounds, leaf_bounds, routing_node_bounds
from gossamer.bounds.grid_cuts import cut_bounds
from gossamer.bounds.partitions import box_bounds, part_bounds, rooted_gossip_bounds
from gossamer.bounds.ports import distance_bounds, load_bounds, port_bounds, shared_port_bounds
from gossamer.bounds.proofs import Chain, Mask, OfTask
from gossamer.bounds.set_cuts import best_cut, port_set_bounds, set_cut_bounds
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import PairDemand
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import Allreduce, Broadcast, Grouped, Reduce, Task, chunked, includes, packets_of
from gossamer.questions.tasks.chunked import MAX_CHUNKS

__all__ = [
    "BLOCKS",
    "FAMILIES",
    "WHOLE",
    "best_bound",
    "bounds",
    "case_scope",
    "counted_bounds",
    "node_bounds",
    "relaxed",
    "relaxed_bounds",
    "set_bounds",
    "slow",
    "whole_scope",
]

# The case with plain links that a case with times, or with switches that cut through, is never faster than.


def relaxed(case: Case) -> Case:
    """Return the case on plain links, with storing switches.

    Links without time are faster. A switch that cuts through passes a packet on in the slot in which it comes; very
    small parts come as close to that as one likes, so bounds for segmented messages hold for it.
    """
    net, rules = case.network, case.rules
    plain = net.without_time
    if rules.cut_through:
        rules = replace(rules, cut_through=False, segmented=True)
    if plain is net and rules == case.rules:
        return case
    return case.related(network=plain, rules=rules)


def relaxed_bounds(case: Case, families: tuple[Callable[[Case], Iterator[Bound]], ...]) -> Iterator[Bound]:
    """Yield the bounds of families that know plain links and storing switches only."""
    other = relaxed(case)
    for family in families:
        for bound in family(other):
            if case.whole and not other.whole:  # parts need as long as some whole step
                proof = None if bound.proof is None else Chain((bound.proof,), whole=True)
                bound = replace(bound, value=Fraction(-(-bound.value // 1)), proof=proof)
            if other.network is not case.network:
                slot = f"a slot of {case.time_text(1)}" if isinstance(case.cost, Clock) else case.time_text(1)
                told = f"even if every link took only {slot} for a packet: {bound.witness}"
                bound = replace(bound, witness=told)
            yield bound


def best_bound(case: Case) -> Bound:
    """Return the largest lower bound; see `bounds`.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:4"), gossamer.task("alltoall"), gossamer.Rules(ports="one"))
    >>> print(best_bound(case))
    32 steps, total hops: all messages together need 512 hops, and 16 nodes, sending one each, make at most 16 a step
    """
    return bounds(case)[0]


def _largest(case: Case) -> Bound:
    return largest_first(_found(case, False))[0] if case.demands else _NOTHING


_NOTHING = Bound("nothing to do", Fraction(0), "every message is where it must end", "none", "the task")


def _sequences(case: Case) -> Iterator[Bound]:
    yield from sequence_bounds(case, _largest)
    yield from chain_bounds(case, _largest)


_PLAIN: tuple[Callable[[Case], Iterator[Bound]], ...] = (
    distance_bounds,
    port_bounds,
    port_set_bounds,
    broadcast_bounds,
    spread_bounds,
    load_bounds,
    cut_bounds,
    box_bounds,
    cluster_bounds,
    sweep_bounds,
    cut_node_bounds,
    branch_bounds,
    leaf_bounds,
    separator_bounds,
    routing_node_bounds,
)
"""Families that know plain links and storing switches; on other networks they bound the plain one."""


_plain = partial(relaxed_bounds, families=_PLAIN)
_sending_prices = partial(relaxed_bounds, families=(sending_price_bounds,))
_fat_trees = partial(relaxed_bounds, families=(fat_tree_time_bounds,))

FAMILIES: tuple[Callable[[Case], Iterator[Bound]], ...] = (
    arrival_bounds,
    shared_port_bounds,
    _plain,
    _fat_trees,
    cut_over_time_bounds,
    target_over_time_bounds,
    set_cut_bounds,
    copy_bounds,
    part_bounds,
    region_bounds,
    concurrent_flow_bounds,
    _sending_prices,
    _sequences,
)
"""Every family of bounds: from a case to its bounds."""

_SLOW = (_fat_trees, target_over_time_bounds, concurrent_flow_bounds, _sending_prices, _sequences)


_SLOW_PAIRS, _SLOW_LINKS = 5_000, 400


def slow(case: Case) -> bool:
    """Return whether bounds take tenths of a second, so that it may be better to ask for quick ones first.

    >>> import gossamer
    >>> slow(Case(gossamer.network("ring:8"), gossamer.task("alltoall")))
    False
    """
    net = case.network
    known = net.group is not None or net.levels is not None or net.grid is not None
    pairs = sum(demand.target.size for demand in case.demands if isinstance(demand, PairDemand))
    return (not known or takes_time(case)) and net.link_count > _SLOW_LINKS and pairs > _SLOW_PAIRS


# For which schedules bounds hold. Those of a case with unsegmented messages hold for segmented ones, too, as far as
# those of smallest parts reach; those of an allreduce by reduce-scatter + allgather hold for other forms, as far as
# those of any form reach.

BLOCKS = "by reduce-scatter + allgather"


def case_scope(case: Case) -> str:
    """Return which schedules are those of a case, with its packets and its form; an empty text if all are.

    >>> import gossamer
    >>> case_scope(Case(gossamer.network("ring:8"), gossamer.task("allreduce")))
    'schedules of unsegmented messages by reduce-scatter + allgather'
    """
    words = [whole_scope(case) if case.whole else "schedules", *([BLOCKS] if includes(case.task, Allreduce) else [])]
    return " ".join(words) if words != ["schedules"] else ""


def whole_scope(case: Case) -> str:
    """Return the scope of bounds of a case's messages as they are cut."""
    packets = packets_of(case.task)
    return f"schedules of messages in {packets:,} packets" if packets > 1 else WHOLE


WHOLE = "schedules of unsegmented messages"
"""The scope of bounds that hold for messages which cross links in one piece."""


def _split(case: Case) -> Case:
    """Return the case in which messages are cut into parts as small as one likes."""
    return case.related(rules=replace(case.rules, segmented=True)) if case.whole else case


def _scoped(
    case: Case, of: Callable[[Case], list[Bound]], general: list[Bound], *, more: bool = False
) -> tuple[Bound, ...]:
    """Return bounds of a case with what they hold for, largest first, beside those of an allreduce in any form.

    With `more` also the largest one of smallest parts, if it is none of these.
    """
    found, any_form = of(case), largest(general)
    small = of(_split(case)) if case.whole else found
    parts = largest(small)
    in_blocks = includes(case.task, Allreduce)
    whole = case_scope(case)

    def scope(value: Fraction) -> str:
        if value > parts:
            return whole
        return f"schedules {BLOCKS}" if in_blocks and value > any_form else ""

    kept = [bound.within(scope(bound.value)) for bound in found]
    if more and case.whole and all(bound.value != parts for bound in kept if bound.scope != whole):
        kept += [bound.within(scope(bound.value)) for bound in largest_first(small)[:1]]
    return largest_first([*general, *kept])


def node_bounds(case: Case) -> tuple[Bound, ...]:
    """Return the bounds of the nodes that send and receive most, the largest first; none if nothing has to move.

    For a start, in a millisecond for some hundred links.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("allgather"))
    >>> node_bounds(case)[0].value
    Fraction(4, 1)
    """
    return _scoped(case, lambda some: list(relaxed_bounds(some, (port_bounds,))), []) if case.demands else ()


def counted_bounds(case: Case) -> tuple[Bound, ...]:
    """Return the bounds that take no search among cuts and prices, the largest first.

    For where time matters more than the last percent; as for `bounds`, in milliseconds for some thousand links.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("allgather"))
    >>> counted_bounds(case)[0].value, bounds(case)[0].value
    (Fraction(4, 1), Fraction(4, 1))
    """
    if not case.demands:
        return bounds(case, quick=True)
    families = (arrival_bounds, shared_port_bounds, _plain)
    return _scoped(case, lambda some: [bound for family in families for bound in family(some)], []) or bounds(case)


def set_bounds(case: Case, sets: list[Mask]) -> tuple[Bound, ...]:
    """Return the bounds of the best of some cuts, the largest first; none if nothing must leave any.

    `sets`, bool[N] each: the nodes that messages must leave. As for `bounds`, in milliseconds.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:8"), gossamer.task("alltoall"))
    >>> set_bounds(case, [np.arange(8) < 4])[0].value
    Fraction(8, 1)
    """
    return _scoped(case, lambda some: list(best_cut(some, sets)), [], more=True)


def bounds(case: Case, *, quick: bool = False) -> tuple[Bound, ...]:
    """Return lower bounds on the completion time of a task, the largest first.

    Parameters
    ----------
    case : Case
        What is asked.
    quick : bool
        Whether those are left out that may take long: flows, and cuts found by flows.

    Returns
    -------
    tuple of Bound
        At least one. Bounds of equal value are in the order of `FAMILIES`. A task for which nothing has to move has the
        single bound of 0 steps.

    Raises
    ------
    TaskError
        If the task does not fit the network.
    NetworkError
        If a message has no path to a target.

    Notes
    -----
    A value v means that no schedule that `gossamer.verify` accepts takes less than v steps, as far as the bound's scope
    goes: those of unsegmented messages, and those of an allreduce by reduce-scatter + allgather, say so where schedules
    of other cuttings or forms may be faster, which a case does not have. Unsegmented messages move in whole steps,
    so v is an integer. With splitting a message may be cut into any number of parts, so v is the limit of
    ever smaller ones: loads count as fractions and distance costs nothing. Control packets and buffer limits are left
    out, which keeps every bound valid. Each of at most 512 searches costs O(N + L), and one is enough where network
    and task look the same from every node; the messages of an exchange are never listed.

    Examples
    --------
    >>> import gossamer
    >>> for bound in bounds(Case(gossamer.network("ring:8"), gossamer.task("alltoall")))[:2]:
    ...     print(bound)
    8 steps, total hops: all messages together need 128 hops, and 16 links make at most 16 a step
    8 steps, cut across dimension 0: 16 messages must leave the 4 nodes 0 <= x_0 <= 3 over 2 links
    """
    general = list(any_form_bounds(case, quick=quick))
    if not case.demands:
        quick = quick or isinstance(case.cost, Clock)  # where links take many slots, cuts over time take seconds
        return largest_first([*general, *_rooted(case, largest(general), quick)]) if general else (_NOTHING,)
    return _scoped(case, lambda some: _found(some, quick), general, more=isinstance(case.cost, Clock))


_MORE = Fraction(1001, 1000)
"""Times the other bounds: what a quickest flow of a broadcast must be more than to be told."""


def _found(case: Case, quick: bool) -> list[Bound]:
    """Return the bounds of the families."""
    families = (partial(set_cut_bounds, quick=True) if f is set_cut_bounds else f for f in FAMILIES if f not in _SLOW)
    found = [bound for family in (families if quick else FAMILIES) for bound in family(case)]
    if not quick:  # for other bounds certificates have laws
        least = largest(found) * _MORE if found else Fraction(0)
        more = itertools.chain(root_flow_bounds(case), rooted_gossip_bounds(case))
        found += [bound for bound in more if bound.value > least]
    if takes_time(case):  # what is counted with and without times is told once
        known = {bound.name: bound for bound in reversed(largest_first(found))}
        found = list(known.values())[::-1]
    return found


def _rooted(case: Case, general: Fraction, quick: bool) -> Iterator[Bound]:
    """Yield what whole packets of partial sums take at least: what one contributes reaches all, all reaches one."""
    if not case.whole:
        return
    links = case.links
    for each in sums_of(case.network, case.task):
        if each.packets > MAX_CHUNKS:
            continue
        row, members = tuple(each.members.tolist()), each.members
        for root, view in ((Broadcast, links), (Reduce, links.turned)):
            tried = spread(np.arange(1 if case.invariant else members.size), min(searches(links), _ROOTS))
            far = [int(view.travel(members[[i]]).usable[members].max()) for i in tried.tolist()]
            rate = np.bincount(view.source, view.rate, links.node_count)[members[tried]]
            for i in dict.fromkeys((int(tried[np.argmax(far)]), int(tried[np.argmin(rate)]))):
                task: Task = Grouped(root(i), (row,)) if members.size < case.network.terminal_count else root(row[i])
                best = largest_first(_found(case.related(task=chunked(task, each.packets)), quick))[0]
                name = case.name(row[i])
                part = f"all need what node {name} has" if root is Broadcast else f"node {name} needs what all have"
                proof = None if best.proof is None else OfTask(best.proof, chunked(task, each.packets))
                told = replace(best, witness=f"{part}: {best.witness}", proof=proof)
                yield told.within(whole_scope(case) if best.value > general else "")


_ROOTS = 64
"""Ranks at most whose distances decide which is looked at."""
