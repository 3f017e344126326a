"""Small certificates, made by hand, each with what the checker says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

Data = dict[str, Any]

RULES = {
    "send": None, "receive": None, "cut_through": False, "switches_copy": True, "switches_add": False,
    "buffer": None, "buffer_counts": "transit",
}  # fmt: skip


def network(links: str, ranks: int | None = None, **more: Any) -> Data:
    """A network from text such as ``0-1 1-0``."""
    ends = [tuple(map(int, link.split("-"))) for link in links.split()]
    nodes = 1 + max(max(pair) for pair in ends)
    return {
        "nodes": nodes,
        "ranks": nodes if ranks is None else ranks,
        "source": [u for u, _ in ends],
        "target": [v for _, v in ends],
        "capacity": 1,
        "occupancy": 1,
        "latency": 0,
        **more,
    }


def copied(source: int, targets: Any, packets: int = 1) -> Data:
    """An item that is copied."""
    return {"kind": "copy", "from": [source], "to": targets, "packets": packets}


def summed(sources: Any, targets: Any, packets: int = 1) -> Data:
    """An item that is summed."""
    return {"kind": "sum", "from": sources, "to": targets, "packets": packets}


def listed(item: Data, ranks: int) -> Data:
    """The item with a list in the place of "all"."""
    new = {**item, **{name: list(range(ranks)) for name in ("from", "to") if item[name] == "all"}}
    return {**new, "to": [v for v in new["to"] if v not in new["from"]]} if item["kind"] == "copy" else new


def cert(net: Data, items: list[Data], rows: str, slots: int, rules: Data | None = None, **more: Any) -> Data:
    """A certificate; `rows` is text such as ``0:1:0`` for slot, link and packet, with ``:-1+0`` for what it carries.

    A row that does not say it carries all that its node then has, or, if that is nothing, the first row before that
    comes there.
    """
    again = more.pop("repetition", {})
    items = [listed(x, net["ranks"]) for x in items]
    columns = [row.split(":") for row in rows.split()]
    slot, link, packet = ([int(row[i]) for row in columns] for i in range(3))
    plan: Data = {"slot": slot, "link": link, "packet": packet, **again}
    packets = [x for x in items for _ in range(min(x["packets"] // again.get("generations", 1), 10**4))]
    cut = bool(rules and rules.get("cut_through"))
    came: dict[tuple[int, int], list[tuple[int, set[int], int]]] = {}
    carries: list[Any] = []

    def there_by(p: int, u: int, t: int) -> tuple[set[int], list[int]]:
        item = packets[p] if p < len(packets) else {"from": [], "kind": ""}
        has = ({u} if item["kind"] == "sum" else {0}) if u in item["from"] else set()
        there = [-1] if has else []
        for end, new, k in sorted(came.get((p, u), []), key=lambda each: (each[0], -len(each[1]))):
            if end <= t or not has:
                has, there = (new, [k]) if has < new else (has | new, [*there, k]) if not has & new else (has, there)
        return has, there

    for row, (t, e, p) in enumerate(zip(slot, link, packet, strict=True)):
        has, there = there_by(p, net["source"][e], t)
        if len(columns[row]) > 3:
            there = list(map(int, columns[row][3].split("+")))
            known = {k: new for each in came.values() for _, new, k in each}
            own = {net["source"][e]} if packets[p]["kind"] == "sum" else {0}
            has = set().union(*(known.get(k, set()) if k >= 0 else own for k in there))
        carries.append(there[0] if len(there) == 1 else there or -1)
        occupancy, latency = (x if isinstance(x, int) else x[e] for x in (net["occupancy"], net["latency"]))
        head = cut and net["target"][e] >= net["ranks"]
        end = t + latency + (0 if head else occupancy)
        came.setdefault((p, net["target"][e]), []).append((end, has, row))
    for p, v in [(p, v) for p, x in enumerate(packets) if x["kind"] == "sum" for v in x["to"]]:
        parts = there_by(p, v, 10**18)[1]
        slot.append(0)
        link.append(len(net["source"]) + v)
        packet.append(p)
        carries.append(parts[0] if len(parts) == 1 else parts)
    return settled({
        "format": "gossamer-certificate", "version": 1, "network": net, "rules": {**RULES, **(rules or {})},
        "time": {"unit": "step", "slot": "1"}, "task": {"items": items}, "schedule": {**plan, "carries": carries},
        "claim": {"time": str(slots), "bound": None}, "bound": None, **more,
    })  # fmt: skip


def settled(data: Data) -> Data:
    """The certificate, with results in the first slot in which they are there; also of copies, if all counts."""
    plan, net = data["schedule"], data["network"]
    plan["carries"] = [[k] if isinstance(k, int) else k for k in plan["carries"]]
    columns = [plan[name] for name in ("slot", "link", "packet", "carries")]
    links = len(net["source"])
    takes = [[x] * links if isinstance(x, int) else x for x in (net["occupancy"], net["latency"])]
    takes = [o + a for o, a in zip(*takes, strict=True)]
    if data["rules"]["buffer_counts"] == "all":
        items = [x for x in data["task"]["items"] for _ in range(x["packets"] // plan.get("generations", 1))]
        for v in range(net["ranks"]):
            for p, x in enumerate(items):
                rows = [k for k, (e, q) in enumerate(zip(*columns[1:3], strict=True))
                        if e < links and q == p and net["target"][e] == v]  # fmt: skip
                if x["kind"] == "copy" and v in x["to"] and rows:
                    first = min(rows, key=lambda k: plan["slot"][k] + takes[plan["link"][k]])
                    for column, value in zip(columns, (0, links + v, p, [first]), strict=True):
                        column.append(value)
    for row, (e, carried) in enumerate(zip(plan["link"], plan["carries"], strict=True)):
        if e >= links:
            rows = [k for k in carried if k >= 0]
            plan["slot"][row] = max((plan["slot"][k] + takes[plan["link"][k]] for k in rows), default=0)
    return data


def but(data: Data, **changes: Any) -> Data:
    """A certificate with other values at paths such as ``network__ranks``; `...` leaves the key out."""
    new = json.loads(json.dumps(data))
    results = sum(e >= len(data["network"]["source"]) for e in data["schedule"]["link"]) if "schedule" in data else 0
    for path, value in changes.items():
        *parents, last = [int(step) if step.isdecimal() else step for step in path.split("__")]
        place = new
        for step in parents:
            place = place[step]
        if value is ...:
            del place[last]
        elif path.startswith("schedule__") and isinstance(value, list) and results:
            place[last] = [*value, *place[last][-results:]]
        else:
            place[last] = value
    try:
        return settled(new)
    except (LookupError, TypeError, ValueError):  # it is malformed
        return new


LINE = network("0-1 1-0 1-2 2-1")
BROADCAST = cert(LINE, [copied(0, [1, 2])], "0:0:0 1:2:0", 2)
RING = network("0-1 0-3 1-2 1-0 2-3 2-1 3-0 3-2")
TURN = [1, 2, 3, 0]
GROUP = {"generators": [TURN], "commuting": [TURN]}
ROUND = cert(RING, [copied(0, "all")], "0:0:0 0:1:0 1:2:0", 2, symmetry=GROUP)
STAR = network("0-3 1-3 2-3 3-0 3-1 3-2", 3)


def written() -> Iterator[tuple[str, bytes | Data]]:
    """Yield texts that are no certificate."""
    good = json.dumps(BROADCAST)
    yield "no JSON", b"{"
    yield "no UTF-8", b'{"format": "\xff"}'
    yield "deep", b"[" * 100_000
    yield "a long number", b'{"format": ' + b"1" * 5000 + b"}"
    yield "not a number", good.replace('"version": 1', '"version": NaN').encode()
    yield "a float", good.replace('"version": 1', '"version": 1.0').encode()
    yield "a long float", good.replace('"version": 1', f'"version": 1.{"0" * 50}').encode()
    yield "a key twice", good.replace('"version": 1', '"version": 1, "version": 1').encode()
    yield "a list", b"[]"
    yield "another format", but(BROADCAST, format="gossamer")
    yield "another version", but(BROADCAST, version=2)
    yield "version 0", but(BROADCAST, version=0)
    yield "version true", but(BROADCAST, version=True)
    yield "a key too many", but(BROADCAST, more=1)
    yield "a key too few", but(BROADCAST, rules=...)
    yield "about", but(BROADCAST, about={"network": "a line"})


def of_networks() -> Iterator[tuple[str, Data]]:
    """Yield certificates with networks of all kinds."""
    b = BROADCAST
    yield "good", b
    yield "no nodes", but(b, network__nodes=0)
    yield "a high node", cert(network("0-90 90-0"), [copied(0, [90])], "0:0:0", 1)
    yield "latency largest", but(b, network__latency=10**15, schedule=..., claim__time=None)
    forth = " ".join([*(f"0:0:{p}" for p in range(160)), *(f"1:2:{p}:{p}" for p in range(160))])
    yield "many rows", cert({**LINE, "capacity": 160}, [copied(0, [2], 160)], forth, 2)
    yield "many nodes", but(b, network__nodes=10**6 + 1)
    yield "the most nodes", but(b, network__nodes=10**6, schedule=..., claim__time=None)
    all_of = but(b, network__nodes=4000, network__ranks=4000, schedule=..., claim__time=None)
    yield "very many ends", but(all_of, task={"name": "alltoall", "packets": 1})
    yield "one of many ends", but(all_of, task={"name": "scatter", "root": 0, "packets": 1})
    yield "no ranks", but(b, network__ranks=0)
    yield "more ranks than nodes", but(b, network__ranks=4)
    yield "a key of the network too few", but(b, network__latency=...)
    yield "source no list", but(b, network__source={})
    yield "source a text", but(b, network__source__0="0")
    yield "source true", but(b, network__source__1=True)
    yield "source negative", but(b, network__source__0=-1)
    yield "source too large", but(b, network__source__0=3)
    yield "target too large", but(b, network__target__0=3)
    yield "target negative", but(b, network__target__0=-1)
    yield "targets too few", but(b, network__target=[1, 0, 2])
    yield "a loop", but(b, network__target__0=0)
    for name in ("capacity", "occupancy", "latency"):
        low = 0 if name == "latency" else 1
        yield f"{name} of links", but(b, **{f"network__{name}": [low] * 4})
        yield f"{name} too few", but(b, **{f"network__{name}": [low] * 3})
        yield f"{name} too small", but(b, **{f"network__{name}": [low] * 3 + [low - 1]})
        yield f"{name} too small everywhere", but(b, **{f"network__{name}": low - 1})
        yield f"{name} a text", but(b, **{f"network__{name}": "1"})
        yield f"{name} huge", but(b, **{f"network__{name}": 10**15 + 1})
    yield "capacity largest", but(b, network__capacity=10**15)
    port = {"links": [0, 2], "capacity": 1, "occupancy": 1, "receiving": False}
    late = {"links": [0, 2], "capacity": 1, "occupancy": 2, "receiving": True}
    slow = but(cert(LINE, [copied(0, [1, 2])], "0:0:0 2:2:0", 4), network__latency=1)
    yield "shared, no list", but(b, network__shared=port)
    yield "shared, a number", but(b, network__shared=[1])
    yield "shared", but(b, network__shared=[port])
    yield "shared, a key too few", but(b, network__shared=[but(port, capacity=...)])
    yield "shared, a link twice", but(b, network__shared=[but(port, links=[0, 0])])
    yield "shared, no such link", but(b, network__shared=[but(port, links=[4])])
    yield "shared, no place", but(b, network__shared=[but(port, capacity=0)])
    yield "shared, no time", but(b, network__shared=[but(port, occupancy=0)])
    yield "shared, receiving a number", but(b, network__shared=[but(port, receiving=0)])
    yield "shared, longer than on the link", but(b, network__shared=[but(port, occupancy=2)])
    yield "shared, received before it is sent", but(b, network__shared=[late])
    yield "shared, received as it is sent", but(slow, network__shared=[late])
    yield "shared, as long as on the link", but(slow, network__occupancy=2, network__latency=0, network__shared=[late])
    both = cert(LINE, [copied(1, [0]), copied(1, [2])], "0:1:0 0:2:1", 1)
    yield "two at once", both
    yield "two at once in a port", but(both, network__shared=[but(port, links=[1, 2])])
    yield "two at once in a wide port", but(both, network__shared=[but(port, links=[1, 2], capacity=2)])
    yield "two at once, one in a port", but(both, network__shared=[but(port, links=[2])])
    unequal = network("0-2 1-2", latency=[0, 2])
    meet = cert(unequal, [copied(0, [2]), copied(1, [2])], "0:1:1 2:0:0", 3)
    in_port = {"links": [0, 1], "capacity": 1, "occupancy": 1, "receiving": True}
    yield "two end at once", meet
    yield "two end at once in a port", but(meet, network__shared=[in_port])
    yield "two end one after the other", but(meet, network__shared=[in_port], schedule__slot=[0, 1])
    yield (
        "two begin at once and end at once",
        but(meet, network__shared=[but(in_port, receiving=False)], schedule__slot=[0, 0]),
    )


def of_rules() -> Iterator[tuple[str, Data]]:
    """Yield certificates with rules of all kinds."""
    b = BROADCAST
    for name in ("send", "receive", "buffer"):
        yield f"{name} none", but(b, **{f"rules__{name}": 0})
        yield f"{name} a text", but(b, **{f"rules__{name}": "1"})
        yield f"{name} one", but(b, **{f"rules__{name}": 1})
    for name in ("cut_through", "switches_copy", "switches_add"):
        yield f"{name} a number", but(b, **{f"rules__{name}": 1})
    yield "a rule too few", but(b, rules__buffer=...)
    yield "a rule too many", but(b, rules__more=1)
    yield "buffers of what", but(b, rules__buffer_counts="some")
    both = cert(LINE, [copied(1, [0]), copied(1, [2])], "0:1:0 0:2:1", 1)
    yield "two sent at once", but(both, rules__send=1)
    yield "two sent at once by two ports", but(both, rules__send=2)
    yield "two sent at once, one received", but(both, rules__receive=1)
    yield "two sent one after the other", but(both, rules__send=1, schedule__slot=[0, 1], claim__time="2")  # fmt: skip
    meet = cert(network("0-2 1-2", latency=[0, 2]), [copied(0, [2]), copied(1, [2])], "0:1:1 2:0:0", 3)
    yield "two received at once", but(meet, rules__receive=1)
    yield "two received one after the other", but(meet, rules__receive=1, schedule__slot=[0, 1])
    yield "two sent at once that come later", but(meet, rules__receive=1, schedule__slot=[0, 0])
    yield "two received at once, one sent", but(meet, rules__send=1)
    unlike = cert(network("0-2 1-2", occupancy=[3, 1]), [copied(0, [2]), copied(1, [2])], "0:0:0 2:1:1", 3)
    yield "two of two lengths are received", but(unlike, rules__receive=1)
    yield "two of two lengths follow", but(unlike, rules__receive=1, schedule__slot=[0, 3], claim__time="4")
    long = cert(network("0-1 0-1", occupancy=3), [copied(0, [1], 2)], "0:0:0 2:1:1", 5)
    yield "two overlap", long
    yield "two overlap in a port", but(long, rules__send=1)
    yield "two follow in a port", but(long, rules__send=1, schedule__slot=[0, 3], claim__time="6")  # fmt: skip
    same = but(long, schedule__link=[0, 0])
    yield "two overlap on a link", same
    yield "two overlap on a wide link", but(same, network__capacity=2)
    yield (
        "three overlap on a wide link",
        but(cert(network("0-1", occupancy=3, capacity=2), [copied(0, [1], 3)], "0:0:0 1:0:1 2:0:2", 5)),
    )
    yield (
        "three follow on a wide link",
        but(cert(network("0-1", occupancy=3, capacity=2), [copied(0, [1], 3)], "0:0:0 1:0:1 3:0:2", 6)),
    )


def of_symmetry() -> Iterator[tuple[str, Data]]:
    """Yield certificates with groups of all kinds."""
    r = ROUND
    yield "good group", r
    yield "no object", but(r, symmetry=[])
    yield "no list of generators", but(r, symmetry__generators={})
    yield "a generator too short", but(r, symmetry__generators=[[1, 2, 3]])
    yield "a generator to no node", but(r, symmetry__generators=[[1, 2, 3, 4]])
    yield "no permutation", but(r, symmetry__generators=[[1, 2, 3, 3]])
    yield "commuting no map that commutes", but(r, symmetry__commuting=[[1, 2, 3, 3]])
    yield "no automorphism", but(r, symmetry__generators=[[1, 0, 2, 3]])
    yield "does not commute", but(r, symmetry__commuting=[[0, 1, 3, 2]])
    yield "not everywhere", but(r, symmetry__commuting=[[2, 3, 0, 1]])
    yield "no commuting ones", but(r, symmetry__commuting=[])
    mirror = [0, 3, 2, 1]
    yield "a mirror", but(r, symmetry__generators=[TURN, mirror])
    yield "a mirror alone", but(r, symmetry__generators=[mirror], symmetry__commuting=[[2, 1, 0, 3], [0, 3, 2, 1]])
    yield "half a turn", but(
        r, symmetry__generators=[[2, 3, 0, 1]],
        task__items=[copied(0, [1, 2, 3]), copied(1, [0, 2, 3])],
        schedule__slot=[0, 0, 0, 0, 1, 1], schedule__link=[0, 1, 2, 3, 2, 4], schedule__packet=[0, 0, 1, 1, 0, 1],
        schedule__carries=[-1, -1, -1, -1, 0, 2],
    )  # fmt: skip
    yield "half a turn, of the other half", but(
        r, symmetry__generators=[[2, 3, 0, 1]],
        task__items=[copied(0, [1, 2, 3]), copied(3, [0, 1, 2])],
        schedule__slot=[0, 0, 0, 0, 1, 1], schedule__link=[0, 1, 6, 7, 2, 0], schedule__packet=[0, 0, 1, 1, 0, 1],
        schedule__carries=[-1, -1, -1, -1, 0, 2],
    )  # fmt: skip
    yield "twice on a link of one orbit", but(r, schedule__link=[0, 1, 2], schedule__slot=[0, 1, 1])
    yield "twice at a port of one orbit", but(r, rules__send=1)
    yield "twice at a receiving port", but(r, rules__receive=1)
    for name in ("capacity", "occupancy", "latency"):
        values = [1 + (name == "occupancy")] * 7 + [2 + (name == "occupancy")]
        yield f"other {name}", but(r, **{f"network__{name}": values})
    yield "shared ports", but(r, network__shared=[{"links": [0], "capacity": 1, "occupancy": 1, "receiving": False}])
    switch = network("0-2 1-3 2-1 3-0 2-3 3-2", 2)
    swap = [1, 0, 3, 2]
    through = cert(switch, [copied(0, [1])], "0:0:0 1:2:0", 2,
                   symmetry={"generators": [swap], "commuting": [swap, [2, 3, 0, 1]]})  # fmt: skip
    yield "through switches", through
    yield "a rank to a switch", but(through, network__ranks=1)
    double = network("0-1 0-1 1-0 1-0", capacity=[1, 2, 1, 2])
    pair = {"generators": [[1, 0]], "commuting": [[1, 0]]}
    yield "two links each way", cert(double, [copied(0, [1], 3)], "0:0:0 0:1:1 0:1:2", 1, symmetry=pair)
    yield (
        "two links each way, crossed",
        but(cert(double, [copied(0, [1], 3)], "0:0:0 0:1:1 0:1:2", 1, symmetry=pair), network__capacity=[1, 2, 2, 1]),
    )
    half = {"generators": [[2, 3, 0, 1]], "commuting": [TURN]}
    few = [copied(0, [1]), copied(0, [2]), copied(0, [3])]
    yield "as many as a scatter", cert(RING, few, "0:0:0 0:1:2 1:0:1 2:2:1", 3, symmetry=half)
    yield "one broadcast of an orbit", cert(RING, [copied(0, "all")], "0:0:0 0:1:0 1:2:0", 2, symmetry=half)
    yield "one reduction of an orbit", cert(RING, [summed("all", [0])], "0:4:0 1:6:0 1:3:0", 2, symmetry=half)
    yield (
        "one allreduce of an orbit",
        cert(RING, [summed("all", "all")], "0:4:0 1:6:0 1:3:0 2:0:0 2:1:0 3:2:0", 4, symmetry=half),
    )
    yield (
        "no generators",
        cert(network("0-1 1-0"), [copied(0, [1])], "0:0:0", 1, symmetry={"generators": [], "commuting": [[1, 0]]}),
    )
    yield "a link more one way", but(cert(network("0-1 1-0 1-0"), [copied(0, [1])], "0:0:0", 1, symmetry=pair))
    yield (
        "buffers of orbits",
        but(cert(RING, [copied(0, [1, 2]), copied(0, [3])], "0:0:0 1:2:0 1:1:1", 2, symmetry=GROUP), rules__buffer=1),
    )
    yield (
        "buffers of orbits, too full",
        but(
            cert(RING, [copied(0, [2]), copied(0, [2])], "0:0:0 0:1:1 1:2:0 1:7:1", 2, symmetry=GROUP), rules__buffer=1
        ),
    )
    yield "sums of orbits", cert(RING, [summed("all", [0])], "0:4:0 1:6:0 1:3:0", 2, symmetry=GROUP)


def of_hierarchies() -> Iterator[tuple[str, Data]]:
    """Yield certificates with symmetries that leave switches, and links between them, where they are."""
    hub = network("0-4 4-0 1-4 4-1 2-4 4-2 3-4 4-3", 4)
    turn = {"generators": [[1, 2, 3, 0, 4]], "commuting": [[1, 2, 3, 0, 4]]}
    pairs = [copied(0, [v]) for v in (1, 2, 3)]
    exchange = cert(hub, pairs, "0:0:0 1:0:1 2:0:2 1:3:0 2:5:1 3:7:2", 4, symmetry=turn)
    exchange = but(exchange, task={"name": "alltoall", "packets": 1})
    yield "a hub stays", exchange
    yield "a hub stays, and moves two to one", but(exchange, schedule__slot=[0, 1, 2, 2, 2, 3])
    yield "a hub stays, and sends four", but(exchange, rules__send=4)
    yield "a hub stays, and sends three", but(exchange, rules__send=3)
    yield "a hub stays, and receives four", but(exchange, rules__receive=4)
    yield "a hub stays, and receives three", but(exchange, rules__receive=3)
    yield "a hub stays, and holds four", but(exchange, rules__buffer=4)
    yield "a hub stays, and holds three", but(exchange, rules__buffer=3)
    claim: Data = {"time": None, "bound": "4"}
    load: Data = {"kind": "load", "whole": True, "blocks": False, "groups": [{"serve": "distance"}]}
    alone = but(exchange, schedule=..., claim=claim, bound=load | {"price": {"link": 1}, "only": [0]})
    yield "up to a hub that stays", alone
    yield "up to a hub that stays, one slot more", but(alone, claim__bound="5")
    ported = but(alone, rules__send=2, bound=load | {"price": {"send": [0, 0, 0, 0, 1]}})
    for slots in ("7", "8"):
        yield f"sent by a hub that stays, {slots}", but(ported, claim__bound=slots)
    yield "of nodes that stay nothing leads on", but(alone, symmetry__commuting=[])
    yield "a map of too few nodes", but(alone, symmetry__commuting=[[1, 2, 3, 0]])
    yield "a map to no node", but(alone, symmetry__commuting=[[1, 2, 3, 0, 5]])
    yield "a map of too many nodes", but(alone, symmetry__commuting=[[1, 2, 3, 0, 4, 4]])
    yield "a map that is no permutation", but(alone, symmetry__commuting=[[1, 2, 3, 0, 4], [4, 4, 4, 4, 4]])
    yield "a map that does not commute", but(alone, symmetry__commuting=[[1, 2, 3, 0, 4], [4, 4, 4, 0, 4]])
    yield "a hub and a rank stay", but(alone, symmetry={"generators": [[0, 2, 3, 1, 4]], "commuting": []})
    orbits = {"generators": [[0, 1, 3, 2, 4]], "commuting": [[2, 2, 2, 3, 4]]}
    yield "some ranks stay", but(alone, symmetry=orbits)
    again = {"generators": [[1, 0, 2, 3, 4]], "commuting": [[1, 0, 2, 3, 4]]}
    yield "other ranks stay", but(alone, symmetry=again)
    leaves = network("0-4 4-0 1-4 4-1 2-5 5-2 3-5 5-3 4-6 6-4 5-6 6-5", 4)
    swap = [2, 3, 0, 1, 5, 4, 6]
    group = {"generators": [swap], "commuting": [swap, [1, 0, 3, 2, 4, 5, 6], [4, 4, 5, 5, 4, 5, 6]]}
    told = cert(leaves, [copied(v, "all") for v in (0, 1)],
                "0:0:0 0:2:1 1:3:0 1:1:1 1:8:0 2:8:1 2:11:0 3:11:1 3:5:0 3:7:0 4:5:1 4:7:1", 5,
                symmetry=group)  # fmt: skip
    told = but(told, task={"name": "allgather", "packets": 1})
    yield "leaves move, a spine stays", told
    yield "leaves move without a map to them", but(told, symmetry__commuting=group["commuting"][:2])
    sets: Data = {"serve": "sets", "sets": [[0, 1, 4], [5, 3, 2]], "weights": 1}
    law = load | {"price": {"link": 1}, "only": [9], "groups": [sets]}
    for slots in ("5", "6"):
        yield f"into servers of an orbit, {slots}", but(told, claim__bound=slots, bound=law)
    for name, change in (
        ("one set of an orbit", {"sets": [[0, 1, 4]]}), ("sets of other weights", {"weights": [1, 0]}),
        ("a set of no node", {"sets": [[0, 1, 4], [2, 3, 7]]}),
        ("an orbit of sets that name nodes twice", {"sets": [[1, 4, 0, 0], [5, 3, 2, 2]]}),
    ):  # fmt: skip
        yield name, but(told, claim__bound="5", bound=law | {"groups": [sets | change]})
    middle = network("0-4 4-0 1-4 4-1 2-5 5-2 3-5 5-3 4-5 5-4", 4)
    wide = {**middle, "capacity": [1] * 8 + [2, 2]}
    both = {"generators": [[1, 0, 3, 2, 4, 5]], "commuting": [[1, 0, 3, 2, 4, 5], [2, 3, 0, 1, 5, 4]]}
    cross = cert(wide, [copied(0, [2])], "0:0:0 1:8:0 2:5:0", 3, symmetry=both)
    yield "a link that stays passes two", cross
    yield "a link that stays passes one", but(cross, network__capacity=1)
    over = but(cross, bound=load | {"price": {"link": [0] * 8 + [1, 0]}}, claim__bound="3")
    yield "a price on a link that stays", over
    yield "a price on a link that stays, of two orbits", but(
        over, network__capacity=1, schedule=..., claim={"time": None, "bound": "4"})  # fmt: skip
    yield "a price on a link that stays, one slot more", but(over, claim__bound="4")
    spines = network("0-2 2-0 0-3 3-0 1-2 2-1 1-3 3-1", 2)
    alike = cert(spines, [copied(0, [1])], "0:0:0 1:5:0", 2,
                 symmetry={"generators": [[0, 1, 3, 2]], "commuting": [[1, 0, 2, 3]]})  # fmt: skip
    yield "spines that only change places", alike
    yield "spines that change places with ranks", but(
        alike, symmetry={"generators": [[1, 0, 3, 2]], "commuting": [[1, 0, 3, 2], [2, 3, 2, 3]]})  # fmt: skip
    line = network("0-1 1-0 1-2 2-1 2-3 3-2")
    mirror = {"generators": [[3, 2, 1, 0]], "commuting": [[3, 2, 1, 0], [1, 0, 3, 2]]}
    cut: Data = {"kind": "cut", "whole": True, "blocks": False, "price": {"link": [0, 0, 1, 0, 0, 0]}}
    for slots in (4, 5):
        named = cert(line, [], "", 0, symmetry=mirror, task={"name": "alltoall", "packets": 1})
        witness = cut | {"since": [0, 0, slots, slots]}
        claim = {"time": None, "bound": str(slots)}
        yield f"a cut of a named collective with a symmetry, {slots}", but(
            named, schedule=..., claim=claim, bound=witness)  # fmt: skip
        items = {"items": [copied(0, [v]) for v in (2, 3)] + [copied(1, [v]) for v in (2, 3)]}
        yield f"a cut of items with a symmetry, {slots}", but(
            named, schedule=..., claim=claim, bound=witness, task=items)  # fmt: skip


def of_tasks() -> Iterator[tuple[str, Data]]:
    """Yield certificates with tasks of all kinds."""
    b = BROADCAST
    yield "no items", but(b, task={})
    yield "items no list", but(b, task__items={})
    yield "an item a number", but(b, task__items=[1])
    yield "an item without packets", but(b, task__items__0__packets=...)
    yield "another kind", but(b, task__items__0__kind="move")
    yield "a kind that is a list", but(b, task__items__0__kind=[])
    yield "from nobody", but(b, task__items__0__from=[])
    yield "to nobody", but(b, task__items__0__to=[])
    yield "from text", but(b, task__items__0__from="some")
    yield "from twice", but(b, task__items__0__from=[0, 0])
    yield "to twice", but(b, task__items__0__to=[1, 1])
    yield "from no rank", but(b, task__items__0__from=[3])
    yield "to no rank", but(b, task__items__0__to=[3])
    yield "to a switch", but(b, network__ranks=2)
    yield "to itself", but(b, task__items__0__to=[0, 1])
    yield "from two", but(b, task__items__0__from=[0, 1], task__items__0__to=[2], schedule__slot=[1],
                          schedule__link=[2], schedule__packet=[0], schedule__carries=[-1])  # fmt: skip
    yield "a sum of one", but(b, task__items=[summed([0], [0])])
    yield "a sum of one for another", but(b, task__items=[summed([0], [2])])
    yield "no packets", but(b, task__items__0__packets=0)
    yield "packets more than transfers", but(b, task__items__0__packets=3)
    yield "packets many", but(b, task__items__0__packets=10**15)
    yield "packets too many", but(b, task__items__0__packets=10**15 + 1)
    yield "nothing to do", cert(LINE, [], "", 0)
    full = network("0-1 0-2 1-0 1-2 2-0 2-1")
    each = [copied(u, [v for v in range(3) if v != u]) for u in range(3)]
    yield "allgather", cert(full, each, "0:0:0 0:1:0 0:2:1 0:3:1 0:4:2 0:5:2", 1)
    yield "allgather of two packets", cert(
        full, [but(x, packets=2) for x in each],
        "0:0:0 0:1:0 0:2:2 0:3:2 0:4:4 0:5:4 1:0:1 1:1:1 1:2:3 1:3:3 1:4:5 1:5:5", 2
    )  # fmt: skip
    yield "twice the same", cert(full, [each[0], each[0], each[2]], "0:0:0 0:1:0 0:4:2 0:5:2 1:0:1 1:1:1", 2)
    yield "unequal items", cert(full, [each[0], copied(1, "all", 2)], "0:0:0 0:1:0 0:2:1 0:3:1 1:2:2 1:3:2", 2)
    pairs = [copied(u, [v]) for u in range(3) for v in range(3) if v != u]
    direct = "0:0:0 0:1:1 0:2:2 0:3:3 0:4:4 0:5:5"
    yield "alltoall", cert(full, pairs, direct, 1)
    yield "alltoall but one", cert(full, pairs[:5], "0:0:0 0:1:1 0:2:2 0:3:3 0:4:4", 1)
    yield "scatter", cert(full, pairs[:2], "0:0:0 0:1:1", 1)
    yield "scatter, one twice", cert(full, [*pairs[:2], pairs[0]], "0:0:0 0:1:1 1:0:2", 2)
    yield "sums of one for one", cert(full, [summed(x["from"], x["to"]) for x in pairs], direct, 1)
    yield "sums of one for one from one", cert(full, [summed([0], [1]), summed([0], [2])], "0:0:0 0:1:1", 1)
    others = [summed(x["from"], x["to"]) for x in each]
    yield "sums of one for others", cert(full, others, "0:0:0 0:1:0 0:2:1 0:3:1 0:4:2 0:5:2", 1)
    yield "one pair and a broadcast", cert(full, [pairs[0], each[1]], "0:0:0 0:2:1 0:3:1", 1)
    yield "all pairs, one twice", cert(full, [*pairs[:5], pairs[0]], "0:0:0 0:1:1 0:2:2 0:3:3 0:4:4 1:0:5", 2)
    yield "from two to one", cert(full, [copied(0, [1]), copied(2, [1])], "0:0:0 0:5:1", 1)
    yield "from the second", cert(full, [pairs[2], pairs[3]], "0:2:0 0:3:1", 1)
    yield "broadcast from the second", cert(full, [each[1]], "0:2:0 0:3:0", 1)
    yield "reduce to the second", cert(full, [summed("all", [1])], "0:0:0 0:5:0", 1)
    yield "a sum of one for others", cert(full, [summed([0], [1, 2])], "0:0:0 0:1:0", 1)
    yield (
        "all pairs, one of them wider",
        cert(full, [each[0], *pairs[1:]], "0:0:0 0:1:0 0:2:2 0:3:3 0:4:4 0:5:5 1:1:1", 2),
    )
    yield "a broadcast and a message", cert(full, [each[0], pairs[1]], "0:0:0 0:1:0 1:1:1", 2)
    yield "scatter of two packets", cert(full, [copied(0, [1], 2), copied(0, [2], 2)], "0:0:0 0:1:2 1:0:1 1:1:3", 2)
    yield "gather", cert(full, [pairs[2], pairs[4]], "0:2:0 0:4:1", 1)
    yield "to one twice", cert(full, [pairs[0], pairs[0]], "0:0:0 1:0:1", 2)
    yield "two of one kind", cert(full, [pairs[0], pairs[3]], "0:0:0 0:3:1", 1)
    yield "one to one", cert(full, [pairs[0]], "0:0:0", 1)
    yield "one to one of two", cert(network("0-1 1-0"), [pairs[0]], "0:0:0", 1)
    yield "each to the other", cert(network("0-1 1-0"), [copied(0, [1]), copied(1, [0])], "0:0:0 0:1:1", 1)
    yield "reduce", cert(full, [summed("all", [0])], "0:2:0 0:4:0", 1)
    yield "reduce twice", cert(full, [summed("all", [0]), summed("all", [0])], "0:2:0 0:4:0 1:2:1 1:4:1", 2)
    scattered = [summed("all", [v]) for v in range(3)]
    yield "reduce-scatter", cert(full, scattered, "0:2:0 0:4:0 0:0:1 0:5:1 0:1:2 0:3:2", 1)
    yield "allreduce", cert(full, [summed("all", "all")], "0:0:0 0:1:0 0:2:0 0:3:0 0:4:0 0:5:0", 1)
    yield "allreduce of two", cert(
        full, [summed("all", "all", 2)],
        "0:0:0 0:1:0 0:2:0 0:3:0 0:4:0 0:5:0 1:0:1 1:1:1 1:2:1 1:3:1 1:4:1 1:5:1", 2
    )  # fmt: skip
    yield "sum of some", cert(full, [summed([0, 1], [0])], "0:2:0", 1)
    yield "sum of some for all", cert(full, [summed([0, 1], "all")], "0:2:0 0:0:0 1:1:0", 2)
    yield "sum of all for some", cert(full, [summed("all", [0, 1])], "0:2:0 0:4:0 0:0:0 0:5:0", 1)


def of_schedules() -> Iterator[tuple[str, Data]]:
    """Yield certificates with schedules of all kinds."""
    b = BROADCAST
    yield "no schedule", but(b, schedule=..., claim__time=None)
    yield "no schedule, but a time", but(b, schedule=...)
    yield "a schedule a list", but(b, schedule=[])
    yield "a slot of no length", but(b, time__slot="0", claim__time="0")
    yield "a slot that is a number", but(b, time__slot=1)
    yield "a time a list", but(b, time=[])
    yield "a claim a list", but(b, claim=[])
    yield "rules a list", but(b, rules=[])
    yield "a network a list", but(b, network=[])
    yield "a task a list", but(b, task=[])
    yield "a schedule, but no time", but(b, claim__time=None)
    yield "slot a list of text", but(b, schedule__slot=["0", 1])
    yield "slot negative", but(b, schedule__slot=[-1, 1])
    yield "slot huge", but(b, schedule__slot=[0, 10**15 + 1])
    yield "links too few", but(b, schedule__link=[0])
    yield "no such link", but(b, schedule__link=[0, 4])
    yield "link negative", but(b, schedule__link=[-1, 2])
    yield "packets too few", but(b, schedule__packet=[0])
    yield "no such packet", but(b, schedule__packet=[0, 1])
    yield "packet negative", but(b, schedule__packet=[0, -1])
    yield "carries too few", but(b, schedule__carries=[-1])
    yield "carries too small", but(b, schedule__carries=[-1, -2])
    yield "carries nothing", but(b, schedule__carries=[-1, []])
    yield "carries a list of one", but(b, schedule__carries=[-1, [0]])
    yield "carries the same twice", but(b, schedule__carries=[-1, [0, 0]])
    yield "carries a text", but(b, schedule__carries=[-1, "0"])
    yield "no carries", but(b, schedule__carries=...)
    yield "slots descend", but(b, schedule__slot=[1, 0])
    late = cert(LINE, [copied(0, [1]), copied(1, [2])], "1:0:0 0:2:1", 2)
    yield "rows in another order than slots", late
    yield "slots too early", but(b, schedule__slot=[0, 0])
    yield "a slot with a sign", but(b, time__slot="-1")
    yield "a slot with a line", but(b, time__slot="1\n")
    yield "a slot of other digits", but(b, time__slot="\u0661")
    yield "a slot that is no fraction", but(b, time__slot="1/0")
    yield "a slot of many digits", but(b, time__slot="1" * 61)
    yield "a slot of 60 digits", but(b, time__slot="1" * 60, claim__time="2" * 60)
    yield "a slot over 60 digits", but(b, time__slot="1/1" + "0" * 59, claim__time="2/1" + "0" * 59)
    yield "a slot over 61 digits", but(b, time__slot="1/1" + "0" * 60)
    yield "a time of half a slot", but(b, claim__time="5/2")
    yield "too few slots", but(b, claim__time="1")
    yield "no slots", but(b, claim__time="0")
    yield "a slot more", but(b, claim__time="3")
    yield "halves", but(b, time__slot="1/2", claim__time="1")
    yield "halves in whole slots", but(b, time__slot="1/2")
    yield "seconds", but(b, time__unit="second", time__slot="1/3", claim__time="2/3")
    yield "another unit", but(b, time__unit="hour")
    yield "a unit that is a list", but(b, time__unit=[])
    yield "a time without unit", but(b, time__unit=...)
    yield "another claim", but(b, claim__time="1")
    yield "a claim that is a number", but(b, claim__time=2)
    order = {"bound": "2", "time": "2"}
    yield "a claim in another order", but(b, claim=order, bound={"kind": "search"})
    yield "a claim in another order, too early", but(b, claim=order | {"time": "1"}, bound={"kind": "search"})
    yield "a claim without bound", but(b, claim__bound=...)
    yield "a transfer too few", but(b, schedule__slot=[0], schedule__link=[0], schedule__packet=[0],
                                       schedule__carries=[-1])  # fmt: skip
    yield "a transfer too many", but(b, schedule__slot=[0, 1, 1], schedule__link=[0, 1, 2], schedule__packet=[0, 0, 0],
                                     schedule__carries=[-1, 0, 0])  # fmt: skip
    yield "the other way", but(b, schedule__link=[0, 1])
    yield "what is not there", but(b, schedule__link=[2, 2])
    slow = cert(network("0-1 1-2", occupancy=[2, 1], latency=[1, 0]), [copied(0, [2])], "0:0:0 3:1:0", 4)
    yield "with times", slow
    yield "with times, too early", but(slow, schedule__slot=[0, 2])
    yield "with times, ends too late", but(slow, schedule__slot=[0, 4])
    yield "with times, too few slots", but(
        cert(network("0-1", occupancy=2, latency=1), [copied(0, [1])], "0:0:0", 3),
        claim__time="2",
    )  # fmt: skip


def of_sums() -> Iterator[tuple[str, Data]]:
    """Yield certificates in which partial sums meet."""
    full = network("0-1 0-2 0-3 1-0 1-2 1-3 2-0 2-1 2-3 3-0 3-1 3-2")  # link of u to v: 3u + v - (v > u)
    whole = [summed("all", "all")]
    doubling = "0:0:0 0:3:0 0:8:0 0:11:0 1:1:0 1:5:0 1:6:0 1:10:0"
    yield "doubling", cert(full, whole, doubling, 2)
    yield "doubling, once too few", cert(full, whole, doubling[:-6], 2)
    total = [summed("all", [0])]
    yield "counted twice", cert(full, total, "0:4:0 0:5:0 1:6:0 2:9:0", 3)
    yield "counted twice at the same time", cert(full, total, "0:4:0 0:5:0 1:6:0 1:9:0", 2)
    some = [summed([0, 1, 2], [0])]
    lone = network("1-2 1-3 2-0 3-0 2-1 3-1")
    yield (
        "counted twice where nobody asks",
        cert(lone, [summed([1, 2, 3], [1])], "0:0:0 0:1:0 0:4:0 0:5:0 1:2:0 2:3:0", 3),
    )
    yield (
        "counted twice at the end where nobody asks",
        cert(lone, [summed([1, 2, 3], [1])], "0:0:0 0:1:0 0:4:0 0:5:0 1:2:0 1:3:0", 2),
    )
    yield "wasted", cert(full, some, "0:7:0 1:3:0 1:6:0", 2)
    yield "replaced", cert(full, some, "0:3:0 1:1:0 2:6:0", 3)
    yield "disjoint ones together take the place", cert(full, total, "0:1:0 0:5:0 0:3:0 1:6:0 1:9:0", 2)
    yield "of two at once one is there", cert(full, total, "0:3:0 1:3:0 1:6:0 2:9:0", 3)
    yield "of two at once one is half there", cert(full, total, "0:3:0 0:4:0 1:6:0 1:9:0", 2)
    yield "two equal ones", cert(full, [summed([1, 2], [0])], "0:4:0 0:7:0 1:3:0 1:6:0", 2)
    earlier = network("0-1 1-0 1-2 2-1")
    yield "a sum of before", cert(earlier, [summed([0, 1], [2]), summed([1], [0])], "0:0:0 1:2:0 1:1:1:-1", 2)
    seven = network("3-0 0-1 0-2 1-4 1-2 2-4")
    yield "its own alone", cert(seven, [summed([0, 1, 3], [2])], "0:0:0 0:1:0:-1 1:2:0 1:4:0:-1+1", 2)
    yield "what is there, twice", cert(seven, [summed([0, 1, 3], [2])], "0:0:0 0:1:0:-1 1:2:0 1:3:0 1:4:0", 2)
    relay = cert(network("0-1 1-2 1-0"), [summed([0, 1, 2], [2])], "0:0:0 0:1:0 1:1:0:0", 2)
    yield "carried on", relay
    yield "not carried on", but(relay, schedule__carries=[-1, -1, -1])
    late = cert(network("0-1 1-2 1-0"), [summed([0, 1, 2], [2])], "0:0:0 1:1:0:0 2:1:0", 3)
    yield "carried on, and its own later", late
    deep = cert(network("0-1 1-2 3-0"), [summed([0, 1, 2, 3], [2])], "0:2:0 0:1:0 1:0:0 2:1:0:2", 3)
    yield "carried on, a later row", deep
    yield (
        "carried on, from elsewhere",
        cert(network("0-1 1-2 2-0 3-1"), [summed([0, 1, 2, 3], [0])], "0:3:0 1:2:0:0", 2),
    )
    sent = cert(network("0-1 0-2"), [copied(0, [1]), copied(0, [2])], "0:0:0 0:1:1", 1)
    yield "carried on, of another packet from there", but(sent, schedule__carries=[-1, 0])
    yield (
        "carried on, of another packet that came",
        cert(network("0-1 0-1 1-2"), [copied(0, [1, 2]), copied(0, [1])], "0:0:0 0:1:1 1:2:0:1", 2),
    )
    yield "carried on, of no such row", but(relay, schedule__carries=[-1, -1, 3])
    yield "carried on, of the same row", but(relay, schedule__carries=[-1, -1, 2])
    yield "carried on, of a later row", but(relay, schedule__carries=[-1, 2, -1])
    yield "carried on, of elsewhere", but(relay, schedule__link=[2, 1, 1])
    yield "carried on, too early", but(relay, network__occupancy=[2, 1, 1])
    other = cert(network("0-1 1-2"), [copied(0, [2]), copied(0, [1])], "0:0:0 1:0:1 1:1:0:0", 2)
    yield "carried on, a copy", other
    yield (
        "carried on, of another packet",
        but(
            other,
            schedule__slot=[0, 1, 2],
            claim__time="3",
            schedule__carries=[-1, -1, 1],
        ),
    )
    twice = cert(network("0-1 0-2 1-2"), [summed([0, 1], [2])], "0:1:0 0:2:0", 1)
    yield "sent twice", twice
    again = cert(network("0-1 0-2 1-0 2-1"), [summed([0, 1], [2]), copied(2, [1])], "0:0:0 0:2:0 1:1:0 2:3:1", 3)
    yield "sent again", again
    late = cert(network("0-1 2-1 1-3", occupancy=[1, 3, 1]), [summed([0, 1, 2], [3])], "0:0:0 0:1:0 3:2:0", 4)
    yield "one after the other", late
    yield "before the last is there", but(late, schedule__slot=[0, 0, 2])


def of_switches() -> Iterator[tuple[str, Data]]:
    """Yield certificates with switches that copy, add and cut through, or do not."""
    b = cert(STAR, [copied(0, [1, 2])], "0:0:0 1:4:0 1:5:0", 2)
    cut = {"rules__cut_through": True, "schedule__slot": [0, 0, 0], "claim__time": "1"}
    yield "a switch copies", b
    yield "a switch may not copy", but(b, rules__switches_copy=False)
    yield "a switch may not copy what it carries on", but(b, rules__switches_copy=False, schedule__carries=[-1, 0, 0])
    yield "a switch may copy what it carries on", but(b, schedule__carries=[-1, 0, 0])
    yield "a switch may not copy what it sent", but(b, rules__switches_copy=False, schedule__carries=[-1, 0, 1])
    yield "a switch may copy what it sent", but(b, schedule__carries=[-1, 0, 1])
    yield "a switch has nothing of its own", but(b, schedule__carries=[-1, 0, -1])
    yield "cut through", but(b, **cut)
    yield "cut through, in the wrong order", but(b, **cut, schedule__link=[4, 0, 5], schedule__carries=[1, -1, 1])
    yield "no cut through", but(b, **{**cut, "rules__cut_through": False})
    yield "cut through, carried on", but(b, **cut, schedule__carries=[-1, 0, 0])
    rank = but(BROADCAST, rules__cut_through=True, schedule__slot=[0, 0])
    yield "no rank cuts through", rank
    twice = cert(STAR, [copied(0, [1, 2])], "0:0:0 1:0:0 1:4:0:0 2:5:0:1", 3)
    yield "a copy for each", but(twice, rules__switches_copy=False)
    yield "a copy for each, carried on", but(twice, rules__switches_copy=False, schedule__carries=[-1, -1, 0, 1])
    slow = cert(network("0-1 1-2 2-1", occupancy=[2, 1, 1], latency=[1, 0, 0]), [copied(0, [1])], "0:0:0", 3)
    yield "slowly", slow
    times = but(network("0-2 2-1", 2), occupancy=[3, 1], latency=[1, 0])
    over = cert(times, [copied(0, [1])], "0:0:0 3:1:0", 4, {"cut_through": True})
    yield "the tail follows", over
    yield "the tail is overtaken", but(over, schedule__slot=[0, 2])
    yield "the head is there", but(over, network__occupancy=[3, 3], schedule__slot=[0, 1])
    yield "the head is not there", but(over, network__occupancy=[3, 4], schedule__slot=[0, 0])
    yield (
        "the head is not there, carried on",
        but(over, network__occupancy=[3, 4], schedule__slot=[0, 0], schedule__carries=[-1, 0]),
    )
    yield (
        "the head is there, carried on",
        but(over, network__occupancy=[3, 3], schedule__slot=[0, 1], schedule__carries=[-1, 0]),
    )
    yield "the tail is overtaken, carried on", but(over, schedule__slot=[0, 2], schedule__carries=[-1, 0])
    add = cert(STAR, [summed([0, 1], [2])], "0:0:0 0:1:0 1:5:0", 2, {"switches_add": True})
    yield "a switch adds", add
    yield "a switch may not add", but(add, rules__switches_add=False)
    yield "a switch passes on", but(add, rules__switches_add=False, schedule__carries=[-1, -1, 0])
    both = cert(STAR, [summed([0, 1], [2])], "0:0:0 0:1:0 1:5:0:0 2:5:0:1", 3)
    yield "a switch passes on both", both
    yield "a switch that may not copy passes on both", but(both, rules__switches_copy=False)
    yield (
        "a switch that may not copy passes on one twice",
        but(both, rules__switches_copy=False, schedule__carries=[-1, -1, 0, 0]),
    )
    yield "a switch that may not copy adds", but(add, rules__switches_copy=False)
    yield (
        "a switch that may not copy adds and sends twice",
        but(
            cert(STAR, [summed([0, 1], [1, 2])], "0:0:0 0:1:0 1:5:0 1:4:0", 2, {"switches_add": True}),
            rules__switches_copy=False,
        ),
    )
    yield (
        "a switch that may copy adds and sends twice",
        cert(STAR, [summed([0, 1], [1, 2])], "0:0:0 0:1:0 1:5:0 1:4:0", 2, {"switches_add": True}),
    )
    yield "what a switch cannot add is not counted", cert(STAR, [summed([0, 1], [0])], "0:0:0 0:1:0 1:0:0 1:3:0:1", 2)
    yield (
        "what a switch adds is counted",
        cert(STAR, [summed([0, 1], [0])], "0:0:0 0:1:0 1:0:0 1:3:0:1", 2, {"switches_add": True}),
    )
    parallel = cert(
        network("0-2 0-2 2-1", 2, occupancy=[5, 2, 2], latency=[0, 0, 0]), [copied(0, [1])],
        "0:0:0 0:1:0 0:2:0", 5, {"cut_through": True},
    )  # fmt: skip
    yield "the tail of the faster", parallel
    tails = cert(
        network("0-3 1-3 3-2", 3, occupancy=[4, 2, 2]), [summed([0, 1], [2])], "0:0:0 0:1:0 2:2:0", 4,
        {"cut_through": True, "switches_add": True},
    )  # fmt: skip
    yield "the tail of both", tails
    yield "the tail of one", but(tails, schedule__slot=[0, 0, 1])
    meets = network("1-2 1-3 2-4 3-4 2-0 3-0", 4)
    free = cert(meets, [summed([1, 2], [0])], "0:0:0 0:1:0 1:2:0 1:3:0 1:4:0", 2)
    yield "what no switch adds does not matter", free
    three = cert(meets, [summed([1, 2, 3], [0])], "0:0:0 0:4:0 0:5:0 1:2:0 1:4:0", 2)
    four = cert(
        network("1-2 1-3 2-4 3-4 2-0 3-0 1-0", 4), [summed([1, 2, 3], [0])],
        "0:0:0 0:1:0 0:4:0 0:5:0 0:6:0 1:2:0 1:3:0", 2,
    )  # fmt: skip
    yield "less than there is", three
    yield "what a switch does not add does not matter", four
    yield "what a switch adds matters", but(four, rules__switches_add=True)
    joint = cert(
        network("1-0 0-2 1-3 0-5 2-5 3-5 5-4", 5, occupancy=[1, 1, 1, 1, 1, 2, 2]), [summed([0, 1, 2, 3], [4])],
        "0:0:0 0:1:0 0:2:0 1:3:0 2:4:0 2:5:0 2:6:0", 4, {"cut_through": True, "switches_add": True},
    )  # fmt: skip
    yield "heads at once, tails not", joint
    equal = cert(
        network("1-0 0-2 0-3 2-5 3-5 5-4", 5, occupancy=[1, 1, 1, 3, 1, 1]), [summed([0, 1], [4])],
        "0:0:0 1:1:0 1:2:0 2:3:0 2:4:0 2:5:0", 5, {"cut_through": True, "switches_add": True},
    )  # fmt: skip
    yield "equal heads at once, tails not", equal


def of_generations() -> Iterator[tuple[str, Data]]:
    """Yield certificates of schedules that repeat."""
    line = network("0-1 1-2")
    s = cert(line, [copied(0, [1, 2], 4)], "0:0:0 1:1:0", 5, repetition={"period": 1, "generations": 4})
    yield "repeats", s
    yield "repeats, no period", but(s, schedule__period=0)
    yield "repeats, no generation", but(s, schedule__generations=0)
    yield "repeats, of so many", but(s, schedule__generations=3)
    yield "repeats, too late", but(s, claim__time="4")
    yield "repeats later", but(s, schedule__period=2, claim__time="8")
    slow = but(s, network__occupancy=2, schedule__slot=[0, 2], claim__time="7")
    yield (
        "repeats later, too late",
        but(s, schedule__period=2, claim__time="7"),
    )
    yield "repeats too soon", slow
    yield "repeats in time", but(slow, schedule__period=2, claim__time="10")
    each = cert(line, [copied(0, [1], 4)], "0:0:0", 4, repetition={"generations": 4})
    yield "repeats in each slot", each
    yield "repeats in each slot, too late", but(each, claim__time="3")
    meet = cert(
        network("0-1 1-0 1-2"), [copied(0, [2], 2)], "0:0:0 3:2:0", 6, repetition={"period": 2, "generations": 2}
    )
    yield "repeats with a pause", meet
    three = cert(network("0-1 1-0"), [copied(0, [1], 4)], "0:0:0 3:0:1", 8, repetition={"period": 3, "generations": 2})
    yield "repeats into itself", three
    yield "repeats past itself", but(three, schedule__period=4)
    yield "repeats past itself, closely", but(three, schedule__period=2)
    many = cert(line, [copied(0, [1], 10**9)], "0:0:0", 10**10, repetition={"period": 1, "generations": 10**9})
    yield "repeats often", many
    long = but(
        many, network__occupancy=[10**9, 1], claim__time=str(10**10),
        network__capacity=10**9,
    )  # fmt: skip
    yield "repeats often at once", long
    last = str(2 * 10**9 + 1)
    yield (
        "repeats often, from a late slot on",
        but(many, schedule__slot=[10**9], claim__time=last),
    )
    yield "repeats often, slowly", but(
        many, schedule__period=10**5, network__occupancy=10**5,
        claim__time=str(10**15),
    )  # fmt: skip
    busy = cert(
        network("0-1", capacity=10**15, occupancy=10**5), [copied(0, [1], 2000 * 10**5)],
        " ".join(f"0:0:{p}" for p in range(2000)), 2 * 10**5, repetition={"period": 1, "generations": 10**5},
    )  # fmt: skip
    yield "many repeat often at once", busy
    yield "buffers repeat", but(s, rules__buffer=1)
    yield (
        "buffers repeat, longer",
        but(s, rules__buffer=1, schedule__slot=[0, 2], claim__time="6"),
    )
    yield (
        "wide buffers repeat, longer",
        but(s, rules__buffer=2, schedule__slot=[0, 2], claim__time="6"),
    )
    yield "buffers of all repeat", but(s, rules__buffer=9, rules__buffer_counts="all")
    twice = cert(line, [copied(0, [1, 2], 2)], "0:0:0 1:1:0", 3, repetition={"period": 1, "generations": 2})
    yield "buffers of all repeat once", but(twice, rules__buffer=9, rules__buffer_counts="all")
    pairs = cert(network("0-1"), [copied(0, [1], 3)], "0:0:0", 3, repetition={"period": 2, "generations": 3})
    yield "repeats with pauses", but(pairs, claim__time="5")
    yield "repeats with pauses, too late", but(pairs, claim__time="4")
    yield "nothing repeats", cert(line, [], "", 0, repetition={"period": 1, "generations": 2})


def of_buffers() -> Iterator[tuple[str, Data]]:
    """Yield certificates with limits of buffers."""
    line = network("0-1 1-2 2-1 1-0")
    two = cert(line, [copied(0, [2], 2)], "0:0:0 1:0:1 2:1:0 3:1:1", 4)
    yield "two wait", but(two, rules__buffer=2)
    yield "two wait where there is room for one", but(two, rules__buffer=1)
    yield "two wait, one after the other", but(two, rules__buffer=1, schedule__slot=[0, 1, 1, 2])
    every = {"rules__buffer_counts": "all"}
    yield "all of two", but(two, rules__buffer=2, **every)
    yield "all of two, one too many", but(two, rules__buffer=1, **every)
    own = cert(line, [copied(0, [1]), copied(1, [0])], "0:0:0 0:3:1", 1)
    yield "own and delivered", but(own, rules__buffer=1, **every)
    stays = cert(line, [copied(0, [1], 2)], "0:0:0 1:0:1", 2)
    yield "delivered ones stay", but(stays, rules__buffer=1, **every)
    yield "delivered ones do not count", but(stays, rules__buffer=1)
    meet_there = cert(LINE, [copied(0, [1]), copied(2, [1])], "0:0:0 1:3:1", 2)
    yield "two delivered ones stay", but(meet_there, rules__buffer=1, **every)
    yield "two delivered ones stay where there is room", but(meet_there, rules__buffer=2, **every)
    yield (
        "delivered ones that go on",
        but(cert(line, [copied(0, [1, 2], 2)], "0:0:0 1:0:1 2:1:0 3:1:1", 4), rules__buffer=1),
    )
    back = cert(line, [copied(0, [2])], "0:0:0 1:3:0 2:0:0 3:1:0", 4)
    yield "back and forth", but(back, rules__buffer=1)
    add = cert(line, [summed([0, 1, 2], [0])], "0:2:0 1:3:0", 2)
    yield "a sum waits", but(add, rules__buffer=1)
    adds = cert(line, [summed([0, 1, 2], [0], 2)], "0:2:0 1:2:1 2:3:0 3:3:1", 4)
    yield "two sums wait", but(adds, rules__buffer=2)
    yield "two sums wait where there is room for one", but(adds, rules__buffer=1)
    yield "two sums, all that is there", but(adds, rules__buffer=2, **every)
    yield "two sums, all that is there, too much", but(adds, rules__buffer=1, **every)
    old = cert(network("0-1 1-0 1-2 2-1"), [summed([0, 1], [2]), summed([1], [0])], "0:0:0 1:2:0 1:1:1:-1", 2)
    yield "older sums take room", but(old, rules__buffer=1)
    star = cert(STAR, [copied(0, [1]), copied(0, [2])], "0:0:0 1:0:1 2:4:0:0 3:5:1:1", 4, {"switches_copy": False})
    yield "two wait in a switch", but(star, rules__buffer=2)
    yield "two wait in a switch for one", but(star, rules__buffer=1)
    yield "one after the other in a switch", but(star, rules__buffer=1, schedule__slot=[0, 1, 1, 2])
    cut = cert(STAR, [copied(0, [1]), copied(0, [2])], "0:0:0 0:4:0:0 1:0:1 1:5:1:2", 2, {"cut_through": True})
    yield "nothing waits that cuts through", but(cut, rules__buffer=1)
    meet = cert(network("0-2 1-2 2-3", 4), [copied(0, [3]), copied(1, [3])], "0:0:0 0:1:1 1:2:0 2:2:1", 3)
    passed = cert(
        STAR, [copied(0, [1]), copied(1, [2])], "0:1:1 1:0:0 1:4:0 2:5:1", 3, {"cut_through": True, "buffer": 1}
    )
    yield "one cuts through while one waits", passed
    yield "two come at once", but(meet, rules__buffer=1)
    yield "two come at once and are carried on", but(meet, rules__buffer=1, schedule__carries=[-1, -1, 0, 1])
    pass_by = cert(network("0-2 1-2 2-3 2-4"), [copied(0, [3]), copied(1, [4])], "0:0:0 0:1:1 1:2:0:0 1:3:1:1", 2)
    yield "two pass by", but(pass_by, rules__buffer=1)
    yield "two pass by where there is room", but(pass_by, rules__buffer=2)
    ready = cert(line, [copied(1, [0]), copied(1, [2])], "0:3:0 0:1:1", 1)
    yield "own ones from the start", but(ready, rules__buffer=1, **every)
    yield "own ones from the start where there is room", but(ready, rules__buffer=2, **every)
    again = cert(network("0-1 1-0 1-2 0-3 3-1"), [copied(0, [2]), copied(0, [3])], "0:0:0 1:1:0 2:0:0 3:2:0 3:3:1", 4)
    yield "back at its origin", but(again, rules__buffer=1)
    net = network("0-2 1-2 2-3 4-2 2-5")
    grown = cert(net, [summed([0, 1], [3]), copied(4, [5])], "0:0:0 1:3:1 2:1:0 2:4:1 3:2:0", 4)
    yield "a sum grows", but(grown, rules__buffer=1)
    yield "a sum grows where there is room", but(grown, rules__buffer=2)
    slow = cert(
        {**net, "occupancy": [3, 1, 1, 1, 1]}, [summed([0, 1], [3]), copied(4, [5])],
        "0:0:0 0:1:0 0:3:1 1:4:1 3:2:0", 4,
    )  # fmt: skip
    yield "a sum grows, its first part early", but(slow, rules__buffer=1)
    yield "two come at once where there is room", but(meet, rules__buffer=2)
    replaced = cert(network("0-1 1-0 1-2 2-1"), [summed([0, 1], [0, 1]), copied(2, [0])],
                    "0:0:0 0:3:1 1:1:0 2:1:1", 3)  # fmt: skip
    yield "a sum and a copy wait", but(replaced, rules__buffer=2)
    yield "a sum and a copy wait where there is room for one", but(replaced, rules__buffer=1)


def of_bounds() -> Iterator[tuple[str, Data]]:
    """Yield certificates with bounds that are searched, or none."""
    b = BROADCAST
    yield "by search", but(b, bound={"kind": "search"}, claim__bound="2")
    yield "a bound without witness", but(b, claim__bound="2")
    yield "a bound of a number", but(b, claim__bound=2)
    yield "a fraction", but(b, bound={"kind": "search"}, claim__bound="3/2")
    yield "of one", but(b, bound={"kind": "search"}, claim__bound="1")
    far = {"kind": "reach", "whole": True, "blocks": False}
    yield "met", but(b, bound=far, claim__bound="2")
    yield "not met", but(b, bound=far, claim__bound="3/2")
    yield "nothing", but(b, bound=far, claim__bound="0")
    yield "too much", but(b, bound=far, claim__bound="3")
    yield "alone", but(b, bound=far, claim__bound="2", schedule=..., claim__time=None)
    yield "alone, too much", but(b, bound=far, claim__bound="5/2", schedule=..., claim__time=None)
    yield "of parts", but(b, bound={**far, "whole": False}, claim__bound="0")
    halves = but(b, bound=far, time__slot="1/2", claim__time="1")
    yield "of halves", but(halves, claim__bound="1")
    yield "of halves, too much", but(halves, claim__bound="2")
    full = network("0-1 0-2 1-0 1-2 2-0 2-1", latency=5)
    rows = " ".join(f"{p}:{e}:{p}" for p in range(3) for e in range(6))
    direct = cert(full, [summed("all", "all", 3)], rows, 8, bound={**far, "blocks": True})
    yield "of a form, met by another", but(direct, claim__bound="8")
    yield "of a form, which another beats", but(direct, claim__bound="9")
    yield "of a form, of parts", but(direct, claim__bound="13", bound={**far, "blocks": True, "whole": False})
    yield "of a form, of smaller parts", but(direct, claim__bound="10", bound={**far, "blocks": True, "whole": False})
    yield "of a form, too much", but(direct, claim__bound="13")
    yield (
        "of a form, of packets that are not alike",
        but(direct, claim__bound="8", task__items__0__packets=2, schedule=..., claim__time=None),
    )
    yield "of a kind that is a list", but(b, bound={"kind": ["travel"]}, claim__bound="2")
    yield "a witness that is a list", but(b, bound=[], claim__bound="2")
    yield "whole a number", but(b, bound={**far, "whole": 1}, claim__bound="2")
    yield "blocks a number", but(b, bound={**far, "blocks": 1}, claim__bound="2")
    yield "a key of a law too many", but(b, bound={**far, "price": {}}, claim__bound="2")
    yield "a key of a law too few", but(b, bound={"kind": "reach", "whole": True}, claim__bound="2")
    travel = {"kind": "reach", "whole": True, "blocks": False}
    yield "optimal", but(b, bound=travel, claim__bound="2")
    yield "less than is proved", but(b, bound=travel, claim__bound="1")
    yield "three quarters of what is proved", but(b, bound=travel, claim__bound="3/2")
    yield "more than is proved", but(b, bound=travel, claim__bound="3")
    yield "in half slots", but(b, bound=travel, claim__bound="1", time__slot="1/2")
    yield "more than is proved in half slots", but(b, bound=travel, claim__bound="2", time__slot="1/2")
    short = but(b, task__items=[copied(0, [1, 2], 10)], bound=travel, claim__bound="2", schedule=..., claim__time=None)
    yield "a bound alone", short
    two = network("0-1 1-0", latency=3)
    swap = cert(two, [summed([0, 1], [0, 1], 2)], "0:0:0 0:1:0 1:0:1 1:1:1", 5)
    yield (
        "faster than another form can be",
        but(swap, bound={**travel, "blocks": True}, claim__bound="8"),
    )
    yield "an unknown witness", but(b, bound={"kind": "belief"}, claim__bound="2")


def of_growth() -> Iterator[tuple[str, Data]]:
    """Yield bounds by how many nodes can be told something in a time, each met and one more."""
    full = network(" ".join(f"{u}-{v}" for u in range(5) for v in range(5) if u != v))
    deep = network("0-1 1-0 0-2 2-0 1-3 3-1 2-4 4-2 1-5 5-1 2-6 6-2")
    hub = network("0-4 4-0 1-4 4-1 2-4 4-2 3-4 4-3", 4)
    two = network("0-5 5-0 1-5 5-1 2-5 5-2 3-5 5-3 4-5 5-4 5-6 6-5", 5, capacity=2)
    one, once = {"send": 1, "receive": 1}, {"switches_copy": False}
    slow = network(" ".join(f"{u}-10 10-{u}" for u in range(10)), 10, occupancy=3, latency=1)
    tell, add = copied(0, "all"), summed("all", [0])
    for name, net, item, rules, far, slots in (
        ("one port", full, tell, one, 0, 3),
        ("one port, sums", full, add, one, 0, 3),
        ("one port, three packets a time", full, tell, {"send": 3}, 0, 2),
        ("no port", full, tell, {}, 0, 1),
        ("no port, wide links", {**full, "capacity": 2}, tell, {}, 0, 1),
        ("one port, slowly", {**full, "occupancy": 2, "latency": 1}, tell, one, 0, 7),
        ("one port, links of two kinds", {**full, "occupancy": [1, 2] * 10, "latency": [0, 3] * 10}, tell, one, 0, 5),
        ("one port, two hops away", deep, tell, one, 2, 3),
        ("one port, two slow hops away", {**deep, "occupancy": 3}, tell, one, 4, 9),
        ("one port, two slow hops away, sums", {**deep, "occupancy": 3}, add, one, 4, 9),
        ("a switch that does not copy", hub, tell, once, 0, 4),
        ("a switch that does not add", hub, add, once, 0, 4),
        ("a switch that does not copy, one rank slow", {**hub, "latency": [0, 0, 2, *[0] * 5]}, tell, once, 0, 4),
        ("a switch that does not copy, two ranks slow", {**hub, "latency": [0, 0, 2, 2] * 2}, tell, once, 0, 4),
        ("a switch that does not copy, one port", hub, tell, once | one, 0, 4),
        ("a switch that cuts through and does not copy", hub, tell, once | {"cut_through": True}, 0, 2),
        ("a switch that cuts through", hub, tell, {"cut_through": True}, 0, 1),
        ("a switch that cuts through, one port", hub, tell, {"cut_through": True} | one, 0, 1),
        ("a switch that cuts through slowly, one port", slow, tell, {"cut_through": True} | one, 0, 5),
        ("a switch that copies", hub, tell, {}, 0, 2),
        ("a switch that copies, one port", hub, tell, one, 0, 2),
        ("a switch that copies, one port, two hops away", hub, tell, one, 2, 3),
        ("wide links to a switch", two, tell, once, 0, 3),
        ("wide links to a switch, as far as can be", two, tell, once, 2, 3),
        ("one port, of no node so far", full, tell, one, 9, 1),
        ("one port, two furthest ones", network("0-1 1-2 2-3 2-4"), copied(0, [3, 4]), one, 3, 4),
        ("one port, of three two furthest ones", network("0-1 1-2 2-3 2-4"), copied(0, [1, 3, 4]), one, 3, 4),
        ("one port, two furthest ones by switches", network("0-3 3-4 4-1 4-2", 3), copied(0, [1, 2]), one, 3, 4),
        ("one port, sums of two furthest ones", network("1-0 2-1 3-2 4-2"), summed([3, 4], [0]), one, 3, 4),
    ):
        law = {"kind": "reach", "far": far, "whole": True, "blocks": False}
        given = but(cert(net, [item], "", 0, rules), schedule=...)
        for more in (0, 1):
            claim = {"time": None, "bound": str(slots + more)}
            yield f"told by {name}" + ", one slot more" * more, but(given, claim=claim, bound=law)


def of_names() -> Iterator[tuple[str, Data]]:
    """Yield certificates whose task is a usual collective by its name."""
    full = network("0-1 0-2 1-0 1-2 2-0 2-1")
    others = [copied(u, [v for v in range(3) if v != u]) for u in range(3)]
    pairs = [copied(u, [v]) for u in range(3) for v in range(3) if v != u]
    sums = [summed("all", [v]) for v in range(3)]
    for name, items, root in (
        ("broadcast", others[1:2], 1), ("scatter", pairs[2:4], 1), ("gather", [pairs[0], pairs[5]], 1),
        ("reduce", sums[1:2], 1), ("allgather", others, None), ("alltoall", pairs, None),
        ("reduce-scatter", sums, None), ("allreduce", [summed("all", "all")], None),
    ):  # fmt: skip
        ends = {(u, v): e for e, (u, v) in enumerate(zip(full["source"], full["target"], strict=True))}
        rows = [(ends[u, v], p) for p, x in enumerate(items) for u in listed(x, 3)["from"]
                for v in listed(x, 3)["to"] if u != v]  # fmt: skip
        given = cert(full, items, " ".join(f"0:{e}:{p}" for e, p in rows), 1)
        task: Data = {"name": name, "packets": 1, **({} if root is None else {"root": root})}
        yield f"{name} by name", but(given, task=task)
        yield f"{name} by name, of two packets", but(given, task=task | {"packets": 2})
        yield f"{name} by name, another root", but(given, task=task | {"root": 2})
        yield f"{name} by name, no such root", but(given, task=task | {"root": 3})
        turn = {"generators": [[1, 2, 0]], "commuting": [[1, 2, 0]]}
        yield f"{name} by name, with a symmetry", but(given, task=task, symmetry=turn)
        alone = but(given, task=task | {"packets": 6}, symmetry=turn, schedule=..., claim__time=None)
        yield f"{name} by name, with a symmetry, of six packets", alone
    only = cert(full, sums[:1], "0:2:0 0:4:0", 1)
    yield "a result", only
    for name, changes in (
        ("no packet", {"packet": 1}), ("no node", {"link": 9}), ("its own twice", {"carries": [-1, -1, 0, 1]}),
        ("half", {"carries": [-1, 0]}), ("a row to come", {"carries": [-1, 0, 2]}), ("another node", {"link": 7}),
        ("nothing", {"carries": []}), ("what is not there yet", {"slot": 0}), ("what comes late", {"slot": 2}),
    ):  # fmt: skip
        wrong = json.loads(json.dumps(only))
        for column, value in changes.items():
            wrong["schedule"][column][2] = value
        yield f"a result of {name}", wrong
    wrong = json.loads(json.dumps(only))
    for column in ("slot", "link", "packet", "carries"):
        wrong["schedule"][column].pop()
    yield "no results", wrong
    on = cert(LINE, [summed([0, 1], [1, 2])], "0:0:0 1:2:0", 2)
    wrong = json.loads(json.dumps(on))
    plan = wrong["schedule"]
    for column, rows in (("slot", [0, 1, 1, 2]), ("link", [0, 5, 2, 6]), ("carries", [[-1], [-1, 0], [1], [2]])):
        plan[column] = rows
    yield "a result that is carried on", wrong
    yield "a result that stays", on
    six = network(" ".join(f"{u}-{v}" for u in range(6) for v in range(6) if u != v))
    law = {"kind": "reach", "far": 0, "whole": True, "blocks": False}
    for slots in ("2", "3"):
        given = cert(six, [copied(0, [2, 3, 4, 5]) | {"from": [0, 1]}], "", 0, {"send": 1, "receive": 1})
        claim = {"time": None, "bound": slots}
        yield f"told by two, {slots} slots", but(given, schedule=..., bound=law, claim=claim)


def of_cuts() -> Iterator[tuple[str, Data]]:
    """Yield bounds by prices, and by cuts of links and slots, each met and one more."""
    line = network("0-1 1-0 1-2 2-1 2-3 3-2")
    slow = {**line, "occupancy": 2, "latency": 1}
    away, home = [copied(0, [v]) for v in (1, 2, 3)], [copied(v, [0]) for v in (1, 2, 3)]
    cut: Data = {"kind": "cut", "price": {"link": 1}, "whole": True, "blocks": False}
    load: Data = {"kind": "load", "price": {"link": 1}, "whole": True, "blocks": False}
    hops: Data = {"groups": [{"serve": "distance"}]}
    reach: Data = {"kind": "reach", "whole": True, "blocks": False}
    port = {"links": [0], "capacity": 1, "occupancy": 1, "receiving": False}
    for name, net, items, law, slots in (
        ("a scatter", line, away, cut | {"since": [0, 3, 3, 3]}, 3),
        ("a gather", line, home, cut | {"since": [3, 0, 0, 0]}, 3),
        ("four to one", line, [copied(0, [2], 4)], cut | {"since": [0, 4, 5, 5]}, 5),
        ("four to one, slowly", slow, [copied(0, [2], 4)], cut | {"since": [0, 9, 12, 12]}, 12),
        ("a sum", line, [summed("all", [0], 3)], cut | {"since": [3, 0, 0, 0]}, 3),
        ("a sum at the other end", line, [summed("all", [3], 3)], cut | {"since": [0, 3, 4, 5]}, 5),
        ("of two sources", line, [copied(0, [3], 3) | {"from": [0, 1]}], cut | {"since": [0, 0, 4, 5]}, 3),
        ("a link that is too late", line, [copied(0, [3])], cut | {"since": [0, 0, 0, 3]}, 1),
        ("hops", line, away, load | hops | {"whole": False}, 1),
        ("hops over two links", line, away, load | hops | {"only": [0, 2]}, 3),
        ("hops, slowly", slow, away, load | hops | {"only": [0, 2]}, 8),
        ("a price on one link", line, away, load | hops | {"price": {"link": [2, 0, 0, 0, 0, 0]}}, 3),
        ("of some", line, [*away, *home], load | {"only": [0], "groups": [{"serve": "distance", "from": [0]}]}, 3),
        ("a shared port", network("0-1", occupancy=3, latency=1, shared=[port]), [copied(0, [1], 5)],
         load | hops | {"price": {"shared": 1}}, 8),
        ("a shared port that receives", network("0-1", occupancy=3, latency=1, shared=[{**port, "receiving": True}]),
         [copied(0, [1], 5)], load | hops | {"price": {"shared": 1}}, 8),
        ("a price on wide links", network("0-1", capacity=2), [copied(0, [1], 6)],
         load | hops | {"price": {"link": 2}}, 3),
        ("a sum by blocks", line, [summed("all", "all", 4)], reach | {"blocks": True, "of": "sum"}, 6),
        ("copies by blocks", line, [summed("all", "all", 4)], reach | {"blocks": True, "of": "copy"}, 6),
        ("a sum for nobody", line, [summed("all", [0])], reach | {"to": [3]}, 0),
        ("a copy for nobody", line, [copied(0, [3])], reach | {"to": [2]}, 0),
        ("a copy from nobody", line, [copied(0, [3])], reach | {"from": [1]}, 0),
        ("a sum of nothing", line, [summed([1, 2], [0])], reach | {"from": [0]}, 0),
        ("what one of a sum has", line, [summed("all", "all")], reach | {"from": [0]}, 3),
        ("what one of a sum has, for some", line, [summed("all", "all")], reach | {"from": [1], "to": [0, 1, 2]}, 1),
        ("of sums", line, [*away, summed("all", [0])],
         load | {"only": [1], "groups": [{"serve": "distance", "of": "sum"}]}, 1),
    ):  # fmt: skip
        given = but(cert(net, items, "", 0), schedule=...)
        if name == "hops":
            turned = cert(RING, [copied(0, "all")], "", 0, symmetry=GROUP)
            each = [[v] for v in range(4)]
            for sets, weights in ((each, 1), (each, [1, 1, 0, 0]), ([[0]], 1)):
                served = load | {"groups": [{"serve": "sets", "sets": sets, "weights": weights}]}
                for value in ("2", "3"):
                    claim = {"time": None, "bound": value}
                    told = f"sets of orbits, {len(sets)} of {weights}, {value}"
                    yield told, but(turned, schedule=..., bound=served, claim=claim)
            nothing = cert({**LINE, "source": [], "target": []}, [copied(0, [1])], "", 0)
            claim = {"time": None, "bound": "5"}
            yield "no link", but(nothing, schedule=..., bound=reach | {"far": 0}, claim=claim)
        if name == "a scatter":
            claim = {"time": None, "bound": "3"}
            yield "a cut of too few nodes", but(given, bound=law | {"since": [0, 3]}, claim=claim)
            twice = load | {"groups": 2 * hops["groups"]}
            yield "items that count twice", but(given, bound=twice, claim=claim)
            yield "a cut of parts", but(given, bound=law | {"whole": False}, claim=claim)
            yield (
                "a cut with a symmetry",
                but(
                    given, bound=law, claim=claim, symmetry={"generators": [[3, 2, 1, 0]], "commuting": [[1, 0, 3, 2]]}
                ),
            )
            yield (
                "a cut of a ring",
                but(cert(RING, [copied(0, "all")], "", 0, symmetry=GROUP), schedule=..., bound=law, claim=claim),
            )
            yield (
                "a cut where switches cut through",
                but(given, bound=law, claim=claim, network__ranks=3, rules__cut_through=True, task__items=items[:2]),
            )
            yield "a cut where no switch cuts through", but(given, bound=law, claim=claim, rules__cut_through=True)
        for more in (0, 1):
            claim = {"time": None, "bound": str(slots + more)}
            yield f"bound of {name}" + ", one slot more" * more, but(given, claim=claim, bound=law)


def of_trees() -> Iterator[tuple[str, Data]]:
    """Yield bounds of an allreduce by trees, through a switch, and of one rank alone."""
    hub = network("0-4 4-0 1-4 4-1 2-4 4-2 3-4 4-3", 4)
    law = {"kind": "load", "price": {"link": 1}, "groups": [{"serve": "trees"}], "whole": False, "blocks": False}
    for name, rules in (
        ("does nothing", {"switches_copy": False}), ("copies", {}), ("copies and adds", {"switches_add": True}),
        ("adds", {"switches_copy": False, "switches_add": True}),
    ):  # fmt: skip
        given = but(cert(hub, [summed("all", "all")], "", 0, rules), schedule=..., bound=law)
        for value in ("3/4", "7/8", "1", "3/2", "13/8", "2"):
            yield f"trees where a switch {name}, {value}", but(given, claim={"time": None, "bound": value})
    alone = cert({**LINE, "nodes": 1, "ranks": 1, "source": [], "target": []}, [summed([0], [0])], "", 0)
    reach = {"kind": "reach", "whole": True, "blocks": True}
    both = [summed("all", "all", 3), copied(0, [2]), summed("all", [1])]
    beside = cert(LINE, both, "", 0, symmetry={"generators": [], "commuting": [[1, 2, 0]]})
    far: Data = {"kind": "reach", "whole": True, "blocks": True}
    for value in ("4", "5"):
        claim = {"time": None, "bound": value}
        yield f"blocks beside other items, {value}", but(beside, schedule=..., bound=far, claim=claim)
    ring = cert(RING, [], "", 0, task={"name": "allreduce", "packets": 8}, symmetry=GROUP)
    for blocks in (False, True):
        law = {
            "kind": "load",
            "price": {"link": 1},
            "groups": [{"serve": "distance"}],
            "whole": False,
            "blocks": blocks,
        }
        for value in ("2", "4", "8", "16"):
            claim = {"time": None, "bound": value}
            yield f"hops of a ring, blocks {blocks}, {value}", but(ring, schedule=..., bound=law, claim=claim)
    yield "blocks of one rank", but(alone, schedule=..., bound=reach, claim={"time": None, "bound": "1"})


EVERYWHERE = (
    "alltoall 10 3 2 - - 5", "alltoall 10 3 2 - - 5.0", "broadcast 60 4 2 2 2 5", "allgather 4 2 2 - - 2",
    "reduce-scatter 5 3 2 - - 10/7.0", "allgather 2 2 1 - - 1/2.0", "reduce 2 2 2 - - 1", "scatter 2 1 1 1 - 1",
    "broadcast 2 2 2 - 2 1/4.0", "gather 2 5 1 - 2 1/2.0", "reduce 2 5 1 1 - 1/2.0", "broadcast 3 5 1 - 1 1",
    "reduce 3 3 1 1 - 1", "reduce 3 1 1 - 1 2", "broadcast 12 2 1 1 - 4", "gather 7 3 2 - - 2", "scatter 7 3 2 1 - 6",
    "reduce-scatter 6 3 1 - 1 5",
)  # fmt: skip
"""A collective on all networks of so many nodes, of so many links each, one way or two; ports to send and to receive;
the least slots, with ``.0`` for parts of packets."""


def of_all_networks() -> Iterator[tuple[str, Data]]:
    """Yield bounds on all networks of a size and degree, each met and one more, and networks that are none of them."""
    known = [(line, False, 1) for line in EVERYWHERE]
    known += [(f"allreduce 6 4 2 - - {slots}", blocks, 6) for slots, blocks in ((3, False), (4, True))]
    known += [("allreduce 2 1 2 2 - 1", False, 1), ("allreduce 6 2 2 2 - 3", False, 1)]
    known += [("allreduce 7 3 2 - - 21/5.0", False, 7), ("alltoall 24 3 2 - - 40", False, 2)]
    for line, blocks, packets in known:
        name, nodes, degree, ways, send, receive, least = line.split()
        root = {"root": 0} if name in ("broadcast", "scatter", "gather", "reduce") else {}
        rules = {side: int(most) for side, most in (("send", send), ("receive", receive)) if most != "-"}
        net = {**LINE, "nodes": int(nodes), "ranks": int(nodes), "source": [], "target": []}
        law = {"kind": "everywhere", "whole": ".0" not in least, "blocks": blocks, "degree": int(degree),
               "two_way": ways == "2"}  # fmt: skip
        task = {"name": name, "packets": packets, **root}
        given = but(cert(net, [], "", 0, rules, task=task), schedule=..., bound=law)
        bound = Fraction(least.removesuffix(".0"))
        for more in (0, 1 if law["whole"] else Fraction(1, 1000)):
            claim = {"time": None, "bound": str(bound + more)}
            yield f"everywhere, {line}, blocks {blocks}" + ", more" * (more > 0), but(given, claim=claim)
    law = {"kind": "everywhere", "whole": True, "blocks": False, "degree": 1, "two_way": True}
    pair = but(cert(network("0-1 1-0"), [], "0:0:0", 1, task={"name": "broadcast", "root": 0, "packets": 1}))
    pair = but(pair, bound=law, claim={"time": "1", "bound": "1"})
    yield "everywhere", pair
    yield "everywhere, one-way", but(pair, bound__two_way=False)
    for places in ([2, 1], [1, 2]):
        wide = but(pair, network__capacity=places)
        yield f"everywhere, places {places}", wide
        yield f"everywhere, places {places}, two links", but(wide, bound__degree=2)
        yield f"everywhere, places {places}, two links, one-way", but(wide, bound__degree=2, bound__two_way=False)
    yield "everywhere, not connected", but(pair, network__nodes=3, network__ranks=3, schedule=..., claim__time=None)
    yield "everywhere, a table", but(pair, task={"items": [copied(0, [1])]})
    yield "everywhere, a switch", but(pair, network__nodes=3, network__ranks=2, bound__degree=2)
    alone = {"nodes": 1, "ranks": 1, "source": [], "target": []}
    alone = but(pair, **{f"network__{key}": value for key, value in alone.items()}, schedule=...)
    yield "everywhere, one node", but(alone, claim={"time": None, "bound": "0"})
    yield (
        "everywhere, in seconds",
        but(pair, time={"unit": "second", "slot": "1/4"}, claim__time="1/4", claim__bound="1/4"),
    )


def of_values() -> Iterator[tuple[str, Data]]:
    """Yield certificates with the largest values of their form, and with one more; and laws that differ by little."""
    b = BROADCAST
    for value in (10**6 - 1, 10**6):
        yield f"node {value}", but(b, network__source__0=value)
    for value in (10**15 - 1, 10**15):
        yield f"row {value}", but(b, schedule__carries__1=[value])
        yield f"slot {value}", but(b, schedule__slot__1=value)
    yield "as many ends as are too many", but(
        b, network__nodes=2000, network__ranks=2000, schedule=..., claim__time=None,
        task={"name": "alltoall", "packets": 1})  # fmt: skip
    again = {"generations": 4 * 10**6, "period": 1}
    far = network("0-1", occupancy=10**9)
    yield "as many generations as are too many", cert(far, [copied(0, [1], 4 * 10**6)], "0:0:0", 2 * 10**9,
                                                      repetition=again)  # fmt: skip
    start = cert(LINE, [copied(0, [1], 2)], "0:0:0", 4, {"buffer": 1, "buffer_counts": "all"},
                 repetition={"generations": 2, "period": 3})  # fmt: skip
    yield "what all generations have from the start", start
    line, both = network("0-1 1-0 1-2 2-1 2-3 3-2"), network("0-1 0-2", occupancy=[1, 3])
    steep = network("0-1 1-0 1-2 2-1", latency=[0, 5, 0, 5])
    reach: Data = {"kind": "reach", "whole": True, "blocks": False}
    load: Data = {"kind": "load", "whole": True, "blocks": False, "price": {"link": 1}}
    load |= {"groups": [{"serve": "distance"}]}
    cut: Data = {"kind": "cut", "price": {"link": 1}, "whole": True, "blocks": False}
    one, three, every = {"send": 1}, [copied(0, [v]) for v in (1, 2, 3)], [summed("all", "all", 3)]
    two = [copied(0, [1]), copied(0, [2], 2)]
    fork = network("0-1 1-0 1-2 2-1 2-3 3-2 1-4 4-1")
    yield "two keys of another form", but(b, rules=[], network=[])
    yield "results are not in transit", cert(LINE, [summed("all", [1], 2)], "0:0:0 0:3:0 1:0:1 1:3:1", 2, {"buffer": 1})
    kept = [{"kind": "copy", "from": [0, 1], "to": [0, 1], "packets": 2}]
    yield (
        "blocks of what nodes have",
        but(b, task={"items": kept}, schedule=..., bound=reach | {"blocks": True}, claim={"time": None, "bound": "1"}),
    )
    empty = {"kind": "cut", "price": {}, "whole": False, "blocks": False, "since": 0}
    yield "a cut that nothing crosses", but(b, bound=empty, claim__bound="1")
    yield "a load that nothing pays", but(b, bound=load | {"price": {}, "whole": False}, claim__bound="1")
    sets = {"serve": "sets", "sets": [[1]], "weights": 1, "from": [1]}
    hub, once, some = network("0-3 3-0 1-3 3-1 2-3 3-2"), {"switches_copy": False}, [summed([0, 1, 2], [0, 1, 2], 9)]
    trees = load | {"groups": [{"serve": "trees"}]}  # rank 3 may add and copy for others
    for name, net, items, rules, law, slots in (
        ("trees of some, dear to the hub", hub, some, once, trees | {"price": {"link": [5, 1] * 3}}, 3),
        ("trees of some, dear from there", hub, some, once, trees | {"price": {"link": [1, 5] * 3}}, 3),
        ("a sum of two for both", line, [summed([0, 3], [0, 3])], {}, reach, 3),
        ("a sum of one for another by sets", line, [summed([0, 1], [0], 2)], {}, load | {"groups": [sets]}, 2),
        ("blocks of some", LINE, [summed([0, 1], [0, 1], 2)], {}, reach | {"blocks": True}, 2),
        ("sums up a slope", steep, every, {}, reach | {"blocks": True, "of": "sum", "to": [2]}, 14),
        ("sums down a slope", steep, every, {}, reach | {"blocks": True, "of": "sum", "to": [0]}, 14),
        ("copies up a slope", steep, every, {}, reach | {"blocks": True, "of": "copy", "from": [0]}, 14),
        ("copies down a slope", steep, every, {}, reach | {"blocks": True, "of": "copy", "from": [2]}, 14),
        ("a port on a slope", steep, every, one,
         load | {"blocks": True, "price": {"send": [0, 1, 0]}}, 5),
        ("a port of two lengths", both, two, one, load | {"price": {"send": [1, 0, 0]}}, 7),
        ("a port without a limit", both, two, {}, load | {"price": {"send": 1}}, 7),
        ("a cut with a free link before it", line, [copied(0, [2], 4)], {},
         cut | {"since": [0, 1, 9, 9], "price": {"link": [0, 0, 1, 0, 0, 0]}}, 5),
        ("an end that is in no set", fork, [copied(0, [3, 4], 3)], {},
         load | {"price": {"link": [1, 0, 0, 0, 0, 0, 0, 1]}, "groups": [sets | {"sets": [[1, 2, 3]], "from": None}]},
         5),
        ("a cut far away", line, three, {}, cut | {"since": [0, 9, 9, 9]}, 3),
        ("a wide link from a narrow port", network("0-1", capacity=2), [copied(0, [1], 4)], one, load, 4),
        ("sums for several roots at once", line, [summed("all", "all", 4)], {},
         load | {"blocks": True, "price": {"link": [1, 0, 0, 0, 1, 0]}, "groups": [{"serve": "distance", "of": "sum"}]},
         6),
        ("calls that go one way", network("0-2 1-3 2-1 3-0", 2), [summed("all", "all", 4)],
         {"switches_copy": False}, load | {"price": {"link": [1, 1, 5, 5]}, "groups": [{"serve": "trees"}]}, 5),
        ("a cut that is just met", line, [copied(0, [1], 4)], {}, cut | {"since": [0, 5, 5, 5]}, 4),
        ("a cut with a free link in it", line, [copied(0, [2], 4)], {},
         cut | {"since": [0, 4, 5, 5], "price": {"link": [1, 0, 0, 0, 0, 0]}}, 5),
    ):  # fmt: skip
        given = but(cert(net, items, "", 0, rules), schedule=..., bound=law)
        for more in (0, 1):
            yield f"{name}, {slots + more}", but(given, claim={"time": None, "bound": str(slots + more)})
    growth = {**reach, "far": 10**15}
    never = but(cert(network("0-1 0-1 2-0"), [copied(0, [1, 2])], "", 0), schedule=..., bound=growth)
    yield "a claim beyond all times", but(never, claim={"time": None, "bound": "9" * 60})


def of_calls() -> Iterator[tuple[str, Data]]:
    """Yield bounds of calls that go one way, and cuts of parts and of blocks, each met and one more."""
    whole: Data = {"whole": True, "blocks": False}
    parts, blocks = whole | {"whole": False}, whole | {"blocks": True}
    growth = whole | {"kind": "reach", "far": 0}
    cut = {"kind": "cut", "price": {"link": 1}}
    once, adds = {"switches_copy": False}, {"switches_copy": False, "switches_add": True}
    up, down = network("0-3 1-3 3-2 2-0 2-1", 3), network("3-0 3-1 2-3 0-2 1-2", 3)
    pair, paths = network("0-1 1-0"), network("0-2 2-1 0-3 3-1", 2, latency=[0, 0, 3, 0])

    def trees(*price: int) -> Data:
        return parts | {"kind": "load", "price": {"link": list(price)}, "groups": [{"serve": "trees"}]}

    def everywhere(packets: int) -> list[Data]:
        return [summed("all", "all", packets)]

    for name, net, items, rules, law, slots in (
        ("from a low rank alone", network("0-3 3-1 3-2", 3), [copied(0, [1, 2])], once, growth, 3),
        ("from a high rank alone", network("3-4 4-0 4-1 4-2", 4), [copied(3, [0, 1, 2])], once, growth, 4),
        ("a call by a switch that copies", network("0-2 2-1 1-0", 2), everywhere(7), {}, trees(1, 1, 5), 2),
        ("calls that enter by a dear link", up, everywhere(3), {}, trees(1, 1, 4, 9, 9), 2),
        ("calls that leave by a dear link", down, everywhere(3), adds, trees(1, 1, 4, 9, 9), 2),
        ("calls by a switch alone", up, everywhere(12), once, trees(1, 1, 4, 9, 9), 10),
        ("calls beside an idle rank", LINE, [summed([0, 2], [0, 2], 4)], once, trees(1, 1, 1, 1), 2),
        ("calls where links are free", network("0-2 2-0 1-2 2-1", 2), everywhere(4), {"switches_add": True},
         trees(0, 0, 1, 1), 4),
        ("calls for nothing between two ranks", network("0-1 1-0 1-2 2-1"), everywhere(4), adds, trees(0, 0, 1, 1), 4),
        ("a cut of one link", network("0-1"), [copied(0, [1], 3)], {}, whole | cut | {"since": [0, 9]}, 3),
        ("a cut of two paths", paths, [copied(0, [1], 4)], {}, parts | cut | {"since": ["0", *["7/2"] * 3]},
         Fraction(7, 2)),
        ("a cut that nothing crosses", paths, [copied(0, [1], 4)], {}, parts | cut | {"since": 9}, 2),
        ("a cut of sums of blocks", pair, everywhere(4), {}, blocks | cut | {"since": [2, 0]}, 3),
        ("a cut of copies of blocks", pair, everywhere(4), {}, blocks | cut | {"since": [3, 1]}, 3),
    ):  # fmt: skip
        given = but(cert(net, items, "", 0, rules), schedule=..., bound=law)
        for more in (0, 1):
            yield f"{name}, {slots + more}", but(given, claim={"time": None, "bound": str(slots + more)})


def of_drawn() -> Iterator[tuple[str, Data]]:
    """Yield bounds of which only what gets between ranks that are drawn counts, each met and a little more."""
    far = network("0-1 1-0 1-2 2-1 2-3 3-2", latency=[3] * 6)
    pair = network("0-4 4-0 1-4 4-1 2-5 5-2 3-5 5-3 4-5 5-4", 4, latency=[1, 1, 2, 3, 1, 1, 2, 3, 1, 1])
    load: Data = {"kind": "load", "whole": False, "blocks": False, "groups": [{"serve": "trees"}]}
    middle, between = load | {"price": {"link": 1}, "only": [2, 3]}, load | {"price": {"link": 1}, "only": [8, 9]}
    halves: Data = {"draw": [[0, 1], [2, 3]]}
    once, adds, both = {"switches_copy": False}, {"switches_copy": False, "switches_add": True}, {"switches_add": True}
    sets: Data = {"serve": "sets", "sets": [[2, 3]], "weights": 1}
    into: Data = {"groups": [sets]}
    out = middle | into | {"only": [2]}
    through = between | {"only": [8], "groups": [sets | {"sets": [[2, 3, 5]]}]}
    home = middle | {"only": [3], "groups": [sets | {"sets": [[0, 1]]}]}
    every, uneven = [summed("all", "all", 16)], {"draw": [[0, 0, 1], [3, 3, 2]]}
    for name, net, items, rules, law, value in (
        ("halves of a line", far, every, {}, middle | halves, 22),
        ("ends of a line", far, every, {}, middle | {"draw": [[0], [3]]}, 25),
        ("uneven halves of a line", far, every, {}, middle | uneven, 23),
        ("uneven halves of a line, near each other", far, every, {}, middle | {"draw": [[0, 1, 1], [3, 2, 2]]}, 21),
        ("halves of a line, in whole packets", far, every, {}, middle | halves | {"whole": True}, 23),
        ("a half and all of a line", far, every, {}, middle | {"draw": [[0, 1, 2], [2, 3, 3]]}, 0),
        ("halves by switches", pair, every, once, between | halves, 22),
        ("halves by switches that copy", pair, every, {}, between | halves, 21),
        ("halves by switches that add", pair, every, adds, between | halves, 21),
        ("halves by switches that copy and add", pair, every, both, between | halves, 20),
        ("a half from a root", far, [copied(0, "all", 16)], {}, out | halves, 23.5),
        ("a half to a root", far, [summed("all", [0], 16)], {}, middle | into | {"only": [3], **halves}, 23.5),
        ("a half from a root by switches", pair, [copied(1, "all", 16)], once, through | halves, 22),
        ("a half from a root, by copies", pair, [copied(1, "all", 16)], {}, through | {"draw": [[2, 3]]}, 21),
        ("one of a half", far, [copied(0, "all", 16)], {}, out | {"draw": [[1, 2], [3, 3]]}, 25),
        ("a half that is in no set", far, [copied(0, "all", 16)], {}, out | {"draw": [[1, 2], [2, 3]]}, 23.5),
        ("a half with the root", far, [copied(2, "all", 16)], {}, home | halves, 20.5),
        ("a sum of some", far, [summed([1, 2, 3], [1, 2, 3], 16)], {}, middle | halves, 1),
        ("lists of two lengths", far, every, {}, middle | {"draw": [[0, 1], [2]]}, 1),
        ("nobody", far, every, {}, middle | {"draw": [[], []]}, 1),
        ("ends of two items", far, [*every, copied(0, [3])], {}, middle | halves, 1),
        ("no lists", far, every, {}, middle | {"draw": []}, 19),
    ):
        given = but(cert(net, items, "", 0, rules), schedule=..., bound=law)
        for claim in (str(Fraction(value)), str(Fraction(value) + Fraction(1, 1000))):
            yield f"drawn: {name}, {claim}", but(given, claim={"time": None, "bound": claim})
    ring = cert(RING, [], "", 0, task={"name": "allreduce", "packets": 8}, symmetry=GROUP)
    law = load | {"price": {"link": 1}, "draw": [[v] for v in range(4)]}
    for claim in ("6", "7"):
        named = but(ring, schedule=..., claim={"time": None, "bound": claim}, bound=law)
        yield f"drawn: of a named collective with a symmetry, {claim}", named
        items = {"items": [summed([0, 1, 2, 3], [0, 1, 2, 3], 8)]}
        yield f"drawn: of items with a symmetry, {claim}", but(named, task=items)


def of_laws() -> Iterator[tuple[str, Data]]:
    """Yield certificates that claim too large a bound, so that what their witness proves is told."""
    lines = (Path(__file__).parent / "bounds.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        yield f"law {number}", json.loads(line)


PARTS = (
    written, of_laws, of_networks, of_rules, of_symmetry, of_hierarchies, of_tasks, of_schedules, of_sums,
    of_switches, of_generations, of_buffers, of_bounds, of_growth, of_names, of_cuts, of_trees, of_all_networks,
    of_values, of_calls, of_drawn,
)  # fmt: skip

CASES: dict[str, bytes] = {
    name: given if isinstance(given, bytes) else json.dumps(given).encode() for part in PARTS for name, given in part()
}
assert len(CASES) == sum(1 for part in PARTS for _ in part())
