"""Compiled code that is kept on the disk, and the telling of what is compiled because it is not there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from numba.core.caching import FunctionCache, NullCache
from numba.core.dispatcher import Dispatcher

from gossamer.errors import interrupt_behind

__all__ = ["Kept", "NotKept", "Unkept", "looking", "seconds_to_compile", "telling"]

_state = threading.local()
_listener: Callable[[str, float], None] | None = None


class NotKept(Exception):  # noqa: N818 - no error: it ends a look into the cache
    """There is no compiled code for these types yet."""


class Kept(FunctionCache):  # type: ignore[misc]
    """Compiled code on the disk, which may be damaged, of another version, or impossible to write.

    It is of no use any more when the file of its function has changed, or one of those that kernels come from there.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        if others := sorted(_sources(function) - {function.__code__.co_filename}):
            states = [Path(name).stat() for name in others]
            self._cache_file._source_stamp = (
                self._cache_file._source_stamp,
                *((state.st_mtime, state.st_size) for state in states),
            )

    @property
    def empty(self) -> bool:
        """Whether nothing is kept for any types: then no look is worth its time."""
        return not Path(self._cache_file._index_path).exists()

    @property
    def _note(self) -> Path:
        return Path(f"{self._cache_file._index_path}.worked")

    @property
    def worked(self) -> bool:
        """Whether Python has worked long in place of this function before, in any process."""
        return self._note.exists()

    def note_work(self) -> None:
        """Note that Python has worked long, so that the function is compiled sooner the next time."""
        with suppress(OSError):  # then the next time is like this one
            self._note.touch()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return code for a signature, None if there is none: it is told that this is compiled."""
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything
            if (stopped := interrupt_behind(error)) is not None:
                raise stopped from None
        if found is None and getattr(_state, "looking", False):
            raise NotKept
        if found is None and _listener is not None:
            _listener(self._py_func.__name__, seconds_to_compile(self._py_func))
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code for a signature, if there is a place for it."""
        try:
            super().save_overload(sig, data)
        except Exception:  # an index that cannot be read is begun anew; a disk that is full takes nothing
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)


class Unkept(NullCache):  # type: ignore[misc]
    """No place for compiled code; what is compiled is told all the same."""

    empty = True
    worked = False

    def __init__(self, function: Any) -> None:
        self._py_func = function

    def note_work(self) -> None:
        """Note nothing."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Tell that a signature is compiled."""
        if getattr(_state, "looking", False):
            raise NotKept
        if _listener is not None:
            _listener(self._py_func.__name__, seconds_to_compile(self._py_func))


def _sources(function: Any) -> set[str]:
    """Return the files of a function and of the kernels that are known in its file, and of theirs in turn."""
    found, left = set[str](), [function]
    while left:
        some = left.pop()
        if some.__code__.co_filename not in found:
            found.add(some.__code__.co_filename)
            left += [kernel.py_func for kernel in some.__globals__.values() if isinstance(kernel, Dispatcher)]
    return found


@contextmanager
def looking() -> Iterator[None]:
    """Raise NotKept in the block where code is not kept, and compile nothing."""
    _state.looking = True
    try:
        yield
    finally:
        _state.looking = False


@contextmanager
def telling(listener: Callable[[str, float], None]) -> Iterator[None]:
    """Call `listener` with the name of each kernel before it is compiled, and about how many seconds that takes."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@cache
def seconds_to_compile(function: FunctionType) -> float:
    """Return how long a function takes to compile, about: it grows with the length of its code, and of what it calls.

    As measured on all kernels, where half of them take 0.85 to 1.15 times as long.
    """
    found, left = set[CodeType](), [function]
    while left:
        some = left.pop()
        if some.__code__ not in found:
            found.add(some.__code__)
            names = some.__code__.co_names
            left += [
                of.py_func for name, of in some.__globals__.items() if isinstance(of, Dispatcher) and name in names
            ]
    return 0.07 + sum(len(code.co_code) for code in found) / 5000
