"""Write the generated pages and the outputs of commands in the hand-written ones.

    python docs/generate.py [PAGE ...] write what is stale, of all pages or of those named, such as cli.md
    python docs/generate.py --check    name what is stale, put a .new file beside it, and exit with status 1

Whole pages are made from the registries: those of `GENERATED`. In all others every ``console`` block is run: lines
that begin with ``$ `` are commands, and what lies between them is replaced by what they print. The commands of a page
run one after the other in one empty folder. Times and memory become ``...``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
WIDTH = 100
if __name__ == "__main__":
    sys.path.insert(0, str(DOCS.parent / "src"))

_VARYING = (
    (r"^(took +)\S.*(\n {4,}.*)*", r"\1..."),
    (r'"(build_seconds|verify_seconds|seconds|peak_memory_bytes)": [\d.e+-]+', r'"\1": ...'),
)
"""What differs from run to run, and what is shown instead."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    cells = [columns, ["---"] * len(columns), *[[c.replace("|", "\\|") for c in row] for row in rows]]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def page(title: str, text: str, source: str) -> str:
    """Return a generated page with its first line."""
    return f"<!-- made by docs/generate.py from {source}; do not edit -->\n\n# {title}\n\n{text.strip()}\n"


# -- pages from the registries ---------------------------------------------------------------------------------


def networks_page() -> str:
    """Return the table of network families."""
    from gossamer import network
    from gossamer.networks.families import FAMILIES

    rows = []
    for family in FAMILIES:
        example = f"`{family.example}`"
        if family.small:
            net = network(family.example)
            example += f": {net.node_count:,} nodes, {net.link_count:,} links"
        names = ", ".join(f"`{n}`" for n in (family.name, *family.aliases))
        rows.append([names, f"`{family.parameters}`", f"{family.summary}. *Source:* {family.source}", example])
    text = f"""
A network is named by a *spec*: the family, a colon, and the parameters. `gossamer networks` prints the families;
`gossamer.network(spec)` builds the network. Where a family has several names, the first is the one in the canonical
spec.

{table(["family", "parameters", "what it is", "example"], rows)}

Every undirected edge is two links. Upper case, spaces and underscores in names of families are accepted. Networks also
come from NetworkX graphs (`gossamer.networks.from_networkx`) and from any group and generators
(`gossamer.networks.cayley`). Sources are listed in the [references](references.md).

Some cases at the edge:

* A side of 2 in a torus is a single edge, as in an array: two parallel edges are never made. A torus of sides 2 is a
  hypercube.
* Sides of 1 are allowed, and so are networks of one node and of two nodes.
* Sizes are checked before anything is built.
"""
    return page("Networks", text, "gossamer.networks.families")


def tasks_page() -> str:
    """Return the table of tasks."""
    import dataclasses

    from gossamer.tasks import ALIASES, OTHER_TASKS, TASKS

    meaning = {
        "root": "`root`: a node, default 0",
        "active": "`active`: the active nodes",
        "counts": "`counts`: for each node how many messages it has",
        "destination": "`destination`: for each node where its message goes, -1 for none",
        "destinations": "`destinations`: for each node the set of nodes to which its message goes",
    }
    option = {"root": "`--root`", "active": "`--active`", "counts": "`--counts`"}
    option |= dict.fromkeys(("destination", "destinations"), "`--destinations` or `--pattern`")
    rows = []
    for name, kind in TASKS.items():
        aliases = ", ".join(f"`{a}`" for a, of in ALIASES.items() if of == name)
        fields = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
        options = ", ".join(option.get(f, "Python only") for f in fields)
        rows.append([f"`{name}`", aliases, kind.summary, "; ".join(meaning[f] for f in fields), options])
    others = [[f"`{name}`", o.meaning, ", ".join(f"`{n}`" for n in o.near)] for name, o in OTHER_TASKS.items()]
    text = f"""
`gossamer.task(name, ...)` takes any of these names, and so do the commands. `gossamer tasks` prints this list. A name
may be written in any usual way: `all_gather`, `AllGather`, `MPI_Allgather` and `ncclAllGather` are `allgather`, and
mean here what they mean in MPI and NCCL.

{table(["task", "also called", "what it is", "fields", "option"], rows)}

There is no task yet for these names of MPI:

{table(["name", "what it is", "near it"], others)}

Messages and the words used here are defined in the [nomenclature](nomenclature.md).
"""
    return page("Tasks", text, "gossamer.tasks")


