"""Routing the standard instances: what an algorithm took at worst, by schedules that the checker accepted."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.algorithm import Algorithm
from gossamer.bounds.distances import distance_bounds
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import PATTERNS, pattern
from gossamer.schedules import Schedule, buffer_peak, verify

__all__ = ["Worst", "algorithm", "guaranteed", "instances", "split_time", "worst"]

_RANDOM = 3


class Worst(NamedTuple):
    """The most that a router took over the instances, each figure on its own.

    Attributes
    ----------
    data, control : int
        Steps with messages, and steps of counting.
    total : int
        Both, counted one each, on the worst instance for both.
    buffers : int
        Messages in one node between two steps, its own and delivered ones included.
    distance : int
        The largest distance between a source and its destination: no router takes fewer steps on that instance.
    """

    data: int
    control: int
    total: int
    buffers: int
    distance: int


def algorithm(name: str) -> Algorithm:
    """Return the permutation routing algorithm of that name."""
    return next(a for a in ALGORITHMS if a.name == name and Permutation in a.tasks)


def instances(network: Network) -> Iterator[tuple[str, Permutation]]:
    """Yield the named permutations that the network's size allows, and three random ones."""
    for name in PATTERNS:
        if name == "random":
            continue
        try:
            yield name, Permutation(tuple(pattern(name, network).tolist()))
        except TaskError:
            continue
    for seed in range(_RANDOM):
        yield f"random {seed}", Permutation(tuple(pattern("random", network, seed=seed).tolist()))


def split_time(schedule: Schedule) -> tuple[int, int]:
    """Return the slots with messages and those of counting, of a schedule whose control packets take no time."""
    control = sum(phase.slots for phase in schedule.phases if phase.slot_length == 0)
    return schedule.slot_count - control, control


@lru_cache(maxsize=256)
def worst(name: str, spec: str) -> Worst:
    """Return the worst over `instances` of one router on one array.

    Raises
    ------
    VerificationError
        If the checker refuses a schedule.
    """
    network = parse_network(spec)
    router = algorithm(name)
    data = control = total = buffers = distance = 0
    for _, task in instances(network):
        schedule = router.build(Case(network, task))
        verify(schedule).raise_if_invalid()
        moving, counting = split_time(schedule)
        data, control = max(data, moving), max(control, counting)
        total = max(total, moving + counting)
        buffers = max(buffers, buffer_peak(schedule, "all").packets)
        distance = max(distance, _farthest(network, task))
    return Worst(data, control, total, buffers, distance)


def _farthest(network: Network, task: Permutation) -> int:
    return max((int(b.value) for b in distance_bounds(Case(network, task))), default=0)


def guaranteed(name: str, spec: str) -> tuple[Fraction, Fraction]:
    """Return the guaranteed steps of a move-and-smooth router with messages, and of counting."""
    network, router = parse_network(spec), algorithm(name)
    task = Permutation(tuple(range(network.node_count)))
    data, both = (_promised(router, Case(network, task, Rules(), StepCost(Fraction(t_p)))) for t_p in (0, 1))
    return data, both - data


def _promised(router: Algorithm, case: Case) -> Fraction:
    """Return the guaranteed steps, also of a schedule that is too large to keep."""
    offers = router.offers(case, streamed=True)
    assert not isinstance(offers, Refusal)
    return offers[0].time or Fraction(0)
