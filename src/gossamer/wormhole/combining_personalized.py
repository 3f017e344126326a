"""Messages that travel together or as one sum, so that start-ups are few: for short messages and dear start-ups.

Scatters and gathers follow the tree of one flooded broadcast: a wormhole message carries all that the nodes behind it
get or give. In a total exchange every node hands on, to each neighbor, all that goes that way, step by step. Partial
sums of an allreduce are exchanged in pairs of nodes, over longer and longer paths, or meet at one node.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, Gather, Grouped, PartialSumAllreduce, Reduce, Scatter, TotalExchange
from gossamer.schedules.wormhole.payloads import Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.flooding import flooded, flooding_offers, middle
from gossamer.wormhole.time_reversal import backwards, only_first_copies

__all__ = ["COMBINING", "exchange_of_sums", "neighbor_exchange", "reduce_then_broadcast", "scatter_or_gather_on_tree"]

Ints = npt.NDArray[np.int64]


def scatter_or_gather_on_tree(case: WormholeCase) -> WormholeSchedule:
    """Scatter or gather along the tree of a flooded broadcast.

    As many steps as the flooding of one message has: about ``log_(k+1) N`` where nodes have k channels. What leaves the
    root is cut as the tree is: a step lasts as long as its heaviest subtree. O(N x depth) time after the flooding.
    Thakur, Rabenseifner and Gropp 2005 do so on binomial trees, which are those of one port.

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

    What comes to a node is sorted again there. As many steps as the diameter, and no byte crosses more channels than it
    must. In each step every message goes one hop nearer to its target, over the channel that has least to carry; those
    with least choice choose first. O(N^2 x diameter x channels of a node) time. Messages are combined to save start-ups
    as by Bruck, Ho, Kipnis, Upfal and Weathersby 1997.

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


def reduce_then_broadcast(case: WormholeCase, root: int, pieces: int = 1) -> WormholeSchedule:
    """Add all contributions up at the `root`, which sends the result to all.

    The buffer is cut into so many `pieces`, each flooded by itself. Twice the steps of a flooded broadcast, about ``2
    log_(k+1) N`` where nodes have k channels.

    >>> import gossamer
    >>> from gossamer.questions.tasks import PartialSumAllreduce
    >>> s = reduce_then_broadcast(WormholeCase(gossamer.network("torus:5x5"), PartialSumAllreduce()), 0)
    >>> s.step_count, bool(gossamer.verify(s))
    (6, True)
    """
    turned = flooded(case.varied(Broadcast(root)), pieces, turned=True)
    inwards = backwards(turned, case.varied(Reduce(root)), mirrored=False)
    steps = Steps(case.channels.dimensions)
    for name, half in (
        ("reduction", inwards),
        ("broadcast", only_first_copies(flooded(case.varied(Broadcast(root)), pieces))),
    ):
        rows = [steps.table.row(np.sort(half.packets.piece[half.pieces_of(m)])) for m in range(half.message_count)]
        steps.add(half.step, half.source, half.displacement, np.array(rows, np.int64))
        steps.end_phase(name, half.step_count)
    return steps.schedule(case, Pieces.of(case.messages, case.cost.message_bytes, pieces))


def _stages(case: WormholeCase) -> list[list[list[int]]]:
    """Return groups of nodes that tell each other their sums, stage after stage.

    Along the sides of an array or torus these are groups of 2, and of 3 around a side where nodes use all
    ports; elsewhere pairs of nodes whose
    numbers differ in one bit, among as many nodes as the largest power of two.
    """
    channels, nodes, all_ports = case.channels, case.network.terminal_count, case.rules.ports == "all"
    radices = []
    for side, wraps, stride in zip(channels.sides, channels.wraps, channels.strides, strict=True):
        while side % 2 == 0:
            radices.append((2, stride))
            side, stride = side // 2, stride * 2
        around = side == 3 and wraps and all_ports
        radices += [(3, stride)] if around else []
        if side > 1 and not around:
            radices = []
            break
    return _groups(nodes, radices) if channels.on_grid and radices else _by_bits(nodes)


def _by_bits(nodes: int) -> list[list[list[int]]]:
    """Return the pairs of each bit, among as many nodes as the largest power of two."""
    bits = nodes.bit_length() - 1
    return _groups(1 << bits, [(2, 1 << bit) for bit in range(bits)])


