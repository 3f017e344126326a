"""What a file that holds a schedule gives: its description and its columns, and how much memory it may ask for."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from gossamer.errors import FileFormatError, GossamerError
from gossamer.writing import memory_text

__all__ = ["DAMAGE", "Columns", "Room", "Rows", "Section", "Stored", "is_text", "whole_schedule"]

DAMAGE = (
    *(GossamerError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, OSError, zlib.error),
    MemoryError,
)
"""What goes wrong when a tampered description or column is read."""

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Columns of a table by name."""


class Rows(NamedTuple):
    """What to read of a table.

    Attributes
    ----------
    names : sequence of str
        Its columns.
    size : int or None
        Rows that it must have; None for whatever is left.
    what : str
        What a row is, for errors.
    section : Section
        Its name, and how a row stands in a text file.
    told : sequence of str
        Further columns of a Parquet file, which say again what follows from the others.
    compare : callable
        Takes the number of the first of some rows and all their columns by name; ValueError if what they tell does
        not follow.
    """

    names: Sequence[str]
    size: int | None
    what: str
    section: Section
    told: Sequence[str] = ()
    compare: Callable[[int, Columns], None] = lambda first, columns: None


class Section(NamedTuple):
    """How the rows of a table stand in a text file.

    Attributes
    ----------
    name : str
        Of the table.
    line : str
        A row, with columns in braces: ``{number}`` is the number of the row, from 0; ``{packet:control}`` is the word
        ``control`` where the column has -1. It ends with a column.
    """

    name: str
    line: str


class Room:
    """The memory that a file may ask for: 400 MB or some times its size, whichever is more.

    What a file describes is small where the file is; so a small file that asks for gigabytes is damaged or hostile,
    and is refused by arithmetic before anything is built.
    """

    def __init__(self, size: int, times: int = 20) -> None:
        self.size = size
        self.left = max(400_000_000, times * size)

    def take(self, amount: int, what: str) -> None:
        """Set memory aside for `what`; ValueError if there is not as much left."""
        if amount > self.left:
            raise ValueError(
                f"{what} would take {memory_text(amount)}, too much for a file of {memory_text(self.size)}"
            )
        self.left -= amount


class Stored(NamedTuple):
    """An open file: its name, its description, the memory that it may ask for, and a reader of its tables, in order.

    `text` says whether the file is in text form, where hops name the ends of links.
    """

    name: str
    header: dict[str, Any]
    room: Room
    read: Callable[[Sequence[Rows]], dict[str, npt.NDArray[Any]]]
    text: bool = False


def is_text(path: str | os.PathLike[str]) -> bool:
    """Return whether a file of this name holds a schedule as text: its suffix is ``.txt``."""
    return Path(path).suffix.lower() == ".txt"


@contextmanager
def whole_schedule(name: str) -> Iterator[None]:
    """Turn what goes wrong while the block reads a damaged file into one FileFormatError of one line."""
    import pyarrow as pa

    try:
        yield
    except FileFormatError:
        raise
    except (*DAMAGE, pa.ArrowException) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        reason = reason or "it does not fit in memory"
        raise FileFormatError(f"{name!r} does not hold a whole schedule: {reason}") from None
