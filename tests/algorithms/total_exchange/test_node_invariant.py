"""Node-invariant total exchange takes the status with one port, whatever the discipline and the routes."""

from __future__ import annotations

from collections import deque
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.node_invariant import (
    GREEDY_OFFSETS,
    NODE_INVARIANT_FIFO,
    Discipline,
    first_generators,
    greedy_offsets_exchange,
    node_invariant_exchange,
)
from gossamer.bounds import best_bound
from gossamer.errors import ModelError, NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK, ONE = TotalExchange(), Rules(ports="one")
DISCIPLINES = get_args(Discipline)

GRAPHS = [  # 30 reference graphs
    "complete:5", "complete:8", "ring:2", "ring:7", "ring:8", "extended-ring:14,2", "extended-ring:12,3",
    "circulant:13,1,5", "circulant:12,2,3", *(f"hypercube:{d}" for d in range(1, 7)),
    *(f"ccc:{d}" for d in range(2, 6)), *(f"butterfly:{d}" for d in range(2, 6)),
    "star:3", "star:4", "star:5", "pancake:3", "pancake:4", "bubble-sort:3", "bubble-sort:4",
]  # fmt: skip

STATUS = {  # 11.6
    "complete:5": 4, "ring:7": 12, "ring:8": 16, "extended-ring:14,2": 28, "extended-ring:12,3": 16,
    "circulant:13,1,5": 20, "circulant:12,2,3": 18, "hypercube:3": 12, "hypercube:4": 32, "hypercube:5": 80,
    "hypercube:6": 192, "ccc:3": 74, "ccc:4": 296, "ccc:5": 952, "butterfly:3": 55, "butterfly:4": 216,
    "butterfly:5": 690, "star:3": 9, "star:4": 62, "star:5": 442, "pancake:4": 60, "bubble-sort:4": 72,
}  # fmt: skip


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("spec", [*GRAPHS, "star:6", "ccc:8"])
def test_theorem_4_11_every_discipline_takes_the_status(spec, discipline):
    network = gossamer.network(spec)
    status = int(network.distances(0).sum())
    assert status == STATUS.get(spec, status)
    for routes, seed in (("lowest", 0), ("random", 1), ("random", 2)):
        schedule = node_invariant_exchange(Case(network, TASK, ONE, seed=seed), discipline=discipline, routes=routes)
        assert gossamer.verify(schedule)
        assert schedule.completion_time == schedule.stored_hops == status


