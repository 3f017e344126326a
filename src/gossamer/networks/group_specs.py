"""Groups by their text: from ``semidirect(64,8,3)`` to a group and back, for Cayley networks of any group."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks.diameter_two import FiniteField, prime_power
from gossamer.networks.family import whole_number
from gossamer.networks.finite_groups import AbelianGroup, Elements, Group, PermutationGroup, ProductGroup

# Groups of permutations or matrices given by generators, all elements listed.

MOST_LISTED = 200_000
"""The most elements of a group that is listed."""

_MOST_ENTRIES = 64

Multiply = Callable[[Elements, Elements], Elements]


class _Listed:
    """A group of which all products can be listed, and so the inverses."""

    @property
    @abstractmethod
    def order(self) -> int: ...

    @abstractmethod
    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements: ...

    @cached_property
    def _inverses(self) -> Elements:
        inverse = np.zeros(self.order, np.int64)
        power = np.arange(self.order)
        left = np.arange(self.order) > 0
        while left.any():  # the power before the identity is the inverse
            following = self.compose(power, np.arange(self.order))
            now = left & (following == 0)
            inverse[now] = power[now]
            left &= ~now
            power = following
        return inverse

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return the inverses."""
        return self._inverses[np.asarray(a, np.int64)]


@dataclass(frozen=True, eq=False)
class EnumeratedGroup(_Listed):
    """A group whose elements are rows of numbers: the identity first, the others in lexicographic order.

    `rows` (int64[order, width]): the elements. `multiply`: ``(rows, rows) -> rows``, the products of rows that
    broadcast.

    >>> g = permutations([(1, 2, 0)])  # the rotations of three things
    >>> g.order, int(g.compose(1, 1)), int(g.inverse(1)), g.abelian
    (3, 2, 2, True)
    """

    rows: Elements
    multiply: Multiply = field(repr=False)

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.rows)

    @cached_property
    def _lookup(self) -> tuple[Elements, Elements, Elements]:
        """Weights whose sums tell the rows apart, the sums in order, and the element of each."""
        for seed in range(100):
            weights = np.random.default_rng(seed).integers(-(2**40), 2**40, (self.rows.shape[1],))
            sums = self.rows @ weights
            order = np.argsort(sums).astype(np.int64)
            if not (np.diff(sums[order]) == 0).any():
                return weights, np.asarray(sums[order], np.int64), order
        raise AssertionError("random weights tell rows apart")

    @cached_property
    def abelian(self) -> bool:
        """Whether all products commute."""
        a = np.arange(self.order)
        some = a[1 : 1 + min(self.order, 64)]
        sure = self.order <= 64
        same = bool((self.compose(a[:, None], some) == self.compose(some, a[:, None])).all())
        return same and (sure or all(bool((self.compose(a, x) == self.compose(x, a)).all()) for x in a))

    def number(self, rows: Elements) -> Elements:
        """Return the element numbers of rows that are elements."""
        weights, sums, order = self._lookup
        return order[np.searchsorted(sums, rows @ weights)]

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products."""
        return self.number(self.multiply(self.rows[np.asarray(a, np.int64)], self.rows[np.asarray(b, np.int64)]))


def permutations(generators: Sequence[Sequence[int]]) -> EnumeratedGroup:
    """Return the group that permutations generate; the product is ``(a*b)[i] = a[b[i]]``.

    `generators`: each the images of 0, 1, ... Raises `NetworkError` if one is no permutation of all, or they generate
    more than 200,000 elements.

    >>> permutations([(1, 0, 2, 3), (1, 2, 3, 0)]).order
    24
    """
    width = len(generators[0]) if generators else 0
    for row in generators:
        if sorted(row) != list(range(width)) or not 1 <= width <= _MOST_ENTRIES:
            told = ".".join(map(str, row))
            raise NetworkError(f"cayley: {told} is no permutation of 0..{max(width - 1, 0)} (at most 64 symbols)")

    def multiply(a: Elements, b: Elements) -> Elements:
        one, other = np.broadcast_arrays(a, b)
        return np.take_along_axis(one, other, axis=-1)

    return EnumeratedGroup(_closed(np.array(generators, np.int64), np.arange(width), multiply), multiply)


def matrix_group(q: int, generators: Sequence[Sequence[int]], *, projective: bool = False) -> EnumeratedGroup:
    """Return the group that invertible matrices over the field of q elements generate.

    * `q`: a prime power up to 1,024; entry e is the element e of `gossamer.networks.diameter_two.FiniteField`.
    * `generators`: matrices row by row.
    * `projective`: whether matrices that differ by a factor are the same element.

    Raises `NetworkError` if q is no prime power, a matrix is not square or not invertible, or there are more than
    200,000 elements.

    >>> sl = [(1, 1, 0, 1), (1, 0, 1, 1)]
    >>> matrix_group(5, sl).order, matrix_group(5, sl, projective=True).order
    (120, 60)
    """
    field_ = FiniteField(*prime_power(q, "cayley", 2, 1024))
    side = round(len(generators[0]) ** 0.5) if generators else 0
    for row in generators:
        if side < 1 or len(row) != side * side or len(row) > _MOST_ENTRIES:
            raise NetworkError(f"cayley: a matrix has as many rows as columns, at most 8, got {len(row)} entries")
        for entry in row:
            whole_number(entry, "cayley", "an entry of a matrix", 0, q - 1)

    def multiply(a: Elements, b: Elements) -> Elements:
        a, b = np.broadcast_arrays(a, b)
        one, other = a.reshape(*a.shape[:-1], side, side), b.reshape(*b.shape[:-1], side, side)
        total = field_.multiply(one[..., :, 0, None], other[..., None, 0, :])
        for k in range(1, side):
            total = field_.add(total, field_.multiply(one[..., :, k, None], other[..., None, k, :]))
        flat = total.reshape(a.shape)
        return scaled(flat) if projective else flat

    def scaled(flat: Elements) -> Elements:
        first = np.take_along_axis(flat, (flat != 0).argmax(axis=-1)[..., None], axis=-1)
        return field_.multiply(flat, field_.inverse(np.where(first == 0, 1, first)))

    given = np.array(generators, np.int64)
    identity = np.eye(side, dtype=np.int64).reshape(-1)
    rows = _closed(scaled(given) if projective else given, identity, multiply)
    return EnumeratedGroup(rows, multiply)


def _closed(generators: Elements, identity: Elements, multiply: Multiply) -> Elements:
    """Return all products of generators, the identity first, then in lexicographic order."""
    known = identity[None]
    frontier = known
    while frontier.size:
        made = multiply(frontier[:, None], generators[None]).reshape(-1, identity.size)
        both = np.concatenate([known, made])
        _, first = np.unique(both, axis=0, return_index=True)
        fresh = np.sort(first[first >= len(known)])
        frontier = both[fresh]
        known = np.concatenate([known, frontier])
        if len(known) > MOST_LISTED:
            raise NetworkError(f"cayley: the generators of the group make more than {MOST_LISTED:,} elements")
    order = np.lexsort(known.T[::-1])
    rows = known[order]
    at = int(np.flatnonzero((rows == identity).all(axis=1))[0])
    # a matrix that is not invertible never comes back to the identity
    back = multiply(rows[:, None], generators[None]).reshape(-1, identity.size)
    if len(np.unique(back, axis=0)) < len(rows) or any(
        len(np.unique(multiply(rows, g), axis=0)) < len(rows) for g in generators
    ):
        raise NetworkError("cayley: a matrix that generates a group must be invertible")
    return np.concatenate([rows[at : at + 1], rows[:at], rows[at + 1 :]])


# Groups of prime power order by their polycyclic presentation: powers and commutators of generators.

_MOST = 200_000


@dataclass(frozen=True)
class PolycyclicGroup(_Listed):
    """Normal words ``g1**a1 ... gn**an`` with exponents below p, by powers ``gi**p`` and commutators ``[gj, gi]``.

    Element numbers have the exponents as digits in base p, a1 most significant.

    * `p`: the prime.
    * `powers`: row i has the exponents of ``gi**p``, all before and at i being 0.
    * `commutators`: the exponents of ``gj**-1 gi**-1 gj gi`` for the pairs j > i in the order (2,1), (3,1), (3,2),
      (4,1), ..., all before and at j being 0.

    >>> quaternions = polycyclic(2, [(0, 0, 1), (0, 0, 1), (0, 0, 0)], [(0, 0, 1), (0, 0, 0), (0, 0, 0)])
    >>> quaternions.order, int(quaternions.compose(4, 4)), quaternions.abelian
    (8, 1, False)
    """

    p: int
    powers: tuple[tuple[int, ...], ...]
    commutators: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> int:
        """Number of elements, ``p**n``."""
        return int(self.p ** len(self.powers))

    @property
    def abelian(self) -> bool:
        """Whether all commutators are the identity."""
        return not any(any(row) for row in self.commutators)

    @cached_property
    def tables(self) -> Elements:
        """The products of every element by each generator, int64[n, order]."""
        n, p = len(self.powers), self.p
        stride = [p ** (n - 1 - i) for i in range(n)]
        tables = np.zeros((n, self.order), np.int64)
        for i in range(n - 1, -1, -1):
            x = np.arange(self.order)
            size = stride[i]  # elements of the subgroup of the generators after i
            head, rest = x // size * size, x % size
            exponent = x // size % p
            full = exponent == p - 1
            head = np.where(full, head - (p - 1) * size, head + size)
            made = np.zeros_like(x)
            made = np.where(full, _apply(tables, made, self.powers[i]), made)
            for j in range(i + 1, n):  # gi**-1 gj gi = gj [gj, gi]
                digit = rest // stride[j] % p
                word = self.commutators[j * (j - 1) // 2 + i]
                for count in range(1, p):
                    turn = _apply(tables, tables[j][made], word)
                    made = np.where(digit >= count, turn, made)
            tables[i] = head + made
        return tables

    def fault(self) -> str | None:
        """Return the relation that does not hold, or None if the presentation is of a group of ``p**n`` elements."""
        tables, identity = self.tables, np.arange(self.order)
        n = len(self.powers)
        for i in range(n):
            power = identity
            for _ in range(self.p):
                power = tables[i][power]
            if not np.array_equal(power, _apply(tables, identity, self.powers[i])):
                return f"the power of generator {i + 1}"
            for j in range(i + 1, n):
                one = tables[i][tables[j]]
                other = _apply(tables, tables[j][tables[i]], self.commutators[j * (j - 1) // 2 + i])
                if not np.array_equal(one, other):
                    return f"the commutator of generators {j + 1} and {i + 1}"
        return None

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products, a generator at a time."""
        x, y = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
        n, p = len(self.powers), self.p
        for i in range(n):
            digit = y // p ** (n - 1 - i) % p
            for count in range(1, p):
                x = np.where(digit >= count, self.tables[i][x], x)
        return x


