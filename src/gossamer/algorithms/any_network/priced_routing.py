"""Any task whose packets are copied or moved, on any network: trees or paths by prices, then list scheduling.

Trees are grown again and again over links whose prices rise with their loads (`gossamer.graphs.forests`), so that the
most loaded link or port carries little. Then every link sends, whenever it can, the waiting packet with the most still
to go (`gossamer.graphs.precedence`). Little is lost there: a schedule is often no longer than the largest load.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.any_network.demands import demand_of, least_slots
from gossamer.algorithms.any_network.squeezed import QUICK, STEADY, squeezed
from gossamer.graphs.bundles import bundled
from gossamer.graphs.forests import Demand, Forest, Growth
from gossamer.graphs.precedence import Roads, Starts, scheduled
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, MOVE
from gossamer.schedules import Phase, Schedule

__all__ = ["branching", "propose_moves", "propose_trees", "routed", "timed"]

_WORK = 150_000_000
"""Links looked at, after which trees are not grown again."""
_MOST_WORK = 5_000_000_000
"""Links looked at in one round (minutes), above which a case is refused."""
_ROUNDS = 24
_VAIN = 8
_MOST_TRIES, _HOPS = 40, 8_000
"""Orders in which the hops of a small case are tried, and hops of all of them."""
_BELOW = (1, 2, 3, 5)
"""How far below the largest load links are still relieved of packets, in shares of 1/300, in turn."""
_BLUNT, _STEEP = 4.0, 60.0


def routed(case: Case) -> Schedule:
    """Build a schedule of paths or trees that load links and ports evenly.

    Parameters
    ----------
    case : Case
        A task whose packets are copied or moved, on any network in which each gets to its targets; any ports, links
        and switches. The seed is that of the orders in which trees are grown.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    O(P (L + N log N)) time for each of at most 24 rounds, of P packets; fewer rounds in large cases.

    References
    ----------
    Gossamer. Takahashi and Matsuyama 1980 for trees.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("alltoall"))
    >>> routed(case).completion_time
    Fraction(6, 1)
    """
    demand, roads = demand_of(case), Roads.of(case.network, case.rules)
    moved = case.messages.count > 0 and bool((case.messages.discipline == MOVE).all())
    least = max(least_slots(demand, roads, moved), ceil(case.floor))
    best: _Tried | None = None
    costs: tuple[float, ...] = (0.03, 0.3) if moved else (0.03, 0.3, 2.0)
    effort = max(1, demand.origin.size) * max(1, roads.source.size)
    tries = costs if effort * _ROUNDS < _WORK else costs[:1]
    for _, found in case.tries.in_order(_tried, ((case, moved, depth_cost, least) for depth_cost in tries)):
        if best is None or found.starts.slots < best.starts.slots:
            best = found
        if best.starts.slots <= least:
            break
    assert best is not None
    # packets that wait for ports leave more to gain than those that wait for links, if a bound says where it ends
    patience = STEADY if moved and case.limited and case.floor else QUICK
    shorter = squeezed(demand, roads, branching(case) | moved, best.starts.slots, least, case.seed, patience)
    if shorter is not None:
        best = _Tried(Starts(shorter[0], shorter[1].astype(np.int64)), shorter[2], shorter[3])
    return timed(case, *best)


class _Tried(NamedTuple):
    """The starts, links and packets of all hops."""

    starts: Starts
    link: IntArray
    packet: IntArray


def _tried(case: Case, moved: bool, depth_cost: float, least: int) -> _Tried:
    """Return the schedule of trees in which a slot of delay costs so much."""
    demand, roads = demand_of(case), Roads.of(case.network, case.rules)
    if moved and _bundles(demand, roads):
        forests = iter([_exchanged(demand, roads, depth_cost, least, case.seed)])
    else:
        load = least_slots(demand, roads, moved)
        forests = _grown(demand, roads, branching(case) | moved, depth_cost, least, load, case.seed)
    best: _Tried | None = None
    for forest in forests:
        graph = forest.graph()
        tries, rounds = (6, 4) if graph.link.size < 100_000 else (3, 1)
        tries = max(tries, min(_MOST_TRIES, _HOPS // max(1, graph.link.size)))
        starts = scheduled(graph, roads, least=least, tries=tries, rounds=rounds, seed=case.seed)
        if best is None or starts.slots < best.starts.slots:
            best = _Tried(starts, graph.link, graph.packet)
        if best.starts.slots <= least:
            break
    assert best is not None
    return best


def branching(case: Case) -> np.ndarray:
    """Return whether each node sends several copies of what it received once, bool[N]."""
    return (np.arange(case.network.node_count) < case.network.terminal_count) | case.rules.replication


def _grown(
    demand: Demand, roads: Roads, branches: np.ndarray, depth_cost: float, least: int, load: int, seed: int
) -> Iterator[Forest]:
    """Yield trees of a congestion that is enough for a schedule of `least` slots, then those of the least congestion.

    There are no trees of less congestion than `load`. With room to spare the schedule is often shorter.
    """
    growth, draw = Growth(roads), np.random.default_rng(seed)
    best: Forest | None = None
    now: Forest | None = None
    lowest, vain = np.inf, 0
    powers = _powers(demand, roads)
    growth.seldom(len(powers) * demand.origin.size)
    for power in powers:
        visit = draw.permutation(demand.origin.size)
        now = growth.grow(demand, branches, now, power=power, depth_cost=depth_cost, visit=visit)
        if growth.congestion < lowest - 1e-9:
            enough = growth.congestion <= least < lowest
            best, lowest, vain = now, growth.congestion, 0
            if enough:
                yield best
                best = None
        else:
            vain += 1
        if lowest <= load or vain == _VAIN:
            break
    if best is not None:
        yield best


def _bundles(demand: Demand, roads: Roads) -> bool:
    """Return whether packets of an origin are so many that they are routed together."""
    origins = int(np.count_nonzero(np.diff(demand.origin, prepend=-1)))
    return demand.origin.size * roads.source.size * _ROUNDS > _WORK and demand.origin.size > 4 * origins


def _exchanged(demand: Demand, roads: Roads, depth_cost: float, least: int, seed: int) -> Forest:
    """Return paths found for all packets of an origin at once; those on the most loaded links are then chosen anew."""
    growth, draw = Growth(roads), np.random.default_rng(seed)
    best = now = bundled(growth, demand, depth_cost, seed)
    lowest, vain, looks = growth.congestion, 0, 0
    branches = np.ones(roads.cut.size, bool)
    for turn, below in enumerate(_BELOW * 4):
        hot = growth.congestion - below * growth.congestion / 300
        crossed = int((growth.loads[0][now.link] >= hot).sum())
        looks += min(crossed, demand.origin.size) * roads.source.size
        if lowest <= least or vain == len(_BELOW) or looks > 2 * _WORK:
            break
        visit, power = draw.permutation(demand.origin.size), (60.0, 100.0)[turn % 2]
        now = growth.grow(demand, branches, now, power=power, depth_cost=depth_cost, hot=hot, visit=visit)
        vain = 0 if growth.congestion < lowest - 1e-9 else vain + 1
        if not vain:
            best, lowest = now, growth.congestion
    return best


def _powers(demand: Demand, roads: Roads) -> list[float]:
    rounds = max(2, min(_ROUNDS, _WORK // max(1, demand.origin.size * roads.source.size)))
    powers: list[float] = np.geomspace(_BLUNT, _STEEP, rounds).tolist()
    return powers


def timed(case: Case, starts: Starts, link: IntArray, packet: IntArray) -> Schedule:
    """Return the schedule of hops with their starts."""
    order = np.argsort(starts.start, kind="stable")
    phases = [Phase(case.task.name, starts.slots)]
    return Schedule.of(case, starts.start[order].astype(np.int32), link[order], packet[order], phases=phases)


def _refusal(case: Case, moved: bool) -> Refusal | None:
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    looks = case.task.most_messages(case.network) * case.network.link_count
    if looks > _MOST_WORK:  # by arithmetic: so many messages are not even listed
        return Refusal(f"would look at up to {looks:,} links for its packets; at most {_MOST_WORK:,} are allowed")
    kinds = case.messages.discipline
    if case.messages.waits:
        return Refusal("does not keep collectives waiting for others")
    if bool((kinds == COMBINE).any()):
        return Refusal("does not combine contributions")
    if kinds.size and bool((kinds == MOVE).all()) != moved:
        return Refusal("is for packets that are moved" if moved else "is for packets that are copied")
    if case.control_time and hasattr(case.task, "active"):
        return Refusal("needs the active nodes known ahead (control time 0)")
    return None


def propose_trees(case: Case) -> Offer[Schedule] | Refusal:
    """Offer trees for what is copied."""
    return _refusal(case, moved=False) or Offer(lambda: routed(case), effort="search", hop_bytes=100, hop_seconds=4e-6)


def propose_moves(case: Case) -> Offer[Schedule] | Refusal:
    """Offer paths for what is moved."""
    return _refusal(case, moved=True) or Offer(lambda: routed(case), effort="search", hop_bytes=150, hop_seconds=1e-5)
