"""Broadcasts by many nodes, or of many packets, on any network: greedy flooding.

In every slot every free link carries a packet that its target lacks, of a few candidates the rarest: the one that
fewest nodes have, or fewest around the target. The latter keeps links into a cluster from bringing the same packet
twice. There is no promise, but no idle link either: it often comes close to the bound. Several orders are tried, with
few candidates and with many, each against the time of the best so far: hops that would be over no earlier are not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_buffers, refuse_hops
from gossamer.errors import NetworkError
from gossamer.graphs.hops import leads_on
from gossamer.graphs.precedence import Roads
from gossamer.graphs.retiming import retimed
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COPY, Chunked, MultinodeBroadcast, MultipleBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import Packets, Phase, Schedule

__all__ = ["GREEDY_FLOODING", "greedy_flooding"]

_LOOKS = (6, 64)
"""Candidate packets that a link compares, in turn: many are needed where a cut is thin."""
_AROUND = ((3, 0.5, 50), (3, 0.5, 10), (4, 0.35, 50), (2, 0.5, 50))
"""What rare around a node means, in turn: how far away it ends, in times of the fastest link; how much less what is
one such time further counts; and what a packet weighs anywhere, in thousandths of one that is there."""
_AROUND_LOOKS, _AROUND_WORK = 256, 60_000_000
"""Candidates compared by what is around, and nodes around all targets of hops up to which that is tried."""
_FEW = 3
"""Candidates where there is one try only."""
_WIDE = 1_000_000
"""Words for the packets of all nodes (8 MB) that are more than is at hand: of more, few are looked at in a slot."""
_WORK = 8_000_000
"""Hops after which no further order is tried."""
_TRIES = 12
_MOST_TRIES, _FEW_HOPS = 60, 30_000
"""Tries of a small case, and the hops of all of them."""
_HOP_SECONDS = 5e-5
"""Seconds for each of the hops that Python takes at the most, where nothing is compiled."""


def greedy_flooding(case: Case, parts: int = 1) -> Schedule:
    """Build the shortest of a few schedules in which no link idles that could carry something new.

    Parameters
    ----------
    case : Case
        A task of packets that all terminals must get, on any network in which every origin reaches every terminal. Any
        ports and links. The seed is that of the random orders.
    parts : int
        Into how many packets each message is cut; more than one on plain links only, if messages may be split.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    About O(hops) for each try, plus the links in every slot; one bit for each packet and node. At most 12 tries, more
    for small and fewer for large schedules, and none after one that takes no longer than the busiest terminal must
    receive, or than a bound that is known.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 5])
    >>> greedy_flooding(Case(gossamer.network("array:4x4"), task)).completion_time
    Fraction(6, 1)
    """
    from gossamer.algorithms.multinode_broadcast.greedy_flooding import _kernels
    from gossamer.jit import seldom

    if case.network.shared_ports is not None:
        return retimed(greedy_flooding(case.related(case.network.with_ports(None))), case.network, case.rules)
    origin, roads = Packets.of(case.messages, parts).origin, Roads.of(case.network, case.rules)
    most = _hops(case) * parts
    best: _Flooded | None = None
    least = max(_least(case, origin, roads), ceil(case.floor * parts))
    tries = max(1, min(_TRIES, _WORK // max(most, 1)), min(_MOST_TRIES, _FEW_HOPS // max(most, 1)))

    seldom(_kernels.flood, _HOP_SECONDS * tries * most)

    def ways() -> Iterator[tuple[Case, int, int, int, _Around | None, int, int]]:
        around: list[_Around] = []
        for attempt in range(tries):
            if attempt == len(_LOOKS):
                around = _all_around(case.network, roads, most)
            turn = attempt % (len(_LOOKS) + len(around))
            rare = around[turn - len(_LOOKS)] if turn >= len(_LOOKS) else None
            looks = _FEW if most > _WORK else _LOOKS[turn] if rare is None else _AROUND_LOOKS
            yield case, parts, most, looks, rare, case.seed + attempt, _sooner(best)

    for way, found in case.tries.in_order(_flooded, ways()):
        deadline = _sooner(best)  # others may have been earlier since the try began
        if way[-1] > deadline and int((roads.occupancy + roads.latency).max(initial=0)) > 1:
            found = _flooded(*way[:-1], deadline)  # which hops are in time differs
        if found is not None and found.over <= deadline:
            best = found
        if best is not None and best.over <= least:
            break
    assert best is not None
    over, slot, link, packet = best
    if case.network.terminal_count < case.network.node_count:
        kept = leads_on(case.network, link, packet)
        slot, link, packet = slot[kept], link[kept], packet[kept]
        over = int((slot + (roads.occupancy + roads.latency)[link]).max(initial=0))
    schedule = Schedule.of(
        case, slot, link, packet, parts=parts,
        phases=[Phase(case.task.name, over, Fraction(1, parts))],
    )  # fmt: skip
    return retimed(schedule, case.network) if case.rules.cut_through else schedule


class _Flooded(NamedTuple):
    """When a schedule is over, and the slots, links and packets of its hops."""

    over: int
    slot: np.ndarray
    link: np.ndarray
    packet: np.ndarray


def _sooner(best: _Flooded | None) -> int:
    """Return when what is shorter must be over."""
    return 2**62 if best is None else best.over - 1


class _Around(NamedTuple):
    """What a packet at a node weighs for the nodes around it, entries first[u]..first[u + 1]-1, and anywhere."""

    first: np.ndarray
    node: np.ndarray
    weight: np.ndarray
    share: int


def _all_around(network: Network, roads: Roads, most: int) -> list[_Around]:
    """Return what is around nodes in several ways, those that are not too much work for so many hops."""
    from gossamer.algorithms.multinode_broadcast.greedy_flooding import _kernels

    found = []
    first = np.empty(network.node_count + 1, np.int64)
    room = min(network.node_count * _AROUND_WORK // max(most, 1), network.node_count**2)
    node, distance = np.empty(room, np.int32), np.empty(room, np.int32)
    takes = roads.occupancy + roads.latency
    length = -(-takes // takes.min(initial=2**31))
    for radius, less, share in _AROUND:
        seen = np.full(network.node_count, -1, np.int64)
        if _kernels.nearby(network.first_link, network.link_target, length, radius, first, node, distance, seen):
            weight = np.rint(1000 * less ** distance[: first[-1]]).astype(np.int32)
            found.append(_Around(first.copy(), node[: first[-1]].copy(), weight, share))
    return found


def _flooded(
    case: Case, parts: int, most: int, looks: int, rare: _Around | None, seed: int, deadline: int
) -> _Flooded | None:
    """Return a schedule of at most `most` hops, or None if it takes longer than the deadline."""
    from gossamer.algorithms.multinode_broadcast.greedy_flooding import _kernels

    network, origin, roads = case.network, Packets.of(case.messages, parts).origin, Roads.of(case.network, case.rules)
    ring = np.zeros(network.link_count + 1, np.int64)
    np.cumsum(np.minimum(roads.capacity, origin.size), out=ring[1:])
    first_in = np.zeros(network.node_count + 1, np.int64)
    np.cumsum(network.in_degree, out=first_in[1:])
    has = np.zeros((network.node_count, (origin.size + 63) // 64), np.uint64)
    columns = tuple(np.empty(most, np.int32) for _ in range(3))
    nothing = np.zeros(0, np.int32)
    around = rare or _Around(np.zeros(0, np.int64), nothing, nothing, 1)
    near = np.zeros((0, 0) if rare is None else (network.node_count, origin.size), np.int32)
    takes = roads.occupancy + roads.latency
    longest = int(takes.max(initial=0))
    aloft = int((np.diff(ring) * (longest // roads.occupancy + 1)).sum())  # in `longest` slots, all one by one
    desk = _kernels.Desk.of(network.node_count, origin.size, network.link_count, longest, max(1, min(aloft, most)))
    made, over = _kernels.flood(
        network.link_source, network.link_target, roads.occupancy, takes, roads.latency,
        ring, np.zeros(int(ring[-1]), np.int64), first_in, np.argsort(network.link_target, kind="stable"),
        has, np.zeros_like(has), network.terminal_count, origin, case.send_limited, case.receive_limited, looks,
        around.share, around[:3], near, has.size > _WIDE and has.shape[1] > 8, deadline, seed, *columns, desk,
    )  # fmt: skip
    if made == -1:
        raise NetworkError(f"network {network.spec!r} is not connected: some terminal cannot be reached")
    slot, link, packet = (c[: max(made, 0)] for c in columns)
    return None if made < 0 else _Flooded(int(over), slot, link, packet)


def _least(case: Case, origin: np.ndarray, roads: Roads) -> int:
    """Return the slots that the busiest terminal needs to receive what it lacks."""
    n, network = case.network.terminal_count, case.network
    lacks = origin.size - np.bincount(origin, minlength=network.node_count)[:n]
    if roads.receive_limited:
        quickest = np.full(network.node_count, 2**31)
        np.minimum.at(quickest, roads.target, roads.occupancy)
        return int((lacks * quickest[:n]).max(initial=0))
    rate = np.bincount(roads.target, weights=roads.capacity / roads.occupancy, minlength=network.node_count)[:n]
    most = np.ceil(lacks / np.maximum(rate, 1e-9) - 1e-9).astype(np.int64)
    return int((most + (lacks > 0) * _before(network, np.unique(origin))[:n]).max(initial=0))


def _before(network: Network, origins: np.ndarray) -> np.ndarray:
    """Return the slots in which nothing can come to each node, int64[N]: switches must have got something first.

    Of a link from u they are as many as links lie between u and the nearest origin; of a node, the least of its links.
    """
    far = np.full(network.node_count, 2**31, np.int64)
    far[origins] = 0
    for _ in range(network.node_count):
        nearer = np.full(network.node_count, 2**31, np.int64)
        np.minimum.at(nearer, network.link_target, far[network.link_source] + 1)
        nearer = np.minimum(far, nearer)
        if (nearer == far).all():
            break
        far = nearer
    found = np.full(network.node_count, 2**31, np.int64)
    np.minimum.at(found, network.link_target, far[network.link_source])
    return np.where(found < 2**31, found, 0)


def _hops(case: Case) -> int:
    """Return the most hops: every packet to every node but its origin."""
    return case.messages.packet_count * (case.network.node_count - 1)


def _costs(network: Network) -> tuple[float, float]:
    """Return bytes and seconds of a hop to a terminal: more where there are switches, whose hops are sorted out, too.

    The seconds are those of one try that takes no longer than it must; where none does, all tries take 5 times as long.
    """
    if network.terminal_count == network.node_count:
        return 14.0, 3.5e-7
    more = (network.node_count - 1) / max(network.terminal_count - 1, 1)
    return 48.0 * more, 4e-7 * more


def _propose(case: Case) -> Offer[Schedule] | tuple[Offer[Schedule], ...] | Refusal:
    if isinstance(case.task, PartialMultinodeBroadcast) and case.control_time:
        return Refusal("needs the active nodes known ahead (control time 0)")
    if case.messages.targets is not None or bool((case.messages.discipline != COPY).any()):
        return Refusal("is for packets that all terminals must get")
    refusal = refuse_buffers(case.rules) or refuse_hops(_hops(case))
    if refusal is not None:
        return refusal

    hop_bytes, hop_seconds = _costs(case.network)

    def offer(parts: int, /, **options: int) -> Offer[Schedule]:
        return Offer(
            lambda: greedy_flooding(case, parts),
            effort="search", options=options, hop_bytes=hop_bytes, hop_seconds=hop_seconds,
        )  # fmt: skip

    parts = int(case.network.out_degree.max(initial=1))
    cut = case.rules.split and case.network.plain and not case.rules.cut_through and not isinstance(case.task, Chunked)
    if not cut or parts < 2 or refuse_hops(_hops(case) * parts) is not None:
        return offer(1)
    return offer(1, parts=1), offer(parts, parts=parts)


GREEDY_FLOODING = Algorithm(
    name="greedy-flooding",
    tasks=(MultinodeBroadcast, PartialMultinodeBroadcast, MultipleBroadcast, Chunked),
    propose=_propose,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="no link idles that could carry something new; the rarest of a few candidates goes first",
    timed=True,
)
