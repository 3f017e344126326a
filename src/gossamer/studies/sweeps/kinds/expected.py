"""About what planning a point takes, from the algorithms that the planner would try; nothing is built."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gossamer.networks.network import Network
from gossamer.networks.recognition import recognized
from gossamer.planning import switching as switchings
from gossamer.planning.switching.resource_limits import Candidate, expected, in_turn
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import TimeCost
from gossamer.questions.tasks import Task
from gossamer.studies.sweeps.kinds.kind import PointNeeds

__all__ = ["expected_plan", "measuring"]

_START, _TRIED = 0.02, 0.015
"""Seconds of a point beside its plan, and of a schedule that is built, beside its hops."""
_TIMED = 2.5
"""How much longer a hop takes to place where links have times."""
_CUT, _MOST_CUT = 1e-8, 100_000
"""Seconds of the search for narrow cuts, a node and link, and the links up to which it is made."""


def expected_plan(network: Network, task: Task, how: Mapping[str, Any], words: Mapping[str, Any]) -> PointNeeds:
    """Return about the bytes and the seconds of CPU that planning takes.

    Parameters
    ----------
    network : Network
        Where.
    task : Task
        What.
    how : mapping
        Switching, rules and cost, as `gossamer.plan` takes them.
    words : mapping
        The words of the point: its ``algorithm``, ``effort`` and ``seed``.

    Notes
    -----
    Of the algorithms that cover the case those count that the planner would build: in its order, until one promises to
    be the best. One that searches and promises nothing counts in full.
    """
    kind = switchings.named(how.get("switching", "store-and-forward"))
    case = kind.case(recognized(network), task, how.get("rules"), how.get("cost"), int(words.get("seed", 0)))
    seconds, held = _START, 0.0
    hard = _TIMED if isinstance(how.get("cost"), TimeCost) else 1.0
    for candidate in _tried(kind, case, words):
        needs = expected(kind, case, candidate, False)
        if needs is not None:
            seconds += _TRIED + hard * needs.seconds
            held = max(held, needs.bytes)
    return PointNeeds(round(held), seconds)


def _tried(kind: Any, case: Case, words: Mapping[str, Any]) -> list[Candidate[Any]]:
    """Return the candidates that the planner would build if each came out as it promises."""
    algorithm = words.get("algorithm", "best")
    found: list[Candidate[Any]] = []
    for each in kind.algorithms:
        if isinstance(case.task, each.tasks) and algorithm in ("best", each.name):
            offers = each.offers(case)
            if not isinstance(offers, Refusal):
                found += [Candidate(each.name, offer) for offer in offers if not offer.on_request]
    tried: list[Candidate[Any]] = []
    best: Fraction | None = None
    for candidate in in_turn(found, words.get("effort", "search")):
        offer = candidate.offer
        if best is not None and best <= offer.floor:
            continue
        tried.append(candidate)
        if offer.time is not None:
            best = offer.time if best is None else min(best, offer.time)
        if offer.optimal or algorithm != "best":
            break
    return tried


def measuring(network: Network) -> float:
    """Return about the seconds that the diameter and the bisection of a network take."""
    if network.link_count > _MOST_CUT:
        return 0.0
    return _CUT * network.node_count * network.link_count
