"""The executor with messages that go as early as they can or as late as they may, and over sockets."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict, deque

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError, GossamerError, ModelError, NetworkError, TaskError
from gossamer.execution.executor import Execution
from gossamer.execution.socket_runs import COLLECTIVES, _given, _wanted, run_over_sockets
from gossamer.execution.sockets import SocketCollective, read_addresses
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.interchange.format import between_ranks

SECONDS = 20.0
ROOTED = ("broadcast", "reduce", "gather", "scatter")
TASKS = ("allgather", "alltoall", "reduce-scatter", "allreduce", *ROOTED)


class Channels:
    """Messages between threads: of each pair in order, as soon as both ends began them, or only when one is needed."""

    def __init__(self, early):
        self.early = early
        self.changed = threading.Condition()
        self.sends, self.receives = defaultdict(deque), defaultdict(deque)

    def match(self, pair):
        while self.sends[pair] and self.receives[pair]:
            (given, sent), (place, came) = self.sends[pair].popleft(), self.receives[pair].popleft()
            place[...] = given
            sent.append(True)
            came.append(True)
        self.changed.notify_all()

    def need(self, done, pairs):
        """Wait until all are done; what is late is carried out now."""
        last = time.monotonic() + SECONDS
        with self.changed:
            while not all(done):
                for pair in pairs:
                    self.match(pair)
                if not all(done):
                    assert self.changed.wait(last - time.monotonic()), "the ranks wait for each other"


class ThreadBackend:
    """Copies between the threads of a process."""

    def __init__(self, channels, rank):
        self.channels, self.rank = channels, rank

    def empty(self, count):
        return np.full(count, -7, np.int64)

    def copy(self, to, given):
        to[...] = given

    def combine(self, to, came):
        to += came

    def prepare(self, receives, sends):
        return receives, sends, []

    def begin(self, requests):
        receives, sends, done = requests
        done.clear()
        with self.channels.changed:
            for queues, blocks, there in (
                (self.channels.receives, receives, lambda peer: (peer, self.rank)),
                (self.channels.sends, sends, lambda peer: (self.rank, peer)),
            ):
                for peer, block in blocks:
                    done.append([])
                    queues[there(peer)].append((block, done[-1]))
                    if self.channels.early:
                        self.channels.match(there(peer))
            self.channels.changed.notify_all()

    def complete(self, requests):
        receives, sends, done = requests
        self.channels.need(done, [(p, self.rank) for p, _ in receives] + [(self.rank, p) for p, _ in sends])

    def free(self, requests):
        """Nothing is kept."""


def carried_out(program, early, size=5):
    """Run a program in threads, twice, and compare what each rank gets."""
    channels, wrong = Channels(early), []
    task = program.task.to_dict()

    def rank(r):
        mine = program.rank(r)
        given = _given(r, mine.input_size // program.parts, size)
        got = np.full((mine.output_size // program.parts, size), -1, np.int64)
        run = Execution(mine, program.parts, size, (given.reshape(-1), got.reshape(-1)), ThreadBackend(channels, r))
        for _ in range(2):
            run.run()
            if not np.array_equal(got, _wanted(task, program.ranks, r, size)):
                wrong.append(r)
        run.free()

    threads = [threading.Thread(target=rank, args=(r,), daemon=True) for r in range(program.ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong, (task, early, wrong)


def some_plan(rng):
    """Return a plan of a random collective, in steps or in seconds, whole or in parts, of everyone or in groups."""
    specs = ("ring:5", "array:2x3", "hypercube:3", "star:3", "leaf-spine:2,2,2", "dgx-a100:2,gpus=2")
    spec, name = str(rng.choice(specs)), str(rng.choice(TASKS))
    net = gossamer.network(spec)
    fields = {"root": int(rng.integers(net.terminal_count))} if name in ROOTED else {}
    switches = net.terminal_count < net.node_count
    rules = gossamer.Rules(replication=not switches, reduction=not switches, segmented=bool(rng.random() < 0.4))
    if spec.startswith("dgx") or rng.random() < 0.4:
        own = {} if spec.startswith("dgx") else {"bandwidth": "50GB/s", "latency": "2us"}
        form = {"form": str(rng.choice(["best", "sums", "blocks"]))} if name == "allreduce" and not switches else {}
        cost = gossamer.TimeCost(bytes=int(rng.choice([64, 4096, 65536])), **own, **form)
        return gossamer.plan(net, gossamer.task(name, **fields), cost=cost, rules=rules).schedule
    if not switches and rng.random() < 0.4 and net.node_count == 6:
        groups = ((0, 1, 2), (5, 4)) if rng.random() < 0.5 else ((0, 3, 2), (2, 5))
        fields = {"root": 1} if name in ROOTED else {}
        return gossamer.plan(net, gossamer.task(name, groups=groups, **fields), rules=rules).schedule
    return gossamer.plan(net, gossamer.task(name, **fields), rules=rules).schedule


@pytest.mark.parametrize("part", [0, 1, *(pytest.param(p, marks=pytest.mark.slow) for p in range(2, 12))])
def test_no_order_of_messages_changes_what_a_program_gives(part):
    for seed in range(8 * part, 8 * part + 8):
        program = gossamer.lower(between_ranks(some_plan(np.random.default_rng(seed))))
        for early in (False, True):
            carried_out(program, early)


def test_slots_of_a_pipeline_overlap():
    cost = gossamer.TimeCost(bytes=65536, bandwidth="50GB/s", latency="2us")
    program = gossamer.lower(gossamer.plan("array:4", "broadcast", cost=cost).schedule)
    middle = program.rank(1)
    channels = Channels(early=True)
    places = np.zeros(middle.input_size // program.parts * 65536, np.int64), np.zeros(65536, np.int64)
    run = Execution(middle, program.parts, 65536, places, ThreadBackend(channels, 1))
    run.start()
    assert run._begun > 1  # receives of several slots are under way before the first is there


def test_an_execution_is_started_and_waited_for_in_turn():
    program = gossamer.lower(gossamer.plan("ring:3", "allgather").schedule)
    run = Execution(
        program.rank(0), 1, 1, (np.zeros(1, np.int64), np.zeros(3, np.int64)), ThreadBackend(Channels(1), 0)
    )
    with pytest.raises(ModelError, match="has not been started"):
        run.wait()
    run.start()
    with pytest.raises(ModelError, match="not waited for"):
        run.start()


def test_what_is_compared_is_each_collective():
    assert set(COLLECTIVES) >= {gossamer.task(name).name for name in TASKS}


# -- Sockets --


def in_threads(work, ranks, addresses=None):
    """Call ``work(rank, addresses, listener)`` for each rank in a thread; return what each gives or raises."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
    own = {rank: one.getsockname() for rank, one in enumerate(listeners)}
    found = [None] * ranks

    def call(rank):
        try:
            found[rank] = work(rank, addresses or own, listeners[rank])
        except GossamerError as error:
            found[rank] = error

    threads = [threading.Thread(target=call, args=(rank,), daemon=True) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    for listener in listeners:
        listener.close()
    return found


def test_every_collective_over_sockets():
    for task in TASKS:
        fields = {"root": 2} if task in ROOTED else {}
        schedule = gossamer.plan(
            "array:2x3", gossamer.task(task, **fields), rules=gossamer.Rules(segmented=True)
        ).schedule
        program = gossamer.lower(schedule)

        def work(rank, addresses, listener, program=program):
            mine = program.rank(rank)
            with SocketCollective(program, rank, addresses, listener=listener, seconds=SECONDS) as collective:
                for size in (1, 7, 20_000):
                    given = _given(rank, mine.input_size // program.parts, size)
                    got = np.full((mine.output_size // program.parts, size), -1, np.int64)
                    collective(given if given.size else None, got if got.size else None)
                    assert np.array_equal(got, _wanted(program.task.to_dict(), 6, rank, size))
            return "equal"

        assert in_threads(work, 6) == ["equal"] * 6, task


def test_other_operators_and_types_over_sockets():
    program = gossamer.lower(gossamer.plan("complete:3", "allreduce").schedule)

    def work(rank, addresses, listener):
        mine, got = np.full(3, rank + 1.5, np.float32), np.empty(3, np.float32)
        found = []
        with SocketCollective(program, rank, addresses, listener=listener, seconds=SECONDS) as collective:
            for op in ("sum", "product", "max", "min"):
                collective(mine, got, op)
                found.append(float(got[0]))
            for wrong in (
                lambda: collective(mine, got, "xor"),
                lambda: collective(mine, got.astype(int)),
                lambda: collective(mine[:2], got),
                lambda: collective(mine, np.empty((3, 2), np.float32)[:, 0]),
            ):
                with pytest.raises(TaskError):
                    wrong()
        return found

    assert in_threads(work, 3) == [[7.5, 1.5 * 2.5 * 3.5, 3.5, 1.5]] * 3


def test_a_rank_that_ends_or_hangs_or_runs_something_else_is_named():
    program = gossamer.lower(gossamer.plan("ring:3", "allgather").schedule)
    other = gossamer.lower(gossamer.plan("ring:3", "alltoall").schedule)

    def ends(rank, addresses, listener):
        with SocketCollective(program, rank, addresses, listener=listener, seconds=SECONDS) as collective:
            return None if rank == 1 else collective(np.zeros(1), np.zeros(3))

    found = in_threads(ends, 3)
    assert found[1] is None
    for error in (found[0], found[2]):
        assert isinstance(error, NetworkError)
        assert "rank" in str(error)

    def hangs(rank, addresses, listener):
        with SocketCollective(program, rank, addresses, listener=listener, seconds=0.5) as collective:
            if rank == 1:
                time.sleep(2)
                return "slept"
            return collective(np.zeros(1), np.zeros(3))

    found = in_threads(hangs, 3)
    assert found[1] == "slept"
    assert all("nothing moved for 0.5 s; waiting for rank 1" in str(found[r]) for r in (0, 2))

    def differs(rank, addresses, listener):
        asked = other if rank == 2 else program
        with SocketCollective(asked, rank, addresses, listener=listener, seconds=2):
            return "connected"

    found = in_threads(differs, 3)
    assert any("runs another program than rank" in str(error) for error in found)
    alone = in_threads(lambda r, a, one: SocketCollective(program, r, a, listener=one, seconds=0.5) if r else None, 3)
    assert "cannot reach rank 0" in str(alone[1]) or "rank 0" in str(alone[1])


def test_strangers_at_the_port_do_not_disturb():
    program = gossamer.lower(gossamer.plan("ring:3", "allgather").schedule)

    def work(rank, addresses, listener):
        if rank == 2:
            for text in (b"GET / HTTP/1.1\r\n\r\n", b"", b"gossamer" + bytes(16)):
                with socket.create_connection(addresses[0]) as stranger:
                    stranger.sendall(text + bytes(32))
            time.sleep(0.3)
        got = np.zeros(3)
        with SocketCollective(program, rank, addresses, listener=listener, seconds=SECONDS) as collective:
            collective(np.full(1, float(rank)), got)
        return got.tolist()

    assert in_threads(work, 3) == [[0.0, 1.0, 2.0]] * 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 a\n1 b\n", "has no line for rank 2"),
        ("0 a\n1 b\n2\n", "line 3: want RANK HOST"),
        ("0 a\n1 b\nx c\n", "line 3: want RANK HOST"),
        ("0 a\n1 b\n2 c\n2 d\n", "line 4: 2 stands twice"),
        ("0 a\n1 b\n3 c\n", "line 3: ranks are 0..2"),
        ("0 a\n1 b\n1 1 c\n", "line 3: ranks are 0..2, a peer another one"),
        ("0 a\n1 b\n2 c:99999\n", r"line 3: want HOST\[:PORT\]"),
        ("0 a\n1 b\n2 c:0\n", r"line 3: want HOST\[:PORT\]"),
        ("0 a\n1 b\n2 ::1\n", "an IPv6 address in brackets"),
        ("0 a b c d\n", "line 1: want RANK HOST"),
    ],
)
def test_addresses_are_refused_with_their_line(tmp_path, text, told):
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=told):
        read_addresses(path, 3)


def test_addresses_of_boxes_and_cables(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("# boxes\n0 box0\n1 [fe80::1%eth0]:7000  # by IPv6\n\n1 0 10.1.0.1:7000\n")
    found = read_addresses(path, 2)
    assert found == {0: ("box0", 24800), 1: ("fe80::1%eth0", 7000), (1, 0): ("10.1.0.1", 7000)}


def test_the_command_runs_all_ranks_here_or_one_of_them(tmp_path, capsys):
    plan = tmp_path / "plan.parquet"
    gossamer.plan("ring:3", "allgather").save(plan)
    assert main(["run", str(plan), "--over", "sockets", "--check", "--bytes", "8,64kB", "--repeat", "1"]) == 0
    first, head, *rows = capsys.readouterr().out.splitlines()
    assert first == "allgather on ring:3, 3 ranks"
    assert head.split() == ["message", "time", "bytes"]
    assert [row.split()[-1] for row in rows] == ["equal", "equal"]
    program = tmp_path / "plan.program"
    assert main(["export", str(plan), "--to", "program", "-o", str(program)]) == 0
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports = [one.getsockname()[1] for one in listeners]
    for listener in listeners:
        listener.close()
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "".join(f"{rank} 127.0.0.1:{port}\n" for rank, port in enumerate(ports)) + f"0 2 127.0.0.2:{ports[0]}\n"
    )
    command = [sys.executable, "-m", "gossamer", "run", str(program), "--over", "sockets", "--addresses", str(hosts)]
    command += ["--check", "--json", "--bytes", "64"]
    ranks = [subprocess.Popen([*command, "--rank", str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(3)]
    for rank, process in enumerate(ranks):
        told = json.loads(process.communicate(timeout=120)[0])
        assert told["what"].startswith(f"rank {rank}: ")
        assert told["runs"][0]["equal"] is True


def test_a_plan_that_repeats_and_one_with_switches_run_over_sockets(tmp_path):
    steady = Generation(gossamer.plan("hypercube:2", gossamer.task("allreduce", packets=3)).schedule).repeated(4)
    steady.save(tmp_path / "steady.parquet")
    cost = gossamer.TimeCost(bytes=4096)
    gossamer.plan("dgx-a100:2,gpus=1", "allreduce", cost=cost).save(tmp_path / "boxes.parquet")
    for name, ranks in (("steady", 4), ("boxes", 2)):
        _, count, found = run_over_sockets(tmp_path / f"{name}.parquet", [8, 4096], check=True, repeat=1)
        assert count == ranks
        assert [row.equal for row in found] == [True, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--rank", "1"], "are for --over sockets"),
        (["--over", "sockets", "--rank", "1"], "one rank needs both"),
        (["--over", "sockets", "--addresses", "HOSTS"], "one rank needs both"),
        (["--over", "sockets", "--rank", "3", "--addresses", "HOSTS"], "has ranks 0..2, not 3"),
        (["--over", "sockets", "--rank", "-1", "--addresses", "HOSTS"], "--rank"),
        (["--over", "sockets", "--nodes", "HOSTS"], "--nodes is for MPI"),
    ],
)
def test_the_command_refuses(tmp_path, capsys, words, told):
    plan, hosts = tmp_path / "plan.parquet", tmp_path / "hosts"
    gossamer.plan("ring:3", "allgather").save(plan)
    hosts.write_text("0 127.0.0.1\n1 127.0.0.1\n2 127.0.0.1\n")
    assert main(["run", str(plan), *(str(hosts) if word == "HOSTS" else word for word in words)]) == 2
    assert told in capsys.readouterr().err
