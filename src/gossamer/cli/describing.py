"""``gossamer network``."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.verify import is_picture
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.networks.network import Network
from gossamer.questions.tasks import TASKS

__all__ = ["algorithms", "network", "networks", "tasks"]

# ``gossamer networks``, ``gossamer tasks`` and ``gossamer algorithms``.

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


def network(given: Any, output: list[Path], json: bool) -> None:
    """Print what a network is; write it to files and draw it."""
    from gossamer.networks.description import describe
    from gossamer.networks.files import write_network
    from gossamer.networks.recognition import recognized
    from gossamer.networks.spec import as_network

    _check(output)
    with progress() as stage:
        stage("reading")
        net = as_network(given)
        stage("looking at the network")
        found = describe(net)
        for path in output:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots.network import draw_network

                draw_network(recognized(net), path, found.cut)
            else:
                write_network(net, path)
    if json:
        print_json(found.to_dict())
        return
    rows = [*found.rows(), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)


def demands(network: Any, task: str, task_words: dict[str, Any], seed: int, output: list[Path], json: bool) -> None:
    """Print a task as a table of demands, and write it to files."""
    from gossamer.networks.spec import as_network
    from gossamer.questions.tasks import as_table, write_table
    from gossamer.questions.tasks.parsing import asked_task

    net = as_network(network)
    table = as_table(asked_task(task, task_words, net, seed), net)
    for path in output:
        write_table(table, path, net)
    if json:
        print_json({"network": net.spec, **table.to_dict()})
        return
    rows = [("network", net.spec), ("task", table.describe()), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)


def _check(output: list[Path]) -> None:
    """Refuse files of no known kind, and those that cannot be written, before the work."""
    from gossamer.networks.files import writable_suffixes
    from gossamer.plots.drawing import FORMATS
    from gossamer.writing import check_writable

    for path in output:
        if not is_picture(path) and path.suffix.lower() not in writable_suffixes():
            allowed = f"a network is {', '.join(writable_suffixes())}, a picture .{', .'.join(FORMATS)}"
            raise FileFormatError(f"{str(path)!r} is of no known kind; {allowed}")
        check_writable(path)
