"""An interpreter of programs whose blocks are multisets of contributions, and what tasks must give, in plain words.

It shares nothing with what makes programs. A block is what was added up in it: a contribution is a rank and a place in
its input. A block that arrives replaces what is at its place, or is added to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque

import numpy as np

from gossamer.programs import INPUT, OUTPUT, RECEIVE, REDUCE, SEND


class Block:
    """A multiset of contributions."""

    def __init__(self, shares):
        self.shares = Counter(shares)

    def __add__(self, other):
        return Block(self.shares + other.shares)

    def __radd__(self, nothing):
        return self  # sum() begins with 0

    def __eq__(self, other):
        return isinstance(other, Block) and self.shares == other.shares

    __hash__ = None

    def __repr__(self):
        return " + ".join(f"{k if k > 1 else ''}{r}[{at}]" for (r, at), k in sorted(self.shares.items()))


class StuckError(AssertionError):
    """No operation can go on."""


def contributions_of(program):
    """Return an input for each rank in which every block is a contribution of its own."""
    inputs = [np.empty(mine.input_size, object) for mine in program]
    for rank, given in enumerate(inputs):
        for place in range(given.size):
            given[place] = Block([(rank, place)])
    return inputs


def inputs_of(program, seed=0):
    """Return an input of numbers for each rank."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 10**6, mine.input_size) for mine in program]


def carry_out(program, inputs, seed=0, *, by_slots=False):
    """Carry out all operations in a random order, and return the outputs.

    An operation waits for the one before it on its link in its direction, and for what `after` names. Or, `by_slots`,
    it waits for the former and for all operations of its rank in earlier slots; blocks are added, or put where others
    are sent from in the slot, in the order of the operations, when all others of the slot are done. A receive waits for
    its send.
    """
    ranks = list(program)
    rng = np.random.default_rng(seed)
    memory, waits, wakes, came, held_up = [], [], [], {}, set()
    for mine, given in zip(ranks, inputs, strict=True):
        assert len(given) == mine.input_size
        memory.append([given.copy(), *(np.full(n, None, object) for n in (mine.output_size, mine.scratch_size))])
        for i, o in mine.copies.tolist():
            memory[-1][OUTPUT][o] = given[i]
        needs = _by_slots(mine) if by_slots else _by_after(mine)
        held_up |= {(mine.rank, k) for k, does in needs if does == "put"}
        waits.append({step: len(n) for step, n in needs.items()})
        wakes.append(defaultdict(list))
        for step, each in needs.items():
            for other in each:
                wakes[-1][other].append(step)
    ready = [(v, step) for v, all_of in enumerate(waits) for step, count in all_of.items() if not count]
    wires, early = defaultdict(deque), {}
    left = sum(map(len, waits))
    while ready:
        at = int(rng.integers(len(ready)))
        ready[at], ready[-1] = ready[-1], ready[at]
        rank, step = ready.pop()
        mine, (k, does) = ranks[rank], step
        here, offset, peer = memory[rank][mine.buffer[k]], int(mine.offset[k]), int(mine.peer[k])
        told = f"rank {rank}, operation {k}"
        assert offset < len(here), f"{told} is outside its buffer"
        if does == "send":
            assert here[offset] is not None, f"{told} sends from where nothing has been written"
            wires[rank, peer].append((int(mine.slot[k]), here[offset]))
            if (rank, peer) in early:
                ready.append(early.pop((rank, peer)))
        elif does not in ("add", "put"):
            if not wires[peer, rank]:
                early[peer, rank] = rank, step
                continue
            slot, block = wires[peer, rank].popleft()
            assert slot == mine.slot[k], f"{told} receives what was sent in slot {slot}"
            if mine.kind[k] == REDUCE or (rank, k) in held_up:
                came[rank, k] = block
            else:
                here[offset] = block
        if does == "put":
            here[offset] = came.pop((rank, k))
        if does in ("add", "receive and add"):
            own = here[offset] if mine.operand[k] < 0 else memory[rank][INPUT][mine.operand[k]]
            assert own is not None, f"{told} adds to what has not been written"
            here[offset] = own + came.pop((rank, k))
        left -= 1
        for other in wakes[rank][step]:
            waits[rank][other] -= 1
            if not waits[rank][other]:
                ready.append((rank, other))
    if left:
        where = "; ".join(f"operation {k} of rank {v} waits for rank {u}" for (u, _), (v, (k, _)) in early.items())
        raise StuckError(f"{left} operations cannot be carried out: {where or 'they wait for each other'}")
    assert not any(wires.values()), "blocks are sent that nobody receives"
    return [held[OUTPUT] for held in memory]


_STEPS = {SEND: "send", RECEIVE: "receive", REDUCE: "receive and add"}


def _by_after(mine):
    """Return the steps of a rank, each with the steps that it waits for."""
    steps = [(k, _STEPS[int(kind)]) for k, kind in enumerate(mine.kind)]
    needs, last = {}, {}
    for k, step in enumerate(steps):
        line = int(mine.peer[k]), mine.kind[k] == SEND
        needs[step] = {steps[mine.after[k]] if mine.after[k] >= 0 else None, last.get(line)} - {None}
        last[line] = step
    return needs


