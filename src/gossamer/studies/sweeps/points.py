"""What an engine asks of a point, what a store asks besides, and the writer of what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from gossamer.processes.job import Point, Progress

__all__ = ["Line", "Point", "Progress", "StoredPoint"]


class Line(Protocol):
    """What came of a point: one line of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the line by column, plain values only."""


@runtime_checkable
class StoredPoint(Protocol):
    """A point whose result can be kept: it says all that affects the result, and the result is a line of plain values.

    The result must not hold what differs from run to run, such as the time it took.
    """

    @property
    def title(self) -> str:
        """What is looked at, in a few words."""

    def describe(self) -> Mapping[str, Any]:
        """Return plain values that say all that affects the result."""

    def run(self, progress: Progress) -> Mapping[str, Any]:
        """Carry it out and return numbers, texts, truth values, or None, by name."""
