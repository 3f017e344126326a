"""The compiled replay of hops that come in chunks; plain arrays in and out."""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["COUNTED", "DATA", "OVER", "PEAK", "PEAK_NODE", "PEAK_SLOT", "PENDING", "SLOT", "arrive", "replay"]

CAUSALITY, CAPACITY, DUPLICATE = 0, 1, 2
COUNTED = 3
# places in `state`
SLOT, PENDING, PEAK, PEAK_NODE, PEAK_SLOT, OVER, DATA = range(7)


@njit(cache=True, nogil=True, small=100_000)
def arrive(state, link_target, location, held, before, changed, pending_link, pending_packet, limit):
    """Let the packets of the current slot arrive, and look at the buffers of the nodes that they reach.

    With a buffer limit, `before` int32[N] is what a node held before the slot `changed` int32[N].
    """
    for i in range(state[PENDING]):
        v = link_target[pending_link[i]]
        location[pending_packet[i]] = v
        held[v] += 1
        if held[v] > state[PEAK]:
            state[PEAK], state[PEAK_NODE], state[PEAK_SLOT] = held[v], v, state[SLOT] + 1
        if limit > 0:
            if changed[v] != state[SLOT]:
                changed[v], before[v] = state[SLOT], held[v] - 1
            if held[v] == limit + 1 and before[v] <= limit:
                state[OVER] += 1
    state[PENDING] = 0


@njit(cache=True, nogil=True, small=100_000)
def replay(
    slot, link, packet, link_source, link_target, capacity, state, location, departed, held, before, changed, used,
    used_in, limit, pending_link, pending_packet, found_kind, found_hop, counts,
):  # fmt: skip
    """Replay a chunk; write violations as (kind, hop of the chunk) while there is room, and count all of them.

    `state` keeps the current slot, the packets on links in it, and the fullest node so far. `used_in` int32[L] is the
    last slot in which a link was used, `used` int32[L] how often then, empty where every capacity is 1. `departed`
    int32[P] is the last slot in which a packet left a node. Returns the number of violations written, or -1-h if hop
    h goes back in time or has a number out of range.
    """
    written, links, packets = 0, link_source.size, location.size
    for h in range(slot.size):
        t, ln, p = slot[h], link[h], packet[h]
        if t < state[SLOT] or t < 0 or ln < 0 or ln >= links or p < -1 or p >= packets:
            return -1 - h
        if t != state[SLOT]:
            arrive(state, link_target, location, held, before, changed, pending_link, pending_packet, limit)
            state[SLOT] = t
        wrong = -1
        if used_in[ln] != t:
            used_in[ln] = t
            if used.size:
                used[ln] = 1
        elif used.size:
            used[ln] += 1
            if used[ln] > capacity[ln]:
                wrong = CAPACITY
        else:
            wrong = CAPACITY
        if wrong >= 0:
            counts[wrong] += 1
            if written < found_kind.size:
                found_kind[written], found_hop[written] = wrong, h
                written += 1
        if p < 0:
            continue
        state[DATA] += 1
        wrong = -1
        if location[p] != link_source[ln]:
            wrong = CAUSALITY
        elif departed[p] == t:
            wrong = DUPLICATE
        if wrong >= 0:
            counts[wrong] += 1
            if written < found_kind.size:
                found_kind[written], found_hop[written] = wrong, h
                written += 1
            continue
        departed[p] = t
        u = link_source[ln]
        if limit > 0 and changed[u] != t:
            changed[u], before[u] = t, held[u]
        held[u] -= 1
        n = state[PENDING]
        if n == pending_link.size:  # only where links are overfull, which is counted
            continue
        pending_link[n], pending_packet[n] = ln, p
        state[PENDING] = n + 1
    return written
