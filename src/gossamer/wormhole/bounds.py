"""Lower bounds on the time of wormhole schedules.

Two counts bound every schedule, and they add up, because each step costs a start-up and the length of its longest
message. *Start-ups*: in a step a node sends over each of its outgoing channels at most once, so that one message
spreads from r nodes to at most r plus their channels. *Transmission*: what a node has to receive comes over its
incoming channels, at most one message a step on each; and what it has to send leaves over its outgoing ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.bounds.bound import largest_first
from gossamer.questions.cases import Needs, Offer
from gossamer.questions.tasks import COMBINE
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.demand import NodeDemand, spreading

__all__ = ["bounds", "receipts", "spreading", "wormhole_needs"]

# What building and checking a wormhole schedule takes, estimated before it is begun.

_AT_LEAST, _PER_RECEIPT = 3_000_000, 100
_SECONDS_AT_LEAST = 0.01


def receipts(case: WormholeCase) -> int:
    """Return how often a node must get a message of the task, or contribute to one.

    >>> import gossamer
    >>> receipts(WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather")))
    240
    """
    return sum(int(part.deals.sum()) for part in case.once(NodeDemand, case).parts)


def wormhole_needs(case: WormholeCase, offer: Offer[Any]) -> Needs:
    """Return about what an offer needs: its seconds for each receipt, and the tables of the checker.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:16x16"), gossamer.task("allgather"))
    >>> wormhole_needs(case, Offer(lambda: None)).hops
    65280
    """
    count = case.once(receipts, case)
    pieces = int(offer.options.get("pieces", 1)) * case.messages.count
    combined = bool((case.messages.discipline == COMBINE).any())
    held = pieces * case.network.node_count * (6 if combined else 1 / 8)
    seconds = count * offer.hop_seconds + held * 1e-9 + _SECONDS_AT_LEAST
    return Needs(count, round(count * _PER_RECEIPT + held) + _AT_LEAST, float(np.round(seconds, 6)))


_SOURCE = "derived from the model of Chen and Chen"
_HERE = "Gossamer"


def bounds(case: WormholeCase) -> tuple[Bound, ...]:
    """Return lower bounds on the time of wormhole schedules of a case, the largest first.

    Parameters
    ----------
    case : WormholeCase
        Broadcasts, personalized messages or reductions; reductions followed by broadcasts.

    Returns
    -------
    tuple of Bound
        Values in the unit of the cost. The combined bound comes first among equals; a task for which nothing has
        to move has the single bound of 0.

    Raises
    ------
    TaskError
        If messages have several lengths.

    Notes
    -----
    With s broadcast messages of m bytes on a torus of N nodes in d dimensions the combined bound is
    ``ceil(log_(2d+1) N) T_s + ceil(s m / 2d) T_c``, with s - 1 for s where every node is a source. Reductions are
    bounded as broadcasts with time and channels turned round; what comes after one needs its start-ups too. On arrays
    the corners have d channels instead of 2d. Control messages are left out, so that the bounds hold for schedules that
    know the sources. With a hop time there is a bound by distance too. Broadcasts to all nodes have two more, of linear
    programs: what leaves a source late must still spread, and what goes far in few steps takes many channels.

    References
    ----------
    Chen and Chen 2000, section 2.1.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> case = WormholeCase(gossamer.network("torus:5x5"), gossamer.task("allgather"), LinearCost(message_bytes=4))
    >>> for b in bounds(case):
    ...     print(b)
    326 time units, steps and their channels: with the best number of steps, 3, far messages take many channels
    224 time units, start-ups and transmission: 2 start-ups of 100 and 24 bytes at 1 a byte
    200 time units, start-ups: from node (0,0) a message spreads at most 1, 5, 25 nodes wide
    24 time units, node receives: node (0,0) must receive 96 bytes over 4 channels
    1 time unit, node sends: node (0,0) must send 4 bytes over 4 channels
    """
    cost, demand, unit = case.cost, case.once(NodeDemand, case), case.cost.unit
    if not demand.any:
        return (Bound("nothing to do", Fraction(0), "every message is where it must end", "none", "the task", unit),)
    begin = demand.startups()
    receive, send = demand.transmission(cost.message_bytes)
    cross = demand.crossing(cost.message_bytes)
    carried = max(receive.value, send.value, cross.value)
    volume = max(carried, begin.value)  # a step that carries anything has a byte
    found = []
    if cost.startup and cost.per_byte:
        begins, carries = quantity(begin.value, "start-up"), quantity(volume, "byte")
        text = f"{begins} of {cost.startup} and {carries} at {cost.per_byte} a byte"
        value = begin.value * cost.startup + volume * cost.per_byte
        found.append(Bound("start-ups and transmission", value, text, "ports", _SOURCE, unit))
        covered = demand.covering(carried, cost) if cost.price == "steps" else None
        if covered is not None and covered[0] > value:
            text = f"with the best number of steps, {covered[1]:,}, far messages take many channels"
            found.append(Bound("steps and their channels", covered[0], text, "linear program", _HERE, unit))
        pipelined = demand.pipelining(volume, cost) if cost.price == "steps" else None
        if pipelined is not None and pipelined[0] > value:
            text = f"with the best number of steps, {pipelined[1]:,}, what leaves a source late must still reach all"
            found.append(Bound("steps and their lengths", pipelined[0], text, "linear program", _HERE, unit))
    received = max(receive.value, send.value)
    rows = [("start-ups", begin, cost.startup, "broadcast")]
    rows += [("node receives", receive, cost.per_byte, "ports"), ("node sends", send, cost.per_byte, "ports")]
    if cross.value > (0 if demand.told else received):
        rows.append(("channels", cross, cost.per_byte, "ports"))
    if begin.value > max(received, cross.value):
        rows.append(("a byte a step", begin, cost.per_byte, "ports"))
    for name, limit, price, method in rows:
        if price:
            found.append(Bound(name, limit.value * price, limit.witness, method, _SOURCE, unit))
    if cost.hop_time:
        far = demand.distance()
        text = f"{quantity(begin.value, 'start-up')} of {cost.startup}, and {far.witness} at {cost.hop_time} a hop"
        value = begin.value * cost.startup + far.value * cost.hop_time
        found.append(Bound("start-ups and distance", value, text, "distance", _SOURCE, unit))
    if not found:
        found.append(Bound("no costs", Fraction(0), "steps cost nothing", "none", "the cost", unit))
    return largest_first(found)
