"""Usual algorithms: the names by which people know them, which of the registry is meant, and what they take here.

A name such as "ring" means one algorithm for an allgather and another one for a broadcast: those of the registry that
carry it out, the first that covers the case, with their reversals and the allreduces made of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from gossamer.algorithms.allreduce.exchange_stages import rank_sides
from gossamer.algorithms.registry import current_name
from gossamer.errors import GossamerError, NotApplicableError, few_of, nearest, shown
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.offer_search import asked_case
from gossamer.planning.switching import SWITCHINGS
from gossamer.questions.cases import Offer, Proposer, Refusal
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
    packets_of,
)

__all__ = [
    "USUAL",
    "Meant",
    "Usual",
    "example_network",
    "exchanges",
    "meant",
    "names_of",
    "partners",
    "reversed_kind",
    "short_names",
]

Say = Callable[[str], None]


class Use(NamedTuple):
    """Who uses an algorithm for a task, and whether a library chooses it for so many bytes among so many ranks.

    The sizes are those of MPICH: Thakur, Rabenseifner and Gropp 2005.
    """

    by: str
    here: Callable[[int, int], bool] | None = None


class Usual(NamedTuple):
    """An algorithm as people know it.

    * `name`: str.
    * `others` (tuple of str): its other names.
    * `algorithms` (tuple of str): of the registry, the first that covers a case; their reversals and the allreduces
      made of them are meant too.
    * `uses` (mapping of task to Use): who uses it for which task, where it is set beside schedules; reversed tasks are
      as those that they reverse.
    * `halved` (bool or None): of exchanges in stages: whether all stages are halved, or none; None where that is left
      open.
    * `pairs` (bool): whether ranks exchange in pairs, so that pictures show all of what is sent and not one message.
    * `example` (str): a small network on which it is explained.
    * `packets` (int): packets a message of the example, of all ranks where it is halved.
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
        {Broadcast: Use("MPI for long messages", lambda size, n: size >= 12 * 1024)},
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
_REVERSED: dict[type[Task], type[Task]] = {ReduceScatter: MultinodeBroadcast, Reduce: Broadcast, Gather: Scatter}


def reversed_kind(task: Task) -> type[Task]:
    """Return the kind of a task by which it is known who uses an algorithm: the one that a reduction reverses.

    >>> reversed_kind(Reduce()).__name__, reversed_kind(Allreduce()).__name__
    ('Broadcast', 'Allreduce')
    """
    return _REVERSED.get(type(task), type(task))


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
    """An algorithm of a name for a task, with the rules and options that it is asked for with.

    `algorithm`, `switching`, `task`, `rules`, `options`: what `gossamer.plan` takes. `halved` (bool or None): as of
    `Usual`.
    """

    algorithm: Proposer[Any, Any]
    switching: str
    task: Task
    rules: Rules | None
    options: Mapping[str, Any]
    halved: bool | None = None

    def options_for(self, case: Any) -> Mapping[str, Any]:
        """Return the options of a case, which depend on the times of links and the number of packets."""
        if self.halved is None:
            return {}
        offers = self.algorithm.offers(case)
        return {} if isinstance(offers, Refusal) else _options(offers, self.halved)


class UnknownNameError(NotApplicableError):
    """No algorithm has a name."""


_RULES = (None, Rules(segmented=True), Rules(ports="one"), Rules(ports="one-send"), Rules(ports="one-receive"))
"""Rules that are tried one after the other where none are asked for: the usual ones of the network first."""


