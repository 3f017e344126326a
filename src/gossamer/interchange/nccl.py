"""What NCCL and RCCL load: rings for ``NCCL_GRAPH_FILE``, and which algorithm for how many bytes, for tuner plugins.

NCCL runs algorithms of its own, so that neither holds a schedule: a graph file has the rings that follow the cables of
the network, a tuner file which of NCCL's ring, trees and PAT takes least on it. `gossamer.networks.read_nccl_graph`
reads the first back.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from os import PathLike
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import rank_rings, server_chains, server_size
from gossamer.atomic_files import bytes_text, check_writable, seconds_text, whole_file
from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.planning.outcome import Outcome
from gossamer.programs.layout import plain_task
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    ReduceScatter,
)
from gossamer.reading import choice
from gossamer.studies.sweeps.message_sizes import SizePlans

# Which algorithm for how many bytes: the CSV that NCCL's example of a tuner plugin reads.

COLLECTIVES = {
    Allreduce: "allreduce",
    PartialSumAllreduce: "allreduce",
    MultinodeBroadcast: "allgather",
    ReduceScatter: "reducescatter",
    Broadcast: "broadcast",
    Reduce: "reduce",
}
"""What NCCL calls a task."""
ALGORITHMS = {"ring": "ring", "double binary trees": "tree", "binomial trees (PAT)": "pat"}
"""NCCL's algorithms, by the names of `gossamer.planning.explaining.usual_algorithms`."""
PROTOCOLS = ("simple", "ll128", "ll")
_LARGEST = 4_294_967_295
"""The bytes that stand for any number of them."""
_WIDEST = 250
"""Characters of a line, at most: the plugin takes what is longer for two."""


class TunerRow(NamedTuple):
    """A row of a tuner file, with the names of its columns.

    * `min_bytes`, `max_bytes`: the bytes that NCCL counts: of the larger buffer of a rank.
    * `channels`: -1, for as many as NCCL takes by itself.
    * `nodes`, `ranks`: servers, -1 where they are not told apart; ranks.
    """

    collective_type: str
    min_bytes: int
    max_bytes: int
    algorithm: str
    protocol: str
    channels: int
    nodes: int
    ranks: int


def tuner_rows(found: SizePlans, protocol: str = "simple") -> list[TunerRow]:
    """Return which of NCCL's ring, trees and PAT takes least for how many bytes, in rows that cover all numbers.

    Parameters
    ----------
    found : SizePlans
        Of `gossamer.plan_sizes` with ``usual``.
    protocol : {"simple", "ll128", "ll"}
        The column of the protocol: times are those of cables and switches, and do not tell the protocols apart.

    Raises
    ------
    NotApplicableError
        If NCCL has no such collective, or none of its algorithms was planned.
    ModelError
        If there is no such protocol.

    Notes
    -----
    Between two sizes with different algorithms the change is where lines through their times cross.

    Examples
    --------
    >>> from gossamer.studies.sweeps.message_sizes import plan_sizes
    >>> found = plan_sizes("ring:4", "allgather", "1KiB", cost={"bandwidth": "10GB/s"}, usual=True)
    >>> [row[:6] for row in tuner_rows(found)]
    [('allgather', 0, 4294967295, 'ring', 'simple', -1)]
    """
    choice(protocol, "protocol", PROTOCOLS, error=ModelError)
    case = found.best[0].case
    collective = COLLECTIVES.get(type(plain_task(found.best[0].asked or case.task)))
    if collective is None:
        raise NotApplicableError(
            f"NCCL tunes {', '.join(dict.fromkeys(COLLECTIVES.values()))}; not {case.task.describe()}"
        )
    times = {ALGORITHMS[name]: [each.time for each in row] for name, row in found.usual.items() if name in ALGORITHMS}
    sizes = [_nccl_bytes(outcome) for outcome in found.best]
    best = [_fastest(times, k) for k in range(len(sizes))]
    if None in best:
        why = found.remark or f"none of {', '.join(ALGORITHMS)} runs here"
        raise NotApplicableError(f"a tuner file is of NCCL's algorithms, and there are no times of them: {why}")
    starts = [(0, best[0])]
    starts += [
        (_crossing(sizes, times, str(best[k - 1]), str(best[k]), k), best[k])
        for k in range(1, len(sizes))
        if best[k] != best[k - 1]
    ]
    network = case.network
    per_server = server_size(network)
    nodes = network.terminal_count // per_server if per_server > 1 else -1
    ends = [first - 1 for first, _ in starts[1:]] + [max(_LARGEST, sizes[-1])]
    return [
        TunerRow(collective, first, last, str(name), protocol, -1, nodes, network.terminal_count)
        for (first, name), last in zip(starts, ends, strict=True)
        if first <= last
    ]


