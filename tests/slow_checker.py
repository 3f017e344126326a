"""A checker for links with time, in plain Python and from the definitions: what it says of a schedule, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

from gossamer.tasks import COMBINE, COPY, MOVE


def faults(schedule):
    """Return what is wrong with an explicit schedule; an empty list if nothing is."""
    schedule = schedule.expand()
    net, rules, parts = schedule.network, schedule.rules, schedule.parts
    assert all(phase.slot_length == Fraction(1, parts) and not phase.control for phase in schedule.phases)
    hops = [
        _Hop(net, parts, int(t), int(e), int(p))
        for t, e, p in zip(schedule.slot, schedule.link, schedule.packet, strict=True)
    ]
    wrong = [f"{h} is over after the end" for h in hops if h.over > schedule.slot_count]
    wrong += _resources(net, rules, hops)
    messages = schedule.messages
    row_of = {int(i): r for r, i in enumerate(messages.ids)}
    carried = sorted((int(m), int(part)) for m, part in zip(schedule.packets.message, schedule.packets.part, strict=True))
    assert carried == sorted((int(m), part) for m in messages.ids for part in range(parts))
    by_packet = defaultdict(list)
    for hop in hops:
        by_packet[hop.packet].append(hop)
    ends = defaultdict(int)
    for p in range(schedule.packets.count):
        row = row_of[int(schedule.packets.message[p])]
        ends[row] = max([ends[row], *(h.over for h in by_packet[p])])
    for p in range(schedule.packets.count):
        row = row_of[int(schedule.packets.message[p])]
        targets = range(net.terminal_count)
        if messages.targets is not None:
            targets = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
        origin, kind = int(messages.origin[row]), messages.discipline[row]
        wrong += _PACKET[int(kind)](net, rules, by_packet[p], origin, targets, messages.targets is not None)
        if messages.after is not None and messages.after[row] >= 0:
            need = int(messages.after[row])
            wrong += [f"{h} too early" for h in by_packet[p] if h.start < ends[need]]
    return wrong


class _Hop:
    def __init__(self, net, parts, start, link, packet):
        self.start, self.link, self.packet = start, link, packet
        self.source, self.target = int(net.link_source[link]), int(net.link_target[link])
        self.occupancy, self.latency = int(net.link_occupancy[link]), int(net.link_latency[link]) * parts
        self.over = start + self.occupancy + self.latency

    def ready(self, following, rules, net):
        """Return when the packet may leave over the following hop's link."""
        if rules.cut_through and self.target >= net.terminal_count:
            return self.start + self.latency + max(0, self.occupancy - following.occupancy)
        return self.over

    def __repr__(self):
        return f"slot {self.start}: {self.source}->{self.target} packet {self.packet}"


def _resources(net, rules, hops):
    links, sends, receives = Counter(), Counter(), Counter()
    for h in hops:
        for t in range(h.occupancy):
            links[h.link, h.start + t] += 1
            sends[h.source, h.start + t] += 1
            receives[h.target, h.start + h.latency + t] += 1
    limited = rules.send_limited or rules.receive_limited
    wrong = [f"link {e} in {t}" for (e, t), n in links.items() if n > (1 if limited else net.link_capacity[e])]
    if rules.send_limited:
        wrong += [f"send port {k}" for k, n in sends.items() if n > 1]
    if rules.receive_limited:
        wrong += [f"receive port {k}" for k, n in receives.items() if n > 1]
    return wrong


def _matched(arrivals, departures, rules, net):
    """Whether each departure can take an arrival of its own."""
    free = sorted(arrivals, key=lambda h: h.over)
    for d in sorted(departures, key=lambda h: h.start):
        fits = [a for a in free if a.ready(d, rules, net) <= d.start]
        if not fits:
            return False
        free.remove(fits[-1])
    return True


def _by_node(hops):
    arrive, leave = defaultdict(list), defaultdict(list)
    for h in hops:
        arrive[h.target].append(h)
        leave[h.source].append(h)
    return arrive, leave


def _copied(net, rules, hops, origin, targets, listed):
    arrive, leave = _by_node(hops)
    wrong = [f"node {v} never gets it" for v in targets if v != origin and not arrive[v]]
    for u, departures in leave.items():
        if u >= net.terminal_count and not rules.replication:
            wrong += [] if _matched(arrive[u], departures, rules, net) else [f"switch {u} copies"]
        elif u != origin:
            wrong += [
                f"{d}: not held" for d in departures if not any(a.ready(d, rules, net) <= d.start for a in arrive[u])
            ]
    for v, arrivals in arrive.items():
        if v >= net.terminal_count and not rules.replication:
            continue
        if len(arrivals) + (v == origin) > 1 and not (listed and leave[v]):
            wrong.append(f"node {v} gets it twice")
    return wrong


def _moved(net, rules, hops, origin, targets, listed):
    at, came, wrong = origin, None, []
    for h in sorted(hops, key=lambda h: (h.start, h.over)):
        if h.source != at or (came is not None and came.ready(h, rules, net) > h.start):
            wrong.append(f"{h}: not there")
        at, came = h.target, h
    return wrong if at == targets[0] else [*wrong, f"ends at {at}, not at {targets[0]}"]


def _combined(net, rules, hops, origin, targets, listed):
    arrive, leave = _by_node(hops)
    wrong = []
    for u in range(net.node_count):
        switch = u >= net.terminal_count
        if switch and not rules.reduction:
            good = len(arrive[u]) == len(leave[u]) and _matched(arrive[u], leave[u], rules, net)
            wrong += [] if good else [f"switch {u} passes on other than it got"]
        elif u == origin:
            wrong += [f"root sends {d}" for d in leave[u]]
        else:
            owes = not switch or bool(arrive[u])
            if len(leave[u]) != owes:
                wrong.append(f"node {u} sends {len(leave[u])} times")
            wrong += [f"{d}: {a} too late" for d in leave[u] for a in arrive[u] if a.ready(d, rules, net) > d.start]
    return wrong


_PACKET = {int(COPY): _copied, int(MOVE): _moved, int(COMBINE): _combined}
