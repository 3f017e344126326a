"""MSCCL++ execution plans read as schedules: who puts what where, and what orders it.

An operation of a threadblock becomes a step or several. What a rank puts into the memory of another arrives there in a
threadblock of its own, of one step for each put, in the order of the channel. Signals, semaphores and barriers are
messages without chunks: who waits comes behind who signals, and behind what its puts before that have brought. So
`gossamer.interchange.threadblocks` judges a plan as it does MSCCL XML, races and circles included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from gossamer.errors import FileFormatError, nearest
from gossamer.interchange.imported_schedules import ForeignCollective, collective, in_seconds, schedule_of, whole_parts
from gossamer.interchange.threadblocks import Block, Chunk, Place, Step, carry_out
from gossamer.networks.network import Network
from gossamer.reading.files import read_json
from gossamer.schedules import Schedule

_NOTHING: Place = ("i", 0)
_SIGNALS = ("signal", "rlxsignal")
_WAITS = ("wait", "rlxwait")
_PUTS = {"put": False, "pws": True, "pwsf": True}
"""Operations that put, and whether they signal behind it."""
_REDUCES = {"re": (False, False), "res": (False, True), "rre": (True, False), "rres": (True, True)}
"""Operations that add, whether they read what they add from other ranks, and whether they put the sum."""
_IDLE = ("nop", "flush")
_KNOWN = (
    *_IDLE, *_SIGNALS, *_WAITS, *_PUTS, "get", "copy", *_REDUCES, "gstore", "glres", "sem_acquire", "sem_release",
    "barrier", "pipeline",
)  # fmt: skip
_CHANNELS = ("port", "memory")
_MOST = 2_000_000
"""Chunks that are moved at most."""

_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError)


def read_mscclpp(path: Path, network: Network, bytes: int | None = None) -> Schedule:
    """Read an MSCCL++ execution plan for a network whose node r is rank r.

    Where links have speeds, it is judged in seconds for so many bytes. A put is a transfer that takes what its links
    take; signals take no time. What a pipeline repeats for pieces of its chunks is done once for whole chunks.

    Raises `FileFormatError` if it is no such file, its operations do not fit together, race or wait for ever, it moves
    packets with flags, or sends between ranks that the network does not link, through switches at most.
    """
    name = str(path)
    try:
        plan = _Plan(name, read_json(path), network.terminal_count, network.spec)
        plan.read()
    except FileFormatError:
        raise
    except _DAMAGE as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise FileFormatError(f"{name!r} is no MSCCL++ execution plan: {reason}") from None
    return plan.schedule(network, path.stem, in_seconds(name, network, bytes))


@dataclass
class _End:
    """A channel of a rank to another: how often it signals and waits, and who does."""

    peer: int
    number: int
    signals: list[tuple[int, int] | None] = field(default_factory=list)
    waits: int = 0
    signaller: int = -1
    waiter: int = -1


class _Switch(NamedTuple):
    """A switch channel: the buffer and the ranks that it stands for, in which a place is one place in all of them."""

    buffer: str
    ranks: tuple[int, ...]


@dataclass
class _Line:
    """The steps of a threadblock, and where each stands."""

    rank: int
    number: int
    steps: list[Step] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, step: Step, where: str) -> tuple[int, int]:
        """Add a step; return threadblock and number."""
        self.steps.append(step)
        self.names.append(where)
        return self.number, len(self.steps) - 1


class _Plan:
    """The threadblocks of a plan, as they are read."""

    def __init__(self, name: str, fields: Any, ranks: int, spec: str) -> None:
        self.name, self.fields, self.ranks = name, fields, ranks
        self.gpus = fields["gpus"]
        if len(self.gpus) != ranks or [gpu["id"] for gpu in self.gpus] != list(range(ranks)):
            self.refuse(f"has {len(self.gpus)} GPUs; {spec} has {ranks} terminals")
        if fields["protocol"] != "Simple":
            self.refuse(f"is of protocol {fields['protocol']!r}, whose packets carry flags; only 'Simple' is read")
        self.sizes = [{b: int(gpu[f"{kind}_chunks"]) for b, kind in _BUFFERS.items()} for gpu in self.gpus]
        self.lines: list[_Line] = []
        self.sides: dict[tuple[Any, ...], _Line] = {}  # where what a threadblock puts arrives
        self.next = [1_000_000] * ranks
        self.wires: dict[tuple[Any, ...], int] = {}
        self.waiting: list[tuple[_Line, int, tuple[int, str, int], int]] = []
        self.switches: list[list[_Switch]] = [[] for _ in range(ranks)]
        self.ends: list[dict[tuple[str, int], _End]] = [self._ends(v) for v in range(ranks)]
        self._check_switches()
        self.groups = 0
        self.meetings: dict[tuple[int, int], dict[int, int]] = {}
        self.moved = 0

    def refuse(self, text: str) -> NoReturn:
        raise FileFormatError(f"{self.name!r} {text}")

    def _ends(self, rank: int) -> dict[tuple[str, int], _End]:
        """Return the channels of a rank by kind and number; the k-th to a rank is joined to the k-th back."""
        found: dict[tuple[str, int], _End] = {}
        seen: dict[tuple[str, int], int] = {}
        count = dict.fromkeys(_CHANNELS, 0)
        for group in self.gpus[rank]["channels"]:
            kind = group["channel_type"]
            if kind == "switch":
                self.switches[rank] += [
                    _Switch(group["buffer_type"], tuple(of["ranks"])) for of in group["rank_groups"]
                ]
                continue
            if kind not in _CHANNELS:
                known = f"{', '.join(_CHANNELS)} and switch"
                self.refuse(f"has a {kind} channel at rank {rank}; {known} channels are read")
            for peer in group["connected_to"]:
                if not 0 <= peer < self.ranks or peer == rank:
                    self.refuse(f"connects rank {rank} to {peer}; ranks are 0..{self.ranks - 1}")
                number = seen[kind, peer] = seen.get((kind, peer), -1) + 1
                found[kind, count[kind]] = _End(peer, number)
                count[kind] += 1
        return found

    def _check_switches(self) -> None:
        """Refuse a switch channel that not all its ranks have."""
        for rank, own in enumerate(self.switches):
            for number, switch in enumerate(own):
                here = f"has a switch channel {number} at rank {rank}"
                if switch.buffer not in _BUFFERS:
                    self.refuse(f"{here} of buffer {switch.buffer!r}; there are i, o and s")
                if rank not in switch.ranks or len(set(switch.ranks)) < len(switch.ranks):
                    self.refuse(f"{here} of ranks {list(switch.ranks)}; it must be one of them, and each of them once")
                for v in switch.ranks:
                    if not 0 <= v < self.ranks:
                        self.refuse(f"{here} of rank {v}; ranks are 0..{self.ranks - 1}")
                    if self.switches[v].count(switch) != own.count(switch):
                        self.refuse(f"{here} of ranks {list(switch.ranks)}, which rank {v} has not")

    def read(self) -> None:
        """Read all threadblocks, then pair signals with waits."""
        for rank, gpu in enumerate(self.gpus):
            for number, block in enumerate(gpu["threadblocks"]):
                if block["id"] != number:
                    self.refuse(f"has threadblock {block['id']} of rank {rank} in the place of {number}")
                line = _Line(rank, number)
                self.lines.append(line)
                _Threadblock(self, line, block).read()
        self._meet()
        self._pair()
        self._semaphores()

    def wire(self, *key: Any) -> int:
        """Return the number of a connection."""
        return self.wires.setdefault(key, len(self.wires))

    def side(self, rank: int, *key: Any) -> _Line:
        """Return a threadblock of a rank that stands for what others do there."""
        if (rank, *key) not in self.sides:
            self.sides[rank, *key] = line = _Line(rank, self.next[rank])
            self.next[rank] += 1
            self.lines.append(line)
        return self.sides[rank, *key]

    def _pair(self) -> None:
        """Let each wait follow what had been put when its signal was sent."""
        back = [{(kind, end.peer, end.number): end for (kind, _), end in own.items()} for own in self.ends]
        for rank, own in enumerate(self.ends):
            for (kind, number), end in own.items():
                other = back[end.peer].get((kind, rank, end.number))
                here = f"{kind} channel {number} of rank {rank}"
                if other is None:
                    if end.signals or end.waits:
                        self.refuse(f"uses {here} to rank {end.peer}, which has none back")
                elif end.waits != len(other.signals):
                    sent = len(other.signals)
                    self.refuse(f"waits {end.waits} times on {here}, on which rank {end.peer} signals {sent} times")
        for line, step, (rank, kind, number), turn in self.waiting:
            end = self.ends[rank][kind, number]
            needs = back[end.peer][kind, rank, end.number].signals[turn]
            line.steps[step] = line.steps[step]._replace(needs=needs)

    def _semaphores(self) -> None:
        """Give semaphores that begin above 0 their first releases, and refuse what is left over or missing."""
        sent: dict[int, int] = {}
        taken: dict[int, int] = {}
        for line in self.lines:
            for step in line.steps:
                if step.wire is not None and not step.chunks:
                    for does, counts in ((step.sends, sent), (step.receives, taken)):
                        counts[step.wire[2]] = counts.get(step.wire[2], 0) + does
        for key, wire in list(self.wires.items()):
            if key[0] != "semaphore":
                continue
            _, rank, number = key
            known = self.gpus[rank].get("semaphores", [])
            if not 0 <= number < len(known):
                self.refuse(f"uses semaphore {number} of rank {rank}, which has {len(known)}")
            first = int(known[number]["init_value"])
            if first:
                start = self.side(rank, "semaphore", number)
                for _ in range(min(first, taken.get(wire, 0))):
                    start.add(_signal(rank, rank, wire), f"semaphore {number} of rank {rank} at the start")
            if sent.get(wire, 0) + first < taken.get(wire, 0):
                self.refuse(
                    f"acquires semaphore {number} of rank {rank} {taken[wire]} times, which is released "
                    f"{sent.get(wire, 0) + first} times"
                )

    def _meet(self) -> None:
        """Let all threadblocks of a barrier wait for each other: for a step behind all that come to it."""
        for (rank, barrier), turns in self.meetings.items():
            hub = self.side(rank, "barrier", barrier)
            if len(set(turns.values())) > 1:
                self.refuse(f"has a barrier {barrier} at rank {rank}, to which not all threadblocks come equally often")
            for _ in range(max(turns.values())):
                for way in ("to", "from"):
                    for block in turns:
                        wire = self.wire("barrier", rank, barrier, block, way)
                        step = _wait(rank, rank, wire) if way == "to" else _signal(rank, rank, wire)
                        hub.add(step, f"barrier {barrier} of rank {rank}")

    def schedule(self, network: Network, stem: str, bytes: int | None) -> Schedule:
        """Return the schedule of what is put."""
        name, n = self.name, self.ranks
        kind = collective(str(self.fields["collective"]), name)
        sizes = [(own["i"], own["o"]) for own in self.sizes]
        root = self._root(kind)
        k = whole_parts(name, kind, n, sizes[root])
        everyone = (1 << n) - 1 if kind.reduces else 0
        memory: list[dict[Place, Chunk]] = [{} for _ in range(n)]
        goal: list[dict[Place, Chunk]] = [{} for _ in range(n)]
        alias = [kind.shared_places(v, n, k) if self.fields["inplace"] else {} for v in range(n)]
        for v in range(n):
            given = range(n * k if kind.wide_input else k) if not kind.root_input or v == root else ()
            got = kind.goal(v, n, k, root) if not kind.root_output or v == root else ()
            for end, count in (("i", len(given)), ("o", len(got))):
                if count > self.sizes[v][end]:
                    self.refuse(f"has {self.sizes[v][end]} chunks in buffer {end!r} of rank {v} for {count}")
            for i in given:
                message, part = kind.key(v, i, n, k)
                memory[v][alias[v].get(("i", i), ("i", i))] = Chunk(message, part, (1 << v) * kind.reduces)
            for i, (message, part) in enumerate(got):
                goal[v][alias[v].get(("o", i), ("o", i))] = Chunk(message, part, everyone)
        blocks = [Block(line.rank, line.number, -1, -1, 0, line.steps, line.names) for line in self.lines]
        sent = carry_out(name, blocks, memory, alias, goal)
        return schedule_of(name, network, kind, sent, n, k, root, str(self.fields.get("name") or stem), bytes)

    def _root(self, kind: ForeignCollective) -> int:
        """Return the root: the only rank to which nothing is sent, or which sends nothing."""
        if not (kind.root_input or kind.root_output):
            return 0
        moves = {end for line in self.lines for s in line.steps if s.wire is not None and s.chunks for end in [s.wire]}
        ends = {wire[1 if kind.root_input else 0] for wire in moves}
        found = [v for v in range(self.ranks) if v not in ends]
        if len(found) != 1:
            self.refuse(f"does not show its root: {len(found)} ranks {'get' if kind.root_input else 'send'} nothing")
        return found[0]


_BUFFERS = {"i": "input", "o": "output", "s": "scratch"}


def _signal(source: int, target: int, wire: int) -> Step:
    return Step(False, False, False, True, _NOTHING, _NOTHING, 0, None, (source, target, wire))


def _wait(source: int, target: int, wire: int) -> Step:
    return Step(True, False, False, False, _NOTHING, _NOTHING, 0, None, (source, target, wire))


@dataclass
class _At:
    """Chunks in a buffer of a rank."""

    rank: int
    buffer: str
    index: int
    size: int

    @property
    def place(self) -> Place:
        """The first chunk."""
        return self.buffer, self.index


class _Threadblock:
    """A threadblock as it is read: operation by operation into the steps of its line."""

    def __init__(self, plan: _Plan, line: _Line, fields: Any) -> None:
        self.plan, self.line, self.fields, self.rank = plan, line, fields, line.rank
        self.channels = self._listed("channels", "channel_type", "channel_ids")
        self.remote = self._listed("remote_buffer_refs", "access_channel_type", "remote_buffer_ids")
        self.where = ""
        self.met = self.quiet = True  # whether all threads have met since one waited, and since they moved something
        self.put: dict[tuple[str, int], tuple[int, int]] = {}  # the last put on a port, or into the memory of a rank
        self.spare = 0

    def _listed(self, key: str, kind: str, ids: str) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for group in self.fields.get(key, []):
            found.setdefault(group[kind], []).extend(group[ids])
        return found

    def refuse(self, text: str) -> NoReturn:
        raise FileFormatError(f"{self.plan.name!r}: {self.where}: {text}")

    def read(self) -> None:
        """Read all operations."""
        for number, (op, inside) in enumerate(self._operations()):
            self.where = f"rank {self.rank}, threadblock {self.line.number}, operation {number} ({op['name']}){inside}"
            self._read(op)

    def _operations(self) -> Iterator[tuple[Any, str]]:
        for op in self.fields["ops"]:
            if op["name"] == "pipeline":
                yield from ((inner, " of a pipeline") for inner in op["ops"])
            else:
                yield op, ""

    def _read(self, op: Any) -> None:
        name = op["name"]
        if name not in _KNOWN:
            hint = nearest(str(name), _KNOWN) or f"; known are {', '.join(_KNOWN)}"
            self.refuse(f"this operation is not read{hint}")
        if op.get("tbg_info", {}).get("tbg_size", 1) != 1:
            self.refuse("several threadblocks share what it moves, which is not read")
        if name == "nop":
            self.met = self.quiet = True
        elif name == "barrier":
            self._barrier(int(op["barrier_id"]))
        elif name in _SIGNALS:
            for channel in self._named(op):
                self._signals(channel, data=name == "signal")
        elif name in _WAITS:
            for channel in self._named(op):
                self._waits(channel)
        elif name in ("sem_acquire", "sem_release"):
            self._semaphores(op["semaphore_ids"], name == "sem_release")
        elif name in _PUTS:
            self._moves()
            self._puts(op, op["src_buff"], op["dst_buff"], _PUTS[name])
            self.quiet = _PUTS[name]
        elif name == "get":
            self._moves()
            for channel, given, got in self._pairs(op, op["src_buff"], op["dst_buff"]):
                self._get(self._remote(op, given, channel), self._own(got))
        elif name == "copy":
            self._moves()
            for given, got in zip(op["src_buff"], op["dst_buff"], strict=True):
                self._copy(self._own(given), self._own(got))
        elif name in _REDUCES:
            self._moves()
            self._reduces(op, *_REDUCES[name])
        elif name in ("gstore", "glres"):
            self._moves()
            self._in_switch(op, adds=name == "glres")

    # What orders operations.

    def _named(self, op: Any) -> list[tuple[str, int]]:
        """Return the channels of an operation: kinds and numbers at the rank."""
        kind, own = op["channel_type"], self.channels.get(op["channel_type"], [])
        found = []
        for i in op["channel_ids"]:
            if not 0 <= i < len(own) or (kind, own[i]) not in self.plan.ends[self.rank]:
                self.refuse(f"there is no {kind} channel {i} in this threadblock")
            found.append((kind, own[i]))
        return found

    def _signals(self, channel: tuple[str, int], data: bool) -> None:
        if data and not (self.met and self.quiet):
            self.refuse("it signals before all threads have met behind what they moved: a nop is missing")
        end = self.plan.ends[self.rank][channel]
        self._only(end, "signaller", channel)
        kind, number = channel
        end.signals.append(self.put.get(("port", number) if kind == "port" else ("memory", end.peer)))
        wire = self.plan.wire("signal", self.rank, end.peer, kind, end.number)
        self.line.add(_signal(self.rank, end.peer, wire), self.where)

    def _waits(self, channel: tuple[str, int]) -> None:
        self.met = False
        end = self.plan.ends[self.rank][channel]
        self._only(end, "waiter", channel)
        wire = self.plan.wire("signal", end.peer, self.rank, channel[0], end.number)
        _, step = self.line.add(_wait(end.peer, self.rank, wire), self.where)
        self.plan.waiting.append((self.line, step, (self.rank, *channel), end.waits))
        end.waits += 1

    def _only(self, end: _End, role: str, channel: tuple[str, int]) -> None:
        """Refuse a second threadblock that signals, or waits, on a channel: nothing tells whose turn it is."""
        if getattr(end, role) not in (-1, self.line.number):
            self.refuse(f"threadblock {getattr(end, role)} uses {channel[0]} channel {channel[1]} for the same")
        setattr(end, role, self.line.number)

    def _semaphores(self, numbers: list[int], releases: bool) -> None:
        if releases and not (self.met and self.quiet):
            self.refuse("it tells others before all threads have met behind what they moved: a nop is missing")
        self.met = self.met and releases
        for number in numbers:
            wire = self.plan.wire("semaphore", self.rank, number)
            self.line.add((_signal if releases else _wait)(self.rank, self.rank, wire), self.where)

    def _barrier(self, barrier: int) -> None:
        self.met = self.quiet = True
        turns = self.plan.meetings.setdefault((self.rank, barrier), {})
        turns[self.line.number] = turns.get(self.line.number, 0) + 1
        for make, way in ((_signal, "to"), (_wait, "from")):
            wire = self.plan.wire("barrier", self.rank, barrier, self.line.number, way)
            self.line.add(make(self.rank, self.rank, wire), self.where)

    def _moves(self) -> None:
        if not self.met:
            self.refuse("it moves chunks before all threads have met behind a wait: a nop is missing")
        self.quiet = False

    # What they move.

    def _own(self, fields: Any) -> _At:
        return self._chunks(self.rank, fields["type"], fields)

    def _remote(self, op: Any, fields: Any, channel: tuple[str, int]) -> _At:
        own = self.remote.get(op["channel_type"], [])
        if "buffer_id" not in fields or not 0 <= fields["buffer_id"] < len(own):
            self.refuse(f"there is no remote buffer {fields.get('buffer_id')} in this threadblock")
        known = self.plan.gpus[self.rank]["remote_buffers"]
        if not 0 <= own[fields["buffer_id"]] < len(known):
            self.refuse(f"rank {self.rank} has no remote buffer {own[fields['buffer_id']]}")
        buffer, peer = known[own[fields["buffer_id"]]], self.plan.ends[self.rank][channel].peer
        if buffer["rank"] != peer:
            self.refuse(f"the channel leads to rank {peer}, the buffer is of rank {buffer['rank']}")
        return self._chunks(peer, buffer["type"], fields)

    def _chunks(self, rank: int, buffer: str, fields: Any) -> _At:
        index, size = int(fields["index"]), int(fields["size"])
        if buffer not in _BUFFERS:
            self.refuse(f"there is no buffer {buffer!r}; there are i, o and s")
        if size < 1 or index < 0 or index + size > self.plan.sizes[rank][buffer]:
            has = self.plan.sizes[rank][buffer]
            self.refuse(f"chunks {index}..{index + size - 1} of buffer {buffer!r} of rank {rank}, which has {has}")
        self.plan.moved += size
        if self.plan.moved > _MOST:
            self.refuse(f"more than {_MOST:,} chunks are moved")
        return _At(rank, buffer, index, size)

    def _pairs(self, op: Any, given: list[Any], got: list[Any]) -> Iterator[tuple[tuple[str, int], Any, Any]]:
        """Yield channel, source and target of each move of an operation."""
        channels = self._named(op)
        if len(given) != len(got) or len(channels) != len(got):
            self.refuse(
                f"{len(given)} sources, {len(got)} targets and {len(channels)} channels; it takes as many of each"
            )
        yield from zip(channels, given, got, strict=True)

    def _alike(self, one: _At, other: _At) -> None:
        if one.size != other.size:
            self.refuse(f"{one.size} chunks go to a place of {other.size}")

    def _step(self, one: _At, other: _At, adds: bool = False) -> None:
        self._alike(one, other)
        self.line.add(Step(False, adds, True, False, one.place, other.place, one.size, None), self.where)

    def _copy(self, one: _At, other: _At) -> None:
        self._step(one, other)

    def _puts(self, op: Any, given: list[Any], got: list[Any], signals: bool) -> None:
        for channel, source, target in self._pairs(op, given, got):
            self._put(channel, self._own(source), self._remote(op, target, channel))
            if signals:
                self._signals(channel, data=False)

    def _put(self, channel: tuple[str, int], one: _At, other: _At) -> None:
        self._alike(one, other)
        kind, number = channel
        key = ("port", number) if kind == "port" else ("memory", other.rank)
        wire = (self.rank, other.rank, self.plan.wire("put", self.rank, self.line.number, *key))
        self.line.add(Step(False, False, False, True, one.place, one.place, one.size, None, wire), self.where)
        there = self.plan.side(other.rank, "put", self.rank, self.line.number, *key)
        step = Step(True, False, True, False, other.place, other.place, one.size, None, wire)
        self.put[key] = there.add(step, f"{self.where}, which puts into rank {other.rank},")

    def _get(self, one: _At, other: _At) -> None:
        """Ask for chunks of another rank, which sends them at once, and take them."""
        self._alike(one, other)
        ask = self.plan.wire("ask", self.rank, one.rank, self.line.number)
        wire = (one.rank, self.rank, self.plan.wire("get", self.rank, one.rank, self.line.number))
        self.line.add(_signal(self.rank, one.rank, ask), self.where)
        there, where = self.plan.side(one.rank, "get", self.rank, self.line.number), f"{self.where}, which reads there,"
        there.add(_wait(self.rank, one.rank, ask), where)
        there.add(Step(False, False, False, True, one.place, one.place, one.size, None, wire), where)
        self.line.add(Step(True, False, True, False, other.place, other.place, one.size, None, wire), self.where)

    def _reduces(self, op: Any, reads: bool, sends: bool) -> None:
        given, got = op["src_buff"], op["dst_buff"]
        if op.get("reduce_op", "sum") != "sum":
            self.refuse(f"reduces by {op['reduce_op']!r}; sums are read")
        parts = [self._own(place) for place in (given[:1] if reads else given)]
        if reads:
            parts += [
                self._fetched(op, channel, place) for channel, place in zip(self._named(op), given[1:], strict=True)
            ]
        total = self._own(got[0])
        same = [part for part in parts if (part.place, part.size) == (total.place, total.size)]
        others = [part for part in parts if part not in same]
        if len(same) > 1 or not parts[1:]:
            self.refuse("it adds fewer than two different places")
        if not same:
            self._step(others.pop(0), total)
        for part in others:
            self._step(part, total, adds=True)
        if sends:
            self._puts(op, [got[0]] * len(got[1:]), got[1:], signals=False)

    # Through switches.

    def _switch(self, fields: Any) -> tuple[dict[int, _At], int]:
        """Return the places that a place of a switch channel stands for, by ranks, and its chunks."""
        own = self.channels.get("switch", [])
        i = fields.get("switch_channel_id", -1)
        if not 0 <= i < len(own) or not 0 <= own[i] < len(self.plan.switches[self.rank]):
            self.refuse(f"there is no switch channel {i} in this threadblock")
        switch = self.plan.switches[self.rank][own[i]]
        return {v: self._chunks(v, switch.buffer, fields) for v in switch.ranks}, int(fields["size"])

    def _in_switch(self, op: Any, adds: bool) -> None:
        """Store to all ranks of a channel, what the rank has or what switches add up of those of a channel.

        All of a chunk is read before it is stored, one chunk while the next one comes. It ends when all have what was
        stored: who is told of it later finds it there.
        """
        if op.get("reduce_op", "sum") != "sum":
            self.refuse(f"reduces by {op['reduce_op']!r}; sums are read")
        if len(op["src_buff"]) != 1 or len(op["dst_buff"]) != 1:
            self.refuse("it takes one source and one target")
        to, count = self._switch(op["dst_buff"][0])
        first, number = self.plan.groups, len(self.line.steps)
        self.plan.groups += 2 * count
        stores, own = self.line, to[self.rank]
        if adds:
            given, _ = self._switch(op["src_buff"][0])
            self._alike(given[self.rank], own)
            stores = self.plan.side(self.rank, "store", self.line.number, number)
            self._sum(given, own, first, stores)
        else:
            given_here = self._own(op["src_buff"][0])
            self._step(given_here, own)
        others = [v for v in to if v != self.rank]
        wires = {v: self.plan.wire("stored", self.rank, v, self.line.number) for v in others}
        for i in range(count):
            if adds:
                stores.add(
                    _wait(self.rank, self.rank, self.plan.wire("summed", self.rank, self.line.number)), self.where
                )
            for v in others:
                here = (own.buffer, own.index + i)
                wire = (self.rank, v, wires[v])
                step = Step(False, False, False, True, here, here, 1, None, wire, first + count + i)
                stores.add(step, self.where)
        for v in others:
            there = self.plan.side(v, "stored", self.rank, self.line.number)
            where = f"{self.where}, which stores at rank {v},"
            for i in range(count):
                at = (to[v].buffer, to[v].index + i)
                there.add(Step(True, False, True, False, at, at, 1, None, (self.rank, v, wires[v])), where)
            ack = self.plan.wire("ack", v, self.rank, self.line.number)
            there.add(_signal(v, self.rank, ack), where)
            self.line.add(_wait(v, self.rank, ack), self.where)

    def _sum(self, given: dict[int, _At], total: _At, first: int, stores: _Line) -> None:
        """Ask all ranks for their chunks, and add them up as they come, telling who stores them of each."""
        others = [v for v in given if v != self.rank]
        for v in others:
            ask = self.plan.wire("ask", self.rank, v, self.line.number)
            wire = (v, self.rank, self.plan.wire("get", self.rank, v, self.line.number))
            self.line.add(_signal(self.rank, v, ask), self.where)
            there, where = (
                self.plan.side(v, "get", self.rank, self.line.number),
                f"{self.where}, which reads at rank {v},",
            )
            there.add(_wait(self.rank, v, ask), where)
            for i in range(total.size):
                at = (given[v].buffer, given[v].index + i)
                there.add(Step(False, False, False, True, at, at, 1, None, wire, first + i), where)
        if given[self.rank].place != total.place:
            self._step(given[self.rank], total)
        for i in range(total.size):
            for v in others:
                wire = (v, self.rank, self.plan.wire("get", self.rank, v, self.line.number))
                spare, here = (f"t{self.line.number}", self.spare), (total.buffer, total.index + i)
                self.spare += 1
                self.line.add(Step(True, False, True, False, spare, spare, 1, None, wire), self.where)
                self.line.add(Step(False, True, True, False, spare, here, 1, None), self.where)
            told = self.plan.wire("summed", self.rank, self.line.number)
            self.line.add(_signal(self.rank, self.rank, told), self.where)

    def _fetched(self, op: Any, channel: tuple[str, int], fields: Any) -> _At:
        """Return what an operation reads from another rank, in a place of its own."""
        there = self._remote(op, fields, channel)
        here = _At(self.rank, f"t{self.line.number}", self.spare, there.size)
        self.spare += there.size
        self._get(there, here)
        return here
