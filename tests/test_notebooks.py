"""The notebooks show what they print, and their pages are made of them."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def runner():
    sys.path.insert(0, str(ROOT / "docs"))
    yield importlib.import_module("generating.notebooks")
    sys.path.remove(str(ROOT / "docs"))


def shown(notebook):
    """Return the texts that cells show; pictures as a word."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return ["".join(o["text"] if "text" in o else o["data"]["text/plain"]) for o in outputs]


def test_there_are_three_stories():
    assert [path.stem for path in NOTEBOOKS] == ["cluster", "figure", "library"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_print(path, runner):
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert shown(runner.carried_out(kept)) == shown(kept), "run python docs/generate.py"
    assert kept["nbformat"] == 4
    assert all(
        cell["outputs"] for cell in kept["cells"] if cell["cell_type"] == "code" and "print" in "".join(cell["source"])
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_of_a_notebook_has_its_words_and_pictures(path, runner):
    page, pictures = runner.page_of(json.loads(path.read_text(encoding="utf-8")), path.stem)
    assert page == (ROOT / "docs" / "notebooks" / f"{path.stem}.md").read_text(encoding="utf-8")
    for name, data in pictures.items():
        assert data.startswith(b"<?xml")
        assert (ROOT / "docs" / "_static" / name).exists()
    assert len(re.findall(r"^# ", page, re.MULTILINE)) >= 1


def test_a_cell_that_fails_says_so(runner):
    cell = {"cell_type": "code", "source": ["1 / 0"]}
    with pytest.raises(ZeroDivisionError):
        runner.carried_out({"cells": [cell]})
