"""What is written: files that appear whole or not at all, and results as rows for people."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from gossamer.display_registry import display
from gossamer.errors import FileFormatError, shown

# Temporary files and folders of outputs: each has a lock while its process lives, so that what is left can be told.
#
# A name is ``.gossamer-``, sixteen hexadecimal digits and the suffix of the output, in the folder of the output. A
# process that is ended by a signal removes its own (`discard_all`); one that is killed outright cannot, and the next
# process that begins an output in that folder removes what nobody has a lock on.

if sys.platform != "win32":  # which has no such locks, so that nothing is swept there
    import fcntl


_NAME = re.compile(r"\.gossamer-[0-9a-f]{16}(\..*)?", re.DOTALL)

_open: dict[Path, tuple[int, int]] = {}
"""The process and the descriptor that has the lock, -1 for none, of each that is being written."""
_swept: set[Path] = set()


def begin(target: Path, suffix: str = "", *, folder: bool = False) -> Path:
    """Make an empty temporary file or folder beside `target` and return its path; OSError if the place takes none."""
    if target.parent not in _swept:
        _swept.add(target.parent)
        _sweep(target.parent)
    while True:
        part = target.with_name(f".gossamer-{secrets.token_hex(8)}{suffix}")
        _open[part] = (os.getpid(), -1)  # known before it is there, so that no signal falls between
        try:
            if folder:
                part.mkdir()
            made = os.open(part, os.O_RDONLY if folder else os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        except OSError:
            discard(part)
            raise
        _open[part] = (os.getpid(), made)
        if _locked(made, part):
            return part
        discard(part)  # another process took it for a stale one before it had its lock


def end(part: Path, target: Path) -> None:
    """Give a whole file or folder the name `target`; what a file holds is on the disk before."""
    held = _open[part][1]
    if not part.is_dir():
        os.fsync(held)
    if os.name == "nt":
        _close(part)  # an open file cannot be moved there
    part.replace(target)
    _close(part)


def discard(part: Path) -> None:
    """Remove a temporary file or folder, if it is there."""
    _remove(part)
    _close(part)


def discard_all() -> None:
    """Remove all temporary files and folders of this process: those that a signal cut off from their removal."""
    for part, (process, _) in list(_open.items()):
        if process == os.getpid():
            discard(part)


def _close(part: Path) -> None:
    held = _open.pop(part, (0, -1))[1]
    if held >= 0:
        with suppress(OSError):
            os.close(held)


def _remove(part: Path) -> None:
    try:
        part.unlink()
    except FileNotFoundError:
        pass
    except OSError:  # a folder
        shutil.rmtree(part, ignore_errors=True)


def _locked(held: int, part: Path) -> bool:
    """Lock an open file or folder; False if another process has the lock, or has removed the file."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # this file system has no locks, so that nobody sweeps it
    try:
        return os.path.samestat(os.fstat(held), part.lstat())
    except FileNotFoundError:
        return False


