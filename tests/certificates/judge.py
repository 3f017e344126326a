"""The verdict of gossamer's own checker on a certificate, every transfer of which is written out for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.errors import GossamerError
from gossamer.networks import Network, SharedPorts
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, Messages, Task
from gossamer.schedules import Phase, Schedule
from gossamer.verification import verify

MOST = 50_000
PORTS = {(None, None): "all", (1, 1): "one", (1, None): "one-send", (None, 1): "one-receive"}


class NotComparableError(Exception):
    """What a certificate says cannot be said to gossamer's checker."""


class Packets(Task):
    """Each packet of a certificate as a message; of sums with several goals the k-th alone, unless all contribute."""

    name = "packets"

    def __init__(self, items: list[dict[str, Any]], k: int) -> None:
        origin, kinds, ends = [], [], []
        for item in items:
            sources, targets = item["from"], item["to"]
            if item["kind"] == "copy" or len(sources) == 1:
                if len(sources) > 1:
                    raise NotComparableError("several sources of a copy")
                kinds.append(COPY)
                origin.append(sources[0])
                ends.append([v for v in targets if v != sources[0]])
            elif set(sources) == set(targets):
                kinds.append(ALLCOMBINE)
                origin.append(sources[0])
                ends.append(sources)
            else:
                kinds.append(COMBINE)
                origin.append(targets[k % len(targets)])
                ends.append(sources)
        start = np.cumsum([0, *map(len, ends)])
        flat = np.array([v for row in ends for v in row], np.int32)
        self._messages = Messages(
            np.arange(len(kinds)), np.array(origin, np.int32), np.array(kinds, np.uint8), start, flat
        )

    def messages(self, network: Network, origins: Any = None) -> Messages:
        return self._messages


def network_of(data: dict[str, Any]) -> tuple[Network, np.ndarray]:
    """Return the network of a certificate, and for each of its links the number there."""
    given = data["network"]
    source = np.array(given["source"], int)
    order = np.argsort(source, kind="stable")
    number = np.empty(order.size, int)
    number[order] = np.arange(order.size)

    def column(name: str) -> np.ndarray:
        values = given[name]
        return np.full(order.size, values) if isinstance(values, int) else np.array(values)[order]

    net = Network(
        "certified", given["nodes"], source[order], np.array(given["target"], int)[order], column("capacity"),
        link_occupancy=column("occupancy"), link_latency=column("latency"), terminal_count=given["ranks"],
        links_only=True,
    )  # fmt: skip
    ports = given.get("shared", [])
    if not ports:
        return net, number
    sides = np.full((2, order.size), -1)
    for p, port in enumerate(ports):
        places = number[port["links"]]
        if (sides[int(port["receiving"]), places] >= 0).any():
            raise NotComparableError("a link in several ports")
        sides[int(port["receiving"]), places] = p
    capacity, held = ([port[name] for port in ports] for name in ("capacity", "occupancy"))
    return net.with_ports(SharedPorts(sides[0], sides[1], capacity, held)), number


def images(data: dict[str, Any]) -> list[tuple[list[int], list[int]]]:
    """Return every member of the group of a certificate, as what it makes of nodes and of links."""
    source, target = data["network"]["source"], data["network"]["target"]
    between: dict[tuple[int, int], list[int]] = {}
    for link, ends in enumerate(zip(source, target, strict=True)):
        between.setdefault(ends, []).append(link)
    found = [tuple(range(data["network"]["nodes"]))]
    for p in found:
        for g in data.get("symmetry", {}).get("generators", []):
            product = tuple(g[v] for v in p)
            if product not in found:
                found.append(product)
    links = []
    for p in found:
        image = [0] * len(source)
        for (u, v), some in between.items():
            for a, b in zip(some, between[p[u], p[v]], strict=True):
                image[a] = b
        links.append(image)
    return list(zip(map(list, found), links, strict=True))


