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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.schedule_shortening import PATIENT, squeezed
from gossamer.graphs.list_scheduling import non_wasting, tightened
from gossamer.graphs.path_and_hop_tables import Hops, Paths
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.graphs.route_balancing import balanced_paths
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import PartialExchange, Task, TotalExchange
from gossamer.schedules import CONTROL, Phase, Schedule

# Control phases that tell the nodes which of them are active.
#
# A line of p nodes is a tree rooted at its median: values come up to the median and what they make together goes
# down again, floor(p/2) control steps each way (Varvarigos and Bertsekas 1994, section 4, phase 1).


class Control(NamedTuple):
    """Control hops: their number of slots, and the slot and link of each, by slot."""

    slots: int
    slot: IntArray
    link: IntArray


def counts_of_lines(network: Network) -> Control:
    """Return the control hops by which every node learns how many active nodes its row and its column have.

    All lines of all dimensions work at once, so ``2 * floor(p/2)`` control steps are enough for the longest side p.

    >>> from gossamer.networks import array
    >>> counts_of_lines(array(4, 4)).slots, counts_of_lines(array(3, 3)).slots
    (4, 2)
    """
    assert network.grid is not None
    everywhere = np.ones(network.node_count, np.bool_)
    passes = [_up(network, c, everywhere) for c in range(network.grid.dimensions)]
    slots = max((side // 2 for side in network.grid.sides), default=0)
    return _up_and_down(network, passes, [0] * len(passes), slots)


def census(network: Network) -> Control:
    """Return the control hops by which every node learns the set of active nodes.

    The sets come up dimension by dimension to the node in the middle and go down the same way. A control packet carries
    a set of nodes here, not just a count. ``2 * sum(floor(p/2))`` control steps over the sides p.

    >>> from gossamer.networks import torus
    >>> found = census(torus(3, 4))
    >>> found.slots, found.slot.size
    (6, 22)
    """
    assert network.grid is not None
    coordinates = network.coordinates
    assert coordinates is not None
    left = np.ones(network.node_count, np.bool_)  # nodes whose line has not been summed up at its median
    passes, begins, begin = [], [], 0
    for c, side in enumerate(network.grid.sides):
        passes.append(_up(network, c, left))
        begins.append(begin)
        begin += side // 2
        left &= coordinates[:, c] == side // 2
    return _up_and_down(network, passes, begins, begin)


def _up(network: Network, axis: int, nodes: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return step and link of the hops along the lines of `nodes` towards their medians."""
    assert network.grid is not None
    assert network.coordinates is not None
    side = network.grid.sides[axis]
    links = grid_links(network)[:, axis]
    at = network.coordinates[:, axis]
    below, above = np.flatnonzero(nodes & (at < side // 2)), np.flatnonzero(nodes & (at > side // 2))
    step = np.concatenate([at[below], side - 1 - at[above]])
    return step.astype(np.int32), np.concatenate([links[below, 0], links[above, 1]]).astype(np.int32)


def _up_and_down(network: Network, passes: list[tuple[IntArray, IntArray]], begins: list[int], half: int) -> Control:
    """Return the passes followed by themselves, backwards in time over the opposite links."""
    step = np.concatenate([step + begin for (step, _), begin in zip(passes, begins, strict=True)])
    link = np.concatenate([link for _, link in passes])
    slot = np.concatenate([step, 2 * half - 1 - step])
    over = np.concatenate([link, network.reverse_link[link]])
    order = np.argsort(slot, kind="stable")
    return Control(2 * half, slot[order].astype(np.int32), over[order].astype(np.int32))


# What the algorithms of partial exchange have in common: which cases they cover, and how hops become a schedule.


def ends(case: Case) -> tuple[IntArray, IntArray]:
    """Return origin and target of each message, int32[P]."""
    messages = case.messages
    assert messages.targets is not None
    return messages.origin, messages.targets


def active_count(case: Case) -> int:
    """Return the number M of active nodes, all of them in a total exchange."""
    return len(case.task.active) if isinstance(case.task, PartialExchange) else case.network.node_count


def refuse(case: Case, most: int | None = None) -> Refusal | None:
    """Refuse for shortest paths that need an array or torus, and `most` hops or fewer if that is said, or not."""
    if case.network.grid is None:
        return Refusal("needs an array or a torus")
    hops = case.once(shortest_hops, case.network, case.task)
    if most is not None and hops > most:
        return Refusal(f"is offered for at most {most} hops")
    return refuse_ports(case.rules) or refuse_hops(hops)


def shortest_hops(network: Network, task: Task) -> int:
    """Return the hops of shortest paths."""
    assert network.grid is not None
    active = np.array(task.active) if isinstance(task, PartialExchange) else np.arange(network.node_count)
    total = 0
    for side, wraps, stride in zip(network.grid.sides, network.grid.wraps, network.grid.strides, strict=True):
        at = active // stride % side
        right = side - 1 - at
        line = (at * (at + 1) + right * (right + 1)) // 2 if not wraps else np.full(at.size, side * side // 4)
        total += int(line.sum()) * (network.node_count // side)
    return total


def schedule(case: Case, hops: Hops, control: Control | None) -> Schedule:
    """Return the schedule of the hops, after a phase of control packets if there is one."""
    phases = [Phase("exchange", hops.slots)]
    columns = hops.slot, hops.link, hops.packet
    if control is not None:
        phases.insert(0, Phase("prefix", control.slots, case.control_time, control=True))
        columns = (
            np.concatenate([control.slot, hops.slot + np.int32(control.slots)]),
            np.concatenate([control.link, hops.link]),
            np.concatenate([np.full(control.slot.size, CONTROL, np.int32), hops.packet]),
        )
    return Schedule.of(case, *columns, phases=phases)


_RESTARTS, _VAIN_RESTARTS, _RESTARTED_HOPS = 16, 3, 200_000
"""How often paths are drawn, how often in vain, and how many hops they may have together."""

_SMALL = 1_000_000
_TOTAL_EXCHANGE_HOPS = 5_000_000
"""The largest total exchange for which it is offered: there are exact algorithms for most networks."""


def balanced_orders(case: Case) -> Schedule:
    """Build a partial exchange along balanced paths.

    A packet may correct the dimensions in any order, and each order is a path. Packets are placed one after the other
    on the path whose links carry least, then taken up and placed again, until the loads are even; then no link idles
    that has something to send.

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
    origin, target = ends(case)
    # Step 1: place every packet on its least loaded path, again and again; then send the furthest first
    hops = shortest_of(network, lambda seed: balanced_paths(network, origin, target, seed=seed), case.seed)
    if not isinstance(case.task, PartialExchange):
        return schedule(case, hops, None)
    # Step 2: where a bound is below, try to shorten the schedule hop by hop
    return schedule(case, _squeezed(case, hops), case.once(census, network))


def _squeezed(case: Case, hops: Hops) -> Hops:
    """Return a shorter schedule of the same packets if a bound is below it and one is found, else the same."""
    if not 0 < case.floor < hops.slots:
        return hops
    roads = LinkResources.of(case.network, case.rules)
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
    return refuse(case, most) or Offer(lambda: balanced_orders(case), effort="search")


BALANCED_ORDERS = Algorithm(
    name="balanced-orders",
    tasks=(PartialExchange, TotalExchange),
    propose=_propose,
    networks="arrays, tori and hypercubes of any dimension and sides (not too large for a total exchange)",
    source="gossamer (algorithm B: balanced orders of the dimensions)",
    summary="paths balanced by placing packets again and again where links are least loaded; no link idle",
)
