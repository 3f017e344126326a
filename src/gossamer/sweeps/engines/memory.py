"""How much memory there is, how much this process has, and a limit that turns too much into a MemoryError."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["available", "limit_data"]

_SHARE, _UNKNOWN = 0.8, 4 << 30
"""The share of what is free that a sweep takes, and what is free where that is not known."""


def available() -> int:
    """Return the bytes that a sweep may use: four fifths of what the machine, or the container, has left."""
    from gossamer.cases.needs import free_memory

    return max(1, int(_SHARE * (free_memory() or _UNKNOWN)))


def limit_data(grant: int) -> None:
    """Let this process allocate so many bytes more than it has now; more is a MemoryError. Nothing off Linux."""
    import resource

    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = pages * os.sysconf("SC_PAGE_SIZE") + grant
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
