"""Arrival processes: rates, burstiness, and traces read from files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import FileFormatError, ModelError
from gossamer.simulation.random_arrivals import Bernoulli, OnOff, Poisson, Trace

NODES = np.arange(10, dtype=np.int32)


def drawn(process, rate, count, *, slot=1.0, seed=0, nodes=NODES):
    stream = process.stream(np.random.default_rng(seed), nodes, rate, slot)
    pieces = []
    while sum(p[0].size for p in pieces) < count:
        pieces.append(stream.take(1000))
    time, node = (np.concatenate(p) for p in zip(*pieces, strict=True))
    return time[:count], node[:count]


def dispersion(time, window):
    """Return variance over mean of the number of requests per window."""
    counts = np.bincount((time // window).astype(int))[:-1]
    return counts.var() / counts.mean()


@pytest.mark.parametrize("process", [Poisson(), Bernoulli(), OnOff(5, 15)])
def test_mean_rate_is_what_was_asked_for_at_every_node(process):
    time, node = drawn(process, 0.2, 40_000)
    assert (np.diff(time) >= 0).all()
    assert time.size / time[-1] == pytest.approx(2.0, rel=0.05)
    assert np.bincount(node, minlength=10) / 4000 == pytest.approx(np.ones(10), abs=0.15)


def test_poisson_counts_have_the_variance_of_their_mean():
    assert dispersion(drawn(Poisson(), 0.2, 40_000)[0], 20) == pytest.approx(1, abs=0.1)


def test_bernoulli_makes_at_most_one_request_per_node_and_slot():
    time, node = drawn(Bernoulli(), 0.3, 20_000)
    assert (time == np.floor(time)).all()
    assert np.unique(time * 10 + node).size == time.size
    assert dispersion(time, 1) == pytest.approx(0.7, abs=0.05)


def test_bernoulli_slots_may_be_shorter_than_a_step():
    time, _ = drawn(Bernoulli(), 0.3, 5000, slot=0.25)
    assert (time * 4 == np.floor(time * 4)).all()
    assert time.size / time[-1] == pytest.approx(3.0, rel=0.05)


def test_on_off_requests_come_in_bursts():
    """Over long windows, variance / mean of the counts is 1 + 2 peak^2 p (1-p) tau / rate.

    p is the part of the time on, and tau = on off / (on + off) the relaxation time of the switch.
    """
    on, off, rate = 5.0, 15.0, 0.2
    time, _ = drawn(OnOff(on, off), rate, 60_000, nodes=NODES[:1])
    share = on / (on + off)
    expected = 1 + 2 * (rate / share) ** 2 * share * (1 - share) * (on * off / (on + off)) / rate
    assert expected > 5
    assert dispersion(time, 500) == pytest.approx(expected, rel=0.2)


def test_on_off_is_stationary_from_the_start():
    early = [drawn(OnOff(50, 50), 1.0, 30, seed=s)[0] for s in range(300)]
    assert np.mean([(t < 1).sum() for t in early]) == pytest.approx(10, abs=0.6)


def test_same_seed_same_requests():
    for process in (Poisson(), Bernoulli(), OnOff()):
        first, again, other = (drawn(process, 0.1, 100, seed=s) for s in (5, 5, 6))
        assert (first[0] == again[0]).all()
        assert (first[1] == again[1]).all()
        assert (first[0] != other[0]).any()


@pytest.mark.parametrize("on", [0, -1, float("inf")])
def test_mean_times_on_and_off_are_positive(on):
    with pytest.raises(ModelError, match=r"on must be a number in 1e-06\.\.1000000000, got"):
        OnOff(on, 5)


def test_bursts_of_no_length_are_refused():
    assert OnOff(1e-5, 1).off == 1
    with pytest.raises(ModelError, match=r"at least 0\.1 steps on and off together, got 1e-05 and 1e-05"):
        OnOff(1e-5, 1e-5)


def test_pauses_are_at_most_a_million_bursts_long():
    with pytest.raises(ModelError, match=r"at most 1e\+06 times the mean time on, got 100 and 1e-05"):
        OnOff(1e-5, 100)


def test_long_pauses_of_all_nodes_are_skipped():
    """A node that is on for 10 steps in 10 million: its requests come 10 million apart, without a look at each step."""
    time, _ = drawn(OnOff(10, 1e7), 1.0, 2000, nodes=NODES[:1])
    assert time[-1] > 1e5


def test_bernoulli_rate_above_one_per_slot_is_refused():
    with pytest.raises(ModelError, match="the rate must be at most 4, got 5"):
        Bernoulli().stream(np.random.default_rng(0), NODES, 5.0, 0.25)


REQUESTS = [(0.0, 3), (0.25, 1), (0.25, 2), (7.5, 3)]


def written(folder, kind):
    path = folder / f"trace.{kind}"
    time, node = [t for t, _ in REQUESTS], [n for _, n in REQUESTS]
    if kind == "csv":
        path.write_text("time,node\n" + "".join(f"{t},{n}\n" for t, n in REQUESTS))
    elif kind == "txt":
        path.write_text("# a comment\n\n" + "".join(f"{t} {n}  # request\n" for t, n in REQUESTS))
    elif kind == "npy":
        np.save(path, np.array(REQUESTS))
    else:
        pq.write_table(pa.table({"time": time, "node": node}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "txt", "npy", "parquet"])
def test_a_trace_is_read_from_every_kind_of_file(tmp_path, kind):
    trace = Trace.read(written(tmp_path, kind))
    assert list(zip(trace.time.tolist(), trace.node.tolist(), strict=True)) == REQUESTS


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "time,node\n0,1\n1,x\n", "line 3: '1,x' is not a time and a node number"),
        ("a.csv", "0,1,2\n", "line 1: '0,1,2' is not a time and a node number"),
        ("a.csv", "time,node\n", "there are no requests"),
        ("a.txt", "0 1\n5 1\n4 2\n", "request 3 is at time 4, before request 2 at 5"),
        ("a.txt", "-1 1\n", "request 1 is at time -1"),
        ("a.txt", "nan 1\n", "request 1 is at time nan"),
        ("a.npy", "not an array", "a.npy"),
        ("a.parquet", "not a table", "a.parquet"),
    ],
)
def test_a_malformed_trace_is_refused_in_one_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        Trace.read(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_trace_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        Trace.read(tmp_path / "none.csv")


def test_a_table_without_the_columns_is_refused(tmp_path):
    pq.write_table(pa.table({"time": [1.0], "where": [2]}), tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="there is no column 'node', only 'time, where'"):
        Trace.read(tmp_path / "t.parquet")


def test_columns_may_be_named_in_the_other_order(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeffNode,time\n3,0\n1,0.5\n", encoding="utf-8")
    trace = Trace.read(tmp_path / "t.csv")
    assert trace.time.tolist() == [0.0, 0.5]
    assert trace.node.tolist() == [3, 1]


def test_text_in_another_encoding_is_refused_with_what_works(tmp_path):
    (tmp_path / "t.csv").write_text("time,node\n0,0\n", encoding="utf-16")
    with pytest.raises(FileFormatError, match=r"not text in UTF-8; a trace is text, \.csv, \.npy or \.parquet"):
        Trace.read(tmp_path / "t.csv")


def test_an_array_of_another_shape_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((3, 3)))
    with pytest.raises(FileFormatError, match=r"shape \(3, 3\)"):
        Trace.read(tmp_path / "t.npy")


def test_broken_node_numbers_are_refused():
    with pytest.raises(ModelError, match="node numbers must be whole numbers"):
        Trace([0.0], [1.5])
    with pytest.raises(ModelError, match="2 times and 1 nodes"):
        Trace([0.0, 1.0], [1])


def test_a_request_at_a_node_that_generates_nothing_is_refused():
    with pytest.raises(ModelError, match="request 2 is at node 7"):
        Trace([0.0, 1.0], [1, 7]).stream(np.random.default_rng(0), np.arange(4, dtype=np.int32), 1.0, 1.0)
