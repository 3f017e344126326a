"""Programs that are kept on disk by network, task and size, and planned where they are missing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.jit import user_cache
from gossamer.version import __version__

__all__ = ["OVERHEAD", "SIZES", "cache_folder", "plan_program", "prepare", "program_file"]

SIZES = tuple(1024 * 4**i for i in range(11))
"""Bytes for which there are plans: 1 KiB to 1 GiB. The next one is taken, by ratio."""

OVERHEAD = "20us"
"""What a block costs beyond its bytes, unless it is said: about what Python and a library need to begin it."""

_TASKS = ("allreduce", "allgather", "reduce-scatter", "alltoall")


def program_file(folder: Path, network: str, task: str, size: int, choices: Mapping[str, Any], root: int = 0) -> Path:
    """Return where the program of a task is kept: by what was asked, a file that is the network, and the version."""
    named = [Path(text) for text in (network, network.partition(":")[2].partition(",")[0])]
    read = [hashlib.sha256(path.read_bytes()).hexdigest() for path in named if path.is_file()]
    told = json.dumps([network, read, task, size, root, sorted((k, str(v)) for k, v in choices.items()), __version__])
    return folder / f"{task}-{size}-{hashlib.sha256(told.encode()).hexdigest()[:16]}.program"


def plan_program(path: Path, network: str, task: str, size: int, choices: Mapping[str, Any], root: int = 0) -> None:
    """Plan a task and write its program, unless it is there."""
    if path.exists():
        return
    try:
        from gossamer.interchange.format import between_ranks
        from gossamer.planning.planner import plan
        from gossamer.programs import lower
        from gossamer.programs.files import write_program
        from gossamer.questions.costs import TimeCost
        from gossamer.questions.rules import Rules
        from gossamer.questions.tasks import task as named

        asked = named(task, root=root) if task in ("broadcast", "reduce") else named(task)
        rules = Rules(replication=False, reduction=False)  # switches run no rank
        found = plan(
            network, asked, rules=rules, cost=TimeCost(bytes=size, counting="nccl", **{"overhead": OVERHEAD, **choices})
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_program(lower(between_ranks(found.schedule)), path)
    except ImportError as error:
        raise NotApplicableError(
            f"no plan of {task} for {size} bytes on {network} in {str(path.parent)!r}, and no planner here "
            f"({error.name} is missing); where there is one, gossamer.execution.programs_by_size.prepare makes it"
        ) from None


def prepare(
    network: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    tasks: Sequence[str] = _TASKS,
    sizes: Sequence[int] = SIZES,
    **choices: Any,
) -> list[Path]:
    """Plan ahead what `gossamer.execution.torch.PlannedCollectives` will ask for, so that its ranks need no planner.

    Parameters
    ----------
    network, folder, **choices
        As those of `gossamer.execution.torch.PlannedCollectives`.
    tasks : sequence of str
        Of allreduce, allgather, reduce-scatter, alltoall; a broadcast or reduce is from or to rank 0.
    sizes : sequence of int
        Bytes of the largest buffer of a rank.

    Returns
    -------
    list of Path
        The program files.

    Raises
    ------
    GossamerError
        If one of them cannot be planned.
    """
    place = cache_folder(folder)
    found = []
    for task in tasks:
        for size in sizes:
            path = program_file(place, network, task, size, choices)
            plan_program(path, network, task, size, choices)
            found.append(path)
    return found


def cache_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder for programs; by default ``gossamer/programs`` in the user's cache."""
    own = user_cache() if folder is None else None
    if folder is not None:
        return Path(folder)
    own = user_cache()
    if own is None:
        raise FileFormatError("nobody's home is known, in which programs are kept; name a folder for them")
    return own / "programs"
