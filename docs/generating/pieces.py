"""The pieces that are made one by one: pages and pictures, what each depends on, and how it is made."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from generating import bounds_figures, gallery, notebooks, registry_pages, reproductions
from generating.cli_page import cli_page, commands
from generating.commands import PICTURES, NotInstalledError, blocks, machines, typed, with_outputs
from generating.coverage import coverage_page
from generating.inputs import ROOT, Inputs, digest
from generating.pictures import same_picture

RECORD = "docs/generated.json"
"""The record of what was made of which inputs: a piece a line."""

TABLES = "gossamer.studies.reproductions"
_SHOWN = {"gossamer": r"(^| )(-h|--help|manual)( |$)", TABLES: r"^reproduce "}
"""Which docstrings a command prints."""

Job = Callable[[], Any]
"""Work for one process: a function of a module, with its arguments."""


@dataclass(frozen=True)
class Piece:
    """A page, the pictures of a page, or a page with the pictures that its commands draw.

    Attributes
    ----------
    name : str
        Its page, or what its pictures are of.
    entries : tuple of str
        The modules of gossamer of which it tells, with all that they import; none: all modules there are.
    jobs : function
        Returns the work, in parts that may be done at the same time.
    files : function
        Returns the files, from the root of the repository, and what belongs into them, from the results of the jobs.
    titles : tuple of str
        Modules of which only the words appear in it, and not what they do.
    data : tuple of str
        Files, from the root of the repository, of which it is made as well.
    without : tuple of str
        Modules that do not count although others name them: those of the commands that it does not run.
    words : tuple of str
        With what the names of modules begin whose docstrings it shows.
    """

    name: str
    entries: tuple[str, ...]
    jobs: Callable[[], Sequence[Job]]
    files: Callable[[list[Any]], dict[str, bytes]]
    titles: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def all_pieces(root: Path = ROOT) -> list[Piece]:
    """Return every piece, those that take longest first."""
    from gossamer.studies.reproductions import REPRODUCTIONS

    pieces = [_with_commands(root, path) for path in _hand_written(root)]
    for name in REPRODUCTIONS:
        pieces += [_reproduced(name), _pictures(name)]
    pieces += [_drawn(root, path) for path in gallery.pages(root / "docs")]
    pieces += [_notebook(path) for path in notebooks.notebooks(root)]
    return [piece for piece in pieces if piece is not None] + [
        Piece(
            "pictures of bounds",
            ("gossamer.plots.picture_files", "gossamer.bounds", "gossamer.planning.planner"),
            lambda: [bounds_figures.drawn],
            lambda made: {f"docs/_static/{bounds_figures.FILE}": made[0]},
        ),
        _page(
            "docs/reference/algorithms.md",
            registry_pages.algorithms_page,
            "gossamer.testing",
            "gossamer.wormhole.registry",
            "gossamer.simulation.random_arrivals.schemes",
        ),
        _page(
            "docs/explanation/multinode_broadcast_on_arrays.md",
            registry_pages.array_broadcasts_page,
            "gossamer.algorithms",
            "gossamer.bounds",
            "gossamer.verification",
        ),
        _page("docs/reference/networks.md", registry_pages.networks_page, "gossamer.networks.families"),
        _page("docs/reference/tasks.md", registry_pages.tasks_page, "gossamer.questions.tasks"),
        _page("docs/reference/cli.md", cli_page, "gossamer.cli.app", words=("gossamer",)),
        _page(
            "docs/papers/coverage.md",
            coverage_page,
            "gossamer.studies.reproductions",
            data=("docs/papers/coverage.toml",),
        ),
        Piece(
            "docs/api/builders.md",
            ("gossamer.algorithms",),
            lambda: [registry_pages.builders_pages],
            lambda made: {name: text.encode() for name, text in made[0].items()},
        ),
    ]


def _hand_written(root: Path) -> list[Path]:
    """Return the pages that may have commands: the README and those of the docs, without what Sphinx built."""
    pages = (root / "docs").rglob("*.md")
    return [root / "README.md", *sorted(path for path in pages if "_build" not in path.parts)]


def _notebook(path: Path) -> Piece:
    text, name = path.read_text(encoding="utf-8"), path.stem
    return Piece(
        f"{notebooks.FOLDER}/{path.name}",
        (),
        lambda: [partial(notebooks.made, text, name)],
        lambda made: made[0],
        data=machines(path.parents[2]),
    )


def _page(name: str, make: Callable[[], str], *entries: str, **more: Any) -> Piece:
    return Piece(name, entries, lambda: [make], lambda made: {name: made[0].encode()}, **more)


def _with_commands(root: Path, path: Path) -> Piece | None:
    text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
    if not blocks(text):
        return None
    asked = typed(text)
    module = {command: function.__module__ for command, function in commands().items()}
    first = {line.split()[0] for line in asked}
    known = {command.split()[0] for command in module}
    shown = {module[command] for command in module if command.split()[0] in first or not first <= known}

    def files(made: list[Any]) -> dict[str, bytes]:
        page, pictures = made[0]
        return {name: page.encode()} | {f"docs/_static/{file}": data for file, data in pictures.items()}

    return Piece(
        name,
        ("gossamer.__main__", *sorted(shown)),
        lambda: [partial(with_outputs, text)],
        files,
        data=machines(root),
        without=tuple(sorted({*module.values()} - shown)),
        words=tuple(start for start, said in _SHOWN.items() if any(re.search(said, line) for line in asked)),
    )


def _drawn(root: Path, path: Path) -> Piece:
    text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()

    def files(made: list[Any]) -> dict[str, bytes]:
        pictures = {file: data for part in made for file, data in part.items()}
        return {name: text.encode()} | {f"docs/_static/{file}": data for file, data in pictures.items()}

    jobs = [partial(gallery.drawn, part) for part in gallery.parts(text)]
    drawing = tuple(module for module in Inputs().modules if module.startswith("gossamer.plots"))
    return Piece(name, ("gossamer.version",), lambda: jobs, files, drawing)


def _reproduced(name: str) -> Piece:
    page = f"docs/papers/{name.replace('-', '_')}.md"
    return Piece(
        page,
        (f"gossamer.studies.reproductions.{name.replace('-', '_')}",),
        lambda: [partial(reproductions.tables, name, module) for module in reproductions.table_modules(name)],
        lambda made: {page: reproductions.reproduction_page(name, made).encode()},
        ("gossamer.studies.reproductions", "gossamer.plots.paper_figures"),
        ("docs/papers/coverage.toml",),
        words=(TABLES,),
    )


def _pictures(name: str) -> Piece:
    def files(made: list[Any]) -> dict[str, bytes]:
        names = reproductions.picture_files(name)
        return {f"docs/_static/{file}": data for file, data in zip(names, made, strict=True)}

    return Piece(
        f"pictures of {name}",
        (
            f"gossamer.studies.reproductions.{name.replace('-', '_')}",
            "gossamer.plots.paper_figures",
            "gossamer.plots.curves",
        ),
        lambda: [partial(reproductions.picture, name, file) for file in reproductions.picture_files(name)],
        files,
    )


# -- what is stale ---------------------------------------------------------------------------------------------


class Record:
    """Which inputs each piece was made of, and which outputs it has; a piece of other inputs or outputs is stale."""

    def __init__(self, root: Path = ROOT, inputs: Inputs | None = None) -> None:
        self.root, self.inputs = root, inputs or Inputs()
        path = root / RECORD
        self.made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def fresh(self, piece: Piece) -> bool:
        """Return whether a piece is of today's inputs and its files are as they were made."""
        known = self.made.get(piece.name)
        return bool(known) and known == self.entry(piece, known["outputs"])

    def add(self, piece: Piece, files: Iterable[str]) -> None:
        """Note that the files, as they are now, are made of today's inputs."""
        self.made[piece.name] = self.entry(piece, files)

    def write(self) -> None:
        """Write the record, a piece a line."""
        lines = [f"{json.dumps(name)}: {json.dumps(self.made[name], sort_keys=True)}" for name in sorted(self.made)]
        (self.root / RECORD).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def entry(self, piece: Piece, files: Iterable[str]) -> dict[str, Any]:
        """Return what is recorded of a piece: hashes of what it is made of, and of its files."""
        makers = {getattr(job, "func", job).__module__ for job in piece.jobs()}
        parts = [
            self.inputs.digest(makers, ["generating.pieces"]).encode(),
            self.inputs.digest(piece.entries or self.inputs.modules, piece.titles, piece.without, piece.words).encode(),
            *((self.root / file).read_bytes() for file in piece.data),
        ]
        return {
            "inputs": digest(b"\0".join(parts)),
            "outputs": {file: self._shown(file) for file in files},
        }

    def _shown(self, file: str) -> str:
        """Return a hash of a file; of a page with commands, of these and their outputs only."""
        path = self.root / file
        data = path.read_bytes() if path.exists() else b""
        shown = blocks(data.decode()) if path.suffix == ".md" else []
        return digest("\0".join(shown).encode() if shown else data)


