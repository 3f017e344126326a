"""Tasks by name: with their fields, with destinations that follow a pattern, or as a file describes them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import NetworkError, TaskError, nearest, shown
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.questions.tasks.chunked import chunked
from gossamer.questions.tasks.composite_tasks import Together, ranks
from gossamer.questions.tasks.demand_table import DemandTable, read_table
from gossamer.questions.tasks.exchanges import (
    NeighborExchange,
    PartialExchange,
    PartialGather,
    TotalExchange,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
)
from gossamer.questions.tasks.group_tasks import Grouped, named_groups
from gossamer.questions.tasks.multinode import (
    Allreduce,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    PartialSumAllreduce,
    ReduceScatter,
)
from gossamer.questions.tasks.patterns import named_traffic, one_to_many, permutation
from gossamer.questions.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.questions.tasks.task import Task
from gossamer.reading import seed as read_seed
from gossamer.reading.node_lists import named_nodes, named_numbers, read_destinations
from gossamer.reading.quantities import Bytes, size
from gossamer.reading.traffic_files import in_units, read_traffic

# Every task by its classical and its modern names, those of MPI and of the collective libraries among them.
#
# A name is known however it is written: ``allgather``, ``all_gather``, ``AllGather``, ``MPI_Allgather``,
# ``ncclAllGather``. A name of MPI or NCCL means here what it means there.

TASKS: dict[str, type[Task]] = {
    t.name: t
    for t in (
        Broadcast,
        Scatter,
        Gather,
        MultinodeBroadcast,
        PartialMultinodeBroadcast,
        GroupMultinodeBroadcast,
        MultipleBroadcast,
        TotalExchange,
        PartialExchange,
        PartialGather,
        Permutation,
        OneToManyRouting,
        Reduce,
        ReduceScatter,
        PartialReduceScatter,
        MultipleReduce,
        Allreduce,
        PartialSumAllreduce,
        UnevenExchange,
        UnevenScatter,
        UnevenGather,
        NeighborExchange,
        DemandTable,
    )
}
"""Every task by its classical name."""


ALIASES: dict[str, str] = {
    "bcast": "broadcast",
    "allgather": "multinode-broadcast",
    "gossip": "multinode-broadcast",
    "group-allgather": "group-multinode-broadcast",
    "allgatherv": "multiple-broadcast",
    "alltoall": "total-exchange",
    "restricted-broadcasting": "one-to-many-routing",
    "MPI_Reduce_scatter_block": "reduce-scatter",
    "MPI_Reduce_scatter": "multiple-reduce",
    "reduce-scatterv": "multiple-reduce",
    "alltoallv": "uneven-exchange",
    "alltoallw": "uneven-exchange",
    "scatterv": "uneven-scatter",
    "gatherv": "uneven-gather",
    "neighbor-alltoall": "neighbor-exchange",
    "halo-exchange": "neighbor-exchange",
}
"""Modern and other names of the tasks. ``MPI_Reduce_scatter`` has counts per rank; that of the others has none."""


def _folded(name: str) -> str:
    """Return a name without case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name.lower())


_USUAL = ("broadcast", "reduce", "allgather", "reduce-scatter", "allreduce", "alltoall", "gather", "scatter")
"""The tasks that a message names where none is like what was typed."""
_KNOWN = {_folded(name): name for name in TASKS} | {_folded(alias): name for alias, name in ALIASES.items()}


def kind_of(name: str) -> type[Task]:
    """Return the class of the task called `name`, a classical or a modern name; TaskError if there is none.

    Case, spaces, hyphens, underscores, the prefixes of MPI and NCCL, and the endings of names in PyTorch and in NCCL's
    tests (``all_gather_into_tensor``, ``all_reduce_perf``) do not matter.

    Examples
    --------
    >>> [kind_of(name).name for name in ("AllGather", "MPI_Bcast", "ncclReduceScatter", "all_to_all_single")]
    ['multinode-broadcast', 'broadcast', 'reduce-scatter', 'total-exchange']
    """
    key = _folded(str(name))
    bare = re.sub("^(mpi|ncclx|nccl)|(perf|intotensor|tensor|single|coalesced|base)$", "", key)
    if key in _KNOWN or bare in _KNOWN:
        return TASKS[_KNOWN.get(key) or _KNOWN[bare]]
    names = [*TASKS, *ALIASES]
    hint = nearest(str(name).strip(), names) or f"; tasks are {', '.join(_USUAL)} and {len(TASKS) - len(_USUAL)} others"
    raise TaskError(f"unknown task {name!r}{hint}")


