"""What a call costs over MPI on 16 ranks with 8 bytes a message: the drop-in, the persistent form, and MPI's own.

python benchmarks/bench_mpi_overhead.py [RANKS]    (needs the extra 'mpi'; on few cores, ranks take turns)

A schedule takes at least one exchange a slot, so that for small messages MPI's own algorithms, of fewer rounds, win.
What the drop-in costs beyond the persistent form: all ranks agree that the buffers are those of the last call.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from pathlib import Path

CALLS, ROUNDS = 20, 5
NETWORKS = {16: "torus:4x4", 8: "hypercube:3", 4: "ring:4"}


def seconds_a_call(comm, call):
    """Return the least seconds a call of several rounds, the slowest rank's."""
    from mpi4py import MPI

    found = []
    for _ in range(ROUNDS):
        comm.Barrier()
        begun = time.perf_counter()
        for _ in range(CALLS):
            call()
        found.append(comm.allreduce((time.perf_counter() - begun) / CALLS, op=MPI.MAX))
    return min(found)


def ranks():
    """Measure, on every rank."""
    import numpy as np
    from mpi4py import MPI

    from gossamer.execution import mpi

    comm = MPI.COMM_WORLD
    n, network = comm.size, NETWORKS[comm.size]
    one, many = np.arange(1.0), np.empty(n)
    cases = [
        (mpi.Allgather, (one, many), comm.Allgather),
        (mpi.Alltoall, (np.arange(float(n)), many), comm.Alltoall),
        (mpi.Allreduce, (np.arange(float(n)), many), comm.Allreduce),
    ]
    for kind, buffers, own in cases:
        collective = kind(comm, network)
        ready = collective.init(*buffers)
        made = [
            seconds_a_call(comm, call)
            for call in (lambda: collective(*buffers), ready.run, lambda: own(*buffers))  # noqa: B023
        ]
        if comm.rank == 0:
            slots = len(ready._slots)
            drop_in, persistent, plain = (f"{t * 1e6:,.0f} us" for t in made)
            print(
                f"{kind.__name__:<10} {network}, {slots} slots: a call {drop_in}, persistent {persistent} "
                f"({made[1] / slots * 1e6:,.0f} us a slot), MPI's own {plain}",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:] == ["ranks"]:
        ranks()
    else:
        count = sys.argv[1] if len(sys.argv) > 1 else "16"
        launcher = Path(sysconfig.get_path("scripts")) / "mpiexec"
        words = [launcher, "-n", count, sys.executable, "-m", "mpi4py", __file__, "ranks"]
        raise SystemExit(subprocess.run(list(map(str, words)), timeout=600, check=False).returncode)
