"""Fuzz the command line and every reader: ``python tests/fuzz/run.py --commands 100000 --files 100000``.

Each case is made from the seed and its number alone, so that `--only` repeats it. Cases run in processes that are
forked from this one and replaced when they die; what is found is printed, and added to a file that a test can read.
"""

from __future__ import annotations

import argparse
import atexit
import collections
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import samples
import sandbox
import words

CHUNK = 500
HANGS = 150
"""Seconds after which a process is ended: of CPU for one case, or of waiting without a second of CPU."""


def case(
    kind: str, seed: int, number: int, folder: Path, good: list[Path]
) -> tuple[list[str], list[str], sandbox.Result]:
    """Make one case, run it, and return its words, what is wrong with it, and what it did."""
    draw = Random(f"{kind} {seed} {number}")
    sandbox.fresh(folder)
    if kind == "commands":
        given = words.command_line(draw)
        result = sandbox.run(given)
        return given, sandbox.judged(given, result, folder), result
    name, data, given = samples.mutated(good, draw)
    path = folder / name
    path.write_bytes(data)
    result = sandbox.run(given)
    said = sandbox.judged(given, result, folder, len(data))
    if not said:
        path.unlink(missing_ok=True)
    return given, said, result


def _work(kind: str, seed: int, first: int, last: int, at: Synchronized[int], answers: Any) -> None:
    folder, good = _copied()
    sandbox.limited()
    statuses: collections.Counter[str] = collections.Counter()
    longest: tuple[float, list[str]] = (0.0, [])
    for number in range(first, last):
        at.value = number
        given, said, result = case(kind, seed, number, folder, good)
        statuses[str(result.status)] += 1
        longest = max(longest, (round(result.seconds, 1), [w[:80] for w in given]))
        if said:
            answers.put({"kind": kind, "seed": seed, "number": number, "words": given, "said": said})
    at.value = last
    answers.put({"statuses": dict(statuses), "longest": longest})
    shutil.rmtree(folder, ignore_errors=True)


def run_range(
    kind: str, seed: int, first: int, last: int
) -> tuple[list[dict[str, Any]], collections.Counter[str], Any]:
    """Run some cases in processes of their own; one that dies or hangs is a finding."""
    found: list[dict[str, Any]] = []
    statuses: collections.Counter[str] = collections.Counter()
    longest: Any = (0.0, [])
    context = multiprocessing.get_context("fork")
    while first < last:
        at, answers = context.Value("l", first), context.SimpleQueue()
        process = context.Process(target=_work, args=(kind, seed, first, min(first + CHUNK, last), at, answers))
        process.start()
        seen, began, since, before = first, 0.0, time.monotonic(), 0.0
        while process.is_alive():
            process.join(0.2)
            spent = _cpu(process.pid)
            if at.value != seen:
                seen, began, since, before = at.value, spent, time.monotonic(), spent
            elif spent > before + 1:  # it goes on
                since, before = time.monotonic(), spent
            if time.monotonic() - since > HANGS or spent - began > HANGS:
                process.kill()
                process.join()
            while not answers.empty():
                longest = max(longest, _take(answers.get(), found, statuses))
        while not answers.empty():
            longest = max(longest, _take(answers.get(), found, statuses))
        if process.exitcode != 0:
            given = words.command_line(Random(f"{kind} {seed} {at.value}")) if kind == "commands" else []
            found.append(
                {
                    "kind": kind,
                    "seed": seed,
                    "number": at.value,
                    "words": given,
                    "said": [f"ended by {process.exitcode}"],
                }
            )
            print(brief(found[-1]), file=sys.stderr, flush=True)
            first = at.value + 1
        else:
            first = min(first + CHUNK, last)
        print(
            f"{kind}: {first:,} of {last:,}, {len(found)} found, {dict(statuses)}, longest {longest}",
            file=sys.stderr,
            flush=True,
        )
    return found, statuses, longest


