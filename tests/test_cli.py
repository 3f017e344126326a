"""The command line as a newcomer uses it: good input prints what it should, bad input one line and status 2."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import gossamer
import said
from gossamer.atomic_files import seconds_text
from gossamer.cli import main

HEAVY = ("numba", "scipy", "matplotlib", "networkx", "pyarrow", "numpy")


def run(capsys, *words):
    """Run the command; return (status, standard output, standard error)."""
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def assert_one_line(result, *words):
    """Assert status 2, nothing on standard output, and one line of error with all the words in it."""
    status, out, err = result
    assert status == 2
    assert out == ""
    assert err.startswith("gossamer: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


@pytest.fixture
def saved(tmp_path):
    """A schedule file of a multinode broadcast on a ring of 6."""
    path = tmp_path / "plan.parquet"
    gossamer.plan("ring:6", "allgather").save(path)
    return path


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from gossamer.cli import main; status = main(['--help']); "
        f"print([m for m in {HEAVY!r} if m in sys.modules], status)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[] 0"


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"gossamer {gossamer.__version__}\n", "")


@pytest.mark.parametrize("command", ["plan", "bounds", "verify", "draw", "list", "simulate"])
def test_every_command_has_help(capsys, command):
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert out.startswith(f"Usage: gossamer {command}")


def test_plan_prints_time_bound_and_verdict(capsys):
    status, out, _ = run(capsys, "plan", "torus:8x8", "allgather")
    assert status == 0
    told = "allgather on torus:8x8: 16 steps, optimal among schedules of unsegmented messages: "
    assert " ".join(out.split()).startswith(told)
    for text in ("16 steps; lower bound 16 steps", "verified", "links busy", "buffers"):
        assert text in out
    assert "took" not in out
    for word in ("-v", "--verbose"):
        status, out, _ = run(capsys, "plan", "torus:8x8", "allgather", word)
        assert status == 0
        for text in ("(multinode-broadcast)", "guaranteed time  16 steps", "took", "one orbit stored: 63"):
            assert text in out


def test_plan_json_has_the_promised_keys(capsys):
    status, out, _ = run(capsys, "plan", "torus:4x4", "allgather", "--json")
    values = json.loads(out)
    promised = {
        "algorithm", "completion_time", "bound", "bound_name", "ratio", "claim", "verified", "slots", "hops",
        "buffer_peak", "build_seconds", "verify_seconds",
    }  # fmt: skip
    assert status == 0
    assert promised <= set(values)
    assert (values["completion_time"], values["bound"], values["ratio"], values["verified"]) == (4, 4, 1.0, True)
    assert values["hops"] == 16 * 15


@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_plan_with_one_port(capsys, ports):
    status, out, _ = run(capsys, "plan", "torus:4x4", "allgather", "--ports", ports, "--json")
    assert status == 0
    assert json.loads(out)["completion_time"] == 15


def test_plan_save_verify_draw(capsys, tmp_path):
    plan, picture = tmp_path / "plan.parquet", tmp_path / "load.svg"
    active = tmp_path / "active.txt"
    active.write_text("0 3 9\n")
    words = ("plan", "array:4x4", "partial-multinode-broadcast", "--active", active, "-o", plan)
    assert run(capsys, *words)[0] == 0
    status, out, _ = run(capsys, "verify", plan)
    assert status == 0
    assert "no violation" in out
    status, out, _ = run(capsys, "draw", plan, "-o", picture)
    assert (status, out) == (0, f"wrote {picture}\n")
    assert picture.read_text().lstrip().startswith("<?xml")


def test_draw_refuses_what_it_cannot_draw_before_it_reads(capsys, tmp_path):
    missing = tmp_path / "missing.parquet"
    allowed = "a picture is one of .svg, .png, .pdf, .tex, .gif, .mp4, .html"
    assert_one_line(run(capsys, "draw", missing, "-o", tmp_path / "x.bmp"), allowed)
    assert_one_line(run(capsys, "draw", missing, "-o", tmp_path / "none" / "x.gif"), "cannot write")
    assert_one_line(run(capsys, "draw", missing, "-o", tmp_path / "x.gif", "--kind", "both"), "messages in motion")


def test_plan_refuses_a_place_for_the_schedule_before_it_builds(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.planning.planner.plan", lambda *_, **__: pytest.fail("planned"))
    assert_one_line(run(capsys, "plan", "ring:4", "allgather", "-o", tmp_path / "none" / "x.txt"), "cannot write")


def test_seed_draws_the_same_active_nodes_again(capsys):
    words = ("plan", "array:5x5", "partial-multinode-broadcast", "--active", "random:6", "--seed", "4", "--json")
    first, second = (json.loads(run(capsys, *words)[1]) for _ in range(2))
    assert first["hops"] == second["hops"]


def test_split_is_faster_than_whole(capsys):
    words = ("plan", "torus:5x5", "partial-multinode-broadcast", "--active", "random:12", "--json", "--algorithm")
    cases = (("rotated-dimensions-unsegmented", "--unsegmented"), ("rotated-dimensions-segmented", "--segmented"))
    whole, split = (json.loads(run(capsys, *words, *case)[1]) for case in cases)
    assert (whole["completion_time"], split["completion_time"]) == (14, 8)


def test_control_time_is_charged(capsys):
    words = (
        "plan",
        "torus:5x5",
        "partial-multinode-broadcast",
        "--active",
        "random:12",
        "--segmented",
        "--json",
        "--control-time",
        "1/4",
    )
    assert json.loads(run(capsys, *words)[1])["completion_time"] == 8 + 16 / 4


def test_counts_are_a_list_or_a_file(capsys, tmp_path):
    path = tmp_path / "counts.txt"
    path.write_text("2 0 1 3  # six messages\n")
    for counts in ("2,0,1,3", path):
        words = ("plan", "ring:4", "multiple-broadcast", "--counts", counts, "--segmented", "--algorithm", "insertion")
        assert json.loads(run(capsys, *words, "--json")[1])["completion_time"] == 4
    status, out, _ = run(capsys, "bounds", "array:4", "multiple-broadcast", "--counts", path)
    assert status == 0
    assert "multiple-broadcast (6 messages of 3 nodes)" in out


def test_verify_names_violations_and_exits_1(capsys, saved):
    schedule = gossamer.load(saved)
    link = schedule.link.copy()
    link[0] = link[1]
    schedule.replace(link=link).save(saved)
    status, out, _ = run(capsys, "verify", saved)
    assert status == 1
    assert "invalid:" in out
    assert "link capacity" in out
    status, out, _ = run(capsys, "verify", saved, "--json")
    assert status == 1
    assert json.loads(out)["valid"] is False


def test_bounds_say_which_binds(capsys):
    status, out, _ = run(capsys, "bounds", "torus:8x8", "alltoall")
    assert status == 0
    assert "binds" in out
    values = json.loads(run(capsys, "bounds", "torus:8x8", "alltoall", "--json")[1])["bounds"]
    assert max(b["value"] for b in values) == 64  # the cut bound, n**3/8
    assert all(b["witness"] and b["source"] for b in values)


def test_bounds_on_links_with_speeds_are_in_seconds(capsys):
    words = "ring:4", "allgather", "--bytes", "1MB", "--bandwidth", "1GB/s"
    status, out, _ = run(capsys, "bounds", *words)
    assert status == 0
    assert out.startswith("allgather on ring:4 takes at least 1.5 ms: ")
    planned = json.loads(run(capsys, "plan", *words, "--json")[1])
    found = json.loads(run(capsys, "bounds", *words, "--json")[1])["bounds"]
    assert found[0]["seconds"] == pytest.approx(planned["bound_seconds"])
    assert 1e-3 < found[0]["seconds"] <= planned["seconds"] < 1e-2
    assert f"\n{seconds_text(found[0]['seconds'])}  node receives  (binds)\n" in out


@pytest.mark.parametrize("what", ["networks", "tasks", "algorithms", "schemes", "formats"])
def test_tables_print_and_give_json(capsys, what):
    status, out, _ = run(capsys, "list", what)
    assert status == 0
    assert len(out.splitlines()) > 5
    assert len(json.loads(run(capsys, "list", what, "--json")[1])) > 5


def test_algorithms_of_a_network(capsys):
    status, out, _ = run(capsys, "list", "algorithms", "star:4", "--json")
    assert status == 0
    covering = {row["algorithm"] for row in json.loads(out)}
    assert "translated-tree" in covering
    assert "rotated-dimensions-unsegmented" not in covering


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("plan", "tours:8x8", "allgather"), ["tours", "torus"]),
        (("plan", "torus:0x8", "allgather"), ["0"]),
        (("plan", "torus:8x-3", "allgather"), ["-3"]),
        (("plan", "torus:99999x99999x9", "allgather"), ["torus"]),
        (("plan", "torus:8x8", "algather"), ["algather", "allgather"]),
        (("plan", "torus:8x8", "broadcast", "--root", "64"), ["64", "0..63"]),
        (("plan", "torus:8x8", "broadcast", "--root", "-1"), ["-1"]),
        (("plan", "torus:8x8", "allgather", "--root", "1"), ["--root"]),
        (("plan", "array:4x4", "partial-multinode-broadcast"), ["--active"]),
        (("plan", "array:4x4", "partial-multinode-broadcast", "--active", "16"), ["16", "0..15"]),
        (("plan", "array:4x4", "partial-multinode-broadcast", "--active", "-1,2"), ["-1"]),
        (("plan", "array:4x4", "partial-multinode-broadcast", "--active", "3,3"), ["3", "twice"]),
        (("plan", "array:4x4", "partial-multinode-broadcast", "--active", "random:17"), ["1..16"]),
        (("plan", "array:4x4", "partial-multinode-broadcast", "--active", "nowhere.txt"), ["nowhere.txt"]),
        (("plan", "array:4x4", "allgather", "--algorithm", "magic"), ["magic"]),
        (("plan", "array:4x4", "allgather", "--ports", "two"), ["two"]),
        (("plan", "array:4x4", "allgather", "--control-time", "2"), ["2"]),
        (("plan", "array:4x4", "allgather", "--control-time", "soon"), ["soon"]),
        (("plan", "array:4x4", "allgather", "--buffer", "0"), ["0"]),
        (("plan", "array:4x4", "allgather", "--seed", "-1"), ["-1"]),
        (("plan", "array:4x4", "broadcast", "--root", "first"), ["--root", "a node is a number", "first"]),
        (("plan", "array:4x4", "permutation"), ["--destinations", "--pattern"]),
        (("plan", "array:4x4", "permutation", "--pattern", "transpos"), ["'transpos'", "did you mean 'transpose'"]),
        (("plan", "array:3x4", "permutation", "--pattern", "bit-reversal"), ["bit-reversal", "array:3x4 has 12"]),
        (("plan", "array:4x4", "permutation", "--pattern", "random", "--density", "2"), ["density", "2"]),
        (("plan", "array:4x4", "permutation", "--density", "0.5"), ["--pattern"]),
        (("plan", "array:4x4", "permutation", "--pattern", "random", "--destinations", "x.txt"), ["not both"]),
        (("plan", "array:4x4", "permutation", "--destinations", "x.txt", "--density", "1"), ["--density"]),
        (("plan", "array:4x4", "allgather", "--pattern", "random"), ["multinode-broadcast", "--pattern"]),
        (("plan", "array:4x4", "one-to-many-routing"), ["--destinations", "--pattern"]),
        (("plan", "array:4x4", "one-to-many-routing", "--pattern", "random:17"), ["0..16", "17"]),
        (("plan", "ring:4", "multiple-broadcast"), ["--counts", "2,0,1"]),
        (("plan", "ring:4", "multiple-broadcast", "--counts", "1,2,3"), ["3 nodes", "ring:4 has 4"]),
        (("plan", "ring:4", "multiple-broadcast", "--counts", "1,2,-3,0"), ["node 2", "-3"]),
        (("plan", "ring:4", "multiple-broadcast", "--counts", "nowhere.txt"), ["nowhere.txt"]),
        (("plan", "ring:4", "allgather", "--counts", "1,2,3,4"), ["--counts"]),
        (("plan", "array:4x4"), ["TASK"]),
        (("verify", "nowhere.parquet"), ["nowhere.parquet"]),
        (("nonsense",), ["nonsense"]),
    ],
)
def test_bad_input_gets_one_line_and_leaves_no_file(capsys, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    if words[0] == "plan":
        words = (*words, "-o", "out.parquet")
    assert_one_line(run(capsys, *words), *told)
    assert list(tmp_path.iterdir()) == []


def test_help_lists_every_pattern(capsys):
    from gossamer.questions.tasks.patterns import PATTERNS

    _, out, _ = run(capsys, "plan", "-h", "all")
    listed = said.words(out).replace(" ", "")  # names may be broken at a hyphen
    assert all(name in listed for name in PATTERNS)


def test_patterns_by_name(capsys):
    words = ("plan", "array:8x8", "permutation", "--pattern", "transpose", "--algorithm", "greedy", "--json")
    status, out, _ = run(capsys, *words)
    found = json.loads(out)
    assert status == 0
    assert (found["algorithm"], found["completion_time"], found["bound"], found["packets"]) == ("greedy", 14, 14, 64)
    _, out, _ = run(capsys, "plan", "array:8x8", "permutation", "--pattern", "random", "--density", "0.25", "--json")
    assert json.loads(out)["packets"] == 16
    status, out, _ = run(capsys, "bounds", "array:4x4", "one-to-many-routing", "--pattern", "random:3", "--seed", "7")
    assert status == 0


@pytest.mark.parametrize(
    ("task", "text", "told"),
    [
        ("permutation", "1 1 -1 -1", ["nodes 0 and 1 both send to node 1"]),
        ("permutation", "0: 3\n2: 3\n", ["nodes 0 and 2 both send to node 3"]),
        ("permutation", "0: 3\n0: 2\n", ["line 2", "node 0 sends a second message"]),
        ("permutation", "1 0 4 -1", ["destination of node 2 is 4", "0..3", "array:2x2"]),
        ("permutation", "1 0 -2 -1", ["destination of node 2 is -2"]),
        ("permutation", "1 0 3", ["lists 3 nodes", "array:2x2 has 4"]),
        ("permutation", "7: 0", ["source 7", "0..3"]),
        ("one-to-many-routing", "0: 1 2\n3: 2\n", ["nodes 0 and 3 both send to node 2"]),
        ("one-to-many-routing", "0: 1 9\n", ["destination of node 0 is 9", "0..3", "array:2x2"]),
        ("one-to-many-routing", "0: 1 1\n", ["node 0 lists destination 1 twice"]),
        ("one-to-many-routing", "1 2\n-1\n", ["list 2 nodes", "array:2x2 has 4"]),
    ],
)
def test_bad_routing_instance_gets_one_line_that_names_the_nodes(capsys, tmp_path, task, text, told):
    path = tmp_path / "instance.txt"
    path.write_text(text)
    assert_one_line(run(capsys, "plan", "array:2x2", task, "--destinations", path), *told)


def test_empty_active_file(capsys, tmp_path):
    path = tmp_path / "active.txt"
    path.write_text("# nobody\n")
    assert_one_line(run(capsys, "plan", "array:4x4", "partial-multinode-broadcast", "--active", path), "no active node")


@pytest.mark.parametrize("kept", [0, 4, 100, -8])
def test_truncated_file(capsys, tmp_path, saved, kept):
    path = tmp_path / "cut.parquet"
    path.write_bytes(saved.read_bytes()[:kept])
    assert_one_line(run(capsys, "verify", path), "cut.parquet")
    assert_one_line(run(capsys, "draw", path, "-o", tmp_path / "x.svg"), "cut.parquet")
    assert not (tmp_path / "x.svg").exists()


def test_foreign_and_newer_files(capsys, tmp_path, saved):
    import pyarrow as pa
    import pyarrow.parquet as pq

    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"slot": np.arange(3)}), foreign)
    assert_one_line(run(capsys, "verify", foreign), "not a gossamer schedule")
    table = pq.read_table(saved)
    header = json.loads(table.schema.metadata[b"gossamer"]) | {"version": 99}
    pq.write_table(table.replace_schema_metadata({b"gossamer": json.dumps(header).encode()}), foreign)
    assert_one_line(run(capsys, "verify", foreign), "version 99")


@pytest.mark.parametrize("output", ["load.txt", "nowhere/load.svg"])
def test_picture_that_cannot_be_written(capsys, tmp_path, monkeypatch, saved, output):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert_one_line(run(capsys, "draw", saved, "-o", output), output)
    assert sorted(tmp_path.iterdir()) == before


def test_save_into_a_missing_folder(capsys, tmp_path):
    words = ("plan", "ring:5", "allgather", "-o", tmp_path / "none" / "plan.parquet")
    assert_one_line(run(capsys, *words), "cannot write")


def test_a_limit_on_everything_held_is_checked_and_told(capsys):
    words = ["plan", "array:16x16", "permutation", "--pattern", "random", "--algorithm", "Q", "--buffer-counts", "all"]
    assert main([*words, "--buffer", "5", "-v"]) == 0
    printed = said.words(capsys.readouterr().out)
    assert "5 with its own and those delivered" in printed
    assert "15 slots of control packets at t_p = 0 step" in printed
    assert main([*words, "--buffer", "4"]) == 2
    assert "it may keep 5 packets at one node, more than the buffer of 4" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_on_standard_error(capsys, tmp_path):
    path = tmp_path / "pair.json"
    path.write_text('{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1, "weight": 2}]}')
    assert main(["bounds", str(path), "allgather"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("gossamer: warning: graph ")
    assert told.count("\n") == 1
    assert "'weight' is not used" in told


@pytest.mark.parametrize("others", [[], ["--ports", "one"], ["--segmented"]])
def test_what_a_buffer_counts_is_kept_beside_other_rules(capsys, others):
    assert main(["bounds", "ring:5", "broadcast", *others, "--buffer", "4", "--buffer-counts", "all", "--json"]) == 0
    rules = json.loads(capsys.readouterr().out)["rules"]
    assert (rules["buffer"], rules["buffer_counts"]) == (4, "all")
