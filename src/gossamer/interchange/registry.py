"""The formats: those in which schedules are written, and those from which they are read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy.typing as npt

from gossamer.atomic_files import check_writable, memory_text, whole_file, whole_folder
from gossamer.errors import FileFormatError, NotApplicableError, ScheduleError, TooLargeError, nearest, shown
from gossamer.interchange.chakra import ASTRA_SIM, CHAKRA
from gossamer.interchange.format import Format, Plan, RowText
from gossamer.interchange.goal import GOAL, read_goal
from gossamer.interchange.msccl import MSCCL_JSON, MSCCL_XML, read_msccl_json, read_msccl_xml
from gossamer.interchange.mscclpp import MSCCLPP
from gossamer.interchange.mscclpp_plans import read_mscclpp
from gossamer.interchange.smpi import SMPI
from gossamer.networks import as_network
from gossamer.networks.network import Network, has_speeds
from gossamer.planning.plan_resizing import in_generations
from gossamer.processes.memory import free_memory
from gossamer.programs.files import write_program
from gossamer.programs.layout import plain_task
from gossamer.programs.single_ranks import worms_between_ranks
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import Grouped
from gossamer.questions.tasks.demand_table import TABLE_ENDINGS, read_table
from gossamer.reading import whole
from gossamer.reading.quantities import size as size_of
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule

__all__ = [
    "ASTRA_SIM",
    "CHAKRA",
    "CSV",
    "FORMATS",
    "JSON",
    "MESSAGE_BYTES",
    "PERFETTO",
    "PROGRAM",
    "READERS",
    "SOURCES",
    "C",
    "export",
    "import_schedule",
    "program_schedule",
]

# C that carries out the schedule over MPI: an executor, compiled once, and the program file that it reads.
#
# A program of straight-line code for every hop would take longer to compile than to run; a table does not.

SOURCES = ("gossamer.h", "gossamer.c", "main.c")


def _write_c(plan: Plan, folder: Path) -> None:
    for name in SOURCES:
        text = files("gossamer.interchange").joinpath("c", name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    write_program(plan.program, folder / "plan.program")


C = Format("c", "an executor in C for MPI programs, with its program file", _write_c, folder=True, by_rank=True)


# The timeline in the trace-event format that Perfetto and browsers' tracing pages show.
#
# There is a process for each node that sends, a thread for each of its links, and a slice for each block that crosses
# it. A tick is shown as a microsecond.

_SLICES = RowText(
    ',\n{"ph":"X","name":"message {0} part {1}","cat":"data","ts":{2},"dur":{3},"pid":{4},"tid":{5},'
    '"args":{"message":{0},"part":{1},"target":{5}}}',
    ',\n{"ph":"X","name":"control","cat":"control","ts":{2},"dur":{3},"pid":{4},"tid":{5}}',
)


def _write_trace(plan: Plan, path: Path) -> None:
    network, rows = plan.schedule.network, plan.timeline
    told = {
        "network": network.spec,
        "task": plan.schedule.task.describe(),
        "algorithm": plan.schedule.algorithm,
        "tick in steps": str(rows.tick),
    }
    with path.open("wb") as file:
        file.write(b'{"displayTimeUnit":"ns","otherData":' + json.dumps(told).encode() + b',"traceEvents":[\n')
        file.write(b'{"ph":"M","name":"trace_name","pid":0}')
        for v in range(network.node_count):
            name = json.dumps({"name": network.node_name(v)})
            file.write(f',\n{{"ph":"M","name":"process_name","pid":{v},"args":{name}}}'.encode())
        columns: list[npt.NDArray[Any]] = [
            rows.message,
            rows.part,
            rows.start,
            rows.end - rows.start,
            rows.source,
            rows.target,
        ]
        for text in _SLICES.rows(rows.message < 0, columns):
            file.write(text)
        file.write(b"\n]}\n")


PERFETTO = Format(
    "perfetto", "the timeline as trace events for ui.perfetto.dev", _write_trace, switches=True, of_links=True
)


# The timeline as comma-separated values: a row for each block that crosses a link, times in ticks.

_NAMES = ("start", "end", "source", "target", "message", "part", "phase")
_CSV_ROWS = RowText(",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "\n")


def _write_csv(plan: Plan, path: Path) -> None:
    rows = plan.timeline
    with path.open("wb") as file:
        file.write((",".join(_NAMES) + "\n").encode())
        for text in _CSV_ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(text)


CSV = Format(
    "csv", "the timeline as comma-separated values, for spreadsheets and data frames", _write_csv, switches=True,
    of_links=True,
)  # fmt: skip


# The timeline as a JSON object: what is carried out, and a list for each block that crosses a link.

_JSON_ROWS = RowText("[" + ",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "],\n")


def _write_json(plan: Plan, path: Path) -> None:
    schedule, rows = plan.schedule, plan.timeline
    told = {
        "network": schedule.network.spec,
        "nodes": schedule.network.node_count,
        "task": schedule.task.to_dict(),
        "algorithm": schedule.algorithm,
        "parts": schedule.parts,
        "completion_time": str(schedule.completion_time),
        "tick": str(rows.tick),
        "phases": rows.phases,
        "columns": _NAMES,
    }
    with path.open("wb") as file:
        file.write(json.dumps(told, indent=1).encode()[:-2] + b',\n "rows": [\n')
        held = b""
        for text in _JSON_ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(held)
            held = text
        file.write(held[:-2] + b"\n]}\n")  # no comma after the last row


JSON = Format(
    "json", "the timeline as one JSON object with a list for each block on a link", _write_json, switches=True,
    of_links=True,
)  # fmt: skip


# The program file, which the C executor and the adapter for PyTorch read; see `gossamer.programs.files`.


def _write_program(plan: Plan, path: Path) -> None:
    write_program(plan.program, path)


PROGRAM = Format("program", "the operations of every rank in one small binary file", _write_program, by_rank=True)


# The formats that schedules are written in.

FORMATS: dict[str, Format] = {
    f.name: f for f in (SMPI, GOAL, CHAKRA, ASTRA_SIM, MSCCL_XML, MSCCL_JSON, MSCCLPP, PERFETTO, C, PROGRAM, CSV, JSON)
}
"""Every format by its name."""


MESSAGE_BYTES = 1 << 20
"""Bytes of a message of a schedule in steps unless somebody says otherwise: 1 MiB."""


def export(
    schedule: Schedule | WormholeSchedule,
    path: str | os.PathLike[str],
    to: str,
    *,
    message_bytes: int | None = None,
    limits: bool = True,
    ranks: Sequence[int] | None = None,
) -> None:
    """Write a schedule to a file or a new folder, whole or not at all, in the format `to`.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        What is handed on. It is verified. Of wormhole messages programs are written: what ranks send to each other, in
        the order of the steps, over whatever way the machine has.
    path : path
        The file, replaced if it exists; for formats that are folders, a folder that is new or empty.
    to : str
        A key of ``FORMATS``.
    message_bytes : int, optional
        Bytes of a message, 1 or more, for formats in which they stand. Default: those of a plan in seconds, else 1 MiB.
    limits : bool
        Whether to refuse what the program that reads the format is known not to take.
    ranks : sequence of int, optional
        The ranks that are written, for formats that are programs for ranks: as they stand among all, but made from the
        stored hops without the others, in seconds where all would not fit. Default: all.

    Raises
    ------
    NotApplicableError
        If ranks are given for a format that holds all of a schedule only. If the schedule is of wormhole messages, and
        the format shows links. If the schedule is beyond a limit of what reads the format; it is named. If the format
        has no word for its task, or for groups; it has none with `limits` false either. If the format is of programs
        for ranks, and a switch copies or adds.
    TooLargeError
        If memory does not hold all hops that have to be written out.
    ScheduleError, VerificationError, FileFormatError
        If there is no such format, the schedule is not valid, or the file cannot be written.

    Notes
    -----
    Rank by rank: the memory of the program and of one rank's text.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.goal"
    >>> export(gossamer.plan("ring:4", "allgather").schedule, path, "goal", message_bytes=8)
    >>> path.read_text().splitlines()[:4]
    ['num_ranks 4', '', 'rank 0 {', 'l0: send 8b to 1 tag 0 cpu 0 nic 0']
    """
    format = FORMATS.get(str(to).lower())
    if format is None:
        hint = nearest(str(to), FORMATS) or f"; there are: {', '.join(FORMATS)}"
        raise ScheduleError(f"unknown format {shown(to)}{hint}")
    if isinstance(schedule, WormholeSchedule):
        if format.of_links:
            known = ", ".join(each.name for each in FORMATS.values() if not each.of_links)
            raise NotApplicableError(
                f"{format.name} shows packets on links, which wormhole messages are not; their programs are written as "
                f"{known}"
            )
        message_bytes = schedule.cost.message_bytes if message_bytes is None else message_bytes
        schedule = worms_between_ranks(schedule)
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a schedule is exported, got {shown(schedule)}")
    most = 2**62
    if message_bytes is None:
        message_bytes = schedule.cost.message_bytes if isinstance(schedule.cost, Clock) else MESSAGE_BYTES
    size = whole(message_bytes, "the bytes of a message", 1, most, allowed="1 or more", error=ScheduleError)
    if ranks is not None and not format.by_rank:
        known = ", ".join(each.name for each in FORMATS.values() if each.by_rank)
        raise NotApplicableError(
            f"{format.name} holds all of a schedule; programs of single ranks are written as {known}"
        )
    if ranks is not None and not len(ranks):
        raise ScheduleError("the ranks to be written must be 1 or more, got none")
    task = Plan(schedule, size).schedule.task
    if isinstance(task, Grouped) and not format.groups:
        raise NotApplicableError(f"{format.name} has no word for groups, only for all ranks; not {task.describe()}")
    if format.tasks and type(plain_task(task)) not in format.tasks:
        known = ", ".join(kind.name for kind in format.tasks)
        raise NotApplicableError(f"{format.name} has words for {known}; not for {task.name}")
    if not format.folder:
        check_writable(path)  # refuse before the work
    if ranks is None:
        _check_memory(schedule, format)
    plan = _in_slices(schedule, format, size, ranks)
    plan.program  # noqa: B018 - verified here
    found = list(islice(format.limits(plan), 1)) if limits else []
    if found:
        fewer = _in_fewer_generations(schedule, format, size, ranks)
        if fewer is None:
            raise NotApplicableError(found[0])
        plan = fewer
    with (whole_folder if format.folder else whole_file)(path) as part:
        format.write(plan, part)


_HOP_BYTES = 80
"""Bytes of a hop that is written out, with its operations at both ends."""


def _check_memory(schedule: Schedule, format: Format) -> None:
    """Refuse a schedule whose hops memory does not hold, before they are written out."""
    network, free = schedule.network, free_memory()
    hops = schedule.hop_count // (schedule.generations if format.slice_bytes else 1)  # one generation is written
    stands = network.terminal_count == network.node_count and schedule.symmetry is not None and format.by_rank
    if stands or free is None or hops * _HOP_BYTES <= free:  # of some only one orbit is made
        return
    fits = "ranks= (--rank 0 on the command line) writes the programs of some ranks alone"
    if not format.by_rank:
        fits = f"{format.name} holds all of them; programs of some ranks are written as program or mscclpp"
    raise TooLargeError(
        f"{hops:,} transfers written out need about {memory_text(hops * _HOP_BYTES)} of memory, and "
        f"{memory_text(free)} are free; {fits}"
    )


_SLOWER = Fraction(105, 100)
"""How many times the time of the plan what is written may take, before more generations are tried."""


def _in_slices(schedule: Schedule, format: Format, size: int, ranks: Sequence[int] | None) -> Plan:
    """Return what is written of a schedule where what reads the format repeats it for slices of its chunks.

    Of a schedule that repeats that is one generation, with the times that slices take. Where there would be too few of
    these to overlap as in the plan, as many generations more as limits allow, in chunks that are smaller than a slice.
    """
    if not format.slice_bytes or schedule.repetition is None:
        return format.plan(schedule, size, ranks=ranks)
    clock = schedule.cost
    if not isinstance(clock, Clock):
        return format.plan(schedule, size, 1, ranks)
    enough = clock.seconds(schedule.completion_time) * _SLOWER
    count = max(1, clock.packet_bytes * schedule.generations // format.slice_bytes)
    found, taken = in_generations(schedule, count)
    best = format.plan(found, size, 1, ranks)
    while taken > enough and count * 2 <= schedule.generations:
        count *= 2
        found, time = in_generations(schedule, count)
        plan = format.plan(found, size, count, ranks)
        if next(format.limits(plan), None) is not None:
            break
        if time < taken:
            best, taken = plan, time
    return best


_HOPS = 60_000
"""Hops of all generations, of which no more are tried where a format has limits for what it holds."""


def _in_fewer_generations(schedule: Schedule, format: Format, size: int, ranks: Sequence[int] | None) -> Plan | None:
    """Return a schedule that repeats in as many generations as the limits of a format allow; None if there are none."""
    if schedule.repetition is None or format.slice_bytes or not isinstance(schedule.cost, Clock):
        return None
    count = min(schedule.generations, max(1, _HOPS // schedule.stored_hops))
    while count := count // 2:
        plan = format.plan(in_generations(schedule, count)[0], size, ranks=ranks)
        if next(format.limits(plan), None) is None:
            return plan
    return None


_READ = 8_000_000
"""Bytes of a program that is read back at most: about 15 s."""


def program_schedule(path: str | os.PathLike[str], to: str, schedule: Schedule) -> Schedule | None:
    """Return the schedule of a program that `export` wrote, as it is read back; None where that is not possible.

    Parameters
    ----------
    path : path
        What was written.
    to : str
        A key of ``FORMATS``.
    schedule : Schedule
        What was written there. It is in seconds, on a network with speeds, else there is none.

    Returns
    -------
    Schedule or None
        Its time is that of the program, which says in which order ranks send and not when, and which may be repeated in
        slices that are larger than the packets of the plan. None also for files of more than 8 MB, which would take
        long, and for packets that cost time beyond their bytes.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "box.xml"
    >>> plan = gossamer.plan("mi300x", "allreduce", cost=gossamer.TimeCost("1GiB")).schedule
    >>> export(plan, path, "msccl-xml")
    >>> found = program_schedule(path, "msccl-xml", plan)
    >>> float(round(found.cost.seconds(found.completion_time) / plan.cost.seconds(plan.completion_time), 1))
    1.0
    """
    format, clock = FORMATS[to.lower()], schedule.cost
    if format.read is None or not isinstance(clock, Clock) or clock.overhead or not clock.asked_bytes:
        return None
    if not has_speeds(schedule.network) or Path(path).stat().st_size > _READ:
        return None
    try:
        return format.read(Path(path), schedule.network, clock.asked_bytes)
    except FileFormatError:  # a task that the format has no word for
        return None


def _of_mscclpp(path: Path) -> bool:
    """Whether a file of JSON is an MSCCL++ execution plan, not of msccl-tools."""
    with suppress(OSError), path.open("rb") as file:
        return b'"msccl_type"' not in (data := file.read()) and b'"gpus"' in data
    return False


READERS: dict[str, Callable[[Path, Network, str | None, int | None], Schedule]] = {
    ".xml": lambda path, network, task, bytes: read_msccl_xml(
        path, network, None if task is None else read_table(task, network), bytes
    ),
    ".json": lambda path, network, task, bytes: (read_mscclpp if _of_mscclpp(path) else read_msccl_json)(
        path, network, bytes
    ),
    ".goal": read_goal,
}
"""What reads the files of each suffix."""


def import_schedule(
    path: str | os.PathLike[str], network: object, task: str | None = None, bytes: int | str | None = None
) -> Schedule:
    """Read a schedule that another tool made, for a network whose node r is rank r. It is not verified.

    Parameters
    ----------
    path : path
        MSCCL XML (``.xml``), an MSCCL++ execution plan or the JSON of msccl-tools (``.json``), or GOAL (``.goal``).
    network : object
        What `gossamer.network` takes.
    task : str, optional
        The collective that a GOAL file is, which does not say it: ``allgather``, ``alltoall`` and so on. Of MSCCL XML
        of a custom collective the file of its table of demands, as `gossamer.questions.tasks.read_table` reads it;
        buffers have the messages of a rank in the order of the rows. The others say it themselves.
    bytes : int or str, optional
        On a network whose links have speeds: the bytes of the collective, as MPI counts them (see
        `gossamer.TimeCost`). Default: 64 MiB.

    Returns
    -------
    Schedule
        What is sent begins as early as what it waits for and the links allow: in slots, and in seconds where links have
        speeds. Then a chunk is a packet; it goes over a shortest path through switches, which pass it on as it comes
        and copy nothing, and shared links and ports are taken in turns. `gossamer.verify` judges it, and everything
        else that takes a schedule takes it.

    Raises
    ------
    FileFormatError
        If the file cannot be read, its steps do not fit together or do not do what its collective is, in some
        execution (a race) or at all, or it sends between ranks that are neither linked nor have a path through switches
        only. If bytes are given and the links have no speeds.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.interchange import export
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.xml"
    >>> export(gossamer.plan("ring:5", "allreduce").schedule, path, "msccl-xml")
    >>> found = import_schedule(path, "ring:5")
    >>> found.completion_time, bool(gossamer.verify(found))
    (Fraction(4, 1), True)
    """
    net = as_network(network)
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise FileFormatError(f"external schedule {shown(str(path), 300)}: the suffix must be one of {known}")
    suffix = Path(path).suffix.lower()
    if task is not None and suffix != ".goal" and (suffix != ".xml" or not task.lower().endswith(TABLE_ENDINGS)):
        raise FileFormatError(
            f"{str(path)!r} says itself which collective it is; name a task for .goal, and for .xml of a custom "
            f"collective its table of demands, a file {', '.join(TABLE_ENDINGS)}"
        )
    return reader(Path(path), net, task, None if bytes is None else size_of(bytes, "bytes", error=FileFormatError))
