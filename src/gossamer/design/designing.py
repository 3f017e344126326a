"""From a problem to a ranked table of networks, each verified."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gossamer.design.problem import Problem, read_goals, read_nodes
from gossamer.design.search import Candidate, Say, candidates, priced
from gossamer.errors import GossamerError, ModelError, NotApplicableError
from gossamer.networks import Network, parse
from gossamer.networks.bottleneck import bottleneck
from gossamer.outcome import Outcome
from gossamer.planner import plan
from gossamer.reading import number
from gossamer.reading import seed as read_seed
from gossamer.writing import Rows

__all__ = ["Design", "Found", "Planned", "design", "planned"]

_SEARCH_SHARE = 0.65
_SPARE = 3
_CUT_NODES = 1_500
_MOST_WORK = 30_000


@dataclass(frozen=True)
class Planned:
    """What one task takes on a network.

    Attributes
    ----------
    task : str
        The classical name.
    time, bound : Fraction
        Completion time of the verified schedule and the largest lower bound on this network, in the unit of the cost.
    limit : int
        In steps, what no network of that size and degree can beat.
    steps : Fraction
        Completion time over the length of a step: the time itself, but for seconds.
    algorithm : str
        What built the schedule.
    """

    task: str
    time: Fraction
    bound: Fraction
    limit: int
    algorithm: str
    outcome: Outcome = field(repr=False, compare=False)


@dataclass(frozen=True)
class Found:
    """A network that was planned and verified.

    Attributes
    ----------
    candidate : Candidate
        What was known before.
    network : Network
        The network.
    tasks : tuple of Planned
        What each task takes.
    total : Fraction
        The times, each by its weight.
    ratio : float
        The total over the limit of all networks of that size and degree, in steps; in seconds over the best bound.
    bisection : int or None
        Links across the narrowest cut that was found; None where it was not looked for.
    """

    candidate: Candidate
    network: Network
    tasks: tuple[Planned, ...]
    total: Fraction
    ratio: float
    bisection: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the table, plain values only."""
        row: dict[str, Any] = {
            "network": self.candidate.spec,
            "family": self.candidate.family,
            "nodes": self.candidate.nodes,
            "degree": int(self.network.out_degree.max()),
            "diameter": self.candidate.diameter,
            "mean_distance": round(self.candidate.mean_distance, 4),
            "bisection": self.bisection,
        }
        for each in self.tasks:
            row[f"{each.task}_time"] = _plain(each.time)
            row[f"{each.task}_bound"] = _plain(each.bound)
            row[f"{each.task}_any_network"] = each.limit
            row[f"{each.task}_algorithm"] = each.algorithm
        return row | {"total": _plain(self.total), "ratio": round(self.ratio, 6)} | self.extra


@dataclass(frozen=True)
class Design(Rows):
    """Networks for a problem, the best first.

    Iterating gives one mapping of plain values a network, which pandas reads.

    Attributes
    ----------
    problem : Problem
        What was wanted.
    found : tuple of Found
        Networks, every schedule verified.
    looked : int
        Networks that were looked at.
    seconds : float
        CPU time that it took.
    stopped : str
        Why it ended early, or an empty text.
    """

    problem: Problem
    found: tuple[Found, ...]
    looked: int
    seconds: float
    stopped: str = ""

    @property
    def best(self) -> Found:
        """The best network."""
        return self.found[0]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return [found.to_dict() for found in self.found]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())


def design(
    nodes: int | str,
    degree: int,
    tasks: str | Sequence[str] = "alltoall",
    *,
    ports: str = "all",
    one_way: bool = False,
    families: Sequence[str] = (),
    bandwidth: str = "50GB/s",
    latency: str = "0us",
    budget: float = 20.0,
    rounds: int | None = None,
    top: int = 8,
    seed: int = 0,
    progress: Say | None = None,
) -> Design:
    """Search for the network of so many nodes and links a node on which tasks are carried out fastest.

    Parameters
    ----------
    nodes : int or str
        Nodes, or a range such as ``"500:520"``.
    degree : int
        The most links that leave a node.
    tasks : str or sequence of str
        Such as ``"alltoall"``, with a weight ``"allreduce=3"``, and a size ``"alltoall@1MiB"`` for times in seconds.
    ports : {"all", "one", "one-send", "one-receive"}
        As for `gossamer.Rules`.
    one_way : bool
        Whether links need no opposite.
    families : sequence of str
        Where to look, of `gossamer.design.FAMILIES`. Default: everywhere.
    bandwidth, latency : str
        Of every link, where tasks have sizes.
    budget : float
        Seconds of CPU time, of search and planning together.
    rounds : int, optional
        Rounds of search instead, for results that do not depend on the machine's speed.
    top : int
        Rows of the table.
    seed : int
        For the random choices.
    progress : callable, optional
        Told how it goes.

    Returns
    -------
    Design
        Every schedule verified. The best torus is among the rows, where there is one.

    Raises
    ------
    GossamerError
        If what is asked is illegal, or no network was found.

    Notes
    -----
    An interrupt during the search ends it; what was found is planned.

    Examples
    --------
    >>> found = design(24, 3, rounds=12, top=2)
    >>> found.best.tasks[0].time <= 25, found.best.tasks[0].limit
    (True, 19)
    """
    given = [tasks] if isinstance(tasks, str) else list(tasks)
    problem = Problem(
        read_nodes(nodes), degree, read_goals([t for text in given for t in text.split(",") if t.strip()]),
        ports=ports, one_way=one_way, families=tuple(families), bandwidth=bandwidth, latency=latency,
    )  # fmt: skip
    seconds = number(budget, "budget", above=0)
    began = time.process_time()
    ranked, looked = candidates(
        problem, budget=seconds * _SEARCH_SHARE, rounds=rounds, seed=read_seed(seed), say=progress
    )
    if not ranked:
        raise NotApplicableError(
            f"no network of {nodes} nodes with at most {degree} links a node was found in the families asked for"
        )
    deadline = None if rounds is not None else began + seconds
    found, stopped = planned(problem, _chosen(ranked, problem, top), top, deadline=deadline, progress=progress)
    return Design(problem, found, looked, time.process_time() - began, stopped)


