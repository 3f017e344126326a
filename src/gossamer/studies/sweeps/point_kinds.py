"""The table of kinds of points: what `gossamer.sweep`, studies and the docs go through."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from gossamer.atomic_files import plain
from gossamer.errors import GossamerError, ModelError
from gossamer.networks import as_network, network_size
from gossamer.networks.bottleneck import bottleneck
from gossamer.networks.derived import cables, without
from gossamer.networks.family import Size
from gossamer.networks.network import Network
from gossamer.networks.recognition import recognized
from gossamer.planning import planner
from gossamer.planning import switching as switchings
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import rules_and_cost
from gossamer.planning.switching.resource_limits import Candidate, expected, in_turn
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import LinearCost, StepCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, as_task, kind_of
from gossamer.questions.tasks.parsing import TaskWords, asked_task
from gossamer.reading import number
from gossamer.reading.node_lists import named_nodes
from gossamer.simulation.flits import Routers, TrafficSettings, saturation_throughput, simulate_traffic
from gossamer.simulation.random_arrivals.schemes import broadcasts
from gossamer.simulation.random_arrivals.schemes.registry import SCHEMES
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.studies.sweeps.link_failures import faults, planned_failures
from gossamer.studies.sweeps.point_protocol import Progress, file_contents

__all__ = [
    "BOUNDS",
    "DYNAMIC",
    "FAULTS",
    "KINDS",
    "LIMIT",
    "PLAN",
    "SATURATION",
    "TRAFFIC",
    "Kind",
    "PointNeeds",
    "asked_case",
    "asked_network",
    "costed",
    "expected_plan",
    "flat",
    "measures",
    "measuring",
    "plan_needs",
    "size_of",
]

# A kind of point: the words that ask for one, and what carries it out.


class PointNeeds(NamedTuple):
    """What a point takes, roughly: bytes of memory, and seconds of CPU time."""

    memory: int
    seconds: float


@dataclass(frozen=True)
class Kind:
    """A kind of point.

    * `name` (str): in studies and files.
    * `summary` (str): one line.
    * `semantics` (int): grows when the same words come to mean another result, so that old results are not taken for
      new ones.
    * `words` (tuple of str): the words that a point may have.
    * `needed` (tuple of str): those that it must have.
    * `carry_out` (callable): ``(words, progress) -> result``, plain values by name; the same words give the same
      result.
    * `title` (callable): ``words -> text``: what is looked at.
    * `needs` (callable): ``words -> PointNeeds``: memory at the least, and a first guess at the time, without building
      anything.
    * `expected` (callable or None): ``words -> PointNeeds``: memory and time as well as can be told, with the network
      built; None where `needs` is.
    """

    name: str
    summary: str
    semantics: int
    words: tuple[str, ...]
    needed: tuple[str, ...]
    carry_out: Callable[[Mapping[str, Any], Progress], dict[str, Any]]
    title: Callable[[Mapping[str, Any]], str]
    needs: Callable[[Mapping[str, Any]], PointNeeds]
    expected: Callable[[Mapping[str, Any]], PointNeeds] | None = None


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values with those of tables in them beside the others, as ``routers.buffer_depth``; None is left out.

    >>> flat({"a": 1, "b": {"c": 2, "d": None}})
    {'a': 1, 'b.c': 2}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif value is not None:
            found[f"{prefix}{name}"] = value
    return found


# The network of a point: built once for points that follow each other, measured, and estimated without building.

_FAR = 200_000_000
"""Links looked at for the diameter and the bisection, at most."""


def asked_network(words: Mapping[str, Any]) -> Network:
    """Return the network of a point's words, less what fails."""
    given = words.get("without")
    failing = tuple([given] if isinstance(given, str) else given or ())
    files = tuple(sorted(file_contents({"network": words["network"]}).values()))
    return _built(words["network"], failing, int(words.get("seed", 0)) if failing else 0, files)


