"""Machines by name: tori of TPUs and Trainium chips, Tofu-D, Blue Gene/Q, and dragonflies of Slingshot switches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gossamer.atomic_files import seconds_text
from gossamer.errors import NetworkError, shown
from gossamer.networks.dragonfly import DRAGONFLY, dragonfly
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.grids import array, linear_array, ring, torus
from gossamer.networks.machines import gigabytes, machine_family, machine_spec, speeds_of, whole
from gossamer.networks.network import Network
from gossamer.networks.product import product
from gossamer.networks.structures import Assumption, Assumptions, SwitchAbilities
from gossamer.networks.twisted_tori import twisted_torus

_GB = 10**9
_SIDES = "sides"


@dataclass(frozen=True)
class _Torus:
    """What a machine whose links make a torus is.

    * `name`, `summary`, `source`, `example`: as of `Family`.
    * `dimensions`: sides that are given.
    * `rate`: bytes a second of a link, each way.
    * `latency`: seconds of a link.
    * `measured`: whether the latency is published.
    * `wraps`: which dimensions are rings, from the sides.
    * `most`: largest side.
    * `inner`: further sides that every machine has.
    * `bare`: the sides where none are given; empty where they must be.
    * `twisted`: whether slices of sides n and 2n may be twisted.
    * `doubled`: whether the two ports of a dimension of side 2 both lead to the one neighbor, which makes a link twice
      as fast.
    * `last`: bytes a second of the links of the last dimension, where they are others.
    """

    name: str
    summary: str
    source: str
    example: str
    dimensions: int
    rate: Fraction
    latency: Fraction
    measured: bool
    wraps: Callable[[Sequence[int]], Sequence[bool]]
    most: int = 1_000_000
    inner: tuple[int, ...] = ()
    bare: tuple[int, ...] = ()
    twisted: bool = False
    doubled: bool = False
    last: Fraction | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """The figures with the values of the data sheet."""
        found: dict[str, Any] = {"link": self.rate, "latency": self.latency}
        if self.last is not None:
            found["outside"] = self.last
        return found | ({"twisted": "no"} if self.twisted else {}) | {"wraps": "usual"}

    def sides_of(self, given: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the sides that are given, checked."""
        sides = tuple(given.get(_SIDES, self.bare))
        if not sides:
            raise NetworkError(f"{self.name}: the sides are missing, such as {self.example}")
        if len(sides) != self.dimensions:
            raise NetworkError(f"{self.name}: {self.dimensions} sides are needed, such as {self.example}, "
                               f"got {'x'.join(map(str, sides))}")  # fmt: skip
        for side in sides:
            whole_number(side, self.name, "a side", 1, self.most)
        if self.last is not None and sides[-1] not in (1, 4):
            raise NetworkError(f"{self.name}: 1 or 4 servers of 16 chips are joined, got {sides[-1]}")
        return sides


def _of_slices(sides: Sequence[int]) -> Sequence[bool]:
    """Cubes of 4 x 4 x 4 chips are joined to tori by optical switches; a part of a cube is a mesh."""
    return [all(side % 4 == 0 for side in sides)] * len(sides)


def _of_pods(sides: Sequence[int]) -> Sequence[bool]:
    """Only the links around a whole pod, of 16 x 16 chips, close a ring."""
    return [side == 16 for side in sides]


def _always(sides: Sequence[int]) -> Sequence[bool]:
    return [True] * len(sides)


def _of_tofu(sides: Sequence[int]) -> Sequence[bool]:
    """Return the rings of a Tofu: x, y, z and b; the axes a and c have 2 nodes."""
    return [*[True] * len(sides)]


def _wraps(kind: _Torus, sides: tuple[int, ...], given: Mapping[str, Any]) -> list[bool]:
    asked = given.get("wraps", "usual")
    if asked == "usual":
        return list(kind.wraps(sides))
    return [asked == "all"] * len(sides)


