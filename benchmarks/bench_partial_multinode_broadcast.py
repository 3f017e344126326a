"""Partial multinode broadcast on a 64 x 64 array with 2,048 active nodes: building and verifying.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

Rates are hops per second of the fastest round. A build is compared with writing the three columns once, a check with
the 20 million hops per second that the design asks for.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from gossamer.algorithms.multinode_broadcast.partial import ROTATED_DIMENSIONS
from gossamer.networks import array
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.verification import verify

CHECKED_PER_SECOND = 20e6


@pytest.fixture(params=ROTATED_DIMENSIONS, ids=lambda a: a.name)
def asked(request):
    network = array(64, 64)
    active = np.random.default_rng(0).choice(network.node_count, 2048, replace=False)
    return request.param, Case(network, PartialMultinodeBroadcast(active), Rules(segmented=True))


def rate(benchmark, hops):
    return hops / benchmark.stats.stats.min if benchmark.stats else float("nan")


def report(benchmark, capsys, what, per_second, limit, limit_name):
    ratio = per_second / limit
    benchmark.extra_info.update(million_per_second=per_second / 1e6, ratio=ratio, limit=limit_name)
    text = f"{per_second / 1e6:.1f} million hops/s, {ratio:.2f} of {limit_name} ({limit / 1e6:.0f} million/s)"
    with capsys.disabled():
        print(f"\n{what}: {text}")


def writing_columns(hops):
    """Hops per second of writing three int32 columns of fresh memory."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        for value in range(3):
            np.full(hops, value, np.int32)
        seconds.append(time.process_time() - began)
    return hops / min(seconds)


def test_build(benchmark, capsys, asked):
    algorithm, case = asked
    schedule = benchmark.pedantic(algorithm.build, (case,), rounds=3, warmup_rounds=1)
    hops = schedule.hop_count
    report(
        benchmark, capsys, f"build {algorithm.name}, {hops} hops", rate(benchmark, hops), writing_columns(hops),
        "writing the columns",
    )  # fmt: skip


def test_verify(benchmark, capsys, asked):
    algorithm, case = asked
    schedule = algorithm.build(case)
    result = benchmark.pedantic(verify, [schedule], rounds=3, warmup_rounds=1)
    assert result.ok
    hops = schedule.hop_count
    report(
        benchmark, capsys, f"verify {algorithm.name}, {hops} hops", rate(benchmark, hops), CHECKED_PER_SECOND,
        "the design's rate",
    )  # fmt: skip
