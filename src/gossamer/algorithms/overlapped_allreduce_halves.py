"""Allreduce as a reduce-scatter and an allgather, each the best of those for any network, moved into each other."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import demand_of, least_slots
from gossamer.algorithms.any_network.priced_routing import PRICED_TREES
from gossamer.algorithms.any_network.repair import rescheduled
from gossamer.algorithms.derived import dual
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, ReduceScatter, Task
from gossamer.schedules import Schedule, then

__all__ = ["OVERLAPPED_HALVES", "overlapped_halves"]

_GATHER = (GREEDY_FLOODING, PRICED_TREES)
_REDUCE = tuple(dual(algorithm, ReduceScatter) for algorithm in _GATHER)


def overlapped_halves(case: Case) -> Schedule:
    """Build an allreduce of the shortest halves that flooding and trees find, then let them overlap.

    The shortest reduce-scatter and the shortest allgather that are known are put one after the other. Then every hop
    of the second moves forward to the first slot in which what it sends is complete and its link is free.

    Parameters
    ----------
    case : Case
        An allreduce among all terminals of unsegmented messages, on any network that one of the two covers.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    Links that are busy all the time in both halves gain nothing by overlapping; there the halves are as good as they
    come. Elsewhere hops of the second half fill the slots that the first leaves free.

    Examples
    --------
    >>> import gossamer
    >>> overlapped_halves(Case(gossamer.network("array:3x3"), gossamer.task("allreduce"))).completion_time
    Fraction(8, 1)
    """
    # Step 1: the shortest reduce-scatter of those that flooding and trees find, and the shortest allgather
    reduce = _shortest(case, ReduceScatter(), _REDUCE)
    gather = _shortest(case, MultinodeBroadcast(), _GATHER)
    # Step 2: one after the other
    found = then(reduce, gather)
    # Step 3: every hop as soon as it can; the shorter one of the two schedules is kept
    again = rescheduled(found, case)
    return found if again is None or found.completion_time <= again.completion_time else again


def _shortest(case: Case, task: Task, algorithms: tuple[Algorithm, ...]) -> Schedule:
    """Return the shortest schedule of a half; the later ones are not built if the first cannot be beaten."""
    half = case.related(task=task)
    forward = half if task.name == "multinode-broadcast" else half.dual
    least = least_slots(demand_of(forward), LinkResources.of(forward.network, forward.rules), moved=False)
    best: Schedule | None = None
    for algorithm in algorithms:
        offers = algorithm.offers(half)
        if isinstance(offers, Refusal) or (best is not None and best.completion_time <= least):
            continue
        found = offers[0].build()
        if best is None or found.completion_time < best.completion_time:
            best = found
    assert best is not None
    return best


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if not case.whole:
        return Refusal("sends unsegmented messages")
    for task, algorithms in ((ReduceScatter(), _REDUCE), (MultinodeBroadcast(), _GATHER)):
        refusals = [algorithm.offers(case.related(task=task)) for algorithm in algorithms]
        if all(isinstance(refusal, Refusal) for refusal in refusals):
            assert isinstance(refusals[-1], Refusal)
            return refusals[-1]
    return Offer(lambda: overlapped_halves(case), effort="search", hop_bytes=250, hop_seconds=6e-6)


OVERLAPPED_HALVES = Algorithm(
    name="pipelined-reduce-scatter-allgather",
    tasks=(Allreduce,),
    propose=_propose,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="the shortest reduce-scatter and allgather of flooding and priced trees, every hop as soon as it can",
    passes_on=True,
    timed=True,
)
