"""Columns of a schedule: what they may hold, and which rows of them belong to a phase."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import reading
from gossamer.errors import ScheduleError

# Columns of numbers as text: base64 of a zlib stream of little-endian numbers, or of their differences.


def packed(values: npt.NDArray[Any]) -> str:
    """Return the base64 text of a zlib stream of little-endian numbers.

    >>> import numpy as np
    >>> np.frombuffer(unpacked(packed(np.array([5, 7], "<i4")), 8, "two numbers"), "<i4").tolist()
    [5, 7]
    """
    kind = values.dtype.newbyteorder("<")
    return base64.b64encode(zlib.compress(values.astype(kind, copy=False).tobytes(), 6)).decode()


def unpacked(text: str, most: int, what: str) -> bytes:
    """Return what was packed; ValueError if it is truncated or more than `most` bytes."""
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(text), most + 1)
    if len(raw) > most:
        raise ValueError(f"{what} would take more than {most:,} bytes")
    if not unpacking.eof:
        raise ValueError(f"{what} are truncated")
    return raw


def packed_differences(values: npt.NDArray[Any]) -> str:
    """Return a column of int32 or int64 packed, each number less the one before it.

    >>> import numpy as np
    >>> unpacked_differences(packed_differences(np.arange(3, 6, dtype=np.int32)), 3, "three numbers")
    array([3, 4, 5], dtype=int32)
    """
    return packed(np.diff(values, prepend=values.dtype.type(0)))


def unpacked_differences(text: str, count: int, what: str) -> npt.NDArray[Any]:
    """Return the `count` numbers that `packed_differences` packed; ValueError if there are others."""
    if not isinstance(text, str):
        raise ValueError(f"{what} is not packed")
    raw = unpacked(text, 8 * count, f"the numbers of {what}")
    if len(raw) not in (4 * count, 8 * count):
        raise ValueError(f"{what} has {len(raw)} bytes for {count} numbers of 4 or 8 bytes")
    kind = np.int32 if len(raw) == 4 * count else np.int64
    return np.cumsum(np.frombuffer(raw, np.dtype(kind).newbyteorder("<")), dtype=kind)


MOST = 2**31 - 1
"""The largest number of slots, steps or parts."""


def column(values: npt.ArrayLike, name: str, dtype: type = np.int32, dimensions: int = 1) -> Any:
    """Return a read-only column of integers of `dtype`, or raise a ScheduleError that calls it `name`.

    An array that is one already is taken over without a copy.
    """
    array = np.asarray(values)
    if array.ndim != dimensions:
        shape = "be one-dimensional" if dimensions == 1 else f"have {dimensions} dimensions"
        raise ScheduleError(f"column {name!r} must {shape}, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ScheduleError(f"column {name!r} must hold integers, got {array.dtype}")
    if array.size and array.dtype != dtype:
        info = np.iinfo(dtype)
        if int(array.min()) < info.min or int(array.max()) > info.max:
            raise ScheduleError(f"column {name!r} has values outside {info.min}..{info.max}")
    array = np.ascontiguousarray(array, dtype=dtype)
    array.flags.writeable = False
    return array


def check_range(values: npt.NDArray[Any], name: str, low: int, high: int) -> None:
    """Raise a ScheduleError if a column, which is not empty, has values outside ``low..high``."""
    least, most = int(values.min()), int(values.max())
    if least < low or most > high:
        raise ScheduleError(f"column {name!r} must be {low}..{high}, got {least}..{most}")


def whole(value: Any, what: str, least: int = 0) -> int:
    """Return a whole number of at least `least` that fits a column, or raise a ScheduleError that calls it `what`."""
    return reading.whole(value, what, least, MOST, error=ScheduleError)


def phase_rows(times: npt.NDArray[Any], names: Sequence[str], starts: Sequence[int], phase: int | str) -> slice:
    """Return the rows of one of the phases that follow each other.

    `times`, int32[H]: the slot or step of each row, ascending. `names`: of the phases. `starts`: the first slot or step
    of each phase, and the first after the last one. `phase`: position or name.

    Raises ScheduleError if there is no such phase.

    >>> phase_rows(np.array([0, 0, 1, 4]), ["up", "down"], [0, 1, 5], "down")
    slice(2, 4, None)
    """
    if isinstance(phase, str):
        if phase not in names:
            raise ScheduleError(f"no phase is called {phase!r}; the phases are {', '.join(names)}")
        phase = names.index(phase)
    if not 0 <= (phase := whole(phase, "a phase", -MOST)) < len(names):
        raise ScheduleError(f"phase {phase} is outside the {len(names)} phases of the schedule")
    low, high = np.searchsorted(times, [starts[phase], starts[phase + 1]])
    return slice(int(low), int(high))
