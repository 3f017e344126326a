"""The import graph of an installed package: a real directed graph that needs no download."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

SKIPPED = {"test", "tests", "testing", "__pycache__"}


def import_graph(package: str) -> nx.DiGraph:
    """Return the graph with an edge from each module of `package` to each module of it that it imports.

    The files are parsed, not run. Test folders are left out. ValueError if there is no such package.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"no installed package {package!r}")
    root = Path(next(iter(spec.submodule_search_locations)))
    files = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        if not SKIPPED.intersection(parts):
            files[".".join((package, *parts)).removesuffix(".__init__")] = file
    graph = nx.DiGraph()
    graph.add_nodes_from(files)
    for module, file in files.items():
        for target in _imported(module, file):
            while target and target not in files:  # a name inside a module, or a module of another package
                target = target.rpartition(".")[0]
            if target and target != module:
                graph.add_edge(module, target)
    return graph


def _imported(module: str, file: Path) -> Iterator[str]:
    """Yield the full names that a module imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return
    home = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{name.name}" for name in node.names)
