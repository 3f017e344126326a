"""Designs as sweeps: searches beside each other, on several cores or a cluster, kept in a file and continued."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks import Network
from gossamer.reading import number, whole
from gossamer.reading import seed as read_seed
from gossamer.studies.design.plan_candidates import (
    MOST_WORK,
    SECONDS_OF_WORK,
    Design,
    DesignedNetwork,
    PlannedTask,
    best_designs,
    chosen_candidates,
    plan_candidate,
    work,
)
from gossamer.studies.design.problem import Problem, Wishes, cabled, read_degrees, read_goals, read_nodes
from gossamer.studies.design.search import CandidateNetwork, Say, candidates, fixed_candidates
from gossamer.studies.sweeps import sweep
from gossamer.studies.sweeps.point_protocol import Progress, file_contents

# A design as points of a sweep: searches, each with chances of its own, and networks to be planned.

_SEMANTICS = 1
_BYTES_A_LINK = 400


def asked_words(problem: Problem) -> dict[str, Any]:
    """Return what a problem asks, in plain values by name; what is not wished is left out.

    >>> from gossamer.studies.design.problem import read_goals
    >>> asked_words(Problem((64, 64), 4, read_goals(["alltoall"])))
    {'task': 'total-exchange', 'asked_nodes': '64', 'asked_degree': 4}
    """
    low, high = problem.nodes
    told = {
        "task": ", ".join(goal.text for goal in problem.goals),
        "asked_nodes": f"{low}" if low == high else f"{low}:{high}",
        "asked_degree": problem.degree,
    }
    plain = Wishes()
    wished = {f.name: getattr(problem.wishes, f.name) for f in fields(Wishes)}
    timed = ("bandwidth", "latency") if problem.timed else ()
    told |= {n: v for n, v in wished.items() if v != getattr(plain, n) or n in timed}
    files = file_contents({"contains": problem.wishes.contains, "placement": problem.wishes.placement})
    return told | ({"files": files} if files else {})


@dataclass(frozen=True)
class SearchPoint:
    """A search for networks.

    `problem`: what is wanted. `budget`: seconds of CPU time, where no rounds are given. `rounds`: rounds of search.
    `seed`, `part`: where chance comes from; parts of one seed search beside each other.
    """

    problem: Problem
    budget: float
    rounds: int | None
    seed: int
    part: int

    @property
    def title(self) -> str:
        """What is looked for."""
        words = asked_words(self.problem)
        return f"search {self.part + 1} for {words['asked_nodes']} nodes of {self.problem.degree} links"

    @property
    def needs(self) -> tuple[int, float]:
        """Bytes of memory and seconds of CPU time, about."""
        return self.problem.nodes[1] * 4096, self.budget if self.rounds is None else 0.2 * self.rounds

    def describe(self) -> dict[str, Any]:
        """Return what affects the result."""
        length = {"budget": self.budget} if self.rounds is None else {"rounds": self.rounds}
        return {"kind": "search", "semantics": _SEMANTICS, **asked_words(self.problem), **length,
                "seed": self.seed, "part": self.part}  # fmt: skip

    def run(self, progress: Progress) -> dict[str, Any]:
        """Search; the candidates are one text."""
        look = fixed_candidates if self.problem.wishes.fixed else candidates
        seed = int(np.random.SeedSequence([self.seed, self.part]).generate_state(1)[0]) if self.part else self.seed
        found, looked = look(self.problem, budget=self.budget, rounds=self.rounds, seed=seed, say=progress)
        told = [[c.spec, c.family, c.nodes, c.diameter, c.status, c.price, _links(c.network)] for c in found]
        best = {"best_price": found[0].price} if found else {}
        return {"looked": looked, **best, "candidates": json.dumps(told, separators=(",", ":"))}


def _links(network: Network | None) -> list[list[int]] | None:
    """Return the links of a network without a spec."""
    if network is None:
        return None
    return [network.link_source.tolist(), network.link_target.tolist()]


def candidates_of(row: Mapping[str, Any]) -> list[CandidateNetwork]:
    """Return the candidates of a search from its row."""
    found = []
    for spec, family, nodes, diameter, status, price, links in json.loads(row["candidates"]):
        network = None
        if links is not None:
            source, target = (np.array(ends, np.int32) for ends in links)
            network = Network(spec, nodes, source, target, links_only=True)
        found.append(CandidateNetwork(spec, family, nodes, diameter, status, price, network))
    return found


@dataclass(frozen=True)
class NetworkPoint:
    """A network to be planned for a problem.

    `problem`: what it is for.
    """

    problem: Problem
    candidate: CandidateNetwork

    @property
    def title(self) -> str:
        """The tasks and the network."""
        return f"{asked_words(self.problem)['task']} on {self.candidate.spec[:60]}"

    @property
    def needs(self) -> tuple[int, float]:
        """Bytes of memory and seconds of CPU time, about."""
        c = self.candidate
        return c.nodes * self.problem.degree * _BYTES_A_LINK, 0.05 + SECONDS_OF_WORK * work(c)

    def describe(self) -> dict[str, Any]:
        """Return what affects the result."""
        links = _links(self.candidate.network)
        told = {} if links is None else {"link_ends": json.dumps(links, separators=(",", ":"))}
        return {"kind": "network", "semantics": _SEMANTICS, "network": self.candidate.spec, **told,
                **asked_words(self.problem)}  # fmt: skip

    def run(self, progress: Progress) -> dict[str, Any]:
        """Plan and verify the tasks."""
        progress(f"planning {self.candidate.spec[:60]}")
        found = plan_candidate(self.problem, self.candidate)
        row = found.to_dict()
        told = {name: row[name] for name in ("family", "nodes", "degree", "diameter", "mean_distance", "bisection")}
        unit = "seconds" if self.problem.timed else "time"
        tasks = [[t.task, str(t.time), str(t.bound), t.limit, t.algorithm, t.bound_scope] for t in found.tasks]
        if len(tasks) > 1:
            told |= {f"{t.task}_{unit}": row[f"{t.task}_time"] for t in found.tasks}
        total = float(found.total) if self.problem.timed else row["total"]
        told |= {"links": found.network.link_count, unit: total, "ratio": found.ratio, "score": found.score}
        told |= {name: row[name] for name in ("mean_cable_m", "longest_cable_m") if name in row}
        told |= {"worst_failure": found.worst_failure, "mean_failure": found.mean_failure}
        told |= {"single_paths": found.single_paths}
        return told | {"optimal": all(t.time == t.bound for t in found.tasks), "tasks": json.dumps(tasks)}


def found_of(problem: Problem, candidate: CandidateNetwork, row: Mapping[str, Any]) -> DesignedNetwork:
    """Return a network that was planned, from its row; the plans themselves are not in it."""
    tasks = tuple(
        PlannedTask(task, Fraction(time), Fraction(bound), limit, algorithm, *scope)
        for task, time, bound, limit, algorithm, *scope in json.loads(row["tasks"])
    )
    weights = {goal.task: goal.weight for goal in problem.goals}
    total = sum((weights[t.task] * t.time for t in tasks), start=Fraction(0))
    network = candidate.built
    placement = problem.wishes.placement
    return DesignedNetwork(
        candidate, network, tasks, total, row["ratio"], row["score"], row.get("bisection"),
        cabled(network, placement) if placement else None, row.get("worst_failure"), row.get("mean_failure"),
        row.get("single_paths"),
    )  # fmt: skip


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

    * `nodes`, `tasks`, `wishes`, `top`, `seed`, `progress`: as for `gossamer.studies.design.design`.
    * `degree`: the most links that leave a node, or a range such as ``"3:6"``, each a design of its own.
    * `store`: a Parquet file of results: what it has is not searched or planned again, so that the same call goes on
      where it was interrupted or killed. Its rows are those of `gossamer.sweep`, so that they are reported and merged.
    * `parts`: searches that go on beside each other, each with chances of its own.
    * `budget`: seconds of CPU time of each search. What a search found stays in the store, so that it is continued on
      another machine, too; a new one finds what the time allows.
    * `rounds`: rounds of each search instead of a budget, for results that do not depend on the machine's speed.
    * `running`: `engine`, `jobs`, `memory`, `scheduler`, `retry` of `gossamer.sweep`.

    Returns: one for each degree for which a network was found; the best network of each was planned and verified once
    more here, so that its schedules are at hand.

    Raises GossamerError if what is asked is illegal, or no network was found.

    >>> found = designs(24, "3:4", wishes=Wishes(families="torus,permutations"), rounds=1, top=2, engine="in-process")
    >>> [(each.problem.degree, str(each.best.total), each.best.tasks[0].limit) for each in found]
    [(3, '20', 20), (4, '13', 13)]
    """
    goals = read_goals(tasks)
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


