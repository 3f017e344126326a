"""From a problem to a ranked table of networks, each verified."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from gossamer.atomic_files import Rows, attributes, plain
from gossamer.errors import GossamerError, ModelError, NotApplicableError, ScheduleError
from gossamer.networks import Network
from gossamer.networks.bottleneck import bottleneck
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.reading import number, whole
from gossamer.reading import seed as read_seed
from gossamer.studies.design.problem import Cabling, Goal, Problem, Wishes, cabled, read_goals, read_nodes
from gossamer.studies.design.search import CandidateNetwork, Say, candidates, fixed_candidates, single_paths
from gossamer.studies.sweeps.link_failures import faults

_SEARCH_SHARE = 0.65
_SPARE = 3
_CUT_NODES = 1_500
_FAILURES = 12
_SURELY, _MUCH = 2, 0.9
"""How many times the time left a plan must take to be left out, where its network is not that much better."""
SECONDS_OF_WORK = 1e-4
"""About the CPU seconds of a plan for each unit of `work`."""
MOST_WORK = 30_000
"""What a network may take to plan that cannot be the best; see `work`."""


@dataclass(frozen=True)
class PlannedTask:
    """What one task takes on a network.

    * `task`: the classical name.
    * `time`, `bound`: completion time of the verified schedule and the largest lower bound on this network, in the unit
      of the cost.
    * `limit`: in steps, what no network of that size and degree can beat.
    * `algorithm`: what built the schedule.
    * `bound_scope`: the schedules that do not beat the bound, empty if none does.
    * `outcome`: the plan, where it was made here and not read from a file.
    """

    task: str
    time: Fraction
    bound: Fraction
    limit: int
    algorithm: str
    bound_scope: str = ""
    outcome: Outcome | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class DesignedNetwork:
    """A network that was planned and verified.

    * `candidate`: what was known before.
    * `tasks`: what each task takes.
    * `total`: the times, each by its weight.
    * `ratio`: the total over the limit of all networks of that size and degree, in steps; in seconds over the best
      bound.
    * `score`: what the table is ranked by: the ratio, raised by what cables and failures cost.
    * `bisection`: links across the narrowest cut that was found; None where it was not looked for.
    * `cabling`: where nodes stand and how long cables are, where a placement was given.
    * `worst_failure`, `mean_failure`: the slowdown of the first task by a failed cable, where it counts.
    * `single_paths`: the share of pairs of nodes with one shortest path only, where it counts.
    """

    candidate: CandidateNetwork
    network: Network
    tasks: tuple[PlannedTask, ...]
    total: Fraction
    ratio: float
    score: float = 0.0
    bisection: int | None = None
    cabling: Cabling | None = field(default=None, repr=False, compare=False)
    worst_failure: float | None = None
    mean_failure: float | None = None
    single_paths: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the table, plain values only."""
        row: dict[str, Any] = {
            "network": self.candidate.spec,
            **attributes(self.candidate, "family nodes"),
            "degree": int(self.network.out_degree.max()),
            "diameter": self.candidate.diameter,
            "mean_distance": round(self.candidate.mean_distance, 4),
            "bisection": self.bisection,
        }
        for each in self.tasks:
            row[f"{each.task}_time"] = plain(each.time)
            row[f"{each.task}_bound"] = plain(each.bound)
            row[f"{each.task}_bound_scope"] = each.bound_scope
            row[f"{each.task}_any_network"] = each.limit
            row[f"{each.task}_algorithm"] = each.algorithm
        row |= {"total": plain(self.total), "ratio": round(self.ratio, 6), "score": round(self.score, 6)}
        if self.cabling is not None:
            row["mean_cable_m"] = round(float(self.cabling.length.mean()), 3)
            row["longest_cable_m"] = round(float(self.cabling.length.max()), 3)
        if self.worst_failure is not None:
            row |= {"worst_failure": round(self.worst_failure, 4), "mean_failure": round(self.mean_failure or 1.0, 4)}
        if self.single_paths is not None:
            row["single_paths"] = round(self.single_paths, 4)
        return row


