"""Multinode broadcast over four arc-disjoint spanning trees: gather to a root, then broadcast down.

Every message is cut in four quarters; quarter k travels on tree k. *Level by level*, a node waits for its whole subtree
before it sends on, and the root's messages go down as one. *Pipelined*, quarters are cut or grouped in packets that
follow each other. *By rank*, messages stay whole and the message of rank r uses tree r mod 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.concentration_routing import links_along, rotations
from gossamer.graphs.parallel_prefix import prefix_phase
from gossamer.questions.cases import Offer, Refusal
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.payloads import CONTROL, Pieces
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.wormhole.algorithm import Steps, WormholeAlgorithm, too_many_messages
from gossamer.wormhole.arc_disjoint_trees import ArcDisjointTrees, shallow_trees
from gossamer.wormhole.packet_schedules import add_hops

__all__ = [
    "EDST",
    "TaskOnTrees",
    "broadcast_cost",
    "broadcast_down",
    "gather_by_level",
    "gather_costs",
    "gather_one_by_one",
    "level_by_level",
    "pipelined",
    "tree_by_rank",
]

# Gathering to the root of four arc-disjoint trees and broadcasting down them: the messages, and what they cost.
#
# Gathering piece by piece is a scatter run backwards: a piece crosses the arc into the root in a step of its own and
# leaves its origin as many steps before as it must, so that pieces which cross an arc keep distinct steps.


class TaskOnTrees:
    """A case over four trees, in places relative to the root.

    Attributes
    ----------
    case : WormholeCase
        On an n x n torus.
    trees : ArcDisjointTrees
        With root 0; place v is node v moved by the root's coordinates.
    root : int
        The root: the origin of a single message, otherwise node 0.
    start : int64[s]
        The place where each message starts.
    """

    def __init__(self, case: WormholeCase) -> None:
        self.case = case
        self.n = case.channels.sides[0]
        self.trees: ArcDisjointTrees = case.once(shallow_trees, self.n)
        origins = case.messages.origin.astype(np.int64)
        self.root = int(origins[0]) if origins.size == 1 else 0
        self.start = self._shifted(origins, -1)

    @property
    def count(self) -> int:
        """The number of messages s."""
        return int(self.start.size)

    def _shifted(self, places: Ints, sign: int) -> Ints:
        n = self.n
        row, column = divmod(self.root, n)
        return (places // n + sign * row) % n * n + (places % n + sign * column) % n

    def up(self, steps: Steps, step: npt.ArrayLike, tree: int, places: Ints, rows: npt.ArrayLike) -> None:
        """Send payloads from places to their parents in a tree."""
        steps.add(step, self._shifted(places, 1), -self.trees.displacement(tree, places), rows)

    def down(self, steps: Steps, step: npt.ArrayLike, tree: int, places: Ints, rows: npt.ArrayLike) -> None:
        """Send payloads to places from their parents in a tree."""
        parent = self.trees.parent[tree][places].astype(np.int64)
        steps.add(step, self._shifted(parent, 1), self.trees.displacement(tree, places), rows)


def gather_by_level(of: TaskOnTrees, steps: Steps, pieces: Sequence[Sequence[Ints]]) -> None:
    """Add the gather in which level l sends in step H - l all that its subtrees hold; `pieces[tree][message]`."""
    trees = of.trees
    if of.count == 1:
        return
    for tree in range(4):
        held: dict[int, list[Ints]] = {}
        for start, these in zip(of.start.tolist(), pieces[tree], strict=True):
            held.setdefault(start, []).append(these)
        for level in range(trees.height, 0, -1):
            nodes = np.array([v for v in trees.children(tree, level).tolist() if v in held], np.int64)
            if not nodes.size:
                continue
            together = [np.concatenate(held[v]) for v in nodes.tolist()]
            of.up(steps, trees.height - level, tree, nodes, [steps.table.row(np.sort(t)) for t in together])
            for v, t in zip(trees.parent[tree][nodes].tolist(), together, strict=True):
                held.setdefault(v, []).append(t)
    steps.end_phase("gather", trees.height)


def _crossings(depth: Ints) -> Ints:
    """Return distinct steps from 1 on, none before the depth, in which pieces at ascending depths reach the root."""
    step = np.zeros(depth.size, np.int64)
    last = 0
    for i, d in enumerate(depth.tolist()):
        last = max(last + 1, d)
        step[i] = last
    return step


def gather_one_by_one(of: TaskOnTrees, steps: Steps, pieces: Sequence[Sequence[Ints]]) -> None:
    """Add the gather in which every piece travels on its own, the near ones first; `pieces[tree][message]`."""
    trees = of.trees
    longest = 0
    for tree in range(4):
        start = np.repeat(of.start, [p.size for p in pieces[tree]])
        piece = np.concatenate([np.zeros(0, np.int64), *pieces[tree]]).astype(np.int64)
        depth = trees.depth[tree][start].astype(np.int64)
        far = np.argsort(depth, kind="stable")
        far = far[depth[far] > 0]
        at, step = start[far], _crossings(depth[far]) - depth[far]
        rows = np.array([steps.table.row([p]) for p in piece[far].tolist()], np.int64)
        while at.size:
            of.up(steps, step, tree, at, rows)
            longest = max(longest, int(step.max()) + 1)
            at = trees.parent[tree][at].astype(np.int64)
            step = step + 1
            going = at != 0
            at, step, rows = at[going], step[going], rows[going]
    steps.end_phase("gather", longest)


def broadcast_down(of: TaskOnTrees, steps: Steps, packets: Sequence[Sequence[Ints]]) -> None:
    """Add the broadcast in which packet i of each tree crosses level l in step i + l - 1; `packets[tree][i]`."""
    trees = of.trees
    for tree in range(4):
        rows = np.array([steps.table.row(np.sort(p)) for p in packets[tree]], np.int64)
        for level in range(1, trees.height + 1):
            nodes = trees.children(tree, level)
            step = np.repeat(np.arange(rows.size) + level - 1, nodes.size)
            of.down(steps, step, tree, np.tile(nodes, rows.size), np.repeat(rows, nodes.size))
    steps.end_phase("broadcast", max(len(p) for p in packets) + trees.height - 1)


def broadcast_cost(of: TaskOnTrees, cost: LinearCost, sizes: npt.NDArray[np.int64], group: int) -> Fraction:
    """Return the exact cost of the broadcast.

    Parameters
    ----------
    of : TaskOnTrees
        The task.
    cost : LinearCost
        Costs.
    sizes : int64[4, cuts]
        Bytes of the pieces of a message on each tree.
    group : int
        Pieces of a packet.
    """
    height = of.trees.height
    packets = -(-of.count * sizes.shape[1] // group)
    most = np.zeros(packets + height - 1, np.int64)
    for tree in range(4):
        of_tree = np.tile(sizes[tree], of.count)
        length = np.add.reduceat(of_tree, np.arange(0, of_tree.size, group))
        for level in range(height):
            most[level : level + packets] = np.maximum(most[level : level + packets], length)
    lengths, times = np.unique(most, return_counts=True)
    return sum((n * cost.step_cost(m, 1) for m, n in zip(lengths.tolist(), times.tolist(), strict=True)), Fraction(0))


def gather_costs(of: TaskOnTrees, cost: LinearCost, sizes: npt.NDArray[np.int64]) -> tuple[Fraction, Fraction]:
    """Return the cost of gathering by level, exact, and piece by piece, exact if all pieces have one size."""
    if of.count == 1:
        return Fraction(0), Fraction(0)
    trees = of.trees
    most = np.zeros(trees.height + 1, np.int64)
    last = 0
    for tree in range(4):
        load = np.bincount(of.start, minlength=of.n**2) * int(sizes[tree].sum())
        for level in range(trees.height, 0, -1):
            places = trees.children(tree, level)
            most[level] = max(most[level], int(load[places].max(initial=0)))
            np.add.at(load, trees.parent[tree][places], load[places])
        depth = np.sort(np.repeat(trees.depth[tree][of.start].astype(np.int64), sizes.shape[1]))
        last = max(last, int(_crossings(depth[depth > 0]).max(initial=0)))
    by_level = sum((cost.step_cost(int(b), 1) for b in most[1:] if b), Fraction(0))
    return by_level, last * cost.step_cost(int(sizes.max()), 1)


_MOST_MESSAGES = 20_000_000

Ints = npt.NDArray[np.int64]


def _quarters(of: TaskOnTrees, cuts: int) -> tuple[Pieces, list[list[Ints]]]:
    """Return the pieces, and for each tree and message those of its quarter, `cuts` of them."""
    pieces = Pieces.of(of.case.messages, of.case.cost.message_bytes, 4 * cuts)
    number = np.arange(pieces.count).reshape(of.count, 4, cuts)
    return pieces, [[number[r, tree] for r in range(of.count)] for tree in range(4)]


def level_by_level(case: WormholeCase) -> WormholeSchedule:
    """Build the multinode broadcast over four trees without pipelining.

    Parameters
    ----------
    case : WormholeCase
        A broadcast or (partial) multinode broadcast of s messages of at least 4 bytes on an n x n torus, n >= 2. A
        single message has its origin as the root and needs no gather.

    Returns
    -------
    WormholeSchedule
        H steps of gathering, in which a message carries all quarters of its subtree, and H of broadcasting with
        s m/4 bytes each, H the height of `shallow_trees`.

    References
    ----------
    The rival in Chen and Chen 2000, section 4 (its formula leaves out the gather: erratum X17, and gives the trees one
    level more: erratum X13).

    Examples
    --------
    >>> import gossamer
    >>> cost = LinearCost(startup=1, per_byte=1, message_bytes=4)
    >>> s = level_by_level(WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"), cost))
    >>> s.startups, bool(gossamer.wormhole.verify(s))
    (10, True)
    """
    of = case.once(TaskOnTrees, case)
    pieces, quarters = _quarters(of, 1)
    steps = Steps(2)
    gather_by_level(of, steps, quarters)
    broadcast_down(of, steps, [[np.concatenate(quarter)] for quarter in quarters])
    return steps.schedule(case, pieces)


class _Cut(NamedTuple):
    """How messages are cut for pipelining: pieces of a quarter, pieces of a packet, and the time."""

    cuts: int
    group: int
    one_by_one: bool
    time: Fraction


def _sizes(cost: LinearCost, cuts: int) -> npt.NDArray[np.int64]:
    """Return the bytes of the pieces of a message on each tree, int64[4, cuts]."""
    number = np.arange(4 * cuts).reshape(4, cuts)
    m = cost.message_bytes
    return np.asarray(m // (4 * cuts) + (number < m % (4 * cuts)), np.int64)


def _best_cut(case: WormholeCase) -> _Cut:
    """Return the cheapest of some cuts around the one that balances start-ups and transmission."""
    of, cost = case.once(TaskOnTrees, case), case.cost
    s, H, quarter = of.count, of.trees.height, -(-cost.message_bytes // 4)
    groups = sorted({-(-s // k) for k in range(1, s + 1)})
    if len(groups) > 64:
        groups = [groups[i] for i in np.unique(np.geomspace(1, len(groups), 64).astype(int) - 1)]
    startup = cost.step_cost(0, 1)
    ideal = math.sqrt(s * quarter * (H - 1) * cost.per_byte / startup) if startup else s * quarter
    about = int(ideal / s)
    finer = [c for c in sorted({about // 2, about, about + 1, 2 * about}) if 1 < c <= quarter]
    best: _Cut | None = None
    for cuts, group in [(1, group) for group in groups] + [(c, 1) for c in finer]:
        if best is not None and -(-s * cuts // group) * 4 * of.n**2 > _MOST_MESSAGES:
            continue
        sizes = _sizes(cost, cuts)
        by_level, one_by_one = gather_costs(of, cost, sizes)
        time = broadcast_cost(of, cost, sizes, group) + min(by_level, one_by_one)
        if best is None or time < best.time:
            best = _Cut(cuts, group, one_by_one < by_level, time)
    assert best is not None
    return best


def pipelined(case: WormholeCase) -> WormholeSchedule:
    """Build the multinode broadcast over four trees with pipelining.

    Parameters
    ----------
    case : WormholeCase
        As for `level_by_level`.

    Returns
    -------
    WormholeSchedule
        The packets' length is chosen by the closed form: k packets of p bytes take ``(H-1+k)(T_s + p T_c)`` down; the
        gather is the cheaper of level by level and one by one.

    References
    ----------
    The rival in Chen and Chen 2000, section 4, pipelined: erratum X9.

    Examples
    --------
    >>> import gossamer
    >>> cost = LinearCost(startup=1, per_byte=1, message_bytes=64)
    >>> case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"), cost)
    >>> pipelined(case).completion_time < level_by_level(case).completion_time
    True
    """
    of, cut = case.once(TaskOnTrees, case), case.once(_best_cut, case)
    pieces, quarters = _quarters(of, cut.cuts)
    steps = Steps(2)
    (gather_one_by_one if cut.one_by_one else gather_by_level)(of, steps, quarters)
    lists = [np.concatenate(quarter) for quarter in quarters]
    packets = [[each[i : i + cut.group] for i in range(0, each.size, cut.group)] for each in lists]
    broadcast_down(of, steps, packets)
    return steps.schedule(case, pieces)


def tree_by_rank(case: WormholeCase) -> WormholeSchedule:
    """Build the multinode broadcast in which the message of rank r uses tree r mod 4, whole.

    Parameters
    ----------
    case : WormholeCase
        A (partial) multinode broadcast of s messages on an n x n torus, n >= 2.

    Returns
    -------
    WormholeSchedule
        Phases ``prefix`` (control messages, where the active nodes are not known ahead), ``gather`` and ``broadcast``;
        about ``2(H-1+ceil(s/4))`` steps of one message each besides the prefix.

    References
    ----------
    Gossamer, after Varvarigos and Bertsekas 1994, section 3.1.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-multinode-broadcast", active=[1, 5, 7, 8, 15])
    >>> s = tree_by_rank(WormholeCase(gossamer.network("torus:4x4"), task))
    >>> [(p.name, p.steps) for p in s.phases], bool(gossamer.wormhole.verify(s))
    ([('prefix', 12), ('gather', 4), ('broadcast', 6)], True)
    """
    of = case.once(TaskOnTrees, case)
    pieces = Pieces.of(case.messages, case.cost.message_bytes, 1)
    steps = Steps(2)
    if isinstance(case.task, PartialMultinodeBroadcast):
        grid = case.network.grid
        assert grid is not None
        control = prefix_phase("prefix", rotations(grid)[:1], links_along(case.network), [of.n - 1] * 2)
        add_hops(steps, case.channels, control.step, control.link, CONTROL)
        steps.end_phase(control.name, control.slots, control=True)
    nothing = np.zeros(0, np.int64)
    of_tree = [[np.array([r]) if r % 4 == tree else nothing for r in range(of.count)] for tree in range(4)]
    gather_one_by_one(of, steps, of_tree)
    broadcast_down(of, steps, [[p for p in each if p.size] for each in of_tree])
    return steps.schedule(case, pieces)


def _refusal(case: WormholeCase) -> Refusal | None:
    channels = case.channels
    if channels.dimensions != 2 or not all(channels.wraps) or channels.sides[0] != channels.sides[1]:
        return Refusal("needs an n x n torus with n >= 2")
    return None


def _in_quarters(case: WormholeCase) -> Refusal | None:
    few = case.cost.message_bytes < 4
    return _refusal(case) or (Refusal("cuts messages in quarters, so they need 4 bytes") if few else None)


def _propose_levels(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    refusal = _in_quarters(case)
    if refusal is not None:
        return refusal
    of, sizes = case.once(TaskOnTrees, case), _sizes(case.cost, 1)
    time = gather_costs(of, case.cost, sizes)[0] + broadcast_cost(of, case.cost, sizes, of.count)
    return Offer(lambda: level_by_level(case), time=time)


def _propose_pipelined(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    refusal = _in_quarters(case)
    return refusal or Offer(
        lambda: pipelined(case), time=case.once(_best_cut, case).time, at_most=True, hop_seconds=3e-6
    )


def _propose_by_rank(case: WormholeCase) -> Offer[WormholeSchedule] | Refusal:
    refusal = _refusal(case) or too_many_messages(case.sources * case.network.node_count, _MOST_MESSAGES)
    # what crosses one arc at the root: ceil(s/4) messages out, and before that all but its own in
    crossing = 2 * -(-case.sources // 4) - 1
    return refusal or Offer(
        lambda: tree_by_rank(case), least=crossing * case.cost.step_cost(case.cost.message_bytes), hop_seconds=2e-6
    )


_MULTINODE = (MultinodeBroadcast, PartialMultinodeBroadcast)

EDST = (
    WormholeAlgorithm(
        name="spanning-trees",
        tasks=(Broadcast, *_MULTINODE),
        propose=_propose_levels,
        networks="n x n tori",
        source="the rival in Chen and Chen 2000",
        summary="quarters gather and go down four arc-disjoint spanning trees, level by level",
    ),
    WormholeAlgorithm(
        name="spanning-trees-pipelined",
        tasks=(Broadcast, *_MULTINODE),
        propose=_propose_pipelined,
        networks="n x n tori",
        source="the rival in Chen and Chen 2000, pipelined",
        summary="quarters gather and go down four arc-disjoint spanning trees in packets that follow each other",
    ),
    WormholeAlgorithm(
        name="tree-by-rank",
        tasks=_MULTINODE,
        propose=_propose_by_rank,
        networks="n x n tori",
        source="after the combined form of Varvarigos and Bertsekas 1994",
        summary="the message of rank r goes up and down tree r mod 4, whole",
    ),
)
"""The multinode broadcasts over arc-disjoint spanning trees."""
