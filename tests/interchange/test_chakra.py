"""Chakra traces are decoded by the protocol-buffer library, from the fields of the public schema."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.interchange import export

pytest.importorskip("google.protobuf")
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SCHEMA = {
    "AttributeProto": [("name", 1, 9, 1), ("int32_val", 7, 5, 1), ("int64_val", 9, 3, 1), ("bool_val", 27, 8, 1)],
    "GlobalMetadata": [("version", 1, 9, 1)],
    "Node": [("id", 1, 4, 1), ("name", 2, 9, 1), ("type", 3, 5, 1), ("data_deps", 5, 4, 3), ("attr", 10, 11, 3)],
}
"""Fields as (name, number, type, label)."""


@pytest.fixture(scope="module")
def kinds():
    file = descriptor_pb2.FileDescriptorProto(name="chakra.proto", package="chakra", syntax="proto3")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        if name == "AttributeProto":
            message.oneof_decl.add(name="value")
        for field, number, kind, label in fields:
            made = message.field.add(name=field, number=number, type=kind, label=label)
            if name == "AttributeProto" and number > 1:  # the values are one of many, so that zeros are written
                made.oneof_index = 0
            if kind == 11:
                made.type_name = ".chakra.AttributeProto"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chakra.{n}")) for n in SCHEMA}


def of_form(network, task, form):
    """Return a schedule, of an allreduce by partial sums in chunks where the form is that."""
    if form != "sums":
        return gossamer.plan(network, task).schedule
    cost = gossamer.TimeCost(bytes="64KiB", bandwidth="50GB/s", latency="2us", form="sums")
    schedule = gossamer.plan(network, task, cost=cost).schedule
    assert schedule.task.describe().startswith("allreduce, ")
    return schedule


def records(data):
    """Yield the messages of a file, each after its length."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at : at + size]
        at += size
    assert at == len(data)


@pytest.mark.parametrize(
    ("network", "task", "form"),
    [
        ("ring:16", "allgather", "blocks"),
        ("torus:4x4", "allreduce", "blocks"),
        ("complete:8", "alltoall", "blocks"),
        ("hypercube:3", "allreduce", "sums"),
        ("array:5", "allreduce", "sums"),  # sums pass other ranks
    ],
)
def test_every_node_is_decoded(tmp_path, kinds, network, task, form):
    schedule = of_form(network, task, form)
    program = gossamer.lower(schedule)
    export(schedule, tmp_path / "x", "chakra", message_bytes=1_000_000 * program.parts)
    sent, received = [], []
    for mine in program:
        first, *rest = records((tmp_path / "x" / f"trace.{mine.rank}.et").read_bytes())
        assert kinds["GlobalMetadata"].FromString(first).version
        nodes = [kinds["Node"].FromString(data) for data in rest]
        assert all(node.SerializeToString() == data for node, data in zip(nodes[1:], rest[1:], strict=True))
        assert [node.id for node in nodes] == list(range(mine.count))
        for k, node in enumerate(nodes):
            values = {a.name: a for a in node.attr}
            assert set(values) == {"comm_src", "comm_dst", "comm_tag", "comm_size", "is_cpu_op"}
            assert values["comm_size"].int64_val == 1_000_000
            assert not values["is_cpu_op"].bool_val
            assert node.type == (5 if mine.kind[k] == 0 else 6)
            ends = values["comm_src"].int32_val, values["comm_dst"].int32_val
            assert ends == ((mine.rank, mine.peer[k]) if node.type == 5 else (mine.peer[k], mine.rank))
            (sent if node.type == 5 else received).append((*ends, values["comm_tag"].int32_val))
            assert all(d < k for d in node.data_deps)
            assert mine.after[k] < 0 or mine.after[k] in node.data_deps
    assert sorted(sent) == sorted(received)
    assert len(sent) == schedule.hop_count
