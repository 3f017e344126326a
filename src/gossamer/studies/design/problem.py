"""What is wanted of a network: how many nodes and links, for which tasks, and what it must keep."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, ModelError, nearest, shown
from gossamer.networks import Network
from gossamer.networks.derived import cables
from gossamer.questions.costs import AskedCost, TimeCost
from gossamer.questions.rules import Ports, Rules
from gossamer.questions.tasks import kind_of
from gossamer.reading import fraction, number, whole
from gossamer.reading.files import file_name, read_text
from gossamer.reading.quantities import bandwidth, duration, size
from gossamer.studies.design.moore_bounds import LIMITED_TASKS, least_diameter, least_status, limit
from gossamer.studies.design.random_groups import GROUP_FAMILIES

# Networks of the families that have a given number of nodes and links a node, as specs.

Draw = np.random.Generator

_RANDOM = 4


def specs_of(family: str, nodes: int, degree: int, rng: Draw) -> list[str]:
    """Return specs of a family with so many nodes and at most so many links a node.

    >>> specs_of("torus", 64, 6, np.random.default_rng(0))
    ['torus:8x8', 'torus:16x4', 'torus:4x4x4', 'ring:64', 'hypercube:6']
    """
    return list(SPEC_FAMILIES[family](nodes, degree, rng))


def _shapes(nodes: int, least: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a product of at most so many sides, in falling order."""

    def go(left: int, sides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if left == 1:
            yield sides
        elif len(sides) < most:
            top = min(left, sides[-1] if sides else left)
            for side in range(top, least - 1, -1):
                if left % side == 0:
                    yield from go(left // side, (*sides, side))

    yield from go(nodes, ())


def _tori(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    found = [s for s in _shapes(nodes, 3, degree // 2) if len(s) > 1]
    for sides in sorted(found, key=lambda s: (len(s), s)):
        if sides[0] <= 8 * sides[-1]:
            yield f"torus:{'x'.join(map(str, sides))}"
    if nodes >= 3 and degree >= 2:
        yield f"ring:{nodes}"
    if nodes & (nodes - 1) == 0 and 1 <= nodes.bit_length() - 1 <= degree:
        yield f"hypercube:{nodes.bit_length() - 1}"


def _twisted(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for sides in _shapes(nodes, 2, degree // 2):
        if len(sides) > 1 and set(sides) == {min(sides), 2 * min(sides)}:
            yield f"twisted-torus:sides={'x'.join(map(str, sides))}"
        if len(sides) == 2:
            for shift in sorted(set(rng.integers(1, sides[0], 6).tolist())):
                yield f"twisted-torus:sides={sides[0]}x{sides[1]},twists=0,0/{shift},0"


def _generalized_hypercubes(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for sides in _shapes(nodes, 2, degree):
        if sum(sides) - len(sides) <= degree:
            yield f"generalized-hypercube:{'x'.join(map(str, sides))}"


def _drawn(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if nodes * degree % 2 == 0 and 2 < degree < nodes:
        for seed in rng.integers(0, 10**6, _RANDOM).tolist():
            yield f"jellyfish:n={nodes},d={degree},seed={seed}"


def _lifts(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if nodes % (degree + 1) == 0 and nodes > degree + 1:
        for seed in rng.integers(0, 10**6, _RANDOM).tolist():
            yield f"xpander:d={degree},k={nodes // (degree + 1)},seed={seed}"


def _slim_flies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for q in range(3, 100):
        if 2 * q * q == nodes and (3 * q - {0: 0, 1: 1, 2: 0, 3: -1}[q % 4]) // 2 <= degree:
            yield f"slim-fly:q={q}"


def _polarflies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    yield from (f"polarfly:q={q}" for q in range(2, 200) if q * q + q + 1 == nodes and q + 1 <= degree)


def _dragonflies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for h in range(1, degree):
        for a in range(2, degree - h + 2):
            if a * (a * h + 1) == nodes:
                yield f"dragonfly:a={a},h={h}"


def _kautz(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if 2 <= degree < nodes:
        yield f"generalized-kautz:{degree},{nodes}"
        yield f"generalized-de-bruijn:{degree},{nodes}"


def _permuted(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for m in range(3, 9):
        if math.factorial(m) == nodes and m - 1 <= degree:
            yield from (f"{name}:{m}" for name in ("star", "pancake", "bubble-sort"))


def _bits(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for d in range(3, 16):
        if d << d == nodes:
            yield from (text for text, links in ((f"ccc:{d}", 3), (f"butterfly:{d}", 4)) if links <= degree)


SPEC_FAMILIES: dict[str, Callable[[int, int, Draw], Iterator[str]]] = {
    "torus": _tori,
    "twisted-torus": _twisted,
    "generalized-hypercube": _generalized_hypercubes,
    "jellyfish": _drawn,
    "xpander": _lifts,
    "slim-fly": _slim_flies,
    "polarfly": _polarflies,
    "dragonfly": _dragonflies,
    "kautz": _kautz,
    "permutation-network": _permuted,
    "butterfly": _bits,
}
"""Families without a search of generators: nodes, links a node and chance give specs. Kautz networks are one-way."""


# What is wished of a network besides its size: ports, directions, links that stay, cables, failures.

FAMILIES: tuple[str, ...] = (*GROUP_FAMILIES, "lift", *SPEC_FAMILIES)
"""Where a search looks: groups whose generators it chooses, lifts of small graphs, then families with parameters."""


@dataclass(frozen=True)
class Wishes:
    """What is wished of a network besides its size and tasks.

    Attributes
    ----------
    ports : {"all", "one", "one-send", "one-receive"}
        How many packets a node sends and receives a step.
    one_way : bool
        Whether links need no opposite.
    families : str
        Where to look, such as semidirect,2-group,torus. Default: everywhere.
    contains : str
        A network whose links must be among those found, such as torus:8x8x8; the other ports are joined at will.
        Default: none.
    cubes : int
        Side of cubes whose inner lattices stay; optical switches join the ports of equal index on their faces. 0: none.
    bandwidth : str
        Of every link, where tasks have sizes.
    latency : str
        Of every link, where tasks have sizes.
    placement : str
        Where nodes stand: line, grid:16x32 or racks:4x8, or a CSV file of x,y,z in meters. Default: nowhere.
    most_cable : float
        The longest cable allowed, in meters. 0: any.
    cable_weight : float
        How much a network loses for each meter of its mean cable: a share of its time.
    failure_weight : float
        How much a network loses for its worst slowdown by a failed cable: a share of its time.
    diversity_weight : float
        How much a network loses for pairs of nodes with one shortest path only: the share of its time lost if all were.

    Examples
    --------
    >>> Wishes(families="semidirect,torus").chosen
    ('semidirect', 'torus')
    """

    ports: Ports = "all"
    one_way: bool = False
    families: str = ""
    contains: str = ""
    cubes: int = 0
    bandwidth: str = "50GB/s"
    latency: str = "0us"
    placement: str = ""
    most_cable: float = 0.0
    cable_weight: float = 0.0
    failure_weight: float = 0.0
    diversity_weight: float = 0.0

    def __post_init__(self) -> None:
        Rules(ports=self.ports)
        for name in self.chosen:
            if name not in FAMILIES:
                hint = nearest(name, FAMILIES)
                raise ModelError(f"unknown family {shown(name)}{hint}; there are {', '.join(FAMILIES)}")
        for name in ("most_cable", "cable_weight", "failure_weight", "diversity_weight"):
            number(getattr(self, name), name.replace("_", " "), 0)
        if (self.most_cable or self.cable_weight) and not self.placement:
            raise ModelError("cables have lengths only where nodes have places; add a placement such as grid:16x32")
        if self.cubes and self.contains:
            raise ModelError("ask for cubes or for a network that is contained, not for both")
        if self.cubes and (self.cubes < 3 or self.cubes > 16):
            raise ModelError(f"cubes have 3 to 16 nodes along a side, got {self.cubes}")
        if (self.cubes or self.contains) and (self.one_way or self.families):
            raise ModelError("links that stay go with no families and no one-way links")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The families as a tuple."""
        return tuple(name.strip() for name in self.families.split(",") if name.strip())

    @property
    def fixed(self) -> bool:
        """Whether some links stay."""
        return bool(self.cubes or self.contains)


MOST_NODES = 20_000
"""The most nodes of networks that are searched."""


@dataclass(frozen=True)
class Goal:
    """A task that the network is for.

    `task`: its classical name. `weight`: how often it is carried out, or how much it matters. `bytes`: size of the
    collective, such as 64MiB, where times are wanted in seconds; else empty.
    """

    task: str
    weight: Fraction = Fraction(1)
    bytes: str = ""

    @property
    def text(self) -> str:
        """The task as people type it."""
        weight = "" if self.weight == 1 else f"={float(self.weight):g}"
        return f"{self.task}{weight}{f'@{self.bytes}' if self.bytes else ''}"


def read_goals(texts: str | Sequence[str]) -> tuple[Goal, ...]:
    """Return the tasks of texts ``NAME``, ``NAME=WEIGHT``, ``NAME@BYTES`` or ``NAME=WEIGHT@BYTES``, one or more each.

    Raises ModelError if a task has no limits over all networks, or a weight is below 1/1000.

    >>> [goal.text for goal in read_goals(["alltoall", "allreduce=3"])]
    ['total-exchange', 'allreduce=3']
    """
    goals = []
    given = [texts] if isinstance(texts, str) else texts
    for text in (part for words in given for part in words.split(",") if part.strip()):
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

    `nodes`: the least and the most nodes. `degree`: the most links that leave a node. `goals`: what it is for; what
    counts is the sum of the weights times the times. `wishes`: what is wished besides.

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


# Where nodes stand, and the cables between them.

Floats = npt.NDArray[np.float64]

_AISLE, _WIDTH, _HEIGHT = 2.4, 0.6, 0.045
_SWAPS = 200


class Cabling(NamedTuple):
    """Cables of a network whose nodes have places.

    `at`, float64[N, 3]: the place of each node in meters. `ends`, int64[C, 2]: the two nodes of each cable. `length`,
    float64[C]: meters along the three axes.
    """

    at: Floats
    ends: npt.NDArray[np.int64]
    length: Floats


def places(text: str, nodes: int) -> Floats:
    """Return places for so many nodes, float64[nodes, 3], in meters.

    `text`: ``line``: a meter apart; ``grid:16x32``: a lattice with a meter between neighbors, of up to three sides;
    ``racks:4x8``: four rows of eight racks, rows 2.4 m and racks 0.6 m apart, the nodes of a rack above each other; or
    a CSV file with a line ``x,y,z`` for each place.

    Raises ModelError, FileFormatError if the text is of no such form, or there are fewer places than nodes.

    >>> places("grid:2x2", 4).tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    match = re.fullmatch(r"(grid|racks):([0-9]{1,5}(?:x[0-9]{1,5}){0,2})", text.strip().lower())
    if text.strip().lower() == "line":
        found = np.stack([np.arange(nodes), *np.zeros((2, nodes))], axis=1).astype(np.float64)
    elif match and match[1] == "grid":
        sides = [int(side) for side in match[2].split("x")] + [1, 1]
        if np.prod(sides, dtype=object) > 10**7:
            raise ModelError(f"a grid has at most 10,000,000 places, got {text}")
        found = np.stack(np.unravel_index(np.arange(int(np.prod(sides[:3]))), sides[:3]), axis=1).astype(np.float64)
    elif match and match[2].count("x") == 1:
        rows, columns = map(int, match[2].split("x"))
        each = -(-nodes // max(rows * columns, 1))
        rack = np.arange(nodes) // max(each, 1)
        found = np.stack(
            [
                rack // max(columns, 1) * _AISLE,
                rack % max(columns, 1) * _WIDTH,
                np.arange(nodes) % max(each, 1) * _HEIGHT,
            ],
            axis=1,
        )
        if rows * columns < 1:
            raise ModelError(f"racks need at least one row and column, got {text}")
    elif Path(text).suffix.lower() == ".csv":
        found = _read(text)
    else:
        raise ModelError(f"a placement is line, grid:AxB, racks:ROWSxCOLUMNS or a .csv file, got {shown(text)}")
    if len(found) < nodes:
        raise ModelError(f"placement {text} has {len(found):,} places for {nodes:,} nodes")
    return found[:nodes]


def _read(path: str) -> Floats:
    try:
        found = np.loadtxt(read_text(path).splitlines(), delimiter=",", ndmin=2)
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise FileFormatError(f"{file_name(path)}: cannot be read as lines x,y,z: {reason}") from None
    if found.shape[1] > 3 or not np.isfinite(found).all():
        raise FileFormatError(f"{path}: a place has up to three finite coordinates, got {found.shape[1]}")
    return np.pad(found, ((0, 0), (0, 3 - found.shape[1])))


def cabled(network: Network, text: str, *, seed: int = 0, arrange: bool = True) -> Cabling:
    """Return the cables of a network at a placement, the nodes arranged so that they are short.

    `network`: any network. `text`: as for `places`. `seed`: for the arrangement. `arrange`: whether nodes may take any
    of the places; else node i is at place i.

    Simulated annealing over exchanges of two nodes, 200 for each node.

    >>> from gossamer.networks import ring
    >>> float(cabled(ring(8), "grid:2x4").length.sum())
    8.0
    """
    from gossamer.studies.design import _kernels

    at = places(text, network.node_count)
    ends = cables(network)
    if arrange and len(ends):
        n = network.node_count
        both = np.concatenate([ends, ends[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        first = np.searchsorted(both[order, 0], np.arange(n + 1))
        place = np.arange(n)
        _kernels.arrange(first, both[order, 1], np.ascontiguousarray(at), place, _SWAPS * n, seed)
        at = at[place]
    length = np.abs(at[ends[:, 0]] - at[ends[:, 1]]).sum(axis=1)
    return Cabling(at, ends.astype(np.int64), length)
