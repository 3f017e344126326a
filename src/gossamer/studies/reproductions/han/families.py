"""Tables 5.1 to 5.3 of Han 1990 where they are ours to run: as printed, guaranteed exactly, and measured."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.han.facts import compared
from gossamer.studies.reproductions.han.routed import guaranteed, worst
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES"]

_Q = (
    ("Q", "array:16x16", "4n ; 1.5n", "5"),
    ("Q", "array:32x32", "4n ; 1.5n", "5"),
    ("Q-k-partition", "array:16x16", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q-k-partition", "array:64x64", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q", "array:8x8x8", "O(K 2^K n)", "2^K + 1"),
    ("Q", "array:13x13", "4.3n ; 1.5n", "5"),
    ("Q-A", "array:13x13", "4.5n ; 1.5n", "9"),
    ("Q", "array:19x19", "4.3n ; 1.5n", "5"),
    ("Q", "array:32x8", "1.75r + 2.2c ; 0.5r + c", "5"),
)
_H = (
    ("H", "array:16x16", "5.5n ; 3.5n", "3"),
    ("H", "array:32x32", "5.5n ; 3.5n", "3"),
    ("H-k-strips", "array:16x16", "4.05n ; 1.5n", "k + 1"),
    ("H-k-strips", "array:64x64", "4.05n ; 1.5n", "k + 1"),
    ("H", "array:8x8x8", "12.5n ; 9.5n", "3"),
    ("H", "array:13x13", "5.5n ; 3.5n", "3"),
    ("H", "array:17x17", "5.5n ; 3.5n", "3"),
    ("H", "array:32x8", "2.5r + 3c ; 1.5r + 2c", "3"),
)
_ROUTERS = (
    ("Q", "5.5n", "5"),
    ("H", "9n", "3"),
    ("kunde-2", "3.5n .. 5.5n", "4"),
    ("kunde-4", "2.75n .. 3.75n", "8"),
    ("greedy", "2n - 2", "n"),
    ("valiant-brebner", "3n + o(n)", "O(log n)"),
    ("random-slices", "2n + o(n)", "constant, large"),
)
_COLUMNS = (
    *("algorithm", "mesh", "printed steps", "printed buffers", "guaranteed data", "control", "measured data"),
    *("control", "buffers", "distance"),
)
_NOTE = (
    "k = 4. 'Guaranteed' is the exact length that the phases of the clock version take on every instance; 'measured' "
    "is the worst over the named and three random permutations, phases ending with their last hop; 'distance' is the "
    "largest distance that one of these messages has to go. Buffers count all messages in a node, also delivered ones."
)


def _family(title: str, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
    found: list[tuple[Cell, ...]] = []
    for name, spec, steps, buffers in rows:
        data, control = guaranteed(name, spec)
        most = worst(name, spec)
        mesh = spec.removeprefix("array:")
        taken = (most.data, most.control, most.buffers, most.distance)
        found.append((name, mesh, steps, buffers, data, control, *taken))
    return Table(title, _COLUMNS, tuple(found), _NOTE)


def family_q() -> Table:
    """Table 5.1: the family of Algorithm Q."""
    return _family("Table 5.1, the family of Algorithm Q", _Q)


def family_h() -> Table:
    """Table 5.2: the family of Algorithm H."""
    return _family("Table 5.2, the family of Algorithm H", _H)


def routers() -> Table:
    """Table 5.3: the routers that are ours to run, on the 32 x 32 array."""
    rows: list[tuple[Cell, ...]] = []
    for name, steps, buffers in _ROUTERS:
        most = worst(name, "array:32x32")
        rows.append((name, steps, buffers, most.data, most.control, most.total, most.buffers, most.distance))
    return Table(
        "Table 5.3 measured, n = 32",
        ("algorithm", "printed steps", "printed buffers", "data", "control", "total", "buffers", "distance"),
        tuple(rows),
        "Worst over the named and three random permutations. Kunde's steps depend on the sorter: 2n + O(n/eps) besides "
        "it. The randomized routers draw with seed 0.",
    )


def guaranteed_lengths() -> Table:
    """Theorems 3.3 and 4.5: the exact guaranteed lengths of Q and H on n x n."""
    rows: list[tuple[Cell, ...]] = []
    for n in (2, 4, 8, 16, 32, 64, 128, 1024):
        q, h = guaranteed("Q", f"array:{n}x{n}"), guaranteed("H", f"array:{n}x{n}")
        rows.append((n, *q, sum(q), 5.5 * n, *h, sum(h), 9 * n, 2 * n - 2))
    return Table(
        "Guaranteed lengths on n x n (Theorems 3.3 and 4.5)",
        ("n", "Q data", "control", "total", "5.5n", "H data", "control", "total", "9n", "distance"),
        tuple(rows),
        "Q: at most 3.95n - 6.4 and exactly 1.5n - 2 log2 n - 1 for n >= 4; H: exactly 5.5n - 6 - 2 log2 n and "
        "3.5n - 3 - 4 log2 n. 'Distance' is the diameter, which the reversal makes a message travel.",
    )


def arbitrary_h() -> Table:
    """Section 4.6.4: sizes at which the guarantee of H exceeds 9n (errata 10)."""
    rows: list[tuple[Cell, ...]] = []
    for n in (3, 5, 9, 16, 17, 32, 33, 65, 129):
        data, control = guaranteed("H", f"array:{n}x{n}")
        rows.append((n, data, control, data + control, 9 * n, "above" if data + control > 9 * n else "within"))
    return Table(
        "Guaranteed lengths of H on squares of any size (section 4.6.4)",
        ("n", "data", "control", "total", "9n", "claim"),
        tuple(rows),
        '"Time unchanged" holds to leading order: 9n + O(log n).',
    )


TABLES: tuple[Callable[[], Table], ...] = (guaranteed_lengths, family_q, family_h, arbitrary_h, compared, routers)
"""The functions that make the tables."""
