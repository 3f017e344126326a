"""Personalized messages and contributions, each sent whole over its path, packed into steps without contention."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.questions import tasks
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks.composite_tasks import with_targets
from gossamer.schedules.wormhole.payloads import Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm

__all__ = ["DIRECT", "direct_messages"]


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _pack(first, channel, order, busy, step):
    """Give each path the first step in which its channels are free; return the steps, -1 if `busy` has too few.

    Path p takes ``channel[first[p]:first[p+1]]``; `order` says who comes first; `busy` uint8[steps, C] is filled, and
    ``step[p]``.
    """
    used = 0
    for k in range(order.size):
        p = order[k]
        s = 0
        while s < busy.shape[0]:
            free = True
            for x in range(first[p], first[p + 1]):
                if busy[s, channel[x]] != 0:
                    free = False
                    break
            if free:
                break
            s += 1
        if s == busy.shape[0]:
            return -1
        for x in range(first[p], first[p + 1]):
            busy[s, channel[x]] = 1
        step[p] = s
        used = max(used, s + 1)
    return used


Ints = npt.NDArray[np.int64]

_MOST_MESSAGES = 200_000
_TRIES = 4


def direct_messages(case: WormholeCase) -> WormholeSchedule:
    """Send each message from its origin straight to its target, in as few steps as first fit finds.

    Nobody stores what passes; but only messages whose paths share no channel can go at the same time. Those that go
    furthest come first; half way round a ring they go up and down by turns. A few orders are tried among messages that
    go as far. A port that takes one message a step counts as a channel of its own. Contributions go straight to the
    root, and what comes after a reduction is sent when all reductions are complete. O(messages times steps times hops).

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("total-exchange"))
    >>> direct_messages(case).step_count
    9
    """
    steps = Steps(case.channels.dimensions)
    cut = Pieces.of(case.messages, case.cost.message_bytes, 1)
    payload = np.array([steps.table.row([piece]) for piece in range(cut.count)], np.int64)
    origin, target, row = _pairs(case)
    after = case.messages.after
    later = np.zeros(row.size, np.bool_) if after is None else after[row] >= 0
    for name, some in (("direct", ~later), ("results", later)):
        if some.any():
            count, step, move = _packed(case, origin[some], target[some])
            steps.add(step, origin[some], move, payload[row[some]])
            steps.end_phase(name, count)
    return steps.schedule(case, cut)


def _packed(
    case: WormholeCase, origin: npt.NDArray[np.int64], target: npt.NDArray[np.int64]
) -> tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return into how many steps messages are packed, and the step and the displacement of each."""
    channels = case.channels
    best: tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int64]] | None = None
    for attempt in range(_TRIES):
        random = np.random.default_rng(case.seed + attempt)
        move = channels.shortest(origin, target, random if attempt else None)
        first, channel = channels.paths(origin, move)
        hops = np.diff(first)
        first, channel, count = _with_ports(case, origin, target, first, channel)
        load = np.bincount(channel, minlength=count)
        order = np.lexsort((random.random(origin.size), -hops))
        room = int(load.max(initial=1)) * 3 + 8
        step = np.zeros(origin.size, np.int32)
        used = -1
        while used < 0:
            busy = np.zeros((room, count), np.uint8)
            used = int(_pack(first, channel, order, busy, step))
            room *= 2
        if best is None or used < best[0]:
            best = used, step, move
    assert best is not None
    return best


def _with_ports(case: WormholeCase, origin: Ints, target: Ints, first: Ints, channel: Ints) -> tuple[Ints, Ints, int]:
    """Return ``first`` and ``channel`` of ways that have the ports of one message at their ends, and what there is."""
    count, rules = case.channels.count, case.rules
    for limited, ends in ((rules.send_limited, origin), (rules.receive_limited, target)):
        if limited:
            channel = np.insert(channel, first[1:], count + ends)
            first = first + np.arange(first.size)
            count += case.network.node_count
    return first, channel, count


def _pairs(case: WormholeCase) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return origin, target and row of every message that has to move; contributions go to the root."""
    messages = with_targets(case.messages, case.network.terminal_count)
    assert messages.targets is not None
    assert messages.target_start is not None
    count = np.diff(messages.target_start)
    row = np.repeat(np.arange(messages.count), count)
    origin, target = messages.origin.astype(np.int64)[row], messages.targets.astype(np.int64)
    combined = messages.discipline[row] == tasks.COMBINE
    origin, target = np.where(combined, target, origin), np.where(combined, origin, target)
    away = origin != target
    return origin[away], target[away], row[away]


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    messages = case.messages
    all_to_all = messages.count * case.network.terminal_count
    count = all_to_all if messages.targets is None else int(messages.targets.size)
    if count > _MOST_MESSAGES:
        return Refusal(f"packs at most {_MOST_MESSAGES:,} messages into steps, got {count:,}")
    origin, target, _ = _pairs(case)
    each = case.cost.startup + Fraction(case.cost.message_bytes) * case.cost.per_byte
    busiest = 0
    for ends, degree, limited in (
        (origin, case.channels.out_degree, case.rules.send_limited),
        (target, case.channels.in_degree, case.rules.receive_limited),
    ):
        if ends.size:
            load = np.bincount(ends, minlength=case.network.node_count)
            most = np.ones_like(degree) if limited else np.maximum(degree, 1)
            busiest = max(busiest, int((-(-load // most)).max()))
    hops = int(case.channels.hops(origin, case.channels.shortest(origin, target)).sum())
    steps = max(busiest, hops // max(1, int(case.channels.exists.sum())))
    return Offer(
        lambda: direct_messages(case), least=busiest * each, effort="search", hop_seconds=3e-6 + 1.6e-8 * steps
    )


DIRECT = (
    WormholeAlgorithm(
        name="direct",
        tasks=(
            tasks.Scatter, tasks.Gather, tasks.TotalExchange, tasks.PartialExchange, tasks.PartialGather,
            tasks.Permutation, tasks.Reduce, tasks.ReduceScatter, tasks.PartialReduceScatter, tasks.MultipleReduce,
            tasks.Allreduce,
        ),
        propose=_propose,
        networks="any network",
        source="folklore",
        summary="each message straight to its target, packed into steps without contention",
        anywhere=True,
        limited=True,
    ),
)  # fmt: skip
"""Personalized messages and contributions by wormhole."""
