"""The checker of wormhole schedules, which shares no code with their builders."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, Messages
from gossamer.questions.tasks.composite_tasks import target_table
from gossamer.schedules.wormhole.payloads import Payloads
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.verification.partial_sums import COUNTED_TWICE, WASTED, add_member, settle
from gossamer.verification.violations import Verification, Violation, named_count

__all__ = ["KINDS", "verify"]

# What nodes hold is a table of bits, one row of 64-bit words a node and one bit a piece. A payload is a list of words
# with the bits that it has in each.

# rows of the counters; `replay` finds the first three, `unmet` the fourth, `combine` causality and the last two
_CHANNEL, _CAUSALITY, _DISPLACEMENT, _DELIVERY, _DUPLICATE, _LOST = range(6)
_COUNTED = 6
_SMALL = 20_000
"""Elements of arrays with which Python checks a schedule while nothing is compiled."""


@njit(cache=True, nogil=True, small=_SMALL)
def _payload_words(first, packet, word_first, word, mask):
    """Write each payload as words and masks; `word` and `mask` have room for one entry a piece. Return their number.

    Set k gets the entries ``word_first[k]`` to ``word_first[k+1]``; its pieces must be in ascending order.
    """
    entries = 0
    for k in range(first.size - 1):
        word_first[k] = entries
        for e in range(first[k], first[k + 1]):
            w = packet[e] >> 6
            if entries == word_first[k] or word[entries - 1] != w:
                word[entries] = w
                mask[entries] = np.uint64(0)
                entries += 1
            mask[entries - 1] |= np.uint64(1) << np.uint64(packet[e] & 63)
    word_first[first.size - 1] = entries
    return entries


@njit(cache=True, nogil=True, small=100_000)
def _ways_kernel(first_out, source, target, found):
    """Fill ``found[u, v]``, int32[N, N]: of the links from u that bring a message nearer to v, the first; else -1.

    ``first_out`` int64[N+1] is where the links of each node begin, which are sorted by source.
    """
    nodes = found.shape[0]
    far = np.empty(nodes, np.int64)
    found[:, :] = -1
    for v in range(nodes):
        far[:] = nodes
        far[v] = 0
        changed = True
        while changed:
            changed = False
            for x in range(source.size):
                if far[target[x]] + 1 < far[source[x]]:
                    far[source[x]] = far[target[x]] + 1
                    changed = True
        for u in range(nodes):
            for x in range(first_out[u], first_out[u + 1]):
                if far[u] < nodes and far[target[x]] == far[u] - 1:
                    found[u, v] = x
                    break


@njit(cache=True, nogil=True)
def _walk(node, move, sides, wraps, strides):
    """Return where a message from `node` ends, or -1 if its displacement is not allowed."""
    moved = False
    target = node
    for i in range(sides.size):
        x = np.int64(move[i])
        if x == 0:
            continue
        moved = True
        at = node // strides[i] % sides[i]
        if abs(x) >= sides[i] or (not wraps[i] and not 0 <= at + x < sides[i]):
            return -1
        target += ((at + x) % sides[i] - at) * strides[i]
    return target if moved else -1


@njit(cache=True, nogil=True, small=_SMALL)
def _replay_kernel(
    step, source, displacement, payload, sides, wraps, strides, way, link_target, terminals, word_first, word, mask,
    held, last_step, last_message, limit, found_kind, found_message, found_other, found_channel, counts,
):  # fmt: skip
    """Replay all messages; write up to `limit` violations and count all of them. Return the number written.

    `held` uint64[N, W] must be at its initial state and ends at the final one; `last_step` int32[channels] must be -1.
    `way` int32[N, N] and `link_target` are those of a network that is no array or torus, and empty on one that is.
    A message whose displacement is not allowed does nothing; one that its source cannot send occupies its channels and
    brings nothing. A message that finds channels taken is reported once, with the first of them.
    """
    d = sides.size
    messages = step.size
    widest = 0
    i = 0
    while i < messages:
        j = i
        while j < messages and step[j] == step[i]:
            j += 1
        widest = max(widest, j - i)
        i = j
    target = np.empty(widest, np.int64)
    written = 0
    a = 0
    while a < messages:
        t = step[a]
        b = a
        while b < messages and step[b] == t:  # channels, and whether the source holds what it sends
            u = np.int64(source[b])
            v = _walk(u, displacement[b], sides, wraps, strides)
            if v >= terminals or u >= terminals or (v >= 0 and way.size and way[u, v] < 0):
                v = -1
            target[b - a] = v
            if v < 0:
                counts[_DISPLACEMENT] += 1
                if written < limit:
                    found_kind[written] = _DISPLACEMENT
                    found_message[written] = b
                    written += 1
                b += 1
                continue
            taken = np.int64(-1)
            node = u
            while way.size and node != v:
                c = np.int64(way[node, v])
                if last_step[c] == t:
                    if taken < 0:
                        taken = c
                else:
                    last_step[c] = t
                    last_message[c] = b
                node = np.int64(link_target[c])
            for k in range(d if way.size == 0 else 0):
                x = displacement[b, k]
                at = node // strides[k] % sides[k]
                down = 1 if x < 0 else 0
                for _ in range(abs(x)):
                    c = (node * d + k) * 2 + down
                    if last_step[c] == t:
                        if taken < 0:
                            taken = c
                    else:
                        last_step[c] = t
                        last_message[c] = b
                    if down:
                        node += strides[k] * (sides[k] - 1 if at == 0 else -1)
                        at = sides[k] - 1 if at == 0 else at - 1
                    else:
                        node += strides[k] * (1 - sides[k] if at == sides[k] - 1 else 1)
                        at = 0 if at == sides[k] - 1 else at + 1
            if taken >= 0:
                counts[_CHANNEL] += 1
                if written < limit:
                    found_kind[written] = _CHANNEL
                    found_message[written] = b
                    found_other[written] = last_message[taken]
                    found_channel[written] = taken
                    written += 1
            p = payload[b]
            if p >= 0:
                for e in range(word_first[p], word_first[p + 1]):
                    lacking = mask[e] & ~held[u, word[e]]
                    if lacking:
                        counts[_CAUSALITY] += 1
                        if written < limit:
                            bit = 0
                            while not (lacking >> np.uint64(bit)) & np.uint64(1):
                                bit += 1
                            found_kind[written] = _CAUSALITY
                            found_message[written] = b
                            found_other[written] = np.int64(word[e]) * 64 + bit
                            written += 1
                        target[b - a] = -1
                        break
            b += 1
        for m in range(a, b):  # what arrives can be sent on in the next step
            v = target[m - a]
            p = payload[m]
            if v >= 0 and p >= 0:
                for e in range(word_first[p], word_first[p + 1]):
                    held[v, word[e]] |= mask[e]
        a = b
    return written


@njit(cache=True, nogil=True, small=_SMALL)
def _unmet(held, row_of, copied, target_start, targets, to_all, nodes, limit, found_piece, found_node):
    """Find the copied pieces that a target of their message does not hold at the end.

    Write up to `limit` of them, by piece and node. Return the number written and the number of all.
    """
    written = 0
    total = 0
    for p in range(row_of.size):
        if not copied[p]:
            continue
        w = p >> 6
        bit = np.uint64(p & 63)
        row = row_of[p]
        count = nodes if to_all else target_start[row + 1] - target_start[row]
        for k in range(count):
            v = k if to_all else targets[target_start[row] + k]
            if not (held[v, w] >> bit) & np.uint64(1):
                total += 1
                if written < limit:
                    found_piece[written] = p
                    found_node[written] = v
                    written += 1
    return written, total


@njit(cache=True, nogil=True)
def _ready(p, u, origin, combined, held, parts, sent, share_first, share, needed):
    """Return 0 if node u can send piece p, else the number of what is broken."""
    if combined[p]:
        if u == origin[p]:
            return _CAUSALITY
        if sent[p, u]:
            return _DUPLICATE
        return 0 if parts[p, u] > 0 else _CAUSALITY
    if not held[p, u]:
        return _CAUSALITY
    if u == origin[p]:
        for k in range(share_first[p], share_first[p + 1]):
            if parts[share[k], u] != needed[share[k]]:
                return _CAUSALITY
    return 0


@njit(cache=True, nogil=True, small=_SMALL)
def _combine_kernel(
    step, source, displacement, payload, sides, wraps, strides, way, terminals, first, packet,
    origin, combined, held, parts, sent, share_first, share, needed,
    limit, found_kind, found_message, found_other, counts,
):  # fmt: skip
    """Replay what messages bring where some pieces are combined; return the number of violations written.

    ``held[p, v]`` says whether node v has piece p, and ``parts[p, v]`` how many contributions to a combined piece are
    together there; both must be at the initial state and end at the final one, `sent` uint8[P, N] starts with zeros. A
    combined piece leaves a node once, with all contributions, and never the root. Piece p cannot leave its origin
    before the pieces ``share[share_first[p]:share_first[p+1]]`` have all their `needed` contributions there. Of a
    message the first piece that cannot leave is told, and it brings nothing; of one that comes where its value has
    left, the first such piece. Displacements that are not allowed are left to `replay`.
    """
    messages = step.size
    written = 0
    a = 0
    while a < messages:
        t = step[a]
        b = a
        while b < messages and step[b] == t:
            b += 1
        brings = np.zeros(b - a, np.uint8)
        amount_first = np.zeros(b - a + 1, np.int64)
        for m in range(a, b):
            size = first[payload[m] + 1] - first[payload[m]] if payload[m] >= 0 else 0
            amount_first[m - a + 1] = amount_first[m - a] + size
        amount = np.zeros(amount_first[b - a], np.int32)
        for m in range(a, b):
            u, k = np.int64(source[m]), payload[m]
            v = _walk(u, displacement[m], sides, wraps, strides)
            if k < 0 or v < 0 or v >= terminals or u >= terminals or (way.size and way[u, v] < 0):
                continue
            wrong = 0
            for e in range(first[k], first[k + 1]):
                wrong = _ready(packet[e], u, origin, combined, held, parts, sent, share_first, share, needed)
                if wrong:
                    counts[wrong] += 1
                    if written < limit:
                        found_kind[written], found_message[written] = wrong, m
                        found_other[written] = packet[e]
                        written += 1
                    break
            if wrong:
                continue
            brings[m - a] = 1
            for e in range(first[k], first[k + 1]):
                p = packet[e]
                if combined[p]:
                    amount[amount_first[m - a] + e - first[k]] = parts[p, u]
                    parts[p, u] = 0
                    sent[p, u] = 1
        for m in range(a, b):
            if not brings[m - a]:
                continue
            k = payload[m]
            v = _walk(np.int64(source[m]), displacement[m], sides, wraps, strides)
            lost = False
            for e in range(first[k], first[k + 1]):
                p = packet[e]
                if not combined[p]:
                    held[p, v] = 1
                elif not sent[p, v]:
                    parts[p, v] += amount[amount_first[m - a] + e - first[k]]
                elif not lost:
                    lost = True
                    counts[_LOST] += 1
                    if written < limit:
                        found_kind[written], found_message[written], found_other[written] = _LOST, m, p
                        written += 1
        a = b
    return written


@njit(cache=True, nogil=True, small=_SMALL)
def _sum_kernel(
    entry_first, entry, step, source, displacement, sides, wraps, strides, way, terminals, contributes, root,
    limit, found_kind, found_message, found_sum, counts, done, got,
):  # fmt: skip
    """Follow partial sums, one piece after the other; return the violations written and the arrivals wasted.

    Piece s is in the messages ``entry[entry_first[s]:entry_first[s+1]]``, ascending; ``contributes``, bool[S, N], says
    who contributes to it. Writes ``done``, int64[S]: the step after which ``root[s]`` holds all, -1 if it does at once
    and the most that there is if never; and ``got``, int64[S, N]: the contributions in each sum at the end.
    """
    nodes = contributes.shape[1]
    words = (nodes + 63) >> 6
    held = np.zeros((nodes, words), np.uint64)
    total, one, room = np.zeros(words, np.uint64), np.uint64(1), 1
    for s in range(entry_first.size - 1):
        room = max(room, entry_first[s + 1] - entry_first[s])
    carried, after, fate = np.zeros((room, words), np.uint64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    goes, first = np.zeros(room, np.int64), np.full(nodes, -1)
    written, wasted = 0, 0
    for s in range(entry_first.size - 1):
        held[:] = 0
        for v in range(nodes):
            if contributes[s, v]:
                add_member(held, v, v)
        a = entry_first[s]
        while True:
            if done[s] > step.size and root[s] >= 0:  # complete as soon as nothing is missing
                missing = False
                for v in range(nodes):
                    bit = (held[root[s], v >> 6] >> np.uint64(v & 63)) & one
                    missing |= contributes[s, v] and not bit
                if not missing:
                    done[s] = -1 if a == entry_first[s] else step[entry[a - 1]]
            if a == entry_first[s + 1]:
                break
            b = a
            while b < entry_first[s + 1] and step[entry[b]] == step[entry[a]]:
                b += 1
            for i in range(b - a):
                m = entry[a + i]
                u = np.int64(source[m])
                v = _walk(u, displacement[m], sides, wraps, strides)
                goes[i] = -1
                if v < 0 or v >= terminals or u >= terminals or (way.size and way[u, v] < 0):
                    continue
                if not held[u].any():
                    counts[_CAUSALITY] += 1
                    if written < limit:
                        found_kind[written], found_message[written], found_sum[written] = _CAUSALITY, m, s
                        written += 1
                    continue
                carried[i] = held[u]
                goes[i], after[i], first[v] = v, first[v], i
            for i in range(b - a):
                v = goes[i]
                if v < 0 or first[v] < 0:
                    continue
                settle(first[v], after, fate, carried, held[v], total)
                first[v] = -1
            for i in range(b - a):
                if goes[i] < 0:
                    continue
                wasted += fate[i] == WASTED
                if fate[i] == COUNTED_TWICE:
                    counts[_DUPLICATE] += 1
                    if written < limit:
                        found_kind[written], found_message[written], found_sum[written] = _DUPLICATE, entry[a + i], s
                        written += 1
            a = b
        for v in range(nodes):
            got[s, v] = 0
            for w in range(nodes):
                got[s, v] += (held[v, w >> 6] >> np.uint64(w & 63)) & one
    return written, wasted


KINDS = (
    *("channel", "causality", "displacement", "delivery", "duplicate", "lost contribution"),
    *("wrong payload", "ports"),
)
"""Every kind of violation. The first six are in the order of the compiled kernels."""


def verify(schedule: WormholeSchedule, limit: int = 20) -> Verification:
    """Check every rule and goal of a wormhole schedule and list what is broken.

    Parameters
    ----------
    schedule : WormholeSchedule
        The schedule.
    limit : int
        Violations to name, 0 or more and at most a million; the rest are counted.

    Returns
    -------
    Verification
        ``ok`` when the schedule is valid. A violation's `slot` is a step and its `link` a channel number; `hops` are
        the channels that all messages occupy, each counted once a message.

    Raises
    ------
    ScheduleError
        If `limit` is negative.

    Notes
    -----
    Rules, by kind. *displacement*: a message moves, by less than the side in each dimension, and stays on an array;
    on other networks it goes from a terminal to another that it can reach.
    *channel*: the messages of a step use no channel twice; reported once for each message that finds a channel taken,
    with the message that has it. *causality*: the source of a message holds every piece that it sends since an
    earlier step. *delivery*: at the end a target of a message lacks one of its pieces. *wrong payload*: the pieces are
    not exactly the task's messages, each piece once and their sizes adding up to the cost's message length, or a
    message carries nothing; then messages are not replayed.

    Of a reduction every contributor has its own contribution to each piece; one message takes all that a node has of
    it together, at most once (*duplicate*), and never from the root (*causality*); what comes where the value has left
    is a *lost contribution*; in the end the root must have all (*delivery*). What comes after a reduction, as in an
    allreduce, leaves once all contributions to its bytes are there (*causality*).

    Where that is broken and a node sends a piece of a reduction twice, or the root does, and of messages that all
    contribute to and all must have, the general rule of partial sums judges instead (``docs/decisions/0017``). A
    message brings the sum of its source as it stands when the step begins; one without any breaks *causality*. At its
    target disjoint sums are combined, a result takes the place of what went into it, and what brings nothing new is
    counted in `wasted`; anything else would count a contribution twice (*duplicate*).

    *ports*: with limited ports a node sends, or receives, two messages in a step. All ports need no check: a node sends
    and receives at most one message on each of its channels, and messages that pass through do not use its ports.
    Dimension order needs none, because a displacement has no other order.
    What control messages say is not checked.

    Time O(hops + 64-piece words that messages carry + pieces * nodes), memory pieces * nodes / 8 bytes.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> from gossamer.wormhole import PayloadTable, WormholeSchedule
    >>> net, table = gossamer.network("torus:4"), PayloadTable()
    >>> sets = [table.row([0])] * 3
    >>> s = WormholeSchedule(net, gossamer.task("broadcast"), LinearCost(), [0, 0, 1], [0, 0, 1], [[1], [2], [2]],
    ...                      sets, payloads=table.payloads())
    >>> print(verify(s))
    invalid: 1 violation (1 channel)
      channel: step 0: message 1 (0)->(2) by +2 and message 0 (0)->(1) by +1 both use channel (0)->(1)
    """
    limit = named_count(limit)
    began = time.process_time()
    found: list[Violation] = []
    counts = dict.fromkeys(KINDS, 0)
    messages = schedule.task.messages(schedule.network)  # asked again: what the builder used may have been changed
    row_of = _check_pieces(schedule, messages, limit, found, counts)
    _check_payloads(schedule, limit, found, counts)
    _check_ports(schedule, limit, found, counts)
    wasted = 0
    if counts["wrong payload"] == 0:
        wasted = _replay(schedule, messages, row_of, limit, found, counts)
    counts = {k: n for k, n in counts.items() if n}
    return Verification(tuple(found[:limit]), counts, int(schedule.hops.sum()), time.process_time() - began, wasted)


def _replay(
    schedule: WormholeSchedule,
    messages: Messages,
    row_of: npt.NDArray[np.int64],
    limit: int,
    found: list[Violation],
    counts: dict[str, int],
) -> int:
    """Replay all messages; return how many arrivals of partial sums bring nothing new."""
    network, channels, sets = schedule.network, schedule.channels, schedule.payloads
    kind = messages.discipline[row_of]
    once, wasted = bool((kind == COMBINE).any()) and not bool((kind == ALLCOMBINE).any()), 0
    way = _ways(network)
    walk = (np.array(channels.sides, np.int64), np.array(channels.wraps), np.array(channels.strides, np.int64), way)
    kinds, at, other, where = (np.zeros(limit, np.int64) for _ in range(4))
    totals = np.zeros(_COUNTED, np.int64)
    named: list[Violation] = []
    if once:
        _combine(schedule, messages, row_of, walk, limit, named, totals)
        if totals.any() and _sent_again(schedule, kind == COMBINE):  # nodes may go on adding to what they sent
            once, named = False, []
            totals[:] = 0
    copied = np.zeros(kind.size, np.bool_) if once else ~np.isin(kind, (COMBINE, ALLCOMBINE))
    if not once and not copied.all():
        wasted = _sums(schedule, messages, row_of, walk, limit, named, totals)
        of = np.concatenate([[0], np.cumsum(copied[sets.packet])])
        sets = Payloads(of[sets.first], sets.packet[copied[sets.packet]])
    number = np.flatnonzero(copied)
    held = np.zeros((network.node_count, 0 if once else (kind.size + 63) // 64), np.uint64)
    np.bitwise_or.at(
        held, (schedule.packets.origin[number], number >> 6), np.uint64(1) << (number & 63).astype(np.uint64)
    )
    word_first = np.zeros(sets.count + 1, np.int64)
    word, mask = np.zeros(sets.packet.size, np.int32), np.zeros(sets.packet.size, np.uint64)
    entries = _payload_words(sets.first, sets.packet, word_first, word, mask)
    written = _replay_kernel(
        schedule.step, schedule.source, schedule.displacement,
        np.full_like(schedule.payload, -1) if once else schedule.payload,
        *walk, network.link_target, network.terminal_count, word_first, word[:entries], mask[:entries], held,
        np.full(channels.count, -1, np.int32), np.zeros(channels.count, np.int32),
        limit, kinds, at, other, where, totals,
    )  # fmt: skip
    rows = zip(kinds[:written].tolist(), at.tolist(), other.tolist(), where.tolist(), strict=False)
    found += [_named(schedule, KINDS[k], m, o, c) for k, m, o, c in rows]
    found += named
    if not once:
        _compare(schedule, messages, row_of, copied, held, limit, found, totals)
    for k, n in enumerate(totals):
        counts[KINDS[k]] += int(n)
    return wasted


def _sent_again(schedule: WormholeSchedule, combined: npt.NDArray[np.bool_]) -> bool:
    """Return whether a node sends a piece of a reduction twice, or the root of one sends it."""
    row, piece = schedule.payloads.carried(schedule.payload)
    row, piece = row[combined[piece]], piece[combined[piece]]
    source = schedule.source[row].astype(np.int64)
    again = np.unique(piece * schedule.network.node_count + source).size < piece.size
    return again or bool((schedule.packets.origin[piece] == source).any())


def _sums(
    schedule: WormholeSchedule, messages: Messages, row_of: npt.NDArray[np.int64], walk: tuple[npt.NDArray[Any], ...],
    limit: int, found: list[Violation], totals: npt.NDArray[np.int64],
) -> int:  # fmt: skip
    """Follow the partial sums of all reductions, and what comes after them; return how many arrivals are wasted."""
    table, nodes, kind = schedule.packets, schedule.network.node_count, messages.discipline[row_of]
    added = np.isin(kind, (COMBINE, ALLCOMBINE))
    summed = np.flatnonzero(added)
    goal = target_table(messages, schedule.network.terminal_count)
    contributes = np.zeros((summed.size, nodes), np.bool_)
    contributes[:, : goal.shape[1]] = goal[row_of[summed]]
    row, piece = schedule.payloads.carried(schedule.payload)
    order = np.lexsort((row, piece))
    order = order[added[piece[order]]]
    ends = np.append(np.searchsorted(piece[order], summed), order.size).astype(np.int64)
    root = np.where(kind[summed] == COMBINE, table.origin[summed], -1).astype(np.int64)
    done, got = np.full(summed.size, np.iinfo(np.int64).max), np.zeros((summed.size, nodes), np.int64)
    kinds, at, of = (np.zeros(limit, np.int64) for _ in range(3))
    written, wasted = _sum_kernel(
        ends, row[order], schedule.step, schedule.source, schedule.displacement, *walk,
        schedule.network.terminal_count, contributes, root, limit, kinds, at, of, totals, done, got,
    )  # fmt: skip
    for k, m, s in zip(kinds[:written].tolist(), at.tolist(), of.tolist(), strict=False):
        found.append(_wrong_sum(schedule, KINDS[k], m, int(summed[s])))
    needed = contributes.sum(axis=1)
    awaits = np.where((root >= 0)[:, None], np.arange(nodes) == root[:, None], contributes)
    short = np.argwhere(awaits & (got < needed[:, None]))
    totals[_DELIVERY] += len(short)
    found += [_too_few(schedule, int(summed[s]), int(v), int(got[s, v]), int(needed[s])) for s, v in short[:limit]]
    first, share = _shared_bytes(schedule, messages, row_of)
    begun = np.full(table.count, -1, np.int64)  # the step after which a piece may leave its origin
    place = np.zeros(table.count, np.int64)
    place[summed] = np.arange(summed.size)
    np.maximum.at(begun, np.repeat(np.arange(table.count), np.diff(first)), done[place[share]])
    early = (schedule.source[row] == table.origin[piece]) & (schedule.step[row] <= begun[piece]) & ~added[piece]
    totals[_CAUSALITY] += int(early.sum())
    for i in np.flatnonzero(early)[:limit].tolist():
        found.append(_named(schedule, "causality", int(row[i]), int(piece[i]), -1))
    return int(wasted)


def _wrong_sum(schedule: WormholeSchedule, kind: str, message: int, piece: int) -> Violation:
    """Name a violation that was found where a message brings a partial sum."""
    step, nodes = int(schedule.step[message]), (int(schedule.source[message]), int(schedule.target[message]))
    names = [schedule.network.node_name(node) for node in nodes]
    text = f"step {step}: {_path(schedule, message)} carries {_piece(schedule, piece)}, "
    if kind == "causality":
        text += f"of which node {names[0]} has nothing to send on"
    else:
        text += f"with a contribution that would count twice in the sum of node {names[1]}"
    return Violation(kind, text, step, nodes, packets=(piece,))


def _too_few(schedule: WormholeSchedule, piece: int, node: int, got: int, needed: int) -> Violation:
    """Name a node that has not all contributions to a piece at the end."""
    name = schedule.network.node_name(node)
    text = f"node {name} gets {got} of {needed} contributions to {_piece(schedule, piece)}"
    return Violation("delivery", text, nodes=(node,), packets=(piece,))


def _compare(
    schedule: WormholeSchedule, messages: Messages, row_of: npt.NDArray[np.int64], copied: npt.NDArray[np.bool_],
    held: npt.NDArray[np.uint64], limit: int, found: list[Violation], totals: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Report the targets that lack a copied piece at the end."""
    to_all = messages.targets is None
    start = np.zeros(1, np.int64) if messages.target_start is None else messages.target_start
    targets = np.zeros(1, np.int32) if messages.targets is None else messages.targets
    piece, node = np.zeros(limit, np.int64), np.zeros(limit, np.int64)
    terminals = schedule.network.terminal_count
    written, total = _unmet(held, row_of, copied, start, targets, to_all, terminals, limit, piece, node)
    totals[_DELIVERY] += total
    found += [_missing(schedule, p, v) for p, v in zip(piece[:written].tolist(), node.tolist(), strict=False)]


