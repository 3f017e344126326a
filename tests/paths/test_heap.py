"""Heaps of kernels against sorted lists: what comes off is the least, whatever was pushed, moved up and popped."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.jit.heap import pop, pop_node, push, rise


@pytest.mark.parametrize("base", [0, 5])
@pytest.mark.parametrize("seed", range(4))
def test_keys_come_off_in_order(seed, base):
    draw = np.random.default_rng(seed)
    heap, size, held = np.full(base + 60, -7, np.int64), 0, []
    for _ in range(200):
        if size and (size == 60 or draw.random() < 0.4):
            assert pop(heap, base, size) == min(held)
            held.remove(min(held))
            size -= 1
        else:
            held.append(int(draw.integers(0, 40)))
            size = push(heap, base, size, held[-1])
        assert size == len(held)
    assert (heap[:base] == -7).all()  # what stands before the heap is left alone


@pytest.mark.parametrize("seed", range(4))
def test_nodes_come_off_in_the_order_of_keys_that_fall(seed):
    draw = np.random.default_rng(seed)
    nodes = 40
    key = draw.random(nodes)
    heap, place = np.empty(nodes, np.int64), np.full(nodes, -1, np.int64)
    for node in range(nodes):
        heap[node], place[node] = node, node
        rise(heap, place, node, key)
    left = set(range(nodes))
    for size in range(nodes, 0, -1):
        node = int(draw.choice(sorted(left)))
        key[node] *= draw.random()
        rise(heap, place, place[node], key)
        assert sorted(heap[:size].tolist()) == sorted(left)
        assert (heap[place[sorted(left)]] == sorted(left)).all()
        nearest = int(pop_node(heap, place, size, key))
        assert nearest == min(left, key=key.__getitem__)
        assert place[nearest] == -1
        left.remove(nearest)
