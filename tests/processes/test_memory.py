"""How much memory is left."""

from __future__ import annotations

from gossamer.processes.memory import free_memory


def test_the_memory_that_is_left_is_known():
    left = free_memory()
    assert left is None or left > 10_000_000


def test_a_limit_of_the_process_is_a_limit(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda which: (1, 1))
    assert free_memory() == 0
