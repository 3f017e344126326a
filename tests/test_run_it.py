"""Every block of the page "Run it" is carried out, in order, in one folder; and commands of pages that lead to it."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gossamer
from gossamer.cli import main
from gossamer.execution.programs_by_size import prepare
from on_torch.test_torch import python_with_torch
from test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "how_to" / "run_it.md"
SCRIPTS = Path(sysconfig.get_path("scripts"))


def environment(**more):
    paths = [str(Path(gossamer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join([str(SCRIPTS), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", **more}


def done(command, folder, **more):
    """Run a command to its end, which must be a good one."""
    found = subprocess.run(
        command, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=240, check=False
    )
    assert found.returncode == 0, (command, found.stdout[-2000:], found.stderr[-2000:])
    return found.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands of the console blocks have been carried out."""
    place = tmp_path_factory.mktemp("run_it")
    with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
        for language, code, _ in blocks(PAGE):
            if language == "console":
                for line in code.splitlines():
                    if line.startswith("$ gossamer "):
                        assert main(line.split()[2:]) == 0, line
    return place


def chosen(language, *words):
    found = [code for kind, code, _ in blocks(PAGE) if kind == language and all(word in code for word in words)]
    assert found
    return found


def test_the_files_that_the_commands_name_are_there(folder):
    assert {"plan.parquet", "theirs.xml", "theirs.goal", "four.program"} <= {p.name for p in folder.iterdir()}


@pytest.mark.mpi
@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or not (SCRIPTS / "mpiexec").exists(),
    reason="the extra 'mpi' is not installed",
)
@pytest.mark.parametrize("words", [("mpiexec", "gossamer run"), ("mpicc",)], ids=["run", "c"])
def test_the_commands_over_mpi(folder, words):
    if words == ("mpicc",) and (
        shutil.which("cc") is None or shutil.which("mpicc", path=environment()["PATH"]) is None
    ):
        pytest.skip("there is no C compiler for MPI")
    for code in chosen("sh", *words):
        out = done(["bash", "-e", "-c", code], folder)
        assert "DIFFERENT" not in out


def test_the_commands_over_sockets(folder):
    here, there = chosen("sh", "--over sockets")
    assert "DIFFERENT" not in done(["bash", "-e", "-c", here], folder)
    (hosts,) = chosen("text", "# hosts")
    hosts = re.sub(r"\bbox\d|\b10\.\d+\.\d+\.\d+", "127.0.0.1", hosts)  # at the ports of their ranks
    (folder / "hosts").write_text(hosts)
    assert "--rank 2 " in there
    ranks = [
        subprocess.Popen(
            ["bash", "-e", "-c", there.replace("--rank 2", f"--rank {rank}")],
            cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True,
        )
        for rank in range(4)
    ]  # fmt: skip
    try:
        for rank in ranks:
            told, _ = rank.communicate(timeout=120)
            assert rank.returncode == 0, told
            assert told.rstrip().endswith("equal")
    finally:
        for rank in ranks:
            rank.kill()


@pytest.mark.jax
def test_the_program_in_jax(folder):
    pytest.importorskip("jax")
    for code in chosen("py", "import jax"):
        done([sys.executable, "-c", code], folder)


def test_the_program_in_pytorch(folder):
    python = python_with_torch()
    if python is None:
        pytest.skip("PyTorch is not installed (Debian: python3-torch)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    code = "\n".join(chosen("py", "torch"))
    prepare(
        "hypercube:2", folder / "gossamer" / "programs", tasks=("allreduce",), sizes=(4096,),
        bandwidth="50GB/s", latency="2us",
    )  # fmt: skip
    ranks = []
    try:
        for rank in range(4):
            words = {"RANK": str(rank), "WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            words["XDG_CACHE_HOME"] = str(folder)
            ranks.append(subprocess.Popen([python, "-c", code], cwd=folder, env=environment(**words)))
        assert [rank.wait(timeout=120) for rank in ranks] == [0, 0, 0, 0]
    finally:
        for rank in ranks:
            rank.kill()


def test_every_block_is_of_a_kind_that_is_carried_out():
    for language, code, line in blocks(PAGE):
        assert language in ("console", "python", "text", "sh", "py"), line
        if language == "sh":
            assert ("mpiexec" in code) != ("--over sockets" in code)
        if language == "py":
            assert ("import jax" in code) != ("torch" in code)


@pytest.mark.parametrize(("page", "runs"), [("four_boxes", 1), ("damaged_torus_and_slurm", 2)])
def test_from_cables_to_bytes(tmp_path, page, runs):
    for language, code, _ in blocks(PAGE.with_name(f"{page}.md")):
        commands = [each.removeprefix("$ ") for each in code.splitlines() if language == "sh" or each[:2] == "$ "]
        for command in commands if language in ("console", "sh") else ():
            told = done(["bash", "-e", "-c", command], tmp_path)
            if language == "sh":
                assert told.rstrip().endswith("equal")
                runs -= 1
    assert runs == 0
