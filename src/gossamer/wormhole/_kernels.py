"""Compiled kernels that check wormhole schedules; plain arrays in and out.

What nodes hold is a table of bits, one row of 64-bit words a node and one bit a piece. A payload is a list of words
with the bits that it has in each.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["COUNTED", "combine", "payload_words", "replay", "unmet", "ways"]

# rows of the counters; `replay` finds the first three, `unmet` the fourth, `combine` causality and the last two
CHANNEL, CAUSALITY, DISPLACEMENT, DELIVERY, DUPLICATE, LOST = range(6)
COUNTED = 6
_SMALL = 20_000
"""Elements of arrays with which Python checks a schedule while nothing is compiled."""


@njit(cache=True, nogil=True, small=_SMALL)
def payload_words(first, packet, word_first, word, mask):
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
def ways(first_out, source, target, found):
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
def replay(
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
                counts[DISPLACEMENT] += 1
                if written < limit:
                    found_kind[written] = DISPLACEMENT
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
                counts[CHANNEL] += 1
                if written < limit:
                    found_kind[written] = CHANNEL
                    found_message[written] = b
                    found_other[written] = last_message[taken]
                    found_channel[written] = taken
                    written += 1
            p = payload[b]
            if p >= 0:
                for e in range(word_first[p], word_first[p + 1]):
                    lacking = mask[e] & ~held[u, word[e]]
                    if lacking:
                        counts[CAUSALITY] += 1
                        if written < limit:
                            bit = 0
                            while not (lacking >> np.uint64(bit)) & np.uint64(1):
                                bit += 1
                            found_kind[written] = CAUSALITY
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
def unmet(held, row_of, target_start, targets, to_all, nodes, limit, found_piece, found_node):
    """Find the pieces that a target of their message does not hold at the end.

    Write up to `limit` of them, by piece and node. Return the number written and the number of all.
    """
    written = 0
    total = 0
    for p in range(row_of.size):
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
            return CAUSALITY
        if sent[p, u]:
            return DUPLICATE
        return 0 if parts[p, u] > 0 else CAUSALITY
    if not held[p, u]:
        return CAUSALITY
    if u == origin[p]:
        for k in range(share_first[p], share_first[p + 1]):
            if parts[share[k], u] != needed[share[k]]:
                return CAUSALITY
    return 0


@njit(cache=True, nogil=True, small=_SMALL)
def combine(
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
                    counts[LOST] += 1
                    if written < limit:
                        found_kind[written], found_message[written], found_other[written] = LOST, m, p
                        written += 1
        a = b
    return written
