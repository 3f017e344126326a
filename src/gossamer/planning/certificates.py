"""Certificates: a schedule with its lower bound as plain JSON, which ``gossamer_check.py`` checks by itself.

The format is the page `reference/certificates` of the documentation. What is written here, that program has accepted: a
schedule that it cannot judge gets no certificate, and of the bounds the largest is taken that it can count again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import gossamer_check
from gossamer.atomic_files import whole_file
from gossamer.bounds import Bound, bounds
from gossamer.bounds.witnesses import witnesses_of
from gossamer.errors import ScheduleError
from gossamer.networks.network import Network
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

__all__ = ["bound_certificate", "certificate", "certificate_text", "write_certificate"]

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


def _prove(found: dict[str, Any], case: Case, known: Iterable[Bound], slot: Fraction) -> None:
    """Add to a certificate the largest bound that has a witness, if any has."""
    net = gossamer_check.read_network(found["network"], found["rules"])
    if "symmetry" in found:
        net.group = gossamer_check.read_group(found["symmetry"], net)
    most, text, witness = _proved(case, net, gossamer_check.read_items(found["task"], net), slot, known)
    if witness is not None:
        found["about"]["bound"] = text
        found["claim"]["bound"], found["bound"] = str(most / slot * Fraction(found["time"]["slot"])), witness
        _checked(found)


def _proved(
    case: Case, net: gossamer_check.Net, items: list[gossamer_check.Item], slot: Fraction, known: Iterable[Bound]
) -> tuple[Fraction, str, dict[str, Any] | None]:
    """Return the largest time that a witness of a known bound proves to the checker, with the bound in words.

    Where the cutting of messages is left open, only bounds of all schedules count, if there is any.
    """
    orbits = None if net.group is None else (net.group.orbit, net.group.link_orbit)
    order = sorted(known, key=lambda b: -b.value)
    for wide in (True, False) if isinstance(case.cost, Clock) or not case.whole else (False,):
        best: tuple[Fraction, str, dict[str, Any] | None] = Fraction(0), "", None
        for bound in order:
            for witness in witnesses_of(case, bound, orbits) if bound.value > best[0] else ():
                if wide and (witness["whole"] or witness["blocks"]):
                    break
                try:
                    value = gossamer_check.lower_bound(net, items, witness)[0] * slot
                except gossamer_check.Refused:
                    continue
                if value > best[0]:
                    best = value, bound.text, witness
                if value >= bound.value:
                    break
        if best[0]:
            break
    return best


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
    if schedule.symmetry is not None and not (schedule.symmetry.free and schedule.symmetry.broken is None):
        schedule = schedule.expand()  # the groups of certificates move switches, too
    network, rules, symmetry = schedule.network, schedule.rules.on(schedule.network), schedule.symmetry
    items, of_packet = _items(schedule)
    keep, carries = _rows(schedule, of_packet)
    new = np.append(of_packet, 0)[schedule.packet[keep]]
    transfers: dict[str, Any] = {
        "phases": [{"slots": p.slots, "length": str(p.slot_length * length)} for p in schedule.phases if p.slots],
        "slot": schedule.slot[keep].tolist(),
        "link": schedule.link[keep].tolist(),
        "packet": new.tolist(),
    }
    if (carries != -1).any():
        transfers["carries"] = carries.tolist()
    if schedule.repetition is not None:
        transfers["repetition"] = {"period": schedule.repetition.period, "generations": schedule.generations}
    found = {
        "format": "gossamer-certificate",
        "version": 1,
        "about": {
            "network": network.spec, "task": schedule.task.describe(), "algorithm": schedule.algorithm,
            "written by": f"gossamer {__version__}",
        },
        "network": _network(network, schedule.parts),
        "rules": _rules(rules),
        "time": {
            "unit": "second" if isinstance(schedule.cost, Clock) else "step",
            "slot": str(length / schedule.parts),
        },
        "task": {"items": items},
        "schedule": transfers,
    }  # fmt: skip
    if symmetry is not None:
        found["symmetry"] = _symmetry(symmetry)
    return found


def _network(network: Network, parts: int) -> dict[str, Any]:
    def of_links(values: Rows) -> Any:
        return int(values[0]) if values.size and bool((values == values[0]).all()) else values.tolist()

    found = {
        "nodes": network.node_count,
        "ranks": network.terminal_count,
        "source": network.link_source.tolist(),
        "target": network.link_target.tolist(),
        "capacity": of_links(network.link_capacity),
        "occupancy": of_links(network.link_occupancy),
        "latency": of_links(network.link_latency.astype(np.int64) * parts),
    }
    ports = network.shared_ports
    if ports is not None:
        found["shared"] = [
            {
                "links": np.flatnonzero(side == p).tolist(),
                "capacity": int(np.asarray(ports.capacity)[p]),
                "occupancy": int(np.asarray(ports.occupancy)[p]),
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
        "buffer_counts": rules.buffer_counts,
    }


def _items(schedule: Schedule) -> tuple[list[dict[str, Any]], Rows]:
    """Return the items of a certificate, and for each packet of the schedule its number there.

    What is sent on once another message is complete at its origin is of one item with that: its sum goes to all who
    get either. What a node has for itself alone is of no item, number -1.
    """
    messages, table = schedule.messages, schedule.packets
    everyone = list(range(schedule.network.terminal_count))
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
        if item["to"] == [] or (item["from"] == item["to"] and len(messages.targets_of(m, len(everyone))) == 1):
            continue
        items.append(item)
        begins[m] = total
        total += int(each[m])
    for m, n in onward.items():
        begins[n] = begins[m]
        if each[m] != each[n]:
            raise ScheduleError("a result of another number of packets than its sum has no certificate")
    rows = message_rows(messages, table)
    return items, np.where(begins[rows] < 0, -1, begins[rows] + table.part)


def _item(messages: Messages, m: int, n: int | None, everyone: list[int], packets: int) -> dict[str, Any]:
    """Return the item of a message m, and of n that sends on its sum."""

    def ends(row: int) -> list[int]:
        return [int(v) for v in messages.targets_of(row, len(everyone))]

    def short(nodes: list[int]) -> Any:
        return "all" if len(nodes) == len(everyone) else nodes

    origin, kind = int(messages.origin[m]), messages.discipline[m]
    if kind == ALLCOMBINE:
        return {"kind": "sum", "from": short(ends(m)), "to": short(ends(m)), "packets": packets}
    if kind == COMBINE:
        goals = sorted({origin, *(() if n is None else ends(n))})
        return {"kind": "sum", "from": short(ends(m)), "to": short(goals), "packets": packets}
    goals = [v for v in ends(m) if v != origin]
    everybody = len(goals) == len(everyone) - 1 and len(goals) > 1
    return {"kind": "copy", "from": [origin], "to": "all" if everybody else goals, "packets": packets}


def _rows(schedule: Schedule, of_packet: Rows) -> tuple[Rows, Rows]:
    """Return the rows of the certificate, each after what it carries on, and what each carries, as rows of these.

    Control packets, and packets of no item, are left out. A row that goes on from a switch that does not copy, or does
    not add, names what it carries on.
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
    return keep, np.where(carries >= 0, place[carries], carries)[keep]


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
    """Return generators of a symmetry, and permutations that commute with them and take node 0 to every node.

    A node v is g(r) for one g of the symmetry and the representative r of its orbit. For each generator h the
    permutation that takes g(r) to g(h(r)) commutes with the symmetry, and so does the one that takes it to g(r') with
    r' the next representative.
    """
    nodes = np.arange(symmetry.network.node_count)
    names = _generators(symmetry)
    own = symmetry.representatives[symmetry.orbit]
    by = symmetry.taking(own, nodes)
    commuting = [symmetry.translate(by, symmetry.translate(np.full(nodes.size, h), own)) for h in names]
    if symmetry.orbit_count > 1:
        following = np.roll(symmetry.representatives, -1)[symmetry.orbit]
        commuting.append(symmetry.translate(by, following))
    return {
        "generators": [symmetry.translate(np.full(nodes.size, h), nodes).tolist() for h in names],
        "commuting": [c.tolist() for c in commuting],
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
