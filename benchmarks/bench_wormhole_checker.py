"""The checker of wormhole schedules: messages, channel hops and delivered pieces a second on one core.

    pytest benchmarks/bench_wormhole_checker.py --benchmark-only --benchmark-timer=time.process_time

Stated limits: at least 20 million channel hops a second where messages are long ways of one piece, at least 100
million delivered pieces a second where messages carry many. The cases are sequential broadcasts (one piece a message)
and all-gathers by rings and by aggregation and distribution.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gossamer
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import WormholeSchedule, verify
from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_PIECE, aggregation_distribution
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

VARIANTS = {v.name: v for v in (ATD_5, ATD_PIECE)}

MILLION_HOPS_PER_SECOND = 20
MILLION_PIECES_PER_SECOND = 100

CASES = {
    "sequential broadcasts, torus:30x30": ("torus:30x30", "sequential-broadcasts", "hops"),
    "sequential broadcasts, torus:8x8x8": ("torus:8x8x8", "sequential-broadcasts", "hops"),
    "rings, torus:50x50": ("torus:50x50", "ring-all-gather", "pieces"),
    "atd-5, torus:50x50, h = 10": ("torus:50x50", "atd-5", "pieces"),
    "atd-piece, torus:50x50, h = 10": ("torus:50x50", "atd-piece", "pieces"),
}


@cache
def case(name: str) -> WormholeSchedule:
    spec, algorithm, _ = CASES[name]
    asked = WormholeCase(gossamer.network(spec), gossamer.task("allgather"))
    if algorithm in VARIANTS:
        schedule = aggregation_distribution(asked, h=10, variant=VARIANTS[algorithm])
    else:
        schedule = next(a for a in WORMHOLE_ALGORITHMS if a.name == algorithm).build(asked)
    verify(schedule).raise_if_invalid()
    return schedule


@pytest.mark.parametrize("name", CASES)
def test_wormhole_verification(benchmark, capsys, name):
    schedule = case(name)
    assert benchmark.pedantic(verify, args=(schedule,), rounds=5, warmup_rounds=1)
    seconds = benchmark.stats.stats.min * 1e6
    carried = np.append(np.diff(schedule.payloads.first), 0)  # the last place is that of control messages
    rates = {
        "messages": schedule.message_count / seconds,
        "hops": int(schedule.hops.sum()) / seconds,
        "pieces": int(carried[schedule.payload].sum()) / seconds,
    }
    limited = CASES[name][2]
    limit = MILLION_HOPS_PER_SECOND if limited == "hops" else MILLION_PIECES_PER_SECOND
    facts = {f"million_{what}_per_second": round(rate, 1) for what, rate in rates.items()}
    facts |= {"ratio_to_limit": round(rates[limited] / limit, 2), "messages": schedule.message_count}
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\nverify {name}: " + ", ".join(f"{what} {value}" for what, value in facts.items()))
