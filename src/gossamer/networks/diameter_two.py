"""Networks of diameter 2 over finite fields, near the largest possible order: Slim Fly and PolarFly.

Slim flies are the graphs of McKay, Miller and Siran, PolarFlies the polarity graphs of Erdos and Renyi.
The finite fields GF(q) are here, too, as tables of logarithms.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.router_networks import router_network, router_size

Elements = npt.NDArray[np.int64]


def prime_power(value: object, family: str, low: int, high: int) -> tuple[int, int]:
    """Return p and k where ``value = p**k`` with p prime.

    Raises `NetworkError` if it is no whole number of low..high or no prime power, with the nearest that are.

    >>> prime_power(27, "slim-fly", 3, 500)
    (3, 3)
    >>> prime_power(6, "slim-fly", 3, 500)
    Traceback (most recent call last):
    gossamer.errors.NetworkError: slim-fly: q must be a prime power, got 6; the nearest are 5 and 7
    """
    q = whole_number(value, family, "q", low, high)
    if (found := _root(q)) is not None:
        return found
    near = [next((n for n in around if _root(n)), 0) for around in (range(q, low - 1, -1), range(q, high + 1))]
    allowed = " and ".join(str(n) for n in near if n)
    raise NetworkError(f"{family}: q must be a prime power, got {q}; the nearest are {allowed}")


def _root(q: int) -> tuple[int, int] | None:
    """Return p and k where ``q = p**k``, or None."""
    p = next((p for p in range(2, int(q**0.5) + 1) if q % p == 0), q)
    if p < 2:
        return None
    k = next(k for k in itertools.count(1) if p**k >= q)
    return (p, k) if p**k == q else None


@dataclass(frozen=True)
class FiniteField:
    """The field of q = p**k elements.

    Element e is the polynomial whose coefficients are the digits of e in base p, the constant the least; 0 and 1 are
    zero and one. All operations are vectorized over integer arrays that broadcast.

    >>> field = FiniteField(3, 2)
    >>> field.order, field.multiply(3, [0, 1, 2, 3]).tolist(), field.add(4, 5).tolist()
    (9, [0, 3, 6, 4], 6)
    """

    p: int
    k: int

    @property
    def order(self) -> int:
        """Number of elements, q."""
        return int(self.p**self.k)

    @cached_property
    def powers(self) -> Elements:
        """The powers ``x**0, x**1, ..., x**(q-2)`` of a primitive element, int64[q-1]: every element but 0 once.

        It is x, the first in the order of their numbers for k = 1, and the residue of x modulo the first primitive
        polynomial of degree k otherwise. O(q) for each polynomial tried.
        """
        p, k, q = self.p, self.k, self.order
        for rest in range(1, q):  # x**k = rest, or for k = 1 the number that generates
            digits = [rest // p**i % p for i in range(k)]
            found, element = [1], 1
            while True:
                top, shifted = element // p ** (k - 1), element % p ** (k - 1) * p
                element = sum((shifted // p**i + top * digits[i]) % p * p**i for i in range(k))
                if element in (0, 1):
                    break
                found.append(element)
                if len(found) >= q:
                    break
            if len(found) == q - 1:
                return np.array(found, np.int64)
        raise AssertionError("every finite field has a primitive element")

    @cached_property
    def _logarithm(self) -> Elements:
        logarithm = np.zeros(self.order, np.int64)
        logarithm[self.powers] = np.arange(self.order - 1)
        return logarithm

    def add(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the sums, digit by digit modulo p."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        for i in range(self.k):
            total += (x // self.p**i + y // self.p**i) % self.p * self.p**i
        return total

    def multiply(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products, by adding logarithms."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        product = self.powers[(self._logarithm[x] + self._logarithm[y]) % (self.order - 1)]
        return np.where((x == 0) | (y == 0), 0, product)

    def subtract(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the differences, digit by digit modulo p."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        total = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.int64)
        for i in range(self.k):
            total += (x // self.p**i - y // self.p**i) % self.p * self.p**i
        return total

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses of elements other than 0."""
        return self.powers[-self._logarithm[np.asarray(a, np.int64)] % (self.order - 1)]


_LARGEST_SLIM_FLY = 512
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
    field = FiniteField(*prime_power(q, "slim-fly", 3, _LARGEST_SLIM_FLY))
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
    prime_power(q, "slim-fly", 3, _LARGEST_SLIM_FLY)
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


