"""``gossamer plan`` and ``gossamer bounds``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.costs import LinearCost, StepCost
from gossamer.errors import ModelError, TaskError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.reading import fraction
from gossamer.reading import seed as check_seed
from gossamer.reading.tables import named_nodes, named_numbers, read_destinations
from gossamer.tasks import Task, kind_of
from gossamer.tasks import task as parse_task

__all__ = ["Asked", "bounds", "case", "choices", "compare", "plan"]

_RULES = (
    ("--ports", "all"),
    ("--split", False),
    ("--control-time", "0"),
    ("--buffer", None),
    ("--buffer-counts", "transit"),
)
_COSTS = ("--startup", "--per-byte", "--message-bytes", "--counter-bytes", "--hop-time")


class Asked(NamedTuple):
    """What the user asked for: a network, a task, and the switching, rules and cost as `gossamer.plan` takes them."""

    network: Network
    task: Task
    choices: dict[str, Any]


def choices(switching: str, rules: tuple[str, bool, str, int | None, str], costs: tuple[Any, ...]) -> dict[str, Any]:
    """Return the switching, rules and cost from the words of the command line.

    `rules` are those of store and forward: ports, split, control time, buffer and what it counts. `costs` are those of
    wormhole messages: start-up, time a byte, bytes of a message and of a control message, time a hop; None where not
    given.
    """
    given = [(option, value) for option, value in zip(_COSTS, costs, strict=True) if value is not None]
    if switching != "wormhole":
        if given:
            raise ModelError(f"{given[0][0]} goes with --switching wormhole")
        ports, split, control_time, buffer, counts = rules
        time = fraction(control_time, "--control-time", 0, 1, allowed="a number of steps in [0, 1] such as 0.1 or 1/10")
        asked = Model(ports=ports, split=split, buffer=buffer, buffer_counts=counts)  # type: ignore[arg-type]
        return {"switching": switching, "rules": asked, "cost": StepCost(time)}
    for (option, default), value in zip(_RULES, rules, strict=True):
        if value != default:
            raise ModelError(f"{option} does not go with --switching wormhole")
    cost = LinearCost(**{option[2:].replace("-", "_"): value for option, value in given})
    return {"switching": switching, "cost": cost}


def case(
    network: str,
    task: str,
    choices: dict[str, Any],
    root: int | None,
    active: str | None,
    counts: str | None,
    destinations: Path | None,
    pattern: str | None,
    density: float | None,
    seed: int,
) -> Asked:
    """Return network, task and choices from the words of the command line."""
    kind = kind_of(task)
    key = kind.name if kind.name == task else f"{task} ({kind.name})"
    check_seed(seed, "--seed")
    takes = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
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
        fields["active"] = named_nodes(fields["active"], net.terminal_count, seed)
    elif "active" in takes:
        raise TaskError(f"task {key} needs --active: a file, numbers such as 0,5,7, random:M, or all")
    if "counts" in fields:
        fields["counts"] = named_numbers(fields["counts"])
    elif "counts" in takes:
        raise TaskError(f"task {key} needs --counts: a file, or numbers such as 2,0,1, one for each node")
    routed = [f for f in ("destination", "destinations") if f in takes]
    for option, value in (("--destinations", destinations), ("--pattern", pattern), ("--density", density)):
        if value is not None and not routed:
            raise TaskError(f"task {key} takes no {option}")
    if routed and (destinations is None) == (pattern is None):
        raise TaskError(
            f"task {key} needs --destinations FILE or --pattern NAME{'' if pattern is None else ', not both'}"
        )
    if density is not None and pattern is None:
        raise TaskError("--density goes with --pattern")
    if destinations is not None:
        fields[routed[0]] = read_destinations(destinations, net.terminal_count, sets=routed == ["destinations"])
    if pattern is not None:
        share = 1.0 if density is None else density
        made = parse_task(kind.name, network=net, pattern=pattern, density=share, seed=seed)
        return Asked(net, made, choices)
    made = kind(**fields)
    made.check(net)
    return Asked(net, made, choices)


def plan(asked: Asked, save: Path | None, json: bool, **how: Any) -> None:
    """Plan the case and print what came out; `how` are the further keywords of `gossamer.plan`."""
    from gossamer import planner
    from gossamer.writing import check_writable

    if save is not None:
        if how.get("stream"):
            raise ModelError("--stream keeps no hops, so there is nothing to --save")
        check_writable(save)  # refuse before the work
    with progress() as stage:
        found = planner.plan(asked.network, asked.task, progress=stage, **asked.choices, **how)
        if save is not None:
            stage(f"writing {save}")
            found.save(save)
    if json:
        print_json(found.to_dict())
        return
    rows = found.rows()
    if save is not None:
        rows.append(("saved", str(save)))
    print_entries((label, [text]) for label, text in rows)


def compare(asked: Asked, json: bool, **how: Any) -> None:
    """Compare every algorithm that covers the case, and print the ranking and the refusals."""
    from gossamer import planner

    with progress() as stage:
        found = planner.compare(asked.network, asked.task, progress=stage, **asked.choices, **how)
    if json:
        print_json(found.to_dict())
        return
    case, best = found.case, found.best
    print(f"{case.task.describe()} on {case.network.spec}, {best.switching.describe(case)}")
    bound = f"{best.bound_name}: {best.bounds[0].witness}" if best.bounds else best.bound_name
    print(f"lower bound {best.switching.time_text(best.bound)} ({bound})\n")
    print_entries((label, text.split("; ")) for label, text in found.rows())


def bounds(asked: Asked, json: bool) -> None:
    """Print every lower bound of the case."""
    from gossamer import planner, switching

    network, task, chosen = asked
    kind = switching.named(chosen["switching"])
    with progress() as stage:
        stage("computing lower bounds")
        case = kind.case(network, task, chosen.get("rules"), chosen.get("cost"), 0)
        found = planner.lower_bounds(network, task, **chosen)
    if json:
        print_json(
            {
                "network": network.spec,
                "task": task.name,
                "switching": kind.name,
                "rules": case.rules.to_dict(),
                "cost": case.cost.to_dict(),
                "unit": case.cost.unit,
                "bounds": [
                    {"name": b.name, "value": float(b.value), "value_exact": str(b.value), "method": b.method}
                    | {"witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print(f"{task.describe()} on {network.spec}, {kind.describe(case)}: lower bounds in {case.cost.unit}s\n")
    most = found[0].value if found else 0
    mark = {True: "  (binds)", False: ""}
    print_entries((f"{b.value!s:>8}", [f"{b.name}{mark[b.value == most]}", b.witness, b.source]) for b in found)
