"""Algorithms for wormhole switching: from a case to offers of schedules, and the steps of a schedule in the making."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.questions.cases import Offer, Proposer, Refusal
from gossamer.questions.rules import Rules
from gossamer.schedules.wormhole.payloads import PayloadTable, Pieces
from gossamer.schedules.wormhole.schedule import StepPhase, WormholeCase, WormholeSchedule

__all__ = ["Steps", "WormholeAlgorithm", "too_many_messages", "with_limited_ports"]

# Schedules for nodes with one port, from schedules for all ports: each step becomes several.


def with_limited_ports(schedule: WormholeSchedule, case: WormholeCase) -> WormholeSchedule:
    """Spread the messages of each step over as many steps as the ports of a case ask for.

    Parameters
    ----------
    schedule : WormholeSchedule
        For all ports, of the case's task.
    case : WormholeCase
        With the ports that nodes have.

    Notes
    -----
    The longest messages come first, each in the first step in which its sender and its receiver are free: at most
    twice as many steps as the busiest of them has messages. O(messages x ports).

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.wormhole.sequential_broadcasts import sequential_broadcasts
    >>> all_ports = WormholeCase(gossamer.network("torus:5x5"), gossamer.task("broadcast"))
    >>> schedule = sequential_broadcasts(all_ports)
    >>> case = all_ports.varied(rules=gossamer.Rules(ports="one"))
    >>> schedule.step_count, with_limited_ports(schedule, case).step_count
    (4, 8)
    """
    rules = case.rules
    substep = np.zeros(schedule.message_count, np.int64)
    counts = np.ones(schedule.step_count, np.int64)
    bounds = np.searchsorted(schedule.step, np.arange(schedule.step_count + 1))
    for t in range(schedule.step_count):
        rows = np.arange(bounds[t], bounds[t + 1])
        taken: set[tuple[str, int, int]] = set()
        for m in rows[np.argsort(-schedule.length[rows], kind="stable")].tolist():
            k = 0
            sender, receiver = int(schedule.source[m]), int(schedule.target[m])
            while (rules.send_limited and ("sends", sender, k) in taken) or (
                rules.receive_limited and ("receives", receiver, k) in taken
            ):
                k += 1
            taken |= {("sends", sender, k), ("receives", receiver, k)}
            substep[m] = k
            counts[t] = max(counts[t], k + 1)
    first = np.cumsum(counts) - counts
    step = first[schedule.step] + substep if schedule.message_count else substep
    order = np.argsort(step, kind="stable")
    phases = [
        replace(phase, steps=int(counts[phase.first_step : phase.first_step + phase.steps].sum()))
        for phase in schedule.phases
    ]
    return WormholeSchedule.of(
        case,
        step[order].astype(np.int32),
        schedule.source[order],
        schedule.displacement[order],
        schedule.payload[order],
        payloads=schedule.payloads,
        packets=schedule.packets,
        phases=phases,
        control_bytes=schedule.control_bytes[order],
    )


def too_many_messages(count: int, most: int = 100_000_000) -> Refusal | None:
    """Return the refusal to write out `count` messages, or None if that is allowed.

    >>> too_many_messages(30_000_000, most=20_000_000)
    Refusal(why='would write out 30,000,000 messages; at most 20,000,000 are allowed')
    """
    if count <= most:
        return None
    return Refusal(f"would write out {count:,} messages; at most {most:,} are allowed")


@dataclass(frozen=True)
class WormholeAlgorithm(Proposer[WormholeCase, WormholeSchedule]):
    """A named way to carry out a task with wormhole messages.

    See `gossamer.questions.cases.Proposer` for its other fields.

    Attributes
    ----------
    anywhere : bool
        Whether it is asked on networks that are no arrays or tori.
    limited : bool
        Whether it is asked of cases in which a node sends or receives one message a step. Otherwise what it builds for
        all ports is spread over more steps.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.wormhole.sequential_broadcasts import SEQUENTIAL
    >>> case = WormholeCase(gossamer.network("torus:9x9"), gossamer.task("broadcast"))
    >>> [a.build(case).completion_time for a in SEQUENTIAL]
    [Fraction(4496, 1)]
    """

    anywhere: bool = False
    limited: bool = False

    def offers(self, case: WormholeCase, *, streamed: bool = False) -> tuple[Offer[WormholeSchedule], ...] | Refusal:
        """Return what the algorithm proposes for a case; see `gossamer.questions.cases.Proposer.offers`."""
        if not case.channels.on_grid and not self.anywhere:
            return Refusal("needs an array or torus")
        itself = case.rules.ports == "all" or self.limited
        asked = case if itself else case.varied(rules=Rules())
        found = super().offers(asked, streamed=streamed)
        if isinstance(found, Refusal):
            return found
        if not itself:
            found = tuple(replace(offer, build=_limited(case, offer.build), time=None) for offer in found)
        if case.cost.price != "steps":  # promises are made in the time of steps
            found = tuple(replace(offer, time=None, least=Fraction(0), optimal=False) for offer in found)
        return found

    def build(self, case: WormholeCase) -> WormholeSchedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        return self.offer(case).build().replace(algorithm=self.name)


def _limited(case: WormholeCase, build: Callable[[], WormholeSchedule]) -> Callable[[], WormholeSchedule]:
    return lambda: with_limited_ports(build(), case)


# Collecting the messages of a schedule step by step, in any order.


class Steps:
    """The messages of a schedule in the making.

    Attributes
    ----------
    table : PayloadTable
        The payloads.
    first : int
        The step in which the next phase begins.

    Examples
    --------
    >>> import gossamer
    >>> steps = Steps(1)
    >>> steps.add(0, [0, 0], [[1], [-1]], steps.table.row([0]))
    >>> steps.end_phase("both ways", 1)
    >>> steps.schedule(WormholeCase(gossamer.network("torus:3"), gossamer.task("broadcast"))).target.tolist()
    [1, 2]
    """

    def __init__(self, dimensions: int) -> None:
        self.table = PayloadTable()
        self.first = 0
        self._dimensions = dimensions
        self._columns: list[tuple[npt.NDArray[np.int32], ...]] = []
        self._phases: list[StepPhase] = []

    def add(
        self, step: npt.ArrayLike, source: npt.ArrayLike, displacement: npt.ArrayLike, payload: npt.ArrayLike
    ) -> None:
        """Add messages.

        Parameters
        ----------
        step : int or int array of shape (k,)
            Counted from the start of the phase.
        source : int array of shape (k,)
            Sending nodes.
        displacement : int array of shape (k, d)
            Signed hops.
        payload : int or int array of shape (k,)
            Rows of `table`, or ``CONTROL``.
        """
        sources = np.asarray(source, np.int32)
        k = sources.size
        moves = np.broadcast_to(np.asarray(displacement, np.int32), (k, self._dimensions))
        at = np.broadcast_to(np.asarray(step, np.int32) + np.int32(self.first), k)
        self._columns.append((at, sources, moves, np.broadcast_to(np.asarray(payload, np.int32), k)))

    def end_phase(self, name: str, steps: int, control: bool = False) -> None:
        """End the phase, which has `steps` steps, for control messages or not; one of 0 steps is left out."""
        if steps:
            self._phases.append(StepPhase(name, steps, control=control))
        self.first += steps

    def schedule(self, case: WormholeCase, packets: Pieces | None = None) -> WormholeSchedule:
        """Return the schedule of all messages added, sorted by step."""
        d = self._dimensions
        empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, d), np.int32), np.zeros(0, np.int32))
        step, source, moves, payload = (np.concatenate(c) for c in zip(empty, *self._columns, strict=True))
        order = np.argsort(step, kind="stable")
        return WormholeSchedule.of(
            case,
            step[order],
            source[order],
            moves[order],
            payload[order],
            payloads=self.table.payloads(),
            packets=packets,
            phases=self._phases,
        )

    @property
    def phases(self) -> Sequence[StepPhase]:
        """The phases ended so far."""
        return tuple(self._phases)
