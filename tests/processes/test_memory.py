"""The memory that is left: the least of what the machine, the groups of processes and the process itself have."""

from __future__ import annotations

import pytest

from gossamer.processes import memory
from gossamer.processes.memory import free_memory

VERSIONS = {
    2: ("0::", ("memory.max", "memory.current", "inactive_file")),
    1: ("4:cpu,memory:", ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file")),
}
"""How each version of Linux's groups begins the line of a membership, and calls limit, use and what is given back."""


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Returns a function that makes a group, of which this process becomes a member."""

    def made(version, path, limit, used, files, member=None):
        begins, (limit_name, used_name, files_name) = VERSIONS[version]
        (tmp_path / "membership").write_text(f"7:blkio:/else\n{begins}{member or path}\n")
        for name, text in (
            (limit_name, f"{limit}\n"),
            (used_name, f"{used}\n"),
            (limit_name.rpartition("memory.")[0] + "memory.stat", f"anon 5\n{files_name} {files}\n{files_name}_x 9\n"),
        ):
            folder, _, last = name.rpartition("/")
            place = tmp_path / folder / path.strip("/")
            place.mkdir(parents=True, exist_ok=True)
            (place / last).write_text(text)

    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "membership")
    return made


def test_the_memory_that_is_left_is_known():
    left = free_memory()
    assert left is None or left > 10_000_000


def test_a_limit_of_the_process_is_a_limit(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda which: (1, 1))
    assert free_memory() == 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("path", "member"),
    [("/", "/"), ("/jobs/step", "/jobs/step"), ("/jobs", "/jobs/step"), ("/", "/docker/of-the-host")],
    ids=["container", "itself", "above", "not seen"],
)
def test_a_limit_of_a_group_of_processes_is_a_limit(group, version, path, member):
    group(version, path, 1_000, 700, 0, member)
    assert free_memory() == 300


@pytest.mark.parametrize("version", VERSIONS)
def test_pages_of_files_that_nobody_used_lately_are_not_missed(group, version):
    group(version, "/job", 1_000, 700, 600)
    assert free_memory() == 900


@pytest.mark.parametrize("version", VERSIONS)
def test_a_group_above_its_limit_has_nothing_left(group, version):
    group(version, "/job", 1_000, 1_200, 0)
    assert free_memory() == 0


@pytest.mark.parametrize(("version", "unlimited"), [(2, "max"), (1, "9223372036854771712"), (2, "?"), (1, "")])
def test_a_group_without_a_limit_leaves_what_the_machine_has(group, version, unlimited):
    group(version, "/job", unlimited, 700, 0)
    left = free_memory()
    assert left is None or left > 10_000_000


def test_where_nothing_is_said_the_memory_of_the_machine_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "none")
    monkeypatch.setattr(memory, "_limit_of_process", list)
    monkeypatch.setattr(memory, "Path", lambda place: tmp_path / "none")
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 5, "SC_PAGE_SIZE": 4096}.__getitem__, raising=False)
    assert free_memory() == 20480
    monkeypatch.delattr("os.sysconf")
    assert free_memory() is None
