"""Kernels: functions that Numba compiles when they are first called, and keeps.

`njit` is Numba's, by its public calls, with four additions. Numba is imported, and a function prepared for it, when one
is first called, so that a kernel stands in the file of what calls it and costs nothing to who does not (`kernel`).
Small work is done by the function itself, as Python, while nothing is compiled for it: seconds of compiling are not
worth microseconds of work (`budgeted_interpreter`). Compiled code is kept in a folder for each state of the sources;
where it cannot be read or written the kernel is compiled again. What is compiled is told before it begins
(`telling`).

With ``GOSSAMER_PLAIN_NUMBA=1`` in the environment there are none of these but the first: `njit` is Numba's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gossamer.jit.kernel import Kernel, often, seconds_compiled, seldom, telling, uninterpreted, user_cache

__all__ = ["Kernel", "njit", "often", "seconds_compiled", "seldom", "telling", "uninterpreted", "user_cache"]


def njit(*, small: int = 0, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function when it is called, as Numba's does.

    `small`: elements that all array arguments may have together for the function to be carried out by Python while it
    is not compiled. Such a function sets the seed of ``np.random`` before it calls ``random`` or ``randint``, which
    then draw the same numbers; takes powers, exponentials and logarithms of fractions from ``math`` (NumPy's may differ
    in their last digit); sorts stably; shifts no number of an array to the left; and counts on no integer running over.
    `cache`: whether compiled code is kept. `options`: those of Numba's ``njit``.
    """
    plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

    def made(function: Callable[..., Any]) -> Any:
        return function if plain else Kernel(function, small, cache, options)

    return made
