"""Wormhole switching: messages on dimension-ordered paths in steps of channel-disjoint messages."""

from __future__ import annotations

from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.checker import KINDS, verify
from gossamer.wormhole.files import load, save
from gossamer.wormhole.schedule import Payloads, PayloadTable, Phase, Pieces, WormholeSchedule

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
