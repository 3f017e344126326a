"""Personalized messages, each sent whole over its dimension-ordered path, packed into steps without contention."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.cases import Offer, Refusal
from gossamer.tasks import (
    COMBINE,
    Gather,
    PartialExchange,
    PartialGather,
    Permutation,
    Scatter,
    TotalExchange,
)
from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.payloads import Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps

__all__ = ["DIRECT", "direct_messages"]

_MOST_MESSAGES = 200_000
_TRIES = 4


def direct_messages(case: WormholeCase) -> WormholeSchedule:
    """Send each message from its origin straight to its target, in as few steps as first fit finds.

    Parameters
    ----------
    case : WormholeCase
        Personalized messages.

    Notes
    -----
    Messages that go furthest come first; half way round a ring they go up and down by turns. A few orders are tried
    among messages that go as far. O(messages times steps times hops).

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("total-exchange"))
    >>> direct_messages(case).step_count
    9
    """
    from gossamer.wormhole.direct import _kernels

    channels = case.channels
    origin, target, row = _pairs(case)
    best: tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int64]] | None = None
    for attempt in range(_TRIES):
        random = np.random.default_rng(case.seed + attempt)
        move = channels.shortest(origin, target, random if attempt else None)
        first, channel = channels.paths(origin, move)
        load = np.bincount(channel, minlength=channels.count)
        hops = np.diff(first)
        order = np.lexsort((random.random(origin.size), -hops))
        room = int(load.max(initial=1)) * 3 + 8
        step = np.zeros(origin.size, np.int32)
        used = -1
        while used < 0:
            busy = np.zeros((room, channels.count), np.uint8)
            used = int(_kernels.pack(first, channel, order, busy, step))
            room *= 2
        if best is None or used < best[0]:
            best = used, step, move
    assert best is not None
    steps = Steps(channels.dimensions)
    cut = Pieces.of(case.messages, case.cost.message_bytes, 1)
    payload = np.array([steps.table.row([piece]) for piece in range(cut.count)], np.int64)
    steps.add(best[1], origin, best[2], payload[row])
    steps.end_phase("direct", best[0])
    return steps.schedule(case, cut)


def _pairs(case: WormholeCase) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return origin, target and row of every message that has to move."""
    messages = case.messages
    assert messages.targets is not None
    assert messages.target_start is not None
    count = np.diff(messages.target_start)
    row = np.repeat(np.arange(messages.count), count)
    origin, target = messages.origin.astype(np.int64)[row], messages.targets.astype(np.int64)
    away = origin != target
    return origin[away], target[away], row[away]


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    messages = case.messages
    if messages.targets is None or messages.target_start is None or (messages.discipline == COMBINE).any():
        return Refusal("needs personalized messages")
    count = int(messages.targets.size)
    if count > _MOST_MESSAGES:
        return Refusal(f"packs at most {_MOST_MESSAGES:,} messages into steps, got {count:,}")
    origin, target, _ = _pairs(case)
    each = case.cost.startup + Fraction(case.cost.message_bytes) * case.cost.per_byte
    busiest = 0
    for ends in (origin, target):
        if ends.size:
            load = np.bincount(ends, minlength=case.network.node_count)
            busiest = max(busiest, int((-(-load // np.maximum(case.channels.in_degree, 1))).max()))
    return Offer(lambda: direct_messages(case), least=busiest * each, effort="search")


DIRECT = (
    WormholeAlgorithm(
        name="direct",
        tasks=(Scatter, Gather, TotalExchange, PartialExchange, PartialGather, Permutation),
        propose=_propose,
        networks="any network",
        source="folklore",
        summary="each message straight to its target, packed into steps without contention",
        anywhere=True,
    ),
)
"""Personalized messages by wormhole."""
