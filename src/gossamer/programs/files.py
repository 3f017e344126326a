"""Programs in files: a few lines of any language read what a rank is to do.

All numbers are little-endian. A file has

1. 8 bytes ``gossprog``; uint32 version (1), ranks, parts, slots; uint64 hops; uint64 size of the description;
2. a row of 48 bytes for each rank: uint64 position in the file, operations, copies; int64 sizes of input, output and
   scratch, in parts; of a rank whose program is not in the file the position is 0;
3. the description, a JSON object: network, task and algorithm, for people;
4. for each rank, at its position, its operations of 32 bytes each: int32 slot, uint8 kind (0 send, 1 receive, 2 receive
   and reduce), uint8 buffer (0 input, 1 output, 2 scratch), uint16 zero, int32 peer, after, offset, operand, length,
   part; then its copies of 12 bytes: int32 place in the input, place in the output, length;
5. 32 bytes: the SHA-256 of all before.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError
from gossamer.programs.program import Operations, Program
from gossamer.reading.files import read_bytes

__all__ = ["COPY", "HEAD", "MAGIC", "OPERATION", "RANK", "description", "read_rank", "write_program"]

MAGIC = b"gossprog"
HEAD = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("ranks", "<u4"), ("parts", "<u4"), ("slots", "<u4"),
     ("hops", "<u8"), ("description", "<u8")]
)  # fmt: skip
RANK = np.dtype(
    [("position", "<u8"), ("operations", "<u8"), ("copies", "<u8"),
     ("input", "<i8"), ("output", "<i8"), ("scratch", "<i8")]
)  # fmt: skip
OPERATION = np.dtype(
    [("slot", "<i4"), ("kind", "u1"), ("buffer", "u1"), ("zero", "<u2"), ("peer", "<i4"), ("after", "<i4"),
     ("offset", "<i4"), ("operand", "<i4"), ("length", "<i4"), ("part", "<i4")]
)  # fmt: skip
COPY = np.dtype([("input", "<i4"), ("output", "<i4"), ("length", "<i4")])

_COLUMNS = ("slot", "kind", "buffer", "peer", "after", "offset", "operand", "length", "part")


def write_program(program: Program, path: str | os.PathLike[str]) -> None:
    """Write a program to a file, whole or not at all.

    Raises `FileFormatError` if the file cannot be written.

    Rank by rank: the memory of one rank's operations. 64 bytes a hop.

    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.program"
    >>> write_program(gossamer.lower(gossamer.plan("ring:4", "allgather").schedule), path)
    >>> read_rank(path, 2).count
    6
    """
    told = {"network": program.network.spec, "task": program.task.to_dict(), "algorithm": program.algorithm}
    text = json.dumps(told).encode()
    head = np.zeros(1, HEAD)
    head[0] = (MAGIC, 1, program.ranks, program.parts, program.slots, program.hops, len(text))
    table = np.zeros(program.ranks, RANK)
    if not program.complete:  # whose buffers there are is known of all
        table["input"], table["output"] = program.sizes.T
    position = HEAD.itemsize + table.nbytes + len(text)
    for mine in program:
        rows, copies = mine.count, len(mine.copies)
        table[mine.rank] = (position, rows, copies, mine.input_size, mine.output_size, mine.scratch_size)
        position += rows * OPERATION.itemsize + copies * COPY.itemsize
    checksum = hashlib.sha256()
    with whole_file(path) as part, part.open("wb") as file:

        def put(data: bytes) -> None:
            checksum.update(data)
            file.write(data)

        put(head.tobytes())
        put(table.tobytes())
        put(text)
        for mine in program:
            records = np.zeros(mine.count, OPERATION)
            for name in _COLUMNS:
                records[name] = getattr(mine, name)
            own = np.ones(len(mine.copies), COPY)
            own["input"], own["output"] = mine.copies.T
            put(records.tobytes())
            put(own.tobytes())
        file.write(checksum.digest())


def read_rank(path: str | os.PathLike[str], rank: int) -> Operations:
    """Read what one rank does from a file that `write_program` wrote. The checksum of the whole file is compared.

    Raises `FileFormatError` if the file is missing, damaged, no program or of a newer version, or has no such rank, or
    not its program.
    """
    name = str(path)
    data, head = _whole(path)
    ranks = int(head["ranks"])
    if not 0 <= rank < ranks:
        raise FileFormatError(f"{name!r} has ranks 0..{ranks - 1}, not {rank}")
    table = (
        np.frombuffer(data, RANK, ranks, HEAD.itemsize) if len(data) >= HEAD.itemsize + ranks * RANK.itemsize else None
    )
    if table is not None and not table["position"][rank]:
        held = np.flatnonzero(table["position"])
        few = ", ".join(map(str, held[:8])) + (f" and {held.size - 8:,} more" if held.size > 8 else "")
        raise FileFormatError(f"{name!r} was written for some ranks, {few}; not for {rank}")
    try:
        mine = np.frombuffer(data, RANK, ranks, HEAD.itemsize)[rank]
        rows = np.frombuffer(data, OPERATION, int(mine["operations"]), int(mine["position"]))
        after = int(mine["position"]) + rows.nbytes
        copies = np.frombuffer(data, COPY, int(mine["copies"]), after)
    except (ValueError, OverflowError):
        raise FileFormatError(f"{name!r} is damaged: its table of ranks leads outside") from None
    return _operations(rank, mine, rows, copies)


def description(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a program file says of itself: ``network``, ``task`` and ``algorithm``.

    Also the numbers of ``ranks``, ``parts``, ``slots`` and ``hops``; ``buffers``, the ranks that have an input or an
    output, and ``passing``, the others that have operations.

    Raises `FileFormatError` if the file is missing, damaged, no program or of a newer version.
    """
    data, head = _whole(path)
    first = HEAD.itemsize + int(head["ranks"]) * RANK.itemsize
    try:
        told: dict[str, Any] = dict(json.loads(data[first : first + int(head["description"])]))
    except ValueError:
        raise FileFormatError(f"{str(path)!r} is damaged: it does not describe itself") from None
    table = np.frombuffer(data, RANK, int(head["ranks"]), HEAD.itemsize)
    has = (table["input"] > 0) | (table["output"] > 0)
    who = {
        "buffers": np.flatnonzero(has).tolist(),
        "passing": np.flatnonzero(~has & (table["operations"] > 0)).tolist(),
    }
    return {**told, **{name: int(head[name]) for name in ("ranks", "parts", "slots", "hops")}, **who}


def _whole(path: str | os.PathLike[str]) -> tuple[bytes, np.void]:
    """Return the bytes of a program file whose checksum is right, and its head."""
    name = str(path)
    data = read_bytes(path)
    if data[:8] != MAGIC or len(data) < HEAD.itemsize + 32:
        raise FileFormatError(f"{name!r} is not a gossamer program")
    head = np.frombuffer(data, HEAD, 1)[0]
    if head["version"] != 1:
        raise FileFormatError(f"{name!r} has program version {head['version']}; this gossamer reads 1")
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise FileFormatError(f"{name!r} is damaged or truncated: its checksum is another")
    return data, head


def _operations(rank: int, mine: np.void, rows: npt.NDArray[np.void], copies: npt.NDArray[np.void]) -> Operations:
    columns = [
        np.ascontiguousarray(rows[n]) for n in ("slot", "kind", "peer", "buffer", "offset", "operand", "after", "part")
    ]
    places = np.column_stack([copies["input"], copies["output"]])
    return Operations.of(rank, columns, places, [mine[n] for n in ("input", "output", "scratch")])