def _merged(problem: Problem, rows: Sequence[Mapping[str, Any]], top: int) -> list[CandidateNetwork]:
    """Return the candidates of several searches that are worth planning."""
    known = {c.spec: c for row in rows if row["status"] == "done" for c in candidates_of(row)}
    ranked = sorted(known.values(), key=lambda c: (c.price, c.spec))
    chosen = ranked if problem.wishes.fixed else chosen_candidates(ranked, problem, top)
    least = min((c.price for c in ranked), default=0.0)
    return [c for c in chosen[: 3 * top] if c.price <= least or c.family == "torus" or work(c) <= MOST_WORK]


def _designed(
    problem: Problem, planned: Sequence[tuple[CandidateNetwork, Mapping[str, Any]]], looked: int, top: int
) -> Design:
    """Return the best of what was planned, the best torus among them."""
    found = best_designs([found_of(problem, c, row) for c, row in planned if row["status"] == "done"], top)
    lost = [row["reason"] for _, row in planned if row["status"] != "done"]
    return Design(problem, found, looked, 0.0, f"not planned: {lost[0]}" if lost else "")


def _with_schedules(design: Design) -> Design:
    """Return a design whose best network has its schedules, planned and verified here."""
    best = plan_candidate(design.problem, design.best.candidate)
    if [task.time for task in best.tasks] != [task.time for task in design.best.tasks]:
        raise ModelError(f"the file of results has another time for {best.candidate.spec}; begin with a new file")
    return replace(design, found=(best, *design.found[1:]))
