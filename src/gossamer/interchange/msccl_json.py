"""The JSON of msccl-tools: an algorithm as steps of sends ``[chunk, source, destination]``.

Chunks are messages in parts, numbered as the collective's output: ``origin`` in an allgather, ``destination*n +
origin`` in an alltoall, times parts plus the part. There are no reductions in this form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText
from gossamer.programs.layout import plain_task
from gossamer.questions.tasks import Broadcast, Gather, MultinodeBroadcast, Scatter, TotalExchange
from gossamer.schedules import Schedule

__all__ = ["MSCCL_JSON"]

_NAMES = {
    MultinodeBroadcast: ("Allgather", "allgather"),
    TotalExchange: ("Alltoall", "alltoall"),
    Broadcast: ("Broadcast", "broadcast"),
    Scatter: ("Scatter", "scatter"),
    Gather: ("Gather", "gather"),
}
_SENDS = RowText("[{0},{1},{2}],")


def _limits(plan: Plan) -> Iterator[str]:
    schedule = plan.schedule
    if type(plain_task(schedule.task)) not in _NAMES:
        known = ", ".join(kind.name for kind in _NAMES)
        yield f"the JSON of msccl-tools holds {known}; not {schedule.task.name}"
    if schedule.network.terminal_count < schedule.network.node_count:
        yield f"in the JSON of msccl-tools every node is a rank; {schedule.network.spec} has switches"
    if not schedule.network.plain:
        yield f"in the JSON of msccl-tools a link takes one step; {schedule.network.spec} has links of several times"


def _chunks(schedule: Schedule, message: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the chunks of messages, before parts."""
    n = schedule.network.terminal_count
    if isinstance(plain_task(schedule.task), TotalExchange):
        return message % n * n + message // n
    return message if not isinstance(plain_task(schedule.task), Broadcast) else 0 * message


def _collective(schedule: Schedule, parts: int) -> list[tuple[list[int], list[int], int]]:
    """Return who holds and who needs each chunk, and its address, in the order of addresses."""
    task, n = plain_task(schedule.task), schedule.network.terminal_count
    everyone = list(range(n))
    if isinstance(task, TotalExchange):
        found = [([u], [v], v * n + u) for v in everyone for u in everyone]
    elif isinstance(task, Broadcast):
        found = [([task.root], everyone, 0)]
    elif isinstance(task, Scatter):
        found = [([task.root], [v], v) for v in everyone]
    elif isinstance(task, Gather):
        found = [([v], [task.root], v) for v in everyone]
    else:
        found = [([u], everyone, u) for u in everyone]
    return [(pre, post, c * parts + part) for pre, post, c in found for part in range(parts)]


def _write(plan: Plan, path: Path) -> None:
    schedule, rows = plan.schedule, plan.timeline
    network, n = schedule.network, schedule.network.node_count
    title, runtime_name = _NAMES[type(plain_task(schedule.task))]
    chunks = _collective(schedule, plan.parts)
    holds: dict[int, list[int]] = {v: [] for v in range(n)}
    needs: dict[int, list[int]] = {v: [] for v in range(n)}
    for pre, post, address in chunks:
        for held, nodes in ((holds, pre), (needs, post)):
            for v in nodes:
                held[v].append(address)
    links = [[0] * n for _ in range(n)]
    for u, v, c in zip(network.link_source, network.link_target, network.link_capacity, strict=True):
        links[int(v)][int(u)] = int(c)
    instance = {
        "msccl_type": "instance", "steps": schedule.slot_count, "extra_rounds": 0, "chunks": plan.parts,
        "pipeline": None, "extra_memory": None, "allow_exchange": False,
    }  # fmt: skip
    kinds = [{"msccl_type": "chunk", "pre": pre, "post": post, "addr": address} for pre, post, address in chunks]
    collective = {
        "msccl_type": "collective", "name": f"{title}(n={n})", "nodes": n, "chunks": kinds, "triggers": {},
        "runtime_name": runtime_name,
    }  # fmt: skip
    head = {
        "msccl_type": "algorithm", "name": f"{schedule.algorithm or 'schedule'}-{network.spec}", "instance": instance,
        "input_map": holds, "output_map": needs, "collective": collective,
        "topology": {"msccl_type": "topology", "name": network.spec, "switches": [], "links": links},
    }  # fmt: skip
    data = rows.message >= 0
    chunk = _chunks(schedule, rows.message) * plan.parts + rows.part
    first = np.searchsorted(rows.start, np.unique(rows.start))
    with path.open("wb") as file:
        file.write(json.dumps(head).encode()[:-1] + b', "steps": [')
        for i, (a, b) in enumerate(zip(first, np.append(first[1:], rows.count), strict=True)):
            mine = np.flatnonzero(data[a:b]) + a
            text = b"".join(_SENDS.rows(0, [chunk[mine], rows.source[mine], rows.target[mine]]))
            file.write(b",\n" * (i > 0) + b'{"msccl_type": "step", "rounds": 1, "sends": [' + text[:-1] + b"]}")
        file.write(b"]}\n")


MSCCL_JSON = Format("msccl-json", "JSON of msccl-tools, for tasks without reductions", _write, _limits)
