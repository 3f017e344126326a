"""What is wanted of a network: how many nodes and links, for which tasks, and what it must keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from gossamer.errors import ModelError, nearest, shown
from gossamer.questions.costs import AskedCost, TimeCost
from gossamer.questions.rules import Ports, Rules
from gossamer.questions.tasks import kind_of
from gossamer.reading import fraction, whole
from gossamer.reading.quantities import bandwidth, duration, size
from gossamer.studies.design.cabling import places
from gossamer.studies.design.constraints import Wishes
from gossamer.studies.design.moore_bounds import LIMITED_TASKS, least_diameter, least_status, limit

__all__ = ["Goal", "Problem", "read_degrees", "read_goals", "read_nodes"]

MOST_NODES = 20_000
"""The most nodes of networks that are searched."""


@dataclass(frozen=True)
class Goal:
    """A task that the network is for.

    Attributes
    ----------
    task : str
        Its classical name.
    weight : Fraction
        How often it is carried out, or how much it matters.
    bytes : str
        Size of the collective, such as 64MiB, where times are wanted in seconds; else empty.
    """

    task: str
    weight: Fraction = Fraction(1)
    bytes: str = ""

    @property
    def text(self) -> str:
        """The task as people type it."""
        weight = "" if self.weight == 1 else f"={float(self.weight):g}"
        return f"{self.task}{weight}{f'@{self.bytes}' if self.bytes else ''}"


def read_goals(texts: Sequence[str]) -> tuple[Goal, ...]:
    """Return the tasks of texts ``NAME``, ``NAME=WEIGHT``, ``NAME@BYTES`` or ``NAME=WEIGHT@BYTES``.

    Raises
    ------
    ModelError
        If a task has no limits over all networks, or a weight is below 1/1000.

    Examples
    --------
    >>> [goal.text for goal in read_goals(["alltoall", "allreduce=3"])]
    ['total-exchange', 'allreduce=3']
    """
    goals = []
    for text in texts:
        head, _, size = text.partition("@")
        name, _, weight = head.partition("=")
        task = kind_of(name.strip()).name
        if task not in LIMITED_TASKS:
            hint = nearest(task, LIMITED_TASKS)
            raise ModelError(f"a network is designed for {', '.join(LIMITED_TASKS)}, not for {task}{hint}")
        share = fraction(weight, f"the weight of {task}", Fraction(1, 1000)) if weight else Fraction(1)
        goals.append(Goal(task, share, size.strip()))
    if not goals:
        raise ModelError("say what the network is for, such as --task alltoall")
    if len({goal.task for goal in goals}) < len(goals):
        raise ModelError("a task is given twice; add up its weights")
    if len({bool(goal.bytes) for goal in goals}) > 1:
        raise ModelError("give the bytes of every task, as in alltoall@1MiB, or of none")
    return tuple(goals)


def read_nodes(text: str | int) -> tuple[int, int]:
    """Return the least and the most nodes of ``512`` or ``500:520``.

    >>> read_nodes("500:520"), read_nodes(64)
    ((500, 520), (64, 64))
    """
    return _range(text, "nodes", ("512", "500:520"), (2, MOST_NODES), 1001)


def read_degrees(text: str | int) -> tuple[int, int]:
    """Return the least and the most links a node of ``6`` or ``3:6``.

    >>> read_degrees("3:6"), read_degrees(4)
    ((3, 6), (4, 4))
    """
    return _range(text, "degree", ("6", "3:6"), (1, 1024), 32)


def _range(
    text: str | int, name: str, examples: tuple[str, str], allowed: tuple[int, int], most: int
) -> tuple[int, int]:
    """Return both ends of a number or a range of at most so many numbers."""
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*(?::\s*([0-9]{1,9})\s*)?", str(text))
    if not match:
        one, several = examples
        raise ModelError(f"{name} must be a number such as {one}, or a range such as {several}, got {shown(text)}")
    low = whole(int(match[1]), name, *allowed)
    high = whole(int(match[2] or low), name, *allowed)
    if high < low:
        raise ModelError(f"{name}: the range {low}:{high} is empty; did you mean {high}:{low}?")
    if high - low >= most:
        raise ModelError(f"{name}: a range has at most {most:,} numbers, got {low}:{high}")
    return low, high


@dataclass(frozen=True)
class Problem:
    """What is wanted.

    Attributes
    ----------
    nodes : tuple of int
        The least and the most nodes.
    degree : int
        The most links that leave a node.
    goals : tuple of Goal
        What it is for; what counts is the sum of the weights times the times.
    wishes : Wishes
        What is wished besides.

    Examples
    --------
    >>> problem = Problem((512, 512), 6, read_goals(["alltoall"]))
    >>> problem.limit(512)
    Fraction(303, 1)
    """

    nodes: tuple[int, int]
    degree: int
    goals: tuple[Goal, ...]
    wishes: Wishes = field(default_factory=Wishes)
    _times: dict[int, Fraction] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        whole(self.degree, "degree", 1, 1024)
        if self.degree >= self.nodes[1]:
            raise ModelError(f"{self.degree} links a node are more than {self.nodes[1] - 1} other nodes")
        for goal in self.goals:
            limit(goal.task, self.nodes[1], self.degree, ports=self.ports, one_way=self.one_way)
            self.cost(goal)
        if self.wishes.placement:
            places(self.wishes.placement, self.nodes[0])

    @property
    def ports(self) -> Ports:
        """How many packets a node sends and receives a step."""
        return self.wishes.ports

    @property
    def one_way(self) -> bool:
        """Whether links need no opposite."""
        return self.wishes.one_way

    @property
    def families(self) -> tuple[str, ...]:
        """Where to look; empty: everywhere."""
        return self.wishes.chosen

    @cached_property
    def rules(self) -> Rules:
        """The rules of the schedules."""
        return Rules(ports=self.ports)

    @property
    def timed(self) -> bool:
        """Whether times are in seconds."""
        return bool(self.goals[0].bytes)

    def cost(self, goal: Goal) -> AskedCost | None:
        """Return what a schedule of a task costs, None for steps."""
        if not goal.bytes:
            return None
        return TimeCost(
            size(goal.bytes, "bytes"),
            bandwidth=bandwidth(self.wishes.bandwidth, "bandwidth"),
            latency=duration(self.wishes.latency, "latency"),
            form="blocks",
        )

    def limit(self, nodes: int) -> Fraction:
        """Return what the tasks take together at least, in steps, on any network of so many nodes."""
        if nodes not in self._times:
            self._times[nodes] = sum(
                (goal.weight * self.task_limit(goal, nodes) for goal in self.goals), start=Fraction(0)
            )
        return self._times[nodes]

    def task_limit(self, goal: Goal, nodes: int) -> int:
        """Return what one task takes at least, in steps, on any network of so many nodes."""
        return limit(goal.task, nodes, self.degree, ports=self.ports, one_way=self.one_way).value

    @cached_property
    def rate(self) -> int:
        """Packets that a node sends and receives a step."""
        rules = self.rules
        return 1 if rules.send_limited or rules.receive_limited else self.degree

    @cached_property
    def prices(self) -> tuple[float, float]:
        """What a unit of the sum of distances, and of the diameter, costs by the bounds of the tasks."""
        far = {"broadcast": 1.0, "reduce": 1.0, "allreduce": 0.02, "total-exchange": 0.001}
        by_sum = sum(float(g.weight) for g in self.goals if g.task == "total-exchange") / self.rate
        by_far = sum(float(g.weight) * far.get(g.task, 0.01) for g in self.goals)
        return max(by_sum, 1e-6), by_far

    def least_price(self, nodes: int) -> float:
        """Return the price of the best network there could be."""
        by_sum, by_far = self.prices
        status = least_status(nodes, self.degree, one_way=self.one_way)
        return by_sum * status + by_far * least_diameter(nodes, self.degree, one_way=self.one_way)
