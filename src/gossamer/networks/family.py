"""What a family of networks declares beside the function that builds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from gossamer.errors import NetworkError, shown
from gossamer.networks.network import MAX_LINKS, Network
from gossamer.reading import whole


class Size(NamedTuple):
    """How many nodes and directed links a network has."""

    nodes: int
    links: int


@dataclass(frozen=True)
class Family:
    """A family of networks: how its specs are read, how large its members are, and how they are built.

    Attributes
    ----------
    name : str
        What stands before the colon.
    function : callable
        Builds the network from the parameters, in the order of the text.
    size : callable
        Takes the same parameters (for a network among them its `Size`), refuses what `function` refuses of them, and
        returns the `Size` of the network by arithmetic: nothing is built.
    form : callable
        Reads the text after the colon: one of `gossamer.networks.spec_parameters`, or the family's own.
    parameters : str
        The text after the colon, in words.
    summary : str
        One line.
    example : str
        A canonical spec.
    source : str
        Where the family is defined.
    small : tuple of str
        Canonical specs of small members, the smallest included, on which the battery tries every algorithm. Families
        that read a file have none.
    aliases : tuple of str
        Other names that the parser accepts.
    reads_file : bool
        Whether a spec of the family names a file.
    machine : bool
        Whether its members are machines that are built, with published speeds.
    bare : bool
        Whether the name alone is a spec: every parameter has a default.
    """

    name: str
    function: Callable[..., Network]
    size: Callable[..., Size]
    form: Form
    parameters: str
    summary: str
    example: str
    source: str
    small: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    reads_file: bool = False
    machine: bool = False
    bare: bool = False

    @property
    def kind(self) -> str:
        """The heading under which it is listed: families, machines or files."""
        return "files" if self.reads_file else "machines" if self.machine else "families"

    def usage(self) -> str:
        """Return the clause that ends a message about a malformed spec."""
        alone = f"{self.name} or " if self.bare else ""
        return f"the form is {alone}{self.name}:{self.parameters}"


Form = Callable[[Family, str], list[object]]
"""Reads the text after the colon: the family (for its messages) and the text give the arguments of its function."""


# Checks of the numbers that describe a network, made before anything is allocated.

MAX_CAPACITY = 2**31 - 1
"""The largest capacity of a link, in packets per slot."""


def whole_number(value: object, family: str, name: str, low: int = 1, high: int = MAX_LINKS) -> int:
    """Return `value` as an int if it is an integer of low..high.

    Raises `NetworkError`: naming the family, the parameter, the value given and the range allowed.

    >>> whole_number(0, "ring", "n")
    Traceback (most recent call last):
    gossamer.errors.NetworkError: ring: n must be a whole number of at least 1, got 0
    """
    number = whole(value, f"{family}: {name}", low, None if high == MAX_LINKS else high, error=NetworkError)
    if number > high:
        raise NetworkError(f"{family}: {name} must be at most {high}, got {shown(number)}")
    return number


def checked_size(family: str, nodes: int, links: int) -> Size:
    """Return the size of a network, if it has at most MAX_LINKS links.

    Raises `NetworkError` if it has more.

    >>> checked_size("complete", 4, 12)
    Size(nodes=4, links=12)
    >>> checked_size("complete", 31623, 31623 * 31622)
    Traceback (most recent call last):
    gossamer.errors.NetworkError: complete: the network would have 999982506 links; at most 400000000 are allowed
    """
    if links > MAX_LINKS:
        many = str(links) if links < 10**18 else "more than 10^18"
        raise NetworkError(f"{family}: the network would have {many} links; at most {MAX_LINKS} are allowed")
    return Size(nodes, links)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether a value is a sequence, but no text."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def one_or_each(
    family: str, given: object, count: int, each: str, name: str = "capacity", low: int = 1
) -> tuple[int, ...]:
    """Return what is said of so many kinds of links by one number for all or by one for each.

    >>> one_or_each("hyperx", 2, 3, "side"), one_or_each("hyperx", (1, 2), 2, "side")
    ((2, 2, 2), (1, 2))
    """
    several = tuple(given) if is_list(given) else (given,)
    numbers = tuple(whole_number(x, family, f"a {name}", low, MAX_CAPACITY) for x in several)
    if len(numbers) not in (1, count):
        raise NetworkError(f"{family}: {name} needs 1 number or {count}, one for each {each}, got {len(numbers)}")
    return numbers * (count // len(numbers))


def fractional_capacity(given: object) -> str:
    """Return the message about a capacity that is no whole number, with what to do about it.

    >>> fractional_capacity(2.5)
    'capacity must be a whole number, got 2.5; multiply all capacities by one factor that makes them whole, such as 10'
    """
    remedy = "multiply all capacities by one factor that makes them whole, such as 10"
    return f"capacity must be a whole number, got {shown(given)}; {remedy}"
