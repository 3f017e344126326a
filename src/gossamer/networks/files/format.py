"""What a format of network files declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gossamer.networks import spec_parameters
from gossamer.networks.family import Form
from gossamer.networks.network import Network

__all__ = ["NetworkFormat"]


@dataclass(frozen=True)
class NetworkFormat:
    """A format of network files.

    Attributes
    ----------
    name : str
        What stands before the colon of a spec that names the file and its format.
    summary : str
        One line.
    source : str
        Where the format is defined.
    suffixes : tuple of str
        Suffixes of files that are of this format.
    read : callable, optional
        Returns the network of a file.
    write : callable, optional
        Writes a network to a file; the path is one that `whole_file` gives.
    recognizes : callable
        Whether a text file of a suffix that says little, such as ``.txt``, begins as those of the format do.
    form : callable
        Reads what stands behind the colon of a spec.
    parameters : str
        What stands behind the colon, in words.
    aliases : tuple of str
        Other names.
    """

    name: str
    summary: str
    source: str
    suffixes: tuple[str, ...] = ()
    read: Callable[..., Network] | None = None
    write: Callable[[Network, Path], None] | None = None
    recognizes: Callable[[str], bool] = lambda text: False
    form: Form = spec_parameters.path
    parameters: str = "PATH"
    aliases: tuple[str, ...] = ()
