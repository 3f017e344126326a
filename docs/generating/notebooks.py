"""Notebooks: their cells are run, what they show is kept in them, and a page is made of each.

A notebook is `examples/notebooks/NAME.ipynb`; its page is `docs/notebooks/NAME.md`. No kernel is needed: cells run
here, in order, as in Jupyter, and the value of a last line is shown as text, or as the picture that it draws.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["carried_out", "made", "notebooks", "page_of"]

FOLDER = "examples/notebooks"


def notebooks(root: Path) -> list[Path]:
    """Return the notebooks that there are."""
    return sorted((root / FOLDER).glob("*.ipynb"))


def carried_out(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs that its cells have when they are run in order, in an empty folder."""
    names: dict[str, Any] = {"__name__": "notebook"}
    cells = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        count = 0
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell = {
                    **cell,
                    "execution_count": count,
                    "outputs": list(_outputs("".join(cell["source"]), names, count)),
                }
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Run one cell; yield what it prints and what its last line is."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
    if value is not None:
        yield {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": _shown(value)}


def _shown(value: Any) -> dict[str, Any]:
    """Return what a notebook shows of a value: a picture of a figure, else text."""
    if hasattr(value, "savefig"):
        from gossamer.plots.appearance import dressed, rounded, settings

        drawing = io.BytesIO()
        with settings():
            value.savefig(drawing, format="svg", metadata={"Date": None})
        svg = dressed(rounded(drawing.getvalue().decode()))
        return {"image/svg+xml": svg.splitlines(keepends=True), "text/plain": ["<Figure>"]}
    return {"text/plain": repr(value).splitlines(keepends=True)}


def page_of(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """Return the page of a notebook that was carried out, in Markdown, and its pictures by file name."""
    parts, pictures = [f"<!-- made by docs/generate.py from {FOLDER}/{name}.ipynb; do not edit -->"], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            if "image/svg+xml" in data:
                file = f"notebook_{name}_{cell['execution_count']}.svg"
                pictures[file] = "".join(data["image/svg+xml"]).encode()
                parts.append(f"![What the cell above draws](../_static/{file})")
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    parts.append(f"This page is the notebook `{FOLDER}/{name}.ipynb`.")
    return "\n\n".join(parts) + "\n", pictures


def made(text: str, name: str) -> dict[str, bytes]:
    """Return the files of a notebook: itself with its outputs, its page and its pictures."""
    os.environ["MPLBACKEND"] = "agg"
    notebook = carried_out(json.loads(text))
    page, pictures = page_of(notebook, name)
    return {
        f"{FOLDER}/{name}.ipynb": (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode(),
        f"docs/notebooks/{name}.md": page.encode(),
        **{f"docs/_static/{file}": data for file, data in pictures.items()},
    }
