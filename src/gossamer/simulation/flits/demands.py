"""Tables of demands in files: how much each terminal sends to each other one."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, shown
from gossamer.reading.files import file_name, read_array, text_lines

__all__ = ["read_demands"]


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
    name = file_name(path)
    if str(path).lower().endswith(".npy"):
        table = read_array(path)
    else:
        rows = [line.replace(",", " ").split() for _, line in text_lines(path, "a table of demands: not text in UTF-8")]
        try:
            table = np.array([[float(word) for word in row] for row in rows], np.float64)
        except ValueError as error:
            raise FileFormatError(f"{name} holds no table of demands: {shown(str(error), 160)}") from None
    if table.dtype.kind not in "iufb":
        raise FileFormatError(f"{name} holds no table of demands, but {table.dtype} values")
    table = table.astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise FileFormatError(f"{name} holds no square table of demands, but one of shape {table.shape}")
    return table
