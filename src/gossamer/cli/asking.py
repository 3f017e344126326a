"""What a task is asked for on the command line: the options of its fields, and how they are read."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import NetworkError, TaskError
from gossamer.networks.network import Network
from gossamer.reading import seed as read_seed
from gossamer.reading.tables import named_nodes, named_numbers, read_destinations
from gossamer.tasks import Task, chunked, kind_of, task

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
    """

    root: str | None = None
    active: str | None = None
    counts: str | None = None
    destinations: Path | None = None
    pattern: str | None = None
    density: float | None = None
    chunks: int | None = None


def asked_task(name: str, words: dict[str, Any], network: Network, seed: int) -> Task:
    """Return the task of a name and its options, or raise a TaskError that names the option that is wrong."""
    if "chunks" in words:
        rest = {word: value for word, value in words.items() if word != "chunks"}
        return chunked(asked_task(name, rest, network, seed), words["chunks"])
    kind = kind_of(name)
    key = kind.name if kind.name == name else f"{name} ({kind.name})"
    read_seed(seed, "--seed")
    takes = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    routed = [f for f in ("destination", "destinations") if f in takes]
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


def _node(word: str, network: Network) -> int:
    """Return the node of --root: a number, a name, or coordinates with or without parentheses."""
    try:
        return network.node(f"({word})" if "," in word and not word.startswith("(") else word)
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
