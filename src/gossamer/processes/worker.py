"""A worker process: it reads points, runs them one after the other, and sends what came of them.

It is started by `gossamer.processes.pool`, never imported by what runs there, and ends when the other end of
its connection does.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from gossamer.processes.job import Done, Failure, Job, attempt
from gossamer.processes.memory import limit_data

__all__ = ["main"]

_PAUSE = 0.1
"""Seconds between two words of progress."""


def main(descriptor: int) -> None:
    """Serve the process at the other end of a socket until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    connection = Connection(descriptor)
    given: queue.SimpleQueue[tuple[int, bytes, int]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, given), daemon=True).start()
    connection.send(("ready", os.getpid()))
    while True:
        place, packed, grant = given.get()
        done = _carried_out(connection, place, packed, grant)
        try:
            connection.send(("done", done))
        except OSError:
            os._exit(1)  # nobody reads any more
        except Exception as error:  # whatever cannot be packed
            lost = Failure("failed", f"what came of it cannot be sent: {error}")
            if done.failure is not None:
                lost = Failure(done.failure.kind, done.failure.reason)
            connection.send(("done", Done(place, None, lost, done.seconds)))


def _read(connection: Connection[Any, Any], given: queue.SimpleQueue[tuple[int, bytes, int]]) -> None:
    """Queue what comes; when nothing can come any more, end the process, whatever it is doing."""
    try:
        while True:
            given.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)


def _carried_out(connection: Connection[Any, Any], place: int, packed: bytes, grant: int) -> Done:
    said = [monotonic()]

    def say(text: str) -> None:
        if monotonic() - said[0] >= _PAUSE:
            said[0] = monotonic()
            connection.send(("say", text))

    limit_data(grant)
    try:
        point = pickle.loads(packed)
    except Exception as error:
        return Done(place, None, Failure("failed", f"the point cannot be read by a worker: {error}"), 0.0)
    return attempt(Job(place, point), say)
