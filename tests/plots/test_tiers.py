"""Pictures of large hierarchies: a few boxes and bundles, whose counts are those of the network."""

from __future__ import annotations

import re

import pytest

import gossamer
from gossamer.networks.hierarchy import hierarchy
from gossamer.plots.link_load import load_of
from gossamer.plots.network import draw_network
from gossamer.plots.tiers import tiers_figure


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def pods(count, rails=8, servers=4, spines=2):
    """Pods of servers of a GPU for each rail, a leaf for each rail in each pod, and spines for each rail."""
    nodes = count * servers, count * rails, rails * spines
    lines = ["columns source target bandwidth latency"]
    lines += ["switches " + " ".join(f"{name}[0-{n - 1}]" for name, n in zip("nrs", nodes, strict=True))]
    for p in range(count):
        for n in range(p * servers, (p + 1) * servers):
            lines += [f"g{n * rails + g} n{n} 450GB/s 500ns" for g in range(rails)]
            lines += [f"g{n * rails + g} r{p * rails + g} 50GB/s 1us" for g in range(rails)]
        lines += [f"r{p * rails + r} s{r * spines + s} 100GB/s 1us" for r in range(rails) for s in range(spines)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("pods") / "pods.edges"
    path.write_text(pods(128))
    return gossamer.network(path)


def test_a_picture_by_tier_is_small_and_tells_counts_and_bandwidths(network, tmp_path):
    assert network.node_count > 5_000
    draw_network(network, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert len(text) < 20_000
    told = texts(tiers_figure(hierarchy(network)))
    assert told[:2] == ["128 pods", "4 servers in each pod, 512 in all"]
    assert "4,096 terminals" in told
    assert "g0 to g4095; 8 in each server" in told
    assert "512 switches" in told
    assert "1,024 switches" in told
    bundles = sorted(t for t in told if "cables" in t)
    assert bundles == [
        "2,048 cables of 100 GB/s: 204.8 TB/s",
        "4,096 cables of 450 GB/s: 1843 TB/s",
        "4,096 cables of 50 GB/s: 204.8 TB/s",
    ]
    assert sum(int(re.match(r"[\d,]+", t)[0].replace(",", "")) for t in bundles) * 2 == network.link_count


def test_loads_of_a_plan_are_told_by_bundle(network, tmp_path):
    schedule = gossamer.plan(network, "alltoall", cost=gossamer.TimeCost("1GiB")).schedule
    gossamer.plots.draw(schedule, tmp_path / "load.svg")
    told, load = texts(tiers_figure(hierarchy(network), schedule)), load_of(schedule)
    leaf_to_spine = load[(network.link_source >= 4_096 + 512) & (network.link_target >= 4_096 + 512 + 1_024)]
    line = next(t for t in told if t.startswith("2,048 cables")).split("\n")[1]
    assert line.startswith(f"busy {leaf_to_spine.mean():.0f} % up, ")
    assert leaf_to_spine.size == 2_048
    assert line in (tmp_path / "load.svg").read_text()


def test_frames_hold_the_boxes_of_their_groups():
    figure = tiers_figure(hierarchy(gossamer.network("generalized-fat-tree:children=8x4x4,parents=1x4x4")))
    told = texts(figure)
    frames = [t for t in told if " in each " in t or t.endswith("pods")]
    assert frames[:2] == ["4 pods", "4 leaf groups in each pod, 16 in all"]
    assert sum("terminals" in t for t in told) == 1
