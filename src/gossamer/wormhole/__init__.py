"""Wormhole switching: messages on dimension-ordered paths in steps of channel-disjoint messages.

An algorithm takes a `WormholeCase` and gives offers of wormhole schedules, or a refusal; `bounds` gives lower bounds.
Schedules and their files stand in `gossamer.schedules.wormhole`, the checker in `gossamer.verification.wormhole`. A new
algorithm is a file and a line in `registry`.
"""

from __future__ import annotations

from gossamer.schedules.files import save
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import Payloads, PayloadTable, Pieces, StepPhase, WormholeSchedule, load
from gossamer.verification.wormhole import KINDS, verify
from gossamer.wormhole.algorithm import WormholeAlgorithm

__all__ = [
    "KINDS",
    "Channels",
    "PayloadTable",
    "Payloads",
    "Pieces",
    "StepPhase",
    "WormholeAlgorithm",
    "WormholeSchedule",
    "load",
    "save",
    "verify",
]
