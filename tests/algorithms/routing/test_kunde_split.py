"""Kunde's routing of halves: half the time of whole messages, with each step's links shared out by dimension."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.routing.kunde import KUNDE_SPLIT, most_held
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import pattern, random_partial
from gossamer.verification import buffer_peak, verify

SPLIT = Rules(split=True)


@pytest.mark.parametrize(("side", "blocks"), [(2, 2), (4, 4), (6, 2), (8, 2), (8, 4), (12, 2), (16, 4)])
@pytest.mark.parametrize("name", ["random", "transpose", "reversal", "partial"])
def test_halves_take_half_the_time_and_twice_the_places(side, blocks, name):
    network = gossamer.network(f"array:{side}x{side}")
    found = random_partial(network, side * side // 2, seed=1) if name == "partial" else pattern(name, network, seed=1)
    task = Permutation(tuple(np.asarray(found).tolist()))
    router = KUNDE_SPLIT[blocks // 4]
    whole = gossamer.plan(network, task, algorithm=f"kunde-{blocks}")
    made = router.build(Case(network, task, SPLIT))
    verify(made).raise_if_invalid()
    assert made.parts == 2
    assert whole.completion_time <= 2 * made.completion_time <= whole.claim
    assert made.completion_time <= router.offer(Case(network, task, SPLIT)).time
    assert buffer_peak(made, "all").packets <= 2 * most_held(blocks)


def test_in_every_slot_one_half_uses_rows_and_the_other_columns():
    network = gossamer.network("array:8x8")
    task = Permutation(tuple(pattern("random", network, seed=2).tolist()))
    made = KUNDE_SPLIT[0].build(Case(network, task, SPLIT))
    ends = network.coordinates[network.link_target[made.link]] - network.coordinates[network.link_source[made.link]]
    along_row = ends[:, 1] != 0
    half = made.packets.part[made.packet]
    for slot in range(made.slot_count):
        here = made.slot == slot
        for which in (0, 1):
            assert len(set(along_row[here & (half == which)].tolist())) <= 1
        assert not set(along_row[here & (half == 0)].tolist()) & set(along_row[here & (half == 1)].tolist())


@pytest.mark.parametrize(
    ("spec", "rules", "why"),
    [
        ("array:8x8", Rules(), "needs segmented messages"),
        ("array:8x4", SPLIT, "needs a square two-dimensional array"),
        ("torus:8x8", SPLIT, "needs a square two-dimensional array"),
        ("array:7x7", SPLIT, "needs a side that is a multiple of 2"),
        ("array:8x8", Rules(split=True, buffer=9), "may keep 10 packets at one node, more than the buffer of 9"),
    ],
)
def test_what_it_does_not_cover_is_said(spec, rules, why):
    network = gossamer.network(spec)
    refusal = KUNDE_SPLIT[0].offers(Case(network, Permutation(tuple(range(network.node_count))), rules))
    assert isinstance(refusal, Refusal)
    assert refusal.why == why
