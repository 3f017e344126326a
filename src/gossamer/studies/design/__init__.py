"""Which network to build: a search for networks, each planned and verified, beside what no network can beat.

`design` searches, `designs` as a sweep; `limits` says what no network of a size and degree can beat; `Wishes` has what
is wished besides.
"""

from gossamer.studies.design.design_sweeps import designs
from gossamer.studies.design.moore_bounds import Limit, least_diameter, least_status, limit, limits
from gossamer.studies.design.plan_candidates import Design, DesignedNetwork, PlannedTask, design
from gossamer.studies.design.problem import FAMILIES, Goal, Problem, Wishes
from gossamer.studies.design.search import CandidateNetwork

__all__ = [
    "FAMILIES",
    "CandidateNetwork",
    "Design",
    "DesignedNetwork",
    "Goal",
    "Limit",
    "PlannedTask",
    "Problem",
    "Wishes",
    "design",
    "designs",
    "least_diameter",
    "least_status",
    "limit",
    "limits",
]
