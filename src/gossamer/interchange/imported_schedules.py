"""Schedules of what foreign files send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, GossamerError, NetworkError, nearest
from gossamer.graphs.path_and_hop_tables import index_ranges
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, scheduled
from gossamer.graphs.round_routing import Ways, shared_ways
from gossamer.interchange.threadblocks import Chunk, Place, Transfer, first_rank
from gossamer.networks.network import Network, has_speeds
from gossamer.questions.costs import USUAL_BYTES, FineTimeCost, StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    COMBINE,
    Allreduce,
    Broadcast,
    DemandTable,
    Gather,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
    chunked,
)
from gossamer.schedules import Packets, Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows
from gossamer.verification import verify
from gossamer.verification.timed_replay import carried_sums


class ChunkHop(NamedTuple):
    """A chunk that crosses a link in a slot."""

    slot: int
    source: int
    target: int
    chunk: Chunk


# What the chunks of a collective are here: tasks with their packets, for formats that number chunks in buffers.
#
# A *place* is a chunk of a rank's input or output, numbered as the formats do: an input that is for all ranks, or an
# output from all, has those of rank 0 first, then those of rank 1, and so on.


@dataclass(frozen=True)
class ForeignCollective:
    """A collective on n ranks, with messages in k chunks.

    * `task`: takes the root and gives the task.
    * `key`: takes rank, place in the input, n and k, and gives message and part; of reductions the part of all chunks.
    * `goal`: takes rank, n, k and root, and gives the keys that the rank's output must have, in the order of places.
    * `wide_input`, `wide_output`: whether an input or output has k chunks for each rank, or k chunks.
    * `reduces`: whether contributions are added.
    * `root_input`, `root_output`: whether only the root has an input or output.
    """

    task: Callable[[int], Task]
    key: Callable[[int, int, int, int], tuple[int, int]]
    goal: Callable[[int, int, int, int], list[tuple[int, int]]]
    wide_input: bool = False
    wide_output: bool = False
    reduces: bool = False
    root_input: bool = False
    root_output: bool = False

    def shared_places(self, rank: int, n: int, k: int) -> dict[Place, Place]:
        """Return which places of a rank are the same where its input and output are one buffer."""
        if self.wide_output and not self.wide_input:
            return {("i", i): ("o", rank * k + i) for i in range(k)}
        if self.wide_input and not self.wide_output:
            return {("o", i): ("i", rank * k + i) for i in range(k)}
        return {("i", i): ("o", i) for i in range(n * k if self.wide_input else k)}


def _all_of(n: int, k: int) -> list[tuple[int, int]]:
    return [(u, j) for u in range(n) for j in range(k)]


COLLECTIVES = {
    "allgather": ForeignCollective(
        lambda root: MultinodeBroadcast(), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True,
    ),
    "alltoall": ForeignCollective(
        lambda root: TotalExchange(), lambda v, i, n, k: (v * n + i // k, i % k),
        lambda v, n, k, root: [(u * n + v, j) for u, j in _all_of(n, k)], wide_input=True, wide_output=True,
    ),
    "reduce_scatter": ForeignCollective(
        lambda root: ReduceScatter(), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)], wide_input=True, reduces=True,
    ),
    "allreduce": ForeignCollective(
        lambda root: PartialSumAllreduce(), lambda v, i, n, k: (0, i),
        lambda v, n, k, root: [(0, i) for i in range(k)], reduces=True,
    ),
    "broadcast": ForeignCollective(
        lambda root: Broadcast(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: [(root, j) for j in range(k)],
        root_input=True,
    ),
    "reduce": ForeignCollective(
        lambda root: Reduce(root), lambda v, i, n, k: (0, i), lambda v, n, k, root: [(0, j) for j in range(k)],
        reduces=True, root_output=True,
    ),
    "scatter": ForeignCollective(
        lambda root: Scatter(root), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)],
        wide_input=True, root_input=True,
    ),
    "gather": ForeignCollective(
        lambda root: Gather(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True, root_output=True,
    ),
}  # fmt: skip
"""The collectives that can be read, by the names of the formats."""


def collective(name: str, file: str) -> ForeignCollective:
    """Return the collective of a name in any spelling; FileFormatError if it is none that can be judged.

    >>> collective("AllGather", "x.xml").wide_output
    True
    """
    plain = {key.replace("_", ""): value for key, value in COLLECTIVES.items()}
    found = plain.get(name.lower().replace("_", "").replace("-", ""))
    if found is None:
        hint = nearest(name, COLLECTIVES) or f"; there are: {', '.join(COLLECTIVES)}"
        raise FileFormatError(f"{file!r} is of collective {name!r}, which has no task here{hint}")
    return found


def capacities(name: str, network: Network, ends: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the capacity of each link between pairs of ranks; FileFormatError where there is no link."""
    n = network.terminal_count
    known = {
        (int(u), int(v)): int(c)
        for u, v, c in zip(network.link_source, network.link_target, network.link_capacity, strict=True)
    }
    for u, v in sorted(ends):
        if not (0 <= u < n and 0 <= v < n):
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}; ranks are 0..{n - 1}")
        if (u, v) not in known:
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}, but {network.spec} has no link {u} -> {v}")
    return known