@pytest.mark.parametrize("spec", [*GRAPHS, "star:6", "ccc:8"])
@pytest.mark.parametrize("ports", ["one", "one-send", "all"])
def test_claim_meets_the_bound_where_ports_are_limited(spec, ports):
    network, model = gossamer.network(spec), Rules(ports=ports)
    schedule = NODE_INVARIANT_FIFO.build(Case(network, TASK, model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == NODE_INVARIANT_FIFO.offer(Case(network, TASK, model)).time
    if ports != "all":
        assert schedule.completion_time == best_bound(Case(network, TASK, model)).value


@given(
    st.sampled_from([g for g in GRAPHS if g not in ("ccc:5", "butterfly:5")]), st.sampled_from(DISCIPLINES), st.data()
)
@settings(max_examples=40, deadline=None)
def test_any_seed_of_routes_takes_the_status(spec, discipline, data):
    network = gossamer.network(spec)
    schedule = node_invariant_exchange(
        Case(network, TASK, ONE, seed=data.draw(st.integers(0, 10**6))), discipline=discipline, routes="random"
    )
    assert gossamer.verify(schedule)
    assert schedule.completion_time == network.distances(0).sum()


def sent_by(schedule, node):
    """Return what a node sends, in the order of time: (step from 1, neighbor, origin, destination)."""
    explicit = schedule.expand()
    network, n = explicit.network, explicit.network.node_count
    rows = np.flatnonzero(network.link_source[explicit.link] == node)
    message = explicit.packets.message[explicit.packet[rows]]
    to = network.link_target[explicit.link[rows]]
    return list(
        zip((explicit.slot[rows] + 1).tolist(), to.tolist(), *(x.tolist() for x in divmod(message, n)), strict=True)
    )


def test_hypercube_2_as_in_11_6():
    schedule = NODE_INVARIANT_FIFO.build(Case(gossamer.network("hypercube:2"), TASK, ONE))
    assert sent_by(schedule, 0) == [(1, 2, 0, 3), (2, 2, 0, 2), (3, 1, 0, 1), (4, 1, 2, 1)]


def test_hypercube_3_as_in_11_6():
    schedule = NODE_INVARIANT_FIFO.build(Case(gossamer.network("hypercube:3"), TASK, ONE))
    expected = [
        *((4, 0, 7), (4, 0, 6), (4, 0, 5), (4, 0, 4), (2, 0, 3), (2, 0, 2), (1, 0, 1)),
        *((2, 4, 3), (2, 4, 2), (1, 4, 1), (1, 2, 1), (1, 6, 1)),
    ]
    assert sent_by(schedule, 0) == [(i, *row) for i, row in enumerate(expected, 1)]


@pytest.mark.parametrize("d", range(1, 8))
def test_te5_takes_d_times_2_to_the_d_minus_1_by_the_leftmost_1(d):
    network = gossamer.network(f"hypercube:{d}")
    letter, _ = first_generators(network)
    leftmost = [d - y.bit_length() for y in range(1, 2**d)]  # dimension 0 is the most significant bit
    assert letter[1:].tolist() == leftmost
    assert NODE_INVARIANT_FIFO.build(Case(network, TASK, ONE)).completion_time == d * 2 ** (d - 1)


def simulated(network, discipline, letter):
    """Return {(slot, node, neighbor, origin, destination)} of TE4 with a queue at every node, as in Fig. 4.5."""
    n, distance = network.node_count, network.distances(0).tolist()
    nodes = np.arange(n)
    times = network.group.compose(nodes[:, None], nodes).tolist()
    inverse = network.group.inverse(nodes).tolist()
    queues = [deque((v, times[v][y]) for y in range(n - 1, 0, -1)) for v in range(n)]
    hops, slot = set(), 0
    while any(queues):
        arrived = []
        for v, queue in enumerate(queues):
            rest = [times[inverse[v]][d] for _, d in queue]
            key = {
                "fifo": lambda i: i,
                "lifo": lambda i: i,
                "furthest-first": lambda i, rest=rest: (-distance[rest[i]], i),
                "closest-first": lambda i, rest=rest: (distance[rest[i]], i),
            }[discipline]
            i = min(range(len(queue)), key=key)
            message = queue[i]
            del queue[i]
            w = int(network.link_target[v * network.degree + letter[rest[i]]])
            hops.add((slot, v, w, *message))
            if w != message[1]:
                arrived.append((w, message))
        for w, message in arrived:
            queues[w].appendleft(message) if discipline == "lifo" else queues[w].append(message)
        slot += 1
    return hops


@pytest.mark.parametrize("discipline", [d for d in DISCIPLINES if d != "random"])
@pytest.mark.parametrize("spec", ["ring:7", "torus:3x4", "star:4", "ccc:3", "circulant:13,1,5"])
def test_lemma_4_9_the_queue_of_the_identity_stands_for_all(spec, discipline):
    network = gossamer.network(spec)
    explicit = node_invariant_exchange(Case(network, TASK, ONE), discipline=discipline).expand()
    message = explicit.packets.message[explicit.packet]
    built = set(
        zip(
            explicit.slot.tolist(), network.link_source[explicit.link].tolist(),
            network.link_target[explicit.link].tolist(), *(x.tolist() for x in divmod(message, network.node_count)),
            strict=True,
        )
    )  # fmt: skip
    assert built == simulated(network, discipline, first_generators(network)[0])


def test_the_same_seed_gives_the_same_schedule():
    network = gossamer.network("star:4")
    one, same, other = (
        node_invariant_exchange(Case(network, TASK, ONE, seed=s), discipline="random", routes="random")
        for s in (1, 1, 2)
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ({"discipline": "fif"}, "discipline must be one of 'fifo', .* got 'fif' .did you mean 'fifo'"),
        ({"routes": "shortest"}, "routes must be one of 'lowest', 'random', got 'shortest'"),
    ],
)
def test_unknown_words_are_refused(kind, message):
    with pytest.raises(ModelError, match=message):
        node_invariant_exchange(Case(gossamer.network("ring:5"), TASK, ONE), **kind)


@pytest.mark.parametrize(
    ("algorithm", "spec", "model", "why"),
    [
        (NODE_INVARIANT_FIFO, "array:4", ONE, "needs a Cayley network"),
        (NODE_INVARIANT_FIFO, "ring:9", Rules(ports="one", buffer=3), "does not limit the packets that a node holds"),
        (GREEDY_OFFSETS, "ring:9", ONE, "is for all-port nodes, not one-port"),
        (GREEDY_OFFSETS, "hypercube:16", Rules(), "needs at most 50,000 nodes"),
    ],
)
def test_says_why_it_does_not_cover(algorithm, spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        algorithm.build(Case(gossamer.network(spec), TASK, model))


@pytest.mark.parametrize("spec", ["star:4", "pancake:4", "hypercube:6", "complete:6", "circulant:13,1,5"])
def test_greedy_offsets_meet_the_bound_here(spec):
    network = gossamer.network(spec)
    schedule = greedy_offsets_exchange(Case(network, TASK, Rules()))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == best_bound(Case(network, TASK, Rules())).value


@pytest.mark.parametrize("spec", ["star:5", "star:6", "pancake:5", "bubble-sort:4", "ccc:4", "butterfly:4"])
def test_greedy_offsets_stay_within_a_third_of_the_bound(spec):
    network = gossamer.network(spec)
    schedule = greedy_offsets_exchange(Case(network, TASK, Rules()))
    assert gossamer.verify(schedule)
    assert schedule.completion_time * 3 <= 4 * best_bound(Case(network, TASK, Rules())).value
