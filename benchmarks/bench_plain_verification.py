"""Verification on plain networks now and at an earlier commit, side by side: CPU time and memory.

    python benchmarks/bench_plain_verification.py --against COMMIT [--rounds N]

The earlier sources are taken from git into a temporary folder. Each tree verifies the same schedules in a process of
its own; the two take turns, so that a busy machine slows both. Printed are the best time of each, the peak of what
Python and NumPy allocate, and now over before. Stated limit: 1.02 for both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CASES = (
    ("array:24x24", "alltoall", "array-rounds"),
    ("torus:200x200", "alltoall", "edge-colored"),
    ("array:48x48", "allgather", "greedy-flooding"),
    ("array:48x48", "reduce-scatter", "reversed-greedy-flooding"),
    ("array:200x200", "scatter", "furthest-first"),
)

WORKER = """
import json, sys, time, tracemalloc
import gossamer
from gossamer.verification import verify
for line in sys.stdin:
    spec, task, algorithm, rounds = json.loads(line)
    schedule = gossamer.plan(spec, task, algorithm=algorithm).schedule
    assert verify(schedule).ok
    print(json.dumps(schedule.stored_hops), flush=True)
    for _ in range(rounds):
        sys.stdin.readline()
        times = []
        for _ in range(3):
            began = time.process_time()
            verify(schedule)
            times.append(time.process_time() - began)
        print(json.dumps(min(times)), flush=True)
    tracemalloc.start()
    verify(schedule)
    print(json.dumps(tracemalloc.get_traced_memory()[1]), flush=True)
    tracemalloc.stop()
"""


class Tree:
    """A process that verifies with the sources of one tree."""

    def __init__(self, source: Path, cache: Path) -> None:
        env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True, env=env)

    def say(self, value: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def hear(self) -> float:
        assert self.process.stdout is not None
        answer: float = json.loads(self.process.stdout.readline())
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", asked.against, "src"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        trees = Tree(Path(folder, "src"), Path(folder, "a")), Tree(ROOT / "src", Path(folder, "b"))
        print(f"{'case':52}{'hops':>11}{'ms before':>11}{'now':>9}{'ratio':>8}{'MB before':>11}{'now':>9}{'ratio':>8}")
        for case in CASES:
            for tree in trees:
                tree.say((*case, asked.rounds))
            hops = [int(tree.hear()) for tree in trees]
            best = [float("inf")] * 2
            for turn in range(asked.rounds):
                for k in (0, 1) if turn % 2 else (1, 0):
                    trees[k].say(0)
                    best[k] = min(best[k], trees[k].hear())
            held = [tree.hear() for tree in trees]
            name = " ".join(case) + ("" if hops[0] == hops[1] else " (other hops before)")
            print(
                f"{name:52}{hops[1]:11,}{best[0] * 1e3:11.2f}{best[1] * 1e3:9.2f}{best[1] / best[0]:8.3f}"
                f"{held[0] / 1e6:11.2f}{held[1] / 1e6:9.2f}{held[1] / held[0]:8.3f}",
                flush=True,
            )
        for tree in trees:
            tree.process.communicate()


if __name__ == "__main__":
    main()
