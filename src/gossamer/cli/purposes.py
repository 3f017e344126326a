"""What the commands are for: their purposes in the help, each command with an example that runs."""

from __future__ import annotations

__all__ = ["EXAMPLES", "PURPOSES", "TOUR"]

PURPOSES: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Plan",
        {
            "plan": "gossamer plan torus:8x8 allgather -o plan.parquet",
            "compare": "gossamer compare hypercube:4 alltoall",
            "bounds": "gossamer bounds torus:8x8 alltoall",
            "demands": "gossamer demands ring:4 alltoall -o table.csv",
            "replan": "gossamer replan plan.parquet --without links:0-1",
            "faults": "gossamer faults ring:8 allgather",
        },
    ),
    (
        "Look up",
        {
            "network": "gossamer network dragonfly:4,2",
            "networks": "gossamer networks",
            "tasks": "gossamer tasks",
            "algorithms": "gossamer algorithms --network star:4 --task alltoall",
            "schemes": "gossamer schemes hypercube:6",
            "formats": "gossamer formats",
        },
    ),
    (
        "See and check a schedule",
        {
            "verify": "gossamer verify plan.parquet",
            "draw": "gossamer draw plan.parquet -o load.svg",
            "explore": "gossamer explore plan.parquet -o page.html",
            "explain": "gossamer explain plan.parquet --message 5",
        },
    ),
    (
        "Run it, hand it on, take it in",
        {
            "run": "mpiexec -n 16 gossamer run plan.parquet",
            "simulate": "gossamer simulate plan.parquet --bytes 1MB",
            "export": "gossamer export plan.parquet --to msccl-xml -o plan.xml",
            "import": "gossamer import plan.xml --network torus:8x8 -o back.parquet",
        },
    ),
    (
        "Study",
        {
            "design": "gossamer design --nodes 16 --degree 4 --task allgather",
            "sweep": "gossamer sweep --network 'ring:{4..8}' --task allgather -o rings.parquet",
            "dynamic": "gossamer dynamic hypercube:4 --load 0.5 --steps 2000",
            "wormhole": "gossamer wormhole traffic torus:4x4 --load 0.2",
            "reproduce": "gossamer reproduce han",
        },
    ),
    (
        "This program",
        {
            "compile": "gossamer compile",
            "doctor": "gossamer doctor",
            "manual": "gossamer manual -o gossamer.1",
        },
    ),
)
"""The commands by what they are for, in the order of the help, each with an example."""

WITHIN = {
    "sweep run": PURPOSES[4][1]["sweep"],
    "sweep report": "gossamer sweep report rings.parquet",
    "sweep merge": "gossamer sweep merge rings.parquet more.parquet -o all.parquet",
    "wormhole traffic": PURPOSES[4][1]["wormhole"],
    "wormhole saturation": "gossamer wormhole saturation torus:4x4",
    "wormhole routing": "gossamer wormhole routing torus:4x4",
    "wormhole run": "gossamer wormhole run worms.parquet",
}
"""Examples of the commands within a group."""

EXAMPLES = {name: example for _, commands in PURPOSES for name, example in commands.items()} | WITHIN
"""An example for each command."""

TOUR = """\
gossamer plans collective communication on interconnection networks: explicit
schedules, each proved valid by an independent checker, beside a lower bound.

First steps:

  gossamer plan torus:8x8 allgather -o plan.parquet    a schedule beside its bound
  gossamer explore plan.parquet -o page.html           watch it in a browser
  gossamer explain plan.parquet                        what happens, slot by slot
  gossamer compare torus:8x8 alltoall                  which algorithms there are

Four doors:

  I have a cluster    gossamer network FILE                       what its tools print
                      gossamer plan FILE allreduce --bytes 64MiB
  I write a library   gossamer verify THEIRS.xml --network torus:4x4
                      gossamer export plan.parquet --to msccl-xml -o plan.xml
  I need a figure     gossamer draw plan.parquet -o load.pdf
  I read a paper      gossamer reproduce han

All commands: gossamer -h. What is installed here: gossamer doctor.
"""
"""What the command prints alone."""
