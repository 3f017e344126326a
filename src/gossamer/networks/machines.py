"""Machines by name: boxes and racks of accelerators with the speeds of their data sheets, such as ``dgx-h100:4``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gossamer.atomic_files import bandwidth_text, exact_bandwidth, exact_duration, seconds_text
from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks.family import Family, Form, Size, checked_size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.router_networks import both_ways
from gossamer.networks.structures import Assumption, Assumptions, CableCounts, Speeds, Structure, SwitchAbilities, Tiers
from gossamer.reading.quantities import bandwidth, duration

# The figures of a machine: what may stand behind its name, each with the value of the data sheet.

Figure = Callable[[str, str, str], Any]
"""Reads a figure: the family, the name of the figure and the text give its value."""


def _rate(family: str, name: str, text: str) -> Fraction:
    """Read bytes a second, such as ``50GB/s`` or ``400Gbit/s``."""
    return bandwidth(text, f"{family}: {name}", error=NetworkError)


def _time(family: str, name: str, text: str) -> Fraction:
    """Read seconds, such as ``500ns``."""
    return duration(text, f"{family}: {name}", error=NetworkError)


def whole(family: str, name: str, text: str) -> int:
    """Read a whole number."""
    if not re.fullmatch("[0-9]{1,18}", text):
        raise NetworkError(f"{family}: {name} must be a whole number, got {shown(text)}")
    return int(text)


def _one_of(*words: str) -> Figure:
    def read(family: str, name: str, text: str) -> str:
        if text.lower() not in words:
            raise NetworkError(f"{family}: {name} must be {' or '.join(words)}, got {shown(text)}")
        return text.lower()

    return read


def figures(first: str, read_first: Figure, readers: Mapping[str, Figure]) -> Form:
    """Return the form ``FIRST,name=value,...``: a value without a name is that of `first`; units keep their case."""

    def read(family: Family, text: str) -> list[object]:
        every = {first: read_first, **readers}
        found: dict[str, Any] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, equals, value = part.partition("=")
            name, value = (name.strip().lower(), value.strip()) if equals else (first, part)
            if name not in every:
                hint = nearest(name, list(every)) or f"; {family.usage()}"
                raise NetworkError(f"{family.name}: unknown parameter {shown(name)}{hint}")
            if name in found:
                raise NetworkError(f"{family.name}: {name} is given twice; {family.usage()}")
            found[name] = every[name](family.name, name, value)
        return [found]

    return read


def machine_spec(family: str, head: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Return the canonical spec of a machine: its name, its size, and the figures that are not those of its data sheet.

    >>> machine_spec("dgx-h100", "", {"nic": Fraction(25 * 10**9)}, {"nic": Fraction(50 * 10**9)})
    'dgx-h100:nic=25GB/s'
    """
    words = [head] * bool(head)
    for name, value in given.items():
        if value != defaults[name]:
            told = str(value)
            if isinstance(defaults[name], Fraction):
                told = (exact_duration if "latency" in name else exact_bandwidth)(float(value))
            words.append(f"{name}={told}")
    return f"{family}:{','.join(words)}" if words else family


def machine_family(
    values: Mapping[str, Any], first: str, read_first: Figure, head: str,
    choices: Mapping[str, tuple[str, ...]] | None = None, **told: Any,
) -> Family:  # fmt: skip
    """Return the family of a machine, from the figures of its data sheet.

    * `values`: the figures: whole numbers, exact bytes a second, exact seconds where the name has ``latency``, and
      words.
    * `first`, `read_first`, `head`: what may stand without a name, as of `figures`, and how the form shows it.
    * `choices`: the words that each figure which is a word may be.
    * `**told`: the rest, as of `Family`.
    """
    readers: dict[str, Figure] = {}
    parts = [head]
    for name, value in values.items():
        if isinstance(value, str):
            words = (choices or {})[name]
            readers[name] = _one_of(*words)
            parts.append(f"{name}={'|'.join(words)}")
        else:
            readers[name] = whole if isinstance(value, int) else _time if "latency" in name else _rate
            other = None if isinstance(value, int) else Fraction(-1)
            parts.append(machine_spec("", "", {name: value}, {name: other})[1:])
    return Family(form=figures(first, read_first, readers), parameters=",".join(parts), machine=True, **told)


