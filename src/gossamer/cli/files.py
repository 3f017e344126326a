"""What commands ask of files: read a schedule, and refuse before the work what cannot be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gossamer.cli.console import check_other_than, hush_libraries
from gossamer.errors import FileFormatError, ModelError, ScheduleError, shown

__all__ = [
    "FOREIGN",
    "check_certificate",
    "check_other_than",
    "check_outputs",
    "check_page",
    "check_pages",
    "check_plan",
    "check_schedule",
    "is_certificate",
    "is_picture",
    "message_sizes",
    "network_of",
    "pages",
    "read_schedule",
    "save_plan",
    "split_outputs",
    "write_json",
]

_SCHEDULES = (".parquet", ".txt")
"""The suffixes of schedule files, as `gossamer.schedules.files.SUFFIXES` has them."""
FOREIGN = (".xml", ".json", ".goal")
"""The suffixes of schedules of other tools, as `gossamer.interchange.READERS` has them."""


def is_picture(path: Path) -> bool:
    """Whether the suffix of a file is that of a picture."""
    from gossamer.plots.picture_files import FORMATS

    return path.suffix.lower().removeprefix(".") in FORMATS


def check_outputs(output: Iterable[Path], suffixes: Iterable[str], allowed: str) -> None:
    """Refuse files that cannot be written, or are neither of these suffixes nor pictures.

    In `allowed`, which says what is allowed, ``{}`` stands for the suffixes of pictures.
    """
    from gossamer.atomic_files import check_writable
    from gossamer.plots.picture_files import FORMATS

    known = tuple(suffixes)
    for path in output:
        if path.suffix.lower() not in known and not is_picture(path):
            listed = allowed.format(", ".join(f".{f}" for f in FORMATS))
            raise FileFormatError(f"{str(path)!r} is of no known kind; {listed}")
        check_writable(path)


def check_schedule(path: Path) -> None:
    """Refuse a file that is no schedule, or cannot be written."""
    from gossamer.atomic_files import check_writable

    if path.suffix.lower() not in _SCHEDULES:
        raise FileFormatError(f"{str(path)!r} is of no known kind; a schedule is {' or '.join(_SCHEDULES)}")
    check_writable(path)


def check_certificate(path: Path) -> None:
    """Refuse a certificate whose name does not end in .json, or that cannot be written."""
    from gossamer.atomic_files import check_writable

    if path.suffix.lower() != ".json":
        raise FileFormatError(f"{str(path)!r} is of no known kind; a certificate is .cert.json")
    check_writable(path)


def split_outputs(output: list[Path]) -> tuple[list[Path], list[Path]]:
    """Return the tables and the plots among files, and refuse those that cannot be written."""
    from gossamer.studies.sweeps import TABLE_FORMATS

    suffixes = [f".{f}" for f in TABLE_FORMATS]
    check_outputs(output, suffixes, f"a table is one of {', '.join(suffixes)}, a picture is one of {{}}")
    plots = [path for path in output if is_picture(path)]
    return [path for path in output if path not in plots], plots


def pages(output: list[Path] | None) -> tuple[list[Path], list[Path]]:
    """Return the pages of the explorer among files, and the others."""
    found = [path for path in output or [] if path.suffix.lower() == ".html"]
    return found, [path for path in output or [] if path not in found]


def check_page(path: Path) -> None:
    """Refuse a page that cannot be written."""
    from gossamer.atomic_files import check_writable

    hush_libraries()
    if path.suffix.lower() != ".html":
        raise FileFormatError(f"the page {str(path)!r} must end in .html")
    check_writable(path)


def check_pages(paths: list[Path], simulations: int) -> None:
    """Refuse pages that cannot be written, or would show more than two simulations."""
    if paths and simulations > 2:
        raise ModelError(
            f"{str(paths[0])!r} shows one simulation, or two side by side, not {simulations}: name one load"
        )
    for path in paths:
        check_page(path)


def check_plan(output: list[Path] | None) -> list[Path]:
    """Return the files that a plan is written to, pages last; refuse what cannot be written, or is of another kind."""
    shown, others = pages(output)
    allowed = f"a schedule is {' or '.join(_SCHEDULES)}, a picture one of {{}}, a page .html"
    check_outputs(others, _SCHEDULES, allowed)
    for path in shown:
        check_page(path)
    return [*others, *shown]


def save_plan(found: Any, output: list[Path], stage: Callable[[str], None], certificate: Path | None = None) -> None:
    """Write what was planned: schedules, pictures of the load, pages of the explorer, a certificate; all or none."""
    from gossamer.atomic_files import written_together

    with written_together():
        for path in output:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots import draw

                draw(found.schedule, path)
            elif path.suffix.lower() == ".html":
                from gossamer.explorer import explore

                explore(found, path)
            else:
                found.save(path)
        if certificate is not None:
            from gossamer.planning.certificates import write_certificate

            stage(f"writing {certificate}")
            write_certificate(found.certificate(), certificate)


def is_certificate(file: Path) -> bool:
    """Return whether a file is a certificate, by its name or by how it begins."""
    if file.name.lower().endswith(".cert.json"):
        return True
    if file.suffix.lower() != ".json" or not file.is_file():
        return False
    with file.open("rb") as begun:
        return b'"gossamer-certificate"' in begun.read(200)


def message_sizes(text: str) -> list[int]:
    """Return the sizes that a text such as ``1kB,1MB`` or ``1KiB:1MiB`` names; ScheduleError if it names none, or 0."""
    from gossamer.reading.quantities import sizes

    found = sizes(text, "--bytes", error=ScheduleError)
    if not all(found):
        raise ScheduleError("--bytes must be 1 byte or more, got 0")
    return found


def read_schedule(
    file: Path, network: str | None = None, task: str | None = None, other_bytes: str | None = None
) -> Any:
    """Read a schedule file, or, on a network, one that another tool made; one in seconds as for other bytes."""
    if network is None and task is not None:
        raise FileFormatError("--task goes with --network, for a schedule of another tool")
    if network is None:
        from gossamer.planning import switching

        if file.suffix.lower() in FOREIGN and file.is_file():
            from gossamer.interchange.msccl import program_ranks

            known = f" a program of {program_ranks(file)} ranks" if file.suffix.lower() == ".xml" else ""
            raise FileFormatError(
                f"{shown(str(file), 200)} is{known} of another tool, which is judged on a network: name it, "
                f"with as many ranks"
            )
        found = switching.load(file)
        if other_bytes is None:
            return found
        from gossamer.planning.plan_resizing import resized

        return resized(found, other_bytes)
    if file.suffix.lower() in _SCHEDULES:
        raise FileFormatError(
            f"{shown(str(file), 200)} is a schedule file, in which its network stands; leave {shown(network)} out"
        )
    from gossamer.cli.options import read_network, say_assumed
    from gossamer.interchange import import_schedule
    from gossamer.networks.network import has_speeds
    from gossamer.networks.structures import Assumption

    judged_on = read_network(network)
    if other_bytes is None and has_speeds(judged_on):
        say_assumed([Assumption("64 MiB, as no --bytes is given", "--bytes SIZE")])
    return import_schedule(file, judged_on, task, other_bytes)


def network_of(network: str | None, also: str | None) -> str | None:
    """Return the network of a schedule of another tool, named by an option or as an argument; refuse two."""
    if network is not None and also is not None and network != also:
        raise ScheduleError(f"a schedule is of one network, not of {also!r} and --network {network!r}")
    return network if also is None else also


def write_json(value: Any, path: Path, indent: int = 2) -> None:
    """Write a value as JSON; the file appears whole or not at all."""
    import json

    from gossamer.atomic_files import whole_file

    with whole_file(path) as part:
        part.write_text(json.dumps(value, indent=indent) + "\n", encoding="utf-8")
