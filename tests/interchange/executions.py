"""Executions of MSCCL XML on numbers, threadblocks in any turns: each step is held back as long as that goes.

It knows nothing of what waits for what in a file but by carrying it out. A step that reads and writes does so in two
moves, between which others may come; whatever it sends goes with the last one. Of two steps that nothing orders each
comes first in some execution: in that in which the other is held back.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import defaultdict, deque

import numpy as np

RECEIVES, ADDS, WRITES, SENDS = ("r", "rcs", "rrs", "rrc", "rrcs"), ("rrs", "rrc", "rrcs", "re"), \
    ("r", "rcs", "rrc", "rrcs", "re", "cpy"), ("s", "rcs", "rrs", "rrcs")  # fmt: skip


class Program:
    """A file, with what each rank brings."""

    def __init__(self, text, inputs):
        algo = ElementTree.fromstring(text)
        self.in_place = algo.get("inplace") == "1" and algo.get("outofplace") != "1"
        self.inputs = inputs
        self.blocks = []
        self.sizes = []
        for gpu in algo.findall("gpu"):
            rank = int(gpu.get("id"))
            self.sizes.append({c: int(gpu.get(f"{c}_chunks")) for c in "ios"})
            for tb in gpu.findall("tb"):
                ends = rank, int(tb.get("id")), int(tb.get("send")), int(tb.get("recv")), tb.get("chan")
                self.blocks.append((ends, [dict(step.attrib) for step in tb.findall("step")]))

    @property
    def steps(self):
        return [(b, s) for b, (_, steps) in enumerate(self.blocks) for s in range(len(steps))]

    def run(self, seed=0, held=None):
        """Return the outputs, None where it does not end; `held` is a threadblock, a step and a move to be last."""
        rng = np.random.default_rng(seed)
        memory = [self._memory(rank) for rank in range(len(self.sizes))]
        at, moves = [0] * len(self.blocks), [None] * len(self.blocks)
        wires, done = defaultdict(deque), set()
        order = rng.permutation(len(self.blocks)).tolist()
        while True:
            moved = False
            for last in (False, True):
                for b in order:
                    while at[b] < len(self.blocks[b][1]):
                        move = (b, at[b], int(moves[b] is not None))
                        if (move == held) != last or not self._move(b, at, moves, memory, wires, done):
                            break
                        moved = True
                        if last:
                            break
                    if moved and last:
                        break
                if moved:
                    break
            if not moved:
                break
        if any(at[b] < len(steps) for b, (_, steps) in enumerate(self.blocks)) or any(wires.values()):
            return None
        return [m["i" if self.in_place else "o"] for m in memory]

    def _memory(self, rank):
        sizes = self.sizes[rank]
        found = {c: -(10**12) - np.arange(sizes[c] + 64) * 10**6 - rank for c in "ios"}
        found["i"][: len(self.inputs[rank])] = self.inputs[rank]
        if self.in_place:
            found["o"] = found["i"]
        return found

    def _move(self, b, at, moves, memory, wires, done):
        (rank, number, to, from_, channel), steps = self.blocks[b]
        step = steps[at[b]]
        kind, count, mine = step["type"], int(step["cnt"]), memory[rank]
        if moves[b] is None:
            if int(step["depid"]) >= 0 and (rank, int(step["depid"]), int(step["deps"])) not in done:
                return False
            wire = wires[from_, rank, channel]
            if kind in RECEIVES and not wire:
                return False
            source, target = mine[step["srcbuf"]], mine[step["dstbuf"]]
            here, there = int(step["srcoff"]), int(step["dstoff"])
            if kind in RECEIVES:
                chunks = wire.popleft() + (source[here : here + count] if kind in ADDS else 0)
            else:
                chunks = source[here : here + count] + (target[there : there + count] if kind in ADDS else 0)
            moves[b] = chunks.copy()
            if kind in WRITES:
                return True
        if kind in WRITES:
            mine[step["dstbuf"]][int(step["dstoff"]) : int(step["dstoff"]) + count] = moves[b]
        if kind in SENDS:
            wires[rank, to, channel].append(moves[b])
        moves[b] = None
        done.add((rank, number, at[b]))
        at[b] += 1
        return True


def always_gives(text, inputs, outputs):
    """Whether every execution of a file that was tried gives the outputs."""
    program = Program(text, inputs)

    def right(found):
        return found is not None and all(
            (got[: len(want)] == want).all() for got, want in zip(found, outputs, strict=True)
        )

    return right(program.run()) and all(
        right(program.run(seed, (b, s, move))) for seed, (b, s) in enumerate(program.steps) for move in (0, 1)
    )
