"""The table of wormhole algorithms: what the planner, the tables and the property tests iterate over."""

from __future__ import annotations

from gossamer.wormhole.aggregation_distribution import ATD
from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.broadcasts_on_trees import EDST
from gossamer.wormhole.direct import DIRECT
from gossamer.wormhole.flooding import FLOODING
from gossamer.wormhole.gather_then_broadcast import TWO_STEP
from gossamer.wormhole.groups import each_group
from gossamer.wormhole.packed_rings import PACKED
from gossamer.wormhole.reductions import reductions_from
from gossamer.wormhole.rings import RINGS
from gossamer.wormhole.sequential import SEQUENTIAL
from gossamer.wormhole.slot_by_slot import SLOT_BY_SLOT
from gossamer.wormhole.store_and_forward import PACKET_SWITCHED

__all__ = ["WORMHOLE_ALGORITHMS", "WormholeAlgorithm"]

_TURNED: tuple[WormholeAlgorithm, ...] = (*ATD, *RINGS, *PACKED, *EDST, *SEQUENTIAL)

_ALONE: tuple[WormholeAlgorithm, ...] = (
    *_TURNED,
    *PACKET_SWITCHED,
    *(derived for algorithm in _TURNED for derived in reductions_from(algorithm)),
    *SLOT_BY_SLOT,
    *DIRECT,
    *FLOODING,
    *TWO_STEP,
)

WORMHOLE_ALGORITHMS: tuple[WormholeAlgorithm, ...] = (*_ALONE, each_group(_ALONE))
"""Every wormhole algorithm."""
