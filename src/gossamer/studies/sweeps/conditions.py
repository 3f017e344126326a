"""Small formulas in words, such as ``nodes == 512 and degree <= 6``: read by a reader of their own, nothing is run."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gossamer.errors import GossamerError, ModelError, nearest, shown
from gossamer.reading.quantities import size

__all__ = ["Condition", "formula"]

_MOST_TEXT, _MOST_DEPTH = 2000, 60
_BYTES = re.compile(r"\b(\d+(?:\.\d+)?)\s?([kKMGT]i?B)\b")

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "sqrt": math.sqrt, "log2": math.log2, "log": math.log, "ceil": math.ceil,
    "floor": math.floor, "round": round,
}  # fmt: skip
_LARGEST = 1e300


class _MissingError(Exception):
    """A name has no value here."""


@dataclass(frozen=True)
class Condition:
    """A formula that was read.

    `text` (str): as it was given. `names` (frozenset of str): the names in it that are no functions.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr

    def value(self, look_up: Callable[[str], Any]) -> Any:
        """Return the value, with names looked up; None if one of them is None or there is no value, as of 1/0.

        Raises `ModelError` if values do not go together, as ``network < 3``.
        """
        try:
            return _value(self._tree, look_up)
        except _MissingError:
            return None
        except (ZeroDivisionError, OverflowError):
            return None
        except (TypeError, ValueError) as error:
            raise ModelError(f"the formula {shown(self.text)} has no value: {error}") from None

    def holds(self, look_up: Callable[[str], Any]) -> bool:
        """Return whether it is true; where a name has no value it is not."""
        return bool(self.value(look_up))


def formula(text: str, known: Iterable[str] | None = None) -> Condition:
    """Read a formula.

    `text` (str): numbers, sizes such as ``64KiB``, texts in quotes, names, ``+ - * / // %  **``, comparisons (also
    ``in`` and ``not in`` with lists in brackets), ``and``, ``or``, ``not``, ``a if b else c``, and the functions
    ``min``, ``max``, ``abs``, ``sqrt``, ``log2``, ``log``, ``ceil``, ``floor`` and ``round``. A single ``=`` is read as
    ``==``. `known` (iterable of str): the names that may be in it. Raises `ModelError` if it is anything else.

    >>> formula("2 <= nodes / 8 < 100").holds({"nodes": 64}.get)
    True
    >>> formula("__import__('os')")
    Traceback (most recent call last):
    gossamer.errors.ModelError: the formula "__import__('os')" has no function '__import__'
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_TEXT:
        raise ModelError(f"a condition must be a text such as 'nodes == 512', got {shown(text)}")
    prepared = re.sub(r"(?<![<>=!])=(?!=)", "==", _outside_quotes(text, lambda t: _BYTES.sub(_in_bytes, t)))
    try:
        tree = ast.parse(prepared.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ModelError(f"cannot read the formula {shown(text)}; it must be such as nodes == 512") from None
    names: set[str] = set()
    _check(tree, text, names, 0)
    if known is not None:
        listed = list(known)
        for name in sorted(names):
            if name not in listed:
                raise ModelError(f"the formula {shown(text)} has no {name!r}{nearest(name, listed)}")
    return Condition(text.strip(), frozenset(names), tree)


def _outside_quotes(text: str, change: Callable[[str], str]) -> str:
    parts = re.split(r"('[^']*'|\"[^\"]*\")", text)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def _in_bytes(match: re.Match[str]) -> str:
    try:
        return str(size(match[0], "a size"))
    except GossamerError:
        return match[0]


def _check(node: ast.AST, text: str, names: set[str], depth: int) -> None:
    """Refuse whatever is not of a formula, and collect the names."""
    if depth > _MOST_DEPTH:
        raise ModelError(f"the formula {shown(text)} is nested too deep")
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            if isinstance(node.value, int | float) and not abs(node.value) < _LARGEST:
                raise ModelError(f"the formula {shown(text)} has a number that is too large")
            return
        case ast.Name(id=name):
            names.add({"true": "True", "false": "False"}.get(name, name))
            return
        case ast.Attribute(value=ast.Name(id=first), attr=last):
            names.add(f"{first}.{last}")
            return
        case ast.Call(func=ast.Name(id=name), args=inner, keywords=[]):
            if name not in _FUNCTIONS:
                raise ModelError(f"the formula {shown(text)} has no function {name!r}{nearest(name, _FUNCTIONS)}")
            children: list[ast.AST] = list(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS or isinstance(op, ast.Pow):
            children = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            children = [operand]
        case ast.BoolOp(values=values):
            children = list(values)
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(
            type(o) in _OPERATORS or isinstance(o, ast.In | ast.NotIn) for o in ops
        ):
            children = [left, *rights]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            children = list(elements)
        case ast.IfExp(test=test, body=body, orelse=other):
            children = [test, body, other]
        case _:
            raise ModelError(f"the formula {shown(text)} may have numbers, names, comparisons and a few functions only")
    for child in children:
        _check(child, text, names, depth + 1)


def _value(node: ast.expr, look_up: Callable[[str], Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id="true"):
            return True
        case ast.Name(id="false"):
            return False
        case ast.Name(id=name):
            return _known(look_up(name))
        case ast.Attribute(value=ast.Name(id=first), attr=last):
            return _known(look_up(f"{first}.{last}"))
        case ast.Call(func=ast.Name(id=name), args=inner):
            return _FUNCTIONS[name](*(_value(a, look_up) for a in inner))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return float(_number(_value(left, look_up))) ** float(_number(_value(right, look_up)))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_number(_value(left, look_up)), _number(_value(right, look_up)))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand, look_up))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(v, look_up) for v in values)
        case ast.BoolOp(values=values):
            return any(_value(v, look_up) for v in values)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, look_up) else other, look_up)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value(e, look_up) for e in elements]
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _compared(_value(left, look_up), ops, [_value(r, look_up) for r in rights])
    raise ValueError("it cannot be read")


def _compared(left: Any, ops: list[ast.cmpop], rights: list[Any]) -> bool:
    for op, right in zip(ops, rights, strict=True):
        if isinstance(op, ast.In | ast.NotIn):
            held = (left in right) == isinstance(op, ast.In)
        else:
            held = _OPERATORS[type(op)](left, right)
        if not held:
            return False
        left = right
    return True


def _known(value: Any) -> Any:
    if value is None:
        raise _MissingError
    return value


def _number(value: Any) -> Any:
    """Return a number of a bounded size, so that nothing grows without end."""
    if not isinstance(value, bool | int | float):
        raise TypeError(f"{shown(value)} is no number")
    return float(value) if isinstance(value, int) and abs(value) > 2**63 else value
