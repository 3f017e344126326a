"""Small files that claim gigabytes are refused by arithmetic, before anything is built or unpacked."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gossamer
from gossamer.errors import FileFormatError
from gossamer.questions.costs import LinearCost
from gossamer.schedules.columns import packed
from gossamer.schedules.serialization import rules_to_dict
from gossamer.schedules.table_files import FileTable, Room, TableRows, write_tables

HOPS = ("slot", "link", "packet", "origin", "message", "part")


def described(**changes) -> dict[str, object]:
    """The description of a file with no packets and no hops."""
    return {
        "version": 1,
        "network": {"spec": "ring:4", "fingerprint": gossamer.network("ring:4").fingerprint},
        "task": {"name": "broadcast", "root": 0},
        "model": rules_to_dict(gossamer.Rules(), gossamer.StepCost()),
        "parts": 1, "phases": [], "symmetry": None, "algorithm": "", "packets": 0,
        **changes,
    }  # fmt: skip


def links(packed: bytes, nodes: int = 2) -> dict[str, object]:
    text = base64.b64encode(packed).decode()
    return {"name": "x", "nodes": nodes, "terminals": 1, "labels": None, "fingerprint": "0", "links": text}


def bomb(size: int) -> bytes:
    packing = zlib.compressobj(1)
    return b"".join([packing.compress(bytes(1 << 20)) for _ in range(size >> 20)]) + packing.flush()


def spec(text: str) -> dict[str, object]:
    return described(network={"spec": text, "fingerprint": "0"})


def wormhole(**changes) -> dict[str, object]:
    return {
        **described(switching="wormhole", model=LinearCost().to_dict(), pieces=0, sets=0, set_entries=0),
        **changes,
    }


CLAIMS = {
    "ring:100000000": (spec("ring:100000000"), "network 'ring:100000000' would take 6.4 GB, too much for a file of "),
    "hypercube:23": (spec("hypercube:23"), "network 'hypercube:23' would take "),
    "torus:400x400x400": (spec("torus:400x400x400"), "network 'torus:400x400x400' would take "),
    "product": (spec("product:(ring:10000)x(ring:10000)"), "network 'product:(ring:10000)x(ring:10000)' would take"),
    "messages": (
        described(
            network={"spec": "ring:20000", "fingerprint": gossamer.network("ring:20000").fingerprint},
            task={"name": "total-exchange"},
        ),
        "400,000,000 messages of total-exchange would take 12.8 GB, too much for a file of ",
    ),
    "counts": (
        described(task={"name": "multiple-broadcast", "counts": [10**9, 0, 0, 0]}),
        "1,000,000,000 messages of multiple-broadcast would take 32 GB",
    ),
    "nodes": (described(network=links(zlib.compress(bytes(12)), 10**9)), "a network of 1000000000 nodes would take"),
    "bomb": (described(network=links(bomb(200 << 20))), "its links would take "),
    "truncated links": (described(network=links(zlib.compress(bytes(120))[:-6])), "its links are truncated"),
    "packets": (described(packets={"rows": 10**8}), "100000000 packets would take 4.8 GB, too much for a file of "),
    "packed packets": (
        described(packets={"rows": 10**6, "origin": packed(np.zeros(20 << 20, np.int32))}),
        "the numbers of column 'origin' would take more than 8,000,000 bytes",
    ),
    "sets": (wormhole(sets=500_000_000), "500,000,000 sets would take 12 GB, too much for a file of "),
    "steps": (wormhole(phases=[["idle", 300_000_000, None]]), "300,000,000 steps would take 36 GB"),
}  # fmt: skip


def write(path: Path, header: dict[str, object]) -> None:
    names = ("step", "source", "displacement_0", "payload", "control_bytes", "set") if "sets" in header else HOPS
    names = (*names, "origin", "message", "piece", "size") if "sets" in header else names
    none = {name: np.zeros(0, np.int64 if name == "message" else np.int32) for name in names}
    write_tables(path, "any", header, [TableRows.of(FileTable("rows", "row", names, ""), none)])


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_beyond_the_size_of_the_file_are_refused(tmp_path, name):
    header, reason = CLAIMS[name]
    path = tmp_path / "plan.parquet"
    write(path, header)
    with pytest.raises(FileFormatError) as error:
        gossamer.load(path)
    assert str(error.value).startswith(f"{str(path)!r} does not hold a whole schedule: {reason}")


def equal_rows(path: Path, groups: int) -> None:
    """A million equal hops in each row group."""
    schema = pa.schema(
        [(name, pa.int64() if name == "message" else pa.int32()) for name in HOPS],
        metadata={b"gossamer": json.dumps(described(phases=[["go", 1, "1"]])).encode()},
    )
    million = [pa.array(np.zeros(10**6, np.int32)) for _ in range(3)]
    table = pa.Table.from_arrays([*million, *(pa.nulls(10**6, f.type) for f in list(schema)[3:])], schema=schema)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(groups):
            writer.write_table(table)


def test_a_hundred_million_equal_rows_in_a_small_file_are_refused(tmp_path):
    path = tmp_path / "plan.parquet"
    equal_rows(path, 100)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(FileFormatError, match="100000000 hop rows would take 400 MB, too much for a file of "):
        gossamer.load(path)


def test_what_is_taken_is_not_there_any_more():
    room = Room(1000)
    room.take(300_000_000, "the first half")
    with pytest.raises(ValueError, match="the second half would take 300 MB, too much for a file of 1 kB"):
        room.take(300_000_000, "the second half")
    room.take(100_000_000, "the rest")


def test_what_the_room_allows_is_loaded(tmp_path):
    path = tmp_path / "plan.parquet"
    plan = gossamer.plan("torus:64x64", "broadcast")
    plan.schedule.save(path)
    assert gossamer.load(path) == plan.schedule
    assert Room(10).left == Room(20_000_000).left == Room(2_000_000, 200).left == 400_000_000
    assert Room(10**9).left == 20 * 10**9


def test_a_lack_of_memory_is_an_error_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "plan.parquet"
    gossamer.plan("ring:4", "broadcast").schedule.save(path)

    def starved(self, amount, what):
        raise MemoryError

    monkeypatch.setattr(Room, "take", starved)
    with pytest.raises(FileFormatError, match="does not hold a whole schedule: it does not fit in memory"):
        gossamer.load(path)


MEASURE = """
import resource, sys
import gossamer, gossamer.errors, gossamer.planning.switching, pyarrow.parquet, gossamer.wormhole
from pathlib import Path
gossamer.load(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[2:]:
    try:
        gossamer.load(path)
    except gossamer.errors.FileFormatError:
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux only")
def test_no_small_file_takes_half_a_gigabyte(tmp_path):
    paths = [tmp_path / f"{i}.parquet" for i in range(len(CLAIMS) + 2)]
    gossamer.plan("ring:4", "broadcast").schedule.save(paths[0])
    for path, (header, _) in zip(paths[1:], CLAIMS.values(), strict=False):
        write(path, header)
    equal_rows(paths[-1], 30)
    found = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 500_000
