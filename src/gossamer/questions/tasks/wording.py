"""Tasks in words, as the command line and studies have them: the words of their fields, and how they are read."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import NetworkError, TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks.chunked import chunked
from gossamer.questions.tasks.demand_table import DemandTable
from gossamer.questions.tasks.group_words import named_groups
from gossamer.questions.tasks.grouped import Grouped
from gossamer.questions.tasks.names import kind_of
from gossamer.questions.tasks.neighbors import NeighborExchange
from gossamer.questions.tasks.parsing import task
from gossamer.questions.tasks.patterns.traffic import named_traffic
from gossamer.questions.tasks.table_files import read_table
from gossamer.questions.tasks.task import Task
from gossamer.questions.tasks.uneven import UnevenExchange
from gossamer.questions.tasks.uniting import ranks
from gossamer.reading import seed as read_seed
from gossamer.reading.demands import in_units, read_traffic
from gossamer.reading.quantities import Bytes, size
from gossamer.reading.tables import named_nodes, named_numbers, read_destinations

__all__ = ["TaskWords", "asked_task"]


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
        Packets of each message, which may go different ways. Default 1.
    group : str
        Only among these nodes, such as 0-7; the others pass packets on.
    groups : str
        Groups in each of which the task is carried out: lists such as 0-7 or 0,2;1,3, 'dimension 1', 'blocks 8' (the
        GPUs of a server), 'rails 8', or a file with a group a line.
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
    group: str | None = None
    groups: str | None = None
    graph: str | None = None
    demands: Path | None = None
    traffic: str | None = None
    unit: Bytes | None = None


def asked_task(name: str, words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return the task of a name and its options, or raise a TaskError that names the option that is wrong."""
    if "group" in words:
        words = _one_group(words)
    outer: dict[str, Any] = {word: words[word] for word in ("chunks", "groups") if word in words}
    if outer:
        return _outer(name, outer, {w: v for w, v in words.items() if w not in outer}, network, seed)
    kind = kind_of(name)
    key = kind.name if kind.name == name else f"{name} ({kind.name})"
    read_seed(seed, "--seed")
    takes = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if kind is NeighborExchange and set(words) == {"graph"}:
        along = NeighborExchange.along(words["graph"])
        along.check(network)
        return along
    routed = [f for f in ("destination", "destinations") if f in takes]
    if kind in (DemandTable, UnevenExchange):
        return _traffic(kind, key, words, network, seed)
    for word in words:
        if word not in takes and not (routed and word in ("destinations", "pattern", "density")):
            raise TaskError(f"task {key} takes no --{word}")
    if "active" in takes and "active" not in words:
        raise TaskError(f"task {key} needs --active: a file, numbers such as 0,5,7, random:M, or all")
    if "counts" in takes and "counts" not in words:
        raise TaskError(f"task {key} needs --counts: a file, or numbers such as 2,0,1, one for each node")
    if routed:
        return _routing(kind, key, routed[0], words, network, seed)
    fields = dict(words)
    if "root" in fields:
        fields["root"] = _node(fields["root"], network)
    if "active" in fields:
        fields["active"] = named_nodes(fields["active"], network.terminal_count, seed)
    if "counts" in fields:
        fields["counts"] = named_numbers(fields["counts"])
    made = kind(**fields)
    made.check(network)
    return made


def _one_group(words: dict[str, Any]) -> dict[str, Any]:
    """Return the words with their one group as groups; TaskError if there are several."""
    group = words["group"]
    if "groups" in words:
        raise TaskError("give --group or --groups, not both")
    if ";" in group:
        raise TaskError(f"--group is one group, got {group!r}; several go with --groups")
    return {word: value for word, value in words.items() if word != "group"} | {"groups": group}


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
    for word in words:
        if word not in ("demands", "traffic", "unit"):
            raise TaskError(f"task {key} takes no --{word}")
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
