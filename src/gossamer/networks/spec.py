"""From a spec string such as ``torus:8x8`` to a network."""

from __future__ import annotations

import re
from collections.abc import Callable

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks.families import FAMILIES, Family
from gossamer.networks.network import Network

__all__ = ["network"]

MAX_DEPTH = 20
"""How deep products may be nested in a spec."""


def network(spec: str) -> Network:
    """Return the network that a spec string names.

    Parameters
    ----------
    spec : str
        ``family:parameters``, for instance ``torus:8x8``, ``extended-ring:14,2``, ``fat-tree:k=2,h=4`` or
        ``product:(ring:5)x(complete:4)``. Upper case, spaces, underscores in family names and commas between sides are
        accepted; the network's own `spec` is the canonical form and parses back to an equal network.

    Returns
    -------
    Network
        Of the family named.

    Raises
    ------
    NetworkError
        If the family is unknown, parameters are missing, superfluous or out of range, or the network is too large.
    FileFormatError
        If the file of an ``edges:`` spec cannot be read.

    Notes
    -----
    Sizes are checked before anything is built. The families are listed in `gossamer.networks.FAMILIES`.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> parse("torus:4x4x4")
    <Network torus:4x4x4: 64 nodes, 384 links>
    >>> parse("tours:4x4")
    Traceback (most recent call last):
    gossamer.errors.NetworkError: unknown network family 'tours' (did you mean 'torus'?); a spec is family:parameters
    """
    if not isinstance(spec, str):
        raise NetworkError(f"a network spec is text such as 'torus:8x8', got {shown(spec)}")
    return _parse(spec, 0)


def _parse(text: str, depth: int) -> Network:
    name, colon, parameters = text.partition(":")
    family = _family(name, text)
    parameters = parameters.strip()
    if not colon or not parameters:
        raise NetworkError(f"{family.name}: parameters are missing; {_form(family)}")
    if family.form == "path":
        return family.function(parameters)
    if family.form == "factors":
        if depth == MAX_DEPTH:
            raise NetworkError(f"product: products may be nested at most {MAX_DEPTH} deep")
        return family.function(*[_parse(factor, depth + 1) for factor in _factors(parameters)])
    plain = re.sub(r"\s*([x×*,=])\s*", r"\1", parameters.lower())
    return family.function(*_READERS[family.form](family, plain))


def _family(name: str, text: str) -> Family:
    key = re.sub(r"[\s_]+", "-", name.strip().lower())
    names = {n: family for family in FAMILIES for n in (family.name, *family.aliases)}
    if key not in names:
        given = shown(name.strip()) if name.strip() else shown(text)
        raise NetworkError(f"unknown network family {given}{nearest(key, names)}; a spec is family:parameters")
    return names[key]


def _form(family: Family) -> str:
    return f"the form is {family.name}:{family.parameters}"


# -- the forms of parameters ---------------------------------------------------------------------------------


def _integer(family: Family, text: str) -> int:
    text = text.strip()
    if not re.fullmatch(r"-?[0-9]{1,4000}", text):
        what = "an empty parameter" if not text else shown(text)
        raise NetworkError(f"{family.name}: expected an integer, got {what}; {_form(family)}")
    return int(text)


def _numbers(family: Family, text: str) -> list[object]:
    names = family.parameters.split(",")
    given = text.split(",")
    if len(given) < len(names) or (len(given) > len(names) and not names[-1].endswith("...")):
        count = "1 parameter" if len(given) == 1 else f"{len(given)} parameters"
        raise NetworkError(f"{family.name}: {count} given in {shown(text)}; {_form(family)}")
    return [_integer(family, number) for number in given]


def _sides(family: Family, text: str) -> list[object]:
    return [_integer(family, side) for side in re.split("[x×*,]", text)]


def _pairs(family: Family, text: str) -> list[object]:
    pairs: list[object] = []
    for part in re.split("[x×*]", text):
        numbers = part.split(",")
        if len(numbers) != 2:
            raise NetworkError(f"{family.name}: each extended ring is n,rho, got {shown(part)}; {_form(family)}")
        pairs.append((_integer(family, numbers[0]), _integer(family, numbers[1])))
    return pairs


def _levels(family: Family, text: str) -> list[object]:
    values: dict[str, list[str]] = {}
    key = ""
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            key = name.strip()
            if key not in ("k", "h", "capacity"):
                hint = nearest(key, ["capacity"])
                raise NetworkError(f"{family.name}: unknown parameter {shown(key)}{hint}; {_form(family)}")
            if key in values:
                raise NetworkError(f"{family.name}: parameter {key} is given twice")
            values[key] = [value.strip()]
        elif key == "capacity":
            values[key].append(part.strip())
        else:
            raise NetworkError(f"{family.name}: expected a name and a value, got {shown(part)}; {_form(family)}")
    for key in ("k", "h"):
        if key not in values:
            raise NetworkError(f"{family.name}: {key} is missing; {_form(family)}")
        if len(values[key]) != 1:
            raise NetworkError(f"{family.name}: {key} takes one integer, got {shown(','.join(values[key]))}")
    words = values.get("capacity", ["constant"])
    capacity: object = words[0]
    if not re.fullmatch("[a-z]+", words[0]) or len(words) > 1:
        capacity = [_integer(family, word) for word in words]
    return [_integer(family, values["k"][0]), _integer(family, values["h"][0]), capacity]


def _factors(text: str) -> list[str]:
    """Split ``(a)x(b)x...`` at the top level of the parentheses."""
    factors: list[str] = []
    start = depth = 0
    for place, sign in enumerate(text):
        if sign == "(":
            if depth == 0:
                between = text[start:place].strip().lower()
                if between not in (("",) if not factors else ("x", "×", "*")):
                    raise NetworkError(f"product: expected (SPEC)x(SPEC)..., got {shown(text)}")
                start = place + 1
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                factors.append(text[start:place])
                start = place + 1
        if depth < 0:
            break
    if depth != 0:
        raise NetworkError(f"product: unbalanced parentheses in {shown(text)}")
    if not factors or text[start:].strip():
        raise NetworkError(f"product: expected (SPEC)x(SPEC)..., got {shown(text)}")
    return factors


_READERS: dict[str, Callable[[Family, str], list[object]]] = {
    "numbers": _numbers,
    "sides": _sides,
    "pairs": _pairs,
    "levels": _levels,
}