@functools.lru_cache(maxsize=4)
def _built(spec: str, failing: tuple[str, ...], seed: int, files: tuple[str, ...]) -> Network:
    return without(as_network(spec), failing, seed)


def measures(network: Network) -> dict[str, Any]:
    """Return what a network is in numbers: nodes, terminals, links, degree, diameter and bisection.

    The last two are left out of networks where they would take long. The bisection is the capacity of the narrowest cut
    that was found among those that leave a third of the terminals or more on each side.
    """
    found: dict[str, Any] = {
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "links": network.link_count,
        "degree": int(network.out_degree.max(initial=0)),
    }
    quick = network.grid is not None or network.group is not None
    if quick or network.node_count * network.link_count <= _FAR:
        found |= _distant(network)
    return found


@functools.lru_cache(maxsize=8)
def _distant(network: Network) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        found["diameter"] = network.diameter
    except GossamerError:
        return {}
    if network.link_count <= 100_000:
        cut = bottleneck(network)
        if cut is not None and cut.inside * 3 >= network.terminal_count:
            found["bisection"] = cut.capacity
    return found


@functools.lru_cache(maxsize=65536)
def size_of(network: str) -> Size | None:
    """Return the numbers of nodes and links of a network by arithmetic; None where only building would tell."""
    try:
        return network_size(network)
    except (GossamerError, OSError):
        return None


# About what planning a point takes, from the algorithms that the planner would try; nothing is built.

_START, _TRIED = 0.02, 0.015
"""Seconds of a point beside its plan, and of a schedule that is built, beside its hops."""
_TIMED = 2.5
"""How much longer a hop takes to place where links have times."""
_CUT, _MOST_CUT = 1e-8, 100_000
"""Seconds of the search for narrow cuts, a node and link, and the links up to which it is made."""


def expected_plan(network: Network, task: Task, how: Mapping[str, Any], words: Mapping[str, Any]) -> PointNeeds:
    """Return about the bytes and the seconds of CPU that planning takes.

    * `network` (Network): where.
    * `task` (Task): what.
    * `how` (mapping): switching, rules and cost, as `gossamer.plan` takes them.
    * `words` (mapping): the words of the point: its ``algorithm``, ``effort`` and ``seed``.

    Of the algorithms that cover the case those count that the planner would build: in its order, until one promises to
    be the best. One that searches and promises nothing counts in full.
    """
    kind = switchings.named(how.get("switching", "store-and-forward"))
    case = kind.case(recognized(network), task, how.get("rules"), how.get("cost"), int(words.get("seed", 0)))
    seconds, held = _START, 0.0
    hard = _TIMED if isinstance(how.get("cost"), TimeCost) else 1.0
    for candidate in _tried(kind, case, words):
        needs = expected(kind, case, candidate, False)
        if needs is not None:
            seconds += _TRIED + hard * needs.seconds
            held = max(held, needs.bytes)
    return PointNeeds(round(held), seconds)


def _tried(kind: Any, case: Case, words: Mapping[str, Any]) -> list[Candidate[Any]]:
    """Return the candidates that the planner would build if each came out as it promises."""
    algorithm = words.get("algorithm", "best")
    found: list[Candidate[Any]] = []
    for each in kind.algorithms(type(case.task)):
        if algorithm in ("best", each.name):
            offers = each.offers(case)
            if not isinstance(offers, Refusal):
                found += [Candidate(each.name, offer) for offer in offers if not offer.on_request]
    tried: list[Candidate[Any]] = []
    best: Fraction | None = None
    for candidate in in_turn(found, words.get("effort", "search")):
        offer = candidate.offer
        if best is not None and best <= offer.floor:
            continue
        tried.append(candidate)
        if offer.time is not None:
            best = offer.time if best is None else min(best, offer.time)
        if offer.optimal or algorithm != "best":
            break
    return tried


def measuring(network: Network) -> float:
    """Return about the seconds that the diameter and the bisection of a network take."""
    if network.link_count > _MOST_CUT:
        return 0.0
    return _CUT * network.node_count * network.link_count


