"""Wormhole schedules, valid ones and ones with a fault."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

import gossamer
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, Task
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import PayloadTable, Pieces, WormholeSchedule
from gossamer.wormhole.sequential_broadcasts import sequential_broadcasts

SPECS = ("torus:3x4", "torus:2x3", "torus:2x2", "array:3x4", "array:5", "ring:6", "torus:2x3x2", "hypercube:3")


@cache
def network(spec: str) -> gossamer.Network:
    return gossamer.network(spec)


def in_pieces(schedule: WormholeSchedule, pieces: int) -> WormholeSchedule:
    """The same schedule with every message in so many pieces that travel together."""
    table, sets = PayloadTable(), schedule.payloads
    rows = [table.row((sets.row(k)[:, None] * pieces + np.arange(pieces)).reshape(-1)) for k in range(sets.count)]
    return schedule.replace(
        payload=np.array([*rows, -1])[schedule.payload],
        payloads=table.payloads(),
        packets=Pieces.of(schedule.messages, schedule.cost.message_bytes, pieces),
    )


@st.composite
def valid(draw) -> WormholeSchedule:
    """Broadcasts of some nodes one after the other, in pieces, with a control message now and then."""
    net = network(draw(st.sampled_from(SPECS)))
    nodes = st.integers(0, net.node_count - 1)
    task: Task = draw(
        st.one_of(
            nodes.map(Broadcast),
            st.just(MultinodeBroadcast()),
            st.sets(nodes, min_size=1, max_size=4).map(lambda s: PartialMultinodeBroadcast(tuple(s))),
        )
    )
    model = LinearCost(startup=draw(st.integers(0, 9)), per_byte="1/3", message_bytes=10, hop_time="0.5")
    schedule = in_pieces(sequential_broadcasts(WormholeCase(net, task, model)), draw(st.integers(1, 3)))
    control = draw(st.lists(st.integers(0, schedule.message_count - 1), max_size=2))
    if not control:
        return schedule
    last = schedule.step_count  # control messages after everything else
    rows = np.array(sorted(set(control)))
    return schedule.replace(
        step=np.concatenate([schedule.step, last + np.arange(rows.size)]),
        source=np.concatenate([schedule.source, schedule.source[rows]]),
        displacement=np.concatenate([schedule.displacement, schedule.displacement[rows]]),
        payload=np.concatenate([schedule.payload, np.full(rows.size, -1)]),
        control_bytes=None,
        phases=None,
    )


@st.composite
def faulty(draw) -> WormholeSchedule:
    """A schedule in which some messages are dropped or have an altered step, source, way or payload."""
    schedule = draw(valid())
    columns = {
        "step": schedule.step.copy(),
        "source": schedule.source.copy(),
        "displacement": schedule.displacement.copy(),
        "payload": schedule.payload.copy(),
    }
    for _ in range(draw(st.integers(1, 4))):
        row = draw(st.integers(0, columns["step"].size - 1)) if columns["step"].size else None
        if row is None:
            break
        what = draw(st.sampled_from(["drop", "repeat", *columns]))
        if what == "drop":
            columns = {name: np.delete(values, row, axis=0) for name, values in columns.items()}
        elif what == "repeat":
            columns = {name: np.insert(values, row, values[row], axis=0) for name, values in columns.items()}
        elif what == "step":
            columns["step"][row] = draw(st.integers(0, schedule.step_count - 1))
        elif what == "source":
            columns["source"][row] = draw(st.integers(0, schedule.network.node_count - 1))
        elif what == "displacement":
            far = max(schedule.channels.sides)
            columns["displacement"][row] = draw(
                st.lists(st.integers(-far, far), min_size=(d := schedule.channels.dimensions), max_size=d)
            )
        else:
            columns["payload"][row] = draw(st.integers(-1, schedule.payloads.count - 1))
    order = np.argsort(columns["step"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    return schedule.replace(**columns, control_bytes=None)
