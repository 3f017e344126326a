"""Wormhole plans beside exact optima on networks of up to 9 nodes, found by CP-SAT.

    python benchmarks/bench_wormhole_optima.py [WORK]

Prints bound, optimum and plan of every case, how often the best plan equals the optimum, and how often a bound is
above it (never). WORK is the solver's limit for each case, about seconds. The optimum is over all schedules with so
many steps at most and messages in so many equal pieces; plans with other pieces may be faster.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import gossamer
from gossamer import LinearCost, Rules
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.bounds import bounds
from wormhole.oracle import UndecidedError, least_time

CASES = [
    *((spec, "broadcast", ports, pieces, 4) for spec in ("ring:5", "ring:7", "array:3x2", "array:3x3", "torus:3x3",
      "hypercube:3", "star:3", "dragonfly:a=2,h=1", "complete:5") for ports in ("all", "one") for pieces in (1, 2)),
    *((spec, "allgather", ports, 1, 4) for spec in ("ring:4", "ring:5", "array:2x2", "array:3x2", "hypercube:2",
      "star:3", "dragonfly:a=2,h=1") for ports in ("all", "one")),
    *((spec, "scatter", "all", 1, 4) for spec in ("ring:5", "array:3x2", "torus:3x3", "hypercube:3", "array:3x3")),
    *((spec, "alltoall", "all", 1, 4) for spec in ("ring:4", "array:2x2", "array:4")),
]  # fmt: skip
STARTUPS = (1, 12, 100)


def main(work: float) -> None:
    """Print a line for each case and the counts."""
    began, equal, faster, decided, above, undecided = time.process_time(), 0, 0, 0, 0, 0
    print("network            task       ports pieces start-up   bound  optimum    plan")
    for spec, task, ports, pieces, steps in CASES:
        for startup in STARTUPS:
            cost = LinearCost(startup=startup, message_bytes=12)
            case = WormholeCase(gossamer.network(spec), gossamer.task(task), cost, Rules(ports=ports))
            try:
                least = least_time(case, steps, pieces, work)
            except UndecidedError:
                undecided += 1
                continue
            plan = gossamer.plan(spec, case.task, switching="wormhole", cost=cost, rules=case.rules)
            decided += 1
            above += bounds(case)[0].value > least
            equal += plan.completion_time == least
            faster += plan.completion_time < least
            print(
                f"{spec:<18} {task:<10} {ports:<5} {pieces:>6} {startup:>8} {float(plan.bound):>7.1f} "
                f"{float(least):>8.1f} {float(plan.completion_time):>7.1f}",
                flush=True,
            )
    print(
        f"\n{decided} cases decided, {undecided} not: bound above the optimum {above} times, best plan equal to it "
        f"{equal} times, faster with other pieces or more steps {faster} times; "
        f"{time.process_time() - began:.0f} s of CPU time"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
