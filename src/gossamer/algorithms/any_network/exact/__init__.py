"""Small cases exactly, by CP-SAT (the extra ``solver``): the fewest slots, then the fewest hops, and a proof.

A schedule that is known is made shorter until the solver proves that no shorter one exists, or until its time is over.
What was proved is a lower bound.
"""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction

import numpy as np

from gossamer.algorithms.any_network.exact.model import Found, Model, Patience, sought
from gossamer.algorithms.any_network.exact.walks import propose_walks
from gossamer.algorithms.any_network.overlapped_allreduce import overlapped_allreduce, propose_allreduce
from gossamer.algorithms.any_network.priced_routing import propose_moves, propose_trees, routed
from gossamer.questions.cases import Case, Offer, Proof, Refusal
from gossamer.questions.tasks import COMBINE
from gossamer.schedules import Phase, Schedule

__all__ = ["exact", "propose_exact"]

_MOST = 10_000
"""Packets times links."""

_LISTED = 100_000
"""Messages, at the most, that are listed to be counted."""


def exact(case: Case) -> Schedule:
    """Build a schedule of the fewest slots, and of those one of the fewest hops, or the best found in time.

    Parameters
    ----------
    case : Case
        Packets that are copied or moved on any small network, or an allreduce where all nodes are terminals; whole
        messages, any ports and links. Or a permutation under a limit of the buffers (`walks`). `Case.budget` limits the
        seconds; without it, the work of the solver is limited.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    Begins with the schedule of the priced paths or trees. If the solver ends, its proof is a bound of the outcome.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> exact(Case(gossamer.network("ring:4"), gossamer.task("alltoall"))).completion_time  # doctest: +SKIP
    Fraction(2, 1)
    """
    return case.once(_solved, case)[0]


def _solved(case: Case) -> tuple[Schedule, Proof | None]:
    """Return the best schedule found, and what was proved."""
    combined = bool((case.messages.discipline == COMBINE).any())
    start = overlapped_allreduce(case) if combined else routed(case)
    slots = start.slot_count
    if not slots:
        return start, None
    asked, patience = sought(case), Patience(case.budget, case.seed)
    best, least = Found(start.slot, start.link, start.packet), max(asked.least, math.ceil(case.floor))
    told = least
    takes = asked.roads.occupancy + asked.roads.latency
    upwards = True
    while least < slots:
        verdict, found = Model(asked, least if upwards else slots - 1).solve(patience, 0.3 if upwards else 1.0)
        if found is not None:
            best, slots = found, int((found.slot + takes[found.link]).max())
        elif verdict == "none":
            least = least + 1 if upwards else slots
        elif not upwards:
            break
        upwards = upwards and verdict != "unknown"
    best = best if combined else asked.useful(best)
    if not combined and best.slot.size > asked.fewest_hops:
        model = Model(asked, slots)
        model.fewest_hops(best)
        best = model.solve(patience)[1] or best
    order = np.argsort(best.slot, kind="stable")
    hops = (best.slot[order], best.link[order], best.packet[order])
    schedule = Schedule.of(case, *hops, phases=[Phase(case.task.name, slots)])
    return schedule, _proof(least) if least > told else None


def _proof(slots: int) -> Proof:
    witness = f"among all schedules of {slots - 1:,} slots a solver found none that does it"
    return Proof("exact search", Fraction(slots), witness)


def propose_exact(case: Case) -> Offer[Schedule] | Refusal:
    """Offer an optimal schedule, as far as the solver gets in its time."""
    if case.rules.split:
        return Refusal("plans whole messages")
    if case.rules.cut_through:
        return Refusal("is for switches that store what they pass on")
    if case.network.shared_ports is not None:
        return Refusal("does not know ports that links share")
    packets = case.task.most_messages(case.network)
    if packets <= _LISTED:
        packets = case.messages.packet_count
    if packets * case.network.link_count > _MOST:
        return Refusal(f"looks at no more than {_MOST:,} pairs of a packet and a link")
    if case.rules.buffer is not None and importlib.util.find_spec("ortools") is not None:
        return propose_walks(case)
    ahead = propose_allreduce(case) if bool((case.messages.discipline == COMBINE).any()) else _simple(case)
    if isinstance(ahead, Refusal):
        return ahead
    if case.network.terminal_count < case.network.node_count and bool((case.messages.discipline == COMBINE).any()):
        return Refusal("combines contributions only where all nodes are terminals")
    if importlib.util.find_spec("ortools") is None:
        return Refusal("needs the package ortools (the extra 'solver')")
    return Offer(lambda: exact(case), effort="solver", proof=lambda: case.once(_solved, case)[1])


def _simple(case: Case) -> Offer[Schedule] | Refusal:
    """Return what the search says that comes first."""
    found = propose_moves(case)
    return propose_trees(case) if isinstance(found, Refusal) else found
