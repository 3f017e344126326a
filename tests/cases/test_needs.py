"""What a plan needs, estimated before it is begun: close to what it takes, and refused where it is too much."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.errors import ModelError, TooLargeError
from gossamer.jit import uninterpreted
from gossamer.questions.cases import Case
from gossamer.questions.cases.algorithm_offers import about_hops, needs

CASES = (
    ("array:16x16", "alltoall", "array-rounds"),
    pytest.param("array:12x20", "alltoall", "array-rounds", marks=pytest.mark.slow),
    ("array:100x100", "scatter", "furthest-first"),
    ("array:100x100", "gather", "reversed-furthest-first"),
    pytest.param("torus:120x120", "scatter", "furthest-first", marks=pytest.mark.slow),
    pytest.param("hypercube:13", "scatter", "furthest-first", marks=pytest.mark.slow),
    ("hypercube:15", "scatter", "furthest-first"),
    pytest.param("array:400x400", "broadcast", "shortest-path-tree", marks=pytest.mark.slow),
    ("torus:300x300", "reduce", "reversed-shortest-path-tree"),
    ("kautz:3,8", "broadcast", "shortest-path-tree"),
    ("array:24x24", "allgather", "torus-on-array"),
    ("array:24x24", "reduce-scatter", "reversed-torus-on-array"),
    ("array:20x20", "allreduce", "two-way-torus-on-array"),
    ("fat-tree:k=4,h=4", "alltoall", "fat-tree-digitwise"),
    ("fat-tree:k=4,h=4", "allgather", "fat-tree-flooding"),
    pytest.param("fat-tree:k=4,h=4", "gather", "reversed-furthest-first", marks=pytest.mark.slow),
    ("kautz:2,7", "allgather", "greedy-flooding"),
    pytest.param("jellyfish:n=400,d=4,seed=1", "allgather", "greedy-flooding", marks=pytest.mark.slow),
    ("jellyfish:n=128,d=4,seed=1", "allgather", "congestion-priced-trees"),
    pytest.param("jellyfish:n=40,d=4,seed=1", "alltoall", "congestion-priced-paths", marks=pytest.mark.slow),
    ("torus:6x6", "alltoall", "congestion-priced-paths"),
    pytest.param("fat-tree:k=4,h=3", "allreduce", "pipelined-trees", marks=pytest.mark.slow),
    ("ring:1000", "alltoall", "edge-colored"),
    pytest.param("complete:1500", "alltoall", "edge-colored", marks=pytest.mark.slow),
)


def offer_of(case: Case, name: str):
    (found,) = [a.offer(case) for a in ALGORITHMS if a.name == name and isinstance(case.task, a.tasks)]
    return found


@pytest.mark.exhaustive(always=6)
@pytest.mark.parametrize(("spec", "task", "algorithm"), CASES)
def test_memory_is_estimated_within_a_factor_of_two(spec, task, algorithm):
    """Measured is the peak of what Python and NumPy allocate: bounds, schedule, checking and measuring."""
    case = Case(gossamer.network(spec), gossamer.task(task))
    told = needs(case, offer_of(case, algorithm))
    with uninterpreted():  # what is compiled or loaded once
        gossamer.plan("array:3x3" if "array" in spec else spec, task, algorithm=algorithm)
    gc.collect()
    tracemalloc.start()
    try:
        gossamer.plan(spec, task, algorithm=algorithm)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    least = 3_000_000  # below that it does not matter
    assert told.bytes <= 2 * max(peak, least)
    assert peak <= 2 * max(told.bytes, least)


@pytest.mark.parametrize("spec", ["array:5x6", "torus:4x5", "kautz:2,3", "jellyfish:n=20,d=3,seed=2", "star:4"])
@pytest.mark.parametrize("task", ["alltoall", "allgather", "scatter", "broadcast", "reduce-scatter", "permutation"])
def test_hops_are_about_those_of_the_plan(spec, task):
    words = {"destinations": "random"} if task == "permutation" else {}
    net = gossamer.network(spec)
    made = gossamer.task(task) if not words else gossamer.questions.tasks.Permutation([*range(1, net.node_count), 0])
    outcome = gossamer.plan(net, made, effort="search")
    hops, packets = about_hops(Case(net, made))
    assert hops <= outcome.schedule.hop_count <= 1.5 * hops
    assert packets == outcome.schedule.packet_count


def test_an_invariant_schedule_needs_the_hops_of_a_node():
    case = Case(gossamer.network("torus:16x16"), gossamer.task("alltoall"))
    told = needs(case, offer_of(case, "edge-colored"))
    assert told.hops == gossamer.plan("torus:16x16", "alltoall", algorithm="edge-colored").schedule.stored_hops


def test_too_large_a_plan_is_refused_with_both_numbers_and_what_would_fit():
    with pytest.raises(TooLargeError) as caught:
        gossamer.plan("array:300x300", "scatter", memory="100MB")
    assert str(caught.value) == (
        "scatter on array:300x300 needs about 679 MB of memory and 3 s (by furthest-first, for 26,910,000 hops), and "
        "100 MB are allowed (--memory): about 3,961,104 hops would fit"
    )
    with pytest.raises(TooLargeError, match=r"needs about .* GB of memory and .* s \(by"):
        gossamer.compare("array:60x60", "alltoall", memory="1GiB", effort="closed form")
    with pytest.raises(ModelError, match="memory must be"):
        gossamer.plan("ring:4", "broadcast", memory="much")


def test_what_streams_is_said_to_stream():
    with pytest.raises(TooLargeError, match="--stream keeps no hop"):
        gossamer.plan(
            "array:64x64", gossamer.questions.tasks.Permutation(range(4095, -1, -1)), algorithm="greedy", memory="1MB"
        )


def test_algorithms_that_need_too_much_are_passed_over():
    free = gossamer.plan("jellyfish:n=64,d=4,seed=1", "allgather")
    tight = gossamer.plan("jellyfish:n=64,d=4,seed=1", "allgather", memory=3_400_000)
    assert tight.completion_time >= free.completion_time
    assert tight.optimal or "not tried with 3.4 MB of memory: congestion-priced-trees (about 3." in tight.stopped


def test_a_budget_leaves_out_what_takes_far_longer():
    found = gossamer.plan("torus:5x5", "alltoall", budget=0.02)
    assert found.verification.ok
    assert "congestion-priced-paths" not in found.algorithm


def test_words_of_billions_of_letters_are_not_written_down_to_be_refused():
    with pytest.raises(TooLargeError, match=r"ring:100000 needs about \d+ GB of memory .* would fit"):
        gossamer.plan("ring:100000", "alltoall", memory="8GB")
