"""Mutation testing: small faults in the checkers, the planner and the bounds, put in one at a time; tests must notice.

    python benchmarks/mutants.py [--only N ...] [--list] [--seconds S]

`mutations.txt` is the table. Each fault is written into a temporary copy of ``src``, never into the work tree, and the
tests that should notice it run against that copy until the first fails. A fault that no test notices survived. Kernels
run uncompiled. The examples of property tests are the same each time, and are not shrunk. Ends with status 1 if a
fault survived. Not part of CI: some minutes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PASSED, FAILED = 0, 1  # statuses of pytest; all others mean that the tests could not run

# what a test run needs anyway: loaded once, before the processes fork
_PRELOADED = ("numpy", "scipy.sparse", "scipy.optimize", "networkx", "numba", "hypothesis", "pytest", "rich.console")


_OPTIONS = (
    *("-q", "-x", "--slow=none", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"),
    "-Wignore::pytest.PytestAssertRewriteWarning",  # of what is preloaded
)


class Mutation(NamedTuple):
    """A fault: in a file, `new` in the place of `old`, which `tests` should notice."""

    fault: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def table(text: str) -> Iterator[Mutation]:
    """Yield the mutations of a table; its first lines say how it is written."""
    file, usual = "", ""
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith("=== "):
            file, _, usual = lines[0][4:].partition(": ")
        elif lines:
            fault, _, tests = lines[0].partition(" | ")
            old, new = ("\n".join(line[1:] for line in lines[1:] if line[0] == sign) for sign in "-+")
            yield Mutation(fault, file, old, new, tuple((tests or usual).split()))


def replaced(source: Path, mutation: Mutation) -> str:
    """Return the mutated text of a file; SystemExit if the old text does not stand there exactly once."""
    text = (source / "gossamer" / mutation.file).read_text()
    if (count := text.count(mutation.old)) != 1:
        raise SystemExit(f"{mutation.file}: {count} times, instead of once: {mutation.old!r}")
    return text.replace(mutation.old, mutation.new)


def run(copy: Path, tests: tuple[str, ...], log: Path, seconds: int) -> int:
    """Run tests against a copy of the sources in a process of its own; return its status, negative if a signal."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        signal.alarm(seconds)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(ROOT)
        sys.path.insert(0, str(copy))
        status = 3
        try:
            import pytest

            status = int(pytest.main([*_OPTIONS, *(f"tests/{test}" for test in tests)]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except KeyboardInterrupt:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise


def prepare(copy: Path) -> None:
    """Copy the sources, and load what every run needs."""
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    os.environ |= {"PYTHONPATH": str(copy), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in _PRELOADED:
        importlib.import_module(name)
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)


def verdict(copy: Path, mutation: Mutation, log: Path, seconds: int) -> str:
    """Return whether a mutation is killed, by its tests or by the clock, or survives."""
    place = copy / "gossamer" / mutation.file
    original, stamp, text = place.read_text(), place.stat(), replaced(copy, mutation)
    try:
        place.write_text(text)
        status = run(copy, mutation.tests, log, seconds)
    finally:
        place.write_text(original)
        os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # what was compiled of it is good again
    if status == -signal.SIGALRM:
        return "killed by the clock"
    return {PASSED: "SURVIVED", FAILED: "killed"}.get(status, f"BROKEN (status {status})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="numbers of mutations, as --list gives them")
    parser.add_argument("--list", action="store_true", help="print the table and run nothing")
    parser.add_argument("--seconds", type=int, default=300, help="after which a run counts as killed (default 300)")
    asked = parser.parse_args()
    mutations = table(Path(__file__).with_name("mutations.txt").read_text())
    chosen = [(i, m) for i, m in enumerate(mutations, 1) if not asked.only or i in asked.only]
    for _, mutation in chosen:
        replaced(ROOT / "src", mutation)
    if asked.list:
        for i, m in chosen:
            print(f"{i:3}  {m.fault}  ({m.file}; {' '.join(m.tests)})")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copy, log = Path(folder, "src"), Path(folder, "log")
        prepare(copy)
        everything = tuple(dict.fromkeys(test for _, m in chosen for test in m.tests))
        began = time.monotonic()
        if status := run(copy, everything, log, 10 * asked.seconds):
            print(log.read_text()[-3000:])
            print(f"the tests fail without any mutation (status {status})")
            return 2
        print(f"{len(chosen)} mutations; their tests pass on the sources, {time.monotonic() - began:.0f} s", flush=True)
        sys.dont_write_bytecode = True
        verdicts = []
        for i, mutation in chosen:
            began = time.monotonic()
            verdicts.append(verdict(copy, mutation, log, asked.seconds))
            seconds = time.monotonic() - began
            print(f"{i:3}  {verdicts[-1]:<9} {seconds:5.1f} s  {mutation.fault}  ({mutation.file})", flush=True)
            if verdicts[-1].startswith("BROKEN"):
                print(log.read_text()[-2000:])
    used = sum(os.times()[:4])
    killed = sum(v.startswith("killed") for v in verdicts)
    print(f"{killed} of {len(chosen)} killed, {used:.0f} s of CPU")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
