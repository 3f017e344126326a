"""End commands at random moments: ``python tests/faults/kills.py --kills 300``.

Each kill is one of a signal, at a process that is forked from this one and writes a file: half of them at any moment
of the command, half as soon as its temporary file is there. The target must be what it was, or what it will be; after
SIGINT and SIGTERM nothing else may be left, and the next command must clear away what SIGKILL leaves. With
`--processes`, so many of each are processes of their own, which start and load everything.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

OLD = b"as before"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
PLAN = "plan torus:6x6 alltoall -o"
LINES = {
    "save": f"{PLAN} new.parquet",
    "save as text": f"{PLAN} new.txt",
    "sweep": "sweep run --network ring:{4..15} --task allgather --engine in-process -o new.parquet",
    "export": "export plan.parquet --to goal -o new.goal",
    "export of a folder": "export plan.parquet --to smpi -o new",
    "explorer": "explore plan.parquet -o new.html",
}


class Command:
    """A command that writes one output: what it writes, and what is wrong after it was ended."""

    def __init__(self, name: str) -> None:
        self.name, self.words = name, LINES[name].split()
        self.target = Path(self.words[-1])
        assert _carried_out(self.words) == 0, name  # what is compiled or imported once is not part of it
        self.clear()
        began = time.monotonic()
        assert _carried_out(self.words) == 0
        self.seconds = time.monotonic() - began
        self.whole = self.content()

    def clear(self) -> None:
        """Leave no output."""
        for path in Path().glob("new*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def prepare(self, number: int) -> object:
        """Put something old in the target's place every other time, and return what is there."""
        self.clear()
        if number % 2 and self.target.suffix:
            self.target.write_bytes(OLD)
        return self.content()

    def content(self) -> object:
        """Return what the file or the folder holds, None if it is not there."""
        if self.target.is_dir():
            return {each.name: each.read_bytes() for each in self.target.iterdir()}
        return self.target.read_bytes() if self.target.exists() else None

    def damaged(self, before: object, now: object) -> bool:
        """Return whether the target is neither what it was nor what it will be."""
        return now not in (before, self.whole)

    def left(self) -> set[Path]:
        """Return what is there beside the target."""
        return {*Path().glob(".gossamer-*"), *Path().glob("new*")} - {self.target}

    def wrong(self, before: object, number: signal.Signals, status: int) -> list[str]:
        """Return what is wrong after the command was ended."""
        now, said = self.content(), []
        if self.damaged(before, now):
            said.append("the target is neither old nor new")
        if status == 0 and now != self.whole:
            said.append("done, and the target is not new")
        if status not in (0, STATUS[number]):
            said.append(f"status {status}")
        if number != signal.SIGKILL:
            said += [f"left behind: {path}" for path in sorted(self.left())]
        return said

    def finish(self) -> list[str]:
        """Carry the command out after the last kill, and return what is wrong: nothing stale may be left."""
        self.prepare(0)
        status = subprocess.run(_of_its_own(self.words), stdout=subprocess.DEVNULL, check=False).returncode
        said = [f"left behind: {path}" for path in self.left()]
        if status or self.content() != self.whole:
            said.append(f"carried out again: status {status}, or another output")
        return said


class Sweep(Command):
    """A sweep goes on where it was ended: of what it has finished nothing may be lost, and nothing done is wrong."""

    def prepare(self, number: int) -> object:
        """Begin anew only once all is done."""
        now = self.content()
        if now == self.whole:
            self.clear()
            now = self.content()
        return now

    def content(self) -> object:
        """Return the points that are finished, from the file and its journal."""
        from gossamer.studies.sweeps import read_results

        return read_results(self.target).to_pylist() if any(Path().glob(f"{self.target}*")) else []

    def damaged(self, before: Any, now: Any) -> bool:
        """Return whether a point is gone, or one is not as it should be."""
        return any(row not in now for row in before) or any(row not in self.whole for row in now)

    def left(self) -> set[Path]:
        """Return what is there beside the file and its journal."""
        return super().left() - {Path(f"{self.target}.journal")}


