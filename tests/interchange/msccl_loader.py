"""MSCCL XML loaded as an interpreter on GPUs does, within its limits, and carried out on real blocks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import deque

import numpy as np


def load(path):
    """Return the GPUs of a file; AssertionError where a loader would refuse it."""
    algo = ET.parse(path).getroot()
    for needed in (
        "name",
        "proto",
        "nchannels",
        "nchunksperloop",
        "ngpus",
        "coll",
        "inplace",
        "outofplace",
        "minBytes",
        "maxBytes",
    ):
        assert needed in algo.attrib
    assert algo.get("proto") in ("Simple", "LL", "LL128")
    gpus = algo.findall("gpu")
    assert [int(g.get("id")) for g in gpus] == list(range(int(algo.get("ngpus"))))
    for gpu in gpus:
        assert 1 + len(gpu) + sum(len(tb) for tb in gpu) <= 4096
        connections = set()
        for number, tb in enumerate(gpu):
            assert int(tb.get("id")) == number < 128
            assert int(tb.get("chan")) < int(algo.get("nchannels")) <= 32
            for way in ("send", "recv"):
                if int(tb.get(way)) >= 0:
                    assert (way, tb.get(way), tb.get("chan")) not in connections
                    connections.add((way, tb.get(way), tb.get("chan")))
            assert [int(s.get("s")) for s in tb] == list(range(len(tb)))
            assert 1 <= len(tb) <= 64
            for step in tb:
                assert int(step.get("cnt")) == 1
                assert (int(step.get("depid")) < 0) == (int(step.get("deps")) < 0)
                if int(step.get("depid")) >= 0:
                    waited = gpu[int(step.get("depid"))][int(step.get("deps"))]
                    assert waited.get("hasdep") == "1"
    return algo, gpus


def run(gpus, inputs, seed=0):
    """Carry a file out, threadblocks in random turns; return the outputs."""
    memory, lines, done = [], [], set()
    for gpu, given in zip(gpus, inputs, strict=True):
        sizes = {c: int(gpu.get(f"{c}_chunks")) for c in "ios"}
        assert sizes["i"] == len(given)
        memory.append({"i": given.copy(), **{c: np.full(sizes[c], -(10**15), np.int64) for c in "os"}})
        lines += [(int(gpu.get("id")), tb, 0) for tb in gpu]
    wires, rng, idle = {}, np.random.default_rng(seed), 0
    while lines:
        i = int(rng.integers(len(lines)))
        v, tb, at = lines[i]
        if step_done(memory[v], v, tb, tb[at], wires, done):
            done.add((v, int(tb.get("id")), at))
            idle = 0
            lines[i] = (v, tb, at + 1)
            if at + 1 == len(tb):
                lines.pop(i)
        idle += 1
        assert idle < 300 * (len(lines) + 1), "deadlock"
    assert not any(wires.values())
    return [m["o"] for m in memory]


def step_done(memory, v, tb, step, wires, done):
    """Carry out a step if it can be; return whether it could."""
    if int(step.get("depid")) >= 0 and (v, int(step.get("depid")), int(step.get("deps"))) not in done:
        return False
    source = memory[step.get("srcbuf")], int(step.get("srcoff"))
    target = memory[step.get("dstbuf")], int(step.get("dstoff"))
    kind, channel = step.get("type"), tb.get("chan")
    if kind == "s":
        wires.setdefault((v, int(tb.get("send")), channel), deque()).append(source[0][source[1]])
        return True
    if kind == "cpy":
        target[0][target[1]] = source[0][source[1]]
        return True
    assert kind in ("r", "rrc")
    queue = wires.get((int(tb.get("recv")), v, channel))
    if not queue:
        return False
    block = queue.popleft()
    target[0][target[1]] = block if kind == "r" else block + source[0][source[1]]
    return True
