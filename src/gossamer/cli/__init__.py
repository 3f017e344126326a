"""The command ``gossamer``: thin commands over the Python functions, no logic of their own.

Exit status: 0 done; 1 the schedule is not valid; 2 bad input, told in one line.
"""

from __future__ import annotations

import io
import itertools
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets its escape code
            stream.reconfigure(errors="backslashreplace")
    try:
        with _terminated_by_exit(), _warnings_in_one_line():
            return _run(arguments)
    except BrokenPipeError:
        _forget_output()
        return 141
    except OSError as error:
        _forget_output()
        return _fail(f"cannot write {error.filename or 'to standard output'}: {error.strerror}", 2)


def _run(arguments: Sequence[str] | None) -> int:
    from gossamer.cli.advice import with_advice
    from gossamer.cli.app import app
    from gossamer.errors import GossamerError, VerificationError

    typed = sys.argv[1:] if arguments is None else arguments
    try:
        status = app(args=None if arguments is None else list(arguments), prog_name="gossamer", standalone_mode=False)
        if sys.stdout is not None:  # it is closed
            sys.stdout.flush()
    except VerificationError as error:
        return _fail(with_advice(str(error), typed, error), 1)
    except GossamerError as error:
        return _fail(with_advice(str(error), typed, error), 2)
    except MemoryError:
        return _fail("not enough memory for this size; try: a smaller network, or --stream", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except OSError:
        raise
    except SystemExit as end:  # the command-line library ends so when nobody reads on
        raise end.__context__ if isinstance(end.__context__, BrokenPipeError) else end from None
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the command-line library raises on bad usage has it
            raise
        return _fail(with_advice(_usage(error, typed), typed), 2)
    return status if isinstance(status, int) else 0


@contextmanager
def _terminated_by_exit() -> Iterator[None]:
    """Let SIGTERM end the process by an exception, so that files which are half written vanish."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print a warning as an error is printed, without the place in the code that it came from."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        _fail(f"warning: {message}", 0)

    before, warnings.showwarning = warnings.showwarning, show
    try:
        yield
    finally:
        warnings.showwarning = before


def _forget_output() -> None:
    """Drop what standard output still holds: Python would try to write it once more when it ends."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """Return what was wrong with the usage, with the word that was given."""
    text = str(error.format_message()).removesuffix(".").replace("Value error, ", "")
    if not text:
        return "no command given; see gossamer -h"
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for word, given in itertools.pairwise(arguments):
            if word == name and repr(given) not in text:
                text += f"; got {given!r}"
    return text


def _fail(text: str, status: int) -> int:
    from gossamer.cli.console import styled

    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    with suppress(OSError):
        print(f"{styled('gossamer:', 'red', sys.stderr)} {line}", file=sys.stderr)
    return status
