"""Schedules for nodes with one port, from schedules for all ports: each step becomes several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["with_limited_ports"]


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
    >>> from gossamer.wormhole.sequential import sequential_broadcasts
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
