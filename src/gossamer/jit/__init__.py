"""Kernels that are compiled when they are first called, and kept: what everything that Numba compiles goes through.

`njit` is Numba's, with five additions. Numba is imported, and a function prepared for it, when one is first called, so
that a kernel stands in the file of what calls it and costs nothing to who does not. Kept code that cannot be read or
written is no error: the kernel is compiled anew (`keeping`). What is compiled is told to whoever listens (`telling`),
before it begins. A kernel that says for which sizes (`small`) is carried out by Python itself while its arrays are that
small and it has not been compiled: seconds of compiling are not worth microseconds of work (`interpreting`). And what a
kernel calls becomes part of it: it has no way in from Python and is not kept on its own, until Python calls it
(`shortening`, which holds all that is left out of Numba's way of compiling).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.jit.keeping import telling
    from gossamer.jit.kernels import Kernel, often, seldom, uninterpreted
    from gossamer.jit.shortening import seconds_compiled

__all__ = ["Function", "Kernel", "njit", "often", "seconds_compiled", "seldom", "telling", "uninterpreted"]

# with Numba, which not every command needs
_HOME = {
    "Kernel": "kernels",
    "often": "kernels",
    "seconds_compiled": "shortening",
    "seldom": "kernels",
    "telling": "keeping",
    "uninterpreted": "kernels",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gossamer.jit' has no attribute {name!r}")
    return getattr(importlib.import_module(f"gossamer.jit.{_HOME[name]}"), name)


class Function:
    """A function of Python that becomes a kernel when it is first called; its other attributes are the kernel's."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__qualname__, self.__module__ = function.__qualname__, function.__module__
        self.__wrapped__ = function

    @cached_property
    def kernel(self) -> Any:
        """The kernel; what its function calls by name are kernels too."""
        from gossamer.jit.kernels import compiled

        of: Any = self._function
        known = dict(of.__globals__)
        made = FunctionType(of.__code__, known, of.__name__, of.__defaults__, of.__closure__)
        made.__qualname__, made.__doc__, made.__kwdefaults__ = of.__qualname__, of.__doc__, of.__kwdefaults__
        for name in of.__code__.co_names:
            if isinstance(value := known.get(name), Function) and value is not self:
                known[name] = value.kernel
        kernel = compiled(made, **self._options)
        if known.get(of.__name__) is self:
            known[of.__name__] = kernel
        return kernel

    def __call__(self, *args: Any, **kws: Any) -> Any:
        """Carry out the function, by compiled code or by Python."""
        return self.kernel(*args, **kws)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_function", "_options"):
            raise AttributeError(name)
        return getattr(self.kernel, name)


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
    plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

    def made(function: Callable[..., Any]) -> Any:
        return function if plain else Function(function, {"small": small, "cache": cache, **options})

    return made
