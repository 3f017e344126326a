"""What is written is read by the tools themselves where they are at hand, and by parsers that share nothing with it.

``BOOKSIM``, ``HTSIM`` (its ``htsim_ndp``), ``ASTRA_SIM`` (its congestion-aware analytical binary) and ``ORTERUN`` (Open
MPI's, of version 4) name the tools; the tests of those that are not named are skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError
from gossamer.interchange import export
from gossamer.networks import from_networkx, read_network, write_network
from gossamer.schedules import expand


def tool(name):
    return pytest.mark.skipif(name not in os.environ, reason=f"{name} names no binary")


def random_network(seed, speeds=True):
    """Return a connected network at random, whose links have one of three speeds, or none."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    graph = nx.path_graph(n)
    graph.add_edges_from(pair for pair in nx.gnp_random_graph(n, 0.4, seed=seed).edges)
    for u, v in graph.edges if speeds else ():
        rate = ("25GB/s", "12.5GB/s", "50GB/s")[rng.integers(3)]
        graph[u][v].update(bandwidth=rate, latency=float(rng.integers(1, 9)) * 1e-7)
    return from_networkx(graph)


def chakra():
    """Return the messages of Chakra 1.0 that traces are made of, by protobuf, from the numbers of its schema."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    one, many = 1, 3
    kinds = {"double": 1, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "uint32": 13}

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for number, word, kind, label in fields:
            told = {"type": kinds[kind]} if kind in kinds else {"type": 11, "type_name": f".ChakraProtoMsg.{kind}"}
            made.field.add(name=word, number=number, label=label, **told)
        return made

    values = [(3, "double"), (7, "int32"), (9, "int64"), (11, "uint32"), (13, "uint64"), (27, "bool"), (29, "string")]
    attribute = message("AttributeProto", (1, "name", "string", one), (2, "doc_string", "string", one),
                        *((number, f"{kind}_val", kind, one) for number, kind in values))  # fmt: skip
    attribute.oneof_decl.add(name="value")
    for field in attribute.field[2:]:
        field.oneof_index = 0
    message("GlobalMetadata", (1, "version", "string", one), (2, "attr", "AttributeProto", many))
    message(
        "Node",
        *((1, "id", "uint64", one), (2, "name", "string", one), (3, "type", "int32", one)),  # an enum, on the wire
        *((4, "ctrl_deps", "uint64", many), (5, "data_deps", "uint64", many), (10, "attr", "AttributeProto", many)),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}"))
            for name in ("GlobalMetadata", "Node")]  # fmt: skip


def decoded(path, metadata, node):
    """Return the nodes of a trace; nothing in it is unknown to the schema."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        size = shift = 0
        while True:
            byte, at = data[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found.append((node if found else metadata).FromString(data[at : at + size]))
        assert not len(UnknownFieldSet(found[-1]))
        assert not any(len(UnknownFieldSet(each)) for each in found[-1].attr)
        at += size
    return found[1:]


@pytest.mark.parametrize(
    ("network", "task"),
    [
        *((random_network(seed, False), ("allreduce", "allgather", "alltoall", "reduce-scatter")[seed % 4])
          for seed in range(8)),
        ("torus:3x4", "allreduce"),
        ("hypercube:3", "broadcast"),
        ("kautz:2,2", "allgather"),
    ],
    ids=str,
)  # fmt: skip
def test_traces_of_chakra_send_over_each_link_what_the_schedule_does(tmp_path, network, task):
    messages = chakra()
    schedule = gossamer.plan(network, task).schedule
    export(schedule, tmp_path / "x", "chakra")
    net, table = schedule.network, expand(schedule)
    ends = list(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    planned = Counter((*ends[link], slot) for slot, link in zip(table.slot.tolist(), table.link.tolist(), strict=True))
    told = {5: Counter(), 6: Counter()}
    for rank in range(net.terminal_count):
        last = {}
        for k, node in enumerate(decoded(tmp_path / "x" / f"trace.{rank}.et", *messages)):
            values = {each.name: getattr(each, each.WhichOneof("value")) for each in node.attr}
            source, target, tag = (values[f"comm_{word}"] for word in ("src", "dst", "tag"))
            assert node.id == k
            assert (source, target)[node.type - 5] == rank
            assert all(each < k for each in node.data_deps)
            line = (node.type, source, target)
            if line in last:  # what goes over a link goes one after the other
                assert last[line][0] <= tag
            last[line] = tag, k
            told[node.type][source, target, tag] += 1
            assert values["is_cpu_op"] is False
    assert told[5] == told[6] == planned


@pytest.mark.parametrize("seed", range(6))
def test_topologies_of_ns3_have_the_cables_with_their_rates_and_delays(tmp_path, seed):
    """As the models read it: words, however they are broken into lines."""
    net = random_network(seed)
    write_network(net, tmp_path / "x.ns3")
    words = iter((tmp_path / "x.ns3").read_text().split())
    nodes, switches, cables = (int(next(words)) for _ in range(3))
    assert (nodes, [next(words) for _ in range(switches)]) == (net.node_count, [])
    units = {"Gbps": 10**9, "ns": Fraction(1, 10**9)}
    found = {}
    for _ in range(cables):
        u, v, rate, delay, errors = (next(words) for _ in range(5))
        told = [re.fullmatch(r"([\d.]+)(\D+)", each).groups() for each in (rate, delay)]
        values = [Fraction(number) * units[unit] for number, unit in told]
        assert errors == "0"
        for pair in ((int(u), int(v)), (int(v), int(u))):
            assert pair not in found
            found[pair] = float(values[0] / 8), float(values[1])
    assert not list(words)
    speeds = net.find(gossamer.networks.Speeds)
    rows = zip(net.link_source.tolist(), net.link_target.tolist(), speeds.bandwidth, speeds.latency, strict=True)
    assert found == {(u, v): (pytest.approx(float(b)), pytest.approx(float(d))) for u, v, b, d in rows}


def listed(path):
    """Return the host and slot of each rank of a rankfile, as Open MPI's manual says that it is read."""
    found = {}
    for line in path.read_text().splitlines():
        rank, host, slot = re.fullmatch(r"rank (\d+)=([\w.-]+) slot=(\d+)", line).groups()
        assert found.setdefault(int(rank), (host, int(slot))) == (host, int(slot))
    return [found[rank] for rank in range(len(found))]


def tasks_of(path):
    """Return the host of each task and its place there: Slurm gives the lines to tasks in order, and counts in each."""
    used, found = Counter(), []
    for host in path.read_text().splitlines():
        found.append((host, used[host]))
        used[host] += 1
    return found


def servers(count, each):
    """Return a network of servers whose accelerators have unlike links, with names of hosts."""
    lines = [" ".join(["terminals", *(f'"n{s} gpu{g}"' for s in range(count) for g in range(each))])]
    lines += [f'"n{s} gpu{g}" "n{(s + 1) % count} gpu{g}"' for s in range(count) for g in range(each)]
    return "\n".join(lines + [f'"n{s} gpu{g}" "n{s} gpu{g + 1}"' for s in range(count) for g in range(each - 1)])


@pytest.mark.parametrize("seed", range(4))
def test_files_of_ranks_put_each_rank_on_its_terminal(tmp_path, seed):
    (tmp_path / "net.edges").write_text(servers(4, 2))
    net = read_network(tmp_path / "net.edges")
    ring = np.random.default_rng(seed).permutation(8).tolist()
    pairs = [(ring[i], ring[(i + 1) % 8]) for i in range(8)]
    found = gossamer.place(from_networkx(nx.Graph(sorted(pairs))), net)
    where = [(f"n{v // 2}", v % 2) for v in found.node.tolist()]
    found.save(tmp_path / "rankfile")
    assert listed(tmp_path / "rankfile") == where
    if tasks_in_order(where):
        found.save(tmp_path / "x.hostfile")
        assert tasks_of(tmp_path / "x.hostfile") == where
    else:
        with pytest.raises(FileFormatError, match="Slurm counts the ranks of a host as they come") as refused:
            found.save(tmp_path / "x.hostfile")
        assert "\n" not in str(refused.value)


def tasks_in_order(where):
    return all(one[1] < other[1] for k, one in enumerate(where) for other in where[k + 1 :] if one[0] == other[0])


@tool("ORTERUN")
def test_open_mpi_puts_ranks_where_the_file_says(tmp_path):
    (tmp_path / "net.edges").write_text(servers(4, 2))
    found = gossamer.place("ring:8", read_network(tmp_path / "net.edges"))
    found.save(tmp_path / "rankfile")
    agent = tmp_path / "agent"  # takes the place of ssh: all hosts are here, each with its name
    agent.write_text('#!/bin/sh\nexport AT_HOST=$1; shift\nexec sh -c "$*"\n')
    agent.chmod(0o755)
    hosts = ",".join(f"n{s}:2" for s in range(4))
    said = "import os; of = os.environ; open('at' + of['OMPI_COMM_WORLD_RANK'], 'w').write(of['AT_HOST'] + ' '"
    said += " + ' '.join(map(str, os.sched_getaffinity(0))))"
    words = ["--allow-run-as-root", "--mca", "plm_rsh_agent", str(agent), "--mca", "plm_rsh_no_tree_spawn", "1"]
    words += ["-H", hosts, "--rankfile", str(tmp_path / "rankfile"), "-np", "8", "python3", "-c", said]
    subprocess.run([os.environ["ORTERUN"], "--wdir", str(tmp_path), *words], capture_output=True, timeout=200)
    at = [(tmp_path / f"at{rank}").read_text().split() for rank in range(8)]
    assert [(host, int(core)) for host, core in at] == listed(tmp_path / "rankfile")


@tool("BOOKSIM")
@pytest.mark.parametrize(
    "spec", ["torus:4x4", "leaf-spine:4,2,3", "dragonfly:a=4,h=1,p=2", "servers:s=2,g=2", "torus:3x3,latency=3"]
)
def test_booksim_joins_the_same_routers(tmp_path, spec):
    net = gossamer.network(spec)
    write_network(net, tmp_path / "x.anynet")
    (tmp_path / "config").write_text(
        f"topology=anynet; routing_function=min; network_file={tmp_path / 'x.anynet'}; traffic=uniform;"
        " sample_period=100; warmup_periods=0; max_samples=1; injection_rate=0.01; num_vcs=4; vc_buf_size=8;"
    )
    out = subprocess.run([os.environ["BOOKSIM"], tmp_path / "config"], capture_output=True, text=True, timeout=60)
    assert "Total run time" in out.stdout
    at = {int(v): int(r) for v, r in re.findall(r"Node (\d+)\tRouter (\d+)", out.stdout)}
    channels = nx.DiGraph()
    for part in out.stdout.split("=Router to Router =")[1].split("\nrouter ")[1:]:
        for other, cycles in re.findall(r"connected to router (\d+) .* lat (\d+)", part):
            channels.add_edge(int(part.split()[0]), int(other), cycles=int(cycles))
    mine = nx.DiGraph()
    links = zip(net.link_source.tolist(), net.link_target.tolist(), net.link_latency.tolist(), strict=True)
    mine.add_edges_from((u, v, {"cycles": wait + 1}) for u, v, wait in links)
    hung = [v for v in range(net.terminal_count) if mine.out_degree(v) == 1]
    for v in hung:
        assert sum(at[t] == at[v] for t in hung) == sum(list(mine[t]) == list(mine[v]) for t in hung)
    mine.remove_nodes_from(hung)
    assert nx.is_isomorphic(channels, mine, edge_match=lambda a, b: a["cycles"] == b["cycles"])


def test_a_channel_of_booksim_has_its_latency_one_way(tmp_path):
    """The manual: a latency is of the channel that the line tells; the one back has a cycle where no line tells it."""
    lines = ("router 0 node 0 router 1 5 router 2 3", "router 1 node 1", "router 2 node 2 router 0 3")
    (tmp_path / "a.anynet").write_text("\n".join(lines))
    net = read_network(tmp_path / "a.anynet")
    waits = zip(net.link_source.tolist(), net.link_target.tolist(), net.link_latency.tolist(), strict=True)
    assert sorted(waits) == [(0, 1, 4), (0, 2, 2), (1, 0, 0), (2, 0, 2)]


@tool("HTSIM")
@pytest.mark.parametrize(
    ("spec", "pods"),
    [("folded-clos:4,3", 4), ("generalized-fat-tree:children=4x2x3,parents=1x2x2", 3), ("folded-clos:8,3", 8)],
)
def test_htsim_makes_the_same_tree_itself(tmp_path, spec, pods):
    net = gossamer.network(spec)
    t, count = net.terminal_count, net.node_count
    lines = ["columns source target capacity bandwidth latency", f"switches {' '.join(map(str, range(t, count)))}"]
    ends = zip(net.link_source.tolist(), net.link_target.tolist(), net.link_capacity.tolist(), strict=True)
    lines += [f"{u} {v} {c} 50GB/s 1us" for u, v, c in ends if u < v]
    (tmp_path / "net.edges").write_text("\n".join(lines))
    write_network(read_network(tmp_path / "net.edges"), tmp_path / "x.topo")
    (tmp_path / "x.cm").write_text(f"Nodes {t}\nConnections 1\n0->1 id 1 start 0 size 1000\n")
    words = ["-strat", "perm", "-topo", tmp_path / "x.topo", "-tm", tmp_path / "x.cm", "-o", tmp_path / "log"]
    out = subprocess.run([os.environ["HTSIM"], *words], capture_output=True, text=True, timeout=60).stdout
    assert f"FatTree constructor done, {t} nodes created" in out
    told = {name: int(value) for name, value in re.findall(r"(ToR|Agg|core) switches(?: per pod)?: (\d+)", out)}
    assert pods * (told["ToR"] + told["Agg"]) + told["core"] == count - t
