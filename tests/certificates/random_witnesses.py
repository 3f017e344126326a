"""What a case asks in the checker's terms, written from the definitions; random witnesses, and changed ones."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from gossamer.bounds.allreduce_any_form import sums_of
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Demand, HubDemand
from gossamer_check import Item, Net

Witness = dict[str, Any]


def network_of(case: Case, parts: int = 1) -> Net:
    """The network of a case, whose messages are cut into so many parts of a slot each."""
    net, rules, shared = case.network, case.rules.on(case.network), []
    ports = net.shared_ports
    for side, receiving in () if ports is None else ((ports.sending, False), (ports.receiving, True)):
        for p in range(ports.count):
            links = np.flatnonzero(side == p).tolist()
            if links:
                held = {"capacity": int(ports.capacity[p]), "occupancy": int(ports.occupancy[p])}
                shared.append({"links": links, **held, "receiving": receiving})
    given: dict[str, Any] = {
        "nodes": net.node_count, "ranks": net.terminal_count, "source": net.link_source.tolist(),
        "target": net.link_target.tolist(), "capacity": net.link_capacity.tolist(),
        "occupancy": net.link_occupancy.tolist(), "latency": [int(a) * parts for a in net.link_latency],
    }  # fmt: skip
    own = {
        "send": 1 if rules.send_limited else None, "receive": 1 if rules.receive_limited else None,
        "cut_through": rules.cut_through, "switches_copy": rules.replication, "switches_add": rules.reduction,
        "buffer": None, "buffer_counts": "transit",
    }  # fmt: skip
    return Net({"network": {**given, "shared": shared} if shared else given, "rules": own})


def items_of(case: Case, parts: int = 1) -> list[Item]:
    """The items of a case; of an allreduce, a sum for all."""
    sums = sums_of(case.network, case.task)
    if sums:
        return [Item(True, s.members.tolist(), s.members.tolist(), s.packets * parts) for s in sums]
    return [item for demand in case.demands for item in _items(demand, case.network.terminal_count, parts)]


def _items(demand: Demand, ranks: int, parts: int) -> list[Item]:
    if isinstance(demand, HubDemand):
        rows = [(h, [v for v in range(ranks) if v != h]) for h in demand.hubs.tolist()]
    else:
        ends = np.split(demand.target, demand.first[1:-1])
        rows = [(origin, some.tolist()) for origin, some in zip(demand.origin.tolist(), ends, strict=True)]
    found = []
    for root, others in rows:
        if not demand.shared:
            pairs = [(root, v) if demand.outward else (v, root) for v in others]
            found += [Item(False, [u], [v], parts) for u, v in pairs]
        elif demand.outward:
            found.append(Item(False, [root], others, parts))
        else:
            found.append(Item(True, [root], sorted({root, *others}), parts))
    return found


def random_witness(rng: random.Random, net: Net, whole: bool, blocks: bool) -> Witness:
    """A witness of any law, with any numbers."""
    kind = rng.choice(["load"] * 8 + ["reach"] * 3 + ["cut"] * 2)
    found: Witness = {"kind": kind, "whole": whole, "blocks": blocks}
    if kind == "load":
        found["price"] = _price(rng, net)
        if rng.random() < 0.5 and net.order == 1:
            found["only"] = rng.sample(range(len(net.source)), rng.randint(1, len(net.source)))
        found["groups"] = _groups(rng, net)
    elif kind == "cut":
        slots = rng.randint(0, 8)
        since = [rng.choice([0, 0, slots + 1, slots + 1, rng.randint(0, slots + 1)]) for _ in range(net.nodes)]
        unit = rng.choice([1, 1, 2, 3])
        found.update(price=_price(rng, net), since=since if unit == 1 else [f"{slot}/{unit}" for slot in since])
        _ends(rng, net, found)
    else:
        _ends(rng, net, found)
        if rng.random() < 0.7:
            found["far"] = rng.choice([0, 0, 1, 2, 3, 4])
    return found


def _price(rng: random.Random, net: Net) -> dict[str, Any]:
    kinds = ["link"] * 3 + ["send"] * 2 * bool(net.rules["send"])
    kinds += ["receive"] * 2 * bool(net.rules["receive"])
    kinds += ["shared"] * 2 * bool(net.shared)
    price: dict[str, Any] = {}
    for name in sorted(set(rng.choices(kinds, k=rng.choice([1, 1, 2, 3])))):
        size = {"link": len(net.source), "shared": net.shared}.get(name, net.nodes)
        some = rng.choice([(1,), (0, 1), (0, 1, 1, 2, 3, 6)])
        price[name] = rng.choice([1, 2]) if some == (1,) else [rng.choice(some) for _ in range(size)]
    return price


def _ends(rng: random.Random, net: Net, found: Witness) -> None:
    for side in ("from", "to"):
        if rng.random() < 0.4:
            found[side] = rng.sample(range(net.ranks), rng.randint(1, net.ranks))
    if rng.random() < 0.3:
        found["of"] = rng.choice(["copy", "sum"])


def _group(rng: random.Random, net: Net) -> Witness:
    serve = rng.choice(["distance"] * 2 + ["sets"] * 3 + ["trees"])
    group: Witness = {"serve": serve}
    if serve != "trees":
        _ends(rng, net, group)
    if serve == "sets":
        group["sets"] = _sets(rng, net)
        count = len(group["sets"])
        group["weights"] = rng.choice([0, 1, 1, [rng.choice([0, 1, 1, 2]) for _ in range(count)]])
    return group


def _groups(rng: random.Random, net: Net) -> list[Witness]:
    groups = [_group(rng, net) for _ in range(rng.choice([1, 1, 2]))]
    if len(groups) == 2:
        chosen = [g for g in groups if g["serve"] in ("distance", "sets")]
        if rng.random() < 0.5:
            for group, kind in zip(chosen, ("copy", "sum"), strict=False):
                group["of"] = kind
        else:
            ranks, side = rng.sample(range(net.ranks), net.ranks), rng.choice(["from", "to"])
            half = rng.randint(1, net.ranks - 1)
            for group, some in zip(chosen, (ranks[:half], ranks[half:]), strict=False):
                group[side] = some
    return groups


def _sets(rng: random.Random, net: Net) -> list[list[int]]:
    kind = rng.random()
    if kind < 0.3 or net.order > 1:
        return [[v] for v in range(net.ranks)]
    nodes = range(net.nodes)
    if kind < 0.8:  # disjoint
        count = rng.randint(1, min(net.nodes, 4))
        part = [rng.randint(rng.choice([-1, 0]), count - 1) for _ in nodes]
        if rng.random() < 0.4:
            part[net.ranks :] = [-1] * (net.nodes - net.ranks)
        return [[v for v in nodes if part[v] == k] for k in range(count)]
    return [rng.sample(nodes, rng.randint(1, net.nodes)) for _ in range(rng.randint(1, 4))]


def changed(rng: random.Random, witness: Witness) -> Witness:
    """The witness with one number, truth value or list changed."""
    found = json.loads(json.dumps(witness))
    spots: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, dict | list):
                walk(inner)
            if isinstance(inner, int) or (isinstance(inner, list) and isinstance(value, dict)):
                spots.append((value, key))

    walk(found)
    value, key = rng.choice(spots)
    if isinstance(value[key], bool):
        value[key] = not value[key]
    elif isinstance(value[key], int):
        value[key] = max(0, value[key] + rng.choice([-1, 1, 1, 2, 5, 100]))
    elif value[key] and rng.random() < 0.6:
        value[key].pop(rng.randrange(len(value[key])))
    elif value[key]:
        value[key].append(rng.choice(value[key]))
    return found
