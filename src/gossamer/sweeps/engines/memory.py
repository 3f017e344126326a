"""How much memory there is, how much this process has, and a limit that turns too much into a MemoryError."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

__all__ = ["available", "limit_data"]

_SHARE = 0.8
"""The share of what is free that a sweep takes."""


def available() -> int:
    """Return the bytes that a sweep may use: four fifths of what the machine, or the container, has left."""
    found = [_free_of_machine()]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(1, int(_SHARE * min(x for x in found if x > 0)))


def _free_of_machine() -> int:
    with contextlib.suppress(OSError):
        told = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        if told:
            return int(told[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def limit_data(grant: int) -> None:
    """Let this process allocate so many bytes more than it has now; more is a MemoryError. Nothing off Linux."""
    import resource

    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = pages * os.sysconf("SC_PAGE_SIZE") + grant
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
