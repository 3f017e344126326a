"""Networks from graph files, and from whatever names one."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from gossamer.errors import FileFormatError, GossamerError, NetworkError
from gossamer.networks import Speeds, as_network, from_networkx, parse, read_edge_list, read_network, ring, to_networkx

DATA = Path(__file__).parents[2] / "data" / "networks"
SPECS = ["torus:3x4", "kautz:2,3", "fat-tree:k=2,h=2,capacity=exponential", "complete:1"]


def write_json(graph, path):
    path.write_text(json.dumps(nx.node_link_data(graph)))


WRITERS = {".graphml": nx.write_graphml, ".gml": nx.write_gml, ".json": write_json}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("spec", SPECS)
def test_a_network_comes_back_from_every_graph_format(tmp_path, spec, suffix):
    net = parse(spec)
    path = tmp_path / f"graph{suffix}"
    WRITERS[suffix](to_networkx(net), path)
    again = read_network(path)
    assert again == net
    assert again.labels is None
    assert again.links_only
    assert again.spec == str(path)


def test_node_link_json_of_older_networkx_calls_edges_links(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text('{"nodes": [{"id": "a"}, {"id": ["b", 1]}], "links": [{"source": "a", "target": ["b", 1]}]}')
    net = read_network(path)
    assert net.labels == ("a", "('b', 1)")
    assert net.link_count == 2


def test_edge_lists_are_directed_by_their_suffix(tmp_path):
    for name, directed in (("a.edges", False), ("a.txt", False), ("a.dedges", True)):
        path = tmp_path / name
        path.write_text("# a path\n0 1\n1 2 3\n")
        net = read_network(path)
        assert net == read_edge_list(path, directed=directed)
        assert net.link_count == (2 if directed else 4)
        assert parse(net.spec) == net


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.graphml", "<graphml", "not a GraphML file"),
        ("a.graphml", "", "the file is empty"),
        ("a.gml", "graph [", "not a GML file"),
        ("a.json", "{", "not a node-link graph in JSON"),
        ("a.json", "[]", "an object with lists 'nodes' and 'edges'"),
        ("a.json", '{"nodes": [1], "edges": []}', "not a node-link graph"),
        ("a.json", '{"nodes": [{"id": 0}]}', "not a node-link graph"),
        ("a.json", '{"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 1}]}', "an edge joins 0 and 1, which are"),
        ("a.json", '{"nodes": [{"id": {}}], "edges": []}', "not a node-link graph"),
        ("a.json", '{"nodes": [], "edges": []}', "has no nodes"),
        ("a.json", "[{},\n{", "line 2: not a node-link graph in JSON"),
        ("a.graphml", '<!DOCTYPE a [<!ENTITY b "c">]>\n<graphml/>', "line 1: entities are not read"),
        ("a.dot", "", "the suffix must be one of"),
        (
            "a.json",
            '{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}, {"source": 0, "target": 1}]}',
            "the edge from 0 to 1 is repeated, and it is no multigraph",
        ),
        ("a.png", "", "the suffix must be one of .edges, .txt, .dedges, .json, .graphml, .gml"),
    ],
)
def test_files_that_hold_no_network_are_refused_in_one_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(GossamerError, match=message) as caught:
        read_network(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_missing_and_binary_graph_files_are_refused(tmp_path):
    binary = tmp_path / "binary.json"
    binary.write_bytes(bytes(range(256)))
    for path, message in ((tmp_path / "none.json", "no such file"), (binary, "not a node-link graph")):
        with pytest.raises(FileFormatError, match=message):
            read_network(path)


def test_whatever_names_a_network_becomes_one(tmp_path):
    path = tmp_path / "ring.edges"
    path.write_text("0 1\n1 2\n2 0\n")
    net = ring(5)
    assert as_network(net) is net
    assert as_network("ring:5") == net
    assert as_network(nx.DiGraph([(0, 1), (1, 0)])) == from_networkx(nx.Graph([(0, 1)]))
    assert as_network(path) == as_network(str(path)) == as_network(f"edges:{path}")


def test_a_text_that_names_a_family_is_a_spec_whatever_its_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("links.dedges").write_text("0 1\n1 0\n1 2\n")
    assert as_network("directed-edges:links.dedges").link_count == 3
    with pytest.raises(NetworkError, match="unknown network family 'links'"):
        as_network("links")


@pytest.mark.parametrize("value", [None, 8, [(0, 1)], object])
def test_what_names_no_network_is_refused_in_one_line(value):
    with pytest.raises(NetworkError, match=r"a network is a spec such as 'torus:8x8', a Network, .* got") as caught:
        as_network(value)
    assert "\n" not in str(caught.value)


# -- samples written from the formats' definitions ---------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".dedges", ".graphml", ".json", ".gml"])
def test_the_samples_of_all_formats_are_one_network(suffix):
    """Defaults of keys, texts and numbers for speeds, parallel edges, truth values as each format has them."""
    net, same = (read_network(DATA / f"leaf_spine{s}") for s in (suffix, ".edges"))
    assert net == same
    assert (net.labels, net.terminal_count) == (("h0", "h1", "h2", "h3", "r0", "r1", "s0", "s1"), 4)
    assert not net.parallel
    two = [i for i in range(net.link_count) if net.link_capacity[i] == 2]
    assert sorted(net.link_name(i) for i in two) == ["r1->s1", "s1->r1"]
    speeds = net.find(Speeds)
    assert [(speeds.bandwidth[i], speeds.latency[i]) for i in two] == [(5e10, 1.5e-6)] * 2


@pytest.mark.parametrize(
    ("suffix", "old", "new", "message"),
    [
        (".graphml", "100Gbit/s", "fast", "edge 'h0' to 'r0': bandwidth must be a rate above 0 .* got 'fast'"),
        (".graphml", ">1e-6<", ">-1<", "edge 'h0' to 'r0': latency must be a time"),
        (".graphml", ">2<", ">0<", "edge 'r1' to 's1': capacity must be a whole number"),
        (".graphml", ">2<", ">two<", "not a GraphML file .*'two'"),
        (".graphml", 'source="h0"', 'source="x"', "line 18: an edge joins 'x', which is no node of the file"),
        (".graphml", 'source="h0" ', "", "line 18: an edge has no 'source'"),
        (".graphml", 'id="h1"', 'id="h0"', "line 11: node 'h0' is there twice"),
        (".graphml", "</data></edge>", "</edge>", "line 18: not a GraphML file .mismatched tag"),
        (".graphml", "false", "maybe", "not a GraphML file .'maybe'"),
        (".graphml", 'key="k3"', 'key="k9"', "no key k9"),
        (".gml", "100Gbit/s", "100", "edge 'h0' to 'r0': bandwidth must have a unit"),
        (".gml", "source 0", "source 9", "edge #0 has undefined source 9"),
        (".gml", "id 1", "id 0", "node id 0 is duplicated"),
        (".gml", "  multigraph 1\n", "", "edge #8 .5--7. is duplicated"),
        (".gml", "terminal 0", 'terminal "no"', "node 'r0': terminal must be true or false, got 'no'"),
        (".json", "12.5e9", '"fast"', "edge 'h0' to 'r0': bandwidth must be"),
        (".json", '"target": "r0"', '"target": "h0"', "edge 'h0' to 'h0': node 'h0' is joined to itself"),
        (".json", '"target": "r0"', '"goal": "r0"', "edge 0, counted from 0, has no 'source' and 'target'"),
        (".json", '"terminal": false', '"terminal": "no"', "node 'r0': terminal must be true or false, got 'no'"),
        (".json", '"directed": false', '"directed": "yes"', "'directed' must be true or false, got 'yes'"),
        (".json", '"multigraph": true', '"multigraph": false', "from 'r1' to 's1' is repeated"),
        (".json", '"id": "h1"', '"id": "h0"', "a node is there twice"),
        (".dedges", "r0 h0 1", "h0 r0 1", "line 5: link 'h0' 'r0' is repeated"),
        (".edges", "s1 2", "s1 0", "line 12: capacity must be a whole number"),
        (".edges", "400Gbit/s", "400Gbit", "line 9: bandwidth must be a rate"),
    ],
)
def test_a_slip_in_a_sample_is_refused_with_its_place(tmp_path, suffix, old, new, message):
    path, text = tmp_path / f"slip{suffix}", (DATA / f"leaf_spine{suffix}").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(GossamerError, match=message) as caught:
        read_network(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
