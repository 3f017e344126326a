"""Commands that hand schedules on: what they write, and one line for what they refuse."""

from __future__ import annotations

import json

import pytest

import gossamer
from gossamer.cli import main
from gossamer.interchange import FORMATS


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "plan.parquet"
    gossamer.plan("ring:6", "allgather").save(path)
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_by_a_command(capsys, tmp_path, saved, name):
    target = tmp_path / "out"
    assert run(capsys, "export", saved, "--to", name, "-o", target, "--bytes", "64kB") == (0, f"wrote {target}\n", "")
    assert target.is_dir() == FORMATS[name].folder


def test_formats_are_listed(capsys):
    _, out, _ = run(capsys, "list", "formats")
    assert [line.split()[0] for line in out.splitlines() if not line.startswith(" ")] == list(FORMATS)
    _, out, _ = run(capsys, "list", "formats", "--json")
    assert [f["name"] for f in json.loads(out)] == list(FORMATS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--to", "gaol"], "unknown format 'gaol' (did you mean 'goal'?)"),
        (["--to", "goal", "--bytes", "0"], "--bytes must be 1 byte or more, got 0"),
        (["--to", "goal", "--bytes", "many"], "--bytes must be a whole number of bytes such as 4096, 64kB or 1MiB"),
        ([], "Missing option '--to'"),
    ],
)
def test_bad_words_get_one_line(capsys, tmp_path, saved, words, told):
    status, out, err = run(capsys, "export", saved, "-o", tmp_path / "x", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert not (tmp_path / "x").exists()


def test_limits_are_named_and_can_be_passed_over(capsys, tmp_path):
    path = tmp_path / "plan.parquet"
    gossamer.plan("complete:40", "alltoall").save(path)
    status, _, err = run(capsys, "export", path, "--to", "msccl-xml", "-o", tmp_path / "x.xml")
    assert status == 2
    assert "rank 0 would have 39 peers on a channel; an MSCCL loader takes 32" in err
    assert run(capsys, "export", path, "--to", "msccl-xml", "-o", tmp_path / "x.xml", "--no-limits")[0] == 0


def test_a_foreign_schedule_is_judged_beside_a_bound(capsys, tmp_path, saved):
    target = tmp_path / "foreign.xml"
    run(capsys, "export", saved, "--to", "msccl-xml", "-o", target)
    status, out, _ = run(capsys, "verify", target, "--network", "ring:6")
    assert status == 0
    assert out.splitlines()[0] == "allgather on ring:6: 3 steps"
    assert "valid" in out
    assert "1 x the lower bound 3 steps" in out
    status, out, _ = run(capsys, "verify", target, "--network", "ring:6", "--json")
    told = json.loads(out)
    assert (status, told["valid"], told["bound"]) == (0, True, 3)
    status, out, err = run(capsys, "verify", target, "--network", "array:6")
    assert (status, out) == (2, "")
    assert "array:6 has no link 0 -> 5" in err
