"""Plans are not behind usual algorithms, nor behind the formulas of textbooks.

`benchmarks/bench_beside_textbooks.py` has more.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path

import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.networks import as_network
from gossamer.planning.usual_algorithms import USUAL, reversed_kind

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def book():
    spec = importlib.util.spec_from_file_location("textbooks", BENCHMARKS / "textbooks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_formulas_are_those_of_the_books(book):
    cube = book.Roads(book.links_of(as_network("hypercube:4"), 1e9, 1e-6))
    size = 2**16
    exchange = 4 * (1e-6 + size / 4 / 1e9)  # d (a + M / (d B))
    line = cube.line("", book.pair_rounds((2,) * 4, book._doubling, (1,), 4, "alike"))
    assert line.seconds(size) == pytest.approx(exchange)
    gathered = cube.line("", book.pair_rounds((2,) * 4, book._doubling, (1,), 1, "doubled"))
    assert (gathered.latency, gathered.a_byte) == pytest.approx((4e-6, 15 / 1e9))
    around = book.Roads(book.links_of(as_network("ring:6"), 1e9, 1e-6))
    ring = around.line("", book.cycle_rounds(6, [range(6)]))
    assert (ring.latency, ring.a_byte) == pytest.approx((5e-6, 5 / 2 / 1e9))
    chain = book.piped(around, "", [[(i, i + 1) for i in range(5)]])
    assert chain.seconds(6400) == pytest.approx(5e-6 + 6400 / 1e9 * (4 + 100) / 100)  # in 100 pieces


@pytest.mark.parametrize("n", [3, 5, 8, 12, 16])
def test_the_books_algorithms_do_what_they_say(book, n):
    """Whoever sends has something to send, and at the end all ranks have as much as they should."""
    roads = book.Roads(book.links_of(as_network(f"complete:{n}"), 1e9, 1e-6))
    for name, rounds in book.allgathers(roads, book.Grid((n,))):
        received = sum(count * sent.sum(axis=0) for count, sent in rounds)
        assert received == pytest.approx(n - 1), name
    for far_first in (True, False):
        have = {0}
        for _, sent in book.binomial(list(range(n)), far_first, False):
            pairs = list(zip(*sent.nonzero(), strict=True))
            assert {a for a, _ in pairs} <= have
            assert not {b for _, b in pairs} & have
            have |= {b for _, b in pairs}
        assert have == set(range(n))
    for tree in book._two_trees(list(range(n))):
        assert sorted(child for _, child in tree) == list(range(1, n))
        assert max(sum(a == v for a, _ in tree) for v in range(n)) <= 2


@pytest.mark.parametrize(
    ("network", "sides"),
    [
        ("hypercube:4", (2,) * 4),
        ("torus:4x4", (4, 4)),
        ("ring:6", (6,)),
        ("ring:9", (9,)),
        ("ring:16", (16,)),
        ("complete:6", (6,)),
        ("complete:8", (8,)),
    ],
)
def test_allreduces_are_not_behind_the_textbooks(book, network, sides):
    best = book.textbook(book.links_of(as_network(network), 50e9, 2e-6), book.Grid(sides))
    for size in (64, 2**12, 2**16, 2**26):
        found = gossamer.plan(network, "allreduce", cost=gossamer.TimeCost(size, bandwidth="50GB/s", latency="2us"))
        seconds, name = best(size)
        assert found.bound_seconds <= found.seconds
        assert float(found.seconds) <= seconds * 1.001, (size, name)  # times are rounded up to whole slots


@pytest.mark.parametrize(
    ("network", "task", "size"),
    [
        ("dgx-1:v100", "allreduce", "16MiB"),  # rings are better than packed trees
        ("dgx-1:v100", "allgather", "16MiB"),
        ("dgx-1:v100", "broadcast", "64KiB"),  # a block for each rank is scattered first
        ("dgx-1:v100", "reduce", "1MiB"),
        ("complete:8", "alltoall", "64KiB"),  # the same algorithm with more packets
        ("complete:8", "alltoall", "1MiB"),
        ("ring:6", "allreduce", "64KiB"),
        ("ring:6", "broadcast", "1MiB"),
        ("hypercube:3", "allreduce", "1MiB"),
        ("hypercube:3", "reduce-scatter", "64B"),
        ("array:3x3", "allreduce", "64B"),
        ("array:3x3", "allgather", "1MiB"),
    ],
)
def test_plans_are_not_behind_usual_algorithms(network, task, size):
    links = {} if network.startswith("dgx") else {"bandwidth": "50GB/s", "latency": "2us"}
    cost = gossamer.TimeCost(size, **links)
    found, seen = gossamer.plan(network, task, cost=cost), 0
    for usual in USUAL:
        if reversed_kind(gossamer.task(task)) in usual.uses:
            with contextlib.suppress(NotApplicableError):
                other = gossamer.plan(network, task, cost=cost, algorithm=usual.name)
                assert float(found.seconds) <= float(other.seconds) * 1.001, usual.name
                seen += 1
    assert seen


@pytest.mark.parametrize("task", ["allgather", "reduce-scatter", "broadcast", "reduce", "alltoall"])
def test_other_collectives_are_not_behind_the_textbooks(book, task):
    """Where unsegmented messages are near the bound, and latencies are no whole number of slots; and by many."""
    for network, sides, size in (("complete:8", (8,), 2**10), ("hypercube:3", (2,) * 3, 64), ("ring:6", (6,), 2**20)):
        best = book.textbook(book.links_of(as_network(network), 50e9, 2e-6), book.Grid(sides), task)
        found = gossamer.plan(network, task, cost=gossamer.TimeCost(size, bandwidth="50GB/s", latency="2us"))
        seconds, name = best(size)
        assert found.bound_seconds <= found.seconds
        assert float(found.seconds) <= seconds * 1.001, (network, name)
