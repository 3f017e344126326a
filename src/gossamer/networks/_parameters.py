"""Checks of the numbers that describe a network, made before anything is allocated."""

from __future__ import annotations

import operator

from gossamer.errors import NetworkError
from gossamer.networks.network import MAX_LINKS

__all__ = ["check_links", "shown", "whole_number"]


def shown(value: object, width: int = 60) -> str:
    """Return `value` as a message prints it: its repr on one line, cut at `width` characters.

    >>> shown("8 x 8")
    "'8 x 8'"
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return "an integer of thousands of digits"
    return text if len(text) <= width else text[: width - 4] + " ..."


def whole_number(value: object, family: str, name: str, low: int = 1, high: int = MAX_LINKS) -> int:
    """Return `value` as an int if it is an integer of low..high.

    Raises
    ------
    NetworkError
        Naming the family, the parameter, the value given and the range allowed.

    Examples
    --------
    >>> whole_number(0, "ring", "n")
    Traceback (most recent call last):
    gossamer.errors.NetworkError: ring: n must be an integer of at least 1, got 0
    """
    allowed = f"of at least {low}" if high == MAX_LINKS else f"in {low}..{high}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise NetworkError(f"{family}: {name} must be an integer {allowed}, got {shown(value)}")
    if low <= number <= high:
        return number
    if number > high == MAX_LINKS:
        raise NetworkError(f"{family}: {name} must be at most {MAX_LINKS}, got {shown(number)}")
    raise NetworkError(f"{family}: {name} must be an integer {allowed}, got {shown(number)}")


def check_links(family: str, links: int) -> None:
    """Refuse a network of more than MAX_LINKS links.

    Raises
    ------
    NetworkError
        If there are too many.

    Examples
    --------
    >>> check_links("complete", 10**9)
    Traceback (most recent call last):
    gossamer.errors.NetworkError: complete: the network would have 1000000000 links; at most 400000000 are allowed
    """
    if links > MAX_LINKS:
        many = str(links) if links < 10**18 else "more than 10^18"
        raise NetworkError(f"{family}: the network would have {many} links; at most {MAX_LINKS} are allowed")
