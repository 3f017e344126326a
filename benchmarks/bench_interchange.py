"""Exporters: operations written a second, beside the million that each is to write, and memory.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys

import pytest

import gossamer
from gossamer.interchange import FORMATS, export

LEAST = 1_000_000


@pytest.fixture(scope="module")
def exchange():
    return gossamer.plan("torus:8x8x8", "alltoall").schedule


@pytest.mark.parametrize("name", FORMATS)
def test_operations_a_second(benchmark, capsys, tmp_path, exchange, name):
    def once():
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        export(exchange, tmp_path / "out", name, limits=False)
        if (tmp_path / "out").is_file():
            (tmp_path / "out").unlink()

    benchmark.pedantic(once, rounds=2, warmup_rounds=1)
    rate = 2 * exchange.hop_count / benchmark.stats.stats.min
    with capsys.disabled():
        print(f"\n{name}: {rate / 1e6:.1f}M operations/s, at least {LEAST / 1e6:.0f}M")


def test_msccl_xml_of_a_complete_network(benchmark, capsys, tmp_path):
    schedule = gossamer.plan("complete:256", "alltoall").schedule
    benchmark.pedantic(
        lambda: export(schedule, tmp_path / "x.xml", "msccl-xml", limits=False), rounds=2, warmup_rounds=1
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    with capsys.disabled():
        print(f"\nMSCCL XML of complete:256: {benchmark.stats.stats.min:.2f} s of 1 s, process {peak:.0f} MB")


MEASURE = """
import resource, sys, gossamer
from gossamer.interchange import export
schedule = gossamer.load(sys.argv[1])
export(schedule, sys.argv[2], sys.argv[3], limits=False)
print(2 * schedule.hop_count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", FORMATS)
def test_memory_of_ten_million_operations(benchmark, capsys, tmp_path, name):
    gossamer.plan("torus:16x16x10", "allgather").schedule.save(tmp_path / "plan.parquet")
    words = [sys.executable, "-c", MEASURE, str(tmp_path / "plan.parquet"), str(tmp_path / "out"), name]
    done = benchmark.pedantic(
        lambda: subprocess.run(words, capture_output=True, text=True, check=True), rounds=1, warmup_rounds=0
    )
    operations, peak = map(int, done.stdout.split())
    with capsys.disabled():
        print(f"\n{name}: {operations / 1e6:.1f}M operations, process {peak / 1e3:,.0f} MB of at most 1,000")
