"""The rules of communication: ports, splitting and buffers. What a schedule costs stands in `gossamer.costs`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from gossamer.errors import ModelError, shown
from gossamer.reading import choice, whole

__all__ = ["Occupancy", "Ports", "Rules"]

Ports = Literal["all", "one", "one-send", "one-receive"]
Occupancy = Literal["transit", "all"]


@dataclass(frozen=True)
class Rules:
    """The rules under which a schedule must be valid; store-and-forward on full-duplex links.

    Attributes
    ----------
    ports : {"all", "one", "one-send", "one-receive"}
        ``all``: a node may use every link at once. ``one``: it sends at most one packet and receives at most one per
        slot. ``one-send``: it sends at most one and receives on all links (free reception, Dimakopoulos 1996, chapter
        6). ``one-receive``, what becomes of that when time runs backwards: it receives at most one and sends on all.
    split : bool
        Whether a message may be cut into parts, k parts taking 1/k step a hop each.
    buffer : int or None
        Largest number of packets a node may hold at a slot boundary, None for no limit.
    buffer_counts : {"transit", "all"}
        What the limit counts: packets on their way through the node, or everything it holds, with its own and the
        delivered packets (Han 1990).

    Examples
    --------
    >>> Rules(ports="one").ports
    'one'
    """

    ports: Ports = "all"
    split: bool = False
    buffer: int | None = None
    buffer_counts: Occupancy = "transit"

    def __post_init__(self) -> None:
        choice(self.ports, "ports", get_args(Ports))
        choice(self.buffer_counts, "buffer_counts", get_args(Occupancy))
        if not isinstance(self.split, bool):
            raise ModelError(f"split must be True or False, got {shown(self.split)}")
        if self.buffer is not None:
            allowed = f"None or a number of packets in 1..{2**31 - 1}"
            object.__setattr__(self, "buffer", whole(self.buffer, "buffer", 1, allowed=allowed))

    @property
    def send_limited(self) -> bool:
        """Whether a node sends at most one packet per slot."""
        return self.ports in ("one", "one-send")

    @property
    def receive_limited(self) -> bool:
        """Whether a node receives at most one packet per slot."""
        return self.ports in ("one", "one-receive")

    @property
    def dual(self) -> Rules:
        """The rules that a schedule obeys when it is run backwards.

        >>> Rules(ports="one-send").dual.ports
        'one-receive'
        """
        opposite: dict[Ports, Ports] = {"one-send": "one-receive", "one-receive": "one-send"}
        return replace(self, ports=opposite.get(self.ports, self.ports))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "ports": self.ports,
            "split": self.split,
            "buffer": self.buffer,
            "buffer_counts": self.buffer_counts,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Rules:
        """Return the rules that `to_dict` described."""
        return cls(**fields)
