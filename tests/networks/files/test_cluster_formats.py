"""Networks from the files of clusters: each sample means what its format says, and each slip is refused in a line."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError, GossamerError
from gossamer.interchange.smpi import write_platform
from gossamer.networks import (
    Assumptions,
    Speeds,
    parse,
    read_host_file,
    read_lstopo,
    read_mesh_graph,
    read_nccl_graph,
    read_nccl_topology,
    read_network,
    read_rocm_smi,
    read_simgrid,
    read_slurm_topology,
    write_network,
)
from gossamer.networks.files.nccl import read_channel_graphs

DATA = Path(__file__).parents[2] / "data" / "networks"
SAMPLES = {
    "mi250x.txt": read_rocm_smi,
    "lstopo.xml": read_lstopo,
    "nccl_graph.xml": read_nccl_graph,
    "rccl.xml": read_nccl_topology,
    "four_boxes.json": read_host_file,
    "two_meshes.textproto": read_mesh_graph,
    "blocks.conf": read_slurm_topology,
    "topology.yaml": read_slurm_topology,
    "platform.xml": read_simgrid,
}


def links(network):
    """Return each link by the names of its ends with its capacity, and bytes a second and seconds where it has them."""
    speeds = network.find(Speeds)
    rates = [()] * network.link_count
    if speeds is not None:
        rates = list(zip(speeds.bandwidth.tolist(), speeds.latency.tolist(), strict=True))
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), network.link_capacity.tolist(), strict=True)
    named = ((network.node_name(u), network.node_name(v), c) for u, v, c in ends)
    return sorted((*told, *rate) for told, rate in zip(named, rates, strict=True))


def both(*cables):
    """Return the links of cables, each way."""
    return sorted(row for u, v, *told in cables for row in ((u, v, *told), (v, u, *told)))


def assumed(network):
    known = network.find(Assumptions)
    return [] if known is None else [str(each) for each in known.every]


def written(folder, name, text):
    path = Path(folder, name)
    path.write_text(text, encoding="utf-8")
    return path


# -- what each sample says -----------------------------------------------------------------------------------------


def test_gpus_of_rocm_smi_are_joined_where_their_weight_is_that_of_one_link():
    net = read_rocm_smi(DATA / "mi250x.txt", latency="1us")
    rate = (1, 50e9, 1e-6)
    assert links(net) == both(*(("GPU" + a, "GPU" + b, *rate) for a, b in ("01", "02", "13", "23")))
    assert "of an MI250X, as there are 2 neighbors, of 50 GB/s" in assumed(net)[0]


def test_rocm_smi_names_the_gpus_or_an_option_tells_their_speed(tmp_path):
    text = (DATA / "mi250x.txt").read_text(encoding="utf-8")
    named = written(tmp_path, "named.log", "GPU[0] : Card Series: AMD Instinct MI300X\n" + text)
    assert set(read_network(named).find(Speeds).bandwidth.tolist()) == {64e9}
    spec = f"rocm-smi:{DATA / 'mi250x.txt'},xgmi=46GB/s"
    assert set(parse(spec).find(Speeds).bandwidth.tolist()) == {46e9}
    assert not any("xGMI links of" in line for line in assumed(parse(spec)))


def test_gpus_without_xgmi_are_joined_by_numa_node(tmp_path):
    text = (DATA / "mi250x.txt").read_text(encoding="utf-8").replace("XGMI", "PCIE")
    net = read_network(written(tmp_path, "pcie.log", text))
    ends = (("GPU0", "NUMA node 3"), ("GPU1", "NUMA node 3"), ("GPU2", "NUMA node 1"), ("GPU3", "NUMA node 1"))
    cables = [(*pair, 1, 31.5e9, 0.0) for pair in (*ends, ("NUMA node 3", "CPUs"), ("NUMA node 1", "CPUs"))]
    assert links(net) == both(*cables)


def test_lstopo_has_bridges_packages_and_nvlinks():
    net = read_lstopo(DATA / "lstopo.xml", cpus="20GB/s")
    bridge = "0000:00:01.0"
    assert links(net) == both(
        ("cuda0", bridge, 1, 31.507692e9, 0.0), ("cuda1", bridge, 1, 15.753846e9, 0.0),
        ("cuda2", bridge, 1, 20e9, 0.0),  # through both packages, of which the link between them is the slowest
        ("cuda0", "cuda1", 1, 100e9, 0.0), ("cuda0", "cuda2", 1, 50e9, 0.0),
    )  # fmt: skip
    assert net.terminal_count == 3


def test_nvlinks_of_lstopo_may_lead_to_a_switch(tmp_path):
    text = (DATA / "lstopo.xml").read_text(encoding="utf-8")
    text = text.replace("41 43 53 ", "OSDev:41 OSDev:43 PCIDev:31 ").replace(
        'distances2 type="OSDev"', "distances2hetero"
    )
    text = text.replace("</distances2>", "</distances2hetero>")
    text = re.sub("1000000 100000 .*<", "0 0 300000 0 0 300000 300000 300000 0<", text)
    net = read_network(written(tmp_path, "machine.xml", text))
    assert ("cuda0", "cuda1", 1, 300e9, 0.0) in links(net)  # a switch of two GPUs is a cable
    more = text.replace("PCIDev:31", "OSDev:53 PCIDev:31")
    more = re.sub("<u64values.*<", "<u64values>" + "0 0 0 300000 " * 3 + "300000 300000 300000 0<", more)
    net = read_network(written(tmp_path, "three.xml", more))
    switched = [row for row in links(net) if row[3] == 300e9]
    assert switched == both(*((f"cuda{i}", "NVSwitch 0000:00:02.0", 1, 300e9, 0.0) for i in range(3)))


def test_a_graph_of_nccl_is_its_rings_one_way():
    net = read_nccl_graph(DATA / "nccl_graph.xml")
    inside = [row[:3] for row in links(net) if row[3] == 20e9]
    twice = [("GPU0", "GPU1", 2), ("GPU1", "GPU3", 2), ("GPU3", "GPU2", 2)]
    assert inside == sorted([*twice, ("GPU0", "GPU2", 1), ("GPU2", "GPU3", 1), ("GPU3", "GPU1", 1)])
    beyond = [row[:3] for row in links(net) if row[3] == 12e9]
    assert beyond == sorted([
        ("outside", "NET0", 2), ("outside", "NET1", 1), ("NET0", "outside", 1), ("NET1", "outside", 2),
        ("NET0", "GPU0", 2), ("NET1", "GPU0", 1), ("GPU2", "NET0", 1), ("GPU1", "NET1", 1), ("GPU2", "NET1", 1),
    ])  # fmt: skip
    assert assumed(net)[0].startswith("graph 0, 3 rings, of the file's: 0 (ring), 1 (balanced tree), 3 (NVLS)")


def test_a_tree_of_nccl_is_a_chain_both_ways():
    net = parse(f"nccl-graph:{DATA / 'nccl_graph.xml'},graph=1,latency=1us")
    assert links(net) == both(*((f"GPU{i}", f"GPU{j}", 1, 40e9, 1e-6) for i, j in pairwise(range(4))))
    graphs = read_channel_graphs(DATA / "nccl_graph.xml")
    assert [(each.number, each.pattern, len(each.channels)) for each in graphs] == [(0, 4, 3), (1, 1, 1), (3, 5, 0)]


def test_a_topology_of_rccl_has_xgmi():
    net = read_nccl_topology(DATA / "rccl.xml")
    assert ("GPU0", "GPU1", 4, 50e9, 0.0) in links(net)
    assert "xGMI links, as GPUs of gfx90a have them, of 50 GB/s" in assumed(net)[0]
    assert ("GPU0", "GPU1", 4, 32e9, 0.0) in links(parse(f"nccl:{DATA / 'rccl.xml'},xgmi=32GB/s"))


def test_four_boxes_and_five_cables():
    net = read_host_file(DATA / "four_boxes.json", latency="10us")
    cables = [("m1", "m2"), ("m1", "m3"), ("m1", "m4"), ("m2", "m3"), ("m3", "m4")]
    assert links(net) == both(*((*pair, 1, 10e9, 1e-5) for pair in cables))
    assert assumed(net) == [f"cables of 10 GB/s each way, as of Thunderbolt 5, whose ports are named so; to change it: "
                            f"host-file:{DATA / 'four_boxes.json'},link=RATE"]  # fmt: skip


def test_parallel_cables_and_shared_devices_of_hosts_are_kept(tmp_path):
    text = '[[null, ["a", "b"], "c"], [["x", "y"], null, "z"], ["n", "n", null]]'
    net = read_network(written(tmp_path, "devices.json", text))
    assert links(net) == both(("host0", "host1", 2), ("host0", "host2", 1), ("host1", "host2", 1))
    assert net.shared_ports.names == ("host2 n",)


def test_meshes_are_grids_with_what_joins_them():
    net = read_mesh_graph(DATA / "two_meshes.textproto", link="1GB/s")
    place = "G0.0/{}.{} ({},{})"
    cables = []
    for mesh in (0, 1):
        at = [[place.format("M0", mesh, r, c) for c in range(4)] for r in range(2)]
        cables += [(at[r][c], at[r][(c + 1) % 4], 2) for r in range(2) for c in range(4)]  # a ring
        cables += [(at[0][c], at[1][c], 2) for c in range(4)]  # a line
        cables.append((at[0][0], at[1][2], 2))  # the express connection
    third = [place.format("M1", 0, r, c) for r in range(2) for c in range(2)]
    cables += [(third[a], third[b], 4) for a, b in ((0, 1), (2, 3), (0, 2), (1, 3))]
    cables.append((place.format("M0", 0, 0, 3), place.format("M0", 1, 0, 0), 2))
    cables += [(place.format("M0", 1, 0, 0), third[0], 1), (place.format("M0", 1, 0, 2), third[2], 1)]
    assert links(net) == both(*((*cable, 1e9, 0.0) for cable in cables))


def test_a_torus_of_accelerators_is_recognized(tmp_path):
    text = """mesh_descriptors { name: "M" arch: WORMHOLE_B0 device_topology { dims: [4, 8] types: [RING, RING] }
    host_topology { dims: [1, 1] } channels { count: 1 } }
    top_level_instance { mesh { mesh_descriptor: "M" mesh_id: 0 } }"""
    net = read_network(written(tmp_path, "t.textproto", text))
    assert "torus:4x8" in gossamer.describe(net).structure
    assert assumed(net)[0].startswith("channels of 12.5 GB/s of WORMHOLE_B0, each way")


def test_blocks_of_slurm_are_joined_level_by_level():
    net = read_slurm_topology(DATA / "blocks.conf")
    cables = [(f"node{4 * b + k + 1:02}", f"b{b + 1}", 1) for b in range(4) for k in range(4)]
    cables += [(f"b{b + 1}", f"blocks of 8, {b // 2}", 1) for b in range(4)]
    cables += [(f"blocks of 8, {i}", "blocks of 16", 1) for i in range(2)]
    assert links(net) == both(*cables)
    assert net.labels[:2] == ("node01", "node02")


def test_an_entry_of_topology_yaml_is_chosen():
    tree = read_slurm_topology(DATA / "topology.yaml")
    assert links(tree) == both(
        ("s1", "top", 1), ("s2", "top", 1), *((f"node0{i}", f"s{(i + 1) // 2}", 1) for i in range(1, 5))
    )
    assert assumed(tree)[0].startswith("topology topo1 of topo1, topo2, topo3; to change it: slurm:")
    blocks = parse(f"slurm:{DATA / 'topology.yaml'},topology=topo2,link=50GB/s,latency=1us")
    assert blocks.terminal_count == 20
    assert ("b5", "blocks of 16, 1", 1, 50e9, 1e-6) in links(blocks)
    assert ("blocks", "blocks of 16, 0", 1, 50e9, 1e-6) in links(blocks)


def test_a_platform_of_simgrid_is_what_its_routes_say():
    net = read_simgrid(DATA / "platform.xml")
    cables = [
        ("a", "hub", 1, 125e6, 5e-5), ("b", "hub", 1, 125e6, 5e-5), ("c", "hub", 1, 10e6, 1e-3),
        ("hub", "junction 0", 1, 1e9, 5e-4), ("junction 0", "gate", 1, 2 * 2.0**30, 1e-8),
        *((f"n{i}", "gate", 1, 125e6, 5e-5) for i in range(4)),
    ]  # fmt: skip
    assert links(net) == both(*cables)
    assert net.terminal_count == 7
    assert net.shared_ports.names == ("lc",)  # shared by both ways, as SHARED says


PLATFORM = '<platform version="4.1"><zone id="z" routing="Full">{}</zone></platform>'


def test_clusters_of_simgrid(tmp_path):
    def cluster(more, count=8):
        text = f'<cluster id="c" prefix="n" suffix="" radical="0-{count - 1}" speed="1f" bw="1GBps" lat="1us" {more}/>'
        return read_network(written(tmp_path, "c.xml", PLATFORM.format(text)))

    torus = cluster('topology="TORUS" topo_parameters="4,2"')
    assert links(torus) == both(*((f"n{4 * y + x}", f"n{4 * y + (x + 1) % 4}", 1, 1e9, 1e-6)
                                 for y in range(2) for x in range(4)),
                                *((f"n{x}", f"n{x + 4}", 1, 1e9, 1e-6) for x in range(4)))  # fmt: skip
    tree = cluster('topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,3"')
    assert (tree.terminal_count, tree.node_count, sorted(set(tree.link_capacity.tolist()))) == (8, 12, [1, 3])
    backbone = cluster('bb_bw="2GBps" bb_lat="5us"', 3)
    assert gossamer.describe(backbone).connected
    assert [row for row in links(backbone) if row[3] == 2e9] == [("nc_router backbone", "nc_router", 1, 2e9, 5e-6)]
    shared = cluster('sharing_policy="SHARED"', 3)
    assert shared.shared_ports.count == 3


# -- which format it is, and that what is printed is enough --------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_content_tells_the_format_under_any_name(tmp_path, monkeypatch, name):
    net = SAMPLES[name](DATA / name)
    assert read_network(DATA / name) == net
    assert gossamer.network(f"{net.spec.partition(':')[0]}:{DATA / name}") == net
    text = (DATA / name).read_text(encoding="utf-8")
    suffix = Path(name).suffix
    for other in ("capture.log", "noname", "any.txt", f"other{suffix}"):
        found = read_network(written(tmp_path, other, text))
        assert (found, found.labels) == (net, net.labels)
    told = dict(gossamer.describe(net).rows())
    assert f"{net.terminal_count} terminals" in told["nodes"] or net.terminal_count == net.node_count


# -- slips ---------------------------------------------------------------------------------------------------------


SLIPS = {
    "mi250x.txt": [
        ("GPU1   15           0 ", "GPU1   15           3 ", "line 7: GPU1 to GPU1 must be 0, got '3'"),
        ("Numa Node: 1", "Numa Node: one", "expected a line such as 'GPU[0] : (Topology) Numa Node: 0'"),
        ("Weight between", "Waight between", "line 4: the table 'Waight between two GPUs' is none of: Weight, Hops"),
        (
            "XGMI         XGMI         XGMI  ",
            "XGMI         XGMI         NVLINK",
            "line 20: GPU0 to GPU3 must be XGMI or PCIE, got 'NVLINK'",
        ),
        ("GPU3   30           15", "GPU3   29           15", "line 9: GPU3 to GPU0 is 29, but GPU0 to GPU3 is 30"),
        (
            "GPU2   15           30           0            15",
            "GPU2   15           30           0",
            "line 8: 3 entries are given for 4 GPUs",
        ),
        (
            "GPU1   15           0            30",
            "GPU0   15           0            30",
            "line 7: there is a second row of GPU0",
        ),
        (
            "GPU1   15           0            30",
            "GPU9   15           0            30",
            "line 7: 'GPU9' is none of the GPUs",
        ),
        (
            "GPU0         GPU1         GPU2         GPU3",
            "GPU0         GPU0         GPU2         GPU3",
            "line 5: expected the names of GPUs, each once",
        ),
        ("Link Type between two GPUs", "Hops between two GPUs", "line 18: there is a second table"),
        ("GPU1   XGMI         0            XGMI         XGMI         \n", "", "the row of GPU1 is missing"),
        (
            "0            1            1            1 ",
            "0            1            1            x ",
            "line 13: GPU0 to GPU3 must be a whole number",
        ),
        (
            "==\n       GPU0         GPU1         GPU2         GPU3         \nGPU0   0            XGMI",
            "==\n       GPU0         GPU1         GPU2         GPU4         \nGPU0   0            XGMI",
            "line 19: the GPUs are not those of the first",
        ),
    ],
    "lstopo.xml": [
        ('type="PCIDev"', 'type="PCIdev"', "line 14: hwloc has no object of type 'PCIdev' (did you mean 'PCIDev'?)"),
        ('<topology version="2.0">', '<topology version="1.0">', "line 3: version must be 2 or 3"),
        ('<topology version="2.0">', "<topology>", "line 3: version must be 2 or 3 of the format, got 'none'"),
        ('pci_busid="0000:02:00.0"', 'pci_busid="02:00"', "line 17: pci_busid must be such as 0000:3b:00.0"),
        ('pci_busid="0000:03:00.0"', 'pci_busid="0000:02:00.0"', "line 23: pci_busid 0000:02:00.0 is there twice"),
        ('pci_link_speed="15.753846"', 'pci_link_speed="fast"', "line 23: pci_link_speed must be a number"),
        ('type="Package" os_index="1"', 'type="Package" os_index="0"', "line 34: package CPU0 is there twice"),
        ('<object type="Core" os_index', "<object os_index", "line 9: 'object' has no attribute 'type'"),
        ("41 43 53 ", "41 43 ", "line 43: a matrix of bandwidths has a whole number"),
        ("41 43 53 ", "41 43 7 ", "line 43: object 7 of the matrix is no device of a GPU"),
        ("1000000 100000 50000", "1000000 -5 50000", "line 43: a matrix of bandwidths has a whole number"),
        ("  </object>\n  <distances2", "  <distances2", "line 47: not a lstopo file (mismatched tag)"),
    ],
    "nccl_graph.xml": [
        ('graphs version="1"', 'graphs version="7"', "line 1: version must be 1, got '7'"),
        ('pattern="4"', 'pattern="9"', "line 2: pattern must be one of 1 (balanced tree)"),
        ('nchannels="3"', 'nchannels="4"', "line 2: nchannels is 4, and 3 channels follow"),
        ('id="1"', 'id="0"', "line 28: there is a second graph of id 0"),
        ('speedintra="20"', 'speedintra="fast"', "line 2: speedintra must be a number of GB/s"),
        ('speedintra="20"', 'speedintra="0"', "line 2: speedintra must be above 0"),
        ('typeintra="NVL"', 'typeintra="NVX"', "line 2: typeintra must be one of LOC, NVL"),
        ('<gpu dev="0x1" rank="1"/>', '<gpu dev="0x1" rank="0"/>', "line 3: a channel has each of its GPUs once"),
        ('<net dev="0x0"/>', '<net dev="eth0"/>', "line 4: dev must be hexadecimal, got 'eth0'"),
        ('<net dev="0x0"/>', "", "line 3: a channel has two elements 'net' or none, got 1"),
        (
            '<gpu dev="0x2" rank="2"/>',
            '<gpu dev="0x4" rank="4"/>',
            "line 11: its GPUs are not those of the first channel",
        ),
        ("<channel>", "<chanel>", "line 10: not a NCCL graph (mismatched tag)"),
        (' pattern="4"', "", "line 2: 'graph' has no attribute 'pattern'"),
    ],
    "rccl.xml": [
        ("gfx90a", "gfx1100", "line 5: the speed of xGMI of gcn='1100' is not known"),
        (' gcn="gfx90a"', "", "line 4: 'gpu' has no attribute 'gcn'"),
    ],
    "four_boxes.json": [
        ('"rdma_en5", null, "rdma_en3", null]', '"rdma_en5", null, "rdma_en3"]', "line 6: 'm2' has 3 entries"),
        ('[null, "rdma_en5"', '["rdma_en1", "rdma_en5"', "line 5: 'm1' leads to itself"),
        (
            '["rdma_en3", null, "rdma_en4", null]',
            '[null, null, "rdma_en4", null]',
            "line 8: the cables are not the same at both ends: 'm1' has 1 to 'm4', which has 0 back",
        ),
        ('"ssh": "m3"', '"ssh": "m2"', "line 7: host 'm2' is there twice"),
        ('"ssh": "m3"', '"ssh": 3', "line 7: 'ssh' must be the name of a host, got 3"),
        ('"rdma": ["rdma_en4"', '"rdmas": ["rdma_en4"', "line 7: host 2 has no list 'rdma'"),
        ('[null, "rdma_en5"', "[null, 5", "line 5: an entry of 'rdma' is null, a device"),
        ('[null, "rdma_en5"', '[null, ["rdma_en5", "rdma_en5"]', "line 5: an entry of 'rdma' is null, a device"),
        ('"hosts": [', '"host": [', "an object with a list 'hosts'"),
        ('"m1", "ips"', '"m1" "ips"', "line 5: not JSON"),
    ],
    "two_meshes.textproto": [
        ("[ LINE, RING ]", "[ LINE ]", "line 5: there is LINE or RING for each of the 2 dims, got LINE"),
        ("dims: [ 1, 1 ]", "dims: [ 1, 3 ]", "line 6: dims of hosts must be a whole number for each of the 2 dims"),
        ("arch: BLACKHOLE", "arch: GRAYSKULL", "line 2: arch must be one of WORMHOLE_B0, BLACKHOLE"),
        ("dims: [ 2, 4 ] dim", "dims: [ 2, 0 ] dim", "line 5: dims must be whole numbers above 0"),
        ("[ LINE, RING ]", "[ LINE, LOOP ]", "line 5: there is LINE or RING for each of the 2 dims"),
        (
            "channels { count: 2 policy: STRICT }",
            "chanels { count: 2 }",
            "line 7: field 'chanels' is not known (did you mean 'channels'?)",
        ),
        ("count: 2 policy: STRICT", "count: 0", "line 7: count must be a whole number in 1.."),
        ("src: 0 dst: 6", "src: 0 dst: 8", "line 8: dst must be a whole number in 0..7, got '8'"),
        (
            'mesh_descriptor: "M1" mesh_id: 0 } }\n  conn',
            'mesh_descriptor: "M2" mesh_id: 0 } }\n  conn',
            "line 22: there is no mesh descriptor 'M2'",
        ),
        ("mesh_id: 1 device_id: 0", "mesh_id: 7 device_id: 0", "line 25: there is no instance G0.0/M0.7"),
        ("device_id: 3", "device_id: 9", "line 24: device_id must be a whole number in 0..7"),
        (
            'graph { graph_descriptor: "G0" graph_id: 0 } }',
            'graph { graph_descriptor: "G0"',
            "line 34: the file ends within",
        ),
        (
            'instances { mesh { mesh_descriptor: "M1" mesh_id: 0 } }',
            'instances { graph { graph_descriptor: "G0" } }',
            "line 22: graph 'G0' contains itself",
        ),
        ("# Two tori", "! Two tori", "line 1: '!' is no part of a descriptor"),
    ],
    "blocks.conf": [
        ("BlockSizes=4,8,16", "BlockSizes=4,12", "line 6: block sizes must be whole numbers that ascend"),
        ("BlockSizes=4,8,16", "BlockSizes=4\nBlockSizes=8", "line 7: block sizes are given twice"),
        ("BlockSizes=4,8,16", "BlockSizes=4 BlockName=x", "line 6: BlockSizes stands in a line of its own"),
        ("BlockName=b2", "BlockName=b1", "line 3: block 'b1' is there twice"),
        ("node[05-08]", "node[04-08]", "line 3: 'node04' is there twice"),
        (
            "BlockName=b3 Nodes=node[09-12]",
            "SwitchName=b3 Nodes=node[09-12]",
            "line 4: a file has switches or blocks, not both",
        ),
        ("BlockName=b3 Nodes=", "BlockName=b3 Node=", "line 4: expected one of BlockName, Nodes, BlockSizes with ="),
        ("BlockName=b3 Nodes=node[09-12]", "BlockName=b3", "line 4: a block needs nodes"),
        ("node[09-12]", "node[09-12", "line 4: brackets do not match"),
        ("BlockName=b3 Nodes=node[09-12]", "Nodes=x", "line 4: a line begins with SwitchName= or BlockName="),
    ],
    "topology.yaml": [
        (
            "cluster_default: true",
            "cluster_default: maybe",
            "line 3: cluster_default must be true or false, got 'maybe'",
        ),
        ("default: false", "default: true", "line 13: topology 'topo1' is the default already"),
        ("nodes: node[01-02]", "node: node[01-02]", "line 9: expected one of switch, children, nodes, got 'node'"),
        ("switches:", "switch:", "line 6: expected one of switches, got 'switch'"),
        ("children: s[1-2]", "children: s[1-3]", "line 6: switch 's3' is not described"),
        ("      - switch: s1\n", "      - nodes: x\n", "line 9: nodes is given twice"),
        ("        nodes: node[01-02]\n", "", "line 8: a switch needs 'nodes' or 'children'"),
        ("topology: topo2", "topology: topo1", "line 12: topology 'topo1' is there twice"),
        ("        children", "\tchildren", "line 7: YAML has no tabs"),
        ("  tree:", "  tree: &anchor", "line 4: '&anchor' is YAML that is not read"),
        ("  tree:\n", "  ring:\n", "line 2: topology 'topo1' must have 'tree' or 'block', got ring"),
        ("      - switch: s1\n", "      - switch: top\n", "line 8: switch 'top' is there twice"),
        (
            "- topology: topo1\n  cluster_default: true",
            "- cluster_default: true",
            "line 2: an entry begins with 'topology: NAME'",
        ),
        ("    switches:\n", "    switches:\n   x: 1\n", "line 6: it is indented more than the lines before it"),
    ],
    "platform.xml": [
        (
            'zoneRoute src="left"',
            'zoneRoute src="lefd"',
            "line 22: there is no zone or cluster 'lefd' (did you mean 'left'?)",
        ),
        ('dst="right"', 'dst="a"', "line 22: there is no zone or cluster 'a'; there are: left, right, world"),
        ('src="b" dst="hub"', 'src="hub" dst="a"', "line 15: there is a route from 'hub' to 'a' already"),
        ('id="lc"/></route>', 'id="lc" direction="UP"/></route>', "line 16: link 'lc' is SHARED and has no direction"),
        ('<router id="hub"/>', '<trace id="t"/>', "line 10: element 'trace' is not read: leave it out, and give each"),
        (
            'bw="125MBps"',
            'topology="TORUS" topo_parameters="2,2" bw="1Bps" limiter_link="1Bps"',
            "line 19: limiter_link is read of flat clusters, not of a TORUS",
        ),
        (
            "</zone>\n</plat",
            '<bypassZoneRoute src="right" dst="world" gw_src="gate" gw_dst="hub"><link_ctn id="lc"/></bypassZoneRoute>'
            "</zone>\n</plat",
            "line 25: no zoneRoute leads from 'right' to 'world'",
        ),
        ('version="4.1"', 'version="3"', "line 3: version must be 4 or 4.1, got '3'"),
        ('id="world" routing="Full"', 'id="world" routing="Vivaldi"', "line 5: routing must be Full, Floyd, Dijkstra"),
        ('<host id="b"', '<host id="a"', "line 8: 'a' is there twice"),
        ('<link id="lb"', '<link id="la"', "line 12: link 'la' is there twice"),
        ('bandwidth="125MBps"', 'bandwidth="fast"', "line 11: bandwidth must be such as 125MBps"),
        ('latency="1ms"', 'latency="1 minute"', "line 13: latency must be such as 50us"),
        ('<link_ctn id="lc"/>', '<link_ctn id="lx"/>', "line 16: there is no link 'lx'"),
        ('src="c" dst="hub"', 'src="x" dst="hub"', "line 16: there is no host or router 'x'"),
        ('<link_ctn id="lc"/>', "", "line 16: the route from 'c' to 'hub' has no links"),
        (
            '<link_ctn id="lc"/>',
            '<link_ctn id="la"/>',
            "line 16: link 'la' leads to 'a' and to 'c': a cable has two ends",
        ),
        (
            'latency="1ms"',
            'latency="1ms" sharing_policy="BACKBONE"',
            "line 13: sharing_policy must be SHARED, SPLITDUPLEX or FATPIPE, got 'BACKBONE'",
        ),
        ('<router id="hub"/>', '<peer id="hub"/>', "line 10: element 'peer' is not read"),
        ('radical="0-3"', 'radical="3-0"', "line 19: radical must be such as 0-7,9"),
        (
            'bw="125MBps"',
            'bw="125MBps" topology="MESH"',
            "line 19: topology must be FLAT, TORUS, FAT_TREE or DRAGONFLY",
        ),
        (
            'bw="125MBps"',
            'bw="125MBps" topology="DRAGONFLY" topo_parameters="2,1;2,1;2"',
            "line 19: topo_parameters of a DRAGONFLY must be groups,cables;chassis,cables;routers,cables;hosts",
        ),
        (
            'bw="125MBps"',
            'bw="125MBps" topology="DRAGONFLY" topo_parameters="2,1;2,1;1,1;1"',
            "line 19: 2 groups need as many routers in a chassis, which has 1",
        ),
        ('direction="DOWN"', 'direction="SIDE"', "line 17: direction must be UP or DOWN, got 'SIDE'"),
    ],
}
"""By sample what is replaced in it, by what, and what is said then."""


@pytest.mark.parametrize(("name", "old", "new", "message"), [(n, *row) for n, rows in SLIPS.items() for row in rows])
def test_a_slip_is_refused_in_a_line_with_its_place(tmp_path, name, old, new, message):
    text = (DATA / name).read_text(encoding="utf-8")
    assert old in text
    path = written(tmp_path, name, text.replace(old, new, 1))
    with pytest.raises(FileFormatError) as refused:
        SAMPLES[name](path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_format_has_ten_slips():
    for name in set(SAMPLES) - {"rccl.xml"}:
        assert len(SLIPS[name]) >= 10, name


def test_a_limiter_is_shared_by_what_a_host_sends_and_receives(tmp_path):
    cluster = '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1f" bw="100MBps" lat="0" limiter_link="{}"/>'
    net = read_network(written(tmp_path, "c.xml", PLATFORM.format(cluster.format("150MBps"))))
    plan = gossamer.plan(net, "alltoall", cost=gossamer.TimeCost("30MB"))
    assert float(plan.bound_seconds) >= 1.2  # three out and three in, 180 MB, through 150 MB/s
    assert float(plan.seconds) < 1.25
    assert net.shared_ports.bandwidth.tolist() == [150e6] * 4
    free = read_network(written(tmp_path, "c.xml", PLATFORM.format(cluster.format("200MBps"))))
    assert free.shared_ports is None  # both ways at full speed
    slow = read_network(written(tmp_path, "c.xml", PLATFORM.format(cluster.format("80MBps"))))
    assert set(slow.find(Speeds).bandwidth.tolist()) == {80e6}


@pytest.mark.parametrize(("routing", "kept"), [("Full", False), ("Floyd", True)])
def test_a_bypass_takes_the_place_of_the_route_of_two_hosts_one_way(tmp_path, routing, kept):
    pairs = ("ab", "bc", "ac")
    hosts = "".join(f'<host id="{h}" speed="1f"/>' for h in "abc")
    cables = "".join(f'<link id="{p}" bandwidth="1Bps" sharing_policy="SPLITDUPLEX"/>' for p in pairs)
    routes = "".join(f'<route src="{u}" dst="{v}"><link_ctn id="{u}{v}" direction="UP"/></route>' for u, v in pairs)
    past = "".join(f'<link_ctn id="{p}" direction="UP"/>' for p in pairs[:2])
    routes += f'<bypassRoute src="a" dst="c">{past}</bypassRoute>'
    net = read_network(written(tmp_path, "p.xml", PLATFORM.format(
        f'<zone id="z" routing="{routing}">{hosts}{cables}{routes}</zone>')))  # fmt: skip
    ways = {row[:2] for row in links(net)}
    assert ways == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("c", "a")} | ({("a", "c")} if kept else set())


def test_routers_on_no_route_are_left_out(tmp_path):
    text = (DATA / "platform.xml").read_text(encoding="utf-8").replace("<router ", '<router id="spare"/><router ', 1)
    assert links(read_simgrid(written(tmp_path, "p.xml", text))) == links(read_simgrid(DATA / "platform.xml"))
    assert read_simgrid(tmp_path / "p.xml").node_count == read_simgrid(DATA / "platform.xml").node_count


def platform_of_links(tmp_path, policy, routes, both="YES"):
    hosts = "".join(f'<host id="{h}" speed="1f"/><link id="l{h}" bandwidth="9Bps" latency="0"/>' for h in "abc")
    bus = f'<link id="bus" bandwidth="1Bps" latency="0" sharing_policy="{policy}"/>'
    written_routes = "".join(
        f'\n<route src="{u}" dst="{v}" symmetrical="{both}">'
        + "".join(f'<link_ctn id="{link}"/>' for link in links)
        + "</route>"
        for u, v, *links in routes
    )
    return read_network(written(tmp_path, "bus.xml", PLATFORM.format(hosts + bus + written_routes)))


def test_a_bus_between_hosts_is_a_link_between_any_two_of_them_by_turns(tmp_path):
    net = platform_of_links(tmp_path, "SHARED", [("a", "b", "bus"), ("b", "c", "bus"), ("c", "a", "bus")])
    assert links(net) == both(*((u, v, 1, 1.0, 0.0) for u, v in ("ab", "bc", "ca")))
    assert net.shared_ports.names == ("bus",)
    steps = gossamer.plan(net, "allgather", cost=gossamer.StepCost())
    assert steps.completion_time == steps.bound == 6  # six messages, one by one
    with pytest.raises(FileFormatError, match="line 2: link 'bus' joins more than two places"):
        platform_of_links(tmp_path, "SPLITDUPLEX", [("a", "b", "bus"), ("b", "c", "bus"), ("c", "a", "bus")])


def test_a_bus_between_links_is_crossed_from_where_they_come_in_to_where_they_go_out(tmp_path):
    routes = [(u, v, f"l{u}", "bus", f"l{v}") for u, v in ("ab", "ac", "bc")]
    net = platform_of_links(tmp_path, "SHARED", routes)
    assert net.node_count == 5
    assert ("junction 0", "junction 0 out", 1, 1.0, 0.0) in links(net)
    assert {row[:2] for row in links(net) if row[3] == 9.0} == {
        *((h, "junction 0") for h in "abc"), *(("junction 0 out", h) for h in "abc"),
    }  # fmt: skip
    with pytest.raises(FileFormatError, match=r"line 5: it goes past link 'bus'"):
        platform_of_links(tmp_path, "SHARED", [*routes, ("c", "b", "lc", "lb")], "NO")


def test_a_fatpipe_carries_a_packet_of_each_host_at_once(tmp_path):
    net = platform_of_links(tmp_path, "FATPIPE", [("a", "b", "la", "bus", "lb"), ("a", "c", "la", "bus", "lc")])
    assert [row[2] for row in links(net) if row[3] == 1.0] == [3, 3]
    assert any("FATPIPE" in text for _, text in gossamer.describe(net).rows())


def test_a_dragonfly_of_simgrid_is_that_of_its_parameters(tmp_path):
    """3 groups of 4 chassis of 5 routers of 2 hosts, from the manual; degrees and rates as it says."""
    text = (
        '<cluster id="c" topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2" prefix="n" radical="0-119" suffix="" '
        'speed="1Gf" bw="125MBps" lat="50us"/>'
    )
    net = read_network(written(tmp_path, "c.xml", PLATFORM.format(text)))
    assert (net.terminal_count, net.node_count) == (120, 180)
    rates = Counter(net.find(Speeds).bandwidth.tolist())
    # hosts and routers of a chassis by 1 cable, chassis of a group by 3, groups by 4, both ways
    assert rates == {125e6: 2 * (120 + 12 * 10), 375e6: 2 * 3 * 5 * 6, 500e6: 2 * 3}
    assert {(u, v) for u, v, _, rate, _ in links(net) if rate == 500e6} == {
        (f"c router {i},0,{j}", f"c router {j},0,{i}") for i in range(3) for j in range(3) if i != j
    }
    far = {v: net.distances(net.node("n0"))[net.node(v)] for v in ("n1", "n2", "n10", "n12", "n40", "n119")}
    assert list(far.values()) == [2, 3, 3, 4, 4, 6]  # as many links as routes of SimGrid 3.32 have


# -- hostile files -------------------------------------------------------------------------------------------------

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("cut", [0, 1, 57, 300, 700, 1500])
def test_truncated_and_binary_files_end_in_a_network_or_a_line(tmp_path, name, cut):
    data = (DATA / name).read_bytes()
    for damaged in (data[:cut], data[:-cut], data[:cut] + b"\x00\xff\xfe" + data[cut:]):
        path = tmp_path / name
        path.write_bytes(damaged)
        try:
            told = repr(SAMPLES[name](path))
        except GossamerError as error:
            told = str(error)
        assert "\n" not in told


@pytest.mark.parametrize("read", [read_lstopo, read_nccl_graph, read_simgrid])
def test_entities_of_xml_are_refused(tmp_path, read):
    with pytest.raises(FileFormatError, match="line 1: entities are not read"):
        read(written(tmp_path, "x.xml", BOMB + "<topology/>"))
    deep = written(tmp_path, "deep.xml", "<zone>" * 300)
    with pytest.raises(FileFormatError, match="line 1: elements are over 200 deep"):
        read(deep)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_network, '[{"ssh": "a", "ips": ["10.0.0.1"]}, {"ssh": "b", "ips": ["10.0.0.2"]}]'),
        (read_host_file, "[" * 100_000),
        (read_host_file, '[["' + "a" * 65_000_000 + '"]]'),
        (read_host_file, "[" + "[null], " * 5000 + "[null]]"),
        (read_mesh_graph, "a { " * 1000),
        (read_slurm_topology, "- topology: x\n" + "".join(" " * (k + 2) + f"k{k}:\n" for k in range(60))),
        (read_rocm_smi, "Link Type between two GPUs\n" + "GPU0 " * 200_000),
        (read_slurm_topology, "SwitchName=a Nodes=n[0-999999999]\n"),
        (read_slurm_topology, "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
        (read_simgrid, PLATFORM.format('<cluster id="c" radical="0-99999999" bw="1Bps" lat="0"/>')),
    ],
)
def test_what_is_too_deep_too_many_or_cyclic_is_refused(tmp_path, read, text):
    with pytest.raises(FileFormatError) as refused:
        read(written(tmp_path, "x", text))
    assert "\n" not in str(refused.value)


def test_graphs_of_graphs_of_graphs_end_before_memory_does(tmp_path):
    mesh = """mesh_descriptors { name: "M" arch: BLACKHOLE device_topology { dims: [8, 8] }
    host_topology { dims: [1, 1] } channels { count: 1 } }\n"""
    graphs = ""
    for k in range(18):
        inner = f"graph {{ graph_descriptor: 'G{k - 1}' graph_id: " if k else "mesh { mesh_descriptor: 'M' mesh_id: "
        instances = " ".join("instances { " + inner + f"{i} }} }}" for i in range(4))
        graphs += f"graph_descriptors {{ name: 'G{k}' type: 'x' {instances} }}\n"
    text = mesh + graphs + "top_level_instance { graph { graph_descriptor: 'G17' graph_id: 0 } }"
    with pytest.raises(FileFormatError, match="there are over 200,000 devices"):
        read_mesh_graph(written(tmp_path, "bomb.textproto", text))


# -- written and read ----------------------------------------------------------------------------------------------


@st.composite
def edges(draw, widest=1):
    """Return hosts, and cables between them with capacities."""
    count = draw(st.integers(2, 9))
    pairs = [(u, v) for v in range(count) for u in range(v)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return count, [(u, v, draw(st.integers(1, widest))) for u, v in chosen]


def network_of(folder, count, cables, rates=None, switches=0):
    """Return the network of an edge list."""
    lines = ["columns source target capacity bandwidth latency"] if rates else []
    lines.append(f"terminals {' '.join(map(str, range(count - switches)))}")
    if switches:
        lines.append(f"switches {' '.join(map(str, range(count - switches, count)))}")
    for k, (u, v, c) in enumerate(cables):
        told = f" {rates[k % len(rates)]}B/s {7 * k + 1}ns" if rates else ""
        lines.append(f"{u} {v} {c}{told}")
    return read_network(written(folder, "made.edges", "\n".join(lines)))


QUIET = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(edges(3))
def test_hosts_are_written_and_read(tmp_path, made):
    net = network_of(tmp_path, *made)
    write_network(net, tmp_path / "x.hosts")
    assert [row[:3] for row in links(read_network(tmp_path / "x.hosts"))] == links(net)
    told = json.loads((tmp_path / "x.hosts").read_text(encoding="utf-8"))  # as MLX reads it
    for i, host in enumerate(told["hosts"]):
        assert set(host) == {"ssh", "ips", "rdma"}
        assert host["rdma"][i] is None
        devices = [d for entry in host["rdma"] if entry for d in ([entry] if isinstance(entry, str) else entry)]
        assert len(devices) == len(set(devices))


@QUIET
@given(edges(3), st.lists(st.integers(1, 10**12), min_size=1), st.integers(0, 1))
def test_topologies_of_ns3_are_written_and_read(tmp_path, made, rates, switches):
    count, cables = made
    net = network_of(tmp_path, count, [(u, v, 1) for u, v, _ in cables], rates, switches)
    write_network(net, tmp_path / "x.ns3")
    back = read_network(tmp_path / "x.ns3")
    assert links(back) == links(net)
    assert back.terminal_count == count - switches
    # as HPCC and ASTRA-sim read it: whitespace between numbers, the units behind them
    words = (tmp_path / "x.ns3").read_text(encoding="utf-8").split()
    nodes, some, lines = map(int, words[:3])
    assert (nodes, some, lines) == (count, switches, len(cables))
    rest = words[3 + some :]
    assert len(rest) == 5 * lines
    assert all(
        rate.endswith("Gbps") and delay.endswith("ns") for rate, delay in zip(rest[2::5], rest[3::5], strict=True)
    )


@QUIET
@given(edges())
def test_routers_of_booksim_are_written_and_read(tmp_path, made):
    net = network_of(tmp_path, *made)
    write_network(net, tmp_path / "x.anynet")
    assert links(read_network(tmp_path / "x.anynet")) == links(net)


def booksim(text):
    """Return what BookSim makes of an anynet file: the router of each node, and the channels between routers."""
    nodes, channels = {}, {}
    for line in text.splitlines():
        kind = head = None
        name = False
        for word in line.split(" "):
            if not word:
                continue
            if name:
                number = int(word)
                if head is None:
                    head = (kind, number)
                elif "node" in (kind, head[0]):
                    assert kind != head[0]
                    node, router = (number, head[1]) if kind == "node" else (head[1], number)
                    assert nodes.setdefault(node, router) == router
                else:
                    last = (head[1], number)
                    channels[last] = channels[last[::-1]] = 1
                name = False
            elif word in ("router", "node"):
                kind, name = word, True
            else:
                channels[last] = channels[last[::-1]] = int(word)
    return nodes, channels


def test_booksim_reads_a_leaf_spine_and_servers_with_two_adapters(tmp_path):
    write_network(gossamer.network("leaf-spine:4,2,3"), tmp_path / "a.anynet")
    nodes, channels = booksim((tmp_path / "a.anynet").read_text(encoding="utf-8"))
    assert nodes == {t: t // 3 for t in range(12)}
    assert channels == {pair: 1 for leaf in range(4) for top in (4, 5) for pair in ((leaf, top), (top, leaf))}
    assert links(read_network(tmp_path / "a.anynet"))[0][:2] == ("0", "router 0")
    write_network(gossamer.network("servers:s=2,g=2"), tmp_path / "b.anynet")
    nodes, channels = booksim((tmp_path / "b.anynet").read_text(encoding="utf-8"))
    assert sorted(nodes) == [0, 1, 2, 3]
    assert len(channels) == 2 * 8  # each GPU to its switch and its rail


@QUIET
@given(edges(), st.lists(st.integers(1, 10**9), min_size=1))
def test_platforms_of_simgrid_are_written_and_read(tmp_path, made, rates):
    net = network_of(tmp_path, *made, rates)
    write_platform(net, tmp_path)
    back = read_simgrid(tmp_path / "platform.xml")
    assert [(f"node-{u}", f"node-{v}", *told) for u, v, *told in links(net)] == links(back)


@pytest.mark.parametrize("spec", ["torus:3x4", "torus:4x2x3", "hypercube:3", "ring:5"])
def test_tori_of_simgrid_are_written_and_read(tmp_path, spec):
    net = gossamer.network(spec)
    write_platform(net, tmp_path)
    assert "TORUS" in (tmp_path / "platform.xml").read_text(encoding="utf-8")
    back = read_simgrid(tmp_path / "platform.xml")
    ends = zip(net.link_source.tolist(), net.link_target.tolist(), strict=True)
    assert [row[:2] for row in links(back)] == sorted((f"node-{u}", f"node-{v}") for u, v in ends)


def htsim(text):
    """Return the nodes, pods and tiers of a topology, by the rules of htsim's loader; its switches by its sizes."""
    header, tiers = {}, {}
    now = header
    for line in text.splitlines():
        words = line.split(" ")
        if words[0].lower() == "tier":
            now = tiers.setdefault(int(words[1]), {"bundle": 1, "oversubscribed": 1})
        else:
            now[words[0].lower()] = int(words[1])
    nodes, pods = header["nodes"], header["nodes"] // header["podsize"]
    assert header["tiers"] == 3
    assert sorted(tiers) == [0, 1, 2]
    assert all(tiers[t]["downlink_speed_gbps"] and tiers[t]["downlink_latency_ns"] for t in tiers)
    low, middle, high = (tiers[t] for t in range(3))
    assert nodes % header["podsize"] == header["podsize"] % low["radix_down"] == 0
    for one, up in ((low, middle), (middle, high)):
        assert one["radix_up"] % up["bundle"] == one["radix_down"] % one["bundle"] == 0
    rate = [tiers[t]["downlink_speed_gbps"] for t in range(3)]
    uplinks, rest = divmod(nodes * rate[0], rate[1] * low["oversubscribed"])
    assert (rest, uplinks % (pods * middle["radix_down"])) == (0, 0)
    upper, rest = divmod(uplinks * rate[1], rate[2] * middle["oversubscribed"])
    assert (rest, upper % high["radix_down"]) == (0, 0)
    return nodes, nodes // low["radix_down"], uplinks // middle["radix_down"], upper // high["radix_down"]


