"""Allgather on tori of which some links failed: greedy flooding from one node of each orbit of a few translations.

What a translation of the torus takes the failed links to is left idle. Then all nodes of an orbit do the same, and
which blocks a node has is told by where their owners are as seen from it: one bit each, shifted along the links.
"""

from __future__ import annotations

import itertools
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_unequal_links
from gossamer.errors import NetworkError
from gossamer.graphs.list_scheduling import lowest
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.networks.recognition.missing_links import AlmostTorus, almost_torus
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, ReduceScatter
from gossamer.schedules import Phase, Schedule, Symmetry, then

__all__ = ["TRANSLATED_ALLREDUCE", "TRANSLATED_FLOODING", "spared", "translated_allreduce", "translated_flooding"]

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

_WIDE = 64
"""Nodes along the dimension whose blocks are one word."""
_LOOKS = 4
"""Blocks that a link compares."""
_OVER, _ROUNDS = 1.01, 100
"""What links may carry over the mean where they are used both ways; rounds of scaling what each may carry."""
_SHARES, _MANY = (1, 4, 1), 8192
"""Shares of the blocks that stages of an allreduce have, and nodes from which on it has stages."""
_MOST_SHIFTS, _MOST_HOPS = 64, 150_000_000


@njit(cache=True, nogil=True)
def _sum(a, b, sign, sides):
    """Return the number of the sum or difference of two places, given by their numbers."""
    found, unit = np.int64(0), np.int64(1)
    for i in range(sides.size - 1, -1, -1):
        k = sides[i]
        found += (a % k + sign * (b % k) + k) % k * unit
        a //= k
        b //= k
        unit *= k
    return found


