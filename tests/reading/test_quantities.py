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
        ("500 nsec", "5e-7"), ("2usec", "2e-6"), ("3 seconds", "3"), ("1 microsecond", "1e-6"), ("1min", "60"),
        ("1hr", "3600"),
        ("0", "0"), (7, "7"), (0.1, "0.1"), (0, "0"), (Fraction(1, 3), "1/3"), (" 1s ", "1"),
    ],
)  # fmt: skip
def test_durations(value, seconds):
    assert duration(value, "latency") == Fraction(seconds)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("4096", 4096), ("4096 B", 4096), ("64kB", 64_000), ("64KiB", 65_536), ("1MiB", 2**20), ("1.5 MB", 1_500_000),
        ("2GB", 2 * 10**9), ("1TiB", 2**40), ("1G", 2**30), ("64M", 2**26), ("64k", 2**16), ("64K", 2**16),
        ("1gib", 2**30), ("0.5KiB", 512), (0, 0), (17, 17), (2.0, 2), ("1e3kB", 10**6),
        ("1gb", 10**9), ("1KB", 1000), ("1kb", 1000), ("1Mi", 2**20), ("8 bytes", 8), ("1 byte", 1), ("2 mib", 2**21),
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
        ("50 GBps", 50 * 10**9), ("50GB / s", 50 * 10**9), ("50GB/sec", 50 * 10**9), ("50Gbit/second", "6.25e9"),
        ("2 gbit/s", "2.5e8"), ("50Gbits/s", "6.25e9"), ("1 Gbyte/s", 10**9), ("10 gbytes/s", 10**10),
        ("9kb/s", 1125), ("8bps", 1),
        ("100Mbps", "1.25e7"), ("50gB/s", 50 * 10**9), ("50Gib/s", str(50 * 2**30 // 8)), ("50GB/S", 50 * 10**9),
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


@pytest.mark.parametrize(
    "value", [*WRONG, "1.5 B", "1/3 kB", 0.5, "2s", "2GB/s", "2Gbit", "1Gb", "1MIb", "8 bits", "1 GB GB"], ids=str
)
def test_no_size(value):
    with pytest.raises(ModelError, match=r"^size must "):
        size(value, "size")


@pytest.mark.parametrize("value", [*WRONG, "0", "0GB/s", 0, "2GB", "2Gbit", "1e9", "2 GB/m", "B/s", "G/s/s"], ids=str)
def test_no_bandwidth(value):
    with pytest.raises(ModelError, match=r"^bandwidth must "):
        bandwidth(value, "bandwidth")


@pytest.mark.parametrize(
    ("read", "value", "text"),
    [
        (bandwidth, "50", "must have a unit, such as GB/s or Gbit/s, got '50' (did you mean '50GB/s'?)"),
        (bandwidth, "5e10", "must have a unit, such as GB/s or Gbit/s, got '5e10' (did you mean '50GB/s'?)"),
        (bandwidth, "50gb/s", "'50gb/s' is 50GB/s or 50Gbit/s: say which (did you mean '50GB/s'?)"),
        (bandwidth, "50 gbps", "'50 gbps' is 50GB/s or 50Gbit/s: say which (did you mean '50GB/s'?)"),
        (bandwidth, "50GBPS", "'50GBPS' is 50GB/s or 50Gbit/s: say which (did you mean '50GB/s'?)"),
        (bandwidth, "8mib/s", "'8mib/s' is 8MiB/s or 8Mibit/s: say which (did you mean '8MiB/s'?)"),
        (bandwidth, "400G", "'400G' is 400GB/s or 400Gbit/s: say which (did you mean '400Gbit/s'?)"),
        (bandwidth, "25k/s", "'25k/s' is 25kB/s or 25kbit/s: say which (did you mean '25kbit/s'?)"),
        (bandwidth, "50GB", "must be a rate, and '50GB' is an amount (did you mean '50GB/s'?)"),
        (bandwidth, "50Gb", "must be a rate, and '50Gb' is an amount (did you mean '50Gbit/s'?)"),
        (duration, "2", "must have a unit, such as us, ms or s, got '2' (did you mean '2us'?)"),
        (duration, "2e-7", "must have a unit, such as us, ms or s, got '2e-7' (did you mean '200ns'?)"),
        (size, "1Gb", "must be in bytes, B, and '1Gb' says bits (did you mean '1GB'?)"),
        (size, "64 Mbit", "must be in bytes, B, and '64 Mbit' says bits (did you mean '64MB'?)"),
    ],
)
def test_what_was_probably_meant_is_said_and_is_read(read, value, text):
    with pytest.raises(ModelError) as refused:
        read(value, "it")
    assert str(refused.value) == f"it {text}"
    assert read(text.rpartition("did you mean '")[2].partition("'")[0], "it") > 0


@pytest.mark.parametrize("unit", ["GB/s", "Gbit/s", "kB", "us", "gb", "Mi", "", "b", "/s", "ps", "Bps/s", "µs", "\0"])
@pytest.mark.parametrize(
    "number", ["1", "1e9", "-1", "1/3", ".5", "1.", "1e-400", "nan", "inf", "0x1", "1,5", "١", "--2"]
)
def test_hostile_texts_are_read_or_refused_in_a_line(number, unit):
    for read in (bandwidth, duration, size):
        for text in (number + unit, f" {number} {unit} ", number + unit.upper()):
            refused = None
            try:
                found = read(text, "it")
            except ModelError as error:
                refused = str(error)
            assert found >= 0 if refused is None else refused.startswith("it ") and "\n" not in refused


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
