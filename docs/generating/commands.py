"""The outputs of commands in hand-written pages: every ``console`` block is run.

Lines that begin with ``$ `` are commands, and what lies between them is replaced by what they print. The commands of a
page run one after the other in one folder, which holds `examples/machines` and `examples/studies`. Times and memory
become ``...``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
WIDTH = 100
EXAMPLES = ("machines", "studies")
"""The folders of examples that commands find."""
PICTURES = (".svg", ".png", ".gif")
"""Files with these names that the commands of a page leave are its pictures."""

_VARYING = (
    (r"^(took +)\S.*(\n {4,}.*)*", r"\1..."),
    (r'"(build_seconds|verify_seconds|seconds|peak_memory_bytes)": [\d.e+-]+', r'"\1": ...'),
)
"""What differs from run to run, and what is shown instead."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class NotInstalledError(Exception):
    """A command takes a program that is not installed here."""


def blocks(text: str) -> list[str]:
    """Return what stands in the ``console`` blocks of a page."""
    return _BLOCK.findall(text)


def typed(text: str) -> list[str]:
    """Return what the commands of a page ask of `gossamer`."""
    lines = [line for block in blocks(text) for line in block.splitlines() if line.startswith("$ ")]
    return [asked for line in lines for asked in re.findall(r"\bgossamer ([^|;&>]+)", line)]


def machines(root: Path) -> tuple[str, ...]:
    """Return the files that commands find, from the root of the repository."""
    files = (file for name in EXAMPLES for file in (root / "examples" / name).glob("*"))
    return tuple(sorted(file.relative_to(root).as_posix() for file in files))


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Enter a folder with the examples, with a `gossamer` of this Python on the path and a fixed terminal."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tools:
        for name in EXAMPLES:
            shutil.copytree(SOURCE.parent / "examples" / name, Path(folder) / name)
        command = Path(tools) / "gossamer"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gossamer "$@"\n')
        command.chmod(0o755)
        os.environ.update(
            PATH=f"{tools}{os.pathsep}{before.get('PATH', '')}",
            PYTHONPATH=os.pathsep.join(p for p in (str(SOURCE), before.get("PYTHONPATH")) if p),
            COLUMNS=str(WIDTH),
            NO_COLOR="1",
            TERM="dumb",
        )
        os.environ.pop("FORCE_COLOR", None)
        try:
            with contextlib.chdir(folder):
                yield Path(folder)
        finally:
            os.environ.clear()
            os.environ.update(before)


def output_of(command: str) -> str:
    """Run one command in the current folder; return what it prints, with times and memory cut."""
    if command.startswith("gossamer ") and not re.search("[|;&<>$`]", command):
        from gossamer.cli import main  # in this process: no second start of numba

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main(shlex.split(command)[1:])
        text = printed.getvalue()
    else:
        run = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
        text = run.stdout + run.stderr
    for pattern, instead in _VARYING:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def with_outputs(text: str) -> tuple[str, dict[str, bytes]]:
    """Return a page with the output of every ``console`` block renewed, and the pictures that the commands drew."""

    def renewed(block: re.Match[str]) -> str:
        commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
        body = "".join(f"$ {command}\n{output_of(command)}" for command in commands)
        if (lacking := re.search(r"\S+ is not installed", body)) and lacking[0] not in block[1]:
            raise NotInstalledError(lacking[0])
        return f"```console\n{body}```"

    with workplace() as folder:
        page = _BLOCK.sub(renewed, text)
        return page, {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in PICTURES}
