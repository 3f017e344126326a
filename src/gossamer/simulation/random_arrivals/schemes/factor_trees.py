"""Broadcast trees of the factors of a product: rings, lines, complete networks, and node-symmetric networks."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gossamer.simulation.random_arrivals.schemes.product_broadcasts import Factor, Tree

if TYPE_CHECKING:
    from gossamer.networks.network import Network

__all__ = ["factor_reason", "flattened", "product_factors"]

_ONE = (Fraction(1),)
_HALVES = (Fraction(1, 2), Fraction(1, 2))


def flattened(network: Network) -> tuple[Network, ...]:
    """Return the factors of a network that are no products themselves; the network itself if it is none.

    >>> import gossamer
    >>> [f.spec for f in flattened(gossamer.network("product:(torus:3x4)x(star:3)"))]
    ['ring:3', 'ring:4', 'star:3']
    """
    if not network.factors:
        return (network,)
    return tuple(f for factor in network.factors for f in flattened(factor))


def factor_reason(network: Network) -> str | None:
    """Say why there are no trees for a factor, or None if there are."""
    from gossamer.simulation.random_arrivals.schemes.balanced_tree_images import symmetric_reason

    if network.grid is not None or network.link_count == network.node_count * (network.node_count - 1):
        return None
    reason = symmetric_reason(network)
    return None if reason is None else f"needs factors that are rings, lines or node-symmetric; {network.spec} {reason}"


def product_factors(network: Network, *, coin: bool = True) -> list[Factor]:
    """Return the factors of `network` with broadcast trees, balanced ones where there are any.

    Parameters
    ----------
    network : Network
        A network for which `factor_reason` of every flattened factor is None.
    coin : bool
        Whether an even ring has two trees, one for each way that may be the longer one.

    Examples
    --------
    >>> import gossamer
    >>> [str(f.width) for f in product_factors(gossamer.network("torus:2x4x5"))]
    ['1', '2', '2']
    """
    known: dict[str, Factor] = {}
    for f in flattened(network):
        if f.spec not in known or f.links_only:
            known[f.spec] = _factor(f, coin)
    return [known[f.spec] for f in flattened(network)]


def _factor(network: Network, coin: bool) -> Factor:
    n = network.node_count
    if n == 1:
        return Factor(network, ((Tree((), (), ()),),), _ONE)
    if network.degree == n - 1 and network.group is not None:
        targets = tuple(int(v) for v in network.generators)
        tree = Tree(targets, (-1,) * (n - 1), tuple(range(n - 1)))
        return Factor(network, ((tree,),), _ONE)
    if network.grid is not None and network.grid.wraps[0]:
        ways = [_line(n, 0, n // 2), _line(n, 0, (n - 1) // 2)]
        return Factor(network, ((ways[0],), (ways[1],)), _HALVES) if coin and n % 2 == 0 else _single(network, ways[0])
    if network.grid is not None:
        return Factor(network, (tuple(_line(n, v, n - 1 - v, ends=True) for v in range(n)),), _ONE)
    from gossamer.simulation.random_arrivals.schemes.balanced_tree_images import symmetric_factor

    return symmetric_factor(network)


def _single(network: Network, tree: Tree) -> Factor:
    return Factor(network, ((tree,),), _ONE)


def _line(n: int, root: int, up: int, *, ends: bool = False) -> Tree:
    """Return the tree that goes `up` nodes up from the root and round to the others down.

    A node's links go up and then down; with `ends`, the last node of the line has only that down.
    """
    node: list[int] = []
    parent: list[int] = []
    column: list[int] = []
    for hops, way, sign in ((up, 0, 1), (n - 1 - up, 1, -1)):
        for k in range(1, hops + 1):
            at = (root + sign * (k - 1)) % n
            parent.append(-1 if k == 1 else len(node) - 1)
            node.append((at + sign) % n)
            column.append(0 if ends and at == n - 1 else way)
    return Tree(tuple(node), tuple(parent), tuple(column))
