"""Schedules of many hops: what is counted for a page is what the metrics count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.explorer import explore, pages
from gossamer.explorer import pages as module
from gossamer.explorer.pages import aggregated
from gossamer.plots.link_groups import NodePairs
from gossamer.verification import link_load

CASES = [("torus:4x4", "allgather"), ("array:5x3", "alltoall"), ("star:4", "allgather"), ("ring:9", "scatter"),
         ("fat-tree:k=2,h=3,capacity=exponential", "alltoall")]  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(CASES), st.integers(1, 4000))
def test_frames_add_up_to_the_loads_and_to_the_hops(case, cells):
    schedule = gossamer.plan(*case).schedule
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        column = aggregated(schedule).columns
    network, pairs = schedule.network, NodePairs(schedule.network)
    load = np.bincount(pairs.number(network.link_source, network.link_target), link_load(schedule), pairs.key.size)
    assert column["crossed"].tolist() == load.tolist()
    frames = column["frames"].reshape(-1, pairs.key.size)
    assert frames.sum(axis=0).tolist() == load.tolist()
    assert 1 <= len(frames) <= max(1, schedule.slot_count)
    assert column["busy"].mean() == pytest.approx(
        float(schedule.hop_count / schedule.slot_count / pairs.capacity.sum())
    )


def test_a_schedule_of_many_hops_is_counted_and_one_of_too_many_refused(tmp_path, monkeypatch):
    schedule = gossamer.plan("torus:4x4", "alltoall").schedule
    explore(schedule, tmp_path / "a.html")
    one_by_one = (tmp_path / "a.html").read_text()
    assert '"frames"' not in one_by_one
    monkeypatch.setattr(pages, "MOST_ROWS", 100)
    explore(schedule, tmp_path / "a.html")
    counted = (tmp_path / "a.html").read_text()
    assert '"frames"' in counted
    assert f'"rows":{schedule.hop_count}' in counted
    monkeypatch.setattr(pages, "MOST_HOPS", 14)
    with pytest.raises(
        NotApplicableError, match=f"at most 14 stored hops, and this schedule has {schedule.slot.size:,}"
    ):
        explore(schedule, tmp_path / "a.html")
    monkeypatch.setattr(module, "MOST_HOPS", 14)
    with pytest.raises(NotApplicableError, match="at most 14 stored hops"):
        aggregated(schedule)


@pytest.mark.parametrize("task", ["allgather", "broadcast"])
def test_a_large_hierarchy_is_shown_by_tiers_with_one_group_in_full(task, monkeypatch):
    outcome = gossamer.plan("dgx-h100:3", task, cost=gossamer.TimeCost("64MiB"))
    schedule, network = outcome.schedule, outcome.schedule.network
    monkeypatch.setattr(pages, "_MOST_DRAWN", 20)
    shown = aggregated(schedule)
    names = shown.head["names"]
    assert names[:8] == [f"box0.gpu{i}" for i in range(8)]
    assert names[8:] == ["16 x gpu", "8 x rail", "box0.nvswitch", "2 x nvswitch"]
    assert shown.head["all"] == network.node_count
    load, ends = link_load(schedule), shown.columns
    pairs = {
        (names[s], names[t]): int(n)
        for s, t, n in zip(ends["source"], ends["target"], ends["crossed"], strict=True)
    }  # fmt: skip
    assert sum(pairs.values()) == schedule.hop_count
    source, target = ([network.node_name(v) for v in end] for end in (network.link_source, network.link_target))
    for at, end in [("box0.nvswitch", "box0.gpu3"), ("box0.gpu5", "box0.nvswitch")]:
        assert pairs[at, end] == sum(
            int(n) for s, t, n in zip(source, target, load, strict=True) if (s, t) == (at, end)
        )
    to_rails = sum(int(n) for s, t, n in zip(source, target, load, strict=True) if "gpu" in s and "rail" in t)
    assert sum(n for (s, t), n in pairs.items() if "gpu" in s and "rail" in t) == to_rails


@pytest.mark.parametrize(("spec", "task"), [("torus:4x6", "allgather"), ("hypercube:4", "alltoall")])
def test_one_stored_orbit_counts_as_all_its_hops(spec, task):
    schedule = gossamer.plan(spec, task).schedule
    assert schedule.symmetry is not None
    few, all_ = aggregated(schedule).columns, aggregated(schedule.expand()).columns
    for name in ("frames", "crossed", "busy"):
        assert few[name].tolist() == pytest.approx(all_[name].tolist())
