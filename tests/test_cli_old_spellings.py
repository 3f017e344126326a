"""Spellings of commands and options from before: each does what the new one does, to the byte."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gossamer.cli import main
from gossamer.cli.old_spellings import COMMANDS, OPTIONS, in_new_words

FILES = {
    "plan.parquet": "plan ring:4 allgather -o plan.parquet",
    "worms.parquet": "plan ring:4 allgather --switching wormhole -o worms.parquet",
}
"""Schedules that the command lines read, and what makes them."""

QUICK = "--load 0.1 --warmup 0 --measured 200"
LINES = [
    ("networks", "list networks"),
    ("networks --json", "list networks --json"),
    ("tasks", "list tasks"),
    ("tasks --json", "list tasks --json"),
    ("formats", "list formats"),
    ("formats --json", "list formats --json"),
    ("schemes", "list schemes"),
    ("schemes ring:5 --json", "list schemes ring:5 --json"),
    ("schemes ring:0", "list schemes ring:0"),
    ("schemes --without links:0-1", "list schemes --without links:0-1"),
    ("algorithms", "list algorithms"),
    ("algorithms --network ring:5 --task broadcast", "list algorithms ring:5 --task broadcast"),
    ("algorithms --task=broadcast --network=ring:5 --ports one", "list algorithms ring:5 --task broadcast --ports one"),
    ("algorithms --network star:4 --task no-such", "list algorithms star:4 --task no-such"),
    ("algorithms --network star:4 --task broadcast --network ring:5", "list algorithms --task broadcast ring:5"),
    ("algorithms --network rign:4", "list algorithms rign:4"),
    ("algorithms --network", "list algorithms --network"),
    ("dynamic hypercube:3 --load 0.5 --steps 50", "simulate arrivals hypercube:3 --load 0.5 --steps 50"),
    ("dynamic hypercube:3", "simulate arrivals hypercube:3"),
    (f"wormhole traffic ring:4 {QUICK}", f"simulate traffic ring:4 {QUICK}"),
    (f"wormhole traffic ring:4 {QUICK} --json", f"simulate traffic ring:4 {QUICK} --json"),
    (
        "wormhole saturation ring:4 --resolution 0.5 --measured 200",
        "simulate saturation ring:4 --resolution 0.5 --measured 200",
    ),
    ("wormhole run worms.parquet", "simulate wormhole worms.parquet"),
    ("wormhole run none.parquet", "simulate wormhole none.parquet"),
    ("wormhole routing ring:4", "deadlock ring:4"),
    ("wormhole routing ring:4 --dateline none --json", "deadlock ring:4 --dateline none --json"),
    ("wormhole", "simulate"),
    ("wormhole trafic ring:4", "simulate trafic ring:4"),
    ("plan ring:4 allgather --explore page.html --json", "plan ring:4 allgather -o page.html --json"),
    ("plan ring:4 allgather --explore=page.html --json", "plan ring:4 allgather --output=page.html --json"),
    ("draw plan.parquet --to terminal", "draw plan.parquet"),
    ("draw plan.parquet --to=terminal", "draw plan.parquet"),
    ("simulate plan.parquet --mpi", "simulate plan.parquet --own all"),
    ("simulate plan.parquet --against lr", "simulate plan.parquet --own lr"),
    ("bounds ring:4 allgather --group 0-2", "bounds ring:4 allgather --groups 0-2"),
    ("bounds ring:4 allgather --group=0-2", "bounds ring:4 allgather --groups=0-2"),
    ("bounds ring:4 allgather --split", "bounds ring:4 allgather --segmented"),
    ("bounds ring:4 allgather --whole", "bounds ring:4 allgather --unsegmented"),
    ("simulate plan.parquet --mpi --against=none-such", "simulate plan.parquet --own none-such"),
]
"""Old command lines, and what is written for them now."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schedules")
    for name, line in FILES.items():
        assert main(shlex.split(line.replace(name, str(folder / name)))) == 0
    return folder


def carried_out(line, capsys):
    """Return the exit status, both streams without the time and memory that a run took, and the files written."""
    capsys.readouterr()
    status = main(shlex.split(line))
    said = [[row for row in text.splitlines() if not re.search("seconds|memory", row)] for text in capsys.readouterr()]
    written = {path.name for path in Path().iterdir() if path.name not in FILES}
    for name in written:
        Path(name).unlink()
    return status, *said, written


@pytest.mark.parametrize(("old", "new"), LINES, ids=[old for old, _ in LINES])
def test_an_old_command_line_does_what_the_new_one_does(old, new, files, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        Path(name).symlink_to(files / name)
    assert in_new_words(shlex.split(new)) == shlex.split(new)
    assert carried_out(old, capsys) == carried_out(new, capsys)


def test_every_old_spelling_is_tried():
    for words in COMMANDS:
        assert any(shlex.split(old)[: len(words.split())] == words.split() for old, _ in LINES), words
    for command, words, _ in OPTIONS:
        assert any(words in old and new.startswith(command) for old, new in LINES), words


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("plan ring:4 allgather --explore page.svg", "the page 'page.svg' must end in .html; try: gossamer plan -h"),
        ("plan ring:4 allgather --explore=page", "the page 'page' must end in .html; try: gossamer plan -h"),
        (
            "draw plan.parquet --to terminal -o load.svg",
            "--to terminal writes no file: leave out --output; try: gossamer plan torus:8x8 allgather -o plan.parquet",
        ),
        (
            "draw plan.parquet --to file",
            "Invalid value for '--to': 'file' is not one of 'terminal'; "
            "try: gossamer plan torus:8x8 allgather -o plan.parquet",
        ),
    ],
)
def test_what_an_old_option_refused_is_refused(line, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)) == 2
    assert capsys.readouterr() == ("", f"gossamer: {told}\n")
    assert not list(tmp_path.iterdir())


def test_an_old_option_of_one_command_is_left_to_the_others():
    for line in ("compare ring:4 allgather --explore page.html", "plan ring:4 allgather --mpi", "draw a --against b"):
        assert in_new_words(line.split()) == line.split()


def test_help_tells_no_old_spelling(capsys):
    for line in (
        "-h",
        "list -h",
        "simulate -h",
        "plan -h",
        "plan -h all",
        "draw -h",
        "simulate schedule -h",
        "list algorithms -h",
    ):
        assert main(shlex.split(line)) == 0
    said = capsys.readouterr().out
    for words in (
        *(f"gossamer {words}" for words in COMMANDS),
        "--explore ",
        "--mpi ",
        "--against ",
        "--to terminal",
        "--group ",
        "--split",
        "--whole",
    ):
        assert words not in said
