"""Algorithms Q and H with any number of parts k: k^2-partitioning and k strips (Han 1990, sections 3.6.1 and 4.6.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gossamer.algorithms.routing.move_and_smooth.algorithm_h import h_stages
from gossamer.algorithms.routing.move_and_smooth.algorithm_q import q_stages
from gossamer.algorithms.routing.move_and_smooth.base import refuse_rules, route
from gossamer.algorithms.routing.move_and_smooth.stages import Stage, follow
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.sinks import record

__all__ = ["k_partition", "k_strips"]


def k_partition(case: Case, k: int, clock: bool = False) -> Schedule:
    """Build the routing by Algorithm Q with k parts along each axis.

    Parameters
    ----------
    case : Case
        A permutation or one-to-many routing on an n x n array, n a power of k; all ports.
    k : int
        Parts along each axis, at least 2; odd ones too.
    clock : bool
        Whether phases take their guaranteed lengths.

    Raises
    ------
    NotApplicableError
        If the case or the number of parts does not fit.

    Notes
    -----
    For even k at most ``(5k+3)/4 n`` steps, and ``1.5/(k-1) n`` of counting; ``k^2 + 2`` buffers in all runs.

    References
    ----------
    Han 1990, section 3.6.1; farthest first is the only priority (erratum H4).

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=list(range(80, -1, -1)))
    >>> schedule = k_partition(Case(gossamer.network("array:9x9"), task), 3)
    >>> [(p.name, p.slots) for p in schedule.phases][:2], bool(gossamer.verify(schedule))
    ([('move 9x9', 12), ('count 3x3', 3)], True)
    """
    return _build(case, k, clock, q_stages, k * k + 2)


def k_strips(case: Case, k: int, clock: bool = False) -> Schedule:
    """Build the routing by Algorithm H with k strips.

    Parameters
    ----------
    case, k, clock
        As for `k_partition`.

    Raises
    ------
    NotApplicableError
        If the case or the number of parts does not fit.

    Notes
    -----
    ``k + 1`` buffers for even k, ``k + 2`` for odd k.

    References
    ----------
    Han 1990, section 4.6.3 (erratum H5).

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=list(range(80, -1, -1)))
    >>> schedule = k_strips(Case(gossamer.network("array:9x9"), task), 3)
    >>> schedule.completion_time, bool(gossamer.verify(schedule))
    (Fraction(16, 1), True)
    """
    return _build(case, k, clock, h_stages, k + 1 + k % 2)


def _build(
    case: Case, k: int, clock: bool, stages: Callable[[tuple[int, ...], int], Sequence[Stage]], buffers: int
) -> Schedule:
    sides = case.network.grid.sides if case.network.grid is not None else ()
    wrong: object = refuse_rules(case, buffers)
    if not isinstance(case.task, Permutation | OneToManyRouting):
        wrong = f"the task is {case.task.name}, not permutation or one-to-many-routing"
    elif k < 2:
        wrong = f"there must be 2 parts or more, got {k}"
    elif wrong is None and (len(sides) != 2 or sides[0] != sides[1] or not _is_power(sides[0], k)):
        wrong = f"it needs a square array whose side is a power of {k}, got {case.network.spec}"
    if wrong is not None:
        raise NotApplicableError(f"routing with {k} parts: {wrong}")
    return record(case, partial(route, case, follow, stages(sides, k)), clock=clock)


def _is_power(side: int, k: int) -> bool:
    while side % k == 0:
        side //= k
    return side == 1
