"""The queueing simulator once more, slowly, on SimPy: nothing shared with the package but the tables of a scheme."""

from __future__ import annotations

from collections import defaultdict

import simpy

ARRIVAL, START = 2, 3  # priorities of events at one time; the end of a service has SimPy's own, 1


class Twin:
    """Broadcasts of a scheme at given times; times in units of one transmission."""

    def __init__(self, scheme, ties="fifo"):
        self.scheme, self.ties = scheme, ties
        self.environment = simpy.Environment()
        self.queues = defaultdict(list)
        self.state = defaultdict(lambda: "idle")
        self.heights = {}
        self.count = 0
        self.births = []
        self.received = defaultdict(int)
        self.delays = defaultdict(list)
        self.waits = defaultdict(list)
        self.transmissions = defaultdict(int)

    def at(self, time, priority, call, *arguments):
        event = self.environment.event()
        event._ok, event._value = True, None
        event.callbacks.append(lambda _: call(*arguments))
        self.environment.schedule(event, priority=priority, delay=time - self.environment.now)

    def run(self, times, sources, choices):
        for number, request in enumerate(zip(times, sources, choices, strict=True)):
            self.at(float(request[0]), ARRIVAL, self.generate, number, int(request[1]), int(request[2]))
        self.environment.run()
        return [self.delays[b] for b in range(len(times))]

    def generate(self, number, source, choice):
        now = self.environment.now
        self.births.append(now)
        self.delays[number] = []
        table = 0 if self.scheme.translated else source
        for part in range(self.scheme.parts):
            entry = (table, choice, part)
            first, last = self.scheme.entry_first[entry], self.scheme.entry_last[entry]
            for row in self.scheme.children[first:last]:
                self.enqueue(number, int(row), int(self.scheme.source_nodes[source]))

    def height(self, row):
        if row not in self.heights:
            below = self.scheme.children[self.scheme.child_first[row] : self.scheme.child_last[row]]
            self.heights[row] = 1 + max((self.height(int(c)) for c in below), default=0)
        return self.heights[row]

    def enqueue(self, number, row, node):
        scheme, now = self.scheme, self.environment.now
        step = int(scheme.step[row])
        link = int(scheme.link_table[node, step]) if scheme.translated else step
        assert scheme.network.link_source[link] == node
        key = {"fifo": 0, "age": self.births[number], "critical-path": -self.height(row)}[self.ties]
        self.count += 1
        self.queues[link].append((int(scheme.priority[row]), key, self.count, now, number, row))
        self.wake(link)

    def wake(self, link):
        if self.state[link] == "idle":
            self.state[link] = "about to start"
            self.at(self.environment.now, START, self.start, link)

    def start(self, link):
        if not self.queues[link]:
            self.state[link] = "idle"
            return
        self.state[link] = "busy"
        best = min(self.queues[link])
        self.queues[link].remove(best)
        now = self.environment.now
        self.waits[best[0]].append(now - best[3])
        timeout = self.environment.timeout(1.0)
        timeout.callbacks.append(lambda _: self.arrive(link, best[4], best[5]))

    def arrive(self, link, number, row):
        scheme = self.scheme
        self.transmissions[link] += 1
        self.state[link] = "idle"
        self.wake(link)
        node = int(scheme.network.link_target[link])
        if scheme.counted[row]:
            self.received[number, node] += 1
            if self.received[number, node] == scheme.parts:
                self.delays[number].append(self.environment.now - self.births[number])
        for child in scheme.children[scheme.child_first[row] : scheme.child_last[row]]:
            self.enqueue(number, int(child), node)
