"""Pages of pictures, each with the commands that draw it in a ``sh`` block below.

Unlike the outputs of ``console`` blocks they are made again only when the modules that draw, or the page, change:
a picture whose schedule an algorithm has since improved is still a true picture of a verified schedule.
"""

from __future__ import annotations

import re
from pathlib import Path

from generating.commands import PICTURES, output_of, workplace

PAGES = ("gallery",)
"""Their names, without folder and suffix."""

_BLOCK = re.compile(r"^```sh\n(gossamer .*?)^```$", re.MULTILINE | re.DOTALL)


def parts(text: str) -> list[list[list[str]]]:
    """Return, for each section of a page, the commands of each of its blocks."""
    found = [[block.splitlines() for block in _BLOCK.findall(part)] for part in re.split(r"^## ", text, flags=re.M)]
    return [part for part in found if part]


def drawn(commands: list[list[str]]) -> dict[str, bytes]:
    """Run the commands of a section in an empty folder; return the pictures that they draw, by name."""
    with workplace() as folder:
        for block in commands:
            for command in block:
                said = output_of(command)
                if "wrote" not in said:
                    raise RuntimeError(f"{command}: {said}")
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in PICTURES}


def pages(docs: Path) -> list[Path]:
    """Return the pages that there are."""
    return [docs / f"{name}.md" for name in PAGES if (docs / f"{name}.md").exists()]
