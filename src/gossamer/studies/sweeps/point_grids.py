"""Grids of points: every combination of the values of their words, braces in texts included."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NamedTuple

from gossamer.errors import GossamerError, ModelError, nearest, shown
from gossamer.networks import as_network
from gossamer.questions.tasks import kind_of
from gossamer.reading import choice, text, whole
from gossamer.reading.quantities import size
from gossamer.reading.values import MOST_SEED, fraction
from gossamer.studies.sweeps.conditions import Condition, formula
from gossamer.studies.sweeps.point_kinds import KINDS, PointNeeds, measures, size_of
from gossamer.studies.sweeps.point_protocol import Progress, file_contents

__all__ = ["MEASURES", "AskedPoint", "Constraints", "asked_point", "combinations", "expanded", "grid"]

# Points in words: a kind, and what is asked of it, as studies and ``gossamer.sweep`` have them.


@dataclass(frozen=True)
class AskedPoint:
    """A point in words.

    Attributes
    ----------
    kind : str
        A name of `gossamer.studies.sweeps.KINDS`.
    words : mapping of str to object
        What is asked: numbers, texts, truth values, lists of texts.
    """

    kind: str
    words: Mapping[str, Any] = field(hash=False)

    @property
    def title(self) -> str:
        """What is looked at, in a few words."""
        return KINDS[self.kind].title(self.words)

    @property
    def needs(self) -> PointNeeds:
        """About what it takes, by arithmetic: bytes at the least, and seconds of CPU time."""
        return KINDS[self.kind].needs(self.words)

    @property
    def expected(self) -> PointNeeds:
        """What it takes as well as can be told before: the network is built, and its algorithms are asked."""
        kind = KINDS[self.kind]
        return (kind.expected or kind.needs)(self.words)

    def describe(self) -> dict[str, Any]:
        """Return the kind, the words, what the files hold that they name, and the version of what results mean."""
        files = file_contents(self.words)
        told = {"kind": self.kind, "semantics": KINDS[self.kind].semantics, **self.words}
        return told | ({"files": files} if files else {})

    def run(self, progress: Progress) -> dict[str, Any]:
        """Carry it out."""
        return KINDS[self.kind].carry_out(self.words, progress)


def asked_point(given: Mapping[str, Any]) -> AskedPoint:
    """Return the point of a mapping; ModelError if it names no kind, a word is unknown or a value is none of a point.

    Examples
    --------
    >>> asked_point({"network": "ring:6", "task": "allgather", "bytes": "1KiB"})
    AskedPoint(kind='plan', words={'network': 'ring:6', 'task': 'allgather', 'bytes': 1024})
    >>> asked_point({"network": "ring:6", "tusk": "allgather"})
    Traceback (most recent call last):
    gossamer.errors.ModelError: a point of kind 'plan' has no 'tusk' (did you mean 'task'?)
    """
    words = {str(name): value for name, value in given.items() if value is not None}
    kind = KINDS[choice(words.pop("kind", "plan"), "kind", KINDS)]
    for name in words:
        if name not in kind.words and not (name.startswith("options.") and "algorithm" in kind.words):
            raise ModelError(f"a point of kind {kind.name!r} has no {shown(name)}{nearest(name, kind.words)}")
    for name in kind.needed:
        if name not in words:
            raise ModelError(f"a point of kind {kind.name!r} needs {name!r}")
    plain = {name: _plain_words(name, value) for name, value in words.items()}
    if "task" in plain:
        kind_of(plain["task"])
    kind.needs(plain)
    return AskedPoint(kind.name, plain)


def _plain_words(name: str, value: Any) -> Any:
    """Return a value as files and hashes have it."""
    if name == "bytes":
        return size(value, "bytes")
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, f"{name} of a point").strip()
    if isinstance(value, Integral):
        return whole(value, f"{name} of a point", -MOST_SEED - 1, MOST_SEED)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return list(value)
    if hasattr(value, "__fspath__"):
        return str(value)
    if name == "network" and hasattr(value, "spec"):
        raise ModelError(f"the network of a point is a spec such as 'torus:8x8' or a file, got {shown(value)}")
    raise ModelError(f"{name} of a point must be a number, a text or a truth value, got {shown(value)}")


# Which points of a grid are wanted: conditions on their words and on what their network is.

MEASURES = ("nodes", "links", "terminals", "degree", "diameter", "bisection")
"""What conditions know of the network of a point; the first two by arithmetic, the others by building it."""

_MOST_LINKS = 20_000_000
"""Networks with more links are not built for a condition."""


class Constraints:
    """Conditions, and names for formulas.

    * `conditions` (sequence of str): all of them must hold.
    * `define` (mapping of str to str): formulas by name.
    * `braced` (set of str): names of braces in some texts; where a text has no such braces, no condition on them holds.

    Raises `ModelError` if one cannot be read, or formulas are defined by each other in a circle.
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

    def _dear(self, asked: Condition) -> int:
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


