"""Every routing algorithm of many messages streams its hops, and streams them where there are too many to keep."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms import algorithms_for
from gossamer.planning.switching.store_and_forward import CheckingSink
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.schedules import schedule as schedules
from gossamer.verification.metrics import buffer_peak

COUNTED = Rules(), StepCost("1/2")
KEPT = {"disjoint-paths", "kunde-split-2", "kunde-split-4"}  # parts of messages are checked in whole schedules only
ROUTING = [a for a in algorithms_for(Permutation) if {*a.tasks} & {Permutation, OneToManyRouting} and not a.timed]
STREAMING = [a for a in ROUTING if not a.name.endswith("-clock") and a.name not in KEPT]


def case_of(spec, kind):
    """Return a case whose destinations are random, in the order of the sources, or the first nodes."""
    network, draw = gossamer.network(spec), np.random.default_rng(7)
    n = network.node_count
    sources = np.sort(draw.choice(n, 2 * n // 3, replace=False))
    ends = {"packed": np.arange(sources.size), "ordered": np.sort(draw.choice(n, sources.size, replace=False))}
    destination = np.full(n, -1)
    destination[sources] = ends.get(kind, draw.choice(n, sources.size, replace=False))
    return Case(network, Permutation(tuple(destination.tolist())), *COUNTED, seed=5)


@pytest.mark.parametrize(("spec", "chunk"), [("array:8x8", 50), ("torus:4x6", 1), ("array:4x4x4", 1 << 20)])
@pytest.mark.parametrize("algorithm", STREAMING, ids=lambda a: a.name)
def test_a_streamed_run_is_the_schedule(algorithm, spec, chunk):
    cases = [case_of(spec, kind) for kind in ("packed", "ordered", "random")]
    for case in cases:
        offers = algorithm.offers(case, streamed=True)
        assert isinstance(offers, Refusal) == isinstance(algorithm.offers(case), Refusal)
        if isinstance(offers, Refusal):
            continue
        schedule, sink = algorithm.build(case), CheckingSink(case, chunk_hops=chunk)
        offers[0].stream(sink)
        found = sink.checker.finish()
        assert found
        assert sink.completion_time == schedule.completion_time
        assert [(p.name, p.steps, p.control) for p in sink.phases] == [
            (p.name, p.slots, p.control) for p in schedule.phases
        ]
        assert found.hops == np.count_nonzero(schedule.packet >= 0)
        assert found.hops + found.control_hops == schedule.hop_count
        assert found.buffer.packets == buffer_peak(schedule, "all").packets


def test_all_algorithms_for_permutations_are_tried():
    covered = {
        a.name for a in STREAMING for kind in ("packed", "ordered", "random") if a.covers(case_of("array:16x16", kind))
    }
    assert covered == {a.name for a in STREAMING}


@pytest.mark.parametrize("algorithm", STREAMING, ids=lambda a: a.name)
def test_too_many_hops_to_keep_are_streamed_only(algorithm, monkeypatch):
    from gossamer.algorithms import algorithm as refusals
    from gossamer.algorithms.routing import greedy as messages

    case = case_of("array:16x16", "packed")
    for module in (refusals, messages, schedules):
        monkeypatch.setattr(module, "MAX_HOPS", 100)
    refused = algorithm.offers(case)
    assert isinstance(refused, Refusal)
    assert "at most 100 are allowed; stream them (--stream)" in refused.why
    assert algorithm.offers(case, streamed=True)[0].stream is not None


def test_copies_and_clocks_are_not_streamed():
    network = gossamer.network("array:4x4")
    q, clock = (next(a for a in ROUTING if a.name == name) for name in ("Q", "Q-clock"))
    copies = Case(network, OneToManyRouting(((1, 2), *[()] * 15)))
    assert q.offers(copies, streamed=True) == Refusal("cannot stream its hops")
    assert clock.offers(case_of("array:4x4", "random"), streamed=True) == Refusal("cannot stream its hops")
    assert q.offers(copies)[0].time is not None
