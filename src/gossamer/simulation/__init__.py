"""Simulation: what cannot be scheduled ahead.

`flits` simulates routers, flit by flit, under traffic or under the messages of a schedule; `random_arrivals` broadcasts
that arrive at random at packet-switched nodes. Both take a network and settings with a seed and give a result with
statistics and confidence intervals. A routing function is added in `flits.routing`, a broadcast scheme in
`random_arrivals.schemes`.
"""

from __future__ import annotations

from gossamer.lazy_imports import lazy

__getattr__ = lazy(__name__, flits="", random_arrivals="")
