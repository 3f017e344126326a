"""Program files: what is written is read back, and what is damaged is refused in one line."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError
from gossamer.programs.files import description, read_rank, write_program

COLUMNS = ("slot", "kind", "peer", "buffer", "offset", "operand", "after", "part", "copies")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    program = gossamer.lower(gossamer.plan("torus:3x3", "allreduce").schedule)
    path = tmp_path_factory.mktemp("programs") / "plan.program"
    write_program(program, path)
    return program, path


def test_every_rank_is_read_back(written):
    program, path = written
    for mine in program:
        back = read_rank(path, mine.rank)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(mine, name), getattr(back, name), name)
        assert (mine.input_size, mine.output_size, mine.scratch_size) == (
            back.input_size, back.output_size, back.scratch_size
        )  # fmt: skip


def test_the_layout_is_what_the_page_says(written):
    program, path = written
    data = path.read_bytes()
    magic, version, ranks, parts, slots, hops, told = struct.unpack_from("<8s4I2Q", data)
    assert (magic, version, ranks, parts, slots, hops) == (b"gossprog", 1, 9, 1, program.slots, program.hops)
    position, operations, copies, given, got, scratch = struct.unpack_from("<3Q3q", data, 40 + 48 * 4)
    mine = program.rank(4)
    assert (operations, copies, given, got, scratch) == (mine.count, 0, 9, 9, mine.scratch_size)
    row = struct.unpack_from("<iBBHiiiiii", data, position + 32 * 3)
    assert row == (
        *(mine.slot[3], mine.kind[3], mine.buffer[3], 0, mine.peer[3], mine.after[3]),
        *(mine.offset[3], mine.operand[3], 1, mine.part[3]),
    )  # fmt: skip
    assert data[40 + 48 * 9 : 40 + 48 * 9 + told].startswith(b'{"network": "torus:3x3"')


@given(st.integers(0, 10**9), st.integers(1, 255))
def test_a_damaged_file_is_refused(tmp_path_factory, written, at, change):
    data = bytearray(written[1].read_bytes())
    data[at % len(data)] ^= change
    path = tmp_path_factory.getbasetemp() / "damaged.program"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"damaged|not a gossamer program|version"):
        read_rank(path, 0)


def test_a_truncated_or_foreign_file_is_refused(tmp_path, written):
    path = tmp_path / "x.program"
    for data in (b"", b"gossprog", written[1].read_bytes()[:-1], b"PAR1" * 100):
        path.write_bytes(data)
        with pytest.raises(FileFormatError):
            read_rank(path, 0)
    with pytest.raises(FileFormatError, match="no such file"):
        read_rank(tmp_path / "none", 0)
    with pytest.raises(FileFormatError, match=r"has ranks 0..8, not 9"):
        read_rank(written[1], 9)


def test_a_file_describes_itself(written):
    program, path = written
    told = description(path)
    assert (told["network"], told["ranks"], told["parts"]) == ("torus:3x3", 9, program.parts)


@pytest.mark.parametrize(
    ("at", "form", "value", "read", "told"),
    [
        (8, "<I", 2, read_rank, "has program version 2; this gossamer reads 1"),
        (40, "<Q", 2**63, read_rank, "is damaged: its table of ranks leads outside"),
        (40, "<Q", 10**6, read_rank, "is damaged: its table of ranks leads outside"),
        (48, "<Q", 2**40, read_rank, "is damaged: its table of ranks leads outside"),
        (12, "<I", 2**32 - 1, read_rank, "is damaged: its table of ranks leads outside"),
        (12, "<I", 8, description, "is damaged: it does not describe itself"),
    ],
)
def test_a_file_of_a_right_checksum_and_wrong_numbers_is_refused(tmp_path, written, at, form, value, read, told):
    data = bytearray(written[1].read_bytes()[:-32])
    struct.pack_into(form, data, at, value)
    path = tmp_path / "x.program"
    path.write_bytes(data + hashlib.sha256(data).digest())
    with pytest.raises(FileFormatError) as error:
        read(path, *([0] if read is read_rank else []))
    assert told in str(error.value)
    assert "\n" not in str(error.value)
