"""Algorithms that follow from others: reversed in time, composed, folded from a torus, done in every group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.errors import TaskError
from gossamer.networks.derived import among
from gossamer.networks.grids import torus
from gossamer.networks.network import Network
from gossamer.questions.cases import EFFORTS, Case, Effort, Offer, Proposer, Refusal, first_refusal
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Gather,
    Grouped,
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
from gossamer.questions.tasks.composite_tasks import ranks
from gossamer.schedules import CONTROL, Packets, Phase, Schedule, then, torus_on_array
from gossamer.schedules.torus_on_array import task_on_torus

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
        hop_bytes=1.5 * offer.hop_bytes, hop_seconds=1.5 * offer.hop_seconds, composed=offer.composed,
        even_packets=offer.even_packets,
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


def allreduce_from(algorithm: Algorithm, named: bool = False, in_groups: bool = False) -> Algorithm:
    """Return the allreduce that runs a multinode broadcast `algorithm` backwards and then forwards.

    `named`: whether it is built only where it is named. `in_groups`: of all groups at once, and of nothing else.
    """
    chunks = Chunked in algorithm.tasks and not in_groups
    halves = {
        kind: dual(algorithm, kind) for kind in ((Grouped,) if in_groups else (ReduceScatter, Chunked)[: 1 + chunks])
    }

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        packets = packets_of(case.task)
        inner = case.task.task if isinstance(case.task, Grouped) else case.task
        if not isinstance(inner.task if isinstance(inner, Chunked) else inner, Allreduce):
            return Refusal("is for allreduce")

        def half(task: Task) -> Case:
            task = in_packets(task, packets)
            return case.related(task=Grouped(task, case.task.groups) if isinstance(case.task, Grouped) else task)

        kind = Grouped if in_groups else ReduceScatter if packets == 1 else Chunked
        reduce = halves[kind].offers(half(ReduceScatter()))
        gather = algorithm.offers(half(MultinodeBroadcast()))
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

    kinds = (Grouped,) if in_groups else (Allreduce, Chunked) if chunks else (Allreduce,)
    return two_way_algorithm(algorithm, propose, tasks=kinds, timed=False)


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


# Tasks in groups: each group by itself, over the links between its nodes. Where the groups are disjoint, as the rows of
# a torus are, none disturbs another: all of them take as long as the one that takes longest.


def each_group(algorithms: Callable[[Task], Sequence[Algorithm]]) -> Algorithm:
    """Return the algorithm that carries out a task in every group by the best algorithm for the group alone.

    `algorithms`, callable: ``task -> algorithms``: those asked for a case of each group, the links among its nodes and
    the task among its ranks.

    Returns: for tasks in disjoint groups, the nodes of each of which are connected among themselves.
    """

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        task = case.task
        assert isinstance(task, Grouped)
        nodes = [v for group in task.groups for v in group]
        if len(set(nodes)) < len(nodes):
            return Refusal("needs groups that share no node")
        if case.control_time or case.rules.buffer is not None:
            return Refusal("needs control packets that take no time, and no limit of the buffers")
        # groups that differ are cut into different numbers of parts, so that they are left whole
        several = len({case.once(among, case.network, group) for group in task.groups if len(group) > 1}) > 1
        rules = replace(case.rules, segmented=case.rules.segmented and not several)
        chosen: dict[Network, tuple[str, Offer[Schedule]]] = {}
        for group in task.groups:
            if len(group) == 1:
                continue
            network = case.once(among, case.network, group)
            if network not in chosen:
                connected = min(int(n.distances(0).min()) for n in (network, network.transposed)) >= 0
                best = _best(case.related(network, task.task, rules), algorithms(task.task)) if connected else None
                if best is None:
                    return Refusal("needs an algorithm for every group over the links among its nodes alone")
                chosen[network] = best
        times = [offer.time for _, offer in chosen.values()]
        time = None if any(t is None for t in times) else max((t for t in times if t is not None), default=Fraction(0))
        efforts: list[Effort] = [offer.effort for _, offer in chosen.values()]
        effort = max(efforts, key=EFFORTS.index, default=EFFORTS[0])
        at_most = any(offer.at_most for _, offer in chosen.values())
        longest = max((offer.hop_seconds for _, offer in chosen.values()), default=1e-7)
        return Offer(lambda: _united(case, chosen), time, at_most=at_most, effort=effort, hop_seconds=longest)

    return Algorithm(
        name="each-group-alone",
        tasks=(Grouped,),
        propose=propose,
        networks="any; disjoint groups, each connected by itself",
        source="gossamer",
        summary="every group by itself over the links among its nodes, by the best algorithm for these",
    )


def _best(case: Case, algorithms: Sequence[Algorithm]) -> tuple[str, Offer[Schedule]] | None:
    """Return the offer of the smallest promise; one without a promise if there is no other."""
    found = []
    for algorithm in algorithms:
        offers = algorithm.offers(case)
        found += [] if isinstance(offers, Refusal) else [(algorithm.name, offer) for offer in offers]
    found = [(name, offer) for name, offer in found if not offer.on_request]

    def place(each: tuple[str, Offer[Schedule]]) -> tuple[bool, Fraction, int]:
        offer = each[1]
        return offer.time is None, offer.time or Fraction(0), EFFORTS.index(offer.effort)

    return min(found, key=place, default=None)


def _united(case: Case, chosen: dict[Network, tuple[str, Offer[Schedule]]]) -> Schedule:
    """Return the schedules of all groups as one."""
    task, network = case.task, case.network
    assert isinstance(task, Grouped)
    made = {alone: offer.build().expand() for alone, (_, offer) in chosen.items()}
    parts = max((s.parts for s in made.values()), default=1)
    key = network.link_source * np.int64(network.node_count) + network.link_target
    order = np.argsort(key, kind="stable")
    slots, links, packets = [], [], []
    origins, messages, pieces = [], [], []
    count = 0
    for group, first in zip(task.groups, task.first_ids, strict=True):
        if len(group) == 1:  # its messages are where they must be
            alone = Packets.of(task.task.messages(ranks(1)), parts)
            origins.append(np.full(alone.count, group[0]))
            messages.append(alone.message + first)
            pieces.append(alone.part)
            count += alone.count
            continue
        schedule = made[case.once(among, network, group)]
        data = schedule.packet != CONTROL
        node, table = np.array(group, np.int64), schedule.packets
        ends = [
            node[column[schedule.link[data]]] for column in (schedule.network.link_source, schedule.network.link_target)
        ]
        wanted = ends[0] * network.node_count + ends[1]
        slots.append(schedule.slot[data])
        links.append(order[np.searchsorted(key, wanted, sorter=order)])
        packets.append(schedule.packet[data] + np.int64(count))
        origins.append(node[table.origin])
        messages.append(table.message + first)
        pieces.append(table.part)
        count += table.count
    if not slots:
        return Schedule.of(case, [], [], [])
    slot = np.concatenate(slots)
    by_slot = np.argsort(slot, kind="stable")
    return Schedule.of(
        case,
        slot[by_slot].astype(np.int32),
        np.concatenate(links)[by_slot].astype(np.int32),
        np.concatenate(packets)[by_slot].astype(np.int32),
        parts=parts,
        packets=Packets(
            np.concatenate(origins).astype(np.int32),
            np.concatenate(messages).astype(np.int64),
            np.concatenate(pieces).astype(np.int32),
        ),
        phases=[Phase(task.name, max(s.slot_count for s in made.values()), Fraction(1, parts))],
    )
