"""Total exchange on Cayley networks in which every node does what the identity does, translated.

Dimakopoulos 1996, section 4.4. A node-invariant algorithm is known from the queue of the identity alone: when the
identity sends a message for y by generator g, every node v sends its translate to ``v*g``. So the messages of one
offset move as one, and the queue holds every offset once until it is served.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_buffers, refuse_ports
from gossamer.algorithms.total_exchange.successive_offsets import refuse_status, status
from gossamer.errors import ModelError, nearest
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

__all__ = [
    *("Discipline", "GREEDY_OFFSETS", "NODE_INVARIANT_FIFO", "Routes"),
    *("first_generators", "greedy_offsets_exchange", "node_invariant_exchange"),
]

Discipline = Literal["fifo", "lifo", "furthest-first", "closest-first", "random"]
"""Which message of its queue a node sends."""

Routes = Literal["lowest", "random"]
"""Which of the generators that lead closer a message takes."""

_MOST_NODES = 50_000
"""Nodes up to which the greedy exchange is built in a minute or so."""


def _choice(value: str, what: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise ModelError(f"{what} must be one of {names}, got {value!r}{nearest(str(value), allowed)}")


def _onward(network: Network, distance: IntArray, column: int) -> npt.NDArray[np.int64]:
    """Return what remains of every offset after generator `column`, int64[N]; -1 where that is no step closer."""
    group = network.group
    assert group is not None
    y = np.arange(network.node_count)
    rest = group.compose(group.inverse(network.generators[column]), y)
    return np.where(distance[rest] == distance[y] - 1, rest, -1)


def first_generators(
    network: Network, routes: Routes = "lowest", *, seed: int = 0
) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """Return the table W: for every offset, the generator by which its messages leave, one step closer.

    Parameters
    ----------
    network : Network
        A connected Cayley network of N nodes.
    routes : {"lowest", "random"}
        Of several generators the lowest, or any.
    seed : int
        For random routes.

    Returns
    -------
    letter : int32[N]
        The number of the generator; -1 for the identity.
    onward : int64[N]
        The offset that remains, ``g**-1 * y``.

    Raises
    ------
    ModelError
        If `routes` is none of those.

    Notes
    -----
    O(N degree). On hypercubes the lowest generator is the leftmost 1 of the offset: e-cube routing (TE5).

    Examples
    --------
    >>> import gossamer
    >>> letter, onward = first_generators(gossamer.network("hypercube:2"))
    >>> letter.tolist(), onward.tolist()
    ([-1, 1, 0, 0], [-1, 0, 0, 1])
    """
    _choice(routes, "routes", get_args(Routes))
    distance = network.distances(0)
    n = network.node_count
    draw = np.random.default_rng(seed)
    letter, onward = np.full(n, -1, np.int32), np.full(n, -1, np.int64)
    best = np.full(n, -1.0)
    for column in range(network.degree if network.link_count else 0):
        rest = _onward(network, distance, column)
        key = draw.random(n) if routes == "random" else np.full(n, 1.0 / (column + 1))
        taken = (rest >= 0) & (key > best)
        letter[taken], onward[taken], best[taken] = column, rest[taken], key[taken]
    return letter, onward


def node_invariant_exchange(
    case: Case,
    *,
    discipline: Discipline = "fifo",
    routes: Routes = "lowest",
) -> Schedule:
    """Build the exchange in which every node sends one message of its queue in every slot, on a shortest path.

    Parameters
    ----------
    case : Case
        A total exchange on a connected Cayley network, with any ports; in every slot each node sends one packet and
        receives one. Its seed is for random routes and the random discipline.
    discipline : {"fifo", "lifo", "furthest-first", "closest-first", "random"}
        What a node sends of its queue, in which its own messages stand in the order of descending offsets. Equally far
        messages go first in, first out. A random choice is the same at every node.
    routes : {"lowest", "random"}
        See `first_generators`.

    Returns
    -------
    Schedule
        Invariant under the whole group, one stored hop a slot.

    Raises
    ------
    ModelError
        If `discipline` or `routes` is none of those.

    Notes
    -----
    Takes the status of a node (the sum of its distances) whatever the discipline and the routes: no node is idle
    before all are done, and every hop leads closer (Theorem 4.11). Optimal with one port. O(status) besides the
    routes; the closest or furthest message costs up to the diameter.

    References
    ----------
    Dimakopoulos 1996, section 4.4: Definition 4.3, Lemma 4.9, Theorem 4.11, Fig. 4.5 (TE4), Fig. 4.6 (TE5).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ccc:3"), TotalExchange(), gossamer.Rules(ports="one"))
    >>> node_invariant_exchange(case, discipline="lifo").completion_time
    Fraction(74, 1)
    """
    from gossamer.algorithms.total_exchange.node_invariant import _kernels

    _choice(discipline, "discipline", get_args(Discipline))
    network = case.network
    distance = network.distances(0)
    letter, onward = first_generators(network, routes, seed=case.seed)
    slots = int(distance.sum(dtype=np.int64))
    draws = np.random.default_rng([case.seed, 1]).random(slots if discipline == "random" else 0)
    link, packet = np.empty(slots, np.int32), np.empty(slots, np.int32)
    _kernels.relative_queue(
        np.arange(network.node_count - 1, 0, -1), distance, letter, onward, network.link_target,
        network.degree if network.link_count else 0, get_args(Discipline).index(discipline), draws, link, packet,
    )  # fmt: skip
    slot = np.arange(slots, dtype=np.int32)
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(network))


def greedy_offsets_exchange(case: Case) -> Schedule:
    """Build the exchange with all ports in which every slot moves the furthest offsets that find a free generator.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a connected Cayley network.

    Returns
    -------
    Schedule
        Invariant under the whole group; each slot uses a generator at most once.

    Notes
    -----
    At least ``ceil(status/degree)`` slots. The generator of a hop is chosen when it is made: of the free ones that
    lead closer the one used least so far. O(N degree) for each slot at most.

    References
    ----------
    Node-invariant algorithms are of Dimakopoulos 1996, section 4.4; with all ports it treats rings only.

    Examples
    --------
    >>> import gossamer
    >>> greedy_offsets_exchange(Case(gossamer.network("star:4"), TotalExchange())).completion_time
    Fraction(21, 1)
    """
    from gossamer.algorithms.total_exchange.node_invariant import _kernels

    network = case.network
    distance = network.distances(0)
    n, degree = network.node_count, network.degree if network.link_count else 0
    onward = np.empty((n, degree), np.int32)
    for column in range(degree):
        onward[:, column] = _onward(network, distance, column)
    first = np.argsort(-distance, kind="stable")[: n - 1]
    slot, link, packet = (np.empty(int(distance.sum(dtype=np.int64)), np.int32) for _ in range(3))
    _kernels.greedy_offsets(first, distance, onward, network.link_target, slot, link, packet)
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(network))


def _propose_fifo(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_status(case), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    return Offer(
        lambda: node_invariant_exchange(case),
        Fraction(case.once(status, case.network)),
        optimal=case.limited,
        orbit=case.network.node_count,
    )


NODE_INVARIANT_FIFO = Algorithm(
    name="node-invariant-fifo",
    tasks=(TotalExchange,),
    propose=_propose_fifo,
    networks="Cayley networks",
    source="Dimakopoulos 1996, section 4.4 (TE4, TE5), Theorem 4.11",
    summary="every node sends the head of its queue on a shortest path, the same at all nodes",
)


def _propose_greedy(case: Case) -> Offer[Schedule] | Refusal:
    if case.network.node_count > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = first_refusal(refuse_ports(case.rules), refuse_status(case))
    if refusal is not None:
        return refusal
    degree = case.network.degree if case.network.link_count else 1
    least = Fraction(-(-case.once(status, case.network) // degree))
    return Offer(lambda: greedy_offsets_exchange(case), least=least, orbit=case.network.node_count)


GREEDY_OFFSETS = Algorithm(
    name="greedy-offsets",
    tasks=(TotalExchange,),
    propose=_propose_greedy,
    networks="Cayley networks",
    source="gossamer",
    summary="every slot moves the furthest offsets that find a free generator on a shortest path",
)