@dataclass(frozen=True)
class Design(Rows):
    """Networks for a problem, the best first.

    Iterating gives one mapping of plain values a network, which pandas reads.

    * `problem`: what was wanted.
    * `found`: networks, every schedule verified.
    * `looked`: networks that were looked at.
    * `seconds`: CPU time that it took.
    * `stopped`: why it ended early, or an empty text.
    """

    problem: Problem
    found: tuple[DesignedNetwork, ...]
    looked: int
    seconds: float
    stopped: str = ""

    @property
    def best(self) -> DesignedNetwork:
        """The best network."""
        return self.found[0]

    @property
    def torus(self) -> DesignedNetwork | None:
        """The best torus to compare with; None where there is none, or it is the best network itself."""
        return next((each for each in self.found[1:] if each.candidate.family == "torus"), None)

    def certificate(self) -> dict[str, Any]:
        """Return the schedule of the best network, and the bound on all networks of that size and degree, for JSON.

        Raises
        ------
        ScheduleError
            If it is for several tasks, the schedule was not kept, or it has no certificate; see
            `gossamer.planning.certificates.everywhere_certificate`.
        """
        from gossamer.planning.certificates import everywhere_certificate

        if len(self.best.tasks) > 1:
            raise ScheduleError(f"a certificate is of one task, and the design is for {len(self.best.tasks)}")
        outcome = self.best.tasks[0].outcome
        if outcome is None or outcome.schedule is None:
            raise ScheduleError("the schedule of the best network was not kept; it has no certificate")
        return everywhere_certificate(outcome.schedule, self.problem.degree, one_way=self.problem.one_way)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return [found.to_dict() for found in self.found]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())


