"""What the checkers know at the start: packets with their disciplines and goals, as arrays for the kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, MOVE
from gossamer.schedules.hop_table import HopTable, summed_packets
from gossamer.schedules.packets import message_rows

PARTIAL_SUMS = np.uint8(4)
"""The discipline, among checkers, of a reduction to a root in which nodes send partial sums more than once."""


class ReplayState:
    """Packets with their disciplines and goals, and the folding of links and nodes onto their orbits.

    * `row_of`, int32[P]: row of each packet's message in ``schedule.messages``, -1 where the task has no such message.
    * `kind`, uint8[P] or uint8[1]: discipline of each packet, or the one that all have.
    * `origin`, int32[P]: origin that the task gives to each packet.
    * `summed`: whether packets are judged as partial sums: those of no root, and after `judge_sums` all that are sent
      so.
    * `row_bytes`: bytes of a packet's row in a bit table with one bit a node; 0 where no packet is copied or combined.
    * `orbit`, int32[N], int32[1] or None: orbit of each node that nodes stand for, one entry where there is one orbit,
      None where each stands for itself.
    * `link_class`, int32[L] or int32[0]: orbit of each link; empty where links are numbered by generators, or each
      stands for itself.
    """

    def __init__(self, schedule: HopTable) -> None:
        network, messages, table = schedule.network, schedule.messages, schedule.packets
        self.schedule = schedule
        self.row_of = message_rows(messages, table)
        known = np.maximum(self.row_of, 0)
        kinds = messages.discipline if messages.count else np.full(1, COPY)
        self.kind = kinds[:1] if bool((kinds == kinds[0]).all()) else kinds[known]
        self.summed = bool((kinds == ALLCOMBINE).any())
        self.origin = messages.origin[known] if messages.count else table.origin
        self.to_all = messages.targets is None
        listed = messages.target_start is not None and messages.count
        self.target_start = messages.target_start if listed else np.zeros(2, np.int64)
        self.targets = np.zeros(1, np.int32) if messages.targets is None else messages.targets
        # one row of bits a packet, unless no packet is ever copied or combined
        bits = network.node_count if table.count and bool((self.kind != MOVE).any()) else 0
        self.row_bytes = (bits + 7) // 8
        symmetry = schedule.symmetry
        self.orbit = None
        if symmetry:
            self.orbit = symmetry.orbit if symmetry.orbit_count > 1 else np.zeros(1, np.int32)
        self.degree = max(network.link_count // network.node_count, 1)
        self.node_classes = symmetry.orbit_count if symmetry else network.node_count
        self.classes = symmetry.link_orbit_count if symmetry else network.link_count
        self.link_class = np.zeros(0, np.int32)
        if symmetry and not symmetry.by_generator:
            self.link_class = symmetry.link_orbit(np.arange(network.link_count)).astype(np.int32)
        uniform = network.uniform_capacity
        self.capacity = network.link_capacity if uniform is None else np.array([uniform], np.int32)

    def judge_sums(self) -> bool:
        """Judge reductions in which a node sends more than once by the rule of partial sums; say whether there are any.

        The rule without sets, for packets that each node sends once, is the same rule for those.
        """
        packets = summed_packets(self.schedule)
        kind = np.broadcast_to(self.kind, packets.shape)
        again = packets & (kind == COMBINE)
        if again.any():
            self.kind, self.summed = np.where(again, PARTIAL_SUMS, kind).astype(np.uint8), True
        return bool(again.any())

    def holding_at_start(self) -> npt.NDArray[np.uint8]:
        """Return the bit table of what each origin of a copied message holds, and each contributor that is listed."""
        held = self.shares() if not self.to_all else self.bits()
        rows = np.flatnonzero(np.broadcast_to(self.kind == COPY, self.origin.shape))
        if rows.size and self.row_bytes:
            place = rows * np.int64(self.row_bytes) + (self.origin[rows] >> 3)
            held[place] |= (1 << (self.origin[rows] & 7)).astype(np.uint8)
        return held

    def shares(self) -> npt.NDArray[np.uint8]:
        """Return the bit table of the listed contributors of each packet of a reduction."""
        held = self.bits()
        packets = np.flatnonzero(np.broadcast_to(self.kind == COMBINE, self.origin.shape))
        rows = self.row_of[packets]
        packets, rows = packets[rows >= 0], rows[rows >= 0]
        if packets.size and self.row_bytes:
            start = np.asarray(self.target_start, np.int64)
            first = start[rows]
            count = start[rows + 1] - first
            place = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
            node = self.targets[place]
            np.bitwise_or.at(
                held,
                np.repeat(packets, count) * np.int64(self.row_bytes) + (node >> 3),
                (1 << (node & 7)).astype(np.uint8),
            )
        return held

    def bits(self) -> npt.NDArray[np.uint8]:
        """Return an empty bit table."""
        return np.zeros(max(self.row_bytes * self.schedule.packets.count, 1), np.uint8)


def plain_schedule(schedule: HopTable, state: ReplayState) -> bool:
    """Return whether every hop ends with its slot, switches do what terminals do, and no sets are needed."""
    if state.summed:
        return False
    network, rules = schedule.network, schedule.rules.on(schedule.network)
    if not network.plain or network.terminal_count == network.node_count:
        return network.plain
    copies, combines = (bool((state.kind == kind).any()) for kind in (COPY, COMBINE))
    return not rules.cut_through and (rules.replication or not copies) and (rules.reduction or not combines)
