"""How many packets a message of some bytes is cut into: the planner's choice where the question leaves it open.

Cut messages leave a node before they have come whole, and go several ways at once; but each packet pays the latency of
its links. The time over the number of packets has one valley, as far as schedules are good at every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from gossamer.atomic_files import quantity
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, DemandTable, Grouped, Task, Together
from gossamer.questions.tasks.chunked import MAX_CHUNKS

__all__ = ["NEAR", "Planned", "best_counts", "count_words", "open_to_choice"]

NEAR, _CLOSE, _LITTLE = Fraction(101, 100), Fraction(81, 80), Fraction(199, 200)
"""Times the bound: nearer than the first, no other number is tried, nearer than the second no neighbor of the best; and
the share of the time that is no gain any more."""
_STEP = 4
_MOST_HOPS, _HOPS = 150_000, 2_000_000
"""Hops of a schedule at most: all that are tried, and so many for each time the bound that may be gained."""


def open_to_choice(task: Task, rules: Rules | None) -> bool:
    """Return whether the planner may cut the messages of a task: whole ones of one size that no buffer counts.

    >>> import gossamer
    >>> [open_to_choice(gossamer.task("allgather", packets=k), None) for k in (1, 4)]
    [True, False]
    """
    inner = task.task if isinstance(task, Grouped) else task
    return not isinstance(inner, Chunked | DemandTable | Together) and (
        rules is None or (not rules.segmented and rules.buffer is None)
    )


def count_words(packets: int) -> str:
    """Return a number of packets in words.

    >>> count_words(1), count_words(64)
    ('unsegmented', '64 packets a message')
    """
    return "unsegmented" if packets == 1 else f"{quantity(packets, 'packet')} a message"


class Planned(NamedTuple):
    """What a plan takes: seconds, and hops."""

    seconds: Fraction
    hops: int


def best_counts(
    plan: Callable[[int], Planned | None], whole: Planned, least: Fraction, size: int, reached: Fraction | None = None
) -> dict[int, Planned]:
    """Return the numbers of packets a message that were tried, with what each takes; the fastest first.

    Parameters
    ----------
    plan : callable
        From a number of packets, two or more, to what the best plan takes; None if there is none.
    whole : Planned
        What unsegmented messages take.
    least : Fraction
        Seconds that no schedule takes less than, however messages are cut.
    size : int
        The most packets that are allowed, such as the bytes of a message.
    reached : Fraction, optional
        Seconds that another plan takes.

    Notes
    -----
    Tried first is the number at which what unsegmented messages take beyond the bound would be 1 % if it fell as
    packets do; if that gains nothing, the one at which what falls and what grows with the number would be alike. From
    there numbers grow fourfold while that gains, or fall fourfold while that does, until the time is near the bound or
    schedules have more hops than are worth it; then, unless the best is close, one between it and its better neighbor,
    and if that gains nothing one towards the other.

    Examples
    --------
    >>> through = lambda k: Planned(Fraction((k + 9) * (1000 + k), k), 10 * k)  # ten links in a row
    >>> list(best_counts(through, through(1), Fraction(1000), 10**6))
    [128, 64, 256, 32, 512, 2048, 1]
    """
    found = {1: whole}
    best = 1
    reached = whole.seconds if reached is None else reached

    def shortest() -> Fraction:
        return min(found[best].seconds, reached)

    def tried(packets: int) -> bool:
        """Plan a number, as far as it is allowed; whether that gains."""
        nonlocal best
        most = min(_MOST_HOPS, int(_HOPS * (shortest() / least - 1))) if least else _MOST_HOPS
        like = min(found, key=lambda k: abs(k - packets))
        allowed = found[like].hops * packets // like <= most and 1 <= packets <= min(size, MAX_CHUNKS)
        if packets in found or not allowed or (new := plan(packets)) is None:
            return False
        found[packets] = new
        gains = new.seconds < found[best].seconds * _LITTLE
        best = min(best, packets, key=lambda k: found[k].seconds)
        return gains

    def falling(packets: int) -> bool:
        """Return whether most of what a number takes beyond the bound falls with the number."""
        return packets in found and found[packets].seconds - least <= 2 * (whole.seconds - least) / packets

    if shortest() <= least * NEAR:
        return found
    beyond = int((whole.seconds / least - 1) / (NEAR - 1)) if least else 1
    begin = min(1 << max(2, beyond.bit_length() - 1), 1 << min(size, MAX_CHUNKS).bit_length() - 1)
    hops = max(whole.hops, 1)
    while begin > 2 and hops * begin > min(_MOST_HOPS, int(_HOPS * (whole.seconds / least - 1))):
        begin //= 2
    if not tried(begin) and begin in found:
        falls, grows = whole.seconds - least, max(found[begin].seconds - least, Fraction(1, 10**12)) / begin
        begin = 1 << max(1, int(math.log2(max(float(falls / grows), 1.0)) / 2))
        tried(begin)
    for packets in (begin * _STEP, begin // _STEP):
        upward = packets > begin
        while packets > 1 and shortest() > least * NEAR and (upward or not falling(best)) and tried(packets):
            packets = packets * _STEP if upward else packets // _STEP
        if best > begin:
            break
    if shortest() > least * _CLOSE:
        beside = [] if falling(best) or best // _STEP not in found else [(found[best // _STEP].seconds, best // 2)]
        beside.append((found[best * _STEP].seconds if best * _STEP in found else found[best].seconds, best * 2))
        for _, packets in sorted(beside):
            if tried(packets):
                break
    return dict(sorted(found.items(), key=lambda item: (item[1].seconds, item[0])))
