"""Networks of simulators: platforms of SimGrid, topologies of ns-3's models of RDMA, BookSim's anynet, htsim's trees.

A platform of SimGrid has hosts and routers in zones, links, and routes, which say what links lead from where to where.
From them the ends of links are found. A link that joins more than two places is a bus.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring
from gossamer.networks.clos import generalized_fat_tree
from gossamer.networks.family import MAX_CAPACITY
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions, Speeds
from gossamer.reading.files import Element, file_name, read_xml, text_lines

__all__ = ["BOOKSIM", "HTSIM", "NS3", "SIMGRID", "read_simgrid"]

# SimGrid: zones, hosts, links, routes, clusters.

_BYTES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BYTES |= {"ki": 2**10, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SECONDS = {"": Fraction(1), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
_SECONDS |= {unit: Fraction(1, 1000**k) for k, unit in enumerate(("ms", "us", "ns", "ps"), 1)}
_BYTES_FORM, _SECONDS_FORM = "(?P<unit>[kKMGT]i?)?(?P<of>Bps|bps)?", "(?P<unit>[munp]?s|m|h)?"
_PASSED = ("config", "prop", "disk", "storage", "storage_type", "mount", "actor", "process", "argument")
"""Elements that say nothing of the network."""
_ROUTES = ("route", "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute", "bypassASroute")
_REFUSED = {
    "trace": "leave it out, and give each link the bandwidth and latency to plan for",
    "trace_connect": "leave it out, and give each link the bandwidth and latency to plan for",
    "peer": "its latencies are those of coordinates; write a host, a link and routes for it",
    "cabinet": "write a cluster, or hosts, links and routes for it",
    "host_link": "write routes for it",
    "backbone": "write routes for it, or a cluster with bb_bw and bb_lat",
}
"""Elements that are not read, and what to write for them."""
_ROUTINGS = ("full", "floyd", "dijkstra", "dijkstracache", "none", "")
_MOST_HOSTS = 1_000_000


class _Route(NamedTuple):
    """Links from a host or router to another, each with the direction of a split link: up, down or neither.

    `named` says whether it is of zones, and of which two hosts or zones. `kind` is ``bypass``, ``full`` in a zone whose
    routing is full, or empty.
    """

    source: str
    target: str
    links: list[tuple[str, str]]
    both: bool
    where: str
    named: tuple[bool, str, str]
    kind: str


@dataclass
class _Platform:
    """What has been read so far: nodes, links with their kinds and policies, routes, finished cables."""

    name: str
    wiring: Wiring
    hosts: dict[str, None] = field(default_factory=dict)
    routers: dict[str, None] = field(default_factory=dict)
    links: dict[str, tuple[LinkKind, str]] = field(default_factory=dict)
    routes: list[_Route] = field(default_factory=list)
    zones: set[str] = field(default_factory=set)
    known: set[tuple[bool, bool, tuple[str, str]]] = field(default_factory=set)  # routes: bypassing, of zones, ends
    between: list[tuple[tuple[str, str], str]] = field(default_factory=list)  # zones that routes name, and where
    outer: dict[str, list[str]] = field(default_factory=dict)  # of clusters with a backbone: in, out, by their router
    unlimited: list[tuple[str, str, str, LinkKind]] = field(default_factory=list)  # FATPIPE: place, ends, one way

    def where(self, element: Element) -> str:
        return f"{self.name}, line {element.line}"

    def refused(self, element: Element, what: str) -> FileFormatError:
        return FileFormatError(f"{self.where(element)}: {what}")

    def attribute(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise self.refused(element, f"{element.name!r} has no attribute {name!r}")
        return element.attributes[name]

    def node(self, element: Element, name: str, host: bool) -> None:
        if name in self.hosts or name in self.routers:
            raise self.refused(element, f"{shown(name)} is there twice")
        (self.hosts if host else self.routers)[name] = None
        if len(self.hosts) + len(self.routers) > _MOST_HOSTS:
            raise self.refused(element, f"there are over {_MOST_HOSTS:,} hosts")

    def kind(self, element: Element, rate: str, delay: str | None) -> LinkKind:
        """Return the kind of a link of two attributes, with the units that SimGrid has."""
        seconds = 0.0 if delay is None else _number(self, element, delay, _SECONDS_FORM)
        return LinkKind(_number(self, element, rate, _BYTES_FORM), seconds)


def _number(platform: _Platform, element: Element, name: str, form: str) -> float:
    """Return a bandwidth in bytes a second, or a time in seconds, with the units that SimGrid has."""
    value, of_bytes = platform.attribute(element, name), form is _BYTES_FORM
    number = r"(?P<number>[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,2})?|\.[0-9]{1,20})"
    match = re.fullmatch(rf"{number}\s*(?:{form})", value.strip())
    units: Mapping[str, Fraction | int] = _BYTES if of_bytes else _SECONDS
    found = None if match is None else Fraction(match["number"]) * units.get(match["unit"] or "", 0)
    if match is None or found is None or (of_bytes and not found):
        allowed = "such as 125MBps or 1Gbps" if of_bytes else "such as 50us"
        raise platform.refused(element, f"{name} must be {allowed}, got {shown(value)}")
    return float(found / 8 if of_bytes and match["of"] == "bps" else found)


def read_simgrid(path: str | PathLike[str]) -> Network:
    """Read a platform of SimGrid (version 4 of its XML).

    Parameters
    ----------
    path : path
        The XML: zones with the routing ``Full``, ``Floyd`` or ``Dijkstra``, hosts, routers, links, routes; clusters
        that are flat, a ``TORUS``, a ``FAT_TREE`` or a ``DRAGONFLY``.

    Returns
    -------
    Network
        Hosts are the terminals, in the order of the file, with their names as labels; routers, and places where links
        of a route meet, are switches. A link is what its routes say: one way if they use it one way; both ways apart if
        its ``sharing_policy`` is ``SPLITDUPLEX``, in turns (half-duplex) if it is ``SHARED``; if it is ``FATPIPE``,
        with room for a packet of each host. The ``limiter_link`` of a flat cluster is a port that what a host sends and
        what it receives share. A ``bypassRoute`` takes the place of the route of its hosts in a ``Full`` zone, one way.
        Routers on no route are left out. A bus, a shared link that alone joins more than two, is a link between any
        two of them through one shared port; one between other links is a link from where these come in to where they
        go out. Speeds of hosts, and what does not concern the network, are passed over.

    Raises
    ------
    FileFormatError
        If the file is no such XML, or (with the line number) an element is malformed or not read, such as a link that
        would have more than two ends.
    """
    root = read_xml(path, "SimGrid platform")
    name = f"SimGrid platform {file_name(path)}"
    if root.name != "platform":
        text = f"the outermost element must be 'platform', got {shown(root.name)}"
        raise FileFormatError(f"{name}, line {root.line}: {text}")
    if not re.match(r"4(\.|$)", root.attributes.get("version", "")):
        told = shown(root.attributes.get("version", "none"))
        raise FileFormatError(f"{name}, line {root.line}: version must be 4 or 4.1, got {told}")
    platform = _Platform(name, Wiring(name))
    _zone(platform, root)
    _check_zones(platform)
    _bypass(platform)
    if not platform.hosts:
        raise FileFormatError(f"{name}: there are no hosts")
    _buses(platform)
    junctions = _cables(platform)
    assumed = []
    if platform.unlimited:
        most = min(len(platform.hosts), MAX_CAPACITY)
        for where, source, target, kind in platform.unlimited:
            platform.wiring.add(where, source, target, most, kind, one_way=True)
        text = f"FATPIPE, as fast for any number of flows, is a capacity of a packet for each of {most:,} hosts at once"
        assumed = [Assumptions((Assumption(text),))]
    joined = {end for (u, v, _), _ in platform.wiring.links() for end in (u, v)}
    routers = [router for router in platform.routers if router in joined or not joined]  # others are on no route
    nodes = [*platform.hosts, *routers, *junctions]
    return platform.wiring.network(f"simgrid:{path}", nodes, len(platform.hosts), nodes, assumed)


def _zone(platform: _Platform, zone: Element) -> None:
    """Read what is in a zone; routes come last, as they may name what follows them."""
    if zone.attributes.get("routing", "").lower() not in _ROUTINGS:
        told = f"routing must be Full, Floyd, Dijkstra or None, got {shown(zone.attributes['routing'])}"
        raise platform.refused(zone, told)
    full = zone.attributes.get("routing", "").lower() == "full"
    if zone.name in ("zone", "AS"):
        platform.zones.add(zone.attributes.get("id", ""))
    for element in zone.inner:
        if element.name in ("zone", "AS"):
            _zone(platform, element)
        elif element.name in ("host", "router"):
            platform.node(element, platform.attribute(element, "id"), element.name == "host")
        elif element.name == "link":
            _link(platform, element)
        elif element.name == "cluster":
            _cluster(platform, element)
        elif element.name in _ROUTES:
            _route(platform, element, full)
        elif element.name in _REFUSED:
            raise platform.refused(element, f"element {shown(element.name)} is not read: {_REFUSED[element.name]}")
        elif element.name not in _PASSED:
            known = ("zone", "host", "router", "link", "cluster", "route", "zoneRoute")
            hint = nearest(element.name, known) or f"; read are: {', '.join(known)}"
            raise platform.refused(element, f"element {shown(element.name)} is not read{hint}")


def _link(platform: _Platform, element: Element) -> None:
    name = platform.attribute(element, "id")
    if name in platform.links:
        raise platform.refused(element, f"link {shown(name)} is there twice")
    for changing in ("bandwidth_file", "latency_file", "state_file"):
        if changing in element.attributes:
            raise platform.refused(element, f"{changing} changes link {shown(name)} over time, which is not read")
    policy = _policy(platform, element, "SHARED")
    delay = "latency" if "latency" in element.attributes else None
    platform.links[name] = (platform.kind(element, "bandwidth", delay), policy)


def _policy(platform: _Platform, element: Element, default: str, name: str = "sharing_policy") -> str:
    policy = element.attributes.get(name, default)
    if policy not in ("SHARED", "SPLITDUPLEX", "FATPIPE"):
        raise platform.refused(element, f"{name} must be SHARED, SPLITDUPLEX or FATPIPE, got {shown(policy)}")
    return policy


def _route(platform: _Platform, element: Element, full: bool) -> None:
    """Read a route; in a zone whose routing is not full, a bypassing route leaves the others as they are."""
    between = element.name not in ("route", "bypassRoute")
    bypass = element.name.startswith("bypass")
    named = platform.attribute(element, "src"), platform.attribute(element, "dst")
    source, target = named
    if between:
        source, target = platform.attribute(element, "gw_src"), platform.attribute(element, "gw_dst")
    links = []
    for each in element.inner:
        if each.name != "link_ctn":
            raise platform.refused(each, f"expected 'link_ctn', got {shown(each.name)}")
        name, way = platform.attribute(each, "id"), each.attributes.get("direction", "NONE")
        if way not in ("NONE", "UP", "DOWN"):
            raise platform.refused(each, f"direction must be UP or DOWN, got {shown(way)}")
        if way != "NONE" and name in platform.links and platform.links[name][1] != "SPLITDUPLEX":
            told = f"link {shown(name)} is {platform.links[name][1]} and has no direction; those of SPLITDUPLEX have"
            raise platform.refused(each, told)
        links.append((name, way))
    if not links:
        raise platform.refused(element, f"the route from {shown(source)} to {shown(target)} has no links")
    both = element.attributes.get("symmetrical", "NO" if bypass else "YES").upper()
    if both not in ("YES", "NO"):
        raise platform.refused(element, f"symmetrical must be YES or NO, got {shown(both)}")
    if bypass:  # SimGrid takes it one way, whatever 'symmetrical' says
        both = "NO"
    for ends in (named, named[::-1])[: 1 + (both == "YES" and source != target)]:
        if (bypass, between, ends) in platform.known:
            raise platform.refused(element, f"there is a route from {shown(ends[0])} to {shown(ends[1])} already")
        platform.known.add((bypass, between, ends))
    if between:
        platform.between.append((named, platform.where(element)))
    if source != target:  # a link to oneself is none of the network
        kind = "bypass" if bypass else "full" if full else ""
        route = _Route(source, target, links, both == "YES", platform.where(element), (between, *named), kind)
        platform.routes.append(route)


def _check_zones(platform: _Platform) -> None:
    """Refuse routes between zones that there are not."""
    for named, where in platform.between:
        for zone in named:
            if zone not in platform.zones:
                told = nearest(zone, sorted(platform.zones)) or f"; there are: {', '.join(sorted(platform.zones))}"
                raise FileFormatError(f"{where}: there is no zone or cluster {shown(zone)}{told}")


def _bypass(platform: _Platform) -> None:
    """Take away what bypassing routes take the place of: the same way of the routes of full zones."""
    gone = {route.named: route.where for route in platform.routes if route.kind == "bypass"}
    replaced: set[tuple[bool, str, str]] = set()
    kept = []
    for route in platform.routes:
        between, source, target = route.named
        ways = [(between, source, target), (between, target, source)][: 1 + route.both]
        left = [way for way in ways if way not in gone or route.kind == "bypass"]
        replaced.update(way for way in ways if way in gone and route.kind != "bypass")
        if route.kind == "" or len(left) == len(ways):
            kept.append(route)
        elif left == ways[:1]:
            kept.append(route._replace(both=False))
        elif left:
            turned = {"UP": "DOWN", "DOWN": "UP", "NONE": "NONE"}
            links = [(link, turned[way]) for link, way in route.links[::-1]]
            kept.append(route._replace(source=route.target, target=route.source, links=links, both=False))
    for named, where in gone.items():
        if named[0] and named not in replaced:
            told = "it is read where it takes the place of a zoneRoute of the same two zones"
            raise FileFormatError(f"{where}: no zoneRoute leads from {shown(named[1])} to {shown(named[2])}; {told}")
    platform.routes = kept


# From routes to the two ends of each link.


class _Ends:
    """Places that are the same: the two ends of every link, hosts and routers."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def find(self, place: object) -> object:
        while (above := self._above.get(place, place)) is not place:
            self._above[place] = self._above.get(above, above)
            place = above
        return place

    def join(self, one: object, other: object) -> None:
        """Say that places are one; a name of a node stays the name."""
        first, second = self.find(one), self.find(other)
        if first is not second:
            if isinstance(first, str):
                first, second = second, first
            self._above[first] = second


