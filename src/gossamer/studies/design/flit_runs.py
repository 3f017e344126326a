"""How a network carries uniform traffic in flits, on routes that cannot deadlock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gossamer.errors import ModelError
from gossamer.networks import Network
from gossamer.simulation.flits import Routers
from gossamer.simulation.flits.routing import Routing, deadlock_freedom, routing
from gossamer.simulation.flits.saturation import saturation_throughput
from gossamer.simulation.flits.settings import TrafficSettings

TABLED = ("hop-classes", "layered")
"""Routing functions whose routes are a table, the first choice first."""
_CHANNELS = (8, 16, 32)


@dataclass(frozen=True)
class FlitRun:
    """Uniform traffic on a network.

    * `network`, `routing`: the network's spec and the routing function.
    * `virtual_channels`: of each link.
    * `freedom`: why its routes cannot deadlock: classes of virtual channels, dependencies without a circle.
    * `throughput`, `ideal`: flits a node and cycle that get through at saturation, and that would if channels were
      always busy.
    * `latency`: mean cycles of a message at the smallest load that was run.
    """

    network: str
    routing: str
    virtual_channels: int
    freedom: str
    throughput: float
    ideal: float
    latency: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self) | {"throughput": round(self.throughput, 4), "latency": round(self.latency, 2)}


def flit_run(network: Network, *, channels: int = 0, measured: int = 3_000, seed: int = 0) -> FlitRun:
    """Search the saturation of a network under uniform traffic, on shortest routes that cannot deadlock.

    `network`: up to 1,100 nodes. `channels`: virtual channels of a link. 0: 8, or 16 or 32 where the routes need more
    layers. `measured`: cycles of a run. `seed`: for the traffic.

    Tori go in dimension order, others on evenly chosen shortest routes, each hop on higher virtual channels than the
    one before, or, where the channels are fewer than the diameter has hops, in layers of channels without circles.

    Raises ModelError if the routes are too many to write down.

    >>> import gossamer
    >>> found = flit_run(gossamer.network("torus:4x4"), measured=500)
    >>> found.routing, 0 < found.throughput <= found.ideal
    ('dimension-order', True)
    """
    function, routers = chosen_routing(network, channels)
    name = function.name
    settings = TrafficSettings(routing=name, routers=routers, warmup=measured // 3, measured=measured, seed=seed)
    found = saturation_throughput(network, resolution=0.05, settings=settings)
    latency = found.runs[0].latency if found.runs else float("nan")
    freedom = str(deadlock_freedom(function))
    return FlitRun(
        network.spec, function.name, routers.virtual_channels, freedom, found.throughput, found.ideal, latency
    )


def chosen_routing(network: Network, channels: int, names: tuple[str, ...] = ()) -> tuple[Routing, Routers]:
    """Return the first routing function that goes, of those named, and routers with as many channels as it needs."""
    names = names or (("default",) if network.grid is not None else TABLED)
    tried = [(count, name) for count in ((channels,) if channels else _CHANNELS) for name in names]
    for count, name in tried:
        routers = Routers(virtual_channels=count)
        try:
            return routing(network, name, routers), routers
        except ModelError:
            if (count, name) == tried[-1]:
                raise
    raise AssertionError("the last one returns or raises")
