"""Lock-step movement: items travel leg by leg, and of those that want one link the farthest goes first.

An *item* is one copy of a packet. A move of a packet that is copied on the way is given as several rows of `Moves` with
the same packet number: row j with ``after[j] = i`` and ``after_hops[j] = k`` is a copy that row i leaves behind once it
has made k hops; row j then starts there, in the next step, with its own legs (none, if it stays there). Copies that
part at the start are rows of their own, without `after`.
"""

from __future__ import annotations

from gossamer.graphs.lock_step.engine import LockStep, Moves, Rank
from gossamer.graphs.lock_step.legs import Leg, legs_between, moves_along

__all__ = ["Leg", "LockStep", "Moves", "Rank", "legs_between", "moves_along"]
