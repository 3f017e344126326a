"""Collecting the messages of a schedule step by step, in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.schedules.wormhole.case import WormholeCase
from gossamer.schedules.wormhole.payloads import PayloadTable, Pieces
from gossamer.schedules.wormhole.schedule import Phase, WormholeSchedule

__all__ = ["Steps"]


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
        self._phases: list[Phase] = []

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
            self._phases.append(Phase(name, steps, control=control))
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
    def phases(self) -> Sequence[Phase]:
        """The phases ended so far."""
        return tuple(self._phases)
