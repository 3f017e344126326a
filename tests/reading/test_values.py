"""Single values: what is accepted, what is refused, and that refusing takes no time."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gossamer.errors import ModelError, TaskError, shown
from gossamer.reading import choice, fraction, number, seed, whole, whole_text

HUGE = 10**5000


def kind(value):
    """Name a case by its type: pytest would print all the digits."""
    return type(value).__name__


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_become_ints(value):
    found = whole(value, "n")
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize(
    ("value", "given"),
    [
        (-1, "-1"), (8, "8"), (True, "True"), (2.0, "2.0"), ("3", "'3'"), (None, "None"),
        (2**64, "18446744073709551616"), (HUGE, "an integer of thousands of digits"),
    ],
    ids=kind,
)  # fmt: skip
def test_what_is_no_whole_number_of_the_range_is_named(value, given):
    with pytest.raises(TaskError) as refused:
        whole(value, "n", 0, 7, error=TaskError)
    assert str(refused.value) == f"n must be a whole number in 0..7, got {given}"


def test_a_whole_number_without_an_end():
    assert whole(10**40, "n", 1, None) == 10**40
    with pytest.raises(ModelError, match=r"^n must be a whole number of at least 1, got 0$"):
        whole(0, "n", 1, None)
    with pytest.raises(ModelError, match=r"^n must be even, got 0$"):
        whole(0, "n", 1, allowed="even")


@pytest.mark.parametrize(("text", "value"), [("7", 7), (" +7 ", 7), ("-2", -2), ("0" * 400 + "5", 5)])
def test_whole_numbers_in_text(text, value):
    assert whole_text(text, "n", -5) == value


@pytest.mark.parametrize(
    "text", ["", "x", "1.5", "1e3", "1_0", "٣", "9" * 100_000, "2147483648", "-6", "0x7"], ids=kind
)
def test_texts_of_no_whole_number(text):
    with pytest.raises(ModelError, match=r"^n must be a whole number in -5\.\.2147483647, got ") as refused:
        whole_text(text, "n", -5)
    assert len(str(refused.value)) < 130


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, "3"), (np.int32(3), "3"), (0.1, "1/10"), (np.float32(0.1), "1/10"), (np.float64(0.1), "1/10"),
        (Decimal("1e-7"), "1/10000000"), (Fraction(2, 6), "1/3"), (" 1/10 ", "1/10"), ("2.5e-9", "1/400000000"),
        (".5", "1/2"), ("2.", "2"), ("1e18", str(10**18)), ("1E+00002", "100"),
    ],
)  # fmt: skip
def test_fractions_are_exact(value, exact):
    found = fraction(value, "time")
    assert found == Fraction(exact)
    assert type(found.numerator) is type(found.denominator) is int


@pytest.mark.parametrize(
    "value",
    [
        "", "x", "1/0", "1//2", "1/2.5", "nan", "inf", "1e", "0x1", "1_000", None, True, [1], -1, "-1/2", Fraction(-1),
        float("nan"), float("inf"), Decimal("sNaN"), 1j,
    ],
)  # fmt: skip
def test_what_is_no_number_of_at_least_zero(value):
    allowed = re.escape("time must be a number that is 0 or more, such as 100 or 1/10, got ")
    with pytest.raises(ModelError, match=f"^{allowed}"):
        fraction(value, "time")


@pytest.mark.parametrize(
    "value",
    [
        "1e-999999999", "1e999999999", "1e5000", "-1e5000", "1e-99", "1e51", 1e300, 5e-324, HUGE, Fraction(1, HUGE),
        "9" * 5000, "0." + "1" * 1_000_000, "1/" + "3" * 5000, "1e" + "9" * 100_000, Decimal("1e999999999"),
    ],
    ids=kind,
)  # fmt: skip
def test_numbers_of_many_digits_are_refused_at_once(value):
    with pytest.raises(ModelError, match=r"^time must have at most 50 digits, got ") as refused:
        fraction(value, "time")
    assert len(str(refused.value)) < 110


def test_a_fraction_of_a_range():
    assert fraction("1", "share", 0, 1) == 1
    with pytest.raises(ModelError, match=r"^share must be a number in \[0, 1\], got '1.01'$"):
        fraction("1.01", "share", 0, 1)
    with pytest.raises(TaskError, match=r"^share must be a part, got 2$"):
        fraction(2, "share", 0, 1, allowed="a part", error=TaskError)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({}, ""), ({"least": 0}, " of at least 0"), ({"least": 0, "most": 1}, " in 0..1"), ({"above": 0}, " above 0"),
        ({"above": 0, "most": 8}, " above 0 and at most 8"), ({"most": 8}, " at most 8"),
    ],
)  # fmt: skip
def test_numbers_say_what_is_allowed(limits, text):
    assert number(np.float32(0.5), "x", **limits) == 0.5
    for value in ("0.5", None, True, float("nan"), float("inf"), HUGE, Decimal("sNaN")):
        with pytest.raises(ModelError, match=f"^x must be a number{re.escape(text)}, got "):
            number(value, "x", **limits)


@pytest.mark.parametrize(
    ("value", "limits"), [(0, {"above": 0}), (-0.1, {"least": 0}), (1.1, {"most": 1}), (9, {"above": 0, "most": 8})]
)
def test_numbers_out_of_range(value, limits):
    with pytest.raises(ModelError, match=f"got {value}$"):
        number(value, "x", **limits)


def test_seeds():
    assert seed(np.int64(7)) == 7
    assert seed(2**63 - 1) == 2**63 - 1
    for wrong in (-1, 2**63, 2**64, 1.5, True, None):
        with pytest.raises(TaskError, match=r"^seed must be a whole number in 0\.\.9223372036854775807, got "):
            seed(wrong, error=TaskError)


def test_choices():
    assert choice("one", "ports", ("all", "one")) == "one"
    assert choice("one", "ports", ("one",)) == "one"
    for wrong, told in (
        ("un", "ports must be 'all', 'one' or 'one-send', got 'un'"),
        ("ONE", "ports must be 'all', 'one' or 'one-send', got 'ONE' (did you mean 'one'?)"),
        (1, "ports must be 'all', 'one' or 'one-send', got 1"),
        (HUGE, "ports must be 'all', 'one' or 'one-send', got an integer of thousands of digits"),
    ):
        with pytest.raises(ModelError) as refused:
            choice(wrong, "ports", ("all", "one", "one-send"))
        assert str(refused.value) == told
    with pytest.raises(ModelError) as refused:
        choice(np.arange(3), "ports", ("all",))
    assert str(refused.value) == "ports must be 'all', got array([0, 1, 2])"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\x1b[31m\n", r"'a\x1b[31m\n'"), ("\udcff", r"'\udcff'"), ("x" * 10**7, "'" + "x" * 55 + " ..."),
        ([1, 2], "[1, 2]"), (np.eye(2), "array([[1., 0.], [0., 1.]])"),
    ],
    ids=kind,
)  # fmt: skip
def test_what_was_given_is_shown_on_one_line(value, text):
    assert shown(value) == text
