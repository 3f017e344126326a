"""A kernel: a function that is compiled when it is first called, and does small work as Python until then."""

from __future__ import annotations

import gc
import hashlib
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

_listener: Callable[[str, float], None] | None = None
_seconds = 0.0
_began: list[float] = []


# What is compiled, told before it begins, and the time that it took: by Numba's own events. The module of events is
# documented but not offered at Numba's top; where it is missing nothing is told. Nothing else imports ``numba.core``.


def seconds_compiled() -> float:
    """Return how many seconds of this process went into compiling so far."""
    return _seconds


@contextmanager
def telling(listener: Callable[[str, float], None]) -> Iterator[None]:
    """Call ``listener(name, seconds)`` in the block before a kernel is compiled, with about how long it will take."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def listen() -> None:
    """Follow what Numba compiles, from now on."""
    try:
        from numba.core import event
    except ImportError:  # another version of Numba
        return

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, of: Any) -> None:
            _began.append(time.monotonic())
            if _listener is not None:
                function = of.data["dispatcher"].py_func
                _listener(function.__name__, seconds_to_compile(function))

        def on_end(self, of: Any) -> None:
            global _seconds
            began = _began.pop()
            if not _began:  # kernels within kernels count once
                _seconds += time.monotonic() - began

    event.register("numba:compile", Listener())


def seconds_to_compile(function: Any) -> float:
    """Return about how long it takes to compile a function, with what it calls.

    As measured on all kernels, where half of them take 0.85 to 1.15 times as long.
    """
    found, left = set(), [function]
    while left:
        some = left.pop()
        if some.__code__ not in found:
            found.add(some.__code__)
            called = (some.__globals__.get(name) for name in some.__code__.co_names)
            left += [of.py_func for of in called if hasattr(of, "py_func")]
    return 0.07 + sum(len(code.co_code) for code in found) / 5000


_SHARE = 0.4
"""Of the time that compiling takes: how long Python may carry out a kernel in a process before it is compiled."""

_interpreting = True
_prepared = False


def _numba() -> Any:
    """Return Numba, whose compiling is followed from now on."""
    global _prepared
    import numba

    if not _prepared:
        _prepared = True
        listen()
    return numba


class Kernel:
    """A function that Numba compiles when it is first called; its other attributes are those of Numba's dispatcher.

    `function`, callable: what is compiled; what it calls by name are kernels too, and become part of it. `small`,
    `cache`, `options`: see `gossamer.jit.njit`.
    """

    def __init__(self, function: Callable[..., Any], small: int, cache: bool, options: dict[str, Any]) -> None:
        self.py_func, self.small = function, small
        self._cache, self._options = cache, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__qualname__, self.__module__ = function.__qualname__, function.__module__
        self.__wrapped__ = function
        self._ready = os.environ.get("GOSSAMER_PLAIN_NUMBA", "0") not in ("", "0")
        self.spent: float = 0
        self.allowed: float = 0

    def __call__(self, *args: Any, **kws: Any) -> Any:
        """Carry out the function, by compiled code or by Python."""
        if self._ready:
            return self.kernel(*args, **kws)
        if self._small(args, kws):
            return self._by_python(args)
        self._compile(args, kws)
        return self.kernel(*args, **kws)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.kernel, name)

    # compiled code

    @cached_property
    def kernel(self) -> Any:
        """Numba's dispatcher of the function, as Python calls it."""
        return self._dispatcher(self._cache)

    @cached_property
    def inside(self) -> Any:
        """Numba's dispatcher of the function, as other kernels call it: no way in from Python, and not kept."""
        return self._dispatcher(False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def _dispatcher(self, cache: bool, **more: bool) -> Any:
        def inside(value: Any) -> Any:
            return value.inside if isinstance(value, Kernel) and value is not self else value

        of: Any = self.py_func
        known = dict(of.__globals__)
        cells = tuple(CellType(inside(cell.cell_contents)) for cell in of.__closure__ or ())
        made = FunctionType(of.__code__, known, of.__name__, of.__defaults__, cells)
        made.__qualname__, made.__doc__, made.__kwdefaults__ = of.__qualname__, of.__doc__, of.__kwdefaults__
        known |= {name: inside(known[name]) for name in of.__code__.co_names if name in known}
        numba = _numba()
        options = {**self._options, **more}
        dispatcher = None
        if cache:
            before = numba.config.CACHE_DIR
            try:
                numba.config.CACHE_DIR = str(self.folder or before)
                dispatcher = numba.njit(cache=True, no_cfunc_wrapper=True, **options)(made)
            except Exception:  # no place can be written
                pass
            finally:
                numba.config.CACHE_DIR = before
        if dispatcher is None:
            dispatcher = numba.njit(**options)(made)
        if known.get(of.__name__) is self:
            known[of.__name__] = dispatcher
        return dispatcher

    def _compile(self, args: tuple[Any, ...], kws: dict[str, Any]) -> None:
        """Compile for some arguments, or load what is kept; what cannot be read or written is compiled again."""
        if kws:
            self._ready = True
            return
        numba = _numba()
        collecting = gc.isenabled()
        gc.disable()  # compiling makes many objects that stay, and each look for garbage counts them all
        try:
            types = tuple(map(numba.typeof, args))
            try:
                self.kernel.compile(types)
            except Exception as error:
                from gossamer.errors import interrupt_behind

                if (stopped := interrupt_behind(error)) is not None:
                    raise stopped from None
                self.__dict__["kernel"] = self._dispatcher(False)
                self.kernel.compile(types)
            else:
                self._note(self._mark(types))
        finally:
            if collecting:
                gc.enable()
        self._ready = True

    @cached_property
    def folder(self) -> Path | None:
        """Where compiled code is kept: a folder for this state of the files of the function and of what it calls."""
        files, left = set[str](), [self]
        seen = set(left)
        while left:
            of = left.pop()
            files.add(of.py_func.__code__.co_filename)
            more = {v for v in of.py_func.__globals__.values() if isinstance(v, Kernel)} - seen
            seen |= more
            left += more
        own = Path(self.py_func.__code__.co_filename)
        try:
            states = [(name, (state := Path(name).stat()).st_mtime_ns, state.st_size) for name in sorted(files)]
        except OSError:
            return None
        given = os.environ.get("NUMBA_CACHE_DIR")
        places = [Path(given)] if given else [own.parent / "__pycache__", *filter(None, [user_cache()])]
        name = f"{own.stem}-{_hash(str(own))}-"
        folder = f"{name}{_hash(repr((_numba().__version__, states)))}"
        for place in places:
            if (place / folder).is_dir() and os.access(place / folder, os.W_OK):
                return place / folder
            try:
                old = [path for path in place.glob(f"{name}*") if path.is_dir()] if place.is_dir() else []
                (place / folder).mkdir(parents=True, exist_ok=True)
            except OSError:
                continue
            for path in old:  # of sources that are no more
                shutil.rmtree(path, ignore_errors=True)
            return place / folder
        return None

    def _mark(self, types: tuple[Any, ...]) -> Path | None:
        """Return the file that says that code for some types is kept."""
        return self.folder and self.folder / f"{self._name}-{_hash(repr(types))}.kept"

    @cached_property
    def _worked(self) -> Path | None:
        """The file that says that Python has worked long in place of this function before, in any process."""
        return self.folder and self.folder / f"{self._name}.worked"

    def _note(self, mark: Path | None) -> None:
        if mark is not None and self._cache:
            with suppress(OSError):  # then the next time is like this one
                mark.touch()

    # Python

    @cached_property
    def share(self) -> int:
        """Operations that Python carries out at most before the function is compiled."""
        from gossamer.jit.budgeted_interpreter import OPERATIONS

        return int(_SHARE * seconds_to_compile(self.py_func) * OPERATIONS)

    def _small(self, args: tuple[Any, ...], kws: dict[str, Any]) -> bool:
        """Whether Python is to carry out the function: there is little to do, and no compiled code for it."""
        if kws or not self.small or not _interpreting or self.spent >= max(self.allowed, self.share):
            return False
        from gossamer.jit.budgeted_interpreter import arrays_in

        if sum(a.size for a in arrays_in(args)) > self.small:
            return False
        return not (self._cache and self._kept(args))

    def _kept(self, args: tuple[Any, ...]) -> bool:
        if not any(self._marks):
            return False
        mark = self._mark(tuple(map(_numba().typeof, args)))
        return mark is not None and mark.exists()

    @cached_property
    def _marks(self) -> list[Path]:
        """What was kept for any types when this process first asked."""
        found = self.folder
        return [] if found is None else list(found.glob(f"{self._name}-*.kept"))

    @property
    def _name(self) -> str:
        return self.__qualname__.replace("<locals>", "in")

    def _by_python(self, args: tuple[Any, ...]) -> Any:
        """Return what the kernel returns, by Python itself, if that is little work; else compile it after all.

        Compiled code counts in 64 bits where NumPy's numbers keep to the 32 of their arrays. An integer that runs over
        there, a division by zero, or any other error undoes what Python did, and compiled code does it.
        """
        import numpy as np

        from gossamer.jit.budgeted_interpreter import arrays_in, interpreted, plain

        own = interpreted()
        function = own.function(self)
        if function is None:
            self.spent = math.inf
            return self(*args)
        before = [(a, a.copy()) for a in arrays_in(args) if a.flags.writeable]
        within = own.left[0]  # of a kernel that is at work
        may = max(self.allowed, self.share) - self.spent
        own.left[0] = int(min(may, sys.maxsize))
        try:
            with np.errstate(all="raise", under="ignore"):
                found = plain(function(*args))
        except Exception:  # it is much work, or a number runs over in Python's narrower types: compiled code decides
            for array, values in before:
                array[...] = values
            self._spend(math.inf)
        else:
            self._spend(may - own.left[0])
            return found
        finally:
            own.left[0] = within
        return self(*args)

    def _spend(self, operations: float) -> None:
        if self.spent <= self.share < min(self.allowed, self.spent + operations):
            self._note(self._worked)
        self.spent += operations


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def user_cache() -> Path | None:
    """Return the folder ``gossamer`` in the user's cache; None where nobody's home is known."""
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gossamer"
    return None


def often(kernel: object) -> None:
    """Say that a kernel will be called so often that it pays to compile it, however small its arrays are."""
    if isinstance(kernel, Kernel):
        kernel.spent = math.inf


def seldom(kernel: object, seconds: float) -> None:
    """Say how long Python takes, at the most, for what is to be done next: it may, if compiling takes no less.

    Once: where it worked long in place of a kernel that is kept, the next process compiles it.
    """
    if isinstance(kernel, Kernel):
        from gossamer.jit.budgeted_interpreter import OPERATIONS

        expected = kernel.spent + int(seconds * OPERATIONS)
        worked = kernel._worked
        if kernel.share < expected <= kernel.share / _SHARE and not (worked is not None and worked.exists()):
            kernel.allowed = max(kernel.allowed, expected)


@contextmanager
def uninterpreted() -> Iterator[None]:
    """Compile every kernel that is called in the block, however small the work."""
    global _interpreting
    before, _interpreting = _interpreting, False
    try:
        yield
    finally:
        _interpreting = before
