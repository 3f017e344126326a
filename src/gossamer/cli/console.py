"""Where commands print: tables on standard output, progress on standard error."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["print_json", "print_table", "progress"]


def print_json(value: Any) -> None:
    """Print one JSON object."""
    print(json.dumps(value, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print rows under a header; columns whose position is in `right` are aligned to the right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i in right else "left", overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*row)
    Console(markup=False, highlight=False, soft_wrap=False).print(table)


@contextmanager
def progress(after: float = 1.0) -> Iterator[Callable[[str], None]]:
    """Show a bar with the stage and the time on standard error while the block runs, from `after` seconds on.

    Yields
    ------
    callable
        To be called with the name of each stage as it begins.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    row = bar.add_task("starting", total=None)
    timer = threading.Timer(after, bar.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield lambda stage: bar.update(row, description=stage)
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()
        bar.stop()
