"""Recognition of lists of links under a numbering of chance, and edge lists written and read: links a second.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py' -k recognition
"""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.networks import Network, read_network, renumbered, write_network
from gossamer.networks.recognition import recognition

SPECS = ("torus:16x16x16", "hypercube:12", "array:100x100", "complete:300", "fat-tree:k=4,h=6,capacity=constant",
         "jellyfish:n=1000,d=8")  # fmt: skip


def shuffled(spec):
    net = gossamer.network(spec)
    rng = np.random.default_rng(0)
    terminals = rng.permutation(net.terminal_count)
    order = np.concatenate([terminals, net.terminal_count + rng.permutation(net.node_count - net.terminal_count)])
    return renumbered(net, order, "a list")


@pytest.mark.parametrize("spec", SPECS)
def test_recognition(benchmark, capsys, spec):
    net = shuffled(spec)
    columns = (net.link_source, net.link_target, net.link_capacity)
    net.distances(0)  # compiles
    found = benchmark.pedantic(
        recognition,
        setup=lambda: (
            (Network("a list", net.node_count, *columns, terminal_count=net.terminal_count, links_only=True),),
            {},
        ),
        rounds=1,
        warmup_rounds=0,
    )
    rate = net.link_count / benchmark.stats.stats.min
    benchmark.extra_info.update(links=net.link_count, links_per_second=round(rate))
    with capsys.disabled():
        print(f"\n{spec}: {found.words}; {benchmark.stats.stats.min:.3f} s, {rate / 1e6:.2f} million links a second")


def test_edge_list_recognition(benchmark, capsys, tmp_path):
    net = gossamer.network("torus:32x32x32")
    path = tmp_path / "torus.edges"
    write_network(net, path)
    again = benchmark.pedantic(read_network, args=(path,), rounds=1, warmup_rounds=0)
    assert again == net
    rate = net.link_count / benchmark.stats.stats.min
    with capsys.disabled():
        print(f"\nedge list of {net.link_count:,} links: {rate / 1e6:.2f} million links a second")
