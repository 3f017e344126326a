"""Points that look at failures: a task on a network without each of its cables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gossamer.errors import GossamerError
from gossamer.networks.failures import cables
from gossamer.networks.orbits import cable_orbits
from gossamer.studies.sweeps.faults import faults
from gossamer.studies.sweeps.kinds.expected import expected_plan
from gossamer.studies.sweeps.kinds.kind import Kind, PointNeeds, flat
from gossamer.studies.sweeps.kinds.networks import measures, size_of
from gossamer.studies.sweeps.kinds.plans import PLAN, asked_case, plan_needs
from gossamer.studies.sweeps.points import Progress

__all__ = ["FAULTS"]


def _faults(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network, task, how = asked_case(words)
    search = {name: words[name] for name in ("algorithm", "effort", "seed", "sample") if name in words}
    links = words.get("failing", 1)
    found = faults(network, task, links=links, progress=progress, **how, **search)
    told = {n: v for n, v in found.to_dict().items() if n not in ("network", "task", "faults", "stopped")}
    worst = found.worst
    if worst is not None:
        told |= {"worst_links": worst.links, "worst_algorithm": worst.algorithm}
        told |= {name: worst.to_dict()[name] for name in ("time", "bound")}
    return {**measures(network), **flat(told), "refused": sum(f.stands_for for f in found.refused)}


def _needs(words: Mapping[str, Any]) -> PointNeeds:
    one, size = plan_needs(words), size_of(words["network"])
    count = min(int(words.get("sample", 200)), size.links // 2 if size else 10)
    return PointNeeds(one.memory, one.seconds * (1 + count))


def _expected(words: Mapping[str, Any]) -> PointNeeds:
    """Return what the plan on the sound network takes, and as many as failures are looked at on one without a cable."""
    network, task, how = asked_case(words)
    sound = expected_plan(network, task, how, words)
    count, failing = int(words.get("sample", 200)), int(words.get("failing", 1))
    ends = cables(network)
    alike = np.unique(cable_orbits(network)).size if failing == 1 else math.comb(len(ends), failing)
    try:
        one = expected_plan(network.without(links=[tuple(ends[0])]), task, how, words)
    except GossamerError:
        one = sound  # that cable is a bridge
    seconds = sound.seconds + min(count, alike) * one.seconds
    return PointNeeds(max(sound.memory, one.memory), seconds)


FAULTS = Kind(
    name="faults",
    summary="a task on a network without each of its cables: the worst and the mean slowdown",
    semantics=1,
    words=(*(w for w in PLAN.words if w != "stream"), "failing", "sample"),
    needed=("network", "task"),
    carry_out=_faults,
    title=lambda words: f"failures of {PLAN.title(words)}",
    needs=_needs,
    expected=_expected,
)
