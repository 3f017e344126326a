"""``gossamer faults``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.planning import Asked
from gossamer.errors import FileFormatError

__all__ = ["faults"]

_SHOWN = 10


def faults(
    asked: Asked,
    failing: dict[str, Any],
    options: dict[str, Any],
    output: list[Path],
    json: bool,
    search: dict[str, Any],
) -> None:
    """Plan every failure, print the worst and the mean, and write a line for each."""
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps import write_table
    from gossamer.studies.sweeps.faults import faults as plan_faults

    _check(output)
    with progress() as stage:
        found = plan_faults(
            asked.network, asked.task, options=options, progress=stage, **failing, **asked.choices, **search
        )
        for path in output:
            if path.suffix.lower() != ".json":
                stage(f"writing {path}")
                write_table(found.faults, path)
    for path in output:
        if path.suffix.lower() == ".json":
            _write_json(found.to_dict(), path)
    if json:
        print_json(found.to_dict())
        return
    rows = [*found.rows(), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)
    if len(found.planned) > 1:
        columns = ("without", "stands for", "time", "bound", "x sound", "algorithm")
        told = tuple(
            (f.links, f"{f.stands_for:,}", *map(found.time_text, (f.time, f.bound)), f"{f.slowdown:.4g}", f.algorithm)
            for f in found.planned[:_SHOWN]
            if f.time is not None and f.bound is not None
        )
        more = len(found.planned) - _SHOWN
        print("\n" + Table("", columns, told).text().lstrip() + (f"\nand {more:,} more" if more > 0 else ""))


def _check(output: list[Path]) -> None:
    """Refuse files of other kinds, and those that cannot be written, before the work."""
    from gossamer.studies.sweeps import table_format
    from gossamer.writing import check_writable

    for path in output:
        if path.suffix.lower() != ".json":
            try:
                table_format(path)
            except FileFormatError as error:
                raise FileFormatError(str(error).replace(".csv, .parquet", ".csv, .parquet, .json")) from None
        check_writable(path)


def _write_json(value: dict[str, Any], path: Path) -> None:
    import json

    from gossamer.writing import whole_file

    with whole_file(path) as part:
        part.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
