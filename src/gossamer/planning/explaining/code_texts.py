"""What the code of an algorithm says of itself: docstrings, numbered comments, where it stands, and its sources."""

from __future__ import annotations

import dis
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from gossamer.planning.switching import SWITCHINGS
from gossamer.questions.cases import Offer, Proposer

_BUILDERS = ("gossamer.algorithms", "gossamer.wormhole")
_OURS = (*_BUILDERS, "gossamer.graphs", "gossamer.schedules.torus_on_array")


class Source(NamedTuple):
    """An entry of the bibliography: its key, who wrote it, the title and the year."""

    key: str
    authors: str
    title: str
    year: str


def home_of(algorithm: Proposer[Any, Any]) -> str:
    """Return the module in which an algorithm is proposed."""
    propose: Any = algorithm.propose
    while isinstance(propose, functools.partial):
        propose = propose.func
    return str(propose.__module__)


def _read_by(thing: Any) -> Iterator[Any]:
    """Yield what a function, or what it is made of, refers to, in the order of its code."""
    if isinstance(thing, functools.partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, Offer):
        yield thing.build
    elif isinstance(function := getattr(thing, "py_func", thing), FunctionType):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name in _names(function.__code__):
            if name in cells:
                try:
                    yield cells[name].cell_contents
                except ValueError:  # not filled yet
                    continue
            elif name in function.__globals__:
                yield function.__globals__[name]


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads, those of functions within it too."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
            yield str(instruction.argval)
        elif isinstance(instruction.argval, CodeType):
            yield from _names(instruction.argval)


def _called(start: Any, home: str) -> Iterator[Callable[..., Any]]:
    """Yield the functions of builders, or of a module, that something leads to, the nearest first, itself included."""
    seen: set[int] = set()
    queue = [start]
    while queue:
        thing = queue.pop(0)
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if callable(thing) and hasattr(thing, "__code__" if isinstance(thing, FunctionType) else "py_func"):
            yield thing
        if isinstance(thing, functools.partial | Offer) or thing is start or _module(thing).startswith((*_OURS, home)):
            queue += _read_by(thing)


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", ""))


def explaining_functions(algorithm: Proposer[Any, Any], offer: Offer[Any]) -> list[Callable[..., Any]]:
    """Return the functions that say what an algorithm does: a pattern that it is made of, and what builds schedules."""
    propose: Any = algorithm.propose
    given = propose.args if isinstance(propose, functools.partial) else ()
    found: list[Callable[..., Any]] = [f for f in given if isinstance(f, FunctionType) and inspect.getdoc(f)]
    home = home_of(algorithm)
    named: list[Callable[..., Any]] = []
    for function in _called(offer.build, home):
        if function.__name__.isidentifier() and not function.__name__.startswith("_"):
            if _builds(function):
                return [*found, function]
            named.append(function)
    if not found:
        found += [f for f in named if _module(f) == home and inspect.getdoc(f)][:1]
    return found


def _builds(function: Callable[..., Any]) -> bool:
    """Whether a function is public and makes a schedule."""
    made = str(getattr(function, "__annotations__", {}).get("return"))
    public = function.__name__ in getattr(sys.modules.get(function.__module__), "__all__", (function.__name__,))
    ours = function.__module__.startswith(_BUILDERS)
    return ours and public and made in ("Schedule", "WormholeSchedule") and bool(inspect.getdoc(function))


_STEP = re.compile(r"^\s*# [Ss]tep \d+: (?P<text>.*)$")
_MORE = re.compile(r"^\s*#  +(?P<text>.*)$")


def steps_of(function: Any, home: str) -> list[str]:
    """Return the numbered steps in the source of a function, or of the nearest that it calls and that has some."""
    for each in _called(function, home):
        try:
            lines = inspect.getsource(getattr(each, "py_func", each)).splitlines()
        except (OSError, TypeError):
            continue
        found: list[str] = []
        open_step = False
        for line in lines:
            if begin := _STEP.match(line):
                found.append(begin["text"].strip())
                open_step = True
            elif open_step and (more := _MORE.match(line)):
                found[-1] += " " + more["text"].strip()
            else:
                open_step = False
        if found:
            return found
    return []


_CITATION = re.compile(r"^[A-Z][^.:]*\b(?:19|20)\d\d(?:, .{0,80}|\.)?$")
"""A paragraph that only names a source."""


def place_of(function: Callable[..., Any]) -> str:
    """Return the name of a function and the file in which it stands."""
    return f"{function.__name__} in {file_of(function.__module__)}"


