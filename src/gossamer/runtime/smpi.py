"""Replay in SimGrid's SMPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from gossamer.errors import NotApplicableError
from gossamer.interchange.smpi import rank_rows
from gossamer.interchange.smpi_platform import write_platform
from gossamer.programs import Program

__all__ = ["smpi_time"]

NEUTRAL = ("network/crosstraffic:0", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1")
"""Settings without the corrections for protocols: a block takes its bytes over the bandwidth, and the latency."""

_SECONDS = 600


def smpi_time(
    program: Program, block_bytes: int, *, bandwidth: float = 125e6, latency: float = 1e-6, neutral: bool = True
) -> float:
    """Return the seconds that a program takes in SimGrid's SMPI, replayed as a time-independent trace.

    Parameters
    ----------
    program : Program
        What `gossamer.lower` returned.
    block_bytes : int
        Bytes of a block.
    bandwidth, latency : float
        Bytes a second and seconds of every link.
    neutral : bool
        Whether to leave out SMPI's corrections for protocols.

    Raises
    ------
    NotApplicableError
        If ``smpirun`` is not installed, or the replay fails.
    """
    command = shutil.which("smpirun")
    if command is None:
        raise NotApplicableError("smpirun is not installed; on Debian: apt-get install libsimgrid-dev")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_platform(program.network, folder, bandwidth, latency)
        for mine in program:
            (folder / f"rank-{mine.rank}.txt").write_bytes(rank_rows(mine, block_bytes))
        files = "".join(f"{folder}/rank-{r}.txt\n" for r in range(program.ranks))
        (folder / "trace.txt").write_text(files, encoding="utf-8")
        settings = [f"--cfg={s}" for s in NEUTRAL * neutral]
        done = subprocess.run(
            [command, "-np", str(program.ranks), "-platform", "platform.xml", "-hostfile", "hosts.txt", *settings,
             "-replay", "trace.txt", "--log=smpi_replay.thres:info", "--log=root.fmt:%m%n"],
            cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, timeout=_SECONDS,
            check=False,
        )  # fmt: skip
    found = re.search(r"Simulation time ([0-9.eE+-]+)", done.stdout + done.stderr)
    if done.returncode or found is None:
        reason = (done.stderr.strip() or done.stdout.strip() or "no time was printed").splitlines()[-1]
        raise NotApplicableError(f"smpirun failed: {reason}")
    return float(found[1])
