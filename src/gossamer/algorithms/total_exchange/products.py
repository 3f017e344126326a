"""Total exchange in rounds of exchanges along lines: algorithm A3 (Dimakopoulos 1996, section 5.4), generalized.

Give every message an offset, the cyclic difference of the labels of destination and source in each dimension. All
messages of one offset can move together: when each has corrected the same dimensions, every node holds exactly one of
them. In one *run* a dimension performs a total exchange on all of its lines, and every digit of the offset in that
dimension can be served once. So offsets are jobs, pairs (dimension, digit) are machines, and Koenig's theorem packs the
runs.

On arrays with equal sides n there are ``n**(d-1)`` rounds of ``floor(n*n/4)`` steps, which is the cut bound: optimal.
With unequal sides a round is longer and holds as many runs of each dimension as fit; the best round length is chosen.

On products the exchange along a line is any exchange of the factor: in one run the packet from label x to label x' of
the factor carries the message that is at x, has to go to x' and belongs to the one offset that the timetable of the
runs lets have the digit ``x' - x``. With d equal factors of n nodes there are ``n**(d-1)`` rounds, each as long as the
exchange of the factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops, refuse_ports
from gossamer.algorithms.total_exchange.busiest_node_first import BUSIEST_FIRST, total_distance
from gossamer.algorithms.total_exchange.edge_colored import EDGE_COLORED
from gossamer.algorithms.total_exchange.node_invariant import GREEDY_OFFSETS, NODE_INVARIANT_FIFO
from gossamer.algorithms.total_exchange.ring_queues import PARITY_SHIFT
from gossamer.graphs.edge_coloring import color_edges
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Phase, Schedule

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


def _propose_array(case: Case) -> Offer[Schedule] | Refusal:
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
    propose=_propose_array,
    networks="arrays of any dimension and sides (tori too, without their wrap-around links)",
    source="Dimakopoulos 1996, section 5.4 (algorithm A3), generalized to any dimension by Koenig's theorem",
    summary="exchanges along the lines of every dimension, packed in rounds by bipartite edge coloring",
)


# Total exchanges of the factors of a product, as plain columns from which an exchange of the product is made.


@dataclass(frozen=True, eq=False)
class FactorExchange:
    """The hops of a total exchange, by slot.

    `steps`: its completion time. `slot`, int32[H]: the slot of each hop. `node`, `port`, int32[H]: the node from which
    a hop leaves, and the number of the link among those of the node. `source`, `target`, int32[H]: origin and
    destination of the packet.
    """

    steps: int
    slot: IntArray
    node: IntArray
    port: IntArray
    source: IntArray
    target: IntArray


def columns_of(schedule: Schedule) -> FactorExchange:
    """Return the columns of an explicit or invariant exchange of whole messages."""
    explicit = schedule.expand()
    network, table, n = explicit.network, explicit.packets, explicit.network.node_count
    node = network.link_source[explicit.link]
    port = (explicit.link - network.first_link[node]).astype(np.int32)
    target: npt.NDArray[np.int64] = table.message[explicit.packet] % n
    return FactorExchange(
        int(explicit.completion_time), explicit.slot, node, port,
        table.origin[explicit.packet], target.astype(np.int32),
    )  # fmt: skip


@dataclass(frozen=True)
class FactorExchanges:
    """Which exchanges of its factors an algorithm for products puts together.

    `rules`: the rules under which the factors exchange. `algorithms`, callable: the algorithms that a factor may use.
    Ties go to the earlier one.
    """

    rules: Rules
    algorithms: Callable[[Network], tuple[Algorithm, ...]]

    def case(self, product: Case, factor: Network) -> Case:
        """Return the exchange of a factor, as a case that shares what is known with that of the product."""
        return product.related(factor, TotalExchange(), self.rules)

    def steps(self, product: Case, factor: Network) -> int:
        """Return the steps of `exchange`, without building it where they are promised."""
        return product.once(self._fastest, self.case(product, factor))[0]

    def exchange(self, product: Case, factor: Network) -> FactorExchange:
        """Return the shortest exchange of a factor that the algorithms give."""
        case = self.case(product, factor)
        return product.once(_exchange_by, product.once(self._fastest, case)[1], case)

    def refuse(self, product: Case) -> Refusal | None:
        """Refuse where exchanges of the factors make none of the network, or not."""
        network = product.network
        if not network.factors:
            return Refusal("needs a product of networks")
        for factor in network.factors:
            found = [a.offers(self.case(product, factor)) for a in self.algorithms(factor)]
            if factor.node_count > 1 and all(isinstance(f, Refusal) for f in found):
                return Refusal(f"cannot exchange along factor {factor.spec}, where it {found[-1]}")
        n = network.node_count
        return refuse_hops(sum((n // f.node_count) ** 2 * product.once(total_distance, f) for f in network.factors))

    def _fastest(self, case: Case) -> tuple[int, Algorithm]:
        """Return the least steps and the algorithm that takes them; without an exact promise it is built to learn."""
        timed: list[tuple[int, Algorithm]] = []
        for algorithm in self.algorithms(case.network):
            found = algorithm.offers(case)
            if isinstance(found, Refusal):
                continue
            exact = found[0].time if found[0].promise == "exact" else None
            steps = case.once(_exchange_by, algorithm, case).steps if exact is None else int(exact)
            timed.append((steps, algorithm))
        return min(timed, key=lambda pair: pair[0])


def _exchange_by(algorithm: Algorithm, case: Case) -> FactorExchange:
    return columns_of(algorithm.build(case))


# Total exchange with one port on products, from exchanges of the factors.
#
# Algorithm A2 (Dimakopoulos 1996, section 5.3). In G = A x B, messages first go to the right place in their copy of B,
# in as many exchanges of B as A has nodes, and then along the copies of A, in as many exchanges of A as B has nodes.
# More factors are taken one after the other.


def two_phase_product_exchange(case: Case) -> Schedule:
    """Build the exchange of a product from exchanges of its factors, the last factor first.

    With one port all that counts is that every node sends and receives something useful in every slot. In a product A
    x B every message first goes to its place within its copy of B, and then along its copy of A. The first part is as
    many exchanges of B as A has nodes, the second as many of A as B has nodes.

    Parameters
    ----------
    case : Case
        A total exchange on a product, with any ports; in every slot each node sends at most one packet and receives at
        most one. Factors that are Cayley networks exchange by `node_invariant_exchange`, other products by this
        algorithm or directly, whichever is faster, and the rest by `busiest_first_exchange`.

    Returns
    -------
    Schedule
        Explicit, one phase for each factor.

    Notes
    -----
    ``n1*T_B + n2*T_A`` steps for A of n1 and B of n2 nodes (Theorem 5.3), ``N * sum(T_i/n_i)`` for any number
    of factors (Corollary 5.4). Optimal where each T_i is the average status of its factor (Theorem 5.5), as in every
    Cayley network, never in linear arrays of 3 nodes or more. O(hops).

    References
    ----------
    Dimakopoulos 1996, Fig. 5.3 (A2), Theorems 5.3 and 5.5, Corollary 5.4. Algorithm A1 of that section, which first
    moves all messages along B and only then along A, leaves the timing of the first phase open.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), TotalExchange(), Rules(ports="one"))
    >>> two_phase_product_exchange(case).completion_time      # 3*4 + 4*2
    Fraction(20, 1)
    """
    network, n = case.network, case.network.node_count
    # Step 1: take the fastest one-port exchange that is known for each factor
    whole, *others = (_TWO_PHASE_FACTORS.exchange(case, f) for f in network.factors)
    degree = network.factors[0].out_degree
    phases = [whole.steps]
    # Step 2: put factor after factor to the product: exchanges along the new one first, then those of the others
    for factor, exchange in zip(network.factors[1:], others, strict=True):
        phases = [exchange.steps * degree.size, *(steps * factor.node_count for steps in phases)]
        whole = _combined(whole, degree, exchange, factor.node_count)
        degree = np.add.outer(degree, factor.out_degree).reshape(-1)
    # Step 3: write the hops down for the nodes of the whole product
    link = network.first_link[whole.node] + whole.port
    packet = whole.source * np.int64(n - 1) + whole.target - (whole.target > whole.source)
    last = len(phases) - 1
    named = [Phase(f"exchanges along dimension {last - i}", steps) for i, steps in enumerate(phases)]
    return Schedule.of(case, whole.slot, link, packet, phases=named)


def _combined(a: FactorExchange, degree: npt.NDArray[np.int64], b: FactorExchange, nb: int) -> FactorExchange:
    """Return algorithm A2 on A x B: `degree` holds the out-degree of each node of A, `nb` is the nodes of B."""
    na = degree.size
    first = na * na * b.slot.size
    slot, node, port, source, target = columns = [np.empty(first + nb * nb * a.slot.size, np.int32) for _ in range(5)]
    copy = np.arange(na)
    for r, (at, to, of, start, end) in enumerate(_blocks(columns, 0, na, b)):  # destinations (v_r, *)
        at[:], of[:] = (b.slot + r * b.steps)[:, None], b.port[:, None] + degree
        to[:], start[:], end[:] = (copy * nb + x[:, None] for x in (b.node, b.source, b.target))
        end += (r - copy) * nb
    copy = np.arange(nb)
    for k, (at, to, of, start, end) in enumerate(_blocks(columns, first, nb, a)):  # sources (*, u_k)
        at[:], of[:] = (a.slot + (na * b.steps + k * a.steps))[:, None], a.port[:, None]
        to[:], start[:], end[:] = a.node[:, None] * nb + copy, a.source[:, None] * nb + k, a.target[:, None] * nb + copy
    return FactorExchange(na * b.steps + nb * a.steps, slot, node, port, source, target)


def _blocks(
    columns: list[npt.NDArray[np.int32]], first: int, runs: int, exchange: FactorExchange
) -> Iterator[list[npt.NDArray[np.int32]]]:
    """Yield for each run the part of every column in which it stands, one row a hop, one column a copy."""
    size = exchange.slot.size * runs
    for r in range(runs):
        yield [c[first + r * size : first + (r + 1) * size].reshape(-1, runs) for c in columns]


def _two_phase_algorithms(factor: Network) -> tuple[Algorithm, ...]:
    """Return the algorithms that a factor may use."""
    return (NODE_INVARIANT_FIFO,) if factor.group is not None else (TWO_PHASE_PRODUCT, BUSIEST_FIRST)


_TWO_PHASE_FACTORS = FactorExchanges(Rules(ports="one"), _two_phase_algorithms)


def _propose_two_phase(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(_TWO_PHASE_FACTORS.refuse(case), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    n, factors = case.network.node_count, case.network.factors
    return Offer(
        lambda: two_phase_product_exchange(case),
        Fraction(sum(n // f.node_count * _TWO_PHASE_FACTORS.steps(case, f) for f in factors)),
        optimal=case.limited and all(f.group is not None for f in factors),
    )


TWO_PHASE_PRODUCT = Algorithm(
    name="two-phase-product",
    tasks=(TotalExchange,),
    propose=_propose_two_phase,
    networks="products of networks: arrays, tori, hypercubes, hypercycles and others",
    source="Dimakopoulos 1996, section 5.3 (algorithm A2), Theorems 5.3 and 5.5",
    summary="exchanges along the last factor, as many as the others have nodes, then along the one before, and so on",
)


def product_rounds_exchange(case: Case) -> Schedule:
    """Build the exchange of a product in rounds of exchanges of its factors, all dimensions at once.

    A product network is many copies of its factors, crossing each other. If an exchange within a factor is known, all
    copies can run it at once, and in all dimensions at the same time. Messages are sorted by offset, the difference of
    source and destination in each dimension; an edge coloring of offsets with digits says which of them take part in
    which run.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a product of networks for which there is an exchange with all ports: arrays,
        Cayley networks and products of them. The fastest that is registered for a factor is used.

    Returns
    -------
    Schedule
        Explicit.

    Notes
    -----
    ``n**(d-1) * T_H`` steps for d factors H of n nodes whose exchange takes T_H (Theorem 5.6; Corollary 5.7 for d a
    power of two). Where T_H is exactly the cut bound (4.1) of H, not rounded up, the time is that of the product
    (Theorem 5.8): on arrays, and on tori with sides that are odd or multiples of four. O(hops).

    References
    ----------
    Dimakopoulos 1996, section 5.4, Fig. 5.5 (A3), Theorems 5.6 and 5.8, Corollary 5.7; Gossamer for any d.

    Examples
    --------
    >>> import gossamer
    >>> product_rounds_exchange(Case(gossamer.network("torus:6x6"), TotalExchange())).completion_time
    Fraction(30, 1)
    """
    from gossamer.algorithms.total_exchange import edge_colored

    network, n = case.network, case.network.node_count
    factors = _factors(network)
    if not factors:
        return Schedule.of(case, [], [], [])
    sides = tuple(f.node_count for f in factors)
    # Step 1: take the fastest exchange that is known for each factor
    exchanges = [_FACTORS.exchange(case, f) for f in factors]
    steps = tuple(e.steps for e in exchanges)
    # Step 2: choose the length of a round, and how many runs each dimension makes in it
    rounds = case.once(best_rounds, sides, steps)
    digits = np.stack(np.unravel_index(np.arange(n), sides), axis=1).astype(np.int64)
    # Step 3: color the graph of offsets and digits: a color is a round
    begin = begin_of_runs(sides, steps, rounds, digits)
    job, column = np.nonzero(digits)
    order = np.lexsort((begin, job))
    strides = np.array([math.prod(sides[c + 1 :]) for c in range(len(sides))], np.int64)
    first_pair, first_hop, hop_slot, hop_node, hop_port = _hops_of_pairs(sides, exchanges)
    # each factor's hops, for every pair of places in the other dimensions
    hops = sum((n // side) ** 2 * e.slot.size for side, e in zip(sides, exchanges, strict=True))
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    # Step 4: in each run every copy of the factor carries the messages that the coloring gives it
    edge_colored.move_in_lines(
        job[order], column[order], begin[order], digits, np.array(sides, np.int64), strides,
        _first_links(network, digits, factors), first_pair, first_hop, hop_slot, hop_node, hop_port, slot, link, packet,
    )  # fmt: skip
    by_slot = np.argsort(slot, kind="stable")
    phases = [Phase("exchanges along lines", rounds.time)]
    return Schedule.of(case, slot[by_slot], link[by_slot], packet[by_slot], phases=phases)


def _factors(network: Network) -> list[Network]:
    """Return the factors of more than one node."""
    return [f for f in network.factors if f.node_count > 1]


def _first_links(network: Network, digits: npt.NDArray[np.int64], factors: list[Network]) -> npt.NDArray[np.int64]:
    """Return the first of the links of each node along each dimension, int64[N, d]."""
    degree = np.stack([f.out_degree[digits[:, c]] for c, f in enumerate(factors)], axis=1)
    return network.first_link[:-1, None] + np.cumsum(degree, axis=1) - degree


def _hops_of_pairs(sides: tuple[int, ...], exchanges: list[FactorExchange]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the exchanges of all factors, hops by pair of labels and then by slot; see `move_in_lines`."""
    pairs = [side**2 for side in sides]
    first_pair = np.cumsum([0, *pairs[:-1]])
    columns: list[list[npt.NDArray[np.int64]]] = []
    for e, side, first in zip(exchanges, sides, first_pair.tolist(), strict=True):
        pair = e.source.astype(np.int64) * side + e.target
        order = np.argsort(pair, kind="stable")
        columns.append([c[order].astype(np.int64) for c in (pair + first, e.slot, e.node, e.port)])
    pair, slot, node, port = (np.concatenate(c) for c in zip(*columns, strict=True))
    first_hop = np.searchsorted(pair, np.arange(sum(pairs) + 1))
    return first_pair, first_hop, slot, node, port


