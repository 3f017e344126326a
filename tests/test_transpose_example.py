"""The transposition example runs, verifies what it moves, and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "examples" / "transpose.py"


def run(*words):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False, timeout=300
    )


def test_default_matrix_is_transposed_in_fewer_steps_than_a_total_exchange():
    done = run("--network", "array:8x8")
    assert done.returncode == 0, done.stderr
    assert "all where they belong" in done.stdout
    steps = next(line for line in done.stdout.splitlines() if line.startswith("by exchange and gather"))
    fewer, total = int(steps.split()[4]), int(steps.split()[-1])
    assert 0 < fewer < total


def test_bad_network_is_told_in_one_line():
    done = run("--network", "tours:4x4")
    assert done.returncode != 0
    assert "tours" in done.stderr
    assert "Traceback" not in done.stderr
