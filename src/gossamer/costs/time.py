"""Bytes instead of packets: what is asked for when times are wanted in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from gossamer.costs.clock import Clock, clocked
from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.reading import choice
from gossamer.reading.quantities import Bytes, Duration, Rate, bandwidth, duration, size
from gossamer.tasks import Chunked, Task
from gossamer.tasks.sizes import sizing_of

__all__ = ["Counting", "Form", "TimeCost"]

Counting = Literal["mpi", "nccl"]
Form = Literal["best", "blocks", "root", "gather"]


@dataclass(frozen=True)
class TimeCost:
    """What a schedule costs in seconds: a number of bytes over links that have bandwidths and latencies.

    Attributes
    ----------
    bytes : Bytes
        Bytes of the collective, such as 64MiB, as `counting` says.
    counting : {"mpi", "nccl"}
        What the bytes are of: one message as MPI counts (a rank's contribution, or the block of a pair; of broadcast,
        reduce and allreduce the buffer), or the largest buffer of a rank as NCCL's tests report.
    bandwidth : Rate or None
        Bandwidth of every link, such as 400Gbit/s or 50GB/s, where the network has none of its own.
    latency : Duration
        Latency of every link, such as 2us, where the network has none of its own.
    form : {"best", "blocks", "root", "gather"}
        Of an allreduce among all: blocks, one a rank, reduced there and sent out; root, all reduced at one rank and
        sent out; gather, every rank gets all buffers whole and combines them itself; best, the fastest.

    Examples
    --------
    >>> import gossamer
    >>> cost = TimeCost("64MiB", bandwidth="50GB/s")
    >>> found = gossamer.plan("ring:8", "allreduce", cost=cost)
    >>> f"{float(found.seconds) * 1e6:.1f} us, {float(found.bus_bandwidth) / 1e9:.0f} GB/s"
    '1342.2 us, 88 GB/s'
    """

    bytes: Bytes
    counting: Counting = "mpi"
    bandwidth: Rate | None = None
    latency: Duration = Fraction(0)
    form: Form = "best"

    def __post_init__(self) -> None:
        given: Any = self.bytes
        object.__setattr__(self, "bytes", size(given, "bytes"))
        if not 1 <= self.bytes < 2**62:
            raise ModelError(f"bytes must be at least 1 and less than 2**62, got {self.bytes}")
        choice(self.counting, "counting", get_args(Counting))
        choice(self.form, "form", get_args(Form))
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", bandwidth(self.bandwidth, "bandwidth"))
        object.__setattr__(self, "latency", duration(self.latency, "latency"))
        if self.latency and self.bandwidth is None:
            raise ModelError("latency goes with bandwidth; a network with bandwidths has latencies of its own")

    def on(self, network: Network, task: Task) -> tuple[Network, Clock]:
        """Return the network with its times in slots for the packets of a task, and the clock that tells seconds.

        Raises
        ------
        NetworkError
            As `clocked` does.
        """
        sizing = sizing_of(task, network)
        message = sizing.message_bytes(self.bytes, whole_buffer=self.counting == "nccl")
        packets = task.packets if isinstance(task, Chunked) else 1
        packet = -(-message // packets)
        timed, slot, rounding = clocked(network, packet, self.bandwidth, self.latency)
        clock = Clock(
            slot_seconds=slot,
            packet_bytes=packet,
            message_bytes=message,
            buffer_bytes=sizing.buffer_bytes(message),
            bus=sizing.bus,
            rounding=rounding,
        )
        return timed, clock