def _by_slots(mine):
    needs, last, before = {}, {}, set()
    for slot in np.unique(mine.slot):
        now = np.flatnonzero(mine.slot == slot).tolist()
        moves = {k: (k, "send" if mine.kind[k] == SEND else "receive") for k in now}
        for k, step in moves.items():
            line = int(mine.peer[k]), mine.kind[k] == SEND
            needs[step] = (before | {last.get(line)}) - {None}
            last[line] = step
        before = set(moves.values())
        for k in now:
            sent_from = mine.kind[k] == RECEIVE and mine.after[k] in now and mine.kind[mine.after[k]] == SEND
            if mine.kind[k] == REDUCE or sent_from:
                step = k, "put" if sent_from else "add"
                needs[step] = before.copy()
                before.add(step)
    return needs


def check_program(program, seeds=2):
    """Carry a program out in several random orders of both kinds; AssertionError unless every output is the task's."""
    inputs = contributions_of(program)
    expected = wanted(program, inputs)
    for seed in range(seeds):
        for by_slots in (False, True):
            found = carry_out(program, inputs, seed, by_slots=by_slots)
            for rank, (got, want) in enumerate(zip(found, expected, strict=True)):
                assert len(got) == len(want), f"rank {rank}: the output has {len(got)} places, not {len(want)}"
                for place, (one, other) in enumerate(zip(got, want, strict=True)):
                    assert one == other, f"rank {rank}, place {place} of the output: {one}, not {other}"


# What tasks must give.


def wanted(program, inputs):
    """Return what each rank must have in its output, from what the task is called."""
    n, parts = program.network.terminal_count, program.parts
    found = _wanted(program.task, [given.reshape(-1, parts) for given in inputs[:n]])
    nothing = [given.reshape(-1) for given in inputs[n:]]
    assert not any(given.size for given in nothing), "switches have no input"
    return [rows.reshape(-1) for rows in found] + nothing


def _wanted(task, blocks):
    """Return the messages that each rank must have, from those that each brings, arrays with a row a message."""
    n, nothing = len(blocks), blocks[0][:0]
    if hasattr(task, "groups"):
        return _in_groups(task, blocks)
    if task.name == "demands":
        return _of_table(task, blocks)
    active = list(getattr(task, "active", range(n)))
    task = getattr(task, "task", task)  # of messages of several packets
    name = task.name
    sums = sum(blocks) if blocks[0].size and len({b.shape for b in blocks}) == 1 else None

    def stacked(rows):
        return np.concatenate([nothing, *(row.reshape(1, -1) for row in rows)])

    def of(v):
        match name:
            case "multinode-broadcast" | "partial-multinode-broadcast" | "multiple-broadcast":
                return np.concatenate(blocks)
            case "group-multinode-broadcast":
                return np.concatenate([blocks[u] for u in active]) if v in active else nothing
            case "broadcast":
                return blocks[task.root]
            case "reduce":
                return sums if v == task.root else nothing
            case "scatter":
                return blocks[task.root][[v]]
            case "gather":
                return np.concatenate(blocks) if v == task.root else nothing
            case "total-exchange" | "partial-exchange":
                return stacked(blocks[u][v] for u in active)
            case "partial-gather":
                return stacked(b[active.index(v)] for b in blocks) if v in active else nothing
            case "reduce-scatter" | "partial-reduce-scatter":
                return sums[[active.index(v)]] if v in active else nothing
            case "multiple-reduce":
                first = sum(task.counts[:v])
                return sums[first : first + task.counts[v]]
            case "allreduce" | "partial-sum-allreduce":
                return sums
            case "permutation":
                return blocks[task.destination.index(v)] if v in task.destination else nothing
            case "one-to-many-routing":
                return np.concatenate([nothing, *(blocks[u] for u in range(n) if v in task.destinations[u])])
        raise AssertionError(name)

    return [of(v) for v in range(n)]


def _in_groups(task, blocks):
    """Cut what each rank brings into what it brings to each of its groups; put together what it gets in each."""
    used = [0] * len(blocks)
    found = [[b[:0]] for b in blocks]
    inner = getattr(task.task, "task", task.task)
    for group in task.groups:
        given = []
        for r, v in enumerate(group):
            rooted = inner.name in ("broadcast", "scatter") and r != inner.root
            many = inner.name in ("total-exchange", "reduce-scatter", "allreduce", "scatter")
            size = 0 if rooted else len(group) if many else 1
            given.append(blocks[v][used[v] : used[v] + size])
            used[v] += size
        for v, rows in zip(group, _wanted(inner, given), strict=True):
            found[v].append(rows)
    assert used == [len(b) for b in blocks]
    return [np.concatenate(rows) for rows in found]


def _of_table(task, blocks):
    """Rank for rank, rows in their order: what it holds or contributes to in the input, what it gets in the output."""
    used = [0] * len(blocks)
    found = [[b[:0]] for b in blocks]
    for row in task.to_rows():
        shares = []
        for u in row.get("contributors", [row.get("origin")]):
            shares.append(blocks[u][used[u]])
            used[u] += 1
        for v in row["destinations"]:
            found[v].append(sum(shares).reshape(1, -1))
    assert used == [len(b) for b in blocks]
    return [np.concatenate(rows) for rows in found]
