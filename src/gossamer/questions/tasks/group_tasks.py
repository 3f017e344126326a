"""A task among the nodes of a group, or of several groups at once: process groups, communicators, mesh axes."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import FileFormatError, TaskError, shown
from gossamer.networks.network import Network
from gossamer.questions.tasks.chunked import Chunked, chunked
from gossamer.questions.tasks.composite_tasks import Together, in_group, ranks, united
from gossamer.questions.tasks.task import Ids, Messages, Task, check_node, listed, node_number
from gossamer.reading.files import file_name, text_lines
from gossamer.reading.quantities import nodes as listed_nodes


@dataclass(frozen=True)
class Grouped(Task):
    """A task carried out in each of several groups at the same time.

    The ranks of a group are its nodes in the order given: rank r of ``groups[g]`` is node ``groups[g][r]``. Nodes of no
    group may pass packets on. Message number: the number in the task among the ranks, plus that of all messages of the
    groups before, as far as numbers reach.

    Attributes
    ----------
    task : Task
        What every group does; its root and other nodes are ranks.
    groups : tuple of tuples of int
        The groups, each of at least one node, none twice in a group.

    Examples
    --------
    >>> import gossamer
    >>> rows = Grouped(gossamer.task("allgather"), [[0, 1, 2], [3, 4, 5]])
    >>> rows.describe(), rows.messages(gossamer.network("array:2x3")).count
    ('allgather in 2 groups of 3 nodes', 6)
    """

    task: Task
    groups: tuple[tuple[int, ...], ...]

    name = "grouped"
    summary = "a task carried out in each of several groups at the same time"

    def __post_init__(self) -> None:
        if isinstance(self.task, Grouped):
            raise TaskError("a task in groups cannot be divided into groups again")
        rows = tuple(_group(row, g) for g, row in enumerate(listed(self.groups, "the groups")))
        if not rows:
            raise TaskError("there is no group; at least one is needed")
        object.__setattr__(self, "groups", rows)
        object.__setattr__(self, "name", self.task.name)
        for g, row in enumerate(rows):
            try:
                self.task.check(ranks(len(row)))
            except TaskError as error:
                raise TaskError(f"group {g} has {quantity(len(row), 'node')}: {error}") from None

    @property
    def word(self) -> str:
        """What the task is called."""
        return self.task.word

    def check(self, network: Network) -> None:
        """Raise TaskError if a node of a group is not a terminal of `network`."""
        for g, row in enumerate(self.groups):
            for node in row:
                check_node(network, node, f"group {g}:")

    @cached_property
    def _inner(self) -> tuple[Messages, ...]:
        """The messages of each group among its ranks."""
        of_size = {size: self.task.messages(ranks(size)) for size in {len(row) for row in self.groups}}
        return tuple(of_size[len(row)] for row in self.groups)

    @cached_property
    def first_ids(self) -> list[int]:
        """What is added to the numbers of each group."""
        spans = [int(m.ids[-1]) + 1 if m.count else 0 for m in self._inner]
        return list(itertools.accumulate([0, *spans[:-1]]))

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return the messages of all groups, each for the nodes of its group."""
        each = [in_group(m, row) for m, row in zip(self._inner, self.groups, strict=True)]
        return united(each, self.first_ids, network.terminal_count)

    def most_messages(self, network: Network) -> int:
        """Return the number of messages of all groups."""
        return sum(self.task.most_messages(ranks(len(row))) for row in self.groups)

    def dual(self, network: Network) -> Grouped:
        """Return the dual task in the same groups."""
        return Grouped(self.task.dual(ranks(len(self.groups[0]))), self.groups)

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Return the numbers, in the dual task, of the messages `ids`."""
        first_of_dual = self.dual(network).first_ids
        result = np.array(ids, np.int64)
        place = np.searchsorted(self.first_ids, result, "right") - 1
        for g, row in enumerate(self.groups):
            here = place == g
            if here.any():
                inner = self.task.dual_ids(ranks(len(row)), result[here] - self.first_ids[g])
                result[here] = inner + first_of_dual[g]
        return result

    def renamed(self, by: Callable[[Ids], Ids]) -> Task:
        """Rename the nodes of the groups; ranks stay."""
        return Grouped(self.task, tuple(tuple(by(np.array(row, np.int64)).tolist()) for row in self.groups))

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Keep the numbers, which are those of ranks."""
        return ids

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file: those of the task, and the groups."""
        return {**self.task.to_dict(), "groups": [list(row) for row in self.groups]}

    def describe(self) -> str:
        """Return the name with its parameters, for people."""
        sizes = sorted({len(row) for row in self.groups})
        nodes = quantity(sizes[0], "node") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} nodes"
        many = f"{len(self.groups)} groups of {nodes}" if len(self.groups) > 1 else f"a group of {nodes}"
        return f"{self.task.describe()} in {many}"


def includes(task: Task, kind: type[Task]) -> bool:
    """Return whether a task is of a kind, or is one of that kind in groups, in chunks or together with others.

    >>> import gossamer
    >>> from gossamer.questions.tasks import Allreduce
    >>> includes(gossamer.task("allreduce", packets=3), Allreduce), includes(gossamer.task("reduce"), Allreduce)
    (True, False)
    """
    if isinstance(task, Together):
        return isinstance(task, kind) or any(includes(each, kind) for each in task.tasks)
    if isinstance(task, Grouped | Chunked):
        return isinstance(task, kind) or includes(task.task, kind)
    return isinstance(task, kind)


def packets_of(task: Task) -> int:
    """Return the packets of each message that a task in chunks, or one in groups, is cut into; 1 where it is not.

    >>> import gossamer
    >>> packets_of(gossamer.task("allgather", packets=3, groups=[[0, 1], [2, 3]])), packets_of(gossamer.task("reduce"))
    (3, 1)
    """
    if isinstance(task, Grouped):
        return packets_of(task.task)
    return task.packets if isinstance(task, Chunked) else 1


def in_packets(task: Task, packets: int) -> Task:
    """Return a task with so many packets a message, however many it had; with 1, messages are whole.

    >>> import gossamer
    >>> rows = gossamer.task("allgather", packets=3, groups=[[0, 1], [2, 3]])
    >>> in_packets(rows, 8).describe()
    'allgather, 8 packets a message in 2 groups of 2 nodes'
    >>> in_packets(rows, 1).describe()
    'allgather in 2 groups of 2 nodes'
    """
    if isinstance(task, Grouped):
        return Grouped(in_packets(task.task, packets), task.groups)
    return chunked(task.task if isinstance(task, Chunked) else task, packets)


def _group(row: Any, g: int) -> tuple[int, ...]:
    nodes = tuple(node_number(v, f"node of group {g}") for v in listed(row, f"the nodes of group {g}"))
    if not nodes:
        raise TaskError(f"group {g} is empty; a group has at least one node")
    seen: set[int] = set()
    for node in nodes:
        if node in seen:
            raise TaskError(f"group {g} lists node {node} twice")
        seen.add(node)
    return nodes


def along_dimensions(network: Network, dimensions: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of nodes that differ only in some coordinates: rows, columns, planes of a grid.

    Parameters
    ----------
    network : Network
        With coordinates.
    dimensions : iterable of int
        The coordinates in which the nodes of a group differ, from 0.

    Raises
    ------
    TaskError
        If the network has no coordinates, or not so many.

    Examples
    --------
    >>> import gossamer
    >>> along_dimensions(gossamer.network("array:2x3"), [1])
    ((0, 1, 2), (3, 4, 5))
    """
    places = network.coordinates
    if places is None:
        raise TaskError(f"network {network.spec!r} has no coordinates, so no groups along dimensions; list the groups")
    places = places[: network.terminal_count]
    chosen = sorted({node_number(d, "dimension") for d in listed(dimensions, "the dimensions")})
    if not chosen or not 0 <= chosen[0] <= chosen[-1] < places.shape[1]:
        raise TaskError(f"dimensions must be in 0..{places.shape[1] - 1} of {network.spec}, got {chosen}")
    kept = [d for d in range(places.shape[1]) if d not in chosen]
    _, group = np.unique(places[:, kept], axis=0, return_inverse=True) if kept else (None, np.zeros(len(places), int))
    order = np.argsort(group.reshape(-1), kind="stable")
    rows: Sequence[npt.NDArray[np.int64]] = np.split(order, np.flatnonzero(np.diff(group.reshape(-1)[order])) + 1)
    return tuple(tuple(row.tolist()) for row in rows)


