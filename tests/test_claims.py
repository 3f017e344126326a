"""Every figure that the README and the pages claim is printed by a command; here they are listed, and printed.

What stands in ``console`` blocks is made by `docs/generate.py`, what Python blocks and notebooks show is run by
`test_docs.py` and `test_notebooks.py`, and tables of generated pages are made by their generators. This file has what is
said in prose, and in the table of other tools.
"""

# ruff: noqa: E501 - a claim is one line

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from gossamer.cli import main

ROOT = Path(__file__).parents[1]
README, INDEX = "README.md", "docs/index.md"
MPI, TOOLS = "docs/results/beside_mpi.md", "docs/results/other_tools.md"
FRAMEWORK = "gossamer plan torus:8x8 allgather -o a.parquet"
TWO_SLOTS = "gossamer plan ring:5 allgather -o r.parquet; gossamer simulate r.parquet --model smpi-default"
REPLAY = "gossamer simulate a.parquet --model smpi-default --bytes 100kB"

CLAIMS = [
    ("docs/how_to/order_of_ranks.md", "is 4 steps and the\nplacement found takes 5", "gossamer place alltoall torus:8x8 --groups 'blocks 8'", r"5 steps; no placement takes less than 4 steps"),
    (README, "After 16 steps every node has the messages of all 64", FRAMEWORK, r"torus:8x8: 16 steps, optimal "),
    (README, "It must receive 63 of them over 4 links", FRAMEWORK, r"must receive 63 messages over 4 links"),
    (INDEX, "takes 16 steps. Every node must receive 63 messages over 4 links", FRAMEWORK, r"16 steps; lower bound 16 steps"),
    (README, "Here 65,536 nodes each", "gossamer network torus:64x64x16", r"65,536 terminals|65,536 nodes"),
    (TOOLS, "1.149 x the bound", f"{FRAMEWORK}; {REPLAY}", r"1\.149"),
    (TOOLS, "4.369 x at best", f"{FRAMEWORK}; {REPLAY} --own NTSLR", r"4\.369  NTSLR"),
    (TOOLS, "13.173 x as MPICH chooses", f"{FRAMEWORK}; {REPLAY} --own 'choice of mpich'", r"13\.173  choice of mpich"),
    (README, "print(plan.completion_time, plan.bound, plan.optimal)   # 16 16 True", FRAMEWORK, r"16 steps, optimal "),
    (README, "# 32", "gossamer plan torus:8x8 allreduce", r"torus:8x8: 32 steps, optimal "),
    *(
        ("docs/how_to/chunks_and_sizes.md", f"| {said} | {time} us |", f"gossamer plan torus:4x4 broadcast --bytes 64MiB "
         f"--bandwidth 50GB/s --latency 2us {option}", shown)
        for said, time, option, shown in (
            ("1 (unsegmented)", "5,483", "--chunks 1", r"5\.483 ms"),
            ("4", "1,377", "--chunks 4", r"1\.377 ms"),
            ("16", "597.4", "--chunks 16", r"597\.4 us"),
            ("64", "408.5", "--chunks 64", r"408\.5 us"),
            ("256", "361.3", "--chunks 256", r"361\.3 us"),
            ("left to the planner: 2,048", "346.2", "", r"346\.2 us"),
        )
    ),
    (MPI, "1.116 is the least that any schedule", f"{TWO_SLOTS} --bytes 1GB", r"1\.116 +1\.116"),
    (MPI, "every slot costs 11.6 microseconds more", f"{TWO_SLOTS} --bytes 100kB", r"1,809\.0 us"),  # 1.1162 x 1,600 + 2 x 11.6
    ("docs/explanation/bounds.md", "middle cut has $p$ links, and $T \\ge p^3/4$", "gossamer bounds array:4x4 alltoall",
     r"16 steps +cut across dimension 0 +\(binds\)"),
    ("docs/explanation/bounds.md", "no allgather takes less than $\\lceil (N-1)/d \\rceil$", "gossamer bounds array:4x4 allgather",
     r"8 steps +node receives +\(binds\)"),
    ("docs/explanation/bounds.md", "$T \\ge \\lceil \\log_2 N \\rceil$", "gossamer bounds complete:16 broadcast --ports one",
     r"4 steps +doubling"),
]  # fmt: skip
"""Where it is said, what is said, the commands, and what the last of them prints."""

