"""Machines, files and sizes on the command line: what is assumed is said, and seconds are the default."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gossamer.cli import main
from said import words

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def said(capsys, *given):
    status = main(given)
    out, err = capsys.readouterr()
    return status, words(out), words(err)


def test_the_file_of_a_server_is_planned_as_it_is(capsys):
    path = str(ROOT / "examples" / "machines" / "dgx1.txt")
    status, out, err = said(capsys, "plan", path, "allgather", "--bytes", "1GiB")
    assert status == 0
    assert "GB/s" in out
    assert "assumed: NVLinks of 25 GB/s each way, 6 a GPU, as of V100" in err
    assert f"to change it: nvidia-smi:{path},nvlink=RATE" in err
    status, _, err = said(capsys, "plan", path, "allgather", "--bytes", "1GiB", "--bandwidth", "450GB/s")
    assert status == 2
    assert "has bandwidths of its own" in err
    assert "nvlink=RATE" in err


@pytest.mark.parametrize("command", ["plan", "bounds", "faults", "compare"])
def test_a_network_with_speeds_is_in_seconds_in_every_command(capsys, command):
    status, out, err = said(capsys, command, "mi250x", "broadcast")
    assert status == 0
    assert "assumed: 64 MiB, as no --bytes is given; to change it: --bytes SIZE, or --steps to count steps" in err
    assert re.search(r"[0-9] [um]s\b", out)
    status, out, err = said(capsys, command, "mi250x", "broadcast", "--steps")
    assert status == 0
    assert "assumed" not in err
    assert " step" in out
    assert not re.search(r"[0-9] [um]s\b", out)


def test_bytes_that_are_given_are_not_assumed(capsys):
    status, out, err = said(capsys, "bounds", "mi250x", "broadcast", "--bytes", "1M", "--json")
    assert status == 0
    assert "64 MiB" not in err
    assert json.loads(out)["bounds"][0]["seconds"] > 0
    status, _, err = said(capsys, "bounds", "ring:8", "broadcast", "--bandwidth", "50GB/s")
    assert status == 0
    assert "assumed: 64 MiB" in err
    assert said(capsys, "bounds", "ring:8", "broadcast")[2] == ""


def test_steps_and_bytes_exclude_each_other(capsys):
    status, _, err = said(capsys, "plan", "mi250x", "broadcast", "--steps", "--bytes", "1MiB")
    assert status == 2
    assert "--steps counts steps; leave out --bytes" in err


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [("--bandwidth", "50", "50GB/s"), ("--bandwidth", "50gb/s", "50GB/s"), ("--bandwidth", "400G", "400Gbit/s"),
     ("--latency", "2", "2us"), ("--bytes", "1Gb", "1GB")],
)  # fmt: skip
def test_a_proposal_of_units_is_a_command_that_works(capsys, option, value, meant):
    given = {"--bytes": "1MiB", "--bandwidth": "50GB/s", "--latency": "1us"} | {option: value}
    line = ["plan", "ring:4", "allgather", *(word for pair in given.items() for word in pair)]
    status, _, err = said(capsys, *line)
    assert status == 2
    assert f"(did you mean '{meant}'?)" in err
    proposal = err.rpartition("try: gossamer ")[2].replace("'", "").split()
    assert proposal == [meant if word == value else word for word in line]
    assert said(capsys, *proposal)[0] == 0


def test_any_existing_path_is_a_file(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "machines" / "dgx1.txt", "capture.out")
    status, out, _ = said(capsys, "network", "capture.out")
    assert status == 0
    assert "assumed NVLinks of 25 GB/s" in out
    status, out, err = said(capsys, "plan", "capture.out", "allgather", "-o", "plan.parquet")
    assert status == 0
    status, _, err = said(capsys, "plan", "plan.parquet", "allgather")
    assert status == 2
    assert "it is a Parquet file, such as the schedules that plan writes, and no network" in err


def test_machines_are_listed_under_a_heading(capsys):
    status, out, _ = said(capsys, "list", "networks")
    assert status == 0
    families, machines, files = (out.index(f"{head}: ") for head in ("families", "machines", "files"))
    assert families < machines < out.index(" nvl72 ") < files
    main(["list", "networks", "--json"])
    kinds = {row["name"]: row["kind"] for row in json.loads(capsys.readouterr().out)}
    assert (kinds["torus"], kinds["dgx-h100"], kinds["edges"]) == ("families", "machines", "files")


def test_what_fails_and_groups_go_with_machines(capsys, tmp_path):
    status, out, _ = said(
        capsys, "plan", "dgx-h100:2", "allgather", "--without", "links:box0.gpu0-rail0", "--groups", "blocks 8",
        "--bytes", "1MiB", "-o", str(tmp_path / "plan.parquet"),
    )  # fmt: skip
    assert status == 0
    assert "without link box0.gpu0-rail0" in out
    status, _, _ = said(capsys, "plan", "mi300x", "allgather", "--bytes", "1MiB", "-o", str(tmp_path / "p.parquet"))
    assert status == 0
    status, _, err = said(
        capsys, "export", str(tmp_path / "p.parquet"), "--to", "msccl-xml", "-o", str(tmp_path / "p.xml")
    )
    assert (status, err) == (0, "")
    assert (tmp_path / "p.xml").read_text(encoding="utf-8").startswith("<algo")
