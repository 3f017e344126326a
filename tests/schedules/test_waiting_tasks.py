"""Tasks together, in groups and from tables: schedules of them, checked, and against plain Python where they wait."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

import gossamer
from gossamer.networks import Network
from gossamer.questions.tasks import COMBINE, COPY, Chunked, DemandTable, Grouped, Together, task
from gossamer.schedules import Schedule
from gossamer.verification import verify
from schedules.strategies import build

NETWORKS = [gossamer.network(spec) for spec in ("torus:2x3", "ring:5", "fat-tree:k=2,h=2", "array:2x3")]
REDUCING = gossamer.Rules(reduction=True)


def parts(network: Network, rng: random.Random) -> list:
    """Return a few tasks at random."""
    n = network.terminal_count
    some = lambda: rng.sample(range(n), rng.randint(2, n))  # noqa: E731
    choices = [
        lambda: task("broadcast", root=rng.randrange(n)),
        lambda: task("reduce", root=rng.randrange(n)),
        lambda: task("alltoall", groups=[some()]),
        lambda: task("allgather", groups=[some(), some()]),
        lambda: task("reduce-scatter", groups=[some()]),
        lambda: Chunked(task("scatter", root=rng.randrange(n)), 2),
        lambda: Grouped(Chunked(task("allreduce"), 2), [some()]),
        lambda: DemandTable.of([(a := some())[:0] or (a[0], a[1:], rng.randint(1, 3))]),
    ]
    return [rng.choice(choices)() for _ in range(rng.randint(2, 4))]


def early(schedule: Schedule) -> int:
    """Count the hops by which a node begins before all is there that it waits for, in plain Python."""
    messages, table, network = schedule.messages, schedule.packets, schedule.network
    row_of = {int(number): row for row, number in enumerate(messages.ids)}
    hops = []
    for t, e, p in zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True):
        end = t + int(network.link_occupancy[e]) + int(network.link_latency[e]) * schedule.parts
        hops.append((t, int(network.link_source[e]), int(network.link_target[e]), p, end))

    def ends(row: int) -> list[int]:
        if messages.targets is None:
            return list(range(network.terminal_count))
        return messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()

    there: dict[tuple[int, int], int] = defaultdict(int)
    for p, number in enumerate(table.message.tolist()):
        row = row_of[number]
        kind, origin, stage = int(messages.discipline[row]), int(messages.origin[row]), int(messages.stage[row])
        for v in [origin] if kind == COMBINE else ends(row):
            came = [end for _, _, w, q, end in hops if q == p and w == v]
            if came:
                there[stage, v] = max(there[stage, v], min(came) if kind == COPY else max(came))
    count = 0
    for t, u, _, p, _ in hops:
        row = row_of[int(table.message[p])]
        starts = u in ends(row) if messages.discipline[row] == COMBINE else u == messages.origin[row]
        earlier = [b for a, b in messages.waits if a == messages.stage[row]]
        count += starts and any(t < there[b, u] for b in earlier)
    return count


@pytest.mark.parametrize("seed", range(60))
def test_what_begins_before_all_is_there_is_counted_as_in_plain_python(seed):
    rng = random.Random(seed)
    network = rng.choice(NETWORKS)
    tasks = parts(network, rng)
    free = Together(tasks)
    schedule = build(seed, network, free).replace(rules=REDUCING.on(network))
    assert verify(schedule).ok, str(verify(schedule))
    waits = [(i, j) for i in range(len(tasks)) for j in range(i) if rng.random() < 0.6]
    waiting = schedule.replace(task=Together(tasks, waits=waits))
    expected = early(waiting) if waits else 0
    assert dict(verify(waiting).counts) == ({"order": expected} if expected else {})


@pytest.mark.parametrize("seed", range(20))
def test_one_after_the_other_waits_for_all(seed):
    rng = random.Random(1000 + seed)
    network = rng.choice(NETWORKS)
    tasks = parts(network, rng)[:2]
    schedule = build(seed, network, Together(tasks))
    first, second = (
        np.isin(schedule.packet, np.flatnonzero(np.isin(schedule.packets.message, ids)))
        for ids in np.split(
            schedule.messages.ids, [np.searchsorted(schedule.messages.ids, Together(tasks).first_ids(network)[1])]
        )
    )
    slot = schedule.slot + np.where(second, schedule.slot_count, 0)
    order = np.argsort(slot, kind="stable")
    late = Schedule(
        network,
        Together(tasks, waits=[(1, 0)]),
        REDUCING.on(network),
        slot[order],
        schedule.link[order],
        schedule.packet[order],
    )
    assert first.sum() + second.sum() == schedule.stored_hops
    assert verify(late).ok, str(verify(late))
    swapped = late.replace(task=Together(tasks, waits=[(0, 1)]))
    if first.any() and second.any():
        assert verify(swapped).counts.get("order", 0) == early(swapped)


def test_an_early_start_is_told_with_its_slot_and_node():
    network = gossamer.network("array:3")
    made = Together([task("broadcast", root=0), task("broadcast", root=1)], ["first", "second"], [(1, 0)])
    come, back, on = (network.link_between(u, v) for u, v in ((0, 1), (1, 0), (1, 2)))
    found = verify(Schedule(network, made, gossamer.Rules(), [0, 0, 0, 1], [come, back, on, on], [0, 1, 1, 0]))
    assert found.counts == {"order": 2}
    assert found.violations[0].text == "slot 0: node (1) begins with packet 1 before all is there that it waits for"
    late = Schedule(network, made, gossamer.Rules(), [0, 1, 1, 2], [come, back, on, on], [0, 1, 0, 1])
    assert verify(late).ok


def test_contributors_alone_owe_their_share():
    network = gossamer.network("array:4")
    made = DemandTable.of(contributions=[([0, 2], [3], 1)])
    links = [network.link_between(u, u + 1) for u in range(3)]
    assert verify(Schedule(network, made, gossamer.Rules(), [0, 1, 2], links, [0, 0, 0])).ok
    # node 2 sends its share before that of node 0 is there
    found = verify(Schedule(network, made, gossamer.Rules(), [0, 0, 1], [links[0], links[2], links[1]], [0, 0, 0]))
    assert found.counts == {"lost contribution": 1}
    missing = verify(Schedule(network, made, gossamer.Rules(), [0], [links[2]], [0]))
    assert missing.counts == {"delivery": 1}
    stranger = verify(Schedule(network, made, gossamer.Rules(), [0, 1, 2], [links[1], links[1], links[2]], [0, 0, 0]))
    assert "causality" in stranger.counts


def test_packets_of_a_result_leave_one_by_one():
    """Packet by packet, the result of an allreduce goes on while the rest is still being combined."""
    network = gossamer.network("array:2")
    made = Grouped(Chunked(task("allreduce"), 2), [[0, 1]])
    up, down = network.link_between(0, 1), network.link_between(1, 0)
    packets = Schedule(network, made, gossamer.Rules(), [], [], []).packets
    place = {(m, k): p for p, (m, k) in enumerate(zip(packets.message.tolist(), packets.part.tolist(), strict=True))}
    # message 0 is reduced at node 0 and then (message 2) goes to node 1; message 1 the other way round
    rows = [(0, down, (0, 0)), (1, down, (0, 1)), (1, up, (2, 0)), (2, up, (2, 1))]
    rows += [(0, up, (1, 0)), (2, down, (3, 0)), (3, up, (1, 1)), (4, down, (3, 1))]
    rows.sort(key=lambda row: row[0])
    columns = [list(c) for c in zip(*((t, e, place[k]) for t, e, k in rows), strict=True)]
    assert verify(Schedule(network, made, gossamer.Rules(), *columns)).ok
    early_result = [(0 if k == (2, 0) else t, e, k) for t, e, k in rows if k != (1, 0)] + [(5, up, (1, 0))]
    early_result.sort(key=lambda row: row[0])
    columns = [list(c) for c in zip(*((t, e, place[k]) for t, e, k in early_result), strict=True)]
    assert verify(Schedule(network, made, gossamer.Rules(), *columns)).counts == {"order": 2}
