"""Routing of permutations on squares: steps, buffers and hops a second of every algorithm that covers them.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py' -k routing
"""

from __future__ import annotations

import pytest

import gossamer
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import permutation

SQUARE = gossamer.network("array:4x4")
NAMES = [
    a.name
    for a in gossamer.ALGORITHMS
    if Permutation in a.tasks
    and not a.name.endswith("-clock")  # the same hops, spread over the guaranteed time
    and a.covers(Case(SQUARE, permutation("transpose", SQUARE)))
]
CASES = [(side, name, algorithm) for side in (64, 256) for name in ("random", "bit-reversal") for algorithm in NAMES]


@pytest.mark.parametrize(("side", "name", "algorithm"), CASES, ids=["-".join(map(str, c)) for c in CASES])
def test_routing(benchmark, capsys, side, name, algorithm):
    network = gossamer.network(f"array:{side}x{side}")
    task = permutation(name, network)
    chosen = next(a for a in gossamer.ALGORITHMS if Permutation in a.tasks and a.name == algorithm)
    chosen.build(Case(SQUARE, permutation(name, SQUARE)))  # compiles
    schedule = benchmark.pedantic(lambda: chosen.build(Case(network, task)), rounds=1, warmup_rounds=0)
    found = gossamer.verify(schedule)
    assert found.ok
    seconds = benchmark.stats.stats.min
    facts = {
        "time": str(schedule.completion_time),
        "bound": str(gossamer.lower_bounds(network, task)[0].value),
        "buffers": gossamer.buffer_peak(schedule, "all").packets,
        "hops": schedule.hop_count,
        "seconds": round(seconds, 2),
        "million_hops_per_second": round(schedule.hop_count / seconds / 1e6, 1),
        "verify_seconds": round(found.seconds, 2),
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        facts_in_words = ", ".join(f"{k} {v}" for k, v in facts.items())
        print(f"\n{name} permutation on {network.spec} by {algorithm}: {facts_in_words}")
