"""Rows of text with numbers in them, written fast."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan
from gossamer.jit import njit

__all__ = [
    "CSV",
    "JSON",
    "RowText",
    "chakra_nodes",
    "format_rows",
    "place_versions",
    "plan_costs",
    "plan_rows",
    "split",
]


@njit(cache=True, nogil=True, inline="always")
def _digits(value, out, at):
    """Write a whole number in decimal digits; return where it ends."""
    if value < 0:
        out[at] = 45
        at += 1
        value = -value
    size = 1
    rest = value // 10
    while rest > 0:
        size += 1
        rest //= 10
    end = at + size
    for i in range(end - 1, at - 1, -1):
        out[i] = 48 + value % 10
        value //= 10
    return end


@njit(cache=True, nogil=True)
def format_rows(which, columns, first_piece, piece_start, piece_column, literals, out):
    """Write a row of text for each entry of `which`, the number of its template; return the size of all.

    A template is pieces ``first_piece[t]`` to ``first_piece[t + 1]``; a piece is the literal text from
    ``piece_start[i]`` to ``piece_start[i + 1]`` and then the row's number in ``columns[piece_column[i]]``, if not -1.
    """
    at = 0
    for row in range(which.size):
        t = which[row]
        for i in range(first_piece[t], first_piece[t + 1]):
            for j in range(piece_start[i], piece_start[i + 1]):
                out[at] = literals[j]
                at += 1
            if piece_column[i] >= 0:
                at = _digits(columns[piece_column[i], row], out, at)
    return at


@njit(cache=True, nogil=True, inline="always")
def _varint(value, out, at):
    """Write a number of 0 or more in groups of 7 bits; return where it ends."""
    while value > 127:
        out[at] = 128 | (value & 127)
        at += 1
        value >>= 7
    out[at] = value
    return at + 1


@njit(cache=True, nogil=True, inline="always")
def _varint_size(value):
    size = 1
    while value > 127:
        value >>= 7
        size += 1
    return size


@njit(cache=True, nogil=True)
def chakra_nodes(sends, source, target, tag, size, waits_for, also, names, name_start, out):
    """Write a node for each operation, each after its length; return the size of all.

    `names` holds, from ``name_start[i]`` on, 0 and 1 the names of a receive and a send, 2 to 5 the beginnings of the
    attributes comm_src, comm_dst, comm_tag and comm_size up to the number, 6 all of is_cpu_op. An attribute's
    beginning is followed by a byte for its length, which the caller left out: it is written here.
    """
    at = 0
    for k in range(sends.size):
        name = 1 if sends[k] else 0
        label = name_start[name + 1] - name_start[name]
        deps = 0
        if waits_for[k] >= 0:
            deps += _varint_size(waits_for[k])
        if also[k] >= 0:
            deps += _varint_size(also[k])
        body = 1 + _varint_size(k) + 2 + label + 2 + (2 + deps if deps else 0)
        for a in range(4):
            value = source[k] if a == 0 else target[k] if a == 1 else tag[k] if a == 2 else size
            body += 2 + name_start[a + 3] - name_start[a + 2] + _varint_size(value)
        body += 2 + name_start[7] - name_start[6]
        at = _varint(body, out, at)
        out[at] = 8  # id
        at = _varint(k, out, at + 1)
        out[at], out[at + 1] = 18, label  # name
        at += 2
        for j in range(name_start[name], name_start[name + 1]):
            out[at] = names[j]
            at += 1
        out[at], out[at + 1] = 24, 5 if sends[k] else 6  # type
        at += 2
        if deps:
            out[at], out[at + 1] = 42, deps  # data_deps, packed
            at += 2
            if waits_for[k] >= 0:
                at = _varint(waits_for[k], out, at)
            if also[k] >= 0:
                at = _varint(also[k], out, at)
        for a in range(5):
            first, last = name_start[a + 2], name_start[a + 3]
            value = source[k] if a == 0 else target[k] if a == 1 else tag[k] if a == 2 else size
            out[at], out[at + 1] = 82, last - first + (_varint_size(value) if a < 4 else 0)  # attr
            at += 2
            for j in range(first, last):
                out[at] = names[j]
                at += 1
            if a < 4:
                at = _varint(value, out, at)
    return at


@njit(cache=True, nogil=True)
def place_versions(kind, buffer, offset, operand, copies, output_size, scratch_size):
    """Give every block that a rank writes a place of its own.

    What is last written to a place of the output lies there; everything before lies in scratch, in a place that
    nothing else is written to. Returns buffer and place that an operation reads; buffer and place that it writes;
    the place in scratch into which a block to be added is put, else -1; the operation that wrote what it reads, or -1;
    how many operations read what it writes; and the size of the scratch.
    """
    count = kind.size
    read_in, wrote_in = np.zeros(count, np.int64), np.zeros(count, np.int64)
    read, wrote, came, needs = np.full((4, count), -1, np.int64)
    readers = np.zeros(count, np.int64)
    last = np.full(output_size, -1, np.int64)
    for k in range(count):
        if kind[k] != 0 and buffer[k] == 1:
            last[offset[k]] = k
    places = output_size + scratch_size
    now_in, now = np.full(places, 2, np.int64), np.full(places, -1, np.int64)
    writer = np.full(places, -1, np.int64)
    for c in range(copies.shape[0]):
        now_in[copies[c, 1]], now[copies[c, 1]] = 0, copies[c, 0]
    free = 0
    for k in range(count):
        place = offset[k] if buffer[k] == 1 else output_size + offset[k]
        if kind[k] == 0 and buffer[k] == 0:
            read[k] = offset[k]
        elif kind[k] == 2 and operand[k] >= 0:
            read[k] = operand[k]
        elif kind[k] != 1:
            read_in[k], read[k], needs[k] = now_in[place], now[place], writer[place]
            if needs[k] >= 0:
                readers[needs[k]] += 1
        if kind[k] == 0:
            continue
        if kind[k] == 2:
            came[k] = free
            free += 1
        if buffer[k] == 1 and last[offset[k]] == k:
            wrote_in[k], wrote[k] = 1, offset[k]
        elif kind[k] == 2:
            wrote_in[k], wrote[k] = 2, came[k]
        else:
            wrote_in[k], wrote[k] = 2, free
            free += 1
        now_in[place], now[place], writer[place] = wrote_in[k], wrote[k], k
    return read_in, read, wrote_in, wrote, came, needs, readers, free


@njit(cache=True, nogil=True)
def plan_costs(kind, needs, readers, ids):
    """Return how many operations of a plan each operation takes at most, with `ids` semaphores in one."""
    cost = np.empty(kind.size, np.int64)
    for k in range(kind.size):
        waits = 1 if needs[k] >= 0 else 0
        tells = 1 + (readers[k] + ids - 1) // ids if readers[k] > 0 else 0
        if kind[k] == 0:
            cost[k] = 1 + 2 * waits
        elif kind[k] == 1:
            cost[k] = 1 + tells
        else:
            cost[k] = 3 + waits + tells
    return cost


@njit(cache=True, nogil=True)
def split(sends, receives, send_room, receive_room):
    """Return the threadblock of each block on a link, from 0, so that neither end has more operations than room."""
    block = np.empty(sends.size, np.int64)
    here = sent = got = 0
    for i in range(sends.size):
        if i and (sent + sends[i] > send_room or got + receives[i] > receive_room):
            here += 1
            sent = got = 0
        sent += sends[i]
        got += receives[i]
        block[i] = here
    return block


@njit(cache=True, nogil=True)
def plan_rows(order, block, kind, needs, read_in, read, wrote_in, wrote, came, buffer_id, put, ids, which, columns):
    """Write the rows of a rank's threadblocks; return how many, and how many semaphores they use.

    Operations are taken in `order`; `block` is the threadblock of each. The rows are those of
    `gossamer.interchange.mscclpp`: 0 opens a threadblock, 1 closes it, 2 is a nop, 3 a wait, 4 acquires, 5 to 10 put,
    11 to 16 add, 17 and more release one semaphore and more.
    """
    count = kind.size
    told, first, given = np.zeros((3, count), np.int64)
    for k in range(count):
        if needs[k] >= 0 and block[needs[k]] != block[k]:
            told[needs[k]] += 1
    semaphores = 0
    for k in range(count):  # those that tell of one block follow each other
        first[k] = semaphores
        semaphores += told[k]
    at = 0
    for i in range(count):
        k = order[i]
        opens = i == 0 or block[order[i - 1]] != block[k]
        closes = i + 1 == count or block[order[i + 1]] != block[k]
        waits = needs[k] >= 0 and block[needs[k]] != block[k]
        if opens:
            which[at], columns[0, at] = 0, block[k]
            at += 1
        if kind[k] != 0:
            which[at] = 3
            at += 1
        if waits:
            which[at], columns[0, at] = 4, first[needs[k]] + given[needs[k]]
            given[needs[k]] += 1
            at += 1
        if waits or kind[k] == 2:
            which[at] = 2
            at += 1
        if kind[k] == 0:
            which[at] = 5 + read_in[k] + (3 if closes else 0)
            columns[0, at], columns[1, at], columns[2, at] = read[k], buffer_id[k], put[k]
            at += 1
        elif kind[k] == 2:
            which[at] = 11 + 2 * read_in[k] + wrote_in[k] - 1
            columns[0, at], columns[1, at], columns[2, at] = read[k], came[k], wrote[k]
            at += 1
        if told[k] > 0:
            which[at] = 2
            at += 1
            for j in range(0, told[k], ids):
                which[at], columns[0, at] = 16 + min(ids, told[k] - j), first[k] + j
                at += 1
        if closes:
            which[at] = 1
            at += 1
    return at, semaphores


_ROWS = 1 << 17
"""Rows written at once, so that the text held is a few MB."""


class RowText:
    r"""Templates of rows, such as ``"{0} isend {1} 0 {2}\n"``; a number in braces is a column.

    Examples
    --------
    >>> text = RowText("send to {0} at {1}\n", "wait for {1}\n")
    >>> b"".join(text.rows([0, 1], [[7, 8], [100, 2]])).decode()
    'send to 7 at 100\nwait for 2\n'
    """

    def __init__(self, *templates: str) -> None:
        first, start, column, literals = [0], [0], [], b""
        longest = 0
        for template in templates:
            texts = re.split(r"\{(\d+)\}", template)
            size = 0
            for text, number in zip(texts[::2], [*texts[1::2], "-1"], strict=True):
                literals += text.encode()
                start.append(len(literals))
                column.append(int(number))
                size += len(text.encode()) + 20
            first.append(len(column))
            longest = max(longest, size)
        self._first, self._start = np.array(first, np.int64), np.array(start, np.int64)
        self._column, self._literals = np.array(column, np.int64), np.frombuffer(literals, np.uint8)
        self._longest = longest

    def rows(self, which: npt.ArrayLike, columns: Sequence[npt.ArrayLike]) -> Iterator[bytes]:
        """Yield the text of rows, of many at once.

        Parameters
        ----------
        which : array_like of int, shape (K,) or ()
            The template of each row, or of all.
        columns : sequence of array_like of int, shape (K,) or ()
            What stands in the braces.
        """
        arrays = np.broadcast_arrays(which, *(np.asarray(c, np.int64) for c in columns))
        count = arrays[0].size
        out = np.empty(min(count, _ROWS) * self._longest, np.uint8)
        for a in range(0, count, _ROWS):
            chosen, *numbers = (c.reshape(-1)[a : a + _ROWS] for c in arrays)
            table = np.ascontiguousarray(np.stack(numbers)) if numbers else np.zeros((1, chosen.size), np.int64)
            size = format_rows(
                np.ascontiguousarray(chosen, np.int64), table, self._first, self._start, self._column,
                self._literals, out,
            )  # fmt: skip
            yield out[:size].tobytes()


# The timeline as comma-separated values: a row for each block that crosses a link, times in ticks.

_NAMES = ("start", "end", "source", "target", "message", "part", "phase")
_CSV_ROWS = RowText(",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "\n")


def _write_csv(plan: Plan, path: Path) -> None:
    rows = plan.timeline
    with path.open("wb") as file:
        file.write((",".join(_NAMES) + "\n").encode())
        for text in _CSV_ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(text)


CSV = Format("csv", "the timeline as comma-separated values, for spreadsheets and data frames", _write_csv)


# The timeline as a JSON object: what is carried out, and a list for each block that crosses a link.

_JSON_ROWS = RowText("[" + ",".join(f"{{{i}}}" for i in range(len(_NAMES))) + "],\n")


def _write_json(plan: Plan, path: Path) -> None:
    schedule, rows = plan.schedule, plan.timeline
    told = {
        "network": schedule.network.spec,
        "nodes": schedule.network.node_count,
        "task": schedule.task.to_dict(),
        "algorithm": schedule.algorithm,
        "parts": schedule.parts,
        "completion_time": str(schedule.completion_time),
        "tick": str(rows.tick),
        "phases": rows.phases,
        "columns": _NAMES,
    }
    with path.open("wb") as file:
        file.write(json.dumps(told, indent=1).encode()[:-2] + b',\n "rows": [\n')
        held = b""
        for text in _JSON_ROWS.rows(0, [getattr(rows, name) for name in _NAMES]):
            file.write(held)
            held = text
        file.write(held[:-2] + b"\n]}\n")  # no comma after the last row


JSON = Format("json", "the timeline as one JSON object with a list for each block on a link", _write_json)