def _cpu(process: int | None) -> float:
    """Return the seconds of CPU that a process and those of its children that ended have taken; 0 where unknown.

    A case is ended by itself after so much CPU (`sandbox.SECONDS`); what waits for others on a busy machine is no
    finding, and takes little.
    """
    try:
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


_made: list[Path] = []


def _copied() -> tuple[Path, list[Path]]:
    """Work in a folder with the good files, and return it and them; they are made once."""
    if not _made:
        made = Path(tempfile.mkdtemp(prefix="fuzz-"))
        atexit.register(_remove, made, os.getpid())
        sandbox.quiet_environment(made)
        _made.extend([made, *samples.write_samples(made)])
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=_made[0].parent))
    for path in _made[0].iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    sandbox.remember(folder)
    samples.write_others(folder)
    sandbox.quiet_environment(folder)
    return folder, [folder / path.name for path in _made[1:]]


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def brief(found: dict[str, Any]) -> str:
    """Return what was found for people to read."""
    said = " ".join(w if len(w) < 60 else f"{w[:20]}...({len(w)})" for w in found["words"])
    return ascii(f"{found['kind']}:{found['number']} {found['said']} | {said}")[1:-1]


def _take(answer: dict[str, Any], found: list[dict[str, Any]], statuses: collections.Counter[str]) -> Any:
    if "statuses" in answer:
        statuses.update(answer["statuses"])
        return tuple(answer["longest"])
    found.append(answer)
    print(brief(answer), file=sys.stderr, flush=True)
    return (0.0, [])


def in_processes(seed: int, count: int) -> list[dict[str, Any]]:
    """Run some command lines each in a process of its own, and return what is wrong."""
    found = []
    folder, _ = _copied()
    for number in range(count):
        given = [
            w for w in words.command_line(Random(f"processes {seed} {number}")) if "\x00" not in w and len(w) < 60000
        ]
        sandbox.fresh(folder)
        command = [sys.executable, "-m", "gossamer", *given]
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, timeout=HANGS, stdin=subprocess.DEVNULL, check=False)
        except (subprocess.TimeoutExpired, ValueError) as error:
            found.append({"kind": "processes", "number": number, "words": given, "said": [str(error)[:200]]})
            continue
        out, err = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
        result = sandbox.Result(done.returncode, out, err, time.monotonic() - began, 0)
        if said := sandbox.judged(given, result, folder):
            found.append({"kind": "processes", "number": number, "words": given, "said": said})
            print(brief(found[-1]), file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Run what is asked, print the figures, and return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    for kind, count in (("commands", 2000), ("files", 2000), ("processes", 20)):
        parser.add_argument(f"--{kind}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", help="one case, such as files:17")
    parser.add_argument("--found", type=Path, help="a file to which what is found is added, a JSON object a line")
    given = parser.parse_args()
    import gossamer.cli.app  # so that every process that is forked has it
    import gossamer.planning.planner

    assert gossamer.cli.app
    _command_once()
    if given.only:
        kind, number = re.fullmatch(r"(\w+):(\d+)", given.only).groups()  # type: ignore[union-attr]
        folder, good = _copied()
        print(folder, *case(kind, given.seed, int(number), folder, good), sep="\n")
        return 0
    found = []
    _copied()
    for kind in ("commands", "files"):
        count = getattr(given, kind)
        some, statuses, longest = run_range(kind, given.seed, given.first, given.first + count)
        found += some
        told = f"{len(some)} found; longest {longest[0]} s CPU: {longest[1]}"
        print(f"{count:,} {kind}, seed {given.seed}: {dict(statuses)}, {told}")
    found += in_processes(given.seed, given.processes)
    print(f"{given.processes} command lines in processes of their own; {len(found)} found in all")
    if given.found and found:
        with given.found.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in found)
    return 1 if found else 0


def _command_once() -> None:
    """Make the command line once and not for each case: it takes longer than most cases."""
    import typer

    from gossamer.cli import app

    words.commands()
    app.app = made = typer.main.get_command(app.app)
    typer.main.get_command = lambda of: made


if __name__ == "__main__":
    sys.exit(main())
