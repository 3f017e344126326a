"""Multinode broadcast by aggregation, then distribution (Chen and Chen): a module for each operation, and the whole."""

from __future__ import annotations

from gossamer.wormhole.aggregation_distribution.algorithm import ATD, aggregation_distribution
from gossamer.wormhole.aggregation_distribution.closed_forms import (
    ATD_5,
    ATD_OPT,
    ATD_PIECE,
    Variant,
    best_h,
    closed_form,
    closed_form_time,
    with_tuning,
)

__all__ = [
    "ATD",
    "ATD_5",
    "ATD_OPT",
    "ATD_PIECE",
    "Variant",
    "aggregation_distribution",
    "best_h",
    "closed_form",
    "closed_form_time",
    "with_tuning",
]
