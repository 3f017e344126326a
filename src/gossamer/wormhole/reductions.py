"""Reductions from broadcasts on arrays and tori, run backwards in time; allreduces from both, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gossamer.algorithms.derived import DUALS
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast
from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.mirrored import backwards, both, halves, mirrored_case
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["reductions_from"]

_BACK = 4
"""Times what a broadcast takes, turning it round and checking contributions takes, about."""

_Offers = tuple[Offer[WormholeSchedule], ...] | Refusal


def _turned(offer: Offer[WormholeSchedule], case: WormholeCase) -> Offer[WormholeSchedule]:
    build: Callable[[], WormholeSchedule] = lambda: backwards(offer.build(), case)  # noqa: E731
    return replace(
        offer,
        build=build,
        at_most=True,
        optimal=False,
        stream=None,
        least=Fraction(0),
        hop_seconds=_BACK * offer.hop_seconds,
    )


def reductions_from(algorithm: WormholeAlgorithm) -> tuple[WormholeAlgorithm, ...]:
    """Return the reductions, and the allreduce, that follow from an algorithm for broadcasts on arrays and tori.

    Examples
    --------
    >>> from gossamer.wormhole.sequential import SEQUENTIAL
    >>> [derived.name for derived in reductions_from(SEQUENTIAL[0])]
    ['reversed-sequential-broadcasts', 'two-way-sequential-broadcasts']
    """

    def reduce(case: WormholeCase) -> _Offers:
        found = algorithm.offers(case.once(mirrored_case, case))
        return found if isinstance(found, Refusal) else tuple(_turned(offer, case) for offer in found)

    def allreduce(case: WormholeCase) -> _Offers:
        parts = case.once(halves, case)
        assert parts is not None
        return both(case, reduce(parts[0]), algorithm.offers(parts[1]))

    made = [
        WormholeAlgorithm(
            name=f"reversed-{algorithm.name}",
            tasks=tuple(DUALS[kind] for kind in algorithm.tasks if kind in DUALS),
            propose=reduce,
            networks=algorithm.networks,
            source=f"time reversal of: {algorithm.source}",
            summary=f"runs {algorithm.name} backwards, on the network with the dimensions in the opposite order",
        )
    ]
    if MultinodeBroadcast in algorithm.tasks:
        made.append(
            WormholeAlgorithm(
                name=f"two-way-{algorithm.name}",
                tasks=(Allreduce,),
                propose=allreduce,
                networks=algorithm.networks,
                source=f"reduce-scatter, then allgather, both by: {algorithm.source}",
                summary=f"runs {algorithm.name} backwards, combining, and then forwards",
            )
        )
    return tuple(made)
