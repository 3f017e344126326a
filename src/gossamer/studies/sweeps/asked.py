"""Points in words: a kind, and what is asked of it, as studies and ``gossamer.sweep`` have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from gossamer.errors import ModelError, nearest, shown
from gossamer.questions.tasks import kind_of
from gossamer.reading import choice, text, whole
from gossamer.reading.quantities import size
from gossamer.reading.values import MOST_SEED
from gossamer.studies.sweeps.identity import file_contents
from gossamer.studies.sweeps.kinds import KINDS, PointNeeds
from gossamer.studies.sweeps.points import Progress

__all__ = ["AskedPoint", "asked_point"]


@dataclass(frozen=True)
class AskedPoint:
    """A point in words.

    Attributes
    ----------
    kind : str
        A name of `gossamer.studies.sweeps.KINDS`.
    words : mapping of str to object
        What is asked: numbers, texts, truth values, lists of texts.
    """

    kind: str
    words: Mapping[str, Any] = field(hash=False)

    @property
    def title(self) -> str:
        """What is looked at, in a few words."""
        return KINDS[self.kind].title(self.words)

    @property
    def needs(self) -> PointNeeds:
        """About what it takes, by arithmetic: bytes at the least, and seconds of CPU time."""
        return KINDS[self.kind].needs(self.words)

    @property
    def expected(self) -> PointNeeds:
        """What it takes as well as can be told before: the network is built, and its algorithms are asked."""
        kind = KINDS[self.kind]
        return (kind.expected or kind.needs)(self.words)

    def describe(self) -> dict[str, Any]:
        """Return the kind, the words, what the files hold that they name, and the version of what results mean."""
        files = file_contents(self.words)
        told = {"kind": self.kind, "semantics": KINDS[self.kind].semantics, **self.words}
        return told | ({"files": files} if files else {})

    def run(self, progress: Progress) -> dict[str, Any]:
        """Carry it out."""
        return KINDS[self.kind].carry_out(self.words, progress)


def asked_point(given: Mapping[str, Any]) -> AskedPoint:
    """Return the point of a mapping; ModelError if it names no kind, a word is unknown or a value is none of a point.

    Examples
    --------
    >>> asked_point({"network": "ring:6", "task": "allgather", "bytes": "1KiB"})
    AskedPoint(kind='plan', words={'network': 'ring:6', 'task': 'allgather', 'bytes': 1024})
    >>> asked_point({"network": "ring:6", "tusk": "allgather"})
    Traceback (most recent call last):
    gossamer.errors.ModelError: a point of kind 'plan' has no 'tusk' (did you mean 'task'?)
    """
    words = {str(name): value for name, value in given.items() if value is not None}
    kind = KINDS[choice(words.pop("kind", "plan"), "kind", KINDS)]
    for name in words:
        if name not in kind.words and not (name.startswith("options.") and "algorithm" in kind.words):
            raise ModelError(f"a point of kind {kind.name!r} has no {shown(name)}{nearest(name, kind.words)}")
    for name in kind.needed:
        if name not in words:
            raise ModelError(f"a point of kind {kind.name!r} needs {name!r}")
    plain = {name: _plain(name, value) for name, value in words.items()}
    if "task" in plain:
        kind_of(plain["task"])
    kind.needs(plain)
    return AskedPoint(kind.name, plain)


def _plain(name: str, value: Any) -> Any:
    """Return a value as files and hashes have it."""
    if name == "bytes":
        return size(value, "bytes")
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, f"{name} of a point").strip()
    if isinstance(value, Integral):
        return whole(value, f"{name} of a point", -MOST_SEED - 1, MOST_SEED)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return list(value)
    if hasattr(value, "__fspath__"):
        return str(value)
    if name == "network" and hasattr(value, "spec"):
        raise ModelError(f"the network of a point is a spec such as 'torus:8x8' or a file, got {shown(value)}")
    raise ModelError(f"{name} of a point must be a number, a text or a truth value, got {shown(value)}")