def _built(kind: _Torus, given: Mapping[str, Any]) -> Network:
    """Return the network of a machine, with the speeds of its links."""
    _torus_size(kind, given)
    sides = kind.sides_of(given)
    every = (*sides, *kind.inner)
    wraps = [*_wraps(kind, sides, given), *(True for _ in kind.inner)]
    if given.get("twisted", "no") == "yes":
        base = twisted_torus(sides)
    elif all(w or s <= 2 for w, s in zip(wraps, every, strict=True)):
        base = torus(*every)
    elif not any(wraps):
        base = array(*every)
    else:
        base = product(*(ring(s) if w else linear_array(s) for w, s in zip(wraps, every, strict=True)))
    told = {**kind.figures, **{k: v for k, v in given.items() if k != _SIDES}}
    rates = np.full(base.link_count, float(told["link"]))
    if kind.doubled or kind.last is not None:
        places = base.coordinates
        assert places is not None  # grids and products have them
        axis = (places[base.link_source] != places[base.link_target]).argmax(axis=1)
        if kind.doubled:
            rates[np.array(every)[axis] == 2] *= 2
        if kind.last is not None:
            rates[axis == len(every) - 1] = float(told["outside"])
    head = "x".join(map(str, sides)) if sides != kind.bare else ""
    spec = machine_spec(kind.name, head, {k: told[k] for k in kind.figures}, kind.figures)
    known = [*base.structures, speeds_of(rates, float(told["latency"]), base.link_count)]
    if "latency" not in given and not kind.measured:
        text = f"links take {seconds_text(kind.latency)} (data sheets have no latencies)"
        known.append(Assumptions((Assumption(text, "latency=TIME"),)))
    return Network(spec, base.node_count, base.link_source, base.link_target, structures=known)


