"""Good files of every kind that gossamer reads, and bad ones made of them."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).parents[1] / "data"
ON = "torus:4x4"

MADE = [
    "plan torus:3x3 allgather -o plan.parquet -o plan.txt",
    "plan kautz:2,2 scatter -o one_way.parquet",
    "plan ring:4 partial-sum-allreduce -o sums.parquet -o sums.txt",
    "plan ring:4 multiple-broadcast --counts 0,0,0,0 -o empty.parquet",
    "plan leaf-spine:2,2,2 reduce-scatter --cut-through --no-reduction -o switched.parquet",
    "plan torus:4x4 total-exchange --split -o parts.parquet -o parts.txt",
    "plan ring:4 reduce-scatter --bytes 64kB --bandwidth 50GB/s --latency 2us -o clock.parquet -o clock.txt",
    "plan torus:4x4 allgather --switching wormhole -o worm.parquet -o worm.txt",
    "network torus:4x4 -o file.edges -o file.json -o file.graphml -o file.dot",
    "demands torus:4x4 uneven-exchange --traffic zipf -o table.csv -o table.parquet -o table.json -o matrix.npy -o matrix.mtx "
    "-o matrix.mtx.gz -o matrix.mtx.bz2",
    "export plan.parquet --to msccl-xml -o plan.msccl.xml",
    "export plan.parquet --to msccl-json -o plan.json",
    "export plan.parquet --to goal -o plan.goal",
    "export plan.parquet --to program -o plan.program",
    "routes torus:4x4 -o tables.lft -o tables.sl",
    "simulate traffic torus:4x4 --load 0.2 --measured 100 --warmup 10 -o results.parquet -o results.csv",
]
TEXTS = {
    "nodes.txt": "0, 5 7  # three\n9\n",
    "sources.txt": "0: 3  # one\n2: 0\n5: 7\n",
    "groups.txt": "0 1 2 3\n4-7\n",
    "trace.csv": "time,node\n0,1\n1.5,3\n7,0\n",
    "trace.txt": "0 1\n1.5 3\n7 0\n",
    "packets.txt": "0 1 5 4\n3 2 7 1\n",
    "coordinates.txt": "torus 4x4\n0 0 0\n1 0 1\n2 1 0\n3 1 1\n",
    "job.toml": '[groups]\nhalves = "0-7;8-15"\n[[collectives]]\nname = "a"\ntask = "allgather"\nbytes = "4kB"\ngroups = "halves"\n'
    '[[collectives]]\ntask = "allreduce"\nbytes = 1000\nafter = "a"\n',
    "slow.edges": "columns source target occupancy latency-slots\n0 1 2 0\n1 2 1 3\n2 3 1 0\n3 0 3 1\n0 2 1 0\n",
    "waiting.toml": '[[collectives]]\nname = "a"\ntask = "neighbor-exchange"\nbytes = 1000\n[[collectives]]\nname = "b"\n'
    'task = "reduce"\nbytes = 2000\nafter = "a"\n[[collectives]]\ntask = "alltoall"\nbytes = 4000\n',
    "study.toml": 'title = "small"\n[define]\nprice = "10 * links + 3 * nodes"\n[[points]]\nnetwork = ["torus:{a=2..4}x{b=2..4}", '
    '"ring:16"]\ntask = ["allgather"]\nwhere = ["nodes == 16", "price <= 700"]\n[report]\nagainst = ["links"]\n',
}

USES = {
    ".parquet": ["verify {}"], ".program": ["run {}"],
    ".txt": ["verify {}"], ".edges": ["network {}"], ".json": ["network {}"], ".graphml": ["network {}"],
    ".dot": ["network {}"], ".toml": [], ".xml": ["network {}"], ".ibnet": ["network {}"], ".conf": ["network {}"], ".ranks": ["network {}"],
    "table.csv": [f"demands {ON} demands --demands {{}}", f"demands {ON} uneven-exchange --traffic {{}}"],
    "table.parquet": [f"demands {ON} demands --demands {{}}"], "table.json": [f"demands {ON} demands --demands {{}}"],
    "matrix.npy": [f"demands {ON} uneven-exchange --traffic {{}}", f"demands {ON} permutation --destinations {{}}"],
    "matrix.mtx": [f"demands {ON} uneven-exchange --traffic {{}}", f"demands {ON} partial-exchange --active {{}}"],
    "matrix.mtx.gz": [f"demands {ON} partial-exchange --active {{}}"], "matrix.mtx.bz2": [f"demands {ON} partial-exchange --active {{}}"],
    "nodes.txt": [f"demands {ON} partial-exchange --active {{}}", f"demands {ON} permutation --destinations {{}}"],
    "sources.txt": [f"demands {ON} permutation --destinations {{}}", f"demands {ON} one-to-many-routing --destinations {{}}"],
    "groups.txt": [f"demands {ON} allgather --groups {{}}"], "coordinates.txt": ["network {}"],
    "trace.csv": [f"simulate arrivals {ON} --steps 20 --trace {{}}"], "trace.txt": [f"simulate arrivals {ON} --steps 20 --trace {{}}"],
    "packets.txt": [f"simulate traffic {ON} --trace {{}}"],
    "plan.msccl.xml": ["verify {} --network torus:3x3", "import {} --network torus:3x3 -o new.parquet"],
    "plan.json": ["verify {} --network torus:3x3"], "plan.goal": ["verify {} --network torus:3x3 --task allgather"],
    "tables.lft": [f"routes {ON} {{}}"], "tables.sl": [f"routes {ON} tables.lft --levels {{}}"],
    "job.toml": [f"plan {ON} {{}}", f"place {{}} {ON} --bandwidth 50GB/s"], "study.toml": ["sweep run {} --dry-run"],
    "results.parquet": ["sweep report {}"], "results.csv": ["sweep report {}"],
}  # fmt: skip
"""Commands that read a file, by its name or else its suffix."""


def write_samples(folder: Path) -> list[Path]:
    """Write a good file of each kind into the working folder, and return them."""
    from sandbox import run

    for line in MADE:
        made = run(line.split(), 600)
        assert made.status == 0, (line, made)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    for path in [*(DATA / "networks").iterdir(), *(DATA / "files").iterdir()]:
        shutil.copy(path, folder)
    found = sorted(p for p in folder.iterdir() if p.is_file() and uses(p.name))
    shutil.copy(folder / "dgx1.txt", folder / "machines.txt")
    return found


def write_others(folder: Path) -> None:
    """Add what is no regular file."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")


