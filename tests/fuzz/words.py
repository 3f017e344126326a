"""Random command lines: the grammar is that of the command line itself, its commands, options and what they take."""

from __future__ import annotations

import functools
from random import Random
from typing import Any

NETWORKS = [
    "ring:4",
    "ring:5",
    "torus:3x3",
    "torus:4x4",
    "array:3x2",
    "array:4",
    "hypercube:2",
    "hypercube:3",
    "complete:4",
    "star:3",
    "butterfly:3",
    "ccc:3",
    "fat-tree:2,2",
    "kautz:2,2",
    "de-bruijn:2,2",
    "pancake:3",
    "bubble-sort:3",
    "leaf-spine:2,2,1",
    "petersen",
    "tree:2,2",
    "product:(ring:3)x(array:2)",
    "cayley:Z8;1,7",
    "file.edges",
    "file.json",
    "file.graphml",
    "machines.txt",
    "torus:2x2",
    "ring:3",
    "array:1",
    "complete:2",
    "dragonfly:2,1,1",
    "leaf-spine:3,2,2",
    "complete:1",
    "torus:1x1",
    "slow.edges",
]
TASKS = [
    "broadcast",
    "scatter",
    "gather",
    "multinode-broadcast",
    "allgather",
    "partial-multinode-broadcast",
    "group-multinode-broadcast",
    "allgatherv",
    "multiple-broadcast",
    "total-exchange",
    "alltoall",
    "partial-exchange",
    "partial-gather",
    "permutation",
    "one-to-many-routing",
    "reduce",
    "reduce-scatter",
    "partial-reduce-scatter",
    "multiple-reduce",
    "allreduce",
    "uneven-exchange",
    "alltoallv",
    "uneven-scatter",
    "scatterv",
    "uneven-gather",
    "gatherv",
    "neighbor-exchange",
    "halo",
    "demands",
    "MPI_Allgather",
    "AllReduce",
    "job.toml",
    "waiting.toml",
]
FILES = [
    "plan.parquet",
    "plan.txt",
    "sums.txt",
    "empty.parquet",
    "switched.parquet",
    "worm.parquet",
    "file.edges",
    "file.json",
    "nodes.txt",
    "nodes.npy",
    "matrix.mtx",
    "matrix.npy",
    "table.csv",
    "tables.lft",
    "tables.sl",
    "table.json",
    "table.parquet",
    "trace.csv",
    "job.toml",
    "study.toml",
    "results.parquet",
    "results.csv",
    "folder",
    "pipe",
    "missing.parquet",
    "nobody/x.parquet",
    "/dev/null",
    "/dev/full",
    "/dev/zero",
    ".",
    "/",
    "plan.goal",
    "plan.msccl.xml",
    "plan.json",
]
OUTPUTS = [
    "new.parquet",
    "new.txt",
    "new.svg",
    "new.csv",
    "new.json",
    "new.edges",
    "new.graphml",
    "new.dot",
    "new.npy",
    "new.mtx",
    "new.mtx.gz",
    "new.html",
    "new",
    "new.md",
    "folder",
    "pipe",
    "/dev/full",
    "nobody/new.csv",
    "new.xyz",
    ".",
    "plan.parquet/x",
    "new.goal",
    "new.xml",
    "plan.parquet",
    "./plan.txt",
    "worm.parquet",
    "file.edges",
]
ODD = [
    "", " ", "-", "--", "0", "-1", "1", "2", "3", "00", "+1", "1.5", ".5", "5.", "1e3", "1e-3", "1e400", "-1e400", "1e-400", "1e5000",
    "1e-999999999", "1/3", "1/0", "0/0", "nan", "inf", "-inf", "NaN", "True", "None", "null", "0x10", "1_000", "１", "²", "½",
    "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616",
    "-9223372036854775809", "9" * 60, "9" * 5000, "1" + "0" * 400, "all", "random:3", "random:-1", "random:1e9", "random:" + "9" * 40,
    "0,1", "0,0", "0,,1", ",", "0;1", "0-1", "1-0", "0-999999999", "1:2", "1:2:1", "2:1:1", "1:1:0", "0:1:1e-9", "::", ":", "1:", "a=b",
    "=", "a=", "h=5", "1KiB", "1kB", "1MiB:1GiB", "8GiB", "1 GB", "1e30GB", "0B", "50GB/s", "2us", "0s", "1e-30s", "1e30h",
    "links:0-1", "links:", "links:9-9", "nodes:0", "nodes:99", "random-links:1", "random-links:200%", "random-nodes:50%", "terminals:0",
    "\x1b[31mred", "a\nb", "a\tb", "\udcff", "\u202e", "\U0001f9f5", "x" * 300, "x" * 70000, "../..", "%s", "{}", "{0}", "$HOME",
    "~", "*", "(", ")", "((((", "[" * 2000, "torus", "torus:", "torus:0", "torus:0x4", "torus:4x", "torus:x4", "torus:4x4x", "torus:-4x4",
    "torus:1e2", "torus:4x4:4", "torus:100000x100000", "ring:4294967297", "hypercube:64", "hypercube:23", "hypercube:1e9",
    "star:9", "star:99", "pancake:12", "butterfly:25", "ccc:30", "complete:100000", "fat-tree:99,99", "kautz:9,9", "de-bruijn:2,40",
    "product:", "product:(ring:4)", "product:(ring:4)x(", "product:" + "(" * 500 + "ring:4", "product:(product:(ring:3)x(ring:3))x(ring:3)",
    "cayley:Z0;1", "cayley:S99;(1 2)", "cayley:", "cayley:Z8;0", "cayley:Z8;1", "dragonfly:0,0,0", "file:/dev/zero", "file:missing",
]  # fmt: skip
"""Words that mean something somewhere, at its limit or beyond."""

