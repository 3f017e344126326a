"""Virtual lanes that change from switch to switch: read, written, and judged beside a graph made path by path."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.networks.files import write_network
from gossamer.networks.routing_tables import (
    CablePorts,
    RoutingTable,
    VirtualLanes,
    read_routing_table,
    write_routing_table,
)
from gossamer.verification.routing_tables import judge
from routing_tables.simulated_fabric import INSTALLED, managed

SAMPLES = Path(__file__).parent.parent / "data" / "fabrics"
LFT, LEVELS, LANES = (SAMPLES / f"torus_3x5_2qos.{suffix}" for suffix in ("lft", "paths", "sl2vl"))
simulated = pytest.mark.skipif(not INSTALLED, reason="ibsim and opensm (Debian: ibsim-utils, opensm, infiniband-diags)")


def waiting(table: RoutingTable) -> tuple[nx.DiGraph, int]:
    """Return which lane of a cable waits for which, and how many messages are dropped; one path after the other."""
    cables, lanes, t = table.cables, table.lanes, table.network.terminal_count
    graph, dropped = nx.DiGraph(), 0
    first_arc, total = [], 0
    for c in range(cables.source.size):
        first_arc.append(total)
        total += int(np.sum(cables.source == cables.target[c]))
    for s in range(t):
        for d in range(t):
            v, held, path = s, None, []
            while v != d:
                c = int(table.cable[v, d])
                if held is None:
                    lane = int(lanes.first[c, table.layer[s, d]])
                else:
                    place = list(np.flatnonzero(cables.source == v)).index(c)
                    lane = int(lanes.onward[first_arc[held[0]] + place, table.layer[s, d]])
                path.append((c, lane))
                held, v = (c, lane), int(cables.target[c])
            if any(lane == 15 for _, lane in path):
                dropped += 1
            else:
                nx.add_path(graph, path)
    return graph, dropped


def test_lanes_of_torus_2qos_are_judged_over_all_of_them(tmp_path) -> None:
    """Torus 3x5, set up by OpenSM 3.3.23 with torus-2QoS and ``-Q`` in a simulated fabric."""
    found = gossamer.routes("torus:3x5", LFT, levels=LEVELS, lanes=LANES)
    assert found.sound
    assert found.judged.lanes == 4
    graph, dropped = waiting(found.tables)
    assert dropped == 0
    assert nx.is_directed_acyclic_graph(graph)
    assert found.judged.dependencies == (graph.number_of_edges(),)
    assert "cannot deadlock in 4 virtual lanes" in found.summary
    assert not gossamer.routes("torus:3x5", LFT, lanes=LANES).sound  # all of one service level
    one = tmp_path / "one.sl2vl"
    one.write_text(re.sub(r"(?m)(?<=:)[ 0-9]+$", " 0" * 16, LANES.read_text()))
    flat = gossamer.routes("torus:3x5", LFT, levels=LEVELS, lanes=one)
    assert not flat.sound
    assert "on lane 0, then" in dict(flat.rows())["deadlock"]
    circle = flat.judged.circles[0]
    graph, _ = waiting(flat.tables)
    assert all(graph.has_edge((a, 0), (b, 0)) for a, b in zip(circle, (*circle[1:], circle[0]), strict=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spec", ["ring:5", "torus:3x3", "folded-clos:4,2", "servers:s=2,g=3,rails=1"])
def test_lanes_at_random_are_judged_as_a_graph_of_all_paths(spec, seed) -> None:
    made, rng = gossamer.routes(spec, seed=seed).tables, np.random.default_rng(seed)
    arcs = int(VirtualLanes.arcs(made.cables)[-1])
    first, onward = (rng.integers(0, 3, (rows, 16)).astype(np.uint8) for rows in (made.cables.source.size, arcs))
    onward[rng.random(onward.shape) < 0.02 * (seed % 2)] = 15
    level = rng.integers(0, 4, made.layer.shape).astype(np.uint8)
    table = RoutingTable(made.network, made.cable, level, "at random", VirtualLanes(first, onward))
    found, (graph, dropped) = judge(table), waiting(table)
    assert found.deadlock_free == nx.is_directed_acyclic_graph(graph)
    assert found.dependencies == (graph.number_of_edges(),)
    assert found.lost == dropped
    assert (dropped > 0) == (not found.complete)


@pytest.mark.parametrize("spec", ["torus:3x4", "folded-clos:4,2"])
def test_lanes_that_are_written_are_read_back(tmp_path, spec) -> None:
    made, rng = gossamer.routes(spec).tables, np.random.default_rng(7)
    cables, arcs = made.cables, VirtualLanes.arcs(made.cables)
    first, onward = (rng.integers(0, 8, (rows, 16)).astype(np.uint8) for rows in (cables.source.size, int(arcs[-1])))
    table = RoutingTable(made.network, made.cable, made.layer, "made", VirtualLanes(first, onward))
    for suffix in (".lft", ".sl", ".sl2vl"):
        write_routing_table(table, tmp_path / f"tables{suffix}")
    again = read_routing_table(tmp_path / "tables.lft", made.network, tmp_path / "tables.sl", tmp_path / "tables.sl2vl")
    t = made.network.terminal_count
    sends = np.flatnonzero(cables.source < t)  # of a switch, only what comes from an adapter begins at it
    assert (again.lanes.first[sends] == first[sends]).all()
    passed = np.repeat((cables.target >= t) | (t == made.network.node_count), np.diff(arcs))  # adapters pass nothing on
    assert (again.lanes.onward == np.where(passed[:, None], onward, 15)).all()
    identity = gossamer.routes(spec, tmp_path / "tables.lft", levels=tmp_path / "tables.sl")
    write_routing_table(identity.tables, tmp_path / "own.sl2vl")
    own = gossamer.routes(spec, tmp_path / "tables.lft", levels=tmp_path / "tables.sl", lanes=tmp_path / "own.sl2vl")
    assert own.sound == identity.sound


def queried(dump: str) -> str:
    """Return a dump of OpenSM as ``smpquery sl2vl`` prints it for each port."""
    lines, lid = [], ""
    for line in dump.splitlines():
        if match := re.match(r"(?:Switch|Channel Adapter) .*base LID ([0-9]+)", line):
            lid = match[1]
        elif match := re.match("([0-9]+) +([0-9]+) +:(.*)", line):
            lines += [f"# SL2VL table: Lid {lid}", f"#                 SL: |{'|'.join(f'{k:2}' for k in range(16))}|"]
            lanes = "".join(f"{int(word):2}|" for word in match[3].split())
            lines.append(f"ports: in {match[1]:>2}, out {match[2]:>2}: |{lanes}")
    return "\n".join(lines) + "\n"


def test_lanes_as_smpquery_prints_them(tmp_path) -> None:
    path = tmp_path / "queried.txt"
    path.write_text(queried(LANES.read_text()))
    one, other = (gossamer.routes("torus:3x5", LFT, levels=LEVELS, lanes=file).tables.lanes for file in (LANES, path))
    assert (one.first == other.first).all()
    assert (one.onward == other.onward).all()


ROW = "3   1   : 2  3  2  3  2  3  2  3  6  7  6  7  6  7  6  7 \n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Switch 0x1000000000000f00", "Switch 0x1000000000000eff", "line 1: torus:3x5 has no switch"),
        ("Switch 0x1000000000000f00, base LID 16", "Swich 0x1", "line 1: neither a switch nor a row"),
        (ROW, ROW.replace("2  3  2", "2  3"), "line 7: a row has the lanes 0..15 of 16 levels, got"),
        (ROW, ROW.replace("6  7  6", "6  7  16"), "line 7: a row has the lanes 0..15 of 16 levels, got"),
        (ROW, ROW.replace(" 7 ", "-1 ", 1), "line 7: neither a switch nor a row"),
        (ROW, ROW + ROW, r"line 8: ports 3 and 1 of \(0,0\) are there twice"),
        (ROW, "", r"there are no virtual lanes from port 3 to port 1 of \(0,0\)"),
        ('Switch 0x1000000000000f00, base LID 16, "switch of (0,0)"\n', "", "line 3: lanes stand before their switch"),
        ("#in out", "# SL2VL table: DR path slid 0; dlid 0; 0,1\n#in out", "line 2: the switch must be told"),
        ("#in out", "# SL2VL table: Lid 99\n#in out", "line 2: torus:3x5 has no switch or adapter with LID 99"),
    ],
)  # fmt: skip
def test_slips_in_lanes_are_refused_with_their_line(tmp_path, old, new, told) -> None:
    text = LANES.read_text()
    assert old in text
    path = tmp_path / "slip.sl2vl"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=told):
        read_routing_table(LFT, gossamer.network("torus:3x5"), LEVELS, path)


def test_lanes_on_the_command_line(tmp_path, capsys) -> None:
    words = ["routes", "torus:3x5", str(LFT), "--levels", str(LEVELS), "--lanes", str(LANES)]
    assert main(words) == 0
    assert "none: no circle among the dependencies of 4 virtual lanes" in capsys.readouterr().out
    assert main(["routes", "torus:3x5", "--lanes", str(LANES)]) == 2
    assert "virtual lanes go with a table from a file" in capsys.readouterr().err
    assert main([*words[:3], "--lanes", str(tmp_path / "none.sl2vl")]) == 2


@simulated
@pytest.mark.slow
def test_torus_2qos_stays_free_of_deadlocks_without_a_cable(tmp_path) -> None:
    whole = gossamer.network("torus:3x4")
    network = whole.without(links=[(0, 1)])
    write_network(network, tmp_path / "fabric.ibnet")
    guid = CablePorts.of(whole).guid
    ends = {"xp": 4, "xm": 8, "yp": 1, "ym": 3}
    seeds = "".join(f"{way}_link 0x{guid[0]:x} 0x{guid[v]:x}\n" for way, v in ends.items())
    (tmp_path / "torus.conf").write_text("torus 3 4 1\n" + seeds)
    words = ("-Q", "--torus_config", str(tmp_path / "torus.conf"))
    with managed(tmp_path / "fabric.ibnet", tmp_path / "manager", "torus-2QoS", *words) as fabric:
        levels = fabric.path_records(12)
        ports = [(13 + v, 1 + p) for v in range(12) for p in range(int((network.link_source == v).sum()) + 1)]
        printed = tmp_path / "printed.txt"
        printed.write_text("".join(fabric.printed("smpquery", "sl2vl", str(lid), str(port)) for lid, port in ports))
    dump = tmp_path / "manager" / "opensm-lfts.dump"
    found = gossamer.routes(network, dump, levels=levels, lanes=tmp_path / "manager" / "opensm-sl2vl.dump")
    assert found.sound
    graph, dropped = waiting(found.tables)
    assert nx.is_directed_acyclic_graph(graph)
    assert not dropped
    again = gossamer.routes(network, dump, levels=levels, lanes=printed).tables.lanes
    assert (again.onward == found.tables.lanes.onward).all()
