"""A job: several collectives of so many bytes in named groups, some after others, as a TOML file describes them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gossamer.errors import FileFormatError, TaskError, nearest, shown
from gossamer.networks.network import Network
from gossamer.questions.tasks.byte_counts import sizing_of
from gossamer.questions.tasks.chunked import MAX_CHUNKS, chunked
from gossamer.questions.tasks.composite_tasks import Together, ranks
from gossamer.questions.tasks.exchanges import UnevenExchange
from gossamer.questions.tasks.group_tasks import Grouped, Groups, named_groups
from gossamer.questions.tasks.parsing import task as make_task
from gossamer.questions.tasks.patterns import named_traffic
from gossamer.questions.tasks.task import Task
from gossamer.reading.files import file_name, guarded, opened
from gossamer.reading.quantities import size

_PACKETS = 16
"""Packets of the longest message, where a job does not say how long a packet is."""
_KEYS = ("name", "task", "bytes", "groups", "after", "root", "traffic")


@dataclass(frozen=True)
class Collective:
    """One collective of a job.

    * `name`: what it is called.
    * `task`: what is communicated, among the ranks of each group, of one packet a message.
    * `message_bytes`: bytes of a message; of traffic by name, of a packet.
    * `buffer_bytes`: bytes of the buffer of a rank that NCCL's tests would report.
    * `groups`: the groups; empty where all terminals are one.
    * `after`: names of the collectives that it waits for.
    """

    name: str
    task: Task
    message_bytes: int
    buffer_bytes: int
    groups: Groups
    after: tuple[str, ...]

    def packets(self, packet_bytes: int) -> Task:
        """Return the task with its messages in packets of so many bytes, in its groups."""
        count = -(-self.message_bytes // packet_bytes)
        if count > MAX_CHUNKS:
            raise TaskError(f"collective {self.name!r}: a message would be {count:,} packets; take longer ones")
        made = chunked(self.task, count)
        return Grouped(made, self.groups) if self.groups else made


@dataclass(frozen=True)
class Job:
    """Several collectives, some after others.

    `collectives`: in the order of the file. `packet_bytes`: bytes of a packet.
    """

    collectives: tuple[Collective, ...]
    packet_bytes: int

    @property
    def together(self) -> Together:
        """The job as one task."""
        names = tuple(c.name for c in self.collectives)
        waits = tuple((i, names.index(earlier)) for i, c in enumerate(self.collectives) for earlier in c.after)
        return Together(tuple(c.packets(self.packet_bytes) for c in self.collectives), names, waits)


def read_job(path: str | os.PathLike[str], network: Network) -> Job:
    r"""Read a job for a network from a TOML file.

    `path`: a table ``[groups]`` names groups, each a text as `named_groups` reads it or a list of lists of nodes. Each
    ``[[collectives]]`` has ``name``, ``task``, ``bytes`` as MPI counts them, and if need be ``groups`` (a name or a
    text), ``after`` (a name or a list of names), ``root`` (a rank) and ``traffic`` (of an alltoallv, by name, its
    packets of ``bytes`` bytes). ``packet``, at the top, is the bytes of a packet; without it, the longest message is 16
    packets. `network`: whose terminals are meant. Raises `FileFormatError` if the file is missing or is not TOML.
    Raises `TaskError` if it does not describe a job that fits the network, naming the collective.

    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.toml"
    >>> _ = path.write_text('''
    ... [groups]
    ... halves = "0-3;4-7"
    ... [[collectives]]
    ... name = "activations"
    ... task = "allgather"
    ... bytes = "1MiB"
    ... groups = "halves"
    ... [[collectives]]
    ... name = "gradients"
    ... task = "allreduce"
    ... bytes = "64MiB"
    ... after = "activations"
    ... ''')
    >>> job = read_job(path, gossamer.network("ring:8"))
    >>> job.packet_bytes, job.together.describe()
    (524288, 'job of 2 collectives (activations, gradients after activations)')
    """
    name = file_name(path)
    with guarded(path), opened(path) as file:
        try:
            held = tomllib.loads(file.read().decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FileFormatError(f"cannot read {name}: {' '.join(str(error).split())[:160]}") from None
    unknown = sorted(set(held) - {"groups", "collectives", "packet"})
    if unknown:
        raise TaskError(f"{name}: {shown(unknown[0])} is unknown; a job has groups, collectives and packet")
    rows = held.get("collectives", [])
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise TaskError(f"{name}: a job has at least one table [[collectives]]")
    groups = _groups(held.get("groups", {}), network, name)
    collectives = tuple(_collective(row, i, groups, network, name) for i, row in enumerate(rows))
    _check_names(collectives, name)
    longest = max(c.message_bytes for c in collectives)
    packet = size(held["packet"], f"{name}: packet", error=TaskError) if "packet" in held else -(-longest // _PACKETS)
    if packet < 1:
        raise TaskError(f"{name}: a packet has at least 1 byte, got {packet}")
    job = Job(collectives, packet)
    job.together.check(network)
    return job


def _groups(given: Any, network: Network, name: str) -> dict[str, Groups]:
    if not isinstance(given, dict):
        raise TaskError(f"{name}: [groups] must be a table of names")
    found = {}
    for key, value in given.items():
        try:
            found[key] = _group(value, network)
        except (TaskError, FileFormatError) as error:
            raise TaskError(f"{name}: groups {key!r}: {error}") from None
    return found


def _group(value: Any, network: Network) -> Groups:
    if isinstance(value, str):
        return named_groups(value, network)
    if isinstance(value, list) and all(isinstance(row, list) for row in value):
        return tuple(tuple(row) for row in value)
    raise TaskError(f"must be a text such as 'blocks 8' or a list of lists of nodes, got {shown(value)}")


def _collective(
    row: Mapping[str, Any], number: int, groups: Mapping[str, Groups], network: Network, name: str
) -> Collective:
    where = f"{name}: collective {shown(row.get('name', number))}"
    for key in row:
        if key not in _KEYS:
            raise TaskError(f"{where}: {shown(key)} is unknown{nearest(key, _KEYS)}; there are {', '.join(_KEYS)}")
    for key in ("task", "bytes"):
        if key not in row:
            raise TaskError(f"{where} needs {key!r}")
    called, after = row.get("name", row["task"]), row.get("after", [])
    after = [after] if isinstance(after, str) else after
    if not isinstance(called, str) or not isinstance(after, list) or not all(isinstance(a, str) for a in after):
        raise TaskError(f"{where}: name must be a text, and after a name or a list of names")
    try:
        asked = row.get("groups", ())
        mine = groups[asked] if isinstance(asked, str) and asked in groups else _group(asked, network) if asked else ()
        among = ranks(len(mine[0])) if mine else network
        made = _task(row, among)
        sizing = sizing_of(made, among)
        message = sizing.message_bytes(size(row["bytes"], "bytes", error=TaskError))
        if message < 1:
            raise TaskError("bytes must be at least 1")
    except (TaskError, FileFormatError) as error:
        raise TaskError(f"{where}: {error}") from None
    return Collective(called, made, message, sizing.buffer_bytes(message), mine, tuple(after))


def _task(row: Mapping[str, Any], among: Network) -> Task:
    if not isinstance(row["task"], str):
        raise TaskError(f"task must be a name, got {shown(row['task'])}")
    if "traffic" in row:
        matrix = named_traffic(str(row["traffic"]), among)
        made = make_task(row["task"], counts=matrix.tolist())
        if not isinstance(made, UnevenExchange):
            raise TaskError(f"traffic goes with the task alltoallv, not with {made.name}")
        return made
    made = make_task(row["task"], **({"root": row["root"]} if "root" in row else {}))
    made.check(among)
    return made


def _check_names(collectives: tuple[Collective, ...], name: str) -> None:
    names = [c.name for c in collectives]
    for c in collectives:
        if names.count(c.name) > 1:
            raise TaskError(f"{name}: two collectives are called {c.name!r}; each needs a name of its own")
        for earlier in c.after:
            if earlier not in names:
                raise TaskError(f"{name}: collective {c.name!r} waits for {earlier!r}, which there is not")
