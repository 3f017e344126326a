"""Edge lists of which every line is a pair of names, or a pair and a capacity: read as arrays, not line by line."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PlainEdges", "plain_edges"]

_DIGITS = 9
"""Of a capacity, or of a number for a name, that is read here."""
_WIDEST = 64
"""Characters of a name that is read here."""
_SPACE, _LETTER = 1, 2
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b" \t\r\n")] = _SPACE
_KINDS[0x21:0x7F] = _LETTER
_KINDS[ord('"')] = 0


class PlainEdges(NamedTuple):
    """What such a file says: E edges between N nodes, in the order of its lines.

    Parameters
    ----------
    letters : S[N]
        Names of the nodes, in the order in which the lines mention them.
    source, target : int32[E]
        Places of the ends of each edge among the names.
    capacity : int32[E] or int32[1]
        1 where none is given.
    """

    letters: npt.NDArray[np.bytes_]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int32]

    def names(self) -> list[str]:
        """Return the names as texts."""
        return [name.decode("ascii") for name in self.letters.tolist()]

    def numbers(self) -> npt.NDArray[np.int32] | None:
        """Return the numbers that the names are, if they are 0..N-1 and written without zeros in front."""
        nodes = self.letters.size
        width = self.letters.dtype.itemsize
        rows = self.letters.view(np.uint8).reshape(nodes, width)
        found = _numbers(rows.ravel(), np.arange(nodes) * width, np.strings.str_len(self.letters))
        if found is None or ((rows[:, 0] == ord("0")) & (found > 0)).any():
            return None
        there = np.zeros(nodes, np.bool_)
        there[found[found < nodes]] = True
        zero = self.letters[found == 0]
        return found if there.all() and zero[0] == b"0" else None

    def first_fault(self, one_way: bool) -> tuple[int, ...]:
        """Return the first edge that joins a node to itself or repeats one, and the one before it; nothing if none is.

        O(E log E) time.
        """
        ends = self.source, self.target
        if not one_way:
            ends = np.minimum(*ends), np.maximum(*ends)
        pair = ends[0] * np.int64(self.letters.size) + ends[1]
        first = pair.size
        ranked = np.sort(pair)
        if (ranked[1:] == ranked[:-1]).any():
            order = np.argsort(pair, kind="stable")
            first = order[1 + np.flatnonzero(pair[order[1:]] == pair[order[:-1]])].min()
        loops = np.flatnonzero(self.source == self.target)
        at = int(min(first, loops.min(initial=pair.size)))
        return () if at == pair.size else (at, int(np.flatnonzero(pair == pair[at])[0]))


def plain_edges(data: bytes, statements: Collection[str] = ()) -> PlainEdges | None:
    r"""Return the edges of a file of lines ``u v``, or of lines ``u v capacity``; None if anything else stands in it.

    Parameters
    ----------
    data : bytes
        The file. Comments from ``#`` on, and empty lines, are passed over.
    statements : collection of str
        Words that are no names.

    Notes
    -----
    O(n log n) time for n bytes, and memory for about twenty times as many.

    Examples
    --------
    >>> found = plain_edges(b"# a path\nb a\n\na c\n")
    >>> found.names(), found.source.tolist(), found.target.tolist()
    (['b', 'a', 'c'], [0, 1], [1, 2])
    >>> plain_edges(b"one-way\na b\n") is None
    True
    """
    if b"#" in data:
        data = re.sub(rb"#[^\n]*", b"", data)
    text = np.frombuffer(data + b"\n", np.uint8)
    kinds = _KINDS[text]
    if not kinds.all() or not (kinds == _LETTER).any() or text.size > 2**31:
        return None
    edge = np.diff(kinds, prepend=np.uint8(_SPACE))  # 1 where a word begins, 255 where it has ended
    start = np.flatnonzero(edge == 1).astype(np.int32)
    length = np.flatnonzero(edge == 255).astype(np.int32) - start
    del kinds, edge
    count = _words_of_each_line(text, start)
    if count is None:
        return None
    starts, lengths = start.reshape(-1, count), length.reshape(-1, count)
    capacity = np.ones(1, np.int32) if count == 2 else _numbers(text, starts[:, 2], lengths[:, 2])
    if capacity is None or not capacity.all():
        return None
    found = _named(text, starts[:, :2].ravel(), lengths[:, :2].ravel())
    if found is None or np.isin(found[0], [word.encode() for word in statements]).any():
        return None
    letters, place = found
    return PlainEdges(letters, place[::2], place[1::2], capacity)


def _words_of_each_line(text: npt.NDArray[np.uint8], start: npt.NDArray[np.int32]) -> int | None:
    """Return how many words every line has that has any, if that is two or three."""
    line = np.searchsorted(np.flatnonzero(text == ord("\n")), start).astype(np.int32)
    count = 3 if line.size > 2 and line[2] == line[0] else 2
    if line.size % count:
        return None
    first, last = line[::count], line[count - 1 :: count]
    return count if (first == last).all() and (first[1:] != last[:-1]).all() else None


def _numbers(
    text: npt.NDArray[np.uint8], start: npt.NDArray[np.integer], length: npt.NDArray[np.integer]
) -> npt.NDArray[np.int32] | None:
    """Return the numbers that stand at places of a text; None if one is something else, or large."""
    value = np.zeros(start.size, np.int32)
    if length.max() > _DIGITS:
        return None
    for k in range(int(length.max())):
        there = np.flatnonzero(k < length)
        digit = text[start[there] + k] - np.uint8(ord("0"))
        if (digit > 9).any():
            return None
        value[there] = value[there] * 10 + digit
    return value


def _named(
    text: npt.NDArray[np.uint8], start: npt.NDArray[np.int32], length: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.bytes_], npt.NDArray[np.int32]] | None:
    """Return the words at places of a text, each once and in their order, and which of them stands where."""
    width = next((w for w in (4, 8, _WIDEST) if length.max() <= w), None)
    if width == _WIDEST:
        width = int(length.max())
    if width is None or width * start.size > 10 * max(text.size, 1000):
        return None
    letters = np.zeros((start.size, width), np.uint8)
    for k in range(width):
        there = np.flatnonzero(k < length)
        letters[there, k] = text[start[there] + k]
    words = letters.view({4: ">u4", 8: ">u8"}.get(width, f"S{width}")).ravel()
    order = np.argsort(words, kind="stable")
    ranked = words[order]
    new = np.ones(words.size, np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    del ranked, words
    first = order[new]  # of each name, by name
    which = np.empty(order.size, np.int32)
    which[order] = np.cumsum(new, dtype=np.int32) - 1
    by_place = np.argsort(first)
    rank = np.empty(first.size, np.int32)
    rank[by_place] = np.arange(first.size, dtype=np.int32)
    return letters[first[by_place]].view(f"S{width}").ravel(), rank[which]
