"""``gossamer networks``, ``gossamer tasks`` and ``gossamer algorithms``."""

from __future__ import annotations

import itertools
from typing import Any

from gossamer.cli.console import print_entries, print_json
from gossamer.errors import NotApplicableError
from gossamer.networks.network import Network
from gossamer.questions.tasks import TASKS

__all__ = ["algorithms", "networks", "tasks"]

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
    from gossamer.questions.tasks import ALIASES, TASKS

    rows: list[list[str]] = []
    for name, kind in TASKS.items():
        aliases = ", ".join(a for a, of in ALIASES.items() if of == name)
        rows.append([name, aliases, kind.summary])
    if json:
        print_json([{"name": n, "aliases": a.split(", ") if a else [], "summary": s} for n, a, s in rows])
        return
    print_entries((n, [f"{s} (also called {a})" if a else s]) for n, a, s in rows)


def algorithms(network: str | Network | None, task: str | None, switching: str, rules: Any, json: bool) -> None:
    """List the algorithms of a switching; with a network or a task, only what covers it."""
    from gossamer.planning.switching import named
    from gossamer.questions.tasks import kind_of

    kind = named(switching)
    wanted = None if task is None else kind_of(task)
    chosen = [(a, t) for a in kind.algorithms for t in a.tasks if t.name in TASKS and wanted in (None, t)]
    if network is not None:
        from gossamer.networks import Renumbered, as_network
        from gossamer.networks.recognition import recognized

        net = recognized(as_network(network))
        known = net.find(Renumbered)
        net = net if known is None else known.original
        cases = {t: _cases(kind, t, net, rules) for t in dict.fromkeys(t for _, t in chosen)}
        chosen = [(a, t) for a, t in chosen if any(a.covers(case) for case in cases[t])]
        if not chosen:
            what = "" if wanted is None else f" for {wanted.name}"
            raise NotApplicableError(f"no {kind.noun}{what} covers {net.spec} with these rules")
    rows: list[dict[str, Any]] = [
        {"task": t.name, "algorithm": a.name, "networks": a.networks, "summary": a.summary, "source": a.source}
        for a, t in chosen
    ]
    _print_algorithms(sorted(rows, key=lambda row: list(TASKS).index(row["task"])), json)


def _cases(kind: Any, task: Any, network: Any, rules: Any) -> list[Any]:
    """Return cases of a kind of task on the network: what covers none of them covers nothing."""
    from gossamer.testing import tasks_of

    few = None if network.node_count <= _SAMPLED_NODES else 1  # tasks that list a million nodes take long to write down
    return [kind.case(network, s, rules, None, 0) for s in itertools.islice(tasks_of(task, network), few)]


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
