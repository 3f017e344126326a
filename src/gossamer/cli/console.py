"""Where commands print: results on standard output, progress on standard error; files only beside those read."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from gossamer.errors import FileFormatError, shown

typed: list[str] = []
"""What was typed after ``gossamer`` for the command that runs, in today's words."""

_BAR = 30
"""Columns of the bar."""

_CODES = {"bold": 1, "red": 31, "green": 32}
_shown: Any = None
"""The bar that a command shows now; a command that is carried out by another one shows none of its own."""


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return text as a terminal shows it in a style: bold, red or green; plain where the output is no terminal.

    NO_COLOR and TERM=dumb switch styles off, FORCE_COLOR switches them on.
    """
    stream = stream or sys.stdout
    wanted = bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())
    if not wanted or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def print_json(value: Any) -> None:
    """Print one JSON object."""
    print(json.dumps(value, indent=2))


def print_entries(entries: Iterable[tuple[str, Sequence[str]]], columns: int | None = None) -> None:
    """Print labels in one column and, beside each, its texts: one below the other, wrapped to the terminal."""
    from gossamer.atomic_files import entry_lines

    rows = list(entries)
    left = max((len(label) for label, _ in rows), default=0) + 2
    columns = columns or shutil.get_terminal_size((120, 24)).columns - 2
    for line in entry_lines(rows, max(columns, left + 40)):
        label = line[:left]
        print(f"{styled(label, 'bold')}{line[left:]}" if label.strip() else line)


def width() -> int:
    """Return the characters that a line of a report may have: those of the terminal, but no more than people read."""
    from gossamer.atomic_files import WIDTH

    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)


def print_summary(text: str, after: str = "\n") -> None:
    """Print the sentence with which a report begins, and a line between it and the rest."""
    from gossamer.atomic_files import wrapped

    print("\n".join(wrapped(text, width())) + after)


def print_rows(rows: Iterable[tuple[str, str]], written: Iterable[object] = ()) -> None:
    """Print the rows of a report, a label and a text each, and the files that were written."""
    print_entries(((label, [text]) for label, text in [*rows, *(("wrote", str(path)) for path in written)]), width())


def print_written(*paths: object) -> None:
    """Print the files that were written, a line each."""
    for path in paths:
        print(f"wrote {path}")


def hush_libraries() -> None:
    """Let matplotlib keep to itself that it finds no folder for what it caches: nothing of ours depends on that."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def print_error(line: str) -> None:
    """Print a line on standard error: above the bar, if there is one."""
    if _shown is None or not _shown.live.is_started:
        print(line, file=sys.stderr)
    else:
        from rich.text import Text

        _shown.console.print(Text.from_ansi(line), soft_wrap=True)


@contextmanager
def progress(after: float = 1.0) -> Iterator[Callable[[str], None]]:
    """Show a bar with the stage and the time on standard error while the block runs, from `after` seconds on.

    There is one bar at a time: in a block of another one, nothing is shown.

    Yields: to be called with the name of each stage as it begins.
    """
    global _shown
    if _shown is not None or sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(file=sys.stderr)  # this one, whatever takes its place meanwhile
    stages = Column(no_wrap=True, max_width=max(console.width - _BAR - 15, 15))  # a long name leaves room for the rest
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False, table_column=stages),
        BarColumn(bar_width=_BAR),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,  # what others put in place of the streams stays there
        redirect_stderr=False,
    )
    row = bar.add_task("starting", total=None)
    timer = threading.Timer(after, bar.start)
    timer.daemon = True
    timer.start()
    _shown = bar
    try:
        with _compiling_told(bar, row):
            yield lambda stage: bar.update(row, description=stage)
    finally:
        _shown = None
        timer.cancel()
        if timer.is_alive():
            timer.join()
        bar.stop()


@contextmanager
def _compiling_told(bar: Any, row: Any) -> Iterator[None]:
    """Let a bar say what is compiled, and about how long that takes: it happens once, and is kept."""
    compiling = importlib.import_module("gossamer.jit")  # with Numba, which not every command needs
    with compiling.telling(
        lambda name, seconds: bar.update(row, description=f"compiling once: {name}, about {max(round(seconds), 1)} s")
    ):
        yield


def check_other_than(inputs: Iterable[object], output: Iterable[Path]) -> None:
    """Refuse to write a file over one that is read; of `inputs` what is no file does not matter."""
    read = [given for given in inputs if given is not None]
    for path in output:
        if any(_same(path, given) for given in read):
            raise FileFormatError(f"{shown(str(path), 200)} is the file that is read; name another one to write")


def _same(path: Path, other: object) -> bool:
    with suppress(OSError, ValueError):
        return isinstance(other, str | Path) and path.samefile(other)
    return False
