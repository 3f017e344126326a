"""Gather, then broadcast: all messages come together at one node in the middle, and go out from there as one.

Every message carries all that its sender has, so that start-ups are few and bytes many: for short messages and dear
start-ups, on any network. The trees are those of the flooding of one message, towards the node with time turned round.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, Reduce
from gossamer.schedules.wormhole.case import WormholeCase
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm
from gossamer.wormhole.flooding import Ways, flooded, flooding_offers
from gossamer.wormhole.time_reversal import backwards

__all__ = ["TWO_STEP", "gather_then_broadcast", "middle"]


def middle(case: WormholeCase) -> int:
    """Return the terminal that is nearest to all others: to the furthest of them, and then on the whole.

    >>> import gossamer
    >>> middle(WormholeCase(gossamer.network("array:3x5"), gossamer.task("allgather")))
    7
    """
    length = case.once(Ways.of, case, False).length.astype(np.int64)
    there = length.max(axis=0) + length.max(axis=1)
    return int(np.lexsort((length.sum(axis=0) + length.sum(axis=1), there))[0])


def gather_then_broadcast(case: WormholeCase, root: int) -> WormholeSchedule:
    """Build the schedule in which all messages meet at a node and go out together.

    Where to begin a message is what costs, few large messages are better than many small ones. All messages meet at a
    node in the middle, and go out from there as one.

    Parameters
    ----------
    case : WormholeCase
        A (partial) multinode broadcast of s messages of m bytes.
    root : int
        The node where they meet.

    Returns
    -------
    WormholeSchedule
        Phases ``gather``, in which a node sends once, after all that it passes on has come, and ``broadcast``.

    Notes
    -----
    With t steps of one broadcast by flooding, at most 2 t start-ups, and at most 2 t s m bytes one after the other: the
    messages of the last steps of ``gather`` and all of ``broadcast`` hold nearly everything. O(nodes^2) time a step.

    References
    ----------
    Hambrusch, Khokhar and Liu 1998: s-to-p broadcasting in two steps.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("array:8x8"), gossamer.task("allgather"))
    >>> s = gather_then_broadcast(case, middle(case))
    >>> [(p.name, p.steps) for p in s.phases], bool(gossamer.verify(s))
    ([('gather', 3), ('broadcast', 3)], True)
    """
    out = flooded(case.varied(Broadcast(root)), 1)
    turned = flooded(case.varied(Broadcast(root)), 1, turned=True)
    way_in = backwards(turned, case.varied(Reduce(root)), mirrored=False)
    steps = Steps(case.channels.dimensions)
    held: list[list[int]] = [[] for _ in range(case.network.node_count)]
    for message, origin in enumerate(case.messages.origin.tolist()):
        held[origin].append(message)
    sends = np.zeros(way_in.step.size, bool)
    payload = np.zeros(way_in.step.size, np.int64)
    for row, (source, target) in enumerate(zip(way_in.source.tolist(), way_in.target.tolist(), strict=True)):
        if held[source]:
            sends[row], payload[row] = True, steps.table.row(held[source])
            held[target] += held[source]
    used, step = np.unique(way_in.step[sends], return_inverse=True)
    _add(steps, "gather", used.size, step, way_in, sends, payload)
    everything = np.full(out.step.size, steps.table.row(range(case.messages.count)), np.int64)
    _add(steps, "broadcast", out.step_count, out.step, out, np.ones(out.step.size, bool), everything)
    return steps.schedule(case)


def _add(
    steps: Steps, phase: str, count: int, step: npt.NDArray[np.integer], like: WormholeSchedule,
    rows: npt.NDArray[np.bool_], payload: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the messages of some rows of a schedule, with other payloads, as a phase."""
    steps.add(step, like.source[rows], like.displacement[rows], payload[rows])
    steps.end_phase(phase, count)


def _propose(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    if case.messages.count < 2:
        return Refusal("needs several messages")
    found = flooding_offers(case.varied(Broadcast(0)))
    if isinstance(found, Refusal):
        return found
    root = middle(case)
    least = 2 * Fraction(case.cost.startup) + case.messages.count * case.cost.message_bytes * case.cost.per_byte
    return Offer(lambda: gather_then_broadcast(case, root), least=least, effort="search", options={"root": root})


TWO_STEP = (
    WormholeAlgorithm(
        name="gather-then-broadcast",
        tasks=(MultinodeBroadcast, PartialMultinodeBroadcast),
        propose=_propose,
        networks="any network",
        source="Hambrusch, Khokhar and Liu 1998",
        summary="all messages meet at a node in the middle and go out as one: few start-ups, many bytes",
        anywhere=True,
        limited=True,
    ),
)
"""The s-to-p broadcast in two steps."""