def task(name: str, **fields: Any) -> Task:
    """Return the task called `name`, a classical or a modern name, with the given fields.

    Parameters
    ----------
    name : str
        A key of ``TASKS`` or of ``ALIASES``; case, hyphens, underscores, ``MPI_`` and ``nccl`` do not matter.
    **fields
        ``root``, ``active``, ``counts``, ``destination`` or ``destinations``, as the task asks. A routing task takes,
        instead of its destinations, ``network=`` and ``pattern=``, a name of
        `gossamer.questions.tasks.patterns.PATTERNS`, and if need be ``density=``, the share of its messages that are
        kept, and ``seed=``. With ``network=``, the root may be given by its coordinates or its name. ``chunks=`` gives
        every message so many packets (default 1; ``packets=`` is the same), and ``groups=``, lists of nodes, does the
        task in each of these groups at once.

    Raises
    ------
    TaskError
        If the name is unknown, or a field is missing, superfluous or illegal.

    Examples
    --------
    >>> task("allgather")
    MultinodeBroadcast()
    >>> task("broadcast", root=3), task("broadcast", network="torus:4x4", root=(1, 2))
    (Broadcast(root=3), Broadcast(root=6))
    >>> task("permutation", network="ring:3", pattern="neighbor")
    Permutation(destination=(1, 2, 0))
    """
    return _made(name, fields, str(name).strip())


def _made(name: str, fields: dict[str, Any], word: str) -> Task:
    """Return the task called `name` with its fields, and with the user's word for it unless that is empty."""
    if "groups" in fields:
        groups = fields.pop("groups")
        return Grouped(_made(name, fields, word), groups)
    for key in ("chunks", "packets"):
        if key in fields:
            packets = fields.pop(key)
            return chunked(_made(name, fields, word), packets)
    kind = kind_of(name)
    if "pattern" in fields:
        return _patterned(kind, **fields).called(word)
    if {"network", "root"} <= fields.keys():
        fields["root"] = as_network(fields.pop("network")).node(fields["root"])
    key = kind.name
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for field in fields:
        if field not in known:
            allowed = f"it takes {', '.join(known)}" if known else "it takes none"
            raise TaskError(f"task {key} has no field {field!r}; {allowed}")
    needed = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]  # type: ignore[arg-type]
    for field in needed:
        if field not in fields:
            raise TaskError(f"task {key} needs {field!r}")
    return kind(**fields).called(word)


def _patterned(kind: type[Task], **fields: Any) -> Task:
    """Return the routing task whose destinations follow a pattern."""
    makers = {Permutation: permutation, OneToManyRouting: one_to_many}
    if kind not in makers:
        raise TaskError(f"task {kind.name} takes no pattern; {Permutation.name} and {OneToManyRouting.name} do")
    if "network" not in fields:
        raise TaskError(f"a pattern of {kind.name} needs the network: network='torus:8x8'")
    network, pattern = as_network(fields.pop("network")), fields.pop("pattern")
    for field in fields:
        if field not in ("density", "seed"):
            raise TaskError(f"a pattern of {kind.name} takes density and seed, not {field!r}")
    return makers[kind](pattern, network, **fields)


def as_task(asked: Task | str) -> Task:
    """Return a task that is asked by its name, or is one; TaskError if it is neither.

    Examples
    --------
    >>> as_task("allgather") == as_task(task("multinode-broadcast"))
    True
    """
    if isinstance(asked, str):
        return task(asked)
    if not isinstance(asked, Task):
        raise TaskError(f"a task must be a name, such as allgather, or a task of gossamer.task, got {shown(asked)}")
    return asked


