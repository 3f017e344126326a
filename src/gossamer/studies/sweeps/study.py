"""Studies: files that name many points, and how what came of them is to be shown."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError, GossamerError, ModelError, nearest, shown
from gossamer.reading.files import file_name, guarded, opened
from gossamer.reading.quantities import fractions, sizes
from gossamer.studies.sweeps.point_grids import AskedPoint, grid
from gossamer.studies.sweeps.point_kinds import PointNeeds, asked_network, measuring, size_of
from gossamer.studies.sweeps.point_protocol import identity

# About what a sweep takes, before anything of it is carried out.

_PATIENCE = 10.0
"""Seconds for which points are looked at one by one; the others are taken to be like these."""
_REFUSED = 0.02
_MOST_LINKS = 5_000_000
"""Links of the networks that are built to look at a point."""


@dataclass(frozen=True)
class Estimate:
    """About what a sweep takes.

    * `points`, `known`: how many points there are, and how many of them are in the file already.
    * `memory`: bytes of the largest point, beside what every process has.
    * `largest`: its title.
    * `seconds`: CPU time of all that are left, once kernels are compiled; a study as a whole is within a factor of two
      or three as a rule, a point need not be.
    * `looked`: how many of those left were looked at one by one: their networks built and their algorithms asked.
    """

    points: int
    known: int
    memory: int
    largest: str
    seconds: float
    looked: int


def estimated(points: Sequence[AskedPoint], known: set[str], patience: float = _PATIENCE) -> Estimate:
    """Return about what points take of which some identities are known.

    `known`: identities of those that are in the file already. `patience`: seconds of CPU time after which no further
    point is looked at; the rest is estimated by arithmetic and scaled as those that were looked at.

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


_TOP = ("title", "points", "define", "report")
_BESIDE = ("zip", "where")


@dataclass(frozen=True)
class Shown:
    """How results are shown; what is empty is chosen by what the points are.

    * `measure`: the column that is to be small, or large if it begins with a minus.
    * `by`: columns each of whose combinations has a table and a picture of its own.
    * `against`: columns against which the measure is drawn, with the front of what no other point beats in both; a
      minus before a name says that more is better.
    * `columns`: what tables show.
    * `rows`: rows of a table.
    """

    measure: str = ""
    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: int = 12


@dataclass(frozen=True)
class Study:
    """Many points in words.

    `title`: what is studied. `grids`: words and lists of their values, each a grid, with ``zip`` and ``where`` beside
    them. `define`: formulas by name, which conditions may use. `shown`: how the results are shown.
    """

    title: str
    grids: tuple[Mapping[str, Any], ...]
    define: Mapping[str, str] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)

    def points(self) -> Iterator[AskedPoint]:
        """Yield the points that meet the conditions, each once; ModelError if a word is illegal."""
        seen = set()
        for each in self.grids:
            words = {name: value for name, value in each.items() if name not in _BESIDE}
            for point in grid(
                words, zipped=_zipped(each.get("zip", ())), where=each.get("where", ()), define=self.define
            ):
                key = identity(point.describe())
                if key not in seen:
                    seen.add(key)
                    yield point

    def changed(self, words: Mapping[str, Any], where: Sequence[str]) -> Study:
        """Return the study with other values for some words, in every grid, and further conditions."""
        if not words and not where:
            return self
        grids = self.grids or ({},)
        return replace(
            self, grids=tuple({**g, **words, "where": [*_conditions(g.get("where", ())), *where]} for g in grids)
        )


