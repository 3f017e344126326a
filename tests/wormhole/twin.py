"""A slow checker of wormhole schedules in plain Python, to compare the compiled one with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY
from gossamer.wormhole import WormholeSchedule


def walked(schedule: WormholeSchedule, message: int) -> tuple[list[tuple[int, ...]], tuple[int, ...]] | None:
    """The channels that a message occupies as (coordinates..., dimension, sign), and where it ends; None if illegal."""
    sides, wraps = schedule.channels.sides, schedule.channels.wraps
    at = list(schedule.network.coordinates[schedule.source[message]].tolist())
    move = schedule.displacement[message].tolist()
    if not any(move):
        return None
    path = []
    for i, x in enumerate(move):
        if abs(x) >= sides[i]:
            return None
        sign = 1 if x > 0 else -1
        for _ in range(abs(x)):
            path.append((*at, i, sign))
            at[i] += sign
            if wraps[i]:
                at[i] %= sides[i]
            elif not 0 <= at[i] < sides[i]:
                return None
    return path, tuple(at)


def played(schedule: WormholeSchedule, counts: Counter[str]) -> Iterator[list[tuple[int, int]]]:
    """The messages of each step that have a path, with where they end; what is wrong with paths is counted."""
    number = {tuple(place): v for v, place in enumerate(schedule.network.coordinates.tolist())}
    for step in range(schedule.step_count):
        taken: set[tuple[int, ...]] = set()
        there = []
        for m in [m for m, t in enumerate(schedule.step.tolist()) if t == step]:
            found = walked(schedule, m)
            if found is None:
                counts["displacement"] += 1
                continue
            path, target = found
            counts["channel"] += bool(taken & set(path))
            taken |= set(path)
            there.append((m, number[target]))
        yield there


def verdict(schedule: WormholeSchedule) -> Counter[str]:
    """Violations by kind."""
    counts: Counter[str] = Counter()
    messages, table = schedule.messages, schedule.packets
    pieces = list(zip(table.origin, table.message, table.piece, table.size, strict=True))
    ids = messages.ids.tolist()
    numbers: dict[int, list[int]] = {m: [] for m in ids}
    sizes = dict.fromkeys(ids, 0)
    for origin, message, piece, size in pieces:
        if message not in numbers:
            counts["wrong payload"] += 1
            continue
        counts["wrong payload"] += int(origin != messages.origin[ids.index(message)])
        numbers[message].append(int(piece))
        sizes[message] += int(size)
    for m in ids:
        counts["wrong payload"] += sum(a != b for a, b in enumerate(sorted(numbers[m])))
        counts["wrong payload"] += sizes[m] != schedule.cost.message_bytes
    sets = [set(schedule.payloads.row(k).tolist()) for k in range(schedule.payloads.count)]
    counts["wrong payload"] += sum(p >= 0 and not sets[p] for p in schedule.payload.tolist())
    if counts["wrong payload"]:
        return +counts

    kinds = set(messages.discipline.tolist())
    if COMBINE in kinds:
        once = combined_verdict(schedule, sets)
        combined = [p for p, m in enumerate(table.message.tolist()) if messages.discipline[ids.index(m)] == COMBINE]
        sent = [
            (p, int(schedule.source[m]))
            for m, k in enumerate(schedule.payload.tolist()) if k >= 0 for p in sorted(sets[k]) if p in combined
        ]  # fmt: skip
        again = len(set(sent)) < len(sent) or any(u == table.origin[p] for p, u in sent)
        faults = any(once[kind] for kind in ("causality", "duplicate", "lost contribution", "delivery"))
        return +(counts + (sums_verdict(schedule, sets) if faults and again else once))
    if ALLCOMBINE in kinds:
        return +(counts + sums_verdict(schedule, sets))
    holds = [{p for p, (origin, *_) in enumerate(pieces) if origin == v} for v in range(schedule.network.node_count)]
    for there in played(schedule, counts):
        arriving = []
        for m, target in there:
            if schedule.payload[m] >= 0:
                carried = sets[schedule.payload[m]]
                if carried <= holds[schedule.source[m]]:
                    arriving.append((target, carried))
                else:
                    counts["causality"] += 1
        for target, carried in arriving:
            holds[target] |= carried
    for p, (_, message, *_) in enumerate(pieces):
        row = ids.index(message)
        if messages.targets is None:
            targets = range(schedule.network.terminal_count)
        else:
            targets = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
        for v in targets:
            counts["delivery"] += p not in holds[v]
    return +counts


def combined_verdict(schedule: WormholeSchedule, sets: list[set[int]]) -> Counter[str]:
    """The same where messages are combined: contributions are sets of names, and bytes are counted one by one."""
    counts: Counter[str] = Counter()
    messages, table, net = schedule.messages, schedule.packets, schedule.network
    ids, terminals = messages.ids.tolist(), range(net.terminal_count)
    row = [ids.index(m) for m in table.message.tolist()]
    named = [
        set(terminals if messages.targets is None else
            messages.targets[messages.target_start[i] : messages.target_start[i + 1]].tolist())
        for i in range(len(ids))
    ]  # fmt: skip
    reduces = [messages.discipline[i] == COMBINE for i in row]
    bytes_of = []
    for p, i in enumerate(row):
        before = sum(int(table.size[q]) for q, j in enumerate(row) if j == i and table.piece[q] < table.piece[p])
        bytes_of.append(set(range(before, before + int(table.size[p]))))
    after = [-1] * len(ids) if messages.after is None else messages.after.tolist()
    awaited = [
        [q for q, j in enumerate(row) if j == after[i] and bytes_of[p] & bytes_of[q]] if after[i] >= 0 else []
        for p, i in enumerate(row)
    ]
    has = {(p, v): {v} for p, i in enumerate(row) if reduces[p] for v in named[i]}
    copies = {(p, int(table.origin[p])) for p in range(len(row)) if not reduces[p]}
    gone: set[tuple[int, int]] = set()

    def complete(q: int) -> bool:
        return has.get((q, int(table.origin[q])), set()) == named[row[q]]

    def wrong(p: int, u: int) -> str:
        if reduces[p]:
            if u == table.origin[p]:
                return "causality"
            return "duplicate" if (p, u) in gone else "" if has.get((p, u)) else "causality"
        ready = u != table.origin[p] or all(map(complete, awaited[p]))
        return "" if (p, u) in copies and ready else "causality"

    for there in played(schedule, counts):
        arriving = []
        for m, v in there:
            u = int(schedule.source[m])
            carried = sorted(sets[schedule.payload[m]]) if schedule.payload[m] >= 0 else []
            faults = [fault for p in carried if (fault := wrong(p, u))]
            if faults:
                counts[faults[0]] += 1
                continue
            arriving.append((v, [(p, has.pop((p, u)) if reduces[p] else None) for p in carried]))
            gone |= {(p, u) for p in carried if reduces[p]}
        for v, carried in arriving:
            late = False
            for p, some in carried:
                if some is None:
                    copies.add((p, v))
                elif (p, v) in gone:
                    late = True
                else:
                    has[p, v] = has.get((p, v), set()) | some
            counts["lost contribution"] += late
    for p, i in enumerate(row):
        if reduces[p]:
            counts["delivery"] += not complete(p)
        else:
            counts["delivery"] += sum((p, v) not in copies for v in named[i])
    return counts


def arrive(held: set[int], brought: list[set[int]]) -> tuple[set[int], int, int]:
    """What a node holds after sums came at the same time, how many counted twice, and how many were wasted."""
    kept: list[set[int]] = []
    for i, some in enumerate(brought):
        inside = any(some < other or (some == other and j < i) for j, other in enumerate(brought) if j != i)
        kept += [] if inside else [some]
    wasted, union = len(brought) - len(kept), set().union(*kept)
    if sum(map(len, kept)) == len(union) and (not union & held or union >= held or union <= held):
        return held | union, 0, wasted + (len(kept) if union <= held else 0)
    left = [some for some in brought if not some <= held]
    new = [
        some
        for i, some in enumerate(left)
        if not any(some < other or (some == other and j < i) for j, other in enumerate(left) if j != i)
    ]
    wasted, twice, total = len(brought) - len(new), 0, set(held)
    for some in reversed(new):  # those that came last are looked at first
        if some & total:
            twice += 1
        else:
            total |= some
    return total, twice, wasted


def sums_verdict(schedule: WormholeSchedule, sets: list[set[int]]) -> Counter[str]:
    """The same under the general rule of partial sums: nodes may send a sum and go on adding to it."""
    counts: Counter[str] = Counter()
    messages, table, net = schedule.messages, schedule.packets, schedule.network
    ids = messages.ids.tolist()
    row = [ids.index(m) for m in table.message.tolist()]
    everybody = set(range(net.terminal_count))
    start = messages.target_start
    named = [
        everybody if start is None else set(messages.targets[start[i] : start[i + 1]].tolist()) for i in range(len(ids))
    ]
    kind = messages.discipline[row]
    has = {
        (p, v): {v} if kind[p] != COPY and v in named[i] else set() for p, i in enumerate(row) for v in everybody
    }  # fmt: skip
    copies = {(p, int(table.origin[p])) for p in range(len(row)) if kind[p] == COPY}
    place = [sum(int(table.size[q]) for q, j in enumerate(row) if j == i and table.piece[q] < table.piece[p])
             for p, i in enumerate(row)]  # fmt: skip
    bytes_of = [set(range(a, a + int(size))) for a, size in zip(place, table.size, strict=True)]
    after = [-1] * len(ids) if messages.after is None else messages.after.tolist()

    def early(p: int) -> bool:
        needs = [q for q, j in enumerate(row) if j == after[row[p]] and bytes_of[p] & bytes_of[q]]
        return any(has[q, int(table.origin[q])] != named[row[q]] for q in needs)

    for there in played(schedule, counts):
        brought: dict[tuple[int, int], list[set[int]]] = {}
        copied = set()
        for m, v in there:
            u = int(schedule.source[m])
            carried = sets[schedule.payload[m]] if schedule.payload[m] >= 0 else set()
            held = {p for p in carried if kind[p] == COPY}
            for p in carried - held:
                if has[p, u]:
                    brought.setdefault((p, v), []).append(set(has[p, u]))
                counts["causality"] += not has[p, u]
            counts["causality"] += sum(u == table.origin[p] and early(p) for p in held)
            if all((p, u) in copies for p in held):
                copied |= {(p, v) for p in held}
            else:
                counts["causality"] += 1
        copies |= copied
        for (p, v), some in brought.items():
            has[p, v], twice, _ = arrive(has[p, v], some)
            counts["duplicate"] += twice
    for p, i in enumerate(row):
        if kind[p] == COPY:
            counts["delivery"] += sum((p, v) not in copies for v in named[i])
        else:
            ends = {int(table.origin[p])} if kind[p] == COMBINE else named[i]
            counts["delivery"] += sum(has[p, v] != named[i] for v in ends)
    return counts
