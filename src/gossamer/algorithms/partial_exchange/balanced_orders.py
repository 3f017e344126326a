"""Partial exchange on arrays and tori of any dimension: balanced paths, then links that are never idle.

Varvarigos and Bertsekas 1994, section 4, leaves the exchange in more than two dimensions open. Here every packet
chooses, again and again, the path whose links are least loaded (`routes`), and each link sends the packet with most
hops left. Schedules longer than the congestion of their paths are tightened; a small partial exchange that is still
longer than its bound is squeezed: its packets take new ways through links and slots at once. The time was within 1 step
of the lower bound from linear programming in all but a few of the small cases tried; nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.demands import demand_of
from gossamer.algorithms.any_network.squeezed import PATIENT, squeezed
from gossamer.algorithms.partial_exchange import exchange
from gossamer.algorithms.partial_exchange.census import census
from gossamer.graphs.hops import Hops, Paths
from gossamer.graphs.list_scheduling import non_wasting, tightened
from gossamer.graphs.precedence import Roads
from gossamer.graphs.routes import balanced_paths
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import PartialExchange, TotalExchange
from gossamer.schedules import Schedule

__all__ = ["BALANCED_ORDERS", "balanced_orders", "shortest_of"]

_RESTARTS, _VAIN_RESTARTS, _RESTARTED_HOPS = 16, 3, 200_000
"""How often paths are drawn, how often in vain, and how many hops they may have together."""

_SMALL = 1_000_000
_TOTAL_EXCHANGE_HOPS = 5_000_000
"""The largest total exchange for which it is offered: there are exact algorithms for most networks."""


def balanced_orders(case: Case) -> Schedule:
    """Build a partial exchange along balanced paths.

    Parameters
    ----------
    case : Case
        A partial exchange of M active nodes, or a total exchange, with all ports on an array or torus with any sides.
        The seed is for the order in which packets are placed.

    Returns
    -------
    Schedule
        Phases ``prefix`` (slots of t_p; the active set is made known; not in a total exchange) and ``exchange``.

    Notes
    -----
    Time of a few hundred looks at a load for each packet, less in large networks; about 40 bytes a hop. Exchanges of up
    to 200,000 hops are built several times with different random choices, and the shortest is returned. Squeezing takes
    some ten seconds at the most; it is left out where that is too little, and where no bound below is known.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-exchange", active=[0, 1, 2])
    >>> s = balanced_orders(Case(gossamer.network("array:3x3x3"), task))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(12, 1), True)
    """
    network = case.network
    origin, target = exchange.ends(case)
    hops = shortest_of(network, lambda seed: balanced_paths(network, origin, target, seed=seed), case.seed)
    if not isinstance(case.task, PartialExchange):
        return exchange.schedule(case, hops, None)
    return exchange.schedule(case, _squeezed(case, hops), case.once(census, network))


def _squeezed(case: Case, hops: Hops) -> Hops:
    """Return a shorter schedule of the same packets if a bound is below it and one is found, else the same."""
    if not 0 < case.floor < hops.slots:
        return hops
    roads = Roads.of(case.network, case.rules)
    branches = np.ones(case.network.node_count, bool)  # every node; no packet has two targets
    found = squeezed(demand_of(case), roads, branches, hops.slots, ceil(case.floor), case.seed, PATIENT)
    return hops if found is None else Hops(*found)


def shortest_of(network: Network, draw: Callable[[int], Paths], seed: int) -> Hops:
    """Return the shortest schedule found along the paths that several seeds draw; along those of one, if they are long.

    Drawing ends when it has not helped for a few times and the schedule is as short as the congestion of the paths.
    """
    best: Hops | None = None
    hops = vain = congestion = 0
    for turn in range(_RESTARTS):
        paths = draw(seed + turn)
        found, crowded = shortest_found(paths, network.link_count, seed + turn), paths.congestion(network.link_count)
        vain += 1
        if best is None or found.slots < best.slots or crowded < congestion:
            vain = 0
        if best is None or found.slots < best.slots:
            best = found
        congestion = min(congestion or crowded, crowded)
        hops += paths.link.size
        settled = vain >= _VAIN_RESTARTS and best.slots <= congestion
        if settled or hops + paths.link.size > _RESTARTED_HOPS:
            break
    assert best is not None
    return best


def shortest_found(paths: Paths, links: int, seed: int = 0) -> Hops:
    """Return the shortest non-wasting schedule along given paths that a few attempts find.

    Farthest first, and if that takes longer than the congestion of a million hops or less, random order too; then the
    better one is tightened.

    Examples
    --------
    >>> import numpy as np
    >>> shortest_found(Paths(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32)), 2).slots
    2
    """
    congestion = paths.congestion(links)
    best = non_wasting(paths, links, "farthest-first")
    rounds = 1
    if paths.link.size <= _SMALL and best.slots > congestion:
        other = non_wasting(paths, links, "random", seed=seed)
        best = min(best, other, key=lambda hops: hops.slots)
        rounds = 6
    return tightened(paths, links, best, rounds, congestion)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    most = _TOTAL_EXCHANGE_HOPS if isinstance(case.task, TotalExchange) else None
    return exchange.refuse(case, most) or Offer(lambda: balanced_orders(case), effort="search")


BALANCED_ORDERS = Algorithm(
    name="balanced-orders",
    tasks=(PartialExchange, TotalExchange),
    propose=_propose,
    networks="arrays, tori and hypercubes of any dimension and sides (not too large for a total exchange)",
    source="gossamer (algorithm B: balanced orders of the dimensions)",
    summary="paths balanced by placing packets again and again where links are least loaded; no link idle",
)
