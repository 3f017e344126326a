"""The exact least time of a task on a tiny network, by constraint programming."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gossamer import Network, Rules, Schedule
from gossamer.questions.tasks import COMBINE, COPY, MOVE, Task


class UndecidedError(Exception):
    """The solver found no answer within its limit."""


def schedule_within(network: Network, task: Task, model: Rules, slots: int, parts: int = 1) -> Schedule | None:
    """A valid schedule of at most so many slots, or None if there is none. The limit is of work, not of time."""
    from ortools.sat.python import cp_model

    messages = task.messages(network)
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    out, into = defaultdict(list), defaultdict(list)
    for e, (u, v) in enumerate(ends):
        out[u].append(e)
        into[v].append(e)
    m = cp_model.CpModel()
    packets = messages.count * parts
    x = {(t, e, p): m.new_bool_var("") for t in range(slots) for e in range(len(ends)) for p in range(packets)}

    def total(times: Iterable[int], links: Iterable[int], p: int) -> object:
        links = list(links)
        return sum(x[t, e, p] for t in times for e in links)

    for t in range(slots):
        for e in range(len(ends)):
            m.add(sum(x[t, e, p] for p in range(packets)) <= int(network.link_capacity[e]))
        for v in range(network.node_count):
            if model.send_limited:
                m.add(sum(x[t, e, p] for e in out[v] for p in range(packets)) <= 1)
            if model.receive_limited:
                m.add(sum(x[t, e, p] for e in into[v] for p in range(packets)) <= 1)
    everywhere = range(network.terminal_count)
    for p in range(packets):
        row = p // parts
        origin, kind = int(messages.origin[row]), messages.discipline[row]
        targets = everywhere
        if messages.target_start is not None:
            targets = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
        for v in range(network.node_count):
            if kind == MOVE:
                # the packet is at v whenever it came in more often than it left
                for t in range(slots):
                    held = (v == origin) + total(range(t), into[v], p) - total(range(t), out[v], p)
                    m.add(total([t], out[v], p) <= held)
                m.add(
                    (v == origin) + total(range(slots), into[v], p) - total(range(slots), out[v], p) == (v in targets)
                )
            elif kind == COPY:
                m.add(total(range(slots), into[v], p) <= int(v != origin))
                if v in targets and v != origin:
                    m.add(total(range(slots), into[v], p) == 1)
                for t in range(slots):
                    for e in out[v]:
                        m.add(x[t, e, p] <= (v == origin) + total(range(t), into[v], p))
            elif kind == COMBINE:
                sends = total(range(slots), out[v], p)
                if v == origin:
                    m.add(sends == 0)
                    continue
                m.add(sends == 1 if v < network.terminal_count else sends <= 1)
                for t in range(slots):
                    for e in into[v]:
                        m.add(x[t, e, p] <= total(range(t + 1, slots), out[v], p))
                    for e in out[v] if v >= network.terminal_count else ():
                        m.add(x[t, e, p] <= total(range(t), into[v], p))
    if messages.after is not None:
        every = range(len(ends))
        for row, before in enumerate(messages.after.tolist()):
            for t in range(slots) if before >= 0 else ():
                busy = m.new_bool_var("")  # what comes first is not complete before slot t
                for p in range(before * parts, (before + 1) * parts):
                    for s in range(t, slots):
                        m.add(total([s], every, p) <= busy * network.link_count)
                for p in range(row * parts, (row + 1) * parts):
                    m.add(total([t], every, p) <= (1 - busy) * network.link_count)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 0.5
    status = solver.solve(m)
    if status == cp_model.INFEASIBLE:
        return None
    if status == cp_model.UNKNOWN:
        raise UndecidedError
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    hops = sorted(key for key, used in x.items() if solver.value(used))
    columns = list(zip(*hops, strict=True)) or [[], [], []]
    return Schedule(network, task, model, *columns, parts=parts)