SLOW = [
    (README, "154,618,822,656 transfers, planned, verified", "gossamer plan torus:64x64x16 alltoall", r"154,618,822,656 (hops|transfers)"),
    (README, "proved optimal in 524,288 steps", "gossamer plan torus:64x64x16 alltoall", r"524,288 steps"),
    (TOOLS, "65,536 nodes all to all", "gossamer plan torus:64x64x16 alltoall", r" steps, optimal"),
    (README, "takes 0.155 s by gossamer's", "gossamer plan torus:8x8x8 allreduce -o r.parquet; gossamer simulate r.parquet "
     "--model smpi-default --bytes 100kB --own lr", r"15[45],\d{3}\.\d us"),
    (README, "0.905 s by MPI's ring algorithm `lr`", "gossamer plan torus:8x8x8 allreduce -o r.parquet; gossamer simulate "
     "r.parquet --model smpi-default --bytes 100kB --own lr", r"904,984\.0 us .*lr"),
    (MPI, "takes 0.155 s, 1.141 times the bound", "gossamer plan torus:8x8x8 allreduce -o r.parquet; gossamer simulate "
     "r.parquet --model smpi-default --bytes 100kB --own lr", r"1\.141  this schedule"),
]  # fmt: skip
"""As above; minutes."""

_NUMBER = re.compile(r"(?<![\w.:/\[(])\d[\d,.]*\d|(?<![\w.:/\[(-])\d(?![\w.])")
SAID_OTHERWISE = {
    "2.0", "3.11", "8", "2021", "40,000", "512", "51", "3.3", "0.155", "1.141", "0.905",
}  # fmt: skip
"""Versions, years, what is asked for (512 ranks of 100 kB are 51 MB), sizes of others' machines with their source in a
footnote, and parts of claims."""


def printed(commands, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for command in commands.split("; "):
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0, command
    return capsys.readouterr().out


def said(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("page", "claim"), [(page, claim) for page, claim, _, _ in [*CLAIMS, *SLOW]])
def test_what_is_listed_is_said_on_its_page(page, claim):
    assert said(claim) in said((ROOT / page).read_text(encoding="utf-8"))


def needs(command):
    if "smpi" in command and shutil.which("smpirun") is None:
        pytest.skip("SimGrid's smpirun is not installed")


@pytest.mark.parametrize("commands", [
    *dict.fromkeys(row[2] for row in CLAIMS),
    *(pytest.param(each, marks=pytest.mark.slow) for each in dict.fromkeys(row[2] for row in SLOW)),
])  # fmt: skip
def test_a_command_prints_what_is_said(commands, tmp_path, monkeypatch, capsys):
    needs(commands)
    out = printed(commands, tmp_path, monkeypatch, capsys)
    for _, claim, asked, shown in [*CLAIMS, *SLOW]:
        if asked == commands:
            assert re.search(shown, out) or re.search(shown, " ".join(out.split())), claim


@pytest.mark.parametrize("page", [README, INDEX])
def test_every_number_in_the_prose_is_listed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(
        r"^```.*?^```$|^\[\^.*?(?=^\[\^|^$)|`[^`]*`|\]\([^)]*\)|!\[[^]]*\]|\[\^[^]]*\]", " ", text, flags=re.M | re.S
    )
    claimed = " ".join(claim for where, claim, _, _ in [*CLAIMS, *SLOW] if where == page)
    known = set(_NUMBER.findall(claimed)) | SAID_OTHERWISE
    assert [number for number in _NUMBER.findall(prose) if number.rstrip(".,") not in known] == []


def test_every_cell_of_the_comparison_has_its_source():
    text = (ROOT / TOOLS).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "[^" in line]
    assert len(rows) == 6
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
        assert all(re.search(r"\[\^[\w-]+\]$", cell) or cell == "not tried" for cell in cells), row
    used, told = set(re.findall(r"\[\^([\w-]+)\](?!:)", text)), set(re.findall(r"^\[\^([\w-]+)\]:", text, re.MULTILINE))
    assert used == told
