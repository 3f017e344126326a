"""The files that a project is expected to have say what the project says elsewhere."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import gossamer

ROOT = Path(__file__).parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_is_of_this_version_and_license():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    lines = text("CITATION.cff").splitlines()
    assert f"version: {gossamer.__version__}" in lines
    assert f"license: {project['license']}" in lines


def test_the_workflow_and_the_hooks_call_what_the_check_calls():
    assert "bash .ci/run" in text(".github/workflows/ci.yml")
    check = text("check")
    for command in ("ruff check", "ruff format --check", "lint-imports", "-m mypy"):
        assert command in check
        assert command in text(".pre-commit-config.yaml")


def test_the_container_installs_extras_that_exist():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    command = json.loads(text(".devcontainer/devcontainer.json"))["postCreateCommand"]
    extras = command.split(".[", 1)[1].split("]", 1)[0].split(",")
    assert set(extras) <= set(project["optional-dependencies"])


def test_the_readme_names_every_extra_that_users_install():
    extras = set(tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"])
    rows = text("README.md").partition("| extra | for |")[2].partition("\n\n")[0]
    assert extras - {"test", "docs", "dev"} <= set(re.findall(r"`(\w+)`", rows))
    assert "pip install '.[mpi]'" in text("README.md")


def test_pages_point_to_files_that_exist():
    for page in ("CODE_OF_CONDUCT.md", ".github/pull_request_template.md"):
        for name in text(page).split("](")[1:]:
            assert (ROOT / page).parent.joinpath(name.split(")", 1)[0]).exists(), (page, name)


def test_the_versioned_docs_are_built_as_the_check_builds_them():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    config = text(".readthedocs.yaml")
    assert "configuration: docs/conf.py" in config
    assert "fail_on_warning: true" in config
    assert "docs" in project["optional-dependencies"]
    assert config.rstrip().endswith("- docs")


def test_every_fragment_is_of_a_kind_that_the_release_notes_have():
    kinds = {kind["directory"] for kind in tomllib.loads(text("pyproject.toml"))["tool"]["towncrier"]["type"]}
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != ".gitignore"]
    assert fragments or f"## {gossamer.__version__} (" in text("CHANGELOG.md")
    for path in fragments:
        assert path.name.split(".")[-2] in kinds, path.name
        assert path.read_text(encoding="utf-8").strip()


@pytest.fixture(scope="module")
def versions():
    """The script of CI that tests the wheel with other versions."""
    path = ROOT / ".ci" / "versions"
    if not path.exists():
        pytest.skip("needs a clone of the repository")
    loader = importlib.machinery.SourceFileLoader("versions", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("versions", loader))
    loader.exec_module(module)
    return module


def test_the_lowest_declared_dependencies_are_those_that_ci_installs(versions):
    declared = tomllib.loads(text("pyproject.toml"))["project"]["dependencies"]
    assert [Requirement(line) for line in versions.lowest()] == [
        Requirement(f"{found.name}=={each.version}")
        for found in map(Requirement, declared)
        for each in found.specifier
        if each.operator == ">="
    ]
    assert all([each.operator for each in Requirement(line).specifier].count(">=") == 1 for line in declared)


def test_the_oldest_python_that_ci_tries_is_the_oldest_that_is_allowed(versions):
    allowed = SpecifierSet(tomllib.loads(text("pyproject.toml"))["project"]["requires-python"])
    assert versions.pythons() == ["3.11", "3.12", "3.13"]
    assert [v in allowed for v in ("3.10", *versions.pythons())] == [False, True, True, True]


def test_what_ci_runs_on_other_versions_is_there_and_in_the_sdist(versions):
    assert ".ci/versions --also" in text(".ci/run")
    packed = tomllib.loads(text("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in (*versions.TESTS, versions.PROGRAM):
        assert (ROOT / name).exists(), name
        assert name.split("/")[0] in packed
    compile(text(versions.PROGRAM), versions.PROGRAM, "exec")


@pytest.mark.parametrize("version", ["", "two", "0.2", "0.2.0;true"])
def test_a_release_asks_for_a_version_and_changes_nothing_without(version):
    before = text("src/gossamer/version.py")
    done = subprocess.run(
        [ROOT / "packaging" / "release", *filter(None, [version])], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "VERSION" in done.stderr or "three numbers" in done.stderr
    assert text("src/gossamer/version.py") == before


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/code_map.md"])
def test_the_guides_name_modules_that_exist(page):
    folders = ("src", "tests", "docs", "benchmarks")
    files = {f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in (ROOT / folder).rglob("*.py")}
    example = {"src/gossamer/algorithms/<task>/<name>.py"}
    named = {name for name in re.findall(r"`([\w/]+\.py)`", text(page)) if name not in example}
    assert len(named) > 10
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)] == []


def test_first_pages_of_packages_name_what_is_in_them():
    wrong = []
    for file in sorted((ROOT / "src" / "gossamer").rglob("__init__.py")):
        told = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        inside = "\n".join(path.read_text(encoding="utf-8") for path in file.parent.rglob("*.py"))
        modules = {path.stem for path in file.parent.rglob("*")} | {file.parent.name, "gossamer"}
        named = sorted(set(re.findall(r"(?<!`)`([a-z][a-z0-9_]*)`(?!`)", told)) - modules)
        known = [rf"\b(def|class|as) {name}\b|^{name}\b.*=|^ +{name} ?[:=]" for name in named]
        wrong += [
            (file.parent.name, name)
            for name, pattern in zip(named, known, strict=True)
            if not re.search(pattern, inside, re.MULTILINE)
        ]
    assert wrong == []


def test_every_planted_fault_stands_once_in_its_file():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks/mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutants)
    faults = list(mutants.table(text("benchmarks/mutations.txt")))
    assert len(faults) > 300
    for fault in faults:
        assert mutants.replaced(ROOT / "src", fault) != text(f"src/gossamer/{fault.file}")
        for test in fault.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in text(f"tests/{file}"), (fault.fault, test)
