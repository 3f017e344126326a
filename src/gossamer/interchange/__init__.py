"""Schedules in other tools' formats: one table of formats, a file for each, all on the program or the timeline."""

from __future__ import annotations

from gossamer.interchange.exporting import MESSAGE_BYTES, export
from gossamer.interchange.format import Format, Plan
from gossamer.interchange.importing import import_schedule
from gossamer.interchange.table import FORMATS

__all__ = ["FORMATS", "MESSAGE_BYTES", "Format", "Plan", "export", "import_schedule"]
