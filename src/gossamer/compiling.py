"""Kernels that are compiled when they are first called, and kept: what everything that Numba compiles goes through.

`njit` is Numba's, with three additions. Kept code that cannot be read or written is no error: the kernel is compiled
anew. What is compiled is told to whoever listens (`telling`), before it begins. A kernel that says for which sizes
(`small`) is carried out by Python itself while its arrays are that small and it has not been compiled: seconds of
compiling are not worth microseconds of work. And what a kernel calls becomes part of it: it has no way in from Python
and is not kept on its own, until Python calls it.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.caching import FunctionCache, NullCache
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

__all__ = ["njit", "often", "seconds_compiled", "telling", "uninterpreted"]

_SHARE = 0.25
"""Of the time that compiling takes: how long Python may carry out a kernel in a process before it is compiled."""

_LOOK = 0.005
"""Seconds that a look for kept code counts at most; the first one of a process takes longer, as Numba prepares."""

_state = threading.local()
_interpreting = True
_listener: Callable[[str, float], None] | None = None
_compiled = 0.0


class _Chance(threading.local):
    """What kernels know of ``np.random``, with numbers of each thread's own, as in compiled code: the same ones."""

    def seed(self, seed: int) -> None:
        drawn = np.random.RandomState(seed)
        self.random, self.randint = drawn.random_sample, drawn.randint


_numpy = ModuleType("numpy")
_numpy.__dict__.update(vars(np), random=_Chance())


class _NotKept(Exception):  # noqa: N818 - no error: it ends a look into the cache
    """There is no compiled code for these types yet."""


class _TooLong(Exception):  # noqa: N818 - no error: it ends an attempt
    """Python takes too long."""


class _Kept(FunctionCache):  # type: ignore[misc]
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

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        with suppress(Exception):  # a damaged file can raise anything
            found = super().load_overload(sig, target_context)
        if found is None and getattr(_state, "looking", False):
            raise _NotKept
        if found is None and _listener is not None:
            _listener(self._py_func.__name__, _seconds(self._py_func))
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # an index that cannot be read is begun anew; a disk that is full takes nothing
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)


class _Unkept(NullCache):  # type: ignore[misc]
    """No place for compiled code; what is compiled is told all the same."""

    empty = True

    def __init__(self, function: Any) -> None:
        self._py_func = function

    def load_overload(self, sig: Any, target_context: Any) -> None:
        if getattr(_state, "looking", False):
            raise _NotKept
        if _listener is not None:
            _listener(self._py_func.__name__, _seconds(self._py_func))


class _Options(Flags):  # type: ignore[misc]
    """How to compile; told apart by what was set, without a look at each of the forty options."""

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and bool(self._values == other._values)


class _Compiler(_FunctionCompiler):  # type: ignore[misc]
    """Compiles for Python, or for kernels alone."""

    closed = False

    def _customize_flags(self, flags: Any) -> _Options:
        made = _Options(flags)
        if self.closed:
            made.no_cpython_wrapper = True
        return made


