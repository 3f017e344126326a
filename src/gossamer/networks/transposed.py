"""The transposed network, as a spec: the schedules of dual tasks are made on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gossamer.errors import NetworkError
from gossamer.networks import forms
from gossamer.networks.family import Family
from gossamer.networks.network import Network

__all__ = ["TRANSPOSED", "transposed"]

_One = TypeVar("_One")


def transposed(*network: Network) -> Network:
    """Return `Network.transposed`: the network with every link turned round.

    Parameters
    ----------
    network : Network
        One network. Where every link has an opposite, the network itself is returned.

    Returns
    -------
    Network
        Spec ``transposed:(SPEC)``.

    Raises
    ------
    NetworkError
        If there is not exactly one network.

    Examples
    --------
    >>> from gossamer.networks import de_bruijn
    >>> transposed(de_bruijn(2, 2)).link_target.tolist()
    [2, 0, 2, 1, 3, 1]
    """
    return _single(network).transposed


def _single(given: Sequence[_One]) -> _One:
    if len(given) != 1:
        raise NetworkError(f"transposed: one network is turned round, got {len(given)}; the form is transposed:(SPEC)")
    return given[0]


TRANSPOSED = Family(
    name="transposed",
    function=transposed,
    size=lambda *size: _single(size),
    form=forms.factors,
    parameters="(SPEC)",
    summary="a network with every link turned round; itself where every link has an opposite",
    example="transposed:(kautz:2,3)",
    source="reverse of a directed graph",
    small=("transposed:(de-bruijn:2,3)",),
)
