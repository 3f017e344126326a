"""What people see of plans, whole: the sentence, the table, and the commands that go on; saved under ``data/reports``.

Where a report differs, it is written beside the saved one as ``.new``; a change on purpose is made by renaming that.
"""

import json
import re
import shlex
from pathlib import Path

import pytest

import gossamer
from gossamer.cli import main

SAVED = Path(__file__).parent / "data" / "reports"
JOB = """
packet = "64KiB"
collectives = [
    {name = "gradients", task = "reduce", bytes = "256KiB"},
    {name = "weights", task = "broadcast", bytes = "256KiB", after = "gradients"},
    {task = "allgather", bytes = "64KiB"},
]
"""

REPORTS = {
    "steps_optimal": ["plan torus:8x8 allgather -o plan.parquet"],
    "steps_not_optimal": ["plan mesh:3x3 allreduce"],
    "steps_with_root": ["plan array:4x4 broadcast --root 1,2 --ports one"],
    "seconds": ["plan torus:4x4 allreduce --bytes 64KiB --bandwidth 50GB/s --latency 2us -o plan.parquet"],
    "seconds_broadcast": ["plan torus:4x4 MPI_Bcast --bytes 1GiB --bandwidth 50GB/s -o plan.txt"],
    "job": ["plan ring:8 step.toml --bandwidth 1GB/s"],
    "wormhole": ["plan torus:8x8 broadcast --switching wormhole -o worms.parquet"],
    "replan": ["plan torus:4x4 alltoall -o plan.parquet", "replan plan.parquet --without links:0-1"],
    "without_links": ["plan ring:6 allgather --without links:0-1"],
    "faults": ["faults mesh:4x4 allgather"],
    "faults_seconds": ["faults ring:4 broadcast --bytes 1MiB --bandwidth 1GB/s"],
    "bounds": ["bounds torus:4x4 alltoall --split"],
    "bounds_seconds": ["bounds ring:4 allgather --bytes 1MiB --bandwidth 1GB/s"],
    "verify": ["plan ring:8 alltoall -o plan.parquet", "verify plan.parquet"],
    "verify_seconds": ["plan ring:4 bcast --bytes 1MiB --bandwidth 1GB/s -o p.txt", "verify p.txt --bytes 2MiB"],
    "verbose": ["plan torus:4x4 allgather --bytes 16MiB --bandwidth 50GB/s -v"],
}
"""Commands by the name of what the last of them prints."""
PLANS = [name for name, lines in REPORTS.items() if lines[-1].split()[0] in ("plan", "replan") and name != "verbose"]


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """What commands print in a folder with the file of a job, in a terminal of 120 columns."""
    (tmp_path / "step.toml").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*lines):
        for line in lines:
            status = main(shlex.split(line, comments=True))
            out, err = capsys.readouterr()
            assumed = [told for told in err.splitlines() if told.startswith("assumed: latency of links taken as 0")]
            assert (status, err.splitlines()) == (0, assumed), line
        return out

    return run


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_as_it_was(name, said):
    text = re.sub(r"(?m)^(took +).*$", r"\1...", said(*REPORTS[name]))
    saved, new = SAVED / f"{name}.txt", SAVED / f"{name}.txt.new"
    if not saved.exists() or saved.read_text() != text:
        new.write_text(text)
    else:
        new.unlink(missing_ok=True)
    assert saved.exists(), f"there is no {saved}; see {new}"
    assert saved.read_text() == text, f"{new} differs from {saved}"


@pytest.mark.parametrize("name", PLANS)
def test_the_report_of_a_plan_fits_on_a_screen(name):
    lines = (SAVED / f"{name}.txt").read_text().splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 16 + (7 if name == "job" else 0)  # and the table of its collectives


@pytest.mark.parametrize("name", PLANS)
def test_what_is_proposed_next_works(name, said):
    out = said(*REPORTS[name])
    proposed = re.findall(r"(?m)^(?:next:)? +(gossamer .*)$", out)
    assert 1 <= len(proposed) <= 3
    assert out.rstrip().endswith(proposed[-1])
    for line in proposed:
        assert said(line.removeprefix("gossamer "))


def test_nothing_is_proposed_with_json_nor_of_a_plan_that_was_not_kept(said):
    assert "gossamer plan" not in said("plan torus:4x4 allgather --json")
    assert "next:" not in said("plan array:8x8 permutation --pattern reversal --algorithm Q --stream")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("allgather", "multinode-broadcast"),
        ("AllGather", "multinode-broadcast"),
        ("gossip", "multinode-broadcast"),
        ("multinode-broadcast", "multinode-broadcast"),
        ("MPI_Alltoall", "total-exchange"),
        ("ncclReduceScatter", "reduce-scatter"),
    ],
)
def test_the_word_that_was_typed_comes_back(typed, name, said):
    outcome = gossamer.plan("ring:4", typed)
    assert outcome.summary.startswith(f"{typed} on ring:4: ")
    assert repr(outcome) == outcome.summary
    assert f"<b>{typed} on ring:4: " in outcome._repr_html_()
    told = json.loads(said(f"plan ring:4 {typed} --json"))
    assert (told["asked_task"], told["task"]) == (typed, name)
    for command in ("plan", "compare", "bounds", "faults"):
        assert said(f"{command} ring:4 {typed}").startswith(f"{typed} on ring:4")
    shown = said(f"plan ring:4 {typed}")
    assert typed == name or name not in shown
    assert name in said(f"plan ring:4 {typed} -v")


def test_a_file_has_the_customary_name_whatever_was_typed(said):
    said("plan ring:4 gossip -o plan.parquet")
    assert said("verify plan.parquet").startswith("allgather on ring:4: 2 steps\n")
    assert gossamer.load("plan.parquet").task == gossamer.task("allgather")


def test_the_word_makes_no_other_task():
    words = [gossamer.task(word) for word in ("allgather", "gossip", "multinode-broadcast")]
    assert len({hash(task) for task in words}) == 1
    assert words[0] == words[1] == words[2]
    assert {json.dumps(task.to_dict()) for task in words} == {'{"name": "multinode-broadcast"}'}


def test_json_begins_as_the_sentence_does(said):
    first = ["summary", "asked_task", "network"]
    steps = list(json.loads(said("plan torus:4x4 allgather --json")))
    assert steps[:9] == [*first, "completion_time", "unit", "bound", "ratio", "optimal", "optimal_among"]
    seconds = list(json.loads(said("plan ring:4 allgather --bytes 1MiB --bandwidth 1GB/s --json")))
    assert seconds[:7] == [*first, "seconds", "bound_seconds", "algorithm_bandwidth", "bus_bandwidth"]
    for command in ("compare", "bounds", "faults"):
        assert list(json.loads(said(f"{command} ring:4 allgather --json")))[:3] == first


def test_print_shows_the_sentence_and_the_table():
    outcome = gossamer.plan("torus:4x4", "allgather")
    sentence, table = str(outcome).split("\n\n")
    assert " ".join(sentence.split()) == outcome.summary
    assert [line.split("  ")[0] for line in table.splitlines()] == [label for label, _ in outcome.rows()]
    assert {label for label, _ in outcome.rows()} <= {label for label, _ in outcome.rows(verbose=True)}
    report = gossamer.faults("ring:4", "broadcast")
    assert (
        repr(report)
        == report.summary
        == "broadcast on ring:4: 2 steps; at worst 3 steps, 1.5 times as long, "
        + ("without link (0)-(1); on the average 1.25 times")
    )
