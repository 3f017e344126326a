"""Tables 5.1 and 5.2 of Dimakopoulos 1996: when the messages of one node are sent by algorithms A2 and A3."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gossamer.planning.planner import plan
from gossamer.questions.rules import Rules
from gossamer.schedules import Schedule
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES", "trips"]


def trips(schedule: Schedule, origin: int) -> dict[int, tuple[int, int]]:
    """Return the steps, from 1, in which each message of a node leaves it and arrives, by destination.

    Examples
    --------
    >>> trips(plan("array:3", "total-exchange").schedule, 0)
    {1: (2, 2), 2: (1, 2)}
    """
    explicit = schedule.expand() if schedule.invariant else schedule
    network = explicit.network
    message = explicit.packets.message[explicit.packet]
    found = {}
    for to in range(network.terminal_count):
        hops = np.flatnonzero(message == origin * network.terminal_count + to)
        if to != origin:
            found[to] = (int(explicit.slot[hops].min()) + 1, int(explicit.slot[hops].max()) + 1)
    return found


def _of_node(schedule: Schedule, columns: int) -> list[tuple[Cell, ...]]:
    sent = trips(schedule, 0)
    rows = -(-(len(sent) + 1) // columns)
    steps = {to: str(out) if out == there else f"{out} to {there}" for to, (out, there) in sent.items()}
    return [(f"v_{r + 1}", *(steps.get(r * columns + c, "") for c in range(columns))) for r in range(rows)]


def messages_of_a2() -> Table:
    """Table 5.1: the messages of node (v_1, u_1) of the 4 x 3 torus of Fig. 5.1, by algorithm A2."""
    made = plan("torus:4x3", "total-exchange", algorithm="two-phase-product", rules=Rules(ports="one")).schedule
    return Table(
        "Messages to be transferred from s = (v_1, u_1), 4 x 3 torus (Table 5.1)",
        ("m_s of", "u_1", "u_2", "u_3"),
        tuple(_of_node(made, 3)),
        "The steps from which and until which m_s(v_r, u_c) travels by algorithm A2. Row r is the batch R_r of the "
        "r-th total exchange in the copies of B, the rings of 3; the total exchanges in the copies of A follow.",
    )


def messages_of_a3() -> Table:
    """Table 5.2: the messages of node (1, 1) of the 3 x 3 mesh of Fig. 5.4, by algorithm A3."""
    made = plan("array:3x3", "total-exchange", algorithm="homogeneous-product").schedule
    return Table(
        "Messages to be transferred from node (1, 1), 3 x 3 mesh (Table 5.2)",
        ("m of (1, 1)", "1", "2", "3"),
        tuple((str(r + 1), *row[1:]) for r, row in enumerate(_of_node(made, 3))),
        "The steps from which and until which the message to (row, column) travels by algorithm A3, in 6 steps in all.",
    )


TABLES: tuple[Callable[[], Table], ...] = (messages_of_a2, messages_of_a3)
"""The functions that make the tables."""
