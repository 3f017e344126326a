"""Bounds for tasks whose messages wait for others: the broadcasts of an allreduce follow its reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.arrivals import searches, spread, takes_time
from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.links import least_time
from gossamer.questions.tasks import Allreduce, Broadcast, Chunked, MultinodeBroadcast, Reduce, ReduceScatter, chunked

__all__ = ["sequence_bounds"]

_SOURCE = "folklore: the result of a block leaves its root after the last contribution arrived"


def sequence_bounds(case: Case, best: Callable[[Case], Bound]) -> Iterator[Bound]:
    """Yield the bounds of an allreduce that add times of its two halves.

    Parameters
    ----------
    case : Case
        What is asked; anything but an allreduce has no such bound.
    best : callable
        ``case -> Bound``: the largest bound of another case.

    Notes
    -----
    Each block is reduced before it is broadcast, so the two take the sum of their bounds. The last reduction ends no
    earlier than a reduce-scatter can, and its block must still be broadcast from its root; the first broadcast begins
    no earlier than the shortest reduction ends, and all broadcasts follow it.
    """
    task, packets = (case.task.task, case.task.packets) if isinstance(case.task, Chunked) else (case.task, 1)
    if not isinstance(task, Allreduce) or not case.demands:
        return
    near, far = _reaches(case, False), _reaches(case, True)
    reach = near[1] + far[1]
    root = int(near[0][np.argmax(reach)])
    reduce, broadcast = best(case.related(task=Reduce(root))), best(case.related(task=Broadcast(root)))
    yield Bound(
        "reduce, then broadcast", reduce.value + broadcast.value,
        f"the block of root {case.name(root)} takes {reduce.value} to reduce (by {reduce.name}) and then "
        f"{broadcast.value} to broadcast (by {broadcast.name})",
        "sequence", _SOURCE,
    )  # fmt: skip
    for whole, first, last, name in (
        (ReduceScatter(), False, True, "reduce-scatter, then broadcast"),
        (MultinodeBroadcast(), True, False, "reduce, then multinode broadcast"),
    ):
        bound = best(case.related(task=chunked(whole, packets)))
        least = _least(case, far if first else near, first)
        single = "one more broadcast" if last else "a first reduction"
        yield Bound(
            name, bound.value + least,
            f"{bound.value} for the {whole.name} (by {bound.name}: {bound.witness}) and at least {least} for {single}",
            "sequence", _SOURCE,
        )  # fmt: skip


def _reaches(case: Case, inward: bool) -> tuple[Counts, Counts]:
    """Return terminals, and how long a packet takes at the least from each to the furthest other, or `inward` back."""
    count = 1 if case.invariant else case.network.terminal_count
    roots = np.arange(count, dtype=np.int64)
    if not takes_time(case):
        return roots, case.metric.eccentricities(roots, inward)
    links = case.links.turned if inward else case.links
    # at least the time of a link where it is not worked out
    found = np.full(count, int((links.hold + links.latency).min()), np.int64)
    for v in spread(roots, searches(links)).tolist():
        found[v] = int(links.travel(np.array([v])).usable[: case.network.terminal_count].max())
    return roots, found


def _least(case: Case, reaches: tuple[Counts, Counts], inward: bool) -> Fraction:
    """Return a time that no single broadcast, or `inward` reduction, beats from any root."""
    steps = int(reaches[1].min())
    if case.whole:
        limited = case.receive_limited if inward else case.send_limited
        if limited and bool(case.links.stores.all()):
            steps = max(steps, (case.network.terminal_count - 1).bit_length())
        return Fraction(steps)
    # every node but the root receives (or sends) one message over its links: of the two slowest, one is not the root
    links, n = (case.links if inward else case.links.turned), case.network.terminal_count
    rate = np.zeros(links.node_count)
    (np.maximum if links.send_limited else np.add).at(rate, links.source, links.rate)
    times = []
    for v in np.argsort(rate[:n], kind="stable")[:2].tolist():
        mine = slice(int(links.first[v]), int(links.first[v + 1]))
        columns = links.capacity[mine], links.occupancy[mine], links.latency[mine]
        if links.send_limited:
            columns = columns[0][:1], columns[1].min(keepdims=True), columns[2].min(keepdims=True)
        times.append(least_time(1, *columns, False))
    return max(Fraction(steps if takes_time(case) else 0), min(t or Fraction(0) for t in times))
