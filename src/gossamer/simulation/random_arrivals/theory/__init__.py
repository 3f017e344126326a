"""Theory beside simulation: loads, limits of stability, waits in queues, estimates and lower bounds of delays."""

from __future__ import annotations

from gossamer.simulation.random_arrivals.theory.bounds import (
    DelayBound,
    DelayEstimate,
    best_bound,
    class_loads,
    delay_bounds,
    delay_estimate,
    in_flight_bound,
)
from gossamer.simulation.random_arrivals.theory.loads import (
    LinkLoads,
    StabilityLimit,
    eccentricity_mean,
    link_loads,
    load_factor,
    mean_distance,
    rate_of,
    stability_limit,
)
from gossamer.simulation.random_arrivals.theory.queues import (
    PreparedScheme,
    head_of_line_waits,
    many_server_wait,
    one_queue_wait,
    printed_waits,
)

__all__ = [
    "DelayBound",
    "DelayEstimate",
    "LinkLoads",
    "PreparedScheme",
    "StabilityLimit",
    "best_bound",
    "class_loads",
    "delay_bounds",
    "delay_estimate",
    "eccentricity_mean",
    "head_of_line_waits",
    "in_flight_bound",
    "link_loads",
    "load_factor",
    "many_server_wait",
    "mean_distance",
    "one_queue_wait",
    "printed_waits",
    "rate_of",
    "stability_limit",
]
