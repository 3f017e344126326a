"""Verification: the checkers, which share no code with what builds schedules.

A checker takes a schedule, as columns, and carries it out by the rules: `store_and_forward` a plain schedule (with the
compiled parts in `replay_kernels`), `timed_replay` one whose links take time, `streaming` hops that are handed over
and forgotten, `wormhole` one of wormhole messages; `replay_inputs` has what they start from. It gives a `Verification`
with the `violations` that it found, or says how much is held where (`metrics`). It imports networks, questions and the
columns of schedules, and nothing that makes them. A checker for another switching stands here, with an entry in
`gossamer.planning.switching`.
"""

from __future__ import annotations

from gossamer.verification.metrics import BufferPeak, buffer_peak, link_busy, link_load, link_utilization
from gossamer.verification.store_and_forward import verify
from gossamer.verification.streaming import StreamingChecker
from gossamer.verification.violations import KINDS, Verification, Violation

__all__ = [
    "KINDS",
    "BufferPeak",
    "StreamingChecker",
    "Verification",
    "Violation",
    "buffer_peak",
    "link_busy",
    "link_load",
    "link_utilization",
    "verify",
]