# Groups of nodes in words: lists and ranges, files, dimensions of a grid, blocks and rails of servers.

Groups = tuple[tuple[int, ...], ...]

_ALLOWED = "lists such as 0-7 or 0,2,4;1,3,5, 'dimension 1', 'blocks 8', 'rails 8', or a file with a group a line"
_LISTS = re.compile(r"[\s0-9,;-]+")


def named_groups(text: str, network: Network) -> Groups:
    """Return the groups of terminals that a word names.

    `text`: nodes and ranges such as ``0-7`` or ``0,2,4``, several groups separated by semicolons; ``dimension 1`` or
    ``dimensions 0,2``, the nodes of an array or torus that differ in these coordinates only; ``blocks 8``, runs of 8
    consecutive nodes, such as the GPUs of a server; ``rails 8``, the nodes at the same place of each such run; or the
    path of a file for `read_groups`. `network`: whose terminals they are. Raises `TaskError` if the word is of no such
    form or names a node that the network does not have. Raises `FileFormatError` if the file cannot be read.

    >>> from gossamer.networks import array, ring
    >>> named_groups("0-2;3,5", ring(6)), named_groups("dimension 0", array(2, 2)), named_groups("rails 3", ring(6))
    (((0, 1, 2), (3, 5)), ((0, 2), (1, 3)), ((0, 3), (1, 4), (2, 5)))
    """
    word, n = text.strip(), network.terminal_count
    by_name = re.fullmatch(r"(dimensions?|blocks|rails)[ =]+([0-9, ]+)", word)
    if by_name is not None:
        numbers = [int(piece) for piece in by_name[2].replace(",", " ").split() if len(piece) < 10]
        if by_name[1].startswith("dimension"):
            return along_dimensions(network, numbers)
        return _blocks(by_name[1], numbers, n)
    if word and _LISTS.fullmatch(word):
        return tuple(_listed(part, f"group {g}", n) for g, part in enumerate(word.split(";")) if part.strip())
    if not word or (not Path(word).suffix and not Path(word).exists()):
        raise TaskError(f"groups must be {_ALLOWED}, got {shown(text)}")
    return tuple(read_groups(word, n).values())


