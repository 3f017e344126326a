"""Reductions by partial sums: the checker against a plain simulation that carries sets, on random small schedules."""

import numpy as np
import pytest

import gossamer
from gossamer.errors import ScheduleError, TaskError
from gossamer.networks.network import Network
from gossamer.questions.tasks import DemandTable, Grouped, PartialSumAllreduce, Reduce, Together, chunked
from gossamer.verification import buffer_peak
from gossamer.verification.replay_inputs import ReplayState
from gossamer.verification.timed_replay import carried_sums, replay_timed
from schedules.sums_twin import OF_SUMS, Switches, simulated


def random_network(draw, timed):
    n = int(draw.integers(3, 8))
    pairs = {tuple(sorted(map(int, draw.choice(n, 2, replace=False)))) for _ in range(3 * n)}
    pairs |= {(v, v + 1) for v in range(n - 1)}
    source, target = np.array(sorted(p for a, b in pairs for p in ((a, b), (b, a)))).T
    net = Network("random", n, source, target)
    if not timed:
        return net
    return net.with_times(draw.integers(1, 4, net.link_count), draw.integers(0, 3, net.link_count))


def random_rows(draw, net, members, slots):
    """Return rows of one packet: slot, link, and the row that it repeats, or the slot whose sum it carries, or None.

    Most hops are such that no contribution counts twice, some are not; some pass through a node.
    """
    sums = {v: {v} for v in members}
    rows, under_way, history = [], [], []
    careless, relays = draw.choice([0, 0, 0, 0.05, 0.3]), draw.choice([0, 0.05, 0.2])
    for t in range(slots):
        for _, v, a in [w for w in under_way if w[0] == t]:
            held = sums.get(v, set())
            sums[v] = held if a <= held else a if a >= held else held | a
        history.append({v: set(held) for v, held in sums.items()})
        for e in draw.permutation(net.link_count)[: int(draw.integers(0, net.link_count))].tolist():
            a, way, end = sums.get(int(net.link_source[e]), set()), [e], t
            if draw.random() < relays:
                way.append(int(draw.choice(np.flatnonzero(net.link_source == net.link_target[e]))))
            older = None
            if relays and draw.random() < 0.1:
                older = int(draw.integers(t + 1))
                a = history[older].get(int(net.link_source[e]), set())
            v = int(net.link_target[way[-1]])
            coming = set().union(*(b for at, w, b in under_way if w == v and at > t), sums.get(v, set()))
            good = a and not a <= coming and (a >= coming or not a & coming)
            if good or draw.random() < careless:
                for k, link in enumerate(way):
                    rows.append((end, link, rows[-1] if k else older))
                    end += int(net.link_occupancy[link]) + int(net.link_latency[link])
                under_way.append((end, v, set(a)))
    return rows


def drawn(net, task, rows):
    """Return the schedule of (packet, row) pairs, and sort them as its hops are."""
    rows.sort(key=lambda entry: (entry[1][:2], entry[0]))
    place = {id(row): i for i, (_, row) in enumerate(rows)}
    slot, link, packet, repeats = np.array(
        [(t, e, p, -2 - r if isinstance(r, int) else place.get(id(r), -1)) for p, (t, e, r) in rows], np.int64
    ).reshape(-1, 4).T  # fmt: skip
    again = repeats if (repeats != -1).any() else None
    return gossamer.Schedule(net, task, gossamer.Rules(), slot, link, packet, repeats=again)


def ends(net, t, e):
    return t, t + int(net.link_occupancy[e] + net.link_latency[e]), int(net.link_source[e]), int(net.link_target[e])


