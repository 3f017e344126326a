"""Rank placement: which rank of a job goes on which terminal, with a verified plan and bounds over all placements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import rank_rings, server_size
from gossamer.atomic_files import Rows, check_writable, quantity, seconds_text, whole_file
from gossamer.bounds.placements import Needs, PlacementBound, needs_of, placement_bounds, terminal_distances
from gossamer.bounds.registry import bounds as all_bounds
from gossamer.errors import FileFormatError, GossamerError, ModelError, ScheduleError, TaskError
from gossamer.graphs.rank_placement import (
    Axes,
    annealed,
    axes_of_graph,
    axes_of_groups,
    hop_sum,
    host_grid,
    placements_along_axes,
    placements_by_tiles,
    placements_sheared,
)
from gossamer.networks import as_network
from gossamer.networks.cable_orbits import symmetries
from gossamer.networks.finite_groups import divisors
from gossamer.networks.grids import torus
from gossamer.networks.network import Network, has_speeds
from gossamer.planning.offer_search import Search, asked_case
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.planning.switching.resource_limits import Candidate
from gossamer.questions.cases import Case, Offer
from gossamer.questions.costs import AskedCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, Grouped, Task, Together
from gossamer.questions.tasks.exchanges import NeighborExchange
from gossamer.questions.tasks.job import Job
from gossamer.questions.tasks.parsing import as_task
from gossamer.reading import seed as read_seed
from gossamer.reading.files import file_name
from gossamer.schedules import Schedule, expand, repeated_on_torus

__all__ = ["PLACEMENT_SUFFIXES", "Placement", "place"]

Ints = npt.NDArray[np.int64]
Distances = npt.NDArray[np.int16]
Say = Callable[[str], None]

_MOST_RANKS = 8192
_EXACT = 8
"""Terminals up to which every placement is looked at."""
_CLASSES = 400
"""Kinds of placements, up to symmetry, up to which each is bounded."""
_BOUNDED = 256
"""Terminals up to which candidates are bounded before they are planned."""
_FEW_PAIRS = 50_000
"""Pairs that exchange up to which several placements of many ranks are planned."""
_SWAPS = 4_000_000
PLACEMENT_SUFFIXES = ("", ".rankfile", ".hostfile", ".txt", ".json", ".ranks")
"""Of a file without suffix or with: MPI's rankfile, hosts in the order of ranks, a plain list, JSON, a map."""