def _sources(function: Any) -> set[str]:
    """Return the files of a function and of the kernels that are known in its file, and of theirs in turn."""
    found, left = set[str](), [function]
    while left:
        some = left.pop()
        if some.__code__.co_filename not in found:
            found.add(some.__code__.co_filename)
            left += [kernel.py_func for kernel in some.__globals__.values() if isinstance(kernel, Kernel)]
    return found


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function, as Numba has it."""

    small = 0
    spent = 0.0
    _compiler: Any

    def __init__(self, *args: Any, **kws: Any) -> None:
        super().__init__(*args, **kws)
        of = self._compiler
        self._compiler = _Compiler(of.py_func, of.targetdescr, of.targetoptions, of.locals, of.pipeline_class)
        self._closed: set[tuple[Any, ...]] = set()

    def enable_caching(self) -> None:
        """Keep what is compiled; where no place takes it, in memory only."""
        with suppress(Exception):  # no place can be written
            self._cache = _Kept(self.py_func)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call by another kernel, after compiling for it if need be."""
        with global_compiler_lock:
            self._compiler.closed = True
            try:
                return super().get_call_template(args, kws)
            finally:
                self._compiler.closed = False

    def compile(self, sig: Any) -> Any:
        """Return code for a signature: machine code for Python, or what goes into a kernel that calls it."""
        with global_compiler_lock, _uncollected(), _asked_once():
            args = tuple(normalize_signature(sig)[0])
            if args in self._closed and not self._compiler.closed:
                self._closed.remove(args)
                del self.overloads[args]  # kernels that have it keep it
            if not self._compiler.closed or args in self.overloads:
                return super().compile(sig)
            kept, self._cache = self._cache, _Unkept(self.py_func)
            try:
                return super().compile(sig)
            finally:
                self._cache = kept

    def add_overload(self, cres: Any) -> None:
        """Take code; of what is meant for kernels, Python does not learn."""
        if not self._compiler.closed:
            super().add_overload(cres)
            return
        args = tuple(cres.signature.args)
        self._closed.add(args)
        self.overloads[args] = cres

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """What Python carries out: the function, with those that it calls, and random numbers of the thread's own."""
        return _interpreted(self, {})

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if kws or not (_interpreting and self._small(args)):
            return super()._compile_for_args(*args, **kws)
        if self._cache.empty:
            return self._carried_out
        began = time.thread_time()
        _state.looking = True
        try:
            return super()._compile_for_args(*args)
        except _NotKept:  # a look costs as much as a small piece of work: it counts as one
            self.spent += min(time.thread_time() - began, _LOOK)
        finally:
            _state.looking = False
        return self._carried_out

    def _small(self, args: tuple[Any, ...]) -> bool:
        return (
            self.small > 0
            and self.spent < _SHARE * _seconds(self.py_func)
            and sum(a.size for a in _arrays(args)) <= self.small
        )

    def _carried_out(self, *args: Any) -> Any:
        """Return what the kernel returns, by Python itself, if that is soon done; else compile it after all.

        Compiled code counts in 64 bits where NumPy's numbers keep to the 32 of their arrays. An integer that runs over
        there, a division by zero, or any other error undoes what Python did, and compiled code does it.
        """
        before = [(a, a.copy()) for a in _arrays(args) if a.flags.writeable]
        began = time.thread_time()
        try:
            with _interrupted(_SHARE * _seconds(self.py_func) - self.spent), np.errstate(all="raise", under="ignore"):
                return _plain(self.interpreted(*args))
        except Exception:  # it takes long, or a number runs over in Python's narrower types: compiled code decides
            for array, values in before:
                array[...] = values
            self.spent = np.inf
        finally:
            self.spent += time.thread_time() - began
        return self(*args)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage in the block: compiling makes many objects that stay, and each look counts them all."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _asked_once() -> Iterator[None]:
    """Let functions of Numba's be typed once for arguments of the same types, and count the time of the block.

    Typing them anew takes a sixth of the time of compiling. Kernels, and what cannot be typed, are asked for each
    time. In the block others wait for the lock of the compiler.
    """
    global _compiled
    of: Any = BaseFunction
    before, of.get_call_type = of.get_call_type, _typed
    began = time.monotonic()
    try:
        yield
    finally:
        of.get_call_type = before
        if before is not _typed:  # not within another
            _compiled += time.monotonic() - began


class _Answers:
    """Signatures of calls of Numba's functions, for each set of those options that what is called takes over."""

    def __init__(self) -> None:
        self.options: object = None
        self.known: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self.kept: dict[tuple[str, ...], dict[tuple[Any, ...], tuple[Any, Any]]] = {}

    def of_now(self) -> dict[tuple[Any, ...], tuple[Any, Any]]:
        """Return those that are known with the options of what is compiled now."""
        options = ConfigStack.top_or_none()
        if options is not self.options:
            taken = ("nrt", "fastmath", "error_model", "forceinline")
            known = self.kept.setdefault(tuple(repr(getattr(options, name, None)) for name in taken), {})
            self.options, self.known = options, known
        return self.known


