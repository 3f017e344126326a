"""``gossamer simulate traffic``, ``saturation`` and ``wormhole``, ``gossamer deadlock``: flit by flit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.wormhole import load

QUICK = ("--warmup", 0, "--measured", 500)


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def saved(tmp_path, capsys):
    """A ring all-gather on a torus of 4 x 4."""
    path = tmp_path / "schedule.parquet"
    words = ("--switching", "wormhole", "--algorithm", "ring-all-gather", "--message-bytes", 64, "-o", path)
    assert run(capsys, "plan", "torus:4x4", "allgather", *words)[0] == 0
    return path


@pytest.mark.parametrize("command", ["traffic", "saturation", "wormhole"])
def test_help(capsys, command):
    status, out, _ = run(capsys, "simulate", command, "--help")
    assert status == 0
    assert out.startswith(f"Usage: gossamer simulate {command}")


def test_traffic_prints_a_line_a_load(capsys):
    status, out, err = run(capsys, "simulate", "traffic", "torus:4x4", "--load", "0.1:0.3:0.1", *QUICK)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "uniform traffic on torus:4x4, messages of 8 flits; times in cycles"
    assert [line.split()[0] for line in lines[-5:-2]] == ["0.1", "0.2", "0.3"]
    assert "dimension-order routing: no circle among " in lines[-1]


def test_traffic_as_json_with_picture_and_table(capsys, tmp_path):
    svg, table = tmp_path / "x.svg", tmp_path / "x.csv"
    words = ("--load", "0.1,2", "--pattern", "transpose", "-o", svg, "-o", table, "--json", *QUICK)
    status, out, _ = run(capsys, "simulate", "traffic", "array:4x4", *words)
    runs = json.loads(out)["runs"]
    assert status == 0
    assert [r["saturated"] for r in runs] == [False, True]
    assert svg.read_text().startswith("<?xml")
    assert len(table.read_text().splitlines()) == 3


def test_networks_are_compared(capsys, tmp_path):
    svg = tmp_path / "x.svg"
    status, out, _ = run(capsys, "simulate", "traffic", "torus:4x4", "array:4x4", "--load", 0.1, "-o", svg, *QUICK)
    assert status == 0
    assert "uniform traffic on torus:4x4" in out
    assert "uniform traffic on array:4x4" in out
    assert svg.exists()


def test_saturation_is_searched(capsys):
    status, out, _ = run(capsys, "simulate", "traffic", "torus:4x4", "--saturation", "--json", *QUICK)
    (found,) = json.loads(out)["saturation"]
    assert status == 0
    assert 0.4 < found["throughput"] <= found["ideal"]


def test_destinations_from_a_file(capsys, tmp_path):
    path = tmp_path / "to.npy"
    np.save(path, np.arange(16)[::-1])
    status, out, _ = run(
        capsys, "simulate", "traffic", "array:4x4", "--destinations", path, "--load", "0.1", "--json", *QUICK
    )
    assert status == 0
    assert json.loads(out)["runs"][0]["pattern"] == "given destinations"


def test_destinations_by_source(capsys, tmp_path):
    path = tmp_path / "to.txt"
    path.write_text("0: 9\n5: 9  # two nodes send to node 9\n")
    words = ("--destinations", path, "--load", "0.1", *QUICK)
    assert run(capsys, "simulate", "traffic", "array:4x4", *words)[0] == 0
    path.write_text("0: 16\n")
    status, out, err = run(capsys, "simulate", "traffic", "array:4x4", *words)
    told = "gossamer: the destination of node 0 is 16; it must be 0..15 on array:4x4, or -1 for none"
    assert (status, out, err) == (2, "", f"{told}; try: gossamer simulate traffic -h\n")


def test_where_nothing_can_be_written_nothing_is_simulated(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.studies.sweeps.latency_load", lambda *_, **__: pytest.fail("simulated"))
    table, plot = tmp_path / "x.csv", tmp_path / "no folder" / "x.svg"
    status, out, err = run(capsys, "simulate", "traffic", "array:4x4", "-o", table, "-o", plot)
    assert (status, out) == (2, "")
    assert err.startswith(f"gossamer: cannot write {str(plot)!r}: No such file or directory; try: gossamer ")
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_measured_is_a_dash(capsys):
    status, out, _ = run(capsys, "simulate", "traffic", "array:4x4", "--load", "1e-6", *QUICK)
    assert status == 0
    assert out.splitlines()[-3].split() == ["1e-06", "0.0000", "-", "-", "-", "-", "0.000"]


def test_a_deadlock_is_told(capsys):
    words = ("--load", "4", "--virtual-channels", 1, "--dateline", "none", "--warmup", 0, "--measured", 5000)
    status, out, _ = run(capsys, "simulate", "traffic", "torus:4x4", *words)
    assert status == 1
    assert "deadlock found in cycle" in out
    assert "which waits for the first" in out


@pytest.mark.parametrize("starts", ["barrier", "dependencies"])
def test_run_takes_the_predicted_cycles(capsys, saved, starts):
    status, out, _ = run(capsys, "simulate", "wormhole", saved, "--starts", starts, "--json")
    fields = json.loads(out)
    assert status == 0
    assert fields["starts"] == starts
    assert fields["deadlock"] is None
    assert fields["valid"] is True
    if starts == "barrier":
        assert fields["cycles"] == fields["predicted_cycles"]
        assert fields["blocked"] == 0


def test_run_prints_cycles_and_contention(capsys, saved):
    status, out, _ = run(capsys, "simulate", "wormhole", saved)
    assert status == 0
    assert "ring-all-gather on torus:4x4, with a barrier after each step" in out
    for word in ("valid       yes", "cycles", "contention  0 cycles waited for others, 0 for free slots", "flit-hops"):
        assert word in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("traffic", "star:4", "--routing", "xy"), "array or torus"),
        (("traffic", "torus:4x4", "--pattern", "transpos"), "did you mean 'transpose'"),
        (("traffic", "torus:4x4", "--load", "high"), "got 'high'"),
        (("traffic", "torus:4x4", "--load", "9"), "load must be a number in 8e-15..8, got 9"),
        (("traffic", "torus:4x4", "--virtual-channels", "1"), "at least 2, got 1"),
        (("traffic", "torus:4x4", "-o", "x.jpg"), ".svg, .png, .pdf"),
        (("traffic", "torus:4x4", "--destinations", "none.txt"), "none.txt"),
        (("traffic", "torus:4x4", "--dateline", "maybe"), "maybe"),
        (("traffic", "torus:4x4", "--pattern", "transpose", "--destinations", "x.txt"), "give one of"),
        (("traffic", "torus:4x4", "--saturation", "--load", "0.1"), "leave out --load"),
        (("traffic", "torus:4x4", "--hot-share", "0.5"), "--hot-share goes with --pattern hotspot"),
        (("traffic", "torus:4x4", "--load", ""), "got ''"),
        (("wormhole", "none.parquet"), "none.parquet"),
        ((), "no command given"),
    ],
)
def test_bad_input_is_told_in_one_line(capsys, words, told):
    status, out, err = run(capsys, "simulate", *words)
    if not words:
        assert "traffic" in out + err
        return
    assert (status, out) == (2, "")
    assert err.startswith("gossamer: ")
    assert err.count("\n") == 1
    assert told in err


def test_a_schedule_that_collides_runs_and_is_called_invalid(capsys, saved, tmp_path):
    schedule = load(saved)
    path = tmp_path / "collides.parquet"
    schedule.replace(step=[0] * schedule.message_count, phases=None).save(path)
    status, out, _ = run(capsys, "simulate", "wormhole", path)
    assert status == 0
    assert "valid       no: " in out
    assert "contention  0 cycles" not in out


def test_a_store_and_forward_schedule_is_refused(capsys, tmp_path):
    path = tmp_path / "plain.parquet"
    assert run(capsys, "plan", "ring:6", "allgather", "-o", path)[0] == 0
    status, out, err = run(capsys, "simulate", "wormhole", path)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize("ports", ["all", "one"])
def test_a_schedule_is_set_beside_its_bound_and_what_is_planned_for_it(capsys, tmp_path, ports):
    path = tmp_path / "w.parquet"
    words = ("--switching", "wormhole", "--ports", ports, "-o", path)
    assert run(capsys, "plan", "torus:4x4", "allgather", *words)[0] == 0
    assert load(path).rules == gossamer.Rules(ports=ports)
    status, out, err = run(capsys, "verify", path, "--compare", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["bound"] <= told["own_time"] == told["completion_time"]
