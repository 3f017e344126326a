"""Simulations as scenes: broadcasts at random with the queues of links, and worms of flits on channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.dynamic.recording import Recording
from gossamer.explorer.scenes import BINS, Scene, busy, check_nodes, drawn, plain_head, stay_columns
from gossamer.plots.ways import Pairs
from gossamer.routers.recording import FlitRecording
from gossamer.tasks import COPY, MOVE

__all__ = ["flit_scene", "queue_scene"]

Column = npt.NDArray[Any]


def queue_scene(recording: Recording) -> Scene:
    """Return what the explorer shows of broadcasts at random: copies on links, and those that wait for one.

    Raises
    ------
    NotApplicableError
        If the network has more than `MOST_NODES` nodes.

    Notes
    -----
    O(rows log rows) time.
    """
    network, steps = recording.network, recording.steps
    check_nodes(network)
    pairs = Pairs(network)
    sent = np.isfinite(recording.start)
    link = pairs.number(network.link_source[recording.link], network.link_target[recording.link])
    start = recording.start[sent]
    waits = recording.start > recording.queued
    since = np.maximum(recording.queued[waits], 0)
    until = np.minimum(recording.start[waits], steps + 1)
    spot = network.link_source[recording.link[waits]]
    columns = _rows(pairs, link[sent], np.maximum(start, 0), np.minimum(start + recording.service, steps),
                    recording.broadcast[sent], np.ones(start.size), steps)  # fmt: skip
    columns |= _waiting(since, until, spot, steps, network.node_count) | drawn(network, pairs)
    columns |= stay_columns(since, until, spot, link[waits])
    columns |= {
        "origin": recording.origin,
        "goal": np.full(recording.origin.size, -1, np.int32),
        "kind": np.full(recording.origin.size, int(COPY), np.uint8),
        "id": np.arange(recording.origin.size, dtype=np.float64),
    }
    head = {
        "task": "broadcasts at random",
        "algorithm": recording.scheme,
        "headline": f"{recording.scheme}, load {recording.load:.4g}: {steps:g} steps of a simulation",
        "unit": "step",
        "facts": [["load", f"{recording.load:.4g}"], ["broadcasts a node and step", f"{recording.rate:.4g}"],
                  ["a transmission takes", f"{recording.service:.4g} step" + "s" * (recording.service > 1)],
                  ["broadcasts seen", f"{recording.origin.size:,}"]],
    }  # fmt: skip
    return Scene(_head(network, head, columns, steps), columns)


def flit_scene(recording: FlitRecording) -> Scene:
    """Return what the explorer shows of the flit simulator: the channels that messages hold, and heads that wait.

    Raises
    ------
    NotApplicableError
        If the network has more than `MOST_NODES` nodes.

    Notes
    -----
    O(rows log rows) time.
    """
    network, cycles = recording.network, recording.cycles
    check_nodes(network)
    pairs = Pairs(network)
    link = pairs.number(recording.source, recording.target)
    spot, since, until = recording.waits()
    end = np.minimum(recording.end, cycles)
    columns = _rows(pairs, link, recording.start, end, recording.message,
                    recording.flits / np.maximum(end - recording.start, 1), cycles)  # fmt: skip
    columns |= _waiting(since, until, spot, cycles, network.node_count) | drawn(network, pairs)
    columns |= stay_columns(since, until, spot)
    columns |= {
        "origin": recording.origin.astype(np.int32),
        "goal": recording.goal.astype(np.int32),
        "kind": np.full(recording.origin.size, int(MOVE), np.uint8),
        "id": np.arange(recording.origin.size, dtype=np.float64),
    }
    load = "" if np.isnan(recording.load) else f", load {recording.load:.4g}"
    head = {
        "task": recording.title,
        "algorithm": recording.routing,
        "headline": f"{recording.routing}{load}: {cycles:,} cycles, flit by flit",
        "unit": "cycle",
        "worms": True,
        "facts": [["messages seen", f"{recording.origin.size:,}"],
                  ["flits over links", f"{int(recording.flits.sum()):,}"]]
        + ([["load", f"{recording.load:.4g} flits a node and cycle"]] if load else []),
    }  # fmt: skip
    return Scene(_head(network, head, columns, cycles), columns)


def _rows(
    pairs: Pairs, link: Column, start: Column, end: Column, message: Column, weight: Column, length: float
) -> dict[str, Column]:
    """Return the columns of rows that cross one link each."""
    whole = bool((weight == 1).all())
    return {
        "start": start.astype(np.float32),
        "end": end.astype(np.float32),
        "message": message.astype(np.int32),
        "part": np.zeros(start.size, np.int32),
        "phase": np.zeros(start.size, np.uint8),
        "first": np.arange(start.size + 1, dtype=np.int32),
        "way": link.astype(np.int32),
        "weight": np.zeros(0, np.float32) if whole else weight.astype(np.float32),
        "from": (pairs.key[link] // pairs.count).astype(np.int32),
        "to": (pairs.key[link] % pairs.count).astype(np.int32),
        "busy": busy(start, end, length, weight, int(pairs.capacity.sum())),
    }


def _waiting(since: Column, until: Column, spot: Column, length: float, nodes: int) -> dict[str, Column]:
    """Return how many wait at the ends of equal parts of the time: in all, and in the node with most."""
    bins = min(int(length) * 4, BINS)
    scale = bins / length
    # a stay [a, b) is seen at the times k / scale in it
    a, b = np.ceil(since * scale).astype(np.int64), np.ceil(until * scale).astype(np.int64)
    b = np.minimum(b, bins + 1)
    kept = a < b
    size = nodes * (bins + 2)
    change = np.bincount(spot[kept] * (bins + 2) + a[kept], minlength=size)
    change = change - np.bincount(spot[kept] * (bins + 2) + b[kept], minlength=size)
    there = np.cumsum(change.reshape(nodes, -1), axis=1)[:, : bins + 1]
    return {"held": there.sum(axis=0).astype(np.int32), "deepest": there.max(axis=0).astype(np.int32)}


def _head(network: Any, head: dict[str, Any], columns: dict[str, Column], length: float) -> dict[str, Any]:
    return plain_head(network) | {
        "switching": "simulation",
        "ticks": length,
        "tick": 1.0,
        "time": f"{length:g}",
        "rows": int(columns["start"].size),
        "held_peak": int(columns["deepest"].max(initial=0)),
    } | head  # fmt: skip
