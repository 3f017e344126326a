"""Commands that are ended at random moments: a small part of what ``python tests/faults/kills.py`` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and ended by signals")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["save", "save as text", "sweep", "export", "export of a folder", "explorer"])
def test_a_command_that_is_ended_leaves_what_was_there_or_what_will_be(name):
    command = [sys.executable, str(Path(__file__).with_name("kills.py")), "--kills", "8", "--processes", "1"]
    done = subprocess.run([*command, "--only", name], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    for signal in ("SIGINT", "SIGTERM", "SIGKILL"):
        assert f"{name}: 9 of {signal}: " in done.stdout
