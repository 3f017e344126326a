"""What the explorer shows, as columns: the network in the plane or in space, and what crosses when.

Everything in motion comes from the schedule's timeline, so store and forward and wormhole look alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import seconds_text
from gossamer.bounds import Bound
from gossamer.errors import NotApplicableError
from gossamer.networks.network import Network
from gossamer.planning.explaining.hop_lines import count_sums
from gossamer.plots.appearance import spec_text
from gossamer.plots.layouts import lay_out
from gossamer.plots.link_groups import NodePairs, routes
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import COPY, MOVE, in_packets
from gossamer.schedules import Schedule, Timeline

# The nodes that prove a bound, found in its witness: those named, and those of a box.

_MOST = 4096


def witness_nodes(network: Network, bound: Bound) -> list[int]:
    """Return the nodes that the witness of a bound speaks of; none where it counts links or hops only.

    >>> import gossamer
    >>> net = gossamer.network("array:5x5")
    >>> witness_nodes(net, gossamer.lower_bounds(net, "broadcast")[0])
    [0, 24]
    """
    if network.node_count > _MOST:
        return []
    grid = network.grid
    box = re.search(r"in the box \(([^)]*)\)", bound.witness)
    if box and grid is not None:
        spans = [_span(text) for text in box[1].split(",")]
        if len(spans) == grid.dimensions:
            digits = np.unravel_index(np.arange(network.node_count), grid.sides)
            inside = [_in(d, a, b) for d, (a, b) in zip(digits, spans, strict=True)]
            return np.flatnonzero(np.logical_and.reduce(inside)).tolist()
    named = {network.node_name(v): v for v in range(network.node_count)}
    words = re.findall(r"\bnodes? (\([^)]*\)|[\w.-]+)", bound.witness)
    return sorted({named[word] for word in words if word in named})


def _span(text: str) -> tuple[int, int]:
    """Return the ends of what stands for a coordinate in the name of a box: ``3``, ``2..5``, or ``*`` for all."""
    found = [int(number) for number in re.findall(r"\d+", text)]
    return (found[0], found[-1]) if found else (0, 2**31)


def _in(digit: npt.NDArray[np.integer], first: int, last: int) -> npt.NDArray[np.bool_]:
    """Return which places lie from first to last, round the end of a ring where the last is smaller."""
    above, below = digit >= first, digit <= last
    return above & below if first <= last else above | below


# Packets that wait in the nodes of a schedule, counted from its timeline.

_MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Waiting:
    """Packets in transit: those that came over a link and leave again later.

    `total`, int32[bins]: in all nodes, at the times ``k * length / bins`` where there are more ticks than bins, else at
    each tick. `deepest`, int32[bins]: in the node that has most; empty where nodes times bins are too many to count.
    `peak`: the largest of `deepest`, -1 where it is empty.
    """

    total: npt.NDArray[np.int32]
    deepest: npt.NDArray[np.int32]
    peak: int


def stays(
    rows: Timeline, message: npt.NDArray[np.int32], origin: npt.NDArray[Any], kind: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return since when and until when packets are in transit, and where: int64[S] each.

    A packet that moves stays from each arrival to its next departure; one that is copied or combined from its first
    arrival to its last departure.
    """
    real = np.flatnonzero(message >= 0)
    packet = message[real].astype(np.int64) * (int(rows.part.max(initial=0)) + 1) + rows.part[real]
    nodes = int(max(rows.source.max(initial=0), rows.target.max(initial=0))) + 1
    moved = kind[message[real]] == MOVE
    came = packet * nodes + rows.target[real]
    left = packet * nodes + rows.source[real]
    found = [_pairs(came[moved], rows.end[real][moved], left[moved], rows.start[real][moved])]
    found.append(_spans(came[~moved], rows.end[real][~moved], left[~moved], rows.start[real][~moved]))
    key, since, until = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return since, until, key % nodes


def _pairs(came: Any, end: Any, left: Any, start: Any) -> tuple[Any, Any, Any]:
    """Join each arrival with the next departure of the same packet from the same node."""
    what = np.concatenate([np.zeros(came.size, np.int8), np.ones(left.size, np.int8)])
    key, time = np.concatenate([came, left]), np.concatenate([end, start])
    order = np.lexsort((what, time, key))
    key, time, what = key[order], time[order], what[order]
    joined = np.flatnonzero((key[:-1] == key[1:]) & (what[:-1] == 0) & (what[1:] == 1))
    return key[joined], time[joined], time[joined + 1]


