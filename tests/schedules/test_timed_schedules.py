"""Files, transformations, timelines and pictures of schedules on links that take time."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, ModelError, ScheduleError
from gossamer.networks import Network
from gossamer.networks.structures import CayleyGroup, Speeds
from gossamer.plots.animation import animate
from gossamer.plots.appearance import load_unit
from gossamer.plots.link_load import load_figure, load_of
from gossamer.plots.link_occupancy import occupancy, occupancy_figure
from gossamer.plots.timetables import crossings, timetable_figure
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task
from gossamer.schedules import CONTROL, Schedule, Symmetry, load, relabel, save, table_files, timeline, torus_on_array
from gossamer.verification import link_busy, link_load, link_utilization, verify
from gossamer.verification.streaming import StreamingChecker
from schedules.timed_strategies import random_schedule

SEEDS = range(40)


def reloaded(schedule: Schedule, path) -> Schedule:
    save(schedule, path)
    return load(path)


@pytest.mark.parametrize("suffix", [".parquet", ".txt"])
def test_schedules_on_links_with_times_come_back_from_files(tmp_path, suffix):
    for seed in SEEDS:
        schedule = random_schedule(seed)
        back = reloaded(schedule, tmp_path / f"plan{suffix}")
        assert back == schedule, seed
        assert np.array_equal(back.link, schedule.link), seed
        assert back.network.link_latency.tolist() == schedule.network.link_latency.tolist()


@pytest.mark.parametrize("suffix", [".parquet", ".txt"])
def test_a_network_with_a_spec_keeps_it_and_its_structure_beside_times_and_speeds(tmp_path, suffix):
    ring = gossamer.network("torus:3x4")
    count = ring.link_count
    for times in ((2, 3), ([1, 1, 3, 3] * 12, [0, 0, 1, 1] * 12)):
        speeds = Speeds(np.full(count, 50e9), np.linspace(0, 1e-6, count))
        slow = Network(
            ring.spec, 12, ring.link_source, ring.link_target, link_occupancy=times[0], link_latency=times[1],
            structures=[*ring.structures, speeds], links_only=True,
        )  # fmt: skip
        schedule = invariant(slow)
        back = reloaded(schedule, tmp_path / f"plan{suffix}")
        assert back == schedule
        assert back.invariant
        assert back.network.find(CayleyGroup) is not None
        assert back.network.spec == "torus:3x4"
        assert back.network.find(Speeds).latency.tolist() == speeds.latency.tolist()
    other = replace_spec(slow, "torus:4x3")
    with pytest.raises(FileFormatError, match="cannot be saved"):
        save(schedule.replace(network=other, symmetry=Symmetry(other)), tmp_path / "plan.parquet")


def replace_spec(network: Network, spec: str) -> Network:
    return Network(
        spec, network.node_count, network.link_source, network.link_target, link_occupancy=network.link_occupancy,
        link_latency=network.link_latency, structures=network.structures, links_only=True,
    )  # fmt: skip


def invariant(network: Network) -> Schedule:
    """An allgather by the plain algorithm, each slot as long as the slowest link takes."""
    plain = gossamer.plan(gossamer.network("torus:3x4"), "allgather").schedule
    longest = int((network.link_occupancy + network.link_latency).max())
    return Schedule(
        network, plain.task, Rules(), plain.slot * longest, plain.link, plain.packet, symmetry=Symmetry(network)
    )


def test_files_of_plain_schedules_are_what_they_were(tmp_path):
    path = tmp_path / "plan.parquet"
    save(gossamer.plan("ring:5", "broadcast").schedule, path)
    with table_files.open_tables(path, 2) as file:
        header = file.header
    assert set(header["network"]) == {"spec", "fingerprint"}
    assert set(header["model"]) == {"ports", "split", "control_time", "buffer", "buffer_counts"}


def test_a_file_that_says_nothing_of_switches_means_what_it_meant(tmp_path):
    """Switches replicated and reduced before there were rules of them."""
    path = tmp_path / "plan.txt"
    tree = gossamer.network("fat-tree:k=2,h=2")
    schedule = gossamer.plan(tree, "reduce", rules=Rules(reduction=True)).schedule
    save(schedule, path)
    text = path.read_text()
    assert "version 2" in text
    old = text.replace("version 2", "version 1").replace(
        ', "cut_through": false, "replication": true, "reduction": true', ""
    )
    assert len(old) < len(text)
    path.write_text(old)
    assert load(path) == schedule
    path.write_text(text.replace(', "reduction": true', ""))
    with pytest.raises(FileFormatError, match="reduction"):
        load(path)


DOUBLE = Network("double", 3, [0, 0, 1, 1], [1, 1, 0, 2], link_occupancy=[3, 1, 1, 1], link_latency=[0, 4, 0, 0])


def test_text_says_which_of_parallel_links_a_hop_goes_by(tmp_path):
    net = Network(
        "double", 3, DOUBLE.link_source, DOUBLE.link_target, link_occupancy=DOUBLE.link_occupancy,
        link_latency=DOUBLE.link_latency, links_only=True,
    )  # fmt: skip
    path = tmp_path / "plan.txt"
    for link in (0, 1):
        schedule = Schedule(net, task("broadcast"), Rules(), [0, 5], [link, 3], [0, 0])
        save(schedule, path)
        assert path.read_text().splitlines()[-2:] == [
            f"slot 0: 0 -> 1 by {link} packet 0", "slot 5: 1 -> 2 by 0 packet 0"
        ]  # fmt: skip
        assert load(path).link.tolist() == [link, 3]
    for wrong in ("by 2", "by -1", "by 99999999999"):
        path.write_text(path.read_text().replace("0 -> 1 by 1", f"0 -> 1 {wrong}"))
        with pytest.raises(FileFormatError, match=r"hop 0 is over a link 0 -> 1 by .*, which double does not have"):
            load(path)
        path.write_text(path.read_text().replace(f"0 -> 1 {wrong}", "0 -> 1 by 1"))
    path.write_text(path.read_text().replace(" by 1", ""))
    with pytest.raises(FileFormatError, match="expected row 0 of 2"):
        load(path)


HOSTILE = [
    {"times": 7},
    {"times": {}},
    {"times": {"occupancy": 0, "latency": 0}},
    {"times": {"occupancy": 1, "latency": -1}},
    {"times": {"occupancy": True, "latency": 0}},
    {"times": {"occupancy": None, "latency": 0}},
    {"times": {"occupancy": 1.5, "latency": 0}},
    {"times": {"occupancy": [1, 2], "latency": 0}},
    {"times": {"occupancy": 2**40, "latency": 0}},
    {"times": {"occupancy": [[1]], "latency": 0}},
    {"times": {"occupancy": "!!", "latency": 0}},
    {"times": {"occupancy": "eJw=", "latency": 0}},
    {"times": {"occupancy": 2, "latency": 4}},
    {"speeds": {"bandwidth": 0, "latency": 0}},
    {"speeds": {"bandwidth": 1, "latency": -1}},
    {"speeds": {"bandwidth": "x", "latency": 0}},
    {"speeds": {"bandwidth": 1e400, "latency": 0}},
    {"speeds": {"bandwidth": 5, "latency": 5}},
]


@pytest.mark.parametrize("change", HOSTILE, ids=str)
@pytest.mark.parametrize("listed", [False, True])
def test_tampered_times_are_refused_in_one_line(tmp_path, change, listed):
    net = gossamer.network("array:3").with_times(2, 3)
    net = replace_spec(net, "some links") if listed else net
    path = tmp_path / "plan.txt"
    save(Schedule(net, task("broadcast"), Rules(), [0, 5], [0, 1], [0, 0]), path)
    lines = path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("network: "))
    lines[place] = "network: " + json.dumps({**json.loads(lines[place].removeprefix("network: ")), **change})
    path.write_text("\n".join(lines))
    with pytest.raises(FileFormatError) as error:
        load(path)
    assert "\n" not in str(error.value)


def test_switch_rules_that_are_no_booleans_are_refused(tmp_path):
    path = tmp_path / "plan.txt"
    save(Schedule(gossamer.network("array:2"), task("broadcast"), Rules(reduction=True), [0], [0], [0]), path)
    path.write_text(path.read_text().replace('"cut_through": false', '"cut_through": 0'))
    with pytest.raises(FileFormatError, match="cut_through must be True or False, got 0"):
        load(path)


def test_a_timeline_ends_when_what_a_hop_brings_is_usable():
    slow = gossamer.network("array:3").with_times([3, 2, 1, 1], [1, 0, 0, 0])
    schedule = Schedule(slow, task("broadcast"), Rules(split=True), [0, 3, 5, 8], [0, 0, 1, 1], [0, 1, 0, 1], parts=2)
    rows = timeline(schedule)
    assert verify(schedule).ok
    assert (rows.start.tolist(), rows.end.tolist()) == ([0, 3, 5, 8], [5, 8, 7, 10])
    assert (rows.length, rows.tick) == (schedule.slot_count, gossamer.reading.fraction("1/2", "tick"))


def test_slots_needed_without_phases_are_until_the_last_hop_has_ended():
    for seed in SEEDS:
        schedule = random_schedule(seed)
        assert schedule.slot_count == int(timeline(schedule).end.max(initial=0))


def test_busy_time_counts_every_slot_of_a_packet():
    for seed in SEEDS:
        schedule = random_schedule(seed)
        network = schedule.network
        assert link_busy(schedule).tolist() == (link_load(schedule) * network.link_occupancy).tolist()
        grid = occupancy(schedule, columns=1 + seed)
        assert int(grid.packets.sum()) == int(link_busy(schedule).sum())
        assert (grid.packets <= grid.room).all()
        share = link_utilization(schedule)
        room = int(network.link_capacity.sum()) * schedule.slot_count
        assert share == (gossamer.reading.fraction(int(link_busy(schedule).sum()), "x") / room if room else 0)


def test_occupancy_shows_a_packet_in_each_slot_of_its_stay_on_the_link():
    slow = gossamer.network("array:3").with_times([3, 2, 1, 1], [1, 0, 0, 0])
    schedule = Schedule(slow, task("broadcast"), Rules(), [0, 4], [0, 1], [0, 0])
    assert occupancy(schedule).packets[:2].tolist() == [[1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1]]
    assert occupancy(schedule, columns=2).packets[:2].tolist() == [[3, 0], [0, 2]]


def test_pictures_of_schedules_on_slow_links_can_be_drawn(tmp_path):
    slow = gossamer.network("array:3").with_times([3, 2, 1, 1], [1, 0, 0, 0])
    schedule = Schedule(slow, task("scatter"), Rules(), [0, 3, 4], [0, 0, 1], [1, 0, 1])
    assert verify(schedule).ok
    assert load_unit(schedule) == f"time that a link is busy, % of {schedule.completion_time} steps"
    assert load_of(schedule).max() == pytest.approx(100 * link_busy(schedule).max() / schedule.slot_count)
    load_figure(schedule)
    occupancy_figure(schedule)
    timetable_figure(schedule)
    assert [(c.since, c.slot) for c in crossings(schedule, 1)] == [(4, 4)]
    animate(schedule, tmp_path / "motion.gif")
    assert (tmp_path / "motion.gif").stat().st_size > 1000


def test_streaming_and_folding_refuse_links_that_take_time():
    slow = gossamer.network("torus:3x3").with_times(2, 0)
    with pytest.raises(ModelError, match="here some take longer"):
        StreamingChecker(slow, task("permutation", destination=[*range(1, 9), 0]), Rules())
    tree = gossamer.network("fat-tree:k=2,h=1")
    with pytest.raises(ModelError, match="not cut-through"):
        StreamingChecker(tree, task("permutation", destination=[1, 0]), Rules(cut_through=True))
    empty = Schedule(slow, task("allgather"), Rules(), [], [], [])
    with pytest.raises(ScheduleError, match="links that take time"):
        torus_on_array(empty)


def test_relabeling_keeps_times_and_the_kind_of_parallel_links():
    for seed in SEEDS:
        rng = random.Random(seed)
        schedule = random_schedule(seed)
        net = schedule.network
        to = [*rng.sample(range(net.terminal_count), net.terminal_count)]
        to += rng.sample(range(net.terminal_count, net.node_count), net.node_count - net.terminal_count)
        columns = [net.link_capacity, net.link_occupancy, net.link_latency]
        links = sorted(
            zip(
                [to[u] for u in net.link_source],
                [to[v] for v in net.link_target],
                *(c.tolist() for c in columns),
                strict=True,
            ),
            key=lambda link: (link[0], rng.random()),
        )
        source, target, capacity, occupancy_, latency = zip(*links, strict=True)
        image = Network(
            "image", net.node_count, source, target, capacity, link_occupancy=occupancy_, link_latency=latency,
            terminal_count=net.terminal_count, links_only=True,
        )  # fmt: skip
        moved = relabel(schedule, to, image)
        assert verify(moved).ok, seed
        assert image.link_occupancy[moved.link].tolist() == net.link_occupancy[schedule.link].tolist()
        assert relabel(moved, np.argsort(to), net) == schedule


def test_a_reduction_and_then_a_broadcast_are_an_allreduce_on_slow_links():
    done = 0
    for seed in range(400):
        schedule = random_schedule(seed, two_way=True)
        if schedule.task.name != "multinode-broadcast" or schedule.network.terminal_count < 2:
            continue
        done += 1
        rules = schedule.rules
        back = schedule.replace(rules=replace(rules, ports="all", replication=True, reduction=True)).reverse()
        forth = schedule.replace(rules=back.rules)
        if not verify(back).ok:
            continue
        both = back.then(forth)
        assert both.completion_time == 2 * schedule.completion_time
        assert verify(both).ok == verify(forth).ok, seed
    assert done > 10


def test_a_hop_that_ends_too_late_cannot_be_reversed():
    slow = gossamer.network("array:2").with_times(2, 3)
    late = Schedule(slow, task("broadcast"), Rules(), [1], [0], [0], phases=[gossamer.Phase("b", 3)])
    with pytest.raises(ScheduleError, match="a hop of slot 1 ends after the last slot"):
        late.reverse()


def test_control_packets_count_on_no_link():
    slow = gossamer.network("array:2").with_times(2, 3)
    schedule = Schedule(slow, task("broadcast"), Rules(), [0, 2], [0, 0], [0, CONTROL])
    assert link_busy(schedule).tolist() == [2, 0]
