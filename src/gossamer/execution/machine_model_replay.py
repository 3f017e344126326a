"""Schedules replayed in models of machines: LogGP, and SimGrid where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NotApplicableError, ScheduleError, nearest, shown
from gossamer.interchange import MESSAGE_BYTES
from gossamer.interchange.smpi import link_speeds, rank_rows, write_platform
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.planning.plan_resizing import least_seconds, resized
from gossamer.planning.planner import lower_bounds
from gossamer.programs import SEND, Program, lower
from gossamer.programs.layout import plain_task
from gossamer.questions import tasks
from gossamer.questions.costs import Clock, unclocked
from gossamer.reading import number
from gossamer.schedules import Schedule

__all__ = [
    "MODELS",
    "SELECTORS",
    "Own",
    "Replay",
    "loggp_time",
    "own_collective",
    "replay",
    "smpi_own_times",
    "smpi_time",
]


@njit(cache=True, nogil=True, small=100_000)
def _replay(send, receive, link, needs_send, needs_receive, links, operations, latency, overhead, gap, transfer):
    """Return when the last operation is complete; hops are in the order of slots.

    `send` and `receive` are the operations at the ends of each hop, `needs_send` and `needs_receive` those that must
    be complete before, or -1. `latency`, `gap` and `transfer`, the time that a block is on its way besides the latency,
    are float64[links].
    """
    done = np.zeros(operations)
    free = np.zeros(links)
    last = 0.0
    for h in range(send.size):
        e = link[h]
        start = free[e]
        if needs_send[h] >= 0:
            start = max(start, done[needs_send[h]])
        free[e] = start + max(gap[e], transfer[e])
        done[send[h]] = start + overhead + transfer[e]
        done[receive[h]] = start + 2 * overhead + latency[e] + transfer[e]
        if needs_receive[h] >= 0:  # what it adds to, or what must have left its place
            done[receive[h]] = max(done[receive[h]], done[needs_receive[h]])
        last = max(last, done[receive[h]])
    return last


# Replay in the LogGP model, with a network interface for every link.


def loggp_time(
    program: Program,
    block_bytes: int,
    *,
    L: npt.ArrayLike = 0.0,
    o: float = 0.0,
    g: npt.ArrayLike = 0.0,
    G: npt.ArrayLike = 1.0,
) -> float:
    """Return when a program ends in the LogGP model.

    Parameters
    ----------
    program : Program
        What `gossamer.lower` returned.
    block_bytes : int
        Bytes of a block, 1 or more.
    o : float
        Overhead at each end, in any unit of time.
    L, g, G : float or array of float, shape (L,)
        Latency, least time between two messages on a link, and time a byte, of all links or of each of the network,
        in that unit.

    Returns
    -------
    float
        The time in that unit.

    Raises
    ------
    ModelError
        If a parameter is negative, or a block has no bytes.
    NotApplicableError
        If links differ, and a message goes over several: between ranks without a link of their own.

    Notes
    -----
    An operation begins as soon as what it waits for is complete and the blocks before it on its link have gone; there
    is no clock of slots. A block of b bytes takes ``o + (b - 1) G + L + o``. O(operations log operations).

    References
    ----------
    A. Alexandrov, M. F. Ionescu, K. E. Schauser and C. Scheiman 1997.

    Examples
    --------
    >>> import gossamer
    >>> program = gossamer.lower(gossamer.plan("torus:4x4", "allgather").schedule)
    >>> loggp_time(program, 101)  # four slots of 100
    400.0
    """
    if block_bytes < 1:
        raise ModelError(f"a block has 1 byte or more, got {block_bytes}")
    overhead = number(o, "o", 0.0)
    given = {name: np.asarray(value) for name, value in (("L", L), ("g", g), ("G", G))}
    for name, column in given.items():
        number(float(column.min(initial=0.0)) if column.ndim else column[()], name, 0.0)

    ranks = list(program)
    first = np.cumsum([0, *(mine.count for mine in ranks)])
    rank = np.repeat(np.arange(len(ranks)), np.diff(first))
    slot, kind, peer = (np.concatenate([getattr(mine, n) for mine in ranks]) for n in ("slot", "kind", "peer"))
    after = np.concatenate([np.where(m.after < 0, -1, m.after + f) for m, f in zip(ranks, first[:-1], strict=True)])
    sends = kind == SEND
    line = np.where(sends, rank, peer) * np.int64(len(ranks)) + np.where(sends, peer, rank)
    # the blocks of a link stand in one order at both ends
    out, came = (np.flatnonzero(s)[np.argsort(line[s], kind="stable")] for s in (sends, ~sends))
    order = np.argsort(slot[out], kind="stable")
    out, came = out[order], came[order]
    known, link = np.unique(line[out], return_inverse=True)
    cable = _links_between(program.network, known) if any(column.ndim for column in given.values()) else None

    def by_link(column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        chosen = column[cable] if column.ndim else np.broadcast_to(column, known.size)
        return np.ascontiguousarray(chosen, np.float64)

    latency, gap, transfer = by_link(given["L"]), by_link(given["g"]), (block_bytes - 1) * by_link(given["G"])
    return float(
        _replay(out, came, link, after[out], after[came], known.size, rank.size, latency, overhead, gap, transfer)
    )


def _links_between(network: Network, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return a link for each pair ``source * N + target`` of ranks; NotApplicableError if there is none."""
    ends = network.link_source.astype(np.int64) * network.terminal_count + network.link_target
    ends[network.link_target >= network.terminal_count] = -1
    order = np.argsort(ends, kind="stable")
    place = order[np.minimum(np.searchsorted(ends[order], pairs), order.size - 1)]
    if not np.array_equal(ends[place], pairs):
        raise _no_link(network)
    return place


