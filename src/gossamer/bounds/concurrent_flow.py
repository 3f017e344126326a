"""The bound of concurrent flow for exchanges, from linear programming, with a proof that can be checked by hand.

If all messages flow at once, split at will, the most loaded link needs at least z slots, and no schedule is faster. The
least z is a linear program with one flow for each active node. Its dual gives every link a length; whatever the lengths
are, messages have to travel the sum of their distances, and all links together offer the sum of their lengths in each
slot. So the solver only proposes lengths. They are rounded to whole numbers, and the bound is worked out from these
in exact arithmetic. Where the program is too large, lengths come from a search for balanced routes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gossamer.bounds.arrivals import takes_time
from gossamer.bounds.bound import Bound
from gossamer.bounds.prices import (
    Floats,
    Flows,
    Price,
    Resources,
    balanced_prices,
    best_price,
    flows_of,
    resources_of,
)
from gossamer.cases import Case
from gossamer.tasks import Chunked, PartialExchange, PartialGather, TotalExchange
from gossamer.writing import quantity

__all__ = ["MAX_VARIABLES", "MAX_WORK", "concurrent_flow_bounds"]

MAX_VARIABLES = 26_000
"""The most flows over links, one for each active node and link, for which the linear program is solved (seconds)."""

MAX_SEARCHED = 6_000
"""The same where prices can be balanced instead: those networks have no closed forms that make the program easy."""

MAX_WORK = 80_000_000
"""The most looks at links that one search from every active node may take, where prices are balanced instead."""


def concurrent_flow_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of concurrent flow for messages that are moved, between more than one node and more than one."""
    net = case.network
    known = net.group is not None or net.levels is not None or net.grid is not None
    searched = not known or takes_time(case)
    uneven = case.invariant and net.group is not None and not net.group.abelian  # its generators may differ in load
    if net.link_count > (MAX_WORK if searched or uneven else MAX_VARIABLES):
        return  # even from one node
    flows = flows_of(case)
    if flows is None:
        return
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    exchange = isinstance(task, PartialExchange | PartialGather | TotalExchange)
    several = case.invariant or (flows.source.size > 1 and np.unique(flows.target).size > 1)
    variables = flows.source.size * net.link_count
    solved = exchange and variables <= (MAX_SEARCHED if searched and several else MAX_VARIABLES)
    if not solved and not ((searched or uneven) and several and flows.work <= MAX_WORK):
        return
    resources = resources_of(case, flows)
    proposed = [_prices(case, flows, resources)] if solved else balanced_prices(flows, resources)
    best = best_price(case, flows, resources, proposed)
    if best is not None:
        yield _bound(case, flows, best)


def _prices(case: Case, flows: Flows, resources: Resources) -> Floats:
    """Solve the linear program and return the dual price of each resource."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    tail, head = flows.links.source, flows.links.target
    n, links, count, sources = flows.links.node_count, tail.size, resources.capacity.size, flows.source.size
    width = sources * links + 1  # the last variable is z
    variable = np.arange(sources * links).reshape(sources, links)
    node = np.arange(sources)[:, None] * n
    balance: Any = sparse.csr_array(
        (
            np.repeat([1.0, -1.0], variable.size),
            (np.concatenate([(node + head).reshape(-1), (node + tail).reshape(-1)]), np.tile(variable.reshape(-1), 2)),
        ),
        shape=(sources * n, width),
    )
    users = np.concatenate([np.tile(kind, sources) for kind in resources.use])
    held = np.concatenate([np.tile(slots.astype(np.float64), sources) for slots in resources.slots])
    use: Any = sparse.csr_array(
        (
            np.concatenate([held, -resources.capacity.astype(float)]),
            (
                np.concatenate([users, np.arange(count)]),
                np.concatenate([np.tile(variable.reshape(-1), len(resources.use)), np.full(count, width - 1)]),
            ),
        ),
        shape=(count, width),
    )
    wanted = np.zeros((sources, n))
    for i in range(sources):
        row = i if flows.row.size > 2 else 0
        mine = slice(int(flows.row[row]), int(flows.row[row + 1]))
        wanted[i, flows.target[mine]] = flows.amount[mine]
        wanted[i, flows.source[i]] = 0
        wanted[i, flows.source[i]] = -wanted[i].sum()
    cost = np.zeros(width)
    cost[-1] = 1.0
    found = linprog(cost, A_ub=use, b_ub=np.zeros(count), A_eq=balance, b_eq=wanted.reshape(-1), method="highs-ipm")
    if found.status != 0:
        return np.zeros(count)
    return np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)


def _bound(case: Case, flows: Flows, found: Price) -> Bound:
    net, length = case.network, np.zeros(case.network.link_count, np.int64)
    length[flows.links.number] = found.price
    long = np.flatnonzero(length == length.max())
    names = ", ".join(net.link_name(int(e)) for e in long[:3]) + (", ..." if long.size > 3 else "")
    most = int(length.max())
    lengths = f"of length {most}" if np.all((length == 0) | (length == most)) else f"of lengths up to {most:,}"
    where = "from each node " if case.invariant else ""
    text = (
        f"{quantity(int(np.count_nonzero(length)), 'link')} {lengths} (longest: {names}) offer {found.offered:,} a step"
        f"{' and node' if case.invariant else ''}; all messages {where}have {found.needed:,} to travel"
    )
    if not net.plain:
        text += ", each link as often as its occupancy" + ("" if net.shared_ports is None else ", ports included")
    source = "gossamer: linear programming duality of concurrent flows"
    return Bound("concurrent flow", found.time, text, "load", source)
