"""Total exchange on a linear array, furthest first (TE1 of Dimakopoulos 1996, section 4.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["exchange_steps", "furthest_first_steps"]


def exchange_steps(n: int) -> int:
    """Return the steps of the total exchange on a linear array of n nodes, ``floor(n/2) * ceil(n/2)``.

    It is optimal: that many messages cross the middle link in each direction (4.1).

    >>> [exchange_steps(n) for n in range(2, 11)]
    [1, 2, 4, 6, 9, 12, 16, 20, 25]
    """
    return n // 2 * ((n + 1) // 2)


def furthest_first_steps(n: int) -> npt.NDArray[np.int32]:
    """Return the step in which each message of the furthest-first exchange crosses each link, counted from 0.

    Every node sends on, in either direction, the message with the furthest destination; ties go to the furthest source.

    Returns
    -------
    int32[n, n, n]
        ``[k, i, j]`` is the step in which the message from k to i leaves node j towards i; -1 off its way.

    Notes
    -----
    Towards the right and counting nodes and steps from 1: ``t = j - k + 1`` for i = n and ``t = j*n - j*i + k`` for
    i < n. Leftward messages are the mirror image.

    References
    ----------
    Dimakopoulos 1996, Lemma 4.1, (4.6)-(4.9), Theorem 4.3.

    Examples
    --------
    >>> steps = furthest_first_steps(6)
    >>> steps[0, 5, :5].tolist(), int(steps.max()) + 1
    ([0, 1, 2, 3, 4], 9)
    """
    from gossamer.algorithms.total_exchange import _kernels

    steps = np.full((n, n, n), -1, np.int32)
    _kernels.line_steps(n, steps)
    return steps
