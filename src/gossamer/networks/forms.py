"""The forms that the parameters of a spec take: how the text after the colon becomes arguments.

A family with a form of its own declares it beside its function (`gossamer.networks.fat_trees` does).
"""

from __future__ import annotations

import re

from gossamer.errors import NetworkError, shown
from gossamer.networks.family import Family

__all__ = ["Nested", "factors", "integer", "numbers", "path", "plain", "sides"]


class Nested(str):
    """A spec inside a spec: the parser reads it in its turn."""

    __slots__ = ()


def numbers(family: Family, text: str) -> list[object]:
    """Read integers separated by commas, as many as `parameters` names; a last name with ``...`` takes several."""
    names = family.parameters.split(",")
    given = plain(text).split(",")
    if len(given) < len(names) or (len(given) > len(names) and not names[-1].endswith("...")):
        count = "1 parameter" if len(given) == 1 else f"{len(given)} parameters"
        raise NetworkError(f"{family.name}: {count} given in {shown(plain(text))}; {family.usage()}")
    return [integer(family, number) for number in given]


def sides(family: Family, text: str) -> list[object]:
    """Read ``AxBx...``; commas do as well."""
    return [integer(family, side) for side in re.split("[x×*,]", plain(text))]


def path(family: Family, text: str) -> list[object]:
    """Take the text as it is."""
    return [text]


def factors(family: Family, text: str) -> list[object]:
    """Split ``(SPEC)x(SPEC)x...`` at the top level of the parentheses."""
    found: list[object] = []
    start = depth = 0
    for place, sign in enumerate(text):
        if sign == "(":
            if depth == 0:
                between = text[start:place].strip().lower()
                if between not in (("",) if not found else ("x", "×", "*")):
                    raise NetworkError(f"{family.name}: expected {family.parameters}, got {shown(text)}")
                start = place + 1
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                found.append(Nested(text[start:place]))
                start = place + 1
        if depth < 0:
            break
    if depth != 0:
        raise NetworkError(f"{family.name}: unbalanced parentheses in {shown(text)}")
    if not found or text[start:].strip():
        raise NetworkError(f"{family.name}: expected {family.parameters}, got {shown(text)}")
    return found


def plain(text: str) -> str:
    """Return the text in lower case, without spaces around its separators."""
    return re.sub(r"\s*([x×*,=])\s*", r"\1", text.lower())


def integer(family: Family, text: str) -> int:
    """Return the integer that a part of a spec stands for.

    Raises
    ------
    NetworkError
        If it is none, naming the form of the family.
    """
    text = text.strip()
    if not re.fullmatch(r"-?[0-9]{1,4000}", text):
        what = "an empty parameter" if not text else shown(text)
        raise NetworkError(f"{family.name}: expected an integer, got {what}; {family.usage()}")
    return int(text)
