"""Total exchange on arrays of any dimension: algorithm A3 (Dimakopoulos 1996, section 5.4), generalized.

Give every message an offset, the cyclic difference of destination and source in each dimension. All messages of one
offset can move together: when each has corrected the same dimensions, every node holds exactly one of them. In one
*run* a dimension performs a total exchange on all of its lines, and every digit of the offset in that dimension can be
served once. So offsets are jobs, pairs (dimension, digit) are machines, and Koenig's theorem packs the runs.

With equal sides n there are ``n**(d-1)`` rounds of ``floor(n*n/4)`` steps, which is the cut bound: optimal. With
unequal sides a round is longer and holds as many runs of each dimension as fit; the best round length is chosen.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.graphs.edge_coloring import color_edges
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Phase, Schedule

__all__ = ["ARRAY_ROUNDS", "Rounds", "array_rounds_exchange", "begin_of_runs", "best_rounds", "exchange_steps"]

# Total exchange on a linear array, furthest first (TE1 of Dimakopoulos 1996, section 4.2).


def exchange_steps(n: int) -> int:
    """Return the steps of the total exchange on a linear array of n nodes, ``floor(n/2) * ceil(n/2)``.

    It is optimal: that many messages cross the middle link in each direction (4.1).

    >>> [exchange_steps(n) for n in range(2, 11)]
    [1, 2, 4, 6, 9, 12, 16, 20, 25]
    """
    return n // 2 * ((n + 1) // 2)


class Rounds(NamedTuple):
    """How the exchange is cut into rounds: their number, the steps of one, and the runs of each dimension in one."""

    number: int
    steps: int
    runs: tuple[int, ...]

    @property
    def time(self) -> int:
        """Steps of all rounds."""
        return self.number * self.steps


def best_rounds(sides: tuple[int, ...], steps_of_run: tuple[int, ...] | None = None) -> Rounds:
    """Return the rounds with the least total time for an array, or another product, with these sides.

    `sides`: sides of at least 2. `steps_of_run`: steps of the exchange along each dimension. Default: those of linear
    arrays, ``floor(n*n/4)``.

    In rounds of R steps a dimension of side n with runs of T steps makes ``floor(R/T)`` runs and needs ``N/n`` runs
    in all; a job makes at most one run a round, so at least d rounds are needed. Candidates for R are the lengths at
    which some dimension gains a run.

    >>> best_rounds((4, 4)), best_rounds((2, 3)).time
    (Rounds(number=4, steps=4, runs=(1, 1)), 4)
    """
    total = math.prod(sides)
    one = steps_of_run or tuple(exchange_steps(n) for n in sides)
    needed = [total // n for n in sides]
    lengths = sorted({t * k for t, n in zip(one, needed, strict=True) for k in range(1, n + 1) if t * k >= max(one)})
    best: Rounds | None = None
    for steps in lengths:
        runs = tuple(steps // t for t in one)
        count = max(len(sides), *(-(-n // r) for n, r in zip(needed, runs, strict=True)))
        if len(sides) == 1:
            count = needed[0]
        if best is None or count * steps < best.time:
            best = Rounds(count, steps, runs)
    assert best is not None
    return best


def array_rounds_exchange(case: Case) -> Schedule:
    """Build the total exchange on an array in rounds of exchanges along its lines.

    On a line of n nodes an exchange takes as long as messages cross the middle link. An array is many lines in each
    dimension, and all of them can run such an exchange at once. A message must be served once in each dimension in
    which its source and destination differ. Which messages take part in which run is an edge coloring: offsets on one
    side, pairs of dimension and digit on the other.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on an array or torus; the wrap-around links of a torus are not used.

    Notes
    -----
    Optimal for equal sides (Dimakopoulos 1996, Theorem 5.8, in any number of dimensions). O(hops) besides sorting them.

    References
    ----------
    Dimakopoulos 1996, section 5.4: algorithm A3, Theorem 5.6, Corollary 5.7 (for powers of two); Gossamer for any d.

    Examples
    --------
    >>> import gossamer
    >>> array_rounds_exchange(Case(gossamer.network("array:3x3"), gossamer.task("alltoall"))).completion_time
    Fraction(6, 1)
    """
    from gossamer.algorithms.total_exchange import edge_colored

    network = case.network
    assert network.grid is not None
    axes = [i for i, side in enumerate(network.grid.sides) if side > 1]
    sides = tuple(network.grid.sides[i] for i in axes)
    n = network.node_count
    if not axes:
        return Schedule.of(case, [], [], [])
    # Step 1: choose how long a round is, and so how many runs each dimension makes in it
    rounds = case.once(best_rounds, sides)
    digits = np.stack(np.unravel_index(np.arange(n), sides), axis=1)
    job, column = np.nonzero(digits)
    # Step 2: color the graph of offsets and digits; a color is a round, in which all lines of a dimension exchange
    begin = begin_of_runs(sides, tuple(map(exchange_steps, sides)), rounds, digits)

    order = np.lexsort((begin, job))
    hops = _hops(network)
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    strides = np.array([math.prod(sides[c + 1 :]) for c in range(len(sides))], np.int64)
    # Step 3: in each run the messages of an offset go along their lines, the furthest first
    edge_colored.move_offsets(
        job[order], column[order], begin[order], digits.astype(np.int64), np.array(sides, np.int64), strides,
        np.ascontiguousarray(grid_links(network)[:, axes]), slot, link, packet,
    )  # fmt: skip
    by_slot = np.argsort(slot, kind="stable")
    phases = [Phase("exchanges along lines", rounds.time)]
    return Schedule.of(case, slot[by_slot], link[by_slot], packet[by_slot], phases=phases)


def _hops(network: Network) -> int:
    """Return the sum of all distances on the array."""
    assert network.grid is not None
    n = network.node_count
    return sum(n * (n // side) * (side * side - 1) // 3 for side in network.grid.sides)


def begin_of_runs(
    sides: tuple[int, ...], steps_of_run: tuple[int, ...], rounds: Rounds, digits: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the slot in which each operation begins, the run in which one dimension of an offset is corrected.

    `sides`, `steps_of_run`, `rounds`: see `best_rounds`. `digits`, int64[N, d]: the digits of every offset. Its
    operations are the digits that are not 0, row by row.

    Returns: int64[operations].
    """
    job, column = np.nonzero(digits)
    digit = digits[job, column]
    # a machine with several runs a round is that many machines with an equal share of the jobs each
    runs = np.array(rounds.runs)
    first = np.concatenate([[0], np.cumsum(np.array(sides) * runs)])
    machine_class = first[column] + digit * runs[column]
    order = np.lexsort((job, machine_class))
    rank = np.empty(job.size, np.int64)
    starts = np.searchsorted(machine_class[order], machine_class[order])
    rank[order] = np.arange(job.size) - starts
    copy = rank % runs[column]
    color = color_edges(job, machine_class + copy, rounds.number)
    begin: npt.NDArray[np.int64] = copy * np.array(steps_of_run, np.int64)[column]
    return color * np.int64(rounds.steps) + begin


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    if grid is None:
        return Refusal("needs an array or a torus")
    refusal = first_refusal(refuse_ports(case.rules), refuse_hops(_hops(case.network)))
    if refusal is not None:
        return refusal
    sides = tuple(side for side in grid.sides if side > 1)
    time = Fraction(case.once(best_rounds, sides).time if sides else 0)
    optimal = case.whole and len(set(sides)) <= 1 and not any(grid.wraps)
    return Offer(lambda: array_rounds_exchange(case), time, optimal=optimal)


ARRAY_ROUNDS = Algorithm(
    name="array-rounds",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="arrays of any dimension and sides (tori too, without their wrap-around links)",
    source="Dimakopoulos 1996, section 5.4 (algorithm A3), generalized to any dimension by Koenig's theorem",
    summary="exchanges along the lines of every dimension, packed in rounds by bipartite edge coloring",
)
