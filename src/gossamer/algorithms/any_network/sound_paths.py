"""Total exchange on large tori of which a few links failed: as if none had, and then again what these should carry.

The exchange of the whole torus is kept as the packets of one node. Its translates that cross a missing link are left
out, and sent when all others are there, on short paths in other orders of the dimensions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_unequal_links
from gossamer.algorithms.any_network.translated_paths import exchange_along
from gossamer.errors import NetworkError, ScheduleError
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.networks.recognition.missing_links import AlmostTorus, almost_torus
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import RepairedSchedule, Schedule, Symmetry

__all__ = ["SOUND_PATHS", "sound_exchange"]

Longs = npt.NDArray[np.int64]

_TRIES, _DETOURS = 4, 400
"""Shortest paths of which a packet takes the least loaded, and paths by way of a node near an end if none is whole.
"""
_GONE = 255
_MOST_AGAIN, _MOST_STORED = 1_000_000_000, 40_000_000
"""Hops of what is sent again, and of one node's packets, at the most."""


@njit(cache=True, nogil=True)
def _send_again(sides, step, port, start, which, shift, tries, detours, gap, seed, used, hops, ports, turns):
    """Give each packet a path without missing links, and the first turns in which its links are free.

    * `sides`, int64[D]. `step`, int32[N, 2 D]: the node beside each, up and down each dimension.
    * `port`, uint8[N, 2 D]: which of the links of a node that is; 255 where there is none.
    * `start`, int32[P]: where packets begin. `which`, int32[P], `shift`, int64[S, D]: how far each goes in each
      dimension, the shortest way.
    * `gap`: turns from a hop to the next of a packet.
    * `used`, uint64[2 N D, words]: zero; a bit for each turn of each link.
    * `hops`, uint8[P], `ports`, uint8[H], `turns`, uint16[H]: written.

    Returns the number of hops; -1 if there are too few turns, -2 if there is too little room, -3 - p if packet
    p found no path.
    """
    np.random.seed(seed)
    dims, ways = sides.size, 2 * sides.size
    words = used.shape[1]
    load = np.zeros(step.shape[0] * ways, np.int64)
    first = np.zeros(load.size, np.int64)  # words that have no turn left
    every = ~np.uint64(0)
    one = np.uint64(1)
    most = 6 * sides.sum() + 64
    path, best = np.empty(most, np.int64), np.empty(most, np.int64)
    order = np.arange(dims)
    to, here, left = np.empty(dims, np.int64), np.empty(dims, np.int64), np.empty(dims, np.int64)
    made = 0
    for p in range(start.size):
        chosen, least, long = False, 0.0, 0
        for a in range(tries + detours):
            if a >= tries and chosen:
                break
            size, x, whole, cost = 0, np.int64(start[p]), True, 0.0
            legs = 1 if a < tries else 2
            for i in range(dims):
                to[i] = shift[which[p], i]
                here[i] = 0 if a < tries else np.random.randint(-2 - a // 40, 3 + a // 40) + (a & 1) * to[i]
            for leg in range(legs):
                for i in range(dims):
                    far = to[i] if legs == 1 else here[i] if leg == 0 else to[i] - here[i]
                    far %= sides[i]
                    if 2 * far > sides[i] or (2 * far == sides[i] > 2 and np.random.randint(2)):
                        far -= sides[i]
                    left[i] = far
                for i in range(dims - 1, 0, -1):
                    j = np.random.randint(0, i + 1)
                    order[i], order[j] = order[j], order[i]
                for i in order:
                    d = 2 * i if left[i] > 0 else 2 * i + 1
                    for _ in range(abs(left[i])):
                        if port[x, d] == _GONE:
                            whole = False
                            break
                        e = x * ways + d
                        path[size] = e
                        size += 1
                        many = float(load[e]) + 1.0
                        cost += many * many * many * many
                        x = step[x, d]
                    if not whole:
                        break
                if not whole:
                    break
            if whole and (not chosen or cost < least):
                chosen, least, long = True, cost, size
                best[:size] = path[:size]
        if not chosen:
            return -3 - p
        if made + long > turns.size:
            return -2
        ready = 0
        for h in range(long):
            e = best[h]
            load[e] += 1
            w = max(first[e], ready >> 6)
            if w >= words:
                return -1
            busy = used[e, w]
            if w == ready >> 6:
                busy |= (one << np.uint64(ready & 63)) - one
            while busy == every:
                w += 1
                if w == words:
                    return -1
                busy = used[e, w]
            bit = 0
            while (busy >> np.uint64(bit)) & one:
                bit += 1
            used[e, w] |= one << np.uint64(bit)
            while first[e] < words and used[e, first[e]] == every:
                first[e] += 1
            ports[made] = port[best[h] // ways, best[h] % ways]
            turns[made] = w * 64 + bit
            ready = w * 64 + bit + gap
            made += 1
        hops[p] = long
    return made


def _sound(torus: AlmostTorus) -> Network:
    """Return the torus with all its links, which take as long as those that are left."""
    occupancy, latency = torus.network.uniform_occupancy, torus.network.uniform_latency
    whole = torus.original
    same = (whole.uniform_occupancy, whole.uniform_latency) == (occupancy, latency)
    return whole if same else whole.with_times(occupancy or 1, latency or 0)


def _crossing(sound: Schedule, missing: Longs) -> tuple[Longs, Longs]:
    """Return which translates of stored packets cross missing links: the packets, and where the translates begin."""
    symmetry, network = sound.symmetry, sound.network
    assert symmetry is not None
    kind = symmetry.link_orbit(sound.link)
    found = list[Longs]()
    for gone in missing:
        rows = np.flatnonzero(kind == symmetry.link_orbit(gone))
        by = symmetry.taking(network.link_source[sound.link[rows]], np.full(rows.size, network.link_source[gone]))
        begin = symmetry.translate(by, sound.packets.origin[sound.packet[rows]])
        found.append(begin.astype(np.int64) * sound.packets.count + sound.packet[rows])
    every = np.unique(np.concatenate(found))
    return every % sound.packets.count, every // sound.packets.count


def sound_exchange(case: Case) -> Schedule:
    """Build the exchange of a whole torus, and send again what its missing links should have carried.

    Parameters
    ----------
    case : Case
        A total exchange on a torus or hypercube of which a few cables are missing, under any numbering, with links of
        equal times; all ports. The seed is that of the choice of paths.

    Returns
    -------
    Schedule
        A `gossamer.schedules.RepairedSchedule`: the packets of one node of the whole torus, and those sent again.

    Raises
    ------
    NetworkError
        If the network is none such, or no path is found for some packet.

    Notes
    -----
    O(M N d) hops for M missing cables of N nodes at distances d, beside O(N d) for one node of the whole torus. What is
    sent again takes about 3 M d / N of the time, where distances are d.

    References
    ----------
    Gossamer. Packets that are sent again take the first turns that are left.

    Examples
    --------
    >>> import gossamer
    >>> left = gossamer.network("torus:8x8").without(links=[(0, 1)])
    >>> schedule = sound_exchange(gossamer.questions.cases.Case(left, gossamer.task("alltoall")))
    >>> schedule.packet_count, schedule.nbytes < 8 * schedule.hop_count, bool(gossamer.verify(schedule))
    (4032, True, True)
    """
    network, torus = case.network, almost_torus(case.network)
    if torus is None or network.uniform_occupancy is None or network.uniform_latency is None:
        raise NetworkError(f"{network.spec} is no torus with a few links missing, whose links take equal times")
    whole, sides = _sound(torus), np.array(torus.sides, np.int64)
    n, ways = network.node_count, 2 * sides.size
    base = case.related(network=whole)
    far = whole.distances(0)
    base.tell_floor(Fraction(int(far.sum()) * network.uniform_occupancy * n, whole.link_count))
    try:
        sound = exchange_along(base, (Symmetry(whole), np.ones(whole.link_count, np.int64)))
    except ScheduleError as error:
        raise NetworkError(str(error)) from None
    place, node = torus.number(torus.place), torus.node_at()
    ends = [torus.number(torus.place[side]) for side in torus.missing.T]
    which, start = _crossing(sound, np.concatenate([whole.links_between(*ends), whole.links_between(*ends[::-1])]))
    draw = np.random.default_rng(case.seed).permutation(which.size)
    which, start = which[draw].astype(np.int32), start[draw].astype(np.int32)
    # what is beside each node, and by which of its links
    at = np.stack(np.unravel_index(np.arange(n), torus.sides), axis=1)
    step, port = np.empty((n, ways), np.int32), np.full((n, ways), _GONE, np.uint8)
    for d in range(ways):
        moved = at.copy()
        moved[:, d // 2] += 1 - 2 * (d % 2)
        step[:, d] = torus.number(moved)
        link = network.links_between(node, node[step[:, d]])
        there = link >= 0
        port[there, d] = (link - network.first_link[node])[there]
    messages = base.task.messages(whole, np.zeros(1, np.int64))
    assert messages.targets is not None
    assert bool((sound.packets.origin == 0).all())
    shift = at[messages.targets[np.searchsorted(messages.ids, sound.packets.message)]].astype(np.int64)
    gap = -(-(network.uniform_occupancy + network.uniform_latency) // network.uniform_occupancy)
    least = int(np.minimum(shift, sides - shift).sum(axis=1)[which].sum())
    room, turns = least + least // 20 + 1000, int(2 * least / network.link_count) + 64 * gap + 256
    while True:
        hops, ports, when = np.empty(which.size, np.uint8), np.empty(room, np.uint8), np.empty(room, np.uint16)
        used = np.zeros((n * ways, -(-turns // 64)), np.uint64)
        made = _send_again(
            sides, step, port, start, which, shift, _TRIES, _DETOURS, gap, case.seed, used, hops, ports, when
        )
        if made >= 0:
            break
        if made <= -3:
            raise NetworkError(
                f"{network.spec}: in {_DETOURS:,} tries no path was found from node {node[start[-3 - made]]} that "
                "avoids the missing links"
            )
        room, turns = (2 * room, turns) if made == -2 else (room, 2 * turns)
        if turns >= 2**16:
            raise NetworkError(f"{network.spec}: what crosses missing links would take {turns:,} turns or more")
    return RepairedSchedule(sound, network, place, which, node[start].astype(np.int32), hops, ports[:made], when[:made])


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    refusal = refuse_unequal_links(case)
    if refusal is not None:
        return refusal
    torus = case.once(almost_torus, network)
    if torus is None:
        return Refusal("needs a torus or hypercube of which a few links failed")
    n = network.node_count
    far = int(np.minimum(torus.place, np.array(torus.sides) - torus.place).sum())
    again = 2 * len(torus.missing) * (n * far // (torus.original.link_count)) * (far // n + 1)
    if again > _MOST_AGAIN or far > _MOST_STORED:
        told = f"would send again about {again:,} hops, and at most {_MOST_AGAIN:,} are allowed"
        return Refusal(f"{told}: about {len(torus.missing) * _MOST_AGAIN // max(again, 1):,} missing links would fit")
    return Offer(
        lambda: sound_exchange(case), effort="search", orbit=max(1, n * far // (again + far)), hop_bytes=7,
        hop_seconds=3e-7, composed=True,
    )  # fmt: skip


SOUND_PATHS = Algorithm(
    name="sound-torus-and-repairs",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="tori and hypercubes of which a few links failed",
    source="gossamer; no promised time",
    summary="the exchange of the whole torus, and then what its missing links should have carried, on other paths",
    passes_on=True,
    timed=True,
)
