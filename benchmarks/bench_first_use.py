"""The first use of gossamer on a machine: CPU time of one command, with no kernel compiled before.

    python benchmarks/bench_first_use.py [--only WORD ...] [--limit SECONDS]

Each line is one process that begins with an empty folder of compiled kernels. Printed are the CPU seconds of it and of
its children (the clock on the wall depends on what else runs; a busy machine lengthens CPU time too, by up to a
quarter), and the kernels that were compiled. Lines over the limit are marked. Stated limit: 5 s.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FILES = (
    "plan torus:4x4 allgather -o plan.parquet",
    "plan torus:4x4 alltoall -o exchange.parquet",
    "plan ring:8 allreduce -o allreduce.parquet",
    "plan torus:4x4 allgather --switching wormhole -o worms.parquet",
    "plan torus:8x8 partial-multinode-broadcast --active random:20 --switching wormhole -o partial.parquet",
    "export plan.parquet --to msccl-xml -o plan.xml",
    "sweep --network ring:{4..6} --task allgather -o rings.parquet",
    "demands ring:8 allreduce --groups 0-3;4,5 -o groups.csv",
)
"""What later lines read."""

LINES = (
    "",
    "--help",
    "list networks",
    "list tasks",
    "list algorithms star:4 --task alltoall",
    "list schemes hypercube:6",
    "list formats",
    "manual",
    "doctor",
    "network dragonfly:4,2",
    "network torus:8x8",
    "network {examples}/machines/two_servers.edges",
    # the README and the first pages of the documentation
    "plan torus:8x8 allgather -o new.parquet",
    "plan torus:8x8x8 allreduce",
    "plan torus:8x8x8 allgather",
    "plan torus:8x8 alltoall",
    "plan {examples}/machines/two_servers.edges allreduce --bytes 64MiB",
    "faults {examples}/machines/two_servers.edges allgather",
    "sweep --network torus:{2..4}x{4..6} --task allgather,alltoall -o tori.parquet",
    "plan array:16x16 permutation --pattern transpose --algorithm Q",
    "plan torus:8x8 allgather --ports one",
    "plan array:8x8 scatter --root 27",
    "plan array:8x8 partial-multinode-broadcast --active random:20",
    "plan torus:8x8 alltoallv --traffic zipf:packets=64,exponent=1 --seed 1",
    "plan ring:8 demands --demands groups.csv",
    "plan torus:4x4 neighbor-exchange --graph hypercube:4",
    "plan array:16x16 one-to-many-routing --pattern random:20 --algorithm H",
    "compare hypercube:4 alltoall",
    "bounds torus:8x8 alltoall",
    "demands ring:4 alltoall -o table.csv",
    # ten families, ten tasks
    "plan ring:8 broadcast",
    "plan ring:8 allreduce",
    "plan array:4x4 gather",
    "plan array:4x4 alltoall",
    "plan hypercube:4 reduce-scatter",
    "plan hypercube:4 scatter",
    "plan star:4 alltoall",
    "plan star:4 broadcast",
    "plan fat-tree:2,4 allreduce",
    "plan fat-tree:2,4 alltoall",
    "plan dragonfly:4,2 allgather",
    "plan dragonfly:4,2 alltoall",
    "plan kautz:2,3 broadcast",
    "plan kautz:2,3 alltoall",
    "plan kautz:2,3 allreduce",
    "plan leaf-spine:2,2,1 allreduce",
    "plan leaf-spine:4,2,4 alltoall",
    "plan de-bruijn:2,3 allgather",
    "plan complete:8 reduce",
    "plan complete:8 alltoall",
    "plan generalized-hypercube:4x4 reduce",
    "plan slim-fly:q=5 allgather",
    "plan dgx-a100:servers=2 allreduce --bytes 1MB",
    "plan ccc:3 allreduce",
    # rules and costs
    "plan torus:4x4 alltoall --ports one",
    "plan torus:4x4 allreduce --ports half-duplex-one",
    "plan torus:4x4 allgather --segmented",
    "plan torus:4x4 allgather --buffer 3",
    "plan torus:4x4 alltoall --stream",
    "plan ring:4 allreduce --bytes 64kB --bandwidth 50GB/s --latency 2us",
    "plan fat-tree:2,4 allgather --bytes 1MB --bandwidth 50GB/s --latency 2us",
    "compare ring:8 allreduce --bytes 1kB,1MB --bandwidth 50GB/s --latency 2us",
    "faults ring:8 allgather",
    "replan plan.parquet --without links:0-1",
    "replan exchange.parquet --without links:0-1",
    # wormhole
    "plan torus:4x4 broadcast --switching wormhole",
    "plan torus:4x4 allgather --switching wormhole",
    "plan torus:4x4 alltoall --switching wormhole",
    "plan torus:10x10 partial-multinode-broadcast --active random:20 --switching wormhole --startup 100000",
    "plan kautz:2,2 alltoall --switching wormhole",
    "simulate wormhole worms.parquet",
    "simulate wormhole partial.parquet --starts dependencies",
    "simulate traffic torus:4x4 --load 0.2",
    "simulate traffic array:4x4 --load 0.1:0.3:0.1 --virtual-channels 4",
    "simulate saturation torus:4x4",
    "deadlock torus:8x8",
    # random arrivals
    "simulate arrivals hypercube:4 --load 0.5 --steps 2000",
    "simulate arrivals torus:4x4 --load 0.2 --steps 200 --arrivals on-off",
    # files
    "verify plan.parquet",
    "verify worms.parquet",
    "verify plan.xml --network torus:4x4",
    "draw plan.parquet -o load.svg",
    "draw plan.parquet -o plan.gif",
    "explore plan.parquet -o page.html",
    "explain plan.parquet --message 5",
    "simulate plan.parquet --bytes 1MB",
    "simulate allreduce.parquet --bytes 1MB",
    "export plan.parquet --to msccl-xml -o new.xml",
    "export plan.parquet --to goal -o new.goal",
    "export allreduce.parquet --to program -o new.json",
    "import plan.xml --network torus:4x4 -o back.parquet",
    # studies
    "sweep --network ring:{4..8} --task allgather -o new-rings.parquet",
    "sweep report rings.parquet",
    "design --nodes 16 --degree 4 --task allgather --budget 2",
    "reproduce han",
)

CALLS = (
    "gossamer.verify(gossamer.plan('torus:8x8', 'allgather').schedule)",
    "s = gossamer.plan('torus:8x8', 'allgather').schedule; s.reverse().then(s).completion_time",
    "gossamer.plan('ring:5', 'alltoall').schedule",
    "gossamer.plan('fat-tree:2,4', 'allreduce').bound",
    "gossamer.compare('star:4', 'allgather')",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=(), metavar="WORD", help="lines that contain one of these")
    parser.add_argument("--limit", type=float, default=5.0, metavar="SECONDS")
    asked = parser.parse_args()
    commands = [(f"gossamer {line}", ["-m", "gossamer", *shlex.split(filled(line))]) for line in LINES]
    commands += [(call, ["-c", f"import gossamer; {call}"]) for call in CALLS]
    chosen = [c for c in commands if not asked.only or any(word in c[0] for word in asked.only)]
    over, most = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for line in FILES:
            first_use(["-m", "gossamer", *shlex.split(filled(line))], folder, Path(folder, "kept"))
        print(f"{'first use':92}{'CPU s':>7}  kernels")
        for name, arguments in chosen:
            with tempfile.TemporaryDirectory() as kept:
                seconds, status = first_use(arguments, folder, Path(kept))
                kernels = sorted(path.name.split("-")[0].split(".")[-1] for path in Path(kept).rglob("*.nbi"))
            mark = " over" if seconds > asked.limit else ""
            told = f"{len(kernels)}: {' '.join(kernels)}" if kernels else "none"
            print(f"{name:92}{seconds:7.2f}  {told}{mark}{f' (status {status})' if status else ''}", flush=True)
            over += seconds > asked.limit
            most = max(most, seconds)
    print(f"{len(chosen)} first uses, the longest {most:.1f} s, {over} over {asked.limit:g} s")


def filled(line: str) -> str:
    """Return a line with the folder of the examples in it."""
    return line.replace("{examples}", str(ROOT / "examples"))


def first_use(arguments: list[str], folder: str, kept: Path) -> tuple[float, int]:
    """Return CPU seconds and status of a process of Python that finds compiled kernels in `kept` alone."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.returncode


if __name__ == "__main__":
    main()
