"""What a network is told to be: against NetworkX, by hand, and on the command line."""

from __future__ import annotations

import itertools
import json

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.networks import from_networkx, parse, read_network, to_networkx
from gossamer.networks.bottleneck import bottleneck
from gossamer.networks.description import automorphism_count, node_kinds

DATA = "tests/data/networks/"


@pytest.mark.parametrize(
    "spec", ["torus:3x4", "array:2x5", "kautz:2,3", "star:4", "fat-tree:k=2,h=2,capacity=constant"]
)
def test_distances_are_those_of_networkx(spec):
    net = parse(spec)
    told = gossamer.describe(net)
    graph = to_networkx(net)
    assert told.diameter == nx.diameter(graph)
    pairs = itertools.permutations(range(net.terminal_count), 2)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    assert told.mean_distance == pytest.approx(np.mean([lengths[u][v] for u, v in pairs]))
    assert (told.connected, told.exact) == (True, True)


def narrowest(network):
    """Return the least price of a cut over all sets of nodes."""
    n, t = network.node_count, network.terminal_count
    prices = []
    for chosen in range(1, 2**n - 1):
        side = np.array([chosen >> i & 1 for i in range(n)], bool)
        inside = int(side[:t].sum())
        out = network.link_capacity[side[network.link_source] & ~side[network.link_target]].sum()
        if 0 < inside < t:
            prices.append(out / (inside * (t - inside)))
    return min(prices)


@pytest.mark.parametrize(
    "spec",
    ["ring:8", "array:3x3", "torus:3x4", "complete:5", "star:3", "fat-tree:k=2,h=2,capacity=constant", "kautz:2,2"],
)
def test_the_bottleneck_of_small_networks_is_the_narrowest_cut(spec):
    net = parse(spec)
    cut = bottleneck(net)
    assert cut.capacity / (cut.inside * cut.outside) == pytest.approx(narrowest(net))
    assert cut.inside <= cut.outside
    assert cut.inside + cut.outside == net.terminal_count


def test_the_bottleneck_of_two_rooms_is_the_door():
    net = from_networkx(nx.barbell_graph(6, 0))
    cut = bottleneck(net)
    assert (cut.links, cut.inside, cut.outside) == (1, 6, 6)
    assert sorted(cut.nodes.tolist()) in ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11])
    assert bottleneck(parse("complete:1")) is None


def test_the_bottleneck_is_told_in_bytes():
    cut = bottleneck(read_network(DATA + "two_servers.edges"))
    assert cut.bandwidth == 8 * 50e9
    assert (cut.inside, cut.outside, cut.links) == (8, 8, 8)


@pytest.mark.parametrize(
    "spec", ["array:3x4", "torus:3x4", "star:4", "fat-tree:k=2,h=3,capacity=1,2,2", "de-bruijn:2,3"]
)
def test_kinds_of_nodes_are_never_finer_than_the_orbits(spec):
    net = parse(spec)
    kinds = node_kinds(net)
    graph = to_networkx(net)
    for u, v in itertools.combinations(range(min(net.node_count, 9)), 2):
        if kinds[u] != kinds[v]:
            one, other = graph.copy(), graph.copy()
            one.nodes[u]["terminal"] = other.nodes[v]["terminal"] = "marked"
            assert (
                not nx.vf2pp_is_isomorphic(nx.Graph(one), nx.Graph(other), node_label="terminal") or graph.is_directed()
            )


@pytest.mark.symmetry
@pytest.mark.parametrize(("spec", "count"), [("ring:7", 14), ("hypercube:3", 48), ("complete:5", 120), ("array:4", 2)])
def test_automorphisms_are_counted_where_igraph_is_installed(spec, count):
    pytest.importorskip("igraph", reason="needs the extra 'symmetry' (igraph)")
    assert automorphism_count(parse(spec)) == count
    assert f"{count} automorphisms" in gossamer.describe(spec).symmetry


def test_what_failed_is_set_beside_the_sound_network():
    told = gossamer.describe(parse("torus:4x4").without(links=[(0, 1)]))
    assert told.sound.network.spec == "torus:4x4"
    assert told.to_dict()["sound"]["links"] == 64
    assert told.sound.cut.links == 8
    assert told.cut.links == 7


def test_a_network_in_parts_is_told_to_be_so():
    told = gossamer.describe(parse("array:3").without(links=[(0, 1)]))
    assert (told.connected, told.diameter) == (False, None)
    assert dict(told.rows())["distances"].startswith("not connected")


# -- the command line ------------------------------------------------------------------------------------------------


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_network_tells_what_a_file_is(capsys):
    status, out, _ = run(capsys, "network", DATA + "two_servers.edges")
    assert status == 0
    for text in (
        "26 nodes: 16 terminals, 10 switches",
        "300 GB/s after 500 ns: 32 links; 50 GB/s after 2 us: 32 links",
        "8 links, 400 GB/s each way between 8 and 8 terminals",
        "diameter 4",
    ):
        assert text in out
    status, out, _ = run(capsys, "network", DATA + "machine.ranks", "--json")
    assert json.loads(out)["structure"] == "torus:3x4, with its nodes renumbered"


def test_network_converts_and_draws(capsys, tmp_path):
    files = [tmp_path / f"a.{suffix}" for suffix in ("edges", "graphml", "json", "dot", "svg")]
    words = [word for file in files for word in ("-o", file)]
    status, out, _ = run(capsys, "network", DATA + "fabric.ibnet", *words)
    assert status == 0
    assert out.count("wrote") == 5
    net = read_network(DATA + "fabric.ibnet")
    assert read_network(files[0]) == read_network(files[2]) == net
    assert "narrowest" in files[4].read_text()
    status, _, err = run(capsys, "network", "torus:4x4", "-o", tmp_path / "a.gml")
    assert (status, err.count("\n")) == (2, 1)
    assert "a network is .edges, .txt, .dedges" in err or "a network is .edges, .txt, .json" in err


def test_network_without_what_fails(capsys):
    status, out, _ = run(capsys, "network", "ring:6", "--without", "random-links:1", "--seed", "3")
    assert status == 0
    assert "sound structure   ring:6, as it is named" in out
    assert "sound nodes" not in out
    assert "structure         array:6, with its nodes renumbered" in out


def test_a_network_too_large_to_be_seen_is_not_drawn(tmp_path):
    from gossamer.plots.network import draw_network

    with pytest.raises(FileFormatError, match="a network of 10,000 nodes is not drawn"):
        draw_network(parse("torus:100x100"), tmp_path / "a.svg")


def test_a_hierarchy_with_a_name_is_told_by_its_name_and_its_tiers():
    told = gossamer.describe("fat-tree:4,3").structure
    assert told.startswith("fat-tree:k=4,h=3,capacity=constant, as it is named: 4 pods of 4 leaf groups of 4 terminals")
