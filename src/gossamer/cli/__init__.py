"""The command ``gossamer``: thin commands over the Python functions, no logic of their own.

Exit status, and there are no others: 0 success; 1 the command ran and the answer is negative (a schedule is not valid,
traffic or a routing function deadlocks, points of a sweep failed, `doctor` misses a required package); 2 it failed,
with a line on standard error; 130 ended by Ctrl-C; 141 nobody reads the output, the only one without a line; 143 ended
by SIGTERM, 129 by SIGHUP, and so on: 128 plus the number of the signal.
"""

from __future__ import annotations

import _thread
import io
import itertools
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gossamer.cli.old_spellings import in_new_words

__all__ = ["main"]

_LONG = 60
"""Characters that a line on standard error has of a word that is far longer."""
_AGAIN = 0.02
"""Seconds after which a signal that came at a place which cannot pass it on is answered once more."""
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGUSR1", "SIGUSR2")
_LEAVING = tuple(getattr(signal, name) for name in _SIGNALS if hasattr(signal, name))
"""Signals that end a command; batch systems send the last three before the time is up."""
STATUSES = (0, 1, 2, 130, 141, *(128 + number for number in _LEAVING))
"""Every exit status that there is."""
_NAMED = ("numpy", "numba", "llvmlite", "scipy", "pyarrow", "typer", "rich", "networkx", "matplotlib")
"""Packages whose versions a report of a fault names."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status, one of `STATUSES`.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Notes
    -----
    Whatever happens, standard error gets one line and no traceback. One that is a fault of gossamer itself is written
    to a file, which the line names. Nothing half written is left. Without `arguments` the process is taken to end then:
    signals are ignored from there on.
    """
    given = sys.argv[1:] if arguments is None else arguments
    _fill_streams()
    status = 2
    try:
        with _signals_answered(), _warnings_in_one_line():
            status = _told(given)
    except KeyboardInterrupt:  # once more, while it was being told
        status = 130
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 2
    finally:
        unfinished = sys.modules.get("gossamer.atomic_files")
        if unfinished is not None:
            unfinished.discard_all()
        if arguments is None:
            _ignore_signals()
            if status == 130 or status - 128 in _LEAVING:
                _to_nowhere(sys.stdout)  # where nobody reads on, it would wait and hear no signal
    return _flushed(status if status in STATUSES else 2)


def _told(given: Sequence[str]) -> int:
    """Run the command; what goes wrong is told in one line and becomes an exit status."""
    try:
        return _run(given)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        return 141
    except OSError as error:
        if error.errno is None:  # no call of the system: a library that cannot be loaded
            return _fail(str(error), 2)
        where = "to standard output" if error.filename is None else repr(str(error.filename))
        return _fail(f"cannot write {where}: {error.strerror or error}", 2)
    except SystemExit as end:  # the command-line library ends so when nobody reads on
        if isinstance(end.__context__, BrokenPipeError):
            return 141
        if isinstance(end.code, int) and end.code - 128 in _LEAVING:
            return _fail(f"ended by {signal.Signals(end.code - 128).name}", end.code)
        raise
    except BaseException as error:
        return _fail(_fault(error, given), 2)


def _run(given: Sequence[str]) -> int:
    from typer import Abort

    from gossamer.cli.advice import with_advice
    from gossamer.cli.app import app
    from gossamer.cli.console import typed
    from gossamer.errors import GossamerError, VerificationError, interrupt_behind

    try:
        given = typed[:] = in_new_words(given)
        status = app(args=given, prog_name="gossamer", standalone_mode=False)
        if sys.stdout is not None:  # it is closed
            sys.stdout.flush()
    except VerificationError as error:
        return _fail(with_advice(str(error), given, error), 1)
    except GossamerError as error:
        return _fail(with_advice(str(error), given, error), 2)
    except MemoryError:
        return _fail("not enough memory for this size; try: a smaller network, or --stream", 2)
    except Abort:  # so some versions of the command-line library end at Ctrl-C, and others by a status
        status = 130
    except OSError:
        raise
    except SystemError as error:
        if (stopped := interrupt_behind(error)) is not None:
            raise stopped from None
        raise
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the command-line library raises on bad usage has it
            raise
        return _fail(with_advice(_usage(error, given), given), 2)
    if status == 130:
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _fault(error: BaseException, given: Sequence[str]) -> str:
    """Write what a report of an error that nobody foresaw needs to a file, and return the line that says so."""
    said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"a fault of gossamer itself, please report it: {said}; {_write_report(error, given)}"


