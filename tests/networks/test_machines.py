"""Machines by name: sizes, speeds beside the data sheets, names, options, plans, files, failures."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError, NetworkError
from gossamer.networks import (
    FAMILIES,
    Assumptions,
    RatedLinks,
    Speeds,
    SwitchAbilities,
    as_network,
    has_speeds,
    network_size,
    parse,
    read_network,
    to_networkx,
    write_network,
)
from gossamer.networks.derived import without
from gossamer.questions.costs import USUAL_BYTES

MACHINES = [family for family in FAMILIES if family.machine]
SPECS = list(dict.fromkeys(
    [family.example for family in MACHINES] + [family.name for family in MACHINES if family.bare]
    + ["dgx-h100:4", "dgx-h100:2,spines=4,rails=2", "nvl72:chips=18", "dgx-a100:3,nic=400Gbit/s,latency=0s",
       "tpu-v5p:4x8x8", "tpu-v5p:8x8x16,twisted=yes", "tpu-v4:2x2x4", "tpu-v5e:8x16", "tpu-v5e:4x4,wraps=all",
       "trainium2:4x4x4,outside=1GB/s", "mi300x:2,rails=1,xgmi=50GB/s",
       "dgx-a100:2,gpus=4", "mi250x:3,gpus=4,rails=2", "nvl72:gpus=36,chips=2", "mi300x:gpus=1",
       "gaudi3:2,gpus=2,nic=25GB/s", "bluegene-q:2x2x4x4x2"]
))  # fmt: skip

GB = 1e9


def out_of(network, device=0, slower_than=None):
    """Return the bytes a second that leave a device over all its links, or over those slower than something."""
    speeds = network.find(Speeds)
    links = network.out_links(device)
    rates = speeds.bandwidth[links.start : links.stop] * network.link_capacity[links.start : links.stop]
    return float(rates.sum() if slower_than is None else rates[rates < slower_than].sum()) / GB


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_is_read_back_with_its_speeds(spec):
    net = parse(spec)
    again = parse(net.spec)
    assert (again, again.spec, again.labels) == (net, net.spec, net.labels)
    assert network_size(spec) == (net.node_count, net.link_count)
    assert has_speeds(net)
    assert net.two_way
    assert nx.is_strongly_connected(to_networkx(net))
    assert as_network(spec) == net
    if net.labels is not None:
        assert len(set(net.labels)) == net.node_count
        assert [net.node(name) for name in net.labels] == list(range(net.node_count))


@pytest.mark.parametrize(
    ("spec", "devices", "nodes", "cables", "inside", "outside"),
    [  # gigabytes a second of a device one way, as the vendors' pages have them: inside, and to the switches outside
        ("dgx-a100", 8, 9, 8, 300, 0),
        ("dgx-a100:2", 16, 26, 32, 300, 25),
        ("dgx-h100", 8, 9, 8, 450, 0),
        ("dgx-h100:4", 32, 44, 64, 450, 50),
        ("dgx-b200:2", 16, 26, 32, 900, 50),
        ("nvl72", 72, 73, 72, 900, 0),
        ("nvl72:chips=18", 72, 90, 72 * 18, 900, 0),
        ("nvl72:2", 144, 150, 288, 900, 50),
        ("vr-nvl72", 72, 73, 72, 1800, 0),
        ("mi300x", 8, 8, 28, 7 * 64, 0),
        ("mi300x:2", 16, 24, 56 + 16, 7 * 64, 50),
        ("dgx-a100:2,gpus=4", 8, 14, 16, 300, 25),
        ("mi300x:2,gpus=4", 8, 12, 12 + 8, 3 * 64, 50),
        ("nvl72:gpus=36", 36, 37, 36, 900, 0),
        ("gaudi3", 8, 8, 28, 525, 0),
        ("gaudi3:2", 16, 17, 56 + 16, 525, 75),
        ("gaudi2", 8, 8, 28, 262.5, 0),
        ("tpu-v4:4x4x4", 64, 64, 192, 300, 0),
        ("tpu-v5p:8x8x8", 512, 512, 1536, 600, 0),
        ("tpu-v5p:8x8x16,twisted=yes", 1024, 1024, 3072, 600, 0),
        ("tpu-v5e:16x16", 256, 256, 512, 200, 0),
        ("tpu-v6e:16x16", 256, 256, 512, 400, 0),
        ("trainium2", 16, 16, 32, 512, 0),
        ("trainium2:4x4x4", 64, 64, 192, 512 + 128, 0),
        ("tofu-d:4x4x4", 768, 768, 768 * 5, 68, 0),
        ("bluegene-q:4x4x4x4x2", 512, 512, 512 * 4 + 256, 20, 0),
    ],
)
def test_sizes_and_bandwidths_are_those_of_the_data_sheets(spec, devices, nodes, cables, inside, outside):
    net = parse(spec)
    assert (net.terminal_count, net.node_count, net.link_count) == (devices, nodes, 2 * cables)
    for device in (0, devices // 2, devices - 1):
        assert out_of(net, device) == pytest.approx(inside + outside)


def test_totals_that_vendors_publish():
    assert 2 * sum(out_of(parse("nvl72"), i) for i in range(72)) == pytest.approx(129_600)  # "130 TB/s", both ways
    assert 2 * sum(out_of(parse("vr-nvl72"), i) for i in range(72)) == pytest.approx(259_200)  # "260 TB/s"
    v6e, v5e = parse("tpu-v6e:16x16"), parse("tpu-v5e:16x16")
    assert sum(out_of(v6e, i) for i in range(256)) == pytest.approx(102_400)  # all-reduce bandwidth of a pod
    assert gossamer.describe(v6e).cut.bandwidth == 3.2e12  # bisection bandwidth of a pod
    assert gossamer.describe(v5e).cut.bandwidth == 1.6e12
    gaudi = parse("gaudi3:2")
    assert sum(out_of(gaudi, i, slower_than=75.5 * GB) for i in range(8)) - 8 * 525 == pytest.approx(600)


def test_the_dies_of_four_mi250x():
    net = parse("mi250x")
    graph = to_networkx(net)
    rates = {(u, v): d["bandwidth"] / GB for u, v, d in graph.edges(data=True)}
    inside = [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert {p for p, r in rates.items() if r == 200 and p[0] < p[1]} == set(inside)
    assert {p for p, r in rates.items() if r == 100 and p[0] < p[1]} == {(0, 6), (2, 4)}
    assert sorted(set(rates.values())) == [50, 100, 200]
    two = parse("mi250x:2")
    leaf = two.node("leaf")
    assert sorted(two.node_name(int(v)) for v in two.link_target[list(two.out_links(leaf))]) == [
        f"box{b}.gcd{i}" for b in range(2) for i in (1, 3, 5, 7)
    ]


def test_boxes_are_joined_by_rails_and_spines():
    net = parse("dgx-h100:3,spines=2")
    for box, gpu in itertools.product(range(3), range(8)):
        links = net.out_links(net.node(f"box{box}.gpu{gpu}"))
        ends = {net.node_name(int(v)) for v in net.link_target[links.start : links.stop]}
        assert ends == {f"box{box}.nvswitch", f"rail{gpu}"}
    speeds = net.find(Speeds)
    up = net.link_between(net.node("rail0"), net.node("spine0"))
    assert speeds.bandwidth[up] == 3 * 8 * 50 * GB / (8 * 2)
    assert parse("dgx-h100:2,rails=1").labels[-1] == "leaf"
    tray = parse("nvl72:2")  # the four GPUs of a tray go to four rails
    assert [tray.node_name(int(tray.link_target[tray.out_links(i)[-1]])) for i in range(5)] == [
        "rail0", "rail1", "rail2", "rail3", "rail0",
    ]  # fmt: skip


def named_links(net):
    """Return bandwidth and latency of each link, by the names of its ends."""
    ends = [[net.node_name(int(v)) for v in side] for side in (net.link_source, net.link_target)]
    speeds = net.find(Speeds)
    told = zip(speeds.bandwidth.tolist(), speeds.latency.tolist(), strict=True)
    return dict(zip(zip(*ends, strict=True), told, strict=True))


def test_some_gpus_of_each_box_are_ranks():
    """The others, and their adapters, are not there: each box is the subnetwork of the whole one."""
    for spec in ("dgx-h100:3", "mi250x:2", "mi300x:2", "gaudi3:2", "dgx-b200"):
        some, every = parse(f"{spec},gpus=4" if ":" in spec else f"{spec}:gpus=4"), parse(spec)
        mine, whole = map(named_links, (some, every))
        assert set(some.labels) <= set(every.labels)
        assert mine == {ends: how for ends, how in whole.items() if set(some.labels).issuperset(ends)}
        assert all(name[-1] in "0123" for name in some.labels[: some.terminal_count])
    assert parse("dgx-a100:2,gpus=8").spec == "dgx-a100:2"
    assert str(parse("dgx-a100:2,gpus=4").find(Assumptions).every[0].text).startswith("gpu0..gpu3 of 8 in each box")
    half, whole = (gossamer.plan(spec, "allgather") for spec in ("dgx-a100:2,gpus=4", "dgx-a100:2"))
    assert half.verification.ok
    assert half.case.network.terminal_count == 8
    assert half.seconds < whole.seconds
    assert half.ratio < 1.1


def test_slices_are_rings_where_the_machine_closes_them():
    def wraps(spec):
        net = parse(spec)
        return [bool(net.distances(0)[v] == 1) for v in ends(net)]

    def ends(net):
        places = net.coordinates
        return [int(np.flatnonzero((places == np.eye(places.shape[1], dtype=int)[d] * places[:, d].max()).all(1))[0])
                for d in range(places.shape[1])]  # fmt: skip

    assert wraps("tpu-v5p:4x4x8") == [True] * 3
    assert wraps("tpu-v5p:4x4x6") == [False] * 3
    assert wraps("tpu-v5e:8x16") == [False, True]
    assert wraps("tpu-v5e:8x8") == [False, False]
    assert wraps("tpu-v5e:8x8,wraps=all") == [True, True]
    assert wraps("tpu-v4:4x4x4,wraps=none") == [False] * 3
    assert parse("tpu-v5p:8x8x16,twisted=yes").diameter < parse("tpu-v5p:8x8x16").diameter


def test_every_figure_is_an_option():
    net = parse("dgx-h100:2,nvlink=20GB/s,nvlinks=9,nic=100Gbit/s,latency=300ns,nic-latency=3us,rails=4,chips=3")
    speeds = net.find(Speeds)
    rows = set(zip(speeds.bandwidth.tolist(), speeds.latency.tolist(), strict=True))
    assert rows == {(60 * GB, 3e-7), (12.5 * GB, 3e-6)}
    assert sum(name.startswith("rail") for name in net.labels) == 4
    assert "box1.nvswitch2" in net.labels
    assert not net.find(Assumptions).every
    for family in MACHINES:
        for part in family.parameters.partition("|")[0].split(",")[1:]:
            name, _, value = part.partition("=")
            head = family.example.partition(",")[0]
            if name and "|" not in value:
                told = parse(f"{head},{part}" if ":" in head else f"{head}:{part}")
                assert told.spec.partition(",")[0] == head


def test_what_no_data_sheet_tells_is_said():
    rows = [row for row in gossamer.describe("dgx-h100:2").rows() if row[0] in ("assumed", "switches")]
    assert rows == [
        ("switches", "copy packets (--no-replication: not) and can reduce (--reduction)"),
        ("assumed", "links take 500 ns inside and 1 us to switches outside (data sheets have no latencies); "
         "to change it: latency=TIME, nic-latency=TIME"),
        ("assumed", "8 switches outside, each at 50 GB/s, as such boxes usually have; to change it: rails=N, nic=RATE"),
    ]  # fmt: skip
    told = gossamer.describe("dgx-a100").to_dict()
    assert told["switches"] == {"copies": False, "combines": False}
    assert told["assumptions"][0]["change"] == "latency=TIME"
    assert parse("tofu-d:1x1x1").find(Assumptions) is None


def test_switches_copy_where_the_machine_can():
    quick = gossamer.TimeCost("64KiB")
    copied = gossamer.plan("dgx-h100", "broadcast", cost=quick)
    assert copied.case.rules.replication
    own = gossamer.plan("dgx-a100", "broadcast", cost=quick)
    assert not own.case.rules.replication
    assert gossamer.plan("dgx-a100", "broadcast", cost=quick, rules=gossamer.Rules()).seconds < own.seconds
    assert parse("dgx-h100").find(SwitchAbilities) == SwitchAbilities(True, True)
    reduced = gossamer.plan("dgx-h100", "allreduce", rules=gossamer.Rules(reduction=True))
    assert reduced.seconds < gossamer.plan("dgx-h100", "allreduce").seconds * 0.7


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize(
    ("spec", "task", "near"),
    [
        ("dgx-h100", "allreduce", 1.02), ("dgx-h100", "allgather", 1.02), ("dgx-a100", "allreduce", 1.02),
        ("dgx-h100:2", "allgather", 1.05), ("mi300x", "allreduce", 1.05), ("mi300x", "allgather", 1.05),
        ("mi250x", "allgather", 1.1), ("gaudi3", "alltoall", 1.02), ("tpu-v5e:4x4", "allgather", 1.1),
        ("trainium2", "allgather", 1.1), ("nvl72", "allgather", 1.05),
    ],
)  # fmt: skip
def test_plans_are_verified_and_near_their_bounds(spec, task, near):
    plan = gossamer.plan(spec, task)
    assert plan.verification.ok
    assert plan.clock.asked_bytes == USUAL_BYTES == 2**26
    assert plan.bound <= plan.completion_time
    assert plan.ratio < near


def test_published_peaks_stand_beside_plans():
    """No plan sends faster than the data sheet says, and large ones come near: 450 GB/s of a GPU, 600 of a box."""
    cost = gossamer.TimeCost("1GiB")
    bus = float(gossamer.plan("dgx-h100", "allreduce", cost=cost).bus_bandwidth) / GB
    assert 0.98 * 450 < bus <= 450
    bus = float(gossamer.plan("mi300x", "allgather", cost=gossamer.TimeCost("64MiB")).bus_bandwidth) / GB
    assert 0.9 * 448 < bus <= 448


def test_seconds_are_the_default_where_links_have_speeds_and_steps_are_asked_for():
    net = parse("mi300x")
    assert gossamer.plan(net, "allgather").clock is not None
    assert gossamer.plan(net, "allgather", cost=gossamer.StepCost()).completion_time == 1
    assert gossamer.plan("complete:8", "allgather").clock is None
    assert gossamer.compare(net, "allgather").best.clock.asked_bytes == USUAL_BYTES
    timed = gossamer.lower_bounds(net, "allgather")
    assert timed != gossamer.lower_bounds(net, "allgather", cost=gossamer.StepCost())
    assert gossamer.faults("mi250x", "broadcast", sample=2).sound.clock is not None


@pytest.mark.parametrize("spec", ["dgx-h100:2", "mi250x", "tpu-v5e:4x16", "trainium2:4x4x4", "tpu-v5p:4x4x4"])
@pytest.mark.parametrize("suffix", [".edges", ".json", ".graphml"])
def test_networks_go_through_files(tmp_path, spec, suffix):
    net = parse(spec)
    path = tmp_path / f"net{suffix}"
    write_network(net, path)
    again = read_network(path)
    assert again.labels == net.labels or net.labels is None
    old, new = (sorted(zip(n.link_source.tolist(), n.link_target.tolist(), n.find(Speeds).bandwidth.tolist(),
                           n.find(Speeds).latency.tolist(), strict=True)) for n in (net, again))  # fmt: skip
    assert old == new
    assert again.terminal_count == net.terminal_count


@pytest.mark.exhaustive(always=2)
@pytest.mark.parametrize("spec", ["dgx-h100:2,nic=25GB/s", "mi250x", "tpu-v5e:4x4"])
@pytest.mark.parametrize("suffix", [".parquet", ".txt"])
def test_plans_go_through_files(tmp_path, spec, suffix):
    plan = gossamer.plan(spec, "allgather", cost=gossamer.TimeCost("1MiB"))
    plan.schedule.save(tmp_path / f"plan{suffix}")
    again = gossamer.load(tmp_path / f"plan{suffix}")
    assert again.network == plan.schedule.network
    assert again.network.spec == plan.schedule.network.spec
    assert again.completion_time == plan.completion_time


def test_failures_and_groups_on_machines():
    left = without(parse("dgx-h100:2"), ["links:box0.gpu0-rail0", "nodes:rail7"])
    assert left.node_count == 25
    plan = gossamer.plan(left, "allgather", cost=gossamer.TimeCost("16MiB"))
    assert plan.verification.ok
    assert plan.seconds > gossamer.plan("dgx-h100:2", "allgather", cost=gossamer.TimeCost("16MiB")).seconds
    grouped = gossamer.plan("dgx-h100:2", gossamer.task("allreduce", groups=[list(range(8)), list(range(8, 16))]))
    alone = gossamer.plan("dgx-h100", "allreduce")
    assert grouped.verification.ok
    assert float(grouped.seconds) <= float(alone.seconds) * 1.02


def test_old_words_keep_their_meaning():
    old, new = parse("dgx-a100:servers=2"), parse("dgx-a100:2")
    assert set(old.link_capacity.tolist()) == {1, 12}
    assert old.find(Speeds) is None
    assert set(new.link_capacity.tolist()) == {1}
    assert set(new.find(Speeds).bandwidth.tolist()) == {300 * GB, 25 * GB}
    assert old.find(RatedLinks).bandwidth * 13 == out_of(new) * GB
    assert parse("dgx-a100:servers=2,rails=1,spines=1").spec == "dgx-a100:servers=2,rails=1,spines=1"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nvl73", "unknown network family 'nvl73' (did you mean 'nvl72'?)"),
        ("dgx-h10:2", "(did you mean 'dgx-h100'?)"),
        ("dgx-h100:0", "dgx-h100: boxes must be a whole number of at least 1, got 0"),
        ("dgx-h100:x", "dgx-h100: boxes must be a whole number, got 'x'"),
        ("dgx-h100:4,4", "dgx-h100: boxes is given twice"),
        ("dgx-h100:nvlik=3GB/s", "unknown parameter 'nvlik' (did you mean 'nvlink'?)"),
        (
            "dgx-h100:nic=50",
            "dgx-h100: nic must have a unit, such as GB/s or Gbit/s, got '50' (did you mean '50GB/s'?)",
        ),
        ("dgx-h100:nic=50gb/s", "'50gb/s' is 50GB/s or 50Gbit/s: say which"),
        ("dgx-h100:latency=2", "(did you mean '2us'?)"),
        ("dgx-h100:2,rails=9", "rails must be a whole number in 1..8, got 9"),
        ("dgx-a100:2,gpus=9", "dgx-a100: gpus must be a whole number in 1..8, got 9"),
        ("dgx-a100:2,gpus=4,rails=5", "rails must be a whole number in 1..4, got 5"),
        ("mi250x:2,gpus=1", "the first adapter is that of gcd1, so gpus must be at least 2, got 1"),
        ("nvl72:chips=4", "18 links are not shared evenly by 4 chips"),
        ("dgx-h100:99999999999", "boxes must be at most"),
        ("dgx-h100:300000000", "the network would have"),
        ("tpu-v5p", "parameters are missing; the form is tpu-v5p:AxBxC"),
        ("tpu-v5p:8x8", "3 sides are needed, such as tpu-v5p:8x8x8, got 8x8"),
        ("tpu-v5p:8x8x", "the sides must be whole numbers such as 4x4x8, got '8x8x'"),
        ("tpu-v5p:8x8x8,twisted=yes", "slices of sides n and 2n, multiples of 4, can be twisted, and 8x8x8 is none"),
        ("tpu-v5p:8x8x8,twisted=maybe", "twisted must be no or yes, got 'maybe'"),
        ("tpu-v6e:32x32", "a side must be a whole number in 1..16, got 32"),
        ("tofu-d:999999x999999x999999", "the network would have"),
        ("trainium2:4x4x3", "1 or 4 servers of 16 chips are joined, got 3"),
        ("slingshot:9999999", "dragonfly: g must be at most"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError) as refused:
            ask(spec)
        assert message in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_bandwidth_for_all_links_is_refused():
    with pytest.raises(GossamerError, match="has bandwidths of its own; leave --bandwidth out, or change"):
        gossamer.plan("dgx-h100", "allgather", cost=gossamer.TimeCost("1MiB", bandwidth="450GB/s"))
