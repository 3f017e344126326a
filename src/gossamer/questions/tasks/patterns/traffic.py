"""Traffic matrices that studies ask for by name: uniform, hot spots, Zipf expert loads, stencils, h-relations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, nearest
from gossamer.networks.network import Network
from gossamer.reading import fraction, number, whole, whole_text
from gossamer.reading import seed as check_seed

__all__ = ["TRAFFIC", "named_traffic", "traffic_matrix"]

_OPTIONS = {"packets": int, "share": float, "exponent": float, "radius": int}

Matrix = npt.NDArray[np.int64]

TRAFFIC: dict[str, str] = {
    "uniform": "every node sends `packets` packets to each other",
    "hot-spot": "as uniform, and `share` times all packets of a node more to node 0",
    "zipf": "every node sends `packets` packets in all, to nodes drawn with weights 1/k^`exponent` in a random order: "
    "expert loads",
    "stencil": "on an array or torus every node sends `packets` packets to each node within `radius` steps in every "
    "dimension",
    "permutation": "every node sends `packets` packets to one other, and receives as many from one",
    "h-relation": "every node sends `packets` packets and receives as many, `packets` random permutations at once",
}
"""Every pattern of traffic with a line about it."""


def traffic_matrix(
    name: str,
    network: Network,
    *,
    packets: int = 1,
    share: float = 0.5,
    exponent: float = 1.0,
    radius: int = 1,
    seed: int = 0,
) -> Matrix:
    """Return how many packets each terminal sends to each other under a named pattern of traffic.

    Parameters
    ----------
    name : str
        A key of ``TRAFFIC``; case and underscores do not matter.
    network : Network
        Whose terminals send.
    packets : int
        What the pattern says of packets.
    share, exponent, radius
        Of ``hot-spot``, ``zipf`` and ``stencil``; the others ignore them.
    seed : int
        For ``zipf``, ``permutation`` and ``h-relation``.

    Returns
    -------
    int64[n, n]
        Entry (u, v) is what node u sends to node v; the diagonal is 0.

    Raises
    ------
    TaskError
        If the name is unknown, a number is out of range, or the network is not one that the pattern is defined on.

    Examples
    --------
    >>> import gossamer
    >>> traffic_matrix("zipf", gossamer.network("ring:4"), packets=10, seed=1).sum(axis=1).tolist()
    [10, 10, 10, 10]
    """
    key = name.strip().lower().replace("_", "-")
    if key not in _MAKERS:
        raise TaskError(f"unknown pattern of traffic {name!r}{nearest(key, TRAFFIC)}; there are {', '.join(TRAFFIC)}")
    if network.terminal_count < 2:
        raise TaskError(f"traffic needs at least 2 terminals; {network.spec} has {network.terminal_count}")
    given: dict[str, Any] = {
        "packets": whole(packets, "packets", 1, 10**9, error=TaskError),
        "share": number(share, "share", 0, 1000, error=TaskError),
        "exponent": number(exponent, "exponent", 0, 100, error=TaskError),
        "radius": whole(radius, "radius", 1, 10**6, error=TaskError),
    }
    draw = np.random.default_rng(check_seed(seed, error=TaskError))
    matrix = _MAKERS[key](network, draw, given)
    np.fill_diagonal(matrix, 0)
    return matrix


def named_traffic(text: str, network: Network, seed: int = 0) -> Matrix:
    """Return the traffic that a word such as ``zipf:packets=64,exponent=1.2`` names; see `traffic_matrix`.

    Raises
    ------
    TaskError
        If the word is malformed, or as `traffic_matrix` does.

    Examples
    --------
    >>> import gossamer
    >>> named_traffic("hot-spot:packets=2,share=1", gossamer.network("ring:3")).tolist()
    [[0, 2, 2], [6, 0, 2], [6, 2, 0]]
    """
    name, _, rest = text.partition(":")
    given: dict[str, Any] = {}
    for word in rest.split(",") if rest else []:
        key, sign, value = word.strip().partition("=")
        if key not in _OPTIONS or not sign or key in given:
            allowed = ", ".join(f"{option}=NUMBER" for option in _OPTIONS)
            raise TaskError(f"traffic {text!r}: {word!r} is none of {allowed}, each once")
        reader = whole_text if _OPTIONS[key] is int else fraction
        given[key] = _OPTIONS[key](reader(value, f"traffic: {key}", error=TaskError))
    return traffic_matrix(name, network, seed=seed, **given)


def _uniform(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    n = network.terminal_count
    return np.full((n, n), given["packets"], np.int64)


def _hot_spot(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    matrix = _uniform(network, draw, given)
    n = network.terminal_count
    matrix[:, 0] += round(given["share"] * given["packets"] * (n - 1))
    return matrix


def _zipf(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    n = network.terminal_count
    weight = 1 / np.arange(1, n + 1) ** given["exponent"]
    popular = draw.permutation(n)
    matrix = np.zeros((n, n), np.int64)
    for u in range(n):
        chances = np.zeros(n)
        chances[popular] = weight
        chances[u] = 0  # what a node keeps does not travel
        matrix[u] = draw.multinomial(given["packets"], chances / chances.sum())
    return matrix


def _stencil(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    grid, places = network.grid, network.coordinates
    if grid is None or places is None:
        raise TaskError(f"a stencil needs an array or torus, not {network.spec}")
    n, reach = network.terminal_count, range(-given["radius"], given["radius"] + 1)
    if len(reach) ** grid.dimensions > n * 4:
        raise TaskError(f"a stencil of radius {given['radius']} reaches around {network.spec}; take a smaller one")
    matrix = np.zeros((n, n), np.int64)
    for offset in itertools.product(reach, repeat=grid.dimensions):
        moved = places + np.array(offset)
        inside = np.ones(n, np.bool_)
        for d, (side, wraps) in enumerate(zip(grid.sides, grid.wraps, strict=True)):
            if wraps:
                moved[:, d] %= side
            inside &= (moved[:, d] >= 0) & (moved[:, d] < side)
        target = moved[inside] @ np.array(grid.strides)
        matrix[np.flatnonzero(inside), target] = given["packets"]
    return matrix


def _permutation(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    n = network.terminal_count
    order = draw.permutation(n)
    matrix = np.zeros((n, n), np.int64)
    matrix[order, np.roll(order, int(draw.integers(1, n)))] = given["packets"]  # nobody sends to itself
    return matrix


def _h_relation(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
    n = network.terminal_count
    if given["packets"] > 100_000:
        raise TaskError(f"an h-relation of {given['packets']} permutations is too large; at most 100000")
    matrix = np.zeros((n, n), np.int64)
    for _ in range(given["packets"]):
        order = draw.permutation(n)
        turned = np.roll(order, int(draw.integers(1, n)))  # one rotation of a random order moves every node
        matrix[order, turned] += 1
    return matrix


_MAKERS: dict[str, Callable[[Network, np.random.Generator, dict[str, Any]], Matrix]] = {
    "uniform": _uniform,
    "hot-spot": _hot_spot,
    "zipf": _zipf,
    "stencil": _stencil,
    "permutation": _permutation,
    "h-relation": _h_relation,
}