def read_study(path: str | os.PathLike[str]) -> Study:
    r"""Read a study from a TOML file.

    `path`: ``title``; a table ``[points]``, or several ``[[points]]``, of words of a point and their values, lists of
    them and braces included, with ``where``, a condition or a list of them, and ``zip``, lists of words that go through
    their values together; ``[define]``, formulas by name; ``[report]``, with ``measure``, ``by``, ``against``,
    ``columns`` and ``rows``. Raises `FileFormatError` if the file is missing or is not TOML. Raises `ModelError` if it
    does not describe a study.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.toml"
    >>> _ = path.write_text('''
    ... title = "tori of 16 nodes"
    ... [points]
    ... network = ["torus:{a=2..8}x{b=2..8}", "hypercube:4"]
    ... task = ["allgather", "alltoall"]
    ... where = "nodes == 16"
    ... ''')
    >>> study = read_study(path)
    >>> [point.title for point in study.points()][:2]
    ['allgather on torus:2x8', 'alltoall on torus:2x8']
    """
    with opened(path) as file, guarded(path):
        try:
            told = tomllib.loads(file.read().decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise FileFormatError(f"{file_name(path)} is no TOML: {error}") from None
    name = file_name(path)
    for key in told:
        if key not in _TOP:
            raise ModelError(f"{name} has {shown(key)}{nearest(key, _TOP)}; a study has {', '.join(_TOP)}")
    points = told.get("points")
    grids = [points] if isinstance(points, dict) else points
    if not isinstance(grids, list) or not grids or not all(isinstance(g, dict) and g for g in grids):
        raise ModelError(f"{name} needs a table [points] of words and their values, or several [[points]]")
    define = told.get("define", {})
    if not isinstance(define, dict) or not all(isinstance(f, str) for f in define.values()):
        raise ModelError(f"{name}: [define] has formulas in texts, by name")
    title = told.get("title", Path(path).stem)
    if not isinstance(title, str):
        raise ModelError(f"{name}: the title must be a text, got {shown(title)}")
    return Study(title, tuple(_joined(g) for g in grids), define, _shown(told.get("report", {}), name))


def _joined(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words of a grid, those of tables in it, such as ``options``, by their full names."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        found |= {f"{name}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _shown(told: Any, name: str) -> Shown:
    if not isinstance(told, dict):
        raise ModelError(f"{name}: [report] is a table")
    known: dict[str, Any] = {}
    allowed = ("measure", "by", "against", "columns", "rows")
    for key, value in told.items():
        if key not in allowed:
            raise ModelError(
                f"{name}: [report] has {shown(key)}{nearest(key, allowed)}; it may have {', '.join(allowed)}"
            )
        if key in ("by", "against", "columns"):
            several = [value] if isinstance(value, str) else value
            if not isinstance(several, list) or not all(isinstance(v, str) for v in several):
                raise ModelError(f"{name}: {key} of [report] is a list of names of columns")
            known[key] = tuple(several)
        elif isinstance(value, bool) or not isinstance(value, int if key == "rows" else str):
            raise ModelError(f"{name}: {key} of [report] is {'a number' if key == 'rows' else 'a name of a column'}")
        else:
            known[key] = value
    return Shown(**known)


def _zipped(given: Any) -> list[list[str]]:
    several = [given] if given and all(isinstance(v, str) for v in given) else list(given)
    if not all(isinstance(g, list) and all(isinstance(v, str) for v in g) for g in several):
        raise ModelError(f"zip is a list of words, or several of them, got {shown(given)}")
    return several


def _conditions(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def word_values(name: str, text: str) -> Any:
    """Return the values that the command line gives a word: several between commas, or a range.

    Networks are not parted at commas, which many specs have; bytes may be ``1KiB:1GiB``, numbers ``0.1:0.9:0.2``.

    >>> word_values("bytes", "1KiB:64KiB"), word_values("load", "0.1:0.5:0.2"), word_values("seed", "1,2")
    ([1024, 4096, 16384, 65536], [0.1, 0.3, 0.5], [1, 2])
    >>> word_values("network", "extended-ring:14,2"), word_values("stream", "true")
    (['extended-ring:14,2'], [True])
    """
    if name == "network" or "{" in text:
        return [text]
    if name == "bytes":
        return sizes(text, "bytes")
    if text.count(":") == 2 and all(part.replace(".", "", 1).isdecimal() for part in text.split(":")):
        return [int(x) if x.denominator == 1 else float(x) for x in fractions(text, name)]
    return [_read(word.strip()) for word in text.split(",")]


def _read(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
