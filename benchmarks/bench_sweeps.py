"""What a sweep adds to its points, what many points need in memory, and what a second core is worth.

    python benchmarks/bench_sweeps.py [--points 5000] [--many 100000] [--no-dask]

Overhead: points that do nothing, carried out and kept in a file; from the first result on, so that the start of
processes is apart. CPU is that of the process that runs the sweep, a point. Limits: 2 ms a point in processes, 10 ms on
Dask, by the clock. Scaling: points of pure computation on one core and on two.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LIMITS = {"in-process": 2.0, "processes": 2.0, "dask": 10.0}


@dataclass(frozen=True)
class Nothing:
    """A point that does nothing, or adds numbers for so long."""

    number: int
    rounds: int = 0

    @property
    def title(self):
        return f"point {self.number}"

    def describe(self):
        return {"kind": "nothing", "number": self.number, "rounds": self.rounds}

    def run(self, progress):
        total = 0
        for k in range(self.rounds):
            total += k * k
        return {"total": total, "half": self.number / 2}


def overhead(engine, count, folder):
    """Return the start, and milliseconds a point by the clock and of CPU here, of points that do nothing."""
    from gossamer.studies.sweeps import sweep

    firsts = []

    def progress(text):
        if not firsts and not text.startswith("0 of"):
            firsts.append(time.perf_counter())

    began, cpu = time.perf_counter(), time.process_time()
    found = sweep([Nothing(n) for n in range(count)], folder / f"{engine}.parquet", engine=engine, progress=progress)
    ended = time.perf_counter()
    assert found.counts == {"done": count}
    start = (firsts or [began])[0]
    return start - began, 1000 * (ended - start) / count, 1000 * (time.process_time() - cpu) / count


def scaling(count, rounds):
    """Return the seconds of a sweep on one core and on two, and the seconds of CPU of its workers."""
    from gossamer.studies.sweeps import sweep

    found = []
    for jobs in (1, 2):
        began, before = time.perf_counter(), os.times()
        sweep([Nothing(n, rounds) for n in range(count)], engine="processes", jobs=jobs)
        now = os.times()
        spent = now.children_user + now.children_system - before.children_user - before.children_system
        found.append((time.perf_counter() - began, spent))
    return found


MANY = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
from bench_sweeps import Nothing
from gossamer.studies.sweeps import sweep
began = time.perf_counter()
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = sweep([Nothing(n) for n in range(int(sys.argv[2]))], sys.argv[3], engine="in-process")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
took = time.perf_counter() - began
print(f"{len(found):,} points: {took:.1f} s, peak {peak / 1024:,.0f} MB ({base / 1024:,.0f} before)")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--no-dask", action="store_true")
    given = parser.parse_args()
    here = str(Path(__file__).resolve().parent)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for engine in ("in-process", "processes", *(() if given.no_dask else ("dask",))):
            start, clock, cpu = overhead(engine, given.points, folder)
            limit = LIMITS[engine]
            verdict = "within" if clock < limit else "OVER"
            figures = f"{clock:6.3f} ms a point ({cpu:.3f} of CPU here), {verdict} {limit:g} ms"
            print(f"{engine:<11} {figures}; start {start:.1f} s")
        subprocess.run([sys.executable, "-c", MANY, here, str(given.many), str(folder / "many.parquet")], check=True)
    (one, cpu_one), (two, cpu_two) = scaling(24, 3_000_000)
    busy = os.getloadavg()[0]
    print(f"1 core {one:.1f} s, 2 cores {two:.1f} s: {one / two:.2f} times as fast (load of the machine {busy:.1f})")
    print(f"seconds of CPU of the workers {cpu_one:.1f} and {cpu_two:.1f}: at most {2 * cpu_one / cpu_two:.2f} times")


if __name__ == "__main__":
    sys.modules.setdefault("bench_sweeps", sys.modules["__main__"])
    from bench_sweeps import Nothing  # so that workers find the class in a module

    Nothing.__module__ = "bench_sweeps"
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    main()
