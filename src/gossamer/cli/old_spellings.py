"""Spellings of commands and options from before, which go on working: one table, new words for old ones.

Help, completion, the manual and the docs show the new ones only.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

__all__ = ["COMMANDS", "OPTIONS", "in_new_words"]

COMMANDS: dict[str, str] = {
    "networks": "list networks",
    "tasks": "list tasks",
    "algorithms": "list algorithms",
    "schemes": "list schemes",
    "formats": "list formats",
    "dynamic": "simulate arrivals",
    "wormhole traffic": "simulate traffic",
    "wormhole saturation": "simulate saturation",
    "wormhole run": "simulate wormhole",
    "wormhole routing": "deadlock",
    "wormhole": "simulate",
}
"""Commands: their old words, and their words now."""

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("list algorithms", "--network", ""),
    ("plan", "--explore", "--output"),
    ("draw", "--to terminal", ""),
    ("simulate", "--mpi", "--own all"),
    ("simulate", "--against", "--own"),
    ("", "--group", "--groups"),
    ("", "--split", "--segmented"),
    ("", "--whole", "--unsegmented"),
)
"""Options: how the command begins now (any if empty), the old words, and the words now; without any, an argument."""


def in_new_words(arguments: Sequence[str]) -> list[str]:
    """Return a command line in the words of today.

    Examples
    --------
    >>> in_new_words(["wormhole", "traffic", "torus:4x4", "--load", "0.2"])
    ['simulate', 'traffic', 'torus:4x4', '--load', '0.2']
    >>> in_new_words(["algorithms", "--network=star:4", "--json"])
    ['list', 'algorithms', 'star:4', '--json']
    >>> in_new_words(["plan", "torus:4x4", "allgather"])
    ['plan', 'torus:4x4', 'allgather']
    """
    words = list(arguments)
    _check(words)
    for old, new in COMMANDS.items():
        if words[: len(old.split())] == old.split():
            words[: len(old.split())] = new.split()
            break
    for command, old, new in OPTIONS:
        if words[: len(command.split())] == command.split():
            words = _replaced(words, old.split(), new.split())
    return words


def _check(words: list[str]) -> None:
    """Refuse what the old options refused where the new ones take more."""
    from gossamer.errors import FileFormatError, TaskError

    names = {word.partition("=")[0] for word in words}
    if {"--group", "--groups"} <= names:
        raise TaskError("give --groups once: --group is its old name")
    pairs = list(itertools.pairwise([*words, ""]))
    if words[:1] == ["plan"]:
        for word, after in pairs:
            name, sign, value = word.partition("=")
            page = value if sign else after
            if name == "--explore" and page and not page.lower().endswith(".html"):
                raise FileFormatError(f"the page {page!r} must end in .html")
    to = next((a if w == "--to" else w[5:] for w, a in pairs if w == "--to" or w.startswith("--to=")), None)
    if words[:1] == ["draw"] and to is not None:
        if to != "terminal":
            raise FileFormatError(f"Invalid value for '--to': {to!r} is not one of 'terminal'")
        if any(word.partition("=")[0] in ("-o", "--output") for word in words):
            raise FileFormatError("--to terminal writes no file: leave out --output")


def _replaced(words: list[str], old: list[str], new: list[str]) -> list[str]:
    """Return words with some replaced by others, given in words of their own or as ``--option=value``."""
    found: list[str] = []
    place, argument = 0, None
    while place < len(words):
        name, sign, value = words[place].partition("=")
        if name == old[0] and not new and not old[1:]:  # an argument now: the last one counts
            if argument is not None:
                del found[argument]
            argument = len(found)
        if words[place : place + len(old)] == old and (new or old[1:] or place + 1 < len(words)):
            found += new
            place += len(old)
        elif sign and [name] == old:
            found += [*new[:-1], f"{new[-1]}={value}"] if new else [value]
            place += 1
        elif sign and [name, value] == old:
            found += new
            place += 1
        else:
            found.append(words[place])
            place += 1
    return found