def _buses(platform: _Platform) -> None:
    """Add the links of buses: of links that are all of each of their routes, between more than two nodes."""
    places: dict[str, set[str]] = {}
    part: set[str] = set()
    for route in platform.routes:
        if len(route.links) > 1:
            part.update(link for link, _ in route.links)
        else:
            places.setdefault(route.links[0][0], set()).update((route.source, route.target))
    buses = {link for link, nodes in places.items() if len(nodes) > 2 and link not in part and link in platform.links}
    rest = []
    for route in platform.routes:
        link = route.links[0][0]
        if link not in buses:
            rest.append(route)
            continue
        _check_ends(platform, route)
        kind, policy = platform.links[link]
        if policy == "SPLITDUPLEX":
            told = f"link {shown(link)} joins more than two places, and which way is up is not clear; make it SHARED"
            raise FileFormatError(f"{route.where}: {told}")
        for source, target in ((route.source, route.target), (route.target, route.source))[: 1 + route.both]:
            if policy == "FATPIPE":
                platform.unlimited.append((route.where, source, target, kind))
            elif not platform.wiring.has(source, target, _in_turns(kind, link)):
                platform.wiring.add(route.where, source, target, 1, _in_turns(kind, link), one_way=True)
    platform.routes = rest


def _in_turns(kind: LinkKind, port: str) -> LinkKind:
    """Return the kind of a link that carries one packet at a time with all others of a port."""
    return kind._replace(source_port=port, target_port=port)


