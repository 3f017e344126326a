"""``gossamer sweep``: many points, what came of them, and files of results merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.command_group import Commands
from gossamer.cli.options import Engine, Json, Scheduler, pictured

__all__ = ["commands"]


class _Sweeps(Commands):
    """A group whose first command is meant where none is named."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Put ``run`` before what is no command of the group."""
        if arguments and arguments[0] not in (*self.list_commands(context), "-h", "--help"):
            arguments = ["run", *arguments]
        return super().parse_args(context, arguments)


commands = typer.Typer(
    name="sweep",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Carry out many points: 'gossamer sweep study.toml' runs, resumes and extends a study.",
    cls=_Sweeps,
    rich_markup_mode=None,
)

ResultsFile = Annotated[Path, typer.Argument(help="File of results (.parquet) of a sweep.", metavar="FILE")]
Where = Annotated[
    list[str] | None,
    typer.Option(help="A condition, such as 'nodes == 512' or 'degree <= 6'; may be repeated.", metavar="CONDITION"),
]


@commands.command()
def run(
    study: Annotated[
        Path | None, typer.Argument(help="A study (.toml); or say the points with options.", metavar="[STUDY]")
    ] = None,
    *,
    kind: Annotated[
        str | None,
        typer.Option(help="plan, bounds, faults, dynamic, limit, traffic or saturation. Default plan.", metavar="KIND"),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(help="Networks, braces for many: torus:{4..16}x{4..16}; may be repeated.", metavar="NETWORK"),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Tasks: allgather,alltoall.", metavar="TASKS")] = None,
    bytes_: Annotated[
        str | None, typer.Option("--bytes", help="Sizes: 1KiB,1MiB or 1KiB:1GiB.", metavar="SIZES")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any other word of the points and its values, such as load=0.1:0.9:0.2; may be repeated.",
            metavar="WORD=VALUES",
        ),
    ] = None,
    where: Where = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File of results (.parquet). Default: the study's name, here.", metavar="FILE"
        ),
    ] = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    jobs: Annotated[int | None, typer.Option(help="Points at once. Default: one a processor.", metavar="N")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory of all points together. Default: most of what is free.", metavar="SIZE")
    ] = None,
    retry: Annotated[
        str, typer.Option(help="Try again what came to nothing: none, failed or all.", metavar="WHICH")
    ] = "none",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the points and estimate what they take.")] = False,
    json: Json = False,
) -> None:
    """Carry out the points of a study that are not in its file yet; exit status 1 if some failed."""
    from gossamer.cli import studies

    words = studies.given_words(kind, network, task, bytes_, set_)
    asked = studies.asked_study(study, words, where or [])
    settings = {"scheduler": scheduler, "jobs": jobs, "memory": memory, "retry": retry}
    settings["engine"] = engine or ("dask" if scheduler else "processes")
    path = output or (None if study is None else Path(study.stem + ".parquet"))
    if dry_run:
        studies.estimate(asked, path, settings, json)
        return
    raise typer.Exit(studies.run(asked, path, settings, json))


@commands.command()
@pictured
def report(
    file: ResultsFile,
    study: Annotated[
        Path | None, typer.Option(help="The study (.toml), for its title and what it shows.", metavar="FILE")
    ] = None,
    *,
    where: Where = None,
    measure: Annotated[
        str | None, typer.Option(help="What is to be small, or large with a minus before it.", metavar="COLUMN")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Columns whose values have a table each: task,bytes.", metavar="COLUMNS")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Columns against which fronts are taken: links,-nodes. Minus: more is better.", metavar="..."
        ),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="What the tables show.", metavar="COLUMNS")] = None,
    rows: Annotated[int | None, typer.Option(help="Rows of a table. Default 12.", metavar="N")] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a page (.html), pictures (.svg, .png, .pdf) or all rows (.csv); may be repeated.",
            metavar="FILE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print the best points and the fronts of what nothing beats."""
    from gossamer.cli import studies

    lists = {"by": by, "against": against, "columns": columns}
    shown: dict[str, Any] = {name: tuple(text.split(",")) for name, text in lists.items() if text}
    shown |= {name: value for name, value in (("measure", measure), ("rows", rows)) if value is not None}
    studies.report(file, study, where or [], shown, output or [], json)


@commands.command()
def merge(
    files: Annotated[list[Path], typer.Argument(help="Files of results, two or more.", metavar="FILE...")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The merged file (.parquet).", metavar="FILE")],
    json: Json = False,
) -> None:
    """Merge files of results of one study, made on several machines."""
    from gossamer.cli import studies

    studies.merge(files, output, json)
