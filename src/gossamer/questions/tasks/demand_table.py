"""The general task: a table of demands and of contributions, who holds what before and who must hold what after."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity, whole_file
from gossamer.errors import FileFormatError, TaskError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.questions.tasks.task import COMBINE, COPY, MOVE, Ids, Messages, Task, listed, node_number
from gossamer.reading import whole
from gossamer.reading.files import file_name
from gossamer.reading.matrix_market import MATRIX_MARKET
from gossamer.reading.quantities import size
from gossamer.reading.traffic_files import in_units, read_traffic

_MOST_SIZE = 2**31 - 1

IntColumn = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DemandTable(Task):
    """Demands and contributions, a row each.

    A *demand* has an origin that holds a message and destinations that must get it. A *contribution* row has
    contributors, each with a share of a message; all shares must be combined, and the result be at the destinations:
    the first combines it and the others get it from there. A row with one destination of a demand is moved, never
    copied. Message number: 2i for row i, and 2i + 1 for the result of a contribution row that goes on to further
    destinations.

    Attributes
    ----------
    origin : int64[m]
        Origin of each demand, -1 in contribution rows.
    contributor_start, contributors : int64[m+1], int64[]
        Contributors of row i are ``contributors[contributor_start[i]:contributor_start[i+1]]``, none of demands.
    destination_start, destinations : int64[m+1], int64[]
        Destinations of each row, in the same form, at least one.
    size : int64[m]
        Packets of each row's message, at least 1.

    Examples
    --------
    >>> table = DemandTable.of([(0, [1, 2], 3)], contributions=[([0, 1, 2], [2], 1)])
    >>> table.describe()
    'demands (1 demand of 3 packets, 1 contribution of 1 packet)'
    """

    origin: IntColumn
    contributor_start: IntColumn
    contributors: IntColumn
    destination_start: IntColumn
    destinations: IntColumn
    size: IntColumn
    where: tuple[str, ...] = field(default=(), repr=False)

    name = "demands"
    summary = "a table of demands (origin, destinations) and contributions (contributors, destinations), with sizes"

    @classmethod
    def of(
        cls,
        demands: Iterable[tuple[int, Sequence[int], int]] = (),
        contributions: Iterable[tuple[Sequence[int], Sequence[int], int]] = (),
    ) -> DemandTable:
        """Return the table of rows (origin, destinations, packets) and (contributors, destinations, packets).

        Raises
        ------
        TaskError
            If a row is malformed: a node twice, a message to its own origin, no destination, a size below 1.
        """
        rows = [(o, (), d, s) for o, d, s in listed(demands, "the demands")]
        rows += [(-1, tuple(listed(c, "contributors")), d, s) for c, d, s in listed(contributions, "the contributions")]
        return cls.from_rows(rows)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Any, Any, Any, Any]], where: Sequence[str] = ()) -> DemandTable:
        """Return the table of rows (origin or -1, contributors, destinations, packets).

        `where` says for each row where it stands, for messages.
        """
        origin, contributors, destinations, size = [], [], [], []
        for i, (start, shares, ends, packets) in enumerate(rows):
            at = where[i] if i < len(where) else f"row {i}"
            size.append(whole(packets, f"{at}: packets", 1, _MOST_SIZE, error=TaskError))
            origin.append(-1 if len(shares) else node_number(start, f"{at}: origin"))
            contributors.append(_nodes(shares, f"{at}: contributor"))
            destinations.append(_nodes(ends, f"{at}: destination"))
            if not destinations[-1]:
                raise TaskError(f"{at}: there is no destination; at least one is needed")
            if origin[-1] in destinations[-1]:
                raise TaskError(f"{at}: node {origin[-1]} sends a message to itself")
            if contributors[-1] == destinations[-1][:1]:
                raise TaskError(f"{at}: node {destinations[-1][0]} contributes to itself alone")
        return cls(
            np.array(origin, np.int64),
            _starts(contributors),
            np.array([v for row in contributors for v in row], np.int64),
            _starts(destinations),
            np.array([v for row in destinations for v in row], np.int64),
            np.array(size, np.int64),
            tuple(where),
        )

    @classmethod
    def from_matrix(cls, packets: npt.ArrayLike) -> DemandTable:
        """Return the table of a matrix: ``packets[u][v]`` packets from node u to node v, none where 0.

        Raises
        ------
        TaskError
            If it is not a square matrix of whole numbers that are 0 or more and 0 on the diagonal.
        """
        matrix = np.asarray(packets)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "iu":
            shape = "x".join(map(str, matrix.shape))
            raise TaskError(f"a traffic matrix must be square and of whole numbers, got {matrix.dtype} values, {shape}")
        for row, column in np.argwhere((matrix < 0) | (matrix > _MOST_SIZE))[:1].tolist():
            raise TaskError(
                f"row {row}: {matrix[row, column]} packets to node {column}; they must be in 0..{_MOST_SIZE}"
            )
        for node in np.flatnonzero(np.diagonal(matrix))[:1].tolist():
            raise TaskError(f"row {node}: node {node} sends a message to itself; the diagonal must be 0")
        origin, target = np.nonzero(matrix)
        start = np.arange(origin.size + 1, dtype=np.int64)
        none = np.zeros(0, np.int64)
        return cls(origin, np.zeros_like(start), none, start, target, matrix[origin, target].astype(np.int64))

    def __post_init__(self) -> None:
        for each in fields(self)[:-1]:
            column = np.ascontiguousarray(getattr(self, each.name), np.int64)
            column.flags.writeable = False
            object.__setattr__(self, each.name, column)

    # -- the task ---------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Number of rows m."""
        return int(self.size.size)

    @cached_property
    def combined(self) -> npt.NDArray[np.bool_]:
        """Whether each row is a contribution row."""
        return self.origin < 0

    def check(self, network: Network) -> None:
        """Raise TaskError, with its row, if a node is not a terminal of `network`."""
        n = network.terminal_count
        starts = {"contributor": self.contributor_start, "destination": self.destination_start}
        columns = {"origin": np.where(self.combined, 0, self.origin), "contributor": self.contributors}
        for what, column in (columns | {"destination": self.destinations}).items():
            for place in np.flatnonzero((column < 0) | (column >= n))[:1].tolist():
                row = place if what == "origin" else int(np.searchsorted(starts[what], place, "right")) - 1
                at = self.where[row] if row < len(self.where) else f"row {row}"
                raise TaskError(f"{at}: {what} {column[place]} is outside 0..{n - 1} of {network.spec}")

    @cached_property
    def _messages(self) -> Messages:
        counts = np.diff(self.destination_start)
        root = self.destinations[self.destination_start[:-1]]
        onward = self.combined & (counts > 1)
        row = np.concatenate([np.arange(self.rows), np.flatnonzero(onward)])
        result = np.repeat([False, True], [self.rows, int(onward.sum())])
        order = np.lexsort((result, row))
        row, result = row[order], result[order]
        combining = self.combined[row] & ~result
        single = (counts[row] == 1) & ~self.combined[row]
        discipline = np.where(combining, COMBINE, np.where(single, MOVE, COPY)).astype(np.uint8)
        first = np.where(combining, self.contributor_start[row], self.destination_start[row] + result)
        last = np.where(combining, self.contributor_start[row + 1], self.destination_start[row + 1])
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(last - first)])
        place = np.arange(start[-1]) - np.repeat(start[:-1] - first, last - first)
        every = np.concatenate([self.contributors, self.destinations])
        listed_at = place + np.repeat(np.where(combining, 0, self.contributors.size), last - first)
        return Messages(
            2 * row + result,
            np.where(self.combined[row], root[row], self.origin[row]).astype(np.int32),
            discipline,
            start,
            every[listed_at].astype(np.int32),
            np.where(result, np.arange(row.size) - 1, -1) if onward.any() else None,
            None if bool((self.size == 1).all()) else self.size[row],
            partwise=bool(onward.any()),
        )

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return a message for each row, and one for each result that goes on."""
        return self._messages

    def most_messages(self, network: Network) -> int:
        """Return the number of packets."""
        return 2 * int(self.size.sum())

    def dual(self, network: Network) -> Task:
        """Return the table turned round: a moved message goes back, a copied one becomes contributions.

        Raises
        ------
        TaskError
            If a result goes to several destinations.
        """
        ends = np.diff(self.destination_start)
        twice = np.flatnonzero(self.combined & (ends > 1))
        if twice.size:
            raise TaskError(f"row {twice[0]} combines a message and then copies it, which has no dual by time reversal")
        first = self.destinations[self.destination_start[:-1]]
        moved = ~self.combined & (ends == 1)
        copied = ~self.combined & ~moved
        # what is moved goes the other way; what is copied is contributed by its targets; shares become copies
        shares = np.where(copied, ends, 0)
        kept = np.repeat(copied, ends)
        back = np.where(self.combined, np.diff(self.contributor_start), 1)
        place = np.cumsum(back) - back
        targets = np.empty(int(back.sum()), np.int64)
        targets[place[~self.combined]] = self.origin[~self.combined]
        targets[np.repeat(self.combined, back)] = self.contributors
        # the root of a reduction is among its own contributors, but no destination of the message it sends instead
        own = np.repeat(np.where(self.combined, first, -2), back) == targets
        lengths = back - np.add.reduceat(own.astype(np.int64), place) if targets.size else back
        return DemandTable(
            np.where(copied, -1, first),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(shares)]),
            self.destinations[kept],
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            targets[~own],
            self.size,
        )

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the nodes; rows stay."""
        moved = np.where(self.combined, -1, by(np.maximum(self.origin, 0)))
        starts = self.contributor_start, self.destination_start
        return DemandTable(moved, starts[0], by(self.contributors), starts[1], by(self.destinations), self.size)

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Keep the numbers, which are those of rows."""
        return ids

    # -- as values --------------------------------------------------------------------------------------------

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a mapping for each row: ``origin`` or ``contributors``, ``destinations``, ``packets``."""
        found = []
        for i in range(self.rows):
            shares, ends = (
                column[start[i] : start[i + 1]].tolist()
                for column, start in (
                    (self.contributors, self.contributor_start),
                    (self.destinations, self.destination_start),
                )
            )
            who = {"contributors": shares} if self.combined[i] else {"origin": int(self.origin[i])}
            found.append({**who, "destinations": ends, "packets": int(self.size[i])})
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: the columns."""
        return {"name": self.name} | {f.name: getattr(self, f.name).tolist() for f in fields(self)[:-1]}

    def describe(self) -> str:
        """Return the name with the numbers of rows and packets, for people."""
        said = []
        for noun, rows in (("demand", ~self.combined), ("contribution", self.combined)):
            if rows.any():
                packets = quantity(int(self.size[rows].sum()), "packet")
                said.append(f"{quantity(int(rows.sum()), noun)} of {packets}")
        return f"{self.word} ({', '.join(said) or 'none'})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DemandTable):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)[:-1])

    def __hash__(self) -> int:
        return hash((self.rows, self.destinations.tobytes(), self.size.tobytes()))


def _nodes(values: Any, what: str) -> list[int]:
    nodes = [node_number(v, what) for v in listed(values, f"{what}s")]
    seen: set[int] = set()
    for node in nodes:
        if node in seen:
            raise TaskError(f"{what} {node} is listed twice")
        seen.add(node)
    return nodes


def _starts(rows: Sequence[Sequence[int]]) -> IntColumn:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in rows], dtype=np.int64)])


def as_table(task: Task, network: Network) -> DemandTable:
    """Return the table of any task on a network: the same messages, as rows.

    Raises
    ------
    TaskError
        If the task does not fit the network, waits between collectives (`Together`), or has more messages than fit.

    Notes
    -----
    A row has a message, or of an allreduce a reduction and the broadcast of its result. O(messages times targets)
    memory.

    Examples
    --------
    >>> import gossamer
    >>> as_table(gossamer.task("scatter"), gossamer.network("ring:3")).to_rows()[0]
    {'origin': 0, 'destinations': [1], 'packets': 1}
    """
    task.check(network)
    messages = task.messages(network)
    if isinstance(task, DemandTable):
        return task
    if messages.waits:
        raise TaskError(f"{task.describe()} has collectives that wait for others, which a table does not tell")
    sizes = np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes
    everyone = list(range(network.terminal_count))
    onward = {} if messages.after is None else {int(a): i for i, a in enumerate(messages.after) if a >= 0}
    rows: list[tuple[Any, Any, Any, Any]] = []
    for i in range(messages.count):
        if messages.after is not None and messages.after[i] >= 0:
            continue
        root = int(messages.origin[i])
        ends = _ends(messages, i, everyone)
        if messages.discipline[i] == COMBINE:
            further = _ends(messages, onward[i], everyone) if i in onward else []
            rows.append((-1, ends, [root, *(v for v in further if v != root)], int(sizes[i])))
        elif targets := [v for v in ends if v != root]:
            rows.append((root, (), targets, int(sizes[i])))
    return DemandTable.from_rows(rows)


def _ends(messages: Messages, row: int, everyone: list[int]) -> list[int]:
    if messages.target_start is None or messages.targets is None:
        return everyone
    found: list[int] = messages.targets[messages.target_start[row] : messages.target_start[row + 1]].tolist()
    return found


# Tables of demands from files and into files: CSV, Parquet, JSON, and matrices of NumPy and Matrix Market.

TABLE_ENDINGS = (".csv", ".parquet", ".json", ".npy", *MATRIX_MARKET)
"""How the names of files of traffic end."""


def read_table(path: str | os.PathLike[str], network: Network | Any, unit: int | str | None = None) -> DemandTable:
    """Return the table of demands of a file: a matrix, or rows of demands and contributions.

    Parameters
    ----------
    path : str or path
        As `gossamer.reading.traffic_files.read_traffic` reads it.
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
