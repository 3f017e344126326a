"""The compiled kernel that moves packets along straight paths, none of which ever waits.

A *cell* is a place in the flat table of links: ``(node * d + digit column) * 2 + way``, way 0 up and 1 down.
"""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["travel"]


@njit(cache=True, nogil=True, small=100_000)
def travel(slot, link, packet, at, first_slot, done, halves, cell, stride, hops, moved, links):
    """Send packets along straight paths, all starting at once; the rows must have descending numbers of hops.

    Packet ``moved[i] + h`` of each half h makes its k-th hop in slot ``first_slot + k*halves + h``, over the link of
    cell ``cell[i] + k*stride[i]``. `done` hops of each are made already; stops before hops that do not fit. Returns the
    row after the last one written, and the hops of each that are made now.
    """
    going = cell.size
    k = done
    while going > 0 and k < hops[0]:
        while hops[going - 1] <= k:
            going -= 1
        if at + going * halves > slot.size:
            break
        for half in range(halves):
            for i in range(going):
                slot[at] = first_slot + k * halves + half
                link[at] = links[cell[i] + k * stride[i]]
                packet[at] = moved[i] + half
                at += 1
        k += 1
    return at, k
