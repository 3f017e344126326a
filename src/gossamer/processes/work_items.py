"""What goes into an engine and what comes out: points, what was done of them, and failures that end nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from gossamer.atomic_files import memory_text
from gossamer.errors import GossamerError, VerificationError, interrupt_behind

__all__ = [
    "Engine",
    "Failure",
    "FailureKind",
    "Point",
    "Progress",
    "Say",
    "WorkItem",
    "WorkResult",
    "attempt",
    "too_large",
]

Progress = Callable[[str], None]
Say = Progress
FailureKind = Literal["refused", "too large", "failed"]


Found = TypeVar("Found", covariant=True)


class Point(Protocol[Found]):
    """One case of many: a plain record of everything that its result depends on."""

    @property
    def title(self) -> str:
        """What is looked at, in a few words, for progress and errors."""

    def run(self, progress: Progress) -> Found:
        """Carry it out; tell `progress` a line now and then, so that the sweep can be seen and stopped."""


class WorkItem(NamedTuple):
    """A point on its way through an engine: its place among all, and the bytes of memory that it needs at least."""

    place: int
    point: Point[Any]
    needs: int = 0


@dataclass(frozen=True)
class Failure:
    """Why nothing came of a point.

    * `kind` ({"refused", "too large", "failed"}): ``refused``: what is asked is illegal or nothing covers it, which
      another try would not change. ``too large``: it needs more memory than a point may have. ``failed``: anything
      else, such as a process that died.
    * `reason` (str): one line.
    * `error` (BaseException or None): what was raised, where something was.
    """

    kind: FailureKind
    reason: str
    error: BaseException | None = None


class WorkResult(NamedTuple):
    """What came of a job: a value, or a failure; and the seconds that it took."""

    place: int
    value: Any
    failure: Failure | None
    seconds: float


class Engine(Protocol):
    """Runs jobs; what is done comes in any order, each job once."""

    deaths: list[str]
    """The workers that died, with the points that they were at."""

    def run(self, jobs: Iterable[WorkItem], say: Say) -> Iterator[WorkResult]:
        """Yield what came of each job; closing the iterator ends those that are under way."""


def attempt(job: WorkItem, say: Say) -> WorkResult:
    """Run the point of a job here and now; whatever it raises becomes a failure."""
    began, value, failure = perf_counter(), None, None
    try:
        value = job.point.run(say)
    except MemoryError as error:
        told = str(error) if isinstance(error, GossamerError) else "not enough memory"
        failure = Failure("too large", told, error)
    except VerificationError as error:
        failure = Failure("failed", str(error), error)
    except GossamerError as error:
        failure = Failure("refused", str(error), error)
    except Exception as error:
        if (stopped := interrupt_behind(error)) is not None:
            raise stopped from None
        text = " ".join(f"{type(error).__name__}: {error}".split())
        failure = Failure("failed", text, error)
    return WorkResult(job.place, value, failure, perf_counter() - began)


def too_large(job: WorkItem, memory: int) -> WorkResult:
    """Return that a job needs more than the bytes that a point may have."""
    reason = f"it needs about {memory_text(job.needs)} of memory, and a point may have {memory_text(memory)}"
    return WorkResult(job.place, None, Failure("too large", reason, MemoryError(reason)), 0.0)