def meant(
    name: str, network: Network, asked: Task | str | None = None, rules: Rules | None = None,
    switching: str | None = None, exactly: bool = False,
) -> Meant:  # fmt: skip
    """Return the first algorithm of a name that covers a task.

    * `name` (str): a name of the registry, or one of `USUAL`.
    * `asked` (Task or str): default: the first task that it covers.
    * `rules` (Rules): default: the first that it needs.
    * `switching` (str): how messages travel. Default: as the algorithm has it.
    * `exactly` (bool): whether messages are as many packets as they are asked for; else some may be cut where the
      algorithm needs it.

    Raises `NotApplicableError` if there is none, with those that cover the task.

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
    names = list(dict.fromkeys([*exact, *(n for n in (*names_of(key), *(p + x for x in exact for p in _PREFIXES))
                                          if n in known)]))  # fmt: skip
    if not names:
        hint = nearest(key, [*known, *_BY_NAME]) or f"; short names: {', '.join(short_names())}"
        raise UnknownNameError(f"no algorithm {shown(name)}{hint}; see gossamer list algorithms")
    halved, packets = (None, 1) if usual is None else (usual.halved, usual.packets)
    task = None if asked is None else as_task(asked)
    said: dict[str, str] = {}
    for called in names:
        for travels, algorithm in known[called]:
            if switching not in (None, travels):
                continue
            most = max(2, network.terminal_count) if halved else packets
            for tried in _tasks(algorithm, task, network, most, called in exact, exactly):
                found = _covered(algorithm, travels, tried, network, rules, halved)
                if isinstance(found, Meant):
                    return found
                said.setdefault(found, called)
    if task is None:
        reasons = "; ".join(_clauses(said)) or "no task of it fits"
        raise NotApplicableError(f"algorithm {shown(name)} does not cover {network.spec}: {reasons}")
    words = asked if isinstance(asked, str) else task.word
    where, covering = f"{words} on {network.spec}", list(dict.fromkeys(_covering(task, network, rules)))
    every = [pair for called in names for pair in known[called]]
    some = [algorithm for travels, algorithm in every if switching in (None, travels)]
    told = f"algorithm {shown(name)} "
    if said:
        told += f"does not cover {where}: {'; '.join(_clauses(said)[:2])}"
    elif not some:
        told += f"goes with {every[0][0]} switching, not with {switching}"
    elif isinstance(task, Grouped):
        told += "is for one group of all nodes"
    else:
        told += f"is for {_known_for(some)}, not for {words}"
    most = 3 if len(told) < 80 else 2  # long reasons leave less of the line
    raise NotApplicableError(told + (f"; there are: {few_of(key, covering, most)}" if covering else ""))


def _clauses(said: Mapping[str, str]) -> list[str]:
    """Return reasons with the names of the algorithms that have them, each reason once."""
    return [why if why.startswith(name) else f"{name} {why}" for why, name in said.items()]


def _known_for(algorithms: Iterable[Proposer[Any, Any]]) -> str:
    """Return the customary names of the tasks that algorithms are for."""
    kinds = dict.fromkeys(kind for algorithm in algorithms for kind in algorithm.tasks)
    plain = [kind for kind in kinds if kind not in (Chunked, Grouped, DemandTable, Together)]
    words = [kind.customary for kind in plain if kind.customary] or [kind.name for kind in plain]
    return ", ".join(dict.fromkeys(words)) or "messages in several packets"


def _covering(task: Task, network: Network, rules: Rules | None) -> Iterator[str]:
    """Yield the names of the algorithms for packets that cover a task, usual names first."""
    found = [
        algorithm.name
        for algorithm in SWITCHINGS["store-and-forward"].algorithms(type(task))
        if isinstance(_covered(algorithm, "store-and-forward", task, network, rules, None), Meant)
    ]
    yield from sorted(found)


def _tasks(
    algorithm: Proposer[Any, Any], asked: Task | None, network: Network, packets: int, named: bool, exactly: bool
) -> Iterator[Task]:
    """Yield the tasks on which an algorithm is tried: what is asked, or examples of those that it is for.

    An allreduce of partial sums has a packet for each rank's block, so that it is the one that was asked for. `named`:
    whether the algorithm goes by its own name.
    """
    ranks = max(2, network.terminal_count)
    if asked is None:
        if packets > 1 and PartialSumAllreduce in algorithm.tasks:
            yield Chunked(PartialSumAllreduce(), packets)
        else:
            for kind in algorithm.tasks:
                yield from _examples(kind, network.terminal_count)
        return
    general = (Chunked, Grouped, DemandTable, Together)
    own = tuple(kind for kind in algorithm.tasks if kind not in general)
    inner = asked.task if isinstance(asked, Chunked) else asked
    one = inner.task if isinstance(inner, Grouped) else inner
    if isinstance(one, Allreduce) and PartialSumAllreduce in own:
        sizes = {len(row) for row in inner.groups} if isinstance(inner, Grouped) else {ranks}
        if len(sizes) == 1 and min(sizes) > 1 and (not isinstance(inner, Grouped) or Grouped in algorithm.tasks):
            sums = chunked(PartialSumAllreduce(), min(sizes) * packets_of(asked))
            yield Grouped(sums, inner.groups) if isinstance(inner, Grouped) else sums
        return
    fits = isinstance(asked, own)
    if fits or (isinstance(asked, general) and isinstance(asked, algorithm.tasks) and (named or isinstance(one, own))):
        yield asked
    if Chunked in algorithm.tasks and not (exactly or isinstance(asked, general)) and (fits or (named and not own)):
        yield from (Chunked(asked, packets) for packets in (2, ranks, 16))


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
        return Meant(algorithm, switching, task, each, _options(found, halved), halved)
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

    Raises `NotApplicableError` if no algorithm has the name, or it covers none of some small networks.

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

    `algorithm` (Proposer): of the registry. `network` (Network): on a grid rounds go along one dimension after the
    other. Returns: list of sets of (int, int): for each round from which node to which; empty where the algorithm has
    no such rounds, or there are many ranks.
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
