"""STAR and REDO: orders of the dimensions of a torus, drawn so that all links carry the same traffic.

STAR(l) visits the dimensions l+1, ..., d, 1, ..., l. In each, every node that holds the packet sends it round its ring
both ways. STAR draws l with the probabilities x_l that solve ``sum of a_{i,l} x_l = (N-1) w_i / (w_1 + ... + w_d)``,
w_i being the links that a node has in dimension i. REDO mixes all orders, which meets every target that any scheme of
orders can meet. On a ring with an even number of nodes a fair coin decides which way is the longer one; without it
the links of one direction carry more (Yeh, Varvarigos and Lee 1998; erratum X1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gossamer.algorithms.algorithm import refuse_capacities
from gossamer.errors import NotApplicableError
from gossamer.simulation.random_arrivals.schemes.product_broadcasts import Factor, product_scheme
from gossamer.simulation.random_arrivals.schemes.traffic_balancing import (
    largest_share,
    mixture,
    order_traffic,
    solve,
    uniform_part,
    violated_set,
)

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

from typing import TYPE_CHECKING

from gossamer.simulation.random_arrivals.schemes.product_broadcasts import Tree

if TYPE_CHECKING:
    from gossamer.networks.network import Network


__all__ = [
    "background_target",
    "even_target",
    "factor_reason",
    "flattened",
    "product_factors",
    "redo",
    "redo_probabilities",
    "star",
    "star_orders",
    "star_probabilities",
    "star_reason",
]

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

    `network` (Network): a network for which `factor_reason` of every flattened factor is None. `coin` (bool): whether
    an even ring has two trees, one for each way that may be the longer one.

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


SOURCE = "Yeh, Varvarigos and Lee 1998, section 2"
_MOST_DIMENSIONS = 5
"""REDO gives every order a share up to this many dimensions, at most 120 orders; beyond, it mixes at most d."""


def star_orders(dimensions: int) -> list[tuple[int, ...]]:
    """Return the order of STAR(l) for each l, dimensions from 0.

    >>> star_orders(3)
    [(1, 2, 0), (2, 0, 1), (0, 1, 2)]
    """
    return [tuple((last + 1 + k) % dimensions for k in range(dimensions)) for last in range(dimensions)]


def even_target(sizes: Sequence[int], widths: Sequence[Fraction | int]) -> list[Fraction]:
    """Return the packets of one broadcast that each dimension must carry for even traffic.

    `sizes` (sequence of int): nodes along each dimension. `widths` (sequence of int or Fraction): links that a node has
    in each dimension: 2 on a ring, 1 on an edge.

    >>> [str(t) for t in even_target((4, 8), (2, 2))]
    ['31/2', '31/2']
    """
    return [(math.prod(sizes) - 1) * Fraction(w) / sum(Fraction(v) for v in widths) for w in widths]


def background_target(
    sizes: Sequence[int], widths: Sequence[Fraction | int], rate: Fraction, background: Sequence[Fraction]
) -> list[Fraction]:
    """Return the packets that each dimension must carry so that links are equally busy with other traffic as well.

    Parameters
    ----------
    sizes, widths
        As in `even_target`.
    rate : Fraction
        Broadcasts per node and step.
    background : sequence of Fraction
        Utilization of the links of each dimension by other traffic.

    Returns
    -------
    list of Fraction
        Of sum N - 1. A negative entry means that a dimension is too busy already.

    Examples
    --------
    >>> [str(t) for t in background_target((4, 4), (2, 2), Fraction(1, 15), [Fraction(1, 10), Fraction(0)])]
    ['6', '9']
    """
    total = sum(Fraction(w) for w in widths)
    busy = [Fraction(w) * Fraction(b) for w, b in zip(widths, background, strict=True)]
    level = (Fraction(rate) * (math.prod(sizes) - 1) + sum(busy)) / total
    return [(Fraction(w) * level - b) / Fraction(rate) for w, b in zip(widths, busy, strict=True)]


def star_probabilities(sizes: Sequence[int], target: Sequence[Fraction] | None = None) -> tuple[Fraction, ...]:
    """Return the probability x_l with which STAR takes each dimension as the last one.

    Parameters
    ----------
    sizes : sequence of int
        Nodes along each dimension, at least 2.
    target : sequence of Fraction, optional
        Packets that each dimension is to carry, of sum N - 1. Default: the same for all, as printed.

    Raises
    ------
    NotApplicableError
        If the solution has a negative probability, or the target another sum.

    Notes
    -----
    O(d^3) operations on fractions. No negative solution is known for even targets; other targets may have one
    (erratum X11).

    Examples
    --------
    >>> [str(x) for x in star_probabilities((4, 8))]
    ['25/42', '17/42']
    >>> star_probabilities((4, 8), [Fraction(25), Fraction(6)])
    Traceback (most recent call last):
    gossamer.errors.NotApplicableError: STAR on sides 4x8 cannot send 25, 6 packets along the dimensions: \
