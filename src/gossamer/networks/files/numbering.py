"""Numbers for the nodes of a file: terminals first, names that are numbers in increasing order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gossamer.errors import FileFormatError

__all__ = ["numbering"]


def numbering(
    terminal: Mapping[str, bool], name: str, quoted: Callable[[str], bool] = lambda node: False
) -> tuple[list[str], int, list[str] | None]:
    """Return the nodes in the order of their numbers, how many are terminals, and their names as labels.

    Parameters
    ----------
    terminal : mapping of str to bool
        Whether a node is a terminal, by name, in the order in which a file mentions them.
    name : str
        What messages call the file.
    quoted : callable
        Whether a name is not to be taken for a number.

    Returns
    -------
    list of str, int, list of str or None
        No labels where the names are exactly the numbers.

    Raises
    ------
    FileFormatError
        If there is no terminal.

    Examples
    --------
    >>> numbering({"10": True, "9": True, "8": False}, "edge list 'x'")
    (['9', '10', '8'], 2, ['9', '10', '8'])
    """
    nodes = list(terminal)
    if all(re.fullmatch("0|[1-9][0-9]{0,99}", node) and not quoted(node) for node in nodes):
        nodes.sort(key=int)
    nodes.sort(key=lambda node: not terminal[node])
    count = sum(terminal.values())
    if not count:
        raise FileFormatError(f"{name}: the file has no terminals")
    plain = all(node == str(i) and not quoted(node) for i, node in enumerate(nodes))
    return nodes, count, None if plain else [str(node) for node in nodes]
