"""Gossamer: collective communication on interconnection networks.

Build a network, name a task, get a schedule that an independent checker accepted, beside a lower bound.

>>> import gossamer
>>> gossamer.plan("torus:4x4", "allgather").completion_time
Fraction(4, 1)
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gossamer import display_registry
from gossamer.version import __version__

if TYPE_CHECKING:
    from gossamer.algorithms import ALGORITHMS
    from gossamer.bounds import Bound
    from gossamer.errors import GossamerError
    from gossamer.networks import as_network as network
    from gossamer.networks.description import Description, describe
    from gossamer.networks.network import Network
    from gossamer.planning.exchange_planner import ExchangePlanner, planner_for
    from gossamer.planning.explaining import Advice, Explanation, explain
    from gossamer.planning.explaining.algorithms import AlgorithmExplanation, explain_algorithm
    from gossamer.planning.outcome import Comparison, Outcome
    from gossamer.planning.placement import Placement, place
    from gossamer.planning.plan_resizing import resized
    from gossamer.planning.planner import compare, lower_bounds, plan
    from gossamer.planning.replanning import replan
    from gossamer.planning.routing_report import Routes, routes
    from gossamer.planning.switching import load, save, verify
    from gossamer.programs import Program, lower
    from gossamer.questions.cases import Case
    from gossamer.questions.costs import LinearCost, StepCost, TimeCost
    from gossamer.questions.rules import Rules
    from gossamer.questions.tasks import Task, task
    from gossamer.schedules import Packets, Phase, Schedule, Symmetry, timeline
    from gossamer.studies.sweeps import SweepResults, sweep
    from gossamer.studies.sweeps.link_failures import FaultReport, faults
    from gossamer.verification import buffer_peak
    from gossamer.wormhole import WormholeSchedule

# where each public name lives; imported when first used, so that `import gossamer` costs almost nothing
_HOME = {
    "ALGORITHMS": "gossamer.algorithms",
    "Bound": "gossamer.bounds",
    "Case": "gossamer.questions.cases",
    "Comparison": "gossamer.planning.outcome",
    "FaultReport": "gossamer.studies.sweeps.link_failures",
    "Description": "gossamer.networks.description",
    "Advice": "gossamer.planning.explaining",
    "AlgorithmExplanation": "gossamer.planning.explaining.algorithms",
    "ExchangePlanner": "gossamer.planning.exchange_planner",
    "Explanation": "gossamer.planning.explaining",
    "GossamerError": "gossamer.errors",
    "LinearCost": "gossamer.questions.costs",
    "Rules": "gossamer.questions.rules",
    "Network": "gossamer.networks.network",
    "Outcome": "gossamer.planning.outcome",
    "Packets": "gossamer.schedules",
    "Phase": "gossamer.schedules",
    "Program": "gossamer.programs",
    "Schedule": "gossamer.schedules",
    "StepCost": "gossamer.questions.costs",
    "SweepResults": "gossamer.studies.sweeps",
    "TimeCost": "gossamer.questions.costs",
    "Symmetry": "gossamer.schedules",
    "Task": "gossamer.questions.tasks",
    "WormholeSchedule": "gossamer.wormhole",
    "buffer_peak": "gossamer.verification",
    "compare": "gossamer.planning.planner",
    "describe": "gossamer.networks.description",
    "explain": "gossamer.planning.explaining",
    "explain_algorithm": "gossamer.planning.explaining.algorithms",
    "faults": "gossamer.studies.sweeps.link_failures",
    "load": "gossamer.planning.switching",
    "lower": "gossamer.programs",
    "lower_bounds": "gossamer.planning.planner",
    "network": "gossamer.networks.spec",
    "Placement": "gossamer.planning.placement",
    "place": "gossamer.planning.placement",
    "plan": "gossamer.planning.planner",
    "planner_for": "gossamer.planning.exchange_planner",
    "replan": "gossamer.planning.replanning",
    "resized": "gossamer.planning.plan_resizing",
    "routes": "gossamer.planning.routing_report",
    "Routes": "gossamer.planning.routing_report",
    "save": "gossamer.planning.switching",
    "sweep": "gossamer.studies.sweeps",
    "task": "gossamer.questions.tasks",
    "timeline": "gossamer.schedules",
    "verify": "gossamer.planning.switching",
}

__all__ = [
    "ALGORITHMS",
    "Advice",
    "AlgorithmExplanation",
    "Bound",
    "Case",
    "Comparison",
    "Description",
    "ExchangePlanner",
    "Explanation",
    "FaultReport",
    "GossamerError",
    "LinearCost",
    "Network",
    "Outcome",
    "Packets",
    "Phase",
    "Placement",
    "Program",
    "Routes",
    "Rules",
    "Schedule",
    "StepCost",
    "SweepResults",
    "Symmetry",
    "Task",
    "TimeCost",
    "WormholeSchedule",
    "__version__",
    "buffer_peak",
    "compare",
    "describe",
    "explain",
    "explain_algorithm",
    "faults",
    "load",
    "lower",
    "lower_bounds",
    "network",
    "place",
    "plan",
    "planner_for",
    "replan",
    "resized",
    "routes",
    "save",
    "sweep",
    "task",
    "timeline",
    "verify",
]


def _rooms() -> set[str]:
    """Return the names of the modules and packages of gossamer; this does not import them."""
    return {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), "as_network" if name == "network" else name)
    elif name in _rooms():
        value = importlib.import_module(f"gossamer.{name}")
    else:
        raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
    globals()[name] = value
    return value


def _shown_by(module: str, function: str) -> Callable[..., Any]:
    """Return a function that is imported when something is shown."""
    return lambda *args: getattr(importlib.import_module(module), function)(*args)


display_registry.register("thing", _shown_by("gossamer.plots.notebooks", "html"))
display_registry.register("outcome", _shown_by("gossamer.plots.notebooks", "outcome_html"))
display_registry.register("advice", _shown_by("gossamer.plots.notebooks", "advice_html"))
display_registry.register("advice picture", _shown_by("gossamer.plots.notebooks", "draw_advice"))
display_registry.register("explorer", _shown_by("gossamer.explorer", "embedded"))


def __dir__() -> list[str]:
    return sorted({*__all__, *_rooms()})
