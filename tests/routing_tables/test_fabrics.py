"""Fabrics written, set up by a real subnet manager in a simulator, and its tables judged; ours loaded by it."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.networks import from_networkx
from gossamer.networks.files import read_ibnetdiscover, write_network
from gossamer.networks.routing_tables import CablePorts, read_routing_table, write_routing_table
from routing_tables.simulated_fabric import INSTALLED, managed

SAMPLES = Path(__file__).parent.parent / "data" / "fabrics"
simulated = pytest.mark.skipif(not INSTALLED, reason="ibsim and opensm (Debian: ibsim-utils, opensm, infiniband-diags)")


def ends(network: gossamer.Network) -> set[tuple[str, int, str, int]]:
    """Return the cables of a network, each as the names and ports of its ends."""
    ports = CablePorts.of(network)
    link, name = ports.link, network.node_name
    return {(name(int(network.link_source[e])), int(p), name(int(network.link_target[e])), int(q))
            for e, p, q in zip(link, ports.port, ports.far, strict=True)}  # fmt: skip


@pytest.mark.parametrize("spec", ["fat-tree:k=2,h=3", "folded-clos:4,3", "dragonfly:a=2,h=1,p=2"])
def test_a_fabric_that_is_written_is_read_back_with_its_ports(tmp_path, spec) -> None:
    network = gossamer.network(spec)
    write_network(network, tmp_path / "fabric.ibnet")
    again = read_ibnetdiscover(tmp_path / "fabric.ibnet")
    assert ends(again) == ends(network)
    one, other = CablePorts.of(network), CablePorts.of(again)
    for v in range(network.node_count):
        w = again.node(network.node_name(v))
        mine, its = ((p.guid[x], p.port_guid[x], int(p.lid[x])) for p, x in ((one, v), (other, w)))
        assert mine == its
    write_network(again, tmp_path / "again.ibnet")
    assert ends(read_ibnetdiscover(tmp_path / "again.ibnet")) == ends(network)


def test_each_node_of_a_network_without_switches_is_a_switch_with_an_adapter(tmp_path) -> None:
    network = gossamer.network("array:3x3,capacity=2")
    write_network(network, tmp_path / "fabric.ibnet")
    fabric = read_ibnetdiscover(tmp_path / "fabric.ibnet")
    assert (fabric.node_count, fabric.terminal_count) == (18, 9)
    assert int(fabric.link_capacity.sum()) == int(network.link_capacity.sum()) + 2 * 9
    mine = {(a, p, b, q) for a, p, b, q in ends(network)}
    assert {(f"switch of {a}", p, f"switch of {b}", q) for a, p, b, q in mine} < ends(fabric)


def test_what_fabrics_do_not_have_is_refused(tmp_path) -> None:
    with pytest.raises(FileFormatError, match="no cable of InfiniBand has 450 GB/s"):
        write_network(gossamer.network("dgx-h100:2"), tmp_path / "fabric.ibnet")
    with pytest.raises(gossamer.errors.NetworkError, match="links without an opposite"):
        write_network(gossamer.network("kautz:2,2"), tmp_path / "fabric.ibnet")
    with pytest.raises(FileFormatError, match="no words for times in slots"):
        write_network(gossamer.network("ring:4").with_times(2, 1), tmp_path / "fabric.ibnet")


def test_ports_stay_with_what_is_left_of_a_fabric(tmp_path) -> None:
    fabric = Path(__file__).parent.parent / "data" / "networks" / "fabric.ibnet"
    whole = read_ibnetdiscover(fabric)
    for words, gone in (("links:leaf0-leaf1*1", 1), ("nodes:node1 mlx5_0", 1)):
        left = gossamer.networks.derived.without(whole, [words])
        assert ends(left) < ends(whole)
        assert len(ends(left)) == len(ends(whole)) - 2 * gone
        out = tmp_path / "tables.lft"
        assert main(["routes", str(fabric), "--without", words, "-o", str(out)]) == 0
        assert read_routing_table(out, left).cable.shape == (left.node_count, left.terminal_count)
    both = {end[:2] for end in ends(left)}
    assert all(end[2:] in both for end in ends(left))  # each cable has the same two ends from both sides


def test_tables_of_lash_with_the_levels_of_its_path_records(tmp_path) -> None:
    """Torus 3x4, written by gossamer, set up by OpenSM 3.3.23 with LASH; the path records are of saquery."""
    lft, levels = SAMPLES / "torus_3x4_lash.lft", SAMPLES / "torus_3x4_lash.paths"
    found = gossamer.routes("torus:3x4", lft, levels=levels)
    assert found.sound
    assert found.tables.layers == 2
    assert not gossamer.routes("torus:3x4", lft).judged.deadlock_free  # in one lane it would deadlock
    ours = gossamer.routes("torus:3x4")
    assert ours.judged.congestion <= found.judged.congestion
    assert ours.tables.layers <= found.tables.layers


def test_each_of_several_lids_is_a_path(tmp_path) -> None:
    """Folded Clos network of 8 adapters, OpenSM 3.3.23 with ``--lmc 1`` and minimum hops, tables of dump_lfts."""
    fabric = read_ibnetdiscover(SAMPLES / "clos_lmc1.ibnet")
    ports = fabric.find(CablePorts)
    assert ports is not None
    assert ports.lmc == 1
    found = gossamer.routes(fabric, SAMPLES / "clos_lmc1.lft")
    assert found.sound
    assert found.tables.paths == 2
    t = fabric.terminal_count
    load = np.zeros(found.judged.load.size, np.int64)
    for column in range(2 * t):
        for s in range(t):
            v = s
            while v != column % t:
                cable = int(found.tables.cable[v, column])
                load[cable] += 1
                v = int(found.tables.cables.target[cable])
    assert (found.judged.load == load).all()
    assert found.ratio == pytest.approx(int(load.max()) / 2 / float(found.bound))
    assert "112 of 112 paths arrive, 2 from each source to each destination" in dict(found.rows())["reachability"]
    # ours have one path to each adapter, whichever of its LIDs a message is for
    write_routing_table(gossamer.routes(fabric).tables, tmp_path / "ours.lft")
    ours = read_routing_table(tmp_path / "ours.lft", fabric)
    assert (ours.cable[:, :t] == ours.cable[:, t:]).all()
    with pytest.raises(FileFormatError, match=r"LID [0-9]+ is one of .*, which has other LIDs in folded-clos:4,2"):
        read_routing_table(SAMPLES / "clos_lmc1.lft", gossamer.network("folded-clos:4,2"))


def test_adapters_with_different_numbers_of_lids_are_refused(tmp_path) -> None:
    text = (SAMPLES / "clos_lmc1.ibnet").read_text(encoding="utf-8")
    place = text.rindex(" lmc 1")
    path = tmp_path / "mixed.ibnet"
    path.write_text(text[:place] + " lmc 2" + text[place + 6 :], encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"line [0-9]+: LMC 2, and others have 1"):
        read_ibnetdiscover(path)


def test_an_entry_that_leads_to_another_adapter_loses_messages(tmp_path) -> None:
    network = gossamer.network("fat-tree:k=2,h=2")
    write_routing_table(gossamer.routes(network).tables, tmp_path / "good.lft")
    text = (tmp_path / "good.lft").read_text(encoding="utf-8")
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("0x0001 ") and "002" in line)
    other = next(line for line in lines[at:] if line.startswith("0x0002 ")).split()[1]
    lines[at] = lines[at].replace(" 002 ", f" {other} ")
    (tmp_path / "wrong.lft").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = gossamer.routes(network, tmp_path / "wrong.lft")
    assert (found.judged.lost, found.judged.looping) == (network.terminal_count - 1, 0)


def test_adapters_with_several_ports_send_and_receive_by_the_first(tmp_path) -> None:
    graph = nx.Graph([("a", "x"), ("a", "y"), ("b", "x"), ("c", "y"), ("x", "y")])
    nx.set_node_attributes(graph, {v: v in "abc" for v in graph}, "terminal")
    write_network(from_networkx(graph), tmp_path / "fabric.ibnet")
    fabric = read_ibnetdiscover(tmp_path / "fabric.ibnet")
    ports = CablePorts.of(fabric)
    with pytest.raises(FileFormatError, match="a has 2 cabled ports, each with a LID of its own"):
        write_routing_table(gossamer.routes(fabric).tables, tmp_path / "ours.lft")
    port = {(fabric.node_name(int(fabric.link_source[e])), fabric.node_name(int(fabric.link_target[e]))): int(p)
            for e, p in zip(ports.link, ports.port, strict=True)}  # fmt: skip
    lid = {v: int(ports.lid[fabric.node(v)]) for v in "abc"}
    first, other = ("x", "y") if port["a", "x"] < port["a", "y"] else ("y", "x")
    out = {
        "x": {"a": "a" if first == "x" else "y", "b": "b", "c": "y"},
        "y": {"a": "a" if first == "y" else "x", "b": "x", "c": "c"},
    }

    def judged() -> gossamer.Routes:
        lines = []
        for switch, ways in out.items():
            guid = ports.guid[fabric.node(switch)]
            lines.append(f"Unicast lids [0x0-0x20] of switch Lid 9 guid 0x{guid:016x} ({switch}):")
            lines += [f"0x{lid[d]:04x} {port[switch, u]:03d}" for d, u in ways.items()]
        (tmp_path / "by_hand.lft").write_text("\n".join(lines) + "\n")
        return gossamer.routes(fabric, tmp_path / "by_hand.lft")

    assert judged().sound
    out[other]["a"] = "a"  # its other port does not have the LID
    assert judged().judged.lost == 1


@simulated
@pytest.mark.parametrize(
    ("spec", "engine", "sound"),
    [
        ("folded-clos:4,2", "ftree", True),
        ("folded-clos:4,2", "minhop", True),
        ("array:3x3", "dor", True),
        ("hypercube:3", "dor", True),
        ("ring:6", "minhop", False),
        ("torus:4x4", "sssp", False),
        ("jellyfish:n=8,d=3,seed=1,p=1", "minhop", None),
    ],
)
def test_tables_of_a_subnet_manager_are_judged(tmp_path, spec, engine, sound) -> None:
    network = gossamer.network(spec)
    write_network(network, tmp_path / "fabric.ibnet")
    with managed(tmp_path / "fabric.ibnet", tmp_path / "manager", engine) as fabric:
        printed = fabric.saved("tables.lft", "dump_lfts")
        cables = fabric.saved("fabric.ibnet", "ibnetdiscover")
    dumped = gossamer.routes(network, tmp_path / "manager" / "opensm-lfts.dump")
    assert dumped.judged.complete
    assert sound is None or dumped.sound == sound
    assert (read_routing_table(printed, network).cable == dumped.tables.cable).all()
    assert gossamer.routes(network).judged.congestion <= dumped.judged.congestion
    assert gossamer.routes(cables, printed).judged.deadlock_free == dumped.judged.deadlock_free


@simulated
@pytest.mark.parametrize("engine", ["lash", "dfsssp"])
def test_layers_of_published_heuristics_as_opensm_has_them(tmp_path, engine) -> None:
    network = gossamer.network("ring:6")
    write_network(network, tmp_path / "fabric.ibnet")
    with managed(tmp_path / "fabric.ibnet", tmp_path / "manager", engine, "-Q") as fabric:
        levels = fabric.path_records(6)
    found = gossamer.routes(network, tmp_path / "manager" / "opensm-lfts.dump", levels=levels)
    assert found.sound
    ours = gossamer.routes(network)
    assert ours.tables.layers <= found.tables.layers
    assert ours.judged.congestion <= found.judged.congestion


@simulated
@pytest.mark.parametrize("spec", ["folded-clos:4,2", "torus:3x3", "dragonfly:a=2,h=1,p=2"])
@pytest.mark.parametrize("lmc", [0, 1])
def test_our_tables_are_loaded_by_a_subnet_manager(tmp_path, spec, lmc) -> None:
    network = gossamer.network(spec)
    write_network(network, tmp_path / "plain.ibnet")
    with managed(tmp_path / "plain.ibnet", tmp_path / "before", "minhop", "--lmc", str(lmc)) as fabric:
        found = fabric.saved("fabric.ibnet", "ibnetdiscover")
    ours = gossamer.routes(found).tables  # with the LIDs that the manager gave
    write_routing_table(ours, tmp_path / "ours.lft")
    with managed(found, tmp_path / "after", "file", "-U", str(tmp_path / "ours.lft"), "--lmc", str(lmc)) as fabric:
        printed = fabric.saved("tables.lft", "dump_lfts")
    assert "Invalid" not in (tmp_path / "after" / "log").read_text(errors="replace")
    taken = read_routing_table(printed, read_ibnetdiscover(found))
    assert (taken.cable == np.tile(ours.cable, 1 << lmc)).all()
    switches = [line for line in (tmp_path / "after" / "opensm-lfts.dump").read_text().splitlines() if "Switch" in line]
    count = ours.network.node_count - ours.network.terminal_count
    assert len(switches) == count * count  # every switch knows the way to every other one
