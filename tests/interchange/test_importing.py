"""Foreign schedules: round trips, algorithms written by hand, and files that are wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError, GossamerError
from gossamer.interchange import export, import_schedule

CASES = [
    ("torus:4x4", "allgather", {}),
    ("torus:4x4", "alltoall", {}),
    ("hypercube:3", "allreduce", {}),
    ("star:4", "reduce-scatter", {}),
    ("array:2x4", "reduce", {"root": 3}),
    ("array:2x4", "broadcast", {"root": 5}),
    ("ring:5", "gather", {"root": 2}),
    ("ring:5", "scatter", {"root": 1}),
]


@pytest.mark.parametrize(
    ("network", "task", "fields", "to"),
    [
        (*case, to)
        for case in CASES
        for to in ("msccl-xml", "msccl-json")
        if to == "msccl-xml" or "reduce" not in case[1]
    ],
)
@pytest.mark.parametrize("split", [False, True])
def test_what_was_exported_comes_back_valid_and_no_slower(tmp_path, network, task, fields, split, to):
    schedule = gossamer.plan(network, gossamer.task(task, **fields), rules=gossamer.Rules(split=split)).schedule
    path = tmp_path / f"x.{to[-4:].strip('-')}"
    export(schedule, path, to)
    found = import_schedule(path, network)
    assert gossamer.verify(found), gossamer.verify(found)
    assert found.task == schedule.task
    assert found.parts == schedule.parts
    assert found.hop_count == schedule.hop_count
    assert found.slot_count <= schedule.slot_count
    if to == "msccl-json":
        assert found.slot_count == schedule.slot_count
        rows, back = gossamer.timeline(schedule), gossamer.timeline(found)
        for a in ("start", "source", "target", "message", "part"):
            order, other = (np.lexsort((r.part, r.message, r.target, r.source, r.start)) for r in (rows, back))
            np.testing.assert_array_equal(getattr(rows, a)[order], getattr(back, a)[other])


RING = """<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="3" ngpus="3" coll="allreduce" inplace="1"
 outofplace="0" minBytes="0" maxBytes="0">{gpus}</algo>"""


def ring_allreduce():
    """Return the ring allreduce as compilers of the format write it: in place, with fused steps."""
    gpus = ""
    for r in range(3):
        rows = [("s", r), ("rrs", r - 1), ("rrcs", r - 2), ("rcs", r), ("r", r - 1)]
        steps = "".join(
            f'<step s="{i}" type="{kind}" srcbuf="i" srcoff="{c % 3}" dstbuf="{"o" if kind != "s" else "i"}" '
            f'dstoff="{c % 3}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
            for i, (kind, c) in enumerate(rows)
        )
        gpus += (
            f'<gpu id="{r}" i_chunks="3" o_chunks="3" s_chunks="0">'
            f'<tb id="0" send="{(r + 1) % 3}" recv="{(r - 1) % 3}" chan="0">{steps}</tb></gpu>'
        )
    return RING.format(gpus=gpus)


def test_a_ring_allreduce_of_fused_steps_is_judged(tmp_path):
    (tmp_path / "ring.xml").write_text(ring_allreduce())
    found = import_schedule(tmp_path / "ring.xml", "ring:3")
    assert gossamer.verify(found)
    assert (found.task.name, found.completion_time, found.hop_count) == ("allreduce", 4, 12)
    assert found.completion_time > gossamer.lower_bounds("ring:3", "allreduce")[0].value


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type="rrs"', 'type="zip"', "has type 'zip'; known are s, r, rcs"),
        ('send="1"', 'send="2"', "that nobody receives|waits for ever"),
        ('coll="allreduce"', 'coll="allrecude"', r"'allrecude', which has no task here \(did you mean 'allreduce'"),
        ('ngpus="3"', '', None),
        ('i_chunks="3"', 'i_chunks="4"', "rank 1 has 3 chunks to add up, rank 0 has 4"),
        ('i_chunks="3"', 'i_chunks="x"', "whole number 'i_chunks', got 'x'"),
        ('i_chunks="3"', 'i_chunks="99999999999999"', "more than 5,000,000"),
        ('type="rrcs"', 'type="rcs"', "leaves a sum without the contribution of rank 0 at chunk 1"),
        ('type="r" ', 'type="nop" ', "nobody receives|leaves"),
        ('srcoff="0"', 'srcoff="7"', "where nothing is yet"),
        ('<gpu id="2"', '<gpu id="5"', "GPUs"),
        ('depid="-1" deps="-1"', 'depid="0" deps="3"', "waits for ever"),
        ("<algo", "<!DOCTYPE algo []><algo", "declares a document type"),
        ("</algo>", "", "is not XML"),
        ("<algo", "<algae", "is not XML"),
        ('send="1"', 'send="-1"', "sends or receives, but its threadblock has no peer for that"),
        ('cnt="1"', 'cnt="5000000"', "rank 0 moves more than 5,000,000 chunks"),
        ('cnt="1"', 'cnt="0"', "has no chunks in buffers i, o or s"),
        ('srcbuf="i"', 'srcbuf="z"', "has no chunks in buffers i, o or s"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_gets_one_line(tmp_path, old, new, told):
    text = ring_allreduce()
    assert old in text
    (tmp_path / "ring.xml").write_text(text.replace(old, new, 1) if told else text.replace(old, new))
    if told is None:  # an attribute that is not needed
        assert gossamer.verify(import_schedule(tmp_path / "ring.xml", "ring:3"))
        return
    with pytest.raises(FileFormatError, match=told) as error:
        import_schedule(tmp_path / "ring.xml", "ring:3")
    assert "\n" not in str(error.value)


def test_xml_of_something_else_is_refused(tmp_path):
    for text in ("<a/>", "<algo/>"):
        (tmp_path / "x.xml").write_text(text)
        with pytest.raises(FileFormatError, match="is not MSCCL XML"):
            import_schedule(tmp_path / "x.xml", "ring:3")


def in_place(collective, kinds, first):
    """Return a collective round a ring of three in one buffer: kinds of steps, and the place of the first chunk."""
    text = ring_allreduce().replace('coll="allreduce"', f'coll="{collective}"')
    for r in range(3):
        rows = [(kind, (r - first - i) % 3) for i, kind in enumerate(kinds)]
        steps = "".join(
            f'<step s="{i}" type="{kind}" srcbuf="o" srcoff="{c}" dstbuf="o" dstoff="{c}" '
            'cnt="1" depid="-1" deps="-1"/>'
            for i, (kind, c) in enumerate(rows)
        )
        head, rest = text.split(f'<gpu id="{r}"')
        before, after = rest[: rest.index("<step")], rest[rest.index("</tb>") :]
        text = f'{head}<gpu id="{r}"{before}{steps}{after}'
    return text


def test_collectives_in_one_buffer(tmp_path):
    path = tmp_path / "x.xml"
    path.write_text(in_place("allgather", ("s", "rcs", "r"), 0).replace('i_chunks="3"', 'i_chunks="1"'))
    assert gossamer.verify(import_schedule(path, "ring:3"))
    path.write_text(
        in_place("reduce_scatter", ("s", "rrs", "rrc"), 1)
        .replace('o_chunks="3"', 'o_chunks="1"').replace('buf="o"', 'buf="i"')
    )  # fmt: skip
    assert gossamer.verify(import_schedule(path, "ring:3"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda f: f["collective"].update(runtime_name="allreduce"), "steps of sends say nothing of what is added"),
        (lambda f: f["collective"].update(nodes=4), "has 4 nodes; ring:3 has 3 terminals"),
        (lambda f: f["steps"][0].update(rounds=0), "a step has 0 rounds"),
        (lambda f: f["collective"]["chunks"][0].update(pre=[0, 1]), "is held by 2 ranks at the start"),
        (lambda f: f["collective"]["chunks"].pop(), "is missing|does not|chunk|damaged|not the JSON"),
        (lambda f: f.update(msccl_type="topology"), "it is no algorithm"),
        (lambda f: f.update(steps=[{"rounds": 10**6, "sends": []}] * 2200 + f["steps"]), "is no schedule: "),
    ],
)
def test_steps_of_msccl_tools_that_are_wrong_get_one_line(tmp_path, change, told):
    path = tmp_path / "x.json"
    export(gossamer.plan("ring:3", "allgather").schedule, path, "msccl-json")
    fields = json.loads(path.read_text())
    change(fields)
    path.write_text(json.dumps(fields))
    with pytest.raises(FileFormatError, match=told) as error:
        import_schedule(path, "ring:3")
    assert "\n" not in str(error.value)


def test_a_link_that_is_not_there_is_named(tmp_path):
    export(gossamer.plan("ring:6", "allgather").schedule, tmp_path / "x.xml", "msccl-xml")
    with pytest.raises(FileFormatError, match="rank 0 sends to 5, but array:6 has no link 0 -> 5"):
        import_schedule(tmp_path / "x.xml", "array:6")
    with pytest.raises(FileFormatError, match="has 6 GPUs; ring:7 has 7 terminals"):
        import_schedule(tmp_path / "x.xml", "ring:7")
    with pytest.raises(FileFormatError, match=r"the suffix must be one of \.xml, \.json"):
        import_schedule(tmp_path / "x.parquet", "ring:7")
    with pytest.raises(FileFormatError, match="no such file"):
        import_schedule(tmp_path / "none.xml", "ring:7")


def test_the_checker_judges_what_a_foreign_tool_overloads(tmp_path):
    export(gossamer.plan("ring:4", "allgather").schedule, tmp_path / "x.json", "msccl-json")
    fields = json.loads((tmp_path / "x.json").read_text())
    first, second = fields["steps"][:2]
    first["sends"] += second["sends"]
    fields["steps"] = [first]
    (tmp_path / "x.json").write_text(json.dumps(fields))
    found = gossamer.verify(import_schedule(tmp_path / "x.json", "ring:4"))
    assert not found
    assert {"link capacity", "causality"} <= set(found.counts)


@given(st.data())
def test_hostile_json_gets_one_line(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "hostile.json"
    export(gossamer.plan("ring:3", "allgather").schedule, path, "msccl-json")
    text = path.read_text()
    spots = [m.span() for m in re.finditer(r'\d+|"[a-z_]+"|\[\]', text)]
    a, b = data.draw(st.sampled_from(spots))
    path.write_text(
        text[:a] + data.draw(st.sampled_from(["null", "-1", "99999999999", '"x"', "[]", "{}", "1.5"])) + text[b:]
    )
    try:
        import_schedule(path, "ring:3")
    except GossamerError as error:
        assert "\n" not in str(error)  # noqa: PT017


@given(st.data())
def test_hostile_xml_gets_one_line(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "hostile.xml"
    text = ring_allreduce()
    spots = [m.span(1) for m in re.finditer(r'="([^"]*)"', text)]
    a, b = data.draw(st.sampled_from(spots))
    path.write_text(
        text[:a] + data.draw(st.sampled_from(["", "-1", "0", "2", "99999999999", "x", "i", "cpy", "s"])) + text[b:]
    )
    try:
        import_schedule(path, "ring:3")
    except GossamerError as error:
        assert "\n" not in str(error)  # noqa: PT017
