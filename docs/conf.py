"""Configuration of the documentation; build it with ``sphinx-build -W --keep-going docs docs/_build/html``."""

from __future__ import annotations

import contextlib
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gossamer.version import __version__

project = "Gossamer"
author = "the Gossamer authors"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinxcontrib.bibtex",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = False

smartquotes = False

html_theme = "furo"
html_title = f"Gossamer {__version__}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_copyright = False
html_show_sphinx = False
html_math_renderer = "mathml"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name types, dtypes, shapes and units
autodoc_class_signature = "mixed"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


FOLDERS = ("tutorials", "how_to", "reference", "explanation", "results", "papers")
"""Pages in them once stood one folder up, those of papers as ``reproduce_<paper>``: old addresses lead to them."""

RENAMED = {
    "explanation/beside_mpi": "results/beside_mpi",
    "how_to/accelerators_512": "results/accelerators_512",
    "how_to/accelerators_4096": "results/accelerators_4096",
    "how_to/check_a_foreign_algorithm": "how_to/check_an_external_schedule",
    "check_a_foreign_algorithm": "how_to/check_an_external_schedule",
}
"""Pages that got another folder or another name."""


def moved() -> dict[str, str]:
    """Return where each page at an old address is now."""
    docs = Path(__file__).parent
    pages = [page.relative_to(docs).with_suffix("") for folder in FOLDERS for page in (docs / folder).glob("*.md")]
    return RENAMED | {
        ("reproduce_" if page.parts[0] == "papers" else "") + page.name: page.as_posix()
        for page in pages
        if page.name != "index"
    }


def _formula(self: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers set by themselves: no script, no fonts from elsewhere."""
    from docutils import nodes
    from latex2mathml.converter import convert

    display = "block" if node.tagname == "math_block" else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


_NUMBER = re.compile(r"[-−+~<>≤≥]?\s*[\d.,/²³]+(\s*(%|x|s|ms|us|µs|[kMG]?i?B|GB/s))?|-|—|", re.UNICODE)


def _numbers_right(app: Any, tree: Any, page: str) -> None:
    """Mark the columns of numbers in every table, for the style sheet to set them right."""
    from docutils import nodes

    for table in tree.findall(nodes.tgroup):
        rows = [
            list(row.findall(nodes.entry)) for body in table.findall(nodes.tbody) for row in body.findall(nodes.row)
        ]
        heads = [
            list(row.findall(nodes.entry)) for head in table.findall(nodes.thead) for row in head.findall(nodes.row)
        ]
        for place in range(min(map(len, rows), default=0)):
            cells = [row[place] for row in rows]
            texts = [cell.astext().strip() for cell in cells]
            if all(map(_NUMBER.fullmatch, texts)) and any(any(c.isdigit() for c in text) for text in texts):
                for cell in [*cells, *(head[place] for head in heads if len(head) > place)]:
                    cell["classes"].append("number")


def _unreleased(app: Any, page: str, source: list[str]) -> None:
    """Put what is not released yet on the page of changes, from the fragments, as towncrier will collect it."""
    if page != "changelog":
        return
    root = Path(__file__).parents[1]
    kinds = {
        k["directory"]: k["name"]
        for k in tomllib.loads((root / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
    }
    found = {kind: sorted((root / "changelog.d").glob(f"*.{kind}.md")) for kind in kinds}
    parts = ["## Unreleased"] if any(found.values()) else []
    for kind, files in found.items():
        listed = [" ".join(path.read_text(encoding="utf-8").split()).replace("](docs/", "](") for path in files]
        parts += [f"### {kinds[kind]}", "\n".join(f"* {text}" for text in listed)] if listed else []
    source[0] = "\n\n".join([source[0], *parts])


def explored() -> dict[str, Callable[[], Any]]:
    """Return what the pages of the explorer show that stand on other pages, by their names."""
    import gossamer
    from gossamer.simulation.random_arrivals import record
    from gossamer.simulation.random_arrivals.schemes import scheme

    def servers() -> Any:
        with contextlib.chdir(Path(__file__).parents[1] / "examples" / "machines"):  # the page names the file
            return gossamer.plan("two_servers.edges", "allgather", cost=gossamer.TimeCost(bytes="16MiB"))

    return {
        "explorer": lambda: gossamer.plan("torus:8x8", "allgather"),
        "explorer_worms": lambda: gossamer.plan("torus:5x5", "broadcast", switching="wormhole"),
        "explorer_servers": servers,
        "explorer_queues": lambda: record(scheme("priority", gossamer.network("torus:8x8")), load=0.8),
    }


def setup(app: object) -> None:
    """Set formulas and numbers; write the pages of the explorer that the docs show, and pages at old addresses."""

    def written(app: object, failed: Exception | None) -> None:
        from gossamer.explorer import explore

        if failed is not None or app.builder.format != "html":  # type: ignore[attr-defined]
            return
        out = Path(app.outdir)  # type: ignore[attr-defined]
        for page, made in explored().items():
            explore(made(), out / "_static" / f"{page}.html")
        for old, new in moved().items():
            there = "../" * old.count("/") + f"{new}.html"
            leads = f'<meta http-equiv="refresh" content="0; url={there}"><a href="{there}">{new}</a>'
            (out / f"{old}.html").write_text(f"<!DOCTYPE html>{leads}\n", encoding="utf-8")

    app.connect("source-read", _unreleased)  # type: ignore[attr-defined]
    app.connect("doctree-resolved", _numbers_right)  # type: ignore[attr-defined]
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))  # type: ignore[attr-defined]
    app.connect("build-finished", written)  # type: ignore[attr-defined]
