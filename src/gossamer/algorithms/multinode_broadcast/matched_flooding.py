"""Multinode broadcast with one port on any network: in every slot a heaviest matching of senders with receivers.

In a slot every node sends one packet and receives one, so the hops of a slot are a matching of nodes as senders with
nodes as receivers over links that have something new to carry. Of all such matchings the heaviest is taken. A hop
weighs as much as its receiver still lacks, a little more if the link has many packets to choose from, and some chance;
of these it carries the packet that most nodes beyond still lack.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

_WORK = 200_000_000
"""Looks at a link, a packet and a node up to which it is tried, and in all tries together: seconds."""

_TRIES = 3
_CHOICE = 0.3
"""How much a packet more to choose from weighs, where a packet more that is lacking weighs 1."""

Columns = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]


def matched_flooding(case: Case) -> Schedule:
    """Broadcast from every node where nodes send and receive one packet a slot.

    With one port a node sends one packet and receives one in a slot, so that the hops of a slot are a matching of
    senders with receivers. Every link is given the weight of the best packet that it could carry, and in every slot
    the heaviest matching is carried out.

    Parameters
    ----------
    case : Case
        A multinode broadcast on any network of N terminals and no switches. The seed is that of the chances.

    Notes
    -----
    The shortest of at most 3 schedules; none is tried after one that meets the largest bound known. No time is
    promised. On all arrays of an odd number of nodes tried (3x3 to 5x5, 3x3x3) it takes N+1 steps, which no schedule
    beats. O(N L) numbers of memory, ``O(N^2 L)`` operations of a matrix product for each slot, and a matching.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    >>> matched_flooding(case).completion_time
    Fraction(10, 1)
    """
    network = case.network
    n = network.node_count
    distance = np.array([network.breadth_first(v).distance for v in range(n)])
    # whether v is nearer to a node than u is, for each link (u, v): the nodes beyond the link
    beyond = (distance[network.link_target] < distance[network.link_source]).astype(np.float32)
    least = max(n - 1, case.floor)
    best: Columns | None = None
    for attempt in range(max(1, min(_TRIES, _WORK // _work(case)))):
        found = _flooded(case, beyond, np.random.default_rng(case.seed + attempt))
        if best is None or found[0][-1] < best[0][-1]:
            best = found
        if best[0][-1] + 1 <= least:
            break
    assert best is not None
    return Schedule.of(case, *best)


def _flooded(case: Case, beyond: npt.NDArray[np.float32], draw: np.random.Generator) -> Columns:
    """Return slot, link and packet of all hops of one try, sorted by slot."""
    from scipy.optimize import linear_sum_assignment

    source, target = case.network.link_source, case.network.link_target
    n = case.network.node_count
    link_of = np.full((n, n), -1, np.int32)
    link_of[source, target] = np.arange(source.size, dtype=np.int32)
    has = np.eye(n, dtype=bool)  # node, packet
    slots: list[npt.NDArray[np.int32]] = []
    links: list[npt.NDArray[np.int32]] = []
    packets: list[npt.NDArray[np.int32]] = []
    while not has.all():
        # Step 1: the best packet of each link, of those that its source has and its target lacks
        new = has[source] & ~has[target]
        worth = beyond @ (~has).astype(np.float32) + draw.random(new.shape, np.float32)
        packet = np.where(new, worth, -1).argmax(axis=1)
        # Step 2: the heaviest matching of senders with receivers
        choices = new.sum(axis=1)
        weight = np.zeros((n, n))
        busy = np.flatnonzero(choices)
        lacking = n - has.sum(axis=1)
        weight[source[busy], target[busy]] = lacking[target[busy]] + _CHOICE * choices[busy] + draw.random(busy.size)
        senders, receivers = linear_sum_assignment(weight, maximize=True)
        made = link_of[senders, receivers][weight[senders, receivers] > 0]
        # Step 3: they are carried out
        has[target[made], packet[made]] = True
        slots.append(np.full(made.size, len(slots), np.int32))
        links.append(made)
        packets.append(packet[made].astype(np.int32))
    return np.concatenate(slots), np.concatenate(links), np.concatenate(packets)


def _work(case: Case) -> int:
    return max(1, case.network.node_count**3 * case.network.link_count)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, n = case.network, case.network.node_count
    if network.terminal_count < n or n < 2:
        return Refusal("needs a network of at least two terminals and no switches")
    if case.rules.ports == "all":
        return Refusal("is for one-port nodes")
    if network.group is not None:
        return Refusal("is not for Cayley networks, where a translated tree with a hop a slot is optimal")
    if _work(case) > _WORK:
        return Refusal(f"looks at no more than {_WORK:,} combinations of links, packets, nodes and slots")
    refusal = first_refusal(refuse_buffers(case.rules), refuse_hops(n * (n - 1)))
    return refusal or Offer(lambda: matched_flooding(case), effort="search", hop_seconds=_work(case) / n**2 * 1e-9)


MATCHED_FLOODING = Algorithm(
    name="matched-flooding",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="any small networks without switches",
    source="gossamer; no promised time",
    summary="with one port, in every slot the heaviest matching of senders with receivers",
)