def _sweep(folder: Path) -> None:
    """Remove the temporary files and folders that nobody is writing any more."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(part: Path) -> None:
    if sys.platform == "win32":
        return
    held = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(held), part.lstat()):
            _remove(part)
    finally:
        os.close(held)


_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:e[-+]?\d+)?%?$")


class whole_file:  # noqa: N801 - used like a function
    """Give a temporary path beside `path` that replaces it when the block ends well and vanishes when it does not.

    A file that is there keeps its permissions, and a symbolic link stays one: what it points to is replaced. What is
    written has reached the disk before it gets its name. Only a process that is killed outright leaves its temporary
    file, whose name starts with ``.gossamer-``; the next one that writes into the folder removes it.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "x.txt"
    >>> with whole_file(target) as part:
    ...     _ = part.write_text("all of it")
    >>> target.read_text()
    'all of it'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        """Make the temporary file; FileFormatError if the place does not take one."""
        try:
            self.target = Path(os.path.realpath(self.path))
            self.mode = _mode(self.target)
            self.part = begin(self.target, self.path.suffix)
            if self.mode is not None:
                self.part.chmod(self.mode | stat.S_IWUSR)
        except (OSError, ValueError) as error:
            self.discard()
            raise self._refusal(error) from None
        return self.part

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Move the file into place, or remove it."""
        if kind is None and _together is not None:
            _together.append(self)
        elif kind is None:
            self.appear()
        else:
            self.discard()
            if isinstance(error, OSError):
                raise self._refusal(error) from error

    def appear(self) -> None:
        """Move the file into place."""
        try:
            if self.mode is not None:
                self.part.chmod(self.mode)
            end(self.part, self.target)
        except OSError as failed:
            self.discard()
            raise self._refusal(failed) from failed

    def discard(self) -> None:
        """Remove the temporary file, if there is one."""
        if hasattr(self, "part"):
            discard(self.part)

    def _refusal(self, error: OSError | ValueError) -> FileFormatError:
        return _unwritable(self.path, error)


_together: list[whole_file] | None = None
"""Files that are whole and wait for others."""


@contextmanager
def written_together() -> Iterator[None]:
    """Let the files that the block writes appear when it ends well, all of them, and none when it does not.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with suppress(ValueError), written_together():
    ...     with whole_file(folder / "x.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     raise ValueError("the second one is refused")
    >>> list(folder.iterdir())
    []
    """
    global _together
    if _together is not None:
        yield
        return
    waiting = _together = []
    try:
        yield
        _together = None
        for each in waiting:
            each.appear()
    finally:
        _together = None
        for each in waiting:
            each.discard()  # what has not appeared


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder that becomes `path` when the block ends well and vanishes when it does not.

    Raises `FileFormatError` if `path` is a file, a folder that is not empty, or cannot be made.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "x"
    >>> with whole_folder(target) as part:
    ...     _ = (part / "a.txt").write_text("all of it")
    >>> [p.name for p in target.iterdir()]
    ['a.txt']
    """
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_dir():
            raise OSError(errno.EEXIST, "is a file; a folder is written")
        if target.is_dir() and any(target.iterdir()):
            raise OSError(errno.ENOTEMPTY, "is a folder that is not empty; name a new one")
        part = begin(target, folder=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    try:
        yield part
        end(part, target)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        discard(part)


def _unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> FileFormatError:
    reason = getattr(error, "strerror", None) or error
    return FileFormatError(f"cannot write {shown(str(path), 200)}: {reason}")


def _mode(path: Path) -> int | None:
    """Return the permissions of a file, None if there is no file yet; OSError if something else is there."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is a folder" if stat.S_ISDIR(mode) else "is no regular file")
    return stat.S_IMODE(mode)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now, before long work, the FileFormatError that `whole_file` would raise after it.

    >>> check_writable("nowhere/x.txt")
    Traceback (most recent call last):
    gossamer.errors.FileFormatError: cannot write 'nowhere/x.txt': No such file or directory
    """
    asked = whole_file(path)
    asked.__enter__()
    asked.discard()


class Rows:
    """A result that tells itself in a sentence and in rows of a label and a text: printed, and in a notebook."""

    @property
    def summary(self) -> str:
        """What a person wants to know first, in a sentence; empty where the rows say all."""
        return ""

    def __str__(self) -> str:
        if not self.summary:
            return repr(self)
        lines = entry_lines([(label, [text]) for label, text in self.rows()])
        return "\n".join([*wrapped(self.summary), "", *lines])

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        raise NotImplementedError

    def __rich__(self) -> Any:
        from rich.table import Table

        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in self.rows():
            table.add_row(label, text)
        if not self.summary:
            return table
        from rich.console import Group
        from rich.text import Text

        return Group(Text(self.summary), table)

    def _repr_html_(self) -> str:
        return html_summary(self.summary) + html_rows(self.rows())


class Tabled(Rows):
    """A result that is a table, of which a person reads a row as its first cell and the others with their columns."""

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people."""
        raise NotImplementedError

    def remarks(self) -> list[tuple[str, str]]:
        """Return what stands below the table, as (label, text) rows."""
        return []

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        columns, table = self.table()
        told = [(row[0], ", ".join(f"{c} {v}" for c, v in zip(columns[1:], row[1:], strict=True))) for row in table]
        return told + self.remarks()


class Pictured:
    """A thing that a notebook shows by its numbers and a small picture."""

    def _repr_html_(self) -> str:
        # pictures are made in a layer above, which only a notebook asks for: nothing here depends on it
        show = display("thing")
        shown: str = html_rows([("", repr(self))]) if show is None else show(self)
        return shown


def attributes(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of a thing by name, for JSON and tables: fractions as plain numbers, all others as they are.

    >>> attributes(Fraction(1, 2), "numerator denominator real")
    {'numerator': 1, 'denominator': 2, 'real': 0.5}
    """
    values = ((name, getattr(thing, name)) for name in names.split())
    return {name: plain(value) if isinstance(value, Fraction) else value for name, value in values}


def plain(value: Fraction) -> int | float:
    """Return a fraction as a plain number, an int where it is whole.

    >>> plain(Fraction(4)), plain(Fraction(1, 2))
    (4, 0.5)
    """
    return int(value) if value.denominator == 1 else float(value)


WIDTH = 100
"""Characters of a line of a report, where a terminal has more."""


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Return the lines of a text; words with hyphens stay whole.

    >>> wrapped("found by greedy-flooding", 16)
    ['found by', 'greedy-flooding']
    """
    return textwrap.wrap(text, width, break_on_hyphens=False)


def entry_lines(entries: Iterable[tuple[str, Sequence[str]]], width: int = WIDTH) -> list[str]:
    """Return lines with labels in one column and, beside each, its texts: one below the other, wrapped.

    >>> entry_lines([("network", ["ring:4"]), ("bound", ["a long text", "another"])], 20)
    ['network  ring:4', 'bound    a long text', '         another']
    """
    return column_lines([(label if k == 0 else "", text) for label, texts in entries
                         for k, text in enumerate(texts or [""])], width)  # fmt: skip


def column_lines(rows: Sequence[Sequence[str]], width: int = WIDTH, indent: str = "") -> list[str]:
    """Return rows of texts in columns, the last of which is wrapped.

    >>> column_lines([("a", "1", "some words"), ("bc", "23", "others")], 18)
    ['a   1   some words', 'bc  23  others']
    """
    wide = [max(map(len, column)) + 2 for column in zip(*(row[:-1] for row in rows), strict=True)]
    left, found = len(indent) + sum(wide), []
    for row in rows:
        lines = wrapped(row[-1], max(width - left, 10)) or [""]
        start = indent + "".join(f"{cell:<{w}}" for cell, w in zip(row[:-1], wide, strict=True))
        found += [f"{start}{lines[0]}".rstrip(), *(" " * left + line for line in lines[1:])]
    return found


def html_summary(text: str) -> str:
    """Return a sentence as a paragraph for a notebook; nothing where there is none.

    >>> html_summary("a < b"), html_summary("")
    ('<p><b>a &lt; b</b></p>', '')
    """
    return f"<p><b>{escape(text)}</b></p>" if text else ""


def html_rows(rows: Iterable[tuple[str, str]]) -> str:
    """Return rows of a label and a text as a table for a notebook.

    >>> html_rows([("a", "<b>")])
    "<table><tr><th style='text-align:left'>a</th><td style='text-align:left'>&lt;b&gt;</td></tr></table>"
    """
    start = "style='text-align:left'"
    return html_table((), [], [f"<tr><th {start}>{escape(a)}</th><td {start}>{escape(b)}</td></tr>" for a, b in rows])


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], lines: Iterable[str] = ()) -> str:
    """Return a table for a notebook: words to the left, numbers to the right.

    >>> html_table(("name", "steps"), [("x", "4")]).count("text-align:right")
    1
    """
    side = {True: "right", False: "left"}
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:{side[_NUMBER.match(cell) is not None]}'>{escape(cell)}</td>"
                         for cell in row) + "</tr>"
        for row in rows
    )  # fmt: skip
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{body}{''.join(lines)}</table>"


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
          ">": r"\textgreater{}", "|": r"\textbar{}", "\N{MINUS SIGN}": "$-$", "\N{MULTIPLICATION SIGN}": r"$\times$",
          "\N{RIGHTWARDS ARROW}": r"$\rightarrow$", "\N{MICRO SIGN}": r"$\mu$", "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
          **{sign: f"\\{sign}" for sign in "&%$#_{}"}}  # fmt: skip


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX sets it, its special signs written out.

    >>> print(latex_text("a_b: 50 % of 3 x 2^4"))
    a\_b: 50 \% of 3 x 2\textasciicircum{}4
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def latex_table(columns: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    r"""Return a table in LaTeX, for the package booktabs: words to the left, numbers to the right.

    Times have one unit in all columns, and so have bandwidths: it stands at the top.

    * `columns`: the names above.
    * `rows` (iterable of sequence of str): the cells.
    * `note`: what is in the table, as a comment before it.

    >>> print(latex_table(("name", "steps"), [("a_b", "4")]), end="")
    \begin{tabular}{lr}
    \toprule
    name & steps \\
    \midrule
    a\_b & 4 \\
    \bottomrule
    \end{tabular}
    """
    columns, cells = _one_unit_a_table(columns, [tuple(row) for row in rows])
    sides = ["r" if cells and all(row[i] in ("", "-") or _CELL.match(row[i]) for row in cells) else "l"
             for i in range(len(columns))]  # fmt: skip
    wide = [max((len(row[i]) for row in [columns, *cells]), default=0) for i in range(len(columns))]
    long = [i for i, count in enumerate(wide) if count > _WORDS and sides[i] == "l"]
    if long and sum(wide) > _LINE:
        room = max(1 - sum(wide[i] + 2 for i in range(len(columns)) if i not in long) / _LINE, 0.3) - 0.02 * len(long)
        total = sum(min(wide[i], _PARAGRAPH) for i in long)
        for i in long:
            share = room * min(wide[i], _PARAGRAPH) / total
            sides[i] = rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
    packages = "booktabs,array" if long and sum(wide) > _LINE else "booktabs"
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in cells]
    head = [f"% {line}" for line in note.splitlines()] + ([rf"% \usepackage{{{packages}}}"] if note else [])
    return "\n".join([
        *head, rf"\begin{{tabular}}{{{''.join(sides)}}}", r"\toprule", " & ".join(map(latex_text, columns)) + r" \\",
        r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


_CELL = re.compile(rf"{_NUMBER.pattern[:-1]}( \(\d+\))?$")
_LINE, _WORDS, _PARAGRAPH = 84, 24, 60
"""Characters of a line of text; of a cell from which on it is a paragraph; of one that counts as the longest."""

_MEASURE = re.compile(r"([\d.,]+(?:e[-+]?\d+)?) ([kMGT]?B/s|[pnmu]?s)( \(\d+\))?$")
_SCALE = {"ps": -12, "ns": -9, "us": -6, "ms": -3, "s": 0, "B/s": 0, "kB/s": 3, "MB/s": 6, "GB/s": 9, "TB/s": 12}
_LEAST = Decimal("0.01")
"""Where the largest unit would make a number smaller than this, a unit in the middle is taken."""


def _one_unit_a_table(
    columns: Sequence[str], rows: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns with the unit of times and of bandwidths at the top, one of each, and their numbers.

    A column is one of times where all that is in it is a time, or nothing, perhaps with a number in parentheses.
    """
    heads, cells = list(columns), [list(row) for row in rows]
    measured: dict[bool, dict[int, list[re.Match[str] | None]]] = {True: {}, False: {}}
    for i in range(len(columns)):
        found = [_MEASURE.match(row[i]) for row in cells]
        rates = {match[2].endswith("B/s") for match in found if match}
        nothing = all(match or row[i] in ("", "-") for row, match in zip(cells, found, strict=True))
        if nothing and len(rates) == 1:
            measured[rates.pop()][i] = found
    for among in measured.values():
        values = [(_number(match), match[2]) for found in among.values() for match in found if match]
        if not values:
            continue
        unit = max((name for _, name in values), key=lambda name: _SCALE[name])
        sizes = [value for value, _ in values if value]
        if sizes and min(sizes).scaleb(-_SCALE[unit]) < _LEAST:
            middle = (min(sizes).adjusted() + max(sizes).adjusted()) // 2
            alike = [name for name in _SCALE if name.endswith("B/s") == unit.endswith("B/s")]
            unit = max((name for name in alike if _SCALE[name] <= middle), key=lambda n: _SCALE[n], default=alike[0])
        told = unit.replace("us", "\N{MICRO SIGN}s")
        for i, found in among.items():
            heads[i] = f"{columns[i]} ({told})"
            for row, match in zip(cells, found, strict=True):
                if match:
                    number = _number(match).scaleb(-_SCALE[unit]).normalize()
                    row[i] = f"{number:f}{match[3] or ''}"
    return tuple(heads), [tuple(row) for row in cells]


def _number(match: re.Match[str]) -> Decimal:
    """Return what was measured, in seconds or bytes a second."""
    return Decimal(match[1].replace(",", "")).scaleb(_SCALE[match[2]])


def write_latex(
    path: str | os.PathLike[str], tables: Iterable[tuple[Sequence[str], Iterable[Sequence[str]]]], note: str
) -> None:
    """Write tables in LaTeX, each of columns and rows, one below the other; the file appears whole or not at all.

    Raises `FileFormatError` if the file cannot be written.
    """
    text = "\n".join(latex_table(*table, note if k == 0 else "") for k, table in enumerate(tables))
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> quantity(1, "message"), quantity(4096, "link"), quantity(2, "copy")
    ('1 message', '4,096 links', '2 copies')
    """
    plural = noun + ("es" if noun.endswith("ch") else "s") if not noun.endswith("y") else noun[:-1] + "ies"
    return f"{number:,} {noun if number == 1 else plural}"


def memory_text(count: int) -> str:
    """Return a number of bytes for people.

    >>> memory_text(12), memory_text(123_456), memory_text(5_000_000_000)
    ('12 B', '123 kB', '5 GB')
    """
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def bytes_text(count: int) -> str:
    """Return a number of bytes exactly, in the largest unit of which it is a multiple, binary or decimal.

    >>> bytes_text(65536), bytes_text(3_000_000), bytes_text(1001)
    ('64 KiB', '3 MB', '1001 B')
    """
    for exponent in range(5, 0, -1):
        for base, prefixes, unit in ((1024, "KMGTP", "iB"), (1000, "kMGTP", "B")):
            if count and count % base**exponent == 0:
                return f"{count // base**exponent} {prefixes[exponent - 1]}{unit}"
    return f"{count} B"


def size_text(count: int) -> str:
    """Return a number of bytes for people: exactly where that is short, else to four figures.

    >>> size_text(65536), size_text(3_000_000), size_text(123_456_789), size_text(5 * 2**29), size_text(23 * 2**26)
    ('64 KiB', '3 MB', '123.5 MB', '2.5 GiB', '1472 MiB')
    """
    for exponent in range(len(_BINARY) - 1, 0, -1):
        text = f"{count / 1024**exponent:.4g}"
        if count >= 1024**exponent and "e" not in text and float(text) * 1024**exponent == count:
            return f"{text} {_BINARY[exponent]}"
    exponent = max(k for k in range(len(_DECIMAL)) if count >= 1000**k or not k)
    return f"{count / 1000**exponent:.4g} {_DECIMAL[exponent]}"


_BINARY, _DECIMAL = ("B", "KiB", "MiB", "GiB", "TiB", "PiB"), ("B", "kB", "MB", "GB", "TB", "PB")


def seconds_text(seconds: Fraction | float) -> str:
    """Return a length of time for people, to four figures.

    >>> seconds_text(0.00117441), seconds_text(2.5e-8), seconds_text(90), seconds_text(0)
    ('1.174 ms', '25 ns', '90 s', '0 s')
    >>> seconds_text(0.99999e-6)
    '1 us'
    """
    value = float(seconds)
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if float(f"{value:.4g}") >= length:
            return f"{value / length:.4g} {unit}"
    return f"{value * 1e12:.4g} ps" if value else "0 s"


def bandwidth_text(rate: Fraction | float) -> str:
    """Return bytes a second for people, to four figures.

    >>> bandwidth_text(50_000_000_000), bandwidth_text(1234)
    ('50 GB/s', '1.234 kB/s')
    """
    value = float(rate)
    for unit, size in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} B/s"


_RATES = ((12, "TB/s"), (9, "GB/s"), (6, "MB/s"), (3, "kB/s"), (0, "B/s"))
_TIMES = ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns"), (-12, "ps"))


def exact_bandwidth(bytes_per_second: float) -> str:
    """Return a bandwidth with its unit, without loss: `gossamer.reading.quantities.bandwidth` reads the same number.

    >>> exact_bandwidth(5e10), exact_bandwidth(12.5e9)
    ('50GB/s', '12.5GB/s')
    """
    return _scaled(bytes_per_second, _RATES)


def exact_duration(seconds: float) -> str:
    """Return a time with its unit, without loss: `gossamer.reading.quantities.duration` reads the same number.

    >>> exact_duration(2e-6), exact_duration(0), exact_duration(0.0015)
    ('2us', '0s', '1.5ms')
    """
    return _scaled(seconds, _TIMES)


def _scaled(value: float, units: tuple[tuple[int, str], ...]) -> str:
    exact = Decimal(repr(float(value)))
    place, unit = next((u for u in units if not exact or exact.adjusted() >= u[0]), units[-1])
    return f"{format(exact.scaleb(-place).normalize(), 'f')}{unit}"