def gigabytes(value: float | str) -> Fraction:
    """Return exact bytes a second, of GB/s."""
    return Fraction(str(value)) * _GB


def speeds_of(rates: Any, latencies: Any, links: int) -> Speeds:
    """Return speeds of links from exact values, one for all or one each."""
    told = [np.broadcast_to(np.asarray(each, np.float64), links) for each in (rates, latencies)]
    return Speeds(*told)


# Boxes: accelerators behind a switch or joined with each other, and network adapters to switches outside.

_GB = 10**9
_SIZE, _RANKS = "boxes", "gpus"


@dataclass(frozen=True)
class _Box:
    """What a box of accelerators is.

    * `name`, `summary`, `source`: as of `Family`.
    * `devices`: accelerators in a box that are ranks: all, but for `_allocated`.
    * `device`, `box`: what one of them, and one box of several, is called.
    * `link`: the name of the figure that is the speed of one link inside.
    * `rate`: bytes a second of that link, each way.
    * `links`: links of an accelerator to the switch, or between two that are joined; see `pairs`.
    * `nic`, `rails`: bytes a second of an adapter, each way, and switches outside where there are several boxes.
    * `switch`: what the switch inside is called; empty where there is none.
    * `pairs`: links between two accelerators, by their numbers, where not all are joined alike.
    * `uplinks`: accelerators that have an adapter. Default: all.
    * `copies`, `combines`: what its switches can do, as of `SwitchAbilities`.
    * `aliases`: other names.
    * `present`: accelerators in a box where some of them are not ranks; 0 where all are.
    """

    name: str
    summary: str
    source: str
    devices: int
    link: str
    rate: Fraction
    links: int
    nic: Fraction
    rails: int
    device: str = "gpu"
    box: str = "box"
    switch: str = ""
    pairs: Mapping[tuple[int, int], int] | None = None
    uplinks: tuple[int, ...] = ()
    copies: bool = False
    combines: bool = False
    aliases: tuple[str, ...] = ()
    present: int = 0

    @property
    def figures(self) -> dict[str, Any]:
        """The figures with the values of the data sheet, in the order of the spec."""
        found: dict[str, Any] = {_RANKS: self.present or self.devices}
        found |= {self.link: self.rate, f"{self.link}s": self.links}
        if self.switch:
            found["chips"] = 1
        return found | {
            "latency": _NEAR,
            "nic": self.nic,
            "nic-latency": _FAR,
            "rails": self.rails,
            "spines": 0,
        }

    @property
    def adapters(self) -> tuple[int, ...]:
        """Accelerators of a box that have an adapter."""
        return self.uplinks or tuple(range(self.devices))

    def joined(self, links: int) -> list[tuple[int, int, int]]:
        """Return the accelerators of a box that are joined, with the number of links between them."""
        if self.pairs is not None:
            return [(a, b, n) for (a, b), n in self.pairs.items() if max(a, b) < self.devices]
        return [(a, b, links) for a, b in itertools.combinations(range(self.devices), 2)]


_NEAR, _FAR = Fraction(500, _GB), Fraction(1000, _GB)
"""Latencies of a link inside and outside, which data sheets do not tell: 1 us from accelerator to accelerator through a
switch inside and 2 us through one outside, the lower ends of what is measured."""


def _allocated(kind: _Box, given: Mapping[str, Any]) -> _Box:
    """Return the kind of box of which only the first accelerators are ranks, with the links and adapters of these."""
    ranks = whole_number(given.get(_RANKS, kind.devices), kind.name, _RANKS, 1, kind.devices)
    if ranks == kind.devices:
        return kind
    adapters = tuple(i for i in kind.adapters if i < ranks)
    if not adapters and given.get(_SIZE, 1) != 1:
        told = f"the first adapter is that of {kind.device}{kind.adapters[0]}"
        raise NetworkError(f"{kind.name}: {told}, so gpus must be at least {kind.adapters[0] + 1}, got {ranks}")
    rails = min(kind.rails, len(adapters)) or 1
    uplinks = adapters if kind.uplinks else ()
    return replace(kind, devices=ranks, rails=rails, uplinks=uplinks, present=kind.devices)


