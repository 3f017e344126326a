"""Broadcasts flooded by messages over several hops: in each step every piece goes where it helps most.

Reversed, the same makes reductions, over paths that are reversed; both together make allreduces. With the same trees
all messages are gathered at one node, and go out from there as one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.questions import tasks
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, Reduce
from gossamer.questions.tasks.composite_tasks import target_table
from gossamer.schedules.wormhole.payloads import Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.time_reversal import backwards, both, halves

__all__ = [
    "FLOODING",
    "TWO_STEP",
    "Ways",
    "flooded",
    "flooding_offers",
    "gather_then_broadcast",
    "middle",
]

_FEW = 40
"""With so many holders or fewer, each message of a piece is chosen for what it brings to all nodes."""


@njit(cache=True, nogil=True, _nrt=False)
def _sender(p, v, longest, nodes, has, dist, first, path, busy, sent, most):
    """Return the holder of piece p that is nearest to node v over a free path of at most so many channels, or -1."""
    best, chosen = longest + 1, -1
    for u in range(nodes):
        if has[p, u] and dist[u, v] < best and sent[u] < most:
            free = True
            for k in range(first[u * nodes + v], first[u * nodes + v + 1]):
                if busy[path[k]]:
                    free = False
                    break
            if free:
                best, chosen = dist[u, v], u
    return chosen


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _one_step(
    has, near, holders, dist, first, path, urgent, order, busy, one_out, one_in, share, copies, noise, state, source,
    target, piece, room,
):  # fmt: skip
    """Choose the messages of a step and carry them out; return how many there are.

    ``has[p, v]`` says whether node v has piece p, ``near[p, v]`` how far it is from a holder, ``holders[p]`` how many
    there are. The message from node u to v takes the channels ``path[first[u*N+v]:first[u*N+v+1]]``, ``dist[u, v]`` of
    them. With `one_out` a node sends one message, with `one_in` it receives one. Pieces are taken in the given `order`,
    and nodes in that of `urgent`; a piece goes at most `share` of the way to the node that is furthest from it. `noise`
    blurs choices, by chance from `state` on. `source`, `target` and `piece` are written; `room` uint8[3, N] and `busy`
    are to work in.
    """
    nodes = dist.shape[0]
    sent, got = room[0], room[1]
    barred = room[2]  # nodes to which no way is free; none becomes free within a turn
    written = 0
    for v in range(nodes):
        sent[v] = got[v] = 0
    for c in range(busy.size):
        busy[c] = 0
    for turn in range(2 if copies < 64 else 1):
        for q in range(order.size):
            p = order[q]
            if holders[p] == nodes:
                continue
            for v in range(nodes):
                barred[v] = 0
                if not one_out:
                    sent[v] = 0
            most = 1 if one_out else copies if turn == 0 else 255
            furthest = 0
            for v in range(nodes):
                if near[p, v] > furthest:
                    furthest = near[p, v]
            longest = math.ceil(share * furthest)
            if longest < 1:
                longest = 1
            few = holders[p] <= _FEW
            reach = longest
            begin = 0  # nodes before it are done with at this reach
            while reach > 0:
                best, to, by = -1, -1, -1
                for i in range(begin, nodes):
                    v = urgent[i]
                    if near[p, v] == 0 or barred[v] or (one_in and got[v]) or (not few and near[p, v] < reach):
                        continue
                    gain = 0
                    if few:
                        for w in range(nodes):
                            if dist[v, w] < near[p, w]:
                                gain += near[p, w] - dist[v, w]
                        if noise:
                            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                            gain = gain * (256 + noise * (state >> 23))
                    if gain > best:
                        u = _sender(p, v, longest, nodes, has, dist, first, path, busy, sent, most)
                        if u < 0:
                            barred[v] = 1
                            continue
                        best, to, by = gain, v, u
                        if not few:
                            begin = i + 1
                            break
                if to < 0:
                    reach = 0 if few else reach - 1
                    begin = 0
                    continue
                for k in range(first[by * nodes + to], first[by * nodes + to + 1]):
                    busy[path[k]] = 1
                sent[by] += 1
                got[to] = 1
                for w in range(nodes):
                    if dist[to, w] < near[p, w]:
                        near[p, w] = dist[to, w]
                source[written], target[written], piece[written] = by, to, p
                written += 1
    for k in range(written):
        has[piece[k], target[k]] = 1
        holders[piece[k]] += 1
    return written


_MOST_PIECES = 64
_MOST_MESSAGES = 1_000_000
_MOST_NODES = 1_100
_LARGE = 300
"""Beyond so many nodes few numbers of pieces are tried."""
_ANY = 255
_MOST_WORK = 1_000_000_000
"""The same over all steps, for an offer of more pieces; some 20 seconds."""
_PER_LOOK, _MOST_CHOICES = 2e-9, 45
"""Seconds of a look at a pair of nodes for a piece, about; ways to make a step."""
_EFFORT, _MOST_EFFORT = 150_000_000, 1_000_000_000
"""Pieces times pairs of nodes that are looked at, over all choices of all steps; the second on large networks."""

_SHARES = (0.34, 0.2, 0.5, 0.12, 0.27, 0.42, 0.67, 1.0, 0.0)
"""Shares of the way to the furthest node that messages may go."""


class Ways(NamedTuple):
    """The way between each two terminals: ``channel[first[u*N+v]:first[u*N+v+1]]``, and its length int32[N, N]."""

    first: npt.NDArray[np.int64]
    channel: IntArray
    length: IntArray

    @classmethod
    def of(cls, case: WormholeCase, turned: bool = False) -> Ways:
        """Return the ways of a case, by shortest displacements; `turned`, from u to v that of a message from v to u.

        >>> import gossamer
        >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("broadcast"))
        >>> int(Ways.of(case).length.max())
        4
        """
        n = case.network.terminal_count
        source, target = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
        ends = (target, source) if turned else (source, target)
        first, channel = case.channels.paths(ends[0], case.channels.shortest(*ends))
        return cls(first, channel.astype(np.int32), np.diff(first).reshape(n, n).astype(np.int32))


class _Choice(NamedTuple):
    """How a step may be made: see the kernel."""

    share: float
    copies: int
    noise: int


_FURTHEST = _Choice(1.0, 1, 0)
"""Some message is always allowed."""


def flooded(case: WormholeCase, pieces: int, *, turned: bool = False) -> WormholeSchedule:
    """Flood messages, cut in `pieces` of equal size as far as bytes go, by messages that may go over several hops.

    If `turned`, a message from u to v takes the channels of one from v to u, so that `backwards` makes reductions of
    the schedule; it is not valid itself.

    In each step pieces that few nodes have choose first, each message so that it brings the piece nearest to all nodes;
    then the others fill the channels that are left. How far messages go, and how many copies a node sends of a piece
    before others had their turn, is tried in some ways in every step, and the way is kept after which pieces are
    nearest to all nodes. With limited ports only one send and one receipt of a node are allowed. O(pieces x nodes^2)
    time a step and choice.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:8x8"), gossamer.task("broadcast"))
    >>> flooded(case, 1).step_count, flooded(case, 6).step_count
    (3, 6)
    """
    ways, cut = case.once(Ways.of, case, turned), Pieces.of(case.messages, case.cost.message_bytes, pieces)
    nodes = ways.length.shape[0]
    has = np.zeros((cut.count, nodes), np.uint8)
    has[np.arange(cut.count), cut.origin] = 1
    near, holders = ways.length[cut.origin], np.ones(cut.count, np.int64)
    if case.messages.targets is not None:  # those that are no targets count as if they had it, but do not send it
        asked = np.repeat(target_table(case.messages, nodes), pieces, axis=0)
        near[~asked & (has == 0)] = 0
        holders += (~asked & (has == 0)).sum(axis=1)
    busy, room = np.zeros(case.channels.count, np.uint8), np.zeros((3, nodes), np.uint8)
    columns = [np.zeros(case.channels.count + nodes, np.int32) for _ in range(3)]
    steps = Steps(case.channels.dimensions)
    row = np.array([steps.table.row([piece]) for piece in range(cut.count)], np.int64)
    degree, rules = _receiving(case, turned), case.rules
    ports = (rules.send_limited, rules.receive_limited)[:: -1 if turned else 1]
    steps_needed = 6 + int(cut.count // max(1, degree.min()))
    effort = _EFFORT if nodes <= _LARGE else _MOST_EFFORT
    choices = list(_choices(max(2, effort // max(1, cut.count * nodes**2 * steps_needed))))
    drawing = _drawn(cut.count)
    step = 0
    while cut.count and int(holders.min()) < nodes:
        # what a node has yet to receive over each of its channels, most first
        urgent = np.argsort(
            (has.sum(axis=0, dtype=np.int64) - cut.count) * 1024 // np.maximum(1, degree), kind="stable"
        )
        best: tuple[int, tuple[npt.NDArray[np.generic], ...]] | None = None
        for number, choice in enumerate((*choices, _FURTHEST)):
            if choice is _FURTHEST and best is not None and best[1][-1].size:
                break  # it is for a step in which nobody without a piece is as near as the other choices allow
            tried = has.copy(), near.copy(), holders.copy()
            chance = drawing(1_000 * step + number + 1 + case.seed)
            order = np.argsort(holders << 20 | chance >> 11, kind="stable")  # pieces that few nodes have come first
            count = _one_step(
                *tried, ways.length, ways.first, ways.channel, urgent, order, busy, *ports, choice.share,
                choice.copies, choice.noise, int(chance[-1]), *columns, room,
            )  # fmt: skip
            value = int(tried[1].sum())
            if best is None or value < best[0]:
                best = value, (*tried, *(column[:count].copy() for column in columns))
        assert best is not None
        has, near, holders, source, target, piece = best[1]  # type: ignore[assignment]
        moves = -case.channels.shortest(target, source) if turned else case.channels.shortest(source, target)
        steps.add(step, source, moves, row[piece])
        step += 1
    steps.end_phase("flooding", step)
    return steps.schedule(case, cut)


def _drawn(count: int) -> Callable[[int], npt.NDArray[np.int64]]:
    """Return a function that draws so many numbers of 31 bits from a seed on: those of `one_step` when it goes on."""
    factor, term = np.ones(count, np.int64), np.zeros(count, np.int64)
    a, b = 1, 0
    for i in range(count):
        a, b = a * 1103515245 & 0x7FFFFFFF, (b * 1103515245 + 12345) & 0x7FFFFFFF
        factor[i], term[i] = a, b
    return lambda seed: (factor * (seed & 0x7FFFFFFF) + term) & 0x7FFFFFFF


def _choices(most: int) -> Iterator[_Choice]:
    """Yield so many ways to make a step, or all."""
    kinds = ((0, (1, _ANY)), (1, (1, _ANY)), (0, (2,)))
    every = (_Choice(share, n, noise) for noise, copies in kinds for share in _SHARES for n in copies)
    return islice(every, most)


def _receiving(case: WormholeCase, turned: bool) -> npt.NDArray[np.int64]:
    """Return how many messages each terminal can receive in a step, or send if `turned`, int64[N]."""
    channels, rules = case.channels, case.rules
    degree = (channels.out_degree if turned else channels.in_degree)[: case.network.terminal_count]
    return np.minimum(degree, 1) if (rules.send_limited if turned else rules.receive_limited) else degree


def _pieces_tried(case: WormholeCase, count: int) -> list[int]:
    """Return numbers of pieces around the balance of start-ups and bytes, where a node gets so many messages."""
    cost = case.cost
    most = min(_MOST_PIECES, cost.message_bytes)
    one = case.rules.send_limited or case.rules.receive_limited  # what all send in a step is what all receive
    degree = 1 if one else max(1, int(_receiving(case, False).min()))
    reach = 4  # steps that a piece needs, about
    balance = most
    if count and cost.startup:
        balance = isqrt(max(1, int(reach * cost.message_bytes * cost.per_byte * degree / (count * cost.startup))))
    near = [1, balance - 1, balance + 1, 3 * balance // 2, 3 * balance]
    if case.network.terminal_count <= _LARGE:
        near += [balance // 2, balance, balance + 2, 2 * balance]
        near += [2 * balance // 3] if one else []  # ports that are all busy gain less by shorter pieces
    return sorted({max(1, min(most, k)) for k in near})


def flooding_offers(case: WormholeCase) -> Sequence[Offer[WormholeSchedule]] | Refusal:
    """Return the offers to flood broadcasts or reductions, or both one after the other; or why there are none.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("star:4"), gossamer.task("reduce", groups=[[0, 3, 7, 9]]))
    >>> reduction = flooding_offers(case)[0].build()
    >>> reduction.step_count, bool(gossamer.verify(reduction))
    (1, True)
    """
    parts = case.once(halves, case)
    if parts is not None:
        return both(case, *(flooding_offers(part) for part in parts))
    if bool((case.messages.discipline == tasks.COMBINE).all()):
        found = _broadcasts(case.varied(case.task.dual(case.network)), turned=True)
        if isinstance(found, Refusal):
            return found
        return [replace(offer, build=partial(_backwards, case, offer)) for offer in found]
    return _broadcasts(case, turned=False)


def _backwards(case: WormholeCase, offer: Offer[WormholeSchedule]) -> WormholeSchedule:
    return backwards(offer.build(), case, mirrored=False)


def _broadcasts(case: WormholeCase, *, turned: bool) -> list[Offer[WormholeSchedule]] | Refusal:
    """Return the offers to flood broadcasts, on ways that are `turned` round or not."""
    count, nodes = case.messages.count, case.network.terminal_count
    if bool((case.messages.discipline != tasks.COPY).any()):
        return Refusal("needs broadcasts or reductions")
    if nodes > _MOST_NODES:
        return Refusal(f"looks at the paths between all pairs of at most {_MOST_NODES} nodes, got {nodes:,}")
    if not (case.once(Ways.of, case, turned).length > 0)[~np.eye(nodes, dtype=bool)].all():
        return Refusal("needs a path between any two nodes")
    refusal = too_many_messages(count * (nodes - 1), _MOST_MESSAGES)
    if refusal:
        return refusal
    degree = _receiving(case, turned)
    own = np.bincount(case.messages.origin, minlength=nodes)[:nodes]
    missing = (target_table(case.messages, nodes).sum(axis=0) - own).clip(0)
    offers: list[Offer[WormholeSchedule]] = []
    for k in _pieces_tried(case, count if case.messages.targets is None else max(1, int(missing.max()))):
        if too_many_messages(count * k * (nodes - 1), _MOST_MESSAGES):
            continue
        steps = int((-(-missing * k // np.maximum(degree, 1))).max())
        if offers and steps * 2 * count * k * nodes**2 > _MOST_WORK:
            break
        least = steps * (case.cost.startup + Fraction(case.cost.message_bytes // k) * case.cost.per_byte)
        build = partial(flooded, case, k, turned=turned)
        look, allowed = max(steps, 4) * count * k * nodes**2, _EFFORT if nodes <= _LARGE else _MOST_EFFORT
        work = min(_MOST_CHOICES * look, max(2 * look, allowed))
        seconds = _PER_LOOK * work / max(1, int(missing.sum()))
        offers.append(Offer(build, least=least, effort="search", options={"pieces": k}, hop_seconds=seconds))
    return offers


FLOODING = (
    WormholeAlgorithm(
        name="wormhole-flooding",
        tasks=(
            tasks.Broadcast, tasks.MultinodeBroadcast, tasks.PartialMultinodeBroadcast, tasks.MultipleBroadcast,
            tasks.Reduce, tasks.ReduceScatter, tasks.PartialReduceScatter, tasks.MultipleReduce, tasks.Allreduce,
        ),
        propose=flooding_offers,
        networks="any network",
        source="Gossamer",
        summary="in each step every piece goes where it helps most, over several hops; backwards for reductions",
        anywhere=True,
        limited=True,
    ),
)  # fmt: skip
"""Flooding by messages over several hops."""


# Gather, then broadcast: all messages come together at one node in the middle, and go out from there as one.
#
# Every message carries all that its sender has, so that start-ups are few and bytes many: for short messages and dear
# start-ups, on any network. The trees are those of the flooding of one message, towards the node with time turned
# round.


def middle(case: WormholeCase) -> int:
    """Return the terminal that is nearest to all others: to the furthest of them, and then on the whole.

    >>> import gossamer
    >>> middle(WormholeCase(gossamer.network("array:3x5"), gossamer.task("allgather")))
    7
    """
    length = case.once(Ways.of, case, False).length.astype(np.int64)
    there = length.max(axis=0) + length.max(axis=1)
    return int(np.lexsort((length.sum(axis=0) + length.sum(axis=1), there))[0])


def gather_then_broadcast(case: WormholeCase, root: int) -> WormholeSchedule:
    """Build the schedule in which all messages of a multinode broadcast meet at the `root` and go out together as one.

    To begin a message is what costs, so few large messages are better than many small ones. In the phase ``gather`` a
    node sends once, after all that it passes on has come; then comes ``broadcast``. With t steps of one broadcast by
    flooding, at most 2 t start-ups, and at most 2 t times all bytes one after the other: the messages of the last steps
    of ``gather`` and all of ``broadcast`` hold nearly everything. O(nodes^2) time a step. Hambrusch, Khokhar and Liu
    1998: s-to-p broadcasting in two steps.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("array:8x8"), gossamer.task("allgather"))
    >>> s = gather_then_broadcast(case, middle(case))
    >>> [(p.name, p.steps) for p in s.phases], bool(gossamer.verify(s))
    ([('gather', 3), ('broadcast', 3)], True)
    """
    out = flooded(case.varied(Broadcast(root)), 1)
    turned = flooded(case.varied(Broadcast(root)), 1, turned=True)
    way_in = backwards(turned, case.varied(Reduce(root)), mirrored=False)
    steps = Steps(case.channels.dimensions)
    held: list[list[int]] = [[] for _ in range(case.network.node_count)]
    for message, origin in enumerate(case.messages.origin.tolist()):
        held[origin].append(message)
    sends = np.zeros(way_in.step.size, bool)
    payload = np.zeros(way_in.step.size, np.int64)
    for row, (source, target) in enumerate(zip(way_in.source.tolist(), way_in.target.tolist(), strict=True)):
        if held[source]:
            sends[row], payload[row] = True, steps.table.row(held[source])
            held[target] += held[source]
    used, step = np.unique(way_in.step[sends], return_inverse=True)
    _add(steps, "gather", used.size, step, way_in, sends, payload)
    everything = np.full(out.step.size, steps.table.row(range(case.messages.count)), np.int64)
    _add(steps, "broadcast", out.step_count, out.step, out, np.ones(out.step.size, bool), everything)
    return steps.schedule(case)


def _add(
    steps: Steps, phase: str, count: int, step: npt.NDArray[np.integer], like: WormholeSchedule,
    rows: npt.NDArray[np.bool_], payload: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the messages of some rows of a schedule, with other payloads, as a phase."""
    steps.add(step, like.source[rows], like.displacement[rows], payload[rows])
    steps.end_phase(phase, count)


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    if case.messages.count < 2:
        return Refusal("needs several messages")
    found = flooding_offers(case.varied(Broadcast(0)))
    if isinstance(found, Refusal):
        return found
    root = middle(case)
    least = 2 * Fraction(case.cost.startup) + case.messages.count * case.cost.message_bytes * case.cost.per_byte
    return Offer(lambda: gather_then_broadcast(case, root), least=least, effort="search", options={"root": root})


TWO_STEP = (
    WormholeAlgorithm(
        name="gather-then-broadcast",
        tasks=(MultinodeBroadcast, PartialMultinodeBroadcast),
        propose=_propose,
        networks="any network",
        source="Hambrusch, Khokhar and Liu 1998",
        summary="all messages meet at a node in the middle and go out as one: few start-ups, many bytes",
        anywhere=True,
        limited=True,
    ),
)
"""The s-to-p broadcast in two steps."""