def algorithms_page() -> str:
    """Return the tables of algorithms, one a task."""
    from gossamer import ALGORITHMS
    from gossamer.tasks import TASKS
    from gossamer.testing import standard_cases

    sections = []
    for name, kind in TASKS.items():
        rows = []
        for a in (a for a in ALGORITHMS if a.task is kind):
            cases = list(standard_cases(a))
            ports = [p for p in ("all", "one", "one-send") if any(c.model.ports == p for c in cases)]
            claims = [a.claim(*c) is not None for c in cases]
            claim = "none" if not any(claims) else "upper bound" if a.claim_is_bound else "exact"
            if any(claims) and not all(claims):
                claim += ", on some"
            optimal = [a.optimal(*c) for c in cases]
            if any(optimal):
                claim += f"; promises the bound {'always' if all(optimal) else 'on some'}"
            covers = f"{a.networks}; ports {', '.join(ports)}"
            rows.append([f"`{a.name}`", covers, claim, f"{a.summary}. *Source:* {a.source}"])
        if rows:
            sections.append(f"## {name}\n\n{table(['algorithm', 'covers', 'claim', 'what it does'], rows)}")
        else:
            sections.append(f"## {name}\n\nNone yet. `gossamer bounds` knows its lower bounds.")
    sections += [_wormhole_section(), _schemes_section()]
    text = f"""
Every algorithm of the registry, by task. `gossamer algorithms` prints them, `gossamer algorithms NETWORK` those that
cover a network, and `--algorithm NAME` asks for one. The functions that build the schedules are on the page
[Builders](api/builders.md).

A claim is the completion time that the source promises, exactly or as an upper bound. "Promises the bound" means that
the algorithm claims to meet the largest lower bound, and that the battery holds it to that. Ports and claims are read
off the cases of the [battery](how_it_works.md#the-battery): small networks of every family under several models, so
"on some" means on some of those. Sources are listed in the [references](references.md).

{chr(10).join(s + chr(10) for s in sections)}
"""
    return page("Algorithms", text, "gossamer.algorithms")


def _wormhole_section() -> str:
    """Return the table of algorithms for wormhole switching."""
    from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

    rows = []
    for a in WORMHOLE_ALGORITHMS:
        tasks = ", ".join(kind.name for kind in a.tasks)
        rows.append([f"`{a.name}`", f"{tasks}; {a.networks}", f"{a.summary}. *Source:* {a.source}"])
    return f"""## With wormhole switching

Asked for with `--switching wormhole`; see [wormhole switching](wormhole.md).

{table(["algorithm", "covers", "what it does"], rows)}"""


def _schemes_section() -> str:
    """Return the table of schemes for broadcasts that arrive at random."""
    from gossamer.dynamic.schemes import SCHEMES

    rows = [[f"`{name}`", f"{known.summary}. *Source:* {known.source}"] for name, known in SCHEMES.items()]
    return f"""## Schemes for broadcasts that arrive at random

Asked for with `gossamer dynamic NETWORK --scheme NAME`; see [broadcasts at random times](dynamic.md).
`varvarigos-bertsekas` names the scheme of intervals.

{table(["scheme", "what it does"], rows)}"""


