"""Scatter in an extended ring, down the paths of its broadcast tree."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.algorithms.scatter.furthest_first import root_reason, scatter_down
from gossamer.algorithms.trees.extended_ring_tree import extended_ring_tree, reach
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.tasks import Scatter, Task

__all__ = ["EXTENDED_RING_PATHS", "extended_ring_scatter"]


def extended_ring_scatter(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Send the messages down the paths of the extended ring's tree, the furthest first.

    Parameters
    ----------
    network : Network
        An extended ring E_n^rho; rings and complete networks are some.
    task : Scatter
    model : Model
        With ports ``all``.
    seed : int
        Ignored.

    Returns
    -------
    Schedule

    Notes
    -----
    ``ceil(floor(n/2)/rho) = ceil((n-1)/degree)`` steps, which is optimal. No node holds more than one packet in
    transit.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.8.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("extended-ring:14,2")
    >>> extended_ring_scatter(net, gossamer.task("scatter"), Model()).completion_time
    Fraction(4, 1)
    """
    return scatter_down(extended_ring_tree(network, cast(Scatter, task).root), task, model)


def _reason(network: Network, task: Task, model: Model) -> str | None:
    if reach(network) is None:
        return "needs an extended ring"
    return all_ports_reason(model, held=1) or root_reason(network, model)


def _claim(network: Network, task: Task, model: Model) -> Fraction:
    return Fraction(-(-(network.node_count - 1) // network.degree))


EXTENDED_RING_PATHS = separate(
    name="extended-ring-paths",
    task=Scatter,
    builder=extended_ring_scatter,
    reason=_reason,
    claim=_claim,
    networks="extended rings, rings and complete networks",
    source="Dimakopoulos 1996, Theorem 3.8",
    summary="down paths of nearly equal lengths, the furthest first",
    optimal=lambda network, task, model: not model.split or (network.node_count - 1) % network.degree == 0,
)
