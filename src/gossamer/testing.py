"""The algorithm battery: what every registered algorithm must pass, open to builders outside the package.

An algorithm is accepted when `check_algorithm` finds nothing to say against it on every case of `standard_cases`.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gossamer.algorithms import Algorithm
from gossamer.bounds import bounds
from gossamer.errors import GossamerError
from gossamer.model import Model
from gossamer.networks.families import FAMILIES
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.schedules import Schedule, load, verify
from gossamer.tasks import Task

__all__ = ["NETWORKS", "Case", "check_algorithm", "check_case", "standard_cases", "tasks_of"]

NETWORKS = tuple(spec for family in FAMILIES for spec in family.small)
"""Small networks of every family, 1- and 2-node ones included."""

_MODELS = (
    Model(),
    Model(split=True),
    Model(ports="one"),
    Model(ports="one-send"),
    Model(split=True, control_time=Fraction(1, 10)),
)


class Case(NamedTuple):
    """What an algorithm is asked for."""

    network: Network
    task: Task
    model: Model


def tasks_of(kind: type[Task], network: Network, seed: int = 0) -> Iterator[Task]:
    """Yield a few tasks of one kind on a network, the smallest first.

    Roots at both ends; one active node, all, and half of them; random, reversing, packing and monotone permutations.
    """
    names = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    if not names:
        yield kind()
        return
    draw = np.random.default_rng(seed)
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
    """Yield every case that the algorithm covers among the networks of `NETWORKS` and a handful of models."""
    for spec in NETWORKS:
        network = parse_network(spec)
        for task in tasks_of(algorithm.task, network, seed):
            for model in _MODELS:
                if algorithm.covers(network, task, model):
                    yield Case(network, task, model)


def check_case(algorithm: Algorithm, case: Case, seed: int = 0) -> list[str]:
    """Return what is wrong with an algorithm's schedule for one case; an empty list if nothing is.

    The schedule must deliver and obey the model (`gossamer.verify`); take the claimed time, or at most that where
    the claim is a bound; meet the largest lower bound where the source promises an optimum, and never undercut it;
    be the same when built again; survive the file format; and, if invariant, expand to a valid schedule of the same
    time.
    """
    network, task, model = case
    where = f"{algorithm.name} for {task.describe()} on {network.spec}, {model}"
    try:
        schedule = algorithm.build(network, task, model, seed=seed)
    except GossamerError as error:
        return [f"{where}: does not build: {error}"]
    wrong = []
    found = verify(schedule)
    if not found:
        wrong.append(f"{where}: {found}")
    wrong += [f"{where}: {fact}" for fact in _time_faults(algorithm, case, schedule)]
    if algorithm.build(network, task, model, seed=seed) != schedule:
        wrong.append(f"{where}: two builds with one seed differ")
    if _round_trip(schedule) != schedule:
        wrong.append(f"{where}: the file does not give back the schedule")
    if schedule.invariant:
        explicit = schedule.expand()
        if not verify(explicit):
            wrong.append(f"{where}: the expansion is not valid: {verify(explicit)}")
        if explicit.completion_time != schedule.completion_time or explicit.stored_hops != schedule.hop_count:
            wrong.append(f"{where}: the expansion has another time or number of hops")
    return wrong


def _time_faults(algorithm: Algorithm, case: Case, schedule: Schedule) -> Iterator[str]:
    time = schedule.completion_time
    claim = algorithm.claim(*case)
    if claim is not None and (time > claim if algorithm.claim_is_bound else time != claim):
        yield f"takes {time} steps, claims {'at most ' if algorithm.claim_is_bound else ''}{claim}"
    limits = bounds(*case)
    least = limits[0].value if limits else Fraction(0)
    if time < least:
        yield f"takes {time} steps, below the bound {least} ({limits[0].name}: {limits[0].witness})"
    if algorithm.optimal(*case) and time != least:
        yield f"takes {time} steps and promises the optimum; the bound is {least}"


def _round_trip(schedule: Schedule) -> Schedule:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.parquet"
        schedule.save(path)
        return load(path)


def check_algorithm(algorithm: Algorithm, seed: int = 0) -> list[str]:
    """Return what is wrong with an algorithm on all its standard cases; complain if it covers none.

    Examples
    --------
    >>> from gossamer import ALGORITHMS
    >>> tree = next(a for a in ALGORITHMS if a.task.name == "broadcast")
    >>> check_algorithm(tree)
    []
    """
    cases = list(standard_cases(algorithm, seed))
    if not cases:
        return [f"{algorithm.name} covers none of the standard cases"]
    return [fault for case in cases for fault in check_case(algorithm, case, seed)]
