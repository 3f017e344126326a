"""How much memory there is, how much this process has, and a limit that turns too much into a MemoryError."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["available", "free_memory", "limit_data"]

_SHARE, _UNKNOWN = 0.8, 4 << 30
"""The share of what is free that many processes take, and what is free where that is not known."""


def available() -> int:
    """Return the bytes that processes may use together: four fifths of what the machine, or the container, has left."""
    return max(1, int(_SHARE * (free_memory() or _UNKNOWN)))


def limit_data(grant: int) -> None:
    """Let this process allocate so many bytes more than it has now; more is a MemoryError. Nothing off Linux."""
    import resource

    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = pages * os.sysconf("SC_PAGE_SIZE") + grant
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))


def _limit_of_process() -> list[int]:
    """Return the bytes of addresses that are left to this process, if it has a limit (``ulimit -v``)."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, getrlimit

        most = getrlimit(RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * getpagesize()
    except (ImportError, OSError, ValueError):  # not on this system
        return []
    return [] if most == RLIM_INFINITY else [max(most - used, 0)]


def free_memory() -> int | None:
    """Return the bytes that the machine, the group of processes, or the process has left; None if unknown."""
    found = _limit_of_process()
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")
        if limit != "max":
            found.append(max(int(limit) - int(used), 0))
    except (OSError, ValueError):
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, ValueError, AttributeError):
            return None
    return min(found)
