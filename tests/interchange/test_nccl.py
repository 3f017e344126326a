"""What NCCL loads: tuner files by the rules of its example plugin, rings by those of its reader of graphs."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import ModelError, NotApplicableError
from gossamer.interchange import tuner_rows, write_nccl_graph, write_tuner
from gossamer.networks import read_nccl_graph
from gossamer.studies.sweeps.message_sizes import plan_sizes

BOXES = Path(__file__).parents[1] / "data" / "networks" / "four_boxes.json"

# -- tuner files ---------------------------------------------------------------------------------------------------

COLLECTIVES = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")
ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")


def plugin(text):
    """Return the rows that the example plugin loads, by its rules: 256 characters a line, 8 to 10 fields, no quotes.

    It takes any other name for a default without a word, so that names are checked here.
    """
    rows = []
    for line in text.splitlines():
        assert len(line) < 255  # what is longer is read as two lines
        if not line or line[0] == "#":
            continue
        fields = [field.strip(" \t") for field in line.split(",") if field]
        assert 8 <= len(fields) <= 10
        assert fields[0] in COLLECTIVES
        assert fields[3] in ALGORITHMS
        assert fields[4] in ("ll", "ll128", "simple")
        rows.append((*fields[:1], *map(int, fields[1:3]), *fields[3:5], *map(int, fields[5:])))
    return rows


def chosen(rows, collective, size, nodes, ranks):
    """Return the algorithm that the plugin applies: that of the first row that matches."""
    for name, low, high, algorithm, _, channels, of_nodes, of_ranks, *rest in rows:
        if name == collective and low <= size <= high and of_nodes in (-1, nodes) and of_ranks in (-1, ranks):
            assert channels == -1 or channels > 0
            assert all(each == -1 for each in rest)
            return algorithm
    return None


@pytest.fixture(scope="module")
def allreduces():
    with pytest.MonkeyPatch.context() as patch:  # where one becomes faster than another is not asked
        patch.setattr("gossamer.studies.sweeps.message_sizes._ABOUT", 1000)
        return plan_sizes(str(BOXES), "allreduce", "1KiB:16MiB:128", cost={"latency": "20us"}, usual=True)


def test_the_fastest_of_nccl_is_chosen_for_every_size(tmp_path, allreduces):
    write_tuner(allreduces, tmp_path / "t.conf")
    text = (tmp_path / "t.conf").read_text(encoding="utf-8")
    rows = plugin(text)
    known = {"ring": "ring", "double binary trees": "tree"}
    for k, size in enumerate(allreduces.sizes):
        times = {known[name]: row[k].time for name, row in allreduces.usual.items() if name in known}
        times = {name: time for name, time in times.items() if time is not None}
        assert times[chosen(rows, "allreduce", size, 4, 4)] == min(times.values())
        assert re.search(rf"# .*ring .*plan {re.escape(gossamer_text(allreduces.best[k].seconds))}", text)
    for size in (0, 1, 10**7, 2**32 - 1):
        assert chosen(rows, "allreduce", size, 4, 4) in ("ring", "tree")
    assert chosen(rows, "allreduce", 1024, 4, 5) is None
    assert [low for _, low, *_ in rows[1:]] == [high + 1 for _, _, high, *_ in rows[:-1]]


def gossamer_text(seconds):
    from gossamer.atomic_files import seconds_text

    return seconds_text(seconds)


def test_bytes_of_an_allgather_are_those_of_all_ranks():
    found = plan_sizes("ring:4", "allgather", [1024, 4096], cost={"bandwidth": "10GB/s", "latency": "1us"}, usual=True)
    rows = tuner_rows(found, "ll128")
    assert {row.collective_type for row in rows} == {"allgather"}
    assert {row.protocol for row in rows} == {"ll128"}
    later = [row.min_bytes for row in rows[1:]]
    assert all(4 * 1024 < low <= 4 * 4096 for low in later)


def test_the_change_lies_where_lines_through_the_times_cross(allreduces):
    first, last = allreduces.sizes[0], allreduces.sizes[-1]
    ring, tree = allreduces.usual["ring"], allreduces.usual["double binary trees"]
    times = ((10, 5), (20, 40))  # of the ring and the tree, at both ends
    rows = [
        tuple(replace(each[k], time=Fraction(time[column])) for each, column in ((ring, 0), (tree, 1)))
        for k, time in ((0, times[0]), (len(allreduces.sizes) - 1, times[1]))
    ]
    made = replace(allreduces, sizes=(first, last), best=(allreduces.best[0], allreduces.best[-1]), beside=tuple(rows))
    found = tuner_rows(made)
    assert [row.algorithm for row in found] == ["tree", "ring"]
    assert found[1].min_bytes == first + -(-(last - first) * 5 // 25)  # 5 ahead, then 20 behind


def test_a_plugin_is_told_what_nccl_has(tmp_path):
    found = plan_sizes("ring:4", "alltoall", "1KiB", cost={"bandwidth": "10GB/s"}, usual=True)
    with pytest.raises(NotApplicableError, match="NCCL tunes allreduce, allgather, reducescatter, broadcast, reduce"):
        tuner_rows(found)
    plain = plan_sizes("ring:4", "allreduce", "1KiB", cost={"bandwidth": "10GB/s"})
    with pytest.raises(NotApplicableError, match="there are no times of them"):
        write_tuner(plain, tmp_path / "t.conf")
    assert not (tmp_path / "t.conf").exists()
    with pytest.raises(ModelError, match="protocol must be 'simple', 'll128' or 'll'"):
        tuner_rows(plain, "fast")


# -- graph files ---------------------------------------------------------------------------------------------------


def graph(folder, spec):
    """Return the graph that NCCL reads: attributes, and of each channel its adapters and GPUs."""
    network = gossamer.network(spec)
    path = Path(folder, "rings.xml")
    write_nccl_graph(network, path)
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.attrib) == ("graphs", {"version": "1"})
    (found,) = root
    assert found.tag == "graph"
    attributes = found.attrib
    for name in ("id", "pattern", "crossnic", "nchannels", "samechannels"):
        assert re.fullmatch("[0-9]+", attributes[name])
    assert attributes["typeintra"] in ("LOC", "NVL", "NVB", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
    assert attributes["typeinter"] in ("LOC", "NVL", "NVB", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
    channels = []
    for channel in found:
        assert channel.tag == "channel"
        nets = [int(each.attrib["dev"], 16) for each in channel if each.tag == "net"]
        gpus = [int(each.attrib["dev"], 16) for each in channel if each.tag == "gpu"]
        assert [each.tag for each in channel] == ["net"] * (len(nets) // 2) + ["gpu"] * len(gpus) + ["net"] * (
            len(nets) // 2
        )
        channels.append((nets, gpus))
    assert int(attributes["nchannels"]) == len(channels) <= 64
    return network, attributes, channels, path


def test_rings_of_boxes_follow_the_cables_both_ways(tmp_path):
    network, attributes, channels, path = graph(tmp_path, str(BOXES))
    ends = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    assert [gpus for _, gpus in channels] == [[0, 1, 2, 3], [0, 3, 2, 1]]
    for nets, gpus in channels:
        assert not nets
        assert set(pairwise([*gpus, gpus[0]])) <= ends
    assert float(attributes["speedintra"]) == 10
    back = read_nccl_graph(path)
    used = set(zip(back.link_source.tolist(), back.link_target.tolist(), strict=True))
    assert used <= ends
    assert len(used) == 8


def test_rings_of_a_full_mesh_use_no_cable_beyond_its_rate(tmp_path):
    network, attributes, channels, _ = graph(tmp_path, "mi300x")
    load = dict.fromkeys(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True), 0.0)
    for _, gpus in channels:
        assert sorted(gpus) == list(range(8))
        for pair in pairwise([*gpus, gpus[0]]):
            load[pair] += float(attributes["speedintra"])
    assert len(channels) == 6  # three cycles share no cable, of seven cables a GPU
    assert max(load.values()) == 64


def test_rings_of_servers_stay_on_their_rails(tmp_path):
    _, attributes, channels, _ = graph(tmp_path, "dgx-h100:2")
    assert sorted(nets[0] for nets, _ in channels) == list(range(8))
    for nets, gpus in channels:
        assert nets == [gpus[0], gpus[0]]
        assert sorted(gpus) == list(range(8))
    assert float(attributes["speedinter"]) == 50
    assert float(attributes["speedintra"]) * len(channels) == 450


def test_rings_of_meshes_with_adapters_as_fast_as_their_cables_use_both_ways_of_them(tmp_path):
    network, attributes, channels, _ = graph(tmp_path, "gaudi3:2")
    load = dict.fromkeys(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True), 0.0)
    for _, gpus in channels:
        for pair in pairwise(gpus):
            load[pair] += float(attributes["speedintra"])
    assert len(channels) == 48  # three cycles of cables, from each GPU, both ways
    assert max(load.values()) == pytest.approx(75)
    assert min(each for (u, v), each in load.items() if each) == pytest.approx(75)
    assert float(attributes["speedinter"]) == pytest.approx(8 * 75 / 48)


def test_a_network_without_a_ring_or_speeds_has_no_graph(tmp_path):
    line = tmp_path / "line.edges"
    line.write_text("columns source target bandwidth\na b 1GB/s\nb c 1GB/s\n", encoding="utf-8")
    reasons = ("no ring of all ranks along the cables", "has bandwidths, and ring:4 has none")
    for spec, why in zip((str(line), "ring:4"), reasons, strict=True):
        with pytest.raises(NotApplicableError, match=why):
            write_nccl_graph(gossamer.network(spec), tmp_path / "x.xml")


# -- commands ------------------------------------------------------------------------------------------------------


def test_commands_write_rings_and_tuner_files(tmp_path, capsys):
    assert main(["network", str(BOXES), "-o", str(tmp_path / "rings.xml")]) == 0
    assert len(read_nccl_graph(tmp_path / "rings.xml").link_source) == 8
    words = ["compare", str(BOXES), "broadcast", "--bytes", "1KiB,4KiB", "-o", str(tmp_path / "tuner.conf")]
    assert main(words) == 0
    rows = plugin((tmp_path / "tuner.conf").read_text(encoding="utf-8"))
    assert {row[0] for row in rows} == {"broadcast"}
    assert {row[3] for row in rows} == {"ring"}
    assert capsys.readouterr().out.count("wrote") == 2
    assert main(["plan", str(BOXES), "broadcast", "--bytes", "1KiB,4KiB", "-o", str(tmp_path / "t.conf")]) == 2
    assert main(["network", "ring:5", "-o", str(tmp_path / "no.xml")]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rings.xml", "tuner.conf"]