_POOLS: dict[str, list[str]] = {
    "NETWORK": NETWORKS, "NETWORK...": NETWORKS, "[NETWORK]": NETWORKS, "TASK": TASKS, "TASKS": TASKS, "FILE": FILES,
    "N": ["1", "2", "3", "4", "7"], "NUMBER": ["0", "1", "0.5", "1/3", "10"], "SIZE": ["1", "8", "1KiB", "64kB"],
    "SIZES": ["8", "1KiB", "1KiB:4KiB", "8,16"], "RATE": ["50GB/s", "400Gbit/s", "1"], "TIME": ["0", "2us", "1.5 ms"],
    "LOADS": ["0.5", "0.1,0.5", "0.1:0.3:0.1"], "SET": ["all", "0,1", "random:2", "nodes.txt"], "ON:OFF": ["20:80", "1:1"],
    "K=V": ["h=2", "h=5", "x=1"], "WHAT": ["links:0-1", "nodes:1", "random-links:1", "random-nodes:1", "terminals:0"],
    "NAME": ["store-and-forward", "wormhole", "priority", "h-dim", "processes", "threads"], "FORMAT": ["msccl-xml", "msccl-json", "mscclpp", "goal", "chakra", "astra-sim", "smpi", "perfetto", "c", "program", "csv", "json"],
    "W": ["3.3in", "84mm", "paper", "talk"], "SHARE": ["0.1"], "CONDITION": ["nodes<9", "a=b", "load>0.5"],
    "WORD=VALUES": ["ports=all,one", "seed=1:3:1", "x=y"], "COLUMN": ["ratio", "time"], "COLUMNS": ["network,task", "network"],
    "NODE": ["0", "1"], "CYCLES": ["10"], "KIND": ["plan", "traffic"], "ADDRESS": ["tcp://127.0.0.1:1"], "WHICH": ["failed"],
    "PATH": OUTPUTS, "FOLDER": ["folder", "new"], "[STUDY]": ["study.toml"],
}  # fmt: skip
_NAMED: dict[str, list[str]] = {
    "--output": OUTPUTS, "--own": ["all", "lr"], "--details": OUTPUTS, "--save": ["newstore", "folder", "plan.txt"],
    "--ports": ["all", "one", "one-send", "one-receive"], "--effort": ["closed form", "search"], "--algorithm": ["best", "greedy", "Q"],
    "--steps": ["50"], "--warmup": ["10", "auto"], "--measured": ["100"], "--replications": ["1", "2"], "--budget": ["0.1", "1"],
    "--active": ["all", "0,1", "random:2", "nodes.txt", "matrix.mtx"], "--destinations": ["nodes.txt", "nodes.npy", "2,0,1"],
    "--pattern": ["random", "transpose", "uniform", "bit-reversal", "random:2"], "--root": ["0", "1", "(0,1)", "last"],
    "--scheme": ["priority", "star", "redo", "arc", "intervals"], "--arrivals": ["poisson", "bernoulli", "on-off"],
    "--groups": ["0,1;2,3", "dimension 1", "blocks 2"], "--limit": ["0", "5"], "--jobs": ["1"], "--rounds": ["1"],
    "--message-flits": ["1", "4", "1-8"], "--routing": ["dor", "adaptive"], "--traffic": ["uniform:8", "zipf"], "--rows": ["3"],
    "--to": ["msccl-xml", "msccl-json", "mscclpp", "goal", "chakra", "astra-sim", "smpi", "perfetto", "c", "program", "csv", "json"],
    "--nodes": ["0,1", "16", "random:2"], "--memory": ["1MB", "8GiB"], "--kind": ["load", "tree", "steps"], "--counts": ["1,2,0,1", "0,0,0,0", "0", "0,3,0,1,0,2"],
}  # fmt: skip

