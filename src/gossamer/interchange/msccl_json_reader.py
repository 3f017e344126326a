"""The JSON of msccl-tools read as a schedule: its steps are slots already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError
from gossamer.interchange.collectives import collective
from gossamer.interchange.foreign import capacities, schedule_of
from gossamer.interchange.threadblocks import Chunk, Hop
from gossamer.networks.network import Network
from gossamer.reading.files import read_json
from gossamer.schedules import Schedule

__all__ = ["read_msccl_json"]

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
