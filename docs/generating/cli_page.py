"""The reference of the command line, from the signatures of the commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from generating.markdown import page, table

__all__ = ["cli_page", "commands"]


def commands() -> dict[str, Callable[..., Any]]:
    """Return the function of every command, by the words that one types."""
    from gossamer.cli.app import app

    found = [("", c) for c in app.registered_commands]
    for group in app.registered_groups:
        found += [(f"{group.typer_instance.info.name} ", c) for c in group.typer_instance.registered_commands]
    return {prefix + (c.name or c.callback.__name__): c.callback for prefix, c in found if c.callback is not None}


def cli_page() -> str:
    """Return the reference of the command line, from the signatures of the commands."""
    from gossamer.cli.command_group import EXAMPLES, PURPOSES

    functions = commands()
    purposes = [
        f"**{purpose}**\n\n"
        + table(
            ["command", "what it does"],
            [
                [f"[`{n}`](#gossamer-{n.replace(' ', '-')})", _first(f)]
                for n, f in functions.items()
                if n.partition(" ")[0] in names
            ],
        )
        for purpose, names in PURPOSES
    ]
    toc = "\n\n".join(purposes)
    sections = []
    for name, function in functions.items():
        arguments, options = parameters(function)
        usage = " ".join(["gossamer", name, *(a[0].strip("`") for a in arguments), *(["[OPTIONS]"] if options else [])])
        parts = [f"## gossamer {name}", _first(function), f"```text\n{usage}\n```", f"```sh\n{EXAMPLES[name]}\n```"]
        if arguments:
            parts.append(table(["argument", "meaning"], arguments))
        if options:
            parts.append(table(["option", "meaning", "default"], options))
        sections.append("\n\n".join(parts))
    text = f"""
Every command answers `-h`, with an example; `gossamer` alone gives a tour, `gossamer --version` prints the version, and
`gossamer manual | man -l -` shows this page in a terminal. `gossamer --install-completion` lets the shell complete
commands, options, networks and tasks. Bold and colors are printed on terminals only, and not with `NO_COLOR=1`.

{toc}

Results go to standard output; progress, for what takes over a second, to standard error. With `--json` a command prints
JSON and nothing else. The exit status is

* 0 when all went well;
* 1 when all was done and what was asked about is not well: a schedule is not valid (`verify`), traffic or a routing
  function deadlocks (`simulate`, `deadlock`), points came to nothing (`sweep run`), what is needed is not installed
  (`doctor`);
* 2 when it was not done, such as for bad input: that is told in one line, with what to type next, and no file is left
  behind;
* 130 after Ctrl-C, 141 when nobody reads the output, and 128 with the number of the signal after SIGTERM (143), SIGHUP
  (129), SIGQUIT, SIGUSR1, SIGUSR2 and SIGXCPU.

{chr(10).join(s + chr(10) for s in sections)}
"""
    return page("Command line", text, "gossamer.cli")


def parameters(command: Callable[..., Any]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows of the arguments (word, meaning) and of the options (flags, meaning, default) of a command."""
    import inspect
    import typing
    from enum import Enum

    hints = typing.get_type_hints(command, include_extras=True)
    arguments, options = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        if not typing.get_args(hints[name]):
            continue  # the context of the command line
        kind, info = typing.get_args(hints[name])
        if type(info).__name__ == "ArgumentInfo":
            arguments.append([f"`{info.metavar or name.upper()}`", info.help or ""])
            continue
        # the first flag of an annotated option stands where the default would be
        flags = [d for d in (info.default, *(info.param_decls or ())) if isinstance(d, str)]
        flags = flags or [f"--{name.replace('_', '-')}"]
        value = info.metavar or ""
        default = getattr(parameter.default, "value", parameter.default)
        if kind is bool:
            on_off = [word for flag in flags for word in flag.split("/")]
            default = (on_off[0] if default else on_off[-1]) if len(on_off) > 1 else None
            flags = on_off
        elif isinstance(kind, type) and issubclass(kind, Enum):
            value = "|".join(str(member.value) for member in kind)
        elif not value:
            value = "NUMBER" if kind is int else "TEXT"
        shown = ", ".join(f"`{flag}`" for flag in flags) + (f" `{value}`" if value else "")
        required = parameter.default is inspect.Parameter.empty
        options.append([shown, info.help or "", "required" if required else "" if default is None else f"`{default}`"])
    return arguments, options


def _first(function: Callable[..., Any]) -> str:
    return str(function.__doc__).strip().splitlines()[0]
