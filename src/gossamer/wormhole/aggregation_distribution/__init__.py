"""Multinode broadcast by aggregation, then distribution (Chen and Chen): a module for each operation, and the whole."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.aggregation_distribution.closed_forms import (
    ATD_5,
    ATD_OPT,
    ATD_PIECE,
    MAX_HOLDINGS,
    Variant,
    best_h,
    closed_form,
    closed_form_time,
    destinations,
    holdings,
    times_by_h,
    tune,
    with_tuning,
)
from gossamer.wormhole.aggregation_distribution.final_all_gather import aggregate, collect, diagonal_broadcast
from gossamer.wormhole.aggregation_distribution.prefix_sums import prefix_sums, ranks, tell_all
from gossamer.wormhole.aggregation_distribution.recording import ScheduleRecorder
from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.contraction_trees import group_tree
from gossamer.wormhole.partition import TorusPartition, common_divisors

__all__ = [
    "ATD",
    "ATD_5",
    "ATD_OPT",
    "ATD_PIECE",
    "Variant",
    "aggregation_distribution",
    "best_h",
    "closed_form",
    "closed_form_time",
    "with_tuning",
]

# Multinode broadcast by aggregation-then-distribution: the source's schedule and two better ones.
#
# Data aggregation moves the messages of the sources to the nodes of the data-distribution networks (DDNs), h diagonals
# to one; tuning gives every DDN the same share. Then, in all DDNs at once, the messages are collected on the main
# diagonal, exchanged there and broadcast to all nodes of the DDN. At last every node collects what the DDNs have from
# nodes near it.
#
# ===========  =======================================================================================================
# `ATD_5`      the source's schedule: ranks by prefix sums with groups of 5, tuning by base-5 digits, 4 partners on the
#              diagonal, lines and then rings of dilation 2
# `ATD_OPT`    groups of 3 along the diagonal, the cheapest tuning, 2 partners on the diagonal, two halves with shifts
# `ATD_PIECE`  as `ATD_OPT`, but every message is cut into a piece for each DDN, so that ranks are not needed
# ===========  =======================================================================================================

_EVERY_SIDE = 4_000_000
"""The most nodes times messages for which every h is tried unasked: beyond, schedules take long to build."""


def aggregation_distribution(
    case: WormholeCase, *, h: int | str = "auto", variant: Variant = ATD_OPT
) -> WormholeSchedule:
    """Build a multinode broadcast by aggregation-then-distribution.

    A wormhole message holds all links of its path, but how long the path is hardly matters. So the torus is divided
    into coarser tori (DDNs) that use every h-th node and share no link. Sources first gather their messages at the
    nodes of these tori (aggregation) and are dealt out evenly (tuning); each coarse torus then spreads what it has
    among its own nodes, all at once, and blocks of neighbors collect the parts from all of them (distribution).

    Parameters
    ----------
    case : WormholeCase
        A broadcast or (partial) multinode broadcast, at most one message of each node, on a torus of any dimension.
    h : int or "auto"
        Dilation of the DDNs, a divisor of every side; "auto" takes `closed_forms.best_h`.
    variant : Variant
        The choices of the schedule.

    Returns
    -------
    WormholeSchedule
        Of the phases aggregation, prefix sums (unless `variant` has pieces), tuning, alignment, all-gather, broadcast,
        rows and columns, less those that have no steps.

    Raises
    ------
    NotApplicableError
        If the network is not a torus, or h does not divide every side.

    Notes
    -----
    On an n x n torus with N = n/h, and with lg for the logarithm rounded up, `ATD_5` takes
    ``3 lg5(h) + 4 lg5(N) + 4 lg5(n) + R5(N) + lg3(h) + h - 1`` steps, with R5 the steps of `prefix_sums.gather_rounds`
    with a fan of 4, two for a round with a partner 2w places away; `ATD_OPT`
    ``lg5(h) + 2 lg5(N) + 2 lg3(n) + T(h) + 2 lg5(N) + lg3(N) + lg3(h) + h//2`` with T(h) steps of tuning; `ATD_PIECE`
    the same less the ``2 lg5(N) + 2 lg3(n)`` steps of the prefix sums. None of this depends on the sources.

    In d dimensions groups are of 2d + 1 along the d dimensions, and there are h^(d-1) DDNs. On unequal sides the
    diagonals of a DDN are as many as the greatest common divisor of its sides.

    Time and memory O(wormhole messages and pieces that the different payloads hold).

    References
    ----------
    Chen and Chen 2000, section 3 and Theorem 1.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:10x10"), MultinodeBroadcast())
    >>> schedule = aggregation_distribution(case, h=5, variant=ATD_5)
    >>> [f"{p.name} {p.steps}" for p in schedule.phases]
    ['aggregation 1', 'prefix sums 10', 'tuning 2', 'alignment 1', 'all-gather 1', 'broadcast 1', 'rows 2', 'columns 4']
    """
    refusal = _refusal(case, variant, h)
    if refusal is not None:
        raise NotApplicableError(f"aggregation-then-distribution {refusal}")
    if h == "auto":
        times = _times(case, variant)
        h = min(times, key=lambda side: times[side])
    partition = TorusPartition(case.channels.sides, h)  # type: ignore[arg-type]
    variant = with_tuning(partition, case.sources, case.cost, variant)
    words = partition.ddn_count if variant.pieces else 1
    copies = partition.dimensions if variant.halves else 1
    recording = ScheduleRecorder(case, partition, words, copies)
    if case.sources and case.network.node_count > 1:
        _record(recording, variant)
    return recording.schedule().replace(algorithm=variant.name)


def _record(recording: ScheduleRecorder, variant: Variant) -> None:
    partition = recording.partition
    fan = 2 * partition.dimensions + 1
    inside = group_tree(partition.diagonals, fan)
    # Step 1: aggregation: within each block of h nodes messages are gathered at one node
    aggregate(recording, group_tree(partition.h, fan), 1, "aggregation")
    # Step 2: ranks: prefix sums tell each node how many messages come before its own, so that all can be dealt out
    #   evenly
    if not variant.pieces:
        recording.word = destinations(partition, ranks(recording, prefix_sums(recording, variant.prefix_fan)))
    # Step 3: tuning: messages move to the DDN of their rank
    tune(recording, variant.tuning)
    # Step 4: alignment: within a DDN messages are gathered on its diagonals
    aggregate(recording, inside, partition.h, "alignment")
    # Step 5: all-gather: the nodes of a diagonal tell each other all they have
    tell_all(recording, variant.gather_fan)
    # Step 6: broadcast: from the diagonals along rows and columns of the DDN
    diagonal_broadcast(recording, inside)
    # Step 7: collection: each block gathers the parts of all DDNs, along its rows and then along its columns
    collect(recording, rows=variant.rows, columns=variant.columns)


def _refusal(case: WormholeCase, variant: Variant, h: int | str = "auto") -> Refusal | None:
    sides, network = case.channels.sides, case.network
    if not case.channels.torus:
        return Refusal("needs a torus")
    allowed = common_divisors(sides)
    if h != "auto" and (isinstance(h, bool | str) or not hasattr(h, "__index__") or h not in allowed):
        values = ", ".join(map(str, allowed))
        return Refusal(f"needs an h that divides every side of {network.spec}, 'auto' or one of {values}; got {h!r}")
    held = holdings(sides, case.sources, 1 if h == "auto" else int(h), variant)
    if held > MAX_HOLDINGS:
        pieces = held // network.node_count
        return Refusal(f"would tell {network.node_count:,} nodes of {pieces:,} pieces; too many to check")
    return None


def _times(case: WormholeCase, variant: Variant) -> dict[int, Fraction]:
    return case.once(times_by_h, case.channels.sides, case.sources, case.cost, variant)


def _propose(case: WormholeCase, *, variant: Variant) -> tuple[Offer[WormholeSchedule], ...] | Refusal:
    refusal = _refusal(case, variant)
    if refusal is not None:
        return refusal
    times = _times(case, variant)
    best = min(times, key=lambda h: times[h])
    # the closed form is only an upper bound, so that another h may turn out to be faster
    every = case.network.node_count * case.sources <= _EVERY_SIDE
    chosen = [best, *(h for h in times if h != best)]
    return tuple(
        Offer(
            partial(aggregation_distribution, case, h=h, variant=variant),
            time=times[h],
            at_most=True,
            options={"h": h},
            on_request=h != best and not every,
        )
        for h in chosen
    )


def _algorithm(variant: Variant, source: str, summary: str) -> WormholeAlgorithm:
    return WormholeAlgorithm(
        name=variant.name,
        tasks=(MultinodeBroadcast, PartialMultinodeBroadcast, Broadcast),
        propose=partial(_propose, variant=variant),
        networks="tori",
        source=source,
        summary=summary,
    )


ATD: tuple[WormholeAlgorithm, ...] = (
    _algorithm(
        ATD_5,
        "Chen and Chen 2000, Theorem 1, corrected",
        "aggregation, ranks, tuning, exchange on the diagonals of the DDNs, broadcast, and collection by rings",
    ),
    _algorithm(
        ATD_OPT,
        "after Chen and Chen 2000",
        "as atd-5, with groups of 3 on diagonals and a collection in rotated parts by shifts",
    ),
    _algorithm(ATD_PIECE, "after Chen and Chen 2000", "as atd-opt, with every message cut into a piece for each DDN"),
)
"""The three variants, for the registry."""
