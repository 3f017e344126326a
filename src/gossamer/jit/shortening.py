"""Numba's way of compiling, without what kernels do not need, which takes a tenth of the time.

Numba prepares each function for every use: with garbage looked for, what it calls typed and made into machine code of
its own, and passes for closures, literal types and expressions of arrays. Kernels have none of these. They call each
other, and numbers go in and out of arrays. What is left out here changes no result; what a kernel has that needs it
(a function inside, an argument that may be None) brings the whole of Numba's way back.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from numba.core import ir, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import NoneType, Omitted, Optional

__all__ = ["FunctionCompiler", "Pipeline", "seconds_compiled", "shortened"]

_PASSES: tuple[Any, ...] = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.InlineInlinables,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""Those of Numba that a kernel needs."""

_compiled = 0.0


def seconds_compiled() -> float:
    """Return how many seconds of this process went into compiling so far."""
    return _compiled


class _Options(Flags):  # type: ignore[misc]
    """How to compile; told apart by what was set, without a look at each of the forty options."""

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and bool(self._values == other._values)


class FunctionCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Compiles for Python, or for kernels alone: then there is no way in from Python, and no machine code."""

    closed = False

    def _customize_flags(self, flags: Any) -> _Options:
        made = _Options(flags)
        if self.closed:
            made.no_cpython_wrapper = True
            made.no_compile = True
        return made


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code that goes into other kernels, which make machine code of it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class Pipeline(Compiler):  # type: ignore[misc]
    """What one kernel goes through, for arguments of some types."""

    _whole = False

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        state = self.state
        inside = any(isinstance(value, CodeType) for value in function.__code__.co_consts)
        optional = any(isinstance(of, (NoneType, Omitted, Optional)) for of in state.args)
        self._whole = inside or optional
        if state.flags.no_compile:
            state.library = _Part(state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        if self._whole:
            found: list[Any] = super().define_pipelines()
            return found
        passes = PassManager("kernel")
        for made in _PASSES:
            passes.add_pass(made, made.__name__)
        passes.finalize()
        return [passes]


@contextmanager
def shortened() -> Iterator[None]:
    """Leave out, in the block, what is left out of Numba itself, and count the time; others wait for its lock.

    Garbage is looked for afterwards: compiling makes many objects that stay, and each look counts them all. Functions
    of Numba's are typed once for arguments of the same types, as typing them anew takes a sixth of the time. Kernels,
    and what cannot be typed, are asked for each time. The variables of an instruction are found with fewer questions.
    """
    global _compiled
    of: Any = BaseFunction
    if of.get_call_type is _typed:  # within another
        yield
        return
    collecting, began = gc.isenabled(), time.monotonic()
    gc.disable()
    of.get_call_type, ir.Inst._rec_list_vars = _typed, _variables
    try:
        yield
    finally:
        of.get_call_type, ir.Inst._rec_list_vars = _typing, _rec_list_vars
        if collecting:
            gc.enable()
        _compiled += time.monotonic() - began


def _variables(instruction: Any, value: Any) -> list[Any]:
    """Return the variables in what an instruction has, in order."""
    found: list[Any] = []
    left = [value]
    while left:
        some = left.pop()
        kind = type(some)
        if kind is ir.Var:
            found.append(some)
        elif kind is dict:
            left += reversed(some.values())
        elif kind is list or kind is tuple:
            left += reversed(some)
        elif kind is not str and kind is not ir.Loc:
            if isinstance(some, ir.Inst):
                found += some.list_vars()
            elif isinstance(some, (dict, list, tuple, ir.Var)):
                found += _rec_list_vars(instruction, some)
    return found


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
_rec_list_vars = ir.Inst._rec_list_vars
_answers = _Answers()


def _typed(function: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Return the signature of a call of one of Numba's functions, as its type finds it."""
    if kws:
        return _typing(function, context, args, kws)
    known, asked = _answers.of_now(), (id(function), id(context), args)
    if asked not in known:
        known[asked] = function, _typing(function, context, args, kws)  # as the function stays, so does its number
    return known[asked][1]
