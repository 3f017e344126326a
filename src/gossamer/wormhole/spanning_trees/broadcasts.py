"""Multinode broadcast over four arc-disjoint spanning trees: gather to a root, then broadcast down.

Every message is cut in four quarters; quarter k travels on tree k. *Level by level*, a node waits for its whole subtree
before it sends on, and the root's messages go down as one. *Pipelined*, quarters are cut or grouped in packets that
follow each other. *By rank*, messages stay whole and the message of rank r uses tree r mod 4.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.costs import LinearCost
from gossamer.networks.network import Network
from gossamer.paths.prefix import prefix_phase
from gossamer.paths.rotation import links_along, rotations
from gossamer.tasks import Broadcast, MultinodeBroadcast, PartialMultinodeBroadcast, Task
from gossamer.wormhole.algorithm import WormholeAlgorithm, too_many_messages
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.payloads import CONTROL, Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.spanning_trees.task_on_trees import (
    TaskOnTrees,
    broadcast_cost,
    broadcast_down,
    gather_by_level,
    gather_costs,
    gather_one_by_one,
)
from gossamer.wormhole.steps import Steps
from gossamer.wormhole.store_and_forward import add_hops

__all__ = ["EDST", "level_by_level", "pipelined", "tree_by_rank"]

_MOST_MESSAGES = 20_000_000

Ints = npt.NDArray[np.int64]


def _quarters(of: TaskOnTrees, cost: LinearCost, cuts: int) -> tuple[Pieces, list[list[Ints]]]:
    """Return the pieces, and for each tree and message those of its quarter, `cuts` of them."""
    pieces = Pieces.of(of.task.messages(of.network), cost.message_bytes, 4 * cuts)
    number = np.arange(pieces.count).reshape(of.count, 4, cuts)
    return pieces, [[number[r, tree] for r in range(of.count)] for tree in range(4)]


def level_by_level(network: Network, task: Task, cost: LinearCost, *, seed: int = 0) -> WormholeSchedule:
    """Build the multinode broadcast over four trees without pipelining.

    Parameters
    ----------
    network : Network
        An n x n torus, n >= 2.
    task : Broadcast, MultinodeBroadcast or PartialMultinodeBroadcast
        The s broadcasts. A single one has its origin as the root and needs no gather.
    cost : LinearCost
        Costs; messages of at least 4 bytes.
    seed : int
        Ignored.

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
    >>> s = level_by_level(gossamer.network("torus:4x4"), gossamer.task("allgather"), cost)
    >>> s.startups, bool(gossamer.wormhole.verify(s))
    (10, True)
    """
    of = TaskOnTrees(network, task)
    pieces, quarters = _quarters(of, cost, 1)
    steps = Steps(2)
    gather_by_level(of, steps, quarters)
    broadcast_down(of, steps, [[np.concatenate(quarter)] for quarter in quarters])
    return steps.schedule(network, task, cost, pieces)


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


def _best_cut(of: TaskOnTrees, cost: LinearCost) -> _Cut:
    """Return the cheapest of some cuts around the one that balances start-ups and transmission."""
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


def pipelined(network: Network, task: Task, cost: LinearCost, *, seed: int = 0) -> WormholeSchedule:
    """Build the multinode broadcast over four trees with pipelining.

    Parameters
    ----------
    network, task, cost, seed
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
    >>> s = pipelined(gossamer.network("torus:4x4"), gossamer.task("allgather"), cost)
    >>> s.completion_time < level_by_level(s.network, s.task, cost).completion_time
    True
    """
    of = TaskOnTrees(network, task)
    cut = _best_cut(of, cost)
    pieces, quarters = _quarters(of, cost, cut.cuts)
    steps = Steps(2)
    (gather_one_by_one if cut.one_by_one else gather_by_level)(of, steps, quarters)
    lists = [np.concatenate(quarter) for quarter in quarters]
    packets = [[each[i : i + cut.group] for i in range(0, each.size, cut.group)] for each in lists]
    broadcast_down(of, steps, packets)
    return steps.schedule(network, task, cost, pieces)


def tree_by_rank(network: Network, task: Task, cost: LinearCost, *, seed: int = 0) -> WormholeSchedule:
    """Build the multinode broadcast in which the message of rank r uses tree r mod 4, whole.

    Parameters
    ----------
    network : Network
        An n x n torus, n >= 2.
    task : MultinodeBroadcast or PartialMultinodeBroadcast
        The s broadcasts.
    cost : LinearCost
        Costs.
    seed : int
        Ignored.

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
    >>> s = tree_by_rank(gossamer.network("torus:4x4"), task, LinearCost())
    >>> [(p.name, p.steps) for p in s.phases], bool(gossamer.wormhole.verify(s))
    ([('prefix', 12), ('gather', 4), ('broadcast', 6)], True)
    """
    of = TaskOnTrees(network, task)
    pieces = Pieces.of(task.messages(network), cost.message_bytes, 1)
    steps = Steps(2)
    if isinstance(task, PartialMultinodeBroadcast):
        assert network.grid is not None
        control = prefix_phase("prefix", rotations(network.grid)[:1], links_along(network), [of.n - 1] * 2)
        add_hops(steps, network, control.step, control.link, CONTROL)
        steps.end_phase(control.name, control.slots, control=True)
    nothing = np.zeros(0, np.int64)
    of_tree = [[np.array([r]) if r % 4 == tree else nothing for r in range(of.count)] for tree in range(4)]
    gather_one_by_one(of, steps, of_tree)
    broadcast_down(of, steps, [[p for p in each if p.size] for each in of_tree])
    return steps.schedule(network, task, cost, pieces)


def _reason(network: Network, task: Task, cost: LinearCost, *, quarters: bool) -> str | None:
    channels = Channels(network)
    if channels.dimensions != 2 or not all(channels.wraps) or channels.sides[0] != channels.sides[1]:
        return "needs an n x n torus with n >= 2"
    if quarters and cost.message_bytes < 4:
        return "cuts messages in quarters, so they need 4 bytes"
    messages = int(task.messages(network).ids.size)
    return None if quarters else too_many_messages(messages * network.node_count, _MOST_MESSAGES)


def _level_claim(network: Network, task: Task, cost: LinearCost) -> Fraction:
    of, sizes = TaskOnTrees(network, task), _sizes(cost, 1)
    return gather_costs(of, cost, sizes)[0] + broadcast_cost(of, cost, sizes, of.count)


def _pipelined_claim(network: Network, task: Task, cost: LinearCost) -> Fraction:
    return _best_cut(TaskOnTrees(network, task), cost).time


def _no_claim(network: Network, task: Task, cost: LinearCost) -> Fraction | None:
    return None


def _rank_least(network: Network, task: Task, cost: LinearCost) -> Fraction:
    """Count what crosses one arc at the root: ceil(s/4) messages out, and before that all but its own in."""
    return (2 * -(-task.messages(network).count // 4) - 1) * cost.step_cost(cost.message_bytes)


_MULTINODE = (MultinodeBroadcast, PartialMultinodeBroadcast)

EDST = (
    WormholeAlgorithm(
        name="spanning-trees",
        task=(Broadcast, *_MULTINODE),
        builder=level_by_level,
        reason=partial(_reason, quarters=True),
        claim=_level_claim,
        networks="n x n tori",
        source="the rival in Chen and Chen 2000",
        summary="quarters gather and go down four arc-disjoint spanning trees, level by level",
    ),
    WormholeAlgorithm(
        name="spanning-trees-pipelined",
        task=(Broadcast, *_MULTINODE),
        builder=pipelined,
        reason=partial(_reason, quarters=True),
        claim=_pipelined_claim,
        claim_is_bound=True,
        networks="n x n tori",
        source="the rival in Chen and Chen 2000, pipelined",
        summary="quarters gather and go down four arc-disjoint spanning trees in packets that follow each other",
    ),
    WormholeAlgorithm(
        name="tree-by-rank",
        task=_MULTINODE,
        builder=tree_by_rank,
        reason=partial(_reason, quarters=False),
        claim=_no_claim,
        least=_rank_least,
        networks="n x n tori",
        source="after the combined form of Varvarigos and Bertsekas 1994",
        summary="the message of rank r goes up and down tree r mod 4, whole",
    ),
)
"""The multinode broadcasts over arc-disjoint spanning trees."""
