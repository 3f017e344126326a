"""Move-and-smooth routing (Han 1990): Algorithms Q and H, with a constant number of buffers at each node."""

from __future__ import annotations

from gossamer.algorithms.routing.move_and_smooth.odd_sided_regions import MOVE_AND_SMOOTH
from gossamer.algorithms.routing.move_and_smooth.stages import k_partition, k_strips

__all__ = ["MOVE_AND_SMOOTH", "k_partition", "k_strips"]
