"""On odd rings every rule that is the same at all nodes is optimal; on even rings the order of the queue matters."""

from __future__ import annotations

import itertools
from typing import get_args

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.total_exchange.ring_queues import RingDiscipline, RingStart, ring_shift_exchange
from gossamer.errors import ModelError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK = TotalExchange()
RULES = list(itertools.product(get_args(RingDiscipline), get_args(RingStart)))


def time_of(n, **rules):
    schedule = ring_shift_exchange(Case(gossamer.network(f"ring:{n}"), TASK, Rules()), **rules)
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    return schedule.completion_time


@pytest.mark.parametrize(("discipline", "start"), RULES)
def test_theorem_4_5_any_rule_is_optimal_on_odd_rings(discipline, start):
    for n in range(3, 53, 2):
        assert time_of(n, discipline=discipline, start=start) == (n * n - 1) // 8


@pytest.mark.parametrize("discipline", ["fifo", "furthest-first"])
def test_theorem_4_6_even_rings_from_the_furthest(discipline):
    for n in range(4, 53, 2):
        assert time_of(n, discipline=discipline) == -(-(n * n - 1) // 8)


def test_furthest_first_is_optimal_on_even_rings_from_either_start():
    for n in range(4, 53, 2):
        assert time_of(n, discipline="furthest-first", start="closest") == -(-(n * n - 1) // 8)


def test_remark_9_15_theorem_4_6_needs_the_furthest_first_order():
    for n in range(4, 53, 2):
        late = 1 if n % 4 == 0 else 0
        assert time_of(n, start="closest") == -(-(n * n - 1) // 8) + late
    assert time_of(4, start="closest") == 3


@pytest.mark.parametrize("start", get_args(RingStart))
def test_remark_9_15_closest_first_is_not_optimal_on_even_rings(start):
    for n in range(4, 53, 2):
        assert time_of(n, discipline="closest-first", start=start) == n * (n + 2) // 8


@pytest.mark.parametrize(("discipline", "start"), RULES)
def test_without_division_even_rings_take_n_times_n_plus_2_over_8(discipline, start):
    for n in range(4, 33, 2):
        assert time_of(n, discipline=discipline, start=start, divide=False) == n * (n + 2) // 8


def clockwise(n, node):
    """Return {step: (origin, destination)} of what a node sends clockwise."""
    explicit = ring_shift_exchange(Case(gossamer.network(f"ring:{n}"), TASK, Rules())).expand()
    rows = np.flatnonzero(explicit.link == 2 * node)
    message = explicit.packets.message[explicit.packet[rows]]
    return dict(
        zip((explicit.slot[rows] + 1).tolist(), map(tuple, np.stack(divmod(message, n), 1).tolist()), strict=True)
    )


def test_ring_of_7_as_in_figure_4_4a():
    assert clockwise(7, 0) == {1: (0, 3), 2: (0, 2), 3: (0, 1), 4: (6, 2), 5: (6, 1), 6: (5, 1)}


def test_ring_of_6_as_in_figure_4_4b():
    assert clockwise(6, 0) == {1: (0, 3), 2: (0, 2), 3: (0, 1), 4: (5, 1), 5: (4, 1)}
    assert clockwise(6, 1) == {1: (1, 3), 2: (1, 2), 3: (0, 3), 4: (0, 2)}
    for node in range(6):
        copied = clockwise(6, node % 2)
        shift = node - node % 2
        assert clockwise(6, node) == {t: ((a + shift) % 6, (b + shift) % 6) for t, (a, b) in copied.items()}


def test_times_of_11_5():
    assert [time_of(n) for n in range(3, 13)] == [1, 2, 3, 5, 6, 8, 10, 13, 15, 18]


def test_errata_9_14_furthest_first_breaks_the_second_equation_of_definition_4_1():
    n, i, queue = 7, 1, {1, 3}  # destinations of node 0's messages

    def furthest(node, destinations):
        return max(destinations, key=lambda d: (d - node) % n)

    def shifted(destinations, by):
        return {(d + by) % n for d in destinations}

    picked = furthest(0, queue)
    assert furthest(i, shifted(queue, i)) == (picked + i) % n  # the first equation
    assert furthest(i, shifted(queue, -i)) != (picked - i) % n  # the second


@pytest.mark.parametrize("rules", [{"discipline": "random"}, {"start": "middle"}])
def test_unknown_words_are_refused(rules):
    with pytest.raises(ModelError, match="must be one of"):
        ring_shift_exchange(Case(gossamer.network("ring:5"), TASK, Rules()), **rules)
