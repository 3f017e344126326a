"""A network from whatever names one: a spec, a graph, a file, or the network itself."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from gossamer.errors import NetworkError, shown
from gossamer.networks.conversion import from_networkx
from gossamer.networks.files import read_network, suffixes
from gossamer.networks.network import Network
from gossamer.networks.spec import names_family, network

__all__ = ["as_network"]


def as_network(value: object) -> Network:
    """Return the network that somebody means.

    Parameters
    ----------
    value : Network, str, path or NetworkX graph
        A network; a spec such as ``torus:8x8``; the path of a file that `read_network` reads (a text is a path if it
        ends in one of the suffixes and names no family); a graph, undirected or directed, parallel edges or not.

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
        is_path = Path(value).suffix.lower() in suffixes() and not names_family(value)
        return read_network(value) if is_path else network(value)
    if isinstance(value, PathLike):
        return read_network(value)
    if hasattr(value, "adjacency") and hasattr(value, "is_directed"):
        return from_networkx(value)
    raise NetworkError(
        "a network is a spec such as 'torus:8x8', a Network, a NetworkX graph or the path of a graph file, "
        f"got {shown(value)}"
    )
