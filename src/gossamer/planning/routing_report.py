"""Routing tables judged: the load of an alltoall beside what no table can go below, deadlocks, who is reached."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from gossamer.atomic_files import Tabled, quantity, whole_file
from gossamer.bounds.concurrent_flow import balanced_prices, best_price, flows_of, resources_of
from gossamer.errors import ModelError
from gossamer.graphs.destination_routing import routing_table
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.networks.routing_tables import MAX_LAYERS, Cables, RoutingTable, read_routing_table
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task
from gossamer.reading import seed as read_seed
from gossamer.reading import whole
from gossamer.verification.routing_tables import Judgment, judge

__all__ = ["Routes", "alltoall_bound", "routes"]

_NAMED = 6
"""Cables of a circle that are named."""


@dataclass(frozen=True, eq=False)
class Routes(Tabled):
    """A routing table and what following it found.

    Attributes
    ----------
    tables : RoutingTable
        The table.
    judged : Judgment
        Who is reached, the load of each cable, deadlocks; found independently of how the table was made.
    bound : Fraction
        What no routes of an alltoall can load the busiest cable less than, in the units of `Judgment.congestion`.
    """

    tables: RoutingTable
    judged: Judgment
    bound: Fraction

    @property
    def sound(self) -> bool:
        """Whether every message arrives and none can wait for ever."""
        return self.judged.complete and self.judged.deadlock_free

    @property
    def ratio(self) -> float:
        """The load of the busiest cable over its bound."""
        return float(Fraction(self.judged.congestion, self.tables.paths) / self.bound) if self.bound else 1.0

    @cached_property
    def _unit(self) -> int:
        """The time of a packet on the fastest cable."""
        time = self.tables.cables.time
        return int(time.min()) if time.size else 1

    @property
    def _layers(self) -> str:
        """What messages wait for, in words."""
        if self.tables.lanes is not None:
            return quantity(self.judged.lanes, "virtual lane")
        return quantity(self.tables.layers, "virtual layer")

    def _packets(self, load: Fraction | int) -> str:
        return f"{float(Fraction(load) / self._unit):,.5g}"

    @property
    def summary(self) -> str:
        """What a person wants to know, in a sentence."""
        where = self.tables.network.spec
        if not self.judged.complete:
            missing = quantity(self.judged.lost + self.judged.looping, "path")
            return f"{self.tables.name} on {where}: {missing} do not arrive"
        if not self.judged.deadlock_free:
            return f"{self.tables.name} on {where}: every message arrives, but messages can deadlock"
        layers = self._layers
        load = f"{self.ratio:.3f} times the least load" if self.ratio > 1 else "the least load"
        return f"{self.tables.name} on {where}: cannot deadlock in {layers}, {load} of an alltoall"

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        found, network = self.judged, self.tables.network
        t = network.terminal_count
        count = t * (t - 1) * self.tables.paths
        arrive = count - found.lost - found.looping
        reached = f"{arrive:,} of {count:,} paths arrive"
        if self.tables.paths > 1:
            reached += f", {self.tables.paths} from each source to each destination"
        if found.fault is not None:
            ends = " to ".join(network.node_name(v) for v in found.fault)
            reached += f"; {found.lost:,} end where a table says nothing, {found.looping:,} never end, as {ends}"
        rows = [("reachability", reached)]
        if arrive:
            rows.append(("paths", f"{found.hops / arrive:.3g} cables on average, {found.longest} at most"))
        if found.busiest >= 0:
            cable = network.link_name(int(self.tables.cables.link[found.busiest]))
            least = self._packets(self.bound)
            rows.append(
                (
                    "alltoall",
                    f"{self._packets(Fraction(found.congestion, self.tables.paths))} messages on the busiest cable, "
                    f"{cable}; no routes have less "
                    f"than {least}: {self.ratio:.3f} times",
                )
            )
        rows += [("deadlock", line) for line in self._deadlocks()]
        return rows

    def _deadlocks(self) -> list[str]:
        """Return a line that all layers are free, or one for each that is not."""
        found = self.judged
        if found.deadlock_free:
            waits = ", ".join(f"{count:,}" for count in found.dependencies)
            return [f"none: no circle among the dependencies of {self._layers} ({waits})"]
        lines = []
        for layer, names in enumerate(self._circles()):
            if names:
                more = f", ... ({len(names)} in all)" if len(names) > _NAMED else ""
                which = f"layer {layer}" if self.tables.lanes is None else "virtual lanes"
                lines.append(f"{which}: {', then '.join(names[:_NAMED])}{more}, then the first again")
        return lines

    def _circles(self) -> list[list[str]]:
        """Return the names of the cables of each circle, with their lanes where lanes are told."""
        link, name, count = self.tables.cables.link, self.tables.network.link_name, self.tables.cables.source.size
        lane = "" if self.tables.lanes is None else " on lane {}"
        return [
            [name(int(link[c % count])) + lane.format(c // count) for c in circle] for circle in self.judged.circles
        ]

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people: a direction of a cable a row, the busiest first."""
        cables, load, paths = self.tables.cables, self.judged.load, self.tables.paths
        busy = load * cables.time
        name = self.tables.network.link_name
        rows = [
            (name(int(cables.link[c])), self._messages(load[c]), f"{busy[c] / float(self.bound or 1) / paths:.3f}")
            for c in np.argsort(-busy, kind="stable").tolist()
        ]
        return ("cable", "messages", "of the bound"), tuple(rows)

    def _messages(self, load: int) -> str:
        """Return a load in messages that are spread evenly over the paths of their source and destination."""
        return f"{load:,}" if self.tables.paths == 1 else f"{load / self.tables.paths:,.10g}"

    def write_loads(self, path: str | PathLike[str]) -> None:
        """Write `table` as CSV; the file appears whole or not at all."""
        columns, rows = self.table()
        with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(columns)
            lines.writerows((cable, load.replace(",", ""), share) for cable, load, share in rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        found = self.judged
        return {
            "network": self.tables.network.spec,
            "table": self.tables.name,
            "paths": self.tables.paths,
            "layers": self.tables.layers,
            "lanes": found.lanes,
            "lost": found.lost,
            "looping": found.looping,
            "longest_path": found.longest,
            "total_hops": found.hops,
            "busiest_load": float(Fraction(found.congestion, self._unit * self.tables.paths)),
            "bound": float(self.bound / self._unit),
            "ratio": self.ratio,
            "deadlock_free": found.deadlock_free,
            "circles": self._circles(),
        }


def routes(
    network: Network | Any,
    table: RoutingTable | str | PathLike[str] | None = None,
    *,
    levels: str | PathLike[str] | None = None,
    lanes: str | PathLike[str] | None = None,
    layers: int = MAX_LAYERS,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Routes:
    """Make a routing table of a network, or take one, and judge it.

    Parameters
    ----------
    network : Network or what `gossamer.network` reads
        With at least two terminals.
    table : RoutingTable or path, optional
        A table, or a dump of forwarding tables (see `read_routing_table`). Default: one is made,
        balanced for alltoall and free of deadlocks.
    levels : path, optional
        Service levels of a table from a file, see `read_routing_table`. Default: all are 0.
    lanes : path, optional
        Virtual lanes of these levels by switch and ports, see `read_routing_table`. Default: each level has its own.
    layers : int
        Virtual layers that a table which is made may have, 16 at most. Default: 16. One is enough on any network whose
        links go both ways, at a higher load.
    seed : int
        The same seed gives the same table.
    progress : callable, optional
        Told what happens.

    Returns
    -------
    Routes
        The table, what was found by following it, and the bound of its load.

    Raises
    ------
    NetworkError
        If a terminal does not reach another, or the network is too large.
    ModelError
        If a table would need more layers.
    FileFormatError
        If a file is malformed.

    Examples
    --------
    >>> import gossamer
    >>> found = gossamer.routes("torus:8x8")
    >>> found.sound, found.tables.layers, found.judged.congestion, found.bound
    (True, 2, 64, Fraction(64, 1))
    """
    net, say = as_network(network), progress or (lambda stage: None)
    read_seed(seed)
    if net.terminal_count < 2:
        raise ModelError(f"routes go between terminals, and {net.spec} has {net.terminal_count}")
    whole(layers, "layers", 1, MAX_LAYERS, error=ModelError)
    if (levels is not None or lanes is not None) and (table is None or isinstance(table, RoutingTable)):
        raise ModelError("service levels and virtual lanes go with a table from a file")
    say("bounding the load")
    bound = alltoall_bound(net)
    if table is None:
        table = routing_table(net, enough=float(bound), layers=layers, seed=seed, progress=progress)
    elif not isinstance(table, RoutingTable):
        table = read_routing_table(table, net, levels, lanes)
    elif table.network != net:
        raise ModelError(f"the table is of {table.network.spec}, and not of {net.spec}")
    say("following every path")
    return Routes(table, judge(table), bound)


def alltoall_bound(network: Network) -> Fraction:
    """Return what an alltoall loads the busiest cable with at least, whatever its routes; times `Cables.time`.

    Let cables have prices. Every message pays at least the distance in prices from its source to its destination, and
    if no cable is busy for longer than z, all together are paid at most z times the sum of the prices over the times
    of a packet. So z is at least their quotient, for split routes too, and all the more for routes that are fixed by
    destination. Prices are those that balanced flows end with; and those of the cables of one terminal alone, which all
    its T-1 messages cross. Loads are whole numbers, so that the bound is rounded up.
    """
    cables, t = Cables.of(network), network.terminal_count
    rate = 1.0 / cables.time
    least = Fraction(0)
    for ends in (cables.source, cables.target):
        room = np.bincount(ends, rate, network.node_count)[:t]
        v = int(np.argmin(room))
        mine = [Fraction(1, int(x)) for x in cables.time[ends == v]]
        if mine:
            least = max(least, Fraction(t - 1) / sum(mine))
    time = np.zeros(network.link_count, np.int32)
    time[cables.link] = cables.time
    plain = network
    if not network.plain or time.max(initial=1) > 1:
        plain = Network(
            network.spec, network.node_count, network.link_source, network.link_target, network.link_capacity,
            link_occupancy=time, terminal_count=t, links_only=True,
        )  # fmt: skip
    case = Case(plain, task("alltoall"), Rules())
    flows = flows_of(case)
    if flows is not None:
        resources = resources_of(case, flows)
        best = best_price(case, flows, resources, balanced_prices(flows, resources))
        if best is not None:
            least = max(least, Fraction(best.load.needed) / best.offered)
    return Fraction(-(-least.numerator // least.denominator))
