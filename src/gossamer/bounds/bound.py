"""A lower bound: a time, and what proves it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from gossamer.bounds.proofs import Proof
from gossamer.writing import html_table

__all__ = ["Bound", "Bounds", "largest_first"]

_LARGE = 10_000


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
    proof : Proof or None
        The witness in numbers, from which `value` follows; None where there are words alone.

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
    proof: Proof | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, name: str, proof: Proof, witness: str, method: str, source: str) -> Self:
        """Return the bound that follows from a proof.

        >>> from gossamer.bounds.proofs import Load
        >>> print(Bound.of("node receives", Load.of(8, 2), "node 0 gets 8 messages over 2 links", "ports", "folklore"))
        4 steps, node receives: node 0 gets 8 messages over 2 links
        """
        return cls(name, proof.value, witness, method, source, proof=proof)

    def __str__(self) -> str:
        return f"{self.value} {self.unit}{'' if self.value == 1 else 's'}, {self.name}: {self.witness}"

    def _repr_html_(self) -> str:
        return Bounds([self])._repr_html_()


def largest_first(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Return bounds with the largest first, those of equal value in their order.

    >>> some = [Bound("distance", Fraction(n), "node 0 to node 3", "distance", "folklore") for n in (3, 5, 4)]
    >>> [int(bound.value) for bound in largest_first(some)]
    [5, 4, 3]
    """
    return tuple(sorted(bounds, key=lambda bound: -bound.value))


class Bounds(tuple[Bound, ...]):
    """Lower bounds, the largest first: a tuple that a notebook shows as a table.

    Examples
    --------
    >>> Bounds([Bound("distance", Fraction(3), "node 0 to node 3", "distance", "folklore")])._repr_html_().count("<tr>")
    2
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(b.name, str(b.value) if b.value.denominator < _LARGE else f"{float(b.value):.6g}", b.unit, b.witness,
                 b.source) for b in self]  # fmt: skip
        return html_table(("lower bound", "value", "unit", "witness", "source"), rows)