def array_broadcasts_page() -> str:
    """Return the page on multinode broadcast on arrays, with the ratio of time and bound for a table of shapes."""
    from gossamer import ALGORITHMS, Model, network, task, verify
    from gossamer.bounds import best_bound
    from gossamer.cases import Case

    shapes = (
        "9", "2x3", "2x4", "2x15", "3x3", "4x4", "3x5", "5x8", "7x9", "8x8", "16x16", "31x33",
        "2x2x3", "2x4x5", "2x5x7", "3x3x3", "3x4x5", "4x4x4", "5x7x9", "8x8x8", "10x10x10",
        "2x2x2x3", "2x3x4x5", "3x3x3x3", "4x4x4x4", "2x2x3x3x4", "3x3x3x3x3", "2x2x2x2x2x5",
    )  # fmt: skip
    broadcast, model = task("multinode-broadcast"), Model()
    named = {a.name: a for a in ALGORITHMS if a.task is type(broadcast)}
    rows = []
    for shape in shapes:
        net = network(f"array:{shape}")
        schedule = named["torus-on-array"].build(net, broadcast, model)
        verify(schedule).raise_if_invalid()
        time, bound = schedule.completion_time, best_bound(Case(net, broadcast, model)).value
        twice = 2 * named["translated-tree"].claim(network(f"torus:{shape}"), broadcast, model)
        rotated = named["rotated-dimensions-whole"].claim(net, broadcast, model)
        ratios = [f"{float(value / bound):.3f}" for value in (time, twice, rotated)]
        sides = [s for s in shape.split("x") if s != "1"]
        rows.append([shape, f"{net.node_count:,}", str(len(sides)), str(bound), str(time), *ratios])
    columns = ["array", "N", "d", "bound", "steps", "ratio", "twice the torus", "rotated dimensions"]
    text = f"""
A corner of a d-dimensional array must receive N-1 messages over d links, so no multinode broadcast of whole messages
takes less than ceil((N-1)/d) steps. The algorithm `torus-on-array` takes just that on every array in the table, and on
every array with a side of 3 or more that its tests try. (With all sides 2 the array is a hypercube, for which
`translated-tree` is optimal.) The last three columns are ratios of times to the bound: of `torus-on-array`; of twice
the optimal time on the torus of the same shape; and of `rotated-dimensions-whole`, the multinode broadcast of
Varvarigos and Bertsekas for any d.

{table(columns, rows)}

`gossamer plan array:5x7x9 allgather` builds and checks one of them.

## How

*Folding.* A ring is folded into a line so that neighbors are at most two positions apart: positions 0, 1, 2, 3, 4 host
nodes 0, 4, 1, 3, 2 of a ring of five. Then one slot of the torus becomes two of the array, and no link is used
twice, even if the torus uses all of its links. That is the proof of Theorem 1 in the paper;
`gossamer.schedules.torus_on_array` does it with any schedule of any task. For two equal sides it gives the optimum
already.

*The last slot.* The torus receives over 2d links. If N-1 leaves a remainder of 1 to d when divided by 2d, its last slot
is not full, and twice its time is one step too many. So the last messages do not take that way: every node takes each
of them from a neighbor that has it, in one slot, one from each neighbor. Who takes which is a bipartite matching at
every node.

*Sides of 2.* A torus has one link there, not two, and twice the time of the torus wastes half of it. Such links need no
folding, and can carry one message in either half of a slot of the torus. Only in the first slot there is
nothing new for the second half. But a 2 x p array has a Hamiltonian cycle, a ring of 2p nodes without any folding; one
side of 2 and the shortest other side are replaced by it.

The tree that is translated is found by the search of `translated-tree`, which is no proof that there always is one. The
time is promised by the algorithm's claim, and checked wherever it runs.
"""
    return page("Multinode broadcast on arrays", text, "the schedules of torus-on-array")


def builders_page() -> str:
    """Return the reference of the functions that build schedules, by module."""
    import inspect
    from functools import partial

    from gossamer import ALGORITHMS

    functions: dict[str, list[str]] = {}
    for a in ALGORITHMS:
        builder = a.builder.func if isinstance(a.builder, partial) else a.builder
        name = getattr(builder, "__name__", "")
        module = inspect.getmodule(builder)
        if module is not None and getattr(module, name, None) is builder and not name.startswith("_"):
            listed = functions.setdefault(module.__name__, [])
            if name not in listed:
                listed.append(name)
    sections = []
    for module_name, names in functions.items():
        directives = "\n".join(f".. autofunction:: {module_name}.{name}" for name in names)
        sections.append(f"## {module_name}\n\n```{{eval-rst}}\n{directives}\n```")
    text = """
The functions behind the [table of algorithms](../algorithms.md). Reversed and two-way algorithms are made from these by
`gossamer.algorithms.algorithm.dual` and `allreduce_from`, and have no functions of their own.

"""
    return page("Builders", text + "\n\n".join(sections), "gossamer.algorithms")


def cli_page() -> str:
    """Return the reference of the command line, from the signatures of the commands."""
    from gossamer.cli.app import app

    found = [("", c) for c in app.registered_commands]
    for group in app.registered_groups:
        found += [(f"{group.typer_instance.info.name} ", c) for c in group.typer_instance.registered_commands]
    commands = {prefix + c.callback.__name__: c.callback for prefix, c in found if c.callback is not None}
    toc = table(
        ["command", "what it does"],
        [[f"[`{n}`](#gossamer-{n.replace(' ', '-')})", _first(f)] for n, f in commands.items()],
    )
    sections = []
    for name, function in commands.items():
        arguments, options = parameters(function)
        usage = " ".join(["gossamer", name, *(a[0].strip("`") for a in arguments), *(["[OPTIONS]"] if options else [])])
        parts = [f"## gossamer {name}", _first(function), f"```text\n{usage}\n```"]
        if arguments:
            parts.append(table(["argument", "meaning"], arguments))
        if options:
            parts.append(table(["option", "meaning", "default"], options))
        sections.append("\n\n".join(parts))
    text = f"""
Every command answers `--help`; `gossamer --version` prints the version.

{toc}

Results go to standard output; progress, for what takes over a second, to standard error. With `--json` a command prints
JSON and nothing else. The exit status is 0 when all went well, 1 when a schedule is not valid, and 2 when the input is
bad; that is told in one line, and no file is left behind.

{chr(10).join(s + chr(10) for s in sections)}
"""
    return page("Command line", text, "gossamer.cli")


