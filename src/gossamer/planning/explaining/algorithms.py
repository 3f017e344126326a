"""One algorithm explained on one network: idea, first slots, why it is optimal, source, and the steps of its code."""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.registry import current_name
from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.errors import GossamerError, NotApplicableError, nearest
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.offer_search import asked_case
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.planning.switching import SWITCHINGS
from gossamer.questions.cases import Offer, Proposer, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    ALLCOMBINE,
    COMBINE,
    COPY,
    MOVE,
    TASKS,
    Allreduce,
    Broadcast,
    Chunked,
    DemandTable,
    Grouped,
    PartialSumAllreduce,
    Reduce,
    Task,
    Together,
    UnevenExchange,
    as_task,
)
from gossamer.reading import whole
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows

__all__ = ["SHORT_NAMES", "AlgorithmExplanation", "Section", "SlotMoves", "Source", "explain_algorithm"]

SHORT_NAMES: dict[str, tuple[str, ...]] = {
    "ring": ("multi-ring", "hamiltonian-cycle", "extended-ring-tree", "extended-ring-paths", "parity-shift",
             "message-shift", "insertion", "heaviest-direction", "ring-all-gather"),
    "tree": ("binomial-tree", "product-tree", "shortest-path-tree", "translated-tree", "furthest-first",
             "congestion-priced-trees", "tree-packing"),
    "binomial": ("binomial-tree", "halving-scatter", "doubling-trees"),
    "bruck": ("bruck-trees", "bruck-exchange"),
    "recursive-doubling": ("recursive-doubling", "doubling-trees"),
    "recursive-halving": ("doubling-trees", "halving-scatter"),
    "halving-doubling": ("recursive-doubling",),
    "rabenseifner": ("recursive-doubling",),
    "swing": ("swing-allreduce",),
    "bine": ("bine-trees",),
    "pat": ("parallel-aggregated-trees",),
    "pairwise": ("pairwise-exchange",),
    "direct": ("direct-exchange", "pairwise-exchange"),
    "bucket": ("rotated-dimensions-unsegmented", "rotated-dimensions-segmented"),
    "edge-coloring": ("edge-colored", "array-rounds"),
    "flooding": ("fat-tree-flooding", "greedy-flooding"),
    "star-exchanges": ("fat-tree-star-exchanges",),
    "aggregation-distribution": ("atd-opt", "atd-5"),
}  # fmt: skip
"""Names by which people know algorithms, and those of the registry that carry them out, the first that covers a case.

Their reversals and the allreduces made of them are meant as well.
"""

_HALVED = ("halving-doubling", "rabenseifner")
"""Short names of an allreduce by as many halvings as there are."""
_PREFIXES = ("", "reversed-", "two-way-")
_RULES = (Rules(), Rules(segmented=True), Rules(ports="one"), Rules(ports="one-send"), Rules(ports="one-receive"))
"""Rules that are tried one after the other where none are asked for."""
_BUILDERS = ("gossamer.algorithms", "gossamer.wormhole")
_OURS = (*_BUILDERS, "gossamer.graphs", "gossamer.schedules.torus_on_array")
_MOST_HOPS = 500_000
"""Of larger schedules the slots are not drawn."""
_LISTED = 8
"""Senders of a slot that are named where the network is no grid."""
_WIDTH = 79


class Source(NamedTuple):
    """An entry of the bibliography: its key, who wrote it, the title and the year."""

    key: str
    authors: str
    title: str
    year: str


class SlotMoves(NamedTuple):
    """What happens in one slot, or wormhole step, to what is followed.

    Attributes
    ----------
    slot : int
        Which, counted from 0.
    busy : str
        How much of the network is in use, in words.
    moves : tuple of (int, int)
        From which node to which.
    holders : frozenset of int
        Nodes that have the message as the slot begins; empty where sums, or several messages, are followed.
    """

    slot: int
    busy: str
    moves: tuple[tuple[int, int], ...]
    holders: frozenset[int]


class Section(NamedTuple):
    """A part of an explanation: a title, paragraphs, and whether pictures of the slots belong to it.

    `numbered` are the steps of the code.
    """

    title: str
    paragraphs: tuple[str, ...]
    numbered: tuple[str, ...] = ()
    pictured: bool = False


