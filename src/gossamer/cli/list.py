"""``gossamer list``: the networks, tasks, algorithms, schemes and formats that there are."""

from __future__ import annotations

import itertools
from enum import StrEnum
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_entries, print_json
from gossamer.cli.options import RULES, Json, SwitchingOption, fails, fills
from gossamer.errors import ModelError, NotApplicableError

_SAMPLED_NODES = 4096
_COUNTED_LINKS = 10_000
"""For more links the trees of all schemes, which a limit is counted from, take from ten seconds to minutes."""


class Known(StrEnum):
    """What can be listed."""

    networks = "networks"
    tasks = "tasks"
    algorithms = "algorithms"
    schemes = "schemes"
    formats = "formats"


@fails
@fills(rules=(RULES,))
def list_known(
    what: Annotated[
        Known,
        typer.Argument(
            help="networks (their families), tasks, algorithms, schemes (for broadcasts that arrive at random), or "
            "formats (that schedules are exported to).",
            metavar="WHAT",
        ),
    ],
    network: Annotated[
        str | None, typer.Argument(help="Only the algorithms or schemes that cover this network.", metavar="[NETWORK]")
    ] = None,
    *,
    task: Annotated[
        str | None,
        typer.Option(help="Only the algorithms for this task.", metavar="TASK", rich_help_panel="Task"),
    ] = None,
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    json: Json = False,
) -> None:
    """List the networks, tasks, algorithms, schemes or formats that are known."""
    if network is not None and what not in (Known.algorithms, Known.schemes):
        raise ModelError(f"a network goes with algorithms and schemes, not with {what.value}")
    if what is not Known.algorithms and (task is not None or switching != "store-and-forward" or rules):
        raise ModelError(f"a task, a switching and rules go with algorithms, not with {what.value}")
    if what is Known.algorithms:
        _print_algorithms(_algorithms(network, task, switching, rules), json)
        return
    rows, entries = {
        Known.networks: _networks, Known.tasks: _tasks, Known.schemes: lambda: _schemes(network),
        Known.formats: _formats,
    }[what]()  # fmt: skip
    if json:
        print_json(rows)
        return
    if not rows:
        print(f"no scheme covers {getattr(network, 'spec', network)}")
    print_entries(entries)


def _networks() -> Any:
    from gossamer.networks.families import FAMILIES

    rows = [
        {"name": f.name, "parameters": f.parameters, "example": f.example, "summary": f.summary, "kind": f.kind}
        for f in FAMILIES
    ]
    entries: list[tuple[str, list[str]]] = []
    for kind, families in itertools.groupby(FAMILIES, key=lambda f: f.kind):
        entries += [(f"{kind}:", [])] if not entries else [("", []), (f"{kind}:", [])]
        for f in families:
            alone = f"{f.name}, " if f.bare else ""
            entries.append((f"  {f.name}", [f"{alone}{f.name}:{f.parameters}   for example {f.example}", f.summary]))
    return rows, entries


def _tasks() -> Any:
    from gossamer.questions.tasks import ALIASES, TASKS

    aliases = {name: [alias for alias, of in ALIASES.items() if of == name] for name in TASKS}
    rows = [{"name": name, "aliases": aliases[name], "summary": kind.summary} for name, kind in TASKS.items()]
    also = {name: f" (also called {', '.join(others)})" if others else "" for name, others in aliases.items()}
    return rows, [(name, [kind.summary + also[name]]) for name, kind in TASKS.items()]


def _formats() -> Any:
    from gossamer.interchange import FORMATS

    rows = [{"name": f.name, "folder": f.folder, "summary": f.summary} for f in FORMATS.values()]
    return rows, [(f.name, [f.summary + (" (a folder)" if f.folder else "")]) for f in FORMATS.values()]


def _schemes(network: Any) -> Any:
    """Return the schemes, or those that cover a network, with the load from which on they are not stable."""
    from gossamer.networks import as_network
    from gossamer.simulation.random_arrivals.schemes import SCHEMES, broadcasts
    from gossamer.simulation.random_arrivals.settings import Settings

    rows: list[dict[str, Any]] = []
    net = None if network is None else as_network(network)
    for name, known in SCHEMES.items():
        row: dict[str, Any] = {"scheme": name, "summary": known.summary, "source": known.source}
        if net is not None:
            if known.reason(net) is not None:
                continue
            if net.link_count > _COUNTED_LINKS:
                many = f"the load from which on it is not stable is told for {_COUNTED_LINKS:,} links at most"
                row |= {"saturated_at": None, "limit": many}
            else:
                limit = broadcasts(name, net).limit(Settings())
                row |= {"saturated_at": limit.load, "limit": str(limit)}
        rows.append(row)
    return rows, [
        (row["scheme"], ["; ".join(row[k] for k in ("summary", "limit") if k in row), row["source"]]) for row in rows
    ]


def _algorithms(network: Any, task: str | None, switching: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the algorithms of a switching; with a network or a task, only what covers it."""
    from gossamer.planning.planner import rules_and_cost
    from gossamer.planning.switching import named
    from gossamer.questions.tasks import TASKS, kind_of

    rules = rules_and_cost(switching, given).get("rules")
    kind = named(switching)
    wanted = None if task is None else kind_of(task)
    chosen = [(a, t) for a in kind.algorithms(wanted) for t in a.tasks if t.name in TASKS and wanted in (None, t)]
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
    return sorted(rows, key=lambda row: [*TASKS].index(row["task"]))


def _cases(kind: Any, task: Any, network: Any, rules: Any) -> Any:
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
