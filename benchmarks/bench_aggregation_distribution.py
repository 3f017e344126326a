"""Aggregation-then-distribution: how long a schedule takes to build and to verify, and what it costs over the bound.

pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'
"""

from __future__ import annotations

import time

import pytest

from gossamer.networks import torus
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_OPT, ATD_PIECE, aggregation_distribution

CASES = [((50, 50), 1), ((50, 50), 10), ((50, 50), 50), ((100, 100), 10), ((15, 15, 15), 5), ((40, 60), 10)]


@pytest.mark.parametrize("variant", [ATD_5, ATD_OPT, ATD_PIECE], ids=lambda v: v.name)
@pytest.mark.parametrize(("sides", "h"), CASES, ids=["x".join(map(str, sides)) + f"-h{h}" for sides, h in CASES])
def test_aggregation_distribution(benchmark, capsys, sides, h, variant):
    case = WormholeCase(torus(*sides), MultinodeBroadcast(), LinearCost(message_bytes=1000))
    schedule = benchmark.pedantic(
        aggregation_distribution, (case,), {"h": h, "variant": variant}, rounds=1, warmup_rounds=0
    )
    began = time.process_time()
    result = verify(schedule)
    checked = time.process_time() - began
    assert result
    seconds = benchmark.stats.stats.min
    facts = {
        "messages": schedule.message_count,
        "start-ups": schedule.startups,
        "volume/s m": round(schedule.volume / (case.network.node_count * case.cost.message_bytes), 3),
        "seconds": round(seconds, 2),
        "messages_per_second": round(schedule.message_count / seconds),
        "seconds_to_verify": round(checked, 2),
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        shape = "x".join(map(str, sides))
        print(f"\n{variant.name} on torus:{shape}, h={h}: " + ", ".join(f"{k} {v}" for k, v in facts.items()))
