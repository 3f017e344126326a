"""Replay in SimGrid's SMPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy.typing as npt

from gossamer.errors import NotApplicableError, ScheduleError, nearest, shown
from gossamer.interchange.smpi import rank_rows
from gossamer.interchange.smpi_platform import write_platform
from gossamer.networks.network import Network
from gossamer.programs import Program
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Gather,
    MultinodeBroadcast,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)

__all__ = ["SELECTORS", "Own", "own_collective", "smpi_own_times", "smpi_time"]

# MPI's own collectives in SimGrid's SMPI: what a rank's trace says of them, and the algorithms that SMPI knows.

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
"""How four MPI libraries choose an algorithm by the size, as SMPI imitates them."""


class Own(NamedTuple):
    """A collective of MPI in a trace.

    Attributes
    ----------
    name : str
        What SMPI's settings call it.
    action : callable
        Takes the number of ranks, the bytes of a message and the root, and gives the words after the rank.
    algorithms : tuple of str
        What SMPI knows for it.
    """

    name: str
    action: Callable[[int, int, int], str]
    algorithms: tuple[str, ...]


_REDUCTION = " 0"  # computing takes no time
_KNOWN: dict[type[Task], Own] = {
    MultinodeBroadcast: Own(
        "allgather", lambda n, size, root: f"allgather {size} {size}",
        ("ring", "rdb", "bruck", "pair", "NTSLR", "NTSLR_NB", "GB", "rhv", "spreading_simple", "loosely_lr",
         "ompi_neighborexchange"),
    ),
    TotalExchange: Own(
        "alltoall", lambda n, size, root: f"alltoall {size} {size}",
        ("basic_linear", "pair", "ring", "bruck", "rdb", "2dmesh", "3dmesh", "pair_light_barrier", "pair_one_barrier",
         "ring_light_barrier", "mvapich2_scatter_dest"),
    ),
    Allreduce: Own(
        "allreduce", lambda n, size, root: f"allreduce {n * size}{_REDUCTION}",
        ("lr", "rab1", "rab2", "rab", "rab_rdb", "rdb", "redbcast", "ompi_ring_segmented", "mvapich2_rs",
         "smp_binomial", "smp_rdb", "smp_rsag", "smp_rsag_lr"),
    ),
    ReduceScatter: Own(
        "reduce_scatter", lambda n, size, root: f"reducescatter {' '.join([str(size)] * n)}{_REDUCTION}",
        ("mpich_pair", "mpich_rdb", "mpich_noncomm", "ompi_basic_recursivehalving", "ompi_ring"),
    ),
    Broadcast: Own(
        "bcast", lambda n, size, root: f"bcast {size} {root}",
        ("binomial_tree", "flattree", "flattree_pipeline", "scatter_LR_allgather", "scatter_rdb_allgather",
         "ompi_pipeline", "ompi_split_bintree", "SMP_binary", "SMP_linear"),
    ),
    Reduce: Own(
        "reduce", lambda n, size, root: f"reduce {size}{_REDUCTION} {root}",
        ("binomial", "flat_tree", "scatter_gather", "ompi_chain", "ompi_pipeline", "ompi_binary", "rab"),
    ),
    Gather: Own(
        "gather", lambda n, size, root: f"gather {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial", "ompi_linear_sync"),
    ),
    Scatter: Own(
        "scatter", lambda n, size, root: f"scatter {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial"),
    ),
}  # fmt: skip


def own_collective(task: Task) -> Own:
    """Return what MPI has for a task; NotApplicableError if there is no such thing.

    >>> import gossamer
    >>> own_collective(gossamer.task("allgather")).action(64, 100, 0)
    'allgather 100 100'
    """
    found = _KNOWN.get(type(task))
    if found is None:
        raise NotApplicableError(
            f"MPI has no collective for {task.name}, so that there is nothing of its own to replay"
        )
    return found


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
