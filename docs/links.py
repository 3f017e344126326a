"""Links to pages of others: ``python docs/links.py`` opens each, and notes in links.toml on which day it answered.

Tests hold the list to the links that the pages have; they open nothing, as they run without a network.
"""

from __future__ import annotations

import datetime
import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
LIST = DOCS / "links.toml"
_WAIT = 20.0
"""Seconds in which a page must answer."""
_HEAD = "# Links to pages of others, and when each last answered `python docs/links.py`; no date: not opened yet.\n"
_LINK = re.compile(r"https?://[^\s)>\"'`\]}|,]+")
_DOI = re.compile(r"^\s*doi\s*=\s*\{(.*?)\}", re.MULTILINE)


def sources() -> Iterator[Path]:
    """Yield the files whose links people click: pages, bibliography, what stands in the root."""
    root = DOCS.parent
    yield from sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    yield from (DOCS / "references.bib", root / "CITATION.cff")
    yield from sorted(root.glob("*.md"))


def linked() -> dict[str, list[str]]:
    """Return every link, with the files that it is in; what stands in blocks of code and output is no link."""
    found: dict[str, list[str]] = {}
    for path in sources():
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        links = [link.rstrip(".;:") for link in _LINK.findall(text)]
        links += [f"https://doi.org/{doi}" for doi in _DOI.findall(text)] if path.suffix == ".bib" else []
        for link in dict.fromkeys(links):
            found.setdefault(link, []).append(str(path.relative_to(DOCS.parent)))
    return dict(sorted(found.items()))


def listed() -> dict[str, str]:
    """Return the links of the list, each with the day on which it last answered, or nothing."""
    rows = tomllib.loads(LIST.read_text(encoding="utf-8"))["link"] if LIST.exists() else []
    return {row["url"]: str(row.get("opened", "")) for row in rows}


def opened(link: str, wait: float = _WAIT) -> str:
    """Open a link; return what is wrong, or nothing."""
    asked = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0 (gossamer docs/links.py)"})
    try:
        with urllib.request.urlopen(asked, timeout=wait) as answer:
            return "" if answer.status == 200 else f"status {answer.status}"
    except urllib.error.HTTPError as error:
        return f"status {error.code}"
    except (OSError, ValueError) as error:
        return str(error)


def written(days: dict[str, str]) -> str:
    """Return the list as a file."""
    return _HEAD + "".join(
        f'\n[[link]]\nurl = "{url}"\n' + (f"opened = {day}\n" if day else "") for url, day in sorted(days.items())
    )


def main() -> int:
    """Open every link, note the day at those that answer, and print the others; 1 if there are any."""
    days, today, wrong = listed(), datetime.date.today().isoformat(), 0
    now = {link: days.get(link, "") for link in linked()}
    for link, files in linked().items():
        problem = opened(link)
        if problem:
            wrong += 1
            print(f"{link} ({', '.join(files)}): {problem}; it last answered {days.get(link) or 'never'}")
        else:
            now[link] = today
    LIST.write_text(written(now), encoding="utf-8")
    print(f"{len(now) - wrong} of {len(now)} links answer; {LIST.name} says when")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
