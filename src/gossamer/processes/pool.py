"""The engine of all cores: worker processes that are fed, watched, and replaced when they die."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from gossamer.atomic_files import memory_text
from gossamer.errors import GossamerError, ModelError
from gossamer.processes.memory import limit_data
from gossamer.processes.work_items import Failure, Say, WorkItem, WorkResult, attempt, too_large

# Points as bytes for another process, those of classes that a notebook defines included.


def packed(point: Any) -> bytes:
    """Return a point as bytes that `pickle.loads` reads elsewhere.

    Raises ModelError if it cannot be packed, or is of a class of ``__main__`` and cloudpickle is not there to pack that
    as well.
    """
    try:
        if type(point).__module__ != "__main__":
            return pickle.dumps(point, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        reason = str(error)
    else:
        reason = "its class is defined in a notebook or script"
    try:
        import cloudpickle
    except ImportError:
        raise ModelError(
            f"a point cannot be sent to another process, {reason}; engine='in-process' runs it here, "
            "and with the extra 'dask' (cloudpickle) it can be sent"
        ) from None
    try:
        sent: bytes = cloudpickle.dumps(point)
    except Exception as error:
        raise ModelError(f"a point cannot be sent to another process: {error}") from error
    return sent


_TRIES = 3
"""How often a point is tried whose process dies."""
_QUICK, _AHEAD = 0.02, 6
"""Points of less than so many seconds are handed out this many at a time."""
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); " \
    "from gossamer.processes.pool import serve; serve(int(sys.argv[1]))"  # fmt: skip
_ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Attempt:
    """A job that is handed out, or waits to be again: how often a process died at it, and the memory it gets."""

    job: WorkItem
    deaths: int = 0
    alone: bool = False
    grant: int = 0


@dataclass
class _Worker:
    """A process and what it was given, the first of which it is at."""

    name: str
    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    given: deque[_Attempt] = field(default_factory=deque)
    ready: bool = False

    @property
    def grant(self) -> int:
        return max((t.grant for t in self.given), default=0)

    def end(self) -> None:
        """Kill the process and wait for its end."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Processes:
    """Worker processes, as many as are asked for, that share the memory.

    `jobs`: points at once. `memory`: bytes for all points together. A point that certainly needs more is refused. One
    that turns out to need more than its share is tried again alone, and refused if that is not enough either. `kept`:
    whether workers that have nothing to do wait for another run, until `close`.

    `deaths`: which workers died, and at what.
    """

    def __init__(self, jobs: int, memory: int, *, kept: bool = False) -> None:
        self.jobs, self.memory, self.kept = jobs, memory, kept
        self.deaths: list[str] = []
        self._workers: list[_Worker] = []
        self._numbers = itertools.count(1)
        self._again: deque[_Attempt] = deque()
        self._stillborn = 0
        self._mean = 1.0

    def run(self, jobs: Iterable[WorkItem], say: Say) -> Generator[WorkResult]:
        """Yield what came of each job as it is done; the workers, or those at work if others are kept, end with it."""
        source = iter(jobs)
        try:
            while True:
                yield from self._hand_out(source, say)
                if not any(w.given for w in self._workers):
                    return
                for connection in wait([w.connection for w in self._workers]):
                    worker = next(w for w in self._workers if w.connection is connection)
                    done = self._heard(worker, say)
                    if done is not None:
                        yield done
        finally:
            self._end(worker for worker in self._workers if worker.given or not self.kept)
            self._again.clear()

    def close(self) -> None:
        """End all workers."""
        self._end(self._workers)

    def _end(self, workers: Iterable[_Worker]) -> None:
        for worker in list(workers):
            worker.end()
            self._workers.remove(worker)

    # -- handing out --------------------------------------------------------------------------------------------

    def _hand_out(self, source: Iterator[WorkItem], say: Say) -> Iterator[WorkResult]:
        """Give jobs to whoever has room for them; yield those that are refused."""
        while True:
            worker = self._with_room()
            if worker is None and len(self._workers) >= self.jobs:
                return
            if not self._again:
                job = next(source, None)
                if job is None:
                    return
                self._again.append(_Attempt(job))
            one = self._again[0]
            if one.job.needs > self.memory:
                self._again.popleft()
                yield too_large(one.job, self.memory)
                continue
            one.grant = self.memory if one.alone else max(one.job.needs, self.memory // self.jobs)
            others = sum(w.grant for w in self._workers if w is not worker)
            if others and others + one.grant > self.memory:
                return  # until somebody is done
            try:
                sent = packed(one.job.point)
            except GossamerError as error:
                self._again.popleft()
                yield WorkResult(one.job.place, None, Failure("refused", str(error), error), 0.0)
                continue
            if worker is None:
                worker = self._started()
            elif worker.given and (one.alone or one.deaths or one.grant > worker.grant):
                return
            self._again.popleft()
            worker.given.append(one)
            with contextlib.suppress(OSError):  # it died: that is heard
                worker.connection.send((one.job.place, sent, one.grant))
            if len(worker.given) == 1:
                say(one.job.point.title)

    def _with_room(self) -> _Worker | None:
        """Return the worker with the least to do, if it has room."""
        ahead = _AHEAD if self._mean < _QUICK else 1
        least = min(self._workers, key=lambda w: len(w.given), default=None)
        if least is None or len(least.given) >= ahead or (least.given and len(self._workers) < self.jobs):
            return None
        return least if not least.given or not (least.given[0].alone or least.given[0].deaths) else None

    def _started(self) -> _Worker:
        """Start a worker."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(sys.path)]
            threads = dict.fromkeys(_ONE_THREAD, "1") if self.jobs > 1 else {}
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **threads},
            )
        worker = _Worker(f"worker {next(self._numbers)}", process, Connection(ours.detach()))
        self._workers.append(worker)
        return worker

    # -- listening ----------------------------------------------------------------------------------------------

    def _heard(self, worker: _Worker, say: Say) -> WorkResult | None:
        """Take in what a worker says; return what it has done, if that is final."""
        try:
            what, value = worker.connection.recv()
        except (EOFError, OSError):
            return self._buried(worker, say)
        if what == "ready":
            worker.ready, self._stillborn = True, 0
        elif what == "say":
            say(value)
        else:
            return self._finished(worker, value)
        return None

    def _finished(self, worker: _Worker, done: WorkResult) -> WorkResult | None:
        one = worker.given.popleft()
        self._mean += (done.seconds - self._mean) / 8
        if done.failure is None or done.failure.kind != "too large":
            return done
        if one.grant < self.memory:
            self._again.append(_Attempt(one.job, one.deaths, alone=True))
            return None
        if isinstance(done.failure.error, GossamerError):
            return done
        reason = f"it needs more than the {memory_text(self.memory)} of memory that a point may have"
        return done._replace(failure=Failure("too large", reason, MemoryError(reason)))

    def _buried(self, worker: _Worker, say: Say) -> WorkResult | None:
        """Take leave of a worker that died: its point is tried again, what waited behind it goes to others."""
        worker.end()
        self._workers.remove(worker)
        code = worker.process.returncode
        cause = _signal_name(-code) if code < 0 else f"exit status {code}"
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= _TRIES:
                raise GossamerError(f"worker processes do not start: {cause}")
        self._again.extendleft(list(worker.given)[:0:-1])
        if not worker.given:
            return None
        one = worker.given[0]
        one.deaths += worker.ready
        text = f"{worker.name} (process {worker.process.pid}) died, {cause}, at {one.job.point.title}"
        self.deaths.append(text)
        say(text)
        if one.deaths < _TRIES:
            one.alone = one.deaths == _TRIES - 1  # perhaps it was killed for the memory of all
            self._again.appendleft(one)
            return None
        reason = f"its process died {_TRIES} times, the last time of {cause}"
        return WorkResult(one.job.place, None, Failure("failed", reason), 0.0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# A worker process: it reads points, runs them one after the other, sends what came of them, and ends when the other end
# of its connection does.

_PAUSE = 0.1
"""Seconds between two words of progress."""


def serve(descriptor: int) -> None:
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
            connection.send(("done", WorkResult(place, None, lost, done.seconds)))


def _read(connection: Connection[Any, Any], given: queue.SimpleQueue[tuple[int, bytes, int]]) -> None:
    """Queue what comes; when nothing can come any more, end the process, whatever it is doing."""
    try:
        while True:
            given.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)


def _carried_out(connection: Connection[Any, Any], place: int, packed: bytes, grant: int) -> WorkResult:
    said = [monotonic()]

    def say(text: str) -> None:
        if monotonic() - said[0] >= _PAUSE:
            said[0] = monotonic()
            connection.send(("say", text))

    limit_data(grant)
    try:
        point = pickle.loads(packed)
    except Exception as error:
        return WorkResult(place, None, Failure("failed", f"the point cannot be read by a worker: {error}"), 0.0)
    return attempt(WorkItem(place, point), say)
