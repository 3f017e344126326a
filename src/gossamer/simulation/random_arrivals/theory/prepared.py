"""What theory asks of a scheme whatever the load: computed when it is first asked for, once for each record."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.theory.depths import distances, last_parts, mean_height, mean_receipt
from gossamer.simulation.random_arrivals.theory.loads import StabilityLimit, row_levels, stability_limit

__all__ = ["Prepared"]

Floats = npt.NDArray[np.float64]


class Prepared:
    """A scheme with what its bounds and estimates have in common at all loads.

    The functions of theory take a scheme, or this record where they are asked at several loads. What was computed lives
    as long as the record.

    Parameters
    ----------
    scheme : Scheme
        The scheme.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> known = Prepared(star(gossamer.network("hypercube:4")))
    >>> float(known.limit), round(known.mean_receipt, 3)
    (1.0, 2.133)
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme

    @staticmethod
    def of(scheme: Scheme | Prepared) -> Prepared:
        """Return the record of a scheme, or the record itself."""
        return scheme if isinstance(scheme, Prepared) else Prepared(scheme)

    @cached_property
    def limit(self) -> StabilityLimit:
        """Where the busiest link is saturated."""
        return stability_limit(self.scheme)

    @cached_property
    def distances(self) -> tuple[float, float]:
        """Mean over sources of the mean and of the largest distance to the receivers, in hops."""
        return distances(self.scheme)

    @cached_property
    def mean_receipt(self) -> float:
        """Mean depth of a first receipt, in hops."""
        return mean_receipt(self.scheme)

    @cached_property
    def mean_height(self) -> float:
        """Mean depth of the last receipt of a broadcast, in hops."""
        return mean_height(self.scheme)

    @cached_property
    def last_parts(self) -> tuple[float, bool]:
        """Mean depth of a node's deepest part, and whether no broadcast crosses a link twice."""
        return last_parts(self.scheme)

    @cached_property
    def weights(self) -> Floats:
        """How often a broadcast sends each row, float64[R]."""
        weight = np.zeros(self.scheme.row_count)
        for _, row, sent, denominator in row_levels(self.scheme):
            weight[row] += sent.astype(np.float64) / denominator
        return weight

    @cached_property
    def _counted_of_one(self) -> Floats:
        """Counted copies of one broadcast on each link, float64[L]."""
        scheme, network = self.scheme, self.scheme.network
        weight = self.weights * scheme.counted
        if not scheme.translated:
            return np.asarray(np.bincount(scheme.step, weight, minlength=network.link_count), np.float64)
        assert scheme.link_table is not None
        column = np.bincount(scheme.step, weight, minlength=scheme.link_table.shape[1])
        each = np.broadcast_to(column / network.node_count, scheme.link_table.shape).reshape(-1)
        loads = np.bincount(scheme.link_table.reshape(-1), each, minlength=network.link_count)
        return np.asarray(loads, np.float64)

    def counted_loads(self, rate: float) -> Floats:
        """Return the part of the time that each link carries counted copies, float64[L]."""
        return self._counted_of_one * (rate * self.scheme.source_nodes.size)
