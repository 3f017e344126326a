"""Broadcast requests that arrive at random: schemes, priority queues and delays."""

from __future__ import annotations

from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess, Bernoulli, OnOff, Poisson, Trace
from gossamer.simulation.random_arrivals.recording import Recording, record
from gossamer.simulation.random_arrivals.scheme import Scheme, scheme_from_parents
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.statistics import ConfidenceInterval, Histogram, Result

__all__ = [
    "ArrivalProcess",
    "Bernoulli",
    "ConfidenceInterval",
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
