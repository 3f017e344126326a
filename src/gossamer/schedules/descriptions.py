"""Plain values for what a schedule is about, and back: networks, phases of control packets, exact lengths."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gossamer import reading
from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray, Network
from gossamer.networks.spec import network as parse_network
from gossamer.networks.spec import network_size, reads_file
from gossamer.schedules.columns import whole
from gossamer.schedules.stored import Room

__all__ = ["complete", "control_phases", "network_from_dict", "network_to_dict", "with_control"]

_LINK, _NODE = 16, 32
"""Bytes that a network takes for a link and for a node while it is built, about."""


def complete(fields: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields if all that are expected are there, so that no default stands for what is lost; else KeyError.

    >>> complete({"a": 1}, {"a": 0, "b": 0})
    Traceback (most recent call last):
    KeyError: 'b'
    """
    for name in expected:
        fields[name]
    return dict(fields)


def control_phases(phases: Sequence[Any]) -> dict[str, list[int]]:
    """Return the description of which phases are for control packets; nothing where none is."""
    positions = [i for i, phase in enumerate(phases) if phase.control]
    return {"control_phases": positions} if positions else {}


def with_control(header: Mapping[str, Any], phases: Sequence[Any]) -> Iterator[tuple[Any, bool]]:
    """Yield each phase of a description with whether it is for control packets; ScheduleError if there is none such."""
    positions = header.get("control_phases", [])
    for i in positions:
        reading.whole(i, "the number of a control phase", 0, len(phases) - 1, error=ScheduleError)
    for i, phase in enumerate(phases):
        yield phase, i in positions


def network_to_dict(network: Network, *, text: bool = False) -> dict[str, Any]:
    """Return plain values for a network: its spec and a hash of its links, or the links where it has no spec.

    With `text` the links are a list of ``[source, target, capacity]``, otherwise they are packed.
    """
    if not network.links_only:
        return {"spec": network.spec, "fingerprint": network.fingerprint}
    links = np.stack([network.link_source, network.link_target, network.link_capacity]).astype("<i4")
    return {
        "name": network.spec,
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "fingerprint": network.fingerprint,
        "labels": network.labels,
        "links": links.T.tolist() if text else base64.b64encode(zlib.compress(links.tobytes(), 6)).decode(),
    }


def network_from_dict(fields: dict[str, Any], room: Room) -> Network:
    """Return the network that `network_to_dict` described.

    Raises
    ------
    ValueError
        If it is another one, or is too large for the room of its file.
    """
    if "links" in fields:
        nodes = whole(fields["nodes"], "the number of nodes", 1)
        room.take(_NODE * nodes, f"a network of {nodes} nodes")
        source, target, capacity = _links(fields["links"], room)
        network = Network(
            fields["name"],
            nodes,
            source,
            target,
            capacity,
            terminal_count=fields["terminals"],
            labels=fields["labels"],
            links_only=True,
        )
    else:
        spec = fields["spec"]
        if reads_file(spec):
            raise ValueError("its network is another file")  # files hold the links of such networks
        size = network_size(spec)
        room.take(_LINK * size.links + _NODE * size.nodes, f"network {spec!r}")
        network = parse_network(spec)
    if network.fingerprint != fields["fingerprint"]:
        raise ValueError(f"the links of network {network.spec!r} are not those that the file was made with")
    return network


def _links(given: Any, room: Room) -> tuple[IntArray, IntArray, IntArray]:
    """Return sources, targets and capacities from a list, or unpacked as far as there is room."""
    if isinstance(given, list):
        room.take(_LINK * len(given), "its links")
        source, target, capacity = np.array(given, np.int32).reshape(-1, 3).T
        return source, target, capacity
    most = room.left * 12 // (12 + _LINK)
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(given), most)
    if not unpacking.eof:
        if unpacking.unconsumed_tail:
            room.take(room.left + 1, "its links")
        raise ValueError("its links are truncated")
    room.take(len(raw) * (12 + _LINK) // 12, "its links")
    source, target, capacity = np.frombuffer(raw, "<i4").reshape(3, -1)
    return source, target, capacity