def explicit(data: dict[str, Any]) -> tuple[list[dict[str, Any]], list[tuple[int, int, int, int]]]:
    """Return each packet that travels as an item, and all transfers: slot, link, packet, and what they carry."""
    ranks, plan = data["network"]["ranks"], data["schedule"]
    again = plan.get("repetition", {"period": 1, "generations": 1})
    carries = plan.get("carries", [-1] * len(plan["slot"]))
    rows = list(zip(plan["slot"], plan["link"], plan["packet"], carries, strict=True))
    group = images(data)
    if len(group) * again["generations"] * len(rows) > MOST:
        raise NotComparableError("too many transfers")
    packets = []
    for item in data["task"]["items"]:
        ends = {name: list(range(ranks)) if item[name] == "all" else item[name] for name in ("from", "to")}
        if item["kind"] == "copy":
            ends["to"] = [v for v in ends["to"] if v not in ends["from"]]
        packets += [{"kind": item["kind"], **ends}] * (item["packets"] // again["generations"])
    every, hops = [], []
    for nodes, links in group:
        for g in range(again["generations"]):
            first, row = len(every), len(hops)
            every += [
                {"kind": p["kind"], **{name: [nodes[v] for v in p[name]] for name in ("from", "to")}} for p in packets
            ]
            shift = g * again["period"]
            hops += [
                (t + shift, links[e], first + p, c + row if c >= 0 else c - shift if c < -1 else -1)
                for t, e, p, c in rows
            ]
    return every, hops


def judged(data: dict[str, Any]) -> str | None:
    """Return what gossamer's checker has against the schedule of a certificate; None for nothing.

    Raises
    ------
    NotComparableError
        If it cannot be said to that checker.
    """
    plan, rules = data["schedule"], data["rules"]
    length = Fraction(data["time"]["slot"])
    time = sum((p["slots"] * Fraction(p["length"]) for p in plan["phases"]), Fraction(0))
    if Fraction(data["claim"]["time"]) != time:
        return "another completion time"
    first = 0
    for phase in plan["phases"]:
        if Fraction(phase["length"]) < length and any(first <= t < first + phase["slots"] for t in plan["slot"]):
            return "a short slot"
        first += phase["slots"]
    ports = (rules["send"], rules["receive"])
    if ports not in PORTS:
        raise NotComparableError("several packets in a port")
    try:
        net, number = network_of(data)
        items, hops = explicit(data)
        order = sorted(range(len(hops)), key=lambda i: hops[i][0])
        place = {old: new for new, old in enumerate(order)}
        sums = [items[hops[i][2]]["kind"] == "sum" and len(items[hops[i][2]]["from"]) > 1 for i in order]
        repeats = [
            -1 if not of_sum else place[hops[i][3]] if hops[i][3] >= 0 else hops[i][3]
            for i, of_sum in zip(order, sums, strict=True)
        ]
        columns = [[hops[i][0] for i in order], number[[hops[i][1] for i in order]], [hops[i][2] for i in order]]
        given = Rules(
            ports=PORTS[ports], buffer=rules["buffer"], buffer_counts=rules["buffer_counts"],
            cut_through=rules["cut_through"], replication=rules["switches_copy"], reduction=rules["switches_add"],
        )  # fmt: skip
        goals = max((len(i["to"]) for i in items if i["kind"] == "sum" and set(i["from"]) != set(i["to"])), default=1)
        for k in range(goals):
            schedule = Schedule(
                net, Packets(items, k), given, *columns, phases=[Phase("all", first)],
                repeats=None if set(repeats) <= {-1} else repeats,
            )  # fmt: skip
            found = verify(schedule)
            copies = [v for v in found.violations if v.kind == "duplicate" and not any(sums)]
            if set(found.counts) == {"buffer"} and any(sums):
                raise NotComparableError("a sum that is replaced leaves the buffer")
            if not found and len(copies) < sum(found.counts.values()):
                return str(found)
    except GossamerError as error:
        raise NotComparableError(str(error)) from error
    return None
