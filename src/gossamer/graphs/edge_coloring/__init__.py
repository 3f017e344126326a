"""Edge coloring of bipartite multigraphs: the open shop behind optimal exchanges.

Jobs on one side, machines on the other, one edge for each unit operation: a proper coloring is a timetable in which
no job and no machine does two things at once. As many colors as the largest degree are enough.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["color_edges", "largest_degree"]


def largest_degree(left: npt.NDArray[np.integer], right: npt.NDArray[np.integer]) -> int:
    """Return the largest number of edges at one vertex of either side."""
    if not left.size:
        return 0
    return int(max(np.bincount(left).max(), np.bincount(right).max()))


def color_edges(
    left: npt.NDArray[np.integer], right: npt.NDArray[np.integer], colors: int | None = None
) -> npt.NDArray[np.int32]:
    """Color the edges so that no two edges of one color share a vertex.

    Parameters
    ----------
    left, right : integer arrays, shape (E,)
        The ends of each edge, numbered from 0 on each side apart; parallel edges are allowed.
    colors : int, optional
        Number of colors, at least the largest degree. Default: the largest degree.

    Returns
    -------
    int32[E]
        Colors 0..colors-1.

    Notes
    -----
    Euler splitting: halve the graph so that every degree halves; where the number of colors is odd, first take out a
    matching that covers every vertex of full degree. O(E log colors) besides the matchings.

    References
    ----------
    D. Koenig 1916 (as many colors as the largest degree are enough); H. N. Gabow 1976 (Euler splitting).

    Examples
    --------
    >>> import numpy as np
    >>> color_edges(np.array([0, 0, 1]), np.array([0, 1, 0])).tolist()
    [0, 1, 1]
    """
    from gossamer.graphs.edge_coloring import _kernels

    result = np.empty(left.size, np.int32)
    if left.size:
        offset = int(left.max()) + 1
        ends = np.stack([left, np.asarray(right) + offset]).astype(np.int64)
        _kernels.color_edges(ends, int(ends.max()) + 1, colors or largest_degree(left, right), result)
    return result
