"""A slow twin of the checker for links that take time and switches with rules of their own: one slot after the other.

It shares nothing with the compiled kernels but the schedule and the task's messages. What is plain about a schedule,
its packet table, it leaves to the twin for plain links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

from gossamer.schedules import CONTROL, Schedule
from schedules import twin
from schedules.sums_twin import OF_SUMS, Switches, simulated

COPY, MOVE, COMBINE = 0, 1, 2


@dataclass
class Hop:
    """A hop: its row, when it starts, where it goes, and what it carries for how long; where that was in its slot."""

    row: int
    t: int
    link: int
    u: int
    v: int
    packet: int
    occupancy: int
    latency: int
    passing: bool  # whether it leads to a switch that cuts through
    left: int = -1  # the terminal that what it carries left in the same slot

    @property
    def end(self) -> int:
        return self.t + self.occupancy + self.latency

    @property
    def usable(self) -> int:
        return self.t + self.latency if self.passing else self.end

    @property
    def gone(self) -> int:
        """When its tail has left the sender."""
        return self.t + self.occupancy


class Timed:
    """The schedule in plain Python."""

    def __init__(self, schedule: Schedule) -> None:
        network = schedule.network
        self.schedule, self.rules, self.known = schedule, schedule.rules, twin.Rules(schedule)
        self.terminals = network.terminal_count
        self.switched = self.terminals < network.node_count
        ends, capacity = self.known.ends, self.known.capacity
        occupancy, latency = network.link_occupancy.tolist(), network.link_latency.tolist()
        self.capacity = capacity
        rows = zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True)
        self.hops = [
            Hop(
                row, t, e, *ends[e], p, occupancy[e], latency[e] * schedule.parts,
                self.rules.cut_through and ends[e][1] >= self.terminals,
            )
            for row, (t, e, p) in enumerate(rows)
        ]  # fmt: skip

    def kind(self, packet: int) -> int:
        return self.known.discipline[self.known.table[packet][0]]

    def origin(self, packet: int) -> int:
        return self.known.origin[self.known.table[packet][0]]

    def targets(self, packet: int) -> list[int]:
        return self.known.targets[self.known.table[packet][0]]

    def one_by_one(self, packet: int, node: int) -> bool:
        """Whether each departure of the packet from the node uses up an arrival."""
        if node < self.terminals:
            return False
        kind = self.kind(packet)
        return (kind == COPY and not self.rules.replication) or (kind == COMBINE and not self.rules.reduction)


def counted(schedule: Schedule) -> Counter[str]:
    """Count the violations by kind, by this twin where the one for plain links does not know enough."""
    network, rules = schedule.network, schedule.rules
    as_ever = (rules.cut_through, rules.replication, rules.reduction) == (False, True, True)
    plain = network.plain and (as_ever or network.terminal_count == network.node_count)
    return twin.violations(schedule) if plain else violations(schedule)


def violations(schedule: Schedule) -> Counter[str]:
    """Count the violations of an explicit schedule by kind."""
    timed = Timed(schedule)
    found: Counter[str] = Counter()
    twin.table_problems(timed.known, found)
    if schedule.network.plain:
        twin.slot_length_problems(timed.known, found)
    else:
        length = Fraction(1, schedule.parts)
        found["slot length"] += sum(bool(p.slots) and p.slot_length != length for p in schedule.phases)
    if found["wrong payload"]:
        return +found
    if not schedule.network.plain:
        found["control packet"] += sum(hop.packet == CONTROL for hop in timed.hops)
    for hop in timed.hops:
        resource_problems(timed, hop, found)
    ahead = found.copy()
    for packet in range(len(timed.known.table)):
        follow(timed, packet, [hop for hop in timed.hops if hop.packet == packet], found)
    if any(found[kind] for kind in OF_SUMS) and (summed := timed.known.judge_sums()):
        found = ahead
        for packet in range(len(timed.known.table)):
            hops = [hop for hop in timed.hops if hop.packet == packet]
            if packet not in summed:
                follow(timed, packet, hops, found)
                continue
            rows = [(hop.t, hop.usable, hop.u, hop.v, -1, hop.gone, hop.end) for hop in hops]
            switches = Switches(timed.terminals, timed.rules.reduction, timed.rules.replication)
            early, _, twice, unmet = simulated(rows, timed.targets(packet), [timed.origin(packet)], switches)
            found += Counter(causality=early, duplicate=twice, delivery=unmet)
    order_problems(timed, found)
    limit = schedule.rules.buffer
    if limit is not None and not +found:
        found["buffer"] = len(twin.stretches_over(holdings(schedule, schedule.rules.buffer_counts), limit))
    return +found


def resource_problems(timed: Timed, hop: Hop, found: Counter[str]) -> None:
    """A link holds so many packets at once, a limited port one."""
    earlier = timed.hops[: hop.row]
    on_link = sum(other.link == hop.link and other.t <= hop.t < other.gone for other in earlier)
    found["link capacity"] += on_link >= timed.capacity[hop.link]
    if timed.rules.ports in ("one", "one-send"):
        found["send port"] += any(other.u == hop.u and hop.t < other.gone for other in earlier)
    if timed.rules.ports in ("one", "one-receive"):
        begin = hop.t + hop.latency
        before = [h for h in timed.hops if (h.t + h.latency, h.row) < (begin, hop.row)]
        found["receive port"] += any(other.v == hop.v and begin < other.end for other in before)
    found["shared port"] += any(port_full(timed, hop, sends) for sends in (True, False))
    found["unfinished"] += hop.end > timed.schedule.slot_count


def port_full(timed: Timed, hop: Hop, sends: bool) -> bool:
    """Whether a hop enters a port, of its sender or of its receiver, that passes as many packets as it can."""
    shared = timed.schedule.network.shared_ports
    if shared is None:
        return False
    side = (shared.sending if sends else shared.receiving).tolist()
    port = side[hop.link]
    if port < 0:
        return False
    held = int(shared.occupancy[port])

    def enters(other: Hop) -> int:
        return other.t if sends else other.end - held

    inside = [
        other for other in timed.hops
        if side[other.link] == port
        and (enters(other), other.row) < (enters(hop), hop.row)
        and enters(hop) < enters(other) + held
    ]  # fmt: skip
    return len(inside) >= int(shared.capacity[port])


class Pool:
    """Arrivals at a switch and the departures that use them up, matched as well as can be."""

    def __init__(self) -> None:
        self.arrivals: list[Hop] = []
        self.departures: list[Hop] = []
        self.user: dict[int, int] = {}  # which departure uses an arrival

    def leave(self, hop: Hop) -> bool:
        """Match one more departure, others giving way to it if they can."""
        self.departures.append(hop)
        if self.match(len(self.departures) - 1, set()):
            return True
        self.departures.pop()
        return False

    def match(self, departure: int, tried: set[int]) -> bool:
        hop = self.departures[departure]
        for i, arrival in enumerate(self.arrivals):
            if i in tried or arrival.usable > hop.t or arrival.end > hop.gone:
                continue
            tried.add(i)
            if i not in self.user or self.match(self.user[i], tried):
                self.user[i] = departure
                return True
        return False


class Place:
    """What one node has of one packet."""

    def __init__(self) -> None:
        self.came: list[Hop] = []
        self.from_start = False
        self.sent_at: Hop | None = None
        self.sent_on = False
        self.pool = Pool()
        self.since, self.left = -1, -1  # when something came last, and the terminal that all of it left in that slot

    def sends(self, hop: Hop, terminals: int) -> None:
        """Note from which terminal what leaves came in this slot, -1 where it is of another one or of several."""
        hop.left = hop.u if hop.u < terminals else self.left if self.since == hop.t else -1

    def receives(self, hop: Hop, beside: bool) -> None:
        """Note from which terminal what comes left in this slot, -1 if there is something else `beside` it."""
        left = hop.left if hop.usable == hop.t else -1
        beside = self.left != left if self.since == hop.usable else beside
        self.since, self.left = hop.usable, -1 if beside else left


def follow(timed: Timed, packet: int, hops: list[Hop], found: Counter[str]) -> dict[int, Place]:
    """Follow a packet from slot to slot."""
    places: dict[int, Place] = defaultdict(Place)
    places[timed.origin(packet)].from_start = True
    moved = Token(timed.origin(packet))
    last = max((hop.end for hop in hops), default=0)
    under_way: list[Hop] = []
    for t in range(last + 1):
        for hop in [h for h in under_way if h.usable == t]:
            arrive(timed, packet, hop, places, moved, found)
        now = [hop for hop in hops if hop.t == t]
        left = leave_in_turn(timed, packet, now, places, moved, found)
        under_way += [hop for hop in left if hop.usable > t]
        under_way.sort(key=lambda hop: hop.row)
    for node in timed.known.nodes:
        found["delivery"] += not met(timed, packet, node, places[node], moved)
    return places


@dataclass
class Token:
    """Where a packet is that is never copied; on a link nowhere."""

    node: int | None
    came: Hop | None = None


def leave_in_turn(
    timed: Timed, packet: int, now: list[Hop], places: dict[int, Place], moved: Token, found: Counter[str]
) -> list[Hop]:
    """Let the hops of one slot leave, each after those of the slot that bring something to its sender."""
    waiting, left = list(now), []
    while True:
        ready = [h for h in waiting if not any(g.v == h.u and g.usable == g.t for g in waiting)]
        if not ready:
            found["causality"] += len(waiting)
            return left
        hop = ready[0]
        waiting.remove(hop)
        if leave(timed, packet, hop, left, places[hop.u], moved, found):
            left.append(hop)
            if hop.usable == hop.t:
                arrive(timed, packet, hop, places, moved, found)


def leave(
    timed: Timed, packet: int, hop: Hop, left: list[Hop], place: Place, moved: Token, found: Counter[str]
) -> bool:
    """Say whether a hop's sender has what it sends."""
    kind = timed.kind(packet)
    place.sends(hop, timed.terminals)
    if kind == MOVE:
        if moved.node == hop.u and (moved.came is None or moved.came.end <= hop.gone):
            moved.node = None
            return True
        found["duplicate" if any(other.u == hop.u for other in left) else "causality"] += 1
        return False
    if timed.one_by_one(packet, hop.u):
        legal = place.pool.leave(hop)
        found["causality"] += not legal
        return legal
    has = any(came.end <= hop.gone for came in place.came)
    if kind == COPY:
        legal = has or place.from_start
        found["causality"] += not legal
        place.sent_on |= legal
        return legal
    if hop.u == timed.origin(packet) or (hop.u not in timed.targets(packet) and not has):
        found["causality"] += 1
        return False
    if place.sent_at is not None:
        found["duplicate"] += 1
        return False
    place.sent_at = hop
    found["lost contribution"] += sum(came.end > hop.gone for came in place.came)
    return True


