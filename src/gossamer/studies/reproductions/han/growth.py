"""Steps and buffers of the routers against n, for the figures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from gossamer.studies.reproductions.han.routed import guaranteed, worst
from gossamer.studies.reproductions.table import Curve

__all__ = ["ROUTERS", "SIZES", "Growth", "curves", "growth"]

ROUTERS: tuple[str, ...] = ("Q", "H", "kunde-2", "kunde-4", "greedy", "valiant-brebner", "random-slices")
"""The routers that are compared."""
SIZES: tuple[int, ...] = (4, 8, 16, 32, 64)
"""The sides n."""


class Growth(NamedTuple):
    """What one router took at worst on n x n for each of `SIZES`: steps (control included) and buffers."""

    name: str
    steps: tuple[int, ...]
    buffers: tuple[int, ...]


def growth() -> Iterator[Growth]:
    """Yield the growth of every router."""
    for name in ROUTERS:
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        yield Growth(name, tuple(w.total for w in found), tuple(w.buffers for w in found))


def curves() -> Iterator[Curve]:
    """Yield steps against n for Q and H, with messages and in all, between diameter and guarantee."""
    for name in ("Q", "H"):
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        most = [guaranteed(name, f"array:{n}x{n}") for n in SIZES]
        lower = tuple(Fraction(w.distance) for w in found)
        yield Curve(
            f"Algorithm {name} on n x n: steps with messages", "side n", SIZES,
            tuple(Fraction(w.data) for w in found), lower, tuple(data for data, _ in most),
        )  # fmt: skip
        yield Curve(
            f"Algorithm {name} on n x n: control steps included", "side n", SIZES,
            tuple(Fraction(w.total) for w in found), lower, tuple(data + control for data, control in most),
        )  # fmt: skip
