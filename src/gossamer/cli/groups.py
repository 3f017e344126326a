"""Groups of commands: alone they print their help, and a misspelt command gets the nearest one."""

from __future__ import annotations

from typing import Any

import typer.core

from gossamer.errors import nearest

__all__ = ["Commands"]


class Commands(typer.core.TyperGroup):
    """A group that prints its help when no command is given, and hints at the nearest of its commands."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Print the help and end with status 2 when there is nothing to parse."""
        if not arguments and not context.resilient_parsing:
            print(context.get_help())
            context.exit(2)
        parsed: list[str] = super().parse_args(context, arguments)
        return parsed

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return the command that is meant; the error of an unknown one names the nearest."""
        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            known = self.list_commands(context)
            hint = nearest(name, known) or f"; there are: {', '.join(known)}"
            context.fail(f"no command {name!r}{hint}")
        return super().resolve_command(context, arguments)
