"""``gossamer plan`` and ``gossamer bounds``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.costs import LinearCost
from gossamer.errors import ModelError, TaskError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.reading import fraction
from gossamer.reading import seed as check_seed
from gossamer.reading.tables import named_nodes, named_numbers, read_destinations
from gossamer.tasks import Task, kind_of
from gossamer.tasks.patterns import patterned_task

__all__ = ["Case", "bounds", "case", "model", "plan", "stream"]

_RULES = (
    ("--ports", "all"),
    ("--split", False),
    ("--control-time", "0"),
    ("--buffer", None),
    ("--buffer-counts", "transit"),
)
_COSTS = ("--startup", "--per-byte", "--message-bytes", "--counter-bytes", "--hop-time")


class Case(NamedTuple):
    """What the user asked for."""

    network: Network
    task: Task
    model: Model | LinearCost


def model(switching: str, rules: tuple[str, bool, str, int | None, str], costs: tuple[Any, ...]) -> Model | LinearCost:
    """Return the model of a kind of switching from the words of the command line.

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
        return Model(ports=ports, split=split, control_time=time, buffer=buffer, buffer_counts=counts)  # type: ignore[arg-type]
    for (option, default), value in zip(_RULES, rules, strict=True):
        if value != default:
            raise ModelError(f"{option} does not go with --switching wormhole")
    return LinearCost(**{option[2:].replace("-", "_"): value for option, value in given})


def case(
    network: str,
    task: str,
    model: Model | LinearCost,
    root: int | None,
    active: str | None,
    counts: str | None,
    destinations: Path | None,
    pattern: str | None,
    density: float | None,
    seed: int,
) -> Case:
    """Return network, task and model from the words of the command line."""
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
        return Case(net, patterned_task(kind.name, net, pattern, density=share, seed=seed), model)
    made = kind(**fields)
    made.check(net)
    return Case(net, made, model)


def plan(asked: Case, algorithm: str, side: str | None, seed: int, save: Path | None, json: bool) -> None:
    """Plan the case and print what came out."""
    from gossamer import planner
    from gossamer.wormhole.planning import WormholePlan
    from gossamer.writing import check_writable

    if side is not None and not isinstance(asked.model, LinearCost):
        raise ModelError("--partition-side goes with --switching wormhole")
    if save is not None:
        check_writable(save)  # refuse before the work
    result: planner.Plan | WormholePlan
    with progress() as stage:
        choices: dict[str, Any] = {"algorithm": algorithm, "seed": seed, "progress": stage}
        if isinstance(asked.model, LinearCost):
            h = int(side) if side is not None and side.isdecimal() else side or "auto"
            result = planner.plan(asked.network, asked.task, asked.model, h=h, **choices)
        else:
            result = planner.plan(asked.network, asked.task, asked.model, **choices)
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


def stream(asked: Case, algorithm: str, save: Path | None, json: bool) -> None:
    """Route a permutation, checking every hop as it is made, and print what came out."""
    from gossamer.algorithms.routing.move_and_smooth import route_streaming

    if isinstance(asked.model, LinearCost):
        raise ModelError("--stream goes with store-and-forward switching")
    if save is not None:
        raise ModelError("--stream keeps no hops, so there is nothing to --save")
    model = dataclasses.replace(asked.model, buffer_counts="all")
    with progress() as stage:
        run = route_streaming(asked.network, asked.task, model, "Q" if algorithm == "best" else algorithm, stage)
    if json:
        print_json(run.to_dict())
    else:
        print_entries((label, [text]) for label, text in run.rows())


def bounds(asked: Case, json: bool) -> None:
    """Print every lower bound of the case."""
    from gossamer.bounds import bounds as lower_bounds
    from gossamer.cases import Case as Solved
    from gossamer.wormhole.bounds import bounds as wormhole_bounds

    network, task, model = asked
    with progress() as stage:
        stage("computing lower bounds")
        if isinstance(model, LinearCost):
            found, rules = wormhole_bounds(network, task, model), f"{model.describe()}: lower bounds"
        else:
            found, rules = lower_bounds(Solved(network, task, model)), f"ports {model.ports}: lower bounds in steps"
    if json:
        print_json(
            {
                "network": network.spec,
                "task": task.name,
                "model": model.to_dict(),
                "bounds": [
                    {"name": b.name, "value": float(b.value), "value_exact": str(b.value), "method": b.method}
                    | {"witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print(f"{task.describe()} on {network.spec}, {rules}\n")
    most = found[0].value if found else 0
    mark = {True: "  (binds)", False: ""}
    print_entries((f"{b.value!s:>8}", [f"{b.name}{mark[b.value == most]}", b.witness, b.source]) for b in found)
