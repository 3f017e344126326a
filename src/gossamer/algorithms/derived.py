"""Algorithms that follow from others: reversed in time, composed, or folded from a torus into an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.errors import TaskError
from gossamer.networks.grids import torus
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Proposer, Refusal, first_refusal
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Gather,
    MultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    in_packets,
    packets_of,
)
from gossamer.schedules import Schedule, then, torus_on_array
from gossamer.schedules.torus_on_array import task_on_torus

__all__ = ["DUALS", "allreduce_from", "dual", "on_array", "reversed_algorithm", "two_way_algorithm"]

A = TypeVar("A", bound=Proposer[Any, Any])

DUALS: dict[type[Task], type[Task]] = {
    Broadcast: Reduce,
    Scatter: Gather,
    MultinodeBroadcast: ReduceScatter,
    PartialMultinodeBroadcast: PartialReduceScatter,
    MultipleBroadcast: MultipleReduce,
    PartialExchange: PartialGather,
    Chunked: Chunked,
}
"""What each task becomes when time is turned."""


_HALVES = "reduce-scatter, then allgather: Chan, Heimlich, Purkayastha and van de Geijn 2007"


def reversed_algorithm(algorithm: A, tasks: tuple[type[Task], ...], propose: Any, summary: str, **changes: Any) -> A:
    """Return the record of what runs the schedules of an algorithm, of any switching, backwards in time."""
    return replace(
        algorithm,
        name=f"reversed-{algorithm.name}",
        tasks=tasks,
        propose=propose,
        source=f"time reversal of: {algorithm.source}",
        summary=summary,
        **changes,
    )


def two_way_algorithm(algorithm: A, propose: Any, **changes: Any) -> A:
    """Return the record of the allreduce that runs a multinode broadcast backwards and then forwards."""
    known: dict[str, Any] = {"tasks": (Allreduce,)}
    return replace(
        algorithm,
        name=f"two-way-{algorithm.name}",
        propose=propose,
        source=f"{_HALVES}; both by: {algorithm.source}",
        summary=f"runs {algorithm.name} backwards, combining, and then forwards",
        **(known | changes),
    )


def _reversed(offer: Offer[Schedule]) -> Offer[Schedule]:
    """Return the offer of the schedule of `offer` run backwards: reversal keeps the time and the optimum."""
    return Offer(
        lambda: offer.build().reverse(), offer.time, offer.at_most, offer.optimal, offer.effort, offer.least,
        offer.options, offer.on_request, proof=offer.proof, orbit=offer.orbit,
        hop_bytes=1.5 * offer.hop_bytes, hop_seconds=1.5 * offer.hop_seconds,
    )  # fmt: skip


def dual(algorithm: Algorithm, kind: type[Task]) -> Algorithm:
    """Return the algorithm for the dual task `kind` that reverses the schedules of `algorithm` in time.

    The forward schedule is made on the transposed network and obeys the dual rules: what it sends at once, the reversed
    one receives at once.
    """

    def propose(case: Case) -> tuple[Offer[Schedule], ...] | Refusal:
        try:
            turned = case.dual
        except TaskError as error:
            return Refusal(f"runs schedules backwards: {error}")
        found = algorithm.offers(turned)
        return found if isinstance(found, Refusal) else tuple(map(_reversed, found))

    return reversed_algorithm(algorithm, (kind,), propose, f"runs the schedule of {algorithm.name} backwards")


def allreduce_from(algorithm: Algorithm, named: bool = False) -> Algorithm:
    """Return the allreduce that runs a multinode broadcast `algorithm` backwards and then forwards.

    `named`: whether it is built only where it is named.
    """
    chunks = Chunked in algorithm.tasks
    halves = {kind: dual(algorithm, kind) for kind in (ReduceScatter, Chunked)[: 1 + chunks]}

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        packets = packets_of(case.task)
        if not isinstance(case.task.task if isinstance(case.task, Chunked) else case.task, Allreduce):
            return Refusal("is for allreduce")
        reduce = halves[ReduceScatter if packets == 1 else Chunked].offers(
            case.related(task=in_packets(ReduceScatter(), packets))
        )
        gather = algorithm.offers(case.related(task=in_packets(MultinodeBroadcast(), packets)))
        if isinstance(reduce, Refusal):
            return reduce
        if isinstance(gather, Refusal):
            return gather
        first, second = reduce[0], gather[0]
        time = None if first.time is None or second.time is None else first.time + second.time
        return Offer(
            lambda: then(first.build(), second.build()), time, first.at_most or second.at_most, effort=first.effort,
            on_request=named or first.on_request or second.on_request or packets > 1,
            orbit=min(first.orbit, second.orbit), hop_bytes=first.hop_bytes,
            hop_seconds=first.hop_seconds + second.hop_seconds,
        )  # fmt: skip

    return two_way_algorithm(algorithm, propose, tasks=(Allreduce, Chunked) if chunks else (Allreduce,), timed=False)


def on_array(
    algorithm: Algorithm,
    hops: Callable[[Network], int],
    optimal: Callable[[Case], bool] = lambda case: False,
) -> Algorithm:
    """Return the algorithm for arrays that folds the schedules of `algorithm` for the torus of the same shape.

    The task that is asked for is carried out, whichever nodes it names: the torus is given `task_on_torus`. Takes
    twice the time (Varvarigos and Bertsekas 1994, section 2). `hops` says how many hops on an array are written out at
    most, `optimal` where the time is a promise to meet a lower bound.
    """

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        grid = case.network.grid
        if grid is None or any(grid.wraps):
            return Refusal("needs an array")
        if max(grid.sides) < 3:
            return Refusal("needs a side of 3 nodes or more")
        if case.network.uniform_capacity != 1:
            return Refusal("needs links of capacity 1")
        refusal = first_refusal(refuse_ports(case.rules), refuse_hops(hops(case.network)))
        if refusal is not None:
            return refusal
        wrapped = case.once(torus, *grid.sides)
        assert wrapped.grid is not None
        found = algorithm.offers(case.related(wrapped, task_on_torus(case.task, wrapped.grid)))
        if isinstance(found, Refusal):
            return found
        offer = found[0]

        def build() -> Schedule:
            return torus_on_array(offer.build()).replace(network=case.network, task=case.task)

        time = None if offer.time is None else 2 * offer.time
        return Offer(build, time, offer.at_most, optimal(case), offer.effort, hop_bytes=1.25 * offer.hop_bytes)

    return Algorithm(
        name=f"{algorithm.name}-on-array",
        tasks=algorithm.tasks,
        propose=propose,
        networks=f"arrays, folded from {algorithm.networks}",
        source=f"{algorithm.source}; torus on an array by Varvarigos and Bertsekas 1994, section 2",
        summary=f"folds the schedule of {algorithm.name} for the torus into the array of the same shape",
        passes_on=algorithm.passes_on,
    )