@njit(cache=True, nogil=True)
def _flood(
    sides, orbit, places, tail, head, way, before, most, turns, lifted, beside, turned, group, link_at, lag, looks,
    seed, starts, taken, has, will, lacks, spread, turn, link, packet,
):  # fmt: skip
    """Let every link of the quotient, turn by turn, carry a block that its target lacks; return hops and turns.

    Blocks are numbered as seen from a node: by the place of the owner less its own. The last dimension is one word.

    * `sides`, int64[dimensions]. `orbit`, int32[N], `places`, int64[R]: the orbit of each place, and one of each.
    * `tail`, `head`, `way`, int64[K]: the orbits that each link leads from and to, and its direction.
    * `before`, int64[K]: the place from which each link leads to the one place of its target's orbit.
    * `most`, int64[K]: hops that a link makes, evenly over so many `turns`, as long as that is enough; once they are
      over, it may make more if that is `lifted`.
    * `beside`, int64[D, rows], `turned`, int64[D]: the row at the tail for each at the head, and how words are turned.
    * `group`, int64[G + 1]: the links that go first in each turn, those that go next, and so on.
    * `link_at`, int32[N, D]: the link from each place in each direction.
    * `lag`: turns after which what was sent is passed on.
    * `starts`, bool[R]: whose blocks are sent out. `taken`, bool[K, turns]: turns in which links do something else;
      there may be none.
    * `has`, `will`, uint64[R, rows]: what is where, and is or comes there. `lacks`, int64[R]: blocks that each node
      still needs. `spread`, int64[R]: zero.
    * `turn`, `link`, `packet`, int32[H]: written.

    Returns -1 hops if something cannot be brought anywhere any more.
    """
    np.random.seed(seed)
    rows = has.shape[1]
    wide = sides[-1]
    mask = np.uint64(2**64 - 1) >> np.uint64(64 - wide)
    one, top = np.uint64(1), np.uint64(wide - 1)
    order, used, limit = np.arange(tail.size), np.zeros(tail.size, np.int64), most.copy()
    ring = tail.size * lag
    sent_to, sent = np.empty(ring, np.int64), np.empty(ring, np.int64)
    left = np.int64(0)
    for r in range(places.size):
        if starts[r]:
            has[r, 0] |= one
            will[r, 0] |= one
        left += lacks[r]
    made, came = 0, 0
    ends = np.zeros(lag, np.int64)  # hops made up to the end of the last turns
    t, quiet = 0, 0
    while left:
        begin = made
        for g in range(group.size - 1):
            low, high = group[g], group[g + 1]
            for i in range(high - 1, low, -1):
                j = np.random.randint(low, i + 1)
                order[i], order[j] = order[j], order[i]
        for i in range(order.size):
            k = order[i]
            v = head[k]
            if lacks[v] == 0:
                continue
            if (t < turns or not lifted) and (used[k] >= limit[k] or used[k] * turns > most[k] * (t + 1)):
                continue
            if t < taken.shape[1] and taken[k, t]:
                continue
            u, d = tail[k], way[k]
            row = np.random.randint(0, rows)
            best, least, seen = np.int64(-1), np.int64(0), 0
            for _ in range(rows):
                word = has[u, beside[d, row]]
                if turned[d] > 0:
                    word = (word >> one) | ((word & one) << top)
                elif turned[d] < 0:
                    word = ((word << one) & mask) | (word >> top)
                fresh = word & ~will[v, row]
                while fresh and seen < looks:
                    block = row * wide + lowest(fresh)
                    fresh &= fresh - one
                    value = spread[orbit[_sum(places[v], block, 1, sides)]]
                    if best < 0 or value < least:
                        best, least = block, value
                    seen += 1
                if seen >= looks:
                    break
                row = row + 1 if row + 1 < rows else 0
            if best < 0:
                continue
            will[v, best // wide] |= one << np.uint64(best % wide)
            lacks[v] -= 1
            used[k] += 1
            left -= 1
            owner = _sum(places[v], best, 1, sides)
            c = orbit[owner]
            spread[c] += 1
            shift = _sum(places[c], owner, -1, sides)
            turn[made], packet[made] = t, c
            link[made] = link_at[_sum(before[k], shift, 1, sides), d]
            sent_to[made % ring], sent[made % ring] = v, best
            made += 1
        ends[t % lag] = made
        t += 1
        if t >= lag:
            for h in range(came, ends[t % lag]):
                v, block = sent_to[h % ring], sent[h % ring]
                has[v, block // wide] |= one << np.uint64(block % wide)
            came = ends[t % lag]
        quiet = 0 if made > begin else quiet + 1
        if quiet > lag and t > turns:
            if limit[0] > most[0] + places.size * rows * wide:
                return -1, t
            limit += 1 + turns // 256
            quiet = 0
    return made, t


class _Spared(NamedTuple):
    """A torus with links missing, and the translations that few links are lost to."""

    torus: AlmostTorus
    symmetry: Symmetry


def spared(network: Network) -> _Spared | None:
    """Return the torus that a network is but for a few cables, with few translations; None if it is none.

    >>> from gossamer.networks import parse
    >>> spared(parse("torus:16x16").without(links=[(0, 1)])).symmetry.order
    8
    """
    torus = almost_torus(network)
    shifts = [] if torus is None else torus.shifts(_MOST_SHIFTS)
    if torus is None or not shifts:
        return None
    try:
        return _Spared(torus, Symmetry(network, permutations=[torus.moved(shift) for shift in shifts]))
    except NetworkError:  # links differ in more than their ends
        return None


def translated_flooding(case: Case, both_ways: bool = False) -> Schedule:
    """Build an allgather that looks the same from all nodes of an orbit, in which links that could help do not idle.

    A few translations of the torus are kept, so few that what they take the failed links to is little. Every node gets
    a block of another over each of its links in every turn, as long as the one before has one that it lacks.

    Parameters
    ----------
    case : Case
        A multinode broadcast of messages of one packet, on a torus or hypercube of which a few cables are missing,
        under any numbering, with links of equal times; all ports. The seed is that of the order of links.
    both_ways : bool
        Use a link and its opposite together little more than any other two, so that the schedule and its reversal can
        overlap: nodes that have lost a link get as much as all others, and pass on less.

    Returns
    -------
    Schedule
        Invariant under the translations; links that some of them take to failed ones are not used.

    Raises
    ------
    NetworkError
        If the network is none such, or too many links are like the failed ones.

    Notes
    -----
    O(N**2 / H) hops for a group of H translations, and one bit for each block and orbit.

    References
    ----------
    Gossamer; greedy flooding on the quotient of the network.

    Examples
    --------
    >>> import gossamer
    >>> left = gossamer.network("torus:16x16").without(links=[(0, 1)])
    >>> schedule = translated_flooding(gossamer.questions.cases.Case(left, gossamer.task("allgather")))
    >>> schedule.symmetry.order, schedule.completion_time < 87
    (8, True)
    """
    found = case.once(spared, case.network)
    if found is None:
        raise NetworkError(f"{case.network.spec} is no torus with a few links missing")
    blocks = _Blocks(case, found)
    n, links = case.network.node_count, blocks.tail.size
    most = _limits(n - 1, n - 1, blocks.tail, blocks.head) if both_ways else np.full(links, n)
    columns = tuple(np.empty(blocks.places.size * (n - 1), np.int32) for _ in range(3))
    blocks.flood(np.ones(blocks.places.size, np.bool_), most, int(most.max()), columns)
    turn, link, packet = columns
    turn *= blocks.takes
    slots = int(turn[-1]) + blocks.takes + blocks.wait
    return Schedule.of(case, turn, link, packet, symmetry=found.symmetry, phases=[Phase(case.task.name, slots)])


class _Blocks:
    """The quotient of a damaged torus, and which blocks its nodes have: from one stage of a flooding to the next."""

    def __init__(self, case: Case, found: _Spared) -> None:
        torus, symmetry = found
        network, n = case.network, case.network.node_count
        self.network, self.seed = network, case.seed
        # Step 0: coordinates of which the last is the longest that fits into a word
        fits = [i for i, side in enumerate(torus.sides) if side <= _WIDE]
        last = max(fits, key=lambda i: torus.sides[i])
        dimensions = [*(i for i in range(len(torus.sides)) if i != last), last]
        self.sides = sides = np.array([torus.sides[i] for i in dimensions], np.int64)
        place = np.ravel_multi_index(tuple(torus.place[:, dimensions].T), tuple(sides)).astype(np.int64)
        node = np.empty(n, np.int64)
        node[place] = np.arange(n)
        # Step 1: the links in each direction, and those of one place of each orbit that have translates
        at = np.stack(np.unravel_index(np.arange(n), tuple(sides)), axis=1)
        steps = [(i, sign) for i, side in enumerate(sides.tolist()) for sign in (1, -1)[: min(side - 1, 2)]]
        self.rows = rows = n // int(sides[-1])
        self.link_at = link_at = np.empty((n, len(steps)), np.int32)
        self.beside, self.turned = np.empty((len(steps), rows), np.int64), np.zeros(len(steps), np.int64)
        target = np.empty((n, len(steps)), np.int64)
        for d, (i, sign) in enumerate(steps):
            moved = at.copy()
            moved[:, i] += sign
            to = np.ravel_multi_index(tuple((moved % sides).T), tuple(sides))
            target[:, d] = to
            link = network.links_between(node, node[to])
            broken = link < 0 if symmetry.broken is None else (link < 0) | symmetry.broken[link]
            link_at[:, d] = np.where(broken, -1, link)
            self.beside[d] = np.arange(rows) if i == len(sides) - 1 else to[:: int(sides[-1])] // int(sides[-1])
            self.turned[d] = sign if i == len(sides) - 1 else 0
        self.orbit = symmetry.orbit[node].astype(np.int32)
        self.places = places = place[symmetry.representatives]
        tail, way = np.nonzero(link_at[places] >= 0)
        head = self.orbit[target[places[tail], way]].astype(np.int64)
        # Step 2: links to nodes that have fewest go first, as these have none to spare
        entering = np.bincount(head, minlength=places.size)
        order = np.argsort(entering[head], kind="stable")
        self.tail, self.way, self.head = tail[order], way[order], head[order]
        self.group = np.append(np.flatnonzero(np.diff(entering[self.head], prepend=-1)), head.size)
        back = 2 * at[places[self.head]] - at[target[places[self.head], self.way]]
        self.before = np.ravel_multi_index(tuple((back % sides).T), tuple(sides))
        # Step 3: how long a link is busy, which is a turn, and what else a hop takes
        self.takes, self.wait = int(network.link_occupancy[0]), int(network.link_latency[0])
        self.has, self.will = np.zeros((2, places.size, rows), np.uint64)
        self.spread = np.zeros(places.size, np.int64)
        self._symmetry = symmetry

    def flood(
        self, starts: npt.NDArray[np.bool_], most: Longs, turns: int, columns: tuple[Ints, ...],
        taken: npt.NDArray[np.bool_] | None = None, lifted: bool = False,
    ) -> int:  # fmt: skip
        """Bring the blocks of some orbits to all nodes, and return the turns that it takes; arguments as in `_flood`.

        `columns`: turn, link and packet of each hop, written.
        """
        order = self._symmetry.order
        lacks = int(starts.sum()) * order - starts.astype(np.int64)
        busy = np.zeros((self.tail.size, 0), np.bool_) if taken is None else taken
        made, done = _flood(
            self.sides, self.orbit, self.places, self.tail, self.head, self.way, self.before, most, turns,
            lifted, self.beside, self.turned, self.group, self.link_at, 1 + ceil(self.wait / self.takes),
            _LOOKS, self.seed, starts, busy, self.has, self.will, lacks, self.spread, *columns,
        )  # fmt: skip
        if made < 0:
            spec = self.network.spec
            raise NetworkError(f"{spec}: without the links like the failed ones some node is out of reach")
        return int(done if made == 0 else columns[0][made - 1] + 1)

    def opposite(self, turn: Ints, link: Ints, turns: int) -> npt.NDArray[np.bool_]:
        """Return when links are busy, bool[K, turns], if hops go over the opposite links, the last of them first."""
        number = np.full(self._symmetry.link_orbit_count, -1, np.int64)
        one = self.link_at[self.before, self.way]  # the translate that leads to the one place of its target's orbit
        number[self._symmetry.link_orbit(one)] = np.arange(self.tail.size)
        busy = np.zeros((self.tail.size, turns), np.bool_)
        assert self.network.reverse_link is not None
        busy[number[self._symmetry.link_orbit(self.network.reverse_link[link])], turns - 1 - turn] = True
        return busy


def _limits(blocks: int, beside: int, tail: Longs, head: Longs) -> Longs:
    """Return how many of some blocks each link may carry, beside others that its opposite carries in the same turns.

    All nodes can get both, in turns little over what links carry in the mean: one to which few links lead gets more
    over each of these and passes on less, its neighbors get what they lack for it over their other links, and so on.

    O(K) for each of a fixed number of rounds, in which loads are scaled to what must come to nodes and may leave them.
    """
    links, half = np.bincount(head), (1 + _OVER) / 2
    turns = (blocks + beside) * links.size / tail.size * _OVER
    most = np.maximum(links * turns - beside * half, 1)  # the others must come to a node, over what these leave free
    load = blocks / links[head]
    for _ in range(_ROUNDS):
        load *= np.minimum(most / np.bincount(tail, load), 1)[tail]
        load *= (blocks * half / np.bincount(head, load))[head]
    return np.ceil(np.minimum(load, turns)).astype(np.int64)


def translated_allreduce(case: Case) -> Schedule:
    """Build an allreduce that adds up each block along the reversal of an allgather, and then sends it out.

    On large networks that is done in stages, with some of the blocks after others: while some are added up, those
    before them are sent out, over what that leaves free of the links. The first and the last stage, which have all
    links to themselves in one direction, are small.

    Parameters
    ----------
    case : Case
        An allreduce of blocks, on a network that `translated_flooding` covers.

    Returns
    -------
    Schedule
        A reduce-scatter, then an allgather. Repeated, both overlap; of many blocks, they do so as they are.

    Raises
    ------
    NetworkError
        As in `translated_flooding`.

    References
    ----------
    Gossamer; reduce-scatter, then allgather: Chan, Heimlich, Purkayastha and van de Geijn 2007.
    """
    reduce, gather = (case.related(task=each) for each in (ReduceScatter(), MultinodeBroadcast()))
    found = case.once(spared, case.network)
    if found is None:
        raise NetworkError(f"{case.network.spec} is no torus with a few links missing")
    if case.network.node_count < _MANY:
        return then(translated_flooding(reduce.dual, True).reverse(), translated_flooding(gather, True))
    blocks = _Blocks(case, found)
    links, places, n = blocks.tail.size, blocks.places.size, case.network.node_count
    sent, summed = np.empty((2, 3, places * (n - 1)), np.int32)
    stage_of = np.searchsorted(np.cumsum(_SHARES), np.arange(places) % sum(_SHARES), side="right")
    many = np.bincount(stage_of) * found.symmetry.order
    rows, turns, end, taken = list[slice](), list[tuple[int, int]](), 0, np.zeros((links, 0), np.bool_)
    for stage, count in enumerate(many.tolist()):
        starts = stage_of == stage
        begin, end = end, end + places * count - int(starts.sum())
        rows.append(slice(begin, end))
        there = blocks.has.copy(), blocks.will.copy()
        add, send = summed[:, begin:end], sent[:, begin:end]
        beside = int(many[abs(stage - 1)])  # what is sent out while these are added up; for the first, the reverse
        window = ceil((count + beside) * places / links * _OVER)
        if stage == 0:  # what has all links to itself is quicker in another way
            early = blocks.flood(starts, np.full(links, n), n, tuple(add))
            blocks.has, blocks.will = there
            limits = _limits(count, beside, blocks.tail, blocks.head)
            late = blocks.flood(starts, limits, window, tuple(send), lifted=True)
        else:
            early = late = blocks.flood(starts, window - taken.sum(axis=1), window, tuple(add), taken, lifted=True)
            send[:] = add
        if stage == many.size - 1:
            blocks.has, blocks.will = there
            late = blocks.flood(starts, np.full(links, n), n, tuple(send))
        taken = blocks.opposite(send[0], send[1], late)
        turns.append((early, late))
    # windows: in each of them a stage is added up, and the one before is sent out; what ends first begins later
    long = [
        turns[0][0], *(max(stage[0], before[1]) for before, stage in itertools.pairwise(turns)), turns[-1][1]
    ]  # fmt: skip
    first = np.cumsum([0, *(each * blocks.takes + blocks.wait for each in long)])
    slots = int(first[-1])
    for stage, mine in enumerate(rows):  # what is added up, as it would be sent out, from the end back
        summed[0, mine] -= long[stage]
        summed[0, mine] *= blocks.takes
        summed[0, mine] += slots - int(first[stage]) - blocks.wait
        sent[0, mine] += long[stage + 1] - turns[stage][1]
        sent[0, mine] *= blocks.takes
        sent[0, mine] += int(first[stage + 1])
    summed = np.concatenate([summed[:, mine] for mine in reversed(rows)], axis=1)
    halves = [
        Schedule.of(each, *table, symmetry=found.symmetry, phases=[Phase(each.task.name, slots)])
        for each, table in ((reduce.dual, summed), (gather, sent))
    ]
    del summed, sent, add, send, blocks, taken
    second = halves.pop()
    both = then(halves.pop().reverse(), second)
    del second
    slot = np.where(both.slot < slots, both.slot, both.slot - slots)
    order = np.argsort(slot, kind="stable")
    return both.replace(
        slot=slot[order], link=both.link[order], packet=both.packet[order], phases=[Phase(case.task.name, slots)]
    )


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    refusal = refuse_unequal_links(case)
    if refusal is not None:
        return refusal
    found = case.once(spared, network)
    if found is None or min(found.torus.sides) > _WIDE:
        return Refusal("needs a torus or hypercube of which a few links failed")
    hops = network.node_count**2 // found.symmetry.order
    if hops > _MOST_HOPS:
        return Refusal(f"would store about {hops:,} hops; at most {_MOST_HOPS:,} are allowed")
    return Offer(
        lambda: translated_flooding(case), effort="search", orbit=found.symmetry.order, hop_bytes=40, hop_seconds=6e-7,
        composed=True,
    )  # fmt: skip


def _propose_allreduce(case: Case) -> Offer[Schedule] | Refusal:
    found = _propose(case)
    if isinstance(found, Refusal):
        return found
    return Offer(
        lambda: translated_allreduce(case), effort="search", orbit=found.orbit, hop_bytes=40, hop_seconds=1.2e-6,
        composed=True,
    )  # fmt: skip


TRANSLATED_FLOODING = Algorithm(
    name="translated-flooding",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="tori and hypercubes of which a few links failed",
    source="gossamer; no promised time",
    summary="greedy flooding from one node of each orbit of a few translations; the rest is translated",
    timed=True,
)

TRANSLATED_ALLREDUCE = Algorithm(
    name="translated-flooding-both-ways",
    tasks=(Allreduce,),
    propose=_propose_allreduce,
    networks="tori and hypercubes of which a few links failed",
    source="gossamer; no promised time",
    summary="adds up each block along the reversal of translated-flooding, then sends it out; nodes that have lost a "
    "link pass on less",
    timed=True,
)