def read_groups(path: str | os.PathLike[str], node_count: int) -> dict[str, tuple[int, ...]]:
    r"""Read groups from a text file, one a line: ``0 1 2-5``, or with a name ``first: 0 1 2-5``; ``#`` comments.

    Returns: dict of str to tuple of int: the groups by name, in the order of the file; those without a name are called
    ``0``, ``1`` and so on. Raises `FileFormatError` if the file cannot be read or a line is malformed. Raises
    `TaskError` if a node does not exist or is listed twice in a group.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "groups.txt"
    >>> _ = path.write_text("left: 0-2  # a name\n3 5\n")
    >>> read_groups(path, 6)
    {'left': (0, 1, 2), '1': (3, 5)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for at, line in text_lines(path, "a text file of groups"):
        where = f"{file_name(path)}, line {at}"
        name, colon, rest = line.rpartition(":")
        key = name.strip() if colon else str(len(found))
        if key in found or (colon and not key):
            raise FileFormatError(f"{where}: a group needs a name of its own, got {shown(key)}")
        found[key] = _listed(rest, where, node_count)
    if not found:
        raise FileFormatError(f"{file_name(path)} holds no group")
    return found


def _listed(text: str, where: str, n: int) -> tuple[int, ...]:
    nodes = listed_nodes(text.replace(",", " "), where, n)
    seen: set[int] = set()
    for node in nodes:
        if node in seen:
            raise TaskError(f"{where}: node {node} is listed twice")
        seen.add(node)
    return tuple(nodes)


def _blocks(kind: str, numbers: list[int], n: int) -> Groups:
    size = numbers[0] if len(numbers) == 1 else 0
    if size < 1 or n % size:
        raise TaskError(f"{kind} need one number that divides the {n} terminals, got {', '.join(map(str, numbers))}")
    if kind == "blocks":
        return tuple(tuple(range(first, first + size)) for first in range(0, n, size))
    return tuple(tuple(range(place, n, size)) for place in range(size))
