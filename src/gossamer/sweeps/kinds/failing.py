"""Points that look at failures: a task on a network without each of its cables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.sweeps.faults import faults
from gossamer.sweeps.kinds.kind import Kind, PointNeeds, flat
from gossamer.sweeps.kinds.networks import measures, size_of
from gossamer.sweeps.kinds.plans import PLAN, asked_case, plan_needs
from gossamer.sweeps.points import Progress

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


FAULTS = Kind(
    name="faults",
    summary="a task on a network without each of its cables: the worst and the mean slowdown",
    semantics=1,
    words=(*(w for w in PLAN.words if w != "stream"), "failing", "sample"),
    needed=("network", "task"),
    carry_out=_faults,
    title=lambda words: f"failures of {PLAN.title(words)}",
    needs=_needs,
)
