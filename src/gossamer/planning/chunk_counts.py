"""How many packets a message of some bytes is cut into: the planner's choice where the question leaves it open.

Cut messages leave a node before they have come whole, and go several ways at once; but each packet pays the latency of
its links. The time over the number of packets has one valley, as far as schedules are good at every number. A schedule
of few packets may also be repeated, generation by generation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from gossamer.algorithms.any_network.priced_routing import MOST_LOOKS
from gossamer.algorithms.any_network.repeated_trees import even_generation, even_trees
from gossamer.atomic_files import quantity
from gossamer.bounds import Bound, Bounds, bounds
from gossamer.bounds.bound import largest
from gossamer.bounds.registry import whole_scope
from gossamer.errors import NotApplicableError, ScheduleError, TooLargeError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks import as_network
from gossamer.networks.derived import Renumbered
from gossamer.networks.network import Network
from gossamer.networks.recognition import recognized
from gossamer.planning.allreduce_variants import counted_alike, exact_bounds, of_question, told_time
from gossamer.planning.offer_search import Bounding, ProgressCallback, Search, asked_case, best_of
from gossamer.planning.outcome import Expense, Outcome, peak_memory
from gossamer.planning.plan_resizing import ALIKE, MOST_HOPS, best_repetition, promised
from gossamer.planning.switching.resource_limits import ResourceLimits
from gossamer.questions.cases import Case, Offer
from gossamer.questions.cases.demands import HubDemand
from gossamer.questions.costs import AskedCost, Clock, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, Grouped, Task, Together, in_packets, includes, packets_of
from gossamer.questions.tasks.chunked import MAX_CHUNKS

_NEAR, _CLOSE, _LITTLE = Fraction(101, 100), Fraction(81, 80), Fraction(199, 200)
"""Times the bound: nearer than the first, no other number is tried, nearer than the second no neighbor of the best; and
the share of the time that is no gain any more."""
_STEP, _MET = 4, Fraction(1001, 1000)
"""How much more packets are tried, and what is not tried to be gained."""
_GAIN = Fraction(995, 1000)
"""The share of the best time that is worth repeating a plan."""
_MOST_HOPS, _HOPS = 150_000, 2_000_000
"""Hops of a schedule at most: all that are tried, but for the fewest packets that load links evenly; and so many for
each time the bound that may be gained."""


def open_to_choice(task: Task, rules: Rules | None) -> bool:
    """Return whether the planner may cut the messages of a task: whole ones that no buffer counts.

    >>> import gossamer
    >>> [open_to_choice(gossamer.task("allgather", packets=k), None) for k in (1, 4)]
    [True, False]
    """
    inner = task.task if isinstance(task, Grouped) else task
    if isinstance(inner, Chunked):
        return False
    return rules is None or (not rules.segmented and rules.buffer is None)


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
    plan: Callable[[int], Planned | None], whole: Planned, least: Fraction, size: int, reached: Fraction | None = None,
    unit: int = 1,
) -> dict[int, Planned]:  # fmt: skip
    """Return the numbers of packets a message that were tried, with what each takes; the fastest first.

    * `plan`: from a number of packets, two or more, to what the best plan takes; None if there is none.
    * `whole`: what unsegmented messages take.
    * `least`: seconds that no schedule takes less than, however messages are cut.
    * `size`: the most packets that are allowed, such as the bytes of a message.
    * `reached`: seconds that another plan takes.
    * `unit`: multiples of this number are tried, and one for whole messages.

    Tried first is the number at which what unsegmented messages take beyond the bound would be 1 % if it fell as
    packets do; if that gains nothing, the one at which what falls and what grows with the number would be alike. From
    there numbers grow fourfold while that gains, or fall fourfold while that does, until the time is near the bound or
    schedules have more hops than are worth it; then, unless the best is close, one between it and its better neighbor,
    and if that gains nothing one towards the other.

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
        packets = fitted(packets)
        cap = _HOPS if packets == unit else _MOST_HOPS
        most = min(cap, int(_HOPS * (shortest() / least - 1))) if least else cap
        like = min(found, key=lambda k: abs(k - packets))
        allowed = found[like].hops * packets // like <= most and 1 <= packets <= min(size, MAX_CHUNKS)
        if packets in found or not allowed or (new := plan(packets)) is None:
            return False
        found[packets] = new
        gains = new.seconds < found[best].seconds * _LITTLE
        best = min(best, packets, key=lambda k: found[k].seconds)
        return gains

    def fitted(packets: int) -> int:
        """Return the largest multiple that is not larger, or the smallest there is."""
        return max(packets - packets % unit, unit)

    def falling(packets: int) -> bool:
        """Return whether most of what a number takes beyond the bound falls with the number."""
        return packets in found and found[packets].seconds - least <= 2 * (whole.seconds - least) / packets

    if shortest() <= least * _NEAR:
        return found
    beyond = int((whole.seconds / least - 1) / (_NEAR - 1)) if least else 1
    begin = min(1 << max(2, beyond.bit_length() - 1), 1 << min(size, MAX_CHUNKS).bit_length() - 1)
    hops = max(whole.hops, 1)
    while begin > max(2, unit) and hops * begin > min(_MOST_HOPS, int(_HOPS * (whole.seconds / least - 1))):
        begin //= 2
    begin = fitted(begin)
    if not tried(begin) and begin in found:
        falls, grows = whole.seconds - least, max(found[begin].seconds - least, Fraction(1, 10**12)) / begin
        begin = fitted(1 << max(1, int(math.log2(max(float(falls / grows), 1.0)) / 2)))
        tried(begin)
    for packets in (begin * _STEP, begin // _STEP):
        upward = packets > begin
        while packets > 1 and shortest() > least * _NEAR and (upward or not falling(best)) and tried(packets):
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


class AskedQuestion:
    """A question whose bounds are told: with network, rules and cost as given, and its own search."""

    def __init__(self, network: Any, search: Search, rules: Rules | None, cost: AskedCost | None) -> None:
        self._given = network, search.planned.task, rules
        self.search = search
        self.network, self.rules, self.cost = network, rules, cost

    @cached_property
    def much_to_send(self) -> bool:
        """Whether an allreduce in seconds takes time for its bytes rather than for latencies."""
        loads = [bound.value for bound in self.exact if bound.name in ("calls in any form", "parts in any form")]
        return bool(loads) and max(loads) * 2 > largest(self.exact)

    def may_cut(self, search: Search) -> bool:
        """Return whether the planner says how many packets a message has: in seconds, of the task's own form."""
        if not isinstance(self.cost, TimeCost) or self.cost.whole:
            return False
        return search is self.search and open_to_choice(search.case.task, self.rules)

    def least(self, search: Search, words: str, known: tuple[Bound, ...]) -> Fraction:
        """Return the largest of some bounds of a form, in seconds or steps; however it is cut, if it may be cut."""
        if not self.may_cut(search):
            return told_time(largest(known), search.case.cost)
        if not words:
            return largest(self.exact)
        return told_time(largest(_cut(search.case, known)), search.case.cost)

    @cached_property
    def exact(self) -> list[Bound]:
        """The bounds of a task that is asked for in seconds, however it is cut."""
        network, task, rules = self._given
        if not isinstance(self.cost, TimeCost):
            return []
        net = recognized(as_network(network))
        known = net.find(Renumbered)
        return exact_bounds(net if known is None else known.original, task, rules, self.cost)

    def bounds(self, search: Search, bounds: Iterable[Bound], words: str = "") -> Bounds:
        """Return the bounds of a search, those that hold for the question first."""
        return of_question(self.exact, search.planned, self.cost, bounds, words)

    def told(self, outcome: Outcome, search: Search, words: str = "") -> Outcome:
        """Return an outcome with the bounds of the question first."""
        return replace(outcome, bounds=self.bounds(search, outcome.bounds, words))


def similar(
    search: Search, network: Any, task: Task, rules: Rules | None, cost: AskedCost | None,
    progress: ProgressCallback | None, buffer: int = 0, bounding: Bounding | None = None,
) -> Search:  # fmt: skip
    """Return the search of another task that does the same; with the `buffer` counted that it is of, if it has one."""
    asked, clock = search.case, search.case.cost
    new = asked_case(network, task, search.kind.name, rules, cost, asked.seed, asked.budget, search.planned.tries)
    if buffer:
        assert isinstance(clock, Clock)
        told = counted_alike(new.case.cost, clock, buffer)
        new = new._replace(case=new.case.told_by(told), planned=new.planned.told_by(told))
    return Search(new, progress, bounding, cost, buffer)


def _in_cut(asked: AskedQuestion, of: Search, packets: int) -> Search:
    """Return the search of a form with its messages cut into some packets; bounds are those that are found quickly."""
    task, quick = in_packets(of.case.task, packets), partial(bounds, quick=True)
    return similar(of, asked.network, task, asked.rules, of.cost, of.say, of.buffer, quick)


class FoundPlan(NamedTuple):
    """A plan: the form of the task in words, the search of its packets, and its outcome."""

    form: str
    search: Search
    outcome: Outcome

    @property
    def time(self) -> Fraction:
        """In seconds of a clock, or steps."""
        return told_time(self.outcome.completion_time, self.search.case.cost)

    def words(self, several: bool) -> str:
        """Return the form, and how messages are cut where there are plans of several cuts."""
        schedule, form = self.outcome.schedule, self.form
        if schedule is not None and getattr(schedule, "repetition", None) is not None:
            packets, times = schedule.repetition.packets, schedule.generations
            cut = f"{count_words(packets * times)} ({times:,} times {packets:,})"
            return ", ".join(filter(None, [form.partition(" in ")[0], cut]))
        return ", ".join(filter(None, [form, count_words(packets_of(self.search.case.task)) if several else ""]))


class Repeatable(NamedTuple):
    """What may be repeated: the form of the task in words, the search of its packets, and a schedule."""

    form: str
    search: Search
    generation: Generation
    offer: Offer[Any]
    expense: Expense


def as_repeatable(found: Iterable[FoundPlan]) -> Iterator[Repeatable]:
    """Yield plans as what may be repeated, as far as they can be."""
    for each in found:
        schedule = each.outcome.schedule
        few = schedule.hop_count <= MOST_HOPS or (
            schedule.symmetry is not None and schedule.stored_hops <= _MOST_STORED
        )
        if few and getattr(schedule, "repetition", None) is None:
            with suppress(ScheduleError):
                yield Repeatable(each.form, each.search, Generation(schedule), each.outcome.offer, each.outcome.expense)


def repeated(
    asked: AskedQuestion, found: list[FoundPlan], parts: Iterable[Repeatable], least: Fraction,
    late: Callable[[], bool], gain: Fraction = _GAIN, near: Fraction = _NEAR,
    alike: Fraction = ALIKE,
) -> list[FoundPlan]:  # fmt: skip
    """Return the parts that promise most as generations which are repeated, as far as these take less time.

    `least` holds for all plans, in seconds. `gain`: the share of the best time that is worth it. `near`: nothing is
    repeated so near to the bound. `alike`: the share of the time for which no more generations are taken.
    """
    shortest = min((each.time for each in found), default=None)
    if not asked.may_cut(asked.search) or (shortest is not None and shortest <= least * near):
        return []
    some, better = list(parts), list[FoundPlan]()
    promises = sorted((promised(part.generation), i) for i, part in enumerate(some))
    for promise, i in promises[:_REPEATED]:
        if late() or (shortest is not None and promise > shortest * gain):
            break
        new = _as_generations(asked, some[i], alike)
        if new is not None and (shortest is None or new.time < shortest * gain):
            shortest = new.time
            better.append(new)
    return better


def _as_generations(asked: AskedQuestion, part: Repeatable, alike: Fraction) -> FoundPlan | None:
    """Return what is repeated as often as takes least; None if it cannot be."""
    of, packets = part.search, part.generation.packets
    of.say(f"repeating {quantity(packets, 'packet')} a message")
    searches: dict[int, Search] = {}

    def timed(generations: int) -> tuple[Network, Clock]:
        new = searches[generations] = _in_cut(asked, of, generations * packets)
        assert isinstance(new.case.cost, Clock)
        return new.case.network, new.case.cost

    clock = of.case.cost
    assert isinstance(clock, Clock)
    started = time.process_time()
    try:
        least = clock.least_packet(of.case.network)
        schedule = best_repetition(part.generation, timed, clock.message_bytes, 2, least, alike)
    except ScheduleError:
        return None
    new = searches[schedule.generations]
    verification = new.kind.verify(schedule, 20)
    if not verification.ok:  # partial sums that depended on when they were sent
        return None
    built = part.expense.build_seconds + time.process_time() - started - verification.seconds
    offer = replace(part.offer, time=None, least=Fraction(0), optimal=False)
    return FoundPlan(part.form, new, Outcome(
        new.case, new.kind, schedule.algorithm, offer, schedule, schedule.completion_time, verification, new.bounds(),
        new.kind.facts(schedule), Expense(built, verification.seconds, schedule.nbytes, peak_memory()),
    ))  # fmt: skip


_MANY, _MOST_LISTED = 256, 20_000_000
"""Packets a message for which trees to be repeated are looked for, and messages that are listed for them at the most.
"""
_MOST_PAIRS = 4_000_000
"""Pairs of packets of which one waits for the other, up to which they are cut further."""
_MOST_STORED = 1_000_000
"""Hops of one orbit up to which it is repeated."""
_REPEATED = 3
"""Plans that are repeated at the most."""


LITTLE_WORK = 60_000
"""Hops of a schedule that are little work."""


def _affordable(packets: int, seconds: float) -> int:
    """Return for how many packets, a power of two, a search is not too long that takes so many seconds; 0 for none.

    >>> [_affordable(packets, seconds) for packets, seconds in ((48, 1.0), (48, 40.0), (2, 400.0))]
    [32, 16, 0]
    """
    return 1 << int(packets * min(1.0, math.sqrt(_DEAR / seconds))).bit_length() >> 1


def _cut(case: Case, bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the bounds that hold however the messages of a case are cut."""
    whole = whole_scope(case)
    return tuple(bound for bound in bounds if not bound.scope.startswith(whole))


class PacketPlans:
    """The plans of one form of a task by the number of packets that each of its messages is cut into.

    Of messages that are packets themselves, as those of `search` may be, each packet is cut.

    `found`: search and outcome of each number that was planned, the fastest first.
    """

    def __init__(
        self, asked: AskedQuestion, search: Search, may_cut: bool, effort: str, allowed: ResourceLimits, began: float,
        algorithm: str = "best", options: Callable[[Case], Mapping[str, Any]] = lambda case: {},
    ) -> None:  # fmt: skip
        self.asked, self.effort, self.allowed, self.began = asked, effort, allowed, began
        self.search, self.may_cut = search, may_cut
        self._algorithm, self._options = algorithm, options
        self._each = packets_of(search.case.task)
        self.found: dict[int, tuple[Search, Outcome]] = {}
        self._slow: set[str] = set()
        self._dear: dict[str, tuple[int, float]] = {}
        self._whole, self._unit = Planned(Fraction(0), 0), 1
        self._best = self._least = Fraction(1, 10**12)

    def plan_whole(self, known: tuple[Bound, ...]) -> Fraction:
        """Plan unsegmented messages, of which bounds are known, and return the time.

        Raises `NotApplicableError` if there is no plan.
        """
        self._whole = self._planned(1, self.search, Bounds(known))
        return self._whole.seconds

    def plan_cut(self, least: Fraction, best: Fraction) -> None:
        """Plan with as many packets as take least, after `plan_whole`.

        `least` holds for all numbers, and there is another plan that takes the time `best`, in seconds.
        """
        clock = self.search.case.cost
        if self.may_cut and isinstance(clock, Clock):
            self._least, self._best = max(least, self._least), best
            counts = best_counts(self._cut, self._whole, least, self._most, best, self._unit)
            self.found = {packets: self.found[packets] for packets in counts}
            self._plan_dear()

    def _plan_dear(self) -> None:
        """Plan what was left out as too long a search, where the bound is far, with packets that it takes little for.

        Its time is taken to grow with the square of their number.
        """
        for algorithm, (packets, seconds) in self._dear.items():
            best = min(self._best, *(found.seconds or Fraction(0) for _, found in self.found.values()))
            fewer = _affordable(packets, seconds)
            if best <= self._least * _FAR or fewer < 2 or algorithm in self._slow:
                continue
            before = self.found.get(fewer)
            if before is not None and algorithm in before[0].times:
                continue
            self._cut(fewer, algorithm)
            if before is not None and before[1].completion_time <= self.found[fewer][1].completion_time:
                self.found[fewer] = before
        self.found = dict(sorted(self.found.items(), key=lambda item: item[1][1].seconds or Fraction(0)))

    def promises(self, less: Fraction) -> bool:
        """Plan unsegmented messages, and with many packets; whether the best number may take less than so many seconds.

        Raises `NotApplicableError` if there is no plan.
        """
        whole = self.plan_whole(())
        _, first = self.found[1]
        if whole < less:
            return True
        clock = first.case.cost
        assert isinstance(clock, Clock)
        with suppress(ScheduleError):
            generation = Generation(first.schedule)
            least = max(Fraction(generation.busiest, _EVENED), Fraction(generation.longest_wait))
            if clock.seconds(least) >= less * _ROUNDED:
                return False
        many = min(_PROBE, self._most, LITTLE_WORK // max(first.facts.size, 1))
        probed = self._cut(many) if many > 1 else None
        return probed is not None and (many * probed.seconds - whole) / (many - 1) < less

    def plan_finer(self) -> None:
        """Plan with more packets than are best so far, while that gains and is little work, though the best be near."""
        packets, (_, best) = next(iter(self.found.items()))
        time = best.seconds or Fraction(0)
        finer = min(packets * _STEP, self._most)
        if time <= self._least * _MET or finer in self.found or best.facts.size * finer > LITTLE_WORK * packets:
            return
        self._cut(finer)
        self.found = dict(sorted(self.found.items(), key=lambda item: item[1][1].seconds or Fraction(0)))
        if finer in self.found and (self.found[finer][1].seconds or time) < time / _MET:
            self.plan_finer()

    @property
    def whole(self) -> Fraction:
        """Seconds of unsegmented messages, once they are planned."""
        return self._whole.seconds

    @property
    def _most(self) -> int:
        """The most packets that a message may have."""
        clock = self.search.case.cost
        assert isinstance(clock, Clock)
        most = max(1, clock.message_bytes // clock.least_packet(self.search.case.network) // self._each)
        if not includes(self.search.case.task, Together):  # no collective waits, and messages may be too many to list
            return most
        messages = self.search.case.messages
        if not messages.waits or messages.stage is None:
            return most
        packets = np.bincount(messages.stage, np.diff(messages.first_packet()), messages.stages)
        pairs = int(sum(packets[later] * packets[earlier] for later, earlier in messages.waits))
        return max(1, min(most, math.isqrt(_MOST_PAIRS // max(pairs, 1))))

    def even(self, form: str) -> Iterator[Repeatable]:
        """Yield plans of few packets that use the busiest link little."""
        of = self.search
        clock = of.case.cost
        many = 0
        if isinstance(clock, Clock):
            looks = of.case.task.most_messages(of.case.network) * of.case.network.link_count // self._each
            fit = MOST_LOOKS // max(looks, 1)
            many = min(_MANY, clock.message_bytes // clock.least_packet(of.case.network), MAX_CHUNKS, fit)
        hubs = [demand for demand in of.case.demands if isinstance(demand, HubDemand)]
        messages = sum(each.hubs.size * (1 if each.shared else each.terminal_count) for each in hubs)
        if many < 2 or messages > _MOST_LISTED:
            return
        of.say("looking for trees to be repeated")
        case = _in_cut(self.asked, of, many).planned
        assert isinstance(case.cost, Clock)
        least = max((bound.value for bound in self.asked.exact), default=Fraction(0)) / case.cost.slot_seconds
        for packets, trees, _ in even_trees(case, least)[:_REPEATED]:
            search, started = _in_cut(self.asked, of, packets), time.process_time()
            offer: Offer[Any] = Offer(partial(even_generation, search.planned, trees), effort="search")
            schedule = search.built(offer.build(), "periodic-trees")
            expense = Expense(time.process_time() - started, 0.0, schedule.nbytes, 0)
            yield Repeatable(form, search, Generation(schedule), offer, expense)

    def _cut(self, packets: int, only: str = "") -> Planned | None:
        of, budget = self.search, self.allowed.budget
        if budget is not None and time.monotonic() - self.began > budget:
            return None
        of.say(f"cutting every message in {packets * self._each:,} packets")
        search = _in_cut(self.asked, of, packets * self._each)
        best = min(self._best, *(found.seconds or Fraction(0) for _, found in self.found.values()))
        try:
            worth = math.inf if only else _WORTH * float(best / self._least - 1)
            return self._planned(packets, search, search.bounds(), worth, only)
        except (NotApplicableError, TooLargeError):
            return None

    def _planned(
        self, packets: int, search: Search, known: tuple[Bound, ...], worth: float = math.inf, only: str = ""
    ) -> Planned:
        """Plan with a number of packets, by what is estimated to take no more than the seconds that it is worth.

        By one algorithm only, if it is named.
        """
        tried = search.candidates(only or self._algorithm, self._options(search.planned), self.effort)
        tried = [c for c in tried if c.algorithm not in self._slow] or tried
        if worth < math.inf:
            about = [0.0 if needs is None else needs.seconds for needs in map(search.needs, tried)]
            dear = [seconds > max(1.0, worth, min(about)) for seconds in about]
            for c, seconds, is_dear in zip(tried, about, dear, strict=True):
                if is_dear and packets < self._dear.get(c.algorithm, (math.inf,))[0]:
                    self._dear[c.algorithm] = packets, seconds
            tried = [c for c, is_dear in zip(tried, dear, strict=True) if not is_dear]
        if not self.allowed.thorough and search.case.network.terminal_count >= LARGE:
            # the others do for each rank what these do once
            tried = [c for c in tried if c.offer.composed] or tried
        if packets == 1:
            self._unit = max(each // math.gcd(each, self._each) for each in (c.offer.even_packets for c in tried))
        chosen = search.fitting(tried, self.allowed)
        allowed, budget = self.allowed, self.allowed.budget
        if budget is not None:
            allowed = replace(allowed, budget=max(budget - (time.monotonic() - self.began), 1e-3))
        found = best_of(search, chosen, allowed, False, known)
        self.found[packets] = search, found
        if packets > 1:
            self._slow |= {name for name, time in search.times.items() if time > _SLOW * found.completion_time}
        size = found.schedule.stored_hops if large_orbits(search.case, found.schedule) else found.facts.size
        return Planned(told_time(found.completion_time, search.case.cost), size)


LARGE = 256
"""Terminals from which on the planner tries less, where other forms take long."""


def large_orbits(case: Case, schedule: Any) -> bool:
    """Return whether a schedule of many ranks stands for others by symmetry."""
    return case.network.terminal_count >= LARGE and getattr(schedule, "symmetry", None) is not None


_PROBE, _EVENED, _ROUNDED = 32, 2, Fraction(101, 100)
"""Packets with which it is seen what an algorithm takes with many; how much less busy the busiest link is with many, at
most; and how much of a time is due to its rounding up to slots."""
_DEAR, _FAR = 8.0, Fraction(26, 25)
"""Seconds, by estimates from above, that what was left out may take yet, where plans take so many times the bound."""
_WORTH = 10.0
"""Seconds that an algorithm may take for each time the bound that may be gained."""
_SLOW = 2
"""Times the best: an algorithm that takes more with some packets a message is not tried with other numbers."""
