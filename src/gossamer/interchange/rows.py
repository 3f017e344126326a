"""Rows of text with numbers in them, written fast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["RowText"]

_ROWS = 1 << 17
"""Rows written at once, so that the text held is a few MB."""


class RowText:
    r"""Templates of rows, such as ``"{0} isend {1} 0 {2}\n"``; a number in braces is a column.

    Examples
    --------
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

        Parameters
        ----------
        which : array_like of int, shape (K,) or ()
            The template of each row, or of all.
        columns : sequence of array_like of int, shape (K,) or ()
            What stands in the braces.
        """
        from gossamer.interchange import _kernels

        arrays = np.broadcast_arrays(which, *(np.asarray(c, np.int64) for c in columns))
        count = arrays[0].size
        out = np.empty(min(count, _ROWS) * self._longest, np.uint8)
        for a in range(0, count, _ROWS):
            chosen, *numbers = (c.reshape(-1)[a : a + _ROWS] for c in arrays)
            table = np.ascontiguousarray(np.stack(numbers)) if numbers else np.zeros((1, chosen.size), np.int64)
            size = _kernels.format_rows(
                np.ascontiguousarray(chosen, np.int64), table, self._first, self._start, self._column,
                self._literals, out,
            )  # fmt: skip
            yield out[:size].tobytes()
