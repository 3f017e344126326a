"""Certificates: a schedule with its lower bound as plain JSON, which ``gossamer_check.py`` checks by itself.

The format is the page `reference/certificates` of the documentation. What is written here, that program has accepted: a
schedule that it cannot judge gets no certificate, and of the bounds the largest is taken that it can count again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import gossamer_check
from gossamer.atomic_files import memory_text, whole_file
from gossamer.bounds import Bound, bounds
from gossamer.bounds.witnesses import witnesses_of
from gossamer.errors import ScheduleError, TooLargeError
from gossamer.networks.network import Network
from gossamer.processes.memory import free_memory
from gossamer.questions.cases import Case
from gossamer.questions.costs import Clock, StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, Messages
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows
from gossamer.schedules.symmetry import Symmetry
from gossamer.verification.replay_inputs import PARTIAL_SUMS, ReplayState
from gossamer.verification.timed_replay import replay_timed
from gossamer.version import __version__

__all__ = ["bound_certificate", "certificate", "certificate_text", "everywhere_certificate", "write_certificate"]

Rows = npt.NDArray[np.integer[Any]]


def certificate(schedule: Schedule, known: Iterable[Bound] | None = None) -> dict[str, Any]:
    """Return the certificate of a schedule: plain values for JSON, which `gossamer_check` has accepted.

    Parameters
    ----------
    schedule : Schedule
        Plain, with times, invariant or repeating.
    known : iterable of Bound, optional
        Lower bounds of the schedule's own case. Default: those that `gossamer.bounds.bounds` computes.

    Returns
    -------
    dict
        With the largest bound that has a witness which can be counted again; with none where none has.

    Raises
    ------
    ScheduleError
        If it is no store-and-forward schedule, has collectives that wait for others, or is not valid.
    TooLargeError
        If it has more transfers than memory holds.

    Examples
    --------
    >>> import gossamer
    >>> found = certificate(gossamer.plan("ring:4", "allgather").schedule)
    >>> found["claim"]["time"], found["schedule"]["slot"]
    ('2', [0, 0, 1])
    """
    if not isinstance(schedule, Schedule):
        raise ScheduleError("a certificate is of a store-and-forward schedule; of others there is none yet")
    if schedule.messages.waits:
        raise ScheduleError("collectives that wait for others have no certificate yet; certify each by itself")
    _check_rows(schedule)
    length = schedule.cost.slot_seconds if isinstance(schedule.cost, Clock) else Fraction(1)
    case = Case(schedule.network, schedule.task, schedule.rules, schedule.cost)
    found = _described(schedule, length)
    found["claim"] = {"time": str(schedule.completion_time * length), "bound": None}
    found["bound"] = None
    try:
        _checked(found)
    except gossamer_check.Refused as reason:
        raise ScheduleError(f"the schedule has no certificate: {reason}") from reason
    _prove(found, case, bounds(case) if known is None else known, Fraction(1, schedule.parts))
    return found


_ROW_BYTES = 1_200
"""Bytes of a transfer while its certificate is written and checked: plain numbers of Python, and their text."""


_WRITTEN_OUT = 20_000
"""So many transfers are all written, if a symmetry leaves switches where they are: then more bounds have witnesses."""


def _by_orbit(schedule: Schedule) -> bool:
    """Whether one orbit is stored of a schedule: a symmetry gives each link all its images, and is worth it."""
    symmetry = schedule.symmetry
    if symmetry is None or symmetry.broken is not None:
        return False
    return symmetry.free or schedule.stored_hops * symmetry.order > _WRITTEN_OUT


def _check_rows(schedule: Schedule) -> None:
    """Refuse a schedule of more transfers than memory holds as rows of a certificate, before they are written out."""
    rows, free = schedule.stored_hops, free_memory()
    if schedule.symmetry is not None and not _by_orbit(schedule):
        rows *= schedule.symmetry.order
    if free is None or rows * _ROW_BYTES <= free:
        return
    why = ""
    if rows > schedule.stored_hops:
        why = "; some links of its symmetry have no images, so certificates hold no single orbit"
    raise TooLargeError(
        f"a certificate of {rows:,} transfers needs about {memory_text(rows * _ROW_BYTES)} of memory, and "
        f"{memory_text(free)} are free: about {free // _ROW_BYTES:,} transfers would fit{why}"
    )


def bound_certificate(case: Case, known: Iterable[Bound] | None = None) -> dict[str, Any]:
    """Return the certificate of a lower bound alone, which `gossamer_check` has accepted.

    Parameters
    ----------
    case : Case
    known : iterable of Bound, optional
        Its lower bounds. Default: those that `gossamer.bounds.bounds` computes.

    Raises
    ------
    ScheduleError
        If it is not of store-and-forward schedules, has collectives that wait for others, or has no bound that can be
        counted again.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:4x4"), gossamer.task("alltoall"))
    >>> found = bound_certificate(case)
    >>> found["claim"], found["bound"]["kind"]
    ({'time': None, 'bound': '16'}, 'load')
    """
    if not isinstance(case.cost, StepCost):
        raise ScheduleError("a certificate is of bounds of store-and-forward schedules; of others there is none yet")
    length = case.cost.slot_seconds if isinstance(case.cost, Clock) else Fraction(1)
    nothing = Schedule(case.network, case.task, case.rules, [], [], [], cost=case.cost)
    if nothing.messages.waits:
        raise ScheduleError("collectives that wait for others have no certificate yet; certify each by itself")
    found = _described(nothing, length)
    del found["schedule"], found["about"]["algorithm"]
    found.update(claim={"time": None, "bound": None}, bound=None)
    _prove(found, case, bounds(case) if known is None else known, Fraction(1))
    if found["bound"] is None:
        raise ScheduleError("none of the lower bounds has a witness that the checker can count again")
    return found


def everywhere_certificate(schedule: Schedule, degree: int, *, one_way: bool = False) -> dict[str, Any]:
    """Return the certificate of a schedule with a bound on all networks of as many nodes, not on its own alone.

    Parameters
    ----------
    schedule : Schedule
        Of a usual collective on a network without switches.
    degree : int
        The most links that leave a node, and that enter it.
    one_way : bool
        Whether links need no opposite.

    Raises
    ------
    ScheduleError
        If the schedule has no certificate, the task no such bound, or the network is none of these.

    Examples
    --------
    >>> import gossamer
    >>> found = everywhere_certificate(gossamer.plan("kautz:2,2", "allgather").schedule, 2, one_way=True)
    >>> found["claim"], found["bound"]["kind"]
    ({'time': '3', 'bound': '3'}, 'everywhere')
    """
    found = certificate(schedule, [])
    net, slot = gossamer_check.Net(found), Fraction(found["time"]["slot"])
    best, took = Fraction(0), Fraction(found["claim"]["time"]) / slot
    for whole, blocks in ((False, False), (True, False), (True, True)):
        law = {"kind": "everywhere", "whole": whole, "blocks": blocks, "degree": degree, "two_way": not one_way}
        try:
            proved = _most(gossamer_check.Bound(net, found["task"], [], law).slack, whole, took)
        except gossamer_check.Refused as reason:
            raise ScheduleError(f"no bound on all networks of that size can be certified: {reason}") from reason
        if proved > best:
            best, found["bound"] = proved, law
    found["claim"]["bound"] = None if found["bound"] is None else str(best * slot)
    _checked(found)
    return found


def _prove(found: dict[str, Any], case: Case, known: Iterable[Bound], slot: Fraction) -> None:
    """Add to a certificate the largest bound that has a witness, if any has; a slot is of so many steps."""
    nets = [gossamer_check.Net(found)]
    if nets[0].order > 1 and found["task"].get("name") == "allreduce":
        nets.append(gossamer_check.Net(found | {"symmetry": None}))
    asked = [(net, gossamer_check.read_task(found["task"], net)[1]) for net in nets]
    most, text, witness = _proved(case, asked, slot, known)
    if witness is not None:
        found["about"]["bound"] = text
        found["claim"]["bound"], found["bound"] = str(most / slot * Fraction(found["time"]["slot"])), witness
        _checked(found)


def _proved(
    case: Case,
    asked: list[tuple[gossamer_check.Net, list[gossamer_check.Item]]],
    slot: Fraction,
    known: Iterable[Bound],
) -> tuple[Fraction, str, dict[str, Any] | None]:
    """Return the largest time that a witness of a known bound proves to the checker, with the bound in words.

    Of witnesses that prove as much, the one of the widest scope. `asked`: the network and the items, and without the
    symmetry of the network, if it has one and these are few, for laws that are counted so.
    """
    best: tuple[Fraction, str, dict[str, Any] | None] = Fraction(0), "", None
    ordered = sorted(known, key=lambda b: -b.value)
    for bound, (net, items) in itertools.product(ordered, asked):
        orbits = (net.orbit, net.link_orbit) if net.order > 1 else None
        for proposal in witnesses_of(case, bound, orbits) if bound.value > best[0] else ():
            if net is not asked[0][0] and proposal["kind"] != "cut" and "draw" not in proposal:
                continue
            value, witness = strongest(net, items, proposal, bound.value / slot)
            if value * slot > best[0]:
                best = value * slot, bound.text, witness
            if best[0] >= ordered[0].value:
                break
    return best


def strongest(
    net: gossamer_check.Net, items: list[gossamer_check.Item], proposal: dict[str, Any], most: Fraction
) -> tuple[Fraction, dict[str, Any]]:
    """Return the largest number of slots that a proposal proves to the checker, perhaps `most`, and its witness.

    0 if it proves nothing. A proposal leaves open weights of sets, and may count slots from the end.
    """
    law = dict(proposal)
    if law.pop("back", False):  # the slots are counted from the end
        law["since"] = [max(0, math.ceil(most) - slot) for slot in law["since"]]
    try:
        bound = gossamer_check.Bound(net, {}, items, law)
        if "groups" in law:
            law["groups"] = [_weighted(bound, group) for group in law["groups"]]
        if law["kind"] == "cut" and not law["whole"]:  # its times are those of one bound
            return Fraction(most if bound.slack(most) <= 0 else 0), law
        return _most(bound.slack, law["whole"], most), law
    except gossamer_check.Refused:
        return Fraction(0), law


def _most(slack: Callable[[Fraction], Fraction], whole: bool, most: Fraction) -> Fraction:
    """Return the largest number of slots, perhaps `most`, below which there is less than is needed; 0 if there is none.

    `slack`: what there is more than is needed in less than so many slots.
    """

    def proves(goal: Fraction) -> bool:
        more = slack(goal)
        return more < 0 or (more == 0 and not whole)

    if not whole:
        found = _least(slack, most)
        return found if found > 0 and proves(found) else Fraction(0)
    proved = proves(most)
    low, high = (math.ceil(most), 2 * math.ceil(most)) if proved else (0, math.ceil(most))
    while proved and proves(Fraction(low + 1)):
        low, proved = low + 1, low < high
    while not proved and high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if proves(Fraction(middle)) else (low, middle)
    return Fraction(low)


def _weighted(bound: gossamer_check.Bound, group: dict[str, Any]) -> dict[str, Any]:
    """Return a group whose sets, if they are disjoint, count as much as a packet pays at least that crosses them."""
    if group["serve"] != "sets" or "weights" in group:
        return group
    net, sets = bound.net, group["sets"]
    inside = np.full(net.nodes, -1)
    for k, nodes in enumerate(sets):
        inside[nodes] = k
    source, target, pays = inside[net.source], inside[net.target], np.array(bound.pays)
    most = np.full(len(sets), np.iinfo(np.int64).max)
    for kind, near, far in (("copy", source, target), ("sum", target, source)):
        if group.get("of", kind) == kind:
            crossed = (near != far) & (far >= 0)
            np.minimum.at(most, far[crossed], pays[crossed])
    if net.order > 1:
        orbit = np.array(net.orbit[: net.ranks])
        np.minimum.at(most, orbit, most)
        most = most[orbit]
    return {**group, "weights": np.where(most == np.iinfo(np.int64).max, 0, most).tolist()}


def _least(slack: Callable[[Fraction], Fraction], most: Fraction) -> Fraction:
    """Return the time that a law just allows for parts of packets, about `most`; 0 if none is found.

    What resources are worth grows with time, and so does the rate at which it grows: Newton's method ends.
    """
    time, step = most, Fraction(1, 10**12)
    for _ in range(100):
        if slack(time) >= 0:
            break
        time *= 2
    for _ in range(100):
        more, before = slack(time), slack(time - step)
        if more in (0, before):
            break
        time -= more * step / (more - before)
    return time if more == 0 else Fraction(0)


def write_certificate(found: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a certificate to a file, which appears whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    with whole_file(path) as part:
        part.write_bytes(certificate_text(found))


def certificate_text(found: dict[str, Any]) -> bytes:
    """Return the JSON of a certificate, a line for each of its parts."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in found.items())
    return ("{" + ",\n".join(lines) + "}\n").encode()


