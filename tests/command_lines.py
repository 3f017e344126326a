"""Lines that people type, read as the command line reads them, without carrying them out."""

from __future__ import annotations

import contextlib
import shlex

import typer.main

from gossamer.cli.app import app
from gossamer.cli.old_spellings import in_new_words

__all__ = ["parsed", "tree"]

FIRST = {"sweep": "sweep run", "simulate": "simulate schedule"}
"""Groups, and their commands that are meant where none is named."""


def tree():
    """Return the commands by their words, those of groups among them, each with a context."""
    root = typer.main.get_command(app)

    def commands(group, context, before):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            inner = type(context)(command, parent=context, info_name=name)
            yield f"{before}{name}", (command, inner)
            if hasattr(command, "list_commands"):
                yield from commands(command, inner, f"{before}{name} ")

    context = root.make_context("gossamer", ["list", "networks"])
    return root, context, dict(commands(root, context, ""))


def parsed(line):
    """Return the parameters of a command line, with or without ``gossamer``, by name, as click reads them.

    What is wrong with the line is raised.
    """
    _, context, known = tree()
    words = shlex.split(line.partition("gossamer ")[2] if "gossamer" in line else line)
    if words in (["-h"], []):
        return {}
    words = in_new_words(words)
    name = words[0]
    if f"{name} {' '.join(words[1:2])}" in known:
        command, words = known[f"{name} {words[1]}"][0], words[2:]
    elif name in FIRST and words[1:2] not in (["-h"], ["--help"]):
        command, words = known[FIRST[name]][0], words[1:]
    else:
        assert name in known, line
        command, words = known[name][0], words[1:]
    with contextlib.suppress(SystemExit, typer.Exit), command.make_context(name, words, parent=context) as inner:
        return inner.params
    return {}  # of --help
