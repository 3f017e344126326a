"""Collectives of PyTorch by schedules, over ``torch.distributed``'s point-to-point messages: gloo, NCCL and their like.

Ranks need no planner: they read the program file that ``gossamer export --to program`` wrote.
"""

from __future__ import annotations

from gossamer.torch.collectives import Collective

__all__ = ["Collective"]
