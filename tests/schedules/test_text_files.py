"""Schedules as text: a line a hop, readable, and read back."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError
from gossamer.networks import Network
from gossamer.questions.costs import LinearCost
from gossamer.schedules import CONTROL, Phase, Schedule, load, save
from gossamer.wormhole import PayloadTable, StepPhase, WormholeSchedule
from schedules.strategies import build, mutated, mutations, schedules
from wormhole.strategies import faulty


def example() -> Schedule:
    phases = [Phase("learn", 1, Fraction(1, 3), control=True), Phase("go", 3, Fraction(1, 2))]
    return Schedule(
        gossamer.network("array:3"), gossamer.task("broadcast"), gossamer.Rules(split=True), [0, 1, 2, 2, 3],
        [3, 0, 0, 1, 1], [CONTROL, 0, 1, 0, 1], cost=gossamer.StepCost("1/3"), parts=2, phases=phases,
        algorithm="by hand",
    )  # fmt: skip


PRINT = gossamer.network("array:3").fingerprint
TEXT = f"""\
gossamer schedule, version 1, store-and-forward
network: {{"spec": "array:3", "fingerprint": "{PRINT}"}}
task: {{"name": "broadcast", "root": 0}}
model: {{"ports": "all", "split": true, "control_time": "1/3", "buffer": null, "buffer_counts": "transit"}}
parts: 2
phases: [["learn", 1, "1/3"], ["go", 3, "1/2"]]
symmetry: null
algorithm: "by hand"
control_phases: [0]

packets: 2
packet 0: message 0 part 0 from 0
packet 1: message 0 part 1 from 0

hops: 5
slot 0: 2 -> 1 packet control
slot 1: 0 -> 1 packet 0
slot 2: 0 -> 1 packet 1
slot 2: 1 -> 2 packet 0
slot 3: 1 -> 2 packet 1
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "plan.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("text")


def refusal(path: Path) -> str:
    with pytest.raises(FileFormatError) as error:
        gossamer.load(path)
    text = str(error.value)
    assert "\n" not in text
    return text.replace(repr(str(path)), "FILE")


def test_a_schedule_is_written_a_line_a_hop(path):
    save(example(), path)
    assert path.read_text() == TEXT
    assert load(path) == example()
    assert gossamer.load(path).algorithm == "by hand"


def test_people_may_write_comments_empty_lines_and_wide_spaces(path):
    lines = TEXT.replace("slot 1: 0 -> 1", "  slot 1:   0  ->  1").splitlines()
    path.write_text("\n\n# by hand\n".join([lines[0], "\n".join(lines[1:]) + "\n# the end"]))
    assert load(path) == example()


def test_comments_may_stand_between_rows(path):
    path.write_text(TEXT.replace("slot 2: 0 -> 1", "# the second part\n\nslot 2: 0 -> 1"))
    assert load(path) == example()


