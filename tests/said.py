"""What a command prints, compared by its words: where lines break depends on the console."""

from __future__ import annotations

__all__ = ["words"]


def words(text: str) -> str:
    """Return a printed text as its words with single blanks between them, without the frames of tables and panels."""
    return " ".join(text.translate(str.maketrans("", "", "│┃")).split())
