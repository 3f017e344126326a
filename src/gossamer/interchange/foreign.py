"""Schedules of what foreign files send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gossamer.errors import FileFormatError, GossamerError
from gossamer.interchange.collectives import Collective
from gossamer.networks.network import Network
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Allreduce, Messages, Reduce
from gossamer.schedules import Packets, Schedule

if TYPE_CHECKING:
    from gossamer.interchange.threadblocks import Hop

__all__ = ["capacities", "schedule_of", "whole_parts"]


def capacities(name: str, network: Network, ends: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the capacity of each link between pairs of ranks; FileFormatError where there is no link."""
    n = network.terminal_count
    known = {
        (int(u), int(v)): int(c)
        for u, v, c in zip(network.link_source, network.link_target, network.link_capacity, strict=True)
    }
    for u, v in sorted(ends):
        if not (0 <= u < n and 0 <= v < n):
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}; ranks are 0..{n - 1}")
        if (u, v) not in known:
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}, but {network.spec} has no link {u} -> {v}")
    return known


def whole_parts(name: str, kind: Collective, n: int, sizes: tuple[int, int]) -> int:
    """Return in how many parts messages are, from the chunks of a rank's input and output."""
    given, got = sizes
    size, wide = (got, kind.wide_output) if kind.root_output or not given else (given, kind.wide_input)
    parts, rest = divmod(size, n) if wide else (size, 0)
    if parts < 1 or rest:
        raise FileFormatError(f"{name!r} has {size} chunks in a buffer for {n} ranks; it must be a multiple of {n}")
    return parts


def schedule_of(
    name: str, network: Network, kind: Collective, hops: Sequence[Hop], n: int, k: int, root: int, algorithm: str
) -> Schedule:
    """Return the schedule of hops, with packets as the collective's task numbers them.

    An allreduce is a reduction to one rank for each chunk, and a broadcast from there: the rank at which a chunk is
    complete first must be that of k chunks.

    Raises
    ------
    FileFormatError
        If an allreduce is none of these, or a chunk that is no message of the task is sent.
    """
    task = kind.task(root)
    messages = task.messages(network)
    if isinstance(task, Allreduce):
        keys = _allreduce_packets(name, hops, n, k)
    elif isinstance(task, Reduce):
        keys = [(root, hop.chunk.part) for hop in hops]
    else:
        keys = [(hop.chunk.message, hop.chunk.part) for hop in hops]
    order = np.argsort(np.array([hop.slot for hop in hops], np.int64), kind="stable")
    table = np.array(keys, np.int64).reshape(-1, 2)[order]
    rows = np.searchsorted(messages.ids, table[:, 0])
    if np.any(messages.ids[np.minimum(rows, messages.count - 1)] != table[:, 0]):
        raise FileFormatError(f"{name!r} sends a rank's chunk for itself to another")
    ends = np.array([(hop.slot, hop.source, hop.target) for hop in hops], np.int64).reshape(-1, 3)[order]
    try:
        return Schedule(
            network,
            task,
            Rules(split=k > 1),
            ends[:, 0].astype(np.int32),
            _links(network, ends[:, 1:]),
            (rows * k + table[:, 1]).astype(np.int32),
            parts=k,
            packets=_packets(messages, k),
            algorithm=algorithm,
        )
    except GossamerError as error:
        raise FileFormatError(f"{name!r} is no schedule: {error}") from None


def _packets(messages: Messages, k: int) -> Packets:
    return Packets.of(messages, k)


def _links(network: Network, ends: np.ndarray) -> np.ndarray:
    n = network.node_count
    key = network.link_source * np.int64(n) + network.link_target
    order = np.argsort(key, kind="stable")
    return np.asarray(order[np.searchsorted(key, ends[:, 0] * n + ends[:, 1], sorter=order)], np.int32)


def _allreduce_packets(name: str, hops: Sequence[Hop], n: int, k: int) -> list[tuple[int, int]]:
    """Return message and part of each hop of an allreduce: chunks become reductions to the ranks that complete them."""
    everyone = (1 << n) - 1
    root_of: dict[int, int] = {}
    for hop in hops:
        if hop.chunk.ranks == everyone:
            root_of.setdefault(hop.chunk.part, hop.source)
    taken = [0] * n
    part_of = {}
    for chunk in range(n * k):
        if chunk not in root_of:
            raise FileFormatError(f"{name!r}: the sum of chunk {chunk} is never sent on, so no rank broadcasts it")
        part_of[chunk] = taken[root_of[chunk]]
        taken[root_of[chunk]] += 1
    uneven = [v for v in range(n) if taken[v] != k]
    if uneven:
        v = uneven[0]
        raise FileFormatError(
            f"{name!r}: rank {v} completes {taken[v]} of {n * k} chunks; an allreduce here has {k} for each rank"
        )
    return [(root_of[h.chunk.part] + n * (h.chunk.ranks == everyone), part_of[h.chunk.part]) for h in hops]
