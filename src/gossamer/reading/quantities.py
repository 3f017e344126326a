"""Quantities with units: durations in seconds, sizes in bytes, bandwidths in bytes a second, lengths in inches."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from gossamer.errors import GossamerError, ModelError, TaskError, shown
from gossamer.reading.values import fraction, whole_text

__all__ = [
    "LEAST_LOAD",
    "Bytes",
    "Duration",
    "Rate",
    "bandwidth",
    "duration",
    "fractions",
    "inches",
    "nodes",
    "size",
    "sizes",
]

Bytes = int
"""A size in bytes, given as `size` reads it."""
Rate = Fraction
"""A bandwidth in bytes a second, given as `bandwidth` reads it."""
Duration = Fraction
"""A time in seconds, given as `duration` reads it."""

_SECONDS = {
    "ps": Fraction(1, 10**12), "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600),
}  # fmt: skip
_SAID_SECONDS = {
    "psec": "ps", "nsec": "ns", "usec": "us", "µsec": "us", "μsec": "us", "msec": "ms", "sec": "s", "secs": "s",
    "picosecond": "ps", "nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "minute": "min",
    "hour": "h", "hr": "h",
}  # fmt: skip
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40, "pi": 2**50}
_FACTORS = _DECIMAL | _BINARY
_INCHES = {"in": Fraction(1), "mm": Fraction(5, 127), "cm": Fraction(50, 127), "pt": Fraction(1, 72)}
_FORM = re.compile(r"([-+0-9./]+(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9].*)?")
_UNIT = re.compile(
    r"(?P<prefix>[kmgtp]i?)?(?:(?P<word>bit|byte)s?|(?P<letter>b))?(?P<per>/s|/sec|/second|ps)?", re.IGNORECASE
)
_TIME = "a time such as 2us, 1.5 ms or 30s"
_SIZE = "a whole number of bytes such as 4096, 64kB or 1MiB"
_RATE = "a rate above 0 such as 50GB/s or 400Gbit/s"


def duration(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> Fraction:
    """Return a time in seconds, 0 or more: a number of seconds, or a text with a unit from ps to h.

    A text needs its unit, unless it is 0: nobody knows what ``"2"`` is, and few mean seconds.

    >>> duration("1.5 us", "latency"), duration(2, "latency"), duration("500 nsec", "latency")
    (Fraction(3, 2000000), Fraction(2, 1), Fraction(1, 2000000))
    >>> duration("2", "latency")
    Traceback (most recent call last):
    gossamer.errors.ModelError: latency must have a unit, such as us, ms or s, got '2' (did you mean '2us'?)
    """
    if not isinstance(value, str):
        return fraction(value, name, allowed=_TIME, error=error)
    number, unit = _parts(value, name, _TIME, error)
    word = unit if unit in _SECONDS else _SAID_SECONDS.get(unit if unit in _SAID_SECONDS else unit.removesuffix("s"))
    if not unit and number:
        meant = f"{value.strip()}us" if number >= Fraction(1, 100) else _in_unit(number, _SECONDS, "us ns ps")
        raise error(f"{name} must have a unit, such as us, ms or s, got {shown(value)} (did you mean {meant!r}?)")
    if word is None and unit:
        raise error(f"{name} must be {_TIME}, got {shown(value)}")
    return number * _SECONDS[word or "s"]


def size(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> int:
    """Return a whole number of bytes, 0 or more: a number, or a text with a unit; kB is 1000 bytes and KiB is 1024.

    A prefix alone, as in ``64M``, counts in powers of 1024, as in the tests of NCCL and the tools of GNU. Prefixes may
    be of either case. A lower-case ``b`` after an upper-case prefix would be bits, and is refused.

    >>> size("1MiB", "size"), size("1.5 kB", "size"), size("64k", "size"), size("1gb", "size")
    (1048576, 1500, 65536, 1000000000)
    >>> size("1Gb", "size")
    Traceback (most recent call last):
    gossamer.errors.ModelError: size must be in bytes, B, and '1Gb' says bits (did you mean '1GB'?)
    """
    if not isinstance(value, str):
        found = fraction(value, name, allowed=_SIZE, error=error)
    else:
        number, unit = _parts(value, name, _SIZE, error)
        form = _UNIT.fullmatch(unit)
        if form is None or form["per"]:
            raise error(f"{name} must be {_SIZE}, got {shown(value)}")
        prefix, letter = form["prefix"] or "", form["letter"]
        if (form["word"] or "").lower() == "bit" or (letter == "b" and prefix[:1].isupper()):
            meant = f"{value.strip()[: -len(unit)].strip()}{prefix}B"
            raise error(f"{name} must be in bytes, B, and {shown(value)} says bits (did you mean {meant!r}?)")
        alone = prefix and not letter and not form["word"] and len(prefix) == 1
        found = number * (_BINARY[f"{prefix.lower()}i"] if alone else _FACTORS[prefix.lower()])
    if found.denominator != 1:
        raise error(f"{name} must be {_SIZE}, got {shown(value)}")
    return int(found)


def inches(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> float:
    """Return a length in inches: a number of inches, or a text with a unit: in, mm, cm or pt (of 1/72 inch).

    >>> inches("3.3in", "width"), inches("240 pt", "width")
    (3.3, 3.3333333333333335)
    """
    allowed = "a length such as 3.3in, 84mm or 240pt"
    if not isinstance(value, str):
        return float(fraction(value, name, allowed=allowed, error=error))
    number, unit = _parts(value, name, allowed, error)
    if unit and unit not in _INCHES:
        raise error(f"{name} must be {allowed}, got {shown(value)}")
    return float(number * _INCHES[unit or "in"])


def bandwidth(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> Fraction:
    """Return a rate in bytes a second, above 0: a number, or a text with a unit of bytes (B) or bits (bit, b) a second.

    ``/s`` and ``ps`` are the same, ``bit`` and ``byte`` may be written out, and prefixes may be of either case. Of the
    letter alone, ``B`` is bytes and ``b`` is bits, as long as the case of the unit says so: a unit all in lower case
    with a prefix that is usually written large (``gb/s``, ``gbps``), or all in upper case (``GBPS``), is refused with
    both readings, and so is a prefix alone (``400G``). A text needs its unit.

    >>> bandwidth("400Gbit/s", "bandwidth"), bandwidth("50GB/s", "bandwidth"), bandwidth("50 GBps", "bandwidth")
    (Fraction(50000000000, 1), Fraction(50000000000, 1), Fraction(50000000000, 1))
    >>> bandwidth("50gb/s", "bandwidth")
    Traceback (most recent call last):
    gossamer.errors.ModelError: bandwidth '50gb/s' is 50GB/s or 50Gbit/s: say which (did you mean '50GB/s'?)
    """
    if not isinstance(value, str):
        found = fraction(value, name, allowed=_RATE, error=error)
        if not found:
            raise error(f"{name} must be {_RATE}, got {shown(value)}")
        return found
    number, unit = _parts(value, name, _RATE, error)
    form = _UNIT.fullmatch(re.sub(r"\s*/\s*", "/", unit))
    if form is None or not number:
        raise error(f"{name} must be {_RATE}, got {shown(value)}")
    digits = value.strip()[: len(value.strip()) - len(unit)].strip()
    prefix, word, letter = form["prefix"] or "", (form["word"] or "").lower(), form["letter"]
    if not (word or letter):
        if prefix:
            written = _written(prefix)
            raise error(_both(name, value, f"{digits}{written}B/s", f"{digits}{written}bit/s", link=True))
        meant = f"{digits}GB/s" if number < 10**6 else _in_unit(number, _RATES, "TB/s GB/s MB/s")
        text = "must have a unit, such as GB/s or Gbit/s"
        raise error(f"{name} {text}, got {shown(value)} (did you mean {meant!r}?)")
    if form["per"] is None:
        in_bits = word == "bit" or (letter == "b" and prefix != prefix.lower())
        meant = f"{digits}{_written(prefix)}{'bit' if in_bits else 'B'}/s"
        raise error(f"{name} must be a rate, and {shown(value)} is an amount (did you mean {meant!r}?)")
    cased = unit.replace("/", "").replace(" ", "")
    if letter and prefix and prefix != "k" and (cased.islower() or (cased.isupper() and form["per"] == "PS")):
        written = _written(prefix)
        raise error(_both(name, value, f"{digits}{written}B/s", f"{digits}{written}bit/s"))
    bits = word == "bit" or letter == "b"
    return number * Fraction(_FACTORS[prefix.lower()], 8 if bits else 1)


_RATES = {"TB/s": Fraction(10**12), "GB/s": Fraction(10**9), "MB/s": Fraction(10**6)}


def _both(name: str, value: str, in_bytes: str, in_bits: str, *, link: bool = False) -> str:
    """Return the message about a rate that may be one of two."""
    first = in_bits if link else in_bytes
    return f"{name} {shown(value)} is {in_bytes} or {in_bits}: say which (did you mean {first!r}?)"


def _written(prefix: str) -> str:
    """Return a prefix as it is usually written."""
    large = prefix[:1].upper() if prefix.lower() != "k" else "k"
    return f"{large}{prefix[1:].lower()}"


def _in_unit(number: Fraction, units: dict[str, Fraction], names: str) -> str:
    """Return a number in the first unit of some in which it is at least 1."""
    unit = next((u for u in names.split() if number >= units[u]), names.split()[-1])
    return f"{float(number / units[unit]):.6g}{unit}"


def _parts(value: str, name: str, allowed: str, error: type[GossamerError]) -> tuple[Fraction, str]:
    """Return the number at the beginning of a text, and the unit behind it, empty if there is none."""
    form = _FORM.fullmatch(value.strip()) if len(value) <= 300 else None
    if form is None:
        raise error(f"{name} must be {allowed}, got {shown(value)}")
    return fraction(form[1], name, allowed=allowed, error=error), form[2] or ""


# Ranges and lists: several numbers in one word, ``0.1:0.9:0.2``, ``0.1,0.5,0.9`` or ``0 2 5-7``.

LEAST_LOAD = Fraction(1, 10**6)
"""The smallest load that is simulated: with rarer requests, times lose their last digits in floats."""

_MOST = 10_000


def fractions(
    text: str, name: str, least: Fraction | int = 0, *, error: type[GossamerError] = ModelError
) -> list[Fraction]:
    """Return the exact numbers that a text names.

    * `text` (str): a number, several separated by commas, or ``first:last:step``, the last one included if a step hits
      it.
    * `name` (str): what messages call them, in the plural.
    * `least` (Fraction): the smallest that is allowed.
    * `error` (type): the class of what is raised.

    Raises `GossamerError`: of class `error`: if the text is of no such form, a number is too small, or there would be
    over 10,000.

    >>> [str(x) for x in fractions("0.1:0.35:0.1", "loads")], fractions("1,3", "loads")
    (['1/10', '1/5', '3/10'], [Fraction(1, 1), Fraction(3, 1)])
    >>> fractions("0.5:0.1:0.1", "loads")
    Traceback (most recent call last):
    gossamer.errors.ModelError: loads: the range '0.5:0.1:0.1' is empty; it must be first:last:step, with a step above 0
    """

    def one(word: str) -> Fraction:
        example = "such as 0.5, or 0.1,0.5,0.9, or first:last:step such as 0.1:0.9:0.2"
        return fraction(word, name, least, allowed=f"numbers of at least {float(least):g}, {example}", error=error)

    words = text.split(":")
    if len(words) != 3:
        words = text.split(",")
        _check_count(len(words), text, name, error)
        return [one(word) for word in words]
    first, last, step = map(one, words)
    if step <= 0 or last < first:
        raise error(f"{name}: the range {shown(text)} is empty; it must be first:last:step, with a step above 0")
    count = int((last - first) // step) + 1
    _check_count(count, text, name, error)
    return [first + i * step for i in range(count)]


def sizes(text: str, name: str, *, error: type[GossamerError] = ModelError) -> list[int]:
    """Return the sizes in bytes that a text names: several, or ``first:last[:factor]``, each that many times the last.

    A range may also be written ``first..last``.

    >>> sizes("1KiB:64KiB", "sizes"), sizes("1kB,2kB", "sizes"), sizes("1:9:2", "sizes")
    ([1024, 4096, 16384, 65536], [1000, 2000], [1, 2, 4, 8])
    """
    words = text.replace("..", ":").split(":")
    if len(words) == 1:
        listed = text.split(",")
        _check_count(len(listed), text, name, error)
        return [size(word, name, error=error) for word in listed]
    if len(words) > 3:
        raise error(f"{name}: {shown(text)} must be sizes such as 1KiB,1MiB, or first:last[:factor]")
    first, last = (size(word, name, error=error) for word in words[:2])
    factor = whole_text(words[2], f"the factor of {name}", 2, 10**6, error=error) if len(words) == 3 else 4
    if not 1 <= first <= last:
        raise error(f"{name}: the range {shown(text)} is empty; it must be first:last[:factor], with first at least 1")
    found = [first]
    while found[-1] * factor <= last:
        found.append(found[-1] * factor)
    return found


def _check_count(count: int, text: str, name: str, error: type[GossamerError]) -> None:
    if count > _MOST:
        raise error(f"{name}: {shown(text)} names over {_MOST:,} numbers")


_NODES = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


def nodes(
    text: str,
    where: str,
    count: int,
    *,
    what: str = "",
    allowed: str = "node number or range such as 0-7",
    form_error: type[GossamerError] = TaskError,
) -> list[int]:
    """Return the nodes that a text lists, separated by blanks: numbers, and ranges such as ``5-7``.

    * `text` (str): the list.
    * `where` (str): where it stands, for messages.
    * `count` (int): number of nodes, all of which are below.
    * `what` (str): what messages call the nodes.
    * `allowed` (str): what a word may be.
    * `form_error` (type): the class of what is raised where a word is neither.

    Raises `GossamerError`: of class `form_error`: if a word is no number or range, or a range is empty. Raises
    `TaskError` if a node is `count` or more.

    >>> nodes("0 5-7 2", "here", 8)
    [0, 5, 6, 7, 2]
    """
    found: list[int] = []
    for word in text.split():
        form = _NODES.fullmatch(word)
        if form is None:
            raise form_error(f"{where}: {what}{' ' * bool(what)}{shown(word)} is no {allowed}")
        low, high = int(form[1]), int(form[2] or form[1])
        if high < low:
            raise form_error(f"{where}: {what}{': ' * bool(what)}the range {word} is empty")
        if high >= count:
            raise TaskError(f"{where}: {what or 'node'} {high} is outside 0..{count - 1}")
        found += range(low, high + 1)
    return found
