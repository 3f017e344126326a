"""Instances of routing: random ones, a random share of given ones, and tasks whose destinations follow a pattern."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.tasks.patterns.named import generator, pattern
from gossamer.questions.tasks.routing import OneToManyRouting, Permutation
from gossamer.reading import number, whole, whole_text

__all__ = ["one_to_many", "permutation", "random_disjoint_sets", "random_partial", "thinned"]


def random_partial(
    network: Network, messages: int | None = None, density: float | None = None, *, seed: int = 0
) -> IntArray:
    """Return a random partial permutation: random sources, each with a random destination of its own.

    Parameters
    ----------
    network : Network
        Any.
    messages, density : int or float
        How many nodes send, or which share of them, 0..1. Give one of the two.
    seed : int
        Of the random choices.

    Returns
    -------
    int32[N]
        The destination of every node, -1 if it sends nothing.

    Raises
    ------
    TaskError
        If not exactly one of `messages` and `density` is given, or it is out of range.

    Examples
    --------
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

    Parameters
    ----------
    destination : int[N]
        The destination of every node, -1 for none.
    density : float
        The share of the messages that is kept, 0..1, rounded to a whole number of messages.
    seed : int
        Of the random choice.

    Raises
    ------
    TaskError
        If `density` is out of range.

    Examples
    --------
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

    Parameters
    ----------
    network : Network
        Any.
    sources : int
        How many nodes send a message, 0..N.
    density : float
        The share of the nodes that are a destination, 0..1; at least one for each source.
    seed : int
        Of the random choices.

    Returns
    -------
    tuple of tuple of int
        The destinations of every node, empty if it sends nothing.

    Raises
    ------
    TaskError
        If `sources` or `density` is out of range.

    Examples
    --------
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

    Raises
    ------
    TaskError
        As `pattern` and `thinned` do.

    Examples
    --------
    >>> import gossamer
    >>> permutation("reversal", gossamer.network("array:2x2")).destination
    (3, 2, 1, 0)
    """
    whole = pattern(name, network, seed=seed)
    return Permutation(tuple((whole if density == 1 else thinned(whole, density, seed=seed)).tolist()))


def one_to_many(name: str, network: Network, *, density: float = 1.0, seed: int = 0) -> OneToManyRouting:
    """Return a one-to-many routing: ``random:M`` for M random sources with disjoint sets, or a permutation's pattern.

    Raises
    ------
    TaskError
        If the name is unknown or M is out of range.

    Examples
    --------
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
