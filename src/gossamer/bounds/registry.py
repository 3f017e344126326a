"""The table of bounds, and the functions that evaluate it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from gossamer.bounds.allreduce_congestion import region_bounds
from gossamer.bounds.arrivals import arrival_bounds, takes_time
from gossamer.bounds.bound import Bound, largest_first
from gossamer.bounds.chains import chain_bounds, sequence_bounds
from gossamer.bounds.cut_nodes import cluster_bounds, cut_node_bounds, separator_bounds, sweep_bounds
from gossamer.bounds.cuts import cut_bounds
from gossamer.bounds.cuts_over_time import cut_over_time_bounds, fat_tree_time_bounds, target_over_time_bounds
from gossamer.bounds.fat_trees import branch_bounds, leaf_bounds, routing_node_bounds
from gossamer.bounds.loads import distance_bounds, load_bounds
from gossamer.bounds.partitions import box_bounds, part_bounds
from gossamer.bounds.ports import port_bounds, shared_port_bounds
from gossamer.bounds.prices import concurrent_flow_bounds, sending_price_bounds
from gossamer.bounds.proofs import Chain
from gossamer.bounds.set_cuts import port_set_bounds, set_cut_bounds
from gossamer.bounds.spreading import broadcast_bounds, copy_bounds, spread_bounds
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import PairDemand

__all__ = ["FAMILIES", "best_bound", "bounds", "counted_bounds", "node_bounds", "relaxed", "relaxed_bounds", "slow"]

# The case with plain links that a case with times, or with switches that cut through, is never faster than.


def relaxed(case: Case) -> Case:
    """Return the case on plain links, with storing switches.

    Notes
    -----
    Links without time are faster. A switch that cuts through passes a packet on in the slot in which it comes; very
    small parts come as close to that as one likes, so bounds for split messages hold for it.
    """
    net, rules = case.network, case.rules
    plain = net.without_time
    if rules.cut_through:
        rules = replace(rules, cut_through=False, split=True)
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
            yield bound


def best_bound(case: Case) -> Bound:
    """Return the largest lower bound; see `bounds`.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:4"), gossamer.task("alltoall"), gossamer.Rules(ports="one"))
    >>> print(best_bound(case))
    32 steps, total hops: all messages together need 512 hops, made by 16 nodes that send one packet a step each
    """
    return bounds(case)[0]


def _sequences(case: Case) -> Iterator[Bound]:
    yield from sequence_bounds(case, best_bound)
    yield from chain_bounds(case, best_bound)


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


def node_bounds(case: Case) -> tuple[Bound, ...]:
    """Return the bounds of the nodes that send and receive most, the largest first; none if nothing has to move.

    For a start, in a millisecond for some hundred links.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("allgather"))
    >>> node_bounds(case)[0].value
    Fraction(4, 1)
    """
    found = relaxed_bounds(case, (port_bounds,)) if case.demands else ()
    return largest_first(found)


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
    found = (
        [bound for family in (arrival_bounds, shared_port_bounds, _plain) for bound in family(case)]
        if case.demands
        else []
    )
    return largest_first(found) or bounds(case)


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
    A value v means that no schedule that `gossamer.verify` accepts takes less than v steps. Whole messages move in
    whole steps, so v is an integer. With splitting a message may be cut into any number of parts, so v is the limit of
    ever smaller ones: loads count as fractions and distance costs nothing. Control packets and buffer limits are left
    out, which keeps every bound valid. Each of at most 512 searches costs O(N + L), and one is enough where network
    and task look the same from every node; the messages of an exchange are never listed.

    Examples
    --------
    >>> import gossamer
    >>> for bound in bounds(Case(gossamer.network("ring:8"), gossamer.task("alltoall")))[:2]:
    ...     print(bound)
    8 steps, total hops: all messages together need 128 hops, made over 16 links
    8 steps, cut across dimension 0: 4 nodes 0 <= x_0 <= 3 | 4 nodes, 2 links across: 16 messages must leave
    """
    if not case.demands:
        return (Bound("nothing to do", Fraction(0), "every message is where it must end", "none", "the task"),)
    families = (partial(set_cut_bounds, quick=True) if f is set_cut_bounds else f for f in FAMILIES if f not in _SLOW)
    found = [bound for family in (families if quick else FAMILIES) for bound in family(case)]
    if takes_time(case):  # what is counted with and without times is told once
        known = {bound.name: bound for bound in reversed(largest_first(found))}
        found = list(known.values())[::-1]
    return largest_first(found)
