"""Read a schedule from another tool's format."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError, shown
from gossamer.interchange.foreign import (
    Block,
    Chunk,
    Collective,
    Hop,
    Step,
    capacities,
    carry_out,
    collective,
    schedule_of,
    whole_parts,
)
from gossamer.interchange.goal import read_goal
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.reading.files import XML_PIECES, check_pieces, read_bytes, read_json
from gossamer.schedules import Schedule

__all__ = ["READERS", "import_schedule", "read_msccl_json", "read_msccl_xml"]

# The JSON of msccl-tools read as a schedule: its steps are slots already.

_DAMAGE = (KeyError, TypeError, ValueError, IndexError, RecursionError, AttributeError, OverflowError)


def read_msccl_json(path: Path, network: Network) -> Schedule:
    """Read an algorithm of msccl-tools for a network whose node r is rank r.

    A step of several rounds is as many slots.

    Raises
    ------
    FileFormatError
        If it is no such file, or uses links that the network does not have.
    """
    name = str(path)
    try:
        fields = read_json(path)
        if fields["msccl_type"] != "algorithm":
            raise ValueError("it is no algorithm")
        return _schedule(name, fields, network, path.stem)
    except FileFormatError:
        raise
    except _DAMAGE as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise FileFormatError(f"{name!r} is not the JSON of an msccl-tools algorithm: {reason}") from None


def _schedule(name: str, fields: dict[str, Any], network: Network, stem: str) -> Schedule:
    described = fields["collective"]
    kind = collective(str(described["runtime_name"]), name)
    if kind.reduces:
        raise FileFormatError(
            f"{name!r} is of {described['runtime_name']}; steps of sends say nothing of what is added"
        )
    n = int(described["nodes"])
    if n != network.terminal_count:
        raise FileFormatError(f"{name!r} has {n} nodes; {network.spec} has {network.terminal_count} terminals")
    chunks = described["chunks"]
    root = int(chunks[0]["pre" if kind.root_input else "post"][0]) if kind.root_input or kind.root_output else 0
    keys: dict[int, tuple[int, int]] = {}
    count: dict[int, int] = {}
    for chunk in sorted(chunks, key=lambda c: int(c["addr"])):
        message = _message(name, kind, chunk, n, root)
        keys[int(chunk["addr"])] = (message, count.get(message, 0))
        count[message] = count.get(message, 0) + 1
    k = max(count.values())
    if set(count.values()) != {k}:
        raise FileFormatError(f"{name!r} has messages of several numbers of chunks")
    steps = _slots(fields["steps"])
    capacity = capacities(name, network, {(u, v) for _, _, sends in steps for _, u, v in sends})
    hops: list[Hop] = []
    used: dict[tuple[int, int, int], int] = {}
    for first, rounds, sends in steps:
        for address, *ends in sends:
            u, v = ends
            slot = next((t for t in range(first, first + rounds) if used.get((t, u, v), 0) < capacity[u, v]), first)
            used[slot, u, v] = used.get((slot, u, v), 0) + 1
            hops.append(Hop(slot, u, v, Chunk(*keys[address])))
    return schedule_of(name, network, kind, hops, n, k, root, str(fields.get("name") or stem))


def _slots(steps: list[dict[str, Any]]) -> list[tuple[int, int, list[tuple[int, int, int]]]]:
    """Return the first slot and the number of slots of each step, and its sends."""
    found: list[tuple[int, int, list[tuple[int, int, int]]]] = []
    slot = 0
    for step in steps:
        rounds = int(step["rounds"])
        if not 1 <= rounds <= 1_000_000:
            raise ValueError(f"a step has {rounds} rounds")
        found.append((slot, rounds, [(int(chunk), int(u), int(v)) for chunk, u, v in step["sends"]]))
        slot += rounds
    return found


def _message(name: str, kind: Any, chunk: dict[str, Any], n: int, root: int) -> int:
    """Return the message that a chunk is part of, from who has it and who needs it."""
    held, needed = [int(v) for v in chunk["pre"]], [int(v) for v in chunk["post"]]
    if len(held) != 1 or not needed:
        raise FileFormatError(f"{name!r}: chunk {chunk['addr']} is held by {len(held)} ranks at the start; one may")
    if kind.wide_input and kind.wide_output:  # a different chunk for each pair
        return held[0] * n + needed[0]
    return needed[0] if kind.wide_input else held[0]


# MSCCL XML read as a schedule: what its threadblocks send, carried out as early as they allow.

_KINDS = {
    "s": (False, False, False, True),
    "r": (True, False, True, False),
    "rcs": (True, False, True, True),
    "rrs": (True, True, False, True),
    "rrc": (True, True, True, False),
    "rrcs": (True, True, True, True),
    "cpy": (False, False, True, False),
    "nop": (False, False, False, False),
}
"""What each kind of step does: receive, add, write, send."""
_MOST = 5_000_000


def read_msccl_xml(path: Path, network: Network) -> Schedule:
    """Read MSCCL XML for a network whose node r is rank r.

    Raises
    ------
    FileFormatError
        If it is no MSCCL XML, its steps do not fit together, or it uses links that the network does not have.
    """
    name = str(path)
    algo = _parsed(path)
    kind = collective(algo.get("coll", ""), name)
    gpus = algo.findall("gpu")
    n = len(gpus)
    ranks = [_number(gpu, "id", name) for gpu in gpus]
    if ranks != list(range(n)) or n != network.terminal_count:
        raise FileFormatError(f"{name!r} has {n} GPUs; {network.spec} has {network.terminal_count} terminals")
    sizes = [(_number(gpu, "i_chunks", name), _number(gpu, "o_chunks", name)) for gpu in gpus]
    root = _root(kind, sizes)
    k = whole_parts(name, kind, n, sizes[root if kind.root_output or kind.root_input else 0])
    blocks = [block for gpu, rank in zip(gpus, ranks, strict=True) for block in _blocks(gpu, rank, name)]
    capacity = capacities(name, network, {(b.rank, b.to) for b in blocks if b.to >= 0})
    memory: list[dict[tuple[str, int], Chunk]] = [{} for _ in range(n)]
    alias = [_aliases(kind, algo, v, n, k) for v in range(n)]
    for v in range(n):
        for i in range(n * k if kind.wide_input else k):
            if not kind.root_input or v == root:
                message, part = kind.key(v, i, n, k)
                memory[v][alias[v].get(("i", i), ("i", i))] = Chunk(message, part, (1 << v) * kind.reduces)
    hops = carry_out(name, blocks, memory, alias, capacity)
    _check_outputs(name, kind, memory, alias, n, k, root)
    return schedule_of(name, network, kind, hops, n, k, root, algo.get("name") or path.stem)


def _parsed(path: Path) -> ElementTree.Element:
    name = str(path)
    data = read_bytes(path)
    check_pieces(path, data, XML_PIECES)
    if b"<!" in data.replace(b"<!--", b""):
        raise FileFormatError(f"{name!r} declares a document type or entities; an MSCCL file does not")
    try:
        algo = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise FileFormatError(f"{name!r} is not XML: {error}") from None
    if algo.tag != "algo" or not algo.findall("gpu"):
        raise FileFormatError(f"{name!r} is not MSCCL XML: it has no <algo> with a <gpu>")
    return algo


def _number(element: ElementTree.Element, attribute: str, name: str) -> int:
    text = element.get(attribute)
    if text is None or not text.strip().lstrip("-").isascii() or not text.strip().lstrip("-").isdigit():
        raise FileFormatError(f"{name!r}: a <{element.tag}> needs a whole number {attribute!r}, got {str(text)[:40]!r}")
    if len(text) > 12 or abs(int(text)) > _MOST:
        raise FileFormatError(f"{name!r}: {attribute!r} of a <{element.tag}> is {text[:20]}, more than {_MOST:,}")
    return int(text)


def _root(kind: Collective, sizes: list[tuple[int, int]]) -> int:
    """Return the root: the only rank with an input, or an output, where one alone has it, else rank 0."""
    have = [v for v, size in enumerate(sizes) if size[0 if kind.root_input else 1]]
    return have[0] if len(have) == 1 and (kind.root_input or kind.root_output) else 0


def _blocks(gpu: ElementTree.Element, rank: int, name: str) -> list[Block]:
    found = []
    for tb in gpu.findall("tb"):
        to, from_, channel = (_number(tb, a, name) for a in ("send", "recv", "chan"))
        steps = []
        for step in tb.findall("step"):
            does = _KINDS.get(step.get("type", ""))
            where = f"{name!r}: rank {rank}, threadblock {tb.get('id')}, step {step.get('s')}"
            if does is None:
                raise FileFormatError(f"{where} has type {step.get('type')!r}; known are {', '.join(_KINDS)}")
            if (does[0] and from_ < 0) or (does[3] and to < 0):
                raise FileFormatError(f"{where} sends or receives, but its threadblock has no peer for that")
            places = [(step.get(f"{end}buf", ""), _number(step, f"{end}off", name)) for end in ("src", "dst")]
            count = _number(step, "cnt", name)
            if not does[0] and not does[2] and not does[3]:
                count = 0
            elif count < 1 or any(b not in ("i", "o", "s") or at < 0 for b, at in places):
                raise FileFormatError(f"{where} has no chunks in buffers i, o or s")
            depends = _number(step, "depid", name), _number(step, "deps", name)
            steps.append(Step(*does, places[0], places[1], count, depends if depends[0] >= 0 else None))
        found.append(Block(rank, _number(tb, "id", name), to, from_, channel, steps))
    if sum(step.chunks for block in found for step in block.steps) > _MOST:
        raise FileFormatError(f"{name!r}: rank {rank} moves more than {_MOST:,} chunks")
    return found


def _aliases(
    kind: Collective, algo: ElementTree.Element, v: int, n: int, k: int
) -> dict[tuple[str, int], tuple[str, int]]:
    """Return which places are the same where input and output are one buffer."""
    if algo.get("inplace", "0") != "1" or algo.get("outofplace", "0") == "1":
        return {}
    if kind.wide_output and not kind.wide_input:
        return {("i", i): ("o", v * k + i) for i in range(k)}
    if kind.wide_input and not kind.wide_output:
        return {("o", i): ("i", v * k + i) for i in range(k)}
    return {("i", i): ("o", i) for i in range(n * k if kind.wide_input else k)}


def _check_outputs(
    name: str, kind: Collective, memory: list[dict[tuple[str, int], Chunk]],
    alias: list[dict[tuple[str, int], tuple[str, int]]], n: int, k: int, root: int,
) -> None:  # fmt: skip
    """Refuse a file that leaves anything but the collective's result in an output."""
    everyone = (1 << n) - 1 if kind.reduces else 0
    for v in range(n):
        if kind.root_output and v != root:
            continue
        for i, (message, part) in enumerate(kind.goal(v, n, k, root)):
            place = alias[v].get(("o", i), ("o", i))
            found = memory[v].get(place)
            if found != Chunk(message, part, everyone):
                what = "nothing" if found is None else "another chunk, or a sum of too few"
                raise FileFormatError(f"{name!r} leaves {what} at chunk {i} of the output of rank {v}")


