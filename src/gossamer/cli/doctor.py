"""``gossamer doctor``, ``manual`` and ``compile``: what is installed, the page for ``man``, kernels beforehand."""

from __future__ import annotations

import importlib.metadata
import io
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gossamer.atomic_files import memory_text
from gossamer.cli.command_group import EXAMPLES, PURPOSES
from gossamer.cli.console import print_entries, print_json, progress, styled
from gossamer.cli.options import Json
from gossamer.version import __version__

__all__ = ["EXTRAS", "NEEDED", "Finding", "State", "compile_all", "doctor", "examine", "manual", "manual_page"]

# The manual page, in the language of man, from the commands as they are.

_STATUS = """0 on success; 1 when the command ran and the answer is negative: a schedule is not valid,
traffic or a routing function deadlocks, points of a sweep failed, or a required package is missing; 2 when it
failed, for instance because of bad input: standard error has one line, and no partial file is left behind; 130 after
Ctrl-C, 141 when nobody reads the output, 143 after SIGTERM, 129 after SIGHUP, and so on."""
_ENVIRONMENT = {
    "NO_COLOR": "Nothing is printed in color or bold.",
    "FORCE_COLOR": "Bold and colors also where the output is no terminal.",
    "COLUMNS": "The width of lines, where the terminal does not tell it.",
    "NUMBA_CACHE_DIR": "The folder of compiled kernels; default: beside the package, or the user's cache folder where "
    "nothing can be written there.",
}


