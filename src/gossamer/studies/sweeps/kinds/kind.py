"""A kind of point: the words that ask for one, and what carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gossamer.studies.sweeps.points import Progress

__all__ = ["Kind", "PointNeeds", "flat"]


class PointNeeds(NamedTuple):
    """What a point takes, roughly: bytes of memory, and seconds of CPU time."""

    memory: int
    seconds: float


@dataclass(frozen=True)
class Kind:
    """A kind of point.

    Attributes
    ----------
    name : str
        In studies and files.
    summary : str
        One line.
    semantics : int
        Grows when the same words come to mean another result, so that old results are not taken for new ones.
    words : tuple of str
        The words that a point may have.
    needed : tuple of str
        Those that it must have.
    carry_out : callable
        ``(words, progress) -> result``, plain values by name; the same words give the same result.
    title : callable
        ``words -> text``: what is looked at.
    needs : callable
        ``words -> PointNeeds``: memory at the least, and a first guess at the time, without building anything.
    expected : callable or None
        ``words -> PointNeeds``: memory and time as well as can be told, with the network built; None where `needs` is.
    """

    name: str
    summary: str
    semantics: int
    words: tuple[str, ...]
    needed: tuple[str, ...]
    carry_out: Callable[[Mapping[str, Any], Progress], dict[str, Any]]
    title: Callable[[Mapping[str, Any]], str]
    needs: Callable[[Mapping[str, Any]], PointNeeds]
    expected: Callable[[Mapping[str, Any]], PointNeeds] | None = None


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values with those of tables in them beside the others, as ``routers.buffer_depth``; None is left out.

    >>> flat({"a": 1, "b": {"c": 2, "d": None}})
    {'a': 1, 'b.c': 2}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif value is not None:
            found[f"{prefix}{name}"] = value
    return found