_typing = BaseFunction.get_call_type
_answers = _Answers()


def _typed(function: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Return the signature of a call of one of Numba's functions, as its type finds it."""
    if kws:
        return _typing(function, context, args, kws)
    known, asked = _answers.of_now(), (id(function), id(context), args)
    if asked not in known:
        known[asked] = function, _typing(function, context, args, kws)  # as the function stays, so does its number
    return known[asked][1]


@contextmanager
def _interrupted(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the block when it takes longer."""
    lock, running, thread = threading.Lock(), True, threading.get_ident()

    def stop() -> None:
        with lock:
            if running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_TooLong))

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            running = False
        timer.cancel()
        for _ in range(100):  # one that is under way comes out here
            pass


def njit(*, small: int = 0, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function when it is called, as Numba's does.

    Parameters
    ----------
    small : int
        Elements that all array arguments may have together for the function to be carried out by Python while it is
        not compiled. Such a function sets the seed of ``np.random`` before it calls ``random`` or ``randint``, which
        then draw the same numbers; takes powers, exponentials and logarithms of fractions from ``math`` (NumPy's may
        differ in their last digit); sorts stably; shifts no number of an array to the left; and counts on no integer
        running over.
    cache : bool
        Whether compiled code is kept.
    options
        Those of Numba's ``njit``.
    """
    import numba

    if numba.config.DISABLE_JIT:
        made: Callable[[Callable[..., Any]], Any] = numba.njit(cache=cache, **options)
        return made

    def compiled(function: Callable[..., Any]) -> Any:
        always = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
        kernel = Kernel(function, locals={}, targetoptions={**always, **options})
        kernel.small = small
        kernel._cache = _Unkept(function)
        if cache:
            kernel.enable_caching()
        return kernel

    return compiled


def seconds_compiled() -> float:
    """Return how many seconds of this process went into compiling so far."""
    return _compiled


def often(kernel: object) -> None:
    """Say that a kernel will be called so often that it pays to compile it, however small its arrays are."""
    if isinstance(kernel, Kernel):
        kernel.spent = np.inf


@contextmanager
def telling(listener: Callable[[str, float], None]) -> Iterator[None]:
    """Call `listener` with the name of each kernel before it is compiled, and about how many seconds that takes."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def uninterpreted() -> Iterator[None]:
    """Compile every kernel that is called in the block, however small the work."""
    global _interpreting
    before, _interpreting = _interpreting, False
    try:
        yield
    finally:
        _interpreting = before


def _interpreted(kernel: Kernel, made: dict[Kernel, Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function of a kernel as Python carries it out, which calls others without a way through Numba."""
    if kernel not in made:
        of = kernel.py_func
        known: dict[str, Any] = {}
        made[kernel] = FunctionType(of.__code__, known, of.__name__, of.__defaults__, of.__closure__)
        for name, value in of.__globals__.items():
            called = isinstance(value, Kernel) and name in of.__code__.co_names
            known[name] = _numpy if value is np else _interpreted(value, made) if called else value
    return made[kernel]


def _arrays(args: tuple[Any, ...]) -> Iterator[np.ndarray]:
    """Yield the arrays among arguments, those in tuples too."""
    for value in args:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(value)


def _seconds(function: Any) -> float:
    """Return how long a function takes to compile, about: it grows with the length of its code."""
    return 0.05 + len(function.__code__.co_code) / 2200


def _plain(value: Any) -> Any:
    """Return what compiled code would return: numbers of Python, not of NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(map(_plain, value)) if type(value) is tuple else type(value)(*map(_plain, value))
    return value