def test_a_file_that_the_system_does_not_give_is_refused(path, monkeypatch):
    path.write_text(TEXT)

    def denied(self, *args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refusal(path) == "cannot read FILE: Permission denied"


@settings(max_examples=60, deadline=None)
@given(schedules(), mutations, st.booleans())
def test_every_schedule_valid_or_not_comes_back(folder, schedule, changes, broken):
    if broken:
        schedule = mutated(schedule, changes)
    schedule.save(folder / "a.txt")
    back = load(folder / "a.txt")
    assert back == schedule
    for name in ("slot", "link", "packet"):
        assert getattr(back, name).tolist() == getattr(schedule, name).tolist()


@settings(max_examples=30, deadline=None)
@given(faulty())
def test_every_wormhole_schedule_valid_or_not_comes_back(folder, schedule):
    schedule.save(folder / "w.txt")
    assert gossamer.load(folder / "w.txt") == schedule


def test_invariant_schedules_and_networks_given_by_their_links_come_back(path):
    invariant = gossamer.plan("torus:4x4", "allgather").schedule
    assert invariant.invariant
    save(invariant, path)
    assert load(path) == invariant
    network = Network(
        "mine", 3, [0, 1, 1, 2], [1, 0, 2, 1], [2, 2, 1, 1], terminal_count=2, labels="xyz", links_only=True
    )
    schedule = build(0, network, gossamer.task("scatter"))
    save(schedule, path)
    assert '"links": [[0, 1, 2], [1, 0, 2], [1, 2, 1], [2, 1, 1]]' in path.read_text()
    assert load(path) == schedule


def test_a_wormhole_schedule_is_written_a_line_a_message(path):
    net, table = gossamer.network("torus:3x3"), PayloadTable()
    s = WormholeSchedule(
        net, gossamer.task("broadcast"), LinearCost(), [0, 1], [0, 4], [[1, -1], [0, 1]], [-1, table.row([0])],
        payloads=table.payloads(), phases=[StepPhase("all", 2, 9)],
    )  # fmt: skip
    gossamer.save(s, path)
    lines = path.read_text().splitlines()
    assert lines[0] == "gossamer schedule, version 1, wormhole"
    assert lines[lines.index("pieces: 1") :] == [
        "pieces: 1",
        "piece 0: piece 0 of message 0, 1024 bytes from 0",
        "",
        "set_entries: 1",
        "set 0: piece 0",
        "",
        "messages: 2",
        "step 0: from 0 by 1,-1 set control control bytes 4",
        "step 1: from 4 by 0,1 set 0 control bytes 0",
    ]
    assert gossamer.load(path) == s
    with pytest.raises(FileFormatError, match="holds a schedule for wormhole switching, not for store and forward"):
        load(path)


BAD = [
    ("", "", "FILE, line 0: a schedule begins with 'gossamer schedule, version 1, store-and-forward', but the "),
    ("gossamer schedule,", "gossamer plan,", "FILE, line 1: a schedule begins with 'gossamer schedule, version 1, "),
    ("version 1", "version 4", "FILE has format version 4; this gossamer reads 1 to 3"),
    ("version 1", "version 0", "FILE has format version 0; this gossamer reads 1 to 3"),
    ("store-and-forward", "circuit", "FILE holds a schedule for 'circuit' switching, which is unknown here"),
    ("parts: 2", "parts 2", "FILE, line 5: expected a line 'key: value', got 'parts 2'"),
    ("parts: 2", "parts: two", "FILE, line 5: the value of 'parts' must be JSON, got 'parts: two'"),
    ("parts: 2", "parts: 2\nparts: 2", "FILE, line 6: 'parts' is given twice, got 'parts: 2'"),
    ("parts: 2\n", "", "FILE does not hold a whole schedule: 'parts' is missing"),
    ("part 1 from", "part x from", "FILE, line 13: expected row 1 of 2, 'packet {number}: message {message}"),
    ("packet 1: message", "packet 2: message", "FILE, line 13: expected number 1, got 'packet 2: message 0"),
    ("packets: 2", "packets: 1", "FILE, line 13: expected the table 'hops: number of rows', got 'packet 1: message 0"),
    ("packets: 2", "packets: many", "FILE, line 11: expected the table 'packets: number of rows', got 'packets: many'"),
    ("slot 1: 0 -> 1", "slot 1: 0 to 1", "FILE, line 17: expected row 1 of 5, 'slot {slot}: {source} -> {target}"),
    ("slot 1: 0 -> 1", "slot 1: 0 -> 2", "FILE does not hold a whole schedule: hop 1 is over a link 0 -> 2, which arr"),
    ("slot 1: 0 -> 1", "slot 1: 0 -> 9", "FILE does not hold a whole schedule: hop 1 is over a link 0 -> 9, which arr"),
    ("slot 1: 0 -> 1", "slot 1: -1 -> 4", "FILE does not hold a whole schedule: hop 1 is over a link -1 -> 4, which a"),
    ("slot 1: 0 -> 1", "slot 3: 0 -> 1", "FILE does not hold a whole schedule: column 'slot' must be ascending"),
    ("slot 3: 1 -> 2 packet 1\n", "", "FILE, line 19: expected row 4 of 5, 'slot {slot}: {source} -> {target}"),
    ("hops: 5", "hops: 4", "FILE, line 20: expected nothing more, got 'slot 3: 1 -> 2 packet 1'"),
    ("slot 1: 0", f"slot {'9' * 18}: 0", "FILE does not hold a whole schedule: column 'slot' has values outside"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "reason"), BAD)
def test_malformed_text_is_refused_with_the_number_of_its_line(path, old, new, reason):
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1) if old else "")
    assert refusal(path).startswith(reason)


def test_what_is_no_text_or_is_not_there_is_refused(path, tmp_path):
    assert refusal(path) == "no such file: FILE"
    path.write_bytes(TEXT.encode()[:200] + b"\xff\xfe")
    assert refusal(path) == "FILE is not text in UTF-8"
    save(example(), tmp_path / "plan.parquet")
    (tmp_path / "plan.parquet").rename(path)
    assert refusal(path) == "FILE is not text in UTF-8"
    (tmp_path / "folder.txt").mkdir()
    assert refusal(tmp_path / "folder.txt") == "cannot read FILE: it is a folder"


def test_every_truncation_is_refused(path):
    for size in range(0, len(TEXT) - 2, 7):
        path.write_text(TEXT[:size])
        assert refusal(path).startswith("FILE")