def _no_link(network: Network) -> NotApplicableError:
    return NotApplicableError(
        f"LogGP has a link between any two ranks that send to each other, and those of {network.spec} send over "
        "several links that differ; take --model smpi"
    )


# Replay in SimGrid's SMPI.

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
_KNOWN: dict[type[tasks.Task], Own] = {
    tasks.MultinodeBroadcast: Own(
        "allgather", lambda n, size, root: f"allgather {size} {size}",
        ("ring", "rdb", "bruck", "pair", "NTSLR", "NTSLR_NB", "GB", "rhv", "spreading_simple", "loosely_lr",
         "ompi_neighborexchange"),
    ),
    tasks.TotalExchange: Own(
        "alltoall", lambda n, size, root: f"alltoall {size} {size}",
        ("basic_linear", "pair", "ring", "bruck", "rdb", "2dmesh", "3dmesh", "pair_light_barrier", "pair_one_barrier",
         "ring_light_barrier", "mvapich2_scatter_dest"),
    ),
    tasks.Allreduce: Own(
        "allreduce", lambda n, size, root: f"allreduce {n * size}{_REDUCTION}",
        ("lr", "rab1", "rab2", "rab", "rab_rdb", "rdb", "redbcast", "ompi_ring_segmented", "mvapich2_rs",
         "smp_binomial", "smp_rdb", "smp_rsag", "smp_rsag_lr"),
    ),
    tasks.ReduceScatter: Own(
        "reduce_scatter", lambda n, size, root: f"reducescatter {' '.join([str(size)] * n)}{_REDUCTION}",
        ("mpich_pair", "mpich_rdb", "mpich_noncomm", "ompi_basic_recursivehalving", "ompi_ring"),
    ),
    tasks.Broadcast: Own(
        "bcast", lambda n, size, root: f"bcast {size} {root}",
        ("binomial_tree", "flattree", "flattree_pipeline", "scatter_LR_allgather", "scatter_rdb_allgather",
         "ompi_pipeline", "ompi_split_bintree", "SMP_binary", "SMP_linear"),
    ),
    tasks.Reduce: Own(
        "reduce", lambda n, size, root: f"reduce {size}{_REDUCTION} {root}",
        ("binomial", "flat_tree", "scatter_gather", "ompi_chain", "ompi_pipeline", "ompi_binary", "rab"),
    ),
    tasks.Gather: Own(
        "gather", lambda n, size, root: f"gather {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial", "ompi_linear_sync"),
    ),
    tasks.Scatter: Own(
        "scatter", lambda n, size, root: f"scatter {size} {size} {root}",
        ("ompi_basic_linear", "ompi_binomial"),
    ),
}  # fmt: skip
_KNOWN[tasks.PartialSumAllreduce] = _KNOWN[tasks.Allreduce]._replace(
    action=lambda n, size, root: f"allreduce {size}{_REDUCTION}"
)


