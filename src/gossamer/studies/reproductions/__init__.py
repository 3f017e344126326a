"""Reproduction of the sources' tables and figures.

Each source has a module with ``TABLES``, the functions that make its tables, and ``curves()`` for its figure.
"""

from __future__ import annotations

import importlib
from typing import Any

from gossamer.errors import TaskError, nearest
from gossamer.studies.reproductions.table import Curve, Table

__all__ = ["REPRODUCTIONS", "Curve", "Table", "reproduction"]

REPRODUCTIONS: dict[str, str] = {
    "varvarigos-bertsekas": "Varvarigos and Bertsekas 1994: broadcasts and exchanges on arrays and tori",
    "yeh-varvarigos-lee": "Yeh, Varvarigos and Lee 1998: broadcasts that arrive at random, priorities and delays",
    "chen-chen": "Chen and Chen 2000: multinode broadcast in wormhole-routed tori, aggregation-then-distribution",
    "han": "Han 1990: move-and-smooth routing on meshes, Algorithms Q and H",
    "dimakopoulos": "Dimakopoulos 1996: one source, total exchange, products and fat trees",
}
"""What can be reproduced: names and titles."""


def reproduction(name: str) -> Any:
    """Return the module that reproduces a source.

    Raises TaskError if there is none of that name.

    >>> reproduction("varvarigos-bertsekas").__name__
    'gossamer.studies.reproductions.varvarigos_bertsekas'
    """
    if name not in REPRODUCTIONS:
        there = f"{nearest(name, REPRODUCTIONS)}; there is: {', '.join(REPRODUCTIONS)}"
        raise TaskError(f"nothing to reproduce is called {name!r}{there}")
    return importlib.import_module(f"gossamer.studies.reproductions.{name.replace('-', '_')}")
