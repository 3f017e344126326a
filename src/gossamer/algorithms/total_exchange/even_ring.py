"""Total exchange on an even ring by message shifts that depend on parity (TE3 of seed 004, section 4.3.2).

Messages to the antipode of an even ring may go either way. Even nodes send theirs clockwise and odd nodes
counterclockwise, which balances the two directions; the schedule is then invariant under even translations only.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction

from gossamer.algorithms.algorithm import Algorithm
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule, Symmetry
from gossamer.tasks import Task, TotalExchange

__all__ = ["PARITY_SHIFT", "parity_shift_exchange"]


def parity_shift_exchange(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the total exchange on a ring of n nodes, n even: first in, first out, starting with the furthest.

    Clockwise, even nodes have messages for distances ``n/2, ..., 1`` and odd nodes for ``n/2 - 1, ..., 1``;
    counterclockwise the other way round. A node sends the head of its queue in every slot; what it receives for others
    joins the tail.

    Notes
    -----
    ``ceil((n*n - 1)/8)`` steps, optimal (Theorem 4.6). O(n**2) stored hops.

    References
    ----------
    Seed 004, section 4.3.2, Definition 4.1, Theorem 4.6.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("ring:8")
    >>> parity_shift_exchange(net, gossamer.task("alltoall"), Model()).completion_time
    Fraction(8, 1)
    """
    n = network.node_count
    rows: list[tuple[int, int, int]] = []
    for way, generator in ((1, 0), (-1, 1)):
        # by parity of the node: packets as (origin, distance in all, hops made), origins the representatives 0 and 1
        queues = [deque((r, m, 0) for m in range(_reach(n, r, way), 0, -1)) for r in (0, 1)]
        slot = 0
        while any(queues):
            moved = [(parity, queue.popleft()) for parity, queue in enumerate(queues) if queue]
            for parity, (origin, distance, made) in moved:
                node = (origin + way * made) % n
                destination = (origin + way * distance) % n
                packet = origin * (n - 1) + destination - (destination > origin)
                rows.append((slot, node * 2 + generator, packet))
                if made + 1 < distance:
                    queues[1 - parity].append((origin, distance, made + 1))
            slot += 1
    rows.sort()
    slots, links, packets = zip(*rows, strict=True)
    symmetry = Symmetry(network, [2 % n])
    return Schedule(network, TotalExchange(), model, slots, links, packets, symmetry=symmetry)


def _reach(n: int, parity: int, way: int) -> int:
    """Return the furthest distance that a node of this parity serves in direction `way`."""
    return n // 2 if (parity == 0) == (way == 1) else n // 2 - 1


def _reason(network: Network, task: Task, model: Model) -> str | None:
    grid = network.grid
    if grid is None or grid.dimensions != 1 or not grid.wraps[0] or network.node_count % 2 or network.group is None:
        return "needs a ring of an even number of nodes, 4 or more"
    if model.ports != "all":
        return "needs ports 'all'"
    if model.buffer is not None:
        return "does not limit buffers"
    return None


PARITY_SHIFT = Algorithm(
    name="parity-shift",
    task=TotalExchange,
    builder=parity_shift_exchange,
    reason=_reason,
    claim=lambda network, task, model: Fraction(-(-(network.node_count**2 - 1) // 8)),
    networks="rings of an even number of nodes",
    source="Dimakopoulos 1996, section 4.3.2 (TE3), Theorem 4.6",
    summary="first in, first out from the furthest; antipodal messages clockwise from even nodes only",
    optimal=lambda network, task, model: not model.split,
)
