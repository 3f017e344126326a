from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.multinode_broadcast.mesh_interior_over_surface import inner_nodes
from gossamer.errors import ModelError, NotApplicableError
from gossamer.simulation.random_arrivals import Settings, simulate
from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
from gossamer.simulation.random_arrivals.schemes.mesh_interior_over_surface import arc, arc_limit, arc_reason
from gossamer.simulation.random_arrivals.schemes.registry import scheme as named
from gossamer.simulation.random_arrivals.theory import link_loads, stability_limit

F = Fraction


@pytest.mark.parametrize(
    ("spec", "nearest", "random"),
    [
        ("array:6x6", F(15, 18), F(15, 19)),
        ("array:10x10", F(63, 70), F(63, 71)),
        ("array:14x14", F(143, 154), F(143, 155)),
        ("array:6x6x6", F(63, 66), F(63, 67)),
    ],
)
def test_reference_limits(spec, nearest, random):
    network = gossamer.network(spec)
    for side, limit in (("nearest", nearest), ("random", random)):
        scheme = arc(network, side=side)
        assert stability_limit(scheme).load == limit == arc_limit(network.grid.sides, side)


@pytest.mark.parametrize("n", [4, 6, 10, 14])
def test_the_printed_limit_is_below_the_exact_one(n):
    inner = (n - 2) ** 2
    assert 1 - F(2 * n, inner) < arc_limit((n, n))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(3, 6), min_size=1, max_size=3).filter(lambda s: max(s) > 3),
    st.sampled_from(["nearest", "random", "balanced"]),
)
def test_every_inner_node_receives_once_on_any_mesh(sides, side):
    network = gossamer.network("array:" + "x".join(map(str, sides)))
    scheme = arc(network, side=side)
    scheme.check()
    inner = inner_nodes(network)
    assert scheme.source_nodes.tolist() == inner.tolist()
    assert (scheme.counted_receivers == inner.size - 1).all()
    if side == "balanced":
        nearest = stability_limit(arc(network)).load
        assert stability_limit(scheme).load >= nearest * (1 - F(1, 10**5))
        return
    assert stability_limit(scheme).load == arc_limit(network.grid.sides, side)


@pytest.mark.parametrize(
    ("spec", "gain"), [("array:6x6", 1), ("array:4x4x4", 1), ("array:4x8", 1.25), ("array:5x9", 1.125)]
)
def test_faces_drawn_in_balance_carry_more_on_sides_that_differ_and_never_more_on_equal_ones(spec, gain):
    network = gossamer.network(spec)
    ratio = stability_limit(named("arc-balanced", network)).load / stability_limit(arc(network)).load
    assert float(ratio) == pytest.approx(gain, rel=1e-5)


def test_a_load_that_only_balanced_faces_bear_has_finite_delays():
    """4x8 at 0.8: above the limit of the nearest side, 11/16, below that of balanced sides, 55/64."""
    network = gossamer.network("array:4x8")
    with pytest.raises(ModelError, match=r"stability limit 0\.6875"):
        simulate(arc(network), load=0.8)
    short, long = (
        simulate(named("arc-balanced", network), load=0.8, settings=Settings(steps=steps, replications=4)).reception
        for steps in (2_000, 8_000)
    )
    assert long.mean < 1.3 * short.mean < 20, "what the links carry does not wait longer and longer"


def test_low_class_is_the_way_back_but_for_its_first_hop():
    scheme = arc(gossamer.network("array:6x7"))
    at = np.argwhere(scheme.network.coordinates[scheme.source_nodes] == (2, 3))[0][0]
    low = [
        int(scheme.priority[row].sum())
        for choice in range(4)
        for _, row, _ in scheme.walk((at, choice, 0), scheme.source_nodes[[at]])
    ]
    # along the first dimension 5 columns come back, along the second 4, each but for the first hop
    assert sum(low) == 2 * 5 * (6 - 3) + 2 * 4 * (7 - 3)


def test_each_face_gets_its_share_of_the_sources():
    scheme = arc(gossamer.network("array:5x5"))
    network, loads = scheme.network, link_loads(scheme)
    at = network.coordinates
    for axis in (0, 1):
        for face in (0, 4):
            out = [
                k
                for k in range(network.link_count)
                if at[network.link_target[k], axis] == face != at[network.link_source[k], axis]
            ]
            assert sum(loads[k] for k in out) == F(1, 4)


def test_inner_nodes_get_twice_the_load_that_the_whole_mesh_can_have():
    network = gossamer.network("array:14x14")
    assert stability_limit(arc(network)).load > F(3, 2) * stability_limit(star(network)).load


@pytest.mark.parametrize("n", [3, 4, 8])
def test_errata_x5_the_corner_bound_of_a_mesh_is_above_one_half(n):
    """A corner has d links for the N-1 packets it must receive."""
    network = gossamer.network(f"array:{n}x{n}")
    corner = F(int(network.in_degree.min()) * network.node_count, network.link_count)
    assert corner == 1 / (2 * (1 - F(1, n))) > F(1, 2)
    if n == 3:
        assert corner == F(3, 4)
    assert stability_limit(star(network)).load > F(1, 2)


def test_errata_x6_a_surface_node_of_a_larger_submesh_leaves_5_sixths_in_3_dimensions():
    for d, bound in ((2, F(3, 4)), (3, F(5, 6))):
        network = gossamer.network("array:" + "x".join(["4"] * d))
        links = sorted(set(network.in_degree.tolist()))[-2]
        assert links == 2 * d - 1
        assert F(links, 2 * d) == bound


def test_what_is_not_covered_is_said():
    assert arc_reason(gossamer.network("torus:4x4")) == "needs an array (mesh)"
    assert "2 inner nodes" in arc_reason(gossamer.network("array:2x8"))
    with pytest.raises(NotApplicableError, match="side must be"):
        arc(gossamer.network("array:5x5"), side="far")
