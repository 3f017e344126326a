"""Kunde's routing: sort blocks by the column of the destination, then go along rows and columns.

With e x e blocks of n/e rows, the messages of a block for one column are next to each other in the order of the columns
after sorting, so that few are in one row of it: of all messages in a row of the array, at most 2e-1 go to one column.
They do not pile up at the turn as in greedy routing.

Blocks are sorted by 4-way mergesort on the nodes of a rectangle, in about 7n steps of compare-exchanges between
neighbors. A rectangle is *roughly sorted* if every key is in the right column already. Four roughly sorted quarters are
merged by: sort the columns of the quarters, those on the left down and those on the right up; sort the rows; sort the
columns, every second one upwards; sort the rows. At last all columns are sorted downwards. (The source exchanges rows
and columns.) By the 0-1 principle, ceil(w/2) steps are enough for the last sort of rows of w.

The merge is right if the columns have even length; so a rectangle of h rows, h = o * 2^k with o odd, starts from
rectangles of o rows, which shearsort sorts roughly: ceil(log2 w) times, columns in alternating directions, then rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.algorithms.routing.greedy import refuse_paths, sources_and_targets
from gossamer.graphs.lock_step_movement import LockStep, legs_between, moves_along
from gossamer.jit import njit
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule
from gossamer.schedules.hop_sinks import CHUNK, Chunk, Sink, record

# 4-way mergesort.


@njit(cache=True, nogil=True, small=100_000)
def _compare_exchange(
    step, link, packet, first, done, steps, key, held, stride, pairs, descending, up, down,
):  # fmt: skip
    """Make steps of odd-even transposition: nodes u and u+stride exchange what they hold if it is out of order.

    * `step`, `link`, `packet`, int32[h]: written from the first row on, as long as the hops of one more step fit.
    * `first`, `done`, `steps`: step of the phase in which the round begins, steps of the round that are made already,
      and all its steps.
    * `key`, `held`, int32[N]: key and packet (-1 for none) of each node, rearranged.
    * `pairs`, int32[2, p]: lower ends u of the pairs of even and of odd steps, -1 for none.
    * `descending`, bool[N]: whether the larger key belongs to u.
    * `up`, `down`, int32[N]: link from each node to the node above, and below.

    Returns: `filled`, `done`: hops written, and steps made now.
    """
    filled = 0
    while done < steps and filled + 2 * pairs.shape[1] <= step.size:
        for u in pairs[done & 1]:
            if u < 0:
                break
            v = u + stride
            if (key[v] > key[u]) if descending[u] else (key[u] > key[v]):
                key[u], key[v] = key[v], key[u]
                a, b = held[u], held[v]
                held[u], held[v] = b, a
                if a >= 0:
                    step[filled], link[filled], packet[filled] = first + done, up[u], a
                    filled += 1
                if b >= 0:
                    step[filled], link[filled], packet[filled] = first + done, down[v], b
                    filled += 1
        done += 1
    return filled, done


class Round(NamedTuple):
    """Steps in which every line of a region along one axis is sorted.

    * `axis`: 0: columns are sorted, downwards unless turned; 1: rows, to the right.
    * `cuts`: where the segments of the lines begin, and the end of the last one.
    * `steps`: steps of odd-even transposition.
    * `turned`: columns that are sorted upwards: ``"none"``; ``"odd"``, every second of a region; ``"right"``, the right
      halves.
    * `across`: the cuts between regions along the other axis, by which columns are turned.
    """

    axis: int
    cuts: tuple[int, ...]
    steps: int
    turned: str = "none"
    across: tuple[int, ...] = ()


def rounds(sides: tuple[int, int], blocks: int) -> list[Round]:
    """Return the rounds that sort every block of an array of which both sides are cut into `blocks` equal parts.

    Examples
    --------
    >>> [(r.axis, r.steps, r.turned) for r in rounds((4, 4), 2)]
    [(1, 1, 'none'), (0, 1, 'odd'), (1, 1, 'none'), (0, 1, 'none')]
    """
    rows = [tuple(range(0, sides[0] + 1, sides[0] // blocks))]
    columns = [tuple(range(0, sides[1] + 1, sides[1] // blocks))]
    while _longest(rows[-1]) % 2 == 0:
        rows.append(_halved(rows[-1]))
        columns.append(_halved(columns[-1]))
    height, width = _longest(rows[-1]), _longest(columns[-1])
    made = []
    if height == 1:
        made.append(Round(1, columns[-1], _transposition(width)))
    else:
        for _ in range((width - 1).bit_length()):
            made.append(Round(0, rows[-1], _transposition(height), "odd", columns[-1]))
            made.append(Round(1, columns[-1], _transposition(width)))
    for level in range(len(rows) - 2, -1, -1):
        height, width = _longest(rows[level]), _longest(columns[level])
        made.append(Round(0, rows[level + 1], _transposition(height // 2), "right", columns[level]))
        made.append(Round(1, columns[level], _transposition(width)))
        made.append(Round(0, rows[level], _transposition(height), "odd", columns[level]))
        made.append(Round(1, columns[level], (width + 1) // 2 if width > 1 else 0))
    made.append(Round(0, rows[0], _transposition(_longest(rows[0]))))
    return [r for r in made if r.steps]


def sort_steps(sides: tuple[int, int], blocks: int) -> int:
    """Return the steps that sorting the blocks takes: 7b - 10 for blocks of b x b nodes, b a power of two from 4 on.

    >>> [sort_steps((n, n), 1) for n in (2, 4, 8, 16, 32)]
    [4, 18, 46, 102, 214]
    """
    return sum(r.steps for r in rounds(sides, blocks))


def sort_blocks(network: Network, blocks: int, key: IntArray, held: IntArray, sink: Sink, name: str = "sort") -> int:
    """Sort the packets of every block by key, column by column, as one phase; return its steps.

    * `network`: a two-dimensional array or torus whose sides are multiples of `blocks`.
    * `blocks`: parts of each side.
    * `key`, int32[N]: key of the packet of each node, rearranged; largest where there is none.
    * `held`, int32[N]: packet of each node, -1 for none, rearranged.
    * `sink`: where the hops go. A compare-exchange is a step whether or not packets move.
    * `name`: of the phase.

    O(N) for each step.

    Source: Schimmler 1987 (4-way mergesort); Scherson, Sen and Shamir 1986 (shearsort).

    >>> from gossamer.networks import array
    >>> from gossamer.schedules.hop_sinks import RecordingSink
    >>> key = np.array([3, 1, 0, 2], np.int32)
    >>> steps = sort_blocks(array(2, 2), 1, key, np.arange(4, dtype=np.int32), RecordingSink())
    >>> key.tolist(), steps
    ([0, 2, 1, 3], 4)
    """
    assert network.grid is not None
    made = rounds((network.grid.sides[0], network.grid.sides[1]), blocks)
    return sink.phase(name, _exchanges(network, made, key, held, sink), length=sum(r.steps for r in made))


def _exchanges(network: Network, made: Sequence[Round], key: IntArray, held: IntArray, sink: Sink) -> Iterator[Chunk]:
    """Yield the hops of the rounds."""
    assert network.grid is not None
    where = np.unravel_index(np.arange(network.node_count), network.grid.sides)
    links = grid_links(network)
    first = 0
    for each in made:
        pairs = _pairs(where[each.axis], each.cuts)
        turned = _turned(each, where[1])
        up, down = (np.ascontiguousarray(links[:, each.axis, way]) for way in (0, 1))
        most = 2 * pairs.shape[1]  # hops of a step
        size = max(most, min(each.steps * most, sink.chunk_hops or CHUNK))
        done = 0
        while done < each.steps:
            columns = sink.columns(size)
            filled, done = _compare_exchange(
                *columns, first, done, each.steps, key, held, network.grid.strides[each.axis], pairs, turned, up, down,
            )  # fmt: skip
            yield columns[0][:filled], columns[1][:filled], columns[2][:filled]
        first += each.steps


def _turned(each: Round, column: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return which nodes, in the given columns, stand in lines that a round sorts upwards."""
    if each.turned == "none":
        return np.zeros(column.size, np.bool_)
    cuts = np.array(each.across)
    region = np.searchsorted(cuts, column, "right") - 1
    place, length = column - cuts[region], np.diff(cuts)[region]
    turned = place % 2 == 1 if each.turned == "odd" else 2 * place >= length + length % 2
    found: npt.NDArray[np.bool_] = turned & (length > 1)
    return found


