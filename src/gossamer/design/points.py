"""A design as points of a sweep: searches, each with chances of its own, and networks to be planned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.design.designing import SECONDS_OF_WORK, Found, Planned, plan_candidate, work
from gossamer.design.fixed import fixed_candidates
from gossamer.design.places import cabled
from gossamer.design.problem import Problem
from gossamer.design.search import Candidate, candidates
from gossamer.design.wishes import Wishes
from gossamer.networks import Network
from gossamer.sweeps.identity import file_contents
from gossamer.sweeps.points import Progress

__all__ = ["NetworkPoint", "SearchPoint", "asked_words", "candidates_of", "found_of"]

_SEMANTICS = 1
_BYTES_A_LINK = 400


def asked_words(problem: Problem) -> dict[str, Any]:
    """Return what a problem asks, in plain values by name; what is not wished is left out.

    >>> from gossamer.design.problem import read_goals
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

    Attributes
    ----------
    problem : Problem
        What is wanted.
    budget : float
        Seconds of CPU time, where no rounds are given.
    rounds : int or None
        Rounds of search.
    seed, part : int
        Where chance comes from; parts of one seed search beside each other.
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


def candidates_of(row: Mapping[str, Any]) -> list[Candidate]:
    """Return the candidates of a search from its row."""
    found = []
    for spec, family, nodes, diameter, status, price, links in json.loads(row["candidates"]):
        network = None
        if links is not None:
            source, target = (np.array(ends, np.int32) for ends in links)
            network = Network(spec, nodes, source, target, links_only=True)
        found.append(Candidate(spec, family, nodes, diameter, status, price, network))
    return found


@dataclass(frozen=True)
class NetworkPoint:
    """A network to be planned for a problem.

    Attributes
    ----------
    problem : Problem
        What it is for.
    candidate : Candidate
        The network.
    """

    problem: Problem
    candidate: Candidate

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
        tasks = [[t.task, str(t.time), str(t.bound), t.limit, t.algorithm] for t in found.tasks]
        if len(tasks) > 1:
            told |= {f"{t.task}_{unit}": row[f"{t.task}_time"] for t in found.tasks}
        total = float(found.total) if self.problem.timed else row["total"]
        told |= {"links": found.network.link_count, unit: total, "ratio": found.ratio, "score": found.score}
        told |= {name: row[name] for name in ("mean_cable_m", "longest_cable_m") if name in row}
        told |= {"worst_failure": found.worst_failure, "mean_failure": found.mean_failure}
        told |= {"single_paths": found.single_paths}
        return told | {"optimal": all(t.time == t.bound for t in found.tasks), "tasks": json.dumps(tasks)}


def found_of(problem: Problem, candidate: Candidate, row: Mapping[str, Any]) -> Found:
    """Return a network that was planned, from its row; the plans themselves are not in it."""
    tasks = tuple(
        Planned(task, Fraction(time), Fraction(bound), limit, algorithm)
        for task, time, bound, limit, algorithm in json.loads(row["tasks"])
    )
    weights = {goal.task: goal.weight for goal in problem.goals}
    total = sum((weights[t.task] * t.time for t in tasks), start=Fraction(0))
    network = candidate.built
    placement = problem.wishes.placement
    return Found(
        candidate, network, tasks, total, row["ratio"], row["score"], row.get("bisection"),
        cabled(network, placement) if placement else None, row.get("worst_failure"), row.get("mean_failure"),
        row.get("single_paths"),
    )  # fmt: skip
