"""XML elements with their lines, read without the dangers of XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from xml.parsers import expat

from gossamer.errors import FileFormatError
from gossamer.reading.files import XML_PIECES, check_pieces, file_name, guarded, read_bytes

__all__ = ["Element", "check_xml", "read_xml"]

_DEEPEST = 200
Look = Callable[[str, dict[str, str], str], None]


@dataclass
class Element:
    """An element: its name, attributes, line, and the elements in it."""

    name: str
    attributes: dict[str, str]
    line: int
    inner: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Yield the elements of a name that stand directly in this one."""
        return (element for element in self.inner if element.name == name)


def read_xml(path: str | PathLike[str], kind: str) -> Element:
    """Return the outermost element of a file.

    Raises
    ------
    FileFormatError
        If the file is no XML, which it is said to be by `kind`, declares entities or is nested over 200 deep.
    """
    found = Element("", {}, 0)
    _parse(path, kind, found)
    return found.inner[0]


def check_xml(path: str | PathLike[str], kind: str, look: Look | None = None) -> None:
    """Refuse what `read_xml` refuses, and keep nothing; `look` is shown each element's name, attributes and place."""
    _parse(path, kind, None, look)


def _parse(path: str | PathLike[str], kind: str, root: Element | None, look: Look | None = None) -> None:
    parser = expat.ParserCreate()
    name = f"{kind} {file_name(path)}"
    depth = 0
    open_ones = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise FileFormatError(f"{name}, line {parser.CurrentLineNumber}: elements are over {_DEEPEST} deep")
        if look is not None:
            look(tag, attributes, f"{name}, line {parser.CurrentLineNumber}")
        outer = open_ones[-1]
        if outer is not None:
            open_ones.append(Element(tag, attributes, parser.CurrentLineNumber))
            outer.inner.append(open_ones[-1])  # type: ignore[arg-type]  # it is one

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        if root is not None:
            open_ones.pop()

    def entity(*about: object) -> None:
        raise FileFormatError(f"{name}, line {parser.CurrentLineNumber}: entities are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    data = read_bytes(path)
    check_pieces(path, data, XML_PIECES)
    with guarded(path):
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise FileFormatError(
                f"{name}, line {error.lineno}: not a {kind} ({expat.ErrorString(error.code)})"
            ) from None
        except LookupError:
            raise FileFormatError(f"{name}: its encoding is unknown; UTF-8 is read everywhere") from None
