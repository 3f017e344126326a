"""One split message to one node over all node-disjoint paths at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.networks.disjoint_paths import node_disjoint_paths
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MOVE, DemandTable, Permutation
from gossamer.schedules import Phase, Schedule

_MOST_PARTS = 512
_LARGEST = 1_000_000
"""Links and nodes, times paths, up to which paths are looked for."""

_LONGER = (2, 4, 8, 16)
"""How many times the slots of the longest path a stream of parts may take, in turn."""


def over_disjoint_paths(case: Case, loads: tuple[int, ...]) -> Schedule:
    """Send so many parts over each of the node-disjoint paths, one behind the other.

    One long message between two nodes can use many paths at once, if no two of them share a node in between: it is cut
    into parts, and each part takes its own path.

    Parameters
    ----------
    case : Case
        A single message of one packet for one other node, split messages, all ports, a plain network.
    loads : tuple of int
        Parts that go over each path of `node_disjoint_paths`, the shortest path first; k parts in all.

    Notes
    -----
    A path of L hops that carries m parts takes ``L + m - 1`` slots of length 1/k. With one part on each of p paths that
    is ``max(L)/p`` steps; with many parts it comes close to 1/p, the least that a node of p links can receive in.
    O(k * max(L)) time after the paths are known.

    References
    ----------
    Dimakopoulos 1996, section 2.2: p parts over p paths. More parts than paths: gossamer.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.questions.tasks.DemandTable.of([(0, [12], 1)])
    >>> case = Case(gossamer.network("torus:5x5"), task, gossamer.Rules(segmented=True))
    >>> over_disjoint_paths(case, (1, 1, 1, 1)).completion_time
    Fraction(5, 4)
    """
    network = case.network
    paths = _paths(case)
    hops, part = [], 0
    for path, load in zip(paths, loads, strict=True):
        links = [network.link_between(u, v) for u, v in zip(path[:-1].tolist(), path[1:].tolist(), strict=True)]
        hops += [(first + j, link, part + first) for first in range(load) for j, link in enumerate(links)]
        part += load
    slot, link, packet = np.array(sorted(hops), np.int32).T
    phases = [Phase(case.task.name, int(slot[-1]) + 1, Fraction(1, part))]
    return Schedule.of(case, slot, link, packet, parts=part, phases=phases)


def _ends(case: Case) -> tuple[int, int]:
    """Return origin and target of the only message."""
    messages = case.messages
    assert messages.targets is not None
    return int(messages.origin[0]), int(messages.targets[0])


def _paths(case: Case) -> list[IntArray]:
    return case.once(node_disjoint_paths, case.network, *_ends(case))


def _propose(case: Case) -> Offer[Schedule] | tuple[Offer[Schedule], ...] | Refusal:
    if not case.rules.segmented:
        return Refusal("needs segmented messages")
    refusal = refuse_ports(case.rules, held=1)
    if refusal is not None:
        return refusal
    if case.task.most_messages(case.network) > case.network.node_count * 2 or case.messages.packet_count != 1:
        return Refusal("is for one message of one packet")
    messages, net = case.messages, case.network
    one = messages.targets is not None and messages.targets.size == 1 and int(messages.discipline[0]) == MOVE
    if not one or _ends(case)[0] == _ends(case)[1]:
        return Refusal("is for a message with one target, another node")
    if not net.plain or case.rules.cut_through or net.uniform_capacity != 1:
        return Refusal("is for links of capacity 1 that take one slot, and switches that store what they pass on")
    if (net.link_count + net.node_count) * int(net.out_degree.max()) > _LARGEST:
        return Refusal("looks for disjoint paths in smaller networks")
    lengths = [path.size - 1 for path in _paths(case)]
    if not lengths:
        return Refusal("needs a path from the source to the target")
    loads = [(1,) * len(lengths)]
    for factor in _LONGER:
        filled = tuple(factor * lengths[-1] - length + 1 for length in lengths)
        if len(lengths) > 1 and sum(filled) <= _MOST_PARTS:
            loads.append(filled)
    return tuple(_offer(case, load, lengths) for load in loads)


def _offer(case: Case, loads: tuple[int, ...], lengths: list[int]) -> Offer[Schedule]:
    parts = sum(loads)
    slots = max(length + load - 1 for length, load in zip(lengths, loads, strict=True))
    return Offer(lambda: over_disjoint_paths(case, loads), Fraction(slots, parts), options={"parts": parts})


DISJOINT_PATHS = Algorithm(
    name="disjoint-paths",
    tasks=(DemandTable, Permutation),
    propose=_propose,
    networks="any plain networks",
    source="Dimakopoulos 1996, section 2.2",
    summary="one message in parts over all node-disjoint paths",
)