def uses(name: str) -> list[str]:
    """Return the commands that read a file of some name."""
    return USES.get(name) or USES.get(Path(name).suffix, [])


def mutated(good: list[Path], draw: Random) -> tuple[str, bytes, list[str]]:
    """Return the name and the bytes of a bad file, and the words of a command that reads it."""
    path = draw.choice(good)
    data = path.read_bytes()
    inner, outer = _opened(path.name)
    if draw.random() < 0.8:
        data = inner(data)
    else:
        outer = bytes
    kinds: list[Callable[[bytes, Random], bytes]] = [_bytes_changed, _cut, _spliced, _numbers_changed, _lines_changed]
    if path.suffix == ".parquet":
        kinds = [_described_otherwise] * 4 + [_rows_changed] * 3 + [_bytes_changed, _cut]
    if path.suffix == ".json":
        kinds += [_tree_changed] * 4
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        data = draw.choice(kinds)(data, draw)
    if draw.random() < 0.02:
        data = _spliced(data + draw.choice(good).read_bytes(), draw)
    name = "bad-" + path.name if path.name not in USES else f"bad-{path.name}"
    return name, outer(data), draw.choice(uses(path.name)).format(name).split(" ")


def _opened(name: str) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    if name.endswith(".gz"):
        return gzip.decompress, gzip.compress
    if name.endswith(".bz2"):
        return bz2.decompress, bz2.compress
    return bytes, bytes


def _bytes_changed(data: bytes, draw: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        if changed:
            changed[draw.randrange(len(changed))] = draw.choice([0, 255, 10, 32, 48, 128, draw.randrange(256)])
    return bytes(changed)


def _cut(data: bytes, draw: Random) -> bytes:
    a, b = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    return draw.choice(
        [data[:a], data[a:], data[:a] + data[b:], data[:b] + data[a:], b"", data[:a] + data[a:b] * 20 + data[b:]]
    )


def _spliced(data: bytes, draw: Random) -> bytes:
    a = draw.randrange(len(data) + 1)
    odd = draw.choice(
        [
            b"\xff\xfe",
            b"\x00" * 9,
            b"\xef\xbb\xbf",
            b"\r\n",
            b"9" * 400,
            b"((((" * 300,
            b'"',
            b"&amp;&x;",
            b"<!DOCTYPE a>",
        ]
    )
    return data[:a] + odd + data[a:]


def _numbers_changed(data: bytes, draw: Random) -> bytes:
    import re

    found = list(re.finditer(rb"-?\d+(?:\.\d+)?", data))
    if not found:
        return data
    at = draw.choice(found)
    return data[: at.start()] + odd_word(draw).encode("utf-8", "replace") + data[at.end() :]


def odd_word(draw: Random) -> str:
    """Return a number that is at a limit or beyond it, or a word that is none."""
    from words import ODD

    return draw.choice([w for w in ODD[:90] if len(w) < 6000]) if draw.random() < 0.7 else str(draw.randrange(-3, 40))


def _lines_changed(data: bytes, draw: Random) -> bytes:
    lines = data.split(b"\n")
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(4)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[j])
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        words = lines[i].split(b" ")
        words[draw.randrange(len(words))] = odd_word(draw).encode("utf-8", "replace")
        lines[i] = b" ".join(words)
    return b"\n".join(lines)