ending in dimension 2 would need probability -1/21; dimension 1 carries 3 to 24 packets with any order
    """
    wanted = _checked(sizes, target)
    orders = star_orders(len(sizes))
    x = solve([order_traffic(sizes, o) for o in orders], wanted)
    if x is None:
        found = _mixed(sizes, orders, wanted)
        x = [Fraction(0)] * len(sizes) if found is None else [found.get(o, Fraction(0)) for o in orders]
    if sum(x) != 1 or min(x) < 0:
        worst = min(range(len(x)), key=lambda k: x[k])
        hint = _range_hint(sizes, wanted) or "REDO can"
        raise NotApplicableError(
            f"STAR on sides {'x'.join(map(str, sizes))} cannot send {', '.join(map(str, wanted))} packets along the "
            f"dimensions: ending in dimension {worst + 1} would need probability {x[worst]}; {hint}"
        )
    return tuple(x)


def redo_probabilities(
    sizes: Sequence[int], target: Sequence[Fraction] | None = None
) -> dict[tuple[int, ...], Fraction]:
    """Return orders of the dimensions with their probabilities for REDO.

    As much as possible is the even mixture of all d! orders (up to 5 dimensions); the rest is the mixture of at most
    d orders that the simplex method finds.

    Parameters
    ----------
    sizes, target
        As in `star_probabilities`.

    Raises
    ------
    NotApplicableError
        If no mixture of orders meets the target; the line names dimensions that would carry too much.

    Examples
    --------
    >>> {order: str(p) for order, p in redo_probabilities((4, 4)).items()}
    {(0, 1): '1/2', (1, 0): '1/2'}
    """
    wanted = _checked(sizes, target)
    hint = _range_hint(sizes, wanted)
    if hint is not None:
        raise NotApplicableError(
            f"no mixture of orders on sides {'x'.join(map(str, sizes))} sends {', '.join(map(str, wanted))} packets "
            f"along the dimensions: {hint}"
        )
    d = len(sizes)
    orders = list(itertools.permutations(range(d))) if d <= _MOST_DIMENSIONS else star_orders(d)
    part = uniform_part(sizes, wanted) if d <= _MOST_DIMENSIONS else Fraction(0)
    weight = dict.fromkeys(orders, part / len(orders))
    if part < 1:
        columns = [order_traffic(sizes, o) for o in orders]
        even = [Fraction(sum(c), len(orders)) for c in zip(*columns, strict=True)]
        rest = _mixed(sizes, [], [(t - part * e) / (1 - part) for t, e in zip(wanted, even, strict=True)])
        assert rest is not None
        for order, p in rest.items():
            weight[order] = weight.get(order, Fraction(0)) + (1 - part) * p
    return {order: p for order, p in weight.items() if p}


def _checked(sizes: Sequence[int], target: Sequence[Fraction] | None) -> list[Fraction]:
    if target is None:
        return even_target(sizes, [1] * len(sizes))
    wanted = [Fraction(t) for t in target]
    total = math.prod(sizes) - 1
    if len(wanted) != len(sizes) or sum(wanted) != total:
        raise NotApplicableError(
            f"the packets along {len(sizes)} dimensions must add up to {total}, one for each receiver; "
            f"got {', '.join(map(str, wanted))}"
        )
    return wanted


def _range_hint(sizes: Sequence[int], target: Sequence[Fraction]) -> str | None:
    """Say which dimensions the target overloads, or None where some mixture of orders meets it."""
    bad = violated_set(sizes, target)
    if bad is None:
        return None
    least = math.prod(sizes[i] for i in bad) - 1
    most = largest_share(sizes, bad)
    names = ", ".join(str(i + 1) for i in bad)
    what = f"dimension {names} carries" if len(bad) == 1 else f"dimensions {names} together carry"
    return f"{what} {least} to {most} packets with any order"


def _mixed(
    sizes: Sequence[int], orders: Sequence[tuple[int, ...]], target: Sequence[Fraction]
) -> dict[tuple[int, ...], Fraction] | None:
    """Return a mixture of the given orders, or of all orders if none are given, that meets the target."""
    d = len(sizes)
    order_of = {tuple(Fraction(x) for x in (*order_traffic(sizes, o), 1)): o for o in orders}

    def price(dual: list[Fraction]) -> list[Fraction]:
        order = tuple(sorted(range(d), key=lambda i: (dual[i], i)))  # the largest weight carries most: it comes last
        column = [Fraction(x) for x in (*order_traffic(sizes, order), 1)]
        order_of[tuple(column)] = order
        return column

    mix = mixture(list(order_of), [*target, Fraction(1)], None if orders else price)
    return None if mix is None else {order_of[column]: p for column, p in mix.items()}


# -- schemes ------------------------------------------------------------------------------------------------------


def star_reason(network: Network) -> str | None:
    """Say why STAR does not cover a network, or None if it does.

    >>> import gossamer
    >>> star_reason(gossamer.network("fat-tree:k=2,h=2,capacity=constant"))
    'needs links of capacity 1 and no routing nodes'
    """
    refusal = refuse_capacities(network)
    if refusal is not None:
        return refusal.why
    live = [f for f in flattened(network) if f.node_count > 1]
    if len(live) == 1 and live[0].grid is None and live[0].degree < live[0].node_count - 1:
        return "needs a torus, a hypercube, or another product of factors"
    reasons = (factor_reason(f) for f in flattened(network))
    return next((r for r in reasons if r is not None), None)


def star(
    network: Network, *, priority: str = "two-class", coin: bool = True, target: Sequence[Fraction] | None = None
) -> Scheme:
    """Return the STAR scheme on a torus, hypercube, generalized hypercube, or any other product.

    Parameters
    ----------
    network : Network
        A product whose factors are rings, lines, or networks with balanced trees; one factor is a product too.
    priority : str
        A key of `PRIORITIES`; low class: the last dimension.
    coin : bool
        Whether the longer way round an even ring is drawn. False only to show what it is for.
    target : sequence of Fraction, optional
        Packets that each dimension (of 2 nodes or more) is to carry, of sum N - 1. Default: even traffic on links.

    Raises
    ------
    NotApplicableError
        If the network is not covered, or the target has no solution.

    Notes
    -----
    Stable for all loads below 1 on tori and hypercubes. On arrays, whose end links carry twice the mean, below about
    1/2; see `arc`.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.1; errata X1, X11.

    Examples
    --------
    >>> import gossamer
    >>> scheme = star(gossamer.network("torus:4x8"))
    >>> [str(p) for p in scheme.exact_probability[0]]
    ['25/84', '25/84', '17/84', '17/84']
    """
    factors, sizes, live, wanted = _prepared(network, coin, target)
    x = star_probabilities(sizes, wanted)
    orders = {tuple(live[i] for i in o): p for o, p in zip(star_orders(len(live)), x, strict=True) if p}
    return product_scheme("star", network, SOURCE, factors, orders, priority=priority)


def redo(
    network: Network, *, priority: str = "two-class", coin: bool = True, target: Sequence[Fraction] | None = None
) -> Scheme:
    """Return the REDO scheme: STAR with all orders of the dimensions instead of d.

    Parameters and errors are those of `star`.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.1; which targets it meets is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> redo(gossamer.network("torus:3x4x5")).check()
    """
    factors, sizes, live, wanted = _prepared(network, coin, target)
    orders = {tuple(live[i] for i in o): p for o, p in redo_probabilities(sizes, wanted).items()}
    return product_scheme("redo", network, SOURCE, factors, orders, priority=priority)


def _prepared(
    network: Network, coin: bool, target: Sequence[Fraction] | None
) -> tuple[list[Factor], list[int], list[int], Sequence[Fraction]]:
    """Return the factors, the sizes of those with more than one node, their numbers, and the packets along each."""
    reason = star_reason(network)
    if reason is not None:
        raise NotApplicableError(f"STAR does not cover {network.spec}: it {reason}")
    factors = product_factors(network, coin=coin)
    live = [i for i, f in enumerate(factors) if f.network.node_count > 1]
    sizes = [factors[i].network.node_count for i in live]
    return factors, sizes, live, even_target(sizes, [factors[i].width for i in live]) if target is None else target
