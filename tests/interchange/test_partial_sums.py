"""Allreduce without roots in and out: published algorithms written by hand, what is wrong in them, and round trips."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.interchange import export, import_schedule
from gossamer.programs.single_ranks import worms_between_ranks
from gossamer.questions.tasks import DemandTable, PartialSumAllreduce, chunked, write_table
from interchange.goal_replay import parse, replay
from interchange.msccl_algorithms import ALGORITHMS, Rank, msccl_xml, recursive_doubling, runs
from interchange.msccl_loader import load, run
from interchange.mscclpp_loader import Machine
from interchange.mscclpp_loader import load as load_plan
from programs.oracle import check_program, inputs_of, wanted

FORMS = [{}, {"in_place": True}, {"scratch": True}, {"in_place": True, "scratch": True}]
ROOTED = {8: {"halving-doubling", "Swing"}, 12: {"Swing"}, 16: {"halving-doubling", "Swing"}}


def imported(tmp_path, name, n, **form):
    (tmp_path / "x.xml").write_text(msccl_xml(ALGORITHMS[name](n), n, **form))
    return import_schedule(tmp_path / "x.xml", f"complete:{n}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [8, 12, 16])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_written_by_hand_are_judged_and_run(tmp_path, name, n, form):
    found = imported(tmp_path, name, n, **form)
    assert gossamer.verify(found), gossamer.verify(found)
    assert found.task.name == ("allreduce" if name in ROOTED[n] else "partial-sum-allreduce")
    check_program(gossamer.lower(found), 1)


@pytest.mark.parametrize("n", [8, 12, 16])
@pytest.mark.parametrize("name", ["recursive doubling", "halving-doubling", "Swing", "Bine tree"])
def test_what_is_written_by_hand_is_explained(tmp_path, name, n):
    found = imported(tmp_path, name, n, in_place=True)
    words = (
        r" sends its contribution.* combines it with its own",
        r" sends .*sum.* (combines it with|takes it instead of) its own",
    )
    if name in ROOTED[n]:
        words = (r" sends message \d+, the sum for \d+ to \d+", r" sends message \d+, the result at \d+ to \d+")
    for slot, told in zip((0, found.slot_count - 1), words, strict=True):
        lines = gossamer.explain(found, slot=slot).lines
        assert len(lines) == (found.slot == slot).sum()
        assert all(re.search(told, line) for line in lines), lines
    last = gossamer.explain(found, message=0).lines[-1]
    assert re.fullmatch(r"the sum is where it has to be after slot \d+", last)


def test_whole_vectors_cross_once_a_round(tmp_path):
    for name in ("recursive doubling", "Swing of whole vectors", "Bine butterfly"):
        for n, rounds in ((8, 3), (16, 4), (12, 5)):
            assert imported(tmp_path, name, n).completion_time == rounds


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_exported_runs_and_comes_back(tmp_path, name):
    schedule = imported(tmp_path, name, 8)
    program = gossamer.lower(schedule)
    inputs = inputs_of(program)
    export(schedule, tmp_path / "y.xml", "msccl-xml")
    algo, gpus = load(tmp_path / "y.xml")
    assert algo.get("coll") == "allreduce"
    export(schedule, tmp_path / "y.json", "mscclpp")
    machine = Machine(load_plan(tmp_path / "y.json"))
    for seed in range(3):
        for outputs in (run(gpus, inputs, seed), machine.run(inputs, seed)):
            for got, want in zip(outputs, wanted(program, inputs), strict=True):
                np.testing.assert_array_equal(got[: want.size], want)
    back = import_schedule(tmp_path / "y.xml", "complete:8")
    assert gossamer.verify(back)
    assert (back.task, back.hop_count) == (schedule.task, schedule.hop_count)
    assert back.slot_count <= schedule.slot_count


@pytest.mark.parametrize("task", ["allreduce", "reduce-scatter", "allgather", "partial-sum-allreduce", "in groups"])
@pytest.mark.parametrize("spec", ["array:3x3", "hypercube:3"])
def test_programs_of_wormhole_messages_give_what_they_should(tmp_path, spec, task):
    """What ranks send each other in steps, combined where messages are partial sums; in parts on hypercubes."""
    cost = gossamer.LinearCost(startup=10, message_bytes=600)
    asked = gossamer.task("partial-sum-allreduce", groups=((0, 3, 5), (6, 7))) if task == "in groups" else task
    worms = gossamer.plan(spec, asked, switching="wormhole", cost=cost).schedule
    found = worms_between_ranks(worms)
    assert gossamer.verify(found), gossamer.verify(found)
    assert found.slot_count == worms.step_count
    check_program(gossamer.lower(found), 1)
    with pytest.raises(
        NotApplicableError, match="csv shows packets on links, which wormhole messages are not; their pro"
    ):
        export(worms, tmp_path / "x.csv", "csv")
    if task == "in groups":
        with pytest.raises(NotApplicableError, match="msccl-json has no word for groups"):
            export(worms, tmp_path / "x.json", "msccl-json")
        return
    export(worms, tmp_path / "y.xml", "msccl-xml")
    program = gossamer.lower(found)
    inputs = inputs_of(program)
    for got, want in zip(run(load(tmp_path / "y.xml")[1], inputs), wanted(program, inputs), strict=True):
        np.testing.assert_array_equal(got[: want.size], want)
    back = import_schedule(tmp_path / "y.xml", f"complete:{worms.network.node_count}")
    assert gossamer.verify(back)
    export(worms, tmp_path / "y.goal", "goal")
    size = -(-600 // (worms.packets.count // worms.messages.count))
    assert {int(b) for b in re.findall(r"send (\d+)b", (tmp_path / "y.goal").read_text())} == {size}


def test_the_time_of_doubling_is_kept_by_simulators(tmp_path):
    schedule = imported(tmp_path, "recursive doubling", 8)
    export(schedule, tmp_path / "y.goal", "goal", message_bytes=100)
    assert replay(parse((tmp_path / "y.goal").read_text()))[0] == schedule.slot_count * 99


def broken(rounds, change):
    """Return rounds of recursive doubling among 8, with the transfer of rank 5 to 7 in the second one changed."""
    found = [list(round_) for round_ in rounds]
    at = next(i for i, row in enumerate(found[1]) if row[:2] == (5, 7))
    change(found, at)
    return found


def wrong_sums(rounds, n):
    """Return what rounds do wrong, carried out by sets of contributions: (rank, chunk, ranks, slot) of what is twice.

    And of what is missing in the end; a rank sends one run of chunks in a slot, as soon as it has what came before.
    """
    sums = {(v, c): {v} for v in range(n) for round_ in rounds for row in round_ for c in row[2]}
    free, wrote, twice = [0] * n, dict.fromkeys(sums, None), set()
    for round_ in rounds:
        sent = []
        for u, v, mine, adds in round_:
            for first, count in runs(mine):
                sent += [(v, c, set(sums[u, c]), adds, free[u]) for c in range(first, first + count)]
                free[u] += 1
        for v, c, came, adds, slot in sent:
            if adds and came & sums[v, c]:
                twice.add((v, c, min(came & sums[v, c]), slot))
            sums[v, c] = sums[v, c] | came if adds else came
            free[v], wrote[v, c] = max(free[v], slot + 1), slot
    lost = [(v, c, min(set(range(n)) - sums[v, c]), wrote[v, c]) for v, c in sums if len(sums[v, c]) < n]
    return twice, lost


def without_its_wait(text):
    """Return a program whose last send that waits for what came waits no more, with its rank, threadblock and step."""
    tree = ElementTree.fromstring(text)
    for gpu in reversed(tree.findall("gpu")):
        blocks = gpu.findall("tb")
        for block in reversed(blocks):
            for step in reversed(block.findall("step")):
                waits = int(step.get("depid")), int(step.get("deps"))
                if step.get("type") != "s" or waits[0] < 0:
                    continue
                before = blocks[waits[0]].findall("step")[waits[1]]
                first, here = int(before.get("dstoff")), int(step.get("srcoff"))
                if before.get("type") != "s" and first <= here < first + int(before.get("cnt")):
                    step.set("depid", "-1")
                    return ElementTree.tostring(tree, "unicode"), (gpu.get("id"), block.get("id"), step.get("s"))
    raise AssertionError("no send waits for what came")


@pytest.mark.parametrize("n", [8, 12, 16])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_wrong_in_each_algorithm_is_told_with_rank_chunk_and_slot(tmp_path, name, n):
    """A contribution that counts twice, is lost, or is sent before it is there; what is told is what sets show."""
    draw, path = np.random.default_rng([len(name), n]), tmp_path / "x.xml"

    def told(text):
        path.write_text(text)
        with pytest.raises(FileFormatError) as error:
            import_schedule(path, f"complete:{n}")
        assert "\n" not in str(error.value)
        return str(error.value)

    rounds = ALGORITHMS[name](n)
    assert wrong_sums(rounds, n) == (set(), [])
    adding = [(t, row) for t, round_ in enumerate(rounds) for row in round_ if row[3]]
    for in_place in (False, True):
        at, row = adding[int(draw.integers(len(adding)))]
        again = [round_ + [row] * (t == at + 1) for t, round_ in enumerate([*rounds, []])]
        words = r"slot (\d+): rank (\d+), threadblock \d+, step \d+ adds the contribution of rank (\d+) to chunk (\d+)"
        slot, v, whose, chunk = map(int, re.search(words, told(msccl_xml(again, n, in_place=in_place))).groups())
        assert (v, chunk, whose, slot) in wrong_sums(again, n)[0]
        less = [[one for one in round_ if one is not row] for round_ in rounds]
        v, chunk, whose, slot = min(wrong_sums(less, n)[1])
        assert (
            f"leaves a sum without the contribution of rank {whose} at chunk {chunk} of the output of rank {v}, "
            f"written last in slot {slot}"
        ) in told(msccl_xml(less, n, in_place=in_place))
        early, (v, block, step) = without_its_wait(msccl_xml(rounds, n, in_place=in_place))
        words = (
            rf"race in slot \d+: rank {v}, threadblock (\d+), step (\d+) (?:reads|overwrites) chunk \d+ of buffer "
            r"'[io]', which threadblock (\d+), step (\d+) may not have (?:written|read) yet, as it does not wait for it"
        )
        found = re.search(words, told(early)).groups()
        assert (block, step) in (found[:2], found[2:])


@pytest.mark.parametrize("in_place", [False, True])
def test_what_is_wrong_is_told_with_rank_and_chunk(tmp_path, in_place):
    rounds, path, place = recursive_doubling(8), tmp_path / "x.xml", "i" if in_place else "o"

    def told(text):
        path.write_text(text)
        with pytest.raises(FileFormatError) as error:
            import_schedule(path, "complete:8")
        assert "\n" not in str(error.value)
        return str(error.value).removeprefix(f"{str(path)!r}")

    twice = broken(rounds, lambda found, at: found[2].append(found[1][at]))
    step = r", slot 3: rank 7, threadblock \d, step \d adds the contribution of rank 4 to chunk 0 of buffer "
    assert re.fullmatch(f"{step}'{place}' twice", told(msccl_xml(twice, 8, in_place=in_place)))
    lost = broken(rounds, lambda found, at: found[1].pop(at))
    words = (
        " leaves a sum without the contribution of rank 4 at chunk 0 of the output of rank 3, written last in slot 2"
    )
    assert told(msccl_xml(lost, 8, in_place=in_place)) == words
    early = msccl_xml(rounds, 8, in_place=in_place).replace('type="cpy"', 'type="nop"')
    if not in_place:
        words = ", slot 0: rank 0, threadblock 1, step 0 reads chunk 0 of buffer 'o', where nothing is yet"
        assert told(early) == words
    scratch = msccl_xml(rounds, 8, in_place=in_place, scratch=True)
    before = scratch.replace(f'type="s" srcbuf="{place}"', 'type="s" srcbuf="s"', 1)
    words = r", slot 0: rank 0, threadblock \d, step 0 reads chunk 0 of buffer 's', where nothing is yet"
    assert re.fullmatch(words, told(before))


def test_a_sum_that_is_sent_before_what_it_needs_has_come_is_told(tmp_path):
    text = msccl_xml(recursive_doubling(8), 8, in_place=True)
    rank = text.index('<gpu id="5"')
    at = text.index('depid="0" deps="1"', rank)  # the second send of rank 5 waits for what came in the first round
    early = text[:at] + 'depid="-1" deps="-1"' + text[at + len('depid="0" deps="1"') :]
    (tmp_path / "x.xml").write_text(early)
    with pytest.raises(FileFormatError, match="leaves a sum without the contribution of rank 4 at chunk 0 of the outp"):
        import_schedule(tmp_path / "x.xml", "complete:8")


def test_two_sums_side_by_side_are_named(tmp_path):
    """Rank 0 has what comes from 1 and 2 beside its own, and sends to 3, which has the first one, only the second."""
    blocks = {
        0: [(-1, 1, [("r", "s", 0)]), (3, 2, [("r", "s", 1), ("nop", "i", 0, 0, 0), ("s", "s", 1)]),
            (-1, 3, [("rrc", "i", 0)]), *((v, -1, [("s", "i", 0, 2, 0)]) for v in (1, 2, 3))],
        1: [(0, 0, [("s", "i", 0), ("r", "i", 0)]), (3, -1, [("s", "i", 0)])],
        2: [(0, 0, [("s", "i", 0), ("r", "i", 0)])],
        3: [(-1, 1, [("rrc", "i", 0)]), (0, 0, [("nop", "i", 0, 0, 0), ("rrs", "i", 0), ("r", "i", 0)])],
    }  # fmt: skip
    text = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="4" coll="allreduce" inplace="1">'
    for v, own in blocks.items():
        text += f'<gpu id="{v}" i_chunks="1" o_chunks="0" s_chunks="2">'
        for number, (to, from_, steps) in enumerate(own):
            text += f'<tb id="{number}" send="{to}" recv="{from_}" chan="0">'
            for s, (kind, buffer, at, *waits) in enumerate(steps):
                text += step(s, kind, buffer, at, buffer, at, *waits)
            text += "</tb>"
        text += "</gpu>"
    (tmp_path / "x.xml").write_text(text + "</algo>")
    with pytest.raises(FileFormatError) as error:
        import_schedule(tmp_path / "x.xml", "complete:4")
    assert str(error.value).removeprefix(f"{str(tmp_path / 'x.xml')!r}") == (
        ": rank 0 sends a sum of chunk 0 to 3 in slot 1 without the contribution of 0, which it has: a schedule holds "
        "one sum of a chunk that it adds to, not two side by side"
    )


@pytest.mark.parametrize("n", [6, 12])
def test_dissemination_sends_older_sums(tmp_path, n):
    """Bruck and Ho: windows of 1, 2, 4, ... ranks; the last one is completed by a shorter window that was kept."""
    doubling = [1 << i for i in range((n // 2).bit_length())]
    ranks = [Rank() for _ in range(n)]
    for v, rank in enumerate(ranks):
        rank.step(-1, "cpy", ("i", 0), ("o", 0), 1)
        for width in doubling[:-1] if 2 * doubling[-1] > n else doubling:
            if width == n - 2 * (n // 3):  # the window with which the last one is completed
                rank.step(-1, "cpy", ("o", 0), ("s", 0), 1)
            rank.step((v + width) % n, "s", ("o", 0), ("o", 0), 1)
            rank.step((v - width) % n, "rrc", ("o", 0), ("o", 0), 1)
        far = 2 * (n // 3)
        rank.step((v + far) % n, "s", ("s", 0), ("o", 0), 1)
        rank.step((v - far) % n, "rrc", ("o", 0), ("o", 0), 1)
    text = msccl_xml([[(0, 1, [0], True)]], n)
    text = text[: text.index("<gpu")]
    for v, rank in enumerate(ranks):
        text += f'<gpu id="{v}" i_chunks="1" o_chunks="1" s_chunks="1">{"".join(rank.text())}</gpu>'
    (tmp_path / "x.xml").write_text(text + "</algo>")
    found = import_schedule(tmp_path / "x.xml", f"complete:{n}")
    assert gossamer.verify(found), gossamer.verify(found)
    assert (found.repeats < -1).sum() == n
    check_program(gossamer.lower(found))


def step(s, kind, srcbuf, srcoff, dstbuf, dstoff, depid=-1, deps=-1):
    return (
        f'<step s="{s}" type="{kind}" srcbuf="{srcbuf}" srcoff="{srcoff}" dstbuf="{dstbuf}" dstoff="{dstoff}" cnt="1" '
        f'depid="{depid}" deps="{deps}" hasdep="1"/>'
    )


def test_schedules_of_tools_are_saved_with_their_task(tmp_path):
    found = imported(tmp_path, "recursive doubling in 3 chunks", 12)
    found.save(tmp_path / "x.parquet")
    assert gossamer.load(tmp_path / "x.parquet") == found
    assert found.task == chunked(PartialSumAllreduce(), 3)


def test_custom_collectives_are_judged_against_their_demands(tmp_path):
    # rank 0 gives two chunks to 1 and 2, of which 2 gets them by way of 1; all add up a chunk for 2 and then 0
    table = DemandTable.of([(0, [1, 2], 2)], contributions=[([0, 1, 2], [2, 0], 1)])
    write_table(table, tmp_path / "demands.csv")
    sends = {
        0: [(1, "s", "i", 0), (1, "s", "i", 1), (1, "s", "i", 2), (2, "r", "o", 0)],
        1: [(0, "r", "o", 0), (0, "r", "o", 1), (2, "s", "o", 0), (2, "s", "o", 1), (0, "r", "s", 0),
            (None, "re", "s", 0), (2, "s", "i", 0)],
        2: [(1, "r", "o", 0), (1, "r", "o", 1), (1, "r", "o", 2), (None, "re", "i", 0), (0, "s", "o", 2)],
    }  # fmt: skip
    places = {(1, 5): ("i", 0), (2, 3): ("o", 2)}
    text = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="3" ngpus="3" coll="custom" inplace="0">'
    for v, rows in sends.items():
        text += f'<gpu id="{v}" i_chunks="3" o_chunks="3" s_chunks="1">'
        peers = list(dict.fromkeys(peer for peer, *_ in rows))
        blocks = dict.fromkeys(peers, "")
        last = (-1, -1)
        for i, (peer, kind, buffer, at) in enumerate(rows):
            number, s = peers.index(peer), blocks[peer].count("<step")
            waits = last if last[0] != number else (-1, -1)
            blocks[peer] += step(s, kind, buffer, at, *places.get((v, i), (buffer, at)), *waits)
            last = number, s
        for peer, steps in blocks.items():
            ends = -1 if peer is None else peer
            text += f'<tb id="{peers.index(peer)}" send="{ends}" recv="{ends}" chan="0">{steps}</tb>'
        text += "</gpu>"
    (tmp_path / "x.xml").write_text(text + "</algo>")
    found = import_schedule(tmp_path / "x.xml", "complete:3", str(tmp_path / "demands.csv"))
    assert gossamer.verify(found), gossamer.verify(found)
    assert found.task == table
    with pytest.raises(FileFormatError, match="custom collective; name the file of its demands as the task"):
        import_schedule(tmp_path / "x.xml", "complete:3")
    write_table(DemandTable.of([(0, [1, 2], 2)]), tmp_path / "others.csv")
    with pytest.raises(FileFormatError, match=r"rank 0, .* reads chunk 2 of buffer 'i', where nothing is yet"):
        import_schedule(tmp_path / "x.xml", "complete:3", str(tmp_path / "others.csv"))
    (tmp_path / "y.xml").write_text(msccl_xml(recursive_doubling(4), 4))
    with pytest.raises(FileFormatError, match="says itself which collective it is; only a custom one has a table"):
        import_schedule(tmp_path / "y.xml", "complete:4", str(tmp_path / "demands.csv"))