def _check_ends(platform: _Platform, route: _Route) -> None:
    for node in (route.source, route.target):
        if node not in platform.hosts and node not in platform.routers:
            raise FileFormatError(f"{route.where}: there is no host or router {shown(node)}")


def _cables(platform: _Platform) -> dict[str, None]:
    """Add a link each way that routes use, and return the places where links meet beside hosts and routers."""
    ends, used = _Ends(), dict[tuple[str, bool], str]()
    ahead: dict[str, tuple[object, object]] = {}
    for route in platform.routes:
        _check_ends(platform, route)
        for link, _ in route.links:
            if link not in platform.links:
                raise FileFormatError(f"{route.where}: there is no link {shown(link)}")
            ahead.setdefault(link, ((link, 0), (link, 1)))
    known: set[str] = set()
    left = platform.routes
    while left:
        rest = [route for route in left if not _followed(route, ends, ahead, known, used)]
        if len(rest) == len(left):
            told = f"the route from {shown(rest[0].source)} to {shown(rest[0].target)}"
            raise FileFormatError(f"{rest[0].where}: the ends of the links of {told} are not clear from other routes")
        left = rest
    crossed, done = _crossed(platform, ends, ahead, used), set[str]()
    places: dict[object, str] = {}
    junctions: dict[str, None] = {}
    for (link, forth), where in used.items():
        kind, policy = platform.links[link]
        names = []
        for side, place in enumerate(map(ends.find, ahead[link] if forth else ahead[link][::-1])):
            bus = crossed.get(place)
            behind = bus is not None and (side == 0) != (bus == link)  # where messages come out of the bus
            if isinstance(place, str):
                names.append(place)
                continue
            if place not in places:
                places[place] = f"junction {len(places)}"
            names.append(f"{places[place]} out" if behind else places[place])
            junctions[names[-1]] = None
        if crossed.get(ends.find(ahead[link][0])) == link:
            if link in done:  # a bus carries messages one way, whichever they come from
                continue
            done.add(link)
        if policy == "FATPIPE":
            platform.unlimited.append((where, names[0], names[1], kind))
            continue
        if policy == "SHARED" and (link, not forth) in used:
            kind = _in_turns(kind, link)
        platform.wiring.add(where, names[0], names[1], 1, kind, one_way=True)
    clash = next((name for name in junctions if name in platform.hosts or name in platform.routers), None)
    if clash is not None:
        raise FileFormatError(f"{platform.name}: {shown(clash)} names a place where links meet; rename the host")
    return junctions


