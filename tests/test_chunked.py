"""Tasks whose messages are several packets: what they hold, what the checker demands, what bounds count."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.errors import TaskError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, Chunked, MultipleBroadcast, chunked, task_from_dict
from gossamer.schedules import Packets


def pipelined(chunks: int, **changes: object) -> gossamer.Schedule:
    """Return a broadcast of so many packets along a line of four nodes, one packet behind the other."""
    slot = np.concatenate([np.arange(3) + c for c in range(chunks)])
    packet = np.repeat(np.arange(chunks), 3)
    order = np.argsort(slot, kind="stable")
    network = gossamer.network("array:4")
    link = [network.link_between(i, i + 1) for i in range(3)] * chunks
    columns = {"slot": slot[order], "link": np.array(link)[order], "packet": packet[order], **changes}
    return gossamer.Schedule(network, chunked(Broadcast(0), chunks), gossamer.Rules(), **columns)


def test_a_message_of_several_packets_needs_all_of_them():
    schedule = pipelined(3)
    assert gossamer.verify(schedule).ok
    assert schedule.completion_time == 5
    assert schedule.packets.part.tolist() == [0, 1, 2]
    lost = pipelined(3, packet=np.minimum(schedule.packet, 1))
    assert not gossamer.verify(lost).ok


@pytest.mark.parametrize(
    ("part", "said"),
    [([0, 1, 1], "repeats part 1 of message 0"), ([0, 1, 3], "is part 3; parts are 0..2"), ([0, 1, -1], "is part -1")],
)
def test_the_table_has_each_packet_once(part, said):
    table = Packets(np.zeros(3, np.int32), np.zeros(3, np.int64), np.array(part, np.int32))
    found = gossamer.verify(pipelined(3, packets=table))
    assert found.counts["wrong payload"] >= 1
    assert any(said in violation.text for violation in found.violations)


def test_a_missing_packet_is_named():
    table = Packets(np.zeros(2, np.int32), np.zeros(2, np.int64), np.array([0, 2], np.int32))
    found = gossamer.verify(pipelined(3, packets=table, slot=[0], link=[0], packet=[0]))
    assert any("no packet carries part 1 of message 0" in violation.text for violation in found.violations)


def test_a_reversed_schedule_collects_all_packets():
    gathered = pipelined(4).reverse()
    assert gathered.task == Chunked(gossamer.task("reduce"), 4)
    assert gossamer.verify(gathered).ok


def test_files_keep_the_packets(tmp_path):
    for name in ("plan.parquet", "plan.txt"):
        pipelined(3).save(tmp_path / name)
        assert gossamer.load(tmp_path / name) == pipelined(3)


@pytest.mark.parametrize("name", ["broadcast", "allgather", "alltoall", "reduce-scatter", "allreduce", "gather"])
def test_bounds_count_packets(name):
    network = gossamer.network("torus:3x3")
    one = gossamer.lower_bounds(network, gossamer.task(name))[0].value
    many = gossamer.lower_bounds(network, gossamer.task(name, packets=5))[0].value
    assert one <= many <= 5 * one
    fluid = gossamer.Rules(split=True)
    assert gossamer.lower_bounds(network, gossamer.task(name, packets=5), rules=fluid)[0].value == 5 * Fraction(
        gossamer.lower_bounds(network, gossamer.task(name), rules=fluid)[0].value
    )


def test_as_many_packets_as_messages_bound_alike():
    network = gossamer.network("array:2x3")
    chunks = gossamer.task("allgather", packets=3)
    counts = MultipleBroadcast((3,) * 6)
    assert gossamer.lower_bounds(network, chunks)[0].value == gossamer.lower_bounds(network, counts)[0].value


def test_demands_of_uneven_sizes_are_repeated():
    routed = Chunked(gossamer.task("permutation", destination=[1, 0, 2]), 2)
    (demand,) = Case(gossamer.network("array:3"), routed).demands
    assert sorted(zip(demand.origin[demand.message].tolist(), demand.target.tolist(), strict=True)) == [
        (0, 1),
        (0, 1),
        (1, 0),
        (1, 0),
    ]


def test_names_and_files():
    made = gossamer.task("broadcast", root=2, packets=4)
    assert made.name == "broadcast"
    assert made.describe() == "broadcast (root 2), 4 packets a message"
    assert task_from_dict(made.to_dict()) == made
    assert chunked(made.task, 1) is made.task


@pytest.mark.parametrize("packets", [0, -1, 1.5, True, 10**7, "3"])
def test_what_is_refused(packets):
    with pytest.raises(TaskError, match="number of packets of a message must be a whole number in 1"):
        gossamer.task("broadcast", packets=packets)


def test_chunks_are_not_cut_again():
    with pytest.raises(TaskError, match="cannot be cut into chunks again"):
        Chunked(gossamer.task("broadcast", packets=2), 2)
