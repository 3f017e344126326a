"""The engine that runs one point after the other, here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gossamer.processes.job import Done, Job, Say, attempt, too_large

__all__ = ["InProcess"]


class InProcess:
    """One point after the other in this process.

    Parameters
    ----------
    memory : int
        Bytes that a point may have; one that certainly needs more is refused.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.deaths: list[str] = []

    def run(self, jobs: Iterable[Job], say: Say) -> Iterator[Done]:
        """Yield what came of each job, in their order."""
        for job in jobs:
            if job.needs > self.memory:
                yield too_large(job, self.memory)
                continue
            say(job.point.title)
            yield attempt(job, say)
