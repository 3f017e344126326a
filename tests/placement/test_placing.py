"""Placements of jobs whose ranks are numbered at random: at the bound, never worse than the given order, verified."""

from __future__ import annotations

import itertools
import json

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError, GossamerError, ModelError
from gossamer.graphs.rank_placement import (
    Axes,
    Host,
    annealed,
    axes_of_graph,
    axes_of_groups,
    embedded,
    hop_sum,
    placements_by_tiles,
    placements_sheared,
)
from gossamer.networks import from_networkx, read_network
from gossamer.planning.placement import placed
from gossamer.questions.tasks import Grouped, Together, UnevenExchange
from gossamer.questions.tasks.exchanges import NeighborExchange
from gossamer.questions.tasks.job import read_job


def shuffled(task, count: int, seed: int = 7):
    return placed(task, np.random.default_rng(seed).permutation(count))


def blocks(count: int, size: int) -> list[list[int]]:
    return [list(range(i, i + size)) for i in range(0, count, size)]


def rings(count: int, size: int) -> NeighborExchange:
    pairs = [(size * g + i, size * g + (i + s) % size)
             for g in range(count // size) for i in range(size) for s in (1, size - 1)]  # fmt: skip
    return NeighborExchange(tuple(pairs))


AT_THE_BOUND = [
    ("ring of 64", NeighborExchange.along("ring:64")),
    ("mesh of 8 x 8", NeighborExchange.along("array:8x8")),
    ("torus of 8 x 8", NeighborExchange.along("torus:8x8")),
    ("mesh of 4 x 16", NeighborExchange.along("array:4x16")),
    ("mesh of 32 x 2", NeighborExchange.along("array:32x2")),
    ("4 rings of 16", rings(64, 16)),
    ("16 rings of 4", rings(64, 4)),
    ("alltoall in 16 groups of 4", Grouped(gossamer.task("alltoall"), blocks(64, 4))),
    ("allgather in 16 groups of 4", Grouped(gossamer.task("allgather"), blocks(64, 4))),
    ("allgather in 4 groups of 16", Grouped(gossamer.task("allgather"), blocks(64, 16))),
    ("reduce-scatter in 4 groups of 16", Grouped(gossamer.task("reduce-scatter"), blocks(64, 16))),
    ("allgather in 8 groups of 8", Grouped(gossamer.task("allgather"), blocks(64, 8))),
    ("allreduce in 8 groups of 8", Grouped(gossamer.task("allreduce"), blocks(64, 8))),
    ("allreduce in 4 groups of 16", Grouped(gossamer.task("allreduce"), blocks(64, 16))),
]


@pytest.mark.exhaustive(always=7)
@pytest.mark.parametrize(("name", "task"), AT_THE_BOUND, ids=[name for name, _ in AT_THE_BOUND])
def test_jobs_with_ranks_at_random_are_placed_at_the_bound(name, task) -> None:
    net = gossamer.network("torus:8x8")
    found = gossamer.place(shuffled(task, 64), net)
    assert found.optimal
    assert found.speedup is not None
    assert found.speedup >= 2
    assert sorted(found.node.tolist()) == list(range(64))
    assert gossamer.verify(found.outcome.schedule).ok
    assert found.outcome.case.task == placed(shuffled(task, 64), found.node)


@pytest.mark.slow
def test_groups_of_many_ranks_are_placed_on_a_small_torus_that_is_repeated() -> None:
    task = shuffled(Grouped(gossamer.task("alltoall"), blocks(1024, 4)), 1024)
    found = gossamer.place(task, "torus:32x32")
    assert found.repeats
    assert found.optimal
    assert gossamer.verify(found.outcome.schedule).ok
    assert found.outcome.case.task == placed(task, found.node)
    assert "the best of which is repeated" in dict(found.rows())["searched"]


def test_groups_of_4_by_16_are_faster_than_given_and_their_gap_is_said() -> None:
    both = Together(
        (
            Grouped(gossamer.task("allgather"), blocks(64, 4)),
            Grouped(gossamer.task("allgather"), [list(range(i, 64, 4)) for i in range(4)]),
        ),
        ("tensor", "data"),
        (),
    )
    found = gossamer.place(shuffled(both, 64), "torus:8x8")
    assert found.speedup is not None
    assert found.speedup > 1.3
    assert 1 <= found.ratio <= 1.6
    assert f"{found.ratio:.4g} x" in found.summary or found.optimal


@pytest.mark.parametrize(
    ("spec", "task"),
    [
        ("ring:5", NeighborExchange.along("array:5")),
        ("fat-tree:k=2,h=2", Grouped(gossamer.task("alltoall"), blocks(4, 2))),
        (
            "array:5",
            UnevenExchange(((0, 1, 0, 0, 3), (0, 0, 0, 2, 0), (1, 0, 0, 0, 0), (0, 2, 0, 0, 0), (3, 0, 0, 0, 0))),
        ),
        ("array:4", Grouped(gossamer.task("allgather"), blocks(4, 2))),
    ],
)
def test_small_jobs_are_as_fast_as_the_fastest_of_all_placements(spec, task) -> None:
    net = gossamer.network(spec)
    t = net.terminal_count
    found = gossamer.place(shuffled(task, t, 3), net)
    assert found.exact
    fastest = min(
        gossamer.plan(net, placed(task, np.array(p))).completion_time for p in itertools.permutations(range(t))
    )
    assert found.bound <= found.time == fastest


def test_every_kind_of_placement_is_bounded_once() -> None:
    found = gossamer.place(UnevenExchange(((0, 1, 0, 0), (0, 0, 0, 5), (7, 0, 0, 0), (0, 0, 3, 0))), "ring:4")
    assert found.exact == 3  # a path of four ranks around a ring: 4! orders over 8 symmetries
    assert found.bounds[0].slots <= found.time


@pytest.mark.parametrize("spec", ["fat-tree:k=4,h=2", "servers:s=2,g=8", "dragonfly:a=4,h=1,p=1"])
def test_groups_come_together_on_other_networks(spec) -> None:
    net = gossamer.network(spec)
    t = net.terminal_count
    found = gossamer.place(shuffled(Grouped(gossamer.task("alltoall"), blocks(t, 4)), t), net)
    assert found.speedup is not None
    assert found.speedup >= 1
    assert found.bound <= found.time


def test_a_ring_follows_the_cables_of_a_mesh_that_lacks_one() -> None:
    mesh = nx.complete_graph(4)
    mesh.remove_edge(0, 2)
    found = gossamer.place("ring:4", from_networkx(mesh))
    assert found.optimal
    assert found.time == 1
    order = found.node.tolist()
    assert all(mesh.has_edge(order[i], order[(i + 1) % 4]) for i in range(4))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "spec", "time"),
    [("array:64x64", "torus:64x64", 1), ("ring:4096", "torus:16x16x16", 1), ("array:16x256", "torus:64x64", 2)],
)
def test_4096_ranks_are_placed_at_the_bound(job, spec, time) -> None:
    found = gossamer.place(shuffled(NeighborExchange.along(job), 4096), spec)
    assert found.optimal
    assert found.time == time


