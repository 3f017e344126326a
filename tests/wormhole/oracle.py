"""The exact least time of wormhole messages on a tiny network, by constraint programming."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from gossamer.schedules.wormhole.schedule import WormholeCase


class UndecidedError(Exception):
    """The solver found no answer within its limit."""


def ways(case: WormholeCase) -> list[tuple[int, int, list[int]]]:
    """Source, target and channels of every message that the checker allows."""
    channels, found = case.channels, []
    if channels.on_grid:
        moves = [range(1 - s, s) for s in channels.sides]
        for u, move in product(range(case.network.node_count), product(*moves)):
            at = channels.coordinates(u) + np.array(move)
            inside = all(w or 0 <= x < s for x, s, w in zip(at, channels.sides, channels.wraps, strict=True))
            if any(move) and inside and int(channels.target(u, move)) != u:
                found.append((u, int(channels.target(u, move)), channels.paths([u], [move])[1].tolist()))
        return found
    for u, v in product(range(case.network.terminal_count), repeat=2):
        if u != v and channels.distances[u, v] > 0:
            found.append((u, v, channels.paths([u], [[v - u]])[1].tolist()))
    return found


def least_time(case: WormholeCase, steps: int, pieces: int = 1, work: float = 60.0) -> Fraction:
    """The least time of at most so many steps with messages cut into equal pieces; UndecidedError if it is not proved.

    Messages may carry several pieces; a step lasts as long as its longest message. `work` is of the solver's clock
    that does not depend on the machine.
    """
    from ortools.sat.python import cp_model

    messages, cost, n = case.messages, case.cost, case.network.node_count
    assert cost.message_bytes % pieces == 0
    m, paths = cp_model.CpModel(), ways(case)
    count = messages.count * pieces
    send_one, receive_one = case.rules.send_limited, case.rules.receive_limited
    has = {}
    for p, v in product(range(count), range(n)):
        has[0, p, v] = int(messages.origin[p // pieces] == v)
    begins, lengths = [], []
    for t in range(steps):
        used = [m.new_bool_var("") for _ in paths]
        carries = {(k, p): m.new_bool_var("") for k in range(len(paths)) for p in range(count)}
        length, begin = m.new_int_var(0, count, ""), m.new_bool_var("")
        begins.append(begin)
        lengths.append(length)
        at, out, into, arriving = defaultdict(list), defaultdict(list), defaultdict(list), defaultdict(list)
        for k, (u, v, crossed) in enumerate(paths):
            for c in crossed:
                at[c].append(used[k])
            out[u].append(used[k])
            into[v].append(used[k])
            m.add(length >= sum(carries[k, p] for p in range(count)))
            m.add_implication(used[k], begin)
            for p in range(count):
                m.add_implication(carries[k, p], used[k])
                m.add(carries[k, p] <= has[t, p, u])
                arriving[p, v].append(carries[k, p])
        for groups, limited in ((at, True), (out, send_one), (into, receive_one)):
            if limited:
                for some in groups.values():
                    m.add_at_most_one(some)
        for p, v in product(range(count), range(n)):
            has[t + 1, p, v] = m.new_bool_var("")
            m.add(has[t + 1, p, v] <= has[t, p, v] + sum(arriving[p, v]))
    for first, second in pairwise(begins):  # empty steps stand last
        m.add_implication(second, first)
    for p in range(count):
        row = p // pieces
        targets = range(case.network.terminal_count)
        if messages.target_start is not None:
            targets = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
        for v in targets:
            m.add(has[steps, p, v] == 1)
    each = cost.message_bytes // pieces * cost.per_byte
    return _least(m, begins, lengths, cost.startup, each, work)


def _least(m: Any, begins: list[Any], lengths: list[Any], startup: Fraction, each: Fraction, work: float) -> Fraction:
    """The least time of a model: start-ups of the steps that begin, and so much for each piece of their lengths."""
    from ortools.sat.python import cp_model

    scale = startup.denominator * each.denominator
    m.minimize(int(startup * scale) * sum(begins) + int(each * scale) * sum(lengths))
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = work
    solver.parameters.num_workers = 1
    status = solver.solve(m)
    if status != cp_model.OPTIMAL:
        raise UndecidedError(solver.status_name(status))
    return Fraction(round(solver.objective_value), scale)


def least_allreduce_time(case: WormholeCase, steps: int, work: float = 60.0) -> Fraction:
    """The least time of at most so many steps in which all blocks are reduced, each at its node, and sent to all."""
    from ortools.sat.python import cp_model

    cost, n = case.cost, case.network.node_count
    m, paths = cp_model.CpModel(), ways(case)
    begins = [m.new_bool_var("") for _ in range(steps)]
    lengths = [m.new_int_var(0, 2 * n, "") for _ in range(steps)]
    has = {(t, b, v): m.new_bool_var("") for t in range(steps + 1) for b in range(n) for v in range(n)}
    came, left = defaultdict(list), defaultdict(list)  # contributions, by step, block and node
    for t in range(steps):
        used = [m.new_bool_var("") for _ in paths]
        at, arriving = defaultdict(list), defaultdict(list)
        for k, (u, v, crossed) in enumerate(paths):
            for c in crossed:
                at[c].append(used[k])
            m.add_implication(used[k], begins[t])
            carried = []
            for b in range(n):
                summand, copy = m.new_bool_var(""), m.new_bool_var("")
                carried += [summand, copy]
                came[t, b, v].append(summand)
                left[t, b, u].append(summand)
                m.add_implication(copy, has[t, b, u])
                arriving[b, v].append(copy)
            m.add(sum(carried) <= 2 * n * used[k])
            m.add(lengths[t] >= sum(carried))
        for some in at.values():
            m.add_at_most_one(some)
        for b, v in product(range(n), repeat=2):
            if v != b:
                m.add(has[t + 1, b, v] <= has[t, b, v] + sum(arriving[b, v]))
    for first, second in pairwise(begins):
        m.add_implication(second, first)
    for b, v in product(range(n), repeat=2):
        m.add(sum(x for t in range(steps) for x in left[t, b, v]) == int(v != b))
        m.add(has[steps, b, v] == 1)
        if v != b:
            m.add(has[0, b, v] == 0)
        for t in range(steps):  # nothing comes once the sum has left
            gone = has[t, b, v] if v == b else sum(left[t, b, v])
            for later in range(t, steps):
                for x in came[later, b, v]:
                    m.add(gone + x <= 1)
    each = cost.message_bytes * cost.per_byte
    return _least(m, begins, lengths, cost.startup, each, work)