def _carried_out(words: list[str]) -> int:
    from gossamer.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main(words)


def _forked(command: Command, number: signal.Signals, draw: random.Random, reached: bool) -> int:
    """Carry a command out in a forked process, end it, and return its status."""
    held = os.pipe()
    process = os.fork()
    if process == 0:
        status = 99
        try:
            os.write(held[1], b"x")
            status = _carried_out(command.words)
        except KeyboardInterrupt:  # before the command began, or after it ended
            status = STATUS[number]
        finally:
            os._exit(status)
    os.read(held[0], 1)
    waits = draw.expovariate(1 / 0.002) if reached else draw.uniform(0, 1.1 * command.seconds)
    code = _status(process, until=20 * command.seconds) if reached else None
    if code is None:
        time.sleep(waits)
        os.kill(process, number)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    for each in held:
        os.close(each)
    return STATUS[number] if code == -number else code  # before the command began, or after it ended


def _status(process: int, until: float) -> int | None:
    """Wait for a new temporary file and return None, or the status if the process ends before."""
    ends, known = time.monotonic() + until, set(Path().glob(".gossamer-*"))
    while not set(Path().glob(".gossamer-*")) - known and time.monotonic() < ends:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
    return None


def _of_its_own(words: list[str]) -> list[str]:
    """Return the words of a process of its own, which loads everything."""
    return [sys.executable, "-m", "gossamer", *words]


def _started(command: Command, number: signal.Signals, draw: random.Random, seconds: float) -> tuple[int, str]:
    """Carry a command out in a process of its own, end it, and return its status and what is odd in what it said."""
    words = _of_its_own(command.words)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(draw.uniform(0, seconds))
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    status = process.returncode
    if "Traceback" in err and "gossamer/" not in err:  # while Python itself started
        return STATUS[number], ""
    return STATUS[number] if status == -number else status, err if err.count("\n") > 1 or "fault" in err else ""


def kills(command: Command, number: signal.Signals, count: int, processes: int, draw: random.Random) -> list[str]:
    """Carry out the kills of a command by a signal, print what came of them, and return what is wrong."""
    found: list[str] = []
    came: Counter[str] = Counter()
    for i in range(count):
        before = command.prepare(i)
        status = _forked(command, number, draw, reached=i % 4 > 1)
        came["ended" if status else "done"] += 1
        came["new"] += command.content() == command.whole
        found += [f"kill {i}: {text}" for text in command.wrong(before, number, status)]
    began = time.monotonic()
    found += command.finish()
    seconds = time.monotonic() - began
    for i in range(processes):
        before = command.prepare(i)
        status, said = _started(command, number, draw, seconds)
        came["ended" if status else "done"] += 1
        came["new"] += command.content() == command.whole
        found += [f"process {i}: {text}" for text in [*command.wrong(before, number, status), said] if text]
    found += command.finish()
    told = f"{came['ended']} ended, {came['done']} done before; {came['new']} times the target was new"
    print(f"{command.name}: {count + processes} of {number.name}: {told}; {len(found)} wrong", flush=True)
    return [f"{command.name}, {number.name}, {text}" for text in found]


def main() -> int:
    """Carry out what is asked, print the figures, and return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="of each signal at each command")
    parser.add_argument("--processes", type=int, default=0, help="kills of processes of their own, added to these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(LINES), help="one command")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what it runs in the background
    home, folder = Path.cwd(), tempfile.mkdtemp(prefix="kills-")
    os.chdir(folder)
    draw, found = random.Random(given.seed), []
    try:
        assert _carried_out([*PLAN.split(), "plan.parquet"]) == 0
        for name in [given.only] if given.only else LINES:
            command = (Sweep if name == "sweep" else Command)(name)
            for number in STATUS:
                found += kills(command, number, given.kills, given.processes, draw)
    finally:
        os.chdir(home)
        shutil.rmtree(folder)
    print("\n".join([*found[:50], f"{len(found)} wrong in all"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
