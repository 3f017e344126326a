"""What building and checking an offer takes, estimated before it is begun: hops, bytes and seconds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gossamer.questions.cases.case import Case
from gossamer.questions.cases.demands import Demand, HubDemand
from gossamer.questions.cases.offers import Offer

__all__ = ["Needs", "about_hops", "needs"]

_SAMPLE = 64
"""Nodes whose distances stand for those of all, where there are more."""

_PER_LINK, _PER_LINK_ALIKE, _PER_PACKET, _AT_LEAST = 70, 15, 60, 3_000_000
"""Bytes for bounds and searches on a link, on one of links that are all alike, for a packet, and for anything."""

_SECONDS_PER_LINK, _SECONDS_AT_LEAST = 2e-7, 0.01


class Needs(NamedTuple):
    """About how many hops are stored, how many bytes are held at once for them, and how many seconds of CPU it takes.

    What is asked for without a word of its algorithm is within a factor of two as a rule, not always.
    """

    hops: int
    bytes: int
    seconds: float


def about_hops(case: Case) -> tuple[int, int]:
    """Return about how many hops and how many packets carry out a task, all of them together.

    A message for one node makes as many hops as it has distance to go, one for many nodes one to each. Distances of at
    most 64 nodes are looked at.

    Examples
    --------
    >>> import gossamer
    >>> about_hops(Case(gossamer.network("torus:8x8"), gossamer.task("alltoall")))
    (16384, 4032)
    """
    parts = 1 if case.whole else max(int(case.network.degree), 1)
    found = [_volume(case, demand) for demand in case.demands]
    return parts * sum(hops for hops, _ in found), parts * sum(packets for _, packets in found)


def _volume(case: Case, demand: Demand) -> tuple[int, int]:
    """Return hops and packets of a demand."""
    if isinstance(demand, HubDemand):
        others = demand.terminal_count - 1
        if demand.shared:
            return demand.hubs.size * others, demand.hubs.size
        some = demand.hubs[np.unique(np.linspace(0, demand.hubs.size - 1, _SAMPLE).astype(np.int64))]
        mean = float(case.metric.statuses(some, not demand.outward).mean())
        return round(mean * demand.hubs.size), demand.hubs.size * others
    rows = np.unique(np.linspace(0, demand.target.size - 1, min(demand.target.size, _SAMPLE**2)).astype(np.int64))
    origin = demand.origin[demand.message[rows]]
    if np.unique(origin).size > _SAMPLE:
        rows = rows[np.isin(origin, np.unique(origin)[:_SAMPLE])]
        origin = demand.origin[demand.message[rows]]
    mean = float(case.metric.between(origin, demand.target[rows]).mean()) if rows.size else 0.0
    hops = demand.target.size * (1.0 if demand.shared else mean)
    return round(max(hops, mean * demand.origin.size)), demand.origin.size


def needs(case: Case, offer: Offer[Any]) -> Needs:
    """Return what an offer of a store-and-forward algorithm needs, about.

    Parameters
    ----------
    case : Case
        What is asked.
    offer : Offer
        Says of how many nodes a stored hop is, and what each takes.

    Notes
    -----
    O(1) searches; nothing is built.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:300x300"), gossamer.task("scatter"))
    >>> found = needs(case, Offer(lambda: None))
    >>> found.hops, f"{found.bytes:.0e}"
    (26910000, '7e+08')
    """
    hops, packets = case.once(about_hops, case)
    stored, kept = -(-hops // offer.orbit), -(-packets // offer.orbit)
    links, nodes = case.network.link_count, case.network.node_count
    copied = any(demand.shared for demand in case.demands)
    alike = case.invariant and case.network.plain and not case.cuts_through and not copied
    per_link = _PER_LINK_ALIKE if alike else _PER_LINK
    held = stored * offer.hop_bytes + kept * (_PER_PACKET + (nodes / 8 if copied else 0)) + links * per_link
    seconds = stored * offer.hop_seconds + links * _SECONDS_PER_LINK + _SECONDS_AT_LEAST
    return Needs(stored, round(held) + _AT_LEAST, seconds)
