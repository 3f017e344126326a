"""The rules of communication: ports, splitting and buffers.

What a schedule costs stands in `gossamer.questions.costs`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from gossamer.errors import ModelError, shown
from gossamer.reading import choice, whole

if TYPE_CHECKING:
    from gossamer.networks.network import Network

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
    cut_through : bool
        Whether a packet may leave a switch in the slot in which it enters it. Its head must be there, and its tail
        must be able to follow; all links of the way are then taken together. Terminals, and switches otherwise,
        receive a packet whole before they send it on.
    replication : bool
        Whether switches may send several copies of a packet that they received once.
    reduction : bool
        Whether switches may combine contributions. Otherwise they pass partial results on one by one.

    Notes
    -----
    The last three concern the switches of a network, its nodes that are no terminals; `on` sets them to their defaults
    where it has none.

    Examples
    --------
    >>> Rules(ports="one").ports
    'one'
    """

    ports: Ports = "all"
    split: bool = False
    buffer: int | None = None
    buffer_counts: Occupancy = "transit"
    cut_through: bool = False
    replication: bool = True
    reduction: bool = False

    def __post_init__(self) -> None:
        choice(self.ports, "ports", get_args(Ports))
        choice(self.buffer_counts, "buffer_counts", get_args(Occupancy))
        for name in ("split", "cut_through", "replication", "reduction"):
            if not isinstance(getattr(self, name), bool):
                raise ModelError(f"{name} must be True or False, got {shown(getattr(self, name))}")
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
    def ports_text(self) -> str:
        """How many links a node uses at once, in the field's words.

        >>> Rules().ports_text, Rules(ports="one").ports_text, Rules(ports="one-send").ports_text
        ('all-port', 'one-port', 'one-port sending')
        """
        count, _, way = self.ports.partition("-")
        return f"{count}-port" + {"send": " sending", "receive": " receiving"}.get(way, "")

    @property
    def dual(self) -> Rules:
        """The rules that a schedule obeys when it is run backwards: copies become contributions.

        >>> Rules(ports="one-send").dual.ports
        'one-receive'
        """
        opposite: dict[Ports, Ports] = {"one-send": "one-receive", "one-receive": "one-send"}
        ports = opposite.get(self.ports, self.ports)
        return replace(self, ports=ports, replication=self.reduction, reduction=self.replication)

    def on(self, network: Network) -> Rules:
        """Return the rules with what they say of switches set to the defaults where the network has none.

        >>> import gossamer
        >>> Rules().dual.on(gossamer.network("ring:4")) == Rules()
        True
        """
        if network.terminal_count < network.node_count:
            return self
        default = Rules()
        return replace(
            self, cut_through=default.cut_through, replication=default.replication, reduction=default.reduction
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Rules:
        """Return the rules that `to_dict` described."""
        return cls(**fields)
