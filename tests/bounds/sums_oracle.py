"""The exact least time of reductions by partial sums on a tiny network, by constraint programming over sets."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from bounds.oracle import UndecidedError
from gossamer import Network, Rules, Schedule
from gossamer.bounds.allreduce_any_form import sums_of
from gossamer.questions.tasks import Chunked, Reduce, ReduceScatter, Task


def packets_of(network: Network, task: Task) -> list[tuple[list[int], list[int]]]:
    """Who contributes to each packet of a task, and who must end with the sum."""
    times = task.packets if isinstance(task, Chunked) else 1
    inner = task.task if isinstance(task, Chunked) else task
    everybody = list(range(network.terminal_count))
    if isinstance(inner, Reduce):
        return [(everybody, [inner.root])] * times
    if isinstance(inner, ReduceScatter):
        return [(everybody, [root]) for root in everybody for _ in range(times)]
    return [(each.members.tolist(),) * 2 for each in sums_of(network, task) for _ in range(each.packets)]


def sums_within(network: Network, task: Task, rules: Rules, slots: int, work: float = 30.0) -> Schedule | None:
    """A schedule of at most so many slots, or None if there is none; whole packets.

    Of every node, packet and slot there is the set of contributions that it holds. A hop carries the set of its slot.
    What arrives together must be disjoint; together it must be disjoint from what is there, or contain it. A switch
    that may not add passes on what came over a link, once or, where it may copy, as often as one likes and in any
    order: this is more than the checker allows, so that bounds are held against no later times.
    """
    from ortools.sat.python import cp_model

    n, terminals = network.node_count, network.terminal_count
    assert rules.reduction <= rules.replication
    holding = n if rules.reduction else terminals  # nodes that hold sums
    m = cp_model.CpModel()
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    busy, late = network.link_occupancy.tolist(), network.link_latency.tolist()
    rows = packets_of(network, task)
    hop, carried, holds = {}, {}, {}
    for k, (members, _) in enumerate(rows):
        for v, u, t in itertools.product(range(holding), members, range(slots + 1)):
            holds[v, k, u, t] = m.new_bool_var("") if t else int(u == v)
        for e, _ in enumerate(ends):
            for t in range(slots - busy[e] - late[e] + 1):
                hop[e, k, t] = m.new_bool_var("")
                for u in members:
                    carried[e, k, t, u] = m.new_bool_var("")
    arrivals = defaultdict(list)
    for e, k, t in hop:
        arrivals[ends[e][1], k, t + busy[e] + late[e]].append((e, k, t))
    passed = defaultdict(list)
    for (e, k, t), x in hop.items():
        members, source = rows[k][0], ends[e][0]
        for u in members:  # what is sent is what is there
            m.add(carried[e, k, t, u] <= x)
            if source < holding:
                m.add(carried[e, k, t, u] <= holds[source, k, u, t])
                m.add(carried[e, k, t, u] >= x + holds[source, k, u, t] - 1)
        m.add(sum(carried[e, k, t, u] for u in members) >= x)
        if source >= holding:
            before = [a for since in range(t + 1) for a in arrivals[source, k, since]]
            choice = {a: m.new_bool_var("") for a in before}
            m.add(sum(choice.values()) == x)
            for a, chosen in choice.items():
                m.add(chosen <= hop[a])
                passed[a].append(chosen)
                for u in members:
                    m.add(carried[e, k, t, u] == carried[(*a, u)]).only_enforce_if(chosen)
    for several in passed.values() if not rules.replication else ():
        m.add(sum(several) <= 1)
    for k, (members, targets) in enumerate(rows):
        for v, t in itertools.product(range(holding), range(1, slots + 1)):
            coming = arrivals[v, k, t]
            if not coming:
                for u in members:
                    m.add(holds[v, k, u, t] == holds[v, k, u, t - 1])
                continue
            apart, some = m.new_bool_var(""), m.new_bool_var("")  # disjoint from what is there; anything comes
            m.add(sum(hop[a] for a in coming) >= 1).only_enforce_if(some)
            m.add(sum(hop[a] for a in coming) == 0).only_enforce_if(some.Not())
            for u in members:
                before, after, total = holds[v, k, u, t - 1], holds[v, k, u, t], sum(carried[(*a, u)] for a in coming)
                m.add(total <= 1)
                m.add(after >= before)
                m.add(after >= total)
                m.add(after <= before + total)
                m.add(total + before <= 1).only_enforce_if(apart)
                m.add(total >= before).only_enforce_if([apart.Not(), some])
        for v, u in itertools.product(targets, members):
            if u != v:
                m.add(holds[v, k, u, slots] == 1)
    for s in range(slots):
        using = defaultdict(list)
        for (e, _, t), x in hop.items():
            if t <= s < t + busy[e]:
                using["link", e].append(x)
                if rules.send_limited:
                    using["send", ends[e][0]].append(x)
            if rules.receive_limited and t <= s - late[e] < t + busy[e]:
                using["receive", ends[e][1]].append(x)
        for (kind, e), several in using.items():
            limit = int(network.link_capacity[e]) if kind == "link" and rules.ports == "all" else 1
            m.add(sum(several) <= limit)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = work
    status = solver.solve(m)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise UndecidedError
    found = sorted((t, e, k) for (e, k, t), x in hop.items() if solver.value(x))
    slot, link, packet = np.array(found, np.int64).reshape(-1, 3).T
    return Schedule(network, task, rules, slot, link, packet)
