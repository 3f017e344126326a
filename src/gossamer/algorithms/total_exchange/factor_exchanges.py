"""Total exchanges of the factors of a product, as plain columns from which an exchange of the product is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_hops
from gossamer.algorithms.total_exchange.busiest_first import total_distance
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

__all__ = ["FactorExchange", "Factors", "columns_of"]


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


@dataclass(frozen=True)
class Factors:
    """Which exchanges of its factors an algorithm for products puts together.

    Attributes
    ----------
    rules : Rules
        The rules under which the factors exchange.
    algorithms : callable
        The algorithms that a factor may use. Ties go to the earlier one.
    """

    rules: Rules
    algorithms: Callable[[Network], tuple[Algorithm, ...]]

    def case(self, product: Case, factor: Network) -> Case:
        """Return the exchange of a factor, as a case that shares what is known with that of the product."""
        return product.related(factor, TotalExchange(), self.rules)

    def steps(self, product: Case, factor: Network) -> int:
        """Return the steps of `exchange`, without building it where they are promised."""
        return product.once(self._fastest, self.case(product, factor))[0]

    def exchange(self, product: Case, factor: Network) -> FactorExchange:
        """Return the shortest exchange of a factor that the algorithms give."""
        case = self.case(product, factor)
        return product.once(_exchange_by, product.once(self._fastest, case)[1], case)

    def refuse(self, product: Case) -> Refusal | None:
        """Refuse where exchanges of the factors make none of the network, or not."""
        network = product.network
        if not network.factors:
            return Refusal("needs a product of networks")
        for factor in network.factors:
            found = [a.offers(self.case(product, factor)) for a in self.algorithms(factor)]
            if factor.node_count > 1 and all(isinstance(f, Refusal) for f in found):
                return Refusal(f"cannot exchange along factor {factor.spec}, where it {found[-1]}")
        n = network.node_count
        return refuse_hops(sum((n // f.node_count) ** 2 * product.once(total_distance, f) for f in network.factors))

    def _fastest(self, case: Case) -> tuple[int, Algorithm]:
        """Return the least steps and the algorithm that takes them; without an exact promise it is built to learn."""
        timed: list[tuple[int, Algorithm]] = []
        for algorithm in self.algorithms(case.network):
            found = algorithm.offers(case)
            if isinstance(found, Refusal):
                continue
            exact = found[0].time if found[0].promise == "exact" else None
            steps = case.once(_exchange_by, algorithm, case).steps if exact is None else int(exact)
            timed.append((steps, algorithm))
        return min(timed, key=lambda pair: pair[0])


def _exchange_by(algorithm: Algorithm, case: Case) -> FactorExchange:
    return columns_of(algorithm.build(case))
