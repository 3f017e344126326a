"""A case for wormhole switching: a task on a network, its ports, and what the steps of its messages cost."""

from __future__ import annotations

from functools import cached_property

from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.schedules.wormhole.channels import Channels

__all__ = ["WormholeCase"]


class WormholeCase(Case):
    """What is asked of wormhole messages; immutable.

    Of the rules only the ports count: whether a node sends and receives on all its channels in a step, or on one.

    * `network` (Network): an array, a torus, or any network of at most 2,048 nodes.
    * `task` (Task): what must be communicated.
    * `cost` (LinearCost): what steps cost. Default: `LinearCost()`.
    * `rules` (Rules): the ports. Default: all.
    * `seed` (int): for algorithms that make random choices.
    * `channels` (Channels): those of the network, where they are known.

    Raises `NetworkError` or `TaskError` if the network is not for wormhole messages, or the task does not fit it.

    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"))
    >>> case.channels.sides, case.sources
    ((4, 4), 16)
    """

    def __init__(
        self, network: Network, task: Task, cost: LinearCost | None = None, rules: Rules | None = None, *,
        seed: int = 0, channels: Channels | None = None,
    ) -> None:  # fmt: skip
        self.channels = channels or Channels(network)
        super().__init__(network, task, rules, seed=seed)
        self._linear = cost or LinearCost()

    @property
    def cost(self) -> LinearCost:
        """What steps cost."""
        return self._linear

    def varied(
        self, task: Task | None = None, cost: LinearCost | None = None, rules: Rules | None = None
    ) -> WormholeCase:
        """Return the case that differs in what is given, sharing what is known.

        >>> import gossamer
        >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"))
        >>> case.varied(gossamer.task("broadcast")).sources
        1
        """
        asked = task or self.task, cost or self.cost, rules or self.rules
        other = WormholeCase(self.network, *asked, seed=self.seed, channels=self.channels)
        other._known = self._known
        return other

    @cached_property
    def sources(self) -> int:
        """Number of messages of the task."""
        return self.messages.count
