"""Execution: schedules that run.

`mpi`, `jax` and `torch` carry out verified schedules as collectives of those libraries, each imported only when it is
used; `machine_model_replay` times a schedule in a network simulator or in the LogGP model. A further library takes the
per-rank programs of `gossamer.programs`, as these do.
"""

from __future__ import annotations

from gossamer.lazy_imports import lazy

__getattr__ = lazy(__name__, jax="", mpi="", machine_model_replay="", torch="")
