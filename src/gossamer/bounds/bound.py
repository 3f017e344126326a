"""A lower bound: a time, and what proves it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Bound"]


@dataclass(frozen=True)
class Bound:
    """A time that no valid schedule of a task on a network under given rules can beat.

    Attributes
    ----------
    name : str
        What the bound counts.
    value : Fraction
        Time in `unit`: no valid schedule has a smaller completion time.
    witness : str
        The node, pair, cut or count that proves it, with its numbers.
    method : str
        ``ports``, ``distance``, ``broadcast``, ``load``, ``cut``, ``separator``, ``sequence``, or ``none``.
    source : str
        The paper and equation, or the argument where it is folklore.
    unit : str
        What `value` counts: steps, or the time unit of a linear cost.

    Examples
    --------
    >>> bound = Bound("node receives", Fraction(4), "node 0 must receive 8 messages over 2 links", "ports", "folklore")
    >>> print(bound)
    4 steps, node receives: node 0 must receive 8 messages over 2 links
    """

    name: str
    value: Fraction
    witness: str
    method: str
    source: str
    unit: str = "step"

    def __str__(self) -> str:
        return f"{self.value} {self.unit}{'' if self.value == 1 else 's'}, {self.name}: {self.witness}"
