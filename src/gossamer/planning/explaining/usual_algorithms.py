"""Usual algorithms: the names by which people know them, which of the registry is meant, and what they take here.

A name such as "ring" means one algorithm for an allgather and another one for a broadcast: those of the registry that
carry it out, the first that covers the case, with their reversals and the allreduces made of them.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from gossamer.algorithms.allreduce.exchange_stages import rank_sides
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import ring_words
from gossamer.algorithms.registry import current_name
from gossamer.errors import GossamerError, NotApplicableError, TaskError, nearest
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.explaining.advice import AskedAgain
from gossamer.planning.offer_search import Search, asked_case, best_of
from gossamer.planning.switching import SWITCHINGS
from gossamer.planning.switching.resource_limits import limits
from gossamer.questions.cases import Offer, Proposer, Refusal
from gossamer.questions.costs import TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    TASKS,
    Allreduce,
    Broadcast,
    Chunked,
    DemandTable,
    Gather,
    Grouped,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    Together,
    TotalExchange,
    UnevenExchange,
    as_task,
    chunked,
    in_packets,
    packets_of,
)

__all__ = [
    "USUAL",
    "Beside",
    "Meant",
    "Usual",
    "beside",
    "example_network",
    "exchanges",
    "meant",
    "names_of",
    "partners",
]

Say = Callable[[str], None]


class Use(NamedTuple):
    """Who uses an algorithm for a task, and whether a library chooses it for so many bytes among so many ranks.

    The sizes are those of MPICH: Thakur, Rabenseifner and Gropp 2005.
    """

    by: str
    here: Callable[[int, int], bool] | None = None
    blocks: bool = False
    """Whether it needs a packet for each rank."""


class Usual(NamedTuple):
    """An algorithm as people know it.

    Attributes
    ----------
    name : str
    others : tuple of str
        Its other names.
    algorithms : tuple of str
        Of the registry, the first that covers a case; their reversals and the allreduces made of them are meant too.
    uses : mapping of task to Use
        Who uses it for which task, where it is set beside schedules; reversed tasks are as those that they reverse.
    halved : bool or None
        Of exchanges in stages: whether all stages are halved, or none; None where that is left open.
    pairs : bool
        Whether ranks exchange in pairs, so that pictures show all of what is sent and not one message.
    example : str
        A small network on which it is explained.
    packets : int
        Packets a message of the example, of all ranks where it is halved.
    """

    name: str
    others: tuple[str, ...]
    algorithms: tuple[str, ...]
    uses: Mapping[type[Task], Use] = {}
    halved: bool | None = None
    pairs: bool = False
    example: str = "hypercube:3"
    packets: int = 1


def _power(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


USUAL: tuple[Usual, ...] = (
    Usual(
        "ring", ("rings", "multi-channel-ring"),
        ("multi-ring", "hamiltonian-cycle", "ring-broadcast", "extended-ring-paths", "parity-shift", "message-shift",
         "insertion", "heaviest-direction", "ring-all-gather"),
        {
            MultinodeBroadcast: Use(
                "NCCL; MPI for long messages", lambda size, n: size * n >= 1024 * (512 if _power(n) else 80)
            ),
            Allreduce: Use("NCCL for long messages"),
            Broadcast: Use("NCCL"),
        },
        example="ring:8",
    ),
    Usual(
        "tree", ("trees",),
        ("double-binary-trees", "binomial-tree", "product-tree", "rank-binomial-tree", "halving-scatter",
         "parallel-aggregated-trees"), packets=2,
    ),
    Usual(
        "double binary trees", ("binary-tree", "double-binary-tree", "double-tree", "two-tree"),
        ("double-binary-trees",), {Allreduce: Use("NCCL for short messages")}, packets=2,
    ),
    Usual(
        "recursive doubling", (), ("recursive-doubling", "doubling-trees"),
        {
            MultinodeBroadcast: Use(
                "MPI for short messages", lambda size, n: _power(n) and size * n < 512 * 1024
            ),
            Allreduce: Use("MPI for short messages", lambda size, n: size <= 2048),
        },
        halved=False, pairs=True,
    ),
    Usual(
        "halving and doubling", ("halving-doubling", "rabenseifner", "recursive-halving-doubling"),
        ("recursive-doubling",),
        {Allreduce: Use("MPI for long messages (Rabenseifner)", lambda size, n: size > 2048)}, halved=True,
        pairs=True,
    ),
    Usual("recursive halving", (), ("reversed-doubling-trees", "halving-scatter"), pairs=True),
    Usual(
        "Bruck", (), ("bruck-trees", "bruck-exchange"),
        {
            MultinodeBroadcast: Use(
                "MPI for short messages of other numbers of ranks",
                lambda size, n: not _power(n) and size * n < 80 * 1024,
            ),
            TotalExchange: Use("MPI for short messages"),
        },
    ),
    Usual(
        "binomial trees (PAT)", ("pat",), ("parallel-aggregated-trees",),
        {MultinodeBroadcast: Use("NCCL, one rank a server")},
    ),
    Usual(
        "binomial tree", ("binomial",),
        ("binomial-tree", "rank-binomial-tree", "halving-scatter", "binomial-tree-allreduce",
         "parallel-aggregated-trees"),
        {
            Broadcast: Use("MPI for short messages", lambda size, n: size < 12 * 1024),
            Scatter: Use("MPI"),
            Allreduce: Use("reduce, then broadcast"),
        },
    ),
    Usual(
        "scatter and allgather", ("scatter-allgather", "van-de-geijn"), ("scatter-allgather",),
        {Broadcast: Use("MPI for long messages", lambda size, n: size >= 12 * 1024, blocks=True)},
    ),
    Usual(
        "pairwise exchange", ("pairwise",), ("pairwise-exchange",),
        {TotalExchange: Use("NCCL; MPI for long messages")}, pairs=True,
    ),
    Usual("direct", ("direct-send", "one-shot"), ("direct-exchange", "pairwise-exchange"), example="complete:5"),
    Usual("Swing", (), ("swing-allreduce",), pairs=True, example="ring:8"),
    Usual("Bine", ("bine-tree",), ("bine-trees",), pairs=True, example="ring:8"),
    Usual(
        "bucket", ("dimension-exchange", "multi-dimensional-ring"),
        ("rotated-dimensions-unsegmented", "rotated-dimensions-segmented"), example="torus:4x4",
    ),
    Usual("edge coloring", (), ("edge-colored", "array-rounds"), example="torus:4x4"),
    Usual("flooding", (), ("fat-tree-flooding", "greedy-flooding"), example="fat-tree:k=2,h=3"),
    Usual("star exchanges", (), ("fat-tree-star-exchanges",), example="fat-tree:k=2,h=2"),
    Usual("aggregation-distribution", (), ("atd-opt", "atd-5"), example="torus:4x4"),
)  # fmt: skip
"""The usual algorithms, in the order in which they are named."""

_PREFIXES = ("", "reversed-", "two-way-")
_REVERSED = {ReduceScatter: MultinodeBroadcast, Reduce: Broadcast, Gather: Scatter}


def _key(name: str) -> str:
    """Return a name as it is looked up.

    >>> _key("Recursive_Doubling"), _key("binomial trees (PAT)")
    ('recursive-doubling', 'binomial-trees-(pat)')
    """
    return name.strip().lower().replace("_", "-").replace(" ", "-")


_BY_NAME = {_key(called): usual for usual in reversed(USUAL) for called in (usual.name, *usual.others)}


def names_of(name: str) -> tuple[str, ...]:
    """Return the names of the registry that a usual name stands for, or none.

    >>> names_of("Rabenseifner"), names_of("bine")
    (('recursive-doubling', 'reversed-recursive-doubling', 'two-way-recursive-doubling'), ('bine-trees', ...
    """
    usual = _BY_NAME.get(_key(name))
    return () if usual is None else tuple(p + base for base in usual.algorithms for p in _PREFIXES)


def short_names() -> list[str]:
    """Return a name for each usual algorithm that is typed in one word."""
    return [next((n for n in (_key(u.name), *u.others) if "(" not in n), u.name) for u in USUAL]


# Which algorithm is meant, for which task.


class Meant(NamedTuple):
    """An algorithm of a name for a task, with the rules and options that it is asked for with."""

    algorithm: Proposer[Any, Any]
    switching: str
    task: Task
    rules: Rules | None
    options: Mapping[str, Any]


_RULES = (None, Rules(segmented=True), Rules(ports="one"), Rules(ports="one-send"), Rules(ports="one-receive"))
"""Rules that are tried one after the other where none are asked for: the usual ones of the network first."""


def meant(name: str, network: Network, asked: Task | str | None = None, rules: Rules | None = None) -> Meant:
    """Return the first algorithm of a name that covers a task.

    Parameters
    ----------
    name : str
        A name of the registry, or one of `USUAL`.
    network : Network
    asked : Task or str, optional
        Default: the first task that it covers.
    rules : Rules, optional
        Default: the first that it needs.

    Raises
    ------
    NotApplicableError
        If there is none, with those that cover the task.

    Examples
    --------
    >>> import gossamer
    >>> [meant("ring", gossamer.network("mi300x"), task).algorithm.name for task in ("allgather", "broadcast")]
    ['multi-ring', 'ring-broadcast']
    """
    known: dict[str, list[tuple[str, Proposer[Any, Any]]]] = {}
    for kind in SWITCHINGS.values():
        for each in kind.algorithms():
            known.setdefault(each.name, []).append((kind.name, each))
    key = current_name(_key(str(name)))
    usual = _BY_NAME.get(key)
    exact = [n for n in known if n.lower() == key]
    names = list(dict.fromkeys([*exact, *(n for n in names_of(key) if n in known)]))
    if not names:
        hint = nearest(key, [*known, *_BY_NAME]) or f"; short names: {', '.join(short_names())}"
        raise NotApplicableError(f"no algorithm {name!r}{hint}; see gossamer list algorithms")
    halved, packets = (None, 1) if usual is None else (usual.halved, usual.packets)
    task = None if asked is None else as_task(asked)
    said: list[str] = []
    for called in names:
        for switching, algorithm in known[called]:
            chunks = Chunked in algorithm.tasks and (called in exact or isinstance(task, Chunked))
            if not (task is None or chunks or isinstance(task, (*algorithm.tasks, Allreduce))):
                continue
            for tried in _tasks(algorithm, task, network, max(2, network.terminal_count) if halved else packets):
                found = _covered(algorithm, switching, tried, network, rules, halved)
                if isinstance(found, Meant):
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
        if isinstance(_covered(algorithm, "store-and-forward", task, network, rules, None), Meant):
            yield algorithm.name


def _tasks(algorithm: Proposer[Any, Any], asked: Task | None, network: Network, packets: int) -> Iterator[Task]:
    """Yield the tasks on which an algorithm is tried: what is asked, or examples of those that it is for."""
    ranks = max(2, network.terminal_count)
    if asked is None and packets > 1 and PartialSumAllreduce in algorithm.tasks:
        yield Chunked(PartialSumAllreduce(), packets)
        return
    if asked is not None:
        inner = asked.task if isinstance(asked, Chunked) else asked
        yield asked
        forms: list[Task] = [asked]
        if isinstance(inner, Allreduce):  # blocks of a rank, as those of a reduce-scatter and an allgather
            yield chunked(PartialSumAllreduce(), ranks * packets_of(asked))
            forms.append(PartialSumAllreduce())
            yield from forms[1:]
        if Chunked in algorithm.tasks and not isinstance(asked, Chunked | Grouped | DemandTable | Together):
            yield from (Chunked(form, packets) for form in forms for packets in (2, ranks, 16))
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
    halved: bool | None,
) -> Meant | str:  # fmt: skip
    """Return how an algorithm is asked for a task, or why it does not cover it."""
    said = ""
    tried: Iterable[Rules | None] = (rules,) if rules is not None else _RULES if switching != "wormhole" else (None,)
    for each in tried:
        try:
            found = algorithm.offers(asked_case(network, task, switching, each, None, 0).planned)
        except GossamerError as error:
            said = said or str(error)
            continue
        if isinstance(found, Refusal):
            said = said or found.why
            continue
        return Meant(algorithm, switching, task, each, _options(found, halved))
    return said


def _options(offers: Iterable[Offer[Any]], halved: bool | None) -> Mapping[str, Any]:
    """Return the options of the offer that is meant: the first, or one with as many halvings as there are, or none."""
    some = list(offers)
    if halved is not None and all("halvings" in offer.options for offer in some):
        return min(some, key=lambda offer: int(offer.options["halvings"]) * (-1 if halved else 1)).options
    return ([offer for offer in some if not offer.on_request] or some)[0].options


_EXAMPLES = ("torus:4x4", "ring:8", "hypercube:3", "array:4x4", "complete:5", "fat-tree:k=2,h=2", "array:5", "ring:9",
             "star:4", "torus:5x5")  # fmt: skip
"""Small networks on which algorithms are explained where none is named."""


def example_network(name: str, task: Task | str | None = None, rules: Rules | None = None) -> str:
    """Return a small network that an algorithm covers.

    Raises
    ------
    NotApplicableError
        If no algorithm has the name, or it covers none of some small networks.

    Examples
    --------
    >>> example_network("ring"), example_network("translated-tree"), example_network("trivance")
    ('ring:8', 'torus:4x4', 'ring:9')
    """
    usual = _BY_NAME.get(_key(name))
    refused: NotApplicableError | None = None
    for spec in ([] if usual is None else [usual.example]) + [*_EXAMPLES]:
        try:
            meant(name, as_network(spec), task, rules)
        except NotApplicableError as error:
            refused = refused or error
        else:
            return spec
    assert refused is not None
    raise refused


def exchanges(algorithm: str) -> bool:
    """Return whether ranks exchange in pairs in an algorithm of the registry.

    >>> exchanges("doubling-trees"), exchanges("multi-ring")
    (True, False)
    """
    bare = algorithm.removeprefix("reversed-").removeprefix("two-way-")
    return any(usual.pairs and bare in (*usual.algorithms, "trivance") for usual in USUAL)


_MOST_SHOWN = 64
"""Ranks of which partners are listed."""


def partners(algorithm: Proposer[Any, Any], network: Network) -> list[set[tuple[int, int]]]:
    """Return who sends to whom in each round of an algorithm of rounds among ranks, which exchange in pairs.

    Parameters
    ----------
    algorithm : Proposer
        Of the registry.
    network : Network
        On a grid rounds go along one dimension after the other.

    Returns
    -------
    list of sets of (int, int)
        For each round from which node to which; empty where the algorithm has no such rounds, or there are many ranks.
    """
    propose: Any = algorithm.propose
    given = propose.args if isinstance(propose, partial) else ()
    pattern = next((f for f in given if isinstance(f, FunctionType)), None)
    sides = rank_sides(network, network.terminal_count)
    n = network.terminal_count
    if pattern is None or not exchanges(algorithm.name) or not 2 <= n <= _MOST_SHOWN:
        return []
    if len(inspect.signature(pattern).parameters) > 1:
        ends = np.array([(u, v) for u in range(n) for v in range(n) if u != v], np.int64).T
        step, source, target, _ = pattern(sides, *ends)
        return [set(zip(source[step == k].tolist(), target[step == k].tolist(), strict=True)) for k in np.unique(step)]
    found: list[set[tuple[int, int]]] = []
    ranks = np.arange(n).reshape(sides)
    for dimension, side in enumerate(sides):
        line = pattern(side) if side > 1 else []
        if line is None:
            return []
        lines = np.moveaxis(ranks, dimension, -1).reshape(-1, side)
        if isinstance(line, list):
            rounds = [{(int(a), int(b)) for row in stage for a in row for b in row if a != b} for stage in line]
        else:
            sent = line.reshape(-1, 3)
            rounds = [set(map(tuple, sent[sent[:, 0] == k, 1:].tolist())) for k in np.unique(sent[:, 0])]
        found += [{(int(row[u]), int(row[v])) for row in lines for u, v in pairs} for pairs in rounds]
    return found


# What they take on a network, beside a schedule.


@dataclass(frozen=True)
class Beside:
    """A usual algorithm on the same network.

    Attributes
    ----------
    name : str
        What people call it.
    usual : str
        Who uses it, and when.
    time : Fraction or None
        In seconds or in the unit of the cost; None where it does not run here.
    packets : int
        Packets a message that take least of those tried.
    skipped : str
        Why it does not run here, or an empty text.
    form : str
        The name with what is special here: along which cables a ring runs.
    algorithm : str
        Its name in the registry.
    """

    name: str
    usual: str
    time: Fraction | None
    packets: int = 1
    skipped: str = ""
    form: str = ""
    algorithm: str = ""


_LITTLE = Fraction(1, 100)
"""Share of the time that more packets must gain to be worth trying more."""
_LONG = 2.0
"""Seconds of work that a number of packets may take to build, so that more are tried."""
_CUTS = (1, 8, 64, 512)
"""Packets a message that are tried, in seconds."""
_MOST_SENT = 200_000
"""Packets times ranks at the most, where messages are cut."""


def beside(asked: AskedAgain, budget: float, say: Say) -> tuple[tuple[Beside, ...], str]:
    """Return how rings, trees and exchanges among ranks compare on the network, and a remark if there are none.

    Each is planned by its name in the registry, so that `gossamer.plan` with that algorithm and as many packets a
    message takes the same time.

    Parameters
    ----------
    asked : AskedAgain
        The question.
    budget : float
        Seconds after which no further one is built.
    say : callable
        Told what is built.
    """
    task = asked.task.task if isinstance(asked.task, Chunked) else asked.task
    if asked.switching == "wormhole":
        return (), "rings and trees of libraries are compared for store-and-forward schedules only"
    if isinstance(task, Grouped | Together):
        return (), "rings and trees of libraries are compared for one collective among all nodes only"
    if asked.rules is not None and (asked.rules.buffer is not None or asked.rules.reduction):
        return (), "rings and trees of libraries are not compared under a limit of buffers or with sums in switches"
    if asked.network.terminal_count < 2:
        return (), "one node alone has nobody to send to"
    until, found = time.monotonic() + budget, list[Beside]()
    for usual in USUAL:
        use = usual.uses.get(_REVERSED.get(type(task), type(task)))
        if use is None:
            continue
        size = asked.cost.bytes if isinstance(asked.cost, TimeCost) else 0
        here = size and use.here is not None and use.here(size, asked.network.terminal_count)
        words = f"{use.by}; its choice for this size" if here else use.by
        say(f"building: {usual.name}")
        if time.monotonic() > until:
            found.append(Beside(usual.name, words, None, skipped="left out for lack of time"))
            continue
        try:
            found.append(_timed(asked, task, usual, words, use.blocks, until))
        except GossamerError as error:
            found.append(Beside(usual.name, words, None, skipped=str(error).partition("; ")[0]))
    remark = "" if found else f"no usual ring or tree is known for {task.name}"
    return tuple(sorted(found, key=lambda each: (each.time is None, each.time or 0))), remark


def _timed(asked: AskedAgain, task: Task, usual: Usual, words: str, blocks: bool, until: float) -> Beside:
    """Return what an algorithm takes with as many packets a message as take least of some."""
    given, ranks = packets_of(asked.task), asked.network.terminal_count
    rules = replace(asked.rules or Rules(), segmented=False)
    best: Beside | None = None
    refused: GossamerError | None = None
    idle = 0
    for cut in _CUTS if asked.seconds and given == 1 else (given,):
        if cut > 1 and cut * ranks * (1 if isinstance(task, Broadcast | Reduce) else ranks) > _MOST_SENT:
            break
        if blocks and cut < ranks:
            refused = refused or TaskError(f"needs messages of {ranks} packets or more")
            continue
        begun = time.process_time()
        try:
            new = _by_name(asked, in_packets(task, cut), usual, rules)
        except GossamerError as error:
            refused = refused or error
            continue
        gained = best is None or best.time is None or new.time < best.time * (1 - _LITTLE)
        if best is None or best.time is None or new.time < best.time:
            most = {} if rules.ports == "all" else {"most": 1}
            form = ring_words(new.network, **most) if usual.name == "ring" else ""
            best = Beside(usual.name, words, new.time, new.packets, form=form, algorithm=new.algorithm)
        idle = 0 if gained else idle + 1  # rounds that follow each other at once pay off late
        if idle > 1 or time.process_time() - begun > _LONG or time.monotonic() > until:
            break
    if best is None:
        raise refused or TaskError(f"ranks send over {_MOST_SENT:,} packets")
    return best


class _Built(NamedTuple):
    """What a plan by name takes, in how many packets a message, by which algorithm, on which network."""

    time: Fraction
    packets: int
    algorithm: str
    network: Network


def _by_name(asked: AskedAgain, task: Task, usual: Usual, rules: Rules) -> _Built:
    """Plan a task by the algorithm that is meant, without bounds."""
    chosen = meant(usual.name, asked.network, task, rules)
    cost = replace(asked.cost, form="best") if isinstance(asked.cost, TimeCost) else asked.cost
    question = asked_case(asked.network, chosen.task, chosen.switching, chosen.rules, cost, 0)
    search, allowed = Search(question, None, lambda case: ()), limits(None, None)
    offers = chosen.algorithm.offers(question.planned)  # with the times of links, which decide what is offered
    options = chosen.options if isinstance(offers, Refusal) else _options(offers, usual.halved)
    candidates = search.candidates(chosen.algorithm.name, options, "search")
    found = best_of(search, search.fitting(candidates, allowed), allowed, False, ())
    taken = found.completion_time if found.seconds is None else found.seconds
    return _Built(taken, packets_of(chosen.task), found.algorithm, question.planned.network)