@dataclass(frozen=True, eq=False)
class Placement(Rows):
    """A placement of ranks, its plan, and bounds over all placements.

    Attributes
    ----------
    network : Network
        With T terminals.
    node : int64[T]
        The terminal of each rank; ranks that do nothing come last.
    outcome : Outcome
        The plan of the placed job: verified, beside the bounds of this placement.
    bounds : tuple of PlacementBound
        What no placement beats, the largest first, in slots of the plan's clock.
    as_given : Outcome or None
        The plan where rank r is on terminal r; None where that was not made.
    planned : int
        Placements that were planned.
    exact : int
        Kinds of placements, up to symmetry, that were all looked at; 0 where there are too many.
    repeats : str
        The smaller torus whose placement is repeated; empty if none is.
    """

    network: Network
    node: Ints
    outcome: Outcome
    bounds: tuple[PlacementBound, ...]
    as_given: Outcome | None
    planned: int
    exact: int
    repeats: str = ""

    @property
    def time(self) -> Fraction:
        """The time of the plan, in slots."""
        return self.outcome.completion_time

    @property
    def bound(self) -> Fraction:
        """The largest bound over all placements, in slots."""
        return self.bounds[0].slots if self.bounds else Fraction(0)

    @property
    def optimal(self) -> bool:
        """Whether no placement is faster."""
        return self.time == self.bound

    @property
    def ratio(self) -> float:
        """The time over the bound."""
        return float(self.time / self.bound) if self.bound else 1.0

    def mesh(self, *shape: int) -> Ints:
        """Return the terminals as an array by the coordinates of ranks: a device order.

        Device d is terminal d. ``jax.sharding.Mesh(np.array(jax.devices())[placement.mesh(4, 16)], axes)`` and
        ``DeviceMesh("cuda", placement.mesh(4, 16))`` of PyTorch put rank r, in row-major order, where it is placed.

        Raises
        ------
        ModelError
            If the shape has not as many places as there are ranks.
        """
        if math.prod(shape) != self.node.size:
            raise ModelError(
                f"a mesh of {'x'.join(map(str, shape))} has {math.prod(shape)} places, not {self.node.size}"
            )
        return self.node.reshape(shape)

    def _text(self, slots: Fraction, of: Outcome | None = None) -> str:
        outcome = of or self.outcome
        if outcome.clock is not None:
            return seconds_text(outcome.clock.seconds(slots))
        return str(outcome.switching.time_text(outcome.case.cost, slots))

    @property
    def speedup(self) -> float | None:
        """How many times as long the given order takes, where it was planned."""
        if self.as_given is None:
            return None
        return float(_time(self.as_given) / _time(self.outcome)) if self.time else 1.0

    @property
    def summary(self) -> str:
        """What a person wants to know, in a sentence."""
        what = f"{self.outcome.case.task.describe()} on {self.network.spec}: {self._text(self.time)}"
        if self.optimal:
            return f"{what}, and no placement is faster"
        return f"{what}; no placement takes less than {self._text(self.bound)}, {self.ratio:.4g} x"

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        found = [
            ("task", self.outcome.case.task.describe()),
            ("algorithm", self.outcome.algorithm),
            ("time", f"{self._text(self.time)}; verified: {self.outcome.verification.checked}"),
        ]
        if self.as_given is not None and self.speedup is not None:
            times = f"{self.speedup:.3g}"
            beside = f", {times} times as long" if times != "1" else ", the same"
            found.append(("rank r on node r", self._text(self.as_given.completion_time, self.as_given) + beside))
        if self.bounds:
            best = self.bounds[0]
            found.append(("any placement", f"{self._text(best.slots)} or more ({best.method}: {best.text})"))
        if not self.optimal and self.outcome.optimal:
            found.append(("this placement", "its plan is as fast as it can be; whether another is faster is not known"))
        looked = f"{quantity(self.planned, 'placement')} planned"
        if self.repeats:
            looked += f" on {self.repeats}, the best of which is repeated"
        found.append(("searched", f"{looked}; all {self.exact} kinds looked at" if self.exact else looked))
        names = [self.network.node_name(v) for v in self.node[:16].tolist()]
        found.append(("order", ", ".join(names) + (", ..." if self.node.size > 16 else "")))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "network": self.network.spec,
            "task": self.outcome.case.task.describe(),
            "node_of_rank": self.node.tolist(),
            "names": [self.network.node_name(v) for v in self.node.tolist()],
            "time": float(self.time),
            "bound": float(self.bound),
            "ratio": self.ratio,
            "optimal": self.optimal,
            "bounds": [{"method": b.method, "slots": float(b.slots), "text": b.text} for b in self.bounds],
            "speedup": self.speedup,
            "kinds_looked_at": self.exact,
            "plan": self.outcome.to_dict(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the placement to a file.

        Parameters
        ----------
        path : path
            ``rankfile`` or ``.rankfile``: lines ``rank 0=HOST slot=0`` for Open MPI; ``.hostfile``: a host a line in
            the order of ranks, for SLURM_HOSTFILE with ``--distribution=arbitrary``, which counts the ranks of a host
            as they come; ``.txt``: the node of each rank by name, a line each; ``.json``: all that is known, a device
            order among it; ``.ranks``: coordinates of each rank, which is read back as a network. The host of a
            terminal is the first word of its name, of servers of several accelerators ``hostK``, and its slot the place
            in the server.

        Raises
        ------
        FileFormatError
            If the suffix is another, the file cannot be written, a map is asked of a network without coordinates, or
            Slurm would put ranks on other slots.
        """
        import json

        suffix = check_placement_file(path)
        hosts = _hosts(self.network)
        order = self.node.tolist()
        if suffix in ("", ".rankfile"):
            lines = [f"rank {r}={hosts[v][0]} slot={hosts[v][1]}" for r, v in enumerate(order)]
        elif suffix == ".hostfile":
            lines = [hosts[v][0] for v in order]
            last: dict[str, tuple[int, int]] = {}
            for r, v in enumerate(order):
                host, slot = hosts[v]
                if slot < last.get(host, (0, 0))[1]:
                    of = f"rank {last[host][0]} is on slot {last[host][1]} of {host}, rank {r} on slot {slot}"
                    raise FileFormatError(
                        f"Slurm counts the ranks of a host as they come, and {of}; a rankfile has the slots"
                    )
                last[host] = r, slot
        elif suffix == ".txt":
            lines = [self.network.node_name(v) for v in order]
        elif suffix == ".json":
            lines = [json.dumps(self.to_dict(), indent=2)]
        else:
            grid = self.network.grid
            if grid is None or self.network.coordinates is None or len(set(grid.wraps)) > 1:
                raise FileFormatError(
                    f"a map of ranks has coordinates of an array or torus, not of {self.network.spec}"
                )
            kind = "torus" if grid.wraps[0] else "array"
            lines = [f"{kind} {'x'.join(map(str, grid.sides))}"]
            lines += [f"{r} {' '.join(map(str, self.network.coordinates[v].tolist()))}" for r, v in enumerate(order)]
        with whole_file(path) as part:
            part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_placement_file(path: str | PathLike[str]) -> str:
    """Return the suffix of a file of a placement, or refuse it, before the work."""
    suffix = Path(path).suffix.lower()
    if suffix not in PLACEMENT_SUFFIXES:
        known = ", ".join(PLACEMENT_SUFFIXES[1:])
        raise FileFormatError(
            f"placement file {file_name(path)}: the suffix must be none (a rankfile) or one of {known}"
        )
    check_writable(path)
    return suffix


def _hosts(network: Network) -> list[tuple[str, int]]:
    """Return the host and the slot of each terminal."""
    t, size = network.terminal_count, server_size(network)
    if size > 1:
        return [(f"host{v // size}", v % size) for v in range(t)]
    if network.labels is None:
        return [(f"node{v}", 0) for v in range(t)]
    used: dict[str, int] = {}
    found = []
    for v in range(t):
        name = network.labels[v].split()[0] if network.labels[v].split() else f"node{v}"
        found.append((name, used.get(name, 0)))
        used[name] = used.get(name, 0) + 1
    return found


def place(
    job: Task | Job | Network | str | Any,
    network: Network | Any,
    *,
    rules: Rules | None = None,
    cost: AskedCost | dict[str, Any] | None = None,
    effort: str = "search",
    budget: float | None = None,
    seed: int = 0,
    progress: Say | None = None,
) -> Placement:
    """Find which rank of a job to put on which terminal of a network, so that its plan is fast.

    Parameters
    ----------
    job : Task, Job, Network or str
        What ranks 0, 1, ... communicate: a task such as ``Grouped(task("allreduce"), groups)``; a `Job` of several
        collectives; the name of a task; or a network, a spec such as ``"array:8x8"`` or a file of links, along whose
        links ranks exchange messages.
    network : Network or what `gossamer.network` reads
        With a terminal for each rank or more.
    rules, effort, budget
        As for `gossamer.plan`.
    cost : cost or mapping, optional
        As for `gossamer.plan`; of a `Job`, ``bandwidth`` and ``latency``.
    seed : int
        The same seed gives the same placement.
    progress : callable, optional
        Told what happens.

    Returns
    -------
    Placement
        The fastest of those planned, its verified plan, and bounds over all placements.

    Raises
    ------
    GossamerError
        As `gossamer.plan` does; and if the job has more ranks than the network has terminals.

    Notes
    -----
    Candidates are the given order, rings along cables, orders along the dimensions that job and network have (the
    groups of a job, or what its graph is recognized as), and what a search by swaps (simulated annealing) makes of the
    best of these and of orders at random. Those with few hops are planned, as long as the bound over all placements is
    not met. Up to 8 terminals every placement is looked at, up to the symmetries of network and job: if the least of
    their bounds is met, none is faster.

    Examples
    --------
    >>> import gossamer
    >>> ring = gossamer.place("ring:16", "torus:4x4")
    >>> ring.time, ring.optimal, ring.speedup
    (Fraction(1, 1), True, 2.0)
    """
    net, say = as_network(network), progress or (lambda stage: None)
    task, cost = _task_of(job, cost)
    t = net.terminal_count
    if t > _MOST_RANKS:
        raise ModelError(f"{net.spec} has {t:,} terminals; ranks are placed on up to {_MOST_RANKS:,}")
    task.check(net)
    rng = np.random.default_rng(read_seed(seed))
    planned = _Plans(net, task, partial(plan, rules=rules, cost=cost, effort=effort, budget=budget, seed=seed), say)
    given = np.arange(t)
    say("measuring distances")
    far, needs = terminal_distances(net), needs_of(task.messages(net), t)
    if t <= _SHOWN_AS_GIVEN:
        planned.try_one(given)
    most = 8 if t <= 64 else 3 if t <= 512 else 6 if needs.near.nnz <= _FEW_PAIRS else 1
    kinds: list[_Kind] = []
    if t <= _EXACT:
        say("looking at every placement")
        kinds = _every_kind(net, task, needs, rules)
    few = cost is None and not has_speeds(net)
    repeated = None
    if t >= _REPEATED and few and net.plain:
        repeated = _repeated(net, task, planned.planner, rules, rng, say)
    if repeated is not None:
        planned.take(repeated.outcome, repeated.place, repeated.planned)
        candidates = []
    else:
        candidates = _candidates(net, task, needs, far, few, rng, say)
    if kinds:
        candidates = [kind.place for kind in kinds]
    elif t <= _BOUNDED:
        say("bounding candidates")
        candidates = _by_bound(net, task, rules, candidates, needs, far, most)
    for k, candidate in enumerate(candidates if kinds else candidates[:most]):
        if planned.best is not None and planned.met(far):
            break
        if kinds and planned.best is not None and kinds[k].bound >= planned.best.completion_time:
            break
        planned.try_one(candidate)
    assert planned.best is not None
    bounds = planned.bounds(far)
    if kinds and cost is None and planned.best.clock is None:
        least = min(kind.bound for kind in kinds)
        if not bounds or least > bounds[0].slots:
            text = f"each of {len(kinds)} placements that differ has a bound of {least} or more"
            bounds = (PlacementBound(least, "every placement", text), *bounds)
    small = "" if repeated is None else repeated.small
    return Placement(net, planned.place, planned.best, bounds, planned.as_given, planned.count, len(kinds), small)


_REPEATED, _SMALL, _LEAST_SIDE = 1024, 512, 6
"""Terminals from which on groups are placed on a smaller torus that is repeated; how many it has at most, and at least
along a side."""


class _Repeated(NamedTuple):
    """A plan on a torus that is repeated from a smaller one, and how many placements were planned there."""

    outcome: Outcome
    place: Ints
    small: str
    planned: int


def _repeated(
    network: Network,
    task: Task,
    planner: Callable[..., Outcome],
    rules: Rules | None,
    rng: np.random.Generator,
    say: Say,
) -> _Repeated | None:
    """Return a plan of groups of one size on a torus, repeated from some of them on a smaller torus; None of others."""
    host, sizes = host_grid(network), {len(group) for group in task.groups} if isinstance(task, Grouped) else set()
    if not isinstance(task, Grouped) or not all(host.wraps) or len(sizes) != 1:
        return None
    size = sizes.pop()
    if len(task.groups) * size != host.terminal_at.size:
        return None
    by_size: dict[int, tuple[int, ...]] = {}  # of each number of nodes the sides that are most alike
    for sides in itertools.product(*(divisors(side) for side in host.sides)):
        nodes = math.prod(sides)
        if nodes <= _SMALL and nodes % size == 0 and min(sides) > min(by_size.get(nodes, (_LEAST_SIDE - 1,))):
            by_size[nodes] = sides
    best: tuple[Fraction, Schedule, str, str] | None = None
    count = 0
    for sides in (by_size[nodes] for nodes in sorted(by_size) if nodes >= 4 * size):
        small = torus(*sides)
        few = Grouped(task.task, tuple(tuple(range(g, g + size)) for g in range(0, small.node_count, size)))
        say(f"placing {len(few.groups)} of the groups on {small.spec}")
        far, needs = terminal_distances(small), needs_of(few.messages(small), small.node_count)
        candidates = [
            place for place in _candidates(small, few, needs, far, True, rng, say) if _compact(place, few, small)
        ]
        most = 8 if small.node_count <= 64 else 3
        lost = False
        for place in _by_bound(small, few, rules, candidates, needs, far, most)[:most]:
            say(f"planning placement {count + 1}")
            found, count = planner(small, placed(few, place)), count + 1
            if found.case.task != placed(few, place):
                return None  # another form of it was planned
            if best is not None and found.completion_time >= best[0]:
                continue
            try:
                schedule = repeated_on_torus(expand(found.schedule), torus(*host.sides))
                best = found.completion_time, schedule, found.algorithm, small.spec
            except ScheduleError:
                lost = True
                break
        if best is not None and not lost:
            break
    if best is None:
        return None
    _, schedule, algorithm, spec = best
    assert isinstance(schedule.task, Grouped)
    place = np.empty(host.terminal_at.size, np.int64)
    place[np.array(task.groups)] = host.terminal_at[np.array(schedule.task.groups)]
    search = Search(asked_case(network, placed(task, place), "store-and-forward", rules, None, 0), say)
    offer = Offer(partial(schedule.replace, network=search.planned.network), effort="search")
    outcome = search.carried_out(Candidate(algorithm, offer), search.bounds(at_first=True), False)
    return _Repeated(outcome, place, spec, count)


def _compact(place: Ints, task: Grouped, network: Network) -> bool:
    """Return whether all nodes of each group are less than halfway around a torus from one of them."""
    assert network.grid is not None
    sides = np.array(network.grid.sides)
    at = np.stack(np.unravel_index(place[np.array(task.groups)], network.grid.sides), axis=-1)
    apart = np.abs((at[:, :, None] - at[:, None] + sides // 2) % sides - sides // 2)
    return bool(((apart < sides // 2).all(axis=(2, 3))).any(axis=1).all())


_SHOWN_AS_GIVEN = 1024
"""Terminals up to which the given order is planned, to be set beside the placement that is found."""


def _task_of(job: Any, cost: Any) -> tuple[Task, AskedCost | None]:
    """Return the task of a job among ranks, and its cost."""
    if isinstance(job, Job):
        return job.together, TimeCost(job.packet_bytes, **dict(cost or {}))
    if isinstance(job, Task):
        return job, cost
    if isinstance(job, str):
        try:
            return as_task(job), cost
        except TaskError as unknown:
            try:
                return NeighborExchange.along(job), cost
            except GossamerError as error:
                raise TaskError(
                    f"a job is a task, or a network along whose links ranks exchange; {unknown}; {error}"
                ) from None
    return NeighborExchange.along(job), cost


class _Plans:
    """What was planned so far: the best, how often, and the time of the given order."""

    def __init__(self, network: Network, task: Task, planner: Callable[..., Outcome], say: Say) -> None:
        self.network, self.task, self.planner, self.say = network, task, planner, say
        self.best: Outcome | None = None
        self.place = np.arange(network.terminal_count)
        self.as_given: Outcome | None = None
        self.count = 0
        self._known: tuple[Outcome, tuple[PlacementBound, ...]] | None = None

    def try_one(self, place: Ints) -> None:
        """Plan the job on a placement, and keep it if it is the fastest."""
        self.count += 1
        self.say(f"planning placement {self.count}")
        found = self.planner(self.network, placed(self.task, place))
        if self.count == 1 and np.array_equal(place, np.arange(place.size)):
            self.as_given = found
        self.take(found, place, 0)

    def take(self, found: Outcome, place: Ints, count: int) -> None:
        """Keep a plan that took so many others to find if it is the fastest."""
        self.count += count
        if self.best is None or _time(found) < _time(self.best):
            self.best, self.place = found, place

    def bounds(self, far: Distances) -> tuple[PlacementBound, ...]:
        """Return the bounds over all placements, in the slots of the best plan."""
        assert self.best is not None
        if self._known is None or self._known[0] is not self.best:
            self._known = self.best, tuple(placement_bounds(self.best.case, far))
        return self._known[1]

    def met(self, far: Distances) -> bool:
        """Whether the best is as fast as a bound over all placements."""
        assert self.best is not None
        bounds = self.bounds(far)
        return not bounds or self.best.completion_time <= bounds[0].slots


def _time(outcome: Outcome) -> Fraction:
    """Return a time by which plans whose slots differ compare: seconds, or slots."""
    return outcome.completion_time if outcome.seconds is None else outcome.seconds


def placed(task: Task, place: Ints) -> Task:
    """Return a task among ranks as one among the terminals that they are on."""
    return task.renamed(lambda ranks: place[np.asarray(ranks, np.int64)])


def _candidates(
    network: Network, task: Task, needs: Needs, far: Distances, few: bool, rng: np.random.Generator, say: Say
) -> list[Ints]:
    """Return placements that may be good, those of the fewest hops first; with `few` messages no one is very far."""
    t, near = network.terminal_count, needs.near
    squares = far.astype(np.int32) ** 2
    room = float((network.link_capacity / network.link_occupancy).sum())
    found: dict[tuple[int, int, int, int], Ints] = {}
    row, column = near.nonzero()

    def keep(place: Ints, alike: int = 1) -> None:
        """Keep a placement, of those with the same distances the first ones only."""
        farthest = int(far[place[row], place[column]].max(initial=0))
        key = farthest, hop_sum(near, squares, place), hop_sum(near, far, place)
        for count in range(alike):
            if (*key, count) not in found:
                found[*key, count] = place
                break

    def ordered() -> list[Ints]:
        farthest = min(key[0] for key in found) * (2 if needs.back.nnz else 1)
        hops = min(hop_sum(needs.pair, far, place) for place in found.values()) + needs.hops
        light = few and hops <= room * farthest  # time is distance then
        return [found[key] for key in sorted(found, key=lambda key: key if light else (*key[2::-1], key[3]))]

    say("looking for dimensions of the job")
    least = int(near.sum()) * int(far[~np.eye(t, dtype=bool)].min(initial=1))
    boxes: list[Ints] = []
    several = 1 if _partitions(task) else 2  # ways across and along differ in plans, if not in distances
    for place, is_box in _shaped(network, task, near):
        keep(place, 1 if is_box else several)
        if hop_sum(near, far, place) <= least:
            return [place]  # all that exchange are neighbors
        if is_box and (not boxes or hop_sum(near, far, place) < hop_sum(near, far, boxes[0])):
            boxes = [place]
    shaped = ordered() if found else []
    swaps = int(np.clip(16 * _SWAPS * t / max(1, 2 * near.nnz), _SWAPS // 20, _SWAPS if t <= 1024 else 4 * _SWAPS))
    starts = [(place, 0.3) for place in shaped[:1]]
    if t <= 256 or not shaped:
        starts += [(np.arange(t), 2.0), (rng.permutation(t), 2.0)]
    for (start, warm), distance in itertools.product(starts, (squares, far.astype(np.int32))):
        say("swapping ranks")
        keep(annealed(near, distance, start, rng, swaps=swaps // len(starts), warm=warm))
    first, *others = ordered()
    return [first, *boxes, *others]  # of few hops or not: what boxes lack in compactness they may make up in plans


def _shaped(network: Network, task: Task, near: Any) -> Iterator[tuple[Ints, bool]]:
    """Yield placements that follow dimensions of job and network, or rings along cables; and which are of boxes."""
    t = network.terminal_count
    groups = axes_of_groups(_partitions(task), t)
    axes = groups or axes_of_graph(near)
    if axes is None:
        return
    if axes.sides == (t,) and axes.closed == (True,):
        for ring in rank_rings(network)[0]:
            yield ring.order[axes.places[:, 0]], False
    host, turns = host_grid(network), [axes]
    if len(axes.sides) == 2 and axes.closed == (False, False):  # groups: the places in a group may be turned
        turns.append(Axes(axes.sides[::-1], axes.closed, axes.places[:, ::-1]))
    for place in placements_sheared(axes, host) if groups is None else ():
        yield place, False
    for turned in turns:
        for place in placements_by_tiles(turned, host) if groups is not None else ():
            yield place, False
        for place in placements_along_axes(turned, host):
            yield place, True


def _partitions(task: Task) -> list[tuple[tuple[int, ...], ...]]:
    """Return the divisions of the ranks into groups that a task has."""
    if isinstance(task, Chunked):
        return _partitions(task.task)
    if isinstance(task, Grouped):
        return [task.groups]
    if isinstance(task, Together):
        return list(dict.fromkeys(groups for each in task.tasks for groups in _partitions(each)))
    return []


def _by_bound(
    network: Network,
    task: Task,
    rules: Rules | None,
    candidates: list[Ints],
    needs: Needs,
    far: Distances,
    most: int,
) -> list[Ints]:
    """Return the candidates of the least lower bounds, then of the fewest hops; the second one stays the second."""
    found: list[tuple[Fraction, int, int, Ints]] = []
    (row, column), times = needs.near.nonzero(), 2 if needs.back.nnz else 1
    for place in candidates[: 8 * most]:
        bound = _quick_bound(network, task, rules, place)
        if rules is None or not rules.segmented:
            bound = max(bound, Fraction(times * int(far[place[row], place[column]].max(initial=0))))
        found.append((bound, hop_sum(needs.near, far, place), len(found), place))
    ordered = sorted(found, key=lambda each: each[:3])
    ordered[1:] = sorted(ordered[1:], key=lambda each: each[2] != 1)
    return [place for *_, place in ordered]


def _quick_bound(network: Network, task: Task, rules: Rules | None, place: Ints) -> Fraction:
    """Return a lower bound of the time of the job on a placement, in slots of a plain network."""
    case = Case(network, placed(task, place), rules or Rules())
    return max((bound.value for bound in all_bounds(case, quick=True)), default=Fraction(0))


class _Kind(NamedTuple):
    """Placements that are the same up to symmetry: one of them, and a lower bound of its time."""

    bound: Fraction
    place: Ints


def _every_kind(network: Network, task: Task, needs: Needs, rules: Rules | None) -> list[_Kind]:
    """Return one placement of each kind with its bound, the least bounds first; none where there are too many.

    Two placements are of one kind if a symmetry of the network takes what is exchanged between terminals in one of them
    to what is in the other. What is exchanged tells a task where every message goes to one rank, or where the tasks
    are done among all ranks of groups that are alike; other tasks are told apart by all their ranks.
    """
    t = network.terminal_count
    told = not needs.hops or (bool(_partitions(task)) and not _has_root(task))
    amounts = needs.near.toarray() if told else np.arange(t * t).reshape(t, t)
    group = _all_symmetries(network, t)
    seen: set[bytes] = set()
    found: list[Ints] = []
    for order in itertools.permutations(range(t)):
        rank_at = np.array(order)
        here = amounts[np.ix_(rank_at, rank_at)]
        if here.tobytes() in seen:
            continue
        if len(found) == _CLASSES:
            return []
        found.append(np.argsort(rank_at))
        for symmetry in group:
            seen.add(np.ascontiguousarray(here[np.ix_(symmetry, symmetry)]).tobytes())
    kinds = [_Kind(_quick_bound(network, task, rules, place), place) for place in found]
    return sorted(kinds, key=lambda kind: kind.bound)


def _has_root(task: Task) -> bool:
    """Whether a rank of a group is not like the others."""
    if isinstance(task, Chunked | Grouped):
        return _has_root(task.task)
    if isinstance(task, Together):
        return any(_has_root(each) for each in task.tasks)
    return hasattr(task, "root") or hasattr(task, "counts")


def _all_symmetries(network: Network, terminals: int) -> list[Ints]:
    """Return the symmetries of a small network as permutations of its terminals."""
    generators = [p[:terminals] for p in symmetries(network, every=True)]
    found = {tuple(range(terminals))}
    frontier = list(found)
    while frontier:
        following = []
        for p in frontier:
            for g in generators:
                q = tuple(g[list(p)].tolist())
                if q not in found:
                    found.add(q)
                    following.append(q)
        frontier = following
    return [np.array(p) for p in found]
