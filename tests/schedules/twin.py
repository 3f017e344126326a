"""A slow twin of the checker: sets and dicts, one hop at a time, explicit schedules only.

It reads the rules in the docstring of `gossamer.verify` again, and shares nothing with the compiled kernels but the
schedule and the task's messages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import groupby

from gossamer.schedules import CONTROL, Packets, Schedule
from schedules.sums_twin import OF_SUMS, sent_again, simulated

COPY, MOVE, COMBINE = 0, 1, 2


class Rules:
    """The schedule in plain Python: messages by number, hops by slot, the ends of links."""

    def __init__(self, schedule: Schedule) -> None:
        network, messages = schedule.network, schedule.messages
        self.schedule = schedule
        self.nodes, self.terminals = range(network.node_count), range(network.terminal_count)
        self.ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
        self.capacity = network.link_capacity.tolist()
        self.origin, self.discipline, self.targets, self.after = {}, {}, {}, {}
        self.cells = {
            number: schedule.parts * (1 if messages.sizes is None else int(messages.sizes[row]))
            for row, number in enumerate(messages.ids.tolist())
        }
        for row, number in enumerate(messages.ids.tolist()):
            self.origin[number] = int(messages.origin[row])
            self.discipline[number] = int(messages.discipline[row])
            if messages.targets is None:
                self.targets[number] = list(self.terminals)
            else:
                low, high = messages.target_start[row : row + 2].tolist()
                self.targets[number] = messages.targets[low:high].tolist()
            if messages.after is not None and messages.after[row] >= 0:
                self.after[number] = int(messages.ids[messages.after[row]])
        table = schedule.packets
        self.table = list(zip(table.message.tolist(), table.part.tolist(), table.origin.tolist(), strict=True))
        self.summed: set[int] = set()
        rows = zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True)
        self.slots = {t: [(*self.ends[e], e, p) for _, e, p in hops] for t, hops in groupby(rows, lambda row: row[0])}

    def judge_sums(self) -> set[int]:
        """Find the packets of reductions that are sent as partial sums."""
        hops = [(p, u, v) for hops in self.slots.values() for u, v, _, p in hops if p != CONTROL]
        roots = {p: self.origin[m] for p, (m, _, _) in enumerate(self.table) if self.discipline[m] == COMBINE}
        rules = self.schedule.rules
        self.summed = sent_again(hops, roots, self.nodes if rules.reduction else self.terminals)
        return self.summed


def violations(schedule: Schedule) -> Counter[str]:
    """Count the violations of an explicit schedule by kind."""
    rules = Rules(schedule)
    found: Counter[str] = Counter()
    table_problems(rules, found)
    slot_length_problems(rules, found)
    if not found["wrong payload"]:
        ahead = found.copy()
        goals(rules, replay(rules, found), found)
        if any(found[kind] for kind in OF_SUMS) and rules.judge_sums():
            found = ahead
            goals(rules, replay(rules, found), found)
            for p in rules.summed:
                message = rules.table[p][0]
                hops = [(t, t + 1, u, v) for t, row in rules.slots.items() for u, v, _, q in row if q == p]
                early, _, twice, unmet = simulated(hops, rules.targets[message], [rules.origin[message]])
                found += Counter(causality=early, duplicate=twice, delivery=unmet)
        order_problems(rules, found)
        limit = schedule.rules.buffer
        if limit is not None and not +found:
            found["buffer"] = len(stretches_over(holdings(schedule, schedule.rules.buffer_counts), limit))
    return +found


def table_problems(rules: Rules, found: Counter[str]) -> None:
    """The packet table must hold every part of every message once, at its origin."""
    schedule = rules.schedule
    if schedule.parts > 1 and not schedule.rules.split:
        found["splitting"] += 1
    carried = set()
    for message, part, origin in rules.table:
        if message not in rules.origin or not 0 <= part < rules.cells[message]:
            found["wrong payload"] += 1
            continue
        found["wrong payload"] += origin != rules.origin[message]
        found["wrong payload"] += (message, part) in carried
        carried.add((message, part))
    found["wrong payload"] += sum(rules.cells.values()) - len(carried)


def slot_length_problems(rules: Rules, found: Counter[str]) -> None:
    """Every slot must last as long as what hops in it."""
    first = 0
    for phase in rules.schedule.phases:
        hops = [hop for t in range(first, first + phase.slots) for hop in rules.slots.get(t, [])]
        if any(p == CONTROL for *_, p in hops) and phase.slot_length < rules.schedule.cost.control_time:
            found["slot length"] += 1
        if any(p != CONTROL for *_, p in hops) and phase.slot_length < Fraction(1, rules.schedule.parts):
            found["slot length"] += 1
        first += phase.slots


class Holdings:
    """What is where: holders of copied packets, places of moved ones, who has what of a reduction and who sent it."""

    def __init__(self, rules: Rules) -> None:
        self.holders, self.place = {}, {}
        self.given: set[tuple[int, int]] = set()
        self.touched, self.sent = defaultdict(set), defaultdict(set)
        for p, (message, _, _) in enumerate(rules.table):
            if rules.discipline[message] == COPY:
                self.holders[p] = {rules.origin[message]}
            elif rules.discipline[message] == MOVE:
                self.place[p] = rules.origin[message]


def replay(rules: Rules, found: Counter[str]) -> Holdings:
    """Go through the slots in order: resources, then what leaves, then what arrives."""
    allowed = rules.schedule.rules
    state = Holdings(rules)
    for _, hops in sorted(rules.slots.items()):
        for e, uses in Counter(e for _, _, e, _ in hops).items():
            found["link capacity"] += max(uses - rules.capacity[e], 0)
        if allowed.ports in ("one", "one-send"):
            found["send port"] += sum(n - 1 for n in Counter(u for u, *_ in hops).values())
        if allowed.ports in ("one", "one-receive"):
            found["receive port"] += sum(n - 1 for n in Counter(v for _, v, *_ in hops).values())
        known = [hop for hop in hops if hop[3] != CONTROL and hop[3] not in rules.summed]
        leaving = [hop for hop in known if may_leave(rules, state, hop, found)]
        state.given |= {(p, u) for u, _, _, p in leaving}
        moved = set()
        for _, v, _, p in leaving:
            kind = rules.discipline[rules.table[p][0]]
            if kind == MOVE:
                if p in moved:
                    found["duplicate"] += 1
                else:
                    moved.add(p)
                    state.place[p] = v
            elif kind == COPY:
                kept = rules.schedule.messages.targets is None and v in rules.terminals
                given = (p, v) in state.given and not kept
                found["duplicate"] += v in state.holders[p] and not given
                state.holders[p].add(v)
                state.given.discard((p, v))
            else:
                found["lost contribution"] += v in state.sent[p]
                state.touched[p].add(v)
    return state


def may_leave(rules: Rules, state: Holdings, hop: tuple[int, int, int, int], found: Counter[str]) -> bool:
    """Say whether node u has what it sends; of a reduction, note that u's share has left."""
    u, _, _, p = hop
    message = rules.table[p][0]
    kind = rules.discipline[message]
    if kind == MOVE:
        legal = state.place[p] == u
    elif kind == COPY:
        legal = u in state.holders[p]
    else:
        legal = u != rules.origin[message] and (u in rules.targets[message] or u in state.touched[p])
        if legal and u in state.sent[p]:
            found["duplicate"] += 1
            return False
        if legal:
            state.sent[p].add(u)
    found["causality"] += not legal
    return legal


