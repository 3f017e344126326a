"""Schedules in other tools' formats: one table of formats, a file for each, all on the program or the timeline."""

from __future__ import annotations

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.registry import FORMATS, MESSAGE_BYTES, export, import_schedule

__all__ = ["FORMATS", "MESSAGE_BYTES", "Format", "Plan", "export", "import_schedule"]
