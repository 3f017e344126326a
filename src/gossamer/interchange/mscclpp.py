"""MSCCL++ execution plans: JSON that the executor of that library carries out on GPUs.

A rank puts a block straight into the memory of its neighbor and signals; nobody takes it off a wire. So every block
that comes has a place of its own: in the output where it stays, else in scratch, which is larger than that of the
program. No place is written to twice, and nothing can come too early, except before the neighbor has begun: that is
what it says on every channel first.

A link has a threadblock that puts, one that waits and adds, and a channel for both, and further ones where an end would
have more than 64 operations. Threadblocks of a rank tell each other by semaphores, one for each block and reader.

Where the switches of a machine copy or add, and each of them is joined to all ranks, ranks store to *switch channels*,
under whose addresses the memories of all ranks lie, and which use all these switches together: a `gstore` stores what a
rank has in all of them, a `glres` loads the sum of all and stores it in all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan, RowText
from gossamer.interchange.mscclpp_plans import read_mscclpp
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.programs import SEND, Operations, Program

Numbers = npt.NDArray[np.int64]

COLLECTIVES = {
    "multinode-broadcast": "allgather",
    "total-exchange": "alltoall",
    "reduce-scatter": "reducescatter",
    "allreduce": "allreduce",
    "partial-sum-allreduce": "allreduce",
}
"""What the executor calls the tasks; for it only the allgather is special, whose size is that of its output."""

OPERATIONS = 64
"""The most operations of a threadblock."""

_SEMAPHORES = 16
"""The most semaphores of an operation."""

_RESIDENT = 108
"""Threadblocks that a GPU carries out at once, one on each multiprocessor: an A100's."""

_OPENS_SEND, _OPENS_RECEIVE = 2, 1
"""Operations before the first block."""

_SAME_CHANNEL = '"channel_ids":[0],"channel_type":"port"'
_BEGIN = '"channels":[{"channel_type":"port","channel_ids":[{1}]}],"remote_buffer_refs":['
_REMOTE = '{"access_channel_type":"port","remote_buffer_ids":[%s]}],"ops":['
_READY = f'{{"name":"rlxwait",{_SAME_CHANNEL}}},{{"name":"nop"}}'
_PUT = (
    ',{"name":"%s","src_buff":[{"type":"%s","index":{0},"size":1}],"dst_buff":[{"buffer_id":{1},"index":{2},"size":1}],'
    f"{_SAME_CHANNEL}}}"
)
_ADD = (
    ',{"name":"re","src_buff":[{"type":"%s","index":{0},"size":1},{"type":"s","index":{1},"size":1}],'
    '"dst_buff":[{"type":"%s","index":{2},"size":1}],"reduce_op":"sum"}'
)
_RELEASE = ',{"name":"sem_release","semaphore_ids":[%s]}'
_ROWS = [
    "",  # a threadblock is opened by one of the last three
    "]}",
    ',{"name":"nop"}',
    f',{{"name":"wait",{_SAME_CHANNEL}}}',
    ',{"name":"sem_acquire","semaphore_ids":[{0}]}',
    *(_PUT % (name, b) for name in ("pws", "pwsf") for b in "ios"),
    *(_ADD % (a, b) for a in "ios" for b in "os"),
    *(_RELEASE % ",".join(["{0}", *(f"{{{j}}}" for j in range(3, 2 + n))]) for n in range(1, _SEMAPHORES + 1)),
    ',\n{"id":{0},' + _BEGIN + f'],"ops":[{{"name":"rlxsignal",{_SAME_CHANNEL}}}',
    *(',\n{"id":{0},' + _BEGIN + _REMOTE % ids + _READY for ids in ("{2}", "{2},{3}")),
]
_OPEN = len(_ROWS) - 3
_TEXT = RowText(*_ROWS)
_COPY = RowText(
    ',\n{"id":{0},"channels":[],"remote_buffer_refs":[],"ops":[{"name":"nop"}',
    "]}",
    ',{"name":"copy","src_buff":[{"type":"i","index":{0},"size":{2}}],'
    '"dst_buff":[{"type":"o","index":{1},"size":{2}}]}',
)