def _boxes(kind: _Box, given: Mapping[str, Any]) -> Network:
    """Return some boxes of a kind; `given` has what is not at its default."""
    size = _boxes_size(kind, given)
    kind = _allocated(kind, given)
    count, told = int(given.get(_SIZE, 1)), {**kind.figures, **{k: v for k, v in given.items() if k != _SIZE}}
    n, chips = kind.devices, int(told.get("chips", 0))
    device = np.arange(count * n)
    total = count * (n + chips)
    pieces: list[tuple[Any, Any, float, Fraction, int]] = []  # ends, bytes a second, latency, cables
    one, links = told[kind.link], int(told[f"{kind.link}s"])
    if chips:
        for chip in range(chips):
            switch = count * n + device // n * chips + chip
            pieces.append((device, switch, float(one * links / chips), told["latency"], links // chips))
    else:
        for a, b, each in kind.joined(links):
            first = np.arange(count) * n
            pieces.append((first + a, first + b, float(one * each), told["latency"], each))
    rails, spines = (int(told[x]) if count > 1 else 0 for x in ("rails", "spines"))
    if rails:
        adapter = (np.arange(count)[:, None] * n + np.array(kind.adapters)).ravel()
        rail = total + np.tile(np.arange(len(kind.adapters)) % rails, count)
        pieces.append((adapter, rail, float(told["nic"]), told["nic-latency"], 1))
        low, high = np.divmod(np.arange(rails * spines), max(spines, 1))
        up = count * len(kind.adapters) * told["nic"] / max(rails * spines, 1)
        pieces.append((total + low, total + rails + high, float(up), told["nic-latency"], 1))
    if not pieces:  # one accelerator alone
        pieces.append((device[:0], device[:0], float(one), told["latency"], 1))
    ends = [both_ways(u, v) for u, v, *_ in pieces]
    source, target = (np.concatenate([e[i] for e in ends]) for i in (0, 1))
    rates, waits, cables = (
        np.concatenate([np.full(len(e[0]), float(piece[i])) for e, piece in zip(ends, pieces, strict=True)])
        for i in (2, 3, 4)
    )
    order = np.argsort(source, kind="stable")
    head = str(count) if count > 1 else ""
    return Network(
        machine_spec(kind.name, head, {k: told[k] for k in kind.figures}, kind.figures),
        size.nodes,
        source[order].astype(np.int32),
        target[order].astype(np.int32),
        terminal_count=count * n,
        labels=_names(kind, count, chips, rails, spines),
        structures=[
            *_tiers(kind, count, chips, rails, spines),
            Speeds(rates[order], waits[order]),
            CableCounts(cables[order].astype(np.int32)),
            *([SwitchAbilities(kind.copies, kind.combines)] if chips or rails else []),
            Assumptions(tuple(_assumed(kind, given, count))),
        ],
    )


def _names(kind: _Box, count: int, chips: int, rails: int, spines: int) -> list[str]:
    """Return the names of the nodes."""
    boxes = [f"{kind.box}{i}." if count > 1 else "" for i in range(count)]
    found = [f"{box}{kind.device}{i}" for box in boxes for i in range(kind.devices)]
    found += [f"{box}{kind.switch}{i if chips > 1 else ''}" for box in boxes for i in range(chips)]
    return (
        found + (["leaf"] if rails == 1 else [f"rail{i}" for i in range(rails)]) + [f"spine{i}" for i in range(spines)]
    )


def _tiers(kind: _Box, count: int, chips: int, rails: int, spines: int) -> list[Structure]:
    sizes = {f"{kind.device.upper()}s": (count * kind.devices, 1), "switches inside": (count * chips, 0)}
    sizes |= {"rails": (rails, 2), "spines": (spines, 3)}
    present = {name: told for name, told in sizes.items() if told[0]}
    tiers = Tiers(tuple(present), tuple(n for n, _ in present.values()), tuple(row for _, row in present.values()))
    return [tiers, tiers.coordinates] if len(present) > 1 else []


def _assumed(kind: _Box, given: Mapping[str, Any], count: int) -> list[Assumption]:
    """Return what data sheets do not tell."""
    waits = {"latency": f"{seconds_text(_NEAR)} inside"}
    if count > 1:
        waits["nic-latency"] = f"{seconds_text(_FAR)} to switches outside"
    untold = {name: text for name, text in waits.items() if name not in given}
    found = []
    if kind.present:
        names = f"{kind.device}0..{kind.device}{kind.devices - 1}" if kind.devices > 1 else f"{kind.device}0"
        text = f"{names} of {kind.present}" + (" in each box, over the adapters of these" if count > 1 else "")
        found.append(Assumption(text, f"{_RANKS}=N" + (", nic=RATE" if count > 1 else "")))
    if untold:
        text = f"links take {' and '.join(untold.values())} (data sheets have no latencies)"
        found.append(Assumption(text, ", ".join(f"{name}=TIME" for name in untold)))
    if count > 1 and not {"rails", "nic"} & set(given):
        outside = f"{kind.rails} switches" if kind.rails > 1 else "one switch"
        adapters = "one adapter" if kind.uplinks else "each"
        text = f"{outside} outside, {adapters} at {bandwidth_text(kind.nic)}, as such boxes usually have"
        found.append(Assumption(text, "rails=N, nic=RATE"))
    return found


def _boxes_size(kind: _Box, given: Mapping[str, Any]) -> Size:
    name = kind.name
    count = whole_number(given.get(_SIZE, 1), name, _SIZE)
    kind = _allocated(kind, given)
    told = {**kind.figures, **given}
    links = whole_number(told[f"{kind.link}s"], name, f"{kind.link}s", 1, 10_000)
    chips = whole_number(told["chips"], name, "chips", 1, links) if kind.switch else 0
    if chips and links % chips:
        raise NetworkError(f"{name}: {links} links are not shared evenly by {chips} chips")
    rails = whole_number(told["rails"], name, "rails", 1, len(kind.adapters)) if count > 1 else 0
    spines = whole_number(told["spines"], name, "spines", 0, 100_000) if count > 1 else 0
    inside = kind.devices * chips or len(kind.joined(links))
    cables = count * (inside + len(kind.adapters) * bool(rails)) + rails * spines
    return checked_size(name, count * (kind.devices + chips) + rails + spines, 2 * cables)


def _family(kind: _Box) -> Family:
    return machine_family(
        kind.figures, _SIZE, whole, "BOXES",
        name=kind.name, function=partial(_boxes, kind), size=partial(_boxes_size, kind), summary=kind.summary,
        example=f"{kind.name}:2", source=kind.source, aliases=kind.aliases, bare=True,
    )  # fmt: skip


_NVIDIA = "NVIDIA's data sheets and https://developer.nvidia.com/blog (third-generation NVSwitch)"
_MI250X = {
    (0, 1): 4, (2, 3): 4, (4, 5): 4, (6, 7): 4, (0, 6): 2, (2, 4): 2,
    (0, 2): 1, (4, 6): 1, (1, 3): 1, (1, 5): 1, (3, 7): 1, (5, 7): 1,
}  # fmt: skip
"""Links between the 8 dies of four MI250X, as RCCL's models of such nodes have them (``rome_model_71``)."""

_KINDS = (
    _Box(
        name="dgx-h100",
        summary="8 H100 or H200: 18 NVLinks of 25 GB/s each to NVSwitches, which copy and reduce; a 400 Gbit/s adapter "
        "each",
        source=_NVIDIA,
        devices=8, link="nvlink", rate=gigabytes(25), links=18, nic=gigabytes(50), rails=8, switch="nvswitch",
        copies=True, combines=True, aliases=("hgx-h100", "dgx-h200", "hgx-h200"),
    ),
    _Box(
        name="dgx-b200",
        summary="8 B200: 18 NVLinks of 50 GB/s each to NVSwitches, which copy and reduce; a 400 Gbit/s adapter each",
        source=_NVIDIA,
        devices=8, link="nvlink", rate=gigabytes(50), links=18, nic=gigabytes(50), rails=8, switch="nvswitch",
        copies=True, combines=True, aliases=("hgx-b200",),
    ),
    _Box(
        name="nvl72",
        summary="72 B200 of a GB200 rack: 18 NVLinks of 50 GB/s each, one to each of 18 switch chips, shown as one "
        "switch unless chips=18; a 400 Gbit/s adapter each",
        source="NVIDIA's pages on the GB200 NVL72: 1.8 TB/s a GPU and 130 TB/s in all, both ways together",
        devices=72, link="nvlink", rate=gigabytes(50), links=18, nic=gigabytes(50), rails=4,
        switch="nvswitch", box="rack", copies=True, combines=True, aliases=("gb200-nvl72", "gb200"),
    ),
    _Box(
        name="vr-nvl72",
        summary="72 Rubin GPUs of a Vera Rubin rack: 36 NVLinks of 50 GB/s each to switches; two 800 Gbit/s adapters "
        "each",
        source="NVIDIA's pages on the Vera Rubin NVL72: 3.6 TB/s a GPU and 260 TB/s in all, both ways together",
        devices=72, link="nvlink", rate=gigabytes(50), links=36, nic=gigabytes(200), rails=4,
        switch="nvswitch", box="rack", copies=True, combines=True, aliases=("vera-rubin-nvl72", "rubin-nvl72"),
    ),
    _Box(
        name="mi300x",
        summary="8 MI300X, each joined with each by a link of 64 GB/s; a 400 Gbit/s adapter each",
        source="AMD's data sheet: 7 links of 128 GB/s, both ways together",
        devices=8, link="xgmi", rate=gigabytes(64), links=1, nic=gigabytes(50), rails=8,
    ),
    _Box(
        name="mi250x",
        summary="8 dies of four MI250X, joined by 4, 2 or 1 links of 50 GB/s; a 200 Gbit/s adapter at every second die",
        source="AMD's description of the MI250 microarchitecture; RCCL's models of nodes; Frontier User Guide",
        devices=8, link="xgmi", rate=gigabytes(50), links=1, nic=gigabytes(25), rails=1, device="gcd",
        pairs=_MI250X, uplinks=(1, 3, 5, 7),
    ),
    _Box(
        name="gaudi3",
        summary="8 Gaudi 3, each joined with each by 3 links of 25 GB/s; 3 such links of each to a switch outside",
        source="https://docs.habana.ai, Network Configuration",
        devices=8, link="link", rate=gigabytes(25), links=3, nic=gigabytes(75), rails=1, device="hpu",
    ),
    _Box(
        name="gaudi2",
        summary="8 Gaudi 2, each joined with each by 3 links of 12.5 GB/s; 3 such links of each to a switch outside",
        source="https://docs.habana.ai, Network Configuration",
        devices=8, link="link", rate=gigabytes(12.5), links=3, nic=gigabytes(37.5), rails=1, device="hpu",
    ),
)  # fmt: skip
A100 = _Box(
    name="dgx-a100",
    summary="8 A100: 12 NVLinks of 25 GB/s each to NVSwitches, which do not copy; a 200 Gbit/s adapter each",
    source="Choquette, Gandhi, Giroux, Stam and Krashinsky 2021",
    devices=8, link="nvlink", rate=gigabytes(25), links=12, nic=gigabytes(25), rails=8, switch="nvswitch",
    aliases=("hgx-a100",),
)  # fmt: skip

BOXES: tuple[Family, ...] = tuple(map(_family, (A100, *_KINDS)))
"""The families of boxes, `dgx-a100` first."""