@dataclass(frozen=True)
class AlgorithmExplanation:
    """An algorithm explained on a network.

    Attributes
    ----------
    name : str
        The algorithm's name in the registry.
    asked : str
        The task in the user's words.
    outcome : Outcome
        Its verified schedule beside the bounds.
    idea : tuple of str
        What it does, in paragraphs.
    followed : str
        What the pictures follow, in words.
    slots : tuple of SlotMoves
        The first slots in which something of that moves.
    code : tuple of str
        Where the code stands: "gossamer/algorithms/... function".
    steps : tuple of str
        The numbered steps of the code, in its own words.
    notes, complexity : tuple of str
        What the code says of its time, and what it costs to compute.
    sources : tuple of Source
        Entries of the bibliography.
    source : str
        The source in the words of the registry, with theorem or section.
    """

    name: str
    asked: str
    outcome: Outcome
    idea: tuple[str, ...]
    followed: str
    slots: tuple[SlotMoves, ...]
    code: tuple[str, ...]
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    complexity: tuple[str, ...]
    sources: tuple[Source, ...]
    source: str

    @property
    def network(self) -> Network:
        """Where it is explained."""
        return self.outcome.case.network

    @property
    def bound(self) -> Bound | None:
        """The largest lower bound, with its witness; None where there is nothing to do."""
        return self.outcome.bounds[0] if self.outcome.bounds else None

    @property
    def title(self) -> str:
        """Algorithm, task and network in a line."""
        net = self.network
        return (
            f"{self.name}: {self.asked}{self._chunks} on {net.spec} ({quantity(net.node_count, 'node')}, "
            f"{quantity(net.link_count, 'link')})"
        )

    @property
    def _chunks(self) -> str:
        """Into how many packets messages are cut, where the words of the task do not say it."""
        task = self.outcome.case.task
        return (
            f", {task.packets} packets a message" if isinstance(task, Chunked) and "packets" not in self.asked else ""
        )

    @property
    def why(self) -> tuple[str, ...]:
        """The time that was measured beside the largest bound, with its witness, and what follows."""
        out = self.outcome
        text = functools.partial(out.switching.time_text, out.case.cost)
        unit = f" for {out.case.cost.describe()}" if out.switching.name == "wormhole" else ""
        lines = [f"measured: {text(out.completion_time)}{unit}, on a schedule that the checker accepted"]
        bound = self.bound
        if bound is None:
            return (*lines, "there is nothing to send")
        scope = f", for {bound.scope}" if bound.scope else ""
        lines.append(f"bound: {text(bound.value)}{scope}: {bound.witness}")
        if out.completion_time == bound.value:
            lines.append(f"The two are equal: no {'such ' if bound.scope else ''}schedule is faster.")
        elif bound.value:
            ratio = f"{float(out.completion_time / bound.value):.4g}"
            lines.append(f"This takes {ratio} x the bound; whether less is possible is not known from it.")
        return tuple(lines)

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands that make the schedule and a film of it; none where the task is no name that can be typed."""
        case = self.outcome.case
        task, chunks = (case.task.task, case.task.packets) if isinstance(case.task, Chunked) else (case.task, 1)
        if not _named(task) or self.network.links_only or re.search(r"[\s()]", self.network.spec):
            return ()
        words = ["gossamer plan", self.network.spec, self.asked if _same(self.asked, task) else task.name]
        words += ["--switching wormhole"] if self.outcome.switching.name == "wormhole" else []
        words += [f"--chunks {chunks}"] if chunks > 1 else []
        words += [f"--ports {case.rules.ports}"] if case.rules.ports != "all" else []
        words += ["--segmented"] if case.rules.segmented else []
        words += [f"--algorithm {self.name}", "-o plan.parquet"]
        return " ".join(words), "gossamer draw plan.parquet -o film.gif"

    @property
    def sections(self) -> tuple[Section, ...]:
        """The explanation in parts, in the order in which they are read."""
        cited = [f"{s.key}: {s.authors}, {s.title}, {s.year}" for s in self.sources]
        optimal = self.bound is not None and self.outcome.completion_time == self.bound.value
        found = [
            Section("Idea", self.idea),
            Section(f"The first slots, for {self.followed}" if self.slots else "The first slots", (), pictured=True),
            Section("Why it is optimal" if optimal else "Time and bound", (*self.why, *self.notes)),
            Section("Steps of the code", self.code, self.steps),
            Section("Complexity", self.complexity),
            Section("Source", (self.source, *cited)),
            Section("Try it", self.commands),
        ]
        return tuple(part for part in found if part.paragraphs or part.numbered or part.pictured)

    def slots_in_text(self, width: int = _WIDTH) -> str:
        """Return the pictures of the slots in text, side by side as far as the width goes."""
        return "\n".join(_pictures(self, width))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, for JSON."""
        return {
            "algorithm": self.name,
            "task": self.asked,
            "network": self.network.spec,
            "idea": list(self.idea),
            "slots": [{"slot": s.slot, "busy": s.busy, "moves": [list(m) for m in s.moves]} for s in self.slots],
            "completion_time": str(self.outcome.completion_time),
            "bound": None if self.bound is None else str(self.bound.value),
            "why": list(self.why),
            "code": list(self.code),
            "steps": list(self.steps),
            "notes": list(self.notes),
            "complexity": list(self.complexity),
            "source": self.source,
            "references": [s._asdict() for s in self.sources],
        }

    def __str__(self) -> str:
        lines = [self.title]
        for part in self.sections:
            lines += ["", part.title]
            for paragraph in part.paragraphs:
                if paragraph in self.commands:
                    lines.append(f"  {paragraph}")
                    continue
                lines += textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ",
                                       break_long_words=False, break_on_hyphens=False)  # fmt: skip
            for number, step in enumerate(part.numbered, 1):
                lines += textwrap.wrap(step, _WIDTH, initial_indent=f"  {number}. ", subsequent_indent="     ")
            if part.pictured:
                lines += [f"  {line}".rstrip() for line in _pictures(self, _WIDTH - 2)]
        return "\n".join(lines)


