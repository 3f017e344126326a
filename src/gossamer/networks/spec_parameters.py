"""The forms that the parameters of a spec take: how the text after the colon becomes arguments.

A family with a form of its own declares it beside its function (`gossamer.networks.fat_trees` does).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks.family import Family, Form

Reader = Callable[[Family, str], object]
"""Reads the value of one named parameter: the family (for its messages) and the text give the argument."""


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


def named(readers: Mapping[str, Reader], **defaults: object) -> Form:
    """Return the form ``name=value,name=value,...`` in any order; names may be left out of the first values.

    Parameters
    ----------
    readers : mapping of str to callable
        How the text of each parameter is read, in the order of the function's arguments.
    **defaults
        The values of those that may be missing.

    Notes
    -----
    A value without a name that follows a named one belongs to it, so that a value may be a list with commas.
    """

    def read(family: Family, text: str) -> list[object]:
        given: dict[str, str] = {}
        key = ""
        for place, part in enumerate(plain(text).split(",")):
            name, equals, value = part.partition("=")
            if equals:
                key = name.strip()
                if key not in readers:
                    hint = nearest(key, list(readers))
                    raise NetworkError(f"{family.name}: unknown parameter {shown(key)}{hint}; {family.usage()}")
                if key in given:
                    raise NetworkError(f"{family.name}: parameter {key} is given twice")
                given[key] = value.strip()
            elif key:
                given[key] += f",{part.strip()}"
            elif place < len(readers):
                given[list(readers)[place]] = part.strip()
            else:
                raise NetworkError(f"{family.name}: too many parameters in {shown(plain(text))}; {family.usage()}")
        if missing := [name for name in readers if name not in given and name not in defaults]:
            raise NetworkError(f"{family.name}: {missing[0]} is missing; {family.usage()}")
        return [reader(family, given[name]) if name in given else defaults[name] for name, reader in readers.items()]

    return read


def canonical(family: str, values: Mapping[str, object], **defaults: object) -> str:
    """Return the spec with every parameter that is not at its default, in the order of `values`.

    >>> canonical("dragonfly", {"a": 4, "h": 2, "p": 0}, p=0)
    'dragonfly:a=4,h=2'
    """
    told = [f"{name}={value}" for name, value in values.items() if name not in defaults or value != defaults[name]]
    return f"{family}:{','.join(told)}"


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

    Raises `NetworkError` if it is none, naming the form of the family.
    """
    text = text.strip()
    if not re.fullmatch(r"-?[0-9]{1,4000}", text):
        what = "an empty parameter" if not text else shown(text)
        raise NetworkError(f"{family.name}: expected an integer, got {what}; {family.usage()}")
    return int(text)


def integers(family: Family, text: str) -> tuple[int, ...]:
    """Return the integers of a list ``a,b,...``."""
    return tuple(integer(family, part) for part in text.split(","))


def side_numbers(family: Family, text: str) -> tuple[int, ...]:
    """Return the integers of ``AxBx...``."""
    return tuple(integer(family, part) for part in re.split("[x×*]", text))


def word(family: Family, text: str) -> str:
    """Return one word."""
    if not re.fullmatch("[a-z0-9-]{1,40}", text):
        raise NetworkError(f"{family.name}: expected a word, got {shown(text)}; {family.usage()}")
    return text
