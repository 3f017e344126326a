"""Points that simulate: broadcasts that arrive at random, traffic through wormhole routers, and its saturation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gossamer.reading import number
from gossamer.reading.tables import named_nodes
from gossamer.simulation.flits import Routers, TrafficSettings, saturation_throughput, simulate_traffic
from gossamer.simulation.random_arrivals.schemes import broadcasts
from gossamer.simulation.random_arrivals.schemes.registry import SCHEMES
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.studies.sweeps.kinds.kind import Kind, PointNeeds, flat
from gossamer.studies.sweeps.kinds.networks import asked_network, measures, size_of
from gossamer.studies.sweeps.points import Progress

__all__ = ["DYNAMIC", "LIMIT", "SATURATION", "TRAFFIC"]

_SETTINGS = tuple(f.name for f in fields(Settings) if f.name not in ("arrivals", "most_in_flight"))
_TRAFFIC = tuple(f.name for f in fields(TrafficSettings) if f.name != "routers")
_ROUTERS = tuple(f.name for f in fields(Routers))
_SCHEME_OPTIONS = tuple(dict.fromkeys(name for known in SCHEMES.values() for name in known.options))
_LINK_BYTES = 200
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
    return PointNeeds(size.links * _LINK_BYTES, 0.05 + size.links * busy * steps * _EVENT_SECONDS)


def _steps(words: Mapping[str, Any]) -> float:
    return 1.5 * float(words.get("steps", 4000)) * int(words.get("replications", 1))


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
    needs=lambda words: _needs(words, _steps(words)),
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
