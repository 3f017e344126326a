"""Gossamer: collective communication on interconnection networks.

Build a network, name a task, get a schedule that an independent checker accepted, beside a lower bound.

>>> import gossamer
>>> gossamer.plan("torus:4x4", "allgather").completion_time
Fraction(4, 1)
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from gossamer.version import __version__

if TYPE_CHECKING:
    from gossamer.algorithms import ALGORITHMS
    from gossamer.bounds import Bound
    from gossamer.cases import Case
    from gossamer.costs import LinearCost, StepCost, TimeCost
    from gossamer.errors import GossamerError
    from gossamer.explaining import Explanation, explain
    from gossamer.networks import as_network as network
    from gossamer.networks.description import Description, describe
    from gossamer.networks.network import Network
    from gossamer.outcome import Comparison, Outcome
    from gossamer.planner import compare, lower_bounds, plan
    from gossamer.programs import Program, lower
    from gossamer.replanning import replan
    from gossamer.rules import Rules
    from gossamer.schedules import Packets, Phase, Schedule, Symmetry, buffer_peak, timeline
    from gossamer.sweeps import SweepResults, sweep
    from gossamer.sweeps.faults import FaultReport, faults
    from gossamer.switching import load, save, verify
    from gossamer.tasks import Task, task
    from gossamer.wormhole import WormholeSchedule

# where each public name lives; imported when first used, so that `import gossamer` costs almost nothing
_HOME = {
    "ALGORITHMS": "gossamer.algorithms",
    "Bound": "gossamer.bounds",
    "Case": "gossamer.cases",
    "Comparison": "gossamer.outcome",
    "FaultReport": "gossamer.sweeps.faults",
    "Description": "gossamer.networks.description",
    "Explanation": "gossamer.explaining",
    "GossamerError": "gossamer.errors",
    "LinearCost": "gossamer.costs",
    "Rules": "gossamer.rules",
    "Network": "gossamer.networks.network",
    "Outcome": "gossamer.outcome",
    "Packets": "gossamer.schedules",
    "Phase": "gossamer.schedules",
    "Program": "gossamer.programs",
    "Schedule": "gossamer.schedules",
    "StepCost": "gossamer.costs",
    "SweepResults": "gossamer.sweeps",
    "TimeCost": "gossamer.costs",
    "Symmetry": "gossamer.schedules",
    "Task": "gossamer.tasks",
    "WormholeSchedule": "gossamer.wormhole",
    "buffer_peak": "gossamer.schedules",
    "compare": "gossamer.planner",
    "describe": "gossamer.networks.description",
    "explain": "gossamer.explaining",
    "faults": "gossamer.sweeps.faults",
    "load": "gossamer.switching",
    "lower": "gossamer.programs",
    "lower_bounds": "gossamer.planner",
    "network": "gossamer.networks.as_network",
    "plan": "gossamer.planner",
    "replan": "gossamer.replanning",
    "save": "gossamer.switching",
    "sweep": "gossamer.sweeps",
    "task": "gossamer.tasks",
    "timeline": "gossamer.schedules",
    "verify": "gossamer.switching",
}

__all__ = [
    "ALGORITHMS",
    "Bound",
    "Case",
    "Comparison",
    "Description",
    "Explanation",
    "FaultReport",
    "GossamerError",
    "LinearCost",
    "Network",
    "Outcome",
    "Packets",
    "Phase",
    "Program",
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
    "faults",
    "load",
    "lower",
    "lower_bounds",
    "network",
    "plan",
    "replan",
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


def __dir__() -> list[str]:
    return sorted({*__all__, *_rooms()})
