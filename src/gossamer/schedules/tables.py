"""Several tables in one Parquet file, with a description of them in its metadata.

Each table has columns of its own and fills row groups of its own, one table after the other; in its rows the columns
of the other tables are null. The file's key-value metadata holds, under ``gossamer``, a JSON object.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, GossamerError, ScheduleError
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.reading import whole
from gossamer.writing import whole_file

__all__ = [
    "DAMAGE",
    "TableFile",
    "control_phases",
    "network_from_dict",
    "network_to_dict",
    "open_tables",
    "read_columns",
    "whole_schedule",
    "with_control",
    "write_tables",
]

DAMAGE = (GossamerError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, OSError, zlib.error)
"""What goes wrong when a tampered description or column is read."""

_KEY = b"gossamer"
_ROWS = 4_000_000

Columns = Mapping[str, npt.NDArray[Any]]


class TableFile(NamedTuple):
    """An open file: its name, its Parquet reader and its description."""

    name: str
    parquet: Any
    header: dict[str, Any]


def write_tables(path: str | os.PathLike[str], header: Mapping[str, Any], tables: Sequence[Columns]) -> None:
    """Write tables to a Parquet file, whole or not at all.

    Parameters
    ----------
    path : path
        Replaced if it exists.
    header : mapping
        Plain values for the JSON object.
    tables : sequence of mappings
        Columns by name, all names different; the columns of a table have one length and integer types. The last
        table is the chief one: its columns come first.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(name, pa.from_numpy_dtype(values.dtype)) for table in reversed(tables) for name, values in table.items()]
    schema = pa.schema(fields, metadata={_KEY: json.dumps(header).encode()})
    with (
        whole_file(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False, write_page_checksum=True) as writer,
    ):
        for table in tables:
            size = next(iter(table.values())).size
            for a in range(0, size, _ROWS):
                rows = min(_ROWS, size - a)
                arrays = [
                    pa.array(table[f.name][a : a + rows], f.type) if f.name in table else pa.nulls(rows, f.type)
                    for f in schema
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=rows)


@contextmanager
def open_tables(path: str | os.PathLike[str], newest: int) -> Iterator[TableFile]:
    """Open a file that `write_tables` wrote.

    Parameters
    ----------
    path : path
        The file.
    newest : int
        The highest ``version`` in its description that the caller reads.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, foreign, or newer.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = str(path)
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name!r}") from None
    except (pa.ArrowInvalid, pa.ArrowException, OSError, ValueError) as error:  # ValueError: names that are no text
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
        except DAMAGE:
            raise FileFormatError(f"{name!r} has unreadable gossamer metadata") from None
        if version > newest:
            raise FileFormatError(f"{name!r} has format version {version}; this gossamer reads up to {newest}")
        yield TableFile(name, file, header)


@contextmanager
def whole_schedule(name: str) -> Iterator[None]:
    """Turn what goes wrong while the block reads a damaged file into one FileFormatError of one line."""
    import pyarrow as pa

    try:
        yield
    except (*DAMAGE, pa.ArrowException) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        raise FileFormatError(f"{name!r} does not hold a whole schedule: {reason}") from None


def read_columns(parquet: Any, tables: Sequence[tuple[Sequence[str], int | None, str]]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of all tables.

    Parameters
    ----------
    parquet : pyarrow.parquet.ParquetFile
        The open file.
    tables : sequence of (names, rows, what)
        Columns of each table, in the order of writing, the number of rows that it must have (None for the last: what
        is left), and what its rows are, for the error.

    Raises
    ------
    ValueError
        If rows are missing or empty.
    """
    groups, group = parquet.metadata.num_row_groups, 0
    columns: dict[str, npt.NDArray[Any]] = {}
    for names, expected, what in tables:
        first, rows = group, 0
        while group < groups and (expected is None or rows < expected):
            rows += parquet.metadata.row_group(group).num_rows
            group += 1
        if expected is not None and rows != expected:
            raise ValueError(f"it lists {expected} {what}s, but has {rows} {what} rows")
        table = parquet.read_row_groups(list(range(first, group)), columns=list(names))
        for name in names:
            values = table.column(name)
            if values.null_count:
                raise ValueError(f"column {name!r} has {values.null_count} empty rows")
            columns[name] = values.to_numpy()
    return columns


def control_phases(phases: Sequence[Any]) -> dict[str, list[int]]:
    """Return the description of which phases are for control packets; nothing where none is."""
    positions = [i for i, phase in enumerate(phases) if phase.control]
    return {"control_phases": positions} if positions else {}


def with_control(header: Mapping[str, Any], phases: Sequence[Any]) -> Iterator[tuple[Any, bool]]:
    """Yield each phase of a description with whether it is for control packets; ScheduleError if there is none such."""
    positions = header.get("control_phases", [])
    for i in positions:
        whole(i, "the number of a control phase", 0, len(phases) - 1, error=ScheduleError)
    for i, phase in enumerate(phases):
        yield phase, i in positions


def network_to_dict(network: Network) -> dict[str, Any]:
    """Return plain values for a network: its spec and a hash of its links, or the links where it has no spec."""
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


def network_from_dict(fields: dict[str, Any]) -> Network:
    """Return the network that `network_to_dict` described; ValueError if it is another one."""
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
            raise ValueError("its network is another file")  # files hold the links of such networks
        network = parse_network(fields["spec"])
    if network.fingerprint != fields["fingerprint"]:
        raise ValueError(f"the links of network {network.spec!r} are not those that the file was made with")
    return network
