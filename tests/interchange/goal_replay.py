"""GOAL text read by its grammar, and replayed in the LogGP model with one processor and many network interfaces."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict

_OPERATION = re.compile(r"l(\d+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+) cpu (\d+) nic (\d+)")
_WAIT = re.compile(r"l(\d+) i?requires l(\d+)")


def parse(text):
    """Return, for each rank, its operations by label and what each waits for; AssertionError if the text is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ranks = int(re.fullmatch(r"num_ranks (\d+)", lines[0])[1])
    found, i = [], 1
    for rank in range(ranks):
        assert lines[i] == f"rank {rank} {{"
        operations, waits = {}, defaultdict(list)
        i += 1
        while lines[i] != "}":
            if match := _OPERATION.fullmatch(lines[i]):
                label, kind, size, way, peer, tag, cpu, nic = match.groups()
                assert label not in operations
                assert (kind == "send") == (way == "to")
                assert int(cpu) < 256
                assert int(nic) < 256
                assert int(peer) < ranks
                operations[label] = (kind, int(size), int(peer), int(tag), int(nic))
            else:
                one, other = _WAIT.fullmatch(lines[i]).groups()
                assert one in operations
                assert other in operations
                waits[one].append(other)
            i += 1
        i += 1
        found.append((operations, waits))
    assert i == len(lines)
    return found


def replay(ranks, G=1):
    """Return (time of the last event, number of events) with L = o = g = O = 0.

    A send takes its interface for (size - 1) G, and the message the interface of that number at the receiver; a
    receive is complete when the message is there. Messages match by source and tag, first come first served.
    """
    needs = [{label: len(waits[label]) for label in operations} for operations, waits in ranks]
    after = [defaultdict(list) for _ in ranks]
    for v, (_, waits) in enumerate(ranks):
        for one, others in waits.items():
            for other in others:
                after[v][other].append(one)
    events, order = [], 0
    free = defaultdict(int)  # by (rank, interface, way)
    arrived, posted = defaultdict(list), defaultdict(list)
    last = happened = 0

    def push(time, *event):
        nonlocal order
        order += 1
        heapq.heappush(events, (time, order, *event))

    def complete(v, label, time):
        nonlocal last
        last = max(last, time)
        for waiting in after[v][label]:
            needs[v][waiting] -= 1
            if not needs[v][waiting]:
                push(time, "start", v, waiting)

    for v, (operations, _) in enumerate(ranks):
        for label in operations:
            if not needs[v][label]:
                push(0, "start", v, label)
    while events:
        time, _, what, v, label = heapq.heappop(events)
        if what == "start":
            kind, size, peer, tag, nic = ranks[v][0][label]
            if kind == "send":
                if free[v, nic, "out"] > time:
                    push(free[v, nic, "out"], "start", v, label)
                    continue
                happened += 1
                free[v, nic, "out"] = time + (size - 1) * G
                push(time + (size - 1) * G, "arrive", peer, (v, tag, size))
                complete(v, label, time)
            else:
                happened += 1
                queue = arrived[v, peer, tag]
                if queue:
                    assert queue.pop(0) == size
                    complete(v, label, time)
                else:
                    posted[v, peer, tag].append((label, size))
        else:
            happened += 1
            last = max(last, time)
            source, tag, size = label
            queue = posted[v, source, tag]
            if queue:
                waiting, wanted = queue.pop(0)
                assert wanted == size
                complete(v, waiting, time)
            else:
                arrived[v, source, tag].append(size)
    assert not any(arrived.values())
    assert not any(posted.values())
    return last, happened