def _apply(tables: Elements, x: Elements, word: Sequence[int]) -> Elements:
    """Multiply elements by a normal word."""
    for i, times in enumerate(word):
        for _ in range(times):
            x = tables[i][x]
    return x


def polycyclic(p: int, powers: Sequence[Sequence[int]], commutators: Sequence[Sequence[int]]) -> PolycyclicGroup:
    """Return the group of a presentation by powers and commutators, if it has ``p**n`` elements.

    Raises `NetworkError` if a number is out of range, or the relations make fewer elements, naming one that fails.

    Source: Holt, Eick and O'Brien 2005, chapter 8.

    >>> polycyclic(2, [(0, 1), (0, 0)], [(0, 0)]).order
    4
    """
    p = whole_number(p, "cayley", "the prime", 2, 101)
    if any(p % d == 0 for d in range(2, p)):
        raise NetworkError(f"cayley: the order of generators must be a prime, got {p}")
    n = len(powers)
    if n < 1 or p**n > _MOST or len(commutators) != n * (n - 1) // 2:
        raise NetworkError(
            f"cayley: {n} powers need {n * (n - 1) // 2} commutators and at most {_MOST:,} elements, "
            f"got {len(commutators)} and {p}^{n}"
        )
    pairs = [(j, i) for j in range(1, n) for i in range(j)]
    for rows, firsts in ((powers, range(n)), (commutators, [j for j, _ in pairs])):
        for row, first in zip(rows, firsts, strict=True):
            if len(row) != n or any(row[: first + 1]):
                raise NetworkError(f"cayley: a relation has {n} exponents, 0 up to its own generator, got {list(row)}")
            for x in row:
                whole_number(x, "cayley", "an exponent", 0, p - 1)
    group = PolycyclicGroup(p, tuple(map(tuple, powers)), tuple(map(tuple, commutators)))
    wrong = group.fault()
    if wrong is not None:
        raise NetworkError(f"cayley: the relations make fewer than {p}^{n} elements: {wrong} does not hold")
    return group