def _nccl_bytes(outcome: Outcome) -> int:
    """Return the bytes of the buffer that NCCL counts."""
    rate, seconds = outcome.bandwidth, outcome.seconds
    if rate is None or seconds is None:
        raise NotApplicableError("a tuner file is of plans in seconds; give --bytes")
    return math.ceil(rate * seconds)


def _fastest(times: dict[str, list[Fraction | None]], k: int) -> str | None:
    """Return the algorithm that takes least for the size number k."""
    there = [(time, name) for name, row in times.items() if (time := row[k]) is not None]
    return min(there)[1] if there else None


def _crossing(sizes: Sequence[int], times: dict[str, list[Fraction | None]], one: str, other: str, k: int) -> int:
    """Return from how many bytes on the other algorithm is faster, which it is at the size number k."""
    low, high = sizes[k - 1], sizes[k]
    gaps = []
    for i in (k - 1, k):
        first, second = times[one][i], times[other][i]
        if first is None or second is None:
            return high
        gaps.append(second - first)  # above 0 before, below after
    before, after = gaps
    return high if before <= after else low + math.ceil((high - low) * before / (before - after))


def write_tuner(found: SizePlans | Sequence[SizePlans], path: str | PathLike[str], protocol: str = "simple") -> None:
    """Write the CSV that NCCL's example of a tuner plugin loads (``NCCL_TUNER_CONFIG_FILE``).

    Parameters
    ----------
    found : SizePlans or sequence of SizePlans
        Of `gossamer.plan_sizes` with ``usual``: a collective each.
    path : path
        The file, which appears whole or not at all.
    protocol : {"simple", "ll128", "ll"}
        See `tuner_rows`.

    Raises
    ------
    NotApplicableError, ModelError
        As `tuner_rows`.

    Notes
    -----
    Columns: collective_type, min_bytes, max_bytes, algorithm, protocol, channels, nNodes, nRanks, numPipeOps, regBuff;
    the last two are -1, any. Comments have the time of each algorithm and that of the plan, for each size.
    """
    several = [found] if isinstance(found, SizePlans) else list(found)
    lines = []
    for each in several:
        rows = tuner_rows(each, protocol)
        lines += [f"# {line}"[:_WIDEST] for line in _told(each, rows[0].collective_type)]
        lines += [",".join(map(str, (*row, -1, -1))) for row in rows]
    check_writable(path)
    with whole_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _told(found: SizePlans, collective: str) -> Iterator[str]:
    yield f"{collective} on {found.best[0].case.network.spec}: seconds of NCCL's algorithms on this network, of a plan"
    usual = {name: row for name, row in found.usual.items() if name in ALGORITHMS}
    for k, outcome in enumerate(found.best):
        times = [(ALGORITHMS[name], row[k].time) for name, row in usual.items()] + [("plan", outcome.seconds)]
        words = ", ".join(f"{name} {seconds_text(time)}" for name, time in times if time is not None)
        yield f"{bytes_text(_nccl_bytes(outcome))}: {words}"
    yield "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff"


# Rings: the XML of NCCL_GRAPH_FILE.

_MOST_CHANNELS = 64


class _Rings(NamedTuple):
    """Rings of a server: the GPUs of each, by their numbers in it; bytes a second of each, inside and beyond.

    `adapters`: by which each leaves the server and comes back, the one of its first GPU; none of a server alone.
    """

    gpus: list[list[int]]
    inside: float
    beyond: float
    adapters: list[int]


