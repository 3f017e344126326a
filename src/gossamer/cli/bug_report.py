"""What a bug report needs, in a file: nobody is shown a traceback."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence

__all__ = ["write_report"]

_NAMED = ("numpy", "numba", "llvmlite", "scipy", "pyarrow", "typer", "rich", "networkx", "matplotlib")


def write_report(error: BaseException, given: Sequence[str]) -> str:
    """Write a traceback with the command and the versions to a file that only its owner reads; say where it is.

    >>> import pathlib, re
    >>> said = write_report(ValueError("odd"), ["plan", "ring:4"])
    >>> path = pathlib.Path(re.search("'(.*)'", said)[1])
    >>> path.read_text().splitlines()[0]
    "gossamer 'plan' 'ring:4'"
    >>> path.unlink()
    """
    lines = ["gossamer " + " ".join(map(ascii, given))]
    lines += [f"Python {sys.version.split()[0]} on {platform.platform()}", ", ".join(map(_version, _NAMED)), ""]
    lines += "".join(traceback.format_exception(error)).encode("ascii", "backslashreplace").decode().split("\n")
    try:
        held, path = tempfile.mkstemp(prefix="gossamer-fault-", suffix=".txt")
        with os.fdopen(held, "w", encoding="ascii") as file:
            file.write("\n".join(lines))
    except OSError as failed:
        return f"its traceback could not be written: {failed.strerror}"
    return f"its traceback is in {path!r}"


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {package}"
