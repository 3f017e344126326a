"""What no network of so many nodes and links a node can beat: bounds of Moore's kind, for every task and port model.

The proofs stand in the documentation, "Bounds over all networks".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.errors import ModelError, nearest
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import kind_of
from gossamer.reading import whole

LIMITED_TASKS = (
    *("total-exchange", "multinode-broadcast", "reduce-scatter", "allreduce"),
    *("broadcast", "reduce", "scatter", "gather"),
)
"""The tasks that have limits, by their classical names."""


@dataclass(frozen=True)
class Limit:
    """A time in steps that no network of a size and degree can beat.

    `value`: in steps. `name`: what limits. `text`: why, with its numbers.
    """

    value: int
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.value:,} steps, {self.name}: {self.text}"


def layers(nodes: int, degree: int, *, one_way: bool = False) -> list[int]:
    """Return the most nodes that can be at distance 0, 1, 2, ... of a node, filled until all nodes have a place.

    `nodes`: nodes of the network. `degree`: the most links that leave a node; a cable is a link each way unless
    `one_way`. `one_way`: whether links need no opposite.

    >>> layers(10, 3), layers(10, 3, one_way=True)
    ([1, 3, 6], [1, 3, 6])
    >>> layers(512, 6)
    [1, 6, 30, 150, 325]
    """
    nodes, degree = whole(nodes, "nodes", 1), whole(degree, "degree")
    found, left, room = [1], nodes - 1, degree
    onward = degree if one_way else degree - 1
    while left > 0 and room > 0:
        found.append(min(room, left))
        left -= found[-1]
        room = room * onward
    if left > 0:
        raise ModelError(f"no network of {nodes} nodes with {degree} link{'s' * (degree > 1)} a node is connected")
    return found


def least_status(nodes: int, degree: int, *, one_way: bool = False) -> int:
    """Return the least sum of distances from a node.

    >>> least_status(512, 6)
    1816
    """
    return sum(i * count for i, count in enumerate(layers(nodes, degree, one_way=one_way)))


def least_diameter(nodes: int, degree: int, *, one_way: bool = False) -> int:
    """Return the least distance at which a node can have its furthest.

    >>> least_diameter(512, 6)
    4
    """
    return len(layers(nodes, degree, one_way=one_way)) - 1


def limit(task: str, nodes: int, degree: int, *, ports: str = "all", one_way: bool = False) -> Limit:
    """Return the largest of `limits`.

    >>> print(limit("alltoall", 512, 6))
    303 steps, total hops: 512 nodes send 929,792 hops at least over at most 3,072 links
    """
    return limits(task, nodes, degree, ports=ports, one_way=one_way)[0]


def limits(task: str, nodes: int, degree: int, *, ports: str = "all", one_way: bool = False) -> tuple[Limit, ...]:
    """Return times that no network of at most so many links a node can beat, the largest first.

    `task`: one of `LIMITED_TASKS` by any of its names, every node taking part, unsegmented messages, links of one
    packet a step. `nodes`, `degree`, `one_way`: as for `layers`. `ports`, {"all", "one", "one-send", "one-receive"}: as
    for `gossamer.Rules`.

    Returns: at least one.

    Raises ModelError if the task has none, or no network of that size and degree is connected.

    >>> [(each.value, each.name) for each in limits("allgather", 512, 6)]
    [(86, 'node receives'), (86, 'far nodes'), (4, 'distance')]
    >>> limit("broadcast", 64, 4, ports="one").value
    7
    """
    name = kind_of(task).name
    if name not in LIMITED_TASKS:
        allowed = ", ".join(LIMITED_TASKS)
        raise ModelError(f"no limit over all networks is known for {name}{nearest(name, LIMITED_TASKS)}; for {allowed}")
    n, d = whole(nodes, "nodes", 1), whole(degree, "degree", 1 if int(nodes) > 1 else 0)
    rules = Rules(ports=ports)  # type: ignore[arg-type]
    counts = layers(n, d, one_way=one_way)
    send, receive = (1 if rules.send_limited else d), (1 if rules.receive_limited else d)
    every = _Size(n, d, send, receive, n * d if one_way else 2 * (n * d // 2), counts, one_way)
    found = sorted(_of_task(name, every), key=lambda each: -each.value)
    return tuple(found) or (Limit(0, "nothing to send", "a network of one node is done at once"),)


@dataclass(frozen=True)
class _Size:
    """Networks of n nodes that have d links, send and receive at most so many packets a step, and so many links."""

    n: int
    d: int
    send: int
    receive: int
    links: int
    counts: list[int]
    one_way: bool

    @property
    def hops(self) -> int:
        """Hops a step."""
        return min(self.links, self.n * min(self.send, self.receive))


def _of_task(name: str, size: _Size) -> Iterator[Limit]:
    if size.n < 2:
        return
    diameter = len(size.counts) - 1
    twice = 2 if name == "allreduce" else 1
    where = "some node is that far from every node" if twice == 1 else "there and back"
    yield Limit(twice * diameter, "distance", f"{where}: {diameter} hops at least")
    if name == "total-exchange":
        status = sum(i * count for i, count in enumerate(size.counts))
        yield _hops(size, size.n * status)
    if name in ("multinode-broadcast", "reduce-scatter", "allreduce"):
        yield from _copies(name, size, twice)
    if name in ("broadcast", "reduce"):
        calls = size.send if name == "broadcast" else size.receive
        if calls == 1:
            yield Limit(_calls(size), "one call a step", "nodes that know double at most, and each has its links only")
    if name in ("scatter", "gather", "total-exchange"):
        rates = {"scatter": [size.send], "gather": [size.receive], "total-exchange": [size.send, size.receive]}[name]
        yield max((_far(size, rate) for rate in rates), key=lambda each: each.value)
        for rate in {min(rates)}:
            yield Limit(-(-(size.n - 1) // rate), "node", f"{size.n - 1:,} messages at {rate} a step")


def _hops(size: _Size, needed: int) -> Limit:
    made = "links" if size.hops == size.links else "nodes"
    text = f"{size.n:,} nodes send {needed:,} hops at least over at most {size.hops:,} {made}"
    return Limit(-(-needed // size.hops), "total hops", text)


def _copies(name: str, size: _Size, twice: int) -> Iterator[Limit]:
    """Yield the limits of tasks in which every node gets, or gives, something of every other."""
    rate = min(size.send, size.receive)
    per_node = -(-twice * size.n * (size.n - 1) // size.hops)
    what = "node receives" if name == "multinode-broadcast" else "node sends" if twice == 1 else "node sends twice"
    yield Limit(per_node, what, f"{twice * (size.n - 1):,} messages of or for others at {rate} a step")
    if twice == 1:
        yield _far(size, size.receive if name == "multinode-broadcast" else size.send)


def _far(size: _Size, rate: int) -> Limit:
    """Return the limit by the nodes at least i away, whose messages cannot use the i - 1 steps at one end."""
    best = Limit(0, "far nodes", "")
    within = 0
    for i, count in enumerate(size.counts):
        if i:
            far = size.n - within
            value = i - 1 + -(-far // rate)
            if value > best.value:
                text = (
                    f"{far:,} nodes are at least {i} away, {rate} a step cross at one end, and {i - 1} steps pass there"
                )
                best = Limit(value, "far nodes", text)
        within += count
    return best


def _calls(size: _Size) -> int:
    """Return the steps in which all can know if each node tells one neighbor a step, and none twice."""
    first, later = size.d, size.d if size.one_way else size.d - 1
    fresh, steps = [1], 0
    while sum(fresh) < size.n:
        steps += 1
        told = sum(fresh[max(1, steps - later) : steps]) + (1 if steps <= first else 0)
        if not told:
            raise ModelError(f"no network of {size.n} nodes with {size.d} links a node is connected")
        fresh.append(told)
    return steps
