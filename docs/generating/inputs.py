"""What an output depends on: what the modules say that it reaches by imports, and how the output is made.

A module says what is left of it without comments, layout and docstrings; a piece that shows docstrings asks for them.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MAKERS = Path(__file__).parent
PACKAGE = "gossamer"


def digest(data: bytes) -> str:
    """Return a short hash of some bytes."""
    return hashlib.sha256(data).hexdigest()[:20]


class Inputs:
    """The modules of the package and those that make pages, what each imports, and hashes of what they say.

    An import counts wherever it stands, in functions too, and so does a text that is the name of a module. What the
    package itself offers by name is not imported by its own modules; a test holds them to that.
    """

    def __init__(self, source: Path = SOURCE, makers: Path = MAKERS) -> None:
        files = sorted((source / PACKAGE).rglob("*.py"))
        self.modules = {".".join(_parts(f.relative_to(source))): f for f in files}
        """The modules of the package, by name."""
        self._files = self.modules | {f"{makers.name}.{f.stem}": f for f in makers.glob("*.py")}
        self._trees: dict[str, ast.Module] = {}
        self._said: dict[tuple[str, bool], str] = {}
        self._imports: dict[str, set[str]] = {}

    def digest(
        self, entries: Iterable[str], alone: Iterable[str] = (), without: Iterable[str] = (), words: bool = False
    ) -> str:
        """Return a hash of all modules that `entries` reach but through those `without`, and of those that stand alone.

        With `words` their docstrings count as well.
        """
        read = sorted({*self.reached(entries, without), *(name for name in alone if name in self._files)})
        return digest("\0".join(f"{name}\0{self._says(name, words)}" for name in read).encode())

    def reached(self, entries: Iterable[str], without: Iterable[str] = ()) -> list[str]:
        """Return the modules that `entries` import, directly or not, with themselves and the packages around them."""
        found: set[str] = set()
        passed_over = set(without)
        left = [name for name in entries if name in self._files]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self._imported(name) - passed_over
        return sorted(found)

    def _tree(self, name: str) -> ast.Module:
        if name not in self._trees:
            self._trees[name] = ast.parse(self._files[name].read_bytes())
        return self._trees[name]

    def _says(self, name: str, words: bool) -> str:
        if (name, words) not in self._said:
            tree = self._tree(name)
            self._said[name, words] = digest(
                ast.dump(tree if words else _Wordless().visit(copy.deepcopy(tree))).encode()
            )
        return self._said[name, words]

    def _imported(self, name: str) -> set[str]:
        if name not in self._imports:
            named = {name.rpartition(".")[0], *_named(self._tree(name), texts=name in self.modules and name != PACKAGE)}
            # what makes a page is reached from what makes a page only, and names what it shows as entries of its own
            known = self.modules if name in self.modules else self._files.keys() - self.modules.keys()
            self._imports[name] = {module for module in named if module in known}
        return self._imports[name]


class _Wordless(ast.NodeTransformer):
    """Takes docstrings out of a tree, those behind assignments too."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | ast.Pass:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return ast.Pass() if text else node


def _parts(file: Path) -> tuple[str, ...]:
    return file.parts[:-1] if file.name == "__init__.py" else file.with_suffix("").parts


def _named(node: ast.AST, texts: bool) -> Iterator[str]:
    """Yield the names that may be modules: what is imported, but not only for types, and the texts if asked for."""
    below: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        below = node.orelse
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif texts and isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in below:
        yield from _named(child, texts)
