"""What a family of networks declares beside the function that builds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gossamer.networks.network import Network

__all__ = ["Family", "Form", "Size"]


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
        Reads the text after the colon: one of `gossamer.networks.forms`, or the family's own.
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

    def usage(self) -> str:
        """Return the clause that ends a message about a malformed spec."""
        return f"the form is {self.name}:{self.parameters}"


Form = Callable[[Family, str], list[object]]
"""Reads the text after the colon: the family (for its messages) and the text give the arguments of its function."""
