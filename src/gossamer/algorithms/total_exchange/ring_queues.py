"""Total exchange on rings by queues that are the same at all nodes, or at all even and all odd nodes.

Dimakopoulos 1996, section 4.3. Each direction has a queue of its own at every node, and the two do not disturb each
other. On odd rings any rule that is the same at every node is optimal (Theorem 4.5); on even rings the antipodal
messages must be divided between the directions, and the order of the queue matters.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import Literal, get_args

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.errors import ModelError, nearest
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

RingDiscipline = Literal["fifo", "furthest-first", "closest-first"]
"""Which message of a queue is sent."""

RingStart = Literal["furthest", "closest"]
"""Which of its own messages a node has at the head of its queue at the beginning."""


def ring_shift_exchange(
    case: Case, *, discipline: RingDiscipline = "fifo", start: RingStart = "furthest", divide: bool = True
) -> Schedule:
    """Build the exchange on a ring of n nodes in which every queue follows the same rule.

    Every node has a queue for each direction round the ring, and its messages in it by the shorter way, the furthest
    in front. In every slot every node sends the first of each queue; what comes for others joins the queue at the end.
    As all nodes do the same, all queues have the same length, and no link idles until all are empty.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a ring of at least 3 nodes.
    discipline : {"fifo", "furthest-first", "closest-first"}
        Equally far messages: first in, first out; with the closest first, the one that has come furthest.
    start : {"furthest", "closest"}
        The order of a node's own messages in its queue.
    divide : bool
        On even rings, whether antipodal messages go clockwise from even nodes and counterclockwise from odd ones.
        Otherwise all go clockwise.

    Returns
    -------
    Schedule
        Invariant, under the even translations where antipodal messages are divided.

    Raises
    ------
    ModelError
        If `discipline` or `start` is none of those.

    Notes
    -----
    ``(n*n - 1)/8`` steps on odd rings, optimal for every rule (Theorem 4.5). On even rings ``ceil((n*n - 1)/8)``,
    optimal, first in, first out from the furthest (Theorem 4.6), or furthest first. From the closest it takes
    ``n*n/8 + 1`` when 4 divides n, closest first ``n(n+2)/8``, and so does every rule without division.
    O(n**2 log n).

    References
    ----------
    Dimakopoulos 1996, section 4.3, Definition 4.1, Theorems 4.5 and 4.6 (TE2, TE3).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ring:8"), TotalExchange())
    >>> [int(ring_shift_exchange(case, start=s).completion_time) for s in get_args(RingStart)]
    [8, 9]
    """
    for value, what, allowed in (
        (discipline, "discipline", get_args(RingDiscipline)),
        (start, "start", get_args(RingStart)),
    ):
        if value not in allowed:
            names = ", ".join(repr(a) for a in allowed)
            raise ModelError(f"{what} must be one of {names}, got {value!r}{nearest(str(value), allowed)}")
    n = case.network.node_count
    origins = 2 if divide and n % 2 == 0 else 1
    rows: list[tuple[int, int, int]] = []
    for way, generator in ((1, 0), (-1, 1)):
        # Step 1: messages go the shorter way; on an even ring those for the opposite node by turns either way
        reaches = [(n - 1) // 2] * origins
        if n % 2 == 0 and (way == 1 or origins == 2):
            reaches[0 if way == 1 else 1] += 1
        # by class of the node: messages as (rank, origin, distance in all, hops made), origins the representatives
        # Step 2: own messages queue in the order of their distance, the furthest first
        queues = []
        for r, reach in enumerate(reaches):
            own = range(reach, 0, -1) if start == "furthest" else range(1, reach + 1)
            queue = [(*_rank(discipline, m, 0, i - n), r, m, 0) for i, m in enumerate(own)]
            heapq.heapify(queue)
            queues.append(queue)
        slot = 0
        while any(queues):
            # Step 3: in every slot each node sends the first of its queue
            moved = [(place, heapq.heappop(queue)) for place, queue in enumerate(queues) if queue]
            for place, (*_, origin, distance, made) in moved:
                node = (origin + way * made) % n
                destination = (origin + way * distance) % n
                packet = origin * (n - 1) + destination - (destination > origin)
                rows.append((slot, node * 2 + generator, packet))
                # Step 4: what is not yet there joins the queue of the next node
                if made + 1 < distance:
                    rank = _rank(discipline, distance, made + 1, slot)
                    heapq.heappush(queues[(place + 1) % origins], (*rank, origin, distance, made + 1))
            slot += 1
    rows.sort()
    slots, links, packets = zip(*rows, strict=True)
    symmetry = Symmetry(case.network, [2 % n] if origins == 2 else None)
    return Schedule.of(case, slots, links, packets, symmetry=symmetry)


def _rank(discipline: RingDiscipline, distance: int, made: int, arrival: int) -> tuple[int, int, int]:
    """Return what decides about the place of a message in the queue, the head lowest."""
    if discipline == "furthest-first":
        return made - distance, 0, arrival
    if discipline == "closest-first":
        return distance - made, -made, arrival
    return 0, 0, arrival


def is_ring(network: Network) -> bool:
    """Whether a network is a ring of at least 3 nodes."""
    return network.grid is not None and network.grid.wraps == (True,) and network.group is not None


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    n = case.network.node_count
    if not is_ring(case.network) or n % 2 == 0:
        return Refusal("needs a ring of an odd number of nodes, 3 or more")
    time = Fraction((n * n - 1) // 8)
    return refuse_ports(case.rules) or Offer(
        lambda: ring_shift_exchange(case), time, optimal=True, orbit=case.network.node_count
    )


MESSAGE_SHIFT = Algorithm(
    name="message-shift",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="rings of an odd number of nodes",
    source="Dimakopoulos 1996, section 4.3.1 (TE2), Theorem 4.5",
    summary="first in, first out in both directions, the same at every node",
)


# Total exchange on an even ring by message shifts that depend on parity (TE3 of Dimakopoulos 1996, section 4.3.2).
#
# Messages to the antipode of an even ring may go either way. Even nodes send theirs clockwise and odd nodes
# counterclockwise, which balances the two directions; the schedule is then invariant under even translations only.


def parity_shift_exchange(case: Case) -> Schedule:
    """Build the total exchange on a ring of n nodes, n even: first in, first out, starting with the furthest.

    Every node has a queue for each direction round the ring, and its messages in it by the shorter way. The messages
    for the opposite node may go either way; if all went clockwise, that direction would be busier. So even nodes send
    theirs clockwise and odd ones counterclockwise.

    Clockwise, even nodes have messages for distances ``n/2, ..., 1`` and odd nodes for ``n/2 - 1, ..., 1``;
    counterclockwise the other way round. A node sends the head of its queue in every slot; what it receives for others
    joins the tail.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a ring of an even number of nodes.

    Notes
    -----
    ``ceil((n*n - 1)/8)`` steps, optimal (Theorem 4.6). O(n**2) stored hops. `ring_shift_exchange` knows other rules.

    References
    ----------
    Dimakopoulos 1996, section 4.3.2, Definition 4.1, Theorem 4.6.

    Examples
    --------
    >>> import gossamer
    >>> parity_shift_exchange(Case(gossamer.network("ring:8"), gossamer.task("alltoall"))).completion_time
    Fraction(8, 1)
    """
    return ring_shift_exchange(case)


def _propose_even(case: Case) -> Offer[Schedule] | Refusal:
    n = case.network.node_count
    if not is_ring(case.network) or n % 2:
        return Refusal("needs a ring of an even number of nodes, 4 or more")
    time = Fraction(-(-(n * n - 1) // 8))
    return refuse_ports(case.rules) or Offer(lambda: parity_shift_exchange(case), time, optimal=case.whole)


PARITY_SHIFT = Algorithm(
    name="parity-shift",
    tasks=(TotalExchange,),
    propose=_propose_even,
    networks="rings of an even number of nodes",
    source="Dimakopoulos 1996, section 4.3.2 (TE3), Theorem 4.6",
    summary="first in, first out from the furthest; antipodal messages clockwise from even nodes only",
)