def file_of(module: str) -> str:
    """Return the file of a module below the folder of the package."""
    own = Path(str(sys.modules[module].__file__))
    return "/".join([*module.split(".")[: -1 if own.name != "__init__.py" else None], own.name])


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, each in one line, without the marks of code."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return [part.replace("``", "").replace("`", "") for part in parts if part and not part.startswith(">>>")]


def _before_sections(doc: str) -> str:
    """Return a docstring up to its first section."""
    return re.split(r"\n[A-Z][\w ]*\n-{3,}", doc)[0]


def _in_section(doc: str, title: str) -> str:
    found = re.search(rf"\n{title}\n-+\n(.*?)(?=\n[A-Z][\w ]*\n-{{3,}}|\Z)", doc, re.DOTALL)
    return found[1] if found else ""


_TWO_HALVES = (
    "An allreduce in two halves. In the reduce-scatter every rank gets the sum of one block of all buffers; in the "
    "allgather it sends this sum to all others, so that everybody has all of them.",
    "The reduce-scatter is the allgather run backwards in time. Where the allgather sends a message from its origin "
    "along a tree to all, contributions come in along the same tree in the opposite direction: a node adds its own to "
    "what it gets and sends the sum on. Every link is used in the opposite direction and at the mirrored time, so that "
    "two packets that never meet forwards never meet backwards either; where links and rules are the same in both "
    "directions, both halves take the same time.",
)
_BACKWARDS = (
    "Where a node sends a message to several forwards, it gets sums from these backwards: it waits for all that "
    "come to it, adds its own, and sends the sum on in the slot that mirrors the one in which it received. So the "
    "time, and the links that are busy, are those of the schedule that is reversed."
)


def _of_other(algorithm: Proposer[Any, Any]) -> str:
    """Return the algorithm that one runs backwards, or backwards and forwards; an empty text if it is none of these."""
    of = algorithm.name
    two_way = of.startswith("two-way-") and all(task.name in ("allreduce", "chunked") for task in algorithm.tasks)
    return of.partition("-way-" if two_way else "reversed-")[2] if two_way or of.startswith("reversed-") else ""


def basis_of(algorithm: Proposer[Any, Any]) -> Proposer[Any, Any]:
    """Return the algorithm of the registry that one runs backwards, or backwards and forwards; itself if it does not.

    >>> from gossamer.algorithms.registry import ALGORITHMS
    >>> basis_of(next(a for a in ALGORITHMS if a.name == "two-way-multi-ring")).name
    'multi-ring'
    """
    other = _of_other(algorithm)
    known = (each for kind in SWITCHINGS.values() for each in kind.algorithms() if each.name == other)
    return next(known, algorithm) if other else algorithm


def idea_of(algorithm: Proposer[Any, Any], docs: list[str]) -> Iterator[str]:
    """Yield the idea: how it is made of another algorithm, the docstring's opening, or the registry's line."""
    opening = [p for p in _paragraphs(_before_sections(docs[0])) if not _CITATION.match(p)] if docs else []
    other = _of_other(algorithm)
    pattern = len(opening) > 1 and opening[0].startswith("Return ")
    if other and algorithm.name.startswith("two-way-"):
        yield from _TWO_HALVES
    elif other:
        yield f"Runs the schedule of {other} backwards in time."
        if any(task.name not in _MOVED for task in algorithm.tasks):
            yield _BACKWARDS
    elif pattern or not opening or algorithm.name.endswith("-on-array"):
        yield f"{algorithm.summary[0].upper()}{algorithm.summary[1:]}."
    said = opening[pattern:]
    if other and said:
        yield f"Forwards, {other} is this. {said[0]}"
        said = said[1:]
    yield from said
    if len(opening) == 1 and not other and not algorithm.name.endswith("-on-array"):
        yield f"In short: {algorithm.summary}."


_MOVED = ("gather", "partial-gather", "uneven-gather", "chunked")
"""Tasks without sums that are others reversed."""


def notes_of(algorithm: Proposer[Any, Any], docs: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the docstrings note of the time, and of what it costs to compute.

    What is noted of the time of one half is not repeated of an allreduce.
    """
    notes: list[str] = []
    complexity: list[str] = []
    for paragraph in (p for doc in docs for p in _paragraphs(_in_section(doc, "Notes"))):
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph)
        costs = [s for s in sentences if re.search(r"\bO\(", s) and "steps" not in s]
        left = " ".join(s for s in sentences if s not in costs)
        complexity += costs
        notes += [left] if left else []
    if algorithm.name.startswith("two-way-") and _of_other(algorithm):
        notes = []
    return tuple(dict.fromkeys(notes)), tuple(dict.fromkeys(complexity))


# The bibliography.


@functools.cache
def _bibliography() -> tuple[tuple[Source, tuple[str, ...]], ...]:
    """Return the entries with the surnames of their authors; none where the file is not installed."""
    here = Path(__file__).resolve().parents[2]
    file = next((f for f in (here / "references.bib", here.parents[1] / "docs/references.bib") if f.exists()), None)
    if file is None:
        return ()
    entries = []
    for entry in re.split(r"^@\w+\{", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        fields = {m[1]: m[2] for m in re.finditer(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", entry, re.MULTILINE)}
        if {"author", "title", "year"} <= fields.keys():
            authors = [re.sub(r"[{}\\'\"]", "", a).strip() for a in fields["author"].split(" and ")]
            surnames = tuple(a.partition(",")[0].split()[-1] for a in authors)
            names = " and ".join(", ".join(a.partition(",")[0] for a in authors).rsplit(", ", 1))
            title = re.sub(r"[{}]", "", fields["title"])
            entries.append((Source(entry.partition(",")[0], names, title, fields["year"]), surnames))
    return tuple(entries)


def cited(source: str) -> Iterator[Source]:
    """Yield the entries that a source in words names by authors and year."""
    for entry, surnames in _bibliography():
        years = re.escape(entry.year)
        if re.search(rf"\b{re.escape(surnames[0])}\b[^;:0-9]*\b{years}\b", source):
            yield entry
