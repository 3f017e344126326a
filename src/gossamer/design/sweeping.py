"""Designs as sweeps: searches beside each other, on several cores or a cluster, kept in a file and gone on with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gossamer.design.designing import MOST_WORK, Design, chosen_candidates, plan_candidate, work
from gossamer.design.points import NetworkPoint, SearchPoint, candidates_of, found_of
from gossamer.design.problem import Problem, read_degrees, read_goals, read_nodes
from gossamer.design.search import Candidate, Say
from gossamer.design.wishes import Wishes
from gossamer.errors import ModelError, NotApplicableError
from gossamer.reading import number, whole
from gossamer.reading import seed as read_seed
from gossamer.sweeps import sweep

__all__ = ["designs"]


def designs(
    nodes: int | str,
    degree: int | str,
    tasks: str | Sequence[str] = "alltoall",
    wishes: Wishes | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    parts: int = 1,
    budget: float = 20.0,
    rounds: int | None = None,
    top: int = 8,
    seed: int = 0,
    progress: Say | None = None,
    **running: Any,
) -> list[Design]:
    """Search for networks as a sweep: resumable, on several cores or a Dask cluster, for one degree or several.

    Parameters
    ----------
    nodes, tasks, wishes, top, seed, progress
        As for `gossamer.design.design`.
    degree : int or str
        The most links that leave a node, or a range such as ``"3:6"``, each a design of its own.
    store : path, optional
        A Parquet file of results: what it has is not searched or planned again, so that the same call goes on where it
        was interrupted or killed. Its rows are those of `gossamer.sweep`, so that they are reported and merged.
    parts : int
        Searches that go on beside each other, each with chances of its own.
    budget : float
        Seconds of CPU time of each search. What a search found stays in the store, so that it is gone on with on
        another machine, too; a new one finds what the time allows.
    rounds : int, optional
        Rounds of each search instead of a budget, for results that do not depend on the machine's speed.
    **running
        `engine`, `jobs`, `memory`, `scheduler`, `retry` of `gossamer.sweep`.

    Returns
    -------
    list of Design
        One for each degree for which a network was found; the best network of each was planned and verified once more
        here, so that its schedules are at hand.

    Raises
    ------
    GossamerError
        If what is asked is illegal, or no network was found.

    Examples
    --------
    >>> found = designs(24, "3:4", wishes=Wishes(families="torus,permutations"), rounds=1, top=2, engine="in-process")
    >>> [(each.problem.degree, str(each.best.total), each.best.tasks[0].limit) for each in found]
    [(3, '20', 20), (4, '13', 13)]
    """
    given = [tasks] if isinstance(tasks, str) else list(tasks)
    goals = read_goals([t for text in given for t in text.split(",") if t.strip()])
    low, high = read_degrees(degree)
    problems = [Problem(read_nodes(nodes), d, goals, wishes or Wishes()) for d in range(low, high + 1)]
    seconds, most = number(budget, "budget", above=0), whole(top, "top", 1, 1000)
    steps = None if rounds is None else whole(rounds, "rounds", 1)
    count, chance = whole(parts, "parts", 1, 10_000), read_seed(seed)
    searches = [SearchPoint(p, seconds, steps, chance, part) for p in problems for part in range(count)]
    searched = list(sweep(searches, store, progress=progress, **running))
    several = [searched[i * count : (i + 1) * count] for i in range(len(problems))]
    chosen = [_merged(problem, rows, most) for problem, rows in zip(problems, several, strict=True)]
    points = [NetworkPoint(p, c) for p, some in zip(problems, chosen, strict=True) for c in some]
    planned = list(sweep(points, store, progress=progress, **running)) if points else []
    rows = iter(planned)
    made = [
        _designed(problem, [(c, next(rows)) for c in some], sum(int(r.get("looked") or 0) for r in looked), most)
        for problem, some, looked in zip(problems, chosen, several, strict=True)
    ]
    found = [each for each in made if each.found]
    if not found:
        why = next((r["reason"] for r in (*planned, *searched) if r.get("reason")), "none in the families asked for")
        raise NotApplicableError(f"no network of {nodes} nodes with {degree} links a node was found: {why}")
    return [_with_schedules(each) for each in found]


def _merged(problem: Problem, rows: Sequence[Mapping[str, Any]], top: int) -> list[Candidate]:
    """Return the candidates of several searches that are worth planning."""
    known = {c.spec: c for row in rows if row["status"] == "done" for c in candidates_of(row)}
    ranked = sorted(known.values(), key=lambda c: (c.price, c.spec))
    chosen = ranked if problem.wishes.fixed else chosen_candidates(ranked, problem, top)
    least = min((c.price for c in ranked), default=0.0)
    return [c for c in chosen[: 3 * top] if c.price <= least or c.family == "torus" or work(c) <= MOST_WORK]


def _designed(
    problem: Problem, planned: Sequence[tuple[Candidate, Mapping[str, Any]]], looked: int, top: int
) -> Design:
    """Return the best of what was planned, the best torus among them."""
    found = [found_of(problem, c, row) for c, row in planned if row["status"] == "done"]
    found.sort(key=lambda f: (f.score, f.candidate.diameter, f.candidate.spec))
    torus = [f for f in found[top:] if f.candidate.family == "torus"][:1]
    lost = [row["reason"] for _, row in planned if row["status"] != "done"]
    return Design(problem, (*found[: top - len(torus)], *torus), looked, 0.0, f"not planned: {lost[0]}" if lost else "")


def _with_schedules(design: Design) -> Design:
    """Return a design whose best network has its schedules, planned and verified here."""
    best = plan_candidate(design.problem, design.best.candidate)
    if [task.time for task in best.tasks] != [task.time for task in design.best.tasks]:
        raise ModelError(f"the file of results has another time for {best.candidate.spec}; begin with a new file")
    return replace(design, found=(best, *design.found[1:]))
