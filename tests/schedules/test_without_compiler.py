"""The kernels are plain Python too: they do the same with the compiler switched off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow  # ./check runs these tests, and others, every time
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="the compiler is off already")
def test_kernels_say_the_same_without_the_compiler():
    tests = [str(HERE / "test_violations.py"), str(HERE / "test_metrics.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "uncompiled", *tests],
        cwd=HERE.parents[1],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