def explain_algorithm(
    name: str, network: Any, task: Task | str | None = None, *, rules: Rules | None = None, slots: int = 4
) -> AlgorithmExplanation:
    """Explain an algorithm on a network: idea, first slots, why it is optimal, source, and the steps of its code.

    Parameters
    ----------
    name : str
        A name of the registry, such as ``"translated-tree"``, or one of `SHORT_NAMES`, such as ``"ring"``.
    network : Network, str, path or networkx graph
        A network, as for `gossamer.plan`; small ones make pictures that are seen at a glance.
    task : Task or str, optional
        What is carried out. Default: the first task that the algorithm covers on this network.
    rules : Rules, optional
        What the schedule must respect. Default: all ports and unsegmented messages; where the algorithm needs it,
        messages in parts or one port.
    slots : int
        How many slots are drawn, 1 to 100.

    Returns
    -------
    AlgorithmExplanation
        ``print`` gives it as text; `gossamer.plots.slot_pictures.write_page` as HTML or Markdown with pictures.

    Raises
    ------
    NotApplicableError
        If no algorithm has the name, or it does not cover the task on this network; with those that do.
    GossamerError
        If network, task or rules are illegal.

    Notes
    -----
    The time of a plan. The idea is the docstring of the function that builds the schedule, the steps are the comments
    ``# Step 1: ...`` of its source, so that an algorithm from outside the package is explained as well.

    Examples
    --------
    >>> import gossamer
    >>> found = gossamer.explain_algorithm("binomial", "hypercube:3")
    >>> found.name, found.asked
    ('binomial-tree', 'broadcast')
    >>> print(found.slots_in_text())
    * has it, + gets it in this slot, . does not have it yet
    slot 0: 3 of 24 links busy
      *000 > 001, 010, 100
    slot 1: 3 of 24 links busy
      *010 > 011
      *100 > 101, 110
    slot 2: 1 of 24 links busy
      *110 > 111
    """
    most = whole(slots, "slots", 1, 100)
    net = as_network(network)
    chosen = _chosen(name, net, task, rules)
    out = plan(
        net, chosen.task, switching=chosen.switching, rules=chosen.rules, algorithm=chosen.algorithm.name,
        options=chosen.options, effort="solver",
    )  # fmt: skip
    explaining = _explaining(chosen.algorithm, out.offer)
    home = _home(chosen.algorithm)
    docs = [inspect.getdoc(f) or "" for f in explaining] or [inspect.getdoc(sys.modules[home]) or ""]
    source = chosen.algorithm.source
    followed, drawn = _slots(out, most)
    steps = [step for f in explaining for step in _steps(f, home)] or _steps(out.offer.build, home)
    asked = task if isinstance(task, str) else chosen.task.name if _named(chosen.task) else chosen.task.describe()
    return AlgorithmExplanation(
        chosen.algorithm.name, asked, out, tuple(_idea(chosen.algorithm, docs)), followed, drawn,
        tuple(dict.fromkeys(_place(f) for f in explaining)) or (_file(home),),
        tuple(dict.fromkeys(steps)),
        *_notes(docs), tuple(_cited(source)), source,
    )  # fmt: skip


