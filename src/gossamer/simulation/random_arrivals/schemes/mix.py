"""The traffic beside broadcasts, as a command or a study names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.errors import ModelError, nearest
from gossamer.reading import number, whole
from gossamer.reading import seed as read_seed
from gossamer.simulation.random_arrivals.traffic import KINDS

if TYPE_CHECKING:
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["Mix"]


@dataclass(frozen=True)
class Mix:
    """What requests there are, and which of them are urgent; see `gossamer.simulation.random_arrivals.schemes.mixed`.

    Attributes
    ----------
    traffic : str
        What is requested, in shares of the requests: broadcast:1,unicast:9,multicast:2. Default broadcast:1.
    unicasts_to : str
        Where unicasts go: to any other node, or by a pattern such as transpose. Default any.
    set_size : int
        Nodes to which a multicast goes.
    order : str
        Kinds of traffic from the most urgent on, such as unicast,broadcast; by default none goes before another.
    ways : int
        Shortest paths for each pair of nodes, among which a unicast draws.
    seed : int
        Of the paths, the sets and a random pattern.

    Raises
    ------
    ModelError
        If a value is illegal.

    Examples
    --------
    >>> Mix("broadcast:1,unicast:3").shares
    {'broadcast': 1.0, 'unicast': 3.0}
    >>> Mix("brodcast:1")
    Traceback (most recent call last):
    gossamer.errors.ModelError: traffic 'brodcast:1': no kind is called 'brodcast' (did you mean 'broadcast'?); there \
is broadcast, unicast, multicast
    """

    traffic: str = "broadcast:1"
    unicasts_to: str = "any"
    set_size: int = 4
    order: str = ""
    ways: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.set_size, "set_size", 1)
        whole(self.ways, "ways", 1, 1000)
        read_seed(self.seed)
        shares = self.shares
        for name in self.kinds_in_order:
            if not shares.get(name):
                raise ModelError(f"order {self.order!r}: the traffic {self.traffic!r} has no {name}")
        if self.unicasts_to != "any" and not shares.get("unicast"):
            raise ModelError(f"the traffic {self.traffic!r} has no unicasts that could go by {self.unicasts_to!r}")

    @property
    def shares(self) -> dict[str, float]:
        """Share of each kind."""
        found: dict[str, float] = {}
        for word in self.traffic.split(","):
            name, _, share = (part.strip() for part in word.partition(":"))
            self._known(name, f"traffic {self.traffic!r}")
            if name in found:
                raise ModelError(f"traffic {self.traffic!r}: {name} is there twice")
            try:
                found[name] = number(float(share or "1"), f"the share of {name}", 0, 10**9)
            except ValueError:
                raise ModelError(
                    f"traffic {self.traffic!r}: the share of {name} must be a number, got {share!r}"
                ) from None
        if not any(found.values()):
            raise ModelError(f"traffic {self.traffic!r}: some share must be above 0")
        return found

    @property
    def kinds_in_order(self) -> tuple[str, ...]:
        """The kinds that go before others."""
        names = tuple(name.strip() for name in self.order.split(",") if name.strip())
        for name in names:
            self._known(name, f"order {self.order!r}")
        if len(set(names)) < len(names):
            raise ModelError(f"order {self.order!r}: a kind is there twice")
        return names

    @staticmethod
    def _known(name: str, where: str) -> None:
        if name not in KINDS:
            hint = nearest(name, KINDS)
            raise ModelError(f"{where}: no kind is called {name!r}{hint}; there is {', '.join(KINDS)}")

    def of(self, scheme: Scheme) -> Scheme:
        """Return the scheme with this traffic; one of broadcasts alone stays as it is."""
        from gossamer.questions.tasks.patterns import pattern
        from gossamer.simulation.random_arrivals.schemes.mixed import mixed

        shares = {name: share for name, share in self.shares.items() if share}
        if set(shares) == {"broadcast"}:
            return scheme
        destination = None
        if self.unicasts_to != "any":
            destination = pattern(self.unicasts_to, scheme.network, seed=self.seed)
            own = [v for v in scheme.source_nodes.tolist() if destination[v] not in (-1, v)]
            if own and set(shares) == {"unicast"}:  # the others send nothing at all
                scheme = scheme.restricted(own)
        return mixed(
            scheme, shares, destination=destination, size=self.set_size, order=self.kinds_in_order, ways=self.ways,
            seed=self.seed,
        )  # fmt: skip
