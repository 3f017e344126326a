"""Which network to build: a search for networks, each planned and verified, beside what no network can beat.

`design` searches, `designs` as a sweep; `limits` says what no network of a size and degree can beat; `Wishes` has what
is wished besides.
"""

from gossamer.design.designing import Design, Found, Planned, design
from gossamer.design.limits import Limit, least_diameter, least_status, limit, limits
from gossamer.design.problem import Goal, Problem
from gossamer.design.search import Candidate
from gossamer.design.sweeping import designs
from gossamer.design.wishes import FAMILIES, Wishes

__all__ = [
    "FAMILIES",
    "Candidate",
    "Design",
    "Found",
    "Goal",
    "Limit",
    "Planned",
    "Problem",
    "Wishes",
    "design",
    "designs",
    "least_diameter",
    "least_status",
    "limit",
    "limits",
]