def with_speeds(folder, spec):
    """Return a network with cables of 50 GB/s."""
    net = gossamer.network(spec)
    ends = zip(net.link_source.tolist(), net.link_target.tolist(), net.link_capacity.tolist(), strict=True)
    cables = [(u, v, c) for u, v, c in ends if u < v]
    network_of(folder, net.node_count, cables, [50 * 10**9], net.node_count - net.terminal_count)
    text = (folder / "made.edges").read_text(encoding="utf-8")
    (folder / "made.edges").write_text(re.sub(r" [0-9]+ns", " 1us", text), encoding="utf-8")
    return read_network(folder / "made.edges")


@pytest.mark.parametrize(
    ("spec", "switches"),
    [
        ("folded-clos:4,3", (16, 8, 8, 4)),
        ("generalized-fat-tree:children=4x2x3,parents=1x2x2", (24, 6, 6, 4)),
        ("generalized-fat-tree:children=2x2x2,parents=1x2x1", (8, 4, 4, 2)),
    ],
)
def test_htsim_makes_the_same_tree(tmp_path, spec, switches):
    net = with_speeds(tmp_path, spec)
    write_network(net, tmp_path / "x.topo")
    assert htsim((tmp_path / "x.topo").read_text(encoding="utf-8")) == switches
    assert net.node_count == sum(switches)