def arrive(timed: Timed, packet: int, hop: Hop, places: dict[int, Place], moved: Token, found: Counter[str]) -> None:
    """Give the receiver what a hop brings."""
    kind, place = timed.kind(packet), places[hop.v]
    place.receives(hop, timed.one_by_one(packet, hop.v) and len(place.pool.user) < len(place.pool.arrivals))
    if kind == MOVE:
        moved.node, moved.came = hop.v, hop
    elif timed.one_by_one(packet, hop.v):
        place.pool.arrivals.append(hop)
        place.came.append(hop)
    elif kind == COPY:
        kept = timed.schedule.messages.targets is None and hop.v < timed.terminals
        may_come = place.sent_on and not kept and hop.left != hop.v
        found["duplicate"] += (bool(place.came) or place.from_start) and not may_come
        place.came.append(hop)
        place.sent_on = False
    else:
        place.came.append(hop)
        found["lost contribution"] += place.sent_at is not None


def met(timed: Timed, packet: int, node: int, place: Place, moved: Token) -> bool:
    """Say whether all is at the end as it should be at a node."""
    kind, origin = timed.kind(packet), timed.origin(packet)
    if kind == MOVE:
        return node not in timed.targets(packet) or moved.node == node
    if kind == COPY:
        return node not in timed.targets(packet) or bool(place.came) or place.from_start
    if node == origin:
        return True
    if timed.one_by_one(packet, node):
        return len(place.pool.user) == len(place.pool.arrivals)
    return place.sent_at is not None or (node not in timed.targets(packet) and not place.came)


