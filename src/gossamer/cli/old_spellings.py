"""Spellings of commands and options from before, which go on working: one table, new words for old ones.

Help, completion, the manual and the docs show the new ones only.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "networks": "list networks",
    "tasks": "list tasks",
    "algorithms": "list algorithms",
    "schemes": "list schemes",
    "formats": "list formats",
    "dynamic": "simulate arrivals",
    "wormhole traffic": "simulate traffic",
    "wormhole saturation": "simulate saturation",
    "wormhole run": "simulate wormhole",
    "wormhole routing": "deadlock",
    "wormhole": "simulate",
}
"""Commands: their old words, and their words now."""

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("list algorithms", "--network", ""),
    ("plan", "--explore", "--output"),
    ("draw", "--to terminal", ""),
    ("simulate", "--mpi", "--own all"),
    ("simulate", "--against", "--own"),
    ("", "--group", "--groups"),
    ("", "--split", "--segmented"),
    ("", "--whole", "--unsegmented"),
)
"""Options: how the command begins now (any if empty), the old words, and the words now; without any, an argument."""


def in_new_words(arguments: Sequence[str]) -> list[str]:
    """Return a command line in the words of today.

    >>> in_new_words(["wormhole", "traffic", "torus:4x4", "--load", "0.2"])
    ['simulate', 'traffic', 'torus:4x4', '--load', '0.2']
    >>> in_new_words(["algorithms", "--network=star:4", "--json"])
    ['list', 'algorithms', 'star:4', '--json']
    >>> in_new_words(["plan", "torus:4x4", "allgather"])
    ['plan', 'torus:4x4', 'allgather']
    """
    words = list(arguments)
    _check(words)
    if words[:1] == ["help"]:
        words = [*words[1:], "-h"]
    if words in (["version"], ["-v"], ["-V"]):
        words = ["--version"]
    if words and words[0] not in ("-V",) and words[0].lower() != words[0]:
        words[0] = words[0].lower()
    for old, new in COMMANDS.items():
        if words[: len(old.split())] == old.split():
            words[: len(old.split())] = new.split()
            break
    if words[:1] == ["explain"]:  # some slots, which the option of that name has no room for
        line = re.sub(r"\n--slots[\n=](?=\d[\d,-]*(\n|$))", "\n--slot\n", "\n".join(words))
        words = line.split("\n")
    for command, old, new in OPTIONS:
        if words[: len(command.split())] == command.split():
            words = _replaced(words, old.split(), new.split())
    return words


def _check(words: list[str]) -> None:
    """Refuse what the old options refused where the new ones take more."""
    from gossamer.errors import FileFormatError, TaskError

    names = {word.partition("=")[0] for word in words}
    if {"--group", "--groups"} <= names:
        raise TaskError("give --groups once: --group is its old name")
    pairs = list(itertools.pairwise([*words, ""]))
    if words[:1] == ["plan"]:
        for word, after in pairs:
            name, sign, value = word.partition("=")
            page = value if sign else after
            if name == "--explore" and page and not page.lower().endswith(".html"):
                raise FileFormatError(f"the page {page!r} must end in .html")
    to = next((a if w == "--to" else w[5:] for w, a in pairs if w == "--to" or w.startswith("--to=")), None)
    if words[:1] == ["draw"] and to is not None:
        if to != "terminal":
            raise FileFormatError(f"Invalid value for '--to': {to!r} is not one of 'terminal'")
        if any(word.partition("=")[0] in ("-o", "--output") for word in words):
            raise FileFormatError("--to terminal writes no file: leave out --output")


def _replaced(words: list[str], old: list[str], new: list[str]) -> list[str]:
    """Return words with some replaced by others, given in words of their own or as ``--option=value``."""
    found: list[str] = []
    place, argument = 0, None
    while place < len(words):
        name, sign, value = words[place].partition("=")
        if name == old[0] and not new and not old[1:]:  # an argument now: the last one counts
            if argument is not None:
                del found[argument]
            argument = len(found)
        if words[place : place + len(old)] == old and (new or old[1:] or place + 1 < len(words)):
            found += new
            place += len(old)
        elif sign and [name] == old:
            found += [*new[:-1], f"{new[-1]}={value}"] if new else [value]
            place += 1
        elif sign and [name, value] == old:
            found += new
            place += 1
        else:
            found.append(words[place])
            place += 1
    return found


# What people type for what is called otherwise here; errors propose it (`gossamer.cli.advice`).

COMMANDS_MEANT: dict[str, str] = {
    **dict.fromkeys(("schedule", "synthesize", "synth", "solve", "make", "create", "generate", "build"), "plan"),
    **dict.fromkeys(("check", "validate", "test"), "verify"),
    **dict.fromkeys(("show", "describe", "print", "why"), "explain"),
    **dict.fromkeys(("plot", "picture", "render", "figure", "view", "visualize"), "draw"),
    **dict.fromkeys(("convert", "write", "save"), "export"),
    **dict.fromkeys(("read", "load"), "import"),
    **dict.fromkeys(("info", "topo", "topology", "net"), "network"),
    **dict.fromkeys(("bound", "lower-bound", "lower-bounds"), "bounds"),
    **dict.fromkeys(("rank", "algorithms-for", "benchmark", "bench"), "compare"),
    **dict.fromkeys(("sim",), "simulate"),
    **dict.fromkeys(("repair", "fix"), "replan"),
    **dict.fromkeys(("fail", "failures", "resilience"), "faults"),
    **dict.fromkeys(("install", "status", "env"), "doctor"),
    **dict.fromkeys(("man",), "manual"),
    **dict.fromkeys(("ls", "dir"), "list networks"),
    **dict.fromkeys(("browse", "open", "html"), "explore"),
    **dict.fromkeys(("topologies", "collectives"), "list tasks"),
    **dict.fromkeys(("search", "optimize"), "design"),
    **dict.fromkeys(("execute", "mpirun", "mpiexec"), "run"),
}
"""Commands of other names."""

OPTIONS_MEANT: dict[str, str] = {
    **dict.fromkeys(
        (
            "size",
            "msg-size",
            "message-size",
            "msize",
            "data",
            "length",
            "buffer-size",
            "byte",
            "b",
            "s",
            "msgsize",
            "sizes",
            "nbytes",
            "minbytes",
            "maxbytes",
        ),
        "--bytes",
    ),
    **dict.fromkeys(
        ("quiet", "q", "silent", "verify", "check", "validate", "no-color", "verbose", "v", "progress"), ""
    ),
    **dict.fromkeys(("nodes", "ranks", "np", "n", "gpus", "world-size", "size-of-network"), ""),
    **dict.fromkeys(("out", "file", "save", "write", "to-file", "out-file", "outfile", "dest"), "--output"),
    **dict.fromkeys(("plot", "picture", "figure", "svg", "png", "html", "graph-file"), "--output"),
    **dict.fromkeys(("format", "output-format"), "--json |--to"),
    **dict.fromkeys(("timeout", "time-limit", "max-time", "limit-time", "t", "time"), "--budget"),
    **dict.fromkeys(("threads", "workers", "j", "cpus", "procs", "processes", "cores", "parallel"), "--jobs"),
    **dict.fromkeys(
        (
            "fail",
            "failed",
            "fails",
            "faults",
            "broken",
            "remove",
            "down",
            "missing",
            "fault",
            "exclude",
            "down-links",
            "links",
            "without-links",
            "without-nodes",
            "failed-links",
        ),
        "--without",
    ),
    **dict.fromkeys(("chunk", "nchunks", "num-chunks", "packets", "segments", "pieces", "c"), "--chunks"),
    **dict.fromkeys(("bw", "speed", "link-speed"), "--bandwidth"),
    **dict.fromkeys(("lat", "alpha", "delay"), "--latency"),
    **dict.fromkeys(("algo", "algos", "alg", "a", "method", "scheduler"), "--algorithm"),
    **dict.fromkeys(("source", "src", "origin", "root-node", "r"), "--root"),
    **dict.fromkeys(("one-port", "single-port"), "--ports one-port"),
    **dict.fromkeys(("all-port", "multi-port"), "--ports all-port"),
    **dict.fromkeys(("network", "topology", "topo", "net"), "=network"),
    **dict.fromkeys(("task", "collective", "coll", "operation", "op"), "=task|"),
    **dict.fromkeys(("optimal", "exact", "exhaustive"), "--effort solver"),
    **dict.fromkeys(("iterations", "reps", "iters", "repetitions"), "--repeat"),
    **dict.fromkeys(("datatype", "dtype", "hostfile", "map-by", "bind-to", "mca", "ring", "tree", "debug"), ""),
    **dict.fromkeys(("memory-limit", "mem-limit", "ram"), "--memory"),
    "rate": "--bandwidth|--load",
    "type": "--kind",
    "random-seed": "--seed",
    "port": "--ports",
}
"""Options of other names, without dashes: an option, one with its value, nothing, or the argument after ``=``."""

NCCL_TESTS: dict[str, str] = {
    **dict.fromkeys(("b", "minbytes"), "first"),
    **dict.fromkeys(("e", "maxbytes"), "last"),
    **dict.fromkeys(("f", "stepfactor", "i", "stepbytes", "g", "ngpus", "t", "nthreads", "n", "iters"), "other"),
    **dict.fromkeys(("w", "r", "warmup_iters", "c", "check", "d", "datatype", "op", "a", "average"), "other"),
}
"""Options of nccl-tests, without dashes: the first size, the last one, or what plans do not have."""

FORMATS_MEANT: dict[str, str] = {
    **dict.fromkeys(("xml", "msccl", "nccl", "rccl"), "msccl-xml"),
    **dict.fromkeys(("mpi", "mpi-c", "openmpi", "mpich", "program-c"), "c"),
    **dict.fromkeys(("simgrid",), "smpi"),
    **dict.fromkeys(("astrasim",), "astra-sim"),
    **dict.fromkeys(("et",), "chakra"),
    **dict.fromkeys(("chrome", "trace", "tracing"), "perfetto"),
    "msccl++": "mscclpp",
    "loggopsim": "goal",
}
"""Formats of other names."""

VALUES_MEANT: dict[str, str] = {
    **dict.fromkeys(("a2a", "all2all"), "alltoall"),
    "a2av": "alltoallv --traffic uniform",
    **dict.fromkeys(
        ("send", "recv", "p2p", "sendrecv", "isend", "pointtopoint", "shift"), "permutation --pattern neighbor"
    ),
    **dict.fromkeys(("barrier", "ar", "sum"), "allreduce"),
    **dict.fromkeys(("ag", "everything"), "allgather"),
    **dict.fromkeys(("rs",), "reduce-scatter"),
    **dict.fromkeys(("high", "max", "full", "optimal", "exact", "best"), "solver"),
    **dict.fromkeys(("low", "fast", "quick", "min"), "closed form"),
    **dict.fromkeys(("topologies", "topology", "graphs", "nets", "machines"), "networks"),
    **dict.fromkeys(("collectives", "collective", "operations"), "tasks"),
    **dict.fromkeys(("algos", "algo", "methods"), "algorithms"),
    **dict.fromkeys(("heatmap", "heat-map"), "heat"),
    **dict.fromkeys(("gantt", "timeline", "schedule"), "timetable"),
    **dict.fromkeys(("saf", "sf", "packet", "cut-through", "store&forward"), "store-and-forward"),
    **dict.fromkeys(("flits", "wh"), "wormhole"),
}
"""Values and tasks of other names, a task with the option that it needs."""

_FAMILIES_MEANT: dict[str, str] = {
    **dict.fromkeys(("line", "linear", "chain", "path", "bus", "grid", "mesh"), "array"),
    **dict.fromkeys(("cube", "n-cube", "binary-cube"), "hypercube"),
    **dict.fromkeys(
        ("clique", "full-mesh", "fully-connected", "all-to-all", "fullmesh", "nvswitch", "nvlink", "full"), "complete"
    ),
    **dict.fromkeys(("clos", "fattree", "k-ary-fat-tree", "fat-tree", "folded-clos"), "folded-clos"),
    **dict.fromkeys(("spine-leaf", "leafspine"), "leaf-spine"),
    **dict.fromkeys(("2d-torus", "3d-torus", "torus2d", "torus3d", "torus-2d", "torus-3d"), "torus"),
    **dict.fromkeys(("dgx", "dgxa100"), "dgx-a100"),
    "cycle": "ring",
    "dgx1": "dgx-1",
}
"""Families of networks of other names."""
_SMALL = {"torus": "8x8", "array": "8x8", "ring": "8", "hypercube": "4", "complete": "8", "folded-clos": "4,3"}
"""Parameters that are proposed where none are given, if not those of a family's example."""


