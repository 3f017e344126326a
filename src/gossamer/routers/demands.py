"""Tables of demands in files: how much each terminal sends to each other one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, shown

__all__ = ["read_demands"]

_MOST = 1 << 28


def read_demands(path: str | os.PathLike[str]) -> npt.NDArray[np.float64]:
    """Read a square table of numbers: a ``.npy`` file, or text of one row a line (``#`` begins a comment).

    Returns
    -------
    float64[T, T]

    Raises
    ------
    FileFormatError
        If the file is missing or unreadable, or holds anything else.
    """
    name = shown(str(path), 200)
    try:
        if Path(path).stat().st_size > _MOST:
            raise FileFormatError(f"{name} is larger than {_MOST:,} bytes")
        if str(path).lower().endswith(".npy"):
            table = np.load(path, allow_pickle=False)
        else:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
            rows = [line.partition("#")[0].replace(",", " ").split() for line in lines]
            table = np.array([[float(word) for word in row] for row in rows if row])
        table = np.asarray(table, np.float64)
    except (OSError, ValueError, TypeError, UnicodeDecodeError, EOFError) as error:
        raise FileFormatError(f"{name} holds no table of demands: {str(error).splitlines()[0]}") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise FileFormatError(f"{name} holds no square table of demands, but one of shape {table.shape}")
    return table
