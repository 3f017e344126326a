"""The algorithm battery: what every registered algorithm must pass, open to builders outside the package.

An algorithm is accepted when `check_algorithm` finds nothing to say against it on every case of `standard_cases`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.algorithms import Algorithm
from gossamer.bounds import bounds
from gossamer.bounds.bound import largest
from gossamer.errors import GossamerError, TaskError
from gossamer.networks.families import FAMILIES
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.spec import network as parse_network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    TASKS,
    Broadcast,
    Chunked,
    DemandTable,
    Grouped,
    NeighborExchange,
    Reduce,
    Task,
    Together,
    UnevenExchange,
    in_packets,
    packets_of,
)
from gossamer.schedules import Schedule, load
from gossamer.verification import verify

__all__ = ["NETWORKS", "check_algorithm", "check_case", "standard_cases", "tasks_of"]

NETWORKS = tuple(spec for family in FAMILIES for spec in family.small)
"""Small networks of every family, 1- and 2-node ones included."""

_LARGEST_MATRIX = 4096
"""Nodes of the largest network on which traffic matrices, of a number for each pair, are tried."""

_RULES = (
    (Rules(), StepCost()),
    (Rules(segmented=True), StepCost()),
    (Rules(ports="one"), StepCost()),
    (Rules(ports="one-send"), StepCost()),
    (Rules(ports="one-receive"), StepCost()),
    (Rules(segmented=True), StepCost(Fraction(1, 10))),
)


_FEW_NODES = 6
"""Nodes up to which messages of many packets are tried."""


def tasks_of(kind: type[Task], network: Network, seed: int = 0) -> Iterator[Task]:
    """Yield a few tasks of one kind on a network, the smallest first.

    Roots at both ends; one active node, all, and half of them; random, reversing, packing and monotone permutations.
    """
    if kind is Chunked:
        yield from (Chunked(TASKS[name](), 3) for name in ("broadcast", "multinode-broadcast", "total-exchange"))
        moved = ("reduce", "reduce-scatter", "scatter", "gather", "allreduce")
        yield from (Chunked(TASKS[name](), 2) for name in moved)
        if network.node_count <= _FEW_NODES:
            yield from (Chunked(TASKS[name](), 17) for name in ("multinode-broadcast", "reduce-scatter"))
        return
    names = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    draw = np.random.default_rng(seed)
    if not names or kind is NeighborExchange:
        with contextlib.suppress(TaskError):  # a network without neighbors, for one, has no exchange between them
            kind().check(network)
            yield kind()
        if names:
            yield NeighborExchange(tuple(_edges(network.terminal_count, draw)))
        return
    if kind in _COMPOSED:
        yield from _COMPOSED[kind](network.terminal_count, draw)
        return
    yield from (kind(**{names[0]: value}) for value in _SAMPLES[names[0]](network.terminal_count, draw))


def _roots(n: int, draw: np.random.Generator) -> Iterator[Any]:
    yield from sorted({0, n - 1})


def _active_sets(n: int, draw: np.random.Generator) -> Iterator[Any]:
    yield (0,)
    yield tuple(range(n))
    yield tuple(_half(n, draw).tolist())


def _permutations(n: int, draw: np.random.Generator) -> Iterator[Any]:
    for order_preserving in (np.arange((n + 1) // 2), _half(n, draw)):  # packing, and monotone routing
        destination = np.full(n, -1)
        destination[_half(n, draw)] = order_preserving
        yield tuple(destination.tolist())
    yield tuple(draw.permutation(n).tolist())
    yield tuple(range(n - 1, -1, -1))


def _destination_sets(n: int, draw: np.random.Generator) -> Iterator[Any]:
    yield tuple((u,) if u % 2 else () for u in range(n))
    rows: list[list[int]] = [[] for _ in range(n)]
    source = draw.permutation(n)[: (n + 2) // 3]
    for target, owner in zip(draw.permutation(n).tolist(), draw.choice(source, n).tolist(), strict=True):
        rows[owner].append(target)
    yield tuple(map(tuple, rows))


def _counts(n: int, draw: np.random.Generator) -> Iterator[Any]:
    yield (1,) * n
    yield tuple(draw.integers(0, 4, n).tolist())
    yield (0,) * (n - 1) + (3,)


def _edges(n: int, draw: np.random.Generator) -> Iterator[tuple[int, int]]:
    for u, v in zip(range(n), draw.permutation(n).tolist(), strict=True):
        if u != v:
            yield u, v


def _matrices(n: int, draw: np.random.Generator) -> Iterator[Task]:
    if n > _LARGEST_MATRIX:
        return
    for matrix in (draw.integers(0, 3, (n, n)), np.diag(np.full(max(n - 1, 0), 4), 1)):
        np.fill_diagonal(matrix, 0)
        yield UnevenExchange(tuple(map(tuple, matrix.tolist())))


def _tables(n: int, draw: np.random.Generator) -> Iterator[Task]:
    yield DemandTable.of()
    if n > 1:
        one, two = draw.permutation(n)[:2].tolist()
        yield DemandTable.of([(one, [two], 3), (two, [v for v in range(n) if v != two], 1)])
        yield DemandTable.of(contributions=[([one, two], [two], 2)])


def _groups(n: int, draw: np.random.Generator) -> Iterator[Task]:
    order = draw.permutation(n).tolist()
    halves = [part for part in (order[: n // 2], order[n // 2 :]) if part]
    for name in ("multinode-broadcast", "total-exchange", "reduce-scatter", "allreduce"):
        yield Grouped(TASKS[name](), tuple(map(tuple, halves)))


def _together(n: int, draw: np.random.Generator) -> Iterator[Task]:
    both: list[Task] = [Broadcast(n - 1), Reduce(0)]
    yield Together(tuple(both))
    yield Together(tuple(both), waits=((1, 0),))


_COMPOSED: dict[type[Task], Callable[[int, np.random.Generator], Iterator[Task]]] = {
    UnevenExchange: _matrices,
    DemandTable: _tables,
    Grouped: _groups,
    Together: _together,
}


def _half(n: int, draw: np.random.Generator) -> np.ndarray:
    return np.sort(draw.choice(n, (n + 1) // 2, replace=False))


_SAMPLES: dict[str, Callable[[int, np.random.Generator], Iterator[Any]]] = {
    "root": _roots,
    "active": _active_sets,
    "destination": _permutations,
    "destinations": _destination_sets,
    "counts": _counts,
}


def standard_cases(algorithm: Algorithm, seed: int = 0) -> Iterator[Case]:
    """Yield every case that the algorithm covers among the networks of `NETWORKS` and a handful of rules.

    At the end come messages of a packet for each rank, and a few networks on which links take time, differ, are
    parallel or share ports, or switches cut through.
    """
    for spec in NETWORKS:
        network = parse_network(spec)
        for kind in algorithm.tasks:
            for task in tasks_of(kind, network, seed):
                for rules, cost in _RULES:
                    case = Case(network, task, rules, cost, seed=seed)
                    for each in (case, *_of_switches(case)):
                        if algorithm.covers(each):
                            yield each
    for kind in algorithm.tasks:  # a packet for each rank
        network = parse_network("ring:5")
        for task in itertools.islice(tasks_of(kind, network, seed), 1):
            case = Case(network, in_packets(task, network.terminal_count), Rules(), seed=seed)
            if packets_of(task) == 1 and algorithm.covers(case):
                yield case
    for network in _timed_networks():
        switched = network.terminal_count < network.node_count
        for kind in algorithm.tasks:
            for task in itertools.islice(tasks_of(kind, network, seed), 1):
                for rules in (Rules(cut_through=switched), Rules(ports="one"))[: 2 if network.grid else 1]:
                    case = Case(network, task, rules, seed=seed)
                    if algorithm.covers(case):
                        yield case


def _timed_networks() -> Iterator[Network]:
    """Yield small networks whose links are not plain: from every node the same, different, parallel, with ports."""
    torus, array, tree, full = map(parse_network, ("torus:3x4", "array:3x3", "fat-tree:k=2,h=2", "complete:4"))
    yield torus.with_times(np.tile([1, 1, 3, 3], torus.node_count), np.tile([2, 2, 0, 0], torus.node_count))
    yield array.with_times(np.arange(array.link_count) % 3 + 1, np.arange(array.link_count) % 2)
    yield tree.with_times(np.arange(tree.link_count) % 2 + 1, 1)
    yield full.with_ports(SharedPorts(full.link_source, full.link_target))
    yield Network("two cables", 3, [0, 0, 0, 1, 1, 1, 2, 2], [1, 1, 2, 0, 0, 2, 0, 1], 1,
                  link_occupancy=[1, 3, 1, 1, 3, 1, 1, 1], links_only=True)  # fmt: skip


def _of_switches(case: Case) -> Iterator[Case]:
    """Yield the case with other rules of switches, where that makes a difference."""
    if case.network.terminal_count == case.network.node_count:
        return
    shared = [demand for demand in case.demands if demand.shared]
    if not all(demand.outward for demand in shared):
        yield case.related(rules=dataclasses.replace(case.rules, reduction=True))
    if any(demand.outward for demand in shared):
        yield case.related(rules=dataclasses.replace(case.rules, replication=False))


def check_case(algorithm: Algorithm, case: Case) -> list[str]:
    """Return what is wrong with what an algorithm offers for one case; an empty list if nothing is.

    The schedule of every offer must deliver and obey the rules (`gossamer.verify`); take the time that is promised, or
    at most that where the promise is "at most"; meet the largest lower bound where the source promises an optimum, and
    never undercut it; be the same when built again; survive the file format; and, if invariant, expand to a valid
    schedule of the same time.
    """
    where = f"{algorithm.name} for {case.task.describe()} on {case.network.spec}, {case.rules}"
    # nothing that the first asking left behind
    again = Case(case.network, case.task, case.rules, StepCost(case.control_time), seed=case.seed)
    found, repeated = algorithm.offers(case), algorithm.offers(again)
    if isinstance(found, Refusal) or isinstance(repeated, Refusal):
        return [f"{where}: is refused: {found}, {repeated}"]
    return [
        f"{where}: {fault}"
        for offer, twin in zip(found, repeated, strict=True)
        for fault in _offer_faults(case, offer, twin)
    ]


def _offer_faults(case: Case, offer: Offer[Schedule], twin: Offer[Schedule]) -> Iterator[str]:
    try:
        schedule = offer.build()
    except GossamerError as error:
        yield f"does not build: {error}"
        return
    found = verify(schedule)
    if not found:
        yield f"{found}"
    yield from _time_faults(case, offer, schedule.completion_time)
    if twin.build() != schedule:
        yield "two builds with one seed differ"
    if _round_trip(schedule) != schedule:
        yield "the file does not give back the schedule"
    if not schedule.explicit:
        explicit = schedule.expand()
        if not verify(explicit):
            yield f"the expansion is not valid: {verify(explicit)}"
        if explicit.completion_time != schedule.completion_time or explicit.stored_hops != schedule.hop_count:
            yield "the expansion has another time or number of hops"


def _time_faults(case: Case, offer: Offer[Schedule], time: Fraction) -> Iterator[str]:
    if offer.time is not None and (time > offer.time if offer.at_most else time != offer.time):
        yield f"takes {time} steps, claims {'at most ' if offer.at_most else ''}{offer.time}"
    limits = bounds(case)
    least = largest(limits)
    if time < least:
        yield f"takes {time} steps, below the bound {least} ({limits[0].name}: {limits[0].witness})"
    if time < offer.floor:
        yield f"takes {time} steps, less than the {offer.floor} that its offer calls the least"
    if offer.optimal and time != least:
        yield f"takes {time} steps and promises the optimum; the bound is {least}"


def _round_trip(schedule: Schedule) -> Schedule:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.parquet"
        schedule.save(path)
        return load(path)


def check_algorithm(algorithm: Algorithm, seed: int = 0, most: int | None = None) -> list[str]:
    """Return what is wrong with an algorithm on all its standard cases; complain if it covers none.

    With `most`, no more cases than that are tried, evenly spread.

    Examples
    --------
    >>> from gossamer import ALGORITHMS
    >>> tree = next(a for a in ALGORITHMS if a.name == "binomial-tree")
    >>> check_algorithm(tree)
    []
    """
    cases = list(standard_cases(algorithm, seed))
    if not cases:
        return [f"{algorithm.name} covers none of the standard cases"]
    if most is not None and len(cases) > most:
        cases = [cases[i] for i in np.linspace(0, len(cases) - 1, most).astype(int)]
    return [fault for case in cases for fault in check_case(algorithm, case)]
