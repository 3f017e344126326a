"""The text of GOAL files, and what it makes happen when."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.errors import FileFormatError
from gossamer.reading.files import text_lines

__all__ = ["Transfer", "carried_out", "read_operations"]

_WORD = r"([A-Za-z_][\w.]{0,63})"
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")
_END = r"(?:\s+cpu\s+\d{1,3})?(?:\s+nic\s+\d{1,3})?"
_MESSAGE = re.compile(
    rf"{_WORD}\s*:\s*(send|recv)\s+(\d{{1,18}})b\s+(to|from)\s+(\d{{1,9}})(?:\s+tag\s+(\d{{1,10}}))?{_END}"
)
_CALC = re.compile(rf"{_WORD}\s*:\s*calc\s+\d{{1,18}}{_END}")
_WAIT = re.compile(rf"{_WORD}\s+(i?)requires\s+{_WORD}")
_MOST = 5_000_000


@dataclass(slots=True)
class Operation:
    """What a rank does: send, receive or compute, and the numbers of what must be complete, or have begun, before."""

    rank: int
    label: str
    kind: str
    size: int = 0
    peer: int = -1
    tag: int = 0
    needs: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Transfer:
    """A message on a link: its slot, its ends, and the numbers of the operations that send and receive it."""

    slot: int
    source: int
    target: int
    send: int
    receive: int


def read_operations(path: Path) -> tuple[int, list[Operation]]:
    """Return the number of ranks of a GOAL file, and the operations of all of them; FileFormatError if it is none."""
    name = str(path)
    lines = text_lines(path, "a GOAL file: not text in UTF-8", comment="", pieces={b"\n": 450})
    stated = ((i, line) for i, line in lines if not line.startswith("//"))
    i, line = next(stated, (1, ""))
    head = _RANKS.fullmatch(line)
    if head is None:
        raise FileFormatError(f"{name!r} is not GOAL: line {i} is not 'num_ranks N'")
    ranks, rank, within = int(head[1]), -1, False
    operations: list[Operation] = []
    labels: dict[str, int] = {}
    for i, line in stated:
        where = f"{name!r}, line {i}"
        if not within:
            opened = _RANK.fullmatch(line)
            if opened is None or int(opened[1]) != rank + 1 or rank + 1 >= ranks:
                raise FileFormatError(f"{where}: expected 'rank {rank + 1} {{', got {line[:60]!r}")
            rank, within, labels = rank + 1, True, {}
        elif line == "}":
            within = False
        else:
            _statement(where, line, rank, ranks, labels, operations)
            if len(operations) > _MOST:
                raise FileFormatError(f"{name!r} has more than {_MOST:,} operations")
    if within or rank + 1 != ranks:
        raise FileFormatError(f"{name!r} ends within rank {rank}" if within else f"{name!r} has no rank {rank + 1}")
    return ranks, operations


def _statement(
    where: str, line: str, rank: int, ranks: int, labels: dict[str, int], operations: list[Operation]
) -> None:
    """Add what a line states to the operations of a rank."""
    if wait := _WAIT.fullmatch(line):
        for label in (wait[1], wait[3]):
            if label not in labels:
                raise FileFormatError(f"{where}: no operation of rank {rank} above it is called {label!r}")
        one = operations[labels[wait[1]]]
        (one.begun if wait[2] else one.needs).append(labels[wait[3]])
        return
    message, calc = _MESSAGE.fullmatch(line), _CALC.fullmatch(line)
    label = (message or calc or [None, None])[1]
    if label is None or (message and (message[2] == "send") != (message[4] == "to")):
        raise FileFormatError(f"{where}: no statement of GOAL: {line[:60]!r}")
    if label in labels:
        raise FileFormatError(f"{where}: rank {rank} has two operations {label!r}")
    labels[label] = len(operations)
    if message is None:
        operations.append(Operation(rank, label, "calc"))
        return
    size, peer, tag = int(message[3]), int(message[5]), int(message[6] or 0)
    if peer >= ranks or peer == rank:
        raise FileFormatError(f"{where}: rank {rank} cannot exchange messages with {peer}; ranks are 0..{ranks - 1}")
    operations.append(Operation(rank, label, message[2], size, peer, tag))


def carried_out(name: str, operations: list[Operation], capacity: Mapping[tuple[int, int], int]) -> list[Transfer]:
    """Return what crosses which link when, as early as waits and capacities allow; by slot.

    Messages match by their ends and tag, first come first served. A send takes a slot and is complete after it, and the
    message can then be received; computing takes no time.

    Raises
    ------
    FileFormatError
        If a message is not received, nobody sends what is received, or operations wait for each other.
    """
    transfers = _matched(name, operations)
    of_send = {t.send: t for t in transfers}
    missing = [len(op.needs) + len(op.begun) + (op.kind == "recv") for op in operations]
    on_end: dict[int, list[int]] = defaultdict(list)
    on_begin: dict[int, list[int]] = defaultdict(list)
    for i, op in enumerate(operations):
        for other in op.needs:
            on_end[other].append(i)
        for other in op.begun:
            on_begin[other].append(i)
    links: dict[tuple[int, int], list[int]] = defaultdict(list)
    ready = deque(i for i, count in enumerate(missing) if not count)
    left, slot, sent = len(operations), 0, 0

    def free(i: int) -> None:
        missing[i] -= 1
        if not missing[i]:
            ready.append(i)

    while True:
        while ready:  # what takes no time, and sends that may begin
            i = ready.popleft()
            op = operations[i]
            if op.kind == "send":
                heapq.heappush(links[op.rank, op.peer], i)
                continue
            left -= 1
            for other in (*on_begin[i], *on_end[i]):
                free(other)
        going = []
        for ends, queue in links.items():
            going += [heapq.heappop(queue) for _ in range(min(capacity[ends], len(queue)))]
        if not going:
            break
        for i in going:
            of_send[i].slot = slot
            for other in on_begin[i]:
                free(other)
        for i in going:
            left, sent = left - 1, sent + 1
            for other in (*on_end[i], of_send[i].receive):
                free(other)
        slot += 1
    if left:
        stuck = operations[next(i for i, count in enumerate(missing) if count)]
        raise FileFormatError(f"{name!r}: {stuck.label} of rank {stuck.rank} waits forever for what it requires")
    return sorted(transfers, key=lambda t: t.slot)


def _matched(name: str, operations: list[Operation]) -> list[Transfer]:
    """Return the messages, each with its two ends, in the order of the sends."""
    wanted: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    for i, op in enumerate(operations):
        if op.kind == "recv":
            wanted[op.peer, op.rank, op.tag].append(i)
    found = []
    for i, op in enumerate(operations):
        if op.kind == "send":
            queue = wanted[op.rank, op.peer, op.tag]
            if not queue:
                raise FileFormatError(f"{name!r}: rank {op.peer} never receives {op.label} of rank {op.rank}")
            other = queue.popleft()
            if operations[other].size != op.size:
                there = operations[other]
                raise FileFormatError(
                    f"{name!r}: {op.label} of rank {op.rank} has {op.size} bytes, {there.label} of rank {op.peer} "
                    f"{there.size}"
                )
            found.append(Transfer(-1, op.rank, op.peer, i, other))
    for queue in wanted.values():
        if queue:
            op = operations[queue[0]]
            raise FileFormatError(f"{name!r}: nobody sends what {op.label} of rank {op.rank} receives")
    return found
