"""Destinations and traffic by name: permutations and sets to route, random instances, and matrices of traffic.

Every pattern is a permutation of the terminals: entry u is the node to which the message of node u goes. Traffic is a
number of packets for each pair: uniform, hot spots, Zipf expert loads, stencils, h-relations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, nearest
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.reading import fraction, number, whole, whole_text
from gossamer.reading import seed as check_seed

__all__ = [
    "PATTERNS",
    "TRAFFIC",
    "bit_permute_complement",
    "named_traffic",
    "one_to_many",
    "pattern",
    "permutation",
    "random_disjoint_sets",
    "random_partial",
    "thinned",
    "traffic_matrix",
]


_Maker: TypeAlias = Callable[[str, Network, np.random.Generator], npt.NDArray[np.integer]]

PATTERNS: dict[str, str] = {
    "transpose": "(i,j) sends to (j,i); in general, the transposition of a matrix that the nodes hold row by row",
    "bit-reversal": "the bits of the node number are reversed; for 2^k nodes",
    "shuffle": "perfect shuffle: the first half is interleaved with the second; bits rotate left by one",
    "reversal": "node v sends to N-1-v: every coordinate complemented, a turn by 180 degrees",
    "row-reversal": "the last coordinate is complemented: (i,j) sends to (i,n-1-j)",
    "complement": "the halves of every coordinate are exchanged: its top bit is complemented",
    "identity": "every node sends to itself: nothing moves",
    "random": "a random permutation",
    "tornado": "every coordinate goes up by ceil(side/2)-1, around the end",
    "neighbor": "every coordinate goes up by 1, around the end",
    "packed-triangle": "the corner triangles of the four quadrants send to the first quadrant",
    "packed-rows": "the first rows of the four quadrants send to the first quadrant",
    "packed-columns": "the first columns of the four quadrants send to the first quadrant",
}
"""Every pattern with a line about it."""


def pattern(name: str, network: Network, *, seed: int = 0) -> IntArray:
    """Return the destination of every node under a named pattern.

    * `name` (str): a key of ``PATTERNS``; case and underscores do not matter.
    * `network` (Network): with coordinates or without; patterns of coordinates need an array or torus.
    * `seed` (int): for ``random``; the others ignore it.

    Returns: int32[N]: a permutation of the N terminals. Raises `TaskError` if the name is unknown, or the network is
    not one that the pattern is defined on.

    ``transpose``: an R x C matrix is held row by row, with R the product of the first half of the sides, so that
    (i,j) sends to (j,i) on a square and (a,b) to (b,a) for halves of coordinates; without two dimensions N must be a
    square number. ``complement``: in an odd side the middle stays. ``shuffle``: node v sends to 2v, or to
    2(v - ceil(N/2)) + 1 from v = ceil(N/2) on. Packed patterns: q^2/4 nodes of each q x q quadrant, which lie in its
    corner triangle (in its first rows, columns), send to the first quadrant, the nearer the further, and all others
    to the other quadrants. A first move of algorithm Q then packs four messages on every such node, and the smooth
    step has to take them across. O(N log N).

    Source: Han 1990, sections 1.3.4 (the BPC permutations) and 3.4 (the packed triangle); tornado and neighbor: Dally,
    Towles, Principles and Practices of Interconnection Networks, Table 3.1.

    >>> import gossamer
    >>> pattern("transpose", gossamer.network("array:3x3")).tolist()
    [0, 3, 6, 1, 4, 7, 2, 5, 8]
    >>> pattern("bit-reversal", gossamer.network("ring:8")).tolist()
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    key = str(name).strip().lower().replace("_", "-")
    if key not in PATTERNS:
        hint = nearest(key, PATTERNS) or f"; known patterns: {', '.join(PATTERNS)}"
        raise TaskError(f"unknown pattern {name!r}{hint}")
    return _MAKERS[key](key, network, generator(seed)).astype(np.int32)