def question(kind, draw, n):
    """Return (task, contributors and targets of each packet)."""
    packets, root = int(draw.integers(1, 3)), int(draw.integers(n))
    groups = [draw.permutation(n)[: int(draw.integers(2, n + 1))].tolist() for _ in range(2)]
    if kind == "groups":
        return Grouped(PartialSumAllreduce(), groups), [(g, g) for g in groups]
    if kind == "table":
        members = [v for v in groups[0] if v != root] + groups[0][: root % 2]
        return DemandTable.of([], contributions=[(sorted(set(members)), [root], packets)]), [
            (members, [root])
        ] * packets
    task = PartialSumAllreduce() if kind == "all" else Reduce(root)
    return chunked(task, packets), [(range(n), range(n) if kind == "all" else [root])] * packets


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("kind", ["all", "groups", "root", "table"])
def test_random_schedules_are_judged_as_by_sets(kind, timed):
    draw = np.random.default_rng([len(kind), timed])
    judged, useless, several, relayed = {True: 0, False: 0}, 0, 0, 0
    for _ in range(200):
        net = random_network(draw, timed)
        task, each = question(kind, draw, net.node_count)
        slots = 4 * net.node_count
        rows = [(p, row) for p, (members, _) in enumerate(each) for row in random_rows(draw, net, members, slots)]
        if rows and draw.random() < 0.3:
            del rows[int(draw.integers(len(rows)))]
        schedule = drawn(net, task, rows)
        packet, again = schedule.packet, schedule.repeats
        repeats = np.full(packet.size, -1) if again is None else again
        found = gossamer.verify(schedule)
        relayed += again is not None and found.ok
        alone = []
        for p in range(len(each)):
            mine = np.flatnonzero(packet == p).tolist()
            among = [mine.index(repeats[i]) if repeats[i] >= 0 else int(repeats[i]) for i in mine]
            alone.append([(*ends(net, *rows[i][1][:2]), j) for i, j in zip(mine, among, strict=True)])
        early, wasted, twice, unmet = map(sum, zip(*map(simulated, alone, *zip(*each, strict=True)), strict=True))
        ok = not early + twice + unmet
        assert ok == (not any(found.counts.get(k) for k in OF_SUMS)), (rows, str(found))
        if kind in ("all", "groups"):  # of reductions to a root that each node sends once other words are told
            told = tuple(found.counts.get(k, 0) for k in ("causality", "duplicate", "delivery"))
            assert (*told, found.wasted) == (early, twice, unmet, wasted)
        judged[ok] += 1
        useless += wasted > 0
        several += twice > 0
    assert min(judged.values()) >= 10, judged
    assert min(useless, several) > 0
    assert relayed or kind == "groups"


def by_ends(network, rows, task=None):
    """The schedule of rows (slot, sender, receiver, row that is repeated or -1) of one packet."""
    slot, source, target, repeats = np.array(rows).T
    link = network.links_between(source, target)
    task = PartialSumAllreduce() if task is None else task
    return gossamer.Schedule(network, task, gossamer.Rules(), slot, link, np.zeros(len(rows), int), repeats=repeats)


def doubling_on_ring_of_4():
    """Exchange with the neighbor, then with the opposite node, through the node between, which adds nothing of it."""
    near = [(0, v, v ^ 1, -1) for v in range(4)]
    first = [(1, v, (v + 1) % 4, -1) for v in range(4)]
    return near + first + [(2, (v + 1) % 4, (v + 2) % 4, 4 + v) for v in range(4)]


def test_what_passes_through_a_node_is_not_added_there():
    net = gossamer.network("ring:4")
    passing = by_ends(net, doubling_on_ring_of_4())
    found = gossamer.verify(passing)
    assert (found.ok, found.wasted) == (True, 0)
    assert carried_sums(passing, 0).contributions[8:].sum(axis=1).tolist() == [2, 2, 2, 2]
    added = gossamer.verify(passing.replace(repeats=None))
    assert (added.ok, added.wasted) == (True, 4)  # on so small a ring it does no harm
    assert not gossamer.verify(passing.replace(task=gossamer.task("broadcast"))).ok


def test_an_older_sum_is_sent_again_where_nodes_are_no_power_of_two():
    """Dissemination among 3: the second message to the left of all is what the first one was."""
    net = gossamer.network("complete:3")
    rows = [(0, v, (v + 1) % 3, -1) for v in range(3)] + [(1, v, (v + 2) % 3, v) for v in range(3)]
    assert gossamer.verify(by_ends(net, rows)).ok
    found = gossamer.verify(by_ends(net, [(t, u, v, -1) for t, u, v, _ in rows]))
    assert found.counts == {"duplicate": 3, "delivery": 3}
    name = found.violations[0].text
    assert name == (
        "slot 1: (0)->(2) carries packet 0 with the contribution of node (2), "
        "which would count twice in the sum of node (2)"
    )


def test_what_is_repeated_must_have_been_there():
    net = gossamer.network("ring:4")
    rows = doubling_on_ring_of_4()
    rows[8] = (2, 1, 2, 6)  # what came to another node
    found = gossamer.verify(by_ends(net, rows))
    assert found.counts["causality"] == 1
    assert found.violations[0].text == "slot 2: (1)->(2) carries packet 0, of which node (1) has nothing to send on"


