"""Designs as sweeps, on several cores or a cluster, kept in a file; and as files: links, cables, routes."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import whole_file, whole_folder
from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks import Network, write_network
from gossamer.networks.derived import cables
from gossamer.planning.switching import save
from gossamer.reading import number, whole
from gossamer.reading import seed as read_seed
from gossamer.simulation.flits import Routers
from gossamer.simulation.flits.routing import Routing, deadlock_freedom, routing
from gossamer.simulation.flits.routing.routing_function import RoutedMessages
from gossamer.simulation.flits.saturation import saturation_throughput
from gossamer.simulation.flits.settings import TrafficSettings
from gossamer.studies.design.plan_candidates import (
    MOST_WORK,
    SECONDS_OF_WORK,
    Design,
    DesignedNetwork,
    PlannedTask,
    best_designs,
    chosen_candidates,
    plan_candidate,
    work,
)
from gossamer.studies.design.problem import Problem, Wishes, cabled, read_degrees, read_goals, read_nodes
from gossamer.studies.design.search import CandidateNetwork, Say, candidates, fixed_candidates
from gossamer.studies.sweeps import sweep
from gossamer.studies.sweeps.point_protocol import Progress, file_contents

if TYPE_CHECKING:
    import pyarrow as pa

# A design as points of a sweep: searches, each with chances of its own, and networks to be planned.

_SEMANTICS = 1
_BYTES_A_LINK = 400


def asked_words(problem: Problem) -> dict[str, Any]:
    """Return what a problem asks, in plain values by name; what is not wished is left out.

    >>> from gossamer.studies.design.problem import read_goals
    >>> asked_words(Problem((64, 64), 4, read_goals(["alltoall"])))
    {'task': 'total-exchange', 'asked_nodes': '64', 'asked_degree': 4}
    """
    low, high = problem.nodes
    told = {
        "task": ", ".join(goal.text for goal in problem.goals),
        "asked_nodes": f"{low}" if low == high else f"{low}:{high}",
        "asked_degree": problem.degree,
    }
    plain = Wishes()
    wished = {f.name: getattr(problem.wishes, f.name) for f in fields(Wishes)}
    timed = ("bandwidth", "latency") if problem.timed else ()
    told |= {n: v for n, v in wished.items() if v != getattr(plain, n) or n in timed}
    files = file_contents({"contains": problem.wishes.contains, "placement": problem.wishes.placement})
    return told | ({"files": files} if files else {})


@dataclass(frozen=True)
class SearchPoint:
    """A search for networks.

    `problem`: what is wanted. `budget`: seconds of CPU time, where no rounds are given. `rounds`: rounds of search.
    `seed`, `part`: where chance comes from; parts of one seed search beside each other.
    """

    problem: Problem
    budget: float
    rounds: int | None
    seed: int
    part: int

    @property
    def title(self) -> str:
        """What is looked for."""
        words = asked_words(self.problem)
        return f"search {self.part + 1} for {words['asked_nodes']} nodes of {self.problem.degree} links"

    @property
    def needs(self) -> tuple[int, float]:
        """Bytes of memory and seconds of CPU time, about."""
        return self.problem.nodes[1] * 4096, self.budget if self.rounds is None else 0.2 * self.rounds

    def describe(self) -> dict[str, Any]:
        """Return what affects the result."""
        length = {"budget": self.budget} if self.rounds is None else {"rounds": self.rounds}
        return {"kind": "search", "semantics": _SEMANTICS, **asked_words(self.problem), **length,
                "seed": self.seed, "part": self.part}  # fmt: skip

    def run(self, progress: Progress) -> dict[str, Any]:
        """Search; the candidates are one text."""
        look = fixed_candidates if self.problem.wishes.fixed else candidates
        seed = int(np.random.SeedSequence([self.seed, self.part]).generate_state(1)[0]) if self.part else self.seed
        found, looked = look(self.problem, budget=self.budget, rounds=self.rounds, seed=seed, say=progress)
        told = [[c.spec, c.family, c.nodes, c.diameter, c.status, c.price, _links(c.network)] for c in found]
        best = {"best_price": found[0].price} if found else {}
        return {"looked": looked, **best, "candidates": json.dumps(told, separators=(",", ":"))}


def _links(network: Network | None) -> list[list[int]] | None:
    """Return the links of a network without a spec."""
    if network is None:
        return None
    return [network.link_source.tolist(), network.link_target.tolist()]


def candidates_of(row: Mapping[str, Any]) -> list[CandidateNetwork]:
    """Return the candidates of a search from its row."""
    found = []
    for spec, family, nodes, diameter, status, price, links in json.loads(row["candidates"]):
        network = None
        if links is not None:
            source, target = (np.array(ends, np.int32) for ends in links)
            network = Network(spec, nodes, source, target, links_only=True)
        found.append(CandidateNetwork(spec, family, nodes, diameter, status, price, network))
    return found


@dataclass(frozen=True)
class NetworkPoint:
    """A network to be planned for a problem.

    `problem`: what it is for.
    """

    problem: Problem
    candidate: CandidateNetwork

    @property
    def title(self) -> str:
        """The tasks and the network."""
        return f"{asked_words(self.problem)['task']} on {self.candidate.spec[:60]}"

    @property
    def needs(self) -> tuple[int, float]:
        """Bytes of memory and seconds of CPU time, about."""
        c = self.candidate
        return c.nodes * self.problem.degree * _BYTES_A_LINK, 0.05 + SECONDS_OF_WORK * work(c)

    def describe(self) -> dict[str, Any]:
        """Return what affects the result."""
        links = _links(self.candidate.network)
        told = {} if links is None else {"link_ends": json.dumps(links, separators=(",", ":"))}
        return {"kind": "network", "semantics": _SEMANTICS, "network": self.candidate.spec, **told,
                **asked_words(self.problem)}  # fmt: skip

    def run(self, progress: Progress) -> dict[str, Any]:
        """Plan and verify the tasks."""
        progress(f"planning {self.candidate.spec[:60]}")
        found = plan_candidate(self.problem, self.candidate)
        row = found.to_dict()
        told = {name: row[name] for name in ("family", "nodes", "degree", "diameter", "mean_distance", "bisection")}
        unit = "seconds" if self.problem.timed else "time"
        tasks = [[t.task, str(t.time), str(t.bound), t.limit, t.algorithm, t.bound_scope] for t in found.tasks]
        if len(tasks) > 1:
            told |= {f"{t.task}_{unit}": row[f"{t.task}_time"] for t in found.tasks}
        total = float(found.total) if self.problem.timed else row["total"]
        told |= {"links": found.network.link_count, unit: total, "ratio": found.ratio, "score": found.score}
        told |= {name: row[name] for name in ("mean_cable_m", "longest_cable_m") if name in row}
        told |= {"worst_failure": found.worst_failure, "mean_failure": found.mean_failure}
        told |= {"single_paths": found.single_paths}
        return told | {"optimal": all(t.time == t.bound for t in found.tasks), "tasks": json.dumps(tasks)}


def found_of(problem: Problem, candidate: CandidateNetwork, row: Mapping[str, Any]) -> DesignedNetwork:
    """Return a network that was planned, from its row; the plans themselves are not in it."""
    tasks = tuple(
        PlannedTask(task, Fraction(time), Fraction(bound), limit, algorithm, *scope)
        for task, time, bound, limit, algorithm, *scope in json.loads(row["tasks"])
    )
    weights = {goal.task: goal.weight for goal in problem.goals}
    total = sum((weights[t.task] * t.time for t in tasks), start=Fraction(0))
    network = candidate.built
    placement = problem.wishes.placement
    return DesignedNetwork(
        candidate, network, tasks, total, row["ratio"], row["score"], row.get("bisection"),
        cabled(network, placement) if placement else None, row.get("worst_failure"), row.get("mean_failure"),
        row.get("single_paths"),
    )  # fmt: skip


def designs(
    nodes: int | str,
    degree: int | str,
    tasks: str | Sequence[str] = "alltoall",
    wishes: Wishes | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    parts: int = 1,
    budget: float = 20.0,
    rounds: int | None = None,
    top: int = 8,
    seed: int = 0,
    progress: Say | None = None,
    **running: Any,
) -> list[Design]:
    """Search for networks as a sweep: resumable, on several cores or a Dask cluster, for one degree or several.

    * `nodes`, `tasks`, `wishes`, `top`, `seed`, `progress`: as for `gossamer.studies.design.design`.
    * `degree`: the most links that leave a node, or a range such as ``"3:6"``, each a design of its own.
    * `store`: a Parquet file of results: what it has is not searched or planned again, so that the same call goes on
      where it was interrupted or killed. Its rows are those of `gossamer.sweep`, so that they are reported and merged.
    * `parts`: searches that go on beside each other, each with chances of its own.
    * `budget`: seconds of CPU time of each search. What a search found stays in the store, so that it is continued on
      another machine, too; a new one finds what the time allows.
    * `rounds`: rounds of each search instead of a budget, for results that do not depend on the machine's speed.
    * `running`: `engine`, `jobs`, `memory`, `scheduler`, `retry` of `gossamer.sweep`.

    Returns: one for each degree for which a network was found; the best network of each was planned and verified once
    more here, so that its schedules are at hand.

    Raises GossamerError if what is asked is illegal, or no network was found.

    >>> found = designs(24, "3:4", wishes=Wishes(families="torus,permutations"), rounds=1, top=2, engine="in-process")
    >>> [(each.problem.degree, str(each.best.total), each.best.tasks[0].limit) for each in found]
    [(3, '20', 20), (4, '13', 13)]
    """
    goals = read_goals(tasks)
    low, high = read_degrees(degree)
    problems = [Problem(read_nodes(nodes), d, goals, wishes or Wishes()) for d in range(low, high + 1)]
    seconds, most = number(budget, "budget", above=0), whole(top, "top", 1, 1000)
    steps = None if rounds is None else whole(rounds, "rounds", 1)
    count, chance = whole(parts, "parts", 1, 10_000), read_seed(seed)
    searches = [SearchPoint(p, seconds, steps, chance, part) for p in problems for part in range(count)]
    searched = list(sweep(searches, store, progress=progress, **running))
    several = [searched[i * count : (i + 1) * count] for i in range(len(problems))]
    chosen = [_merged(problem, rows, most) for problem, rows in zip(problems, several, strict=True)]
    points = [NetworkPoint(p, c) for p, some in zip(problems, chosen, strict=True) for c in some]
    planned = list(sweep(points, store, progress=progress, **running)) if points else []
    rows = iter(planned)
    made = [
        _designed(problem, [(c, next(rows)) for c in some], sum(int(r.get("looked") or 0) for r in looked), most)
        for problem, some, looked in zip(problems, chosen, several, strict=True)
    ]
    found = [each for each in made if each.found]
    if not found:
        why = next((r["reason"] for r in (*planned, *searched) if r.get("reason")), "none in the families asked for")
        raise NotApplicableError(f"no network of {nodes} nodes with {degree} links a node was found: {why}")
    return [_with_schedules(each) for each in found]


def _merged(problem: Problem, rows: Sequence[Mapping[str, Any]], top: int) -> list[CandidateNetwork]:
    """Return the candidates of several searches that are worth planning."""
    known = {c.spec: c for row in rows if row["status"] == "done" for c in candidates_of(row)}
    ranked = sorted(known.values(), key=lambda c: (c.price, c.spec))
    chosen = ranked if problem.wishes.fixed else chosen_candidates(ranked, problem, top)
    least = min((c.price for c in ranked), default=0.0)
    return [c for c in chosen[: 3 * top] if c.price <= least or c.family == "torus" or work(c) <= MOST_WORK]


def _designed(
    problem: Problem, planned: Sequence[tuple[CandidateNetwork, Mapping[str, Any]]], looked: int, top: int
) -> Design:
    """Return the best of what was planned, the best torus among them."""
    found = best_designs([found_of(problem, c, row) for c, row in planned if row["status"] == "done"], top)
    lost = [row["reason"] for _, row in planned if row["status"] != "done"]
    return Design(problem, found, looked, 0.0, f"not planned: {lost[0]}" if lost else "")


def _with_schedules(design: Design) -> Design:
    """Return a design whose best network has its schedules, planned and verified here."""
    best = plan_candidate(design.problem, design.best.candidate)
    if [task.time for task in best.tasks] != [task.time for task in design.best.tasks]:
        raise ModelError(f"the file of results has another time for {best.candidate.spec}; begin with a new file")
    return replace(design, found=(best, *design.found[1:]))


# What comes out of a design: the network in files, its cables, its schedules; how it carries traffic in flits.

# The routes of a network as tables: for every two nodes the ports and the classes of virtual channels on the way.

MOST_ROUTED = 1024
"""Nodes up to which routes are written."""


def routing_table(network: Network, channels: int = 0) -> pa.Table:
    """Return evenly chosen shortest routes between all nodes, on virtual channels on which they cannot deadlock.

    `network`: up to 1,024 nodes, none of them a switch. `channels`: virtual channels of a link; 0: as many as the
    routes need, 8 at the least.

    Returns: a row for every two nodes: ``source``, ``target``, ``ports``, the port of each node on the way that a
    message leaves by, and ``classes``, the class of virtual channels that it takes there. The metadata has ``routing``,
    ``virtual_channels``, ``classes``, the virtual channels of each class, and ``deadlock``, why there is none.

    Raises ModelError if the network is too large or the routes need more virtual channels.

    >>> import gossamer
    >>> table = routing_table(gossamer.network("star:4"))
    >>> table.num_rows, table.slice(0, 1).to_pylist()
    (552, [{'source': 0, 'target': 1, 'ports': [1, 2, 1], 'classes': [1, 2, 3]}])
    """
    import pyarrow as pa

    n = network.node_count
    if n > MOST_ROUTED or network.terminal_count < n:
        raise ModelError(
            f"routes are written for up to {MOST_ROUTED:,} nodes, none of them a switch; got {network.spec}"
        )
    rule, routers = chosen_routing(network, channels, TABLED)
    source, target = (x[~np.eye(n, dtype=bool).reshape(-1)] for x in np.divmod(np.arange(n * n), n))
    size = rule.row_size
    route = np.zeros(source.size * size + 1, np.int32)
    begin = np.arange(source.size, dtype=np.int64) * size + 1
    rule.write(RoutedMessages(route, begin, source, target, np.random.default_rng(0)))
    hops = route[begin - 1].astype(np.int64)
    at = np.repeat(begin, hops) + np.arange(int(hops.sum())) - np.repeat(np.cumsum(hops) - hops, hops)
    link, kind = route[at] >> 8, route[at] & 255
    offsets = pa.array(np.concatenate([[0], np.cumsum(hops)]), pa.int32())
    port = pa.array(link - network.first_link[network.link_source[link]], pa.int16())
    columns = {"source": pa.array(source, pa.int32()), "target": pa.array(target, pa.int32()),
               "ports": pa.ListArray.from_arrays(offsets, port),
               "classes": pa.ListArray.from_arrays(offsets, pa.array(kind, pa.int16()))}  # fmt: skip
    told: dict[str, Any] = {
        "routing": rule.name,
        "virtual_channels": str(routers.virtual_channels),
        "classes": json.dumps([[v for v in range(64) if int(bits) >> v & 1] for bits in rule.classes]),
        "deadlock": str(deadlock_freedom(rule)),
    }
    return pa.table(columns).replace_schema_metadata(told)


def write_routes(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the routes of a network to a Parquet file; see `routing_table`."""
    import pyarrow.parquet as pq

    table = routing_table(network)
    with whole_file(path) as part:
        pq.write_table(table, part)


