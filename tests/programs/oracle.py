"""Programs carried out in plain Python on real numbers, slot by slot or as the data flows; and what tasks must give."""

from __future__ import annotations

from collections import deque

import numpy as np

from gossamer.programs import INPUT, OUTPUT, REDUCE, SCRATCH, SEND


class Machine:
    """All ranks of a program with their buffers; what is sent waits in a queue for each pair of ranks."""

    def __init__(self, program, inputs):
        self.ranks = list(program)
        self.memory = []
        self.queues = {}
        for mine, given in zip(self.ranks, inputs, strict=True):
            assert len(given) == mine.input_size
            empty = [np.full(n, -(10**15), np.int64) for n in (mine.output_size, mine.scratch_size)]
            self.memory.append({INPUT: given.copy(), OUTPUT: empty[0], SCRATCH: empty[1]})
            for i, o in mine.copies.tolist():
                empty[0][o] = given[i]

    def carry_out(self, mine, k):
        """Carry out operation k of a rank; False if what it receives has not been sent."""
        memory, peer = self.memory[mine.rank], int(mine.peer[k])
        place, at, operand = memory[int(mine.buffer[k])], int(mine.offset[k]), int(mine.operand[k])
        if mine.kind[k] == SEND:
            self.queues.setdefault((mine.rank, peer), deque()).append(place[at])
            return True
        queue = self.queues.get((peer, mine.rank))
        if not queue:
            return False
        block = queue.popleft()
        if mine.kind[k] == REDUCE:
            block = block + (place[at] if operand < 0 else memory[INPUT][operand])
        place[at] = block
        return True

    def outputs(self):
        assert not any(self.queues.values())
        return [memory[OUTPUT] for memory in self.memory]


def slot_by_slot(program, inputs):
    """Carry out a program: in every slot all ranks send, then all receive."""
    machine = Machine(program, inputs)
    at = [0] * program.ranks
    for t in range(program.slots):
        for sends in (True, False):
            for mine in machine.ranks:
                v = mine.rank
                while at[v] < mine.count and mine.slot[at[v]] == t and (mine.kind[at[v]] == SEND) == sends:
                    assert machine.carry_out(mine, at[v])
                    at[v] += 1
    assert at == [mine.count for mine in machine.ranks]
    return machine.outputs()


def as_data_flows(program, inputs, seed):
    """Carry out a program in a random order that heeds only `after`, and the order of blocks on each link."""
    machine = Machine(program, inputs)
    rng = np.random.default_rng(seed)
    done = [np.zeros(mine.count, bool) for mine in machine.ranks]
    lines = []  # operations on one link at one end are in order
    for mine in machine.ranks:
        for peer in np.unique(mine.peer):
            for kind in (True, False):
                found = np.flatnonzero((mine.peer == peer) & ((mine.kind == SEND) == kind))
                if found.size:
                    lines.append((mine, deque(found.tolist())))
    stuck = 0
    while lines:
        i = int(rng.integers(len(lines)))
        mine, queue = lines[i]
        k = queue[0]
        ready = mine.after[k] < 0 or done[mine.rank][mine.after[k]]
        if ready and machine.carry_out(mine, k):
            done[mine.rank][k] = True
            queue.popleft()
            stuck = 0
            if not queue:
                lines[i] = lines[-1]
                lines.pop()
        stuck += 1
        assert stuck < 200 * (len(lines) + 1), "deadlock"
    return machine.outputs()


def inputs_of(program, seed=0):
    """Return an input for each rank."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 10**6, mine.input_size) for mine in program]


def wanted(program, inputs):
    """Return what each rank must have in its output, from what the task is called, in plain words."""
    task, parts, n = program.task, program.parts, program.network.terminal_count
    blocks = [given.reshape(-1, parts) for given in inputs]  # a row a message
    active = list(getattr(task, "active", range(n)))
    everyone = range(n)
    sums = sum(blocks[:n]) if blocks[0].size and len({b.shape for b in blocks[:n]}) == 1 else None
    name, nothing = task.name, np.zeros((0, parts), np.int64)

    def of(v):
        match name:
            case "multinode-broadcast" | "partial-multinode-broadcast" | "multiple-broadcast":
                return np.concatenate([blocks[u] for u in everyone])
            case "group-multinode-broadcast":
                return np.concatenate([blocks[u] for u in active]) if v in active else nothing
            case "broadcast":
                return blocks[task.root]
            case "reduce":
                return sums if v == task.root else nothing
            case "scatter":
                return blocks[task.root][[v]]
            case "gather":
                return np.concatenate(blocks[:n]) if v == task.root else nothing
            case "total-exchange" | "partial-exchange":
                return np.array([blocks[u][v] for u in active])
            case "partial-gather":
                return np.array([blocks[u][active.index(v)] for u in everyone]) if v in active else nothing
            case "reduce-scatter" | "partial-reduce-scatter":
                return sums[[active.index(v)]] if v in active else nothing
            case "multiple-reduce":
                first = sum(task.counts[:v])
                return sums[first : first + task.counts[v]]
            case "allreduce":
                return sums
            case "permutation":
                return blocks[task.destination.index(v)] if v in task.destination else nothing
            case "one-to-many-routing":
                return np.concatenate([nothing, *(blocks[u] for u in everyone if v in task.destinations[u])])
        raise AssertionError(name)

    found = [of(v).reshape(-1) for v in everyone]
    return found + [np.zeros(0, np.int64)] * (program.ranks - n)
