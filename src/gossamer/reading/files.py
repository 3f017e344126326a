"""Files, read with care: regular files only, nothing larger than what is there, one line for a fault, safe XML."""

from __future__ import annotations

import json
import math
import os
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat
from zlib import error as ZlibError  # noqa: N812

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, shown

_LEAST, _TIMES = 500_000_000, 20
"""Bytes that what a file holds may take: so many, or so many times its size."""
JSON_PIECES = {b"{": 70, b"[": 70, b":": 150, b",": 24}
XML_PIECES = {b"<": 300, b"=": 150}
"""Bytes that an object, a list, an entry and a place in one take when they are read; an element and an attribute."""


def file_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as messages print it: quoted, escaped and not too long."""
    return shown(os.fspath(path), 200)


@contextmanager
def guarded(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong while the block reads a file into one FileFormatError of one line.

    >>> with guarded("wrong.txt"):
    ...     raise ValueError("no number")
    Traceback (most recent call last):
    gossamer.errors.FileFormatError: cannot read 'wrong.txt': no number
    """
    name = file_name(path)
    try:
        yield
    except FileFormatError:
        raise
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name}") from None
    except MemoryError:
        raise FileFormatError(f"cannot read {name}: it holds more than fits in memory") from None
    except (OSError, ValueError, OverflowError, EOFError, ZlibError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise FileFormatError(f"cannot read {name}: {reason[:160]}") from None


def regular(path: str | os.PathLike[str]) -> os.stat_result:
    """Return what is known of a regular file; FileFormatError for a folder, a pipe or a device."""
    found = Path(path).stat()
    if not stat.S_ISREG(found.st_mode):
        what = "it is a folder" if stat.S_ISDIR(found.st_mode) else "it is no regular file"
        raise FileFormatError(f"cannot read {file_name(path)}: {what}")
    return found


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a regular file for reading bytes; whatever else it is, such as a pipe, would have no size and no end.

    >>> with opened("/dev/null") as file:
    ...     pass
    Traceback (most recent call last):
    gossamer.errors.FileFormatError: cannot read '/dev/null': it is no regular file
    """
    with guarded(path):
        regular(path)
        with Path(path).open("rb") as file:
            yield file


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return what a regular file holds; FileFormatError if it cannot be read."""
    with opened(path) as file:
        return file.read()


def read_text(path: str | os.PathLike[str], what: str = "text in UTF-8") -> str:
    """Return the text that a regular file holds; FileFormatError if it is not what it should be, or cannot be read."""
    return _decoded(path, read_bytes(path), what)


def _decoded(path: str | os.PathLike[str], data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{file_name(path)} is not {what}") from None


def check_pieces(path: str | os.PathLike[str], data: bytes, pieces: Mapping[bytes, int]) -> None:
    """Refuse what would take over 500 MB and 20 times its size once it is read, by counting what it is made of.

    >>> check_pieces("x.json", b"[" * 10_000_000, JSON_PIECES)
    Traceback (most recent call last):
    gossamer.errors.FileFormatError: 'x.json' would take about 720 MB, too much for its 10 MB: it is made of tiny pieces
    """
    size = len(data)
    taken = 2 * size + sum(data.count(piece) * weight for piece, weight in pieces.items())
    if taken > max(_LEAST, _TIMES * size):
        about = f"about {taken / 1e6:.0f} MB, too much for its {size / 1e6:.0f} MB"
        raise FileFormatError(f"{file_name(path)} would take {about}: it is made of tiny pieces")


def read_json(path: str | os.PathLike[str], pieces: Mapping[bytes, int] = JSON_PIECES) -> Any:
    """Return what a file of JSON holds; ValueError or RecursionError if it is none, FileFormatError if it is too large.

    `pieces` says how many bytes objects, lists, entries and places take, with what is made of them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.json"
    >>> _ = path.write_text('{"a": [1]}')
    >>> read_json(path)
    {'a': [1]}
    """
    data = read_bytes(path)
    check_pieces(path, data, pieces)
    return json.loads(data.decode("utf-8-sig"))


def text_lines(
    path: str | os.PathLike[str], what: str, comment: str = "#", pieces: Mapping[bytes, int] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that say something, with their numbers from 1, without comments.

    `path`: the file, in UTF-8. `what`: what the file should be, for the message if it is no text. `comment`: what
    starts a comment; with an empty text nothing does. `pieces`: what the file is made of and how many bytes each takes
    when it is read, as of `check_pieces`.
    """
    data = read_bytes(path)
    check_pieces(path, data, pieces or {})
    text = _decoded(path, data, what)
    del data
    at = end = 0
    while end < len(text):
        at, start = at + 1, end  # the end of each line is looked for in turn: a list of lines would be large
        end = (text.find("\n", start) + 1) or len(text)
        line = text[start:end]
        said = (line.partition(comment)[0] if comment else line).strip()
        if said:
            yield at, said


def read_array(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Return the array of numbers or booleans in a ``.npy`` file.

    Raises
    ------
    FileFormatError
        If the file is missing or is no such file, or is shorter than its header says; nothing is allocated before.
    """
    with opened(path) as file:
        _check_header(file, file_name(path))
        file.seek(0)
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def _check_header(file: BinaryIO, name: str) -> None:
    """Refuse a header that is strange, of a type other than numbers, or of a shape that the file does not hold."""
    prefix = file.read(len(np.lib.format.MAGIC_PREFIX))
    if prefix != np.lib.format.MAGIC_PREFIX:
        raise FileFormatError(f"{name} is not a .npy file")
    file.seek(0)
    version = np.lib.format.read_magic(file)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        raise FileFormatError(f"{name} is a .npy file of version {version[0]}.{version[1]}; 1.0 and 2.0 are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, _, dtype = headers[version](file)
    except Exception:  # a header is parsed as Python, so that any error of a parser can come out
        raise FileFormatError(f"{name} is a .npy file with a header that is damaged") from None
    if dtype.kind not in "iufcbSU":
        raise FileFormatError(f"{name} must hold an array of numbers, got {shown(str(dtype))}")
    if any(type(side) is not int for side in shape):  # True passes the parser
        raise FileFormatError(f"{name} is a .npy file with a header that is damaged")
    claimed = math.prod(shape) * dtype.itemsize
    left = os.fstat(file.fileno()).st_size - file.tell()
    if any(side < 0 for side in shape) or claimed > left:
        raise FileFormatError(f"{name} is cut short: its header says {shown(shape)}, {left:,} bytes follow")


# XML elements with their lines, read without the dangers of XML.

_DEEPEST = 200
Look = Callable[[str, dict[str, str], str], None]


@dataclass
class Element:
    """An element: its name, attributes, line, the elements in it, and the pieces of text between them."""

    name: str
    attributes: dict[str, str]
    line: int
    inner: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in it."""
        return "".join(self.pieces)

    def all(self, name: str) -> Iterator[Element]:
        """Yield the elements of a name that stand directly in this one."""
        return (element for element in self.inner if element.name == name)


def read_xml(path: str | os.PathLike[str], kind: str) -> Element:
    """Return the outermost element of a file.

    Raises `FileFormatError` if the file is no XML, which it is said to be by `kind`, declares entities or is nested
    over 200 deep.
    """
    found = Element("", {}, 0)
    _parse(path, kind, found)
    return found.inner[0]


def check_xml(path: str | os.PathLike[str], kind: str, look: Look | None = None) -> None:
    """Refuse what `read_xml` refuses, and keep nothing; `look` is shown each element's name, attributes and place."""
    _parse(path, kind, None, look)


def _parse(path: str | os.PathLike[str], kind: str, root: Element | None, look: Look | None = None) -> None:
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

    def text(data: str) -> None:
        outer = open_ones[-1]
        if outer is not None and data.strip():
            outer.pieces.append(data)

    def entity(*about: object) -> None:
        raise FileFormatError(f"{name}, line {parser.CurrentLineNumber}: entities are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    if root is not None:
        parser.buffer_text = True
        parser.CharacterDataHandler = text
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