def own_collective(task: tasks.Task) -> Own:
    """Return what MPI has for a task; NotApplicableError if there is no such thing.

    >>> import gossamer
    >>> own_collective(gossamer.task("allgather")).action(64, 100, 0)
    'allgather 100 100'
    """
    found = _KNOWN.get(type(plain_task(task)))
    if found is None:
        raise NotApplicableError(
            f"MPI has no collective for {task.describe()}, so that there is nothing of its own to replay"
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
    task: tasks.Task,
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
    root = getattr(plain_task(task), "root", 0)
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


# A schedule replayed for messages of several sizes, beside the time of its slots, its bound, and what MPI has.

MODELS = ("loggp", "smpi", "smpi-default")
"""LogGP; SimGrid's SMPI without its corrections for protocols; and with them."""


@dataclass(frozen=True)
class Replay:
    """What a schedule takes in a model, for messages of one size.

    Attributes
    ----------
    message_bytes : int
        The size.
    seconds : float
        What the replay takes.
    slots_seconds : float
        What the slots take, each as long as its slowest link needs.
    bound_seconds : float or None
        What no schedule beats, of messages in any parts, without latencies; None where links differ.
    own : mapping of str to float or None
        What MPI's own algorithms take, and those that MPI libraries choose; None for what fails there.
    """

    message_bytes: int
    seconds: float
    slots_seconds: float
    bound_seconds: float | None = None
    own: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def best_own(self) -> float | None:
        """What the best of MPI's own takes; None if none is known."""
        return min((t for t in self.own.values() if t is not None), default=None)


def replay(
    schedule: Schedule,
    sizes: Iterable[int] | None = None,
    *,
    model: str = "loggp",
    bandwidth: float | None = None,
    latency: float | None = None,
    overhead: float = 0.0,
    own: bool | Collection[str] = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[Replay]:
    """Return what a schedule takes in a model of a machine, for messages of several sizes.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant; it is verified.
    sizes : iterable of int, optional
        Bytes of a message, or, of a plan in seconds, bytes as it was asked for: it is made again for other sizes, as
        `gossamer.planning.plan_resizing.resized` does. Default: those of a plan in seconds, else 1 MiB.
    model : str
        One of `MODELS`.
    bandwidth, latency : float, optional
        Bytes a second and seconds of every link. Default: those of a plan in seconds, or of the network where it has
        them, else 125 MB/s and 1 microsecond.
    overhead : float
        Seconds at each end of a message, in LogGP.
    own : bool or collection of str
        Whether to replay MPI's own algorithms as well, in SMPI, or which of them.
    say : callable
        Is told what is replayed.

    Raises
    ------
    NotApplicableError
        If SimGrid is asked for and not installed, or the model cannot have links that differ.
    ScheduleError
        If the options do not fit together.

    Examples
    --------
    >>> import gossamer
    >>> found = replay(gossamer.plan("torus:4x4", "allgather").schedule, [1_000_000])[0]
    >>> round(found.seconds, 6), round(found.slots_seconds, 6), round(found.bound_seconds, 6)
    (0.032004, 0.032004, 0.03)
    """
    if model not in MODELS:
        raise ScheduleError(f"unknown model {shown(model)}; there are: {', '.join(MODELS)}")
    if model != "loggp" and overhead:
        raise ScheduleError("an overhead goes with the model loggp")
    if own and model == "loggp":
        raise ScheduleError("MPI's own algorithms are replayed in SMPI: the model must be smpi or smpi-default")
    clock = schedule.cost if isinstance(schedule.cost, Clock) else None
    own_links = clock is not None and bandwidth is None and latency is None
    network = schedule.network
    given: tuple[npt.ArrayLike | None, npt.ArrayLike | None] = (bandwidth, latency)
    if clock is not None and own_links:
        network, given = _links_of_plan(schedule.network, clock)
    rate, delay = link_speeds(network, *given)
    alike = network.link_count > 0 and bool(np.all(rate == rate[0]) and np.all(delay == delay[0]))
    if model == "loggp" and not network.link_count:
        raise NotApplicableError(
            f"{network.spec} has no links, and LogGP has a bandwidth and a latency; take --model smpi"
        )
    if model == "loggp" and not alike and not own_links:
        raise NotApplicableError(
            f"the links of {network.spec} differ, and LogGP has one bandwidth and latency; take --model smpi, or give "
            "both"
        )
    joined = network.link_target[network.link_source < network.terminal_count] < network.terminal_count
    if model == "loggp" and not alike and not joined.any():  # every message crosses switches
        raise _no_link(network)
    lag, each = (float(delay[0]), 1 / float(rate[0])) if alike else (delay, 1 / rate)
    found = []
    for message in _of_plan(schedule, sizes) if own_links else _of_slots(schedule, sizes, rate, delay, alike):
        say(f"replaying {message.size:,} bytes")
        program, block = message.program, -(-message.size // message.program.parts)
        if model == "loggp":
            # a block of b bytes takes b bytes of time on a link, which in slots is free again after its latency
            gap = 0.0 if own_links else block * each + lag
            seconds = loggp_time(program, block + 1, L=lag, o=overhead, g=gap, G=each)
        else:
            seconds = smpi_time(program, block, bandwidth=rate, latency=delay, neutral=model == "smpi")
        others: Mapping[str, float | None] = {}
        if own:
            only = () if own is True else own
            others = smpi_own_times(
                network, schedule.task, message.size, bandwidth=rate, latency=delay, neutral=model == "smpi",
                only=only, say=say,
            )  # fmt: skip
        found.append(Replay(message.size, seconds, message.slots, message.bound, others))
    return found


class _Replayed(NamedTuple):
    """Bytes of a message, the program for them, and the seconds of the slots and of the bound."""

    size: int
    program: Program
    slots: float
    bound: float | None


def _of_slots(
    schedule: Schedule, sizes: Iterable[int] | None, rate: npt.NDArray[np.float64], delay: npt.NDArray[np.float64],
    alike: bool,
) -> Iterator[_Replayed]:  # fmt: skip
    """Yield what is replayed of a schedule whose slots are as long as the slowest link needs."""
    network, program = schedule.network, lower(schedule)
    bound = None
    if network.plain and alike:
        rules = replace(schedule.rules, segmented=True)
        packets = program.parts // schedule.parts  # of a message, each a step
        bound = float(lower_bounds(network, schedule.task, rules=rules)[0].value) / packets
    for size in [MESSAGE_BYTES] if sizes is None else sizes:
        block = -(-size // program.parts)
        taken = (network.link_occupancy + network.link_latency).astype(np.float64)
        slot = float(((block / rate + delay) / taken).max(initial=0.0))
        yield _Replayed(
            size, program, schedule.slot_count * slot, None if bound is None else bound * size / float(rate[0])
        )


def _of_plan(schedule: Schedule, sizes: Iterable[int] | None) -> Iterator[_Replayed]:
    """Yield what is replayed of a plan in seconds, which is made again for other sizes than its own."""
    clock = schedule.cost
    assert isinstance(clock, Clock)
    asked = clock.asked_bytes or clock.message_bytes
    for size in [asked] if sizes is None else sizes:
        plan = schedule if size == asked else resized(schedule, size)
        told, least = plan.cost, least_seconds(plan)
        assert isinstance(told, Clock)
        slots = float(told.seconds(plan.completion_time))
        yield _Replayed(told.message_bytes, lower(plan), slots, None if least is None else float(least.value))


def _links_of_plan(network: Network, clock: Clock) -> tuple[Network, tuple[npt.ArrayLike | None, float | None]]:
    """Return the network of a plan in seconds without its slots, and the speeds that the plan was made for, if any."""
    found, _, speed, lag, _ = unclocked(network, clock, clock.packet_bytes)
    return found, (None, None) if speed is None else (float(speed) / found.link_occupancy, float(lag))