# Which algorithm is meant, for which task.


def _named(task: Task) -> bool:
    """Whether the name of a task says all of it."""
    return task.name in TASKS and _same(task.name, task)


def _same(words: str, task: Task) -> bool:
    """Whether some words name a task."""
    try:
        return as_task(words) == task
    except GossamerError:
        return False


class _Chosen(NamedTuple):
    algorithm: Proposer[Any, Any]
    switching: str
    task: Task
    rules: Rules | None
    options: Mapping[str, Any]


def _chosen(name: str, network: Network, asked: Task | str | None, rules: Rules | None) -> _Chosen:
    """Return the first algorithm of a name that covers a task; NotApplicableError if there is none."""
    known: dict[str, list[tuple[str, Proposer[Any, Any]]]] = {}
    for kind in SWITCHINGS.values():
        for each in kind.algorithms():
            known.setdefault(each.name, []).append((kind.name, each))
    key = current_name(str(name).strip().lower().replace("_", "-"))
    exact = [n for n in known if n.lower() == key]
    short = [p + base for base in SHORT_NAMES.get(key, ()) for p in _PREFIXES if p + base in known]
    names = list(dict.fromkeys([*exact, *short]))
    if not names:
        hint = nearest(key, [*known, *SHORT_NAMES]) or f"; short names: {', '.join(SHORT_NAMES)}"
        raise NotApplicableError(f"no algorithm {name!r}{hint}; see gossamer list algorithms")
    task = None if asked is None else as_task(asked)
    said: list[str] = []
    for called in names:
        for switching, algorithm in known[called]:
            chunked = Chunked in algorithm.tasks and called in exact
            if not (task is None or chunked or isinstance(task, (*algorithm.tasks, Allreduce))):
                continue
            for tried in _tasks(algorithm, task, network, halved=key in _HALVED):
                found = _covered(algorithm, switching, tried, network, rules, halved=key in _HALVED)
                if isinstance(found, _Chosen):
                    return found
                said.append(found if found.startswith(called) else f"{called} {found}")
    if task is None:
        reasons = "; ".join(dict.fromkeys(said)) or "no task of it fits"
        raise NotApplicableError(f"algorithm {name!r} does not cover {network.spec}: {reasons}")
    covering = sorted(_covering(task, network, rules))
    there = f"; there are: {', '.join(covering)}" if covering else ""
    why = f" ({'; '.join(list(dict.fromkeys(said))[:3])})" if said else ""
    words = asked if isinstance(asked, str) else task.name
    raise NotApplicableError(f"no algorithm {name!r} for {words} on {network.spec}{why}{there}")


def _covering(task: Task, network: Network, rules: Rules | None) -> Iterator[str]:
    """Yield the names of the algorithms for packets that cover a task."""
    for algorithm in SWITCHINGS["store-and-forward"].algorithms(type(task)):
        if isinstance(_covered(algorithm, "store-and-forward", task, network, rules), _Chosen):
            yield algorithm.name


def _tasks(algorithm: Proposer[Any, Any], asked: Task | None, network: Network, halved: bool) -> Iterator[Task]:
    """Yield the tasks on which an algorithm is tried: what is asked, or examples of those that it is for."""
    if halved:
        yield Chunked(PartialSumAllreduce(), max(2, network.terminal_count))
        return
    if asked is not None:
        forms = [asked, PartialSumAllreduce()] if isinstance(asked, Allreduce) else [asked]
        yield from forms
        if Chunked in algorithm.tasks and not isinstance(asked, Chunked | Grouped | DemandTable | Together):
            yield from (Chunked(form, packets) for form in forms for packets in (2, max(2, network.terminal_count), 16))
        return
    for kind in algorithm.tasks:
        yield from _examples(kind, network.terminal_count)


