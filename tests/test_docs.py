"""What the pages show is what happens: Python blocks run, links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
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


def run_session(code, names, page, line):
    """Run a block of prompts and outputs."""
    report = io.StringIO()
    test = doctest.DocTestParser().get_doctest(code, names, name(page), name(page), line - 1)
    failed = doctest.DocTestRunner().run(test, out=report.write, clear_globs=False).failed
    names.update(test.globs)
    assert failed == 0, report.getvalue()


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
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
