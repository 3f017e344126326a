"""Single values: whole numbers, numbers, exact fractions, seeds and choices.

Python functions, dataclasses, files and the command line ask for a value here, each with its own class of error. What
was given is looked at before it is converted, so that no digit count and no exponent costs time or memory.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeVar

from gossamer.errors import GossamerError, ModelError, nearest, shown

__all__ = ["MOST_SEED", "choice", "fraction", "instance", "number", "seed", "text", "whole", "whole_text"]

_Kind = TypeVar("_Kind")

MOST_SEED = 2**63 - 1
_DIGITS = 50

_UNWRITABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What neither UTF-8 nor XML, and so no picture, holds."""
_WHOLE = re.compile("[-+]?[0-9]+")
_FRACTION = re.compile(r"[-+]?(?:[0-9]+/[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([-+]?[0-9]+))?)")


def instance(value: Any, kind: type[_Kind], name: str, *, error: type[GossamerError] = ModelError) -> _Kind:
    """Return a value of a class.

    >>> instance(3, str, "the title")
    Traceback (most recent call last):
    gossamer.errors.ModelError: the title must be of the class str, got 3
    """
    if not isinstance(value, kind):
        raise error(f"{name} must be of the class {kind.__name__}, got {shown(value)}")
    return value


def text(value: Any, name: str, *, error: type[GossamerError] = ModelError) -> str:
    r"""Return a text that every kind of file and picture can hold.

    >>> text("a\0b", "the title")
    Traceback (most recent call last):
    gossamer.errors.ModelError: the title must be of characters that can be written, got 'a\x00b'
    """
    found = instance(value, str, name, error=error)
    if _UNWRITABLE.search(found):
        raise error(f"{name} must be of characters that can be written, got {shown(found)}")
    return found


def whole(
    value: Any,
    name: str,
    least: int = 0,
    most: int | None = 2**31 - 1,
    *,
    among: Collection[int] | None = None,
    allowed: str | None = None,
    error: type[GossamerError] = ModelError,
) -> int:
    """Return a whole number of Python or NumPy as an int.

    Parameters
    ----------
    value : object
        What was given; neither a text nor a boolean is a whole number.
    name : str
        What messages call it.
    least, most : int
        The range, both ends allowed; without `most` it has no end.
    among : collection of int, optional
        The only numbers of the range that are allowed, if it is not all of them; `allowed` says which.
    allowed : str, optional
        What messages say is allowed. Default: a whole number in the range.
    error : type
        The class of what is raised.

    Examples
    --------
    >>> whole(7, "parts", 1)
    7
    >>> whole(0, "parts", 1)
    Traceback (most recent call last):
    gossamer.errors.ModelError: parts must be a whole number in 1..2147483647, got 0
    """
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = None
    outside = found is None or found < least or (most is not None and found > most)
    if found is None or outside or (among is not None and found not in among):
        raise _no_whole(value, name, least, most, allowed, error)
    return found


def _no_whole(
    value: Any, name: str, least: int, most: int | None, allowed: str | None, error: type[GossamerError]
) -> GossamerError:
    end = f"of at least {least}" if most is None else f"in {least}..{most}"
    return error(f"{name} must be {allowed or f'a whole number {end}'}, got {shown(value)}")


def whole_text(
    text: str,
    name: str,
    least: int = 0,
    most: int | None = 2**31 - 1,
    *,
    allowed: str | None = None,
    error: type[GossamerError] = ModelError,
) -> int:
    """Return the whole number that a text of decimal digits names; parameters as for `whole`.

    >>> whole_text(" 12 ", "a node")
    12
    """
    word = text.strip()
    digits = word.lstrip("+-0")
    found = int(word) if _WHOLE.fullmatch(word) and len(digits) <= _DIGITS else None
    if found is None or found < least or (most is not None and found > most):
        raise _no_whole(text, name, least, most, allowed, error)
    return found


