"""Designs: found networks parse back, are verified, stand beside limits; wishes are kept; bad input is one line."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.networks import as_network, read_network
from gossamer.networks.structures import Coordinates
from gossamer.studies.design import Wishes, design, limit
from gossamer.studies.design.design_sweeps import cable_rows, routing_table, save_design
from gossamer.studies.design.problem import cabled, places
from gossamer.studies.design.search import single_paths


def test_sixty_four_nodes_of_four_links_take_at_most_49_steps() -> None:
    found = design(64, 4, rounds=24, top=2)
    best = found.best
    assert best.tasks[0].time <= 49
    assert best.tasks[0].limit == limit("alltoall", 64, 4).value == 45
    assert [f.candidate.family for f in found.found].count("torus") == 1
    for each in found.found:
        network = gossamer.network(each.candidate.spec)
        assert network == each.network
        assert network.diameter == each.candidate.diameter
        assert int(network.distances(0).sum()) == each.candidate.status
        assert each.tasks[0].time >= each.tasks[0].bound >= each.tasks[0].limit
        assert not gossamer.verify(each.tasks[0].outcome.schedule).violations


def test_the_torus_and_another_network_are_there_when_the_budget_is_spent_at_once() -> None:
    found = design(64, 4, budget=0.01)
    assert found.torus is not None
    assert found.torus.candidate.spec == "torus:8x8"
    assert found.best.tasks[0].time < 64
    assert "budget was spent" in found.stopped


def test_the_same_seed_and_rounds_find_the_same() -> None:
    one, other = (design(32, 3, rounds=15, top=2, seed=7) for _ in range(2))
    assert one.to_dicts() == other.to_dicts()


def test_a_range_of_nodes_several_tasks_and_one_port() -> None:
    found = design(
        "20:22", 4, ["alltoall", "broadcast=10"], Wishes(ports="one", families="semidirect"), rounds=12, top=2
    )
    assert {f.candidate.nodes for f in found.found} <= {20, 21, 22}
    for each in found.found:
        assert each.total == each.tasks[0].time + 10 * each.tasks[1].time
        assert each.ratio >= 1


def test_one_way_links() -> None:
    best = design(21, 2, wishes=Wishes(one_way=True, families="semidirect"), rounds=12, top=1).best
    assert best.network.degree == 2
    assert gossamer.network(best.candidate.spec) == best.network


def test_times_in_seconds() -> None:
    best = design(16, 3, "alltoall@1MiB", Wishes(bandwidth="25GB/s", families="semidirect"), rounds=8, top=1).best
    steps = gossamer.plan(best.network, "alltoall").completion_time
    assert float(best.tasks[0].time) == pytest.approx(float(steps) * 2**20 / 25e9)


def test_a_network_that_contains_a_torus() -> None:
    torus = gossamer.network("torus:4x4")
    inner = set(zip(torus.link_source.tolist(), torus.link_target.tolist(), strict=True))
    found = design(16, 6, wishes=Wishes(contains="torus:4x4"), rounds=4, top=3)
    for each in found.found:
        net = each.network
        assert inner <= set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
        assert int(net.out_degree.max()) <= 6
    assert found.best.total < 8
    assert all(gossamer.network(f.candidate.spec) == f.network for f in found.found)


def test_joined_ports_have_a_spec_that_parses_back() -> None:
    best = design(16, 4, wishes=Wishes(contains="array:4x4"), rounds=2, top=1).best
    assert best.candidate.spec.startswith("lift:abelian(1);0-1,")
    assert gossamer.network(best.candidate.spec) == best.network


def test_lifts_beat_cayley_networks_where_their_distances_are_shorter() -> None:
    found = design(50, 4, wishes=Wishes(families="lift,abelian"), rounds=48, top=3)
    assert {f.candidate.family for f in found.found} == {"lift", "abelian"}
    best = found.best
    assert best.candidate.family == "lift"
    assert gossamer.network(best.candidate.spec) == best.network
    known = best.network.find(Coordinates)
    assert known is not None
    sums = [int(best.network.distances(u).sum()) for u in range(50)]  # the same for all nodes over a vertex
    assert len({*zip(known.places[:, 0].tolist(), sums, strict=True)}) == len({*known.places[:, 0].tolist()})


@pytest.mark.parametrize("nodes", [22, 23])
def test_ports_are_joined_at_will_where_the_nodes_have_few_divisors(nodes: int) -> None:
    best = design(nodes, 4, wishes=Wishes(families="lift"), rounds=48, top=1).best
    assert best.tasks[0].time <= best.tasks[0].limit + 1
    assert gossamer.network(best.candidate.spec) == best.network


def test_cubes_whose_faces_are_switched_beat_the_torus() -> None:
    found = design(108, 6, wishes=Wishes(cubes=3), rounds=1, top=2, budget=200)
    torus = next(f for f in found.found if f.candidate.family == "torus")
    assert found.best.candidate.family == "switched-cubes"
    assert found.best.total < torus.total
    assert gossamer.network(found.best.candidate.spec) == found.best.network


def test_cables_have_lengths_and_the_longest_is_kept() -> None:
    wishes = Wishes(placement="grid:4x4", cable_weight=0.2, families="torus,semidirect")
    best = design(16, 4, wishes=wishes, rounds=8, top=1).best
    assert best.cabling is not None
    assert best.score == pytest.approx(best.ratio * (1 + 0.2 * float(best.cabling.length.mean())))
    with pytest.raises(gossamer.GossamerError, match="needs a cable of"):
        design(16, 4, wishes=Wishes(placement="grid:4x4", most_cable=0.5, families="torus"), rounds=2)


def test_failures_count() -> None:
    best = design(16, 4, wishes=Wishes(failure_weight=1, families="torus"), rounds=1, top=1).best
    assert best.worst_failure is not None
    assert best.score == pytest.approx(best.ratio * best.worst_failure)


@pytest.mark.parametrize("spec", ["ring:6", "torus:4x4", "petersen", "kautz:2,2", "hypercube:3"])
def test_pairs_with_one_shortest_path_are_counted(spec) -> None:  # type: ignore[no-untyped-def]
    given = nx.petersen_graph() if spec == "petersen" else spec
    network = as_network(given)
    graph = nx.DiGraph(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    pairs = [(u, v) for u in graph for v in graph if u != v]
    alone = sum(len(list(nx.all_shortest_paths(graph, u, v))) == 1 for u, v in pairs)
    assert single_paths(network) == pytest.approx(alone / len(pairs))


def test_path_diversity_counts() -> None:
    best = design(16, 4, wishes=Wishes(diversity_weight=1, families="torus,kautz"), rounds=1, top=1).best
    assert best.single_paths == single_paths(best.network)
    assert best.score == pytest.approx(best.ratio * (1 + best.single_paths))
    assert best.to_dict()["single_paths"] == round(best.single_paths, 4)


@pytest.mark.parametrize("spec", ["star:4", "torus:4x3", "kautz:2,2"])
def test_routes_lead_to_their_targets_by_ports(spec) -> None:  # type: ignore[no-untyped-def]
    network = gossamer.network(spec)
    table = routing_table(network, channels=8)
    lanes = json.loads(table.schema.metadata[b"classes"])
    assert b"cannot deadlock" in table.schema.metadata[b"deadlock"]
    first = network.out_degree.cumsum() - network.out_degree
    for row in table.to_pylist():
        at = row["source"]
        for port in row["ports"]:
            assert port < network.out_degree[at]
            at = int(network.link_target[first[at] + port])
        assert at == row["target"]
        assert len(row["ports"]) == network.distances(row["source"])[at] == len(row["classes"])
        assert all(lanes[c] for c in row["classes"])
    assert table.num_rows == network.node_count * (network.node_count - 1)


def test_routes_half_way_round_a_ring_go_both_ways() -> None:
    network = gossamer.network("torus:4x3")
    load = np.zeros((12, 4), int)
    for row in routing_table(network).to_pylist():
        at = row["source"]
        for port in row["ports"]:
            load[at, port] += 1
            at = int(network.link_target[network.first_link[at] + port])
    assert (load == [6, 6, 4, 4]).all()


def test_arranged_cables_are_shorter_than_those_in_order() -> None:
    net = gossamer.network("torus:8x8")
    assert cabled(net, "line").length.sum() < cabled(net, "line", arrange=False).length.sum()
    assert places("racks:2x4", 16).shape == (16, 3)


def test_what_is_saved_is_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = design(24, 3, rounds=8, top=2)
    names = save_design(found, tmp_path / "out")
    files = {"network.txt", "network.graphml", "network.edges", "cables.csv", "designs.json", "routes.parquet"}
    assert files <= set(names)
    spec = (tmp_path / "out" / "network.txt").read_text().strip()
    assert gossamer.network(spec) == found.best.network == read_network(tmp_path / "out" / "network.graphml")
    back = gossamer.load(tmp_path / "out" / "total-exchange.parquet")
    assert back.network == found.best.network
    with (tmp_path / "out" / "cables.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == found.best.network.link_count // 2
    ports = {(row["node"], row["port"]) for row in rows} | {(row["other_node"], row["other_port"]) for row in rows}
    assert len(ports) == found.best.network.link_count
    assert json.loads((tmp_path / "out" / "designs.json").read_text())[0]["network"] == spec


def test_ports_of_cables_are_links() -> None:
    net = gossamer.network("torus:3x4")
    for node, port, other, back, _ in cable_rows(net):
        assert net.link_target[net.out_links(node)[port]] == other
        assert net.link_target[net.out_links(other)[back]] == node


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--nodes", "x", "--degree", "4"), "nodes must be"),
        (("--nodes", "20:10", "--degree", "4"), "did you mean 10:20"),
        (("--nodes", "8", "--degree", "9"), "more than 7 other nodes"),
        (("--nodes", "8", "--degree", "1"), "is connected"),
        (("--nodes", "8", "--degree", "3", "--task", "permutation"), "a network is designed for"),
        (("--nodes", "8", "--degree", "3", "--task", "alltoall=0"), "weight"),
        (("--nodes", "8", "--degree", "3", "--task", "alltoall,alltoall"), "given twice"),
        (("--nodes", "8", "--degree", "3", "--families", "tori"), "unknown family"),
        (("--nodes", "8", "--degree", "3", "--most-cable", "2"), "add a placement"),
        (("--nodes", "8", "--degree", "3", "--placement", "moon"), "a placement is"),
        (("--nodes", "8", "--degree", "3", "--placement", "grid:1x7"), "7 places for 8 nodes"),
        (("--nodes", "8", "--degree", "3", "--contains", "torus:4x4"), "fits in no network"),
        (("--nodes", "100", "--degree", "6", "--cubes", "4"), "need a multiple of 64"),
        (("--nodes", "8", "--degree", "3", "--budget", "0"), "budget"),
        (("--nodes", "8", "--degree", "3", "-o", "table.txt"), "a table is .csv"),
    ],
)
def test_bad_wishes_are_one_line(capsys, words, told) -> None:  # type: ignore[no-untyped-def]
    assert main(["design", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert told in err


def test_the_command_prints_a_table_and_writes_what_is_asked(capsys, tmp_path) -> None:  # type: ignore[no-untyped-def]
    words = ["design", "--nodes", "16", "--degree", "4", "--rounds", "6", "--flits", "--families", "torus,semidirect"]
    files = [word for name in ("t.csv", "t.json", "p.svg") for word in ("-o", str(tmp_path / name))]
    assert main([*words, *files, "--folder", str(tmp_path / "best")]) == 0
    out, _ = capsys.readouterr()
    assert "networks of 16 nodes with at most 4 links a node" in out
    assert "cannot deadlock" in out
    for name in ("network.txt", "routes.parquet", "layout.svg", "distances.svg"):
        assert (tmp_path / "best" / name).exists()
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")
    assert main([*words[:7], "--families", "torus", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["networks"][0]["network"].startswith("torus")
