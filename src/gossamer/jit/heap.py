"""Binary heaps for kernels: of keys, and of nodes whose keys fall while they wait."""

from __future__ import annotations

from gossamer.jit import njit

# Nothing here allocates: all work on plain arrays that the caller brings.


@njit(cache=True, nogil=True, _nrt=False)
def push(heap, base, size, key):
    """Add a key to a heap of `size` keys that begins at entry `base`; return its new size."""
    at = size
    while at > 0:
        above = heap[base + ((at - 1) >> 1)]
        if above <= key:
            break
        heap[base + at] = above
        at = (at - 1) >> 1
    heap[base + at] = key
    return size + 1


@njit(cache=True, nogil=True, _nrt=False)
def pop(heap, base, size):
    """Take the least key off a heap of `size` keys that begins at entry `base`, one fewer afterwards; return it."""
    size -= 1
    least, last = heap[base], heap[base + size]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and heap[base + below + 1] < heap[base + below]:
            below += 1
        if heap[base + below] >= last:
            break
        heap[base + at] = heap[base + below]
        at = below
    heap[base + at] = last
    return least


@njit(cache=True, nogil=True, _nrt=False)
def rise(heap, place, at, key):
    """Move the node in entry `at` up, whose key has fallen or who is new; `place` says where each node is."""
    node = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if key[heap[above]] <= key[node]:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = node
    place[node] = at


@njit(cache=True, nogil=True, _nrt=False)
def pop_node(heap, place, size, key):
    """Take the node of the least key off a heap of `size` nodes, one fewer afterwards; its place becomes -1."""
    least, node = heap[0], heap[size - 1]
    place[least] = -1
    if size == 1:
        return least
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[heap[below]] >= key[node]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = node
    place[node] = at
    return least
