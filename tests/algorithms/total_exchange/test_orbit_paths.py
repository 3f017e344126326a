"""Exchanges of one orbit on networks that are no Cayley networks."""

from __future__ import annotations

import networkx as nx
import pytest

import gossamer
from gossamer.algorithms.total_exchange.orbit_paths import ORBIT_PATHS, orbit_paths_exchange
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case, Refusal
from gossamer.verification import link_load

pytest.importorskip("igraph", reason="symmetries are found by igraph (extra 'symmetry')")
pytestmark = pytest.mark.symmetry


@pytest.mark.parametrize(
    ("spec", "orbits", "steps"), [("slim-fly:5", 10, 13), ("slim-fly:7", 2, 19), ("slim-fly:11", 2, 31)]
)
def test_slim_flies_take_these_steps(spec, orbits, steps):
    network = gossamer.network(spec)
    plan = gossamer.plan(network, "alltoall", algorithm="orbit-paths")
    assert plan.completion_time == steps
    assert plan.schedule.symmetry.orbit_count == orbits
    assert plan.schedule.packets.count == orbits * (network.node_count - 1)
    assert plan.verification.ok
    assert gossamer.verify(plan.schedule.expand()).ok


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("name", ["petersen", "dodecahedral", "desargues"])
@pytest.mark.parametrize("ports", ["all", "one", "one-send"])
def test_graphs_of_any_group_in_any_ports(name, ports, tmp_path):
    network = from_networkx(getattr(nx, f"{name}_graph")())
    case = Case(network, gossamer.task("alltoall"), gossamer.Rules(ports=ports))
    schedule = orbit_paths_exchange(case)
    assert schedule.symmetry.order > 1
    assert gossamer.verify(schedule).ok
    explicit = schedule.expand()
    assert gossamer.verify(explicit).ok
    distances = sum(int(network.distances(u).sum()) for u in range(network.node_count))
    assert int(link_load(explicit).sum()) == distances  # all paths are shortest
    assert max(b.value for b in gossamer.lower_bounds(network, case.task, rules=case.rules)) <= schedule.completion_time
    schedule.save(tmp_path / "plan.parquet")
    assert gossamer.load(tmp_path / "plan.parquet") == schedule


@pytest.mark.parametrize(
    ("spec", "order", "steps"),
    [
        ("product:(array:5)x(ring:8)", 8, 48),
        ("product:(array:3)x(ring:5)x(complete:4)", 20, 40),
        ("product:(lift:abelian(5);0-1,0-0*1,1-1*2)x(array:3)", 5, 30),
        ("product:(array:4)x(torus:8x8)", 64, 258),
    ],
)
def test_products_with_an_irregular_factor_take_the_symmetries_of_the_others(spec, order, steps):
    network = gossamer.network(spec)
    case = Case(network, gossamer.task("alltoall"))
    schedule = orbit_paths_exchange(case)
    assert schedule.symmetry.order == order
    assert schedule.completion_time <= steps
    assert gossamer.verify(schedule).ok
    assert gossamer.verify(schedule.expand()).ok


def test_the_same_seed_gives_the_same_schedule():
    network = gossamer.network("dragonfly:4,2")
    task = gossamer.task("alltoall")
    assert orbit_paths_exchange(Case(network, task)) == orbit_paths_exchange(Case(network, task))


def test_links_that_take_time_keep_the_symmetry():
    network = gossamer.network("slim-fly:5").with_times(2, 1)
    plan = gossamer.plan(network, "alltoall", algorithm="orbit-paths")
    assert plan.schedule.symmetry.order == 5
    assert plan.verification.ok
    assert gossamer.verify(plan.schedule.expand()).ok


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("torus:4x4", "is for networks that are no Cayley networks"),
        ("jellyfish:n=40,d=4,seed=1", "needs symmetries of the network that move every node"),
        ("fat-tree:k=2,h=2", "needs symmetries of the network that move every node"),
    ],
)
def test_what_has_no_such_symmetry_is_refused(spec, reason):
    found = ORBIT_PATHS.offers(Case(gossamer.network(spec), gossamer.task("alltoall")))
    assert isinstance(found, Refusal)
    assert found.why.startswith(reason)


def test_plans_take_it_where_it_is_best():
    plan = gossamer.plan("slim-fly:7", "alltoall")
    assert plan.schedule.algorithm == "orbit-paths"
    assert plan.completion_time == 19