def task_from_dict(fields: dict[str, Any]) -> Task:
    """Return the task that `Task.to_dict` described; TaskError if it describes none."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise TaskError(f"a task is described by its name and its fields, got {fields!r}")
    rest = dict(fields)
    name = rest.pop("name")
    if name == Together.name:
        tasks = [dict(t) for t in rest.pop("tasks")]
        names = [t.pop("called") for t in tasks]
        return Together(tuple(map(task_from_dict, tasks)), tuple(names), **rest)
    return _made(name, rest, "")


# Tasks in words, as the command line and studies have them: the words of their fields, and how they are read.


@dataclass(frozen=True)
class TaskWords:
    """The options that say more of a task than its name.

    Attributes
    ----------
    root : str
        Root of a broadcast, scatter, gather or reduce: a number, or coordinates such as 1,2. Default 0.
    active : str
        Active nodes: a file (text, .npy, .mtx), numbers 0,5,7, random:M, or all.
    counts : str
        Messages that each node broadcasts: a file (text, .npy) or numbers 2,0,1.
    destinations : Path
        File (text, .npy): where each node in turn sends, -1 for none; or lines 'source: destinations'.
    pattern : str
        Destinations by name: transpose, bit-reversal, shuffle, reversal, row-reversal, complement, identity, random,
        tornado, neighbor, packed-triangle, packed-rows, packed-columns; for sets also random:SOURCES.
    density : float
        Share of the messages of a pattern that are sent, 0 to 1. Default 1.
    chunks : int
        Packets of each message, which may take different paths. Default 1.
    groups : str
        Groups of nodes in each of which the task is done, others pass packets on: one list such as 0-7, several such as
        0,2;1,3, 'dimension 1', 'blocks 8' (the GPUs of a server), 'rails 8', or a file with a group a line.
    graph : str
        Of a neighbor exchange: a network or a file of links, whose node u is terminal u. Default: the network itself.
    demands : Path
        Traffic of 'demands' and 'alltoallv': a matrix or a table (.csv, .parquet, .json, .npy, .mtx).
    traffic : str
        Traffic by name instead: uniform, hot-spot, zipf, stencil, h-relation, with options as in
        zipf:packets=64,exponent=1.2.
    unit : str
        Bytes of a packet where a table has bytes, such as 64KiB. Default 1 byte.
    """

    root: str | None = None
    active: str | None = None
    counts: str | None = None
    destinations: Path | None = None
    pattern: str | None = None
    density: float | None = None
    chunks: int | None = None
    groups: str | None = None
    graph: str | None = None
    demands: Path | None = None
    traffic: str | None = None
    unit: Bytes | None = None


def check_words(name: str, words: Iterable[str]) -> None:
    """Raise a TaskError if a task is unknown, takes no option of a name, or misses one; its network is not needed."""
    kind = kind_of(name)
    key, routed, given = _key(name, kind), _routed(kind), set(words) - {"chunks", "group", "groups"}
    fields = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    takes = fields | ({"destinations", "pattern", "density"} if routed else set())
    if kind is NeighborExchange and given == {"graph"}:
        return
    if kind in (DemandTable, UnevenExchange):
        takes = {"demands", "traffic", "unit"}
    for word in words:
        if word in given and word not in takes:
            raise TaskError(f"task {key} takes no --{word}")
    if kind in (DemandTable, UnevenExchange):
        return
    if "active" in takes and "active" not in given:
        raise TaskError(f"task {key} needs --active: a file, numbers such as 0,5,7, random:M, or all")
    if "counts" in takes and "counts" not in given:
        raise TaskError(f"task {key} needs --counts: a file, or numbers such as 2,0,1, one for each node")


def _key(name: str, kind: type[Task]) -> str:
    """Return what a task is called in messages: as it was typed, and its own name where that is another."""
    return kind.name if kind.name == name else f"{name} ({kind.name})"


def _routed(kind: type[Task]) -> list[str]:
    """Return the field of a task that says where messages go, if it has one."""
    return [f.name for f in dataclasses.fields(kind) if f.name in ("destination", "destinations")]  # type: ignore[arg-type]


def asked_task(name: str, words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return the task of a name and its options, or raise a TaskError that names the option that is wrong."""
    if "group" in words:  # its name before
        if "groups" in words:
            raise TaskError("give --groups once: --group is its old name")
        words = {"groups" if word == "group" else word: value for word, value in words.items()}
    outer: dict[str, Any] = {word: words[word] for word in ("chunks", "groups") if word in words}
    if outer:
        return _outer(name, outer, {w: v for w, v in words.items() if w not in outer}, network, seed)
    kind = kind_of(name)
    key = _key(name, kind)
    read_seed(seed, "--seed")
    if kind is NeighborExchange and set(words) == {"graph"}:
        along = NeighborExchange.along(words["graph"])
        along.check(network)
        return along.called(name)
    routed = _routed(kind)
    check_words(name, words)
    if kind in (DemandTable, UnevenExchange):
        return _traffic(kind, key, words, network, seed).called(name)
    if routed:
        return _routing(kind, key, routed[0], words, network, seed).called(name)
    fields = dict(words)
    if "root" in fields:
        fields["root"] = _node(fields["root"], network)
    if "active" in fields:
        fields["active"] = named_nodes(fields["active"], network.terminal_count, seed)
    if "counts" in fields:
        fields["counts"] = named_numbers(fields["counts"])
    made = kind(**fields)
    made.check(network)
    return made.called(name)