@pytest.mark.parametrize("repeats", [[-1, 1], [-3, -1], [-1, -4], [-1], [1, -1]])
def test_a_hop_repeats_an_earlier_one(repeats):
    net = gossamer.network("array:3")
    with pytest.raises(ScheduleError, match="repeat"):
        gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), [0, 1], [0, 1], [0, 0], repeats=repeats)


@pytest.mark.parametrize("suffix", ["parquet", "txt"])
def test_repeated_hops_stand_in_files(tmp_path, suffix):
    net = gossamer.network("ring:4")
    schedule = by_ends(net, doubling_on_ring_of_4())
    schedule.save(tmp_path / f"plan.{suffix}")
    loaded = gossamer.load(tmp_path / f"plan.{suffix}")
    assert loaded == schedule
    assert gossamer.verify(loaded).ok
    assert loaded != schedule.replace(repeats=None)


def test_partial_sums_have_no_reverse():
    net = gossamer.network("array:3")
    twice = gossamer.Schedule(net, Reduce(0), gossamer.Rules(), [0, 1, 2], [3, 2, 2], [0, 0, 0])
    assert gossamer.verify(twice).wasted == 1
    with pytest.raises(ScheduleError, match="cannot be reversed"):
        twice.reverse()
    with pytest.raises(TaskError, match="no dual"):
        by_ends(gossamer.network("ring:4"), doubling_on_ring_of_4()).reverse()


def test_buffers_hold_one_sum_of_a_packet():
    net = gossamer.network("ring:4")
    schedule = by_ends(net, doubling_on_ring_of_4())
    assert buffer_peak(schedule).packets == 1
    assert buffer_peak(schedule, "all").packets == 1


def switched_network(draw, timed):
    """Terminals, then switches, joined at random; most links lead to switches."""
    terminals, switches = int(draw.integers(2, 4)), int(draw.integers(1, 4))
    n = terminals + switches
    pairs = {(v, int(draw.integers(terminals, n))) for v in range(terminals)}
    pairs |= {(v, v + 1) for v in range(terminals, n - 1)}
    pairs |= {tuple(sorted(map(int, draw.choice(n, 2, replace=False)))) for _ in range(2)}
    source, target = np.array(sorted(p for a, b in pairs for p in ((a, b), (b, a)))).T
    net = Network("switched", n, source, target, terminal_count=terminals, links_only=True)
    if not timed:
        return net
    return net.with_times(draw.integers(1, 4, net.link_count), draw.integers(0, 3, net.link_count))


def row_of_twin(net, rules, t, e, again):
    occupancy, latency = (int(np.broadcast_to(c, net.link_count)[e]) for c in (net.link_occupancy, net.link_latency))
    u, v, gone = int(net.link_source[e]), int(net.link_target[e]), t + occupancy
    head = t + latency if rules.cut_through and v >= net.terminal_count else gone + latency
    return t, head, u, v, again, gone, gone + latency


