"""Networks written to files and read again: equal, whatever their links are."""

from __future__ import annotations

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import FileFormatError
from gossamer.networks import (
    Network,
    Speeds,
    from_networkx,
    parse,
    read_edge_list,
    read_network,
    to_networkx,
    write_network,
)

SUFFIXES = (".edges", ".txt", ".json", ".graphml")
SPECS = ["torus:3x4", "kautz:2,3", "fat-tree:k=2,h=2,capacity=exponential", "complete:1", "array:4", "star:3"]

names = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=5), unique=True)


@st.composite
def networks(draw):
    """Any small network: one-way or not, parallel links, switches, speeds, slots, strange names."""
    n = draw(st.integers(2, 6))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    chosen = draw(st.lists(pairs, min_size=1, max_size=12))
    if draw(st.booleans()):
        chosen += [(v, u) for u, v in chosen]
    rate = st.sampled_from([5e10, 12.5e9, 1e9 / 3, 0.1])
    delay = st.sampled_from([0.0, 2e-6, 1e-9 / 3, 1.5])
    kinds = draw(st.sampled_from(["plain", "slots", "speeds", "both"]))
    links = {}
    for u, v in chosen:
        slots = (draw(st.integers(1, 3)), draw(st.integers(0, 2))) if kinds in ("slots", "both") else (1, 0)
        speed = (draw(rate), draw(delay)) if kinds in ("speeds", "both") else None
        links[u, v, slots, speed] = draw(st.integers(1, 3))
    rows = sorted(links, key=lambda key: key[0])
    speeds = [Speeds(*np.array([r[3] for r in rows]).T)] if kinds in ("speeds", "both") else []
    labels = draw(st.none() | names.filter(lambda x: len(x) >= n).map(lambda x: x[:n]))
    return Network(
        "mine",
        n,
        np.array([r[0] for r in rows], np.int32),
        np.array([r[1] for r in rows], np.int32),
        np.array([links[r] for r in rows], np.int32),
        link_occupancy=np.array([r[2][0] for r in rows], np.int32),
        link_latency=np.array([r[2][1] for r in rows], np.int32),
        terminal_count=draw(st.integers(1, n)),
        structures=speeds,
        labels=labels,
        links_only=True,
    )


@given(networks(), st.sampled_from([".edges", ".json"]))
@settings(deadline=None, max_examples=150)
def test_any_network_comes_back_equal(tmp_path_factory, network, suffix):
    path = tmp_path_factory.mktemp("written") / f"net{suffix}"
    write_network(network, path)
    again = read_network(path)
    assert again == network
    assert again.labels == network.labels
    assert again.terminal_count == network.terminal_count
    assert again.parallel == network.parallel


@given(networks())
@settings(deadline=None, max_examples=80)
def test_any_network_comes_back_from_networkx(network):
    again = from_networkx(to_networkx(network))
    assert again == network or network.parallel  # parallel links come back side by side
    assert (again.labels, again.link_count) == (network.labels, network.link_count)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("spec", SPECS)
def test_families_come_back_from_every_format(tmp_path, spec, suffix):
    path = tmp_path / f"net{suffix}"
    write_network(parse(spec), path)
    assert read_network(path) == parse(spec)
    assert list(tmp_path.iterdir()) == [path]


def test_an_edge_is_written_once_where_the_order_allows_it(tmp_path):
    path = tmp_path / "a.edges"
    text = "0 1\n2 3\n1 2\n3 0\n"
    net = read_edge_list(edges(tmp_path, text))
    write_network(net, path)
    lines = path.read_text().splitlines()
    assert lines[0] == f"# {net.spec}"
    assert len(lines) == 1 + 4
    assert read_network(path) == net
    write_network(parse("ring:4"), path)
    assert path.read_text().splitlines()[1] == "one-way"


def test_names_that_say_something_else_are_quoted(tmp_path):
    labels = ["switches", "3", 'a "b" # c', "x[0-3]", "-", "", "two words", "plain"]
    net = Network("x", 8, np.arange(7), np.arange(1, 8), labels=labels, links_only=True)
    path = tmp_path / "a.edges"
    write_network(net, path)
    assert read_network(path).labels == tuple(labels)


def test_dot_names_capacities_and_speeds(tmp_path):
    path = tmp_path / "a.dot"
    write_network(parse("array:2"), path)
    assert re.fullmatch(
        r'graph "array:2" \{\n(  . \[label="\(.\)", shape=circle\];\n){2}  0 -- 1;\n\}\n', path.read_text()
    )
    net = read_edge_list(
        edges(tmp_path, "columns source target capacity bandwidth latency\none-way\na b 2 50GB/s 2us\n")
    )
    write_network(net, path)
    assert '  0 -> 1 [label="2 x 50GB/s 2us"];\n' in path.read_text()


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"the suffix must be one of \.edges, \.txt, "):
        write_network(parse("ring:4"), tmp_path / "a.gml")
    with pytest.raises(FileFormatError, match="cannot write"):
        write_network(parse("ring:4"), tmp_path / "no" / "a.json")


