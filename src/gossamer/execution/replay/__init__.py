"""Schedules replayed in models of machines: LogGP, and SimGrid where it is installed."""

from __future__ import annotations

from gossamer.execution.replay.loggp import loggp_time
from gossamer.execution.replay.replays import MODELS, Replay, replay
from gossamer.execution.replay.smpi import smpi_own_times, smpi_time

__all__ = ["MODELS", "Replay", "loggp_time", "replay", "smpi_own_times", "smpi_time"]
