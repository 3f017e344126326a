"""Lower bounds on the time of wormhole schedules.

Two counts bound every schedule, and they add up, because each step costs a start-up and the length of its longest
message. *Start-ups*: in a step a node sends over each of its outgoing channels at most once, so that one message
spreads from r nodes to at most r plus their channels. *Transmission*: what a node has to receive comes over its
incoming channels, at most one message a step on each; and what it has to send leaves over its outgoing ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.bounds import Bound
from gossamer.costs import LinearCost
from gossamer.errors import TaskError
from gossamer.tasks import COMBINE
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.copied import distinct, least_hops
from gossamer.wormhole.pipelining import Spreading, pipelining_bound
from gossamer.writing import quantity

__all__ = ["bounds", "spreading"]

Counts = npt.NDArray[np.int64]

_SOURCE = "derived from the model of Chen and Chen"
_HERE = "Gossamer"


class _Limit(NamedTuple):
    """A count, and the fact that proves it."""

    value: int
    witness: str


def spreading(start: int, degrees: Counts, nodes: int) -> tuple[int, ...]:
    """Return the most nodes that can hold a message after 0, 1, ... steps, up to `nodes` nodes.

    Parameters
    ----------
    start : int
        Channels of the first node.
    degrees : int64[N]
        Channels of all nodes.
    nodes : int
        Nodes that must have the message in the end, with the first.

    Notes
    -----
    In each step every holder sends over all its channels; the holders are taken to be those with the most channels.
    Where every node has 2d channels these are ``ceil(log_(2d+1) nodes)`` steps. O(N log N).

    Examples
    --------
    >>> spreading(4, np.full(25, 4), 25), spreading(4, np.full(26, 4), 26)
    ((1, 5, 25), (1, 5, 25, 26))
    """
    total = np.concatenate([[0], np.cumsum(np.sort(degrees)[::-1])])
    widths = [1]
    while widths[-1] < nodes:
        most = start + int(total[min(widths[-1] - 1, degrees.size)])
        if not most:
            raise TaskError(f"a message cannot spread to {nodes} nodes over channels that are not there")
        widths.append(min(nodes, widths[-1] + most))
    return tuple(widths)


def bounds(case: WormholeCase) -> tuple[Bound, ...]:
    """Return lower bounds on the time of wormhole schedules of a case, the largest first.

    Parameters
    ----------
    case : WormholeCase
        Broadcasts or personalized messages.

    Returns
    -------
    tuple of Bound
        Values in the unit of the cost. The combined bound comes first among equals; a task for which nothing has
        to move has the single bound of 0.

    Raises
    ------
    TaskError
        If the task has reductions.

    Notes
    -----
    With s broadcast messages of m bytes on a torus of N nodes in d dimensions the combined bound is
    ``ceil(log_(2d+1) N) T_s + ceil(s m / 2d) T_c``, with s - 1 for s where every node is a source. On arrays the
    corners have d channels instead of 2d. Control messages are left out, so that the bounds hold for schedules that
    know the sources. With a hop time there is a bound by distance too.

    References
    ----------
    Chen and Chen 2000, section 2.1.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.costs import LinearCost
    >>> case = WormholeCase(gossamer.network("torus:5x5"), gossamer.task("allgather"), LinearCost(message_bytes=4))
    >>> for b in bounds(case):
    ...     print(b)
    224 time units, start-ups and transmission: 2 start-ups of 100 and 24 bytes at 1 a byte
    200 time units, start-ups: from node (0,0) a message spreads at most 1, 5, 25 nodes wide
    24 time units, node receives: node (0,0) must receive 96 bytes over 4 channels
    1 time unit, node sends: node (0,0) must send 4 bytes over 4 channels
    """
    cost, demand, unit = case.cost, _Demand(case), case.cost.unit
    if not demand.any:
        return (Bound("nothing to do", Fraction(0), "every message is where it must end", "none", "the task", unit),)
    begin = demand.startups()
    receive, send = demand.transmission(cost.message_bytes)
    cross = demand.crossing(cost.message_bytes)
    volume = max(receive.value, send.value, cross.value)
    found, told = [], demand.pairs is not None
    if cost.startup and cost.per_byte:
        begins, carries = quantity(begin.value, "start-up"), quantity(volume, "byte")
        text = f"{begins} of {cost.startup} and {carries} at {cost.per_byte} a byte"
        value = begin.value * cost.startup + volume * cost.per_byte
        found.append(Bound("start-ups and transmission", value, text, "ports", _SOURCE, unit))
        pipelined = demand.pipelining(volume, cost) if cost.price == "steps" else None
        if pipelined is not None and pipelined[0] > value:
            text = f"in {quantity(pipelined[1], 'step')}, the best number: what leaves a source late must still spread"
            found.append(Bound("steps and their lengths", pipelined[0], text, "linear program", _HERE, unit))
    for name, limit, price in (
        ("start-ups", begin, cost.startup),
        ("node receives", receive, cost.per_byte),
        ("node sends", send, cost.per_byte),
        ("channels", cross, cost.per_byte),
    ):
        if price and (name != "channels" or (cross.value and (told or cross.value > max(receive.value, send.value)))):
            method = "broadcast" if name == "start-ups" else "ports"
            found.append(Bound(name, limit.value * price, limit.witness, method, _SOURCE, unit))
    if cost.hop_time:
        far = demand.distance()
        text = f"{quantity(begin.value, 'start-up')} of {cost.startup}, and {far.witness} at {cost.hop_time} a hop"
        value = begin.value * cost.startup + far.value * cost.hop_time
        found.append(Bound("start-ups and distance", value, text, "distance", _SOURCE, unit))
    if not found:
        found.append(Bound("no costs", Fraction(0), "steps cost nothing", "none", "the cost", unit))
    return tuple(sorted(found, key=lambda bound: -bound.value))


class _Demand:
    """What each node must send and receive."""

    def __init__(self, case: WormholeCase) -> None:
        self.channels, self.network = case.channels, case.network
        messages = case.messages
        if bool((messages.discipline == COMBINE).any()):
            raise TaskError(f"wormhole messages carry out broadcasts and exchanges, not {case.task.name}")
        nodes = self.network.node_count
        one = case.rules
        self.degree = np.minimum(case.channels.in_degree, 1 if one.receive_limited else 1 << 30)
        self.leaving = np.minimum(case.channels.out_degree, 1 if one.send_limited else 1 << 30)
        terminals = self.network.terminal_count
        self.spreading = self.leaving[:terminals]
        self.origin = messages.origin.astype(np.int64)
        self.own = np.bincount(self.origin, minlength=nodes)
        if messages.targets is None or messages.target_start is None:
            self.pairs = None
            self.spread = np.full(self.origin.size, terminals)
            self.receives: Counts = messages.count - self.own
            self.receives[terminals:] = 0
        else:
            origin = np.repeat(self.origin, np.diff(messages.target_start))
            away = messages.targets != origin
            self.pairs = origin[away], messages.targets[away].astype(np.int64)
            self.row = np.repeat(np.arange(messages.count), np.diff(messages.target_start))[away]
            self.spread = 1 + np.bincount(self.row, minlength=messages.count)
            self.receives = np.bincount(self.pairs[1], minlength=nodes).astype(np.int64)
        leaves = self.spread > 1
        self.sends = np.bincount(self.origin[leaves], minlength=nodes).astype(np.int64)

    @property
    def any(self) -> bool:
        """Whether anything has to move."""
        return bool(self.sends.any())

    @property
    def room(self) -> int:
        """Messages that all nodes together can send and receive in a step."""
        terminals = self.network.terminal_count
        return max(1, min(int(self.degree[:terminals].sum()), int(self.leaving[:terminals].sum())))

    def startups(self) -> _Limit:
        """Return the start-ups that the message needs which has furthest to spread."""
        order = np.lexsort((self.leaving[self.origin], -self.spread))
        best = _Limit(0, "")
        seen: set[tuple[int, int]] = set()
        for i in order.tolist():  # the most nodes to reach, from the fewest channels
            node, nodes = int(self.origin[i]), int(self.spread[i])
            key = int(self.leaving[node]), nodes
            if nodes == 1 or key in seen or any(d <= key[0] and n >= nodes for d, n in seen):
                continue
            seen.add(key)
            steps = len(spreading(key[0], self.spreading, nodes)) - 1
            if steps > best.value:
                best = _Limit(steps, self._growth(node, nodes))
        return best

    def _growth(self, node: int, nodes: int) -> str:
        widths = spreading(int(self.leaving[node]), self.spreading, nodes)
        name = self.network.node_name(node)
        return f"from node {name} a message spreads at most {', '.join(f'{w:,}' for w in widths)} nodes wide"

    def transmission(self, size: int) -> tuple[_Limit, _Limit]:
        """Return the bytes that steps last at least, for what a node receives and for what one sends."""
        found = []
        for count, degree, verb in ((self.receives, self.degree, "receive"), (self.sends, self.leaving, "send")):
            load = -(-count * size // np.maximum(degree, 1))
            node = int(np.argmax(load))
            channels = int(degree[node])
            what, over = quantity(int(count[node]) * size, "byte"), quantity(channels, "channel")
            text = f"node {self.network.node_name(node)} must {verb} {what} over {over}"
            found.append(_Limit(int(load[node]), text))
        return found[0], found[1]

    def crossing(self, size: int) -> _Limit:
        """Return the bytes that steps last at least, for what all messages together have to cross.

        Broadcasts reach all nodes over channels that end there. Of personalized messages each byte crosses as many
        channels as its target is away, and on an array every cut between origin and target.
        """
        if self.pairs is None:
            total, room = int(self.receives.sum()) * size, self.room
            text = f"all nodes together must receive {quantity(total, 'byte')}, at most {room} messages a step"
            return _Limit(-(-total // room) if total else 0, text)
        here, there = (self.channels.coordinates(ends) for ends in self.pairs)
        hops = least_hops(self.row, self.channels.hops(self.pairs[0], self.channels.shortest(*self.pairs)))
        count = int(self.channels.exists.sum())
        text = f"{quantity(hops * size, 'byte')} times channels to cross, over {quantity(count, 'channel')}"
        best = _Limit(-(-hops * size // max(count, 1)), text)
        for i, side in enumerate(self.channels.sides):
            if self.channels.wraps[i] or side == 1 or not self.channels.on_grid:
                continue
            width = self.network.node_count // side
            for x in range(side - 1):
                up = distinct(self.row, (here[:, i] <= x) & (there[:, i] > x))
                down = distinct(self.row, (here[:, i] > x) & (there[:, i] <= x))
                value = -(-max(up, down) * size // width)
                if value > best.value:
                    what = quantity(max(up, down) * size, "byte")
                    cut = f"between coordinates {x} and {x + 1} of dimension {i}"
                    best = _Limit(value, f"{what} must cross the {quantity(width, 'channel')} {cut} one way")
        return best

    def pipelining(self, volume: int, cost: LinearCost) -> tuple[Fraction, int] | None:
        """Return the bound of broadcasts to all nodes that prices few steps against many, and its steps."""
        if self.pairs is not None:
            return None
        terminals = self.network.terminal_count
        sources = np.unique(self.origin)
        start = int(self.leaving[sources].max())
        of = Spreading(
            terminals, self.origin.size * cost.message_bytes, int(self.leaving[sources].sum()),
            self.room, spreading(start, self.spreading, terminals), volume,
        )  # fmt: skip
        return pipelining_bound(of, cost.startup, cost.per_byte)

    def distance(self) -> _Limit:
        """Return the hops to the farthest node that a message must reach."""
        if self.pairs is None and not self.channels.on_grid:
            origin = np.unique(self.origin)
            hops = self.channels.distances[origin, : self.network.terminal_count].max(axis=1)
        elif self.pairs is None:
            origin = np.unique(self.origin)
            place = self.channels.coordinates(origin)
            far = np.zeros_like(place)
            for i, (side, wraps) in enumerate(zip(self.channels.sides, self.channels.wraps, strict=True)):
                far[:, i] = side // 2 if wraps else np.maximum(place[:, i], side - 1 - place[:, i])
            hops = far.sum(axis=1)
        else:
            origin, target = self.pairs
            hops = self.channels.hops(origin, self.channels.shortest(origin, target))
        best = int(np.argmax(hops))
        name = self.network.node_name(int(origin[best]))
        return _Limit(
            int(hops[best]), f"{quantity(int(hops[best]), 'hop')} from node {name} to the farthest that it must reach"
        )
