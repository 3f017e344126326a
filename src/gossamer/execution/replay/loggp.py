"""Replay in the LogGP model, with a network interface for every link."""

from __future__ import annotations

from itertools import starmap

import numpy as np

from gossamer.errors import ModelError
from gossamer.programs import SEND, Program
from gossamer.reading import number

__all__ = ["loggp_time"]


def loggp_time(
    program: Program,
    block_bytes: int,
    *,
    L: float = 0.0,
    o: float = 0.0,
    g: float = 0.0,
    G: float = 1.0,
) -> float:
    """Return when a program ends in the LogGP model.

    Parameters
    ----------
    program : Program
        What `gossamer.lower` returned.
    block_bytes : int
        Bytes of a block, 1 or more.
    L, o, g, G : float
        Latency, overhead at each end, least time between two messages on a link, and time a byte, in one unit.

    Returns
    -------
    float
        The time in that unit.

    Raises
    ------
    ModelError
        If a parameter is negative, or a block has no bytes.

    Notes
    -----
    An operation begins as soon as what it waits for is complete and the blocks before it on its link have gone; there
    is no clock of slots. A block of b bytes takes ``o + (b - 1) G + L + o``. O(operations log operations).

    References
    ----------
    A. Alexandrov, M. F. Ionescu, K. E. Schauser and C. Scheiman 1997.

    Examples
    --------
    >>> import gossamer
    >>> program = gossamer.lower(gossamer.plan("torus:4x4", "allgather").schedule)
    >>> loggp_time(program, 101)  # four slots of 100
    400.0
    """
    if block_bytes < 1:
        raise ModelError(f"a block has 1 byte or more, got {block_bytes}")
    given = {"L": L, "o": o, "g": g, "G": G}
    latency, overhead, gap, each = starmap(lambda name, value: number(value, name, 0.0), given.items())
    from gossamer.execution.replay import _kernels

    ranks = list(program)
    first = np.cumsum([0, *(mine.count for mine in ranks)])
    rank = np.repeat(np.arange(len(ranks)), np.diff(first))
    slot, kind, peer = (np.concatenate([getattr(mine, n) for mine in ranks]) for n in ("slot", "kind", "peer"))
    after = np.concatenate([np.where(m.after < 0, -1, m.after + f) for m, f in zip(ranks, first[:-1], strict=True)])
    sends = kind == SEND
    line = np.where(sends, rank, peer) * np.int64(len(ranks)) + np.where(sends, peer, rank)
    # the blocks of a link stand in one order at both ends
    out, came = (np.flatnonzero(s)[np.argsort(line[s], kind="stable")] for s in (sends, ~sends))
    order = np.argsort(slot[out], kind="stable")
    out, came = out[order], came[order]
    known, link = np.unique(line[out], return_inverse=True)
    transfer = (block_bytes - 1) * each
    return float(
        _kernels.replay(
            out, came, link, after[out], after[came], known.size, rank.size, latency, overhead, gap, transfer
        )
    )
