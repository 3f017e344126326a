"""The schedule: a table of hops, with what can be made of it at hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy.typing as npt

from gossamer.atomic_files import Pictured
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.schedules import files, hop_descriptions, transform
from gossamer.schedules.hop_descriptions import Hop
from gossamer.schedules.hop_table import MAX_HOPS, HopTable, too_many_hops
from gossamer.schedules.packets import CONTROL, Packets, Phase
from gossamer.schedules.timelines import Timeline, hop_timeline

__all__ = ["CONTROL", "MAX_HOPS", "Packets", "Phase", "Schedule", "load", "too_many_hops"]


class Schedule(HopTable, Pictured):
    """A set of hops: which packet crosses which link in which slot. Immutable.

    The constructor checks shapes, ranges and order only; whether the schedule carries out its task is for
    `gossamer.verify` to say.

    Parameters
    ----------
    network, task, rules
        What is carried out, where, under which rules.
    slot, link, packet : array_like of int, shape (H,)
        One row a hop, kept as int32, sorted by slot, the one in which it starts. What a hop brings can move on in the
        next slot, or as late as the link's occupancy and latency say. Packet ``CONTROL`` (-1) marks control hops. An
        int32 array is taken over without a copy and becomes read-only.
    cost : StepCost
        What hops cost. Default: control packets take no time.
    parts : int
        Parts that every message is cut into; a part takes 1/parts step a hop.
    packets : Packets, optional
        The packet table. Default: `Packets.of` the task's messages.
    phases : sequence of Phase, optional
        Consecutive phases from slot 0; their `first_slot` is set here. Default: one phase of slots of 1/parts step
        that ends with the last hop.
    symmetry : Symmetry, optional
        Given for an invariant schedule: packets and hops are those of the orbit representatives only.
    algorithm : str
        Name of the builder.
    repeats : array_like of int, shape (H,), optional
        Of reductions by partial sums: the earlier row of the same packet whose sum a hop carries again, -1 where it
        carries the sum of its node as it stands. That hop ended at the node from which this one leaves, and what it
        brought is not added to the node's sum but passes through; or it left that node, and an older sum is sent again.
        Or -2 - t, where it carries the sum of its node as it stood in slot t. Default: every hop carries the sum as it
        stands.
    repetition : Repetition, optional
        Given for a schedule that repeats: packets and hops are those of the first generation only, of so many packets
        of each message; packet ``i`` of a message is sent on as packet ``i - packets`` is, a period later.

    Raises
    ------
    ScheduleError
        If a column is malformed, unsorted or out of range, or the phases do not hold every slot.

    Notes
    -----
    A hop takes 12 bytes, a packet 16.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> s.completion_time, s.hop_count
    (Fraction(2, 1), 2)
    """

    switching: ClassVar[str] = "store-and-forward"
    file_form: ClassVar[files.FileForm] = files.FORM

    @classmethod
    def of(
        cls, case: Case, slot: npt.ArrayLike, link: npt.ArrayLike, packet: npt.ArrayLike, **columns: Any
    ) -> Schedule:
        """Return the schedule of a case: its network, task and rules, with the given hops.

        `columns` are the further keywords of the constructor, such as `parts` and `phases`.
        """
        cost = StepCost(case.control_time)
        return cls(case.network, case.task, case.rules, slot, link, packet, cost=cost, **columns)

    def reverse(self) -> Schedule:
        """Return the time-reversed schedule of the dual task; see `gossamer.schedules.transform.reverse`."""
        return transform.reverse(self)

    def then(self, following: Schedule) -> Schedule:
        """Return this schedule followed by another; see `gossamer.schedules.transform.then`."""
        return transform.then(self, following)

    def relabel(self, mapping: Iterable[int], network: Network | None = None) -> Schedule:
        """Return the schedule with renamed nodes; see `gossamer.schedules.transform.relabel`."""
        return transform.relabel(self, mapping, network)

    def expand(self) -> Schedule:
        """Return the explicit schedule; see `gossamer.schedules.transform.expand`."""
        return transform.expand(self)

    def timeline(self) -> Timeline:
        """Return what happens when, a row a hop; see `gossamer.schedules.timeline`."""
        return hop_timeline(self)

    def hops(self) -> Iterator[Hop]:
        """Yield the hops in order, each with what it is in words; see `gossamer.schedules.hop_descriptions.hops`."""
        return hop_descriptions.hops(self)

    def to_arrow(self) -> Any:
        """Return the hops as an Arrow table; see `gossamer.schedules.hop_descriptions.to_arrow`."""
        return hop_descriptions.to_arrow(self)

    def to_frame(self) -> Any:
        """Return the hops as a data frame of pandas; see `gossamer.schedules.hop_descriptions.to_frame`."""
        return hop_descriptions.to_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file; see `gossamer.schedules.files.save`."""
        files.save(self, path)


def load(path: str | os.PathLike[str]) -> Schedule:
    """Read a plain schedule that `save` wrote. It is not verified; see `gossamer.schedules.files.load`."""
    return files.load(path, Schedule)
