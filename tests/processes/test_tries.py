"""Tries of a search in several processes: taken in their order, the same whoever carries them out, gone at the end."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError, ModelError
from gossamer.networks import from_networkx
from gossamer.processes import search_trials as module
from gossamer.processes.search_trials import Trials
from gossamer.questions.cases import Case


@pytest.fixture
def at_once(monkeypatch):
    """Hand out every try, however little it takes."""
    monkeypatch.setattr(module, "_WORTH", 0.0)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_is_slow_at_first_is_still_first(at_once):
    with Trials(2) as tries:
        assert [a for a, _ in tries.in_order(time.sleep, [(0.4,), (0.0,), (0.1,)])] == [(0.4,), (0.0,), (0.1,)]


def test_processes_are_kept_for_another_search_and_end_with_the_last(at_once):
    with Trials(2) as tries:
        list(tries.in_order(time.sleep, [(0.5,), (0.5,)]))
        workers = {w.process.pid for w in tries._pool._workers}
        list(tries.in_order(time.sleep, [(0.5,), (0.5,)]))
        assert workers == {w.process.pid for w in tries._pool._workers}
        assert len(workers) == 2
        assert all(map(alive, workers))
    assert not any(map(alive, workers))
    assert [n for _, n in tries.in_order(math.isqrt, [(9,)])] == [3]  # by this process, from now on
    assert tries._pool is None


def test_what_takes_no_time_starts_no_process():
    with Trials(4) as tries:
        assert [n for _, n in tries.in_order(math.isqrt, [(k * k,) for k in range(100)])] == list(range(100))
        assert tries._pool is None


def test_a_try_whose_process_is_killed_is_made_again(at_once):
    said, killed = [], []

    def progress(text):
        said.append(text)
        if text.startswith("try 2") and not killed:
            killed.append(tries._pool._workers[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)

    with Trials(2, progress=progress) as tries:
        assert [a for a, _ in tries.in_order(time.sleep, [(0.5,), (0.5,), (0.0,)])] == [(0.5,), (0.5,), (0.0,)]
    assert killed
    assert not alive(killed[0])


def test_a_try_that_kills_its_processes_is_one_line(at_once):
    with Trials(2) as tries, pytest.raises(GossamerError, match=r"^a try of a search failed: its process died 3 times"):
        list(tries.in_order(os._exit, [(3,)]))


def test_an_error_of_a_try_is_that_of_the_search(at_once):
    with Trials(2) as tries:
        tries.expect("flooding", 5.0, 0)
        with pytest.raises(ModelError, match=r"nodes must be a whole number in 1\.\."):
            list(tries.in_order(gossamer.reading.whole, [(0, "nodes", 1)]))
        with pytest.raises(ValueError, match="nonnegative"):
            list(tries.in_order(math.isqrt, [(-1,)]))


def test_no_more_are_begun_than_the_memory_holds():
    tries = Trials(8, memory=2_000_000_000)
    tries.expect("flooding", 100.0, 100_000_000)
    assert tries.at_once == 6
    tries.expect("flooding", 100.0, 900_000_000)
    assert tries.at_once == 1
    assert list(tries.in_order(math.isqrt, [(16,)])) == [((16,), 4)]
    assert tries._pool is None


def test_a_case_goes_to_a_process_without_what_was_computed():
    case = Case(gossamer.network("jellyfish:n=12,d=3,seed=1"), gossamer.task("allgather"), seed=3).within(
        7.0, Trials(2)
    )
    case.tell_floor(gossamer.lower_bounds(case.network, case.task)[0].value)
    assert case.messages.count == case.demands[0].hubs.size == 12
    sent = pickle.dumps(case)
    found = pickle.loads(sent)
    assert len(sent) < 20_000
    assert not found._known
    assert (found.seed, found.budget, found.floor, found.tries.jobs) == (3, 7.0, case.floor, 1)
    assert (found.network, found.task, found.rules) == (case.network, case.task, case.rules)


def twelve(number):
    return from_networkx(nx.random_regular_graph(4, 24, seed=number), "some nodes")


@pytest.mark.parametrize(
    ("task", "algorithm", "timed", "jobs"),
    [
        ("allgather", "greedy-flooding", False, 2),
        ("reduce-scatter", "reversed-greedy-flooding", True, 3),
        ("alltoall", "congestion-priced-paths", False, 2),
        ("allreduce", "pipelined-trees", True, 2),
    ],
)
def test_the_plan_is_the_same_whatever_the_number_of_processes(at_once, monkeypatch, task, algorithm, timed, jobs):
    monkeypatch.setattr("gossamer.algorithms.multinode_broadcast.greedy_flooding._TRIES", 6)
    network = twelve(1)
    if timed:
        draw = np.random.default_rng(5)
        network = network.with_times(draw.integers(1, 5, network.link_count), draw.integers(0, 3, network.link_count))
    said = []
    alone, several = (
        gossamer.plan(network, task, algorithm=algorithm, jobs=count, seed=2, progress=said.append)
        for count in (1, jobs)
    )
    assert alone.schedule == several.schedule
    assert any(f"{jobs} at once" in text for text in said if text.startswith("try "))
    assert several.case.tries.jobs == 1  # nobody waits for more


def test_jobs_are_a_number():
    with pytest.raises(ModelError, match=r"jobs must be a whole number in 1\.\.1024, got 0"):
        gossamer.plan("ring:4", "allgather", jobs=0)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_an_interrupted_plan_leaves_no_process():
    code = (
        "import gossamer.processes.search_trials as t, gossamer.cli.app as a, signal, sys; t._WORTH = 0.0; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # ignored by what a shell has put in background
        "sys.argv = ['gossamer', 'plan', 'jellyfish:n=200,d=4,seed=1', 'allreduce', '--algorithm', 'pipelined-trees', "
        "'--jobs', '2']; from gossamer.__main__ import main; main()"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while len(members(command.pid)) < 3 and time.monotonic() < deadline and command.poll() is None:
        time.sleep(0.05)
    assert len(members(command.pid)) == 3
    os.kill(command.pid, signal.SIGINT)
    said = command.communicate(timeout=30)[1].decode()
    assert command.returncode == 130
    assert "Traceback" not in said
    while members(command.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not members(command.pid)


def members(session):
    """Return the processes of a session that have not ended."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[0] != "Z" and int(words[3]) == session:
                found.append(int(folder.name))
    return found
