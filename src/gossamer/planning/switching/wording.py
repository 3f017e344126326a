"""Rules and costs in words, as the command line and studies have them: which belong to which switching."""

from __future__ import annotations

import dataclasses
from typing import Any

from gossamer.errors import ModelError
from gossamer.planning.switching import SWITCHINGS, named
from gossamer.questions.rules import Rules

__all__ = ["rules_and_cost"]


def rules_and_cost(switching: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the switching, rules and cost of options; ModelError if an option goes with another switching."""
    kind = named(switching)
    takes = {s.name: {f.name: c for c in reversed(s.cost_types) for f in _fields(c)} for s in SWITCHINGS.values()}
    cost = {name: value for name, value in given.items() if name in takes[kind.name]}
    rules = {name: value for name, value in given.items() if name in kind.rules}
    types = list(dict.fromkeys(takes[kind.name][name] for name in cost)) or list(kind.cost_types[:1])
    if len(types) > 1:
        first, second = (next(name for name in cost if takes[kind.name][name] is t) for t in types[:2])
        raise ModelError(f"--{_flag(first)} does not go with --{_flag(second)}")
    if missing := [f.name for f in _fields(types[0]) if f.default is dataclasses.MISSING and f.name not in cost]:
        raise ModelError(f"--{_flag(next(iter(cost)))} goes with --{_flag(missing[0])}")
    for name in (name for name in given if name not in cost and name not in rules):
        others = [other for other in SWITCHINGS if name in takes[other] or name in SWITCHINGS[other].rules]
        raise ModelError(f"--{_flag(name)} goes with --switching {' or '.join(others)}, not {switching}")
    asked = {"rules": Rules(**rules)} if rules else {}
    return {"switching": switching, "cost": types[0](**cost), **asked}


def _fields(cost: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cost)


def _flag(name: str) -> str:
    return name.replace("_", "-")
