"""The checker, which says whether a schedule carries out its task under its rules.

It shares no code with the builders. It asks the task for the messages, replays every hop once, and compares what
every node then holds with what the task demands. An invariant schedule is checked on its stored orbit alone, and one
that repeats on as many generations as are on their way at one time: packets of different ones share nothing but links,
ports and buffers, and what more generations find in use there, these find, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, MOVE
from gossamer.schedules.hop_table import HopTable, hop_ends
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.schedule import RepairedSchedule, RunSchedule, Schedule
from gossamer.verification.metrics import measure_buffers
from gossamer.verification.partial_sums import WASTED
from gossamer.verification.repairs import follow_repairs
from gossamer.verification.replay_inputs import PARTIAL_SUMS, ReplayState, plain_schedule
from gossamer.verification.timed_replay import HOP_KINDS, carried_sums, message_spans, replay_timed
from gossamer.verification.violations import KINDS, Verification, Violation, at_hop, named_count, unmet_goal

# What the checker asks about order: whether anything leaves before what it depends on is complete.
#
# There are two kinds of dependence: of a message on another one that ends at its origin (the result of a reduction),
# and of all that a node starts in one collective on all that another one brings to it.

Rows = npt.NDArray[np.int64]

Early = tuple[npt.NDArray[np.intp], Callable[[int], tuple[int, str]]]
"""What leaves early, and for each the slot in which it does and the fact in words."""

_NONE = np.zeros(0, np.intp)

_OF_SUMS = ("causality", "duplicate", "lost contribution", "delivery")
"""What may be no violation where partial sums are sent more than once."""


def early_messages(schedule: HopTable, state: ReplayState) -> Early:
    """Return the messages (or their packets) that leave before what they come after is complete at their origin.

    O(hops).
    """
    messages = schedule.messages
    if messages.after is None:
        return _NONE, _nothing
    if messages.partwise and schedule.packets.count > messages.count:
        return _early_packets(schedule, state)
    after = messages.after
    first, last = _spans(schedule, state)
    ids = messages.ids

    def told(m: int) -> tuple[int, str]:
        need = int(after[m])
        fact = f"message {ids[m]} leaves before message {ids[need]} is complete in slot {last[need]}"
        return int(first[m]), f"slot {first[m]}: {fact}"

    return np.flatnonzero((after >= 0) & (first <= last[np.maximum(after, 0)])), told


def _nothing(_: int) -> tuple[int, str]:
    raise IndexError


def _spans(schedule: HopTable, state: ReplayState) -> tuple[Rows, Rows]:
    """Return the first and the last slot of the hops of each message; 2**31 - 1 and -1 where it has none."""
    from gossamer.verification import replay_kernels

    if not schedule.network.plain:
        return message_spans(schedule, state)
    rows = schedule.messages.count
    first, last = np.full(rows, 2**31 - 1, np.int64), np.full(rows, -1, np.int64)
    replay_kernels.message_spans(schedule.slot, schedule.packet, state.row_of, first, last)
    return first, last


def _early_packets(schedule: HopTable, state: ReplayState) -> Early:
    """Return the packets that leave before the same packet of the message that theirs comes after is complete."""
    messages, table = schedule.messages, schedule.packets
    assert messages.after is not None
    count = table.count
    begun, ended = np.full(count, 2**31 - 1, np.int64), np.full(count, -1, np.int64)
    data = schedule.packet != CONTROL
    packet = schedule.packet[data]
    ends = hop_ends(schedule.network, schedule.parts, schedule.slot[data], schedule.link[data]) - 1
    np.minimum.at(begun, packet, schedule.slot[data].astype(np.int64))
    np.maximum.at(ended, packet, ends)
    first = messages.first_packet() * schedule.parts
    packet_at = np.full(int(first[-1]), -1, np.int64)
    packet_at[first[state.row_of] + table.part] = np.arange(count)
    need = messages.after[state.row_of]
    known = np.flatnonzero((need >= 0) & (table.part < np.diff(first)[np.maximum(need, 0)]))
    awaited = np.full(count, -1, np.int64)
    awaited[known] = packet_at[first[need[known]] + table.part[known]]
    early = np.flatnonzero((awaited >= 0) & (begun <= ended[np.maximum(awaited, 0)]))

    def told(p: int) -> tuple[int, str]:
        q = int(awaited[p])
        what = f"packet {p} of message {table.message[p]} leaves"
        return int(begun[p]), f"slot {begun[p]}: {what} before packet {q} is complete in slot {ended[q]}"

    return early, told


def early_starts(schedule: HopTable, state: ReplayState) -> Early:
    """Return the hops by which a node begins with one collective before all that another brings to it is there.

    O(hops log hops + targets log targets); nothing where no collective waits.
    """
    messages, network = schedule.messages, schedule.network
    if not messages.waits or messages.stage is None:
        return _NONE, _nothing
    hop = np.flatnonzero(schedule.packet != CONTROL)
    packet, link = schedule.packet[hop].astype(np.int64), schedule.link[hop]
    row = state.row_of[packet].astype(np.int64)
    stage = messages.stage[row].astype(np.int64)
    kind = messages.discipline[row]
    source, target = network.link_source[link].astype(np.int64), network.link_target[link].astype(np.int64)
    end = hop_ends(network, schedule.parts, schedule.slot[hop], link)
    n = network.node_count

    done = np.zeros(messages.stages * n, np.int64)  # by stage and node
    listed = _listed(schedule, n)
    ending = np.where(kind == COMBINE, target == messages.origin[row], _among(row, target, listed, network))
    brought = np.flatnonzero(ending)
    order = brought[np.lexsort((end[brought], target[brought], packet[brought]))]
    # a copy is there when it first comes; of what is moved or combined the last arrival counts
    again = np.zeros(order.size, np.bool_)
    again[1:] = (packet[order][1:] == packet[order][:-1]) & (target[order][1:] == target[order][:-1])
    order = order[~(again & (kind[order] == COPY))]
    np.maximum.at(done, stage[order] * n + target[order], end[order])

    sharing = np.isin(kind, (COMBINE, ALLCOMBINE))
    starting = np.where(sharing, _among(row, source, listed, network), source == messages.origin[row])
    wrong = np.zeros(hop.size, np.bool_)
    for later, earlier in messages.waits:
        wrong |= starting & (stage == later) & (schedule.slot[hop] < done[earlier * n + source])
    early = hop[wrong]

    def told(h: int) -> tuple[int, str]:
        p = int(schedule.packet[h])
        node = int(network.link_source[schedule.link[h]])
        fact = f"node {network.node_name(node)} begins with packet {p} before all is there that it waits for"
        return int(schedule.slot[h]), f"slot {schedule.slot[h]}: {fact}"

    return early, told


def _listed(schedule: HopTable, n: int) -> Rows | None:
    """Return every (row of a message, target) as row times n plus target, ascending; None where all are targets."""
    messages = schedule.messages
    if messages.targets is None or messages.target_start is None:
        return None
    rows = np.repeat(np.arange(messages.count, dtype=np.int64), np.diff(messages.target_start))
    return np.sort(rows * n + messages.targets)


def _among(row: Rows, node: Rows, listed: Rows | None, network: Network) -> npt.NDArray[np.bool_]:
    """Return whether each node is a target, or a contributor, of the message of its row."""
    if listed is None:
        return np.asarray(node < network.terminal_count)
    keys = row * network.node_count + node
    place = np.minimum(np.searchsorted(listed, keys), max(listed.size - 1, 0))
    return listed[place] == keys if listed.size else np.zeros(keys.size, np.bool_)


def verify(schedule: Schedule, limit: int = 20) -> Verification:
    """Check every rule and goal of a schedule and list what is broken.

    Parameters
    ----------
    schedule : Schedule
        Explicit, invariant or repeating.
    limit : int
        Violations to name, 0 or more and at most a million; the rest are counted.

    Returns
    -------
    Verification
        ``ok`` when the schedule is valid.

    Raises
    ------
    ScheduleError
        If `limit` is negative.

    Notes
    -----
    Rules, by kind. *causality*: a node sends only what it holds since an earlier slot. *link capacity*, *send port*,
    *receive port*: at most what network and rules allow in each slot. *duplicate*: a node gets a packet that it has, a
    personalized packet leaves twice, or a contribution would count twice in a partial sum
    (`gossamer.verification.partial_sums`); a node may get a packet again if it sent it on in between and need not have
    kept it: a packet for listed targets, or at a node that is no terminal any; but not from switches that cut through
    and send it back in the slot in which it left. *lost contribution*: a contribution
    arrives where the combined value has left, and no node sends twice. *delivery*: a goal of the task is not met at the
    end. *buffer*: a node holds more packets than the rules allow, counted once for each run of slot boundaries; checked
    only where nothing else is broken. *wrong payload*: the packet table is not exactly the task's messages in their
    parts; then hops are not replayed. *slot length*: a phase's slots are shorter than what hops in them. *splitting*:
    parts although the rules have unsegmented messages. *order*: a message leaves before the one that it depends on is
    complete. *unfinished*: a hop ends after the last slot of the phases. *control packet*: one hops where links take
    time or share ports. *shared port*: more packets at once in a port that links share than it passes.

    A hop that starts in slot t occupies its link in slots t to t + occupancy - 1; its port at the sender as long, and
    the one at the receiver as long from t + latency on. What it brings can go on from slot t + occupancy + latency on,
    or, at a switch that cuts through, as soon as its head is there (slot t + latency) if its tail is then not
    overtaken. In one slot the hops of a packet through switches must not wait for each other in a circle: a hop waits
    for what comes to its switch, one that repeats another (`gossamer.Schedule`) for that one alone. Where switches do
    not replicate, or do not reduce, each departure from a switch uses up an arrival, nothing there is a duplicate, and
    every partial result must leave again.

    Time O(hops + packets * nodes / 8) with one bit for each packet and node where packets are copied, O(hops +
    packets) where they are not. Invariant schedules: the same in terms of the stored hops and packets. On links that
    take time, and through switches with rules of their own: O(hops log hops + packets * nodes) time, O(hops) memory.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 0], [0, 1], [0, 0])
    >>> print(gossamer.verify(s))
    invalid: 2 violations (1 causality, 1 delivery)
      causality: slot 0: (1)->(2) carries packet 0, which node (1) does not hold yet
      delivery: node (2) never gets packet 0 (message 0, part 0)
    """
    limit = named_count(limit)
    began = time.process_time()
    stays = schedule.rules.buffer is not None and schedule.rules.buffer_counts != "transit"
    every, alike = schedule.hop_count, "symmetry" if schedule.invariant else "repetition"
    note = ""
    if isinstance(schedule, RunSchedule):
        if _runs_are_valid(schedule):
            return Verification((), {}, schedule.stored_hops, time.process_time() - began, 0, every, alike)
        schedule, note = schedule.expand(), "runs of packets were written out and checked packet by packet"
    if isinstance(schedule, RepairedSchedule):
        if verify(schedule.sound, 0) and follow_repairs(schedule)[0]:
            checked = schedule.sound.stored_hops + int(schedule.turn.size)
            return Verification((), {}, checked, time.process_time() - began, 0, every, "symmetry")
        schedule, note = schedule.expand(), "one node and its repairs were written out and checked packet by packet"
    limited = schedule.rules.send_limited or schedule.rules.receive_limited or schedule.rules.buffer is not None
    if schedule.symmetry is not None and not schedule.symmetry.free and limited:
        schedule = schedule.expand()  # a switch that stays where it is has the hops of several translates at once
    schedule = schedule.unrolled(None if stays else schedule.generations_at_once)
    state = ReplayState(schedule)
    found: list[Violation] = []
    counts = dict.fromkeys(KINDS, 0)

    _check_table(schedule, state, limit, found, counts)
    _check_slot_lengths(schedule, found, counts)
    wasted = 0
    if counts["wrong payload"] == 0:
        if schedule.repeats is not None:
            state.judge_sums()
            _check_repeats(schedule, state, limit, found, counts)
        named, ahead = len(found), dict(counts)
        replay = _check_hops if plain_schedule(schedule, state) else _check_timed_hops
        wasted = replay(schedule, state, limit, found, counts)
        combined = bool((state.kind == COMBINE).any())
        if combined and any(counts[kind] for kind in _OF_SUMS) and state.judge_sums():
            del found[named:]  # again, with sets of contributions
            counts.update(ahead)
            wasted = _check_timed_hops(schedule, state, limit, found, counts)
        _check_order(schedule, state, limit, found, counts)
        if schedule.rules.buffer is not None and not any(counts.values()):
            _check_buffers(schedule, state, limit, found, counts)
    counts = {k: n for k, n in counts.items() if n}
    seconds = time.process_time() - began
    return Verification(tuple(found[:limit]), counts, schedule.stored_hops, seconds, wasted, every, alike, note)


def _runs_are_valid(schedule: RunSchedule) -> bool:
    """Return whether runs are known to be valid as they are, and so all their packets; only those that are moved.

    A run occupies a link and its ports for as long as its packets do, one after the other, and goes on when all of them
    are there. So what holds for packets that take as long as runs holds for the packets of the runs.
    """
    runs, network = schedule.runs, schedule.network
    mine, whole = runs.messages, schedule.messages
    passing = schedule.rules.cut_through and network.terminal_count < network.node_count
    if schedule.rules.buffer is not None or network.shared_ports is not None or passing:
        return False
    if whole.waits or whole.after is not None or mine.targets is None or whole.targets is None:
        return False
    ends = (mine.ids, whole.ids), (mine.origin, whole.origin), (mine.targets, whole.targets)
    if not all(np.array_equal(some, others) for some, others in ends):
        return False
    state, found, counts = ReplayState(runs), list[Violation](), dict.fromkeys(KINDS, 0)
    if bool((whole.discipline != MOVE).any()) or bool((state.kind != MOVE).any()) or bool((state.row_of < 0).any()):
        return False
    sizes = np.ones(whole.count, np.int64) if whole.sizes is None else whole.sizes
    _check_table(runs, state, 0, found, counts)
    _check_slot_lengths(runs, found, counts)
    if any(counts.values()) or not np.array_equal(
        np.bincount(state.row_of, schedule.length, whole.count).astype(np.int64), sizes
    ):
        return False
    replayed = replay_timed(runs.replace(phases=schedule.phases), state, 0, schedule.length)
    return not replayed.wrong.any() and not replayed.unmet_count


def _check_repeats(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> None:
    """Check that hops which repeat others carry partial sums: of what is copied or moved there is no older one."""
    assert schedule.repeats is not None
    kind = np.append(np.broadcast_to(state.kind, state.origin.shape), COPY)[schedule.packet]
    wrong = np.flatnonzero((schedule.repeats != -1) & (kind < ALLCOMBINE))
    counts["causality"] += int(wrong.size)
    for h in wrong[:limit].tolist():
        slot, packet = int(schedule.slot[h]), int(schedule.packet[h])
        link = int(schedule.link[h])
        fact = f"hop {h} carries something older, but packet {packet} is no partial sum"
        text = f"slot {slot}: {schedule.network.link_name(link)}: {fact}"
        found.append(Violation("causality", text, slot, link=link, packets=(packet,)))


def _check_hops(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> int:
    """Replay all hops slot by slot, and compare what every node then holds with what it should; nothing is wasted."""
    from gossamer.verification import replay_kernels

    network = schedule.network
    held, sent = state.holding_at_start(), state.bits()
    contributing = network.terminal_count if state.to_all else 0
    location = state.origin.astype(np.int32)
    kinds, hops = np.zeros(limit, np.int64), np.zeros(limit, np.int64)
    totals = np.zeros(replay_kernels.COUNTED, np.int64)
    written = replay_kernels.replay(
        schedule.slot, schedule.link, schedule.packet, network.link_source, network.link_target, state.capacity,
        state.orbit, state.link_class, state.degree, state.classes, state.node_classes,
        schedule.rules.send_limited, schedule.rules.receive_limited, state.kind, state.origin,
        contributing, location, held, sent, state.row_bytes, limit, kinds, hops, totals,
    )  # fmt: skip
    for k, n in enumerate(totals):
        counts[KINDS[k]] += int(n)
    found += [at_hop(schedule, KINDS[kinds[i]], int(hops[i])) for i in range(written)]
    packets, nodes = np.zeros(limit, np.int64), np.zeros(limit, np.int64)
    written, total = replay_kernels.unmet(
        state.kind, state.origin, state.row_of, state.target_start, state.targets, state.to_all,
        network.node_count, contributing, location, held, sent, state.row_bytes, limit, packets, nodes,
    )  # fmt: skip
    counts["delivery"] += int(total)
    found += [
        unmet_goal(schedule, int(p), int(v), int(location[p]))
        for p, v in zip(packets[:written], nodes[:written], strict=True)
    ]
    return 0


def _check_timed_hops(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> int:
    """Replay all hops packet by packet: with times, through switches with rules of their own, or of partial sums.

    Return how many arrivals of partial sums brought nothing new.
    """
    control = np.flatnonzero(schedule.packet == CONTROL) if not schedule.network.plain else np.zeros(0, np.intp)
    counts["control packet"] += int(control.size)
    found += [at_hop(schedule, "control packet", int(h)) for h in control[:limit]]
    replayed = replay_timed(schedule, state, limit)
    kinds = [(kind, np.uint8(1 << bit)) for bit, kind in enumerate(HOP_KINDS)]
    for kind, bit in kinds:
        counts[kind] += int(np.count_nonzero(replayed.wrong & bit))
    for h in np.flatnonzero(replayed.wrong)[: max(limit - len(found), 0)].tolist():
        found += [
            at_hop(schedule, kind, h, _counted_twice(schedule, state, h) if kind == "duplicate" else None)
            for kind, bit in kinds
            if replayed.wrong[h] & bit
        ]
    counts["delivery"] += replayed.unmet_count
    found += [unmet_goal(schedule, *map(int, goal)) for goal in replayed.unmet.T]
    return int(np.count_nonzero(replayed.fate == WASTED))


def _counted_twice(schedule: Schedule, state: ReplayState, hop: int) -> int | None:
    """Return whose contribution a hop brings to a node that has it counted already; None if it carries no sum."""
    packet = int(schedule.packet[hop])
    if np.broadcast_to(state.kind, state.origin.shape)[packet] not in (ALLCOMBINE, PARTIAL_SUMS):
        return None
    sums = carried_sums(schedule, packet)
    here = int(np.flatnonzero(sums.hops == hop)[0])
    return int(np.flatnonzero(sums.held[here] & sums.contributions[here])[0])


def _check_table(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> None:
    """Compare the packet table with the task's messages in their parts."""
    from gossamer.verification import replay_kernels

    table, messages = schedule.packets, schedule.messages
    if schedule.parts > 1 and not schedule.rules.segmented:
        counts["splitting"] += 1
        found.append(Violation("splitting", f"messages are cut into {schedule.parts} parts; the rules have whole ones"))
    cells = messages.packet_count * schedule.parts
    uneven = np.zeros(0, np.int64) if messages.sizes is None else messages.first_packet() * schedule.parts
    if table.count == cells and replay_kernels.each_cell_once(
        state.row_of, table.part, table.origin, state.origin, schedule.parts, uneven, np.zeros(cells, np.bool_)
    ):
        return
    first = messages.first_packet() * schedule.parts

    def report(packets: npt.NDArray[np.intp], fact: str) -> None:
        counts["wrong payload"] += int(packets.size)
        for p in packets[: max(limit - len(found), 0)].tolist():
            most = int(first[state.row_of[p] + 1] - first[state.row_of[p]]) - 1
            names = {"m": int(table.message[p]), "part": int(table.part[p]), "o": int(table.origin[p]), "most": most}
            found.append(Violation("wrong payload", fact.format(p=p, **names), packets=(p,)))

    unknown = state.row_of < 0
    report(np.flatnonzero(unknown), "packet {p} is of message {m}, which the task does not have")
    parts = np.diff(first)[np.maximum(state.row_of, 0)] if messages.count else np.zeros(table.count, np.int64)
    bad_part = ~unknown & ((table.part < 0) | (table.part >= parts))
    report(np.flatnonzero(bad_part), "packet {p} is part {part}; parts are 0..{most}")
    good = ~unknown & ~bad_part
    report(np.flatnonzero(good & (table.origin != state.origin)), "packet {p} of message {m} cannot start at node {o}")
    rows = np.flatnonzero(good)
    cell = first[state.row_of[rows]] + table.part[rows]
    carried, once = np.unique(cell, return_index=True)
    report(np.setdiff1d(rows, rows[once]), "packet {p} repeats part {part} of message {m}")
    counts["wrong payload"] += cells - int(carried.size)
    absent = np.setdiff1d(np.arange(min(cells, carried.size + limit)), carried)
    for c in absent[: max(limit - len(found), 0)].tolist():
        m = int(np.searchsorted(first, c, "right")) - 1
        text = f"no packet carries part {c - int(first[m])} of message {int(messages.ids[m])}"
        found.append(Violation("wrong payload", text))


