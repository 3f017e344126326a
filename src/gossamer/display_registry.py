"""How a notebook shows things: the rooms that draw are named here by the package that knows them all.

What is shown stands below what draws it, so it asks for a display by name; without one it shows its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_displays: dict[str, Callable[..., Any]] = {}


def register(name: str, function: Callable[..., Any]) -> None:
    """Have `function` display what asks for `name`: ``thing``, ``outcome`` or ``explorer``; the last one counts."""
    _displays[name] = function


def display(name: str) -> Callable[..., Any] | None:
    """Return what displays `name`, None where nothing does.

    >>> display("no such thing") is None
    True
    """
    return _displays.get(name)