MOST = 1_000_000
"""The points of a grid at most, before constraints."""
_BRACES = re.compile(r"\{([^{}]*)\}")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)


class Value(NamedTuple):
    """A value of a word, with the numbers that stand in its named braces."""

    value: Any
    named: Mapping[str, Any]


def grid(
    values: Mapping[str, Any],
    *,
    zipped: Sequence[Sequence[str]] = (),
    where: str | Iterable[str] = (),
    define: Mapping[str, str] | None = None,
) -> Iterator[AskedPoint]:
    """Yield the points of a grid: every combination of the values of its words.

    Parameters
    ----------
    values : mapping
        For each word of a point a value, or a list of them. Braces in a text stand for several texts: ``{4..16}``,
        ``{4..16..4}`` in steps, ``{1KiB,1MiB}``; two pairs of them for every combination. ``{a=4..16}`` gives the
        number a name for `where`.
    zipped : sequence of sequences of str
        Words that go through their values together, the first values of each, then the second.
    where : str or iterable of str
        Conditions that points must meet, such as ``nodes == 512``; see `gossamer.studies.sweeps.conditions`.
    define : mapping of str to str
        Names for formulas, such as ``{"price": "100 * links + 20 * nodes"}``, which conditions may use.

    Raises
    ------
    ModelError
        If a word, a condition or braces are illegal, or there are over a million combinations.

    Examples
    --------
    >>> grids = grid({"network": "torus:{a=2..4}x{b=2..4}", "task": "allgather"}, where="nodes >= 8 and a <= b")
    >>> [point.words["network"] for point in grids]
    ['torus:2x4', 'torus:3x3', 'torus:3x4', 'torus:4x4']
    """
    braced = {label for value in values.values() for label in _labels(value)}
    kept = Constraints([where] if isinstance(where, str) else list(where), define or {}, braced)
    for words, named in combinations(values, zipped):
        if kept.met(words, named):
            yield asked_point(words)


def _labels(given: Any) -> Iterator[str]:
    """Yield the names of the braces in the texts of a word."""
    for word in given if isinstance(given, list | tuple) else [given]:
        if isinstance(word, str):
            yield from (match[1] for inner in _BRACES.findall(word) if (match := _NAMED.fullmatch(inner)))


