"""The communication rules: legal values, and one clear line for the others."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, ModelError

Rules = gossamer.Rules

rules_ = st.builds(
    Rules,
    ports=st.sampled_from(["all", "one", "one-send", "one-receive"]),
    split=st.booleans(),
    buffer=st.none() | st.integers(1, 10**6),
    buffer_counts=st.sampled_from(["transit", "all"]),
)


def test_the_default_is_all_ports_whole_messages_and_no_limits():
    assert Rules() == Rules("all", False, None, "transit")
    assert not Rules().send_limited
    assert not Rules().receive_limited


@pytest.mark.parametrize(
    ("ports", "sends", "receives"),
    [("all", False, False), ("one", True, True), ("one-send", True, False), ("one-receive", False, True)],
)
def test_ports_limit_sending_and_receiving(ports, sends, receives):
    assert (Rules(ports).send_limited, Rules(ports).receive_limited) == (sends, receives)


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        *[(word, "all") for word in ("all", "all-port", "All_Port", "multi-port", "ALL")],
        *[(word, "one") for word in ("one", "one-port", "1", 1, "one port", "single-port", "1-port")],
        *[("one-port-send", "one-send"), ("one-send", "one-send"), ("one_port_receive", "one-receive")],
    ],
)
def test_port_models_have_the_words_of_the_field(word, kept):
    assert Rules(ports=word) == Rules(kept)


@given(rules_)
def test_plain_values_give_the_rules_back(rules):
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert hash(Rules.from_dict(rules.to_dict())) == hash(rules)


def test_a_buffer_of_any_integer_type_is_a_plain_number():
    rules = Rules(buffer=np.int32(3))
    assert type(rules.buffer) is int
    assert json.dumps(rules.to_dict())


def test_messages_that_may_be_cut_have_a_new_word_and_an_old_one():
    assert Rules(segmented=True) == Rules(split=True) == Rules("all", True) != Rules()
    assert Rules(split=True).segmented is Rules(segmented=True).split is True
    assert dataclasses.replace(Rules(), split=True) == dataclasses.replace(Rules(), segmented=True)
    assert Rules.from_dict({"split": True}) == Rules.from_dict({"segmented": True}) == Rules(segmented=True)


def test_rules_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().ports = "one"


PORTS = "ports must be 'all-port', 'one-port', 'one-port-send' or 'one-port-receive', got "
BUFFER = "buffer must be None or a number of packets in 1..2147483647, got "


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ports": "two"}, PORTS + "'two'"),
        ({"ports": "ome-port"}, PORTS + "'ome-port' (did you mean 'one-port'?)"),
        ({"ports": 2}, PORTS + "2"),
        ({"ports": True}, PORTS + "True"),
        ({"ports": ["all"]}, PORTS + "['all']"),
        ({"buffer_counts": "own"}, "buffer_counts must be 'transit' or 'all', got 'own'"),
        ({"split": "no"}, "segmented must be True or False, got 'no'"),
        ({"segmented": None}, "segmented must be True or False, got None"),
        ({"buffer": 0}, BUFFER + "0"),
        ({"buffer": -2}, BUFFER + "-2"),
        ({"buffer": True}, BUFFER + "True"),
        ({"buffer": 1.5}, BUFFER + "1.5"),
        ({"buffer": "4"}, BUFFER + "'4'"),
    ],
)
def test_illegal_values_are_named(fields, message):
    with pytest.raises(GossamerError) as error:
        Rules(**fields)
    assert type(error.value) is ModelError
    assert isinstance(error.value, ValueError)
    assert str(error.value) == message
