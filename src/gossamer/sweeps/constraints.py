"""Which points of a grid are wanted: conditions on their words and on what their network is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from gossamer.errors import GossamerError, ModelError
from gossamer.networks import as_network
from gossamer.sweeps.conditions import Formula, formula
from gossamer.sweeps.kinds.networks import measures, size_of

__all__ = ["MEASURES", "Constraints"]

MEASURES = ("nodes", "links", "terminals", "degree", "diameter", "bisection")
"""What conditions know of the network of a point; the first two by arithmetic, the others by building it."""

_MOST_LINKS = 20_000_000
"""Networks with more links are not built for a condition."""


class Constraints:
    """Conditions, and names for formulas.

    Parameters
    ----------
    conditions : sequence of str
        All of them must hold.
    define : mapping of str to str
        Formulas by name.
    braced : set of str
        Names of braces in some texts; where a text has no such braces, no condition on them holds.

    Raises
    ------
    ModelError
        If one cannot be read, or formulas are defined by each other in a circle.
    """

    def __init__(self, conditions: Sequence[str], define: Mapping[str, str], braced: Set[str] = frozenset()) -> None:
        self._braced = braced
        self._defined = {name: formula(text) for name, text in define.items()}
        self._conditions = [formula(text) for text in conditions]
        for name in self._defined:
            self._circle(name, ())
        self._conditions.sort(key=lambda f: self._dear(f))  # what is known at once first

    def _circle(self, name: str, seen: tuple[str, ...]) -> None:
        if name in seen:
            raise ModelError(f"formulas are defined by each other: {' -> '.join([*seen, name])}")
        for inner in self._defined[name].names & self._defined.keys():
            self._circle(inner, (*seen, name))

    def _dear(self, asked: Formula) -> int:
        """Return what a condition takes: 0 for words alone, 1 for arithmetic, 2 for building networks."""
        own = 2 if asked.names.intersection(MEASURES[2:]) else 1 if asked.names.intersection(MEASURES) else 0
        return max([own, *(self._dear(self._defined[name]) for name in asked.names if name in self._defined)])

    def met(self, words: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
        """Return whether a point meets all; `named` are the numbers in named braces."""
        look_up = self._look_up(words, named)
        return all(condition.holds(look_up) for condition in self._conditions)

    def _look_up(self, words: Mapping[str, Any], named: Mapping[str, Any]) -> Callable[[str], Any]:
        def value(name: str) -> Any:
            if name in named:
                return named[name]
            if name in self._defined:
                return self._defined[name].value(value)
            if name in words and name not in MEASURES:
                return words[name]
            if name in MEASURES:
                return _measured(str(words.get("network", "")), name)
            if name in self._braced:
                return None
            known = ", ".join([*MEASURES, *words, *named, *self._defined])
            raise ModelError(f"a condition names {name!r}, which a point does not have; there are: {known}")

        return value


def _measured(network: str, name: str) -> Any:
    size = size_of(network)
    if size is None or name in ("nodes", "links"):
        return None if size is None else getattr(size, name)
    if size.links > _MOST_LINKS:
        raise ModelError(f"{network} is too large to be built for a condition on its {name}; ask its nodes first")
    return _measures(network).get(name)


@functools.lru_cache(maxsize=4096)
def _measures(network: str) -> dict[str, Any]:
    try:
        return measures(as_network(network))
    except GossamerError:
        return {}
