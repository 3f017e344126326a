"""What building and checking a wormhole schedule takes, estimated before it is begun."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.questions.cases import Needs, Offer
from gossamer.questions.tasks import COMBINE
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.demand import Demand

__all__ = ["receipts", "wormhole_needs"]

_AT_LEAST, _PER_RECEIPT = 3_000_000, 100
_SECONDS_AT_LEAST = 0.01


def receipts(case: WormholeCase) -> int:
    """Return how often a node must get a message of the task, or contribute to one.

    >>> import gossamer
    >>> receipts(WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather")))
    240
    """
    return sum(int(part.deals.sum()) for part in case.once(Demand, case).parts)


def wormhole_needs(case: WormholeCase, offer: Offer[Any]) -> Needs:
    """Return about what an offer needs: its seconds for each receipt, and the tables of the checker.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:16x16"), gossamer.task("allgather"))
    >>> wormhole_needs(case, Offer(lambda: None)).hops
    65280
    """
    count = case.once(receipts, case)
    pieces = int(offer.options.get("pieces", 1)) * case.messages.count
    combined = bool((case.messages.discipline == COMBINE).any())
    held = pieces * case.network.node_count * (6 if combined else 1 / 8)
    seconds = count * offer.hop_seconds + held * 1e-9 + _SECONDS_AT_LEAST
    return Needs(count, round(count * _PER_RECEIPT + held) + _AT_LEAST, float(np.round(seconds, 6)))
