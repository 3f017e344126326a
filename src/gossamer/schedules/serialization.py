"""Plain values for what a schedule is about, and back: networks, rules, phases of control packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import reading
from gossamer.errors import GossamerError, ScheduleError
from gossamer.networks.network import Failed, IntArray, Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.spec import network as parse_network
from gossamer.networks.spec import network_size, reads_file
from gossamer.networks.structures import CableCounts, Coordinates, Speeds, Structure, int_array
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.schedules.columns import packed, unpacked, whole
from gossamer.schedules.table_files import Room

_OF_SWITCHES = ("cut_through", "replication", "reduction")

_PORT_COLUMNS = ("sending", "receiving", "capacity", "occupancy")

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


def rules_to_dict(rules: Rules, cost: StepCost, network: Network | None = None) -> dict[str, Any]:
    """Return the rules and the cost of a schedule as plain values, under one name in files.

    What the rules say of switches is among them where the network has switches, or it is not the default.

    >>> list(rules_to_dict(Rules(), StepCost()))
    ['ports', 'split', 'control_time', 'buffer', 'buffer_counts']
    """
    plain = rules.to_dict() | cost.to_dict()
    names: tuple[str, ...] = ("ports", "split", "control_time", "buffer", "buffer_counts")
    default, switched = Rules(), network is not None and network.terminal_count < network.node_count
    if switched or any(getattr(rules, name) != getattr(default, name) for name in _OF_SWITCHES):
        names += _OF_SWITCHES
    return {name: plain[name] for name in names}


def rules_of_switches(fields: Mapping[str, Any], network: Network) -> dict[str, Any]:
    """Return what a file says of switches: nothing in files of old, when switches replicated and reduced."""
    if any(name in fields for name in _OF_SWITCHES):
        return {name: fields[name] for name in _OF_SWITCHES}
    return {"reduction": True} if network.terminal_count < network.node_count else {}


def network_to_dict(network: Network, *, text: bool = False) -> dict[str, Any]:
    """Return plain values for a network: its spec and a hash of its links, or the links where it has no spec.

    Times and speeds of links stand beside either, and the network before some of it failed. With `text` the links are
    a list of ``[source, target, capacity]``, otherwise they are packed.
    """
    if not network.links_only:
        return {"spec": network.spec, "fingerprint": network.fingerprint}
    links = np.stack([network.link_source, network.link_target, network.link_capacity])
    told: dict[str, Any] = {"fingerprint": network.fingerprint}
    if network.uniform_occupancy != 1 or network.uniform_latency != 0:
        told["times"] = {"occupancy": _told(network.link_occupancy, text), "latency": _told(network.link_latency, text)}
    speeds = network.find(Speeds)
    if speeds is not None:
        told["speeds"] = {"bandwidth": _told(speeds.bandwidth, text), "latency": _told(speeds.latency, text)}
    failed = network.find(Failed)
    if failed is not None:
        told["failed"] = _failure_to_dict(failed, text)
    ports = network.shared_ports
    if ports is not None:
        told["shared_ports"] = {name: _told(getattr(ports, name), text) for name in _PORT_COLUMNS} | {
            "bandwidth": None if ports.bandwidth is None else _told(ports.bandwidth, text),
            "names": list(ports.names or ()),
        }
    if has_spec(network):
        return {"spec": network.spec, **told}
    places, cables = network.coordinates, network.find(CableCounts)
    return {
        "name": network.spec,
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "labels": network.labels,
        "links": links.T.tolist() if text else packed(links.astype(np.int32)),
        **({} if places is None or network.labels is not None else {"coordinates": places.tolist()}),
        **({} if cables is None else {"cables": _told(cables.count, text)}),
        **told,
    }


def has_spec(network: Network) -> bool:
    """Return whether a file can name the network by its spec, perhaps with times and speeds beside it.

    >>> has_spec(parse_network("ring:4").with_times(2, 1))
    True
    """
    if not network.links_only:
        return True
    if network.plain and network.find(Speeds) is None:
        return False
    try:
        if reads_file(network.spec) or network_size(network.spec) != (network.node_count, network.link_count):
            return False
        plain = parse_network(network.spec)
    except GossamerError:
        return False
    return plain.terminal_count == network.terminal_count and all(
        np.array_equal(getattr(plain, name), getattr(network, name))
        for name in ("link_source", "link_target", "link_capacity")
    )


def network_from_dict(fields: dict[str, Any], room: Room) -> Network:
    """Return the network that `network_to_dict` described.

    Raises ValueError if it is another one, or is too large for the room of its file.
    """
    if "links" in fields:
        nodes = whole(fields["nodes"], "the number of nodes", 1)
        room.take(_NODE * nodes, f"a network of {nodes} nodes")
        source, target, capacity = _links(fields["links"], room)
        terminals, labels, spec = fields["terminals"], fields["labels"], fields["name"]
        structures: tuple[Structure, ...] = ()
        if "coordinates" in fields:
            structures = (Coordinates(fields["coordinates"]),)
    else:
        spec = fields["spec"]
        if reads_file(spec):
            raise ValueError("its network is another file")  # files hold the links of such networks
        size = network_size(spec)
        room.take(_LINK * size.links + _NODE * size.nodes, f"network {spec!r}")
        network = parse_network(spec)
        nodes, terminals, labels, structures = size.nodes, network.terminal_count, network.labels, network.structures
        source, target, capacity = network.link_source, network.link_target, network.link_capacity
    count = len(source)
    if "failed" in fields:
        failed = _failure(fields["failed"], (nodes, source, target), room)
        kept = [s.remaining(failed.nodes, failed.links) for s in failed.sound.structures]
        known = (SharedPorts, *map(type, structures))
        structures = (*structures, *(s for s in kept if s is not None and not isinstance(s, known)), failed)
    if any(name in fields for name in ("links", "times", "speeds", "shared_ports")):
        structures = tuple(s for s in structures if not isinstance(s, Speeds))  # the file's own take their place
        if "cables" in fields:
            cables = CableCounts(np.broadcast_to(_column(fields["cables"], "<i4", count, room), count))
            structures = (*(s for s in structures if not isinstance(s, CableCounts)), cables)
        times, speeds = fields.get("times", {"occupancy": 1, "latency": 0}), fields.get("speeds")
        if speeds is not None:
            bandwidth, latency = (_column(speeds[name], "<f8", count, room) for name in ("bandwidth", "latency"))
            structures = (*structures, Speeds(np.broadcast_to(bandwidth, count), np.broadcast_to(latency, count)))
        if "shared_ports" in fields:
            structures = (*structures, _shared_ports(fields["shared_ports"], count, room))
        network = Network(
            spec,
            nodes,
            source,
            target,
            capacity,
            link_occupancy=_column(times["occupancy"], "<i4", count, room),
            link_latency=_column(times["latency"], "<i4", count, room),
            terminal_count=terminals,
            structures=structures,
            labels=labels,
            links_only=True,
        )
    if network.fingerprint != fields["fingerprint"]:
        raise ValueError(f"the links of network {network.spec!r} are not those that the file was made with")
    return network


def _failure_to_dict(failed: Failed, text: bool) -> dict[str, Any]:
    """Return plain values for what failed: the sound network, the links lost, and its nodes where they are others."""

    def told(numbers: npt.NDArray[np.integer[Any]]) -> Any:
        return numbers.tolist() if text else packed(numbers.astype(np.int32))

    sound = failed.sound
    lost = np.setdiff1d(np.arange(sound.link_count), failed.links)
    same = np.array_equal(failed.nodes, np.arange(sound.node_count))
    nodes = {} if same else {"nodes": told(failed.nodes)}
    return {"sound": network_to_dict(sound, text=text), "lost": told(lost), **nodes, "words": failed.words}


def _failure(fields: Mapping[str, Any], left: tuple[int, IntArray, IntArray], room: Room) -> Failed:
    """Return what failed, as `_failure_to_dict` described it; ValueError if `left` is not what is left then.

    `left` is the number of nodes, and the source and the target of each link.
    """
    if "failed" in fields["sound"]:
        raise ValueError("a sound network is one of which nothing failed")
    sound = network_from_dict(fields["sound"], room)
    room.take(3 * _LINK * sound.link_count + _NODE * sound.node_count, "what failed of its network")
    numbers = [
        np.arange(sound.node_count, dtype=np.int32) if name not in fields
        else np.array(fields[name], np.int64) if isinstance(fields[name], list)
        else np.frombuffer(unpacked(fields[name], 4 * most + 8, "what failed of its network"), "<i4")
        for name, most in (("nodes", sound.node_count), ("lost", sound.link_count))
    ]  # fmt: skip
    for each, most in zip(numbers, (sound.node_count, sound.link_count), strict=True):
        if each.size and (each.ndim != 1 or each.min() < 0 or each.max() >= most or np.unique(each).size < each.size):
            raise ValueError("what failed must be nodes and links of the sound network, each once")
    kept, lost = numbers
    new = np.full(sound.node_count, -1, np.int32)
    new[kept] = np.arange(kept.size, dtype=np.int32)
    there = (new[sound.link_source] >= 0) & (new[sound.link_target] >= 0)
    there[lost] = False
    links = np.flatnonzero(there).astype(np.int32)
    links = links[np.argsort(new[sound.link_source[links]], kind="stable")]
    count, source, target = left
    ends = new[sound.link_source[links]], new[sound.link_target[links]]
    if kept.size != count or not all(map(np.array_equal, ends, (source, target))):
        raise ValueError("its network is not what is left of the sound one")
    words = fields["words"]
    if not isinstance(words, str):
        raise ValueError("what failed must be told in words")
    return Failed(sound, int_array(kept.astype(np.int32), "nodes"), int_array(links, "links"), words)


def _shared_ports(fields: Mapping[str, Any], links: int, room: Room) -> SharedPorts:
    """Return the shared ports that a file tells; ValueError if they are none such."""
    names = fields["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of ports must be a list of texts")
    count = len(names)
    room.take(_NODE * count, "its ports")
    sending, receiving = (
        np.array(np.broadcast_to(_column(fields[name], "<i4", links, room), links)) for name in _PORT_COLUMNS[:2]
    )
    if any(side.size and int(side.max()) >= count for side in (sending, receiving)):
        raise ValueError(f"links go through ports beyond the {count} that have names")
    capacity, occupancy = (_column(fields[name], "<i4", count, room) for name in _PORT_COLUMNS[2:])
    rates = fields["bandwidth"]
    bandwidth = None if rates is None else np.broadcast_to(_column(rates, "<f8", count, room), count)
    return SharedPorts(sending, receiving, capacity, occupancy, bandwidth, names)


def _told(values: npt.NDArray[Any], text: bool) -> Any:
    """Return a value for each link: one number where all have the same, a list with `text`, otherwise packed."""
    if values.size and bool((values == values[0]).all()):
        return values[0].item()
    return values.tolist() if text else packed(values.astype(np.float64 if values.dtype.kind == "f" else np.int32))


def _column(given: Any, kind: str, count: int, room: Room) -> npt.NDArray[Any]:
    """Return a value for each link, or one that all have, from what `_told` made; ValueError if it is none such."""
    what = "the times and speeds of its links"
    if isinstance(given, bool) or not isinstance(given, int | float | list | str):
        raise ValueError(f"{what} must be numbers")
    room.take(8 * count, what)
    if isinstance(given, str):
        column = np.frombuffer(unpacked(given, 8 * count + 8, what), kind)
    else:
        column = np.array(given)
        if column.dtype.kind not in ("iuf" if kind == "<f8" else "iu"):
            raise ValueError(f"{what} must be numbers")
    if column.shape not in ((), (count,)):
        raise ValueError(f"{what} must be one for each of {count} links")
    return column.astype(np.float64) if kind == "<f8" else column


def _links(given: Any, room: Room) -> tuple[IntArray, IntArray, IntArray]:
    """Return sources, targets and capacities from a list, or unpacked as far as there is room."""
    if isinstance(given, list):
        room.take(_LINK * len(given), "its links")
        source, target, capacity = np.array(given, np.int32).reshape(-1, 3).T
        return source, target, capacity
    raw = unpacked(given, room.left * 12 // (12 + _LINK), "its links")
    room.take(len(raw) * (12 + _LINK) // 12, "its links")
    source, target, capacity = np.frombuffer(raw, "<i4").reshape(3, -1)
    return source, target, capacity
