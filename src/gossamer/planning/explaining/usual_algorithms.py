"""Usual algorithms beside a schedule: rings, trees and exchanges among ranks, laid over the network and verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.mpi_library_algorithms import (
    bruck_tree,
    doubling_tree,
    exchanged_in_rounds,
    parallel_aggregated_tree,
    ring_tree,
)
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import disjoint_hamiltonian_cycles
from gossamer.errors import GossamerError, TaskError
from gossamer.graphs.round_routing import SentPackets
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.planning.explaining.advice import AskedAgain
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case
from gossamer.questions.costs import Clock, StepCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Chunked,
    Gather,
    Grouped,
    MultinodeBroadcast,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    Together,
    TotalExchange,
    in_packets,
    packets_of,
)
from gossamer.verification import verify

__all__ = ["Beside", "beside"]

Longs = npt.NDArray[np.int64]
Say = Callable[[str], None]

_LITTLE = Fraction(1, 200)
"""Share of the time that more packets must gain to be worth trying more."""


@dataclass(frozen=True)
class Beside:
    """A usual algorithm on the same network.

    Attributes
    ----------
    name : str
        What is sent to whom.
    usual : str
        Who uses it, and when.
    time : Fraction or None
        In seconds or in the unit of the cost; None where it does not run here.
    packets : int
        Packets a message that take least of those tried.
    skipped : str
        Why it does not run here, or an empty text.
    """

    name: str
    usual: str
    time: Fraction | None
    packets: int = 1
    skipped: str = ""


_MOST_SENT = 200_000
"""Packets that ranks send at the most."""
_LONG = 1.0
"""Seconds that a number of packets may take to build, so that more are tried."""
_CUTS = (1, 8, 64, 512)
"""Packets a message that are tried, in seconds."""


def beside(asked: AskedAgain, budget: float, say: Say) -> tuple[tuple[Beside, ...], str]:
    """Return how rings, trees and exchanges among ranks compare on the network, and a remark if there are none.

    Parameters
    ----------
    asked : AskedAgain
        The question.
    budget : float
        Seconds after which no further one is built.
    say : callable
        Told what is built.
    """
    task = asked.task.task if isinstance(asked.task, Chunked) else asked.task
    if asked.switching == "wormhole":
        return (), "rings and trees of libraries are compared for store-and-forward schedules only"
    if isinstance(task, Grouped | Together):
        return (), "rings and trees of libraries are compared for one collective among all nodes only"
    if asked.rules is not None and (asked.rules.buffer is not None or asked.rules.reduction):
        return (), "rings and trees of libraries are not compared under a limit of buffers or with sums in switches"
    if asked.network.terminal_count < 2:
        return (), "one node alone has nobody to send to"
    until, found = time.monotonic() + budget, list[Beside]()
    for name, usual, parts in _usual(asked, task):
        say(f"building: {name}")
        if time.monotonic() > until:
            found.append(Beside(name, usual, None, skipped="left out for lack of time"))
            continue
        try:
            found.append(_timed(asked, name, usual, parts, until))
        except GossamerError as error:
            found.append(Beside(name, usual, None, skipped=str(error).partition("; ")[0]))
    remark = "" if found else f"no usual ring or tree is known for {task.name}"
    return tuple(sorted(found, key=lambda each: (each.time is None, each.time or 0))), remark


_Sent = Callable[[int], Longs | None]
"""From a number of ranks to who sends in which round what of each root."""
_Half = tuple[Task, Sequence[_Sent] | str]
"""A collective, and the patterns that its packets take in turns, or an algorithm by name."""


def _usual(asked: AskedAgain, task: Task) -> Iterator[tuple[str, str, Sequence[_Half]]]:
    """Yield usual algorithms: a name, who uses them, and the halves that follow one another."""
    n = asked.network.terminal_count
    size = asked.cost.bytes if isinstance(asked.cost, TimeCost) else 0
    power, gather, trees = n & (n - 1) == 0, MultinodeBroadcast(), [_binary_tree, _mirrored_tree]

    def here(yes: bool) -> str:
        return ", as here" if yes and size else ""

    match task:  # sizes as in MPICH: Thakur, Rabenseifner and Gropp 2005
        case MultinodeBroadcast() | ReduceScatter():
            small = size * n < 512 * 1024 if power else size * n < 80 * 1024
            yield "ring", f"NCCL; MPI for long messages{here(not small)}", [(task, [ring_tree])]
            yield "recursive doubling", f"MPI for short messages{here(small and power)}", [(task, [doubling_tree])]
            words = f"MPI for short messages of other numbers of ranks{here(small and not power)}"
            yield "Bruck", words, [(task, [bruck_tree])]
            yield "binomial trees (PAT)", "NCCL, one rank a server", [(task, [parallel_aggregated_tree])]
        case Allreduce():
            yield "ring", "NCCL for long messages", [(ReduceScatter(), [ring_tree]), (gather, [ring_tree])]
            words, far = f"MPI for long messages (Rabenseifner){here(size > 2048)}", [_halving_tree]
            yield "halving and doubling", words, [(ReduceScatter(), far), (gather, far)]
            words = "NCCL for short messages; a tree a rank, down after up"
            yield "double binary trees", words, [(ReduceScatter(), trees), (gather, trees)]
            one: list[_Sent] = [parallel_aggregated_tree]
            yield "binomial tree", "reduce, then broadcast", [(Reduce(), one), (Broadcast(), one)]
        case Broadcast() | Reduce():
            yield "ring", "NCCL", [(task, [_one_way_ring])]
            words = f"MPI for short messages{here(size < 12 * 1024)}"
            yield "binomial tree", words, [(task, [parallel_aggregated_tree])]
            words, both = f"MPI for long messages{here(size >= 12 * 1024)}", [ring_tree]
            if isinstance(task, Broadcast):
                halves: Sequence[_Half] = [(Scatter(task.root), "halving-scatter"), (gather, both)]
                yield "scatter and ring", words, halves
            else:
                halves = [(ReduceScatter(), both), (Gather(task.root), "reversed-halving-scatter")]
                yield "ring and gather", words, halves
        case Scatter():
            yield "binomial tree", "MPI", [(task, "halving-scatter")]
        case Gather():
            yield "binomial tree", "MPI", [(task, "reversed-halving-scatter")]
        case TotalExchange():
            yield "pairwise exchange", "NCCL; MPI for long messages", [(task, "pairwise-exchange")]
            yield "Bruck", "MPI for short messages", [(task, "bruck-exchange")]


def _one_way_ring(count: int) -> Longs:
    """Return one way round a ring.

    >>> _one_way_ring(3)[1].tolist()
    [[0, 1, 2], [1, 2, 0]]
    """
    root, k = np.arange(count)[:, None], np.arange(count - 1)[None, :]
    return np.stack([np.broadcast_to(k, (count, count - 1)), (root + k) % count, (root + k + 1) % count], axis=2)


def _binary_tree(count: int, mirrored: bool = False) -> Longs:
    """Return a binary tree in the order of ranks for each root; mirrored, nodes inside are leaves of the other.

    >>> _binary_tree(4)[0].tolist()
    [[0, 0, 2], [1, 2, 1], [1, 2, 3]]
    """
    rows: list[tuple[int, int, int]] = []

    def grow(parent: int, low: int, high: int, depth: int) -> None:
        if low < high:
            middle = (low + high) // 2
            rows.append((depth, parent, middle))
            grow(middle, low, middle, depth + 1)
            grow(middle, middle + 1, high, depth + 1)

    grow(0, 1, count, 0)
    tree = np.array(sorted(rows), np.int64).reshape(-1, 3)
    if mirrored:
        tree[:, 1:] = -tree[:, 1:] % count
    found = np.repeat(tree[None], count, axis=0)
    found[:, :, 1:] = (found[:, :, 1:] + np.arange(count)[:, None, None]) % count
    return found


def _halving_tree(count: int) -> Longs | None:
    """Return the furthest partners of recursive doubling first, so that most data is sent near; as Rabenseifner does.

    >>> _halving_tree(4)[1].tolist()
    [[0, 1, 3], [1, 1, 0], [1, 3, 2]]
    """
    if count & (count - 1):
        return None
    far = [1 << k for k in range((count - 1).bit_length())][::-1]
    rows = [(k, p, p + d) for k, d in enumerate(far) for p in range(0, count, 2 * d)]
    found = np.repeat(np.array(rows, np.int64).reshape(1, -1, 3), count, axis=0)
    found[:, :, 1:] ^= np.arange(count)[:, None, None]
    return found


def _mirrored_tree(count: int) -> Longs:
    """Return the other tree of a pair."""
    return _binary_tree(count, mirrored=True)


def _timed(asked: AskedAgain, name: str, usual: str, halves: Sequence[_Half], until: float) -> Beside:
    """Return what an algorithm takes with as many packets a message as take least of some."""
    given = packets_of(asked.task)
    best: tuple[Fraction, int] | None = None
    for cut in _CUTS if asked.seconds else (given,):
        total, begun = Fraction(0), time.monotonic()
        try:
            for task, patterns in halves:
                each = _half(asked, in_packets(task, cut), patterns)
                if each is None:
                    return Beside(name, usual, None, skipped="needs a number of ranks that is a power of two")
                total += each
        except TaskError:
            if best is None:
                raise
            break
        gained = best is None or total < best[0] * (1 - _LITTLE)
        best = (total, cut) if best is None else min(best, (total, cut))
        if not gained or time.monotonic() - begun > _LONG or time.monotonic() > until:
            break
    assert best is not None
    return Beside(name, usual, *best)


def _half(asked: AskedAgain, task: Task, patterns: Sequence[_Sent] | str) -> Fraction | None:
    """Return what a collective by patterns, or by an algorithm of that name, takes, verified; None if there is none."""
    cost, inner = asked.cost, task.task if isinstance(task, Chunked) else task
    blocks = isinstance(asked.task, Allreduce | Broadcast | Reduce) and not isinstance(inner, Broadcast | Reduce)
    if isinstance(cost, TimeCost) and blocks:  # a block of the buffer for each rank
        cost = replace(cost, bytes=-(-cost.bytes // asked.network.terminal_count))
    if isinstance(patterns, str):
        cost = replace(cost, whole=True) if isinstance(cost, TimeCost) else cost
        found = plan(asked.network, task, rules=asked.rules, cost=cost, algorithm=patterns)
        return found.completion_time if found.seconds is None else found.seconds
    network = asked.network
    clock: StepCost = cost if isinstance(cost, StepCost) else StepCost()
    if isinstance(cost, TimeCost):
        network, clock = cost.on(network, task)
    case = Case(network, task, replace(asked.rules or Rules(), segmented=False).on(network), clock)
    backwards = isinstance(inner, Reduce | ReduceScatter)
    forward = case.dual if backwards else case
    sent = _sends(forward, patterns)
    if sent is None:
        return None
    schedule = exchanged_in_rounds(forward, sent)
    schedule = schedule.reverse() if backwards else schedule
    verify(schedule).raise_if_invalid()
    taken = schedule.completion_time
    return clock.seconds(taken) if isinstance(clock, Clock) else taken


def _sends(case: Case, patterns: Sequence[_Sent]) -> SentPackets | None:
    """Return what ranks send: packets take patterns and orders of the ranks in turns."""
    network, task = case.network, case.task
    n, packets = network.terminal_count, packets_of(task)
    inner = task.task if isinstance(task, Chunked) else task
    roots = np.array([inner.root]) if isinstance(inner, Broadcast) else np.arange(n)
    if roots.size * (n - 1) * packets > _MOST_SENT:
        raise TaskError(f"ranks send over {_MOST_SENT:,} packets")
    trees = [pattern(n) for pattern in patterns]
    orders = _orders(network, rings=patterns[0] in (ring_tree, _one_way_ring))
    columns = []
    for k, tree in enumerate(trees):
        if tree is None:
            return None
        for turn, order in enumerate(orders):
            place = np.empty(n, np.int64)
            place[order] = np.arange(n)
            for p in range(packets):
                mine = np.flatnonzero((roots + p) % (len(trees) * len(orders)) == k * len(orders) + turn)
                if mine.size:
                    rows = tree[place[roots[mine]]]
                    columns.append((rows[..., 0], order[rows[..., 1]], order[rows[..., 2]],
                                    np.repeat(mine * packets + p, n - 1).reshape(mine.size, -1)))  # fmt: skip
    step, source, target, packet = (
        np.concatenate([np.reshape(part, -1) for part in c]).astype(np.int64) for c in zip(*columns, strict=True)
    )
    by_step = np.argsort(step, kind="stable")
    return SentPackets(step[by_step], source[by_step], target[by_step], packet[by_step])


def _orders(network: Network, rings: bool) -> list[Longs]:
    """Return orders of the ranks: cycles of a grid, or server by server from each accelerator on, as NCCL's channels.

    >>> import gossamer
    >>> [order.tolist() for order in _orders(gossamer.network("torus:2x3"), True)]
    [[1, 2, 5, 4, 3, 0]]
    """
    n, every = network.terminal_count, np.arange(network.terminal_count)
    grid = network.grid
    if grid is not None and n == network.node_count:
        cycles = disjoint_hamiltonian_cycles(grid) if rings else []
        return [cycle.astype(np.int64) for cycle in cycles] or [every]
    size = _server_size(network)
    if size in (1, n):
        return [every]
    found = []
    for turn in range(size):
        lines = every.reshape(-1, size)[:, (turn + np.arange(size)) % size].copy()
        if rings:  # what leaves a server at an accelerator enters the next one at the same
            lines[1::2] = lines[1::2, ::-1]
        found.append(lines.reshape(-1))
    return found


def _server_size(network: Network) -> int:
    """Return how many ranks, numbered one after the other, the fastest links join; 1 where that is no even number."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    speeds, nodes = network.find(Speeds), network.node_count
    rate = network.link_capacity / network.link_occupancy if speeds is None else speeds.bandwidth
    if not rate.size or float(rate.min()) == float(rate.max()):
        return 1
    fast = np.flatnonzero(rate >= float(rate.max()) * (1 - 1e-9))
    graph = coo_array((np.ones(fast.size), (network.link_source[fast], network.link_target[fast])), (nodes, nodes))
    of = connected_components(graph.tocsr(), directed=False)[1][: network.terminal_count]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    sizes = np.diff(np.append(first, of.size))
    same = np.unique(of).size == first.size and bool((sizes == sizes[0]).all())
    return int(sizes[0]) if same else 1
