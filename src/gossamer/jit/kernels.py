"""Functions that are compiled when they are first called with arrays that are large."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from gossamer.jit.interpreting import arrays_in, as_python, interrupted, plain
from gossamer.jit.keeping import Kept, NotKept, Unkept, looking, seconds_to_compile
from gossamer.jit.shortening import FunctionCompiler, Pipeline, shortened

__all__ = ["Kernel", "compiled", "often", "seldom", "uninterpreted"]

_SHARE = 0.4
"""Of the time that compiling takes: how long Python may carry out a kernel in a process before it is compiled."""

_LOOK = 0.005
"""Seconds that a look for kept code counts at most; the first one of a process takes longer, as Numba prepares."""

_interpreting = True


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function, as Numba has it."""

    small = 0
    spent = 0.0
    allowed = 0.0
    _compiler: Any

    def __init__(self, *args: Any, **kws: Any) -> None:
        super().__init__(*args, **kws)
        of = self._compiler
        self._compiler = FunctionCompiler(of.py_func, of.targetdescr, of.targetoptions, of.locals, Pipeline)
        self._closed: set[tuple[Any, ...]] = set()

    def enable_caching(self) -> None:
        """Keep what is compiled; where no place takes it, in memory only."""
        with suppress(Exception):  # no place can be written
            self._cache = Kept(self.py_func)

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
        with global_compiler_lock, shortened():
            args = tuple(normalize_signature(sig)[0])
            if args in self._closed and not self._compiler.closed:
                self._closed.remove(args)
                del self.overloads[args]  # kernels that have it keep it
            if not self._compiler.closed or args in self.overloads:
                return super().compile(sig)
            kept, self._cache = self._cache, Unkept(self.py_func)
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
        made = cres._replace(entry_point=object())  # what calls of it are found by
        self.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
        self.overloads[args] = made

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """What Python carries out: the function, with those that it calls, and random numbers of the thread's own."""
        return as_python(self, {})

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if kws or not (_interpreting and self._small(args)):
            return super()._compile_for_args(*args, **kws)
        if self._cache.empty:
            return self._carried_out
        began = time.thread_time()
        try:
            with looking():
                return super()._compile_for_args(*args)
        except NotKept:  # a look costs as much as a small piece of work: it counts as one
            self.spent += min(time.thread_time() - began, _LOOK)
        return self._carried_out

    @property
    def _left(self) -> float:
        """Seconds that Python may still take."""
        return max(self.allowed, self._share) - self.spent

    @cached_property
    def _share(self) -> float:
        return _SHARE * seconds_to_compile(self.py_func)

    def _small(self, args: tuple[Any, ...]) -> bool:
        return self.small > 0 and self._left > 0 and sum(a.size for a in arrays_in(args)) <= self.small

    def _carried_out(self, *args: Any) -> Any:
        """Return what the kernel returns, by Python itself, if that is soon done; else compile it after all.

        Compiled code counts in 64 bits where NumPy's numbers keep to the 32 of their arrays. An integer that runs over
        there, a division by zero, or any other error undoes what Python did, and compiled code does it.
        """
        before = [(a, a.copy()) for a in arrays_in(args) if a.flags.writeable]
        began = time.thread_time()
        try:
            with interrupted(self._left), np.errstate(all="raise", under="ignore"):
                return plain(self.interpreted(*args))
        except Exception:  # it takes long, or a number runs over in Python's narrower types: compiled code decides
            for array, values in before:
                array[...] = values
            self.spent = np.inf
        finally:
            took = time.thread_time() - began
            if self.spent <= self._share < min(self.allowed, self.spent + took):
                self._cache.note_work()
            self.spent += took
        return self(*args)


def compiled(function: Callable[..., Any], *, small: int, cache: bool, **options: Any) -> Kernel:
    """Return the kernel of a function; see `gossamer.jit.njit`."""
    always = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
    kernel = Kernel(function, locals={}, targetoptions={**always, **options})
    kernel.small = small
    kernel._cache = Unkept(function)
    if cache:
        kernel.enable_caching()
    return kernel


def often(kernel: object) -> None:
    """Say that a kernel will be called so often that it pays to compile it, however small its arrays are."""
    kernel = getattr(kernel, "kernel", kernel)
    if isinstance(kernel, Kernel):
        kernel.spent = np.inf


def seldom(kernel: object, seconds: float) -> None:
    """Say how long Python takes, at the most, for what is to be done next: it may, if compiling takes no less.

    Once: where it worked long in place of a kernel that is kept, the next process compiles it.
    """
    kernel = getattr(kernel, "kernel", kernel)
    if isinstance(kernel, Kernel):
        expected = kernel.spent + seconds
        if kernel._share < expected <= seconds_to_compile(kernel.py_func) and not kernel._cache.worked:
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