def bit_permute_complement(network: Network, bits: Sequence[int], complement: int = 0) -> IntArray:
    """Return the destinations of a BPC permutation: the bits of the node number permuted, some of them complemented.

    * `network` (Network): of 2^k terminals.
    * `bits` (sequence of int): ``bits[i]`` is the bit of the origin that becomes bit i of the destination (bit 0 the
      least significant).
    * `complement` (int): mask of the bits of the destination that are complemented.

    Returns: int32[N]: a permutation of the N terminals. Raises `TaskError` if the number of terminals is not 2^k,
    `bits` is not a permutation of 0..k-1, or the mask has other bits.

    Source: Han 1990, section 1.3.4; Nassimi and Sahni 1980.

    >>> import gossamer
    >>> bit_permute_complement(gossamer.network("array:2x4"), [1, 2, 0], complement=4).tolist()
    [4, 0, 5, 1, 6, 2, 7, 3]
    """
    n = network.terminal_count
    width = _bit_count("a BPC permutation", network)
    order = [int(b) for b in bits]
    if sorted(order) != list(range(width)):
        raise TaskError(f"bits must be a permutation of 0..{width - 1} on the {n} nodes of {network.spec}, got {order}")
    if not 0 <= complement < n:
        raise TaskError(f"complement must be a mask in 0..{n - 1} on {network.spec}, got {complement}")
    node = np.arange(n)
    result = np.zeros(n, np.int64)
    for i, b in enumerate(order):
        result |= (node >> b & 1) << i
    return (result ^ complement).astype(np.int32)


def generator(seed: int) -> np.random.Generator:
    """Return the generator of random choices; TaskError if the seed is none."""
    return np.random.default_rng(check_seed(seed, error=TaskError))


def _bit_count(what: str, network: Network) -> int:
    n = network.terminal_count
    if n & (n - 1):
        raise TaskError(f"{what} needs 2^k nodes; {network.spec} has {n}")
    return n.bit_length() - 1


def _grid(name: str, network: Network) -> Grid:
    if network.grid is None:
        raise TaskError(f"pattern {name!r} needs an array or a torus; {network.spec} has no coordinates")
    return network.grid


def _by_coordinate(
    name: str, network: Network, moved: Callable[[npt.NDArray[np.intp], int, bool], npt.NDArray[np.intp]]
) -> npt.NDArray[np.intp]:
    """Return the destinations if each coordinate x of a side becomes ``moved(x, side, last)``."""
    sides = _grid(name, network).sides
    where = np.unravel_index(np.arange(network.node_count), sides)
    turned = [moved(x, side, k == len(sides) - 1) for k, (x, side) in enumerate(zip(where, sides, strict=True))]
    return np.ravel_multi_index(turned, sides)


