"""Edge lists that only list edges: read as arrays, they are the networks that they are line by line."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.errors import FileFormatError, NetworkError
from gossamer.networks import read_edge_list
from gossamer.networks.files import edge_list
from gossamer.networks.files.edge_list import plain_edges

NAMES = st.sampled_from(["0", "1", "2", "3", "10", "01", "-1", "a", "b", "node12345", "x" * 70, "port", "n[0-3]", "é"])
ENDS = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "  # said\n", "#\n", "\n# a line\n", ' # "quoted"\n', "\f\n"])
THIRD = st.sampled_from(["", " 1", " 7", "\t2", " 0", " -", " 007", " 2147483648", " 1.0"])
LINES = st.lists(st.tuples(NAMES, NAMES, THIRD, ENDS), max_size=8)


def told(path, directed, monkeypatch=None):
    with pytest.MonkeyPatch.context() as patch:
        if monkeypatch is not None:
            patch.setattr(edge_list, "plain_edges", lambda data, statements: None)
        try:
            net = read_edge_list(path, directed=directed)
        except (FileFormatError, NetworkError) as error:
            return str(error)
    ends = net.link_source.tolist(), net.link_target.tolist(), net.link_capacity.tolist()
    return net.spec, net.node_count, net.terminal_count, net.labels, ends


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("plain") / "x.edges"


@given(LINES, st.booleans(), st.booleans(), st.booleans())
@example([("1", "0", "", "\n"), ("2", "1", "", "\n"), ("0", "1", "", "\n")], False, True, True)
@example([("a", "a", "", "\n")], True, True, True)
@settings(deadline=None, max_examples=400)
def test_arrays_and_lines_give_the_same(file, lines, directed, thirds, at_end):
    text = "# a graph\n" + "".join(f"{u} {v}{c if thirds else ''}{end}" for u, v, c, end in lines)
    file.write_text(text if at_end else text.rstrip("\n"), encoding="utf-8", newline="")
    assert told(file, directed) == told(file, directed, True)


@pytest.mark.parametrize(("nodes", "width"), [(300, 4), (70_000, 8), (300, 20)])
def test_names_of_every_width_keep_their_order(nodes, width, file):
    rng = np.random.default_rng(nodes + width)
    ends = rng.permutation(nodes).reshape(-1, 2)
    data = "".join(f"{u:0{width - 1}d}x {v}\n" if width == 20 else f"{u} {v}\n" for u, v in ends.tolist()).encode()
    found = plain_edges(data)
    assert found is not None
    assert found.letters.dtype.itemsize == width
    words, names = data.decode().split(), found.names()
    assert names == list(dict.fromkeys(words))
    assert [names[i] for i in np.stack([found.source, found.target], 1).ravel().tolist()] == words
    assert (found.numbers() is None) == (width == 20)


def test_a_fault_at_the_end_is_told_with_its_line(file):
    file.write_text("".join(f"{i} {i + 1}  # edge\n\n" for i in range(5000)) + "17 16\n")
    with pytest.raises(FileFormatError, match=r"line 10001: edge '17' '16' is repeated"):
        read_edge_list(file)


def test_lines_that_say_more_are_refused_when_they_would_take_too_much(file):
    file.write_bytes(b"columns source target bandwidth\n" + b"1 2 3GB/s\n" * 900_000)
    with pytest.raises(FileFormatError, match="would take about 558 MB, too much for its 9 MB"):
        read_edge_list(file)
