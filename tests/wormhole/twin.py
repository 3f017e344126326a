"""A slow checker of wormhole schedules in plain Python, to compare the compiled one with."""

from __future__ import annotations

from collections import Counter

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

    holds: dict[tuple[int, ...], set[int]] = {}
    for v in range(schedule.network.node_count):
        at = tuple(schedule.network.coordinates[v].tolist())
        holds[at] = {p for p, (origin, *_) in enumerate(pieces) if origin == v}
    for step in range(schedule.step_count):
        taken, arriving = set(), []
        for m in [m for m, t in enumerate(schedule.step.tolist()) if t == step]:
            found = walked(schedule, m)
            if found is None:
                counts["displacement"] += 1
                continue
            path, target = found
            counts["channel"] += bool(taken & set(path))
            taken |= set(path)
            if schedule.payload[m] >= 0:
                carried = sets[schedule.payload[m]]
                source = tuple(schedule.network.coordinates[schedule.source[m]].tolist())
                if carried <= holds[source]:
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
            counts["delivery"] += p not in holds[tuple(schedule.network.coordinates[v].tolist())]
    return +counts