def _groups(nodes: int, radices: Sequence[tuple[int, int]]) -> list[list[list[int]]]:
    return [
        [[v + stride * digit for digit in range(radix)] for v in range(nodes) if v // stride % radix == 0]
        for radix, stride in radices
    ]


def exchange_of_sums(case: WormholeCase, parts: int = 1) -> WormholeSchedule:
    """Exchange partial sums: after each stage, twice as many nodes or three times as many have the same sum.

    `parts`: of the buffer; each goes through the stages in an order rotated by one. Only 1 in groups, and where the
    nodes are no product of those that tell each other their sums. Of nodes in excess of the largest power of two each
    gives its contribution to another first, and gets the result from it. The groups of a stage whose paths share a
    channel take turns. A node sends a sum and goes on adding to it, so that there is no reverse. O(stages x channels on
    all paths). With pairs it is recursive doubling (Thakur, Rabenseifner and Gropp 2005).

    >>> import gossamer
    >>> from gossamer.questions.tasks import PartialSumAllreduce
    >>> case = WormholeCase(gossamer.network("hypercube:4"), PartialSumAllreduce())
    >>> [(s.step_count, bool(gossamer.verify(s))) for s in (exchange_of_sums(case), exchange_of_sums(case, 4))]
    [(4, True), (4, True)]
    """
    steps = Steps(case.channels.dimensions)
    among: list[Sequence[int]] = [range(case.network.terminal_count)]
    stages = [_stages(case)]
    if isinstance(case.task, Grouped):
        among, stages = [*case.task.groups], [_by_bits(len(group)) for group in case.task.groups]
    folded = []
    turns: list[list[tuple[list[tuple[int, int]], int]]] = [[] for _ in range(max(map(len, stages)))]
    for number, (nodes, own) in enumerate(zip(among, stages, strict=True)):
        pieces = range(number * parts, (number + 1) * parts)
        members = 1 + max((max(group) for group in own[0]), default=0) if own else 1
        rest = len(nodes) - members  # the one with the odd number stands for the one before it, too
        names = [nodes[2 * i + 1 if i < rest else i + rest] for i in range(members)]
        folded += [([(nodes[2 * i], nodes[2 * i + 1])], steps.table.row(pieces)) for i in range(rest)]
        for turn, part in itertools.product(range(len(own)), range(parts)):
            row = steps.table.row(pieces[part : part + 1])
            for group in own[(turn + part) % len(own)]:
                some = [names[v] for v in group]
                turns[turn].append(([(u, v) for u in some for v in some if u != v], row))
    _in_turns(case, steps, "fold", folded)
    for turn, groups in enumerate(turns):
        _in_turns(case, steps, f"exchange {turn + 1}", groups)
    _in_turns(case, steps, "unfold", [([(v, u)], row) for [(u, v)], row in folded])
    return steps.schedule(case, Pieces.of(case.messages, case.cost.message_bytes, parts))


def _in_turns(case: WormholeCase, steps: Steps, name: str, groups: list[tuple[list[tuple[int, int]], int]]) -> None:
    """Add a phase in which groups of messages, with what they carry, go in the first step that has their channels."""
    busy: list[set[int]] = []
    for pairs, row in groups:
        source, target = (np.array(ends, np.int64) for ends in zip(*pairs, strict=True))
        move = case.channels.shortest(source, target)
        mine = case.channels.paths(source, move)[1].tolist()
        step = next((t for t, taken in enumerate(busy) if taken.isdisjoint(mine)), len(busy))
        busy += [set()] if step == len(busy) else []
        busy[step] |= set(mine)
        steps.add(step, source, move, row)
    steps.end_phase(name, len(busy))


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


_MOST_PIECES = 32


def _sums(case: WormholeCase) -> list[Offer[WormholeSchedule]] | Refusal:
    if case.network.terminal_count < 2:
        return Refusal("needs two nodes or more")
    nodes, far = case.network.terminal_count, case.channels.shortest([0], [case.network.terminal_count - 1])
    refusal = too_many_messages(nodes * nodes.bit_length() * (1 + int(case.channels.hops([0], far)[0])), _MOST)
    if refusal:
        return refusal
    stages, cost, size = _stages(case), case.cost, case.cost.message_bytes
    members = 1 + max(max(group) for group in stages[0])
    startup, all_bytes = Fraction(cost.startup), size * Fraction(cost.per_byte)
    fold = 0 if members == nodes else 2
    each = (len(stages) + fold) * (startup + all_bytes)
    offers = [Offer(partial(exchange_of_sums, case), least=each, effort="search", options={"parts": 1})]
    if case.rules.ports == "all" and not fold and 1 < len(stages) <= size:
        least, parts = len(stages) * startup + all_bytes, len(stages)
        offers.append(
            Offer(partial(exchange_of_sums, case, parts), least=least, effort="search", options={"parts": parts})
        )
    floods = flooding_offers(case.varied(Broadcast(0)))
    if not isinstance(floods, Refusal):
        root, cuts = middle(case), sorted({int(offer.options["pieces"]) for offer in floods})
        for pieces in (n for n in cuts if n <= _MOST_PIECES):
            build = partial(reduce_then_broadcast, case, root, pieces)
            options = {"root": root, "pieces": pieces}
            offers.append(Offer(build, least=2 * startup, effort="search", options=options))
    return offers


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
    WormholeAlgorithm(
        name="exchange-of-sums",
        tasks=(PartialSumAllreduce,),
        propose=_sums,
        networks="any network",
        source="Thakur, Rabenseifner and Gropp 2005: recursive doubling, over paths that take turns",
        summary="pairs of nodes, ever further apart, tell each other their partial sums; or all meet at one node",
        anywhere=True,
        limited=True,
    ),
)
"""Scatter, gather, total exchange and allreduce by messages that travel together."""
