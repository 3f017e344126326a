"""Collectives of JAX that carry out verified schedules, for use inside ``shard_map`` and ``jit``.

They need the extra `jax`. A schedule of any number of slots becomes a loop whose body permutes blocks among all devices
as many times as a node has links, so the compiled program stays small. Nothing here imports JAX before it is used.
"""

from __future__ import annotations

from gossamer.jax.collectives import all_gather, all_reduce, all_to_all, broadcast, reduce_scatter
from gossamer.jax.lanes import Prepared, prepare

__all__ = ["Prepared", "all_gather", "all_reduce", "all_to_all", "broadcast", "prepare", "reduce_scatter"]
