"""Every command that takes a schedule file takes one of partial sums, or refuses it in one line."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ScheduleError
from gossamer.graphs.retiming import retimed
from gossamer.interchange import FORMATS
from gossamer.schedules import relabel, torus_on_array

TIME = ["--bytes", "64KiB", "--bandwidth", "50GB/s", "--latency", "2us"]
PLANS = {  # sums that pass through ranks, sums among neighbors, and sums through switches that cut through
    "array:5": ["array:5", "allreduce", "--form", "sums", *TIME],
    "hypercube:3": ["hypercube:3", "allreduce", "--form", "sums", *TIME],
    "fat-tree:2,2": ["fat-tree:2,2", "partial-sum-allreduce", "--cut-through"],
}
COMMANDS = {
    "verify": ["verify", "{plan}"],
    "load": ["draw", "{plan}", "-o", "{folder}/load.svg"],
    "messages": ["draw", "{plan}", "--kind", "messages", "-o", "{folder}/messages.svg"],
    "explain": ["explain", "{plan}"],
    "message": ["explain", "{plan}", "--message", "0"],
    "slot": ["explain", "{plan}", "--slot", "1"],
    "explore": ["explore", "{plan}", "-o", "{folder}/page.html"],
    "loggp": ["simulate", "{plan}", "--bytes", "64KiB"],
    **{name: ["export", "{plan}", "--to", name, "-o", "{folder}/x"] for name in FORMATS if name != "msccl-json"},
}


@pytest.fixture(scope="module", params=PLANS)
def plan(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "plan.parquet"
    assert main(["plan", *PLANS[request.param], "-o", str(path)]) == 0
    return path


@pytest.mark.exhaustive(always=19)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_partial_sums(capsys, tmp_path, plan, command):
    capsys.readouterr()
    words = [word.format(plan=plan, folder=tmp_path) for word in COMMANDS[command]]
    found, told = main(words), capsys.readouterr()
    assert (found, told.err) == (0, "")
    assert told.out


def test_sums_are_planned_anew_after_links_failed(capsys, tmp_path, plan):
    words = ["replan", str(plan), "--without", "links:0-1", "-o", str(tmp_path / "again.parquet")]
    capsys.readouterr()
    network = gossamer.load(plan).network
    found, told = main(words), capsys.readouterr()
    if network.spec == "hypercube:3":
        assert found == 0
        assert gossamer.verify(gossamer.load(tmp_path / "again.parquet"))
        assert main(["verify", str(tmp_path / "again.parquet")]) == 0
    else:  # there is no such link, or the network falls apart
        assert found == 2
        assert told.err.count("\n") == 1, told.err


def test_what_changes_the_time_or_the_order_of_sums_is_refused(plan):
    schedule = gossamer.load(plan)
    for change, why in (
        (lambda: schedule.reverse(), "no dual by time reversal"),
        (lambda: retimed(schedule, schedule.network), "partial sums depend on when they are sent"),
    ):
        with pytest.raises(gossamer.errors.GossamerError, match=why):
            change()
    same = relabel(schedule, range(schedule.network.node_count))
    assert gossamer.verify(same)
    assert same.stored_hops == schedule.stored_hops


def test_sums_on_a_torus_are_not_folded():
    with pytest.raises(ScheduleError, match="partial sums would be added at the nodes that they pass"):
        torus_on_array(gossamer.plan("torus:4x4", "partial-sum-allreduce").schedule)


def test_worms_carry_partial_sums(capsys, tmp_path):
    plan, words = str(tmp_path / "sums.parquet"), ["hypercube:3", "--switching", "wormhole"]
    assert main(["plan", *words, "partial-sum-allreduce", "-o", plan]) == 0
    assert main(["verify", plan]) == 0
    assert "valid" in capsys.readouterr().out
    assert main(["explain", plan]) == 0
    capsys.readouterr()
    assert main(["plan", *words, "allreduce", "--form", "sums"]) == 2
    told = capsys.readouterr().err
    assert "--form goes with --switching store-and-forward" in told
    assert told.count("\n") == 1


def test_programs_of_worms_are_written_by_command(capsys, tmp_path):
    cost = gossamer.LinearCost(startup=1000, message_bytes=64)
    gossamer.plan("array:3x3", "partial-sum-allreduce", switching="wormhole", cost=cost).save(tmp_path / "w.parquet")
    assert main(["export", str(tmp_path / "w.parquet"), "--to", "msccl-xml", "-o", str(tmp_path / "w.xml")]) == 0
    assert main(["verify", str(tmp_path / "w.xml"), "complete:9"]) == 0
    assert main(["export", str(tmp_path / "w.parquet"), "--to", "csv", "-o", str(tmp_path / "w.csv")]) == 2
    assert "csv shows packets on links, which wormhole messages are not" in capsys.readouterr().err