def _examples(kind: type[Task], n: int) -> Iterator[Task]:
    """Yield small tasks of a kind among so many nodes."""
    half, rows = tuple(range(0, n, 2)), [tuple(range(n // 2)), tuple(range(n // 2, n))]
    fields: dict[str, tuple[Any, ...]] = {
        "root": (0,),
        "active": (half,),
        "counts": (tuple(1 + u % 2 for u in range(n)),),
        "destination": (tuple(range(n - 1, -1, -1)), tuple(u // 2 if u % 2 == 0 else -1 for u in range(n))),
        "destinations": (tuple((u,) if u % 2 else () for u in range(n)),),
    }
    if kind is Chunked:
        for made in TASKS.values():
            with_root = getattr(made, "__dataclass_fields__", {}).keys() <= {"root"}
            if with_root:
                yield from (Chunked(made(), packets) for packets in (2, 16))
    elif kind is Grouped:
        for name in ("multinode-broadcast", "total-exchange", "allreduce", "partial-sum-allreduce"):
            if name in TASKS:
                yield Grouped(TASKS[name](), tuple(row for row in rows if row))
    elif kind is DemandTable:
        yield DemandTable.of([(0, [n - 1], 1)] if n > 1 else [])
    elif kind is Together:
        yield Together((Broadcast(n - 1), Reduce(0)))
    elif kind is UnevenExchange:
        yield UnevenExchange(tuple(tuple(1 + (u + v) % 2 if u != v else 0 for v in range(n)) for u in range(n)))
    else:
        names = list(getattr(kind, "__dataclass_fields__", {}))
        if names and names[0] in fields:
            yield from (kind(**{names[0]: value}) for value in fields[names[0]])
        else:
            yield kind()


def _covered(
    algorithm: Proposer[Any, Any], switching: str, task: Task, network: Network, rules: Rules | None,
    halved: bool = False,
) -> _Chosen | str:  # fmt: skip
    """Return how an algorithm is asked for a task, or why it does not cover it."""
    said = ""
    tried: Iterable[Rules | None] = (rules,) if rules is not None else _RULES if switching != "wormhole" else (None,)
    for each in tried:
        try:
            asked = asked_case(network, task, switching, each, None, 0)
            found = algorithm.offers(asked.planned)
        except GossamerError as error:
            said = said or str(error)
            continue
        if isinstance(found, Refusal):
            said = said or found.why
            continue
        offers = [offer for offer in found if not offer.on_request] or list(found)
        best = max(offers, key=lambda o: int(o.options.get("halvings", 0))) if halved else offers[0]
        return _Chosen(algorithm, switching, task, each, best.options)
    return said


# What the code says of itself: docstrings, numbered comments, and where it stands.


def _home(algorithm: Proposer[Any, Any]) -> str:
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


def _explaining(algorithm: Proposer[Any, Any], offer: Offer[Any]) -> list[Callable[..., Any]]:
    """Return the functions that say what an algorithm does: a pattern that it is made of, and what builds schedules."""
    propose: Any = algorithm.propose
    given = propose.args if isinstance(propose, functools.partial) else ()
    found: list[Callable[..., Any]] = [f for f in given if isinstance(f, FunctionType) and inspect.getdoc(f)]
    home = _home(algorithm)
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
    public = function.__name__ in getattr(sys.modules.get(function.__module__), "__all__", ())
    ours = function.__module__.startswith(_BUILDERS)
    return ours and public and made in ("Schedule", "WormholeSchedule") and bool(inspect.getdoc(function))


_STEP = re.compile(r"^\s*# [Ss]tep \d+: (?P<text>.*)$")
_MORE = re.compile(r"^\s*#  +(?P<text>.*)$")


def _steps(function: Any, home: str) -> list[str]:
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


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__name__} in {_file(function.__module__)}"


def _file(module: str) -> str:
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


def _idea(algorithm: Proposer[Any, Any], docs: list[str]) -> Iterator[str]:
    """Yield the idea: how it is made of another algorithm, the docstring's opening, or the registry's line."""
    opening = [p for p in _paragraphs(_before_sections(docs[0])) if not _CITATION.match(p)] if docs else []
    derived = algorithm.name.startswith(_PREFIXES[1:]) or algorithm.name.endswith("-on-array")
    pattern = len(opening) > 1 and opening[0].startswith("Return ")
    if derived or pattern or not opening:
        yield f"{algorithm.summary[0].upper()}{algorithm.summary[1:]}."
    yield from opening[pattern:]
    if len(opening) == 1 and not derived:
        yield f"In short: {algorithm.summary}."


def _notes(docs: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the docstrings note of the time, and of what it costs to compute."""
    notes: list[str] = []
    complexity: list[str] = []
    for paragraph in (p for doc in docs for p in _paragraphs(_in_section(doc, "Notes"))):
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph)
        costs = [s for s in sentences if re.search(r"\bO\(", s) and "steps" not in s]
        left = " ".join(s for s in sentences if s not in costs)
        complexity += costs
        notes += [left] if left else []
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


def _cited(source: str) -> Iterator[Source]:
    """Yield the entries that a source in words names by authors and year."""
    for entry, surnames in _bibliography():
        years = re.escape(entry.year)
        if re.search(rf"\b{re.escape(surnames[0])}\b[^;:0-9]*\b{years}\b", source):
            yield entry


# What moves in the first slots, and pictures of it in text.


def _slots(out: Outcome, most: int) -> tuple[str, tuple[SlotMoves, ...]]:
    """Return what is followed, in words, and the first slots in which something of it moves."""
    schedule, network = out.schedule, out.case.network
    if schedule is None or not schedule.messages.count or out.facts.size > _MOST_HOPS:
        return "", ()
    packets = out.switching.name != "wormhole"
    explicit = schedule.expand() if packets else schedule
    messages = explicit.messages
    if packets:
        of = np.append(message_rows(messages, explicit.packets), -1)[explicit.packet]
        begin, source, target = explicit.slot, network.link_source[explicit.link], network.link_target[explicit.link]
        end = hop_ends(network, explicit.parts, explicit.slot, explicit.link)
    else:
        rows = schedule.timeline()
        begin = np.unique(rows.start, return_inverse=True)[1]
        of = np.where(rows.message >= 0, np.searchsorted(messages.ids, rows.message), -1)
        source, target, end = rows.source, rows.target, begin + 1
    words, mine, whose = _followed(messages, of, network)
    if packets and mine.any() and messages.discipline[int(of[mine][0])] != MOVE:
        first = explicit.packet[mine].min()
        if bool((explicit.packet[mine] != first).any()):
            words, mine = f"the first packet of {words}", explicit.packet == first
    chosen = np.unique(begin[mine])[:most]
    found = []
    for slot in chosen.tolist():
        now = np.flatnonzero(begin == slot)
        if packets:
            used = np.unique(explicit.link[now]).size
            busy = f"{used:,} of {network.link_count:,} links busy"
        else:
            busy = quantity(np.unique(source[now].astype(np.int64) * network.node_count + target[now]).size, "message")
        moves = sorted({(int(source[i]), int(target[i])) for i in now[mine[now]]})
        holders = {*whose, *target[mine & (end <= slot)].tolist()} if whose else set()
        found.append(SlotMoves(slot, busy, tuple(moves), frozenset(holders)))
    return words, tuple(found)


def _followed(messages: Any, of: npt.NDArray[Any], network: Network) -> tuple[str, npt.NDArray[np.bool_], set[int]]:
    """Return what is followed in words, which moves are of it, and who has it at first, if it is one that is copied."""
    seen = of[of >= 0]
    first = int(seen.min()) if seen.size else 0
    kind, origin = messages.discipline[first], int(messages.origin[first])
    if kind == COPY:
        return f"the message of node {network.node_name(origin)}", of == first, {origin}
    if kind in (COMBINE, ALLCOMBINE):
        many = messages.count > 1
        return ("the first of the sums" if many else "the sum"), of == first, set()
    same = np.flatnonzero(messages.origin == origin)
    if same.size > 1 and same.size < messages.count:
        return f"the messages of node {network.node_name(origin)}", np.isin(of, same), set()
    return "all messages", of >= 0, set()


def _pictures(found: AlgorithmExplanation, width: int) -> list[str]:
    """Return the pictures of the slots in lines."""
    if not found.slots:
        return ["nothing moves, or the schedule is too large to be drawn: try a smaller network"]
    word = found.outcome.switching.words[0]
    copied = bool(found.slots[0].holders)
    legend = (
        f"* has it, + gets it in this {word}, . does not have it yet" if copied
        else f"* sends in this {word}, + receives, x does both, . neither"
    )  # fmt: skip
    blocks = []
    for slot in found.slots:
        drawn = _grid(found.network, slot) or _list(found.network, slot)
        blocks.append([f"{word} {slot.slot}: {slot.busy}", *drawn])
    flat = _grid(found.network, found.slots[0]) is not None
    return [legend, *(_beside(blocks, width) if flat else [line for block in blocks for line in block])]


def _mark(node: int, slot: SlotMoves) -> str:
    """Return the sign of a node in the picture of a slot."""
    gets = any(target == node for _, target in slot.moves)
    if slot.holders:
        return "*" if node in slot.holders else "+" if gets else "."
    sends = any(source == node for source, _ in slot.moves)
    return "x" if sends and gets else "*" if sends else "+" if gets else "."


def _grid(network: Network, slot: SlotMoves) -> list[str] | None:
    """Return a line, ring, array or torus in the plane with arrows along the links in use; None of other networks."""
    grid = network.grid
    if grid is None or len(grid.sides) > 2:
        return None
    rows, columns = (1, *map(int, grid.sides))[-2:]
    wrapped = (False, *grid.wraps)[-2:]
    if columns > 16 or rows > 16:
        return None
    moves = set(slot.moves)

    def across(u: int, v: int) -> str:
        return {(True, True): "<>", (True, False): "->", (False, True): "<-"}.get(
            ((u, v) in moves, (v, u) in moves), "  "
        )

    def down(u: int, v: int) -> str:
        return {(True, True): "X", (True, False): "v", (False, True): "^"}.get(((u, v) in moves, (v, u) in moves), " ")

    lines = []
    around = rows > 2 and wrapped[0]
    tall = [down((rows - 1) * columns + c, c) for c in range(columns)] if around else []
    margin = "  " if wrapped[1] and columns > 2 else ""
    if around:
        lines.append(margin + "  ".join(tall))
    for r in range(rows):
        nodes = [r * columns + c for c in range(columns)]
        line = _mark(nodes[0], slot)
        for u, v in itertools.pairwise(nodes):
            line += across(u, v) + _mark(v, slot)
        if margin:
            over = across(nodes[-1], nodes[0])
            line = over + line + over
        lines.append(line)
        if r + 1 < rows:
            lines.append(margin + "  ".join(down(u, u + columns) for u in nodes))
    if around:
        lines.append(margin + "  ".join(tall))
    return lines


def _list(network: Network, slot: SlotMoves) -> list[str]:
    """Return who sends to whom, a line for each sender."""
    targets: dict[int, list[str]] = {}
    for source, target in slot.moves:
        targets.setdefault(source, []).append(_name(network, target))
    lines = [f"  {_mark(u, slot)}{_name(network, u)} > {', '.join(names)}" for u, names in targets.items()]
    more = [f"  and {quantity(len(lines) - _LISTED, 'more sender')}"] if len(lines) > _LISTED else []
    return lines[:_LISTED] + more


def _name(network: Network, node: int) -> str:
    """Return the name of a node, its digits without brackets and commas where each is one digit."""
    place = network.coordinates
    if place is None or place.shape[1] < 2 or int(place.max()) > 9:
        return network.node_name(node)
    return "".join(str(int(x)) for x in place[node])


def _beside(blocks: list[list[str]], width: int) -> list[str]:
    """Return blocks of lines side by side as far as they fit, the others below."""
    wide = max(len(line) for block in blocks for line in block) + 3
    each = max(1, (width + 3) // wide)
    lines: list[str] = []
    for i in range(0, len(blocks), each):
        row = blocks[i : i + each]
        high = max(map(len, row))
        lines += [
            "".join(f"{block[k] if k < len(block) else '':{wide}}" for block in row).rstrip() for k in range(high)
        ]
        lines.append("")
    return lines[:-1]
