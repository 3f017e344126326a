"""Schedule files: what goes in comes out, and what is not a schedule is refused in one line."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import shutil
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError
from gossamer.networks import AbelianGroup, Failed, Network, SharedPorts, cayley
from gossamer.networks.structures import Assumptions
from gossamer.plots.layouts import lay_out
from gossamer.questions.costs import Clock
from gossamer.schedules import CONTROL, Phase, Schedule, Symmetry, load, save, table_files
from gossamer.schedules.columns import packed
from gossamer.schedules.serialization import rules_to_dict
from schedules.strategies import build, mutated, mutations, phased, schedules

RULES = rules_to_dict(gossamer.Rules(), gossamer.StepCost())
UNREADABLE = (
    "FILE is no schedule or table that gossamer wrote",
    "FILE is not a readable Parquet file, or is truncated: ",
)


def example(**options) -> Schedule:
    """A schedule with everything in it: parts, control packets, phases, rules."""
    network = gossamer.network("torus:3x3")
    rules = gossamer.Rules("one", True, 7, "all")
    base = build(5, network, gossamer.task("partial-exchange", active=[2, 4]), ports="one", parts=2)
    phases = [Phase("learn", 1, Fraction(1, 3)), Phase("go", base.slot_count, Fraction(3, 7))]
    return base.replace(
        rules=rules,
        cost=gossamer.StepCost("1/3"),
        slot=[0, *(base.slot + 1)],
        link=[3, *base.link],
        packet=[CONTROL, *base.packet],
        phases=phases,
        **options,
    )


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "plan.parquet"


@pytest.fixture
def saved(path) -> Path:
    save(example(), path)
    return path


def refusal(path) -> str:
    """The one line in which `load` refuses a file, which starts with the name of the file."""
    with pytest.raises(FileFormatError) as error:
        load(path)
    text = str(error.value)
    assert "\n" not in text
    assert str(path) in text
    return text.replace(repr(str(path)), "FILE")


# -- round trips ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("schedules")


@settings(max_examples=80)
@given(schedules(), mutations, st.booleans())
def test_every_schedule_valid_or_not_comes_back(folder, schedule, changes, broken):
    if broken:
        schedule = mutated(schedule, changes)
    schedule.save(folder / "a.parquet")
    back = load(folder / "a.parquet")
    assert back == schedule
    assert back.algorithm == schedule.algorithm
    assert back.network.spec == schedule.network.spec
    for name in ("slot", "link", "packet"):
        assert getattr(back, name).tolist() == getattr(schedule, name).tolist()


@pytest.mark.parametrize(
    ("spec", "generated_by"), [("ring:6", None), ("ring:6", (2,)), ("ring:6", ()), ("star:3", (3,))]
)
@pytest.mark.parametrize("name", ["allgather", "alltoall", "reduce-scatter", "allreduce"])
def test_invariant_schedules_stay_invariant(path, spec, generated_by, name):
    network = gossamer.network(spec)
    base = build(1, network, gossamer.task(name), symmetry=Symmetry(network, generated_by))
    save(base, str(path))
    assert load(str(path)) == base
    assert load(path).symmetry.generated_by == generated_by


FAILURES = {
    "links of a torus": ("torus:4x4", {"links": [(0, 1), (5, 6)]}),
    "a node": ("hypercube:3", {"nodes": [2]}),
    "a switch": ("leaf-spine:4,2,2", {"nodes": [13]}),
    "a terminal that stays as a switch": ("ring:6", {"terminals": [1]}),
    "one cable of several": ("dgx-1:gpu=v100", {"links": [(0, 3, 1)]}),
    "one cable of a machine": ("dgx-h100:2", {"links": [(0, 16, 3)], "nodes": [1]}),
}


@pytest.mark.exhaustive(always=6)
@pytest.mark.parametrize("suffix", ["parquet", "txt"])
@pytest.mark.parametrize("case", FAILURES)
def test_what_failed_comes_back(tmp_path, case, suffix):
    spec, failures = FAILURES[case]
    network = gossamer.network(spec).without(**failures)
    if case == "a terminal that stays as a switch":
        network = network.without(terminals=[3]).without(links=[(0, 5)])  # other node numbers twice, then a link
    path = tmp_path / f"plan.{suffix}"
    gossamer.plan(network, "broadcast").schedule.save(path)
    back = load(path).network
    left, known = back.find(Failed), network.find(Failed)
    assert (left.sound, left.sound.spec, left.words) == (known.sound, known.sound.spec, known.words)
    assert left.nodes.tolist() == known.nodes.tolist()
    assert left.links.tolist() == known.links.tolist()
    assert back.cable_counts.tolist() == network.cable_counts.tolist()
    kinds = {type(s) for s in network.structures} - {Assumptions}
    assert {type(s) for s in back.structures} >= kinds
    assert lay_out(back).positions.tolist() == lay_out(network).positions.tolist()
    assert str(gossamer.describe(back)) == str(gossamer.describe(network))


def edited(path, change):
    """Write a schedule that was saved as text again, after a change of what is told of its network."""
    lines = path.read_text().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if line.startswith("network"))
    name, _, told = lines[place].partition(": ")
    network = json.loads(told)
    change(network)
    lines[place] = f"{name}: {json.dumps(network)}\n"
    path.write_text("".join(lines))


def test_files_that_do_not_tell_what_failed_are_read(tmp_path):
    path = tmp_path / "plan.txt"
    gossamer.plan(gossamer.network("ring:4").without(links=[(0, 1)]), "broadcast").schedule.save(path)
    edited(path, lambda network: network.pop("failed"))
    assert load(path).network.find(Failed) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lost": [2, 3]}, "its network is not what is left of the sound one"),
        ({"lost": [0, 99]}, "what failed must be nodes and links of the sound network, each once"),
        ({"lost": [0, 0]}, "what failed must be nodes and links of the sound network, each once"),
        ({"nodes": [0, 1, 2]}, "its network is not what is left of the sound one"),
        ({"words": 7}, "what failed must be told in words"),
    ],
)
def test_failures_that_do_not_lead_to_the_network_are_refused(tmp_path, change, reason):
    path = tmp_path / "plan.txt"
    gossamer.plan(gossamer.network("ring:4").without(links=[(0, 1)]), "broadcast").schedule.save(path)
    edited(path, lambda network: network["failed"].update(change))
    assert refusal(path) == f"FILE does not hold a whole schedule: {reason}"


def test_rules_cost_and_phases_come_back_exactly(path):
    save(example(algorithm="by hand"), path)
    back = load(path)
    assert (back.rules, back.cost) == (gossamer.Rules("one", True, 7, "all"), gossamer.StepCost("1/3"))
    assert [p.slot_length for p in back.phases] == [Fraction(1, 3), Fraction(3, 7)]
    assert back.completion_time == example().completion_time
    assert back.algorithm == "by hand"
    with pytest.raises(ValueError, match="read-only"):
        back.slot[0] = 1


def test_control_phases_are_named_only_where_there_are_some(path):
    plain = example()
    save(plain, path)
    assert "control_phases" not in json.loads(pq.read_schema(path).metadata[b"gossamer"])
    learn, go = plain.phases
    marked = plain.replace(phases=[replace(learn, control=True), go])
    assert marked != plain
    save(marked, path)
    assert json.loads(pq.read_schema(path).metadata[b"gossamer"])["control_phases"] == [0]
    assert load(path) == marked
    assert [p.control for p in load(path).phases] == [True, False]
    rewrite(path, control_phases=None)  # as an older gossamer wrote it
    assert load(path) == plain


def test_networks_given_by_their_links_come_back_with_capacities_and_names(path):
    network = Network(
        "mine", 3, [0, 1, 1, 2], [1, 0, 2, 1], [2, 2, 1, 1], terminal_count=2, labels="xyz", links_only=True
    )
    schedule = build(0, network, gossamer.task("scatter"))
    save(schedule, path)
    back = load(path)
    assert back == schedule
    assert back.network.labels == ("x", "y", "z")
    assert back.network.link_capacity.tolist() == [2, 2, 1, 1]
    assert back.network.spec == "mine"


def test_invariant_schedule_on_a_network_that_no_file_can_name_is_refused(path):
    network = cayley("mine", AbelianGroup((5,)), [1, 4])
    base = build(0, network, gossamer.task("allgather"), symmetry=Symmetry(network))
    with pytest.raises(FileFormatError) as error:
        save(base, path)
    assert str(error.value) == (
        "an invariant schedule on 'mine' cannot be saved, because a file holds only the links of such a network "
        "and not its group; save its expand() instead"
    )
    assert not path.exists()
    save(base.expand(), path)
    assert load(path) == base.expand()


def test_rows_in_several_groups_come_back(path, monkeypatch):
    monkeypatch.setattr(table_files, "_ROWS", 3)
    save(example(), path)
    assert pq.ParquetFile(path).metadata.num_row_groups > 10
    assert load(path) == example()


def test_empty_schedules_come_back(path):
    alone = gossamer.network("complete:1")
    nothing = Schedule(alone, gossamer.task("total-exchange"), gossamer.Rules(), [], [], [])
    save(nothing, path)
    assert load(path) == nothing


def test_other_tools_read_the_columns_as_documented(saved):
    table = pq.read_table(saved)
    schedule = example()
    network, packets = schedule.network, schedule.packets
    assert table.schema.names == ["slot", "source", "target", "link", "packet", "message", "part"]
    assert all(pa.types.is_integer(f.type) and not table[f.name].null_count for f in table.schema)
    assert table.num_rows == schedule.stored_hops
    for name in ("slot", "link", "packet"):
        assert table[name].to_pylist() == getattr(schedule, name).tolist()
    assert table["source"].to_pylist() == network.link_source[schedule.link].tolist()
    assert table["target"].to_pylist() == network.link_target[schedule.link].tolist()
    for name in ("message", "part"):
        column = getattr(packets, name)
        assert table[name].to_pylist() == [-1 if p < 0 else int(column[p]) for p in schedule.packet]
    header = json.loads(table.schema.metadata[b"gossamer"])
    assert header["packets"]["rows"] == packets.count
    for name, kind in (("origin", "<i4"), ("message", "<i8"), ("part", "<i4")):
        raw = zlib.decompress(base64.b64decode(header["packets"][name]))
        assert np.cumsum(np.frombuffer(raw, kind)).tolist() == getattr(packets, name).tolist()
    assert header["version"] == 2
    assert header["network"]["spec"] == "torus:3x3"
    assert header["task"] == {"name": "partial-exchange", "active": [2, 4]}
    assert header["phases"] == [["learn", 1, "1/3"], ["go", schedule.phases[1].slots, "3/7"]]


def test_data_frames_have_integers(saved):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(saved)
    assert {str(kind) for kind in frame.dtypes} == {"int32", "int64"}
    assert frame.slot.tolist() == example().slot.tolist()


def test_polars_and_duckdb_read_files_as_they_are(saved):
    rows = [tuple(row.values()) for row in pq.read_table(saved).to_pylist()]
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(saved).rows() == rows
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"SELECT * FROM '{saved}'").fetchall() == rows


OLD = Path(__file__).parents[1] / "data" / "files"


@pytest.mark.parametrize(
    ("name", "spec", "task", "time"),
    [
        ("version-1", "array:3x3", "partial-exchange", 5),
        ("version-1-invariant", "torus:4x4", "multinode-broadcast", 4),
        ("version-2-with-times", "ring:5", "broadcast", 6),
    ],
)
def test_files_of_old_load_and_are_valid(name, spec, task, time, path):
    old = load(OLD / f"{name}.parquet")
    assert (old.network.spec, old.task.name, old.completion_time) == (spec, task, time)
    assert gossamer.verify(old)
    assert old.invariant == name.endswith("invariant")
    save(old, path)
    assert load(path) == old


@pytest.mark.parametrize("sample", sorted(OLD.iterdir()), ids=lambda sample: sample.name)
def test_kept_files_load_are_valid_and_are_written_as_they_were(sample, tmp_path):
    old, path = gossamer.load(sample), tmp_path / sample.name
    assert gossamer.verify(old)
    gossamer.save(old, path)
    assert gossamer.load(path) == old
    if sample.suffix == ".txt":
        assert path.read_bytes() == sample.read_bytes()
    elif "origin" not in pq.read_schema(sample).names:  # not those of old, in which packets are rows
        assert pq.read_table(path) == pq.read_table(sample)
        assert pq.read_schema(path).metadata == pq.read_schema(sample).metadata


# -- bad files -----------------------------------------------------------------------------------------------


def test_missing_file_and_folder(path, tmp_path):
    assert refusal(path) == "no such file: FILE"
    assert refusal(tmp_path).startswith(UNREADABLE)


def test_empty_and_foreign_bytes(path):
    for content in (b"", b"PAR1", b"PAR1PAR1", b"slot,link,packet\n0,0,0\n", bytes(1000)):
        path.write_bytes(content)
        assert refusal(path).startswith(UNREADABLE)


@settings(max_examples=40)
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes(folder, content, marked):
    path = folder / "random.parquet"
    path.write_bytes(b"PAR1" + content + b"PAR1" if marked else content)
    assert refusal(path).startswith(UNREADABLE)


def test_every_truncation_is_refused(saved):
    whole = saved.read_bytes()
    for size in {0, 1, 4, 100, *range(0, len(whole), 97), len(whole) - 8, len(whole) - 1}:
        saved.write_bytes(whole[:size])
        assert refusal(saved).startswith(UNREADABLE)


def test_a_flipped_bit_is_noticed_or_harmless(saved):
    whole, rng = saved.read_bytes(), random.Random(1)
    refused = 0
    for _ in range(300):
        place = rng.randrange(len(whole))
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
        try:
            assert load(saved) == example() or place > len(whole) // 2  # Parquet's own footer has no checksum
        except FileFormatError:
            refused += 1
    assert refused > 100


def test_parquet_files_of_others(path):
    pq.write_table(pa.table({"a": [1, 2]}), path)
    assert refusal(path) == "FILE is a Parquet file, but not a gossamer schedule: it has no 'gossamer' metadata"


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


def test_unreadable_metadata(path):
    for text in (b"", b"{", b"[1]", b"7", b"{}", b'{"version": "x"}', b'{"version": Infinity}', b"\xff", b"[" * 10**5):
        schema = pa.schema([("slot", pa.int32())], metadata={b"gossamer": text})
        pq.write_table(pa.table({"slot": pa.array([], pa.int32())}, schema=schema), path)
        assert refusal(path) == "FILE has unreadable gossamer metadata"


@pytest.mark.parametrize("version", ["1", True, 1.0, 0, -1, [1]])
def test_versions_that_are_no_whole_number_are_refused(saved, version):
    rewrite(saved, version=version)
    assert refusal(saved) == "FILE has unreadable gossamer metadata"


def test_the_description_has_a_checksum_and_older_files_have_none(saved):
    metadata = pq.read_schema(saved).metadata
    assert metadata[b"gossamer_sha256"].decode() == hashlib.sha256(metadata[b"gossamer"]).hexdigest()
    table = pq.read_table(saved)
    changed = metadata[b"gossamer"].replace(b"torus:3x3", b"torus:3x4")
    pq.write_table(table.replace_schema_metadata({**metadata, b"gossamer": changed}), saved)
    assert refusal(saved) == "FILE has damaged gossamer metadata: its checksum is another"


def test_newer_versions_are_named(saved):
    rewrite(saved, version=4)
    assert refusal(saved) == "FILE has format version 4; this gossamer reads up to 3"


FINGERPRINT = gossamer.network("torus:3x3").fingerprint
LINKS = base64.b64encode(zlib.compress(b"\x00" * 12)).decode()
GIVEN = {"name": "x", "nodes": 2, "terminals": 2, "labels": None, "fingerprint": "0", "links": LINKS}
TAMPERED = [
    ({"network": {"spec": "torus:3x3", "fingerprint": "0"}},
     "the links of network 'torus:3x3' are not those that the file was made with"),
    ({"network": {"spec": "torus:3x4", "fingerprint": FINGERPRINT}},
     "the links of network 'torus:3x4' are not those that the file was made with"),
    ({"network": {"spec": "tours:3x3", "fingerprint": FINGERPRINT}}, "unknown network family 'tours'"),
    ({"network": {"spec": "torus:3x3"}}, "'fingerprint' is missing"),
    ({"network": {}}, "'spec' is missing"),
    ({"network": 5}, ""),
    ({"network": {**GIVEN, "links": "?"}}, ""),
    ({"network": {**GIVEN, "links": base64.b64encode(b"no zlib").decode()}}, ""),
    ({"network": {**GIVEN, "links": base64.b64encode(zlib.compress(bytes(7))).decode()}}, ""),
    ({"network": GIVEN}, "network 'x': node 0 has a link to itself"),
    ({"network": {**GIVEN, "nodes": "many"}}, ""),
    ({"repetition": {"packets": 2, "period": 1}}, "messages of 1 packet are not made of generations of 2"),
    ({"repetition": {"packets": 0, "period": 1}}, "packets of a generation must be a whole number"),
    ({"repetition": {"packets": 1, "period": 1.5}}, "the period must be"),
    ({"repetition": {"packets": 1}}, ""),
    ({"repetition": {"packets": 1, "period": 1, "more": 1}}, ""),
    ({"repetition": 5}, ""),
    ({"task": {"name": "scatterbrain"}}, "unknown task 'scatterbrain'"),
    ({"task": {"active": [1]}}, "a task is described by its name and its fields"),
    ({"task": ["partial-exchange"]}, "a task is described by its name and its fields"),
    ({"task": {"name": "partial-exchange"}}, "task partial-exchange needs 'active'"),
    ({"task": {"name": "partial-exchange", "active": 4}}, "the active nodes must be a list, got 4"),
    ({"task": {"name": "partial-exchange", "active": [9]}}, "active node 9 is outside 0..8 of torus:3x3"),
    ({"task": {"name": "permutation", "destination": [[1], [0]]}}, "the destination must be a node number, got [1]"),
    ({"model": {}}, "'ports' is missing"),
    ({"model": {"control_time": "1/0"}}, ""),
    ({"model": {"control_time": "1", "speed": 3}}, ""),
    ({"model": []}, ""),
    *(({"model": {n: v for n, v in RULES.items() if n != name}}, f"{name!r} is missing")
      for name in RULES),
    ({"model": {**RULES, "control_time": "1e-999999999"}}, "control_time must have at most 50"),
    ({"phases": [["go", 9, "1e-999999999"]]}, "the slot length of phase 'go' must have at most 50 digits"),
    ({"packets": 5.0}, "the number of packets must be a whole number in 0..2147483647, got 5.0"),
    ({"packets": True}, "the number of packets must be a whole number in 0..2147483647, got True"),
    ({"network": {"spec": "product:(edges:/etc/passwd)x(ring:3)", "fingerprint": ""}}, "its network is another file"),
    ({"parts": 0}, "parts must be a whole number in 1..2147483647, got 0"),
    ({"parts": "two"}, "parts must be a whole number in 1..2147483647, got 'two'"),
    ({"phases": [["go", 1, "1"]]}, "a hop is in slot "),
    ({"phases": [["go", 1]]}, ""),
    ({"phases": [["go", 100, "1/0"]]}, ""),
    ({"phases": 3}, ""),
    ({"control_phases": [2]}, "the number of a control phase must be a whole number in 0..1, got 2"),
    ({"control_phases": [True]}, "the number of a control phase must be a whole number in 0..1, got True"),
    ({"control_phases": 1}, ""),
    ({"symmetry": {"generated_by": None}}, "task partial-exchange is not the same at every node"),
    ({"symmetry": {"generated_by": [9]}}, "element 9 is outside 0..8 of the group of torus:3x3"),
    ({"symmetry": {"generated_by": "abc"}}, ""),
    ({"symmetry": {}}, "'generated_by' is missing"),
    ({"network": {"spec": "edges:somewhere.txt", "fingerprint": ""}}, "its network is another file"),
    ({"packets": {}}, "'rows' is missing"),
    ({"packets": {"rows": 2}}, "'origin' is missing"),
    ({"packets": {"rows": 2, "origin": [1, 2]}}, "column 'origin' is not packed"),
    ({"packets": {"rows": 10**9}}, "1000000000 packets would take 48 GB, too much for a file of "),
    ({"packets": {"rows": 2, "origin": packed(np.zeros(2, np.int32))[:-8]}}, "the numbers of column 'origin' are"),
    ({"packets": {"rows": 2, "origin": packed(np.zeros(3, np.int32))}}, "column 'origin' has 12 bytes for 2 numbers"),
    ({"packets": {"rows": 2, "origin": packed(np.zeros(9, np.int32))}}, "the numbers of column 'origin' would take"),
    ({"packets": -1}, "the number of packets must be a whole number in 0..2147483647, got -1"),
    ({"packets": 10**6}, "it lists 1000000 packets, but has "),
    ({"packets": "all"}, ""),
    *(({key: None}, f"{key!r} is missing") for key in
      ("network", "task", "model", "parts", "phases", "symmetry", "algorithm", "packets")),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "reason"), TAMPERED)
def test_tampered_headers(saved, changes, reason):
    rewrite(saved, **changes)
    assert refusal(saved).startswith(f"FILE does not hold a whole schedule: {reason}")


@pytest.mark.parametrize(
    ("packets", "reason"),
    [
        (5, "it lists 5 packets, but has 24 packet rows"),
        (0, "column 'slot' has 24 empty rows"),
        (10**6, "it lists 1000000 packets, but has "),
    ],
)
def test_tampered_headers_of_old(path, packets, reason):
    shutil.copy(OLD / "version-1.parquet", path)
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gossamer"]) | {"packets": packets}
    with pq.ParquetWriter(path, table.schema.with_metadata({b"gossamer": json.dumps(header).encode()})) as writer:
        for part in (table[:24], table[24:]):
            writer.write_table(part.replace_schema_metadata(writer.schema.metadata))
    assert refusal(path).startswith(f"FILE does not hold a whole schedule: {reason}")


def test_tampered_columns(saved):
    table = pq.read_table(saved)

    def changed(name, change, kind=None):
        place = table.schema.get_field_index(name)
        values = pa.array(change(table[name].to_pylist()), kind or table.schema.field(name).type)
        return table.set_column(place, name, values)

    for bad, reason in (
        (changed("slot", lambda x: [*x[:-1], None]), "column 'slot' has 1 empty rows"),
        (changed("part", lambda x: [None, *x[1:]]), "column 'part' has 1 empty rows"),
        (changed("slot", lambda x: [*x[::-1]]), "column 'slot' must be ascending"),
        (changed("link", lambda x: [*x[:-1], 99]), "column 'link' must be 0..35, got "),
        (changed("packet", lambda x: [*x[:-1], 99]), "column 'packet' must be -1..31, got "),
        (changed("source", lambda x: [*x[:-1], 8 - x[-1]]), "column 'source' has "),
        (changed("target", lambda x: [(x[0] + 1) % 9, *x[1:]]), "column 'target' has "),
        (changed("message", lambda x: [*x[:-1], 8]), "column 'message' has 8 in row "),
        (changed("part", lambda x: [0, *x[1:]]), "column 'part' has 0 in row 0, where link 3 and packet -1 have -1"),
        (changed("slot", lambda x: [str(v) for v in x], pa.string()), "column 'slot' must hold"),
        (changed("part", lambda x: [v + 0.5 for v in x], pa.float64()), "column 'part' must hold integers"),
        (table.drop_columns(["slot"]), ""),
        (table.drop_columns(["message"]), ""),
    ):
        save(example(), saved)
        rewrite(saved, table=bad)
        assert refusal(saved).startswith(f"FILE does not hold a whole schedule: {reason}")


# -- whole or not at all -------------------------------------------------------------------------------------


def test_folders_and_missing_places_are_named(tmp_path):
    for place, reason in (
        (tmp_path, "is a folder"),
        (tmp_path / "absent" / "plan.parquet", "No such file or directory"),
    ):
        with pytest.raises(FileFormatError) as error:
            save(example(), place)
        assert str(error.value) == f"cannot write {str(place)!r}: {reason}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch, failure):
    monkeypatch.setattr(table_files, "_ROWS", 4)
    before = saved.read_bytes()
    calls = []

    def fail(self, table, row_group_size=None):
        calls.append(table.num_rows)
        if len(calls) == 2:
            raise failure
        real(self, table, row_group_size=row_group_size)

    real = pq.ParquetWriter.write_table
    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    kind = FileFormatError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(kind) as error:
        save(build(0, gossamer.network("ring:4"), gossamer.task("allgather")), saved)
    if kind is FileFormatError:
        assert str(error.value) == f"cannot write {str(saved)!r}: No space left on device"
    assert len(calls) == 2
    assert list(saved.parent.iterdir()) == [saved]
    assert saved.read_bytes() == before
    assert load(saved) == example()


@settings(max_examples=20)
@given(st.data())
def test_saving_again_replaces_the_file(folder, data):
    ring = gossamer.network("ring:4")
    path = folder / "again.parquet"
    for name in ("allgather", "alltoall"):
        schedule = data.draw(phased(build(data.draw(st.integers(0, 9)), ring, gossamer.task(name))))
        save(schedule, path)
        assert load(path) == schedule


def test_a_network_of_a_file_is_saved_by_its_links_with_their_times(path, tmp_path):
    (tmp_path / "net.edges").write_text("a b\nb c\n")
    network = gossamer.network(str(tmp_path / "net.edges")).with_times(2, 1)
    schedule = gossamer.plan(network, "broadcast").schedule
    save(schedule, path)
    (tmp_path / "net.edges").unlink()
    back = load(path)
    assert back == schedule
    assert back.network.link_occupancy.tolist() == [2] * 4


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"names": [1, 2]}, "the names of ports must be a list of texts"),
        ({"names": "ab"}, "the names of ports must be a list of texts"),
        ({"names": ["a"]}, "links go through ports beyond the 1 that have names"),
        ({}, None),
    ],
)
def test_ports_that_a_text_file_tells(tmp_path, changes, reason):
    network = Network("three", 3, [0, 0, 1, 2], [1, 2, 0, 0], links_only=True)
    network = network.with_ports(SharedPorts([0, 0, -1, -1], [-1, -1, 1, 1], names=["a", "b"]))
    schedule = gossamer.plan(network, "broadcast").schedule
    path = tmp_path / "x.txt"
    save(schedule, path)
    lines = path.read_text().splitlines(keepends=True)
    (at,) = [i for i, line in enumerate(lines) if line.startswith("network: ")]
    told = json.loads(lines[at].removeprefix("network: "))
    told["shared_ports"] |= changes
    lines[at] = f"network: {json.dumps(told)}\n"
    lines = [line for line in lines if not line.startswith("checksum")]
    path.write_text("".join(lines))
    if reason is None:
        assert load(path) == schedule
        return
    with pytest.raises(FileFormatError) as error:
        load(path)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_schedules_whose_slots_last_so_long_come_back(path):
    clock = Clock(slot_seconds=Fraction(1, 3), packet_bytes=64, message_bytes=128, buffer_bytes=512, bus=Fraction(3, 2))
    schedule = gossamer.plan("ring:4", "broadcast", cost=clock).schedule
    save(schedule, path)
    assert load(path).cost == schedule.cost
