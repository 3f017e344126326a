"""Multinode broadcast with one port around a Hamiltonian cycle: every node passes on what came in the slot before.

With one port a node receives one of its N-1 messages in a slot at the most, and around a cycle of all nodes it does so
in every slot. An array has such a cycle if it has an even number of nodes and is no line, a torus always.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops
from gossamer.networks.structures import Grid, IntArray
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule

__all__ = ["HAMILTONIAN_CYCLE", "around_hamiltonian_cycle", "disjoint_hamiltonian_cycles", "hamiltonian_cycle"]


def hamiltonian_cycle(grid: Grid) -> IntArray | None:
    """Return the nodes of an array or torus in the order of a Hamiltonian cycle, int32[N], or None.

    `grid`: sides and which of them wrap.

    Returns: int32[N] or None: none where there is no such cycle (arrays of an odd number of nodes), and for lines and
    fewer than 3 nodes.

    One side is chosen: an even one, else one that wraps. Along all others together goes a path that turns back at every
    end, so what is left is a rectangle of p rows, the places of the path, and q columns. O(N) time.

    >>> hamiltonian_cycle(Grid((2, 3), (False, False))).tolist()
    [1, 2, 5, 4, 3, 0]
    >>> hamiltonian_cycle(Grid((3, 3), (False, False))) is None
    True
    """
    long = [i for i, side in enumerate(grid.sides) if side > 1]
    chosen = next((i for i in long if grid.sides[i] % 2 == 0 and len(long) > 1), None)
    if chosen is None:
        chosen = next((i for i in long if grid.wraps[i]), None)
    if chosen is None:
        return None
    q, stride = grid.sides[chosen], grid.strides[chosen]
    path = np.zeros(1, np.int64)  # nodes of column 0, one row after the other
    for i in long:
        if i != chosen:
            there_and_back = [path, path[::-1]]
            path = np.concatenate([there_and_back[x % 2] + x * grid.strides[i] for x in range(grid.sides[i])])
    table = path[:, None] + stride * np.arange(q)
    if q % 2 == 0 and path.size > 1:  # up and down all columns over the rows but the first, and back along that
        rest = table[1:].copy()
        rest[:, 1::2] = rest[::-1, 1::2]
        return np.concatenate([rest.T.reshape(-1), table[0, ::-1]]).astype(np.int32)
    # to and fro along the rows over the columns but the first, and back along that; the rows are odd or the only one
    rest = table[:, 1:].copy()
    rest[1::2] = rest[1::2, ::-1]
    return np.concatenate([rest.reshape(-1), table[::-1, 0]]).astype(np.int32)


def disjoint_hamiltonian_cycles(grid: Grid) -> list[IntArray]:
    """Return Hamiltonian cycles of an array or torus that share no link: two of a square torus, else one or none.

    On the torus of p rows and columns the first goes along each row but for one link, then on to the next row, where it
    begins a column earlier; the second is the first with rows and columns exchanged. It crosses the links left out.

    Source: Bae and Bose 2003.

    >>> [cycle.tolist() for cycle in disjoint_hamiltonian_cycles(Grid((3, 3), (True, True)))]
    [[0, 1, 2, 5, 3, 4, 7, 8, 6], [0, 3, 6, 7, 1, 4, 5, 8, 2]]
    """
    long = [i for i, side in enumerate(grid.sides) if side > 1]
    if len(long) == 2 and all(grid.wraps[i] for i in long) and grid.sides[long[0]] == grid.sides[long[1]]:
        p = grid.sides[long[0]]
        row = np.repeat(np.arange(p), p)
        column = (np.tile(np.arange(p), p) - row) % p
        a, b = (grid.strides[i] for i in long)
        return [(row * a + column * b).astype(np.int32), (row * b + column * a).astype(np.int32)]
    cycle = hamiltonian_cycle(grid)
    return [] if cycle is None else [cycle]


def around_hamiltonian_cycle(case: Case) -> Schedule:
    """Send every message around a Hamiltonian cycle.

    The nodes stand in a cycle that visits each of them once. In the first slot everybody sends its own message to the
    next node; from then on everybody passes on what it got in the slot before. After N-1 slots every message has been
    everywhere, and every node has received one new message in every slot, which is all that one port can do.

    Parameters
    ----------
    case : Case
        A multinode broadcast on an array or torus of N nodes that has such a cycle, any ports.

    Returns
    -------
    Schedule
        In slot t every node sends the message of the node t places before it.

    Notes
    -----
    ``N - 1`` steps, optimal where nodes send or receive one packet a step. O(N**2) time and memory, the size of the
    schedule.

    References
    ----------
    Folklore. Varvarigos and Bertsekas 1994 and Dimakopoulos 1996 leave arrays with one port out.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:4x4"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    >>> around_hamiltonian_cycle(case).completion_time
    Fraction(15, 1)
    """
    network = case.network
    assert network.grid is not None
    # Step 1: find a cycle through all nodes: to and fro along the rows, and back along the first column
    cycle = hamiltonian_cycle(network.grid)
    assert cycle is not None
    n = network.node_count
    order = np.lexsort((network.link_target, network.link_source))
    number = network.link_source[order].astype(np.int64) * n + network.link_target[order]
    link = order[np.searchsorted(number, cycle.astype(np.int64) * n + np.roll(cycle, -1))].astype(np.int32)
    # Step 2: every node uses its link to the next node in each of N-1 slots
    slot = np.repeat(np.arange(n - 1, dtype=np.int32), n)
    place = np.arange(n)
    # Step 3: in slot t it sends the message of the node t places before it, which came in slot t-1
    packet = cycle[(place - np.arange(n - 1)[:, None]) % n].reshape(-1)
    return Schedule.of(case, slot, np.tile(link, n - 1), packet)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid, n = case.network.grid, case.network.node_count
    if grid is None or case.network.terminal_count < n:
        return Refusal("needs an array or a torus")
    odd = n % 2 == 1 and not any(grid.wraps)
    if n < 3 or odd or (max(grid.sides) == n and not any(grid.wraps)):
        return Refusal("needs an array of an even number of nodes that is no line, or a torus")
    if case.rules.ports == "all":
        return Refusal("is for one-port nodes")
    refusal = first_refusal(refuse_buffers(case.rules), refuse_hops(n * (n - 1)))
    return refusal or Offer(lambda: around_hamiltonian_cycle(case), Fraction(n - 1), optimal=True)


HAMILTONIAN_CYCLE = Algorithm(
    name="hamiltonian-cycle",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="arrays of an even number of nodes, tori",
    source="folklore",
    summary="with one port, every message goes around a cycle of all nodes",
)
