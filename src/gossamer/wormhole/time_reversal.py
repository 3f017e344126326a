"""Reductions with wormhole messages: the schedule of a broadcast, run backwards in time.

A message from u to v becomes one from v to u, a copy becomes a contribution. On arrays and tori messages take the
dimensions in order, and backwards in the opposite order; so the broadcast is built on the network whose dimensions
stand in the opposite order, where each way is turned into one that the checker allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.derived import DUALS, reversed_algorithm, two_way_algorithm
from gossamer.networks import array, product, torus
from gossamer.networks.network import Network
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import COMBINE, Allreduce, Grouped, MultinodeBroadcast, ReduceScatter, Task
from gossamer.questions.tasks.composite_tasks import target_table
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import CONTROL, Payloads, PayloadTable, Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import WormholeAlgorithm

__all__ = [
    "backwards",
    "both",
    "halves",
    "joined",
    "mirrored_case",
    "mirrored_network",
    "only_first_copies",
    "reductions_from",
]

Ints = npt.NDArray[np.int64]


def mirrored_network(channels: Channels) -> Network:
    """Return the array or torus with the dimensions in the opposite order.

    >>> import gossamer
    >>> mirrored_network(Channels(gossamer.network("torus:2x3"))).spec
    'torus:3x2'
    """
    sides, wraps = channels.sides[::-1], channels.wraps[::-1]
    if all(w or s == 1 for s, w in zip(sides, wraps, strict=True)):
        return torus(*sides)
    if not any(wraps):
        return array(*sides)
    return product(*(torus(s) if w else array(s) for s, w in zip(sides, wraps, strict=True)))


def _renaming(channels: Channels) -> Callable[[Ints], Ints]:
    """Return from nodes of the network to those of the mirrored one."""
    sides = channels.sides[::-1]
    strides = np.cumprod([1, *sides[:0:-1]])[::-1]
    return lambda nodes: np.asarray(channels.coordinates(nodes)[..., ::-1] @ strides, np.int64)


def mirrored_case(case: WormholeCase) -> WormholeCase:
    """Return the case of broadcasts that become the reductions of a case on an array or torus when time is turned.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("array:2x3"), gossamer.task("reduce", root=5))
    >>> other = mirrored_case(case)
    >>> other.network.spec, other.task
    ('array:3x2', Broadcast(root=5))
    """
    dual: Task = case.task.dual(case.network).renamed(_renaming(case.channels))
    rules = Rules(ports=case.rules.dual.ports)
    return WormholeCase(mirrored_network(case.channels), dual, case.cost, rules, seed=case.seed)


def only_first_copies(schedule: WormholeSchedule) -> WormholeSchedule:
    """Return the schedule of broadcasts without what brings a node a piece that it has, or that nobody needs of it.

    Of several copies that arrive in one step the first row counts. Messages that are left without a piece are left out,
    and so are control messages, and steps without a message. O(pieces in all messages, sorted).
    """
    sets, n = schedule.payloads, schedule.network.node_count
    row, piece = sets.carried(schedule.payload)
    there, here = schedule.target[row] + piece * n, schedule.source[row] + piece * n  # a piece at a node
    kept = np.zeros(row.size, np.bool_)
    kept[np.unique(there, return_index=True)[1]] = True  # rows ascend by step
    kept &= schedule.target[row] != schedule.packets.origin[piece]
    terminals = schedule.network.terminal_count
    table = np.zeros((schedule.messages.count, n), np.bool_)
    table[:, :terminals] = target_table(schedule.messages, terminals)
    wanted = table[np.searchsorted(schedule.messages.ids, schedule.packets.message)].reshape(-1)
    step = schedule.step[row]
    for t in np.unique(step)[::-1].tolist():  # from the end: needed where it is wanted or sent on
        a, b = np.searchsorted(step, [t, t + 1])
        kept[a:b] &= wanted[there[a:b]]
        wanted[here[a:b][kept[a:b]]] = True
    left, start = np.unique(row[kept], return_index=True)
    kept_sets = PayloadTable()
    payload = [kept_sets.row(part) for part in np.split(piece[kept], start[1:])] if left.size else []
    used = np.zeros(schedule.step_count, np.bool_)
    used[schedule.step[left]] = True
    phases = [replace(p, steps=int(used[p.first_step : p.first_step + p.steps].sum())) for p in schedule.phases]
    return schedule.replace(
        step=(np.cumsum(used) - 1)[schedule.step[left]], source=schedule.source[left],
        displacement=schedule.displacement[left], payload=np.array(payload, np.int64), payloads=kept_sets.payloads(),
        phases=[replace(p, length=None) for p in phases if p.steps], control_bytes=None,
    )  # fmt: skip


def backwards(schedule: WormholeSchedule, case: WormholeCase, *, mirrored: bool = True) -> WormholeSchedule:
    """Return the reductions of a case that broadcasts become when time is turned.

    `schedule`: of `mirrored_case`; if not `mirrored`, on the network of the case itself, over ways that are reversed:
    the message from u to v over the channels that one from v to u takes. Nodes know who takes part, so that control
    messages are left out. O(pieces in all messages, sorted).

    >>> import gossamer
    >>> from gossamer.wormhole.sequential_broadcasts import sequential_broadcasts
    >>> case = WormholeCase(gossamer.network("array:3x4"), gossamer.task("reduce"))
    >>> reduction = backwards(sequential_broadcasts(mirrored_case(case)), case)
    >>> reduction.step_count, bool(gossamer.verify(reduction))
    (4, True)
    """
    forward, messages = only_first_copies(schedule), case.messages
    nodes = np.arange(case.network.node_count)
    theirs, back, ids = case.task.dual(case.network), nodes, case.task.dual_ids(case.network, messages.ids)
    move = -forward.displacement
    if mirrored:
        renaming = _renaming(case.channels)
        ids, move = theirs.renamed_ids(case.network, ids, renaming), move[:, ::-1]
        back = np.argsort(renaming(nodes))
    order = np.argsort(ids, kind="stable")
    row = order[np.searchsorted(ids[order], forward.packets.message)]  # the row of the message of each piece
    table = forward.packets
    return WormholeSchedule.of(
        case,
        (forward.step_count - 1 - forward.step)[::-1],
        back[forward.target][::-1].astype(np.int32),
        move[::-1],
        forward.payload[::-1],
        payloads=forward.payloads,
        packets=Pieces(messages.origin[row], messages.ids[row], table.piece, table.size),
        phases=forward.phases[::-1],
    )


def halves(case: WormholeCase) -> tuple[WormholeCase, WormholeCase] | None:
    """Return the reduce-scatter and the multinode broadcast that an allreduce is, in groups or not; None for others.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("array:2x3"), gossamer.task("allreduce"))
    >>> [half.task.name for half in halves(case)]
    ['reduce-scatter', 'multinode-broadcast']
    """
    task = case.task
    if isinstance(task, Allreduce):
        return case.varied(ReduceScatter()), case.varied(MultinodeBroadcast())
    if isinstance(task, Grouped) and isinstance(task.task, Allreduce):
        groups = task.groups
        return case.varied(Grouped(ReduceScatter(), groups)), case.varied(Grouped(MultinodeBroadcast(), groups))
    return None


def joined(case: WormholeCase, first: WormholeSchedule, second: WormholeSchedule) -> WormholeSchedule:
    """Return the allreduce of a case: its reduce-scatter, then its multinode broadcast.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.wormhole.direct_messages import direct_messages
    >>> case = WormholeCase(gossamer.network("torus:3x3"), gossamer.task("allreduce"))
    >>> bool(gossamer.verify(joined(case, *map(direct_messages, halves(case)))))
    True
    """
    messages, tables = case.messages, (first.packets, second.packets)
    combined = messages.discipline == COMBINE
    rows = [
        np.flatnonzero(combined == turned)[np.searchsorted(half.messages.ids, half.packets.message)]
        for half, turned in ((first, True), (second, False))
    ]
    row = np.concatenate(rows)
    sets = first.payloads, second.payloads
    phases = [
        replace(phase, name=f"{stage}: {phase.name}")
        for half, stage in ((first, "reduce-scatter"), (second, "multinode broadcast"))
        for phase in half.phases
    ]
    later = np.where(second.payload == CONTROL, CONTROL, second.payload + sets[0].count)
    return WormholeSchedule.of(
        case,
        np.concatenate([first.step, second.step + first.step_count]),
        np.concatenate([first.source, second.source]),
        np.concatenate([first.displacement, second.displacement]),
        np.concatenate([first.payload, later]),
        payloads=Payloads(
            np.concatenate([sets[0].first, sets[1].first[1:] + sets[0].packet.size]),
            np.concatenate([sets[0].packet, sets[1].packet + tables[0].count]),
        ),
        packets=Pieces(
            messages.origin[row],
            messages.ids[row],
            np.concatenate([t.piece for t in tables]),
            np.concatenate([t.size for t in tables]),
        ),
        phases=phases,
        control_bytes=np.concatenate([first.control_bytes, second.control_bytes]),
    )


def _both(case: WormholeCase, first: Offer[WormholeSchedule], second: Offer[WormholeSchedule]) -> WormholeSchedule:
    return joined(case, first.build(), second.build())


def both(
    case: WormholeCase,
    first: Sequence[Offer[WormholeSchedule]] | Refusal,
    second: Sequence[Offer[WormholeSchedule]] | Refusal,
) -> tuple[Offer[WormholeSchedule], ...] | Refusal:
    """Return the offers for an allreduce that those for its two `halves` make, in pairs of equal options.

    Where sends or receipts are limited, one half may have options that the other lacks.

    >>> import gossamer
    >>> from gossamer.wormhole.flooding import flooding_offers
    >>> case = WormholeCase(gossamer.network("torus:3x3"), gossamer.task("allreduce"))
    >>> both(case, *map(flooding_offers, halves(case)))[0].options
    {'pieces': 1}
    >>> both(case, Refusal("needs a ring"), ())
    Refusal(why='needs a ring')
    """
    for half in (first, second):
        if isinstance(half, Refusal):
            return half
    assert not isinstance(first, Refusal)
    assert not isinstance(second, Refusal)
    return tuple(
        replace(
            b,
            build=partial(_both, case, a, b),
            time=None if a.time is None or b.time is None else a.time + b.time,
            least=a.least + b.least,
            at_most=True,
            optimal=False,
            stream=None,
            hop_seconds=(a.hop_seconds + b.hop_seconds) / 2,  # each has half of the receipts
        )
        for a in first
        for b in second
        if a.options == b.options
    ) or Refusal("finds no reduction and broadcast that fit together")


# Reductions from broadcasts on arrays and tori, run backwards in time; allreduces from both, one after the other.

_BACK = 4
"""Times what a broadcast takes, turning it round and checking contributions takes, about."""

_Offers = tuple[Offer[WormholeSchedule], ...] | Refusal


def _turned(offer: Offer[WormholeSchedule], case: WormholeCase) -> Offer[WormholeSchedule]:
    build: Callable[[], WormholeSchedule] = lambda: backwards(offer.build(), case)  # noqa: E731
    return replace(
        offer,
        build=build,
        at_most=True,
        optimal=False,
        stream=None,
        least=Fraction(0),
        hop_seconds=_BACK * offer.hop_seconds,
    )


def reductions_from(algorithm: WormholeAlgorithm) -> tuple[WormholeAlgorithm, ...]:
    """Return the reductions, and the allreduce, that follow from an algorithm for broadcasts on arrays and tori.

    >>> from gossamer.wormhole.sequential_broadcasts import SEQUENTIAL
    >>> [derived.name for derived in reductions_from(SEQUENTIAL[0])]
    ['reversed-sequential-broadcasts', 'two-way-sequential-broadcasts']
    """

    def reduce(case: WormholeCase) -> _Offers:
        found = algorithm.offers(case.once(mirrored_case, case))
        return found if isinstance(found, Refusal) else tuple(_turned(offer, case) for offer in found)

    def allreduce(case: WormholeCase) -> _Offers:
        parts = case.once(halves, case)
        assert parts is not None
        return both(case, reduce(parts[0]), algorithm.offers(parts[1]))

    tasks = tuple(DUALS[kind] for kind in algorithm.tasks if kind in DUALS)
    summary = f"runs {algorithm.name} backwards, on the network with the dimensions in the opposite order"
    backward = reversed_algorithm(algorithm, tasks, reduce, summary, anywhere=False, limited=False)
    if MultinodeBroadcast not in algorithm.tasks:
        return (backward,)
    return backward, two_way_algorithm(algorithm, allreduce, anywhere=False, limited=False)