def _spans(came: Any, end: Any, left: Any, start: Any) -> tuple[Any, Any, Any]:
    """Join the first arrival of each packet at each node with its last departure, where there are both."""
    order = np.lexsort((end, came))
    key, first = np.unique(came[order], return_index=True)
    since = end[order][first]
    order = np.lexsort((-start, left))
    keys, last = np.unique(left[order], return_index=True)
    until = start[order][last]
    both = np.intersect1d(key, keys, return_indices=True)
    since, until = since[both[1]], until[both[2]]
    kept = until >= since
    return both[0][kept], since[kept], until[kept]


def waiting(
    rows: Timeline,
    message: npt.NDArray[np.int32],
    origin: npt.NDArray[Any],
    kind: npt.NDArray[Any],
    nodes: int,
    most: int,
) -> Waiting:
    """Return how many packets are in transit over time.

    >>> import gossamer
    >>> rows = gossamer.plan("array:3", "broadcast").schedule.timeline()
    >>> waiting(rows, np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(1, np.uint8), 3, 100).total.tolist()
    [0, 1, 0]
    """
    since, until, node = stays(rows, message, origin, kind)
    bins = min(rows.length, most) + 1
    scale = (bins - 1) / max(rows.length, 1)
    # a stay is seen at the times of a bin that lie in it
    a, b = np.ceil(since * scale).astype(np.int64), np.floor(until * scale).astype(np.int64) + 1
    kept = a < b
    a, b, node = a[kept], b[kept], node[kept]
    total = np.cumsum(np.bincount(a, minlength=bins + 1) - np.bincount(b, minlength=bins + 1))[:bins]
    if nodes * (bins + 1) > _MOST_CELLS:
        return Waiting(total.astype(np.int32), np.zeros(0, np.int32), -1)
    size = nodes * (bins + 1)
    change = np.bincount(node * (bins + 1) + a, minlength=size) - np.bincount(node * (bins + 1) + b, minlength=size)
    deepest = np.cumsum(change.reshape(nodes, -1), axis=1).max(axis=0)[:bins]
    return Waiting(total.astype(np.int32), deepest.astype(np.int32), int(deepest.max(initial=0)))


MOST_NODES = 20_000
BINS = 1000
_MOST_STAYS = 200_000
Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scene:
    """One schedule, ready to be shown.

    `head`: plain values: names, times and numbers for people. `columns`: the network: `place` float32[N, 2], `space`
    float32[N, 3] or empty, `source`, `target`, `capacity`, `shape` and `direction` of the links. The rows: `start`,
    `end` in ticks, ascending by start; `message`, a row of the messages or -1 for control; `part`, `phase`; `carried`,
    `there` and `whole`, of how many contributions the sum of a row is, how many its target then has, and how many there
    are, empty where there are no partial sums, -1 in other rows; `from`, `to`; `first` int32[R+1] and `way`, the links
    that a row crosses; `weight`, the share of a worm that a row is, empty where all are whole. The messages: `origin`,
    `goal` or -1 where there are several, `kind`, `id`. Over time: `busy`, `held` and `deepest`. What waits: `since`,
    `until`, `spot`, the node, and `gate`, the link for which it waits, where that is known.
    """

    head: dict[str, Any]
    columns: dict[str, Column] = field(repr=False)


