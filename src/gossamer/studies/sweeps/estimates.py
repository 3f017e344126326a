"""About what a sweep takes, before anything of it is carried out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer.errors import GossamerError
from gossamer.studies.sweeps.asked import AskedPoint
from gossamer.studies.sweeps.identity import identity
from gossamer.studies.sweeps.kinds import PointNeeds
from gossamer.studies.sweeps.kinds.expected import measuring
from gossamer.studies.sweeps.kinds.networks import asked_network, size_of

__all__ = ["Estimate", "estimated"]

_PATIENCE = 10.0
"""Seconds for which points are looked at one by one; the others are taken to be like these."""
_REFUSED = 0.02
_MOST_LINKS = 5_000_000
"""Links of the networks that are built to look at a point."""


@dataclass(frozen=True)
class Estimate:
    """About what a sweep takes.

    Attributes
    ----------
    points, known : int
        How many points there are, and how many of them are in the file already.
    memory : int
        Bytes of the largest point, beside what every process has.
    largest : str
        Its title.
    seconds : float
        CPU time of all that are left, once kernels are compiled; a study as a whole is within a factor of two or
        three as a rule, a point need not be.
    looked : int
        How many of those left were looked at one by one: their networks built and their algorithms asked.
    """

    points: int
    known: int
    memory: int
    largest: str
    seconds: float
    looked: int


def estimated(points: Sequence[AskedPoint], known: set[str], patience: float = _PATIENCE) -> Estimate:
    """Return about what points take of which some identities are known.

    Parameters
    ----------
    points : sequence of AskedPoint
        The points.
    known : set of str
        Identities of those that are in the file already.
    patience : float
        Seconds of CPU time after which no further point is looked at; the rest is estimated by arithmetic and scaled
        as those that were looked at.

    Examples
    --------
    >>> from gossamer.studies.sweeps import grid
    >>> found = estimated(list(grid({"network": ["ring:4", "torus:8x8"], "task": "alltoall"})), set())
    >>> found.points, found.looked, found.largest, 0 < found.seconds < 5
    (2, 2, 'alltoall on torus:8x8', True)
    """
    left = [p for p in points if identity(p.describe()) not in known]
    guessed = [p.needs for p in left]
    needs: dict[int, PointNeeds] = {}
    measured: set[tuple[str, str]] = set()
    began = time.process_time()
    for place in _spread(len(left)):
        if needs and time.process_time() - began > patience:
            break
        needs[place] = _looked_at(left[place], guessed[place], measured)
    scale = _ratio(sum(needs[i].seconds for i in needs), sum(guessed[i].seconds for i in needs))
    seconds = sum(n.seconds if (n := needs.get(i)) else scale * g.seconds for i, g in enumerate(guessed))
    held = [max(g.memory, needs[i].memory if i in needs else 0) for i, g in enumerate(guessed)]
    most = max(range(len(left)), key=held.__getitem__, default=None)
    memory, title = (0, "") if most is None else (held[most], left[most].title)
    return Estimate(len(points), len(points) - len(left), memory, title, seconds, len(needs))


def _spread(count: int) -> list[int]:
    """Return numbers up to a count in an order in which any first ones are spread over all."""
    bits = max(count - 1, 1).bit_length()
    turned = (int(f"{i:0{bits}b}"[::-1], 2) for i in range(1 << bits))
    return [i for i in turned if i < count]


def _looked_at(point: AskedPoint, guessed: PointNeeds, measured: set[tuple[str, str]]) -> PointNeeds:
    """Return what a point takes, its network's measures with the first point on it."""
    size = size_of(str(point.words.get("network")))
    if size is not None and size.links > _MOST_LINKS:
        return guessed
    try:
        found = point.expected
        where = str(point.words.get("network")), str(point.words.get("without"))
        if where in measured:
            return found
        measured.add(where)
        return PointNeeds(found.memory, found.seconds + measuring(asked_network(point.words)))
    except (GossamerError, OSError):
        return PointNeeds(0, _REFUSED)


def _ratio(one: float, other: float) -> float:
    return one / other if other else 1.0
