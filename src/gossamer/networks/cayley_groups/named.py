"""The table of groups by name, and the text of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks._parameters import whole_number
from gossamer.networks.cayley_groups.enumerated import matrix_group, permutations
from gossamer.networks.cayley_groups.polycyclic import polycyclic
from gossamer.networks.cayley_groups.semidirect import semidirect, wreath
from gossamer.networks.groups import AbelianGroup, Group, PermutationGroup, ProductGroup

__all__ = ["GROUP_KINDS", "GroupKind", "NamedGroup", "group_named"]


@dataclass(frozen=True)
class NamedGroup:
    """A group and the canonical text that names it."""

    text: str
    group: Group


@dataclass(frozen=True)
class GroupKind:
    """How the groups of one name are read.

    Attributes
    ----------
    form : str
        The text, in words.
    summary : str
        One line.
    read : callable
        Takes what stands between the parentheses, split at commas; returns the group.
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

    Raises
    ------
    NetworkError
        If the text names no group, or its numbers are out of range.

    Examples
    --------
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
