"""Schedules of every switching in files: Parquet, readable by any tool that reads it, or text, readable by people.

`save` and `load` are for every class of schedules; how one stands in files is its `FileForm`. A plain schedule in
Parquet has a row for each hop: ``slot, source, target, link, packet, message, part``, sorted by slot. The file's
key-value metadata holds, under ``gossamer``, a JSON object with the format version, network, task, model, parts,
phases, symmetry, repetition, and the packets. Text has the same, a line each.

In Parquet of version 1 the packets are rows before the hops. Version 2 is that of Parquet files whose rows are hops
alone, and of plain text that says of links, switches or symmetries what version 1 cannot; version 3 that of schedules
that repeat. Wormhole schedules have version 2 in Parquet, and in text if ports are limited or there is no grid.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.networks.network import Network
from gossamer.questions.costs import Clock, StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, task_from_dict
from gossamer.schedules.columns import packed_differences, unpacked_differences
from gossamer.schedules.hop_table import TOLD, HopTable, hop_columns, link_ways
from gossamer.schedules.packets import Packets, Phase, Repetition
from gossamer.schedules.serialization import (
    complete,
    control_phases,
    has_spec,
    network_from_dict,
    network_to_dict,
    rules_of_switches,
    rules_to_dict,
    with_control,
)
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.table_files import (
    Columns,
    FileTable,
    OpenFile,
    TableRows,
    is_text,
    open_tables,
    whole_schedule,
    write_tables,
)

__all__ = ["FORM", "SUFFIXES", "FileForm", "Stored", "load", "save"]

SUFFIXES = (".parquet", ".txt")
"""The suffixes of schedule files."""

# Any switching.


@dataclass(frozen=True)
class FileForm:
    """How the schedules of a class stand in files.

    * `words` (str): the switching, in words.
    * `first` (str): the name of the first table.
    * `describe` (callable): takes a schedule and whether it is written as text, and returns its description, plain
      values of JSON, and its tables.
    * `arguments` (callable): takes an open file, and the network and the task that it tells, and returns the other
      arguments of the class.
    * `version` (int): the newest version of its files.
    """

    words: str
    first: str
    describe: Callable[[Any, bool], tuple[dict[str, Any], list[TableRows]]]
    arguments: Callable[[OpenFile, Network, Task], dict[str, Any]]
    version: int


class Stored(Protocol):
    """What is asked of a class of schedules here, besides a constructor that takes what its form reads."""

    switching: ClassVar[str]
    file_form: ClassVar[FileForm]


S = TypeVar("S", bound=Stored)


def save(schedule: Stored, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a file, whole or not at all: ``.parquet``, or as text ``.txt``.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Explicit or invariant; it is not verified.

    Raises
    ------
    FileFormatError
        If the suffix is another one, the file cannot be written, or the schedule is invariant and its network cannot be
        named in a file.

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
    if Path(path).suffix.lower() not in SUFFIXES and not Path(path).is_dir():
        raise FileFormatError(f"{str(path)!r} is of no known kind; a schedule is {' or '.join(SUFFIXES)}")
    header, tables = schedule.file_form.describe(schedule, is_text(path))
    write_tables(path, schedule.switching, header, tables)


def load(path: str | os.PathLike[str], kind: type[S]) -> S:
    """Read a schedule of a class that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule of this class, or of a newer format version, or
        asks for much more memory than its size warrants: over 400 MB and 20 times its size, 200 times for the hops.
    """
    form = kind.file_form
    with open_tables(path, form.version, (kind.switching, form.first)) as file:
        switching = file.header.get("switching", "store-and-forward")
        if switching != kind.switching:
            raise FileFormatError(f"{file.name!r} holds a schedule for {switching} switching, not for {form.words}")
        with whole_schedule(file.name):
            header = file.header
            network = network_from_dict(header["network"], file.room)
            task = task_from_dict(header["task"])
            task.check(network)
            arguments = form.arguments(file, network, task)
            return kind(**{"network": network, "task": task, **arguments})


# Plain schedules.

_Column: TypeAlias = npt.NDArray[np.int64]

_PER_MESSAGE = 32
"""Bytes that a message of the task takes when the schedule is verified."""

_HOPS = ("slot", "link", "packet")
_PACKETS = FileTable(
    "packets", "packet", ("origin", "message", "part"), "packet {number}: message {message} part {part} from {origin}"
)


def _hop_table(network: Network) -> FileTable:
    """Return the table of hops; where links are parallel, a hop says by which of those between its ends."""
    way = " by {way}" if network.parallel else ""
    line = f"slot {{slot}}: {{source}} -> {{target}}{way} packet {{packet:control}}"
    return FileTable("hops", "hop", _HOPS, line, TOLD, partial(_compare, network))


def _describe(schedule: HopTable, text: bool) -> tuple[dict[str, Any], list[TableRows]]:
    """Return the description and the tables of a plain schedule."""
    symmetry, network = schedule.symmetry, schedule.network
    if symmetry is not None and symmetry.by_generator and not has_spec(network):
        raise FileFormatError(
            f"an invariant schedule on {network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    told = network_to_dict(network, text=text)
    model = rules_to_dict(schedule.rules, schedule.cost, network)
    clock = {"clock": schedule.cost.to_dict()} if isinstance(schedule.cost, Clock) else {}
    newer = clock or any(name in told for name in ("times", "speeds", "shared_ports")) or "reduction" in model
    newer = newer or schedule.repeats is not None or not text or (symmetry is not None and not symmetry.by_generator)
    header = {
        "version": 3 if schedule.repetition is not None else 2 if newer else 1,
        "network": told,
        "task": schedule.task.to_dict(),
        "model": model,
        **clock,
        "parts": schedule.parts,
        "phases": [[p.name, p.slots, str(p.slot_length)] for p in schedule.phases],
        "symmetry": None if symmetry is None else symmetry.to_dict(),
        "algorithm": schedule.algorithm,
        "packets": schedule.packets.count,
        **control_phases(schedule.phases),
    }
    if schedule.repeats is not None:
        header["repeats"] = schedule.repeats.tolist() if text else packed_differences(schedule.repeats)
    if schedule.repetition is not None:
        header["repetition"] = asdict(schedule.repetition)
    packets = {name: getattr(schedule.packets, name) for name in _PACKETS.columns}
    rows = partial(_text_rows, schedule, link_ways(network)) if text else partial(_parquet_rows, schedule)
    return header, [TableRows.of(_PACKETS, packets), TableRows(_hop_table(network), schedule.stored_hops, rows)]


def _text_rows(schedule: HopTable, ways: npt.NDArray[np.int64], first: int, last: int) -> Columns:
    """Return the columns of some hops, as they stand in a text."""
    slot, link, packet = (getattr(schedule, name)[first:last] for name in _HOPS)
    ends = {"source": schedule.network.link_source[link], "target": schedule.network.link_target[link]}
    return {"slot": slot, **ends, "way": ways[link], "packet": packet}


def _parquet_rows(schedule: HopTable, first: int, last: int) -> Columns:
    """Return the columns of some hops, as they stand in a Parquet file."""
    slot, link, packet = (getattr(schedule, name)[first:last] for name in _HOPS)
    told = hop_columns(schedule.network, schedule.packets, link, packet)
    return {
        "slot": slot, "source": told["source"], "target": told["target"], "link": link, "packet": packet,
        "message": told["message"], "part": told["part"],
    }  # fmt: skip


def _arguments(file: OpenFile, network: Network, task: Task) -> dict[str, Any]:
    """Return the arguments of a plain schedule but network and task."""
    header = file.header
    rules = complete(header["model"], rules_to_dict(Rules(), StepCost()))
    rules |= rules_of_switches(rules, network)
    control_time = rules.pop("control_time")
    symmetry = header["symmetry"]
    symmetry = None if symmetry is None else _symmetry(network, symmetry, file)
    messages = task.most_messages(network) // (1 if symmetry is None else symmetry.order)
    file.room.take(_PER_MESSAGE * messages, f"{messages:,} messages of {task.name}")
    columns = file.read([_PACKETS, _hop_table(network)])
    if file.text:
        columns["link"] = _links(network, columns["source"], columns["target"], columns.get("way"))
    return {
        "rules": Rules.from_dict(rules),
        **{name: columns[name] for name in _HOPS},
        "cost": _cost(header, control_time),
        "parts": header["parts"],
        "packets": Packets(*(columns[name] for name in _PACKETS.columns)),
        "phases": [
            Phase(name, slots, length, control)
            for (name, slots, length), control in with_control(header, header["phases"])
        ],
        "symmetry": symmetry,
        "algorithm": header["algorithm"],
        "repeats": _repeats(header.get("repeats"), columns["slot"].size),
        "repetition": None if header.get("repetition") is None else Repetition(**header["repetition"]),
    }


def _repeats(told: Any, hops: int) -> Any:
    """Return which hops repeat others, as a file tells it, or None where it tells nothing."""
    return unpacked_differences(told, hops, "the repeated hops") if isinstance(told, str) else told


def _symmetry(network: Network, told: Mapping[str, Any], file: OpenFile) -> Symmetry:
    """Return the symmetry that a file tells: elements of the network's group, or permutations of its nodes."""
    if "permutations" not in told:
        return Symmetry(network, told["generated_by"])
    found = Symmetry(network, permutations=told["permutations"])
    file.room.take(4 * found.order * network.node_count, f"{found.order:,} symmetries of {network.spec}")
    return found


