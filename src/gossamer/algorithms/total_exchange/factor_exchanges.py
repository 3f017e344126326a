"""Total exchanges of the factors of a product, as plain columns from which an exchange of the product is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.total_exchange.busiest_first import total_distance
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.tasks import TotalExchange

__all__ = ["FactorExchange", "algorithm_for", "columns_of", "factor_exchange", "factor_steps", "product_reason"]


@dataclass(frozen=True, eq=False)
class FactorExchange:
    """The hops of a total exchange, by slot.

    Attributes
    ----------
    steps : int
        Its completion time.
    slot : int32[H]
        The slot of each hop.
    node, port : int32[H]
        The node from which a hop leaves, and the number of the link among those of the node.
    source, target : int32[H]
        Origin and destination of the packet.
    """

    steps: int
    slot: IntArray
    node: IntArray
    port: IntArray
    source: IntArray
    target: IntArray


def columns_of(schedule: Schedule) -> FactorExchange:
    """Return the columns of an explicit or invariant exchange of whole messages."""
    explicit = schedule.expand() if schedule.invariant else schedule
    network, table, n = explicit.network, explicit.packets, explicit.network.node_count
    node = network.link_source[explicit.link]
    port = (explicit.link - network.first_link[node]).astype(np.int32)
    target: npt.NDArray[np.int64] = table.message[explicit.packet] % n
    return FactorExchange(
        int(explicit.completion_time), explicit.slot, node, port,
        table.origin[explicit.packet], target.astype(np.int32),
    )  # fmt: skip


def algorithm_for(network: Network, model: Model, algorithms: Iterable[Algorithm]) -> Algorithm | None:
    """Return the algorithm with the least time among those that cover the exchange; None if none does.

    Ties go to the earlier one. An algorithm that claims no time, or a bound, is built to learn it.
    """
    task = TotalExchange()
    best: tuple[int, Algorithm] | None = None
    for algorithm in algorithms:
        if not algorithm.covers(network, task, model):
            continue
        claim = algorithm.claim(network, task, model)
        if claim is None or algorithm.claim_is_bound:
            claim = algorithm.build(network, task, model).completion_time
        if best is None or claim < best[0]:
            best = int(claim), algorithm
    return None if best is None else best[1]


@lru_cache(maxsize=32)
def factor_exchange(network: Network, model: Model, algorithms: tuple[Algorithm, ...]) -> FactorExchange:
    """Return the shortest exchange of a factor that the algorithms give.

    `algorithms` must hold one that covers it; see `algorithm_for`.
    """
    algorithm = algorithm_for(network, model, algorithms)
    assert algorithm is not None
    return columns_of(algorithm.build(network, TotalExchange(), model))


@lru_cache(maxsize=128)
def factor_steps(network: Network, model: Model, algorithms: tuple[Algorithm, ...]) -> int:
    """Return the steps of `factor_exchange`, without building it where they are claimed."""
    algorithm = algorithm_for(network, model, algorithms)
    assert algorithm is not None
    claim = algorithm.claim(network, TotalExchange(), model)
    return factor_exchange(network, model, algorithms).steps if claim is None else int(claim)


def product_reason(
    network: Network, model: Model, algorithms: Callable[[Network], tuple[Algorithm, ...]]
) -> str | None:
    """Say why exchanges of the factors, by the algorithms that each may use, make none of a network, or None."""
    if not network.factors:
        return "needs a product of networks"
    for factor in network.factors:
        reasons = [a.reason(factor, TotalExchange(), model) for a in algorithms(factor)]
        if factor.node_count > 1 and None not in reasons:
            return f"cannot exchange along factor {factor.spec}, where it {reasons[-1]}"
    n = network.node_count
    return too_many_hops(sum((n // f.node_count) ** 2 * total_distance(f) for f in network.factors))
