"""What a format is, what is handed on, and rows of text with numbers in them, written fast."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.programs import Operations, Program, lower
from gossamer.programs.layout import blocks_of_message
from gossamer.programs.single_ranks import between_ranks, lower_ranks
from gossamer.questions.tasks import Grouped, Task
from gossamer.schedules import Schedule, Timeline, timeline

__all__ = ["Format", "Plan", "RowText", "between_ranks", "earlier_on_link", "format_rows", "no_limits"]


class Plan:
    """A schedule that is handed on, with its program and its timeline made when asked for.

    Parameters
    ----------
    schedule : Schedule
        What is handed on. A task in one group of all terminals in their order is the task itself.
    message_bytes : int
        Bytes of a message.
    ranks_only : bool
        Whether switches are contracted, as `between_ranks` does: a program has ranks only.
    generations : int, optional
        Of a schedule that repeats: how many generations are handed on. Default: all.
    ranks : sequence of int, optional
        The ranks whose programs are handed on, made without those of the others. Default: all.

    Attributes
    ----------
    network : Network
        That of the schedule that was given, with its switches.
    parts : int
        Blocks that a message is.
    part_bytes : int
        Bytes of a block, rounded up.
    with_switches : bool
        Whether switches stand in the program beside the ranks.
    period : int, optional
        Slots after which what is handed on can be repeated, of a schedule of which some generations are.
    """

    def __init__(
        self,
        schedule: Schedule,
        message_bytes: int,
        ranks_only: bool = False,
        generations: int | None = None,
        ranks: Sequence[int] | None = None,
    ) -> None:
        repeats = None if generations is None else schedule.repetition
        self.period = None if repeats is None else repeats.period * (generations or 1)
        schedule = schedule if generations is None else schedule.unrolled(generations)
        task, everyone = schedule.task, tuple(range(schedule.network.terminal_count))
        if isinstance(task, Grouped) and task.groups == (everyone,):
            schedule = schedule.replace(task=task.task)
        self.network = schedule.network
        self.schedule = between_ranks(schedule) if ranks_only and ranks is None else schedule
        self._ranks, self.with_switches = ranks, not ranks_only
        self.message_bytes = message_bytes
        self.parts = blocks_of_message(schedule)
        self.part_bytes = -(-message_bytes // self.parts)

    @cached_property
    def program(self) -> Program:
        """What each rank does."""
        if self._ranks is not None:
            return lower_ranks(self.schedule, self._ranks, switches=self.with_switches)
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
    tasks : tuple of types of tasks
        The tasks that it has words for; empty where it has words for all.
    groups : bool
        Whether it can hold a task that is carried out in groups.
    slice_bytes : int
        Bytes of a chunk that what reads it moves at once, repeating all it does for the next so many; 0 where it does
        not. If it does, some generations are written of a schedule that repeats.
    switches : bool
        Whether switches stand in it beside the ranks; else they are contracted.
    of_links : bool
        Whether it shows when links carry what, and no program for ranks.
    by_rank : bool
        Whether it may hold some ranks only, each written from its own program as it stands among those of all.
    in_switches : bool
        Whether it can say that switches copy and add, where they do; `limits` names what of that it cannot.
    read : callable, optional
        Takes a file, a network and bytes of the collective, and reads a schedule; for formats whose files say all else.
    """

    name: str
    summary: str
    write: Callable[[Plan, Path], None]
    limits: Callable[[Plan], Iterator[str]] = no_limits
    folder: bool = False
    sized: bool = False
    tasks: tuple[type[Task], ...] = ()
    groups: bool = True
    slice_bytes: int = 0
    switches: bool = False
    of_links: bool = False
    by_rank: bool = False
    in_switches: bool = False
    read: Callable[[Path, Network, int | None], Schedule] | None = None

    def plan(
        self,
        schedule: Schedule,
        message_bytes: int,
        generations: int | None = None,
        ranks: Sequence[int] | None = None,
    ) -> Plan:
        """Return what is written of a schedule: its program with switches, without them, or with those that add."""
        try:
            found = Plan(schedule, message_bytes, not self.switches, generations, ranks)
            if self.in_switches and ranks is not None:
                _ = found.program  # of single ranks, it is said only here that switches copy or add
            return found
        except NotApplicableError:
            if not self.in_switches:
                raise
        return Plan(schedule, message_bytes, False, generations, ranks)


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


# Rows of text.


@njit(cache=True, nogil=True, inline="always")
def _digits(value, out, at):
    """Write a whole number in decimal digits; return where it ends."""
    if value < 0:
        out[at] = 45
        at += 1
        value = -value
    size = 1
    rest = value // 10
    while rest > 0:
        size += 1
        rest //= 10
    end = at + size
    for i in range(end - 1, at - 1, -1):
        out[i] = 48 + value % 10
        value //= 10
    return end


@njit(cache=True, nogil=True)
def format_rows(which, columns, first_piece, piece_start, piece_column, literals, out):
    """Write a row of text for each entry of `which`, the number of its template; return the size of all.

    A template is pieces ``first_piece[t]`` to ``first_piece[t + 1]``; a piece is the literal text from
    ``piece_start[i]`` to ``piece_start[i + 1]`` and then the row's number in ``columns[piece_column[i]]``, if not -1.
    """
    at = 0
    for row in range(which.size):
        t = which[row]
        for i in range(first_piece[t], first_piece[t + 1]):
            for j in range(piece_start[i], piece_start[i + 1]):
                out[at] = literals[j]
                at += 1
            if piece_column[i] >= 0:
                at = _digits(columns[piece_column[i], row], out, at)
    return at


_ROWS = 1 << 17
"""Rows written at once, so that the text held is a few MB."""


class RowText:
    r"""Templates of rows, such as ``"{0} isend {1} 0 {2}\n"``; a number in braces is a column.

    >>> text = RowText("send to {0} at {1}\n", "wait for {1}\n")
    >>> b"".join(text.rows([0, 1], [[7, 8], [100, 2]])).decode()
    'send to 7 at 100\nwait for 2\n'
    """

    def __init__(self, *templates: str) -> None:
        first, start, column, literals = [0], [0], [], b""
        longest = 0
        for template in templates:
            texts = re.split(r"\{(\d+)\}", template)
            size = 0
            for text, number in zip(texts[::2], [*texts[1::2], "-1"], strict=True):
                literals += text.encode()
                start.append(len(literals))
                column.append(int(number))
                size += len(text.encode()) + 20
            first.append(len(column))
            longest = max(longest, size)
        self._first, self._start = np.array(first, np.int64), np.array(start, np.int64)
        self._column, self._literals = np.array(column, np.int64), np.frombuffer(literals, np.uint8)
        self._longest = longest

    def rows(self, which: npt.ArrayLike, columns: Sequence[npt.ArrayLike]) -> Iterator[bytes]:
        """Yield the text of rows, of many at once.

        `which`: the template of each row, or of all. `columns`: what stands in the braces.
        """
        arrays = np.broadcast_arrays(which, *(np.asarray(c, np.int64) for c in columns))
        count = arrays[0].size
        out = np.empty(min(count, _ROWS) * self._longest, np.uint8)
        for a in range(0, count, _ROWS):
            chosen, *numbers = (c.reshape(-1)[a : a + _ROWS] for c in arrays)
            table = np.ascontiguousarray(np.stack(numbers)) if numbers else np.zeros((1, chosen.size), np.int64)
            size = format_rows(
                np.array(chosen, np.int64), table, self._first, self._start, self._column,
                self._literals, out,
            )  # fmt: skip
            yield out[:size].tobytes()
