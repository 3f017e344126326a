"""The timeline as a JSON object: what is carried out, and a list for each block that crosses a link."""

from __future__ import annotations

import json
from pathlib import Path

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText

__all__ = ["JSON"]

_NAMES = ("start", "end", "source", "target", "message", "part", "phase")
_ROWS = RowText("[" + ",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "],\n")


def _write(plan: Plan, path: Path) -> None:
    schedule, rows = plan.schedule, plan.timeline
    told = {
        "network": schedule.network.spec,
        "nodes": schedule.network.node_count,
        "task": schedule.task.to_dict(),
        "algorithm": schedule.algorithm,
        "parts": schedule.parts,
        "completion_time": str(schedule.completion_time),
        "tick": str(rows.tick),
        "phases": rows.phases,
        "columns": _NAMES,
    }
    with path.open("wb") as file:
        file.write(json.dumps(told, indent=1).encode()[:-2] + b',\n "rows": [\n')
        held = b""
        for text in _ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(held)
            held = text
        file.write(held[:-2] + b"\n]}\n")  # no comma after the last row


JSON = Format("json", "the timeline as one JSON object with a list for each block on a link", _write)
