"""What is written is the same, byte by byte, whatever the hash seed, threads, place, language and time zone."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pyarrow.csv
import pyarrow.parquet
import pytest

LINES = [
    "plan torus:4x4 allgather --json -o plan.parquet -o plan.txt -o plan.svg",
    "plan jellyfish:n=12,d=3,seed=1 alltoall --json -o any.parquet",
    "plan torus:4x4 permutation --pattern random --seed 3 --json -o drawn.parquet",
    "plan ring:6 reduce-scatter --bytes 64kB --bandwidth 50GB/s --latency 2us --json -o clock.parquet",
    "plan torus:4x4 allgather --switching wormhole --json -o worm.parquet -o worm.txt",
    "compare hypercube:3 alltoall --json",
    "bounds kautz:2,2 allgather --json",
    "faults ring:5 broadcast --json -o faults.csv -o faults.json -o faults.parquet",
    "sweep run --network ring:{4..6} --task allgather,broadcast --engine in-process --json -o sweep.parquet",
    "design --nodes 8 --degree 3 --task allgather --rounds 1 --json",
    "simulate arrivals torus:4x4 --load 0.3 --steps 200 --json -o delays.parquet -o delays.csv -o delays.svg",
    "list schemes torus:4x4 --json",
    "simulate traffic torus:4x4 --load 0.2 --measured 200 --warmup 50 --json -o traffic.csv -o traffic.parquet",
    "network torus:4x4 --json -o file.edges -o file.json -o file.graphml -o file.dot -o file.svg",
    "demands torus:4x4 uneven-exchange --traffic zipf --seed 2 -o table.csv -o matrix.npy -o matrix.mtx.gz",
    "verify plan.parquet --json",
    "export plan.parquet --to msccl-xml -o plan.xml",
    "export plan.parquet --to goal -o plan.goal",
    "export plan.parquet --to perfetto -o trace.json",
    "export plan.parquet --to smpi -o smpi",
    "explore plan.parquet -o explorer.html",
    "draw worm.parquet -o worm.pdf -o worm.png",
    "manual -o gossamer.1",
]
TIMES = ("seconds", "build_seconds", "verify_seconds", "peak_memory_bytes")
"""What JSON and tables say of the run itself."""
TIMED = ("delays.csv", "delays.parquet", "traffic.csv", "traffic.parquet")

WAYS = {
    "one": {"PYTHONHASHSEED": "0", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C", "TZ": "UTC0"},
    "another": {"PYTHONHASHSEED": "4242", "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "LC_ALL": "C.UTF-8",
                "TZ": "XYZ-9", "COLUMNS": "61", "NO_COLOR": "1", "LANG": "de_DE.UTF-8"},
}  # fmt: skip

RUN = """
import contextlib, io, json, sys
from gossamer.cli import main
told = {}
for line in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(line.split())
    assert status == 0, line
    told[line] = out.getvalue()
print(json.dumps(told))
"""


def without_times(found):
    """Return JSON without what it says of the run itself."""
    if isinstance(found, dict):
        return {key: without_times(value) for key, value in found.items() if key not in TIMES}
    return [without_times(each) for each in found] if isinstance(found, list) else found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What was told and written in each way: a text by command, and bytes by name of a file."""
    found = {}
    for name, settings in WAYS.items():
        folder = tmp_path_factory.mktemp(name) / ("a folder of some other name" if name == "one" else "b")
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", RUN], input=json.dumps(LINES), cwd=folder, env={**os.environ, **settings},
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        written = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        found[name] = json.loads(done.stdout), written
    return found


def test_files_are_the_same(runs):
    (_, one), (_, another) = runs.values()
    assert set(one) == set(another)
    assert len(one) > 40
    assert [name for name in sorted(one) if one[name] != another[name]] == sorted(TIMED)


@pytest.mark.parametrize("name", TIMED)
def test_tables_of_simulations_are_the_same_but_for_the_seconds_that_they_took(runs, name):
    read = pyarrow.csv.read_csv if name.endswith(".csv") else pyarrow.parquet.read_table
    one, another = (read(io.BytesIO(files[name])).drop_columns(["seconds"]) for _, files in runs.values())
    assert repr(one.to_pylist()) == repr(another.to_pylist())  # nan is what nan is


def test_what_is_told_is_the_same_but_for_times(runs):
    (one, _), (another, _) = runs.values()
    for line in LINES:
        if "--json" in line:
            assert without_times(json.loads(one[line])) == without_times(json.loads(another[line])), line
        else:
            assert one[line] == another[line]