def _longest(cuts: tuple[int, ...]) -> int:
    return int(np.diff(cuts).max())


def _halved(cuts: tuple[int, ...]) -> tuple[int, ...]:
    """Return cuts with one more in the middle of every segment of 2 or more; the first half is the longer one."""
    middles = [(a + b + 1) // 2 for a, b in itertools.pairwise(cuts) if b - a > 1]
    return tuple(sorted({*cuts, *middles}))


def _transposition(length: int) -> int:
    """Return the steps that sort a line of `length` nodes by odd-even transposition."""
    return length if length > 2 else length - 1


def _pairs(place: npt.NDArray[np.intp], cuts: tuple[int, ...]) -> IntArray:
    """Return the lower ends of the pairs of nodes that are compared in even and in odd steps, -1 for none."""
    start = np.array(cuts)
    segment = np.searchsorted(start, place, "right") - 1
    within, last = place - start[segment], start[segment + 1] - 1
    found = [np.flatnonzero((within % 2 == odd) & (place < last)) for odd in (0, 1)]
    pairs = np.full((2, max(f.size for f in found)), -1, np.int32)
    for row, nodes in zip(pairs, found, strict=True):
        row[: nodes.size] = nodes
    return pairs


# Routing over sorted blocks.


def kunde(case: Case, blocks: int = 2) -> Schedule:
    """Build Kunde's routing with `blocks` x `blocks` sorted blocks.

    Messages that turn in the same node are what makes greedy routing crowded. So every block of the array first sorts
    its messages by the column to which they go; then those for one column are spread over the rows of the block, and
    few of them turn at the same node.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on a two-dimensional array whose sides are multiples of `blocks`; a node without
        a message counts as holding the largest key. All ports; a buffer of at least ``2*blocks + 1`` packets,
        everything counted.
    blocks : int
        The source's epsilon.

    Returns
    -------
    Schedule
        Phases ``sort``, ``rows`` (at most c-1 slots) and ``columns`` (at most r-1). Every step of the sorter takes a
        slot, whether or not it moves a packet.

    Notes
    -----
    Sorting n x n in S(n) steps, this takes S(n/e) + 2n - 2. With 4-way mergesort, S(n) = 7n - 10 for powers of two from
    4 on: 5.5n - 12 in all for e = 2, 3.75n - 12 for e = 4. The source also gives 3.5n and 2.75n, with terms of lower
    order, from sorting in 3n + O(n^(3/4)) steps; at practical sizes that takes longer (Han 1990, section 1.4.2).

    Buffers, everything that a node holds counted: at the end of phase ``rows`` a node holds at most 2e-1 messages that
    turn; during it two more may pass. In a column, those that go up do not grow in number beyond what was there (or
    one), nor do those that go down, and one may have arrived: at most 2e+1 at any time. The source says 2e,
    which is exceeded on 8 x 8 with e = 2 (see the tests).

    References
    ----------
    Kunde 1988; Han 1990, section 1.4.2 and Table 5.3.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="transpose")
    >>> p = gossamer.plan("array:8x8", task, algorithm="kunde-2")
    >>> p.claim, p.completion_time, [phase.name for phase in p.schedule.phases]
    (Fraction(32, 1), Fraction(29, 1), ['sort', 'rows', 'columns'])
    """
    return record(case, partial(route_sorted, blocks, case))


def route_sorted(blocks: int, case: Case, sink: Sink) -> None:
    """Hand the hops of Kunde's routing to a sink."""
    source, target = sources_and_targets(case)
    network, grid = case.network, case.network.grid
    assert grid is not None
    # Step 1: sort every block by the column of the destination
    key = np.full(network.node_count, grid.sides[1], np.int32)  # no message: the largest
    key[source] = target % grid.sides[1]
    held = np.full(network.node_count, -1, np.int32)
    held[source] = np.arange(source.size)
    sort_blocks(network, blocks, key, held, sink, "sort")
    node = np.empty(source.size, np.int32)
    there = np.flatnonzero(held >= 0)
    node[held[there]] = there
    # Step 2: go along the rows to the right column
    engine = LockStep(network, sink)
    row, column = legs_between(grid, node, target, (1, 0))
    node, _ = engine.move(moves_along(node, [row]), "rows", rank="leg")
    # Step 3: go along the columns
    engine.move(moves_along(node, [column]), "columns", rank="leg")


def most_held(blocks: int) -> int:
    """Return how many messages a node holds at most at any time, its own and the delivered one counted.

    >>> most_held(2), most_held(4)
    (5, 9)
    """
    return 2 * blocks + 1


def _propose(blocks: int, case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    if grid is None or grid.dimensions != 2 or any(grid.wraps):
        return Refusal("needs a two-dimensional array")
    if any(side % blocks for side in grid.sides):
        return Refusal(f"needs sides that are multiples of {blocks}")
    steps = sort_steps((grid.sides[0], grid.sides[1]), blocks) + sum(side - 1 for side in grid.sides)
    return refuse_ports(case.rules, held=most_held(blocks)) or Offer(
        partial(kunde, case, blocks),
        Fraction(steps),
        at_most=True,
        stream=partial(route_sorted, blocks, case),
        too_large=refuse_paths(grid, *sources_and_targets(case), times=4),
    )


def _with_blocks(blocks: int) -> Algorithm:
    return Algorithm(
        name=f"kunde-{blocks}",
        tasks=(Permutation,),
        propose=partial(_propose, blocks),
        networks=f"two-dimensional arrays of sides divisible by {blocks}",
        source="Kunde 1988, after Han 1990, section 1.4.2; sorting: Schimmler 1987 (4-way mergesort)",
        summary=f"sorts {blocks} x {blocks} blocks by column of destination, then row and column; "
        f"at most {most_held(blocks)} messages at a node",
    )


KUNDE = (_with_blocks(2), _with_blocks(4))
"""Kunde's routing with 2 x 2 and with 4 x 4 blocks."""


# Kunde's routing with messages in two halves: one half goes along rows while the other goes along columns.
#
# Every step of Kunde's routing uses the links of one dimension only, whatever the permutation: the sorter's steps, then
# the rows, then the columns. On a square array the second halves do the same with rows and columns exchanged, at the
# same time, so that a message takes the steps of a half.

_HALVES = 2


def kunde_split(case: Case, blocks: int = 2) -> Schedule:
    """Build Kunde's routing of both halves of every message, with `blocks` x `blocks` sorted blocks.

    Kunde's routing uses rows and columns one after the other, so half of the links idle. Each message is cut in
    halves, and the second halves do the same with rows and columns exchanged.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on a square array whose side is a multiple of `blocks`; messages may be split.
        All ports; a buffer of at least ``2 * (2*blocks + 1)`` halves, everything counted.
    blocks : int
        As in `kunde`.

    Returns
    -------
    Schedule
        Phases ``sort``, ``rows`` and ``columns``, named for the first halves; slots of half a step.

    Notes
    -----
    Half the steps of `kunde`. Time and memory linear in the hops.

    References
    ----------
    Kunde and Tensi, after Han 1990, section 1.4.2.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="transpose")
    >>> p = gossamer.plan("array:8x8", task, algorithm="kunde-split-2", rules=gossamer.Rules(segmented=True))
    >>> p.claim, p.completion_time, [phase.name for phase in p.schedule.phases]
    (Fraction(16, 1), Fraction(29, 2), ['sort', 'rows', 'columns'])
    """
    grid = case.network.grid
    assert grid is not None
    side = grid.sides[0]
    turned = np.arange(side * side).reshape(side, side).T.reshape(-1)  # node (i, j) of the other half is (j, i)
    source, target = sources_and_targets(case)
    destination = np.full(side * side, -1, np.int64)
    destination[turned[source]] = turned[target]
    first = kunde(Case(case.network, case.task), blocks)
    second = kunde(Case(case.network, Permutation(tuple(destination.tolist()))), blocks).relabel(turned)
    columns, phases, end = [], [], 0
    for k, phase in enumerate(first.phases):
        for half, made in enumerate((first, second)):
            start = made.phases[k].first_slot
            low, high = np.searchsorted(made.slot, [start, start + made.phases[k].slots])
            origin = made.packets.origin[made.packet[low:high]]
            packet = np.searchsorted(source, origin) * _HALVES + half
            columns.append((made.slot[low:high] - start + end, made.link[low:high], packet))
        slots = max(made.phases[k].slots for made in (first, second))
        phases.append(Phase(phase.name, slots, Fraction(1, _HALVES)))
        end += slots
    slots_of, links, packets = (np.concatenate(some).astype(np.int32) for some in zip(*columns, strict=True))
    order = np.lexsort((links, slots_of))
    return Schedule.of(case, slots_of[order], links[order], packets[order], parts=_HALVES, phases=phases)


def _propose_split(blocks: int, case: Case) -> Offer[Schedule] | Refusal:
    if not case.rules.segmented:
        return Refusal("needs segmented messages")
    grid = case.network.grid
    if grid is None or grid.dimensions != 2 or any(grid.wraps) or grid.sides[0] != grid.sides[1]:
        return Refusal("needs a square two-dimensional array")
    side = grid.sides[0]
    if side % blocks:
        return Refusal(f"needs a side that is a multiple of {blocks}")
    steps = sort_steps((side, side), blocks) + 2 * (side - 1)
    return refuse_ports(case.rules, held=_HALVES * most_held(blocks)) or Offer(
        partial(kunde_split, case, blocks),
        Fraction(steps, _HALVES),
        at_most=True,
        too_large=refuse_paths(grid, *sources_and_targets(case), times=8),
    )


def _with_split_blocks(blocks: int) -> Algorithm:
    return Algorithm(
        name=f"kunde-split-{blocks}",
        tasks=(Permutation,),
        propose=partial(_propose_split, blocks),
        networks=f"square two-dimensional arrays of a side divisible by {blocks}",
        source="Kunde and Tensi, after Han 1990, section 1.4.2",
        summary=f"as kunde-{blocks} with both halves of every message at once, one with rows and columns exchanged",
    )


KUNDE_SPLIT = (_with_split_blocks(2), _with_split_blocks(4))
"""Kunde's routing of halves with 2 x 2 and with 4 x 4 blocks."""
