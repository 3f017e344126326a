"""Random groups of a given order, as texts that name them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gossamer.networks.finite_groups import divisors

Draw = np.random.Generator
Ints = npt.NDArray[np.int64]

_TAILS = 60
_LARGEST_LISTED = 40_000


def random_group(kind: str, order: int, rng: Draw) -> str | None:
    """Return the text of a random group of a kind and order, or None if none was found.

    `kind`: a key of `GROUP_FAMILIES`. `order`: elements wanted. `rng`: where chance comes from.

    >>> random_group("wreath", 24, np.random.default_rng(0))
    'wreath(2,3)'
    """
    return GROUP_FAMILIES[kind](order, rng)


def _abelian(order: int, rng: Draw) -> str:
    left, sides = order, list[int]()
    while left > 1:
        side = int(rng.choice(divisors(left)[1:]))
        sides.append(side)
        left //= side
    return f"abelian({','.join(map(str, sorted(sides or [1])))})"


@lru_cache(maxsize=64)
@lru_cache(maxsize=512)
def _multipliers(m: int, k: int) -> list[int]:
    """Return the numbers other than 1 whose k-th power is 1 modulo m."""
    return [a for a in range(2, m) if math.gcd(a, m) == 1 and pow(a, k, m) == 1]


def _semidirect(order: int, rng: Draw) -> str | None:
    choices = [(m, order // m) for m in divisors(order) if 3 <= m < order and _multipliers(m, order // m)]
    if not choices:
        return None
    # long cycles with many turns have small balls as often as any; very uneven pairs are left to chance
    m, k = choices[int(rng.integers(len(choices)))]
    return f"semidirect({m},{k},{int(rng.choice(_multipliers(m, k)))})"


def _vectors(order: int, rng: Draw) -> str | None:
    """Return vectors over Z_p, Z_4 or Z_9, turned by a random matrix."""
    choices = [
        (m, r) for m in (2, 3, 4, 5, 7, 9) for r in range(2, 13) if order % m**r == 0 and 1 < order // m**r <= 4096
    ]
    if not choices:
        return None
    m, r = choices[int(rng.integers(len(choices)))]
    turns = order // m**r
    for _ in range(40):
        matrix = rng.integers(0, m, (r, r))
        period = _matrix_order(matrix, m)
        if not period:
            continue
        shared = math.gcd(period, turns)
        if shared == 1:
            continue
        power = _matrix_power(matrix, period // shared, m)
        rows = "/".join(".".join(map(str, row)) for row in power.tolist())
        return f"semidirect({'.'.join([str(m)] * r)},{turns},{rows})"
    return None


def _matrix_power(matrix: Ints, power: int, m: int) -> Ints:
    total = np.eye(len(matrix), dtype=np.int64)
    while power:
        if power & 1:
            total = total @ matrix % m
        matrix = matrix @ matrix % m
        power >>= 1
    return total


def _matrix_order(matrix: Ints, m: int) -> int:
    """Return the order of a matrix modulo m, 0 if it is not invertible or over 300."""
    one = np.eye(len(matrix), dtype=np.int64)
    power = matrix % m
    for k in range(1, 300):
        if np.array_equal(power, one):
            return k
        if k > 3 and not power.any():
            return 0
        power = power @ matrix % m
    return 0


def _wreath(order: int, rng: Draw) -> str | None:
    found = [f"wreath({m},{k})" for k in range(2, 16) for m in range(2, 200) if m**k * k == order]
    return str(rng.choice(found)) if found else None


def _permutations(order: int, rng: Draw) -> str | None:
    """Return the symmetric or alternating group, or maps x -> a*x + b modulo m for several a."""
    found = [f"symmetric({m})" for m in range(3, 9) if math.factorial(m) == order]
    found += [f"alternating({m})" for m in range(4, 9) if math.factorial(m) == 2 * order]
    for m in range(5, 65):
        if order % m == 0 and order <= _LARGEST_LISTED:
            units = [a for a in range(2, m) if math.gcd(a, m) == 1]
            for _ in range(6):
                some = rng.choice(units, min(2, len(units)), replace=False).tolist()
                if _span(some, m) * m == order:
                    rows = [[(x + 1) % m for x in range(m)], *([a * x % m for x in range(m)] for a in some)]
                    found.append(f"permutations({'/'.join('.'.join(map(str, r)) for r in rows)})")
    return str(rng.choice(found)) if found else None


def _span(some: list[int], m: int) -> int:
    """Return how many numbers products of some make modulo m."""
    known = {1}
    frontier = [1]
    while frontier:
        frontier = [y for x in frontier for a in some if (y := x * a % m) not in known and not known.add(y)]  # type: ignore[func-returns-value]
    return len(known)


def _matrices(order: int, rng: Draw) -> str | None:
    """Return a special or general linear group in two dimensions, projective or not, or triangular matrices."""
    found = []
    for q in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29):
        shears = "1.1.0.1/1.0.1.1"
        size = q * (q * q - 1)
        root = next(g for g in range(1, q) if len({pow(g, k, q) for k in range(q - 1)}) == q - 1)
        spread = f"{shears}/{root}.0.0.1"
        found += [
            text
            for text, count in (
                (f"matrices({q},{shears})", size),
                (f"projective({q},{shears})", size // (2 if q > 2 else 1)),
                (f"matrices({q},{spread})", size * (q - 1)),
                (f"projective({q},{spread})", size),
            )
            if count == order
        ]
        for side in (3, 4, 5):  # ones on the diagonal, anything above it
            if q ** (side * (side - 1) // 2) == order and order <= _LARGEST_LISTED:
                rows = []
                for i in range(side - 1):
                    one = np.eye(side, dtype=int)
                    one[i, i + 1] = 1
                    rows.append(".".join(map(str, one.reshape(-1))))
                found.append(f"matrices({q},{'/'.join(rows)})")
    return str(rng.choice(found)) if found else None


def _prime_power(order: int, rng: Draw) -> str | None:
    """Return a group of order 2^n, made of central extensions by two elements with random relations."""
    n = order.bit_length() - 1
    if order != 1 << n or not 3 <= n <= 12:
        return None
    powers, commutators = [[0]], list[list[int]]()
    for size in range(1, n):
        rows = [[*row, 0] for row in powers], [[*row, 0] for row in commutators]
        tails = _tails(*rows, size, rng)
        for number, row in enumerate([*rows[0], *rows[1]]):
            row[-1] = int(tails[number])
        powers = [*rows[0], [0] * (size + 1)]
        commutators = [*rows[1], *([0] * (size + 1) for _ in range(size))]
    texts = (".".join("".join(map(str, row)) for row in rows) for rows in (powers, commutators))
    return f"polycyclic(2,{','.join(texts)})"


def _tails(powers: list[list[int]], commutators: list[list[int]], n: int, rng: Draw) -> Ints:
    """Return which relations of a group of 2^n elements get a new central generator, such that all stays consistent.

    Products are worked out with the relations that they use, modulo 2, as bits; where two ways to one product use
    different ones, these must get an even number of new generators.
    """
    order, count = 1 << n, n + n * (n - 1) // 2
    tables, used = np.zeros((n, order), np.int64), np.zeros((n, order), np.int64)
    bit = [1 << k if k < _TAILS else 0 for k in range(count)]

    def follow(at: tuple[Ints, Ints], word: list[int], relation: int = 0) -> tuple[Ints, Ints]:
        x, bits = at[0], at[1] ^ relation
        for i, times in enumerate(word[:n]):
            if times:
                x, bits = tables[i][x], bits ^ used[i][x]
        return x, bits

    def chosen(where: npt.NDArray[np.bool_], one: tuple[Ints, Ints], other: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        return np.where(where, one[0], other[0]), np.where(where, one[1], other[1])

    every = np.arange(order), np.zeros(order, np.int64)
    unit = np.eye(n, dtype=int).tolist()
    for i in range(n - 1, -1, -1):
        x, size = every[0], 1 << (n - 1 - i)
        head, rest, full = x // size * size, x % size, (x // size) % 2 == 1
        made = np.zeros(order, np.int64), np.zeros(order, np.int64)
        made = chosen(full, follow(made, powers[i], bit[i]), made)
        for j in range(i + 1, n):
            pair = j * (j - 1) // 2 + i
            turned = follow(follow(made, unit[j]), commutators[pair], bit[n + pair])
            made = chosen((rest >> (n - 1 - j)) & 1 == 1, turned, made)
        tables[i], used[i] = np.where(full, head - size, head + size) + made[0], made[1]
    equations: list[Ints] = []
    for i in range(n):
        twice = follow(follow(every, unit[i]), unit[i])
        equations.append(twice[1] ^ follow(every, powers[i], bit[i])[1])
        for j in range(i + 1, n):
            pair = j * (j - 1) // 2 + i
            one = follow(follow(every, unit[j]), unit[i])
            other = follow(follow(follow(every, unit[i]), unit[j]), commutators[pair], bit[n + pair])
            equations.append(one[1] ^ other[1])
    basis: dict[int, int] = {}  # the leading bit of each equation
    for row in np.unique(np.concatenate(equations)).tolist():
        while row and row.bit_length() in basis:
            row ^= basis[row.bit_length()]
        if row:
            basis[row.bit_length()] = row
    tails = 0
    for place in range(1, min(count, _TAILS) + 1):  # the lowest bits are free, leading ones follow from them
        odd = (basis[place] & tails).bit_count() % 2 if place in basis else 0
        value = odd if place in basis else int(rng.random() < 0.6)
        tails |= value << (place - 1)
    return np.array([(tails >> k) & 1 for k in range(count)], np.int64)


def _product(order: int, rng: Draw) -> str | None:
    """Return the direct product of a small cyclic group and another."""
    small = [d for d in divisors(order) if 2 <= d <= 8 and order // d >= 6]
    if not small:
        return None
    d = int(rng.choice(small))
    inner = [kind for kind in GROUP_FAMILIES if kind not in ("product", "abelian")]
    other = random_group(str(rng.choice(inner)), order // d, rng)
    return None if other is None else f"direct({other};abelian({d}))"


GROUP_FAMILIES: dict[str, Callable[[int, Draw], str | None]] = {
    "abelian": _abelian,
    "semidirect": _semidirect,
    "vectors": _vectors,
    "wreath": _wreath,
    "permutations": _permutations,
    "matrices": _matrices,
    "2-group": _prime_power,
    "product": _product,
}
"""How random groups of each kind are drawn: the order and a generator of random numbers give a text, or None."""
