"""The timeline in the trace-event format that Perfetto and browsers' tracing pages show.

There is a process for each node that sends, a thread for each of its links, and a slice for each block that crosses it.
A tick is shown as a microsecond.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy.typing as npt

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText

__all__ = ["PERFETTO"]

_SLICES = RowText(
    ',\n{"ph":"X","name":"message {0} part {1}","cat":"data","ts":{2},"dur":{3},"pid":{4},"tid":{5},'
    '"args":{"message":{0},"part":{1},"target":{5}}}',
    ',\n{"ph":"X","name":"control","cat":"control","ts":{2},"dur":{3},"pid":{4},"tid":{5}}',
)


def _write(plan: Plan, path: Path) -> None:
    network, rows = plan.schedule.network, plan.timeline
    told = {
        "network": network.spec,
        "task": plan.schedule.task.describe(),
        "algorithm": plan.schedule.algorithm,
        "tick in steps": str(rows.tick),
    }
    with path.open("wb") as file:
        file.write(b'{"displayTimeUnit":"ns","otherData":' + json.dumps(told).encode() + b',"traceEvents":[\n')
        file.write(b'{"ph":"M","name":"trace_name","pid":0}')
        for v in range(network.node_count):
            name = json.dumps({"name": network.node_name(v)})
            file.write(f',\n{{"ph":"M","name":"process_name","pid":{v},"args":{name}}}'.encode())
        columns: list[npt.NDArray[Any]] = [
            rows.message,
            rows.part,
            rows.start,
            rows.end - rows.start,
            rows.source,
            rows.target,
        ]
        for text in _SLICES.rows(rows.message < 0, columns):
            file.write(text)
        file.write(b"\n]}\n")


PERFETTO = Format("perfetto", "the timeline as trace events for ui.perfetto.dev", _write)
