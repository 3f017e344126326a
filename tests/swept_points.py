"""Points for tests of sweeps: a module that worker processes can import, as they cannot a test module."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gossamer.errors import GossamerError


@dataclass(frozen=True)
class Square:
    """A number; `wrong` is raised instead."""

    number: int
    wrong: type[Exception] | None = None

    @property
    def title(self):
        return f"the square of {self.number}"

    def describe(self):
        return {"kind": "square", "number": self.number}

    def run(self, progress):
        progress(f"squaring {self.number}")
        if self.wrong is not None:
            raise self.wrong("no such number")
        return self.number**2


@dataclass(frozen=True)
class Line(Square):
    """A number with what a row holds, slowly; each run leaves a mark in a file, if there is one."""

    seconds: float = 0.0
    marks: str = ""

    def run(self, progress):
        progress(self.title)
        time.sleep(self.seconds)
        if self.marks:
            with Path(self.marks).open("a") as file:
                file.write(f"{self.number}\n")
        if self.number % 7 == 5:
            raise GossamerError(f"{self.number} is not wanted")
        half = self.number / 2
        return {"square": self.number**2, "half": int(half) if half == int(half) else half, "even": half == int(half)}


@dataclass(frozen=True)
class Deadly(Square):
    """A point at which the process dies, so many times."""

    marks: str = ""
    times: int = 1

    def run(self, progress):
        path = Path(self.marks)
        path.touch()
        if path.stat().st_size < self.times:
            with path.open("a") as file:
                file.write("x")
            os.kill(os.getpid(), 9)
        return {"square": self.number**2}


@dataclass(frozen=True)
class Large(Square):
    """A point that takes so many bytes; `needs` is what it says before."""

    size: int = 1 << 33
    needs: tuple[int, float] = (0, 0.1)

    def run(self, progress):
        return {"sum": float(np.ones(self.size // 8).sum())}


@dataclass(frozen=True)
class Endless(Square):
    """A point without end that writes its process."""

    marks: str = ""

    def run(self, progress):
        Path(self.marks).write_text(str(os.getpid()))
        while True:
            progress("still running")
            time.sleep(0.001)
