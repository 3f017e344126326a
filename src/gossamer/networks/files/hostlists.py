"""Host lists, in which ``node[1-3,7]`` stands for four names."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

from gossamer.errors import FileFormatError, shown

__all__ = ["MOST_NAMES", "expanded", "folded"]

MOST_NAMES = 800_000
"""How many names the lists of a file may stand for: each takes about 600 bytes in a network."""

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expanded(text: str, where: str, known: int = 0) -> list[str]:
    """Return the names that a host list stands for.

    Parameters
    ----------
    text : str
        Names separated by commas; in each, brackets hold numbers and ranges. The last bracket runs fastest, and a range
        whose first number has leading zeros keeps its width.
    where : str
        The place that messages name.
    known : int
        Names that the file has said before.

    Raises
    ------
    FileFormatError
        If brackets do not match, a range is malformed or empty, or there would be over 800,000 names.

    Examples
    --------
    >>> expanded("rack[0-1]n[08-10],login", "line 1")
    ['rack0n08', 'rack0n09', 'rack0n10', 'rack1n08', 'rack1n09', 'rack1n10', 'login']
    """
    names: list[str] = []
    for word in _split(text):
        if not word.strip():
            raise FileFormatError(f"{where}: a name is missing in {shown(text)}")
        pieces = list(_PIECE.finditer(word))
        if sum(len(p[0]) for p in pieces) != len(word):
            raise FileFormatError(f"{where}: brackets do not match in {shown(word)}")
        spans: list[list[tuple[str, int | None, int]]] = [
            _spans(p[1], word, where) if p[2] is None else [(p[2], None, 0)] for p in pieces
        ]
        count = math.prod(sum(1 if s[1] is None else s[1] - int(s[0]) + 1 for s in span) for span in spans)
        if known + len(names) + count > MOST_NAMES:
            raise FileFormatError(f"{where}: with {shown(text)} the file has over {MOST_NAMES:,} names")
        names += map("".join, itertools.product(*map(_words, spans)))
    return names


def _split(text: str) -> list[str]:
    """Return the parts of a text between commas, but for those that a bracket closes behind."""
    *closed, rest = text.split("]")
    found: list[list[str]] = [[]]
    for segment in closed:
        before, bracket, inside = segment.rpartition("[")
        first, *others = before.split(",")
        found[-1].append(first)
        found += [[part] for part in others]
        found[-1].append(f"{bracket}{inside}]")
    first, *others = rest.split(",")
    found[-1].append(first)
    return ["".join(parts) for parts in found] + others


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
