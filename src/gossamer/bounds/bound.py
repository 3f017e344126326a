"""A lower bound: a time, and what proves it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

from gossamer.atomic_files import html_table
from gossamer.bounds.proofs import Proof
from gossamer.questions.costs import StepCost

_LARGE = 10_000


@dataclass(frozen=True)
class Bound:
    """A time that no valid schedule of a task on a network under given rules can beat, or none of some kind.

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
    proof : Proof or None
        The witness in numbers, from which `value` follows; None where there are words alone.
    scope : str
        The schedules that do not beat it, such as ``schedules of unsegmented messages``; empty if none does, however
        messages are cut and in whatever form the task is carried out.

    Examples
    --------
    >>> bound = Bound("node receives", Fraction(4), "node 0 must receive 8 messages over 2 links", "ports", "folklore")
    >>> print(bound)
    4 steps, node receives: node 0 must receive 8 messages over 2 links
    >>> bound.within("schedules of unsegmented messages").text
    'node receives, for schedules of unsegmented messages: node 0 must receive 8 messages over 2 links'
    """

    name: str
    value: Fraction
    witness: str
    method: str
    source: str
    unit: str = "step"
    proof: Proof | None = field(default=None, repr=False, compare=False)
    scope: str = ""

    @classmethod
    def of(cls, name: str, proof: Proof, witness: str, method: str, source: str) -> Self:
        """Return the bound that follows from a proof.

        >>> from gossamer.bounds.proofs import Load
        >>> print(Bound.of("node receives", Load.of(8, 2), "node 0 gets 8 messages over 2 links", "ports", "folklore"))
        4 steps, node receives: node 0 gets 8 messages over 2 links
        """
        return cls(name, proof.value, witness, method, source, proof=proof)

    def within(self, scope: str) -> Self:
        """Return the bound as one of some schedules."""
        return replace(self, scope=scope)

    @property
    def text(self) -> str:
        """The name, the schedules that do not beat it where these are not all, and the witness, for people."""
        told = self.witness.removeprefix("in any form, ") if self.name.endswith("in any form") else self.witness
        return f"{self.name}{f', for {self.scope}' if self.scope else ''}: {told}"

    @property
    def value_text(self) -> str:
        """The value as it is, or with six digits if its fraction is none that people read."""
        return str(self.value) if self.value.denominator < _LARGE else f"{float(self.value):.6g}"

    def __str__(self) -> str:
        return f"{self.value_text} {self.unit}{'' if self.value == 1 else 's'}, {self.text}"

    def _repr_html_(self) -> str:
        return Bounds([self])._repr_html_()


def largest_first(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Return bounds with the largest first, those of equal value in their order.

    >>> some = [Bound("distance", Fraction(n), "node 0 to node 3", "distance", "folklore") for n in (3, 5, 4)]
    >>> [int(bound.value) for bound in largest_first(some)]
    [5, 4, 3]
    """
    return tuple(sorted(bounds, key=lambda bound: -bound.value))


def largest(bounds: Iterable[Bound]) -> Fraction:
    """Return the largest value of some bounds, whatever their scopes; 0 if there is none.

    >>> largest(Bound("distance", Fraction(n), "node 0 to node 3", "distance", "folklore") for n in (3, 5, 4))
    Fraction(5, 1)
    """
    return max((bound.value for bound in bounds), default=Fraction(0))


def asked_first(bounds: Iterable[Bound], scopes: Collection[str]) -> tuple[Bound, ...]:
    """Return the bounds of some scopes and those that hold for all schedules, largest first, then the others.

    >>> some = [Bound("distance", Fraction(n), "far", "distance", "folklore", scope=s) for n, s in ((5, "a"), (3, ""))]
    >>> [int(bound.value) for bound in asked_first(some, ())], [int(bound.value) for bound in asked_first(some, ["a"])]
    ([3, 5], [5, 3])
    """
    return tuple(sorted(bounds, key=lambda bound: (bool(bound.scope) and bound.scope not in scopes, -bound.value)))


def around_text(cost: StepCost, before: int, after: int) -> str:
    """Return for a witness what passes at least before the first and after the last crossing; nothing if no time does.

    >>> from gossamer.questions.costs import Clock, StepCost
    >>> around_text(StepCost(), 2, 1), around_text(Clock(), 0, 54), around_text(StepCost(), 0, 0)
    (', plus at least 2 steps before and 1 step after', ', plus at least 54 s after', '')
    """
    told = [f"{cost.time_text(time)} {when}" for time, when in ((before, "before"), (after, "after")) if time]
    return f", plus at least {' and '.join(told)}" if told else ""


class Bounds(tuple[Bound, ...]):
    """Lower bounds, the largest first: a tuple that a notebook shows as a table.

    Examples
    --------
    >>> Bounds([Bound("distance", Fraction(3), "node 0 to node 3", "distance", "folklore")])._repr_html_().count("<tr>")
    2
    """

    __slots__ = ()

    def __repr__(self) -> str:
        told = ", ".join(f"{b.name} {b.value_text}" for b in self[:3])
        return f"<Bounds: {told}{', ...' if len(self) > 3 else ''}>" if self else "<Bounds: none>"

    def _repr_html_(self) -> str:
        rows = [(b.name, b.value_text, b.unit, b.witness,
                 b.scope or "any schedule", b.source) for b in self]  # fmt: skip
        return html_table(("lower bound", "value", "unit", "witness", "holds for", "source"), rows)
