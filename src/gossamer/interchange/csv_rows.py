"""The timeline as comma-separated values: a row for each block that crosses a link, times in ticks."""

from __future__ import annotations

from pathlib import Path

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText

__all__ = ["CSV"]

_NAMES = ("start", "end", "source", "target", "message", "part", "phase")
_ROWS = RowText(",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "\n")


def _write(plan: Plan, path: Path) -> None:
    rows = plan.timeline
    with path.open("wb") as file:
        file.write((",".join(_NAMES) + "\n").encode())
        for text in _ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(text)


CSV = Format("csv", "the timeline as comma-separated values, for spreadsheets and data frames", _write)