def meant_network(text: str) -> list[str]:
    """Return networks that may be meant by a text which names none, the likeliest first; not every one exists.

    >>> meant_network("torus8x8")[0], meant_network("8x8")[0], meant_network("fattree:4")[0]
    ('torus:8x8', 'torus:8x8', 'folded-clos:4')
    """
    from gossamer.errors import nearest
    from gossamer.networks.families import FAMILIES

    word = re.sub(r"\s+", " ", text.strip().lower()).replace("_", "-")
    machines = {name.replace("-", ""): name for f in FAMILIES if f.machine for name in (f.name, *f.aliases)}
    several = re.fullmatch(r"(?:(\d+) ?[x*] ?)?([a-z][a-z0-9-]*?)(?: ?[x*] ?(\d+)|:(\d+)[a-z]+)?", word)
    boxes = [machines.get(kind + several[2].replace("-", "")) for kind in ("", "dgx")] if several else []
    machine = next(filter(None, boxes), None)
    if several and machine and machine != word:
        count = several[1] or several[3] or several[4]
        return [f"{machine}:{count}" if count else machine]
    named = [
        name for bare, name in machines.items() for kind in ("dgx", "hgx") if several and bare == kind + several[2]
    ]
    if several and named and not machine:
        count = several[1] or several[3] or several[4]
        return [f"{named[0]}:{count}" if count else named[0]]
    if re.fullmatch(r"(dgx-?)?[pv]100", word):
        return [f"dgx-1:{word[-4:]}"]
    tree = re.fullmatch(r"(?:(?:complete-)?binary-|2-ary-)?tree(?:[: -]?(\d{1,4}))?", word)
    if tree:  # of a height, or of so many leaves
        height = int(tree[1] or 3)
        return [f"fat-tree:k=2,h={max(height if height < 8 else (height - 1).bit_length(), 1)},capacity=constant"]
    before = re.fullmatch(r"(\d[\dx*,]*)[- ]([a-z][a-z-]*)", word)
    if before:
        word = f"{before[2]}:{before[1]}"
    if re.fullmatch(r"\d+(?:[x*,]\d+)+", word):
        return [f"torus:{re.sub('[*,]', 'x', word)}"]
    if re.fullmatch(r"\d+", word):
        return [f"ring:{word}"]
    examples = {name: family.example.partition(":")[2] for family in FAMILIES for name in (family.name, *family.aliases)
                if not family.reads_file}  # fmt: skip
    name, colon, given = word.partition(":")
    given = given.replace(":", ",")
    if "^" in given:
        given = _without_powers(_FAMILIES_MEANT.get(name, name), given)
    exact = name in examples or name in _FAMILIES_MEANT
    if exact and name in ("ring", "hypercube", "complete") and "x" in given.strip("x"):
        given = given.strip("x")
        return [f"torus:{given}"]
    found = re.fullmatch(r"(.*?[a-z])[-: (\[]*(\d[\dx*, .]*)?[^\d]*", word)
    names = [(name, given)] if colon or exact else []
    if found and not exact:
        names.append((found[1].rstrip("-([ "), found[2] or ""))
        names.append((word.partition(" ")[0], ""))
    said: list[str] = []
    for known, numbers in names:
        family = _FAMILIES_MEANT.get(known, known)
        near = re.search("'(.*)'", nearest(family, [*examples, *_FAMILIES_MEANT]))
        for each in dict.fromkeys([family, *([_FAMILIES_MEANT.get(near[1], near[1])] if near else [])]):
            if each in examples:
                usual = _SMALL.get(each, examples[each])
                said += [f"{each}:{form}" for form in _forms(each, numbers, usual)]
    return list(dict.fromkeys(said))


