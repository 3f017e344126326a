"""Replay in SimGrid's SMPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import numpy.typing as npt

from gossamer.errors import NotApplicableError, ScheduleError, nearest, shown
from gossamer.interchange.smpi import rank_rows
from gossamer.interchange.smpi_platform import write_platform
from gossamer.networks.network import Network
from gossamer.programs import Program
from gossamer.runtime.smpi_collectives import SELECTORS, own_collective
from gossamer.tasks import Task

__all__ = ["smpi_own_times", "smpi_time"]

NEUTRAL = ("network/crosstraffic:0", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1")
"""Settings without the corrections for protocols: a block takes its bytes over the bandwidth, and the latency."""

_SECONDS = 600


def smpi_time(
    program: Program,
    block_bytes: int,
    *,
    bandwidth: npt.ArrayLike | None = None,
    latency: npt.ArrayLike | None = None,
    neutral: bool = True,
) -> float:
    """Return the seconds that a program takes in SimGrid's SMPI, replayed as a time-independent trace.

    Parameters
    ----------
    program : Program
        What `gossamer.lower` returned.
    block_bytes : int
        Bytes of a block.
    bandwidth, latency : float or array of float, shape (L,), optional
        Bytes a second and seconds of all links, or of each. Default: those of the network where it has them, else 125
        MB/s and 1 microsecond.
    neutral : bool
        Whether to leave out SMPI's corrections for protocols.

    Raises
    ------
    NotApplicableError
        If ``smpirun`` is not installed, or the replay fails.
    """
    return _replayed(
        program.network,
        lambda rank: rank_rows(program.rank(rank), block_bytes),
        () if not neutral else NEUTRAL,
        (bandwidth, latency),
    )


def smpi_own_times(
    network: Network,
    task: Task,
    message_bytes: int,
    *,
    bandwidth: npt.ArrayLike | None = None,
    latency: npt.ArrayLike | None = None,
    neutral: bool = True,
    only: Collection[str] = (),
    say: Callable[[str], None] = lambda text: None,
    seconds: float = 60.0,
) -> dict[str, float | None]:
    """Return the seconds that MPI's own algorithms for a task take in SMPI, and those that MPI libraries choose.

    Parameters
    ----------
    network, task : Network, Task
        Where each node is a rank, and what is carried out.
    message_bytes : int
        Bytes of a message.
    bandwidth, latency, neutral
        As for `smpi_time`.
    only : collection of str
        Names of those that are wanted; all when empty.
    say : callable
        Is told which algorithm is replayed.
    seconds : float
        The most that one replay may take on the clock.

    Returns
    -------
    dict of str to float or None
        By the name of the algorithm, or ``choice of`` the library; None where SMPI fails, as it does for algorithms
        that do not work for so many ranks.

    Raises
    ------
    NotApplicableError
        If ``smpirun`` is not installed, or MPI has no such collective.
    ScheduleError
        If it has no algorithm of a name that is wanted.
    """
    own = own_collective(task)
    _command()
    root = getattr(task, "root", 0)
    action = own.action(network.node_count, message_bytes, root)
    ways = {name: f"smpi/{own.name}:{name}" for name in own.algorithms}
    ways |= {f"choice of {name}": f"smpi/coll-selector:{name}" for name in SELECTORS}
    for name in only:
        if name not in ways:
            hint = nearest(name, ways) or f"; there are: {', '.join(ways)}"
            raise ScheduleError(f"MPI has no algorithm {shown(name)} for {task.name}{hint}")
    found: dict[str, float | None] = {}
    for name, setting in ways.items():
        if only and name not in only:
            continue
        say(name)
        try:
            found[name] = _replayed(
                network,
                lambda rank: f"{rank} init\n{rank} {action}\n{rank} finalize\n".encode(),
                (*(NEUTRAL if neutral else ()), setting),
                (bandwidth, latency),
                seconds,
            )
        except NotApplicableError:
            found[name] = None
    return found


def _command() -> str:
    command = shutil.which("smpirun")
    if command is None:
        raise NotApplicableError("smpirun is not installed; on Debian: apt-get install libsimgrid-dev")
    return command


def _replayed(
    network: Network,
    trace: Callable[[int], bytes],
    settings: Iterable[str],
    speeds: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    seconds: float = _SECONDS,
) -> float:
    """Return the simulated time of the traces of all ranks."""
    command, ranks = _command(), network.node_count
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_platform(network, folder, *speeds)
        for rank in range(ranks):
            (folder / f"rank-{rank}.txt").write_bytes(trace(rank))
        files = "".join(f"{folder}/rank-{r}.txt\n" for r in range(ranks))
        (folder / "trace.txt").write_text(files, encoding="utf-8")
        blocks = ("smpi/shared-malloc-blocksize:67108864",) if ranks >= 256 else ()  # else its files are too many
        try:
            done = subprocess.run(
                [command, "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts.txt",
                 *(f"--cfg={s}" for s in (*settings, *blocks)),
                 "-replay", "trace.txt", "--log=smpi_replay.thres:info", "--log=root.fmt:%m%n"],
                cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, timeout=seconds,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NotApplicableError(f"smpirun took more than {seconds:g} seconds") from None
    found = re.search(r"Simulation time ([0-9.eE+-]+)", done.stdout + done.stderr)
    if done.returncode or found is None:
        reason = (done.stderr.strip() or done.stdout.strip() or "no time was printed").splitlines()[-1]
        raise NotApplicableError(f"smpirun failed: {reason}")
    return float(found[1])
