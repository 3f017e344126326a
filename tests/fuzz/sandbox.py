"""Run one command line in this process, within limits, and judge what came of it."""

from __future__ import annotations

import io
import itertools
import json
import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

SECONDS = 60
"""A command that takes more CPU is a finding: those here are small."""
MOST = 500_000_000
"""Bytes that a file of any size may cost; a larger one twenty times its size."""


class TooLong(BaseException):
    """The time is up."""


class Result(NamedTuple):
    """What a command did: exit status, both streams, seconds, and bytes of memory that it took at most."""

    status: object
    out: str
    err: str
    seconds: float
    memory: int


def run(words: list[str], seconds: int = SECONDS) -> Result:
    """Run the command line with some words."""
    from gossamer.cli import main

    def stop(number, frame):
        raise TooLong

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    kept, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), *streams
    before = signal.signal(signal.SIGPROF, stop)
    first, began = _memory(reset=True), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        status: object = main(words)
    except BaseException as error:
        status = f"{type(error).__name__} got out: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        sys.stdout, sys.stderr = kept
    out, err = (s.buffer.getvalue().decode("utf-8", "backslashreplace") for s in streams)
    return Result(status, out, err, time.process_time() - began, max(_memory() - first, 0))


_TOLD = ("assumed: ", "gossamer: note: ", "gossamer: warning: ")
"""What lines on standard error begin with that do not say what is wrong."""


def judged(words: list[str], result: Result, folder: Path, file_size: int | None = None) -> list[str]:
    """Return what is wrong with a result, in sentences; nothing where all is well."""
    from gossamer.cli import STATUSES

    said = []
    if result.status not in STATUSES:
        said.append(f"exit status {result.status}")
    if "Traceback" in result.err or "a fault of gossamer" in result.err:
        said.append(f"fault: {result.err.strip()[-300:]}")
    lines = [line for line in result.err.split("\n")[:-1] if not line.startswith(_TOLD)]
    if result.status == 2 and len(lines) != 1 and not (result.out and not words):
        said.append(f"{len(lines)} lines on standard error: {result.err[:300]!r}")
    if result.status == 0 and lines:
        said.append(f"done, and yet: {lines[0][:200]}")
    if not all(line.startswith("gossamer: ") and line.isprintable() and len(line) < 3000 for line in lines):
        said.append(f"an odd line on standard error: {result.err[:300]!r}")
    if result.status == 0 and "--json" in words and "--help" not in words and "-h" not in words:
        said += _json_faults(result.out)
    said += [f"left behind: {path}" for path in folder.rglob(".gossamer-*")]
    said += [f"input changed: {name}" for name in inputs_changed(words, folder)]
    if result.status == 0:
        said += unverified(folder)
    if "sweep" not in words and result.status == 2:
        said += [f"refused, but wrote {path.name}" for path in folder.glob("new*")]
    if file_size is not None and result.memory > max(MOST, 20 * file_size):
        said.append(f"took {result.memory / 1e6:.0f} MB for a file of {file_size} bytes")
    return said


def inputs_changed(words: list[str], folder: Path) -> list[str]:
    """Return the inputs, arguments without an option, that a command has written over; it may replace other files."""
    if not _KNOWN:
        return []
    given = {os.path.normpath(w) for before, w in itertools.pairwise(["", *words]) if before not in _OUTPUTS}
    changed = [path.name for path, data in _KNOWN.items() if path.parent == folder and _read(path) != data]
    for name in changed:
        (folder / name).write_bytes(_KNOWN[folder / name])
    return [name for name in changed if name in given]


def unverified(folder: Path) -> list[str]:
    """Return the schedules that a command wrote and that the checker does not accept."""
    from gossamer.planning import switching

    said = []
    for path in sorted(folder.glob("new*")):
        if path.suffix in (".parquet", ".txt") and path.is_file() and _schedule(path):
            found = switching.verify(switching.load(path), 1)
            said += [] if found.ok else [f"wrote a schedule that is not valid: {found}"]
    return said


def _schedule(path: Path) -> bool:
    """Whether a file is a schedule, of links or of wormhole messages, and no table of anything else."""
    from gossamer.errors import GossamerError
    from gossamer.planning import switching

    try:
        switching.load(path)
    except GossamerError:
        return False
    return True


_OUTPUTS = ("-o", "--output", "--details", "--save", "--platform")
_KNOWN: dict[Path, bytes] = {}
"""What the inputs held at first."""


def remember(folder: Path) -> None:
    """Take note of what the files in a folder hold, so that one that is written over is found."""
    _KNOWN.update({path: path.read_bytes() for path in folder.iterdir() if path.is_file()})


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _json_faults(text: str) -> list[str]:
    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return [f"invalid JSON: {error}"]
    return []


def fresh(folder: Path) -> Path:
    """Empty a folder of what outputs a command made, whose names start with ``new``."""
    for path in (*folder.glob("new*"), *folder.rglob(".gossamer-*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return folder


def limited(memory: int = 8 << 30) -> None:
    """Let this process have so many bytes and no more."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _memory(reset: bool = False) -> int:
    """Return the bytes that this process has, or had at most since the last reset."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        wanted = "VmRSS" if reset else "VmHWM"
        for line in Path("/proc/self/status").read_text().split("\n"):
            if line.startswith(wanted):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def quiet_environment(folder: Path) -> None:
    """Work in `folder`, where words without a path lead to, with reports of faults beside it."""
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder)
    import tempfile

    tempfile.tempdir = str(folder)
