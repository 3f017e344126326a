"""Imports only point down: lazy ones, and modules that are named in texts, too."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gossamer"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
MODULE = re.compile(r"gossamer(\.\w+)+(:\w+)?")
LEVEL = {name.strip(): level for level, names in enumerate(LAYERS) for name in names.split("|")}


def package(name):
    """Return the package or module below gossamer in which a module stands."""
    return ".".join(name.split(".")[:2])


def named(tree):
    """Yield the names of modules that a module imports or names in a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            yield node.value


def arrows_up(source=SOURCE):
    """Return the modules that name something in a higher layer, and what."""
    found = []
    for file in sorted(source.rglob("*.py")):
        parts = ("gossamer", *file.relative_to(source).with_suffix("").parts)
        here = package(".".join(parts).removesuffix(".__init__"))
        for name in named(ast.parse(file.read_text(encoding="utf-8"))):
            higher = here in LEVEL and LEVEL.get(package(name), len(LAYERS)) < LEVEL[here]
            found += [(".".join(parts), name)] if higher else []
    return found


def test_every_package_has_a_layer():
    assert {f"gossamer.{p.stem}" for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()} == {
        *LEVEL, "gossamer.__init__", "gossamer.__main__", "gossamer.version",
    }  # fmt: skip


def test_no_module_names_one_of_a_higher_layer():
    assert arrows_up() == []


def test_an_arrow_up_in_a_text_is_found(tmp_path):
    (tmp_path / "errors.py").write_text('"""Text."""\nHOME = "gossamer.plots.notebooks"\n', encoding="utf-8")
    assert arrows_up(tmp_path) == [("gossamer.errors", "gossamer.plots.notebooks")]


PAGE = (ROOT / "docs" / "explanation" / "code_map.md").read_text(encoding="utf-8")


def test_the_page_of_the_code_shows_every_layer_in_order():
    plan = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    shown = [word for line in plan.splitlines() for word in line[:27].split() if f"gossamer.{word}" in LEVEL]
    assert sorted(set(shown)) == sorted(name.removeprefix("gossamer.") for name in LEVEL)
    first = list(dict.fromkeys(shown))
    assert [LEVEL[f"gossamer.{name}"] for name in first] == sorted(LEVEL.values())


def test_every_file_that_the_page_of_the_code_names_is_there():
    table = PAGE[PAGE.index("## To change what") :]
    named = {path for path in re.findall(r"`([\w/]+(?:\.py|/))`", table) if "/" in path}
    assert len(named) > 40
    assert [path for path in sorted(named) if not (SOURCE / path).exists()] in ([], ["cli/old_spellings.py"])
