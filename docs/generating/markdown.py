"""Markdown: tables and generated pages."""

from __future__ import annotations

__all__ = ["page", "table"]


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    cells = [columns, ["---"] * len(columns), *[[c.replace("|", "\\|") for c in row] for row in rows]]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def page(title: str, text: str, source: str) -> str:
    """Return a generated page with its first line."""
    return f"<!-- made by docs/generate.py from {source}; do not edit -->\n\n# {title}\n\n{text.strip()}\n"
