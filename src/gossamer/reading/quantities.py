"""Quantities with units: durations in seconds, sizes in bytes, bandwidths in bytes a second, lengths in inches."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from gossamer.errors import GossamerError, ModelError, shown
from gossamer.reading.values import fraction

__all__ = ["Bytes", "Duration", "Rate", "bandwidth", "duration", "inches", "size"]

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