@njit(cache=True, nogil=True)
def _place_versions(kind, buffer, offset, operand, copies, output_size, scratch_size):
    """Give every block that a rank writes a place of its own.

    What is last written to a place of the output lies there; everything before lies in scratch, in a place that
    nothing else is written to. Returns buffer and place that an operation reads; buffer and place that it writes;
    the place in scratch into which a block to be added is put, else -1; the operation that wrote what it reads, or -1;
    how many operations read what it writes; and the size of the scratch.
    """
    count = kind.size
    read_in, wrote_in = np.zeros(count, np.int64), np.zeros(count, np.int64)
    read, wrote, came, needs = np.full((4, count), -1, np.int64)
    readers = np.zeros(count, np.int64)
    last = np.full(output_size, -1, np.int64)
    for k in range(count):
        if kind[k] != 0 and buffer[k] == 1:
            last[offset[k]] = k
    places = output_size + scratch_size
    now_in, now = np.full(places, 2, np.int64), np.full(places, -1, np.int64)
    writer = np.full(places, -1, np.int64)
    for c in range(copies.shape[0]):
        now_in[copies[c, 1]], now[copies[c, 1]] = 0, copies[c, 0]
    free = 0
    for k in range(count):
        place = offset[k] if buffer[k] == 1 else output_size + offset[k]
        if kind[k] == 0 and buffer[k] == 0:
            read[k] = offset[k]
        elif kind[k] == 2 and operand[k] >= 0:
            read[k] = operand[k]
        elif kind[k] != 1:
            read_in[k], read[k], needs[k] = now_in[place], now[place], writer[place]
            if needs[k] >= 0:
                readers[needs[k]] += 1
        if kind[k] == 0:
            continue
        if kind[k] == 2:
            came[k] = free
            free += 1
        if buffer[k] == 1 and last[offset[k]] == k:
            wrote_in[k], wrote[k] = 1, offset[k]
        elif kind[k] == 2:
            wrote_in[k], wrote[k] = 2, came[k]
        else:
            wrote_in[k], wrote[k] = 2, free
            free += 1
        now_in[place], now[place], writer[place] = wrote_in[k], wrote[k], k
    return read_in, read, wrote_in, wrote, came, needs, readers, free


@njit(cache=True, nogil=True)
def _plan_costs(kind, needs, readers, ids):
    """Return how many operations of a plan each operation takes at most, with `ids` semaphores in one."""
    cost = np.empty(kind.size, np.int64)
    for k in range(kind.size):
        waits = 1 if needs[k] >= 0 else 0
        tells = 1 + (readers[k] + ids - 1) // ids if readers[k] > 0 else 0
        if kind[k] == 0:
            cost[k] = 1 + 2 * waits
        elif kind[k] == 1:
            cost[k] = 1 + tells
        else:
            cost[k] = 3 + waits + tells
    return cost


@njit(cache=True, nogil=True)
def _threadblocks(sends, receives, send_room, receive_room):
    """Return the threadblock of each block on a link, from 0, so that neither end has more operations than room."""
    block = np.empty(sends.size, np.int64)
    here = sent = got = 0
    for i in range(sends.size):
        if i and (sent + sends[i] > send_room or got + receives[i] > receive_room):
            here += 1
            sent = got = 0
        sent += sends[i]
        got += receives[i]
        block[i] = here
    return block


