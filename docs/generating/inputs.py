"""What an output depends on: the modules that its module imports, directly or not, and how the output is made."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PACKAGE = "gossamer"


def digest(data: bytes) -> str:
    """Return a short hash of some bytes."""
    return hashlib.sha256(data).hexdigest()[:20]


class Inputs:
    """The modules of the package, what each of them imports, and hashes of what they say.

    An import counts wherever it stands, in functions too, and so does a text that is the name of a module. What the
    package itself offers by name is not imported by its own modules; a test holds them to that.
    """

    def __init__(self, source: Path = SOURCE, makers: Path = Path(__file__).parent) -> None:
        files = sorted((source / PACKAGE).rglob("*.py"))
        self.modules = {".".join(_parts(f.relative_to(source))): f for f in files}
        self._text = {name: file.read_bytes() for name, file in self.modules.items()}
        self._makers = b"\0".join(file.read_bytes() for file in sorted(makers.glob("*.py")))
        self._imports: dict[str, set[str]] = {}

    def digest(self, entries: Iterable[str], alone: Iterable[str] = ()) -> str:
        """Return a hash of all modules that `entries` reach, of those that stand alone, and of how pages are made."""
        read = sorted({*self.reached(entries), *alone})
        return digest(b"\0".join([self._makers, *(name.encode() + b"\0" + self._text[name] for name in read)]))

    def reached(self, entries: Iterable[str]) -> list[str]:
        """Return the modules that `entries` import, directly or not, with themselves and the packages around them."""
        found: set[str] = set()
        left = list(entries)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self._imported(name)
        return sorted(found)

    def _imported(self, name: str) -> set[str]:
        if name not in self._imports:
            named = {name.rpartition(".")[0], *_named(ast.parse(self._text[name]), texts=name != PACKAGE)}
            self._imports[name] = {module for module in named if module in self.modules}
        return self._imports[name]


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
