"""Checks of the numbers that describe a network, made before anything is allocated."""

from __future__ import annotations

from gossamer.errors import NetworkError, shown
from gossamer.networks.network import MAX_LINKS
from gossamer.reading import whole

__all__ = ["check_links", "whole_number"]


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
    gossamer.errors.NetworkError: ring: n must be a whole number of at least 1, got 0
    """
    number = whole(value, f"{family}: {name}", low, None if high == MAX_LINKS else high, error=NetworkError)
    if number > high:
        raise NetworkError(f"{family}: {name} must be at most {high}, got {shown(number)}")
    return number


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
