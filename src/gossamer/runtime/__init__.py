"""Schedules replayed in models of machines: LogGP, and SimGrid where it is installed."""

from __future__ import annotations

from gossamer.runtime.loggp import loggp_time
from gossamer.runtime.smpi import smpi_time

__all__ = ["loggp_time", "smpi_time"]
