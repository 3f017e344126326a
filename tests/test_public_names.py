"""What `import gossamer` gives: every public name and every package, none of them imported before it is used."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gossamer

HEAVY = ("matplotlib", "networkx", "numba", "numpy", "pyarrow", "scipy", "typer")
INDEX = Path(__file__).parents[1] / "docs" / "api" / "index.md"
FOLDER = Path(gossamer.__file__).parent
ROOMS = sorted(p.stem for p in FOLDER.iterdir() if not p.name.startswith("_") and (p.suffix == ".py" or p.is_dir()))


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_of_gossamer_imports_nothing_heavy():
    assert run(f"import gossamer, sys; dir(gossamer); print([m for m in {HEAVY!r} if m in sys.modules])") == "[]"


def test_packages_are_reached_after_import_of_gossamer_alone():
    assert {"bounds", "networks", "plots", "questions", "simulation", "wormhole"} <= set(ROOMS)
    found = run(f"import gossamer; print([getattr(gossamer, room).__name__ for room in {ROOMS!r}])")
    assert found == str([f"gossamer.{room}" for room in ROOMS])
    inner = ["execution.jax", "execution.machine_model_replay", "simulation.flits", "simulation.random_arrivals"]
    assert run(f"import gossamer; print(*[{', '.join(f'gossamer.{name}.__name__' for name in inner)}])").split() == [
        f"gossamer.{name}" for name in inner
    ]


def test_dir_lists_every_public_name_and_every_package():
    assert {*gossamer.__all__, *ROOMS} == set(dir(gossamer))
    assert all(getattr(gossamer, name) is not None for name in dir(gossamer))


def test_lower_bounds_is_the_function_and_bounds_the_package():
    assert gossamer.lower_bounds("ring:5", "broadcast")[0].value == 2
    assert gossamer.bounds.__name__ == "gossamer.bounds"


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="module 'gossamer' has no attribute 'plots2'"):
        gossamer.plots2  # noqa: B018


def test_the_index_of_the_python_reference_names_what_there_is():
    rows = [line.split("|")[1] for line in INDEX.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = {name.removeprefix("gossamer.") for row in rows for name in re.findall("`([^`]+)`", row)}
    inner = {name for name in named if "." in name}
    assert all(importlib.util.find_spec(f"gossamer.{name}") for name in inner)
    assert named - inner <= {*gossamer.__all__, *ROOMS}
    assert {name for name in gossamer.__all__ if name != "__version__"} <= named