def _combine(
    schedule: WormholeSchedule, messages: Messages, row_of: npt.NDArray[np.int64], walk: tuple[npt.NDArray[Any], ...],
    limit: int, found: list[Violation], totals: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Replay a schedule with reductions, and compare what nodes have at the end with what they should."""
    table, sets, nodes = schedule.packets, schedule.payloads, schedule.network.node_count
    goal = np.zeros((messages.count, nodes), np.uint8)  # targets, or contributors
    if messages.targets is None or messages.target_start is None:
        goal[:, : schedule.network.terminal_count] = 1
    else:
        goal[np.repeat(np.arange(messages.count), np.diff(messages.target_start)), messages.targets] = 1
    combined = messages.discipline[row_of] == COMBINE
    held = np.zeros((table.count, nodes), np.uint8)
    held[np.arange(table.count), table.origin] = 1
    held[combined] = 0
    parts = goal[row_of].astype(np.int32)
    parts[~combined] = 0
    needed = parts.sum(axis=1)
    share_first, share = _shared_bytes(schedule, messages, row_of)
    kinds, at, other = (np.zeros(limit, np.int64) for _ in range(3))
    written = _combine_kernel(
        schedule.step, schedule.source, schedule.displacement, schedule.payload, *walk,
        schedule.network.terminal_count, sets.first, sets.packet, table.origin, combined, held, parts,
        np.zeros_like(held), share_first, share, needed, limit, kinds, at, other, totals,
    )  # fmt: skip
    rows = zip(kinds[:written].tolist(), at.tolist(), other.tolist(), strict=False)
    found += [_named(schedule, KINDS[k], m, o, -1) for k, m, o in rows]
    missing = (goal[row_of] > held) & ~combined[:, None]
    short = combined & (parts[np.arange(table.count), table.origin] != needed)
    totals[_DELIVERY] += int(missing.sum()) + int(short.sum())
    found += [_missing(schedule, int(p), int(v)) for p, v in np.argwhere(missing)[:limit]]
    for p in np.flatnonzero(short)[:limit].tolist():
        root = int(table.origin[p])
        found.append(_too_few(schedule, p, root, int(parts[p, root]), int(needed[p])))


def _shared_bytes(
    schedule: WormholeSchedule, messages: Messages, row_of: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each piece the pieces of the reduction that its message comes after and whose bytes it has.

    They are ``share[first[p]:first[p+1]]``; all pieces of that reduction where the task does not go by parts.
    """
    table, count = schedule.packets, schedule.packets.count
    first, share = np.zeros(count + 1, np.int64), []
    if messages.after is None:
        return first, np.zeros(0, np.int64)
    order = np.lexsort((table.piece, row_of))
    end = np.zeros(count, np.int64)
    end[order] = np.cumsum(table.size[order])
    begin = end - table.size  # of the bytes of all messages, one after the other
    of = np.split(order, np.searchsorted(row_of[order], np.arange(1, messages.count)))
    for p in range(count):
        need = int(messages.after[row_of[p]])
        if need >= 0:
            own, theirs = of[row_of[p]], of[need]
            low, high = begin[p] - begin[own[0]], end[p] - begin[own[0]]
            start = begin[theirs] - begin[theirs[0]], end[theirs] - begin[theirs[0]]
            share += theirs[(start[0] < high) & (start[1] > low)].tolist() if messages.partwise else theirs.tolist()
        first[p + 1] = len(share)
    return first, np.array(share, np.int64)


def _ways(network: Network) -> npt.NDArray[np.int32]:
    """Return the link from each node on the way to each other, int32[N, N]; empty on arrays and tori."""
    if network.grid is not None:
        return np.zeros((0, 0), np.int32)
    found = np.zeros((network.node_count, network.node_count), np.int32)
    first = np.searchsorted(network.link_source, np.arange(network.node_count + 1)).astype(np.int64)
    _ways_kernel(first, network.link_source, network.link_target, found)
    return found


def _path(schedule: WormholeSchedule, message: int) -> str:
    name, move = schedule.network.node_name, schedule.displacement[message]
    ends = f"{name(int(schedule.source[message]))}->{name(int(schedule.target[message]))}"
    return f"message {message} {ends} by {_signed(move)}"


def _signed(move: npt.NDArray[np.int32]) -> str:
    return ",".join(f"{int(x):+d}" if x else "0" for x in move)


def _named(schedule: WormholeSchedule, kind: str, message: int, other: int, channel: int) -> Violation:
    """Name a violation that the replay found at one message."""
    step, source = int(schedule.step[message]), int(schedule.source[message])
    nodes = (source, int(schedule.target[message]))
    packets = tuple(schedule.pieces_of(message)[:20].tolist())
    text = f"step {step}: {_path(schedule, message)}"
    if kind == "channel":
        text += f" and {_path(schedule, other)} both use channel {schedule.channels.name(channel)}"
        return Violation(kind, text, step, nodes, channel, packets)
    if kind == "causality":
        text += f" carries {_piece(schedule, other)}, which node {schedule.network.node_name(source)} does not hold yet"
        return Violation(kind, text, step, nodes, packets=(other,))
    if kind == "duplicate":
        name = schedule.network.node_name(source)
        text += f" carries {_piece(schedule, other)}, to which node {name} sent its contribution before"
        return Violation(kind, text, step, nodes, packets=(other,))
    if kind == "lost contribution":
        name = schedule.network.node_name(nodes[1])
        text += f" brings {_piece(schedule, other)}, which node {name} sent on already"
        return Violation(kind, text, step, nodes, packets=(other,))
    move, sides = schedule.displacement[message], schedule.channels.sides
    sender = schedule.network.node_name(source)
    text = f"step {step}: message {message} of node {sender} is displaced by {_signed(move)}, "
    far = [i for i, side in enumerate(sides) if abs(int(move[i])) >= side]
    if not move.any():
        text += "so it goes nowhere"
    elif not schedule.channels.on_grid:
        text += "to a node that is no terminal or that it cannot reach"
    elif far:
        text += f"but a side has {sides[far[0]]} nodes, so that at most {sides[far[0]] - 1} hops are allowed in it"
    else:
        text += f"which leaves {schedule.network.spec}"
    return Violation(kind, text, step, (source,), packets=packets)


def _piece(schedule: WormholeSchedule, piece: int) -> str:
    table = schedule.packets
    return f"piece {int(table.piece[piece])} of message {int(table.message[piece])}"


def _missing(schedule: WormholeSchedule, piece: int, node: int) -> Violation:
    text = f"node {schedule.network.node_name(node)} never gets {_piece(schedule, piece)}"
    return Violation("delivery", text, nodes=(node,), packets=(piece,))


def _check_payloads(schedule: WormholeSchedule, limit: int, found: list[Violation], counts: dict[str, int]) -> None:
    """Report messages that carry an empty set."""
    empty = np.append(np.diff(schedule.payloads.first) == 0, False)  # the last place is that of control messages
    rows = np.flatnonzero(empty[schedule.payload])
    counts["wrong payload"] += int(rows.size)
    for m in rows[: max(limit - len(found), 0)].tolist():
        step = int(schedule.step[m])
        found.append(Violation("wrong payload", f"step {step}: {_path(schedule, m)} carries nothing", step))


def _check_ports(schedule: WormholeSchedule, limit: int, found: list[Violation], counts: dict[str, int]) -> None:
    """Report messages of a step with the sender or receiver of an earlier one, where a node has one port."""
    for ports, nodes, verb in (
        (("one", "one-send"), schedule.source, "sends"),
        (("one", "one-receive"), schedule.target, "receives"),
    ):
        if schedule.ports not in ports:
            continue
        order = np.lexsort((np.arange(nodes.size), nodes, schedule.step))
        again = (np.diff(schedule.step[order]) == 0) & (np.diff(nodes[order]) == 0)
        counts["ports"] += int(again.sum())
        for k in np.flatnonzero(again)[: max(limit - len(found), 0)].tolist():
            m, other = int(order[k + 1]), int(order[k])
            step, node = int(schedule.step[m]), int(nodes[m])
            text = f"step {step}: node {schedule.network.node_name(node)} {verb} {_path(schedule, m)}"
            found.append(Violation("ports", f"{text} and {_path(schedule, other)}", step, (node,)))


def _check_pieces(
    schedule: WormholeSchedule, messages: Messages, limit: int, found: list[Violation], counts: dict[str, int]
) -> npt.NDArray[np.int64]:
    """Compare the pieces with the task's messages; return the row of each piece's message, int64[P]."""
    table = schedule.packets
    count = max(messages.count, 1)
    ids = messages.ids if messages.count else np.full(1, -1, np.int64)
    row = np.minimum(np.searchsorted(ids, table.message), count - 1)
    known = (ids[row] == table.message) & bool(messages.count)

    def report(rows: npt.NDArray[np.intp], fact: str) -> None:
        counts["wrong payload"] += int(rows.size)
        for p in rows[: max(limit - len(found), 0)].tolist():
            text = fact.format(p=p, m=int(table.message[p]), k=int(table.piece[p]), o=int(table.origin[p]))
            found.append(Violation("wrong payload", text, packets=(p,)))

    report(np.flatnonzero(~known), "row {p} is a piece of message {m}, which the task does not have")
    if messages.count:
        strayed = known & (table.origin != messages.origin[row])
        report(np.flatnonzero(strayed), "row {p}, a piece of message {m}, cannot start at node {o}")
    good = np.flatnonzero(known)
    order = good[np.lexsort((table.piece[good], row[good]))]
    rank = np.arange(order.size) - np.searchsorted(row[order], row[order], side="left")
    uneven = order[table.piece[order] != rank]
    report(uneven, "row {p} is piece {k} of message {m}; the pieces of a message are numbered 0, 1, 2, ... once each")
    size = np.bincount(row[good], table.size[good], minlength=count)[: messages.count].astype(np.int64)
    target = schedule.cost.message_bytes
    counts["wrong payload"] += int((size != target).sum())
    for i in np.flatnonzero(size != target)[: max(limit - len(found), 0)].tolist():
        text = f"the pieces of message {int(ids[i])} have {int(size[i])} bytes together; the message has {target}"
        found.append(Violation("wrong payload", text))
    return row.astype(np.int64)
