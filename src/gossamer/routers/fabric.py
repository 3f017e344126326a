"""The state of a simulation: routers with empty buffers, and a table of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.routers.settings import Routers
from gossamer.wormhole.channels import Channels

if TYPE_CHECKING:
    from gossamer.routers._kernels import State

__all__ = ["crossings", "entries", "grown", "injection_port", "new_state", "write_messages"]


def new_state(channels: Channels, settings: Routers, messages: int, record: int = 0) -> State:
    """Return routers with empty buffers, with room for `messages` messages and a record of `record` rows.

    Raises
    ------
    ModelError
        If the network has rings and the settings do not suffice for datelines.
    """
    from gossamer.routers import _kernels as k

    d, n, lanes, depth = (
        channels.dimensions,
        channels.network.node_count,
        settings.virtual_channels,
        settings.buffer_depth,
    )
    if any(channels.wraps) and settings.dateline != "none" and lanes < 2:
        raise ModelError(
            f"datelines on the rings of {channels.network.spec} need virtual_channels of at least 2, got {lanes}; "
            "with dateline 'none' messages can deadlock"
        )
    injection = 2 * d if settings.injection == "channels" else 1
    ports = 2 * d + injection
    rules = np.zeros(k.RULES, np.int64)
    rules[[k.DIMENSIONS, k.PORTS, k.LANES, k.DEPTH]] = d, ports, lanes, depth
    rules[[k.ROUTER_DELAY, k.CREDIT_DELAY]] = settings.router_delay, settings.credit_delay
    rules[[k.INJECTION_LANES, k.NODE_EJECTION]] = settings.injection_lanes, settings.ejection == "node"
    rules[k.DATELINE] = {"none": 0, "plain": 1, "balanced": 2}[settings.dateline]
    queue = np.zeros((n, ports, lanes, 8), np.int64)
    queue[..., k.OUT] = k.FREE
    queue[..., k.OWNER] = -1
    queue[..., k.NODE] = np.arange(n)[:, None, None]
    queue[..., k.PORT] = np.arange(ports)[:, None]
    queue[..., k.LANE] = np.arange(lanes)
    output = np.zeros((n, 2 * d + 1, 5), np.int64)
    output[:, : 2 * d, k.ENTRY] = _entries(channels, ports, lanes)
    node = np.zeros((n, k.COORDINATE + d), np.int64)
    node[:, k.COORDINATE :] = channels.coordinates(np.arange(n))
    return k.State(
        rules=rules,
        sides=np.array(channels.sides, np.int64),
        wraps=np.array(channels.wraps, np.int64),
        queue=queue.reshape(-1, 8),
        slot=np.zeros((n * ports * lanes * depth, 3), np.int64),
        port=np.zeros((n * ports, 2), np.int64),
        output=output.reshape(-1, 5),
        node=node,
        active=np.zeros(2 * n, np.int64),
        backlog=np.full((n * injection, 2), -1, np.int64),
        message=np.zeros((messages, k.REMAINING + d), np.int64),
        dependent_first=np.zeros(1, np.int64),
        dependent=np.zeros(0, np.int64),
        released=np.zeros(0, np.int64),
        wanted=np.zeros((2 * d + 1, 4), np.int64),
        found=np.zeros(ports * lanes, np.int64),
        record=np.zeros((record, 5), np.int64),
        counters=np.zeros(k.COUNTERS, np.int64),
    )


def grown(state: State, messages: int) -> State:
    """Return the state with room for more messages, the present ones in their places."""
    old = state.message
    new = np.zeros((messages, old.shape[1]), np.int64)
    new[: len(old)] = old
    return state._replace(message=new)


def write_messages(
    state: State,
    rows: npt.NDArray[np.integer] | slice,
    settings: Routers,
    source: npt.NDArray[np.integer],
    displacement: npt.NDArray[np.integer],
    flits: npt.NDArray[np.integer] | int,
) -> None:
    """Write messages that are still to be released to rows of the table.

    `source` int[M], `displacement` int[M, d] signed hops, `flits` int[M].
    """
    from gossamer.routers import _kernels as k

    state.message[rows, k.SOURCE] = source
    state.message[rows, k.AT_PORT] = injection_port(settings, displacement)
    state.message[rows, k.FLITS] = flits
    state.message[rows, k.FINISHED] = -1
    state.message[rows, k.REMAINING :] = displacement


def injection_port(settings: Routers, displacement: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the source queue of messages with displacements of shape (M, d): that of the first channel, int64[M]."""
    if settings.injection == "node":
        return np.zeros(len(displacement), np.int64)
    first = (displacement != 0).argmax(axis=1)
    sign = np.take_along_axis(displacement, first[:, None], axis=1)[:, 0]
    return np.asarray(2 * first + (sign < 0), np.int64)


def crossings(state: State) -> npt.NDArray[np.int64]:
    """Return the flits that crossed each channel, int64[2 N d]."""
    from gossamer.routers import _kernels as k

    outputs = 2 * int(state.rules[k.DIMENSIONS]) + 1
    return np.array(state.output[:, k.CROSSED].reshape(-1, outputs)[:, :-1].reshape(-1), np.int64)


def entries(state: State) -> npt.NDArray[np.int64]:
    """Return the first queue that each channel fills, -1 for numbers without a channel, int64[2 N d]."""
    from gossamer.routers import _kernels as k

    outputs = 2 * int(state.rules[k.DIMENSIONS]) + 1
    return np.array(state.output[:, k.ENTRY].reshape(-1, outputs)[:, :-1].reshape(-1), np.int64)


def _entries(channels: Channels, ports: int, lanes: int) -> npt.NDArray[np.int64]:
    """Return the first queue that each channel fills, -1 for numbers without a channel, int64[N, 2d]."""
    d, n = channels.dimensions, channels.network.node_count
    place = np.arange(2 * d)
    move = np.zeros((2 * d, d), np.int64)
    move[place, place // 2] = 1 - 2 * (place % 2)
    target = channels.target(np.arange(n)[:, None], move).astype(np.int64)
    return np.where(channels.exists.reshape(n, 2 * d), (target * ports + place) * lanes, -1)
