"""How many bytes a collective moves, as MPI and NCCL count them, and the bandwidths that NCCL's tests report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from gossamer.networks.network import Network
from gossamer.questions.tasks.chunked import Chunked
from gossamer.questions.tasks.composite_tasks import ranks
from gossamer.questions.tasks.exchanges import TotalExchange
from gossamer.questions.tasks.group_tasks import Grouped
from gossamer.questions.tasks.multinode import Allreduce, MultinodeBroadcast, PartialSumAllreduce, ReduceScatter
from gossamer.questions.tasks.rooted import Broadcast, Gather, Reduce, Scatter
from gossamer.questions.tasks.task import Task


@dataclass(frozen=True)
class Sizing:
    """How the bytes of a collective over n ranks are counted.

    * `messages`: messages of the task in the buffer whose size NCCL's tests report: 1, or n.
    * `split`: whether MPI counts that buffer too (an allreduce), rather than one message.
    * `bus`: Bus bandwidth over algorithm bandwidth (NCCL tests, PERFORMANCE.md); None where it is not defined.
    """

    messages: int
    split: bool
    bus: Fraction | None

    def message_bytes(self, count: int, *, whole_buffer: bool = False) -> int:
        """Return the bytes of a message, rounded up, for `count` bytes of a message or of the `whole_buffer`.

        >>> from gossamer.networks import ring
        >>> from gossamer.questions.tasks import Allreduce
        >>> sizing_of(Allreduce(), ring(8)).message_bytes(1000)
        125
        """
        shared = self.messages if self.split or whole_buffer else 1
        return -(-count // shared)

    def buffer_bytes(self, message: int) -> int:
        """Return the bytes of the buffer whose size NCCL's tests report, for messages of so many bytes."""
        return message * self.messages


def sizing_of(task: Task, network: Network) -> Sizing:
    """Return how the bytes of a task on a network are counted.

    MPI counts what one rank gives or gets of one message: the contribution of a rank to an allgather, the block of a
    pair of ranks in an alltoall, the block that a rank receives of a reduce-scatter or scatter, the whole buffer of a
    broadcast, reduce and allreduce. NCCL's tests report the largest buffer of a rank: n times that for allgather,
    reduce-scatter, alltoall, gather and scatter, and the same for the others. Tasks that neither knows count by
    message. In groups n is the size of the largest; of an allreduce, whose buffers are of one size in all groups,
    that of the smallest, since blocks are of one size too. In groups of several sizes no bus bandwidth is defined.

    >>> from gossamer.networks import ring
    >>> from gossamer.questions.tasks import MultinodeBroadcast
    >>> sizing_of(MultinodeBroadcast(), ring(8)).bus
    Fraction(7, 8)
    """
    if isinstance(task, Chunked):
        task = task.task
    if isinstance(task, Grouped):
        sizes = [len(group) for group in task.groups]
        found = sizing_of(task.task, ranks(max(sizes)))
        if min(sizes) == max(sizes):
            return found
        return replace(sizing_of(task.task, ranks(min(sizes))) if found.split else found, bus=None)
    n = network.terminal_count
    others = Fraction(n - 1, n)
    match task:
        case Allreduce():
            return Sizing(n, True, 2 * others)
        case MultinodeBroadcast() | ReduceScatter() | TotalExchange():
            return Sizing(n, False, others)
        case Scatter() | Gather():
            return Sizing(n, False, others)
        case PartialSumAllreduce():
            return Sizing(1, False, 2 * others)
        case Broadcast() | Reduce():
            return Sizing(1, False, Fraction(1))
        case _:
            return Sizing(1, False, None)
