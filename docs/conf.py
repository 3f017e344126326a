"""Configuration of the documentation; build it with ``sphinx-build -W --keep-going docs docs/_build/html``."""

from __future__ import annotations

import sys
from pathlib import Path

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

myst_enable_extensions = ["colon_fence", "deflist"]
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


FOLDERS = ("tutorials", "how_to", "reference", "explanation", "papers")
"""Pages in them once stood one folder up, those of papers as ``reproduce_<paper>``: old addresses lead to them."""


def moved() -> dict[str, str]:
    """Return where each page at an old address is now."""
    docs = Path(__file__).parent
    pages = [page.relative_to(docs).with_suffix("") for folder in FOLDERS for page in (docs / folder).glob("*.md")]
    return {
        ("reproduce_" if page.parts[0] == "papers" else "") + page.name: page.as_posix()
        for page in pages
        if page.name != "index"
    }


def setup(app: object) -> None:
    """Write the page of the explorer that the docs show, of the code as it is, and pages at old addresses."""

    def written(app: object, failed: Exception | None) -> None:
        import gossamer
        from gossamer.explorer import explore

        if failed is not None or app.builder.format != "html":  # type: ignore[attr-defined]
            return
        out = Path(app.outdir)  # type: ignore[attr-defined]
        explore(gossamer.plan("torus:8x8", "allgather"), out / "_static" / "explorer.html")
        for old, new in moved().items():
            leads = f'<meta http-equiv="refresh" content="0; url={new}.html"><a href="{new}.html">{new}</a>'
            (out / f"{old}.html").write_text(f"<!DOCTYPE html>{leads}\n", encoding="utf-8")

    app.connect("build-finished", written)  # type: ignore[attr-defined]
