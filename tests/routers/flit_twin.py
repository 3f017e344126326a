"""A plain and slow twin of the flit simulator, and schedules that try routers."""

from __future__ import annotations

import numpy as np

import gossamer
from gossamer.questions.costs import LinearCost
from gossamer.simulation.flits import Routers
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


def twin_run(network, settings: Routers, when, source, displacement, flits, cycles: int, each=None):
    """The movements (cycle, channel, virtual channel, message, flit) in so many cycles, and when messages end.

    Flit by flit and cycle by cycle, with nothing remembered but what the routers hold. `each` has the cycles that a
    flit takes of a channel, 1 by default; flits that passed the switch wait for it in order.
    """
    s, channels = settings, Channels(network)
    d2, lanes, half = 2 * channels.dimensions, settings.virtual_channels, (settings.virtual_channels + 1) // 2
    paths = [path(channels, settings, u, x) for u, x in zip(source, displacement, strict=True)]
    target = channels.target(source, displacement).tolist()
    links = np.flatnonzero(channels.exists).tolist()
    nodes = range(network.node_count)
    # ports: links by number, then injections and ejections
    inputs = {
        n: [("link", c) for c in links if int(channels.target(c // d2, step_of(channels, c % d2))) == n] for n in nodes
    }
    outputs = {n: [("link", c) for c in links if c // d2 == n] for n in nodes}
    for n in nodes:
        inputs[n] += [("in", c) for c in links if c // d2 == n] if s.injection == "channels" else [("in", n)]
    for n in nodes:
        outputs[n] += [("out", p) for p in inputs[n]] if s.ejection == "channels" else [("out", n)]
    where = {p: n for n in nodes for p in inputs[n]}
    more = s.switch_delay - 1
    latency = {"link": s.link_latency + more, "in": s.injection_delay, "out": s.ejection_delay + more}
    buffers = {(p, v): [] for n in nodes for p in inputs[n] for v in range(lanes)}  # (message, flit) that have arrived
    slots = {(p, v): s.buffer_depth for n in nodes for p in {*inputs[n], *outputs[n]} for v in range(lanes)}
    flying, opening, owner, way, hop = [], [], {}, {}, {}
    front_since, granted_at, sent_at = {}, {}, {}
    backlog = {p: [] for n in nodes for p in inputs[n] if p[0] == "in"}
    current, last_lane = {}, dict.fromkeys(backlog, lanes - 1)
    turn: dict = {}
    movements, finished = [], {}
    each, came = each or {}, {}

    def nearest(items, position, key, size):
        return min(items, key=lambda x: (position(x) - turn.get(key, 0)) % size)

    def wants(q, node):
        """The output and the virtual channels that the head at the front of q may have."""
        m = buffers[q][0][0]
        done = hop.get(m, 0)
        if done == len(paths[m]):
            assert node == target[m]
            return ("out", q[0]) if s.ejection == "channels" else ("out", node), range(lanes)
        channel, kind = paths[m][done]
        if kind == "same":
            kind = "upper" if q[1] >= half else "lower"
        return ("link", channel), {"any": range(lanes), "lower": range(half), "upper": range(half, lanes)}[kind]

    for c in range(cycles):
        for item in [o for o in opening if o[0] <= c]:
            slots[item[1]] += 1
            opening.remove(item)
        for m in [m for m in range(len(source)) if when[m] == c]:
            backlog["in", source[m] if s.injection == "node" else paths[m][0][0]].append(m)
        for p, waiting in backlog.items():
            if p not in current and waiting:
                lane = next(
                    (v for k in range(1, lanes + 1) if slots[p, v := (last_lane[p] + k) % lanes] > 0), None
                )  # fmt: skip
                if lane is not None:
                    current[p] = [waiting.pop(0), 0, lane]
                    last_lane[p] = lane
            if p in current:
                m, flit, lane = current[p]
                if slots[p, lane] > 0:
                    slots[p, lane] -= 1
                    flying.append((c + latency["in"], (p, lane), (m, flit)))
                    current[p][1] += 1
                    if flit == flits[m] - 1:
                        del current[p]
        for item in [f for f in flying if f[0] <= c]:
            if not buffers[item[1]]:
                front_since[item[1]] = c
            buffers[item[1]].append(item[2])
            flying.remove(item)
        # virtual channels: every head asks for one, every one takes one
        asked: dict = {}
        for q, held in buffers.items():
            if not held or q in way or front_since[q] + s.routing_delay > c:
                continue
            node = where[q[0]]
            out, allowed = wants(q, node)
            free = [v for v in allowed if (out, v) not in owner]
            if free:
                base = outputs[node].index(out) * lanes
                v = nearest(free, lambda v, base=base: base + v, ("ask", q), len(outputs[node]) * lanes)
                asked.setdefault((out, v), []).append(q)
        for w, heads in asked.items():
            node = where[heads[0][0]]
            size = len(inputs[node]) * lanes
            q = nearest(heads, lambda q, n=node: inputs[n].index(q[0]) * lanes + q[1], ("grant", w), size)
            way[q], owner[w], granted_at[q] = w, q, c
            turn["ask", q] = (outputs[node].index(w[0]) * lanes + w[1] + 1) % (len(outputs[node]) * lanes)
            turn["grant", w] = (inputs[node].index(q[0]) * lanes + q[1] + 1) % size
            m = buffers[q][0][0]
            hop[m] = hop.get(m, 0) + 1
        # the switch: every port chooses a queue, every output a port
        chosen: dict = {}
        for node in nodes:
            for p in inputs[node]:
                able = [
                    (p, v) for v in range(lanes)
                    if buffers[p, v] and (p, v) in way and slots[way[p, v]] > 0
                    and granted_at[p, v] + s.allocation_delay <= c and sent_at.get((p, v), -99) + s.switch_delay <= c
                ]  # fmt: skip
                if able:
                    count = len(outputs[node])
                    out = nearest(
                        {way[q][0] for q in able}, lambda o, n=node: outputs[n].index(o), ("port", p), count
                    )  # fmt: skip
                    q = nearest([q for q in able if way[q][0] == out], lambda q: q[1], ("lane", p), lanes)
                    chosen.setdefault(out, []).append(q)
        for out, queues in chosen.items():
            node = where[queues[0][0]]
            q = nearest(queues, lambda q, n=node: inputs[n].index(q[0]), ("output", out), len(inputs[node]))
            turn["output", out] = (inputs[node].index(q[0]) + 1) % len(inputs[node])
            turn["port", q[0]] = (outputs[node].index(out) + 1) % len(outputs[node])
            turn["lane", q[0]] = (q[1] + 1) % lanes
            m, flit = buffers[q].pop(0)
            w = way[q]
            left = c + s.switch_delay
            sent_at[q] = c
            front_since[q] = left
            if q[0][0] == "in":
                opening.append((max(left, left + s.credit_delay - 1), q))
            else:
                opening.append((left + s.credit_delay, q))
            slots[w] -= 1
            arrival = c + latency[out[0]]
            if out[0] == "out":
                movements.append((c, -1, 0, m, flit))
                opening.append((arrival + 1 + s.credit_delay, w))
                if flit == flits[m] - 1:
                    finished[m] = arrival
            else:
                movements.append((c, out[1], w[1], m, flit))
                took = each.get(out[1], 1)
                arrival = came[out] = max(arrival + took - 1, came.get(out, -took) + took)
                flying.append((arrival, w, (m, flit)))
            if flit == flits[m] - 1:
                del way[q], owner[w], sent_at[q]
    return movements, finished


def step_of(channels: Channels, place: int) -> np.ndarray:
    """The displacement of one hop over a node's channel 0..2d-1."""
    move = np.zeros(channels.dimensions, np.int64)
    move[place // 2] = -1 if place % 2 else 1
    return move