@pytest.mark.slow
def test_a_torus_of_4096_ranks_with_other_sides_is_placed_in_layers_or_bands() -> None:
    found = gossamer.place(shuffled(NeighborExchange.along("torus:32x128"), 4096), "torus:64x64")
    assert (found.time, found.bound) == (3, 2)


@pytest.mark.parametrize(
    ("job", "sides", "wraps", "farthest"),
    [((4, 16), (8, 8), (True, True), 2), ((4, 16), (8, 8), (False, False), 2), ((3, 24), (9, 8), (False, False), 3)],
)
@pytest.mark.parametrize("closed", [False, True])
def test_layers_and_bands_keep_neighbors_near(job, sides, wraps, farthest, closed) -> None:
    t = int(np.prod(sides))
    axes = Axes(job, (closed, closed), np.stack(np.unravel_index(np.arange(t), job), axis=1))
    made = list(placements_sheared(axes, Host(sides, wraps, np.arange(t))))
    assert made
    size = np.array(sides)
    for place in made:
        assert sorted(place.tolist()) == list(range(t))
        at = np.stack(np.unravel_index(place.reshape(job), sides), axis=-1)
        for axis in (0, 1):
            apart = np.abs(np.diff(at, axis=axis))
            apart = np.minimum(apart, size - apart) if all(wraps) else apart
            assert apart.sum(axis=-1).max() <= farthest * (2 if closed and not all(wraps) and axis == 0 else 1)


