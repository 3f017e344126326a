"""The compiled kernel that sorts packets on lines of nodes; it writes hops, sorted by step, into columns."""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["compare_exchange"]


@njit(cache=True, nogil=True, small=100_000)
def compare_exchange(
    step, link, packet, first, done, steps, key, held, stride, pairs, descending, up, down,
):  # fmt: skip
    """Make steps of odd-even transposition: nodes u and u+stride exchange what they hold if it is out of order.

    Parameters
    ----------
    step, link, packet : int32[h]
        Written from the first row on, as long as the hops of one more step fit.
    first, done, steps : int
        Step of the phase in which the round begins, steps of the round that are made already, and all its steps.
    key, held : int32[N]
        Key and packet (-1 for none) of each node, rearranged.
    pairs : int32[2, p]
        Lower ends u of the pairs of even and of odd steps, -1 for none.
    descending : bool[N]
        Whether the larger key belongs to u.
    up, down : int32[N]
        Link from each node to the node above, and below.

    Returns
    -------
    filled, done : int
        Hops written, and steps made now.
    """
    filled = 0
    while done < steps and filled + 2 * pairs.shape[1] <= step.size:
        for u in pairs[done & 1]:
            if u < 0:
                break
            v = u + stride
            if (key[v] > key[u]) if descending[u] else (key[u] > key[v]):
                key[u], key[v] = key[v], key[u]
                a, b = held[u], held[v]
                held[u], held[v] = b, a
                if a >= 0:
                    step[filled], link[filled], packet[filled] = first + done, up[u], a
                    filled += 1
                if b >= 0:
                    step[filled], link[filled], packet[filled] = first + done, down[v], b
                    filled += 1
        done += 1
    return filled, done