def combinations(
    values: Mapping[str, Any], zipped: Sequence[Sequence[str]] = ()
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the words of each combination, and the numbers in its named braces."""
    columns = {str(name): _values(name, value) for name, value in values.items()}
    groups: list[tuple[str, ...]] = []
    for names in zipped:
        for name in names:
            if name not in columns:
                raise ModelError(f"zip names {shown(name)}, which the grid does not have")
        if len({len(columns[name]) for name in names}) > 1:
            told = ", ".join(f"{name} has {len(columns[name])}" for name in names)
            raise ModelError(f"what is zipped must have as many values each: {told}")
        groups.append(tuple(names))
    together = [name for group in groups for name in group]
    if len(together) != len(set(together)):
        raise ModelError("a word can be zipped once only")
    groups += [(name,) for name in columns if name not in together]
    groups.sort(key=lambda group: list(columns).index(group[0]))
    lines = [list(zip(*(columns[name] for name in group), strict=True)) for group in groups]
    count = math.prod(map(len, lines))
    if count > MOST:
        raise ModelError(f"the grid has {count:,} combinations; at most {MOST:,} are looked at")
    for chosen in itertools.product(*lines):
        words: dict[str, Any] = {}
        named: dict[str, Any] = {}
        for group, cells in zip(groups, chosen, strict=True):
            for name, cell in zip(group, cells, strict=True):
                words[name] = cell.value
                named |= cell.named
        yield words, named


def _values(name: str, given: Any) -> list[Value]:
    """Return the values of a word."""
    several = given if isinstance(given, list | tuple) or (isinstance(given, Iterable) and not _one(given)) else [given]
    found: list[Value] = []
    for value in several:
        found += [Value(*e) for e in expanded(value, name)] if isinstance(value, str) else [Value(value, {})]
        if len(found) > MOST:
            raise ModelError(f"{name} has over {MOST:,} values")
    if not found:
        raise ModelError(f"{name} has no values")
    return found


def _one(given: Any) -> bool:
    return isinstance(given, str | bytes | Mapping) or hasattr(given, "spec")


def expanded(text: str, name: str = "a text") -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the texts that a text with braces stands for, with the numbers in its named braces.

    A text that is braces and nothing else gives numbers where there are numbers.

    >>> [value for value, _ in expanded("torus:{2..3}x{4,8}")]
    ['torus:2x4', 'torus:2x8', 'torus:3x4', 'torus:3x8']
    >>> [value for value, _ in expanded("{0.1..0.5..0.2}")]
    [0.1, 0.3, 0.5]
    """
    pieces = _BRACES.split(text)
    if "{" in "".join(pieces[::2]) or "}" in "".join(pieces[::2]):
        raise ModelError(f"{name}: braces do not match in {shown(text)}")
    alone = len(pieces) == 3 and not pieces[0].strip() and not pieces[2].strip()
    choices = [_braced(piece, name) for piece in pieces[1::2]]
    if math.prod(len(c) for _, c in choices) > MOST:
        raise ModelError(f"{name}: {shown(text)} stands for over {MOST:,} texts")
    for chosen in itertools.product(*(c for _, c in choices)):
        named = {label: number for (label, _), number in zip(choices, chosen, strict=True) if label}
        if alone:
            yield chosen[0], named
            continue
        middle = [str(c) for c in chosen]
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(pieces[::2], middle, fillvalue=""))), named


def _braced(inner: str, name: str) -> tuple[str, list[Any]]:
    """Return the name of a pair of braces, empty if it has none, and its values."""
    label, listed = "", inner
    if match := _NAMED.fullmatch(inner):
        label, listed = match[1], match[2]
    values: list[Any] = []
    for word in listed.split(","):
        ends = word.split("..")
        values += _range(ends, inner, name) if len(ends) in (2, 3) else [_number_or_text(word.strip())]
    if not values or any(v == "" for v in values):
        raise ModelError(f"{name}: {{{inner}}} must be such as {{4..16}}, {{4..16..4}} or {{a,b}}")
    return label, values


def _range(ends: Sequence[str], inner: str, name: str) -> list[Any]:
    first, last = (_exact(end, inner, name) for end in ends[:2])
    step = _exact(ends[2], inner, name) if len(ends) == 3 else Fraction(1)
    if step <= 0 or last < first:
        raise ModelError(f"{name}: the range {{{inner}}} is empty; it must be first..last, with a step above 0")
    count = int((last - first) // step) + 1
    if count > MOST:
        raise ModelError(f"{name}: {{{inner}}} has over {MOST:,} values")
    return [_plain(first + i * step) for i in range(count)]


def _exact(text: str, inner: str, name: str) -> Fraction:
    allowed = f"numbers in {{{inner}}}, such as {{4..16}} or {{0.1..0.9..0.1}}"
    return fraction(text.strip(), name, Fraction(-(10**15)), 10**15, allowed=allowed)


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _number_or_text(word: str) -> Any:
    if re.fullmatch(r"-?\d{1,15}", word):
        return int(word)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}(e-?\d{1,2})?|-?\d{1,15}e-?\d{1,2}", word):
        return float(word)
    return word