def scene(schedule: Any, bounds: Sequence[Bound] = (), facts: Sequence[tuple[str, str]] = ()) -> Scene:
    """Return what the explorer shows of a schedule of either switching; it is not verified here.

    `schedule`: explicit or invariant. `bounds`: the largest first. `facts`: what else the page says.

    Raises NotApplicableError if the network has more than `MOST_NODES` nodes.

    O(rows log rows) time; 25 bytes a row, and the layout of `gossamer.plots.layouts.lay_out`.

    >>> import gossamer
    >>> shown = scene(gossamer.plan("ring:5", "allgather").schedule)
    >>> shown.head["nodes"], shown.columns["start"].size, shown.columns["way"].size
    (5, 20, 20)
    """
    network = schedule.network
    check_nodes(network)
    if isinstance(schedule, Schedule):
        schedule = schedule.expand()
    rows = schedule.timeline()
    order = np.argsort(rows.start, kind="stable")
    pairs = NodePairs(network)
    first, way, weight = routes(schedule, rows, pairs)
    first, way = _in_order(first, way, order)
    ids, message = np.unique(rows.message[rows.message >= 0], return_inverse=True)
    mine = np.full(rows.count, -1, np.int32)
    mine[rows.message >= 0] = message
    messages = _messages(schedule, ids)
    held = waiting(rows, mine, messages["origin"], messages["kind"], network.node_count, BINS)
    sums = count_sums(schedule) if isinstance(schedule, Schedule) else None
    done = rows.end[order]
    if schedule.switching == "store-and-forward" and not schedule.network.plain:  # links are free while packets arrive
        latency = schedule.network.link_latency[pairs.first][way[first[:-1]]]
        done = np.maximum(done - latency / float(rows.tick), rows.start[order])
    columns: dict[str, Column] = {
        "start": rows.start[order].astype(np.uint32),
        "end": rows.end[order].astype(np.uint32),
        "message": mine[order],
        "part": rows.part[order].astype(np.int32),
        "carried": np.zeros(0, np.int32) if sums is None else sums.carried[order],
        "there": np.zeros(0, np.int32) if sums is None else sums.held[order],
        "whole": np.zeros(0, np.int32) if sums is None else sums.whole[order],
        "phase": rows.phase[order].astype(np.uint8),
        "first": first,
        "way": way,
        "weight": weight[order].astype(np.float32) if weight.size else weight,
        "from": rows.source[order],
        "to": rows.target[order],
        "busy": busy(
            rows.start[order], done, rows.length,
            np.diff(first) * (weight[order] if weight.size else 1.0), int(pairs.capacity.sum()),
        ),
        "held": held.total,
        "deepest": held.deepest,
        **stay_columns(*stays(rows, mine, messages["origin"], messages["kind"])),
        **messages,
        **drawn(network, pairs),
    }  # fmt: skip
    return Scene(_head(schedule, rows, bounds, facts, held), columns)


def stay_columns(since: Column, until: Column, node: Column, link: Column | None = None) -> dict[str, Column]:
    """Return when packets wait and where, ascending, as columns; empty where there are too many to be shown."""
    kept = np.argsort(since, kind="stable") if since.size <= _MOST_STAYS else np.zeros(0, np.int64)
    return {
        "since": since[kept].astype(np.float32),
        "until": until[kept].astype(np.float32),
        "spot": node[kept].astype(np.uint32),
        "gate": np.zeros(0, np.uint32) if link is None else link[kept].astype(np.uint32),
    }


def check_nodes(network: Network) -> None:
    """Raise NotApplicableError if a network has too many nodes to be shown."""
    if network.node_count > MOST_NODES:
        raise NotApplicableError(
            f"the explorer shows networks of at most {MOST_NODES:,} nodes, and {network.spec} has "
            f"{network.node_count:,}"
        )


