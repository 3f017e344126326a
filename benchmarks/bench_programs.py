"""Programs: 1.57 million hops lowered in less than a second, beside the verification that lowering begins with.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'
"""

from __future__ import annotations

import pytest

import gossamer

LIMIT = 1.0


@pytest.fixture(scope="module")
def exchange():
    return gossamer.plan("torus:8x8x8", "alltoall").schedule.expand()


def test_lower_an_explicit_schedule(benchmark, capsys, exchange):
    gossamer.lower(exchange)  # compiled
    program = benchmark(gossamer.lower, exchange)
    seconds = benchmark.stats.stats.min
    with capsys.disabled():
        print(f"\nlowering {program}: {seconds:.2f} s of at most {LIMIT} s, {program.hops / seconds / 1e6:.1f}M hops/s")


def test_ranks_of_an_invariant_schedule(benchmark, capsys):
    program = gossamer.lower(gossamer.plan("torus:16x16x16", "alltoall").schedule)
    mine = benchmark(program.rank, 17)
    seconds = benchmark.stats.stats.min
    with capsys.disabled():
        print(f"\na rank of {program}: {seconds * 1e3:.2f} ms, {mine.count / seconds / 1e6:.0f}M operations/s")
