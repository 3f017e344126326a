"""Tries of a search, such as orders and seeds: carried out by this process or by several, and taken in their order.

A search takes the first of the best, whoever carried out what, so that its result does not depend on how many do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from gossamer.atomic_files import memory_text
from gossamer.errors import GossamerError
from gossamer.processes.memory import available
from gossamer.processes.work_items import Progress, WorkItem, WorkResult

if TYPE_CHECKING:
    from gossamer.processes.pool import Processes

__all__ = ["ALONE", "MOST", "Trials"]

MOST = 1024
"""The most processes at once."""

_WORTH = 1.5
"""Seconds of a search that are worth starting processes, each of which takes about one until it is at work."""
_PROCESS = 200_000_000
"""Bytes of a process that has done nothing yet."""

A = TypeVar("A", bound=tuple[Any, ...])
R = TypeVar("R")


@dataclass(frozen=True)
class _Try:
    """A try on its way to a process."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    title: str

    def run(self, progress: Progress) -> tuple[Any, float]:
        """Return what comes of it, and the CPU seconds that it takes."""
        began = time.process_time()
        found = self.function(*self.arguments)
        return found, time.process_time() - began


class Trials:
    """Who carries out the tries of searches.

    * `jobs` (int): tries at once, each in a process of its own; 1 for this process alone.
    * `memory` (int): bytes that all tries together may have. Default: four fifths of what is free.
    * `progress` (callable): told which try begins.

    `seconds` (float): CPU seconds that other processes took for tries that counted.

    >>> [found for _, found in Trials().in_order(divmod, [(7, 2), (9, 4)])]
    [(3, 1), (2, 1)]
    """

    def __init__(self, jobs: int = 1, memory: int | None = None, progress: Progress | None = None) -> None:
        self.jobs, self.memory, self.seconds = jobs, memory, 0.0
        self._say: Progress = progress or (lambda stage: None)
        self._name, self._long, self._bytes = "", 0.0, 0
        self._pool: Processes | None = None

    def __reduce__(self) -> tuple[type[Trials], tuple[()]]:
        """Return what makes it elsewhere: what goes to another process starts no more of them."""
        return Trials, ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes; from now on this one carries out all tries."""
        self.jobs = 1
        self._end()

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def expect(self, name: str, seconds: float, size: int) -> None:
        """Let it be known what is built next, and about how many seconds and bytes that takes by one process."""
        self._name, self._long, self._bytes = name, seconds, size

    @property
    def at_once(self) -> int:
        """Tries at once, as many as are asked for and the memory holds beside what this process builds."""
        if self.jobs < 2:
            return 1
        memory = available() if self.memory is None else self.memory
        return max(1, min(self.jobs, (memory - self._bytes) // (self._bytes + _PROCESS)))

    def in_order(self, function: Callable[..., R], each: Iterable[A]) -> Iterator[tuple[A, R]]:
        """Yield arguments and what a function makes of them, in their order, until nobody wants more.

        `function` (callable): of a module, and without effects, as are all arguments that can be pickled. `each`
        (iterable of tuple): arguments, asked for when a try begins: with several processes that is before what earlier
        ones found is known. Whatever is made of a result must not depend on that. Raises `GossamerError`: what the
        function raises, or if the process of a try dies three times.

        Processes are started for what is expected to take long, or has taken long by now. What is under way when
        nobody wants more is ended.
        """
        source, spent = iter(each), self._long
        while self.at_once < 2 or (self._pool is None and spent < _WORTH):
            arguments = next(source, None)
            if arguments is None:
                return
            began = time.perf_counter()
            found = function(*arguments)
            spent += time.perf_counter() - began
            yield arguments, found
        yield from self._handed_out(function, source)

    def _handed_out(self, function: Callable[..., R], source: Iterator[A]) -> Iterator[tuple[A, R]]:
        given: dict[int, A] = {}
        ready: dict[int, WorkResult] = {}
        pool, place = self._processes(), 0
        about = f" (about {memory_text(self._bytes)} each)" if self._bytes else ""

        def jobs() -> Iterator[WorkItem]:
            for number, arguments in enumerate(source):
                given[number] = arguments
                title = f"try {number + 1} of {self._name or 'a search'}, {pool.jobs} at once{about}"
                yield WorkItem(number, _Try(function, arguments, title))

        run = pool.run(jobs(), self._say)
        try:
            for done in run:
                ready[done.place] = done
                while place in ready:
                    arguments = given.pop(place)
                    yield arguments, self._value(ready.pop(place), function, arguments)
                    place += 1
        finally:
            run.close()

    def _processes(self) -> Processes:
        from gossamer.processes.pool import Processes

        count = self.at_once
        if self._pool is not None and self._pool.jobs != count:
            self._end()
        if self._pool is None:
            self._pool = Processes(count, available() if self.memory is None else self.memory, kept=True)
        return self._pool

    def _value(self, done: WorkResult, function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
        """Return what came of a try; what had too little memory among others has it here."""
        if done.failure is None:
            found, seconds = done.value
            self.seconds += seconds
            made: R = found
            return made
        if done.failure.kind == "too large":
            return function(*arguments)
        if done.failure.error is not None:
            raise done.failure.error
        raise GossamerError(f"a try of {self._name or 'a search'} failed: {done.failure.reason}")


ALONE = Trials()
"""This process alone."""
