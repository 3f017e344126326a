"""From a spec string such as ``torus:8x8`` to a network, or to its size alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from gossamer.atomic_files import memory_text
from gossamer.errors import NetworkError, TooLargeError, nearest, shown
from gossamer.networks.families import FAMILIES
from gossamer.networks.family import Family, Size
from gossamer.networks.files import read_network, suffixes
from gossamer.networks.network import Network
from gossamer.networks.networkx_conversion import from_networkx
from gossamer.networks.spec_parameters import Nested

MAX_DEPTH = 20
"""How deep products may be nested in a spec."""


def network(spec: str) -> Network:
    """Return the network that a spec string names.

    Parameters
    ----------
    spec : str
        ``family:parameters``, for instance ``torus:8x8``, ``extended-ring:14,2``, ``fat-tree:k=2,h=4``, ``dgx-h100:4``
        or ``product:(ring:5)x(complete:4)``; of some machines the name alone, ``nvl72``. Upper case, spaces,
        underscores in family names and commas between sides are accepted; the network's own `spec` is the canonical
        form and parses back to an equal network.

    Returns
    -------
    Network
        Of the family named.

    Raises
    ------
    NetworkError
        If the family is unknown, parameters are missing, superfluous or out of range, or the network is too large.
    TooLargeError
        If the links alone need more memory than is free.
    FileFormatError
        If the file of a spec such as ``edges:net.txt`` cannot be read.

    Notes
    -----
    Sizes are checked before anything is built. The families are listed in `gossamer.networks.FAMILIES`.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> parse("torus:4x4x4")
    <Network torus:4x4x4: 64 nodes, 384 links>
    >>> parse("tours:4x4")
    Traceback (most recent call last):
    gossamer.errors.NetworkError: unknown network family 'tours' (did you mean 'torus'?); a spec is family:parameters
    """
    text = _text(spec)
    if not reads_file(text):
        _check_memory(text)
    built: Network = _evaluate(text, lambda family: family.function, 0)
    return built


_MANY_LINKS, _LINK_BYTES = 10_000_000, 16
"""Links from which on memory is looked at first, and the bytes that one takes while a network is built."""


def _check_memory(spec: str) -> None:
    """Refuse a network whose links do not fit into the memory that is free, before it is built."""
    size: Size = _evaluate(spec, lambda family: family.size, 0)
    if size.links < _MANY_LINKS:
        return
    from gossamer.processes.memory import free_memory

    free = free_memory()
    if free is not None and size.links * _LINK_BYTES > free:
        need = f"{size.links:,} links need about {memory_text(size.links * _LINK_BYTES)}"
        raise TooLargeError(f"{spec}: its {need} of memory, and {memory_text(free)} are free")


def network_size(spec: str) -> Size:
    """Return how many nodes and links the network of a spec has, without building it.

    Parameters
    ----------
    spec : str
        As for `network`.

    Returns
    -------
    Size
        The numbers of nodes and of directed links.

    Raises
    ------
    NetworkError, FileFormatError
        As `network` does, too many links included. A product of networks with switches is refused only when built.

    Notes
    -----
    Arithmetic alone, but for the families that read a file.

    Examples
    --------
    >>> from gossamer.networks import network_size
    >>> network_size("torus:400x400x400")
    Size(nodes=64000000, links=384000000)
    """
    size: Size = _evaluate(_text(spec), lambda family: family.size, 0)
    return size


def _text(spec: str) -> str:
    if not isinstance(spec, str):
        raise NetworkError(f"a network spec is text such as 'torus:8x8', got {shown(spec)}")
    return spec


def _evaluate(text: str, question: Callable[[Family], Callable[..., Any]], depth: int) -> Any:
    """Put a question about a family, its function or its size, to every spec in the text, the inmost first."""
    name, colon, parameters = text.partition(":")
    family = _family(name, text)
    parameters = parameters.strip()
    if not (colon and parameters) and not family.bare:
        raise NetworkError(f"{family.name}: parameters are missing; {family.usage()}")
    arguments = family.form(family, parameters)
    if depth == MAX_DEPTH and any(isinstance(a, Nested) for a in arguments):
        raise NetworkError(f"{family.name}: products may be nested at most {MAX_DEPTH} deep")
    inner = [_evaluate(a, question, depth + 1) if isinstance(a, Nested) else a for a in arguments]
    return question(family)(*inner)


def names_family(text: str) -> bool:
    """Return whether a text begins with the name of a family and a colon, or is the name of a machine.

    >>> names_family("edges:networks/ring.txt"), names_family("networks/ring.txt"), names_family("nvl72")
    (True, False, True)
    """
    name, colon, _ = text.partition(":")
    family = _families().get(_key(name))
    return family is not None and (bool(colon) or family.machine)


def is_path(text: str) -> bool:
    """Return whether a text is the path of a file of links rather than a spec."""
    if names_family(text) or "\0" in text:
        return False
    if Path(text).suffix.lower() in suffixes():
        return True
    try:
        return Path(text).is_file()
    except OSError:
        return False


def reads_file(spec: str) -> bool:
    """Return whether a spec, or one inside it, is of a family that reads a file.

    >>> reads_file("product:(ring:5)x(Edges :net.txt)"), reads_file("ring:5")
    (True, False)
    """
    families = _families()
    names = (_key(name) for name in re.findall(r"([^:()]*):", spec))
    return any(name in families and families[name].reads_file for name in names)


def _key(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def _families() -> dict[str, Family]:
    return {name: family for family in FAMILIES for name in (family.name, *family.aliases)}


def _family(name: str, text: str) -> Family:
    names = _families()
    if _key(name) not in names:
        given = shown(name.strip()) if name.strip() else shown(text)
        if Path(text).suffix.lower() in (".parquet", ".toml", ".csv"):
            raise NetworkError(f"{shown(text)} is no network, nor a file of one; a network is such as torus:8x8")
        if re.search(r"[\w)]\.[A-Za-z]{2,8}$|/", text) and ":" not in text:
            raise NetworkError(f"no such file: {shown(text)}, and no network is called so")
        raise NetworkError(f"unknown network family {given}{nearest(_key(name), names)}; a spec is family:parameters")
    return names[_key(name)]


# A network from whatever names one: a spec, a graph, a file, or the network itself.


def as_network(value: object) -> Network:
    """Return the network that somebody means.

    Parameters
    ----------
    value : Network, str, path or NetworkX graph
        A network; a spec such as ``torus:8x8``, or the name of a machine such as ``nvl72``; the path of a file that
        `read_network` reads (a text that begins with no family is a path if there is such a file, or it ends in one of
        the suffixes); a graph, undirected or directed, parallel edges or not.

    Returns
    -------
    Network
        The value itself if it is a network.

    Raises
    ------
    NetworkError, FileFormatError
        If it is none of these, or cannot be read.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import as_network
    >>> as_network("torus:4x4"), as_network(nx.path_graph(3))
    (<Network torus:4x4: 16 nodes, 64 links>, <Network networkx graph: 3 nodes, 4 links>)
    """
    if isinstance(value, Network):
        return value
    if isinstance(value, str):
        return read_network(value) if is_path(value) else network(value)
    if isinstance(value, PathLike):
        return read_network(value)
    if hasattr(value, "adjacency") and hasattr(value, "is_directed"):
        return from_networkx(value)
    raise NetworkError(
        "a network is a spec such as 'torus:8x8', a Network, a NetworkX graph or the path of a graph file, "
        f"got {shown(value)}"
    )