def _tree_changed(data: bytes, draw: Random) -> bytes:
    try:
        return json.dumps(_changed(json.loads(data), draw)).encode()
    except (ValueError, RecursionError):
        return _bytes_changed(data, draw)


def _changed(tree: Any, draw: Random) -> Any:
    """Return a JSON value with one value in it changed."""
    if isinstance(tree, dict) and tree and draw.random() < 0.9:
        key = draw.choice(list(tree))
        if draw.random() < 0.12:
            return {k: v for k, v in tree.items() if k != key}
        return {**tree, key: _changed(tree[key], draw)}
    if isinstance(tree, list) and tree and draw.random() < 0.9:
        i = draw.randrange(len(tree))
        if draw.random() < 0.12:
            return [*tree[:i], *tree[i + 1 :]] if draw.random() < 0.5 else [*tree[:i], tree[i], *tree[i:]]
        return [*tree[:i], _changed(tree[i], draw), *tree[i + 1 :]]
    odd = odd_word(draw)
    number: Any = 0
    with contextlib.suppress(ValueError):
        number = float(odd) if set(odd) & set(".e") else int(odd[:400])
    return draw.choice(
        [None, True, [], {}, "", odd, number, number, -1, 0, [tree], {"x": tree}, float(10**15), 0.5, [[[[]]]]]
    )


def _described_otherwise(data: bytes, draw: Random) -> bytes:
    """Return a Parquet file whose description is changed, with a checksum that is right."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError, ValueError):
        return _bytes_changed(data, draw)
    held = dict(table.schema.metadata or {})
    if b"gossamer" not in held:
        return _rows_changed(data, draw)
    try:
        text = json.dumps(_changed(json.loads(held[b"gossamer"]), draw)).encode()
    except (ValueError, RecursionError):  # damaged before
        return _rows_changed(data, draw)
    held[b"gossamer"] = text
    if b"gossamer_sha256" in held:
        held[b"gossamer_sha256"] = hashlib.sha256(text).hexdigest().encode()
    return _parquet(table.replace_schema_metadata(held))


def _rows_changed(data: bytes, draw: Random) -> bytes:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
        _ = table.schema.names  # one that is damaged is no text
    except (pa.ArrowException, OSError, ValueError):
        return _bytes_changed(data, draw)
    if not table.num_columns:
        return data
    how, i = draw.randrange(7), draw.randrange(table.num_columns)
    name, column = table.schema.field(i).name, table.column(i)
    if how == 0:
        return _parquet(table.remove_column(i))
    if how == 1:
        return _parquet(table.set_column(i, name, pa.nulls(table.num_rows, column.type)))
    if how == 2:
        return _parquet(pa.concat_tables([table] * draw.choice([2, 50])))
    if how == 3:
        return _parquet(table.slice(draw.randrange(table.num_rows + 1)))
    if how == 4:
        kind = draw.choice([pa.float64(), pa.string(), pa.int8(), pa.uint64(), pa.bool_(), pa.date32()])
        with contextlib.suppress(pa.ArrowException):
            return _parquet(table.set_column(i, name, column.cast(kind, safe=False)))
        return _parquet(table.rename_columns([f"{n}x" if n == name else n for n in table.column_names]))
    values = column.to_numpy().copy() if pa.types.is_integer(column.type) else np.zeros(0)
    if values.size and values.dtype.kind in "iu":
        low, high = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
        values[draw.randrange(values.size)] = draw.choice([low, high, max(low, -1), 0, 1, draw.randrange(100)])
        return _parquet(table.set_column(i, name, pa.array(values)))
    return _parquet(table.select(list(reversed(table.column_names))))


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    held = io.BytesIO()
    pq.write_table(table, held)
    return held.getvalue()
