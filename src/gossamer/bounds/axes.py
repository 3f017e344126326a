"""What the links along one axis of a grid or product carry."""

from __future__ import annotations

import numpy as np

from gossamer.questions.cases import Case
from gossamer.questions.cases.metric import Axis

__all__ = ["axis_capacity"]


def axis_capacity(case: Case, axis: Axis) -> int:
    """Return the most packets that a link along an axis carries in a slot under the rules. O(L) at most.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.cases.metric import axes_of
    >>> case = Case(gossamer.network("torus:3x4,capacity=1x5"), gossamer.task("alltoall"))
    >>> [axis_capacity(case, axis) for axis in axes_of(case.metric)]
    [1, 5]
    """
    network = case.network
    if case.limited:
        return 1
    if network.uniform_capacity is not None:
        return network.uniform_capacity
    along = axis.place(network.link_source.astype(np.int64)) != axis.place(network.link_target.astype(np.int64))
    return int(network.link_capacity[along].max(initial=1))