@njit(cache=True, nogil=True)
def _plan_rows(order, block, kind, needs, read_in, read, wrote_in, wrote, came, buffer_id, put, ids, which, columns):
    """Write the rows of a rank's threadblocks; return how many, and how many semaphores they use.

    Operations are taken in `order`; `block` is the threadblock of each. The rows are those of
    `_ROWS`: 0 opens a threadblock, 1 closes it, 2 is a nop, 3 a wait, 4 acquires, 5 to 10 put,
    11 to 16 add, 17 and more release one semaphore and more.
    """
    count = kind.size
    told, first, given = np.zeros((3, count), np.int64)
    for k in range(count):
        if needs[k] >= 0 and block[needs[k]] != block[k]:
            told[needs[k]] += 1
    semaphores = 0
    for k in range(count):  # those that tell of one block follow each other
        first[k] = semaphores
        semaphores += told[k]
    at = 0
    for i in range(count):
        k = order[i]
        opens = i == 0 or block[order[i - 1]] != block[k]
        closes = i + 1 == count or block[order[i + 1]] != block[k]
        waits = needs[k] >= 0 and block[needs[k]] != block[k]
        if opens:
            which[at], columns[0, at] = 0, block[k]
            at += 1
        if kind[k] != 0:
            which[at] = 3
            at += 1
        if waits:
            which[at], columns[0, at] = 4, first[needs[k]] + given[needs[k]]
            given[needs[k]] += 1
            at += 1
        if waits or kind[k] == 2:
            which[at] = 2
            at += 1
        if kind[k] == 0:
            which[at] = 5 + read_in[k] + (3 if closes else 0)
            columns[0, at], columns[1, at], columns[2, at] = read[k], buffer_id[k], put[k]
            at += 1
        elif kind[k] == 2:
            which[at] = 11 + 2 * read_in[k] + wrote_in[k] - 1
            columns[0, at], columns[1, at], columns[2, at] = read[k], came[k], wrote[k]
            at += 1
        if told[k] > 0:
            which[at] = 2
            at += 1
            for j in range(0, told[k], ids):
                which[at], columns[0, at] = 16 + min(ids, told[k] - j), first[k] + j
                at += 1
        if closes:
            which[at] = 1
            at += 1
    return at, semaphores


class _Versions(NamedTuple):
    """Where the blocks of a rank lie; see `_place_versions`."""

    read_in: Numbers
    read: Numbers
    wrote_in: Numbers
    wrote: Numbers
    came: Numbers
    needs: Numbers
    readers: Numbers
    scratch: int


class _End(NamedTuple):
    """What the neighbors of a rank must know of it: its sends and its receives, by peer and in order.

    `put_in` and `put` say where what it receives is to be put.
    """

    to: npt.NDArray[np.int32]
    send_costs: Numbers
    by: npt.NDArray[np.int32]
    receive_costs: Numbers
    put_in: Numbers
    put: Numbers

    def sends(self, peer: int) -> slice:
        """Return the rows of the sends to a peer."""
        return slice(*np.searchsorted(self.to, [peer, peer + 1]).tolist())

    def receives(self, peer: int) -> slice:
        """Return the rows of the receives from a peer."""
        return slice(*np.searchsorted(self.by, [peer, peer + 1]).tolist())


def _versions(mine: Operations) -> _Versions:
    return _Versions(
        *_place_versions(
            mine.kind, mine.buffer, mine.offset, mine.operand, mine.copies, mine.output_size, mine.scratch_size
        )
    )


def _end(mine: Operations) -> _End:
    own = _versions(mine)
    cost = _plan_costs(mine.kind, own.needs, own.readers, _SEMAPHORES)
    order = np.argsort(mine.peer, kind="stable")
    sends, receives = order[mine.kind[order] == SEND], order[mine.kind[order] != SEND]
    put_in = np.where(own.came >= 0, 2, own.wrote_in)
    put = np.where(own.came >= 0, own.came, own.wrote)
    return _End(
        mine.peer[sends], cost[sends], mine.peer[receives], cost[receives], put_in[receives], put[receives]
    )  # fmt: skip


