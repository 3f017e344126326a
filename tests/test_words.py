"""Words that stay out of code, pages and outputs: private names of sources, British spellings, and retired terms."""

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


RETIRED = {
    "whole messages": r"\bwhole (?:messages?|packets?)\b",
    "split messages": r"\bsplit (?:messages?|packets?)\b|\bmessages (?:are|were) (?:not )?split\b",
    "ports all": r"\bports (?:all|one)\b",
    "claim": r"\b(?:the|its|no|their) claims?\b|\bclaimed time\b|\bat its claim\b",
    "promise": r"\b(?:source|algorithm|offer)s? promises?\b|\bpromised time\b",
    "ways": r"\b(?:shortest|cheapest|disjoint|longest) ways?\b|\bways of (?:messages|packets)\b",
    "turned round": r"\bturn(?:s|ed|ing)? round\b|\bother way round\b|\bboth ways round\b",
    "hops replayed": r"\bhops? replayed\b",
    "stored (invariant)": r"\bstored \(invariant\)",
    "shared port": r"\bshared ports?\b",
    "foreign algorithm": r"\bforeign (?:algorithm|schedule|file|tool|format)s?\b",
    "four doors": r"\b(?:four|the) doors\b",
    "floors": r"\bfloors\b|\b(?:twenty|the|each) rooms?\b",
    "battery": r"\bbattery\b",
    "front": r"(?<!pareto )(?<!in )(?<!the )\bfronts?\b(?! (?:flit|of)\b)|(?<!pareto )\bfront of time\b",
    "by lot": r"\bby lot\b",
    "computed anew": r"\banew\b",
    "carry out": r"\bcarr(?:y|ies|ied|ying)\b(?: [\w-]+){0,4} out\b(?!,)",
    "gone on with": r"\b(?:goes|gone|going|went|go) on (?:with|where|adding)\b",
    "told": r"\b(?:is|are|was) told\b",
}
"""Terms that are no longer written, by their names in the nomenclature, as they stand in prose of small letters."""
OLD_WORDS = "## Old words and new ones"
"""The part of the nomenclature that names the retired terms."""


def prose(page: str) -> str:
    """Return what a page says in sentences, in small letters and one line: without code, formulas and addresses."""
    text = re.sub(r"^```.*?^```$", " ", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|``[^`]*``|`[^`]*`", " ", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$\n]*\$|\]\([^)\n]*\)|^:::.*$", " ", text, flags=re.MULTILINE)
    return " ".join(text.lower().split())


def retired(page: str) -> list[str]:
    """Return the retired terms that a page writes."""
    text = prose(page)
    return sorted(name for name, form in RETIRED.items() if re.search(form, text))


def hand_written() -> dict[str, str]:
    """Return the pages for users and contributors, but decisions, which are history, and pages made from the code."""
    found = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "examples" / "README.md"]
    texts = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in found if "_build" not in p.parts}
    return {
        name: text.partition(OLD_WORDS)[0]
        for name, text in sorted(texts.items())
        if not name.startswith("docs/decisions/0") and "made by docs/generate.py" not in text[:200]
    }


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


def test_pages_use_the_terms_of_the_nomenclature():
    found = {name: retired(text) for name, text in hand_written().items()}
    assert len(found) > 60
    assert not {name: words for name, words in found.items() if words}


def test_the_nomenclature_names_every_retired_term():
    text = (ROOT / "docs" / "reference" / "nomenclature.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text.partition(OLD_WORDS)[2], re.MULTILINE)
    old = ", ".join(row[0] for row in rows)
    assert [name for name in RETIRED if name not in old] == []
    assert all(row[1].strip() for row in rows)


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Schedules of whole\nmessages are optimal.", "whole messages"),
        ("The battery runs it.", "battery"),
        ("A sweep that is gone on with.", "gone on with"),
        ("MPI carries the schedule out.", "carry out"),
        ("Links that are turned\nround", "turned round"),
        ("a front of time against links", "front"),
        ("A foreign algorithm, drawn by lot", "foreign algorithm"),
    ],
)
def test_the_search_finds_retired_terms(sentence, name):
    assert name in retired(sentence)
    assert retired(f"```text\n{sentence}\n```\n") == []


@pytest.mark.parametrize("sentence", ["The Pareto front of both", "a node in front of it", "the front flit"])
def test_the_search_leaves_usual_words_alone(sentence):
    assert retired(sentence) == []


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