def test_the_search_by_swaps_never_gets_worse_and_is_the_same_for_a_seed() -> None:
    from gossamer.bounds.placements import needs_of, terminal_distances

    net = gossamer.network("torus:4x4")
    near = needs_of(NeighborExchange.along("array:4x4").messages(net), 16).near
    far, start = terminal_distances(net), np.random.default_rng(1).permutation(16)
    one, other = (annealed(near, far, start, np.random.default_rng(5), swaps=20_000) for _ in range(2))
    assert (one == other).all()
    assert hop_sum(near, far, one) <= hop_sum(near, far, start)
    assert sorted(one.tolist()) == list(range(16))
    assert hop_sum(near, far, one) == near.sum()  # all are neighbors


def test_axes_are_found_whatever_the_numbers() -> None:
    from gossamer.bounds.placements import needs_of

    place = np.random.default_rng(2).permutation(24)
    net = gossamer.network("complete:24")
    for spec, sides in (("torus:4x6", {4, 6}), ("array:3x8", {3, 8}), ("ring:24", {24})):
        near = needs_of(placed(NeighborExchange.along(spec), place).messages(net), 24).near
        axes = axes_of_graph(near)
        assert axes is not None
        assert set(axes.sides) == sides
    assert axes_of_groups([[[0, 1], [2, 3]], [[0, 2, 3], [1]]], 4).sides == (2, 2)  # the others are no equal groups
    assert axes_of_groups([[[0, 1, 2], [3]]], 4) is None


def test_device_orders_and_files(tmp_path) -> None:
    found = gossamer.place("ring:16", "torus:4x4")
    mesh = found.mesh(4, 4)
    assert mesh.reshape(-1).tolist() == found.node.tolist()
    with pytest.raises(ModelError, match="12 places, not 16"):
        found.mesh(3, 4)
    for name in ("rankfile", "ranks.hostfile", "ranks.txt", "ranks.json", "machine.ranks"):
        found.save(tmp_path / name)
    order = found.node.tolist()
    assert (tmp_path / "rankfile").read_text().splitlines()[:2] == [f"rank {r}=node{order[r]} slot=0" for r in (0, 1)]
    assert (tmp_path / "ranks.hostfile").read_text().split() == [f"node{v}" for v in order]
    assert (tmp_path / "ranks.txt").read_text().splitlines()[5] == found.network.node_name(order[5])
    assert json.loads((tmp_path / "ranks.json").read_text())["node_of_rank"] == order
    machine = read_network(tmp_path / "machine.ranks")  # on which rank r is node r: the ring follows its cables
    assert gossamer.plan(machine, NeighborExchange.along("ring:16")).completion_time == 1
    with pytest.raises(FileFormatError, match="the suffix must be none"):
        found.save(tmp_path / "ranks.xyz")
    with pytest.raises(FileFormatError, match="coordinates of an array or torus"):
        gossamer.place("ring:4", "complete:4").save(tmp_path / "x.ranks")


def test_servers_have_slots(tmp_path) -> None:
    gossamer.place("ring:16", "dgx-h100:2").save(tmp_path / "rankfile")
    lines = (tmp_path / "rankfile").read_text().splitlines()
    assert sorted({line.split("=")[1].split()[0] for line in lines}) == ["host0", "host1"]
    assert sorted({line.split("slot=")[1] for line in lines}) == list("01234567")


