"""Schedules in files: one Parquet file, readable by any tool that reads Parquet.

Rows are of two kinds. Packet rows come first and fill the columns ``origin, message, part``; their order is the packet
number. Hop rows fill ``slot, link, packet``, sorted by slot. The columns of the other kind are null. The file's
key-value metadata holds, under ``gossamer``, a JSON object with the format version, network, task, model, parts,
phases, symmetry, and the number of packets.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.errors import FileFormatError, GossamerError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.schedules.schedule import Packets, Phase, Schedule
from gossamer.schedules.symmetry import Symmetry
from gossamer.tasks import task_from_dict
from gossamer.writing import whole_file

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

_KEY = b"gossamer"
_ROWS = 4_000_000
_HOPS = ("slot", "link", "packet")
_PACKETS = ("origin", "message", "part")
_DAMAGE = (GossamerError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, OSError, zlib.error)
"""What goes wrong when a tampered header or column is read."""


def save(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a Parquet file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written, or the schedule is invariant and its network cannot be named in a file.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.parquet"
    >>> s = gossamer.plan("ring:5", "allgather").schedule
    >>> save(s, path)
    >>> load(path) == s
    True
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if schedule.symmetry is not None and schedule.network.links_only:
        raise FileFormatError(
            f"an invariant schedule on {schedule.network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    fields = [(n, pa.int32()) for n in _HOPS] + [("origin", pa.int32()), ("message", pa.int64()), ("part", pa.int32())]
    schema = pa.schema(fields, metadata={_KEY: json.dumps(_header(schedule)).encode()})
    columns = {n: getattr(schedule, n) for n in _HOPS} | {n: getattr(schedule.packets, n) for n in _PACKETS}
    with (
        whole_file(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False, write_page_checksum=True) as writer,
    ):
        for names in (_PACKETS, _HOPS):
            size = columns[names[0]].size
            for a in range(0, size, _ROWS):
                rows = min(_ROWS, size - a)
                arrays = [
                    pa.array(columns[f.name][a : a + rows], f.type) if f.name in names else pa.nulls(rows, f.type)
                    for f in schema
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=rows)


def _header(schedule: Schedule) -> dict[str, Any]:
    symmetry = schedule.symmetry
    return {
        "version": FORMAT_VERSION,
        "network": _network_to_dict(schedule.network),
        "task": schedule.task.to_dict(),
        "model": schedule.model.to_dict(),
        "parts": schedule.parts,
        "phases": [[p.name, p.slots, str(p.slot_length)] for p in schedule.phases],
        "symmetry": None if symmetry is None else {"generated_by": symmetry.generated_by},
        "algorithm": schedule.algorithm,
        "packets": schedule.packets.count,
    }


def _network_to_dict(network: Network) -> dict[str, Any]:
    if not network.links_only:
        return {"spec": network.spec, "fingerprint": network.fingerprint}
    links = np.stack([network.link_source, network.link_target, network.link_capacity]).astype("<i4")
    packed = base64.b64encode(zlib.compress(links.tobytes(), 6)).decode()
    return {
        "name": network.spec,
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "fingerprint": network.fingerprint,
        "labels": network.labels,
        "links": packed,
    }


def _network_from_dict(fields: dict[str, Any]) -> Network:
    if "links" in fields:
        raw = zlib.decompress(base64.b64decode(fields["links"]))
        source, target, capacity = np.frombuffer(raw, "<i4").reshape(3, -1)
        network = Network(
            fields["name"],
            fields["nodes"],
            source,
            target,
            capacity,
            terminal_count=fields["terminals"],
            labels=fields["labels"],
            links_only=True,
        )
    else:
        if ":" in fields["spec"] and "edges" in fields["spec"].split(":")[0]:
            raise ValueError("its network is another file")  # save writes the links of such networks
        network = parse_network(fields["spec"])
    if network.fingerprint != fields["fingerprint"]:
        raise ValueError(f"the links of network {network.spec!r} are not those that the file was made with")
    return network


def load(path: str | os.PathLike[str]) -> Schedule:
    """Read a schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule, or of a newer format version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = str(path)
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name!r}") from None
    except (pa.ArrowInvalid, pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise FileFormatError(f"{name!r} is not a readable Parquet file, or is truncated: {reason}") from None
    with file:
        raw = (file.schema_arrow.metadata or {}).get(_KEY)
        if raw is None:
            raise FileFormatError(
                f"{name!r} is a Parquet file, but not a gossamer schedule: it has no 'gossamer' metadata"
            )
        try:
            header = json.loads(raw)
            version = int(header["version"])
        except _DAMAGE:
            raise FileFormatError(f"{name!r} has unreadable gossamer metadata") from None
        if version > FORMAT_VERSION:
            raise FileFormatError(f"{name!r} has format version {version}; this gossamer reads up to {FORMAT_VERSION}")
        try:
            columns = _read_columns(file, int(header["packets"]))
            return _from_header(header, columns)
        except (*_DAMAGE, pa.ArrowException) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise FileFormatError(f"{name!r} does not hold a whole schedule: {reason}") from None


def _read_columns(file: Any, packets: int) -> dict[str, Any]:
    """Return the six columns; packet rows fill the first row groups."""
    groups = file.metadata.num_row_groups
    rows, first_hops = 0, 0
    while rows < packets and first_hops < groups:
        rows += file.metadata.row_group(first_hops).num_rows
        first_hops += 1
    if rows != packets:
        raise ValueError(f"it lists {packets} packets, but has {rows} packet rows")
    columns = {}
    for names, which in ((_PACKETS, range(first_hops)), (_HOPS, range(first_hops, groups))):
        table = file.read_row_groups(list(which), columns=list(names))
        for column in names:
            values = table.column(column)
            if values.null_count:
                raise ValueError(f"column {column!r} has {values.null_count} empty rows")
            columns[column] = values.to_numpy()
    return columns


def _from_header(header: dict[str, Any], columns: dict[str, Any]) -> Schedule:
    network = _network_from_dict(header["network"])
    symmetry = header["symmetry"]
    return Schedule(
        network,
        task_from_dict(header["task"]),
        Model.from_dict(header["model"]),
        *(columns[n] for n in _HOPS),
        parts=header["parts"],
        packets=Packets(*(columns[n] for n in _PACKETS)),
        phases=[Phase(name, slots, Fraction(length)) for name, slots, length in header["phases"]],
        symmetry=None if symmetry is None else Symmetry(network, symmetry["generated_by"]),
        algorithm=header["algorithm"],
    )
