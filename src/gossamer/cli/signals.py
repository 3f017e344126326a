"""Signals that end a command: it ends by an exception, so that what is half written vanishes."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["answered", "ignored"]

_AGAIN = 0.02
"""Seconds after which a signal that came at a place which cannot pass it on is answered once more."""
_LEAVING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def answered() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, end what the block does by a SystemExit of status 143."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

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
    number = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}.get(lost.exc_type)
    if number is not None:
        again = threading.Timer(_AGAIN, _send, (threading.get_ident(), number))
        again.daemon = True
        again.start()


def _send(thread: int, number: int) -> None:
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(thread, number)  # which ends a wait, too


def ignored() -> None:
    """Take no more signals: the process has done its work, and its exit status is known."""
    if threading.current_thread() is threading.main_thread():
        exec("")  # Python ends itself by SIGINT where that last came in code made of text; this is such code
        for number in (signal.SIGINT, *_LEAVING):
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