def order_problems(timed: Timed, found: Counter[str]) -> None:
    """A message must not leave before the one that it waits for is complete."""
    hops = defaultdict(list)
    for hop in timed.hops:
        if hop.packet != CONTROL:
            hops[timed.known.table[hop.packet][0]].append(hop)
    for message, needed in timed.known.after.items():
        every = range(timed.known.cells[message])
        for parts in [[k] for k in every] if timed.schedule.messages.partwise else [every]:
            mine, theirs = (
                [h for h in hops[number] if timed.known.table[h.packet][1] in parts] for number in (message, needed)
            )
            if mine and theirs:
                found["order"] += min(h.t for h in mine) < max(h.end for h in theirs)


def holdings(schedule: Schedule, counts: str) -> list[Counter[int]]:
    """Return how many packets each node holds at each slot boundary of a valid explicit schedule, up to the end."""
    timed = Timed(schedule)
    last = max((hop.end for hop in timed.hops), default=0)
    held: list[Counter[int]] = [Counter() for _ in range(last + 1)]
    for packet in range(len(timed.known.table)):
        hops = [hop for hop in timed.hops if hop.packet == packet]
        for node in timed.known.nodes:
            for first, until in stays(timed, packet, hops, node, last, everything=counts == "all"):
                for t in range(first, until + 1):
                    held[t][node] += 1
    return held


def stays(
    timed: Timed, packet: int, hops: list[Hop], node: int, last: int, *, everything: bool
) -> list[tuple[int, int]]:
    """Return from which to which boundary a packet is in a node's buffer, as often as it is."""
    kind, origin = timed.kind(packet), timed.origin(packet)
    comes = sorted((h for h in hops if h.v == node), key=lambda h: h.usable)
    leaves = [h.t for h in hops if h.u == node]
    message = timed.known.table[packet][0]
    if timed.one_by_one(packet, node):
        return list(zip(sorted(h.end for h in comes), leaves, strict=False))
    if kind == COMBINE:
        if node == origin:
            return [(0, last)] if everything else []
        since = 0 if everything and node in timed.targets(packet) else min((h.end for h in comes), default=last + 1)
        return [(since, max(leaves, default=-1))]
    found = []
    arrivals = [(h.usable, h.end) for h in comes]
    if everything and node == origin and message not in timed.known.after:
        arrivals.insert(0, (0, 0))
    for i, (begin, end) in enumerate(arrivals):
        following = arrivals[i + 1][0] if i + 1 < len(arrivals) else last + 1
        until = max((x for x in leaves if begin <= x < following), default=-1)
        if everything and i + 1 == len(arrivals) and node in timed.targets(packet):
            until = last
        found.append((end, until))
    return found
