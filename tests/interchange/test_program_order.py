"""Programs are judged by what waits for what: a missing wait is told exactly where an execution can go wrong."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError
from gossamer.interchange import export, import_schedule
from gossamer.interchange.format import between_ranks
from interchange.executions import always_gives
from interchange.msccl_algorithms import ALGORITHMS, msccl_xml
from programs.oracle import inputs_of, wanted

EXPORTED = [
    ("ring:4", "allgather", {}),
    ("hypercube:2", "allreduce", {}),
    ("ring:5", "reduce-scatter", {}),
    ("array:4", "alltoall", {}),
    ("array:2x2", "gather", {"root": 1}),
    ("star:3", "broadcast", {}),
    ("leaf-spine:2,2,2", "alltoall", {}),
]
BY_HAND = [
    ("recursive doubling in 3 chunks", 4, {}),
    ("recursive doubling", 4, {"in_place": True}),
    ("recursive doubling", 5, {"scratch": True}),
    ("halving-doubling", 4, {"scratch": True}),
    ("Swing", 4, {}),
    ("Bine tree", 4, {"in_place": True, "scratch": True}),
]
WAIT = re.compile(r'depid="(\d+)" deps="(\d+)"')


def exported(tmp_path, network, task, fields):
    """Return the text of a program that was exported, the network of its ranks, inputs and outputs."""
    schedule = gossamer.plan(
        network, gossamer.task(task, **fields), rules=gossamer.Rules(segmented=True, replication=False)
    ).schedule
    export(schedule, tmp_path / "x.xml", "msccl-xml")
    program = gossamer.lower(between_ranks(schedule))
    inputs = inputs_of(program)
    return (tmp_path / "x.xml").read_text(), network, inputs, wanted(program, inputs)


def by_hand(name, n, form):
    """Return the same of an allreduce that was written by hand."""
    text = msccl_xml(ALGORITHMS[name](n), n, **form)
    chunks = int(re.search(r'i_chunks="(\d+)"', text)[1])
    inputs = [np.random.default_rng(v).integers(0, 10**6, chunks) for v in range(n)]
    return text, f"complete:{n}", inputs, [sum(inputs)] * n


def refused(tmp_path, text, network):
    """Return why a program is refused, None if it is not."""
    (tmp_path / "y.xml").write_text(text)
    try:
        found = import_schedule(tmp_path / "y.xml", network)
    except FileFormatError as error:
        return str(error)
    assert gossamer.verify(found), gossamer.verify(found)
    return None


def agrees(tmp_path, text, network, inputs, outputs):
    """Compare the verdict with executions; return whether the program is right."""
    told, right = refused(tmp_path, text, network), always_gives(text, inputs, outputs)
    assert (told is None) == right, told
    return right


def without_each_wait(text):
    """Yield the text without each of its waits."""
    for found in WAIT.finditer(text):
        yield text[: found.start()] + 'depid="-1" deps="-1"' + text[found.end() :]


def swapped(text):
    """Yield the text with the waits of steps that follow each other swapped."""
    found = list(re.finditer(r'depid="(-?\d+)" deps="(-?\d+)"', text))
    for one, other in pairwise(found):
        if one[0] != other[0]:
            between = text[one.end() : other.start()]
            yield text[: one.start()] + other[0] + between + one[0] + text[other.end() :]


def given(tmp_path, case):
    return exported(tmp_path, *case) if case in EXPORTED else by_hand(*case)


@pytest.mark.parametrize("case", [*EXPORTED, *BY_HAND], ids=str)
def test_a_wait_that_is_left_out_is_refused_where_an_execution_goes_wrong(tmp_path, case):
    text, *rest = given(tmp_path, case)
    assert agrees(tmp_path, text, *rest)
    for other in without_each_wait(text):
        agrees(tmp_path, other, *rest)


@pytest.mark.parametrize("case", [*EXPORTED[:4], *BY_HAND], ids=str)
def test_waits_that_are_swapped_are_refused_where_an_execution_goes_wrong(tmp_path, case):
    text, *rest = given(tmp_path, case)
    for other in list(swapped(text))[:60]:
        agrees(tmp_path, other, *rest)


@pytest.mark.parametrize("case", [*EXPORTED[:4], *BY_HAND], ids=str)
def test_any_waits_left_out_and_put_in(tmp_path, case):
    """Waits that others imply may be left out; steps that wait for more than they must go on being right."""
    text, *rest = given(tmp_path, case)
    rng = np.random.default_rng(len(text))
    for _ in range(12):
        other = WAIT.sub(lambda m: m[0] if rng.random() < 0.9 else 'depid="-1" deps="-1"', text)
        heads = [m.start() for m in re.finditer("<gpu", other)] + [len(other)]
        for m in list(re.finditer('depid="-1" deps="-1"', other))[::-1]:
            gpu = next(other[a:b] for a, b in pairwise(heads) if a < m.start() < b)
            blocks = [tb.count("<step") for tb in gpu.split("<tb ")[1:]]
            to = int(rng.integers(len(blocks)))
            if rng.random() < 0.15 and blocks[to]:
                wait = f'depid="{to}" deps="{rng.integers(blocks[to])}"'
                other = other[: m.start()] + wait + other[m.end() :]
                heads = [m.start() for m in re.finditer("<gpu", other)] + [len(other)]
        agrees(tmp_path, other, *rest)


def test_some_waits_are_implied_by_others(tmp_path):
    text, *rest = exported(tmp_path, "hypercube:2", "allreduce", {})
    assert [agrees(tmp_path, other, *rest) for other in without_each_wait(text)].count(True) == 4


def program(*blocks, chunks=1, scratch=2):
    """Return an allreduce in place: threadblocks with rank, peers, and steps of kind, two places and a wait."""
    ranks = 1 + max(rank for rank, *_ in blocks)
    head = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="1" coll="allreduce" inplace="1" outofplace="0"'
    text = f'{head} ngpus="{ranks}">'
    for v in range(ranks):
        text += f'<gpu id="{v}" i_chunks="{chunks}" o_chunks="{chunks}" s_chunks="{scratch}">'
        for number, (_, to, from_, steps) in enumerate([block for block in blocks if block[0] == v]):
            text += f'<tb id="{number}" send="{to}" recv="{from_}" chan="0">'
            for s, (kind, source, target, wait) in enumerate(steps):
                text += (
                    f'<step s="{s}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1:]}" dstbuf="{target[0]}" '
                    f'dstoff="{target[1:]}" cnt="1" depid="{wait[0]}" deps="{wait[1]}" hasdep="1"/>'
                )
            text += "</tb>"
        text += "</gpu>"
    return text + "</algo>"


NONE = (-1, -1)


def there_and_back(wait):
    """Return a program in which what rank 0 has sent is overwritten when the answer comes."""
    return program(
        (0, 1, -1, [("s", "i0", "i0", NONE)]), (0, -1, 1, [("r", "i0", "i0", NONE)]),
        (1, -1, 0, [("rrc", "i0", "i0", NONE)]), (1, 0, -1, [("s", "i0", "i0", wait)]),
    )  # fmt: skip


def test_what_another_rank_orders_is_no_race(tmp_path):
    inputs = [np.array([3]), np.array([4])]
    outputs = [np.array([7])] * 2
    assert agrees(tmp_path, there_and_back((0, 0)), "complete:2", inputs, outputs)
    assert not agrees(tmp_path, there_and_back(NONE), "complete:2", inputs, outputs)


def test_a_race_is_told_with_rank_threadblock_step_and_chunk(tmp_path):
    def told(*blocks):
        return (
            refused(tmp_path, program(*blocks), "complete:2").removeprefix(f"{str(tmp_path / 'y.xml')!r}").lstrip(",: ")
        )

    sends, adds = (0, 1, -1, [("s", "i0", "i0", NONE)]), (0, -1, 1, [("rrc", "i0", "i0", NONE)])
    other = (1, 0, -1, [("s", "i0", "i0", NONE)]), (1, -1, 0, [("rrc", "i0", "i0", (0, 0))])
    assert told(sends, adds, *other) == (
        "race in slot 0: rank 0, threadblock 1, step 0 overwrites chunk 0 of buffer 'i', which threadblock 0, step 0 "
        "may not have read yet, as it does not wait for it"
    )
    first = (0, 1, -1, [("s", "s0", "s0", NONE)]), (0, -1, -1, [("cpy", "i0", "s0", NONE)])
    adds = (0, -1, 1, [("rrc", "i0", "i0", (1, 0))])
    assert told(*first, adds, *other) == (
        "slot 0: rank 0, threadblock 0, step 0 reads chunk 0 of buffer 's', where nothing is yet; race in slot 0: "
        "rank 0, threadblock 0, step 0 reads chunk 0 of buffer 's', which threadblock 1, step 0 may not have written "
        "yet, as it does not wait for it"
    )
    wrong = told(sends, (0, -1, 1, [("rrc", "i0", "i0", (0, 0))]), (1, 0, -1, [("s", "i0", "i0", (1, 0))]), other[1])
    assert wrong == (
        "does not end: rank 1, threadblock 0, step 0 waits for ever, in a circle of 2 steps: rank 1, threadblock 0, "
        "step 0 waits for rank 1, threadblock 1, step 0 waits for rank 1, threadblock 0, step 0"
    )


def test_the_same_written_twice_and_what_nobody_uses_are_no_races(tmp_path):
    """Rank 1 gets the sum over two connections in any order, and something in scratch that it never reads."""
    text = program(
        (0, 1, -1, [("s", "i0", "i0", (1, 0)), ("s", "i0", "i0", NONE)]),
        (0, -1, 1, [("rrc", "i0", "i0", NONE)]),
        (0, -1, -1, [("cpy", "i0", "s0", NONE), ("cpy", "i0", "s1", NONE)]),
        (1, 0, 0, [("s", "i0", "i0", NONE), ("r", "i0", "i0", NONE), ("r", "i0", "i0", NONE)]),
        (1, -1, -1, [("cpy", "i0", "s0", NONE)]),
    )
    assert always_gives(text, [np.array([3]), np.array([4])], [np.array([7])] * 2)
    told = refused(tmp_path, text, "complete:2")
    assert told is None or "race" not in told
