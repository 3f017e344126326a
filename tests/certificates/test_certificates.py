"""Certificates: what is written is accepted, what is false is refused, and the checker needs nothing of gossamer."""

from __future__ import annotations

import ast
import contextlib
import datetime
import itertools
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import gossamer
import gossamer_check
from certificates.cases import BROADCAST, CASES, but
from certificates.changes import CHANGES, changed, tried, verdict
from certificates.judge import NotComparableError, judged
from certificates.mutants import EQUIVALENT, alive
from certificates.samples import KINDS, sample
from certificates.table import NETWORKS as TABLE
from certificates.table import NOT_CERTIFIED, rows
from gossamer.cli import main
from gossamer.errors import ModelError, ScheduleError, TooLargeError
from gossamer.planning.certificates import (
    certificate,
    certificate_text,
    everywhere_certificate,
    write_certificate,
)
from gossamer.questions.tasks import TASKS, DemandTable, OneToManyRouting, Permutation, Together, UnevenExchange
from gossamer.studies.design import design, limit
from gossamer.studies.design.moore_bounds import LIMITED_TASKS

ROOT = Path(__file__).parents[2]
PROGRAM = Path(gossamer_check.__file__)
TODAY = datetime.date.today().toordinal()
SAID = dict(line.split("\t") for line in (Path(__file__).parent / "said.txt").read_text(encoding="utf-8").splitlines())
NETWORKS = (
    "ring:5", "array:3x3", "torus:4x4", "hypercube:3", "star:4", "complete:5", "ccc:3", "kautz:2,2", "de-bruijn:2,3",
    "fat-tree:k=2,h=2", "leaf-spine:4,2,2", "circulant:7,1,2", "torus:2x3,occupancy=2x1,latency=1x0", "dgx-a100:1",
)  # fmt: skip


def said(content: bytes | dict[str, Any]) -> str:
    """What the checker says of a certificate, in one line."""
    try:
        return " | ".join(gossamer_check.check(content if isinstance(content, bytes) else certificate_text(content)))
    except gossamer_check.Refused as reason:
        return f"refused: {reason}"


@pytest.mark.parametrize("name", CASES)
def test_the_checker_says_of_a_small_certificate(name):
    assert said(CASES[name]) == SAID[name]


def test_all_is_said_of_small_certificates_that_there_are():
    assert list(SAID) == list(CASES)


@pytest.mark.parametrize("name", [name for name, line in SAID.items() if line.startswith("accepted")])
def test_a_small_certificate_that_is_accepted_is_valid_to_gossamer(name):
    data = json.loads(CASES[name])
    if "schedule" not in data or data["network"]["nodes"] > 1000:
        return
    try:
        assert judged(data) is None
    except NotComparableError:
        return


@pytest.mark.exhaustive(always=28)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("task", ["broadcast", "scatter", "gather", "reduce", "allgather", "alltoall", "allreduce"])
def test_a_plan_has_a_certificate_that_names_its_task(network, task):
    plan = gossamer.plan(network, task, cost=gossamer.StepCost())
    data = json.loads(certificate_text(plan.certificate()))
    lines = said(data)
    assert lines.startswith("accepted")
    assert re.search(rf"task +{task} ", lines)
    assert Fraction(data["claim"]["time"]) == plan.completion_time
    if data["claim"]["bound"] is not None:
        assert Fraction(data["claim"]["bound"]) <= plan.completion_time
        assert ("ratio            1: " in lines) == (data["claim"]["bound"] == data["claim"]["time"])


OF_FOUR: dict[str, Any] = {
    "demands": DemandTable.of([(0, [1, 2], 2), (3, [1], 1)], contributions=[([0, 1], [2, 3], 1)]),
    "one-to-many-routing": OneToManyRouting([[1, 2], [3], [0], []]),
    "permutation": Permutation([1, 2, 3, 0]),
    "uneven-exchange": UnevenExchange([[0, 1, 2, 1], [1, 0, 0, 1], [1, 1, 0, 1], [2, 0, 0, 0]]),
    **{name: TASKS[name]([2, 1, 0, 1]) for name in ("multiple-broadcast", "multiple-reduce")},
    **{name: TASKS[name]([1, 2, 1, 1], 0) for name in ("uneven-gather", "uneven-scatter")},
    **{
        name: TASKS[name]([0, 1, 3])
        for name in (
            "group-multinode-broadcast",
            "partial-exchange",
            "partial-gather",
            "partial-multinode-broadcast",
            "partial-reduce-scatter",
        )
    },
}


