"""Slim flies: the graphs of McKay, Miller and Siran, of diameter 2 and near the largest possible order."""

from __future__ import annotations

import numpy as np

from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size
from gossamer.networks.finite_fields import FiniteField, prime_power
from gossamer.networks.network import Network
from gossamer.networks.router_networks import router_network, router_size

__all__ = ["SLIM_FLY", "slim_fly"]

LARGEST = 512
"""The largest q that is asked about."""


def slim_fly(q: int, p: int = 0) -> Network:
    """Return the slim fly of a prime power q: 2*q**2 routers of degree (3q-d)/2 and diameter 2.

    Parameters
    ----------
    q : int
        A prime power, at least 3; ``d = q mod 4`` is taken as -1 where it is 3.
    p : int
        Terminals at each router. 0: the routers are the terminals themselves.

    Returns
    -------
    Network
        Spec ``slim-fly:q=Q`` or ``slim-fly:q=Q,p=P``. Router (s, x, y) of the halves s = 0, 1 is number ``(s*q + x)*q +
        y``; these are its coordinates, with a last one as in `dragonfly` if there are terminals.

    Raises
    ------
    NetworkError
        If q is no prime power or a parameter is out of range.

    Notes
    -----
    (0, x, y) is adjacent to (0, x, y') if y - y' is in X, to (1, m, c) if ``y = m*x + c``; (1, m, c) is adjacent to (1,
    m, c') if c - c' is in X'. With a primitive element z, X holds its even powers and X' its odd ones where q is 0 or 1
    modulo 4. Where q = 4w-1, X holds the even powers below 2w and the odd ones from 2w-1 on, and X' is z*X.
    ``slim-fly:q=5`` is the Hoffman-Singleton graph. O(L log L) time.

    References
    ----------
    McKay, Miller and Siran 1998; Hafner 2004; as a network: Besta and Hoefler 2014.

    Examples
    --------
    >>> slim_fly(5)
    <Network slim-fly:q=5: 50 nodes, 350 links>
    >>> slim_fly(5).diameter
    2
    """
    _slim_fly_size(q, p)
    q, p = int(q), int(p)
    field = FiniteField(*prime_power(q, "slim-fly", 3, LARGEST))
    inside = []
    for half, exponents in enumerate(_exponents(q)):
        steps = field.powers[exponents % (q - 1)]
        node = np.arange(q * q)[:, None]
        target = node // q * q + field.add(node % q, steps)
        inside.append((np.repeat(node.ravel(), steps.size) + half * q * q, target.ravel() + half * q * q, 1))
    x, m, c = (numbers.ravel() for numbers in np.meshgrid(*[np.arange(q)] * 3, indexing="ij"))
    left, right = x * q + field.add(field.multiply(m, x), c), q * q + m * q + c
    number = np.arange(2 * q * q)
    return router_network(
        spec_parameters.canonical("slim-fly", {"q": q, "p": p}, p=0),
        2 * q * q,
        [*inside, (left, right, 1), (right, left, 1)],
        p=p,
        places=np.stack([number // (q * q), number // q % q, number % q], axis=1),
        groups=number // q,
    )


def _exponents(q: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the exponents of the primitive element in X and in X'."""
    if q % 4 == 3:
        w = (q + 1) // 4
        low, high = np.arange(0, 2 * w, 2), np.arange(2 * w - 1, 4 * w - 2, 2)
        return np.concatenate([low, high]), np.concatenate([low, high]) + 1
    even = np.arange(0, q - 1, 2)
    return even, even + 1


def _slim_fly_size(q: int, p: int = 0) -> Size:
    prime_power(q, "slim-fly", 3, LARGEST)
    q = int(q)
    return router_size("slim-fly", 2 * q * q, 2 * q * q * ((3 * q + (q % 4 == 3)) // 2), p)


SLIM_FLY = Family(
    name="slim-fly",
    function=slim_fly,
    size=_slim_fly_size,
    form=spec_parameters.named({"q": spec_parameters.integer, "p": spec_parameters.integer}, p=0),
    parameters="q=Q,p=0",
    summary="McKay-Miller-Siran graph of a prime power q, diameter 2; p terminals at each router (0: the routers)",
    example="slim-fly:q=5,p=4",
    source="McKay, Miller and Siran 1998; Besta and Hoefler 2014",
    small=("slim-fly:q=3",),
)
