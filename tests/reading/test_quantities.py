"""Durations, sizes and bandwidths: exact, in every unit, and one line for what is none."""

from fractions import Fraction

import pytest

from gossamer.errors import ModelError, TaskError
from gossamer.reading.quantities import bandwidth, duration, inches, size


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2us", "2e-6"), ("2 µs", "2e-6"), ("2μs", "2e-6"), ("1.5 ms", "0.0015"), ("3ns", "3e-9"), ("10ps", "1e-11"),
        ("30s", "30"), ("1/3 s", "1/3"), ("2min", "120"), ("0.5h", "1800"), ("2e-9s", "2e-9"), ("1e3 ns", "1e-6"),
        ("7", "7"), (7, "7"), (0.1, "0.1"), (0, "0"), (Fraction(1, 3), "1/3"), (" 1s ", "1"),
    ],
)  # fmt: skip
def test_durations(value, seconds):
    assert duration(value, "latency") == Fraction(seconds)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("4096", 4096), ("4096 B", 4096), ("64kB", 64_000), ("64KiB", 65_536), ("1MiB", 2**20), ("1.5 MB", 1_500_000),
        ("2GB", 2 * 10**9), ("1TiB", 2**40), ("0.5KiB", 512), (0, 0), (17, 17), (2.0, 2), ("1e3kB", 10**6),
    ],
)  # fmt: skip
def test_sizes(value, count):
    found = size(value, "size")
    assert found == count
    assert type(found) is int


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        ("400Gbit/s", 50 * 10**9), ("400 Gb/s", 50 * 10**9), ("400Gbps", 50 * 10**9), ("50GB/s", 50 * 10**9),
        ("1KiB/s", 1024), ("1 bit/s", "1/8"), ("8Mibit/s", 2**20), ("12.5kB/s", 12_500), (5, 5), (0.5, "1/2"),
    ],
)  # fmt: skip
def test_bandwidths(value, rate):
    assert bandwidth(value, "bandwidth") == Fraction(rate)


WRONG = ["", " ", "x", "us", "2 parsecs", "-1", "-1s", "1e999999999s", "9" * 5000, "1 s s", "1/0s", None, True, 1e300]


@pytest.mark.parametrize("value", [*WRONG, "2GB", "2 US"], ids=str)
def test_no_duration(value):
    with pytest.raises(TaskError, match=r"^latency must ") as refused:
        duration(value, "latency", error=TaskError)
    assert len(str(refused.value)) < 130


@pytest.mark.parametrize("value", [*WRONG, "1.5 B", "1/3 kB", 0.5, "2s", "2GB/s", "2Gbit"], ids=str)
def test_no_size(value):
    with pytest.raises(ModelError, match=r"^size must "):
        size(value, "size")


@pytest.mark.parametrize("value", [*WRONG, "0", "0GB/s", 0, "2GB", "2 gbit/s", "2Gbit"], ids=str)
def test_no_bandwidth(value):
    with pytest.raises(ModelError, match=r"^bandwidth must "):
        bandwidth(value, "bandwidth")


def test_what_is_allowed_is_said():
    with pytest.raises(ModelError) as refused:
        duration("2 parsecs", "latency")
    assert str(refused.value) == "latency must be a time such as 2us, 1.5 ms or 30s, got '2 parsecs'"


@pytest.mark.parametrize(("value", "length"), [("3.3in", 3.3), ("254 mm", 10), ("5.08cm", 2), ("72pt", 1), (4, 4)])
def test_inches(value, length):
    assert inches(value, "width") == pytest.approx(length)


@pytest.mark.parametrize("value", ["", "x", "-1in", "3 feet", None, "1e999in"], ids=str)
def test_no_length(value):
    with pytest.raises(ModelError, match=r"^width must "):
        inches(value, "width")
