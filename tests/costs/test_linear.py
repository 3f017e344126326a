"""The linear cost: what it accepts, what it says, and what a step costs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.errors import ModelError
from gossamer.questions.costs import LinearCost


@pytest.mark.parametrize("value", [Fraction(1, 10), "1/10", "0.1", 0.1])
def test_costs_are_exact_however_they_are_given(value):
    assert LinearCost(per_byte=value).per_byte == Fraction(1, 10)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"startup": -1}, "startup must be a number that is 0 or more, such as 100 or 1/10, got -1"),
        ({"per_byte": "-1/2"}, "per_byte must be a number that is 0 or more, such as 100 or 1/10, got '-1/2'"),
        ({"hop_time": float("nan")}, "hop_time must be a number that is 0 or more, such as 100 or 1/10, got nan"),
        ({"startup": float("inf")}, "startup must be a number that is 0 or more, such as 100 or 1/10, got inf"),
        ({"startup": "1/0"}, "startup must be a number that is 0 or more, such as 100 or 1/10, got '1/0'"),
        ({"startup": None}, "startup must be a number that is 0 or more, such as 100 or 1/10, got None"),
        ({"message_bytes": 0}, "message_bytes must be a whole number of bytes in 1..2147483647, got 0"),
        ({"message_bytes": 1.5}, "message_bytes must be a whole number of bytes in 1..2147483647, got 1.5"),
        ({"message_bytes": True}, "message_bytes must be a whole number of bytes in 1..2147483647, got True"),
        ({"counter_bytes": 0}, "counter_bytes must be a whole number of bytes in 1..2147483647, got 0"),
    ],
)
def test_illegal_values_are_named(fields, text):
    with pytest.raises(ModelError) as error:
        LinearCost(**fields)
    assert str(error.value) == text


def test_a_step_costs_startup_length_and_hops():
    cost = LinearCost(startup=100, per_byte="1/8", hop_time=3)
    assert cost.step_cost(20, 4) == 100 + Fraction(20, 8) + 12


def test_the_cost_is_public_and_comes_back_from_plain_values():
    cost = gossamer.LinearCost(startup=7, per_byte="1/3", message_bytes=9, counter_bytes=2, hop_time="0.25")
    assert LinearCost.from_dict(cost.to_dict()) == cost
    assert hash(LinearCost.from_dict(cost.to_dict())) == hash(cost)


def test_startup_ratio_is_none_without_transmission_cost():
    assert LinearCost(startup=2048, message_bytes=1024).startup_ratio == 2
    assert LinearCost(per_byte=0).startup_ratio is None


def test_ports_of_a_file_must_be_all():
    fields = LinearCost().to_dict()
    with pytest.raises(ModelError, match=r"ports must be 'all', got 'one'"):
        LinearCost.from_dict({**fields, "ports": "one"})
