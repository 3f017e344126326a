"""Compiled kernels that write rows of text and records of a protocol buffer; plain arrays in and out."""

from __future__ import annotations

from numba import njit

__all__ = ["chakra_nodes", "format_rows"]


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