def _torus_size(kind: _Torus, given: Mapping[str, Any]) -> Size:
    sides = kind.sides_of(given)
    if given.get("twisted", "no") == "yes":
        n = min(sides)
        if set(sides) != {n, 2 * n} or not all(_wraps(kind, sides, given)):
            told = "x".join(map(str, sides))
            raise NetworkError(
                f"{kind.name}: slices of sides n and 2n, multiples of 4, can be twisted, and {told} is none"
            )
    every = (*sides, *kind.inner)
    wraps = [*_wraps(kind, sides, given), *(True for _ in kind.inner)]
    nodes = int(np.prod([float(s) for s in every])) if np.prod([float(s) for s in every]) < 1e18 else 10**18
    links = sum(nodes // s * 2 * (s if w and s > 2 else s - 1) for s, w in zip(every, wraps, strict=True))
    return checked_size(kind.name, nodes, links)


def _sides(family: str, name: str, text: str) -> tuple[int, ...]:
    if not re.fullmatch("[0-9]{1,9}([xX×*][0-9]{1,9})*", text):
        raise NetworkError(f"{family}: the sides must be whole numbers such as 4x4x8, got {shown(text)}")
    return tuple(int(side) for side in re.split("[xX×*]", text))


_WORDS = {"twisted": ("no", "yes"), "wraps": ("usual", "all", "none")}


def _of_torus(kind: _Torus) -> Family:
    return machine_family(
        kind.figures, _SIDES, _sides, "x".join("ABCDEFG"[: kind.dimensions]), _WORDS,
        name=kind.name, function=partial(_built, kind), size=partial(_torus_size, kind), summary=kind.summary,
        example=kind.example, source=kind.source, bare=bool(kind.bare),
    )  # fmt: skip


_ICI = Fraction(1, 10**6)
"""Latency of a link between TPUs, about what is measured; data sheets do not tell it."""
_SCALING = "rings as of the Cloud TPU pages and the book How to Scale Your Model"

_MACHINES = (
    _Torus(
        "tpu-v4", "slice of TPU v4: 3-D torus of cubes of 4x4x4 chips, links of 50 GB/s; smaller slices are meshes",
        "https://docs.cloud.google.com/tpu/docs/v4; 400 Gbit/s a link each way: Jouppi et al. 2023", "tpu-v4:4x4x4",
        3, gigabytes("50"), _ICI, False, _of_slices, 256, twisted=True,
    ),
    _Torus(
        "tpu-v5p", "slice of TPU v5p: 3-D torus of cubes of 4x4x4 chips, links of 100 GB/s; smaller slices are meshes",
        "https://docs.cloud.google.com/tpu/docs/v5p: 1,200 GB/s a chip, both ways, over 6 links", "tpu-v5p:8x8x8",
        3, gigabytes("100"), _ICI, False, _of_slices, 256, twisted=True,
    ),
    _Torus(
        "tpu-v5e", "slice of TPU v5e: 2-D, up to 16x16, links of 50 GB/s; a side of 16 is a ring",
        f"https://docs.cloud.google.com/tpu/docs/v5e: 400 GB/s a chip, both ways, over 4 links; {_SCALING}",
        "tpu-v5e:16x16", 2, gigabytes("50"), _ICI, False, _of_pods, 16,
    ),
    _Torus(
        "tpu-v6e", "slice of TPU v6e (Trillium): 2-D, up to 16x16, links of 100 GB/s; a side of 16 is a ring",
        f"https://docs.cloud.google.com/tpu/docs/v6e: 800 GB/s a chip, both ways, over 4 links; {_SCALING}",
        "tpu-v6e:16x16", 2, gigabytes("100"), _ICI, False, _of_pods, 16,
    ),
    _Torus(
        "trainium2", "16 Trainium2 in a 4x4 torus, links of 128 GB/s; 4x4x4: four such, joined by rings of 64 GB/s",
        "AWS Neuron, Amazon EC2 Trn2 architecture: 1,024 GB/s a chip inside and 256 outside, both ways",
        "trainium2:4x4x4", 3, gigabytes("128"), _ICI, False, _always, 4, bare=(4, 4, 1), last=gigabytes("64"),
    ),
    _Torus(
        "tofu-d", "Tofu interconnect D: XxYxZ units of 2x3x2 nodes, a 6-D torus with links of 6.8 GB/s",
        "Ajima et al. 2018", "tofu-d:4x4x4", 3, gigabytes("6.8"), Fraction(490, _GB), True, _of_tofu, inner=(2, 3, 2),
    ),
    _Torus(
        "bluegene-q", "Blue Gene/Q: 5-D torus, links of 2 GB/s, of which a dimension of 2 nodes has two",
        "IBM System Blue Gene Solution: Blue Gene/Q Hardware Overview, chapter 2", "bluegene-q:4x4x4x4x2",
        5, gigabytes("2"), Fraction(40, _GB), True, _always, doubled=True,
    ),
)  # fmt: skip


# Dragonflies of Slingshot switches.

_SLINGSHOT = {
    "switches": 32, "hosts": 16, "global": 17, "link": gigabytes("25"), "latency": Fraction(350, _GB),
}  # fmt: skip


def _slingshot(given: Mapping[str, Any]) -> Network:
    _slingshot_size(given)
    groups, told = int(given.get("groups", 1)), {**_SLINGSHOT, **{k: v for k, v in given.items() if k != "groups"}}
    base = dragonfly(told["switches"], told["global"], groups, told["hosts"])
    count = base.link_count
    return Network(
        machine_spec("slingshot", str(groups) if groups > 1 else "", {k: told[k] for k in _SLINGSHOT}, _SLINGSHOT),
        base.node_count,
        base.link_source,
        base.link_target,
        base.link_capacity,
        terminal_count=base.terminal_count,
        structures=[
            *base.structures,
            speeds_of(float(told["link"]), float(told["latency"]), count),
            SwitchAbilities(copies=False, combines=False),
        ],
    )


def _slingshot_size(given: Mapping[str, Any]) -> Size:
    told = {**_SLINGSHOT, **given}
    whole_number(told["hosts"], "slingshot", "hosts", 1, 1000)
    for name in ("switches", "global"):
        whole_number(told[name], "slingshot", name, 1, 1000)
    size: Size = DRAGONFLY.size(told["switches"], told["global"], told.get("groups", 1), told["hosts"])
    return size


SLINGSHOT = machine_family(
    _SLINGSHOT, "groups", whole, "GROUPS",
    name="slingshot", function=_slingshot, size=_slingshot_size, example="slingshot:2,switches=4,hosts=2,global=2",
    summary="groups of Slingshot switches of 64 ports: hosts, all other switches of the group, links to other groups",
    source="De Sensi, Di Girolamo, McMahon, Roweth and Hoefler 2020", bare=True,
)  # fmt: skip

TORI: tuple[Family, ...] = (*map(_of_torus, _MACHINES), SLINGSHOT)
"""The families of tori and dragonflies."""
