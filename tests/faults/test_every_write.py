"""Every write of every command that writes a file fails once, of more than 40 many: nothing is half written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.interchange import FORMATS

HERE = Path(__file__).parent
PARTS = 8

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="writes are made to fail by a C library of Linux"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("library") / "failing_writes.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(HERE / "failing_writes.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made


def test_every_format_is_written():
    told = (HERE / "every_write.py").read_text(encoding="utf-8")
    assert [name for name in FORMATS if f'("{name}", ' not in told] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_write_that_fails_leaves_nothing_half_written(library, tmp_path, part):
    done = subprocess.run(
        [sys.executable, str(HERE / "every_write.py"), str(tmp_path), str(part), str(PARTS)],
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["found"] == []
    assert told["commands"] >= 4
    assert told["tried"] >= 5