# PolarFly

_LARGEST_POLARFLY = 1024
"""The largest q that is asked about."""


def polarfly(q: int, p: int = 0) -> Network:
    """Return the PolarFly of a prime power q: q**2+q+1 routers of degree q+1, or q at q+1 of them, diameter 2.

    Parameters
    ----------
    q : int
        A prime power, at least 2.
    p : int
        Terminals at each router. 0: the routers are the terminals themselves.

    Returns
    -------
    Network
        Spec ``polarfly:q=Q`` or ``polarfly:q=Q,p=P``. The routers are the points of the projective plane over GF(q),
        (0,0,1), (0,1,z) and (1,y,z) in this order, and these are their coordinates, with a last one as in
        `dragonfly` if there are terminals.

    Raises
    ------
    NetworkError
        If q is no prime power or a parameter is out of range.

    Notes
    -----
    Points are adjacent if their product ``x*x' + y*y' + z*z'`` is 0. The q+1 points for which that holds with
    themselves have no link for it, and so degree q. O(L log L) time.

    References
    ----------
    Erdos and Renyi 1962; Brown 1966; as a network: Lakhotia et al. 2022.

    Examples
    --------
    >>> polarfly(3), polarfly(3).diameter
    (<Network polarfly:q=3: 13 nodes, 48 links>, 2)
    """
    _polarfly_size(q, p)
    q, p = int(q), int(p)
    field = FiniteField(*prime_power(q, "polarfly", 2, _LARGEST_POLARFLY))
    element = np.arange(q)
    line = np.stack([element * 0 + 1, element], axis=1)  # the q + 1 points of a line: (1, t) and (0, 1)
    line = np.concatenate([[[0, 1]], line])
    affine = np.stack([np.ones(q * q, np.int64), element.repeat(q), np.tile(element, q)], axis=1)
    points = np.concatenate([np.pad(line, ((0, 0), (1, 0))), affine])
    # two points that span what is orthogonal to (x, y, z): its other points are their combinations
    negative = field.subtract(0, points)
    x, y = points[:, 0], points[:, 1]
    zero, one = np.zeros_like(x), np.ones_like(x)
    first = np.where(x[:, None] > 0, np.stack([negative[:, 1], one, zero], 1), np.stack([one, zero, zero], 1))
    second = np.where(
        x[:, None] > 0,
        np.stack([negative[:, 2], zero, one], 1),
        np.where(y[:, None] > 0, np.stack([zero, negative[:, 2], one], 1), np.stack([zero, one, zero], 1)),
    )
    terms = [field.multiply(line[None, :, k, None], span[:, None, :]) for k, span in enumerate((first, second))]
    target = _number(field, field.add(*terms).reshape(-1, 3))
    source = np.repeat(np.arange(len(points)), q + 1)
    order = np.lexsort((target, source))
    source, target = source[order], target[order]
    near = source != target
    spec = spec_parameters.canonical("polarfly", {"q": q, "p": p}, p=0)
    links, whole = (source[near], target[near], 1), np.zeros(len(points), np.int64)
    return router_network(spec, len(points), [links], p=p, places=points, groups=whole)


def _number(field: FiniteField, points: np.ndarray) -> np.ndarray:
    """Return the numbers of points that are given up to a factor, int64[M, 3]."""
    q = field.order
    lead = np.where(points[:, 0] > 0, points[:, 0], np.where(points[:, 1] > 0, points[:, 1], points[:, 2]))
    x, y, z = field.multiply(field.inverse(lead)[:, None], points).T
    return np.where(x > 0, q + 1 + y * q + z, np.where(y > 0, 1 + z, 0))


def _polarfly_size(q: int, p: int = 0) -> Size:
    prime_power(q, "polarfly", 2, _LARGEST_POLARFLY)
    q = int(q)
    return router_size("polarfly", q * q + q + 1, (q + 1) * (q * q + q), p)


POLARFLY = Family(
    name="polarfly",
    function=polarfly,
    size=_polarfly_size,
    form=spec_parameters.named({"q": spec_parameters.integer, "p": spec_parameters.integer}, p=0),
    parameters="q=Q,p=0",
    summary="points of the projective plane over GF(q), adjacent if orthogonal; p terminals at each (0: the points)",
    example="polarfly:q=7,p=4",
    source="Erdos and Renyi 1962; Lakhotia et al. 2022",
    small=("polarfly:q=2",),
)
