"""The page that says where everything of each paper is; `docs/papers/coverage.toml` holds what it says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from generating.markdown import page, table

DATA = Path(__file__).parents[1] / "papers" / "coverage.toml"
KINDS = ("algorithm", "bound", "table", "figure", "extension")


def coverage() -> dict[str, dict[str, Any]]:
    """Return what the file holds: for each source its page and its rows."""
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def _where(row: dict[str, Any], source: str) -> str:
    places = [f"`gossamer {command}`" for command in row.get("run", [])]
    places += [f"`{name}`" for name in row.get("use", [])]
    places += [f"[{title}]({source}.md)" for title in row.get("shows", [])]
    why = row.get("why", "")
    if not places:
        return f"*not here:* {why}"
    return "; ".join(places) + (f". *{why}*" if why else "")


def pictures_of_paper(name: str) -> str:
    """Return a section on the tables and figures of a paper: where each is on its page, or why it is left out."""
    rows = [row for row in coverage()[name]["rows"] if row["kind"] in ("table", "figure")]
    cells = [[row["place"], row["what"], _shown(row) or "*left out*", row.get("why", "")] for row in rows]
    left = [row["place"] for row in rows if not _shown(row)]
    said = f"Left out: {', '.join(left)}." if left else "None is left out."
    head = table(["in the paper", "what", "heading on this page, or command", "why not, or what differs"], cells)
    return f"## The paper's own tables and figures\n\n{said}\n\n{head}"


def _shown(row: dict[str, Any]) -> str:
    """Return the headings under which a page shows a row, or else the commands that do."""
    return "; ".join(row.get("shows") or [f"`gossamer {command}`" for command in row.get("run", [])])


def coverage_page() -> str:
    """Return the tables of what each paper contains."""
    from gossamer.studies.reproductions import REPRODUCTIONS

    parts, here, whole = [], 0, 0
    for name, source in coverage().items():
        rows = source["rows"]
        found = sum(any(key in row for key in ("run", "use", "shows")) for row in rows)
        here, whole = here + found, whole + len(rows)
        cells = [[row["place"], row["kind"], row["what"], _where(row, source["page"])] for row in rows]
        left = f"{found} of {len(rows)} are here. `gossamer reproduce {name}` prints its tables."
        title = f"## {REPRODUCTIONS[name].split(':')[0]}"
        parts += [title, "", left, "", table(["place", "kind", "what", "where, or why not"], cells), ""]
    text = f"""
Every algorithm, bound, table, figure and extension of the five papers, and where it is: a command, an object to import,
or a table or picture on the page of the paper. What differs, and why something is not here, is said in the last column.
Of {whole} entries {here} are here. Statements that are false as printed are on the page of
[errata](../reference/errata.md), what
the papers leave open on that of [open questions](open_questions.md).

{chr(10).join(parts)}
"""
    return page("What is in the papers, and where", text, "docs/papers/coverage.toml")
