"""Total exchange: invariant schedules of large tori, and the explicit expansion of one.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

Seconds to build and verify are compared with the 10 that a 16x16x16 torus (200 million hops) may take as an invariant
schedule; the bytes of its expansion with 8 GB.
"""

from __future__ import annotations

import resource

import pytest

import gossamer
from gossamer.algorithms import algorithms_for
from gossamer.bounds import best_bound
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules

SECONDS = 10.0
GIGABYTES = 8.0
EXCHANGE = gossamer.task("alltoall")


def built(algorithm, spec):
    """Build by name for a new case, so that the words of generators are chosen anew each time."""
    chosen = next(a for a in algorithms_for(type(EXCHANGE)) if a.name == algorithm)
    return chosen.build(Case(gossamer.network(spec), EXCHANGE, Rules()))


def told(benchmark, capsys, what, **facts):
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))


@pytest.mark.parametrize(
    ("algorithm", "spec"),
    [("edge-colored", "torus:16x16x16"), ("edge-colored", "torus:32x32x32"), ("edge-colored", "hypercube:12"),
     ("edge-colored", "circulant:1000,1,31,100"), ("array-rounds", "array:8x8x8"), ("array-rounds", "array:22x22")],
)  # fmt: skip
def test_exchange_built_and_verified(benchmark, capsys, algorithm, spec):
    def run():
        schedule = built(algorithm, spec)
        return schedule, gossamer.verify(schedule)

    schedule, found = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    assert found
    seconds = benchmark.stats.stats.min
    least = best_bound(Case(schedule.network, EXCHANGE, Rules())).value
    told(
        benchmark, capsys, f"alltoall on {spec}", time=str(schedule.completion_time), bound=str(least),
        hops=schedule.hop_count, stored=schedule.stored_hops, seconds=round(seconds, 2),
        ratio_to_limit=round(seconds / SECONDS, 3), limit=f"{SECONDS} s",
        million_stored_hops_per_second=round(schedule.stored_hops / seconds / 1e6, 1),
    )  # fmt: skip


def test_expansion_of_a_large_exchange(benchmark, capsys):
    schedule = built("edge-colored", "torus:16x16x16")
    explicit = benchmark.pedantic(schedule.expand, rounds=1, warmup_rounds=0)
    found = gossamer.verify(explicit)
    assert found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    told(
        benchmark, capsys, "expansion of alltoall on torus:16x16x16", hops=explicit.stored_hops,
        gigabytes=round(explicit.nbytes / 1e9, 2), peak_gigabytes=round(peak, 2),
        ratio_to_limit=round(peak / GIGABYTES, 2), limit=f"{GIGABYTES} GB",
        seconds=round(benchmark.stats.stats.min, 1), verify_seconds=round(found.seconds, 1),
        million_hops_verified_per_second=round(found.hops / found.seconds / 1e6, 1),
    )  # fmt: skip
