from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gossamer.graphs.concentration_routing import links_along, rotations
from gossamer.networks import array, product, ring, torus
from gossamer.networks.network import Grid


def digits(number, sides):
    """Digits of a number, least significant first."""
    found = []
    for side in sides:
        found.append(number % side)
        number //= side
    return found


def test_class_1_in_three_dimensions_names_x2_x1_x0_as_x0_x2_x1():
    turn = rotations(Grid((4, 4, 4), (False,) * 3))[1]
    for node in range(64):
        x0, x1, x2 = digits(node, (4, 4, 4))
        assert digits(int(turn.name[node]), (4, 4, 4)) == [x1, x2, x0]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_digit_l_of_a_name_is_digit_l_plus_c_of_the_node(sides):
    grid = Grid(tuple(sides), (False,) * len(sides))
    small = [s for s in reversed(sides) if s > 1]
    turns = rotations(grid)
    assert len(turns) == len(small)
    for c, turn in enumerate(turns):
        assert list(turn.sides) == small[c:] + small[:c]
        for node, name in enumerate(turn.name.tolist()):
            assert turn.node[name] == node
            x, y = digits(node, small), digits(name, turn.sides)
            assert y == x[c:] + x[:c]


@pytest.mark.parametrize(
    "network",
    [array(3, 1, 4), torus(3, 4), torus(2, 5), ring(3), array(2, 2), product(ring(4), array(3))],
    ids=lambda n: n.spec,
)
def test_links_along_go_one_step_up_and_down_each_digit(network):
    grid = network.grid
    dimensions = [i for i in reversed(range(grid.dimensions)) if grid.sides[i] > 1]
    table, seen = links_along(network), []
    assert table.shape == (network.node_count, len(dimensions), 2)
    for node in range(network.node_count):
        for column, i in enumerate(dimensions):
            for way, step in enumerate((1, -1)):
                end = network.coordinates[node].copy()
                end[i] += step
                link = int(table[node, column, way])
                if grid.wraps[i]:
                    end[i] %= grid.sides[i]
                elif not 0 <= end[i] < grid.sides[i]:
                    assert link == -1
                    continue
                assert network.link_source[link] == node
                assert np.array_equal(network.coordinates[network.link_target[link]], end)
                seen.append(link)
    assert sorted(seen) == list(range(network.link_count))
