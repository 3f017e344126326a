"""``gossamer networks``, ``gossamer tasks`` and ``gossamer algorithms``."""

from __future__ import annotations

import itertools
from typing import Any

from gossamer.cli.console import print_entries, print_json
from gossamer.errors import NotApplicableError

__all__ = ["algorithms", "networks", "tasks", "wormhole_algorithms"]

_SAMPLED_NODES = 4096


def networks(json: bool) -> None:
    """List the families of networks."""
    from gossamer.networks.families import FAMILIES

    if json:
        print_json(
            [{"name": f.name, "parameters": f.parameters, "example": f.example, "summary": f.summary} for f in FAMILIES]
        )
        return
    print_entries((f.name, [f"{f.name}:{f.parameters}   for example {f.example}", f.summary]) for f in FAMILIES)


def tasks(json: bool) -> None:
    """List the tasks."""
    from gossamer.tasks import ALIASES, TASKS

    rows: list[list[str]] = []
    for name, kind in TASKS.items():
        aliases = ", ".join(a for a, of in ALIASES.items() if of == name)
        rows.append([name, aliases, kind.summary])
    if json:
        print_json([{"name": n, "aliases": a.split(", ") if a else [], "summary": s} for n, a, s in rows])
        return
    print_entries((n, [f"{s} (also called {a})" if a else s]) for n, a, s in rows)


def algorithms(network: str | None, ports: str, split: bool, json: bool) -> None:
    """List the algorithms; of those for `network`, only what covers it and with which claim."""
    from gossamer.algorithms import ALGORITHMS

    rows: list[dict[str, Any]] = [
        {"task": a.tasks[0].name, "algorithm": a.name, "networks": a.networks, "summary": a.summary, "source": a.source}
        for a in ALGORITHMS
    ]
    if network is not None:
        covering = _covering(network, ports, split)
        rows = [row for row, a in zip(rows, ALGORITHMS, strict=True) if a in covering]
        if not rows:
            raise NotApplicableError(f"no algorithm covers {network} with ports {ports}")
    _print_algorithms(rows, json)


def wormhole_algorithms(network: str | None, json: bool) -> None:
    """List the algorithms for wormhole switching; of those for `network`, only what covers it."""
    from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

    chosen = [(a, task) for a in WORMHOLE_ALGORITHMS for task in a.tasks]
    if network is not None:
        from gossamer.costs import LinearCost
        from gossamer.networks.spec import network as parse_network
        from gossamer.testing import tasks_of

        net, model = parse_network(network), LinearCost()
        chosen = [(a, kind) for a, kind in chosen if any(a.covers(net, t, model) for t in tasks_of(kind, net))]
        if not chosen:
            raise NotApplicableError(f"no wormhole algorithm covers {network}")
    rows: list[dict[str, Any]] = [
        {"task": kind.name, "algorithm": a.name, "networks": a.networks, "summary": a.summary, "source": a.source}
        for a, kind in sorted(chosen, key=lambda pair: pair[1].name)
    ]
    _print_algorithms(rows, json)


def _print_algorithms(rows: list[dict[str, Any]], json: bool) -> None:
    if json:
        print_json(rows)
        return
    for task in dict.fromkeys(row["task"] for row in rows):
        print(task)
        print_entries(
            (f"  {row['algorithm']}", [row["summary"], f"on {row['networks']}", f"from {row['source']}"])
            for row in rows
            if row["task"] == task
        )
        print()


def _covering(network: str, ports: str, split: bool) -> list[Any]:
    """Return the algorithms that cover some small task of their kind on the network."""
    from gossamer.algorithms import ALGORITHMS
    from gossamer.cases import Case
    from gossamer.model import Model
    from gossamer.networks.spec import network as parse_network
    from gossamer.testing import tasks_of

    net = parse_network(network)
    model = Model(ports=ports, split=split)  # type: ignore[arg-type]
    few = None if net.node_count <= _SAMPLED_NODES else 1  # tasks that list a million nodes take a while to write down
    kinds = {a.tasks[0] for a in ALGORITHMS}
    cases = {kind: [Case(net, task, model) for task in itertools.islice(tasks_of(kind, net), few)] for kind in kinds}
    return [a for a in ALGORITHMS if any(map(a.covers, cases[a.tasks[0]]))]
