"""Active sets from text, .npy and Matrix Market files, and one clear line for every file that is not one."""

from __future__ import annotations

import bz2
import gzip
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import FileFormatError, GossamerError, TaskError
from gossamer.reading.files import guarded
from gossamer.reading.node_lists import named_nodes, named_numbers, read_destinations, read_nodes, read_numbers

BANNER = b"%%MatrixMarket matrix coordinate "
REAL = BANNER + b"real general\n"


def refused(kind, function, *given, **named):
    """Return the message of the error that `function` must raise: of `kind`, one line, of a length one can read."""
    with pytest.raises(kind) as caught:
        function(*given, **named)
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 400
    return text


def npy(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


@pytest.fixture
def file(tmp_path):
    """Write content to a file of the given name and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# text


@pytest.mark.parametrize(
    "text",
    [
        "2 5 7",
        "7,5,2",
        "7\n5\n2\n",
        "# none\n2, 5  # two\n\n7",
        "2\t5 ,7,",
        "\ufeff2 5 7",
        "2\r\n5\r\n7\r\n",
        "+2 05 7",
    ],
)
def test_text_is_separated_by_spaces_commas_or_lines(file, text):
    assert read_nodes(file("a.txt", text)) == (2, 5, 7)


@settings(max_examples=30)
@given(st.sets(st.integers(0, 10**6), min_size=1), st.randoms())
def test_every_set_is_read_back_from_text_and_npy(tmp_path_factory, nodes, random):
    folder = tmp_path_factory.mktemp("sets")
    shuffled = random.sample(sorted(nodes), len(nodes))
    (folder / "a.txt").write_text("\n".join(map(str, shuffled)))
    np.save(folder / "a.npy", np.array(shuffled))
    assert read_nodes(folder / "a.txt") == read_nodes(folder / "a.npy") == tuple(sorted(nodes))


def test_a_word_that_is_no_number_is_named_with_its_line(file):
    text = refused(FileFormatError, read_nodes, file("a.txt", "1 2\n3 four 5\n"))
    assert "line 2" in text
    assert "'four'" in text


@pytest.mark.parametrize("word", ["1.5", "1e3", "1_000", "--5", "0x3", "nan", "٣", "9" * 5000, "x" * 100_000, "\0\1"])
def test_only_whole_numbers_are_numbers(file, word):
    assert "line 1" in refused(FileFormatError, read_nodes, file("a.txt", word))


def test_line_numbers_count_newlines_only(file):
    assert "line 2:" in refused(FileFormatError, read_nodes, file("a.txt", "1\x0c 2\x1c 3\u2028 4\nfive"))


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", " , ,"])
def test_a_file_without_numbers_names_no_active_node(file, text):
    assert "no active node" in refused(TaskError, read_nodes, file("a.txt", text))


def test_a_duplicate_is_named(file):
    assert "node 7 twice" in refused(TaskError, read_nodes, file("a.txt", "3 7 1 7 2"))


def test_a_duplicate_among_a_million_nodes_is_found_at_once(file):
    nodes = np.concatenate([np.arange(10**6), [123_456]])
    assert "node 123456 twice" in refused(TaskError, read_nodes, file("a.npy", npy(nodes)))


def test_a_negative_node_is_named(file):
    assert "node -3" in refused(TaskError, read_nodes, file("a.txt", "3 -3 1"))


def test_destinations_may_be_negative_repeated_and_absent(file):
    assert read_numbers(file("d.txt", "3 -1 -1 0")) == [3, -1, -1, 0]
    assert read_numbers(file("d.npy", npy(np.array([3, -1, 0])))) == [3, -1, 0]
    assert read_numbers(file("e.txt", "")) == []


# files that are none


@pytest.mark.parametrize("name", ["a.txt", "a.npy", "a.mtx", "a.mtx.gz"])
@pytest.mark.parametrize("read", [read_nodes, read_numbers])
def test_a_missing_file_is_named(tmp_path, read, name):
    text = refused(FileFormatError, read, tmp_path / name)
    assert text.startswith("no such file")
    assert name in text


@pytest.mark.parametrize("name", ["a.txt", "a.npy", "a.mtx", "a.mtx.gz"])
def test_a_folder_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    assert name in refused(FileFormatError, read_nodes, tmp_path / name)


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    refused(FileFormatError, read_nodes, tmp_path / ("x" * 5000))
    refused(FileFormatError, read_nodes, "a\0b")


@pytest.mark.parametrize("name", ["a.txt", "a.npy", "a.mtx", "a.mtx.gz", "a.mtx.bz2"])
@settings(max_examples=40)
@given(junk=st.binary(max_size=300))
def test_junk_is_never_more_than_one_line(tmp_path_factory, name, junk):
    path = tmp_path_factory.mktemp("junk") / name
    path.write_bytes(junk)
    message = ""
    try:
        nodes = read_nodes(path)
    except GossamerError as error:
        message = str(error)
    assert "\n" not in message
    assert message or nodes


def test_binary_is_no_text_of_node_numbers(file):
    assert "text file" in refused(FileFormatError, read_nodes, file("a.txt", bytes(range(256))))
    assert "text file" in refused(FileFormatError, read_nodes, file("a.txt", "1 2 3".encode("utf-16")))


# .npy


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, ">i4"])
def test_npy_of_any_integer_type_is_read(file, dtype):
    assert read_nodes(file("a.npy", npy(np.array([5, 2, 7], dtype)))) == (2, 5, 7)


def test_upper_case_names_are_of_the_same_kind(file):
    assert read_nodes(file("A.NPY", npy(np.array([5, 2])))) == (2, 5)
    assert read_nodes(file("A.MTX", REAL + b"3 3 1\n1 2 1\n")) == (1,)


def test_a_boolean_mask_marks_the_active_nodes(file):
    path = file("a.npy", npy(np.array([False, True, False, True])))
    assert read_nodes(path) == read_nodes(path, 4) == (1, 3)
    assert named_nodes(str(path), 4) == (1, 3)


def test_a_mask_must_be_as_long_as_the_network(file):
    path = file("a.npy", npy(np.array([True] * 5)))
    text = refused(TaskError, named_nodes, str(path), 4)
    assert "5" in text
    assert "4" in text


def test_a_mask_that_marks_nothing_names_no_active_node(file):
    assert "no active node" in refused(TaskError, read_nodes, file("a.npy", npy(np.zeros(4, bool))))
    assert "no active node" in refused(TaskError, read_nodes, file("a.npy", npy(np.zeros(0, int))))


def test_a_mask_gives_no_destinations(file):
    assert "booleans" in refused(FileFormatError, read_numbers, file("a.npy", npy(np.array([True]))))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([1.0, 2.0]), ["float64"]),
        (np.array([1 + 2j]), ["complex128"]),
        (np.array(["1"]), ["<U1"]),
        (np.array(3), ["0 dimensions"]),
        (np.eye(3, dtype=int), ["int64", "2 dimensions"]),
    ],
)
def test_arrays_of_another_type_or_shape_are_refused(file, array, words):
    text = refused(FileFormatError, read_nodes, file("a.npy", npy(array)))
    assert all(word in text for word in ["one-dimensional", *words])


WHOLE = npy(np.arange(5))


@pytest.mark.parametrize(
    "content",
    [
        *[WHOLE[:size] for size in (0, 3, 7, 9, 20, 127, 130, len(WHOLE) - 1)],
        npy(np.array([{}], object), allow_pickle=True),
        b"\x80\x04K\x01.",  # a pickle
        b"PK\x05\x06" + bytes(18),  # an empty .npz
        b"PK\x03\x04 a broken one",
        WHOLE.replace(b"(5,)", b"(-1)"),
        WHOLE.replace(b"(5,), }", b"(5000, "),
        WHOLE.replace(b"(5,), }" + b" " * 4, b"(5, True),}"),
        WHOLE.replace(b"(5,), }" + b" " * 16, b"(99999999999999999,), }"),
        WHOLE.replace(b"<i8", b"<q9"),
        WHOLE.replace(b"descr", b"des\xffr"),
        b"\x93NUMPY\x09" + WHOLE[7:],
        b"1 2 3",
    ],
)
@pytest.mark.parametrize("read", [read_nodes, read_numbers])
def test_broken_npy_is_refused(file, read, content):
    assert content != WHOLE
    assert "a.npy" in refused(FileFormatError, read, file("a.npy", content))


# Matrix Market


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (BANNER + b"pattern general\n4 5 3\n1 2\n3 2\n4 5\n", (1, 4)),
        (BANNER + b"real general\n4 5 2\n1 2 0.5\n3 4 -1e-300\n", (1, 3)),
        (BANNER + b"integer general\n% a comment\n4 5 2\n1 2 7\n3 4 -1\n", (1, 3)),
        (BANNER + b"complex general\n4 5 3\n1 2 0 1\n3 4 0 0\n1 5 1 0\n", (1, 4)),
        (BANNER + b"real general\n4 5 3\n1 2 0\n1 3 0.0\n2 4 1\n", (3,)),
        (BANNER + b"real general\n4 5 3\n1 2 1\n1 2 -1\n2 4 1\n", (3,)),  # entries of one place add up
        (BANNER + b"real symmetric\n4 4 1\n3 2 1\n", (1, 2)),
        (BANNER + b"real general\n4 5 1\n1 2 nan\n", (1,)),
        (b"%%MatrixMarket matrix array real general\n2 3\n0\n0\n0\n4\n5\n0\n", (1, 2)),
    ],
)
def test_the_nonempty_columns_of_a_matrix_are_active(file, content, columns):
    assert read_nodes(file("a.mtx", content)) == columns
    assert read_nodes(file("a.mtx.gz", gzip.compress(content))) == columns
    assert read_nodes(file("a.mtx.bz2", bz2.compress(content))) == columns


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 0.2), st.integers(0, 2**32 - 1))
def test_matrices_written_by_scipy_give_their_nonempty_columns(tmp_path_factory, rows, columns, density, seed):
    matrix = scipy.sparse.coo_array(np.random.default_rng(seed).random((rows, columns)) < density, dtype=float)
    path = tmp_path_factory.mktemp("mtx") / "a.mtx"
    scipy.io.mmwrite(path, matrix)
    expected = tuple(np.flatnonzero(abs(matrix.toarray()).sum(axis=0)).tolist())
    if expected:
        assert read_nodes(path) == expected
    else:
        refused(TaskError, read_nodes, path)


@pytest.mark.parametrize(
    "content",
    [REAL + b"4 5 0\n", REAL + b"4 5 1\n1 1 0\n", REAL + b"0 0 0\n"]
    + [b"%%MatrixMarket matrix array real general\n" + sides + b"\n" for sides in (b"0 0", b"0 5", b"5 0")],
)
def test_a_matrix_of_empty_columns_names_no_active_node(file, content):
    assert "no active node" in refused(TaskError, read_nodes, file("a.mtx", content))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1 2 3",
        bytes(range(256)),
        BANNER,
        REAL,
        REAL + b"3 3 2\n1 1 1.0\n",
        REAL + b"3 3 1\n1 9 1.0\n",
        REAL + b"3 3 1\n0 1 1.0\n",
        REAL + b"3 3 1\n1 x 1.0\n",
        REAL + b"3 3 1\n1 1 one\n",
        REAL + b"-3 3 1\n1 1 1\n",
        REAL + b"1000000000000 1000000000000 1000000000000000\n1 1 1\n",
        BANNER + b"integer general\n3 3 1\n1 2 123456789012345678901234567890\n",
        BANNER + b"imaginary general\n3 3 1\n1 2 1\n",
        b"%%MatrixMarket vector coordinate real general\n5 1\n1 1.0\n",
        b"%%MatrixMarket matrix array real general\n1000000 1000000000\n1\n",
    ],
)
def test_broken_matrix_market_is_refused(file, content):
    assert "a.mtx" in refused(FileFormatError, read_nodes, file("a.mtx", content))
    assert "a.mtx.gz" in refused(FileFormatError, read_nodes, file("a.mtx.gz", gzip.compress(content)))


def test_broken_compression_is_refused(file):
    whole = REAL + b"3 3 1\n1 2 1.0\n"
    for name, pressed in (("a.mtx.gz", gzip.compress(whole)), ("a.mtx.bz2", bz2.compress(whole))):
        flipped = bytearray(pressed)
        flipped[-15] ^= 255
        for content in (pressed[:-12], pressed[:3], bytes(flipped), whole):
            assert name in refused(FileFormatError, read_nodes, file(name, content))


# words of the command line


@pytest.mark.parametrize(
    ("word", "nodes"),
    [
        ("all", (0, 1, 2, 3)),
        ("3", (3,)),
        (" 3, 0 ", (0, 3)),
        ("3 0", (0, 3)),
        ("3,0,", (0, 3)),
        ("random:4", (0, 1, 2, 3)),
        ("9,-1", (-1, 9)),  # the task knows the range, and says so
        ("2,2", (2, 2)),
    ],
)
def test_words_name_nodes(word, nodes):
    assert named_nodes(word, 4) == nodes


@given(st.integers(1, 500), st.data())
def test_random_draws_that_many_different_nodes_and_the_same_again(node_count, data):
    count = data.draw(st.integers(1, node_count))
    drawn = named_nodes(f"random:{count}", node_count, seed=3)
    assert len(set(drawn)) == count
    assert drawn == tuple(sorted(drawn)) == named_nodes(f"random:{count}", node_count, seed=3)
    assert 0 <= drawn[0] <= drawn[-1] < node_count


def test_other_seeds_draw_other_nodes():
    assert named_nodes("random:10", 10_000, seed=1) != named_nodes("random:10", 10_000, seed=2)


@pytest.mark.parametrize("count", ["", "0", "5", "-1", "x", "1.5", "9" * 6000, "²"])
def test_random_needs_a_number_of_nodes_in_range(count):
    assert "1..4" in refused(TaskError, named_nodes, f"random:{count}", 4)


def test_the_empty_word_is_refused():
    assert "random:M" in refused(TaskError, named_nodes, "  ", 4)


@pytest.mark.parametrize("word", ["radom:3", "--5", "1;2", "1-3", "1.5", "nowhere.txt", "9" * 6000])
def test_other_words_are_files_and_the_error_says_what_else_is_allowed(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(FileFormatError, named_nodes, word, 4)
    if len(word) < 200:
        assert "random:M" in refused(FileFormatError, named_nodes, word, 4)


def test_a_file_whose_name_is_a_number_needs_a_folder(file, monkeypatch, tmp_path):
    file("5", "1 2")
    monkeypatch.chdir(tmp_path)
    assert named_nodes("5", 8) == (5,)
    assert named_nodes("./5", 8) == (1, 2)


def test_errors_of_files_reach_the_command_line_unchanged(file):
    assert "line 1" in refused(FileFormatError, named_nodes, str(file("a.txt", "x")), 4)


# destinations


@pytest.mark.parametrize(
    ("name", "content", "single"),
    [
        ("in-turn.txt", "3, -1 0\n-1  # the last", [3, -1, 0, -1]),
        ("one-a-line.txt", "3\n-1\n0\n-1\n", [3, -1, 0, -1]),
        ("by-source.txt", "# source: destination\n2: 0\n0 :3\n3: -1\n", [3, -1, 0, -1]),
        ("array.npy", npy(np.array([3, -1, 0, -1])), [3, -1, 0, -1]),
    ],
)
def test_destinations_in_turn_or_by_source(file, name, content, single):
    assert read_destinations(file(name, content), 4) == single


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a-line-a-node.txt", "3 1\n-1\n0\n\n# the last\n-1\n"),
        ("by-source.txt", "2: 0\n0: 3, 1\n"),
    ],
)
def test_destination_sets_a_line_a_node_or_by_source(file, name, content):
    assert read_destinations(file(name, content), 4, sets=True) == [[3, 1], [], [0], []]


def test_destination_sets_of_an_array_have_one_each(file):
    path = file("array.npy", npy(np.array([3, -1, 0])))
    assert read_destinations(path, 3, sets=True) == [[3], [], [0]]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("1: 2\n1: 3\n", "line 2: node 1 sends a second message, after that of line 1"),
        ("1: 2\n4: 3\n", "line 2: source 4 is outside 0..3"),
        ("1: 2 3\n", "line 1: node 1 sends to 2 nodes; a permutation has one for each source"),
        ("1: 2\n3 0\n", "line 2: '3 0' is not of the form 'source: destination'"),
        ("1: 2\n3:\n", "line 2: '3:' is not of the form 'source: destination'"),
        ("1 2: 3\n", "line 1: '1 2: 3' is not of the form 'source: destination'"),
        ("1: 2: 3\n", "line 1: '2:' is not a node number"),
        ("1: two\n", "line 1: 'two' is not a node number"),
    ],
)
def test_destinations_that_are_refused_name_line_and_node(file, content, told):
    path = file("destinations.txt", content)
    assert told in refused(GossamerError, read_destinations, path, 4)


def test_missing_destinations(tmp_path):
    assert "no such file" in refused(FileFormatError, read_destinations, tmp_path / "none.txt", 4)


def test_a_file_that_memory_does_not_hold_is_refused(tmp_path):
    told = r"cannot read '.*x.npy': it holds more than fits in memory"
    with pytest.raises(FileFormatError, match=told), guarded(tmp_path / "x.npy"):
        raise MemoryError


def test_numbers_in_a_word_or_in_the_file_that_it_names(file):
    assert named_numbers(" 2,0 1 ") == [2, 0, 1]
    assert named_numbers(str(file("x.txt", "3 4"))) == [3, 4]