class _Ends(dict[int, _End]):
    """What the neighbors of each rank must know of it, found when it is asked for."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def __missing__(self, rank: int) -> _End:
        self[rank] = _end(self._program.rank(rank))
        return self[rank]


def _split(sender: _End, receiver: _End, source: int, target: int) -> Numbers:
    """Return the threadblock of each block on a link, from 0; both ends find the same."""
    split: Numbers = _threadblocks(
        sender.send_costs[sender.sends(target)], receiver.receive_costs[receiver.receives(source)],
        OPERATIONS - _OPENS_SEND, OPERATIONS - _OPENS_RECEIVE,
    )  # fmt: skip
    return split


class _Rank:
    """The threadblocks, channels and buffers of a rank.

    * `connected`: the rank at the other end of each channel. Two ranks list those between them in one order.
    * `remote`: ranks, and which of their buffers are written to.
    * `threadblocks`: how many there are, those that copy included.
    """

    def __init__(self, mine: Operations, ends: _Ends) -> None:
        self.mine, rank = mine, mine.rank
        self.connected: list[int] = []
        self.remote: list[tuple[int, int]] = []
        self.runs = _runs(mine.copies)
        self.threadblocks = -(-len(self.runs) // (OPERATIONS - 1))
        self.block, self.buffer_id, self.put = np.zeros((3, mine.count), np.int64)
        self.opening: list[tuple[int, int, int]] = []  # row, channel and first remote buffer of each threadblock
        for peer in np.unique(mine.peer).tolist():
            here = np.flatnonzero(mine.peer == peer)
            sends, receives = here[mine.kind[here] == SEND], here[mine.kind[here] != SEND]
            out = _split(ends[rank], ends[peer], rank, peer)
            into = _split(ends[peer], ends[rank], peer, rank)
            counts = [int(blocks.max(initial=-1)) + 1 for blocks in (out, into)]
            channel = len(self.connected)
            self.connected += [peer] * sum(counts)
            after = counts[1] if rank > peer else 0, 0 if rank > peer else counts[0]
            self._send_to(peer, sends, ends[peer], out + self.threadblocks)
            opens = _OPEN + len(np.unique(self.buffer_id[sends]))
            first = len(self.remote) - (opens - _OPEN)
            self._open(opens, channel + after[0], first, counts[0])
            self.block[receives] = into + self.threadblocks
            self._open(_OPEN, channel + after[1], 0, counts[1])

    def _send_to(self, peer: int, sends: Numbers, end: _End, blocks: Numbers) -> None:
        """Set where the blocks sent to a peer go."""
        rows = end.receives(self.mine.rank)
        buffers, self.buffer_id[sends] = np.unique(end.put_in[rows], return_inverse=True)
        self.remote += [(peer, b) for b in buffers.tolist()]
        self.put[sends], self.block[sends] = end.put[rows], blocks

    def _open(self, row: int, channel: int, remote: int, count: int) -> None:
        self.opening += [(row, channel + i, remote) for i in range(count)]
        self.threadblocks += count

    def text(self, own: _Versions) -> tuple[list[bytes], int]:
        """Return the threadblocks as text, each after a comma, and how many semaphores they use."""
        mine = self.mine
        most = mine.count * 7 + 2 * self.threadblocks
        which, columns = np.empty(most, np.int64), np.zeros((4, most), np.int64)
        count, semaphores = _plan_rows(
            np.argsort(self.block, kind="stable"), self.block, mine.kind, own.needs, own.read_in, own.read,
            own.wrote_in, own.wrote, own.came, self.buffer_id, self.put, _SEMAPHORES, which, columns,
        )  # fmt: skip
        which, columns = which[:count], columns[:, :count]
        further = columns[0] + np.arange(1, max(int(which.max(initial=0)) - 16, 2))[:, None]
        columns = np.concatenate([columns[:3], further])  # a row that releases n semaphores has n numbers
        if self.opening:
            opened = np.flatnonzero(which == 0)
            row, channel, remote = np.array(self.opening, np.int64).T
            which[opened] = row
            columns[1, opened], columns[2, opened], columns[3, opened] = channel, remote, remote + 1
        return [*_copying(self.runs), *_TEXT.rows(which, list(columns))], semaphores


def _runs(copies: npt.NDArray[np.int32]) -> Numbers:
    """Return copies as runs of places that follow each other: int64[R, 3] of input, output and how many."""
    if not len(copies):
        return np.zeros((0, 3), np.int64)
    starts = np.flatnonzero(np.append(True, (np.diff(copies, axis=0) != 1).any(axis=1)))
    sizes = np.diff(np.append(starts, len(copies)))
    return np.column_stack([copies[starts].astype(np.int64), sizes])


def _copying(runs: Numbers) -> Iterator[bytes]:
    """Yield the threadblocks that copy."""
    for number, a in enumerate(range(0, len(runs), OPERATIONS - 1)):
        rows = np.vstack([[number, 0, 0], runs[a : a + OPERATIONS - 1], [0, 0, 0]])
        which = np.full(len(rows), 2)
        which[0], which[-1] = 0, 1
        yield from _COPY.rows(which, list(rows.T))


def _sizes(program: Program) -> npt.NDArray[np.int64]:
    """Return the chunks of input and output of each rank, int64[ranks, 2].

    The executor divides by them, so that a rank without an input or output is given one as large as the largest.
    """
    sizes = program.sizes
    return np.where(sizes == 0, np.maximum(sizes.max(axis=0), 1), sizes)


def _limits(plan: Plan) -> Iterator[str]:
    if _by_switch(plan):
        yield from _limits_of_switches(plan)
        return
    program = plan.program
    ends = _Ends(program)
    for mine in program:
        found = np.unique(mine.peer * np.int64(2) + (mine.kind == SEND)).size  # at least, known without its peers
        if program.complete or found <= _RESIDENT:
            found = _Rank(mine, ends).threadblocks
        if found > _RESIDENT:
            yield (
                f"rank {mine.rank} would have {found} threadblocks, which wait for each other; a GPU of {_RESIDENT} "
                f"multiprocessors carries out {_RESIDENT} at once"
            )


def _write(plan: Plan, path: Path) -> None:
    by_switch = _by_switch(plan)
    program = plan.program
    sizes = _switch_sizes(plan) if by_switch else _sizes(program)
    collective = COLLECTIVES.get(program.task.name, program.task.name)
    largest = max(int(sizes.max()), *(_versions(mine).scratch for mine in program.representatives()))
    with path.open("wb") as file:
        head = {
            "name": f"{program.algorithm or 'schedule'} on {program.network.spec}",
            "collective": collective,
            "protocol": "Simple",
            "inplace": False,
            "reuse_resources": False,
        }
        file.write(json.dumps(head).encode()[:-1] + b',\n"gpus":[')
        if by_switch:
            wanted = {mine.rank for mine in program}
            gpus = (gpu for gpu in _switch_gpus(plan, sizes) if gpu["id"] in wanted)
            file.write(",\n".join(map(json.dumps, gpus)).encode())
        ends = None if by_switch else _Ends(program)
        for number, mine in enumerate(program if ends is not None else ()):
            assert ends is not None
            own, rank = _versions(mine), _Rank(mine, ends)
            given, got = sizes[mine.rank].tolist()
            told = {"id": mine.rank, "input_chunks": given, "output_chunks": got, "scratch_chunks": own.scratch}
            texts, semaphores = rank.text(own)
            file.write(b",\n" * (number > 0) + json.dumps(told).encode()[:-1] + b',"threadblocks":[')
            for i, text in enumerate(texts):
                file.write(text if i else text[1:])  # no comma before the first
            file.write(b"],\n" + _tail(rank, semaphores))
        chunk = (2**32 - 1) // largest // 16 * 16  # offsets are numbers of 32 bits
        sized = sizes[:, 1 if collective == "allgather" else 0]
        foot = {
            "num_threads_per_block": 1024,
            "use_double_scratch_buffer": False,
            "buffer_alignment": 16,
            "min_message_size": 0,
            "max_message_size": chunk * int(sized.min()),
        }
        file.write(b"],\n" + json.dumps(foot).encode()[1:] + b"\n")


def _tail(rank: _Rank, semaphores: int) -> bytes:
    """Return what follows the threadblocks of a rank."""
    tail = {
        "channels": [{"channel_type": "port", "connected_to": rank.connected}] if rank.connected else [],
        "remote_buffers": [
            {"rank": peer, "type": "ios"[b], "access_channel_types": ["port"]} for peer, b in rank.remote
        ],
    }
    zeros = ",".join(['{"init_value":0}'] * semaphores)
    return f'{json.dumps(tail)[1:-1]},"semaphores":[{zeros}]}}'.encode()


# Switches that copy and add.
#
# What a rank has is stored to all ranks at once; of sums each rank loads a share through the switch, and stores it. Its
# threadblocks do so for a chunk each, however many chunks the schedule has. All ranks say that they have begun before,
# and that they are through behind, each threadblock to some of them.

_IN_SWITCHES = ("multinode-broadcast", "broadcast", "allreduce", "partial-sum-allreduce")
_SHARES = 16
"""Threadblocks among which what a rank stores is divided."""
_TOLD = 8
"""The most channels of an operation."""


def _by_switch(plan: Plan) -> bool:
    network = plan.schedule.network
    return plan.with_switches and network.node_count > network.terminal_count


def _limits_of_switches(plan: Plan) -> Iterator[str]:
    network, task = plan.schedule.network, plan.schedule.task
    no = "plan with --no-replication and without --reduction"
    if not _joined_by_every_switch(network):
        yield ("switches copy or add, and a switch channel is over the switches of one machine, to each of which all "
               f"ranks are joined; {network.spec} has others; {no}")  # fmt: skip
    elif plan.program.task.name not in _IN_SWITCHES:
        yield f"the executor has no operation in which a switch copies or adds for {task.describe()} alone; {no}"


def _joined_by_every_switch(network: Network) -> bool:
    """Return whether each switch is joined to every rank both ways, as the chips are of which a channel uses all."""
    t = network.terminal_count
    up, down = network.link_target >= t, network.link_source >= t
    ways = (
        (network.link_source, network.link_target, up & ~down),
        (network.link_target, network.link_source, down & ~up),
    )
    for rank, switch, links in ways:
        ends = np.unique(rank[links].astype(np.int64) * network.node_count + switch[links])
        if ends.size != t * (network.node_count - t):
            return False
    return True


def _switch_sizes(plan: Plan) -> Numbers:
    """Return the chunks of input and output of each rank of a plan over switch channels, int64[ranks, 2]."""
    n, name = plan.network.terminal_count, plan.program.task.name
    given = _SHARES * (n if name.endswith("allreduce") else 1)
    return np.tile([given, _SHARES * n if name == "multinode-broadcast" else given], (n, 1))


def _switch_gpus(plan: Plan, sizes: Numbers) -> Iterator[dict[str, object]]:
    """Yield the ranks of a plan over switch channels."""
    name, n = plan.program.task.name, len(sizes)
    sums = name.endswith("allreduce")
    for rank in range(n):
        stores = 0 if name == "broadcast" and rank != getattr(plan.program.task, "root", 0) else _SHARES
        peers = [v for v in range(n) if v != rank]
        blocks = max(stores, -(-len(peers) // _TOLD))
        own = 0 if name == "broadcast" else rank * _SHARES  # its first chunk in the output
        yield {
            "id": rank, "input_chunks": int(sizes[rank, 0]), "output_chunks": int(sizes[rank, 1]), "scratch_chunks": 0,
            "threadblocks": [
                _switch_block(b, blocks, range(len(peers))[b * _TOLD : (b + 1) * _TOLD],
                              [_switch_operation(b, own + b, sums)][: b < stores], sums)
                for b in range(blocks)
            ],
            "channels": [
                {"channel_type": "memory", "connected_to": peers},
                *(
                    {"channel_type": "switch", "buffer_type": buffer,
                     "rank_groups": [{"size": n, "ranks": [*range(n)]}]}
                    for buffer in ("io" if sums else "o")
                ),
            ],
            "remote_buffers": [],
            "semaphores": [],
        }  # fmt: skip


def _switch_operation(given: int, to: int, sums: bool) -> dict[str, object]:
    """Return what stores a chunk of the input, or the sum of all, to a chunk of the output of all."""
    target = {"switch_channel_id": int(sums), "index": to, "size": 1}
    source = {"switch_channel_id": 0, "index": to, "size": 1} if sums else {"type": "i", "index": given, "size": 1}
    found: dict[str, object] = {
        "name": "glres" if sums else "gstore",
        "src_buff": [source],
        "dst_buff": [target],
        "channel_type": "switch",
    }
    return {**found, "reduce_op": "sum"} if sums else found


def _switch_block(
    number: int, blocks: int, told: range, stores: list[dict[str, object]], sums: bool
) -> dict[str, object]:
    """Return a threadblock: it tells some ranks that its rank has begun, stores, and tells that it is through."""
    some = {"channel_ids": [*range(len(told))], "channel_type": "memory"}
    before, behind = (
        [{"name": name, **some} for name in names if told] for names in (("rlxsignal", "rlxwait"), ("signal", "wait"))
    )
    meet = [{"name": "barrier", "barrier_id": i, "num_threadblocks": blocks} for i in range(2)]
    channels: list[dict[str, object]] = [{"channel_type": "memory", "channel_ids": [*told]}] if told else []
    channels.append({"channel_type": "switch", "channel_ids": [0, 1] if sums else [0]})
    ops = [*before, meet[0], *stores, meet[1], *behind]
    return {"id": number, "channels": channels, "remote_buffer_refs": [], "ops": ops}


MSCCLPP = Format(
    "mscclpp",
    "MSCCL++ execution plan for GPUs",
    _write,
    _limits,
    groups=False,
    by_rank=True,
    read=read_mscclpp,
    in_switches=True,
)
