"""Writing schedules to files; `gossamer.schedules.files` reads them."""

from __future__ import annotations

import os
from typing import Any

from gossamer.costs import StepCost
from gossamer.errors import FileFormatError
from gossamer.rules import Rules
from gossamer.schedules.descriptions import control_phases, network_to_dict
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.stored import Section, is_text
from gossamer.schedules.tables import write_tables
from gossamer.schedules.text import write_text

__all__ = ["FORMAT_VERSION", "HOPS", "PACKETS", "SECTIONS", "rules_to_dict", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

HOPS = ("slot", "link", "packet")
PACKETS = ("origin", "message", "part")

SECTIONS = (
    Section("packets", "packet {number}: message {message} part {part} from {origin}"),
    Section("hops", "slot {slot}: {source} -> {target} packet {packet:control}"),
)
"""The tables of a file in text form."""


def rules_to_dict(rules: Rules, cost: StepCost) -> dict[str, Any]:
    """Return the rules and the cost of a schedule as plain values, under one name in files.

    >>> list(rules_to_dict(Rules(), StepCost()))
    ['ports', 'split', 'control_time', 'buffer', 'buffer_counts']
    """
    plain = rules.to_dict() | cost.to_dict()
    return {name: plain[name] for name in ("ports", "split", "control_time", "buffer", "buffer_counts")}


def save(schedule: HopTable, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a file, whole or not at all: as text where the suffix is ``.txt``, otherwise as Parquet.

    Raises
    ------
    FileFormatError
        If the file cannot be written, or the schedule is invariant and its network cannot be named in a file.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.txt"
    >>> s = gossamer.plan("ring:3", "broadcast").schedule
    >>> save(s, path)
    >>> gossamer.load(path) == s
    True
    >>> path.read_text().splitlines()[-2:]
    ['slot 0: 0 -> 1 packet 0', 'slot 0: 0 -> 2 packet 0']
    """
    if schedule.symmetry is not None and schedule.network.links_only:
        raise FileFormatError(
            f"an invariant schedule on {schedule.network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    packets = {name: getattr(schedule.packets, name) for name in PACKETS}
    if is_text(path):
        network, link = schedule.network, schedule.link
        hops = {
            "slot": schedule.slot,
            "source": network.link_source[link],
            "target": network.link_target[link],
            "packet": schedule.packet,
        }
        tables = zip(SECTIONS, (packets, hops), strict=True)
        write_text(path, "store-and-forward", _header(schedule, text=True), list(tables))
        return
    write_tables(path, _header(schedule), [packets, {name: getattr(schedule, name) for name in HOPS}])


def _header(schedule: HopTable, *, text: bool = False) -> dict[str, Any]:
    symmetry = schedule.symmetry
    return {
        "version": FORMAT_VERSION,
        "network": network_to_dict(schedule.network, text=text),
        "task": schedule.task.to_dict(),
        "model": rules_to_dict(schedule.rules, schedule.cost),
        "parts": schedule.parts,
        "phases": [[p.name, p.slots, str(p.slot_length)] for p in schedule.phases],
        "symmetry": None if symmetry is None else {"generated_by": symmetry.generated_by},
        "algorithm": schedule.algorithm,
        "packets": schedule.packets.count,
        **control_phases(schedule.phases),
    }
