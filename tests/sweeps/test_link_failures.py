"""What failures cost: every one planned, equal ones once, an interrupt keeps what there is."""

from __future__ import annotations

import json
import re

import pytest

import gossamer
import said
from gossamer.cli import main
from gossamer.errors import GossamerError
from gossamer.networks.cable_orbits import cable_orbits
from gossamer.networks.derived import cables
from gossamer.questions.tasks import as_task
from gossamer.studies.sweeps.link_failures import planned_failures


def test_symmetric_failures_are_planned_once_and_counted_as_many():
    found = gossamer.faults("torus:4x4", "allgather")
    assert (len(found), found.covered, found.possible) == (1, 32, 32)
    # node (0,0) has 3 links left for the 15 messages of the others
    assert found.worst.time == found.worst.bound == 5
    assert found.mean_slowdown == 1.25
    assert found.stopped == ""


@pytest.mark.parametrize("spec", ["array:2x3", "complete:4", "ring:5"])
def test_the_orbits_give_what_all_failures_give(spec):
    net = gossamer.network(spec)
    found = gossamer.faults(net, "allgather")
    every = [gossamer.lower_bounds(net.without(links=[(int(u), int(v))]), "allgather")[0].value for u, v in cables(net)]
    told = [fault.bound for fault in found.planned for _ in range(fault.stands_for)]
    assert sorted(told) == sorted(every)
    assert all(fault.time >= fault.bound for fault in found.planned)


def test_a_task_with_a_root_is_planned_once_for_cables_that_a_reflection_exchanges():
    found = gossamer.faults("ring:5", "broadcast")
    assert found.covered == found.possible == 5
    # the broadcast from node 0 then goes one way round from the failure: 4 hops at the most, 2 at the least
    assert [(fault.time, fault.stands_for) for fault in found.planned] == [(4, 2), (3, 2), (2, 1)]
    assert found.mean_slowdown == pytest.approx((4 + 4 + 3 + 3 + 2) / 5 / 2)


def test_what_is_cut_off_is_told():
    found = gossamer.faults("array:3", "allgather")
    assert found.planned == ()
    assert "is not connected" in found.refused[0].refusal
    assert found.mean_slowdown is None
    assert dict(found.rows())["not planned"].startswith("2; without link (0)-(1): ")


def test_more_failures_than_the_sample_are_drawn_by_the_seed():
    draws = [gossamer.faults("hypercube:3", "broadcast", links=2, sample=4, seed=s) for s in (1, 1, 2)]
    names = [[fault.links for fault in found.faults] for found in draws]
    assert names[0] == names[1] != names[2]
    assert all(len(set(n)) == 4 for n in names)
    assert draws[0].possible == 66
    assert draws[0].stopped == "a sample of 4 failures, at random"


def test_an_interrupt_keeps_what_there_is():
    def progress(stage):
        if stage.startswith("2 of"):
            raise KeyboardInterrupt

    found = gossamer.faults("ring:5", "broadcast", progress=progress)
    assert len(found) == 2
    assert found.stopped == "interrupted; 1 failure is not planned"


def test_pairs_of_cables_that_are_alike_are_planned_once():
    found = gossamer.faults("ring:6", "allgather", links=2)
    assert (found.covered, found.possible) == (15, 15)
    assert sorted(fault.stands_for for fault in found.faults) == [3, 6, 6]  # 3, 1 or 2 cables apart
    boxes = planned_failures(gossamer.network("dgx-h100:4"), as_task("allreduce"))
    assert sorted(weight for _, weight in boxes) == [32, 32]  # a cable inside, one outside
    assert len(planned_failures(gossamer.network("dgx-h100:4"), as_task("allreduce"), 2)) < 20
    rooted = planned_failures(gossamer.network("complete:5"), as_task("broadcast"), 2)
    assert sum(weight for _, weight in rooted) == 45
    assert len(rooted) == 5
    uneven = planned_failures(gossamer.network("ring:4"), gossamer.task("scatterv", counts=[1, 0, 3, 2]))
    assert uneven == [((i,), 1) for i in range(4)]


def test_each_of_the_failures_that_are_alike_takes_the_same_time():
    for spec, task in (("mi250x", "allgather"), ("leaf-spine:2,2,2", "broadcast"), ("complete:4", "scatter")):
        net = gossamer.network(spec)
        orbit = cable_orbits(net, () if task == "allgather" else (0,))
        bounds = {}
        for of, (u, v) in zip(orbit.tolist(), cables(net).tolist(), strict=True):
            try:
                bound = gossamer.lower_bounds(net.without(links=[(u, v)]), task)[0].value
            except GossamerError:  # it is cut off
                bound = None
            bounds.setdefault(of, set()).add(bound)
        assert all(len(same) == 1 for same in bounds.values())


def test_schedules_are_saved_and_are_those_of_the_damaged_network(tmp_path):
    found = gossamer.faults("array:2x2", "allgather", save=tmp_path / "new" / "folder")
    saved = gossamer.load(found.worst.file)
    assert saved.completion_time == found.worst.time
    assert saved.network == gossamer.network("array:2x2").without(links=[(0, 1)])
    assert gossamer.verify(saved).ok