def _write_report(error: BaseException, given: Sequence[str]) -> str:
    """Write a traceback with the command and the versions to a file that only its owner reads; say where it is.

    >>> import pathlib, re
    >>> said = _write_report(ValueError("odd"), ["plan", "ring:4"])
    >>> path = pathlib.Path(re.search("'(.*)'", said)[1])
    >>> path.read_text().splitlines()[0]
    "gossamer 'plan' 'ring:4'"
    >>> path.unlink()
    """
    import platform
    import tempfile
    import traceback

    lines = ["gossamer " + " ".join(map(ascii, given))]
    lines += [f"Python {sys.version.split()[0]} on {platform.platform()}", ", ".join(map(_version, _NAMED)), ""]
    lines += "".join(traceback.format_exception(error)).encode("ascii", "backslashreplace").decode().split("\n")
    try:
        held, path = tempfile.mkstemp(prefix="gossamer-fault-", suffix=".txt")
        with os.fdopen(held, "w", encoding="ascii") as file:
            file.write("\n".join(lines))
    except OSError as failed:
        return f"its traceback could not be written: {failed.strerror}"
    return f"its traceback is in {path!r}"


def _version(package: str) -> str:
    import importlib.metadata

    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {package}"


# Signals that end a command: it ends by an exception, so that what is half written vanishes.


@contextmanager
def _signals_answered() -> Iterator[None]:
    """Let SIGTERM, SIGHUP of a terminal that is closed, and others end what the block does by a SystemExit."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.getsignal(n) for n in _LEAVING}
    taken = [n for n in _LEAVING if n == signal.SIGTERM or before[n] is signal.SIG_DFL]  # nohup ignores SIGHUP
    hook, sys.unraisablehook = sys.unraisablehook, _again_elsewhere
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])
        sys.unraisablehook = hook


def _again_elsewhere(lost: Any) -> None:
    """Repeat a signal that came in a function which a library in C called, and which cannot raise.

    Python would print a traceback of what it raises, here and of all else that is lost so, and go on.
    """
    code = getattr(lost.exc_value, "code", None)
    number = signal.SIGINT if lost.exc_type is KeyboardInterrupt else code - 128 if isinstance(code, int) else None
    if number == signal.SIGINT or number in _LEAVING:
        again = threading.Timer(_AGAIN, _send, (threading.get_ident(), number))
        again.daemon = True
        again.start()


def _send(thread: int, number: int) -> None:
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(thread, number)  # which ends a wait, too


def _ignore_signals() -> None:
    """Take no more signals: the process has done its work, and its exit status is known."""
    if threading.current_thread() is threading.main_thread():
        exec("")  # Python ends itself by SIGINT where that last came in code made of text; this is such code
        for number in (signal.SIGINT, *_LEAVING):
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)


# What goes to the standard streams.


def _fill_streams() -> None:
    """See to it that no file that is written gets the number of a standard stream that is closed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets its escape code
            stream.reconfigure(errors="backslashreplace")


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


def _flushed(status: int) -> int:
    """Write what standard output still holds, and return the status; Python would try once more when it ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        if status == 0:
            pipe = isinstance(error, BrokenPipeError)
            reason = getattr(error, "strerror", None) or error
            status = 141 if pipe else _fail(f"cannot write to standard output: {reason}", 2)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _to_nowhere(stream)
    return status


def _to_nowhere(stream: Any) -> None:
    """Let nothing come of what a stream still holds."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """Return what was wrong with the usage, with the word that was given."""
    from gossamer.errors import shown

    text = str(error.format_message()).removesuffix(".").replace("Value error, ", "")
    text = re.sub(r"^No such option:? '?(-[\w-]+)'?.*", r"no option \1", text, flags=re.DOTALL)
    text = re.sub(r"Input should be a valid integer, .*?(?=;|$)", "it must be a whole number", text)
    text = re.sub(r"Input should be a valid number, .*?(?=;|$)", "it must be a number", text)
    if not text:
        return "no command given; see gossamer -h"
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for word, given in itertools.pairwise(arguments):
            if word == name and repr(given) not in text:
                text += f"; got {shown(given)}"
    return text


def _fail(text: str, status: int) -> int:
    from gossamer.cli.console import print_error, styled

    text = re.sub(rf"\S{{{_LONG}}}\S{{140,}}", lambda word: f"{word[0][:_LONG]}...", text)
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    if sys.stderr is not None:  # it is closed
        with suppress(OSError):
            print_error(f"{styled('gossamer:', 'red', sys.stderr)} {line}")
    return status