def _halves_exchanged(x: npt.NDArray[np.intp], side: int) -> npt.NDArray[np.intp]:
    far = side - side // 2
    return np.where(x < side // 2, x + far, np.where(x >= far, x - far, x))


def _transpose(name: str, network: Network, draw: np.random.Generator) -> npt.NDArray[np.intp]:
    n = network.terminal_count
    sides = network.grid.sides if network.grid is not None else (n,)
    rows = int(np.prod(sides[: len(sides) // 2]))
    if len(sides) == 1:
        rows = int(np.sqrt(n) + 0.5)
        if rows * rows != n:
            raise TaskError(
                f"pattern {name!r} needs two dimensions or a square number of nodes; {network.spec} has {n}"
            )
    node = np.arange(n)
    return node % (n // rows) * rows + node // (n // rows)


def _bit_reversal(name: str, network: Network, draw: np.random.Generator) -> IntArray:
    width = _bit_count(f"pattern {name!r}", network)
    return bit_permute_complement(network, range(width)[::-1])


def _shuffle(name: str, network: Network, draw: np.random.Generator) -> npt.NDArray[np.intp]:
    node, half = np.arange(network.terminal_count), (network.terminal_count + 1) // 2
    return np.where(node < half, 2 * node, 2 * (node - half) + 1)


def _packed(name: str, network: Network, draw: np.random.Generator) -> npt.NDArray[np.intp]:
    sides = _grid(name, network).sides
    if len(sides) != 2 or sides[0] % 2 or sides[1] % 2:
        raise TaskError(f"pattern {name!r} needs two even sides, got {network.spec}")
    rows, columns = sides[0] // 2, sides[1] // 2
    i, j = np.divmod(np.arange(network.node_count), sides[1])
    quadrant = i // rows * 2 + j // columns
    i, j = i % rows, j % columns
    rank = {"packed-triangle": i * columns + j * rows, "packed-rows": i * columns + j, "packed-columns": j * rows + i}
    order = np.lexsort((quadrant, j, i, rank[name]))  # the packed first, four nodes of one place after the other
    sent = rows * columns
    first = np.flatnonzero(quadrant == 0)
    far = first[np.argsort(-(i[first] * columns + j[first] * rows), kind="stable")]
    result = np.empty(network.node_count, np.intp)
    result[order[:sent]] = far
    result[np.sort(order[sent:])] = np.flatnonzero(quadrant != 0)
    return result


_MAKERS: dict[str, _Maker] = {
    "transpose": _transpose,
    "bit-reversal": _bit_reversal,
    "shuffle": _shuffle,
    "reversal": lambda name, network, draw: np.arange(network.terminal_count)[::-1],
    "row-reversal": lambda name, network, draw: _by_coordinate(
        name, network, lambda x, side, last: side - 1 - x if last else x
    ),
    "complement": lambda name, network, draw: _by_coordinate(
        name, network, lambda x, side, last: _halves_exchanged(x, side)
    ),
    "identity": lambda name, network, draw: np.arange(network.terminal_count),
    "random": lambda name, network, draw: draw.permutation(network.terminal_count),
    "tornado": lambda name, network, draw: _by_coordinate(
        name, network, lambda x, side, last: (x + (side + 1) // 2 - 1) % side
    ),
    "neighbor": lambda name, network, draw: _by_coordinate(name, network, lambda x, side, last: (x + 1) % side),
}
_MAKERS.update(dict.fromkeys(("packed-triangle", "packed-rows", "packed-columns"), _packed))


# Instances of routing: random ones, a random share of given ones, and tasks whose destinations follow a pattern.


def random_partial(
    network: Network, messages: int | None = None, density: float | None = None, *, seed: int = 0
) -> IntArray:
    """Return a random partial permutation: random sources, each with a random destination of its own.

    * `network` (Network): any.
    * `messages`, `density` (int or float): how many nodes send, or which share of them, 0..1. Give one of the two.
    * `seed` (int): of the random choices.

    Returns: int32[N]: the destination of every node, -1 if it sends nothing. Raises `TaskError` if not exactly one of
    `messages` and `density` is given, or it is out of range.

    >>> import gossamer
    >>> (random_partial(gossamer.network("array:4x4"), 5) >= 0).sum()
    np.int64(5)
    """
    n = network.terminal_count
    if (messages is None) == (density is None):
        raise TaskError("give either messages or density")
    if density is not None:
        messages = _share(density, n)
    messages = whole(messages, "messages", 0, n, allowed=f"0..{n} on {network.spec}", error=TaskError)
    draw = generator(seed)
    result = np.full(n, -1, np.int32)
    result[draw.permutation(n)[:messages]] = draw.permutation(n)[:messages]
    return result


def thinned(destination: npt.ArrayLike, density: float, *, seed: int = 0) -> IntArray:
    """Return destinations of which a random share is kept, the others made -1.

    * `destination` (int[N]): the destination of every node, -1 for none.
    * `density` (float): the share of the messages that is kept, 0..1, rounded to a whole number of messages.
    * `seed` (int): of the random choice.

    Raises `TaskError` if `density` is out of range.

    >>> thinned([3, 2, 1, 0], 0.5).tolist()
    [3, -1, 1, -1]
    """
    result = np.array(destination, np.int32)
    source = np.flatnonzero(result >= 0)
    kept = _share(density, source.size)
    result[generator(seed).permutation(source)[kept:]] = -1
    return result


def random_disjoint_sets(
    network: Network, sources: int, *, density: float = 1.0, seed: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Return random disjoint sets of destinations for random sources, as one-to-many routing takes them.

    * `network` (Network): any.
    * `sources` (int): how many nodes send a message, 0..N.
    * `density` (float): the share of the nodes that are a destination, 0..1; at least one for each source.
    * `seed` (int): of the random choices.

    Returns: tuple of tuple of int: the destinations of every node, empty if it sends nothing. Raises `TaskError` if
    `sources` or `density` is out of range.

    >>> import gossamer
    >>> random_disjoint_sets(gossamer.network("array:2x2"), 2)
    ((2,), (), (0, 1, 3), ())
    """
    n = network.terminal_count
    sources = whole(sources, "sources", 0, n, allowed=f"0..{n} on {network.spec}", error=TaskError)
    reached = max(_share(density, n), sources) if sources else 0
    draw = generator(seed)
    source, target = draw.permutation(n)[:sources], draw.permutation(n)[:reached]
    owner = source[np.concatenate([np.arange(sources), draw.integers(0, max(sources, 1), reached - sources)])]
    rows: list[list[int]] = [[] for _ in range(n)]
    for u, v in sorted(zip(owner.tolist(), target.tolist(), strict=True)):
        rows[u].append(v)
    return tuple(map(tuple, rows))


def permutation(name: str, network: Network, *, density: float = 1.0, seed: int = 0) -> Permutation:
    """Return the permutation task of a named pattern, of which a random share `density` of the messages is kept.

    Raises `TaskError`: as `pattern` and `thinned` do.

    >>> import gossamer
    >>> permutation("reversal", gossamer.network("array:2x2")).destination
    (3, 2, 1, 0)
    """
    whole = pattern(name, network, seed=seed)
    return Permutation(tuple((whole if density == 1 else thinned(whole, density, seed=seed)).tolist()))


def one_to_many(name: str, network: Network, *, density: float = 1.0, seed: int = 0) -> OneToManyRouting:
    """Return a one-to-many routing: ``random:M`` for M random sources with disjoint sets, or a permutation's pattern.

    Raises `TaskError` if the name is unknown or M is out of range.

    >>> import gossamer
    >>> one_to_many("random:1", gossamer.network("array:3")).destinations
    ((), (), (0, 1, 2))
    """
    kind, colon, count = str(name).strip().lower().partition(":")
    if kind == "random" and colon:
        sources = whole_text(count, "M of the pattern random:M", 0, network.terminal_count, error=TaskError)
        return OneToManyRouting(random_disjoint_sets(network, sources, density=density, seed=seed))
    single = permutation(name, network, density=density, seed=seed).destination
    return OneToManyRouting(tuple((v,) if v >= 0 else () for v in single))


def _share(density: float, n: int) -> int:
    return round(number(density, "density", 0, 1, error=TaskError) * n)


# Traffic matrices that studies ask for by name.

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

    * `name` (str): a key of ``TRAFFIC``; case and underscores do not matter.
    * `network` (Network): whose terminals send.
    * `packets` (int): what the pattern says of packets.
    * `share`, `exponent`, `radius`: of ``hot-spot``, ``zipf`` and ``stencil``; the others ignore them.
    * `seed` (int): for ``zipf``, ``permutation`` and ``h-relation``.

    Returns: int64[n, n]: entry (u, v) is what node u sends to node v; the diagonal is 0. Raises `TaskError` if the name
    is unknown, a number is out of range, or the network is not one that the pattern is defined on.

    >>> import gossamer
    >>> traffic_matrix("zipf", gossamer.network("ring:4"), packets=10, seed=1).sum(axis=1).tolist()
    [10, 10, 10, 10]
    """
    key = name.strip().lower().replace("_", "-")
    if key not in _TRAFFIC_MAKERS:
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
    matrix = _TRAFFIC_MAKERS[key](network, draw, given)
    np.fill_diagonal(matrix, 0)
    return matrix


def named_traffic(text: str, network: Network, seed: int = 0) -> Matrix:
    """Return the traffic that a word such as ``zipf:packets=64,exponent=1.2`` names; see `traffic_matrix`.

    Raises `TaskError` if the word is malformed, or as `traffic_matrix` does.

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


def _permutation_traffic(network: Network, draw: np.random.Generator, given: dict[str, Any]) -> Matrix:
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


_TRAFFIC_MAKERS: dict[str, Callable[[Network, np.random.Generator, dict[str, Any]], Matrix]] = {
    "uniform": _uniform,
    "hot-spot": _hot_spot,
    "zipf": _zipf,
    "stencil": _stencil,
    "permutation": _permutation_traffic,
    "h-relation": _h_relation,
}
