"""The formats that schedules are written in."""

from __future__ import annotations

from gossamer.interchange.c_program import C
from gossamer.interchange.chakra import CHAKRA
from gossamer.interchange.csv_rows import CSV
from gossamer.interchange.format import Format
from gossamer.interchange.goal import GOAL
from gossamer.interchange.json_rows import JSON
from gossamer.interchange.msccl_json import MSCCL_JSON
from gossamer.interchange.msccl_xml import MSCCL_XML
from gossamer.interchange.mscclpp import MSCCLPP
from gossamer.interchange.perfetto import PERFETTO
from gossamer.interchange.program_file import PROGRAM
from gossamer.interchange.smpi import SMPI

__all__ = ["FORMATS"]

FORMATS: dict[str, Format] = {
    f.name: f for f in (SMPI, GOAL, CHAKRA, MSCCL_XML, MSCCL_JSON, MSCCLPP, PERFETTO, C, PROGRAM, CSV, JSON)
}
"""Every format by its name."""
