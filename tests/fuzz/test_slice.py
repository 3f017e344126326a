"""A small part of what ``python tests/fuzz/run.py`` runs for long."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).with_name("run.py")


def test_a_slice_of_command_lines_and_files_shows_no_fault():
    """A third of sixty each, another every day."""
    first = 20 * (datetime.date.today().toordinal() % 3)
    asked = ["--commands", "20", "--files", "20", "--processes", "0", "--seed", "7", "--first", str(first)]
    done = subprocess.run([sys.executable, str(RUN), *asked], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "0 command lines in processes of their own; 0 found in all" in done.stdout
    assert "20 commands, seed 7: " in done.stdout
    assert "20 files, seed 7: " in done.stdout