def number(
    value: Any,
    name: str,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    above: float | None = None,
    error: type[GossamerError] = ModelError,
) -> float:
    """Return a finite number in ``least..most``, or above `above` and at most `most`, as a float.

    >>> number(0.5, "density", 0, 1)
    0.5
    >>> number(0, "load", above=0, most=8)
    Traceback (most recent call last):
    gossamer.errors.ModelError: load must be a number above 0 and at most 8, got 0
    """
    try:
        found = float(value) if not isinstance(value, bool) and isinstance(value, Real | Decimal) else math.nan
    except (OverflowError, ValueError):
        found = math.nan
    low = found > above if above is not None else found >= least
    if math.isfinite(found) and low and found <= most:
        return found
    start = f"above {above:.15g}" if above is not None else f"of at least {least:.15g}" if least > -math.inf else ""
    end = f"at most {most:.15g}" if most < math.inf else ""
    both = f"in {least:.15g}..{most:.15g}" if end and least > -math.inf else " and ".join(filter(None, (start, end)))
    raise error(f"{name} must be {f'a number {both}'.rstrip()}, got {shown(value)}")


def fraction(
    value: Any,
    name: str,
    least: Fraction | int = 0,
    most: Fraction | int | None = None,
    *,
    allowed: str | None = None,
    error: type[GossamerError] = ModelError,
) -> Fraction:
    """Return an exact number.

    Parameters
    ----------
    value : object
        An int, a fraction, a float or decimal (by its shortest decimal form), or a text: ``3``, ``0.1``, ``1/10``,
        ``2e-9``.
    name, allowed, error
        As for `whole`.
    least, most : int or Fraction
        The range, both ends allowed; without `most` it has no end.

    Raises
    ------
    GossamerError
        Of class `error`: if it is no number, is out of range, or its numerator or denominator has over 50 digits.

    Examples
    --------
    >>> fraction("1/3", "startup"), fraction(0.1, "per_byte")
    (Fraction(1, 3), Fraction(1, 10))
    >>> fraction("1e-999999999", "startup")
    Traceback (most recent call last):
    gossamer.errors.ModelError: startup must have at most 50 digits, got '1e-999999999'
    """
    found = None
    if isinstance(value, str):
        found = _fraction_text(value.strip(), name, error)
    elif isinstance(value, bool):
        found = None
    elif isinstance(value, Rational):
        found = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, Real | Decimal):
        found = _fraction_text(str(value), name, error)
    if found is None or found < least or (most is not None and found > most):
        usual = f"that is {least} or more, such as 100 or 1/10" if most is None else f"in [{least}, {most}]"
        raise error(f"{name} must be {allowed or f'a number {usual}'}, got {shown(value)}")
    if max(abs(found.numerator), found.denominator) >= 10**_DIGITS:
        raise _too_long(value, name, error)
    return found


def _fraction_text(text: str, name: str, error: type[GossamerError]) -> Fraction | None:
    """Return the number that a text names, or None if it names none."""
    form = _FRACTION.fullmatch(text)
    if form is None:
        return None
    exponent = (form[1] or "0").lstrip("+-0")
    if len(text) > 4 * _DIGITS or len(exponent) > 2:
        raise _too_long(text, name, error)
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None


def _too_long(value: Any, name: str, error: type[GossamerError]) -> GossamerError:
    return error(f"{name} must have at most {_DIGITS} digits, got {shown(value)}")


def seed(value: Any, name: str = "seed", *, error: type[GossamerError] = ModelError) -> int:
    """Return the seed of random choices, a whole number in 0..2^63 - 1.

    >>> seed(2**64)
    Traceback (most recent call last):
    gossamer.errors.ModelError: seed must be a whole number in 0..9223372036854775807, got 18446744073709551616
    """
    return whole(value, name, 0, MOST_SEED, error=error)


def choice(value: Any, name: str, allowed: Collection[str], *, error: type[GossamerError] = ModelError) -> str:
    """Return `value` if it is one of a few words; else the message lists them, the nearest one last.

    >>> choice("alle", "ports", ("all", "one"))
    Traceback (most recent call last):
    gossamer.errors.ModelError: ports must be 'all' or 'one', got 'alle' (did you mean 'all'?)
    """
    if isinstance(value, str) and value in allowed:
        return value
    given = value[:_DIGITS] if isinstance(value, str) else shown(value)
    *first, last = map(repr, allowed)
    words = f"{', '.join(first)} or {last}" if first else last
    raise error(f"{name} must be {words}, got {shown(value)}{nearest(given, allowed)}")