def _check_slot_lengths(schedule: Schedule, found: list[Violation], counts: dict[str, int]) -> None:
    """Check that every phase's slots are long enough for what hops in them."""
    needed = Fraction(1, schedule.parts)
    for i, phase in enumerate(schedule.phases):
        if not schedule.network.plain:
            if phase.slots and phase.slot_length != needed:
                counts["slot length"] += 1
                text = f"phase {phase.name!r} has slots of {phase.slot_length} step; links count time in {needed} step"
                found.append(Violation("slot length", text, slot=phase.first_slot))
            continue
        if phase.slot_length >= max(needed, schedule.cost.control_time):
            continue
        packets = schedule.packet[schedule.phase_hops(i)]
        for least, what, hops in (
            (needed, f"a part of 1/{schedule.parts} message" if schedule.parts > 1 else "a packet", packets != CONTROL),
            (schedule.cost.control_time, "a control packet", packets == CONTROL),
        ):
            if phase.slot_length < least and bool(hops.any()):
                counts["slot length"] += 1
                text = f"phase {phase.name!r} has slots of {phase.slot_length} step; {what} needs {least}"
                found.append(Violation("slot length", text, slot=phase.first_slot))


def _check_order(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> None:
    """Check that what depends on something leaves only after that is complete."""
    for early, text in (early_messages(schedule, state), early_starts(schedule, state)):
        counts["order"] += int(early.size)
        for i in early[: max(limit - len(found), 0)].tolist():
            slot, fact = text(i)
            found.append(Violation("order", fact, slot=slot))


def _check_buffers(
    schedule: Schedule, state: ReplayState, limit: int, found: list[Violation], counts: dict[str, int]
) -> None:
    """Check the buffer limit at every slot boundary."""
    rules = schedule.rules
    allowed = rules.buffer or 0
    _, over, rows = measure_buffers(schedule, state, rules.buffer_counts, allowed, limit)
    counts["buffer"] += over
    for slot, node, holds in rows:
        when = f"before slot {slot}" if slot < schedule.slot_count else "at the end"
        text = f"{when}: node {schedule.network.node_name(node)} holds {holds} packets, buffer {allowed}"
        found.append(Violation("buffer", text, slot=slot, nodes=(node,)))
