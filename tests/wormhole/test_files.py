"""Wormhole schedule files: what goes in comes out, and what is not a wormhole schedule is refused in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.errors import FileFormatError, ScheduleError
from gossamer.questions.costs import LinearCost
from gossamer.schedules import load as load_plain
from gossamer.schedules import table_files
from gossamer.schedules.columns import packed_differences, unpacked_differences
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import StepPhase, load, save
from gossamer.wormhole.sequential_broadcasts import sequential_broadcasts
from wormhole.strategies import faulty, in_pieces


def example():
    """A schedule with several pieces, control messages, phases and fractions."""
    network, task = gossamer.network("torus:3x2"), gossamer.task("partial-multinode-broadcast", active=[1, 4])
    model = LinearCost(startup="1/3", per_byte=0.1, message_bytes=7, counter_bytes=2, hop_time=3)
    s = in_pieces(sequential_broadcasts(WormholeCase(network, task, model)), 2)
    control = [0] * (s.message_count - 1) + [9]
    phases = [StepPhase("all", s.step_count, 40), StepPhase("rest", 2)]
    return s.replace(payload=[*s.payload[:-1], -1], control_bytes=control, phases=phases)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("wormhole")


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "plan.parquet"
    example().save(path)
    return path


def refusal(path: Path, read=load) -> str:
    """The error of reading a file, with its name as FILE."""
    with pytest.raises(FileFormatError) as error:
        read(path)
    text = str(error.value)
    assert "\n" not in text
    return text.replace(repr(str(path)), "FILE")


@settings(max_examples=40, deadline=None)
@given(faulty())
def test_every_schedule_valid_or_not_comes_back(folder, schedule):
    path = folder / "any.parquet"
    gossamer.save(schedule, path)
    back = gossamer.load(path)
    assert back == schedule
    assert back.completion_time == schedule.completion_time
    assert back.algorithm == schedule.algorithm
    assert gossamer.verify(back).counts == gossamer.verify(schedule).counts


def test_model_phases_and_control_lengths_come_back_exactly(saved):
    back = load(saved)
    assert (back.cost, back.phases) == (example().cost, example().phases)
    assert back.control_bytes.tolist() == example().control_bytes.tolist()
    assert back.payloads == example().payloads


def test_tori_and_arrays_with_the_same_links_are_told_apart(tmp_path):
    s = example()
    path = tmp_path / "two.parquet"
    for spec in ("torus:2x2", "array:2x2"):
        network = gossamer.network(spec)
        save(sequential_broadcasts(WormholeCase(network, gossamer.task("allgather"), s.cost)), path)
        assert load(path).channels.wraps == ((spec == "torus:2x2"),) * 2


def test_rows_in_several_groups_come_back(saved, monkeypatch):
    monkeypatch.setattr(table_files, "_ROWS", 3)
    save(example(), saved)
    assert pq.ParquetFile(saved).metadata.num_row_groups == 4
    assert load(saved) == example()


def test_empty_schedules_come_back(tmp_path):
    path = tmp_path / "none.parquet"
    s = sequential_broadcasts(WormholeCase(gossamer.network("torus:1x1"), gossamer.task("broadcast"), LinearCost()))
    save(s, path)
    assert load(path) == s


def test_other_tools_read_the_columns_as_documented(saved):
    table, s = pq.read_table(saved), example()
    assert all(pa.types.is_integer(f.type) and not table[f.name].null_count for f in table.schema)
    assert table.num_rows == s.message_count
    assert table["source"].to_pylist() == s.source.tolist()
    assert table["displacement_1"].to_pylist() == s.displacement[:, 1].tolist()
    header = json.loads(table.schema.metadata[b"gossamer"])
    entries, pieces = header["set_entries"], header["pieces"]
    assert unpacked_differences(entries["packet"], entries["rows"], "").tolist() == s.payloads.packet.tolist()
    assert unpacked_differences(pieces["size"], pieces["rows"], "").tolist() == s.packets.size.tolist()
    assert (header["switching"], header["version"]) == ("wormhole", 2)


def test_files_of_old_load_and_are_valid(tmp_path):
    old = load(Path(__file__).parents[1] / "data" / "files" / "version-1-wormhole.parquet")
    assert (old.network.spec, old.task.name, old.message_count) == ("torus:5x5", "multinode-broadcast", 400)
    assert gossamer.verify(old)
    save(old, tmp_path / "new.parquet")
    assert load(tmp_path / "new.parquet") == old


def test_files_of_the_other_kind_are_named(saved, tmp_path):
    text = "FILE holds a schedule for wormhole switching, not for store and forward"
    assert refusal(saved, load_plain) == text
    other = tmp_path / "stored.parquet"
    gossamer.plan("ring:4", "allgather").save(other)
    assert refusal(other) == "FILE holds a schedule for store-and-forward switching, not for wormhole messages"
    assert gossamer.load(other) == gossamer.plan("ring:4", "allgather").schedule
    rewrite(saved, switching="circuit")
    assert refusal(saved, gossamer.load) == "FILE holds a schedule for 'circuit' switching, which is unknown here"
    with pytest.raises(ScheduleError, match="a schedule is needed, got int"):
        gossamer.save(3, saved)


def test_every_truncation_is_refused(saved):
    whole = saved.read_bytes()
    for size in {0, 1, 4, *range(0, len(whole), 211), len(whole) - 1}:
        saved.write_bytes(whole[:size])
        assert refusal(saved).startswith(UNREADABLE)
    assert refusal(saved.with_name("none")).startswith("no such file: ")


def test_a_column_whose_name_is_no_text_is_refused(saved):
    whole = saved.read_bytes()
    saved.write_bytes(whole.replace(b"payload", b"\xf5ayload"))
    assert refusal(saved).startswith("FILE ")


def test_a_flipped_bit_is_noticed_or_harmless(saved):
    whole, rng = saved.read_bytes(), random.Random(2)
    refused = 0
    for _ in range(100):
        place = rng.randrange(len(whole))
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
        try:
            assert load(saved) == example() or place > len(whole) // 2  # Parquet's own footer has no checksum
        except FileFormatError:
            refused += 1
    assert refused > 20


def rewrite(path: Path, **changes) -> None:
    """Write the file again with a changed header, or a changed table."""
    table = changes.pop("table", None) or pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gossamer"])
    for key, value in changes.items():
        if value is None:
            del header[key]
        else:
            header[key] = value
    pq.write_table(table.replace_schema_metadata({b"gossamer": json.dumps(header).encode()}), path)


def test_rewriting_alone_keeps_a_file_readable(saved):
    rewrite(saved)
    assert load(saved) == example()


PRINT = gossamer.network("torus:3x2").fingerprint
UNREADABLE = (
    "FILE is no schedule or table that gossamer wrote",
    "FILE is not a readable Parquet file, or is truncated: ",
)
STAR = {"spec": "star:3", "fingerprint": gossamer.network("star:3").fingerprint}
NEEDED = ("network", "task", "model", "phases", "algorithm", "pieces")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"network": {"spec": "torus:3x3", "fingerprint": PRINT}}, "the links of network 'torus:3x3' are not those"),
        (
            {"network": {"spec": "star:3", "fingerprint": gossamer.network("star:3").fingerprint}},
            "network star:3 is not",
        ),
        ({"network": 5}, ""),
        ({"task": {"name": "partial-multinode-broadcast", "active": [9]}}, "active node 9 is outside 0..5"),
        (
            {"model": {**LinearCost().to_dict(), "startup": "-1"}},
            "startup must be a number that is 0 or more, such as 100 or 1/10, got '-1'",
        ),
        ({"model": {"speed": 1}}, "'startup' is missing"),
        ({"model": {**LinearCost().to_dict(), "startup": "1e-999999999"}}, "startup must have at most 50 digits"),
        ({"model": {**LinearCost().to_dict(), "message_bytes": 0}}, "message_bytes must be a whole number of bytes"),
        ({"phases": [["all", 1, None]]}, "a message is in step "),
        ({"phases": [["all", "many", None]]}, "the number of steps of phase 'all' must be a whole number"),
        ({"phases": [["all", 99]]}, ""),
        ({"pieces": {"rows": 3}}, "'origin' is missing"),
        ({"sets": 1}, "column 'set' must ascend within 0..0"),
        ({"sets": 0}, "column 'set' must ascend within 0..-1"),
        ({"set_entries": {"rows": 10**9}}, "1000000000 sets would take 32 GB, too much for a file of "),
        ({"version": 1, "sets": "two"}, ""),
        *(
            ({key: None}, f"{key!r} is missing")
            for key in ("network", "task", "model", "phases", "algorithm", "pieces")
        ),
    ],
)
def test_tampered_headers(saved, changes, reason):
    rewrite(saved, **changes)
    assert refusal(saved).startswith(f"FILE does not hold a whole schedule: {reason}")


@pytest.mark.parametrize(
    ("table", "column", "change", "reason"),
    [
        ("set_entries", "packet", lambda x: x * 0 + 5, "a payload holds a piece outside 0..3"),
        ("set_entries", "set", lambda x: 1 - x, "column 'set' must ascend"),
        ("pieces", "size", lambda x: x[1:], "column 'size' has 24 bytes for 4 numbers"),
    ],
)
def test_tampered_tables_of_the_description(saved, table, column, change, reason):
    packed = json.loads(pq.read_schema(saved).metadata[b"gossamer"])[table]
    numbers = unpacked_differences(packed[column], packed["rows"], column)
    rewrite(saved, **{table: packed | {column: packed_differences(change(numbers))}})
    assert refusal(saved).startswith(f"FILE does not hold a whole schedule: {reason}")


def test_newer_versions_and_unreadable_headers_are_named(saved):
    rewrite(saved, version=3)
    assert refusal(saved, gossamer.load) == "FILE has format version 3; this gossamer reads up to 2"
    rewrite(saved, version="x")
    assert refusal(saved, gossamer.load) == "FILE has unreadable gossamer metadata"


def test_tampered_columns(saved):
    table = pq.read_table(saved)

    def changed(name, change, kind=None):
        place = table.schema.get_field_index(name)
        values = pa.array(change(table[name].to_pylist()), kind or table.schema.field(name).type)
        return table.set_column(place, name, values)

    for bad, reason in (
        (changed("step", lambda x: [*x[:-1], None]), "column 'step' has 1 empty rows"),
        (changed("payload", lambda x: [*x[:-1], 7]), "column 'payload' must be -1..1, got "),
        (changed("source", lambda x: [v / 2 for v in x], pa.float64()), "column 'source' must"),
        (changed("control_bytes", lambda x: [*x[:-1], 0]), "control_bytes of message "),
        (table.drop_columns(["displacement_1"]), ""),
    ):
        example().save(saved)
        rewrite(saved, table=bad)
        assert refusal(saved).startswith(f"FILE does not hold a whole schedule: {reason}")
