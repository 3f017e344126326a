"""Requests of several kinds in one scheme: broadcasts, and messages to one node or to a set of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gossamer.simulation.random_arrivals.statistics import ConfidenceInterval

__all__ = ["KINDS", "KindDelays", "RequestKinds"]

KINDS = ("broadcast", "unicast", "multicast")
"""Kinds of requests: to all nodes, to one, to a set."""


@dataclass(frozen=True, eq=False)
class RequestKinds:
    """What kinds of requests the choices of a scheme are.

    Attributes
    ----------
    names : tuple of str
        The kinds that occur, of `KINDS`.
    share : tuple of float
        Part of the requests that are of each kind.
    kind : int32[C]
        Place in `names` of each choice.
    reached : int64[S, C]
        Nodes that must receive, for each source's choices.
    needed : float64[S]
        Transmissions that a request needs on average: nodes to be reached for a broadcast, links of its tree or path
        for others. The load factor counts them.
    distance : tuple of (float, float)
        For each kind the mean distance to a receiver and to the farthest receiver, in hops: delays are at least that.
    """

    names: tuple[str, ...]
    share: tuple[float, ...]
    kind: npt.NDArray[np.int32]
    reached: npt.NDArray[np.int64]
    needed: npt.NDArray[np.float64]
    distance: tuple[tuple[float, float], ...]

    def at(self, sources: npt.NDArray[np.intp]) -> RequestKinds:
        """Return the same for some of the sources, by their places."""
        return replace(self, reached=self.reached[sources], needed=self.needed[sources])

    def bounds(self) -> tuple[float, float]:
        """Return lower bounds, by distance, of the mean over all receipts and over all last receipts."""
        receipts = [share * float(self.reached[:, self.kind == k].mean()) for k, share in enumerate(self.share)]
        mean = sum(r * d[0] for r, d in zip(receipts, self.distance, strict=True)) / sum(receipts)
        return mean, sum(s * d[1] for s, d in zip(self.share, self.distance, strict=True))


@dataclass(frozen=True)
class KindDelays:
    """Delays of the requests of one kind, in steps.

    Attributes
    ----------
    name : str
        The kind.
    share : float
        Its part of the requests.
    reception, last : ConfidenceInterval
        Mean delay to a receipt and to the last receipt of a request, with 95% confidence.
    reception_bound, last_bound : float
        Mean distances in hops: no delay is less on average.
    """

    name: str
    share: float
    reception: ConfidenceInterval
    last: ConfidenceInterval
    reception_bound: float
    last_bound: float
