"""Every collective over PyTorch's gloo and NCCL, in processes of whatever Python has PyTorch."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.interchange import export

HERE = Path(__file__).parent
GROUPS = {  # of array:2x2; between 0 and 3 somebody passes messages on
    "equal": ((0, 1), (3, 2)),
    "unequal": ((1, 0, 3), (2,)),
    "idle": ((0, 3),),
    "overlapping": ((0, 1, 2), (3, 2)),
}
TASKS = ("allgather", "alltoall", "reduce-scatter", "allreduce", "broadcast", "reduce", "gather", "scatter")


@functools.cache
def python_with_torch() -> str | None:
    """Return a Python that has PyTorch with gloo: this one, or the system's, which then reads program files only."""
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists():
            words = [python, "-c", "import torch.distributed as d; assert d.is_available()"]
            if subprocess.run(words, capture_output=True, check=False, timeout=120).returncode == 0:
                return python
    return None


def run_over(backend, script, *words):
    """Return what processes print over a backend."""
    python = python_with_torch()
    if python is None:
        pytest.skip("PyTorch is not installed (Debian: python3-torch)")
    if backend == "nccl" and subprocess.run(
        [python, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True, check=False
    ).returncode:  # fmt: skip
        pytest.skip("there is no device for NCCL")
    environment = {**os.environ, "PYTHONPATH": str(Path(gossamer.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [python, str(HERE / script), *words], capture_output=True, text=True, timeout=240, check=False,
        env={**environment, "BACKEND": backend},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("network", ["array:2x2", pytest.param("hypercube:3", marks=pytest.mark.slow)])
def test_every_collective_is_that_of_pytorch(tmp_path, network, backend):
    net = gossamer.network(network)
    for task in TASKS:
        rooted = task in ("broadcast", "reduce", "gather", "scatter")
        asked = gossamer.task(task, **({"root": 1} if rooted else {}))
        for split in (False, True):
            schedule = gossamer.plan(net, asked, rules=gossamer.Rules(split=split)).schedule
            export(schedule, tmp_path / f"{task}-{split}.program", "program")
    for size in (64, 65536):  # partial sums of whole messages, and of chunks more than a vector has elements
        cost = gossamer.TimeCost(bytes=size, bandwidth="50GB/s", latency="2us", form="sums")
        export(gossamer.plan(net, "allreduce", cost=cost).schedule, tmp_path / f"sums-{size}.program", "program")
    export(gossamer.plan("ring:3", "allgather").schedule, tmp_path / "other.of_three", "program")
    names = []
    for task in (*TASKS, "partial-sum-allreduce") if network == "array:2x2" else ():
        for kind, groups in GROUPS.items():
            if task == "partial-sum-allreduce" and min(map(len, groups)) < 2:
                continue
            fields = {"root": min(map(len, groups)) - 1} if task in TASKS[4:] else {}
            asked = gossamer.task(task, groups=groups, **fields)
            export(gossamer.plan(net, asked).schedule, tmp_path / f"{task}-{kind}.grouped", "program")
            names.append(f"{task}-{kind} equal")
    half = gossamer.plan(f"complete:{net.node_count // 2}", "allgather").schedule
    export(half, tmp_path / "half.of_half", "program")
    told = run_over(backend, "processes.py", str(tmp_path), str(net.node_count))
    assert told.count(": equal") == net.node_count
    assert set(names) <= set(told.splitlines())


def trained_beside_pytorch(folder, backend):
    """Return what four processes print that call planned collectives and train with the hook, beside PyTorch's own."""
    network, sizes, choices = "hypercube:2", (1024, 65536), {"bandwidth": "50GB/s", "latency": "2us"}
    tasks = ("allreduce", "allgather", "reduce-scatter", "alltoall", "broadcast", "reduce")
    files = gossamer.execution.programs_by_size.prepare(network, folder, tasks=tasks, sizes=sizes, **choices)
    assert len(set(files)) == len(tasks) * len(sizes)
    return run_over(backend, "planned.py", str(folder), "4", json.dumps([network, choices, sizes, tasks]))


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_planned_collectives_and_a_training_step_are_those_of_pytorch(tmp_path, backend):
    told = trained_beside_pytorch(tmp_path, backend)
    assert told.count(": equal") == 4
    assert told.count("all_reduce of") == 2


def test_without_pytorch_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NotApplicableError, match=r"execution\.torch needs PyTorch: pip install 'gossamer\[torch\]'"):
        gossamer.execution.torch.TorchCollective("plan.program")