def whole_parts(name: str, kind: ForeignCollective, n: int, sizes: tuple[int, int]) -> int:
    """Return in how many parts messages are, from the chunks of a rank's input and output."""
    given, got = sizes
    size, wide = (got, kind.wide_output) if kind.root_output or not given else (given, kind.wide_input)
    parts, rest = divmod(size, n) if wide else (size, 0)
    if parts < 1 or rest:
        raise FileFormatError(f"{name!r} has {size} chunks in a buffer for {n} ranks; it must be a multiple of {n}")
    return parts


def in_seconds(name: str, network: Network, bytes: int | None) -> int | None:
    """Return the bytes that a program is judged for on a network, None where it is judged in steps.

    Raises `FileFormatError` if bytes are given, and the links have no speeds.
    """
    if has_speeds(network):
        return USUAL_BYTES if bytes is None else bytes
    if bytes is not None:
        raise FileFormatError(
            f"{name!r} is judged in steps on {network.spec}, whose links have no speeds, so that it takes no bytes; "
            "machines such as dgx-h100:2 and network files have some"
        )
    return None


def schedule_of(
    name: str,
    network: Network,
    kind: ForeignCollective,
    sent: Sequence[ChunkHop] | Sequence[Transfer],
    n: int,
    k: int,
    root: int,
    algorithm: str,
    bytes: int | None = None,
) -> Schedule:
    """Return the schedule of what is sent, with packets as the collective's task numbers them.

    An allreduce in which each chunk is added up at one rank and broadcast from there, the same number at every rank, is
    an allreduce of n messages in parts; any other one is of partial sums, in as many packets as chunks.

    Parameters
    ----------
    sent : sequence of ChunkHop or of Transfer
        Hops with their slots, or transfers that wait for earlier ones.
    bytes : int, optional
        Of transfers: what they are of. Then links take the time that their speeds say.

    Raises
    ------
    FileFormatError
        If a chunk that is no message of the task is sent, or a rank keeps two sums of a chunk.
    """
    task, parts = kind.task(root), k
    if isinstance(task, PartialSumAllreduce):
        rooted = _rooted_packets(sent, n, k)
        task, parts = (chunked(task, k), 1) if rooted is None else (Allreduce(), k // n)
        keys = [(0, each.chunk.part) for each in sent] if rooted is None else rooted
    elif isinstance(task, Reduce):
        keys = [(root, each.chunk.part) for each in sent]
    else:
        keys = [(each.chunk.message, each.chunk.part) for each in sent]
    if bytes is not None:  # chunks are packets of so many bytes
        task, parts = (task, 1) if parts == 1 else (chunked(task, parts), 1)
    messages = task.messages(network)
    table = np.array(keys, np.int64).reshape(-1, 2)
    rows = np.searchsorted(messages.ids, table[:, 0])
    if np.any(messages.ids[np.minimum(rows, messages.count - 1)] != table[:, 0]):
        raise FileFormatError(f"{name!r} sends a rank's chunk for itself to another")
    packet = messages.first_packet()[rows] * parts + table[:, 1]
    return _begun(name, network, task, sent, packet, parts, algorithm, bytes, kind.reduces)


def _begun(
    name: str,
    network: Network,
    task: Task,
    sent: Sequence[ChunkHop | Transfer],
    packet: npt.NDArray[np.int64],
    parts: int,
    algorithm: str,
    bytes: int | None,
    sums: bool,
) -> Schedule:
    """Return the schedule of a task in which the given packets are sent, with when their hops begin."""
    rules = Rules(segmented=parts > 1)
    cost = StepCost()
    if bytes is not None:
        network, cost = FineTimeCost(bytes).on(network, task)
    transfers = [each for each in sent if isinstance(each, Transfer)]
    if transfers:
        if any(each.shared >= 0 for each in transfers):
            rules = Rules(segmented=parts > 1, replication=True, reduction=sums)
        elif network.terminal_count < network.node_count:
            rules = Rules(segmented=parts > 1, cut_through=True, replication=False)
        hops = _listed(name, network, transfers, packet, rules, parts)
    else:
        ends = np.array([each[:3] for each in sent], np.int64).reshape(-1, 3)
        link = network.links_between(ends[:, 1], ends[:, 2]).astype(np.int64)
        hops = _Hops(ends[:, 0], link, np.arange(len(sent)), np.full(len(sent), -1))
    order = np.argsort(hops.start, kind="stable")
    row = np.append(np.argsort(order), -1)  # where each hop stands, and none
    carried, messages = packet[hops.of[order]].astype(np.int32), task.messages(network)
    packets = Packets.of(messages, parts)
    summed = messages.discipline[message_rows(messages, packets)] >= COMBINE
    carries = np.where(summed[carried], row[hops.carries[order]], -1)  # copies are told apart by nobody
    try:
        found = Schedule(
            network,
            task,
            rules,
            hops.start[order].astype(np.int32),
            hops.link[order].astype(np.int32),
            carried,
            parts=parts,
            packets=packets,
            repeats=carries if (carries >= 0).any() else None,
            algorithm=algorithm,
            cost=cost,
        )
    except GossamerError as error:
        raise FileFormatError(f"{name!r} is no schedule: {error}") from None
    return _with_sums(name, found, [sent[i].chunk for i in hops.of[order].tolist()], carries) if sums else found


# When transfers begin: as soon as what they wait for is there, and links and shared ports are free.


class _Hops(NamedTuple):
    """Hops: the slots in which they begin, links, transfers, and the hops that they carry on or -1; int64[H] each."""

    start: npt.NDArray[np.int64]
    link: npt.NDArray[np.int64]
    of: npt.NDArray[np.int64]
    carries: npt.NDArray[np.int64]


def _listed(
    name: str,
    network: Network,
    sent: Sequence[Transfer],
    packet: npt.NDArray[np.int64],
    rules: Rules,
    parts: int,
) -> _Hops:
    """Return the hops of transfers, by list scheduling.

    Of those that wait for a link the one goes first that would be there first if nothing else were sent; of several
    the one to the next rank, so that not all ranks send to the same one first.
    """
    lines = {each.line: (each.source, each.target) for each in sent}
    number = {line: i for i, line in enumerate(lines)}
    routes = _routes(name, network, list(lines.values()))
    roads = LinkResources.of(network, rules, parts)
    line = np.array([number[each.line] for each in sent], np.int64)
    begin, end = routes.begin[line], routes.begin[line + 1]
    of, at = index_ranges(begin, end)
    link = routes.path[at].astype(np.int64)
    inner = at > begin[of]
    last = np.cumsum(end - begin) - 1
    first = last - (end - begin) + 1
    before, behind = [np.flatnonzero(inner) - 1], [np.flatnonzero(inner)]
    for one, others in ((last, [each.came for each in sent]), (first, [each.left for each in sent])):
        waits = np.repeat(np.arange(len(sent)), [len(some) for some in others])
        before.append(one[np.array([t for some in others for t in some], np.int64)])
        behind.append(first[waits] if one is last else ~first[waits])
    # what each would take alone on the network
    lag = roads.latency[link] + np.where(roads.cut[network.link_target[link]], 0, roads.occupancy[link])
    through = np.cumsum(lag) - lag
    through -= through[first[of]]
    slowest = np.zeros(len(sent), np.int64)
    np.maximum.at(slowest, of, roads.occupancy[link])
    takes = np.bincount(of, lag, len(sent)).astype(np.int64)
    takes += np.where(roads.cut.any(), np.maximum(slowest - roads.occupancy[link[last]], 0), 0)
    soonest = np.zeros(len(sent), np.int64)
    for t, each in enumerate(sent):
        came = max((int(soonest[i] + takes[i]) for i in each.came), default=0)
        soonest[t] = max((int(soonest[i] + roads.occupancy[link[first[i]]]) for i in each.left), default=came)
        soonest[t] = max(soonest[t], came)
    turns: dict[tuple[int, bool], dict[int, int]] = {}  # what a rank adds up, or sends to all, one after the other
    sources: dict[int, set[int]] = {}
    for each in sent:
        sources.setdefault(each.shared, set()).add(each.source)
    for t, each in enumerate(sent):
        if each.shared >= 0:
            sums = len(sources[each.shared]) > 1
            own = turns.setdefault((each.target if sums else each.source, sums), {})
            soonest[t] = 2 * own.setdefault(each.shared, len(own)) + (not sums)
    order = np.empty(of.size, np.int64)
    ahead = np.array([(each.target - each.source) % network.terminal_count for each in sent], np.int64)
    order[np.lexsort((np.arange(of.size), ahead[of], soonest[of] + through))] = np.arange(of.size)
    kept, place, added = _crossed_once(np.array([each.shared for each in sent], np.int64)[of], link, at - begin[of])
    ends = [np.concatenate(rows) for rows in (before, behind)]
    ends = [np.where(rows < 0, ~place[np.maximum(~rows, 0)], place[np.maximum(rows, 0)]) for rows in ends]
    edges = np.unique(np.stack(ends), axis=1)
    edges = edges[
        :, edges[0] != np.where(edges[1] < 0, ~edges[1], edges[1])
    ]  # what crosses at once waits not for itself
    ranking = np.empty(kept.size)
    ranking[np.argsort(order[kept])] = np.arange(kept.size)
    graph = HopGraph.of_edges(link[kept].astype(np.int32), packet[of[kept]].astype(np.int32), *edges)
    starts = scheduled(graph, roads, rounds=0, orders=[ranking])
    carries = np.where(inner & ~added, place[np.maximum(np.arange(of.size) - 1, 0)], -1)
    return _Hops(starts.start, link[kept], of[kept], carries[kept])


def _crossed_once(
    shared: npt.NDArray[np.int64], link: npt.NDArray[np.int64], depth: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the hops that stay where transfers of one number cross a link once.

    Then, for each hop, the place of the one that stays in its place; and whether it carries on what several bring.
    """
    alone = np.where(shared < 0, -1 - np.arange(shared.size), shared)
    _, first, place, count = np.unique(
        np.stack([alone, link]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    place = place.reshape(-1)
    added = (count > 1) & (depth[first] > 0)
    stays = first.copy()  # the first of copies; of sums the last, which comes behind all that it adds up
    np.maximum.at(stays, place, np.where(added[place], np.arange(shared.size), -1))
    kept = np.sort(stays)
    number = np.searchsorted(kept, stays)
    return kept, number[place], added[place]


def _routes(name: str, network: Network, ends: Sequence[tuple[int, int]]) -> Ways:
    """Return a shortest path for each pair of ranks, over a link or through switches only, which pairs share."""
    n, count = network.terminal_count, network.node_count
    for u, v in ends:
        if not (0 <= u < n and 0 <= v < n):
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}; ranks are 0..{n - 1}")
    # ranks pass nothing on: what comes to one ends at a node of its own
    arrives = np.where(network.link_target < n, network.link_target + count, network.link_target)
    only = Network(
        network.spec, count + n, network.link_source, arrives.astype(np.int32), network.link_capacity,
        link_occupancy=network.link_occupancy, link_latency=network.link_latency, links_only=True,
    )  # fmt: skip
    pairs = np.array(ends, np.int64).reshape(-1, 2)

    def ways(rows: npt.NDArray[np.int64]) -> Ways:
        return shared_ways(only, np.zeros(len(rows), np.int64), rows[:, 0], rows[:, 1] + count)

    try:
        return ways(pairs)
    except NetworkError:
        pass
    for u, v in sorted(set(ends)):
        try:
            ways(np.array([(u, v)]))
        except NetworkError:
            if count == n:
                raise FileFormatError(
                    f"{name!r}: rank {u} sends to {v}, but {network.spec} has no link {u} -> {v}"
                ) from None
            raise FileFormatError(
                f"{name!r}: rank {u} sends to {v}, but {network.spec} has no link {u} -> {v}, and no path through "
                "switches that passes no other rank"
            ) from None
    raise AssertionError("unreachable")


def table_places(table: DemandTable, network: Network) -> tuple[list[dict[Place, Chunk]], list[dict[Place, Chunk]]]:
    """Return what each rank has in its input, and what it must have in its output, of a table of demands.

    As everywhere in programs: a buffer has the messages of its rank in the order of the rows, each in its packets.
    """
    n = network.terminal_count
    given: list[dict[Place, Chunk]] = [{} for _ in range(n)]
    goal: list[dict[Place, Chunk]] = [{} for _ in range(n)]
    for i, row in enumerate(table.to_rows()):
        shares = row.get("contributors", [])
        whole = sum(1 << v for v in shares)
        for part in range(row["packets"]):
            for v in shares or [row["origin"]]:
                given[v]["i", len(given[v])] = Chunk(i, part, 1 << v if shares else 0)
            for v in row["destinations"]:
                goal[v]["o", len(goal[v])] = Chunk(i, part, whole)
    return given, goal


def schedule_of_table(
    name: str,
    network: Network,
    table: DemandTable,
    sent: Sequence[ChunkHop] | Sequence[Transfer],
    algorithm: str,
    bytes: int | None = None,
) -> Schedule:
    """Return the schedule of what is sent of the rows of a table; as `schedule_of` otherwise.

    What combines a row goes to its first destination, and the result from there to the others.
    """
    rows = table.to_rows()
    whole = [sum(1 << v for v in row.get("contributors", ())) for row in rows]
    having: set[tuple[int, int, int]] = set()  # rows, parts and ranks that have a result
    ids = []
    for each in sent:
        row, part, ranks = each.chunk
        ends = rows[row]["destinations"]
        result = bool(ranks) and ranks == whole[row] and len(ends) > 1
        result = result and (each.source == ends[0] or (row, part, each.source) in having)
        if result:
            having.add((row, part, each.target))
        ids.append(2 * row + result)
    messages = table.messages(network)
    first = messages.first_packet()[np.searchsorted(messages.ids, np.array(ids, np.int64))]
    packet = first + np.array([each.chunk.part for each in sent], np.int64)
    return _begun(name, network, table, sent, packet, 1, algorithm, bytes, any(whole))


def _rooted_packets(hops: Sequence[ChunkHop] | Sequence[Transfer], n: int, chunks: int) -> list[tuple[int, int]] | None:
    """Return message and part of what is sent, in order, of an allreduce that adds each chunk up at a rank of its own.

    None where a chunk has no such rank, a rank sends a sum of it twice, or ranks complete different numbers of chunks.
    """
    everyone = (1 << n) - 1
    root_of: dict[int, int] = {}
    complete: set[tuple[int, int]] = set()  # chunks and ranks that have its result, or sent their sum
    for hop in hops:
        part, whole = hop.chunk.part, hop.chunk.ranks == everyone
        if whole:
            root = root_of.setdefault(part, hop.source)
            if hop.source != root and (part, hop.source) not in complete:
                return None
            complete.add((part, hop.target))
        elif (part, ~hop.source) in complete or root_of.get(part) is not None:
            return None
        else:
            complete.add((part, ~hop.source))
    taken = [0] * n
    part_of = {}
    for chunk in range(chunks):
        if chunk not in root_of or (chunk, ~root_of[chunk]) in complete:
            return None
        part_of[chunk] = taken[root_of[chunk]]
        taken[root_of[chunk]] += 1
    if len(set(taken)) > 1 or not chunks:
        return None
    return [(root_of[h.chunk.part] + n * (h.chunk.ranks == everyone), part_of[h.chunk.part]) for h in hops]


def _with_sums(name: str, schedule: Schedule, chunks: Sequence[Chunk], carries: npt.NDArray[np.int64]) -> Schedule:
    """Return the schedule whose hops carry the sums of a file, older ones or such as pass through where they must.

    `carries` int64[H] has the hops that switches carry on.

    A schedule whose nodes send what else they have of a chunk as well, and which is valid, says no less.

    Raises `FileFormatError` if a rank goes on adding to two sums of a chunk.
    """
    if verify(schedule, 1):
        return schedule
    found = _repeating(schedule, chunks, carries)
    if found is not None:
        again = schedule.replace(repeats=found)
        if verify(again, 1):
            return again
    combined = schedule.messages.discipline[message_rows(schedule.messages, schedule.packets)] >= COMBINE
    network = schedule.network
    for packet in np.flatnonzero(combined).tolist():
        sums = carried_sums(schedule, packet)
        for hop, row in zip(sums.hops.tolist(), sums.contributions, strict=True):
            sent = sum(1 << v for v in np.flatnonzero(row).tolist())
            if sent & ~chunks[hop].ranks:
                u, v = (int(ends[schedule.link[hop]]) for ends in (network.link_source, network.link_target))
                raise FileFormatError(
                    f"{name!r}: rank {u} sends a sum of chunk {chunks[hop].part} to {v} in slot {schedule.slot[hop]} "
                    f"without the contribution of {first_rank(sent & ~chunks[hop].ranks)}, which it has: a schedule "
                    "holds one sum of a chunk that it adds to, not two side by side"
                )
    return schedule


_MOST_PASSING = 100


def _repeating(
    schedule: Schedule, chunks: Sequence[Chunk], carries: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """Return the column ``repeats`` with which hops carry the given chunks; None where none is found."""
    network, packet = schedule.network, schedule.packet.tolist()
    source, target = (ends[schedule.link].tolist() for ends in (network.link_source, network.link_target))
    slot, ends = schedule.slot.tolist(), hop_ends(network, schedule.parts, schedule.slot, schedule.link).tolist()
    ranks = network.terminal_count
    arriving = sorted((h for h, v in enumerate(target) if v < ranks), key=ends.__getitem__)
    passing: set[int] = set()
    for _ in range(_MOST_PASSING):
        history: dict[tuple[int, int], list[tuple[int, int]]] = {}  # since when a rank has which sum
        repeats, came, known = carries.copy(), iter([*arriving, -1]), len(passing)
        coming = next(came)
        for h, u in enumerate(source):
            while coming >= 0 and ends[coming] <= slot[h]:
                of = history.setdefault((packet[coming], target[coming]), [(0, 1 << target[coming])])
                held, new = of[-1][1], chunks[coming].ranks
                if coming not in passing and new & ~held:
                    if new & held and held & ~new:
                        return None
                    of.append((ends[coming], held | new))
                coming = next(came)
            if u >= ranks:
                continue
            sums = history.setdefault((packet[h], u), [(0, 1 << u)])
            if chunks[h].ranks == sums[-1][1]:
                continue
            since = [time for time, ranks in sums if ranks == chunks[h].ranks]
            brought = [
                q for q in range(h) if packet[q] == packet[h] and target[q] == u and ends[q] <= slot[h]
                and chunks[q].ranks == chunks[h].ranks
            ]  # fmt: skip
            if not since and not brought:
                return None
            repeats[h] = -2 - since[-1] if since else brought[-1]
            if not since:
                passing.add(brought[-1])
        if len(passing) == known:
            return repeats
    return None
