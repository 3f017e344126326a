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
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_BYTES = {f"{prefix}B": Fraction(factor) for prefix, factor in (_DECIMAL | _BINARY).items()}
_RATES = {f"{unit}/s": factor for unit, factor in _BYTES.items()} | {
    f"{prefix}{bit}": Fraction(factor, 8)
    for prefix, factor in (_DECIMAL | _BINARY).items()
    for bit in ("bit/s", "b/s", "bps")
}
_INCHES = {"in": Fraction(1), "mm": Fraction(5, 127), "cm": Fraction(50, 127), "pt": Fraction(1, 72)}
_FORM = re.compile(r"([-+0-9./]+(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9]\S*)?")


def duration(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> Fraction:
    """Return a time in seconds, 0 or more: a number of seconds, or a text with a unit from ps to h.

    >>> duration("1.5 us", "latency"), duration(2, "latency")
    (Fraction(3, 2000000), Fraction(2, 1))
    """
    return _quantity(value, name, _SECONDS, "a time such as 2us, 1.5 ms or 30s", error)


def size(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> int:
    """Return a whole number of bytes, 0 or more: a number, or a text with a unit; kB is 1000 bytes and KiB is 1024.

    >>> size("1MiB", "size"), size("1.5 kB", "size")
    (1048576, 1500)
    """
    allowed = "a whole number of bytes such as 4096, 64kB or 1MiB"
    found = _quantity(value, name, _BYTES, allowed, error)
    if found.denominator != 1:
        raise error(f"{name} must be {allowed}, got {shown(value)}")
    return int(found)


def inches(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> float:
    """Return a length in inches: a number of inches, or a text with a unit: in, mm, cm or pt (of 1/72 inch).

    >>> inches("3.3in", "width"), inches("240 pt", "width")
    (3.3, 3.3333333333333335)
    """
    return float(_quantity(value, name, _INCHES, "a length such as 3.3in, 84mm or 240pt", error))


def bandwidth(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> Fraction:
    """Return a rate in bytes a second, above 0: a number, or a text with a unit of bytes (B) or bits (bit, b) a second.

    >>> bandwidth("400Gbit/s", "bandwidth"), bandwidth("50GB/s", "bandwidth")
    (Fraction(50000000000, 1), Fraction(50000000000, 1))
    """
    allowed = "a rate above 0 such as 50GB/s or 400Gbit/s"
    found = _quantity(value, name, _RATES, allowed, error)
    if not found:
        raise error(f"{name} must be {allowed}, got {shown(value)}")
    return found


def _quantity(value: Any, name: str, units: dict[str, Fraction], allowed: str, error: type[GossamerError]) -> Fraction:
    """Return a number times the unit that follows it in a text, in the unit that a bare number has."""
    if not isinstance(value, str):
        return fraction(value, name, allowed=allowed, error=error)
    form = _FORM.fullmatch(value.strip()) if len(value) <= 300 else None
    if form is None or (form[2] or "") not in {"", *units}:
        raise error(f"{name} must be {allowed}, got {shown(value)}")
    return fraction(form[1], name, allowed=allowed, error=error) * units.get(form[2] or "", Fraction(1))


# Ranges and lists: several numbers in one word, ``0.1:0.9:0.2``, ``0.1,0.5,0.9`` or ``0 2 5-7``.

LEAST_LOAD = Fraction(1, 10**6)
"""The smallest load that is simulated: with rarer requests, times lose their last digits in floats."""

_MOST = 10_000


def fractions(
    text: str, name: str, least: Fraction | int = 0, *, error: type[GossamerError] = ModelError
) -> list[Fraction]:
    """Return the exact numbers that a text names.

    Parameters
    ----------
    text : str
        A number, several separated by commas, or ``first:last:step``, the last one included if a step hits it.
    name : str
        What messages call them, in the plural.
    least : Fraction
        The smallest that is allowed.
    error : type
        The class of what is raised.

    Raises
    ------
    GossamerError
        Of class `error`: if the text is of no such form, a number is too small, or there would be over 10,000.

    Examples
    --------
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

    Parameters
    ----------
    text : str
        The list.
    where : str
        Where it stands, for messages.
    count : int
        Number of nodes, all of which are below.
    what : str
        What messages call the nodes.
    allowed : str
        What a word may be.
    form_error : type
        The class of what is raised where a word is neither.

    Raises
    ------
    GossamerError
        Of class `form_error`: if a word is no number or range, or a range is empty.
    TaskError
        If a node is `count` or more.

    Examples
    --------
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
