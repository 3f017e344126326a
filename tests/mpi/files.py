"""What ranks do with every schedule of a folder: run it, and compare with MPI's own; started by test_mpi.py."""

from __future__ import annotations

import sys
from pathlib import Path

from mpi4py import MPI

from gossamer.execution.mpi.run_file import run_file

comm = MPI.COMM_WORLD
for path in sorted(Path(sys.argv[1]).iterdir()):
    text, found = run_file(comm, path, [8, 1000, 300_008], check=True, repeat=2)
    if comm.rank == 0:
        print(path.stem, "equal" if all(row.equal for row in found) else "DIFFERENT", flush=True)
