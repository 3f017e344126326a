"""Tables of demands from files and into files: CSV, Parquet, JSON, and matrices of NumPy and Matrix Market."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.errors import FileFormatError, TaskError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.questions.tasks.demand_table import DemandTable, as_table
from gossamer.questions.tasks.task import Task
from gossamer.reading.demands import in_units, read_traffic
from gossamer.reading.files import file_name
from gossamer.reading.matrices import MATRIX_MARKET
from gossamer.reading.quantities import size
from gossamer.writing import whole_file

__all__ = ["TABLE_ENDINGS", "read_table", "write_table"]

TABLE_ENDINGS = (".csv", ".parquet", ".json", ".npy", *MATRIX_MARKET)
"""How the names of files of traffic end."""


def read_table(path: str | os.PathLike[str], network: Network | Any, unit: int | str | None = None) -> DemandTable:
    """Return the table of demands of a file: a matrix, or rows of demands and contributions.

    Parameters
    ----------
    path : str or path
        As `gossamer.reading.demands.read_traffic` reads it.
    network : Network, str, path or networkx graph
        Whose terminals the nodes are.
    unit : int or str, optional
        Bytes of a packet, such as ``"64KiB"``: amounts are bytes. Needed where a column says so.

    Raises
    ------
    FileFormatError
        If the file cannot be read, with the row.
    TaskError
        If a row asks for what cannot be, with the row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "halo.csv"
    >>> write_table(DemandTable.of([(0, [1, 2], 3)]), path)
    >>> print(path.read_text().strip())
    origin,contributors,destinations,packets
    0,,1 2,3
    >>> read_table(path, "ring:3").describe()
    'demands (1 demand of 3 packets)'
    """
    net = as_network(network)
    found = read_traffic(path, net.terminal_count)
    if found.in_bytes and unit is None:
        raise TaskError(f"{file_name(path)} has bytes; give --unit, the bytes of a packet, such as 64KiB")
    if unit is not None:
        found = in_units(found, size(unit, "--unit", error=TaskError))
    table = DemandTable.from_rows(found.rows, found.where)
    if found.matrix is not None:
        try:
            table = DemandTable.from_matrix(found.matrix)
        except TaskError as error:
            raise TaskError(f"{file_name(path)}, {error}") from None
        if found.matrix.shape[0] != net.terminal_count:
            said = f"{found.matrix.shape[0]} rows; {net.spec} has {net.terminal_count} terminals"
            raise TaskError(f"{file_name(path)}: the matrix has {said}")
    table.check(net)
    return table


def write_table(task: Task, path: str | os.PathLike[str], network: Network | Any | None = None) -> None:
    """Write a task as a table of demands, or as a traffic matrix.

    Parameters
    ----------
    task : Task
        A table, or any task that can be one (`as_table`); that needs `network`.
    path : str or path
        ``.csv``, ``.parquet`` and ``.json`` hold rows; ``.npy`` and Matrix Market (``.mtx``, ``.mtx.gz``, ``.mtx.bz2``)
        the packets from each node to each other, what several rows ask of a pair added up.
    network : Network, str, path or networkx graph, optional
        Whose terminals the nodes are. A matrix has a row for each; without it, up to the last node that is named.

    Raises
    ------
    TaskError
        If the task is no table, or no matrix because a message is for several or combined.
    FileFormatError
        If the file is of no known kind or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.npy"
    >>> write_table(gossamer.task("scatter"), path, "ring:3")
    >>> np.load(path).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    ending = next((e for e in TABLE_ENDINGS if os.fspath(path).lower().endswith(e)), None)
    if ending is None:
        raise FileFormatError(f"{file_name(path)} is of no known kind; tables are {', '.join(TABLE_ENDINGS)}")
    net = None if network is None else as_network(network)
    if isinstance(task, DemandTable):
        table = task
        if net is not None:
            table.check(net)
    elif net is None:
        raise TaskError(f"{task.name} is a table on a network only; give the network")
    else:
        table = as_table(task, net)
    if ending in _WRITERS:
        with whole_file(path) as part:
            _WRITERS[ending](table, part)
        return
    matrix = _matrix(table, net)
    with whole_file(path) as part:
        if ending == ".npy":
            with part.open("wb") as file:
                np.save(file, matrix)
        else:
            part.write_bytes(_compressed(_matrix_market(matrix), ending))


def _matrix(table: DemandTable, net: Network | None) -> Any:
    """Return the packets between nodes, int64[n, n]; TaskError for what a matrix does not tell."""
    ends = np.diff(table.destination_start)
    other = np.flatnonzero(table.combined | (ends != 1))
    if other.size:
        why = "combines contributions" if table.combined[other[0]] else f"has {ends[other[0]]} destinations"
        raise TaskError(f"row {other[0]} {why}, which a matrix does not tell; write .csv, .parquet or .json")
    n = 1 + int(max(table.origin.max(initial=0), table.destinations.max(initial=0)))
    n = n if net is None else net.terminal_count
    matrix = np.zeros((n, n), np.int64)
    np.add.at(matrix, (table.origin, table.destinations), table.size)
    return matrix


def _matrix_market(matrix: Any) -> bytes:
    rows = [f"{u + 1} {v + 1} {matrix[u, v]}" for u, v in np.argwhere(matrix).tolist()]
    n = matrix.shape[0]
    return "\n".join(["%%MatrixMarket matrix coordinate integer general", f"{n} {n} {len(rows)}", *rows, ""]).encode()


def _compressed(data: bytes, ending: str) -> bytes:
    if ending.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    return bz2.compress(data) if ending.endswith(".bz2") else data


def _csv(table: DemandTable, part: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["origin", "contributors", "destinations", "packets"])
    for row in table.to_rows():
        shares, ends = (" ".join(map(str, row.get(key, ()))) for key in ("contributors", "destinations"))
        writer.writerow([row.get("origin", ""), shares, ends, row["packets"]])
    part.write_text(text.getvalue(), encoding="utf-8")


def _json(table: DemandTable, part: Path) -> None:
    rows = table.to_rows()
    first = int(np.argmax(table.combined)) if table.combined.any() else table.rows
    held: dict[str, Any] = {"rows": rows}  # in their order, where contributions come before demands
    if table.combined[first:].all():
        held = {"demands": rows[:first], "contributions": rows[first:]}
    part.write_text(json.dumps(held) + "\n", encoding="utf-8")


def _parquet(table: DemandTable, part: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    origin = pa.array(np.where(table.combined, 0, table.origin), pa.int64(), mask=table.combined)
    shares = pa.ListArray.from_arrays(pa.array(table.contributor_start, pa.int32()), pa.array(table.contributors))
    ends = pa.ListArray.from_arrays(pa.array(table.destination_start, pa.int32()), pa.array(table.destinations))
    columns = {"origin": origin, "contributors": shares, "destinations": ends, "packets": pa.array(table.size)}
    parquet.write_table(pa.table(columns), part)


_WRITERS: dict[str, Callable[[DemandTable, Path], None]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}