def _rings(network: Network) -> _Rings:
    """Return the rings that a graph file has."""
    speeds = network.find(Speeds)
    if speeds is None:
        raise NotApplicableError(f"a graph file of NCCL has bandwidths, and {network.spec} has none")
    rate = network.link_capacity * speeds.bandwidth
    size = server_size(network)
    if size > 1:
        chains = [chain.tolist() for chain in server_chains(network)[:_MOST_CHANNELS]]
        within = _inside_servers(network, size)
        if _follow(network, chains) and 2 * len(chains) <= _MOST_CHANNELS:  # a channel goes one way along cables
            chains += [[*chain[:1], *chain[:0:-1]] for chain in chains]
        beyond = _sent(network, np.where(within, 0.0, rate)) * size / len(chains)
        inside = _inside(network, np.where(within, rate, 0.0), chains, False)
        return _Rings(chains, inside, beyond, [chain[0] for chain in chains])
    found, run = rank_rings(network)
    if run == "ranks" and network.terminal_count == network.node_count:
        raise NotApplicableError(f"no ring of all ranks along the cables of {network.spec} was found")
    rings = [ring.order.tolist() for ring in found[: _MOST_CHANNELS // 2]]
    if run == "cables":  # a channel goes one way around
        rings += [[*ring[:1], *ring[:0:-1]] for ring in rings]
    return _Rings(rings, _inside(network, rate, rings, True), 0.0, [])


def _inside_servers(network: Network, size: int) -> npt.NDArray[np.bool_]:
    """Return which links stay in a server of so many ranks: those to its ranks, or to switches that only they have."""
    source, target, terminals = network.link_source, network.link_target, network.terminal_count
    up = np.flatnonzero((source < terminals) & (target >= terminals))
    low = np.full(network.node_count, terminals, np.int64)
    high = np.full(network.node_count, -1, np.int64)
    np.minimum.at(low, target[up], source[up] // size)
    np.maximum.at(high, target[up], source[up] // size)
    low[:terminals] = high[:terminals] = np.arange(terminals) // size
    return np.asarray((low == high)[source] & (low == high)[target] & (low[source] == low[target]))


def _follow(network: Network, chains: list[list[int]]) -> bool:
    """Return whether all chains go along cables between ranks."""
    cables = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    return all(pair in cables for chain in chains for pair in pairwise(chain))


def _sent(network: Network, rate: npt.NDArray[np.float64]) -> float:
    """Return the bytes a second that a rank sends, the least of all."""
    return float(np.bincount(network.link_source, rate, network.node_count)[: network.terminal_count].min())


def _inside(network: Network, rate: npt.NDArray[np.float64], rings: list[list[int]], closed: bool) -> float:
    """Return the bytes a second of each ring or chain: of its slowest cable, which others share, or of what is sent."""
    cables: dict[tuple[int, int], float] = {}
    for u, v, each in zip(network.link_source.tolist(), network.link_target.tolist(), rate.tolist(), strict=True):
        cables[u, v] = cables.get((u, v), 0.0) + each
    uses = Counter(pair for ring in rings for pair in pairwise([*ring, *ring[:1]] if closed else ring))
    if all(pair in cables for pair in uses):
        return min(cables[pair] / times for pair, times in uses.items())
    return _sent(network, rate) / len(rings)


def write_nccl_graph(network: Network, path: str | PathLike[str]) -> None:
    """Write the rings of a server as XML that NCCL and RCCL load (``NCCL_GRAPH_FILE``).

    Parameters
    ----------
    network : Network
        A server, or several that are alike and load the same file; links have bandwidths. Rank r is device r of a
        server, as in the order of its terminals.
    path : path
        The file, which appears whole or not at all.

    Raises
    ------
    NotApplicableError
        If links have no bandwidths, or no ring of all ranks follows the cables of a network without switches.

    Notes
    -----
    Rings as in `gossamer.algorithms.multinode_broadcast.hamiltonian_cycle.rank_rings`: cycles along cables that share
    none, each as a channel for each direction; of several servers a channel for each accelerator, and where it follows
    cables for each direction, which enters and leaves a server by the adapter of its first GPU; behind a switch one in
    the order of ranks. At most 64.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rings.xml")
    >>> write_nccl_graph(gossamer.network("mi300x"), path)
    >>> gossamer.network(str(path)).link_count
    48
    """
    rings = _rings(network)
    across = bool(rings.adapters)
    lines = [
        '<graphs version="1">',
        f'  <graph id="0" pattern="4" crossnic="0" nchannels="{len(rings.gpus)}" '
        f'speedintra="{_gigabytes(rings.inside)}" speedinter="{_gigabytes(rings.beyond or rings.inside)}" '
        f'latencyinter="0" typeintra="NVL" typeinter="{"PIX" if across else "LOC"}" samechannels="0">',
    ]
    for k, gpus in enumerate(rings.gpus):
        adapter = [f'      <net dev="{rings.adapters[k]:#x}"/>'] if across else []
        lines += [
            "    <channel>",
            *adapter,
            *(f'      <gpu dev="{gpu:#x}"/>' for gpu in gpus),
            *adapter,
            "    </channel>",
        ]
    check_writable(path)
    with whole_file(path) as part:
        part.write_text("\n".join([*lines, "  </graph>", "</graphs>"]) + "\n", encoding="utf-8")


def _gigabytes(value: float) -> str:
    """Return GB/s as NCCL reads them, without exponent."""
    return np.format_float_positional(round(value / 1e9, 6), trim="-")