# Points that plan: a task on a network by an algorithm, or its lower bounds alone.

_TASK = (*(f.name for f in fields(TaskWords)), "group")
_RULES = (*dict.fromkeys(f.name for kind in (Rules, StepCost, TimeCost, LinearCost) for f in fields(kind)), "split")
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
    alone = next((f.name for f in fields(TimeCost) if f.name in words and f.name != "whole"), "bytes")
    if "bytes" not in words and alone != "bytes":  # a table of results says of how many it is
        raise ModelError(f"--{alone} goes with --bytes")
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
        "bound": plain(best.value), "bound_exact": str(best.value), "bound_name": best.name,
        "bound_scope": best.scope, "witness": best.witness,
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


# Points that simulate: broadcasts that arrive at random, traffic through wormhole routers, and its saturation.

_SETTINGS = tuple(f.name for f in fields(Settings) if f.name not in ("arrivals", "most_in_flight"))
_TRAFFIC = tuple(f.name for f in fields(TrafficSettings) if f.name != "routers")
_ROUTERS = tuple(f.name for f in fields(Routers))
_SCHEME_OPTIONS = tuple(dict.fromkeys(name for known in SCHEMES.values() for name in known.options))
_FLIT_LINK_BYTES = 200
_EVENT_SECONDS = 1e-7


