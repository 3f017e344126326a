"""A report of many points as one HTML file that needs nothing else: tables, fronts, pictures, and all rows."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from gossamer.atomic_files import whole_file
from gossamer.plots.curves import group_figure
from gossamer.studies.sweeps.report import ComparedGroup, Report, cell_text

_MOST_ROWS = 5000
_HIDDEN = ("point", "identity", "reason", "witness", "status", "bound_exact", "completion_time_exact")

_STYLE = """
:root { color-scheme: light dark; --ink: #1d1f24; --paper: #fff; --muted: #5c6370; --line: #d7dae0; --front: #e8f1fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --paper: #16181d; --muted: #a3a9b5; --line: #3a3f4a; --front: #20364c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } p.note { color: var(--muted); }
.scroll { overflow-x: auto; max-height: 32rem; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { position: sticky; top: 0; background: var(--paper); }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; cursor: pointer; padding: 0; }
tr.front { background: var(--front); } figure { margin: 1rem 0; background: #fff; padding: .3rem; border-radius: 4px; }
figure svg { max-width: 100%; height: auto; } details { margin-top: 1rem; }
"""

_PROGRAM = """
for (const table of document.querySelectorAll("table.sorted")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent; head.textContent = ""; head.append(button);
    let way = 1;
    button.addEventListener("click", () => {
      const body = table.tBodies[0], rows = [...body.rows];
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      rows.sort((a, b) => { const [x, y] = [key(a), key(b)], d = Number(x) - Number(y);
        return way * (Number.isNaN(d) ? x.localeCompare(y, undefined, {numeric: true}) : d); });
      way = -way; body.append(...rows);
    });
  });
}
"""


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a page with all that a report has; it appears whole or not at all.

    Raises FileFormatError if the file cannot be written.
    """
    text = report_page(report)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def report_page(report: Report) -> str:
    """Return the text of the page: no server, nothing fetched, the same for the same results."""
    title = escape(report.title or "Results")
    parts = [f"<h1>{title}</h1>", _summary(report)]
    parts += [_group(group, report.shown.rows) for group in report.groups]
    parts.append(_everything(report))
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n<script>{_PROGRAM}</script>\n</body></html>\n"
    )


def _summary(report: Report) -> str:
    rows = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in report.results.rows())
    return f"<table>{rows}</table>"


def _group(group: ComparedGroup, most: int) -> str:
    columns, rows = group.table(most)
    on_front = {id(member) for front in group.fronts for member in front.members}
    marks = [id(row) in on_front for row in group.rows[: len(rows)]]
    parts = [f"<h2>{escape(group.title or 'Results')}</h2>"]
    if group.fronts or group.curves:
        parts.append(f"<figure>{_picture(group)}</figure>")
    parts.append(_table(columns, rows, group.rows, marks))
    more = len(group.rows) - len(rows)
    if more > 0 or group.fronts:
        words = [f"{more:,} more are below." if more > 0 else "", "Colored rows are on a front." if any(marks) else ""]
        parts.append(f'<p class="note">{" ".join(w for w in words if w)}</p>')
    for front in group.fronts:
        against, measure = (n.removeprefix("-") for n in (front.against, front.measure))
        names = tuple(dict.fromkeys((*group.naming, "chosen", against, measure)))
        cells = [tuple(cell_text(n, m.get(n)) for n in names) for m in front.members]
        parts.append(
            f"<details><summary>Front of {escape(measure)} against {escape(against)}: {len(cells)} points</summary>"
            f"{_table(names, cells, front.members, [])}</details>"
        )
    return "\n".join(parts)


def _picture(group: ComparedGroup) -> str:
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none"}):
        out = io.StringIO()
        group_figure(group).savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _table(columns: Sequence[str], cells: Iterable[Sequence[str]], rows: Sequence[Any], marks: Sequence[bool]) -> str:
    heads = "".join(f"<th>{escape(c.replace('_', ' '))}</th>" for c in columns)
    lines = []
    for i, line in enumerate(cells):
        inner = "".join(_cell(text, rows[i].get(name)) for name, text in zip(columns, line, strict=True))
        mark = ' class="front"' if i < len(marks) and marks[i] else ""
        lines.append(f"<tr{mark}>{inner}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="scroll"><table class="sorted"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(text: str, value: Any) -> str:
    exact = f' data-v="{value!r}"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{exact}>{escape(text)}</td>"


def _everything(report: Report) -> str:
    """Return all rows, failures included, each with the reason."""
    rows = [dict(row) for _, row in zip(range(_MOST_ROWS), report.results, strict=False)]
    columns = [c for c in report.results.columns if c not in _HIDDEN]
    cells = [[cell_text(c, row.get(c)) for c in columns] for row in rows]
    more = len(report.results) - len(rows)
    failed = [row for row in rows if row["status"] != "done"]
    parts = ["<h2>All points</h2>"]
    if failed:
        lines = [(str(row.get("network", "-")), str(row["reason"])) for row in failed]
        parts.append(f"<details open><summary>{len(lines)} points without result</summary>"
                     f"{_table(('network', 'reason'), lines, failed, [])}</details>")  # fmt: skip
    parts.append(f"<details><summary>All columns</summary>{_table(columns, cells, rows, [])}</details>")
    if more > 0:
        parts.append(f'<p class="note">{more:,} more points are in the file of results.</p>')
    return "\n".join(parts)
