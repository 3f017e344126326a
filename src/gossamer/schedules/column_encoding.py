"""Columns of numbers as text: base64 of a zlib stream of little-endian numbers, or of their differences."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["packed", "packed_differences", "unpacked", "unpacked_differences"]


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