@pytest.mark.parametrize(
    ("spec", "suffix", "why"),
    [
        ("torus:4x4", "topo", "has bandwidths, and torus:4x4 has none"),
        ("dgx-h100:2", "topo", "it has other than three tiers"),
        ("torus:4x4", "ns3", "has bandwidths, and torus:4x4 has none"),
        ("kautz:2,3", "anynet", "links without an opposite"),
        ("dgx-1:v100", "anynet", "wider or slower"),
        ("leaf-spine:2,2,2", "hosts", "no switches"),
    ],
)
def test_what_a_format_has_no_words_for_is_refused(tmp_path, spec, suffix, why):
    with pytest.raises(FileFormatError) as refused:
        write_network(gossamer.network(spec), tmp_path / f"x.{suffix}")
    assert why in str(refused.value)
    assert not (tmp_path / f"x.{suffix}").exists()


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        ("ns3", "3 1\n", "line 1: the first line is nodes, switches and links"),
        ("ns3", "3 1 1\n7\n0 1 1Gbps 1ns 0\n", "line 2: the second line has the numbers of 1 switches, below 3"),
        ("ns3", "3 0 1\n0 1 1Gb 1ns 0\n", "line 2: a cable is two nodes, rate, delay and errors"),
        ("ns3", "3 0 1\n0 3 1Gbps 1ns 0\n", "line 2: a cable is two nodes, rate, delay and errors"),
        ("ns3", "3 0 1\n0 1 0Gbps 1ns 0\n", "line 2: a cable is two nodes, rate, delay and errors"),
        ("ns3", "3 0 2\n0 1 1Gbps 1ns 0\n", "2 cables are announced, and there are 1"),
        ("ns3", "1 1 0\n0\n", "there are no terminals"),
        ("ns3", "3 0 1\n1 1 1Gbps 1ns 0\n", "line 2: node 1 is joined to itself"),
        ("ns3", "", "the file is empty"),
        ("ns3", "3 0 1\n0 1 1Gbps 1min 0\n", "line 2: a cable is two nodes"),
        ("anynet", "", "the file is empty"),
        ("anynet", "router 0 node 1\n", "nodes must be 0, 1, 2, ..."),
        ("anynet", "node 0 node 1\n", "line 1: a node is joined to a router"),
        ("anynet", "router 0 node 0\nrouter 1 node 0\n", "line 2: node 0 is at router 0 already"),
        ("anynet", "router 0 node 0 router 0\n", "line 1: router 0 is joined to itself"),
        ("anynet", "router 0 node 0 router 1 0\n", "line 1: the latency of 0 to 1 is 1 or more"),
        ("anynet", "router 0 node 0 5\n", "line 1: channels of nodes have no latency, got 5 for node 0"),
        ("anynet", "router 0 node 0 switch 1\n", "line 1: a line is such as"),
        ("anynet", "router 0 node 0 router\n", "line 1: a line is such as"),
        ("anynet", "router x node 0\n", "line 1: a line is such as"),
    ],
)
def test_slips_in_files_of_simulators(tmp_path, suffix, text, message):
    with pytest.raises(FileFormatError) as refused:
        read_network(written(tmp_path, f"x.{suffix}", text))
    assert message in str(refused.value)


def test_the_longest_wait_of_a_cable_is_a_number():
    assert math.isfinite(float(read_simgrid(DATA / "platform.xml").find(Speeds).latency.max()))
