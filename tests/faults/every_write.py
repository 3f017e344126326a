"""Run under the preloaded library, FOLDER PART PARTS: let writes of every command fail, each by itself."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import os
import shutil
import sys
from pathlib import Path

LINES = [
    "plan torus:3x3 allgather -o new.parquet", "plan torus:3x3 allgather -o new.txt", "plan torus:3x3 allgather -o new.svg",
    "plan torus:3x3 allgather -o new.png", "plan torus:3x3 allgather -o new.pdf", "plan torus:3x3 allgather -o new.html",
    "plan torus:3x3 allgather --switching wormhole -o new.parquet", "plan torus:3x3 allgather --switching wormhole -o new.txt",
    *(f"network torus:3x3 -o new.{ending}" for ending in ("edges", "json", "graphml", "dot", "svg")),
    *(f"demands torus:3x3 alltoall -o new.{ending}" for ending in ("csv", "parquet", "json", "npy", "mtx", "mtx.gz")),
    *(f"export plan.parquet --to {form} -o new{ending}" for form, ending in (
        ("smpi", ""), ("goal", ".goal"), ("chakra", ""), ("astra-sim", ""), ("msccl-xml", ".xml"), ("msccl-json", ".json"), ("perfetto", ".json"),
        ("c", ""), ("mscclpp", ".json"), ("program", ".program"), ("csv", ".csv"), ("json", ".json"))),
    "draw plan.parquet -o new.svg", "explore plan.parquet -o new.html", "verify plan.parquet",
    "faults ring:4 broadcast -o new.csv", "faults ring:4 broadcast -o new.json", "faults ring:4 broadcast -o new.parquet",
    "simulate arrivals torus:3x3 --load 0.3 --steps 50 -o new.csv", "simulate arrivals torus:3x3 --load 0.3 --steps 50 -o new.parquet",
    "simulate traffic torus:3x3 --load 0.2 --measured 100 -o new.csv", "sweep run --network ring:4 --task broadcast --engine in-process -o new.parquet",
    "manual -o new.1",
]  # fmt: skip
ERRORS = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)
OLD = b"as before"


def carried_out(line: str) -> tuple[int, str]:
    """Run a command and return its exit status and what it says on standard error."""
    from gossamer.cli import main

    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            status = main(line.split())
        except BaseException as error:
            return -1, f"{type(error).__name__} got out: {error}"
    return status, err.getvalue()


def wrong(line: str, n: int, code: int, status: int, err: str) -> list[str]:
    """Return what is wrong after a write failed. The journal of a sweep stays: the next run goes on from it."""
    where = f"{line}, write {n} fails with {errno.errorcode[code]}:"
    said = []
    if status not in (0, 2) or "fault of gossamer" in err or "Traceback" in err or err.count("\n") > 1:
        said.append(f"{where} status {status}, {err[-300:]!r}")
    said += [f"{where} left {path}" for path in Path().glob(".gossamer-*")]
    said += [
        f"{where} {path} is half written"
        for path in Path().glob("new*")
        if status and path.is_file() and path.suffix != ".journal" and path.read_bytes() != OLD
    ]
    return said


def numbers(count: int) -> list[int]:
    """Return which of so many writes fail: each, but of more than 40 the first and last 12, and one of 8 between."""
    some = {*range(12), *range(0, count, 8), *range(count - 12, count)}
    return sorted(n for n in (some if count > 40 else range(count)) if n < count)


def main(lines: list[str]) -> None:
    """Print what is wrong as JSON, and how many writes were tried."""
    library = ctypes.CDLL(None)
    assert carried_out("plan torus:3x3 allgather -o plan.parquet")[0] == 0
    found, tried = [], 0
    for line in lines:
        target = Path(next((word for word in line.split() if word.startswith("new")), "none"))
        folder = "export" in line and not target.suffix
        carried_out(line)  # what is compiled or imported once is not part of it
        clean(target, folder)
        library.fail_writes(-1, 0)
        status, err = carried_out(line)
        count = library.writes_seen()
        if status != 0:
            found.append(f"{line}: {status}, {err}")
        for n in numbers(count if target.name != "none" else 0):
            code = ERRORS[tried % len(ERRORS)]
            clean(target, folder)
            library.fail_writes(n, code)
            status, err = carried_out(line)
            library.fail_writes(-1, 0)
            found += wrong(line, n, code, status, err)
            tried += 1
        clean(target, True)
    print(json.dumps({"found": found, "tried": tried, "commands": len(lines)}))


def clean(target: Path, new: bool) -> None:
    """Leave a file of old, or nothing, where the output will be."""
    for path in Path().glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not new and target.name != "none" and target.suffix not in (".parquet",):
        target.write_bytes(OLD)


if __name__ == "__main__":
    folder, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.chdir(folder)
    main(LINES[part::parts])
