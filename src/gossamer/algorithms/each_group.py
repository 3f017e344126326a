"""Tasks in groups: each group by itself, over the links between its nodes.

Where the groups are disjoint, as the rows of a torus are, none disturbs another: all of them take as long as the one
that takes longest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.networks.derived import among
from gossamer.networks.network import Network
from gossamer.questions.cases import EFFORTS, Case, Effort, Offer, Refusal
from gossamer.questions.tasks import Grouped, Task
from gossamer.questions.tasks.composite_tasks import ranks
from gossamer.schedules import CONTROL, Packets, Phase, Schedule

__all__ = ["each_group"]


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
