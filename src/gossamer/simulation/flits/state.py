"""The state of a simulation: routers with empty buffers, and a table of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import IntArray
from gossamer.simulation.flits._kernels import (
    ADAPTIVE,
    CREATED,
    ENDED,
    FINISHED,
    FLITS,
    NOW,
    ORIGIN,
    OTHER,
    ROUTE,
    SOURCE,
    SUCCESSOR,
    TARGET,
    WAITING,
)
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.settings import Routers

if TYPE_CHECKING:
    from gossamer.simulation.flits._kernels import State

# Compiled kernels that write messages to the table of a simulation and read them off; plain arrays in and out.


@njit(cache=True, nogil=True, _nrt=False, small=60_000)
def write(
    message, used, rows, source, target, flits, route, size, second, begin, terminals, drawn, by_link, ways_first, ways
):  # fmt: skip
    """Write messages that are still to be released to `rows` of the table; int64[M] each.

    A route begins at ``begin[...]`` by source, target, and the bits that are `drawn` int64[draws, M], the first lowest;
    where `begin` is empty, in the places of the row, of which there are `size`. Another begins `second` places behind
    it, or none at 0. The source queue is that of the source or, `by_link`, of its first link; on the way of an adaptive
    function, of `ways_first` and `ways`, the first of all.
    """
    for k in range(rows.size):
        m, u, v = rows[k], source[k], target[k]
        at = m * size + 1
        if begin.size > 0:
            entry = u * terminals + v
            for bit in range(drawn.shape[0] - 1, -1, -1):
                entry = 2 * entry + drawn[bit, k]
            at = begin[entry]
        queue = u
        if by_link:
            step = route[at]
            if step == ADAPTIVE:
                step = ways[ways_first[u, v], 0]
            queue = step >> 8
        used[m] = True
        message[m, SOURCE] = queue
        message[m, FLITS] = flits[k]
        message[m, ROUTE] = at
        message[m, WAITING] = 0
        message[m, SUCCESSOR] = -1
        message[m, OTHER] = at + second if second > 0 else -1
        message[m, TARGET] = v
        message[m, CREATED] = 0
        message[m, FINISHED] = -1
        message[m, ORIGIN] = u


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def take_delivered(message, used, delivered, counters, low, high, rows, found):
    """Fill `rows` int32[...] with those of `delivered` that have come by now, and free them.

    `found` int64[4, ...] are creation, latency, source and target of those that were created in cycles low..high-1.
    Returns how many there are, and how many of them were created then.
    """
    n, kept, inside = 0, 0, 0
    for k in range(counters[ENDED]):
        m = delivered[k]
        if message[m, FINISHED] >= counters[NOW]:
            delivered[kept] = m
            kept += 1
            continue
        used[m] = False
        rows[n] = m
        n += 1
        created = message[m, CREATED]
        if low <= created < high:
            found[0, inside] = created
            found[1, inside] = message[m, FINISHED] - created
            found[2, inside] = message[m, ORIGIN]
            found[3, inside] = message[m, TARGET]
            inside += 1
    counters[ENDED] = kept
    return n, inside


@njit(cache=True, nogil=True, _nrt=False, small=20_000)
def count_latencies(created, latency, source, target, first, cycles, histogram, sums, counts, flows, ends):
    """Count messages: latencies by value and by batch of creation, and by source and target or, without, by either.

    `created`, `latency`, `source` and `target` int64[M]; `histogram` int64[...], longer than all latencies; `sums` and
    `counts` float64[B]; of `flows` float64[2, T, T] or [2, 0, T] and `ends` float64[2, 2, T], sent and received, the
    first halves are numbers of messages and the others sums of latencies.
    """
    batches = sums.size
    for k in range(created.size):
        value = latency[k]
        histogram[value] += 1
        batch = (created[k] - first) * batches // cycles
        sums[batch] += value
        counts[batch] += 1
        u, v = source[k], target[k]
        if flows.shape[1] > 0:
            flows[0, u, v] += 1
            flows[1, u, v] += value
        elif ends.shape[2] > 0:
            ends[0, 0, u] += 1
            ends[0, 1, u] += value
            ends[1, 0, v] += 1
            ends[1, 1, v] += value


_LINE = 16
"""Numbers of 32 bits in a cache line."""


@dataclass(frozen=True)
class Adaptive:
    """The ways that heads may take, by router and target terminal.

    `first` int32[R, T+1]: those at router r to terminal t are ``way[first[r, t]:first[r, t+1]]``; `way` int32[..., 2]
    is ``256*channel + class`` and a rank, of which the highest with a free virtual channel counts; those
    of the highest rank come first.
    """

    first: IntArray
    way: IntArray


def new_state(
    fabric: Fabric,
    settings: Routers,
    messages: int,
    *,
    classes: npt.NDArray[np.int64],
    record: int = 0,
    adaptive: Adaptive | None = None,
    escape: int = 0,
) -> State:
    """Return routers with empty buffers, with room for `messages` messages and a record of `record` rows.

    `classes` int64[K] are the virtual channels of each class, as bits; `adaptive` the ways of heads that find them, and
    `escape` the virtual channels, as bits, that they do not leave for others.
    """
    from gossamer.simulation.flits import _kernels as k

    channel, queues = _channels(fabric, settings)
    count, lanes, depth = len(channel), settings.virtual_channels, settings.buffer_depth
    speedup = max(settings.input_speedup, settings.output_speedup)
    rules = np.zeros(k.CLASSES + len(classes), np.int64)
    rules[k.CLASSES :] = classes
    rules[[k.LANES, k.DEPTH]] = lanes, depth
    rules[[k.ROUTING_DELAY, k.ALLOCATION_DELAY]] = settings.routing_delay, settings.allocation_delay
    rules[[k.SWITCH_DELAY, k.CREDIT_DELAY]] = settings.switch_delay, settings.credit_delay
    rules[[k.INPUT_SPEEDUP, k.OUTPUT_SPEEDUP]] = settings.input_speedup, settings.output_speedup
    rules[[k.LINKS, k.EJECTIONS, k.RECORDING, k.ESCAPE]] = fabric.link_count, queues, record > 0, escape
    delays = settings.routing_delay, settings.allocation_delay, settings.switch_delay, settings.credit_delay
    longest = int(channel[:, k.LATENCY].max()) + sum(delays) + 2
    slowest = int(fabric.flit_cycles.max())
    rules[k.WAITING_OUT] = settings.output_speedup > 1 or slowest > 1
    longest += lanes * depth * slowest if rules[k.WAITING_OUT] else 0
    rules[k.WHEEL] = (1 << longest.bit_length()) - 1
    queue = _in_lines(count * lanes, k.QUEUES)
    queue[:, [k.OUT, k.OWNER, k.STALL, k.NEXT]] = -1
    queue[:, k.LANE] = np.tile(np.arange(lanes), count)
    queue[:, k.CHANNEL] = np.repeat(np.arange(count), lanes)
    queue[:, k.NUMBER] = np.repeat(channel[:, k.IN_PLACE], lanes) * lanes + queue[:, k.LANE]
    turn = np.zeros((count * speedup, k.TURNS), np.int32)
    turn[:, k.BEST] = -1
    turn[:, k.OFFSET] = np.tile(np.arange(speedup) % settings.input_speedup, count)
    channel[:, [k.LAST, k.WAITERS]] = -1
    source = _in_lines(queues - fabric.link_count, k.ORIGINS)
    source[:, [k.BACKLOG, k.CURRENT]] = -1
    source[:, k.LAST_LANE] = lanes - 1
    ways = adaptive or Adaptive(np.zeros((0, 0), np.int32), np.zeros((0, 2), np.int32))
    return k.State(
        rules=rules,
        queue=queue,
        slot=_in_lines(count * lanes * depth, k.SLOTS),
        channel=channel,
        source=source,
        turn=turn,
        wheel=np.zeros((2 * int(rules[k.WHEEL]) + 2, 2 + count * (1 + 3 * lanes)), np.int32),
        lists=np.zeros((5, count * max(lanes, speedup) + 1), np.int32),
        message=np.zeros((messages, k.MESSAGES), np.int32),
        route=np.zeros(1, np.int32),
        candidate_first=np.ascontiguousarray(ways.first, np.int32),
        candidate=np.ascontiguousarray(ways.way, np.int32),
        dependent_first=np.zeros(1, np.int64),
        dependent=np.zeros(0, np.int64),
        released=np.zeros(0, np.int64),
        delivered=np.zeros(messages, np.int32),
        record=np.zeros((record, 4), np.int64),
        counters=np.zeros(k.COUNTERS, np.int64),
    )


def _channels(fabric: Fabric, settings: Routers) -> tuple[IntArray, int]:
    """Return the table of all channels, and how many of them end at a router."""
    from gossamer.simulation.flits import _kernels as k

    links = fabric.link_count
    into = fabric.injections(settings.injection)
    out = fabric.ejections(settings.ejection)
    queues = links + into.size
    goes_to = np.concatenate([fabric.target, into])
    leaves = goes_to if out is None else out  # the routers that ejections leave
    count = queues + leaves.size
    table = _in_lines(count, k.CHANNELS)
    to, frm = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    to[:queues], frm[:links], frm[queues:] = goes_to, fabric.source, leaves
    table[:, k.TO], table[:, k.FROM] = to, frm
    n = fabric.router_count
    inputs, table[:, k.IN_PLACE] = _places(to, n)
    outputs, table[:, k.OUT_PLACE] = _places(frm, n)
    table[:, k.INPUTS] = inputs[frm]
    table[:, k.OUTPUTS] = outputs[to]
    more = settings.switch_delay - 1
    table[:links, k.EACH], table[queues:, k.EACH] = fabric.flit_cycles, 1
    table[:links, k.LATENCY] = settings.link_latency + more + fabric.latency + fabric.flit_cycles - 1
    table[links:queues, k.LATENCY] = settings.injection_delay
    table[queues:, k.LATENCY] = settings.ejection_delay + more
    table[:queues, k.EJECTION] = queues + np.arange(queues) if out is None else -1
    return table, queues


def _places(router: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return how many channels each router has, int32[n+1], and the place of each among them; -1 is no router."""
    order = np.argsort(router, kind="stable")
    at = router[order]
    counts = np.bincount(at[at >= 0], minlength=n)
    first = np.concatenate([[0], np.cumsum(counts)])[:-1] + int((at < 0).sum())
    place = np.zeros(router.size, np.int32)
    place[order] = np.arange(router.size) - np.where(at >= 0, first[at], 0)
    return np.append(counts, 1).astype(np.int32), np.where(router >= 0, place, 0).astype(np.int32)