def _without_powers(family: str, given: str) -> str:
    """Return parameters with powers written out: the dimensions of a hypercube, sides of grids, other numbers.

    >>> _without_powers("hypercube", "2^6"), _without_powers("torus", "4^3"), _without_powers("ring", "2^5")
    ('6', '4x4x4', '32')
    """

    def written_out(found: re.Match[str]) -> str:
        base, power = int(found[1]), int(found[2])
        if family == "hypercube" and base == 2:
            return str(power)
        return "x".join([str(base)] * power) if family in ("torus", "array") else str(base**power)

    return re.sub(r"\b(\d{1,3})\^(\d{1,2})\b", written_out, given)


def _forms(family: str, given: str, usual: str) -> list[str]:
    """Return parameters that may be meant: those given, without what is too much, filled up, and the usual ones."""
    numbers = [n if n.strip("0") else "8" for n in re.findall(r"\d+", given)]
    values = re.findall(r"[^,=]*=?([^,]+)", usual)
    forms = [given] if given else []
    if numbers:
        forms.append(("x" if "x" in usual else ",").join(numbers))
        forms.append(",".join([*numbers, *values[len(numbers) :]]))
        forms.append(numbers[0])
        if len(numbers) > 1:
            forms.append("x".join(numbers))
    return [form for form in [*forms, usual] if form]