def _algorithms(factor: Network) -> tuple[Algorithm, ...]:
    """Return the algorithms that a factor may use."""
    if factor.grid is not None and factor.grid.dimensions == 1:
        return (PARITY_SHIFT, EDGE_COLORED) if factor.grid.wraps[0] else (ARRAY_ROUNDS,)
    return (EDGE_COLORED, ARRAY_ROUNDS, HOMOGENEOUS_PRODUCT, PRODUCT_ROUNDS, GREEDY_OFFSETS)


_FACTORS = FactorExchanges(Rules(), _algorithms)


def _homogeneous(network: Network) -> bool:
    factors = _factors(network)
    return all(f == factors[0] for f in factors)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_ports(case.rules), _FACTORS.refuse(case))
    if refusal is not None:
        return refusal
    factors = _factors(case.network)
    sides, steps = tuple(f.node_count for f in factors), tuple(_FACTORS.steps(case, f) for f in factors)
    time = Fraction(case.once(best_rounds, sides, steps).time if factors else 0)
    return Offer(lambda: product_rounds_exchange(case), time, optimal=case.whole and _meets_the_cut(case.network))


def _meets_the_cut(network: Network) -> bool:
    """Whether the exchange of the factor takes exactly the cut bound, not rounded up (Theorem 5.8)."""
    if network.grid is None:
        return False
    sides = {(side, wraps) for side, wraps in zip(network.grid.sides, network.grid.wraps, strict=True) if side > 1}
    return len(sides) <= 1 and all(side % 4 != 2 or not wraps for side, wraps in sides)


