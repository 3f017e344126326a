"""``gossamer plan`` and ``gossamer bounds``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from gossamer.active_sets import active_nodes, read_numbers, whole_numbers
from gossamer.cli.console import print_entries, print_json, progress
from gossamer.errors import ModelError, TaskError, nearest
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.tasks import ALIASES, TASKS, Task
from gossamer.tasks import task as parse_task

__all__ = ["Case", "bounds", "case", "plan"]


class Case(NamedTuple):
    """What the user asked for."""

    network: Network
    task: Task
    model: Model


def case(
    network: str,
    task: str,
    ports: str,
    split: bool,
    control_time: str,
    buffer: int | None,
    root: int | None,
    active: str | None,
    counts: str | None,
    destinations: Path | None,
    seed: int,
) -> Case:
    """Return network, task and model from the words of the command line."""
    key = ALIASES.get(task.strip().lower().replace("_", "-"), task.strip().lower().replace("_", "-"))
    if key not in TASKS:
        raise TaskError(f"unknown task {task!r}{nearest(key, [*TASKS, *ALIASES])}; 'gossamer tasks' lists them")
    if seed < 0:
        raise ModelError(f"--seed must be 0 or more, got {seed}")
    takes = {f.name for f in dataclasses.fields(TASKS[key])}  # type: ignore[arg-type]
    model = Model(ports=ports, split=split, control_time=_fraction(control_time), buffer=buffer)  # type: ignore[arg-type]
    net = parse_network(network)
    fields: dict[str, Any] = {}
    for option, field, given in (
        ("--root", "root", root),
        ("--active", "active", active),
        ("--counts", "counts", counts),
    ):
        if given is not None and field not in takes:
            raise TaskError(f"task {key} takes no {option}")
        if given is not None:
            fields[field] = given
    if "active" in fields:
        fields["active"] = active_nodes(fields["active"], net.terminal_count, seed)
    elif "active" in takes:
        raise TaskError(f"task {key} needs --active: a file, numbers such as 0,5,7, random:M, or all")
    if "counts" in fields:
        fields["counts"] = whole_numbers(fields["counts"])
    elif "counts" in takes:
        raise TaskError(f"task {key} needs --counts: a file, or numbers such as 2,0,1, one for each node")
    if "destinations" in takes:
        raise TaskError(f"task {key} cannot be given on the command line; use gossamer.task in Python")
    if destinations is not None and "destination" not in takes:
        raise TaskError(f"task {key} takes no --destinations")
    if "destination" in takes:
        if destinations is None:
            raise TaskError(f"task {key} needs --destinations: a file with the destination of each node, -1 for none")
        fields["destination"] = read_numbers(destinations)
    made = parse_task(key, **fields)
    made.check(net)
    return Case(net, made, model)


def _fraction(text: str) -> Any:
    from fractions import Fraction

    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ModelError(
            f"--control-time must be a number of steps in [0, 1] such as 0.1 or 1/10, got {text!r}"
        ) from None


def plan(asked: Case, algorithm: str, seed: int, save: Path | None, json: bool) -> None:
    """Plan the case and print what came out."""
    from gossamer import planner

    with progress() as stage:
        result = planner.plan(*asked, algorithm=algorithm, seed=seed, progress=stage)
        if save is not None:
            stage(f"writing {save}")
            result.save(save)
    if json:
        print_json(result.to_dict())
        return
    rows = result.rows()
    if save is not None:
        rows.append(("saved", str(save)))
    print_entries((label, [text]) for label, text in rows)


def bounds(asked: Case, json: bool) -> None:
    """Print every lower bound of the case."""
    from gossamer.bounds import bounds as lower_bounds

    with progress() as stage:
        stage("computing lower bounds")
        found = lower_bounds(*asked)
    if json:
        print_json(
            {
                "network": asked.network.spec,
                "task": asked.task.name,
                "model": asked.model.to_dict(),
                "bounds": [
                    {"name": b.name, "value": float(b.value), "value_exact": str(b.value), "method": b.method}
                    | {"witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print(f"{asked.task.describe()} on {asked.network.spec}, ports {asked.model.ports}: lower bounds in steps\n")
    most = found[0].value if found else 0
    mark = {True: "  (binds)", False: ""}
    print_entries((f"{b.value!s:>8}", [f"{b.name}{mark[b.value == most]}", b.witness, b.source]) for b in found)
