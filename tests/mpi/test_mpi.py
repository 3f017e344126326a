"""Real MPI: many ranks on few cores, few launches of which each covers much."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError, NetworkError, ScheduleError
from gossamer.execution.mpi.collectives import numbered_by_ranks, read_nodes
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.interchange import export, import_schedule
from gossamer.questions.tasks import PartialSumAllreduce
from interchange.msccl_algorithms import ALGORITHMS, msccl_xml
from programs.test_random_programs import some_collective
from schedules.test_partial_sums import drawn, random_network, random_rows

HERE = Path(__file__).parent
SCRIPTS = Path(sysconfig.get_path("scripts"))
LAUNCHER = SCRIPTS / "mpiexec"
SECONDS = 240

needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or not LAUNCHER.exists(), reason="the extra 'mpi' is not installed"
)


def launched(ranks, *command, seconds=SECONDS):
    paths = [str(Path(gossamer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [str(LAUNCHER), "-n", str(ranks), *map(str, command)],
        env=environment, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip


@pytest.mark.mpi
@needs_mpi
def test_sixteen_ranks_get_what_mpis_own_collectives_give():
    done = launched(16, sys.executable, "-m", "mpi4py", HERE / "ranks.py")
    assert "47 checks passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.mpi
@needs_mpi
def test_the_command_runs_a_file_and_compares(tmp_path):
    gossamer.plan("hypercube:2", "allgather").save(tmp_path / "plan.parquet")
    (tmp_path / "nodes").write_text("# rank, node\n0 3\n1 (1)\n3 0\n2, 2\n")
    command = (sys.executable, "-m", "gossamer", "run", tmp_path / "plan.parquet")
    done = launched(4, *command, "--check", "--bytes", "8,64kB", "--repeat", "2", "--nodes", tmp_path / "nodes")
    assert done.returncode == 0, done.stdout + done.stderr
    first, head, *rows = done.stdout.splitlines()
    assert first == "allgather on hypercube:2, 4 ranks"
    assert [row.split()[-1] for row in rows] == ["equal", "equal"]
    assert [row.split()[0] for row in rows] == ["8", "64,000"]
    assert head.split()[-3:] == ["x", "MPI", "bytes"]
    done = launched(3, *command)
    assert done.returncode != 0
    assert done.stderr.count("gossamer: hypercube:2 has 4 nodes; there are 3 ranks") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.mpi
@needs_mpi
def test_a_plan_that_repeats_runs_at_three_sizes(tmp_path):
    steady = Generation(gossamer.plan("hypercube:2", gossamer.task("allreduce", packets=3)).schedule).repeated(7)
    assert steady.generations == 7
    steady.save(tmp_path / "plan.parquet")
    command = (sys.executable, "-m", "gossamer", "run", tmp_path / "plan.parquet")
    done = launched(4, *command, "--check", "--bytes", "8,64kB,1MB", "--repeat", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row.split()[-1] for row in done.stdout.splitlines()[2:]] == ["equal"] * 3


ROOTED = ("broadcast", "reduce", "gather", "scatter")
GROUPS = {
    "equal": ((0, 1, 2), (3, 4, 5)),
    "unequal": ((1, 0), (5, 4, 3, 2)),
    "idle": ((0, 4), (5, 2)),
    "overlapping": ((0, 1, 2, 3), (5, 2, 3), (4,)),
}


def replaced_while_sent(n):
    """Return a schedule of partial sums in which node 0 sends its sum while the result comes that takes its place."""
    rows = [(0, 0, 1), (0, 1, 0), (0, 2, 3), (0, 3, 2), (1, 0, 3), *((1, v, 3) for v in range(4, n))]
    rows += [(2, 0, 1), (2, 3, 0), (2, 3, 2), *((2, 3, v) for v in range(4, n)), (3, 0, 1)]
    slot, source, target = np.array(rows).T
    net = gossamer.network(f"complete:{n}")
    link = net.links_between(source, target)
    return gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), slot, link, np.zeros_like(slot))


def random_sums(seed, n):
    """Return a random valid schedule of partial sums, of which some links take time where the seed is odd."""
    draw = np.random.default_rng(seed)
    while True:
        net = random_network(draw, timed=seed % 2 == 1)
        if net.node_count == n:
            times = {"link_occupancy": net.link_occupancy, "link_latency": net.link_latency}
            net = gossamer.Network("random", n, net.link_source, net.link_target, **times, links_only=True)
            rows = random_rows(draw, net, range(n), 4 * n)
            schedule = drawn(net, PartialSumAllreduce(), [(0, row) for row in rows])
            with suppress(ScheduleError):
                if gossamer.verify(schedule) and gossamer.lower(schedule):
                    return schedule


@pytest.mark.mpi
@needs_mpi
def test_random_partial_sums_give_what_mpis_own_allreduce_gives(tmp_path):
    for seed in range(12):
        random_sums(seed, 5).save(tmp_path / f"{seed}.parquet")
    done = launched(5, sys.executable, "-m", "mpi4py", HERE / "files.py", tmp_path)
    assert sorted(done.stdout.split()) == sorted([f"{v}" for v in range(12)] + ["equal"] * 12), (
        done.stdout + done.stderr
    )


def test_what_replaces_a_sum_that_is_being_sent_waits_for_the_send():
    mine = gossamer.lower(replaced_while_sent(4)).rank(0)
    assert mine.kind.tolist() == [0, 2, 0, 0, 1, 0]
    assert mine.after.tolist() == [-1, -1, 1, 2, 3, 4]
    assert mine.slot[3] == mine.slot[4] == 2


@pytest.mark.mpi
@needs_mpi
def test_every_collective_in_groups_gives_what_mpis_own_does_on_their_communicators(tmp_path):
    names = []
    for name in ("allgather", "alltoall", "reduce-scatter", "allreduce", *ROOTED):
        for kind, groups in GROUPS.items():
            fields = {"root": min(map(len, groups)) - 1} if name in ROOTED else {}
            if kind == "equal":
                fields["packets"] = 3
            path = tmp_path / f"{name}-{kind}.parquet"
            split = gossamer.Rules(split=kind == "idle")
            gossamer.plan("ring:6", gossamer.task(name, groups=groups, **fields), rules=split).save(path)
            names.append(path)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        task = some_collective(rng, 6)
        network = ("ring:6", "array:2x3", "complete:6")[seed % 3]
        gossamer.plan(network, task, rules=gossamer.Rules(split=seed % 2 == 1)).save(tmp_path / f"{seed}.parquet")
        names.append(tmp_path / f"{seed}.parquet")
    done = launched(6, sys.executable, "-m", "mpi4py", HERE / "groups.py", *names)
    assert done.stdout.splitlines() == [*(f"{path.stem} equal" for path in names), "all is well"], done.stderr


@pytest.mark.mpi
@needs_mpi
@pytest.mark.parametrize("ranks", [8, 12, pytest.param(16, marks=pytest.mark.slow)])
def test_algorithms_written_by_hand_give_what_mpis_own_allreduce_gives(tmp_path, ranks):
    (tmp_path / "plans").mkdir()
    for name, rounds in ALGORITHMS.items():
        for form in ({}, {"scratch": True}):
            (tmp_path / "x.xml").write_text(msccl_xml(rounds(ranks), ranks, **form))
            found = import_schedule(tmp_path / "x.xml", f"complete:{ranks}")
            found.save(tmp_path / "plans" / f"{name}{' by scratch' * len(form)}.parquet")
    replaced_while_sent(ranks).save(tmp_path / "plans" / "replaced while sent.parquet")
    done = launched(ranks, sys.executable, "-m", "mpi4py", HERE / "files.py", tmp_path / "plans")
    lines = sorted(done.stdout.splitlines())
    assert len(lines) == 2 * len(ALGORITHMS) + 1, done.stdout + done.stderr
    assert all(line.endswith(" equal") for line in lines), lines


@pytest.mark.mpi
@needs_mpi
def test_a_rank_that_dies_ends_all(tmp_path):
    script = tmp_path / "dies.py"
    script.write_text(
        "import os, signal, numpy as np\nfrom mpi4py import MPI\nfrom gossamer.execution import mpi\n"
        "comm = MPI.COMM_WORLD\ngather = mpi.Allgather(comm, 'ring:3')\n"
        "if comm.rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "gather(np.zeros(1), np.zeros(3))\n"
    )
    done = launched(3, sys.executable, "-m", "mpi4py", script, seconds=60)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.mpi
@needs_mpi
@pytest.mark.parametrize("error", ["gossamer.errors.TaskError", "ValueError"])
def test_an_error_of_one_rank_ends_the_run_of_all(tmp_path, error):
    gossamer.plan("ring:3", gossamer.task("allgather", groups=[[0, 2]])).save(tmp_path / "plan.parquet")
    script = tmp_path / "fails.py"
    script.write_text(
        "import sys, gossamer\nfrom mpi4py import MPI\nfrom gossamer.cli import main\n"
        "from gossamer.cli import export as command\nfrom gossamer.execution.executor import Execution\n"
        f"def fails(self):\n    raise {error}('no memory')\n"
        "command._SECONDS = 1.0\n"
        "if MPI.COMM_WORLD.rank == 2:\n    Execution.run = fails\n"
        f"sys.exit(main(['run', {str(tmp_path / 'plan.parquet')!r}]))\n"
    )
    done = launched(3, sys.executable, script, seconds=60)
    assert done.returncode != 0
    assert "gossamer: rank 2: " in done.stderr
    assert "no memory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.mpi
@needs_mpi
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_executor_in_c_gives_what_mpis_own_collectives_give(tmp_path):
    plans = []
    for i, (network, task, split) in enumerate(
        [("torus:4x4", "allgather", False), ("hypercube:4", "allgather", True), ("torus:4x4", "alltoall", False),
         ("hypercube:4", "reduce-scatter", True), ("torus:4x4", "allreduce", True)]
    ):  # fmt: skip
        schedule = gossamer.plan(network, task, rules=gossamer.Rules(split=split)).schedule
        export(schedule, tmp_path / f"plan{i}", "c")
        plans += [task, tmp_path / f"plan{i}" / "plan.program"]
    export(replaced_while_sent(16), tmp_path / "sums", "program")
    plans += ["allreduce", tmp_path / "sums"]
    export(gossamer.plan("ring:5", "allgather").schedule, tmp_path / "small", "program")
    (tmp_path / "broken").write_bytes((tmp_path / "plan0" / "plan.program").read_bytes()[:900])
    source = tmp_path / "plan0"
    compiler = [
        SCRIPTS / "mpicc",
        "-std=c11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I",
        source,
        source / "gossamer.c",
    ]
    subprocess.run([*compiler, HERE / "check.c", "-o", tmp_path / "check"], check=True)
    subprocess.run([*compiler, source / "main.c", "-o", tmp_path / "run"], check=True)
    others = ["small", tmp_path / "small", "broken", tmp_path / "broken", "none", tmp_path / "none"]
    done = launched(16, tmp_path / "check", *plans, *others)
    assert done.stdout.splitlines() == [
        "small: the program is for another number of ranks",
        "broken: the program file is damaged",
        "none: the program file cannot be read",
        "6 equal, 0 different",
    ]
    done = launched(16, tmp_path / "run", plans[1], 1000, 2)
    assert done.stdout.startswith("8000 bytes a message: ")


def test_without_mpi_the_command_says_what_is_missing(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    gossamer.plan("ring:3", "allgather").save(tmp_path / "plan.parquet")
    assert main(["run", str(tmp_path / "plan.parquet")]) == 2
    told = "gossamer: gossamer run needs MPI for Python: pip install 'gossamer[mpi]'; or add --over sockets\n"
    assert capsys.readouterr().err == told


def test_nodes_of_ranks_are_read_by_number_or_coordinates(tmp_path):
    network, path = gossamer.network("torus:2x3"), tmp_path / "nodes"
    path.write_text("0: (1,2)\n1 0 0\n\n2, 1  # a number\n5 4\n4 3\n3 2\n")
    assert read_nodes(path, network) == [5, 0, 1, 2, 3, 4]
    for text, told in (
        ("0 1\n0 2\n", "line 2: rank 0 is there twice"),
        ("0 1\n2 2\n", "no line for rank 1"),
        ("zero 1\n", "line 1: want a rank and a node"),
        ("0\n", "line 1: want a rank and a node"),
    ):
        path.write_text(text)
        with pytest.raises(FileFormatError, match=told):
            read_nodes(path, network)
    path.write_text("0 9\n")
    with pytest.raises(NetworkError, match=r"node 9 is outside 0\.\.5"):
        read_nodes(path, network)
    with pytest.raises(FileFormatError, match="no such file"):
        read_nodes(tmp_path / "none", network)


@pytest.mark.parametrize("task", ["allgather", "alltoall", "allreduce"])
def test_a_schedule_numbered_by_ranks_is_valid(task):
    turned = numbered_by_ranks(gossamer.plan("torus:3x3", task).schedule, [4, 5, 6, 7, 8, 0, 1, 2, 3])
    assert gossamer.verify(turned)
    assert turned.completion_time == gossamer.plan("torus:3x3", task).completion_time
