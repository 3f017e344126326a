"""What the engine asks of a point of a sweep, and the writer of what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

__all__ = ["Line", "Point", "Progress"]

Progress = Callable[[str], None]


class Line(Protocol):
    """What came of a point: one line of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the line by column, plain values only."""


Found = TypeVar("Found", covariant=True)


class Point(Protocol[Found]):
    """One simulation of a sweep: a plain record of everything that its result depends on."""

    @property
    def title(self) -> str:
        """What is simulated, in a few words, for progress and errors."""

    def run(self, progress: Progress) -> Found:
        """Simulate; tell `progress` a line now and then, so that the sweep can be seen and stopped."""