def manual_page(context: Any) -> str:
    """Return the manual page of the application of a context, in roff.

    `context` (click.Context): of the application, not of a command in it.
    """
    program = context.command
    lines = [
        f'.TH GOSSAMER 1 "" "gossamer {__version__}" "User Commands"',
        ".SH NAME",
        _text(f"gossamer - {program.help}".removesuffix(".")),
        ".SH SYNOPSIS",
        ".B gossamer",
        ".I command",
        "[options]",
        ".SH COMMANDS",
    ]
    for purpose, names in PURPOSES:
        lines += [f".SS {_text(purpose)}"]
        for name in names:
            lines += [".TP", f".B {_text(name)}", _text(program.get_command(context, name).get_short_help_str(300))]
    for name, command, inner in _commands(program, context, ""):
        lines += [f".SH GOSSAMER {_text(name.upper())}", *_section(name, command, inner)]
    lines += [".SH EXIT STATUS", _text(_STATUS), ".SH ENVIRONMENT"]
    for name, told in _ENVIRONMENT.items():
        lines += [".TP", f".B {_text(name)}", _text(told)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, context: Any, before: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each command with its words and a context of its own; those of groups in their places."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = type(context)(command, parent=context, info_name=name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", command, inner


def _section(name: str, command: Any, context: Any) -> Iterator[str]:
    """Yield the lines of one command: usage, what it does, what it takes, an example."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f".B gossamer {_text(name)}", _text(usage), ".PP", _text(" ".join(str(command.help).split())))
    for parameter in command.get_params(context):
        row = parameter.get_help_record(context)
        if row is not None:
            yield from (".TP", f".B {_text(row[0])}", _text(row[1]))
    yield from (".PP", "Example:", ".PP", f".RS 4\n.nf\n{_text(EXAMPLES[name])}\n.fi\n.RE")


def _text(words: str) -> str:
    """Return words as they are to stand in a line of roff."""
    plain = " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{plain}" if plain.startswith(".") else plain


# What is installed here: versions, compilers, MPI, SimGrid, browsers, caches; what is missing, and how to get it.

State = Literal["good", "absent", "broken"]
"""good: here; absent: not here, and only needed for what it is named after; broken: needed for everything."""

NEEDED = ("networkx", "matplotlib", "numba", "numpy", "pyarrow", "rich", "scipy", "typer")
"""The packages without which nothing works."""
EXTRAS = {
    "solver": (("ortools",), "exact schedules, --effort solver"),
    "mpi": (("mpi4py", "mpich"), "gossamer run, gossamer.execution.mpi"),
    "jax": (("jax",), "gossamer.execution.jax"),
    "torch": (("torch",), "gossamer.execution.torch"),
    "symmetry": (("igraph",), "symmetries of networks from files"),
    "dask": (("distributed", "cloudpickle"), "gossamer sweep on several machines"),
    "video": (("imageio-ffmpeg",), "animations as .mp4"),
    "browser": (("playwright",), "tests of the explorer"),
    "test": (
        ("duckdb", "hypothesis", "pandas", "polars", "protobuf", "pytest", "pytest-benchmark", "pytest-xdist", "simpy"),
        "the tests of gossamer",
    ),
    "docs": (
        ("furo", "latex2mathml", "myst-parser", "numpydoc", "sphinx", "sphinxcontrib-bibtex"),
        "building the documentation",
    ),
    "dev": (
        ("import-linter", "mypy", "ruff", "scipy-stubs", "towncrier"),
        "changing gossamer: ./check",
    ),
}
"""The extras of the package: what each installs itself, and what it is for."""
_PROGRAMS = (
    ("compilers", "C compiler", ("cc", "gcc", "clang"), "exported C programs", "apt install build-essential"),
    ("compilers", "mpicc", ("mpicc",), "C programs over MPI", "pip install 'gossamer[mpi]'"),
    ("MPI", "mpiexec", ("mpiexec", "mpirun"), "gossamer run", "pip install 'gossamer[mpi]'"),
    ("SimGrid", "smpirun", ("smpirun",), "gossamer simulate --model smpi", "apt install libsimgrid-dev"),
    (
        "browsers",
        "browser",
        ("chromium", "chromium-browser", "google-chrome", "firefox"),
        "explorer pages; any other will do",
        "apt install chromium",
    ),
)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for.

    * `subject` (str): what it belongs to: this program, packages, extras, compilers, MPI, SimGrid, browsers, caches.
    * `name` (str): what was looked for.
    * `state` (str): ``"good"``, ``"absent"`` or ``"broken"``.
    * `found` (str): its version or place, or what it would be for.
    * `remedy` (str): the command that gets it; empty where nothing is to be done.
    """

    subject: str
    name: str
    state: State
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look for everything that gossamer can use.

    Returns: list of Finding: in the order of the subjects; programs are asked for their versions, for at most 10
    seconds each.

    >>> found = examine()
    >>> [f.state for f in found if f.name == "numba"]
    ['good']
    """
    return [*_program(), *_packages(), *_extras(), *_programs(), *_caches()]


def _program() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    here = Path(__file__).parent
    yield Finding("this program", "gossamer", "good", f"{__version__} in {here}")
    supported = sys.version_info >= (3, 11)
    python = f"{platform.python_version()} in {sys.prefix}"
    yield Finding(
        "this program", "Python", "good" if supported else "broken", python, "" if supported else "Python 3.11 or newer"
    )
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {memory_text(os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'))} of memory"
    yield Finding("this program", "machine", "good", f"{platform.platform()}, {cores} processors{memory}")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _packages() -> Iterator[Finding]:
    for name in NEEDED:
        version = _version(name)
        if version is None:
            yield Finding("packages", name, "broken", "not installed", f"pip install {name}")
        else:
            yield Finding("packages", name, "good", version)


def _extras() -> Iterator[Finding]:
    for extra, (packages, use) in EXTRAS.items():
        versions = {package: _version(package) for package in packages}
        if all(versions.values()):
            found = ", ".join(f"{package} {version}" for package, version in versions.items())
            yield Finding("extras", extra, "good", found)
        else:
            missing = [package for package, version in versions.items() if version is None]
            some = f"; not here: {', '.join(missing)}" if len(missing) < len(packages) else ""
            yield Finding("extras", extra, "absent", f"for {use}{some}", f"pip install 'gossamer[{extra}]'")


def _programs() -> Iterator[Finding]:
    for subject, name, words, use, remedy in _PROGRAMS:
        place = next(filter(None, map(_place, words)), None)
        if place is None:
            yield Finding(subject, name, "absent", f"for {use}", remedy)
        else:
            yield Finding(subject, name, "good", f"{_says(place)} in {place}")


def _place(word: str) -> str | None:
    """Return where a program is: beside this Python, or on the path."""
    return shutil.which(word, path=sysconfig.get_path("scripts")) or shutil.which(word)


def _says(place: str) -> str:
    """Return the line of a program's answer to ``--version`` that has a number in it."""
    try:
        done = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=10, check=False, input="")
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return "no version"
    lines = [" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()]
    return next((line[:60] for line in lines if any(c.isdigit() for c in line)), "no version")


def _kept() -> Path | None:
    """Return where Numba keeps kernels: in NUMBA_CACHE_DIR, beside the package, or in the user's cache folder."""
    try:
        from gossamer.networks.link_table import breadth_first

        kept = breadth_first.stats.cache_path
    except ImportError:  # told under packages
        return None
    if kept is None:
        return None
    package, folder = Path(__file__).parents[1], Path(kept).parent
    if package in folder.parents:
        return package
    return folder.parent if folder == breadth_first.folder else folder


def _caches() -> Iterator[Finding]:
    root = _kept()
    if root is None:
        told, remedy = "no folder for them can be written: each start compiles", "export NUMBA_CACHE_DIR=FOLDER"
        yield Finding("caches", "compiled kernels", "absent", told, remedy)
    else:
        kernels = list(root.rglob("*.nbi")) + list(root.rglob("*.nbc"))
        size = memory_text(sum(path.stat().st_size for path in kernels))
        told = f"{sum(path.suffix == '.nbi' for path in kernels)} kernels, {size} in {root}"
        yield Finding("caches", "compiled kernels", "good", told)
    folder = tempfile.gettempdir()
    yield Finding(
        "caches", "temporary files", "good", f"{memory_text(shutil.disk_usage(folder).free)} free in {folder}"
    )


def doctor(json: Json = False) -> None:
    """Show what is installed, what is not, and how to get it; exit status 1 if something required is missing."""
    from dataclasses import asdict

    findings = examine()
    missing = any(f.state == "broken" for f in findings)
    if json:
        print_json([asdict(f) for f in findings])
        raise typer.Exit(int(missing))
    marks = {"good": styled("yes", "green"), "absent": " no", "broken": styled("BAD", "red")}
    for subject in dict.fromkeys(f.subject for f in findings):
        print(styled(subject, "bold"))
        rows = [f for f in findings if f.subject == subject]
        print_entries(
            (f"  {marks[f.state]}  {f.name}", [f.found, *([f"get it: {f.remedy}"] if f.remedy else [])]) for f in rows
        )
        print()
    absent = [f.name for f in findings if f.state != "good"]
    print(
        "Everything is installed." if not absent else f"Not here: {', '.join(absent)}. Only what says BAD is required."
    )
    raise typer.Exit(int(missing))


def manual(
    context: typer.Context,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to a file (.1) instead.", metavar="FILE")
    ] = None,
) -> None:
    """Print the manual page of all commands, for man: gossamer manual | man -l -."""
    from gossamer.atomic_files import whole_file

    page = manual_page(context.find_root())
    if output is None:
        print(page, end="")
        return
    with whole_file(output) as file:
        file.write_text(page, encoding="utf-8")
    print(f"wrote {output}")