def _given(words: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: words[name] for name in names if name in words}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values without those that are not numbers, and without the time it took."""
    told = flat(values)
    told.pop("seconds", None)
    told.pop("network", None)
    return {n: v for n, v in told.items() if not (isinstance(v, float) and not math.isfinite(v))}


def _dynamic(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network = asked_network(words)
    settings = Settings(**_given(words, _SETTINGS))
    scheme = broadcasts(words["scheme"], network, **_given(words, _SCHEME_OPTIONS))
    if "nodes" in words:
        scheme = scheme.restricted(named_nodes(words["nodes"], network.node_count, settings.seed))
    scheme.check(settings)
    load = number(words["load"], "load", above=0)
    told = _finite(scheme.delays(load, settings, progress).to_dict())
    return {**measures(network), **told}


def _limit(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network = asked_network(words)
    progress("loads of links")
    scheme = broadcasts(words["scheme"], network, **_given(words, _SCHEME_OPTIONS))
    limit = scheme.limit(Settings(**_given(words, _SETTINGS)))
    return {**measures(network), "limit": limit.load, "meaning": limit.meaning}


def _settings(words: Mapping[str, Any]) -> TrafficSettings:
    routers = Routers.preset(words.get("preset", "plain"), **_given(words, _ROUTERS))
    return TrafficSettings(routers=routers, **_given(words, _TRAFFIC))


def _traffic(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network = asked_network(words)
    load = number(words["load"], "load", above=0)
    pattern = words.get("pattern", "uniform")
    run = simulate_traffic(network, pattern, load, settings=_settings(words), progress=progress)
    return {**measures(network), **_finite(run.to_dict())}


def _saturation(words: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    network = asked_network(words)
    resolution = words.get("resolution", 0.02)
    found = saturation_throughput(
        network, words.get("pattern", "uniform"), resolution=resolution, settings=_settings(words), progress=progress
    )
    told = {"saturation": found.load, "throughput": found.throughput, "ideal": found.ideal, "share": found.share}
    buffers = _settings(words).routers
    channels = buffers.virtual_channels * buffers.buffer_depth
    return {**measures(network), **told, "buffer_flits": channels, "runs": len(found.runs)}


def _simulation_title(words: Mapping[str, Any]) -> str:
    what = words.get("scheme") or f"{words.get('pattern', 'uniform')} traffic"
    names = ("load", "virtual_channels", "buffer_depth", "seed")
    return ", ".join([f"{what} on {words['network']}", *(f"{n} {words[n]}" for n in names if n in words)])


def _needs(words: Mapping[str, Any], steps: float) -> PointNeeds:
    size = size_of(words["network"])
    if size is None:
        return PointNeeds(0, 1.0)
    load = words.get("load", 0.5)
    busy = float(load) if isinstance(load, int | float) else 0.5
    return PointNeeds(size.links * _FLIT_LINK_BYTES, 0.05 + size.links * busy * steps * _EVENT_SECONDS)


def _cycles(words: Mapping[str, Any], runs: int = 1) -> float:
    return 1.5 * runs * (int(words.get("measured", 20_000)) + int(words.get("warmup", 5000)))


DYNAMIC = Kind(
    name="dynamic",
    summary="broadcasts that arrive at random: delays of a scheme at a load, beside bounds",
    semantics=1,
    words=("network", "without", "scheme", "load", "nodes", *_SETTINGS, *_SCHEME_OPTIONS),
    needed=("network", "scheme", "load"),
    carry_out=_dynamic,
    title=_simulation_title,
    needs=lambda words: _needs(words, 1.5 * float(words.get("steps", 4000)) * int(words.get("replications", 1))),
)
LIMIT = Kind(
    name="limit",
    summary="the load from which on a scheme for random broadcasts is not stable; nothing is simulated",
    semantics=1,
    words=("network", "without", "scheme", *_SETTINGS, *_SCHEME_OPTIONS),
    needed=("network", "scheme"),
    carry_out=_limit,
    title=lambda words: f"limit of {_simulation_title(words)}",
    needs=lambda words: _needs(words, 10),
)
TRAFFIC = Kind(
    name="traffic",
    summary="random traffic through wormhole routers, flit by flit: latency and throughput at a load",
    semantics=1,
    words=("network", "without", "pattern", "load", "preset", *_TRAFFIC, *_ROUTERS),
    needed=("network", "load"),
    carry_out=_traffic,
    title=_simulation_title,
    needs=lambda words: _needs(words, _cycles(words)),
)
SATURATION = Kind(
    name="saturation",
    summary="the largest load that gets through wormhole routers, by search",
    semantics=1,
    words=("network", "without", "pattern", "resolution", "preset", *_TRAFFIC, *_ROUTERS),
    needed=("network",),
    carry_out=_saturation,
    title=lambda words: f"saturation of {_simulation_title(words)}",
    needs=lambda words: _needs(words, _cycles(words, runs=6)),
)


# Points that look at failures: a task on a network without each of its cables.


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


def _needs_of_failures(words: Mapping[str, Any]) -> PointNeeds:
    one, size = plan_needs(words), size_of(words["network"])
    count = min(int(words.get("sample", 200)), size.links // 2 if size else 10)
    return PointNeeds(one.memory, one.seconds * (1 + count))


def _expected_of_failures(words: Mapping[str, Any]) -> PointNeeds:
    """Return what the plan on the sound network takes, and as many as failures are looked at on one without a cable."""
    network, task, how = asked_case(words)
    sound = expected_plan(network, task, how, words)
    count, failing = int(words.get("sample", 200)), int(words.get("failing", 1))
    ends = cables(network)
    alike = len(planned_failures(network, as_task(task), failing, count))
    try:
        one = expected_plan(network.without(links=[tuple(ends[0])]), task, how, words)
    except GossamerError:
        one = sound  # that cable is a bridge
    seconds = sound.seconds + alike * one.seconds
    return PointNeeds(max(sound.memory, one.memory), seconds)


FAULTS = Kind(
    name="faults",
    summary="a task on a network without each of its cables: the worst and the mean slowdown",
    semantics=1,
    words=(*(w for w in PLAN.words if w != "stream"), "failing", "sample"),
    needed=("network", "task"),
    carry_out=_faults,
    title=lambda words: f"failures of {PLAN.title(words)}",
    needs=_needs_of_failures,
    expected=_expected_of_failures,
)


KINDS: dict[str, Kind] = {k.name: k for k in (PLAN, BOUNDS, FAULTS, DYNAMIC, LIMIT, TRAFFIC, SATURATION)}
"""Kinds of points, by name."""