def test_a_job_of_several_collectives_and_its_command(tmp_path, capsys) -> None:
    path = tmp_path / "job.toml"
    path.write_text(
        'packet = 4096\n[[collectives]]\nname = "a"\ntask = "allgather"\nbytes = 4096\ngroups = "rails 4"\n'
        '[[collectives]]\nname = "b"\ntask = "allgather"\nbytes = 4096\ngroups = "blocks 2"\nafter = "a"\n'
    )
    net = gossamer.network("ring:8")
    found = gossamer.place(read_job(path, net), net, cost={"bandwidth": "1GB/s"})
    assert found.outcome.seconds is not None
    assert main(["place", str(path), "ring:8", "--bandwidth", "1GB/s", "-o", str(tmp_path / "rankfile")]) == 0
    assert "any placement" in capsys.readouterr().out
    assert len((tmp_path / "rankfile").read_text().splitlines()) == 8


def test_traffic_from_a_file_and_tasks_by_name(tmp_path, capsys) -> None:
    traffic = tmp_path / "traffic.csv"
    traffic.write_text("0,1,0,0\n0,0,0,5\n7,0,0,0\n0,0,3,0\n")
    assert main(["place", str(traffic), "ring:4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(told["node_of_rank"]) == [0, 1, 2, 3]
    assert told["bound"] <= told["time"]
    assert main(["place", "alltoall", "ring:8", "--groups", "rails 4"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nonsense", "ring:4"], "unknown network family 'nonsense'"),
        (["ring:8", "ring:4"], "is outside 0..3"),
        (["ring:4", "ring:4", "-o", "x.xyz"], "the suffix must be none"),
        (["missing.toml", "ring:4"], "no such file"),
        (["missing.csv", "ring:4"], "no such file"),
        (["missing.toml", "ring:4", "--bytes", "1MiB"], "leave out --bytes"),
    ],
)
def test_slips_are_refused_in_a_line(words, told, capsys) -> None:
    assert main(["place", *words]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(GossamerError):
        gossamer.place("ring:5", "ring:4")
    with pytest.raises(ModelError, match="up to 8,192"):
        gossamer.place("ring:10000", "ring:10000")


@pytest.mark.parametrize(("sides", "size"), [((8, 8), 8), ((6, 4), 3), ((4, 4, 4), 16), ((9, 3), 9), ((12,), 4)])
def test_tiles_cover_a_torus_and_are_translates_of_each_other(sides, size) -> None:
    t = int(np.prod(sides))
    axes = axes_of_groups([blocks(t, size)], t)
    assert axes is not None
    made = list(placements_by_tiles(axes, Host(sides, (True,) * len(sides), np.arange(t))))
    assert made
    for place in made:
        assert sorted(place.tolist()) == list(range(t))
        at = np.stack(np.unravel_index(place.reshape(-1, size), sides), axis=-1)
        apart = (at - at[:1]) % np.array(sides)
        assert (apart == apart[:, :1]).all()  # a group is moved as a whole
    assert not list(placements_by_tiles(axes, Host(sides, (False,) * len(sides), np.arange(t))))


@pytest.mark.parametrize("seed", range(30))
def test_the_search_for_an_embedding_agrees_with_all_placements(seed) -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    job, host = (nx.gnp_random_graph(6, p, seed=seed + k) for k, p in ((0, 0.35), (100, 0.55)))
    pairs, close = (csr_array(nx.to_numpy_array(g, dtype=int)) for g in (job, host))
    there = any(all(host.has_edge(p[u], p[v]) for u, v in job.edges) for p in itertools.permutations(range(6)))
    place, looked = embedded(pairs, close, rng.permutation(6))
    assert looked <= 300_000
    assert (place is not None) == there
    if place is not None:
        assert sorted(place.tolist()) == list(range(6))
        assert all(host.has_edge(place[u], place[v]) for u, v in job.edges)
    assert embedded(pairs, close, np.arange(6), most=0)[0] is None or not job.edges
