"""Bounds for tasks whose messages wait for others: the broadcasts of an allreduce follow its reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.cases.demands import Counts
from gossamer.tasks import Allreduce, Broadcast, MultinodeBroadcast, Reduce, ReduceScatter

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
    if not isinstance(case.task, Allreduce) or not case.demands:
        return
    net = case.network
    roots = np.zeros(1, np.int64) if case.invariant else np.arange(net.terminal_count, dtype=np.int64)
    reach = case.metric.eccentricities(roots) + case.metric.eccentricities(roots, True)
    root = int(roots[np.argmax(reach)])
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
        bound = best(case.related(task=whole))
        least = _least(case, roots, inward=first)
        single = "one more broadcast" if last else "a first reduction"
        yield Bound(
            name, bound.value + least,
            f"{bound.value} for the {whole.name} (by {bound.name}: {bound.witness}) and at least {least} for {single}",
            "sequence", _SOURCE,
        )  # fmt: skip


def _least(case: Case, roots: Counts, inward: bool) -> Fraction:
    """Return a time that no single broadcast, or `inward` reduction, beats from any root."""
    if case.whole:
        steps = int(case.metric.eccentricities(roots, inward).min())
        if case.receive_limited if inward else case.send_limited:
            steps = max(steps, (case.network.terminal_count - 1).bit_length())
        return Fraction(steps)
    # every node but the root receives (or sends) one message over its links
    capacity = np.sort(case.node_capacity(not inward)[: case.network.terminal_count])
    return Fraction(1, int(capacity[min(1, capacity.size - 1)]))
