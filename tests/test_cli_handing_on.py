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


# Files that are handed in, and what is said of them.


def test_the_commands_know_the_suffixes_of_the_readers():
    """Commands ask for suffixes without loading what reads the files."""
    from gossamer.cli import files
    from gossamer.interchange.registry import READERS
    from gossamer.schedules.files import SUFFIXES

    assert tuple(READERS) == files.FOREIGN
    assert files._SCHEDULES == SUFFIXES


@pytest.mark.parametrize("words", [["ring:8"], ["--network", "ring:8"]])
def test_a_schedule_file_has_its_own_network(capsys, saved, words):
    status, out, err = run(capsys, "verify", saved, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "is a schedule file, in which its network stands; leave 'ring:8' out" in err
    assert err.endswith(f"; try: gossamer verify {saved}\n")


@pytest.mark.parametrize(
    ("old", "new", "network", "said", "tried"),
    [
        ("</gpu>", "", "ring:6", "is not XML", False),
        ('srcoff="0"', 'srcoff="77"', "ring:6", "reads chunk 77 of buffer", False),
        ('type="s"', 'type="sss"', "ring:6", "has type 'sss'", False),
        ("", "", "array:6", "array:6 has no link 0 -> 5", True),
        ("", "", "ring:7", "has 6 GPUs; ring:7 has 7 terminals", True),
    ],
)
def test_no_other_network_is_proposed_where_the_file_is_wrong(capsys, tmp_path, saved, old, new, network, said, tried):
    run(capsys, "export", saved, "--to", "msccl-xml", "-o", tmp_path / "x.xml")
    text = (tmp_path / "x.xml").read_text()
    (tmp_path / "x.xml").write_text(text.replace(old, new, 1) if old else text)
    status, _, err = run(capsys, "verify", tmp_path / "x.xml", network)
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
    assert ("; try: " in err) == tried
    if tried:
        assert err.endswith("--network complete:6\n")


@pytest.mark.parametrize("name", ["x", "x.foo", "x.svg", "x.json"])
def test_a_schedule_is_saved_under_a_suffix_that_is_read(tmp_path, name):
    found = gossamer.plan("ring:4", "allgather")
    for what in (found, found.schedule):
        with pytest.raises(gossamer.errors.FileFormatError, match=r"a schedule is \.parquet or \.txt"):
            what.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("size", "slower", "said"),
    [(2**16, 20, True), (2**16, 1.5, False), (2**29, 20, False), (2**30, 20, False)],
)
def test_a_plan_for_other_sizes_that_is_slow_over_mpi_is_told(tmp_path, size, slower, said):
    from gossamer.cli.export import _other_sizes
    from gossamer.execution.socket_runs import Timing

    cost = gossamer.TimeCost("1GiB", bandwidth="1GB/s", latency="2us")
    gossamer.plan("ring:4", "allgather", cost=cost).save(tmp_path / "x.parquet")
    told = _other_sizes(tmp_path / "x.parquet", [Timing(size, slower * 1e-3, 1e-3, True)])
    assert (told is not None) == said
    if told is not None:
        assert told.startswith("messages of 64 KiB take 20 x MPI's own time: the plan is for 1 GiB, in ")
        assert "--chunks 1 or --overhead 20us" in told
