"""Personalized messages that travel together, so that start-ups are few: for short messages and dear start-ups.

Scatters and gathers follow the tree of one flooded broadcast: a wormhole message carries all that the nodes behind it
get or give. In a total exchange every node hands on, to each neighbor, all that goes that way, step by step.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, Gather, Reduce, Scatter, TotalExchange
from gossamer.schedules.wormhole.case import WormholeCase
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.flooding import flooded, flooding_offers
from gossamer.wormhole.time_reversal import backwards, only_first_copies

__all__ = ["COMBINING", "neighbor_exchange", "scatter_or_gather_on_tree"]

Ints = npt.NDArray[np.int64]


def scatter_or_gather_on_tree(case: WormholeCase) -> WormholeSchedule:
    """Scatter or gather along the tree of a flooded broadcast.

    Parameters
    ----------
    case : WormholeCase
        A scatter or gather.

    Notes
    -----
    As many steps as the flooding of one message has: about ``log_(k+1) N`` where nodes have k channels. What leaves the
    root is cut as the tree is: a step lasts as long as its heaviest subtree. O(N x depth) time after the flooding.

    References
    ----------
    Thakur, Rabenseifner and Gropp 2005: scatter and gather on binomial trees, which are those of one port.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:5x5"), gossamer.task("scatter"))
    >>> s = scatter_or_gather_on_tree(case)
    >>> s.step_count, bool(gossamer.verify(s))
    (3, True)
    """
    scatters = isinstance(case.task, Scatter)
    messages = case.messages
    assert messages.targets is not None
    leaf = (messages.targets if scatters else messages.origin).astype(np.int64)
    root = int(messages.origin[0] if scatters else messages.targets[0])
    if scatters:
        tree = only_first_copies(flooded(case.varied(Broadcast(root)), 1))
        inner, outer, order = tree.source, tree.target, range(tree.step.size - 1, -1, -1)
    else:
        tree = backwards(
            flooded(case.varied(Broadcast(root)), 1, turned=True), case.varied(Reduce(root)), mirrored=False
        )
        inner, outer, order = tree.target, tree.source, range(tree.step.size)
    behind: list[list[int]] = [[] for _ in range(case.network.node_count)]
    for message, node in enumerate(leaf.tolist()):
        behind[node].append(message)
    steps = Steps(case.channels.dimensions)
    payload = np.zeros(tree.step.size, np.int64)
    for row in order:  # leaves first: all behind a node is known before the message that it shares
        some = behind[int(outer[row])]
        payload[row] = steps.table.row(some)
        behind[int(inner[row])] += some
    steps.add(tree.step, tree.source, tree.displacement, payload)
    steps.end_phase("scatter" if scatters else "gather", tree.step_count)
    return steps.schedule(case)


def neighbor_exchange(case: WormholeCase) -> WormholeSchedule:
    """Exchange personalized messages between neighbors, all that goes the same way as one.

    All that has to go the same way goes to the next node as one message, where it is sorted again. That takes only as
    many steps as the diameter, but every byte is sent once for each hop.

    Parameters
    ----------
    case : WormholeCase
        A total exchange.

    Notes
    -----
    As many steps as the diameter, and no byte crosses more channels than it must. In each step every message goes
    one hop nearer to its target, over the channel that has least to carry; those with least choice choose first.
    O(N^2 x diameter x channels of a node) time.

    References
    ----------
    Bruck, Ho, Kipnis, Upfal and Weathersby 1997: messages combined to save start-ups.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("total-exchange"))
    >>> s = neighbor_exchange(case)
    >>> s.step_count, bool(gossamer.verify(s))
    (4, True)
    """
    channels, messages, n = case.channels, case.messages, case.network.node_count
    assert messages.targets is not None
    at, to = messages.origin.astype(np.int64), messages.targets.astype(np.int64)
    distance, source, target, move = _neighbors(case)
    first_out = np.searchsorted(source, np.arange(n + 1))
    steps = Steps(channels.dimensions)
    step = 0
    while (going := np.flatnonzero(at != to)).size:
        chosen = np.empty(going.size, np.int64)
        _choose_kernel(at[going], to[going], distance, first_out, target, np.zeros(source.size, np.int64), chosen)
        order = np.argsort(chosen, kind="stable")
        used, first = np.unique(chosen[order], return_index=True)
        payload = [steps.table.row(part) for part in np.split(going[order], first[1:])]
        steps.add(step, source[used], move[used], payload)
        at[going] = target[chosen]
        step += 1
    steps.end_phase("neighbors", step)
    return steps.schedule(case)


def _neighbors(case: WormholeCase) -> tuple[npt.NDArray[np.integer], Ints, Ints, Ints]:
    """Return the hops between all nodes int[N, N], and source, target and displacement of each channel by source."""
    channels, n = case.channels, case.network.node_count
    if not channels.on_grid:
        links = channels.next_link
        source, target = case.network.link_source.astype(np.int64), case.network.link_target.astype(np.int64)
        kept = links[source, target] == np.arange(source.size)  # of parallel links, the one that messages take
        source, target = source[kept], target[kept]
        return channels.distances, source, target, (target - source)[:, None]
    a, b = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    distance = channels.hops(a, channels.shortest(a, b)).reshape(n, n)
    d = channels.dimensions
    number = np.flatnonzero(channels.exists.reshape(-1))
    source, turn = np.divmod(number, 2 * d)
    move = np.zeros((number.size, d), np.int64)
    move[np.arange(number.size), turn // 2] = 1 - 2 * (turn % 2)
    return distance, source, channels.target(source, move).astype(np.int64), move


@njit(cache=True, nogil=True, small=100_000)
def _choose_kernel(at, to, distance, first_out, target, load, chosen):
    """Choose for each message the channel that brings it nearer and has least to carry; those with least choice first.

    `at`, `to` int64[k]; node u has the channels ``first_out[u]`` to ``first_out[u+1]``, which end at `target`; ``load``
    int64[C] must be 0. Writes ``chosen`` int64[k].
    """
    most = 1
    choices = np.zeros(at.size, np.int64)
    for m in range(at.size):
        for c in range(first_out[at[m]], first_out[at[m] + 1]):
            if distance[target[c], to[m]] < distance[at[m], to[m]]:
                choices[m] += 1
        most = max(most, choices[m])
    for many in range(1, most + 1):
        for m in range(at.size):
            if choices[m] != many:
                continue
            best = -1
            for c in range(first_out[at[m]], first_out[at[m] + 1]):
                if distance[target[c], to[m]] < distance[at[m], to[m]] and (best < 0 or load[c] < load[best]):
                    best = c
            chosen[m] = best
            load[best] += 1


_MOST = 4_000_000


def _on_tree(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    if not case.messages.count:
        return Refusal("needs a message to send")
    found = flooding_offers(case.varied(Broadcast(0)))
    if isinstance(found, Refusal):
        return found
    return Offer(lambda: scatter_or_gather_on_tree(case), least=Fraction(case.cost.startup), effort="search")


def _exchange(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    if case.network.terminal_count < case.network.node_count:
        return Refusal("needs a network in which every node is a terminal")
    if case.network.node_count < 2:
        return Refusal("needs two nodes or more")
    origin = case.messages.origin.astype(np.int64)
    assert case.messages.targets is not None
    hops = case.channels.hops(origin, case.channels.shortest(origin, case.messages.targets))
    refusal = too_many_messages(int(hops.sum()), _MOST)
    if refusal:
        return refusal
    carried = int(hops.sum()) * case.cost.message_bytes // int(case.channels.exists.sum())
    least = int(hops.max()) * Fraction(case.cost.startup) + carried * Fraction(case.cost.per_byte)
    return Offer(lambda: neighbor_exchange(case), least=least, effort="search", hop_seconds=2e-6)


COMBINING = (
    WormholeAlgorithm(
        name="combining-tree",
        tasks=(Scatter, Gather),
        propose=_on_tree,
        networks="any network",
        source="Gossamer, after Thakur, Rabenseifner and Gropp 2005",
        summary="a message carries all for the nodes behind it on a tree: few start-ups",
        anywhere=True,
        limited=True,
    ),
    WormholeAlgorithm(
        name="neighbor-exchange",
        tasks=(TotalExchange,),
        propose=_exchange,
        networks="any network whose nodes are all terminals",
        source="Gossamer, after Bruck, Ho, Kipnis, Upfal and Weathersby 1997",
        summary="all that goes the same way goes to the next node as one message: as many steps as the diameter",
        anywhere=True,
    ),
)
"""Scatter, gather and total exchange by messages that travel together."""
