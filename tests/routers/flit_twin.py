"""A plain and slow twin of the flit simulator, and schedules that try routers."""

from __future__ import annotations

import numpy as np

import gossamer
from gossamer.costs import LinearCost
from gossamer.routers import Routers
from gossamer.wormhole import Channels, Payloads, PayloadTable, Pieces, WormholeSchedule

NOTHING = Pieces(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))


def bare_messages(network, step, source, displacement, flits, startup=0) -> WormholeSchedule:
    """A schedule of messages of so many flits that say nothing (control messages), by columns."""
    none: Payloads = PayloadTable().payloads()
    model = LinearCost(startup=startup)
    return WormholeSchedule(
        network, gossamer.task("broadcast"), model, step, source, displacement, np.full(len(step), -1),
        payloads=none, packets=NOTHING, control_bytes=4 * np.asarray(flits),
    )  # fmt: skip


def path(channels: Channels, settings: Routers, source: int, displacement) -> list[tuple[int, str]]:
    """The channels that a message takes, and which virtual channels it may have on each."""
    found = []
    at = list(channels.coordinates(source))
    for i, hops in enumerate(displacement):
        sign, side = (1 if hops > 0 else -1), channels.sides[i]
        ring = channels.wraps[i] and settings.dateline != "none"
        crosses = [k for k in range(abs(hops)) if (at[i] + k * sign) % side == (side - 1 if sign > 0 else 0)]
        for k in range(abs(hops)):
            node = int(channels.nodes(at))
            if not ring:
                lanes = "any"
            elif crosses:
                lanes = "upper" if k >= crosses[0] else "lower"
            elif settings.dateline == "plain":
                lanes = "lower"
            else:
                lanes = "any" if k == 0 else "same"
            found.append((channels.number(node, i, sign), lanes))
            at[i] = (at[i] + sign) % side
    return found


def twin_run(network, settings: Routers, when, source, displacement, flits, cycles: int):
    """The movements (cycle, channel, virtual channel, message, flit) in so many cycles, and when messages end."""
    channels = Channels(network)
    d2, v_count, half = 2 * channels.dimensions, settings.virtual_channels, (settings.virtual_channels + 1) // 2
    injection = d2 if settings.injection == "channels" else 1
    ports = d2 + injection
    paths = [path(channels, settings, s, x) for s, x in zip(source, displacement, strict=True)]
    target = channels.target(source, displacement).tolist()
    into = {
        c: int(channels.target(c // d2, step_of(channels, c % d2))) for c in np.flatnonzero(channels.exists).tolist()
    }
    buffers = {(n, p, v): [] for n in range(network.node_count) for p in range(ports) for v in range(v_count)}
    credits = dict.fromkeys(buffers, settings.buffer_depth)
    returning, owner, way, hop = [], {}, {}, {}
    backlog = {(n, p): [] for n in range(network.node_count) for p in range(injection)}
    port_turn, output_turn, grant_turn, lane_turn = {}, {}, {}, {}
    movements, finished = [], {}

    def fill(n, p, c):
        for lane in range(settings.injection_lanes):
            if backlog[n, p] and not buffers[n, d2 + p, lane]:
                m, created = backlog[n, p].pop(0)
                first = max(c, created + settings.router_delay)
                buffers[n, d2 + p, lane] = [(m, k, first if k == 0 else 0) for k in range(flits[m])]

    def rotated(items, position, turn, size):
        return min(items, key=lambda item: (position(item) - turn) % size)

    for c in range(cycles):
        for due, q in [r for r in returning if r[0] <= c]:
            credits[q] += 1
            returning.remove((due, q))
        for m in np.flatnonzero(np.asarray(when) == c).tolist():
            p = 0 if injection == 1 else paths[m][0][0] % d2
            backlog[source[m], p].append((m, c))
            fill(source[m], p, c)
        moves = []
        for n in range(network.node_count):
            ready = [q for q in buffers if q[0] == n and buffers[q] and buffers[q][0][2] <= c]
            asking = {}
            for q in ready:
                m = buffers[q][0][0]
                if q in way:
                    continue
                done = hop.get(m, 0)
                if done == len(paths[m]):
                    assert n == target[m]
                    way[q] = None
                    continue
                channel, lanes = paths[m][done]
                assert channel // d2 == n
                if lanes == "same":
                    lanes = "upper" if q[2] >= half else "lower"
                allowed = {"any": range(v_count), "lower": range(half), "upper": range(half, v_count)}[lanes]
                free = [v for v in allowed if (into[channel], channel % d2, v) not in owner]
                if free:
                    asking.setdefault(channel, []).append((q, free))
            for channel, askers in asking.items():

                def position(a):
                    return a[0][1] * v_count + a[0][2]

                q, free = rotated(askers, position, grant_turn.get(channel, 0), ports * v_count)
                v = rotated(free, int, lane_turn.get(channel, 0), v_count)
                way[q] = (into[channel], channel % d2, v)
                owner[way[q]] = q
                hop[buffers[q][0][0]] = hop.get(buffers[q][0][0], 0) + 1
                grant_turn[channel] = (position((q,)) + 1) % (ports * v_count)
                lane_turn[channel] = (v + 1) % v_count
            requests = {}
            for p in range(ports):
                able = [q for q in ready if q[1] == p and q in way and (way[q] is None or credits[way[q]] > 0)]
                if able:
                    q = rotated(able, lambda q: q[2], port_turn.get((n, p), 0), v_count)
                    if way[q] is None and settings.ejection == "channels":
                        moves.append(q)
                    else:
                        requests.setdefault(d2 if way[q] is None else way[q][1], []).append(q)
            for o, queues in requests.items():
                q = rotated(queues, lambda q: q[1], output_turn.get((n, o), 0), ports)
                output_turn[n, o] = (q[1] + 1) % ports
                moves.append(q)
        for q in moves:
            n, p, v = q
            port_turn[n, p] = (v + 1) % v_count
            m, flit, _ = buffers[q].pop(0)
            to = way[q]
            if to is None:
                movements.append((c, -1, 0, m, flit))
                if flit == flits[m] - 1:
                    finished[m] = c + 1
            else:
                sender = next(k for k in range(d2) if into.get(n * d2 + k) == to[0] and k == to[1])
                movements.append((c, n * d2 + sender, to[2], m, flit))
                credits[to] -= 1
                buffers[to].append((m, flit, c + 1 + settings.router_delay))
            if flit == flits[m] - 1:
                del way[q]
                if to is not None:
                    del owner[to]
            if p < d2:
                returning.append((c + 1 + settings.credit_delay, q))
            elif flit == flits[m] - 1:
                fill(n, p - d2, c + 1)
    return movements, finished


def step_of(channels: Channels, place: int) -> np.ndarray:
    """The displacement of one hop over a node's channel 0..2d-1."""
    move = np.zeros(channels.dimensions, np.int64)
    move[place // 2] = -1 if place % 2 else 1
    return move
