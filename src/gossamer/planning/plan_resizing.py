"""Plans for other sizes: a schedule is a generation of packets, repeated as often as messages of some bytes ask for.

Packets become larger or smaller, and generations more or fewer; the hops and their order stay. So one plan answers for
every size, and a plan of few packets for messages of many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gossamer.bounds import Bound
from gossamer.errors import ModelError, ScheduleError, TaskError, shown
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks.network import Network
from gossamer.planning.allreduce_variants import exact_bounds
from gossamer.planning.switching import schedule_of
from gossamer.questions.costs import Clock, TimeCost, clocked_again, unclocked
from gossamer.questions.tasks import in_packets
from gossamer.questions.tasks.byte_counts import sizing_of
from gossamer.questions.tasks.chunked import MAX_CHUNKS
from gossamer.reading.quantities import size
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import summed_packets
from gossamer.verification import verify

__all__ = ["ALIKE", "MOST_HOPS", "best_repetition", "in_generations", "least_seconds", "promised", "resized"]

Timed = Callable[[int], tuple[Network, Clock]]
"""From a number of generations to the network with the times of its packets, and their clock."""

_MOST_HOPS, _MANY = 4_000_000, 1_024
MOST_HOPS = 16_000_000
"""Hops of all generations at most, so that they can be written out; the last of no more generations than that."""
_BY_ORBIT = 8
"""How many times as many hops of one orbit there may be."""
_LARGE, _LARGE_HOPS = 16_000, 268_000_000
"""Hops of a generation that is hardly ever written out as often as it is repeated, and of all of them."""
_STEP, ALIKE = 4, Fraction(998, 1000)
"""How many times more generations are tried next, and the share of the time that is no gain any more."""


def _most(generation: Generation, message: int, least: int) -> int:
    """Return the most generations of messages of some bytes, of which a packet has so many or more."""
    packets, hops = generation.packets, max(generation.schedule.stored_hops, 1)
    most = MOST_HOPS * (1 if generation.schedule.symmetry is None else _BY_ORBIT)  # one orbit is not written out
    room = max(
        _MOST_HOPS // hops, min(most // hops, _MANY), min(_LARGE_HOPS // hops, 4 * _MANY) if hops > _LARGE else 0
    )
    return max(1, min(message // (least * packets), MAX_CHUNKS // packets, room))


def promised(generation: Generation) -> Fraction:
    """Return the seconds that a plan takes about, if its messages are cut into as many packets as can be.

    The schedule of the generation is all of it, and has a clock. What the busiest link takes and the latencies of the
    longest chain of hops stay as they are; what is beyond them falls with the packets, and what these cost beyond their
    bytes grows. A generation that overlaps others is taken to last two periods longer, at least.

    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MB", bandwidth="1GB/s", latency="2us", whole=True)
    >>> s = gossamer.plan("array:4", "broadcast", cost=cost).schedule
    >>> round(float(s.cost.seconds(s.completion_time)), 6), round(float(promised(Generation(s))), 6)
    (0.003065, 0.001065)
    """
    schedule = generation.schedule
    clock = schedule.cost
    assert isinstance(clock, Clock)
    busiest = generation.busiest
    least = busiest + generation.longest_wait
    count = most = _most(generation, clock.message_bytes, clock.least_packet(schedule.network))
    beyond = max(schedule.completion_time - least, Fraction(2 * busiest if most > 1 else 0))
    more = Fraction(0)  # slots of the busiest link, for each further generation
    if clock.overhead:
        taken = clock.slot_seconds * int(schedule.network.link_occupancy.min(initial=1))
        more = busiest * min(Fraction(1), clock.overhead / taken)
        count = min(most, max(1, round(math.sqrt(beyond / more))))
    return clock.seconds(least + (count - 1) * more + beyond / count)


def best_repetition(
    generation: Generation, timed: Timed, message: int, fewest: int = 1, least_packet: int = 1,
    alike: Fraction = ALIKE,
) -> Schedule:  # fmt: skip
    """Return the generation of a schedule repeated as often as messages of some bytes take least.

    * `generation` (Generation): the hops.
    * `timed` (callable): from a number of generations to the network with times for its packets, and their clock.
    * `message` (int): bytes of a message.
    * `fewest` (int): generations that are tried at least.
    * `least_packet` (int): bytes of a packet at the least.
    * `alike` (Fraction): the share of the time that is no gain any more.

    Raises `ScheduleError` if there is no room for the hops; see `gossamer.graphs.modulo_scheduling`.

    The time falls with the number of generations, as far as packets of few bytes do not round times up or cost more
    than their bytes. So there are more and more of them, while that gains something; where packets cost more than
    their bytes, half and twice the best number are tried then. Of those that are no gain to each other the fewest
    count.
    """
    most = _most(generation, message, least_packet)

    found: dict[int, tuple[Fraction, Schedule]] = {}
    costly = False

    def at(generations: int) -> Fraction:
        nonlocal costly
        network, clock = timed(generations)
        costly = bool(clock.overhead)
        schedule = generation.repeated(generations, network).replace(cost=clock)
        found[generations] = clock.seconds(schedule.completion_time), schedule
        return found[generations][0]

    count = min(fewest, most)
    before = at(count)
    while count < most:
        count = min(count * _STEP, most)
        last, before = before, at(count)
        if count > _STEP and before > last * alike:  # one generation alone has another order of hops
            break
    if costly:
        middle = min(found, key=lambda k: found[k][0])
        for count in {middle // 2, middle * 2} - set(found):
            if min(fewest, most) <= count <= most:
                at(count)
    best = min(time for time, _ in found.values())
    fewest = min(k for k, (time, _) in found.items() if time * alike <= best)  # for little more time
    return found[fewest][1]


def least_seconds(schedule: Schedule) -> Bound | None:
    """Return the largest bound of what a plan in seconds is for, in seconds: however its messages are cut.

    None if it is not known what its bytes are of: several collectives at once, and a reduction that is followed by
    something else.

    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MB", bandwidth="1GB/s")
    >>> least_seconds(gossamer.plan("ring:4", "broadcast", cost=cost).schedule).value
    Fraction(1, 2000)
    """
    clock, task = schedule.cost, in_packets(schedule.task, 1)
    assert isinstance(clock, Clock)
    try:
        whole = sizing_of(task, schedule.network).split
    except TaskError:
        return None
    plain = unclocked(schedule.network, clock, 1)
    cost = TimeCost(
        clock.buffer_bytes if whole else clock.message_bytes,
        bandwidth=plain.bandwidth,
        latency=plain.latency,
        overhead=clock.overhead,
    )
    return max(exact_bounds(plain.network, task, schedule.rules, cost), key=lambda bound: bound.value)


def resized(schedule: Any, bytes: int | str) -> Schedule:
    """Return a plan in seconds as a plan for another number of bytes, without planning again.

    Parameters
    ----------
    schedule : Schedule or Outcome
        Planned in seconds: it has a clock.
    bytes : int or str
        Bytes as MPI counts them, as in `gossamer.TimeCost`: of a message, of an allreduce the whole buffer.

    Returns
    -------
    Schedule
        The same hops in the same order, with larger or smaller packets, of as many generations as take least; the
        schedule itself for its own number of bytes. Not verified.

    Raises
    ------
    ScheduleError
        If the schedule has no clock, or cannot be repeated: messages are in parts, or wait for others as a whole, or
        partial sums cannot leave before what came after them with packets of another size.

    Notes
    -----
    Times of links come from the bandwidths of the network, or from those that the plan was made for. Some runs of the
    modulo scheduler: O(hops of the generation) each, about.

    Examples
    --------
    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MiB", bandwidth="50GB/s", latency="2us")
    >>> plan = gossamer.plan("torus:4x4", "allgather", cost=cost)
    >>> large = resized(plan, "1GiB")
    >>> bool(gossamer.verify(large)), f"{float(large.cost.seconds(large.completion_time)) * 1e3:.1f} ms"
    (True, '80.5 ms')
    """
    schedule = schedule_of(schedule)
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a store-and-forward schedule is resized, got {shown(schedule)}")
    clock = schedule.cost
    if not isinstance(clock, Clock):
        raise ScheduleError("the schedule counts steps, not seconds; plan it with bytes to have it for other sizes")
    asked = size(bytes, "bytes")
    if not 1 <= asked < 2**62:
        raise ModelError(f"bytes must be at least 1 and less than 2**62, got {asked}")
    whole = clock.asked_bytes or clock.message_bytes
    if asked == whole:
        return schedule
    generation, message = Generation(schedule), -(-clock.message_bytes * asked // whole)
    timed = _timed(schedule, clock, generation.packets, message, asked)
    least = clock.least_packet(schedule.network)
    found = best_repetition(generation, timed, message, least_packet=least)
    if summed_packets(schedule).any() and not verify(found, 1).ok:  # a sum left after what it must not contain
        return best_repetition(Generation(schedule, same_sums=True), timed, message, least_packet=least)
    return found


def in_generations(schedule: Schedule, generations: int) -> tuple[Schedule, Fraction]:
    """Return a plan in seconds with its messages in so many generations, and the seconds that it then takes.

    As `resized` for the bytes that the plan has. Packets are as large as that makes them, links take as long as these
    ask for, and the period is that of the busiest link.

    Raises `ScheduleError` if the schedule has no clock, or cannot be repeated.

    >>> import gossamer
    >>> cost = gossamer.TimeCost("1MiB", bandwidth="50GB/s")
    >>> plan = gossamer.plan("torus:4x4", "allgather", cost=cost).schedule
    >>> in_generations(plan, 8)[0].generations
    8
    """
    clock = schedule.cost
    if not isinstance(clock, Clock):
        raise ScheduleError("the schedule counts steps, not seconds; plan it with bytes to have other packets")
    generation = Generation(schedule)
    asked = clock.asked_bytes or clock.message_bytes
    timed = _timed(schedule, clock, generation.packets, clock.message_bytes, asked)
    network, times = timed(generations)
    found = generation.repeated(generations, network).replace(cost=times)
    if summed_packets(schedule).any() and not verify(found, 1).ok:
        found = Generation(schedule, same_sums=True).repeated(generations, network).replace(cost=times)
    return found, times.seconds(found.completion_time)


def _timed(schedule: Schedule, clock: Clock, packets: int, message: int, asked: int) -> Timed:
    """Return from a number of generations the times of the packets of messages of some bytes."""

    def timed(generations: int) -> tuple[Network, Clock]:
        packet = max(1, -(-message // (packets * generations)))
        found = clocked_again(schedule.network, clock, packet)
        buffer = -(-clock.buffer_bytes * message // clock.message_bytes)
        told = replace(
            clock, slot_seconds=found.slot, rounding=found.rounding, packet_bytes=packet, message_bytes=message,
            buffer_bytes=buffer, asked_bytes=asked,
        )  # fmt: skip
        return found.network, told

    return timed
