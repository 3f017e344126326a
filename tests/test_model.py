"""The communication model: legal values, and one clear line for the others."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, ModelError

Model = gossamer.Model

models = st.builds(
    Model,
    ports=st.sampled_from(["all", "one", "one-send"]),
    split=st.booleans(),
    control_time=st.fractions(0, 1),
    buffer=st.none() | st.integers(1, 10**6),
    buffer_counts=st.sampled_from(["transit", "all"]),
)


def test_the_default_is_all_ports_whole_messages_and_no_limits():
    assert Model() == Model("all", False, Fraction(0), None, "transit")
    assert not Model().send_limited
    assert not Model().receive_limited


@pytest.mark.parametrize(
    ("ports", "sends", "receives"), [("all", False, False), ("one", True, True), ("one-send", True, False)]
)
def test_ports_limit_sending_and_receiving(ports, sends, receives):
    assert (Model(ports).send_limited, Model(ports).receive_limited) == (sends, receives)


@given(models)
def test_plain_values_give_the_model_back(model):
    assert Model.from_dict(json.loads(json.dumps(model.to_dict()))) == model
    assert hash(Model.from_dict(model.to_dict())) == hash(model)


@pytest.mark.parametrize("time", [1, 0, "1/3", 0.25, Fraction(2, 7), np.int64(1)])
def test_control_time_is_kept_exactly(time):
    assert Model(control_time=time).control_time == Fraction(time if isinstance(time, str) else str(time))
    assert type(Model(control_time=time).control_time) is Fraction


def test_a_buffer_of_any_integer_type_is_a_plain_number():
    model = Model(buffer=np.int32(3))
    assert type(model.buffer) is int
    assert json.dumps(model.to_dict())


def test_a_model_is_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Model().ports = "one"


PORTS = "ports must be 'all', 'one', 'one-send' or 'one-receive', got "
TIME = "control_time must be a fraction of a step in [0, 1], got "
BUFFER = "buffer must be None or a number of packets in 1..2147483647, got "


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ports": "single"}, PORTS + "'single'"),
        ({"ports": "onesend"}, PORTS + "'onesend' (did you mean 'one-send'?)"),
        ({"ports": 1}, PORTS + "1"),
        ({"ports": ["all"]}, PORTS + "['all'] (did you mean 'all'?)"),
        ({"buffer_counts": "own"}, "buffer_counts must be 'transit' or 'all', got 'own'"),
        ({"split": "no"}, "split must be True or False, got 'no'"),
        ({"split": None}, "split must be True or False, got None"),
        ({"control_time": -1}, TIME + "-1"),
        ({"control_time": "3/2"}, TIME + "'3/2'"),
        ({"control_time": "soon"}, TIME + "'soon'"),
        ({"control_time": "1/0"}, TIME + "'1/0'"),
        ({"control_time": None}, TIME + "None"),
        ({"control_time": float("inf")}, TIME + "inf"),
        ({"control_time": float("nan")}, TIME + "nan"),
        ({"buffer": 0}, BUFFER + "0"),
        ({"buffer": -2}, BUFFER + "-2"),
        ({"buffer": True}, BUFFER + "True"),
        ({"buffer": 1.5}, BUFFER + "1.5"),
        ({"buffer": "4"}, BUFFER + "'4'"),
    ],
)
def test_illegal_values_are_named(fields, message):
    with pytest.raises(GossamerError) as error:
        Model(**fields)
    assert type(error.value) is ModelError
    assert isinstance(error.value, ValueError)
    assert str(error.value) == message
