"""Five collectives at 1 GiB on networks that come as files, to 65,536 ranks: time, bound, ratio, CPU, memory.

    pytest benchmarks/bench_hierarchy.py -s
    pytest benchmarks/bench_hierarchy.py -s -k "fat_tree and allreduce"
    GOSSAMER_CPU=60 GOSSAMER_GIB=4 pytest benchmarks/bench_hierarchy.py -s

Each plan is made and verified by a process of its own, from an edge list, within so many seconds of CPU and GiB of
memory: a case that needs more is a line of the table, and the next one begins. A line says whether the time is within
1.05 times the bound, 1.1 where links have failed. After the lines of all cases come growth exponents of CPU seconds
between the sizes of a family.

Networks: fat trees of three levels, 2:1 oversubscribed at the leaves; pods of 16 servers of 8 GPUs with a rail for each
GPU, with two or three rails dark, with a rail dark in every second pod, another in each, and without one NIC; servers
whose GPUs are joined by links alone (meshes, rings) with rails, one link gone or none, and servers of MI250X, by their
name: their switches do not copy; dragonflies; tori with failed links.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

CPU, GIB = (float(os.environ.get(f"GOSSAMER_{name}", least)) for name, least in (("CPU", 300), ("GIB", 12)))
TASKS = ("allgather", "reduce-scatter", "allreduce", "alltoall", "broadcast")
_MEASURED: dict[tuple[str, str], list[tuple[int, float]]] = {}
_SEEN: set[tuple[str, str]] = set()

_PLAN = """
import json, resource, sys
import gossamer
plan = gossamer.plan(sys.argv[1], sys.argv[2], cost=gossamer.TimeCost("1GiB"))
assert gossamer.verify(plan.schedule)
clock = plan.case.cost
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "seconds": float(clock.seconds(plan.completion_time)), "bound": float(clock.seconds(plan.bound)),
    "algorithm": plan.algorithm, "cpu": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss // 1024,
    "stored": plan.schedule.stored_hops, "hops": plan.schedule.hop_count,
}))
"""


def fat_tree(pods: int, leaves: int, hosts: int, spines: int) -> list[str]:
    """Hosts below leaves in pods; as many second-level switches in a pod as core switches above each of them."""
    lines = [f"switches l[0-{pods * leaves - 1}] a[0-{pods * spines - 1}] c[0-{spines * spines - 1}]"]
    for p in range(pods):
        for leaf in range(p * leaves, (p + 1) * leaves):
            lines += [f"h{leaf * hosts + h} l{leaf} 50GB/s 1us" for h in range(hosts)]
            lines += [f"l{leaf} a{p * spines + a} 50GB/s 1us" for a in range(spines)]
        lines += [f"a{p * spines + a} c{a * spines + c} 50GB/s 1us" for a in range(spines) for c in range(spines)]
    return lines


def rail_pods(pods: int, rails: int = 8, servers: int = 16, gpus: int = 8, spines: int = 4) -> list[str]:
    """Servers of GPUs with a switch inside, a leaf for each rail in each pod, spines for each rail."""
    nodes = pods * servers, pods * rails, rails * spines
    lines = ["switches " + " ".join(f"{name}[0-{n - 1}]" for name, n in zip("nrs", nodes, strict=True))]
    for p in range(pods):
        for n in range(p * servers, (p + 1) * servers):
            lines += [f"g{n * gpus + g} n{n} 450GB/s 500ns" for g in range(gpus)]
            lines += [f"g{n * gpus + g} r{p * rails + g} 50GB/s 1us" for g in range(rails)]
        up = servers * 50 // spines
        lines += [f"r{p * rails + r} s{r * spines + s} {up}GB/s 1us" for r in range(rails) for s in range(spines)]
    return lines


def unlike_pods(pods: int) -> list[str]:
    """Pods with rails, of which every second pod has lost the leaf of a rail: of another rail each."""
    gone = {f"r{8 * p + p % 8}" for p in range(0, pods, 2)}
    kept = [line for line in rail_pods(pods)[1:] if not gone & set(line.split()[:2])]
    leaves = " ".join(f"r{r}" for r in range(8 * pods) if f"r{r}" not in gone)
    return [f"switches n[0-{16 * pods - 1}] {leaves} s[0-31]", *kept]


def without(lines: list[str], *ends: str) -> list[str]:
    """Those lines but for that of one cable."""
    return [line for line in lines if tuple(line.split()[:2]) != ends]


def dragonfly(h: int) -> list[str]:
    """Groups of 2h routers with h hosts and h global links each, and one link between each two groups."""
    a, groups = 2 * h, 2 * h * h + 1
    lines = [f"switches r[0-{a * groups - 1}]"]
    for group in range(groups):
        for r in range(group * a, (group + 1) * a):
            lines += [f"h{r * h + t} r{r} 25GB/s 1us" for t in range(h)]
            lines += [f"r{r} r{q} 25GB/s 1us" for q in range(r + 1, (group + 1) * a)]
        for k in range(a * h):
            other = (group + k + 1) % groups
            if group < other:
                lines.append(f"r{group * a + k // h} r{other * a + (a * h - 1 - k) // h} 25GB/s 1us")
    return lines


def torus(side: int, failed: int) -> list[str]:
    """A torus of three dimensions from which some links are gone."""
    place = np.arange(side**3).reshape(side, side, side)
    pairs = np.concatenate([np.stack([place, np.roll(place, -1, axis)], -1).reshape(-1, 2) for axis in range(3)])
    kept = np.delete(pairs, np.random.default_rng(1).choice(len(pairs), failed, replace=False), axis=0)
    return [f"{u} {v} 50GB/s 1us" for u, v in kept.tolist()]


def mesh_servers(servers: int, gpus: int = 8, ring: bool = False, spines: int = 8) -> list[str]:
    """Servers of GPUs that are joined by links, a mesh or a ring, each GPU with a NIC in the leaf of its rail."""
    near = [(g, h) for g in range(gpus) for h in range(g + 1, gpus) if not ring or h - g in (1, gpus - 1)]
    speed = 450 / max(1, 2 if ring else gpus - 1)
    lines = [f"switches r[0-{gpus - 1}] " + (f"s[0-{spines - 1}]" if spines else "")]
    for n in range(servers):
        lines += [f"g{n * gpus + g} g{n * gpus + h} {speed:g}GB/s 500ns" for g, h in near]
        lines += [f"g{n * gpus + g} r{g} 50GB/s 1us" for g in range(gpus)]
    up = servers * 50 // max(spines, 1)
    return lines + [f"r{r} s{s} {up}GB/s 1us" for r in range(gpus) for s in range(spines)]


NETWORKS = {
    "fat_tree-256": lambda: fat_tree(4, 4, 16, 4),
    "fat_tree-1024": lambda: fat_tree(8, 8, 16, 8),
    "fat_tree-8192": lambda: fat_tree(16, 16, 32, 16),
    "fat_tree-65536": lambda: fat_tree(32, 32, 64, 32),
    "pods-256": lambda: rail_pods(2),
    "pods-2048": lambda: rail_pods(16),
    "pods-16384": lambda: rail_pods(128),
    "pods_two_rails_dark-512": lambda: rail_pods(4, rails=6),
    "pods_three_rails_dark-1024": lambda: rail_pods(8, rails=5),
    "pods_unlike_failed-512": lambda: unlike_pods(4),
    "pods_unlike_failed-1024": lambda: unlike_pods(8),
    "pods_nic_failed-512": lambda: without(rail_pods(4), "g9", "r1"),
    "mesh_servers_link_failed-512": lambda: without(mesh_servers(64), "g1", "g5"),
    "mesh_servers-256": lambda: mesh_servers(32),
    "mesh_servers-2048": lambda: mesh_servers(256),
    "ring_servers-1024": lambda: mesh_servers(128, ring=True),
    "mi250x-2048": "mi250x:256,rails=4",
    "dragonfly-1056": lambda: dragonfly(4),
    "dragonfly-9702": lambda: dragonfly(7),
    "torus_3_failed-4096": lambda: torus(16, 3),
    "torus_98_failed-32768": lambda: torus(32, 98),
}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(GIB * 2**30),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(CPU), math.ceil(CPU) + 5))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hierarchies")

    def path(name: str) -> str:
        lines = NETWORKS[name]
        if isinstance(lines, str):
            return lines
        file = folder / f"{name}.edges"
        if not file.exists():
            file.write_text("columns source target bandwidth latency\n" + "\n".join(lines()) + "\n")
        return str(file)

    return path


HEAD = f"{'network':<24} {'task':<15} {'seconds':>10} {'bound':>10} {'ratio':>7} {'CPU s':>7} {'MB':>6} {'stored':>12}"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", NETWORKS)
def test_plan(files, name, task, capsys):
    command = [sys.executable, "-c", _PLAN, files(name), task]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=_limited, check=False)
    with capsys.disabled():
        if not _SEEN:
            print(f"\n{HEAD} {'transfers':>16} algorithm", end="")
        _SEEN.add((name, task))
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"no plan within {CPU:g} s of CPU"])[-1]
            print(f"\n{name:<24} {task:<15} no plan: {said[:140]}", end="")
            return
        found = json.loads(done.stdout)
        family, _, size = name.rpartition("-")
        _MEASURED.setdefault((family, task), []).append((int(size), found["cpu"]))
        ratio = found["seconds"] / found["bound"]
        far = " " if ratio <= (1.1 if "failed" in name or "dark" in name else 1.05) else "!"
        print(
            f"\n{name:<24} {task:<15} {found['seconds']:10.4g} {found['bound']:10.4g} {ratio:7.4f}{far}"
            f"{found['cpu']:7.1f} {found['megabytes']:6,} {found['stored']:12,} {found['hops']:16,} "
            f"{found['algorithm']}",
            end="",
        )


def test_growth(capsys):
    with capsys.disabled():
        print("\ngrowth exponents of CPU seconds:")
        for (family, task), found in _MEASURED.items():
            sizes = [each for each in found if 256 <= each[0] <= 16_384]
            steps = [
                f"{n:,} to {m:,}: {math.log(b / a) / math.log(m / n):.2f}"
                for (n, a), (m, b) in itertools.pairwise(sizes)
            ]
            if steps:
                print(f"{family:<24} {task:<15} {', '.join(steps)}")
