"""``gossamer doctor`` and ``gossamer manual``: what is installed here, and the page for ``man``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import print_entries, print_json, styled
from gossamer.cli.options import Json

__all__ = ["doctor", "manual"]


def doctor(json: Json = False) -> None:
    """Say what is installed here, what is not, and how to get it; exit status 1 if something needed is missing."""
    from dataclasses import asdict

    from gossamer.doctor import examine

    findings = examine()
    missing = any(f.state == "broken" for f in findings)
    if json:
        print_json([asdict(f) for f in findings])
        raise typer.Exit(int(missing))
    marks = {"good": styled("yes", "green"), "absent": " no", "broken": styled("BAD", "red")}
    for subject in dict.fromkeys(f.subject for f in findings):
        print(styled(subject, "bold"))
        rows = [f for f in findings if f.subject == subject]
        print_entries(
            (f"  {marks[f.state]}  {f.name}", [f.found, *([f"get it: {f.remedy}"] if f.remedy else [])]) for f in rows
        )
        print()
    absent = [f.name for f in findings if f.state != "good"]
    print("All there." if not absent else f"Not here: {', '.join(absent)}. Only what says BAD is needed.")
    raise typer.Exit(int(missing))


def manual(
    context: typer.Context,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to a file (.1) instead.", metavar="FILE")
    ] = None,
) -> None:
    """Print the manual page of all commands, for man: gossamer manual | man -l -."""
    from gossamer.cli.manual import manual_page
    from gossamer.writing import whole_file

    page = manual_page(context.find_root())
    if output is None:
        print(page, end="")
        return
    with whole_file(output) as file:
        file.write_text(page, encoding="utf-8")
    print(f"wrote {output}")
