"""Four arc-disjoint spanning trees and the broadcasts over them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.questions.costs import LinearCost
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.arc_disjoint_trees import EAST, NORTH, rotated, shallow_trees, tree_a, tree_b
from gossamer.wormhole.multinode_broadcast_on_disjoint_trees import EDST

BY_NAME = {a.name: a for a in EDST}

# tree 0 of least depth, rows y = 0, 1, ..., o the root
DRAWN = {
    3: (3, "oWW EWN EWS"),
    4: (5, "oNSN NEWW NEEN NNNN"),
    5: (6, "oSSSS NEEWW NWNNE NNNNN NWSSE"),
    6: (7, "oNSSSE NEEWWW NSSWNE NEENNE NNNNSE WWSWSE"),
    7: (7, "oWWWWWW EWNWSSN ESWWWWN EEEWNEN EEEWSES ENWWWWS EWSWNNS"),
    8: (9, "oSENWWSE NENWNEWW SSNWSSNE EENWWWNE ENNEWNNE NSWSNNNE WSWSSSEE EWSEWSEE"),
    10: (11, "oWWSEESEWS NEEEEEEENW ENWNSNEENE WNWNENESNE ENWWNNEWNE WNWWNNENNE NEEWNWWWSE SNNSEEENSE ENWSSEENSE "
         "WWWSSSESSE"),
}  # fmt: skip


def diameter(n: int) -> int:
    return 2 * (n // 2)


@pytest.mark.parametrize("n", [*range(2, 13), 20, 30])
def test_trees_a_and_b_are_spanning_and_arc_disjoint_at_their_depths(n):
    assert tree_a(n).height == 2 * n - 1  # `rotated` refuses trees that are not
    if n > 2:
        assert tree_b(n).height == n + n // 2


def test_tree_b_needs_three_nodes_a_side():
    with pytest.raises(NetworkError, match=r"must be a whole number in 3\.\.2147483647, got 2"):
        tree_b(2)


@pytest.mark.parametrize("n", DRAWN)
def test_the_drawn_trees(n):
    height, rows = DRAWN[n]
    direction = [["ENWS".find(c) for c in row] for row in rows.split()]
    assert rotated(direction).height == height


@pytest.mark.parametrize("n", [3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 25, 30])
def test_depth_d_plus_1_is_found_which_is_the_least_possible(n):
    """Errata X13: one level less than the paper's D + 2. The root's only child is at distance D from some node."""
    trees = shallow_trees(n)
    assert trees.height == diameter(n) + 1
    assert trees.spanning
    assert trees.arc_disjoint
    child = trees.children(0, 1)
    assert child.size == 1
    assert gossamer.network(f"torus:{n}x{n}").eccentricity(int(child[0])) == diameter(n)


def test_five_a_side_takes_d_plus_2():
    assert shallow_trees(5).height == diameter(5) + 2


@pytest.mark.solver
def test_five_a_side_has_no_rotated_trees_of_depth_d_plus_1():
    cp_model = pytest.importorskip("ortools.sat.python.cp_model", reason="needs the extra 'solver' (OR-Tools)")

    n, height = 5, 5
    model = cp_model.CpModel()
    enters = {(v, d): model.new_bool_var(f"{v} {d}") for v in range(1, n * n) for d in range(4)}
    depth = [model.new_int_var(0, height, f"depth {v}") for v in range(n * n)]
    model.add(depth[0] == 0)
    orbits: dict[tuple[int, int], list] = {}
    for (v, d), used in enters.items():
        x, y = v % n, v // n
        parent = (y - (0, 1, 0, -1)[d]) % n * n + (x - (1, 0, -1, 0)[d]) % n
        model.add(depth[v] >= depth[parent] + 1).only_enforce_if(used)
        turns, (tx, ty, td) = [], (x, y, d)
        for _ in range(4):
            turns.append((ty * n + tx, td))
            tx, ty, td = -ty % n, tx, (td + 1) % 4
        orbits.setdefault(min(turns), []).append(used)
    for v in range(1, n * n):
        model.add_exactly_one(enters[v, d] for d in range(4))
    for used in orbits.values():
        model.add_at_most_one(used)
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


def test_no_three_spanning_trees_are_edge_disjoint():
    """Errata X12: 2 n² edges hold at most two spanning trees of n² - 1 edges; four are only arc-disjoint."""
    for n in range(3, 31):
        assert 3 * (n * n - 1) > 2 * n * n
    trees = shallow_trees(4)
    edges = {frozenset((v, int(p))) for parents in trees.parent for v, p in enumerate(parents) if v != p}
    assert len(edges) < 4 * 15  # some edge is in two trees, once in each direction


def test_rotations_that_share_an_arc_are_refused():
    direction = np.full((4, 4), EAST)
    direction[1:, 0] = NORTH  # a comb: its rotation uses the root's other column too
    with pytest.raises(NetworkError, match="share an arc"):
        rotated(direction)
    with pytest.raises(NetworkError, match="do not make a spanning tree"):
        rotated(np.full((3, 3), EAST))


@pytest.mark.parametrize("name", BY_NAME)
@settings(max_examples=6, deadline=None)
@given(
    n=st.sampled_from([2, 3, 4, 5, 6]),
    data=st.data(),
    size=st.sampled_from([4, 7, 64, 1000]),
    startup=st.sampled_from([0, 1, 50]),
    hop=st.sampled_from([0, 3]),
)
def test_any_active_set_is_served_at_the_claimed_time(name, n, data, size, startup, hop):
    active = data.draw(st.sets(st.integers(0, n * n - 1), min_size=1, max_size=n * n).map(sorted))
    network, task = gossamer.network(f"torus:{n}x{n}"), gossamer.task("partial-multinode-broadcast", active=active)
    model = LinearCost(startup=startup, message_bytes=size, hop_time=hop)
    algorithm = BY_NAME[name]
    case = WormholeCase(network, task, model)
    schedule, offer = algorithm.build(case), algorithm.offer(case)
    assert verify(schedule)
    assert schedule.completion_time >= offer.floor
    if offer.time is not None:
        assert schedule.completion_time <= offer.time


@pytest.mark.parametrize(("n", "s"), [(10, 10), (10, 100), (16, 64)])
def test_a_gather_doubles_the_start_ups_of_the_printed_formula(n, s):
    """Errata X17: the formula broadcasts from the roots and does not bring the messages there."""
    network = gossamer.network(f"torus:{n}x{n}")
    active = sorted(np.random.default_rng(s).choice(n * n, s, replace=False).tolist())
    task = gossamer.task("partial-multinode-broadcast", active=active)
    model = LinearCost(startup=1, per_byte=1, message_bytes=1024)
    schedule = BY_NAME["spanning-trees"].build(WormholeCase(network, task, model))
    height = shallow_trees(n).height
    assert height < schedule.startups <= 2 * height
    broadcast_only = height * (1 + Fraction(s * 1024, 4))
    assert broadcast_only < schedule.completion_time
    assert verify(schedule)


@pytest.mark.parametrize("n", [6, 10])
def test_pipelining_takes_the_product_of_depth_and_volume_away(n):
    """Errata X9: 2 floor(n/2) s m/4 describes trees that wait level by level; pipelined, it is near s m/2 in all."""
    network, task = gossamer.network(f"torus:{n}x{n}"), gossamer.task("allgather")
    model = LinearCost(startup=1, per_byte=1, message_bytes=4096)
    slow, fast = (
        BY_NAME[name].build(WormholeCase(network, task, model))
        for name in ("spanning-trees", "spanning-trees-pipelined")
    )
    share = n * n * 4096 // 4
    assert verify(slow)
    assert verify(fast)
    assert slow.volume > diameter(n) * share
    assert fast.volume < 3 * share


def test_a_broadcast_needs_no_gather():
    network = gossamer.network("torus:5x5")
    model = LinearCost(startup=5, per_byte=1, message_bytes=400)
    for name in ("spanning-trees", "spanning-trees-pipelined"):
        schedule = BY_NAME[name].build(WormholeCase(network, gossamer.task("broadcast", root=7), model))
        assert [p.name for p in schedule.phases] == ["broadcast"]
        assert verify(schedule)


def test_refusals_are_one_clear_line():
    task, model = gossamer.task("allgather"), LinearCost()
    for spec in ("torus:4x5", "array:4x4", "torus:3x3x3"):
        with pytest.raises(NotApplicableError, match="it needs an n x n torus with n >= 2"):
            EDST[0].build(WormholeCase(gossamer.network(spec), task, model))
    with pytest.raises(NotApplicableError, match="they need 4 bytes"):
        EDST[1].build(WormholeCase(gossamer.network("torus:4x4"), task, LinearCost(message_bytes=3)))
