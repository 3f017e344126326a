"""Deadlocks: messages that wait for each other in a circle, found and named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gossamer.simulation.flits.fabric import Fabric

if TYPE_CHECKING:
    from gossamer.simulation.flits._kernels import State

__all__ = ["Deadlock", "find_deadlock"]

_NAMED = 8


@dataclass(frozen=True)
class Deadlock:
    """A circle of virtual channels, each full of flits that wait for the next.

    Attributes
    ----------
    cycle : int
        When it was found.
    channels : tuple of int
        Channels of the `Fabric`.
    virtual_channels : tuple of int
        The virtual channel of each.
    blocked : int
        Queues whose front flit can never leave, with those behind the circle.
    text : str
        The same in words.
    """

    cycle: int
    channels: tuple[int, ...]
    virtual_channels: tuple[int, ...]
    blocked: int
    text: str

    def __str__(self) -> str:
        return self.text


def find_deadlock(fabric: Fabric, state: State) -> Deadlock | None:
    """Return a deadlock among the flits in the network, or None if every one of them can still leave.

    Notes
    -----
    A queue is alive if its front flit can leave the network, enter a free slot, or take a free virtual channel, or if
    what it waits for is alive. The others wait for ever. O(queues) for each link of the longest chain of waits.
    """
    from gossamer.simulation.flits import _kernels

    live = np.zeros(len(state.queue), np.bool_)
    _kernels.mark_live(state, live)
    dead = np.flatnonzero(~live & (state.queue[:, _kernels.HELD] > 0))
    if not dead.size:
        return None
    order: dict[int, int] = {}
    q = int(dead[0])
    while q not in order:
        order[q] = len(order)
        q = int(_kernels.next_in_wait(state, live, q))
    circle = list(order)[order[q] :]
    lanes, links = int(state.rules[_kernels.LANES]), int(state.rules[_kernels.LINKS])
    held = [divmod(q, lanes) for q in circle if q < links * lanes]
    cycle = int(state.counters[_kernels.NOW])
    names = [f"{fabric.name(c)} virtual channel {v}" for c, v in held]
    shown = ", which waits for ".join(names[:_NAMED])
    rest = f", ... ({len(names)} channels in all)" if len(names) > _NAMED else ""
    end = f"which waits for the first; {dead.size} queues are blocked for ever"
    text = f"deadlock found in cycle {cycle}: {shown}{rest}, {end}"
    return Deadlock(cycle, tuple(c for c, _ in held), tuple(v for _, v in held), int(dead.size), text)
