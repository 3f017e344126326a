"""Several numbers in one word: lists and ranges, exact, and of a bounded count."""

from fractions import Fraction

import pytest

from gossamer.errors import ModelError, TaskError
from gossamer.reading.quantities import fractions, nodes, sizes


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.5", ["1/2"]), (" 0.1, 0.9 ", ["1/10", "9/10"]), ("3,1,3", ["3", "1", "3"]), ("1/3", ["1/3"]),
        ("0.1:0.3:0.1", ["1/10", "1/5", "3/10"]), ("0.1:0.29:0.1", ["1/10", "1/5"]), ("2:2:1", ["2"]),
        ("1/3:1:1/3", ["1/3", "2/3", "1"]), ("1e-6:1e-6:9", ["1e-6"]),
    ],
)  # fmt: skip
def test_fractions(text, numbers):
    assert fractions(text, "loads") == [Fraction(n) for n in numbers]


@pytest.mark.parametrize(
    "text",
    ["", " ", ",", "1,", "a", "nan", "1:2", "1:2:3:4", "1:2:x", "1:2:3,4", "-1", "0.5,-1", "9" * 10_000, ":" * 10_000],
    ids=range(14),
)
def test_what_names_no_numbers(text):
    with pytest.raises(TaskError, match=r"^loads must ") as refused:
        fractions(text, "loads", error=TaskError)
    assert len(str(refused.value)) < 220


@pytest.mark.parametrize("text", ["5:1:1", "1:5:0"])
def test_empty_ranges(text):
    with pytest.raises(ModelError, match=rf"^loads: the range '{text}' is empty; it must be first:last:step"):
        fractions(text, "loads")


@pytest.mark.parametrize("text", ["0:10000:1", "0:2000000000:1", "1" + ",1" * 10_000], ids=range(3))
def test_too_many_numbers(text):
    with pytest.raises(ModelError, match=r" names over 10,000 numbers$"):
        fractions(text, "loads")
    assert len(fractions("1:10000:1", "loads")) == 10_000


def test_the_smallest_number_is_said():
    with pytest.raises(ModelError, match=r"^loads must be numbers of at least 0.5, such as .* got '0.49'$"):
        fractions("0.5,0.49", "loads", Fraction(1, 2))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1KiB", [1024]), ("1kB,2MB", [1000, 2_000_000]), ("1KiB:20KiB", [1024, 4096, 16384]), ("1:9:2", [1, 2, 4, 8]),
        ("5:5", [5]), ("1:1000000000000000000:1000000", [1, 10**6, 10**12, 10**18]),
    ],
)  # fmt: skip
def test_sizes_are_listed_or_multiplied(text, numbers):
    assert sizes(text, "sizes") == numbers


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "sizes must be"), ("1,x", "sizes must be"), ("1:2:3:4", "must be sizes such as 1KiB,1MiB, or first:last"),
        ("8:4", "the range '8:4' is empty"), ("0:4", "with first at least 1"), ("1:4:1", "the factor of sizes must be"),
        ("1:4:x", "the factor of sizes must be"), ("1" + ",1" * 10_000, "names over 10,000 numbers"),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_names_no_sizes(text, told):
    with pytest.raises(TaskError) as refused:
        sizes(text, "sizes", error=TaskError)
    assert told in str(refused.value)
    assert len(str(refused.value)) < 220


def test_nodes_are_listed_one_by_one_and_in_ranges():
    assert nodes("3 0-2 7", "here", 8) == [3, 0, 1, 2, 7]
    assert nodes(" ", "here", 8) == []


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("1 x", ModelError, "here: origin 'x' is no node"), ("1-", ModelError, "here: origin '1-' is no node"),
        ("5-2", ModelError, "here: origin: the range 5-2 is empty"),
        ("0-8", TaskError, "here: origin 8 is outside 0..7"),
    ],
)  # fmt: skip
def test_what_names_no_nodes(text, error, told):
    with pytest.raises(error) as refused:
        nodes(text, "here", 8, what="origin", allowed="node", form_error=ModelError)
    assert str(refused.value) == told
