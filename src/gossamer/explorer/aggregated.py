"""Schedules of too many hops to be shown one by one: how much each link carries in each part of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gossamer.bounds import Bound
from gossamer.errors import NotApplicableError
from gossamer.explorer.scenes import BINS, Scene, busy, check_nodes, drawn, exact, plain_head, stay_columns
from gossamer.explorer.witness import witness_nodes
from gossamer.plots.ways import Pairs
from gossamer.schedules import CONTROL, Schedule

__all__ = ["MOST_HOPS", "aggregated"]

MOST_HOPS = 60_000_000
"""The most hops that are counted for a page."""
_CELLS, _FRAMES = 3_000_000, 120
_LARGEST = 65_535


def aggregated(schedule: Schedule, bounds: Sequence[Bound] = (), facts: Sequence[tuple[str, str]] = ()) -> Scene:
    """Return what the explorer shows of a schedule of many hops: loads of links over time, and no single hop.

    Parameters
    ----------
    schedule : Schedule
        Valid, explicit or invariant, with slots of one length.
    bounds, facts
        As for `gossamer.explorer.scene`.

    Raises
    ------
    NotApplicableError
        If it has more than `MOST_HOPS` hops, slots of several lengths, or too many nodes.

    Notes
    -----
    O(hops) time and memory; a page of up to `_CELLS` numbers.

    Examples
    --------
    >>> import gossamer
    >>> shown = aggregated(gossamer.plan("torus:4x4", "allgather").schedule)
    >>> int(shown.columns["crossed"].sum()), shown.columns["frames"].reshape(4, -1).sum(axis=1).tolist()
    (240, [64, 64, 64, 48])
    """
    network = schedule.network
    check_nodes(network)
    lengths = {phase.slot_length for phase in schedule.phases if phase.slots}
    if schedule.hop_count > MOST_HOPS or len(lengths) > 1:
        why = f"{schedule.hop_count:,} hops" if len(lengths) <= 1 else "slots of several lengths and many hops"
        raise NotApplicableError(
            f"the explorer shows at most {MOST_HOPS:,} hops, and this schedule has {why}; a smaller network of the "
            "same family shows the same"
        )
    whole = schedule.expand() if schedule.invariant else schedule
    pairs = Pairs(network)
    pair = pairs.number(network.link_source, network.link_target)
    slots, links = max(schedule.slot_count, 1), pairs.key.size
    each = -(-slots // max(1, min(slots, _CELLS // max(links, 1), _FRAMES)))  # slots of a frame
    count = -(-slots // each)
    data = whole.packet != CONTROL
    link, slot = pair[whole.link[data]], whole.slot[data].astype(np.int64)
    frames = np.bincount(slot // each * links + link, minlength=count * links)
    at, bins = np.arange(slots, dtype=np.float64), min(slots, BINS)
    used = busy(at, at + 1, slots, np.bincount(slot, minlength=slots).astype(np.float64), int(pairs.capacity.sum()))
    none, ints = np.zeros(0, np.int64), np.zeros(0, np.int32)
    columns: dict[str, Any] = {
        **dict.fromkeys(("start", "end"), np.zeros(0, np.uint32)),
        **dict.fromkeys(("message", "part", "way", "from", "to", "origin", "goal"), ints),
        **dict.fromkeys(("phase", "kind"), np.zeros(0, np.uint8)),
        "first": np.zeros(1, np.int32),
        "weight": np.zeros(0, np.float32),
        "id": np.zeros(0),
        "busy": used,
        **dict.fromkeys(("held", "deepest"), np.zeros(bins + 1, np.int32)),
        **stay_columns(none, none, none),
        "crossed": np.bincount(link, minlength=links).astype(np.int32),
        "frames": np.minimum(frames, _LARGEST).astype(np.int32),
        **drawn(network, pairs),
    }
    bound = bounds[0] if bounds else None
    head = plain_head(network) | {
        "task": schedule.task.describe(),
        "algorithm": schedule.algorithm or "unnamed",
        "switching": schedule.switching,
        "ticks": slots,
        "tick": float(next(iter(lengths), 1)),
        "unit": "step",
        "time": exact(schedule.completion_time),
        "bound": None if bound is None else exact(bound.value),
        "witness": None if bound is None else f"{bound.name}: {bound.witness}",
        "marked": [] if bound is None else witness_nodes(network, bound),
        "rows": schedule.hop_count,
        "held_peak": -1,
        "each": each,
        "facts": [list(fact) for fact in facts],
    }
    return Scene(head, columns)