def goals(rules: Rules, end: Holdings, found: Counter[str]) -> None:
    """Every target must hold its packet; every share of a reduction must have left."""
    for p, (message, _, _) in enumerate(rules.table):
        kind = rules.discipline[message]
        if p in rules.summed:
            continue
        if kind == MOVE:
            found["delivery"] += end.place[p] != rules.targets[message][0]
        elif kind == COPY:
            found["delivery"] += sum(v not in end.holders[p] for v in rules.targets[message])
        else:
            owing = set(rules.targets[message]) | end.touched[p]
            found["delivery"] += len(owing - end.sent[p] - {rules.origin[message]})


def order_problems(rules: Rules, found: Counter[str]) -> None:
    """A message must not leave before the one that it waits for is complete."""
    slots = defaultdict(list)
    for t, hops in rules.slots.items():
        for *_, p in hops:
            if p != CONTROL:
                slots[rules.table[p][:2]].append(t)
    for message, needed in rules.after.items():
        every = range(rules.cells[message])
        for parts in [[k] for k in every] if rules.schedule.messages.partwise else [every]:
            leaves = [t for k in parts for t in slots[message, k]]
            complete = [t for k in parts for t in slots[needed, k]]
            found["order"] += bool(leaves and complete and min(leaves) <= max(complete))


