"""Kernels as Python carries them out."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

__all__ = ["arrays_in", "as_python", "interrupted", "plain"]


class _Chance(threading.local):
    """What kernels know of ``np.random``, with numbers of each thread's own, as in compiled code: the same ones."""

    def seed(self, seed: int) -> None:
        drawn = np.random.RandomState(seed)
        self.random, self.randint = drawn.random_sample, drawn.randint


_numpy = ModuleType("numpy")
_numpy.__dict__.update(vars(np), random=_Chance())


class _TooLong(Exception):  # noqa: N818 - no error: it ends an attempt
    """Python takes too long."""


def as_python(kernel: Dispatcher, made: dict[Dispatcher, Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function of a kernel as Python carries it out, which calls others without a way through Numba."""
    if kernel not in made:
        of = kernel.py_func
        known: dict[str, Any] = {}
        made[kernel] = FunctionType(of.__code__, known, of.__name__, of.__defaults__, of.__closure__)
        for name, value in of.__globals__.items():
            called = isinstance(value, Dispatcher) and name in of.__code__.co_names
            known[name] = _numpy if value is np else as_python(value, made) if called else value
    return made[kernel]


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
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


def arrays_in(args: tuple[Any, ...]) -> Iterator[np.ndarray]:
    """Yield the arrays among arguments, those in tuples too."""
    for value in args:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from arrays_in(value)


def plain(value: Any) -> Any:
    """Return what compiled code would return: numbers of Python, not of NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(map(plain, value)) if type(value) is tuple else type(value)(*map(plain, value))
    return value
