"""Write the generated pages and pictures, and the outputs of commands in the hand-written pages.

    python docs/generate.py [PAGE ...] write what is stale, of all pages or of those named (docs/reference/cli.md)
    python docs/generate.py --check    name what is stale, put a .new file beside it, and exit with status 1
    python docs/generate.py --all      make everything again, also what is fresh; with --check to compare all of it

Whole pages are made from the registries and from the reproductions of the sources. In all others, and in the README,
the commands of every ``console`` block are run. `docs/generated.json` records of which inputs (the modules of gossamer
that an output depends on, and the modules that make it, without comments, layout and docstrings that it does not show)
each output was made, and a hash of it. What has the same inputs and outputs is fresh and not made again. A page whose
commands take a program that is not installed stays as it is. A picture stays as it is while it shows the same: last
digits differ between machines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.path.insert(0, str(DOCS.parent / "src"))

from generating.inputs import ROOT  # noqa: E402
from generating.pieces import Piece, Record, all_pieces, made, same  # noqa: E402


def stale_files(pieces: Sequence[Piece], record: Record) -> list[Path]:
    """Make pieces again; return the files that have other contents, with the right ones beside each as .new."""
    stale = []
    for piece, files in made(pieces):
        for name, data in files.items():
            path = record.root / name
            beside = path.with_name(path.name + ".new")
            beside.unlink(missing_ok=True)
            if not same(path, data):
                beside.write_bytes(data)
                stale.append(path)
        if not any(record.root / name in stale for name in files):
            record.add(piece, files)
    return stale


def renew(pieces: Sequence[Piece], record: Record) -> None:
    """Make pieces again and write the files that have other contents."""
    try:
        for piece, files in made(pieces):
            for name, data in files.items():
                path = record.root / name
                path.with_name(path.name + ".new").unlink(missing_ok=True)
                if not same(path, data):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                    print(f"wrote {name}", flush=True)
            record.add(piece, files)
    finally:
        record.write()


def main(arguments: Sequence[str]) -> int:
    """Write or check the pages; return the exit status."""
    names = [a.removeprefix("./") for a in arguments if not a.startswith("--")]
    options = {a for a in arguments if a.startswith("--")}
    pieces = all_pieces()
    unknown = [*sorted(options - {"--check", "--all"}), *(n for n in names if n not in {p.name for p in pieces})]
    if unknown:
        print(f"no page or option {unknown[0]!r}; pages: {', '.join(p.name for p in pieces)}", file=sys.stderr)
        return 2
    record = Record()
    chosen = [p for p in pieces if not names or p.name in names]
    chosen = [p for p in chosen if "--all" in options or not record.fresh(p)]
    if "--check" not in options:
        renew(chosen, record)
        return 0
    stale = stale_files(chosen, record)
    for path in stale:
        print(f"stale: {path}; see {path}.new, or run python docs/generate.py", file=sys.stderr)
    print(
        f"{len(pieces) - len(chosen)} pieces are fresh by {ROOT / 'docs' / 'generated.json'}, {len(chosen)} made again"
    )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