def some_hops(draw, net, rules, rows, t):
    """Return hops that go well together: ways of sums, or what meets in a switch and goes on from there."""
    found = []

    def add(start, e, again):
        found.append(row_of_twin(net, rules, start, e, again))
        return len(rows) + len(found) - 1

    def out_of(v):
        return np.flatnonzero(net.link_source == v).tolist()

    if draw.random() < 0.3:
        hub = int(draw.integers(net.terminal_count, net.node_count))
        into = [e for e in np.flatnonzero(net.link_target == hub).tolist() if draw.random() < 0.7]
        last = [add(t, e, -1) for e in into]
        t = max([found[i - len(rows)][1] for i in last], default=t)
        for e in out_of(hub):
            if draw.random() < 0.6:
                add(t + int(draw.integers(3)) // 2, e, -1 if draw.random() < 0.9 else -2 - t)
        return found
    for _ in range(int(draw.integers(1, 4))):
        e, start = int(draw.integers(net.link_count)), t
        older = draw.random() < 0.1
        row = add(start, e, -2 - int(draw.integers(t + 1)) if older else -1)
        while found[-1][3] >= net.terminal_count and draw.random() < 0.9:
            start = found[-1][1] + int(draw.integers(4)) // 3
            row = add(start, int(draw.choice(out_of(found[-1][3]))), row if draw.random() < 0.9 else -1)
    return found


def random_rows_through_switches(draw, net, rules):
    """Return rows of one packet, most of which do what they should; more than half of all rows pass switches."""
    members, switches = range(net.terminal_count), Switches(net.terminal_count, rules.reduction, rules.replication)
    rows, careless = [], draw.choice([0, 0, 0, 0.1])
    for t in range(16):
        for _ in range(8):
            tried = rows + some_hops(draw, net, rules, rows, t)
            early, wasted, twice, unmet = simulated(tried, members, members, switches)
            if (not early + twice and (wasted == 0 or draw.random() < 0.1)) or draw.random() < careless:
                rows = tried
            if not unmet:
                return rows
    return rows


def in_slots(net, rules, rows):
    """Sort rows of one packet by slot, and return them with their schedule."""
    order = np.argsort([row[0] for row in rows], kind="stable").tolist()
    place = {old: new for new, old in enumerate(order)}
    rows = [(*rows[i][:4], place.get(rows[i][4], rows[i][4]), *rows[i][5:]) for i in order]
    slot, _, source, target, repeats, *_ = np.array(rows, np.int64).reshape(-1, 7).T
    link = net.links_between(source, target)
    return rows, gossamer.Schedule(net, PartialSumAllreduce(), rules, slot, link, slot * 0, repeats=repeats)


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("reduction", [False, True])
@pytest.mark.parametrize("replication", [False, True])
def test_sums_through_switches_are_judged_as_by_sets(timed, reduction, replication):
    draw = np.random.default_rng([timed, reduction, replication])
    judged, in_turn, crossing = {True: 0, False: 0}, 0, 0
    for number in range(100):
        net = switched_network(draw, timed)
        rules = gossamer.Rules(cut_through=bool(number % 4), reduction=reduction, replication=replication)
        rows = random_rows_through_switches(draw, net, rules)
        if rows and draw.random() < 0.2:  # leave one out that none repeats
            free = sorted(set(range(len(rows))) - {row[4] for row in rows})
            gone = free[int(draw.integers(len(free)))]
            rows = [(*r[:4], r[4] - (r[4] > gone), *r[5:]) for i, r in enumerate(rows) if i != gone]
        rows, schedule = in_slots(net, rules, rows)
        members = range(net.terminal_count)
        early, wasted, twice, unmet = simulated(
            rows, members, members, Switches(net.terminal_count, reduction, replication)
        )
        found = gossamer.verify(schedule)
        told = tuple(found.counts.get(k, 0) for k in ("causality", "duplicate", "delivery"))
        assert (*told, found.wasted) == (early, twice, unmet, wasted), (rows, str(found))
        judged[not early + twice + unmet] += 1
        in_slot = [row for row in rows if row[0] == row[1]]
        in_turn += bool(in_slot) and not sum(told)
        crossing += not sum(told) and any(a[2] == b[3] and a[3] == b[2] and a[0] == b[0] for a in rows for b in rows)
    assert min(judged.values()) >= 5, judged
    assert min(in_turn, crossing) >= 3, (in_turn, crossing)


HUBS = gossamer.Network(
    "hubs", 4, [0, 1, 2, 2, 3, 3], [2, 3, 0, 3, 1, 2], terminal_count=2, links_only=True
)  # terminals 0 and 1, each at a switch of its own
CUT = gossamer.Rules(cut_through=True)
CROSSING = [(0, 0, 2, -1), (0, 1, 3, -1), (0, 2, 3, 0), (0, 3, 2, 1), (0, 3, 1, 2), (0, 2, 0, 3)]


def through_hubs(rows, rules=CUT, net=HUBS):
    slot, source, target, repeats = np.array(rows).T
    link = net.links_between(source, target)
    return gossamer.verify(gossamer.Schedule(net, PartialSumAllreduce(), rules, slot, link, slot * 0, repeats=repeats))


@pytest.mark.parametrize("reduction", [False, True])
def test_opposite_sums_pass_the_same_switches_in_one_slot(reduction):
    assert through_hubs(CROSSING, gossamer.Rules(cut_through=True, reduction=reduction)).ok
    assert through_hubs(CROSSING, gossamer.Rules(reduction=reduction)).counts["causality"] == 4  # switches that store


def test_sums_that_wait_for_each_other_in_a_slot_are_refused():
    rules = gossamer.Rules(cut_through=True, reduction=True)
    found = through_hubs([(t, u, v, -1) for t, u, v, _ in CROSSING], rules)
    assert found.counts == {"causality": 4, "delivery": 2}
    half = [row if i in (0, 2, 4) else (*row[:3], -1) for i, row in enumerate(CROSSING)]
    assert through_hubs(half, rules).ok  # what passes through is waited for by nobody
    node = (2, 3, 1, 0)  # a hop repeats one that would have to wait for it
    assert not through_hubs([(0, 0, 2, -1), (0, 2, 3, -1), (0, *node[1:3], 1), (0, 3, 2, 1), (0, 1, 3, -1)], rules).ok


def test_a_broken_sum_through_switches_is_refused():
    rules = gossamer.Rules(cut_through=True, reduction=True)
    assert through_hubs(CROSSING[:5]).counts == {"delivery": 1}  # lost: nothing comes to 0
    four = gossamer.Network(
        "hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3, links_only=True
    )  # three terminals at one switch
    star = [(0, v, 3, -1) for v in range(3)]
    assert through_hubs(star + [(0, 3, v, -1) for v in range(3)], rules, four).ok
    rows = [*star[:2], (0, 3, 0, -1), (0, 3, 2, 0), (1, 0, 3, -1), (1, 2, 3, -1), (1, 3, 1, -1)]
    assert through_hubs(rows, rules, four).counts["duplicate"] == 1  # of 0 and 1 beside that of 0 and 2
    alone = gossamer.Rules(cut_through=True, reduction=True, replication=False)
    found = through_hubs(star + [(0, 3, v, -1) for v in range(3)], alone, four)
    assert found.counts == {"causality": 2, "delivery": 2}  # one copy leaves
    found = through_hubs([star[0], (0, 3, 1, 0), (0, 3, 2, 0)], alone, four)
    assert found.counts == {"causality": 1, "delivery": 3}


@pytest.mark.parametrize("repeats", [-1, -2, 0, 1])
def test_the_tail_of_what_leaves_a_switch_must_be_able_to_follow(repeats):
    """The link from 0 into the switch is slow; what is sent on over a fast one would be whole before it is there."""
    net = gossamer.Network("hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3, links_only=True)
    occupancy = np.ones(6, np.int64)
    occupancy[net.links_between([0, 3], [3, 1])] = 3
    net = net.with_times(occupancy, 0)
    rules = gossamer.Rules(cut_through=True, reduction=True)
    for slot, early in ((0, 1), (1, 1), (2, 0)):
        rows = [(0, 0, 3, -1), (0, 3, 1, 0 if repeats == 0 else -1), (slot, 3, 2, repeats)]
        assert through_hubs(rows, rules, net).counts.get("causality", 0) == early


@pytest.mark.parametrize("times", [None, (3, 2)])
def test_plain_packets_beside_partial_sums_are_replayed_too(times):
    net = gossamer.network("ring:4")
    net = net if times is None else net.with_times(*times)
    parts = [PartialSumAllreduce(), gossamer.task("broadcast"), Reduce(2)]
    plans, columns, begin = [gossamer.plan(net, each).schedule for each in parts], [], 0
    for packet, each in enumerate(plans):
        assert set(each.packet.tolist()) == {0}
        assert each.repeats is None
        columns.append((each.slot + begin, each.link, np.full(each.stored_hops, packet)))
        begin += each.slot_count
    slot, link, packet = map(np.concatenate, zip(*columns, strict=True))
    whole = gossamer.Schedule(net, Together(parts), gossamer.Rules(), slot, link, packet)
    assert gossamer.verify(whole).ok
    assert buffer_peak(whole, "all").packets >= 2
    for lost in range(slot.size):
        rest = [np.delete(column, lost) for column in (slot, link, packet)]
        found = gossamer.verify(gossamer.Schedule(net, Together(parts), gossamer.Rules(), *rest), limit=1)
        assert found.counts["delivery"] >= 1
        assert {v.packets for v in found.violations} == {(packet[lost],)}


def test_plain_packets_that_cut_through_leave_nothing_behind_for_partial_sums():
    net = Network("hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3).with_times(3, 0)
    sums = [(0, 0, 0), (0, 1, 0), (0, 5, 0), (3, 2, 0), (3, 3, 0), (3, 4, 0)]
    rows = [*sums, (6, 0, 1), (6, 4, 1), (6, 5, 1)]
    task, rules = (
        Together([PartialSumAllreduce(), gossamer.task("broadcast")]),
        gossamer.Rules(cut_through=True, reduction=True),
    )
    alone = gossamer.Schedule(net, PartialSumAllreduce(), rules, *np.array(sums).T)
    both = gossamer.Schedule(net, task, rules, *np.array(rows).T)
    assert gossamer.verify(alone).ok
    assert gossamer.verify(both).ok
    fates = [replay_timed(each, ReplayState(each), 1).fate[: len(sums)].tolist() for each in (alone, both)]
    assert fates[0] == fates[1]
