"""Words that stay out of code, pages and outputs: private names of sources, and British spellings."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("src", "docs", "tests", "examples", "benchmarks", "changelog.d")

SOURCES = re.compile(r"\b[Ss]eeds? ?00\d|seed_00\d|(?:of|the|its)[ _]digests?\b|\b[Dd]igests? (?:of|section|\d)|n\.d\.")
"""Names of sources that a reader cannot look up."""

CITATIONS = re.compile(
    r"Varvarigos, Bertsekas\b|Yeh, Varvarigos, Lee\b|Chen, Chen\b|\b[A-Z]\w+, [A-Z]\w+ (?:19|20)\d\d\b"
)
"""Sources named without an "and"."""

BRITISH = re.compile(
    r"colour|neighbour|behaviour|favour|honour|\bgrey|centre|centerd|travell|labell|modell|cancell|catalogue|artefact"
    r"|programme\b|analyse|(?:al|ar|at|ct|er|gn|ial|il|im|or)is(?:e|es|ed|ing|ation)\b(?<!promis.)(?<!promis..)"
)
"""Marks of British spelling, in words of small letters."""
AMERICAN = {
    "raise",
    "raised",
    "raises",
    "raising",
    "otherwise",
    "exercise",
    "exercises",
    "praise",
    "praises",
    "arise",
    "arises",
}
"""Words that look British and are not."""


@functools.cache
def pages() -> dict[str, str]:
    """Return the texts that people read or write here, by path, but this one."""
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".md", ".bib"}]
    found += ROOT.glob("*.md")
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(found) if p != Path(__file__)}


def british(text: str) -> list[str]:
    """Return the words of a text that are spelt in the British way."""
    words = set(re.findall(r"[a-z]+", text.lower())) - AMERICAN
    return sorted(word for word in words if BRITISH.search(word))


@pytest.mark.parametrize("words", [SOURCES, CITATIONS], ids=["sources", "citations"])
def test_sources_are_cited_by_names_and_year(words):
    found = {path: [match[0] for match in words.finditer(text)] for path, text in pages().items()}
    assert not {path: what for path, what in found.items() if what}


def test_spelling_is_american():
    found = {path: british(text) for path, text in pages().items()}
    assert not {path: what for path, what in found.items() if what}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (SOURCES, "Seed 004, 3.1"),
        (SOURCES, "worked out in the digest"),
        (SOURCES, "def test_times_of_the_digest():"),
        (CITATIONS, "Varvarigos, Bertsekas"),
        (CITATIONS, "Akers, Krishnamurthy 1989"),
    ],
)
def test_the_search_finds_private_names(words, text):
    assert words.search(text)


def test_the_search_finds_british_words():
    text = "Edge colouring of a generalised hypercube with relabelled neighbours; raises otherwise."
    assert british(text) == ["colouring", "generalised", "neighbours", "relabelled"]