def _outer(name: str, outer: dict[str, Any], words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return a task of several packets a message, or one carried out in groups, or both."""
    groups = named_groups(outer["groups"], network) if "groups" in outer else ()
    if groups and len({len(group) for group in groups}) > 1 and set(words) - {"root"}:
        raise TaskError(f"--{next(iter(set(words) - {'root'}))} goes with groups of one size")
    inner = asked_task(name, words, ranks(len(groups[0])) if groups else network, seed)
    made = chunked(inner, outer.get("chunks", 1))
    if groups:
        made = Grouped(made, groups)
        made.check(network)
    return made


def _traffic(kind: type[Task], key: str, words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return a task of a traffic matrix or a table of demands, from a file or by name."""
    if ("demands" in words) == ("traffic" in words):
        both = ", not both" if "demands" in words else ""
        raise TaskError(f"task {key} needs --demands FILE or --traffic NAME{both}")
    if "traffic" in words:
        if "unit" in words:
            raise TaskError("--unit goes with --demands; traffic by name is in packets")
        matrix = named_traffic(words["traffic"], network, seed)
        made: Task = UnevenExchange(matrix.tolist()) if kind is UnevenExchange else DemandTable.from_matrix(matrix)
    elif kind is UnevenExchange:
        found = read_traffic(words["demands"], network.terminal_count)
        if "unit" in words:
            found = in_units(found, size(words["unit"], "--unit", error=TaskError))
        if found.matrix is None:
            raise TaskError(f"task {key} needs a matrix; a table of demands is for the task 'demands'")
        made = UnevenExchange(found.matrix.tolist())
    else:
        made = read_table(words["demands"], network, words.get("unit"))
    made.check(network)
    return made


def _node(word: str, network: Network) -> int:
    """Return the node of --root: a number, a name, or coordinates with or without parentheses."""
    try:
        return network.node(word)
    except NetworkError as error:
        raise TaskError(f"--root: {error}") from None


def _routing(kind: type[Task], key: str, field: str, words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return a routing task, its destinations from a file or a pattern."""
    destinations: Path | None = words.get("destinations")
    pattern, density = words.get("pattern"), words.get("density")
    if (destinations is None) == (pattern is None):
        both = "" if pattern is None else ", not both"
        raise TaskError(f"task {key} needs --destinations FILE or --pattern NAME{both}")
    if pattern is not None:
        share = 1.0 if density is None else density
        return task(kind.name, network=network, pattern=pattern, density=share, seed=seed)
    if density is not None:
        raise TaskError("--density goes with --pattern")
    assert destinations is not None  # one of the two is given
    made = kind(**{field: read_destinations(destinations, network.terminal_count, sets=field == "destinations")})
    made.check(network)
    return made
