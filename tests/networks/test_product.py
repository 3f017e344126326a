"""Products against their definition, NetworkX, and the additive laws (2.1)-(2.3) and Dimakopoulos 1996, Theorem 5.1."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import (
    AbelianGroup,
    Network,
    ProductGroup,
    array,
    complete,
    fat_tree,
    from_networkx,
    linear_array,
    product,
    ring,
    star,
    to_networkx,
    torus,
)
from gossamer.networks.network import Grid

factor = st.one_of(
    st.builds(ring, st.integers(1, 6)),
    st.builds(linear_array, st.integers(1, 6)),
    st.builds(complete, st.integers(1, 5)),
    st.builds(star, st.integers(1, 3)),
    st.just(from_networkx(nx.star_graph(3))),
)
factor_lists = st.lists(factor, min_size=1, max_size=3)


def undirected(net: Network) -> nx.Graph:
    return to_networkx(net).to_undirected()


@given(factor_lists)
@settings(deadline=None, max_examples=60)
def test_links_are_those_of_the_networkx_product(factors):
    net = product(*factors)
    expected = nx.Graph()
    expected.add_node(())
    for f in factors:
        step = nx.cartesian_product(expected, undirected(f))
        expected = nx.relabel_nodes(step, {(prefix, last): (*prefix, last) for prefix, last in step})
    index = np.stack(np.unravel_index(np.arange(net.node_count), [f.node_count for f in factors]), axis=1)
    name = [tuple(row) for row in index.tolist()]
    links = {(name[u], name[v]) for u, v in zip(net.link_source, net.link_target, strict=True)}
    assert links == {pair for u, v in expected.edges for pair in ((u, v), (v, u))}
    assert net.link_count == len(links)


@given(factor_lists)
@settings(deadline=None, max_examples=60)
def test_links_of_a_node_follow_the_order_of_the_factors(factors):
    net = product(*factors)
    sizes = [f.node_count for f in factors]
    for u in range(net.node_count):
        digits = np.unravel_index(u, sizes)
        expected = []
        for place, f in enumerate(factors):
            for link in f.out_links(int(digits[place])):
                moved = list(digits)
                moved[place] = f.link_target[link]
                expected.append(int(np.ravel_multi_index(moved, sizes)))
        assert [int(net.link_target[i]) for i in net.out_links(u)] == expected


@given(factor_lists)
@settings(deadline=None, max_examples=60)
def test_degrees_distances_and_diameters_add_up_and_the_status_follows_theorem_5_1(factors):
    net = product(*factors)
    sizes = [f.node_count for f in factors]
    node = net.node_count - 1
    digits = [int(d) for d in np.unravel_index(node, sizes)]
    assert net.out_degree[node] == sum(int(f.out_degree[d]) for f, d in zip(factors, digits, strict=True))
    distance = np.zeros(sizes, int)
    for place, (f, d) in enumerate(zip(factors, digits, strict=True)):
        shape = [1] * len(sizes)
        shape[place] = f.node_count
        distance = distance + f.distances(d).reshape(shape)
    assert np.array_equal(net.distances(node), distance.reshape(-1))
    assert net.diameter == sum(f.diameter for f in factors)
    status = sum(
        int(f.distances(d).sum()) * net.node_count // f.node_count for f, d in zip(factors, digits, strict=True)
    )
    assert int(net.distances(node).sum()) == status


@given(factor_lists)
@settings(deadline=None, max_examples=60)
def test_structure_is_kept_when_every_factor_has_it(factors):
    net = product(*factors)
    assert (net.group is not None) == all(f.group is not None for f in factors)
    assert (net.grid is not None) == all(f.grid is not None for f in factors)
    assert net.factors == (tuple(factors) if len(factors) > 1 else factors[0].factors)
    assert net.links_only == any(f.links_only for f in factors)
    if net.group is not None:
        node = np.arange(net.node_count)
        table = net.link_target.reshape(net.node_count, -1)
        assert np.array_equal(table, net.group.compose(node[:, None], net.generators))


def test_abelian_factors_make_one_abelian_group_and_others_a_product_group():
    assert product(ring(5), torus(3, 4)).group == AbelianGroup((5, 3, 4))
    assert isinstance(product(ring(5), star(3)).group, ProductGroup)


def test_product_of_rings_and_arrays_carries_a_grid_of_both():
    net = product(ring(5), linear_array(4), torus(3, 2))
    assert net.grid == Grid((5, 4, 3, 2), (True, False, True, False))
    assert product(ring(3), ring(4)) == torus(3, 4)
    assert product(array(2, 3), linear_array(4)) == array(2, 3, 4)


def test_coordinates_are_those_of_the_factors_side_by_side():
    net = product(torus(3, 3), complete(4))
    assert net.node_name(4 * 5 + 2) == "(1,2,2)"
    assert math.prod(net.coordinates.max(axis=0) + 1) == net.node_count


def test_spec_names_the_factors():
    assert product(ring(5), product(ring(3), complete(4))).spec == "product:(ring:5)x(product:(ring:3)x(complete:4))"


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([], "at least one factor"),
        (
            [ring(3), fat_tree(2, 2)],
            "factor 'fat-tree:k=2,h=2,capacity=constant' of a product must have only terminals",
        ),
        ([Network("wide", 2, [0, 1], [1, 0], 2)], "factor 'wide'"),
        ([complete(2000), complete(2000)], "would have 15992000000 links; at most 400000000"),
    ],
)
def test_illegal_products_are_refused_in_one_line(factors, message):
    with pytest.raises(NetworkError, match=message) as caught:
        product(*factors)
    assert "\n" not in str(caught.value)
