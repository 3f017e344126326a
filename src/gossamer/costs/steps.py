"""The cost of store-and-forward schedules, in steps: a packet crosses a link in one, a control packet in t_p."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gossamer.reading import fraction

__all__ = ["StepCost"]


_TIME = "a fraction of a step in [0, 1]"


@dataclass(frozen=True)
class StepCost:
    """What hops of store-and-forward schedules cost: a step for a whole packet, 1/k step for one of k parts.

    Attributes
    ----------
    control_time : Fraction
        Steps that a control packet takes on a link (t_p of Varvarigos and Bertsekas 1994), between 0 and 1. Zero means
        that what the nodes must know about each other is known ahead.

    Examples
    --------
    >>> StepCost("1/10").control_time
    Fraction(1, 10)
    """

    control_time: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "control_time", fraction(self.control_time, "control_time", 0, 1, allowed=_TIME))

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "step"

    def describe(self) -> str:
        """Return the cost, for people.

        >>> StepCost("1/10").describe()
        'a control packet takes 1/10 step a hop'
        """
        return f"a control packet takes {self.control_time} step a hop" if self.control_time else "steps"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {"control_time": str(self.control_time)}
