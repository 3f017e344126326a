"""Plans of bytes beside fluid optima that the benchmark of every size works out by itself."""

from __future__ import annotations

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.repeated_trees import even_generation, even_trees
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import DemandTable, PartialSumAllreduce, Together, chunked, in_packets, packets_of

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench():
    """The benchmark, with the networks that it measures by their names."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("bench_every_size", BENCHMARKS / "bench_every_size.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module, dict([*module.machines(), *module.networks()])


@pytest.mark.parametrize(
    "name",
    [
        "8 cliques of 4",
        pytest.param("two rings of 6, joined", marks=pytest.mark.slow),
        "Petersen",
        "two DGX-1",
        "8 + 8 + 4 GPUs",
        "PCIe bridges",
        pytest.param("array 5x5", marks=pytest.mark.slow),
    ],
)
def test_the_bound_of_an_allreduce_is_the_fluid_optimum(bench, name):
    module, graphs = bench
    network = from_networkx(graphs[name], name)
    cost = gossamer.TimeCost("16GiB")  # so many bytes that latencies do not count
    optimum = module.allreduce(graphs[name]) * 2**34 / 1e9
    found = gossamer.plan(network, "allreduce", cost=cost)
    assert 0.995 * optimum <= float(found.bound_seconds) <= optimum * 1.001
    assert float(found.seconds) <= 1.02 * optimum


@pytest.mark.parametrize(
    ("name", "most"),
    [pytest.param("fat tree of 16", 1.3, marks=pytest.mark.slow), ("2 x 8 A100", 1.15), ("leaf-spine 2:1", 1.25)],
)
def test_reductions_behind_switches_that_add_nothing_up(bench, name, most):
    network = from_networkx(bench[1][name], name)
    found = gossamer.plan(network, "reduce", cost=gossamer.TimeCost("1MiB"))
    assert found.bound_seconds <= found.seconds <= most * found.bound_seconds
    assert gossamer.verify(found.schedule)


_TASKS = ("broadcast", "reduce", "allgather", "reduce-scatter", "scatter", "alltoall", "sums")
_SPECS = ("ring:5", "array:2x3", "complete:4", "leaf-spine:leaves=2,spines=2,hosts=2", "fat-tree:2,2", "kautz:2,2")
_SWITCHES = ("forward", "copy", "combine")


@pytest.mark.parametrize(  # every two of task, network and switches come together
    ("task", "spec", "switches"),
    [(task, spec, _SWITCHES[(i + j) % 3]) for i, task in enumerate(_TASKS) for j, spec in enumerate(_SPECS)],
)
def test_trees_to_be_repeated_are_valid(spec, task, switches):
    network = gossamer.network(spec).with_times(3, 2)
    rules = gossamer.Rules(replication=switches == "copy", reduction=switches == "combine")
    asked = chunked(PartialSumAllreduce(), 24) if task == "sums" else gossamer.task(task, packets=24)
    found = even_trees(Case(network, asked, rules))
    one_way = task == "sums" and spec.startswith("kautz")
    assert bool(found) != one_way
    assert [each.promise for each in found] == sorted(each.promise for each in found)
    for each in found[:: max(1, len(found) // 3)]:
        few = in_packets(asked, each.packets)
        schedule = even_generation(Case(network, few, rules), each.trees)
        assert gossamer.verify(schedule)
        steady = Generation(schedule).repeated(7)
        assert gossamer.verify(steady)
        busiest = np.bincount(schedule.link, minlength=network.link_count).max() * 3
        assert steady.repetition.period >= busiest


@pytest.mark.slow
def test_an_allreduce_of_five_hundred_accelerators_is_near_its_bound(bench):
    servers = importlib.import_module("machines").servers
    network = from_networkx(servers([8] * 64, 300, 25), "512 accelerators")
    found = gossamer.plan(network, "allreduce", cost=gossamer.TimeCost("1GiB"))
    fluid = 2 * 63 / 64 * 2**30 / 200e9  # what must pass the 8 NICs of each server
    assert fluid <= float(found.bound_seconds) * (1 + 1e-9) <= float(found.seconds) <= 1.04 * fluid


@pytest.mark.parametrize(
    "task",
    [
        gossamer.task("gatherv", counts=[0, *range(1, 16)]),
        DemandTable.of([(u, [(3 * u + 9) % 16], 1 + u % 3) for u in range(16)]),
        Together([gossamer.task("alltoall"), gossamer.task("allgather")]),
    ],
    ids=["gatherv", "demands", "together"],
)
def test_uneven_tasks_are_cut_and_near_the_bound(task):
    """On two servers of eight, whose NICs meet in one switch: their messages differ in size, or in what they are."""
    found = gossamer.plan("dgx-a100:2", task, cost=gossamer.TimeCost("1GiB"))
    assert gossamer.verify(found.schedule).ok
    assert packets_of(found.case.task) > 1
    assert found.seconds <= Fraction(102, 100) * found.bound_seconds
