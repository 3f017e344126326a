"""Move-and-smooth routing of random full permutations: hops a second to build and to verify, and streamed.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

The 1,024 x 1,024 array has more than 10^9 hops; they are checked as they are made and not kept.
"""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.routing.move_and_smooth import MOVE_AND_SMOOTH
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Permutation

MODEL = {"Q": gossamer.Rules(buffer=5, buffer_counts="all"), "H": gossamer.Rules(buffer=3, buffer_counts="all")}


def instance(n):
    network = gossamer.network(f"array:{n}x{n}")
    return network, Permutation(tuple(np.random.default_rng(0).permutation(n * n).tolist()))


def tell(benchmark, capsys, what, hops, facts):
    seconds = benchmark.stats.stats.min
    facts |= {"seconds": round(seconds, 2), "million_hops_per_second": round(hops / seconds / 1e6, 1)}
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{k} {v}" for k, v in facts.items()))


def built(name, n):
    algorithm = next(a for a in MOVE_AND_SMOOTH if a.name == name)
    algorithm.build(Case(*instance(8), MODEL[name]))  # compiles
    network, task = instance(n)
    return lambda: algorithm.build(Case(network, task, MODEL[name]))


@pytest.mark.parametrize("name", ["Q", "H"])
def test_build_256x256(benchmark, capsys, name):
    schedule = benchmark.pedantic(built(name, 256), rounds=3)
    facts = {"steps": str(schedule.completion_time), "hops": schedule.hop_count}
    tell(benchmark, capsys, f"{name} on 256x256, build", schedule.hop_count, facts)


@pytest.mark.parametrize("name", ["Q", "H"])
def test_verify_256x256(benchmark, capsys, name):
    schedule = built(name, 256)()
    gossamer.verify(built(name, 8)())
    found = benchmark.pedantic(lambda: gossamer.verify(schedule), rounds=3)
    assert found
    tell(benchmark, capsys, f"{name} on 256x256, verify with buffers", schedule.hop_count, {"hops": schedule.hop_count})


@pytest.mark.parametrize("name", ["Q", "H"])
def test_stream_256x256(benchmark, capsys, name):
    stream(benchmark, capsys, name, 256)


def test_stream_1024x1024(benchmark, capsys):
    stream(benchmark, capsys, "Q", 1024)


def stream(benchmark, capsys, name, n):
    how = {"rules": MODEL[name], "algorithm": name, "stream": True}
    gossamer.plan(*instance(8), **how)
    network, task = instance(n)
    run = benchmark.pedantic(lambda: gossamer.plan(network, task, **how), rounds=1)
    told = run.to_dict()
    facts = {"steps": str(run.completion_time), "hops": told["hops"], "buffers": told["held_peak"]}
    tell(benchmark, capsys, f"{name} on {n}x{n}, streamed", told["hops"], facts)
