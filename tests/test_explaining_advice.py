"""The page of advice: times add up, shares are those of the links, and each gain is what planning the change takes."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

import gossamer
from gossamer import LinearCost, Rules, TimeCost
from gossamer.cli import main
from gossamer.errors import ScheduleError
from gossamer.networks.derived import without
from gossamer.planning.explaining import advice as advising
from gossamer.planning.explaining import explanation as comparing
from gossamer.planning.explaining.advice import asked_again
from gossamer.planning.explaining.critical_path import time_spent
from gossamer.plots.appearance import CATEGORICAL
from gossamer.plots.notebooks import advice_figure
from gossamer.questions.tasks import Together

TWO_SERVERS = "examples/machines/two_servers.edges"
SECONDS = TimeCost("1MB", bandwidth="1GB/s", latency="2us")

CASES = [
    ("torus:4x4", "allgather", {}),
    ("ring:5", "scatter", {"rules": Rules(ports="one")}),
    ("fat-tree:2,3", "allgather", {"rules": Rules(ports="one")}),
    ("fat-tree:2,2", "alltoall", {"rules": Rules(cut_through=True)}),
    ("ring:3", "allreduce", {"cost": TimeCost("4kB", bandwidth="1GB/s", latency="2us")}),
    ("array:5", "broadcast", {"cost": TimeCost("1MB", bandwidth="1GB/s", latency="2us", whole=True)}),
    ("torus:3x3", "allreduce", {"rules": Rules(split=True)}),
    (TWO_SERVERS, "gather", {"cost": TimeCost("1kB", whole=True)}),
    (
        "ring:5",
        Together([gossamer.task("reduce"), gossamer.task("broadcast")], waits=[(1, 0)]),
        {},
    ),
    ("ring:6", gossamer.task("allgather", groups=[[0, 1, 2], [3, 4, 5]]), {}),
]


def named(value):
    return value if isinstance(value, str) else type(value).__name__


def schedule_of(spec, task, asked):
    return gossamer.plan(spec, task, **asked).schedule


@pytest.mark.parametrize(("spec", "task", "asked"), CASES, ids=named)
def test_the_critical_path_is_a_chain_of_hops_that_adds_up_to_the_completion_time(spec, task, asked):
    schedule = schedule_of(spec, task, asked)
    spent = time_spent(schedule)
    assert spent.sending + spent.latency + spent.waiting == spent.total == schedule.completion_time
    path = spent.path
    assert all(hop.times == 1 for hop in path)
    assert (spent.path[0].start, spent.path[-1].end) == (0, spent.total)
    assert all(a.end == b.start for a, b in pairwise(spent.path))
    assert spent.sending == sum(hop.sending for hop in path)
    assert spent.latency == sum(hop.latency for hop in path)
    assert spent.waiting == sum(hop.end - hop.start for hop in path if hop.link < 0)
    whole, network = schedule.expand(), schedule.network
    happen = Counter(zip(whole.link.tolist(), whole.packet.tolist(), strict=True))
    moving = [hop for hop in path if hop.link >= 0]
    assert all(happen[hop.link, hop.packet] for hop in moving)
    for before, hop in pairwise(spent.path):
        if hop.why == "data":  # what it carries ended at the node from which it leaves
            assert network.link_target[before.link] == network.link_source[hop.link]
        if hop.why == "link":
            assert before.link == hop.link
        if hop.why == "port":
            ends = [{int(network.link_source[e]), int(network.link_target[e])} for e in (before.link, hop.link)]
            assert ends[0] & ends[1]


def test_a_path_through_slow_links_counts_their_latencies():
    slow = gossamer.network("array:4").with_times(3, 2)
    spent = time_spent(gossamer.plan(slow, "broadcast").schedule)
    assert (spent.sending, spent.latency, spent.waiting) == (9, 6, 0)
    assert [hop.why for hop in spent.path] == ["start", "data", "data"]


def test_a_busy_port_is_no_wait_where_links_have_room():
    network = gossamer.network("complete:4")
    wide = gossamer.Network(
        "wide", 4, network.link_source, network.link_target, 2, link_occupancy=2, links_only=True
    )  # fmt: skip
    spent = time_spent(gossamer.plan(wide, "scatter", rules=Rules(ports="one")).schedule)
    assert (spent.total, spent.sending, spent.waiting) == (6, 6, 0)
    assert [hop.why for hop in spent.path] == ["start", "port", "port"]
    assert (spent.busiest, spent.busy) == ("0 sending", 6)


def test_a_hop_that_could_begin_earlier_waits():
    schedule = gossamer.plan("array:3", "broadcast").schedule
    late = schedule.replace(slot=np.array([0, 4]), phases=None)
    spent = time_spent(late)
    assert (spent.total, spent.sending, spent.waiting) == (5, 2, 3)
    assert [hop.why for hop in spent.path] == ["start", "idle", "idle"]


def test_a_plan_that_repeats_is_followed_by_one_generation(monkeypatch):
    schedule = gossamer.plan("array:5", "broadcast", cost=SECONDS).schedule
    assert schedule.generations > 4
    unrolled, asked = type(schedule).unrolled, []

    def watched(self, generations=None):
        asked.append(generations)
        return unrolled(self, generations)

    monkeypatch.setattr(type(schedule), "unrolled", watched)
    spent = time_spent(schedule)
    assert asked == [1]
    monkeypatch.undo()
    assert spent.sending + spent.latency + spent.waiting == schedule.completion_time
    whole = time_spent(schedule.unrolled())
    assert whole.total == spent.total
    assert (whole.busy, [kind.busy for kind in whole.kinds]) == (spent.busy, [kind.busy for kind in spent.kinds])
    assert whole.sending + whole.latency + whole.waiting == spent.total
    period = schedule.repetition.period
    assert any(hop.times > 1 for hop in spent.path)
    for before, hop in pairwise(spent.path):
        gap = hop.start - before.end
        assert gap % period == 0
        assert gap == 0 or hop.times > 1 or before.times > 1


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(("spec", "task", "asked"), CASES, ids=named)
def test_shares_are_those_of_the_links(spec, task, asked):
    schedule = schedule_of(spec, task, asked)
    network, whole = schedule.network, schedule.unrolled().expand()
    slots = Counter()
    for link, packet in zip(whole.link.tolist(), whole.packet.tolist(), strict=True):
        slots[link] += int(network.link_occupancy[link]) if packet >= 0 else 0
    share = {
        e: Fraction(slots[e], schedule.parts * int(network.link_capacity[e])) / schedule.completion_time
        for e in range(network.link_count)
    }
    spent = time_spent(schedule)
    assert max(kind.most for kind in spent.kinds) == max(share.values())
    assert sum(kind.links for kind in spent.kinds) == network.link_count
    assert sum(kind.links * kind.busy for kind in spent.kinds) == sum(share.values())
    if schedule.rules.ports == "all":
        assert spent.busy / spent.total == max(share.values())
        assert spent.busiest in {f"link {network.link_name(e)}" for e in share if share[e] == max(share.values())}


def test_what_binds_is_the_cut_of_the_bound():
    network = gossamer.network("array:3")
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    slow = network.with_times([4 if 2 in pair else 1 for pair in ends], 0)
    page = gossamer.explain(gossamer.plan(slow, "alltoall"), quick=True)
    inside, links = set(page.binding.nodes.tolist()), page.binding.links.tolist()
    assert inside in ({2}, {0, 1})
    assert len(links) == 1
    assert set(ends[links[0]]) == {1, 2}


def test_where_the_largest_bound_names_no_links_another_as_large_does():
    page = gossamer.explain(gossamer.plan("array:6", "alltoall"), quick=True)
    network = page.schedule.network
    assert {network.link_name(e) for e in page.binding.links.tolist()} <= {"(2)->(3)", "(3)->(2)"}
    assert page.bound.name == "cut across dimension 0"


def test_the_cut_of_a_recognized_network_is_told_in_its_own_numbers():
    order = [3, 0, 2, 1, 4]  # a line x-a-q-b-z with its nodes in another order
    pairs = sorted(pair for u, v in pairwise(order) for pair in ((u, v), (v, u)))
    source, target = np.array(pairs).T
    network = gossamer.Network("line", 5, source, target, labels=list("abqxz"), links_only=True)
    binds = gossamer.explain(gossamer.plan(network, "allgather"), quick=True).binding
    assert binds.kind == "path"
    assert [network.node_name(v) for v in binds.nodes.tolist()] in (list("xaqbz"), list("zbqax"))
    ends = list(zip(network.link_source[binds.links].tolist(), network.link_target[binds.links].tolist(), strict=True))
    assert ends == list(pairwise(binds.nodes.tolist()))
    binds = gossamer.explain(gossamer.plan(network, "alltoall"), quick=True).binding
    inside = {network.node_name(v) for v in binds.nodes.tolist()}
    assert binds.kind == "cut"
    assert inside in (set("xa"), set("bz"), set("xaq"), set("qbz"))
    crossing = {network.link_source[e] in binds.nodes for e in binds.links.tolist()}
    assert len(binds.links) == len(crossing) == 1


def test_a_plan_in_seconds_names_what_must_cross_with_its_bandwidth():
    page = gossamer.explain(gossamer.plan(TWO_SERVERS, "allgather", cost=TimeCost("16MiB", whole=True)), quick=True)
    assert "240 MiB (15 messages of 16 MiB) must enter node a0 over 2 links at 350 GB/s together" in page.why[0]
    assert page.bound.value >= Fraction(15 * 2**24, 350 * 10**9)


GAINS = [
    ("ring:5", "scatter", {"rules": Rules(ports="one")}),
    ("torus:3x3", "allgather", {}),
    ("array:4", "alltoall", {}),
    ("ring:4", "broadcast", {"cost": SECONDS}),
    ("torus:3x3", "broadcast", {"switching": "wormhole", "cost": LinearCost(startup=10, message_bytes=8)}),
]


@pytest.mark.parametrize(("spec", "task", "asked"), GAINS, ids=named)
def test_each_gain_is_what_planning_the_change_takes(spec, task, asked):
    plan = gossamer.plan(spec, task, **asked)
    page = gossamer.explain(plan, budget=600.0)
    took = plan.completion_time if plan.seconds is None else plan.seconds
    assert page.gains
    for gain in page.gains:
        again = gain.asked
        assert gain.before == took
        assert (gain.time is None) == bool(gain.skipped)
        if gain.time is None and "by its bound" not in gain.skipped:
            continue
        new = gossamer.plan(again.network, again.task, switching=again.switching, rules=again.rules, cost=again.cost)
        time = (new.completion_time if new.seconds is None else new.seconds) * gain.share
        if gain.time is None:  # the bound says that it gains little: it does
            assert time >= took * Fraction(99, 100)
        else:
            assert (gain.time, gain.saved) == (time, took - time)
            assert gain.percent == pytest.approx(float(100 * (took - time) / took))


def test_changes_are_what_they_are_called():
    plan = gossamer.plan(TWO_SERVERS, "allgather", cost=TimeCost("1MiB", whole=True))
    page = gossamer.explain(plan, quick=True)
    asked = page.asked
    changes = {c.words: c.asked for c in advising.changed(asked, plan.schedule, page.binding)}
    speeds = asked.network.find(gossamer.networks.structures.Speeds)

    def rates(words):
        return changes[words].network.find(gossamer.networks.structures.Speeds)

    half = rates("half the latency of all links")
    assert (half.latency == speeds.latency / 2).all()
    assert (half.bandwidth == speeds.bandwidth).all()
    fast = rates("all 32 links of 50 GB/s twice as fast")
    changed = fast.bandwidth != speeds.bandwidth
    assert changed.sum() == 32
    assert set(fast.bandwidth[changed]) == {100e9}
    cable = next(words for words in changes if words.startswith("one more cable between "))
    new = changes[cable].network
    room = [
        float((net.link_capacity * net.find(gossamer.networks.structures.Speeds).bandwidth).sum())
        for net in (asked.network, new)
    ]
    assert room[1] - room[0] in (2 * 300e9, 2 * 50e9)
    ports = gossamer.plan("ring:5", "scatter", rules=Rules(ports="one"))
    page = gossamer.explain(ports, quick=True)
    words = [c.words for c in advising.changed(page.asked, ports.schedule, page.binding)]
    assert "all-port instead of one-port" in words
    assert "2 packets a message instead of 1" in words


def test_a_cable_between_nodes_that_had_none_is_two_links():
    network = gossamer.network("array:4")
    new = advising._with_links(network, cable=(0, 3, 0))
    assert new.link_count == network.link_count + 2
    assert gossamer.plan(new, "broadcast").completion_time == 2
    beside = advising._with_links(network, cable=(1, 2, 2))
    assert beside.link_count == network.link_count
    assert int(beside.link_capacity.sum()) == int(network.link_capacity.sum()) + 2
    assert gossamer.plan(beside, "alltoall").completion_time < gossamer.plan(network, "alltoall").completion_time


@pytest.mark.parametrize("form", ["blocks", "root", "gather", "sums"])
def test_an_allreduce_is_asked_again_whatever_its_form(form):
    cost = TimeCost("64kB", bandwidth="1GB/s", latency="2us", form=form)
    plan = gossamer.plan("ring:3", "allreduce", cost=cost)
    again = asked_again(plan.schedule)
    assert again.task == gossamer.task("allreduce")
    assert again.cost == TimeCost("64kB", bandwidth="1GB/s", latency="2us")
    assert again.time == plan.seconds
    assert again.bound().value <= again.time


def beside(spec, task, **asked):
    """Return a plan, and the usual algorithms beside it by their names."""
    plan = gossamer.plan(spec, task, **asked)
    found, _ = comparing.beside(asked_again(plan.schedule), 60.0, lambda stage: None)
    least = asked_again(plan.schedule).bound().value
    assert all(each.time is None or each.time >= least for each in found)
    return plan, {each.name: each for each in found}


def times(spec, task, **asked):
    return {name: each.time for name, each in beside(spec, task, **asked)[1].items()}


def test_usual_algorithms_take_what_their_sources_say():
    one = Rules(ports="one")
    assert times("ring:7", "allgather")["ring"] == 3  # half the ring each way
    assert times("ring:7", "broadcast")["ring"] == 6
    assert times("complete:8", "broadcast", rules=one)["binomial tree"] == 3
    assert times("hypercube:3", "reduce", rules=one)["binomial tree"] == 3
    assert times("ring:6", "allreduce")["ring"] == 6  # reduce-scatter and allgather, three steps each
    found = times("complete:8", "allreduce", rules=one)  # a step is a block, an eighth of the buffer
    assert found["ring"] == 2 * 7
    assert found["halving and doubling"] == 2 * (4 + 2 + 1)
    assert found["recursive doubling"] == 3 * 8
    assert times("complete:8", "alltoall")["pairwise exchange"] == 1


SAME = [
    ("torus:4x4", "allgather", {}),
    ("torus:4x4", "allreduce", {}),
    ("hypercube:3", "reduce-scatter", {"rules": Rules(ports="one")}),
    ("star:4", "broadcast", {}),
    ("array:2x3", "reduce", {}),
    ("fat-tree:2,3", "alltoall", {}),
    ("ring:6", "allreduce", {"cost": SECONDS}),
    ("ring:6", "broadcast", {"cost": SECONDS}),
]


@pytest.mark.parametrize(("spec", "task", "asked"), SAME, ids=named)
def test_a_usual_algorithm_takes_the_time_of_a_plan_by_its_name(spec, task, asked):
    plan, found = beside(spec, task, **asked)
    assert len(found) > 1
    for each in found.values():
        if each.time is None:
            assert each.skipped
            continue
        new = gossamer.plan(spec, task, rules=plan.case.rules, cost=asked.get("cost"), algorithm=each.name)
        assert each.time == (new.completion_time if new.seconds is None else new.seconds)
        assert (each.algorithm, new.word) == (new.algorithm, gossamer.task(task).word)
        if "cost" not in asked and "rules" not in asked:
            told = gossamer.explain_algorithm(each.name, spec, task)
            assert (told.name, told.outcome.completion_time) == (each.algorithm, each.time)


def test_a_page_on_a_slow_schedule_says_which_usual_algorithm_is_faster():
    slow = gossamer.plan("complete:8", "allgather", rules=Rules(ports="one"), algorithm="ring")
    page = gossamer.explain(slow, budget=20.0)
    assert "recursive doubling takes" not in str(page)  # as long, in steps
    late = slow.schedule.replace(slot=slow.schedule.slot + 7, phases=None)
    page = gossamer.explain(late, budget=20.0)
    assert page.asked.time == 2 * page.beside[0].time == 14
    assert f"{page.beside[0].name} takes 50 % less time: plan with --algorithm '{page.beside[0].name}'" in str(page)


def test_a_ring_follows_the_double_links_of_a_server():
    machine = str(Path(__file__).parents[1] / "examples" / "machines" / "dgx1.txt")
    plan, found = beside(machine, "allreduce", cost=TimeCost("1GiB"))
    ring = found["ring"]
    assert (ring.form, ring.algorithm) == ("3 rings along cables", "two-way-multi-ring")
    assert ring.time <= Fraction(1002, 1000) * asked_again(plan.schedule).bound().value


def test_rings_of_servers_use_every_rail():
    plan = gossamer.plan(TWO_SERVERS, "allgather", cost=TimeCost("16MiB", whole=True))
    found, _ = comparing.beside(asked_again(plan.schedule), 60.0, lambda stage: None)
    ring = next(each for each in found if each.name == "ring")
    one_rail = Fraction(8 * 2**24, 50 * 10**9)  # what a single ring would take from one server to the other
    assert asked_again(plan.schedule).bound().value <= ring.time < one_rail / 2


def test_the_budget_is_kept_and_what_it_leaves_out_is_said():
    page = gossamer.explain(gossamer.plan("torus:4x4", "allgather"), budget=0.0)
    assert all(gain.time is None for gain in page.gains)
    assert any("--budget allows more" in gain.skipped for gain in page.gains)
    assert all(each.time is None and "--budget allows more" in each.skipped for each in page.beside)


def test_large_networks_are_planned_on_only_if_a_time_is_allowed(monkeypatch):
    monkeypatch.setattr(advising, "_LARGE", 10)
    page = gossamer.explain(gossamer.plan("ring:5", "scatter", rules=Rules(ports="one")))
    assert all(gain.time is None for gain in page.gains)
    assert any("not planned on 5 nodes without --budget" in gain.skipped for gain in page.gains)


@pytest.mark.parametrize(
    ("spec", "task", "asked"),
    [
        ("torus:8x8", "allgather", {}),
        ("ring:5", "scatter", {"rules": Rules(ports="one")}),
        ("fat-tree:2,3", "alltoall", {}),
        ("torus:3x3", "alltoall", {"switching": "wormhole"}),
        ("array:4", "broadcast", {"cost": SECONDS}),
    ],
    ids=named,
)
def test_a_page_is_short_and_says_the_same_in_each_form(spec, task, asked):
    page = gossamer.explain(gossamer.plan(spec, task, **asked))
    text = str(page)
    assert len(text.splitlines()) <= 48
    assert max(map(len, text.splitlines())) <= 125
    told = page.to_dict()
    assert json.loads(json.dumps(told)) == told
    for form in (text, page.markdown(), page.html()):
        for gain in page.gains:
            assert gain.change.split()[0] in form
        assert "What limits it" in form
        assert "Where time goes" in form
    assert page.html().count("<svg") == (1 if asked.get("switching") else 2)
    HTMLParser().feed(page.html())


WITNESSES = [
    ("array:6", "alltoall", {}, "cut"),
    ("ring:8", "broadcast", {}, "path"),
    ("star:4", "alltoall", {}, "links"),
    ("dgx-h100:2", "allreduce", {"cost": TimeCost("64MiB")}, "parts"),
    ("dgx-a100:2,gpus=4", "allreduce", {"cost": TimeCost("64MiB")}, "prices"),
]


@pytest.mark.parametrize(("spec", "task", "asked", "kind"), WITNESSES, ids=named)
def test_each_kind_of_witness_is_in_text_markdown_html_and_picture(spec, task, asked, kind, tmp_path):
    page = gossamer.explain(gossamer.plan(spec, task, effort="closed form", **asked), quick=True)
    network, binds = page.schedule.network, page.binding
    assert (binds.kind, bool(binds.links.size)) == (kind, True)
    assert bool(binds.share.size) == (kind == "prices")
    text, told = " ".join(str(page).split()), page.to_dict()["binding"]
    assert binds.reason in text
    assert told["kind"] == kind
    assert told["links"] == [network.link_name(e) for e in binds.links.tolist()]
    files = page.save(tmp_path / "page.md")
    assert [file.name for file in files] == ["page.svg", "page.md"]
    assert binds.reason in files[1].read_text(encoding="utf-8")
    assert binds.reason in page.html()
    caption = " ".join(re.sub("<[^>]*>", " ", files[0].read_text(encoding="utf-8")).split())
    assert all(word in caption for word in ["Orange:", *binds.reason.split()])
    figure = advice_figure(page)
    color = tuple(round(x, 3) for x in to_rgba(CATEGORICAL[1]))
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection) and len(c.get_segments())]
    marked = [c for c in lines if tuple(c.get_color()[0].round(3)) == color]
    assert sum(len(c.get_segments()) for c in marked) == binds.links.size


def test_time_of_the_busiest_link_adds_up():
    for schedule in (
        gossamer.plan("array:4", "scatter").schedule,
        gossamer.plan("dgx-a100", "allreduce", cost=TimeCost("16MiB")).schedule,
    ):
        spent = time_spent(schedule)
        assert spent.before + spent.busy + spent.pauses + spent.after == spent.total
        assert min(spent.before, spent.pauses, spent.after) >= 0
    late = gossamer.plan("array:3", "broadcast").schedule.replace(slot=np.array([2, 4]), phases=None)
    spent = time_spent(late)
    assert (spent.before, spent.busy, spent.pauses, spent.after) in ((2, 1, 0, 2), (4, 1, 0, 0))


def test_a_job_of_several_collectives_says_what_is_left_out():
    job = Together([gossamer.task("scatter"), gossamer.task("broadcast")])
    page = gossamer.explain(gossamer.plan("ring:5", job, cost=SECONDS))
    assert page.gains[0].share == 1
    assert not page.beside
    assert any("for one collective among all nodes only" in remark for remark in page.remarks)
    assert " ms" in page.sentence


def test_an_outcome_without_its_schedule_is_refused():
    plan = gossamer.plan("torus:4x4", "allgather")
    assert gossamer.explain(plan, quick=True).schedule is plan.schedule
    with pytest.raises(ScheduleError, match="not kept"):
        gossamer.explain(replace(plan, schedule=None))


def test_the_command_writes_pages_and_refuses_what_does_not_go_together(capsys, tmp_path):
    plan = tmp_path / "plan.parquet"
    gossamer.plan("torus:3x3", "allgather").save(plan)
    assert main(["explain", str(plan), "--quick"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("allgather on torus:3x3: 2 steps, optimal")
    assert "--quick leaves them out" in out
    for name in ("page.md", "page.html", "page.txt"):
        assert main(["explain", str(plan), "--quick", "-o", str(tmp_path / name)]) == 0
        drawn = f"wrote {tmp_path / 'page.svg'}\n" if name.endswith(".md") else ""
        assert capsys.readouterr().out == f"{drawn}wrote {tmp_path / name}\n"
        assert "What limits it" in (tmp_path / name).read_text()
    assert main(["explain", str(plan), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["time"], told["time_goes"]["bandwidth"]) == (2, 2)
    assert main(["explain", str(plan), "--slots"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "  slot 0, multinode-broadcast: 36 hops from 9 nodes"
    assert main(["explain", str(plan), "--node", "0,1"]) == 0
    assert capsys.readouterr().out.startswith("node (0,1): sends ")
    for words, reason in (
        (["--slot", "0", "--quick"], "go with the page, not with --slot"),
        (["--quick", "--budget", "3"], "--quick plans nothing"),
        (["-o", "page.docx"], "is of no known kind; a page is .html, .md or .txt, a picture .svg"),
        (["--budget", "-1"], "--budget must be a number of seconds"),
    ):
        assert main(["explain", str(plan), *words]) == 2
        assert reason in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["parquet", "txt"])
def test_nodes_keep_the_names_of_their_coordinates_in_a_file(tmp_path, suffix):
    network = without(gossamer.network("torus:3x3"), ["links:0-1"])
    plan = gossamer.plan(network, "allgather")
    plan.save(tmp_path / f"plan.{suffix}")
    again = gossamer.load(tmp_path / f"plan.{suffix}")
    names = [[net.node_name(v) for v in range(9)] for net in (plan.schedule.network, again.network)]
    assert names[0] == names[1]
    assert names[0][5] == "(1,2)"
    page = gossamer.explain(again, quick=True)
    assert "(0,0)" in page.why[0]
    cable = next(c for c in advising.changed(page.asked, again, page.binding) if c.words.startswith("one more cable"))
    assert cable.asked.network.node_name(5) == "(1,2)"