# -- edge lists with a header ----------------------------------------------------------------------------------------


def edges(tmp_path, text):
    path = tmp_path / "net.edges"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_terminals_and_switches(tmp_path):
    text = """# speeds
    columns source target bandwidth latency capacity occupancy latency-slots
    terminals g[0-1]
    s g0 400Gbit/s 2us 3 2 5
    g1 s 50GB/s
    g0 s 25GB/s - 1
    """
    net = read_edge_list(edges(tmp_path, text))
    assert net.labels == ("g0", "g1", "s")
    assert net.terminal_count == 2
    speeds = net.find(Speeds)
    assert net.link_source.tolist() == [0, 0, 1, 2, 2, 2]
    assert speeds.bandwidth.tolist() == [5e10, 2.5e10, 5e10, 5e10, 5e10, 2.5e10]
    assert speeds.latency.tolist() == [2e-6, 0, 0, 2e-6, 0, 0]
    assert net.link_capacity.tolist() == [3, 1, 1, 3, 1, 1]
    assert net.link_occupancy.tolist() == [2, 1, 1, 2, 1, 1]
    assert net.link_latency.tolist() == [5, 0, 0, 5, 0, 0]
    assert net.parallel


def test_numbered_switches_keep_their_numbers_if_they_come_last(tmp_path):
    net = read_edge_list(edges(tmp_path, "switches 2\n2 0\n2 1\n"))
    assert (net.terminal_count, net.labels) == (2, None)
    net = read_edge_list(edges(tmp_path, "switches 0\n2 0\n0 1\n"))
    assert (net.terminal_count, net.labels) == (2, ("1", "2", "0"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns target source\n0 1\n", "line 1: columns must begin with 'source target'"),
        ("columns source target capacity capacity\n", "line 1: columns must .* name none twice"),
        ("columns source target bandwith\n", r"line 1: no column 'bandwith' \(did you mean 'bandwidth'\?\)"),
        ("columns source target\ncolumns source target\n", "line 2: the columns are given twice"),
        ("0 1\none-way\n", "line 2: a line 'one-way' must stand before the edges"),
        ("0 1\ncolumns source target\n", "line 2: a line 'columns' must stand before the edges"),
        ("columns source target\n0 1 1\n", "line 2: expected 'source target', got '0 1 1'"),
        ("terminals a\nswitches a\na b\n", "line 2: node 'a' is a terminal and a switch"),
        ("terminals a[1\na b\n", "line 1: brackets do not match"),
        ("switches a b\na b\n", "the file has no terminals"),
        ('"a b\n', "line 1: quotes do not match"),
        ('"a"b c\n', "line 1: quotes do not match"),
        ("columns source target bandwidth\n0 1 50\n", "line 2: bandwidth must have a unit, such as GB/s"),
        ("columns source target bandwidth\n0 1 fast\n", "line 2: bandwidth must be a rate above 0"),
        ("columns source target latency\n0 1 2\n", "line 2: latency must have a unit, such as us"),
        ("columns source target latency\n0 1 2us\n", "the link from '0' to '1' has no bandwidth, but it has a latency"),
        (
            "columns source target bandwidth\n0 1 1GB/s\n1 2\n",
            "from '1' to '2' has no bandwidth, but other links have one",
        ),
        ("columns source target occupancy\n0 1 0\n", r"line 2: occupancy must be a whole number in 1\.\."),
        ("columns source target latency-slots\n0 1 -1\n", r"line 2: latency_slots must be a whole number in 0\.\."),
        ("columns source target bandwidth\n0 1 1GB/s\n0 1 2GB/s\n0 1 1GB/s\n", "line 4: edge '0' '1' is repeated"),
    ],
)
def test_malformed_headers_are_refused_with_the_line_number(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        read_edge_list(edges(tmp_path, text))
    assert "\n" not in str(caught.value)


# -- multigraphs -----------------------------------------------------------------------------------------------------


def test_equal_parallel_edges_become_one_link_of_more_capacity():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2, {"capacity": 3}), (1, 2)])
    net = from_networkx(graph)
    assert net.link_capacity.tolist() == [2, 2, 4, 4]
    assert not net.parallel


def test_unequal_parallel_edges_stay_parallel_links():
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", bandwidth="50GB/s", latency=1e-6)
    graph.add_edge("a", "b", bandwidth=25e9)
    net = from_networkx(graph)
    assert net.parallel
    assert net.find(Speeds).bandwidth.tolist() == [5e10, 2.5e10]
    assert net.find(Speeds).latency.tolist() == [1e-6, 0.0]
