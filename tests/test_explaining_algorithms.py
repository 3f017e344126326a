"""Every algorithm is explained on a small network; the steps that are shown stand in the code, and names are found."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.algorithms import Algorithm, registry
from gossamer.algorithms.registry import algorithms_for
from gossamer.cli import main
from gossamer.errors import FileFormatError, NotApplicableError, ScheduleError
from gossamer.networks.spec import network as parse_network
from gossamer.planning.explaining.algorithms import explain_algorithm
from gossamer.planning.usual_algorithms import USUAL, example_network, names_of, partners
from gossamer.plots import write_page
from gossamer.questions.cases import Case, Offer
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TASKS, Broadcast, Chunked, Grouped, Task, Together
from gossamer.schedules import CONTROL, Schedule
from gossamer.testing import NETWORKS, tasks_of
from gossamer.verification import verify
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

SOURCE = Path(gossamer.__file__).parents[1]
SOLVED = {"exact", "reversed-exact"}
"""These take a solver, which may not be installed; what they build is as of any other."""
RULES = [Rules(), Rules(split=True), Rules(ports="one"), Rules(ports="one-send"), Rules(ports="one-receive")]
SPECS = (
    "ring:5",
    "array:5",
    "hypercube:3",
    "torus:3x3",
    "array:4x4",
    "ring:8",
    "ring:9",
    "fat-tree:k=2,h=2",
    "torus:4x4",
)
SMALL = [parse_network(spec) for spec in (*SPECS, *NETWORKS)]
"""A few networks that most algorithms cover, before those of the conformance tests."""
KINDS = sorted({*TASKS.values(), Chunked, Grouped, Together}, key=lambda kind: kind.name)


def small_case(algorithm, kind: type[Task]):
    """Return network, task and rules of a small conformance case that is covered and moves something."""
    for network in SMALL:
        if not 2 <= network.node_count <= 40:
            continue
        for rules in RULES:
            for task in tasks_of(kind, network):
                case = Case(network, task, rules)
                if case.messages.count and algorithm.covers(case):
                    return network, task, rules
    return None


@pytest.mark.exhaustive(always=10)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_algorithm_of_a_task_is_explained(kind):
    names = []
    for algorithm in algorithms_for(kind):
        if algorithm.name in SOLVED or algorithm.name in names or kind not in algorithm.tasks:
            continue
        names.append(algorithm.name)
        found = small_case(algorithm, kind)
        if found is None:  # larger networks only
            continue
        network, task, rules = found
        told = explain_algorithm(algorithm.name, network, task, rules=rules)
        assert (told.name, told.outcome.case.task) == (algorithm.name, task)
        check(told)
    assert names


def check(told):
    """Check that an explanation is complete, and that it tells the truth about the schedule and the code."""
    assert told.idea
    assert all(len(paragraph) > 15 and ">>>" not in paragraph for paragraph in told.idea)
    assert told.code
    lines = str(told).splitlines()
    assert lines[0] == told.title
    assert {"Idea", "Source"} <= set(lines)
    source = ""
    for place in told.code:
        file = SOURCE / place.rpartition(" in ")[2]
        assert file.exists(), place
        source += file.read_text(encoding="utf-8")
    for step in told.steps:
        assert step in COMMENTS
    time, bound = told.outcome.completion_time, told.bound
    assert bound is None or bound.value <= time
    assert ("The two are equal" in " ".join(told.why)) == (bound is not None and bound.value == time)
    if told.outcome.switching.name == "store-and-forward":
        check_slots(told)


def numbered_comments():
    """Return the numbered comments of the builders, each in one line."""
    found = set()
    for folder in ("algorithms", "wormhole", "graphs"):
        for path in (SOURCE / "gossamer" / folder).rglob("*.py"):
            text = re.sub(r"\n\s*#   ", " ", path.read_text(encoding="utf-8"))
            found.update(re.findall(r"# Step \d+: (.*)", text))
    return found


COMMENTS = numbered_comments()


def check_slots(told):
    """Check the pictures against the hops of the schedule, which was verified once more."""
    explicit = told.outcome.schedule.expand()
    assert verify(explicit)
    network = told.network
    hops = {
        (slot, int(network.link_source[link]), int(network.link_target[link]))
        for slot, link in zip(explicit.slot.tolist(), explicit.link.tolist(), strict=True)
    }
    assert bool(told.slots) == bool((explicit.packet != CONTROL).any())
    for shown in told.slots:
        assert shown.moves
        assert all((shown.slot, *move) in hops for move in shown.moves)
        busy = np.unique(explicit.link[explicit.slot == shown.slot]).size
        assert shown.busy == f"{busy:,} of {network.link_count:,} links busy"
        assert shown.total == explicit.slot.max() + 1
        if shown.holders:
            assert all(source in shown.holders for source, _ in shown.moves)


@pytest.mark.exhaustive(always=14)
@pytest.mark.parametrize("algorithm", WORMHOLE_ALGORITHMS, ids=lambda a: f"{a.name}-{a.tasks[0].name}")
def test_every_wormhole_algorithm_is_explained(algorithm):
    told = explain_algorithm(algorithm.name, "torus:4x4")
    check(told)
    assert "--switching wormhole" in " ".join(told.commands) or not told.commands


MAIN = [
    "shortest-path-tree", "binomial-tree", "product-tree", "extended-ring-tree", "matching-rounds", "furthest-first",
    "area-division", "flow-over-time", "translated-tree", "torus-on-array", "rotated-quadrant",
    "rotated-dimensions-unsegmented", "greedy-flooding", "hamiltonian-cycle", "multi-ring", "edge-colored",
    "parity-shift",
    "message-shift", "array-rounds", "two-phase-product", "node-invariant-fifo", "even-words", "bruck-exchange",
    "pairwise-exchange", "halving-scatter", "doubling-trees", "bruck-trees", "parallel-aggregated-trees", "bine-trees",
    "recursive-doubling", "swing-allreduce", "direct-exchange", "congestion-priced-trees",
    "congestion-priced-paths", "arc-disjoint-trees",
    "tree-packing", "pipelined-trees", "kunde-2", "greedy", "valiant-brebner", "Q", "H", "atd-opt",
]  # fmt: skip
"""Algorithms whose docstrings open with an idea, and whose code has numbered steps."""


@pytest.mark.parametrize("name", MAIN)
def test_the_main_algorithms_have_an_idea_in_a_paragraph_and_numbered_steps(name):
    specs = ("torus:4x4", "array:4x4", "hypercube:3", "ring:9", "ring:8")
    told = next(found for found in (tried(name, spec) for spec in specs) if found)
    assert max(map(len, told.idea)) > 150, told.idea
    assert told.steps, name
    assert told.sources or "gossamer" in told.source or "folklore" in told.source


def tried(name, spec):
    try:
        return explain_algorithm(name, spec)
    except NotApplicableError:
        return None


def test_the_fat_trees_have_ideas_and_steps_too():
    for name in ("fat-tree-flooding", "fat-tree-star-exchanges", "fat-tree-up-first", "fat-tree-digitwise"):
        told = explain_algorithm(name, "fat-tree:k=2,h=2")
        assert max(map(len, told.idea)) > 150
        check(told)


@pytest.mark.parametrize(
    ("short", "spec", "task", "name"),
    [
        ("ring", "ring:8", "allgather", "multi-ring"),
        ("ring", "ring:8", "allreduce", "two-way-multi-ring"),
        ("ring", "torus:4x4", "reduce-scatter", "reversed-multi-ring"),
        ("tree", "hypercube:3", "broadcast", "binomial-tree"),
        ("tree", "star:4", "broadcast", "rank-binomial-tree"),
        ("tree", "torus:4x4", "allreduce", "double-binary-trees"),
        ("double-tree", "dgx-h100:2", "allreduce", "double-binary-trees"),
        ("ring", "hypercube:3", "broadcast", "ring-broadcast"),
        ("ring", "star:4", "allgather", "multi-ring"),
        ("ring", "complete:5", "reduce", "reversed-ring-broadcast"),
        ("recursive-halving", "hypercube:3", "reduce-scatter", "reversed-doubling-trees"),
        ("van-de-geijn", "ring:6", "broadcast", "scatter-allgather"),
        ("dimension-exchange", "torus:4x4", "allgather", "rotated-dimensions-unsegmented"),
        ("tree", "hypercube:3", "reduce", "reversed-binomial-tree"),
        ("binomial", "ring:8", "scatter", "halving-scatter"),
        ("bruck", "ring:7", "allgather", "bruck-trees"),
        ("Bruck", "ring:7", "alltoall", "bruck-exchange"),
        ("recursive_doubling", "hypercube:3", "allgather", "doubling-trees"),
        ("recursive-doubling", "hypercube:3", "allreduce", "recursive-doubling"),
        ("swing", "ring:8", "allreduce", "swing-allreduce"),
        ("bine", "ring:8", "allgather", "bine-trees"),
        ("pat", "ring:8", "reduce-scatter", "reversed-parallel-aggregated-trees"),
        ("kunde-2", "array:4x4", None, "kunde-2"),
        ("q", "array:4x4", None, "Q"),
    ],
)
def test_short_names_are_those_of_the_task(short, spec, task, name):
    assert explain_algorithm(short, spec, task).name == name


@pytest.mark.parametrize("short", ["halving-doubling", "rabenseifner"])
def test_rabenseifner_is_halving_first(short):
    told = explain_algorithm(short, "hypercube:3")
    assert told.outcome.options["halvings"] == 3
    assert told.name == "recursive-doubling"
    for spec in ("hypercube:3", "torus:4x4", "ring:12"):
        assert explain_algorithm("recursive-doubling", spec, "allreduce").outcome.options["halvings"] == 0


def test_usual_names_name_algorithms():
    known = {a.name for a in (*gossamer.ALGORITHMS, *WORMHOLE_ALGORITHMS)}
    assert {name for usual in USUAL for name in usual.algorithms} <= known
    assert set(names_of("Recursive Doubling")) & known >= {"recursive-doubling", "doubling-trees"}


@pytest.mark.parametrize("usual", USUAL, ids=lambda usual: usual.name)
def test_each_usual_algorithm_is_explained_without_a_network(usual):
    told = explain_algorithm(usual.name)
    assert (told.network, example_network(usual.name)) == (parse_network(usual.example), usual.example)
    check(told)


@pytest.mark.parametrize(
    ("short", "spec", "rounds"),
    [
        ("recursive-doubling", "complete:4", [{(0, 1), (1, 0), (2, 3), (3, 2)}, {(0, 2), (2, 0), (1, 3), (3, 1)}]),
        ("pairwise", "complete:4", [{(u, u ^ k) for u in range(4)} for k in (1, 2, 3)]),
        ("recursive-doubling", "hypercube:2", [{(u, u ^ k) for u in range(4)} for k in (2, 1)]),
        ("swing", "ring:4", [{(u, u ^ 1) for u in range(4)}, {(u, 3 - u) for u in range(4)}]),
    ],
)
def test_rounds_are_exchanges_of_pairs(short, spec, rounds):
    told = explain_algorithm(short, spec)
    algorithm = next(a for a in gossamer.ALGORITHMS if a.name == told.name)
    assert partners(algorithm, told.network) == rounds
    assert len(told.rounds) == len(rounds)
    assert any(line.startswith("round 0: ") and "<>" in line for line in told.rounds)


def test_slots_are_the_first_the_last_and_between_or_those_that_are_asked_for():
    told = explain_algorithm("multi-ring", "ring:24", "allgather")
    assert [slot.slot for slot in told.slots] == [0, 4, 7, 11]
    assert "slot 4 of 0..11: " in told.slots_in_text()
    assert told.slots_in_text().splitlines()[-1] == "others: --slots 0-11"
    again = explain_algorithm("multi-ring", "ring:24", "allgather", slots="2-3,9")
    assert [slot.slot for slot in again.slots] == [2, 3, 9]
    check_slots(again)
    with pytest.raises(ScheduleError, match=r"the slot must be 0..11, got 12"):
        explain_algorithm("multi-ring", "ring:24", "allgather", slots="11-12")
    with pytest.raises(ScheduleError, match="slots are numbers and ranges such as 1-8"):
        explain_algorithm("multi-ring", "ring:24", "allgather", slots="a")


def test_an_allreduce_of_two_halves_has_its_own_idea_and_proof():
    told = explain_algorithm("ring", "array:4x4", "allreduce")
    text = " ".join(str(told).split())
    assert "the allgather run backwards in time" in text
    assert "The ranks stand in a ring" in text
    assert "Chan, Heimlich, Purkayastha and van de Geijn 2007" in told.source
    halves = re.search(r"The reduce-scatter takes (\d+) steps, the allgather (\d+) steps; no allgather", text)
    assert int(halves[1]) + int(halves[2]) == told.outcome.completion_time
    assert not told.notes


@pytest.mark.parametrize(
    ("name", "spec", "task", "said"),
    [
        ("binomal", "hypercube:3", None, r"^no algorithm 'binomal' \(did you mean 'binomial'\?\); see gossamer list"),
        ("nonsense", "ring:4", None, r"^no algorithm 'nonsense'; short names: ring, tree, double-binary-trees, "),
        (
            "bine",
            "ring:7",
            "allgather",
            r"^algorithm 'bine' does not cover allgather on ring:7: bine-trees needs sides .* 4; there are: [\w, -]*$",
        ),
        (
            "swing",
            "hypercube:3",
            "broadcast",
            r"^algorithm 'swing' is for allreduce, not for broadcast; there are: ",
        ),
        ("bruck", "ring:1", None, r"^algorithm 'bruck' does not cover ring:1: bruck-trees is for 2 to 256 ranks; "),
        ("product-tree", "star:4", None, "does not cover star:4: product-tree needs a "),
    ],
)
def test_what_there_is_not_is_one_clear_line(name, spec, task, said):
    with pytest.raises(NotApplicableError) as caught:
        explain_algorithm(name, spec, task)
    assert "\n" not in str(caught.value)
    assert re.search(said, str(caught.value)), str(caught.value)


def test_the_words_of_an_explanation():
    told = explain_algorithm("translated-tree", "torus:4x4", "allgather")
    text = str(told)
    assert text.startswith("translated-tree: allgather on torus:4x4 (16 nodes, 64 links)\n\nIdea\n")
    assert told.outcome.completion_time == Fraction(4) == told.bound.value
    assert "\nWhy it is optimal\n  measured: 4 steps" in text
    assert told.bound.witness in " ".join(told.why)
    assert [source.key for source in told.sources] == ["dimakopoulos-1996"]
    assert "Collective Communication Problems in Multiprocessors" in " ".join(text.split())
    assert told.commands[0] == "gossamer plan torus:4x4 allgather --algorithm translated-tree -o plan.parquet"
    assert told.complexity == ("O(N d) time.",)
    first = told.slots[0]
    assert first.holders == {0}
    assert first.moves == ((0, 1), (0, 3), (0, 4), (0, 12))


def test_the_picture_of_a_slot_in_text_is_what_moves():
    told = explain_algorithm("multi-ring", "ring:5", "allgather", slots=2)
    assert told.slots_in_text().splitlines() == [
        "* has it, + gets it in this slot, . does not have it yet",
        "slot 0: 10 of 10 links busy   slot 1: 10 of 10 links busy",
        "<-*->+  .  .  +<-               *  *->+  +<-*",
    ]
    wide = explain_algorithm("shortest-path-tree", "array:2x3", slots=1).slots_in_text().splitlines()
    shown = ["slot 0 of 0..2: 2 of 14 links busy", "*->+  .", "v", "+  .  .", "others: --slots 0-2"]
    assert wide[1:] == shown


def tell_all_at_once(case):
    """Let the root tell everybody in the first slot.

    On a complete network every node is a neighbor of the root, which needs no help and no second slot.

    Notes
    -----
    One step. O(N) time.
    """
    # Step 1: the links of the root, one to each node
    links = case.network.out_links(0)
    # Step 2: the message crosses all of them,
    #   at once
    return Schedule.of(case, [0] * len(links), list(links), [0] * len(links))


def propose_at_once(case):
    return Offer(lambda: tell_all_at_once(case))


def test_an_algorithm_from_outside_the_package_is_explained_as_well(monkeypatch):
    outside = Algorithm("at-once", (Broadcast,), propose_at_once, "complete", "folklore", "tells all")
    monkeypatch.setitem(registry._known, Broadcast, (outside,))
    monkeypatch.setitem(registry._known, None, (outside,))
    told = explain_algorithm("at-once", "complete:4")
    assert told.idea[0] == "Let the root tell everybody in the first slot."
    assert told.idea[1].startswith("On a complete network")
    assert told.steps == ("the links of the root, one to each node", "the message crosses all of them, at once")
    assert (told.notes, told.complexity) == (("One step.",), ("O(N) time.",))
    assert told.outcome.completion_time == 1 == told.bound.value


@pytest.mark.parametrize("name", ["page.html", "page.md", "page.svg"])
def test_pages_have_the_words_and_the_pictures(tmp_path, name):
    told = explain_algorithm("binomial", "hypercube:3")
    files = write_page(told, tmp_path / name)
    assert files[-1] == tmp_path / name
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert text.count("<svg") == 1
    assert "slot 2: 1 of 24 links busy" in text
    if name != "page.svg":
        assert "Why it is optimal" in text
        assert told.commands[0] in text
    if name == "page.md":
        assert "](page.svg)" in text
        assert "\n1. " in text
    again = tmp_path / "again"
    again.mkdir()
    assert [f.read_bytes() for f in write_page(told, again / name)] == [f.read_bytes() for f in files]


def test_a_page_of_another_kind_is_refused(tmp_path):
    told = explain_algorithm("binomial", "hypercube:2")
    with pytest.raises(FileFormatError, match=r"an explanation is one of \.html, \.md, \.svg, \.png, \.pdf"):
        write_page(told, tmp_path / "page.txt")
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_writes_and_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "--algorithm", "binomial", "hypercube:3", "broadcast"]) == 0
    assert capsys.readouterr().out.startswith("binomial-tree: broadcast on hypercube:3 (8 nodes, 24 links)\n")
    assert main(["explain", "--algorithm", "ring", "ring:6", "allgather", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["algorithm"], told["completion_time"], told["bound"]) == ("multi-ring", "3", "3")
    assert main(["explain", "--algorithm", "bruck", "ring:5", "-o", "bruck.md"]) == 0
    assert capsys.readouterr().out == "wrote bruck.svg\nwrote bruck.md\n"
    assert main(["explain", "--algorithm", "binomal", "hypercube:3"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("try: gossamer explain --algorithm binomial hypercube:3\n")
    assert main(["explain", "ring:5", "allgather"]) == 2
    assert "'allgather' goes with --algorithm" in capsys.readouterr().err


def test_commands_that_are_proposed_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, spec in (("hamiltonian-cycle", "array:2x3"), ("rabenseifner", "hypercube:2"), ("atd-opt", "torus:4x4"),
                       ("rotated-dimensions-segmented", "torus:3x3")):  # fmt: skip
        for command in explain_algorithm(name, spec).commands:
            assert main(command.split()[1:]) == 0, capsys.readouterr().err
    for name in ("swing", "rabenseifner", "recursive-doubling", "double-binary-trees"):
        told = explain_algorithm(name, "ring:8", "allreduce")
        command = told.commands[0]
        assert command.startswith("gossamer plan ring:8 allreduce ")
        assert main(command.split()[1:]) == 0
        assert f"allreduce on ring:8: {told.outcome.completion_time} steps" in capsys.readouterr().out
