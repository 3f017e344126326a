"""The rules of communication: ports, segments of messages, and buffers.

What a schedule costs stands in `gossamer.questions.costs`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from gossamer.errors import ModelError, nearest, shown
from gossamer.reading import choice, whole

if TYPE_CHECKING:
    from gossamer.networks.network import Network

__all__ = ["Occupancy", "Ports", "Rules", "port_model"]

Ports = Literal["all", "one", "one-send", "one-receive"]
_PORT_MODELS: dict[str, Ports] = {
    "all-port": "all",
    "one-port": "one",
    "one-port-send": "one-send",
    "one-port-receive": "one-receive",
    "multi-port": "all",
    "single-port": "one",
    "single": "one",
    "1-port": "one",
    "1": "one",
}
"""What the port models of the literature are called: their own words first, then other words for them."""
Occupancy = Literal["transit", "all"]


def port_model(value: Any) -> Ports:
    """Return the port model that a word names, as `Rules` keeps it.

    Raises `ModelError` if it names none.

    >>> port_model("all-port"), port_model("one_port"), port_model(1), port_model("one-send")
    ('all', 'one', 'one', 'one-send')
    """
    word = str(value) if type(value) is int and value == 1 else value
    if isinstance(word, str):
        folded = re.sub(r"[\s_]+", "-", word.strip().lower())
        word = _PORT_MODELS.get(folded, folded)
        for known in get_args(Ports):
            if word == known:
                return cast(Ports, known)
    allowed = ("all-port", "one-port", "one-port-send", "one-port-receive")
    hint = nearest(value, allowed) if isinstance(value, str) else ""
    listed = " or ".join(", ".join(map(repr, allowed)).rsplit(", ", 1))
    raise ModelError(f"ports must be {listed}, got {shown(value)}{hint}")


@dataclass(frozen=True)
class Rules:
    """The rules under which a schedule must be valid; store-and-forward on full-duplex links.

    Attributes
    ----------
    ports : {"all", "one", "one-send", "one-receive"}
        all-port: a node may use every link at once; one-port: it sends at most one packet and receives at most one per
        slot; one-port-send: it sends at most one and receives on all links (free reception, Dimakopoulos 1996, chapter
        6); one-port-receive, the time reversal of that: it receives at most one and sends on all links. The words
        ``"all-port"``, ``"one-port"``, ``1`` and the like are accepted, and kept as ``"all"``, ``"one"``.
    segmented : bool
        Whether a message may be cut into segments, k segments taking 1/k step a hop each. ``split=`` is accepted for
        it, too.
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
    >>> Rules(ports="one-port").ports
    'one'
    """

    ports: Ports = "all"
    segmented: bool = False
    buffer: int | None = None
    buffer_counts: Occupancy = "transit"
    cut_through: bool = False
    replication: bool = True
    reduction: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "ports", port_model(self.ports))
        choice(self.buffer_counts, "buffer_counts", get_args(Occupancy))
        for name in ("segmented", "cut_through", "replication", "reduction"):
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

    @property
    def split(self) -> bool:
        """The name that `segmented` had before."""
        return self.segmented

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file, under the names that files have from of old."""
        return {"split" if name == "segmented" else name: value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Rules:
        """Return the rules that `to_dict` described."""
        return cls(**fields)


def _with_old_names(init: Callable[..., None]) -> Callable[..., None]:
    """Let the rules be made with ``split=`` for ``segmented=``."""

    @functools.wraps(init)
    def made(self: Rules, *given: Any, **fields: Any) -> None:
        if "split" in fields:
            fields["segmented"] = fields.pop("split")
        init(self, *given, **fields)

    return made


Rules.__init__ = _with_old_names(Rules.__init__)  # type: ignore[method-assign]
