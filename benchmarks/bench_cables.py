"""What is planned from cables: routing tables beside published heuristics, placements beside bounds, calls in PyTorch.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py' -k cables

One part alone: ``-k cables_tables``, ``-k cables_managers`` (needs ibsim and OpenSM), ``-k cables_placements``,
``-k cables_torch`` (needs PyTorch).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.networks.files import write_network
from gossamer.planning.placement import placed
from gossamer.questions.tasks import Grouped
from gossamer.questions.tasks.exchanges import NeighborExchange

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "on_torch")]

from routing_tables.published_layers import dfsssp, lash  # noqa: E402
from routing_tables.simulated_fabric import INSTALLED, managed  # noqa: E402
from routing_tables.test_tables import TWENTY  # noqa: E402


@pytest.mark.parametrize("spec", TWENTY)
def test_cables_tables(benchmark, capsys, spec):
    found = benchmark.pedantic(lambda: gossamer.routes(spec), rounds=1, warmup_rounds=0)
    network, judged = found.tables.network, found.judged
    others = lash(network), dfsssp(network)
    assert judged.complete
    assert judged.deadlock_free
    assert judged.congestion <= 1.1 * found.bound
    assert found.tables.layers <= min(others)
    seconds = benchmark.stats.stats.min
    with capsys.disabled():
        print(f"\n{spec}: load {judged.congestion} of {found.bound}, {found.ratio:.3f}; layers {found.tables.layers}, "
              f"LASH {others[0]}, DFSSSP {others[1]}; {seconds:.1f} s of CPU")  # fmt: skip


@pytest.mark.skipif(not INSTALLED, reason="ibsim and opensm (Debian: ibsim-utils, opensm, infiniband-diags)")
@pytest.mark.parametrize("engine", ["lash", "dfsssp"])
@pytest.mark.parametrize("spec", TWENTY)
def test_cables_managers(benchmark, capsys, tmp_path, spec, engine):
    network = gossamer.network(spec)
    write_network(network, tmp_path / "fabric.ibnet")
    with managed(tmp_path / "fabric.ibnet", tmp_path / "manager", engine, "-Q") as fabric:
        levels = fabric.path_records(network.terminal_count)
    dump = tmp_path / "manager" / "opensm-lfts.dump"
    theirs = benchmark.pedantic(lambda: gossamer.routes(network, dump, levels=levels), rounds=1, warmup_rounds=0)
    ours = gossamer.routes(network)
    assert ours.judged.congestion <= theirs.judged.congestion
    assert not theirs.sound or ours.tables.layers <= theirs.tables.layers
    free = "deadlock-free" if theirs.judged.deadlock_free else "not deadlock-free"
    with capsys.disabled():
        print(f"\n{spec} by OpenSM's {engine}: load {theirs.ratio:.3f} x the bound, ours {ours.ratio:.3f}; layers "
              f"{theirs.tables.layers}, ours {ours.tables.layers}; theirs is {free}")  # fmt: skip


def in_groups(task: str, count: int, size: int) -> Grouped:
    return Grouped(gossamer.task(task), [range(first, first + size) for first in range(0, count, size)])


JOBS = {
    "ring of 64 on 8x8": (NeighborExchange.along("ring:64"), "torus:8x8"),
    "mesh 8x8 on 8x8": (NeighborExchange.along("array:8x8"), "torus:8x8"),
    "mesh 4x16 on 8x8": (NeighborExchange.along("array:4x16"), "torus:8x8"),
    "alltoall in groups of 4": (in_groups("alltoall", 64, 4), "torus:8x8"),
    "alltoall in groups of 8": (in_groups("alltoall", 64, 8), "torus:8x8"),
    "alltoall in groups of 16": (in_groups("alltoall", 64, 16), "torus:8x8"),
    "allreduce in groups of 16": (in_groups("allreduce", 64, 16), "torus:8x8"),
    "mesh 64x64": (NeighborExchange.along("array:64x64"), "torus:64x64"),
    "ring of 4,096": (NeighborExchange.along("ring:4096"), "torus:16x16x16"),
    "mesh 16x256 on 64x64": (NeighborExchange.along("array:16x256"), "torus:64x64"),
    "torus 32x128 on 64x64": (NeighborExchange.along("torus:32x128"), "torus:64x64"),
    "alltoall of 4,096 in groups of 16": (in_groups("alltoall", 4096, 16), "torus:64x64"),
}
MINUTE = 60


@pytest.mark.parametrize("name", JOBS)
def test_cables_placements(benchmark, capsys, name):
    task, spec = JOBS[name]
    network = gossamer.network(spec)
    mixed = placed(task, np.random.default_rng(7).permutation(network.terminal_count))
    found = benchmark.pedantic(lambda: gossamer.place(mixed, network), rounds=1, warmup_rounds=0)
    assert found.bound <= found.time
    assert found.optimal or f"{found.ratio:.4g} x" in found.summary  # the gap is said
    with capsys.disabled():
        print(f"\n{name}: {found.time} steps, any placement {found.bound} or more ({found.bounds[0].method}); "
              f"{benchmark.stats.stats.min:.1f} s of CPU, at most {MINUTE}")  # fmt: skip


def test_cables_torch(benchmark, capsys, tmp_path):
    """A training step with the hook is PyTorch's own on four processes; what a call takes is printed."""
    from test_torch import trained_beside_pytorch

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    told = benchmark.pedantic(lambda: trained_beside_pytorch(tmp_path, "gloo"), rounds=1, warmup_rounds=0)
    with capsys.disabled():
        print("\n" + "\n".join(line for line in told.splitlines() if "all_reduce of" in line or "equal" in line))
