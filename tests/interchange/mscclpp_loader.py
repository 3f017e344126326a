"""MSCCL++ execution plans loaded within the limits of their executor, and carried out on real blocks.

A put writes into the other rank's memory at once and the signal follows it, as the executor promises. Threads of a
threadblock only see what others did, and show what they did, after all of them have met (`nop`).
"""

from __future__ import annotations

import json

import numpy as np

EMPTY = -(10**15)
MOST = {
    "ops": 64,
    "channels": 16,
    "buffers": 16,
    "channels of an operation": 8,
    "semaphores of an operation": 16,
}
MOVES = ("put", "pws", "pwsf", "copy", "re")


def load(path):
    """Return a plan; AssertionError where the executor would refuse it, or read beyond its arrays."""
    plan = json.loads(path.read_text())
    for key in ("name", "collective", "protocol", "inplace", "gpus", "max_message_size"):
        assert key in plan
    assert plan["protocol"] in ("Simple", "LL")
    for rank, gpu in enumerate(plan["gpus"]):
        assert gpu["id"] == rank
        assert min(gpu["input_chunks"], gpu["output_chunks"]) > 0
        assert [tb["id"] for tb in gpu["threadblocks"]] == list(range(len(gpu["threadblocks"])))
        for tb in gpu["threadblocks"]:
            check_threadblock(gpu, tb)
    return plan


def check_threadblock(gpu, tb):
    channels = [c for group in tb["channels"] for c in group["channel_ids"]]
    remote = [b for group in tb["remote_buffer_refs"] for b in group["remote_buffer_ids"]]
    assert len(tb["ops"]) <= MOST["ops"]
    assert len(channels) <= MOST["channels"]
    assert len(remote) <= MOST["buffers"]
    assert all(0 <= c < sum(len(g["connected_to"]) for g in gpu["channels"]) for c in channels)
    met = True  # whether all threads have met since one of them waited
    quiet = True  # and since they moved something
    for op in tb["ops"]:
        name = op["name"]
        assert len(op.get("channel_ids", ())) <= MOST["channels of an operation"]
        assert len(op.get("semaphore_ids", ())) <= MOST["semaphores of an operation"]
        if name == "nop":
            met = quiet = True
        elif name in ("wait", "rlxwait", "sem_acquire"):
            met = False
        elif name in ("signal", "sem_release"):
            assert min(met, quiet), "tells of what may not be there"
        elif name in MOVES:
            assert met, "moves what may not be there"
            quiet = name in ("pws", "pwsf")
        else:
            assert name == "rlxsignal"
    if any(op["name"] in ("put", "pws") for op in tb["ops"]):
        assert tb["ops"][-1]["name"] == "pwsf", "nothing waits for the last put"


class Machine:
    """GPUs with what stays from call to call: counters of channels and semaphores."""

    def __init__(self, plan):
        self.gpus = plan["gpus"]
        self.semaphores = [[s["init_value"] for s in gpu["semaphores"]] for gpu in self.gpus]
        self.ends = {}  # the k-th channel of a rank to another is joined to the k-th of that to the first
        for gpu in self.gpus:
            seen = {}
            for group in gpu["channels"]:
                for peer in group["connected_to"]:
                    seen[peer] = seen.get(peer, -1) + 1
                    number = len([e for e in self.ends if e[0] == gpu["id"]])
                    self.ends[gpu["id"], number] = (gpu["id"], peer, seen[peer])
        for source, peer, k in self.ends.values():
            assert (peer, source, k) in self.ends.values()
        self.signals = dict.fromkeys(self.ends.values(), 0)

    def run(self, inputs, seed):
        """Carry the plan out, threadblocks of all GPUs in random turns; return the outputs."""
        self.memory, self.put = [], set()
        for gpu, given in zip(self.gpus, inputs, strict=True):
            assert given.size in (0, gpu["input_chunks"])
            empty = {b: np.full(gpu[f"{n}_chunks"], EMPTY) for b, n in (("o", "output"), ("s", "scratch"))}
            self.memory.append({"i": given.copy(), **empty})
        lines = [[gpu, tb, 0] for gpu in self.gpus for tb in gpu["threadblocks"]]
        rng, idle = np.random.default_rng(seed), 0
        while lines:
            i = int(rng.integers(len(lines)))
            gpu, tb, at = lines[i]
            if self.done(gpu, tb, tb["ops"][at]):
                idle, lines[i][2] = 0, at + 1
                if at + 1 == len(tb["ops"]):
                    lines.pop(i)
            idle += 1
            assert idle < 300 * (len(lines) + 1), "deadlock"
        assert not any(self.signals.values())
        assert not any(map(any, self.semaphores))
        return [m["o"] for m in self.memory]

    def done(self, gpu, tb, op):
        """Carry out an operation if it can be; return whether it could."""
        v, name = gpu["id"], op["name"]
        channels = [c for group in tb["channels"] for c in group["channel_ids"]]
        if name in ("wait", "rlxwait"):
            there = [(p, s, k) for s, p, k in (self.ends[v, channels[c]] for c in op["channel_ids"])]
            if not all(self.signals[e] for e in there):
                return False
            for end in there:
                self.signals[end] -= 1
        elif name == "sem_acquire":
            if not all(self.semaphores[v][s] > 0 for s in op["semaphore_ids"]):
                return False
            for s in op["semaphore_ids"]:
                self.semaphores[v][s] -= 1
        elif name == "sem_release":
            for s in op["semaphore_ids"]:
                self.semaphores[v][s] += 1
        elif name in MOVES:
            self.move(gpu, tb, op)
        if name in ("signal", "rlxsignal", "pws", "pwsf"):
            for c in op["channel_ids"]:
                self.signals[self.ends[v, channels[c]]] += 1
        return True

    def move(self, gpu, tb, op):
        v = gpu["id"]
        remote = [b for group in tb["remote_buffer_refs"] for b in group["remote_buffer_ids"]]
        found = [self.read(v, place) for place in op["src_buff"]]
        if op["name"] == "re":
            assert op["reduce_op"] == "sum"
            found = [sum(found)]
        for block, place in zip(found, op["dst_buff"], strict=True):
            rank, buffer = v, place.get("type")
            if "buffer_id" in place:
                target = gpu["remote_buffers"][remote[place["buffer_id"]]]
                rank, buffer = target["rank"], target["type"]
                assert (rank, buffer, place["index"]) not in self.put, "two blocks are put in one place"
                assert self.memory[rank][buffer][place["index"]] == EMPTY
                self.put.add((rank, buffer, place["index"]))
            at = slice(place["index"], place["index"] + place["size"])
            assert at.stop <= self.memory[rank][buffer].size
            self.memory[rank][buffer][at] = block

    def read(self, v, place):
        found = self.memory[v][place["type"]][place["index"] : place["index"] + place["size"]]
        assert found.size == place["size"]
        assert (found != EMPTY).all(), "nothing is there yet"
        return found.copy()
