"""What to type next after an error: the command as it was meant, or one that tells what there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from gossamer.cli.command_group import EXAMPLES
from gossamer.errors import (
    FileFormatError,
    NetworkError,
    NotApplicableError,
    TaskError,
    TooLargeError,
    VerificationError,
)

__all__ = ["with_advice"]

_MEANT = re.compile(r"'([^']+)'[^']*\(did you mean '([^']+)'\?\)")
_TOO_FEW = re.compile(r"\bneeds (\w+) of at least (\d+)\b")
_OPTION = re.compile(r"[Nn]o such option:? '?(-[\w-]+)'?.*?(?:[Pp]ossible options|[Dd]id you mean)[: ]*'?(-[\w-]+)")
_NAMES_NEXT = re.compile(r"gossamer [a-z-]+ |pip install|'gossamer [a-z ]+'|\bsee gossamer\b")
_TOLD = (
    (NetworkError, "gossamer list networks"),
    (TaskError, "gossamer list tasks"),
    (NotApplicableError, "gossamer list algorithms"),
    (TooLargeError, "gossamer plan -h"),
    (VerificationError, "gossamer verify -h"),
)
_ABOUT_BOTH = ("plan", "compare", "bounds", "faults")
"""The commands whose first words are a network and a task."""


def with_advice(text: str, arguments: Sequence[str], error: Exception | None = None) -> str:
    """Return the text of an error with what to type next, where it does not say so itself.

    Parameters
    ----------
    text : str
        What was wrong, in one line.
    arguments : sequence of str
        What was typed after ``gossamer``.
    error : Exception, optional
        What was raised; bad usage of the command line if it is none of gossamer's errors.

    Examples
    --------
    >>> with_advice("unknown task 'algather' (did you mean 'allgather'?)", ["plan", "torus:8x8", "algather"])
    "unknown task 'algather' (did you mean 'allgather'?); try: gossamer plan torus:8x8 allgather"
    >>> with_advice("routing needs virtual_channels of at least 4 here", ["deadlock", "ring:4"])
    'routing needs virtual_channels of at least 4 here; try: gossamer deadlock ring:4 --virtual-channels 4'
    """
    meant = _as_meant(text, arguments)
    if meant:
        return f"{text}; try: {meant}"
    if _NAMES_NEXT.search(text):
        return text
    return f"{text}; try: {_next(text, arguments, error)}"


def _as_meant(text: str, arguments: Sequence[str]) -> str | None:
    """Return the command with the misspelt word as it was meant; None if the text names none."""
    few = _TOO_FEW.search(text)
    if few:
        return _with_option(arguments, f"--{few[1].replace('_', '-')}", few[2])
    found = _OPTION.search(text) or _MEANT.search(text)
    if found is None:
        return None
    given, meant = found[1], found[2]
    place = next((i for i, word in enumerate(arguments) if re.search(rf"(?<!\w){re.escape(given)}(?!\w)", word)), None)
    if place is None:
        return None
    words = [*arguments[:place], arguments[place].replace(given, meant, 1), *arguments[place + 1 :]]
    return f"gossamer {shlex.join(words)}"


def _with_option(arguments: Sequence[str], option: str, value: str) -> str:
    """Return the command with another value of an option.

    >>> _with_option(["simulate", "traffic", "ring:4", "--routing", "ugal"], "--virtual-channels", "4")
    'gossamer simulate traffic ring:4 --routing ugal --virtual-channels 4'
    """
    words = list(arguments)
    if option in words[:-1]:
        words[words.index(option) + 1] = value
    else:
        words = [w for w in words if not w.startswith(f"{option}=")] + [option, value]
    return f"gossamer {shlex.join(words)}"


def _command(arguments: Sequence[str]) -> str:
    """Return the words of the command that was typed; empty if there is none."""
    for count in (2, 1):
        if " ".join(arguments[:count]) in EXAMPLES:
            return " ".join(arguments[:count])
    return ""


def _next(text: str, arguments: Sequence[str], error: Exception | None) -> str:
    command = _command(arguments)
    if "Missing argument" in text or "Missing option" in text:
        return EXAMPLES.get(command, "gossamer -h")
    if isinstance(error, FileFormatError) or not command:
        return f"gossamer {command} -h" if command else "gossamer -h"
    if isinstance(error, NotApplicableError) and command in _ABOUT_BOTH and len(arguments) > 2:
        return f"gossamer list algorithms {shlex.quote(arguments[1])} --task {shlex.quote(arguments[2])}"
    if isinstance(error, TaskError) and "unknown task" not in text:
        return f"gossamer {command} -h"
    told = next((words for kind, words in _TOLD if isinstance(error, kind)), None)
    typed = shlex.join(["gossamer", *arguments])
    return told if told and not typed.startswith(told) else f"gossamer {command} -h"
