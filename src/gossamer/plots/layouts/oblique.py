"""Networks of three dimensions as bodies: the way a cube is drawn on a blackboard."""

from __future__ import annotations

import numpy as np

from gossamer.networks.network import Network
from gossamer.plots.layouts.layout import Layout

__all__ = ["oblique"]

_DEPTH = np.array([0.5, 0.42])
_DEEPEST, _APART = 3, 1.3


def oblique(network: Network) -> Layout | None:
    """Return an array or hypercube of three dimensions as a body, its shortest side going backwards; else None.

    Examples
    --------
    >>> import gossamer
    >>> cube = oblique(gossamer.network("hypercube:3"))
    >>> (cube.positions / 1.3).round(2).tolist()[:3]
    [[0.0, 0.0], [0.5, 0.42], [1.0, 0.0]]
    >>> oblique(gossamer.network("array:4x4")) is None
    True
    """
    grid = network.grid
    if grid is None or len(grid.sides) != 3 or any(w and s > 2 for w, s in zip(grid.wraps, grid.sides, strict=True)):
        return None
    digits = np.stack(np.unravel_index(np.arange(network.node_count), grid.sides), axis=1).astype(float)
    deep = 2 - int(np.argmin(grid.sides[::-1]))
    if grid.sides[deep] > _DEEPEST:
        return None
    down, right = (d for d in range(3) if d != deep)
    flat = np.stack([digits[:, right], -digits[:, down]], axis=1)
    return Layout.of(network, _APART * (flat + digits[:, deep, None] * _DEPTH))
