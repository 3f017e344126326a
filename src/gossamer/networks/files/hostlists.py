"""Host lists, in which ``node[1-3,7]`` stands for four names."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

from gossamer.errors import FileFormatError, shown

__all__ = ["MOST_NAMES", "expanded", "folded"]

MOST_NAMES = 10_000_000
"""How many names one list may stand for."""

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expanded(text: str, where: str) -> list[str]:
    """Return the names that a host list stands for.

    Parameters
    ----------
    text : str
        Names separated by commas; in each, brackets hold numbers and ranges. The last bracket runs fastest, and a range
        whose first number has leading zeros keeps its width.
    where : str
        The place that messages name.

    Raises
    ------
    FileFormatError
        If brackets do not match, a range is malformed or empty, or there would be over 10,000,000 names.

    Examples
    --------
    >>> expanded("rack[0-1]n[08-10],login", "line 1")
    ['rack0n08', 'rack0n09', 'rack0n10', 'rack1n08', 'rack1n09', 'rack1n10', 'login']
    """
    names: list[str] = []
    for word in re.split(r",(?![^\[]*\])", text):
        if not word.strip():
            raise FileFormatError(f"{where}: a name is missing in {shown(text)}")
        pieces = list(_PIECE.finditer(word))
        if sum(len(p[0]) for p in pieces) != len(word):
            raise FileFormatError(f"{where}: brackets do not match in {shown(word)}")
        spans: list[list[tuple[str, int | None, int]]] = [
            _spans(p[1], word, where) if p[2] is None else [(p[2], None, 0)] for p in pieces
        ]
        count = math.prod(sum(1 if s[1] is None else s[1] - int(s[0]) + 1 for s in span) for span in spans)
        if len(names) + count > MOST_NAMES:
            raise FileFormatError(f"{where}: {shown(text)} stands for over {MOST_NAMES:,} names")
        names += map("".join, itertools.product(*map(_words, spans)))
    return names


def _spans(text: str, word: str, where: str) -> list[tuple[str, int | None, int]]:
    """Return first number, last number and width of each range in a bracket."""
    found: list[tuple[str, int | None, int]] = []
    for part in text.split(","):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
            raise FileFormatError(f"{where}: a range must be such as 0-7, got {shown(part)} in {shown(word)}")
        found.append((ends[1], int(ends[2] or ends[1]), len(ends[1])))
    return found


def _words(span: list[tuple[str, int | None, int]]) -> list[str]:
    return [
        word
        for first, last, width in span
        for word in ([first] if last is None else (f"{i:0{width}d}" for i in range(int(first), last + 1)))
    ]


def folded(numbers: Iterable[int]) -> str:
    """Return a bracket for increasing numbers.

    >>> folded([0, 1, 2, 7])
    '[0-2,7]'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return f"[{','.join(str(a) if a == b else f'{a}-{b}' for a, b in spans)}]"
