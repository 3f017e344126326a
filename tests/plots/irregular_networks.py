"""Twenty-two networks as people have them, each with a task and a size: what pictures are measured and looked at on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import gossamer
from gossamer.networks import Network
from gossamer.questions.costs import TimeCost

DATA = Path(__file__).parents[1] / "data" / "networks"

FABRIC = """Switch 4 "S-1" # "leaf-switch-of-rack-one"
[1] "H-1"[1] # "node001 HCA-1" 4xHDR
[2] "H-2"[1] # "node002 HCA-1" 4xHDR
[3] "S-2"[3] # "leaf-switch-of-rack-two" 4xHDR
[4] "S-2"[4] # "leaf-switch-of-rack-two" 4xEDR
Switch 4 "S-2" # "leaf-switch-of-rack-two"
[1] "H-3"[1] # "node003 HCA-1" 4xHDR
[3] "S-1"[3] # "leaf-switch-of-rack-one" 4xHDR
[4] "S-1"[4] # "leaf-switch-of-rack-one" 4xEDR
Ca 1 "H-1" # "node001 HCA-1"
[1](0) "S-1"[1] # 4xHDR
Ca 1 "H-2" # "node002 HCA-1"
[1](0) "S-1"[2] # 4xHDR
Ca 1 "H-3" # "node003 HCA-1"
[1](0) "S-2"[1] # 4xHDR
"""
FILES = {
    "fabric.ibnet": FABRIC,
    "five.edges": "terminals gpu-a gpu-b gpu-c\nswitches leaf spine\n"
    "gpu-a leaf\ngpu-b leaf\ngpu-c spine\nleaf spine 2\n",
    "cables.edges": "parallel\ncolumns source target bandwidth latency\nterminals alpha beta gamma\n"
    "alpha beta 400Gbit/s 1us\nalpha beta 100Gbit/s 2us\nalpha beta 100Gbit/s 2us\nbeta gamma 200Gbit/s 1us\n"
    "beta gamma 25Gbit/s 5us\n",
    "long.edges": "columns source target capacity bandwidth latency\n"
    + "terminals "
    + " ".join(f"compute-rack{r}-unit{u:02d}.cluster.example.org" for r in (1, 2) for u in range(6))
    + "\n"
    + "switches top-of-rack-1.network.example.org top-of-rack-2.network.example.org core.network.example.org\n"
    + "".join(
        f"compute-rack{r}-unit{u:02d}.cluster.example.org top-of-rack-{r}.network.example.org 1 25GB/s 1us\n"
        for r in (1, 2) for u in range(6)
    )
    + "top-of-rack-1.network.example.org core.network.example.org 1 100GB/s 1us\n"
    + "top-of-rack-2.network.example.org core.network.example.org 2 50GB/s 1us\n",
    "racks.conf": "SwitchName=rack1 Nodes=node[01-04]\nSwitchName=rack2 Nodes=node[05-07]\n"
    "SwitchName=rack3 Nodes=node[08-12]\nSwitchName=top Switches=rack[1-3]\n",
}  # fmt: skip


def _random(terminals: int, switches: int, seed: int) -> str:
    """Return an edge list of switches at random, of two speeds, with terminals at them."""
    generator = np.random.default_rng(seed)
    lines = [
        "parallel",
        "columns source target bandwidth latency",
        f"terminals t[0-{terminals - 1}]",
        f"switches s[0-{switches - 1}]",
    ]
    lines += [f"t{i} s{i % switches} 50GB/s 1us" for i in range(terminals)]
    lines += [f"s{i} s{i + 1} 100GB/s 1us" for i in range(switches - 1)]
    for _ in range(2 * switches):
        a, b = generator.choice(switches, 2, replace=False)
        lines.append(f"s{a} s{b} {generator.choice([25, 100, 200])}GB/s 1us")
    return "\n".join(lines) + "\n"


class Sample(NamedTuple):
    """A network, and what is planned on it; bytes of 0 are steps."""

    name: str
    spec: str
    task: str = "allgather"
    bytes: int = 0
    whole: bool = True


SAMPLES = (
    Sample("two servers", "examples/machines/two_servers.edges", "allgather", 2**22),
    Sample("dgx1", f"nvidia-smi:{DATA / 'dgx1.txt'},nvlink=25GB/s", "allreduce", 2**26),
    Sample("leaf and spine of two speeds", f"{DATA / 'leaf_spine.edges'}", "allreduce", 2**24),
    Sample("dgx-a100 capture", f"nvidia-smi:{DATA / 'dgx_a100.txt'}", "broadcast"),
    Sample("dgx-a100", "dgx-a100:servers=2", "broadcast", 2**24),
    Sample("four servers", "servers:s=4,g=4", "allgather"),
    Sample("leaf-spine", "leaf-spine:leaves=8,spines=4,hosts=4", "broadcast"),
    Sample("folded Clos", "folded-clos:4,3", "allgather"),
    Sample("binary fat tree", "fat-tree:k=2,h=3", "alltoall"),
    Sample("k-ary n-tree", "k-ary-n-tree:3,2", "scatter"),
    Sample("InfiniBand fabric", "ibnetdiscover:fabric.ibnet", "allreduce", 2**20),
    Sample("shared ports", f"{DATA / 'server_ports.edges'}", "allgather", 2**20),
    Sample("five-node fabric", "five.edges", "alltoall"),
    Sample("parallel cables", "cables.edges", "allgather", 2**20),
    Sample("long names", "long.edges", "broadcast", 2**24),
    Sample("racks of Slurm", "slurm:racks.conf", "allgather"),
    Sample("random of 24", "random24.edges", "broadcast", 2**20),
    Sample("random of 128", "random128.edges", "broadcast", 2**20),
    Sample("one node", "complete:1", "broadcast"),
    Sample("two nodes", "complete:2", "allgather"),
    Sample("one-way", "kautz:2,3", "allgather"),
    Sample("servers of 128", "servers:s=16,g=8", "broadcast"),
)


def root() -> Path:
    """Return the folder in which the examples are."""
    return Path(__file__).parents[2]


def write_files(folder: Path) -> None:
    """Write the networks that are files into a folder."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "random24.edges").write_text(_random(18, 6, 1), encoding="utf-8")
    (folder / "random128.edges").write_text(_random(112, 16, 2), encoding="utf-8")


def network_of(sample: Sample, folder: Path) -> Network:
    """Return the network of a sample whose files are in a folder."""
    spec = sample.spec
    if spec.startswith("examples/"):
        spec = str(root() / spec)
    kind, _, name = spec.rpartition(":")
    if (folder / name).is_file() and not Path(name).is_absolute():
        spec = f"{kind}:{folder / name}" if kind else str(folder / name)
    return gossamer.network(spec)


def planned(sample: Sample, folder: Path) -> gossamer.Schedule:
    """Return a schedule of a sample."""
    network = network_of(sample, folder)
    cost = None
    if sample.bytes:
        known = network.find(gossamer.networks.Speeds) or network.find(gossamer.networks.structures.RatedLinks)
        cost = TimeCost(sample.bytes, bandwidth=None if known else "25GB/s", whole=sample.whole)
    return gossamer.plan(network, sample.task, cost=cost, effort="closed form").schedule