SLOW = {
    ("reproduce",): ("NAME",),
    ("design",): ("--nodes", "--degree"),
    ("run",): ("FILE",),
    ("simulate", "schedule"): ("FILE",),
}
"""Commands that start other programs or take long: what stands here is always odd."""
IN_ONE_PROCESS = {("sweep", "run"): ["--engine", "in-process"]}
"""What is added to nearly every command line that would else start processes: they take as long as a hundred others."""
ALONE = ("--saturation", "--check")
"""Flags after which a command takes long or starts another program."""


@functools.cache
def commands() -> dict[tuple[str, ...], list[Any]]:
    """Return the arguments and options of every command, by its words."""
    import typer

    from gossamer.cli.app import app

    found = {}

    def walk(command: Any, path: tuple[str, ...]) -> None:
        if hasattr(command, "commands"):
            for name, each in command.commands.items():
                walk(each, (*path, name))
        elif path != ("compile",):  # which carries out a hundred others
            found[path] = [p for p in command.params if p.name != "help"]

    walk(typer.main.get_command(app), ())
    return found


def command_line(draw: Random) -> list[str]:
    """Return random words for the command line: of its grammar, with some that are at or beyond a limit."""
    path = draw.choice(list(commands()))
    odd = draw.choice([0.0, 0.0, 0.05, 0.3])
    words = list(path)
    for parameter in commands()[path]:
        option = parameter.param_type_name == "option"
        if not option:
            many = draw.choice([1, 1, 2]) if parameter.nargs == -1 else 1
            words += [_value(parameter, path, odd, draw) for _ in range(many if draw.random() > 0.02 else 0)]
        elif draw.random() < (0.5 if parameter.opts[0] == "--json" else 0.08 if not parameter.required else 0.95):
            if getattr(parameter, "is_flag", False):
                words += [draw.choice([*parameter.opts, *parameter.secondary_opts])] if path[0] != "run" else []
            else:
                words += [draw.choice(parameter.opts), _value(parameter, path, odd, draw)]
    if "--engine" not in words and draw.random() < 0.98:
        words += IN_ONE_PROCESS.get(path, [])
    return [w for w in _disturbed(words, draw, len(path)) if w not in ALONE]


def _value(parameter: Any, path: tuple[str, ...], odd: float, draw: Random) -> str:
    name, metavar = parameter.opts[0], parameter.metavar or ""
    if draw.random() < odd or {name, metavar} & set(SLOW.get(path, ())):
        return draw.choice(ODD)
    pool = _NAMED.get(name) or _POOLS.get(metavar) or _choices(parameter) or ["1", "2", "0.5", "all"]
    return draw.choice(pool)


def _choices(parameter: Any) -> list[str]:
    """Return the words of an enumeration, if the parameter takes one."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    members = getattr(kind, "__members__", {})
    return [str(member.value) for member in members.values()] or list(
        getattr(getattr(parameter, "type", 0), "choices", [])
    )


def _disturbed(words: list[str], draw: Random, kept: int) -> list[str]:
    """Return the words, rarely with one lost, doubled, put elsewhere or spelt another way."""
    if draw.random() > 0.08 or len(words) <= kept:
        return words
    i = draw.randrange(len(words))
    how = draw.randrange(5)
    if how == 0:
        return words[:i] + words[i + 1 :]
    if how == 1:
        return [*words[:i], words[i], *words[i:]]
    if how == 2:
        return [*words, draw.choice(["--nonsense", "-x", "--help", "-h", "--json", "--version", draw.choice(ODD)])]
    if how == 3:
        word = words[i]
        at = draw.randrange(len(word) + 1)
        return [
            *words[:i],
            word[:at] + draw.choice("0:x,-./%\x00é") * draw.choice([1, 1, 30]) + word[at:],
            *words[i + 1 :],
        ]
    draw.shuffle(words)
    return words
