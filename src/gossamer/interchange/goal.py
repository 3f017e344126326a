"""GOAL, the group operation assembly language: text for LogGP simulators and the packet-level ones after them.

An operation waits for what it needs and for the operation before it on its link. A network interface belongs to both
ends of a message, so a link has the number ``out_port * D + in_port`` at both, with D the largest degree.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.interchange.format import Format, Plan, RowText, earlier_on_link
from gossamer.interchange.imported_schedules import (
    COLLECTIVES,
    ChunkHop,
    ForeignCollective,
    capacities,
    collective,
    in_seconds,
    schedule_of,
)
from gossamer.interchange.threadblocks import Chunk
from gossamer.interchange.threadblocks import Transfer as Sent
from gossamer.networks.network import Network
from gossamer.programs import REDUCE, SEND, Operations
from gossamer.reading.files import text_lines
from gossamer.schedules import Schedule

# GOAL read as a schedule of a collective.
#
# A GOAL file says which messages there are and what waits for what, but not what is in them. That follows from the
# waits once the collective is known: a send carries what the receive that it waits for brought, and one that waits for
# none carries what is its rank's own. In a reduction it carries the sum of its rank's own and of all that it waits for;
# GOAL has no word for a sum that passes through a rank and is added to nothing there.

# The text of GOAL files, and what it makes happen when.

_WORD = r"([A-Za-z_][\w.]{0,63})"
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")
_END = r"(?:\s+cpu\s+\d{1,3})?(?:\s+nic\s+\d{1,3})?"
_MESSAGE = re.compile(
    rf"{_WORD}\s*:\s*(send|recv)\s+(\d{{1,18}})b\s+(to|from)\s+(\d{{1,9}})(?:\s+tag\s+(\d{{1,10}}))?{_END}"
)
_CALC = re.compile(rf"{_WORD}\s*:\s*calc\s+\d{{1,18}}{_END}")
_WAIT = re.compile(rf"{_WORD}\s+(i?)requires\s+{_WORD}")
_MOST_READ = 5_000_000


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
            if len(operations) > _MOST_READ:
                raise FileFormatError(f"{name!r} has more than {_MOST_READ:,} operations")
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

    Raises `FileFormatError` if a message is not received, nobody sends what is received, or operations wait for each
    other.
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


_TRIES = 100_000


def read_goal(path: Path, network: Network, task: str | None, bytes: int | None = None) -> Schedule:
    """Read a GOAL file as a schedule of a collective, for a network whose node r is rank r.

    Where links have speeds, it is judged in seconds for so many bytes.

    Raises `FileFormatError` if it is no GOAL, its operations do not fit together, it sends between ranks that are not
    linked, its messages have several sizes, or what they carry cannot be told.
    """
    name = str(path)
    if task is None:
        raise FileFormatError(f"{name!r} does not say which collective it is; name the task: {', '.join(COLLECTIVES)}")
    kind = collective(task, name)
    n, operations = read_operations(path)
    if n != network.terminal_count:
        raise FileFormatError(f"{name!r} has {n} ranks; {network.spec} has {network.terminal_count} terminals")
    sizes = sorted({op.size for op in operations if op.kind != "calc"})
    if len(sizes) > 1:
        raise FileFormatError(f"{name!r} has messages of {len(sizes)} sizes ({sizes[0]} to {sizes[-1]} bytes), not one")
    bytes = in_seconds(name, network, bytes)
    ends = {(op.rank, op.peer) for op in operations if op.kind == "send"}
    alone = bytes is None and network.terminal_count == network.node_count
    transfers = carried_out(name, operations, capacities(name, network, ends) if alone else dict.fromkeys(ends, 1))
    chunks, k, root = _Transfers(name, operations, transfers, n).chunks(kind)
    if not alone:
        sent = _in_order(operations, transfers, chunks)
        return schedule_of(name, network, kind, sent, n, k, root, path.stem, bytes)
    hops = [ChunkHop(t.slot, t.source, t.target, chunk) for t, chunk in zip(transfers, chunks, strict=True)]
    return schedule_of(name, network, kind, hops, n, k, root, path.stem)


def _in_order(operations: Sequence[Operation], transfers: Sequence[Transfer], chunks: Sequence[Chunk]) -> list[Sent]:
    """Return transfers with the earlier ones that they wait for: those on their link, and what their sends require."""
    of_send = {t.send: i for i, t in enumerate(transfers)}
    of_receive = {t.receive: i for i, t in enumerate(transfers)}
    known: dict[int, dict[tuple[bool, int], int]] = {}  # of complete operations: the last transfers of each link behind

    def behind(i: int) -> dict[tuple[bool, int], int]:
        """Return the last transfers that came, or left, on each link before an operation is complete."""
        stack = [i]
        while stack:
            at = stack[-1]
            left = [j for j in (*operations[at].needs, *operations[at].begun) if j not in known]
            if left:
                stack += left
                continue
            known[stack.pop()] = _merged(operations[at], at)
        return known[i]

    def _merged(op: Operation, at: int) -> dict[tuple[bool, int], int]:
        if op.kind == "send":
            return {(False, op.peer): of_send[at]}
        found = _required(op)
        if op.kind == "recv":
            found[True, op.peer] = max(found.get((True, op.peer), -1), of_receive[at])
        return found

    def _required(op: Operation) -> dict[tuple[bool, int], int]:
        found: dict[tuple[bool, int], int] = {}
        for j in (*op.needs, *op.begun):
            for key, transfer in behind(j).items():
                found[key] = max(found.get(key, -1), transfer)
        return found

    lines: dict[tuple[int, int], int] = {}
    last: dict[tuple[int, int], int] = {}
    sent = []
    for i, (t, chunk) in enumerate(zip(transfers, chunks, strict=True)):
        ends = t.source, t.target
        required = _required(operations[t.send])
        if ends in last:
            required[False, t.target] = max(required.get((False, t.target), -1), last[ends])
        came, left = (tuple(j for (kind, _), j in required.items() if kind == which) for which in (True, False))
        sent.append(Sent(*ends, lines.setdefault(ends, len(lines)), chunk, came, left))
        last[ends] = i
    return sent


class _Transfers:
    """Transfers, by slot, with those that each carries on: the ones whose receives its send waits for."""

    def __init__(self, name: str, operations: Sequence[Operation], transfers: Sequence[Transfer], n: int) -> None:
        self.name, self.transfers, self.n = name, transfers, n
        received = {t.receive: i for i, t in enumerate(transfers)}
        self._operations, self._received = operations, received
        self.before = [self._brought(t.send) for t in transfers]
        self.after: list[list[int]] = [[] for _ in transfers]
        for i, earlier in enumerate(self.before):
            for j in earlier:
                self.after[j].append(i)

    def _brought(self, send: int) -> list[int]:
        """Return the transfers whose receives a send waits for, through computing and through sums on the way."""
        found, seen, stack = set(), set(), [(send, -1)]
        while stack:
            i, peer = stack.pop()
            for j in self._operations[i].needs:
                other = self._operations[j]
                if j in seen or other.kind == "send" or (other.kind == "recv" and other.peer == peer):
                    continue  # the order on a link says nothing of what is sent
                seen.add(j)
                if other.kind == "recv":
                    found.add(self._received[j])
                stack.append((j, other.peer if other.kind == "recv" else peer))
        return sorted(found)

    def chunks(self, kind: ForeignCollective) -> tuple[list[Chunk], int, int]:
        """Return what each transfer carries, the parts of a message, and the root."""
        if kind is COLLECTIVES["allreduce"]:
            return self._allreduce()
        if kind.reduces:
            self._one_each(self.after, "sends on", "more than once")
            groups = self._covers([self._ends(i, self.before) for i in range(len(self.transfers))], self._last())
            return self._numbered(groups, kind)
        self._one_each(self.before, "waits for", "and what it carries of them is not said")
        if kind.root_output or kind.wide_input:  # what goes to one
            self._one_each(self.after, "sends on", "more than once")
            return self._personal(kind)
        return self._numbered(self._covers(self._trees(), self._first()), kind)

    def _one_each(self, table: list[list[int]], what: str, why: str) -> None:
        for i, others in enumerate(table):
            if len(others) > 1:
                t = self.transfers[i]
                end = t.source if table is self.before else t.target
                op = self._operations[t.send if table is self.before else t.receive]
                raise FileFormatError(f"{self.name!r}: rank {end} {what} {len(others)} messages at {op.label}, {why}")

    def _first(self) -> list[int]:
        return [t.source for t in self.transfers]

    def _last(self) -> list[int]:
        return [t.target for t in self.transfers]

    def _ends(self, i: int, table: list[list[int]]) -> list[int] | None:
        """Return the transfers of the tree that ends with transfer i, if no other one carries it on."""
        return None if self.after[i] else self._all_from(i, table)

    def _trees(self) -> list[list[int] | None]:
        return [None if earlier else self._all_from(i, self.after) for i, earlier in enumerate(self.before)]

    def _all_from(self, i: int, table: list[list[int]]) -> list[int]:
        found, stack = [], [i]
        while stack:
            found.append(stack.pop())
            stack += table[found[-1]]
        return found

    def _covers(self, trees: list[list[int] | None], roots: list[int]) -> dict[int, list[list[int]]]:
        """Return, for each root, its trees joined so that each joint one has every other rank once."""
        of_root: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for i, tree in enumerate(trees):
            if tree is not None:
                away = self._last() if roots[i] == self.transfers[i].source else self._first()
                mask = 0
                for j in tree:
                    if mask >> away[j] & 1 or away[j] == roots[i]:
                        raise FileFormatError(f"{self.name!r}: a message comes to, or leaves, rank {away[j]} twice")
                    mask |= 1 << away[j]
                of_root[roots[i]].append((mask, tree))
        every = (1 << self.n) - 1
        return {root: self._partition(root, found, every ^ (1 << root)) for root, found in sorted(of_root.items())}

    def _partition(self, root: int, found: list[tuple[int, list[int]]], whole: int) -> list[list[int]]:
        """Return the trees of a root in groups of which each covers all other ranks once."""
        groups: list[list[int]] = []
        left, tries = sorted(found, key=lambda item: -item[0].bit_count()), 0
        while left:
            stack = [(left[0][0], [0], 1)]
            chosen: list[int] | None = None
            while stack and chosen is None:
                mask, picked, at = stack.pop()
                tries += 1
                if mask == whole:
                    chosen = picked
                elif tries > _TRIES:
                    break
                else:
                    fits = (j for j in range(at, len(left)) if not left[j][0] & mask)
                    stack += [(mask | left[j][0], [*picked, j], j + 1) for j in fits][::-1]
            if chosen is None:
                raise FileFormatError(
                    f"{self.name!r}: the messages that begin or end at rank {root} do not add up to whole ones for all"
                )
            groups.append([i for j in chosen for i in left[j][1]])
            left = [item for j, item in enumerate(left) if j not in chosen]
        return groups

    def _numbered(self, groups: dict[int, list[list[int]]], kind: ForeignCollective) -> tuple[list[Chunk], int, int]:
        """Return chunks that are numbered by their root and their place among those of the root."""
        chunks = [Chunk(0, 0)] * len(self.transfers)
        for root, of_root in groups.items():
            for part, group in enumerate(sorted(of_root, key=min)):
                for i in group:
                    chunks[i] = Chunk(root, part, int(kind.reduces))
        return chunks, max((len(g) for g in groups.values()), default=1), next(iter(groups), 0)

    def _personal(self, kind: ForeignCollective) -> tuple[list[Chunk], int, int]:
        """Return chunks that go from one to one, several of the same pair in the order in which they start."""
        chunks = [Chunk(0, 0)] * len(self.transfers)
        parts: dict[tuple[int, int], int] = defaultdict(int)
        for tree in self._trees():
            if tree is not None:
                u, v = self.transfers[tree[0]].source, self.transfers[tree[-1]].target
                message = (
                    (u * self.n + v) if not (kind.root_input or kind.root_output) else (u if kind.root_output else v)
                )
                for i in tree:
                    chunks[i] = Chunk(message, parts[u, v])
                parts[u, v] += 1
        first = next(iter(parts), (0, 0))
        return chunks, max(parts.values(), default=1), first[1] if kind.root_output else first[0]

    def _allreduce(self) -> tuple[list[Chunk], int, int]:
        """Return chunks of sums with the ranks whose contributions are in them."""
        group = list(range(len(self.transfers)))

        def top(i: int) -> int:
            while group[i] != i:
                group[i] = group[group[i]]
                i = group[i]
            return i

        ranks = [0] * len(self.transfers)
        for i, earlier in enumerate(self.before):
            ranks[i] = 1 << self.transfers[i].source
            for j in earlier:
                ranks[i] |= ranks[j]
                group[top(i)] = top(j)
        arrived: dict[int, int] = defaultdict(int)  # for each group, whose contributions come where: n bits a rank
        for i, t in enumerate(self.transfers):
            arrived[top(i)] |= (ranks[i] & ~(1 << t.target)) << t.target * self.n
        number = self._whole_sums(arrived)
        chunks = [Chunk(0, number[top(i)], ranks[i]) for i in range(len(group))]
        return chunks, max(number.values(), default=-1) + 1, 0

    def _whole_sums(self, arrived: dict[int, int]) -> dict[int, int]:
        """Return the chunk of each group of transfers: several are one that bring every contribution everywhere once.

        Nothing in a file says that they are. FileFormatError if several do not fit together.
        """
        every = sum(((1 << self.n) - 1 & ~(1 << v)) << v * self.n for v in range(self.n))
        number: dict[int, int] = {}
        open_groups = [(mask, [i]) for i, mask in arrived.items() if mask != every]
        try:
            joined = self._partition(0, open_groups, every)
        except FileFormatError:
            if len(open_groups) > 1:
                raise FileFormatError(
                    f"{self.name!r} does not say which messages bring parts of one sum: if ranks add all that they "
                    "pass on, some contributions come nowhere or twice"
                ) from None
            joined = [of for _, of in open_groups]
        for count, of in enumerate([*([i] for i, mask in arrived.items() if mask == every), *joined]):
            number |= dict.fromkeys(of, count)
        return number


_OPERATIONS = RowText(
    "l{0}: send {1}b to {2} tag {3} cpu 0 nic {4}\n",
    "l{0}: recv {1}b from {2} tag {3} cpu 0 nic {4}\n",
)
_WAITS = RowText("l{0} requires l{1}\n")
_MOST = 256
"""Network interfaces and processors have numbers of 8 bits."""


def interfaces(network: Network) -> npt.NDArray[np.int64]:
    """Return the network interface of every link, int64[L]: no two links at a node have the same.

    >>> import gossamer
    >>> interfaces(gossamer.network("ring:4")).tolist()
    [0, 2, 0, 2, 1, 3, 1, 3]
    """
    order = np.argsort(network.link_target, kind="stable")
    first = np.cumsum(network.in_degree) - network.in_degree
    in_port = np.empty(network.link_count, np.int64)
    in_port[order] = np.arange(network.link_count) - first[network.link_target[order]]
    out_port = np.arange(network.link_count) - network.first_link[network.link_source]
    return out_port * _degree(network) + in_port


def _degree(network: Network) -> int:
    return max(network.degree, int(network.in_degree.max()), 1)


def _limits(plan: Plan) -> Iterator[str]:
    network = plan.schedule.network
    if _degree(network) ** 2 > _MOST:
        yield (
            f"a GOAL file numbers network interfaces 0..{_MOST - 1}, enough for a degree of 16; {network.spec} has "
            f"degree {_degree(network)}"
        )


def _write(plan: Plan, path: Path) -> None:
    network, nics = plan.schedule.network, interfaces(plan.schedule.network)
    n = network.node_count
    key = network.link_source * np.int64(n) + network.link_target
    order = np.argsort(key, kind="stable")
    with path.open("wb") as file:
        file.write(f"num_ranks {n}\n".encode())
        for mine in plan.program:
            file.write(f"\nrank {mine.rank} {{\n".encode())
            ends = mine.rank * np.int64(n) + mine.peer, mine.peer * np.int64(n) + mine.rank
            link = order[np.searchsorted(key, np.where(mine.kind == SEND, *ends), sorter=order)]
            for text in _rank(mine, nics[link], plan.part_bytes):
                file.write(text)
            file.write(b"}\n")


def _added_to(mine: Operations) -> npt.NDArray[np.int32]:
    """Return what wrote the sum that an operation adds to, where it waits for sends of that sum only; else -1."""
    written = np.where((mine.kind == REDUCE) & (mine.operand < 0), mine.after, np.int32(-1))
    late = (written >= 0) & (mine.kind[written] == SEND)
    again = late
    while again.any():
        written[again] = mine.after[written[again]]
        again = (written >= 0) & (mine.kind[written] == SEND)
    return np.where(late, written, np.int32(-1))


def _rank(mine: Operations, nic: npt.NDArray[np.int64], part_bytes: int) -> Iterator[bytes]:
    label = np.arange(mine.count)
    yield from _OPERATIONS.rows(mine.kind != SEND, [label, part_bytes, mine.peer, mine.slot, nic])
    earlier = earlier_on_link(mine)
    for needed in (mine.after, np.where(earlier == mine.after, -1, earlier), _added_to(mine)):
        waits = np.flatnonzero(needed >= 0)
        yield from _WAITS.rows(0, [waits, needed[waits]])


GOAL = Format(
    "goal", "GOAL text for LogGP and packet-level simulators", _write, _limits, sized=True, switches=True, by_rank=True
)  # LogGP has no network, so what a link does there needs a rank at each end
