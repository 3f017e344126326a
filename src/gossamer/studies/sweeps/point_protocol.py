"""What an engine asks of a point, what a store asks besides, and the writer of what came of it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gossamer.processes.work_items import Point, Progress

__all__ = ["Line", "Point", "Progress", "StoredPoint", "canonical", "file_contents", "identity"]

# What makes two points the same: a hash of everything that affects what comes of them.

_MOST_NAME = 400


def canonical(description: Mapping[str, Any]) -> str:
    """Return a description as text that is the same for equal descriptions.

    >>> canonical({"b": 1, "a": [1.5, None]})
    '{"a":[1.5,null],"b":1}'
    """
    return json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def identity(description: Mapping[str, Any]) -> str:
    """Return the identity of what a description describes: 32 hexadecimal digits.

    >>> identity({"kind": "plan", "network": "ring:4"}) == identity({"network": "ring:4", "kind": "plan"})
    True
    """
    return hashlib.blake2b(canonical(description).encode(), digest_size=16).hexdigest()


def file_contents(words: Mapping[str, Any]) -> dict[str, str]:
    """Return, for each word that names a file, a hash of what is in it: a changed file makes another point.

    A file counts that is the whole text, or stands in it after a colon as in ``edges:net.txt``.
    """
    found: dict[str, str] = {}
    for name, value in words.items():
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
            if not isinstance(text, str):
                continue
            for part in {text, *re.findall(r":([^:()]+)", text)}:
                if part and len(part) < _MOST_NAME and (seen := _content(part.strip())) is not None:
                    found[f"{name}:{part.strip()}"] = seen
    return found


def _content(path: str) -> str | None:
    try:
        told = Path(path).stat()
    except (OSError, ValueError):
        return None
    if not Path(path).is_file():
        return None
    return _hashed(os.path.realpath(path), told.st_mtime_ns, told.st_size)


@functools.lru_cache(maxsize=256)
def _hashed(path: str, changed: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


class Line(Protocol):
    """What came of a point: one line of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the line by column, plain values only."""


@runtime_checkable
class StoredPoint(Protocol):
    """A point whose result can be kept: it says all that affects the result, and the result is a line of plain values.

    The result must not hold what differs from run to run, such as the time it took.
    """

    @property
    def title(self) -> str:
        """What is looked at, in a few words."""

    def describe(self) -> Mapping[str, Any]:
        """Return plain values that say all that affects the result."""

    def run(self, progress: Progress) -> Mapping[str, Any]:
        """Carry it out and return numbers, texts, truth values, or None, by name."""
