"""A verified schedule beside its lower bounds: what every plan says, whatever carries the messages."""

from __future__ import annotations

import resource
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from gossamer.bounds.bound import Bound
from gossamer.schedules.violations import Verification
from gossamer.writing import Rows, memory_text

__all__ = ["Compared", "Timetable", "number", "peak_memory"]


class Timetable(Protocol):
    """What a plan asks of its schedule."""

    algorithm: str

    @property
    def completion_time(self) -> Fraction:
        """Time from the first start to the last end, exact."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...

    def save(self, path: Any) -> None:
        """Write it to a Parquet file."""
        ...


class Compared(Rows):
    """A schedule that a checker accepted, the claim of its algorithm and the bounds, the largest bound first.

    A plan is a dataclass that derives from this and has these fields, besides its own.
    """

    schedule: Timetable
    verification: Verification
    bounds: tuple[Bound, ...]
    claim: Fraction | None
    claim_is_bound: bool
    build_seconds: float
    verify_seconds: float
    peak_memory: int

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.schedule.algorithm

    @property
    def completion_time(self) -> Fraction:
        """Completion time in the unit of the bounds, exact."""
        return self.schedule.completion_time

    @property
    def bound(self) -> Fraction:
        """The largest lower bound; 0 when there is nothing to do."""
        return self.bounds[0].value if self.bounds else Fraction(0)

    @property
    def bound_name(self) -> str:
        """Name of the largest lower bound."""
        return self.bounds[0].name if self.bounds else "nothing to do"

    @property
    def ratio(self) -> float | None:
        """Completion time over bound; None where the bound is 0 and the time is not."""
        if self.bound:
            return float(self.completion_time / self.bound)
        return None if self.completion_time else 1.0

    @property
    def optimal(self) -> bool:
        """Whether the completion time meets the bound, which proves it optimal."""
        return self.completion_time == self.bound

    def save(self, path: str | Path) -> None:
        """Write the schedule to a Parquet file."""
        self.schedule.save(path)

    def times(self) -> dict[str, Any]:
        """Return the time, the bound, the claim and the verdict as plain values; times also as fractions in text."""
        return {
            "completion_time": number(self.completion_time),
            "completion_time_exact": str(self.completion_time),
            "bound": number(self.bound),
            "bound_exact": str(self.bound),
            "bound_name": self.bound_name,
            "ratio": self.ratio,
            "optimal": self.optimal,
            "claim": None if self.claim is None else number(self.claim),
            "claim_is_bound": self.claim_is_bound,
            "verified": self.verification.ok,
        }

    def expense(self) -> dict[str, Any]:
        """Return what the plan took, in seconds and bytes, as plain values."""
        return {
            "build_seconds": self.build_seconds,
            "verify_seconds": self.verify_seconds,
            "schedule_bytes": self.schedule.nbytes,
            "peak_memory_bytes": self.peak_memory,
        }

    def time_rows(self) -> list[tuple[str, str]]:
        """Return the rows of the claim, the completion time and the lower bound."""
        ratio = "-" if self.ratio is None else f"{self.ratio:.4g}"
        verdict = "meets the bound: optimal" if self.optimal else f"{ratio} x the bound"
        claim, bound = "none", self.time_text(self.bound)
        if self.claim is not None:
            claim = f"{'at most ' if self.claim_is_bound else ''}{self.time_text(self.claim)}"
        if self.bounds:
            bound += f" ({self.bound_name}: {self.bounds[0].witness})"
        return [
            ("claim", claim),
            ("completion time", f"{self.time_text(self.completion_time)} - {verdict}"),
            ("lower bound", bound),
        ]

    def expense_row(self) -> tuple[str, str]:
        """Return the row of what the plan took."""
        return (
            "took",
            f"{self.build_seconds:.3g} s to build, {self.verify_seconds:.3g} s to verify; schedule "
            f"{memory_text(self.schedule.nbytes)}, process {memory_text(self.peak_memory)}",
        )

    def time_text(self, value: Fraction) -> str:
        """Return a time with its unit."""
        raise NotImplementedError


def number(value: Fraction) -> int | float:
    """Return a fraction as a plain number, an int where it is whole.

    >>> number(Fraction(4)), number(Fraction(1, 2))
    (4, 0.5)
    """
    return int(value) if value.denominator == 1 else float(value)


def peak_memory() -> int:
    """Return the largest resident size of the process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
