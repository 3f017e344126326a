"""All routing functions by name."""

from __future__ import annotations

from gossamer.errors import ModelError, nearest
from gossamer.networks.network import Network
from gossamer.routers.fabric import Fabric
from gossamer.routers.routing.adaptive import AdaptiveAnywhere, AdaptiveGrid, NegativeFirst
from gossamer.routers.routing.function import Routing
from gossamer.routers.routing.grids import DimensionOrder, OneTurn, ReverseOrder, Ugal, Valiant
from gossamer.routers.routing.hops import HopClasses
from gossamer.routers.routing.tables import Layered, ShortestPath, UgalTable, UpDown, ValiantTable
from gossamer.routers.settings import Routers

__all__ = ["ROUTINGS", "routing", "routing_on"]

ROUTINGS: dict[str, str] = {
    "dimension-order": "arrays and tori: one dimension after the other, the first first (XY)",
    "reverse-order": "arrays and tori: the last dimension first (YX)",
    "one-turn": "arrays and tori: either order at random, each on virtual channels of its own (O1TURN)",
    "negative-first": "arrays: hops towards lower coordinates first, else any shortest way (turn model)",
    "adaptive": "any shortest way, with an escape that cannot deadlock (Duato)",
    "valiant": "to a random router first, then to the target",
    "ugal": "the source chooses the shortest way or Valiant's by the queues that it sees",
    "up-down": "any network: shortest paths that go up towards a root, then down",
    "layered": "any network: shortest paths, spread over layers of virtual channels without circles (LASH)",
    "hop-classes": "any network: evenly chosen shortest paths, each hop on higher virtual channels than the last",
    "shortest-path": "any network: shortest paths on all virtual channels; they may deadlock",
}
"""Every routing function with a line about it."""

_OTHER_NAMES = {
    "dor": "dimension-order", "xy": "dimension-order", "yx": "reverse-order", "o1turn": "one-turn",
    "minimal-adaptive": "adaptive", "turn-model": "negative-first", "up*/down*": "up-down", "updown": "up-down",
    "lash": "layered", "minimal": "shortest-path",
    "hop-based": "hop-classes", "distance-classes": "hop-classes",
}  # fmt: skip
_ON_GRIDS: dict[str, type[Routing]] = {
    c.name: c for c in (DimensionOrder, ReverseOrder, OneTurn, NegativeFirst, AdaptiveGrid, Valiant, Ugal)
}
_ANYWHERE: dict[str, type[Routing]] = {
    c.name: c for c in (AdaptiveAnywhere, ValiantTable, UgalTable, UpDown, Layered, HopClasses, ShortestPath)
}


def routing(network: Network, name: str = "default", settings: Routers | None = None, per_router: int = 1) -> Routing:
    """Return a routing function on a network.

    Parameters
    ----------
    network : Network
        Any.
    name : str
        A key of ``ROUTINGS`` or a usual name such as ``xy``, ``o1turn``, ``lash``; ``default`` is dimension order on
        arrays and tori, else layered shortest paths where the virtual channels suffice, else up-down.
    settings : Routers, optional
        Default: ``Routers()``.
    per_router : int
        Terminals of each router that has any.

    Raises
    ------
    ModelError, NetworkError
        If the function is unknown or not for this network or so few virtual channels.

    Examples
    --------
    >>> import gossamer
    >>> routing(gossamer.network("star:4")).name
    'up-down'
    """
    settings = Routers() if settings is None else settings
    return routing_on(Fabric(network, per_router), name, settings)


def routing_on(fabric: Fabric, name: str, settings: Routers) -> Routing:
    """Return a routing function on a fabric; see `routing`."""
    key = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    key = _OTHER_NAMES.get(key, key)
    if key == "default":
        if fabric.grid is not None:
            return DimensionOrder(fabric, settings)
        try:
            return Layered(fabric, settings)
        except ModelError:
            return UpDown(fabric, settings)
    if key not in ROUTINGS:
        hint = nearest(key, ROUTINGS) or f"; known are {', '.join(ROUTINGS)}"
        raise ModelError(f"unknown routing {name!r}{hint}")
    if key in _ON_GRIDS and (fabric.grid is not None or key not in _ANYWHERE):
        return _ON_GRIDS[key](fabric, settings)
    return _ANYWHERE[key](fabric, settings)
