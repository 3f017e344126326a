"""Networks from what tools print: nvidia-smi, NCCL, ibnetdiscover, Slurm, rank maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, GossamerError
from gossamer.networks import (
    Assumptions,
    Renumbered,
    Speeds,
    parse,
    read_coordinates,
    read_edge_list,
    read_ibnetdiscover,
    read_nccl_topology,
    read_network,
    read_nvidia_smi,
    read_slurm_topology,
    to_networkx,
    torus,
)
from gossamer.networks.files import FILE_FAMILIES
from gossamer.reading.node_lists import expanded

DATA = Path(__file__).parents[2] / "data" / "networks"


def links(network):
    """Return every link by names, with capacity and speed, in an order of its own."""
    speeds = network.find(Speeds)
    rates = [None] * network.link_count
    if speeds is not None:
        rates = list(zip(speeds.bandwidth.tolist(), speeds.latency.tolist(), strict=True))
    names = [network.link_name(i) for i in range(network.link_count)]
    return sorted(zip(names, network.link_capacity.tolist(), rates, strict=True))


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def edges(tmp_path, text):
    return read_edge_list(written(tmp_path, "same.edges", text))


# -- the same network by two routes --------------------------------------------------------------------------------


def test_a_dgx1_is_the_hybrid_cube_mesh(tmp_path):
    net = read_nvidia_smi(DATA / "dgx1.txt")
    quad = ["0 1 1", "0 2 1", "0 3 2", "1 2 2", "1 3 1", "2 3 2", "4 5 1", "4 6 1", "4 7 2", "5 6 2", "5 7 1", "6 7 2"]
    across = ["0 4 2", "1 5 2", "2 6 1", "3 7 1"]
    text = "columns source target capacity bandwidth\nterminals GPU[0-7]\n"
    text += "".join(f"GPU{a} GPU{b} {c} 25GB/s\n" for a, b, c in map(str.split, quad + across))
    assert links(net) == links(edges(tmp_path, text))
    assert np.bincount(net.link_source, weights=net.link_capacity).tolist() == [6] * 8  # a V100 has 6 NVLinks
    assert net.labels == tuple(f"GPU{i}" for i in range(8))
    assert net.terminal_count == 8


def test_more_nvlinks_than_a_gpu_has_lead_to_a_switch(tmp_path):
    net = read_nvidia_smi(DATA / "dgx_a100.txt", nvlink="25GB/s", latency="1us")
    text = "columns source target capacity bandwidth latency\nterminals GPU[0-7]\nswitches NVSwitch0\n"
    text += "".join(f"GPU{i} NVSwitch0 12 200Gbit/s 1000ns\n" for i in range(8))
    assert links(net) == links(edges(tmp_path, text))
    assert (net.terminal_count, net.node_count) == (8, 9)


def test_gpus_without_nvlinks_are_joined_by_a_tree_of_pci_express(tmp_path):
    net = read_nvidia_smi(DATA / "pcie.txt", nvlink="25GB/s", pcie="32GB/s")
    text = """columns source target capacity bandwidth
    switches "PCIe switch 0" "host bridge 0" "CPUs 0"
    GPU0 GPU1 4 25GB/s
    GPU0 "host bridge 0" 1 32GB/s
    GPU1 "host bridge 0" - 32GB/s
    GPU2 "PCIe switch 0" 1 32GB/s
    GPU3 "PCIe switch 0" 1 32GB/s
    "PCIe switch 0" "CPUs 0" 1 32GB/s
    "host bridge 0" "CPUs 0" 1 32GB/s
    """
    assert links(net) == links(edges(tmp_path, text))


def test_nvidia_smi_takes_speeds_in_its_spec():
    spec = f"nvidia-smi:{DATA / 'pcie.txt'}, nvlink=25GB/s,pcie=32GB/s"
    assert parse(spec) == read_nvidia_smi(DATA / "pcie.txt", nvlink="25GB/s", pcie="32GB/s")
    found = parse(f"nvidia-smi:{DATA / 'pcie.txt'},nvlink=25GB/s")
    assert found == read_nvidia_smi(DATA / "pcie.txt", nvlink="25GB/s", pcie="15.75GB/s")
    assert "pcie=RATE" in str(found.find(Assumptions).every[0])


def test_a_topology_of_nccl_is_what_its_elements_say(tmp_path):
    net = read_nccl_topology(DATA / "nccl.xml")
    pcie = "15.7538461538461538461538GB/s"  # 8 GT/s, 16 lanes, 130 bits for 128
    text = f"""columns source target capacity bandwidth latency
    terminals GPU[0-3]
    switches CPU0 0000:05:00.0 CPU1 0000:84:00.0
    GPU0 GPU1 2 25GB/s 0
    GPU0 GPU2 1 25GB/s 0
    GPU0 GPU3 1 25GB/s 0
    GPU1 GPU2 1 25GB/s 0
    GPU1 GPU3 2 25GB/s 0
    GPU2 GPU3 2 25GB/s 0
    GPU0 "0000:05:00.0" 1 {pcie} 0
    GPU1 "0000:05:00.0" 1 {pcie} 0
    GPU2 "0000:84:00.0" 1 {pcie} 0
    GPU3 "0000:84:00.0" 1 {pcie} 0
    CPU0 "0000:05:00.0" 1 {pcie} 0
    CPU1 "0000:84:00.0" 1 {pcie} 0
    CPU0 CPU1 1 10GB/s 0
    """
    assert links(net) == links(edges(tmp_path, text))


def test_gpus_of_nccl_are_in_the_order_of_their_ranks_and_nvswitches_are_kept_apart():
    net = read_nccl_topology(DATA / "nccl_nvswitch.xml")
    assert net.terminal_count == 4
    assert [label for label in net.labels if label.startswith("NVSwitch")] == [
        f"NVSwitch 0000:c{i}:00.0" for i in range(6)
    ]
    switches = net.out_links(0)
    assert [int(net.link_capacity[i]) for i in switches] == [1] + [2] * 6
    assert net.node_name(int(net.link_target[switches.start])) == "CPU0"  # rank 0 is device 3, named last in the file
    assert parse(f"nccl:{DATA / 'nccl_nvswitch.xml'}") == net


def test_a_fabric_has_one_link_for_cables_of_one_speed(tmp_path):
    net = read_ibnetdiscover(DATA / "fabric.ibnet")
    text = """columns source target capacity bandwidth
    terminals "node0 mlx5_0" "node1 mlx5_0" "node2 mlx5_0"
    switches leaf0 leaf1
    "node0 mlx5_0" leaf0 1 200Gbit/s
    "node1 mlx5_0" leaf0 1 200Gbit/s
    "node2 mlx5_0" leaf1 1 200Gbit/s
    leaf0 leaf1 2 200Gbit/s
    leaf0 leaf1 1 100Gbit/s
    """
    assert links(net) == links(edges(tmp_path, text))
    assert net.parallel
    assert net.labels[:3] == ("node0 mlx5_0", "node1 mlx5_0", "node2 mlx5_0")


def test_slurm_gives_a_tree(tmp_path):
    net = read_slurm_topology(DATA / "topology.conf")
    text = "terminals node[00-08] gpu1 gpu2 gpu4\nswitches rack[0-2] top\n"
    racks = {"rack0": "node[00-03]", "rack1": "node[04-07]", "rack2": "node08,gpu[1-2,4]", "top": "rack[0-2]"}
    for rack, nodes in racks.items():
        text += "".join(f"{n} {rack}\n" for n in expanded(nodes, "test"))
    assert links(net) == links(edges(tmp_path, text))
    assert net.terminal_count == 12
    assert net.link_count == 2 * (net.node_count - 1)


def test_ranks_of_a_machine_are_nodes_in_their_order():
    net = read_coordinates(DATA / "machine.ranks")
    original = net.find(Renumbered)
    assert original.original == torus(3, 4)
    assert original.place.tolist() == [5 * i % 12 for i in range(12)]
    assert net.node_name(1) == "(1,1)"
    assert net.node("(1,1)") == 1
    expected = {
        (5 * u % 12, 5 * v % 12) for u, v in zip(net.link_source.tolist(), net.link_target.tolist(), strict=True)
    }
    assert expected == set(to_networkx(torus(3, 4)).edges)


def test_places_without_a_rank_only_pass_on(tmp_path):
    path = written(tmp_path, "some.ranks", "torus 2x3\n0, 1 2\n1: (0,0)\n")
    net = read_coordinates(path)
    assert (net.terminal_count, net.node_count) == (2, 6)
    assert net.find(Renumbered) is None
    assert [net.node_name(i) for i in range(6)] == ["(1,2)", "(0,0)", "(0,1)", "(0,2)", "(1,0)", "(1,1)"]


def test_without_a_shape_it_is_the_least_torus(tmp_path):
    path = written(tmp_path, "all.coords", "".join(f"{i} {i // 3} {i % 3}\n" for i in range(12)))
    assert read_coordinates(path) == torus(4, 3)


# -- which format it is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("dgx1.txt", read_nvidia_smi),
        ("dgx_a100.txt", read_nvidia_smi),
        ("pcie.txt", read_nvidia_smi),
        ("nccl.xml", read_nccl_topology),
        ("fabric.ibnet", read_ibnetdiscover),
        ("topology.conf", read_slurm_topology),
        ("machine.ranks", read_coordinates),
    ],
)
def test_suffix_or_content_tells_the_format(tmp_path, name, read):
    net = read(DATA / name)
    assert read_network(DATA / name) == net
    assert gossamer.network(str(DATA / name)) == net
    kind, _, path = net.spec.partition(":")
    assert path == str(DATA / name)
    assert parse(f"{kind}:{path}") == net
    renamed = written(tmp_path, "any.txt", (DATA / name).read_text(encoding="utf-8"))
    assert read_network(renamed) == net or name == "nccl.xml"


# -- what files do not tell ------------------------------------------------------------------------------------------


def assumed(network):
    known = network.find(Assumptions)
    return [] if known is None else [str(each) for each in known.every]


def matrix(count, gpus=8, head=""):
    """Return the matrix of GPUs at switches, each with so many NVLinks."""
    names = [f"GPU{i}" for i in range(gpus)]
    rows = [[name, *("X" if name == other else f"NV{count}" for other in names)] for name in names]
    return head + "\n".join(" ".join(row) for row in [["", *names], *rows]).lstrip() + "\n"


@pytest.mark.parametrize(
    ("count", "head", "rate", "words"),
    [
        (4, "", 20, "P100"), (6, "", 25, "V100"), (12, "", 25, "A100"), (18, "", 25, "H100"), (36, "", 50, "Rubin"),
        (18, "GPU 0: NVIDIA B200 (UUID: GPU-1)\n", 50, "B200, which the file names"),
        (18, "GPU 0: NVIDIA GB200 (UUID: GPU-1)\n", 50, "B200, which the file names"),
        (8, "GPU 0: NVIDIA H800 (UUID: GPU-1)\n", 25, "H100 or H200, which the file names"),
        (12, "|   0  NVIDIA A100-SXM4-80GB     On  | 0000:07:00.0 |\n", 25, "A100, which the file names"),
        (18, "GPU 0: NVIDIA B200 (UUID: GPU-1)\nGPU 1: NVIDIA A100 (UUID: GPU-2)\n", 25, "H100"),
    ],
)  # fmt: skip
def test_the_speed_of_nvlinks_is_that_of_the_gpus_that_have_so_many(tmp_path, count, head, rate, words):
    net = read_network(written(tmp_path, "capture.out", matrix(count, head=head)))
    assert set(net.find(Speeds).bandwidth.tolist()) == {rate * 1e9}
    text = assumed(net)[0]
    assert words in text
    assert text.startswith(f"NVLinks of {rate} GB/s each way, ")
    assert text.endswith("capture.out,nvlink=RATE")
    own = parse(f"{text.rpartition('to change it: ')[2].replace('RATE', '7GB/s')},latency=1us")
    assert set(own.find(Speeds).bandwidth.tolist()) == {7e9}
    assert assumed(own) == []


def test_eighteen_nvlinks_may_be_of_a_b200():
    assert "a B200, which has as many, has 50 GB/s" in assumed(read_nvidia_smi(DATA / "nv18.txt"))[0]
    assert "B200" not in assumed(read_nvidia_smi(DATA / "dgx_a100.txt"))[0]


def test_a_bandwidth_for_all_links_does_not_multiply_those_that_are_counted():
    cost = gossamer.TimeCost("1MiB", bandwidth="450GB/s")
    with pytest.raises(GossamerError, match=r"has bandwidths of its own; .* by nvidia-smi:.*dgx1\.txt,nvlink=RATE"):
        gossamer.plan(str(DATA / "dgx1.txt"), "allgather", cost=cost)


def test_pci_express_has_the_speed_of_its_generation(tmp_path):
    text = "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n"
    for head, rate in (
        ("", 31.5),
        ("GPU 0: NVIDIA H100 PCIe (UUID: x)\n", 63),
        ("GPU 0: Tesla V100 (UUID: x)\n", 15.75),
    ):
        net = read_network(written(tmp_path, "pcie.log", head + text))
        assert set(net.find(Speeds).bandwidth.tolist()) == {rate * 1e9}
        assert f"PCI Express of {rate:g} GB/s each way" in assumed(net)[0]
    with pytest.raises(FileFormatError, match="must have a unit"):
        read_nvidia_smi(tmp_path / "pcie.log", pcie="32")


FABRIC = (DATA / "fabric.ibnet").read_text(encoding="utf-8")


def test_a_fabric_may_lack_the_blocks_of_its_aggregation_nodes_and_adapters(tmp_path):
    whole = read_ibnetdiscover(DATA / "fabric.ibnet")
    assert len(assumed(whole)) == 1
    blocks = FABRIC.split("\nvendid=")
    without = [b for b in blocks if "Ca\t" not in b or "Aggregation" not in b]
    assert len(without) == len(blocks) - 1
    net = read_network(written(tmp_path, "fabric.log", "\nvendid=".join(without)))
    assert (net, net.labels) == (whole, whole.labels)
    assert assumed(net)[0] == "an aggregation node has no block Ca: left out"
    switches = [b for b in blocks if "\nCa\t" not in b]
    net = read_network(written(tmp_path, "switches.log", "\nvendid=".join(switches)))
    assert (links(net), net.labels) == (links(whole), whole.labels)
    assert assumed(net)[0] == "3 adapters have no block Ca: taken from the ports of switches that lead there"


def test_cables_that_tell_no_speed_have_that_of_most(tmp_path):
    net = read_network(written(tmp_path, "a.ibnet", IB.format('[2] "H-2"[1] # "b"')))
    assert net.labels == ("a", "b", "leaf")
    assert set(net.find(Speeds).bandwidth.tolist()) == {25e9}
    assert any("a cable that tells no speed has that of most others, 25 GB/s" in text for text in assumed(net))


@pytest.mark.parametrize("name", ["capture.out", "capture", "a:b", "torus8x8", "x.dat", "nvl72.log"])
@pytest.mark.parametrize("source", ["leaf_spine.edges", "leaf_spine.json", "leaf_spine.graphml", "leaf_spine.gml",
                                    "nccl.xml", "topology.conf", "machine.ranks", "fabric.ibnet"])  # fmt: skip
def test_any_file_is_known_by_its_content(tmp_path, monkeypatch, name, source):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, name, (DATA / source).read_text(encoding="utf-8"))
    assert gossamer.network(name) == gossamer.network(str(DATA / source))


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1\0\0", b"\x7fELF\x02", b"<html><body>x</body></html>",
                                     b"# Title\n\nSome prose is here and\nthere\n", b"\xff\xfe\0a"])  # fmt: skip
def test_what_holds_no_network_is_refused_in_a_line(tmp_path, content):
    path = tmp_path / "thing"
    path.write_bytes(content)
    with pytest.raises(GossamerError) as refused:
        gossamer.network(str(path))
    assert "\n" not in str(refused.value)
    assert "unknown network family" not in str(refused.value)


@pytest.mark.parametrize(
    ("source", "old", "new", "message"),
    [
        ("nccl.xml", 'target="0000:07:00.0" count="2"', 'target="0000:07:00.0" count="1"',
         "line 6: 0000:06:00.0 has 1 nvlink to 0000:07:00.0, which has 2"),
        ("nccl.xml", "<nvlink", "<nvlnk", "line 6: element 'nvlnk' is not known (did you mean 'nvlink'?)"),
        ("nccl.xml", 'rank="1"', 'rank="0"', "line 12: there is a second GPU with rank 0"),
        ("nccl.xml", 'version="1"', 'version="9"', "line 1: version must be 1 or 2, got '9'"),
        ("fabric.ibnet", "lid 11 4xHDR", "lid 11 4xABC", "line 11: the speed '4xABC' is not known; there are: SDR"),
        ("fabric.ibnet", "lid 11 4xHDR", "lid 10 4xHDR", "port 1 of 'H-0002c90300001000' has LID 11 here, and 10"),
        ("fabric.ibnet", "lid 11 4xHDR", "lid 70000 4xHDR", "line 11: a LID is 1 to 49,151, or 0 where there"),
        ("dgx1.txt", "GPU7", "GPU9", "GPU9 is none of the devices of the first row"),
    ],
)  # fmt: skip
def test_a_slip_in_a_saved_output_is_refused_with_its_line(tmp_path, source, old, new, message):
    text = (DATA / source).read_text(encoding="utf-8")
    place = text.rindex(old) if source == "dgx1.txt" else text.index(old)
    path = written(tmp_path, source, text[:place] + new + text[place + len(old) :])
    with pytest.raises(FileFormatError) as refused:
        gossamer.network(str(path))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


# -- bad files -----------------------------------------------------------------------------------------------------

SMI = "GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 X\n"
XML = '<system version="1"><cpu numaid="0">\n{}\n</cpu></system>'
IB = 'Switch 2 "S-1" # "leaf"\n[1] "H-1"[1] # "a" 4xHDR\n{}\nCa 1 "H-1" # "a"\n[1](0) "S-1"[1] # 4xHDR\n'


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("nvidia-smi", "", "there is no row of names"),
        ("nvidia-smi", SMI.replace("GPU1 NV1 X\n", ""), "the row of GPU1 is missing"),
        ("nvidia-smi", SMI + "GPU1 NV1 X\n", "line 4: there is a second row of GPU1"),
        ("nvidia-smi", SMI.replace("X NV1", "X"), "line 2: 1 entries are given for 2 devices"),
        ("nvidia-smi", SMI.replace("X NV1", "X NV0"), "line 2: 'NV0' cannot stand between GPU0 and GPU1"),
        ("nvidia-smi", SMI.replace("X NV1", "NV1 X"), "line 2: 'NV1' cannot stand between GPU0 and GPU0"),
        ("nvidia-smi", SMI.replace("X NV1", "X SYS"), "line 3: GPU1 to GPU0 is NV1, but GPU0 to GPU1 is SYS"),
        ("nvidia-smi", "GPU0 GPU0\n", "line 1: a device is named twice"),
        (
            "nvidia-smi",
            "GPU0 GPU1 GPU2\nGPU0 X NV12 NV10\nGPU1 NV12 X NV12\nGPU2 NV10 NV12 X\n",
            "line 2: the NVLinks are too many for direct ones and not the same to all GPUs at a switch",
        ),
        ("nccl", '<system version="1"><cpu numaid="0"/><cpu numaid="0"/></system>', "CPU0 is there twice"),
        (
            "nccl",
            XML.format('<pci busid="A"><gpu dev="0" sm="80"/></pci><pci busid="a"/>'),
            "line 2: busid 'a' is there twice",
        ),
        (
            "ibnetdiscover",
            IB.format("").replace("4xHDR", "4xEDR", 1),
            "line 5: the two ends of the cable have different speeds",
        ),
        ("slurm", "SwitchName=s Nodes=a,,b\n", "line 1: a name is missing in 'a,,b'"),
        ("slurm", "SwitchName=s Nodes=a Nodes=b\n", "line 1: Nodes is given twice"),
        ("coordinates", "torus 9999x9999x9999\n0 0 0 0\n", "line 1: a shape is such as"),
        ("coordinates", "torus 464x464x464\n0 0 0 0\n", "line 1: a shape is such as"),
        ("edges", '"\\q" b\n', "line 1: quotes do not match"),
        ("edges", 'a "b\n', "line 1: quotes do not match"),
        ("edges", 'a "b"c\n', "line 1: quotes do not match"),
        ("edges", '"a" "\n', "line 1: quotes do not match"),
        ("nccl", "", "line 1: not a NCCL topology"),
        ("nccl", "<system>\n<cpu>", "line 2: not a NCCL topology"),
        ("nccl", "<graphs/>", "line 1: the outermost element must be 'system', got 'graphs'"),
        ("nccl", XML.format(""), "there is no element 'gpu'"),
        ("nccl", XML.format("<pci/>"), "line 2: 'pci' has no attribute 'busid'"),
        ("nccl", XML.format('<pci busid="1" link_speed="fast" link_width="16"/>'), "line 2: link_speed must be"),
        ("nccl", XML.format('<pci busid="1"><gpu sm="80"/></pci>'), "line 2: 'gpu' has no attribute 'dev'"),
        (
            "nccl",
            XML.format('<pci busid="1"><gpu dev="0" sm="80"><nvlink target="2" count="0"/></gpu></pci>'),
            "line 2: count must be a whole number of at least 1, got '0'",
        ),
        (
            "nccl",
            XML.format('<pci busid="1"><gpu dev="0" sm="80"><nvlink target="2" count="1"/></gpu></pci>'),
            "line 2: the target '2' is no GPU of the file",
        ),
        (
            "nccl",
            XML.format('<pci busid="1"><gpu dev="0" sm="30"><nvlink target="2" count="1"/></gpu></pci>'),
            "line 2: GPUs of compute capability sm=30 have no NVLinks",
        ),
        ("nccl", '<!DOCTYPE a [\n<!ENTITY b "c">]><system/>', "line 2: entities are not read"),
        ("nccl", "<system>" + "<pci>" * 300, "line 1: elements are over 200 deep"),
        ("ibnetdiscover", "", r"there is no channel adapter \(Ca\)"),
        ("ibnetdiscover", "hello", "line 1: neither a node nor a port, got 'hello'"),
        ("ibnetdiscover", '[1] "H-1"[1]\n', "line 1: a port stands before the first node"),
        ("ibnetdiscover", IB.format('[2] "S-9"[1]'), "line 3: there is no node 'S-9'"),
        ("ibnetdiscover", IB.format('[1] "H-1"[1]'), "line 3: port 1 of 'S-1' is there twice"),
        ("ibnetdiscover", IB.format('[2] "H-1"[1]'), "line 3: port 1 of 'H-1' leads elsewhere"),
        ("ibnetdiscover", IB.format('Ca 1 "S-1"'), "line 3: node 'S-1' is there twice"),
        ("ibnetdiscover", IB.format('[2] "S-1"[2] # 4xZDR'), "line 3: the speed '4xZDR' is not known"),
        ("slurm", "", "there are no nodes"),
        ("slurm", "Nodes=a\n", "line 1: a line begins with SwitchName="),
        ("slurm", "SwitchName=s\n", "line 1: a switch needs Nodes= or Switches="),
        ("slurm", "SwitchName=s Node=a\n", r"line 1: expected one of .* got 'Node=a' \(did you mean 'Nodes'\?\)"),
        ("slurm", "SwitchName=s Nodes=a[1\n", r"line 1: brackets do not match"),
        ("slurm", "SwitchName=s Nodes=a[3-1]\n", r"line 1: a range must be such as 0-7, got '3-1'"),
        ("slurm", "SwitchName=s Nodes=a[0-99999999]\n", "line 1: .* has over 800,000 names"),
        ("slurm", "SwitchName=s Nodes=a,a\n", "line 1: 'a' is there twice"),
        ("slurm", "SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n", "line 2: switch 's' is there twice"),
        ("slurm", "\nSwitchName=s Switches=t\n", "line 2: switch 't' is not described"),
        ("slurm", "BlockName=b\n", "line 1: a block needs nodes"),
        (
            "slurm",
            "SwitchName=a Nodes=x\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
            "line 3: switch 'a' is below b already; it is no tree",
        ),
        ("coordinates", "", r"ranks must be 0, 1, 2, \.\.\., got 0 of them"),
        ("coordinates", "0 0\n2 1\n", r"ranks must be 0, 1, 2, \.\.\., got 2 of them up to 2"),
        ("coordinates", "0 0\n0 1\n", "line 2: rank 0 is there twice"),
        ("coordinates", "0 0\n1 0\n", r"line 2: a rank at \(0,\) is there twice"),
        ("coordinates", "0 0\n1 0 1\n", "line 2: 2 coordinates are given, before it was another number"),
        ("coordinates", "torus 2x2\n0 0 2\n", r"line 2: \(0, 2\) is outside 2x2"),
        ("coordinates", "torus 0x2\n", "line 1: a shape is such as 'torus 8x8x4', got 'torus 0x2'"),
        ("coordinates", "0 0\ntorus 2\n", "line 2: the shape stands in the first line, once"),
        ("coordinates", "0\n", "line 1: expected a rank and its coordinates"),
        ("coordinates", "0 -1\n", "line 1: expected a rank and its coordinates"),
        ("coordinates", "0 999999999 999999999 9\n", "1 ranks are few for 1000000000x"),
    ],
)
def test_bad_files_are_refused_in_one_line_with_the_place(tmp_path, kind, text, message):
    path = written(tmp_path, "bad.txt", text)
    with pytest.raises(FileFormatError, match=message) as caught:
        parse(f"{kind}:{path}")
    assert "\n" not in str(caught.value)
    assert "bad.txt" in str(caught.value)


def test_a_matrix_among_other_lines_is_found(tmp_path):
    plain, noisy = (
        written(tmp_path, name, text) for name, text in (("a", SMI), ("b", f"driver 535\n\x1b[0m\n{SMI}other 1 2\n"))
    )
    assert links(read_nvidia_smi(noisy)) == links(read_nvidia_smi(plain))


def test_what_follows_names_in_quotes_may_be_a_comment(tmp_path):
    path = written(tmp_path, "x", '"a b" c # "d')
    assert tuple(parse(f"edges:{path}").labels) == ("a b", "c")


def test_a_line_that_goes_on_ends_with_the_file(tmp_path):
    path = written(tmp_path, "topology.conf", "SwitchName=s \\\nNodes=a[0-1] \\")
    assert read_slurm_topology(path).terminal_count == 2


def test_an_nvlink_to_a_processor_leads_to_that_of_the_gpu(tmp_path):
    gpu = '<gpu dev="{0}" sm="80"><nvlink target="x" count="2" tclass="0x068001"/></gpu>'
    cpus = "".join(f'<cpu numaid="{i}"><pci busid="{i}">{gpu.format(i)}</pci></cpu>' for i in range(2))
    net = read_nccl_topology(written(tmp_path, "t.xml", f'<system version="1">{cpus}</system>'))
    names = net.labels
    wide = [
        (names[u], names[v])
        for u, v, c in zip(net.link_source, net.link_target, net.link_capacity, strict=True)
        if c == 2
    ]
    assert sorted(wide) == [("CPU0", "GPU0"), ("CPU1", "GPU1"), ("GPU0", "CPU0"), ("GPU1", "CPU1")]


@pytest.mark.parametrize("kind", [family.name for family in FILE_FAMILIES])
def test_bytes_folders_and_missing_files_are_refused(tmp_path, kind):
    binary = tmp_path / "binary"
    binary.write_bytes(np.arange(256, dtype=np.uint8).tobytes())
    for path in (binary, tmp_path, tmp_path / "none"):
        with pytest.raises(GossamerError) as caught:
            parse(f"{kind}:{path}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        ("a[1,3-4],b", ["a1", "a3", "a4", "b"]),
        ("[0-1][5,7]x,y[2]", ["05x", "07x", "15x", "17x", "y2"]),
        ("a]", None),
        ("a,b]", None),
        ("a[1,b", None),
        ("a[1],,b", None),
        ("a[[1]]", None),
    ],
)
def test_host_lists_are_split_outside_brackets(text, names):
    if names is None:
        with pytest.raises(FileFormatError, match=r"x: (brackets do not match|a name is missing|a range must be)"):
            expanded(text, "x")
    else:
        assert expanded(text, "x") == names


def test_long_lists_take_time_in_proportion(tmp_path):
    path = tmp_path / "topology.conf"
    names = [f"n{i}" for i in range(100_000)]
    path.write_text(f"SwitchName=s Nodes={','.join(names[:50_000])},\\\n" + ",\\\n".join(names[50_000:]) + "\n")
    with pytest.raises(FileFormatError, match="expected one of"):  # a line that goes on begins a new word
        read_slurm_topology(path)
    path.write_text(f"SwitchName=s Nodes={','.join(names)}\n")
    assert read_slurm_topology(path).labels[:100_000] == tuple(names)
    ranks = tmp_path / "x.ranks"
    ranks.write_text("".join(f"{i} {i}\n" for i in range(30_000)))
    assert read_coordinates(ranks).node_count == 30_000


@pytest.mark.parametrize("text", ["SwitchName=s Nodes=n[0-799999],m\n", "SwitchName=s Nodes=" + 900_000 * "n," + "n\n"])
def test_names_beyond_memory_are_refused(text, tmp_path):
    path = tmp_path / "topology.conf"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"has over 800,000 names|would take about 5\d\d MB"):
        read_slurm_topology(path)
