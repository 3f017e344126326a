"""Ranges: several numbers in one word, ``0.1:0.9:0.2`` or ``0.1,0.5,0.9``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from gossamer.errors import GossamerError, ModelError, shown
from gossamer.reading.quantities import size
from gossamer.reading.values import fraction, whole_text

__all__ = ["LEAST_LOAD", "fractions", "sizes", "wholes"]

T = TypeVar("T", int, Fraction)

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

    return _listed(text, name, one, error)


def wholes(
    text: str, name: str, least: int = 0, most: int = 2**31 - 1, *, error: type[GossamerError] = ModelError
) -> list[int]:
    """Return the whole numbers that a text names; as `fractions`.

    >>> wholes("2:8:3", "sides"), wholes("7", "sides")
    ([2, 5, 8], [7])
    """

    def one(word: str) -> int:
        example = "such as 4, or 4,8,16, or first:last:step such as 4:16:4"
        return whole_text(word, name, least, most, allowed=f"whole numbers in {least}..{most}, {example}", error=error)

    return _listed(text, name, one, error)


def sizes(text: str, name: str, *, error: type[GossamerError] = ModelError) -> list[int]:
    """Return the sizes in bytes that a text names: several, or ``first:last[:factor]``, each that many times the last.

    >>> sizes("1KiB:64KiB", "sizes"), sizes("1kB,2kB", "sizes"), sizes("1:9:2", "sizes")
    ([1024, 4096, 16384, 65536], [1000, 2000], [1, 2, 4, 8])
    """
    words = text.split(":")
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


def _listed(text: str, name: str, one: Callable[[str], T], error: type[GossamerError]) -> list[T]:
    """Return the numbers of a list or a range, each read by `one`."""
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


def _check_count(count: int, text: str, name: str, error: type[GossamerError]) -> None:
    if count > _MOST:
        raise error(f"{name}: {shown(text)} names over {_MOST:,} numbers")
