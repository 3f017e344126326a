"""Kernels that are compiled when they are first called, and kept: what everything that Numba compiles goes through.

`njit` is Numba's, with four additions. Kept code that cannot be read or written is no error: the kernel is compiled
anew (`keeping`). What is compiled is told to whoever listens (`telling`), before it begins. A kernel that says for
which sizes (`small`) is carried out by Python itself while its arrays are that small and it has not been compiled:
seconds of compiling are not worth microseconds of work (`interpreting`). And what a kernel calls becomes part of it: it
has no way in from Python and is not kept on its own, until Python calls it (`shortening`, which holds all that is left
out of Numba's way of compiling).
"""

from __future__ import annotations

from gossamer.jit.keeping import telling
from gossamer.jit.kernels import Kernel, njit, often, seldom, uninterpreted
from gossamer.jit.shortening import seconds_compiled

__all__ = ["Kernel", "njit", "often", "seconds_compiled", "seldom", "telling", "uninterpreted"]
