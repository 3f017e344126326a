"""MSCCL XML read as a schedule: what its threadblocks send, carried out as early as they allow."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from gossamer.errors import FileFormatError
from gossamer.interchange.collectives import Collective, collective
from gossamer.interchange.foreign import capacities, schedule_of, whole_parts
from gossamer.interchange.threadblocks import Block, Chunk, Step, carry_out
from gossamer.networks.network import Network
from gossamer.reading.files import XML_PIECES, check_pieces, read_bytes
from gossamer.schedules import Schedule

__all__ = ["read_msccl_xml"]

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
