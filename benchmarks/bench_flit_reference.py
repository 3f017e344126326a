"""The flit simulator beside BookSim 2: latency and throughput at the points of a table.

    python benchmarks/bench_flit_reference.py [FILE]

Prints the difference at every point, and the mean and largest error of latency. Stated limits: mean 1 %, largest 2 %,
and 3 % of what gets through in overload. FILE has the columns of ``benchmarks/data/booksim_points.csv``; virtual
channels, buffers and routing delay may be left out (4, 8, 0).
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import gossamer
from gossamer.simulation.flits import Routers, TrafficRun, TrafficSettings, simulate_traffic

POINTS = Path(__file__).parent / "data" / "booksim_points.csv"
MEAN_LIMIT, LARGEST_LIMIT, THROUGHPUT_LIMIT = 0.01, 0.02, 0.03


def destinations(network: gossamer.Network, pattern: str) -> str | np.ndarray:
    """Where the nodes of a k-ary n-cube send under a pattern of BookSim; digit i of its node number is coordinate i."""
    if pattern == "uniform":
        return pattern
    sides = network.grid.sides
    k, n, d = sides[0], network.node_count, len(sides)
    digits = np.array(np.unravel_index(np.arange(n), sides))
    number = sum(digits[i] * k**i for i in range(d))
    bits = n.bit_length() - 1
    half = bits // 2
    if pattern == "transpose":
        to = (number >> half) | ((number & ((1 << half) - 1)) << half)
    elif pattern == "bitcomp":
        to = ~number & (n - 1)
    elif pattern == "bitrev":
        to = sum((number >> b & 1) << (bits - 1 - b) for b in range(bits))
    elif pattern == "tornado":
        to = sum((digits[i] + (k + 1) // 2 - 1) % k * k**i for i in range(d))
    elif pattern == "neighbor":
        to = sum((digits[i] + 1) % k * k**i for i in range(d))
    elif pattern == "shuffle":
        to = (number << 1 & (n - 1)) | (number >> (bits - 1))
    else:
        raise SystemExit(f"unknown pattern {pattern}")
    return np.ravel_multi_index([to // k**i % k for i in range(d)], sides)


def simulated(point: dict[str, str], measured: int = 60_000, seed: int = 0) -> TrafficRun:
    """The run of a point of the table."""
    network = gossamer.network(point["network"])
    routers = Routers.preset(
        "booksim",
        virtual_channels=int(point.get("virtual_channels") or 4),
        buffer_depth=int(point.get("buffer_depth") or 8),
        routing_delay=int(point.get("routing_delay") or 0),
    )
    settings = TrafficSettings(
        message_flits=int(point["flits"]), routers=routers, warmup=10_000, measured=measured, seed=seed
    )
    return simulate_traffic(network, destinations(network, point["pattern"]), float(point["load"]), settings=settings)


def main(path: Path) -> None:
    """Print a line for each point and the errors of all."""
    errors, overload = [], []
    began = time.process_time()
    print("network     pattern    flits  load    V  B  t_r  BookSim   here      difference")
    for point in csv.DictReader(path.open(encoding="utf-8")):
        run = simulated(point)
        latency = point.get("mean_latency") or ""
        there, here = float(latency or point["accepted"]), run.throughput
        if latency:
            here = run.latency
        (errors if latency else overload).append(here / there - 1)
        v, b, t = (point.get(k) or d for k, d in (("virtual_channels", 4), ("buffer_depth", 8), ("routing_delay", 0)))
        name = f"{point['network']:<11} {point['pattern']:<10} {point['flits']:>5}  {point['load']:<7}"
        unit = "" if latency else "  accepted in overload"
        print(
            f"{name} {v:>1}  {b:>1}  {t:>3}  {there:<9.5g} {here:<9.5g} {100 * (here / there - 1):+6.2f} %{unit}",
            flush=True,
        )
    size = np.abs(errors)
    print(
        f"\nlatency at {size.size} points: mean error {100 * size.mean():.2f} % (limit {100 * MEAN_LIMIT:.0f} %), ",
        end="",
    )
    print(f"largest {100 * size.max():.2f} % (limit {100 * LARGEST_LIMIT:.0f} %)")
    if overload:
        largest = 100 * np.abs(overload).max()
        print(f"overload at {len(overload)} points: largest {largest:.2f} % (limit {100 * THROUGHPUT_LIMIT:.0f} %)")
    print(f"{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else POINTS)