def _in_lines(rows: int, columns: int) -> IntArray:
    """Return zeros, int32[rows, columns], that begin with a cache line: so runs take 4 % less time."""
    room = np.zeros(rows * columns + _LINE, np.int32)
    first = -room.ctypes.data // room.itemsize % _LINE
    return room[first : first + rows * columns].reshape(rows, columns)


def grown(state: State, messages: int) -> State:
    """Return the state with room for more messages, the present ones in their places."""
    from gossamer.simulation.flits import _kernels as k

    message, delivered = np.zeros((messages, k.MESSAGES), np.int32), np.zeros(messages, np.int32)
    message[: len(state.message)], delivered[: state.delivered.size] = state.message, state.delivered
    return state._replace(message=message, delivered=delivered)


def with_routes(state: State, route: IntArray) -> State:
    """Return the state with another table of routes."""
    return state._replace(route=route)


def write_messages(
    state: State, source: npt.NDArray[np.integer], route: npt.NDArray[np.integer], flits: npt.NDArray[np.integer]
) -> None:
    """Write all messages, which are still to be released.

    `source` int[M] the source queue, `route` int[M] where the route of each begins, `flits` int[M].
    """
    from gossamer.simulation.flits import _kernels as k

    for column, values in ((k.SOURCE, source), (k.ROUTE, route), (k.FLITS, flits)):
        state.message[:, column] = values
    state.message[:, [k.SUCCESSOR, k.OTHER, k.FINISHED]] = -1


def crossings(state: State) -> npt.NDArray[np.int64]:
    """Return the flits that crossed each channel between routers, int64[C]."""
    from gossamer.simulation.flits import _kernels as k

    return np.array(state.channel[: int(state.rules[k.LINKS]), k.CROSSED], np.int64)