def _chosen(ranked: list[Candidate], problem: Problem, top: int) -> list[Candidate]:
    """Return the candidates to plan, in order: the best, the best torus, and the best of every family."""
    best: dict[str, Candidate] = {}
    for candidate in ranked:
        best.setdefault(candidate.family, candidate)
    tori = [best["torus"]] if "torus" in best else []
    rest = [c for c in ranked[: 2 * top] if c not in tori]
    others = [c for c in best.values() if c not in rest and c not in tori]
    return [*rest[:_SPARE], *tori, *others, *rest[_SPARE:]]


def planned(
    problem: Problem,
    chosen: Sequence[Candidate],
    top: int,
    *,
    deadline: float | None = None,
    progress: Say | None = None,
) -> tuple[tuple[Found, ...], str]:
    """Plan candidates until a deadline in CPU time; return the best, and why not all were planned.

    Raises
    ------
    ModelError
        If no candidate could be planned.
    """
    found: list[Found] = []
    stopped, why = "", ""
    longest, skipped = 0.0, 0
    for place, candidate in enumerate(chosen):
        began = time.process_time()
        if found and deadline is not None and began + longest > deadline:
            stopped = f"the budget was spent; {len(chosen) - place + skipped} of {len(chosen)} were not planned"
            break
        if found and candidate.price > found[0].ratio and _costs(candidate) > _MOST_WORK:
            skipped += 1  # it takes long to plan, and cannot be the best
            continue
        if progress is not None:
            progress(f"planning {place + 1} of {len(chosen)}: {candidate.spec[:50]}")
        try:
            found.append(_plan(problem, candidate, deadline))
            found.sort(key=lambda f: f.ratio)
        except KeyboardInterrupt:
            if not found:
                raise
            stopped = "interrupted"
            break
        except GossamerError as error:
            why = str(error)
        longest = max(longest, time.process_time() - began)
    if not found:
        raise ModelError(f"no network that was found could be planned: {why}")
    found.sort(key=lambda f: (f.ratio, f.candidate.diameter, f.candidate.spec))
    torus = [f for f in found[top:] if f.candidate.family == "torus"][:1]
    return tuple(found[: top - len(torus)] + torus), stopped


def _costs(candidate: Candidate) -> float:
    """Return how hard it is to plan a network: pairs of nodes, or nodes where all are alike."""
    alike = candidate.spec.startswith(("cayley", "torus", "twisted", "ring", "hyper", "general"))
    return candidate.nodes * (1.0 if alike else candidate.nodes)


def _plan(problem: Problem, candidate: Candidate, deadline: float | None) -> Found:
    network = parse(candidate.spec)
    tasks, total, least = [], Fraction(0), Fraction(0)
    for goal in problem.goals:
        left = None if deadline is None else max(deadline - time.process_time(), 1.0)
        even = goal.task == "total-exchange" and network.group is not None and problem.ports == "all"
        outcome = plan(
            network, goal.task, rules=problem.rules, cost=problem.cost(goal), budget=left,
            algorithm="even-words" if even else "best",
        )  # fmt: skip
        most = problem.task_limit(goal, candidate.nodes)
        spent = outcome.completion_time
        tasks.append(Planned(goal.task, spent, outcome.bound, most, outcome.algorithm, outcome))
        total += goal.weight * spent
        least += goal.weight * (outcome.bound if problem.timed else most)
    ratio = float(total / least) if least else 1.0
    cut = bottleneck(network) if candidate.nodes <= _CUT_NODES else None
    return Found(candidate, network, tuple(tasks), total, ratio, None if cut is None else cut.links)


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def row_of(network: Network, problem: Problem, family: str, deadline: float | None = None) -> Found:
    """Plan one network of one's own for a problem, such as one to compare with.

    Raises
    ------
    ModelError
        If it does not fit the problem.
    """
    candidate = priced(network, problem, family)
    if candidate is None:
        raise ModelError(f"{network.spec} has not the nodes or links that are asked for, or is not connected")
    return _plan(problem, candidate, deadline)
