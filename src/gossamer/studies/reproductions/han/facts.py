"""Tables 1.1 and 5.1 to 5.3 of Han 1990 as facts: what the thesis says of its own algorithms and of others'."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.table import Table

__all__ = ["TABLES"]


def routing_before() -> Table:
    """Table 1.1: routing algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, routing (as printed)",
        ("algorithm", "model", "problems", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "perfect shuffle, bit reversal", "4n - 4", "wrap-around"),
            ("Nassimi and Sahni 1980", "ILLIAC", "BPC", "4n - 4", ""),
            ("Flanders", "ILLIAC", "BPC", "-", "DAP"),
            ("Raghavendra, Kumar", "ILLIAC", "permutation", "3n - 3", "wrap-around"),
            ("Nassimi and Sahni 1981", "ILLIAC", "broadcast, partial", "O(n)", ""),
            ("Algorithm Q", "distributed", "broadcast, partial", "5.5n", ""),
            ("Krizanc et al.", "distributed", "permutation, partial", "2n + o(n)", "random"),
            ("Kunde", "distributed", "permutation, partial", "2n + o(n)", "unbounded buffers"),
            ("Leighton et al.", "distributed", "permutation, partial", "2n - 2", "constant buffers"),
            ("Valiant, Brebner", "distributed", "permutation, partial", "3n + o(n)", "random, unbounded buffers"),
        ),
    )


def sorting_before() -> Table:
    """Table 1.1: sorting algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, sorting (as printed)",
        ("algorithm", "model", "order", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "row-major", "O(n log n)", "wrap-around"),
            ("Thompson, Kung", "ILLIAC", "snake", "6n + o(n)", ""),
            ("Nassimi, Sahni", "ILLIAC", "row-major", "14n + o(n)", ""),
            ("Kumar, Hirschberg", "ILLIAC", "row-major", "11n + o(n)", "wrap-around"),
            ("Lang et al.", "distributed", "snake", "7n", ""),
            ("Schnorr, Shamir", "distributed", "snake", "3n + o(n)", ""),
            ("Scherson, Sen", "distributed", "blocked snake", "3n + o(n)", ""),
            ("Sado, Igarashi", "distributed", "snake", "5.5n + o(n)", ""),
            ("Ma et al.", "extended ILLIAC", "blocked snake", "8n + o(n)", "n^(1/4) buffers"),
        ),
        "Not ours to run: claims about other authors' algorithms were not checked.",
    )


def compared() -> Table:
    """Table 5.3: deterministic routing algorithms compared, as printed."""
    return Table(
        "Table 5.3 (as printed)",
        ("algorithm", "steps", "buffers", "problems"),
        (
            ("Q", "5.5n", "5", "full, partial, restricted broadcast"),
            ("H", "9n", "3", "full, partial, restricted broadcast"),
            ("Kunde", "3.5n .. 5.5n", "4", "full, partial; by block sorting"),
            ("Leighton, Makedon, Tollis", "2n - 2", "constant (> 500)", "full, partial; by sorting"),
            ("sorting", "3n + O(n^(3/4)) .. 7n", "2", "full permutations only"),
        ),
        "The figures of Q and H count control messages as one step each. What is ours to run follows below.",
    )


TABLES: tuple[Callable[[], Table], ...] = (routing_before, sorting_before)
"""The functions that make the tables of what was known before."""
