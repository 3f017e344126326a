"""How often the 95 % intervals of mean latency hold the true mean, close to saturation.

    python benchmarks/bench_interval_coverage.py [RUNS]

For each case the load is 0.9 of the largest that gets through 40,000 cycles, which the runs last too. The true mean is
that of all runs, which are drawn with different seeds; stated limits: 93 % to 97 % over all cases.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import gossamer
from gossamer.simulation.flits import Routers, TrafficSettings, saturation_throughput, simulate_traffic

CASES = [("torus:4x4", 1), ("torus:4x4", 8), ("array:4x4", 4), ("torus:8x8", 4)]
LOW, HIGH = 0.93, 0.97


def main(runs: int) -> None:
    """Print the share of each case and of all."""
    began, held, intervals = time.process_time(), 0, 0
    for spec, flits in CASES:
        network, routers = gossamer.network(spec), Routers.preset("booksim")
        few = runs if network.node_count < 64 else runs // 4
        search = TrafficSettings(message_flits=flits, routers=routers, measured=40_000)
        load = 0.9 * saturation_throughput(network, "uniform", settings=search).load
        means, halves = [], []
        for seed in range(few):
            settings = TrafficSettings(message_flits=flits, routers=routers, measured=40_000, seed=seed + 1)
            run = simulate_traffic(network, "uniform", load, settings=settings)
            means.append(run.latency)
            halves.append(run.half_width)
        truth = float(np.mean(means))
        inside = int((np.abs(np.array(means) - truth) <= np.array(halves)).sum())
        held, intervals = held + inside, intervals + few
        print(
            f"{spec:<10} messages of {flits} flits, load {load:.3f}: mean {truth:.2f} +- {np.mean(halves):.2f} cycles, "
            f"{inside} of {few} intervals hold it ({100 * inside / few:.1f} %)",
            flush=True,
        )
    share = held / intervals
    print(
        f"\n{held} of {intervals} intervals: {100 * share:.1f} % (limits {100 * LOW:.0f} to {100 * HIGH:.0f} %); "
        f"{time.process_time() - began:.0f} s of CPU time"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
