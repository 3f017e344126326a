"""All ways to divide a few nodes into parts."""

from __future__ import annotations


def partitions(nodes):
    """All partitions of a list, as lists of lists."""
    if not nodes:
        yield []
        return
    first, *rest = nodes
    for found in partitions(rest):
        yield [[first], *found]
        for i, part in enumerate(found):
            yield [*found[:i], [first, *part], *found[i + 1 :]]