def _crossed(
    platform: _Platform,
    ends: _Ends,
    ahead: dict[str, tuple[object, object]],
    used: dict[tuple[str, bool], str],
) -> dict[object, str]:
    """Return the places whose links all lead on through one bus, a link from the place to itself, with that bus."""
    crossed: dict[object, str] = {}
    for (link, _), where in used.items():
        place, other = map(ends.find, ahead[link])
        if place == other and crossed.setdefault(place, link) != link:
            raise FileFormatError(f"{where}: links {shown(link)} and {shown(crossed[place])} join the same places")
        if place == other and isinstance(place, str):
            raise FileFormatError(f"{where}: link {shown(link)} leads from {shown(place)} back to it")
    for route in platform.routes if crossed else ():
        for (one, _), (other, _) in itertools.pairwise(route.links):
            near, far = ({ends.find(end) for end in ahead[link]} for link in (one, other))
            for place in near & far & crossed.keys():
                if crossed[place] not in (one, other):
                    told = f"it goes past link {shown(crossed[place])}, which others cross at the same place"
                    raise FileFormatError(f"{route.where}: {told}")
    return crossed


def _followed(
    route: _Route,
    ends: _Ends,
    ahead: dict[str, tuple[object, object]],
    known: set[str],
    used: dict[tuple[str, bool], str],
) -> bool:
    """Follow a route along its links and join their ends; False if that has to wait for other routes.

    A link that no route has used begins at the end 0. For others the end must be known: where the route comes from, or,
    looking back from its target, where it goes to.
    """
    count = len(route.links)
    ways: list[bool | None] = [None if link in known else True for link, _ in route.links]
    for order, before in ((range(count), True), (range(count - 1, -1, -1), False)):
        place: object = route.source if before else route.target
        for i in order:
            near, far = ahead[route.links[i][0]]
            if ways[i] is None and place is not None:
                at = ends.find(place)
                match = [ends.find(near) == at, ends.find(far) == at]
                if match[0] != match[1]:
                    ways[i] = match[0] if before else match[1]
            way = ways[i]
            place = None if way is None else (far if way == before else near)
    if any(way is None for way in ways):
        return False
    place = route.source
    for (link, _), way in zip(route.links, ways, strict=True):
        near, far = ahead[link] if way else ahead[link][::-1]
        _join(ends, place, near, link, route.where)
        place = far
        known.add(link)
    _join(ends, place, route.target, route.links[-1][0], route.where)
    for (link, _), way in zip(route.links, ways, strict=True):
        used.setdefault((link, bool(way)), route.where)
        if route.both:
            used.setdefault((link, not way), route.where)
    return True


def _join(ends: _Ends, one: object, other: object, link: str, where: str) -> None:
    """Say that two places are one, unless they are two nodes."""
    first, second = ends.find(one), ends.find(other)
    if isinstance(first, str) and isinstance(second, str) and first != second:
        told = f"link {shown(link)} leads to {shown(second)} and to {shown(first)}: a cable has two ends"
        raise FileFormatError(f"{where}: {told}")
    ends.join(one, other)


# Clusters.


def _cluster(platform: _Platform, element: Element) -> None:
    """Read a cluster: hosts that are alike, and how they are joined."""
    prefix, suffix = (element.attributes.get(name, "") for name in ("prefix", "suffix"))
    hosts = [f"{prefix}{i}{suffix}" for i in _radical(platform, element)]
    for host in hosts:
        platform.node(element, host, True)
    kind, policy = platform.kind(element, "bw", "lat"), _policy(platform, element, "SPLITDUPLEX")
    topology = element.attributes.get("topology", "FLAT").upper()
    platform.zones.add(platform.attribute(element, "id"))
    if "loopback_sharing_policy" in element.attributes:
        raise platform.refused(element, "loopback_sharing_policy of clusters is not read; leave it out")
    if "limiter_link" in element.attributes and (topology != "FLAT" or policy == "FATPIPE"):
        where = (
            f"a {topology}, where messages that are passed on cross it once" if topology != "FLAT" else "FATPIPE links"
        )
        told = f"limiter_link is read of flat clusters, not of {where}; leave it out, or lower bw to it"
        raise platform.refused(element, told)
    sides = re.split("[;,]", element.attributes.get("topo_parameters", ""))
    if topology == "FLAT":
        _flat(platform, element, hosts, kind, policy)
    elif topology == "TORUS":
        _torus(platform, element, hosts, [_whole(platform, element, s) for s in sides], kind, policy)
    elif topology == "FAT_TREE":
        _fat_tree(platform, element, hosts, kind, policy)
    elif topology == "DRAGONFLY":
        _dragonfly(platform, element, hosts, kind, policy)
    else:
        raise platform.refused(element, f"topology must be FLAT, TORUS, FAT_TREE or DRAGONFLY, got {shown(topology)}")