def _checked(found: dict[str, Any]) -> list[str]:
    return gossamer_check.check(certificate_text(found))


def _described(schedule: Schedule, length: Fraction) -> dict[str, Any]:
    """Return all of a certificate but the claim and the bound."""
    if schedule.symmetry is not None and not _by_orbit(schedule):
        schedule = schedule.expand()
    network, rules, symmetry = schedule.network, schedule.rules.on(schedule.network), schedule.symmetry
    slot, scale, begins = _clock(schedule, length)
    task, of_packet = _task(schedule)
    keep, carries, results = _rows(schedule, of_packet, task)
    takes = (network.link_occupancy.astype(np.int64) + network.link_latency.astype(np.int64) * schedule.parts) * scale
    transfers: dict[str, Any] = {
        "slot": begins[schedule.slot[keep]].tolist(),
        "link": schedule.link[keep].tolist(),
        "packet": np.append(of_packet, 0)[schedule.packet[keep]].tolist(),
        "carries": carries,
    }
    ends = begins[schedule.slot[keep]] + takes[schedule.link[keep]]
    for packet, node, rows in results:
        row = max((int(ends[k]) for k in rows if k >= 0), default=0), network.link_count + node, packet, rows
        for column, value in zip(transfers.values(), row, strict=True):
            column.append(value)
    if schedule.repetition is not None:
        transfers.update(period=schedule.repetition.period * scale, generations=schedule.generations)
    found = {
        "format": "gossamer-certificate",
        "version": 1,
        "about": {
            "network": network.spec, "task": schedule.task.describe(), "algorithm": schedule.algorithm,
            "written by": f"gossamer {__version__}",
        },
        "network": _network(network, schedule.parts, scale),
        "rules": _rules(rules),
        "time": {"unit": "second" if isinstance(schedule.cost, Clock) else "step", "slot": str(slot)},
        "task": {"items": task},
        "schedule": transfers,
    }  # fmt: skip
    if symmetry is not None:
        found["symmetry"] = _symmetry(symmetry)
    name = _named(found)
    return {**found, "task": name} if name else found


