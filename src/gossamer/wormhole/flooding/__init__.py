"""Broadcasts flooded by messages over several hops: in each step every piece goes where it helps most."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.cases import Offer, Refusal
from gossamer.networks.network import IntArray
from gossamer.tasks import Broadcast, MultinodeBroadcast, MultipleBroadcast, PartialMultinodeBroadcast
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.payloads import Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.steps import Steps

__all__ = ["FLOODING", "Ways", "flooded"]

_MOST_PIECES = 64
_MOST_MESSAGES = 1_000_000
_MOST_NODES = 512
_ANY = 255
_EFFORT = 6_000_000
"""Pieces times pairs of nodes, over all choices of a step, that are looked at in a step."""


class Ways(NamedTuple):
    """The way between each two terminals: ``channel[first[u*N+v]:first[u*N+v+1]]``, and its length int32[N, N]."""

    first: npt.NDArray[np.int64]
    channel: IntArray
    length: IntArray

    @classmethod
    def of(cls, case: WormholeCase) -> Ways:
        """Return the ways of a case, by shortest displacements.

        >>> import gossamer
        >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("broadcast"))
        >>> int(Ways.of(case).length.max())
        4
        """
        n = case.network.terminal_count
        source, target = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
        first, channel = case.channels.paths(source, case.channels.shortest(source, target))
        return cls(first, channel.astype(np.int32), np.diff(first).reshape(n, n).astype(np.int32))


class _Choice(NamedTuple):
    """How a step may be made: see the kernel."""

    share: float
    copies: int
    noise: int


def flooded(case: WormholeCase, pieces: int) -> WormholeSchedule:
    """Flood messages, cut in pieces, by messages that may go over several hops.

    Parameters
    ----------
    case : WormholeCase
        A broadcast of one or more messages to all nodes.
    pieces : int
        Pieces of a message, at most one a byte; of equal size as far as bytes go.

    Notes
    -----
    In each step pieces that few nodes have choose first, each message so that it brings the piece nearest to all nodes;
    then the others fill the channels that are left. How far messages go, and how many copies a node sends of a piece
    before others had their turn, is tried in some ways in every step, and the way is kept after which pieces are
    nearest to all nodes. With limited ports only one send and one receipt of a node are allowed.

    O(pieces x nodes^2) time a step and choice.

    Examples
    --------
    >>> import gossamer
    >>> case = WormholeCase(gossamer.network("torus:8x8"), gossamer.task("broadcast"))
    >>> flooded(case, 1).step_count, flooded(case, 6).step_count
    (3, 6)
    """
    from gossamer.wormhole.flooding import _kernels

    ways, cut = case.once(Ways.of, case), Pieces.of(case.messages, case.cost.message_bytes, pieces)
    nodes = ways.length.shape[0]
    has = np.zeros((cut.count, nodes), np.uint8)
    has[np.arange(cut.count), cut.origin] = 1
    near, holders = ways.length[cut.origin], np.ones(cut.count, np.int64)
    busy = np.zeros(case.channels.count, np.uint8)
    columns = [np.zeros(case.channels.count + nodes, np.int32) for _ in range(3)]
    steps = Steps(case.channels.dimensions)
    row = np.array([steps.table.row([piece]) for piece in range(cut.count)], np.int64)
    step = 0
    while cut.count and int(holders.min()) < nodes:
        best: tuple[int, tuple[npt.NDArray[np.generic], ...]] | None = None
        for number, choice in enumerate(_choices(cut.count * nodes**2)):
            tried = has.copy(), near.copy(), holders.copy()
            count = _kernels.one_step(
                *tried, ways.length, ways.first, ways.channel, busy, case.rules.ports == "one", choice.share,
                choice.copies, choice.noise, True, 1_000 * step + number + 1 + case.seed, *columns,
            )  # fmt: skip
            value = int(tried[1].sum())
            if best is None or value < best[0]:
                best = value, (*tried, *(column[:count].copy() for column in columns))
        assert best is not None
        has, near, holders, source, target, piece = best[1]  # type: ignore[assignment]
        steps.add(step, source, case.channels.shortest(source, target), row[piece])
        step += 1
    steps.end_phase("flooding", step)
    return steps.schedule(case, cut)


def _choices(size: int) -> Iterator[_Choice]:
    """Yield the ways to make a step that are tried, where each takes a time of about `size`."""
    left = max(2 * size, _EFFORT)
    shares, copies = (0.34, 0.0, 0.5, 1.0, 0.25, 0.67), (1, _ANY, 2)
    for noise in (0, 1):
        for share in shares:
            for most in copies:
                left -= size
                if left < 0:
                    return
                yield _Choice(share, most, noise)


def _pieces_tried(case: WormholeCase) -> list[int]:
    """Return numbers of pieces around the balance of start-ups and bytes."""
    count, cost = case.messages.count, case.cost
    most = min(_MOST_PIECES, cost.message_bytes)
    degree = (
        1 if case.rules.ports == "one" else max(1, int(case.channels.in_degree[: case.network.terminal_count].min()))
    )
    reach = 4  # steps that a piece needs, about
    balance = most
    if cost.startup:
        balance = isqrt(max(1, int(reach * cost.message_bytes * cost.per_byte * degree / (count * cost.startup))))
    near = (1, balance // 2, balance - 1, balance, balance + 1, balance + 2, 3 * balance // 2, 2 * balance, 3 * balance)
    return sorted({max(1, min(most, k)) for k in near})


def _propose(case: WormholeCase) -> list[Offer[WormholeSchedule]] | Refusal:
    count, nodes = case.messages.count, case.network.terminal_count
    if nodes > _MOST_NODES:
        return Refusal(f"looks at the ways between all pairs of at most {_MOST_NODES} nodes, got {nodes:,}")
    if not (case.once(Ways.of, case).length > 0)[~np.eye(nodes, dtype=bool)].all():
        return Refusal("needs a way between any two nodes")
    refusal = too_many_messages(count * (nodes - 1), _MOST_MESSAGES)
    if refusal:
        return refusal
    degree = 1 if case.rules.ports == "one" else case.channels.in_degree[:nodes]
    missing = count - np.bincount(case.messages.origin, minlength=nodes)[:nodes]
    offers = []
    for k in _pieces_tried(case):
        if too_many_messages(count * k * (nodes - 1), _MOST_MESSAGES):
            continue
        steps = int((-(-missing * k // np.maximum(degree, 1))).max())
        least = steps * (case.cost.startup + Fraction(case.cost.message_bytes // k) * case.cost.per_byte)
        offers.append(Offer(partial(flooded, case, k), least=least, effort="search", options={"pieces": k}))
    return offers


FLOODING = (
    WormholeAlgorithm(
        name="wormhole-flooding",
        tasks=(Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, MultipleBroadcast),
        propose=_propose,
        networks="any network",
        source="Gossamer",
        summary="in each step every piece goes where it helps most, over several hops at once",
        anywhere=True,
        limited=True,
    ),
)
"""Flooding by messages over several hops."""
