"""Broadcast requests that arrive at random: schemes, priority queues and delays."""

from __future__ import annotations

from gossamer.dynamic.arrivals import Arrivals, Bernoulli, OnOff, Poisson, Trace
from gossamer.dynamic.parents import scheme_from_parents
from gossamer.dynamic.recording import Recording, record
from gossamer.dynamic.result import Result
from gossamer.dynamic.scheme import Scheme
from gossamer.dynamic.settings import Settings
from gossamer.dynamic.simulator import simulate
from gossamer.dynamic.statistics import Estimate, Histogram

__all__ = [
    "Arrivals",
    "Bernoulli",
    "Estimate",
    "Histogram",
    "OnOff",
    "Poisson",
    "Recording",
    "Result",
    "Scheme",
    "Settings",
    "Trace",
    "record",
    "scheme_from_parents",
    "simulate",
]
