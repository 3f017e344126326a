"""Execution: schedules that run.

`mpi`, `torch`, `sockets` and `jax` carry out verified schedules as collectives, each imported only when it is used;
`machine_model_replay` times a schedule in a network simulator or in the LogGP model. A further library that sends and
receives is a back end of `executor`, as the first three are.
"""

from __future__ import annotations

from gossamer.lazy_imports import lazy

__getattr__ = lazy(__name__, jax="", mpi="", machine_model_replay="", programs_by_size="", sockets="", torch="")
