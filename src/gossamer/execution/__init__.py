"""Execution: schedules that run.

`mpi`, `jax` and `torch` carry out verified schedules as collectives of those libraries, each imported only when it is
used; `replay` times a schedule in a network simulator or in the LogGP model. A further library takes the per-rank
programs of `gossamer.programs`, as these do.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name not in ("jax", "mpi", "replay", "torch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")  # when it is first used