def _propose_homogeneous(case: Case) -> Offer[Schedule] | Refusal:
    if not case.network.factors or not _homogeneous(case.network):
        return Refusal("needs a product of equal networks")
    return _propose(case)


HOMOGENEOUS_PRODUCT = Algorithm(
    name="homogeneous-product",
    tasks=(TotalExchange,),
    propose=_propose_homogeneous,
    networks="products of equal networks: square arrays and tori, hypercubes, powers of Cayley networks",
    source="Dimakopoulos 1996, section 5.4 (algorithm A3), generalized to any dimension by Koenig's theorem",
    summary="in every round all dimensions run the exchange of the factor along all lines",
)


def _propose_rounds(case: Case) -> Offer[Schedule] | Refusal:
    if not case.network.factors:
        return Refusal("needs a product of networks")
    if _homogeneous(case.network):
        return Refusal("needs a product of different networks")
    return _propose(case)


PRODUCT_ROUNDS = Algorithm(
    name="product-rounds",
    tasks=(TotalExchange,),
    propose=_propose_rounds,
    networks="products of different networks: arrays, tori, hypercycles and products of Cayley networks",
    source="gossamer; algorithm A3 of Dimakopoulos 1996, section 5.4, for factors that differ",
    summary="every dimension runs the exchange of its factor along all lines as often as fits in a round",
)
