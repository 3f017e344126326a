"""What the explorer shows are the schedule's own numbers."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError, ScheduleError, VerificationError
from gossamer.explorer import embedded, explore, scene
from gossamer.explorer.scenes import witness_nodes
from gossamer.verification import link_load
from plots.simple_schedules import broken, flood, gossip, scatter, with_control

CASES = [
    ("torus:4x4", "allgather"), ("array:4x3", "alltoall"), ("ring:7", "scatter"), ("hypercube:4", "reduce"),
    ("fat-tree:k=2,h=3,capacity=exponential", "allgather"), ("star:4", "broadcast"), ("ring:6", "allreduce"),
]  # fmt: skip


def loads(shown):
    """Return the packets on the way of all rows by source and target."""
    column = shown.columns
    crossed = column["way"][np.repeat(column["message"] >= 0, np.diff(column["first"]))]
    return np.bincount(crossed, minlength=column["source"].size)


@pytest.mark.parametrize(("spec", "task"), CASES)
def test_rows_are_the_hops_and_loads_those_of_the_metrics(spec, task):
    schedule = gossamer.plan(spec, task).schedule
    shown = scene(schedule)
    column, rows = shown.columns, schedule.timeline()
    assert column["start"].tolist() == sorted(rows.start.tolist())
    assert (np.diff(column["start"].astype(np.int64)) >= 0).all()
    seen = sorted(zip(column["start"], column["end"], column["from"], column["to"], strict=True))
    assert seen == sorted(zip(rows.start, rows.end, rows.source, rows.target, strict=True))
    assert column["source"][column["way"]].tolist() == column["from"].tolist()
    network = schedule.network
    expected = {}
    for link, load in enumerate(link_load(schedule).tolist()):
        key = (int(network.link_source[link]), int(network.link_target[link]))
        expected[key] = expected.get(key, 0) + load
    ends = zip(column["source"].tolist(), column["target"].tolist(), strict=True)
    assert dict(zip(ends, loads(shown).tolist(), strict=True)) == expected


@pytest.mark.parametrize(("spec", "task"), CASES[:-1])
def test_the_packets_that_wait_are_those_of_the_buffer_peak(spec, task):
    plan = gossamer.plan(spec, task)
    assert scene(plan.schedule).head["held_peak"] == plan.facts.buffer.packets


@given(st.sampled_from(["array:5", "array:3x3", "ring:8"]), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_routed_packets_wait_as_the_metrics_say(spec, random):
    network = gossamer.network(spec)
    there = list(range(network.node_count))
    random.shuffle(there)
    plan = gossamer.plan(network, gossamer.task("permutation", destination=there))
    assert scene(plan.schedule).head["held_peak"] == plan.facts.buffer.packets


def test_the_share_in_use_over_time_adds_up_to_the_utilization():
    for spec, task in CASES:
        plan = gossamer.plan(spec, task)
        busy = scene(plan.schedule).columns["busy"]
        assert busy.mean() == pytest.approx(float(plan.facts.utilization), abs=1e-6)
        assert busy.min() >= 0
        assert busy.max() <= 1 + 1e-6


def test_control_packets_belong_to_no_message():
    schedule = with_control(gossamer.network("array:4x4"))
    column = scene(schedule).columns
    assert int((column["message"] < 0).sum()) == schedule.hop_count - link_load(schedule).sum()
    assert Fraction(scene(schedule).head["tick"]).limit_denominator(8) == schedule.timeline().tick


def test_worms_lie_on_the_channels_that_they_take():
    schedule = gossamer.plan("torus:5x5", "allgather", switching="wormhole").schedule
    shown = scene(schedule)
    column = shown.columns
    for r in range(0, column["start"].size, 7):
        way = column["way"][column["first"][r] : column["first"][r + 1]]
        assert column["source"][way[0]] == column["from"][r]
        assert column["target"][way[-1]] == column["to"][r]
        assert column["target"][way[:-1]].tolist() == column["source"][way[1:]].tolist()
    assert np.bincount(np.repeat(column["start"], np.diff(column["first"])), np.repeat(column["weight"], np.diff(
        column["first"]))).max() <= column["source"].size + 1e-3  # fmt: skip
    assert column["busy"].max() <= 1 + 1e-6


def test_a_network_of_three_dimensions_stands_in_space():
    assert scene(flood(gossamer.network("torus:3x4x5"))).columns["space"].reshape(-1, 3).max(axis=0).tolist() == [
        2,
        3,
        4,
    ]
    assert scene(flood(gossamer.network("torus:4x4"))).columns["space"].size == 0


@pytest.mark.parametrize(("spec", "task", "marked"), [
    ("array:5x5", "broadcast", [0, 24]), ("ring:6", "scatter", [0]), ("torus:4x4", "alltoall", []),
])  # fmt: skip
def test_the_nodes_of_the_witness_are_marked(spec, task, marked):
    network = gossamer.network(spec)
    assert set(marked) <= set(witness_nodes(network, gossamer.lower_bounds(network, task)[0]))


def test_a_box_of_the_witness_is_marked_around_the_end_of_a_ring_too():
    network = gossamer.network("torus:4x4")
    bound = gossamer.bounds.Bound(
        "box cut", Fraction(1), "4 nodes in the box (3..0,1..2), 4 of them active", "cut", "x"
    )
    assert witness_nodes(network, bound) == [1, 2, 13, 14]
    whole = gossamer.bounds.Bound("box cut", Fraction(1), "4 nodes in the box (2,*), 4 of them active", "cut", "x")
    assert witness_nodes(network, whole) == [8, 9, 10, 11]


# -- the page ----------------------------------------------------------------------------------------------------


def unpacked(text):
    head = json.loads(re.search(r'id="head">(.*?)</script>', text, re.DOTALL)[1])
    packed = re.search(r'id="columns">(.*?)</script>', text, re.DOTALL)[1]
    return head, zlib.decompress(base64.b64decode(packed))


def test_the_page_is_small_fetches_nothing_and_holds_the_columns(tmp_path):
    plan = gossamer.plan("torus:8x8", "allgather")
    explore(plan, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    head, data = unpacked(text)
    assert len(data) == head["size"]
    bare = text.replace(re.search(r'id="columns">(.*?)</script>', text, re.DOTALL)[1], "")
    assert len(bare) < 400_000
    assert "http" not in bare
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"(?!data:)", bare)
    (shown,) = head["scenes"]
    kind, at, size = shown["columns"]["way"]
    assert (kind, size) == ("Int32Array", plan.schedule.hop_count)
    assert np.frombuffer(data, np.int32, size, at).tolist() == scene(plan.schedule).columns["way"].tolist()
    assert (shown["time"], shown["bound"]) == ("16", "16")


def test_a_plan_in_seconds_is_told_in_seconds():
    """An allgather of 1 MB on four nodes over links of 1 GB/s and 1 ms; a link is busy for 1 of 2 ms of a transfer."""
    cost = gossamer.TimeCost("1MB", bandwidth="1GB/s", latency="1ms", whole=True)
    plan = gossamer.plan("ring:4", "allgather", cost=cost)
    shown = scene(plan.schedule, plan.bounds)
    head = shown.head
    assert (head["time"], head["unit"], head["units"], head["task"]) == ("4", "ms", "ms", "allgather")
    assert head["ticks"] * head["tick"] == pytest.approx(4)
    assert head["met"] == plan.optimal
    carried = link_load(plan.schedule).sum() * 1.0
    assert shown.columns["busy"].mean() == pytest.approx(carried / (8 * 4), rel=1e-6)


def test_the_same_schedule_is_the_same_page(tmp_path):
    for name in ("a.html", "b.html"):
        explore(scatter(gossamer.network("array:4x4")), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_names_cannot_break_out_of_the_page(tmp_path):
    import networkx as nx

    graph = nx.Graph([("</script><script>alert(1)", "<!--columns-->")], name="x")
    explore(flood(gossamer.networks.from_networkx(graph)), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert text.count("<script") == 3
    assert "alert(1)" in text
    head, data = unpacked(text)
    assert head["scenes"][0]["names"][0] == "</script><script>alert(1)"
    assert len(data) == head["size"]


def test_two_schedules_stand_side_by_side_and_three_do_not(tmp_path):
    schedules = [gossip(gossamer.network("ring:5")), flood(gossamer.network("ring:5"))]
    explore(schedules, tmp_path / "a.html")
    assert len(unpacked((tmp_path / "a.html").read_text())[0]["scenes"]) == 2
    with pytest.raises(ScheduleError, match="one schedule, or two side by side, not 3"):
        explore([*schedules, schedules[0]], tmp_path / "b.html")
    assert not (tmp_path / "b.html").exists()


def test_an_invalid_schedule_is_not_shown(tmp_path):
    with pytest.raises(VerificationError, match="never gets packet 0"):
        explore(broken(gossamer.network("ring:8")), tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()


def test_what_is_too_large_or_was_not_kept_is_refused(tmp_path):
    with pytest.raises(NotApplicableError, match="at most 20,000 nodes, and ring:20001 has 20,001"):
        explore(flood(gossamer.network("ring:20001")), tmp_path / "a.html")
    explore(gossamer.plan("torus:16x16x32", "alltoall"), tmp_path / "a.html")  # of which one orbit is counted
    assert '"rows":1073741824' in (tmp_path / "a.html").read_text()
    streamed = dataclasses.replace(gossamer.plan("torus:4x4", "alltoall"), schedule=None)
    with pytest.raises(ScheduleError, match="nothing to explore"):
        explore(streamed, tmp_path / "a.html")


def test_a_frame_of_another_page_holds_the_page_whole():
    text = embedded(flood(gossamer.network("ring:5")), height=300)
    assert text.startswith("<iframe srcdoc=")
    assert 'height="300"' in text
    assert text.count("<") == 2  # everything inside is escaped


def test_commands_write_pages(tmp_path, capsys):
    from gossamer.cli import main

    plan, page = tmp_path / "a.parquet", tmp_path / "a.html"
    assert main(["plan", "ring:5", "allgather", "-o", str(plan), "-o", str(page)]) == 0
    first = page.read_bytes()
    assert main(["explore", str(plan), "-o", str(page)]) == 0
    capsys.readouterr()
    assert unpacked(first.decode())[1] == unpacked(page.read_text())[1]
    for words, fact in (
        ([str(plan), "-o", str(tmp_path / "a.txt")], "must end in .html"),
        ([str(plan)] * 3 + ["-o", str(page)], "one schedule, or two side by side, not 3"),
        ([str(tmp_path / "b.parquet"), "-o", str(page)], "b.parquet"),
    ):
        assert main(["explore", *words]) == 2
        assert fact in capsys.readouterr().err
