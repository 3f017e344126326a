"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format and the proofs are on the page "Certificates" of the documentation of gossamer.

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


class Refused(Exception):
    """The certificate is malformed, or something that it says is not true."""


@dataclass
class Shared:
    """A port that several links share: at most `capacity` packets at once, each for `occupancy` slots."""

    links: list[int]
    capacity: int
    occupancy: int
    receiving: bool  # a packet is in the port in the last slots of its hop, not in the first ones


@dataclass
class Rules:
    """What nodes may do; None is no limit."""

    send: int | None  # packets that a node (rank or switch) sends at once: 1
    receive: int | None
    cut_through: bool  # switches pass a packet on once its head is there
    switches_copy: bool  # switches may send several copies of what came once
    switches_add: bool  # switches may add partial sums
    buffer: int | None
    buffer_counts: str  # "transit": packets on their way through a node; "all": its own and delivered ones, too


@dataclass
class Group:
    """Automorphisms of the network that move every node, but for the identity."""

    order: int
    orbit: list[int]  # of each node: the lowest node of its orbit
    link_orbit: list[int]  # of each link: the lowest link of its orbit


@dataclass
class Net:
    """A directed network: nodes 0..ranks-1 are ranks, the others switches; lists have an entry for each link.

    A packet that enters a link in slot t occupies a place of the link in slots t..t+occupancy-1 and is usable at its
    target from slot t + occupancy + latency on.
    """

    nodes: int
    ranks: int
    source: list[int]
    target: list[int]
    capacity: list[int]
    occupancy: list[int]
    latency: list[int]
    shared: list[Shared]
    rules: Rules
    group: Group | None = None


@dataclass
class Item:
    """What must be communicated; with a group, the item and all its images.

    copy: `packets` packets, which each of `sources` has, must come to all `targets`. sum: each of `sources` has
    `packets` packets, of which the sums, packet by packet, must come to all `targets`.
    """

    kind: str  # "copy" or "sum"
    sources: list[int]
    targets: list[int]
    packets: int


# The values of a file. ---------------------------------------------------------------------------------------------


def whole(value: object, what: str, low: int = 0, high: int = 10**15) -> int:
    """Return a whole number of a file, or refuse it."""
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"{what} must be a whole number in {low}..{high}")
    return value


def wholes(value: object, what: str, low: int = 0, high: int = 10**15, size: int | None = None) -> list[int]:
    """Return a list of whole numbers of a file, of `size` numbers if that is given, or refuse it."""
    if type(value) is not list or (size is not None and len(value) != size):
        raise Refused(f"{what} must be a list" + ("" if size is None else f" of {size} numbers"))
    for number in value:
        if type(number) is not int or not low <= number <= high:
            raise Refused(f"{what} must have whole numbers in {low}..{high}")
    return value


def ratio(value: object, what: str, low: Fraction | int = 0) -> Fraction:
    """Return a fraction of a file, a text such as "35/2" or a whole number, or refuse it."""
    raise NotImplementedError


def fields(value: object, what: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict:
    """Return an object of a file that has all `needed` keys and no others but the `optional` ones, or refuse it."""
    raise NotImplementedError


# The lower bound. ----------------------------------------------------------------------------------------------------


def lower_bound(net: Net, items: list[Item], witness: object) -> tuple[Fraction, str]:
    """Return a number of slots below which nothing is done, counted from a witness, and for which schedules."""
    raise NotImplementedError