@pytest.mark.parametrize("task", sorted(TASKS))
@pytest.mark.parametrize("network", ["ring:4", "fat-tree:k=2,h=2"])
def test_every_task_of_the_table_has_a_certificate(network, task):
    if (network, task) == ("fat-tree:k=2,h=2", "neighbor-exchange"):
        return  # no rank is linked to another
    plan = gossamer.plan(network, OF_FOUR.get(task) or gossamer.task(task))
    assert said(plan.certificate()).startswith("accepted")


@pytest.mark.parametrize("seed", range(8 * (TODAY % 250), 8 * (TODAY % 250) + 8))
def test_schedules_of_all_kinds_have_certificates(seed):
    data = json.loads(certificate_text(certificate(sample(seed), [])))
    told = verdict(data)
    adds = re.search("reduce|sum", json.dumps(data["task"]))
    assert told == "accepted" or (told.startswith("not comparable: a sum ") and adds)


def test_samples_are_of_all_kinds():
    found = [sample(seed) for seed in range(60)]
    assert len(KINDS) == 5
    assert any(s.invariant for s in found)
    assert any(s.repetition for s in found)
    assert any(s.repeats is not None for s in found)
    assert any(not s.network.plain for s in found)
    assert any(s.parts > 1 for s in found)
    assert any(s.network.shared_ports for s in found)
    assert any(s.rules.buffer for s in found)
    assert any(s.rules.cut_through and s.network.terminal_count < s.network.node_count for s in found)


def test_what_is_changed_is_refused_unless_it_is_valid():
    first = 400 * (TODAY % 50)
    found = tried(range(first, first + 400))
    assert found["refused"] > 100
    assert found["accepted"] > 10
    assert [line for line in found if line.startswith("wrong")] == []


def test_changes_are_of_all_kinds():
    data = json.loads(certificate_text(gossamer.plan("torus:3x3", "allgather").certificate()))
    told = {json.dumps(changed(seed, data)[key]) for seed in range(200) for key in ("network", "rules", "symmetry")}
    assert len(set(CHANGES)) == 6
    assert len(told) > 20


@pytest.mark.slow
@pytest.mark.parametrize("network", TABLE)
def test_all_tasks_have_certificates_nearly_always_of_the_largest_bound(network):
    found = list(rows(network))
    assert len(found) > 40
    assert [row for row in found if row.refused or row.claimed != row.time] == []
    assert [row for row in found if row.bound is not None and row.bound.value > row.time] == []
    missed = {f"{network} {row.kind} {row.task}" for row in found if row.missed}
    assert missed <= NOT_CERTIFIED.keys()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a certificate."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from places(inner, (*path, key))


WRONG: tuple[Any, ...] = (None, True, -1, 0, 3, 10**15, 10**30, "x", "", "1/0", [], [[]], {}, {"kind": "copy"}, [None])
FULL = ("shared", "good group", "repeats with a pause", "carried on", "by search", "two wait")


@pytest.mark.parametrize("name", FULL)
def test_whatever_stands_somewhere_is_refused_in_one_line_or_neutral(name):
    good = json.loads(CASES[name])
    for path in list(places(good)):
        for wrong in WRONG:
            data: Any = json.loads(CASES[name])
            if not path:
                data = wrong
            else:
                place = data
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = wrong
            line = said(json.dumps(data).encode())
            assert "\n" not in line
            if line.startswith("accepted") and path and path[0] not in ("about", "bound"):
                try:
                    assert judged(data) is None, (path, wrong)
                except NotComparableError:
                    continue


