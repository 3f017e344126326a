"""Wormhole switching: messages on dimension-ordered paths in steps of channel-disjoint messages."""

from __future__ import annotations

from gossamer.schedules.files import save
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import Payloads, PayloadTable, Phase, Pieces, WormholeSchedule, load
from gossamer.verification.wormhole import KINDS, verify
from gossamer.wormhole.algorithm import WormholeAlgorithm

__all__ = [
    "KINDS",
    "Channels",
    "PayloadTable",
    "Payloads",
    "Phase",
    "Pieces",
    "WormholeAlgorithm",
    "WormholeSchedule",
    "load",
    "save",
    "verify",
]