# What is compiled when it is first used, compiled beforehand.

_COMPILED_NETWORKS = (
    "torus:4x4",
    "array:3x4",
    "hypercube:3",
    "star:4",
    "fat-tree:2,2",
    "leaf-spine:2,2,1",
    "kautz:2,2",
)
_COMPILED_TASKS = (
    *("broadcast", "scatter", "gather", "allgather", "alltoall", "reduce", "reduce-scatter", "allreduce"),
    *("partial-multinode-broadcast --active 0,1,3", "partial-exchange --active 0,1,3", "permutation --pattern random"),
    *("neighbor-exchange", "uneven-exchange --traffic zipf"),
)
_COMPILED_OTHERS = (
    "plan torus:4x4 allgather --ports one",
    "plan torus:4x4 allgather --segmented",
    "plan torus:4x4 allgather --buffer 3",
    "plan ring:4 allreduce --bytes 64kB --bandwidth 50GB/s --latency 2us",
    "plan torus:4x4 alltoall --stream",
    "compare torus:4x4 alltoall",
    "compare array:4x4 permutation --pattern random",
    "compare torus:4x4 allgather --switching wormhole",
    "compare torus:4x4 alltoall --switching wormhole",
    "compare torus:4x4 broadcast --switching wormhole",
    "plan kautz:2,2 alltoall --switching wormhole",
    "simulate arrivals torus:4x4 --load 0.5 --steps 200",
    "simulate arrivals torus:4x4 --load 0.2 --steps 200 --arrivals on-off",
    "simulate traffic torus:4x4 --load 0.2 --measured 200",
    "simulate traffic kautz:2,2 --load 0.2 --measured 200",
    "deadlock torus:4x4",
    "network torus:4x4",
    "design --nodes 16 --degree 4 --budget 1",
)


def compile_all(
    context: typer.Context,
    json: Json = False,
) -> None:
    """Compile beforehand what is compiled when it is first used, such as while a container is built."""
    from gossamer.jit import telling, uninterpreted

    made: list[str] = []
    began = time.monotonic()
    lines = [f"plan {network} {task}" for task in _COMPILED_TASKS for network in _COMPILED_NETWORKS] + list(
        _COMPILED_OTHERS
    )
    with progress() as stage, uninterpreted():
        for i, line in enumerate(lines):
            stage(f"{i + 1} of {len(lines)}: {line}")
            with telling(lambda name, seconds: made.append(name)):
                _run_quietly(context.find_root().command, line)
    seconds = time.monotonic() - began
    if json:
        print_json({"compiled": len(made), "seconds": round(seconds, 1)})
    else:
        print(f"compiled {len(made)} kernels in {seconds:.0f} s; those that were kept already were not compiled again")


def _run_quietly(root: Any, line: str) -> None:
    """Run a command, and print nothing; one that is refused compiles nothing."""
    from gossamer.errors import GossamerError

    with suppress(GossamerError), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        root.main(args=line.split(), prog_name="gossamer", standalone_mode=False)
