"""The command line as someone meets it who has never seen it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gossamer.cli.doctor
from command_lines import parsed, tree
from gossamer.cli import main
from gossamer.cli.advice import with_advice
from gossamer.cli.command_group import EXAMPLES, MORE_COMMANDS, PURPOSES, TOUR
from gossamer.cli.doctor import EXTRAS, NEEDED
from gossamer.cli.old_spellings import in_new_words
from test_docs import PAGES, ROOT, blocks

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


def said(capsys, *words):
    status = main(words)
    out, err = capsys.readouterr()
    return status, out, err


def test_every_command_has_one_purpose_and_an_example():
    _, _, known = tree()
    assert [name for _, names in PURPOSES for name in names] == list(
        dict.fromkeys(name for _, names in PURPOSES for name in names)
    )
    assert set(EXAMPLES) == set(known)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_a_command_line_that_is_understood(name, capsys):
    assert f"gossamer {name}" in EXAMPLES[name] or name in ("sweep run", "simulate schedule")
    parsed(EXAMPLES[name])
    words = shlex.split(EXAMPLES[name].partition("gossamer ")[2])
    assert in_new_words(words) == words


def test_examples_of_the_help_work_one_after_the_other(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick = ("plan", "bounds", "demands", "network", "list", "verify", "draw", "explore", "explain", "export")
    for name in (*quick, "import", "routes", "place", "simulate", "deadlock", "manual"):
        words = shlex.split(EXAMPLES[name])
        assert main(words[1:]) == 0, (name, capsys.readouterr().err)
    for what in ("networks", "tasks", "schemes hypercube:6", "formats"):
        assert main(["list", *what.split()]) == 0, (what, capsys.readouterr().err)
    assert {"plan.parquet", "plan.xml", "page.html", "gossamer.1"} <= {path.name for path in tmp_path.iterdir()}


def test_help_shows_what_a_newcomer_needs_and_names_the_rest(capsys):
    status, out, _ = said(capsys, "-h")
    assert (status, out) == said(capsys, "--help")[:2]
    shown = re.findall(r"^  (\w+)  +[A-Z]", out, re.MULTILINE)
    assert shown == [name for _, names in PURPOSES for name in names if name not in MORE_COMMANDS]
    assert 12 <= len(shown) <= 16
    assert f"gossamer -h all ({', '.join(MORE_COMMANDS)})" in " ".join(out.split())


def test_help_on_all_shows_every_command_under_its_purpose_with_its_example(capsys):
    status, out, _ = said(capsys, "-h", "all")
    assert (status, out) == said(capsys, "--help-all")[:2] == said(capsys, "--help", "all")[:2]
    assert "More commands" not in out
    places = [out.index(f"\n{purpose}:\n") for purpose, _ in PURPOSES]
    assert places == sorted(places)
    for purpose, names in PURPOSES:
        for name, example in names.items():
            assert out.index(f"\n{purpose}:\n") < out.index(f"\n  {name} ") < out.index(f"$ {example}\n")


@pytest.mark.parametrize("name", ["plan", "simulate traffic", "sweep report"])
def test_help_of_a_command_ends_with_its_example_and_sorts_its_options(name, capsys):
    status, out, _ = said(capsys, *name.split(), "-h", "all")
    assert status == 0
    assert out == said(capsys, *name.split(), "--help-all")[1]
    assert out.rstrip().endswith(EXAMPLES[name])
    if name == "plan":
        headings = re.findall(r"^(\w[\w ]*):$", out, re.MULTILINE)
        assert headings[:3] == ["Arguments", "Network", "Task"]
        assert headings.index("Rules") < headings.index("Search") < headings.index("Rarely needed")
        assert out.index("Search:") < out.index("--effort") < out.index("Output:")


@pytest.mark.parametrize(
    "name", [name for name, (command, _) in tree()[2].items() if name not in ("simulate", "sweep")]
)
def test_help_of_every_command_fits_on_a_screen_and_all_of_it_is_a_word_away(name, capsys):
    status, out, _ = said(capsys, *name.split(), "-h")
    assert status == 0
    lines = out.splitlines()
    assert len(lines) <= 41
    assert max(map(len, lines)) <= 80
    every = said(capsys, *name.split(), "-h", "all")[1]
    options = [o for p in tree()[2][name][0].params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")]
    assert [o for o in options if o not in every] == []
    few = [o for o in options if re.search(rf"{o}(?![-\w])", out)]
    assert (len(few) == len(options)) == (f"gossamer {name} -h all" not in out)


def test_alone_it_gives_a_short_tour_of_commands_that_are_understood(capsys):
    status, out, err = said(capsys)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) <= 24
    lines = re.findall(r"(gossamer [a-z]+ .*?)(?:  |$)", TOUR.partition("First steps")[2], re.MULTILINE)
    assert len(lines) == 10
    assert "Start here" in TOUR
    for line in lines:
        parsed(line)


@pytest.mark.parametrize("width", [50, 80, 200])
def test_lines_of_help_are_as_wide_as_the_terminal_but_for_examples(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = said(capsys, "-h", "all")
    lines = [line for line in out.splitlines() if "$ gossamer" not in line and "$ mpiexec" not in line]
    assert max(map(len, lines)) <= min(width, 110)
    assert max(map(len, lines)) > min(width, 110) - 15


def test_bold_and_color_only_where_they_are_wanted(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in said(capsys, "-h")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1mPlan\x1b[0m:" in said(capsys, "-h")[1]
    assert said(capsys, "paln")[2].startswith("\x1b[31mgossamer:\x1b[0m no command")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "".join(said(capsys, "-h")[1:]) + "".join(said(capsys, "paln")[1:])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("paln torus:8x8 allgather", "plan torus:8x8 allgather"),
        ("plan tours:8x8 allgather", "plan torus:8x8 allgather"),
        ("plan torus:8x8 algather --json", "plan torus:8x8 allgather --json"),
        ("plan torus:8x8 allgather --aglorithm best", "plan torus:8x8 allgather --algorithm best"),
        ("wormhole trafic torus:4x4", "simulate traffic torus:4x4"),
        ("simulate trafic torus:4x4", "simulate traffic torus:4x4"),
        ("reproduce hahn", "reproduce han"),
        ("plan 'tours:8x8' allgather -o 'a b.svg'", "plan torus:8x8 allgather -o 'a b.svg'"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_command_as_it_was_meant(typed, meant, capsys):
    status, out, err = said(capsys, *shlex.split(typed))
    assert (status, out) == (2, "")
    assert err.endswith(f"; try: gossamer {meant}\n")
    parsed(f"gossamer {meant}")


@pytest.mark.parametrize(
    "typed",
    [
        "plan",
        "plan torus:8x8",
        "plan nowhere.edges allgather",
        "plan torus:8x8 allgather --ports two",
        "plan torus:8x8 allgather --seed x",
        "plan torus:8x8 allgather --algorithm none-such",
        "plan star:4 partial-exchange --active 0,3 --algorithm rows-and-columns",
        "plan torus:0x8 allgather",
        "plan torus:8x8 everything-to-nobody",
        "verify nothing.parquet",
        "draw",
        "zzzz",
        "-z",
        "network",
        "sweep report",
        "demands torus:4x4 alltoall -o x.gif",
        "routes torus:4x4 -o x.gif",
        "routes torus:4x4 nothing.lft",
        "place nothing torus:4x4",
        "place ring:16 torus:4x4 -o x.gif",
        "reproduce everything",
        "compare torus:4x4 allgather --jobs 2",
    ],
)
def test_every_error_is_one_line_that_says_what_to_type_next(typed, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = said(capsys, *shlex.split(typed))
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    advised = re.search(r"(?:try: |see |')(gossamer [^']*)", err)
    assert advised, err
    parsed(advised[1].strip())


def test_a_text_that_says_what_to_type_is_left_as_it_is():
    text = "gossamer run needs MPI for Python: pip install 'gossamer[mpi]'"
    assert with_advice(text, ["run", "x"]) == text


# -- doctor, manual, completion ------------------------------------------------------------------------------------


def test_the_doctor_knows_what_the_project_needs_and_offers():
    assert set(NEEDED) == {re.match(r"[\w-]+", word)[0] for word in PROJECT["dependencies"]}
    extras = {name: words for name, words in PROJECT["optional-dependencies"].items() if name in EXTRAS}
    own = {n: [w for w in map(str, words) if not w.startswith("gossamer[")] for n, words in extras.items()}
    assert {name: tuple(re.match(r"[\w-]+", w)[0] for w in words) for name, words in own.items()} == {
        name: packages for name, (packages, _) in EXTRAS.items()
    }
    assert set(PROJECT["optional-dependencies"]) == set(EXTRAS)


def test_the_doctor_reports_versions_and_how_to_get_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(gossamer.cli.doctor, "_place", lambda word: sys.executable if word == "mpiexec" else None)
    status, out, err = said(capsys, "doctor", "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert (status, err) == (0, "")
    assert found["numpy"]["found"] == __import__("numpy").__version__
    assert found["gossamer"]["found"].startswith(gossamer.__version__)
    assert found["mpiexec"]["state"] == "good"
    assert f"Python {sys.version.split()[0]}" in found["mpiexec"]["found"]
    assert found["smpirun"] == {
        "subject": "SimGrid",
        "name": "smpirun",
        "state": "absent",
        "found": "for gossamer simulate --model smpi",
        "remedy": "apt install libsimgrid-dev",
    }
    shown = said(capsys, "doctor")[1]
    for row in found.values():
        assert row["name"] in shown
    assert "get it: apt install libsimgrid-dev" in " ".join(shown.split())


def test_the_doctor_ends_with_status_1_where_something_needed_is_missing(capsys, monkeypatch):
    versions = gossamer.cli.doctor._version
    monkeypatch.setattr(gossamer.cli.doctor, "_version", lambda name: None if name == "scipy" else versions(name))
    monkeypatch.setattr(gossamer.cli.doctor, "_place", lambda word: None)
    status, out, _ = said(capsys, "doctor")
    assert status == 1
    assert re.search(r"BAD +scipy +not installed\n +get it: pip install scipy\n", out)


@pytest.mark.parametrize(("places", "found"), [
    ("", f"in {Path(gossamer.__file__).parent}"),  # beside the package, if the folder given cannot be written
    ("UserProvidedCacheLocator,UserWideCacheLocator", "in {home}/"),
    ("UserProvidedCacheLocator", "no folder for them can be written"),
])  # fmt: skip
def test_the_doctor_says_where_kernels_are_kept(places, found, tmp_path):
    environment = {"NUMBA_CACHE_DIR": "/proc/1/nowhere", "NUMBA_CACHE_LOCATOR_CLASSES": places,
                   "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", "from gossamer.cli import doctor; print(*doctor._caches())"],
                          env={**os.environ, **environment}, capture_output=True, text=True, check=True)  # fmt: skip
    assert found.format(home=tmp_path) in done.stdout
    assert ("state='absent'" in done.stdout) == found.startswith("no")


def test_the_doctor_counts_the_kernels_of_all_modules(tmp_path):
    code = (
        "import gossamer\n"
        "from gossamer.cli import doctor\n"
        "from gossamer.jit import uninterpreted\n"
        "with uninterpreted():\n    gossamer.plan('ring:3', 'broadcast')\n"
        "print(*doctor._caches())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
                          capture_output=True, text=True, check=True)  # fmt: skip
    count = len(list(tmp_path.rglob("*.nbi")))
    assert len([*tmp_path.iterdir()]) > 1 < count  # a folder for each module
    assert f"{count} kernels" in done.stdout
    assert f"in {tmp_path}'" in done.stdout


def test_the_manual_has_every_command_and_option(tmp_path):
    from gossamer.cli.doctor import manual_page

    _, context, known = tree()
    page = manual_page(context.find_root())
    for name, (command, _) in known.items():
        if not hasattr(command, "list_commands"):
            section = page.partition(f".SH GOSSAMER {name.upper()}\n".replace("-", "\\-"))[2].partition("\n.SH ")[0]
            for option in (o for p in command.params for o in p.opts if o.startswith("--")):
                assert option.replace("-", "\\-") in section, (name, option)
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert "gossamer plan torus:8x8 allgather -o plan.parquet" in re.sub(r"\x1b\[\d+m", "", done.stdout)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("gossamer pl", {"plan"}),
        ("gossamer plan tor", {"torus:16x16x16"}),
        ("gossamer plan torus:8x8 allg", {"allgather"}),
    ],
)
def test_the_shell_completes_commands_networks_and_tasks(typed, offered):
    words = {"_GOSSAMER_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [sys.executable, "-m", "gossamer"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    assert offered <= set(done.stdout.split()), (done.stdout, done.stderr)
    assert "replan" not in done.stdout.split()


def test_help_asks_for_no_color_when_it_is_kept_in_a_file():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["plan", "-h"]) == 0
    assert "\x1b" not in out.getvalue()


def command_lines():
    """Yield the commands in the blocks of the pages that are shown and not run, with their pages."""
    for page in PAGES:
        for language, code, _ in blocks(page):
            if language == "sh":
                for line in code.replace("\\\n", " ").splitlines():
                    if re.match(r"(mpiexec .* )?gossamer ", line):
                        yield str(page.relative_to(ROOT)), re.split(r"; | \| | > (?!\d)| +# ", line)[0].strip()


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines())))
def test_every_command_that_a_page_shows_is_understood(page, line):
    parsed(line)
    if page != "docs/reference/cli.md":  # generated: its lines are EXAMPLES
        words = shlex.split(line.partition("gossamer ")[2])
        assert in_new_words(words) == words
