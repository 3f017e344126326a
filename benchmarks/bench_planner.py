"""Plans of twelve typical cases, from the question to the verified outcome beside its bounds.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

CPU seconds of a warm process are compared with those that the same plans took when this was first measured.
"""

from __future__ import annotations

import numpy as np
import pytest

import gossamer

ONE_PORT = {"rules": gossamer.Rules(ports="one")}
WORMHOLE = {"switching": "wormhole", "cost": gossamer.LinearCost(startup=1000)}


def some(n, count):
    """Active nodes drawn at random."""
    return sorted(np.random.default_rng(1).choice(n, count, replace=False).tolist())


def shuffled(n):
    """A random permutation."""
    return np.random.default_rng(1).permutation(n).tolist()


CASES = [  # network, task and its fields, how, CPU seconds when first measured
    ("torus:8x8x8", "allgather", {}, {}, 0.005),
    ("torus:32x32", "alltoall", {}, {}, 0.16),
    ("hypercube:10", "alltoall", {}, {}, 0.20),
    ("array:32x32", "partial-multinode-broadcast", {"active": some(1024, 200)}, {}, 0.62),
    ("star:6", "allgather", {}, {}, 0.007),
    ("torus:16x16", "partial-exchange", {"active": range(0, 256, 5)}, {}, 0.52),
    ("array:64x64", "scatter", {"root": 5}, {}, 0.13),
    ("array:32x32", "permutation", {"destination": shuffled(1024)}, {}, 0.03),
    ("fat-tree:k=2,h=6", "alltoall", {}, {}, 0.13),
    ("torus:16x16", "allreduce", {}, {}, 0.04),
    ("torus:64x64", "broadcast", {"root": 3}, ONE_PORT, 0.053),
    ("torus:10x10", "allgather", {}, WORMHOLE, 0.26),
]


@pytest.mark.parametrize(
    ("spec", "name", "fields", "how", "first"), CASES, ids=[f"{c[1]}-{c[0]}-{next(iter(c[3]), 'plain')}" for c in CASES]
)
def test_plan(benchmark, capsys, spec, name, fields, how, first):
    network, task = gossamer.network(spec), gossamer.task(name, **fields)
    found = benchmark.pedantic(lambda: gossamer.plan(network, task, **how), rounds=3, warmup_rounds=1)
    seconds = benchmark.stats.stats.min
    facts = {
        "time": str(found.completion_time), "bound": str(found.bound), "algorithm": found.algorithm,
        "seconds": round(seconds, 4), "ratio_to_first": round(seconds / first, 2), "first": f"{first} s",
    }  # fmt: skip
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\nplan {name} on {spec}: " + ", ".join(f"{key} {value}" for key, value in facts.items()))
