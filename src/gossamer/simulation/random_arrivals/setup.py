"""What every run of a simulation has in common, and whether it can be simulated at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.arrivals import Arrivals, OnOff, Trace
from gossamer.simulation.random_arrivals.machine import Tables
from gossamer.simulation.random_arrivals.settings import MOST_STEPS, Settings

__all__ = ["MOST_TRANSMISSIONS", "Setup"]

MOST_TRANSMISSIONS = 10**12
"""What is simulated at most: about a day on one core."""
MOST_TURNS = 10**7
"""Times at most that a node goes on or off."""


@dataclass(frozen=True)
class Setup:
    """What every run of a simulation has in common.

    Attributes
    ----------
    tables : Tables
        The scheme, prepared for its rules.
    settings : Settings
        How it is simulated.
    rate : float
        Broadcasts per generating node and step.
    count, lead : int
        Broadcasts measured, and broadcasts before them.
    """

    tables: Tables
    settings: Settings
    rate: float
    count: int
    lead: int

    @classmethod
    def of(cls, tables: Tables, settings: Settings, rate: float, load: float) -> Setup:
        """Find the length of the runs; `load` is the load factor that `rate` makes.

        Raises
        ------
        ModelError
            If more would be simulated than a machine does in about a day, or the time is too long to be exact.
        """
        process = settings.arrivals
        total = rate * tables.scheme.source_nodes.size
        count = _measured(settings, total, load)
        lead = _lead(settings, count, total)
        if not isinstance(process, Trace):
            _check_effort(tables, settings, count + lead, total)
        elif lead >= process.time.size:
            raise ModelError(
                f"the warm-up of {settings.warmup:g} steps is as long as {process.name}, which ends at "
                f"{process.time[-1]:g}"
            )
        else:
            count = min(count, process.time.size - lead)
        return cls(tables, settings, rate, int(count), int(lead))


def _measured(settings: Settings, per_step: float, load: float) -> float:
    """Return how many broadcasts are measured, a whole number where it is not too large."""
    process = settings.arrivals
    if settings.broadcasts is not None:
        return settings.broadcasts
    if settings.steps is not None:
        return max(1, _whole(per_step * settings.steps))
    if isinstance(process, Trace):
        return process.time.size
    least = max(2000, int(180 / (1 - min(load, 0.95)) ** 2))  # a queue forgets in about 1 / (1 - load)^2 services
    return max(least, _whole(per_step * (3000 if load <= 0.7 else 5000 if load <= 0.9 else 9000)))


def _lead(settings: Settings, count: float, per_step: float) -> float:
    """Return how many broadcasts come before the measurement."""
    process, warmup = settings.arrivals, settings.warmup
    if isinstance(warmup, str):
        return 0 if isinstance(process, Trace) else max(1, count // 3)
    if isinstance(process, Trace):
        return int(np.searchsorted(process.time, warmup))
    return _whole(per_step * warmup)


def _whole(number: float) -> float:
    return int(number) if number < 2**62 else number


def _check_effort(tables: Tables, settings: Settings, broadcasts: float, per_step: float) -> None:
    """Say how much would be simulated, and refuse what would not end."""
    probability = tables.scheme.probability
    each = float((tables.total * probability).sum(axis=1).mean())
    transmissions = broadcasts * each * settings.replications
    if transmissions > MOST_TRANSMISSIONS:
        raise ModelError(
            f"about {transmissions:.2g} transmissions would be simulated, of at most {MOST_TRANSMISSIONS:.0e}, which "
            "take about a day; choose fewer steps, broadcasts or replications"
        )
    steps = broadcasts / per_step
    if steps > MOST_STEPS:
        raise ModelError(
            f"about {steps:.2g} steps would be simulated for {broadcasts:,.0f} broadcasts, of at most "
            f"{MOST_STEPS:.0e}, up to which times are exact; choose a higher load or fewer broadcasts"
        )
    _check_turns(settings.arrivals, steps)


def _check_turns(process: Arrivals, steps: float) -> None:
    if isinstance(process, OnOff) and process.turns(steps) > MOST_TURNS:
        raise ModelError(
            f"each node would go on and off {process.turns(steps):.2g} times in {steps:,.0f} steps, of at most "
            f"{MOST_TURNS:.0e} times; choose longer mean times than {process.on:g} and {process.off:g} steps"
        )
