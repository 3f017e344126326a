"""The error family: one base class, one subclass for each kind of bad input.

Every message is one line: what was wrong, with the value given and what is allowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "FileFormatError",
    "GossamerError",
    "ModelError",
    "NetworkError",
    "NotApplicableError",
    "ScheduleError",
    "TaskError",
    "TooLargeError",
    "VerificationError",
    "few_of",
    "interrupt_behind",
    "nearest",
    "shown",
]


class GossamerError(Exception):
    """Base class of every error that gossamer raises on purpose."""


class NetworkError(GossamerError, ValueError):
    """A network, or the spec string of one, is malformed, too small or too large."""


class TaskError(GossamerError, ValueError):
    """A task is malformed or does not fit its network."""


class ModelError(GossamerError, ValueError):
    """Rules, a cost or another setting have an illegal value."""


class ScheduleError(GossamerError, ValueError):
    """The columns of a schedule have wrong shapes, ranges or order."""


class NotApplicableError(GossamerError, ValueError):
    """No algorithm, or not the one asked for, covers this network and task under these rules."""


class TooLargeError(GossamerError, MemoryError):
    """What is asked needs more memory than is allowed; nothing was begun."""


class VerificationError(GossamerError):
    """A schedule broke the rules; carries the violations in its text."""


class FileFormatError(GossamerError, ValueError):
    """A file cannot be read: missing, truncated, foreign, or of a newer version."""


def interrupt_behind(error: BaseException) -> BaseException | None:
    """Return the KeyboardInterrupt or SystemExit that became another error on its way; None if there is none.

    Numba makes a Python object of each array that a compiled function returns, and there a signal may be answered. What
    the answer raises comes out as a SystemError ("returned a result with an exception set") whose cause it is.

    >>> error = SystemError("returned a result with an exception set")
    >>> error.__cause__ = KeyboardInterrupt()
    >>> interrupt_behind(error), interrupt_behind(ValueError())
    (KeyboardInterrupt(), None)
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return cause if isinstance(cause, KeyboardInterrupt | SystemExit) else None


def nearest(given: str, allowed: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the allowed word closest to `given`, or an empty string.

    >>> nearest("tours", ["torus", "ring"])
    " (did you mean 'torus'?)"
    >>> nearest("q", ["H", "Q"])
    " (did you mean 'Q'?)"
    >>> nearest("zzz", ["torus", "ring"])
    ''
    """
    given, words = str(given), list(allowed)
    match = [word for word in words if word.lower() == given.lower()] or difflib.get_close_matches(given, words, n=1)
    return f" (did you mean {match[0]!r}?)" if match else ""


def few_of(given: str, allowed: Iterable[str], most: int = 4) -> str:
    """Return the few allowed words that are most like `given`, and how many others there are; all if they are few.

    >>> few_of("ring", ["torus", "multi-ring", "star", "array", "tree", "mesh", "string"], 3)
    'string, multi-ring, star and 4 others'
    >>> few_of("x", ["torus", "ring"])
    'torus, ring'
    """
    words, key = list(allowed), str(given).lower()[:60]
    if len(words) <= most + 1:
        return ", ".join(words)

    def likeness(word: str) -> tuple[bool, float]:
        parts = word.lower()
        return (bool(key) and (key in parts or parts in key)), difflib.SequenceMatcher(None, key, parts).ratio()

    chosen = sorted(words, key=likeness, reverse=True)[:most]
    return f"{', '.join(chosen)} and {len(words) - most} others"


def shown(value: object, width: int = 60) -> str:
    r"""Return `value` as a message prints it: its repr on one line, cut at `width` characters.

    Escape codes, line ends and what is not UTF-8 are printed escaped, as repr does.

    >>> shown("8 x 8"), shown("\x1b[31m"), shown("9" * 5000, 20)
    ("'8 x 8'", "'\\x1b[31m'", "'999999999999999 ...")
    """
    try:
        text = " ".join(repr(value[:width] if isinstance(value, str) else value).split())
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return "an integer of thousands of digits"
    long = len(text) > width or (isinstance(value, str) and len(value) > width)
    return text[: width - 4] + " ..." if long else text
