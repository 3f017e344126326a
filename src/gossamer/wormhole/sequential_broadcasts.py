"""One broadcast after the other: each source in turn spreads its message along lines, dimension by dimension."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.payloads import Payloads
from gossamer.schedules.wormhole.schedule import StepPhase, WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.contraction_trees import line_broadcast

__all__ = ["MAX_MESSAGES", "SEQUENTIAL", "sequential_broadcasts"]

MAX_MESSAGES = 50_000_000
"""The most wormhole messages that are written out, 1.4 GB of columns in two dimensions."""

Ints = npt.NDArray[np.int64]


def _line(side: int, wraps: bool, start: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the steps that spread from `start` over a line of `side` nodes: pairs of sender and displacement.

    A ring is cut opposite to `start`, so that the start is in the middle.
    """
    low, high = (start - (side - 1) // 2, start + side // 2) if wraps else (0, side - 1)
    return tuple(tuple((x % side, y - x) for x, y in pairs) for pairs in line_broadcast(low, high, start))


def _lines(case: WormholeCase, origin: int) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Yield the dimension and the pairs of each step of the broadcast of `origin`, the last dimension first."""
    channels = case.channels
    place = channels.coordinates(origin)
    for i in reversed(range(channels.dimensions)):
        for pairs in case.once(_line, channels.sides[i], channels.wraps[i], int(place[i])):
            yield i, pairs


def sequential_broadcasts(case: WormholeCase) -> WormholeSchedule:
    """Return the schedule in which the sources broadcast one after the other.

    The simplest way: one source after the other broadcasts its message, along lines, dimension by dimension.

    Parameters
    ----------
    case : WormholeCase
        A broadcast or (partial) multinode broadcast on an array or torus of any sides.

    Returns
    -------
    WormholeSchedule
        One phase a source.

    Notes
    -----
    A source reaches its line along the last dimension, then all these nodes their lines along the dimension before it,
    and so on. On a torus each broadcast takes ``ceil(log_3 n)`` steps for every side n; on an array the steps of
    `line_broadcast` from where the source is, at most ``ceil(log_3 (2n - 1))``. With s sources on n x n
    nodes of a torus it takes ``2 s ceil(log_3 n) (T_s + m T_c)``. Writes s (N - 1) messages.

    References
    ----------
    Chen and Chen 2000, section 3.2.3, for the broadcast along a line.

    Examples
    --------
    >>> import gossamer
    >>> s = sequential_broadcasts(WormholeCase(gossamer.network("torus:9x9"), gossamer.task("broadcast")))
    >>> s.startups, s.completion_time
    (4, Fraction(4496, 1))
    """
    channels = case.channels
    origins = case.messages.origin.tolist()
    strides = channels.strides
    steps: list[Ints] = []
    sources: list[Ints] = []
    moves: list[tuple[int, Ints]] = []
    payload: list[Ints] = []
    phases: list[StepPhase] = []
    step = 0
    for number, origin in enumerate(origins):
        first = step
        at, base = -1, np.array([origin], np.int64)  # nodes that hold the message, with coordinate 0 along `at`
        for i, pairs in _lines(case, origin):
            if i != at:
                if at >= 0:
                    base = (base[:, None] + np.arange(channels.sides[at]) * strides[at]).reshape(-1)
                at, base = i, base - base // strides[i] % channels.sides[i] * strides[i]
            senders, ways = np.array(pairs, np.int64).T
            sources.append((base[:, None] + senders * strides[i]).reshape(-1))
            moves.append((i, np.tile(ways, base.size)))
            steps.append(np.full(sources[-1].size, step, np.int64))
            payload.append(np.full(sources[-1].size, number, np.int64))
            step += 1
        phases.append(StepPhase(f"broadcast of node {case.name(origin)}", step - first))
    rows = sum(s.size for s in steps)
    displacement, done = np.zeros((rows, channels.dimensions), np.int32), 0
    for i, ways in moves:
        displacement[done : done + ways.size, i] = ways
        done += ways.size
    empty = np.zeros(0, np.int64)
    return WormholeSchedule.of(
        case,
        np.concatenate([empty, *steps]),
        np.concatenate([empty, *sources]),
        displacement,
        np.concatenate([empty, *payload]),
        payloads=Payloads(np.arange(len(origins) + 1), np.arange(len(origins), dtype=np.int32)),
        phases=phases,
    )


def _time(case: WormholeCase) -> Fraction:
    """Return the time of `sequential_broadcasts`."""
    channels, cost = case.channels, case.cost
    place = channels.coordinates(case.messages.origin)
    time = Fraction(0)
    for i, (side, wraps) in enumerate(zip(channels.sides, channels.wraps, strict=True)):
        starts = np.bincount(place[:, i] if not wraps else np.zeros(len(place), np.int64), minlength=1)
        for start in np.flatnonzero(starts).tolist():
            far = (max(abs(way) for _, way in pairs) for pairs in case.once(_line, side, wraps, start))
            time += int(starts[start]) * sum((cost.step_cost(cost.message_bytes, hops) for hops in far), Fraction(0))
    return time


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    refusal = too_many_messages(case.sources * (case.network.node_count - 1), MAX_MESSAGES)
    return refusal or Offer(lambda: sequential_broadcasts(case), time=_time(case), hop_seconds=4e-7)


SEQUENTIAL: tuple[WormholeAlgorithm, ...] = (
    WormholeAlgorithm(
        name="sequential-broadcasts",
        tasks=(Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast),
        propose=_propose,
        networks="arrays and tori",
        source="baseline; line broadcasts of Chen and Chen 2000",
        summary="each source in turn spreads its message along lines, dimension by dimension",
    ),
)
