"""The problem that bounds are asked about: a network, a task and a model, with what every family counts with."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from gossamer.bounds.demands import Counts, Demand, HubDemand, demands_of
from gossamer.bounds.metric import Metric, metric_of
from gossamer.errors import NetworkError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.tasks import Task
from gossamer.writing import quantity

__all__ = ["Problem"]


class Problem:
    """A network, a task and a model; immutable.

    Attributes
    ----------
    demands : tuple of Demand
        What the task asks for; empty if nothing has to move. A task of several demands carries out all of them.
    whole : bool
        Whether messages are whole, so that times are integers and every hop costs a step.
    send_limited, receive_limited : bool
        Whether a node sends, or receives, at most one packet a slot.

    Raises
    ------
    TaskError
        If the task does not fit the network.
    NetworkError
        If a message has no path to a target.
    """

    def __init__(self, network: Network, task: Task, model: Model) -> None:
        task.check(network)
        self.network = network
        self.task = task
        self.model = model
        self.demands: tuple[Demand, ...] = demands_of(network, task)
        self.whole = not model.split
        self.send_limited = model.send_limited
        self.receive_limited = model.receive_limited
        if network.group is None and network.grid is None and network.levels is None:
            for demand in self.demands:
                self._check_paths(demand)

    def _check_paths(self, demand: Demand) -> None:
        if not isinstance(demand, HubDemand):
            distance = self.metric.between(demand.origin[demand.message], demand.target)
            missing = np.flatnonzero(distance < 0)
            if missing.size:
                first = int(missing[0])
                self._no_path(int(demand.origin[demand.message[first]]), int(demand.target[first]))
            return
        hub = int(demand.hubs[0])
        for inward in (False, True):  # every terminal to or from one hub, and so to or from every other
            row = self.metric.row(hub, inward)
            ends = row if inward != demand.outward else row[demand.hubs]
            if int(ends.min()) < 0:
                where = int(np.argmin(ends))
                end = where if inward != demand.outward else int(demand.hubs[where])
                self._no_path(*((end, hub) if inward else (hub, end)))

    def _no_path(self, source: int, target: int) -> None:
        raise NetworkError(
            f"network {self.network.spec!r} is not connected: no path from node {self.network.node_name(source)} to "
            f"node {self.network.node_name(target)}, as {self.task.name} needs"
        )

    @cached_property
    def metric(self) -> Metric:
        """Distances between terminals."""
        return metric_of(self.network)

    @cached_property
    def invariant(self) -> bool:
        """Whether network and task look the same from every node, so that node 0 stands for all."""
        net = self.network
        alike = net.group is not None and net.uniform_capacity is not None and net.terminal_count == net.node_count
        return alike and all(d.everywhere for d in self.demands)

    @cached_property
    def nodes(self) -> Counts:
        """The nodes to look at: all, or node 0 of an invariant problem."""
        return np.arange(1 if self.invariant else self.network.node_count, dtype=np.int64)

    def hubs(self, demand: HubDemand) -> Counts:
        """Return the hubs to look at: all, or node 0 of an invariant problem."""
        return demand.hubs[:1] if self.invariant else demand.hubs

    @property
    def hub_demands(self) -> tuple[HubDemand, ...]:
        """The demands, if all of them are between hubs and all terminals, else none."""
        found = tuple(d for d in self.demands if isinstance(d, HubDemand))
        return found if len(found) == len(self.demands) else ()

    @property
    def what(self) -> str:
        """The noun for what crosses links."""
        return self.demands[0].what if len(self.demands) == 1 else "packet"

    # -- capacities -------------------------------------------------------------------------------------------

    @property
    def limited(self) -> bool:
        """Whether a port limit holds, so that no link carries more than one packet a slot."""
        return self.send_limited or self.receive_limited

    @property
    def link_capacity(self) -> Counts:
        """Packets that each link carries per slot under the model, int64[L]."""
        if self.limited:
            return np.broadcast_to(np.int64(1), self.network.link_source.shape)
        return self.network.link_capacity.astype(np.int64)

    def degrees(self, incoming: bool) -> Counts:
        """Return the number of links that enter, or leave, each node, int64[N]."""
        # generators come with their inverses: as many links enter a node of a Cayley network as leave it
        return self.network.in_degree if incoming and self.network.group is None else self.network.out_degree

    def node_capacity(self, incoming: bool) -> Counts:
        """Packets that each of `nodes` receives (`incoming`) or sends per slot at the most, int64."""
        net, degree = self.network, self.degrees(incoming)[: self.nodes.size]
        if self.receive_limited if incoming else self.send_limited:
            return np.minimum(degree, 1)
        if self.limited or net.uniform_capacity is not None:
            return degree * (1 if self.limited else net.uniform_capacity or 1)
        ends = net.link_target if incoming else net.link_source
        return np.bincount(ends, weights=net.link_capacity, minlength=net.node_count).astype(np.int64)

    @cached_property
    def total_capacity(self) -> tuple[int, str]:
        """Hops that all nodes together make per slot at the most, and what limits them, in words."""
        net = self.network
        links = self.network.link_count
        total = links if self.limited else links * (net.uniform_capacity or 0) or int(net.link_capacity.sum())
        text = f"over {quantity(links, 'link')}" + (f" of total capacity {total:,}" if total > links else "")
        for limited, incoming, verb in ((self.send_limited, False, "send"), (self.receive_limited, True, "receive")):
            if limited:
                ports = int(np.count_nonzero(self.degrees(incoming)))
                if ports < total:
                    total, text = ports, f"by {quantity(ports, 'node')} that {verb} one packet a step each"
        return total, text

    def steps(self, packets: int, capacity: int, wait: int = 0) -> Fraction:
        """Return the least time in which `packets` messages pass at `capacity` a slot, `wait` more slots around it.

        Parts may be as small as one likes, so in the split model waiting costs nothing and nothing is rounded.
        """
        if self.whole:
            return Fraction(wait - (-int(packets) // int(capacity)))
        return Fraction(int(packets), int(capacity))

    def name(self, node: int) -> str:
        """Return the name of a node for a witness."""
        return self.network.node_name(int(node))
