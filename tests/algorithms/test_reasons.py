"""What algorithms ask of networks and models, and the words in which they say so."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.reasons import all_ports_reason, buffer_reason, cayley_reason, opposite_reason, unit_reason
from gossamer.model import Model
from gossamer.networks import Network

UNLIMITED = "does not limit the packets that a node holds"
ONE_WAY = Network("one-way", 3, [0, 1, 2], [1, 2, 0], links_only=True)
APART = Network("apart", 4, [0, 1, 2, 3], [1, 0, 3, 2], links_only=True)


@pytest.mark.parametrize(
    ("model", "held", "why"),
    [
        (Model(), None, None),
        (Model(ports="one"), None, "needs all ports at once, not ports 'one'"),
        (Model(ports="one-send", buffer=9), 3, "needs all ports at once, not ports 'one-send'"),
        (Model(buffer=9), None, UNLIMITED),
        (Model(buffer=3), 3, None),
        (Model(buffer=2), 3, "may keep 3 packets at one node, more than the buffer of 2"),
    ],
)
def test_a_model_is_declined_for_its_ports_first_and_then_for_its_buffer(model, held, why):
    assert all_ports_reason(model, held) == why
    if model.ports == "all":
        assert buffer_reason(model, held) == why


@pytest.mark.parametrize(
    ("reason", "network", "why"),
    [
        (cayley_reason, gossamer.network("array:3"), "needs a Cayley network"),
        (cayley_reason, gossamer.network("torus:3x4"), None),
        (opposite_reason, ONE_WAY, "needs an opposite for every link"),
        (opposite_reason, APART, None),
        (opposite_reason, gossamer.network("array:1"), None),
        (unit_reason, gossamer.network("fat-tree:k=2,h=2"), "needs links of capacity 1 and no routing nodes"),
        (unit_reason, Network("wide", 2, [0, 1], [1, 0], np.array([2, 2])), "needs links of capacity 1 and no"),
        (unit_reason, gossamer.network("array:1"), "needs at least 2 nodes"),
        (unit_reason, gossamer.network("array:2"), None),
    ],
)
def test_a_network_is_declined_for_what_it_lacks(reason, network, why):
    said = reason(network)
    assert said is None if why is None else said is not None and said.startswith(why)


def test_all_algorithms_have_the_same_words_for_ports_and_buffers():
    said = set()
    for algorithm in ALGORITHMS:
        try:
            task = gossamer.task(algorithm.task.name)
        except gossamer.GossamerError:  # it needs fields
            continue
        for spec in ("torus:4x4", "array:4x4", "ring:5", "hypercube:3"):
            network = gossamer.network(spec)
            if not algorithm.covers(network, task, Model()):
                continue
            said |= {algorithm.reason(network, task, model) for model in (Model(ports="one"), Model(buffer=1))}
    about = {reason for reason in said if reason is not None and ("ports" in reason or "limit" in reason)}
    hint = "needs ports all; with one port furthest-first is optimal"
    assert about == {"needs all ports at once, not ports 'one'", UNLIMITED, hint}
