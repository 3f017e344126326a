"""How much memory there is, how much this process has, and a limit that turns too much into a MemoryError."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_SHARE, _UNKNOWN = 0.8, 4 << 30
"""The share of what is free that many processes take, and what is free where that is not known."""


_GROUPS = Path("/sys/fs/cgroup")
"""Where Linux shows the groups of processes and their limits."""

_MEMBERSHIP = Path("/proc/self/cgroup")
"""Which groups this process is in."""


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


def _groups() -> Iterator[tuple[Path, str, str, str]]:
    """Yield the folder of every group that bounds this process, and how it calls limit, use, and what is given back.

    A line of the membership says ``hierarchy:controllers:path``; no controllers stand for version 2 of the groups. A
    group is bounded by those above it. In a container the path may be that of the host, and only the root is seen.
    """
    try:
        lines = _MEMBERSHIP.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not on this system
        return
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers:
            root, names = _GROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _GROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inside = Path(path.lstrip("/"))
        for folder in (inside, *inside.parents):
            yield root / folder, *names


def _limits_of_groups() -> Iterator[int]:
    """Yield the bytes that are left to each group of processes (containers, batch jobs) that has a limit.

    Pages of files that nobody used lately count as used, but are given back when memory is short.
    """
    for folder, limit, use, given_back in _groups():
        try:
            most = (folder / limit).read_text(encoding="ascii").strip()
            used = int((folder / use).read_text(encoding="ascii"))
            lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
            spare = sum(int(line.split()[1]) for line in lines if line.startswith(f"{given_back} "))
            if most != "max":
                yield max(int(most) - max(used - spare, 0), 0)
        except (OSError, ValueError, IndexError):  # the root of version 2, and what a container does not see
            continue


def free_memory() -> int | None:
    """Return the bytes that the machine, the groups of processes, or the process has left; None if unknown."""
    found = [*_limit_of_process(), *_limits_of_groups()]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, ValueError, AttributeError):
            return None
    return min(found)