def parameters(command: Callable[..., Any]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows of the arguments (word, meaning) and of the options (flags, meaning, default) of a command."""
    import inspect
    import typing
    from enum import Enum

    hints = typing.get_type_hints(command, include_extras=True)
    arguments, options = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = typing.get_args(hints[name])
        if type(info).__name__ == "ArgumentInfo":
            arguments.append([f"`{info.metavar or name.upper()}`", info.help or ""])
            continue
        # the first flag of an annotated option stands where the default would be
        flags = [d for d in (info.default, *(info.param_decls or ())) if isinstance(d, str)]
        flags = flags or [f"--{name.replace('_', '-')}"]
        value = info.metavar or ""
        default = getattr(parameter.default, "value", parameter.default)
        if kind is bool:
            on_off = [word for flag in flags for word in flag.split("/")]
            default = (on_off[0] if default else on_off[-1]) if len(on_off) > 1 else None
            flags = on_off
        elif isinstance(kind, type) and issubclass(kind, Enum):
            value = "|".join(str(member.value) for member in kind)
        elif not value:
            value = "NUMBER" if kind is int else "TEXT"
        shown = ", ".join(f"`{flag}`" for flag in flags) + (f" `{value}`" if value else "")
        required = parameter.default is inspect.Parameter.empty
        options.append([shown, info.help or "", "required" if required else "" if default is None else f"`{default}`"])
    return arguments, options


def _first(function: Callable[..., Any]) -> str:
    return str(function.__doc__).strip().splitlines()[0]


def reproduction_page(name: str) -> str:
    """Return the tables of a source as reproduced, with its curves and figures."""
    from gossamer.experiments import REPRODUCTIONS, reproduction
    from gossamer.plots.sources import SOURCE_FIGURES

    source = reproduction(name)
    figures = [f"## {f.title}\n\n![{f.title}](_static/{f.file})" for f in SOURCE_FIGURES[name]]
    text = f"""
`gossamer reproduce {name}` prints these tables; with `--figure FILE` it draws the curves, and with `--figures FOLDER`
the other figures. {getattr(source, "ABOUT", _ABOUT)} Errata are listed [here](errata.md).

{chr(10).join(t.markdown() + chr(10) for t in source.tables())}
## Curves

![{getattr(source, "CURVES_TITLE", "Measured times between their bounds")}](_static/{curves_file(name)})

{getattr(source, "CURVES_ABOUT", _CURVES_ABOUT)}

{chr(10).join(f + chr(10) for f in figures)}
"""
    return page(REPRODUCTIONS[name], text, "gossamer.experiments")


_ABOUT = """Every time is in steps. Every measured time is the completion time of a schedule that the checker
accepted, beside a lower bound that no schedule can beat."""
_CURVES_ABOUT = (
    """Points are measured; the band lies between the lower bound, below, and what the source promises, above."""
)


def curves_file(name: str) -> str:
    """Return the name of the picture of a source's curves."""
    return f"curves_{name.replace('-', '_')}.svg"


def reproduction_pictures(name: str, drawn: bool) -> dict[str, bytes]:
    """Return the pictures of a source by name; empty ones if they are not to be drawn."""
    from gossamer.experiments import REPRODUCTIONS, reproduction
    from gossamer.plots.curves import draw_curves
    from gossamer.plots.sources import SOURCE_FIGURES, draw_source_figures

    if not drawn:
        return dict.fromkeys([curves_file(name), *(f.file for f in SOURCE_FIGURES[name])], b"")
    with tempfile.TemporaryDirectory() as folder:
        curves = Path(folder) / curves_file(name)
        draw_curves(list(reproduction(name).curves()), curves, REPRODUCTIONS[name])
        return {path.name: path.read_bytes() for path in (curves, *draw_source_figures(name, folder))}


def _reproductions() -> Sequence[str]:
    from gossamer.experiments import REPRODUCTIONS

    return tuple(REPRODUCTIONS)


REPRODUCED = {f"reproduce_{name.replace('-', '_')}.md": name for name in _reproductions()}
"""Pages with pictures of their own, and the sources that they reproduce."""

GENERATED: dict[str, Callable[[], str]] = {
    "networks.md": networks_page,
    "tasks.md": tasks_page,
    "algorithms.md": algorithms_page,
    "cli.md": cli_page,
    "api/builders.md": builders_page,
    "multinode_broadcast_on_arrays.md": array_broadcasts_page,
    **{path: functools.partial(reproduction_page, name) for path, name in REPRODUCED.items()},
}


# -- outputs of commands ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Enter an empty folder, with a `gossamer` of this Python on the path and a fixed terminal."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tools:
        command = Path(tools) / "gossamer"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gossamer "$@"\n')
        command.chmod(0o755)
        source = str(DOCS.parent / "src")
        os.environ.update(
            PATH=f"{tools}{os.pathsep}{before.get('PATH', '')}",
            PYTHONPATH=os.pathsep.join(p for p in (source, before.get("PYTHONPATH")) if p),
            COLUMNS=str(WIDTH),
            NO_COLOR="1",
            TERM="dumb",
        )
        os.environ.pop("FORCE_COLOR", None)
        try:
            with contextlib.chdir(folder):
                yield Path(folder)
        finally:
            os.environ.clear()
            os.environ.update(before)


def output_of(command: str) -> str:
    """Run one command in the current folder; return what it prints, with times and memory cut."""
    if command.startswith("gossamer ") and not re.search("[|;&<>$`]", command):
        from gossamer.cli import main  # in this process: no second start of numba

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main(shlex.split(command)[1:])
        text = printed.getvalue()
    else:
        run = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
        text = run.stdout + run.stderr
    for pattern, instead in _VARYING:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def with_outputs(text: str) -> tuple[str, dict[str, bytes]]:
    """Return a page with the output of every ``console`` block renewed, and the pictures that the commands drew."""

    def renewed(block: re.Match[str]) -> str:
        commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
        body = "".join(f"$ {command}\n{output_of(command)}" for command in commands)
        return f"```console\n{body}```"

    if not _BLOCK.search(text):
        return text, {}
    with workplace() as folder:
        page = _BLOCK.sub(renewed, text)
        return page, {path.name: path.read_bytes() for path in folder.glob("*.svg")}


def fresh_pages(drawn: bool, only: Sequence[str] = ()) -> Iterator[tuple[Path, str, dict[str, bytes]]]:
    """Yield every page that this script writes to, or those of `only`, the text that it should have, and its pictures.

    Pictures of reproductions are empty if they are not to be drawn.
    """
    for name, make in GENERATED.items():
        if only and name not in only:
            continue
        yield DOCS / name, make(), reproduction_pictures(REPRODUCED[name], drawn) if name in REPRODUCED else {}
    for path in sorted(DOCS.glob("*.md")):
        if path.name not in GENERATED and (not only or path.name in only):
            text = path.read_text(encoding="utf-8")
            if _BLOCK.search(text):
                yield path, *with_outputs(text)


def stale_pages(only: Sequence[str] = ()) -> list[Path]:
    """Return the pages, of all or of `only`, whose text is not what this script writes, and put the right text beside.

    Pictures must be there; what is in them is for the tests of the plots.
    """
    stale = []
    for path, text, pictures in fresh_pages(False, only):
        beside = path.with_name(path.name + ".new")
        if path.exists() and path.read_text(encoding="utf-8") == text:
            beside.unlink(missing_ok=True)
        else:
            beside.write_text(text, encoding="utf-8")
            stale.append(path)
        stale += [DOCS / "_static" / name for name in pictures if not (DOCS / "_static" / name).exists()]
    return stale


def main(arguments: list[str]) -> int:
    """Write or check the pages; return the exit status."""
    if arguments == ["--check"]:
        stale = stale_pages()
        for path in stale:
            print(f"stale: {path}; see {path}.new, or run python docs/generate.py", file=sys.stderr)
        return 1 if stale else 0
    unknown = [name for name in arguments if not (DOCS / name).exists() and name not in GENERATED]
    if unknown:
        print(f"no page {unknown[0]!r} in {DOCS}\n\n{__doc__}", file=sys.stderr)
        return 2
    for path, text, pictures in fresh_pages(True, arguments):
        fresh = {path: text.encode()} | {DOCS / "_static" / name: data for name, data in pictures.items()}
        for place, data in fresh.items():
            if not place.exists() or place.read_bytes() != data:
                place.write_bytes(data)
                print(f"wrote {place}")
        path.with_name(path.name + ".new").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