def _cost(header: Mapping[str, Any], control_time: Any) -> StepCost:
    """Return the cost of a schedule: a clock, where the file tells how long a slot lasts and what packets hold."""
    if "clock" not in header:
        return StepCost(control_time)
    return Clock(**complete(header["clock"], Clock().to_dict()))


def _compare(network: Network, known: Columns, first: int, rows: Columns) -> None:
    """Refuse hops of which a file tells what does not follow from their links and packets."""
    packets = Packets(*(known[name] for name in _PACKETS.columns))
    link, packet = rows["link"], rows["packet"]
    if not link.size or link.min() < 0 or link.max() >= network.link_count or packet.max() >= packets.count:
        return  # the schedule refuses these
    for name, follows in hop_columns(network, packets, link, packet).items():
        other = np.flatnonzero(follows != rows[name])
        if other.size:
            i = int(other[0])
            told = f"link {link[i]} and packet {packet[i]} have {follows[i]}"
            raise ValueError(f"column {name!r} has {rows[name][i]} in row {first + i}, where {told}")


def _links(network: Network, source: _Column, target: _Column, way: _Column | None = None) -> _Column:
    """Return the links between nodes, of parallel ones those of the given places; ValueError if there is none such."""
    links = network.links_between(source, target, 0 if way is None else way)
    missing = np.flatnonzero(links < 0)
    if missing.size:
        u, v = source[missing[0]], target[missing[0]]
        by = "" if way is None else f" by {way[missing[0]]}"
        raise ValueError(f"hop {missing[0]} is over a link {u} -> {v}{by}, which {network.spec} does not have")
    return links


FORM = FileForm("store and forward", _PACKETS.name, _describe, _arguments, 3)
"""How plain schedules stand in files."""