def same(path: Path, data: bytes) -> bool:
    """Return whether a file has these contents, or a picture that shows the same."""
    if not path.exists():
        return False
    old = path.read_bytes()
    return same_picture(old, data) if path.suffix in PICTURES else old == data


# -- making ----------------------------------------------------------------------------------------------------


def made(pieces: Sequence[Piece], processes: int | None = None) -> Iterator[tuple[Piece, dict[str, bytes]]]:
    """Yield each piece with its files and what belongs into them, made by several processes.

    A piece that takes what is not installed here is left out, and that is said.
    """
    jobs = [list(piece.jobs()) for piece in pieces]
    count = min(processes or os.cpu_count() or 1, sum(map(len, jobs)))
    if count <= 1:
        for piece, work in zip(pieces, jobs, strict=True):
            try:
                done = [job() for job in work]
            except NotInstalledError as error:
                print(f"{piece.name} stays as it is: {error}", file=sys.stderr)
                continue
            yield piece, piece.files(done)
        return
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        futures: list[list[Future[Any]]] = [[pool.submit(job) for job in work] for work in jobs]
        for piece, results in zip(pieces, futures, strict=True):
            try:
                done = [result.result() for result in results]
            except NotInstalledError as error:
                print(f"{piece.name} stays as it is: {error}", file=sys.stderr)
                continue
            except Exception as error:
                pool.shutdown(cancel_futures=True)
                error.add_note(f"while making {piece.name}")
                raise
            yield piece, piece.files(done)