def design(
    nodes: int | str,
    degree: int,
    tasks: str | Sequence[str] = "alltoall",
    wishes: Wishes | None = None,
    *,
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
    wishes : Wishes, optional
        What is wished besides: ports, directions, families, links that stay, cables, failures.
    budget : float
        Seconds of CPU time, of search and planning together.
    rounds : int, optional
        Rounds of search instead of a budget, for results that do not depend on the machine's speed.
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
    An interrupt during the planning ends it, and what was planned is returned.

    Examples
    --------
    >>> found = design(24, 3, rounds=12, top=2)
    >>> found.best.tasks[0].time <= 25, found.best.tasks[0].limit
    (True, 20)
    """
    problem = Problem(read_nodes(nodes), whole(degree, "degree", 1, 1024), read_goals(tasks), wishes or Wishes())
    seconds, most = number(budget, "budget", above=0), whole(top, "top", 1, 1000)
    steps = None if rounds is None else whole(rounds, "rounds", 1)
    began = time.process_time()
    look = fixed_candidates if problem.wishes.fixed else candidates
    ranked, looked = look(problem, budget=seconds * _SEARCH_SHARE, rounds=steps, seed=read_seed(seed), say=progress)
    if not ranked:
        raise NotApplicableError(
            f"no network of {nodes} nodes with at most {degree} links a node was found in the families asked for"
        )
    deadline = None if steps is not None else began + seconds
    chosen = ranked if problem.wishes.fixed else chosen_candidates(ranked, problem, most)
    found, stopped = planned(problem, chosen[: 3 * most], most, deadline=deadline, progress=progress)
    return Design(problem, found, looked, time.process_time() - began, stopped)


def chosen_candidates(ranked: list[CandidateNetwork], problem: Problem, top: int) -> list[CandidateNetwork]:
    """Return the candidates to plan, in order: the best torus, the best, and the best of every family.

    The torus is the first, then the best of those whose nodes are all alike: these are planned in no time, so that they
    are there when the budget is spent.
    """
    best: dict[str, CandidateNetwork] = {}
    for candidate in ranked:
        best.setdefault(candidate.family, candidate)
    tori = [best["torus"]] if "torus" in best else []
    rest = [c for c in ranked[: 2 * top] if c not in tori]
    others = [c for c in best.values() if c not in rest and c not in tori]
    soon = [c for c in (*rest, *others) if work(c) <= c.nodes][:1]
    order = [*rest[:_SPARE], *others, *rest[_SPARE:]]
    return [*tori, *soon, *(c for c in order if c not in soon)]


def planned(
    problem: Problem,
    chosen: Sequence[CandidateNetwork],
    top: int,
    *,
    deadline: float | None = None,
    progress: Say | None = None,
) -> tuple[tuple[DesignedNetwork, ...], str]:
    """Plan candidates until a deadline in CPU time; return the best, and why not all were planned.

    The torus to compare with and one network besides are planned whatever the deadline is.

    Raises ModelError if no candidate could be planned.
    """
    found: list[DesignedNetwork] = []
    stopped, why = "", ""
    longest, skipped, late = 0.0, 0, 0
    least = 2 if chosen[0].family == "torus" else 1
    for place, candidate in enumerate(chosen):
        began = time.process_time()
        enough = bool(found) and place >= least
        if enough and deadline is not None and began + longest > deadline:
            stopped = f"the budget was spent; {len(chosen) - place + skipped + late} of {len(chosen)} were not planned"
            break
        if enough and candidate.price > found[0].ratio and work(candidate) > MOST_WORK:
            skipped += 1  # it takes long to plan, and cannot be the best
            continue
        slow = deadline is not None and SECONDS_OF_WORK * work(candidate) > _SURELY * (deadline - began)
        if enough and slow and candidate.price > _MUCH * found[0].ratio:
            late += 1  # it takes longer than there is time, and is not much better
            continue
        if progress is not None:
            progress(f"planning {place + 1} of {len(chosen)}: {candidate.spec[:50]}")
        try:
            found.append(plan_candidate(problem, candidate, deadline))
            found.sort(key=lambda f: f.score)
        except KeyboardInterrupt:
            if not found:
                raise
            stopped = "interrupted"
            break
        except GossamerError as error:
            why = str(error)
        longest = max(longest, time.process_time() - began)
    if late and not stopped:
        stopped = f"the budget was too small; {skipped + late} of {len(chosen)} were not planned"
    if not found:
        raise ModelError(f"no network that was found could be planned: {why}")
    return best_designs(found, top), stopped


def best_designs(found: list[DesignedNetwork], top: int) -> tuple[DesignedNetwork, ...]:
    """Return so many networks of a table, the best first, the best torus among them."""
    ranked = sorted(found, key=lambda f: (f.score, f.candidate.diameter, f.candidate.spec))
    torus = [f for f in ranked[top:] if f.candidate.family == "torus"][:1]
    return (*ranked[: top - len(torus)], *torus)


def work(candidate: CandidateNetwork) -> float:
    """Return how hard it is to plan a network: pairs of nodes, or nodes where all are alike."""
    alike = candidate.spec.startswith(("cayley", "torus", "twisted", "ring", "hyper", "general"))
    return candidate.nodes * (1.0 if alike else candidate.nodes)


def plan_candidate(problem: Problem, candidate: CandidateNetwork, deadline: float | None = None) -> DesignedNetwork:
    """Plan the tasks of a problem on a candidate, by a deadline in CPU time, and measure what is wished besides.

    Raises GossamerError if a task cannot be planned, or a cable is too long.
    """
    network = candidate.built
    tasks, total, least = [], Fraction(0), Fraction(0)
    for goal in problem.goals:
        left = None if deadline is None else max(deadline - time.process_time(), 1.0)
        outcome = plan(
            network, goal.task, rules=problem.rules, cost=problem.cost(goal), budget=left,
            algorithm=_algorithm(problem, goal, network),
        )  # fmt: skip
        most = problem.task_limit(goal, candidate.nodes)
        unit = outcome.seconds / outcome.completion_time if outcome.seconds is not None else Fraction(1)
        spent, bound = outcome.completion_time * unit, outcome.bound * unit
        tasks.append(PlannedTask(goal.task, spent, bound, most, outcome.algorithm, outcome.bound_scope, outcome))
        total += goal.weight * spent
        least += goal.weight * (bound if problem.timed else most)
    ratio = float(total / least) if least else 1.0
    cut = bottleneck(network) if candidate.nodes <= _CUT_NODES else None
    found = DesignedNetwork(candidate, network, tuple(tasks), total, ratio, ratio, None if cut is None else cut.links)
    return _wished(problem, found)


def _algorithm(problem: Problem, goal: Goal, network: Network) -> str:
    """Return the algorithm that is known to be the best there, or "best"."""
    if goal.task != "total-exchange" or problem.ports != "all":
        return "best"
    if network.group is not None:
        return "even-words"
    return (
        "congestion-priced-paths" if network.levels is None and network.grid is None and not problem.timed else "best"
    )


def _wished(problem: Problem, found: DesignedNetwork) -> DesignedNetwork:
    """Add the lengths of cables and the slowdown by failures, where these count."""
    wishes, score = problem.wishes, found.ratio
    cabling, worst, mean = None, None, None
    if wishes.placement:
        cabling = cabled(found.network, wishes.placement)
        longest = float(cabling.length.max(initial=0))
        if wishes.most_cable and longest > wishes.most_cable + 1e-9:
            raise ModelError(f"{found.candidate.spec} needs a cable of {longest:.2f} m, over {wishes.most_cable:g} m")
        score *= 1 + wishes.cable_weight * float(cabling.length.mean())
    if wishes.failure_weight:
        report = faults(found.network, problem.goals[0].task, rules=problem.rules, sample=_FAILURES)
        worst = report.worst.slowdown if report.worst is not None else None
        mean = report.mean_slowdown
        score *= 1 + wishes.failure_weight * ((worst or 1.0) - 1)
    single = single_paths(found.network) if wishes.diversity_weight else None
    score *= 1 + wishes.diversity_weight * (single or 0.0)
    return replace(found, score=score, cabling=cabling, worst_failure=worst, mean_failure=mean, single_paths=single)