def cable_rows(network: Network, length: npt.NDArray[np.float64] | None = None) -> list[tuple[object, ...]]:
    """Return a row for each cable: node, port, node, port and its length in meters, which is empty if not known.

    Port p of a node is its p-th link. A link without an opposite is a cable from its source to its target.

    >>> from gossamer.networks import ring
    >>> cable_rows(ring(3))
    [(0, 0, 1, 1, ''), (0, 1, 2, 0, ''), (1, 0, 2, 1, '')]
    """
    ends = cables(network)
    port: dict[tuple[int, int], int] = {}
    for link, (u, v) in enumerate(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)):
        port.setdefault((u, v), link - int(network.first_link[u]))
    rows: list[tuple[object, ...]] = []
    for i, (u, v) in enumerate(ends.tolist()):
        meters = "" if length is None else round(float(length[i]), 3)
        rows.append((u, port.get((u, v), ""), v, port.get((v, u), ""), meters))
    return rows


def write_found(found: DesignedNetwork, folder: Path) -> list[str]:
    """Write a network that was found to a folder; return the names of the files.

    ``network.txt`` has its spec, ``network.graphml`` and ``network.edges`` its links, ``cables.csv`` its cables,
    ``places.csv`` where its nodes stand if they have places, ``routes.parquet`` its routes up to 1,024 nodes, free of
    deadlock (`gossamer.studies.design.design_sweeps.routing_table`), and ``TASK.parquet`` the schedule of each task.
    """
    (folder / "network.txt").write_text(found.candidate.spec + "\n", encoding="utf-8")
    for suffix in ("graphml", "edges"):
        write_network(found.network, folder / f"network.{suffix}")
    length = None if found.cabling is None else found.cabling.length
    with (folder / "cables.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("node", "port", "other_node", "other_port", "meters"))
        writer.writerows(cable_rows(found.network, length))
    if found.cabling is not None:
        np.savetxt(folder / "places.csv", found.cabling.at, fmt="%.3f", delimiter=",")
    with suppress(ModelError):  # the network is too large, or its routes need more virtual channels than there are
        write_routes(found.network, folder / "routes.parquet")
    for each in found.tasks:
        if each.outcome is not None and each.outcome.schedule is not None:
            save(each.outcome.schedule, folder / f"{each.task}.parquet")
    return sorted(path.name for path in folder.iterdir())


def save_design(design: Design, folder: str | os.PathLike[str]) -> list[str]:
    """Write the best network of a design and the table to a new folder, which appears whole or not at all.

    Raises FileFormatError if the folder exists and is not empty, or cannot be made.
    """
    with whole_folder(folder) as part:
        write_found(design.best, part)
        (part / "designs.json").write_text(json.dumps(design.to_dicts(), indent=1) + "\n", encoding="utf-8")
        return sorted(path.name for path in part.iterdir())


# How a network carries uniform traffic in flits, on routes that cannot deadlock.

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
