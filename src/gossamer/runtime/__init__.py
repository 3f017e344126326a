"""Schedules replayed in models of machines: LogGP, and SimGrid where it is installed."""

from __future__ import annotations

from gossamer.runtime.loggp import loggp_time
from gossamer.runtime.replays import MODELS, Replay, replay
from gossamer.runtime.smpi import smpi_own_times, smpi_time

__all__ = ["MODELS", "Replay", "loggp_time", "replay", "smpi_own_times", "smpi_time"]
