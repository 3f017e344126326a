"""The bound of concurrent flow for exchanges, from linear programming, with a proof that can be checked by hand.

If all messages flow at once, split at will, the most loaded link needs at least z slots, and no schedule is faster. The
least z is a linear program with one flow for each active node. Its dual gives every link a length; whatever the lengths
are, messages have to travel the sum of their distances, and all links together offer the sum of their lengths in each
slot. So the solver only proposes lengths. They are rounded to whole numbers, and the bound is worked out from these
in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.cases.demands import Counts, HubDemand
from gossamer.tasks import PartialExchange, PartialGather, TotalExchange
from gossamer.writing import quantity

__all__ = ["MAX_VARIABLES", "concurrent_flow_bounds"]

MAX_VARIABLES = 26_000
"""The most flows over links, one for each active node and link, for which the linear program is solved (seconds)."""

_LONGEST = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 1000, 1_000_000)
"""The longest links of the roundings that are tried."""


class _Resources(NamedTuple):
    """What links use up: themselves, or the ports of their nodes; a class of them where the case is invariant.

    `use` int64[k, L] lists k resources of each link; `capacity` int64[R] is what each has per slot.
    """

    use: npt.NDArray[np.int64]
    capacity: Counts


def concurrent_flow_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of concurrent flow for a partial or total exchange that is not too large."""
    if not isinstance(case.task, PartialExchange | PartialGather | TotalExchange):
        return
    demand = case.demands[0]
    assert isinstance(demand, HubDemand)
    hubs = case.hubs(demand)
    if hubs.size * case.network.link_count > MAX_VARIABLES:
        return
    tail, head = case.network.link_source, case.network.link_target
    if not demand.outward:
        tail, head = head, tail
    resources = _resources(case)
    price = _prices(case, hubs, tail, head, resources)
    best: tuple[int, int, Counts] = 0, 1, np.zeros(0, np.int64)
    for longest in _LONGEST:
        rounded = np.rint(price / max(price.max(), 1e-300) * longest).astype(np.int64)
        offered = int(rounded @ resources.capacity)
        if not offered:
            continue
        length = rounded[resources.use].sum(axis=0)
        needed = _total_distance(case, hubs, tail, head, length)
        if needed * best[1] > best[0] * offered:
            best = needed, offered, length
    if best[0]:
        yield _bound(case, *best)


def _resources(case: Case) -> _Resources:
    net = case.network
    link, degree = np.arange(net.link_count), max(net.link_count // net.node_count, 1)
    kinds: list[npt.NDArray[Any]] = []
    capacity: list[Counts] = []
    if not case.limited:
        kinds.append(link % degree if case.invariant else link)
        capacity.append(case.link_capacity[: degree if case.invariant else None])
    for limited, ends in ((case.send_limited, net.link_source), (case.receive_limited, net.link_target)):
        if limited:
            kinds.append(np.zeros(link.size, np.int64) if case.invariant else ends)
            capacity.append(np.ones(1 if case.invariant else net.node_count, np.int64))
    before = np.cumsum([0, *(c.size for c in capacity)])
    use = np.stack([kind + start for kind, start in zip(kinds, before[:-1], strict=True)])
    return _Resources(use.astype(np.int64), np.concatenate(capacity).astype(np.int64))


def _prices(
    case: Case, hubs: Counts, tail: npt.NDArray[np.int32], head: npt.NDArray[np.int32], resources: _Resources
) -> npt.NDArray[np.float64]:
    """Solve the linear program and return the dual price of each resource."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    net = case.network
    n, links, count, flows = net.node_count, net.link_count, resources.capacity.size, hubs.size
    width = flows * links + 1  # the last variable is z
    variable = np.arange(flows * links).reshape(flows, links)
    node = np.arange(flows)[:, None] * n
    balance: Any = sparse.csr_array(
        (
            np.repeat([1.0, -1.0], variable.size),
            (np.concatenate([(node + head).reshape(-1), (node + tail).reshape(-1)]), np.tile(variable.reshape(-1), 2)),
        ),
        shape=(flows * n, width),
    )
    users = np.concatenate([np.tile(kind, flows) for kind in resources.use])
    use: Any = sparse.csr_array(
        (
            np.concatenate([np.ones(users.size), -resources.capacity.astype(float)]),
            (
                np.concatenate([users, np.arange(count)]),
                np.concatenate([np.tile(variable.reshape(-1), len(resources.use)), np.full(count, width - 1)]),
            ),
        ),
        shape=(count, width),
    )
    wanted = np.zeros((flows, n))
    wanted[:, : net.terminal_count] = 1.0
    wanted[np.arange(flows), hubs] = 1.0 - net.terminal_count
    cost = np.zeros(width)
    cost[-1] = 1.0
    found = linprog(cost, A_ub=use, b_ub=np.zeros(count), A_eq=balance, b_eq=wanted.reshape(-1), method="highs-ipm")
    if found.status != 0:
        return np.zeros(count)
    return np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)


def _total_distance(
    case: Case, hubs: Counts, tail: npt.NDArray[np.int32], head: npt.NDArray[np.int32], length: Counts
) -> int:
    """Return the sum of the distances between hubs and terminals over links of whole lengths."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import dijkstra

    n = case.network.node_count
    # hops are the lesser unit, so that links of length 0 stay links
    graph = sparse.csr_array(((length * n + 1).astype(np.float64), (tail, head)), shape=(n, n))
    distance = dijkstra(graph, indices=hubs)[:, : case.network.terminal_count]
    return int((distance.astype(np.int64) // n).sum())


def _bound(case: Case, needed: int, offered: int, length: Counts) -> Bound:
    net = case.network
    long = np.flatnonzero(length == length.max())
    names = ", ".join(net.link_name(int(e)) for e in long[:3]) + (", ..." if long.size > 3 else "")
    most = int(length.max())
    lengths = f"of length {most}" if np.all((length == 0) | (length == most)) else f"of lengths up to {most:,}"
    where = "from each node " if case.invariant else ""
    text = (
        f"{quantity(int(np.count_nonzero(length)), 'link')} {lengths} (longest: {names}) offer {offered:,} a step"
        f"{' and node' if case.invariant else ''}; all messages {where}have {needed:,} to travel"
    )
    source = "gossamer: linear programming duality of concurrent flows"
    return Bound("concurrent flow", case.steps(needed, offered), text, "load", source)
