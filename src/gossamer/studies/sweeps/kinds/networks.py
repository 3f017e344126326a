"""The network of a point: built once for points that follow each other, measured, and estimated without building."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gossamer.errors import GossamerError
from gossamer.networks import as_network, network_size
from gossamer.networks.bottleneck import bottleneck
from gossamer.networks.failures import without
from gossamer.networks.family import Size
from gossamer.networks.network import Network
from gossamer.studies.sweeps.identity import file_contents

__all__ = ["asked_network", "measures", "size_of"]

_FAR = 200_000_000
"""Links looked at for the diameter and the bisection, at most."""


def asked_network(words: Mapping[str, Any]) -> Network:
    """Return the network of a point's words, less what fails."""
    given = words.get("without")
    failing = tuple([given] if isinstance(given, str) else given or ())
    files = tuple(sorted(file_contents({"network": words["network"]}).values()))
    return _built(words["network"], failing, int(words.get("seed", 0)) if failing else 0, files)


@functools.lru_cache(maxsize=4)
def _built(spec: str, failing: tuple[str, ...], seed: int, files: tuple[str, ...]) -> Network:
    return without(as_network(spec), failing, seed)


def measures(network: Network) -> dict[str, Any]:
    """Return what a network is in numbers: nodes, terminals, links, degree, diameter and bisection.

    The last two are left out of networks where they would take long. The bisection is the capacity of the narrowest cut
    that was found among those that leave a third of the terminals or more on each side.
    """
    found: dict[str, Any] = {
        "nodes": network.node_count,
        "terminals": network.terminal_count,
        "links": network.link_count,
        "degree": int(network.out_degree.max(initial=0)),
    }
    quick = network.grid is not None or network.group is not None
    if quick or network.node_count * network.link_count <= _FAR:
        found |= _distant(network)
    return found


@functools.lru_cache(maxsize=8)
def _distant(network: Network) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        found["diameter"] = network.diameter
    except GossamerError:
        return {}
    if network.link_count <= 100_000:
        cut = bottleneck(network)
        if cut is not None and cut.inside * 3 >= network.terminal_count:
            found["bisection"] = cut.capacity
    return found


@functools.lru_cache(maxsize=65536)
def size_of(network: str) -> Size | None:
    """Return the numbers of nodes and links of a network by arithmetic; None where only building would tell."""
    try:
        return network_size(network)
    except (GossamerError, OSError):
        return None
