"""Points that plan: a task on a network by an algorithm, or its lower bounds alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from gossamer.errors import ModelError
from gossamer.planning import planner
from gossamer.planning.outcome import Outcome, number
from gossamer.planning.switching.wording import rules_and_cost
from gossamer.questions.costs import LinearCost, StepCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import kind_of
from gossamer.questions.tasks.wording import TaskWords, asked_task
from gossamer.studies.sweeps.kinds.expected import expected_plan
from gossamer.studies.sweeps.kinds.kind import Kind, PointNeeds, flat
from gossamer.studies.sweeps.kinds.networks import asked_network, measures, size_of
from gossamer.studies.sweeps.points import Progress

__all__ = ["BOUNDS", "PLAN", "asked_case", "costed", "plan_needs"]

_TASK = tuple(f.name for f in fields(TaskWords))
_RULES = tuple(dict.fromkeys(f.name for kind in (Rules, StepCost, TimeCost, LinearCost) for f in fields(kind)))
_CASE = ("network", "without", "task", *_TASK, "switching", *_RULES, "seed")
_LEFT_OUT = ("build_seconds", "verify_seconds", "schedule_bytes", "peak_memory_bytes", "phases", "network", "nodes",
             "task", "rules", "cost", "switching", "algorithm", "options", "effort", "stopped", "verified",
             "completion_time", "links")  # fmt: skip
_HOP_BYTES, _LINK_BYTES, _START_SECONDS, _BOUNDS_SECONDS = 12, 60, 0.05, 0.02
_HOP_SECONDS, _TIMED_HOP_SECONDS = 1e-6, 1.5e-5  # of plans without and with bytes, search and check together


def asked_case(words: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return network and task of a point's words, and switching, rules and cost as `gossamer.plan` takes them."""
    network, seed = asked_network(words), int(words.get("seed", 0))
    said = {name: words[name] for name in _TASK if name in words}
    said |= {name: Path(said[name]) for name in ("destinations", "demands") if name in said}
    task = asked_task(words["task"], said, network, seed)
    ruled = {"form": "blocks"} if "bytes" in words else {}
    ruled |= {name: words[name] for name in _RULES if name in words}
    return network, task, rules_and_cost(words.get("switching", "store-and-forward"), ruled)


def _plan(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network, task, how = asked_case(words)
    options = {name.removeprefix("options."): value for name, value in words.items() if name.startswith("options.")}
    search = {name: words[name] for name in ("algorithm", "effort", "stream", "seed") if name in words}
    found = planner.plan(network, task, options=options, progress=progress, **how, **search)
    return {**measures(network), **costed(found)}


def costed(outcome: Outcome) -> dict[str, Any]:
    """Return what a plan came to, less what differs from run to run."""
    told = outcome.to_dict()
    kept = {name: value for name, value in told.items() if name not in _LEFT_OUT}
    chosen = {"chosen": outcome.algorithm, "time": told["completion_time"], "chosen_effort": outcome.offer.effort}
    return flat({**chosen, **kept, "chosen_options": dict(outcome.options)})


def _bounds(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network, task, how = asked_case(words)
    progress("computing lower bounds")
    found = planner.lower_bounds(network, task, **how)
    best = found[0] if found else None
    told = {} if best is None else {
        "bound": number(best.value), "bound_exact": str(best.value), "bound_name": best.name, "witness": best.witness,
    }  # fmt: skip
    cost = how["cost"]
    if best is not None and isinstance(cost, TimeCost):
        told["bound_seconds"] = float(cost.on(network, task)[1].seconds(best.value))
    return {**measures(network), **told}


def _title(words: Mapping[str, Any]) -> str:
    more = [f"without {words['without']}"] if "without" in words else []
    more += [f"{name} {words[name]}" for name in ("bytes", "algorithm", "buffer", "seed") if name in words]
    return ", ".join([f"{words['task']} on {words['network']}", *more])


def plan_needs(words: Mapping[str, Any]) -> PointNeeds:
    """Return about what planning takes: the memory of the network and the bounds, the time of all hops.

    The memory is a floor: an invariant schedule is small however many hops it has.
    """
    size = size_of(words["network"])
    if size is None:
        return PointNeeds(0, _START_SECONDS)
    nodes, links = size
    name = kind_of(words["task"]).name if isinstance(words.get("task"), str) else ""
    far = 1 + math.log(max(nodes, 2)) / math.log(max(2.0, links / max(nodes, 1)))
    messages = (
        nodes * nodes if any(w in name for w in ("exchange", "multinode", "allreduce", "reduce-scatter")) else nodes
    )
    hops = messages * (far if "exchange" in name else 1)
    a_hop = _TIMED_HOP_SECONDS if "bytes" in words else _HOP_SECONDS
    return PointNeeds(links * _LINK_BYTES + nodes * _HOP_BYTES, _START_SECONDS + hops * a_hop)


def _expected(words: Mapping[str, Any]) -> PointNeeds:
    network, task, how = asked_case(words)
    return expected_plan(network, task, how, words)


def _expected_bounds(words: Mapping[str, Any]) -> PointNeeds:
    return PointNeeds(plan_needs(words).memory, _BOUNDS_SECONDS)


def _checked(words: Mapping[str, Any]) -> PointNeeds:
    if "budget" in words:
        raise ModelError("a budget makes results depend on the machine, so that points have none")
    return plan_needs(words)


PLAN = Kind(
    name="plan",
    summary="a task on a network by the best algorithm, or by the one that is named: a verified schedule and its bound",
    semantics=1,
    words=(*_CASE, "algorithm", "effort", "stream"),
    needed=("network", "task"),
    carry_out=_plan,
    title=_title,
    needs=_checked,
    expected=_expected,
)
BOUNDS = Kind(
    name="bounds",
    summary="the largest lower bound of a task on a network; nothing is built",
    semantics=1,
    words=_CASE,
    needed=("network", "task"),
    carry_out=_bounds,
    title=lambda words: f"bounds of {_title(words)}",
    needs=_checked,
    expected=_expected_bounds,
)
