"""What a format is, and what is handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.programs import Operations, Program, lower
from gossamer.programs.layout import blocks_of_message
from gossamer.schedules import Schedule, Timeline, timeline

__all__ = ["Format", "Plan", "earlier_on_link", "no_limits"]


class Plan:
    """A schedule that is handed on, with its program and its timeline made when asked for.

    Parameters
    ----------
    schedule : Schedule
        What is handed on.
    message_bytes : int
        Bytes of a message.

    Attributes
    ----------
    parts : int
        Blocks that a message is.
    part_bytes : int
        Bytes of a block, rounded up.
    """

    def __init__(self, schedule: Schedule, message_bytes: int) -> None:
        self.schedule = schedule
        self.message_bytes = message_bytes
        self.parts = blocks_of_message(schedule)
        self.part_bytes = -(-message_bytes // self.parts)

    @cached_property
    def program(self) -> Program:
        """What each rank does."""
        return lower(self.schedule)

    @cached_property
    def timeline(self) -> Timeline:
        """What crosses from node to node, from when to when."""
        return timeline(self.schedule)


def no_limits(plan: Plan) -> Iterator[str]:
    """Name no limit: what reads the format takes everything."""
    return iter(())


@dataclass(frozen=True)
class Format:
    """A format that schedules are written in; a line of `gossamer.interchange.FORMATS`.

    Attributes
    ----------
    name : str
        What it is asked for by.
    summary : str
        What is written, and what reads it.
    write : callable
        Takes the plan and the path of a file, or of an empty folder, and writes it.
    limits : callable
        Takes the plan and yields, in sentences, what the program that reads the format cannot take.
    folder : bool
        Whether it is a folder of files.
    sized : bool
        Whether the bytes of a message stand in it.
    """

    name: str
    summary: str
    write: Callable[[Plan, Path], None]
    limits: Callable[[Plan], Iterator[str]] = no_limits
    folder: bool = False
    sized: bool = False


def earlier_on_link(mine: Operations) -> npt.NDArray[np.int32]:
    """Return the operation that each operation follows on its link, in its direction; -1 for the first.

    >>> import gossamer
    >>> earlier_on_link(gossamer.lower(gossamer.plan("ring:4", "allgather").schedule).rank(0)).tolist()
    [-1, -1, -1, -1, 0, 2]
    """
    line = mine.peer.astype(np.int64) * 2 + (mine.kind == 0)
    order = np.argsort(line, kind="stable")
    earlier = np.full(mine.count, -1, np.int32)
    same = line[order[1:]] == line[order[:-1]]
    earlier[order[1:][same]] = order[:-1][same]
    return earlier
