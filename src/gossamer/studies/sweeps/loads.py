"""The loads of a sweep, as people type them."""

from __future__ import annotations

from gossamer.reading.ranges import LEAST_LOAD, fractions

__all__ = ["read_loads"]


def read_loads(text: str) -> tuple[float, ...]:
    """Return the loads that a text names: ``0.5``, ``0.1,0.5,0.9`` or ``0.1:0.95:0.05``, the end included.

    Raises
    ------
    ModelError
        If it is not of these forms, or empty, or a load is below a millionth.

    Examples
    --------
    >>> read_loads("0.1:0.3:0.1"), read_loads("0.5")
    ((0.1, 0.2, 0.3), (0.5,))
    """
    return tuple(map(float, fractions(text, "loads", LEAST_LOAD)))
