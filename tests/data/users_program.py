"""A program as a user writes it: its types are checked against the installed package, and it runs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import gossamer
from gossamer.networks import Network
from gossamer.schedules import Schedule
from gossamer.simulation.random_arrivals import Result, Scheme, Settings, simulate
from gossamer.verification import Verification


def fastest(networks: list[str], task: str) -> tuple[str, Fraction]:
    """Return the network on which a task takes the least time, and that time."""
    times = {spec: gossamer.plan(spec, task).completion_time for spec in networks}
    best = min(times, key=lambda spec: times[spec])
    return best, times[best]


def kept(path: Path) -> Schedule:
    """Return a schedule that went through a file."""
    found = gossamer.plan("torus:4x4", gossamer.task("allgather"), rules=gossamer.Rules(ports="one"))
    schedule = found.schedule
    assert isinstance(schedule, Schedule)
    schedule.save(path)
    loaded = gossamer.load(path)
    assert isinstance(loaded, Schedule)
    return loaded


def judged(schedule: Schedule) -> str:
    """Return the verdict on a schedule, with its lower bound."""
    verdict: Verification = gossamer.verify(schedule)
    bound = gossamer.lower_bounds(schedule.network, schedule.task, rules=schedule.rules)[0]
    value: Fraction = bound.value
    return f"{'valid' if verdict.ok else 'invalid'}, at least {value}"


def delay(scheme: Scheme, load: float) -> float:
    """Return the median delay of broadcasts at a load."""
    result: Result = simulate(scheme, load=load, settings=Settings(steps=2000, seed=1))
    network: Network = scheme.network
    assert network.node_count == 16
    return float(result.broadcast_delays.quantile(0.5))


if __name__ == "__main__":
    print(fastest(["ring:8", "hypercube:3"], "allgather"), judged(kept(Path("users_program.parquet"))))
