"""The manual page, in the language of man, from the commands as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer.cli.purposes import EXAMPLES, PURPOSES
from gossamer.version import __version__

__all__ = ["manual_page"]

_STATUS = """0 when all went well; 1 when all was done and what was asked about is not well: a schedule is not valid,
traffic or a routing function deadlocks, points of a sweep came to nothing, or doctor misses what is needed; 2 when it
was not done, such as for bad input: that is told in one line on standard error, and no file is left behind; 130 after
Ctrl-C, 141 when nobody reads the output, 143 after SIGTERM or SIGHUP."""
_ENVIRONMENT = {
    "NO_COLOR": "Nothing is printed in color or bold.",
    "FORCE_COLOR": "Bold and colors also where the output is no terminal.",
    "COLUMNS": "The width of lines, where the terminal does not tell it.",
    "NUMBA_CACHE_DIR": "The folder of compiled kernels; default: beside the package, or the user's cache folder where "
    "nothing can be written there.",
}


def manual_page(context: Any) -> str:
    """Return the manual page of the application of a context, in roff.

    Parameters
    ----------
    context : click.Context
        Of the application, not of a command in it.
    """
    program = context.command
    lines = [
        f'.TH GOSSAMER 1 "" "gossamer {__version__}" "User Commands"',
        ".SH NAME",
        _text(f"gossamer - {program.help}".removesuffix(".")),
        ".SH SYNOPSIS",
        ".B gossamer",
        ".I command",
        "[options]",
        ".SH COMMANDS",
    ]
    for purpose, names in PURPOSES:
        lines += [f".SS {_text(purpose)}"]
        for name in names:
            lines += [".TP", f".B {_text(name)}", _text(program.get_command(context, name).get_short_help_str(300))]
    for name, command, inner in _commands(program, context, ""):
        lines += [f".SH GOSSAMER {_text(name.upper())}", *_section(name, command, inner)]
    lines += [".SH EXIT STATUS", _text(_STATUS), ".SH ENVIRONMENT"]
    for name, told in _ENVIRONMENT.items():
        lines += [".TP", f".B {_text(name)}", _text(told)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, context: Any, before: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each command with its words and a context of its own; those of groups in their places."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = type(context)(command, parent=context, info_name=name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", command, inner


def _section(name: str, command: Any, context: Any) -> Iterator[str]:
    """Yield the lines of one command: usage, what it does, what it takes, an example."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f".B gossamer {_text(name)}", _text(usage), ".PP", _text(" ".join(str(command.help).split())))
    for parameter in command.get_params(context):
        row = parameter.get_help_record(context)
        if row is not None:
            yield from (".TP", f".B {_text(row[0])}", _text(row[1]))
    yield from (".PP", "Example:", ".PP", f".RS 4\n.nf\n{_text(EXAMPLES[name])}\n.fi\n.RE")


def _text(words: str) -> str:
    """Return words as they are to stand in a line of roff."""
    plain = " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{plain}" if plain.startswith(".") else plain