READERS: dict[str, Callable[[Path, Network, str | None], Schedule]] = {
    ".xml": lambda path, network, task: read_msccl_xml(path, network),
    ".json": lambda path, network, task: read_msccl_json(path, network),
    ".goal": read_goal,
}
"""What reads the files of each suffix."""


def import_schedule(path: str | os.PathLike[str], network: object, task: str | None = None) -> Schedule:
    """Read a schedule that another tool made, for a network whose node r is rank r. It is not verified.

    Parameters
    ----------
    path : path
        MSCCL XML (``.xml``), the JSON of msccl-tools (``.json``) or GOAL (``.goal``).
    network : object
        What `gossamer.network` takes.
    task : str, optional
        The collective that a GOAL file is, which does not say it: ``allgather``, ``alltoall`` and so on. The others say
        it themselves.

    Returns
    -------
    Schedule
        Steps become slots, as early as they can be. `gossamer.verify` judges it, and everything else that takes a
        schedule takes it.

    Raises
    ------
    FileFormatError
        If the file cannot be read, its steps do not fit together or do not do what its collective is, or it sends
        between nodes that are not linked.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.interchange import export
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.xml"
    >>> export(gossamer.plan("ring:5", "allreduce").schedule, path, "msccl-xml")
    >>> found = import_schedule(path, "ring:5")
    >>> found.completion_time, bool(gossamer.verify(found))
    (Fraction(4, 1), True)
    """
    net = as_network(network)
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise FileFormatError(f"foreign schedule {shown(str(path), 300)}: the suffix must be one of {known}")
    if task is not None and reader is not read_goal:
        raise FileFormatError(f"{str(path)!r} says itself which collective it is; name a task for .goal only")
    return reader(Path(path), net, task)