def test_a_key_more_or_less_is_refused_if_it_is_not_null():
    good = json.loads(CASES["good group"])
    objects = [path for path in places(good) if isinstance(_at(good, path), dict) and path[:1] != ("about",)]
    assert len(objects) > 7
    for path in objects:
        for key in _at(good, path):
            data = json.loads(CASES["good group"])
            null = _at(data, path)[key] is None
            del _at(data, path)[key]
            if key != "symmetry":
                assert said(data).startswith("accepted" if null else "refused"), (path, key)
        data = json.loads(CASES["good group"])
        _at(data, path)["other"] = 1
        assert said(data).startswith("refused"), path


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


# -- the program


def test_the_program_uses_the_standard_library_alone():
    tree = ast.parse(PROGRAM.read_text(encoding="utf-8"))
    modules = {name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in _names(node)}
    modules |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= set(sys.stdlib_module_names)


def _names(node: ast.Import) -> list[str]:
    return [alias.name for alias in node.names]


def alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the program where nothing else is."""
    shutil.copy(PROGRAM, folder / "gossamer_check.py")
    command = [sys.executable, "-I", "-S", "gossamer_check.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={"PATH": os.defpath})


def test_the_program_runs_alone(tmp_path):
    write_certificate(gossamer.plan("torus:4x4", "alltoall").certificate(), tmp_path / "plan.cert.json")
    done = alone(tmp_path, "plan.cert.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-3:] == [
        "completion time  8 steps",
        "lower bound      8 steps, for all schedules, however messages are cut",
        "ratio            1: optimal among all schedules, however messages are cut",
    ]


def test_a_certificate_that_is_missing_is_said_as_any_file_is(tmp_path, capsys):
    assert main(["verify", str(tmp_path / "none.cert.json")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_the_program_refuses_with_status_1(tmp_path):
    (tmp_path / "false.cert.json").write_bytes(certificate_text(but(BROADCAST, claim__time="1")))
    done = alone(tmp_path, "false.cert.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "refused: row 1 ends after the last slot\n"
    done = alone(tmp_path, "none.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "refused: [Errno 2] No such file or directory: 'none.json'\n"
    done = alone(tmp_path)
    assert (done.returncode, done.stderr) == (1, "usage: python gossamer_check.py FILE.cert.json\n")


@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_bounds_on_all_networks_are_those_that_design_prints(ports):
    rules = gossamer.Rules(ports=ports)
    limits = {"send": 1 if rules.send_limited else None, "receive": 1 if rules.receive_limited else None}
    tried = 0
    for nodes, degree, two_way in itertools.product((2, 3, 6, 10, 17, 24, 25, 60), (1, 2, 3, 4, 9), (True, False)):
        empty = {
            "nodes": nodes,
            "ranks": nodes,
            "source": [],
            "target": [],
            "capacity": 1,
            "occupancy": 1,
            "latency": 0,
        }
        net = gossamer_check.Net({"network": empty, "rules": limits | {"cut_through": False}})
        law = {"kind": "everywhere", "degree": degree, "two_way": two_way, "whole": True, "blocks": True}
        for name in LIMITED_TASKS:
            named = {"total-exchange": "alltoall", "multinode-broadcast": "allgather"}.get(name, name)
            task = {"name": named, "packets": nodes if named == "allreduce" else 1}
            try:
                most = limit(name, nodes, degree, ports=ports, one_way=not two_way).value
            except ModelError:
                with pytest.raises(gossamer_check.Refused, match="no network of so few links is connected"):
                    gossamer_check.Bound(net, task, [], law).slack(Fraction(1))
                continue
            slack = [gossamer_check.Bound(net, task, [], law).slack(Fraction(most + more)) for more in (0, 1)]
            assert slack[0] < 0 <= slack[1], (name, nodes, degree, two_way)
            tried += 1
    assert tried > 500


def test_the_program_is_packed_beside_the_package():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert "src/gossamer_check.py" in wheel["wheel"]["packages"]


def test_the_cases_take_every_branch_of_the_program(tmp_path, monkeypatch):
    coverage = pytest.importorskip("coverage")
    watch = coverage.Coverage(branch=True, include=[str(PROGRAM)], data_file=None)
    (tmp_path / "good").write_bytes(CASES["good"])
    (tmp_path / "false").write_bytes(CASES["too few slots"])
    with watch.collect():
        for arguments in ([], [str(tmp_path / "good")], [str(tmp_path / "false")]):
            monkeypatch.setattr(sys, "argv", [str(PROGRAM), *arguments])
            with contextlib.suppress(SystemExit):
                runpy.run_path(str(PROGRAM), run_name="__main__")
        runpy.run_path(str(PROGRAM))
        for name in CASES.keys() - {"the most nodes"}:
            said(CASES[name])
    missed = watch._analyze(str(PROGRAM))
    assert (sorted(missed.missing), dict(missed.missing_branch_arcs())) == ([], {})


def test_changed_programs_are_noticed():
    first = 40 * (TODAY % 50)
    assert [told for told in alive(first, first + 40) if not told.endswith(tuple(EQUIVALENT))] == []


# -- writing


@pytest.mark.slow
@pytest.mark.parametrize(("network", "task"), [("torus:64x64", "alltoall"), ("torus:32x32x32", "allgather")])
def test_a_large_invariant_schedule_has_a_small_certificate(network, task):
    schedule = gossamer.plan(network, task).schedule
    content = certificate_text(certificate(schedule, []))
    assert len(content) < 5_000_000
    assert said(content).startswith("accepted")


def test_what_cannot_be_checked_is_not_written():
    with pytest.raises(ScheduleError, match="a certificate is of a store-and-forward schedule"):
        certificate(gossamer.plan("torus:3x3", "broadcast", switching="wormhole").schedule)
    both = Together([gossamer.task("reduce"), gossamer.task("broadcast")], waits=[(1, 0)])
    with pytest.raises(ScheduleError, match="collectives that wait for others"):
        certificate(gossamer.plan("ring:4", both).schedule)
    good = gossamer.plan("ring:4", "broadcast").schedule
    late = good.replace(slot=[0, 0, 0])
    with pytest.raises(ScheduleError, match="the schedule has no certificate: row 2 carries nothing"):
        certificate(late)


def test_a_streamed_plan_has_no_certificate():
    plan = gossamer.plan("array:4x4", gossamer.task("permutation", destination=list(range(15, -1, -1))), stream=True)
    with pytest.raises(ScheduleError, match="not kept"):
        plan.certificate()


# -- commands


def command(capsys, *words: Any) -> tuple[int, str, str]:
    """Run gossamer and return its exit status and what it printed."""
    status = main([str(word) for word in words])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_a_schedule_file_is_certified_and_its_certificate_verified(capsys, tmp_path):
    plan, cert, other = tmp_path / "plan.parquet", tmp_path / "plan.cert.json", tmp_path / "other.cert.json"
    status, out, _ = command(capsys, "plan", "ring:5", "allgather", "-o", plan, "--certificate", other)
    assert status == 0
    assert f"wrote{other}" in "".join(out.split())
    status, out, err = command(capsys, "certify", plan, "-o", cert)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "accepted"
    assert out.splitlines()[-1] == f"wrote {cert}"
    assert cert.read_bytes() == other.read_bytes()
    status, told, _ = command(capsys, "verify", cert)
    assert (status, told) == (0, "\n".join(out.splitlines()[:-1]) + "\n")
    status, told, _ = command(capsys, "verify", cert, "--json")
    assert json.loads(told)["accepted"] is True
    assert json.loads(told)["lines"] == out.splitlines()[:-1]


def test_a_design_is_certified_on_all_networks_of_its_size(capsys, tmp_path):
    cert = tmp_path / "best.cert.json"
    words = ("design", "--nodes", 12, "--degree", 2, "--one-way", "--rounds", 4, "--top", 2, "--certificate", cert)
    status, out, err = command(capsys, *words)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == f"wrote {cert}"
    lines = gossamer_check.check(cert.read_bytes())
    where = "on all networks of 12 nodes and at most degree 2, 1 step or more a packet and link"
    assert lines[-1] == f"ratio            1: optimal among schedules of these packets, {where}"
    data = json.loads(cert.read_bytes())
    assert data["claim"] == {"time": "13", "bound": "13"}
    few = but(data, bound__degree=1)
    assert said(few) == "refused: a node has too many links, or one-way ones"
    status, _, err = command(capsys, *words, "--task", "alltoall", "--task", "allgather")
    assert (status != 0, err) == (True, "gossamer: --certificate goes with one --task; try: gossamer design -h\n")
    several = design(12, 2, ["alltoall", "allgather"], rounds=1, top=1)
    with pytest.raises(ScheduleError, match="a certificate is of one task, and the design is for 2"):
        several.certificate()
    with pytest.raises(ScheduleError, match=r"all networks of that size can be certified: .* among ranks alone"):
        everywhere_certificate(gossamer.plan("star:3", "neighbor-exchange").schedule, 2)


def test_a_false_certificate_has_status_1(capsys, tmp_path):
    false = tmp_path / "false.cert.json"
    false.write_bytes(certificate_text(but(BROADCAST, claim__time="1")))
    reason = "row 1 ends after the last slot"
    assert command(capsys, "verify", false) == (1, "", f"refused: {reason}\n")
    status, told, _ = command(capsys, "verify", false, "--json")
    assert (status, json.loads(told)["refused"]) == (1, reason)
    assert command(capsys, "verify", false, "--compare")[0] != 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["plan", "ring:4", "allgather", "--certificate", "x.txt"], "a certificate is .cert.json"),
        (["plan", "ring:4", "allgather", "--bytes", "1kB,2kB", "--certificate", "x.json"], "at one size"),
        (["plan", "ring:4", "allgather", "--stream", "--certificate", "x.json"], "--stream keeps no hops"),
        (["plan", "torus:3x3", "broadcast", "--switching", "wormhole", "--certificate", "x.json"], "store-and-forward"),
    ],
)
def test_commands_refuse_what_has_no_certificate(capsys, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    status, _, err = command(capsys, *words)
    assert status != 0
    assert told in err
    assert list(tmp_path.iterdir()) == []


# -- the schema


def fits(schema: Any, value: Any) -> bool:
    """Whether a value fits the words of JSON schema that are used here."""
    if schema is True:
        return True
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    if "type" in schema and type(value) is not kinds[schema["type"]]:
        return False
    if "const" in schema and (type(value), value) != (type(schema["const"]), schema["const"]):
        return False
    checks = [
        "enum" not in schema or value in schema["enum"],
        "anyOf" not in schema or any(fits(each, value) for each in schema["anyOf"]),
        "minimum" not in schema or value >= schema["minimum"],
        "maximum" not in schema or value <= schema["maximum"],
        "pattern" not in schema or re.search(schema["pattern"], value) is not None,
        "minItems" not in schema or len(value) >= schema["minItems"],
        not schema.get("uniqueItems") or len({json.dumps(x) for x in value}) == len(value),
        "items" not in schema or all(fits(schema["items"], x) for x in value),
        all(key in value for key in schema.get("required", [])),
    ]
    known = schema.get("properties", {})
    if isinstance(value, dict):
        checks += [fits(known[key], inner) for key, inner in value.items() if key in known]
        checks.append(schema.get("additionalProperties", True) or set(value) <= set(known))
    return all(checks)


def test_the_schema_takes_what_the_checker_takes():
    schema = json.loads((ROOT / "docs" / "reference" / "certificate.schema.json").read_text(encoding="utf-8"))
    assert fits(schema, json.loads(certificate_text(gossamer.plan("ring:4", "allreduce").certificate())))
    refused = 0
    for name, line in SAID.items():
        try:
            data = json.loads(CASES[name])
        except (ValueError, RecursionError):
            continue
        if line.startswith("accepted"):
            assert fits(schema, data), name
        elif "has not the form" in line:
            refused += not fits(schema, data)
    assert refused > 60


def schema_of(form: Any) -> Any:
    """The JSON schema of a form of the checker."""
    if isinstance(form, tuple):
        return {"anyOf": [schema_of(each) for each in form]}
    if isinstance(form, list):
        return {"type": "array", "items": schema_of(form[0])}
    if isinstance(form, dict):
        needed = [key for key, value in form.items() if not gossamer_check.fits(None, value)]
        known = {key: schema_of(value) for key, value in form.items()}
        return {"type": "object", "required": needed, "additionalProperties": False, "properties": known}
    if isinstance(form, range):
        return {"type": "integer", "minimum": form.start, "maximum": form.stop - 1}
    if isinstance(form, str):
        words = {"pattern": f"^{form}$"} if "[" in form else {"enum": form.split("|")}
        return {"type": "string", **words}
    return {bool: {"type": "boolean"}, None: {"type": "null"}, object: True}[form]


def test_the_schema_is_the_form_that_the_checker_looks_for():
    schema = json.loads((ROOT / "docs" / "reference" / "certificate.schema.json").read_text(encoding="utf-8"))
    assert {key: schema.pop(key) for key in ("$schema", "title")}
    assert schema == schema_of(gossamer_check.CERTIFICATE)


def test_the_pages_have_every_key():
    pages = ("reference/certificates.md", "explanation/certified_bounds.md")
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in pages)
    text = (ROOT / "docs" / "reference" / "certificate.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    keys = {key for path in places(schema) if path and path[-1] == "properties" for key in _at(schema, path)}
    assert {key for key in keys if f"`{key}`" not in page} == set()


def test_the_example_of_the_page_is_accepted_and_prints_what_is_shown():
    page = (ROOT / "docs" / "reference" / "certificates.md").read_text(encoding="utf-8")
    example, told = re.findall(r"```(?:json|text)\n(.*?)\n```", page, re.DOTALL)
    assert gossamer_check.check(example.encode()) == told.splitlines()


def test_a_certificate_that_memory_does_not_hold_is_refused_before_it_is_written(monkeypatch):
    from gossamer.networks import parse
    from gossamer.planning import certificates
    from gossamer.schedules import Symmetry

    monkeypatch.setattr(certificates, "free_memory", lambda: 10_000)
    schedule = gossamer.plan("array:5", "broadcast").schedule
    assert certificate(schedule)["claim"]["time"] == "4"
    schedule = gossamer.plan("torus:4x4", "allgather").schedule.expand()
    with pytest.raises(
        TooLargeError, match=r"^a certificate of 240 transfers needs about 288 kB .*about 8 transf.*fit$"
    ):
        certificate(schedule)
    net = parse("leaf-spine:2,2,2")  # whose spines stay where they are
    half = Symmetry(net, permutations=[[2, 3, 0, 1, 5, 4, 6, 7]])
    one = gossamer.Schedule(net, gossamer.task("alltoall"), gossamer.Rules(), [0] * 9, [0] * 9, [0] * 9, symmetry=half)
    assert not half.free
    with pytest.raises(TooLargeError, match=r"^a certificate of 18 transfers"):
        certificate(one)
    monkeypatch.setattr(certificates, "_WRITTEN_OUT", 0)
    with pytest.raises(TooLargeError, match=r"^a certificate of 9 transfers"):
        certificate(one)


def test_one_orbit_is_stored_of_a_symmetry_that_leaves_switches_where_they_are(monkeypatch):
    from gossamer.planning import certificates

    plan = gossamer.plan("leaf-spine:4,2,2", "alltoall").schedule  # whose members leave some spines where they are
    every = certificate(plan, [])
    monkeypatch.setattr(certificates, "_WRITTEN_OUT", 0)
    found = certificate(plan, [])
    assert not plan.symmetry.free
    assert len(found["schedule"]["slot"]) * plan.symmetry.order == len(every["schedule"]["slot"])
    assert said(found).split(" | ")[-2] == said(every).split(" | ")[-2]
    assert judged(found) is None
