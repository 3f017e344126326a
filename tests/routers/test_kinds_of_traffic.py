"""Mixes of lengths, bursts, replies, traces, demands, and what is measured of them."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, ModelError, TaskError
from gossamer.simulation.flits import (
    Energy,
    MessageTrace,
    Routers,
    TrafficSettings,
    destinations,
    read_trace,
    simulate_trace,
    simulate_traffic,
    write_trace,
)
from gossamer.simulation.flits.destinations import read_demands
from gossamer.simulation.flits.traffic_result import settled

TORUS = gossamer.network("torus:4x4")


def measured(pattern="uniform", load=0.1, **settings):
    return simulate_traffic(TORUS, pattern, load, settings=TrafficSettings(warmup=500, measured=6000, **settings))


def test_a_mix_of_lengths_offers_the_load():
    run = measured(message_flits="1:3,5:1")
    assert run.message_flits == "1:0.75,5:0.25"
    assert run.offered == pytest.approx(0.1, rel=0.06)
    assert run.throughput == pytest.approx(run.offered, rel=0.05)
    assert run.energy.link == run.flit_hops


def test_bursts_wait_longer_at_the_same_load():
    plain, bursts = measured(load=0.25), measured(load=0.25, burst=200)
    assert bursts.offered == pytest.approx(plain.offered, rel=0.2)
    assert bursts.latency > 1.2 * plain.latency


def test_each_request_has_its_reply():
    run = measured(reply_flits=3, message_flits=1)
    assert not run.saturated
    assert run.undelivered == 0
    # as many replies as requests, but for those under way at the ends
    assert run.throughput == pytest.approx(4 * 0.1, rel=0.08)
    sent, received = run.sent[0].sum(), run.received[0].sum()
    assert sent == received == run.histogram.sum()


def test_a_trace_goes_out_and_comes_back(tmp_path):
    trace = MessageTrace([0, 0, 7], [0, 5, 3], [1, 2, 9], [1, 8, 2])
    path = tmp_path / "messages.txt"
    write_trace(trace, path)
    again = read_trace(path)
    assert [c.tolist() for c in (again.when, again.source, again.target, again.flits)] == [
        [0, 0, 7], [0, 5, 3], [1, 2, 9], [1, 8, 2]
    ]  # fmt: skip
    run = simulate_trace(TORUS, again)
    assert (run.messages, run.undelivered) == (3, 0)
    assert run.sent[0].tolist() == [float(u in (0, 3, 5)) for u in range(16)]


@pytest.mark.parametrize(
    "text", ["0 1 2", "0 1 2 x", "5 0 1 1\n3 0 1 1", "0 0 1 0", "0 0 99 1", "", "0 1 1 4", "9" * 30 + " 0 1 1", "\0"]
)
def test_hostile_traces_are_told_in_one_line(tmp_path, text):
    path = tmp_path / "trace.txt"
    path.write_text(text)
    with pytest.raises(TaskError) as error:
        simulate_trace(TORUS, read_trace(path))
    assert "\n" not in str(error.value)
    with pytest.raises(FileFormatError):
        read_trace(tmp_path / "none.txt")


def test_demands_share_out_what_nodes_send(tmp_path):
    table = np.zeros((16, 16))
    table[0, 1], table[0, 2], table[3, 2] = 3, 1, 2
    path = tmp_path / "demands.txt"
    path.write_text("\n".join(" ".join(map(str, row)) for row in table.tolist()))
    run = measured(read_demands(path), load=0.4, message_flits=1)
    flows = run.flows[0]
    assert np.argwhere(flows > 0).tolist() == [[0, 1], [0, 2], [3, 2]]
    assert flows[0, 1] / flows[0, 2] == pytest.approx(3, rel=0.2)
    assert flows[3].sum() / flows[0].sum() == pytest.approx(0.5, rel=0.15)
    for bad in ("1 2\n3", "a b\nc d", "1 2 3\n4 5 6", ""):
        path.write_text(bad)
        with pytest.raises(FileFormatError, match="demands"):
            read_demands(path)
    for bad in (np.zeros((16, 16)), -table, np.full((16, 16), np.nan), np.zeros((3, 3))):
        with pytest.raises(TaskError, match="demands"):
            destinations(TORUS, bad)


def test_patterns_have_their_usual_names():
    for usual, here in (("bit-complement", "reversal"), ("bitcomp", "reversal"), ("bitrev", "bit-reversal")):
        assert destinations(TORUS, usual).fixed.tolist() == destinations(TORUS, here).fixed.tolist()
    assert destinations(TORUS, "bit-complement").fixed.tolist() == list(range(15, -1, -1))


def test_what_nodes_flows_and_channels_had_adds_up():
    run = measured(load=0.2)
    assert run.sent[0].sum() == run.received[0].sum() == run.flows[0].sum() == run.histogram.sum() == run.messages
    assert np.nansum(run.sent[0] * run.sent[1]) == pytest.approx(run.latency * run.messages)
    kinds = {kind for kind, *_ in run.details()}
    assert kinds == {"source", "target", "flow", "channel", "latency"}
    shares = [mean for kind, _, _, mean in run.details() if kind == "channel"]
    assert len(shares) == 64
    assert 0 < max(shares) <= 1


def test_the_warm_up_ends_when_the_load_is_steady():
    run = simulate_traffic(TORUS, "uniform", 0.3, settings=TrafficSettings(measured=1000))
    assert 4096 <= run.warmup < 1 << 16
    grows = simulate_traffic(TORUS, "uniform", 3.0, settings=TrafficSettings(measured=1000, message_flits=8))
    assert grows.warmup == 1 << 16
    assert settled(np.ones(100))
    assert not settled(np.arange(100))
    assert not settled(np.ones(10))


def test_energy_counts_events():
    run = measured(load=0.05, message_flits=2)
    e = run.energy
    assert e.buffer == e.switch == run.flit_hops + e.buffer - e.link
    assert run.energy.total(buffer=0, switch=0, link=1, allocation=0) == run.flit_hops
    assert Energy(1, 2, 3, 4).total() == 1 + 2 + 3 + 0.4


@pytest.mark.parametrize("value", ["1:", "x:1", "1:0", "1:-2", "0:1", "1:nan", "1:1,", ":1", "3.5"])
def test_wrong_mixes_are_told(value):
    with pytest.raises(ModelError):
        TrafficSettings(message_flits=value)


def test_wrong_settings_are_told():
    for words in ({"burst": 0.5}, {"reply_flits": -1}, {"terminals": 0}, {"warmup": -1}, {"routing": "none"}):
        with pytest.raises(ModelError):
            simulate_traffic(TORUS, settings=TrafficSettings(**words))
    with pytest.raises(ModelError, match="preset"):
        Routers.preset("book")
