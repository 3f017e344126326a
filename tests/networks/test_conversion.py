"""Networks from and to NetworkX, and from edge-list files."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import FileFormatError, NetworkError
from gossamer.networks import from_networkx, parse, product, read_edge_list, ring, to_networkx

SPECS = ["ring:1", "torus:3x4", "array:5", "star:3", "fat-tree:k=2,h=3,capacity=1,2,3", "butterfly:2", "complete:1"]


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 7))
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph]))()
    graph.add_nodes_from(range(n))
    for u, v in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))):
        if u != v:
            graph.add_edge(u, v, capacity=draw(st.integers(1, 5)))
    return graph


@given(graphs())
@settings(deadline=None)
def test_networkx_edges_become_links_with_their_capacity(graph):
    net = from_networkx(graph, "mine")
    directed = graph.to_directed()
    assert {
        (int(u), int(v)): int(c) for u, v, c in zip(net.link_source, net.link_target, net.link_capacity, strict=True)
    } == {(u, v): c for u, v, c in directed.edges(data="capacity")}
    assert net.link_count == directed.number_of_edges()
    assert (net.spec, net.labels, net.links_only) == ("mine", None, True)


@given(graphs())
@settings(deadline=None)
def test_networkx_and_back_is_the_same_network(graph):
    net = from_networkx(graph)
    again = from_networkx(to_networkx(net))
    assert again == net
    assert again.spec == net.spec == "networkx graph"


@pytest.mark.parametrize("spec", SPECS)
def test_families_come_back_from_networkx_equal(spec):
    net = parse(spec)
    graph = to_networkx(net)
    assert graph.name == spec
    assert from_networkx(graph) == net
    if net.coordinates is not None:
        assert [graph.nodes[v]["coordinates"] for v in graph] == [net.node_name(v) for v in graph]
    assert [v for v in graph if graph.nodes[v]["terminal"]] == list(range(net.terminal_count))


def test_named_nodes_are_numbered_in_the_order_of_the_graph_and_keep_their_names():
    graph = nx.Graph([("c", "a"), ("a", "b")], name="three")
    net = from_networkx(graph)
    assert net.labels == ("c", "a", "b")
    assert net.spec == "three"
    assert net.link_target.tolist() == [1, 0, 2, 1]
    assert net.link_name(0) == "c->a"
    assert [to_networkx(net).nodes[v]["label"] for v in range(3)] == ["c", "a", "b"]
    assert from_networkx(nx.Graph([(1, 0)])).labels == ("1", "0")
    assert from_networkx(nx.florentine_families_graph()).labels[0] == "Acciaiuoli"


def test_nodes_that_only_pass_on_are_numbered_last():
    graph = nx.star_graph(3)
    graph.nodes[0]["terminal"] = False
    net = from_networkx(graph)
    assert net.labels == ("1", "2", "3", "0")
    assert net.terminal_count == 3
    assert net.link_target.tolist() == [3, 3, 3, 0, 1, 2]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph(), "graph 'networkx graph' has no nodes"),
        (nx.Graph([(0, 0)]), "graph 'networkx graph': node 0 has an edge to itself"),
        (
            nx.Graph([(0, 1, {"capacity": 0})]),
            r"edge 0 to 1: capacity must be a whole number in 1\.\.2147483647, got 0",
        ),
        (nx.Graph([(0, 1, {"capacity": 0.5})]), "edge 0 to 1: capacity must be a whole number, got 0.5"),
        (
            nx.Graph([(0, 1, {"capacity": 2.5})]),
            "edge 0 to 1: capacity .* got 2.5; multiply all capacities by",
        ),
        ([(0, 1)], r"from_networkx needs a NetworkX graph, got \[\(0, 1\)\]"),
    ],
)
def test_illegal_graphs_are_refused_in_one_line(graph, message):
    with pytest.raises(NetworkError, match=message) as caught:
        from_networkx(graph)
    assert "\n" not in str(caught.value)


def test_a_weight_that_looks_like_a_capacity_is_not_passed_over_in_silence():
    with pytest.warns(UserWarning, match="'weight' is not used; how many packets .* attribute 'capacity'") as caught:
        assert from_networkx(nx.Graph([(0, 1, {"weight": 3})])).uniform_capacity == 1
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert from_networkx(nx.Graph([(0, 1, {"weight": 3, "capacity": 2.0})])).uniform_capacity == 2


# -- edge lists ----------------------------------------------------------------------------------------------


@given(graphs())
@settings(deadline=None)
def test_edge_list_gives_the_network_of_the_graph(tmp_path_factory, graph):
    nodes = {v for edge in graph.edges for v in edge}
    if nodes != set(range(len(nodes))) or not nodes:
        return
    path = tmp_path_factory.mktemp("edges") / "graph.txt"
    path.write_text("".join(f"{u} {v} {c}\n" for u, v, c in graph.edges(data="capacity")))
    net = read_edge_list(path, directed=graph.is_directed())
    expected = from_networkx(graph.subgraph(sorted(nodes)))
    key = lambda n: sorted(zip(n.link_source.tolist(), n.link_target.tolist(), n.link_capacity.tolist(), strict=True))  # noqa: E731
    assert key(net) == key(expected)
    assert net.node_count == expected.node_count
    assert net.labels is None


def write(tmp_path, text):
    path = tmp_path / "net.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_comments_blank_lines_and_tabs(tmp_path):
    path = write(tmp_path, "# a triangle\n\n0\t1\n  1 2 # the second\n2 0 5\n")
    net = read_edge_list(path)
    assert net.link_source.tolist() == [0, 0, 1, 1, 2, 2]
    assert net.link_target.tolist() == [1, 2, 0, 2, 1, 0]
    assert net.link_capacity.tolist() == [1, 5, 1, 1, 1, 5]
    assert net.spec == f"edges:{path}"
    assert net.links_only


def test_directed_lines_are_one_link_each(tmp_path):
    path = write(tmp_path, "0 1\n1 2\n2 0\n1 0\n")
    net = read_edge_list(path, directed=True)
    assert list(zip(net.link_source, net.link_target, strict=True)) == [(0, 1), (1, 2), (1, 0), (2, 0)]
    assert parse(f"directed-edges:{path}") == net
    assert net.spec == f"directed-edges:{path}"


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("1 0\n", None),
        ("7 3\n3 10\n", ("3", "7", "10")),
        ("1 2\n2 3\n", ("1", "2", "3")),
        ("b a\na 0\n", ("b", "a", "0")),
        ("00 1\n1 0\n", ("00", "1", "0")),
        ("Zürich Genève\n", ("Zürich", "Genève")),
    ],
)
def test_names_are_numbers_where_they_can_be_and_labels_elsewhere(tmp_path, text, labels):
    net = read_edge_list(write(tmp_path, text))
    assert net.labels == labels
    assert net.node_count == (len(labels) if labels else 2)


def test_edges_spec_keeps_the_case_of_the_path_and_works_in_products(tmp_path):
    path = tmp_path / "Upper Case.TXT"
    path.write_text("0 1\n1 2\n")
    net = parse(f"edges:{path}")
    assert net.node_count == 3
    assert net.links_only
    both = parse(f"product:(EDGES:{path})x(ring:4)")
    assert both == product(net, ring(4))
    assert both.links_only


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has no edges"),
        ("# nothing\n\n", "the file has no edges"),
        ("0 1\n2\n", "line 2: expected 'u v' or 'u v capacity', got '2'"),
        ("0 1 1 1\n", "line 1: expected 'u v' or 'u v capacity', got '0 1 1 1'"),
        ("0 1\n\n1 1\n", "line 3: node '1' is joined to itself"),
        ("0 1\n1 2\n1 0\n", "line 3: edge '1' '0' is repeated"),
        ("0 1\n0 1 2\n", "line 2: edge '0' '1' is repeated"),
        ("0 1 0\n", r"line 1: capacity must be a whole number in 1\.\.2147483647, got '0'"),
        ("0 1 -3\n", r"line 1: capacity must be a whole number in 1\.\.2147483647, got '-3'"),
        ("0 1 2.5\n", "line 1: capacity must be a whole number, got '2.5'; multiply all capacities"),
        ("0 1 99999999999\n", "line 1: capacity must be a whole number .* got '99999999999'"),
    ],
)
def test_malformed_files_are_refused_with_the_line_number(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_edge_list(path)
    assert "\n" not in str(caught.value)
    assert "net.txt" in str(caught.value)


def test_repeated_directed_link_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="line 3: link '0' '1' is repeated"):
        read_edge_list(write(tmp_path, "0 1\n1 0\n0 1\n"), directed=True)


def test_unreadable_files_are_refused_in_one_line(tmp_path):
    binary = tmp_path / "binary"
    binary.write_bytes(np.arange(256, dtype=np.uint8).tobytes())
    cases = {
        tmp_path / "missing\nfile": "no such file",
        tmp_path: "it is a folder",
        binary: "not a UTF-8 text file",
        "null\0character": "null",
    }
    for path, message in cases.items():
        with pytest.raises(FileFormatError, match=message) as caught:
            read_edge_list(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileFormatError, match="no such file"):
        parse("edges:does/not/exist")


def test_repeated_edges_are_cables_where_the_list_says_so(tmp_path):
    path = tmp_path / "cables.edges"
    path.write_text("parallel\n0 1\n1 2\n1 0\n0 1 2\n")
    net = read_edge_list(path)
    assert (net.link_target.tolist(), net.link_capacity.tolist()) == ([1, 0, 2, 1], [4, 4, 1, 1])
    path.write_text("parallel\none-way\ncolumns source target bandwidth\n0 1 1GB/s\n0 1 1GB/s\n0 1 2GB/s\n1 0 1GB/s\n")
    assert read_edge_list(path).link_capacity.tolist() == [2, 1, 1]
    path.write_text("0 1\nparallel\n0 1\n")
    with pytest.raises(FileFormatError, match="line 2: a line 'parallel' must stand before the edges"):
        read_edge_list(path)
