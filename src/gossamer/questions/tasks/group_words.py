"""Groups of nodes in words: lists and ranges, files, dimensions of a grid, blocks and rails of servers."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gossamer.errors import FileFormatError, TaskError, shown
from gossamer.networks.network import Network
from gossamer.questions.tasks.grouped import along_dimensions
from gossamer.reading.files import file_name, text_lines

__all__ = ["named_groups", "read_groups"]

Groups = tuple[tuple[int, ...], ...]

_ALLOWED = "lists such as 0-7 or 0,2,4;1,3,5, 'dimension 1', 'blocks 8', 'rails 8', or a file with a group a line"
_NODES = re.compile(r"[0-9]{1,10}(-[0-9]{1,10})?")
_LISTS = re.compile(r"[\s0-9,;-]+")


def named_groups(text: str, network: Network) -> Groups:
    """Return the groups of terminals that a word names.

    Parameters
    ----------
    text : str
        Nodes and ranges such as ``0-7`` or ``0,2,4``, several groups separated by semicolons; ``dimension 1`` or
        ``dimensions 0,2``, the nodes of an array or torus that differ in these coordinates only; ``blocks 8``, runs
        of 8 consecutive nodes, such as the GPUs of a server; ``rails 8``, the nodes at the same place of each such run;
        or the path of a file for `read_groups`.
    network : Network
        Whose terminals they are.

    Raises
    ------
    TaskError
        If the word is of no such form or names a node that the network does not have.
    FileFormatError
        If the file cannot be read.

    Examples
    --------
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

    Returns
    -------
    dict of str to tuple of int
        The groups by name, in the order of the file; those without a name are called ``0``, ``1`` and so on.

    Raises
    ------
    FileFormatError
        If the file cannot be read or a line is malformed.
    TaskError
        If a node does not exist or is listed twice in a group.

    Examples
    --------
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
    nodes: list[int] = []
    for word in text.replace(",", " ").split():
        if not _NODES.fullmatch(word):
            raise TaskError(f"{where}: {shown(word)} is no node number or range such as 0-7")
        first, _, last = word.partition("-")
        low, high = int(first), int(last or first)
        if not low <= high < n:
            fault = f"the range {word} is empty" if high < low else f"node {high} is outside 0..{n - 1}"
            raise TaskError(f"{where}: {fault}")
        nodes += range(low, high + 1)
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