def holdings(schedule: Schedule, counts: str) -> list[Counter[int]]:
    """Return how many packets each node holds before every slot and at the end of a valid explicit schedule."""
    rules = Rules(schedule)
    first_leave: dict[int, int] = {}
    last_leave: dict[tuple[int, int | None], int] = {}
    arrivals: dict[tuple[int, int], int] = {}
    for t, hops in sorted(rules.slots.items()):
        for u, v, _, p in hops:
            if p != CONTROL:
                first_leave.setdefault(p, t)
                last_leave[p, u] = last_leave[p, None] = t
                arrivals.setdefault((p, v), t)
    state = Holdings(rules)
    events: dict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)  # when a packet leaves (True) or arrives
    for t, hops in sorted(rules.slots.items()):
        for u, v, _, p in hops:
            events[p, u].append((t, True))
            events[p, v].append((t, False))
    end = max(rules.slots, default=-1) + 1
    boundaries = []
    for t in range(end + 1):
        held: Counter[int] = Counter()
        for p, (message, _, _) in enumerate(rules.table):
            origin, kind = rules.origin[message], rules.discipline[message]
            if kind == MOVE:
                node = state.place[p]
                held[node] += counts == "all" or (first_leave.get(p, end) < t <= last_leave.get((p, None), -1))
                continue
            for node in rules.nodes:
                arrived = arrivals.get((p, node), end) < t
                moves_on = last_leave.get((p, node), -1) >= t
                if kind == COPY:  # given away before it comes again, it is not held in between
                    later = [(slot, not leaves) for slot, leaves in events[p, node] if slot >= t]
                    coming = min(later, default=None)
                    moves_on = coming is not None and not coming[1]
                if kind == COPY and counts == "all":
                    here = arrived or node == origin
                    counted = here and (moves_on or (coming is None and node in rules.targets[message]))
                    if node == origin and message in rules.after:
                        counted = False  # the result of a reduction, which is counted as that
                elif kind == COPY:
                    counted = arrived and moves_on
                elif counts == "all" and (node == origin or node in rules.targets[message]):
                    counted = moves_on or node == origin
                else:
                    counted = arrived and moves_on
                held[node] += counted
        boundaries.append(+held)
        for _, v, _, p in rules.slots.get(t, []):
            if p in state.place:
                state.place[p] = v
    return boundaries


def peak(schedule: Schedule, counts: str) -> int:
    """Return the most packets that a node holds at a slot boundary."""
    return max((n for held in holdings(schedule, counts) for n in held.values()), default=0)


def stretches_over(boundaries: list[Counter[int]], limit: int) -> list[tuple[int, int, int]]:
    """Return (first boundary, node, packets then) of each run of boundaries at which a node holds more than `limit`."""
    return [
        (t, v, held[v])
        for t, held in enumerate(boundaries)
        for v in sorted(held)
        if held[v] > limit and (t == 0 or boundaries[t - 1][v] <= limit)
    ]


def expanded(schedule: Schedule) -> Schedule:
    """Return the explicit schedule of an invariant one, by translating its hops one at a time."""
    symmetry, network = schedule.symmetry, schedule.network
    if symmetry is None:
        return schedule
    table, count = schedule.packets, symmetry.order
    pairs = zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)
    link_of = {ends: e for e, ends in enumerate(pairs)}
    hops, rows = [], [()] * (table.count * count)
    for i, h in enumerate(symmetry.elements.tolist()):

        def image(x, h=h):
            return symmetry.translate(h, x)

        numbers = schedule.task.renamed_ids(network, table.message, image).tolist()
        rows[i::count] = zip(image(table.origin).tolist(), numbers, table.part.tolist(), strict=True)
        for t, e, p in zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True):
            link = link_of[tuple(image([network.link_source[e], network.link_target[e]]).tolist())]
            hops.append((t, link, CONTROL if p == CONTROL else p * count + i))
    hops.sort(key=lambda hop: hop[0])
    slot, link, packet = zip(*hops, strict=True) if hops else ([], [], [])
    packets = Packets(*zip(*rows, strict=True)) if rows else Packets([], [], [])
    return schedule.replace(slot=slot, link=link, packet=packet, packets=packets, symmetry=None)