# Semidirect products of an abelian group by a cyclic one, wreath products among them.


@dataclass(frozen=True)
class SemidirectGroup:
    """Pairs ``(v, i)`` of a vector modulo `moduli` and a turn modulo `turns`: ``(v,i)(w,j) = (v + M**i w, i + j)``.

    Element numbers are ``number(v)*turns + i``, the first entry of v most significant. `matrix` has M row by row, the
    identity to the power `turns`.

    >>> g = SemidirectGroup((7,), ((2,),), 3)  # 2**3 = 1 modulo 7
    >>> int(g.compose(1, 3)), int(g.inverse(4)), g.abelian  # (0,1)(1,0) = (2,1)
    (7, 11, False)
    """

    moduli: tuple[int, ...]
    matrix: tuple[tuple[int, ...], ...]
    turns: int

    @property
    def order(self) -> int:
        """Number of elements, the product of the moduli times the turns."""
        return math.prod(self.moduli) * self.turns

    @cached_property
    def abelian(self) -> bool:
        """Whether the matrix is the identity."""
        k = len(self.moduli)
        return all(
            (self.matrix[r][c] - (r == c)) % self.moduli[r] == 0 or self.moduli[c] == 1
            for r in range(k)
            for c in range(k)
        )

    @cached_property
    def images(self) -> Elements:
        """The numbers of ``M**i v`` for every turn i and vector v, int64[turns, order / turns]."""
        size = math.prod(self.moduli)
        one = np.stack(_digits_in(np.arange(size), self.moduli))
        turned = _number(np.array(self.matrix, np.int64) @ one, self.moduli)
        rows = [np.arange(size)]
        for _ in range(self.turns - 1):
            rows.append(turned[rows[-1]])
        return np.stack(rows)

    def compose(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Elements:
        """Return the products in the semidirect product."""
        x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
        turn = x % self.turns
        w = self.images[turn, y // self.turns]
        one, other = _digits_in(x // self.turns, self.moduli), _digits_in(w, self.moduli)
        v = _number([p + q for p, q in zip(one, other, strict=True)], self.moduli)
        return np.asarray(v * self.turns + (turn + y) % self.turns)

    def inverse(self, a: npt.ArrayLike) -> Elements:
        """Return ``(-M**-i v, -i)``."""
        x = np.asarray(a, np.int64)
        back = -x % self.turns
        negated = _number([-p for p in _digits_in(x // self.turns, self.moduli)], self.moduli)
        return np.asarray(self.images[back, negated] * self.turns + back)


def semidirect(moduli: Sequence[int], turns: int, matrix: Sequence[Sequence[int]]) -> SemidirectGroup:
    """Return the semidirect product of ``Z_m1 x ... x Z_mk`` by ``Z_turns``, which acts by a matrix.

    Raises `NetworkError` if a number is out of range, the matrix is no automorphism, or its power `turns` is not the
    identity.

    >>> semidirect((8,), 2, ((3,),)).order
    16
    >>> semidirect((8,), 2, ((2,),))
    Traceback (most recent call last):
    gossamer.errors.NetworkError: cayley: the matrix of a semidirect product must have power 2 the identity
    """
    sides = tuple(whole_number(m, "cayley", "a modulus", 2, 10**6) for m in moduli)
    count = whole_number(turns, "cayley", "the turns", 1, 10**6)
    if len(matrix) != len(sides) or any(len(row) != len(sides) for row in matrix):
        raise NetworkError(f"cayley: {len(sides)} moduli need a matrix of {len(sides)} rows of {len(sides)}")
    rows = tuple(
        tuple(whole_number(x, "cayley", "an entry of a matrix", 0, m - 1) for x in row)
        for row, m in zip(matrix, sides, strict=True)
    )
    if math.prod(sides) * count > _MOST_SEMIDIRECT:
        raise NetworkError(f"cayley: a semidirect product may have at most {_MOST_SEMIDIRECT:,} elements")
    for r, m in enumerate(sides):
        for c, other in enumerate(sides):
            if rows[r][c] * other % m:
                raise NetworkError(f"cayley: entry {rows[r][c]} of a matrix does not take Z_{other} to Z_{m}")
    if not _is_identity(rows, sides, count):
        raise NetworkError(f"cayley: the matrix of a semidirect product must have power {count} the identity")
    return SemidirectGroup(sides, rows, count)


def wreath(m: int, k: int) -> SemidirectGroup:
    """Return the wreath product of Z_m by Z_k: k digits modulo m, rotated by the turns.

    >>> wreath(2, 3).order
    24
    """
    digits = whole_number(k, "cayley", "k of a wreath product", 2, 30)
    base = whole_number(m, "cayley", "m of a wreath product", 2, 10**6)
    rows = tuple(tuple(int((r + 1) % digits == c) for c in range(digits)) for r in range(digits))
    return semidirect((base,) * digits, digits, rows)


_MOST_SEMIDIRECT = 20_000_000


def _is_identity(rows: Sequence[Sequence[int]], sides: Sequence[int], power: int) -> bool:
    """Return whether a matrix to some power is the identity, each row modulo its own side."""
    side = np.array(sides, np.int64)[:, None]
    base, total = np.array(rows, np.int64), np.eye(len(sides), dtype=np.int64) % side
    while power:
        if power & 1:
            total = total @ base % side
        base = base @ base % side
        power >>= 1
    return bool((total == np.eye(len(sides), dtype=np.int64) % side).all())


def _digits_in(number: Elements, moduli: Sequence[int]) -> list[Elements]:
    digits = []
    for m in reversed(moduli):
        digits.append(number % m)
        number = number // m
    return digits[::-1]


def _number(digits: Sequence[Elements] | Elements, moduli: Sequence[int]) -> Elements:
    total = np.zeros_like(digits[0])
    for digit, m in zip(digits, moduli, strict=True):
        total = total * m + digit % m
    return total


# The table of groups by name, and the text of each.


@dataclass(frozen=True)
class NamedGroup:
    """A group and the canonical text that names it."""

    text: str
    group: Group


@dataclass(frozen=True)
class GroupKind:
    """How the groups of one name are read.

    * `form`: the text, in words.
    * `summary`: one line.
    * `read`: takes what stands between the parentheses, split at commas; returns the group.
    """

    form: str
    summary: str
    read: Callable[[list[str]], Group]


def _abelian(parts: list[str]) -> Group:
    return AbelianGroup(tuple(_integer(p, "a modulus", 1, 10**8) for p in parts))


def _semidirect(parts: list[str]) -> Group:
    moduli, turns, matrix = _exactly(parts, 3, "semidirect(MODULI,TURNS,MATRIX)")
    return semidirect(_row(moduli), _integer(turns, "the turns", 1, 10**6), [_row(r) for r in matrix.split("/")])


def _wreath(parts: list[str]) -> Group:
    m, k = _exactly(parts, 2, "wreath(M,K)")
    return wreath(_integer(m, "m of a wreath product", 2, 10**6), _integer(k, "k of a wreath product", 2, 30))


def _symmetric(parts: list[str]) -> Group:
    return PermutationGroup(_integer(_exactly(parts, 1, "symmetric(M)")[0], "the symbols", 1, 11))


def _alternating(parts: list[str]) -> Group:
    m = _integer(_exactly(parts, 1, "alternating(M)")[0], "the symbols", 3, 9)
    return permutations([_cycle(m, i) for i in range(2, m)])


def _cycle(m: int, i: int) -> list[int]:
    """Return the rotation of 0, 1 and i."""
    row = list(range(m))
    row[0], row[1], row[i] = 1, i, 0
    return row


def _permutations(parts: list[str]) -> Group:
    return permutations([_row(r) for r in _exactly(parts, 1, "permutations(ROW/ROW/...)")[0].split("/")])


def _matrices(parts: list[str], projective: bool = False) -> Group:
    q, rows = _exactly(parts, 2, "matrices(Q,MATRIX/MATRIX/...)")
    field = _integer(q, "the order of a field", 2, 1024)
    return matrix_group(field, [_row(r) for r in rows.split("/")], projective=projective)


def _projective(parts: list[str]) -> Group:
    return _matrices(parts, projective=True)


def _polycyclic(parts: list[str]) -> Group:
    p, *relations = parts
    if len(relations) not in (1, 2):
        raise NetworkError("cayley: expected polycyclic(P,POWERS,COMMUTATORS), rows of digits separated by dots")
    rows = [[[int(d, 36) for d in row] for row in text.split(".") if _digits(row)] for text in relations]
    return polycyclic(_integer(p, "the prime", 2, 31), rows[0], rows[1] if len(rows) > 1 else [])


def _digits(text: str) -> bool:
    if not re.fullmatch("[0-9a-z]+", text):
        raise NetworkError(f"cayley: expected exponents such as 0011, got {shown(text)}")
    return True


GROUP_KINDS: dict[str, GroupKind] = {
    "abelian": GroupKind("abelian(M,...)", "product of cyclic groups", _abelian),
    "semidirect": GroupKind(
        "semidirect(M.M...,K,ROW/ROW/...)",
        "vectors modulo M.M... and a turn modulo K that acts by the matrix of the rows",
        _semidirect,
    ),
    "wreath": GroupKind("wreath(M,K)", "K digits modulo M, and a turn that rotates them", _wreath),
    "symmetric": GroupKind("symmetric(M)", "all permutations of M symbols", _symmetric),
    "alternating": GroupKind("alternating(M)", "the even permutations of M symbols", _alternating),
    "permutations": GroupKind("permutations(ROW/ROW/...)", "what permutations generate", _permutations),
    "matrices": GroupKind("matrices(Q,ROW/ROW/...)", "what matrices over the field of Q elements generate", _matrices),
    "projective": GroupKind("projective(Q,ROW/ROW/...)", "the same up to a factor", _projective),
    "polycyclic": GroupKind(
        "polycyclic(P,POWERS,COMMUTATORS)", "a group of order P^n by the exponents of its relations", _polycyclic
    ),
}
"""Every kind of group of ``cayley:`` specs, besides products ``direct(GROUP;GROUP;...)``."""


def group_named(text: str) -> NamedGroup:
    """Return the group of a text.

    Raises `NetworkError` if the text names no group, or its numbers are out of range.

    >>> group_named("Semidirect( 7, 3, 2 )").text, group_named("direct(abelian(2);wreath(2,3))").group.order
    ('semidirect(7,3,2)', 48)
    """
    plain = re.sub(r"\s+", "", text.lower())
    match = re.fullmatch(r"([a-z]+)\((.*)\)", plain)
    if not match:
        forms = ", ".join(kind.form for kind in GROUP_KINDS.values())
        raise NetworkError(f"cayley: expected a group, got {shown(text)}; groups are {forms} and direct(GROUP;GROUP)")
    name, inside = match.groups()
    if name == "direct":
        factors = [group_named(part) for part in split_outside(inside, ";")]
        joined = ";".join(f.text for f in factors)
        return NamedGroup(f"direct({joined})", ProductGroup(tuple(f.group for f in factors)))
    if name not in GROUP_KINDS:
        hint = nearest(name, [*GROUP_KINDS, "direct"])
        raise NetworkError(f"cayley: unknown group {shown(name)}{hint}; there are {', '.join(GROUP_KINDS)}, direct")
    return NamedGroup(plain, GROUP_KINDS[name].read(inside.split(",")))


def split_outside(text: str, sign: str) -> list[str]:
    """Return the parts of a text between signs that stand in no parentheses.

    >>> split_outside("direct(a(1);b(2));3", ";")
    ['direct(a(1);b(2))', '3']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _exactly(parts: list[str], count: int, form: str) -> list[str]:
    if len(parts) != count:
        raise NetworkError(f"cayley: expected {form}, got {len(parts)} parameters")
    return parts


def _row(text: str) -> list[int]:
    return [_integer(part, "an entry", 0, 10**8) for part in text.split(".")]


def _integer(text: str, what: str, low: int, high: int) -> int:
    if not re.fullmatch("[0-9]{1,20}", text):
        raise NetworkError(f"cayley: {what} must be a whole number, got {shown(text)}")
    return whole_number(int(text), "cayley", what, low, high)
