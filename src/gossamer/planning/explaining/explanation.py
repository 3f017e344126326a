"""What an explanation is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.bounds import Bound
from gossamer.errors import ScheduleError
from gossamer.networks.network import Network
from gossamer.schedules import Hop
from gossamer.schedules.wormhole.worm_descriptions import Worm

__all__ = ["ExplainedPart", "Explanation", "at_node", "message_row", "why"]

_DENOMINATOR = 60
"""The largest denominator that is written out."""


@dataclass(frozen=True)
class Explanation:
    """What happens in a schedule, or in a part of it, in words.

    Attributes
    ----------
    title : str
        What is explained.
    lines : tuple of str
        In the order in which it happens.
    why : tuple of str
        Why the schedule cannot be faster, or how far from that it is.
    hops : tuple of Hop or of Worm
        The hops, or wormhole messages, that the lines speak of.
    bound : Bound
        The largest lower bound, with its witness.
    """

    title: str
    lines: tuple[str, ...]
    why: tuple[str, ...]
    hops: tuple[Hop | Worm, ...]
    bound: Bound

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines), *self.why])


@dataclass(frozen=True)
class ExplainedPart:
    """What happens: a title, lines, and the hops or worms that they speak of."""

    title: str
    lines: Sequence[str]
    hops: Sequence[Hop | Worm] = ()


def why(time: Fraction, bound: Bound) -> Iterator[str]:
    """Yield why what takes a time cannot be faster, by the witness of the largest bound."""
    if time == bound.value:
        yield f"{_none(bound)} is faster than {_time(time, bound.unit)}: {bound.witness}"
    else:
        least = _number(bound.value)
        yield f"this takes {_time(time, bound.unit)}; {_none(bound)} takes less than {least}: {bound.witness}"
        yield f"whether any of the {_time(time - bound.value, bound.unit)} between can be saved is not known"


def _none(bound: Bound) -> str:
    return f"none of the {bound.scope}" if bound.scope else "no schedule"


def _time(time: Fraction, unit: str) -> str:
    return f"{_number(time)} {unit}{'' if time == 1 else 's'}"


def _number(value: Fraction) -> str:
    """Return a number as it is, or with six digits if its fraction is none that people read."""
    return str(value) if value.denominator <= _DENOMINATOR else f"{float(value):.6g}"


def message_row(schedule: Any, message: int) -> int:
    """Return the row of a message of the task; ScheduleError if there is none."""
    ids = schedule.messages.ids
    row = int(np.searchsorted(ids, message))
    if row == ids.size or ids[row] != message:
        where = f"{schedule.task.name} on {schedule.network.spec}"
        raise ScheduleError(f"{where} has no message {message}; there are {_some(ids)}")
    return row


def at_node(network: Network, node: int, moves: Sequence[Hop | Worm], time: str) -> tuple[str, list[str]]:
    """Return what a node is called, and what it sends and gets, a line for each time of a name ("slot", "step")."""
    lines = []
    for at, group in groupby(moves, key=attrgetter(time)):
        mine = list(group)
        there = _together((_carried(m), network.node_name(m.target)) for m in mine if m.source == node)
        back = _together((_carried(m), network.node_name(m.source)) for m in mine if m.target == node)
        lines += [f"{time} {at}: sends {what} to {', '.join(names)}" for what, names in there]
        lines += [f"{time} {at}: gets {what} from {', '.join(names)}" for what, names in back]
    kind = "switch" if node >= network.terminal_count else "node"
    return f"{kind} {network.node_name(node)}", lines or ["it neither sends nor gets anything"]


def _carried(move: Hop | Worm) -> str:
    """Return what a hop or worm carries, out of its words."""
    return move.text.partition(" sends ")[2].partition(" by way of ")[0].rpartition(" to ")[0]


def _together(items: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return what goes to several, or comes from several, once with all their names."""
    found: dict[str, list[str]] = {}
    for what, name in items:
        found.setdefault(what, []).append(name)
    return list(found.items())


def _some(ids: npt.NDArray[np.int64]) -> str:
    if ids.size and int(ids[-1]) - int(ids[0]) + 1 == ids.size:
        return f"{ids[0]}..{ids[-1]}"
    return ", ".join(map(str, ids[:5].tolist())) + (", ..." if ids.size > 5 else "")
