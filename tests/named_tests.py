"""Tables that say which tests show what: whether those tests are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

TESTS = Path(__file__).parent


def missing_tests(named: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """Return the tests, by their files below this folder, that are not there."""
    return [
        (file, name)
        for file, names in named.items()
        for name in names
        if not re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]