def test_seconds_are_told_as_seconds():
    cost = gossamer.TimeCost(bytes="1MiB", bandwidth="1GB/s")
    found = gossamer.faults("ring:4", "broadcast", cost=cost)
    assert found.to_dict()["unit"] == "second"
    assert found.worst.slowdown == pytest.approx(2, rel=0.005)
    assert dict(found.rows())["worst"].startswith("1.051 ms, 1.997 times as long, without link ")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"links": 0}, r"links must be a whole number in 1\.\.5, got 0"),
        ({"links": 6}, r"links must be a whole number in 1\.\.5, got 6"),
        ({"sample": 0}, "sample must be a whole number"),
        ({"effort": "much"}, "effort must be"),
        ({"save": "/dev/null/x"}, "cannot make the folder '/dev/null/x'"),
    ],
)
def test_illegal_questions_are_refused(how, message):
    with pytest.raises(GossamerError, match=message):
        gossamer.faults("ring:5", "broadcast", **how)


def test_what_is_refused_makes_no_folder(tmp_path):
    with pytest.raises(GossamerError, match="has no bandwidths"):
        gossamer.faults("ccc:3", "reduce-scatter", cost=gossamer.TimeCost("64kB"), save=tmp_path / "new")
    assert not list(tmp_path.iterdir())


# -- the command line ------------------------------------------------------------------------------------------------


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_faults_prints_the_worst_the_mean_and_a_table(capsys, tmp_path):
    table, values = tmp_path / "a.csv", tmp_path / "a.json"
    status, out, _ = run(capsys, "faults", "array:2x3", "allgather", "-o", table, "-o", values)
    assert status == 0
    for text in ("no failures", "7 of 7", "times as long, without link", "average", "stands for"):
        assert text in out
    assert len(table.read_text().splitlines()) == 1 + 3
    assert json.loads(values.read_text())["covered"] == 7
    status, out, _ = run(capsys, "faults", "array:2x3", "allgather", "--json")
    assert json.loads(out)["possible"] == 7
    assert run(capsys, "faults", "array:2x3", "allgather", "-o", "a.txt")[2].count("one of .csv, .parquet, .json;") == 1


def test_without_is_an_option_of_the_commands_that_take_a_network(capsys):
    status, out, _ = run(capsys, "plan", "ring:5", "broadcast", "--without", "links:0-1")
    assert status == 0
    assert "ring:5 without link (0)-(1): 5 nodes, 8 links" in out
    assert "no failures 2 steps, by shortest-path-tree; 2 times as long without link (0)-(1)" in said.words(out)
    status, out, _ = run(capsys, "plan", "ring:5", "broadcast", "--without", "links:0-1", "--json")
    assert json.loads(out)["sound"]["completion_time"] == 2
    assert "4 steps  eccentricity" in run(capsys, "bounds", "ring:5", "broadcast", "--without", "links:0-1")[1]
    assert "shortest-path-tree" in run(capsys, "compare", "ring:5", "broadcast", "--without", "links:0-1")[1]
    assert (
        "shortest-path-tree"
        in run(capsys, "list", "algorithms", "ring:5", "--task", "broadcast", "--without", "nodes:0")[1]
    )
    schemes = run(capsys, "list", "schemes", "ring:5", "--without", "links:0-1")[1]
    assert "spanning trees of any network" in said.words(schemes)
    routing = run(capsys, "deadlock", "torus:4x4", "--without", "links:0-1")[1]
    assert "messages cannot deadlock" in said.words(routing)
    assert run(capsys, "list", "schemes", "--without", "links:0-1")[2].startswith(
        "gossamer: --without goes with a network"
    )


def test_the_root_of_the_sound_network_is_the_same_node(capsys):
    status, out, _ = run(capsys, "plan", "array:4", "broadcast", "--root", "2", "--without", "nodes:(0)", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["completion_time"] == 2  # from the end of a line of 3
    assert found["sound"]["completion_time"] == 3  # node 2 was node 3 of 4


def test_the_table_has_times_as_the_lines_above_it(tmp_path, capsys):
    path = tmp_path / "tail.edges"
    path.write_text("columns source target bandwidth\na b 50GB/s\nb c 50GB/s\nc a 50GB/s\nc d 25GB/s\n")
    status, out, _ = run(capsys, "faults", path, "allgather", "--bytes", "1MiB")
    assert status == 0
    worst = re.search(r"worst +(\S+) us, ", out)[1]
    assert abs(float(worst) - 3 * 2**20 / 25e3) < 0.1  # what node d receives, or sends
    assert re.search(rf"\nlink a-c +2 +{worst} us +{worst} us +1 ", out)
    assert "failures 4 of 4, 3 of them different by symmetry" in said.words(out)
    assert re.search(r"not planned 1; without link c-d: .* is not connected", said.words(out))
