"""What is wished of a network besides its size: ports, directions, links that stay, cables, failures."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.errors import ModelError, nearest, shown
from gossamer.questions.rules import Ports, Rules
from gossamer.reading import number
from gossamer.studies.design.families import SPEC_FAMILIES
from gossamer.studies.design.random_groups import GROUP_FAMILIES

__all__ = ["FAMILIES", "Wishes"]

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
        for field in ("most_cable", "cable_weight", "failure_weight", "diversity_weight"):
            number(getattr(self, field), field.replace("_", " "), 0)
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