def _in_order(
    first: npt.NDArray[np.int32], way: npt.NDArray[np.int32], order: Column
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    sizes = np.diff(first)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inside = np.arange(way.size) - np.repeat(starts[:-1], sizes)
    return starts.astype(np.int32), way[np.repeat(first[:-1][order], sizes) + inside]


def _messages(schedule: Any, ids: Column) -> dict[str, Column]:
    """Return origin, goal and kind of each message that crosses a link."""
    known = schedule.messages if hasattr(schedule, "messages") else schedule.task.messages(schedule.network)
    at = np.searchsorted(known.ids, ids)
    origin, kind = known.origin[at].astype(np.int32), known.discipline[at].astype(np.uint8)
    goal = np.full(ids.size, -1, np.int32)
    if known.target_start is not None and known.targets is not None:
        one = np.diff(known.target_start)[at] == 1
        goal[one] = known.targets[known.target_start[:-1][at][one]]
    return {"origin": origin, "goal": goal, "kind": kind, "id": ids.astype(np.float64)}


def busy(start: Column, end: Column, length: float, weight: Column, capacity: int) -> npt.NDArray[np.float32]:
    """Return the share of all links' capacity in use in equal parts of the time, a tick each if they are few."""
    count = min(max(int(length), 1), BINS)
    scale = count / max(length, 1)
    change = np.zeros(count + 2)
    for ends, sign in ((start * scale, 1.0), (end * scale, -1.0)):
        cell = np.minimum(ends.astype(np.int64), count)
        inside = ends - cell
        # what begins inside a bin counts for the rest of it
        change += sign * np.bincount(cell, weight * (1 - inside), count + 2)
        change += sign * np.bincount(cell + 1, weight * inside, count + 2)
    return (np.cumsum(change)[:count] / max(capacity, 1)).astype(np.float32)


def drawn(network: Network, pairs: NodePairs) -> dict[str, Column]:
    """Return the columns of the network: places of nodes, ends and forms of links."""
    layout = lay_out(network)
    space = np.zeros((0, 3), np.float32)
    grid = network.grid
    if grid is not None and sum(side > 1 for side in grid.sides) == 3:
        wide = [d for d, side in enumerate(grid.sides) if side > 1]
        digits = np.stack(np.unravel_index(np.arange(network.node_count), grid.sides), axis=1)[:, wide]
        space = digits.astype(np.float32)
    return {
        "place": layout.positions.astype(np.float32).reshape(-1),
        "space": space.reshape(-1),
        "source": network.link_source[pairs.first],
        "target": network.link_target[pairs.first],
        "capacity": pairs.capacity,
        "shape": np.asarray(layout.shape, np.uint8)[pairs.first],
        "direction": layout.direction[pairs.first].astype(np.float32).reshape(-1),
    }


def _head(
    schedule: Any, rows: Timeline, bounds: Sequence[Bound], facts: Sequence[tuple[str, str]], held: Waiting
) -> dict[str, Any]:
    return schedule_head(schedule, bounds, facts, float(rows.tick)) | {
        "ticks": rows.length,
        "rows": rows.count,
        "phases": list(rows.phases),
        "held_peak": held.peak,
    }


def schedule_head(
    schedule: Any, bounds: Sequence[Bound], facts: Sequence[tuple[str, str]], tick: float
) -> dict[str, Any]:
    """Return what the page says of a schedule: its task, its time and bound, in seconds where slots have a length."""
    network, cost, bound = schedule.network, schedule.cost, bounds[0] if bounds else None
    task, time = schedule.task, schedule.completion_time
    told = None if bound is None else exact(bound.value)
    head: dict[str, Any] = {"time": exact(time), "bound": told, "unit": "step", "tick": tick}
    if schedule.switching != "store-and-forward":
        head["unit"] = "time unit"
    elif isinstance(cost, Clock):
        task = in_packets(task, 1)
        shown, unit = seconds_text(cost.seconds(time)).split()
        scale = float(cost.seconds(time)) / float(shown) if time else 1.0
        told = None if bound is None else f"{float(cost.seconds(bound.value)) / scale:.4g}"
        head = {
            "time": shown,
            "bound": told,
            "unit": unit,
            "units": unit,
            "tick": tick * float(cost.slot_seconds) / scale,
        }
    return (
        plain_head(network)
        | head
        | {
            "task": task.describe(),
            "algorithm": schedule.algorithm or "unnamed",
            "switching": schedule.switching,
            "met": bound is not None and bound.value == time,
            "witness": None if bound is None else bound.text,
            "marked": [] if bound is None else witness_nodes(network, bound),
            "facts": [list(fact) for fact in facts],
        }
    )


def exact(time: Fraction) -> str:
    """Return a time as it is and, if it is no whole number, as a decimal.

    >>> exact(Fraction(12)), exact(Fraction(87951, 100))
    ('12', '87951/100 = 879.51')
    """
    return str(time) if time.denominator == 1 else f"{time} = {float(time):.6g}"


def plain_head(network: Network) -> dict[str, Any]:
    """Return what the page says of a network, and nothing yet of what happens on it."""
    return {
        "network": spec_text(network),
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "links": network.link_count,
        "names": [network.node_name(v) for v in range(network.node_count)],
        "bound": None,
        "witness": None,
        "marked": [],
        "phases": [""],
        "worms": False,
        "headline": "",
        "copies": int(COPY),
        "moves": int(MOVE),
    }
