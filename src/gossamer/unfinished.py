"""Temporary files and folders of outputs: each has a lock while its process lives, so that what is left can be told.

A name is ``.gossamer-``, sixteen hexadecimal digits and the suffix of the output, in the folder of the output. A
process that is ended by a signal removes its own (`discard_all`); one that is killed outright cannot, and the next
process that begins an output in that folder removes what nobody has a lock on.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":  # which has no such locks, so that nothing is swept there
    import fcntl

__all__ = ["begin", "discard", "discard_all", "end"]

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