def _clock(schedule: Schedule, length: Fraction) -> tuple[Fraction, int, Rows]:
    """Return the length of a slot of the certificate, how many the schedule's make, and where its slots begin.

    A slot of the certificate divides all slots of the schedule, and those that a transfer needs.
    """
    slot = length / schedule.parts
    lengths = [phase.slot_length * length for phase in schedule.phases for _ in range(bool(phase.slots))]
    over = math.lcm(slot.denominator, *(each.denominator for each in lengths))
    unit = Fraction(math.gcd(int(slot * over), *(int(each * over) for each in lengths)), over)
    ticks = np.repeat([int(each / unit) for each in lengths], [phase.slots for phase in schedule.phases if phase.slots])
    return unit, int(slot / unit), np.concatenate([[0], np.cumsum(ticks)]).astype(np.int64)


def _named(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return the usual collective that the items of a certificate are, if they are one."""
    items = found["task"]["items"]
    if not items:
        return None
    net, first, ranks = gossamer_check.Net(found), items[0], found["network"]["ranks"]
    roots, root_of = len({net.orbit[v] for v in range(ranks)}), {"gather": "to", "reduce": "to"}
    for name, kind, count in (
        ("broadcast", "copy", 1), ("scatter", "copy", ranks - 1), ("gather", "copy", ranks - 1), ("reduce", "sum", 1),
        ("allgather", "copy", roots), ("alltoall", "copy", roots * (ranks - 1)), ("reduce-scatter", "sum", roots),
        ("allreduce", "sum", 1),
    ):  # fmt: skip
        rooted = name in ("broadcast", "scatter", "gather", "reduce")
        if (kind, count) != (first["kind"], len(items)) or (rooted and net.order > 1):
            continue
        task = {"name": name, "packets": first["packets"] * (net.order if name == "allreduce" else 1)}
        if rooted:
            task["root"] = first[root_of.get(name, "from")][0]
        with contextlib.suppress(gossamer_check.Refused):  # it may be too large to be told by its name
            same = gossamer_check.read_task(task, net)[1]
            mine = gossamer_check.read_task({"items": items}, net)[1]
            same, mine = (
                [x._replace(leaves=[v for v in x.leaves if x.back or v not in x.root]) for x in each]
                for each in (same, mine)
            )
            if same == mine:
                return task
    return None


def _network(network: Network, parts: int, scale: int) -> dict[str, Any]:
    def of_links(values: Rows) -> Any:
        return int(values[0]) if values.size and bool((values == values[0]).all()) else values.tolist()

    found = {
        "nodes": network.node_count,
        "ranks": network.terminal_count,
        "source": network.link_source.tolist(),
        "target": network.link_target.tolist(),
        "capacity": of_links(network.link_capacity),
        "occupancy": of_links(network.link_occupancy.astype(np.int64) * scale),
        "latency": of_links(network.link_latency.astype(np.int64) * parts * scale),
    }
    ports = network.shared_ports
    if ports is not None:
        found["shared"] = [
            {
                "links": np.flatnonzero(side == p).tolist(),
                "capacity": int(np.asarray(ports.capacity)[p]),
                "occupancy": int(np.asarray(ports.occupancy)[p]) * scale,
                "receiving": receiving,
            }
            for side, receiving in ((ports.sending, False), (ports.receiving, True))
            for p in range(ports.count)
            if bool((side == p).any())
        ]
    return found


def _rules(rules: Rules) -> dict[str, Any]:
    return {
        "send": 1 if rules.send_limited else None,
        "receive": 1 if rules.receive_limited else None,
        "cut_through": rules.cut_through,
        "switches_copy": rules.replication,
        "switches_add": rules.reduction,
        "buffer": rules.buffer,
        "buffer_counts": "transit" if rules.buffer is None else rules.buffer_counts,
    }


def _task(schedule: Schedule) -> tuple[list[dict[str, Any]], Rows]:
    """Return the items of a certificate, and for each packet of the schedule its number there.

    What is sent on once another message is complete at its origin is of one item with that: its sum goes to all who
    get either. What a node has for itself alone is of no item, number -1.
    """
    messages, table = schedule.messages, schedule.packets
    everyone = schedule.network.terminal_count
    after = np.full(messages.count, -1) if messages.after is None else messages.after
    first = after < 0
    if (~first[after[~first]]).any() or (messages.discipline[after[~first]] != COMBINE).any():
        raise ScheduleError("messages that wait for others that are no sums have no certificate yet")
    onward = {int(after[m]): m for m in np.flatnonzero(~first).tolist()}
    if len(onward) < int((~first).sum()):
        raise ScheduleError("several messages that wait for one have no certificate yet")
    sizes = np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes
    each = sizes * schedule.parts // schedule.generations
    items: list[dict[str, Any]] = []
    begins = np.full(messages.count, -1, np.int64)
    total = 0
    for m in np.flatnonzero(first).tolist():
        item = _item(messages, m, onward.get(m), everyone, int(each[m]) * schedule.generations)
        if item["to"] == [] or (item["from"] == item["to"] and len(item["to"]) == 1):
            continue
        if items and {**items[-1], "packets": 0} == {**item, "packets": 0}:
            items[-1]["packets"] += item["packets"]
        else:
            items.append(item)
        begins[m] = total
        total += int(each[m])
    for m, n in onward.items():
        begins[n] = begins[m]
        if each[m] != each[n]:
            raise ScheduleError("a result of another number of packets than its sum has no certificate")
    rows = message_rows(messages, table)
    return items, np.where(begins[rows] < 0, -1, begins[rows] + table.part)


def _item(messages: Messages, m: int, n: int | None, ranks: int, packets: int) -> dict[str, Any]:
    """Return the item of a message m, and of n that sends on its sum."""

    def ends(row: int) -> list[int]:
        return [int(v) for v in messages.targets_of(row, ranks)]

    origin, kind = int(messages.origin[m]), messages.discipline[m]
    if kind == ALLCOMBINE:
        return {"kind": "sum", "from": ends(m), "to": ends(m), "packets": packets}
    if kind == COMBINE:
        goals = sorted({origin, *(() if n is None else ends(n))})
        return {"kind": "sum", "from": ends(m), "to": goals, "packets": packets}
    return {"kind": "copy", "from": [origin], "to": [v for v in ends(m) if v != origin], "packets": packets}


def _rows(
    schedule: Schedule, of_packet: Rows, items: list[dict[str, Any]]
) -> tuple[Rows, list[list[int]], list[tuple[int, int, list[int]]]]:
    """Return the rows of the certificate, each after what it carries on; what each carries, as rows of these; results.

    Control packets, and packets of no item, are left out.
    """
    network, rules = schedule.network, schedule.rules.on(schedule.network)
    switches = network.terminal_count < network.node_count
    keep: Rows = np.flatnonzero(np.append(of_packet, -1)[schedule.packet] >= 0)
    carries = np.full(schedule.stored_hops, -1, np.int64)
    state = ReplayState(schedule)
    kind = np.broadcast_to(state.kind, state.origin.shape)
    named = switches and not (rules.replication and rules.reduction)
    if schedule.repeats is not None or (named and (kind >= COMBINE).any()):
        state.kind, state.summed = np.where(kind == COMBINE, PARTIAL_SUMS, kind).astype(np.uint8), True
        carries[:] = replay_timed(schedule, state, 0).carries_on
        if schedule.repeats is not None:
            carries = np.where(schedule.repeats < -1, schedule.repeats, carries)
    results = named and schedule.messages.after is not None and not rules.reduction
    if named and (not rules.replication or results):
        _carry_copies(schedule, keep[kind[schedule.packet[keep]] < COMBINE], carries)
    if rules.cut_through and switches:
        keep = _in_order(schedule, keep, carries)
    place = np.full(schedule.stored_hops, -1)
    place[keep] = np.arange(keep.size)
    held = _Held(schedule, keep, np.append(of_packet, 0)[schedule.packet[keep]], items)
    return keep, held.parts(np.where(carries >= 0, place[carries], carries)[keep].tolist()), held.results(items)


Part = tuple[int, int, int]  # the set of contributions in what a row brought, when all of it is there, and the row


class _Held:
    """What nodes have of packets, as sets of contributions and the rows that brought them.

    A node adds what comes to what it has if they have nothing in common. What contains all that was there takes its
    place, and what is contained in it is ignored.
    """

    def __init__(self, schedule: Schedule, rows: Rows, packet: Rows, items: list[dict[str, Any]]) -> None:
        network, rules = schedule.network, schedule.rules.on(schedule.network)
        ends, heads = _arrivals(schedule)
        link = schedule.link[rows]
        self.slot, self.packet = schedule.slot[rows].tolist(), packet.tolist()
        self.ends, self.heads = ends[rows].tolist(), heads[rows].tolist()
        self.source, self.target = network.link_source[link].tolist(), network.link_target[link].tolist()
        self.item = [i for i, x in enumerate(items) for _ in range(x["packets"] // schedule.generations)]
        self.own = [{v: 1 << (k if x["kind"] == "sum" else 0) for k, v in enumerate(x["from"])} for x in items]
        self.ranks, self.copies = network.terminal_count, rules.replication
        self.everything = _rules(rules)["buffer_counts"] == "all"
        self.held: dict[tuple[int, int], list[Part]] = {}
        self.was: dict[tuple[int, int], list[tuple[int, list[Part]]]] = {}
        self.coming: dict[tuple[int, int], list[tuple[int, Part]]] = {}

    def parts(self, carries: list[int]) -> list[list[int]]:
        """Return the rows, -1 for the node's own contribution, that each row adds up.

        It carries what is there (-1), or was there in slot s (-2 - s), or what row k brought to its node or took there.
        """
        found: list[list[int]] = []
        sets: list[int] = []
        self.was = {(self.packet[row], self.source[row]): [] for row, c in enumerate(carries) if c < -1}
        passed = {c for row, c in enumerate(carries) if c >= 0 and self.target[c] == self.source[row]}
        for row, c in enumerate(carries):
            key = self.packet[row], self.source[row]
            if c >= 0:
                rows, has = ([c] if c in passed and self.target[c] == key[1] else found[c]), sets[c]
            else:
                now = self.slot[row] if c == -1 else -2 - c
                there = self.settled(key, now)
                if c < -1:
                    there = [each for time, each in self.was[key] if time <= now][-1]
                rows, has = [k for _, _, k in there], sum(part for part, _, _ in there)
                if key[1] >= self.ranks and not self.copies:
                    self.held[key] = []
            found.append(rows)
            sets.append(has)
            if row not in passed:
                part = has, self.ends[row], row
                self.coming.setdefault((key[0], self.target[row]), []).append((self.heads[row], part))
        return found

    def results(self, items: list[dict[str, Any]]) -> list[tuple[int, int, list[int]]]:
        """Return packet, node and rows of what nodes have in the end: sums and, where buffers hold all, copies."""
        found = []
        first: dict[tuple[int, int], int] = {}
        for row in np.argsort(self.ends, kind="stable").tolist():
            first.setdefault((self.packet[row], self.target[row]), row)
        for packet, i in enumerate(self.item):
            for node in items[i]["to"]:
                if items[i]["kind"] == "sum":
                    found.append((packet, node, [row for _, _, row in self.settled((packet, node), 2**62)]))
                elif self.everything and (packet, node) in first:
                    found.append((packet, node, [first[packet, node]]))
        return found

    def settled(self, key: tuple[int, int], until: int) -> list[Part]:
        """Return what a node has of a packet once everything that is usable by slot `until` is added to it."""
        if key not in self.held:
            has = self.own[self.item[key[0]]].get(key[1], 0)
            self.held[key] = [(has, -1, -1)] if has else []
            if key in self.was:
                self.was[key].append((-1, self.held[key]))
        coming = sorted(self.coming.pop(key, ()), key=lambda each: (each[0], -each[1][0].bit_count(), each[1][1]))
        for time, together in itertools.groupby((each for each in coming if each[0] <= until), lambda each: each[0]):
            self.held[key] = _added(self.held[key], [part for _, part in together])
            if key in self.was:
                self.was[key].append((time, self.held[key]))
        later = [each for each in coming if each[0] > until]
        if later:
            self.coming[key] = later
        return self.held[key]


def _added(held: list[Part], arrivals: list[Part]) -> list[Part]:
    """Return what a node has when parts come to it at one time, the largest sets first."""
    new: list[Part] = []
    for part in arrivals:
        if not any(part[0] | other == other for other, _, _ in new):
            new.append(part)
    has, union = sum(part[0] for part in held), sum(part[0] for part in new)
    if union == has:
        return held if max(part[1] for part in held) <= max(part[1] for part in new) else new
    if union | has == union:
        return new
    return held + [part for part in new if part[0] | has != has]


def _carry_copies(schedule: Schedule, rows: Rows, carries: npt.NDArray[np.int64]) -> None:
    """Let each transfer of a copied packet from a switch carry on one that came: if it can, one that none does yet.

    Of those whose tails can follow the one that comes last.
    """
    network, copying = schedule.network, schedule.rules.on(schedule.network).replication
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    ends, heads = _arrivals(schedule)
    slot, gone = schedule.slot, schedule.slot + network.link_occupancy[schedule.link].astype(np.int64)
    came: dict[tuple[int, int], list[int]] = {}
    into = rows[target[rows] >= network.terminal_count]
    for k in into[np.argsort(heads[into], kind="stable")].tolist():
        came.setdefault((int(schedule.packet[k]), int(target[k])), []).append(k)
    for k in rows[source[rows] >= network.terminal_count].tolist():
        there = came.get((int(schedule.packet[k]), int(source[k])), [])
        ready = [j for j in there if heads[j] <= slot[k] and ends[j] <= gone[k]]
        if ready:
            carries[k] = best = max(ready, key=lambda j: ends[j])
            if not copying:
                there.remove(best)


def _arrivals(schedule: Schedule) -> tuple[Rows, Rows]:
    """Return when all of each packet is at the end of its link, and from when on it can be sent on there."""
    network = schedule.network
    ends = hop_ends(network, schedule.parts, schedule.slot, schedule.link)
    if not schedule.rules.on(network).cut_through:
        return ends, ends
    head = schedule.slot + network.link_latency[schedule.link].astype(np.int64) * schedule.parts
    return ends, np.where(network.link_target[schedule.link] >= network.terminal_count, head, ends)


def _in_order(schedule: Schedule, keep: Rows, carries: Rows) -> Rows:
    """Return rows with those of a slot in an order in which each comes after what it may carry on in that slot."""
    network = schedule.network
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    _, heads = _arrivals(schedule)
    passed = set(carries[keep].tolist())
    order: list[int] = []
    for group in np.split(keep, np.flatnonzero(np.diff(schedule.slot[keep])) + 1):
        came: dict[tuple[int, int], list[int]] = {}
        for k in group[heads[group] == schedule.slot[group]].tolist():
            if k not in passed:
                came.setdefault((int(schedule.packet[k]), int(target[k])), []).append(k)
        begun: set[int] = set()
        inside = set(group.tolist())
        for first in group.tolist():
            stack = [first]
            while stack:
                k = stack[-1]
                begun.add(k)
                own = came.get((int(schedule.packet[k]), int(source[k])), [])
                needs = own if carries[k] < 0 else [int(carries[k])]
                waiting = [j for j in needs if j in inside and j not in begun]
                stack += waiting[:1]
                if not waiting:
                    stack.pop()
                    if k in inside:
                        order.append(k)
                        inside.discard(k)
    return np.array(order, np.int64)


def _symmetry(symmetry: Symmetry) -> dict[str, Any]:
    """Return generators of a symmetry, and maps that commute with them and lead from node 0 to all that it moves.

    A rank v is g(r) for one g of the symmetry and the representative r of its orbit. For each generator h the map that
    takes g(r) to g(h(r)) commutes with the symmetry, and so does one that takes g(r) to g(x), for any node x of each r:
    the next representative, or one of switches. Switches are left where they are.
    """
    nodes, ranks = np.arange(symmetry.network.node_count), symmetry.network.terminal_count
    names, first, orbit = _generators(symmetry), symmetry.terminals, symmetry.orbit[:ranks]
    by = symmetry.taking(first[orbit], nodes[:ranks])
    generators = [symmetry.translate(np.full(nodes.size, h), nodes) for h in names]
    images = [g[first] for g in generators]
    if first.size > 1:
        images.append(np.roll(first, -1))
    moved = [w for w in symmetry.representatives[first.size :].tolist() if any(g[w] != w for g in generators)]
    images += [np.resize(moved[k : k + first.size], first.size) for k in range(0, len(moved), first.size)]
    return {
        "generators": [g.tolist() for g in generators],
        "commuting": [[*symmetry.translate(by, image[orbit]).tolist(), *range(ranks, nodes.size)] for image in images],
    }


def _generators(symmetry: Symmetry) -> list[int]:
    """Return translations that generate all of a symmetry, few of them, by what they make of node 0."""
    chosen: list[int] = []
    member = np.zeros(symmetry.network.node_count, bool)
    member[0] = True
    near = symmetry.network.link_target[symmetry.network.link_source == 0]
    wanted = np.concatenate([near[np.isin(near, symmetry.elements)], symmetry.elements])
    for g in wanted.tolist():
        if member[g]:
            continue
        chosen.append(g)
        frontier = np.flatnonzero(member)
        while frontier.size:
            reached = np.unique(symmetry.translate(frontier[:, None], np.array(chosen)[None, :]))
            frontier = reached[~member[reached]]
            member[frontier] = True
        if int(member.sum()) == symmetry.order:
            break
    return chosen