def _radical(platform: _Platform, element: Element) -> list[int]:
    found: list[int] = []
    for word in platform.attribute(element, "radical").split(","):
        match = re.fullmatch("([0-9]{1,9})(?:-([0-9]{1,9}))?", word.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first >= _MOST_HOSTS:
            raise platform.refused(element, f"radical must be such as 0-7,9, got {shown(word)}")
        found += range(first, last + 1)
    return found


def _whole(platform: _Platform, element: Element, word: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", word.strip()):
        raise platform.refused(element, f"topo_parameters has whole numbers of 1 or more, got {shown(word)}")
    return int(word)


def _cable(platform: _Platform, element: Element, one: str, other: str, kind: LinkKind, policy: str) -> None:
    """Add a cable of a cluster; a shared one carries one way at a time."""
    where = platform.where(element)
    if policy == "FATPIPE":
        platform.unlimited += [(where, one, other, kind), (where, other, one, kind)]
        return
    platform.wiring.add(where, one, other, 1, _in_turns(kind, f"{one} to {other}") if policy == "SHARED" else kind)


def _flat(platform: _Platform, element: Element, hosts: list[str], kind: LinkKind, policy: str) -> None:
    """Join hosts at a router, or at a backbone: what comes in from all crosses it and goes out to all."""
    name = platform.attribute(element, "id")
    router = element.attributes.get("router_id", f"{element.attributes.get('prefix', '')}{name}_router"
                                    f"{element.attributes.get('suffix', '')}")  # fmt: skip
    platform.node(element, router, False)
    limit = _number(platform, element, "limiter_link", _BYTES_FORM) if "limiter_link" in element.attributes else None
    if limit is not None:
        kind = kind._replace(bandwidth=min(limit, kind.bandwidth or 0.0))  # one way alone is not faster
    limited = limit is not None and policy == "SPLITDUPLEX" and limit < 2 * (kind.bandwidth or 0.0)
    if limited:  # what a host sends and what it receives leave the ends of its cable through one port
        for host in hosts:
            platform.wiring.port(platform.where(element), f"{host} limiter", {"bandwidth": limit})
    if "bb_bw" not in element.attributes:
        for host in hosts:
            if limited:
                half = kind._replace(source_port=f"{host} limiter")
                platform.wiring.add(platform.where(element), host, router, 1, half, one_way=True)
                platform.wiring.add(platform.where(element), router, host, 1, half, one_way=True)
            else:
                _cable(platform, element, host, router, kind, policy)
        return
    backbone = platform.kind(element, "bb_bw", "bb_lat")
    where, into = platform.where(element), f"{router} backbone"
    platform.node(element, into, False)
    for host in hosts:
        if policy == "FATPIPE":
            platform.unlimited += [(where, host, into, kind), (where, router, host, kind)]
            continue
        up = _in_turns(kind, f"{host} cable") if policy == "SHARED" else kind
        up = kind._replace(source_port=f"{host} limiter") if limited else up
        platform.wiring.add(where, host, into, 1, up, one_way=True)
        platform.wiring.add(where, router, host, 1, up, one_way=True)
    if _policy(platform, element, "SHARED", "bb_sharing_policy") == "FATPIPE":
        platform.unlimited.append((where, into, router, backbone))
    else:
        platform.wiring.add(where, into, router, 1, backbone, one_way=True)


def _torus(
    platform: _Platform, element: Element, hosts: list[str], sides: list[int], kind: LinkKind, policy: str
) -> None:
    """Join hosts in a torus, of which the first dimension varies fastest; a side of 2 is a single cable."""
    if math.prod(sides) != len(hosts):
        raise platform.refused(element, f"the sides {'x'.join(map(str, sides))} are not those of {len(hosts)} hosts")
    place = np.arange(len(hosts)).reshape(sides[::-1])
    for axis, side in enumerate(place.shape):
        lines = np.moveaxis(place, axis, -1).reshape(-1, side)
        for a, b in [(k, k + 1) for k in range(side - 1)] + ([(side - 1, 0)] if side > 2 else []):
            for u, v in zip(lines[:, a].tolist(), lines[:, b].tolist(), strict=True):
                _cable(platform, element, hosts[u], hosts[v], kind, policy)


def _fat_tree(platform: _Platform, element: Element, hosts: list[str], kind: LinkKind, policy: str) -> None:
    """Join hosts by levels of switches: so many children and parents, and so many cables to each, level by level."""
    words = platform.attribute(element, "topo_parameters").split(";")
    levels, *rows = [[_whole(platform, element, each) for each in word.split(",")] for word in words]
    if len(rows) != 3 or len(levels) != 1 or any(len(row) != levels[0] for row in rows):
        told = "levels;children,...;parents,...;cables,... with a number for each level"
        raise platform.refused(element, f"topo_parameters of a FAT_TREE must be {told}")
    children, parents, cables = rows
    if math.prod(children) != len(hosts):
        raise platform.refused(element, f"there are {math.prod(children)} places for {len(hosts)} hosts")
    tree = generalized_fat_tree(children, parents, cables)
    name = platform.attribute(element, "id")
    nodes = [*hosts, *(f"{name} switch {i}" for i in range(tree.node_count - len(hosts)))]
    for switch in nodes[len(hosts) :]:
        platform.node(element, switch, False)
    ends = zip(tree.link_source.tolist(), tree.link_target.tolist(), tree.link_capacity.tolist(), strict=True)
    for u, v, count in ends:
        if u < v:
            for _ in range(count):
                _cable(platform, element, nodes[u], nodes[v], kind, policy)


def _dragonfly(platform: _Platform, element: Element, hosts: list[str], kind: LinkKind, policy: str) -> None:
    """Join hosts as a Cray Cascade: routers of a chassis, and routers of a place in all chassis of a group, pairwise.

    Of each group the router of number j in the first chassis is joined to group j. A connection of k cables is one of
    k times the bandwidth.
    """
    words = [word.split(",") for word in platform.attribute(element, "topo_parameters").split(";")]
    if [len(word) for word in words] != [2, 2, 2, 1]:
        told = "groups,cables;chassis,cables;routers,cables;hosts"
        raise platform.refused(element, f"topo_parameters of a DRAGONFLY must be {told}")
    (groups, blue), (chassis, black), (blades, green), (each,) = [[_whole(platform, element, w) for w in word]
                                                                 for word in words]  # fmt: skip
    if groups * chassis * blades * each != len(hosts):
        raise platform.refused(element, f"there are {groups * chassis * blades * each} places for {len(hosts)} hosts")
    if groups > blades:
        raise platform.refused(element, f"{groups} groups need as many routers in a chassis, which has {blades}")
    name = platform.attribute(element, "id")
    routers = np.array([f"{name} router {g},{c},{b}" for g in range(groups) for c in range(chassis)
                        for b in range(blades)]).reshape(groups, chassis, blades)  # fmt: skip
    for router in routers.ravel().tolist():
        platform.node(element, router, False)
    for i, host in enumerate(hosts):
        _cable(platform, element, host, str(routers.ravel()[i // each]), kind, policy)
    pairs = [(a, b, green) for row in routers.reshape(-1, blades) for a, b in itertools.combinations(row, 2)]
    pairs += [(a, b, black) for g in range(groups) for row in routers[g].T for a, b in itertools.combinations(row, 2)]
    pairs += [(routers[i, 0, j], routers[j, 0, i], blue) for i, j in itertools.combinations(range(groups), 2)]
    for a, b, count in pairs:
        _cable(platform, element, str(a), str(b), kind._replace(bandwidth=(kind.bandwidth or 0.0) * count), policy)


# What other simulators read: ns-3's models of RDMA, BookSim, htsim.


def _two_way(network: Network, what: str) -> None:
    """Refuse what files that list cables cannot say."""
    if not network.two_way:
        raise FileFormatError(f"{what} has cables, and {network.spec} has links without an opposite of their kind")
    if network.shared_ports is not None:
        raise FileFormatError(f"{what} has no words for ports that links share, as {network.spec} has them")


def _cables_once(network: Network) -> Iterator[tuple[int, int, int]]:
    """Yield a link of each cable, with its ends."""
    back = network.reverse_link.tolist()
    for link, (u, v) in enumerate(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)):
        if link < back[link]:
            yield link, u, v


def _write_ns3(network: Network, path: Path) -> None:
    """Write what HPCC's and ASTRA-sim's models in ns-3 read: sizes, switches, a line for each cable."""
    _two_way(network, "a topology of ns-3")
    speeds = network.find(Speeds)
    if speeds is None:
        raise FileFormatError(f"a topology of ns-3 has bandwidths, and {network.spec} has none")
    if network.parallel:
        raise FileFormatError(f"a topology of ns-3 has one cable between two nodes, and {network.spec} has several")
    cables = list(_cables_once(network))
    switches = range(network.terminal_count, network.node_count)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{network.node_count} {len(switches)} {len(cables)}\n{' '.join(map(str, switches))}\n")
        for link, u, v in cables:
            rate = Decimal(repr(float(speeds.bandwidth[link]))) * 8 * int(network.link_capacity[link])
            delay = Decimal(repr(float(speeds.latency[link])))
            file.write(f"{u} {v} {_plain(rate.scaleb(-9))}Gbps {_plain(delay.scaleb(9))}ns 0\n")


def _plain(value: Decimal) -> str:
    """Return a number without exponent.

    >>> _plain(Decimal("4e2")), _plain(Decimal("14.06250"))
    ('400', '14.0625')
    """
    return format(value.normalize(), "f")


_DECIMAL = r"[0-9]{1,20}(?:\.[0-9]{1,30})?"
_NS3_CABLE = re.compile(rf"([0-9]{{1,7}}) ([0-9]{{1,7}}) ({_DECIMAL})(|K|k|M|G|T)bps ({_DECIMAL})(ns|us|ms|s) \S+")


def _read_ns3(path: str | PathLike[str]) -> Network:
    """Read a topology of ns-3's models of RDMA: switches are those of its second line, the others are terminals."""
    name = f"ns-3 topology {file_name(path)}"
    lines = text_lines(path, "a topology of ns-3", pieces={b"\n": 600})
    rows = [(f"{name}, line {place}", line.split()) for place, line in lines]
    where, sizes = rows[0] if rows else (name, [])
    if len(sizes) != 3 or not all(re.fullmatch("[0-9]{1,7}", each) for each in sizes):
        raise FileFormatError(f"{where}: the first line is nodes, switches and links, such as '5 1 4'")
    nodes, count, links = map(int, sizes)
    named = rows[1][1] if count and len(rows) > 1 else []
    switches = [int(each) for each in named if re.fullmatch("[0-9]{1,7}", each) and int(each) < nodes]
    if len(switches) != count or len(named) != count or len(set(switches)) < count:
        where = rows[min(1, len(rows) - 1)][0]
        raise FileFormatError(f"{where}: the second line has the numbers of {count} switches, below {nodes}")
    wiring = Wiring(name)
    body = rows[2 if count else 1 :]
    for where, words in body:
        match = _NS3_CABLE.fullmatch(" ".join(words))
        if match is None or max(int(match[1]), int(match[2])) >= nodes or not Fraction(match[3]):
            told = "a cable is two nodes, rate, delay and errors, such as '0 4 400Gbps 500ns 0'"
            raise FileFormatError(f"{where}: {told}, got {shown(' '.join(words))}")
        rate, delay = Fraction(match[3]) * _BYTES[match[4]] / 8, Fraction(match[5]) * _SECONDS[match[6]]
        kind = LinkKind(float(rate), float(delay))
        wiring.add(where, int(match[1]), int(match[2]), 1, kind)
    if len(body) != links:
        raise FileFormatError(f"{name}: {links} cables are announced, and there are {len(body)}")
    order = [*(u for u in range(nodes) if u not in set(switches)), *switches]
    if len(order) == len(switches):
        raise FileFormatError(f"{name}: there are no terminals")
    labels = None if order == list(range(nodes)) else [str(u) for u in order]
    return wiring.network(f"ns3:{path}", order, nodes - count, labels)


def _write_anynet(network: Network, path: Path) -> None:
    """Write a router a line, with its nodes and the routers that it is joined to.

    A terminal with one cable, to a switch, is a node of the switch; any other one is a router with a node of its own.
    """
    _two_way(network, "an anynet file of BookSim")
    if network.parallel or bool((network.link_capacity > 1).any() | (network.link_occupancy > 1).any()):
        told = "one channel between two routers, of a flit a cycle, and some links of"
        raise FileFormatError(f"an anynet file of BookSim has {told} {network.spec} are wider or slower")
    terminals = network.terminal_count
    first = network.first_link.tolist()
    hung = {
        t: int(network.link_target[first[t]])
        for t in range(terminals)
        if first[t + 1] - first[t] == 1 and network.link_target[first[t]] >= terminals
    }
    routers = [v for v in range(network.node_count) if v not in hung]
    number = {v: i for i, v in enumerate(routers)}
    nodes: dict[int, list[int]] = {v: [v] for v in routers if v < terminals}
    for t, switch in hung.items():
        nodes.setdefault(switch, []).append(t)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for v in routers:
            words = [f"router {number[v]}", *(f"node {t}" for t in nodes.get(v, ()))]
            for link in range(first[v], first[v + 1]):
                other, cycles = int(network.link_target[link]), int(network.link_latency[link]) + 1
                if other in number:
                    words.append(f"router {number[other]}" + (f" {cycles}" if cycles > 1 else ""))
            file.write(" ".join(words) + "\n")


def _read_anynet(path: str | PathLike[str]) -> Network:
    """Read an anynet file of BookSim: routers are switches, or, where each has one node, the terminals."""
    name = f"anynet file {file_name(path)}"
    nodes: dict[int, int] = {}
    cycles: dict[tuple[int, int], int] = {}
    where_of: dict[tuple[int, int], str] = {}
    routers: set[int] = set()
    for place, line in text_lines(path, "an anynet file", comment="", pieces={b"router": 400, b"node": 200}):
        where = f"{name}, line {place}"
        found = re.findall(r"(router|node) ([0-9]{1,7})(?: ([0-9]{1,5})(?= |$))?", " ".join(line.split()))
        if " ".join(" ".join(filter(None, each)) for each in found) != " ".join(line.split()) or found[0][2]:
            raise FileFormatError(
                f"{where}: a line is such as 'router 0 node 0 router 1 router 2 5', got {shown(line)}"
            )
        kind, head = found[0][0], int(found[0][1])
        for other, number, weight in found[1:]:
            end = int(number)
            if kind == other == "node":
                raise FileFormatError(f"{where}: a node is joined to a router, not to a node")
            if "node" in (kind, other):
                node, router = (head, end) if kind == "node" else (end, head)
                if weight:
                    raise FileFormatError(f"{where}: channels of nodes have no latency, got {weight} for node {node}")
                if nodes.setdefault(node, router) != router:
                    raise FileFormatError(f"{where}: node {node} is at router {nodes[node]} already")
                routers.add(router)
                continue
            if head == end:
                raise FileFormatError(f"{where}: router {head} is joined to itself")
            if weight and not int(weight):
                raise FileFormatError(f"{where}: the latency of {head} to {end} is 1 or more")
            routers |= {head, end}
            cycles[head, end] = int(weight or 1)  # of the way back, one cycle where no line tells it
            cycles.setdefault((end, head), 1)
            where_of.setdefault((min(head, end), max(head, end)), where)
    if not nodes or sorted(nodes) != list(range(len(nodes))):
        raise FileFormatError(f"{name}: nodes must be 0, 1, 2, ..., and there are {len(nodes)} of them")
    direct = len(set(nodes.values())) == len(nodes) == len(routers)
    node_at = {router: node for node, router in nodes.items()} if direct else {}
    wiring = Wiring(name)
    for (one, other), where in where_of.items():
        ends = (node_at.get(one, -one - 1), node_at.get(other, -other - 1))  # routers are numbers below 0
        there, back = (LinkKind(None, None, 1, cycles[pair] - 1) for pair in ((one, other), (other, one)))
        wiring.add(where, *ends, 1, there, one_way=there != back)
        if there != back:
            wiring.add(where, *ends[::-1], 1, back, one_way=True)
    if not direct:
        for node, router in sorted(nodes.items()):
            wiring.add(name, node, -router - 1)
    switches = [] if direct else sorted(routers)
    labels = [*map(str, range(len(nodes))), *(f"router {r}" for r in switches)] if switches else None
    every = [*range(len(nodes)), *(-r - 1 for r in switches)]
    return wiring.network(f"anynet:{path}", every, len(nodes), labels)


def _write_htsim(network: Network, path: Path) -> None:
    """Write a three-tier tree of htsim: sizes of its pods, ports, cables and times of each tier."""
    _two_way(network, "a topology of htsim")
    speeds = network.find(Speeds)
    if speeds is None:
        raise FileFormatError(f"a topology of htsim has bandwidths, and {network.spec} has none")
    tier = _tiers(network)
    source, target = network.link_source, network.link_target
    down = tier[source] == tier[target] + 1
    if int(tier.max()) != 3 or bool((np.abs(tier[source] - tier[target]) != 1).any()):
        raise _no_tree(network, "it has other than three tiers of switches")
    rows: list[tuple[int, ...]] = []
    for t in (1, 2, 3):
        links = np.flatnonzero(down & (tier[source] == t))
        switches = np.flatnonzero(tier == t)
        told: dict[str, np.ndarray] = {
            "rates": np.unique(speeds.bandwidth[links]), "latencies": np.unique(speeds.latency[links]),
            "numbers of cables": np.unique(network.link_capacity[links]),
            "numbers of ports": np.unique(np.bincount(source[links], minlength=network.node_count)[switches]),
            "numbers of uplinks": np.unique(np.bincount(target[links], minlength=network.node_count)[tier == t - 1]),
        }  # fmt: skip
        uneven = next((what for what, values in told.items() if values.size > 1), None)
        if uneven is not None:
            raise _no_tree(network, f"tier {t - 1} has several {uneven}")
        rate, delay, cables, ports, uplinks = (float(values[0]) for values in told.values())
        if rate * 8 % 1e9 or round(delay * 1e9) < 1:
            raise _no_tree(network, f"tier {t - 1} must have whole Gbit/s and latencies of 1 ns or more")
        rows.append((int(rate * 8 / 1e9), round(delay * 1e9), int(cables), int(ports), int(uplinks)))
    pod = _pods(network, tier)
    _check_tree(network, tier, pod, rows)
    text = [f"Nodes {network.terminal_count}", "Tiers 3", f"Podsize {int((pod[: network.terminal_count] == 0).sum())}"]
    for t, (gbps, delay_ns, cables, ports, _) in enumerate(rows):
        text += [f"Tier {t}", f"Downlink_speed_Gbps {gbps}", f"Radix_Down {ports * cables}"]
        if t < 2:
            up = rows[t + 1][4] * rows[t + 1][2]
            times, rest = divmod(ports * cables * gbps, up * rows[t + 1][0])
            if rest or not times:
                raise _no_tree(network, f"tier {t} is not oversubscribed by a whole number")
            text += [f"Radix_Up {up}", *([f"Oversubscribed {times}"] if times > 1 else [])]
        text += [*([f"Bundle {cables}"] if cables > 1 else []), f"Downlink_Latency_ns {delay_ns}"]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _no_tree(network: Network, why: str) -> FileFormatError:
    return FileFormatError(f"htsim reads fat trees of three tiers, and {network.spec} is none: {why}")


def _tiers(network: Network) -> np.ndarray:
    """Return how far each node is from the nearest terminal: int64[N]."""
    tier = np.where(np.arange(network.node_count) < network.terminal_count, 0, network.node_count)
    for _ in range(4):
        np.minimum.at(tier, network.link_target, tier[network.link_source] + 1)
    return tier


def _pods(network: Network, tier: np.ndarray) -> np.ndarray:
    """Return the part of each node that is left without the highest tier, in the order of their first nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    low = (tier[network.link_source] < 3) & (tier[network.link_target] < 3)
    ends = network.link_source[low], network.link_target[low]
    graph = coo_array((np.ones(ends[0].size), ends), (network.node_count, network.node_count))
    return np.asarray(connected_components(graph.tocsr(), directed=False)[1])


def _check_tree(network: Network, tier: np.ndarray, pod: np.ndarray, rows: list[tuple[int, ...]]) -> None:
    """Refuse what has the ports of htsim's trees, and is none: in a pod all are joined, and a core to every pod."""
    sizes = np.bincount(pod[tier < 3])
    pods = sizes[sizes > 0].size
    per_pod = [np.bincount(pod[tier == t], minlength=sizes.size)[sizes > 0] for t in (0, 1, 2)]
    if any(np.unique(each).size > 1 for each in per_pod) or rows[0][4] != 1 or rows[0][2] != 1:
        raise _no_tree(network, "its pods are not alike, or terminals have several cables")
    tors, middle = int(per_pod[1][0]), int(per_pod[2][0])
    if rows[1][3] != tors or rows[1][4] != middle:
        raise _no_tree(network, "in a pod not every lower switch is joined to every upper one")
    cores = np.flatnonzero(tier == 3)
    links = tier[network.link_source] == 3
    reached = np.unique(np.stack([network.link_source[links], pod[network.link_target[links]]]), axis=1)
    if rows[2][3] != pods or reached.shape[1] != pods * cores.size:
        raise _no_tree(network, "a switch of the highest tier is not joined to each pod once")


SIMGRID = NetworkFormat(
    name="simgrid",
    summary="platform of SimGrid: zones, hosts, links, routes, clusters",
    source="gossamer.networks.read_simgrid",
    suffixes=(".xml",),
    read=read_simgrid,
    recognizes=lambda text: bool(re.search(r"(?m)^\s*(?:<[?!][^>]*>\s*)*<platform[\s>]", text)),
)
BOOKSIM = NetworkFormat(
    name="anynet",
    summary="routers and nodes of BookSim's anynet",
    source="BookSim 2.0 User's Guide, anynet",
    suffixes=(".anynet",),
    read=_read_anynet,
    write=_write_anynet,
    recognizes=lambda text: bool(re.match(r"\s*(?:router|node) [0-9]+ (?:router|node) [0-9]+", text)),
    aliases=("booksim",),
)
HTSIM = NetworkFormat(
    name="htsim",
    summary="fat tree of three tiers for htsim, written only",
    source="htsim, FatTreeTopology",
    suffixes=(".topo",),
    write=_write_htsim,
)
NS3 = NetworkFormat(
    name="ns3",
    summary="switches and cables of ns-3's models of RDMA (HPCC, ASTRA-sim)",
    source="HPCC and ASTRA-sim, topology files of ns-3",
    suffixes=(".ns3",),
    read=_read_ns3,
    write=_write_ns3,
    aliases=("ns-3",),
)
