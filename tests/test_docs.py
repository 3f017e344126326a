"""What the pages show is what happens: Python blocks run, links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
PAGES = [p for p in PAGES if "_build" not in p.parts]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Return (language, code, first line) of every fenced block."""
    text = page.read_text(encoding="utf-8")
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


def name(page):
    return str(page.relative_to(ROOT))


WITH_PYTHON = [p for p in PAGES if any(language in ("python", "pycon") for language, _, _ in blocks(p))]
LONG = ("docs/how_to/design.md",)
"""Pages whose blocks take twenty seconds."""


def run_session(code, names, page, line):
    """Run a block of prompts and outputs."""
    report = io.StringIO()
    test = doctest.DocTestParser().get_doctest(code, names, name(page), name(page), line - 1)
    failed = doctest.DocTestRunner().run(test, out=report.write, clear_globs=False).failed
    names.update(test.globs)
    assert failed == 0, report.getvalue()


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.slow) if name(p) in LONG else p for p in WITH_PYTHON], ids=name
)
def test_python_blocks_of_a_page_run_in_order_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    previous, printed = "", ""
    for language, code, line in blocks(page):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (line - 1) + code, str(page), "exec", dont_inherit=True), names)
            printed = out.getvalue()
        elif language == "pycon":
            run_session(code, names, page, line)
        elif language == "text" and previous == "python":
            assert printed == code, f"{name(page)}:{line} shows an output that the block before it does not print"
        previous = language


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_pages_lead_to_files(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def test_first_page_gives_the_commands_of_the_readme():
    readme, index = ((ROOT / path).read_text(encoding="utf-8") for path in ("README.md", "docs/index.md"))
    commands = [line for line in index.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert all(command in readme for command in commands)


WORDS = [
    "rank",
    "chunk",
    "busbw",
    "all-reduce",
    "all-gather",
    "all-to-all",
    "ring-allreduce",
    "recursive-doubling",
    "Bruck",
    "Rabenseifner",
    "NVLink",
    "InfiniBand",
    "dragonfly",
    "topology",
    "bisection",
    "deadlock",
    "virtual-channel",
    "latency",
    "throughput",
    "NCCL",
    "RCCL",
    "SHARP",
    "MSCCL",
    "mesh",
    "hypercube",
    "store-and-forward",
    "cut-through",
    "multicast",
    "incast",
    "congestion",
    "makespan",
    "LogP",
    "LogGP",
    "alpha-beta",
    "GPU",
    "TPU",
    "SimGrid",
    "pipelining",
    "wormhole",
    "barrier",
    "Cayley",
]


@pytest.mark.parametrize("word", WORDS)
def test_the_search_finds_the_words_of_the_field(word):
    """Sphinx's search finds what stands on a page, with hyphens and blanks as ends of words."""
    form = re.compile(rf"\b{word.replace('-', '[ -]')}", re.IGNORECASE)
    assert any(form.search(page.read_text(encoding="utf-8")) for page in PAGES)


BESIDE = {"schedules": ["verification"]}
"""Packages whose names stand on the pages of another."""


@pytest.mark.parametrize("package", ["networks", "questions.tasks", "schedules"])
def test_every_public_name_of_a_package_stands_on_one_of_its_pages(package):
    """Their pages list names one by one, so that none is longer than ten screens."""
    folder = ROOT / "docs" / "api" / package.rpartition(".")[2]
    text = "\n".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    listed = re.findall(r"^\.\. auto(?:class|function):: (\w+)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    modules = [importlib.import_module(f"gossamer.{name}") for name in (package, *BESIDE.get(package, ()))]
    assert {name for module in modules for name in module.__all__ if not name.isupper()} == set(listed)


@pytest.fixture(scope="module")
def conf():
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_of_the_explorer_that_stand_on_pages_are_made(conf):
    sources = [src for p in PAGES for src in re.findall(r'<iframe src="(.*?)"', p.read_text(encoding="utf-8"))]
    assert sorted(sources) == sorted(f"../_static/{page}.html" for page in conf.explored())
    assert conf.explored()["explorer_servers"]().schedule.network.spec == "edges:two_servers.edges"


def test_old_addresses_of_pages_lead_to_the_new_ones(conf):
    moved = conf.moved()
    assert moved["getting_started"] == "tutorials/getting_started"
    assert moved["reproduce_han"] == "papers/han"
    assert moved["explanation/beside_mpi"] == moved["beside_mpi"] == "results/beside_mpi"
    assert all((ROOT / "docs" / f"{new}.md").exists() for new in moved.values())
    assert not any((ROOT / "docs" / f"{old}.md").exists() for old in moved)


WITH_FORMULAS = sorted((ROOT / "docs/explanation").glob("*.md"))
_PLAIN = re.compile(
    r"\b(?:ceil|floor|sqrt|log2)\(|[A-Za-z)][²³]|\bT_[sc]\b|\bt_p\b|\b\w\^\w|[<>]= ?\d|\b[A-Za-z] x [A-Za-z]\b"
)


@pytest.mark.parametrize("page", [p for p in WITH_FORMULAS if "made by" not in p.read_text()[:20]], ids=name)
def test_formulas_of_explanations_are_set(page):
    text = re.sub(r"^```.*?^```$|\$\$.*?\$\$|`[^`\n]*`|\$[^$\n]*\$", " ", page.read_text(), flags=re.M | re.S)
    assert _PLAIN.findall(text) == []


def test_the_kinds_of_pictures_on_the_page_are_those_that_there_are():
    from gossamer.plots import KINDS

    table = (ROOT / "docs/how_to/figures_for_a_paper.md").read_text().partition("| `--kind` |")[2].partition("\n\n")[0]
    first = " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))
    named = {*re.findall(r"`(\w+)`", first), "heat"}
    assert named == set(KINDS) - {"both"}
