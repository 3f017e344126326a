"""The case: a network, a task and rules, with what several algorithms and bounds need of them computed once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.processes.search_trials import ALONE, Trials
from gossamer.questions.cases.demands import Counts, Demand, HubDemand, demands_of
from gossamer.questions.cases.distances import Metric, metric_of
from gossamer.questions.cases.links import Links, links_of
from gossamer.questions.costs import Clock, Cost, SlotCost, StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Messages, Task
from gossamer.reading import instance

P = ParamSpec("P")
T = TypeVar("T")


class Case:
    """What is asked: a task on a network under rules; immutable.

    Whatever several algorithms, bounds or options need of it is computed once, when it is first asked for, and lives as
    long as the case: the properties below, and any other computation through `once`.

    Parameters
    ----------
    network : Network
        Where.
    task : Task
        What must be communicated.
    rules : Rules, optional
        What a schedule must respect. Default: all ports, unsegmented messages, no limit of the buffers.
    cost : StepCost, optional
        What a schedule takes. Default: steps, and control packets take none.
    seed : int
        For algorithms that make random choices.

    Attributes
    ----------
    budget : float or None
        Seconds that a solver may take; None for an amount of work that is the same everywhere. Set by `within`.
    tries : Trials
        Who carries out the tries of a search: this process alone, or several. Set by `within`.
    rules : Rules
        As given, but for what they say of switches where there are none.
    whole : bool
        Whether messages are whole, so that times are integers and every hop costs a step.
    send_limited, receive_limited : bool
        Whether a node sends, or receives, at most one packet a slot.

    Raises
    ------
    TaskError
        If the task does not fit the network.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ring:5"), gossamer.task("alltoall"))
    >>> case.messages.count, case.invariant, case.nodes.tolist()
    (20, True, [0])
    """

    def __init__(
        self, network: Network, task: Task, rules: Rules | None = None, cost: StepCost | None = None, *, seed: int = 0
    ) -> None:
        self.network = instance(network, Network, "the network")
        self.task = instance(task, Task, "the task")
        task.check(network)
        self.rules = (Rules() if rules is None else instance(rules, Rules, "the rules")).on(network)
        self._cost = StepCost() if cost is None else cost
        self.seed = seed
        self.budget: float | None = None
        self.tries = ALONE
        self._floor = Fraction(0)
        self._turned: Case | None = None
        self._reached = False
        self.whole = not self.rules.segmented
        self.send_limited = self.rules.send_limited
        self.receive_limited = self.rules.receive_limited
        self._known: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.task.describe()} on {self.network.spec}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: what is asked and its floor, and nothing that was computed."""
        known = [
            name for kind in type(self).__mro__ for name, v in vars(kind).items() if isinstance(v, cached_property)
        ]
        kept = {name: value for name, value in vars(self).items() if name not in known}
        return {**kept, "_known": {}, "_turned": None, "_floor": self.floor}

    @property
    def cost(self) -> Cost:
        """What a schedule takes."""
        return self._cost

    @property
    def control_time(self) -> Fraction:
        """Steps that a control packet takes a hop, t_p."""
        return self._cost.control_time

    @property
    def floor(self) -> Fraction:
        """The largest lower bound that was told of (`tell_floor`), or 0: a search may end there."""
        return self._floor if self._turned is None else max(self._floor, self._turned._floor)

    def tell_floor(self, floor: Fraction) -> None:
        """Let searches know that no schedule takes less, in the unit of the cost.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:5"), gossamer.task("allgather"))
        >>> case.tell_floor(Fraction(2))
        >>> case.floor, case.dual.floor
        (Fraction(2, 1), Fraction(2, 1))
        """
        self._floor = max(self._floor, floor)

    # -- shared work ------------------------------------------------------------------------------------------

    def once(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Return ``function(*arguments, **options)``, computed when first asked for and kept as long as the case.

        Arguments must be hashable. Related cases (`related`) share what is known.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:5"), gossamer.task("alltoall"))
        >>> case.once(sum, (1, 2)), case.related(task=gossamer.task("allgather")).once(sum, (1, 2))
        (3, 3)
        """
        key = (function, arguments, tuple(sorted(options.items())))
        if key not in self._known:
            self._known[key] = function(*arguments, **options)
        known: T = self._known[key]
        return known

    def within(self, budget: float | None, tries: Trials = ALONE) -> Self:
        """Return the case for solvers that may take so many seconds, and with who tries, as nothing is known of it.

        >>> import gossamer
        >>> Case(gossamer.network("ring:5"), gossamer.task("alltoall")).within(2.5).budget
        2.5
        """
        other = copy.copy(self)
        other._known, other.budget, other.tries = {}, budget, tries
        return other

    def told_by(self, cost: StepCost) -> Self:
        """Return the case with another cost of the same slots, which counts bytes otherwise, as nothing is known of it.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:5"), gossamer.task("allgather"))
        >>> case.told_by(StepCost("1/2")).control_time
        Fraction(1, 2)
        """
        other = copy.copy(self)
        other._known, other._cost = {}, cost
        return other

    def again(self, task: Task, reached: bool = False) -> Case:
        """Return the case of another task on the same network, which shares what is known of its links and distances.

        Unlike `related` it is not kept, so that any number of tasks may follow one another. `reached`: whether all
        targets are known to be reached, so that nobody looks whether they are.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:5"), gossamer.task("alltoall"))
        >>> case.again(gossamer.task("allgather")).links is case.links
        True
        """
        other = Case(self.network, task, self.rules, self._cost, seed=self.seed)
        vars(other).update(links=self.links, metric=self.metric, _reached=reached)
        rules = replace(self.rules, segmented=False)
        other._known[links_of, (self.network, rules), ()] = self.once(links_of, self.network, rules)
        return other

    def related(self, network: Network | None = None, task: Task | None = None, rules: Rules | None = None) -> Case:
        """Return the case that differs in what is given: the same object each time, sharing what is known.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:5"), gossamer.task("alltoall"))
        >>> case.related(rules=gossamer.Rules(ports="one")) is case.related(rules=gossamer.Rules(ports="one"))
        True
        """
        asked = (network or self.network, task or self.task, rules or self.rules)
        key = (Case, asked)
        if key not in self._known:
            other = Case(*asked, self._cost, seed=self.seed)
            other.budget, other.tries = self.budget, self.tries
            other._known, other._reached = self._known, self._reached and asked[:2] == (self.network, self.task)
            self._known[key] = other
        found: Case = self._known[key]
        return found

    @cached_property
    def dual(self) -> Case:
        """The case whose schedules, reversed in time, carry out this one: the dual task under the dual rules."""
        rules = self.rules.dual.on(self.network)
        found = self.related(self.network.transposed, self.task.dual(self.network), rules)
        if found._turned is None and found is not self:
            found._turned = self
        return found

    # -- what is asked ----------------------------------------------------------------------------------------

    @cached_property
    def messages(self) -> Messages:
        """The messages of the task."""
        return self.once(self.task.messages, self.network)

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """What the task asks for; empty if nothing has to move. A task of several demands carries out all of them.

        Raises NetworkError if a message has no path to a target.
        """
        demands = demands_of(self.network, self.task)
        net = self.network
        if net.group is None and net.grid is None and net.levels is None and not self._reached:
            for demand in demands:
                self._check_paths(demand)
        return demands

    def _check_paths(self, demand: Demand) -> None:
        if not isinstance(demand, HubDemand):
            tail, head = demand.pairs
            missing = np.flatnonzero(self.metric.between(tail, head) < 0)
            if missing.size:
                self._no_path(int(tail[missing[0]]), int(head[missing[0]]))
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
            f"node {self.network.node_name(target)}, as {self.task.word} needs"
        )

    @cached_property
    def metric(self) -> Metric:
        """Distances between terminals."""
        return metric_of(self.network)

    @cached_property
    def links(self) -> Links:
        """The links as the rules let them be used, with their times."""
        if self.rules.segmented:  # the same columns
            return self.once(links_of, self.network, replace(self.rules, segmented=False)).in_parts
        return self.once(links_of, self.network, self.rules)

    @property
    def cuts_through(self) -> bool:
        """Whether there are switches that send on what they do not have whole."""
        return self.rules.cut_through and self.network.terminal_count < self.network.node_count

    @cached_property
    def invariant(self) -> bool:
        """Whether network and task look the same from every node, so that node 0 stands for all."""
        return self.network.alike and all(d.everywhere for d in self.demands)

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
        """Packets that each link carries per slot under the rules, int64[L]."""
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
        text = quantity(links, "link")
        for limited, incoming, doing in (
            (self.send_limited, False, "sending"),
            (self.receive_limited, True, "receiving"),
        ):
            if limited:
                ports = int(np.count_nonzero(self.degrees(incoming)))
                if ports < total:
                    total, text = ports, f"{quantity(ports, 'node')}, {doing} one each,"
        return total, f"{text} {self.units.carry_text(total)}"

    def steps(self, packets: int, capacity: int, wait: int = 0) -> Fraction:
        """Return the least time in which `packets` messages pass at `capacity` a slot, `wait` more slots around it.

        Parts may be as small as one likes, so where messages are split waiting costs nothing and nothing is rounded.
        """
        if self.whole:
            return Fraction(wait - (-int(packets) // int(capacity)))
        return Fraction(int(packets), int(capacity))

    # -- words for witnesses ----------------------------------------------------------------------------------

    @cached_property
    def units(self) -> StepCost:
        """What tells times and packets in the units of the cost: steps, or seconds and bytes.

        Slots where a case leaves out how many of them a packet takes, as those of relaxed bounds do.
        """
        if isinstance(self._cost, Clock) and self.network.plain:
            found = self.network.find(Speeds)
            fastest = None if found is None else np.array([found.bandwidth.max(initial=1.0)])
            if not self._cost.speed_text(np.ones(1), fastest):
                return SlotCost()
        return self._cost

    def name(self, node: int) -> str:
        """Return the name of a node for a witness."""
        return self.network.node_name(int(node))

    def names(self, nodes: Counts) -> str:
        """Return the first names of some nodes for a witness.

        >>> import gossamer
        >>> Case(gossamer.network("ring:9"), gossamer.task("alltoall")).names(np.arange(6))
        '(0), (1), (2), (3), ...'
        """
        return ", ".join([*(self.name(v) for v in nodes[:_NAMED]), *(["..."] if nodes.size > _NAMED else [])])

    def set_text(self, count: int, where: str = "") -> str:
        """Return how many nodes a set has, and what tells which they are, for a witness.

        >>> import gossamer
        >>> case = Case(gossamer.network("ring:9"), gossamer.task("alltoall"))
        >>> case.set_text(1, "(0)"), case.set_text(3, "0 <= x_0 <= 2")
        ('node (0)', 'the 3 nodes 0 <= x_0 <= 2')
        """
        return f"node {where}" if count == 1 else f"the {quantity(count, 'node')} {where}"

    def time_text(self, time: Fraction | int) -> str:
        """Return a time in steps, or in seconds where the cost has them."""
        return self.units.time_text(time)

    def each_text(self, time: int) -> str:
        """Return the time of each of several things, to stand behind their number; nothing where it is a step.

        >>> import gossamer
        >>> Case(gossamer.network("ring:9"), gossamer.task("alltoall")).each_text(1)
        ''
        """
        return "" if time == 1 and not isinstance(self.units, Clock) else f", {self.time_text(time)} each"

    def packets_text(self, count: int, what: str = "") -> str:
        """Return a number of what crosses links, with its bytes where the cost has them."""
        return self.units.packets_text(int(count), what or self.what)

    def links_text(self, links: Counts) -> str:
        """Return how many links there are, and what they carry, for a witness.

        Parameters
        ----------
        links : int64[k]
            In the numbers of the network.

        Examples
        --------
        >>> import gossamer
        >>> net = gossamer.network("ring:4").with_times(2, 0)
        >>> Case(net, gossamer.task("alltoall")).links_text(np.arange(2))
        '2 links of 0.5 packets a step each'
        """
        text = quantity(links.size, "link")
        if not links.size:
            return text
        net = self.network
        rates = self.link_capacity[links] / net.link_occupancy[links]
        found = net.find(Speeds)
        speeds = None if found is None or found.bandwidth.size != net.link_count else found.bandwidth[links]
        return text + self.units.speed_text(rates, None if speeds is None else speeds * self.link_capacity[links])


_NAMED = 4
"""Nodes that are named in a witness."""
